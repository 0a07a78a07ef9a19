//! The loops that convert numbers, one for each pair of kinds.
//!
//! The decision that shaped it: the rules are those of the reference (Debian's 4.9.0, measured pair by pair), and a
//! loop never branches on an element, so that the compiler vectorises it: one flag accumulates the range check.
//!
//! - Integer to integer: the low bits are kept; out of range if the value differs.
//! - Integer to float: rounded to nearest, never out of range.
//! - Float to integer: cut toward zero. Out of range if below the least or above the largest integer *before* the cut
//!   (so 127.5 does not fit 8 bits); for 64-bit integers the bound is the largest integer rounded to the float type.
//!   NaN is never out of range. When getting, an element out of range leaves memory as it was, and one equal to the
//!   bound of a 64-bit integer becomes the largest integer. When putting, the value is what x86-64 compilers make of a
//!   C cast, which is also what NaN becomes in both directions: see [`Truncate`].
//! - `f64` to `f32`: rounded; beyond the largest finite `f32`, infinities included, is out of range, and becomes the
//!   largest finite value when getting, infinity when putting.
//! - `f32` to `f64`: exact; when putting, infinity is out of range (and stored all the same).
//! - NetCDF-4 files use the rules of putting for reading and writing, with two exceptions: the bound of `f32` to `u32` is
//!   rounded too, and `f32` to `f64` is never out of range.
//!
//! Measured, with the swap of the bytes, on one core in the second-level cache, in 10^9 elements a second: integers
//! among each other 0.7 to 22, 16-bit integers to `f32` 4.9, `f32` to `f64` 1.7, `f64` to `f32` 0.7 (getting) and 1.3
//! (putting), floats to integers 0.3 to 1.3: baseline x86-64 has no vector instruction for most of those.
//!
//! Not done as the reference does: putting negative `i8` into `u32` leaves the file's old bytes there; here the low
//! bits are stored, as for every other pair.

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::Kind;
use crate::rules::ConversionRules;

/// Converts elements in this machine's byte order, equally many in both slices. True if all were in range.
pub(crate) type Kernel = fn(&[u8], &mut [u8]) -> bool;

/// A number that bytes of any alignment hold.
trait Primitive: Copy {
    type Bytes: Pod;
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Primitive for $type {
            type Bytes = [u8; size_of::<$type>()];
            #[inline(always)]
            fn load(bytes: Self::Bytes) -> Self {
                <$type>::from_ne_bytes(bytes)
            }
            #[inline(always)]
            fn store(self) -> Self::Bytes {
                self.to_ne_bytes()
            }
        })*
    };
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

/// A C cast from a float to an integer as x86-64 compilers make it.
///
/// The instruction for `i32` or `i64` gives the least integer for NaN and for what does not fit. Narrow integers and
/// `u32` are the low bits of the next wider signed instruction; `u64` is shifted by 2^63 first where it is that large.
trait Truncate<D> {
    fn truncate(self) -> D;
}

macro_rules! truncate {
    ($float:ty) => {
        truncate!($float, i32, -2147483648.0, |x: $float, cut| x as i32 => i8 u8 i16 u16 i32);
        truncate!($float, i64, -9223372036854775808.0, |x: $float, cut| x as i64 => u32 i64);
        impl Truncate<u64> for $float {
            #[inline(always)]
            fn truncate(self) -> u64 {
                const HALF: $float = 9223372036854775808.0;
                let wide = |x: $float| -> i64 { x.truncate() };
                if self >= HALF { wide(self - HALF) as u64 ^ (1 << 63) } else { wide(self) as u64 }
            }
        }
    };
    ($float:ty, $wide:ty, $least:literal, |$x:ident: $t:ty, cut| $cut:expr => $($narrow:ty)*) => {
        $(impl Truncate<$narrow> for $float {
            #[inline(always)]
            fn truncate(self) -> $narrow {
                let $x: $t = self;
                let in_range = ($least..-($least)).contains(&$x);
                (if in_range { $cut } else { <$wide>::MIN }) as $narrow
            }
        })*
    };
}

