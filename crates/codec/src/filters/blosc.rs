//! Blosc (filter 32001), the format of c-blosc 1: a header, the offset of each block, and the blocks. The bytes or bits of a
//! block are shuffled, and the block is compressed whole or in as many splits as an element has bytes.
//!
//! The header contains the format version, the version of the compressor format, flags (1 bytes shuffled, 2 not compressed,
//! 4 bits shuffled, 16 no splits, the compressor in the high three bits), the element size (one byte each), then the
//! decoded size, the block size and the compressed size (four bytes each, little-endian). The parameters are two version
//! numbers, the element size, the chunk size, the level, the kind of shuffle, and the compressor; the decoder uses only the
//! header.
//!
//! The block size is a free choice of the encoder, and differs from the one of c-blosc.

use std::cell::RefCell;
use std::ops::Range;

use ferrocdf_bytes::Result;

use super::{bitshuffle, blosclz, deflate, lz4, shuffle, zstd};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt, wrong_size};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;
use crate::scratch::{with_buffer, with_bytes, with_thread_local};

/// Size of the header in bytes.
const HEADER: usize = 16;

/// Maximum element size in bytes, and minimum number of elements in a block, for which a block is split.
const MAX_SPLITS: usize = 16;
const MIN_SPLIT: usize = 128;

/// Flags of the header.
const BYTE_SHUFFLE: u8 = 1;
const NOT_COMPRESSED: u8 = 2;
const BIT_SHUFFLE: u8 = 4;
const NO_SPLITS: u8 = 16;

/// Names of the compressors, indexed by their number in the parameters.
const COMPRESSORS: &[&str] = &["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/// Names of the kinds of shuffle in Zarr v3, indexed by their number in the parameters.
const SHUFFLES: &[&str] = &["noshuffle", "shuffle", "bitshuffle"];

/// Approximate block size in bytes, for which a block and its shuffled bytes fit in the L2 cache.
const BLOCK: usize = 1 << 17;

thread_local! {
    static SNAPPY: RefCell<snap::raw::Encoder> = RefCell::new(snap::raw::Encoder::new());
}

/// Compressor by its number in the header.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BloscCompressor {
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
    new: |params, chunk| {
        let mut blosc = Blosc::new(params)?;
        // Metadata of Zarr v2 has no element size: numcodecs takes that of the array.
        if let (0, Some(chunk)) = (params.get(2).copied().unwrap_or(0), chunk) {
            blosc.size = element_size(chunk.element_size);
        }
        Ok(boxed(blosc))
    },
    derive: Some(|params, size, chunk| {
        params.resize(params.len().max(4), 0);
        params[2..4].copy_from_slice(&[size, chunk]);
    }),
    numcodecs: Some(JsonForm {
        id: "blosc",
        write: |params| {
            Blosc::new(params)?;
            let param = |index: usize, default: u32| params.get(index).copied().unwrap_or(default);
            // Parameter 3 is a block size from the user, or the chunk size once the element size has been derived.
            let block = if param(2, 0) == 0 { param(3, 0) } else { 0 };
            let name = COMPRESSORS.get(param(6, 0) as usize).copied();
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
            // -1 is the automatic choice of numcodecs.
            let shuffle = json.number("shuffle", 1, -1..=2)?.try_into().unwrap_or(1);
            Ok(vec![0, 0, 0, block, level, shuffle, json.position("cname", 1, COMPRESSORS)?])
        },
    }),
    zarr_v3: Some(JsonForm {
        id: "blosc",
        write: |params| {
            Blosc::new(params)?;
            let param = |index: usize, default: u32| params.get(index).copied().unwrap_or(default);
            let shuffle = SHUFFLES.get(param(5, 1) as usize).copied();
            Ok(vec![
                ("typesize", param(2, 0).max(1).into()),
                ("cname", COMPRESSORS.get(param(6, 0) as usize).copied().into()),
                ("clevel", param(4, 5).into()),
                ("shuffle", shuffle.into()),
                ("blocksize", param(3, 0).into()),
            ])
        },
        read: |json| {
            let level = json.number("clevel", 5, 0..=9)? as u32;
            let size = json.number("typesize", 1, 1..=i32::MAX.into())? as u32;
            let shuffle = json.position("shuffle", 1, SHUFFLES)?;
            let block = json.number("blocksize", 0, 0..=i32::MAX.into())? as u32;
            Ok(vec![0, 0, size, block, level, shuffle, json.position("cname", 1, COMPRESSORS)?])
        },
    }),
};

