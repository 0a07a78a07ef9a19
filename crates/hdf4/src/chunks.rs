//! Chunked elements: their header, and the index that finds the chunks (Specification, "Chunked Elements"; `hchunks.c`).
//!
//! A Vdata lists the chunks that were written: coordinates, tag and reference number. A compressed chunk is a special element of its
//! own, whose header names the object with the compressed bytes. The table is read when the first chunk is located, and the headers of
//! all chunks of a box in one batch.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ferrocdf_array::{ChunkIndex, ChunkLocation};
use ferrocdf_bytes::{Context, Result};
use ferrocdf_store::{Blob, Cost, ReadRequest, read_parts};

use crate::element::compressed_pieces;
use crate::lazy::Lazy;
use crate::pieces::{Piece, PieceBlob};
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
    /// The Vdata that lists the chunks.
    table: u16,
    /// Number of elements.
    elements: u64,
}

impl ChunkedElement {
    /// Decodes the header of a chunked element.
    pub(crate) fn decode(file: &File, at: u64, bytes: &[u8]) -> Result<ChunkedElement> {
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
            table,
            elements: header.length,
        })
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

    /// Reads the table of chunks: tag and reference number by number of the chunk.
    fn read_table(&self, file: &File) -> Result<HashMap<u64, (u16, u16)>> {
        let table = file.vdata(self.table)?;
        let bytes = file.bytes(tags::VS, self.table)?.unwrap_or_default();
        let named = |name: &[u8], order: usize, size: usize| {
            let field = table.fields.iter().find(|field| field.name == name);
            let field = field.filter(|field| field.order == order as u64 && field.number.size() == size);
            field.map(|field| table.values_in(&bytes, field)).ok_or_else(|| {
                bad(format!("the chunk table has no field \"{}\" of {order} numbers", name.escape_ascii()))
            })
        };
        let rank = self.dims.len();
        let origins = named(b"origin", rank, 4)?;
        let (chunk_tags, references) = (named(b"chk_tag", 1, 2)?, named(b"chk_ref", 1, 2)?);
        let mut found = HashMap::new();
        let rows =
            origins.chunks_exact(rank.saturating_mul(4)).zip(pairs(&chunk_tags)).zip(pairs(&references));
        for ((origin, tag), reference) in rows {
            let quads = origin.as_chunks().0.iter();
            let chunk: Vec<u64> = quads.map(|&quad| u64::from(u32::from_be_bytes(quad))).collect();
            if tag != tags::CHUNK && tag != tags::NULL {
                return Err(bad(format!("chunk {chunk:?} has tag {tag}, which is no chunk")));
            }
            if let Some(number) = self.number(&chunk).filter(|_| tag == tags::CHUNK) {
                found.insert(number, (tag, reference));
            }
        }
        Ok(found)
    }
}

/// Returns the 16-bit numbers of bytes.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks().0.iter().map(|&pair| u16::from_be_bytes(pair))
}

/// The index of a chunked element.
#[derive(Debug)]
pub(crate) struct Index {
    file: File,
    element: ChunkedElement,
    table: Lazy<HashMap<u64, (u16, u16)>>,
    /// The locations of compressed chunks whose headers were read.
    located: Mutex<HashMap<u64, ChunkLocation>>,
    scattered: Arc<ScatteredChunks>,
}

impl Index {
    pub fn new(file: &File, element: &ChunkedElement) -> Index {
        let scattered = Arc::new(ScatteredChunks { blob: file.blob().clone(), chunks: RwLock::default() });
        let (table, located) = Default::default();
        Index { file: file.clone(), element: element.clone(), table, located, scattered }
    }

    /// Returns the bytes that locations are about.
    pub fn blob(&self) -> Arc<dyn Blob> {
        self.scattered.clone()
    }

    fn table(&self) -> Result<&HashMap<u64, (u16, u16)>> {
        self.table.get(|| {
            // All that the table needs is one task, so the rounds of a slow source are as many as its structures are deep.
            let read = || self.element.read_table(&self.file).at(|| "chunk table");
            self.file.for_each(&[()], |()| read()).pop().unwrap_or_else(|| Ok(HashMap::new()))
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
            self.table()?.iter().map(|(&number, chunk)| (number, chunk.1)).collect();
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

    /// Returns the pieces of a chunk as it is stored.
    fn read_location(&self, reference: u16) -> Result<Vec<Piece>> {
        let descriptor = self.file.descriptor(tags::CHUNK, reference);
        let Some(descriptor) = descriptor else { return Err(bad("it is not in the file")) };
        let Some((at, len)) = descriptor.place else { return Ok(vec![]) };
        if !descriptor.is_special {
            return match self.element.compression {
                None => Ok(vec![Piece { at: Some(at), len }]),
                Some(_) => Err(bad("it has no compression header")),
            };
        }
        let bytes = self.file.bytes_at(at, len.min(special::HEADER))?;
        let code = decode(Special::default(), "chunk", at, &bytes)?.code;
        if code != special::COMPRESSED {
            return Err(bad(format!("special tag {code} instead of that of compressed bytes")));
        }
        let header = decode(CompressedHeader::default(), "chunk", at, &bytes)?;
        if Some(Compression::try_from(&header.compression)?) != self.element.compression {
            return Err(bad("it is compressed in another way than the other chunks"));
        }
        compressed_pieces(&self.file, header.reference)
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
            let chunk = number.and_then(|number| Some((number, table.get(&number)?.1)));
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
            [Piece { at: Some(at), len }] => ChunkLocation::At { at, len, mask: 0 },
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

    fn name(&self) -> String {
        self.blob.name()
    }

    fn cost(&self) -> Cost {
        self.blob.cost()
    }

    fn forget(&self) {
        self.blob.forget();
    }
}
