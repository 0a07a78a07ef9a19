//! `H5Tconvert`: conversion of numbers between types, in place.
//!
//! Integers of up to eight bytes and IEEE floats of four and eight bytes, in both byte orders. A number out of range
//! becomes the nearest number in range, as in the HDF5 library.

use std::ffi::{c_int, c_void};

use ferrocdf_codec::ElementType;

use super::handles::Hid;
use super::types::{self, FLOAT, INTEGER};
use super::{DONE, FAILED, functions, guard};

#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

/// True if this module converts values of this type.
fn is_number(element: &ElementType) -> bool {
    let whole = element.offset == 0 && element.precision == element.size.saturating_mul(8);
    whole
        && match element.class {
            INTEGER => matches!(element.size, 1..=8),
            FLOAT => matches!(element.size, 4 | 8),
            _ => false,
        }
}

/// Reads a value of this type.
fn read(element: &ElementType, bytes: &[u8]) -> Number {
    let mut low_first = [0; 8];
    low_first[..bytes.len()].copy_from_slice(bytes);
    if element.big_endian {
        low_first[..bytes.len()].reverse();
    }
    let bits = u64::from_le_bytes(low_first);
    match (element.class, element.size) {
        (FLOAT, 4) => Number::Float(f64::from(f32::from_bits(bits as u32))),
        (FLOAT, _) => Number::Float(f64::from_bits(bits)),
        _ if element.signed => {
            let unused = 64u32.saturating_sub(element.size.saturating_mul(8));
            Number::Integer(i128::from((bits as i64).wrapping_shl(unused).wrapping_shr(unused)))
        }
        _ => Number::Integer(i128::from(bits)),
    }
}

fn write(element: &ElementType, number: Number, bytes: &mut [u8]) {
    let bits = if element.class == FLOAT {
        let value = match number {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        };
        if element.size == 4 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    } else {
        let value = match number {
            Number::Integer(value) => value,
            Number::Float(value) => value as i128,
        };
        let bits = element.size.saturating_mul(8).min(64);
        let (low, high) = if element.signed {
            (-(1i128 << (bits.saturating_sub(1))), (1i128 << (bits.saturating_sub(1))).saturating_sub(1))
        } else {
            (0, (1i128 << bits).saturating_sub(1))
        };
        value.clamp(low, high) as u64
    };
    let len = bytes.len();
    bytes.copy_from_slice(&bits.to_le_bytes()[..len]);
    if element.big_endian {
        bytes.reverse();
    }
}

fn convert(from: &ElementType, to: &ElementType, bytes: &mut [u8]) {
    let (old, new) = (from.size as usize, to.size as usize);
    let numbers: Vec<Number> = {
        let count = bytes.len() / old.max(new);
        bytes.chunks_exact(old).take(count).map(|value| read(from, value)).collect()
    };
    for (number, place) in numbers.into_iter().zip(bytes.chunks_exact_mut(new)) {
        write(to, number, place);
    }
}

/// # Safety
/// `values` has room for `count` values of the larger type.
unsafe extern "C" fn H5Tconvert(
    from: Hid,
    to: Hid,
    count: usize,
    values: *mut c_void,
    _background: *mut c_void,
    _plist: Hid,
) -> c_int {
    guard(FAILED, || {
        let (from, to) = (types::get(from)?, types::get(to)?);
        if from == to || count == 0 {
            return Some(DONE);
        }
        if !is_number(&from) || !is_number(&to) || values.is_null() {
            return None;
        }
        let len = count.checked_mul(from.size.max(to.size) as usize)?;
        isize::try_from(len).ok()?;
        // SAFETY: `values` has `len` bytes, as the caller says.
        convert(&from, &to, unsafe { std::slice::from_raw_parts_mut(values.cast::<u8>(), len) });
        Some(DONE)
    })
}

functions![H5Tconvert];

#[cfg(test)]
mod tests {
    use super::*;

    fn number(class: u8, size: u32, big_endian: bool, signed: bool) -> ElementType {
        let precision = size * 8;
        ElementType { class, size, big_endian, signed, precision, offset: 0, base: None }
    }

    #[test]
    fn numbers_change_their_bytes() {
        let u32be = number(INTEGER, 4, true, false);
        let u32le = number(INTEGER, 4, false, false);
        let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        convert(&u32be, &u32le, &mut bytes);
        assert_eq!(bytes, [4, 3, 2, 1, 8, 7, 6, 5]);

        let i16le = number(INTEGER, 2, false, true);
        let mut bytes = [0xff, 0xff, 1, 0, 9, 9, 9, 9];
        convert(&i16le, &u32be, &mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 1], "-1 becomes the least");

        let i8le = number(INTEGER, 1, false, true);
        let mut bytes = [0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff];
        convert(&number(INTEGER, 4, true, true), &i8le, &mut bytes);
        assert_eq!(bytes[..2], [127, 0xff]);

        let f32le = number(FLOAT, 4, false, true);
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&(-1.5f32).to_le_bytes());
        convert(&f32le, &number(FLOAT, 8, true, true), &mut bytes);
        assert_eq!(bytes, (-1.5f64).to_be_bytes());
        convert(&number(FLOAT, 8, true, true), &number(INTEGER, 8, false, true), &mut bytes);
        assert_eq!(bytes, (-1i64).to_le_bytes());
    }
}
