//! Copies of sparse files: zeros of the source are not written where the copy reads as zeros already, so that they take no
//! space there either.
//!
//! The bytes decide, not the map of holes that the file system keeps: the file at the path of the source may be another one
//! by now, and blobs that are no files have no such map.

use std::path::Path;

use ferrocdf_bytes::{Result, ToUsize};

use crate::os::identity;
use crate::{Blob, BlobMut, Writes, forward};

/// Bytes that are skipped at a time if all are zero: a multiple of the blocks of file systems.
const RUN: usize = 64 << 10;

/// True if the disk space of a file is smaller than its size by more than 64 KiB, the length of a run: less may be the work of a
/// file system that compresses or packs small files.
pub fn is_sparse(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && identity::disk_bytes(&meta) + SkipZeros::RUN < meta.len())
}

/// A wrapper that does not write zeros where the blob reads as zeros or has no bytes yet. Zeros at the end do not make the blob
/// longer.
pub struct SkipZeros<'a>(pub &'a dyn BlobMut);

/// Calls `work` with a blob, through [`SkipZeros`] if zeros are to be left out.
pub fn skipping_zeros<T>(blob: &dyn BlobMut, skips_zeros: bool, work: impl FnOnce(&dyn BlobMut) -> T) -> T {
    if skips_zeros { work(&SkipZeros(blob)) } else { work(blob) }
}

impl SkipZeros<'_> {
    /// Bytes of a run that is left out if all of it is zero. Runs end at multiples of this number in the blob.
    pub const RUN: u64 = RUN as u64;

    /// True if the `len` bytes from `at` on are zeros, or past the end of the blob.
    fn has_zeros(&self, at: u64, len: usize) -> Result<bool> {
        let mut present = vec![0; len];
        let len = self.0.read_at(at, &mut present)?;
        Ok(is_zero(&present[..len]))
    }
}

/// True if all bytes are zero.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

impl Blob for SkipZeros<'_> {
    forward!([.0] size read_at read_many read_suffix name forget expect_pages change_token cost is_nameless);
}

impl BlobMut for SkipZeros<'_> {
    forward!([.0] set_size flush sync keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        let (mut start, mut next) = (0, 0);
        while next < from.len() {
            // Runs end at multiples of their length in the file, as its blocks do.
            let to_border = RUN - ((at + next as u64) % RUN as u64).saturate();
            let end = from.len().min(next + to_border);
            if is_zero(&from[next..end]) && self.has_zeros(at + next as u64, end - next)? {
                if start < next {
                    self.0.write_at(at + start as u64, &from[start..next])?;
                }
                start = end;
            }
            next = end;
        }
        if start < from.len() { self.0.write_at(at + start as u64, &from[start..]) } else { Ok(()) }
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        self.0.replace(&mut |new| write(&SkipZeros(new)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::MemoryBlob;
    use crate::suite::Probe;

    #[test]
    fn zeros_are_left_out_where_there_are_zeros_or_nothing_and_written_elsewhere() {
        let blob = MemoryBlob::new(vec![7; 10]);
        let skip = SkipZeros(&blob);
        skip.write_at(4, &[0; 3]).unwrap();
        assert_eq!(blob.size().unwrap(), 10);
        skip.write_at(8, &[0; 3 * RUN]).unwrap();
        // Only the run that contains the last two bytes.
        assert_eq!(blob.size().unwrap(), RUN as u64);
        let mut bytes = vec![0; 4 * RUN];
        bytes[2 * RUN + 5] = 1;
        skip.write_at(10, &bytes).unwrap();
        assert_eq!(blob.size().unwrap(), 3 * RUN as u64);
        skip.write_at(20, &[5; 3]).unwrap();
        let mut read = vec![9; 30];
        blob.read_exact_at(0, &mut read).unwrap();
        assert_eq!(read[..24], [7, 7, 7, 7, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 0]);
        let mut read = [0; 1];
        blob.read_exact_at(10 + 2 * RUN as u64 + 5, &mut read).unwrap();
        assert_eq!(read, [1]);
    }

    #[test]
    fn every_method_is_passed_on() {
        // The probe outlives the check.
        let wrap = |probe: Arc<Probe>| SkipZeros(&**Box::leak(Box::new(probe)));
        crate::suite::forwards_reads(wrap, &[]);
        crate::suite::forwards_writes(wrap, &[]);
    }
}
