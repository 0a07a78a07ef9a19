//! Copying chunks from one array to another of the same shape: without decoding if the filters are the same ([`transfer`]), else
//! each chunk is decoded and encoded with the filters of the target, or only its frame is changed ([`reencode`]).
//!
//! If another process changes the source, an attempt with an error of the source is repeated. An error of the target ends the
//! copy: chunks whose checksums are verified are not read again, so no other attempt would write those that the target lacks.

mod reencode;
mod source;
mod transfer;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::FilterId;
use ferrocdf_store::{Blob, BlobMut, is_zero};

use super::cache;
use super::coverage::MAX_LOCATED;
use super::layout::Chunks;
use crate::{Array, Layout};
use source::Copier;
use transfer::CopyPipeline;

/// Maximum decoded bytes of a chunk that is reencoded. Each thread has such a chunk in memory, so the bound holds whatever chunk
/// size a file claims.
const MAX_REENCODED: u64 = 32 << 20;

/// Copies all chunks of one array to another. Chunks are copied without decoding if the filters and their parameters are equal,
/// else decoded and encoded. If only the frames differ, in which the last filter stores compressed blocks, these are changed
/// ([`Chain::reframe`](ferrocdf_codec::Chain::reframe)). `progress` gets the bytes of elements that were copied since its last call.
///
/// Returns false, and writes nothing, if chunks cannot be copied. If the filters are equal, no chunk may have a filter mask that
/// the store of `to` does not keep. Array shape, chunk shape and element type must be equal, neither array may have a decoder or a pending chunk, and `to` must be writable and have no stored chunk. Chunks to be
/// reencoded may have at most 32 MiB, and at most a quarter of the cache budget.
///
/// Fill values must be equal if a chunk of `from` is or may be missing. They must also be equal if a chunk reaches beyond the
/// array along a dimension that can grow, since its elements there become visible, unless `to` has an empty fill value.
///
/// # Errors
/// `ETRUNC` for a chunk outside its blob; those of the blobs, the filters, the index and the store. After an error some chunks
/// may have been copied.
pub fn copy_chunks(
    (from_blob, from): (&dyn Blob, &Array),
    (to_blob, to): (&dyn BlobMut, &Array),
    progress: &mut dyn FnMut(u64),
) -> Result<bool> {
    let (Layout::Chunked(from_chunks), Layout::Chunked(to_chunks)) = (&from.layout, &to.layout) else {
        return Ok(false);
    };
    let is_plain = from.decoder.is_none() && to.decoder.is_none();
    let has_pending = from_chunks.has_pending() || to_chunks.has_pending();
    let alike = (&from.shape, from.stored) == (&to.shape, to.stored) && from_chunks.shape == to_chunks.shape;
    if !is_plain || has_pending || !alike {
        return Ok(false);
    }
    let Some(pending) = &to_chunks.pending else { return Ok(false) };
    let writer = pending.writer();
    let mut failed = pending.lock();
    if let Some(error) = failed.take() {
        return Err(error);
    }
    if from.shape.contains(&0) {
        return Ok(true);
    }
    if from.shape.len() != from_chunks.shape.len() || from_chunks.shape.contains(&0) {
        let what = format!(
            "chunk shape {:?} needs as many dimensions as array shape {:?}, none of length 0",
            from_chunks.shape, from.shape
        );
        return Err(Error::new(Code::EINVAL, what));
    }
    let grid = from_chunks.grid(&from.shape);
    let same_fill = same_fill(&from_chunks.fill, &to_chunks.fill);
    let open_end =
        |dim: usize| writer.store.can_grow(dim) && !from.shape[dim].is_multiple_of(from_chunks.shape[dim]);
    if !same_fill && !to_chunks.fill.is_empty() && (0..from.shape.len()).any(open_end) {
        return Ok(false);
    }
    let size = from.stored.kind.size() as u64;
    let chunk_len = from_chunks.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let copier = Copier::new((from_blob, from_chunks), (to_blob, to_chunks), writer, (same_fill, chunk_len));
    let is_transfer = from_chunks.has_filters_of(to_chunks);
    let is_new = to_chunks.count_stored(&*to_chunks.index, &grid, 1)? == Some(0);
    let can_copy = from_chunks.try_for_each_box(&grid, |some, is_missing| {
        if is_missing && is_new {
            return Ok(same_fill);
        }
        // The copy may have chunks where the source has none.
        let mut pieces = some.pieces(MAX_LOCATED);
        pieces.try_fold(true, |all, (_, _, piece)| {
            let mut can = false;
            from_chunks.read_consistently(|attempt| {
                can = copier.can_copy(attempt.index, &piece, is_transfer)?;
                Ok(true)
            })?;
            Ok(all && can)
        })
    })?;
    if !can_copy {
        return Ok(false);
    }
    if !is_transfer && chunk_len > MAX_REENCODED.min(cache::budget() as u64 / 4) {
        return Ok(false);
    }
    let all = grid.count.iter().fold(1u64, |all, &len| all.saturating_mul(len));
    let elements = from.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let mut report = Progress { bytes: elements, chunks: all, reported: 0, progress };
    let mut pipeline = CopyPipeline::new(&copier);
    let mut first = 0u64;
    from_chunks.try_for_each_box(&grid, |some, is_missing| {
        let count = some.elements().unwrap_or(u64::MAX);
        if is_missing {
            first = first.saturating_add(count);
            report.advance(first);
            return Ok(true);
        }
        // At most `MAX_LOCATED`.
        let (count, mut copied) = (count.saturate(), 0);
        copier.begin_box();
        let mut target = Ok(());
        from_chunks.read_consistently(|attempt| {
            copier.begin_attempt(attempt.is_verifying, count);
            let locations = from_chunks.locate(attempt.index, &some.start, &some.count)?;
            if attempt.is_watched {
                from_blob.forget();
            }
            let chunks = copier.chunks(some, &locations)?;
            if is_transfer {
                target = pipeline.push_all(chunks);
            } else {
                target = copier.reencode(&chunks, &mut |done| {
                    copied = (copied + done).min(count);
                    report.advance(first + copied as u64);
                });
            }
            let read = copier.end_attempt();
            if target.is_err() { Ok(true) } else { read }
        })?;
        target?;
        first += count as u64;
        report.advance(first);
        Ok(true)
    })?;
    pipeline.push(vec![]).map(|()| true)
}

/// Progress of a copy in bytes of elements, in proportion to the number of copied chunks.
struct Progress<'a> {
    bytes: u64,
    chunks: u64,
    reported: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl Progress<'_> {
    /// Reports that `copied` chunks were copied so far; the number never decreases.
    fn advance(&mut self, copied: u64) {
        let bytes =
            (u128::from(self.bytes) * u128::from(copied.min(self.chunks)) / u128::from(self.chunks)) as u64;
        (self.progress)(bytes - self.reported);
        self.reported = bytes;
    }
}

impl Chunks {
    /// True if the filters and their parameters are those of other chunks.
    fn has_filters_of(&self, other: &Chunks) -> bool {
        let steps = |chunks: &Chunks| -> Vec<(FilterId, Vec<u32>)> {
            chunks.chain.steps().map(|step| (step.id.clone(), step.params.clone())).collect()
        };
        steps(self) == steps(other)
    }
}

/// True if both fill values are equal; an empty fill value stands for zeros.
fn same_fill(from: &[u8], to: &[u8]) -> bool {
    from == to || (is_zero(from) && is_zero(to))
}
