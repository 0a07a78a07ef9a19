//! Chunked elements: their header, and the index that finds the chunks (Specification, "Chunked Elements"; `hchunks.c`).
//!
//! A Vdata lists the chunks that were written: coordinates, tag and reference number. A compressed chunk is a special element of its
//! own, whose header names the object with the compressed bytes. The table is read when the first chunk is located. From a near source
//! the header of a chunk is read when the chunk is; from a slow one the headers of a thousand chunks or more are one batch, so that
//! later reads of other chunks wait for nothing but the data.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ferrocdf_array::{ChunkIndex, ChunkLocation, count_in_box};
use ferrocdf_bytes::{Context, Result, ToUsize};
use ferrocdf_codec::Chain;
use ferrocdf_store::{Blob, ReadRequest, forward, read_parts};

use crate::budget::Use;
use crate::element::compressed_pieces;
use crate::large_chunks::LargeChunks;
use crate::lazy::Lazy;
use crate::pieces::{Piece, PieceBlob, Place};
use crate::special::{self, ChunkedHeader, CompressedHeader, Compression, Special};
use crate::wire::{bad, decode};
use crate::{File, tags};

/// A chunked element.
#[derive(Clone, Debug)]
pub struct ChunkedElement {
    /// Length of each dimension in elements.
    pub dims: Vec<u64>,
    /// The shape of a chunk in elements.
    pub chunk: Vec<u64>,
    /// Bytes of an element.
    pub number_size: u64,
    /// Bytes of an element that was never written.
    pub fill: Vec<u8>,
    /// How chunks are compressed; `None` if they are not.
    pub compression: Option<Compression>,
    /// Tag and reference number of the element.
    owner: (u16, u16),
    /// The Vdata that lists the chunks.
    table: u16,
    /// Number of coordinates of a chunk in the table.
    rank: usize,
    /// Number of elements.
    elements: u64,
}

impl ChunkedElement {
    /// Decodes the header of a chunked element.
    pub(crate) fn decode(file: &File, owner: (u16, u16), at: u64, bytes: &[u8]) -> Result<ChunkedElement> {
        let header = decode(ChunkedHeader::default(), "chunked element", at, bytes)?;
        if header.dims.is_empty() || header.number_size == 0 {
            return Err(bad("a chunked element without dimensions or with elements of 0 bytes"));
        }
        if let Some(number) = header.dims.iter().position(|dim| dim.chunk_length == 0) {
            return Err(bad(format!("chunks have no length along dimension {number}")));
        }
        // Two bytes each.
        let table = header.table_reference as u16;
        if header.table_tag as u16 != tags::VH || file.descriptor(tags::VH, table).is_none() {
            return Err(bad(format!("the chunk table {}/{table} is no Vdata of the file", header.table_tag)));
        }
        Ok(ChunkedElement {
            dims: header.dims.iter().map(|dim| dim.length).collect(),
            chunk: header.dims.iter().map(|dim| dim.chunk_length).collect(),
            number_size: header.number_size,
            fill: header.fill,
            compression: header.compression.as_ref().map(Compression::try_from).transpose()?,
            owner,
            table,
            rank: header.dims.len(),
            elements: header.length,
        })
    }

    /// Splits each element, a pixel, into its components along a dimension behind the others, of which each chunk has all.
    pub(crate) fn split_pixels(self, components: u64) -> Result<ChunkedElement> {
        let ChunkedElement { mut dims, mut chunk, number_size, elements, .. } = self;
        match number_size.checked_div(components) {
            Some(size) if size.checked_mul(components) == Some(number_size) => {
                dims.push(components);
                chunk.push(components);
                let elements = elements.saturating_mul(components);
                Ok(ChunkedElement { dims, chunk, number_size: size, elements, ..self })
            }
            _ => Err(bad(format!("pixels of {number_size} bytes with {components} components"))),
        }
    }

    /// Returns the number of bytes, decoded.
    pub fn len(&self) -> u64 {
        self.elements.saturating_mul(self.number_size)
    }

