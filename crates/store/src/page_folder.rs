//! Pages of remote objects in a folder, for processes that open the same objects again.
//!
//! A page is a file: `ferrocdf-pages/<hash of the object's name and version>/<position>-<length>`. Nothing else in the folder is
//! looked at or removed, so that it may be one that holds other things. A page is written under another name first, so that
//! readers see it whole or not at all, and ends with a checksum of all that it belongs to. Whatever goes wrong with the folder, a page
//! is as if it had not been kept: the object is asked.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ferrocdf_bytes::{Error, Result};

use crate::Version;
use crate::os::access::make_private_folders;

/// The folder of all pages, within the one that the user names.
const PAGES: &str = "ferrocdf-pages";

/// Digits of the hash of an object.
const DIGITS: usize = 16;

/// Bytes of the checksum behind a page.
const CHECKSUM: usize = size_of::<u64>();

/// A folder of pages.
#[derive(Debug)]
pub struct PageFolder {
    folder: PathBuf,
    /// Bytes that the pages may take together.
    limit: u64,
    /// Bytes that they take, as far as this process knows.
    used: Mutex<u64>,
}

/// An object, and the hash that its pages are found by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub name: &'a str,
    pub version: &'a Version,
}

impl Owner<'_> {
    fn hash(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        (self.name, self.version.as_str()).hash(&mut hasher);
        hasher
    }

    /// The checksum of a page.
    fn checksum(&self, at: u64, len: usize, bytes: &[u8]) -> [u8; CHECKSUM] {
        let mut hasher = self.hash();
        (at, len, bytes).hash(&mut hasher);
        hasher.finish().to_le_bytes()
    }
}

impl PageFolder {
    /// Keeps pages in a folder, which is made if it does not exist, for this user alone. Together they take at most `limit` bytes.
    ///
    /// # Errors
    /// Those of the system, if it is no folder and cannot be made one.
    pub fn open(folder: impl Into<PathBuf>, limit: u64) -> Result<PageFolder> {
        let folder = folder.into().join(PAGES);
        let made = make_private_folders(&folder);
        made.map_err(|error| Error::system(error, folder.display()))?;
        let used = pages(&folder).iter().map(|page| page.bytes).sum();
        Ok(PageFolder { folder, limit, used: Mutex::new(used) })
    }

    fn path(&self, owner: Owner<'_>, at: u64, len: usize) -> PathBuf {
        self.folder.join(format!("{:0DIGITS$x}/{at}-{len}", owner.hash().finish()))
    }

    /// Reads a page of `into.len()` bytes, fewer where the object ends. Returns how many; `None` if it is not there.
    pub(crate) fn get(&self, owner: Owner<'_>, at: u64, into: &mut [u8]) -> Option<usize> {
        let file = fs::File::open(self.path(owner, at, into.len())).ok()?;
        let mut page = Vec::new();
        file.take((into.len() + CHECKSUM + 1) as u64).read_to_end(&mut page).ok()?;
        let (bytes, checksum) = page.split_at_checked(page.len().checked_sub(CHECKSUM)?)?;
        if bytes.len() > into.len() || checksum != owner.checksum(at, into.len(), bytes) {
            return None;
        }
        into[..bytes.len()].copy_from_slice(bytes);
        Some(bytes.len())
    }

    /// Keeps a page that `len` bytes were asked for.
    pub(crate) fn put(&self, owner: Owner<'_>, at: u64, len: usize, bytes: &[u8]) {
        let size = (bytes.len() + CHECKSUM) as u64;
        if size > self.limit / 4 {
            return;
        }
        let path = self.path(owner, at, len);
        // Another process may have kept it, and a folder that is full or gone keeps nothing.
        if path.exists() || self.write(&path, bytes, owner.checksum(at, len, bytes)).is_err() {
            return;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used += size;
        if *used > self.limit {
            *used = self.evict();
        }
    }

    fn write(&self, path: &Path, bytes: &[u8], checksum: [u8; CHECKSUM]) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.write_all(&checksum)?;
        file.persist(path)?;
        Ok(())
    }

    /// Removes the oldest pages until the others take three quarters of the limit. Returns the bytes that these take.
    fn evict(&self) -> u64 {
        let mut pages = pages(&self.folder);
        pages.sort_by_key(|page| page.written);
        let mut used: u64 = pages.iter().map(|page| page.bytes).sum();
        for page in &pages {
            if used <= self.limit / 4 * 3 {
                break;
            }
            // What another process removed meanwhile takes no bytes either.
            let _ = fs::remove_file(&page.path);
            used -= page.bytes;
        }
        // Of objects without pages; the system keeps the other folders.
        objects(&self.folder).for_each(|folder| drop(fs::remove_dir(folder)));
        used
    }
}

