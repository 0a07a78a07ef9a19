//! Editing: a file that changes, from one committed state to the next.
//!
//! Creating a file is editing an empty one, so there is one writer. What is to change is kept in memory, object by
//! object, as messages; elements go to the file at once, into space that no committed state uses. [`Editor::commit`]
//! makes all of it the new committed state at one instant: that of a write of 48 bytes, the superblock.
//!
//! Object headers never move, since references are their addresses; they grow by continuation chunks. Committed
//! metadata that changes where it stands is written to a metadata cache image first, which every reader lays over the
//! file until it has been taken off again (`journal`). Chunks of a committed state are never overwritten. Elements of
//! contiguous and implicitly indexed datasets are overwritten where they lie: there a crash leaves old and new ones side
//! by side.
//!
//! Not done: making datasets shorter; writing virtual datasets and external raw data; finding the pieces of committed
//! fixed and extensible arrays, which are lost when such an index is made anew for the first time after opening.

mod attributes;
mod build;
mod chunks;
mod commit;
mod create;
mod dataset;
mod extents;
mod group;
mod header;
mod heap;
mod index;
mod journal;
mod named;
mod note;
mod object;
mod patched;
mod savepoint;
mod space;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Codecs, Step};
use ferrocdf_store::BlobMut;

use crate::groups::LinkTarget;
use crate::messages::small::{ReferenceCount, TreeSizes};
use crate::messages::{Dataspace, Datatype, HeapId};
use crate::objects::attribute_message::AttributeMessage;
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::objects::shared::committed;
use crate::{Address, Dataset, File, HeapObject, OpenOptions, Placed, Source, Superblock};
use attributes::{EditedAttributes, committed_at, committed_type};
use dataset::{Data, FileStorage};
use group::{EditedLinks, Target};
use header::{CONSTANT, NOT_SHARED, message};
use heap::EditedGlobalHeap;
use journal::Install;
use object::EditedObject;
use patched::Patched;
use savepoint::{Change, Savepoint};
use space::{Extent, FileSpace, lock};

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
#[derive(Clone, Debug)]
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
    /// What the root group keeps.
    pub root: GroupOptions,
    /// The filters that its datasets can use; the built-in ones by default.
    pub codecs: Codecs,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            profile: Profile::default(),
            user_block: 0,
            alignment: (1, 1),
            meta_block: 2048,
            barrier: Barrier::default(),
            root: GroupOptions::default(),
            codecs: Codecs::default(),
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
    /// The same bytes, for all that reads metadata.
    patched: Arc<Patched>,
    /// The committed state.
    file: File,
    options: OpenOptions,
    /// The bytes as they are now, committed or not.
    source: Source,
    /// The superblock to be written, of version 2 or 3.
    superblock: Superblock,
    /// The messages of the superblock extension that stay, and where it is.
    extension: Vec<HeaderMessage>,
    extension_at: Vec<Extent>,
    extension_changed: bool,
    /// The shape of old B-trees and symbol tables.
    tree_sizes: TreeSizes,
    /// The end of the file is a multiple of this.
    page: u64,
    profile: Profile,
    barrier: Barrier,
    space: Arc<Mutex<FileSpace>>,
    objects: Vec<EditedObject>,
    by_address: HashMap<Address, Node>,
    /// What has to be written.
    dirty: BTreeSet<Node>,
    /// Datasets with a store for chunks.
    stores: BTreeSet<Node>,
    /// Datasets with new space that may still have to be filled.
    unfilled: BTreeSet<Node>,
    heap: EditedGlobalHeap,
    /// Whether the superblock has to be written, whatever else was changed.
    unwritten: bool,
    /// Whether anything was committed since the note was read or written.
    wrote: bool,
    /// Where the note of free space is that the file ends with.
    note: Option<Extent>,
    /// The commit whose superblock may or may not be in the file.
    install: Option<Install>,
    /// Changes that may still be undone.
    savepoint: Option<Savepoint>,
}

impl fmt::Debug for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Editor").field("blob", &self.blob.name()).finish_non_exhaustive()
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(Code::EINVAL, what)
}

fn no_link(name: &str) -> Error {
    Error::new(Code::ENOTFOUND, format!("there is no link {name:?}"))
}

