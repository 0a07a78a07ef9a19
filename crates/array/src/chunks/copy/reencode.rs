//! Copying chunks that are decoded and encoded again, because the target has other filters.

use ferrocdf_bytes::{Error, Result, ToUsize};
use ferrocdf_store::Buffer;

use super::source::{Copier, SourceChunk};
use crate::chunks::decoded::{Key, too_short};
use crate::chunks::encode::ChunkSource;
use crate::chunks::stored::EncodedChunks;
use crate::requests::{BatchLimit, run_in_batches};

/// Decoded bytes that are encoded between two reports of progress; at least 16 chunks.
const REPORTED: u64 = 64 << 20;

/// Chunks of the source, decoded for the target.
pub(super) struct Reencoded<'a> {
    pub(super) copier: &'a Copier<'a>,
    /// Each chunk, and its stored bytes if they were fetched in a batch.
    pub(super) chunks: Vec<(&'a SourceChunk, Option<&'a [u8]>)>,
}

impl ChunkSource for Reencoded<'_> {
    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.chunks[number].0.key.clone()
    }

    fn borrow(&self, _number: usize) -> Option<&[u8]> {
        None
    }

    fn reframe(&self, number: usize, buffer: &mut Buffer, encoded: &mut Vec<u8>) -> bool {
        let (copier, (found, stored)) = (self.copier, self.chunks[number]);
        let (from, to) = (&copier.from.chain, &copier.to.chain);
        if !from.differs_in_frame(to) {
            return false;
        }
        let Ok(stored) = copier.encoded(found, stored, buffer) else { return false };
        let is_done = from.reframe(found.mask(), stored, copier.chunk_len, to, encoded);
        if is_done {
            copier.record(found, stored);
        }
        is_done
    }

    /// Records an error of the source in the copier and builds a chunk of fill values instead, so that
    /// [`ChunkWriter::write_from`](crate::chunks::encode::ChunkWriter::write_from) returns errors of the target only.
    fn build(&self, number: usize, buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        let (copier, (found, stored)) = (self.copier, self.chunks[number]);
        match copier.decode(found, stored, buffer, chunk) {
            Ok(()) => copier.record(found, chunk),
            Err(error) => {
                copier.to.fill_chunk(chunk);
                copier.fail(error);
            }
        }
        Ok(())
    }
}

impl Copier<'_> {
    /// Decodes chunks, encodes them with the filters of the target, and stores them. `progress` gets the number of chunks that
    /// were processed since its last call. Errors of the source are recorded in the copier, errors of the target are returned.
    pub(super) fn reencode(&self, chunks: &[SourceChunk], progress: &mut dyn FnMut(usize)) -> Result<()> {
        let together = (REPORTED / self.chunk_len.max(1)).max(16).saturate();
        let mut target = Ok(());
        let mut write = |chunks: Vec<(&SourceChunk, Option<&[u8]>)>, done: usize| {
            let chunks = Reencoded { copier: self, chunks };
            target = self.writer.write_from(self.to_blob, self.chunk_len.saturate(), &chunks);
            if target.is_ok() {
                progress(done);
            }
            target.clone()
        };
        if !self.in_batches {
            for some in chunks.chunks(together) {
                if self.has_failed() {
                    break;
                }
                write(some.iter().map(|chunk| (chunk, None)).collect(), some.len())?;
            }
            return Ok(());
        }
        let limit = BatchLimit { requests: together, ..BatchLimit::of(&self.stored().cost()) };
        let jobs = chunks.iter().take_while(|_| !self.has_failed());
        let fetch = |some: &[&SourceChunk], _is_first, encoded| {
            self.fetch_many(some.iter().copied(), encoded).inspect_err(|error| self.fail(error.clone()))
        };
        let len = |chunk: &&SourceChunk| chunk.len;
        let done = run_in_batches(limit, jobs, len, fetch, |some, encoded: &EncodedChunks| {
            let bytes = (0..some.len()).map(|number| encoded.get(number));
            let is_stored = |(chunk, bytes): &(&SourceChunk, Option<&[u8]>)| {
                if bytes.is_none() {
                    self.record_missing(chunk);
                }
                bytes.is_some()
            };
            write(some.iter().copied().zip(bytes).filter(is_stored).collect(), some.len()).map(|()| true)
        });
        if self.has_failed() { target } else { done.map(drop) }
    }

    /// Decodes a chunk of the source into `chunk`. Fetches its encoded bytes from the blob if `stored` is `None`.
    fn decode(
        &self,
        found: &SourceChunk,
        stored: Option<&[u8]>,
        buffer: &mut Buffer,
        chunk: &mut [u8],
    ) -> Result<()> {
        let mask = found.mask();
        let len = stored.map_or(found.len, |stored| stored.len() as u64);
        let chain = &self.from.chain;
        let fail = |error: Error| error.at(self.stored().name(&found.key, found.location));
        if chain.is_identity(mask) {
            if len < self.chunk_len {
                return Err(fail(too_short(len, self.chunk_len)));
            }
            let Some(stored) = stored else { return self.from_blob.read_exact_at(found.position(), chunk) };
            chunk.copy_from_slice(&stored[..chunk.len()]);
            return Ok(());
        }
        chain.check_size(mask, len.to_usize("encoded bytes").map_err(fail)?, chunk.len()).map_err(fail)?;
        chain.decode(mask, self.encoded(found, stored, buffer)?, chunk).map_err(fail)
    }

    /// Returns the encoded bytes of a chunk of the source. Fetches them from the blob into `buffer` if `stored` is `None`.
    fn encoded<'b>(
        &self,
        found: &SourceChunk,
        stored: Option<&'b [u8]>,
        buffer: &'b mut Buffer,
    ) -> Result<&'b [u8]> {
        if let Some(stored) = stored {
            return Ok(stored);
        }
        // `Copier::chunks` bounds the length by the size of the blob.
        let stored = buffer.at(found.position(), found.len.to_usize("encoded bytes")?);
        self.from_blob.read_exact_at(found.position(), stored)?;
        Ok(stored)
    }
}