    /// True if the element has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of a chunk, decoded; `None` if it is beyond 2^64.
    pub fn chunk_bytes(&self) -> Option<u64> {
        self.chunk.iter().try_fold(self.number_size, |bytes, &len| bytes.checked_mul(len))
    }

    /// Returns the number of the chunk with these coordinates; `None` outside the element. The first dimension may grow.
    fn number(&self, chunk: &[u64]) -> Option<u64> {
        let mut number = 0u64;
        for (dim, (&at, (&len, &chunk_len))) in
            chunk.iter().zip(self.dims.iter().zip(&self.chunk)).enumerate()
        {
            let count = len.div_ceil(chunk_len);
            if dim > 0 && at >= count {
                return None;
            }
            number = number.checked_mul(count.max(1))?.checked_add(at)?;
        }
        Some(number)
    }

    /// Reads the table of chunks: reference numbers by number of the chunk.
    fn read_table(&self, file: &File) -> Result<BTreeMap<u64, u16>> {
        let len = file.element(tags::VS, self.table)?.map_or(0, |element| element.len);
        file.charge((Use::ChunkTable, self.owner.0, self.owner.1), len.saturating_mul(ROW_COST))?;
        // Both before any error, so that a slow source sends them in one round.
        let (table, bytes) = (file.vdata(self.table), file.bytes(tags::VS, self.table));
        let (table, bytes) = (table?, bytes?.unwrap_or_default());
        table.check_stored(bytes.len() as u64)?;
        let named = |name: &[u8], order: usize, size: usize| {
            let field = table.fields.iter().find(|field| field.name == name);
            let field = field.filter(|field| field.order == order as u64 && field.number.size() == size);
            field.map(|field| table.values_in(&bytes, field)).ok_or_else(|| {
                bad(format!("the chunk table has no field \"{}\" of {order} numbers", name.escape_ascii()))
            })
        };
        let rank = self.rank;
        let origins = named(b"origin", rank, 4)?;
        let (chunk_tags, references) = (named(b"chk_tag", 1, 2)?, named(b"chk_ref", 1, 2)?);
        let mut found = BTreeMap::new();
        let rows =
            origins.chunks_exact(rank.saturating_mul(4)).zip(pairs(&chunk_tags)).zip(pairs(&references));
        for ((origin, tag), reference) in rows {
            let quads = origin.as_chunks().0.iter();
            let chunk: Vec<u64> = quads.map(|&quad| u64::from(u32::from_be_bytes(quad))).collect();
            if tag != tags::CHUNK && tag != tags::NULL {
                return Err(bad(format!("chunk {chunk:?} has tag {tag}, which is no chunk")));
            }
            if let Some(number) = self.number(&chunk).filter(|_| tag == tags::CHUNK) {
                found.insert(number, reference);
            }
        }
        Ok(found)
    }
}

/// Returns the 16-bit numbers of bytes.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks().0.iter().map(|&pair| u16::from_be_bytes(pair))
}

/// What a header that was read ahead says.
#[derive(Clone, Copy, Debug)]
enum HeaderAhead {
    /// The reference number of the compressed bytes.
    Data(u16),
    /// Nothing of use. A read of the chunk reads the header itself, and tells what is wrong with it.
    Unusable,
}

/// Bytes of memory for a byte of a chunk table: a row becomes an entry of two maps. The budget of a file is four times its size, so the tables
/// of datasets that share none fit in it.
const ROW_COST: u64 = 4;

/// Number of headers of the first batch, and the maximum of any: a batch has as many as were read before it. A table of some hundred
/// chunks, as files have, is one batch, and a read of one chunk of many thousands waits for a part of them only.
const FIRST_HEADERS: usize = 1 << 10;
const MOST_HEADERS: usize = 10 << 10;