truncate!(f32);
truncate!(f64);

/// Calls `one` with each number and the old value of its destination; it returns the new value, and true if the number was in
/// range.
#[inline(always)]
fn each<S: Primitive, D: Primitive>(from: &[u8], to: &mut [u8], one: impl Fn(S, D) -> (D, bool)) -> bool {
    let from: &[S::Bytes] = cast_slice(from);
    let to: &mut [D::Bytes] = cast_slice_mut(to);
    let mut all = true;
    for (from, to) in from.iter().zip(to) {
        let (number, in_range) = one(S::load(*from), D::load(*to));
        *to = number.store();
        all &= in_range;
    }
    all
}

/// Number of elements that are checked together, since most groups need no care.
const GROUP: usize = 256;

/// Converts as [`each`] does, with a fast path: `cut` converts groups in which all numbers are `plain`, without a check.
///
/// Checking first and converting then are two loops that vectorise or at least never branch; one loop that does both was
/// measured to be three times slower.
#[inline(always)]
fn each_mostly_plain<S: Primitive, D: Primitive>(
    from: &[u8],
    to: &mut [u8],
    plain: impl Fn(S) -> bool,
    cut: impl Fn(S) -> D,
    one: impl Fn(S, D) -> (D, bool),
) -> bool {
    let mut all = true;
    for (from, to) in from.chunks(GROUP * size_of::<S>()).zip(to.chunks_mut(GROUP * size_of::<D>())) {
        let numbers: &[S::Bytes] = cast_slice(from);
        if numbers.iter().fold(true, |all, &number| all & plain(S::load(number))) {
            each::<S, D>(from, to, |x, _| (cut(x), true));
        } else {
            all &= each::<S, D>(from, to, &one);
        }
    }
    all
}

macro_rules! int_to_int {
    ($s:ty, $d:ty) => {
        |from, to| {
            const LOW: $s = if (<$s>::MIN as i128) < <$d>::MIN as i128 { <$d>::MIN as $s } else { <$s>::MIN };
            const HIGH: $s =
                if (<$s>::MAX as i128) > <$d>::MAX as i128 { <$d>::MAX as $s } else { <$s>::MAX };
            each::<$s, $d>(from, to, |x, _| (x as $d, (LOW..=HIGH).contains(&x)))
        }
    };
}

macro_rules! int_to_float {
    ($s:ty, $d:ty) => {
        |from, to| each::<$s, $d>(from, to, |x, _| (x as $d, true))
    };
}

/// The largest value of a float type that is in range of an integer type.
macro_rules! high {
    ($s:ty, $d:ty) => {{
        let rounded = <$d>::MAX as $s;
        // 32 bits are compared as double by the reference, so rounding up is undone; 64 bits are not.
        if size_of::<$d>() < 8 && rounded as f64 > <$d>::MAX as f64 { rounded.next_down() } else { rounded }
    }};
}

/// True if a float is at most the largest in range; for 64-bit integers, whose largest is rounded, less than it.
macro_rules! is_below {
    ($x:ident, $high:ident, $d:ty) => {
        if size_of::<$d>() < 8 { $x <= $high } else { $x < $high }
    };
}

macro_rules! get_float_to_int {
    ($s:ty, $d:ty) => {
        |from, to| {
            const HIGH: $s = high!($s, $d);
            each_mostly_plain::<$s, $d>(
                from,
                to,
                |x| (x >= <$d>::MIN as $s) & is_below!(x, HIGH, $d),
                |x| x as $d,
                |x, old| {
                    let in_range = !(x > HIGH || x < <$d>::MIN as $s);
                    let cut: $d = x.truncate();
                    let cut = if size_of::<$d>() == 8 && x == HIGH { <$d>::MAX } else { cut };
                    (if in_range { cut } else { old }, in_range)
                },
            )
        }
    };
}

