//! Editing: changes of a file, from one committed state to the next.
//!
//! Creating a file is editing an empty one, so there is one writer. Changes of metadata are pending in memory, object by
//! object, as messages; elements go to the file at once, into space that no committed state uses. [`Editor::commit`]
//! makes all changes the new committed state at one instant: when the 48 bytes of the superblock are written.
//!
//! Object headers never move, since references are their addresses; they grow by continuation chunks. Committed
//! metadata that changes in place is written to a metadata cache image first, which every reader applies to the file that
//! it opens, until the blocks themselves are written and the image is removed (`journal`). Chunks of a committed state are never overwritten. Elements of
//! contiguous and implicitly indexed datasets are overwritten in place: a crash leaves a mixture of old and new elements.
//!
//! Not supported: making datasets shorter; writing virtual datasets and external raw data; reuse of the space of committed
//! fixed and extensible arrays, which is lost when such an index is rebuilt for the first time after opening.

mod attribute_edits;
mod attributes;
mod build;
mod chunks;
mod commit;
mod create;
mod data_access;
mod dataset;
mod deletion;
mod extents;
mod group;
mod header;
mod heap;
mod index;
mod journal;
mod link_edits;
mod named;
mod new_dataset;
mod note;
mod object;
mod options;
mod patched;
mod savepoint;
mod space;
mod spec;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::BlobMut;

use crate::messages::Datatype;
use crate::messages::small::{ReferenceCount, TreeSizes};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::{Address, File, OpenOptions, Source, Superblock};
use header::{NOT_SHARED, message};
use heap::EditedGlobalHeap;
use journal::Install;
use object::EditedObject;
pub use options::{Barrier, CreateOptions, GroupOptions, Profile};
use patched::Patched;
use savepoint::Savepoint;
use space::{Extent, FileSpace, lock};
pub use spec::{AllocTime, AttributeSpec, DatasetSpec, FillTime, NewLayout, TypeRef, VirtualBox};

/// An object of the file that is edited, committed or new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(crate) u32);

/// A file that is edited.
pub struct Editor {
    blob: Arc<dyn BlobMut>,
    /// The same bytes, for readers of metadata.
    patched: Arc<Patched>,
    /// The committed state.
    file: File,
    options: OpenOptions,
    /// The bytes as they are now, committed or not.
    source: Source,
    /// The superblock to be written, of version 2 or 3.
    superblock: Superblock,
    /// The messages of the superblock extension that are kept, and the extents of the extension.
    extension: Vec<HeaderMessage>,
    extension_at: Vec<Extent>,
    extension_changed: bool,
    /// The node sizes of version 1 B-trees and symbol tables.
    tree_sizes: TreeSizes,
    /// The end of the file is a multiple of this.
    page: u64,
    profile: Profile,
    barrier: Barrier,
    space: Arc<Mutex<FileSpace>>,
    objects: Vec<EditedObject>,
    by_address: HashMap<Address, Node>,
    /// Objects with pending changes.
    dirty: BTreeSet<Node>,
    /// Datasets with a chunk store.
    stores: BTreeSet<Node>,
    /// Datasets with new space that may still have to be filled.
    unfilled: BTreeSet<Node>,
    heap: EditedGlobalHeap,
    /// True if the superblock has to be written even if nothing else changed.
    unwritten: bool,
    /// True if anything was committed since the free-space note was read or written.
    wrote: bool,
    /// The extent of the free-space note at the end of the file.
    note: Option<Extent>,
    /// A commit that failed while the superblock was written: the file may hold the old or the new one.
    install: Option<Install>,
    /// Changes that can still be rolled back.
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

impl Editor {
    /// Returns the committed state; for a file that was never committed an empty root group in memory.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the bytes that are edited.
    pub fn blob(&self) -> &Arc<dyn BlobMut> {
        &self.blob
    }

    /// Returns the root group.
    pub fn root(&self) -> Node {
        Node(0)
    }

    /// Returns the object whose header is at an address: a committed one, or one that has got it by [`address`](Editor::address).
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

    /// Returns the address of an object's header, which never changes. A new object gets space for the messages that it has
    /// now; messages that are added later lie in a continuation. So callers should set attributes first, with placeholders of
    /// the right length for addresses that they do not know yet.
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
            // Callers ask for the address of a datatype to use it, which adds a reference count message.
            messages.retain(|message| message.kind != kind::REFERENCE_COUNT);
            messages.push(message(kind::REFERENCE_COUNT, NOT_SHARED, ReferenceCount(1).encode()?));
        }
        let len = object.header.fit(&messages, sizes);
        let at = lock(&self.space).take_meta(len)?;
        self.object(node)?.header.chunks.push(Extent { at, len });
        self.by_address.insert(at, node);
        Ok(at)
    }
}

impl Editor {
    fn object(&mut self, node: Node) -> Result<&mut EditedObject> {
        self.resume()?;
        let object = self.objects.get_mut(node.0 as usize).filter(|object| !object.gone);
        object.ok_or_else(|| wrong("the object was deleted, or belongs to another editor"))
    }

    fn insert(&mut self, object: EditedObject) -> Node {
        let node = Node(self.objects.len() as u32);
        if let Some(at) = object.address() {
            self.by_address.insert(at, node);
        }
        self.objects.push(object);
        node
    }

    /// Returns a datatype, and its address if it is a committed one.
    fn datatype(&mut self, datatype: &TypeRef) -> Result<(Datatype, Option<Address>)> {
        match datatype {
            TypeRef::Inline(datatype) => Ok((datatype.clone(), None)),
            TypeRef::Committed(node) => {
                let at = self.address(*node)?;
                let message = self.object(*node)?.header.message(kind::DATATYPE);
                let message = message
                    .ok_or_else(|| Error::new(Code::EBADTYPID, "the object is not a committed datatype"))?;
                Ok((Datatype::decode(&message.body)?, Some(at)))
            }
        }
    }
}
