//! Editing of attributes.

use ferrocdf_bytes::{Code, Error, Result};

use super::attributes::EditedAttributes;
use super::savepoint::Change;
use super::{AttributeSpec, Editor, Node, wrong};
use crate::objects::attribute_message::AttributeMessage;
use crate::objects::shared::committed;

fn no_attribute(name: &str) -> Error {
    Error::new(Code::ENOTATT, format!("there is no attribute {name:?}"))
}

impl Editor {
    /// Sets an attribute. A new attribute is the last in creation order; an existing one keeps its position. Objects of the
    /// global heap that the old elements refer to are not freed: see [`heap_free`](Editor::heap_free).
    ///
    /// # Errors
    /// `EINVAL` if the length of the data is not that of the shape; those of reading the existing attributes.
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

    /// Removes an attribute.
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

    /// Renames an attribute; it keeps its position in the creation order.
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
            return Err(Error::new(Code::ENAMEINUSE, format!("attribute {new:?} exists already")));
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

    pub(super) fn attributes(&mut self, node: Node) -> Result<&mut EditedAttributes> {
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.attributes.is_none() {
            object.attributes = Some(EditedAttributes::load(&mut object.header, &file)?);
        }
        object.attributes.as_mut().ok_or_else(|| wrong("attributes"))
    }

    /// Changes an object header of version 1 to version 2 in place: only version 2 can have attributes in a heap.
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
}
