//! Shuffle (filter 2): first the first bytes of all elements, then all second bytes, and so on; the bytes of one position
//! are a plane. The parameter is the element size in bytes. Bytes after the last whole element stay unchanged at the end.
//!
//! For element sizes 2, 4, 8 and 16, sixteen elements at a time are transposed in registers. For other sizes, the planes are
//! processed for as many elements at a time as fit in the L1 cache.

use ferrocdf_bytes::Result;

use super::lanes::{LANE, deinterleave, interleave, load, load_all, store, store_all, tiles};
use crate::filter::{SliceCodec, bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(2),
    names: &["shuffle"],
    new: |params, _| Shuffle::new(params).map(boxed),
    derive: Some(|params, size, _| *params = vec![size]),
    numcodecs: Some(JsonForm {
        id: "shuffle",
        write: |params| match *params {
            [size, ..] if size > 0 => Ok(vec![("elementsize", size.into())]),
            _ => Err(bad_params("shuffle: the element size is missing or 0")),
        },
        // NetCDF-C writes zero for the element size of the variable's type.
        read: |json| match json.number("elementsize", 4, 0..=u32::MAX.into())? {
            0 => Ok(vec![]),
            size => Ok(vec![size as u32]),
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Shuffle {
    size: usize,
}

impl Shuffle {
    pub fn new(params: &[u32]) -> Result<Shuffle> {
        match *params {
            [size] if size > 0 => Ok(Shuffle { size: size as usize }),
            _ => Err(bad_params(format!("parameters {params:?}: must be one element size above 0"))),
        }
    }
}

impl SliceCodec for Shuffle {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        Ok(Some(encoded.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let Some(decoded) = decoded.get_mut(..encoded.len()) else { return Ok(None) };
        unshuffle(self.size, encoded, decoded);
        Ok(Some(encoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.resize(decoded.len(), 0);
        shuffle(self.size, decoded, encoded);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn shuffle_size(&self) -> Option<usize> {
        Some(self.size)
    }
}

/// Unshuffles some of the shuffled elements in `planes`, from the element `first` on, into all of `elements`. Both slices
/// contain whole elements of `size` bytes.
///
/// # Panics
/// If `planes` contains too few elements.
pub fn unshuffle_part(size: usize, planes: &[u8], first: usize, elements: &mut [u8]) {
    match size {
        _ if size == 1 || planes.len() == size => {
            elements.copy_from_slice(&planes[first..][..elements.len()])
        }
        _ if elements.len() / size < LANE => gather_any(size, planes, first, elements),
        2 => gather::<2>(planes, first, elements),
        4 => gather::<4>(planes, first, elements),
        8 => gather::<8>(planes, first, elements),
        16 => gather::<16>(planes, first, elements),
        _ => gather_any(size, planes, first, elements),
    }
}

/// Unshuffles bytes. Both slices have the same length.
pub fn unshuffle(size: usize, encoded: &[u8], decoded: &mut [u8]) {
    let whole = encoded.len() / size * size;
    let (planes, rest) = encoded.split_at(whole);
    let (elements, end) = decoded.split_at_mut(whole);
    end.copy_from_slice(rest);
    unshuffle_part(size, planes, 0, elements);
}

/// Shuffles bytes. Both slices have the same length.
pub fn shuffle(size: usize, decoded: &[u8], encoded: &mut [u8]) {
    let whole = decoded.len() / size * size;
    let (elements, rest) = decoded.split_at(whole);
    let (planes, end) = encoded.split_at_mut(whole);
    end.copy_from_slice(rest);
    match size {
        _ if size == 1 || planes.len() == size => planes.copy_from_slice(elements),
        _ if elements.len() / size < LANE => scatter_any(size, elements, planes),
        2 => scatter::<2>(elements, planes),
        4 => scatter::<4>(elements, planes),
        8 => scatter::<8>(elements, planes),
        16 => scatter::<16>(elements, planes),
        _ => scatter_any(size, elements, planes),
    }
}

/// Unshuffles at least [`LANE`] elements, from the element `first` on.
fn gather<const SIZE: usize>(planes: &[u8], first: usize, elements: &mut [u8]) {
    let count = planes.len() / SIZE;
    for at in tiles(elements.len() / SIZE) {
        let rows = std::array::from_fn(|byte| load(planes, byte * count + first + at));
        let to = &mut elements[at * SIZE..][..LANE * SIZE];
        store_all(interleave::<SIZE>(rows), to, 0);
    }
}

/// Shuffles at least [`LANE`] elements.
fn scatter<const SIZE: usize>(elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / SIZE;
    for at in tiles(count) {
        let from = &elements[at * SIZE..][..LANE * SIZE];
        let rows = deinterleave::<SIZE>(load_all(from, 0));
        for (byte, &row) in rows.iter().enumerate() {
            store(row, planes, byte * count + at);
        }
    }
}

/// Returns the number of elements that stay in the L1 cache while their planes are processed.
fn elements_in_cache(size: usize) -> usize {
    (8192 / size).max(16)
}

fn gather_any(size: usize, planes: &[u8], first: usize, elements: &mut [u8]) {
    let count = planes.len() / size;
    let run = elements_in_cache(size);
    for (number, elements) in elements.chunks_mut(run.saturating_mul(size)).enumerate() {
        for of in 0..size {
            let bytes = &planes[of * count + first + number * run..][..elements.len() / size];
            for (element, &byte) in elements.chunks_exact_mut(size).zip(bytes) {
                element[of] = byte;
            }
        }
    }
}

fn scatter_any(size: usize, elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / size;
    let run = elements_in_cache(size);
    for (number, elements) in elements.chunks(run.saturating_mul(size)).enumerate() {
        for (of, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
            let bytes = &mut plane[number * run..];
            for (byte, element) in bytes.iter_mut().zip(elements.chunks_exact(size)) {
                *byte = element[of];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_moves_bytes_to_planes_and_unshuffle_restores_any_part() {
        for size in [1, 2, 3, 4, 8, 12, 16, 200] {
            for count in [0, 1, 2, 15, 16, 17, 100, 1000] {
                let decoded: Vec<u8> = (0..(size * count + 1) as u32)
                    .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 11) as u8)
                    .collect();
                let (mut encoded, mut back) = (vec![0; decoded.len()], vec![0; decoded.len()]);
                let rest = decoded.len() % size;
                let whole = decoded.len() - rest;
                shuffle(size, &decoded, &mut encoded);
                for (at, byte) in decoded[..whole].iter().enumerate() {
                    assert_eq!(
                        encoded[at % size * (whole / size) + at / size],
                        *byte,
                        "{count} of size {size}"
                    );
                }
                assert_eq!(encoded[whole..], decoded[whole..]);
                unshuffle(size, &encoded, &mut back);
                assert_eq!(back, decoded, "{count} of size {size}");
                for (first, len) in [(0, count / 2), (count / 2, count / 2), (count / 3, count / 3)] {
                    let mut part = vec![0; len * size];
                    unshuffle_part(size, &encoded[..whole], first, &mut part);
                    assert_eq!(
                        part,
                        decoded[first * size..][..len * size],
                        "{len} from {first} of size {size}"
                    );
                }
            }
        }
    }
}
