//! Virtual layouts: arrays whose elements are selections of other arrays.
//!
//! Memory is filled with the fill value first; then the selected elements of each source are read over it, straight from the
//! source into their destination. Where a number is out of range and the rules keep the old value, that is the fill value.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut, MemoryBlob};
use smallvec::SmallVec;

use crate::convert::Conversion;
use crate::{Array, Chunks, Coverage, In, Kind, Out, RangeCheck, Selection, chunks};

/// The layout of an HDF5 virtual dataset (specification, IV.A.2.i, "Virtual Storage Layout").
#[derive(Clone, Debug)]
pub struct VirtualLayout {
    /// The mappings. Where two overlap, elements come from the later one.
    pub mappings: Arc<[SourceMapping]>,
    /// The bytes of an element in no mapping, in the element type of the array; zeros if empty.
    pub fill: Arc<[u8]>,
}

/// A selection of a source, and where it appears in a virtual layout.
#[derive(Clone, Debug)]
pub struct SourceMapping {
    /// The elements of the virtual array.
    pub virtual_selection: Selection,
    /// The elements of the source: as many, in the same order. Dimensions of count 1 aside, both selections have the same
    /// counts, so that a box of one is a box of the other.
    pub source_selection: Selection,
    /// The source.
    pub source: Arc<dyn VirtualSource>,
}

/// A source of a virtual layout.
pub trait VirtualSource: Debug + Send + Sync {
    /// Opens the source. Each read that needs it calls this, so implementations keep the opened source. `None` if the source
    /// does not exist: its elements have the fill value, as elements outside the shape of a source do.
    fn open(&self) -> Result<Option<OpenSource>>;

    /// Returns the array of the source if it is written through the virtual layout, with the blob that is given to
    /// [`write()`](crate::write). The mappings then cover the virtual array.
    fn writable(&self) -> Option<&Array> {
        None
    }
}

/// The blob and the array of a source.
pub type OpenSource = (Arc<dyn Blob>, Arc<Array>);

/// Reads the selected elements, at least one, into dense memory of `size` bytes an element.
pub(crate) fn read(
    array: &Array,
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let background = Chunks::missing(&array.shape, &virtual_layout.fill);
    let filled = chunks::read(&MemoryBlob::default(), array, &background, sel, conversion, size, out)?;
    let (mut in_range, mut covered) = (true, 0);
    for mapping in virtual_layout.mappings.iter() {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        let Some((blob, source)) = mapping.source.open()? else { continue };
        if let Some(overlap) = overlap.within(&source.shape)? {
            covered += overlap.source_selection.elements().unwrap_or(u64::MAX) as usize;
            in_range &= overlap.read(&*blob, &source, conversion, out)? == RangeCheck::InRange;
        }
    }
    // A fill value out of range counts only where it is visible. Mappings seldom overlap.
    Ok(in_range && (filled || covered >= out.len() / size))
}

/// Writes dense elements to the selected ones, at least one. True if all numbers were in range.
///
/// # Errors
/// `NC_EPERM` for sources that are only read, and those of [`write()`](crate::write).
pub(crate) fn write(
    blob: &dyn BlobMut,
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    input: In<'_>,
) -> Result<bool> {
    let mappings = &virtual_layout.mappings;
    let sources: Option<Vec<&Array>> = mappings.iter().map(|mapping| mapping.source.writable()).collect();
    let Some(sources) = sources.filter(|sources| !sources.is_empty()) else {
        let what = "array is read-only: its elements are selections of other arrays";
        return Err(Error::new(Code::EPERM, what));
    };
    let (mut overlaps, mut covered) = (vec![], 0u64);
    for (mapping, source) in mappings.iter().zip(sources) {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        covered = covered.saturating_add(overlap.source_selection.elements().unwrap_or(u64::MAX));
        overlaps.push((overlap, source));
    }
    if Some(covered) != sel.elements() {
        let what = "elements that are in no source cannot be written: the array does not grow";
        return Err(Error::new(Code::EPERM, what));
    }
    let mut in_range = true;
    for (overlap, source) in overlaps {
        in_range &= overlap.write(blob, source, input)? == RangeCheck::InRange;
    }
    Ok(in_range)
}

