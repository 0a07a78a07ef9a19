//! Bzip2 (filter 307): one stream. Its parameter is the block size in units of 100 kB, 1 to 9.
//!
//! Compression uses libbz2. Decompression is implemented here: most of its time is a walk through a table that is larger
//! than the caches, and several walks can run at once (`walk.rs`). It accepts and rejects the same streams as libbz2. Bytes
//! after the end of the stream are ignored. Format: "BZIP2: Format Specification" by J. Tsai.

mod block;
mod crc;
mod front;
mod huffman;
mod random;
mod runs;
#[cfg(test)]
mod tests;
mod walk;

use std::cell::RefCell;
use std::fmt::Display;

use bzip2::{Action, Compress, Compression, Status};
use ferrocdf_bytes::{Error, Result, ToUsize};

use super::bits::BitReader;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::level_form;
use crate::registry::Entry;
use crate::scratch::with_thread_local;
use block::Codes;
use walk::Walks;

/// Magic numbers before each block and after the last one.
const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
const END_MAGIC: u64 = 0x1772_4538_5090;

/// Unit of the block size in bytes.
const BLOCK_UNIT: usize = 100_000;

/// Maximum decoded size of a block: 900,000 bytes with runs of 259 bytes in five bytes each.
const MAX_DECODED_BLOCK: usize = 900_000 / 5 * 259;

/// Minimum encoded size of a block: its header, one group and two Huffman tables take 172 bits.
const MIN_ENCODED_BLOCK: usize = 172 / 8;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(307),
    names: &["bzip2", "bz2"],
    new: |params, _| Bzip2::new(params).map(boxed),
    derive: None,
    numcodecs: Some(level_form!("bz2", 1..=9, 1)),
    zarr_v3: None,
};

thread_local! {
    static DECODER: RefCell<Option<Decoder>> = const { RefCell::new(None) };
}

#[derive(Debug)]
pub struct Bzip2 {
    level: u32,
}

impl Bzip2 {
    pub fn new(params: &[u32]) -> Result<Bzip2> {
        match *params {
            [] => Ok(Bzip2 { level: 9 }),
            [level @ 1..=9, ..] => Ok(Bzip2 { level }),
            _ => Err(bad_params(format!("parameters {params:?}: must be one block size from 1 to 9"))),
        }
    }
}

impl SliceCodec for Bzip2 {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let decode =
            |decoder: &mut Option<Decoder>| decoder.get_or_insert_with(Decoder::new).decode(encoded, decoded);
        with_thread_local(&DECODER, || None, decode)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let mut stream = Compress::new(Compression::new(self.level), 0);
        // The maximum size according to the manual of libbz2.
        encoded.reserve(decoded.len() + decoded.len() / 100 + 600);
        let failed = |reason: String| corrupt(format!("bzip2: compression failed: {reason}"));
        loop {
            let taken = stream.total_in().saturate();
            let status = stream
                .compress_vec(decoded.get(taken..).unwrap_or(&[]), encoded, Action::Finish)
                .map_err(|error| failed(error.to_string()))?;
            match status {
                Status::StreamEnd => return Ok(Some(())),
                _ if encoded.len() == encoded.capacity() => encoded.reserve(600),
                Status::FinishOk | Status::Ok | Status::RunOk => {}
                other => return Err(failed(format!("{other:?}"))),
            }
        }
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        (encoded / MIN_ENCODED_BLOCK + 1).saturating_mul(MAX_DECODED_BLOCK)
    }
}

/// Buffers that are reused for all blocks, at most about 20 MB.
struct Decoder {
    codes: Codes,
    walks: Walks,
    bytes: Vec<u8>,
}

impl Decoder {
    fn new() -> Decoder {
        Decoder { codes: Codes::new(), walks: Walks::new(), bytes: Vec::new() }
    }

    fn decode(&mut self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let end = || corrupt(format!("the {} encoded bytes end within the bzip2 stream", encoded.len()));
        let (block_size, rest) = match *encoded {
            [b'B', b'Z', b'h', digit @ b'1'..=b'9', ref rest @ ..] => {
                (usize::from(digit - b'0') * BLOCK_UNIT, rest)
            }
            _ => return Err(corrupt("the encoded bytes are not a bzip2 stream")),
        };
        // One more byte, which a run at the end of a block reads as its count.
        if self.bytes.len() <= block_size {
            self.bytes = vec![0; block_size + 1];
        }
        let mut bits = BitReader::new(rest);
        let (mut decoded_len, mut stream_crc) = (0, 0u32);
        loop {
            match bits.read(48).ok_or_else(end)? {
                BLOCK_MAGIC => {}
                END_MAGIC => break,
                other => return Err(corrupt(format!("bzip2 block: invalid magic number {other:012x}"))),
            }
            let sorted = block::read(&mut bits, &mut self.codes, &mut self.bytes[..block_size])?;
            self.walks.unsort(&sorted, &mut self.bytes);
            let bytes = &mut self.bytes[..=sorted.len];
            if sorted.header.randomised {
                random::restore(bytes);
            }
            let Some((len, crc)) = runs::decode(bytes, sorted.len, &mut decoded[decoded_len..])? else {
                return Ok(None);
            };
            let stored = sorted.header.crc;
            if crc != stored {
                return Err(bad_block(format!("the checksum is {crc:08x}, but {stored:08x} is stored")));
            }
            decoded_len += len;
            stream_crc = stream_crc.rotate_left(1) ^ crc;
        }
        let stored = bits.read(32).ok_or_else(end)? as u32;
        if stream_crc != stored {
            return Err(corrupt(format!(
                "bzip2 stream: the checksum is {stream_crc:08x}, but {stored:08x} is stored"
            )));
        }
        Ok(Some(decoded_len))
    }
}

/// Returns the error for a damaged block.
fn bad_block(reason: impl Display) -> Error {
    corrupt(format!("bzip2 block: {reason}"))
}
