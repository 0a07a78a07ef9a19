//! Filling memory from fetched chunks: decode, convert, scatter.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::Chain;
use ferrocdf_store::{Buffer, Cost};

use super::ChunkReader;
use super::fetch::ChunkTask;
use super::plan::Need;
use crate::PastEnd;
use crate::array::dense_strides;
use crate::chunks::cache;
use crate::chunks::decoded::{ChunkView, Decoded, too_short};
use crate::chunks::index::ChunkLocation;
use crate::chunks::optimistic::checksum;
use crate::chunks::rows::ChunkRows;
use crate::non_temporal;
use crate::scratch::Scratch;
use crate::tile_job::{TileJob, fill_in_batches, read_in_batches};
use crate::tile_reader::TileReader;
use crate::tiling::{TilePlan, read_limit};

impl ChunkReader<'_> {
    /// Fills the rows of one chunk and records the attempt. `stored` has the encoded bytes; `None` if the chunk is missing, in
    /// memory, or read by parts.
    pub(super) fn task(
        &self,
        task: &mut ChunkTask<'_>,
        stored: Option<&[u8]>,
        generation: u64,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let part = self.selected.rows(&task.chunk.at);
        if let Some(kept) = &task.chunk.kept {
            return Ok(self.rows(&part, kept.view(), &mut task.rows, &mut scratch.dense));
        }
        let Some(attempts) = task.attempts.take() else {
            return self.fill(&part, task, (stored, generation), scratch);
        };
        let location = task.chunk.location;
        let sum = stored.map(|stored| checksum(std::iter::once(stored)));
        if sum.is_some_and(|sum| attempts.is_as_before(location, sum)) {
            // The last attempt filled the rows from the same bytes.
            return Ok(true);
        }
        let in_range = self.fill(&part, task, (stored, generation), scratch)?;
        match (location, sum) {
            (ChunkLocation::Missing, _) | (ChunkLocation::Object { .. }, None) => {
                attempts.record_missing(in_range);
            }
            (location, Some(sum)) => attempts.record(location, sum, in_range),
            (ChunkLocation::At { .. }, None) => {
                task.attempts = Some(attempts);
                self.record_elements(task, in_range);
            }
        }
        Ok(in_range)
    }

    /// Records the attempt at reading a part of an unfiltered chunk, by the checksum of the converted elements in memory: its
    /// encoded bytes were not fetched as a whole.
    pub(super) fn record_elements(&self, task: &mut ChunkTask<'_>, in_range: bool) {
        let Some(attempts) = task.attempts.take() else { return };
        // If memory keeps its old value where a number is out of range, equal checksums of memory do not prove equal elements.
        if in_range || !self.conversion.keeps {
            let elements = checksum(task.rows.iter().map(|row| &**row));
            attempts.record(task.chunk.location, elements, in_range);
        }
    }

    /// Fills the rows of one chunk that is neither cached nor pending.
    fn fill(
        &self,
        part: &ChunkRows,
        task: &mut ChunkTask<'_>,
        (stored, generation): (Option<&[u8]>, u64),
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let chunks = self.selected.chunks;
        if let Need::Part(position) = task.chunk.need {
            return self.read_elements(&task.chunk.at, position, &mut task.rows);
        }
        let location = task.chunk.location;
        if task.chunk.need == Need::Decoded {
            let done = self.read_decoded(task);
            return done
                .map_err(|error| error.at(self.stored.name(&self.selected.key(&task.chunk.at), location)));
        }
        let (Some(mask), Some(stored)) = (location.mask(), stored) else {
            let rows = task.rows.iter_mut().enumerate();
            return Ok(rows.fold(true, |in_range, (number, row)| {
                in_range & part.fill_row(&chunks.fill, number, &self.conversion, row)
            }));
        };
        let fail = |error: Error| error.at(self.stored.name(&self.selected.key(&task.chunk.at), location));
        let chain = self.stored.chain;
        let chunk_len = self.stored.chunk_len.saturate();
        if chain.is_identity(mask) {
            if stored.len() < chunk_len {
                return Err(fail(too_short(stored.len() as u64, self.stored.chunk_len)));
            }
            let chunk = ChunkView { bytes: stored, planes: false };
            return Ok(self.rows(part, chunk, &mut task.rows, &mut scratch.dense));
        }
        chain.check_size(mask, stored.len(), chunk_len).map_err(fail)?;
        if let [row] = &mut task.rows[..]
            && self.conversion.is_in_place()
            && part.is_whole(self.stored.chunk_len)
        {
            chain.decode(mask, stored, row).map_err(fail)?;
            self.conversion.run_in_place(row);
            return Ok(true);
        }
        let (planes, mask) = match chain.without_shuffle(mask) {
            Some((size, mask)) if size == part.size && part.unshuffles_rows(chunk_len) => (true, mask),
            _ => (false, mask),
        };
        if !self.selected.takes_all(&task.chunk.at) && chunk_len <= cache::budget() {
            let key = self.selected.key(&task.chunk.at);
            if chunks.cached.wants(&key) {
                let mut bytes = cache::buffer(chunk_len);
                chain.decode(mask, stored, &mut bytes).map_err(fail)?;
                let planes = planes.then_some(part.size);
                let chunk = Arc::new(Decoded {
                    bytes,
                    planes,
                    generation: Some(generation),
                    written: 0,
                    changes: None,
                });
                chunks.cached.keep([(key, chunk.clone())].into_iter());
                return Ok(self.rows(part, chunk.view(), &mut task.rows, &mut scratch.dense));
            }
        }
        if Chain::is_implausible(stored.len(), chunk_len) {
            let bytes = chain.decode_unverified(mask, stored, chunk_len).map_err(fail)?;
            let chunk = ChunkView { bytes: &bytes, planes };
            return Ok(self.rows(part, chunk, &mut task.rows, &mut scratch.dense));
        }
        let mut buffer = std::mem::take(&mut scratch.stored);
        let bytes = buffer.get(chunk_len);
        let wanted = if planes { 0..chunk_len } else { part.span() };
        let done = chain.decode_part(mask, stored, wanted, bytes).map_err(fail);
        let done =
            done.map(|()| self.rows(part, ChunkView { bytes, planes }, &mut task.rows, &mut scratch.dense));
        scratch.stored = buffer;
        done
    }

    /// Converts the selected part of a decoded chunk into its rows.
    fn rows(
        &self,
        part: &ChunkRows,
        chunk: ChunkView<'_>,
        rows: &mut [&mut [u8]],
        dense: &mut Buffer,
    ) -> bool {
        let rows = rows.iter_mut().enumerate();
        if let [run] = &part.inner[..]
            && self.non_temporal
            && self.conversion.is_copy()
            && !chunk.planes
        {
            let len = run.count.saturate() * part.size;
            non_temporal::copy_rows(
                rows.map(|(number, row)| (&chunk.bytes[part.row_at(number)..][..len], &mut **row)),
            );
            return true;
        }
        rows.fold(true, |in_range, (number, row)| {
            in_range & part.row(chunk, number, &self.conversion, dense, row)
        })
    }

    /// Reads the selected elements of a chunk from its decoded bytes, in their order.
    fn read_decoded(&self, task: &mut ChunkTask<'_>) -> Result<bool> {
        let Some(decoded) = self.selected.chunks.index.decoded(task.chunk.location) else {
            return Err(Error::new(Code::EINTERNAL, "its decoded bytes are gone"));
        };
        let plan = self.part_plan(&task.chunk.at, 0, &decoded.cost())?;
        let (past_end, count) = (PastEnd::Error, task.rows.len());
        let rows = task.rows.iter_mut().map(|row| &mut **row);
        let tiles = TileJob::split(&plan, rows, self.size, None);
        match count {
            1 => read_in_batches(&*decoded, past_end, self.conversion, tiles),
            _ => fill_in_batches(&*decoded, past_end, self.conversion, tiles),
        }
    }

    /// Plans the requests for the selected elements of a chunk whose elements lie one behind the other from `position` on.
    pub(super) fn part_plan(&self, at: &[usize], position: u64, cost: &Cost) -> Result<TilePlan> {
        let (shape, stored) = (&self.selected.chunks.shape, self.array.stored);
        let sel = self.selected.selection(at);
        let strides = dense_strides(shape, stored)?;
        TilePlan::new(shape, stored, position, &strides, &sel, (read_limit(cost), cost))
    }

    /// Reads the selected elements of an unfiltered chunk with requests of their own.
    fn read_elements(&self, at: &[usize], position: u64, rows: &mut [&mut [u8]]) -> Result<bool> {
        let plan = self.part_plan(at, position, &self.cost)?;
        let windows =
            TileReader::new(self.stored.blob, &plan, self.conversion, self.stored.past_end, self.size);
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
        let in_range = windows.all(&mut dense)?;
        let mut from = &dense[..];
        for row in rows {
            let (here, rest) = from.split_at(row.len());
            row.copy_from_slice(here);
            from = rest;
        }
        Ok(in_range)
    }
}
