//! Storage properties of variables, as [`VariableBuilder`](super::VariableBuilder) sets them.

use std::fmt;

use ferrocdf_bytes::Result;
use ferrocdf_codec::registered_name;
use ferrocdf_model::{Chunking, Endian, Filter, NamedCodec, Quantize, Storage, Values};

use super::Variable;
use crate::quantize;

/// A filter of a variable. It prints with its parameters, such as `deflate,4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableFilter {
    /// Registered name; the HDF5 number if it has none.
    pub name: String,
    /// HDF5 number; `None` for a codec of Zarr that has none.
    pub id: Option<u32>,
    /// Parameters, in the order in which the filter takes them.
    pub params: Vec<u32>,
}

impl VariableFilter {
    fn of(filter: &Filter) -> VariableFilter {
        let name = registered_name(filter.id).map_or_else(|| filter.id.to_string(), str::to_string);
        VariableFilter { name, id: Some(filter.id), params: filter.params.clone() }
    }

    fn of_codec(codec: &NamedCodec) -> VariableFilter {
        let params = codec.params.clone().unwrap_or_default();
        VariableFilter { name: codec.name.clone(), id: None, params }
    }
}

impl fmt::Display for VariableFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.params.iter().try_for_each(|param| write!(f, ",{param}"))
    }
}

impl Variable<'_> {
    /// Returns the shape of the chunks, in elements; `None` for a variable without chunks. [`Variable::storage`] tells how it is
    /// stored else, and how many bytes it takes.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// # file.add_dimension("x", 100)?;
    /// let v = file.build_variable("v", ferrocdf::Atomic::Float, &["x"]).chunks(&[50]).shuffle().deflate(4).create()?;
    /// assert_eq!(v.chunk_shape(), Some(vec![50]));
    /// let filters: Vec<String> = v.filters().iter().map(ToString::to_string).collect();
    /// assert_eq!(filters, ["shuffle", "deflate,4"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn chunk_shape(&self) -> Option<Vec<u64>> {
        self.with_storage(|storage| match &storage.chunking {
            Some(Chunking::Chunked(shape)) => Some(shape.clone()),
            _ => None,
        })
    }

    /// Returns the shape of the shards of a Zarr 3 array, in elements; `None` if its chunks are objects of their own.
    pub fn shard_shape(&self) -> Option<Vec<u64>> {
        self.with_storage(|storage| storage.shards.clone())
    }

    /// Returns the filters, in the order in which they encode.
    pub fn filters(&self) -> Vec<VariableFilter> {
        self.with_storage(|storage| storage.in_order(VariableFilter::of, VariableFilter::of_codec))
    }

    /// Returns the byte order of stored numbers; `None` if it is left to the format.
    pub fn endian(&self) -> Option<Endian> {
        self.with_storage(|storage| storage.endian)
    }

    /// Returns the rounding of the numbers that are, or were, written; `None` if they are stored unchanged.
    ///
    /// # Errors
    /// Those of [`Variable::attribute`]: the rounding of a stored variable is an attribute.
    pub fn quantize(&self) -> Result<Option<Quantize>> {
        if let Some(wanted) = self.with_storage(|storage| storage.quantize) {
            return Ok(Some(wanted));
        }
        for (name, way) in quantize::ATTRIBUTES {
            if let Some(digits) = self.find_attribute(name)? {
                return Ok(Some(Quantize { way, digits }));
            }
        }
        Ok(None)
    }

    /// Returns the value of elements that were never written: one of the type of the variable, `None` if nobody set one and the type
    /// has none. In a netCDF-4 file of another program it need not be what the attribute `_FillValue` says.
    ///
    /// # Errors
    /// `NC_EHDFERR` for a damaged file.
    pub fn fill_value(&self) -> Result<Option<Values>> {
        self.file().fill_value(self.id())
    }

    fn with_storage<R>(&self, look: impl FnOnce(&Storage) -> R) -> R {
        self.file().look(|model| look(&model.var(self.id()).storage))
    }
}
