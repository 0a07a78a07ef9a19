//! Bitshuffle (filter 32008): in each block, first the first bits of all elements, then all second bits, and so on; each
//! block is compressed by LZ4 or zstd if the parameters select it (bitshuffle's `bshuf_h5filter`).
//!
//! The parameters are two version numbers, the element size in bytes, the number of elements in a block (0: derived from
//! the element size), the compressor (0 none, 2 LZ4, 3 zstd), and the level of zstd. With a compressor, the encoded bytes
//! begin with the decoded size in 8 bytes and the block size in 4 bytes, and each block with its compressed size in 4
//! bytes; all are big-endian. Elements after the last multiple of eight stay unchanged. A row is the same bit of all
//! elements of a block. A tile is sixteen bytes of each row: its bits are transposed and its bytes interleaved to elements
//! without a buffer between.

use ferrocdf_bytes::Result;
use wide::u8x16;

use super::lanes::{LANE, deinterleave, interleave, load, load_all, store, store_all, tiles, transpose_bits};
use super::{lz4, shuffle, zstd};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;
use crate::scratch::with_bytes;

/// Target size in bytes of a derived block, and its minimum number of elements.
const BLOCK_BYTES: usize = 8192;
const MIN_BLOCK_ELEMENTS: usize = 128;

/// Size of the header in bytes.
const HEADER: usize = 12;

/// Names of the compressors, indexed by their parameter; 1 is undefined.
const COMPRESSORS: &[&str] = &["none", "", "lz4", "zstd"];
const ZSTD: u32 = 3;

/// Version numbers that precede the element size in the parameters.
const VERSION: [u32; 2] = [0, 4];

/// True if the parameters are as a user gives them: block size, compressor and zstd level, without the version numbers and
/// the element size that precede them in final parameters.
fn is_user_form(params: &[u32]) -> bool {
    params.len() < 3 || params.len() == 3 && params[1] == ZSTD
}

/// See [`Entry::derive`].
fn derive(params: &mut Vec<u32>, size: u32, _chunk: u32) {
    if is_user_form(params) {
        let [major, minor] = VERSION;
        params.splice(0..0, [major, minor, size]).for_each(drop);
    }
}

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32008),
    names: &["bitshuffle"],
    new: |params, _| Bitshuffle::new(params).map(boxed),
    derive: Some(derive),
    numcodecs: Some(JsonForm {
        id: "ferrocdf_bitshuffle",
        write: |params| {
            let (size, user) = if is_user_form(params) { (0, params) } else { (params[2], &params[3..]) };
            Bitshuffle::new(&[&[0, 0, size.max(1)], user].concat())?.check_encode()?;
            let param = |index: usize| user.get(index).copied().unwrap_or(0);
            let name = COMPRESSORS.get(param(1) as usize).copied();
            let level = user.get(2).map(|&level| level as i32);
            Ok(vec![
                ("elementsize", size.into()),
                ("blocksize", param(0).into()),
                ("cname", name.into()),
                ("clevel", level.into()),
            ])
        },
        read: |json| {
            let size = json.number("elementsize", 0, 0..=u32::MAX.into())? as u32;
            let block = json.number("blocksize", 0, 0..=u32::MAX.into())? as u32;
            let mut params = vec![block, json.position("cname", 0, COMPRESSORS)?];
            if params[1] == ZSTD {
                params.push(json.number("clevel", 3, i32::MIN.into()..=i32::MAX.into())? as u32);
            }
            Bitshuffle::new(&[&[0, 0, size.max(1)], &params[..]].concat())?.check_encode()?;
            if size > 0 {
                derive(&mut params, size, 0);
            }
            Ok(params)
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Bitshuffle {
    /// Size of an element in bytes.
    size: usize,
    /// Number of elements in a block, a multiple of eight.
    block: usize,
    compressor: BitshuffleCompressor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum BitshuffleCompressor {
    None,
    Lz4,
    /// Zstd with its level.
    Zstd(i32),
    /// Undefined number, which some files have. Like bitshuffle's filter, the decoder treats it as `None`.
    Undefined(u32),
}

impl Bitshuffle {
    pub fn new(params: &[u32]) -> Result<Bitshuffle> {
        let param = |at: usize| params.get(at).copied().unwrap_or(0);
        let (size, block) = (param(2) as usize, param(3) as usize);
        let derived = (BLOCK_BYTES.checked_div(size).unwrap_or(0) / 8 * 8).max(MIN_BLOCK_ELEMENTS);
        let block = if block == 0 { derived } else { block };
        if size == 0 || !block.is_multiple_of(8) || block.checked_mul(size).is_none() {
            return Err(bad_params(format!(
                "blocks of {block} elements of {size} bytes: must be a multiple of 8 elements of at least 1 byte"
            )));
        }
        let compressor = match param(4) {
            0 => BitshuffleCompressor::None,
            2 => BitshuffleCompressor::Lz4,
            3 if params.len() > 5 => BitshuffleCompressor::Zstd(param(5) as i32),
            3 => BitshuffleCompressor::Zstd(3),
            number => BitshuffleCompressor::Undefined(number),
        };
        Ok(Bitshuffle { size, block, compressor })
    }

    /// Returns the block size in bytes from the header, and the bytes after the header.
    fn header<'a>(&self, encoded: &'a [u8]) -> Result<(usize, &'a [u8])> {
        let Some((&[.., a, b, c, d], rest)) = encoded.split_first_chunk::<HEADER>() else {
            return Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len())));
        };
        let block = u32::from_be_bytes([a, b, c, d]) as usize;
        if block == 0 || !(block / self.size).is_multiple_of(8) || !block.is_multiple_of(self.size) {
            return Err(corrupt(format!(
                "header: block size {block} is not a multiple of 8 elements of {} bytes",
                self.size
            )));
        }
        Ok((block, rest))
    }

    /// True if the bits are shuffled but not compressed.
    fn is_uncompressed(&self) -> bool {
        matches!(self.compressor, BitshuffleCompressor::None | BitshuffleCompressor::Undefined(_))
    }

    /// Returns the number of bytes in blocks; the bytes after them stay unchanged.
    fn shuffled_len(&self, len: usize) -> Result<usize> {
        if !len.is_multiple_of(self.size) {
            return Err(corrupt(format!("{len} bytes: not a multiple of the element size {}", self.size)));
        }
        Ok(len / (8 * self.size) * (8 * self.size))
    }
}

