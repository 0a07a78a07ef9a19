//! The data of datasets that are edited: allocation, fill values, and arrays that can be read and written.
//!
//! The chunks of a dataset are made once, and only its shape changes afterwards, so that the engine has its pending chunks in one
//! place.

use std::sync::{Arc, Mutex};

use ferrocdf_array::{Array, Kind, Layout, PastEnd, Stored};
use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::{Blob, BlobMut};

use super::chunks::{EditedChunks, Facts};
use super::header::{EditedHeader, SHARED};
use super::space::{Extent, FileSpace, lock};
use crate::chunks::DatasetChunks;
use crate::messages::{ChunkIndex, ChunkedLayout, DataLayout, Dataspace, Datatype, FillMessage, SpaceKind};
use crate::objects::kind;
use crate::wire::bad;
use crate::{Address, Dataset, Number, Placed, Sizes, Source};

/// Bytes of one write of fill values, and of one step of a copy.
const STEP: usize = 1 << 20;

/// The data of a dataset.
#[derive(Debug)]
pub(super) struct Data {
    pub datatype: Datatype,
    pub space: Dataspace,
    pub fill: FillMessage,
    pub layout: DataLayout,
    /// The layout as the header has it; `None` if its message has to be encoded again: an index that is built here needs a message that
    /// is encoded here, since the version of the message decides the widths of the index.
    pub written: Option<DataLayout>,
    pub filters: Vec<Step>,
    /// The store of its chunks, once it was needed.
    pub store: Option<Arc<EditedChunks>>,
    /// The extents of the committed index of its chunks, once they were looked up.
    pub blocks: Option<Vec<Extent>>,
    /// Space taken for its elements that is still to be filled.
    unfilled: Option<Unfilled>,
    /// True if its contiguous elements lie in space that no committed state uses.
    is_fresh: bool,
    /// The dataset itself if its data can only be read: a virtual one, or one whose data is in other files.
    foreign: Option<Dataset>,
    /// Its chunks, once they were needed; an array of numbers and one of bytes are two views of them.
    chunks: Option<ferrocdf_array::Chunks>,
}

/// Allocated space that must have the fill value, where nothing is written, before a commit.
#[derive(Clone, Copy, Debug)]
struct Unfilled {
    at: Address,
    len: u64,
    /// Number of bytes at the start that were written or filled.
    defined: u64,
}

/// The bytes of a file and its free space, for the arrays of all its datasets.
pub(super) struct FileStorage<'a> {
    pub blob: &'a Arc<dyn BlobMut>,
    pub source: &'a Source,
    pub space: &'a Arc<Mutex<FileSpace>>,
}

pub(super) fn wrong(what: impl Into<String>) -> Error {
    Error::new(Code::EINVAL, what)
}

impl Data {
    /// Makes the data of a dataset whose header has this layout.
    pub fn new(
        datatype: Datatype,
        space: Dataspace,
        fill: FillMessage,
        layout: DataLayout,
        filters: Vec<Step>,
    ) -> Data {
        Data {
            datatype,
            space,
            fill,
            written: Some(layout.clone()),
            layout,
            filters,
            store: None,
            blocks: None,
            unfilled: None,
            is_fresh: false,
            foreign: None,
            chunks: None,
        }
    }

    /// Returns the data of a committed dataset.
    pub fn load(dataset: Dataset) -> Data {
        let is_foreign = matches!(dataset.layout(), DataLayout::Virtual(_)) || dataset.external().is_some();
        let (datatype, space, fill) = (dataset.datatype(), dataset.dataspace(), dataset.fill());
        let (layout, filters) = (dataset.layout().clone(), dataset.filters().to_vec());
        let data = Data::new(datatype.clone(), space.clone(), fill.clone(), layout, filters);
        Data { foreign: is_foreign.then_some(dataset), ..data }
    }

    /// Returns the number of bytes of all elements.
    fn bytes_needed(&self) -> Result<u64> {
        let bytes = self.space.elements().and_then(|count| count.checked_mul(self.datatype.size.into()));
        bytes.ok_or_else(|| bad(format!("its shape {:?} is more than 64 bits hold", self.space.dims)))
    }

    /// True if space is allocated for any element.
    pub fn is_allocated(&self) -> Result<bool> {
        Ok(match &self.layout {
            DataLayout::Compact(_) | DataLayout::Virtual(_) => true,
            DataLayout::Contiguous { address, .. } => address.is_some() || self.foreign.is_some(),
            DataLayout::Chunked(layout) => match &self.store {
                Some(store) => store.any()?,
                None => layout.address.is_some(),
            },
        })
    }

