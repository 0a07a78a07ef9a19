//! Datasets: what their elements are and where they lie.
//!
//! Opening one takes its header apart and reads nothing else. A dataset is seen in two ways: as numbers, if it has any,
//! or, whatever its type, as bytes, one more dimension of which is the element; both are arrays for the array engine.
//!
//! Not done: virtual datasets of elements that hold pointers, from other files, as bytes.

pub(crate) mod virtual_layout;
mod watched;

use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{Array, ChunkIndex, Kind, Layout, PastEnd, Stored, VirtualLayout};
use ferrocdf_bytes::{Code, Context, Error, Result};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::Blob;

use crate::chunks::{DatasetChunks, Lazy};
use crate::external::ExternalBlob;
use crate::messages::{
    ChunkedLayout, DataLayout, Dataspace, Datatype, ExternalFiles, Fill, FillMessage, SpaceKind, pipeline,
};
use crate::objects::kind;
use crate::objects::object::Object;
use crate::wire::bad;
use crate::{Address, Number};
use virtual_layout::{Ancestors, Virtual};
pub use virtual_layout::{Lack, MissingSource};
use watched::Watched;

/// Elements of more bytes are read only from a file that can hold one, packed as well as the best filter packs.
const LARGE: u64 = 160 << 20;
const PACKED: u64 = 1 << 11;

/// Numbers of the chunks of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkCounts {
    /// Chunks of the present extent.
    pub all: u64,
    /// Those that are stored; the others were never written.
    pub stored: u64,
    /// Bytes of one chunk before the filters.
    pub decoded_bytes: u64,
}

/// A function that is called for each extent of elements, with the coordinates of its chunk (none for a dataset without chunks), its position
/// and its length.
pub(crate) type EachExtent<'a> = dyn FnMut(&[u64], u64, u64) -> Result<()> + 'a;

/// A dataset.
#[derive(Debug)]
pub struct Dataset {
    object: Object,
    datatype: Datatype,
    committed: Option<Address>,
    space: Dataspace,
    fill: FillMessage,
    filters: Vec<Step>,
    layout: DataLayout,
    external: Option<ExternalFiles>,
    ancestors: Ancestors,
    chain: Arc<Chain>,
    chunks: Lazy<Arc<DatasetChunks>>,
    mappings: Lazy<Virtual>,
    numbers: Lazy<Placed>,
    bytes: Lazy<Placed>,
}

/// An array and the bytes it is in.
#[derive(Clone)]
pub struct Placed {
    /// The bytes.
    pub blob: Arc<dyn Blob>,
    /// Where in them the elements lie.
    pub array: Array,
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("blob", &self.blob.name()).field("array", &self.array).finish()
    }
}

impl Dataset {
    /// The dataset that an object is.
    ///
    /// # Errors
    /// `EHDFERR` if it is none, or one of its messages cannot be taken apart.
    pub fn open(object: &Object) -> Result<Dataset> {
        Self::open_within(object, Ancestors::default())
    }

    /// A dataset that virtual datasets, its ancestors, take elements of.
    pub(crate) fn open_within(object: &Object, ancestors: Ancestors) -> Result<Dataset> {
        Self::decode(object, ancestors).at(|| format!("dataset at {}", object.address()))
    }

