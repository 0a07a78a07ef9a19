//! A slow file, some bytes of which are in memory.

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, InRounds, ReadRequest, forward, read_parts};
use std::sync::Arc;

use crate::descriptors::KeptStructures;

/// The bytes of a file. Requests for kept bytes take no request to the source.
pub struct KeptBlob {
    pub blob: Arc<InRounds>,
    pub kept: KeptStructures,
}

impl KeptBlob {
    /// Fills a buffer from the kept bytes; false if they do not have all of it.
    fn fill(&self, at: u64, into: &mut [u8]) -> bool {
        let Some((start, bytes)) = self.kept.range(..=at).next_back() else { return false };
        let skip = (at - start).saturate();
        let Some(bytes) = bytes.get(skip..).and_then(|rest| rest.get(..into.len())) else {
            return false;
        };
        into.copy_from_slice(bytes);
        true
    }
}

impl Blob for KeptBlob {
    fn size(&self) -> Result<u64> {
        self.blob.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut requests = [ReadRequest::new(at, into)];
        self.read_many(&mut requests)?;
        Ok(requests[0].len)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        read_parts(&*self.blob, requests, |at, into, parts| {
            let len = into.len();
            if !self.fill(at, into) {
                parts.push(ReadRequest::new(at, into));
            }
            Ok(len)
        })
    }

    forward!([.blob] name cost forget);
}