/// Stores the pending chunks of all sources; see [`flush`](crate::flush).
pub(crate) fn flush(blob: &dyn BlobMut, virtual_layout: &VirtualLayout) -> Result<()> {
    let sources = virtual_layout.mappings.iter().filter_map(|mapping| mapping.source.writable());
    // One source with a refused chunk keeps no other from being stored.
    let mut done = Ok(());
    for source in sources {
        done = done.and(crate::flush(blob, source));
    }
    done
}

/// Maximum number of mappings whose sources are asked for their coverage: a copy asks for each chunk.
const FEW: usize = 16;

/// Returns how much of a selection is stored in the sources; see [`coverage`](crate::coverage). More mappings count as stored.
pub(crate) fn coverage(
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    value: (Kind, &[u8]),
) -> Result<Coverage> {
    if virtual_layout.mappings.len() > FEW {
        return Ok(Coverage::Whole);
    }
    let mut all = Coverage::Nothing;
    for mapping in virtual_layout.mappings.iter() {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        let Some((_, source)) = mapping.source.open()? else { continue };
        let Some(overlap) = overlap.within(&source.shape)? else { continue };
        let covers_all = overlap.source_selection.elements() == sel.elements();
        match crate::coverage(&source, &overlap.source_selection, value)? {
            Coverage::Whole if covers_all => return Ok(Coverage::Whole),
            Coverage::Whole | Coverage::Part => all = Coverage::Part,
            Coverage::Nothing => {}
        }
    }
    Ok(all)
}

/// The elements that a selection and a mapping have in common.
struct Overlap {
    /// The elements of the source.
    source_selection: Selection,
    /// Index of the first element in the dense result, and the stride of the result for each dimension of the source.
    origin: usize,
    strides: SmallVec<[isize; 4]>,
}

/// Indices that two arithmetic progressions have in common: the first one and the step in each, and their number.
struct Common {
    first: (u64, u64),
    step: (u64, u64),
    count: u64,
}

/// Returns the common elements of `a + i * a_step`, `i < a_count`, and `b + j * b_step`, `j < b_count`: first and step of
/// `i` and of `j`.
fn common((a, a_step, a_count): (u64, u64, u64), (b, b_step, b_count): (u64, u64, u64)) -> Option<Common> {
    let [a, a_step, b, b_step] = [a, a_step, b, b_step].map(i128::from);
    let (gcd, inverse) = gcd(a_step, b_step);
    if (b - a) % gcd != 0 {
        return None;
    }
    let (i_step, j_step) = (b_step / gcd, a_step / gcd);
    // The first common element of the unbounded progressions, then the first that is not before `b`.
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

/// Returns `a * b` modulo `m`. Each of the three has up to about 66 bits, so the product may not fit in an `i128`.
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

/// Returns the greatest common divisor `g` of `a` and `b`, and a number `x` with `a * x = g` modulo `b`.
fn gcd(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let whole = old.0 / new.0;
        (old, new) = (new, (old.0 - whole * new.0, old.1 - whole * new.1));
    }
    old
}

