//! LZF (filter 32000), the format of liblzf as h5py stores it: runs of up to 32 literals, and copies of up to 264 bytes
//! from at most 8192 bytes back. Parameters only tell sizes that are known otherwise, so they are not looked at.

use ferrocdf_bytes::Result;

use crate::filter::{Codec, corrupt};

const LONGEST: usize = 264;
const FARTHEST: usize = 8192;
const RUN: usize = 32;

#[derive(Debug)]
pub struct Lzf;

impl Codec for Lzf {
    fn plain_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} stored bytes end within an instruction", stored.len()));
        let (mut rest, mut at) = (stored, 0);
        while let Some((&control, after)) = rest.split_first() {
            rest = after;
            let control = usize::from(control);
            if control < RUN {
                let (run, after) = rest.split_at_checked(control + 1).ok_or_else(short)?;
                let Some(room) = plain.get_mut(at..at + run.len()) else { return Ok(None) };
                room.copy_from_slice(run);
                (at, rest) = (at + run.len(), after);
                continue;
            }
            let mut len = (control >> 5) + 2;
            if len == 9 {
                let (&more, after) = rest.split_first().ok_or_else(short)?;
                (len, rest) = (len + usize::from(more), after);
            }
            let (&low, after) = rest.split_first().ok_or_else(short)?;
            rest = after;
            let back = ((control & 31) << 8 | usize::from(low)) + 1;
            let Some(from) = at.checked_sub(back) else {
                return Err(corrupt(format!("a copy from {back} bytes back where {at} are unpacked")));
            };
            if plain.len() - at < len {
                return Ok(None);
            }
            copy_within(plain, from, at, len);
            at += len;
        }
        Ok(Some(at))
    }

    /// As in liblzf, bytes that do not become fewer are refused.
    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        let mut seen = vec![0u32; 1 << 13];
        let hash = |at: usize| match plain.get(at..at + 3) {
            Some(three) => {
                let three = u32::from_le_bytes([three[0], three[1], three[2], 0]);
                Some((three.wrapping_mul(0x9e37_79b1) >> 19) as usize)
            }
            None => None,
        };
        let (mut at, mut literals) = (0, 0);
        while let Some(slot) = hash(at) {
            // Positions are kept plus one; those that do not fit are not found again.
            let before = (seen[slot] as usize).checked_sub(1);
            seen[slot] = u32::try_from(at + 1).unwrap_or(0);
            let copy = before
                .filter(|&before| at - before <= FARTHEST && plain[before..before + 3] == plain[at..at + 3]);
            let Some(from) = copy else {
                at += 1;
                continue;
            };
            put_literals(&plain[literals..at], stored);
            let most = (plain.len() - at).min(LONGEST);
            let same = plain[from..].iter().zip(&plain[at..at + most]).take_while(|(a, b)| a == b).count();
            let back = at - from - 1;
            let high = (back >> 8) as u8;
            match same - 2 {
                short @ ..7 => stored.push((short as u8) << 5 | high),
                long => stored.extend_from_slice(&[7 << 5 | high, (long - 7) as u8]),
            }
            stored.push(back as u8);
            at += same;
            literals = at;
            if stored.len() >= plain.len() {
                return Ok(None);
            }
        }
        put_literals(&plain[literals..], stored);
        Ok((stored.len() < plain.len() || plain.is_empty()).then_some(()))
    }

    fn most_decoded(&self, stored: usize) -> usize {
        // Three bytes become 264.
        stored.saturating_mul(LONGEST / 3)
    }
}

fn put_literals(literals: &[u8], stored: &mut Vec<u8>) {
    for run in literals.chunks(RUN) {
        stored.push((run.len() - 1) as u8);
        stored.extend_from_slice(run);
    }
}

/// Copies `len` bytes from `from` to `to`, where what is copied may be copied again. `from < to`, and all is inside.
pub fn copy_within(bytes: &mut [u8], from: usize, to: usize, len: usize) {
    let back = to - from;
    if back >= len {
        bytes.copy_within(from..from + len, to);
    } else if back == 1 {
        let byte = bytes[from];
        bytes[to..to + len].fill(byte);
    } else {
        // The distance doubles with each copy, as what was copied is as good as what it was copied from.
        let mut done = 0;
        while done < len {
            let step = (back + done).min(len - done);
            bytes.copy_within(from..from + step, to + done);
            done += step;
        }
    }
}
