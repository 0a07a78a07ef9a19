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

use ferrocdf_bytes::{Context, Result};
use ferrocdf_codec::{Chain, StreamDecoder};
use ferrocdf_store::{Blob, Cost, Latency, ReadRequest};

use cursor::Cursor;
pub(crate) use cursor::Encoded;
use decoders::Decoders;
use windows::{DecodedWindows, WINDOW};

/// The cost of a read. It is not near, so that the engine reads in the order of the bytes, on one thread, while others convert. A gap is never
/// worth a request less, since it is decoded in any case.
const COST: Cost = Cost { latency: Latency::Remote, gap: WINDOW, window: 1 << 20, in_flight: 4 };

/// The decoded bytes of an element, as a blob. An element of several planes of bytes is read as the planes.
struct Decoded {
    source: Encoded,
    chain: Arc<Chain>,
    /// Number of decoded bytes.
    len: u64,
    /// The decoder of the first byte.
    first: Box<dyn StreamDecoder>,
    cache: Arc<DecodedCache>,
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

/// Returns decoded bytes as a blob; `None` if their coder decodes only as a whole.
pub(crate) fn decoded(
    source: Encoded,
    chain: Arc<Chain>,
    len: u64,
    cache: &Arc<DecodedCache>,
) -> Option<Arc<dyn Blob>> {
    let first = chain.stream(len)?;
    let has_planes = first.planes() > 1;
    let number = cache.elements.fetch_add(1, Relaxed);
    let decoded = Decoded { source, chain, len, first, cache: cache.clone(), number };
    Some(match has_planes {
        true => Arc::new(planes::Elements::new(decoded)),
        false => Arc::new(decoded),
    })
}

impl Decoded {
    /// Takes the decoder that is next before a position.
    fn take(&self, position: u64) -> Cursor {
        let sought = self.first.seek(position);
        let kept = self.cache.decoders.take(self.number, position, sought.is_some());
        kept.unwrap_or_else(|| match sought {
            Some((encoded, decoder)) => Cursor::new(decoder, position, encoded),
            None => Cursor::new(self.first.fork(), 0, 0),
        })
    }

    /// Returns a window of decoded bytes.
    fn window(&self, number: u64) -> Result<Arc<[u8]>> {
        if let Some(bytes) = self.cache.windows.get((self.number, number)) {
            return Ok(bytes);
        }
        let start = number.saturating_mul(WINDOW);
        let mut cursor = self.take(start);
        let mut buffer = vec![];
        while cursor.position <= start {
            let len = WINDOW.min(self.len.saturating_sub(cursor.position));
            buffer.resize(len as usize, 0);
            cursor.decode(&self.source, &mut buffer, self.len)?;
            if cursor.position == self.len {
                cursor.check_end(&self.source)?;
            } else {
                self.cache.decoders.check(self.number, &cursor);
            }
        }
        if cursor.position < self.len {
            self.cache.decoders.put(self.number, cursor);
        }
        let bytes: Arc<[u8]> = buffer.into();
        self.cache.windows.put((self.number, number), bytes.clone());
        Ok(bytes)
    }

    /// Reads decoded bytes; fewer than asked only where the element ends.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let (mut done, mut position) = (0usize, at);
        while done < into.len() && position < self.len {
            let (number, skip) = (position / WINDOW, position % WINDOW);
            let window = self.window(number)?;
            let bytes = window.get(skip as usize..).unwrap_or_default();
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
        let mut cursor = Cursor::new(self.first.fork(), 0, 0);
        cursor.planes(&self.source).at(|| self.place())
    }

    /// Checks that so many encoded bytes can decode to so many.
    fn check_size(&self) -> Result<()> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        self.chain.check_size(0, size(self.source.len), size(self.len)).at(|| self.encoded_place())
    }

    fn encoded_place(&self) -> String {
        format!("{} compressed bytes at byte {}", self.source.len, self.source.at)
    }

    fn place(&self) -> String {
        format!("{}: {}", self.encoded_place(), self.chain.labels(0))
    }
}

impl Drop for Decoded {
    fn drop(&mut self) {
        self.cache.decoders.remove(self.number);
    }
}

impl Blob for Decoded {
    fn size(&self) -> Result<u64> {
        Ok(self.len)
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
