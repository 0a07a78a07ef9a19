//! LZ4 (filter 32004), framed as in "HDF5 LZ4 format" (LZ4/LZ4_HDF5_format.md of HDFGroup/hdf5_plugins): the decoded size
//! in 8 bytes and the block size in 4 bytes, then the blocks, each after its compressed size in 4 bytes; all are
//! big-endian. A block whose compressed size equals its decoded size is not compressed. The parameter is the block size in
//! bytes; the default is 1 GiB.

use ferrocdf_bytes::Result;
use lz4_flex::block;
use serde_json::Value;

use super::lz::{WORD, copy_back, copy_run, copy_words};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Block size in bytes without a parameter.
const DEFAULT_BLOCK: usize = 1 << 30;

/// Maximum block size in bytes (`LZ4_MAX_INPUT_SIZE`).
const MAX_BLOCK: usize = 0x7e00_0000;

/// Size of the header in bytes.
const HEADER: usize = 12;

/// Maximum ratio of decoded to compressed size: a byte of a length stands for at most 255 bytes.
pub const MAX_RATIO: usize = 255;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32004),
    names: &["LZ4"],
    new: |params, _| Lz4::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "imagecodecs_lz4h5",
        write: |params| {
            let block = params.first().copied().filter(|&block| block > 0);
            Lz4::new(params).map(|_| vec![("level", Value::Null), ("blocksize", block.into())])
        },
        read: |json| Ok(vec![json.number("blocksize", 0, 0..=MAX_BLOCK as i64)? as u32]),
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
            block @ ..=MAX_BLOCK => Ok(Lz4 { block }),
            block => {
                Err(bad_params(format!("blocks of {block} bytes: too large for LZ4 (at most {MAX_BLOCK})")))
            }
        }
    }
}

/// Decompresses an LZ4 block, which must fill `decoded`.
pub fn decode_block(compressed: &[u8], decoded: &mut [u8]) -> Result<()> {
    let expected = decoded.len();
    match decode_sequences(compressed, decoded) {
        Some(len) if len == expected => Ok(()),
        Some(len) => Err(corrupt(format!("LZ4 block: decompresses to {len} instead of {expected} bytes"))),
        None => Err(corrupt(format!("LZ4 block of {} bytes: damaged", compressed.len()))),
    }
}

/// Length in a token after which more bytes of the length follow.
const LONG: usize = 15;

/// Minimum length of a match.
const MIN_MATCH: usize = 4;

/// Decodes sequences of literals and matches ("LZ4 Block Format Description" of lz4/lz4) and returns the decoded size;
/// `None` if a sequence exceeds a slice.
fn decode_sequences(compressed: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let (mut from, mut at) = (0, 0);
    loop {
        let token = usize::from(*compressed.get(from)?);
        from += 1;
        let (mut run, mut len) = (token >> 4, token & LONG);
        if run < LONG
            && len < LONG
            && let Some(next) = compressed[from..].first_chunk::<{ WORD + 2 }>()
            && let Some(target) =
                decoded.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<{ 4 * WORD }>())
        {
            // Fast path for the most frequent case, short literals and a short match: copies of fixed length.
            target[..WORD].copy_from_slice(&next[..WORD]);
            let back = usize::from(u16::from_le_bytes(next[run..run + 2].as_chunks().0[0]));
            (from, at) = (from + run + 2, at + run);
            if back == 0 || back > at {
                return None;
            }
            len += MIN_MATCH;
            copy_words(decoded, back, at, len);
            at += len;
            continue;
        }
        if run == LONG {
            run += length_bytes(compressed, &mut from)?;
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
        if len == LONG {
            len += length_bytes(compressed, &mut from)?;
        }
        len += MIN_MATCH;
        if back == 0 || back > at || len > decoded.len() - at {
            return None;
        }
        copy_back(decoded, back, at, len);
        at += len;
    }
}

/// Reads the bytes that follow a long length: their sum, up to and including the first that is not 255.
fn length_bytes(compressed: &[u8], from: &mut usize) -> Option<usize> {
    let mut sum = 0usize;
    loop {
        let byte = *compressed.get(*from)?;
        *from += 1;
        sum = sum.checked_add(byte.into())?;
        if byte < 255 {
            // So that the caller's additions cannot overflow.
            return (sum < usize::MAX / 2).then_some(sum);
        }
    }
}

/// Compresses to an LZ4 block at the end of `encoded`.
pub fn encode_block(decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    encoded.resize(start + block::get_maximum_output_size(decoded.len()), 0);
    let len = block::compress_into(decoded, &mut encoded[start..])
        .map_err(|error| corrupt(format!("LZ4: compression failed: {error}")))?;
    encoded.truncate(start + len);
    Ok(())
}

impl SliceCodec for Lz4 {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let Some((len, _)) = encoded.split_first_chunk::<8>().filter(|(_, rest)| rest.len() >= 4) else {
            return Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len())));
        };
        let len = u64::from_be_bytes(*len);
        usize::try_from(len)
            .map(Some)
            .map_err(|_| corrupt(format!("header: decoded size {len} is too large")))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} encoded bytes end within a block", encoded.len()));
        let (_, rest) = encoded.split_at_checked(8).ok_or_else(short)?;
        let (size, mut rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let len = decoded.len();
        let size = u32::from_be_bytes(*size) as usize;
        if size == 0 && len > 0 {
            return Err(corrupt("header: block size 0"));
        }
        for block in decoded.chunks_mut(size.max(1)) {
            let (compressed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let (compressed, after) =
                after.split_at_checked(u32::from_be_bytes(*compressed) as usize).ok_or_else(short)?;
            rest = after;
            if compressed.len() == block.len() {
                block.copy_from_slice(compressed);
            } else {
                decode_block(compressed, block)?;
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

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_sub(HEADER).saturating_mul(MAX_RATIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random sequences of short and long literals and matches, some damaged, with a correct or wrong decoded size.
    #[test]
    fn random_blocks_decode_or_fail_as_in_lz4_flex() {
        let mut state = 1u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut valid = 0;
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
                len += copy + MIN_MATCH;
            }
            compressed.extend_from_slice(&[3 << 4, 1, 2, 3]);
            let space = [len + 3, next(len + 100)][next(4) / 3];
            if next(3) == 0 {
                let at = next(compressed.len());
                compressed[at] = next(256) as u8;
            }
            let (mut ours, mut theirs) = (vec![0; space], vec![0; space]);
            let decoded_len = decode_sequences(&compressed, &mut ours);
            assert_eq!(
                decoded_len,
                block::decompress_into(&compressed, &mut theirs).ok(),
                "{compressed:?} for {space} bytes"
            );
            if let Some(len) = decoded_len {
                assert_eq!(ours[..len], theirs[..len], "{compressed:?}");
                valid += 1;
            }
        }
        assert!((5000..18_000).contains(&valid), "{valid} blocks were valid");
    }
}
