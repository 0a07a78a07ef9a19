//! Reading blocks: find them, fetch near ones together, decode, convert into place.
//!
//! The memory to fill is split at the borders of blocks into rows before any block is looked at, and each block gets its
//! rows: blocks are then done in any order by any thread. Where rows would be many and tiny, blocks are decoded a few at
//! a time and copied out by one thread.
//!
//! A block of which all is wanted is decoded into a buffer of its thread; one of which a part is wanted is kept decoded,
//! since the next request often wants another part. Blocks without filters are read in part.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Chain;
use ferrocdf_store::{Blob, Buffer};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::cache;
use super::decoded::{Block, Decoded, Key, Shared, too_short};
use super::hits::Hits;
use super::index::Place;
use super::layout::Blocks;
use super::part::{Part, push};
use super::places::{Attempt, Ranges, combinations};
use super::tries::{Tries, Try, mark};
use crate::array::{dense_steps, too_large};
use crate::convert::Conversion;
use crate::plan::{Dim, Plan, REQUEST, SHARED, TOGETHER, WINDOW, offset};
use crate::read::Windows;
use crate::scratch::Scratch;
use crate::{Array, PastEnd, Selection, Stored, pool, uncached};

/// The most rows that memory is split into at a time.
const ROWS: usize = 1 << 18;

/// The most blocks that are looked for at a time.
const BLOCKS: usize = 1 << 16;

/// Rows shorter than this many bytes, if there are many, are not worth a slice each.
const TINY: usize = 32;

/// Blocks without data that one thread does in one go.
const AT_ONCE: usize = 64;

/// Reads the selected elements, at least one, into dense memory of `size` bytes an element.
pub(crate) fn read(
    blob: &dyn Blob,
    array: &Array,
    blocks: &Blocks,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let reader = Reader::new(blob, array, blocks, sel, conversion, size)?;
    let all: Ranges = reader.hits.iter().map(|hits| (0, hits.len())).collect();
    reader.region(&all, out)
}

pub(super) struct Reader<'a> {
    blob: &'a dyn Blob,
    past_end: PastEnd,
    stored: Stored,
    blocks: &'a Blocks,
    conversion: Conversion,
    /// Bytes of an element in memory.
    size: usize,
    /// For each dimension, the parts of the selection in each block.
    pub(super) hits: Vec<Hits>,
    /// For each dimension, the bytes of a decoded block from one selected element to the next, and from one element to
    /// the next.
    pub(super) steps: Vec<(u64, u64)>,
    /// Bytes of a decoded block.
    pub(super) block_len: u64,
    /// Elements of the array, and of a block, along each dimension.
    shape: &'a [u64],
    /// Dimensions from here on lie in one block each: a row spans them all.
    pub(super) inner: usize,
    /// Whether there is enough to do for all threads.
    shares: bool,
    /// Whether the memory to fill is too large to stay in the caches.
    uncached: bool,
}

/// The blocks in a box of hits, last dimension fastest.
struct Found<'p> {
    places: &'p [Place],
    /// The look at the index that gave them.
    look: u64,
    kept: Vec<Option<Shared>>,
}

impl Found<'_> {
    /// The block of this number as it is kept, unless that was read after another look.
    fn kept(&self, number: usize) -> Option<&Shared> {
        self.kept[number].as_ref().filter(|kept| kept.is_of(self.look))
    }
}

