//! HDF4 szip: the pixels of szip without the size of HDF5 before them (`cszip.c` of HDF4).
//!
//! The parameters are option bits, pixels per block, bits per pixel, pixels per scanline, and the number of pixels. Files of libraries
//! from 4.2r1 on have the option "revision 2": a byte before the stream says whether it is compressed, and four bytes how long it is.

use ferrocdf_bytes::{Error, Result, ToUsize};

use super::bits::BitReader;
use super::szip::Szip;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;
use crate::stream::{Progress, StreamDecoder};

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

#[derive(Clone, Debug)]
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

/// The part of a stream in which a decoder is.
#[derive(Clone, Copy, Debug)]
enum Part {
    Header,
    /// So many bytes that are stored as they are.
    Plain(u64),
    /// So many encoded bytes, if the stream has as many.
    Coded(u64),
}

/// A decoder of scanlines. It decodes pixels of several planes as the planes.
#[derive(Clone, Debug)]
struct Lines {
    codec: Hdf4Szip,
    part: Part,
    /// Number of bytes that are to be decoded.
    left: u64,
    /// Bits of the first encoded byte that are consumed.
    bit: u32,
    /// A line that is decoded, and where its bytes begin that are to be written.
    line: Vec<u8>,
    from: usize,
}

impl Lines {
    /// Reads the header; false if it needs more bytes.
    fn read_header(&mut self, encoded: &[u8], is_last: bool) -> Result<bool> {
        let Some(&[is_plain, a, b, c, d]) = encoded.first_chunk::<HEADER>() else {
            return match is_last {
                true => Err(too_short(encoded.len())),
                false => Ok(false),
            };
        };
        let len = u32::from_be_bytes([a, b, c, d]).into();
        self.part = if is_plain == 1 { Part::Plain(len) } else { Part::Coded(len) };
        Ok(true)
    }

    /// Writes bytes of the decoded line; returns their number.
    fn write_line(&mut self, to: &mut [u8]) -> usize {
        let fits = to.len().min(self.line.len() - self.from);
        to[..fits].copy_from_slice(&self.line[self.from..][..fits]);
        self.from += fits;
        fits
    }

    /// Decodes scanlines from bytes of the coded part, of which `is_last` has the last one.
    fn decode_lines(&mut self, encoded: &[u8], is_last: bool, to: &mut [u8]) -> Result<Progress> {
        let mut done = Progress { written: self.write_line(to), ..Progress::default() };
        let Some(mut bits) = BitReader::from_bit(encoded, self.bit) else { return Ok(done) };
        let mut samples = vec![];
        while done.written < to.len() && self.left > 0 {
            let len = self.left.at_most(self.codec.szip.line_len());
            self.line.resize(len, 0);
            self.from = self.line.len();
            match self.codec.szip.read_line(&mut bits, &mut samples, &mut self.line) {
                Ok(()) => {}
                Err(error) if is_last => return Err(error),
                // The line may go on behind these bytes.
                Err(_) => break,
            }
            (self.left, self.from) = (self.left - len as u64, 0);
            (done.taken, self.bit) = bits.position(encoded);
            done.written += self.write_line(&mut to[done.written..]);
        }
        Ok(done)
    }
}

impl StreamDecoder for Lines {
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress> {
        match self.part {
            Part::Header => {
                let taken = if self.read_header(encoded, is_last)? { HEADER } else { 0 };
                Ok(Progress { taken, ..Progress::default() })
            }
            Part::Plain(left) => {
                let amount = left.at_most(encoded.len()).min(decoded.len());
                decoded[..amount].copy_from_slice(&encoded[..amount]);
                self.part = Part::Plain(left - amount as u64);
                Ok(Progress { taken: amount, written: amount, is_end: left == amount as u64 })
            }
            Part::Coded(left) => {
                let available = left.at_most(encoded.len());
                let is_last = is_last || available as u64 == left;
                let done = self.decode_lines(&encoded[..available], is_last, decoded)?;
                if left != u64::MAX {
                    self.part = Part::Coded(left - done.taken as u64);
                }
                Ok(done)
            }
        }
    }

    fn fork(&self) -> Box<dyn StreamDecoder> {
        Box::new(self.clone())
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.codec.szip.line_len()
    }

    fn planes(&self) -> usize {
        match self.part {
            Part::Plain(_) => 1,
            Part::Header | Part::Coded(_) => self.codec.szip.planes(),
        }
    }
}

fn too_short(len: usize) -> Error {
    corrupt(format!("{len} bytes: shorter than the header of {HEADER}"))
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
            return Err(too_short(encoded.len()));
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

    fn stream(&self, len: u64) -> Option<Box<dyn StreamDecoder>> {
        let (left, part) = (len, if self.has_header { Part::Header } else { Part::Coded(u64::MAX) });
        Some(Box::new(Lines { codec: self.clone(), part, left, bit: 0, line: vec![], from: 0 }))
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
