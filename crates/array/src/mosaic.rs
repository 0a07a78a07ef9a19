//! Arrays made of parts of other arrays.
//!
//! Memory is filled with the fill value first; then each part that the request meets is read over it, straight from its
//! source into place. A number that is out of range of memory's type, and would leave memory as it is, so leaves the fill
//! value.

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, MemoryBlob};
use smallvec::SmallVec;

use crate::convert::Conversion;
use crate::{Array, Blocks, Coverage, Fit, Kind, Out, Selection, blocks};

/// An array made of parts of other arrays: an HDF5 virtual dataset.
#[derive(Clone, Debug)]
pub struct Mosaic {
    /// The parts. Where two overlap, the later one is seen.
    pub parts: Arc<[Part]>,
    /// The bytes of one element, as this array has it, that is in no part; zeros if it is empty.
    pub fill: Arc<[u8]>,
}

/// A part of a mosaic.
#[derive(Clone, Debug)]
pub struct Part {
    /// The elements of the mosaic that it gives.
    pub here: Selection,
    /// The elements of the source that it takes: as many, in the same order. Dimensions of count 1 aside, the counts are
    /// the same as those of `here`, so that a piece of one is a piece of the other.
    pub there: Selection,
    /// Where they are taken from.
    pub source: Arc<dyn Source>,
}

/// An array that a mosaic takes parts of.
pub trait Source: Debug + Send + Sync {
    /// Opens it; called when a part of it is first needed, and again each time, so it should remember. `None` says that it
    /// is not there: its elements are fill values. Elements of `there` outside its shape are fill values too.
    fn open(&self) -> Result<Option<Opened>>;
}

/// An array, and the bytes that it lies in.
pub type Opened = (Arc<dyn Blob>, Arc<Array>);

/// Reads the selected elements, at least one, into dense memory of `size` bytes an element.
pub(crate) fn read(
    array: &Array,
    mosaic: &Mosaic,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let background = Blocks::nowhere(&array.shape, &mosaic.fill);
    let filled = blocks::read(&MemoryBlob::default(), array, &background, sel, conversion, size, out)?;
    let (mut fits, mut covered) = (true, 0);
    for part in mosaic.parts.iter() {
        let Some(overlap) = Overlap::of(sel, part)? else { continue };
        let Some((blob, source)) = part.source.open()? else { continue };
        if let Some(overlap) = overlap.within(&source.shape)? {
            covered += overlap.there.elements().unwrap_or(u64::MAX) as usize;
            fits &= overlap.read(&*blob, &source, conversion, out)? == Fit::Exact;
        }
    }
    // A fill value that does not fit counts only where it is seen. Parts seldom overlap.
    Ok(fits && (filled || covered >= out.len() / size))
}

/// The most parts that are looked at for what is stored: callers ask for each chunk of a copy.
const FEW: usize = 16;

/// Returns how much of a selection is stored in the sources; see [`coverage`](crate::coverage). Many parts count as stored.
pub(crate) fn coverage(mosaic: &Mosaic, sel: &Selection, value: (Kind, &[u8])) -> Result<Coverage> {
    if mosaic.parts.len() > FEW {
        return Ok(Coverage::Whole);
    }
    for part in mosaic.parts.iter() {
        let Some(overlap) = Overlap::of(sel, part)? else { continue };
        let Some((_, source)) = part.source.open()? else { continue };
        if let Some(overlap) = overlap.within(&source.shape)?
            && crate::coverage(&source, &overlap.there, value)? != Coverage::Nothing
        {
            return Ok(Coverage::Part);
        }
    }
    Ok(Coverage::Nothing)
}

/// The elements that a request and a part have in common.
struct Overlap {
    /// Where they are in the source.
    there: Selection,
    /// The first of them in the dense result, and for each dimension of the source the elements from one to the next.
    origin: usize,
    steps: SmallVec<[isize; 4]>,
}

/// Indices that two rows of equal steps have in common: the first one and the step in each, and how many.
struct Common {
    first: (u64, u64),
    step: (u64, u64),
    count: u64,
}

/// What `a + i * a_step`, `i < a_count`, and `b + j * b_step`, `j < b_count`, have in common; the first and step of `i`
/// and of `j`.
fn common((a, a_step, a_count): (u64, u64, u64), (b, b_step, b_count): (u64, u64, u64)) -> Option<Common> {
    let [a, a_step, b, b_step] = [a, a_step, b, b_step].map(i128::from);
    let (gcd, inverse) = gcd(a_step, b_step);
    if (b - a) % gcd != 0 {
        return None;
    }
    let (i_step, j_step) = (b_step / gcd, a_step / gcd);
    // The first common index of the endless rows, then the first that is in `b`.
    let mut i = product((b - a) / gcd, inverse, i_step);
    if a + i * a_step < b {
        let missing = b - a - i * a_step;
        i += (missing + i_step * a_step - 1) / (i_step * a_step) * i_step;
    }
    let j = (a + i * a_step - b) / b_step;
    let (i_left, j_left) = (i128::from(a_count) - 1 - i, i128::from(b_count) - 1 - j);
    if i_left < 0 || j_left < 0 {
        return None;
    }
    // All are at most the counts, which are of 64 bits.
    let count = (i_left / i_step).min(j_left / j_step) + 1;
    Some(Common { first: (i as u64, j as u64), step: (i_step as u64, j_step as u64), count: count as u64 })
}

