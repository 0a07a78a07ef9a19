//! LZ4 (filter 32004), framed as in "HDF5 LZ4 format" (LZ4/LZ4_HDF5_format.md of HDFGroup/hdf5_plugins): the unpacked size
//! in 8 bytes and the size of a block in 4, then blocks with their packed size before each; all big-endian. A block that
//! is stored in its own size is not packed. The parameter is the size of a block, 1 GiB without one.

use ferrocdf_bytes::Result;
use lz4_flex::block;
use serde_json::Value;

use super::lz::{WORD, copy_back, copy_run, copy_words};
use crate::filter::{Codec, bad_params, boxed, corrupt};
use crate::json::Spelling;
use crate::registry::Entry;

const DEFAULT_BLOCK: usize = 1 << 30;

/// What LZ4 can take in one go.
const LARGEST_BLOCK: usize = 0x7e00_0000;

const HEADER: usize = 12;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: 32004,
    names: &["LZ4"],
    make: |params| Lz4::new(params).map(boxed),
    learn: None,
    json: Some(Spelling {
        id: "imagecodecs_lz4h5",
        write: |params| {
            let block = params.first().copied().filter(|&block| block > 0);
            Lz4::new(params).map(|_| vec![("level", Value::Null), ("blocksize", block.into())])
        },
        read: |json| Ok(vec![json.number("blocksize", 0, 0..=LARGEST_BLOCK as i64)? as u32]),
    }),
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

/// Unpacks a block of LZ4 that must fill `plain`.
pub fn unpack_block(packed: &[u8], plain: &mut [u8]) -> Result<()> {
    let should = plain.len();
    match instructions(packed, plain) {
        Some(len) if len == should => Ok(()),
        Some(len) => Err(corrupt(format!("a block of LZ4 unpacks to {len} bytes and not {should}"))),
        None => Err(corrupt(format!("{} bytes of LZ4 for {should} are damaged", packed.len()))),
    }
}

/// The largest length in half a byte, behind which there is more of it.
const MORE: usize = 15;

/// The shortest copy.
const SHORTEST: usize = 4;

/// How many bytes were made ("LZ4 Block Format Description" of lz4/lz4); `None` if something is outside.
fn instructions(packed: &[u8], plain: &mut [u8]) -> Option<usize> {
    let (mut from, mut at) = (0, 0);
    loop {
        let lengths = usize::from(*packed.get(from)?);
        from += 1;
        let (mut run, mut len) = (lengths >> 4, lengths & MORE);
        if run < MORE
            && len < MORE
            && let Some(next) = packed[from..].first_chunk::<{ WORD + 2 }>()
            && let Some(room) = plain.get_mut(at..).and_then(|room| room.first_chunk_mut::<{ 4 * WORD }>())
        {
            // Both are short, as most are: there is no need to look at how short.
            room[..WORD].copy_from_slice(&next[..WORD]);
            let back = usize::from(u16::from_le_bytes(next[run..run + 2].as_chunks().0[0]));
            (from, at) = (from + run + 2, at + run);
            if back == 0 || back > at {
                return None;
            }
            len += SHORTEST;
            copy_words(plain, back, at, len);
            at += len;
            continue;
        }
        if run == MORE {
            run += more(packed, &mut from)?;
        }
        if run > 0 {
            copy_run::<32>(packed.get(from..)?, plain, at, run)?;
        }
        (from, at) = (from + run, at + run);
        if from == packed.len() {
            return Some(at);
        }
        let back = usize::from(u16::from_le_bytes(*packed.get(from..)?.first_chunk()?));
        from += 2;
        if len == MORE {
            len += more(packed, &mut from)?;
        }
        len += SHORTEST;
        if back == 0 || back > at || len > plain.len() - at {
            return None;
        }
        copy_back(plain, back, at, len);
        at += len;
    }
}

/// The rest of a length: the sum of bytes up to one that is not 255.
fn more(packed: &[u8], from: &mut usize) -> Option<usize> {
    let mut sum = 0usize;
    loop {
        let byte = *packed.get(*from)?;
        *from += 1;
        sum = sum.checked_add(byte.into())?;
        if byte < 255 {
            // What is added to it cannot overflow.
            return (sum < usize::MAX / 2).then_some(sum);
        }
    }
}

