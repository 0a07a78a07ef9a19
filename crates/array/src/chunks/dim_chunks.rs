//! The chunks that a selection meets along one dimension.
//!
//! Nothing is stored per chunk: each is computed from its number. A stride up to the chunk length meets every chunk from the
//! first to the last; a larger stride meets a chunk per index.

use ferrocdf_bytes::ToUsize;

/// The part of a selection that lies in one chunk, along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DimChunk {
    /// Coordinate of the chunk.
    pub(crate) chunk: u64,
    /// First selected element in the chunk, in elements from the start of the chunk.
    pub(crate) offset: u64,
    /// Number of selected elements in the chunk.
    pub(crate) count: usize,
}

/// The chunks that the indices of one dimension meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DimChunks {
    start: u64,
    count: u64,
    stride: u64,
    /// Length of a chunk in elements.
    chunk: u64,
    len: usize,
}

impl DimChunks {
    /// Returns the chunks of `chunk` elements that have the indices `start + i * stride` for `i < count`. `count`, `stride` and
    /// `chunk` are not 0, and the last index is less than 2^64.
    pub(crate) fn new(start: u64, count: u64, stride: u64, chunk: u64) -> DimChunks {
        let last = start + (count - 1) * stride;
        // At most the number of selected elements, which fit in memory.
        let len = if stride > chunk { count } else { last / chunk - start / chunk + 1 };
        DimChunks { start, count, stride, chunk, len: len.saturate() }
    }

    /// Returns the number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of selected elements before the chunk of this number, which may be one past the last.
    pub(crate) fn before(&self, number: usize) -> usize {
        let number = number as u64;
        let before = if number >= self.len as u64 {
            self.count
        } else if self.stride > self.chunk || number == 0 {
            number
        } else {
            let first = (self.start / self.chunk + number) * self.chunk;
            (first - self.start).div_ceil(self.stride)
        };
        before.saturate()
    }

    /// Returns the chunk of this number.
    pub(crate) fn at(&self, number: usize) -> DimChunk {
        let before = self.before(number) as u64;
        let at = self.start + before * self.stride;
        let (chunk, offset) = (at / self.chunk, at % self.chunk);
        let count = ((self.chunk - 1 - offset) / self.stride + 1).min(self.count - before);
        DimChunk { chunk, offset, count: count.saturate() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_selected_index_is_in_one_chunk() {
        let far = u64::MAX - 20;
        for (start, count, stride, len) in [
            (0, 10, 1, 4),
            (3, 10, 1, 4),
            (3, 10, 3, 4),
            (3, 10, 4, 4),
            (2, 9, 5, 4),
            (1, 5, 9, 4),
            (7, 1, 1, 1),
            (far, 20, 1, 7),
            (far, 4, 6, 6),
        ] {
            let chunks = DimChunks::new(start, count, stride, len);
            let mut found = Vec::new();
            for number in 0..chunks.len() {
                assert_eq!(chunks.before(number), found.len());
                let chunk = chunks.at(number);
                found.extend((0..chunk.count as u64).map(|n| chunk.chunk * len + chunk.offset + n * stride));
            }
            let wanted: Vec<u64> = (0..count).map(|n| start + n * stride).collect();
            assert_eq!(found, wanted);
            assert_eq!(chunks.before(chunks.len()), wanted.len());
        }
    }
}
