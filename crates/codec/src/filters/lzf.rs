//! LZF (filter 32000), the format of liblzf as h5py stores it: runs of up to 32 literals, and matches of up to 264 bytes
//! with a distance of at most 8192 bytes. The parameters are ignored: they contain only sizes that the decoder does not
//! need.

use ferrocdf_bytes::Result;

use super::lz::{copy_back, copy_run, with_match_finder};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

const MAX_MATCH: usize = 264;
const MAX_DISTANCE: usize = 8192;
/// Maximum number of literals in a run.
const MAX_RUN: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32000),
    names: &["LZF"],
    new: |_, _| Ok(boxed(Lzf)),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "imagecodecs_lzf",
        write: |_| Ok(vec![("header", false.into())]),
        read: |json| match json.boolean("header", true)? {
            true => {
                Err(bad_params("imagecodecs_lzf: HDF5 stores LZF without a header; set \"header\" to false"))
            }
            false => Ok(vec![]),
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Lzf;

impl SliceCodec for Lzf {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let short = || corrupt(format!("the {} encoded bytes end within a run or match", encoded.len()));
        let (mut rest, mut at) = (encoded, 0);
        while let Some((&control, after)) = rest.split_first() {
            rest = after;
            let control = usize::from(control);
            if control < MAX_RUN {
                let (run, after) = rest.split_at_checked(control + 1).ok_or_else(short)?;
                if copy_run::<MAX_RUN>(rest, decoded, at, run.len()).is_none() {
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
                return Err(corrupt(format!("a match has the distance {back} at decoded byte {at}")));
            }
            if decoded.len() - at < len {
                return Ok(None);
            }
            copy_back(decoded, back, at, len);
            at += len;
        }
        Ok(Some(at))
    }

    /// Returns `None` if the encoded bytes are not fewer than the decoded bytes, as liblzf does.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        with_match_finder(decoded, |mut finder| {
            let (mut at, mut literals) = (0, 0);
            while at < decoded.len() && encoded.len() < decoded.len() {
                let Some((back, len)) = finder.find(at, MAX_DISTANCE, MAX_MATCH) else {
                    at += 1;
                    continue;
                };
                put_literals(&decoded[literals..at], encoded);
                let high = ((back - 1) >> 8) as u8;
                match len - 2 {
                    short @ ..7 => encoded.push((short as u8) << 5 | high),
                    long => encoded.extend_from_slice(&[7 << 5 | high, (long - 7) as u8]),
                }
                encoded.push((back - 1) as u8);
                at += len;
                literals = at;
            }
            put_literals(&decoded[literals..], encoded);
        });
        Ok((encoded.len() < decoded.len() || decoded.is_empty()).then_some(()))
    }

    /// Encodes all bytes as literals.
    fn encode_enlarging(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        put_literals(decoded, encoded);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // A match of 264 bytes takes three bytes.
        encoded.saturating_mul(MAX_MATCH / 3)
    }
}

fn put_literals(literals: &[u8], encoded: &mut Vec<u8>) {
    for run in literals.chunks(MAX_RUN) {
        encoded.push((run.len() - 1) as u8);
        encoded.extend_from_slice(run);
    }
}
