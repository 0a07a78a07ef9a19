//! Virtual datasets: elements that lie in other datasets, mostly of other files (specification, section III.F, "Global
//! Heap Block for Virtual Datasets").
//!
//! A mapping without limit is as long as its sources make it: of a source that grows, as long as that is now; of sources
//! whose names are numbered, as many as there are up to the first that is missing. That is what the reference shows when
//! it opens a dataset (view "last available", no gaps). Sources are opened once and kept.
//!
//! Not done: the view "first missing", and gaps between numbered sources, which programs can ask the reference for.

mod align;
pub(crate) mod mapping;
mod missing;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_array::{Array, Index, SourceMapping, VirtualSource};
use ferrocdf_bytes::{Code, Context, Error, Result};
use ferrocdf_store::Blob;

use super::{Dataset, Placed};
use crate::chunks::Lazy;
use crate::messages::{Dataspace, Datatype, HeapId};
use crate::objects::object::Object;
use crate::selection::{HyperslabDim, SpaceSelection};
use crate::wire::bad;
use crate::{Address, File};
use align::{Dim, Pair, Product, align, products};
use mapping::Mapping;
pub use missing::{Lack, MissingSource};

/// Virtual datasets may be sources of others, this deep.
const DEPTH: usize = 32;

/// How often the virtual datasets among the sources of one may open the same sources again, besides twice each: few of them
/// can lead to one another in very many ways.
const NESTED: usize = 256;

/// The most sources of one mapping whose names are numbered.
const NUMBERED: u64 = 1 << 20;

/// The most parts of one dataset.
const PARTS: usize = 1 << 21;

/// The virtual datasets on the way to one that is their source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ancestors(Option<Arc<Ancestor>>);

#[derive(Debug)]
struct Ancestor {
    /// The bytes of the file, and the object in it.
    file: usize,
    object: Address,
    depth: usize,
    parent: Ancestors,
    /// The sources of sources that the first of them has opened.
    nested: Arc<Mutex<Nested>>,
}

/// How many sources were opened, and which.
#[derive(Debug, Default)]
struct Nested {
    opened: usize,
    known: HashSet<(usize, Address)>,
}

impl Nested {
    /// Counts a source; false if they are too many.
    fn add(&mut self, source: (usize, Address)) -> bool {
        self.opened += 1;
        self.known.insert(source);
        self.opened <= NESTED + 2 * self.known.len()
    }
}

impl Ancestors {
    fn key(object: &Object) -> (usize, Address) {
        (Arc::as_ptr(&object.file().source().blob).cast::<()>().addr(), object.address())
    }

    /// These and one more.
    fn with(&self, object: &Object) -> Ancestors {
        let (file, object) = Self::key(object);
        let depth = self.0.as_ref().map_or(0, |parent| parent.depth) + 1;
        let nested = self.0.as_ref().map(|parent| Arc::clone(&parent.nested)).unwrap_or_default();
        Ancestors(Some(Arc::new(Ancestor { file, object, depth, parent: self.clone(), nested })))
    }

    fn check(&self, object: &Object) -> Result<()> {
        let key = Self::key(object);
        if let Some(nearest) = self.0.as_ref().filter(|nearest| nearest.depth > 1)
            && !nearest.nested.lock().unwrap_or_else(PoisonError::into_inner).add(key)
        {
            return Err(bad("virtual datasets that take elements of the same ones in too many ways"));
        }
        let mut next = &self.0;
        while let Some(ancestor) = next {
            if (ancestor.file, ancestor.object) == key || ancestor.depth > DEPTH {
                return Err(bad("a virtual dataset takes elements of itself, or lies too deep in others"));
            }
            next = &ancestor.parent.0;
        }
        Ok(())
    }
}

/// The mappings of a virtual dataset, and its sources.
#[derive(Debug)]
pub(crate) struct Virtual {
    mappings: Vec<Mapping>,
    sources: Arc<Sources>,
}