impl Overlap {
    fn of(sel: &Selection, mapping: &SourceMapping) -> Result<Option<Overlap>> {
        let rank = sel.count.len();
        let wide =
            |count: &[u64]| (0..count.len()).filter(|&dim| count[dim] != 1).collect::<SmallVec<[usize; 4]>>();
        let (here, there) = (wide(&mapping.virtual_selection.count), wide(&mapping.source_selection.count));
        let agree = mapping.virtual_selection.count.len() == rank
            && here.len() == there.len()
            && here.iter().zip(&there).all(|(&here, &there)| {
                mapping.virtual_selection.count[here] == mapping.source_selection.count[there]
            });
        if !agree {
            let what = format!(
                "virtual layout: counts {:?} do not go with {:?} of the source",
                mapping.virtual_selection.count, mapping.source_selection.count
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        let mut overlap = Overlap {
            source_selection: mapping.source_selection.clone(),
            origin: 0,
            strides: SmallVec::from_elem(0, mapping.source_selection.count.len()),
        };
        let mut dense = 1usize;
        for dim in (0..rank).rev() {
            let wanted = (sel.start[dim], sel.stride[dim], sel.count[dim]);
            let mapped = (
                mapping.virtual_selection.start[dim],
                mapping.virtual_selection.stride[dim],
                mapping.virtual_selection.count[dim],
            );
            if mapped.2 == 0 {
                return Ok(None);
            }
            let Some(common) = common(wanted, mapped) else { return Ok(None) };
            overlap.origin += common.first.0 as usize * dense;
            if let Some(at) = here.iter().position(|&here| here == dim) {
                let to = there[at];
                let stride = mapping.source_selection.stride[to];
                let far = || Error::new(Code::EINVAL, "virtual layout: a source selection beyond index 2^64");
                overlap.source_selection.start[to] = common
                    .first
                    .1
                    .checked_mul(stride)
                    .and_then(|first| first.checked_add(mapping.source_selection.start[to]))
                    .ok_or_else(far)?;
                overlap.source_selection.stride[to] = stride.saturating_mul(common.step.1);
                overlap.source_selection.count[to] = common.count;
                overlap.strides[to] = (common.step.0 as usize).saturating_mul(dense) as isize;
            }
            dense *= sel.count[dim] as usize;
        }
        Ok(Some(overlap))
    }

    /// Returns the part of the overlap within a source of this shape, which may be smaller than the mapping says.
    fn within(mut self, shape: &[u64]) -> Result<Option<Overlap>> {
        if shape.len() != self.source_selection.count.len() {
            let what = format!(
                "virtual layout: the source has {} dimensions, its selection {}",
                shape.len(),
                self.source_selection.count.len()
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        for (dim, &len) in shape.iter().enumerate() {
            let Some(after) = len.checked_sub(self.source_selection.start[dim]).filter(|&after| after > 0)
            else {
                return Ok(None);
            };
            let fit = (after - 1) / self.source_selection.stride[dim].max(1) + 1;
            self.source_selection.count[dim] = self.source_selection.count[dim].min(fit);
        }
        Ok(Some(self))
    }

    fn read(
        &self,
        blob: &dyn Blob,
        source: &Array,
        conversion: Conversion,
        out: &mut [u8],
    ) -> Result<RangeCheck> {
        let kind = conversion.to().kind;
        // The map may then turn out to be dense, which is faster.
        let memory = &mut out[self.memory(kind)];
        let memory = Out { rules: conversion.direction(), ..Out::raw(kind, memory) };
        crate::read(blob, source, &self.source_selection, memory.mapped(0, &self.strides))
    }

    fn write(&self, blob: &dyn BlobMut, source: &Array, input: In<'_>) -> Result<RangeCheck> {
        let memory = In { bytes: &input.bytes[self.memory(input.kind)], ..input };
        crate::write(blob, source, &self.source_selection, memory.mapped(0, &self.strides))
    }

    /// Returns the bytes of the dense elements between the first and the last one.
    fn memory(&self, kind: Kind) -> Range<usize> {
        let counts = self.source_selection.count.iter().zip(&self.strides);
        let reach: usize = counts.map(|(&count, &step)| (count as usize - 1) * step as usize).sum();
        self.origin * kind.size()..(self.origin + reach + 1) * kind.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modular_products_beyond_128_bits_are_right() {
        let m = (1 << 64) - 59;
        assert_eq!(product(m - 1, m - 1, m), 1);
        assert_eq!(product(-3, 5, 7), 6);
        let wide = (1i128 << 65) - 1;
        assert_eq!(product(wide - 2, wide - 3, wide), 6);
    }

    #[test]
    fn common_indices_equal_those_found_by_search() {
        for case in 0..20_000u64 {
            let draw = |shift: u32, below: u64| (case.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) % below;
            let a = (draw(3, 20), 1 + draw(9, 7), 1 + draw(15, 12));
            let b = (draw(21, 20), 1 + draw(27, 7), 1 + draw(33, 12));
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
