//! The metadata of arrays, the same for both versions, and the chunk keys.

mod keys;
mod rectilinear;
mod v2;
mod v3;
mod write;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;

pub use keys::ChunkKeys;
pub use keys::within;
pub(crate) use v3::named;
pub use write::{NewArray, group, with_member, with_shape};

use crate::blocks::Block;
use crate::codecs::Pipeline;
use crate::data_type::{Element, FillValue};
use crate::json::Json;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 2: `.zarray`, `.zgroup` and `.zattrs`.
    V2,
    /// Version 3: `zarr.json`.
    V3,
}

/// What the metadata of an array says, apart from attributes.
#[derive(Clone, Debug)]
pub struct ArrayMetadata {
    /// The length of each dimension, slowest first.
    pub shape: Vec<u64>,
    /// The shape of the chunks that have objects of their own; no length is 0. In a rectilinear grid that of the first one.
    pub chunk_shape: Vec<u64>,
    /// Type and byte order of the elements.
    pub element: Element,
    /// The value of elements in missing chunks.
    pub fill_value: FillValue,
    /// The keys of chunks.
    pub keys: ChunkKeys,
    /// The codecs, or the reason why chunks cannot be read.
    pub pipeline: Result<Pipeline>,
    /// A name or `None` for each dimension; empty if the metadata has none.
    pub dimension_names: Vec<Option<String>>,
    /// The parts in which all chunks have one shape, if the array is not such a part itself.
    pub blocks: Vec<Block>,
}

impl ArrayMetadata {
    /// Reads the metadata of an array: `.zarray` of version 2, `zarr.json` of version 3. Codecs are looked for among `codecs`.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for what the specification forbids, and for a data type, a chunk grid or an extension that is not known. A codec
    /// that is not known is an error of the [`pipeline`](ArrayMetadata::pipeline).
    pub fn parse(version: Version, json: &Json, codecs: &Codecs) -> Result<ArrayMetadata> {
        let metadata = match version {
            Version::V2 => v2::parse(json, codecs),
            Version::V3 => v3::parse(json, codecs),
        }?;
        let elements = metadata.shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len.max(1)));
        match elements
            .and_then(|count| count.checked_mul(metadata.element.data_type.size().unwrap_or(1) as u64))
        {
            Some(bytes) if bytes <= i64::MAX as u64 => Ok(metadata),
            _ => Err(invalid(format!("\"shape\" {:?}: 2^63 bytes or more", metadata.shape))),
        }
    }
}

/// Returns the error of metadata that is wrong or not known.
pub(crate) fn invalid(what: impl Into<String>) -> Error {
    Error::new(Code::EZARRMETA, what.into())
}

/// Returns a member that must be there.
fn member<'a>(json: &'a Json, name: &str) -> Result<&'a Json> {
    json.get(name).ok_or_else(|| invalid(format!("no \"{name}\"")))
}

/// Returns the error of a member with a wrong value.
fn wrong(name: &str, value: &Json, wanted: &str) -> Error {
    invalid(format!("\"{name}\" is {}, not {wanted}", excerpt(value)))
}

/// Returns the text of a value for a message.
pub(crate) fn excerpt(value: &Json) -> String {
    const MAX: usize = 100;
    let text = value.to_string();
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Returns a list of lengths.
pub(crate) fn lengths(name: &str, value: &Json) -> Result<Vec<u64>> {
    // Lengths count elements in signed numbers elsewhere.
    let length = |value: &Json| value.as_u64().filter(|&length| length <= i64::MAX as u64);
    // As many as netCDF has; NumPy has 64.
    const MAX_DIMENSIONS: usize = 1024;
    let list = value.as_array();
    if list.is_some_and(|list| list.len() > MAX_DIMENSIONS) {
        return Err(invalid(format!("\"{name}\" has more than {MAX_DIMENSIONS} dimensions")));
    }
    let list = list.and_then(|list| list.iter().map(length).collect());
    list.ok_or_else(|| wrong(name, value, "a list of lengths"))
}

/// Checks the shape of chunks against that of their array. Where an array has no elements, writers may give chunks none either.
fn chunk_shape(name: &str, mut chunk: Vec<u64>, shape: &[u64]) -> Result<Vec<u64>> {
    if chunk.len() != shape.len() {
        return Err(invalid(format!(
            "\"{name}\" has {} lengths, \"shape\" has {}",
            chunk.len(),
            shape.len()
        )));
    }
    for (chunk, &len) in chunk.iter_mut().zip(shape) {
        match *chunk {
            0 if len == 0 => *chunk = 1,
            0 => return Err(invalid(format!("\"{name}\": a chunk has no elements"))),
            _ => {}
        }
    }
    Ok(chunk)
}
