//! Chunks as they are stored in a blob: fetched whole, and decoded.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Chain;
use ferrocdf_store::Blob;

use super::cache;
use super::decoded::name;
use super::index::ChunkLocation;
use crate::PastEnd;
use crate::scratch::Scratch;

/// The stored chunks of one array.
#[derive(Clone, Copy)]
pub(super) struct StoredChunks<'a> {
    pub(super) blob: &'a dyn Blob,
    pub(super) past_end: PastEnd,
    pub(super) chain: &'a Chain,
    /// Bytes of a decoded chunk.
    pub(super) chunk_len: u64,
}

impl StoredChunks<'_> {
    /// Fills `into` from position `at` of the blob.
    pub(super) fn fetch(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.past_end.fetch(self.blob, at, into)
    }

    /// Checks that a range lies within the blob, before memory is taken for it.
    pub(super) fn check_inside(&self, begin: u64, end: u64) -> Result<()> {
        let size = self.blob.size()?;
        if end <= size {
            return Ok(());
        }
        let what =
            format!("chunk at bytes {begin} to {end}: past the end of the file, which has {size} bytes");
        Err(Error::new(Code::ETRUNC, what))
    }

    /// Fetches and decodes the whole chunk with these coordinates; `None` if it is missing.
    pub(super) fn read(&self, key: &[u64], location: ChunkLocation) -> Result<Option<Vec<u8>>> {
        let ChunkLocation::At { at: position, len, mask } = location else { return Ok(None) };
        self.check_inside(position, position.saturating_add(len))?;
        Scratch::with(|scratch| {
            // Not more than the blob holds.
            let stored = scratch.window.at(position, len as usize);
            self.fetch(position, stored)?;
            let chunk_len = self.chunk_len as usize;
            let fail = |error: Error| error.at(name(key, position));
            self.chain.check_size(mask, stored.len(), chunk_len).map_err(fail)?;
            if Chain::is_implausible(stored.len(), chunk_len) {
                return self.chain.decode_unverified(mask, stored, chunk_len).map_err(fail).map(Some);
            }
            let mut chunk = cache::buffer(chunk_len);
            self.chain.decode(mask, stored, &mut chunk).map_err(fail)?;
            Ok(Some(chunk))
        })
    }
}
