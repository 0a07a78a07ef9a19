//! How a variable lies in its file, for people.

use ferrocdf_array::{Array, Layout};
use ferrocdf_bytes::{Error, Result, errno};
use ferrocdf_hdf5::ChunkCounts;
use ferrocdf_model::{Atomic, Chunking, Type, VarId};

use crate::driver::{DataSources, MissingSource};
use crate::variable_errors::in_variable;
use crate::{File, Variable};

/// How a variable is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrangement {
    /// One run of bytes.
    Contiguous,
    /// A slab in each record, between those of other variables.
    Records {
        /// Bytes of one slab.
        slab: u64,
        /// Bytes from one record to the next.
        record: u64,
    },
    /// In the header.
    Inline,
    /// In chunks of this shape, in elements.
    Chunked(Vec<u64>),
    /// In other datasets.
    Virtual,
    /// Nowhere: the values are computed when they are read.
    Computed,
}

impl Arrangement {
    fn of(chunking: &Chunking) -> Arrangement {
        match chunking {
            Chunking::Chunked(shape) => Arrangement::Chunked(shape.clone()),
            Chunking::Compact => Arrangement::Inline,
            Chunking::Contiguous => Arrangement::Contiguous,
        }
    }
}

/// Where and how large a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageInfo {
    /// How it is stored.
    pub arrangement: Arrangement,
    /// Bytes of its elements, not compressed: of strings and lists those that say where they are.
    pub bytes: u64,
    /// Bytes they take in the file.
    pub stored_bytes: u64,
    /// Position of the first byte, if it has one.
    pub begin: Option<u64>,
    /// One past the last byte, if it has one.
    pub end: Option<u64>,
    /// The numbers of its chunks, if it is chunked.
    pub chunks: Option<ChunkCounts>,
}

impl StorageInfo {
    /// How many times smaller the stored bytes are than the elements; `None` for an empty variable.
    pub fn ratio(&self) -> Option<f64> {
        (self.stored_bytes > 0).then(|| self.bytes as f64 / self.stored_bytes as f64)
    }

    fn of(array: &Array, is_record: bool) -> StorageInfo {
        let size = array.decoder.as_ref().map_or(array.stored.kind.size(), |decoder| decoder.size()) as u64;
        let bytes = array.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        let without_position = |arrangement| StorageInfo {
            arrangement,
            bytes,
            stored_bytes: bytes,
            begin: None,
            end: None,
            chunks: None,
        };
        let (begin, strides) = match &array.layout {
            Layout::Strided { begin, strides } => (*begin, strides),
            Layout::Chunked(chunks) => return without_position(Arrangement::Chunked(chunks.shape.clone())),
            Layout::Virtual(_) => return without_position(Arrangement::Virtual),
            Layout::Fill(_) => {
                return StorageInfo { stored_bytes: 0, ..without_position(Arrangement::Contiguous) };
            }
            _ => return without_position(Arrangement::Inline),
        };
        let last = strides.iter().zip(&array.shape).fold(begin, |at, (&stride, &len)| {
            at.saturating_add(stride.saturating_mul(len.saturating_sub(1)))
        });
        let arrangement = match strides.first() {
            Some(&record) if is_record => {
                let slab = array.shape.iter().skip(1).fold(size, |bytes, &len| bytes.saturating_mul(len));
                Arrangement::Records { slab, record }
            }
            _ => Arrangement::Contiguous,
        };
        let end = (bytes > 0).then(|| last.saturating_add(size));
        StorageInfo { begin: Some(begin), end, ..without_position(arrangement) }
    }
}

impl File {
    /// Checks that no source lacks elements of these variables, which would be fill values in a copy for good: see [`Variable::missing_sources`].
    ///
    /// # Errors
    /// `ENOENT` with the first variable and its first such source; those of `missing_sources`.
    pub fn check_sources(&self, vars: impl IntoIterator<Item = VarId>) -> Result<()> {
        let (mut first, mut count) = (None, 0);
        for var in vars {
            let missing = self.variable_of(var).missing_sources()?;
            count += missing.len();
            if first.is_none() {
                first = missing.into_iter().next().map(|source| (var, source));
            }
        }
        let Some((var, source)) = first else { return Ok(()) };
        let more = if count > 1 {
            format!(" (and in {} more that lack elements)", count - 1)
        } else {
            String::new()
        };
        let what = format!("it has elements in {source}{more}");
        Err(Error::new(errno::NOENT, what).at_path(self.model().var_path(var)))
    }
}

impl Variable<'_> {
    /// Where its data comes from.
    pub fn sources(&self) -> Result<DataSources> {
        self.file().read_state().driver().inspect().sources(self.id())
    }

    /// The sources of a virtual dataset that lack elements: their files are not there, or shorter than they were. The elements have the fill value,
    /// which HDF5 does not tell either. All sources are opened.
    ///
    /// # Errors
    /// Those of reading the headers of the sources.
    pub fn missing_sources(&self) -> Result<Vec<MissingSource>> {
        let state = self.file().read_state();
        let missing = state.driver().inspect().missing_sources(self.id());
        missing.map_err(|error| in_variable(error, state.model(), self.id()))
    }

    /// How it is stored. Of chunks the whole index is read.
    pub fn storage(&self) -> Result<StorageInfo> {
        let state = self.file().read_state();
        let var = state.model().var(self.id());
        let is_record = state.model().format().is_classic_file() && state.model().is_record(self.id());
        let mut info = match var.ty {
            Type::Atomic(atomic) if atomic != Atomic::String => {
                StorageInfo::of(state.array(self.id())?, is_record)
            }
            // Strings and user-defined types have no array of numbers; the model says how they are stored.
            _ => StorageInfo {
                arrangement: var.storage.chunking.as_ref().map_or(Arrangement::Virtual, Arrangement::of),
                bytes: 0,
                stored_bytes: 0,
                begin: None,
                end: None,
                chunks: None,
            },
        };
        let size = state.driver().inspect().stored_size(self.id())?;
        if let Some((decoded, stored)) = size.bytes {
            (info.bytes, info.stored_bytes) = (decoded, stored);
            // A dataset shorter than its dimensions is seen through a virtual layout.
            if let (Arrangement::Virtual, Some(chunking)) = (&info.arrangement, &var.storage.chunking) {
                info.arrangement = Arrangement::of(chunking);
            }
        }
        info.chunks = size.chunks;
        if state.driver().inspect().is_computed(self.id()) {
            info = StorageInfo {
                arrangement: Arrangement::Computed,
                stored_bytes: 0,
                begin: None,
                end: None,
                ..info
            };
        }
        Ok(info)
    }
}
