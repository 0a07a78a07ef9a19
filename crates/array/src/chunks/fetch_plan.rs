//! Which ranges of a blob are fetched together.

use std::ops::Range;

use ferrocdf_store::Cost;

use crate::requests::largest;

/// Chunks that need nothing of the blob and are handed to one thread at a time.
const AT_ONCE: usize = 64;

/// One request, and the chunks that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fetch {
    /// The bytes of the blob; empty if the chunks need none.
    pub(super) range: Range<u64>,
    /// The number of chunks.
    pub(super) chunks: usize,
}

/// Plans the requests for chunks in the order in which they are given: `ranges` has position and length of the bytes of
/// each chunk, ascending, or `None` if it needs none. Each request serves chunks that follow each other.
pub(super) fn coalesce(ranges: impl Iterator<Item = Option<(u64, u64)>>, cost: &Cost) -> Vec<Fetch> {
    let mut fetches: Vec<Fetch> = Vec::new();
    let gap = if cost.joins_chunks { cost.gap } else { 0 };
    for range in ranges {
        let last = fetches.last_mut();
        match range {
            None => match last {
                Some(fetch) if fetch.range.is_empty() && fetch.chunks < AT_ONCE => fetch.chunks += 1,
                _ => fetches.push(Fetch { range: 0..0, chunks: 1 }),
            },
            Some((at, len)) => {
                let end = at.saturating_add(len);
                let joins = |old: &Range<u64>| {
                    !old.is_empty()
                        && at >= old.end
                        && at - old.end <= gap
                        && end - old.start <= largest(cost)
                };
                match last {
                    Some(fetch) if joins(&fetch.range) => {
                        fetch.range.end = end;
                        fetch.chunks += 1;
                    }
                    _ => fetches.push(Fetch { range: at..end, chunks: 1 }),
                }
            }
        }
    }
    fetches
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::Latency;

    use super::*;
    use crate::requests::MERGED_BYTES;

    const COST: Cost = Cost { latency: Latency::Local, gap: 10, joins_chunks: true, window: 0, in_flight: 1 };

    fn plan(ranges: &[Option<(u64, u64)>]) -> Vec<(Range<u64>, usize)> {
        let fetches = coalesce(ranges.iter().copied(), &COST);
        fetches.into_iter().map(|fetch| (fetch.range, fetch.chunks)).collect()
    }

    #[test]
    fn ranges_join_across_gaps_up_to_the_one_of_the_source() {
        assert_eq!(plan(&[Some((0, 5)), Some((5, 5)), Some((20, 5))]), [(0..25, 3)]);
        assert_eq!(plan(&[Some((0, 5)), Some((16, 5))]), [(0..5, 1), (16..21, 1)]);
    }

    #[test]
    fn chunks_that_touch_join_where_metadata_lies_in_gaps() {
        let cost = Cost { joins_chunks: false, ..COST };
        let fetches = coalesce([Some((0, 5)), Some((5, 5)), Some((11, 5))].into_iter(), &cost);
        let ranges: Vec<_> = fetches.into_iter().map(|fetch| (fetch.range, fetch.chunks)).collect();
        assert_eq!(ranges, [(0..10, 2), (11..16, 1)]);
    }

    #[test]
    fn overlapping_ranges_are_fetched_one_by_one() {
        assert_eq!(plan(&[Some((0, 5)), Some((4, 5))]), [(0..5, 1), (4..9, 1)]);
    }

    #[test]
    fn a_request_ends_at_the_largest_size_but_serves_a_chunk_of_any() {
        let half = MERGED_BYTES / 2;
        assert_eq!(
            plan(&[Some((0, half)), Some((half, half)), Some((MERGED_BYTES, 1))]),
            [(0..MERGED_BYTES, 2), (MERGED_BYTES..MERGED_BYTES + 1, 1)]
        );
        assert_eq!(plan(&[Some((0, 3 * MERGED_BYTES)), Some((3 * MERGED_BYTES, 1))]).len(), 2);
        let wide = Cost { window: 4 << 20, ..COST };
        assert_eq!(coalesce([Some((0, MERGED_BYTES)), Some((MERGED_BYTES, 1))].into_iter(), &wide).len(), 1);
    }

    #[test]
    fn chunks_without_bytes_are_handed_on_in_groups_of_their_own() {
        assert_eq!(plan(&[Some((0, 5)), None, None]), [(0..5, 1), (0..0, 2)]);
        assert_eq!(plan(&[None; AT_ONCE + 1]), [(0..0, AT_ONCE), (0..0, 1)]);
    }
}