/// The index of a chunked element.
#[derive(Debug)]
pub(crate) struct Index {
    file: File,
    element: ChunkedElement,
    table: Lazy<BTreeMap<u64, u16>>,
    /// The locations of compressed chunks whose headers were read.
    located: Mutex<HashMap<u64, ChunkLocation>>,
    /// What headers of a slow source say, by the reference number of the chunk.
    headers: Mutex<HashMap<u16, HeaderAhead>>,
    scattered: Arc<ScatteredChunks>,
    large: LargeChunks,
}

impl Index {
    pub fn new(file: &File, element: &ChunkedElement, chain: Arc<Chain>) -> Index {
        let scattered = Arc::new(ScatteredChunks { blob: file.blob().clone(), chunks: RwLock::default() });
        let chunk_len = element.chunk_bytes().unwrap_or(u64::MAX);
        let large = LargeChunks::new(file.decoding(), scattered.clone(), chain, chunk_len);
        let (table, located, headers) = Default::default();
        Index { file: file.clone(), element: element.clone(), table, located, headers, scattered, large }
    }

    /// Returns the bytes that locations are about.
    pub fn blob(&self) -> Arc<dyn Blob> {
        self.scattered.clone()
    }

    fn table(&self) -> Result<&BTreeMap<u64, u16>> {
        self.table.get(|| {
            // All that the table needs is one task, so the rounds of a slow source are as many as its structures are deep.
            let read = || self.element.read_table(&self.file).at(|| "chunk table");
            self.file.for_each(&[()], |()| read()).pop().unwrap_or_else(|| Ok(BTreeMap::new()))
        })
    }

    /// Returns the numbers of chunks: of the element as it is, and of those that are stored.
    pub fn counts(&self) -> Result<(u64, u64)> {
        let all = self.element.dims.iter().zip(&self.element.chunk);
        let all = all.fold(1u64, |all, (len, &chunk)| all.saturating_mul(len.div_ceil(chunk)));
        Ok((all, self.table()?.len() as u64))
    }

    /// Returns the bytes of all stored chunks, as they are stored.
    pub fn stored_bytes(&self) -> Result<u64> {
        let chunks: Vec<(u64, u16)> =
            self.table()?.iter().map(|(&number, &reference)| (number, reference)).collect();
        let locations = self.locations(&chunks)?;
        let len = |location: &ChunkLocation| match location {
            ChunkLocation::At { len, .. } => *len,
            _ => 0,
        };
        Ok(locations.iter().map(len).fold(0, u64::saturating_add))
    }

    /// Returns the locations of chunks, by number and reference number. No lock is held while bytes are fetched, so other threads read
    /// chunks that are located meanwhile.
    fn locations(&self, chunks: &[(u64, u16)]) -> Result<Vec<ChunkLocation>> {
        let unknown: Vec<(u64, u16)> = {
            let located = self.located();
            chunks.iter().filter(|(number, _)| !located.contains_key(number)).copied().collect()
        };
        if !unknown.is_empty() {
            self.read_headers_ahead(&unknown)?;
        }
        let found = self.file.for_each(&unknown, |&(_, reference)| self.read_location(reference));
        let mut located = self.located();
        for (&(number, reference), pieces) in unknown.iter().zip(found) {
            let pieces = pieces.at(|| format!("chunk {reference}"))?;
            // Another thread may have located it too.
            located.entry(number).or_insert_with(|| self.scattered.location(&self.file, pieces));
        }
        Ok(chunks.iter().map(|(number, _)| located.get(number).copied().unwrap_or_default()).collect())
    }

