//! Two selections of as many elements, cut into pairs of strided boxes.
//!
//! The elements of a selection have an order, that of the dataset; the n-th of one selection belongs to the n-th of the
//! other. Regular selections are products of one list of indices for each dimension: where the lengths of the lists
//! agree, dimensions go with dimensions, and only lists that are blocks at a distance need to be cut. Where they do not
//! agree, and for other selections, runs go with runs.

use ferrocdf_array::{Index, Selection};
use ferrocdf_bytes::Result;

use crate::selection::{HyperslabDim, SpaceSelection};
use crate::wire::bad;

/// The most pairs that one mapping is cut into, and the most work for that.
const MOST: usize = 1 << 20;

/// Indices of one dimension: the n-th is `start + n / block * stride + n % block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dim {
    start: u64,
    stride: u64,
    block: u64,
    /// How many.
    pub len: u64,
}

/// Elements of a dataset: all combinations of the indices of its dimensions, last dimension fastest.
pub(super) type Product = Vec<Dim>;

/// A pair of boxes of as many elements.
pub(super) type Pair = (Selection, Selection);

impl Dim {
    /// Indices side by side.
    pub fn run(start: u64, len: u64) -> Dim {
        Dim { start, stride: 1, block: 1, len }
    }

    /// The first `len` indices of blocks.
    pub fn of(blocks: &HyperslabDim, len: u64) -> Result<Dim> {
        let HyperslabDim { start, stride, block, .. } = *blocks;
        if block >= len || block == stride {
            let end = start.checked_add(len);
            return end.map(|_| Dim::run(start, len)).ok_or_else(|| bad("a selection beyond index 2^64"));
        }
        // Not 0, because it is less than the length only if that is not 0 either; see the caller.
        let blocks_in = (len - 1) / block.max(1);
        let last = blocks_in.checked_mul(stride).and_then(|last| last.checked_add(start));
        if block == 0 || last.and_then(|last| last.checked_add(block)).is_none() {
            return Err(bad("a selection beyond index 2^64"));
        }
        Ok(Dim { start, stride, block, len })
    }

    fn index(&self, n: u64) -> u64 {
        self.start + n / self.block * self.stride + n % self.block
    }

    /// Whether all indices are at the same distance, which is then the stride.
    fn is_even(&self) -> bool {
        self.block == 1
    }

    /// How many indices from the n-th on are at the same distance, and that distance.
    fn even_run(&self, n: u64) -> (u64, u64) {
        if self.is_even() {
            (self.len - n, self.stride)
        } else {
            ((self.block - n % self.block).min(self.len - n), 1)
        }
    }
}

/// Equal steps in both lists: the first index and step of each, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    here: (u64, u64),
    there: (u64, u64),
    len: u64,
}

/// `len` indices of two lists from these on, cut into as few segments as this knows how to.
fn segments(here: &Dim, from_here: u64, there: &Dim, from_there: u64, len: u64) -> Result<Vec<Segment>> {
    let mut list = Vec::new();
    // Indices of the same place in each block are at the same distance too, if the other list allows it.
    let block = match (here.is_even(), there.is_even()) {
        (true, true) => 0,
        (false, true) => here.block,
        (true, false) => there.block,
        (false, false) if here.block == there.block => here.block,
        (false, false) => 0,
    };
    if block > 0 && block < len / block {
        let step = |dim: &Dim| if dim.is_even() { dim.stride.checked_mul(block) } else { Some(dim.stride) };
        if let (Some(step_here), Some(step_there)) = (step(here), step(there)) {
            for n in 0..block {
                list.push(Segment {
                    here: (here.index(from_here + n), step_here),
                    there: (there.index(from_there + n), step_there),
                    len: (len - n).div_ceil(block),
                });
                limit(list.len())?;
            }
            return Ok(list);
        }
    }
    let mut n = 0;
    while n < len {
        let (left_here, step_here) = here.even_run(from_here + n);
        let (left_there, step_there) = there.even_run(from_there + n);
        let run = left_here.min(left_there).min(len - n);
        list.push(Segment {
            here: (here.index(from_here + n), step_here),
            there: (there.index(from_there + n), step_there),
            len: run,
        });
        limit(list.len())?;
        n += run;
    }
    Ok(list)
}

