//! BloscLZ, the compressor that blosc brings itself: runs of up to 32 literals, and copies of any length from at most
//! 73,725 bytes back. The first instruction is a run, whatever its byte says, and so is the last.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, copy_run, with_finder};
use crate::filter::corrupt;

const RUN: usize = 32;

/// Distances from here on are encoded in two more bytes.
const FAR: usize = 8191;
const FARTHEST: usize = FAR + 65_535;

/// Decodes to bytes that it must fill.
pub fn decode(compressed: &[u8], decoded: &mut [u8]) -> Result<()> {
    let len = decoded.len();
    match instructions(compressed, decoded) {
        Some(made) if made == len => Ok(()),
        Some(made) => Err(corrupt(format!("BloscLZ unpacks to {made} bytes and not {len}"))),
        None => Err(corrupt(format!("{} bytes of BloscLZ are damaged", compressed.len()))),
    }
}

/// How many bytes were made; `None` if something is outside.
fn instructions(compressed: &[u8], decoded: &mut [u8]) -> Option<usize> {
    let (mut from, mut at) = (0, 0);
    let mut next = compressed.first().map(|first| first & 31);
    while let Some(control) = next {
        let control = usize::from(control);
        from += 1;
        if control < RUN {
            let run = control + 1;
            copy_run::<RUN>(compressed.get(from..)?, decoded, at, run)?;
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

/// Encodes to the end of `encoded`.
pub fn encode(decoded: &[u8], encoded: &mut Vec<u8>) {
    let start = encoded.len();
    with_finder(decoded, |mut finder| {
        let (mut at, mut literals) = (0, 0);
        while at < decoded.len() {
            // The last byte is left to the run at the end.
            let found = finder.find(at, FARTHEST, decoded.len() - at - 1);
            let Some((back, same)) = found.filter(|&(back, same)| same >= if back > FAR { 5 } else { 3 })
            else {
                at += 1;
                continue;
            };
            put_literals(&decoded[literals..at], encoded);
            put_copy(back - 1, same - 2, encoded);
            at += same;
            literals = at;
        }
        put_literals(&decoded[literals..], encoded);
    });
    // The mark of the format.
    if let Some(first) = encoded.get_mut(start) {
        *first |= 1 << 5;
    }
}

fn put_literals(literals: &[u8], encoded: &mut Vec<u8>) {
    for run in literals.chunks(RUN) {
        encoded.push((run.len() - 1) as u8);
        encoded.extend_from_slice(run);
    }
}

fn put_copy(back: usize, len: usize, encoded: &mut Vec<u8>) {
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
