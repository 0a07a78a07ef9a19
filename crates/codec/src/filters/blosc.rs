//! Blosc (filter 32001), the format of c-blosc 1: a header, where each block begins, and the blocks; bytes or bits of a
//! block are shuffled, and it is compressed whole or in as many splits as an element has bytes.
//!
//! The header has the version, the version of the compressor, flags (1 shuffled bytes, 2 not compressed at all, 4 shuffled
//! bits, 16 no splits, the compressor above), the size of an element, then the decoded size, that of a block and the
//! compressed size, in four bytes each; all little-endian. Parameters are two versions, the size of an element, the size of a
//! chunk, the level, what is shuffled, and the compressor. What to decode is all in the header.
//!
//! Not done: c-blosc's own choice of the size of a block, which is free.

use std::cell::RefCell;

use ferrocdf_bytes::Result;

use super::{bitshuffle, blosclz, deflate, lz4, shuffle, zstd};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;
use crate::scratch::{with_buffer, with_bytes, with_kept};

const HEADER: usize = 16;

/// Splits are for elements of at most this many bytes, in blocks of at least that many elements.
const MOST_SPLITS: usize = 16;
const LEAST_SPLIT: usize = 128;

const BYTES: u8 = 1;
const NOT_PACKED: u8 = 2;
const BITS: u8 = 4;
const NO_SPLITS: u8 = 16;