fn limit(pieces: usize) -> Result<()> {
    if pieces > MOST {
        return Err(bad(format!("a mapping of a virtual dataset that falls into more than {MOST} pieces")));
    }
    Ok(())
}

/// The number of elements; `None` if it is more than 64 bits hold.
fn elements(product: &[Dim]) -> Option<u64> {
    if product.iter().any(|dim| dim.len == 0) {
        return Some(0);
    }
    product.iter().try_fold(1u64, |count, dim| count.checked_mul(dim.len))
}

/// Pairs of boxes that together are two selections of as many elements.
pub(super) fn align(here: &[Product], there: &[Product]) -> Result<Vec<Pair>> {
    let total = |products: &[Product]| {
        products.iter().try_fold(0u64, |sum, product| sum.checked_add(elements(product)?))
    };
    let (count, other) = (total(here), total(there));
    if count.is_none() || count != other {
        let text = |count: Option<u64>| count.map_or("too many".to_string(), |count| count.to_string());
        let (count, other) = (text(count), text(other));
        return Err(bad(format!("a mapping of {other} elements to {count} elements of a virtual dataset")));
    }
    let mut pairs = Vec::new();
    if here.len() == there.len() && here.iter().zip(there).all(|(a, b)| elements(a) == elements(b)) {
        for (here, there) in here.iter().zip(there) {
            align_products(here, there, &mut pairs)?;
        }
        return Ok(pairs);
    }
    align_runs(here, there, &mut pairs)?;
    Ok(pairs)
}

/// Dimensions of more than one index, fastest first.
fn wide(product: &[Dim]) -> Vec<usize> {
    (0..product.len()).rev().filter(|&dim| product[dim].len != 1).collect()
}

