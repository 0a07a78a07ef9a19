//! Run lengths of rasters of HDF4's old interfaces, `DFTAG_RLE` (`dfrle.c` of HDF4): a byte with the upper bit set says how often the next
//! byte comes, another one how many bytes follow as they are. Runs may cross the end of a row.

use ferrocdf_bytes::Result;

use super::hdf4_rle::{RUN, Runs};
use crate::filter::{SliceCodec, boxed};
use crate::identity::FilterId;
use crate::registry::Entry;
use crate::stream::StreamDecoder;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_raster_rle"),
    names: &["hdf4_raster_rle"],
    new: |_, _| Ok(boxed(RasterRle)),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

/// Maximum number of bytes behind one count.
const MAX_COUNT: usize = 0x7f;

/// The shortest run that takes less room than its bytes.
const MIN_RUN: usize = 3;

/// The bytes that a count of this coder means.
fn len_of(_is_run: bool, count: usize) -> usize {
    count
}

#[derive(Debug)]
struct RasterRle;

impl SliceCodec for RasterRle {
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
        for same in decoded.chunk_by(|a, b| a == b) {
            for run in same.chunks(MAX_COUNT) {
                match run.len() >= MIN_RUN {
                    true => encoded.extend([RUN | run.len() as u8, run[0]]),
                    false => run.iter().for_each(|&byte| encoded.extend([1, byte])),
                }
            }
        }
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // A run takes two bytes.
        encoded.saturating_mul(MAX_COUNT.div_ceil(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_their_own_length_and_cross_rows() {
        // A run of 4, two bytes as they are, a run of 127.
        let encoded = [0x84, 7, 0x02, 1, 2, 0xff, 9];
        let decoded: Vec<u8> = [&[7, 7, 7, 7, 1, 2][..], &[9; 127]].concat();
        let mut out = vec![0; decoded.len()];
        assert_eq!(RasterRle.decode(&encoded, &mut out).unwrap(), Some(133));
        assert_eq!(out, decoded);
        let (mut again, mut back) = (vec![], vec![0; decoded.len()]);
        RasterRle.encode(&decoded, &mut again).unwrap();
        assert_eq!(RasterRle.decode(&again, &mut back).unwrap(), Some(133));
        assert_eq!(back, decoded);
        assert!(RasterRle.decode(&[0x05, 1, 2], &mut out).is_err());
        assert_eq!(
            RasterRle.decode(&[0x83, 1], &mut out).unwrap(),
            Some(3),
            "a stream that ends early is shorter"
        );
        assert!(decoded.len() <= RasterRle.max_decoded_len(encoded.len()));
    }
}
