//! The filters that a program has: the built-in ones, and those of a provider.
//!
//! [`Codecs`] is a value that whoever opens a file hands in, so that two files of one process can use different filters.

use std::fmt::{self, Debug};
use std::sync::Arc;

use ferrocdf_bytes::Result;

use crate::chain::Step;
use crate::filter::Filter;
use crate::identity::FilterId;
use crate::registry::entry;

/// Source of filters that are not built in, such as HDF5 filter plugins; any number of threads may use it at once.
pub trait Provider: Debug + Send + Sync {
    /// True if there is a filter of this HDF5 number.
    fn has(&self, id: u32) -> bool;

    /// Returns the filter of this HDF5 number, ready to run; `None` if there is none.
    fn filter(&self, id: u32, step: &Step) -> Option<Result<Box<dyn Filter>>>;

    /// Asks the filter at position `at` of a new dataset whether it applies, and lets it derive its parameters (`can_apply`
    /// and `set_local` of an HDF5 filter plugin). `None` if there is no filter of this number.
    ///
    /// # Errors
    /// `NC_EFILTER` if the filter does not apply to the dataset.
    fn prepare(&self, steps: &mut [Step], at: usize, dataset: &Dataset) -> Option<Result<()>>;

    /// True if the filter of this number derives parameters from the dataset, so that those in a file are not those that a
    /// user gave.
    fn derives(&self, id: u32) -> bool;

    /// Returns the folders it searches, to be read after "looked": `in /a and /b (HDF5_PLUGIN_PATH)`.
    fn search_path(&self) -> String;
}

/// The properties of a dataset from which filters derive parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The type of its elements.
    pub element: ElementType,
    /// The shape of a chunk; the slowest dimension first.
    pub chunk: Vec<u64>,
}

/// An element type as HDF5 describes it to filters (HDF5 format specification, "Datatype Message").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// The class number of the specification: 0 integers, 1 floats, 3 strings, 9 variable-length, 10 arrays.
    pub class: u8,
    /// Size in bytes.
    pub size: u32,
    /// True if the bytes are in big-endian order.
    pub big_endian: bool,
    /// True if it is a signed integer.
    pub signed: bool,
    /// Number of significant bits.
    pub precision: u32,
    /// Position of the first significant bit.
    pub offset: u32,
    /// The type of the elements of an array, a variable-length sequence or an enumeration.
    pub base: Option<Box<ElementType>>,
}

/// The element size and shape of a chunk before a filter, as array→array filters need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Bytes of an element.
    pub element_size: usize,
    /// Elements along each dimension; the slowest dimension first.
    pub shape: Vec<usize>,
}

impl ChunkInfo {
    /// Returns the bytes of the chunk; `None` if no memory could hold it.
    pub fn bytes(&self) -> Option<usize> {
        self.shape.iter().try_fold(self.element_size, |bytes, &len| bytes.checked_mul(len))
    }
}

impl fmt::Display for ChunkInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lens: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        write!(f, "{} elements of {} bytes", lens.join(" x "), self.element_size)
    }
}

/// The filters that files can use. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Codecs {
    provider: Option<Arc<dyn Provider>>,
    provider_first: bool,
}

impl Codecs {
    /// The built-in filters, and for all others those of `provider`. With `provider_first` the provider's filter is used
    /// where both have one.
    pub fn new(provider: Arc<dyn Provider>, provider_first: bool) -> Codecs {
        Codecs { provider: Some(provider), provider_first }
    }

    /// The provider, if there is one.
    pub fn provider(&self) -> Option<&dyn Provider> {
        self.provider.as_deref()
    }

    /// Returns the filter of a step, ready to run; `None` if nobody has a filter of its identity. `chunk` describes its input
    /// when encoding, if that is an array.
    pub fn find(&self, step: &Step, chunk: Option<&ChunkInfo>) -> Option<Result<Box<dyn Filter>>> {
        let built_in = || entry(&step.id).map(|entry| (entry.make)(&step.params, chunk));
        let provided = || self.provider.as_ref()?.filter(step.id.hdf5()?, step);
        if self.provider_first { provided().or_else(built_in) } else { built_in().or_else(provided) }
    }

    /// True if somebody has a filter of this identity.
    pub fn has(&self, id: &FilterId) -> bool {
        let provided = |id| self.provider.as_ref().is_some_and(|provider| provider.has(id));
        entry(id).is_some() || id.hdf5().is_some_and(provided)
    }

    /// Returns the places that are searched, to be read after "looked".
    pub(crate) fn search_path(&self) -> String {
        match &self.provider {
            Some(provider) => format!("among the built-in filters and {}", provider.search_path()),
            None => "among the built-in filters".to_string(),
        }
    }
}
