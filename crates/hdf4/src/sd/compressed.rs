//! Compressed data without chunks.
//!
//! Data that decodes to the length of its dataset is one chunk. Data that decodes to another length is read as contiguous bytes: libhdf4 reads
//! the elements that both lengths contain. Only data of 0 bytes has the fill value.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_array::{ChunkIndex, ChunkLocation, Chunks, Layout};
use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::Blob;

use super::short::Lens;
use super::{Located, Var};
use crate::File;
use crate::decoded::{Decoding, Encoded, decoded};
use crate::large_chunks::LargeChunks;
use crate::pieces::{Piece, PieceBlob, Place};
use crate::wire::bad;

impl Var {
    /// Returns the array of compressed data.
    pub(super) fn compressed(
        &self,
        file: &File,
        lens: Lens,
        steps: &[Step],
        pieces: &[Piece],
    ) -> Result<Located> {
        let (at, len, blob) = match *pieces {
            // Nothing was written: not even the end of a stream.
            [] | [Piece { len: 0, .. }] => return Ok(self.unwritten()),
            _ if lens.stored == 0 => return Ok(self.unwritten()),
            [Piece { place: Place::At(at), len }] => (at, len, None),
            _ => {
                let len = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.len));
                let blob = PieceBlob::new(file.blob().clone(), pieces, len, Arc::default());
                (0, len, Some(Arc::new(blob) as Arc<dyn Blob>))
            }
        };
        let chain = Arc::new(Chain::new(steps.to_vec(), file.codecs()));
        let source = blob.clone().unwrap_or_else(|| file.blob().clone());
        if lens.stored != lens.array {
            return self.of_other_length(file, lens, chain, Encoded { blob: source, at, len });
        }
        let shape = self.shape.iter().map(|&len| len.max(1)).collect();
        let large = LargeChunks::new(file.decoding(), source, chain.clone(), lens.array);
        let index = Arc::new(OneChunk { location: ChunkLocation::At { at, len, mask: 0 }, large });
        let chunks = Chunks::new(shape, index, chain, self.fill());
        Ok(Located { array: self.array(Layout::Chunked(chunks)), blob })
    }

    /// Returns the array of data that is shorter or longer than the dataset.
    ///
    /// # Errors
    /// `EHDFERR` if the coder decodes only as a whole.
    fn of_other_length(
        &self,
        file: &File,
        lens: Lens,
        chain: Arc<Chain>,
        source: Encoded,
    ) -> Result<Located> {
        let Lens { stored, array, .. } = lens;
        let decoding = Decoding::new(chain, stored, file.decoding().1.clone());
        let Some(decoding) = decoding.and_then(|whole| whole.of_prefix(array)) else {
            return Err(bad(format!(
                "compressed data: it decodes to {stored} bytes instead of {array}, and its coder decodes it only as a whole"
            )));
        };
        let decoded = decoded(source, &Arc::new(decoding));
        self.in_pieces(decoded, &[Piece::at(0, stored.min(array))], lens)
    }
}

/// The index of an array of one chunk, which is stored.
#[derive(Debug)]
struct OneChunk {
    location: ChunkLocation,
    large: LargeChunks,
}

impl ChunkIndex for OneChunk {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let total = count.iter().fold(1u64, |total, &len| total.saturating_mul(len));
        let mut all = vec![ChunkLocation::Missing; total.to_usize("chunk locations")?];
        if first.iter().all(|&at| at == 0)
            && let Some(location) = all.first_mut()
        {
            *location = self.location;
        }
        Ok(all)
    }

    fn decoded(&self, location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        self.large.decoded(location)
    }
}
