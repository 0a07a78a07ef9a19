//! Bzip2 (filter 307): one stream. Its parameter is the size of a block in units of 100 kB, 1 to 9.
//!
//! Packing is libbz2's. Unpacking is our own, as most of its time is a walk through a table that is larger than the caches are,
//! and that can be many walks at once (`walk.rs`). It takes and refuses what libbz2 does. Behind the end of the stream
//! there may be anything. Layout: "BZIP2: Format Specification" of J. Tsai.

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
use ferrocdf_bytes::{Error, Result};

use super::bits::Bits;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::level_spelling;
use crate::registry::Entry;
use crate::scratch::with_kept;
use block::Codes;
use walk::Walks;

/// What comes before a block, and what comes behind the last.
const BLOCK_NEXT: u64 = 0x3141_5926_5359;
const END_NEXT: u64 = 0x1772_4538_5090;

/// Bytes in a unit of the size of a block.
const UNIT: usize = 100_000;

/// A block of 900,000 bytes holds runs of 259 in five bytes each, and takes no less than its head, one group and two sets of
/// codes, which are 172 bits.
const BLOCK: usize = 900_000 / 5 * 259;
const SMALLEST: usize = 172 / 8;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(307),
    names: &["bzip2", "bz2"],
    make: |params, _| Bzip2::new(params).map(boxed),
    derive: None,
    numcodecs: Some(level_spelling!("bz2", 1..=9, 1)),
    zarr_v3: None,
};

thread_local! {
    static KEPT: RefCell<Option<Unpacker>> = const { RefCell::new(None) };
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
            _ => Err(bad_params(format!("the parameters {params:?} are not one block size from 1 to 9"))),
        }
    }
}

impl SliceCodec for Bzip2 {
    fn decoded_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        with_kept(&KEPT, || None, |kept| kept.get_or_insert_with(Unpacker::new).decode(encoded, decoded))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let mut stream = Compress::new(Compression::new(self.level), 0);
        // What libbz2 says is always enough, for a stream and the bits of its end.
        encoded.reserve(decoded.len() + decoded.len() / 100 + 600);
        let failed = |what: String| corrupt(format!("bzip2 cannot pack: {what}"));
        loop {
            let taken = stream.total_in() as usize;
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

    fn most_decoded(&self, encoded: usize) -> usize {
        (encoded / SMALLEST + 1).saturating_mul(BLOCK)
    }
}

/// What decoding needs from block to block, at most some 20 MB.
struct Unpacker {
    codes: Codes,
    walks: Walks,
    bytes: Vec<u8>,
}

impl Unpacker {
    fn new() -> Unpacker {
        Unpacker { codes: Codes::new(), walks: Walks::new(), bytes: Vec::new() }
    }

    fn decode(&mut self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let end = || corrupt(format!("the {} stored bytes end within the bzip2 stream", encoded.len()));
        let (most, rest) = match *encoded {
            [b'B', b'Z', b'h', digit @ b'1'..=b'9', ref rest @ ..] => {
                (usize::from(digit - b'0') * UNIT, rest)
            }
            _ => return Err(corrupt("the stored bytes are not a bzip2 stream")),
        };
        // One more, for what is behind a run at the end of a block.
        if self.bytes.len() <= most {
            self.bytes = vec![0; most + 1];
        }
        let mut bits = Bits::new(rest);
        let (mut made, mut crcs) = (0, 0u32);
        loop {
            match bits.read(48).ok_or_else(end)? {
                BLOCK_NEXT => {}
                END_NEXT => break,
                other => return Err(corrupt(format!("no block of bzip2 begins with {other:012x}"))),
            }
            let sorted = block::read(&mut bits, &mut self.codes, &mut self.bytes[..most])?;
            self.walks.unsort(&sorted, &mut self.bytes);
            let bytes = &mut self.bytes[..=sorted.len];
            if sorted.head.randomised {
                random::restore(bytes);
            }
            let Some((len, crc)) = runs::decode(bytes, sorted.len, &mut decoded[made..])? else {
                return Ok(None);
            };
            let should = sorted.head.crc;
            if crc != should {
                return Err(broken(format!("has the checksum {crc:08x} and not {should:08x}")));
            }
            made += len;
            crcs = crcs.rotate_left(1) ^ crc;
        }
        let should = bits.read(32).ok_or_else(end)? as u32;
        if crcs != should {
            return Err(corrupt(format!("the checksums of blocks make {crcs:08x} and not {should:08x}")));
        }
        Ok(Some(made))
    }
}

/// The error of a block that is not one.
fn broken(what: impl Display) -> Error {
    corrupt(format!("a block of bzip2 {what}"))
}