/// What encodes, in the numbers of a caller.
const NAMES: &[&str] = &["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/// Blocks are about that large, so that a block and its planes stay in the second cache.
const BLOCK: usize = 1 << 17;

thread_local! {
    static SNAPPY: RefCell<snap::raw::Encoder> = RefCell::new(snap::raw::Encoder::new());
}

/// What encodes, in the numbers of the header.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Packer {
    BloscLz = 0,
    Lz4 = 1,
    Snappy = 2,
    Zlib = 3,
    Zstd = 4,
}

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32001),
    names: &["Blosc"],
    make: |params, _| Blosc::new(params).map(boxed),
    derive: Some(|params, size, chunk| {
        params.resize(params.len().max(4), 0);
        params[2..4].copy_from_slice(&[size, chunk]);
    }),
    numcodecs: Some(Spelling {
        id: "blosc",
        write: |params| {
            Blosc::new(params)?;
            let param = |at: usize, other: u32| params.get(at).copied().unwrap_or(other);
            // Where the size of elements is known, what follows it is the size of a chunk.
            let block = if param(2, 0) == 0 { param(3, 0) } else { 0 };
            let name = NAMES.get(param(6, 0) as usize).copied();
            Ok(vec![
                ("clevel", param(4, 5).into()),
                ("blocksize", block.into()),
                ("cname", name.into()),
                ("shuffle", param(5, 1).into()),
            ])
        },
        read: |json| {
            let level = json.number("clevel", 5, 0..=9)? as u32;
            let block = json.number("blocksize", 0, 0..=i32::MAX.into())? as u32;
            // -1 leaves the choice to numcodecs.
            let shuffle = json.number("shuffle", 1, -1..=2)?.try_into().unwrap_or(1);
            Ok(vec![0, 0, 0, block, level, shuffle, json.word("cname", 1, NAMES)?])
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Blosc {
    size: usize,
    level: i32,
    shuffle: u8,
    encoder: Packer,
}

/// The header and what follows from it.
struct Header {
    flags: u8,
    /// Of an element.
    size: usize,
    len: usize,
    block: usize,
    encoder: Packer,
}

impl Blosc {
    pub fn new(params: &[u32]) -> Result<Blosc> {
        let param = |at: usize, other: u32| params.get(at).copied().unwrap_or(other);
        let (size, level, shuffle) = (param(2, 1), param(4, 5), param(5, 1));
        // As numbered for callers, where LZ4's two ways of encoding are two.
        let encoder = match param(6, 0) {
            0 => Packer::BloscLz,
            1 | 2 => Packer::Lz4,
            3 => Packer::Snappy,
            4 => Packer::Zlib,
            5 => Packer::Zstd,
            other => return Err(bad_params(format!("blosc has no compressor {other}"))),
        };
        if level > 9 || shuffle > 2 {
            return Err(bad_params(format!("blosc has no level {level} with shuffle {shuffle}")));
        }
        // Elements that are too large are bytes to blosc.
        let size = if (1..=255).contains(&size) { size as usize } else { 1 };
        Ok(Blosc { size, level: level as i32, shuffle: [0, BYTES, BITS][shuffle as usize], encoder })
    }
}

impl Header {
    fn read(encoded: &[u8]) -> Result<Header> {
        let Some((&[version, _, flags, size, ref numbers @ ..], _)) = encoded.split_first_chunk::<HEADER>()
        else {
            return Err(corrupt(format!("{} bytes do not hold a header of {HEADER}", encoded.len())));
        };
        let number = |at: usize| {
            let bytes = [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let (len, block, compressed) = (number(0), number(4), number(8));
        if !(1..=2).contains(&version) {
            return Err(corrupt(format!("version {version} of blosc is not known")));
        }
        if compressed > encoded.len() || size == 0 || len > 0 && !(1..=len).contains(&block) {
            return Err(corrupt(format!(
                "a header of {compressed} bytes of which {} are there, with blocks of {block} and elements of {size}",
                encoded.len()
            )));
        }
        let encoder = match flags >> 5 {
            0 => Packer::BloscLz,
            1 => Packer::Lz4,
            2 => Packer::Snappy,
            3 => Packer::Zlib,
            4 => Packer::Zstd,
            other => return Err(corrupt(format!("blosc has no format {other}"))),
        };
        Ok(Header { flags, size: size.into(), len, block, encoder })
    }

    fn write(&self, encoded: &mut [u8], compressed: usize) {
        encoded[..4].copy_from_slice(&[2, 1, self.flags, self.size as u8]);
        for (at, number) in [(4, self.len), (8, self.block), (12, compressed)] {
            encoded[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
    }

    /// In how many splits a block is compressed.
    fn splits(&self, block: usize) -> usize {
        let whole = block == self.block;
        let splits = self.flags & NO_SPLITS == 0
            && whole
            && self.size <= MOST_SPLITS
            && self.block / self.size >= LEAST_SPLIT;
        if splits { self.size } else { 1 }
    }

    /// What is shuffled of a block. Bits are where elements are a multiple of eight.
    fn shuffled(&self, block: usize) -> u8 {
        match self.flags & (BYTES | BITS) {
            BYTES if self.size > 1 => BYTES,
            BITS if block >= self.size && (block / self.size).is_multiple_of(8) => BITS,
            _ => 0,
        }
    }

    fn decode_block(&self, mut rest: &[u8], decoded: &mut [u8]) -> Result<()> {
        let short = || corrupt("a block ends outside of the stored bytes");
        let split = decoded.len() / self.splits(decoded.len());
        if !decoded.len().is_multiple_of(split) {
            return Err(corrupt(format!(
                "a block of {} bytes cannot be split by {}",
                decoded.len(),
                self.size
            )));
        }
        for to in decoded.chunks_exact_mut(split) {
            let (compressed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let (compressed, after) =
                after.split_at_checked(u32::from_le_bytes(*compressed) as usize).ok_or_else(short)?;
            rest = after;
            if compressed.len() == split {
                to.copy_from_slice(compressed);
                continue;
            }
            let made = match self.encoder {
                Packer::BloscLz => blosclz::decode(compressed, to).map(|()| Some(split))?,
                Packer::Lz4 => lz4::decode_block(compressed, to).map(|()| Some(split))?,
                Packer::Snappy => snappy(compressed, to)?,
                Packer::Zlib => deflate::inflate(deflate::Wrapper::Zlib, compressed, to)?,
                Packer::Zstd => zstd::decode(compressed, to)?,
            };
            if made != Some(split) {
                return Err(corrupt(format!("a part of a block does not unpack to {split} bytes")));
            }
        }
        Ok(())
    }

    fn encode_block(&self, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
        let split = decoded.len() / self.splits(decoded.len());
        for from in decoded.chunks_exact(split) {
            let start = encoded.len();
            encoded.extend_from_slice(&[0; 4]);
            match self.encoder {
                Packer::BloscLz => blosclz::encode(from, encoded),
                Packer::Lz4 => lz4::encode_block(from, encoded)?,
                Packer::Zlib => deflate::deflate(deflate::Wrapper::Zlib, level, from, encoded)?,
                // As c-blosc does it.
                Packer::Zstd => zstd::encode(if level < 9 { level * 2 - 1 } else { 22 }, from, encoded)?,
                Packer::Snappy => {
                    encoded.resize(start + 4 + snap::raw::max_compress_len(from.len()), 0);
                    let made = with_kept(&SNAPPY, snap::raw::Encoder::new, |snappy| {
                        snappy.compress(from, &mut encoded[start + 4..])
                    });
                    let len = made.map_err(|error| corrupt(format!("snappy cannot pack: {error}")))?;
                    encoded.truncate(start + 4 + len);
                }
            }
            if encoded.len() - start - 4 >= split {
                encoded.truncate(start + 4);
                encoded.extend_from_slice(from);
            }
            let len = (encoded.len() - start - 4) as u32;
            encoded[start..start + 4].copy_from_slice(&len.to_le_bytes());
        }
        Ok(())
    }
}

fn snappy(compressed: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
    let damaged = |error| corrupt(format!("{} bytes of snappy are damaged: {error}", compressed.len()));
    if snap::raw::decompress_len(compressed).map_err(damaged)? != decoded.len() {
        return Ok(None);
    }
    snap::raw::Decoder::new().decompress(compressed, decoded).map(Some).map_err(damaged)
}

impl SliceCodec for Blosc {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        Header::read(encoded).map(|header| Some(header.len))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let header = Header::read(encoded)?;
        let short = || corrupt(format!("{} stored bytes do not hold the blocks", encoded.len()));
        let (_, data) = encoded.split_at_checked(HEADER).ok_or_else(short)?;
        if header.flags & NOT_PACKED != 0 {
            decoded.copy_from_slice(data.get(..header.len).ok_or_else(short)?);
            return Ok(Some(header.len));
        }
        let blocks = decoded.chunks_mut(header.block.max(1));
        let starts = data.get(..blocks.len().saturating_mul(4)).ok_or_else(short)?;
        with_bytes(header.block.min(header.len), |compressed| {
            for (to, start) in blocks.zip(starts.as_chunks::<4>().0) {
                let from = encoded.get(u32::from_le_bytes(*start) as usize..).ok_or_else(short)?;
                let shuffled = header.shuffled(to.len());
                if shuffled == 0 {
                    header.decode_block(from, to)?;
                    continue;
                }
                let compressed = &mut compressed[..to.len()];
                header.decode_block(from, compressed)?;
                let whole = to.len() / header.size * header.size;
                let (elements, end) = to.split_at_mut(whole);
                match shuffled {
                    BYTES => shuffle::unshuffle(header.size, &compressed[..whole], elements),
                    _ => bitshuffle::join(header.size, &compressed[..whole], elements),
                }
                end.copy_from_slice(&compressed[whole..]);
            }
            Ok(Some(header.len))
        })
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if decoded.len() > i32::MAX as usize - HEADER {
            return Err(bad_params(format!("{} bytes are too many for blosc", decoded.len())));
        }
        // Eight elements at least, which bits are shuffled of.
        let block = (BLOCK / (8 * self.size) * 8 * self.size).min(decoded.len());
        let splits = !matches!(self.encoder, Packer::Zlib | Packer::Zstd) && self.shuffle == BYTES;
        let flags = self.shuffle | (self.encoder as u8) << 5 | if splits { 0 } else { NO_SPLITS };
        let mut header = Header { flags, size: self.size, len: decoded.len(), block, encoder: self.encoder };
        if splits && header.splits(block) > 1 && !block.is_multiple_of(self.size) {
            header.flags |= NO_SPLITS;
        }
        let blocks = decoded.chunks(block.max(1));
        encoded.resize(HEADER + 4 * blocks.len(), 0);
        if self.level > 0 && decoded.len() >= LEAST_SPLIT {
            with_buffer(|shuffled| {
                for (at, from) in blocks.enumerate() {
                    let start = (encoded.len() as u32).to_le_bytes();
                    encoded[HEADER + 4 * at..][..4].copy_from_slice(&start);
                    shuffled.resize(from.len(), 0);
                    let whole = from.len() / self.size * self.size;
                    match header.shuffled(from.len()) {
                        BYTES => shuffle::shuffle(self.size, &from[..whole], &mut shuffled[..whole]),
                        BITS => bitshuffle::spread(self.size, &from[..whole], &mut shuffled[..whole]),
                        _ => shuffled[..whole].copy_from_slice(&from[..whole]),
                    }
                    shuffled[whole..].copy_from_slice(&from[whole..]);
                    header.encode_block(self.level, shuffled, encoded)?;
                }
                Ok(())
            })?;
        }
        let compressed = encoded.len();
        if self.level == 0 || decoded.len() < LEAST_SPLIT || compressed >= decoded.len() + HEADER {
            header.flags |= NOT_PACKED;
            encoded.truncate(HEADER);
            encoded.extend_from_slice(decoded);
        }
        let compressed = encoded.len();
        header.write(encoded, compressed);
        Ok(Some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        encoded.saturating_mul(zstd::RATIO)
    }
}