/// `a` times `b` modulo `m`, all below 2^66 or so: their product may not be.
fn product(a: i128, b: i128, m: i128) -> i128 {
    let (mut a, mut b) = (a.rem_euclid(m), b.rem_euclid(m));
    if let Some(product) = a.checked_mul(b) {
        return product % m;
    }
    let mut sum = 0;
    while b > 0 {
        if b & 1 == 1 {
            sum = (sum + a) % m;
        }
        (a, b) = (a * 2 % m, b >> 1);
    }
    sum
}

/// The greatest common divisor of `a` and `b`, and the factor of `a` that makes it, up to multiples of `b`.
fn gcd(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let whole = old.0 / new.0;
        (old, new) = (new, (old.0 - whole * new.0, old.1 - whole * new.1));
    }
    old
}

impl Overlap {
    fn of(sel: &Selection, part: &Part) -> Result<Option<Overlap>> {
        let rank = sel.count.len();
        let wide =
            |count: &[u64]| (0..count.len()).filter(|&dim| count[dim] != 1).collect::<SmallVec<[usize; 4]>>();
        let (here, there) = (wide(&part.here.count), wide(&part.there.count));
        let agree = part.here.count.len() == rank
            && here.len() == there.len()
            && here
                .iter()
                .zip(&there)
                .all(|(&here, &there)| part.here.count[here] == part.there.count[there]);
        if !agree {
            let what = format!("a part of counts {:?} of a source's {:?}", part.here.count, part.there.count);
            return Err(Error::new(Code::EINVAL, what));
        }
        let mut overlap = Overlap {
            there: part.there.clone(),
            origin: 0,
            steps: SmallVec::from_elem(0, part.there.count.len()),
        };
        let mut dense = 1usize;
        for dim in (0..rank).rev() {
            let wanted = (sel.start[dim], sel.stride[dim], sel.count[dim]);
            let held = (part.here.start[dim], part.here.stride[dim], part.here.count[dim]);
            if held.2 == 0 {
                return Ok(None);
            }
            let Some(common) = common(wanted, held) else { return Ok(None) };
            overlap.origin += common.first.0 as usize * dense;
            if let Some(at) = here.iter().position(|&here| here == dim) {
                let to = there[at];
                let stride = part.there.stride[to];
                let far = || Error::new(Code::EINVAL, "a part of a source beyond index 2^64");
                overlap.there.start[to] = common
                    .first
                    .1
                    .checked_mul(stride)
                    .and_then(|first| first.checked_add(part.there.start[to]))
                    .ok_or_else(far)?;
                overlap.there.stride[to] = stride.saturating_mul(common.step.1);
                overlap.there.count[to] = common.count;
                overlap.steps[to] = (common.step.0 as usize).saturating_mul(dense) as isize;
            }
            dense *= sel.count[dim] as usize;
        }
        Ok(Some(overlap))
    }

    /// What of it is in a source of this shape, which may be smaller than the part says.
    fn within(mut self, shape: &[u64]) -> Result<Option<Overlap>> {
        if shape.len() != self.there.count.len() {
            let what =
                format!("a source of {} dimensions where {} are taken", shape.len(), self.there.count.len());
            return Err(Error::new(Code::EINVAL, what));
        }
        for (dim, &len) in shape.iter().enumerate() {
            let Some(after) = len.checked_sub(self.there.start[dim]).filter(|&after| after > 0) else {
                return Ok(None);
            };
            let fit = (after - 1) / self.there.stride[dim].max(1) + 1;
            self.there.count[dim] = self.there.count[dim].min(fit);
        }
        Ok(Some(self))
    }

    fn read(&self, blob: &dyn Blob, source: &Array, conversion: Conversion, out: &mut [u8]) -> Result<Fit> {
        let kind = conversion.to().kind;
        let counts = self.there.count.iter().zip(&self.steps);
        let reach: usize = counts.map(|(&count, &step)| (count as usize - 1) * step as usize).sum();
        let size = kind.size();
        // The map may then turn out to be dense, which is the fast way.
        let memory = &mut out[self.origin * size..(self.origin + reach + 1) * size];
        let memory = Out { rules: conversion.direction(), ..Out::raw(kind, memory) };
        crate::read(blob, source, &self.there, memory.mapped(0, &self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_beyond_128_bits() {
        let m = (1 << 64) - 59;
        assert_eq!(product(m - 1, m - 1, m), 1);
        assert_eq!(product(-3, 5, 7), 6);
        let wide = (1i128 << 65) - 1;
        assert_eq!(product(wide - 2, wide - 3, wide), 6);
    }

    #[test]
    fn rows_meet_where_they_do() {
        for case in 0..20_000u64 {
            let pick = |shift: u32, below: u64| (case.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) % below;
            let a = (pick(3, 20), 1 + pick(9, 7), 1 + pick(15, 12));
            let b = (pick(21, 20), 1 + pick(27, 7), 1 + pick(33, 12));
            let row = |(start, step, count): (u64, u64, u64)| (0..count).map(move |n| start + n * step);
            let wanted: Vec<u64> = row(a).filter(|x| row(b).any(|y| y == *x)).collect();
            let found: Vec<u64> = common(a, b).map_or(vec![], |common| {
                let at = |n: u64| a.0 + (common.first.0 + n * common.step.0) * a.1;
                let other = |n: u64| b.0 + (common.first.1 + n * common.step.1) * b.1;
                (0..common.count).inspect(|&n| assert_eq!(at(n), other(n))).map(at).collect()
            });
            assert_eq!(found, wanted, "{a:?} {b:?}");
        }
    }
}
