//! Files that have no name, in a folder: nothing is left of them when the process ends, in whatever way, and no other process can open them.
//!
//! A file that is to take a name gets it when it is complete. Where the system has no nameless files, or they cannot get a name, that one
//! has a temporary name instead.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempPath;

use super::directory::TEMPORARY;
use super::steps::step;
use crate::FileBlob;
use crate::os::access::create_new;
use crate::os::nameless;

/// A file that gets its name when it is complete.
#[derive(Debug)]
pub(super) struct NamelessFile {
    pub(super) blob: Arc<FileBlob>,
    /// The name that it has until then.
    temporary: Option<TempPath>,
}

impl NamelessFile {
    /// Makes an empty file in the folder of `path`, with a mode without the bits of the umask. `shown` is the path for messages.
    pub(super) fn new(path: &Path, shown: &Path, mode: u32) -> io::Result<NamelessFile> {
        step()?;
        Self::make((folder_of(path), can_name_files(folder_of(path))), shown, mode)
    }

    /// Makes an empty file in a folder, without a name if files without a name can get one there.
    pub(super) fn make(
        (folder, can_name): (&Path, bool),
        shown: &Path,
        mode: u32,
    ) -> io::Result<NamelessFile> {
        if let Some(file) = can_name.then(|| nameless::make(folder, mode)).flatten() {
            return Ok(NamelessFile { blob: Arc::new(FileBlob::of(file, shown)), temporary: None });
        }
        // Not `tempfile_in`, whose errors have no number of the system.
        let open = |path: &Path| create_new(path, mode);
        let made = tempfile::Builder::new().prefix(TEMPORARY).make_in(folder, open)?;
        let (file, temporary) = made.into_parts();
        Ok(NamelessFile { blob: Arc::new(FileBlob::of(file, shown)), temporary: Some(temporary) })
    }

    /// Gives the file its name. A file that has the name is replaced if `replaces`, and otherwise the error is `EEXIST`.
    pub(super) fn take_name(self, path: &Path, replaces: bool) -> io::Result<()> {
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            None => match link(self.blob.file(), path) {
                // No file can be linked over another one.
                Err(error) if replaces && error.kind() == io::ErrorKind::AlreadyExists => {
                    temporary_link(self.blob.file(), folder_of(path))?
                }
                done => return done,
            },
        };
        step()?;
        let done = if replaces { temporary.persist(path) } else { temporary.persist_noclobber(path) };
        done.map_err(|error| error.error)
    }
}

/// Returns the folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives a nameless file a temporary name in a folder.
fn temporary_link(file: &File, folder: &Path) -> io::Result<TempPath> {
    let made = tempfile::Builder::new().prefix(TEMPORARY).make_in(folder, |path| link(file, path));
    made.map(tempfile::NamedTempFile::into_temp_path)
}

/// True if files without a name can get one in a folder: sandboxes refuse links, or have no `/proc`.
pub(super) fn can_name_files(folder: &Path) -> bool {
    // A file of its own is asked: one whose only name was removed gets none again.
    nameless::make(folder, 0o600).is_some_and(|file| temporary_link(&file, folder).is_ok())
}

/// Gives a nameless file a name.
fn link(file: &File, path: &Path) -> io::Result<()> {
    step()?;
    nameless::link(file, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlobMut;

    #[test]
    fn file_takes_a_name_that_is_free_or_replaces_the_one_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content = || std::fs::read(&path).unwrap();
        for has_name in [false, true] {
            let new = |byte: &[u8]| {
                let mut new = NamelessFile::new(&path, &path, 0o600).unwrap();
                if has_name && new.temporary.is_none() {
                    // As on a system without nameless files.
                    new.temporary = Some(temporary_link(new.blob.file(), folder.path()).unwrap());
                }
                new.blob.write_at(0, byte).unwrap();
                new
            };
            let _ = std::fs::remove_file(&path);
            new(b"1").take_name(&path, false).unwrap();
            assert_eq!(content(), b"1");
            let refused = new(b"2").take_name(&path, false).unwrap_err();
            assert_eq!((refused.kind(), content()), (io::ErrorKind::AlreadyExists, b"1".to_vec()));
            new(b"3").take_name(&path, true).unwrap();
            assert_eq!(content(), b"3");
            drop(new(b"4"));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
