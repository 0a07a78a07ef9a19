//! Conversion of the types of the model to datatypes of HDF5.
//!
//! Types of the model have the sizes and offsets of C structures in memory. In the file strings and lists have other
//! sizes, so the offsets of the fields after them differ, as in the HDF5 library.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::datatype::{
    ByteOrder, Class as Stored, Datatype, Float, Integer, Member, Norm, Padding, Pads, Reference, Text,
};
use ferrocdf_model::{Atomic, Class, Endian, Field, Type};

/// Provisional version, which [`Datatype::settle`] replaces.
const UNSETTLED: u8 = 1;

fn made(size: usize, class: Stored) -> Result<Datatype> {
    let too_large = || Error::new(Code::EVARSIZE, format!("an element of {size} bytes"));
    let size = u32::try_from(size).map_err(|_| too_large())?;
    let mut datatype = Datatype { version: UNSETTLED, size, class };
    datatype.settle();
    Ok(datatype)
}

const NO_PADS: Pads = Pads { low: false, high: false, internal: false };

fn integer(size: u32, signed: bool, order: ByteOrder) -> Datatype {
    let precision = 8 * size as u16;
    let class = Stored::Integer(Integer { order, pads: NO_PADS, signed, offset: 0, precision });
    Datatype { version: UNSETTLED, size, class }
}

fn float(size: u32, order: ByteOrder) -> Datatype {
    let (exponent_bits, mantissa_bits, bias) = if size == 4 { (8, 23, 127) } else { (11, 52, 1023) };
    let class = Stored::Float(Float {
        order,
        pads: NO_PADS,
        norm: Norm::Implied,
        offset: 0,
        precision: 8 * size as u16,
        sign: (8 * size - 1) as u8,
        exponent: mantissa_bits,
        exponent_bits,
        mantissa: 0,
        mantissa_bits,
        bias,
    });
    Datatype { version: UNSETTLED, size, class }
}

/// Returns the datatype of a number, little-endian by default, or of one character. Strings are not included: their
/// size depends on the file.
pub(super) fn atomic(atomic: Atomic, endian: Option<Endian>) -> Datatype {
    let order = if endian == Some(Endian::Big) { ByteOrder::Big } else { ByteOrder::Little };
    match atomic {
        Atomic::Char => text(1),
        Atomic::Float => float(4, order),
        Atomic::Double => float(8, order),
        Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64 => {
            integer(atomic.size() as u32, true, order)
        }
        Atomic::Ubyte | Atomic::Ushort | Atomic::Uint | Atomic::Uint64 | Atomic::String => {
            integer(atomic.size() as u32, false, order)
        }
    }
}

/// Returns the datatype of a dimension without variable: a 32-bit big-endian float.
pub(super) fn scale() -> Datatype {
    float(4, ByteOrder::Big)
}

/// Returns the datatype of text of fixed length.
pub(super) fn text(len: u32) -> Datatype {
    let class = Stored::Text(Text { padding: Padding::NullTerminated, charset: 0 });
    Datatype { version: UNSETTLED, size: len, class }
}

/// Builder of datatypes for a file whose addresses have `address` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    pub(super) address: usize,
}

impl Widths {
    /// Returns the size of a length and a global heap id, in bytes.
    pub(super) fn pointer(self) -> usize {
        4 + self.address + 4
    }

    /// Returns the datatype of variable-length text.
    pub(super) fn string(self) -> Datatype {
        let text = Some(Text { padding: Padding::NullTerminated, charset: 1 });
        let base = Box::new(integer(1, false, ByteOrder::Little));
        let class = Stored::Variable { text, base };
        Datatype { version: UNSETTLED, size: self.pointer() as u32, class }
    }

    fn list(self, base: Datatype) -> Result<Datatype> {
        made(self.pointer(), Stored::Variable { text: None, base: Box::new(base) })
    }

    fn reference(self) -> Datatype {
        Datatype {
            version: UNSETTLED,
            size: self.address as u32,
            class: Stored::Reference(Reference::Object),
        }
    }

    /// Returns the datatype of `DIMENSION_LIST`: lists of object references.
    pub(super) fn references(self) -> Result<Datatype> {
        self.list(self.reference())
    }

