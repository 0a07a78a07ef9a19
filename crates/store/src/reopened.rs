//! Files of which only a few are open at a time, so that a dataset can refer to more files than a process may have open.
//!
//! The open files of the process are kept in one list; the file that was read least recently is closed first. A file that was closed is opened again by
//! its path, and must then be the same file.

use std::collections::VecDeque;
use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Error, Result, errno};

use crate::os::identity;
use crate::{Blob, ChangeToken, Cost, FileBlob};

/// Files that are open at a time, besides those that are being read.
const MAX_OPEN: usize = 64;

/// Open files with the numbers of their blobs, the least recently read one first.
static OPEN: Mutex<VecDeque<(u64, Arc<FileBlob>)>> = Mutex::new(VecDeque::new());

/// A local file to be read, which is closed while others are read.
pub struct ReopenedFile {
    /// The absolute path, so that the file is found again when the process has another working folder.
    path: PathBuf,
    /// Number of the blob, unique in the process.
    number: u64,
    seen: Metadata,
}

impl fmt::Debug for ReopenedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl ReopenedFile {
    /// Opens an existing file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let file = FileBlob::open(&path)?;
        let seen = metadata(&file)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        insert(number, Arc::new(file));
        Ok(ReopenedFile { path, number, seen })
    }

    /// Returns the open file.
    ///
    /// # Errors
    /// `ESTALE` if another file has the path now; those of opening it.
    fn file(&self) -> Result<Arc<FileBlob>> {
        let mut files = open_files();
        if let Some(at) = files.iter().position(|(number, _)| *number == self.number)
            && let Some((number, file)) = files.remove(at)
        {
            files.push_back((number, Arc::clone(&file)));
            return Ok(file);
        }
        drop(files);
        let file = FileBlob::open(&self.path)?;
        if !identity::is_same_file(&metadata(&file)?, &self.seen) {
            let what = format!("{}: another file took its place since it was opened", self.path.display());
            return Err(Error::new(errno::STALE, what));
        }
        let file = Arc::new(file);
        insert(self.number, Arc::clone(&file));
        Ok(file)
    }
}

impl Drop for ReopenedFile {
    fn drop(&mut self) {
        open_files().retain(|(number, _)| *number != self.number);
    }
}

impl Blob for ReopenedFile {
    fn size(&self) -> Result<u64> {
        self.file()?.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.file()?.read_at(at, into)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }

    fn change_token(&self) -> Option<ChangeToken> {
        self.file().ok()?.change_token()
    }

    fn is_nameless(&self) -> bool {
        self.file().is_ok_and(|file| file.is_nameless())
    }
}

fn open_files() -> MutexGuard<'static, VecDeque<(u64, Arc<FileBlob>)>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn metadata(file: &FileBlob) -> Result<Metadata> {
    file.file().metadata().map_err(|error| Error::system(error, file.name()))
}

/// Adds an open file to the list. Two threads may open one file at once; one of both is closed.
fn insert(number: u64, file: Arc<FileBlob>) {
    let mut files = open_files();
    files.retain(|(other, _)| *other != number);
    if files.len() >= MAX_OPEN {
        files.pop_front();
    }
    files.push_back((number, file));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_files_is_read_with_few_of_them_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        let blobs: Vec<ReopenedFile> = (0..3 * MAX_OPEN)
            .map(|number| {
                std::fs::write(path(number), number.to_string()).unwrap();
                ReopenedFile::open(&path(number)).unwrap()
            })
            .collect();
        for _ in 0..2 {
            for (number, blob) in blobs.iter().enumerate() {
                let mut bytes = vec![0; blob.size().unwrap() as usize];
                blob.read_exact_at(0, &mut bytes).unwrap();
                assert_eq!(bytes, number.to_string().into_bytes());
                assert!(open_files().len() <= MAX_OPEN);
            }
        }
        // The first file is closed, the last one is open.
        for number in [0, 3 * MAX_OPEN - 1] {
            std::fs::rename(path(1), path(number)).unwrap();
            std::fs::write(path(1), "").unwrap();
        }
        assert_eq!(blobs[0].size().unwrap_err().code, errno::STALE);
        assert_eq!(blobs[3 * MAX_OPEN - 1].size().unwrap(), 3);
    }
}
