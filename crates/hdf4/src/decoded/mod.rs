//! The decoded bytes of a compressed element without chunks, read by ranges.
//!
//! Memory is bounded whatever the size of the element: decoders go over it from the front, and keep 32 checkpoints at most, from which
//! they go on if a read wants bytes before the position of any decoder. Each thread decodes with a decoder of its own.
#![deny(clippy::arithmetic_side_effects)]

mod cursor;
mod planes;
mod windows;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Context, Result};
use ferrocdf_codec::{Chain, StreamDecoder};
use ferrocdf_store::{Blob, Cost, Latency, ReadRequest};

use cursor::Cursor;
pub(crate) use cursor::Encoded;
use windows::WINDOW;
pub(crate) use windows::Windows;

/// Decoded bytes from one checkpoint to the next, at first. Twice as many each time that there are too many checkpoints.
const SPACING: u64 = 8 << 20;

/// Maximum number of checkpoints of an element, and their bytes if decoders are large.
const CHECKPOINTS: usize = 32;
const CHECKPOINT_BYTES: usize = 8 << 20;

/// Maximum number of decoders that wait for the next read: one for each plane of numbers of 8 bytes, and for some readers more.
const WAITING: usize = 12;

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
    /// Maximum number of copies of a decoder, of those that are kept.
    checkpoints: usize,
    state: Mutex<State>,
    windows: Arc<Windows>,
    /// The number of the element among those with windows.
    number: u64,
}

struct State {
    /// Decoders at the positions where reads ended, the one of the last read last.
    waiting: Vec<Cursor>,
    /// Copies of decoders, in the order of their positions, which are multiples of `spacing`.
    checkpoints: Vec<Cursor>,
    spacing: u64,
}

/// Returns the decoded bytes of an element as a blob; `None` if its coder decodes only as a whole.
pub(crate) fn decoded(
    source: Encoded,
    chain: Arc<Chain>,
    len: u64,
    windows: &Arc<Windows>,
) -> Option<Arc<dyn Blob>> {
    let first = chain.stream(len)?;
    let has_planes = first.planes() > 1;
    let fit = CHECKPOINT_BYTES.checked_div(first.memory()).unwrap_or(CHECKPOINTS);
    let state = State { waiting: vec![], checkpoints: vec![], spacing: SPACING };
    let (checkpoints, number) = (fit.clamp(1, CHECKPOINTS), windows.element());
    let (state, windows) = (Mutex::new(state), windows.clone());
    let decoded = Decoded { source, chain, len, first, checkpoints, state, windows, number };
    Some(match has_planes {
        true => Arc::new(planes::Elements::new(decoded)),
        false => Arc::new(decoded),
    })
}

impl Decoded {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the decoder that is next before a position: one that waits, or a copy of a checkpoint.
    fn take(&self, position: u64) -> Cursor {
        let mut state = self.state();
        let before = |cursor: &&Cursor| cursor.position <= position;
        let checkpoint = state.checkpoints.iter().rfind(before);
        let reached = checkpoint.map_or(0, |checkpoint| checkpoint.position);
        let waiting = state.waiting.iter().enumerate().filter(|(_, cursor)| before(cursor));
        match waiting.max_by_key(|(_, cursor)| cursor.position) {
            Some((_, cursor)) if cursor.position < position && self.first.seek(position).is_some() => {}
            Some((number, cursor)) if cursor.position >= reached => return state.waiting.remove(number),
            _ => {}
        }
        if let Some((encoded, decoder)) = self.first.seek(position) {
            return Cursor::new(decoder, position, encoded);
        }
        checkpoint.map_or_else(|| Cursor::new(self.first.fork(), 0, 0), Cursor::fork)
    }

    /// Lets a decoder wait for the next read.
    fn put(&self, cursor: Cursor) {
        let mut state = self.state();
        if state.waiting.len() >= WAITING.min(self.checkpoints) {
            state.waiting.remove(0);
        }
        state.waiting.push(cursor);
    }

    /// Makes a checkpoint, if one is due at the position of the decoder.
    fn check(&self, cursor: &Cursor) {
        let mut state = self.state();
        let last = state.checkpoints.last().map_or(0, |last| last.position);
        let is_due = |state: &State| cursor.position.is_multiple_of(state.spacing);
        if cursor.position <= last || !is_due(&state) {
            return;
        }
        if state.checkpoints.len() >= self.checkpoints {
            let spacing = state.spacing.saturating_mul(2);
            state.checkpoints.retain(|checkpoint| checkpoint.position.is_multiple_of(spacing));
            state.spacing = spacing;
        }
        if is_due(&state) {
            state.checkpoints.push(cursor.fork());
        }
    }

    /// Returns a window of decoded bytes.
    fn window(&self, number: u64) -> Result<Arc<[u8]>> {
        if let Some(bytes) = self.windows.get((self.number, number)) {
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
                self.check(&cursor);
            }
        }
        if cursor.position < self.len {
            self.put(cursor);
        }
        let bytes: Arc<[u8]> = buffer.into();
        self.windows.put((self.number, number), bytes.clone());
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
