//! Where the bytes of a file lie, and what reading them costs over a network.
//!
//! Costs are those of a reader that fetches whole blocks of one size, each with a request, and keeps them. It knows nothing of the
//! format, as the block caches of fsspec and of HDF5's ros3 driver do not. ferrocdf itself needs fewer requests in files that are laid
//! out badly.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges that happen to have one")]

use std::ops::Range;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_hdf5::{DatasetExtents, ElementExtent};
use ferrocdf_model::{Container, VarId};
use ferrocdf_store::ranges::{gaps, total, union};

use crate::driver::StoredExtents;
use crate::storage::{Arrangement, StorageInfo};
use crate::{File, Variable};

/// Block sizes in bytes. Costs are computed for a reader of each size.
pub const BLOCK_SIZES: [u64; 2] = [8 << 20, 1 << 20];

/// Where the bytes of a file lie. Positions count from its beginning.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileLayout {
    /// Bytes of the file; `None` for a Zarr store, which is many objects.
    pub size: Option<u64>,
    /// Runs of metadata: headers, heaps, and all indexes. Space that a structure has taken and does not use counts. `None` where the
    /// format does not tell.
    pub metadata: Option<Vec<Range<u64>>>,
    /// Position of the first element of any dataset.
    pub first_data: Option<u64>,
    /// Bytes that are neither metadata nor elements; `None` where `metadata` is.
    pub unused: Option<Vec<Range<u64>>>,
    /// Page size of an HDF5 file with paged aggregation.
    pub page: Option<u64>,
    /// Cost of the metadata without chunk indexes, for each of [`BLOCK_SIZES`]; nothing where `metadata` is `None`.
    pub open: Vec<ReadCost>,
    /// Cost of all metadata, likewise.
    pub metadata_cost: Vec<ReadCost>,
    /// The variables, in the order of the model.
    pub variables: Vec<VariableLayout>,
    /// An error about structures or variables that cannot be read, and are missing here.
    pub unreadable: Option<Error>,
}

impl FileLayout {
    /// True if all metadata lies before the first element; `None` where the format does not tell.
    pub fn is_metadata_first(&self) -> Option<bool> {
        let end = self.metadata.as_ref()?.last().map_or(0, |last| last.end);
        Some(self.first_data.is_none_or(|first| end <= first))
    }
}

/// Where the bytes of a variable lie.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VariableLayout {
    /// The variable.
    pub var: VarId,
    /// Shape of its chunks in elements; `None` without chunks.
    pub chunk_shape: Option<Vec<u64>>,
    /// Bytes of a chunk before the filters.
    pub chunk_bytes: Option<u64>,
    /// Number of chunks that are stored; in a Zarr store, of all chunks.
    pub chunks: Option<u64>,
    /// Structures of its chunk index.
    pub index: Vec<Range<u64>>,
    /// Position of its first element in the file.
    pub first: Option<u64>,
    /// Cost of one step along the first dimension once the file is open, for each of [`BLOCK_SIZES`]; nothing for a scalar and where the
    /// format does not tell.
    pub step: Vec<ReadCost>,
    /// Cost of the series of one point along the first dimension, likewise.
    pub series: Vec<ReadCost>,
}

/// What a reader of whole blocks asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadCost {
    /// Number of requests.
    pub requests: u64,
    /// Number of bytes; `None` where the format does not tell.
    pub bytes: Option<u64>,
}

