//! Compressed data without chunks.
//!
//! Data as long as its dataset is one chunk. Data of another length is what it decodes to, as contiguous bytes: the library reads elements
//! within both, and refuses every request that reaches behind the end of the data. Only data of 0 bytes has the fill value.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_array::{ChunkIndex, ChunkLocation, Chunks, Layout};
use ferrocdf_bytes::Result;
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::{Blob, forward};

use super::{Data, Located, Var};
use crate::decoded::{Decoding, Encoded, decoded};
use crate::large_chunks::LargeChunks;
use crate::pieces::{Piece, PieceBlob};
use crate::wire::bad;
use crate::{File, tags};

impl Var {
    /// Returns the array of compressed data: `stored` bytes, decoded, in a dataset of `total` bytes.
    pub(super) fn compressed(
        &self,
        file: &File,
        (stored, total): (u64, u64),
        steps: &[Step],
        pieces: &[Piece],
    ) -> Result<Located> {
        let (at, len, blob) = match *pieces {
            // Nothing was written: not even the end of a stream.
            [] | [Piece { len: 0, .. }] => return Ok(self.unwritten()),
            _ if stored == 0 => return Ok(self.unwritten()),
            [Piece { at: Some(at), len }] => (at, len, None),
            _ => {
                let len = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.len));
                let blob = PieceBlob::new(file.blob().clone(), pieces, len, Arc::default());
                (0, len, Some(Arc::new(blob) as Arc<dyn Blob>))
            }
        };
        let chain = Arc::new(Chain::new(steps.to_vec(), file.codecs()));
        let source = blob.clone().unwrap_or_else(|| file.blob().clone());
        if stored != total {
            return self.of_other_length(file, (stored, total), chain, Encoded { blob: source, at, len });
        }
        let shape = self.shape.iter().map(|&len| len.max(1)).collect();
        let large = LargeChunks::new(file.decoding(), source, chain.clone(), total);
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
        (stored, total): (u64, u64),
        chain: Arc<Chain>,
        source: Encoded,
    ) -> Result<Located> {
        let decoding = Decoding::new(chain, stored, file.decoding().1.clone());
        let Some(decoding) = decoding.and_then(|whole| whole.of_prefix(total)) else {
            return Err(bad(format!("{stored} compressed bytes instead of {total}")));
        };
        let decoded = decoded(source, &Arc::new(decoding));
        let element = match self.data {
            Data::Object(tag, reference) | Data::Raster((tag, reference), _) => (tag, reference),
            Data::Scale(reference, _) => (tags::SDS, reference),
            Data::Unwritten => return Ok(self.unwritten()),
        };
        self.contiguous(0, Some(Arc::new(OtherLength { decoded, element, stored, total })))
    }
}

/// The decoded bytes of data that is shorter or longer than its dataset.
struct OtherLength {
    decoded: Arc<dyn Blob>,
    /// Tag and reference number of the element.
    element: (u16, u16),
    /// Number of decoded bytes, of the data and of the dataset.
    stored: u64,
    total: u64,
}

impl Blob for OtherLength {
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let end = at.saturating_add(into.len() as u64);
        if end > self.stored {
            let OtherLength { element: (tag, reference), stored, total, .. } = self;
            return Err(bad(format!(
                "element {tag}/{reference}: decodes to {stored} of {total} bytes, which end before those from byte {at} to {end}"
            )));
        }
        self.decoded.read_at(at, into)
    }

    forward!([.decoded] size name cost forget);
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
        let mut all = vec![ChunkLocation::Missing; total as usize];
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
