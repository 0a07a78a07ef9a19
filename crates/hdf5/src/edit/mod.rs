//! Editing: a file that changes, from one committed state to the next.
//!
//! Creating a file is editing an empty one, so there is one writer. What is to change is kept in memory, object by
//! object, as messages; elements go to the file at once, into space that no committed state uses. [`Editor::commit`]
//! makes all of it the new committed state at one instant: that of a write of 48 bytes, the superblock.
//!
//! Object headers never move, since references are their addresses; they grow by continuation chunks. Committed
//! metadata that changes where it stands is written to a metadata cache image first, which every reader lays over the
//! file until it has been taken off again (`journal`). Chunks of a committed state are never overwritten. Elements of
//! contiguous, compact-turned-contiguous and implicitly indexed datasets are overwritten where they lie: there a crash
//! leaves old and new ones side by side.
//!
//! Not done: making datasets shorter; writing virtual datasets and external raw data; keeping a list of free space in
//! the file (what is free is found again by the blocks that use their old places, not by other ones).

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Step;
use ferrocdf_store::BlobMut;

use crate::messages::{Dataspace, Datatype, HeapId};
use crate::{Address, File, HeapObject, OpenOptions, Placed};

/// Which readers a new file is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// HDF5 1.8 and all later ones, and what netCDF-C writes: superblock 2, chunks indexed by B-trees of version 1.
    #[default]
    Compatible,
    /// HDF5 1.10 and later: superblock 3, the chunk index that fits each dataset best.
    Modern,
}

/// What has to be true between two steps of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Barrier {
    /// What was written before survives a power failure. [`BlobMut::sync`].
    #[default]
    Sync,
    /// What was written before is seen by other processes, and survives the end of this one. [`BlobMut::flush`].
    Order,
}

/// How to create a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateOptions {
    /// Which readers it is for.
    pub profile: Profile,
    /// Bytes before the superblock that are the user's: 0, or 512 times a power of two.
    pub user_block: u64,
    /// Pieces of at least as many bytes as the first number says begin at a multiple of the second.
    pub alignment: (u64, u64),
    /// Metadata is kept together in pieces of this many bytes.
    pub meta_block: u64,
    /// What a commit waits for.
    pub barrier: Barrier,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            profile: Profile::default(),
            user_block: 0,
            alignment: (1, 1),
            meta_block: 2048,
            barrier: Barrier::default(),
        }
    }
}

/// An object of the file that is edited, committed or new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(crate) u32);

/// What a new group keeps of its links and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// The order in which links are made is kept and indexed.
    pub link_order: bool,
    /// The order in which attributes are made is kept and indexed.
    pub attribute_order: bool,
}

impl Default for GroupOptions {
    /// Both orders are kept, as netCDF wants it.
    fn default() -> Self {
        GroupOptions { link_order: true, attribute_order: true }
    }
}

/// The datatype of a new dataset or attribute.
#[derive(Clone, Debug)]
pub enum TypeRef {
    /// Its own.
    Inline(Datatype),
    /// A committed one.
    Committed(Node),
}

/// How the elements of a new dataset are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewLayout {
    /// In its header; less than 64 KiB. See [`Editor::write_compact`].
    Compact,
    /// Side by side.
    Contiguous,
    /// In chunks of this shape, a length for each dimension, none 0.
    Chunked(Vec<u64>),
}

/// When fill values are written ("Fill Value Write Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillTime {
    /// When space is taken.
    Allocation,
    /// Never.
    Never,
    /// When space is taken, if there is a value.
    #[default]
    IfSet,
}

/// When space is taken ("Space Allocation Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocTime {
    /// What is usual for the layout: early for compact, late for contiguous, by and by for chunked ones.
    #[default]
    Usual,
    /// At creation.
    Early,
    /// At the first write.
    Late,
    /// At the first write of each chunk.
    Incremental,
}