/// The file and the path of a source.
type Name = (Arc<[u8]>, Arc<[u8]>);

/// The bytes and the elements of a source.
type Elements = (Arc<dyn Blob>, Arc<Array>);

/// The sources of a virtual dataset.
#[derive(Debug)]
struct Sources {
    file: File,
    datatype: Datatype,
    ancestors: Ancestors,
    /// Those that were looked for, by file and path.
    opened: Mutex<HashMap<Name, Option<Arc<Dataset>>>>,
}

impl Sources {
    /// A source; `None` if it is not there.
    fn open(&self, file: &Arc<[u8]>, path: &Arc<[u8]>) -> Result<Option<Arc<Dataset>>> {
        let held = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (Arc::clone(file), Arc::clone(path));
        if let Some(known) = held().get(&key) {
            return Ok(known.clone());
        }
        let found = self.find(file, path).at(|| source_name(file, path))?;
        Ok(held().entry(key).or_insert(found).clone())
    }

    fn find(&self, file: &[u8], path: &[u8]) -> Result<Option<Arc<Dataset>>> {
        let file = if file == b"." { Some(self.file.clone()) } else { self.file.neighbour(file)? };
        let Some(file) = file else { return Ok(None) };
        let Some(object) = file.open_path(file.superblock().root, path)? else { return Ok(None) };
        self.ancestors.check(&object)?;
        Dataset::open_within(&object, self.ancestors.clone()).map(|dataset| Some(Arc::new(dataset)))
    }
}

impl Virtual {
    /// The mappings at a place in the global heap of the file of a virtual dataset with elements of this type.
    pub fn read(
        object: &Object,
        id: Option<HeapId>,
        datatype: &Datatype,
        ancestors: &Ancestors,
    ) -> Result<Virtual> {
        let file = object.file();
        let mappings = match id {
            Some(id) => mapping::decode(id.collection, &file.heap_object(id)?, file.source().sizes)?,
            None => Vec::new(),
        };
        let sources = Sources {
            file: file.clone(),
            datatype: datatype.clone(),
            ancestors: ancestors.with(object),
            opened: Mutex::default(),
        };
        Ok(Virtual { mappings, sources: Arc::new(sources) })
    }

    /// File and path of each source, once each, in the order of the mappings; "." is the same file.
    pub fn source_names(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut names: Vec<(Vec<u8>, Vec<u8>)> = vec![];
        let mut seen = HashSet::new();
        for (file, path) in self.mappings.iter().map(Mapping::stored_names) {
            if seen.insert((file, path)) {
                names.push((file.to_vec(), path.to_vec()));
            }
        }
        names
    }

    /// The shape that the dataset has now.
    pub fn shape(&self, space: &Dataspace) -> Result<Vec<u64>> {
        let rank = space.dims.len();
        if self.mappings.iter().all(|mapping| mapping.here.unlimited().is_none()) {
            return Ok(space.dims.clone());
        }
        let mut grown = vec![None; rank];
        let mut least = vec![0; rank];
        for mapping in &self.mappings {
            if mapping.here.rank().is_some_and(|other| other != rank) {
                return Err(bad(format!("a mapping of other than the {rank} dimensions of the dataset")));
            }
            let unlimited = mapping.here.unlimited();
            if let Some(dim) = unlimited {
                let len = self.reach(mapping, dim)?;
                grown[dim] = grown[dim].max(Some(len));
            }
            for (dim, least) in least.iter_mut().enumerate() {
                if unlimited != Some(dim) {
                    *least = (*least).max(end(&mapping.here, dim));
                }
            }
        }
        let shape = (0..rank).map(|dim| {
            let Some(len) = grown[dim] else { return space.dims[dim] };
            let len = len.max(least[dim]);
            space.max(dim).map_or(len, |max| len.min(max))
        });
        Ok(shape.collect())
    }

