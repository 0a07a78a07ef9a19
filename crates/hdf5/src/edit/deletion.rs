//! Deletion: an object is deleted with the last reference to it. References are hard links and, for a committed datatype, the
//! datasets and attributes of this type.

use std::collections::HashMap;

use ferrocdf_bytes::Result;

use super::attributes::{committed_at, committed_type};
use super::group::Target;
use super::link_edits::no_link;
use super::space::{Extent, lock};
use super::{Editor, Node, wrong};
use crate::Address;
use crate::objects::header::HeaderMessage;
use crate::objects::kind;

impl Editor {
    /// Returns the objects that [`unlink`](Editor::unlink) would delete: those without another hard link. Groups in a cycle of
    /// links are not deleted.
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

    /// Changes the reference count of a committed datatype by `more`.
    pub(super) fn count(&mut self, at: Address, more: i32) -> Result<()> {
        let node = self.node(at)?;
        let object = self.object(node)?;
        object.header.references = object.header.references.saturating_add_signed(more);
        self.dirty.insert(node);
        if self.object(node)?.header.references == 0 { self.delete(node) } else { Ok(()) }
    }

    /// Takes one from the reference count of the committed datatype of an attribute message, if it has one.
    pub(super) fn release_type(&mut self, body: Option<&[u8]>) -> Result<()> {
        match body.and_then(|body| committed_type(body, self.source.sizes)) {
            Some(at) => self.count(at, -1),
            None => Ok(()),
        }
    }

    /// Takes one from the reference count of the object of a removed link.
    pub(super) fn release(&mut self, target: &Target) -> Result<()> {
        let Some(node) = self.target(target)? else { return Ok(()) };
        let object = self.object(node)?;
        object.header.references = object.header.references.saturating_sub(1);
        let last = object.header.references == 0;
        self.dirty.insert(node);
        if last { self.delete(node) } else { Ok(()) }
    }

    /// Deletes an object: frees its space and releases its links. Another process that has the file open may still read the
    /// object, so the space is not reused before the file is closed.
    pub(super) fn delete(&mut self, node: Node) -> Result<()> {
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
