//! Datatypes as they are in the memory of a C program: numbers by the smallest C type that holds them, compounds as C structures.

use ferrocdf_hdf5::messages::datatype::{self, Datatype};
use ferrocdf_model::{Atomic, Class, Field, Name, Type};

use super::decode;

/// A datatype as a C program holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Native {
    /// Bytes of a value, and the multiple of bytes at which one begins.
    pub(super) size: usize,
    pub(super) align: usize,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Number(Atomic),
    /// Text of a fixed length in bytes.
    Text,
    /// Text of any length.
    String,
    /// Names, offsets, types.
    Compound(Vec<(Vec<u8>, usize, Native)>),
    Enum(Atomic, Vec<(Vec<u8>, i128)>),
    Opaque(Vec<u8>),
    Vlen(Box<Native>),
    Array(Vec<usize>, Box<Native>),
}

/// The most levels of types within types that are looked at.
const DEPTH: usize = 32;

impl Native {
    /// What a datatype is in memory; `None` if netCDF has no name for it: bits, times, references, complex numbers.
    pub(super) fn of(datatype: &Datatype) -> Option<Native> {
        Self::within(datatype, DEPTH)
    }

    /// Returns the atomic type of an attribute, of a field or of the elements of a list, in which text of a fixed length is
    /// `char`; `None` for user-defined types.
    pub(super) fn atomic(&self) -> Option<Atomic> {
        match &self.shape {
            Shape::Number(atomic) => Some(*atomic),
            Shape::Text => Some(Atomic::Char),
            Shape::String => Some(Atomic::String),
            _ => None,
        }
    }

    fn within(datatype: &Datatype, depth: usize) -> Option<Native> {
        let depth = depth.checked_sub(1)?;
        let size = datatype.size as usize;
        let pointer = size_of::<usize>();
        let (size, align, shape) = match &datatype.class {
            datatype::Class::Integer(_) | datatype::Class::Float(_) => {
                let atomic = number(datatype)?;
                (atomic.size(), atomic.size(), Shape::Number(atomic))
            }
            datatype::Class::Text(_) => (size, 1, Shape::Text),
            datatype::Class::Variable { text: Some(_), .. } => (pointer, pointer, Shape::String),
            datatype::Class::Variable { text: None, base } => {
                (2 * pointer, pointer, Shape::Vlen(Box::new(Self::within(base, depth)?)))
            }
            datatype::Class::Opaque { tag } => (size, 1, Shape::Opaque(tag.clone())),
            datatype::Class::Enumeration { base, members } => {
                let atomic = number(base)?;
                let value =
                    |(name, bytes): &(Vec<u8>, Vec<u8>)| Some((name.clone(), decode::integer(base, bytes)?));
                let members = members.iter().map(value).collect::<Option<_>>()?;
                (atomic.size(), atomic.size(), Shape::Enum(atomic, members))
            }
            datatype::Class::Array { dims, base } => {
                let base = Self::within(base, depth)?;
                let dims: Vec<usize> = dims.iter().map(|&len| len as usize).collect();
                let size = dims.iter().try_fold(base.size, |size, &len| size.checked_mul(len))?;
                (size, base.align, Shape::Array(dims, Box::new(base)))
            }
            datatype::Class::Compound { members } => {
                let (mut end, mut align) = (0usize, 1);
                let mut fields = Vec::with_capacity(members.len());
                for member in members {
                    let native = Self::within(&member.datatype, depth)?;
                    let at = end.checked_next_multiple_of(native.align)?;
                    end = at.checked_add(native.size)?;
                    align = align.max(native.align);
                    fields.push((member.name.clone(), at, native));
                }
                (end.checked_next_multiple_of(align)?, align, Shape::Compound(fields))
            }
            _ => return None,
        };
        Some(Native { size, align, shape })
    }
}

/// The C type that holds the numbers of a datatype.
pub(super) fn number(datatype: &Datatype) -> Option<Atomic> {
    Some(match &datatype.class {
        datatype::Class::Integer(integer) => match (integer.precision, integer.signed) {
            (..=8, true) => Atomic::Byte,
            (..=8, false) => Atomic::Ubyte,
            (..=16, true) => Atomic::Short,
            (..=16, false) => Atomic::Ushort,
            (..=32, true) => Atomic::Int,
            (..=32, false) => Atomic::Uint,
            (..=64, true) => Atomic::Int64,
            (..=64, false) => Atomic::Uint64,
            _ => return None,
        },
        datatype::Class::Float(_) if datatype.size <= 4 => Atomic::Float,
        datatype::Class::Float(_) => Atomic::Double,
        _ => return None,
    })
}

/// What a field is: the lengths of its dimensions and one of its elements.
pub(super) fn element(native: &Native) -> (&[usize], &Native) {
    match &native.shape {
        Shape::Array(dims, base) => (dims, base),
        _ => (&[], native),
    }
}

/// The kind of user-defined type that a datatype is, whose parts have the types that `part` gives; `None` if netCDF has no
/// such kind, or a part no type.
pub(super) fn class(native: &Native, part: &mut dyn FnMut(&Native) -> Option<Type>) -> Option<Class> {
    Some(match &native.shape {
        Shape::Compound(fields) => {
            let field = |(name, offset, native): &(Vec<u8>, usize, Native)| {
                let (shape, native) = element(native);
                let (name, shape) = (Name::stored(name), shape.to_vec());
                let chars = if native.shape == Shape::Text { native.size } else { 1 };
                Some(Field { name, offset: *offset, ty: part(native)?, shape, chars })
            };
            Class::Compound { size: native.size, fields: fields.iter().map(field).collect::<Option<_>>()? }
        }
        Shape::Enum(base, members) => {
            let members = members.iter().map(|(name, value)| (Name::stored(name), *value)).collect();
            Class::Enum { base: *base, members }
        }
        Shape::Opaque(_) => Class::Opaque(native.size),
        Shape::Vlen(base) => Class::Vlen(part(base)?),
        Shape::Number(_) | Shape::Text | Shape::String | Shape::Array(..) => return None,
    })
}
