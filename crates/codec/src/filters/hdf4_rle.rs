//! HDF4 run-length encoding: a byte with the upper bit set is a run of the next byte, three times or more; another byte says how many
//! bytes follow as they are (`crle.c` of HDF4).

use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_rle"),
    names: &["hdf4_rle"],
    new: |_, _| Ok(boxed(Rle)),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

/// The bit that marks a run, the shortest run, and the longest one: three plus what seven bits hold.
pub(super) const RUN: u8 = 0x80;
const MIN_RUN: usize = 3;
const MAX_RUN: usize = MIN_RUN + 0x7f;

/// Maximum number of bytes that are stored as they are behind one count, which is one less.
const MAX_MIX: usize = 0x80;

/// Decodes counts, each with the byte of a run or with bytes as they are behind it, until there are no more or `decoded` is full. `len_of` says
/// how many bytes the lower seven bits of a count mean, in a run and as they are. Returns the number of decoded bytes.
pub(super) fn decode_runs(
    mut encoded: &[u8],
    decoded: &mut [u8],
    len_of: impl Fn(bool, usize) -> usize,
) -> Result<usize> {
    let len = decoded.len();
    let mut rest = decoded;
    while !rest.is_empty() {
        let Some((&count, after)) = encoded.split_first() else { break };
        let is_run = count & RUN != 0;
        let amount = len_of(is_run, usize::from(count & !RUN));
        let Some((bytes, after)) = after.split_at_checked(if is_run { 1 } else { amount }) else {
            return Err(corrupt(format!("stream ends within a run, after {} bytes", len - rest.len())));
        };
        let (part, more) = rest.split_at_mut(amount.min(rest.len()));
        match is_run {
            true => part.fill(bytes[0]),
            false => part.copy_from_slice(&bytes[..part.len()]),
        }
        (rest, encoded) = (more, after);
    }
    Ok(len - rest.len())
}

#[derive(Debug)]
struct Rle;

impl SliceCodec for Rle {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len_of = |is_run, count| if is_run { count + MIN_RUN } else { count + 1 };
        decode_runs(encoded, decoded, len_of).map(Some)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let run_at = |at: usize| {
            let same = decoded[at..].iter().take(MAX_RUN).take_while(|&&byte| byte == decoded[at]).count();
            (same >= MIN_RUN).then_some(same)
        };
        let (mut at, mut mix) = (0, 0);
        let flush = |encoded: &mut Vec<u8>, bytes: &[u8]| {
            for part in bytes.chunks(MAX_MIX) {
                encoded.push((part.len() - 1) as u8);
                encoded.extend_from_slice(part);
            }
        };
        while at < decoded.len() {
            let Some(run) = run_at(at) else {
                at += 1;
                continue;
            };
            flush(encoded, &decoded[mix..at]);
            encoded.extend([RUN | (run - MIN_RUN) as u8, decoded[at]]);
            at += run;
            mix = at;
        }
        flush(encoded, &decoded[mix..]);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // A run takes two bytes.
        encoded.saturating_mul(MAX_RUN.div_ceil(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_mixes_are_those_of_hdf4() {
        // A run of 3, two bytes as they are, a run of 130.
        let encoded = [0x80, 7, 0x01, 1, 2, 0xff, 9];
        let decoded: Vec<u8> = [&[7, 7, 7, 1, 2][..], &[9; 130]].concat();
        let mut out = vec![0; decoded.len()];
        assert_eq!(Rle.decode(&encoded, &mut out).unwrap(), Some(135));
        assert_eq!(out, decoded);
        let mut again = vec![];
        Rle.encode(&decoded, &mut again).unwrap();
        assert_eq!(again, encoded);
        assert!(Rle.decode(&[0x05, 1, 2], &mut out).is_err());
        assert_eq!(Rle.decode(&[0x80, 1], &mut out).unwrap(), Some(3), "a stream that ends early is shorter");
        assert!(decoded.len() <= Rle.max_decoded_len(encoded.len()));
    }
}
