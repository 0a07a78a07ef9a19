//! Fetching whole encoded chunks from a blob or from objects, and decoding them.

use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::Chain;
use ferrocdf_store::{Blob, Cost, Version};

use super::cache;
use super::decoded::name;
use super::fetch_plan::coalesce;
use super::index::{ChunkLocation, ChunkObjects, FetchedObject};
use crate::PastEnd;
use crate::requests::{BatchLimit, Windows};
use crate::scratch::Scratch;

/// The stored chunks of one array.
#[derive(Clone, Copy)]
pub(super) struct StoredChunks<'a> {
    pub(super) blob: &'a dyn Blob,
    pub(super) past_end: PastEnd,
    pub(super) chain: &'a Chain,
    /// Number of bytes of a decoded chunk.
    pub(super) chunk_len: u64,
    /// The objects that hold chunks; `None` if all chunks are in the blob.
    pub(super) objects: Option<&'a dyn ChunkObjects>,
}

impl StoredChunks<'_> {
    /// Returns the cost of requests: that of the store if chunks are in objects.
    pub(super) fn cost(&self) -> Cost {
        self.objects.map_or_else(|| self.blob.cost(), |objects| objects.store().cost())
    }

    /// Fills `into` from position `at` of the blob.
    pub(super) fn fetch(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.past_end.fetch(self.blob, at, into)
    }

    /// Checks that a range lies within the blob, so that no memory is allocated for a length that is wrong.
    pub(super) fn check_inside(&self, begin: u64, end: u64) -> Result<()> {
        let size = self.blob.size()?;
        if end <= size {
            return Ok(());
        }
        let what =
            format!("chunk at bytes {begin} to {end}: past the end of the file, which has {size} bytes");
        Err(Error::new(Code::ETRUNC, what))
    }

    /// Fetches and decodes the whole chunk with these coordinates; `None` if it is missing.
    pub(super) fn read(&self, key: &[u64], location: ChunkLocation) -> Result<Option<Vec<u8>>> {
        self.read_version(key, location).map(|(chunk, _)| chunk)
    }

    /// Fetches and decodes a chunk as [`read`](StoredChunks::read) does, and returns the version of its object too.
    pub(super) fn read_version(
        &self,
        key: &[u64],
        location: ChunkLocation,
    ) -> Result<(Option<Vec<u8>>, Option<Version>)> {
        let ChunkLocation::At { at: position, len, mask } = location else {
            return Scratch::with(|scratch| {
                let found = self.get_object(key, location, &mut scratch.window)?;
                let chunk = self.decode_fetched(key, location, found.as_ref().map(|(_, bytes)| *bytes))?;
                Ok((chunk, found.map(|(filled, _)| filled.version)))
            });
        };
        self.check_inside(position, position.saturating_add(len))?;
        Scratch::with(|scratch| {
            // `check_inside` bounds `len` by the size of the blob.
            let stored = scratch.window.at(position, len.to_usize("encoded bytes")?);
            self.fetch(position, stored)?;
            let chunk = self.decode(stored, mask).map_err(|error| error.at(name(key, position)))?;
            Ok((Some(chunk), None))
        })
    }

    /// Decodes the encoded bytes of a whole chunk; `None` if it is missing. `key` and `location` are for messages, `location` has
    /// the filter mask as well.
    pub(super) fn decode_fetched(
        &self,
        key: &[u64],
        location: ChunkLocation,
        stored: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let (Some(mask), Some(stored)) = (location.mask(), stored) else { return Ok(None) };
        self.decode(stored, mask).map_err(|error| error.at(self.name(key, location))).map(Some)
    }

    fn decode(&self, stored: &[u8], mask: u32) -> Result<Vec<u8>> {
        let chunk_len = self.chunk_len.saturate();
        self.chain.check_size(mask, stored.len(), chunk_len)?;
        if Chain::is_implausible(stored.len(), chunk_len) {
            return self.chain.decode_unverified(mask, stored, chunk_len);
        }
        let mut chunk = cache::buffer(chunk_len);
        self.chain.decode(mask, stored, &mut chunk)?;
        Ok(chunk)
    }

    /// Checks that ranges lie within the blob before memory is allocated for them. The ranges of the first fetch are not checked
    /// if they have at most the bytes of one batch: the size of a slow blob comes with its first answer, and no request is sent
    /// only for the size. The caller then calls [`check_inside`](StoredChunks::check_inside) if the answer is short.
    pub(super) fn check_before(
        &self,
        ranges: impl Iterator<Item = Range<u64>> + Clone,
        is_first: bool,
    ) -> Result<()> {
        let most = BatchLimit::of(&self.cost()).bytes;
        let bytes = ranges.clone().fold(0u64, |all, range| all.saturating_add(range.end - range.start));
        if is_first && bytes <= most {
            return Ok(());
        }
        let mut ranges = ranges;
        ranges.try_for_each(|range| self.check_inside(range.start, range.end))
    }

    /// Fetches whole chunks, given by their coordinates and locations, with one batch of requests. The caller bounds the sum of
    /// their bytes. `is_first` means that nothing was fetched before; see [`check_before`](StoredChunks::check_before). The
    /// memory of `encoded`, an earlier batch, is reused.
    pub(super) fn fetch_many<'c>(
        &self,
        chunks: impl Iterator<Item = (&'c [u64], ChunkLocation)>,
        is_first: bool,
        mut encoded: EncodedChunks,
    ) -> Result<EncodedChunks> {
        let mut found: Vec<(u64, u64, usize)> = Vec::new();
        let (mut in_objects, mut numbers) = (Vec::new(), Vec::new());
        encoded.chunks.clear();
        for (number, (key, location)) in chunks.enumerate() {
            encoded.chunks.push(FetchedChunk::Missing);
            match location {
                ChunkLocation::Missing => {}
                ChunkLocation::At { at, len, .. } => found.push((at, len, number)),
                ChunkLocation::Object { .. } => {
                    in_objects.push((key, location));
                    numbers.push(number);
                }
            }
        }
        found.sort_unstable();
        let fetches = coalesce(found.iter().map(|&(at, len, _)| Some((at, len))), &self.cost());
        let ranges = fetches.iter().map(|fetch| fetch.range.clone());
        self.check_before(ranges.clone(), is_first)?;
        let check = |number: usize| {
            let range: &Range<u64> = &fetches[number].range;
            self.check_inside(range.start, range.end)
        };
        if !fetches.is_empty() {
            encoded.windows.read(self.blob, self.past_end, ranges, check)?;
        }
        let mut found = found.into_iter();
        for (window, fetch) in fetches.iter().enumerate() {
            for (at, len, number) in found.by_ref().take(fetch.chunks) {
                let begin = at.saturating_sub(fetch.range.start).saturate();
                encoded.chunks[number] = FetchedChunk::Window(window, begin..begin + len.saturate());
            }
        }
        for (number, found) in numbers.into_iter().zip(self.get_objects(&in_objects)?) {
            encoded.chunks[number] = found.map_or(FetchedChunk::Missing, FetchedChunk::Object);
        }
        Ok(encoded)
    }
}

/// The encoded bytes of the chunks of one batch.
#[derive(Default)]
pub(super) struct EncodedChunks {
    windows: Windows,
    chunks: Vec<FetchedChunk>,
}

/// The encoded bytes of one chunk.
enum FetchedChunk {
    Missing,
    /// A range of the window with this number.
    Window(usize, Range<usize>),
    /// An object, or a range of one.
    Object(FetchedObject),
}

impl EncodedChunks {
    /// Returns the encoded bytes of the chunk with this number in the batch; `None` if it is missing.
    pub(super) fn get(&self, number: usize) -> Option<&[u8]> {
        match &self.chunks[number] {
            FetchedChunk::Missing => None,
            FetchedChunk::Window(window, range) => Some(&self.windows.get(*window)[range.clone()]),
            FetchedChunk::Object((_, bytes)) => Some(bytes),
        }
    }

    /// Returns the version of the object that has the chunk with this number in the batch.
    pub(super) fn version(&self, number: usize) -> Option<&Version> {
        match &self.chunks[number] {
            FetchedChunk::Object((filled, _)) => Some(&filled.version),
            FetchedChunk::Missing | FetchedChunk::Window(..) => None,
        }
    }
}
