//! LZF (filter 32000), the format of liblzf as h5py stores it: runs of up to 32 literals, and copies of up to 264 bytes
//! from at most 8192 bytes back. Parameters only tell sizes that are known otherwise, so they are not looked at.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, copy_run, with_finder};
use crate::filter::{Codec, bad_params, boxed, corrupt};
use crate::json::Spelling;
use crate::registry::Entry;

const LONGEST: usize = 264;
const FARTHEST: usize = 8192;
const RUN: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: 32000,
    names: &["LZF"],
    make: |_| Ok(boxed(Lzf)),
    learn: None,
    json: Some(Spelling {
        id: "imagecodecs_lzf",
        write: |_| Ok(vec![("header", false.into())]),
        read: |json| match json.flag("header", true)? {
            true => Err(bad_params("HDF5 stores LZF without a header")),
            false => Ok(vec![]),
        },
    }),
};

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
                if copy_run::<RUN>(rest, plain, at, run.len()).is_none() {
                    return Ok(None);
                }
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
            if back > at {
                return Err(corrupt(format!("a copy from {back} bytes back where {at} are unpacked")));
            }
            if plain.len() - at < len {
                return Ok(None);
            }
            copy_back(plain, back, at, len);
            at += len;
        }
        Ok(Some(at))
    }

    /// As in liblzf, bytes that do not become fewer are refused.
    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        with_finder(plain, |mut finder| {
            let (mut at, mut literals) = (0, 0);
            while at < plain.len() && stored.len() < plain.len() {
                let Some((back, same)) = finder.find(at, FARTHEST, LONGEST) else {
                    at += 1;
                    continue;
                };
                put_literals(&plain[literals..at], stored);
                let high = ((back - 1) >> 8) as u8;
                match same - 2 {
                    short @ ..7 => stored.push((short as u8) << 5 | high),
                    long => stored.extend_from_slice(&[7 << 5 | high, (long - 7) as u8]),
                }
                stored.push((back - 1) as u8);
                at += same;
                literals = at;
            }
            put_literals(&plain[literals..], stored);
        });
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