    /// How long a mapping without limit makes this dimension.
    fn reach(&self, mapping: &Mapping, dim: usize) -> Result<u64> {
        let SpaceSelection::Regular(dims) = &mapping.here else { return Ok(0) };
        let blocks = &dims[dim];
        if mapping.there.unlimited().is_some() {
            return clipped(blocks, self.slices(mapping)?);
        }
        let Some(last) = self.numbered(mapping)?.checked_sub(1) else { return Ok(0) };
        let reach = last.checked_mul(blocks.stride).and_then(|start| start.checked_add(blocks.start));
        let reach = reach.and_then(|start| start.checked_add(blocks.block));
        reach.ok_or_else(|| bad("a mapping beyond index 2^64"))
    }

    /// How many indices the source of a mapping has now in its dimension without limit.
    fn slices(&self, mapping: &Mapping) -> Result<u64> {
        let (SpaceSelection::Regular(dims), Some(dim)) = (&mapping.there, mapping.there.unlimited()) else {
            return Ok(0);
        };
        let Some(source) = self.sources.open(&mapping.file(0), &mapping.path(0))? else { return Ok(0) };
        let shape = source.shape()?;
        let len = shape.get(dim).ok_or_else(|| bad("a mapping of dimensions that its source has not"))?;
        let blocks = &dims[dim];
        let Some(left) = len.checked_sub(blocks.start) else { return Ok(0) };
        if blocks.block >= blocks.stride {
            return Ok(left);
        }
        // Less than what is left.
        Ok(left / blocks.stride * blocks.block + (left % blocks.stride).min(blocks.block))
    }

    /// How many sources a mapping with numbered names has.
    fn numbered(&self, mapping: &Mapping) -> Result<u64> {
        if !mapping.is_numbered() {
            return Err(bad("a mapping without limit to a source that has one, whose name has no number"));
        }
        for number in 0..NUMBERED {
            if self.sources.open(&mapping.file(number), &mapping.path(number))?.is_none() {
                return Ok(number);
            }
        }
        Err(bad(format!("a mapping to more than {NUMBERED} sources")))
    }

    /// The parts of the dataset, which has this shape. `width` are the bytes of an element if they are one more
    /// dimension.
    pub fn parts(&self, shape: &[u64], width: Option<u64>) -> Result<Vec<SourceMapping>> {
        let mut parts = Vec::new();
        for (number, mapping) in self.mappings.iter().enumerate() {
            self.add(mapping, shape, width, &mut parts).at(|| format!("mapping {number}"))?;
            if parts.len() > PARTS {
                return Err(bad(format!("a virtual dataset of more than {PARTS} parts")));
            }
        }
        Ok(parts)
    }

    fn add(
        &self,
        mapping: &Mapping,
        shape: &[u64],
        width: Option<u64>,
        parts: &mut Vec<SourceMapping>,
    ) -> Result<()> {
        let mut add = |number: u64, here: &[Product], there: &[Product]| -> Result<()> {
            let (file, path) = (mapping.file(number), mapping.path(number));
            let raw = width.is_some();
            let source =
                SourceOf { sources: Arc::clone(&self.sources), file, path, raw, placed: Lazy::default() };
            let source: Arc<dyn VirtualSource> = Arc::new(source);
            for pair in align(here, there)? {
                let (here, there) = widened(pair, width);
                parts.push(SourceMapping {
                    virtual_selection: here,
                    source_selection: there,
                    source: Arc::clone(&source),
                });
            }
            Ok(())
        };
        match (mapping.here.unlimited(), mapping.there.unlimited()) {
            (None, None) => {
                let here = products(&mapping.here, shape)?;
                let Some(there) = self.there(mapping, 0, &here)? else { return Ok(()) };
                add(0, &here, &there)
            }
            (Some(here), Some(there)) => {
                let slices = self.slices(mapping)?;
                add(0, &[taken(&mapping.here, here, slices)?], &[taken(&mapping.there, there, slices)?])
            }
            (Some(dim), None) => {
                let SpaceSelection::Regular(dims) = &mapping.here else { return Ok(()) };
                for number in 0..self.numbered(mapping)? {
                    let mut dims = dims.clone();
                    let start = number.checked_mul(dims[dim].stride);
                    let start = start.and_then(|start| start.checked_add(dims[dim].start));
                    dims[dim].start = start.ok_or_else(|| bad("a mapping beyond index 2^64"))?;
                    dims[dim].count = 1;
                    let here = products(&SpaceSelection::Regular(dims), shape)?;
                    let Some(there) = self.there(mapping, number, &here)? else { break };
                    add(number, &here, &there)?;
                }
                Ok(())
            }
            (None, Some(_)) => Err(bad("a mapping with a limit to a source without one")),
        }
    }

