//! Attributes: the ones of the model, and the hidden ones of the netCDF-4 convention.

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::edit::{AttributeSpec, Node, TypeRef};
use ferrocdf_hdf5::messages::datatype::Datatype;
use ferrocdf_hdf5::messages::{Dataspace, HeapId, SpaceKind};
use ferrocdf_model::{Attr, Attrs, Values};

use super::types::{self, Widths};
use super::undo::Before;
use super::values::{Encoder, places};
use super::{Edited, link_name};

/// Returns a scalar dataspace.
pub(super) fn scalar() -> Dataspace {
    Dataspace { kind: SpaceKind::Scalar, dims: vec![], max: None }
}

/// Returns a dataspace of one dimension, which cannot grow.
pub(super) fn list(len: usize) -> Dataspace {
    let len = len as u64;
    Dataspace { kind: SpaceKind::Simple, dims: vec![len], max: Some(vec![Some(len)]) }
}

impl Edited {
    pub(super) fn widths(&self) -> Widths {
        Widths { address: self.editor.file().source().sizes.offset }
    }

    /// Changes the attributes of an object in the file from `old` to `new`.
    pub(super) fn change_attributes(&mut self, node: Node, old: &Attrs, new: &Attrs) -> Result<()> {
        // Attributes that were never loaded are unchanged.
        if new.is_late() {
            return Ok(());
        }
        let (mut before, mut after) = (old.iter().peekable(), new.iter().peekable());
        while let Some(&was) = before.peek() {
            let is = after.peek().copied();
            match is {
                Some(is) if is.name == was.name => {
                    if !same(&is.value, &was.value) {
                        self.set_attribute(node, is)?;
                    }
                    after.next();
                }
                // A new name at the position of a removed one is a rename.
                Some(is)
                    if new.find(was.name.as_bytes()).is_none() && old.find(is.name.as_bytes()).is_none() =>
                {
                    self.rename_attribute(node, was, is)?;
                    after.next();
                }
                _ => self.remove_attribute(node, was.name.as_bytes())?,
            }
            before.next();
        }
        after.try_for_each(|attr| self.set_attribute(node, attr))
    }

    /// Sets all attributes of a new object.
    pub(super) fn set_attributes(&mut self, node: Node, attrs: &Attrs) -> Result<()> {
        if let Some(failure) = attrs.failure() {
            return Err(failure.clone());
        }
        attrs.iter().try_for_each(|attr| self.set_attribute(node, attr))
    }

    fn rename_attribute(&mut self, node: Node, was: &Attr, is: &Attr) -> Result<()> {
        let (old, new) = (was.name.as_bytes(), is.name.as_bytes());
        // Read before the rename, while the file has the old name; an attribute that gets that name later has no such
        // heap objects.
        let held = self.heap_of(node, old)?;
        self.editor.rename_attribute(node, link_name(old)?, link_name(new)?)?;
        self.note_held(node, old, vec![]);
        self.note_held(node, new, held);
        if same(&was.value, &is.value) { Ok(()) } else { self.set_attribute(node, is) }
    }

    fn set_attribute(&mut self, node: Node, attr: &Attr) -> Result<()> {
        let name = attr.name.as_bytes();
        let done = self.put_value(node, name, &attr.value);
        done.map_err(|error| error.at(format_args!("attribute \"{}\"", attr.name)))
    }

    pub(super) fn put_value(&mut self, node: Node, name: &[u8], value: &Values) -> Result<()> {
        let space = match value {
            _ if value.is_empty() => Dataspace { kind: SpaceKind::Null, dims: vec![], max: None },
            Values::Char(_) => scalar(),
            _ => list(value.len()),
        };
        // A text is stored as one string of its length.
        if let Values::Char(text) = value {
            let datatype = TypeRef::Inline(types::text(u32::try_from(text.len().max(1)).unwrap_or(u32::MAX)));
            return self.put_attribute(node, name, datatype, space, text.clone(), vec![]);
        }
        let datatype = self.datatype(value.ty(), None)?;
        // Freed first, so that the new value can reuse the space of the old one.
        self.give_up(node, name)?;
        let mut encoder = Encoder::new(&mut self.editor);
        let data = encoder.all(&datatype, value)?;
        let made = std::mem::take(&mut encoder.made);
        self.put_attribute(node, name, TypeRef::Inline(datatype), space, data, made)
    }

