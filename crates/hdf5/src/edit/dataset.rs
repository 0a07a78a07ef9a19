//! Datasets that are edited: their messages, and their elements as arrays that can be written.
//!
//! An array is made once for a dataset, and only its shape changes afterwards, so that what the engine holds back of it
//! stays in one place.

use std::sync::{Arc, Mutex};

use ferrocdf_array::{Array, Kind, Layout, PastEnd, Stored};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::{Blob, BlobMut};

use super::chunks::{EditedChunks, Facts};
use super::header::{CONSTANT, EditedHeader, SHARED, message};
use super::space::{Extent, FileSpace, lock};
use super::{AllocTime, DatasetSpec, FillTime, NewLayout, Profile};
use crate::chunks::DatasetChunks;
use crate::messages::{
    ChunkIndex, ChunkedLayout, DataLayout, Dataspace, Datatype, Fill, FillMessage, SpaceKind, pipeline,
};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::wire::bad;
use crate::{Address, Dataset, Number, Placed, Sizes, Source};

/// The longest data in a header: with the rest of its message less than 64 KiB.
const COMPACT: u64 = 0xffff - 16;
/// What is filled at a time.
const FILLED: usize = 1 << 20;

/// The data of a dataset.
#[derive(Debug)]
pub(super) struct Data {
    pub datatype: Datatype,
    pub space: Dataspace,
    pub fill: FillMessage,
    pub layout: DataLayout,
    /// The layout as the header has it; `None` if its message has to be made anew: an index that is made here goes with a
    /// message that is made here, since versions of the message mean indexes of other widths.
    pub written: Option<DataLayout>,
    pub filters: Vec<Step>,
    /// What chunks are put into, once it was needed.
    pub store: Option<Arc<EditedChunks>>,
    /// Where the committed index of its chunks is, once that was looked for.
    pub blocks: Option<Vec<Extent>>,
    /// Space taken for its elements that is still to be filled.
    unfilled: Option<Unfilled>,
    /// Whether contiguous elements lie in space that no committed state uses.
    is_fresh: bool,
    /// Data that is only read: virtual, or in other files.
    foreign: Option<Dataset>,
    /// Its chunks, once they were needed; numbers and bytes of elements are two views of them.
    chunks: Option<ferrocdf_array::Chunks>,
}

/// Space that is to be filled where nothing is written: before anyone sees it.
#[derive(Clone, Copy, Debug)]
struct Unfilled {
    at: Address,
    len: u64,
    /// The bytes, from the first on, that are defined.
    defined: u64,
}

/// What the arrays of a file have in common.
pub(super) struct FileStorage<'a> {
    pub blob: &'a Arc<dyn BlobMut>,
    pub source: &'a Source,
    pub space: &'a Arc<Mutex<FileSpace>>,
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(Code::EINVAL, what)
}

/// A new dataset: its data, and the messages of its header. `committed` is the place of its datatype, if that is a
/// committed one.
pub(super) fn create(
    spec: &DatasetSpec,
    mut datatype: Datatype,
    committed: Option<Address>,
    profile: Profile,
    sizes: Sizes,
) -> Result<(Data, Vec<HeaderMessage>)> {
    let size = u64::from(datatype.size);
    if committed.is_none() {
        datatype.settle();
    }
    let space = spec.space.clone();
    check_space(&space)?;
    if spec.fill.as_ref().is_some_and(|fill| fill.len() as u64 != size) {
        return Err(wrong(format!("a fill value that has not the {size} bytes of an element")));
    }
    let bytes = space.elements().and_then(|elements| elements.checked_mul(size));
    let too_large = || wrong("more bytes than 64 bits can count");
    let grows = (0..space.dims.len()).any(|dim| space.max(dim) != Some(space.dims[dim]));
    let chunked = matches!(spec.layout, NewLayout::Chunked(_));
    if !chunked && grows {
        return Err(wrong("only chunked datasets can grow"));
    }
    if !chunked && !spec.filters.is_empty() {
        return Err(wrong("only chunks can be filtered"));
    }
    let value = spec.fill.clone().map_or(Fill::Default, Fill::Value);
    let layout = match &spec.layout {
        NewLayout::Compact => {
            let bytes = bytes.ok_or_else(too_large)?;
            if bytes > COMPACT {
                return Err(wrong(format!("{bytes} bytes do not fit in a header")));
            }
            let mut data = vec![0; bytes as usize];
            for element in data.chunks_exact_mut(datatype.size.max(1) as usize) {
                let fill = value.bytes();
                element[..fill.len()].copy_from_slice(fill);
            }
            DataLayout::Compact(data)
        }
        NewLayout::Contiguous => {
            DataLayout::Contiguous { address: None, size: Some(bytes.ok_or_else(too_large)?) }
        }
        // Of more chunks than can be counted only those are there that are written.
        NewLayout::Chunked(shape) => DataLayout::Chunked(chunked_layout(shape, spec, size, profile)?),
    };
    let allocation = match (spec.alloc_time, &layout) {
        (AllocTime::Early, _) | (_, DataLayout::Compact(_)) => 1,
        (AllocTime::Incremental, _) | (AllocTime::Usual, DataLayout::Chunked(_)) => 3,
        _ => 2,
    };
    let writing = match spec.fill_time {
        FillTime::Allocation => 0,
        FillTime::Never => 1,
        FillTime::IfSet => 2,
    };
    let fill = FillMessage { value, allocation, writing };
    let mut messages = vec![message(kind::DATASPACE, 0, space.encode(sizes)?)];
    messages.push(match committed {
        None => message(kind::DATATYPE, CONSTANT, datatype.encode()?),
        Some(at) => message(kind::DATATYPE, CONSTANT | SHARED, crate::objects::shared::committed(at, sizes)?),
    });
    messages.push(message(kind::FILL, CONSTANT, fill.encode()?));
    messages.push(message(kind::LAYOUT, 0, layout.encode(sizes)?));
    if !spec.filters.is_empty() {
        messages.push(message(kind::PIPELINE, CONSTANT, pipeline::encode(&spec.filters)?));
    }
    let filters = spec.filters.clone();
    let data = Data {
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
    };
    Ok((data, messages))
}