    fn decode(object: &Object, ancestors: Ancestors) -> Result<Dataset> {
        let sizes = object.file().source().sizes;
        let body = |kind| object.message(kind).map(|message| message.body()).transpose();
        let needed = |kind, name| body(kind)?.ok_or_else(|| bad(format!("it has no {name} message")));
        let datatype = Datatype::decode(needed(kind::DATATYPE, "datatype")?)?;
        let space = Dataspace::decode(needed(kind::DATASPACE, "dataspace")?, sizes)?;
        let layout = DataLayout::decode(needed(kind::LAYOUT, "data layout")?, sizes)?;
        let fill = match (body(kind::FILL)?, body(kind::FILL_OLD)?) {
            (Some(bytes), _) => FillMessage::decode(bytes)?,
            (None, Some(bytes)) => FillMessage::decode_old(bytes)?,
            (None, None) => FillMessage { value: Fill::Default, allocation: 2, writing: 2 },
        };
        let filters = body(kind::PIPELINE)?.map(pipeline::decode).transpose()?.unwrap_or_default();
        let external = body(kind::EXTERNAL)?.map(|bytes| ExternalFiles::decode(bytes, sizes)).transpose()?;
        Ok(Dataset {
            object: object.clone(),
            committed: object.message(kind::DATATYPE).and_then(|message| message.committed),
            datatype,
            space,
            fill,
            chain: Arc::new(Chain::new(filters.clone(), &object.file().source().codecs)),
            filters,
            layout,
            external,
            ancestors,
            chunks: Lazy::default(),
            mappings: Lazy::default(),
            numbers: Lazy::default(),
            bytes: Lazy::default(),
        })
    }

    /// The object that it is.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// What its elements are.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// The object that is its datatype, if that is a committed one.
    pub fn committed(&self) -> Option<Address> {
        self.committed
    }

    /// Its shape as stored. That of a virtual dataset may be larger meanwhile: see [`shape`](Dataset::shape).
    pub fn dataspace(&self) -> &Dataspace {
        &self.space
    }

    /// What its elements are that were never written.
    pub fn fill(&self) -> &FillMessage {
        &self.fill
    }

    /// What packs its chunks, in the order in which they are applied when writing.
    pub fn filters(&self) -> &[Step] {
        &self.filters
    }

    /// How it is stored.
    pub fn layout(&self) -> &DataLayout {
        &self.layout
    }

    /// The files that hold its data, if that is not in its own.
    pub fn external(&self) -> Option<&ExternalFiles> {
        self.external.as_ref()
    }

    /// The length of each dimension, slowest first: empty for a scalar, one of length 0 for a null dataspace. Virtual
    /// datasets without limit are as long as their sources make them now; those are opened.
    ///
    /// # Errors
    /// Those of reading the mappings and the headers of the sources.
    pub fn shape(&self) -> Result<Vec<u64>> {
        match (self.space.kind, &self.layout) {
            (SpaceKind::Null, _) => Ok(vec![0]),
            (SpaceKind::Simple, DataLayout::Virtual(Some(_))) => self.mappings()?.shape(&self.space),
            _ => Ok(self.space.dims.clone()),
        }
    }

    /// Its elements as numbers.
    ///
    /// # Errors
    /// `EBADTYPE` if they are none; `EHDFERR` if it cannot be stored as it says.
    pub fn array(&self) -> Result<Placed> {
        let no_numbers = || Error::new(Code::EBADTYPE, "its elements are no numbers");
        let make = || self.placed(Some(self.datatype.number().ok_or_else(no_numbers)?));
        self.numbers.get(|| make().at(|| self.place())).cloned()
    }

    /// Its elements as bytes, whatever they are: one more dimension, the fastest, as long as an element.
    ///
    /// # Errors
    /// `EHDFERR` if it cannot be stored as it says.
    pub fn raw(&self) -> Result<Placed> {
        self.bytes.get(|| self.placed(None).at(|| self.place())).cloned()
    }

    /// Bytes that its elements take in the file, of chunks those that are stored; the whole index is read.
    ///
    /// # Errors
    /// Those of reading the index.
    pub fn storage_size(&self) -> Result<u64> {
        let DataLayout::Chunked(layout) = &self.layout else {
            return Ok(match &self.layout {
                DataLayout::Compact(bytes) => bytes.len() as u64,
                DataLayout::Contiguous { address: None, .. } if self.external.is_none() => 0,
                DataLayout::Contiguous { size, .. } => size.or(self.needed()).unwrap_or(u64::MAX),
                _ => 0,
            });
        };
        self.chunks(layout)?.stored_bytes()
    }

