//! The set of filters that a file can use: the built-in filters and the filters of a provider.
//!
//! The caller that opens a file passes in a [`Codecs`] value, so two files of one process can use different filters.

use std::fmt::{self, Debug};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::chain::Step;
use crate::filter::Filter;
use crate::filters::{NumberType, szip_params};
use crate::identity::FilterId;
use crate::json::{self, Parameters};
use crate::registry::{entry, registered_name};

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

    /// Returns the HDF5 number and the parameters, as a user gives them, of the filter that a numcodecs configuration stands for.
    /// `id` is the value of its member `id`. `None` if the provider does not know such a codec.
    ///
    /// # Errors
    /// The error code of a codec plugin that does not accept the configuration.
    fn parse_numcodecs(&self, id: &str, json: &str) -> Option<Result<(u32, Vec<u32>)>> {
        let _ = (id, json);
        None
    }

    /// Returns the numcodecs configuration of the filter with this HDF5 number, from its parameters as a user gives them. `None` if the
    /// provider knows no codec for the filter.
    ///
    /// # Errors
    /// The error code of a codec plugin that does not accept the parameters.
    fn to_numcodecs(&self, number: u32, params: &[u32]) -> Option<Result<String>> {
        let _ = (number, params);
        None
    }

    /// True if the provider knows a codec for the filter with this HDF5 number.
    fn has_codec(&self, number: u32) -> bool {
        let _ = number;
        false
    }

    /// Returns the parameters with which the filter encodes the chunks of an array, from those that a user gives, which may change as
    /// well. `None` if the provider knows no codec for the filter.
    ///
    /// # Errors
    /// The error code of a codec plugin that does not apply to the array.
    fn derived_params(
        &self,
        number: u32,
        params: &mut Vec<u32>,
        array: &ArrayInfo<'_>,
    ) -> Option<Result<Vec<u32>>> {
        let _ = (number, params, array);
        None
    }
}

/// Properties of a Zarr array from which filters derive parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo<'a> {
    /// Name of the array.
    pub name: &'a str,
    /// Length of each dimension, slowest first.
    pub shape: &'a [u64],
    /// Element type and chunk shape.
    pub dataset: DatasetInfo,
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

/// Number of the filter szip in HDF5.
const SZIP: u32 = 4;

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

    /// Returns the filter of a numcodecs configuration, with parameters as a user gives them: a built-in filter, else one whose codec
    /// the provider knows. `None` if neither has its `id`.
    ///
    /// # Errors
    /// `EFILTER` for text that is not a JSON object with an `id`, and for invalid values; the error code of a codec plugin.
    pub fn parse_numcodecs(&self, json: &str) -> Option<Result<Parameters>> {
        json::from_numcodecs(json).or_else(|| self.provided(json::numcodecs_object(json)?))
    }

    /// Returns the filter of the metadata of a Zarr v3 codec, with parameters as a user gives them: a built-in filter, else one whose
    /// codec the provider knows under the name, with or without `numcodecs.` before it. `None` if neither has its `name`.
    ///
    /// # Errors
    /// `EFILTER` for text that is not a JSON object with a `name`, and for invalid values; the error code of a codec plugin.
    pub fn parse_zarr_v3(&self, json: &str) -> Option<Result<Parameters>> {
        json::from_zarr_v3(json).or_else(|| self.provided(json::as_numcodecs(json)?))
    }

    /// Returns the filter of a numcodecs configuration that is not that of a built-in filter.
    fn provided(&self, (id, json): (String, String)) -> Option<Result<Parameters>> {
        let found = self.provider.as_ref()?.parse_numcodecs(&id, &json)?;
        Some(found.map(|(number, params)| (number.into(), params)))
    }

    /// Returns the numcodecs configuration of a filter, from its parameters as a user gives them. `None` if neither the filter nor the
    /// provider has one.
    ///
    /// # Errors
    /// `EFILTER` for invalid parameters; the error code of a codec plugin.
    pub fn to_numcodecs(&self, id: &FilterId, params: &[u32]) -> Option<Result<String>> {
        json::to_numcodecs(id, params).or_else(|| self.provider.as_ref()?.to_numcodecs(id.hdf5()?, params))
    }

    /// Returns the Zarr v3 metadata of a filter, from its parameters as a user gives them. A codec of the provider has the name
    /// `numcodecs.` plus its numcodecs `id`. `None` if neither the filter nor the provider has a codec.
    ///
    /// # Errors
    /// `EFILTER` for invalid parameters; the error code of a codec plugin.
    pub fn to_zarr_v3(&self, id: &FilterId, params: &[u32]) -> Option<Result<String>> {
        json::to_zarr_v3(id, params).or_else(|| {
            let json = self.provider.as_ref()?.to_numcodecs(id.hdf5()?, params)?;
            Some(json.and_then(|json| json::as_zarr_v3(&json)))
        })
    }

    /// True if a filter has a JSON form, so that it can be used in a Zarr array.
    pub fn has_codec(&self, id: &FilterId) -> bool {
        json::has_form(id)
            || id
                .hdf5()
                .is_some_and(|id| self.provider.as_ref().is_some_and(|provider| provider.has_codec(id)))
    }

    /// Returns the error of a codec in Zarr metadata that neither the built-in filters nor the provider have.
    pub fn unknown_codec(&self, name: &str) -> Error {
        let searched = self.searched("a codec plugin and its HDF5 filter plugin");
        Error::new(Code::ENOFILTER, format!("the codec {name:?} is not known; {searched}"))
    }

    /// Returns the error of a filter that has no JSON form, so that it cannot be used in a Zarr array.
    pub fn no_codec(&self, id: &FilterId) -> Error {
        let name = id.hdf5().and_then(registered_name).map_or(String::new(), |name| format!(" ({name})"));
        let searched = self.searched("a codec plugin");
        let what = format!("filter {id}{name} has no codec, which a Zarr array needs; {searched}");
        Error::new(Code::ENOFILTER, what)
    }

    /// Returns where filters were searched, and that plugins can be installed there.
    fn searched(&self, plugins: &str) -> String {
        match &self.provider {
            Some(_) => format!("searched {}: {plugins} can be installed there", self.search_path()),
            None => format!("searched {}", self.search_path()),
        }
    }

    /// Replaces the parameters of a filter, as a user gives them and JSON has them, by the ones with which it encodes the chunks of a
    /// Zarr array. HDF5 calls these the parameters after `set_local`. Parameters of most filters stay unchanged. Returns the
    /// parameters for the JSON form, which a codec plugin may change.
    ///
    /// # Errors
    /// `EFILTER` for szip blocks that are larger than a chunk; the error code of a codec plugin.
    pub fn derive_for_array(&self, step: &mut Step, array: &ArrayInfo<'_>) -> Result<Vec<u32>> {
        let mut given = step.params.clone();
        if step.id == SZIP {
            step.params = szip_params(&given, &array.dataset)?;
        } else if !json::has_form(&step.id)
            && let (Some(number), Some(provider)) = (step.id.hdf5(), &self.provider)
            && let Some(derived) = provider.derived_params(number, &mut given, array)
        {
            step.params = derived?;
        }
        Ok(given)
    }

    /// Returns where filters are searched, in the form that follows "searched" in an error.
    pub(crate) fn search_path(&self) -> String {
        match &self.provider {
            Some(provider) => format!("among the built-in filters and {}", provider.search_path()),
            None => "among the built-in filters".to_string(),
        }
    }
}