/// Two products of as many elements.
fn align_products(here: &[Dim], there: &[Dim], pairs: &mut Vec<Pair>) -> Result<()> {
    if elements(here) == Some(0) {
        return Ok(());
    }
    let (wide_here, wide_there) = (wide(here), wide(there));
    let same = wide_here.iter().zip(&wide_there).take_while(|&(&a, &b)| here[a].len == there[b].len).count();
    // For each dimension that goes with one of the other, its segments.
    let mut joined = Vec::new();
    for (&a, &b) in wide_here.iter().zip(&wide_there).take(same) {
        joined.push((a, b, segments(&here[a], 0, &there[b], 0, here[a].len)?));
    }
    let rest = (wide_here.get(same).copied(), wide_there.get(same).copied());
    let (Some(a), Some(b)) = rest else {
        // As many elements: if one has no more dimensions, neither has the other.
        return emit(here, there, &vec![0; here.len()], &vec![0; there.len()], &joined, pairs);
    };
    // The first dimensions of different lengths have runs of this many indices in common; those outside are walked
    // through index by index.
    let run = gcd(here[a].len, there[b].len);
    let outer = |product: &[Dim], wide: &[usize]| {
        let counts = wide[same..].iter().map(|&dim| product[dim].len).product::<u64>();
        counts / run
    };
    let steps = outer(here, &wide_here);
    for step in 0..steps {
        let at_here = unravel(here, &wide_here[same..], step * run);
        let at_there = unravel(there, &wide_there[same..], step * run);
        let cut = segments(&here[a], at_here[a], &there[b], at_there[b], run)?;
        joined.push((a, b, cut));
        emit(here, there, &at_here, &at_there, &joined, pairs)?;
        joined.pop();
    }
    Ok(())
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// For each dimension the position in its list, of the n-th combination of these, the first of which is the fastest.
fn unravel(product: &[Dim], dims: &[usize], mut n: u64) -> Vec<u64> {
    let mut at = vec![0; product.len()];
    for &dim in dims {
        at[dim] = n % product[dim].len;
        n /= product[dim].len;
    }
    at
}

/// All combinations of the segments of joined dimensions, the other dimensions being at these positions.
fn emit(
    here: &[Dim],
    there: &[Dim],
    at_here: &[u64],
    at_there: &[u64],
    joined: &[(usize, usize, Vec<Segment>)],
    pairs: &mut Vec<Pair>,
) -> Result<()> {
    let mut choice = vec![0; joined.len()];
    loop {
        let mut pair = (point(here, at_here), point(there, at_there));
        for ((a, b, list), &chosen) in joined.iter().zip(&choice) {
            let segment = list[chosen];
            put(&mut pair.0, *a, segment.here, segment.len);
            put(&mut pair.1, *b, segment.there, segment.len);
        }
        pairs.push(pair);
        limit(pairs.len())?;
        let next = choice.iter_mut().zip(joined).find_map(|(chosen, (_, _, list))| {
            *chosen = (*chosen + 1) % list.len();
            (*chosen > 0).then_some(())
        });
        if next.is_none() {
            return Ok(());
        }
    }
}

/// One element.
fn point(product: &[Dim], at: &[u64]) -> Selection {
    let start: Index = product.iter().zip(at).map(|(dim, &n)| dim.index(n)).collect();
    let ones = Index::from_elem(1, product.len());
    Selection { start, count: ones.clone(), stride: ones }
}

fn put(selection: &mut Selection, dim: usize, (start, step): (u64, u64), len: u64) {
    selection.start[dim] = start;
    selection.stride[dim] = step;
    selection.count[dim] = len;
}

/// A run of elements along the last dimension.
struct Run {
    at: Index,
    step: u64,
    len: u64,
}

/// Two lists of products with as many elements in all.
fn align_runs(here: &[Product], there: &[Product], pairs: &mut Vec<Pair>) -> Result<()> {
    let (here, there) = (runs(here)?, runs(there)?);
    let (mut a, mut b) = (0, 0);
    let (mut done_a, mut done_b) = (0, 0);
    while let (Some(run_a), Some(run_b)) = (here.get(a), there.get(b)) {
        let len = (run_a.len - done_a).min(run_b.len - done_b);
        pairs.push((cut(run_a, done_a, len), cut(run_b, done_b, len)));
        limit(pairs.len())?;
        (done_a, done_b) = (done_a + len, done_b + len);
        if done_a == run_a.len {
            (a, done_a) = (a + 1, 0);
        }
        if done_b == run_b.len {
            (b, done_b) = (b + 1, 0);
        }
    }
    Ok(())
}

/// `len` elements of a run, behind the first `from`.
fn cut(run: &Run, from: u64, len: u64) -> Selection {
    let ones = Index::from_elem(1, run.at.len());
    let mut selection = Selection { start: run.at.clone(), count: ones.clone(), stride: ones };
    if let Some(last) = run.at.len().checked_sub(1) {
        put(&mut selection, last, (run.at[last] + from * run.step, run.step), len);
    }
    selection
}

fn runs(products: &[Product]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for product in products.iter().filter(|product| elements(product) != Some(0)) {
        let outer: Vec<usize> = (0..product.len().saturating_sub(1)).rev().collect();
        let rows = outer.iter().try_fold(1u64, |rows, &dim| rows.checked_mul(product[dim].len));
        limit(rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX))?;
        for row in 0..rows.unwrap_or_default() {
            let at = unravel(product, &outer, row);
            let start = point(product, &at).start;
            let Some(dim) = product.last() else {
                runs.push(Run { at: start, step: 1, len: 1 });
                continue;
            };
            let mut n = 0;
            while n < dim.len {
                let (len, step) = dim.even_run(n);
                let mut at = start.clone();
                if let Some(last) = at.last_mut() {
                    *last = dim.index(n);
                }
                runs.push(Run { at, step, len });
                limit(runs.len())?;
                n += len;
            }
        }
    }
    Ok(runs)
}

