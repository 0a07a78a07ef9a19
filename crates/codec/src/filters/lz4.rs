//! LZ4 (filter 32004), framed as in "HDF5 LZ4 format" (LZ4/LZ4_HDF5_format.md of HDFGroup/hdf5_plugins): the decoded size
//! in 8 bytes and the size of a block in 4, then blocks with their compressed size before each; all big-endian. A block that
//! is encoded in its own size is not compressed. The parameter is the size of a block, 1 GiB without one.

use ferrocdf_bytes::Result;
use lz4_flex::block;
use serde_json::Value;

use super::lz::{WORD, copy_back, copy_run, copy_words};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;

const DEFAULT_BLOCK: usize = 1 << 30;

/// What LZ4 can take in one go.
const LARGEST_BLOCK: usize = 0x7e00_0000;

const HEADER: usize = 12;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32004),
    names: &["LZ4"],
    make: |params, _| Lz4::new(params).map(boxed),
    derive: None,
    numcodecs: Some(Spelling {
        id: "imagecodecs_lz4h5",
        write: |params| {
            let block = params.first().copied().filter(|&block| block > 0);
            Lz4::new(params).map(|_| vec![("level", Value::Null), ("blocksize", block.into())])
        },
        read: |json| Ok(vec![json.number("blocksize", 0, 0..=LARGEST_BLOCK as i64)? as u32]),
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Lz4 {
    block: usize,
}

impl Lz4 {
    pub fn new(params: &[u32]) -> Result<Lz4> {
        match params.first().map_or(0, |&block| block as usize) {
            0 => Ok(Lz4 { block: DEFAULT_BLOCK }),
            block @ ..=LARGEST_BLOCK => Ok(Lz4 { block }),
            block => Err(bad_params(format!("a block of {block} bytes is too large for LZ4"))),
        }
    }
}

/// Decodes a block of LZ4 that must fill `decoded`.
pub fn decode_block(compressed: &[u8], decoded: &mut [u8]) -> Result<()> {
    let should = decoded.len();
    match instructions(compressed, decoded) {
        Some(len) if len == should => Ok(()),
        Some(len) => Err(corrupt(format!("a block of LZ4 unpacks to {len} bytes and not {should}"))),
        None => Err(corrupt(format!("{} bytes of LZ4 for {should} are damaged", compressed.len()))),
    }
}

/// The largest length in half a byte, behind which there is more of it.
const MORE: usize = 15;

/// The shortest copy.
const SHORTEST: usize = 4;

/// How many bytes were made ("LZ4 Block Format Description" of lz4/lz4); `None` if something is outside.
fn instructions(compressed: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let (mut from, mut at) = (0, 0);
    loop {
        let lengths = usize::from(*compressed.get(from)?);
        from += 1;
        let (mut run, mut len) = (lengths >> 4, lengths & MORE);
        if run < MORE
            && len < MORE
            && let Some(next) = compressed[from..].first_chunk::<{ WORD + 2 }>()
            && let Some(room) = decoded.get_mut(at..).and_then(|room| room.first_chunk_mut::<{ 4 * WORD }>())
        {
            // Both are short, as most are: there is no need to look at how short.
            room[..WORD].copy_from_slice(&next[..WORD]);
            let back = usize::from(u16::from_le_bytes(next[run..run + 2].as_chunks().0[0]));
            (from, at) = (from + run + 2, at + run);
            if back == 0 || back > at {
                return None;
            }
            len += SHORTEST;
            copy_words(decoded, back, at, len);
            at += len;
            continue;
        }
        if run == MORE {
            run += more(compressed, &mut from)?;
        }
        if run > 0 {
            copy_run::<32>(compressed.get(from..)?, decoded, at, run)?;
        }
        (from, at) = (from + run, at + run);
        if from == compressed.len() {
            return Some(at);
        }
        let back = usize::from(u16::from_le_bytes(*compressed.get(from..)?.first_chunk()?));
        from += 2;
        if len == MORE {
            len += more(compressed, &mut from)?;
        }
        len += SHORTEST;
        if back == 0 || back > at || len > decoded.len() - at {
            return None;
        }
        copy_back(decoded, back, at, len);
        at += len;
    }
}

/// The rest of a length: the sum of bytes up to one that is not 255.
fn more(compressed: &[u8], from: &mut usize) -> Option<usize> {
    let mut sum = 0usize;
    loop {
        let byte = *compressed.get(*from)?;
        *from += 1;
        sum = sum.checked_add(byte.into())?;
        if byte < 255 {
            // What is added to it cannot overflow.
            return (sum < usize::MAX / 2).then_some(sum);
        }
    }
}

/// Encodes to a block of LZ4 at the end of `encoded`.
pub fn encode_block(decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    encoded.resize(start + block::get_maximum_output_size(decoded.len()), 0);
    let len = block::compress_into(decoded, &mut encoded[start..])
        .map_err(|error| corrupt(format!("LZ4 cannot pack: {error}")))?;
    encoded.truncate(start + len);
    Ok(())
}

impl SliceCodec for Lz4 {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let Some((len, _)) = encoded.split_first_chunk::<8>().filter(|(_, rest)| rest.len() >= 4) else {
            return Err(corrupt(format!("{} bytes do not hold a header of {HEADER}", encoded.len())));
        };
        let len = u64::from_be_bytes(*len);
        usize::try_from(len).map(Some).map_err(|_| corrupt(format!("{len} bytes are too many")))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} stored bytes end within a block", encoded.len()));
        let (_, rest) = encoded.split_at_checked(8).ok_or_else(short)?;
        let (size, mut rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let len = decoded.len();
        let size = u32::from_be_bytes(*size) as usize;
        if size == 0 && len > 0 {
            return Err(corrupt("the blocks have no bytes"));
        }
        for room in decoded.chunks_mut(size.max(1)) {
            let (compressed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let (compressed, after) =
                after.split_at_checked(u32::from_be_bytes(*compressed) as usize).ok_or_else(short)?;
            rest = after;
            if compressed.len() == room.len() {
                room.copy_from_slice(compressed);
            } else {
                decode_block(compressed, room)?;
            }
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let size = self.block.min(decoded.len());
        encoded.extend_from_slice(&(decoded.len() as u64).to_be_bytes());
        encoded.extend_from_slice(&(size as u32).to_be_bytes());
        for block in decoded.chunks(size.max(1)) {
            let start = encoded.len();
            encoded.extend_from_slice(&[0; 4]);
            encode_block(block, encoded)?;
            if encoded.len() - start - 4 >= block.len() {
                encoded.truncate(start + 4);
                encoded.extend_from_slice(block);
            }
            let len = (encoded.len() - start - 4) as u32;
            encoded[start..start + 4].copy_from_slice(&len.to_be_bytes());
        }
        Ok(Some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        // A byte of LZ4 says 255 more.
        encoded.saturating_sub(HEADER).saturating_mul(255)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random sequences of short and long runs and copies, some damaged, in room that is right or wrong.
    #[test]
    fn bytes_and_faults_are_those_of_lz4_flex() {
        let mut state = 1u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut whole = 0;
        for _ in 0..20_000 {
            let (mut compressed, mut len) = (vec![], 0);
            for _ in 0..next(12) {
                let (run, copy) = ([next(4), next(40), next(15)][next(3)], [next(15), next(60)][next(2)]);
                compressed.push((run.min(15) << 4 | copy.min(15)) as u8);
                compressed.extend(run.checked_sub(15).map(|more| more as u8));
                compressed.extend((0..run).map(|_| next(256) as u8));
                len += run;
                let farthest = [40, 4000][next(2)];
                let back = 1 + next(len.min(farthest).max(1));
                compressed.extend_from_slice(&(back as u16).to_le_bytes());
                compressed.extend(copy.checked_sub(15).map(|more| more as u8));
                len += copy + SHORTEST;
            }
            compressed.extend_from_slice(&[3 << 4, 1, 2, 3]);
            let room = [len + 3, next(len + 100)][next(4) / 3];
            if next(3) == 0 {
                let at = next(compressed.len());
                compressed[at] = next(256) as u8;
            }
            let (mut ours, mut theirs) = (vec![0; room], vec![0; room]);
            let made = instructions(&compressed, &mut ours);
            assert_eq!(
                made,
                block::decompress_into(&compressed, &mut theirs).ok(),
                "{compressed:?} for {room} bytes"
            );
            if let Some(made) = made {
                assert_eq!(ours[..made], theirs[..made], "{compressed:?}");
                whole += 1;
            }
        }
        assert!((5000..18_000).contains(&whole), "{whole} of these were whole");
    }
}
