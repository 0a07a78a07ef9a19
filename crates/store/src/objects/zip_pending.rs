//! Objects that wait for the next commit of a zip file: their bytes in one nameless file, and their places in memory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use super::nameless::folder_of;
use super::steps::step;
use super::zip_write::{PIECE, Pieces};
use super::{ByteRange, Fetched, Version};
use crate::os::prealloc;
use crate::{Blob, BlobMut, FileBlob};

/// A nameless file that only grows.
#[derive(Debug)]
pub(super) struct PendingFile {
    blob: FileBlob,
    /// Position behind the last object.
    end: AtomicU64,
}

/// An object that was put.
#[derive(Debug)]
pub(super) struct PendingObject {
    file: Arc<PendingFile>,
    at: u64,
    size: u64,
    /// Checksum of the object (CRC-32).
    pub(super) crc: u32,
    version: Version,
}

impl PendingFile {
    /// Makes a file in the folder of the zip file, where there is room for it. `shown` is the path of the zip file for messages.
    pub(super) fn new(path: &Path, shown: &Path) -> io::Result<Arc<PendingFile>> {
        step()?;
        let blob = FileBlob::of(tempfile::tempfile_in(folder_of(path))?, shown);
        Ok(Arc::new(PendingFile { blob, end: AtomicU64::new(0) }))
    }

    pub(super) fn blob(&self) -> &FileBlob {
        &self.blob
    }

    /// Takes room for `size` bytes, and calls `write` with their position. It returns their checksum. Threads write at once.
    fn add(
        self: &Arc<Self>,
        size: u64,
        version: Version,
        write: impl FnOnce(u64) -> Result<u32>,
    ) -> Result<PendingObject> {
        let at = self.end.fetch_add(size, Ordering::Relaxed);
        match write(at) {
            Ok(crc) => Ok(PendingObject { file: self.clone(), at, size, crc, version }),
            Err(error) => {
                self.free(at, size);
                Err(error)
            }
        }
    }

    /// Writes an object.
    pub(super) fn put(self: &Arc<Self>, bytes: &[u8], version: Version) -> Result<PendingObject> {
        self.add(bytes.len() as u64, version, |at| {
            self.blob.write_at(at, bytes)?;
            Ok(libdeflater::crc32(bytes))
        })
    }

    /// Copies the bytes of a blob as an object, piece by piece.
    pub(super) fn put_blob(self: &Arc<Self>, from: &dyn Blob, version: Version) -> Result<PendingObject> {
        let size = from.size()?;
        self.add(size, version, |at| {
            let (mut crc, mut next) = (libdeflater::Crc::new(), at);
            let mut piece = vec![0; size.at_most(PIECE)];
            let mut done = 0;
            while done < size {
                let len = (size - done).at_most(piece.len());
                from.read_exact_at(done, &mut piece[..len])?;
                crc.update(&piece[..len]);
                self.blob.write_at(next, &piece[..len])?;
                (done, next) = (done + len as u64, next + len as u64);
            }
            Ok(crc.sum())
        })
    }

    /// Gives the disk space of a range back. Errors are ignored: the space is free after the next commit at the latest.
    fn free(&self, at: u64, len: u64) {
        prealloc::free(self.blob.file(), at, len);
    }
}

impl PendingObject {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn version(&self) -> Version {
        self.version.clone()
    }

    /// Reads a range of the object.
    pub(super) fn get(&self, range: ByteRange) -> Result<Fetched> {
        let (start, end) = range.within(self.size);
        let len = end - start;
        let no_memory = || Error::new(Code::ENOMEM, format!("no memory for {len} bytes"));
        let mut bytes = vec![];
        let len = usize::try_from(len).map_err(|_| no_memory())?;
        bytes.try_reserve_exact(len).map_err(|_| no_memory())?;
        bytes.resize(len, 0);
        self.file.blob.read_exact_at(self.at + start, &mut bytes)?;
        Ok(Fetched { bytes, start, total: self.size, version: self.version.clone() })
    }

    /// Returns the file of the object to copy it, and its position there.
    pub(super) fn pieces(&self) -> (Pieces<'_>, u64) {
        (Pieces::exact(&self.file.blob), self.at)
    }

    /// Gives its disk space back, unless another thread still reads it.
    pub(super) fn free(object: Arc<PendingObject>) {
        if let Some(PendingObject { file, at, size, .. }) = Arc::into_inner(object) {
            file.free(at, size);
        }
    }
}