macro_rules! put_float_to_int {
    ($s:ty, $d:ty) => {
        |from, to| {
            const HIGH: $s = high!($s, $d);
            each_mostly_plain::<$s, $d>(
                from,
                to,
                |x| (x >= <$d>::MIN as $s) & is_below!(x, HIGH, $d),
                |x| x as $d,
                |x, _| (x.truncate(), !(x > HIGH || x < <$d>::MIN as $s)),
            )
        }
    };
}

/// As putting, but for the bound, which is rounded to `f32`.
fn cast_f32_to_u32(from: &[u8], to: &mut [u8]) -> bool {
    each::<f32, u32>(from, to, |x, _| (x.truncate(), !(x > u32::MAX as f32 || x < 0.0)))
}

/// True if a number is larger than any finite `f32`; NaN is not.
#[inline(always)]
fn is_beyond_f32(x: f64) -> bool {
    x.abs() > f64::from(f32::MAX)
}

fn get_f64_to_f32(from: &[u8], to: &mut [u8]) -> bool {
    each_mostly_plain::<f64, f32>(
        from,
        to,
        |x| !is_beyond_f32(x),
        |x| x as f32,
        |x, _| {
            let in_range = !is_beyond_f32(x);
            (if in_range { x as f32 } else { f32::MAX.copysign(x as f32) }, in_range)
        },
    )
}

fn put_f64_to_f32(from: &[u8], to: &mut [u8]) -> bool {
    each::<f64, f32>(from, to, |x, _| (x as f32, !is_beyond_f32(x)))
}

fn get_f32_to_f64(from: &[u8], to: &mut [u8]) -> bool {
    each::<f32, f64>(from, to, |x, _| (f64::from(x), true))
}

fn put_f32_to_f64(from: &[u8], to: &mut [u8]) -> bool {
    each::<f32, f64>(from, to, |x, _| (f64::from(x), !x.is_infinite()))
}

/// One arm for each integer kind, then those given; `Char` is dealt with before, and reads as `U8` here.
macro_rules! match_int {
    ($kind:expr, $one:ident[$($before:tt)*], $($other:pat => $result:expr),*) => {
        match $kind {
            Kind::I8 => $one!($($before)* i8),
            Kind::U8 | Kind::Char => $one!($($before)* u8),
            Kind::I16 => $one!($($before)* i16),
            Kind::U16 => $one!($($before)* u16),
            Kind::I32 => $one!($($before)* i32),
            Kind::U32 => $one!($($before)* u32),
            Kind::I64 => $one!($($before)* i64),
            Kind::U64 => $one!($($before)* u64),
            $($other => $result),*
        }
    };
}

/// Returns the loop for a pair of numeric kinds.
pub(crate) fn kernel(direction: ConversionRules, from: Kind, to: Kind) -> Kernel {
    macro_rules! from_int {
        ($s:ty) => {
            match_int!(to, int_to_int[$s,],
                Kind::F32 => int_to_float!($s, f32),
                Kind::F64 => int_to_float!($s, f64))
        };
    }
    macro_rules! same {
        ($s:ty) => {
            |from, to| each::<$s, $s>(from, to, |x, _| (x, true))
        };
    }
    match direction {
        ConversionRules::Get => match_int!(from, from_int[],
            Kind::F32 => match_int!(to, get_float_to_int[f32,],
                Kind::F32 => same!(f32), Kind::F64 => get_f32_to_f64),
            Kind::F64 => match_int!(to, get_float_to_int[f64,],
                Kind::F32 => get_f64_to_f32, Kind::F64 => same!(f64))),
        ConversionRules::Cast if (from, to) == (Kind::F32, Kind::U32) => cast_f32_to_u32,
        ConversionRules::Cast if (from, to) == (Kind::F32, Kind::F64) => get_f32_to_f64,
        ConversionRules::Put | ConversionRules::Cast => match_int!(from, from_int[],
            Kind::F32 => match_int!(to, put_float_to_int[f32,],
                Kind::F32 => same!(f32), Kind::F64 => put_f32_to_f64),
            Kind::F64 => match_int!(to, put_float_to_int[f64,],
                Kind::F32 => put_f64_to_f32, Kind::F64 => same!(f64))),
    }
}
