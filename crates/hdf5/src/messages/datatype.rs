//! The datatype message: what an element is (specification, section IV.A.2.d).
//!
//! A datatype is a tree that keeps all that is stored, padding types and tags too, so that it can be written again. Two
//! are equal if they describe the same elements, whatever message version they were stored with.

mod class_bits;
mod stored;
#[cfg(test)]
mod tests;

use ferrocdf_bytes::{Coder, Result};

use crate::fields::Fields;
use crate::{Address, Sizes};

const WHAT: &str = "datatype";

/// What the elements of a dataset or attribute are.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// The version of the message, 1 to 5.
    pub version: u8,
    /// Bytes of one element as stored, at least 1.
    pub size: u32,
    /// The class with its properties.
    pub class: Class,
}

/// The classes of datatypes.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    /// Fixed-point numbers (class 0).
    Integer(Integer),
    /// Floating-point numbers (class 1).
    Float(Float),
    /// Times (class 2), which the reference cannot convert.
    Time {
        /// The order of the bytes.
        order: ByteOrder,
        /// Bits that matter.
        precision: u16,
    },
    /// Strings of one length (class 3).
    Text(Text),
    /// Bits (class 4).
    Bits(Bits),
    /// Bytes with a tag that says what they are (class 5).
    Opaque {
        /// The tag, without the NULs behind it.
        tag: Vec<u8>,
    },
    /// Members side by side (class 6).
    Compound {
        /// The members in the order of the message. They lie inside the compound and do not overlap.
        members: Vec<Member>,
    },
    /// References (class 7).
    Reference(Reference),
    /// Integers with names (class 8).
    Enumeration {
        /// The integer type, as large as the enumeration.
        base: Box<Datatype>,
        /// Names and values in the order of the message; values as bytes of the base type.
        members: Vec<(Vec<u8>, Vec<u8>)>,
    },
    /// Any number of elements, kept in the global heap (class 9).
    Variable {
        /// Whether they are a string.
        text: Option<Text>,
        /// What the elements are; one-byte integers for strings.
        base: Box<Datatype>,
    },
    /// A fixed number of elements (class 10).
    Array {
        /// The length of each dimension, slowest first.
        dims: Vec<u32>,
        /// What the elements are.
        base: Box<Datatype>,
    },
    /// Pairs of floating-point numbers (class 11).
    Complex {
        /// Whether both parts are of the base type.
        homogeneous: bool,
        /// 0 rectangular, 1 polar, 2 exponential.
        form: u8,
        /// What each part is.
        base: Box<Datatype>,
    },
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// Pairs of bytes, the most significant pair first, each pair least significant byte first.
    Vax,
}

/// The value of bits that do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pads {
    /// Below the value.
    pub low: bool,
    /// Above the value.
    pub high: bool,
    /// Between the parts of a floating-point number.
    pub internal: bool,
}

/// Fixed-point numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// The bits around the value.
    pub pads: Pads,
    /// Whether it is in two's complement.
    pub signed: bool,
    /// Bits below the value.
    pub offset: u16,
    /// Bits of the value, at least 1. With the offset not more than the element has.
    pub precision: u16,
}

/// Bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// The bits around the value.
    pub pads: Pads,
    /// Bits below the value.
    pub offset: u16,
    /// Bits of the value, at least 1. With the offset not more than the element has.
    pub precision: u16,
}

/// Floating-point numbers. Bits are counted from the least significant one of the element; all parts lie inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Float {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// The bits that do not matter.
    pub pads: Pads,
    /// What is known of the most significant bit of the mantissa.
    pub norm: Norm,
    /// Bits below the value.
    pub offset: u16,
    /// Bits of the value.
    pub precision: u16,
    /// The sign bit.
    pub sign: u8,
    /// The lowest bit of the exponent.
    pub exponent: u8,
    /// Bits of the exponent.
    pub exponent_bits: u8,
    /// The lowest bit of the mantissa.
    pub mantissa: u8,
    /// Bits of the mantissa.
    pub mantissa_bits: u8,
    /// What is added to exponents.
    pub bias: u32,
}

