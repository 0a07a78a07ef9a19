//! A file of the operating system, through `pread` and `pwrite`.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrocdf_bytes::{Error, Result, ToUsize, errno};

use crate::os::prealloc::Preallocation;
use crate::os::{identity, locks, positional, sync};
use crate::{Blob, BlobMut, ChangeToken, Cost};

/// A local file.
#[derive(Debug)]
pub struct FileBlob {
    file: File,
    path: PathBuf,
    /// Id of the process that has the file lock; 0 if none has.
    locked_by: AtomicU32,
    preallocation: Preallocation,
    /// Locked while a large range is written: the kernel lets one thread at a time write to a file, and other threads would spin
    /// in the kernel.
    large_writes: Mutex<()>,
}

/// Bytes of a large write: many times longer than taking a lock.
const LARGE: usize = 64 << 10;

/// Interrupted requests in a row after which the interruption is an error: a cause that never ends must not hang the caller.
const MAX_INTERRUPTIONS: u32 = 100;

/// Writes all of `from` at position `at` of a file, in as many requests as that takes.
pub(crate) fn write_whole(file: &File, mut from: &[u8], mut at: u64) -> io::Result<()> {
    while !from.is_empty() {
        let done = uninterrupted(|| match positional::write_at(file, from, at) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            done => done,
        })?;
        (from, at) = (&from[done..], at + done as u64);
    }
    Ok(())
}

/// Fills `into` with the bytes from position `at` of a file on, in as many requests as that takes.
pub(crate) fn read_whole(file: &File, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        let done = uninterrupted(|| positional::read_at(file, into, at))?;
        if done == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (into, at) = (&mut into[done..], at + done as u64);
    }
    Ok(())
}

/// Repeats a system call while signals interrupt it. A call that transfers 0 bytes counts as interrupted.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..MAX_INTERRUPTIONS {
        match call() {
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WriteZero) => {}
            done => return done,
        }
    }
    call()
}

/// Bytes of one request to write, up to a multiple of as many: for more, kernels take memory in pieces of 2 MiB, which virtual
/// machines may have given back to their host, and get again ten times as slowly as they write.
const PIECE: usize = 1 << 20;

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
    ///
    /// An empty file is not truncated: ext4 writes a file that was truncated to the disk when it is closed, which for 1 GB
    /// takes as long as writing it.
    pub fn create(path: &Path) -> Result<Self> {
        let blob = Self::with(OpenOptions::new().read(true).write(true).create(true).truncate(false), path)?;
        if blob.size()? > 0 {
            blob.set_size(0)?;
        }
        Ok(blob)
    }

    /// Makes an empty file for reading and writing; fails with `EEXIST` if there is one.
    pub fn create_new(path: &Path) -> Result<Self> {
        Self::with(OpenOptions::new().read(true).write(true).create_new(true), path)
    }

    /// Wraps an open file; `path` is for messages.
    pub(crate) fn of(file: File, path: &Path) -> Self {
        FileBlob {
            file,
            path: path.to_path_buf(),
            locked_by: AtomicU32::new(0),
            preallocation: Preallocation::default(),
            large_writes: Mutex::default(),
        }
    }

    /// Waits until the directory entry of the file is on disk (`fsync` of its folder).
    pub fn sync_name(&self) -> Result<()> {
        let opened = |error| self.failed(format_args!("opening its folder"), error);
        // The folder of the file that a link leads to, not the folder of the link.
        let path = self.path.canonicalize().map_err(opened)?;
        let folder = sync::open_folder(path.parent().unwrap_or(Path::new("/"))).map_err(opened)?;
        self.sync_folder(&folder)
    }

    /// Waits until the directory entries of its folder are on disk.
    pub(crate) fn sync_folder(&self, folder: &File) -> Result<()> {
        let done = uninterrupted(|| sync::sync_folder(folder));
        done.map_err(|e| self.failed(format_args!("flushing its folder to disk"), e))
    }

    /// Returns the open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Takes the lock of a writer until the file is closed. False if another process, or another opening of the file, has it. On
    /// file systems without locks it always succeeds.
    pub fn lock(&self) -> Result<bool> {
        match locks::try_lock(&self.file) {
            Ok(true) => {
                self.locked_by.store(std::process::id(), Ordering::Relaxed);
                Ok(true)
            }
            Ok(false) => Ok(false),
            // No other process can lock on such a file system either.
            Err(_) => Ok(true),
        }
    }

    /// Takes the lock of a writer, which HDF5 programs take too, unless the environment variable
    /// `HDF5_USE_FILE_LOCKING` is `FALSE` or `0`. Readers take no lock and ignore those of writers.
    ///
    /// # Errors
    /// `EAGAIN` if another process, or another opening of the file, holds the lock.
    pub fn lock_for_writing(&self) -> Result<()> {
        let wanted = std::env::var_os("HDF5_USE_FILE_LOCKING");
        let without = wanted.is_some_and(|word| word.eq_ignore_ascii_case("FALSE") || word == "0");
        if without || self.lock()? {
            return Ok(());
        }
        let what = "another process writes the file, or reads it with the HDF5 library, and holds its lock (no lock is \
                    taken with HDF5_USE_FILE_LOCKING=FALSE)";
        Err(Error::new(errno::AGAIN, what))
    }

    /// Returns the path that the file was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn with(options: &mut OpenOptions, path: &Path) -> Result<Self> {
        let file = options.open(path).map_err(|error| Error::system(error, path.display()))?;
        Ok(Self::of(file, path))
    }

    fn failed(&self, doing: std::fmt::Arguments<'_>, error: io::Error) -> Error {
        Error::system(error, format_args!("{}: {doing}", self.path.display()))
    }
}

