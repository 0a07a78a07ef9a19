//! A slow file, some bytes of which are in memory.

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, Cost, InRounds, ReadRequest};
use std::sync::Arc;

use crate::descriptors::Kept;

/// The bytes of a file. Requests for kept bytes take no request to the source.
pub struct KeptBlob {
    pub blob: Arc<InRounds>,
    pub kept: Kept,
}

impl KeptBlob {
    /// Fills a request from the kept bytes; false if they do not have all of it.
    fn fill(&self, request: &mut ReadRequest<'_>) -> bool {
        let Some((start, bytes)) = self.kept.range(..=request.at).next_back() else { return false };
        let skip = usize::try_from(request.at - start).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(skip..).and_then(|rest| rest.get(..request.into.len())) else {
            return false;
        };
        request.into.copy_from_slice(bytes);
        request.len = bytes.len();
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
        let (mut far, mut numbers) = (vec![], vec![]);
        for (number, request) in requests.iter_mut().enumerate() {
            if !self.fill(request) {
                numbers.push(number);
                far.push(ReadRequest::new(request.at, request.into));
            }
        }
        if far.is_empty() {
            return Ok(());
        }
        self.blob.read_many(&mut far)?;
        let lens: Vec<usize> = far.iter().map(|request| request.len).collect();
        for (number, len) in numbers.into_iter().zip(lens) {
            requests[number].len = len;
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.blob.name()
    }

    fn cost(&self) -> Cost {
        self.blob.cost()
    }

    fn forget(&self) {
        self.blob.forget();
    }
}