/// Packs to a block of LZ4 at the end of `stored`.
pub fn pack_block(plain: &[u8], stored: &mut Vec<u8>) -> Result<()> {
    let start = stored.len();
    stored.resize(start + block::get_maximum_output_size(plain.len()), 0);
    let len = block::compress_into(plain, &mut stored[start..])
        .map_err(|error| corrupt(format!("LZ4 cannot pack: {error}")))?;
    stored.truncate(start + len);
    Ok(())
}

impl Codec for Lz4 {
    fn plain_len(&self, stored: &[u8]) -> Result<Option<usize>> {
        let Some((len, _)) = stored.split_first_chunk::<8>().filter(|(_, rest)| rest.len() >= 4) else {
            return Err(corrupt(format!("{} bytes do not hold a header of {HEADER}", stored.len())));
        };
        let len = u64::from_be_bytes(*len);
        usize::try_from(len).map(Some).map_err(|_| corrupt(format!("{len} bytes are too many")))
    }

    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} stored bytes end within a block", stored.len()));
        let (_, rest) = stored.split_at_checked(8).ok_or_else(short)?;
        let (size, mut rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let len = plain.len();
        let size = u32::from_be_bytes(*size) as usize;
        if size == 0 && len > 0 {
            return Err(corrupt("the blocks have no bytes"));
        }
        for room in plain.chunks_mut(size.max(1)) {
            let (packed, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let (packed, after) =
                after.split_at_checked(u32::from_be_bytes(*packed) as usize).ok_or_else(short)?;
            rest = after;
            if packed.len() == room.len() {
                room.copy_from_slice(packed);
            } else {
                unpack_block(packed, room)?;
            }
        }
        Ok(Some(len))
    }

    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        let size = self.block.min(plain.len());
        stored.extend_from_slice(&(plain.len() as u64).to_be_bytes());
        stored.extend_from_slice(&(size as u32).to_be_bytes());
        for block in plain.chunks(size.max(1)) {
            let start = stored.len();
            stored.extend_from_slice(&[0; 4]);
            pack_block(block, stored)?;
            if stored.len() - start - 4 >= block.len() {
                stored.truncate(start + 4);
                stored.extend_from_slice(block);
            }
            let len = (stored.len() - start - 4) as u32;
            stored[start..start + 4].copy_from_slice(&len.to_be_bytes());
        }
        Ok(Some(()))
    }

    fn most_decoded(&self, stored: usize) -> usize {
        // A byte of LZ4 says 255 more.
        stored.saturating_sub(HEADER).saturating_mul(255)
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
            let (mut packed, mut len) = (vec![], 0);
            for _ in 0..next(12) {
                let (run, copy) = ([next(4), next(40), next(15)][next(3)], [next(15), next(60)][next(2)]);
                packed.push((run.min(15) << 4 | copy.min(15)) as u8);
                packed.extend(run.checked_sub(15).map(|more| more as u8));
                packed.extend((0..run).map(|_| next(256) as u8));
                len += run;
                let farthest = [40, 4000][next(2)];
                let back = 1 + next(len.min(farthest).max(1));
                packed.extend_from_slice(&(back as u16).to_le_bytes());
                packed.extend(copy.checked_sub(15).map(|more| more as u8));
                len += copy + SHORTEST;
            }
            packed.extend_from_slice(&[3 << 4, 1, 2, 3]);
            let room = [len + 3, next(len + 100)][next(4) / 3];
            if next(3) == 0 {
                let at = next(packed.len());
                packed[at] = next(256) as u8;
            }
            let (mut ours, mut theirs) = (vec![0; room], vec![0; room]);
            let made = instructions(&packed, &mut ours);
            assert_eq!(
                made,
                block::decompress_into(&packed, &mut theirs).ok(),
                "{packed:?} for {room} bytes"
            );
            if let Some(made) = made {
                assert_eq!(ours[..made], theirs[..made], "{packed:?}");
                whole += 1;
            }
        }
        assert!((5000..18_000).contains(&whole), "{whole} of these were whole");
    }
}
