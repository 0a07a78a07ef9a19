//! Transposition of bytes and bits in vectors of 16 bytes, for shuffle and bitshuffle.
//!
//! The compiler does not reliably vectorize loops over bytes, and never vectorized the transposition of bits. The crate
//! `wide` gives access to the vector instructions that every machine has, so a tile of 16 columns stays in registers from
//! load to store. Wider vectors are not used: they would need selection at run time.

use bytemuck::cast;
use wide::{i16x8, u8x16, u16x8, u64x2};

/// Number of columns of a tile: the bytes of a vector.
pub const LANE: usize = 16;

/// Returns the first column of each tile. The last tile ends at the last column and may overlap the tile before it.
/// `columns` is at least [`LANE`].
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

/// Loads consecutive vectors.
#[inline(always)]
pub fn load_all<const N: usize>(bytes: &[u8], at: usize) -> [u8x16; N] {
    std::array::from_fn(|lane| load(bytes, at + lane * LANE))
}

/// Stores consecutive vectors.
#[inline(always)]
pub fn store_all<const N: usize>(lanes: [u8x16; N], bytes: &mut [u8], at: usize) {
    // Iterates by reference: an iterator that owns the vectors would keep them in memory, not in registers.
    for (number, &lane) in lanes.iter().enumerate() {
        store(lane, bytes, at + number * LANE);
    }
}

/// Transposes `R` rows of 16 bytes, `R` a power of two, to consecutive columns of `R` bytes.
///
/// Each step interleaves row `i` with row `i + R / 2`, which doubles the number of adjacent bytes of a column.
#[inline(always)]
pub fn interleave<const R: usize>(mut rows: [u8x16; R]) -> [u8x16; R] {
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

/// Inverse of [`interleave`].
#[inline(always)]
pub fn deinterleave<const R: usize>(mut columns: [u8x16; R]) -> [u8x16; R] {
    for _ in 0..R.ilog2() {
        let mut rows = columns;
        for i in 0..R / 2 {
            (rows[i], rows[i + R / 2]) = unzip(columns[2 * i], columns[2 * i + 1]);
        }
        columns = rows;
    }
    columns
}

/// Returns the bytes at even and at odd positions of two vectors.
#[inline(always)]
fn unzip(a: u8x16, b: u8x16) -> (u8x16, u8x16) {
    let (a, b): (u16x8, u16x8) = (cast(a), cast(b));
    let narrow = |a: u16x8, b: u16x8| u8x16::narrow_i16x8(cast::<_, i16x8>(a), cast::<_, i16x8>(b));
    let byte = u16x8::splat(0xff);
    let (low, high) = (narrow(a & byte, b & byte), narrow(a >> 8, b >> 8));
    if cfg!(target_endian = "big") { (high, low) } else { (low, high) }
}

/// Transposes the 8 x 8 bits of each column: bit `i` of row `j` becomes bit `j` of row `i`.
#[inline(always)]
pub fn transpose_bits(rows: [u8x16; 8]) -> [u8x16; 8] {
    let mut rows: [u64x2; 8] = cast(rows);
    exchange::<4>(&mut rows, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(&mut rows, 0x3333_3333_3333_3333);
    exchange::<1>(&mut rows, 0x5555_5555_5555_5555);
    cast(rows)
}

/// For each pair of rows at distance `BY`, exchanges the high bits of the first row with the low bits of the second. `low`
/// is the mask of the low bits. Every bit stays in its byte.
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
    fn interleave_transposes_rows_and_deinterleave_restores_them() {
        let rows: [u8x16; 8] = rows();
        let columns: [[u8; 16]; 8] = interleave(rows).map(u8x16::to_array);
        for (at, &byte) in columns.as_flattened().iter().enumerate() {
            assert_eq!(byte, rows[at % 8].to_array()[at / 8], "byte {at}");
        }
        assert_eq!(deinterleave(interleave(rows)), rows);
    }

    #[test]
    fn transpose_bits_swaps_bit_and_row() {
        let (before, after) = (rows::<8>(), transpose_bits(rows::<8>()));
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
