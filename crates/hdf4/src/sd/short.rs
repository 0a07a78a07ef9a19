//! Data that is shorter than its dataset.
//!
//! libhdf4 reads the elements that are stored and refuses every request for others, so values are never invented, and a dataset of
//! gigabytes in a file of some bytes is an error. Records behind the dataset's own, which only other datasets have, are the fill value.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, ReadRequest, forward};

use super::{Data, Var};
use crate::pieces::PieceBlob;
use crate::tags;
use crate::wire::bad;

/// Numbers of bytes, decoded.
#[derive(Clone, Copy)]
pub(super) struct Lens {
    /// What the element has.
    pub stored: u64,
    /// What the dataset has by its own dimensions, without the records that it lacks.
    pub dataset: u64,
    /// What the array has.
    pub array: u64,
}

/// The bytes of data that is shorter than its dataset.
pub(super) struct ShortBlob {
    inner: PieceBlob,
    lens: Lens,
    /// Tag and reference number of the element.
    element: (u16, u16),
}

impl ShortBlob {
    /// `inner` has the bytes of the array of a variable.
    pub fn new(inner: PieceBlob, lens: Lens, var: &Var) -> ShortBlob {
        let element = match var.data {
            Data::Object(tag, reference) | Data::Raster((tag, reference), _) => (tag, reference),
            Data::Scale(reference, _) => (tags::SDS, reference),
            Data::Unwritten => Default::default(),
        };
        ShortBlob { inner, lens, element }
    }

    /// Checks that `len` bytes from position `at` on are stored, or behind the dataset's own.
    fn check(&self, at: u64, len: usize) -> Result<()> {
        let (end, Lens { stored, dataset, .. }) = (at.saturating_add(len as u64), self.lens);
        if end <= stored || at >= dataset {
            return Ok(());
        }
        let (tag, reference) = self.element;
        Err(bad(format!(
            "element {tag}/{reference}: bytes {at} to {end} cannot be read: only the first {stored} of the {dataset} bytes of the dataset are stored"
        )))
    }
}

impl Blob for ShortBlob {
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.check(at, into.len())?;
        self.inner.read_at(at, into)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        requests.iter().try_for_each(|request| self.check(request.at, request.into.len()))?;
        self.inner.read_many(requests)
    }

    forward!([.inner] size name cost forget);
}
