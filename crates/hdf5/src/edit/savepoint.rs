//! Changes that are made all or not at all, in memory, before a commit.
//!
//! An open savepoint keeps the inverse of each change. Deletion of objects, and freeing of objects of the global heap, has no
//! inverse and is deferred until the savepoint is released. So a rollback needs no I/O and does not fail.
//!
//! Not covered: elements and extents of older datasets, and [`Editor::move_link`].

use ferrocdf_bytes::Result;

use super::attributes::EditedAttribute;
use super::group::Target;
use super::{Editor, Node};
use crate::messages::HeapId;

/// The changes since [`Editor::set_savepoint`].
pub(super) struct Savepoint {
    /// The number of objects that the editor knew.
    objects: usize,
    /// In the order in which they were made.
    changes: Vec<Change>,
    /// Objects of the global heap to be freed.
    freed: Vec<HeapId>,
}

/// A change, and the state that undoing it needs. Removed links and attributes still count as references to their objects and
/// committed datatypes.
pub(super) enum Change {
    /// A new link.
    Added { parent: Node, name: String },
    /// A link with another name.
    Renamed { parent: Node, old: String, new: String },
    /// A link that was taken away, and its number in the order of creation.
    Removed { parent: Node, name: String, number: u64, target: Target },
    /// An attribute that was set, and the message of the one before.
    AttributeSet { node: Node, name: String, before: Option<Vec<u8>> },
    /// An attribute with another name, the old and the new one, and its message before.
    AttributeRenamed { node: Node, names: (String, String), before: Vec<u8> },
    /// An attribute that was taken away, and its number in the order of creation.
    AttributeRemoved { node: Node, name: String, number: u64, removed: EditedAttribute },
    /// A new object of the global heap.
    Put(HeapId),
}

impl Editor {
    /// Opens a savepoint. The caller ends it by [`release_savepoint`](Editor::release_savepoint) or
    /// [`rollback`](Editor::rollback) before the next commit.
    pub fn set_savepoint(&mut self) {
        self.savepoint = Some(Savepoint { objects: self.objects.len(), changes: vec![], freed: vec![] });
    }

    /// Keeps the changes since [`set_savepoint`](Editor::set_savepoint).
    pub fn release_savepoint(&mut self) {
        let Some(Savepoint { changes, freed, .. }) = self.savepoint.take() else { return };
        for change in changes {
            // Space of an object that cannot be read is lost, which harms nobody.
            let _ = match change {
                Change::Removed { target, .. } => self.release(&target),
                Change::AttributeSet { before, .. } => self.release_type(before.as_deref()),
                Change::AttributeRemoved { removed, .. } => self.release_type(Some(&removed.body)),
                Change::Added { .. }
                | Change::Renamed { .. }
                | Change::AttributeRenamed { .. }
                | Change::Put(_) => Ok(()),
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
            Change::AttributeSet { node, name, before: None } => self.remove_attribute(node, &name),
            Change::AttributeSet { node, name, before: Some(body) } => {
                let found = self.attributes(node)?.list.get_mut(name.as_bytes());
                let after = found.map(|attribute| std::mem::replace(&mut attribute.body, body));
                self.release_type(after.as_deref())
            }
            Change::AttributeRenamed { node, names: (old, new), before } => {
                let list = &mut self.attributes(node)?.list;
                list.rename(new.as_bytes(), old.as_bytes());
                if let Some(attribute) = list.get_mut(old.as_bytes()) {
                    attribute.body = before;
                }
                Ok(())
            }
            Change::AttributeRemoved { node, name, number, removed } => {
                self.attributes(node)?.list.insert(number, name.into_bytes(), removed);
                Ok(())
            }
            Change::Put(id) => self.heap_free(id),
        }
    }

    /// True if a rollback has to undo changes of an object's attributes: a savepoint is open, and the object is older. A newer
    /// object goes as a whole.
    pub(super) fn undoes_attributes_of(&self, node: Node) -> bool {
        self.savepoint.as_ref().is_some_and(|savepoint| {
            let number = node.0 as usize;
            number < savepoint.objects
                || self.objects.get(number).is_some_and(|object| object.header.committed)
        })
    }

    /// Records a change, if a savepoint is open.
    pub(super) fn note_change(&mut self, change: impl FnOnce() -> Change) {
        if let Some(savepoint) = &mut self.savepoint {
            savepoint.changes.push(change());
        }
    }

    /// Defers freeing an object of the global heap, if a savepoint is open. Returns true if it did.
    pub(super) fn frees_later(&mut self, id: HeapId) -> bool {
        self.savepoint.as_mut().map(|savepoint| savepoint.freed.push(id)).is_some()
    }
}