    fn located(&self) -> MutexGuard<'_, HashMap<u64, ChunkLocation>> {
        self.located.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from a slow source the headers of chunks and of more chunks that are probably wanted next, in one batch.
    ///
    /// # Errors
    /// Those of the table. Those of the headers are left to the reads that need them.
    fn read_headers_ahead(&self, wanted: &[(u64, u16)]) -> Result<()> {
        if self.element.compression.is_none() || self.file.blob().cost().is_near() {
            return Ok(());
        }
        let (table, first) = (self.table()?, wanted.iter().map(|&(number, _)| number).min().unwrap_or(0));
        let batch: Vec<u16> = {
            let headers = self.headers();
            if wanted.iter().all(|(_, reference)| headers.contains_key(reference)) {
                return Ok(());
            }
            let count = headers.len().clamp(FIRST_HEADERS, MOST_HEADERS).max(wanted.len());
            let next = table.range(first..).chain(table.range(..first)).map(|(_, &reference)| reference);
            let all = wanted.iter().map(|&(_, reference)| reference).chain(next);
            let mut seen = HashSet::new();
            all.filter(|&it| !headers.contains_key(&it) && seen.insert(it)).take(count).collect()
        };
        let range = |reference: &u16| {
            let descriptor = self.file.descriptor(tags::CHUNK, *reference)?;
            let (at, len) = descriptor.place.filter(|&(_, len)| descriptor.is_special && len > 0)?;
            Some((*reference, at, len))
        };
        let ranges: Vec<(u16, u64, u64)> = batch.iter().filter_map(range).collect();
        const HEADER: usize = special::HEADER;
        let mut bytes = vec![0; ranges.len().saturating_mul(HEADER)];
        let mut requests = Vec::with_capacity(ranges.len());
        for (&(_, at, len), into) in ranges.iter().zip(bytes.chunks_mut(HEADER)) {
            let len = len.at_most(HEADER);
            requests.push(ReadRequest::new(at, &mut into[..len]));
        }
        if self.file.read_many(&mut requests).is_err() {
            return Ok(());
        }
        let mut headers = self.headers();
        headers.extend(batch.into_iter().map(|reference| (reference, HeaderAhead::Unusable)));
        for ((reference, at, _), request) in ranges.iter().zip(&requests) {
            if let Ok(data) = self.data_of(*at, request.bytes()) {
                headers.insert(*reference, HeaderAhead::Data(data));
            }
        }
        Ok(())
    }

    fn headers(&self) -> MutexGuard<'_, HashMap<u16, HeaderAhead>> {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pieces of a chunk as it is stored.
    fn read_location(&self, reference: u16) -> Result<Vec<Piece>> {
        let ahead = self.headers().get(&reference).copied();
        if let Some(HeaderAhead::Data(data)) = ahead {
            return compressed_pieces(&self.file, data);
        }
        let descriptor = self.file.descriptor(tags::CHUNK, reference);
        let Some(descriptor) = descriptor else { return Err(bad("it is not in the file")) };
        let Some((at, len)) = descriptor.place else { return Ok(vec![]) };
        if !descriptor.is_special {
            return match self.element.compression {
                None => Ok(vec![Piece::at(at, len)]),
                Some(_) => Err(bad("it has no compression header")),
            };
        }
        let bytes = self.file.bytes_at(at, len.min(special::HEADER as u64))?;
        compressed_pieces(&self.file, self.data_of(at, &bytes)?)
    }

    /// Returns the reference number of the compressed bytes that the header of a chunk names.
    fn data_of(&self, at: u64, header: &[u8]) -> Result<u16> {
        let code = decode(Special::default(), "chunk", at, header)?.code;
        if code != special::COMPRESSED {
            return Err(bad(format!("special tag {code} instead of that of compressed bytes")));
        }
        let header = decode(CompressedHeader::default(), "chunk", at, header)?;
        if Some(Compression::try_from(&header.compression)?) != self.element.compression {
            return Err(bad("it is compressed in another way than the other chunks"));
        }
        // Two bytes.
        Ok(header.reference as u16)
    }
}

