//! From the bytes of elements to values: for attributes, and for variables of types that no array of numbers holds.
//!
//! What elements point to in the global heap is followed. A small file may point to the same bytes again and again, so
//! every value takes of a budget; how deep values lie in one another is bounded by the depth of the datatype.
//!
//! Not done: the other way.

use std::collections::BTreeSet;

use ferrocdf_array::Kind;
use ferrocdf_bytes::{Code, Decoder, Error, Record, Result, ToUsize};

use crate::elements::{
    ATTRIBUTE, ElementHeapId, ObjectReference, REGION, ReferenceBlock, RegionObject, RevisedReferenceHead,
    VariableElement,
};
use crate::heaps::global::SMALLEST;
use crate::messages::datatype::{Class, Datatype, Reference};
use crate::selection::{SpaceSelection, StoredSelection};
use crate::source::ORDER;
use crate::wire::{self, bad};
use crate::{Address, File, Number};

/// A value of any datatype.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A signed integer, or one of an enumeration.
    Int(i64),
    /// An unsigned integer, one of an enumeration, or bits.
    Uint(u64),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string of fixed length, with its padding.
    Text(Vec<u8>),
    /// A string of any length; `None` where there is none.
    String(Option<Vec<u8>>),
    /// Opaque bytes, and times, as stored.
    Bytes(Vec<u8>),
    /// The members of a compound in the order of the datatype.
    Compound(Vec<Value>),
    /// The elements of an array of fixed length, last dimension fastest.
    Array(Vec<Value>),
    /// The elements of a sequence of any length.
    Sequence(Vec<Value>),
    /// A reference; `None` for one to nothing.
    Reference(Option<Referred>),
}

/// What a reference refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Referred {
    /// The name of the file; the same file if `None`.
    pub file: Option<Vec<u8>>,
    /// The object.
    pub object: Address,
    /// The elements of the dataset, for references to regions.
    pub region: Option<SpaceSelection>,
    /// The attribute, for references to attributes.
    pub attribute: Option<Vec<u8>>,
}

/// Makes values of the elements of one file.
#[derive(Debug)]
pub struct Values<'a> {
    file: &'a File,
    budget: u64,
}

impl<'a> Values<'a> {
    /// What makes values that take at most `budget` bytes of memory in all.
    pub fn new(file: &'a File, budget: u64) -> Self {
        Values { file, budget }
    }

    /// The values of elements side by side.
    ///
    /// # Errors
    /// `EHDFERR` if the bytes are not elements of the type, or point to what is not there; `ENOMEM` if the values are
    /// larger than the budget.
    pub fn list(&mut self, datatype: &Datatype, bytes: &[u8]) -> Result<Vec<Value>> {
        let size = datatype.size as usize;
        if size == 0 || !bytes.len().is_multiple_of(size) {
            return Err(bad(format!("{} bytes are no elements of {size} bytes", bytes.len())));
        }
        self.spend(bytes.len() / size * size_of::<Value>())?;
        self.prefetch(datatype, bytes);
        bytes.chunks_exact(size).map(|element| self.value(datatype, element)).collect()
    }

