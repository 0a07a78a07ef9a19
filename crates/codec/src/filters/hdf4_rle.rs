//! HDF4 run-length encoding: a byte with the upper bit set is a run of the next byte, three times or more; another byte says how many
//! bytes follow as they are (`crle.c` of HDF4).

use ferrocdf_bytes::{Result, ToUsize};

use crate::filter::{SliceCodec, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;
use crate::stream::{Progress, StreamDecoder};

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

/// Says how many bytes the lower seven bits of a count mean, in a run or as they are.
pub(super) type LenOf = fn(is_run: bool, count: usize) -> usize;

/// A decoder of counts, each with the byte of a run or with bytes as they are behind it.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    len_of: LenOf,
    /// The byte of the run that is decoded now; `None` in bytes as they are.
    run: Option<u8>,
    /// Number of bytes that are to come before the next count.
    left: usize,
    /// Number of bytes that are decoded.
    decoded: u64,
}

impl Runs {
    pub fn new(len_of: LenOf) -> Runs {
        Runs { len_of, run: None, left: 0, decoded: 0 }
    }

    /// Decodes until there are no more counts or `decoded` is full. Returns the number of decoded bytes.
    pub fn decode_whole(mut self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize> {
        self.decode(encoded, true, decoded).map(|done| done.written)
    }
}

impl StreamDecoder for Runs {
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress> {
        let (mut from, mut to, before) = (encoded, &mut *decoded, self.decoded);
        while !to.is_empty() {
            if self.left == 0 {
                match *from {
                    [] => break,
                    [count, ..] if count & RUN == 0 => {
                        (self.run, self.left) = (None, (self.len_of)(false, usize::from(count)));
                        from = &from[1..];
                    }
                    [count, byte, ..] => {
                        (self.run, self.left) = (Some(byte), (self.len_of)(true, usize::from(count & !RUN)));
                        from = &from[2..];
                    }
                    [_] if is_last => {
                        return Err(corrupt(format!(
                            "stream ends within a run, after {} bytes",
                            self.decoded
                        )));
                    }
                    [_] => break,
                }
            }
            let mut amount = self.left.min(to.len());
            match self.run {
                Some(byte) => to[..amount].fill(byte),
                None => {
                    amount = amount.min(from.len());
                    let (bytes, after) = from.split_at(amount);
                    to[..amount].copy_from_slice(bytes);
                    from = after;
                }
            }
            to = &mut std::mem::take(&mut to)[amount..];
            (self.left, self.decoded) = (self.left - amount, self.decoded + amount as u64);
            if self.left > 0 && from.is_empty() && !to.is_empty() {
                if is_last {
                    return Err(corrupt(format!("stream ends within a run, after {} bytes", self.decoded)));
                }
                break;
            }
        }
        let written = (self.decoded - before).saturate();
        Ok(Progress { taken: encoded.len() - from.len(), written, is_end: false })
    }

    fn fork(&self) -> Box<dyn StreamDecoder> {
        Box::new(self.clone())
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}

/// The bytes that a count of this coder means.
fn len_of(is_run: bool, count: usize) -> usize {
    if is_run { count + MIN_RUN } else { count + 1 }
}

#[derive(Debug)]
struct Rle;

impl SliceCodec for Rle {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        Runs::new(len_of).decode_whole(encoded, decoded).map(Some)
    }

    fn stream(&self, _len: u64) -> Option<Box<dyn StreamDecoder>> {
        Some(Box::new(Runs::new(len_of)))
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
