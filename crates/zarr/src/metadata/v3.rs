//! `zarr.json` of an array (Zarr v3 core, "Array metadata").

use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;

use super::rectilinear::{self, Run};
use super::{ArrayMetadata, ChunkKeys, chunk_shape, invalid, lengths, member, wrong};
use crate::blocks::Block;
use crate::codecs::Pipeline;
use crate::data_type::Element;
use crate::json::Json;

/// The members that the specification names. Others are extensions.
const MEMBERS: [&str; 12] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "dimension_names",
    "storage_transformers",
    "consolidated_metadata",
];

pub(super) fn parse(json: &Json, codecs: &Codecs) -> Result<ArrayMetadata> {
    let format = member(json, "zarr_format")?;
    if format.as_u64() != Some(3) {
        return Err(wrong("zarr_format", format, "3"));
    }
    check_extensions(json)?;
    let shape = lengths("shape", member(json, "shape")?)?;
    let (grid, configuration) = named("chunk_grid", member(json, "chunk_grid")?)?;
    let runs = match grid {
        "regular" => vec![],
        "rectilinear" => rectilinear::runs(configuration, &shape)?,
        _ => return Err(invalid(format!("the chunk grid {grid:?} is not known"))),
    };
    let chunks = match grid {
        "regular" => lengths("chunk_shape", member(configuration, "chunk_shape")?)?,
        _ => runs.iter().map(|runs| runs[0].chunk).collect(),
    };
    let chunks = chunk_shape("chunk_shape", chunks, &shape)?;
    let data_type = member(json, "data_type")?;
    let mut element =
        Element::from_v3(data_type).ok_or_else(|| wrong("data_type", data_type, "a known data type"))?;
    let keys = chunk_keys(member(json, "chunk_key_encoding")?)?;
    let stages = member(json, "codecs")?;
    let stored = element.clone();
    let pipeline = Pipeline::from_v3(stages, &chunks, &mut element, codecs);
    let fill = member(json, "fill_value")?;
    let fill_value = element.fill_value(fill).ok_or_else(|| {
        invalid(format!("\"fill_value\" is {}, no value of the data type", super::excerpt(fill)))
    })?;
    let dimension_names = dimension_names(json.get("dimension_names"), shape.len())?;
    let (chunk_shape, blocks) = (chunks, vec![]);
    let mut array =
        ArrayMetadata { shape, chunk_shape, element, fill_value, keys, pipeline, dimension_names, blocks };
    check_size(&runs, stages, fill, array.element.data_type.size().unwrap_or(0))?;
    array.blocks = blocks_of(&array, &runs, |chunk_shape| {
        let mut element = stored.clone();
        Pipeline::from_v3(stages, chunk_shape, &mut element, codecs)
    });
    Ok(array)
}

/// Checks that the metadata of all blocks takes little memory and time.
fn check_size(runs: &[Vec<Run>], stages: &Json, fill: &Json, element_size: usize) -> Result<()> {
    const MOST: usize = 16 << 20;
    let blocks: usize = if runs.is_empty() { 0 } else { runs.iter().map(Vec::len).product() };
    if blocks == 0 {
        return Ok(());
    }
    // A name and some numbers for each dimension.
    let of_each = stages.to_string().len() + fill.to_string().len() + element_size + runs.len() * 100;
    match blocks.checked_mul(of_each).is_some_and(|bytes| bytes <= MOST) {
        true => Ok(()),
        false => Err(invalid(format!(
            "a grid of {blocks} blocks of equal chunks, whose metadata would take more than {MOST} bytes"
        ))),
    }
}

/// Returns the blocks of an array with a rectilinear grid: each combination of a run of each dimension.
fn blocks_of(
    array: &ArrayMetadata,
    runs: &[Vec<Run>],
    pipeline: impl Fn(&[u64]) -> Result<Pipeline>,
) -> Vec<Block> {
    let count = if runs.is_empty() { 0 } else { runs.iter().map(Vec::len).product() };
    let block = |number: usize| {
        let mut rest = number;
        let mut of_block = vec![];
        for runs in runs.iter().rev() {
            of_block.push(runs[rest % runs.len()]);
            rest /= runs.len();
        }
        of_block.reverse();
        let each = |of: fn(&Run) -> u64| of_block.iter().map(of).collect::<Vec<u64>>();
        let chunk_shape = each(|run| run.chunk);
        let metadata = ArrayMetadata {
            shape: each(|run| run.len),
            pipeline: pipeline(&chunk_shape),
            chunk_shape,
            keys: ChunkKeys { first: each(|run| run.first), ..array.keys.clone() },
            ..array.clone()
        };
        Block { start: each(|run| run.start), metadata }
    };
    (0..count).map(block).collect()
}

/// Checks that nothing must be understood that is not known.
fn check_extensions(json: &Json) -> Result<()> {
    let members = json.as_object().into_iter().flat_map(|members| members.iter());
    for (name, value) in members.filter(|(name, _)| !MEMBERS.contains(name)) {
        if value.get("must_understand") != Some(&Json::Bool(false)) {
            return Err(invalid(format!("the extension \"{name}\" must be understood, and is not known")));
        }
    }
    match json.get("storage_transformers") {
        None | Some(Json::Null) => Ok(()),
        Some(Json::Array(transformers)) if transformers.is_empty() => Ok(()),
        Some(other) => Err(wrong("storage_transformers", other, "an empty list: none is known")),
    }
}

/// Returns name and configuration of an extension point: an object with both, or the name alone.
pub(crate) fn named<'a>(member: &str, json: &'a Json) -> Result<(&'a str, &'a Json)> {
    const NONE: &Json = &Json::Null;
    let found = match json {
        Json::String(name) => Some((&**name, NONE)),
        json => json
            .get("name")
            .and_then(Json::as_str)
            .map(|name| (name, json.get("configuration").unwrap_or(NONE))),
    };
    found.ok_or_else(|| wrong(member, json, "a name, or an object with a name"))
}

fn chunk_keys(json: &Json) -> Result<ChunkKeys> {
    let (name, configuration) = named("chunk_key_encoding", json)?;
    let (has_prefix, default) = match name {
        "default" => (true, '/'),
        "v2" => (false, '.'),
        other => return Err(invalid(format!("the chunk key encoding {other:?} is not known"))),
    };
    let separator = match configuration.get("separator") {
        None => default,
        Some(Json::String(text)) if text == "/" => '/',
        Some(Json::String(text)) if text == "." => '.',
        Some(other) => return Err(wrong("separator", other, "\".\" or \"/\"")),
    };
    Ok(ChunkKeys { has_prefix, separator, first: vec![] })
}

fn dimension_names(json: Option<&Json>, rank: usize) -> Result<Vec<Option<String>>> {
    let name = |json: &Json| match json {
        Json::Null => Some(None),
        Json::String(name) => Some(Some(name.clone())),
        _ => None,
    };
    match json {
        None | Some(Json::Null) => Ok(vec![]),
        Some(json) => {
            let names: Option<Vec<_>> = json.as_array().and_then(|names| names.iter().map(name).collect());
            let names = names.filter(|names| names.len() == rank);
            names.ok_or_else(|| wrong("dimension_names", json, "a name or null for each dimension"))
        }
    }
}
