//! Fletcher-32 (filter 3): a checksum of four bytes, little-endian, behind the data.
//!
//! The sums run over big-endian words modulo 65535, where a sum that is a multiple of it is kept as 65535 unless all
//! words are zero. They are taken in columns of little-endian words, which the compiler makes vectors of; swapping the
//! bytes of a word is multiplying it by 256 in that ring. HDF5 before 1.6.3 swapped the bytes in both halves of the
//! checksum on little-endian machines; those are taken for right, as HDF5 does.

use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;

const LEN: usize = 4;

/// Words beside one another.
const COLUMNS: usize = 16;

/// The most rows for which the sums fit: 65535 * ROWS * (ROWS + 1) / 2 < 2^32.
const ROWS: usize = 360;

/// The modulus.
const RING: u64 = 65535;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(3),
    names: &["fletcher32"],
    make: |params, _| Fletcher32::new(params).map(boxed),
    derive: None,
    numcodecs: Some(Spelling { id: "fletcher32", write: |_| Ok(vec![]), read: |_| Ok(vec![]) }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Fletcher32;

impl Fletcher32 {
    pub fn new(params: &[u32]) -> Result<Fletcher32> {
        // HDF5 does not look at parameters here; some writers give none, netCDF gives none.
        if params.len() > 32 {
            return Err(bad_params(format!("{} parameters where none is used", params.len())));
        }
        Ok(Fletcher32)
    }

    fn verified<'a>(&self, encoded: &'a [u8]) -> Result<&'a [u8]> {
        let Some((decoded, sum)) = encoded.split_last_chunk::<LEN>() else {
            return Err(corrupt(format!("{} bytes do not hold a checksum", encoded.len())));
        };
        let (kept, sum) = (u32::from_le_bytes(*sum), checksum(decoded));
        let swapped = ((sum & 0x00ff_00ff) << 8) | ((sum >> 8) & 0x00ff_00ff);
        if kept != sum && kept != swapped {
            return Err(corrupt(format!(
                "the checksum of {} bytes is {sum:#010x}, but {kept:#010x} is stored",
                decoded.len()
            )));
        }
        Ok(decoded)
    }
}

impl SliceCodec for Fletcher32 {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        self.verified(encoded).map(|decoded| Some(decoded.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let inside = encoded.split_last_chunk::<LEN>().map_or(encoded, |(inside, _)| inside);
        let Some(room) = decoded.get_mut(..inside.len()) else { return Ok(None) };
        room.copy_from_slice(inside);
        Ok(Some(inside.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.extend_from_slice(decoded);
        encoded.extend_from_slice(&checksum(decoded).to_le_bytes());
        Ok(Some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        encoded.saturating_sub(LEN)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(LEN)
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(self.verified(encoded))
    }
}

/// The checksum as HDF5 computes it.
fn checksum(data: &[u8]) -> u32 {
    let (mut one, mut two, mut nonzero) = (0u64, 0u64, false);
    // Adds words whose sum is `sum` and whose sum of sums is `sums`.
    let mut add = |words: usize, sum: u64, sums: u64| {
        two = (two + one * (words as u64 % RING) + sums) % RING;
        one = (one + sum) % RING;
        nonzero |= sum != 0;
    };
    let (words, odd) = data.as_chunks::<2>();
    let (rows, rest) = words.as_chunks::<COLUMNS>();
    for rows in rows.chunks(ROWS) {
        let (sum, sums) = columns(rows);
        add(rows.len() * COLUMNS, sum, sums);
    }
    for &word in rest {
        let word = u64::from(u16::from_le_bytes(word));
        add(1, word, word);
    }
    if let &[last] = odd {
        add(1, last.into(), last.into());
    }
    let whole = |sum: u64| match sum * 256 % RING {
        0 if nonzero => RING as u32,
        sum => sum as u32,
    };
    whole(two) << 16 | whole(one)
}

/// The sum of all words, and the sum of the sums after each of them.
fn columns(rows: &[[[u8; 2]; COLUMNS]]) -> (u64, u64) {
    let (mut sum, mut sums) = ([0u32; COLUMNS], [0u32; COLUMNS]);
    for row in rows {
        for at in 0..COLUMNS {
            sum[at] += u32::from(u16::from_le_bytes(row[at]));
            sums[at] += sum[at];
        }
    }
    let (mut one, mut two) = (0, 0);
    for at in 0..COLUMNS {
        // A word in column `at` is in `at` sums less than the first of its row.
        one += u64::from(sum[at]);
        two += u64::from(sums[at]) * COLUMNS as u64 - u64::from(sum[at]) * at as u64;
    }
    (one, two)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word by word.
    fn by_definition(data: &[u8]) -> u32 {
        let (mut one, mut two) = (0u32, 0u32);
        let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
        for word in data.chunks(2) {
            let word = u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from);
            one = fold(fold(one + word));
            two = fold(fold(two + one));
        }
        two << 16 | one
    }

    #[test]
    fn it_is_the_definition() {
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