    /// Sets an attribute from its stored bytes. `made` are its objects in the global heap.
    pub(super) fn put_attribute(
        &mut self,
        node: Node,
        name: &[u8],
        datatype: TypeRef,
        space: Dataspace,
        data: Vec<u8>,
        made: Vec<HeapId>,
    ) -> Result<()> {
        self.give_up(node, name)?;
        let text = link_name(name)?.to_string();
        self.editor.set_attribute(node, AttributeSpec { name: text, datatype, space, data })?;
        self.note_held(node, name, made);
        Ok(())
    }

    /// Sets a hidden attribute that has no objects in the global heap.
    pub(super) fn put_plain(
        &mut self,
        node: Node,
        name: &[u8],
        datatype: Datatype,
        space: Dataspace,
        data: Vec<u8>,
    ) -> Result<()> {
        let text = link_name(name)?.to_string();
        let datatype = TypeRef::Inline(datatype);
        self.editor.set_attribute(node, AttributeSpec { name: text, datatype, space, data })
    }

    /// Removes an attribute if it exists.
    pub(super) fn remove_attribute(&mut self, node: Node, name: &[u8]) -> Result<()> {
        self.give_up(node, name)?;
        match self.editor.remove_attribute(node, link_name(name)?) {
            Err(error) if error.code == ferrocdf_bytes::Code::ENOTATT => return Ok(()),
            done => done?,
        }
        Ok(())
    }

    /// Frees the global heap objects of an attribute whose value is replaced or removed next.
    fn give_up(&mut self, node: Node, name: &[u8]) -> Result<()> {
        for id in self.heap_of(node, name)? {
            // Other writers may have shared one object among elements; the second free fails, and is ignored.
            let _ = self.editor.heap_free(id);
        }
        self.note_held(node, name, vec![]);
        Ok(())
    }

    /// Records the global heap objects of an attribute. An object created in this session has no unrecorded ones, so an
    /// empty list is not recorded for it.
    fn note_held(&mut self, node: Node, name: &[u8], held: Vec<HeapId>) {
        if !held.is_empty() || !self.made.contains(&node) {
            let before = self.heaped.entry(node).or_default().insert(name.to_vec(), held);
            self.log(|| Before::Heaped(node, name.to_vec(), before));
        }
    }

    fn forget_held(&mut self, node: Node, name: &[u8]) -> Option<Vec<HeapId>> {
        let held = self.heaped.get_mut(&node)?.remove(name)?;
        self.log(|| Before::Heaped(node, name.to_vec(), Some(held.clone())));
        Some(held)
    }

    /// Returns the global heap objects of an attribute, and removes their record.
    pub(super) fn heap_of(&mut self, node: Node, name: &[u8]) -> Result<Vec<HeapId>> {
        if let Some(known) = self.forget_held(node, name) {
            return Ok(known);
        }
        if self.made.contains(&node) {
            return Ok(vec![]);
        }
        let at = self.editor.address(node)?;
        let Some(attribute) = self.editor.file().object(at)?.attribute(name)? else { return Ok(vec![]) };
        let mut held = vec![];
        places(&self.editor, &attribute.datatype, &attribute.data, &mut held);
        Ok(held)
    }
}

/// True if two values are the same bytes: NaN equals itself.
fn same(a: &Values, b: &Values) -> bool {
    macro_rules! bits {
        ($a:expr, $b:expr) => {
            $a.len() == $b.len() && $a.iter().zip($b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
    }
    match (a, b) {
        (Values::Float(a), Values::Float(b)) => bits!(a, b),
        (Values::Double(a), Values::Double(b)) => bits!(a, b),
        (a, b) => a == b,
    }
}
