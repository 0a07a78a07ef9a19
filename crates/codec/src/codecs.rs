//! The set of filters that a file can use: the built-in filters and the filters of a provider.
//!
//! The caller that opens a file passes in a [`Codecs`] value, so two files of one process can use different filters.

use std::fmt::{self, Debug};
use std::sync::Arc;

use ferrocdf_bytes::Result;

use crate::chain::Step;
use crate::filter::Filter;
use crate::filters::NumberType;
use crate::identity::FilterId;
use crate::registry::entry;

/// Source of filters that are not built in, such as HDF5 filter plugins; several threads may use it at once.
pub trait Provider: Debug + Send + Sync {
    /// True if the provider has a filter with this HDF5 number.
    fn has(&self, id: u32) -> bool;

    /// Returns the filter with this HDF5 number, ready to run; `None` if the provider does not have it.
    fn filter(&self, id: u32, step: &Step) -> Option<Result<Box<dyn Filter>>>;

    /// Checks that the filter at position `at` of a new dataset applies, and lets it derive its parameters (`can_apply` and
    /// `set_local` of an HDF5 filter plugin). `None` if the provider does not have this filter.
    ///
    /// # Errors
    /// `NC_EFILTER` if the filter does not apply to the dataset.
    fn prepare(&self, steps: &mut [Step], at: usize, dataset: &DatasetInfo) -> Option<Result<()>>;

    /// True if the filter with this number derives parameters from the dataset, so that the parameters in a file differ from
    /// the ones that the user gave.
    fn derives(&self, id: u32) -> bool;

    /// Returns the searched folders in the form that follows "searched" in an error: `in /a and /b (HDF5_PLUGIN_PATH)`.
    fn search_path(&self) -> String;
}

/// Properties of a dataset from which filters derive parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetInfo {
    /// Type of the elements.
    pub element: ElementType,
    /// Shape of a chunk, slowest dimension first.
    pub chunk: Vec<u64>,
}

/// Element type as HDF5 describes it to filters (HDF5 format specification, "Datatype Message").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// Class number of the specification: 0 integer, 1 float, 3 string, 9 variable-length, 10 array.
    pub class: u8,
    /// Size in bytes.
    pub size: u32,
    /// True if the byte order is big-endian.
    pub big_endian: bool,
    /// True if the type is a signed integer.
    pub signed: bool,
    /// Number of significant bits.
    pub precision: u32,
    /// Position of the first significant bit.
    pub offset: u32,
    /// Base type of an array, a variable-length sequence or an enumeration.
    pub base: Option<Box<ElementType>>,
}

/// Element type and shape of a filter's input when encoding, which array→array filters need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Size of an element in bytes.
    pub element_size: usize,
    /// Type of the numbers that elements consist of: one, or two in a complex number. `None` for elements that are not numbers.
    pub number: Option<NumberType>,
    /// Number of elements along each dimension, slowest dimension first.
    pub shape: Vec<usize>,
}

impl ChunkInfo {
    /// Returns the number of elements; `None` if it overflows.
    pub fn elements(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |elements, &len| elements.checked_mul(len))
    }

    /// Returns the size of the chunk in bytes; `None` if it overflows.
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
    /// Creates the set of the built-in filters and the filters of `provider`. If a filter is in both, `provider_first`
    /// selects the one of the provider.
    pub fn new(provider: Arc<dyn Provider>, provider_first: bool) -> Codecs {
        Codecs { provider: Some(provider), provider_first }
    }

    /// Returns the provider, if there is one.
    pub fn provider(&self) -> Option<&dyn Provider> {
        self.provider.as_deref()
    }

    /// Returns the filter of a step, ready to run; `None` if the set does not contain it. `chunk` describes the filter's
    /// input when encoding; `None` if the input is bytes whose element size and shape are unknown.
    pub fn find(&self, step: &Step, chunk: Option<&ChunkInfo>) -> Option<Result<Box<dyn Filter>>> {
        let built_in = || entry(&step.id).map(|entry| (entry.new)(&step.params, chunk));
        let provided = || self.provider.as_ref()?.filter(step.id.hdf5()?, step);
        if self.provider_first { provided().or_else(built_in) } else { built_in().or_else(provided) }
    }

    /// True if the set contains the filter with this identity.
    pub fn has(&self, id: &FilterId) -> bool {
        let provided = |id| self.provider.as_ref().is_some_and(|provider| provider.has(id));
        entry(id).is_some() || id.hdf5().is_some_and(provided)
    }

    /// Returns where filters are searched, in the form that follows "searched" in an error.
    pub(crate) fn search_path(&self) -> String {
        match &self.provider {
            Some(provider) => format!("among the built-in filters and {}", provider.search_path()),
            None => "among the built-in filters".to_string(),
        }
    }
}