    /// The numbers of its chunks; `None` if it is not chunked. The whole index is read.
    ///
    /// # Errors
    /// Those of reading the index.
    pub fn chunk_counts(&self) -> Result<Option<ChunkCounts>> {
        let DataLayout::Chunked(layout) = &self.layout else { return Ok(None) };
        let chunks = self.chunks(layout)?;
        let (stored, _) = chunks.stored()?;
        Ok(Some(ChunkCounts { all: chunks.count(), stored, decoded_bytes: chunks.decoded_bytes() }))
    }

    /// Visits all chunks that are stored, each by its first element.
    ///
    /// # Errors
    /// Those of reading the index, and of `visit`.
    pub fn each_chunk(&self, mut visit: impl FnMut(Vec<u64>) -> Result<()>) -> Result<()> {
        let DataLayout::Chunked(layout) = &self.layout else { return Ok(()) };
        self.chunks(layout)?.each(&mut |coords, _, _| {
            let first = coords.iter().zip(&layout.shape).map(|(at, len)| at.saturating_mul(*len));
            visit(first.collect())
        })
    }

    /// Visits the extents of the elements in the bytes of the file: each stored chunk, or all elements of a contiguous dataset at once.
    ///
    /// # Errors
    /// Those of reading the index, and of `visit`.
    pub(crate) fn each_extent(&self, visit: &mut EachExtent<'_>) -> Result<()> {
        let source = self.object.file().source();
        match &self.layout {
            DataLayout::Contiguous { address: Some(at), size } if self.external.is_none() => {
                visit(&[], source.position(*at)?, size.or(self.needed()).unwrap_or(u64::MAX))
            }
            DataLayout::Chunked(layout) => {
                let chunks = self.chunks(layout)?;
                chunks.each(&mut |coords, entry, mask| {
                    visit(coords, source.position(entry.at)?, chunks.stored_len(entry, mask))
                })
            }
            _ => Ok(()),
        }
    }

    fn place(&self) -> String {
        format!("dataset at {}", self.object.address())
    }

    /// Bytes of all elements; `None` if they have more than 64 bits.
    fn needed(&self) -> Option<u64> {
        self.space.elements()?.checked_mul(u64::from(self.datatype.size))
    }

    pub(crate) fn chunks(&self, layout: &ChunkedLayout) -> Result<&Arc<DatasetChunks>> {
        let source = self.object.file().source();
        let filtered = !self.filters.is_empty();
        self.chunks.get(|| Ok(Arc::new(DatasetChunks::new(source, layout, &self.space, filtered)?)))
    }

    /// The names of the files that hold the raw data, in their order; none if the data is in this file.
    pub fn external_names(&self) -> Result<Vec<Vec<u8>>> {
        let Some(files) = &self.external else { return Ok(vec![]) };
        Ok(ExternalBlob::new(self.object.file(), files)?.names().map(<[u8]>::to_vec).collect())
    }

    /// File and path of each source of a virtual dataset; none for other datasets. The file "." is this one, and `%b` stands
    /// for a number.
    pub fn virtual_sources(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        match self.layout {
            DataLayout::Virtual(_) => Ok(self.mappings()?.source_names()),
            _ => Ok(vec![]),
        }
    }

    /// The sources of a virtual dataset that lack elements; none for other datasets. All sources are opened.
    ///
    /// # Errors
    /// Those of reading the mappings and the headers of the sources.
    pub fn missing_sources(&self) -> Result<Vec<MissingSource>> {
        match self.layout {
            DataLayout::Virtual(_) => self.mappings()?.missing(),
            _ => Ok(vec![]),
        }
    }

    fn mappings(&self) -> Result<&Virtual> {
        self.mappings.get(|| {
            let id = match self.layout {
                DataLayout::Virtual(id) => id,
                _ => None,
            };
            Virtual::read(&self.object, id, &self.datatype, &self.ancestors)
        })
    }

