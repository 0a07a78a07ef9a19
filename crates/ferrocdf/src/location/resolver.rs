//! The files that a dataset refers to: those of external links, external data and virtual datasets.
//!
//! They are looked for where the HDF5 library looks: by their own path if it is absolute, else beside the file that refers to
//! them, else in the current folder; if no file has the absolute path, its last part is looked for beside
//! the referring file. In a store
//! they are objects in the folder of the object that refers to them.
//!
//! Few of the files are open at a time: a virtual dataset can have more sources than a process may have open files.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Result, errno};
use ferrocdf_hdf5::Resolver;
use ferrocdf_store::{Blob, ObjectBlob, ReadAhead, ReopenedFile, Store};

/// The files around one of the system.
pub(super) struct BesideFile {
    folder: PathBuf,
}

impl BesideFile {
    /// Those around the file at `path`.
    pub(super) fn new(path: &Path) -> Self {
        BesideFile { folder: path.parent().unwrap_or(Path::new("")).to_path_buf() }
    }
}

impl Resolver for BesideFile {
    fn open(&self, file_name: &str) -> Result<Option<Arc<dyn Blob>>> {
        let name = Path::new(file_name);
        let last = name.file_name().map(Path::new);
        let places = match name.is_absolute() {
            true => [Some(name.to_path_buf()), last.map(|last| self.folder.join(last))],
            false => [Some(self.folder.join(name)), Some(name.to_path_buf())],
        };
        for place in places.into_iter().flatten() {
            // Reading from a pipe or a device may never end.
            if std::fs::metadata(&place).is_ok_and(|found| !found.is_file()) {
                continue;
            }
            match ReopenedFile::open(&place) {
                Ok(blob) => return Ok(Some(Arc::new(ReadAhead::new(blob)))),
                Err(error) if matches!(error.code, errno::NOENT | errno::NOTDIR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// The objects around one of a store.
pub(super) struct BesideObject {
    store: Arc<dyn Store>,
    /// The folder of the object, without a slash at its end.
    folder: String,
}

impl BesideObject {
    /// Those around the object called `key`.
    pub(super) fn new(store: Arc<dyn Store>, key: &str) -> Self {
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder).to_string();
        BesideObject { store, folder }
    }

    /// Returns the key of the object that a name means; `None` if the name leads out of the store. Of an absolute path only the
    /// last part means something in a store.
    fn key(&self, name: &Path) -> Option<String> {
        let mut names: Vec<&str> = self.folder.split('/').filter(|name| !name.is_empty()).collect();
        let name = if name.is_absolute() { Path::new(name.file_name()?) } else { name };
        for component in name.components() {
            match component {
                Component::Normal(name) => names.push(name.to_str()?),
                Component::ParentDir => drop(names.pop()?),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!names.is_empty()).then(|| names.join("/"))
    }
}

impl Resolver for BesideObject {
    fn open(&self, file_name: &str) -> Result<Option<Arc<dyn Blob>>> {
        let Some(key) = self.key(Path::new(file_name)) else { return Ok(None) };
        // Only a request tells whether the object exists; the page that it brings is needed anyway.
        let blob =
            super::by_pages_kept(Arc::new(ObjectBlob::new(self.store.clone(), key)), super::kept::folder()?);
        match blob.read_at(0, &mut [0]) {
            Ok(_) => Ok(Some(blob)),
            Err(error) if error.code == Code::ENOOBJECT => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::MemoryStore;

    use super::*;

    #[test]
    fn object_names_are_resolved_in_the_folder_of_the_referring_object() {
        let store = Arc::new(MemoryStore::default());
        for key in ["runs/1/out.nc", "runs/1/raw/data", "runs/shared", "top"] {
            store.put(key, key.as_bytes()).unwrap();
        }
        let found = |from: &str, name: &str| {
            let blob = BesideObject::new(store.clone(), from).open(name).unwrap()?;
            let mut bytes = vec![0; blob.size().unwrap() as usize];
            blob.read_exact_at(0, &mut bytes).unwrap();
            Some(String::from_utf8(bytes).unwrap())
        };
        for (from, name, key) in [
            ("runs/1/out.nc", "raw/data", Some("runs/1/raw/data")),
            ("runs/1/out.nc", "./raw/data", Some("runs/1/raw/data")),
            ("runs/1/out.nc", "../shared", Some("runs/shared")),
            ("runs/1/out.nc", "/elsewhere/out.nc", Some("runs/1/out.nc")),
            ("runs/1/out.nc", "../../../top", None),
            ("runs/1/out.nc", "top", None),
            ("runs/1/out.nc", "..", None),
            ("top", "runs/shared", Some("runs/shared")),
            ("top", "", None),
        ] {
            assert_eq!(found(from, name).as_deref(), key, "{name} from {from}");
        }
    }
}
