//! Chunks that are too large to be decoded as a whole.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_array::ChunkLocation;
use ferrocdf_codec::Chain;
use ferrocdf_store::Blob;

use crate::decoded::{DecodedCache, Encoded, decoded};

/// The decoded bytes of a chunk; `None` where the coder decodes only as a whole.
type DecodedBytes = Option<Arc<dyn Blob>>;

/// The decoded bytes of the large ones among chunks of one size.
pub(crate) struct LargeChunks {
    /// The bytes that locations are about.
    source: Arc<dyn Blob>,
    chain: Arc<Chain>,
    /// Bytes of a chunk, decoded.
    chunk_len: u64,
    /// Maximum number of bytes, decoded and encoded, of a chunk that is decoded as a whole.
    whole: u64,
    cache: Arc<DecodedCache>,
    /// By position and length of the encoded bytes.
    chunks: Mutex<HashMap<(u64, u64), DecodedBytes>>,
}

impl LargeChunks {
    /// `whole` and `cache` are those of the file.
    pub fn new(
        (whole, cache): (u64, &Arc<DecodedCache>),
        source: Arc<dyn Blob>,
        chain: Arc<Chain>,
        chunk_len: u64,
    ) -> LargeChunks {
        let cache = cache.clone();
        LargeChunks { source, chain, chunk_len, whole, cache, chunks: Mutex::default() }
    }

    /// Returns the decoded bytes of a chunk, the same blob each time; `None` if it is decoded as a whole.
    pub fn decoded(&self, location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        let ChunkLocation::At { at, len, .. } = location else { return None };
        if self.chain.is_empty() || self.chunk_len.max(len) <= self.whole {
            return None;
        }
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            decoded(
                Encoded { blob: self.source.clone(), at, len },
                self.chain.clone(),
                self.chunk_len,
                &self.cache,
            )
        };
        chunks.entry((at, len)).or_insert_with(open).clone()
    }
}

impl fmt::Debug for LargeChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LargeChunks({} bytes each)", self.chunk_len)
    }
}
