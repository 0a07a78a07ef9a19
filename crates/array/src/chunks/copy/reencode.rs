//! Chunks that are decoded and encoded anew, because the copy has other filters.

use ferrocdf_bytes::{Error, Result};
use ferrocdf_store::Buffer;

use super::source::{Copier, SourceChunk};
use crate::chunks::decoded::{Key, name, too_short};
use crate::chunks::encode::ChunkSource;

/// Chunks of the source, decoded for the target.
pub(super) struct Reencoded<'a> {
    pub(super) copier: &'a Copier<'a>,
    pub(super) chunks: &'a [SourceChunk],
}

impl ChunkSource for Reencoded<'_> {
    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.chunks[number].key.clone()
    }

    fn borrow(&self, _number: usize) -> Option<&[u8]> {
        None
    }

    /// Hands an error of the source to the copier, and builds a chunk of fill values: the errors returned are those of the
    /// target alone.
    fn build(&self, number: usize, buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        let (copier, found) = (self.copier, &self.chunks[number]);
        match copier.decode(found, buffer, chunk) {
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
    /// Fetches and decodes a chunk of the source.
    fn decode(&self, found: &SourceChunk, buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        let &SourceChunk { at, len, mask, .. } = found;
        let chain = &self.from.chain;
        let fail = |error: Error| error.at(name(&found.key, at));
        if chain.is_identity(mask) {
            if len < self.chunk_len {
                return Err(fail(too_short(len, self.chunk_len)));
            }
            return self.from_blob.read_exact_at(at, chunk);
        }
        chain.check_size(mask, len as usize, chunk.len()).map_err(fail)?;
        // Not more than the blob holds.
        let stored = buffer.at(at, len as usize);
        self.from_blob.read_exact_at(at, stored)?;
        chain.decode(mask, stored, chunk).map_err(fail)
    }
}
