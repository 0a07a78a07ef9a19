//! From a variable that is to be made to the metadata of its array.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_codec::{ArrayInfo, Chain, Codecs, DatasetInfo, FilterId, Step};
use ferrocdf_model::{
    Chunking, Endian, Filter, Model, NamedCodec, Owner, Storage, StoredFill, Type, Values, VarId,
};
use ferrocdf_zarr::{ChunkKeys, DataType, Element, FillValue, Json, MAX_SHARD, NewArray, Version};

use crate::nc4::chosen_chunks;
use crate::nczarr::data_types::Target;
use crate::nczarr::{LZ4, encode, form, text};
use crate::zarr_options::ZarrOptions;

/// Bytes of a checksum.
const CHECKSUM: usize = 4;

/// Describes the array of a variable.
///
/// # Errors
/// `NC_ENOTBUILT` for a user-defined type that no data type of Zarr holds; `NC_ENOFILTER` for a filter that Zarr has no codec for; those of
/// the filters.
pub(super) fn of(
    (model, var): (&Model, VarId),
    version: Version,
    options: &ZarrOptions,
    codecs: &Codecs,
) -> Result<NewArray> {
    let storage = &model.var(var).storage;
    let target = Target { version, is_netcdf: options.nczarr };
    let form = form::of_new(model, var, target);
    let order = match storage.endian {
        Some(Endian::Big) => Order::Big,
        Some(Endian::Little) | None => Order::Little,
    };
    let wished = form::element(model, var, &form);
    let element = target
        .element(model, model.var(var).ty, order, wished.as_ref())
        .map_err(|error| error.at_path(model.var_path(var)))?;
    let chunk_shape = chunk_shape(model, var);
    let mut shape = model.shape(var);
    let array = ArrayInfo {
        name: &text(model.var(var).name.as_bytes()),
        shape: &shape,
        dataset: DatasetInfo { element: element.for_filters(), chunk: chunk_shape.clone() },
    };
    let steps = steps(storage, version, &element, &array, codecs)
        .map_err(|error| error.at_path(model.var_path(var)))?;
    let (mut chunks, mut names) = (chunk_shape, vec![]);
    match version {
        Version::V2 if shape.is_empty() && options.nczarr => (shape, chunks) = (vec![1], vec![1]),
        Version::V2 => {}
        Version::V3 => {
            let dims = model.var(var).dims.iter();
            names = dims.map(|&dim| Some(text(model.dim(dim).name.as_bytes()))).collect();
        }
    }
    let fill_value = fill_value(model, var, version, &element)?;
    let shard_shape = shard_shape(model, var, &element)?;
    Ok(NewArray {
        shape,
        chunk_shape: chunks,
        shard_shape,
        index_first: form.index_first,
        order: form.order,
        element,
        fill_value,
        steps,
        separator: ChunkKeys::usual_separator(version),
        dimension_names: names,
    })
}

/// Returns the shape of the shards of a variable, if it has some.
///
/// # Errors
/// `NC_EINVAL` for shards that are too large to be written.
fn shard_shape(model: &Model, var: VarId, element: &Element) -> Result<Option<Vec<u64>>> {
    let Some(shards) = model.var(var).storage.shards.as_ref().filter(|shards| !shards.is_empty()) else {
        return Ok(None);
    };
    let size = element.data_type.size().unwrap_or(1) as u64;
    let bytes = shards.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len));
    if bytes.is_some_and(|bytes| bytes <= MAX_SHARD) {
        return Ok(Some(shards.clone()));
    }
    let what = format!(
        "shards of shape {shards:?}, of more than {MAX_SHARD} bytes: each is written whole, from memory; ask for smaller ones"
    );
    Err(Error::new(Code::EINVAL, what).at_path(model.var_path(var)))
}

/// Returns the shape of the chunks. They may be longer than the dimensions, as in all of Zarr.
fn chunk_shape(model: &Model, var: VarId) -> Vec<u64> {
    let dims = &model.var(var).dims;
    let given = match &model.var(var).storage.chunking {
        Some(Chunking::Chunked(shape)) if shape.len() == dims.len() => &shape[..],
        Some(Chunking::Chunked(_) | Chunking::Compact | Chunking::Contiguous) | None => &[],
    };
    chosen_chunks(model, var, given).into_iter().map(|len| len.max(1)).collect()
}