/// Where the elements of a variable are.
enum ElementPlaces {
    /// Rows of the same length, each with the elements of one index of the first dimension.
    Rows {
        /// Position of the first row.
        begin: u64,
        /// Bytes from a row to the next, and bytes of a row.
        stride: u64,
        row: u64,
        rows: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// Chunks that are ranges of the file.
    Chunks(Vec<ElementExtent>),
    /// Chunks that are objects of a store: the number of all, of those of one step and of those of one series.
    Objects([u64; 3]),
    /// In no known place.
    Unknown,
}

impl File {
    /// Finds out where the bytes of the file lie. All metadata is read, with all chunk indexes.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("a.nc");
    /// let file = ferrocdf::create(&path)?;
    /// file.add_dimension("x", 100)?;
    /// file.build_variable("v", ferrocdf::Atomic::Float, &["x"]).chunks(&[50]).create()?.put_values(&[0.0; 100], ..)?;
    /// file.close()?;
    /// let layout = ferrocdf::open(&path)?.layout()?;
    /// let v = &layout.variables[0];
    /// assert_eq!((v.chunks, v.chunk_bytes), (Some(2), Some(200)));
    /// assert_eq!(layout.open[0].requests, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the file. What cannot be read of its content is an error in [`FileLayout::unreadable`].
    pub fn layout(&self) -> Result<FileLayout> {
        let container = self.format().container();
        let is_store = matches!(container, Container::ZarrV2 | Container::ZarrV3);
        let size = if is_store { None } else { Some(self.size()?) };
        let extents = self.named(self.read_state().driver().inspect().extents())?;
        let mut found: Vec<(VariableLayout, ElementPlaces)> = vec![];
        let mut unreadable = extents.as_ref().and_then(|extents| extents.unreadable.clone());
        for var in self.model().var_ids() {
            match self.variable_of(var).places(extents.as_ref(), is_store) {
                Ok(located) => found.push(located),
                Err(error) => drop(unreadable.get_or_insert(error)),
            }
        }
        let end = size.unwrap_or(u64::MAX);
        let data: Vec<Range<u64>> = found.iter().flat_map(|(_, elements)| elements.ranges()).collect();
        let first_of_others = extents.iter().flat_map(|extents| &extents.other_data);
        let first_data = data.iter().chain(first_of_others.clone()).map(|range| range.start).min();
        let header = match (&extents, container) {
            (Some(extents), _) => Some(extents.metadata.clone()),
            (None, Container::Classic) => Some(union(vec![0..first_data.unwrap_or(end)], end)),
            (None, _) => None,
        };
        let indexes = found.iter().flat_map(|(var, _)| &var.index);
        let metadata =
            header.as_ref().map(|header| union(header.iter().chain(indexes).cloned().collect(), end));
        let unused = metadata.as_ref().map(|metadata| {
            let all = metadata.iter().chain(first_of_others).chain(&data).cloned().collect();
            gaps(&union(all, end), end)
        });
        let cost = |wanted: &[Range<u64>]| costs(header.as_deref().unwrap_or_default(), wanted, end);
        let open = header.as_ref().map(|header| costs(&[], header, end)).unwrap_or_default();
        let metadata_cost = metadata.as_ref().map(|metadata| costs(&[], metadata, end)).unwrap_or_default();
        let is_scalar = |var: VarId| self.model().var(var).dims.is_empty();
        let variables = found.into_iter().map(|(var, elements)| match is_scalar(var.var) {
            true => var,
            false => var.with_costs(&elements, end, &cost),
        });
        let variables = variables.collect();
        let page = extents.and_then(|extents| extents.page);
        Ok(FileLayout {
            size,
            metadata,
            first_data,
            unused,
            page,
            open,
            metadata_cost,
            variables,
            unreadable,
        })
    }
}

impl Variable<'_> {
    /// Finds the places of the elements, and what is known of the variable but for costs.
    fn places(
        &self,
        extents: Option<&StoredExtents>,
        is_store: bool,
    ) -> Result<(VariableLayout, ElementPlaces)> {
        let (shape, storage) = (self.shape(), self.storage()?);
        let element = shape.iter().try_fold(storage.bytes, |bytes, &len| bytes.checked_div(len)).unwrap_or(0);
        let chunk_shape = match &storage.arrangement {
            Arrangement::Chunked(shape) => Some(shape.clone()),
            _ => None,
        };
        let chunk_bytes = chunk_shape.as_ref().map(|shape| {
            let of_shape = || shape.iter().fold(element, |bytes, &len| bytes.saturating_mul(len));
            storage.chunks.map_or_else(of_shape, |counts| counts.decoded_bytes)
        });
        let stored = extents.and_then(|extents| extents.variables.get(&self.id()));
        let elements = match (&chunk_shape, stored) {
            (Some(_), Some(dataset)) => ElementPlaces::Chunks(dataset.elements.clone()),
            (None, Some(dataset)) => ElementPlaces::in_rows(dataset, &shape),
            (Some(chunks), None) if is_store => ElementPlaces::Objects(object_counts(&shape, chunks)),
            (_, None) => ElementPlaces::of_array(&storage, &shape, element),
        };
        let chunks = match &elements {
            ElementPlaces::Chunks(chunks) => Some(chunks.len() as u64),
            ElementPlaces::Objects([all, ..]) => Some(*all),
            _ => storage.chunks.map(|counts| counts.stored),
        };
        let index = stored.map_or(vec![], |dataset| dataset.index.clone());
        let (var, first) = (self.id(), elements.ranges().iter().map(|range| range.start).min());
        let (step, series) = (vec![], vec![]);
        Ok((VariableLayout { var, chunk_shape, chunk_bytes, chunks, index, first, step, series }, elements))
    }
}