/// A dataset to be made.
#[derive(Clone, Debug)]
pub struct DatasetSpec {
    /// What its elements are.
    pub datatype: TypeRef,
    /// Its shape, and what that may grow to.
    pub space: Dataspace,
    /// How it is stored.
    pub layout: NewLayout,
    /// What packs its chunks, in the order of writing.
    pub filters: Vec<Step>,
    /// The fill value as stored, the bytes of one element; zeros if `None`.
    pub fill: Option<Vec<u8>>,
    /// When it is written.
    pub fill_time: FillTime,
    /// When space is taken.
    pub alloc_time: AllocTime,
    /// Whether the order in which attributes are made is kept and indexed.
    pub attribute_order: bool,
}

/// An attribute to be set.
#[derive(Clone, Debug)]
pub struct AttributeSpec {
    /// Its name.
    pub name: String,
    /// What its elements are.
    pub datatype: TypeRef,
    /// Its shape.
    pub space: Dataspace,
    /// The elements as stored: sequences as places in the global heap, references as addresses.
    pub data: Vec<u8>,
}

/// A file that is edited.
pub struct Editor {
    blob: Arc<dyn BlobMut>,
    file: File,
}

fn later<T>() -> Result<T> {
    Err(Error::new(Code::EINTERNAL, "later"))
}

impl Editor {
    /// A new file, all of what the blob holds is given up at the first commit; nothing is written before. (Bytes of
    /// the user block are kept.)
    ///
    /// # Errors
    /// `EINVAL` for options that no file can have.
    pub fn create(blob: Arc<dyn BlobMut>, options: &CreateOptions) -> Result<Editor> {
        let _ = (blob, options);
        later()
    }

    /// A file to be edited. One that was left in the middle of a commit is brought to its committed state.
    ///
    /// # Errors
    /// Those of [`File::open_with`], and of the blob.
    pub fn open(blob: Arc<dyn BlobMut>, options: OpenOptions, barrier: Barrier) -> Result<Editor> {
        let file = File::open_with(blob.clone(), options)?;
        let _ = barrier;
        Ok(Editor { blob, file })
    }

    /// The committed state. Of a file that was never committed, one with an empty root group in memory.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The bytes that are edited.
    pub fn blob(&self) -> &Arc<dyn BlobMut> {
        &self.blob
    }

    /// The root group.
    pub fn root(&self) -> Node {
        Node(0)
    }

    /// The object whose header is at an address, committed or asked for by [`address`](Editor::address).
    ///
    /// # Errors
    /// Those of reading its header.
    pub fn node(&mut self, at: Address) -> Result<Node> {
        let _ = at;
        later()
    }

    /// The object that a name of a group leads to by a hard link; `None` if there is no such link.
    ///
    /// # Errors
    /// Those of reading the links.
    pub fn child(&mut self, parent: Node, name: &str) -> Result<Option<Node>> {
        let _ = (parent, name);
        later()
    }

    /// The address of an object's header, the same for ever. A new one gets its place now, with room for the messages
    /// that it has now; what comes later lies in a continuation. So it is best asked after attributes were set, if
    /// need be with any bytes of the right number in place of addresses.
    ///
    /// # Errors
    /// `EINVAL` for an object that was deleted.
    pub fn address(&mut self, node: Node) -> Result<Address> {
        let _ = node;
        later()
    }

    /// A new group.
    ///
    /// # Errors
    /// `ENAMEINUSE` if the name is taken; `EINVAL` if `parent` is no group.
    pub fn create_group(&mut self, parent: Node, name: &str, options: GroupOptions) -> Result<Node> {
        let _ = (parent, name, options);
        later()
    }

    /// A new committed datatype.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group).
    pub fn commit_datatype(&mut self, parent: Node, name: &str, datatype: &Datatype) -> Result<Node> {
        let _ = (parent, name, datatype);
        later()
    }

    /// A new dataset.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group); `EINVAL` for a specification that does not fit together.
    pub fn create_dataset(&mut self, parent: Node, name: &str, spec: DatasetSpec) -> Result<Node> {
        let _ = (parent, name, spec);
        later()
    }

    /// Takes a name away. With the last hard link the object goes too.
    ///
    /// # Errors
    /// `ENOTFOUND` if there is no such link.
    pub fn unlink(&mut self, parent: Node, name: &str) -> Result<()> {
        let _ = (parent, name);
        later()
    }