/// Returns the filters, with the parameters that the metadata is made of.
fn steps(
    storage: &Storage,
    version: Version,
    element: &Element,
    array: &ArrayInfo<'_>,
    codecs: &Codecs,
) -> Result<Vec<Step>> {
    let filters = &storage.filters;
    if let Some(filter) = filters.iter().find(|filter| !codecs.has_codec(&filter.id.into())) {
        return Err(codecs.no_codec(&filter.id.into()));
    }
    let chunk = &array.dataset.chunk;
    let size = element.data_type.size();
    let elements = chunk.iter().fold(1u64, |count, &len| count.saturating_mul(len));
    let step = |Filter { id, params }: &Filter| {
        let name = ferrocdf_codec::registered_name(*id).unwrap_or_default().to_string();
        let mut params = params.clone();
        let bytes = elements.saturating_mul(size.unwrap_or(1) as u64);
        let size = u32::try_from(size.unwrap_or(1)).unwrap_or(u32::MAX);
        match *id {
            // The block size of HDF5 is left out, the acceleration is kept.
            Filter::LZ4 => {
                let params = params.get(1..2).unwrap_or_default().to_vec();
                return Step { id: FilterId::named(LZ4), name, optional: false, params };
            }
            Filter::BLOSC => set_blosc_sizes(&mut params, version, size),
            _ => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                ferrocdf_codec::derive(&(*id).into(), &mut params, size, bytes);
            }
        }
        Step { id: (*id).into(), name, optional: false, params }
    };
    let mut steps: Vec<Step> = filters.iter().map(step).collect();
    for NamedCodec { name, params, filters_before } in storage.named_codecs.iter().rev() {
        let Some(params) = params.clone() else {
            let what = format!("the codec {name:?} depends on the array and cannot be given to a new one");
            return Err(Error::new(Code::EFILTER, what));
        };
        let id = FilterId::Named(name.clone().into());
        let step = Step { id, name: name.clone(), optional: false, params };
        steps.insert((*filters_before).min(filters.len()), step);
    }
    // NetCDF puts the checksum first. Numcodecs shuffles only whole elements, so there it comes last where it would make them uneven.
    let is = |step: &Step, id: u32| step.id.hdf5() == Some(id);
    if size.is_some_and(|size| !CHECKSUM.is_multiple_of(size))
        && let Some(at) = steps.iter().position(|step| is(step, Filter::FLETCHER32))
        && steps[at..].iter().any(|step| is(step, Filter::SHUFFLE))
    {
        let checksum = steps.remove(at);
        steps.push(checksum);
    }
    let mut derived = steps.clone();
    for (derived, step) in derived.iter_mut().zip(&mut steps) {
        step.params = codecs.derive_for_array(derived, array)?;
    }
    Chain::new(derived, codecs).check_encode()?;
    Ok(steps)
}

/// Sets the element size and the block size in the parameters of Blosc. The element size is 0 in version 2, whose metadata has none. The
/// block size is the user's, or 0; where an element size precedes it, it is the chunk size that HDF5 derives instead.
fn set_blosc_sizes(params: &mut Vec<u32>, version: Version, size: u32) {
    params.resize(params.len().max(4), 0);
    if params[2] != 0 {
        params[3] = 0;
    }
    params[2] = if version == Version::V3 { size } else { 0 };
}

/// Returns the value of elements that were never written.
fn fill_value(model: &Model, var: VarId, version: Version, element: &Element) -> Result<FillValue> {
    let storage = &model.var(var).storage;
    let zeros = || match (model.var(var).ty, element.data_type.size()) {
        // A fill value of version 2 makes xarray mask elements, and it opens no store in which structures have one.
        (Type::User(_), _) if version == Version::V2 => FillValue::Undefined,
        (_, Some(size)) => FillValue::Bytes(vec![0; size]),
        (_, None) => FillValue::Value(Json::String(String::new())),
    };
    let has_own = model.find_attr(Owner::Var(var), b"_FillValue").is_some();
    let is_time = matches!(element.data_type, DataType::DateTime(_) | DataType::TimeDelta(_));
    let value = match &storage.fill {
        Some(StoredFill::Default) => return Ok(zeros()),
        Some(StoredFill::Value(value)) => Some(value.clone()),
        // Version 3 knows no array without a fill value.
        None if is_time && !has_own => Some(Values::Int64(vec![i64::MIN])),
        None if storage.no_fill && version == Version::V2 && !has_own => return Ok(FillValue::Undefined),
        // NetCDF's default is infinity as a number of 16 bits.
        None if element.data_type == DataType::Float(2) && !has_own => None,
        None => model.fill_value(var),
    };
    let Some(value) = value else { return Ok(zeros()) };
    Ok(match (&value, element.data_type.size()) {
        (Values::String(list), None) => {
            let bytes = list.first().cloned().flatten().unwrap_or_default();
            FillValue::Value(Json::String(text(&bytes)))
        }
        (Values::String(list), Some(_)) => {
            let fill = list.first().and_then(Option::as_deref).unwrap_or_default();
            let in_fill = |error: Error| error.at("_FillValue").at_path(model.var_path(var));
            FillValue::Bytes(encode::text_of_size(element, fill).map_err(in_fill)?)
        }
        (Values::User(_, list), size) => {
            let bytes = list.first().map(|value| encode::bytes(model, model.var(var).ty, element, value));
            let bytes =
                bytes.transpose().map_err(|error| error.at_path(model.var_path(var)))?.unwrap_or_default();
            match size {
                Some(_) => FillValue::Bytes(bytes),
                None => FillValue::Value(Json::String(STANDARD.encode(bytes))),
            }
        }
        (Values::Float(list), Some(2)) => {
            let mut bytes = vec![];
            encode::half(list.first().copied().unwrap_or_default(), element.order, &mut bytes);
            FillValue::Bytes(bytes)
        }
        (Values::Char(bytes), _) => FillValue::Bytes(bytes.iter().copied().take(1).collect()),
        (numbers, _) => FillValue::Bytes(encode::number(numbers, element.order)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blosc_keeps_the_block_size_of_a_user_and_drops_the_chunk_size_of_hdf5() {
        let sizes = |params: &[u32], version| {
            let mut params = params.to_vec();
            set_blosc_sizes(&mut params, version, 4);
            params
        };
        let (given, derived) = ([0, 0, 0, 256, 5, 1, 1], [2, 2, 8, 16384, 5, 1, 1]);
        assert_eq!(sizes(&given, Version::V2), given);
        assert_eq!(sizes(&given, Version::V3), [0, 0, 4, 256, 5, 1, 1]);
        assert_eq!(sizes(&derived, Version::V2), [2, 2, 0, 0, 5, 1, 1]);
        assert_eq!(sizes(&derived, Version::V3), [2, 2, 4, 0, 5, 1, 1]);
        assert_eq!(sizes(&[], Version::V3), [0, 0, 4, 0]);
    }
}