    /// Allocates space for contiguous elements, or for the chunks of an implicit index, if there is none. [`finish`](Data::finish) fills it
    /// where the dataset has a fill value. Returns true if the layout changed.
    pub fn allocate(&mut self, place: &FileStorage<'_>) -> Result<bool> {
        let implicit =
            |layout: &ChunkedLayout| layout.index == ChunkIndex::Implicit && layout.address.is_none();
        let len = match &self.layout {
            DataLayout::Contiguous { address: None, .. } if self.foreign.is_none() => self.bytes_needed()?,
            DataLayout::Chunked(layout) if implicit(layout) => {
                let counts = counts(layout, &self.space);
                let bytes =
                    counts.iter().try_fold(chunk_bytes(layout)?, |bytes, &count| bytes.checked_mul(count));
                bytes.ok_or_else(|| wrong("more chunks than 64 bits can count"))?
            }
            _ => return Ok(false),
        };
        if len == 0 {
            return Ok(false);
        }
        let zeros_from = lock(place.space).zeros_from();
        let at = lock(place.space).take_run(len)?;
        let fresh = at.0 >= zeros_from;
        if self.filler() != [0] || !fresh {
            self.unfilled = Some(Unfilled { at, len, defined: 0 });
        }
        self.is_fresh = true;
        match &mut self.layout {
            DataLayout::Contiguous { address, size } => (*address, *size) = (Some(at), Some(len)),
            DataLayout::Chunked(layout) => layout.address = Some(at),
            _ => {}
        }
        Ok(true)
    }

    /// Marks its elements as part of the committed state.
    pub fn seal(&mut self) {
        self.is_fresh = false;
        if let Some(store) = &self.store {
            store.seal();
        }
    }

    /// Copies contiguous elements of the committed state to space that it does not use. Returns true if it did.
    pub fn move_contiguous(&mut self, place: &FileStorage<'_>) -> Result<bool> {
        let DataLayout::Contiguous { address: Some(old), size: Some(len) } = self.layout else {
            return Ok(false);
        };
        if self.is_fresh || self.foreign.is_some() || len == 0 {
            return Ok(false);
        }
        let new = lock(place.space).take_run(len)?;
        let copied = copy(place, old, new, len);
        let mut space = lock(place.space);
        if copied.is_err() {
            space.give_back(new, len);
            return copied.map(|()| false);
        }
        space.give_up(old, len);
        self.layout = DataLayout::Contiguous { address: Some(new), size: Some(len) };
        self.is_fresh = true;
        Ok(true)
    }

    /// Returns the bytes that new space is filled with: the fill value, or one zero.
    fn filler(&self) -> &[u8] {
        const NEVER: u8 = 1;
        let value = self.fill.value.bytes();
        let wanted = self.fill.writing != NEVER && value.iter().any(|&byte| byte != 0);
        if wanted { value } else { &[0] }
    }

    /// Fills new space before the element `first`, which is written next, if elements are stored in their order; else all of it.
    pub fn before_write(&mut self, place: &FileStorage<'_>, first: u64) -> Result<()> {
        match &self.layout {
            DataLayout::Contiguous { .. } => {
                self.fill_to(place, first.saturating_mul(self.datatype.size.into()))
            }
            _ => self.finish(place),
        }
    }

    /// Notes that all elements before the element `end` were written or filled.
    pub fn wrote(&mut self, end: u64) {
        if let Some(unfilled) = &mut self.unfilled {
            unfilled.defined = unfilled.defined.max(end.saturating_mul(self.datatype.size.into()));
        }
    }

    /// Fills all new space that was not written.
    pub fn finish(&mut self, place: &FileStorage<'_>) -> Result<()> {
        self.fill_to(place, u64::MAX)?;
        self.unfilled = None;
        Ok(())
    }

    /// Fills new space up to byte `end` of it.
    fn fill_to(&mut self, place: &FileStorage<'_>, end: u64) -> Result<()> {
        let Some(Unfilled { at, len, defined }) = self.unfilled else { return Ok(()) };
        let end = end.min(len);
        if end > defined {
            let begin = place.source.position(at)?.saturating_add(defined);
            fill(place.blob, begin, end - defined, self.filler())?;
            self.unfilled = Some(Unfilled { at, len, defined: end });
        }
        Ok(())
    }