impl ElementPlaces {
    /// All elements of a dataset without chunks.
    fn in_rows(dataset: &DatasetExtents, shape: &[u64]) -> ElementPlaces {
        let [ElementExtent { bytes, .. }] = &dataset.elements[..] else { return ElementPlaces::Unknown };
        let rows = shape.first().copied().unwrap_or(1);
        let row = bytes.end.saturating_sub(bytes.start).checked_div(rows).unwrap_or(0);
        let element = shape.iter().skip(1).try_fold(row, |bytes, &len| bytes.checked_div(len)).unwrap_or(0);
        ElementPlaces::Rows { begin: bytes.start, stride: row, row, rows, element }
    }

    /// The elements of an array that is a run of bytes, or lies in records.
    fn of_array(storage: &StorageInfo, shape: &[u64], element: u64) -> ElementPlaces {
        let rows = shape.first().copied().unwrap_or(1);
        let all = storage.bytes.checked_div(rows).unwrap_or(0);
        let (stride, row) = match storage.arrangement {
            Arrangement::Records { slab, record } => (record, slab),
            _ => (all, all),
        };
        match storage.begin {
            Some(begin) => ElementPlaces::Rows { begin, stride, row, rows, element },
            None => ElementPlaces::Unknown,
        }
    }

    /// Returns the ranges that hold all elements. Rows are one range, with the gaps between them.
    fn ranges(&self) -> Vec<Range<u64>> {
        match self {
            ElementPlaces::Rows { begin, stride, row, rows, .. } => {
                every(*begin, *stride, *row, *rows, u64::MAX)
            }
            ElementPlaces::Chunks(chunks) => chunks.iter().map(|chunk| chunk.bytes.clone()).collect(),
            ElementPlaces::Objects(_) | ElementPlaces::Unknown => vec![],
        }
    }
}

/// Returns the ranges of `count` pieces of `len` bytes, `stride` bytes from one to the next. The result is one
/// range, with the gaps, if the gaps have at most `bridged` bytes or there are more than a million pieces.
fn every(begin: u64, stride: u64, len: u64, count: u64, bridged: u64) -> Vec<Range<u64>> {
    /// More pieces are not listed.
    const LISTED: u64 = 1 << 20;
    if count == 0 || len == 0 {
        return vec![];
    }
    let at = |number: u64| begin.saturating_add(stride.saturating_mul(number));
    if stride.saturating_sub(len) <= bridged || count > LISTED {
        return vec![begin..at(count - 1).saturating_add(len)];
    }
    (0..count).map(|number| at(number)..at(number).saturating_add(len)).collect()
}

/// The numbers of chunks of a variable, of one step along its first dimension, and of the series of one point along it.
fn object_counts(shape: &[u64], chunks: &[u64]) -> [u64; 3] {
    let counts: Vec<u64> =
        shape.iter().zip(chunks).map(|(&len, &chunk)| len.div_ceil(chunk.max(1))).collect();
    let product = |counts: &[u64]| counts.iter().fold(1, |all: u64, &count| all.saturating_mul(count));
    [product(&counts), product(counts.get(1..).unwrap_or_default()), counts.first().copied().unwrap_or(1)]
}

