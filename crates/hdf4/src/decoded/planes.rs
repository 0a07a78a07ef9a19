//! Elements whose bytes szip codes in planes: byte 0 of all numbers, then byte 1 of all, and so on.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_codec::unshuffle_part;
use ferrocdf_store::{Blob, forward};

use super::Decoded;
use crate::lazy::Lazy;

/// Bytes that are put together at once, a multiple of all numbers of planes.
const PART: usize = 256 << 10;

/// The numbers, put together from their planes. Each plane has a decoder of its own.
pub struct Elements {
    inner: Decoded,
    planes: Lazy<usize>,
}

impl Elements {
    pub fn new(inner: Decoded) -> Elements {
        Elements { inner, planes: Lazy::default() }
    }

    /// Reads whole numbers from number `first` on, of `size` bytes, each in another plane.
    fn read_numbers(&self, first: u64, size: usize, into: &mut [u8]) -> Result<()> {
        let count = into.len().checked_div(size).unwrap_or(0);
        let plane_len = self.inner.decoding.len.checked_div(size as u64).unwrap_or(0);
        let mut planes = vec![0; into.len()];
        for (number, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
            let at = plane_len.saturating_mul(number as u64).saturating_add(first);
            self.inner.read_exact_at(at, plane)?;
        }
        unshuffle_part(size, &planes, 0, into);
        Ok(())
    }

    /// Reads bytes of whole numbers, some of which may be cut at the ends.
    fn read_part(&self, at: u64, size: usize, into: &mut [u8]) -> Result<()> {
        let (first, skip) = split(at, size);
        let wanted = skip.saturating_add(into.len()).next_multiple_of(size);
        let mut numbers = vec![0; wanted];
        self.read_numbers(first, size, &mut numbers)?;
        into.copy_from_slice(&numbers[skip..][..into.len()]);
        Ok(())
    }
}

/// Returns the number in which a byte lies, and the bytes of the number before it.
fn split(at: u64, size: usize) -> (u64, usize) {
    let size = size.max(1) as u64;
    (at.checked_div(size).unwrap_or(0), at.checked_rem(size).unwrap_or(0).saturate())
}

impl Blob for Elements {
    forward!([.inner] size name cost forget);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let size = *self.planes.get(|| self.inner.planes())?;
        if size <= 1 {
            return self.inner.read_at(at, into);
        }
        let len = self.inner.decoding.len.saturating_sub(at).at_most(into.len());
        // Bytes behind the last whole number are in no plane.
        let whole = self
            .inner
            .decoding
            .len
            .saturating_sub(self.inner.decoding.len.checked_rem(size as u64).unwrap_or(0));
        let in_planes = whole.saturating_sub(at).at_most(len);
        let (numbers, end) = into[..len].split_at_mut(in_planes);
        let mut position = at;
        for part in numbers.chunks_mut(PART) {
            self.read_part(position, size, part)?;
            position = position.saturating_add(part.len() as u64);
        }
        self.inner.read_exact_at(position, end)?;
        Ok(len)
    }
}
