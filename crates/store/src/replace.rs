//! A local file whose bytes can be replaced as a whole: the new bytes are written to another file in its folder, which is then
//! renamed to it.
//!
//! The decision that shaped it: a program that opens the path finds either all old or all new bytes, also after a power failure,
//! so a format without a journal can make changes that take more than one write. Programs that have the file open keep the old
//! bytes until they open it again. A writer of the old bytes gets an error from [`BlobMut::flush`], since no other program can
//! open the file that it wrote. A file is not replaced if it has several hard links, if a new file cannot get its owner or its
//! attributes, or if no file can be made in its folder.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use ferrocdf_bytes::{Error, Result, errno};

use crate::os::{copy_access, identity, sync};
use crate::{Blob, BlobMut, FileBlob, Writes, forward};

/// A local file that can be replaced.
#[derive(Debug)]
pub struct ReplaceableFile {
    current: RwLock<Arc<FileBlob>>,
    /// The absolute path of the file, with symbolic links resolved; `None` if the file has no path.
    path: Option<PathBuf>,
    /// The folder of the file, if a rename in it may not be on disk yet.
    unsynced: Mutex<Option<File>>,
}

/// A new file in the folder of another, with the same owner and access rights.
struct Replacement {
    file: tempfile::NamedTempFile,
    folder: File,
}

impl Replacement {
    /// Makes an empty file in the folder of the one at a path; `None` if no file can be made there, or if the old file cannot be
    /// replaced.
    fn new(old: &FileBlob, path: &Path) -> Option<Replacement> {
        let (meta, named) = (old.file().metadata().ok()?, path.symlink_metadata().ok()?);
        if !meta.is_file() || identity::names(&meta) != 1 || !identity::is_same_file(&meta, &named) {
            return None;
        }
        let folder = path.parent()?;
        let file = tempfile::Builder::new().prefix(".ferrocdf-").tempfile_in(folder).ok()?;
        copy_access(old, file.as_file()).ok()?;
        Some(Replacement { file, folder: sync::open_folder(folder).ok()? })
    }
}

/// Maximum number of symbolic links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Returns the path with all symbolic links resolved; the file need not exist. `None` for a cycle of links, and for descriptors
/// of a process, such as `/dev/stdout`.
pub fn resolve_links(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if path.starts_with("/dev/fd") || path.starts_with("/proc") {
            return None;
        }
        match std::fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Some(path),
        }
    }
    None
}

/// Makes `bytes` the content of the file at a path. After an error the file is unchanged, or does not exist if it did not before.
/// A file that cannot be replaced is overwritten in place, and an error may then leave a part of the bytes.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::system(error, path.display());
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => return std::fs::write(path, bytes).map_err(failed),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link may lead to a path where no file exists yet.
            let target = resolve_links(path).unwrap_or_else(|| path.to_path_buf());
            let done = FileBlob::create_new(&target)?.write_at(0, bytes);
            if done.is_err() {
                // The error of the write is reported even if the file cannot be removed.
                let _ = std::fs::remove_file(&target);
            }
            return done;
        }
        Err(error) => return Err(failed(error)),
    }
    let file = ReplaceableFile::new(FileBlob::open_mut(path)?);
    if !file.replace(&mut |new| new.write_at(0, bytes))? {
        file.write_at(0, bytes)?;
        file.set_size(bytes.len() as u64)?;
    }
    Ok(())
}

impl ReplaceableFile {
    /// Wraps a file that is open for reading and writing.
    pub fn new(file: FileBlob) -> Self {
        let path = file.path().canonicalize().ok();
        ReplaceableFile { current: RwLock::new(Arc::new(file)), path, unsynced: Mutex::default() }
    }

    /// Returns the open file; after a replacement, the new one.
    fn current(&self) -> Arc<FileBlob> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fails with `ESTALE` if another file has taken the name.
    fn check_name(&self) -> Result<()> {
        let current = self.current();
        let is_taken = || self.path.as_ref().is_some_and(|path| path.symlink_metadata().is_ok());
        if !current.is_nameless() || !is_taken() {
            return Ok(());
        }
        let what = "another writer replaced the file; what was written since then is lost; open it again";
        Err(Error::new(errno::STALE, format!("{}: {what}", current.path().display())))
    }
}

impl Blob for ReplaceableFile {
    forward!([.current()] size read_at read_many read_suffix name expect_pages change_token cost is_nameless);
}

impl BlobMut for ReplaceableFile {
    forward!([.current()] write_at set_size);

    fn flush(&self) -> Result<()> {
        self.check_name()
    }

