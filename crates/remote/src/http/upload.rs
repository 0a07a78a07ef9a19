//! Bodies of requests.

use std::io::{self, Read};

use ferrocdf_store::Blob;

/// The body of a request, which is read once more for each attempt.
#[derive(Clone, Copy)]
pub(crate) enum Upload<'a> {
    /// No body.
    Nothing,
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// A blob of this size, of which a part is in memory at a time.
    Blob(&'a dyn Blob, u64),
}

impl Upload<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Upload::Nothing => 0,
            Upload::Bytes(bytes) => bytes.len() as u64,
            Upload::Blob(_, size) => *size,
        }
    }
}

/// Reads a blob from its begin to `left` bytes further on.
pub(super) struct BlobReader<'a> {
    blob: &'a dyn Blob,
    at: u64,
    left: u64,
}

impl<'a> BlobReader<'a> {
    pub(super) fn new(blob: &'a dyn Blob, size: u64) -> BlobReader<'a> {
        BlobReader { blob, at: 0, left: size }
    }
}

impl Read for BlobReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = (into.len() as u64).min(self.left) as usize;
        self.blob
            .read_exact_at(self.at, &mut into[..len])
            .map_err(|error| io::Error::other(error.to_string()))?;
        (self.at, self.left) = (self.at + len as u64, self.left - len as u64);
        Ok(len)
    }
}
