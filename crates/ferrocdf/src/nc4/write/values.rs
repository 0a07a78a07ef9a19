//! Encoding of values as stored elements. Values of variable length go to the global heap.

use std::collections::HashSet;

use ferrocdf_array::{Array, In, Selection};
use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_hdf5::edit::Editor;
use ferrocdf_hdf5::messages::HeapId;
use ferrocdf_hdf5::messages::datatype::{Class, Datatype};
use ferrocdf_hdf5::{Address, ObjectReference, Sizes, VariableElement};
use ferrocdf_model::{Value, Values, each_numbers};
use ferrocdf_store::MemoryBlob;

fn wrong(what: &str) -> Error {
    Error::new(Code::EBADTYPE, format!("the values are not {what}"))
}

/// Encoder of values.
pub(super) struct Encoder<'a> {
    pub(super) editor: &'a mut Editor,
    pub(super) sizes: Sizes,
    /// Global heap objects created so far.
    pub(super) made: Vec<HeapId>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(editor: &'a mut Editor) -> Self {
        let sizes = editor.file().source().sizes;
        Encoder { editor, sizes, made: vec![] }
    }

    /// Encodes values as consecutive elements of a datatype. After an error their global heap objects are freed.
    pub(super) fn all(&mut self, datatype: &Datatype, values: &Values) -> Result<Vec<u8>> {
        let mut into = Vec::with_capacity(values.len().saturating_mul(datatype.size as usize));
        let before = self.made.len();
        if let Err(error) = self.list(datatype, values, &mut into) {
            for id in self.made.split_off(before) {
                // An object that cannot be freed stays in the heap, unused.
                let _ = self.editor.heap_free(id);
            }
            return Err(error);
        }
        Ok(into)
    }

    fn list(&mut self, datatype: &Datatype, values: &Values, into: &mut Vec<u8>) -> Result<()> {
        match (&datatype.class, values) {
            (Class::Text(_), Values::Char(text))
                if text.len().is_multiple_of(datatype.size.max(1) as usize) =>
            {
                into.extend(text);
            }
            (Class::Text(_), Values::String(list)) => {
                for text in list {
                    let (text, end) =
                        (text.as_deref().unwrap_or_default(), into.len() + datatype.size as usize);
                    into.extend(text.iter().take(datatype.size as usize));
                    into.resize(end, 0);
                }
            }
            (Class::Variable { text: Some(_), .. }, Values::String(list)) => {
                for text in list {
                    match text {
                        Some(text) => self.pointer(text.len(), text, into)?,
                        None => self.empty(into)?,
                    }
                }
            }
            (_, Values::User(_, list)) => {
                for value in list {
                    self.value(datatype, value, into)?;
                }
            }
            (_, Values::Char(_) | Values::String(_)) => return Err(wrong("of the type that is stored")),
            (_, numbers) => into.extend(self::numbers(datatype, numbers)?),
        }
        Ok(())
    }

    /// Encodes one element.
    fn value(&mut self, datatype: &Datatype, value: &Value, into: &mut Vec<u8>) -> Result<()> {
        match (&datatype.class, value) {
            (Class::Compound { members }, Value::Compound(fields)) if members.len() == fields.len() => {
                let start = into.len();
                into.resize(start + datatype.size as usize, 0);
                for (member, field) in members.iter().zip(fields) {
                    let mut bytes = Vec::with_capacity(member.datatype.size as usize);
                    self.value(&member.datatype, field, &mut bytes)?;
                    let at = start.saturating_add(member.offset as usize);
                    let place = into.get_mut(at..at.saturating_add(member.datatype.size as usize));
                    match place.filter(|place| place.len() == bytes.len()) {
                        Some(place) => place.copy_from_slice(&bytes),
                        None => return Err(wrong("as many as the field holds")),
                    }
                }
                Ok(())
            }
            (Class::Array { base, .. }, Value::Array(list)) => {
                list.iter().try_for_each(|value| self.value(base, value, into))
            }
            (Class::Array { base, .. }, Value::Atomic(values)) => self.list(base, values, into),
            (Class::Variable { text: None, base }, Value::Vlen(list)) => {
                let mut bytes = vec![];
                list.iter().try_for_each(|value| self.value(base, value, &mut bytes))?;
                match bytes.len() / (base.size.max(1) as usize) {
                    0 => self.empty(into)?,
                    count => self.pointer(count, &bytes, into)?,
                }
                Ok(())
            }
            (Class::Opaque { .. }, Value::Opaque(bytes)) => {
                let end = into.len() + datatype.size as usize;
                into.extend(bytes.iter().take(datatype.size as usize));
                into.resize(end, 0);
                Ok(())
            }
            (Class::Enumeration { base, .. }, Value::Enum(number)) => {
                let mut bytes = number.to_le_bytes()[..(base.size as usize).min(16)].to_vec();
                if base.number().is_some_and(|number| number.stored.order == Order::Big) {
                    bytes.reverse();
                }
                into.extend(bytes);
                Ok(())
            }
            (_, Value::Atomic(values)) => self.list(datatype, values, into),
            _ => Err(wrong("of the type that is stored")),
        }
    }

    /// Appends an element without a global heap object: an empty list, or a null string.
    fn empty(&self, into: &mut Vec<u8>) -> Result<()> {
        VariableElement::empty(self.sizes).append_to(into)
    }

    /// Replaces the global heap objects of an element, which it shares with the one that it is a copy of, by copies:
    /// freeing one element would free the objects of both.
    pub(super) fn own(&mut self, datatype: &Datatype, element: &mut [u8]) -> Result<()> {
        if !datatype.has_pointers() {
            return Ok(());
        }
        match &datatype.class {
            Class::Compound { members } => members.iter().try_for_each(|member| {
                let at = member.offset as usize;
                let part = element.get_mut(at..at.saturating_add(member.datatype.size as usize));
                part.map_or(Ok(()), |part| self.own(&member.datatype, part))
            }),
            Class::Array { base, .. } => {
                element.chunks_exact_mut(base.size.max(1) as usize).try_for_each(|part| self.own(base, part))
            }
            Class::Variable { base, .. } => {
                let stored = VariableElement::decode(element, self.sizes)?;
                let Some(id) = stored.id else { return Ok(()) };
                let mut inside = self.editor.heap_get(id)?.to_vec();
                for part in inside.chunks_exact_mut(base.size.max(1) as usize) {
                    self.own(base, part)?;
                }
                let id = Some(self.editor.heap_put(&inside)?);
                let mut bytes = vec![];
                VariableElement { id, ..stored }.append_to(&mut bytes)?;
                element[..bytes.len()].copy_from_slice(&bytes);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Appends an element that refers to `count` elements in a new global heap object.
    fn pointer(&mut self, count: usize, bytes: &[u8], into: &mut Vec<u8>) -> Result<()> {
        let count = u32::try_from(count)
            .map_err(|_| Error::new(Code::ERANGE, format!("a list of {count} elements")))?;
        let id = self.editor.heap_put(bytes)?;
        self.made.push(id);
        VariableElement { sizes: self.sizes, count, id: Some(id) }.append_to(into)
    }

    /// Appends a reference to an object.
    pub(super) fn reference(&self, at: Address, into: &mut Vec<u8>) -> Result<()> {
        ObjectReference { sizes: self.sizes, object: Some(at) }.append_to(into)
    }

    /// Encodes, for each dimension, an element that is a list of references to scales.
    pub(super) fn references(&mut self, dims: &[Vec<Address>]) -> Result<Vec<u8>> {
        let mut into = vec![];
        for scales in dims {
            if scales.is_empty() {
                self.empty(&mut into)?;
                continue;
            }
            let mut references = vec![];
            scales.iter().try_for_each(|&at| self.reference(at, &mut references))?;
            self.pointer(scales.len(), &references, &mut into)?;
        }
        Ok(into)
    }
}

/// Encodes numbers as elements of a datatype.
fn numbers(datatype: &Datatype, values: &Values) -> Result<Vec<u8>> {
    let number = datatype.number().ok_or_else(|| wrong("of the type that is stored"))?;
    if number.decoder.is_some() {
        return Err(Error::new(Code::EPERM, "numbers of this format are only read"));
    }
    let array = Array::contiguous(vec![values.len() as u64], number.stored, 0)?;
    let blob = MemoryBlob::default();
    each_numbers!(values, list => {
        let _fits = ferrocdf_array::write(&blob, &array, &Selection::all(&array.shape), In::new(list))?;
    }, _ => return Err(wrong("numbers")));
    Ok(blob.to_bytes())
}

/// Appends the global heap objects of consecutive elements, and the objects referenced from there, each nested one
/// once.
pub(super) fn places(editor: &Editor, datatype: &Datatype, bytes: &[u8], into: &mut Vec<HeapId>) {
    find_places(editor, datatype, bytes, into, &mut HashSet::new());
}

/// Searches each object once: several references may lead to the same object.
fn find_places(
    editor: &Editor,
    datatype: &Datatype,
    bytes: &[u8],
    into: &mut Vec<HeapId>,
    seen: &mut HashSet<HeapId>,
) {
    if !datatype.has_pointers() {
        return;
    }
    let sizes = editor.file().source().sizes;
    for element in bytes.chunks_exact(datatype.size.max(1) as usize) {
        match &datatype.class {
            Class::Compound { members } => {
                for member in members {
                    let at = member.offset as usize;
                    if let Some(part) = element.get(at..at.saturating_add(member.datatype.size as usize)) {
                        find_places(editor, &member.datatype, part, into, seen);
                    }
                }
            }
            Class::Array { base, .. } => find_places(editor, base, element, into, seen),
            Class::Variable { base, .. } => {
                let stored = VariableElement::decode(element, sizes);
                let Some(id) = stored.ok().and_then(|stored| stored.id) else { continue };
                if base.has_pointers() {
                    if !seen.insert(id) {
                        continue;
                    }
                    if let Ok(inside) = editor.heap_get(id) {
                        find_places(editor, base, &inside, into, seen);
                    }
                }
                into.push(id);
            }
            _ => {}
        }
    }
}