    /// The value of one element.
    ///
    /// # Errors
    /// As [`Values::list`].
    pub fn value(&mut self, datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
        if bytes.len() != datatype.size as usize {
            return Err(bad(format!("{} bytes are no element of {}", bytes.len(), datatype.size)));
        }
        match &datatype.class {
            Class::Integer(_) | Class::Bits(_) | Class::Float(_) | Class::Enumeration { .. } => {
                number(datatype, bytes)
            }
            Class::Time { .. } | Class::Opaque { .. } => Ok(Value::Bytes(self.bytes(bytes)?)),
            Class::Text(_) => Ok(Value::Text(self.bytes(bytes)?)),
            Class::Compound { members } => {
                self.spend(members.len() * size_of::<Value>())?;
                let member = |member: &crate::messages::datatype::Member| {
                    // Members lie inside the compound.
                    let start = member.offset as usize;
                    let end = start + member.datatype.size as usize;
                    let bytes = bytes.get(start..end).unwrap_or_default();
                    let name = || format!("member {}", member.name.escape_ascii());
                    self.value(&member.datatype, bytes).map_err(|error| error.at(name()))
                };
                Ok(Value::Compound(members.iter().map(member).collect::<Result<_>>()?))
            }
            Class::Array { base, .. } => Ok(Value::Array(self.list(base, bytes)?)),
            Class::Complex { base, .. } => {
                let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                match (number(base, real)?, number(base, imaginary)?) {
                    (Value::Float(real), Value::Float(imaginary)) => Ok(Value::Complex(real, imaginary)),
                    _ => Err(bad("a complex number of parts that are none")),
                }
            }
            Class::Variable { text, base } => self.variable(text.is_some(), base, bytes),
            Class::Reference(reference) => Ok(Value::Reference(self.reference(*reference, bytes)?)),
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<()> {
        let left = self.budget.checked_sub(bytes as u64);
        let why = || Error::new(Code::ENOMEM, "the values take more memory than they may");
        self.budget = left.ok_or_else(why)?;
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.spend(bytes.len())?;
        Ok(bytes.to_vec())
    }

    /// Reads the collections of the global heap that elements point to, in one round where the file is slow.
    fn prefetch(&self, datatype: &Datatype, bytes: &[u8]) {
        if self.file.source().is_near() {
            return;
        }
        let mut collections = BTreeSet::new();
        bytes
            .chunks_exact((datatype.size as usize).max(1))
            .for_each(|element| self.collections(datatype, element, &mut collections));
        self.file.source().prefetch(collections.into_iter().map(|at| (at, SMALLEST)));
    }

    /// Adds the collections that an element points to.
    fn collections(&self, datatype: &Datatype, bytes: &[u8], found: &mut BTreeSet<Address>) {
        match &datatype.class {
            Class::Variable { .. } => {
                let id = self.variable_element(bytes).ok().and_then(|element| element.id);
                found.extend(id.map(|id| id.collection));
            }
            Class::Compound { members } => members.iter().for_each(|member| {
                let bytes = bytes.get(member.offset as usize..).unwrap_or_default();
                self.collections(&member.datatype, bytes, found);
            }),
            Class::Array { base, .. } => {
                let size = (base.size as usize).max(1);
                let bytes = bytes.get(..datatype.size as usize).unwrap_or(bytes);
                bytes.chunks_exact(size).for_each(|element| self.collections(base, element, found));
            }
            _ => {}
        }
    }

    fn variable_element(&self, bytes: &[u8]) -> Result<VariableElement> {
        VariableElement::decode(bytes, self.file.source().sizes)
    }

    /// Returns the value of an element of variable length.
    fn variable(&mut self, text: bool, base: &Datatype, bytes: &[u8]) -> Result<Value> {
        let VariableElement { count, id, .. } = self.variable_element(bytes)?;
        let Some(id) = id else {
            return Ok(if text { Value::String(None) } else { Value::Sequence(Vec::new()) });
        };
        let size = (u64::from(count) * u64::from(base.size)).saturate();
        if size == 0 {
            return Ok(if text { Value::String(Some(Vec::new())) } else { Value::Sequence(Vec::new()) });
        }
        let object = self.file.heap_object(id)?;
        let Some(data) = object.get(..size) else {
            let (held, at) = (object.len(), id.collection);
            return Err(bad(format!(
                "element of variable length: {count} elements of {} bytes, the object {} of the global heap at {at} has {held} \
                 bytes",
                base.size, id.index
            )));
        };
        if text {
            Ok(Value::String(Some(self.bytes(data)?)))
        } else {
            self.list(base, data).map(Value::Sequence)
        }
    }

    /// Returns what a reference refers to; `None` if it refers to nothing.
    fn reference(&mut self, reference: Reference, bytes: &[u8]) -> Result<Option<Referred>> {
        let sizes = self.file.source().sizes;
        let none = Referred { file: None, object: Address(0), region: None, attribute: None };
        let mut decoder = Decoder::new(bytes, ORDER, true);
        match reference {
            Reference::Object => {
                let mut object = ObjectReference { sizes, object: None };
                decode(&mut object, &mut decoder)?;
                Ok(object.object.map(|object| Referred { object, ..none }))
            }
            Reference::Region => {
                let mut place = ElementHeapId { sizes, id: None };
                decode(&mut place, &mut decoder)?;
                let Some(id) = place.id else { return Ok(None) };
                let data = self.file.heap_object(id)?;
                self.spend(data.len() * 2)?;
                let selection = StoredSelection::default();
                let mut region = RegionObject { sizes, dataset: Address(0), selection };
                decode(&mut region, &mut Decoder::new(&data, ORDER, true))?;
                Ok(Some(Referred {
                    object: region.dataset,
                    region: Some(region.selection.selection),
                    ..none
                }))
            }
            Reference::Object2(_) | Reference::Region2(_) | Reference::Attribute(_) => {
                let mut head = RevisedReferenceHead::default();
                decode(&mut head, &mut decoder)?;
                if head.kind == 0 {
                    return Ok(None);
                }
                if head.is_inline() {
                    return block(head, decoder.rest());
                }
                // Behind the head is what elements of variable length have.
                let element = self.variable_element(decoder.rest())?;
                let Some(id) = element.id else { return Ok(None) };
                let data = self.file.heap_object(id)?;
                self.spend(data.len() * 2)?;
                block(head, data.get(..element.count as usize).unwrap_or(&data))
            }
        }
    }
}

/// Reads a part of a reference.
fn decode(record: &mut impl Record, decoder: &mut Decoder<'_>) -> Result<()> {
    record.fields(decoder).map_err(|error| bad(format!("reference: {}", error.what)))
}

/// Reads the block of a revised reference.
fn block(head: RevisedReferenceHead, bytes: &[u8]) -> Result<Option<Referred>> {
    let mut block = ReferenceBlock::unread(head);
    decode(&mut block, &mut Decoder::new(bytes, ORDER, true))?;
    if block.token.iter().skip(8).any(|&byte| byte != 0) {
        return Err(bad(format!(
            "reference: its token of {} bytes is more than an address",
            block.token.len()
        )));
    }
    let object = wire::number(&block.token);
    let (kind, is_external) = (block.head.kind, block.is_external());
    Ok((object != 0).then(|| Referred {
        file: is_external.then_some(block.file),
        object: Address(object),
        region: (kind == REGION).then_some(block.region.selection),
        attribute: (kind == ATTRIBUTE).then_some(block.attribute),
    }))
}

/// The value of a number.
fn number(datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
    let value = datatype.number().and_then(|number| number.value(bytes));
    value.ok_or_else(|| Error::new(Code::EBADTYPE, "numbers of this format are unknown"))
}

impl Number {
    /// Returns the value of an element; `None` if it has fewer bytes than such a number.
    pub fn value(&self, bytes: &[u8]) -> Option<Value> {
        let kind = self.stored.kind;
        let mut wide = [0; 8];
        match &self.decoder {
            Some(decoder) => {
                decoder.convert(bytes, &mut wide[..kind.size()]);
                if cfg!(target_endian = "big") {
                    wide[..kind.size()].reverse();
                }
            }
            None => {
                wide[..kind.size()].copy_from_slice(bytes.get(..kind.size())?);
                if self.stored.order == ferrocdf_bytes::Order::Big {
                    wide[..kind.size()].reverse();
                }
            }
        }
        let unsigned = u64::from_le_bytes(wide);
        let unused = 64 - 8 * kind.size() as u32;
        Some(match kind {
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
                Value::Int((unsigned << unused).cast_signed() >> unused)
            }
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::Char => Value::Uint(unsigned),
            Kind::F32 => Value::Float(f32::from_bits(unsigned as u32).into()),
            Kind::F64 => Value::Float(f64::from_bits(unsigned)),
        })
    }
}