#[derive(Debug)]
pub struct Blosc {
    /// Size of an element in bytes.
    size: usize,
    level: i32,
    /// 0, [`BYTE_SHUFFLE`] or [`BIT_SHUFFLE`].
    shuffle: u8,
    compressor: BloscCompressor,
}

/// Fields of the header, with their names in c-blosc's "Blosc Header Format" (`README_HEADER.rst`).
struct BloscHeader {
    flags: u8,
    /// Element size in bytes (`typesize`).
    size: usize,
    /// Decoded size in bytes (`nbytes`).
    len: usize,
    /// Block size in bytes (`blocksize`).
    block: usize,
    /// The high three bits of the flags.
    compressor: BloscCompressor,
}

impl Blosc {
    pub fn new(params: &[u32]) -> Result<Blosc> {
        let param = |index: usize, default: u32| params.get(index).copied().unwrap_or(default);
        let (size, level, shuffle) = (param(2, 1), param(4, 5), param(5, 1));
        // LZ4 and LZ4HC have different numbers in the parameters, and one format.
        let compressor = match param(6, 0) {
            0 => BloscCompressor::BloscLz,
            1 | 2 => BloscCompressor::Lz4,
            3 => BloscCompressor::Snappy,
            4 => BloscCompressor::Zlib,
            5 => BloscCompressor::Zstd,
            number => return Err(bad_params(format!("blosc: invalid compressor {number}"))),
        };
        if level > 9 || shuffle > 2 {
            return Err(bad_params(format!(
                "blosc: level {level} with shuffle {shuffle}: must be at most 9 and 2"
            )));
        }
        let size = element_size(size as usize);
        let shuffle = [0, BYTE_SHUFFLE, BIT_SHUFFLE][shuffle as usize];
        Ok(Blosc { size, level: level as i32, shuffle, compressor })
    }
}

/// Returns the element size that Blosc uses: elements of more than 255 bytes are bytes to it.
fn element_size(size: usize) -> usize {
    if (1..=255).contains(&size) { size } else { 1 }
}

