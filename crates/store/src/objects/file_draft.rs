//! A new file that is written piece by piece, and appears under its name when it is complete.
//!
//! Until then it has no name where the system can do that, so nothing is left of it when the process ends in whatever way, and a file that
//! has the name stays as it was.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::{Error, Result, errno};

use super::directory::MODE;
use super::nameless::NamelessFile;
use super::steps::step;
use crate::{BlobMut, FileBlob, copy_access, resolve_links};

/// A file that is to appear under a name.
#[derive(Debug)]
pub struct FileDraft {
    /// The path with symbolic links resolved.
    path: PathBuf,
    file: NamelessFile,
}

impl FileDraft {
    /// Makes an empty file in the folder of `path`.
    ///
    /// # Errors
    /// `EEXIST` if the path is that of a folder, a device or anything else that is not a file; those of the system.
    pub fn new(path: &Path) -> Result<FileDraft> {
        let target = resolve_links(path).unwrap_or_else(|| path.to_path_buf());
        if std::fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
            let what = format!("{}: it exists, and is not a file", path.display());
            return Err(Error::new(errno::EXIST, what));
        }
        let file =
            NamelessFile::new(&target, path, MODE).map_err(|error| Error::system(error, path.display()))?;
        Ok(FileDraft { path: target, file })
    }

    /// Returns the bytes of the file.
    pub fn blob(&self) -> Arc<FileBlob> {
        self.file.blob.clone()
    }

    /// Waits until the disk has the bytes, and gives the file its name. A file that has the name is replaced, and hands on its owner and
    /// its access rights.
    ///
    /// # Errors
    /// Those of the system. The name has what it had before then, or the new file.
    pub fn finish(self) -> Result<()> {
        let FileDraft { path, file } = self;
        let blob = file.blob.clone();
        let failed = |error: io::Error| Error::system(error, blob.path().display());
        if let Ok(old) = FileBlob::open(&path) {
            step().and_then(|()| copy_access(&old, blob.file())).map_err(failed)?;
        }
        // The bytes must be on disk before the name is.
        step().map_err(failed)?;
        blob.sync()?;
        file.take_name(&path, true).map_err(failed)?;
        step().map_err(failed)?;
        blob.sync_name()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::super::steps::fail_at;
    use super::*;

    fn write(path: &Path, bytes: &[u8]) -> Result<()> {
        let draft = FileDraft::new(path)?;
        draft.blob().write_at(0, bytes)?;
        draft.finish()
    }

    #[test]
    fn file_appears_when_it_is_finished_and_replaces_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let count = || std::fs::read_dir(folder.path()).unwrap().count();
        let draft = FileDraft::new(&path).unwrap();
        draft.blob().write_at(0, b"new").unwrap();
        assert!(!path.exists());
        drop(draft);
        assert_eq!(count(), 0);
        write(&path, b"first").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, b"2nd").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"2nd");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(count(), 2);
        assert!(FileDraft::new(&folder.path().join("no/file")).is_err());
        for other in [folder.path(), Path::new("/dev/null")] {
            assert_eq!(FileDraft::new(other).unwrap_err().code, errno::EXIST);
        }
    }

    #[test]
    fn name_has_all_old_or_all_new_bytes_after_each_request_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut failures = 0;
        for left in 0.. {
            std::fs::write(&path, "old").unwrap();
            fail_at(Some(left));
            let done = write(&path, b"new!");
            if fail_at(None) {
                done.unwrap();
                break;
            }
            let found = std::fs::read(&path).unwrap();
            // A file that gets no name without having one gets a temporary name, and then there is no error.
            failures += u32::from(done.is_err());
            assert!(found == b"new!" || done.is_err() && found == b"old", "{left}: {found:?}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{left}");
        }
        assert!(failures > 4, "{failures}");
    }
}