/// Unshuffles the bits of a multiple of eight elements of `size` bytes.
pub fn unshuffle_bits(size: usize, encoded: &[u8], decoded: &mut [u8]) {
    match size {
        _ if encoded.len() / size < 8 * LANE => unshuffle_short_rows(size, encoded, decoded),
        1 => unshuffle_tiles::<1, 0>(encoded, decoded),
        2 => unshuffle_tiles::<2, 1>(encoded, decoded),
        4 => unshuffle_tiles::<4, 2>(encoded, decoded),
        8 => unshuffle_tiles::<8, 4>(encoded, decoded),
        16 => unshuffle_tiles::<16, 8>(encoded, decoded),
        _ => with_bytes(encoded.len(), |planes| {
            let plane = encoded.len() / size;
            for (rows, bytes) in encoded.chunks_exact(plane).zip(planes.chunks_exact_mut(plane)) {
                unshuffle_tiles::<1, 0>(rows, bytes);
            }
            shuffle::unshuffle(size, planes, decoded);
        }),
    }
}

/// Shuffles the bits of a multiple of eight elements of `size` bytes.
pub fn shuffle_bits(size: usize, decoded: &[u8], encoded: &mut [u8]) {
    match size {
        _ if decoded.len() / size < 8 * LANE => shuffle_short_rows(size, decoded, encoded),
        1 => shuffle_tiles::<1, 0>(decoded, encoded),
        2 => shuffle_tiles::<2, 1>(decoded, encoded),
        4 => shuffle_tiles::<4, 2>(decoded, encoded),
        8 => shuffle_tiles::<8, 4>(decoded, encoded),
        16 => shuffle_tiles::<16, 8>(decoded, encoded),
        _ => with_bytes(decoded.len(), |planes| {
            let plane = decoded.len() / size;
            shuffle::shuffle(size, decoded, planes);
            for (bytes, rows) in planes.chunks_exact(plane).zip(encoded.chunks_exact_mut(plane)) {
                shuffle_tiles::<1, 0>(bytes, rows);
            }
        }),
    }
}