    /// The selection of the source of this number that belongs to these products; `None` if the source must be known for it and is not there.
    fn there(&self, mapping: &Mapping, number: u64, here: &[Product]) -> Result<Option<Vec<Product>>> {
        let shape = match mapping.there.rank() {
            Some(rank) => vec![0; rank],
            None if mapping.there == SpaceSelection::None => Vec::new(),
            None => {
                let (file, path) = (mapping.file(number), mapping.path(number));
                let Some(source) = self.sources.open(&file, &path)? else { return Ok(None) };
                first_rows(&source.shape()?, here).at(|| source_name(&file, &path))?
            }
        };
        products(&mapping.there, &shape).map(Some)
    }
}

fn source_name(file: &[u8], path: &[u8]) -> String {
    format!("source \"{}\" in \"{}\"", path.escape_ascii(), file.escape_ascii())
}

/// The shape of a source of which all elements were taken: that of its first rows if rows were added since, as the reference reads it.
///
/// # Errors
/// `EHDFERR` for a source of another shape, of which the reference reads elements of other rows, or none.
fn first_rows(shape: &[u64], here: &[Product]) -> Result<Vec<u64>> {
    let [box_here] = here else { return Ok(shape.to_vec()) };
    let wide = |lens: &[u64]| lens.iter().copied().filter(|&len| len != 1).collect::<Vec<u64>>();
    let wanted: Vec<u64> = box_here.iter().map(|dim| dim.len).collect();
    let count = |lens: &[u64]| lens.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
    let Some((_, row)) = shape.split_first().filter(|_| count(shape) != count(&wanted)) else {
        return Ok(shape.to_vec());
    };
    let rows = count(&wanted).zip(count(row)).and_then(|(count, row)| count.checked_div(row)).unwrap_or(0);
    let taken: Vec<u64> = [rows].into_iter().chain(row.iter().copied()).collect();
    if rows <= shape[0] && wide(&taken) == wide(&wanted) {
        return Ok(taken);
    }
    Err(bad(format!(
        "its shape is {shape:?}, and the virtual dataset takes all elements of one of shape {wanted:?}: the file was changed since; make the \
         virtual dataset anew"
    )))
}

/// The first `len` indices of the dimension without limit, and all of the others.
fn taken(selection: &SpaceSelection, unlimited: usize, len: u64) -> Result<Product> {
    let SpaceSelection::Regular(dims) = selection else { return Ok(Vec::new()) };
    let dims = dims.iter().enumerate().map(|(dim, blocks)| {
        let len = if dim == unlimited { Some(len) } else { blocks.count.checked_mul(blocks.block) };
        Dim::of(blocks, len.ok_or_else(|| bad("a selection of more than 2^64 indices"))?)
    });
    dims.collect()
}

/// The index behind the first `slices` of blocks without limit.
fn clipped(blocks: &HyperslabDim, slices: u64) -> Result<u64> {
    let Some(last) = slices.checked_sub(1) else { return Ok(0) };
    let reach = if blocks.block >= blocks.stride || blocks.block == 0 {
        blocks.start.checked_add(slices)
    } else {
        let start = (last / blocks.block).checked_mul(blocks.stride);
        let reach = start.and_then(|start| start.checked_add(last % blocks.block + 1));
        reach.and_then(|reach| reach.checked_add(blocks.start))
    };
    reach.ok_or_else(|| bad("a mapping beyond index 2^64"))
}

