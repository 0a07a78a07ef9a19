//! The chunk shape of a variable whose maker asked for none: the same as the reference chooses for any shape
//! ("Improving Performance with Chunking", default chunking).
//!
//! The arithmetic is the reference's, single precision and cut-off fractions included, since other results would be other
//! files.

/// Bytes of a chunk at most, where one dimension at least is fixed.
const CHUNK: f64 = 16_777_216.0;
/// Bytes of a chunk of a variable on one unlimited dimension.
const LINE: u64 = 4096;
/// Bytes that no chunk exceeds.
const MOST: f64 = u32::MAX as f64;

/// The chunk shape of a variable with elements of `size` bytes in memory, on dimensions of these lengths now, of which some
/// grow. Sizes that are given as zero or missing are chosen, more sizes than there are dimensions do not count. If the
/// first is zero, what grows has its default size whatever is given.
pub fn complete_chunks(given: &[u64], dims: &[(u64, bool)], size: u64) -> Vec<u64> {
    let size = size.max(1);
    let rank = dims.len() as f64;
    let growing = dims.iter().filter(|(_, grows)| *grows).count();
    let values = dims.iter().filter(|(_, grows)| !grows).fold(1f32, |values, &(len, _)| values * len as f32);
    let given = given.iter().copied().chain(std::iter::repeat(0));
    let mut shape: Vec<u64> = dims.iter().zip(given).map(|(_, chunk)| chunk).collect();
    if shape.first().is_some_and(|&first| first > 0) {
        let part = (CHUNK / size as f64).powf(1.0 / (rank - growing as f64)) as u64;
        for (chunk, &(len, grows)) in shape.iter_mut().zip(dims).filter(|(chunk, _)| **chunk == 0) {
            *chunk = if grows { 1 } else { part.min(len).max(1) };
        }
        return shape;
    }
    shape.iter_mut().zip(dims).filter(|(_, (_, grows))| *grows).for_each(|(chunk, _)| *chunk = 1);
    if let ([_], 1) = (dims, growing) {
        shape[0] = ((CHUNK as u64 / size).clamp(1, LINE) / size).max(1);
    } else if growing == dims.len() {
        let len = (CHUNK / size as f64).powf(1.0 / rank) as u64;
        shape.fill(len.max(1));
    }
    for (chunk, &(len, _)) in shape.iter_mut().zip(dims).filter(|(chunk, _)| **chunk == 0) {
        let part = (CHUNK / f64::from(values * size as f32)).powf(1.0 / (rank - growing as f64));
        let wanted = (part * len as f64 - 0.5) as u64;
        *chunk = wanted.min(len).max(1);
    }
    while !fits(&shape, size) {
        shape.iter_mut().for_each(|chunk| *chunk = (*chunk / 2).max(1));
    }
    // The last chunk of a dimension must not be nearly empty.
    for (chunk, &(len, _)) in shape.iter_mut().zip(dims) {
        let count = len.div_ceil(*chunk);
        let beyond = count.saturating_mul(*chunk) - len;
        *chunk -= beyond.checked_div(count).unwrap_or(0);
    }
    shape
}

/// Whether a file can hold a chunk of this shape of elements of `size` bytes.
pub fn fits(shape: &[u64], size: u64) -> bool {
    shape.iter().fold(size as f64, |bytes, &chunk| bytes * chunk as f64) <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_chunks(dims: &[(u64, bool)], size: u64) -> Vec<u64> {
        complete_chunks(&[], dims, size)
    }

    /// As Debian's `ncgen -4` completes them.
    #[test]
    fn shapes_that_are_completed() {
        let (fixed, grows) = ((64, false), (0, true));
        for (given, dims, shape) in [
            (&[0, 8][..], [fixed, fixed], [64, 8]),
            (&[8, 0], [fixed, fixed], [8, 64]),
            (&[8], [fixed, fixed], [8, 64]),
            (&[0], [fixed, fixed], [64, 64]),
            (&[8, 8, 8], [fixed, fixed], [8, 8]),
            (&[0, 8], [grows, fixed], [1, 8]),
            (&[8, 0], [fixed, grows], [8, 1]),
            (&[0, 8], [fixed, grows], [64, 1]),
        ] {
            assert_eq!(complete_chunks(given, &dims, 4), shape, "{given:?} {dims:?}");
        }
        assert_eq!(complete_chunks(&[8, 0], &[(1 << 20, false); 2], 4), [8, 2048]);
    }

    /// As Debian's `ncgen -4` chooses them.
    #[test]
    fn shapes_of_the_reference() {
        let (fixed, grows) = (|len| (len, false), (0, true));
        assert_eq!(default_chunks(&[grows], 4), [1024]);
        assert_eq!(default_chunks(&[grows], 8), [512]);
        assert_eq!(default_chunks(&[grows, grows], 4), [2048, 2048]);
        assert_eq!(default_chunks(&[fixed(2), grows], 4), [2, 1]);
        assert_eq!(default_chunks(&[grows, fixed(4), fixed(3)], 4), [1, 4, 3]);
        assert_eq!(default_chunks(&[(3, true)], 4), [3]);
    }
}
