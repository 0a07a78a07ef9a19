//! Editing of links, and of groups and committed datatypes, which begin with a link.

use ferrocdf_bytes::{Code, Error, Result};

use super::attributes::EditedAttributes;
use super::group::{EditedLinks, Target};
use super::header::{CONSTANT, NOT_SHARED, message};
use super::object::EditedObject;
use super::savepoint::Change;
use super::{Editor, GroupOptions, Node, wrong};
use crate::groups::LinkTarget;
use crate::messages::Datatype;
use crate::objects::kind;

pub(super) fn no_link(name: &str) -> Error {
    Error::new(Code::ENOTFOUND, format!("there is no link {name:?}"))
}

impl Editor {
    /// Creates a group.
    ///
    /// # Errors
    /// `ENAMEINUSE` if the name is taken; `EBADGRPID` if `parent` is not a group.
    pub fn create_group(&mut self, parent: Node, name: &str, options: GroupOptions) -> Result<Node> {
        self.check_new(parent, name)?;
        let links = EditedLinks::new(options.link_order);
        let mut object = EditedObject::new(options.attribute_order, links.first_messages(self.source.sizes)?);
        object.links = Some(links);
        self.adopt(parent, name, object)
    }

    /// Creates a committed datatype.
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

    /// Removes a link. An object is deleted with its last hard link.
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

    /// Renames a link; it keeps its position in the creation order.
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

    /// Moves a link to another group, where it becomes the last in creation order.
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

    /// Adds a hard link to an object.
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

    /// Returns the object of a hard link of a group; `None` if there is no hard link of this name.
    ///
    /// # Errors
    /// Those of reading the links.
    pub fn child(&mut self, parent: Node, name: &str) -> Result<Option<Node>> {
        match self.links(parent)?.list.get(name.as_bytes()).cloned() {
            Some(target) => self.target(&target),
            None => Ok(None),
        }
    }

    pub(super) fn links(&mut self, node: Node) -> Result<&mut EditedLinks> {
        let k = (self.tree_sizes.groups, self.tree_sizes.symbols);
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.links.is_none() {
            let group = [kind::LINK_INFO, kind::SYMBOL_TABLE]
                .iter()
                .any(|&kind| object.header.message(kind).is_some());
            if !group {
                return Err(Error::new(Code::EBADGRPID, "the object is not a group"));
            }
            object.links = Some(EditedLinks::load(&mut object.header, &file, k)?);
        }
        object.links.as_mut().ok_or_else(|| wrong("links"))
    }

    /// Returns the object of a hard link.
    pub(super) fn target(&mut self, target: &Target) -> Result<Option<Node>> {
        match target {
            Target::Node(node) => Ok(Some(*node)),
            Target::Other(LinkTarget::Hard(at), _) => self.node(*at).map(Some),
            Target::Other(..) => Ok(None),
        }
    }

    pub(super) fn is_group(&mut self, node: Node) -> Result<bool> {
        let object = self.object(node)?;
        let of_groups = [kind::LINK_INFO, kind::SYMBOL_TABLE];
        Ok(object.links.is_some() || of_groups.iter().any(|&kind| object.header.message(kind).is_some()))
    }

    /// Adds a new object with its first link.
    pub(super) fn adopt(&mut self, parent: Node, name: &str, mut object: EditedObject) -> Result<Node> {
        object.header.references = 1;
        object.attributes = Some(EditedAttributes::new(object.header.is_ordered()));
        let node = self.insert(object);
        self.links(parent)?.add(name.as_bytes(), Target::Node(node));
        self.dirty.extend([parent, node]);
        self.note_change(|| Change::Added { parent, name: name.to_string() });
        Ok(node)
    }

    /// Checks that a link of this name can be added.
    pub(super) fn check_new(&mut self, parent: Node, name: &str) -> Result<()> {
        if name.is_empty() || name == "." || name.contains(['/', '\0']) {
            return Err(Error::new(Code::EBADNAME, format!("a link cannot have the name {name:?}")));
        }
        match self.links(parent)?.list.get(name.as_bytes()) {
            Some(_) => Err(Error::new(Code::ENAMEINUSE, format!("link {name:?} exists already"))),
            None => Ok(()),
        }
    }
}
