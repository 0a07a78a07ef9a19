//! Which blocks a selection meets, a dimension at a time.
//!
//! Nothing is kept for each block: a hit is computed from its number. Indices no further apart than a block is long meet
//! every block from the first to the last; those further apart meet a block each.

/// The part of a selection that lies in one block, along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The block.
    pub(crate) block: u64,
    /// The first selected element in the block, in elements from its start.
    pub(crate) offset: u64,
    /// How many selected elements are in the block.
    pub(crate) count: usize,
}

/// The blocks that the indices of one dimension meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hits {
    start: u64,
    count: u64,
    stride: u64,
    /// Elements of a block.
    block: u64,
    len: usize,
}

impl Hits {
    /// The blocks of `block` elements that `count` indices from `start` on, `stride` apart, meet. None of the three is 0,
    /// and the last index fits in 64 bits.
    pub(crate) fn new(start: u64, count: u64, stride: u64, block: u64) -> Hits {
        let last = start + (count - 1) * stride;
        // There are no more of them than elements in memory.
        let len = if stride > block { count } else { last / block - start / block + 1 } as usize;
        Hits { start, count, stride, block, len }
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many selected elements lie before the hit of this number, which may be one behind the last.
    pub(crate) fn before(&self, number: usize) -> usize {
        let number = number as u64;
        let before = if number >= self.len as u64 {
            self.count
        } else if self.stride > self.block || number == 0 {
            number
        } else {
            let first = (self.start / self.block + number) * self.block;
            (first - self.start).div_ceil(self.stride)
        };
        before as usize
    }

    /// The hit of this number.
    pub(crate) fn at(&self, number: usize) -> Hit {
        let before = self.before(number) as u64;
        let at = self.start + before * self.stride;
        let (block, offset) = (at / self.block, at % self.block);
        let count = ((self.block - 1 - offset) / self.stride + 1).min(self.count - before);
        Hit { block, offset, count: count as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_in_one_hit() {
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
            let hits = Hits::new(start, count, stride, len);
            let mut found = Vec::new();
            for number in 0..hits.len() {
                assert_eq!(hits.before(number), found.len());
                let hit = hits.at(number);
                found.extend((0..hit.count as u64).map(|n| hit.block * len + hit.offset + n * stride));
            }
            let wanted: Vec<u64> = (0..count).map(|n| start + n * stride).collect();
            assert_eq!(found, wanted);
            assert_eq!(hits.before(hits.len()), wanted.len());
        }
    }
}
