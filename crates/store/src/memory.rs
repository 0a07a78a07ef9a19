//! Bytes in memory.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use crate::{Blob, BlobMut, Cost, Writes};

/// A growable run of bytes in memory.
#[derive(Debug)]
pub struct MemoryBlob {
    bytes: RwLock<Vec<u8>>,
    /// Maximum size in bytes.
    limit: u64,
}

impl Default for MemoryBlob {
    /// Makes an empty blob without a limit.
    fn default() -> Self {
        MemoryBlob::new(Vec::new())
    }
}

impl MemoryBlob {
    /// Makes a blob with this content.
    pub fn new(bytes: Vec<u8>) -> Self {
        MemoryBlob { bytes: RwLock::new(bytes), limit: u64::MAX }
    }

    /// This blob with a limit: growing beyond that many bytes fails with `NC_EINMEMORY`.
    #[must_use]
    pub fn limited(self, limit: u64) -> Self {
        MemoryBlob { limit, ..self }
    }

    fn check(&self, size: u64) -> Result<()> {
        if size <= self.limit {
            return Ok(());
        }
        let what = format!("a file of {size} bytes in memory that cannot grow beyond {}", self.limit);
        Err(Error::new(Code::EINMEMORY, what))
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.read().clone()
    }

    // No code that holds the lock can panic half-way through a change, so a poisoned lock still guards good bytes.
    fn read(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes `bytes` at least (`grow_only`) or exactly `size` bytes long; an error if there is no memory for them.
fn resize(bytes: &mut Vec<u8>, size: u64, grow_only: bool) -> Result<()> {
    let no_memory = || Error::new(Code::ENOMEM, format!("no memory for a file of {size} bytes"));
    let size = usize::try_from(size).map_err(|_| no_memory())?;
    if size > bytes.len() {
        bytes.try_reserve(size - bytes.len()).map_err(|_| no_memory())?;
        bytes.resize(size, 0);
    } else if !grow_only {
        bytes.truncate(size);
    }
    Ok(())
}

impl Blob for MemoryBlob {
    fn size(&self) -> Result<u64> {
        Ok(self.read().len() as u64)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        Ok(copy_at(&self.read(), at, into))
    }

    fn name(&self) -> String {
        "memory".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

impl BlobMut for MemoryBlob {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let end = at.saturating_add(from.len() as u64);
        self.check(end)?;
        let mut bytes = self.write();
        resize(&mut bytes, end, true)?;
        // `resize` succeeded, so the position fits in memory.
        let at = at.saturate();
        bytes[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.check(size)?;
        resize(&mut self.write(), size, false)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        let new = MemoryBlob::default().limited(self.limit);
        write(&new)?;
        *self.write() = new.into_bytes();
        Ok(true)
    }
}

/// Bytes that somebody else owns, to be read.
#[derive(Debug)]
pub struct BorrowedBlob<'b>(pub &'b [u8]);

impl Blob for BorrowedBlob<'_> {
    fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        Ok(copy_at(self.0, at, into))
    }

    fn name(&self) -> String {
        "memory".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

/// Copies the bytes from position `at` to `into`, and returns how many there were.
fn copy_at(bytes: &[u8], at: u64, into: &mut [u8]) -> usize {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let got = rest.len().min(into.len());
    into[..got].copy_from_slice(&rest[..got]);
    got
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept() {
        let blob = MemoryBlob::new(vec![1; 4]).limited(6);
        blob.write_at(4, &[2, 3]).unwrap();
        assert_eq!(blob.write_at(5, &[9, 9]).unwrap_err().code, Code::EINMEMORY);
        assert_eq!(blob.set_size(7).unwrap_err().code, Code::EINMEMORY);
        assert_eq!(blob.to_bytes(), [1, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn passes_the_suite() {
        crate::suite::blob(|_| MemoryBlob::default());
    }

    #[test]
    fn a_size_beyond_memory_is_an_error() {
        let blob = MemoryBlob::default();
        assert_eq!(blob.write_at(u64::MAX - 3, &[1]).unwrap_err().code, Code::ENOMEM);
        assert_eq!(blob.set_size(u64::MAX).unwrap_err().code, Code::ENOMEM);
    }
}
