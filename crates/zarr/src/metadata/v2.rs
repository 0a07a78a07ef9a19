//! `.zarray` (Zarr v2 specification, "Metadata").

use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;

use super::{ArrayMetadata, ChunkKeys, chunk_shape, invalid, lengths, member, wrong};
use crate::codecs::Pipeline;
use crate::data_type::{DataType, Element, FillValue};
use crate::json::Json;

pub(super) fn parse(json: &Json, codecs: &Codecs) -> Result<ArrayMetadata> {
    let format = member(json, "zarr_format")?;
    if format.as_u64() != Some(2) {
        return Err(wrong("zarr_format", format, "2"));
    }
    let shape = lengths("shape", member(json, "shape")?)?;
    let chunks = chunk_shape("chunks", lengths("chunks", member(json, "chunks")?)?, &shape)?;
    let dtype = member(json, "dtype")?;
    let mut element = Element::from_v2(dtype).ok_or_else(|| wrong("dtype", dtype, "a known data type"))?;
    let is_column_major = match member(json, "order")? {
        Json::String(order) if order == "C" => false,
        Json::String(order) if order == "F" => true,
        other => return Err(wrong("order", other, "\"C\" or \"F\"")),
    };
    let separator = match json.get("dimension_separator") {
        None | Some(Json::Null) => '.',
        Some(Json::String(text)) if text == "." => '.',
        Some(Json::String(text)) if text == "/" => '/',
        Some(other) => return Err(wrong("dimension_separator", other, "\".\" or \"/\"")),
    };
    let pipeline = Pipeline::from_v2(json, is_column_major, chunks.len(), &mut element, codecs);
    let fill = json.get("fill_value").unwrap_or(&Json::Null);
    let fill_value = match (&element.data_type, fill) {
        (DataType::Bytes | DataType::List(_), Json::Number(_)) => FillValue::Undefined,
        _ => element.fill_value(fill).ok_or_else(|| {
            invalid(format!("\"fill_value\" is {}, no value of the data type", super::excerpt(fill)))
        })?,
    };
    let keys = ChunkKeys { has_prefix: false, separator, first: vec![] };
    Ok(ArrayMetadata {
        shape,
        chunk_shape: chunks,
        element,
        fill_value,
        keys,
        pipeline,
        dimension_names: vec![],
        blocks: vec![],
    })
}
