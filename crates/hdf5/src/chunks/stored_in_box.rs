//! Counting the stored chunks of a box. Ranges without index entries are skipped.

use std::ops::RangeInclusive;

use ferrocdf_array::count_in_box;
use ferrocdf_bytes::Result;

use super::pages::Leaf;
use super::{DatasetChunks, Finder, slowest_first, tree};

/// Counts the stored chunks of a box, up to `limit`; `None` for a box of another rank.
pub(super) fn count(chunks: &DatasetChunks, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
    let rank = chunks.counts.len();
    if first.len() != rank || count.len() != rank {
        return Ok(None);
    }
    // Arrays may have chunks outside the present extent.
    let inside = |dim: usize| count[dim].min(chunks.counts[dim].saturating_sub(first[dim]));
    // Dimensions in the order in which their chunks are numbered.
    let order: Vec<usize> = slowest_first(rank, chunks.slowest).collect();
    let first: Vec<u64> = order.iter().map(|&dim| first[dim]).collect();
    let count: Vec<u64> = order.iter().map(|&dim| inside(dim)).collect();
    let in_box = |next: &mut dyn FnMut(RangeInclusive<u64>) -> Result<Option<u64>>| {
        count_in_box(&lens(chunks, &order), (&first, &count), limit, next).map(Some)
    };
    let source = &chunks.source;
    match &chunks.finder {
        Finder::Nothing => Ok(Some(0)),
        Finder::Single(_) | Finder::Implicit(_) => {
            Ok(Some(count.iter().fold(1u64, |all, &len| all.saturating_mul(len)).min(limit)))
        }
        Finder::Tree { kind, root, table } => {
            let table = table.get(|| tree::load(chunks, *kind, *root))?;
            in_box(&mut |numbers| Ok(table.next(numbers)))
        }
        Finder::FixedArray(array) => in_box(&mut in_leaves(chunks, |number| array.leaf(source, number))),
        Finder::ExtensibleArray(array) => in_box(&mut in_leaves(chunks, |number| array.leaf(source, number))),
    }
}

/// Returns the number of chunks along each dimension, as chunk numbers count them, with the slowest dimension first. The number along that
/// one does not matter.
fn lens(chunks: &DatasetChunks, order: &[usize]) -> Vec<u64> {
    let weights = order.iter().map(|&dim| chunks.weights[dim].max(1));
    let slower = std::iter::once(u64::MAX).chain(weights.clone());
    slower.zip(weights).map(|(slower, weight)| slower / weight).collect()
}

/// Returns what finds the least number of a stored chunk in a range, leaf by leaf. It keeps the last leaf.
fn in_leaves(
    chunks: &DatasetChunks,
    leaf: impl Fn(u64) -> Result<Leaf>,
) -> impl FnMut(RangeInclusive<u64>) -> Result<Option<u64>> {
    let sizes = chunks.source.sizes;
    let mut last: Option<Leaf> = None;
    move |numbers: RangeInclusive<u64>| {
        let (mut from, end) = numbers.into_inner();
        while from <= end {
            let known = last.take().filter(|leaf| (leaf.first..leaf.end).contains(&from));
            let leaf = last.insert(known.map_or_else(|| leaf(from), Ok)?);
            if let Some(found) = leaf.next(from..=end, sizes) {
                return Ok(Some(found));
            }
            if leaf.end == u64::MAX {
                break;
            }
            from = leaf.end;
        }
        Ok(None)
    }
}
