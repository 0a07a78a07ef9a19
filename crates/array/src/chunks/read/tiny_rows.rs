//! Reading chunks with many tiny rows: all threads decode a group of chunks, then one thread scatters their elements.

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::Buffer;
use smallvec::SmallVec;

use super::ChunkReader;
use super::plan::{PlannedChunk, ReadPlan};
use crate::chunks::cache;
use crate::chunks::decoded::{ChunkView, Decoded, Key, Shared};
use crate::chunks::index::ChunkLocation;
use crate::chunks::locate::Ranges;
use crate::chunks::optimistic::{Attempts, checksum};
use crate::chunks::stored::EncodedChunks;
use crate::pool;
use crate::requests::{BatchLimit, run_in_batches};
use crate::scratch::Scratch;
use crate::tiling::{Dim, offset};

impl ChunkReader<'_> {
    /// Reads the chunks of a plan into the memory of their box. True if all numbers were in range.
    pub(super) fn by_tiny_rows(
        &self,
        ranges: &Ranges,
        plan: &ReadPlan,
        attempts: &mut Attempts,
        out: &mut [u8],
    ) -> Result<bool> {
        let most = ((cache::budget() / 4) as u64 / self.stored.chunk_len.max(1)).clamp(1, 64) as usize;
        if !self.cost.is_near() {
            return self.by_tiny_rows_in_batches(ranges, plan, (most, attempts), out);
        }
        plan.chunks.chunks(most).try_fold(true, |in_range, some| {
            let some: SmallVec<[&PlannedChunk; 64]> = some.iter().collect();
            let decoded = self.decode_some(&some, |_, chunk| {
                let key = self.selected.key(&chunk.at);
                self.stored.read(&key, chunk.location)
            })?;
            Ok(in_range & self.copy_some(ranges, &some, &decoded, attempts, out))
        })
    }

    /// Reads the chunks of a plan from a slow source; `most` chunks are decoded at a time.
    fn by_tiny_rows_in_batches(
        &self,
        ranges: &Ranges,
        plan: &ReadPlan,
        (most, attempts): (usize, &mut Attempts),
        out: &mut [u8],
    ) -> Result<bool> {
        let location = |chunk: &PlannedChunk| match &chunk.kept {
            Some(_) => ChunkLocation::Missing,
            None => chunk.location,
        };
        let chunks = plan.chunks.iter().map(|chunk| (self.selected.key(&chunk.at), chunk));
        let len = |(_, chunk): &(Key, &PlannedChunk)| location(chunk).expected_len(self.stored.chunk_len);
        let fetch = |some: &[(Key, &PlannedChunk)], is_first: bool, encoded: EncodedChunks| {
            let some = some.iter().map(|(key, chunk)| (&key[..], location(chunk)));
            self.stored.fetch_many(some, is_first, encoded)
        };
        let limit = BatchLimit { requests: most, ..BatchLimit::of(&self.cost) };
        run_in_batches(limit, chunks, len, fetch, |some, encoded| {
            let (keys, some): (Vec<Key>, Vec<&PlannedChunk>) = some.into_iter().unzip();
            let decoded = self.decode_some(&some, |number, chunk| {
                self.stored.decode_fetched(&keys[number], chunk.location, encoded.get(number))
            })?;
            Ok(self.copy_some(ranges, &some, &decoded, attempts, out))
        })
    }

    /// Returns decoded chunks, on all threads if there is enough to do. `decode` is called for chunks that are neither cached nor
    /// pending.
    fn decode_some(
        &self,
        some: &[&PlannedChunk],
        decode: impl Fn(usize, &PlannedChunk) -> Result<Option<Vec<u8>>> + Sync,
    ) -> Result<Vec<Option<Shared>>> {
        let decode = |(number, chunk): (usize, &&PlannedChunk)| match &chunk.kept {
            Some(kept) => Ok(Some(kept.clone())),
            None => Ok(decode(number, chunk)?.map(|bytes| Decoded::written(bytes, 0, None))),
        };
        match pool::get().filter(|_| self.shares) {
            Some(pool) => pool.try_map(some, decode),
            None => some.iter().enumerate().map(decode).collect(),
        }
    }

    /// Scatters the selected parts of decoded chunks into the memory of a box. True if all numbers were in range.
    fn copy_some(
        &self,
        ranges: &Ranges,
        some: &[&PlannedChunk],
        decoded: &[Option<Shared>],
        attempts: &mut Attempts,
        out: &mut [u8],
    ) -> bool {
        Scratch::with(|scratch| {
            some.iter().zip(decoded).fold(true, |in_range, (chunk, decoded)| {
                let view = decoded.as_deref().map(Decoded::view);
                let fit = self.copy_out(ranges, &chunk.at, view, &mut scratch.dense, out);
                match (attempts.chunk(chunk.number), view) {
                    (Some(attempts), Some(view)) if chunk.kept.is_none() => {
                        attempts.record(chunk.location, checksum(std::iter::once(view.bytes)), fit);
                    }
                    (Some(attempts), None) => attempts.record_missing(fit),
                    _ => {}
                }
                in_range & fit
            })
        })
    }

    /// Scatters the selected part of one chunk into the memory of a box.
    fn copy_out(
        &self,
        ranges: &Ranges,
        at: &[usize],
        chunk: Option<ChunkView<'_>>,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let selected = &self.selected;
        let part = selected.rows(at);
        // `first` becomes the byte offset of the chunk in memory, `step` the stride of each dimension in memory.
        let mut step = self.size;
        let mut first = 0;
        let mut outer: SmallVec<[Dim; 4]> = SmallVec::new();
        for dim in (0..ranges.len()).rev() {
            first += selected.count(dim, (ranges[dim].0, at[dim])) * step;
            if dim + 1 < selected.inner {
                outer.insert(
                    0,
                    Dim { count: selected.by_dim[dim].at(at[dim]).count as u64, step: step as u64 },
                );
            }
            step *= selected.count(dim, ranges[dim]);
        }
        let row_len = part.row_elements() * self.size;
        (0..part.rows()).fold(true, |in_range, number| {
            let to = first + offset(&outer, number as u64).saturate();
            let row = &mut out[to..][..row_len];
            in_range
                & match chunk {
                    Some(chunk) => part.row(chunk, number, &self.conversion, dense, row),
                    None => part.fill_row(&selected.chunks.fill, number, &self.conversion, row),
                }
        })
    }
}
