//! The chunk grid `rectilinear` (zarr-extensions, "chunk-grids/rectilinear"): along each dimension a list of the lengths of chunks.
//!
//! The engine knows chunks of one shape. So neighbours of the same length are taken together, and an array becomes blocks, each an array
//! of equal chunks.

use super::{excerpt, invalid, member, wrong};
use crate::json::Json;
use ferrocdf_bytes::Result;

/// Most blocks of one array.
const MAX_BLOCKS: usize = 1 << 12;

/// Chunks of one length that follow each other along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Length of each chunk in elements.
    pub(super) chunk: u64,
    /// Number of the first chunk, and its first element.
    pub(super) first: u64,
    pub(super) start: u64,
    /// Elements within the array.
    pub(super) len: u64,
}

/// Returns the runs of each dimension of an array, at least one for each.
///
/// # Errors
/// `NC_EZARRMETA` for what the specification forbids, for chunks that end before the array, and for too many blocks.
pub(super) fn runs(configuration: &Json, shape: &[u64]) -> Result<Vec<Vec<Run>>> {
    let kind = member(configuration, "kind")?;
    if kind.as_str() != Some("inline") {
        return Err(wrong("kind", kind, "\"inline\""));
    }
    let lists = member(configuration, "chunk_shapes")?;
    let found = lists.as_array().filter(|found| found.len() == shape.len());
    let found = found.ok_or_else(|| wrong("chunk_shapes", lists, "lengths for each dimension"))?;
    let runs = found.iter().zip(shape).map(|(json, &len)| runs_of(json, len)).collect::<Result<Vec<_>>>()?;
    let blocks = runs.iter().try_fold(1usize, |count, runs| count.checked_mul(runs.len()));
    match blocks {
        Some(count) if count <= MAX_BLOCKS => Ok(runs),
        _ => Err(invalid(format!("a grid of more than {MAX_BLOCKS} blocks of equal chunks"))),
    }
}

/// Returns the runs of a dimension: of one length for all chunks, or of a list of lengths, each alone or with the number of chunks that
/// have it.
fn runs_of(json: &Json, len: u64) -> Result<Vec<Run>> {
    let length = |json: &Json| json.as_u64().filter(|&number| number > 0 && number <= i64::MAX as u64);
    let entry = |json: &Json| match json {
        Json::Array(pair) => match &pair[..] {
            [chunk, count] => Some((length(chunk)?, length(count)?)),
            _ => None,
        },
        alone => Some((length(alone)?, 1)),
    };
    let entries = match json {
        Json::Array(entries) if !entries.is_empty() => entries.iter().map(entry).collect(),
        Json::Array(_) => None,
        alone => length(alone).map(|chunk| vec![(chunk, len.div_ceil(chunk).max(1))]),
    };
    let entries: Vec<(u64, u64)> =
        entries.ok_or_else(|| wrong("chunk_shapes", json, "a length, or a list of lengths and pairs"))?;
    let mut runs: Vec<Run> = vec![];
    let (mut first, mut start) = (0u64, 0u64);
    for (chunk, count) in entries {
        // Chunks beyond the end of the array have no elements.
        let elements = chunk.saturating_mul(count).min(len - start.min(len));
        match runs.last_mut() {
            Some(last) if last.chunk == chunk => last.len += elements,
            Some(_) if elements == 0 => {}
            _ => runs.push(Run { chunk, first, start, len: elements }),
        }
        (first, start) = (first.saturating_add(count), start + elements);
    }
    match start == len {
        true => Ok(runs),
        false => Err(invalid(format!(
            "\"chunk_shapes\" {}: chunks of {start} elements, where the dimension has {len}",
            excerpt(json)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of_text(text: &str, len: u64) -> Result<Vec<[u64; 4]>> {
        let json = Json::parse(text.as_bytes()).unwrap();
        let numbers = |runs: Vec<Run>| {
            runs.into_iter().map(|Run { chunk, first, start, len }| [chunk, first, start, len]).collect()
        };
        runs_of(&json, len).map(numbers)
    }

    #[test]
    fn equal_neighbours_are_one_run() {
        assert_eq!(runs_of_text("[[10, 5], 5, 5]", 60).unwrap(), [[10, 0, 0, 50], [5, 5, 50, 10]]);
        assert_eq!(runs_of_text("[15, 15]", 30).unwrap(), [[15, 0, 0, 30]]);
        assert_eq!(
            runs_of_text("[10, 20, 10]", 40).unwrap(),
            [[10, 0, 0, 10], [20, 1, 10, 20], [10, 2, 30, 10]]
        );
        assert_eq!(runs_of_text("7", 30).unwrap(), [[7, 0, 0, 30]]);
        // The last chunk reaches beyond the array, as after a resize, and the one behind it lies there whole.
        assert_eq!(runs_of_text("[10, 20, 5]", 25).unwrap(), [[10, 0, 0, 10], [20, 1, 10, 15]]);
        assert_eq!(runs_of_text("[5]", 0).unwrap(), [[5, 0, 0, 0]]);
    }

    #[test]
    fn grids_that_cannot_be_are_refused() {
        for (text, len) in [
            ("[]", 0),
            ("[0, 5]", 5),
            ("[[5, 0]]", 5),
            ("[[1, 2, 3]]", 5),
            ("[10, 20]", 31),
            ("-1", 5),
            ("\"a\"", 5),
        ] {
            assert!(runs_of_text(text, len).is_err(), "{text}");
        }
        let huge = format!("[[{0}, {0}], 1]", i64::MAX);
        assert_eq!(runs_of_text(&huge, 9).unwrap(), [[i64::MAX as u64, 0, 0, 9]]);
    }
}