/// A limited selection of a dataset of this shape, as products whose elements in turn are those of the selection.
pub(super) fn products(selection: &SpaceSelection, shape: &[u64]) -> Result<Vec<Product>> {
    if selection.rank().is_some_and(|rank| rank != shape.len()) {
        let rank = shape.len();
        return Err(bad(format!("a selection of {:?} dimensions in a dataset of {rank}", selection.rank())));
    }
    match selection {
        SpaceSelection::None => Ok(Vec::new()),
        SpaceSelection::All => Ok(vec![shape.iter().map(|&len| Dim::run(0, len)).collect()]),
        SpaceSelection::Regular(dims) => {
            let dims = dims.iter().map(|blocks| {
                let len = blocks.count.checked_mul(blocks.block);
                let len = len.filter(|_| !blocks.is_unlimited());
                Dim::of(blocks, len.ok_or_else(|| bad("a selection without limit where none can be"))?)
            });
            Ok(vec![dims.collect::<Result<_>>()?])
        }
        SpaceSelection::Points { rank, coords } => {
            let mut products: Vec<Product> = Vec::new();
            for point in coords.chunks_exact(*rank) {
                let next = |product: &Product| {
                    let (last, outer) = product.split_last()?;
                    let (at, before) = point.split_last()?;
                    let same = outer.iter().zip(before).all(|(dim, &at)| dim.start == at);
                    (same && last.start.checked_add(last.len) == Some(*at)).then_some(())
                };
                if products.last().and_then(next).is_some() {
                    if let Some(last) = products.last_mut().and_then(|product| product.last_mut()) {
                        last.len += 1;
                    }
                } else {
                    products.push(point.iter().map(|&at| Dim::run(at, 1)).collect());
                }
            }
            Ok(products)
        }
        SpaceSelection::Boxes { rank, corners } => {
            let boxes: Vec<_> = corners.chunks_exact(2 * rank).map(|corner| corner.split_at(*rank)).collect();
            let mut work = 16 * MOST;
            slabs(&boxes, 0, *rank, &mut work)
        }
    }
}

/// Boxes, of which the dimensions from `dim` on count, as products in the order of the dataset.
fn slabs(boxes: &[(&[u64], &[u64])], dim: usize, rank: usize, work: &mut usize) -> Result<Vec<Product>> {
    let mut edges: Vec<u64> = boxes.iter().flat_map(|(first, last)| [first[dim], last[dim] + 1]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut products: Vec<Product> = Vec::new();
    for edge in edges.windows(2) {
        *work = work.checked_sub(boxes.len()).ok_or_else(|| bad("a selection of too many boxes"))?;
        let (start, end) = (edge[0], edge[1]);
        let inside: Vec<_> =
            boxes.iter().copied().filter(|(first, last)| first[dim] <= start && last[dim] >= start).collect();
        if inside.is_empty() {
            continue;
        }
        let inner = match dim + 1 == rank {
            true => vec![Vec::new()],
            false => slabs(&inside, dim + 1, rank, work)?,
        };
        if let [only] = &inner[..] {
            let follows = |before: &Product| {
                before[1..] == only[..] && before[0].start.checked_add(before[0].len) == Some(start)
            };
            match products.last_mut() {
                Some(before) if follows(before) => before[0].len += end - start,
                _ => products.push([&[Dim::run(start, end - start)], &only[..]].concat()),
            }
            continue;
        }
        // The pieces inside are passed through once for each index.
        let count = usize::try_from(end - start).ok().and_then(|count| count.checked_mul(inner.len()));
        limit(count.and_then(|count| count.checked_add(products.len())).unwrap_or(usize::MAX))?;
        for at in start..end {
            products.extend(inner.iter().map(|inner| [&[Dim::run(at, 1)], &inner[..]].concat()));
        }
    }
    Ok(products)
}

#[cfg(test)]
mod tests;
