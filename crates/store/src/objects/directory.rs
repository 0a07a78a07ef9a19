//! Objects as files of a directory.
//!
//! A put writes a file in the folder of the object, which gets the name of the object when it is complete, so readers see the old object
//! or the new one. Until then it has no name where the system can do that, so that a killed writer leaves nothing.
//! Conditional puts in a folder lock the folder; the system releases the lock when a process ends. Nothing outside the directory
//! is read or written: a symbolic link that leads out of it is refused, since a store may come from an untrusted archive.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ferrocdf_bytes::{Code, Error, Result};

use super::nameless::{NamelessFile, can_name_files};
use super::steps::step;
use super::{ByteRange, Expected, Fetched, Filled, Listing, Store, Version, check_folder, check_key};
use crate::file::{read_whole, uninterrupted, write_whole};
use crate::os::access::check_writable;
use crate::os::beneath::{self, Beneath};
use crate::os::locks::{self, Sharing};
use crate::os::{identity, sync};
use crate::{Buffer, Cost};

/// Prefix of the names of temporary files, which listings leave out.
pub(super) const TEMPORARY: &str = ".ferrocdf-";

/// A store in a directory.
#[derive(Debug)]
pub struct DirectoryStore {
    /// The path as the caller gave it, for messages.
    path: PathBuf,
    /// The path without symbolic links.
    root: PathBuf,
    /// True if puts and deletions wait for the disk.
    is_durable: bool,
    /// True if files without a name can get one, asked with the first put.
    can_name_files: OnceLock<bool>,
    directory: File,
}

impl DirectoryStore {
    /// Opens a directory.
    ///
    /// # Errors
    /// Those of the system: the path does not exist, or is not a directory.
    pub fn open(path: &Path) -> Result<DirectoryStore> {
        let failed = |error: io::Error| Error::system(error, path.display());
        let root = fs::canonicalize(path).map_err(failed)?;
        fs::read_dir(&root).map_err(failed)?;
        Ok(DirectoryStore {
            path: path.to_path_buf(),
            directory: sync::open_folder(&root).map_err(failed)?,
            root,
            is_durable: false,
            can_name_files: OnceLock::new(),
        })
    }

    /// Makes each put and each deletion wait until the disk has it, with the folders that it made.
    #[must_use]
    pub fn durable(self, is_durable: bool) -> DirectoryStore {
        DirectoryStore { is_durable, ..self }
    }

    /// Waits until the disk has the name of the directory, if the store is durable.
    pub fn sync_name(&self) -> Result<()> {
        match self.root.parent() {
            Some(parent) if self.is_durable => self.sync_folder(parent),
            _ => Ok(()),
        }
    }

    /// Waits until the disk has the names in a folder.
    fn sync_folder(&self, folder: &Path) -> Result<()> {
        let done = step().and_then(|()| {
            let folder = sync::open_folder(folder)?;
            uninterrupted(|| sync::sync_folder(&folder))
        });
        done.map_err(|error| Error::system(error, format_args!("{}: flushing it to disk", folder.display())))
    }

    /// Waits until the disk has a name in a folder, if the store is durable. All folders around it are flushed: this or another thread may
    /// just have made them.
    fn sync_names(&self, folder: &Path) -> Result<()> {
        let mut inside = folder.ancestors().take_while(|folder| folder.starts_with(&self.root));
        if self.is_durable { inside.try_for_each(|folder| self.sync_folder(folder)) } else { Ok(()) }
    }