impl Editor {
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
        self.resume()?;
        if let Some(&node) = self.by_address.get(&at) {
            return Ok(node);
        }
        let object = EditedObject::read(self.file.source(), at)?;
        Ok(self.insert(object))
    }

    /// The object that a name of a group leads to by a hard link; `None` if there is no such link.
    ///
    /// # Errors
    /// Those of reading the links.
    pub fn child(&mut self, parent: Node, name: &str) -> Result<Option<Node>> {
        match self.links(parent)?.list.get(name.as_bytes()).cloned() {
            Some(target) => self.target(&target),
            None => Ok(None),
        }
    }

    /// The address of an object's header, the same for ever. A new one gets its place now, with room for the messages
    /// that it has now; what comes later lies in a continuation. So it is best asked after attributes were set, if
    /// need be with any bytes of the right number in place of addresses.
    ///
    /// # Errors
    /// `EINVAL` for an object that was deleted.
    pub fn address(&mut self, node: Node) -> Result<Address> {
        let object = self.object(node)?;
        if let Some(at) = object.address() {
            return Ok(at);
        }
        let mut messages = self.messages(node)?;
        let sizes = self.source.sizes;
        let object = self.object(node)?;
        if object.header.message(kind::LAYOUT).is_none() && object.header.message(kind::DATATYPE).is_some() {
            // Whoever asks for the place of a datatype is about to use it: room for a reference count.
            messages.retain(|message| message.kind != kind::REFERENCE_COUNT);
            messages.push(message(kind::REFERENCE_COUNT, NOT_SHARED, ReferenceCount(1).encode()?));
        }
        let len = object.header.fit(&messages, sizes);
        let at = lock(&self.space).take_meta(len)?;
        self.object(node)?.header.chunks.push(Extent { at, len });
        self.by_address.insert(at, node);
        Ok(at)
    }

    /// A new group.
    ///
    /// # Errors
    /// `ENAMEINUSE` if the name is taken; `EINVAL` if `parent` is no group.
    pub fn create_group(&mut self, parent: Node, name: &str, options: GroupOptions) -> Result<Node> {
        self.check_new(parent, name)?;
        let links = EditedLinks::new(options.link_order);
        let mut object = EditedObject::new(options.attribute_order, links.first_messages(self.source.sizes)?);
        object.links = Some(links);
        self.adopt(parent, name, object)
    }

    /// A new committed datatype.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group).
    pub fn commit_datatype(&mut self, parent: Node, name: &str, datatype: &Datatype) -> Result<Node> {
        self.check_new(parent, name)?;
        let mut datatype = datatype.clone();
        datatype.settle();
        let message = message(kind::DATATYPE, CONSTANT | NOT_SHARED, datatype.encode()?);
        self.adopt(parent, name, EditedObject::new(false, vec![message]))
    }

    /// A new dataset.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group); `EINVAL` for a specification that does not fit together.
    pub fn create_dataset(&mut self, parent: Node, name: &str, spec: DatasetSpec) -> Result<Node> {
        self.check_new(parent, name)?;
        let (datatype, at) = self.datatype(&spec.datatype)?;
        let (data, messages) = dataset::create(&spec, datatype, at, self.profile, self.source.sizes)?;
        let early = data.fill.allocation == 1;
        let mut object = EditedObject::new(spec.attribute_order, messages);
        object.data = Some(Box::new(data));
        if let Some(at) = at {
            self.count(at, 1)?;
        }
        let node = self.adopt(parent, name, object)?;
        if early {
            self.allocate(node)?;
        }
        Ok(node)
    }

    /// Takes a name away. With the last hard link the object goes too.
    ///
    /// # Errors
    /// `ENOTFOUND` if there is no such link.
    pub fn unlink(&mut self, parent: Node, name: &str) -> Result<()> {
        let links = self.links(parent)?;
        let number = links.list.number(name.as_bytes()).ok_or_else(|| no_link(name))?;
        let target = links.remove(name.as_bytes()).ok_or_else(|| no_link(name))?;
        self.dirty.insert(parent);
        if self.savepoint.is_none() {
            return self.release(&target);
        }
        self.note_change(|| Change::Removed { parent, name: name.to_string(), number, target });
        Ok(())
    }

    /// The objects that go with a name: those that nothing else leads to. Groups in a circle of links stay.
    ///
    /// # Errors
    /// `ENOTFOUND` if there is no such link; those of reading the objects.
    pub fn goes_with(&mut self, parent: Node, name: &str) -> Result<Vec<Node>> {
        let first = self.links(parent)?.list.get(name.as_bytes()).cloned().ok_or_else(|| no_link(name))?;
        let (mut targets, mut left, mut gone) = (vec![first], HashMap::new(), vec![]);
        while let Some(target) = targets.pop() {
            let Some(node) = self.target(&target)? else { continue };
            let references = self.object(node)?.header.references;
            let left = left.entry(node).or_insert(references);
            *left = left.saturating_sub(1);
            if *left == 0 {
                gone.push(node);
                if self.is_group(node)? {
                    targets.extend(self.links(node)?.list.values().cloned());
                }
            }
        }
        Ok(gone)
    }

    /// Gives a link another name; it keeps its place in the order of creation.
    ///
    /// # Errors
    /// `ENOTFOUND` if there is no such link, `ENAMEINUSE` if the new name is taken.
    pub fn rename_link(&mut self, parent: Node, old: &str, new: &str) -> Result<()> {
        if self.links(parent)?.list.get(old.as_bytes()).is_none() {
            return Err(no_link(old));
        }
        if old == new {
            return Ok(());
        }
        self.check_new(parent, new)?;
        let links = self.links(parent)?;
        links.list.rename(old.as_bytes(), new.as_bytes());
        links.changed = true;
        self.dirty.insert(parent);
        self.note_change(|| Change::Renamed { parent, old: old.to_string(), new: new.to_string() });
        Ok(())
    }

    /// Moves a link to another group; it comes last in the order of creation there.
    ///
    /// # Errors
    /// As [`rename_link`](Editor::rename_link).
    pub fn move_link(&mut self, parent: Node, name: &str, to: Node, new: &str) -> Result<()> {
        if self.links(parent)?.list.get(name.as_bytes()).is_none() {
            return Err(no_link(name));
        }
        self.check_new(to, new)?;
        let target = self.links(parent)?.remove(name.as_bytes()).ok_or_else(|| no_link(name))?;
        self.links(to)?.add(new.as_bytes(), target);
        self.dirty.extend([parent, to]);
        Ok(())
    }

    /// One more hard link to an object.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group).
    pub fn link(&mut self, parent: Node, name: &str, node: Node) -> Result<()> {
        self.check_new(parent, name)?;
        let object = self.object(node)?;
        object.header.references = object.header.references.saturating_add(1);
        self.links(parent)?.add(name.as_bytes(), Target::Node(node));
        self.dirty.extend([parent, node]);
        self.note_change(|| Change::Added { parent, name: name.to_string() });
        Ok(())
    }

    /// Sets an attribute: a new one comes last in the order of creation, one that is there keeps its place. What the
    /// old elements hold in the global heap stays there: see [`heap_free`](Editor::heap_free).
    ///
    /// # Errors
    /// `EINVAL` if the data is not that of the shape; those of reading the attributes that there are.
    pub fn set_attribute(&mut self, node: Node, attribute: AttributeSpec) -> Result<()> {
        let AttributeSpec { name, datatype, space, data } = attribute;
        let sizes = self.source.sizes;
        let (mut datatype, at) = self.datatype(&datatype)?;
        let needed = space.elements().and_then(|count| count.checked_mul(datatype.size.into()));
        if needed != Some(data.len() as u64) || name.is_empty() || name.contains('\0') {
            let len = data.len();
            return Err(wrong(format!("attribute {name:?} of {len} bytes, its shape needs {needed:?}")));
        }
        datatype.settle();
        let stored = match at {
            Some(at) => committed(at, sizes)?,
            None => datatype.encode()?,
        };
        let body = AttributeMessage {
            flags: u8::from(at.is_some()),
            name: name.as_bytes(),
            charset: u8::from(!name.is_ascii()),
            datatype: &stored,
            dataspace: &space.encode(sizes)?,
            data: &data,
        }
        .encode()?;
        if body.len() > usize::from(u16::MAX) && self.object(node)?.header.form.version == 1 {
            self.upgrade(node)?;
        }
        let old = self.attributes(node)?.set(name.as_bytes(), body)?;
        self.dirty.insert(node);
        if let Some(at) = at {
            self.count(at, 1)?;
        }
        if !self.undoes_attributes_of(node) {
            return self.release_type(old.as_deref());
        }
        self.note_change(|| Change::AttributeSet { node, name, before: old });
        Ok(())
    }

    /// Takes an attribute away.
    ///
    /// # Errors
    /// `ENOTATT` if there is none of this name.
    pub fn remove_attribute(&mut self, node: Node, name: &str) -> Result<()> {
        let attributes = self.attributes(node)?;
        let number = attributes.list.number(name.as_bytes()).ok_or_else(|| no_attribute(name))?;
        let removed = attributes.remove(name.as_bytes()).ok_or_else(|| no_attribute(name))?;
        self.dirty.insert(node);
        if !self.undoes_attributes_of(node) {
            return self.release_type(Some(&removed.body));
        }
        self.note_change(|| Change::AttributeRemoved { node, name: name.to_string(), number, removed });
        Ok(())
    }

    /// Gives an attribute another name; it keeps its place in the order of creation.
    ///
    /// # Errors
    /// `ENOTATT` if there is none of this name, `ENAMEINUSE` if the new one is taken.
    pub fn rename_attribute(&mut self, node: Node, old: &str, new: &str) -> Result<()> {
        let attributes = self.attributes(node)?;
        let found = attributes.list.get(old.as_bytes()).ok_or_else(|| no_attribute(old))?;
        if old == new {
            return Ok(());
        }
        if attributes.list.get(new.as_bytes()).is_some() {
            return Err(Error::new(Code::ENAMEINUSE, format!("attribute {new:?} is there already")));
        }
        let mut message = AttributeMessage::decode(&found.body)?;
        (message.name, message.charset) = (new.as_bytes(), u8::from(!new.is_ascii()));
        let body = message.encode()?;
        attributes.list.rename(old.as_bytes(), new.as_bytes());
        attributes.changed = true;
        let renamed = attributes.list.get_mut(new.as_bytes());
        let before =
            renamed.map(|attribute| std::mem::replace(&mut attribute.body, body)).unwrap_or_default();
        self.dirty.insert(node);
        if self.undoes_attributes_of(node) {
            let names = (old.to_string(), new.to_string());
            self.note_change(|| Change::AttributeRenamed { node, names, before });
        }
        Ok(())
    }

    /// Makes a dataset longer.
    ///
    /// # Errors
    /// `EINVAL` for fewer elements in a dimension than there are, and for more than there may be.
    pub fn set_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        let data = self.data(node)?;
        if data.space.dims != dims {
            data.extend(dims)?;
            self.dirty.insert(node);
        }
        Ok(())
    }

    /// Takes a [`set_extent`](Editor::set_extent) back that was not committed, since the write that it was for failed. Chunks
    /// that this write stored stay, to be found if the dataset becomes longer again.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn reset_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        self.data(node)?.space.dims = dims.to_vec();
        self.dirty.insert(node);
        Ok(())
    }

    /// Puts bytes into the global heap.
    ///
    /// # Errors
    /// Those of the blob.
    pub fn heap_put(&mut self, bytes: &[u8]) -> Result<HeapId> {
        self.resume()?;
        let (blob, source) = (&self.blob, &self.source);
        let mut write = |at: Address, bytes: &[u8]| blob.write_at(source.position(at)?, bytes);
        let id = self.heap.put(bytes, source, &mut lock(&self.space), &mut write)?;
        self.note_change(|| Change::Put(id));
        Ok(id)
    }

    /// Gives up an object of the global heap; with an open savepoint, once that is released.
    ///
    /// # Errors
    /// `EHDFERR` if it is not there.
    pub fn heap_free(&mut self, id: HeapId) -> Result<()> {
        self.resume()?;
        if self.frees_later(id) {
            return Ok(());
        }
        self.heap.free(id, &self.source, &mut lock(&self.space))
    }

    /// An object of the global heap, committed or new.
    ///
    /// # Errors
    /// `EHDFERR` if it is not there.
    pub fn heap_get(&self, id: HeapId) -> Result<HeapObject> {
        self.heap.get(id, &self.source)
    }

    /// The elements of a dataset as numbers, to be read and written. Space for contiguous elements is taken now, and
    /// filled, if there was none; [`for_writing`](Editor::for_writing) spares that. Chunks go where the store inside puts
    /// them, and are the file's with the next commit; `ferrocdf_array::flush` comes before that. Written like this and as
    /// [`raw`](Editor::raw) bytes, they are the same.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn array(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, false)
    }

    /// The elements of a dataset as bytes: one more dimension, the fastest. As [`array`](Editor::array).
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw).
    pub fn raw(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, true)
    }

    /// The elements of a dataset as bytes, for a caller who writes places in the global heap next, and whether they lie
    /// elsewhere than before. Contiguous ones of the committed state are copied to other space first: places that this state
    /// does not have must not appear in it. As [`raw`](Editor::raw) otherwise.
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw), and those of the blob.
    pub fn raw_for_places(&mut self, node: Node) -> Result<(Placed, bool)> {
        self.allocate(node)?;
        let placed = self.look(node, true)?;
        if !self.with_data(node, Data::move_contiguous)? {
            return Ok((placed, false));
        }
        self.dirty.insert(node);
        Ok((self.look(node, true)?, true))
    }

    /// The elements of a dataset as numbers or as bytes, for a caller who writes next, all of them from `first` on in the
    /// order in which they are stored. Space for contiguous elements is taken as by [`array`](Editor::array), but filled only
    /// up to the first; the rest, as far as [`wrote`](Editor::wrote) is not told of it, is filled later: before any are read
    /// through [`look`](Editor::look), or with the commit.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn for_writing(&mut self, node: Node, raw: bool, first: u64) -> Result<Placed> {
        self.allocate(node)?;
        self.with_data(node, |data, place| data.before_write(place, first))?;
        self.placed(node, raw)
    }

    /// Takes note that a write went well that reached up to the element `end`, all elements from `first` of
    /// [`for_writing`](Editor::for_writing) on. After one that failed they are filled.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn wrote(&mut self, node: Node, end: u64) -> Result<()> {
        self.data(node)?.wrote(end);
        Ok(())
    }

    /// The elements of a dataset as numbers or as bytes, to be read: no space is taken.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn look(&mut self, node: Node, raw: bool) -> Result<Placed> {
        if self.unfilled.contains(&node) {
            self.with_data(node, Data::finish)?;
            self.unfilled.remove(&node);
        }
        self.placed(node, raw)
    }

    /// Whether space was taken for any of its elements.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn is_allocated(&mut self, node: Node) -> Result<bool> {
        self.data(node)?.is_allocated()
    }

    /// Sets all elements of a compact dataset, as stored.
    ///
    /// # Errors
    /// `EINVAL` if it is none, or has another number of bytes.
    pub fn write_compact(&mut self, node: Node, bytes: &[u8]) -> Result<()> {
        self.data(node)?.write_compact(bytes)?;
        self.dirty.insert(node);
        Ok(())
    }

    /// Commits, and leaves a note at the end of the file of the space in it that is free, for who edits it later, if there are
    /// so many bytes at least. Without this such space is lost when the editor goes.
    ///
    /// # Errors
    /// As [`commit`](Editor::commit).
    pub fn close(&mut self, least: u64) -> Result<()> {
        self.commit()?;
        // Where nothing was written a note of before is as it was. The length of paged files is not for us to choose.
        if !self.wrote || self.page > 1 {
            return Ok(());
        }
        let has_left = lock(&self.space).closed();
        if has_left {
            // The file ends behind the last byte that is used.
            let root = self.root();
            self.dirty.insert(root);
            self.commit()?;
        }
        self.leave_note(least)
    }
}

