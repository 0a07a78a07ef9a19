//! From the bytes of elements to values: for attributes, and for variables of types that no array of numbers holds.
//!
//! What elements point to in the global heap is followed. A small file may point to the same bytes again and again, so
//! every value takes of a budget; how deep values lie in one another is bounded by the depth of the datatype.
//!
//! Not done: the other way.

use std::collections::BTreeSet;

use ferrocdf_array::Kind;
use ferrocdf_bytes::{Code, Error, Result};

use crate::heaps::global::SMALLEST;
use crate::messages::HeapId;
use crate::messages::datatype::{Class, Datatype, Reference};
use crate::selection::SpaceSelection;
use crate::wire::{Reader, bad};
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
                let mut r = Reader::new("element of variable length", bytes);
                let place = r.u32().and_then(|_| self.place(&mut r)).ok().flatten();
                found.extend(place.map(|id| id.collection));
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

    /// A length and a place in the global heap.
    fn variable(&mut self, text: bool, base: &Datatype, bytes: &[u8]) -> Result<Value> {
        let mut r = Reader::new("element of variable length", bytes);
        let len = r.u32()?;
        let Some(id) = self.place(&mut r)? else {
            return Ok(if text { Value::String(None) } else { Value::Sequence(Vec::new()) });
        };
        let size = usize::try_from(u64::from(len) * u64::from(base.size)).unwrap_or(usize::MAX);
        if size == 0 {
            return Ok(if text { Value::String(Some(Vec::new())) } else { Value::Sequence(Vec::new()) });
        }
        let object = self.file.heap_object(id)?;
        let Some(data) = object.get(..size) else {
            let (held, at) = (object.len(), id.collection);
            return Err(r.error(format_args!(
                "{len} elements of {} bytes, the object {} of the global heap at {at} has {held} bytes",
                base.size, id.index
            )));
        };
        if text {
            Ok(Value::String(Some(self.bytes(data)?)))
        } else {
            self.list(base, data).map(Value::Sequence)
        }
    }

    /// A place in the global heap; `None` if it is no place.
    fn place(&self, r: &mut Reader<'_>) -> Result<Option<HeapId>> {
        let (collection, index) = (r.address(self.file.source().sizes)?, r.u32()?);
        Ok(collection.filter(|at| at.0 != 0).map(|collection| HeapId { collection, index }))
    }

    fn reference(&mut self, reference: Reference, bytes: &[u8]) -> Result<Option<Referred>> {
        let sizes = self.file.source().sizes;
        let mut r = Reader::new("reference", bytes);
        let none = Referred { file: None, object: Address(0), region: None, attribute: None };
        match reference {
            Reference::Object => {
                let object = r.address(sizes)?.filter(|at| at.0 != 0);
                Ok(object.map(|object| Referred { object, ..none }))
            }
            Reference::Region => {
                let Some(id) = self.place(&mut r)? else { return Ok(None) };
                let data = self.file.heap_object(id)?;
                self.spend(data.len() * 2)?;
                let mut r = Reader::new("reference to a region", &data);
                let object = r.defined(sizes, "dataset")?;
                let (region, _) = SpaceSelection::decode(r.rest())?;
                Ok(Some(Referred { object, region: Some(region), ..none }))
            }
            Reference::Object2(_) | Reference::Region2(_) | Reference::Attribute(_) => {
                let (kind, flags) = (r.u8()?, r.u8()?);
                if kind == 0 {
                    return Ok(None);
                }
                if kind == OBJECT && flags & EXTERNAL == 0 {
                    return self.block(kind, flags, r.rest());
                }
                let len = r.u32()? as usize;
                let Some(id) = self.place(&mut r)? else { return Ok(None) };
                let data = self.file.heap_object(id)?;
                self.spend(data.len() * 2)?;
                self.block(kind, flags, data.get(..len).unwrap_or(&data))
            }
        }
    }

    /// A reference block of the revised encoding.
    fn block(&mut self, kind: u8, flags: u8, bytes: &[u8]) -> Result<Option<Referred>> {
        let mut r = Reader::new("reference", bytes);
        let width = usize::from(r.u8()?);
        let token = r.take(width)?;
        if width > 8 && token[8..].iter().any(|&byte| byte != 0) {
            return Err(r.error("a token that is no address"));
        }
        let object = crate::wire::number(token);
        if object == 0 {
            return Ok(None);
        }
        let mut referred = Referred { file: None, object: Address(object), region: None, attribute: None };
        if flags & EXTERNAL != 0 {
            let len = r.u16()?;
            referred.file = Some(r.take(usize::from(len))?.to_vec());
        }
        match kind {
            OBJECT => {}
            REGION => {
                // The size of what follows, and the number of dimensions of the dataset.
                r.skip(8)?;
                referred.region = Some(SpaceSelection::decode(r.rest())?.0);
            }
            ATTRIBUTE => {
                let len = r.u16()?;
                referred.attribute = Some(r.take(usize::from(len))?.to_vec());
            }
            _ => return Err(r.error(format_args!("kind {kind} is unknown"))),
        }
        Ok(Some(referred))
    }
}

/// Kinds of references of the revised encoding.
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;

/// The flag of references to other files.
const EXTERNAL: u8 = 1;

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
