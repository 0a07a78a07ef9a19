//! Definition of a variable with choices.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::spec::{List, Syntax};
use ferrocdf_model::{
    Chunking, Container, DimId, Endian, Filter, GroupId, Model, NamedCodec, Owner, Quantization, Quantize,
    Type, Values, VarId,
};

use super::paths::find_dim;
use super::{GroupMut, VariableMut, attributes};
use crate::{can_have_codec, define_filter};

/// A variable that is being defined; [`VariableBuilder::create`] defines it.
///
/// ```
/// # fn main() -> ferrocdf::Result<()> {
/// # let file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
/// use ferrocdf::Atomic;
///
/// file.add_unlimited_dimension("time")?;
/// file.add_dimension("lat", 180)?;
/// file.add_dimension("lon", 360)?;
/// let temperature = file
///     .build_variable("temperature", Atomic::Float, &["time", "lat", "lon"])
///     .chunks(&[1, 90, 180])
///     .shuffle()
///     .deflate(4)
///     .fill_value(-999.0f32)
///     .attribute("units", "kelvin")
///     .create()?;
/// temperature.put_value(281.5f32, [0, 0, 0])?;
/// assert_eq!(temperature.get_value::<f32, _>([0, 0, 1])?, -999.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a variable is defined by `create`"]
pub struct VariableBuilder<'f> {
    group: GroupMut<'f>,
    name: String,
    ty: Type,
    dims: Vec<String>,
    chunking: Option<Chunking>,
    shards: Option<Vec<u64>>,
    /// Specifications of filters, in the order in which they encode.
    filters: Vec<String>,
    endian: Option<Endian>,
    quantize: Option<Quantize>,
    no_fill: bool,
    attributes: Vec<(String, Values)>,
}

impl<'f> VariableBuilder<'f> {
    pub(super) fn new(group: GroupMut<'f>, name: &str, ty: Type, dims: &[&str]) -> VariableBuilder<'f> {
        VariableBuilder {
            group,
            name: name.to_string(),
            ty,
            dims: dims.iter().map(ToString::to_string).collect(),
            chunking: None,
            shards: None,
            filters: vec![],
            endian: None,
            quantize: None,
            no_fill: false,
            attributes: vec![],
        }
    }

    /// Stores the elements in chunks of this shape, in elements.
    pub fn chunks(mut self, shape: &[u64]) -> Self {
        self.chunking = Some(Chunking::Chunked(shape.to_vec()));
        self
    }

    /// Stores the elements as one run of bytes, which no filter encodes.
    pub fn contiguous(mut self) -> Self {
        self.chunking = Some(Chunking::Contiguous);
        self
    }

    /// Zarr 3: keeps chunks together in shards of this shape in elements, a multiple of that of the chunks.
    pub fn shards(mut self, shape: &[u64]) -> Self {
        self.shards = Some(shape.to_vec());
        self
    }

    /// Adds filters by their names or HDF5 numbers, as `nccopy -F` takes them: `zstd,3`, or `shuffle|deflate,5`.
    /// [`plugins::names`](crate::plugins::names) lists the names.
    pub fn filter(mut self, specification: &str) -> Self {
        self.filters.push(specification.to_string());
        self
    }

    /// Compresses with deflate at a level from 0 to 9.
    pub fn deflate(self, level: u32) -> Self {
        self.filter(&format!("deflate,{level}"))
    }

    /// Sorts the bytes of the elements by significance before they are compressed.
    pub fn shuffle(self) -> Self {
        self.filter("shuffle")
    }

    /// Stores a checksum with each chunk.
    pub fn fletcher32(self) -> Self {
        self.filter("fletcher32")
    }

    /// Stores numbers in this byte order.
    pub fn endian(mut self, endian: Endian) -> Self {
        self.endian = Some(endian);
        self
    }

    /// Rounds floats that are written so that they compress better: to significant decimal digits, or to bits with
    /// [`Quantization::BitRound`].
    pub fn quantize(mut self, way: Quantization, digits: u32) -> Self {
        self.quantize = Some(Quantize { way, digits });
        self
    }

    /// Sets the value of elements that are never written (the attribute `_FillValue`); it must be of the type of the variable.
    pub fn fill_value(self, value: impl Into<Values>) -> Self {
        self.attribute("_FillValue", value)
    }

    /// Leaves elements that are never written undefined.
    pub fn no_fill(mut self) -> Self {
        self.no_fill = true;
        self
    }

    /// Adds an attribute.
    pub fn attribute(mut self, name: &str, value: impl Into<Values>) -> Self {
        self.attributes.push((name.to_string(), value.into()));
        self
    }

    /// Defines the variable. After an error there is none.
    ///
    /// # Errors
    /// `NC_ENAMEINUSE`, `NC_EBADNAME`, `NC_EBADDIM`, `NC_EUNLIMPOS`; `NC_EBADTYPE` for a type that the format cannot hold, or a
    /// fill value of another type; `NC_ENOTNC4` for chunks, filters and the like in a classic file; `NC_EBADCHUNK`,
    /// `NC_ENOFILTER`, `NC_EFILTER`; `NC_EINVAL` for wrong parameters.
    pub fn create(self) -> Result<VariableMut<'f>> {
        let file = self.group.writable_file();
        let id = file.define(|model| {
            let in_variable = |error: Error| error.at(format_args!("variable \"{}\"", self.name));
            let dims = self.dims.iter().map(|dim| find_dim(model, self.group.id(), dim));
            let dims = dims.collect::<Result<Vec<_>>>().map_err(in_variable)?;
            check_scope(model, self.group.id(), &dims).map_err(in_variable)?;
            let var = model.def_var(self.group.id(), &self.name, self.ty, &dims)?;
            if let Err(error) = self.set(model, var) {
                model.pop_var();
                return Err(in_variable(error));
            }
            Ok(var)
        })?;
        Ok(VariableMut::new(file, id))
    }