/// [`unshuffle_bits`] for rows of at least [`LANE`] bytes. `GROUPS` is half of `SIZE`.
///
/// After the bits are transposed, byte `k` of element `j` of eight is in row `j * SIZE + k`. Every `GROUPS`-th row is in one
/// group. Each group is interleaved, then the vectors with the same column number of all groups.
fn unshuffle_tiles<const SIZE: usize, const GROUPS: usize>(encoded: &[u8], decoded: &mut [u8]) {
    let row = encoded.len() / (8 * SIZE);
    for at in tiles(row) {
        let to = &mut decoded[8 * SIZE * at..][..8 * SIZE * LANE];
        let bytes = |byte: usize| {
            transpose_bits(std::array::from_fn(|bit| load(encoded, (8 * byte + bit) * row + at)))
        };
        if SIZE == 1 {
            store_all(interleave(bytes(0)), to, 0);
            continue;
        }
        let mut groups = [[u8x16::ZERO; LANE]; GROUPS];
        for byte in 0..SIZE {
            let lanes = bytes(byte);
            for (element, &lane) in lanes.iter().enumerate() {
                let row = element * SIZE + byte;
                groups[row % GROUPS][row / GROUPS] = lane;
            }
        }
        for group in &mut groups {
            *group = interleave(*group);
        }
        for (column, to) in to.chunks_exact_mut(GROUPS * LANE).enumerate() {
            let parts = interleave::<GROUPS>(std::array::from_fn(|group| groups[group][column]));
            store_all(parts, to, 0);
        }
    }
}

/// Inverse of [`unshuffle_tiles`].
fn shuffle_tiles<const SIZE: usize, const GROUPS: usize>(decoded: &[u8], encoded: &mut [u8]) {
    let row = decoded.len() / (8 * SIZE);
    for at in tiles(row) {
        let from = &decoded[8 * SIZE * at..][..8 * SIZE * LANE];
        let mut put = |byte: usize, bytes: [u8x16; 8]| {
            let lanes = transpose_bits(bytes);
            for (bit, &lane) in lanes.iter().enumerate() {
                store(lane, encoded, (8 * byte + bit) * row + at);
            }
        };
        if SIZE == 1 {
            put(0, deinterleave(load_all(from, 0)));
            continue;
        }
        let mut groups = [[u8x16::ZERO; LANE]; GROUPS];
        for column in 0..LANE {
            let parts = deinterleave::<GROUPS>(load_all(from, column * GROUPS * LANE));
            for (group, &lane) in groups.iter_mut().zip(&parts) {
                group[column] = lane;
            }
        }
        for group in &mut groups {
            *group = deinterleave(*group);
        }
        for byte in 0..SIZE {
            let lane = |row: usize| groups[row % GROUPS][row / GROUPS];
            put(byte, std::array::from_fn(|element| lane(element * SIZE + byte)));
        }
    }
}

/// [`unshuffle_bits`] for rows that are too short for tiles.
fn unshuffle_short_rows(size: usize, encoded: &[u8], decoded: &mut [u8]) {
    let row = encoded.len() / (8 * size);
    for byte in 0..size {
        for at in 0..row {
            let bytes = transpose_word(std::array::from_fn(|bit| encoded[(8 * byte + bit) * row + at]));
            for (element, value) in bytes.into_iter().enumerate() {
                decoded[(8 * at + element) * size + byte] = value;
            }
        }
    }
}

/// Inverse of [`unshuffle_short_rows`].
fn shuffle_short_rows(size: usize, decoded: &[u8], encoded: &mut [u8]) {
    let row = decoded.len() / (8 * size);
    for byte in 0..size {
        for at in 0..row {
            let bytes =
                transpose_word(std::array::from_fn(|element| decoded[(8 * at + element) * size + byte]));
            for (bit, value) in bytes.into_iter().enumerate() {
                encoded[(8 * byte + bit) * row + at] = value;
            }
        }
    }
}

/// Transposes the 8 x 8 bits of eight bytes: bit `i` of byte `j` becomes bit `j` of byte `i`.
fn transpose_word(bytes: [u8; 8]) -> [u8; 8] {
    let mut bits = u64::from_le_bytes(bytes);
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swap = (bits ^ bits >> distance) & mask;
        bits ^= swap ^ swap << distance;
    }
    bits.to_le_bytes()
}

