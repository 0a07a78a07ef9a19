//! Bitshuffle (filter 32008): in each block, all first bits of the elements, then all second bits, and so on; each block
//! compressed by LZ4 or zstd if the parameters say so (bitshuffle's `bshuf_h5filter`).
//!
//! Parameters are two versions, the size of an element, the elements of a block (0 for a choice by size), what encodes (0
//! nothing, 2 LZ4, 3 zstd), and the level of zstd. SliceFilter data begin with their decoded size in 8 bytes and the size of a
//! block in 4, and each block with its compressed size in 4; all big-endian. Elements after the last multiple of eight stay
//! as they are. Sixteen bytes of all rows of bits are a tile: their bits are turned around the diagonal, and the bytes woven
//! to elements, without a buffer between.

use ferrocdf_bytes::Result;
use wide::u8x16;

use super::lanes::{LANE, load, load_all, store, store_all, tiles, turn, unweave, weave};
use super::{lz4, shuffle, zstd};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;
use crate::scratch::with_bytes;

/// Bytes of a block that is chosen by size, and the fewest elements of it.
const BLOCK_BYTES: usize = 8192;
const BLOCK_ELEMENTS: usize = 128;

const HEADER: usize = 12;

/// What encodes, in the numbers of the parameters; there is no first.
const NAMES: &[&str] = &["none", "", "lz4", "zstd"];
const ZSTD: u32 = 3;

/// The version that is encoded before the size of elements.
const VERSION: [u32; 2] = [0, 4];

/// Whether parameters are those that a caller gives: the elements of a block, what encodes, and the level of zstd, without the
/// versions and the size of elements that are encoded before them.
fn is_given(params: &[u32]) -> bool {
    params.len() < 3 || params.len() == 3 && params[1] == ZSTD
}

