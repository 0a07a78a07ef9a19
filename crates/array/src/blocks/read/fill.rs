//! Filling memory from fetched chunks: decode, convert, scatter.

use std::sync::Arc;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_codec::Chain;
use ferrocdf_store::Buffer;

use super::Reader;
use super::fetch::Item;
use super::plan::Need;
use crate::array::dense_steps;
use crate::blocks::cache;
use crate::blocks::decoded::{Block, Decoded, too_short};
use crate::blocks::index::Place;
use crate::blocks::part::Part;
use crate::blocks::tries::mark;
use crate::plan::{Plan, WINDOW};
use crate::read::Windows;
use crate::scratch::Scratch;
use crate::uncached;

impl Reader<'_> {
    /// Fills the rows of one chunk from its stored bytes, as far as the plan needs these, and notes what the rows are then.
    pub(super) fn item(&self, item: &mut Item<'_>, stored: &[u8], scratch: &mut Scratch) -> Result<bool> {
        let part = self.chunks.part(&item.chunk.at);
        if let Some(kept) = item.chunk.kept.take() {
            return Ok(self.rows(&part, kept.view(), &mut item.rows, &mut scratch.dense));
        }
        let Some(tried) = item.tried.take() else { return self.fill(&part, item, stored, scratch) };
        let place = item.chunk.place;
        let packed = match item.chunk.need {
            Need::Whole(..) => Some(mark(std::iter::once(stored))),
            Need::Part(_) | Need::Nothing => None,
        };
        if packed.is_some_and(|packed| tried.is_as_before(place, packed)) {
            // So are its rows.
            return Ok(true);
        }
        let fits = self.fill(&part, item, stored, scratch)?;
        match (place, packed) {
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

    /// Fills the rows of one chunk that is not in memory.
    fn fill(&self, part: &Part, item: &mut Item<'_>, stored: &[u8], scratch: &mut Scratch) -> Result<bool> {
        let blocks = self.chunks.blocks;
        let Place::At { at, mask, .. } = item.chunk.place else {
            let rows = item.rows.iter_mut().enumerate();
            return Ok(rows.fold(true, |fits, (number, row)| {
                fits & part.fill_row(&blocks.fill, number, &self.conversion, row)
            }));
        };
        if let Need::Part(position) = item.chunk.need {
            return self.in_part(&item.chunk.at, position, &mut item.rows);
        }
        let fail = |error: Error| error.at(format_args!("the block at byte {at}"));
        let chain = self.stored.chain;
        let block_len = self.stored.block_len as usize;
        if chain.is_identity(mask) {
            if stored.len() < block_len {
                return Err(fail(too_short(stored.len() as u64, self.stored.block_len)));
            }
            let block = Block { bytes: stored, planes: false };
            return Ok(self.rows(part, block, &mut item.rows, &mut scratch.dense));
        }
        chain.check_size(mask, stored.len(), block_len).map_err(fail)?;
        if let ([row], [run]) = (&mut item.rows[..], &part.inner[..])
            && self.conversion.is_in_place()
            && part.outer.is_empty()
            && run.count * part.size as u64 == self.stored.block_len
        {
            chain.decode(mask, stored, row).map_err(fail)?;
            self.conversion.run_in_place(row);
            return Ok(true);
        }
        let (planes, mask) = match chain.without_shuffle(mask) {
            Some((size, mask)) if size == part.size && part.pays_apart(block_len) => (true, mask),
            _ => (false, mask),
        };
        if !self.chunks.takes_all(&item.chunk.at) && block_len <= cache::budget() {
            let key = self.chunks.key(&item.chunk.at);
            if blocks.cached.wants(&key) {
                let mut bytes = cache::buffer(block_len);
                chain.decode(mask, stored, &mut bytes).map_err(fail)?;
                let planes = planes.then_some(part.size);
                let block = Arc::new(Decoded { bytes, planes, look: Some(item.chunk.look), written: 0 });
                blocks.cached.keep([(key, block.clone())].into_iter());
                return Ok(self.rows(part, block.view(), &mut item.rows, &mut scratch.dense));
            }
        }
        if Chain::is_implausible(stored.len(), block_len) {
            let bytes = chain.decode_unverified(mask, stored, block_len).map_err(fail)?;
            let block = Block { bytes: &bytes, planes };
            return Ok(self.rows(part, block, &mut item.rows, &mut scratch.dense));
        }
        let mut buffer = std::mem::take(&mut scratch.stored);
        let bytes = buffer.get(block_len);
        let done = chain.decode(mask, stored, bytes).map_err(fail);
        let done =
            done.map(|()| self.rows(part, Block { bytes, planes }, &mut item.rows, &mut scratch.dense));
        scratch.stored = buffer;
        done
    }

    /// Converts the selected part of a decoded chunk into its rows.
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

    /// Reads the selected part of an unfiltered chunk, and no more.
    fn in_part(&self, at: &[usize], position: u64, rows: &mut [&mut [u8]]) -> Result<bool> {
        let (shape, stored) = (&self.chunks.blocks.shape, self.array.stored);
        let sel = self.chunks.selection(at);
        let steps = dense_steps(shape, stored)?;
        let plan = Plan::new(shape, stored, position, &steps, &sel, (WINDOW, &self.cost))?;
        let windows = Windows::new(self.stored.blob, &plan, self.conversion, self.stored.past_end, self.size);
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
}