fn check_space(space: &Dataspace) -> Result<()> {
    if space.kind != SpaceKind::Simple && !space.dims.is_empty() {
        return Err(wrong("dimensions of a space that has none"));
    }
    if let Some(max) = &space.max {
        if max.len() != space.dims.len() {
            return Err(wrong("as many largest lengths as dimensions are needed"));
        }
        let beyond = |(&len, max): (&u64, &Option<u64>)| max.is_some_and(|max| len > max);
        if space.dims.iter().zip(max).any(beyond) {
            return Err(wrong(format!("dimensions {:?}, which may be {max:?} at most", space.dims)));
        }
    }
    Ok(())
}

/// How chunks are found, by the rules of the format.
fn chunked_layout(
    shape: &[u64],
    spec: &DatasetSpec,
    element: u64,
    profile: Profile,
) -> Result<ChunkedLayout> {
    let space = &spec.space;
    if shape.is_empty() || shape.len() != space.dims.len() || shape.contains(&0) {
        return Err(wrong(format!("chunks of shape {shape:?} in a dataset of shape {:?}", space.dims)));
    }
    let bytes = shape.iter().try_fold(element, |bytes, &len| bytes.checked_mul(len));
    if bytes.is_none_or(|bytes| bytes > u64::from(u32::MAX)) {
        return Err(wrong(format!("chunks of shape {shape:?} have 4 GiB or more")));
    }
    let filtered = !spec.filters.is_empty();
    let index = match profile {
        Profile::Compatible => ChunkIndex::BTree1,
        Profile::Modern => ChunkIndex::best(shape, space, filtered, spec.alloc_time == AllocTime::Early),
    };
    let index = match index {
        // The message has its full length from the start.
        ChunkIndex::Single(_) => ChunkIndex::Single(filtered.then_some((0, 0))),
        index => index,
    };
    Ok(ChunkedLayout { shape: shape.to_vec(), element, plain_edges: false, index, address: None })
}

impl Data {
    /// The data of a committed dataset.
    pub fn load(dataset: Dataset) -> Data {
        let foreign = matches!(dataset.layout(), DataLayout::Virtual(_)) || dataset.external().is_some();
        Data {
            datatype: dataset.datatype().clone(),
            space: dataset.dataspace().clone(),
            fill: dataset.fill().clone(),
            layout: dataset.layout().clone(),
            written: Some(dataset.layout().clone()),
            filters: dataset.filters().to_vec(),
            store: None,
            blocks: None,
            unfilled: None,
            is_fresh: false,
            foreign: foreign.then_some(dataset),
            chunks: None,
        }
    }

    /// Bytes of all elements.
    fn bytes_needed(&self) -> Result<u64> {
        let bytes = self.space.elements().and_then(|count| count.checked_mul(self.datatype.size.into()));
        bytes.ok_or_else(|| bad(format!("its shape {:?} is more than 64 bits hold", self.space.dims)))
    }

    /// Whether space was taken for any element.
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

