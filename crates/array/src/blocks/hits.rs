//! Which blocks a selection meets, a dimension at a time.

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

/// The blocks of `len` elements that `count` indices from `start` on, `stride` apart, meet. Neither `len` nor `stride` is
/// 0, and the last index fits in 64 bits.
pub(crate) fn hits(start: u64, count: u64, stride: u64, len: u64) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut done = 0;
    while done < count {
        let at = start + done * stride;
        let (block, offset) = (at / len, at % len);
        let here = ((len - 1 - offset) / stride + 1).min(count - done);
        // There are no more of them than elements in memory.
        hits.push(Hit { block, offset, count: here as usize });
        done += here;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_in_one_hit() {
        for (start, count, stride, len) in
            [(0, 10, 1, 4), (3, 10, 1, 4), (3, 10, 3, 4), (1, 5, 9, 4), (7, 1, 1, 1)]
        {
            let found: Vec<u64> = hits(start, count, stride, len)
                .iter()
                .flat_map(|hit| (0..hit.count as u64).map(|n| hit.block * len + hit.offset + n * stride))
                .collect();
            let wanted: Vec<u64> = (0..count).map(|n| start + n * stride).collect();
            assert_eq!(found, wanted);
        }
    }
}