/// See [`Entry::derive`].
fn derive(params: &mut Vec<u32>, size: u32, _chunk: u32) {
    if is_given(params) {
        let [major, minor] = VERSION;
        params.splice(0..0, [major, minor, size]).for_each(drop);
    }
}

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32008),
    names: &["bitshuffle"],
    make: |params, _| Bitshuffle::new(params).map(boxed),
    derive: Some(derive),
    numcodecs: Some(Spelling {
        id: "ferrocdf_bitshuffle",
        write: |params| {
            let (size, given) = if is_given(params) { (0, params) } else { (params[2], &params[3..]) };
            Bitshuffle::new(&[&[0, 0, size.max(1)], given].concat())?.check_encode()?;
            let param = |at: usize| given.get(at).copied().unwrap_or(0);
            let name = NAMES.get(param(1) as usize).copied();
            let level = given.get(2).map(|&level| level as i32);
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
            let mut params = vec![block, json.word("cname", 0, NAMES)?];
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
    size: usize,
    /// Elements, a multiple of eight.
    block: usize,
    encoder: Packer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Packer {
    None,
    Lz4,
    Zstd(i32),
    /// A number that nobody can ask for, but some files have: bitshuffle's filter takes it for none.
    Other(u32),
}

impl Bitshuffle {
    pub fn new(params: &[u32]) -> Result<Bitshuffle> {
        let param = |at: usize| params.get(at).copied().unwrap_or(0);
        let (size, block) = (param(2) as usize, param(3) as usize);
        if size == 0 || !block.is_multiple_of(8) || block.checked_mul(size).is_none() {
            return Err(bad_params(format!("blocks of {block} elements of {size} bytes")));
        }
        let encoder = match param(4) {
            0 => Packer::None,
            2 => Packer::Lz4,
            3 if params.len() > 5 => Packer::Zstd(param(5) as i32),
            3 => Packer::Zstd(3),
            other => Packer::Other(other),
        };
        let chosen = (BLOCK_BYTES / size / 8 * 8).max(BLOCK_ELEMENTS);
        Ok(Bitshuffle { size, block: if block == 0 { chosen } else { block }, encoder })
    }

    /// The size of a block in bytes as the encoded bytes say, and what comes behind.
    fn header<'a>(&self, encoded: &'a [u8]) -> Result<(usize, &'a [u8])> {
        let Some((&[.., a, b, c, d], rest)) = encoded.split_first_chunk::<HEADER>() else {
            return Err(corrupt(format!("{} bytes do not hold a header of {HEADER}", encoded.len())));
        };
        let block = u32::from_be_bytes([a, b, c, d]) as usize;
        if block == 0 || !(block / self.size).is_multiple_of(8) || !block.is_multiple_of(self.size) {
            return Err(corrupt(format!("blocks of {block} bytes with elements of {}", self.size)));
        }
        Ok((block, rest))
    }

    /// Whether bits are shuffled and nothing encodes them.
    fn is_identity(&self) -> bool {
        matches!(self.encoder, Packer::None | Packer::Other(_))
    }

    /// Bytes that are in blocks; the rest stays as it is.
    fn shuffled(&self, len: usize) -> Result<usize> {
        if !len.is_multiple_of(self.size) {
            return Err(corrupt(format!("{len} bytes are no whole elements of {}", self.size)));
        }
        Ok(len / (8 * self.size) * (8 * self.size))
    }
}

/// Puts bits together: a multiple of eight elements of `size` bytes.
pub fn join(size: usize, encoded: &[u8], decoded: &mut [u8]) {
    match size {
        _ if encoded.len() / size < 8 * LANE => join_few(size, encoded, decoded),
        1 => join_tiles::<1, 0>(encoded, decoded),
        2 => join_tiles::<2, 1>(encoded, decoded),
        4 => join_tiles::<4, 2>(encoded, decoded),
        8 => join_tiles::<8, 4>(encoded, decoded),
        16 => join_tiles::<16, 8>(encoded, decoded),
        _ => with_bytes(encoded.len(), |planes| {
            let plane = encoded.len() / size;
            for (rows, bytes) in encoded.chunks_exact(plane).zip(planes.chunks_exact_mut(plane)) {
                join_tiles::<1, 0>(rows, bytes);
            }
            shuffle::unshuffle(size, planes, decoded);
        }),
    }
}

/// Takes bits apart: a multiple of eight elements of `size` bytes.
pub fn spread(size: usize, decoded: &[u8], encoded: &mut [u8]) {
    match size {
        _ if decoded.len() / size < 8 * LANE => spread_few(size, decoded, encoded),
        1 => spread_tiles::<1, 0>(decoded, encoded),
        2 => spread_tiles::<2, 1>(decoded, encoded),
        4 => spread_tiles::<4, 2>(decoded, encoded),
        8 => spread_tiles::<8, 4>(decoded, encoded),
        16 => spread_tiles::<16, 8>(decoded, encoded),
        _ => with_bytes(decoded.len(), |planes| {
            let plane = decoded.len() / size;
            shuffle::shuffle(size, decoded, planes);
            for (bytes, rows) in planes.chunks_exact(plane).zip(encoded.chunks_exact_mut(plane)) {
                spread_tiles::<1, 0>(bytes, rows);
            }
        }),
    }
}

/// [`join`] where a row has at least [`LANE`] bytes. `GROUPS` is half of `SIZE`.
///
/// Byte `k` of element `j` of eight is row `j * SIZE + k` once the bits are turned. Every `GROUPS`-th row is in one group, so
/// that a group is woven by itself, and then what all groups have of a column.
fn join_tiles<const SIZE: usize, const GROUPS: usize>(encoded: &[u8], decoded: &mut [u8]) {
    let row = encoded.len() / (8 * SIZE);
    for at in tiles(row) {
        let to = &mut decoded[8 * SIZE * at..][..8 * SIZE * LANE];
        let bytes = |of: usize| turn(std::array::from_fn(|bit| load(encoded, (8 * of + bit) * row + at)));
        if SIZE == 1 {
            store_all(weave(bytes(0)), to, 0);
            continue;
        }
        let mut groups = [[u8x16::ZERO; LANE]; GROUPS];
        for of in 0..SIZE {
            let lanes = bytes(of);
            for (element, &lane) in lanes.iter().enumerate() {
                let row = element * SIZE + of;
                groups[row % GROUPS][row / GROUPS] = lane;
            }
        }
        for group in &mut groups {
            *group = weave(*group);
        }
        for (column, to) in to.chunks_exact_mut(GROUPS * LANE).enumerate() {
            let parts = weave::<GROUPS>(std::array::from_fn(|group| groups[group][column]));
            store_all(parts, to, 0);
        }
    }
}

/// [`join_tiles`] backwards.
fn spread_tiles<const SIZE: usize, const GROUPS: usize>(decoded: &[u8], encoded: &mut [u8]) {
    let row = decoded.len() / (8 * SIZE);
    for at in tiles(row) {
        let from = &decoded[8 * SIZE * at..][..8 * SIZE * LANE];
        let mut put = |of: usize, bytes: [u8x16; 8]| {
            let lanes = turn(bytes);
            for (bit, &lane) in lanes.iter().enumerate() {
                store(lane, encoded, (8 * of + bit) * row + at);
            }
        };
        if SIZE == 1 {
            put(0, unweave(load_all(from, 0)));
            continue;
        }
        let mut groups = [[u8x16::ZERO; LANE]; GROUPS];
        for column in 0..LANE {
            let parts = unweave::<GROUPS>(load_all(from, column * GROUPS * LANE));
            for (group, &lane) in groups.iter_mut().zip(&parts) {
                group[column] = lane;
            }
        }
        for group in &mut groups {
            *group = unweave(*group);
        }
        for of in 0..SIZE {
            let of_row = |row: usize| groups[row % GROUPS][row / GROUPS];
            put(of, std::array::from_fn(|element| of_row(element * SIZE + of)));
        }
    }
}

/// [`join`] of rows that are too short for tiles.
fn join_few(size: usize, encoded: &[u8], decoded: &mut [u8]) {
    let row = encoded.len() / (8 * size);
    for of in 0..size {
        for at in 0..row {
            let bits = turn_word(std::array::from_fn(|bit| encoded[(8 * of + bit) * row + at]));
            for (element, byte) in bits.into_iter().enumerate() {
                decoded[(8 * at + element) * size + of] = byte;
            }
        }
    }
}

/// [`join_few`] backwards.
fn spread_few(size: usize, decoded: &[u8], encoded: &mut [u8]) {
    let row = decoded.len() / (8 * size);
    for of in 0..size {
        for at in 0..row {
            let bytes = turn_word(std::array::from_fn(|element| decoded[(8 * at + element) * size + of]));
            for (bit, byte) in bytes.into_iter().enumerate() {
                encoded[(8 * of + bit) * row + at] = byte;
            }
        }
    }
}

/// Turns eight bytes around, so that bit `i` of byte `j` is bit `j` of byte `i`.
fn turn_word(bytes: [u8; 8]) -> [u8; 8] {
    let mut bits = u64::from_le_bytes(bytes);
    for (by, these) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swap = (bits ^ bits >> by) & these;
        bits ^= swap ^ swap << by;
    }
    bits.to_le_bytes()
}

impl SliceCodec for Bitshuffle {
    fn check_encode(&self) -> Result<()> {
        match self.encoder {
            Packer::Other(number) => Err(bad_params(format!("bitshuffle has no compression {number}"))),
            _ => Ok(()),
        }
    }

    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        if self.is_identity() {
            return Ok(Some(encoded.len()));
        }
        self.header(encoded)?;
        let len = encoded.first_chunk::<8>().map_or(0, |len| u64::from_be_bytes(*len));
        usize::try_from(len).map(Some).map_err(|_| corrupt(format!("{len} bytes are too many")))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = decoded.len();
        let shuffled = self.shuffled(len)?;
        let (blocks, end) = decoded.split_at_mut(shuffled);
        if self.is_identity() {
            let block = self.block * self.size;
            let (encoded, rest) = encoded.split_at(shuffled);
            for (from, to) in encoded.chunks(block).zip(blocks.chunks_mut(block)) {
                join(self.size, from, to);
            }
            end.copy_from_slice(rest);
            return Ok(Some(len));
        }
        let short = || corrupt(format!("the {} stored bytes end within a block", encoded.len()));
        let (block, mut rest) = self.header(encoded)?;
        with_bytes(block.min(shuffled), |bits| {
            for to in blocks.chunks_mut(block) {
                let (compressed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
                let compressed = u32::from_be_bytes(*compressed) as usize;
                let (compressed, after) = after.split_at_checked(compressed).ok_or_else(short)?;
                rest = after;
                let bits = &mut bits[..to.len()];
                match self.encoder {
                    Packer::Zstd(_) if zstd::decode(compressed, bits)? == Some(to.len()) => {}
                    Packer::Zstd(_) => {
                        return Err(corrupt(format!("a block does not unpack to {} bytes", to.len())));
                    }
                    _ => lz4::decode_block(compressed, bits)?,
                }
                join(self.size, bits, to);
            }
            end.copy_from_slice(rest.get(..end.len()).ok_or_else(short)?);
            Ok(Some(len))
        })
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        self.check_encode()?;
        let block = self.block * self.size;
        let (blocks, end) = decoded.split_at(self.shuffled(decoded.len())?);
        if self.is_identity() {
            encoded.resize(blocks.len(), 0);
            for (from, to) in blocks.chunks(block).zip(encoded.chunks_mut(block)) {
                spread(self.size, from, to);
            }
            encoded.extend_from_slice(end);
            return Ok(Some(()));
        }
        let Ok(block_size) = u32::try_from(block) else {
            return Err(bad_params(format!("blocks of {block} bytes are too large to pack")));
        };
        encoded.extend_from_slice(&(decoded.len() as u64).to_be_bytes());
        encoded.extend_from_slice(&block_size.to_be_bytes());
        with_bytes(block.min(blocks.len()), |bits| {
            for from in blocks.chunks(block) {
                let bits = &mut bits[..from.len()];
                spread(self.size, from, bits);
                let start = encoded.len();
                encoded.extend_from_slice(&[0; 4]);
                match self.encoder {
                    Packer::Zstd(level) => zstd::encode(level, bits, encoded)?,
                    _ => lz4::encode_block(bits, encoded)?,
                }
                let len = (encoded.len() - start - 4) as u32;
                encoded[start..start + 4].copy_from_slice(&len.to_be_bytes());
            }
            encoded.extend_from_slice(end);
            Ok(Some(()))
        })
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        match self.encoder {
            Packer::None | Packer::Other(_) => encoded,
            Packer::Lz4 => encoded.saturating_mul(255),
            Packer::Zstd(_) => encoded.saturating_mul(zstd::RATIO),
        }
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        self.is_identity().then_some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_in_rows_for_any_size() {
        for size in [1, 2, 3, 4, 8, 12, 16] {
            for count in [8, 16, 120, 128, 136, 264, 1024] {
                let decoded: Vec<u8> =
                    (0..(size * count) as u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
                let (mut encoded, mut joined) = (vec![0; decoded.len()], vec![0; decoded.len()]);
                spread(size, &decoded, &mut encoded);
                for (at, &byte) in decoded.iter().enumerate() {
                    let (element, of) = (at / size, at % size);
                    for bit in 0..8 {
                        let row = &encoded[(8 * of + bit) * (count / 8)..][..count / 8];
                        let is = row[element / 8] >> (element % 8) & 1;
                        assert_eq!(is, byte >> bit & 1, "bit {bit} of byte {at}, {count} of size {size}");
                    }
                }
                join(size, &encoded, &mut joined);
                assert_eq!(joined, decoded, "{count} of size {size}");
            }
        }
    }
}