fn no_attribute(name: &str) -> Error {
    Error::new(Code::ENOTATT, format!("there is no attribute {name:?}"))
}

/// What the methods are made of.
impl Editor {
    fn object(&mut self, node: Node) -> Result<&mut EditedObject> {
        self.resume()?;
        let object = self.objects.get_mut(node.0 as usize).filter(|object| !object.gone);
        object.ok_or_else(|| wrong("an object that is not there"))
    }

    fn insert(&mut self, object: EditedObject) -> Node {
        let node = Node(self.objects.len() as u32);
        if let Some(at) = object.address() {
            self.by_address.insert(at, node);
        }
        self.objects.push(object);
        node
    }

    /// Gives a new object its first link.
    fn adopt(&mut self, parent: Node, name: &str, mut object: EditedObject) -> Result<Node> {
        object.header.references = 1;
        object.attributes = Some(EditedAttributes::new(object.header.is_ordered()));
        let node = self.insert(object);
        self.links(parent)?.add(name.as_bytes(), Target::Node(node));
        self.dirty.extend([parent, node]);
        self.note_change(|| Change::Added { parent, name: name.to_string() });
        Ok(node)
    }

    /// An error unless a link of this name can be added.
    fn check_new(&mut self, parent: Node, name: &str) -> Result<()> {
        if name.is_empty() || name == "." || name.contains(['/', '\0']) {
            return Err(Error::new(Code::EBADNAME, format!("a link cannot have the name {name:?}")));
        }
        match self.links(parent)?.list.get(name.as_bytes()) {
            Some(_) => Err(Error::new(Code::ENAMEINUSE, format!("link {name:?} is there already"))),
            None => Ok(()),
        }
    }