    /// Returns the array of its elements, or, if `raw`, of the bytes of each element, for reading and writing.
    pub fn placed(&mut self, raw: bool, place: &FileStorage<'_>) -> Result<Placed> {
        if let Some(dataset) = &self.foreign {
            return if raw { dataset.raw() } else { dataset.array() };
        }
        let size = u64::from(self.datatype.size);
        let number = if raw {
            Number { stored: Stored::native(Kind::U8), decoder: None }
        } else {
            let none = || Error::new(Code::EBADTYPE, "its elements are no numbers");
            self.datatype.number().ok_or_else(none)?
        };
        let fill: Arc<[u8]> = self.fill.value.bytes().into();
        if !fill.is_empty() && fill.len() as u64 != size {
            return Err(bad(format!("its fill value has {} bytes, its elements have {size}", fill.len())));
        }
        let blob: Arc<dyn Blob> = place.blob.clone();
        let shape = self.shape(raw);
        let mut layout = Layout::Fill(Arc::clone(&fill));
        match &self.layout {
            DataLayout::Compact(data) => {
                let needed = self.bytes_needed()?;
                let data = usize::try_from(needed).ok().and_then(|needed| data.get(..needed));
                layout = Layout::Inline(data.ok_or_else(|| bad("compact data is too short"))?.into());
            }
            DataLayout::Contiguous { address: Some(at), size: has } if !shape.contains(&0) => {
                let needed = self.bytes_needed()?;
                if has.is_some_and(|has| has < needed) {
                    return Err(bad(format!("contiguous data needs {needed} bytes")));
                }
                let width = if raw { 1 } else { size };
                let begin = place.source.position(*at)?;
                layout = Layout::Strided { begin, strides: crate::dataset::steps(&shape, width) };
            }
            DataLayout::Contiguous { .. } => {}
            DataLayout::Chunked(_) => {
                let chunks = self.chunks(fill, place)?;
                layout = Layout::Chunked(if raw { chunks.as_bytes(size) } else { chunks });
            }
            DataLayout::Virtual(_) => {
                return Err(wrong("a new virtual dataset is read once its file is opened again"));
            }
        }
        let Number { stored, decoder } = number;
        let array = Array { shape, stored, decoder, layout, past_end: PastEnd::Zero };
        Ok(Placed { blob, array })
    }

    /// Returns the shape of its array; a raw one has the bytes of an element as its last dimension.
    fn shape(&self, raw: bool) -> Vec<u64> {
        let null = self.space.kind == SpaceKind::Null;
        let dims = if null { &[0][..] } else { &self.space.dims };
        dims.iter().copied().chain(raw.then_some(u64::from(self.datatype.size))).collect()
    }

    /// Returns its chunks, for reading and writing.
    fn chunks(&mut self, fill: Arc<[u8]>, place: &FileStorage<'_>) -> Result<ferrocdf_array::Chunks> {
        if let Some(chunks) = &self.chunks {
            return Ok(chunks.clone());
        }
        let DataLayout::Chunked(layout) = &self.layout else { return Err(wrong("a dataset without chunks")) };
        let (shape, chain) = (layout.shape.clone(), Chain::new(self.filters.clone(), &place.source.codecs));
        let chunks = ferrocdf_array::Chunks::writable(shape, self.store(place)?, Arc::new(chain), fill);
        self.chunks = Some(chunks.clone());
        Ok(chunks)
    }

    /// Returns the store of its chunks.
    pub fn store(&mut self, place: &FileStorage<'_>) -> Result<Arc<EditedChunks>> {
        if let Some(store) = &self.store {
            return Ok(store.clone());
        }
        let DataLayout::Chunked(layout) = &self.layout else { return Err(wrong("a dataset without chunks")) };
        let filtered = !self.filters.is_empty();
        let old = match layout.address {
            Some(_) => Some(Arc::new(DatasetChunks::new(place.source, layout, &self.space, filtered)?)),
            None => None,
        };
        let implicit = match (layout.index, layout.address) {
            (ChunkIndex::Implicit, Some(at)) => Some((at, counts(layout, &self.space))),
            _ => None,
        };
        let facts = Facts {
            blob: place.blob.clone(),
            base: place.source.base,
            space: place.space.clone(),
            bytes: chunk_bytes(layout)?,
            filtered,
            grows: (0..self.space.dims.len())
                .map(|dim| self.space.max(dim) != Some(self.space.dims[dim]))
                .collect(),
            implicit,
        };
        let store = Arc::new(EditedChunks::new(facts, old)?);
        self.store = Some(store.clone());
        Ok(store)
    }

