//! Fletcher-32 (filter 3): the data, followed by a little-endian checksum of four bytes.
//!
//! The two sums run over big-endian 16-bit words modulo 65535; a sum that is a multiple of 65535 is stored as 65535 unless
//! all words are zero. The code sums little-endian words in columns, which the compiler vectorizes, and multiplies the sums
//! by 256: modulo 65535 this swaps the bytes of a word. HDF5 before 1.6.3 swapped the bytes in both halves of the checksum
//! on little-endian machines; such a checksum is accepted, as in HDF5.

use ferrocdf_bytes::Result;

use super::checksum::{Checked, Checksum};
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Number of words in a row, which are summed in parallel.
const COLUMNS: usize = 16;

/// Maximum number of rows for which the sums fit in 32 bits: 65535 * MAX_ROWS * (MAX_ROWS + 1) / 2 < 2^32.
const MAX_ROWS: usize = 360;

/// Modulus of the sums.
const MODULUS: u64 = 65535;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(3),
    names: &["fletcher32"],
    new: |params, _| Fletcher32::new(params).map(Checked).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm { id: "fletcher32", write: |_| Ok(vec![]), read: |_| Ok(vec![]) }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Fletcher32;

impl Fletcher32 {
    pub fn new(params: &[u32]) -> Result<Fletcher32> {
        // HDF5 ignores the parameters; netCDF and some other writers store none.
        if params.len() > 32 {
            return Err(bad_params(format!("{} parameters: fletcher32 has none", params.len())));
        }
        Ok(Fletcher32)
    }
}

impl Checksum for Fletcher32 {
    fn compute(&self, data: &[u8]) -> u32 {
        checksum(data)
    }

    fn accepts(&self, stored: u32, computed: u32) -> bool {
        let swapped = ((computed & 0x00ff_00ff) << 8) | ((computed >> 8) & 0x00ff_00ff);
        stored == computed || stored == swapped
    }
}

/// Returns the checksum as HDF5 computes it.
fn checksum(data: &[u8]) -> u32 {
    let (mut sum1, mut sum2, mut nonzero) = (0u64, 0u64, false);
    // Adds words whose sum is `sum` and whose sum of running sums is `sums`.
    let mut add = |words: usize, sum: u64, sums: u64| {
        sum2 = (sum2 + sum1 * (words as u64 % MODULUS) + sums) % MODULUS;
        sum1 = (sum1 + sum) % MODULUS;
        nonzero |= sum != 0;
    };
    let (words, odd) = data.as_chunks::<2>();
    let (rows, rest) = words.as_chunks::<COLUMNS>();
    for rows in rows.chunks(MAX_ROWS) {
        let (sum, sums) = sum_rows(rows);
        add(rows.len() * COLUMNS, sum, sums);
    }
    for &word in rest {
        let word = u64::from(u16::from_le_bytes(word));
        add(1, word, word);
    }
    if let &[last] = odd {
        add(1, last.into(), last.into());
    }
    let swapped = |sum: u64| match sum * 256 % MODULUS {
        0 if nonzero => MODULUS as u32,
        sum => sum as u32,
    };
    swapped(sum2) << 16 | swapped(sum1)
}

/// Returns the sum of all words, and the sum of the running sums after each word.
fn sum_rows(rows: &[[[u8; 2]; COLUMNS]]) -> (u64, u64) {
    let (mut sum, mut sums) = ([0u32; COLUMNS], [0u32; COLUMNS]);
    for row in rows {
        for column in 0..COLUMNS {
            sum[column] += u32::from(u16::from_le_bytes(row[column]));
            sums[column] += sum[column];
        }
    }
    let (mut sum1, mut sum2) = (0, 0);
    for column in 0..COLUMNS {
        // A word in this column is in `column` fewer running sums than the first word of its row.
        sum1 += u64::from(sum[column]);
        sum2 += u64::from(sums[column]) * COLUMNS as u64 - u64::from(sum[column]) * column as u64;
    }
    (sum1, sum2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the checksum by its definition, word by word.
    fn by_definition(data: &[u8]) -> u32 {
        let (mut sum1, mut sum2) = (0u32, 0u32);
        let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
        for word in data.chunks(2) {
            let word = u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from);
            sum1 = fold(fold(sum1 + word));
            sum2 = fold(fold(sum2 + sum1));
        }
        sum2 << 16 | sum1
    }

    #[test]
    fn checksum_equals_its_definition_for_any_length() {
        let mut state = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(40_000)
        .collect();
        for len in (0..200).chain([11_519, 11_520, 11_521, 23_040, 39_999, 40_000]) {
            assert_eq!(checksum(&noise[..len]), by_definition(&noise[..len]), "{len} bytes of noise");
            let same = vec![255; len];
            assert_eq!(checksum(&same), by_definition(&same), "{len} bytes of 255");
        }
        assert_eq!(checksum(&[0; 1000]), 0);
    }
}
