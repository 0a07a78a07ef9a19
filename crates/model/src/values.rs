//! Typed values: what attributes hold, and what text formats read and print.

use crate::{Atomic, Type, TypeId};

/// A list of values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `NC_BYTE`
    Byte(Vec<i8>),
    /// `NC_CHAR`
    Char(Vec<u8>),
    /// `NC_SHORT`
    Short(Vec<i16>),
    /// `NC_INT`
    Int(Vec<i32>),
    /// `NC_FLOAT`
    Float(Vec<f32>),
    /// `NC_DOUBLE`
    Double(Vec<f64>),
    /// `NC_UBYTE`
    Ubyte(Vec<u8>),
    /// `NC_USHORT`
    Ushort(Vec<u16>),
    /// `NC_UINT`
    Uint(Vec<u32>),
    /// `NC_INT64`
    Int64(Vec<i64>),
    /// `NC_UINT64`
    Uint64(Vec<u64>),
    /// `NC_STRING`; `None` is the null pointer of C, `NIL` in CDL.
    String(Vec<Option<Vec<u8>>>),
    /// Values of a user-defined type.
    User(TypeId, Vec<Value>),
}

/// One value of any type, as a tree: slow, and able to hold everything.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Values of an atomic type: one for a field of that type, as many as its shape asks for in an array field.
    Atomic(Values),
    /// A field that is an array of a user-defined type.
    Array(Vec<Value>),
    /// The fields of a compound, in definition order.
    Compound(Vec<Value>),
    /// The elements of a vlen of an atomic type are one [`Value::Atomic`], those of a user type one each.
    Vlen(Vec<Value>),
    /// The bytes of an opaque value.
    Opaque(Vec<u8>),
    /// The number of an enum value.
    Enum(i128),
}

/// Runs `$body` with `$list` bound to the vector inside, for every kind of list.
#[macro_export]
macro_rules! each_values {
    ($values:expr, $list:ident => $body:expr) => {
        match $values {
            $crate::Values::Byte($list) => $body,
            $crate::Values::Char($list) => $body,
            $crate::Values::Short($list) => $body,
            $crate::Values::Int($list) => $body,
            $crate::Values::Float($list) => $body,
            $crate::Values::Double($list) => $body,
            $crate::Values::Ubyte($list) => $body,
            $crate::Values::Ushort($list) => $body,
            $crate::Values::Uint($list) => $body,
            $crate::Values::Int64($list) => $body,
            $crate::Values::Uint64($list) => $body,
            $crate::Values::String($list) => $body,
            $crate::Values::User(_, $list) => $body,
        }
    };
}

/// Runs `$body` with `$list` bound to the numbers inside as a vector, or `$other` for text and user types.
#[macro_export]
macro_rules! each_numbers {
    ($values:expr, $list:ident => $body:expr, _ => $other:expr) => {
        match $values {
            $crate::Values::Byte($list) => $body,
            $crate::Values::Short($list) => $body,
            $crate::Values::Int($list) => $body,
            $crate::Values::Float($list) => $body,
            $crate::Values::Double($list) => $body,
            $crate::Values::Ubyte($list) => $body,
            $crate::Values::Ushort($list) => $body,
            $crate::Values::Uint($list) => $body,
            $crate::Values::Int64($list) => $body,
            $crate::Values::Uint64($list) => $body,
            _ => $other,
        }
    };
}

impl Default for Values {
    /// No text.
    fn default() -> Self {
        Values::Char(vec![])
    }
}

impl Values {
    /// An empty list of an atomic type.
    pub fn empty(atomic: Atomic) -> Values {
        match atomic {
            Atomic::Byte => Values::Byte(vec![]),
            Atomic::Char => Values::Char(vec![]),
            Atomic::Short => Values::Short(vec![]),
            Atomic::Int => Values::Int(vec![]),
            Atomic::Float => Values::Float(vec![]),
            Atomic::Double => Values::Double(vec![]),
            Atomic::Ubyte => Values::Ubyte(vec![]),
            Atomic::Ushort => Values::Ushort(vec![]),
            Atomic::Uint => Values::Uint(vec![]),
            Atomic::Int64 => Values::Int64(vec![]),
            Atomic::Uint64 => Values::Uint64(vec![]),
            Atomic::String => Values::String(vec![]),
        }
    }

