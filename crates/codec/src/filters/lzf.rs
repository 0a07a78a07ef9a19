//! LZF (filter 32000), the format of liblzf as h5py stores it: runs of up to 32 literals, and copies of up to 264 bytes
//! from at most 8192 bytes back. Parameters only tell sizes that are known otherwise, so they are not looked at.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, copy_run, with_finder};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;

const LONGEST: usize = 264;
const FARTHEST: usize = 8192;
const RUN: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32000),
    names: &["LZF"],
    make: |_, _| Ok(boxed(Lzf)),
    derive: None,
    numcodecs: Some(Spelling {
        id: "imagecodecs_lzf",
        write: |_| Ok(vec![("header", false.into())]),
        read: |json| match json.flag("header", true)? {
            true => Err(bad_params("HDF5 stores LZF without a header")),
            false => Ok(vec![]),
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Lzf;

impl SliceCodec for Lzf {
    fn decoded_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} stored bytes end within an instruction", encoded.len()));
        let (mut rest, mut at) = (encoded, 0);
        while let Some((&control, after)) = rest.split_first() {
            rest = after;
            let control = usize::from(control);
            if control < RUN {
                let (run, after) = rest.split_at_checked(control + 1).ok_or_else(short)?;
                if copy_run::<RUN>(rest, decoded, at, run.len()).is_none() {
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
            if decoded.len() - at < len {
                return Ok(None);
            }
            copy_back(decoded, back, at, len);
            at += len;
        }
        Ok(Some(at))
    }

    /// As in liblzf, bytes that do not become fewer are refused.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        with_finder(decoded, |mut finder| {
            let (mut at, mut literals) = (0, 0);
            while at < decoded.len() && encoded.len() < decoded.len() {
                let Some((back, same)) = finder.find(at, FARTHEST, LONGEST) else {
                    at += 1;
                    continue;
                };
                put_literals(&decoded[literals..at], encoded);
                let high = ((back - 1) >> 8) as u8;
                match same - 2 {
                    short @ ..7 => encoded.push((short as u8) << 5 | high),
                    long => encoded.extend_from_slice(&[7 << 5 | high, (long - 7) as u8]),
                }
                encoded.push((back - 1) as u8);
                at += same;
                literals = at;
            }
            put_literals(&decoded[literals..], encoded);
        });
        Ok((encoded.len() < decoded.len() || decoded.is_empty()).then_some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        // Three bytes become 264.
        encoded.saturating_mul(LONGEST / 3)
    }
}

fn put_literals(literals: &[u8], encoded: &mut Vec<u8>) {
    for run in literals.chunks(RUN) {
        encoded.push((run.len() - 1) as u8);
        encoded.extend_from_slice(run);
    }
}
