//! A decoder, and the encoded bytes that it reads next.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_bytes::{Error, Result, ToUsize};
use ferrocdf_codec::{Progress, StreamDecoder};
use ferrocdf_store::{Blob, ReadRequest};

use crate::pieces::cut_short;
use crate::wire::bad;

/// Encoded bytes that are read at once from a near source: little beside what they decode to.
const NEAR: u64 = 64 << 10;

/// Encoded bytes that are read at once from a slow source at most, in requests that are under way together.
const FAR: u64 = 2 << 20;

/// Encoded bytes that a decoder may want at once: the largest scanline of szip takes less.
const MOST: usize = 16 << 20;

/// The encoded bytes of an element.
pub struct Encoded {
    pub blob: Arc<dyn Blob>,
    /// Position in the blob of the first byte.
    pub at: u64,
    pub len: u64,
}

impl Encoded {
    /// Fills `into` with the bytes from position `at` on, which exist.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let (cost, begin) = (self.blob.cost(), self.at.saturating_add(at));
        let part = cost.window.max(1);
        let mut requests: Vec<ReadRequest<'_>> = match cost.is_near() {
            true => vec![ReadRequest::new(begin, into)],
            false => {
                let offset = |number: usize| (number as u64).saturating_mul(part as u64);
                let parts = into.chunks_mut(part).enumerate();
                parts
                    .map(|(number, part)| ReadRequest::new(begin.saturating_add(offset(number)), part))
                    .collect()
            }
        };
        self.blob.read_many(&mut requests)?;
        match requests.iter().find(|request| request.len < request.into.len()) {
            Some(short) => Err(cut_short(&*self.blob, short.at, short.into.len() as u64)),
            None => Ok(()),
        }
    }
}

/// A decoder at a position of an element.
pub struct Cursor {
    pub decoder: Box<dyn StreamDecoder>,
    /// Number of bytes that it decoded.
    pub position: u64,
    /// Number of encoded bytes that the decoder took.
    pub encoded: u64,
    /// Encoded bytes that are read, of which the decoder took the first `taken`.
    input: Vec<u8>,
    taken: usize,
    /// Number of bytes to read at once.
    window: u64,
}

impl Cursor {
    /// Makes a cursor for a decoder that decodes byte `position` next, from the encoded byte `encoded` on.
    pub fn new(decoder: Box<dyn StreamDecoder>, position: u64, encoded: u64) -> Cursor {
        Cursor { decoder, position, encoded, input: vec![], taken: 0, window: NEAR }
    }

    /// Returns a cursor at the same position.
    pub fn fork(&self) -> Cursor {
        Cursor::new(self.decoder.fork(), self.position, self.encoded)
    }

    /// Returns the number of bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        self.decoder.memory().saturating_add(self.input.capacity())
    }

    /// Runs a step of the decoder on the bytes that are read. Returns what it did, and whether no encoded bytes follow those.
    fn try_step(&mut self, source: &Encoded, into: &mut [u8]) -> Result<(Progress, bool)> {
        let input = self.input.get(self.taken..).unwrap_or_default();
        let is_last = self.encoded.saturating_add(input.len() as u64) >= source.len;
        let step = self.decoder.decode(input, is_last, into)?;
        self.taken = self.taken.saturating_add(step.taken);
        self.encoded = self.encoded.saturating_add(step.taken as u64);
        self.position = self.position.saturating_add(step.written as u64);
        Ok((step, is_last))
    }

    /// Reads more encoded bytes behind those that are not taken yet.
    fn read_more(&mut self, source: &Encoded) -> Result<()> {
        self.input.drain(..self.taken);
        self.taken = 0;
        let have = self.input.len();
        if have >= MOST {
            return Err(bad(format!("{have} encoded bytes from byte {} on decode to nothing", self.encoded)));
        }
        let end = self.encoded.saturating_add(have as u64);
        // A decoder that wants more at once gets twice as much each time, so that it sees no byte often.
        let more = self.window.max(have as u64).min(source.len.saturating_sub(end));
        self.input.resize(have.saturating_add(more.saturate()), 0);
        source.read(end, &mut self.input[have..])?;
        if !source.blob.cost().is_near() {
            self.window = self.window.saturating_mul(2).min(FAR);
        }
        Ok(())
    }

    /// Runs a step of the decoder. Returns the number of bytes that it wrote, and whether the stream ends behind them.
    fn step(&mut self, source: &Encoded, into: &mut [u8]) -> Result<(usize, bool)> {
        loop {
            let (step, is_last) = self.try_step(source, into)?;
            if step.written > 0 || step.is_end {
                return Ok((step.written, step.is_end));
            }
            match (step.taken, is_last) {
                (0, true) => return Ok((0, true)),
                (0, false) => self.read_more(source)?,
                _ => {}
            }
        }
    }

    /// Decodes the next bytes of an element of `len` bytes.
    ///
    /// # Errors
    /// `EHDFERR` if the stream is damaged or ends before, and those of the source.
    pub fn decode(&mut self, source: &Encoded, into: &mut [u8], len: u64) -> Result<()> {
        let mut rest = into;
        while !rest.is_empty() {
            let (written, is_end) = self.step(source, rest)?;
            rest = &mut rest[written..];
            if is_end && !rest.is_empty() {
                let position = self.position;
                return Err(bad(format!("decodes to {position} bytes, shorter than the expected {len}")));
            }
        }
        Ok(())
    }

    /// Checks that a stream ends where the element does, if it marks its end.
    ///
    /// # Errors
    /// `EHDFERR` if it does not, and for a wrong checksum.
    pub fn check_end(&mut self, source: &Encoded) -> Result<()> {
        let len = self.position;
        match self.decoder.marks_end().then(|| self.step(source, &mut [0])).transpose()? {
            Some((1.., _)) => Err(longer(len)),
            _ => Ok(()),
        }
    }

    /// Reads the head of the stream, and returns the number of planes of bytes that the decoder decodes to.
    pub fn planes(&mut self, source: &Encoded) -> Result<usize> {
        self.read_more(source)?;
        self.try_step(source, &mut [])?;
        Ok(self.decoder.planes())
    }
}

fn longer(len: u64) -> Error {
    bad(format!("decodes to more bytes than the expected {len}"))
}
