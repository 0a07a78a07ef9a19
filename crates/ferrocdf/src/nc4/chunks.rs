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

/// The default chunk shape of a variable with elements of `size` bytes in memory, on dimensions of these lengths now, of
/// which some grow.
pub fn default_chunks(dims: &[(u64, bool)], size: u64) -> Vec<u64> {
    let size = size.max(1);
    let rank = dims.len() as f64;
    let growing = dims.iter().filter(|(_, grows)| *grows).count();
    let values = dims.iter().filter(|(_, grows)| !grows).fold(1f32, |values, &(len, _)| values * len as f32);
    let mut shape: Vec<u64> = dims.iter().map(|&(_, grows)| u64::from(grows)).collect();
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
    // The last chunk of a dimension shall not be nearly empty.
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