    /// Sets all but name, type and dimensions.
    fn set(&self, model: &mut Model, var: VarId) -> Result<()> {
        let has_storage = self.chunking.is_some() || self.endian.is_some() || !self.filters.is_empty();
        if model.format().has_cdf_model() && (has_storage || self.quantize.is_some() || self.shards.is_some())
        {
            let kind = model.format().kind_name();
            let what = format!(
                "{kind} files have no chunks, filters, byte orders or quantization; netCDF-4 files do"
            );
            return Err(Error::new(Code::ENOTNC4, what));
        }
        match &self.chunking {
            Some(Chunking::Chunked(shape)) => check_chunks(model, var, shape)?,
            Some(Chunking::Contiguous) if model.var(var).dims.iter().any(|&dim| model.dim(dim).unlimited) => {
                let what = "a variable that grows cannot be contiguous; choose its chunks, or leave out `contiguous`";
                return Err(Error::new(Code::EINVAL, what));
            }
            _ => {}
        }
        if self.shards.is_some() && model.format().container() != Container::ZarrV3 {
            let what = format!("{} files have no shards; stores of Zarr 3 do", model.format().kind_name());
            return Err(Error::new(Code::EINVAL, what));
        }
        let storage = &mut model.var_mut(var).storage;
        (storage.chunking, storage.shards) = (self.chunking.clone(), self.shards.clone());
        (storage.endian, storage.no_fill) = (self.endian, self.no_fill);
        if let Some(Quantize { way, digits }) = self.quantize {
            let most = way.most_digits(self.ty).unwrap_or(0);
            if !(1..=most).contains(&digits) {
                let what = match most {
                    0 => "only float and double are quantized".to_string(),
                    _ => format!("{digits} digits cannot be kept; 1 to {most} can"),
                };
                return Err(Error::new(Code::EINVAL, what));
            }
            storage.quantize = self.quantize;
        }
        for specification in &self.filters {
            self.add_filters(model, var, specification)?;
        }
        for (name, value) in &self.attributes {
            attributes::put(model, Owner::Var(var), name, value.clone())?;
        }
        Ok(())
    }

    fn add_filters(&self, model: &mut Model, var: VarId, specification: &str) -> Result<()> {
        if self.chunking == Some(Chunking::Contiguous) {
            let what = format!(
                "filter {specification}: a contiguous variable has no filters; leave out `contiguous`"
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        let filters = List::parse(specification.as_bytes(), Syntax::Strict)?.specs;
        if filters.is_empty() {
            return Err(Error::new(Code::EINVAL, "filter \"\": it names no filter"));
        }
        let container = model.format().container();
        for filter in filters {
            match filter.id.hdf5() {
                Some(id) => {
                    crate::check_filter(&Filter { id, params: filter.params.clone() })?;
                    define_filter(model, var, id, &filter.params)?;
                }
                None if matches!(container, Container::ZarrV2 | Container::ZarrV3) => {
                    let filters_before = model.var(var).storage.filters.len();
                    let codec = NamedCodec {
                        name: filter.id.to_string(),
                        params: Some(filter.params),
                        filters_before,
                    };
                    if !can_have_codec(&codec, container) {
                        let (kind, name) = (model.format().kind_name(), &codec.name);
                        let what = format!("filter {specification}: {kind} files have no codec \"{name}\"");
                        return Err(Error::new(Code::ENOFILTER, what));
                    }
                    let storage = &mut model.var_mut(var).storage;
                    storage.named_codecs.push(codec);
                }
                None => drop(filter.hdf5_id()?),
            }
        }
        Ok(())
    }
}

/// Checks a chunk shape that was asked for. In netCDF-4 files a chunk is no longer than a dimension that does not grow.
fn check_chunks(model: &Model, var: VarId, shape: &[u64]) -> Result<()> {
    let dims = &model.var(var).dims;
    if shape.len() != dims.len() || shape.contains(&0) {
        let names: Vec<String> = dims.iter().map(|&dim| model.dim(dim).name.to_string()).collect();
        let what = format!(
            "chunks of shape {shape:?}: there must be a length above 0 for each dimension ({})",
            names.join(", ")
        );
        return Err(Error::new(Code::EBADCHUNK, what));
    }
    let is_hdf5 = model.format().container() == Container::Hdf5;
    let longer = dims.iter().map(|&dim| model.dim(dim)).zip(shape);
    match longer.into_iter().find(|(dim, len)| is_hdf5 && !dim.unlimited && **len > dim.len) {
        Some((dim, len)) => {
            let what = format!("chunks of {len} along dimension \"{}\" of length {}", dim.name, dim.len);
            Err(Error::new(Code::EBADCHUNK, what))
        }
        None => Ok(()),
    }
}

/// Checks that a group sees dimensions: its own, and those of the groups around it.
fn check_scope(model: &Model, group: GroupId, dims: &[DimId]) -> Result<()> {
    let is_seen = |dim: &&DimId| model.and_parents(group).any(|group| group == model.dim(**dim).group);
    match dims.iter().find(|dim| !is_seen(dim)) {
        Some(&dim) => {
            let of = model.dim(dim);
            let what = format!(
                "dimension \"{}\" of group {}: a variable lies on dimensions of its group, {}, and of those around it",
                of.name,
                model.group_path(of.group),
                model.group_path(group)
            );
            Err(Error::new(Code::EBADDIM, what))
        }
        None => Ok(()),
    }
}