impl BloscHeader {
    fn read(encoded: &[u8]) -> Result<BloscHeader> {
        let Some((&[version, _, flags, size, ref numbers @ ..], _)) = encoded.split_first_chunk::<HEADER>()
        else {
            return Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len())));
        };
        let number = |at: usize| {
            let bytes = [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let (len, block, compressed) = (number(0), number(4), number(8));
        if !(1..=2).contains(&version) {
            return Err(corrupt(format!("header: format version {version} is unknown")));
        }
        if compressed > encoded.len() || size == 0 || len > 0 && !(1..=len).contains(&block) {
            return Err(corrupt(format!(
                "header: compressed size {compressed} of {} bytes, decoded size {len}, block size {block}, \
                 element size {size}",
                encoded.len()
            )));
        }
        let compressor = match flags >> 5 {
            0 => BloscCompressor::BloscLz,
            1 => BloscCompressor::Lz4,
            2 => BloscCompressor::Snappy,
            3 => BloscCompressor::Zlib,
            4 => BloscCompressor::Zstd,
            number => return Err(corrupt(format!("header: compressor {number} is unknown"))),
        };
        Ok(BloscHeader { flags, size: size.into(), len, block, compressor })
    }

    fn write(&self, encoded: &mut [u8], compressed: usize) {
        encoded[..4].copy_from_slice(&[2, 1, self.flags, self.size as u8]);
        for (at, number) in [(4, self.len), (8, self.block), (12, compressed)] {
            encoded[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
    }

    /// Returns the number of splits of a block of `block` bytes; the last block may be shorter than the block size.
    fn splits(&self, block: usize) -> usize {
        let is_full = block == self.block;
        let is_split = self.flags & NO_SPLITS == 0
            && is_full
            && self.size <= MAX_SPLITS
            && self.block / self.size >= MIN_SPLIT;
        if is_split { self.size } else { 1 }
    }

    /// Returns the kind of shuffle of a block of `block` bytes. Bits are shuffled only if the number of elements is a
    /// multiple of eight.
    fn shuffle(&self, block: usize) -> u8 {
        match self.flags & (BYTE_SHUFFLE | BIT_SHUFFLE) {
            BYTE_SHUFFLE if self.size > 1 => BYTE_SHUFFLE,
            BIT_SHUFFLE if block >= self.size && (block / self.size).is_multiple_of(8) => BIT_SHUFFLE,
            _ => 0,
        }
    }

    fn decode_block(&self, mut rest: &[u8], decoded: &mut [u8]) -> Result<()> {
        let short = || corrupt("a block extends past the end of the encoded bytes");
        let split = decoded.len() / self.splits(decoded.len());
        if !decoded.len().is_multiple_of(split) {
            return Err(corrupt(format!(
                "a block of {} bytes: not divisible into {} splits",
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
            let decoded_len = match self.compressor {
                BloscCompressor::BloscLz => blosclz::decode(compressed, to).map(|()| Some(split))?,
                BloscCompressor::Lz4 => lz4::decode_block(compressed, to).map(|()| Some(split))?,
                BloscCompressor::Snappy => decode_snappy(compressed, to).map(|()| Some(split))?,
                BloscCompressor::Zlib => deflate::inflate(deflate::Wrapper::Zlib, compressed, to)?,
                BloscCompressor::Zstd => zstd::decode(compressed, to)?,
            };
            if decoded_len != Some(split) {
                return Err(corrupt(format!("a split of a block does not decompress to {split} bytes")));
            }
        }
        Ok(())
    }

    fn encode_block(&self, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
        let split = decoded.len() / self.splits(decoded.len());
        for from in decoded.chunks_exact(split) {
            let start = encoded.len();
            encoded.extend_from_slice(&[0; 4]);
            match self.compressor {
                BloscCompressor::BloscLz => blosclz::encode(from, encoded),
                BloscCompressor::Lz4 => lz4::encode_block(from, encoded)?,
                BloscCompressor::Zlib => deflate::deflate(deflate::Wrapper::Zlib, level, from, encoded)?,
                // The level of zstd is computed as in c-blosc.
                BloscCompressor::Zstd => {
                    zstd::encode(if level < 9 { level * 2 - 1 } else { 22 }, from, encoded)?
                }
                BloscCompressor::Snappy => {
                    encoded.resize(start + 4 + snap::raw::max_compress_len(from.len()), 0);
                    let result = with_thread_local(&SNAPPY, snap::raw::Encoder::new, |snappy| {
                        snappy.compress(from, &mut encoded[start + 4..])
                    });
                    let len =
                        result.map_err(|error| corrupt(format!("snappy: compression failed: {error}")))?;
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

/// Decodes a raw stream of Snappy ("Snappy compressed format description") to the bytes that it decodes to.
///
/// # Errors
/// `NC_EHDFERR` for a damaged stream, and for one of another decoded size.
pub fn decode_snappy(encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
    let damaged = |error| corrupt(format!("snappy: {} encoded bytes: {error}", encoded.len()));
    let len = snap::raw::decompress_len(encoded).map_err(damaged)?;
    if len != decoded.len() {
        return Err(wrong_size(decoded.len(), len));
    }
    snap::raw::Decoder::new().decompress(encoded, decoded).map(drop).map_err(damaged)
}

impl SliceCodec for Blosc {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        BloscHeader::read(encoded).map(|header| Some(header.len))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        self.decode_part(encoded, 0..decoded.len(), decoded)
    }

    /// Decodes the blocks that `wanted` meets.
    fn decode_part(&self, encoded: &[u8], wanted: Range<usize>, decoded: &mut [u8]) -> Result<Option<usize>> {
        let header = BloscHeader::read(encoded)?;
        let short = || corrupt(format!("the {} encoded bytes end before or within a block", encoded.len()));
        let (_, data) = encoded.split_at_checked(HEADER).ok_or_else(short)?;
        if header.flags & NOT_COMPRESSED != 0 {
            let plain = data.get(..header.len).and_then(|data| data.get(wanted.clone())).ok_or_else(short)?;
            decoded[wanted].copy_from_slice(plain);
            return Ok(Some(header.len));
        }
        let blocks = decoded.chunks_mut(header.block.max(1));
        let starts = data.get(..blocks.len().saturating_mul(4)).ok_or_else(short)?;
        with_bytes(header.block.min(header.len), |shuffled| {
            for ((to, start), at) in
                blocks.zip(starts.as_chunks::<4>().0).zip((0..).step_by(header.block.max(1)))
            {
                if at >= wanted.end || at + to.len() <= wanted.start {
                    continue;
                }
                let from = encoded.get(u32::from_le_bytes(*start) as usize..).ok_or_else(short)?;
                let kind = header.shuffle(to.len());
                if kind == 0 {
                    header.decode_block(from, to)?;
                    continue;
                }
                let shuffled = &mut shuffled[..to.len()];
                header.decode_block(from, shuffled)?;
                let whole = to.len() / header.size * header.size;
                let (elements, end) = to.split_at_mut(whole);
                match kind {
                    BYTE_SHUFFLE => shuffle::unshuffle(header.size, &shuffled[..whole], elements),
                    _ => bitshuffle::unshuffle_bits(header.size, &shuffled[..whole], elements),
                }
                end.copy_from_slice(&shuffled[whole..]);
            }
            Ok(Some(header.len))
        })
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if decoded.len() > i32::MAX as usize - HEADER {
            return Err(bad_params(format!("{} bytes: too many for blosc", decoded.len())));
        }
        // A multiple of eight elements, which the shuffle of bits requires.
        let block = (BLOCK / (8 * self.size) * 8 * self.size).min(decoded.len());
        let compressor = self.compressor;
        let is_split = !matches!(compressor, BloscCompressor::Zlib | BloscCompressor::Zstd)
            && self.shuffle == BYTE_SHUFFLE;
        let flags = self.shuffle | (compressor as u8) << 5 | if is_split { 0 } else { NO_SPLITS };
        let mut header = BloscHeader { flags, size: self.size, len: decoded.len(), block, compressor };
        if is_split && header.splits(block) > 1 && !block.is_multiple_of(self.size) {
            header.flags |= NO_SPLITS;
        }
        let blocks = decoded.chunks(block.max(1));
        encoded.resize(HEADER + 4 * blocks.len(), 0);
        if self.level > 0 && decoded.len() >= MIN_SPLIT {
            with_buffer(|shuffled| {
                for (at, from) in blocks.enumerate() {
                    let start = (encoded.len() as u32).to_le_bytes();
                    encoded[HEADER + 4 * at..][..4].copy_from_slice(&start);
                    shuffled.resize(from.len(), 0);
                    let whole = from.len() / self.size * self.size;
                    match header.shuffle(from.len()) {
                        BYTE_SHUFFLE => shuffle::shuffle(self.size, &from[..whole], &mut shuffled[..whole]),
                        BIT_SHUFFLE => {
                            bitshuffle::shuffle_bits(self.size, &from[..whole], &mut shuffled[..whole])
                        }
                        _ => shuffled[..whole].copy_from_slice(&from[..whole]),
                    }
                    shuffled[whole..].copy_from_slice(&from[whole..]);
                    header.encode_block(self.level, shuffled, encoded)?;
                }
                Ok(())
            })?;
        }
        let compressed = encoded.len();
        if self.level == 0 || decoded.len() < MIN_SPLIT || compressed >= decoded.len() + HEADER {
            header.flags |= NOT_COMPRESSED;
            encoded.truncate(HEADER);
            encoded.extend_from_slice(decoded);
        }
        let compressed = encoded.len();
        header.write(encoded, compressed);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(zstd::MAX_RATIO)
    }
}