impl ChunkIndex for Index {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let table = self.table()?;
        let total = count.iter().fold(1u64, |total, &len| total.saturating_mul(len));
        let mut at = first.to_vec();
        let (mut wanted, mut places) = (vec![], vec![]);
        for _ in 0..total {
            let number = self.element.number(&at);
            let chunk = number.and_then(|number| Some((number, *table.get(&number)?)));
            places.push(chunk.is_some());
            wanted.extend(chunk);
            for dim in (0..at.len()).rev() {
                let end = first[dim].saturating_add(count[dim]);
                at[dim] = at[dim].saturating_add(1);
                if at[dim] < end {
                    break;
                }
                at[dim] = first[dim];
            }
        }
        let mut found = self.locations(&wanted)?.into_iter();
        Ok(places
            .into_iter()
            .map(|is_stored| if is_stored { found.next() } else { None }.unwrap_or_default())
            .collect())
    }

    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        let table = self.table()?;
        let grid: Vec<u64> = self
            .element
            .dims
            .iter()
            .zip(&self.element.chunk)
            .map(|(len, &chunk)| len.div_ceil(chunk))
            .collect();
        let next = |numbers: RangeInclusive<u64>| {
            for (&number, &reference) in table.range(numbers) {
                if self.locations(&[(number, reference)])? != [ChunkLocation::Missing] {
                    return Ok(Some(number));
                }
            }
            Ok(None)
        };
        count_in_box(&grid, (first, count), limit, next).map(Some)
    }

    fn decoded(&self, location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        self.large.decoded(location)
    }
}

/// The bytes of the file, and behind them the chunks that lie in several pieces, each as one run of bytes.
struct ScatteredChunks {
    blob: Arc<dyn Blob>,
    /// By the position of the first byte.
    chunks: RwLock<BTreeMap<u64, Arc<PieceBlob>>>,
}

/// Position of the first chunk in pieces, and the distance from one to the next: files end before byte 2^32, and so do chunks.
const SCATTERED: u64 = 1 << 48;
const DISTANCE: u64 = 1 << 33;

impl fmt::Debug for ScatteredChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl ScatteredChunks {
    /// Returns the location of a chunk with these pieces.
    fn location(&self, file: &File, pieces: Vec<Piece>) -> ChunkLocation {
        match *pieces {
            [] | [Piece { len: 0, .. }] => ChunkLocation::Missing,
            [Piece { place: Place::At(at), len }] => ChunkLocation::At { at, len, mask: 0 },
            _ => {
                let len = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.len));
                let mut chunks = self.chunks.write().unwrap_or_else(PoisonError::into_inner);
                // Far apart, so that nobody reads two of them with one request.
                let at = (chunks.len() as u64).saturating_mul(DISTANCE).saturating_add(SCATTERED);
                chunks
                    .insert(at, Arc::new(PieceBlob::new(file.blob().clone(), &pieces, len, Arc::default())));
                ChunkLocation::At { at, len, mask: 0 }
            }
        }
    }

    fn scattered(&self, at: u64) -> Option<(u64, Arc<PieceBlob>)> {
        let chunks = self.chunks.read().unwrap_or_else(PoisonError::into_inner);
        chunks.range(..=at).next_back().map(|(start, chunk)| (*start, chunk.clone()))
    }
}

impl Blob for ScatteredChunks {
    fn size(&self) -> Result<u64> {
        match self.scattered(u64::MAX) {
            Some((start, chunk)) => Ok(start.saturating_add(chunk.len())),
            None => self.blob.size(),
        }
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut requests = [ReadRequest::new(at, into)];
        self.read_many(&mut requests)?;
        Ok(requests[0].len)
    }

    /// Reads the pieces of all chunks in one batch.
    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        read_parts(&*self.blob, requests, |at, into, parts| match self.scattered(at) {
            Some((start, chunk)) => chunk.split(at.saturating_sub(start), into, parts),
            None => {
                let len = into.len();
                parts.push(ReadRequest::new(at, into));
                Ok(len)
            }
        })?;
        for request in requests {
            if let Some((start, chunk)) = self.scattered(request.at) {
                chunk.check(request.at.saturating_sub(start), request)?;
            }
        }
        Ok(())
    }

    forward!([.blob] name cost forget);
}
