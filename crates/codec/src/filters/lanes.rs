//! Rows of bytes woven into columns and back, and bits between rows, in lanes of 16 bytes: what shuffles do all day.
//!
//! Loops over bytes become vector instructions only when the compiler sees it, and bits of rows never did; `wide` names
//! the instructions that every machine has, so a tile of 16 columns stays in registers from its rows to its place.
//! Not done: wider lanes, which would have to be chosen at run time.

use bytemuck::cast;
use wide::{i16x8, u8x16, u16x8, u64x2};

/// Columns of a tile.
pub const LANE: usize = 16;

/// Where tiles of columns begin: one behind the other, but the last one ends with the columns and may lie over the one
/// before it. There are at least [`LANE`] columns.
pub fn tiles(columns: usize) -> impl Iterator<Item = usize> {
    (0..columns.div_ceil(LANE)).map(move |tile| (tile * LANE).min(columns - LANE))
}

#[inline(always)]
pub fn load(bytes: &[u8], at: usize) -> u8x16 {
    u8x16::new(bytes[at..at + LANE].as_chunks().0[0])
}

#[inline(always)]
pub fn store(lane: u8x16, bytes: &mut [u8], at: usize) {
    bytes[at..at + LANE].copy_from_slice(&lane.to_array());
}

/// Lanes one behind the other.
#[inline(always)]
pub fn load_all<const N: usize>(bytes: &[u8], at: usize) -> [u8x16; N] {
    std::array::from_fn(|lane| load(bytes, at + lane * LANE))
}

/// As [`load_all`].
#[inline(always)]
pub fn store_all<const N: usize>(lanes: [u8x16; N], bytes: &mut [u8], at: usize) {
    // An iterator that owned the lanes would keep them in memory.
    for (of, &lane) in lanes.iter().enumerate() {
        store(lane, bytes, at + of * LANE);
    }
}

/// Rows, a power of two of them, to columns, one behind the other.
///
/// Each turn zips row `i` with row `i + R / 2`, which doubles the bytes of a column that lie together.
#[inline(always)]
pub fn weave<const R: usize>(mut rows: [u8x16; R]) -> [u8x16; R] {
    for _ in 0..R.ilog2() {
        let mut zipped = rows;
        for i in 0..R / 2 {
            zipped[2 * i] = u8x16::unpack_low(rows[i], rows[i + R / 2]);
            zipped[2 * i + 1] = u8x16::unpack_high(rows[i], rows[i + R / 2]);
        }
        rows = zipped;
    }
    rows
}

/// [`weave`] backwards.
#[inline(always)]
pub fn unweave<const R: usize>(mut columns: [u8x16; R]) -> [u8x16; R] {
    for _ in 0..R.ilog2() {
        let mut rows = columns;
        for i in 0..R / 2 {
            (rows[i], rows[i + R / 2]) = unzip(columns[2 * i], columns[2 * i + 1]);
        }
        columns = rows;
    }
    columns
}

/// Every second byte of two lanes, and the others.
#[inline(always)]
fn unzip(a: u8x16, b: u8x16) -> (u8x16, u8x16) {
    let (a, b): (u16x8, u16x8) = (cast(a), cast(b));
    let narrow = |a: u16x8, b: u16x8| u8x16::narrow_i16x8(cast::<_, i16x8>(a), cast::<_, i16x8>(b));
    let byte = u16x8::splat(0xff);
    let (low, high) = (narrow(a & byte, b & byte), narrow(a >> 8, b >> 8));
    if cfg!(target_endian = "big") { (high, low) } else { (low, high) }
}

/// Turns the bits of each column around their diagonal: bit `i` of row `j` goes to bit `j` of row `i`.
#[inline(always)]
pub fn turn(rows: [u8x16; 8]) -> [u8x16; 8] {
    let mut rows: [u64x2; 8] = cast(rows);
    exchange::<4>(&mut rows, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(&mut rows, 0x3333_3333_3333_3333);
    exchange::<1>(&mut rows, 0x5555_5555_5555_5555);
    cast(rows)
}

/// Exchanges the high bits of a row with the low ones, which are `low`, of the row `BY` behind it, for each such pair. No
/// bit leaves its byte.
#[inline(always)]
fn exchange<const BY: usize>(rows: &mut [u64x2; 8], low: u64) {
    let low = u64x2::splat(low);
    for at in 0..8 {
        if at & BY == 0 {
            let swap = ((rows[at] >> BY as u32) ^ rows[at + BY]) & low;
            rows[at] ^= swap << BY as u32;
            rows[at + BY] ^= swap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const R: usize>() -> [u8x16; R] {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::array::from_fn(|_| u8x16::new(std::array::from_fn(|_| next())))
    }

    #[test]
    fn rows_become_columns_and_rows_again() {
        let rows: [u8x16; 8] = rows();
        let columns: [[u8; 16]; 8] = weave(rows).map(u8x16::to_array);
        for (at, &byte) in columns.as_flattened().iter().enumerate() {
            assert_eq!(byte, rows[at % 8].to_array()[at / 8], "byte {at}");
        }
        assert_eq!(unweave(weave(rows)), rows);
    }

    #[test]
    fn bits_are_turned_around_their_diagonal() {
        let (before, after) = (rows::<8>(), turn(rows::<8>()));
        for (row, lane) in after.iter().enumerate() {
            for (column, byte) in lane.to_array().into_iter().enumerate() {
                for (bit, other) in before.iter().enumerate() {
                    assert_eq!(byte >> bit & 1, other.to_array()[column] >> row & 1);
                }
            }
        }
    }

    #[test]
    fn tiles_cover_all_columns() {
        for columns in 16..100 {
            let mut seen = vec![false; columns];
            tiles(columns).for_each(|at| seen[at..at + LANE].fill(true));
            assert!(seen.iter().all(|&seen| seen), "{columns} columns");
        }
    }
}
