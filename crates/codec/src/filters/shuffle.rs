//! Shuffle (filter 2): all first bytes of the elements, then all second bytes, and so on. Its parameter is the size of an
//! element in bytes. Bytes that do not make a whole element stay behind at the end.
//!
//! For sizes 2, 4, 8 and 16, two planes at a time are woven into one, which is a loop that the compiler makes vector
//! instructions of, in blocks that stay in the first cache.

use ferrocdf_bytes::Result;

use crate::filter::{Codec, bad_params, boxed};
use crate::json::Spelling;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: 2,
    names: &["shuffle"],
    make: |params| Shuffle::new(params).map(boxed),
    learn: Some(|params, size, _| *params = vec![size]),
    json: Some(Spelling {
        id: "shuffle",
        write: |params| match *params {
            [size, ..] if size > 0 => Ok(vec![("elementsize", size.into())]),
            _ => Err(bad_params("shuffle does not know the size of elements")),
        },
        // NetCDF-C writes zero for "as the type has it".
        read: |json| match json.number("elementsize", 4, 0..=u32::MAX.into())? {
            0 => Ok(vec![]),
            size => Ok(vec![size as u32]),
        },
    }),
};

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

    fn planes_of(&self) -> Option<usize> {
        Some(self.size)
    }
}

/// Puts the bytes of some elements together, from the element `first` on, out of the planes of all; both slices hold
/// whole elements of `size` bytes.
///
/// # Panics
/// If there are not so many elements.
pub fn unshuffle_part(size: usize, planes: &[u8], first: usize, elements: &mut [u8]) {
    match size {
        1 => elements.copy_from_slice(&planes[first..][..elements.len()]),
        2 | 4 | 8 | 16 if elements.len() >= FEW * size => gather_from(size, planes, first, elements),
        _ => {
            let count = planes.len() / size;
            for (of, plane) in planes.chunks_exact(count.max(1)).take(size).enumerate() {
                let bytes = &plane[first..][..elements.len() / size];
                for (element, &byte) in elements.chunks_exact_mut(size).zip(bytes) {
                    element[of] = byte;
                }
            }
        }
    }
}

/// Fewer elements are put together byte by byte.
const FEW: usize = 16;

/// Puts the bytes of elements together. Both slices have the same length.
pub fn unshuffle(size: usize, stored: &[u8], plain: &mut [u8]) {
    let count = stored.len() / size;
    let (planes, rest) = stored.split_at(count * size);
    let (elements, end) = plain.split_at_mut(count * size);
    end.copy_from_slice(rest);
    match size {
        _ if count < 2 || size == 1 => elements.copy_from_slice(planes),
        2 | 4 | 8 | 16 => gather(size, planes, elements),
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
        2 | 4 | 8 | 16 => scatter(size, elements, planes),
        _ => scatter_any(size, elements, planes),
    }
}

/// Bytes that are woven at a time: a buffer for each turn but the last stays in the first cache.
const WOVEN: usize = 4096;

/// Puts the bytes of elements together that come in whole planes: `size` is 2, 4, 8 or 16.
///
/// Plane `i` is woven with plane `i + size / 2`, byte by byte, then the same is done with the half as many planes twice as
/// long that this makes, until there is one.
pub fn gather(size: usize, planes: &[u8], elements: &mut [u8]) {
    gather_from(size, planes, 0, elements);
}

/// [`gather`] of some elements, from the element `first` on.
fn gather_from(size: usize, planes: &[u8], first: usize, elements: &mut [u8]) {
    let count = planes.len() / size;
    let (mut now, mut next) = ([0; WOVEN], [0; WOVEN]);
    for (block, to) in elements.chunks_mut(WOVEN).enumerate() {
        let (start, run) = (first + block * (WOVEN / size), to.len() / size);
        let plane = |at: usize| &planes[at * count + start..][..run];
        if size == 2 {
            weave(plane(0), plane(1), to);
            continue;
        }
        let half = size / 2;
        for (at, out) in now.chunks_mut(2 * run).take(half).enumerate() {
            weave(plane(at), plane(at + half), out);
        }
        let (mut left, mut len) = (half, 2 * run);
        while left > 2 {
            left /= 2;
            let (low, high) = now.split_at(left * len);
            for (at, out) in next.chunks_mut(2 * len).take(left).enumerate() {
                weave(&low[at * len..][..len], &high[at * len..][..len], out);
            }
            len *= 2;
            std::mem::swap(&mut now, &mut next);
        }
        weave(&now[..len], &now[len..2 * len], to);
    }
}

/// Takes the bytes of elements apart into whole planes: the turns of [`gather`] backwards.
pub fn scatter(size: usize, elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / size;
    let (mut now, mut next) = ([0; WOVEN], [0; WOVEN]);
    for (block, from) in elements.chunks(WOVEN).enumerate() {
        let (start, run) = (block * (WOVEN / size), from.len() / size);
        let (mut left, mut len) = (1, from.len());
        now[..len].copy_from_slice(from);
        while left < size / 2 {
            let (low, high) = next.split_at_mut(left * len / 2);
            for (at, both) in now.chunks(len).take(left).enumerate() {
                unweave(both, &mut low[at * len / 2..][..len / 2], &mut high[at * len / 2..][..len / 2]);
            }
            (left, len) = (left * 2, len / 2);
            std::mem::swap(&mut now, &mut next);
        }
        let (low, high) = planes.split_at_mut(left * count);
        for (at, both) in now.chunks(len).take(left).enumerate() {
            unweave(both, &mut low[at * count + start..][..run], &mut high[at * count + start..][..run]);
        }
    }
}

/// A byte of `a`, a byte of `b`, and so on.
#[inline(never)]
fn weave(a: &[u8], b: &[u8], both: &mut [u8]) {
    for ((pair, &a), &b) in both.as_chunks_mut::<2>().0.iter_mut().zip(a).zip(b) {
        *pair = [a, b];
    }
}

#[inline(never)]
fn unweave(both: &[u8], a: &mut [u8], b: &mut [u8]) {
    // Two loops over halves of words are vectors; one loop over pairs is not.
    let pairs = both.as_chunks::<2>().0;
    for (&pair, a) in pairs.iter().zip(a) {
        *a = u16::from_le_bytes(pair) as u8;
    }
    for (&pair, b) in pairs.iter().zip(b) {
        *b = (u16::from_le_bytes(pair) >> 8) as u8;
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
