//! Values as classic files hold them: numbers big-endian, text as it is.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Values};
use smallvec::SmallVec;

/// Stored bytes, of which there are mostly few.
pub type Raw = SmallVec<[u8; 16]>;

/// Big-endian bytes as numbers.
macro_rules! numbers {
    ($bytes:expr, $number:ty) => {
        $bytes
            .chunks_exact(size_of::<$number>())
            .map(|bytes| <$number>::from_be_bytes(bytes.try_into().expect("a chunk of that size")))
            .collect()
    };
}

/// The bytes as a list of their own; long ones stay where they are.
fn to_vec(bytes: Raw) -> Vec<u8> {
    if bytes.spilled() { bytes.into_vec() } else { bytes.to_vec() }
}

/// Values of a type, from their big-endian bytes.
pub fn decode(atomic: Atomic, bytes: Raw) -> Values {
    match atomic {
        Atomic::Byte => Values::Byte(numbers!(bytes, i8)),
        Atomic::Char | Atomic::String => Values::Char(to_vec(bytes)),
        Atomic::Short => Values::Short(numbers!(bytes, i16)),
        Atomic::Int => Values::Int(numbers!(bytes, i32)),
        Atomic::Float => Values::Float(numbers!(bytes, f32)),
        Atomic::Double => Values::Double(numbers!(bytes, f64)),
        Atomic::Ubyte => Values::Ubyte(to_vec(bytes)),
        Atomic::Ushort => Values::Ushort(numbers!(bytes, u16)),
        Atomic::Uint => Values::Uint(numbers!(bytes, u32)),
        Atomic::Int64 => Values::Int64(numbers!(bytes, i64)),
        Atomic::Uint64 => Values::Uint64(numbers!(bytes, u64)),
    }
}

/// The big-endian bytes of values. Fails with `NC_EBADTYPE` for strings and user-defined types.
pub fn encode(values: &Values) -> Result<Raw> {
    ferrocdf_model::each_numbers!(values, list => Ok(list.iter().flat_map(|n| n.to_be_bytes()).collect()), _ => {
        match values {
            Values::Char(text) => Ok(Raw::from_slice(text)),
            _ => {
                let what = "classic files hold no strings and no user-defined types";
                Err(Error::new(Code::EBADTYPE, what))
            }
        }
    })
}
