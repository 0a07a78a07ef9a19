//! Atomic and user-defined types (netCDF-4 enhanced model).

use std::fmt;

use crate::{GroupId, HasName, Name, TypeId};

/// A type of `netcdf.h`; the discriminant is its `nc_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Atomic {
    /// Signed 8-bit integer.
    Byte = 1,
    /// A byte of text.
    Char = 2,
    /// Signed 16-bit integer.
    Short = 3,
    /// Signed 32-bit integer.
    Int = 4,
    /// IEEE single precision.
    Float = 5,
    /// IEEE double precision.
    Double = 6,
    /// Unsigned 8-bit integer.
    Ubyte = 7,
    /// Unsigned 16-bit integer.
    Ushort = 8,
    /// Unsigned 32-bit integer.
    Uint = 9,
    /// Signed 64-bit integer.
    Int64 = 10,
    /// Unsigned 64-bit integer.
    Uint64 = 11,
    /// Text of any length.
    String = 12,
}

impl Atomic {
    /// All atomic types, by `nc_type`.
    pub const ALL: [Atomic; 12] = [
        Atomic::Byte,
        Atomic::Char,
        Atomic::Short,
        Atomic::Int,
        Atomic::Float,
        Atomic::Double,
        Atomic::Ubyte,
        Atomic::Ushort,
        Atomic::Uint,
        Atomic::Int64,
        Atomic::Uint64,
        Atomic::String,
    ];

    /// The type with this `nc_type`.
    pub fn from_nc_type(number: u64) -> Option<Atomic> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|at| Atomic::ALL.get(at)).copied()
    }

    /// Its `nc_type`.
    pub fn nc_type(self) -> u8 {
        self as u8
    }

    /// Bytes of one value; for strings the size of the pointer that C programs hold.
    pub fn size(self) -> usize {
        match self {
            Atomic::Byte | Atomic::Char | Atomic::Ubyte => 1,
            Atomic::Short | Atomic::Ushort => 2,
            Atomic::Int | Atomic::Uint | Atomic::Float => 4,
            Atomic::Double | Atomic::Int64 | Atomic::Uint64 => 8,
            Atomic::String => size_of::<*const u8>(),
        }
    }

    /// Returns the multiple of bytes at which values begin in the memory of a C program.
    pub fn align(self) -> usize {
        match self {
            Atomic::Byte | Atomic::Char | Atomic::Ubyte => 1,
            Atomic::Short | Atomic::Ushort => align_of::<i16>(),
            Atomic::Int | Atomic::Uint => align_of::<i32>(),
            Atomic::Float => align_of::<f32>(),
            Atomic::Double => align_of::<f64>(),
            Atomic::Int64 | Atomic::Uint64 => align_of::<i64>(),
            Atomic::String => align_of::<*const u8>(),
        }
    }

    /// Its name in CDL.
    pub fn cdl_name(self) -> &'static str {
        match self {
            Atomic::Byte => "byte",
            Atomic::Char => "char",
            Atomic::Short => "short",
            Atomic::Int => "int",
            Atomic::Float => "float",
            Atomic::Double => "double",
            Atomic::Ubyte => "ubyte",
            Atomic::Ushort => "ushort",
            Atomic::Uint => "uint",
            Atomic::Int64 => "int64",
            Atomic::Uint64 => "uint64",
            Atomic::String => "string",
        }
    }
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cdl_name())
    }
}

/// The type of a variable, an attribute, a field or a vlen's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One of the types of `netcdf.h`.
    Atomic(Atomic),
    /// A type defined in the file.
    User(TypeId),
}

impl From<Atomic> for Type {
    fn from(atomic: Atomic) -> Self {
        Type::Atomic(atomic)
    }
}

/// A type defined in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct UserType {
    /// Its name.
    pub name: Name,
    /// The group it was defined in.
    pub group: GroupId,
    /// What it is.
    pub class: Class,
}

/// The kinds of user-defined types.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    /// Named fields at offsets, as a C structure of `size` bytes in memory.
    Compound {
        /// Bytes of one value in memory.
        size: usize,
        /// The fields in definition order.
        fields: Vec<Field>,
    },
    /// A list of any length of elements of one type.
    Vlen(Type),
    /// A block of bytes of this size.
    Opaque(usize),
    /// Names for some values of an integer type.
    Enum {
        /// The integer type.
        base: Atomic,
        /// Names and values in definition order.
        members: Vec<(Name, i128)>,
    },
}

impl Class {
    /// Bytes of one value in the memory of a C program; of lists the count and the pointer.
    pub fn size(&self) -> usize {
        match self {
            Class::Compound { size, .. } | Class::Opaque(size) => *size,
            Class::Vlen(_) => 2 * size_of::<usize>(),
            Class::Enum { base, .. } => base.size(),
        }
    }

    /// Returns the name of a value of an enumeration; `None` if it has none, and for other types.
    pub fn member_name(&self, value: i128) -> Option<&Name> {
        let member = self.members().iter().find(|(_, of)| *of == value);
        member.map(|(name, _)| name)
    }

    /// Returns names and values of an enumeration, in definition order; none for other types.
    pub fn members(&self) -> &[(Name, i128)] {
        match self {
            Class::Enum { members, .. } => members,
            _ => &[],
        }
    }
}

/// A field of a compound type.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Bytes from the start of the structure in memory.
    pub offset: usize,
    /// The type of its elements.
    pub ty: Type,
    /// Its dimensions; empty for a single value.
    pub shape: Vec<usize>,
    /// Bytes of each element of the type `char`: one, but as many as a text has in files of other HDF5 programs with texts
    /// of a fixed length. Of these netCDF knows the first byte; the rest lies behind it in memory.
    pub chars: usize,
}

impl HasName for UserType {
    fn name(&self) -> &Name {
        &self.name
    }
    fn set_name(&mut self, name: Name) {
        self.name = name;
    }
}
