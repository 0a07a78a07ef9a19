//! Inflating in steps. `miniz_oxide` is slower than `libdeflate`, but its state is a value that can be copied, and it needs only the last
//! 32 KiB of what it decoded.

use ferrocdf_bytes::Result;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use crate::filter::corrupt;
use crate::stream::{Progress, StreamDecoder};

/// The farthest that a match of deflate reaches back (RFC 1951).
const REACH: usize = 32 << 10;

/// A decoder of a zlib stream.
#[derive(Clone)]
pub struct Inflater {
    state: Box<DecompressorOxide>,
    /// The last bytes that were decoded, as a ring.
    ring: Box<[u8]>,
    /// Where the bytes of the ring begin and end that are to be written.
    from: usize,
    to: usize,
    /// True from the first time on that the ring was full: matches may then reach over its end.
    is_full: bool,
    is_end: bool,
    decoded: u64,
}

impl Inflater {
    pub fn new() -> Inflater {
        let (state, ring) = (Box::default(), vec![0; REACH].into());
        Inflater { state, ring, from: 0, to: 0, is_full: false, is_end: false, decoded: 0 }
    }

    /// Decodes more bytes to the ring, all of which is written; returns the number of bytes taken.
    fn refill(&mut self, encoded: &[u8], is_last: bool) -> Result<(usize, TINFLStatus)> {
        if self.to == REACH {
            (self.from, self.to, self.is_full) = (0, 0, true);
        }
        let wraps = if self.is_full { 0 } else { TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF };
        let more = if is_last { 0 } else { TINFL_FLAG_HAS_MORE_INPUT };
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | wraps | more;
        let (status, taken, written) = decompress(&mut self.state, encoded, &mut self.ring, self.to, flags);
        self.to += written;
        self.decoded += written as u64;
        match status {
            TINFLStatus::Done | TINFLStatus::HasMoreOutput | TINFLStatus::NeedsMoreInput => {
                Ok((taken, status))
            }
            TINFLStatus::FailedCannotMakeProgress => {
                Err(corrupt(format!("the zlib stream ends early, after {} decoded bytes", self.decoded)))
            }
            TINFLStatus::Adler32Mismatch => Err(corrupt("the checksum of the zlib stream is wrong")),
            _ => Err(corrupt(format!("the zlib stream is damaged after {} decoded bytes", self.decoded))),
        }
    }
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Inflater after {} bytes", self.decoded)
    }
}

impl StreamDecoder for Inflater {
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress> {
        let mut done = Progress::default();
        loop {
            let fits = (self.to - self.from).min(decoded.len() - done.written);
            decoded[done.written..][..fits].copy_from_slice(&self.ring[self.from..][..fits]);
            self.from += fits;
            done.written += fits;
            done.is_end = self.is_end && self.from == self.to;
            if self.is_end || done.written == decoded.len() {
                return Ok(done);
            }
            let (taken, status) = self.refill(&encoded[done.taken..], is_last)?;
            done.taken += taken;
            self.is_end = status == TINFLStatus::Done;
            if status == TINFLStatus::NeedsMoreInput && self.from == self.to {
                return Ok(done);
            }
        }
    }

    fn fork(&self) -> Box<dyn StreamDecoder> {
        Box::new(self.clone())
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + size_of::<DecompressorOxide>() + REACH
    }

    fn marks_end(&self) -> bool {
        true
    }
}
