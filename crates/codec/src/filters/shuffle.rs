//! Shuffle (filter 2): all first bytes of the elements, then all second bytes, and so on. Its parameter is the size of an
//! element in bytes. Bytes that do not make a whole element stay behind at the end.
//!
//! Sizes 2, 4 and 8 are woven by fixed arrays of 16 bytes, which the compiler makes vector instructions of.

use ferrocdf_bytes::Result;

use crate::filter::{Codec, bad_params};

#[derive(Debug)]
pub struct Shuffle {
    size: usize,
}

impl Shuffle {
    pub fn new(params: &[u32]) -> Result<Shuffle> {
        match *params {
            [size] if size > 0 => Ok(Shuffle { size: size as usize }),
            _ => Err(bad_params(format!("the parameters {params:?} are not one size of an element"))),
        }
    }
}

impl Codec for Shuffle {
    fn plain_len(&self, stored: &[u8]) -> Result<Option<usize>> {
        Ok(Some(stored.len()))
    }

    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
        let Some(plain) = plain.get_mut(..stored.len()) else { return Ok(None) };
        unshuffle(self.size, stored, plain);
        Ok(Some(stored.len()))
    }

    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        stored.resize(plain.len(), 0);
        shuffle(self.size, plain, stored);
        Ok(Some(()))
    }

    fn most_decoded(&self, stored: usize) -> usize {
        stored
    }

    fn encoded_len(&self, plain: usize) -> Option<usize> {
        Some(plain)
    }
}

/// Puts the bytes of elements together. Both slices have the same length.
pub fn unshuffle(size: usize, stored: &[u8], plain: &mut [u8]) {
    let count = stored.len() / size;
    let (planes, rest) = stored.split_at(count * size);
    let (elements, end) = plain.split_at_mut(count * size);
    end.copy_from_slice(rest);
    match size {
        _ if count < 2 || size == 1 => elements.copy_from_slice(planes),
        2 => gather::<2>(planes, elements),
        4 => gather::<4>(planes, elements),
        8 => gather::<8>(planes, elements),
        _ => gather_any(size, planes, elements),
    }
}

/// Takes the bytes of elements apart. Both slices have the same length.
pub fn shuffle(size: usize, plain: &[u8], stored: &mut [u8]) {
    let count = plain.len() / size;
    let (elements, rest) = plain.split_at(count * size);
    let (planes, end) = stored.split_at_mut(count * size);
    end.copy_from_slice(rest);
    match size {
        _ if count < 2 || size == 1 => planes.copy_from_slice(elements),
        2 => scatter::<2>(elements, planes),
        4 => scatter::<4>(elements, planes),
        8 => scatter::<8>(elements, planes),
        _ => scatter_any(size, elements, planes),
    }
}

fn gather<const SIZE: usize>(planes: &[u8], elements: &mut [u8]) {
    let count = planes.len() / SIZE;
    let plane: [&[u8]; SIZE] = std::array::from_fn(|at| &planes[at * count..][..count]);
    let (elements, _) = elements.as_chunks_mut::<SIZE>();
    for (at, element) in elements.iter_mut().enumerate() {
        *element = std::array::from_fn(|of| plane[of][at]);
    }
}

fn scatter<const SIZE: usize>(elements: &[u8], planes: &mut [u8]) {
    let (elements, _) = elements.as_chunks::<SIZE>();
    for (of, plane) in planes.chunks_exact_mut(elements.len()).enumerate() {
        for (byte, element) in plane.iter_mut().zip(elements) {
            *byte = element[of];
        }
    }
}

/// Elements that stay in the first cache while their planes are walked through.
fn run(size: usize) -> usize {
    (8192 / size).max(16)
}

fn gather_any(size: usize, planes: &[u8], elements: &mut [u8]) {
    let count = planes.len() / size;
    let run = run(size);
    for (block, elements) in elements.chunks_mut(run * size).enumerate() {
        for (of, plane) in planes.chunks_exact(count).enumerate() {
            let bytes = &plane[block * run..];
            for (element, &byte) in elements.chunks_exact_mut(size).zip(bytes) {
                element[of] = byte;
            }
        }
    }
}

fn scatter_any(size: usize, elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / size;
    let run = run(size);
    for (block, elements) in elements.chunks(run * size).enumerate() {
        for (of, plane) in planes.chunks_exact_mut(count).enumerate() {
            let bytes = &mut plane[block * run..];
            for (byte, element) in bytes.iter_mut().zip(elements.chunks_exact(size)) {
                *byte = element[of];
            }
        }
    }
}
