//! HDF4 szip: the pixels of szip without the size of HDF5 before them (`cszip.c` of HDF4).
//!
//! The parameters are option bits, pixels per block, bits per pixel, pixels per scanline, and the number of pixels. Files of libraries
//! from 4.2r1 on have the option "revision 2": a byte before the stream says whether it is compressed, and four bytes how long it is.

use ferrocdf_bytes::Result;

use super::szip::Szip;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_szip"),
    names: &["hdf4_szip"],
    new: |params, _| Hdf4Szip::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

/// `SZ_H4_REV_2`: the stream has a header.
const REVISION_2: u32 = 0x1_0000;

/// Bytes of the header: whether the bytes are stored as they are, and their number, big-endian.
const HEADER: usize = 5;

#[derive(Debug)]
struct Hdf4Szip {
    szip: Szip,
    has_header: bool,
}

impl Hdf4Szip {
    fn new(params: &[u32]) -> Result<Hdf4Szip> {
        let &[options, block, bits, scanline, _pixels] = params else {
            return Err(bad_params(format!("hdf4_szip: {} parameters instead of 5", params.len())));
        };
        let szip = Szip::new(&[options & !REVISION_2, block, bits, scanline])?;
        Ok(Hdf4Szip { szip, has_header: options & REVISION_2 != 0 })
    }
}

impl SliceCodec for Hdf4Szip {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        if !self.has_header {
            self.szip.read_stream(encoded, decoded)?;
            return Ok(Some(decoded.len()));
        }
        let Some((&[is_plain, a, b, c, d], stream)) = encoded.split_first_chunk::<HEADER>() else {
            return Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len())));
        };
        let len = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some(stream) = stream.get(..len) else {
            return Err(corrupt(format!("a stream of {len} bytes in {}", stream.len())));
        };
        if is_plain != 1 {
            self.szip.read_stream(stream, decoded)?;
            return Ok(Some(decoded.len()));
        }
        match decoded.get_mut(..len) {
            Some(decoded) => decoded.copy_from_slice(stream),
            None => return Ok(None),
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if !self.has_header {
            return Ok(self.szip.write_stream(decoded, encoded).then_some(()));
        }
        encoded.extend([0; HEADER]);
        let fits = self.szip.write_stream(decoded, encoded);
        if !fits || encoded.len() - HEADER >= decoded.len() {
            encoded.truncate(HEADER);
            encoded.extend_from_slice(decoded);
            encoded[0] = 1;
        }
        let Ok(len) = u32::try_from(encoded.len() - HEADER) else {
            return Err(bad_params(format!("{} bytes: too many for szip", decoded.len())));
        };
        encoded[1..HEADER].copy_from_slice(&len.to_be_bytes());
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        self.szip.max_stream_len(encoded).max(encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_a_header_since_revision_2() {
        let numbers: Vec<u8> = (0..1024u32).flat_map(|number| (number / 3).to_be_bytes()).collect();
        for options in [0x1_00b0, 0xb0] {
            let codec = Hdf4Szip::new(&[options, 16, 32, 64, 1024]).unwrap();
            let (mut encoded, mut again) = (vec![], vec![0; numbers.len()]);
            codec.encode(&numbers, &mut encoded).unwrap().unwrap();
            if options > 0xffff {
                assert_eq!(encoded[0], 0);
                assert_eq!(encoded[1..5], (encoded.len() as u32 - 5).to_be_bytes());
            }
            assert_eq!(codec.decode(&encoded, &mut again).unwrap(), Some(numbers.len()));
            assert_eq!(again, numbers);
        }
        let codec = Hdf4Szip::new(&[0x1_00b0, 16, 8, 64, 3]).unwrap();
        let mut out = [0; 3];
        assert_eq!(codec.decode(&[1, 0, 0, 0, 3, 7, 8, 9], &mut out).unwrap(), Some(3));
        assert_eq!(out, [7, 8, 9]);
        assert!(codec.decode(&[1, 0, 0, 0, 4, 7, 8, 9], &mut out).is_err());
        assert!(codec.decode(&[0, 0], &mut out).is_err());
    }
}
