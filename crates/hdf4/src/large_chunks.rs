//! Chunks that are too large to be decoded as a whole.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ferrocdf_array::ChunkLocation;
use ferrocdf_codec::Chain;
use ferrocdf_store::Blob;

use crate::decoded::{DecodedCache, Decoding, Encoded, decoded};

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
    /// How large chunks are decoded, once there is one; `None` where the coder decodes only as a whole.
    decoding: OnceLock<Option<Arc<Decoding>>>,
    /// By position and length of the encoded bytes.
    chunks: Mutex<HashMap<(u64, u64), Arc<dyn Blob>>>,
}

impl LargeChunks {
    /// `whole` and `cache` are those of the file.
    pub fn new(
        (whole, cache): (u64, &Arc<DecodedCache>),
        source: Arc<dyn Blob>,
        chain: Arc<Chain>,
        chunk_len: u64,
    ) -> LargeChunks {
        let (cache, decoding, chunks) = (cache.clone(), OnceLock::new(), Mutex::default());
        LargeChunks { source, chain, chunk_len, whole, cache, decoding, chunks }
    }

    /// Returns the decoded bytes of a chunk, the same blob each time; `None` if it is decoded as a whole.
    pub fn decoded(&self, location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        let ChunkLocation::At { at, len, .. } = location else { return None };
        if self.chain.is_empty() || self.chunk_len.max(len) <= self.whole {
            return None;
        }
        let decoding = self.decoding.get_or_init(|| {
            Decoding::new(self.chain.clone(), self.chunk_len, self.cache.clone()).map(Arc::new)
        });
        let decoding = decoding.as_ref()?;
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || decoded(Encoded { blob: self.source.clone(), at, len }, decoding);
        Some(chunks.entry((at, len)).or_insert_with(open).clone())
    }
}

impl fmt::Debug for LargeChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LargeChunks({} bytes each)", self.chunk_len)
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_codec::{Codecs, FilterId, Step};
    use ferrocdf_store::MemoryBlob;

    use super::*;

    #[test]
    fn chunks_share_the_decoder_of_the_first_byte() {
        let step = Step { id: FilterId::Hdf5(1), name: String::new(), optional: false, params: vec![6] };
        let chain = Arc::new(Chain::new(vec![step], &Codecs::default()));
        let source = Arc::new(MemoryBlob::new(vec![]));
        let large = LargeChunks::new((0, &Arc::default()), source, chain, 1 << 30);
        for at in 0..1000 {
            assert!(large.decoded(ChunkLocation::At { at, len: 1, mask: 0 }).is_some());
        }
        let decoding = large.decoding.get().unwrap().as_ref().unwrap();
        assert_eq!((large.chunks.lock().unwrap().len(), Arc::strong_count(decoding)), (1000, 1001));
    }
}