/// The index behind the last that a limited selection has in a dimension; 0 if that depends on the dataset.
fn end(selection: &SpaceSelection, dim: usize) -> u64 {
    match selection {
        SpaceSelection::None | SpaceSelection::All => 0,
        SpaceSelection::Regular(dims) => dims[dim].end().unwrap_or_default(),
        SpaceSelection::Points { rank, coords } => {
            coords.iter().skip(dim).step_by(*rank).max().map_or(0, |&at| at.saturating_add(1))
        }
        SpaceSelection::Boxes { rank, corners } => {
            corners.iter().skip(rank + dim).step_by(2 * rank).max().map_or(0, |&at| at.saturating_add(1))
        }
    }
}

/// A pair of boxes, with one more dimension for the bytes of an element.
fn widened((mut here, mut there): Pair, width: Option<u64>) -> Pair {
    for selection in [&mut here, &mut there] {
        let add = |list: &mut Index, number: u64| list.extend(width.map(|_| number));
        add(&mut selection.start, 0);
        add(&mut selection.count, width.unwrap_or_default());
        add(&mut selection.stride, 1);
    }
    (here, there)
}

/// A source as the array engine sees it.
struct SourceOf {
    sources: Arc<Sources>,
    file: Arc<[u8]>,
    path: Arc<[u8]>,
    raw: bool,
    placed: Lazy<Option<Elements>>,
}

impl fmt::Debug for SourceOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" in \"{}\"", self.path.escape_ascii(), self.file.escape_ascii())
    }
}

impl VirtualSource for SourceOf {
    fn open(&self) -> Result<Option<Elements>> {
        self.placed
            .get(|| {
                let Some(dataset) = self.sources.open(&self.file, &self.path)? else { return Ok(None) };
                let place = || format!("source {self:?}");
                let placed = if self.raw { self.bytes(&dataset) } else { dataset.array() }.at(place)?;
                Ok(Some((placed.blob, Arc::new(placed.array))))
            })
            .cloned()
    }
}

impl SourceOf {
    /// The elements as bytes, which must then mean the same in the virtual dataset.
    fn bytes(&self, dataset: &Dataset) -> Result<Placed> {
        let datatype = &self.sources.datatype;
        if dataset.datatype() != datatype {
            return Err(Error::new(Code::EBADTYPE, "its elements are of another type"));
        }
        if datatype.has_pointers() && *self.file != *b"." {
            return Err(Error::new(Code::EBADTYPE, "its elements point to what is in its own file"));
        }
        dataset.raw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_that_grew_along_its_first_dimension_is_read_as_it_was() {
        let taken = |shape: &[u64], here: &[u64]| {
            let here = here.iter().map(|&len| Dim::run(7, len)).collect();
            first_rows(shape, &[here])
        };
        assert_eq!(taken(&[3, 2], &[3, 2]), Ok(vec![3, 2]));
        assert_eq!(taken(&[5, 2], &[3, 2]), Ok(vec![3, 2]));
        assert_eq!(taken(&[5, 2], &[1, 3, 2]), Ok(vec![3, 2]));
        assert_eq!(taken(&[5, 2], &[2]), Ok(vec![1, 2]));
        for (shape, here) in [
            (&[2, 2][..], &[3, 2][..]),
            (&[3, 3][..], &[3, 2][..]),
            (&[5, 2][..], &[6][..]),
            (&[0, 2][..], &[3, 2][..]),
        ] {
            let error = taken(shape, here).unwrap_err();
            assert!(
                error.what.contains(&format!("{shape:?}")) && error.what.contains(&format!("{here:?}")),
                "{error}"
            );
        }
    }
}