    /// The default fill value of an atomic type (`NC_FILL_*` of `netcdf.h`), as a list of one.
    pub fn default_fill(atomic: Atomic) -> Values {
        match atomic {
            Atomic::Byte => Values::Byte(vec![-127]),
            Atomic::Char => Values::Char(vec![0]),
            Atomic::Short => Values::Short(vec![-32767]),
            Atomic::Int => Values::Int(vec![-2147483647]),
            Atomic::Float => Values::Float(vec![f32::from_bits(0x7CF0_0000)]),
            Atomic::Double => Values::Double(vec![f64::from_bits(0x479E_0000_0000_0000)]),
            Atomic::Ubyte => Values::Ubyte(vec![255]),
            Atomic::Ushort => Values::Ushort(vec![65535]),
            Atomic::Uint => Values::Uint(vec![4294967295]),
            Atomic::Int64 => Values::Int64(vec![-9223372036854775806]),
            Atomic::Uint64 => Values::Uint64(vec![18446744073709551614]),
            Atomic::String => Values::String(vec![Some(vec![])]),
        }
    }

    /// The type of the values.
    pub fn ty(&self) -> Type {
        match self {
            Values::User(id, _) => Type::User(*id),
            _ => Type::Atomic(self.atomic().unwrap_or(Atomic::String)),
        }
    }

    /// The atomic type of the values; `None` for a user-defined one.
    pub fn atomic(&self) -> Option<Atomic> {
        Some(match self {
            Values::Byte(_) => Atomic::Byte,
            Values::Char(_) => Atomic::Char,
            Values::Short(_) => Atomic::Short,
            Values::Int(_) => Atomic::Int,
            Values::Float(_) => Atomic::Float,
            Values::Double(_) => Atomic::Double,
            Values::Ubyte(_) => Atomic::Ubyte,
            Values::Ushort(_) => Atomic::Ushort,
            Values::Uint(_) => Atomic::Uint,
            Values::Int64(_) => Atomic::Int64,
            Values::Uint64(_) => Atomic::Uint64,
            Values::String(_) => Atomic::String,
            Values::User(..) => return None,
        })
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        each_values!(self, list => list.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<&str> for Values {
    fn from(text: &str) -> Self {
        Values::Char(text.as_bytes().to_vec())
    }
}

impl From<String> for Values {
    fn from(text: String) -> Self {
        Values::Char(text.into_bytes())
    }
}

macro_rules! from_numbers {
    ($($variant:ident $number:ty),*) => { $(
        impl From<$number> for Values {
            fn from(number: $number) -> Self {
                Values::$variant(vec![number])
            }
        }
        impl From<Vec<$number>> for Values {
            fn from(numbers: Vec<$number>) -> Self {
                Values::$variant(numbers)
            }
        }
        impl From<&[$number]> for Values {
            fn from(numbers: &[$number]) -> Self {
                Values::$variant(numbers.to_vec())
            }
        }
        impl<const N: usize> From<[$number; N]> for Values {
            fn from(numbers: [$number; N]) -> Self {
                Values::$variant(numbers.to_vec())
            }
        }
    )* };
}

from_numbers!(Byte i8, Short i16, Int i32, Float f32, Double f64, Ubyte u8, Ushort u16, Uint u32, Int64 i64, Uint64 u64);

impl From<Vec<String>> for Values {
    fn from(texts: Vec<String>) -> Self {
        Values::String(texts.into_iter().map(|text| Some(text.into_bytes())).collect())
    }
}

impl From<&[&str]> for Values {
    fn from(texts: &[&str]) -> Self {
        Values::String(texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect())
    }
}