    /// Gives a link another name; it keeps its place in the order of creation.
    ///
    /// # Errors
    /// `ENOTFOUND` if there is no such link, `ENAMEINUSE` if the new name is taken.
    pub fn rename_link(&mut self, parent: Node, old: &str, new: &str) -> Result<()> {
        let _ = (parent, old, new);
        later()
    }

    /// Moves a link to another group; it comes last in the order of creation there.
    ///
    /// # Errors
    /// As [`rename_link`](Editor::rename_link).
    pub fn move_link(&mut self, parent: Node, name: &str, to: Node, new: &str) -> Result<()> {
        let _ = (parent, name, to, new);
        later()
    }

    /// One more hard link to an object.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group).
    pub fn link(&mut self, parent: Node, name: &str, node: Node) -> Result<()> {
        let _ = (parent, name, node);
        later()
    }

    /// Sets an attribute: a new one comes last in the order of creation, one that is there keeps its place. What the
    /// old elements hold in the global heap stays there: see [`heap_free`](Editor::heap_free).
    ///
    /// # Errors
    /// `EINVAL` if the data is not that of the shape; those of reading the attributes that there are.
    pub fn set_attribute(&mut self, node: Node, attribute: AttributeSpec) -> Result<()> {
        let _ = (node, attribute);
        later()
    }

    /// Takes an attribute away.
    ///
    /// # Errors
    /// `ENOTATT` if there is none of this name.
    pub fn remove_attribute(&mut self, node: Node, name: &str) -> Result<()> {
        let _ = (node, name);
        later()
    }

    /// Gives an attribute another name; it keeps its place in the order of creation.
    ///
    /// # Errors
    /// `ENOTATT` if there is none of this name, `ENAMEINUSE` if the new one is taken.
    pub fn rename_attribute(&mut self, node: Node, old: &str, new: &str) -> Result<()> {
        let _ = (node, old, new);
        later()
    }

    /// Makes a dataset longer.
    ///
    /// # Errors
    /// `EINVAL` for fewer elements in a dimension than there are, and for more than there may be.
    pub fn set_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        let _ = (node, dims);
        later()
    }

    /// Puts bytes into the global heap.
    ///
    /// # Errors
    /// Those of the blob.
    pub fn heap_put(&mut self, bytes: &[u8]) -> Result<HeapId> {
        let _ = bytes;
        later()
    }

    /// Gives up an object of the global heap.
    ///
    /// # Errors
    /// `EHDFERR` if it is not there.
    pub fn heap_free(&mut self, id: HeapId) -> Result<()> {
        let _ = id;
        later()
    }

    /// An object of the global heap, committed or new.
    ///
    /// # Errors
    /// `EHDFERR` if it is not there.
    pub fn heap_get(&self, id: HeapId) -> Result<HeapObject> {
        let _ = id;
        later()
    }

    /// The elements of a dataset as numbers, to be read and written. Space for contiguous elements is taken now, and
    /// filled, if there was none. Chunks go where the store inside puts them, and are the file's with the next commit;
    /// `ferrocdf_array::flush` comes before that.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn array(&mut self, node: Node) -> Result<Placed> {
        let _ = node;
        later()
    }

    /// The elements of a dataset as bytes: one more dimension, the fastest. As [`array`](Editor::array).
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw).
    pub fn raw(&mut self, node: Node) -> Result<Placed> {
        let _ = node;
        later()
    }

    /// Takes space for contiguous elements, if there is none yet, without filling it: all will be written. Of other
    /// layouts nothing.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn allocate_unfilled(&mut self, node: Node) -> Result<()> {
        let _ = node;
        later()
    }

    /// Whether space was taken for any of its elements.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn is_allocated(&mut self, node: Node) -> Result<bool> {
        let _ = node;
        later()
    }

    /// Sets all elements of a compact dataset, as stored.
    ///
    /// # Errors
    /// `EINVAL` if it is none, or has another number of bytes.
    pub fn write_compact(&mut self, node: Node, bytes: &[u8]) -> Result<()> {
        let _ = (node, bytes);
        later()
    }

    /// Makes all that was changed the committed state of the file.
    ///
    /// # Errors
    /// Those of the blob. After one the file is in its last committed state or, if the error came late, in the new
    /// one, and the editor can do no more.
    pub fn commit(&mut self) -> Result<()> {
        later()
    }
}