impl SliceCodec for Bitshuffle {
    fn check_encode(&self) -> Result<()> {
        match self.compressor {
            BitshuffleCompressor::Undefined(number) => {
                Err(bad_params(format!("bitshuffle: compressor {number} is undefined")))
            }
            _ => Ok(()),
        }
    }

    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        if self.is_uncompressed() {
            return Ok(Some(encoded.len()));
        }
        self.header(encoded)?;
        let len = encoded.first_chunk::<8>().map_or(0, |len| u64::from_be_bytes(*len));
        usize::try_from(len)
            .map(Some)
            .map_err(|_| corrupt(format!("header: decoded size {len} is too large")))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = decoded.len();
        let shuffled = self.shuffled_len(len)?;
        let (blocks, end) = decoded.split_at_mut(shuffled);
        if self.is_uncompressed() {
            let block = self.block * self.size;
            let (encoded, rest) = encoded.split_at(shuffled);
            for (from, to) in encoded.chunks(block).zip(blocks.chunks_mut(block)) {
                unshuffle_bits(self.size, from, to);
            }
            end.copy_from_slice(rest);
            return Ok(Some(len));
        }
        let short = || corrupt(format!("the {} encoded bytes end within a block", encoded.len()));
        let (block, mut rest) = self.header(encoded)?;
        with_bytes(block.min(shuffled), |bits| {
            for to in blocks.chunks_mut(block) {
                let (compressed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
                let compressed = u32::from_be_bytes(*compressed) as usize;
                let (compressed, after) = after.split_at_checked(compressed).ok_or_else(short)?;
                rest = after;
                let bits = &mut bits[..to.len()];
                match self.compressor {
                    BitshuffleCompressor::Zstd(_) if zstd::decode(compressed, bits)? == Some(to.len()) => {}
                    BitshuffleCompressor::Zstd(_) => {
                        return Err(corrupt(format!("a block does not decompress to {} bytes", to.len())));
                    }
                    _ => lz4::decode_block(compressed, bits)?,
                }
                unshuffle_bits(self.size, bits, to);
            }
            end.copy_from_slice(rest.get(..end.len()).ok_or_else(short)?);
            Ok(Some(len))
        })
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        self.check_encode()?;
        let block = self.block * self.size;
        let (blocks, end) = decoded.split_at(self.shuffled_len(decoded.len())?);
        if self.is_uncompressed() {
            encoded.resize(blocks.len(), 0);
            for (from, to) in blocks.chunks(block).zip(encoded.chunks_mut(block)) {
                shuffle_bits(self.size, from, to);
            }
            encoded.extend_from_slice(end);
            return Ok(Some(()));
        }
        let Ok(block_size) = u32::try_from(block) else {
            return Err(bad_params(format!("blocks of {block} bytes: too large to compress")));
        };
        encoded.extend_from_slice(&(decoded.len() as u64).to_be_bytes());
        encoded.extend_from_slice(&block_size.to_be_bytes());
        with_bytes(block.min(blocks.len()), |bits| {
            for from in blocks.chunks(block) {
                let bits = &mut bits[..from.len()];
                shuffle_bits(self.size, from, bits);
                let start = encoded.len();
                encoded.extend_from_slice(&[0; 4]);
                match self.compressor {
                    BitshuffleCompressor::Zstd(level) => zstd::encode(level, bits, encoded)?,
                    _ => lz4::encode_block(bits, encoded)?,
                }
                let len = (encoded.len() - start - 4) as u32;
                encoded[start..start + 4].copy_from_slice(&len.to_be_bytes());
            }
            encoded.extend_from_slice(end);
            Ok(Some(()))
        })
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        match self.compressor {
            BitshuffleCompressor::None | BitshuffleCompressor::Undefined(_) => encoded,
            BitshuffleCompressor::Lz4 => encoded.saturating_mul(lz4::MAX_RATIO),
            BitshuffleCompressor::Zstd(_) => encoded.saturating_mul(zstd::MAX_RATIO),
        }
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        self.is_uncompressed().then_some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_moves_bits_to_rows_and_unshuffle_restores_them() {
        for size in [1, 2, 3, 4, 8, 12, 16] {
            for count in [8, 16, 120, 128, 136, 264, 1024] {
                let decoded: Vec<u8> =
                    (0..(size * count) as u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
                let (mut encoded, mut back) = (vec![0; decoded.len()], vec![0; decoded.len()]);
                shuffle_bits(size, &decoded, &mut encoded);
                for (at, &byte) in decoded.iter().enumerate() {
                    let (element, position) = (at / size, at % size);
                    for bit in 0..8 {
                        let row = &encoded[(8 * position + bit) * (count / 8)..][..count / 8];
                        let shuffled = row[element / 8] >> (element % 8) & 1;
                        assert_eq!(
                            shuffled,
                            byte >> bit & 1,
                            "bit {bit} of byte {at}, {count} of size {size}"
                        );
                    }
                }
                unshuffle_bits(size, &encoded, &mut back);
                assert_eq!(back, decoded, "{count} of size {size}");
            }
        }
    }
}