    fn links(&mut self, node: Node) -> Result<&mut EditedLinks> {
        let k = (self.tree_sizes.groups, self.tree_sizes.symbols);
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.links.is_none() {
            let group = [kind::LINK_INFO, kind::SYMBOL_TABLE]
                .iter()
                .any(|&kind| object.header.message(kind).is_some());
            if !group {
                return Err(Error::new(Code::EBADGRPID, "an object that is no group"));
            }
            object.links = Some(EditedLinks::load(&mut object.header, &file, k)?);
        }
        object.links.as_mut().ok_or_else(|| wrong("links"))
    }

    fn attributes(&mut self, node: Node) -> Result<&mut EditedAttributes> {
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.attributes.is_none() {
            object.attributes = Some(EditedAttributes::load(&mut object.header, &file)?);
        }
        object.attributes.as_mut().ok_or_else(|| wrong("attributes"))
    }

    fn data(&mut self, node: Node) -> Result<&mut Data> {
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.data.is_none() {
            if object.header.message(kind::LAYOUT).is_none() {
                return Err(wrong("an object that is no dataset"));
            }
            let at = object.address().ok_or_else(|| wrong("a dataset without a place"))?;
            object.data = Some(Box::new(Data::load(Dataset::open(&file.object(at)?)?)));
        }
        object.data.as_deref_mut().ok_or_else(|| wrong("data"))
    }