    /// Takes space for contiguous elements, or for those of an implicit index, if there is none. It is filled by
    /// [`finish`](Data::finish) where the dataset wants it. Says whether anything changed.
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

    /// Takes its elements for part of the committed state.
    pub fn seal(&mut self) {
        self.is_fresh = false;
        if let Some(store) = &self.store {
            store.seal();
        }
    }

    /// Copies contiguous elements of the committed state to space that it does not use. Says whether that was done.
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

    /// What new space is filled with: the bytes of an element, or zero.
    fn filler(&self) -> &[u8] {
        const NEVER: u8 = 1;
        let value = self.fill.value.bytes();
        let wanted = self.fill.writing != NEVER && value.iter().any(|&byte| byte != 0);
        if wanted { value } else { &[0] }
    }

    /// Fills new space before an element that is written next, in the order in which elements are stored; all of it where
    /// they are not stored in that order.
    pub fn before_write(&mut self, place: &FileStorage<'_>, first: u64) -> Result<()> {
        match &self.layout {
            DataLayout::Contiguous { .. } => {
                self.fill_to(place, first.saturating_mul(self.datatype.size.into()))
            }
            _ => self.finish(place),
        }
    }

    /// Takes note that all elements before one were written, or filled.
    pub fn wrote(&mut self, end: u64) {
        if let Some(unfilled) = &mut self.unfilled {
            unfilled.defined = unfilled.defined.max(end.saturating_mul(self.datatype.size.into()));
        }
    }

    /// Fills all new space that is not defined.
    pub fn finish(&mut self, place: &FileStorage<'_>) -> Result<()> {
        self.fill_to(place, u64::MAX)?;
        self.unfilled = None;
        Ok(())
    }

    /// Fills new space up to a byte of it.
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

    /// The elements, to be read and written.
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
            DataLayout::Virtual(_) => return Err(bad("a virtual dataset that is no other's")),
        }
        let Number { stored, decoder } = number;
        let array = Array { shape, stored, decoder, layout, past_end: PastEnd::Zero };
        Ok(Placed { blob, array })
    }

    fn shape(&self, raw: bool) -> Vec<u64> {
        let null = self.space.kind == SpaceKind::Null;
        let dims = if null { &[0][..] } else { &self.space.dims };
        dims.iter().copied().chain(raw.then_some(u64::from(self.datatype.size))).collect()
    }

    /// Its chunks, to be read and written.
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

    /// What takes chunks.
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

    /// How many chunks an implicit index has.
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

    /// Writes dims and layout into the messages of the header.
    pub fn settle(&mut self, header: &mut EditedHeader, sizes: Sizes) -> Result<()> {
        for message in &mut header.messages {
            match message.kind {
                kind::DATASPACE if message.flags & SHARED == 0 => {
                    // The lengths have their place in all versions.
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

/// Bytes of a chunk without filters.
pub(super) fn chunk_bytes(layout: &ChunkedLayout) -> Result<u64> {
    let bytes = layout.shape.iter().try_fold(layout.element, |bytes, &len| bytes.checked_mul(len));
    bytes.ok_or_else(|| bad(format!("chunks of shape {:?}", layout.shape)))
}

/// How many chunks there may be in each dimension that cannot grow, and how many there are in the others.
fn counts(layout: &ChunkedLayout, space: &Dataspace) -> Vec<u64> {
    let count =
        |(dim, &chunk): (usize, &u64)| space.max(dim).unwrap_or(space.dims[dim]).div_ceil(chunk.max(1));
    layout.shape.iter().enumerate().map(count).collect()
}

/// Writes a value again and again.
fn fill(blob: &Arc<dyn BlobMut>, at: u64, len: u64, value: &[u8]) -> Result<()> {
    let many = (FILLED / value.len()).max(1).min(usize::try_from(len).unwrap_or(usize::MAX));
    let piece = value.repeat(many);
    let mut done = 0;
    while done < len {
        let now = (len - done).min(piece.len() as u64);
        blob.write_at(at + done, &piece[..now as usize])?;
        done += now;
    }
    Ok(())
}

/// Copies bytes of the file that may lie behind its end, where they are zeros.
fn copy(place: &FileStorage<'_>, from: Address, to: Address, len: u64) -> Result<()> {
    let mut piece = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(FILLED)];
    let mut done = 0;
    while done < len {
        let now = &mut piece[..(len - done).min(FILLED as u64) as usize];
        place.blob.read_zero_filled_at(place.source.position(from)? + done, now)?;
        place.blob.write_at(place.source.position(to)? + done, now)?;
        done += now.len() as u64;
    }
    Ok(())
}
