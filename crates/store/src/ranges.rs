//! Sets of bytes of a file, as ranges in the order of their positions that do not touch.

use std::ops::Range;

/// Returns the bytes below `end` that lie in any of these ranges.
pub fn union(mut ranges: Vec<Range<u64>>, end: u64) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut union: Vec<Range<u64>> = vec![];
    for range in ranges {
        let range = range.start..range.end.min(end);
        match union.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ if range.is_empty() => {}
            _ => union.push(range),
        }
    }
    union
}

/// Returns the bytes below `end` that lie in none of these ranges, which are a [`union`].
pub fn gaps(ranges: &[Range<u64>], end: u64) -> Vec<Range<u64>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|gap| !gap.is_empty()).collect()
}

/// Returns the number of bytes in ranges that do not overlap.
pub fn total(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |total, range| total.saturating_add(range.end.saturating_sub(range.start)))
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges that happen to have one")]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_or_touch_become_one() {
        assert_eq!(union(vec![5..9, 20..30, 0..5, 6..7, 8..12, 40..40], 25), [0..12, 20..25]);
        assert_eq!(union(vec![30..40, 10..20], 15), [10..15]);
        assert_eq!(union(vec![], 15), []);
    }

    #[test]
    fn gaps_and_ranges_are_all_bytes() {
        let ranges = union(vec![2..4, 8..10], 20);
        let gaps = gaps(&ranges, 20);
        assert_eq!(gaps, [0..2, 4..8, 10..20]);
        assert_eq!(total(&ranges) + total(&gaps), 20);
        assert_eq!(super::gaps(&[0..20], 20), []);
    }
}