    /// Returns the number of chunks of an implicit index.
    pub fn implicit_chunks(&self) -> u64 {
        let DataLayout::Chunked(layout) = &self.layout else { return 0 };
        counts(layout, &self.space).into_iter().fold(1, u64::saturating_mul)
    }

    /// Sets all elements of compact data.
    pub fn write_compact(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.layout {
            DataLayout::Compact(data) if data.len() == bytes.len() => {
                data.copy_from_slice(bytes);
                Ok(())
            }
            DataLayout::Compact(data) => {
                Err(wrong(format!("{} bytes for compact data of {}", bytes.len(), data.len())))
            }
            _ => Err(wrong("a dataset that is not compact")),
        }
    }

    /// Sets the lengths of its dimensions.
    pub fn extend(&mut self, dims: &[u64]) -> Result<()> {
        if dims.len() != self.space.dims.len() || self.space.kind != SpaceKind::Simple {
            return Err(wrong(format!("{} lengths for {} dimensions", dims.len(), self.space.dims.len())));
        }
        for (dim, (&old, &new)) in self.space.dims.iter().zip(dims).enumerate() {
            if new < old {
                return Err(wrong(format!("dimension {dim} has {old} elements, and cannot become shorter")));
            }
            if self.space.max(dim).is_some_and(|max| new > max) {
                return Err(wrong(format!("dimension {dim} cannot have {new} elements")));
            }
        }
        if !matches!(self.layout, DataLayout::Chunked(_)) && dims != self.space.dims {
            return Err(wrong("only chunked datasets can grow"));
        }
        self.space.dims = dims.to_vec();
        Ok(())
    }

    /// Writes lengths and layout into the messages of the header.
    pub fn update_header(&mut self, header: &mut EditedHeader, sizes: Sizes) -> Result<()> {
        for message in &mut header.messages {
            match message.kind {
                kind::DATASPACE if message.flags & SHARED == 0 => {
                    // In all versions the lengths are behind a prefix of fixed size.
                    let first = if message.body.first() == Some(&1) { 8 } else { 4 };
                    for (dim, len) in self.space.dims.iter().enumerate() {
                        let at = first + dim * sizes.length;
                        let into = message.body.get_mut(at..at + sizes.length);
                        let into = into.ok_or_else(|| bad("a dataspace message that is too short"))?;
                        into.copy_from_slice(&len.to_le_bytes()[..sizes.length]);
                    }
                }
                kind::DATASPACE => {
                    let body = self.space.encode(sizes)?;
                    *message = super::header::message(kind::DATASPACE, message.flags & !SHARED, body);
                }
                kind::LAYOUT if self.written.as_ref() != Some(&self.layout) => {
                    message.body = self.layout.encode(sizes)?
                }
                _ => {}
            }
        }
        self.written = Some(self.layout.clone());
        Ok(())
    }
}

/// Returns the number of bytes of a decoded chunk.
pub(super) fn chunk_bytes(layout: &ChunkedLayout) -> Result<u64> {
    let bytes = layout.shape.iter().try_fold(layout.element, |bytes, &len| bytes.checked_mul(len));
    bytes.ok_or_else(|| bad(format!("chunks of shape {:?}", layout.shape)))
}

/// Returns the number of chunks along each dimension: for its maximum length, or for its present one if it is unlimited.
fn counts(layout: &ChunkedLayout, space: &Dataspace) -> Vec<u64> {
    let count =
        |(dim, &chunk): (usize, &u64)| space.max(dim).unwrap_or(space.dims[dim]).div_ceil(chunk.max(1));
    layout.shape.iter().enumerate().map(count).collect()
}

/// Writes `value` again and again over `len` bytes.
fn fill(blob: &Arc<dyn BlobMut>, at: u64, len: u64, value: &[u8]) -> Result<()> {
    let many = len.at_most((STEP / value.len()).max(1));
    let piece = value.repeat(many);
    let mut done = 0;
    while done < len {
        let now = (len - done).at_most(piece.len());
        blob.write_at(at + done, &piece[..now])?;
        done += now as u64;
    }
    Ok(())
}

/// Copies bytes of the file. Bytes behind its end are zeros.
fn copy(place: &FileStorage<'_>, from: Address, to: Address, len: u64) -> Result<()> {
    let mut piece = vec![0; len.at_most(STEP)];
    let mut done = 0;
    while done < len {
        let now = &mut piece[..(len - done).at_most(STEP)];
        place.blob.read_zero_filled_at(place.source.position(from)? + done, now)?;
        place.blob.write_at(place.source.position(to)? + done, now)?;
        done += now.len() as u64;
    }
    Ok(())
}
