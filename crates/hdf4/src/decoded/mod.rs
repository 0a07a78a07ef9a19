//! The decoded bytes of large compressed data, read by ranges: of an element without chunks, or of a chunk.
//!
//! Memory is bounded per file, whatever its elements: decoders go over them from the front, and the file keeps some of the decoders and of
//! the decoded bytes ([`DecodedCache`]). Each thread decodes with a decoder of its own.
#![deny(clippy::arithmetic_side_effects)]

mod cursor;
mod decoders;
mod planes;
mod windows;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrocdf_bytes::{Context, Result, ToUsize};
use ferrocdf_codec::{Chain, StreamDecoder};
use ferrocdf_store::{Blob, Cost, Latency, ReadRequest};

use cursor::Cursor;
pub(crate) use cursor::Encoded;
use decoders::Decoders;
use windows::{DecodedWindows, WINDOW};

/// The cost of a read. It is not near, so that the engine reads in the order of the bytes, on one thread, while others convert. A gap is never
/// worth a request less, since it is decoded in any case.
const COST: Cost =
    Cost { latency: Latency::Remote, gap: WINDOW, joins_chunks: true, window: 1 << 20, in_flight: 4 };

/// How the elements of one chain and one length are decoded. They share the decoder of the first byte, which may be larger than all
/// else that is in memory of an element.
pub(crate) struct Decoding {
    chain: Arc<Chain>,
    /// Number of decoded bytes.
    len: u64,
    /// True if a stream may go on behind these bytes.
    is_prefix: bool,
    /// The decoder of the first byte.
    first: Box<dyn StreamDecoder>,
    cache: Arc<DecodedCache>,
}

impl Decoding {
    /// Returns how elements of `len` bytes are decoded; `None` if their coder decodes only as a whole.
    pub fn new(chain: Arc<Chain>, len: u64, cache: Arc<DecodedCache>) -> Option<Decoding> {
        let first = chain.stream(len)?;
        Some(Decoding { chain, len, is_prefix: false, first, cache })
    }

    /// Returns how the first `wanted` bytes of elements are decoded, whatever follows them. A coder of several planes needs the length
    /// of the whole element, since each plane takes a share of it.
    pub fn of_prefix(self, wanted: u64) -> Option<Decoding> {
        match self.first.planes() {
            0..=1 => {
                let short = Decoding::new(self.chain, self.len.min(wanted), self.cache)?;
                Some(Decoding { is_prefix: true, ..short })
            }
            _ => Some(self),
        }
    }
}

/// The decoded bytes of an element, as a blob. An element of several planes of bytes is read as the planes.
struct Decoded {
    source: Encoded,
    decoding: Arc<Decoding>,
    /// The number of the element among those of the cache.
    number: u64,
}

/// What a file keeps of the data that it decodes in windows.
#[derive(Default)]
pub(crate) struct DecodedCache {
    windows: DecodedWindows,
    decoders: Decoders,
    /// Number of elements so far.
    elements: AtomicU64,
}

/// Returns decoded bytes as a blob.
pub(crate) fn decoded(source: Encoded, decoding: &Arc<Decoding>) -> Arc<dyn Blob> {
    let number = decoding.cache.elements.fetch_add(1, Relaxed);
    let decoded = Decoded { source, decoding: decoding.clone(), number };
    match decoding.first.planes() > 1 {
        true => Arc::new(planes::Elements::new(decoded)),
        false => Arc::new(decoded),
    }
}

impl Decoded {
    /// Takes the decoder that is next before a position.
    fn take(&self, position: u64) -> Cursor {
        let sought = self.decoding.first.seek(position);
        let kept = self.decoding.cache.decoders.take(self.number, position, sought.is_some());
        kept.unwrap_or_else(|| match sought {
            Some((encoded, decoder)) => Cursor::new(decoder, position, encoded),
            None => Cursor::new(self.decoding.first.fork(), 0, 0),
        })
    }

    /// Returns a window of decoded bytes.
    fn window(&self, number: u64) -> Result<Arc<[u8]>> {
        if let Some(bytes) = self.decoding.cache.windows.get((self.number, number)) {
            return Ok(bytes);
        }
        let start = number.saturating_mul(WINDOW);
        let mut cursor = self.take(start);
        let mut buffer = vec![];
        while cursor.position <= start {
            let len = WINDOW.min(self.decoding.len.saturating_sub(cursor.position));
            buffer.resize(len.saturate(), 0);
            cursor.decode(&self.source, &mut buffer, self.decoding.len)?;
            if cursor.position < self.decoding.len {
                self.decoding.cache.decoders.check(self.number, &cursor);
            } else if !self.decoding.is_prefix {
                cursor.check_end(&self.source)?;
            }
        }
        if cursor.position < self.decoding.len {
            self.decoding.cache.decoders.put(self.number, cursor);
        }
        let bytes: Arc<[u8]> = buffer.into();
        self.decoding.cache.windows.put((self.number, number), bytes.clone());
        Ok(bytes)
    }

    /// Reads decoded bytes; fewer than asked only where the element ends.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let (mut done, mut position) = (0usize, at);
        while done < into.len() && position < self.decoding.len {
            let (number, skip) = (position / WINDOW, position % WINDOW);
            let window = self.window(number)?;
            let bytes = window.get(skip.saturate()..).unwrap_or_default();
            let rest = into.get_mut(done..).unwrap_or_default();
            let fits = bytes.len().min(rest.len());
            rest[..fits].copy_from_slice(&bytes[..fits]);
            done = done.saturating_add(fits);
            position = position.saturating_add(fits as u64);
        }
        Ok(done)
    }

    /// Returns the number of planes of bytes.
    fn planes(&self) -> Result<usize> {
        self.check_size()?;
        let mut cursor = Cursor::new(self.decoding.first.fork(), 0, 0);
        cursor.planes(&self.source).at(|| self.place())
    }

    /// Checks that so many encoded bytes can decode to so many.
    fn check_size(&self) -> Result<()> {
        let size = |bytes: u64| bytes.saturate();
        self.decoding
            .chain
            .check_size(0, size(self.source.len), size(self.decoding.len))
            .at(|| self.encoded_place())
    }

    fn encoded_place(&self) -> String {
        format!("{} compressed bytes at byte {}", self.source.len, self.source.at)
    }

    fn place(&self) -> String {
        format!("{}: {}", self.encoded_place(), self.decoding.chain.labels(0))
    }
}

impl Drop for Decoded {
    fn drop(&mut self) {
        self.decoding.cache.decoders.remove(self.number);
    }
}

impl Blob for Decoded {
    fn size(&self) -> Result<u64> {
        Ok(self.decoding.len)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.check_size()?;
        self.read(at, into).at(|| self.place())
    }

    /// Reads in the order of the bytes.
    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let mut ordered: Vec<&mut ReadRequest<'_>> = requests.iter_mut().collect();
        ordered.sort_by_key(|request| request.at);
        for request in ordered {
            request.len = self.read_at(request.at, request.into)?;
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("{} (decoded)", self.source.blob.name())
    }

    fn cost(&self) -> Cost {
        COST
    }

    fn forget(&self) {
        self.source.blob.forget();
    }
}
