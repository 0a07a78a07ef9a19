//! Files that a file names: those of external links, external data and virtual datasets.
//!
//! They are looked for where the HDF5 library looks: by their own path if it is absolute, else beside the file that names
//! them, else in the current folder; an absolute path that leads nowhere is tried beside the file by its last part.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Result};
use ferrocdf_hdf5::Neighbours;
use ferrocdf_store::{Blob, FileBlob, ReadAhead};

/// The files around one that is open.
pub(crate) struct Beside {
    folder: PathBuf,
}

impl Beside {
    /// Those around the file at `path`.
    pub(crate) fn new(path: &Path) -> Self {
        Beside { folder: path.parent().unwrap_or(Path::new("")).to_path_buf() }
    }
}

impl Neighbours for Beside {
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
            match FileBlob::open(&place) {
                Ok(blob) => return Ok(Some(Arc::new(ReadAhead::new(blob)))),
                Err(error) if matches!(error.code, Code(ENOENT | ENOTDIR)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// What the system answers where there is no such file.
const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