impl VariableLayout {
    /// This layout with the costs of its elements. `cost` gives those of ranges once the file is open.
    fn with_costs(
        mut self,
        elements: &ElementPlaces,
        end: u64,
        cost: &dyn Fn(&[Range<u64>]) -> Vec<ReadCost>,
    ) -> VariableLayout {
        let with_index = |ranges: Vec<Range<u64>>| {
            let ranges = self.index.iter().cloned().chain(ranges);
            cost(&union(ranges.collect(), end))
        };
        let chosen = |chunks: &[ElementExtent], is_chosen: fn(&ElementExtent) -> bool| {
            with_index(
                chunks.iter().filter(|chunk| is_chosen(chunk)).map(|chunk| chunk.bytes.clone()).collect(),
            )
        };
        let (step, series) = match elements {
            ElementPlaces::Rows { begin, stride, row, rows, element } => {
                // Gaps shorter than the smallest block cost nothing: each block there has a part of a piece.
                let least = BLOCK_SIZES.into_iter().min().unwrap_or_default();
                let step = *begin..begin.saturating_add(*row);
                (with_index(vec![step]), with_index(every(*begin, *stride, *element, *rows, least)))
            }
            ElementPlaces::Chunks(chunks) => (
                chosen(chunks, |chunk| chunk.is_of_first_step),
                chosen(chunks, |chunk| chunk.is_of_first_series),
            ),
            ElementPlaces::Objects([_, step, series]) => {
                let requests = |requests: &u64| {
                    BLOCK_SIZES.map(|_| ReadCost { requests: *requests, bytes: None }).to_vec()
                };
                (requests(step), requests(series))
            }
            ElementPlaces::Unknown => (vec![], vec![]),
        };
        (self.step, self.series) = (step, series);
        self
    }
}

/// Returns the cost of reading `wanted` for each of [`BLOCK_SIZES`], where the blocks of `known` have been read before, in a file of `size`
/// bytes.
fn costs(known: &[Range<u64>], wanted: &[Range<u64>], size: u64) -> Vec<ReadCost> {
    let cost = |block: u64| {
        let blocks = |ranges: &mut dyn Iterator<Item = &Range<u64>>| {
            union(ranges.map(|range| range.start / block..range.end.div_ceil(block)).collect(), u64::MAX)
        };
        let bytes = |blocks: &[Range<u64>]| {
            let ranges =
                blocks.iter().map(|range| range.start.saturating_mul(block)..range.end.saturating_mul(block));
            total(&union(ranges.collect(), size))
        };
        let (before, after) = (blocks(&mut known.iter()), blocks(&mut known.iter().chain(wanted)));
        ReadCost {
            requests: total(&after).saturating_sub(total(&before)),
            bytes: Some(bytes(&after).saturating_sub(bytes(&before))),
        }
    };
    BLOCK_SIZES.map(cost).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Requests and bytes with blocks of 8 MiB and of 1 MiB.
    fn numbers(costs: &[ReadCost]) -> Vec<(u64, u64)> {
        costs.iter().map(|cost| (cost.requests, cost.bytes.unwrap())).collect()
    }

    #[test]
    fn blocks_are_read_once_and_end_with_the_file() {
        let size = 20 * MIB;
        assert_eq!(numbers(&costs(&[], &[0..1], size)), [(1, 8 * MIB), (1, MIB)]);
        assert_eq!(
            numbers(&costs(&[], &[MIB - 1..MIB + 1, 19 * MIB..size], size)),
            [(2, 12 * MIB), (3, 3 * MIB)]
        );
        assert_eq!(numbers(&costs(&[0..100], &[50..2 * MIB], size)), [(0, 0), (1, MIB)]);
    }

    #[test]
    fn pieces_far_apart_are_ranges_of_their_own() {
        assert_eq!(every(10, 100, 4, 3, 0), [10..14, 110..114, 210..214]);
        assert_eq!(every(10, 100, 4, 3, 100), [10..214]);
        assert_eq!(every(10, 4, 4, 3, 0), [10..22]);
        assert_eq!(every(10, u64::MAX, 4, 3, 0), [10..14, u64::MAX..u64::MAX, u64::MAX..u64::MAX]);
        assert_eq!(every(10, 100, 4, u64::MAX, 0), [10..u64::MAX]);
        assert_eq!(every(10, 100, 4, 0, 0), []);
    }

    #[test]
    fn chunks_of_a_step_and_of_a_series() {
        assert_eq!(object_counts(&[10, 20, 30], &[3, 20, 7]), [20, 5, 4]);
        assert_eq!(object_counts(&[], &[]), [1, 1, 1]);
    }
}
