//! Changes that are made all or not at all, in memory, before a commit.
//!
//! An open savepoint keeps the inverse of each change. Deleting objects, and giving up objects of the global heap, has no
//! inverse and waits until the savepoint is released. So a rollback finds all that it needs in memory and does not fail.
//!
//! Not covered: elements and extents of older datasets, and [`Editor::move_link`].

use std::collections::HashSet;

use ferrocdf_bytes::Result;

use super::attributes::{Attributes, committed_type};
use super::group::Target;
use super::{Editor, Node};
use crate::messages::HeapId;
use crate::{Address, Sizes};

/// The changes since [`Editor::set_savepoint`].
#[derive(Default)]
pub(super) struct Savepoint {
    /// The number of objects in memory when it was opened: uncommitted ones from here on are new.
    objects: usize,
    /// In the order in which they were made.
    changes: Vec<Change>,
    /// Objects whose attributes are among the changes.
    saved: HashSet<Node>,
    /// Objects of the global heap to be given up.
    freed: Vec<HeapId>,
}

/// A change, and what undoing it needs.
pub(super) enum Change {
    /// A new link.
    Added { parent: Node, name: String },
    /// A link with another name.
    Renamed { parent: Node, old: String, new: String },
    /// A link that was taken away, and its number in the order of creation. Its object is not released yet.
    Removed { parent: Node, name: String, number: u64, target: Target },
    /// The attributes of an object before the first of them changed. Their committed datatypes are counted once more.
    Attributes { node: Node, before: Attributes },
    /// A new object of the global heap.
    Put(HeapId),
}

/// The committed datatypes of attributes.
fn committed_types(attributes: &Attributes, sizes: Sizes) -> Vec<Address> {
    attributes.list.values().filter_map(|attribute| committed_type(&attribute.body, sizes)).collect()
}

impl Editor {
    /// Opens a savepoint. The caller ends it by [`release_savepoint`](Editor::release_savepoint) or
    /// [`rollback`](Editor::rollback) before the next commit.
    pub fn set_savepoint(&mut self) {
        self.savepoint = Some(Savepoint { objects: self.objects.len(), ..Savepoint::default() });
    }

    /// Keeps the changes since [`set_savepoint`](Editor::set_savepoint).
    pub fn release_savepoint(&mut self) {
        let Some(Savepoint { changes, freed, .. }) = self.savepoint.take() else { return };
        let sizes = self.source.sizes;
        for change in changes {
            // Space of an object that cannot be read is lost, which harms nobody.
            let _ = match change {
                Change::Removed { target, .. } => self.release(&target),
                Change::Attributes { before, .. } => self.count_all(&committed_types(&before, sizes), -1),
                Change::Added { .. } | Change::Renamed { .. } | Change::Put(_) => Ok(()),
            };
        }
        for id in freed {
            // Two elements may share an object of the heap, which is given up once.
            let _ = self.heap_free(id);
        }
    }

    /// Undoes the changes since [`set_savepoint`](Editor::set_savepoint).
    pub fn rollback(&mut self) {
        let Some(Savepoint { changes, .. }) = self.savepoint.take() else { return };
        for change in changes.into_iter().rev() {
            // Only full collections of the global heap have to be read again; one that cannot be stays unused.
            let _ = self.undo(change);
        }
    }

    fn undo(&mut self, change: Change) -> Result<()> {
        match change {
            Change::Added { parent, name } => self.unlink(parent, &name),
            Change::Renamed { parent, old, new } => self.rename_link(parent, &new, &old),
            Change::Removed { parent, name, number, target } => {
                let links = self.links(parent)?;
                links.list.insert(number, name.into_bytes(), target);
                links.changed = true;
                Ok(())
            }
            Change::Attributes { node, before } => {
                let after = std::mem::replace(self.attributes(node)?, before);
                self.count_all(&committed_types(&after, self.source.sizes), -1)
            }
            Change::Put(id) => self.heap_free(id),
        }
    }

    /// Notes a change, if a savepoint is open.
    pub(super) fn note_change(&mut self, change: impl FnOnce() -> Change) {
        if let Some(savepoint) = &mut self.savepoint {
            savepoint.changes.push(change());
        }
    }

    /// Notes the attributes of an object that are about to change, if a savepoint is open and has not got them. Those of a
    /// new object go with it.
    pub(super) fn save_attributes(&mut self, node: Node) -> Result<()> {
        let Some(savepoint) = self.savepoint.as_ref().filter(|savepoint| !savepoint.saved.contains(&node))
        else {
            return Ok(());
        };
        let is_late = node.0 as usize >= savepoint.objects;
        if is_late && !self.object(node)?.committed {
            return Ok(());
        }
        let before = self.attributes(node)?.clone();
        self.count_all(&committed_types(&before, self.source.sizes), 1)?;
        if let Some(savepoint) = &mut self.savepoint {
            savepoint.saved.insert(node);
            savepoint.changes.push(Change::Attributes { node, before });
        }
        Ok(())
    }

    /// Puts off giving up an object of the global heap, if a savepoint is open. Returns whether it did.
    pub(super) fn frees_later(&mut self, id: HeapId) -> bool {
        self.savepoint.as_mut().map(|savepoint| savepoint.freed.push(id)).is_some()
    }

    fn count_all(&mut self, types: &[Address], more: i32) -> Result<()> {
        types.iter().try_for_each(|&at| self.count(at, more))
    }
}
