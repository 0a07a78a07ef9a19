//! A local file whose bytes can be replaced as a whole: new ones are written to a file beside it, which then takes its name.
//!
//! The decision that shaped it: whoever opens the path finds either all old or all new bytes, also after a power failure,
//! so formats without a journal can change what no single write can. Programs that have the file open keep the old bytes
//! until they open it again. A file is not replaced where that could be noticed otherwise: if it has several names, an
//! owner or attributes that a new file cannot get, or lies in a folder that cannot be written to.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use ferrocdf_bytes::{Error, Result};

use crate::{Blob, BlobMut, Change, FileBlob, Writes};

/// A local file that can be replaced.
#[derive(Debug)]
pub struct ReplaceableFile {
    current: RwLock<Arc<FileBlob>>,
    /// Whether the name is another file's since the last sync.
    is_replaced: AtomicBool,
}

/// A file beside another, with the same owner and access rights, and the path whose place it is to take.
struct Beside {
    file: tempfile::NamedTempFile,
    target: PathBuf,
}

impl Beside {
    /// Makes an empty file beside another; `None` where that, or replacing it, cannot be.
    fn new(old: &FileBlob) -> Option<Beside> {
        // Not a link to the file, but the file.
        let target = old.path().canonicalize().ok()?;
        let (meta, named) = (old.file().metadata().ok()?, target.metadata().ok()?);
        let is_same = (meta.dev(), meta.ino()) == (named.dev(), named.ino());
        if !meta.is_file() || meta.nlink() != 1 || !is_same {
            return None;
        }
        let file = tempfile::Builder::new().prefix(".ferrocdf-").tempfile_in(target.parent()?).ok()?;
        copy_access(old, file.as_file()).ok()?;
        Some(Beside { file, target })
    }
}

/// Gives a file the owner, the group, the mode and the extended attributes (access lists among them) of another.
pub fn copy_access(from: &FileBlob, to: &File) -> io::Result<()> {
    let from = from.file();
    let (wanted, own) = (from.metadata()?, to.metadata()?);
    if (own.uid(), own.gid()) != (wanted.uid(), wanted.gid()) {
        std::os::unix::fs::fchown(to, Some(wanted.uid()), Some(wanted.gid()))?;
    }
    to.set_permissions(wanted.permissions())?;
    copy_attributes(from, to)
}

/// Copies extended attributes. Those named `security.` are left to the security system.
fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let mut names = vec![0; 1 << 16];
    let len = match rustix::fs::flistxattr(from, &mut names[..]) {
        Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOSYS) => return Ok(()),
        len => len?,
    };
    let names = names[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    for name in names.filter(|name| !name.starts_with(b"security.")) {
        let name = std::ffi::CString::new(name)?;
        let mut value = vec![0; 1 << 16];
        let len = rustix::fs::fgetxattr(from, &name, &mut value[..])?;
        rustix::fs::fsetxattr(to, &name, &value[..len], rustix::fs::XattrFlags::empty())?;
    }
    Ok(())
}

/// The most symbolic links that are followed, as in Linux.
const MOST_LINKS: usize = 40;

/// Returns the path behind all symbolic links; nothing need be there. `None` for links that lead to each other, and for
/// descriptors of a process, such as `/dev/stdout`.
pub fn resolve_links(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
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

/// Makes `bytes` the content of the file at a path. If that fails, the file is as before, or there is none; a file that
/// cannot be replaced is written over instead.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::system(&error, path.display());
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => return std::fs::write(path, bytes).map_err(failed),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link may lead to a name that nothing has yet.
            let target = resolve_links(path).unwrap_or_else(|| path.to_path_buf());
            let done = FileBlob::create_new(&target)?.write_at(0, bytes);
            if done.is_err() {
                // Whether it can be removed or not, the error to report is that of the write.
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
    /// A file that is open for reading and writing.
    pub fn new(file: FileBlob) -> Self {
        ReplaceableFile { current: RwLock::new(Arc::new(file)), is_replaced: AtomicBool::new(false) }
    }

    /// The file that has the name now.
    fn current(&self) -> Arc<FileBlob> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Blob for ReplaceableFile {
    fn size(&self) -> Result<u64> {
        self.current().size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.current().read_at(at, into)
    }

    fn name(&self) -> String {
        self.current().name()
    }

    fn last_change(&self) -> Option<Change> {
        self.current().last_change()
    }

    fn is_quick(&self) -> bool {
        self.current().is_quick()
    }
}

impl BlobMut for ReplaceableFile {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.current().write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.current().set_size(size)
    }

    fn sync(&self) -> Result<()> {
        let current = self.current();
        if self.is_replaced.load(Relaxed) {
            current.sync_name()?;
            self.is_replaced.store(false, Relaxed);
        }
        current.sync()
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        let old = self.current();
        let Some(Beside { file, target }) = Beside::new(&old) else { return Ok(false) };
        let failed = |doing: &str, error: &io::Error| {
            Error::system(error, format_args!("{}: {doing}", old.path().display()))
        };
        let handle = file.as_file().try_clone();
        let new = FileBlob::of(handle.map_err(|error| failed("making its new content", &error))?, old.path());
        write(&new)?;
        // A name must not come to the disk before the bytes do.
        new.sync()?;
        file.persist(&target).map_err(|error| failed("putting its new content in place", &error.error))?;
        self.is_replaced.store(true, Relaxed);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
        // What is written now goes to the new file.
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
        assert_eq!(std::io::read_to_string(old).unwrap(), "new");
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
}