/// A block and the memory that it fills.
struct Item<'o> {
    place: Place,
    /// Which hit of each dimension.
    at: SmallVec<[usize; 4]>,
    rows: SmallVec<[&'o mut [u8]; 1]>,
    kept: Option<Shared>,
    look: u64,
    /// Where it is noted that it was read, if marks are taken.
    tried: Option<&'o mut Try>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        blob: &'a dyn Blob,
        array: &'a Array,
        blocks: &'a Blocks,
        sel: &Selection,
        conversion: Conversion,
        size: usize,
    ) -> Result<Self> {
        let rank = array.shape.len();
        if blocks.shape.len() != rank || blocks.shape.contains(&0) {
            let what = format!("blocks of shape {:?} of an array of {rank} dimensions", blocks.shape);
            return Err(Error::new(Code::EINVAL, what));
        }
        let dense = dense_steps(&blocks.shape, array.stored)?;
        let element = array.stored.kind.size() as u64;
        let block_len = match (dense.first(), blocks.shape.first()) {
            (Some(&step), Some(&len)) => step.checked_mul(len),
            _ => Some(element),
        };
        let block_len =
            block_len.filter(|&len| usize::try_from(len).is_ok()).ok_or_else(|| too_large(&blocks.shape))?;
        let each = |dim: usize| Hits::new(sel.start[dim], sel.count[dim], sel.stride[dim], blocks.shape[dim]);
        let hits: Vec<Hits> = (0..rank).map(each).collect();
        let inner = hits.iter().rposition(|hits| hits.len() > 1).map_or(0, |last| last + 1);
        let steps = dense
            .iter()
            .zip(&sel.stride)
            .map(|(&step, &stride)| (step.saturating_mul(stride), step))
            .collect();
        let elements = sel.elements().unwrap_or(u64::MAX);
        let found = hits.iter().fold(1u64, |found, hits| found.saturating_mul(hits.len() as u64));
        let work = if blocks.chain.is_empty() {
            elements.saturating_mul(element)
        } else {
            found.saturating_mul(block_len)
        };
        Ok(Reader {
            blob,
            past_end: array.past_end,
            stored: array.stored,
            blocks,
            conversion,
            size,
            hits,
            steps,
            block_len,
            shape: &array.shape,
            inner,
            shares: found > 1 && work.saturating_add(found.saturating_mul(REQUEST)) >= SHARED,
            uncached: elements.saturating_mul(size as u64) >= uncached::LARGE,
        })
    }

    /// Elements that a range of hits of one dimension selects.
    fn count(&self, dim: usize, (from, to): (usize, usize)) -> usize {
        self.hits[dim].before(to) - self.hits[dim].before(from)
    }

    /// Reads the blocks in a box of hits, whose elements are `out`.
    fn region(&self, ranges: &Ranges, out: &mut [u8]) -> Result<bool> {
        let product = |product: usize, len: usize| product.saturating_mul(len);
        let blocks = ranges.iter().map(|&(from, to)| to - from).fold(1, product);
        // The dimension before `inner` is cut into segments, those before that count rows.
        let outer = self.inner.saturating_sub(1);
        let lines = (0..outer).map(|dim| self.count(dim, ranges[dim])).fold(1, product);
        let segments = ranges.get(outer).map_or(1, |&(from, to)| to - from);
        let rows = lines.saturating_mul(segments);
        if blocks > BLOCKS || rows > ROWS {
            // Cut where both halves are gapless in memory: at the first dimension of more than one index.
            let cut = (0..ranges.len()).find(|&dim| self.count(dim, ranges[dim]) > 1);
            if let Some(dim) = cut
                && ranges[dim].1 - ranges[dim].0 > 1
            {
                let (from, to) = ranges[dim];
                let middle = from + (to - from) / 2;
                let (mut left, mut right) = (ranges.clone(), ranges.clone());
                (left[dim], right[dim]) = ((from, middle), (middle, to));
                let share = out.len() / self.count(dim, ranges[dim]) * self.count(dim, left[dim]);
                let (first, second) = out.split_at_mut(share);
                return Ok(self.region(&left, first)? & self.region(&right, second)?);
            }
        }
        let tiny = rows > BLOCKS && out.len() / rows < TINY;
        // Much is not read twice for what may have been read ahead.
        let is_much = out.len() as u64 >= TOGETHER;
        let mut tries = Tries::default();
        let mut fits = true;
        self.blocks.settled(|Attempt { index, is_watched, is_marked, is_again }| {
            tries.begin(is_marked, blocks);
            let mut kept = self.kept(ranges, is_again);
            kept.resize(blocks, None);
            let places = self.blocks.places(index, &self.hits, ranges)?;
            if is_again || (is_watched && is_much) {
                self.blob.forget();
            }
            let found = Found { places: &places, look: index.look(), kept };
            fits = if tiny {
                self.one_by_one(ranges, &found, &mut tries, out)?
            } else {
                self.all(self.items(ranges, &found, &mut tries, (lines, segments), out))?
            };
            fits &= tries.fit();
            Ok(tries.are_settled())
        })?;
        Ok(fits)
    }

    /// Splits memory among the blocks: each that is not settled gets its rows in their order.
    fn items<'o>(
        &self,
        ranges: &Ranges,
        found: &Found<'_>,
        tries: &'o mut Tries,
        (lines, segments): (usize, usize),
        out: &'o mut [u8],
    ) -> Vec<Item<'o>> {
        let mut tries = tries.blocks().iter_mut();
        let item = |(number, at)| Item {
            place: found.places[number],
            at,
            rows: SmallVec::new(),
            kept: found.kept(number).cloned(),
            look: found.look,
            tried: tries.next(),
        };
        let mut items: Vec<Item<'o>> = combinations(ranges).enumerate().map(item).collect();
        if items.len() == 1 {
            items[0].rows.push(out);
            return items;
        }
        let outer = self.inner - 1;
        // For each dimension that is cut or counts rows, the elements of each hit.
        let counts = |dim: usize| -> Vec<usize> {
            (ranges[dim].0..ranges[dim].1).map(|hit| self.hits[dim].at(hit).count).collect()
        };
        let counts: SmallVec<[Vec<usize>; 4]> = (0..=outer).map(counts).collect();
        let within: usize = (self.inner..ranges.len()).map(|dim| self.count(dim, ranges[dim])).product();
        // The position in each outer dimension: the hit, and the index in it.
        let mut odometer: SmallVec<[(usize, usize); 4]> = SmallVec::from_elem((0, 0), outer);
        let mut rest = out;
        for _ in 0..lines {
            let first = odometer
                .iter()
                .zip(ranges)
                .fold(0, |first, (&(hit, _), &(from, to))| first * (to - from) + hit);
            for (segment, count) in counts[outer].iter().enumerate() {
                let (row, more) = std::mem::take(&mut rest).split_at_mut(count * within * self.size);
                rest = more;
                items[first * segments + segment].rows.push(row);
            }
            for dim in (0..outer).rev() {
                let (hit, index) = &mut odometer[dim];
                *index += 1;
                if *index < counts[dim][*hit] {
                    break;
                }
                (*hit, *index) = (*hit + 1, 0);
                if *hit < ranges[dim].1 - ranges[dim].0 {
                    break;
                }
                *hit = 0;
            }
        }
        items.retain(|item| item.tried.as_ref().is_none_or(|tried| !tried.is_settled()));
        items
    }

    /// The selected part of a block.
    pub(super) fn part(&self, at: &[usize]) -> Part {
        let size = self.stored.kind.size();
        let (mut outer, mut inner) = (SmallVec::new(), SmallVec::new());
        let mut base = 0;
        for (dim, &hit) in at.iter().enumerate() {
            let hit = self.hits[dim].at(hit);
            let (step, unit) = self.steps[dim];
            base += hit.offset * unit;
            let dims = if dim + 1 < self.inner { &mut outer } else { &mut inner };
            push(dims, hit.count as u64, step);
        }
        Part::end_in_a_run(&mut inner, size);
        // Within a block, whose length fits in memory.
        Part { base: base as usize, outer, inner, size }
    }

    /// Whether a request takes all that a block has of the array.
    fn takes_all(&self, at: &[usize]) -> bool {
        at.iter().enumerate().all(|(dim, &hit)| {
            let (hit, len) = (self.hits[dim].at(hit), self.blocks.shape[dim]);
            let first = hit.block * len;
            hit.count as u64 == len.min(self.shape[dim] - first)
        })
    }

    /// What a block is kept by.
    pub(super) fn key(&self, at: &[usize]) -> Key {
        self.blocks.key(at.iter().zip(&self.hits).map(|(&hit, hits)| hits.at(hit).block))
    }

    /// The blocks in a box of hits that are in memory, last dimension fastest; empty if none is. This comes before their places
    /// are looked for: one that was pending is in its place when it is no longer in memory.
    fn kept(&self, ranges: &Ranges, is_again: bool) -> Vec<Option<Shared>> {
        let size = self.stored.kind.size();
        let keys = || combinations(ranges).map(|at| self.key(&at));
        // Others may have read what is cached ahead of the last look.
        let mut kept = if is_again { Vec::new() } else { self.blocks.cached.get(keys()) };
        if let Some(pending) = &self.blocks.pending {
            pending.overlay(&mut kept, keys());
        }
        for block in &mut kept {
            *block = block.take().map(|block| block.for_elements(size));
        }
        kept
    }

    /// Does all blocks, shared among threads if that pays.
    fn all(&self, mut items: Vec<Item<'_>>) -> Result<bool> {
        if items.len() > 1 {
            items.sort_by_key(|item| match item.place {
                Place::At { at, .. } if item.kept.is_none() => at,
                _ => u64::MAX,
            });
        }
        let mut groups: Vec<Vec<Item<'_>>> = Vec::new();
        let mut end = 0;
        let mut begin = 0;
        for item in items {
            let range = self.fetched(&item);
            let joins = groups.last().is_some_and(|group| {
                let last = self.fetched(&group[0]);
                match (last, range) {
                    (None, None) => group.len() < AT_ONCE,
                    (Some(_), Some((at, len))) => {
                        at >= end && at - end <= REQUEST && at.saturating_add(len) - begin <= TOGETHER
                    }
                    _ => false,
                }
            });
            if let Some((at, len)) = range {
                end = at.saturating_add(len);
                if !joins {
                    begin = at;
                }
            }
            match groups.last_mut() {
                Some(group) if joins => group.push(item),
                _ => groups.push(vec![item]),
            }
        }
        let pool = if self.shares && groups.len() > 1 { pool::get() } else { None };
        match pool {
            Some(pool) => pool.install(|| {
                groups
                    .into_par_iter()
                    .with_max_len(1)
                    .map(|group| self.group(group))
                    .try_reduce(|| true, |left, right| Ok(left & right))
            }),
            None => groups.into_iter().try_fold(true, |fits, group| Ok(fits & self.group(group)?)),
        }
    }

    /// The bytes of the blob that a block needs whole, if it does.
    fn fetched(&self, item: &Item<'_>) -> Option<(u64, u64)> {
        match item.place {
            Place::At { at, len, .. } if item.kept.is_none() && !self.reads_in_part(item) => Some((at, len)),
            _ => None,
        }
    }

    /// Whether a block is as it was made, and little enough of it is wanted to read just that.
    fn reads_in_part(&self, item: &Item<'_>) -> bool {
        let Place::At { mask, len, .. } = item.place else { return false };
        if !self.blocks.chain.is_identity(mask) || len != self.block_len {
            return false;
        }
        let wanted: u64 = item.rows.iter().map(|row| (row.len() / self.size) as u64).sum();
        let wanted = wanted.saturating_mul(self.stored.kind.size() as u64);
        len > TOGETHER || (len > REQUEST && wanted < len / 4)
    }

    /// Does blocks that are fetched together.
    fn group(&self, group: Vec<Item<'_>>) -> Result<bool> {
        let ranges = || group.iter().filter_map(|item| self.fetched(item));
        let Some((begin, _)) = ranges().next() else {
            return Scratch::with(|scratch| {
                group.into_iter().try_fold(true, |fits, item| Ok(fits & self.item(item, &[], scratch)?))
            });
        };
        let end = ranges().map(|(at, len)| at.saturating_add(len)).max().unwrap_or(begin);
        self.check_inside(begin, end)?;
        Scratch::with(|scratch| {
            let mut window = std::mem::take(&mut scratch.window);
            let done = self.fetch_group(group, (begin, end), &mut window, scratch);
            scratch.window = window;
            done
        })
    }

    fn fetch_group(
        &self,
        group: Vec<Item<'_>>,
        (begin, end): (u64, u64),
        window: &mut Buffer,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        // Not more than the blob holds.
        let bytes = window.at(begin, (end - begin) as usize);
        self.past_end.fetch(self.blob, begin, bytes)?;
        group.into_iter().try_fold(true, |fits, item| {
            let stored = match self.fetched(&item) {
                Some((at, len)) => &bytes[(at - begin) as usize..][..len as usize],
                None => &[],
            };
            Ok(fits & self.item(item, stored, scratch)?)
        })
    }

    /// A block whose place is outside the blob is an error before memory is taken for it.
    pub(super) fn check_inside(&self, begin: u64, end: u64) -> Result<()> {
        let size = self.blob.size()?;
        if end <= size {
            return Ok(());
        }
        let what =
            format!("a block at bytes {begin} to {end} is past the end of the file, which has {size} bytes");
        Err(Error::new(Code::ETRUNC, what))
    }

    /// Fills the rows of one block, and notes what they are then.
    fn item(&self, mut item: Item<'_>, stored: &[u8], scratch: &mut Scratch) -> Result<bool> {
        let part = self.part(&item.at);
        if let Some(block) = item.kept.take() {
            return Ok(self.rows(&part, block.view(), &mut item.rows, &mut scratch.dense));
        }
        let Some(tried) = item.tried.take() else { return self.fill(&part, &mut item, stored, scratch) };
        let packed = self.fetched(&item).map(|_| mark(std::iter::once(stored)));
        if packed.is_some_and(|packed| tried.is_as_before(item.place, packed)) {
            // So are its rows.
            return Ok(true);
        }
        let fits = self.fill(&part, &mut item, stored, scratch)?;
        match (item.place, packed) {
            (Place::Missing, _) => tried.note_missing(fits),
            (place, Some(packed)) => tried.note(place, packed, fits),
            // Memory that keeps what it had where a number is out of range does not tell what was read.
            (place, None) if fits || !self.conversion.keeps => {
                tried.note(place, mark(item.rows.iter().map(|row| &**row)), fits);
            }
            _ => {}
        }
        Ok(fits)
    }

    /// Fills the rows of one block that is not kept.
    fn fill(&self, part: &Part, item: &mut Item<'_>, stored: &[u8], scratch: &mut Scratch) -> Result<bool> {
        let Place::At { at, mask, .. } = item.place else {
            let fill = &self.blocks.fill;
            let rows = item.rows.iter_mut().enumerate();
            return Ok(rows.fold(true, |fits, (number, row)| {
                fits & part.fill_row(fill, number, &self.conversion, row)
            }));
        };
        if self.reads_in_part(item) {
            return self.in_part(&item.at, at, &mut item.rows);
        }
        let fail = |error: Error| error.at(format_args!("the block at byte {at}"));
        let block_len = self.block_len as usize;
        if self.blocks.chain.is_identity(mask) {
            if stored.len() < block_len {
                return Err(fail(too_short(stored.len() as u64, self.block_len)));
            }
            let block = Block { bytes: stored, planes: false };
            return Ok(self.rows(part, block, &mut item.rows, &mut scratch.dense));
        }
        self.blocks.chain.check_size(mask, stored.len(), block_len).map_err(fail)?;
        if let ([row], [run]) = (&mut item.rows[..], &part.inner[..])
            && self.conversion.is_in_place()
            && part.outer.is_empty()
            && run.count * part.size as u64 == self.block_len
        {
            self.blocks.chain.decode(mask, stored, row).map_err(fail)?;
            self.conversion.run_in_place(row);
            return Ok(true);
        }
        let (planes, mask) = match self.blocks.chain.without_shuffle(mask) {
            Some((size, mask)) if size == part.size && part.pays_apart(block_len) => (true, mask),
            _ => (false, mask),
        };
        if !self.takes_all(&item.at) && block_len <= cache::budget() {
            let key = self.key(&item.at);
            if self.blocks.cached.wants(&key) {
                let mut bytes = cache::buffer(block_len);
                self.blocks.chain.decode(mask, stored, &mut bytes).map_err(fail)?;
                let planes = planes.then_some(part.size);
                let block = Arc::new(Decoded { bytes, planes, look: Some(item.look), written: 0 });
                self.blocks.cached.keep([(key, block.clone())].into_iter());
                return Ok(self.rows(part, block.view(), &mut item.rows, &mut scratch.dense));
            }
        }
        if Chain::is_implausible(stored.len(), block_len) {
            let bytes = self.blocks.chain.decode_unverified(mask, stored, block_len).map_err(fail)?;
            let block = Block { bytes: &bytes, planes };
            return Ok(self.rows(part, block, &mut item.rows, &mut scratch.dense));
        }
        let mut buffer = std::mem::take(&mut scratch.stored);
        let bytes = buffer.get(block_len);
        let done = self.blocks.chain.decode(mask, stored, bytes).map_err(fail);
        let done =
            done.map(|()| self.rows(part, Block { bytes, planes }, &mut item.rows, &mut scratch.dense));
        scratch.stored = buffer;
        done
    }

    fn rows(&self, part: &Part, block: Block<'_>, rows: &mut [&mut [u8]], dense: &mut Buffer) -> bool {
        let rows = rows.iter_mut().enumerate();
        if let [run] = &part.inner[..]
            && self.uncached
            && self.conversion.is_copy()
            && !block.planes
        {
            let len = run.count as usize * part.size;
            uncached::copy_rows(
                rows.map(|(number, row)| (&block.bytes[part.row_at(number)..][..len], &mut **row)),
            );
            return true;
        }
        rows.fold(true, |fits, (number, row)| fits & part.row(block, number, &self.conversion, dense, row))
    }

    /// Reads the wanted part of a block that has no filters, and no more.
    fn in_part(&self, at: &[usize], position: u64, rows: &mut [&mut [u8]]) -> Result<bool> {
        let hit = |(dim, &hit): (usize, &usize)| self.hits[dim].at(hit);
        let stride = |dim: usize| (self.steps[dim].0 / self.steps[dim].1).max(1);
        let sel = Selection {
            start: at.iter().enumerate().map(|at| hit(at).offset).collect(),
            count: at.iter().enumerate().map(|at| hit(at).count as u64).collect(),
            stride: (0..at.len()).map(stride).collect(),
        };
        let steps = dense_steps(&self.blocks.shape, self.stored)?;
        let plan = Plan::new(&self.blocks.shape, self.stored, position, &steps, &sel, WINDOW)?;
        let windows = Windows::new(self.blob, &plan, self.conversion, self.past_end, self.size);
        if let [row] = rows {
            return windows.all(row);
        }
        let mut dense = vec![0; rows.iter().map(|row| row.len()).sum()];
        if self.conversion.keeps {
            let mut to = &mut dense[..];
            for row in rows.iter() {
                let (here, rest) = to.split_at_mut(row.len());
                here.copy_from_slice(row);
                to = rest;
            }
        }
        let fits = windows.all(&mut dense)?;
        let mut from = &dense[..];
        for row in rows {
            let (here, rest) = from.split_at(row.len());
            row.copy_from_slice(here);
            from = rest;
        }
        Ok(fits)
    }

    /// Does blocks with many tiny rows: some are decoded at a time, by all threads, and one thread copies them out.
    fn one_by_one(
        &self,
        ranges: &Ranges,
        found: &Found<'_>,
        tries: &mut Tries,
        out: &mut [u8],
    ) -> Result<bool> {
        let together = ((cache::budget() / 4) as u64 / self.block_len.max(1)).clamp(1, 64) as usize;
        let all = combinations(ranges).enumerate();
        let all: Vec<_> = all.filter(|(number, _)| !tries.is_settled(*number)).collect();
        let mut fits = true;
        for some in all.chunks(together) {
            let decode = |(number, _): &(usize, SmallVec<[usize; 4]>)| match found.kept(*number) {
                Some(kept) => Ok(Some(kept.clone())),
                None => Ok(self.whole(found.places[*number])?.map(|bytes| Decoded::written(bytes, 0))),
            };
            let blocks: Vec<Option<Shared>> = match pool::get().filter(|_| self.shares) {
                Some(pool) => pool.install(|| some.par_iter().map(decode).collect::<Result<_>>())?,
                None => some.iter().map(decode).collect::<Result<_>>()?,
            };
            Scratch::with(|scratch| {
                for ((number, at), block) in some.iter().zip(&blocks) {
                    let view = block.as_deref().map(Decoded::view);
                    let fit = self.copy_out(ranges, at, view, &mut scratch.dense, out);
                    fits &= fit;
                    let place = found.places[*number];
                    match (tries.block(*number), view) {
                        (Some(tried), Some(view)) if found.kept(*number).is_none() => {
                            tried.note(place, mark(std::iter::once(view.bytes)), fit);
                        }
                        (Some(tried), None) => tried.note_missing(fit),
                        _ => {}
                    }
                }
            });
        }
        Ok(fits)
    }

    /// A whole block, decoded; nothing if it is missing.
    pub(super) fn whole(&self, place: Place) -> Result<Option<Vec<u8>>> {
        let Place::At { at: position, len, mask } = place else { return Ok(None) };
        self.check_inside(position, position.saturating_add(len))?;
        Scratch::with(|scratch| {
            // Not more than the blob holds.
            let stored = scratch.window.at(position, len as usize);
            self.past_end.fetch(self.blob, position, stored)?;
            let block_len = self.block_len as usize;
            let fail = |error: Error| error.at(format_args!("the block at byte {position}"));
            self.blocks.chain.check_size(mask, stored.len(), block_len).map_err(fail)?;
            if Chain::is_implausible(stored.len(), block_len) {
                return self.blocks.chain.decode_unverified(mask, stored, block_len).map_err(fail).map(Some);
            }
            let mut block = cache::buffer(block_len);
            self.blocks.chain.decode(mask, stored, &mut block).map_err(fail)?;
            Ok(Some(block))
        })
    }

    /// Copies the selected part of one block to its places in the memory of a region.
    fn copy_out(
        &self,
        ranges: &Ranges,
        at: &[usize],
        block: Option<Block<'_>>,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let part = self.part(at);
        let rank = ranges.len();
        // For each dimension, where in memory the block begins and the bytes from one index to the next.
        let mut step = self.size;
        let mut first = 0;
        let mut outer: SmallVec<[Dim; 4]> = SmallVec::new();
        for dim in (0..rank).rev() {
            first += self.count(dim, (ranges[dim].0, at[dim])) * step;
            if dim + 1 < self.inner {
                outer.insert(0, Dim { count: self.hits[dim].at(at[dim]).count as u64, step: step as u64 });
            }
            step *= self.count(dim, ranges[dim]);
        }
        let row_len = part.row_elements() * self.size;
        (0..part.rows()).fold(true, |fits, number| {
            let to = first + offset(&outer, number as u64) as usize;
            let row = &mut out[to..][..row_len];
            fits & match block {
                Some(block) => part.row(block, number, &self.conversion, dense, row),
                None => part.fill_row(&self.blocks.fill, number, &self.conversion, row),
            }
        })
    }
}
