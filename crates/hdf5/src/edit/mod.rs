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
pub use spec::{AllocTime, AttributeSpec, DatasetSpec, FillTime, NewLayout, TypeRef};

/// An object of the file that is edited, committed or new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(crate) u32);

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
}
