//! The seam between an open file and its format.
//!
//! A driver is what a container (classic file, HDF5 file, …) does for an open dataset. Names, ids, types and attributes belong
//! to the model, copying and converting data to the engine: a driver says where elements lie and, if it writes, brings the
//! file from one model to the next. Drivers never copy an element and never convert a number.
//!
//! The traits are cut by who needs them. [`Driver`] is all that reading takes: `refresh`, `array` and `blob` are required, the
//! rest has defaults. [`Inspect`] holds questions that only people ask, [`WriteDriver`] the steps of writing, [`Remover`] the
//! removal of objects, which most formats lack. Whether a file can be written is known from [`Opened`], never found out by
//! trying. A [`Probe`] recognises a container and opens it; [`register`] adds one to those of this process.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ferrocdf::array::{Array, Kind, Stored};
//! use ferrocdf::driver::{Driver, LocatedArray, Probe, register};
//! use ferrocdf::store::Blob;
//! use ferrocdf::{Atomic, Container, DataModel, File, Format, GroupId, Model, Result, VarId};
//!
//! /// Files of four letters and 16-bit integers.
//! struct Raw(Arc<dyn Blob>);
//!
//! impl Driver for Raw {
//!     fn refresh(&mut self) -> Result<Model> {
//!         let mut model = Model::new(Format::new(Container::Other("raw"), DataModel::Classic));
//!         let len = self.0.size()?.saturating_sub(4) / 2;
//!         let dim = model.def_dim(GroupId::ROOT, "sample", Some(len))?;
//!         model.def_var(GroupId::ROOT, "level", Atomic::Short.into(), &[dim])?;
//!         Ok(model)
//!     }
//!
//!     fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
//!         Ok(Array::contiguous(model.shape(var), Stored::big(Kind::I16), 4)?.into())
//!     }
//!
//!     fn blob(&self) -> &dyn Blob {
//!         &*self.0
//!     }
//! }
//!
//! register(Probe {
//!     container: Container::Other("raw"),
//!     recognises: |candidate| Ok(candidate.head.starts_with(b"RAW!")),
//!     open: |blob, _| {
//!         let mut raw = Raw(blob);
//!         let model = raw.refresh()?;
//!         Ok((Box::new(raw), model))
//!     },
//!     write: None,
//! });
//! let file = File::from_bytes(b"RAW!\x00\x01\x01\x00".to_vec())?;
//! let level = file.variable("level").expect("every raw file has it");
//! assert_eq!(level.get_values::<f64, _>(..)?, [1.0, 256.0]);
//! # Ok::<(), ferrocdf::Error>(())
//! ```

mod inspect;
mod probe;
mod write;

use std::sync::Arc;

use ferrocdf_array::{Array, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Model, Values, VarId};
use ferrocdf_store::Blob;

pub use inspect::{DataSources, Inspect, MissingSource, Shapeless, Skipped, StoredExtents, StoredSize};
pub(crate) use probe::registered;
pub use probe::{Candidate, Context, CreateFn, OpenFn, OpenMutFn, Probe, WriteProbe, register};
pub use write::{
    ChunkTarget, Flush, NewElements, Part, Remover, Resized, Rounding, Span, WriteDriver, Written,
};

/// What a container does for a dataset that is read.
pub trait Driver: Send + Sync {
    /// Reads the model from the bytes, which another process may have changed since the last time. Ids given before mean
    /// what the new model says. Only called for files that are open for reading.
    ///
    /// # Errors
    /// After an error the driver is as before.
    fn refresh(&mut self) -> Result<Model>;

    /// Returns shape, element type and layout of a variable, and where its bytes are. The result is kept by the open file,
    /// so the question comes once per variable and model.
    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray>;

    /// Returns the bytes of the file.
    fn blob(&self) -> &dyn Blob;

    /// Reads the selected elements of a variable whose values are nested: strings, or a user-defined type.
    fn values(&self, model: &Model, var: VarId, _selection: &Selection) -> Result<Values> {
        Err(Error::new(Code::EBADTYPE, format!("{} does not hold numbers or text", model.var_path(var))))
    }

    /// Returns the value of unwritten elements, one of the type of the variable; `None` if it is not known.
    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        Ok(model.fill_value(var))
    }

    /// Finds the arrays of `model` again after another process has changed the file; [`Driver::array`] gives the new ones then.
    /// Returns false, and changes nothing, if arrays never move or the file has other variables than `model`.
    fn relocate(&mut self, _model: &Model) -> Result<bool> {
        Ok(false)
    }

    /// Returns the answers to what only people ask of a dataset.
    fn inspect(&self) -> &dyn Inspect {
        &inspect::NoDetails
    }
}

/// The array of a variable and the bytes that it lies in.
pub struct LocatedArray {
    /// Shape, element type and layout.
    pub array: Array,
    /// The bytes that the layout is about, if they are not those of the file: external raw data.
    pub blob: Option<Arc<dyn Blob>>,
}

impl From<Array> for LocatedArray {
    /// An array in the bytes of its file.
    fn from(array: Array) -> LocatedArray {
        LocatedArray { array, blob: None }
    }
}

/// The driver of an open file.
pub enum Opened {
    /// The file is only read.
    ReadOnly(Box<dyn Driver>),
    /// The file is read and written.
    Writable(Box<dyn WriteDriver>),
}

impl Opened {
    /// Returns the driver as one that reads.
    #[inline]
    pub fn driver(&self) -> &dyn Driver {
        match self {
            Opened::ReadOnly(driver) => &**driver,
            Opened::Writable(driver) => &**driver,
        }
    }

    /// Returns the driver as one that reads, to be changed.
    pub fn driver_mut(&mut self) -> &mut dyn Driver {
        match self {
            Opened::ReadOnly(driver) => &mut **driver,
            Opened::Writable(driver) => &mut **driver,
        }
    }

    /// Returns the driver that writes.
    ///
    /// # Errors
    /// `NC_EPERM` if the file is only read.
    #[inline]
    pub fn writer(&self) -> Result<&dyn WriteDriver> {
        match self {
            Opened::ReadOnly(_) => Err(read_only()),
            Opened::Writable(driver) => Ok(&**driver),
        }
    }

    /// Returns the driver that writes, to be changed.
    ///
    /// # Errors
    /// `NC_EPERM` if the file is only read.
    #[inline]
    pub fn writer_mut(&mut self) -> Result<&mut dyn WriteDriver> {
        match self {
            Opened::ReadOnly(_) => Err(read_only()),
            Opened::Writable(driver) => Ok(&mut **driver),
        }
    }

    /// True if the file can be written.
    pub fn is_writable(&self) -> bool {
        matches!(self, Opened::Writable(_))
    }
}

#[cold]
fn read_only() -> Error {
    Error::new(Code::EPERM, "the file is open for reading only")
}