    /// Opens a directory, after making it if it does not exist.
    ///
    /// # Errors
    /// Those of the system: the folder around it does not exist, as for a new file, or the path is that of a file.
    pub fn create(path: &Path) -> Result<DirectoryStore> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists || !path.is_dir() => {
                Err(Error::system(error, path.display()))
            }
            _ => Self::open(path),
        }
    }

    fn failed(&self, key: &str, error: io::Error) -> Error {
        Error::system(error, self.path.join(key).display())
    }

    fn leads_out(&self, key: &str) -> Error {
        let what = format!("{}: a symbolic link leads out of the store", self.path.join(key).display());
        Error::new(Code::EACCESS, what)
    }

    fn special(&self, key: &str) -> Error {
        let what = format!("{}: it is neither a file nor a folder", self.path.join(key).display());
        Error::new(Code::EACCESS, what)
    }

    /// Opens the file of an object; `None` if it does not exist.
    fn file(&self, key: &str) -> Result<Option<File>> {
        let open = |follows_links| {
            beneath::open(&self.directory, key, follows_links).map_err(|error| self.failed(key, error))
        };
        let found = match open(false)? {
            Beneath::Link => {
                self.check_links(key)?;
                open(true)?
            }
            found => found,
        };
        match found {
            Beneath::Opened(file) => Ok(Some(file)),
            Beneath::Absent => Ok(None),
            Beneath::LeadsOut => Err(self.leads_out(key)),
            Beneath::Link | Beneath::Unknown => self.file_by_path(key),
        }
    }

    /// Opens an object for reading a range of it, with the answer to the request; `None` if it does not exist.
    fn open_range(&self, key: &str, range: ByteRange) -> Result<Option<(File, Filled)>> {
        check_key(key)?;
        let Some(file) = self.file(key)? else { return Ok(None) };
        let about = file.metadata().map_err(|error| self.failed(key, error))?;
        if about.is_dir() {
            return Ok(None);
        }
        if !about.is_file() {
            return Err(self.special(key));
        }
        let total = about.len();
        let (start, end) = range.within(total);
        Ok(Some((file, Filled { len: end - start, start, total, version: version(&about) })))
    }

    /// Reads the bytes of an answer into the memory that `memory` returns for this number of bytes.
    fn read_range<'b>(
        &self,
        key: &str,
        (file, filled): (&File, &Filled),
        memory: impl FnOnce(usize) -> Option<&'b mut [u8]>,
    ) -> Result<&'b [u8]> {
        let failed = |error| self.failed(key, error);
        let bytes = usize::try_from(filled.len).ok().and_then(memory);
        let bytes = bytes.ok_or_else(|| failed(ErrorKind::OutOfMemory.into()))?;
        read_whole(file, bytes, filled.start).map_err(failed)?;
        Ok(bytes)
    }

    /// Returns the number of folders on the way to an object that are symbolic links.
    fn links(&self, key: &str) -> usize {
        let is_link = |at: usize| {
            fs::symlink_metadata(self.root.join(&key[..at])).is_ok_and(|about| about.is_symlink())
        };
        key.match_indices('/').filter(|(at, _)| is_link(*at)).count()
    }

    /// Checks that no more than one folder on the way to an object is a symbolic link. Links to folders around them would make an endless
    /// number of keys otherwise.
    fn check_links(&self, key: &str) -> Result<()> {
        match self.links(key) {
            0 | 1 => Ok(()),
            _ => {
                let path = self.path.join(key);
                let what = format!("{}: more than one folder on the way is a symbolic link", path.display());
                Err(Error::new(Code::EACCESS, what))
            }
        }
    }

    fn file_by_path(&self, key: &str) -> Result<Option<File>> {
        self.check_links(key)?;
        let path = match fs::canonicalize(self.root.join(key)) {
            Ok(path) if path.starts_with(&self.root) => path,
            Ok(_) => return Err(self.leads_out(key)),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.failed(key, error)),
        };
        match fs::metadata(&path) {
            Ok(about) if !about.is_file() && !about.is_dir() => Err(self.special(key)),
            _ => File::open(path).map(Some).map_err(|error| self.failed(key, error)),
        }
    }

    /// Returns the path of an object and its folder. Makes the folder if it does not exist.
    fn object_path(&self, key: &str) -> Result<(PathBuf, PathBuf)> {
        check_key(key)?;
        let path = self.root.join(key);
        let folder = path.parent().unwrap_or(&self.root);
        let made = match fs::canonicalize(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_folder(folder).and_then(|()| fs::canonicalize(folder))
            }
            found => found,
        };
        let folder = made.map_err(|error| self.failed(key, error))?;
        if !folder.starts_with(&self.root) {
            return Err(self.leads_out(key));
        }
        let name = path.file_name().unwrap_or_default();
        Ok((folder.join(name), folder))
    }

    /// Makes a folder in the directory, and those around it. The directory itself is not made again: if it is gone, others removed it.
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let Some(parent) = folder.parent().filter(|_| folder != self.root) else {
            // The error of the system for what is not there.
            return fs::metadata(&self.root).and(Err(ErrorKind::NotFound.into()));
        };
        let make = || match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            done => done,
        };
        match make() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_folder(parent).and_then(|()| make())
            }
            done => done,
        }
    }

    /// Locks a folder: for itself alone while a conditional put looks at an object and exchanges it, shared while another object is put or
    /// removed, so that no conditional put takes a new object for the one that it has seen. `None` where the file system has no such
    /// locks (some network file systems); a conditional put then may miss what another writer does in that instant.
    fn lock(&self, key: &str, folder: &Path, sharing: Sharing) -> Result<Option<File>> {
        let folder = match sync::open_folder(folder) {
            // It was removed, with all that is in it.
            Err(error) if is_absent(&error) => return Ok(None),
            folder => folder.map_err(|error| self.failed(key, error))?,
        };
        let is_locked = locks::lock(&folder, sharing).map_err(|error| self.failed(key, error))?;
        Ok(is_locked.then_some(folder))
    }

    /// Writes bytes to a new file in the folder of an object.
    fn new_file(&self, key: &str, folder: &Path, bytes: &[u8]) -> Result<NamelessFile> {
        let can_name = *self.can_name_files.get_or_init(|| can_name_files(folder));
        let written = NamelessFile::make((folder, can_name), &self.path, MODE).and_then(|new| {
            write_whole(new.blob.file(), bytes, 0)?;
            if self.is_durable {
                // The bytes must be on disk before the name is.
                step()?;
                uninterrupted(|| sync::sync_data(new.blob.file()))?;
            }
            Ok(new)
        });
        written.map_err(|error| self.failed(key, error))
    }

    /// Gives a new file the name of an object. Returns the version of the object.
    fn name_file(&self, key: &str, new: NamelessFile, path: &Path, folder: &Path) -> Result<Version> {
        let failed = |error| self.failed(key, error);
        let file = new.blob.clone();
        new.take_name(path, true).map_err(failed)?;
        self.sync_names(folder)?;
        file.file().metadata().map(|about| version(&about)).map_err(failed)
    }

    /// Checks that the directory takes new objects.
    ///
    /// # Errors
    /// Those of the system: the user has no right to write it, or the file system is only read.
    pub fn check_writable(&self) -> Result<()> {
        check_writable(&self.root).map_err(|error| {
            Error::system(error, format_args!("{}: the folder cannot be written", self.path.display()))
        })
    }
}

