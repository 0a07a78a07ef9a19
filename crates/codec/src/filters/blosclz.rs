//! BloscLZ, the compressor that blosc brings itself: runs of up to 32 literals, and copies of any length from at most
//! 73,725 bytes back. The first instruction is a run, whatever its byte says, and so is the last.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, with_finder};
use crate::filter::corrupt;

const RUN: usize = 32;

/// Distances from here on are stored in two more bytes.
const FAR: usize = 8191;
const FARTHEST: usize = FAR + 65_535;

/// Unpacks to bytes that it must fill.
pub fn unpack(packed: &[u8], plain: &mut [u8]) -> Result<()> {
    let len = plain.len();
    match instructions(packed, plain) {
        Some(made) if made == len => Ok(()),
        Some(made) => Err(corrupt(format!("BloscLZ unpacks to {made} bytes and not {len}"))),
        None => Err(corrupt(format!("{} bytes of BloscLZ are damaged", packed.len()))),
    }
}

/// How many bytes were made; `None` if something is outside.
fn instructions(packed: &[u8], plain: &mut [u8]) -> Option<usize> {
    let mut rest = packed.iter();
    let mut at = 0;
    let mut next = rest.next().map(|first| first & 31);
    while let Some(control) = next {
        let control = usize::from(control);
        if control < RUN {
            let (run, after) = rest.as_slice().split_at_checked(control + 1)?;
            plain.get_mut(at..at + run.len())?.copy_from_slice(run);
            at += run.len();
            rest = after.iter();
        } else {
            let mut len = (control >> 5) + 2;
            if len == 9 {
                loop {
                    let more = *rest.next()?;
                    len += usize::from(more);
                    if more < 255 {
                        break;
                    }
                }
            }
            let mut back = (control & 31) << 8 | usize::from(*rest.next()?);
            if back == FAR {
                back += usize::from(*rest.next()?) << 8 | usize::from(*rest.next()?);
            }
            back += 1;
            if back > at || plain.len() - at < len {
                return None;
            }
            copy_back(plain, back, at, len);
            at += len;
        }
        next = rest.next().copied();
    }
    Some(at)
}

/// Packs to the end of `stored`.
pub fn pack(plain: &[u8], stored: &mut Vec<u8>) {
    let start = stored.len();
    with_finder(plain, |mut finder| {
        let (mut at, mut literals) = (0, 0);
        while at < plain.len() {
            // The last byte is left to the run at the end.
            let found = finder.find(at, FARTHEST, plain.len() - at - 1);
            let Some((back, same)) = found.filter(|&(back, same)| same >= if back > FAR { 5 } else { 3 })
            else {
                at += 1;
                continue;
            };
            put_literals(&plain[literals..at], stored);
            put_copy(back - 1, same - 2, stored);
            at += same;
            literals = at;
        }
        put_literals(&plain[literals..], stored);
    });
    // The mark of the format.
    if let Some(first) = stored.get_mut(start) {
        *first |= 1 << 5;
    }
}

fn put_literals(literals: &[u8], stored: &mut Vec<u8>) {
    for run in literals.chunks(RUN) {
        stored.push((run.len() - 1) as u8);
        stored.extend_from_slice(run);
    }
}

fn put_copy(back: usize, len: usize, stored: &mut Vec<u8>) {
    let near = back.min(FAR);
    stored.push((len.min(7) << 5 | near >> 8) as u8);
    if let Some(mut more) = len.checked_sub(7) {
        while more >= 255 {
            stored.push(255);
            more -= 255;
        }
        stored.push(more as u8);
    }
    stored.push(near as u8);
    if near == FAR {
        stored.extend_from_slice(&((back - FAR) as u16).to_be_bytes());
    }
}
