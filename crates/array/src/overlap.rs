//! The elements that a selection and a mapping of a virtual layout have in common.

use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use smallvec::SmallVec;

use crate::{Kind, Selection, SourceMapping};

/// The elements that a selection and a mapping have in common.
pub(crate) struct Overlap {
    /// The elements of the source.
    pub(crate) source_selection: Selection,
    /// Index of the first element in the dense result.
    origin: usize,
    /// The stride of the dense result for each dimension of the source.
    pub(crate) strides: SmallVec<[isize; 4]>,
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
    /// None if no element is in both.
    pub(crate) fn of(sel: &Selection, mapping: &SourceMapping) -> Result<Option<Overlap>> {
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
            overlap.origin += common.first.0.saturate() * dense;
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
                overlap.strides[to] = common.step.0.saturate().saturating_mul(dense) as isize;
            }
            dense *= sel.count[dim].saturate();
        }
        Ok(Some(overlap))
    }

    /// Returns the part of the overlap within a source of this shape, which may be smaller than the mapping says.
    pub(crate) fn within(mut self, shape: &[u64]) -> Result<Option<Overlap>> {
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

    /// Returns the bytes of the dense elements between the first and the last one.
    pub(crate) fn memory(&self, kind: Kind) -> Range<usize> {
        let counts = self.source_selection.count.iter().zip(&self.strides);
        let reach: usize = counts.map(|(&count, &step)| (count.saturate() - 1) * step as usize).sum();
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
