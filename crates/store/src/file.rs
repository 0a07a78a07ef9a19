//! A file of the operating system, through `pread` and `pwrite`.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ferrocdf_bytes::{Error, Result};

use crate::{Blob, BlobMut, Change};

/// A local file.
#[derive(Debug)]
pub struct FileBlob {
    file: File,
    path: PathBuf,
    /// The process that has the lock; 0 if none.
    locked_by: AtomicU32,
}

impl FileBlob {
    /// Opens an existing file for reading.
    pub fn open(path: &Path) -> Result<Self> {
        Self::with(OpenOptions::new().read(true), path)
    }

    /// Opens an existing file for reading and writing.
    pub fn open_mut(path: &Path) -> Result<Self> {
        Self::with(OpenOptions::new().read(true).write(true), path)
    }

    /// Makes an empty file for reading and writing; an existing one is emptied.
    pub fn create(path: &Path) -> Result<Self> {
        Self::with(OpenOptions::new().read(true).write(true).create(true).truncate(true), path)
    }

    /// Makes an empty file for reading and writing; fails with `EEXIST` if there is one.
    pub fn create_new(path: &Path) -> Result<Self> {
        Self::with(OpenOptions::new().read(true).write(true).create_new(true), path)
    }

    /// Takes the lock of a writer: no other process, and no other opening of the file, may have one. False if somebody has.
    /// File systems that cannot lock are fine. It is given back when the file is closed.
    pub fn lock(&self) -> Result<bool> {
        match rustix::fs::flock(&self.file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                self.locked_by.store(std::process::id(), Ordering::Relaxed);
                Ok(true)
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            // Whoever cannot lock here cannot elsewhere.
            Err(_) => Ok(true),
        }
    }

    /// The path it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn with(options: &mut OpenOptions, path: &Path) -> Result<Self> {
        let file = options.open(path).map_err(|error| Error::system(&error, path.display()))?;
        Ok(FileBlob { file, path: path.to_path_buf(), locked_by: AtomicU32::new(0) })
    }

    fn failed(&self, doing: std::fmt::Arguments<'_>, error: &std::io::Error) -> Error {
        Error::system(error, format_args!("{}: {doing}", self.path.display()))
    }
}

impl Drop for FileBlob {
    /// A process that another thread is starting has the descriptor as well until it runs its program, and closing
    /// ours would leave the lock with it; giving it back does not. A child made by `fork` that closes its copy must leave
    /// the lock to us.
    fn drop(&mut self) {
        if *self.locked_by.get_mut() == std::process::id() {
            let _ = rustix::fs::flock(&self.file, rustix::fs::FlockOperation::Unlock);
        }
    }
}

impl Blob for FileBlob {
    fn size(&self) -> Result<u64> {
        let meta = self.file.metadata().map_err(|e| self.failed(format_args!("asking its size"), &e))?;
        Ok(meta.len())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], at + done as u64) {
                Ok(0) => break,
                Ok(got) => done += got,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => {
                    let len = into.len();
                    return Err(self.failed(format_args!("reading {len} bytes at byte {at}"), &e));
                }
            }
        }
        Ok(done)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn last_change(&self) -> Option<Change> {
        let meta = self.file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Change::seen(meta.modified().ok()?, meta.len()))
    }

    fn is_quick(&self) -> bool {
        true
    }
}

impl BlobMut for FileBlob {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.file
            .write_all_at(from, at)
            .map_err(|e| self.failed(format_args!("writing {} bytes at byte {at}", from.len()), &e))
    }

    fn set_size(&self, size: u64) -> Result<()> {
        // Devices such as `/dev/null` have no size to set.
        if self.file.metadata().is_ok_and(|meta| !meta.is_file()) {
            return Ok(());
        }
        self.file.set_len(size).map_err(|e| self.failed(format_args!("setting its size to {size} bytes"), &e))
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| self.failed(format_args!("flushing it to disk"), &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        crate::suite::blob(|n| FileBlob::create(&folder.path().join(n.to_string())).unwrap());
    }

    #[test]
    fn a_device_takes_everything() {
        let null = FileBlob::create(Path::new("/dev/null")).unwrap();
        null.write_at(10, b"gone").unwrap();
        null.set_size(100).unwrap();
        assert_eq!(null.size().unwrap(), 0);
    }

    #[test]
    fn a_closed_file_has_no_lock_whoever_else_has_its_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locked");
        let first = FileBlob::create(&path).unwrap();
        assert!(first.lock().unwrap());
        let second = FileBlob::open_mut(&path).unwrap();
        assert!(!second.lock().unwrap(), "two writers");
        let inherited = first.file.try_clone().unwrap();
        drop(first);
        assert!(second.lock().unwrap(), "the lock was left with the other descriptor");
        drop(inherited);
    }

    #[test]
    fn missing_file_keeps_errno() {
        let error = FileBlob::open(Path::new("no/such/file.nc")).unwrap_err();
        assert_eq!(error.code.0, 2);
        assert_eq!(error.to_string(), "no/such/file.nc (No such file or directory)");
    }
}