impl Drop for FileBlob {
    /// Unlocks the file before it is closed. A process that another thread is starting has a copy of the descriptor until `exec`,
    /// so closing alone would leave the file locked until then. A child made by `fork` that closes its copy must not unlock the
    /// file of its parent, so only the process that locked it does.
    fn drop(&mut self) {
        if *self.locked_by.get_mut() == std::process::id() {
            locks::unlock(&self.file);
        }
    }
}

impl Blob for FileBlob {
    fn size(&self) -> Result<u64> {
        let meta = self.file.metadata().map_err(|e| self.failed(format_args!("asking its size"), e))?;
        Ok(meta.len())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match uninterrupted(|| positional::read_at(&self.file, &mut into[done..], at + done as u64)) {
                Ok(0) => break,
                Ok(got) => done += got,
                Err(e) => {
                    let len = into.len();
                    return Err(self.failed(format_args!("reading {len} bytes at byte {at}"), e));
                }
            }
        }
        Ok(done)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn change_token(&self) -> Option<ChangeToken> {
        let meta = self.file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(ChangeToken::file(meta.modified().ok()?, meta.len()))
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }

    fn is_nameless(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| identity::names(&meta) == 0)
    }
}

impl BlobMut for FileBlob {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        let is_large = from.len() >= LARGE;
        let _turn = is_large.then(|| self.large_writes.lock().unwrap_or_else(PoisonError::into_inner));
        self.preallocation.reserve(&self.file, at, from.len());
        let first = PIECE - (at % PIECE as u64).saturate();
        let (first, rest) = from.split_at(first.min(from.len()));
        let mut next = at;
        for piece in std::iter::once(first).chain(rest.chunks(PIECE)) {
            let done = write_whole(&self.file, piece, next);
            done.map_err(|e| self.failed(format_args!("writing {} bytes at byte {at}", from.len()), e))?;
            next += piece.len() as u64;
        }
        Ok(())
    }

    fn set_size(&self, size: u64) -> Result<()> {
        // Devices such as `/dev/null` have no size to set.
        if self.file.metadata().is_ok_and(|meta| !meta.is_file()) {
            return Ok(());
        }
        let done = uninterrupted(|| positional::set_size(&self.file, size));
        done.map_err(|e| self.failed(format_args!("setting its size to {size} bytes"), e))
    }

    fn keeps_holes(&self) -> bool {
        true
    }

    fn sync(&self) -> Result<()> {
        let done = uninterrupted(|| sync::sync_data(&self.file));
        done.map_err(|e| self.failed(format_args!("flushing it to disk"), e))
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
    fn large_pieces_are_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let blob = FileBlob::create(&folder.path().join("large")).unwrap();
        let bytes: Vec<u8> =
            (0..3 * PIECE as u32 + 7).map(|at| (at.wrapping_mul(2654435761) >> 24) as u8).collect();
        let mut end = 0;
        // Writes behind the end, across it, and within the file.
        for at in [12_345, 3 * PIECE as u64, 0, 2 * PIECE as u64 - 1] {
            blob.write_at(at, &bytes).unwrap();
            end = end.max(at + bytes.len() as u64);
            assert_eq!(blob.size().unwrap(), end);
            let mut found = vec![0; bytes.len()];
            blob.read_exact_at(at, &mut found).unwrap();
            assert!(found == bytes, "{at}");
        }
        let mut before = vec![0; 12_345];
        blob.read_exact_at(0, &mut before).unwrap();
        assert!(before == bytes[..12_345]);
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
        assert_eq!(error.code, errno::NOENT);
        assert_eq!(error.to_string(), "no/such/file.nc (No such file or directory)");
    }
}