/// A page in the folder.
struct Page {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// Returns the folders of objects that are in a folder.
fn objects(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let is_hash = |name: &str| name.len() == DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(move |entry| entry.file_name().to_str().is_some_and(is_hash)).map(|entry| entry.path())
}

/// Returns the pages that are in a folder.
fn pages(folder: &Path) -> Vec<Page> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_page = |name: &str| name.split_once('-').is_some_and(|(at, len)| is_number(at) && is_number(len));
    let files = objects(folder).flat_map(|object| fs::read_dir(object).into_iter().flatten().flatten());
    let page = |entry: fs::DirEntry| {
        if !entry.file_name().to_str().is_some_and(is_page) {
            return None;
        }
        let meta = entry.metadata().ok()?;
        Some(Page { path: entry.path(), bytes: meta.len(), written: meta.modified().ok()? })
    };
    files.filter_map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_object_version_and_range() {
        let folder = tempfile::tempdir().unwrap();
        let kept = PageFolder::open(folder.path().join("a/b"), 1 << 20).unwrap();
        let (one, two) = (Version::new("\"1\""), Version::new("\"2\""));
        let owner = Owner { name: "s3://bucket/a", version: &one };
        kept.put(owner, 10, 4, b"abcd");
        kept.put(owner, 14, 4, b"e");
        let get = |owner: Owner<'_>, at: u64, len: usize| {
            // Another process.
            let kept = PageFolder::open(folder.path().join("a/b"), 1 << 20).unwrap();
            let mut into = vec![0; len];
            let found = kept.get(owner, at, &mut into)?;
            into.truncate(found);
            Some(into)
        };
        assert_eq!(get(owner, 10, 4).unwrap(), b"abcd");
        assert_eq!(get(owner, 14, 4).unwrap(), b"e");
        assert_eq!(get(owner, 10, 3), None);
        assert_eq!(get(owner, 11, 4), None);
        assert_eq!(get(Owner { version: &two, ..owner }, 10, 4), None);
        assert_eq!(get(Owner { name: "s3://bucket/b", ..owner }, 10, 4), None);

        let path = kept.path(owner, 10, 4);
        let page = fs::read(&path).unwrap();
        for damaged in [&b"abcx"[..], b"", &page[..page.len() - 1], &[&page[..], b"x"].concat(), &page[1..]] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(get(owner, 10, 4), None, "{damaged:?}");
        }
    }

    #[test]
    fn files_of_others_in_the_folder_stay() {
        let folder = tempfile::tempdir().unwrap();
        let kept = PageFolder::open(folder.path(), 1000).unwrap();
        let others = [
            "letters/1-2",
            "0123456789abcdef/1-2",
            "ferrocdf-pages/notes/1-2",
            "ferrocdf-pages/0123456789abcdef/x-2",
        ];
        for path in others.map(|path| folder.path().join(path)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, [0; 2000]).unwrap();
        }
        fs::create_dir(folder.path().join("empty")).unwrap();
        let version = Version::new("\"1\"");
        for at in 0..20 {
            kept.put(Owner { name: "s3://bucket/a", version: &version }, at, 100, &[7; 100]);
        }
        assert!(pages(&kept.folder).len() < 10, "some were removed");
        assert!(others.iter().all(|path| folder.path().join(path).is_file()));
        assert!(folder.path().join("empty").is_dir());
    }

    #[test]
    fn oldest_pages_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let kept = PageFolder::open(folder.path(), 1000).unwrap();
        let version = Version::new("\"1\"");
        fn owner<'a>(name: &'a str, version: &'a Version) -> Owner<'a> {
            Owner { name, version }
        }
        let bytes = [7; 100 - CHECKSUM];
        let names: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        for (number, name) in names.iter().enumerate() {
            kept.put(owner(name, &version), 0, 100, &bytes);
            // File systems have clocks of some milliseconds.
            let path = kept.path(owner(name, &version), 0, 100);
            let written = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            if let Ok(file) = fs::File::open(&path) {
                file.set_modified(written).unwrap();
            }
        }
        let is_kept = |name: &&String| kept.get(owner(name, &version), 0, &mut [0; 100]).is_some();
        // The eleventh was too much: seven of 100 bytes are three quarters of the limit.
        assert_eq!(names.iter().filter(is_kept).collect::<Vec<_>>(), names[4..].iter().collect::<Vec<_>>());
        assert_eq!(fs::read_dir(&kept.folder).unwrap().count(), 7);
        kept.put(owner("large", &version), 0, 1000, &[0; 300]);
        assert_eq!(
            kept.get(owner("large", &version), 0, &mut [0; 1000]),
            None,
            "one page is no more than a quarter"
        );
    }
}
