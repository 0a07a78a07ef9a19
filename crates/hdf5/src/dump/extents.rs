//! The extents of structures and elements: the walk of [`structure`](super::structure) without its text.
//!
//! Elements of variable length lie in collections of the global heap, and only the elements of datasets say in which. They are not read
//! for that: a collection in a gap between other extents is taken for one of them.

use std::collections::HashMap;
use std::io::sink;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_store::Blob;
use ferrocdf_store::ranges::{gaps, union};

use super::{StructureWalk, peek};
use crate::heaps::global::{self, CollectionHead};
use crate::{Address, Dataset, File, Source};

/// The extents of an HDF5 file, as positions counted from the beginning of the file. The ranges of one list do not touch, and are in the
/// order of their positions.
#[derive(Clone, Debug)]
pub struct FileExtents {
    /// Superblock, object headers, heaps, and indexes of links and attributes.
    pub metadata: Vec<Range<u64>>,
    /// Datasets, each once, by the addresses of their object headers.
    pub datasets: Vec<DatasetExtents>,
    /// Collections of the global heap that no structure refers to, in gaps between other extents.
    pub collections: Vec<Range<u64>>,
    /// Page size; `None` in a file without pages.
    pub page: Option<u64>,
    /// An error about the structures that cannot be read, and are missing here.
    pub unreadable: Option<Error>,
}

/// The extents of a dataset.
#[derive(Clone, Debug)]
pub struct DatasetExtents {
    /// Address of its object header.
    pub object: Address,
    /// Structures of its chunk index.
    pub index: Vec<Range<u64>>,
    /// Its elements: one extent, or one for each stored chunk in the order of the index.
    pub elements: Vec<ElementExtent>,
}

/// An extent of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementExtent {
    /// The bytes.
    pub bytes: Range<u64>,
    /// True for a chunk with elements of the first index of the first dimension.
    pub is_of_first_step: bool,
    /// True for a chunk with elements of the first index of each dimension but the first.
    pub is_of_first_series: bool,
}

/// Returns the extents of the structures and the elements of an HDF5 file. Space that a structure has taken and does not use counts as
/// its own.
///
/// # Errors
/// `ENOTNC` for a blob without an HDF5 signature; those of the blob.
pub fn extents(blob: Arc<dyn Blob>) -> Result<FileExtents> {
    let size = blob.size()?;
    let mut nowhere = sink();
    let mut walk = StructureWalk::start(blob, &mut nowhere)?;
    walk.run()?;
    let (mut metadata, mut indexes) = (vec![], HashMap::<Address, Vec<Range<u64>>>::new());
    for (owner, bytes) in std::mem::take(&mut walk.taken) {
        match owner.is_chunk_index {
            true => indexes.entry(owner.object).or_default().push(bytes),
            false => metadata.push(bytes),
        }
    }
    let metadata = union(metadata, size);
    let (file, source) = (walk.file.take(), walk.source.clone());
    let mut datasets = vec![];
    walk.datasets.sort_unstable();
    walk.datasets.dedup();
    for object in std::mem::take(&mut walk.datasets) {
        let index = union(indexes.remove(&object).unwrap_or_default(), size);
        let mut elements = vec![];
        let read = file.iter().try_for_each(|file| element_extents(file, object, &mut elements));
        if let Err(error) = read {
            walk.problem(&error)?;
        }
        datasets.push(DatasetExtents { object, index, elements });
    }
    let of_datasets = datasets.iter().flat_map(|dataset| {
        dataset.index.iter().chain(dataset.elements.iter().map(|elements| &elements.bytes))
    });
    let known = union(metadata.iter().chain(of_datasets).cloned().collect(), size);
    let collections = collections(&source, gaps(&known, size));
    let page = Some(walk.page).filter(|&page| page > 1);
    Ok(FileExtents { metadata, datasets, collections, page, unreadable: walk.unreadable() })
}

/// Appends the extents of the elements of a dataset.
fn element_extents(file: &File, object: Address, elements: &mut Vec<ElementExtent>) -> Result<()> {
    Dataset::open(&file.object(object)?)?.each_extent(&mut |coords, at, len| {
        elements.push(ElementExtent {
            bytes: at..at.saturating_add(len),
            is_of_first_step: coords.first().is_none_or(|&first| first == 0),
            is_of_first_series: coords.iter().skip(1).all(|&at| at == 0),
        });
        Ok(())
    })
}

/// Returns the collections of the global heap at the beginnings of these gaps, one behind the other.
fn collections(source: &Source, gaps: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let least = global::head_size(source.sizes) as u64;
    let mut found = vec![];
    for Range { start: mut at, end } in gaps {
        while at < end {
            let mut head = CollectionHead { sizes: source.sizes, size: 0 };
            let Some(address) = at.checked_sub(source.base).map(Address) else { break };
            let Ok(start) = source.read("global heap", address, least) else { break };
            if !peek(&mut head, &start) || head.size < least {
                break;
            }
            let next = at.saturating_add(head.size).min(end);
            found.push(at..next);
            at = next;
        }
    }
    union(found, u64::MAX)
}
