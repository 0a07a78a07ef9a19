//! Which driver reads which file: by content, never by name.

mod classic;

use std::path::Path;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::{ClassicFile, Version};
use ferrocdf_hdf5::Neighbours;
use ferrocdf_model::{Format, Model};
use ferrocdf_store::{Blob, BlobMut};

use crate::driver::{Driver, WriteDriver};
use crate::nc4::{Nc4, Nc4Writer};
use crate::neighbours::Beside;
use crate::options::OpenOptions;
use crate::plugins;

/// What the first bytes of a file say it is.
enum Magic {
    Classic,
    Hdf5,
    Hdf4,
    Empty,
    Other,
}

fn magic(blob: &dyn Blob) -> Result<Magic> {
    let mut head = [0; 8];
    let got = blob.read_at(0, &mut head)?;
    Ok(match &head[..got] {
        [b'C', b'D', b'F', 1 | 2 | 5, ..] => Magic::Classic,
        [0x89, b'H', b'D', b'F', b'\r', b'\n', 0x1a, b'\n'] => Magic::Hdf5,
        [0x0e, 0x03, 0x13, 0x01, ..] => Magic::Hdf4,
        [] => Magic::Empty,
        _ => Magic::Other,
    })
}

/// What the system answers to reading a folder.
const EISDIR: Code = Code(21);

/// What the content of a blob is; a folder is no file of any format.
fn known_magic(blob: &dyn Blob) -> Result<Magic> {
    magic(blob).map_err(|error| match error.code {
        EISDIR => error.with_code(Code::ENOTNC),
        _ => error,
    })
}

fn unknown(magic: &Magic) -> Error {
    let why = match magic {
        Magic::Hdf4 => "it is an HDF4 file; this version reads classic files (CDF-1, CDF-2, CDF-5) and HDF5",
        Magic::Empty => "it is empty",
        _ => "its first bytes are those of no netCDF format",
    };
    Error::new(Code::ENOTNC, why)
}

/// Opens a file for reading, as what its content says it is. `path` is where it is, if it is a file of the system.
pub(crate) fn open(
    blob: Arc<dyn Blob>,
    path: Option<&Path>,
    options: &OpenOptions,
) -> Result<(Box<dyn Driver>, Model)> {
    let magic = known_magic(&*blob)?;
    match magic {
        Magic::Classic => {
            let (file, model) = ClassicFile::open(blob, options.allow_missing)?;
            Ok((Box::new(file), model))
        }
        // A user block may come before the superblock.
        Magic::Hdf5 | Magic::Other => {
            let neighbours = path.map(|path| Arc::new(Beside::new(path)) as Arc<dyn Neighbours>);
            match Nc4::open(blob, ferrocdf_hdf5::OpenOptions { neighbours, codecs: plugins::codecs() }) {
                Ok((file, model)) => plugins::check_setting().map(|()| (Box::new(file) as _, model)),
                Err(error) if error.code == Code::ENOTNC => Err(unknown(&magic)),
                Err(error) => Err(error),
            }
        }
        Magic::Hdf4 | Magic::Empty => Err(unknown(&magic)),
    }
}

/// Opens a file for reading and writing, as what its content says it is. `path` is where it is, if it is a file of the
/// system.
pub(crate) fn open_mut(blob: Box<dyn BlobMut>, path: Option<&Path>) -> Result<(Box<dyn WriteDriver>, Model)> {
    let magic = known_magic(&*blob)?;
    match magic {
        Magic::Classic => {
            let (file, model) = ClassicFile::open_mut(blob)?;
            Ok((Box::new(file), model))
        }
        Magic::Hdf5 | Magic::Other => {
            let neighbours = path.map(|path| Arc::new(Beside::new(path)) as Arc<dyn Neighbours>);
            match Nc4Writer::open(
                Arc::from(blob),
                ferrocdf_hdf5::OpenOptions { neighbours, codecs: plugins::codecs() },
            ) {
                Ok((file, model)) => plugins::check_setting().map(|()| (Box::new(file) as _, model)),
                Err(error) if error.code == Code::ENOTNC => Err(unknown(&magic)),
                Err(error) => Err(error),
            }
        }
        Magic::Hdf4 | Magic::Empty => Err(unknown(&magic)),
    }
}

/// A driver for a new file of a format.
pub(crate) fn create(blob: Box<dyn BlobMut>, format: Format) -> Result<Box<dyn WriteDriver>> {
    Ok(match Version::of(format) {
        Some(version) => Box::new(ClassicFile::create(blob, version)),
        None => {
            plugins::check_setting()?;
            Box::new(Nc4Writer::create(Arc::from(blob))?)
        }
    })
}

/// Whether the content is that of a classic file.
pub(crate) fn is_classic(blob: &dyn Blob) -> bool {
    matches!(magic(blob), Ok(Magic::Classic))
}

/// Names the file in an error.
pub(crate) fn in_file<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.at(path.display()))
}