/// The mode that `File::create` uses, without the bits of the umask.
pub(super) const MODE: u32 = 0o666;

/// True if an error says that nothing has this name.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns the version of a file. Each put makes a new file.
fn version(about: &fs::Metadata) -> Version {
    Version::new(identity::version(about))
}

impl Store for DirectoryStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        let Some((file, filled)) = self.open_range(key, range)? else { return Ok(None) };
        let mut bytes = Vec::new();
        self.read_range(key, (&file, &filled), |len| {
            bytes.try_reserve_exact(len).ok()?;
            bytes.resize(len, 0);
            Some(&mut bytes)
        })?;
        let Filled { start, total, version, .. } = filled;
        Ok(Some(Fetched { bytes, start, total, version }))
    }

    fn get_buffered<'b>(
        &self,
        key: &str,
        range: ByteRange,
        buffer: &'b mut Buffer,
    ) -> Result<Option<(Filled, &'b [u8])>> {
        let Some((file, filled)) = self.open_range(key, range)? else { return Ok(None) };
        let bytes = self.read_range(key, (&file, &filled), |len| buffer.try_at(filled.start, len))?;
        Ok(Some((filled, bytes)))
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        let (path, folder) = self.object_path(key)?;
        let new = self.new_file(key, &folder, bytes)?;
        let _lock = self.lock(key, &folder, Sharing::Shared)?;
        self.name_file(key, new, &path, &folder)
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        let (path, folder) = self.object_path(key)?;
        let failed = |error| self.failed(key, error);
        let new = self.new_file(key, &folder, bytes)?;
        let _lock = self.lock(key, &folder, Sharing::Exclusive)?;
        let now = match fs::metadata(&path) {
            Ok(about) => Some(version(&about)),
            Err(error) if is_absent(&error) => None,
            Err(error) => return Err(failed(error)),
        };
        let holds = match expected {
            Expected::Absent => now.is_none(),
            Expected::Version(version) => now.as_ref() == Some(version),
        };
        if !holds {
            return Ok(None);
        }
        self.name_file(key, new, &path, &folder).map(Some)
    }

    fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        let folder = match fs::canonicalize(self.root.join(key).parent().unwrap_or(&self.root)) {
            Ok(folder) => folder,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(self.failed(key, error)),
        };
        if !folder.starts_with(&self.root) {
            return Err(self.leads_out(key));
        }
        let _lock = self.lock(key, &folder, Sharing::Shared)?;
        match fs::remove_file(folder.join(Path::new(key).file_name().unwrap_or_default())) {
            Err(error) if !is_absent(&error) => Err(self.failed(key, error)),
            // It may have been removed by another thread just now.
            _ => self.sync_names(&folder),
        }
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        let failed = |error| self.failed(folder, error);
        let path = match fs::canonicalize(self.root.join(folder)) {
            Ok(path) if path.starts_with(&self.root) => path,
            Ok(_) => return Err(self.leads_out(folder)),
            Err(error) if is_absent(&error) => return Ok(Listing::default()),
            Err(error) => return Err(failed(error)),
        };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(Listing::default()),
            Err(error) => return Err(failed(error)),
        };
        let mut listing = Listing::default();
        let links = self.links(&format!("{folder}/"));
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // Names that are not UTF-8 are no keys.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with(TEMPORARY) {
                continue;
            }
            // A symbolic link counts as its target; a broken link is a missing object.
            match fs::metadata(entry.path()) {
                // Nothing is found behind a second link.
                Ok(about)
                    if about.is_dir()
                        && links > 0
                        && entry.file_type().is_ok_and(|kind| kind.is_symlink()) => {}
                Ok(about) if about.is_dir() => listing.folders.push(name),
                Ok(_) => listing.objects.push(name),
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        listing.objects.sort();
        listing.folders.sort();
        Ok(listing)
    }

    /// Flushes the whole file system, since files of any folder may have been put.
    fn sync(&self) -> Result<()> {
        sync::sync_file_system(&self.directory).map_err(|error| {
            Error::system(error, format_args!("{}: flushing it to disk", self.path.display()))
        })
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_bytes::errno;

    use super::*;
    use crate::suite;

    #[test]
    fn directory_behaves_as_a_store() {
        suite::store(|_| {
            // The directory lives as long as the test process.
            DirectoryStore::create(&tempfile::tempdir().unwrap().keep()).unwrap()
        });
    }

    #[test]
    fn durable_puts_and_deletions_flush_the_file_and_the_folders() {
        use super::super::steps::fail_at;
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::create(folder.path()).unwrap();
        store.put("a/b/c", b"0").unwrap();
        // Number of flushes and namings of a change; each of them may fail.
        let requests = |store: &DirectoryStore, change: &dyn Fn(&DirectoryStore) -> Result<()>| {
            (0..).find(|&number| {
                fail_at(Some(number));
                let done = change(store);
                let is_reached = !fail_at(None);
                assert_eq!(done.is_err(), is_reached);
                !is_reached
            })
        };
        let put = |store: &DirectoryStore| store.put("a/b/c", b"1").map(drop);
        let put_if = |store: &DirectoryStore| {
            store.delete("a/d")?;
            let done = store.put_if("a/d", b"1", Expected::Absent)?;
            assert!(done.is_some());
            Ok(())
        };
        let delete = |store: &DirectoryStore| store.delete("a/b/c");
        // A file cannot be linked over another one, so it gets a name to be renamed from.
        let (new, replaced) = if can_name_files(folder.path()) { (1, 3) } else { (1, 1) };
        assert_eq!(requests(&store, &put), Some(replaced));
        assert_eq!(requests(&store, &put_if), Some(new));
        assert_eq!(requests(&store, &delete), Some(0));
        let store = store.durable(true);
        store.put("a/b/c", b"0").unwrap();
        assert_eq!(requests(&store, &put), Some(replaced + 4), "the file, and three folders");
        assert_eq!(requests(&store, &put_if), Some(2 + new + 3), "those of the deletion before, too");
        assert_eq!(requests(&store, &delete), Some(3));
        assert!(store.sync().is_ok() && store.sync_name().is_ok());
    }

    #[test]
    fn directory_that_was_removed_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = DirectoryStore::create(&path).unwrap();
        store.put("a/b/c", b"1").unwrap();
        fs::remove_dir_all(&path).unwrap();
        for key in ["d", "a/b/c", "e/f"] {
            assert_eq!(store.put(key, b"1").unwrap_err().code, errno::NOENT, "{key}");
        }
        assert!(!path.exists());
    }

    #[test]
    fn folders_around_a_new_directory_are_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let error = DirectoryStore::create(&folder.path().join("a/store")).unwrap_err();
        assert_eq!(error.code, errno::NOENT);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(DirectoryStore::create(&folder.path().join("store")).is_ok());
        assert!(DirectoryStore::create(&folder.path().join("store")).is_ok(), "it may exist");
        fs::write(folder.path().join("file"), b"").unwrap();
        assert!(DirectoryStore::create(&folder.path().join("file")).is_err());
    }

    #[test]
    fn new_object_has_no_other_name_before_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::create(folder.path()).unwrap();
        let new = store.new_file("a", &store.root, b"1").unwrap();
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, usize::from(!can_name_files(folder.path())), "a killed writer leaves nothing");
        store.name_file("a", new, &store.root.join("a"), &store.root).unwrap();
        store.put("a", b"2").unwrap();
        assert_eq!(store.get("a", ByteRange::All).unwrap().unwrap().bytes, b"2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn link_out_of_the_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [inside, outside] = ["inside", "outside"].map(|name| folder.path().join(name));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), b"secret").unwrap();
        let store = DirectoryStore::create(&inside).unwrap();
        store.put("a/object", b"here").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("out")).unwrap();
        std::os::unix::fs::symlink("a", inside.join("in")).unwrap();
        let refused = |done: Result<()>| assert_eq!(done.unwrap_err().code, Code::EACCESS);
        refused(store.get("out/secret", ByteRange::All).map(drop));
        refused(store.file_by_path("out/secret").map(drop));
        refused(store.put("out/new", b"x").map(drop));
        refused(store.delete("out/secret"));
        refused(store.list("out").map(drop));
        assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        for found in [store.get("in/object", ByteRange::All).unwrap().unwrap().bytes, {
            let mut bytes = vec![0; 4];
            let file = store.file_by_path("in/object").unwrap().unwrap();
            read_whole(&file, &mut bytes, 0).unwrap();
            bytes
        }] {
            assert_eq!(found, b"here");
        }
    }

    #[test]
    fn conditional_puts_of_many_threads_lose_no_update() {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::create(folder.path()).unwrap();
        store.put("count", b"0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let store = DirectoryStore::open(folder.path()).unwrap();
                scope.spawn(move || {
                    for _ in 0..50 {
                        loop {
                            let found = store.get("count", ByteRange::All).unwrap().unwrap();
                            let count: u64 = std::str::from_utf8(&found.bytes).unwrap().parse().unwrap();
                            let next = (count + 1).to_string();
                            let expected = Expected::Version(&found.version);
                            if store.put_if("count", next.as_bytes(), expected).unwrap().is_some() {
                                break;
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(store.get("count", ByteRange::All).unwrap().unwrap().bytes, b"200");
        assert_eq!(store.list("").unwrap().objects, ["count"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn folders_behind_two_links_and_pipes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(folder.path()).unwrap();
        store.put("a", b"bytes").unwrap();
        for name in ["x", "y"] {
            std::os::unix::fs::symlink(".", folder.path().join(name)).unwrap();
        }
        assert!(store.get("x/a", ByteRange::All).unwrap().is_some());
        assert_eq!(store.list("").unwrap().folders, ["x", "y"]);
        assert_eq!(store.list("x").unwrap().folders, [""; 0]);
        assert_eq!(store.list("x").unwrap().objects, ["a"]);
        let error = store.get("x/y/a", ByteRange::All).unwrap_err();
        assert!(error.to_string().contains("x/y/a: more than one folder"), "{error}");
        assert!(store.file_by_path("x/y/a").is_err());
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        for opened in [store.get("pipe", ByteRange::All).map(drop), store.file_by_path("pipe").map(drop)] {
            assert!(opened.unwrap_err().to_string().contains("neither a file nor a folder"));
        }
    }
}
