//! The short way: a few elements side by side, read on the caller's thread through memory on its stack.
//!
//! Programs that read a value or a short row at a time call often; for them planning would cost more than the data.

use crate::{Array, Layout, Selection};

/// The most bytes, as stored, that go the short way.
pub(crate) const SHORT: usize = 1 << 10;

/// The position of the first selected byte, if the selected elements are one short run. The selection was checked.
pub(crate) fn run_at(array: &Array, sel: &Selection, elements: u64) -> Option<(u64, usize)> {
    let Layout::Strided { begin, steps } = &array.layout else { return None };
    let size = array.stored.kind.size() as u64;
    if elements > SHORT as u64 / size || steps.len() != array.shape.len() {
        return None;
    }
    let (mut at, mut run) = (*begin, size);
    for dim in (0..steps.len()).rev() {
        let count = sel.count[dim];
        if count != 1 {
            if steps[dim].checked_mul(sel.stride[dim]) != Some(run) {
                return None;
            }
            run = run.checked_mul(count)?;
        }
        at = at.checked_add(sel.start[dim].checked_mul(steps[dim])?)?;
    }
    at.checked_add(run)?;
    Some((at, run as usize))
}
