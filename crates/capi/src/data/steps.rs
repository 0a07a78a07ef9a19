//! Distances of elements in memory.

use ferrocdf::{Code, Error, Result};

/// Distance between consecutive indexes of each dimension, in elements.
pub(crate) type Steps = smallvec::SmallVec<[isize; 4]>;

pub(crate) fn too_large() -> Error {
    Error::new(Code::EINVAL, "the request is larger than memory".to_string())
}

/// Returns the steps of dense memory, last dimension fastest.
pub(crate) fn dense_steps(count: &[u64]) -> Result<Steps> {
    let mut steps = Steps::from_elem(1, count.len());
    for dim in (1..count.len()).rev() {
        let step = isize::try_from(count[dim]).ok().and_then(|count| count.checked_mul(steps[dim]));
        match step {
            Some(step) => steps[dim - 1] = step,
            None => return Err(too_large()),
        }
    }
    Ok(steps)
}

/// Returns the lowest element of memory that a map addresses, relative to the first selected one, and the number of elements from
/// there to the highest. No count is 0.
pub(crate) fn span(count: &[u64], steps: &[isize]) -> Option<(isize, isize)> {
    let (mut low, mut high) = (0isize, 0isize);
    for (&count, &step) in count.iter().zip(steps) {
        let reach = isize::try_from(count - 1).ok()?.checked_mul(step)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    Some((low, high.checked_sub(low)?.checked_add(1)?))
}
