//! Regions of whole chunks: two workers never write to one chunk.

use ferrocdf_array::Selection;
use ferrocdf_bytes::{Code, Error, Result};

/// Checks that a region, which lies within `shape`, takes whole chunks. A chunk at the upper edge is whole if the region takes all of
/// its elements within the shape. `name` returns the name of a dimension.
///
/// # Errors
/// `NC_EINVAL` for a region that cuts a chunk, and for one with steps.
pub(super) fn check(
    region: &Selection,
    shape: &[u64],
    chunk: &[u64],
    name: impl Fn(usize) -> String,
) -> Result<()> {
    for (dim, (&len, &chunk)) in shape.iter().zip(chunk).enumerate() {
        let (start, count) = (region.start[dim], region.count[dim]);
        if region.stride[dim] != 1 && count > 1 {
            let what =
                format!("dimension {}: the region has the step {}, and not 1", name(dim), region.stride[dim]);
            return Err(Error::new(Code::EINVAL, what));
        }
        // Within the shape.
        let end = start + count;
        let cut = [start, end].into_iter().find(|&at| !at.is_multiple_of(chunk) && at != len);
        let Some(cut) = cut else { continue };
        let number = cut / chunk;
        let (first, last) = (number * chunk, len.min((number + 1).saturating_mul(chunk)));
        let what = format!(
            "dimension {}: the region from {start} to {end} cuts chunk {number}, which has the elements from {first} to {last}; rechunk the data so that each region has whole chunks",
            name(dim)
        );
        return Err(Error::new(Code::EINVAL, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_of_whole_chunks_is_accepted_and_one_that_cuts_a_chunk_is_named() {
        let check = |start: &[u64], count: &[u64]| {
            let region = Selection::slab(start, count);
            check(&region, &[25, 8], &[10, 4], |dim| format!("d{dim}"))
                .map_err(|error| error.what.to_string())
        };
        for (start, count) in [([0, 0], [25, 8]), ([10, 4], [10, 4]), ([20, 0], [5, 4]), ([0, 4], [20, 4])] {
            check(&start, &count).unwrap();
        }
        let cut = |start, count| check(start, count).unwrap_err();
        let error = cut(&[0, 0], &[24, 8]);
        assert!(error.starts_with("dimension d0: the region from 0 to 24 cuts chunk 2, which has the elements from 20 to 25; rechunk"));
        assert!(cut(&[5, 0], &[5, 4]).contains("cuts chunk 0, which has the elements from 0 to 10"));
        assert!(cut(&[0, 2], &[10, 6]).starts_with("dimension d1: the region from 2 to 8 cuts chunk 0"));
        let steps = Selection::strided(&[0, 0], &[5, 8], &[2, 1]);
        assert!(super::check(&steps, &[25, 8], &[10, 4], |_| String::new()).is_err());
    }
}
