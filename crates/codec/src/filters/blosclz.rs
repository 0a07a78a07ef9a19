//! BloscLZ, the compressor of c-blosc itself: runs of up to 32 literals, and matches of any length with a distance of at
//! most 73,726 bytes. The first instruction is always a run, whatever the high bits of its byte, and the last one is a run
//! too.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, copy_run, with_match_finder};
use crate::filter::corrupt;

/// Maximum number of literals in a run.
const MAX_RUN: usize = 32;

/// Smallest distance, less one, that is encoded in two more bytes.
const FAR: usize = 8191;
const MAX_DISTANCE: usize = FAR + 65_535;

/// Decompresses to `decoded`, which the bytes must fill.
pub fn decode(compressed: &[u8], decoded: &mut [u8]) -> Result<()> {
    let expected = decoded.len();
    match decode_instructions(compressed, decoded) {
        Some(len) if len == expected => Ok(()),
        Some(len) => Err(corrupt(format!("BloscLZ: decompresses to {len} instead of {expected} bytes"))),
        None => Err(corrupt(format!("BloscLZ: the {} compressed bytes are damaged", compressed.len()))),
    }
}

/// Decodes runs and matches and returns the decoded size; `None` if an instruction exceeds a slice.
fn decode_instructions(compressed: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let (mut from, mut at) = (0, 0);
    let mut next = compressed.first().map(|first| first & 31);
    while let Some(control) = next {
        let control = usize::from(control);
        from += 1;
        if control < MAX_RUN {
            let run = control + 1;
            copy_run::<MAX_RUN>(compressed.get(from..)?, decoded, at, run)?;
            (from, at) = (from + run, at + run);
        } else {
            let mut byte = || {
                let byte = usize::from(*compressed.get(from)?);
                from += 1;
                Some(byte)
            };
            let mut len = (control >> 5) + 2;
            if len == 9 {
                loop {
                    let more = byte()?;
                    len = len.saturating_add(more);
                    if more < 255 {
                        break;
                    }
                }
            }
            let mut back = (control & 31) << 8 | byte()?;
            if back == FAR {
                back += byte()? << 8 | byte()?;
            }
            back += 1;
            if back > at || decoded.len() - at < len {
                return None;
            }
            copy_back(decoded, back, at, len);
            at += len;
        }
        next = compressed.get(from).copied();
    }
    Some(at)
}

/// Compresses to the end of `encoded`.
pub fn encode(decoded: &[u8], encoded: &mut Vec<u8>) {
    let start = encoded.len();
    with_match_finder(decoded, |mut finder| {
        let (mut at, mut literals) = (0, 0);
        while at < decoded.len() {
            // The last byte must be in the run at the end.
            let found = finder.find(at, MAX_DISTANCE, decoded.len() - at - 1);
            let Some((back, len)) = found.filter(|&(back, len)| len >= if back > FAR { 5 } else { 3 }) else {
                at += 1;
                continue;
            };
            put_literals(&decoded[literals..at], encoded);
            put_match(back - 1, len - 2, encoded);
            at += len;
            literals = at;
        }
        put_literals(&decoded[literals..], encoded);
    });
    // The marker of the format in the first byte.
    if let Some(first) = encoded.get_mut(start) {
        *first |= 1 << 5;
    }
}

fn put_literals(literals: &[u8], encoded: &mut Vec<u8>) {
    for run in literals.chunks(MAX_RUN) {
        encoded.push((run.len() - 1) as u8);
        encoded.extend_from_slice(run);
    }
}

/// Writes a match with its distance less 1 and its length less 2.
fn put_match(back: usize, len: usize, encoded: &mut Vec<u8>) {
    let near = back.min(FAR);
    encoded.push((len.min(7) << 5 | near >> 8) as u8);
    if let Some(mut more) = len.checked_sub(7) {
        while more >= 255 {
            encoded.push(255);
            more -= 255;
        }
        encoded.push(more as u8);
    }
    encoded.push(near as u8);
    if near == FAR {
        encoded.extend_from_slice(&((back - FAR) as u16).to_be_bytes());
    }
}