/// What is known of the most significant bit of a mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Nothing.
    None,
    /// It is always set, except in zero.
    Set,
    /// It is not stored, but taken to be set.
    Implied,
}

/// Strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// What comes behind the last character.
    pub padding: Padding,
    /// The encoding: 0 ASCII, 1 UTF-8.
    pub charset: u8,
}

/// What comes behind the last character of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// A NUL at least.
    NullTerminated,
    /// NULs if there is room.
    NullPadded,
    /// Spaces if there is room.
    SpacePadded,
}

/// A member of a compound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// The name.
    pub name: Vec<u8>,
    /// The byte of the compound where the member begins.
    pub offset: u32,
    /// What it is.
    pub datatype: Datatype,
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// An object of the same file.
    Object,
    /// A part of a dataset of the same file.
    Region,
    /// An object of any file, revised encoding of this version.
    Object2(u8),
    /// A part of a dataset of any file, revised encoding of this version.
    Region2(u8),
    /// An attribute in any file, revised encoding of this version.
    Attribute(u8),
}

impl Default for Datatype {
    /// One byte without a meaning.
    fn default() -> Self {
        Datatype { version: 1, size: 1, class: Class::Opaque { tag: vec![] } }
    }
}

impl PartialEq for Datatype {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.class == other.class
    }
}

impl Class {
    /// Its number.
    pub fn number(&self) -> u8 {
        match self {
            Class::Integer(_) => 0,
            Class::Float(_) => 1,
            Class::Time { .. } => 2,
            Class::Text(_) => 3,
            Class::Bits(_) => 4,
            Class::Opaque { .. } => 5,
            Class::Compound { .. } => 6,
            Class::Reference(_) => 7,
            Class::Enumeration { .. } => 8,
            Class::Variable { .. } => 9,
            Class::Array { .. } => 10,
            Class::Complex { .. } => 11,
        }
    }
}

impl Datatype {
    /// Bytes of one element as stored.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Gives every datatype of the tree the version that files of HDF5 1.8 and later have it in: 1 for most, 3 for
    /// compounds, enumerations and arrays, and later ones for what earlier ones do not know.
    pub fn settle(&mut self) {
        self.version = match &mut self.class {
            Class::Compound { members } => {
                members.iter_mut().for_each(|member| member.datatype.settle());
                members.iter().map(|member| member.datatype.version).fold(3, u8::max)
            }
            Class::Enumeration { base, .. } | Class::Array { base, .. } => {
                base.settle();
                base.version.max(3)
            }
            Class::Variable { base, .. } => {
                base.settle();
                base.version
            }
            Class::Complex { base, .. } => {
                base.settle();
                5
            }
            Class::Float(Float { order: ByteOrder::Vax, .. }) => 3,
            Class::Reference(Reference::Object2(_) | Reference::Region2(_) | Reference::Attribute(_)) => 4,
            _ => 1,
        };
    }

    /// Whether elements hold places in the global heap or addresses of objects, so that their bytes mean nothing in
    /// another file.
    pub fn has_pointers(&self) -> bool {
        match &self.class {
            Class::Variable { .. } | Class::Reference(_) => true,
            Class::Compound { members } => members.iter().any(|member| member.datatype.has_pointers()),
            Class::Array { base, .. } | Class::Enumeration { base, .. } | Class::Complex { base, .. } => {
                base.has_pointers()
            }
            _ => false,
        }
    }
}

/// A place in the global heap, as elements of variable length hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeapId {
    /// The collection.
    pub collection: Address,
    /// The object in it, not 0.
    pub index: u32,
}

impl HeapId {
    /// Fields of a "Global Heap ID". `None` is the address `none` or the undefined one.
    pub(crate) fn fields<C: Coder>(
        id: &mut Option<HeapId>,
        none: u64,
        sizes: Sizes,
        c: &mut C,
    ) -> Result<()> {
        let (mut collection, mut index) = id.map_or((none, 0), |id| (id.collection.0, id.index));
        c.position("collection address", sizes.offset, &mut collection)?;
        c.int("object index", &mut index)?;
        let found = sizes.address(collection).filter(|at| at.0 != none);
        *id = found.map(|collection| HeapId { collection, index });
        Ok(())
    }
}