    /// Returns the datatype of `REFERENCE_LIST`: a reference to a dataset and the index of one of its dimensions, with
    /// the size of the C structure.
    pub(super) fn user(self) -> Result<Datatype> {
        let member = |name: &[u8], offset, datatype| Member { name: name.to_vec(), offset, datatype };
        let members = vec![
            member(b"dataset", 0, self.reference()),
            member(b"dimension", self.address as u32, integer(4, true, ByteOrder::Little)),
        ];
        made(self.address + 8, Stored::Compound { members })
    }

    /// Returns the datatype of a type; `known` returns that of a user-defined type.
    pub(super) fn of(
        self,
        ty: Type,
        endian: Option<Endian>,
        known: &dyn Fn(ferrocdf_model::TypeId) -> Result<Datatype>,
    ) -> Result<Datatype> {
        match ty {
            Type::Atomic(Atomic::String) => Ok(self.string()),
            Type::Atomic(of) => Ok(atomic(of, endian)),
            Type::User(id) => known(id),
        }
    }

    /// Returns the datatype of a user-defined type. `classes` returns the class of any type of the file, for its size
    /// in memory.
    pub(super) fn user_defined(
        self,
        class: &Class,
        classes: &dyn Fn(ferrocdf_model::TypeId) -> Class,
        known: &dyn Fn(ferrocdf_model::TypeId) -> Result<Datatype>,
    ) -> Result<Datatype> {
        match class {
            Class::Opaque(size) => made((*size).max(1), Stored::Opaque { tag: vec![] }),
            Class::Vlen(base) => self.list(self.of(*base, None, known)?),
            Class::Enum { base, members } => {
                let base = atomic(*base, None);
                let size = base.size as usize;
                let member = |(name, value): &(ferrocdf_model::Name, i128)| {
                    (name.as_bytes().to_vec(), value.to_le_bytes()[..size].to_vec())
                };
                let members = members.iter().map(member).collect();
                made(size, Stored::Enumeration { base: Box::new(base), members })
            }
            Class::Compound { size, fields } => self.compound(*size, fields, classes, known),
        }
    }

    fn compound(
        self,
        size: usize,
        fields: &[Field],
        classes: &dyn Fn(ferrocdf_model::TypeId) -> Class,
        known: &dyn Fn(ferrocdf_model::TypeId) -> Result<Datatype>,
    ) -> Result<Datatype> {
        let mut members = Vec::with_capacity(fields.len());
        let mut grown = Vec::with_capacity(fields.len());
        for field in fields {
            let base = match u32::try_from(field.chars) {
                Ok(chars @ 2..) if field.ty == Type::Atomic(Atomic::Char) => text(chars),
                _ => self.of(field.ty, None, known)?,
            };
            let count = field.shape.iter().fold(1usize, |count, &len| count.saturating_mul(len));
            let element = memory_size(field.ty, classes).saturating_mul(field.chars);
            let in_memory = element.saturating_mul(count);
            let datatype = match field.shape.is_empty() {
                true => base,
                false => {
                    let dims = field.shape.iter().map(|&len| len as u32).collect();
                    let stored = (base.size as usize).saturating_mul(count);
                    made(stored, Stored::Array { dims, base: Box::new(base) })?
                }
            };
            grown.push((field.offset, (datatype.size as usize).saturating_sub(in_memory)));
            members.push(Member { name: field.name.as_bytes().to_vec(), offset: 0, datatype });
        }
        for (member, field) in members.iter_mut().zip(fields) {
            let before =
                grown.iter().filter(|(at, _)| *at < field.offset).map(|(_, more)| more).sum::<usize>();
            let offset = field.offset.saturating_add(before);
            member.offset = u32::try_from(offset).unwrap_or(u32::MAX);
        }
        let more = grown.iter().map(|(_, more)| more).sum::<usize>();
        made(size.saturating_add(more), Stored::Compound { members })
    }
}

/// Returns the size of a value in the memory of a C program, in bytes.
pub(super) fn memory_size(ty: Type, classes: &dyn Fn(ferrocdf_model::TypeId) -> Class) -> usize {
    match ty {
        Type::Atomic(atomic) => atomic.size(),
        Type::User(id) => classes(id).size(),
    }
}