    /// The array of numbers, or of bytes.
    fn placed(&self, number: Option<Number>) -> Result<Placed> {
        let source = self.object.file().source();
        let size = u64::from(self.datatype.size);
        let raw = number.is_none();
        let file_size = source.blob.size()?;
        if size > LARGE && size / PACKED > file_size {
            return Err(bad(format!("elements of {size} bytes in a file of {file_size}")));
        }
        let number = number.unwrap_or(Number { stored: Stored::native(Kind::U8), decoder: None });
        let bytes = |mut shape: Vec<u64>| {
            shape.extend(raw.then_some(size));
            shape
        };
        let mut fill: Arc<[u8]> = self.fill.value.bytes().into();
        if !fill.is_empty() && fill.len() as u64 != size {
            return Err(bad(format!("its fill value has {} bytes, its elements have {size}", fill.len())));
        }
        let mut array = Array {
            shape: bytes(self.shape()?),
            stored: number.stored,
            decoder: number.decoder,
            layout: Layout::Fill(Arc::clone(&fill)),
            past_end: PastEnd::Error,
        };
        let mut blob = Arc::clone(self.object.file().elements());
        if array.shape.contains(&0) {
            return Ok(Placed { blob, array });
        }
        let too_large = || bad(format!("its shape {:?} is more than 64 bits hold", self.space.dims));
        let short = |has: u64, needed: u64| bad(format!("it has {has} bytes of the {needed} that it needs"));
        match &self.layout {
            DataLayout::Compact(stored) => {
                let needed = self.needed().ok_or_else(too_large)?;
                let data = usize::try_from(needed).ok().and_then(|needed| stored.get(..needed));
                array.layout = Layout::Inline(data.ok_or_else(|| short(stored.len() as u64, needed))?.into());
            }
            DataLayout::Contiguous { address, size: has } => {
                let needed = self.needed().ok_or_else(too_large)?;
                let begin = match &self.external {
                    Some(files) => {
                        let external = ExternalBlob::new(self.object.file(), files)?;
                        blob = Arc::new(external);
                        Some(0)
                    }
                    None => address.map(|at| source.position(at)).transpose()?,
                };
                if let Some(begin) = begin {
                    if let (Some(has), None) = (has.filter(|&has| has < needed), &self.external) {
                        return Err(short(has, needed));
                    }
                    let width = if raw { 1 } else { size };
                    array.layout = Layout::Strided { begin, strides: steps(&array.shape, width) };
                }
            }
            DataLayout::Chunked(layout) => {
                if layout.element != size {
                    let has = layout.element;
                    return Err(bad(format!(
                        "its chunks have elements of {has} bytes, its datatype of {size}"
                    )));
                }
                let chunks = Arc::clone(self.chunks(layout)?);
                let index: Arc<dyn ChunkIndex> = match self.object.file().is_watched() {
                    true => Arc::new(Watched::new(&self.object, layout, chunks)?),
                    false => chunks,
                };
                let (shape, chain) = (layout.shape.clone(), Arc::clone(&self.chain));
                let chunks = ferrocdf_array::Chunks::new(shape, index, chain, fill);
                array.layout = Layout::Chunked(if raw { chunks.as_bytes(size) } else { chunks });
            }
            DataLayout::Virtual(_) => {
                // Here the fill value is an element of the array, not of the file.
                if let Some(decoder) = array.decoder.take().filter(|_| !fill.is_empty()) {
                    let mut made = vec![0; array.stored.kind.size()];
                    decoder.convert(&fill, &mut made);
                    fill = made.into();
                }
                let width = raw.then_some(size);
                let shape = self.shape()?;
                let mappings = self.mappings()?.parts(&shape, width)?.into();
                array.layout = Layout::Virtual(VirtualLayout { mappings, fill });
            }
        }
        Ok(Placed { blob, array })
    }
}

/// The bytes from one index to the next in each dimension of elements side by side, which take no more than 64 bits.
pub(crate) fn steps(shape: &[u64], width: u64) -> Vec<u64> {
    let mut steps = vec![0; shape.len()];
    let mut step = width;
    for (at, &len) in steps.iter_mut().zip(shape).rev() {
        *at = step;
        step = step.saturating_mul(len);
    }
    steps
}