    /// Does something with the data of a dataset and the bytes of the file.
    fn with_data<T>(
        &mut self,
        node: Node,
        what: impl FnOnce(&mut Data, &FileStorage<'_>) -> Result<T>,
    ) -> Result<T> {
        let (blob, source, space) = (self.blob.clone(), self.source.clone(), self.space.clone());
        let place = FileStorage { blob: &blob, source: &source, space: &space };
        what(self.data(node)?, &place)
    }

    fn allocate(&mut self, node: Node) -> Result<()> {
        if self.with_data(node, Data::allocate)? {
            self.dirty.insert(node);
            self.unfilled.insert(node);
        }
        Ok(())
    }

    fn placed(&mut self, node: Node, raw: bool) -> Result<Placed> {
        let (placed, stored) = self.with_data(node, |data, place| {
            let placed = data.placed(raw, place)?;
            Ok((placed, data.store.is_some()))
        })?;
        if stored {
            self.stores.insert(node);
        }
        Ok(placed)
    }

    /// A datatype, and where it is if it is a committed one.
    fn datatype(&mut self, datatype: &TypeRef) -> Result<(Datatype, Option<Address>)> {
        match datatype {
            TypeRef::Inline(datatype) => Ok((datatype.clone(), None)),
            TypeRef::Committed(node) => {
                let at = self.address(*node)?;
                let message = self.object(*node)?.header.message(kind::DATATYPE);
                let message =
                    message.ok_or_else(|| Error::new(Code::EBADTYPID, "an object that is no datatype"))?;
                Ok((Datatype::decode(&message.body)?, Some(at)))
            }
        }
    }

    /// Makes a header of version 1 one of version 2, in the same place: only such a one can have its attributes in a
    /// heap.
    fn upgrade(&mut self, node: Node) -> Result<()> {
        self.attributes(node)?;
        let object = self.object(node)?;
        let len = object.header.chunks.first().map_or(0, |chunk| chunk.len);
        object.header.form.version = 2;
        object.header.form.flags = 0;
        object.header.form.fit(len);
        self.dirty.insert(node);
        Ok(())
    }

    /// Counts a use of a committed datatype, or one less.
    fn count(&mut self, at: Address, more: i32) -> Result<()> {
        let node = self.node(at)?;
        let object = self.object(node)?;
        object.header.references = object.header.references.saturating_add_signed(more);
        self.dirty.insert(node);
        if self.object(node)?.header.references == 0 { self.delete(node) } else { Ok(()) }
    }

    /// Counts one use less of the committed datatype that an attribute message is of, if it is of one.
    fn release_type(&mut self, body: Option<&[u8]>) -> Result<()> {
        match body.and_then(|body| committed_type(body, self.source.sizes)) {
            Some(at) => self.count(at, -1),
            None => Ok(()),
        }
    }

    /// The object that a hard link leads to.
    fn target(&mut self, target: &Target) -> Result<Option<Node>> {
        match target {
            Target::Node(node) => Ok(Some(*node)),
            Target::Other(LinkTarget::Hard(at), _) => self.node(*at).map(Some),
            Target::Other(..) => Ok(None),
        }
    }

    /// Takes away one of the links to an object.
    fn release(&mut self, target: &Target) -> Result<()> {
        let Some(node) = self.target(target)? else { return Ok(()) };
        let object = self.object(node)?;
        object.header.references = object.header.references.saturating_sub(1);
        let last = object.header.references == 0;
        self.dirty.insert(node);
        if last { self.delete(node) } else { Ok(()) }
    }

    fn is_group(&mut self, node: Node) -> Result<bool> {
        let object = self.object(node)?;
        let of_groups = [kind::LINK_INFO, kind::SYMBOL_TABLE];
        Ok(object.links.is_some() || of_groups.iter().any(|&kind| object.header.message(kind).is_some()))
    }

    /// Gives up the space of an object, and the links that it has. Who has the file open may still read it, and asks nobody
    /// whether it is there: so nothing else gets that space before the file is closed.
    fn delete(&mut self, node: Node) -> Result<()> {
        if node == self.root() {
            return Err(wrong("the root group cannot be deleted"));
        }
        let sizes = self.source.sizes;
        let mut targets = Vec::new();
        let mut used = Vec::new();
        if self.is_group(node)? {
            let links = self.links(node)?;
            targets.extend(links.list.values().cloned());
            used.append(&mut links.blocks);
        }
        let attributes = self.attributes(node)?;
        used.append(&mut attributes.blocks);
        let mut types: Vec<Address> =
            attributes.list.values().filter_map(|attribute| committed_type(&attribute.body, sizes)).collect();
        if self.object(node)?.header.message(kind::LAYOUT).is_some() {
            used.extend(self.storage(node)?);
            let datatype = self
                .object(node)?
                .header
                .message(kind::DATATYPE)
                .filter(|message| message.flags & HeaderMessage::SHARED != 0);
            types.extend(datatype.and_then(|message| committed_at(&message.body, sizes)));
        }
        let object = self.object(node)?;
        object.gone = true;
        let (chunks, was_committed, at) =
            (std::mem::take(&mut object.header.chunks), object.header.committed, object.address());
        {
            let mut space = lock(&self.space);
            for Extent { at, len } in chunks.iter().copied() {
                match was_committed {
                    true => space.leave(at, len),
                    false => space.give_back(at, len),
                }
            }
            used.into_iter().for_each(|extent| space.leave(extent.at, extent.len));
        }
        if let Some(at) = at.or(chunks.first().map(|chunk| chunk.at)) {
            self.by_address.remove(&at);
        }
        self.dirty.remove(&node);
        self.stores.remove(&node);
        self.unfilled.remove(&node);
        for target in targets {
            self.release(&target)?;
        }
        types.into_iter().try_for_each(|at| self.count(at, -1))
    }
}