    fn sync(&self) -> Result<()> {
        let current = self.current();
        {
            let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(folder) = &*unsynced {
                current.sync_folder(folder)?;
                *unsynced = None;
            }
        }
        current.sync()?;
        self.check_name()
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        let old = self.current();
        let Some(path) = &self.path else { return Ok(false) };
        let Some(Replacement { file, folder }) = Replacement::new(&old, path) else { return Ok(false) };
        let failed = |doing: &str, error: io::Error| {
            Error::system(error, format_args!("{}: {doing}", old.path().display()))
        };
        let handle = file.as_file().try_clone();
        let new = FileBlob::of(handle.map_err(|error| failed("making its new content", error))?, old.path());
        write(&new)?;
        // The bytes must be on disk before the rename is.
        new.sync()?;
        file.persist(path).map_err(|error| failed("putting its new content in place", error.error))?;
        *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use ferrocdf_bytes::Code;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn open(path: &Path) -> ReplaceableFile {
        ReplaceableFile::new(FileBlob::open_mut(path).unwrap())
    }

    #[test]
    fn passes_the_suite() {
        let folder = folder();
        crate::suite::blob(|n| {
            ReplaceableFile::new(FileBlob::create(&folder.path().join(n.to_string())).unwrap())
        });
    }

    #[test]
    fn all_bytes_are_replaced_and_rights_stay() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old bytes").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        let blob = open(&link);
        let replaced = blob.replace(&mut |new| {
            let mut old = [0; 3];
            blob.read_exact_at(0, &mut old)?;
            new.write_at(0, &old)?;
            new.write_at(3, b"!")
        });
        assert!(replaced.unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"old!");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        // Later writes go to the new file.
        blob.write_at(0, b"b").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"bld!");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_replacement_that_fails_leaves_nothing() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let blob = open(&path);
        let failed = blob.replace(&mut |new| {
            new.write_at(0, b"half")?;
            Err(Error::new(Code::EIO, "no more"))
        });
        assert_eq!(failed.unwrap_err().what.as_ref(), "no more");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_written_new_replaced_or_written_over() {
        let folder = folder();
        let path = folder.path().join("file");
        write_file(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let old = File::open(&path).unwrap();
        write_file(&path, b"n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"n");
        assert_eq!(io::read_to_string(old).unwrap(), "new");
        let other = folder.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        write_file(&path, b"both").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"two");
        write_file("/dev/null".as_ref(), b"nowhere").unwrap();
        assert!(write_file(folder.path(), b"").is_err());
    }

    #[test]
    fn write_file_follows_a_link_to_a_file_that_does_not_exist() {
        let folder = folder();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"new");
    }

    #[test]
    fn extended_attributes_are_kept_when_a_file_is_replaced() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let set = setxattr(&path, "user.note", b"kept", XattrFlags::empty());
        write_file(&path, b"new").unwrap();
        let mut value = [0; 10];
        let got = getxattr(&path, "user.note", &mut value[..]);
        // Some file systems have no attributes: none can be lost there.
        assert_eq!(got.is_ok(), set.is_ok());
        assert!(got.is_err() || &value[..4] == b"kept");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_writer_is_told_that_another_one_replaced_the_file() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let (first, second) = (open(&path), open(&path));
        second.replace(&mut |new| new.write_at(0, b"new")).unwrap();
        second.flush().unwrap();
        second.sync().unwrap();
        first.write_at(0, b"lost").unwrap();
        for told in [first.flush(), first.sync()] {
            let error = told.unwrap_err();
            assert!(error.what.contains("another writer replaced the file"), "{error}");
            assert_eq!(error.code, errno::STALE);
        }
        assert!(!first.replace(&mut |_| Ok(())).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_that_was_moved_or_removed_is_flushed() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let blob = open(&path);
        let moved = folder.path().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        std::fs::write(&path, "other").unwrap();
        blob.write_at(0, b"new").unwrap();
        blob.flush().unwrap();
        assert!(!blob.replace(&mut |_| Ok(())).unwrap(), "another file has the name");
        assert_eq!(std::fs::read(&moved).unwrap(), b"new");
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&moved).unwrap();
        blob.flush().unwrap();
        blob.sync().unwrap();
    }

    #[test]
    fn a_file_is_replaced_and_synced_where_it_is_whatever_becomes_of_the_link() {
        let (folder, other) = (folder(), folder());
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let link = other.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let blob = open(&link);
        std::fs::remove_file(&link).unwrap();
        assert!(blob.replace(&mut |new| new.write_at(0, b"new")).unwrap());
        drop(other);
        blob.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_with_two_names_is_not_replaced() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "old").unwrap();
        std::fs::hard_link(&path, folder.path().join("other")).unwrap();
        assert!(!open(&path).replace(&mut |_| Ok(())).unwrap());
        assert!(
            !ReplaceableFile::new(FileBlob::create("/dev/null".as_ref()).unwrap())
                .replace(&mut |_| Ok(()))
                .unwrap()
        );
    }

    #[test]
    fn every_method_but_flush_is_that_of_the_file() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        // No probe can stand for the file, so its own answers are compared.
        let (blob, file) = (open(&path), FileBlob::open_mut(&path).unwrap());
        let blobs: [&dyn BlobMut; 2] = [&blob, &file];
        let answers = || {
            blobs.map(|blob| {
                let mut bytes = [[b'-'; 4]; 3];
                let [first, second, last] = &mut bytes;
                let len = blob.read_at(8, first).unwrap();
                blob.read_many(&mut [crate::ReadRequest::new(1, second)]).unwrap();
                let suffix = blob.read_suffix(last).unwrap();
                (blob.size().unwrap(), len, suffix, bytes, blob.name(), blob.cost(), blob.is_nameless())
            })
        };
        let [own, wanted] = answers();
        assert_eq!(own, wanted);
        let tokens = blobs.map(|blob| blob.change_token().unwrap());
        assert!(tokens[0].is_same_content(&tokens[1]));
        blob.set_size(7).unwrap();
        blob.sync().unwrap();
        std::fs::remove_file(&path).unwrap();
        let [own, wanted] = answers();
        assert_eq!(own, wanted);
        assert!(own.0 == 7 && own.6);
    }
}
