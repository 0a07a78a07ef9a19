//! Gzip (no HDF5 number; Zarr v3 core codec and numcodecs `gzip`): members of the gzip format (RFC 1952), of which encoding makes one. Its
//! parameter is the level, 0 to 9.
//!
//! HDF5's deflate, which h5py and filter specifications also call `gzip`, has the zlib format (RFC 1950) around the same
//! deflate stream. The bytes after a member are those that Python's `gzip`, and with it numcodecs, accepts: zeros, and more members.

use ferrocdf_bytes::Result;
use libdeflater::crc32;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::deflate::{Deflate, Wrapper, inflate};
use crate::filter::{SliceCodec, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::level_form;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("gzip"),
    names: &["gzip-member"],
    new: |params, _| Ok(boxed(Gzip { member: Deflate::new(Wrapper::Gzip, params)? })),
    derive: None,
    numcodecs: Some(level_form!("gzip", 0..=9, 1)),
    zarr_v3: Some(level_form!("gzip", 0..=9, 5)),
};

/// Bytes ID1 and ID2 of each member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bits of FLG (RFC 1952, 2.3.1).
const FHCRC: u8 = 1 << 1;
const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;

/// Bytes of CRC32 and ISIZE at the end of a member.
const TRAILER: usize = 8;

#[derive(Debug)]
struct Gzip {
    member: Deflate,
}

impl SliceCodec for Gzip {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (mut rest, mut len) = (encoded, 0);
        loop {
            let Some(more) = inflate(Wrapper::Gzip, rest, &mut decoded[len..])? else { return Ok(None) };
            let (_, after) = rest.split_at(member_len(rest, &decoded[len..len + more])?);
            len += more;
            let padding = after.iter().take_while(|&&byte| byte == 0).count();
            rest = &after[padding..];
            if rest.is_empty() {
                return Ok(Some(len));
            }
            if !rest.starts_with(&MAGIC) {
                let what = format!(
                    "{} bytes after the gzip member are neither zeros nor another member",
                    rest.len()
                );
                return Err(corrupt(what));
            }
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        self.member.encode(decoded, encoded)
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        self.member.max_decoded_len(encoded)
    }
}

/// Returns the length of the valid member at the begin of `encoded`, whose data are `decoded`.
fn member_len(encoded: &[u8], decoded: &[u8]) -> Result<usize> {
    // The member ends with the checksum and the size of its data. If `encoded` has these bytes once, that is where it ends; the decoder of
    // whole members does not tell it, and the other one is slower.
    let trailer = (u64::from(crc32(decoded)) | (decoded.len() as u64) << 32).to_le_bytes();
    let is_trailer = |bytes: &&[u8]| bytes.first_chunk() == Some(&trailer);
    // The search ends at the second one, so that it takes no longer for many members than for one.
    if encoded.ends_with(&trailer) && encoded.windows(TRAILER).filter(is_trailer).take(2).count() == 1 {
        return Ok(encoded.len());
    }
    let damaged = || corrupt("the gzip member is damaged");
    let header = header_len(encoded).ok_or_else(damaged)?;
    let mut copy = vec![0; decoded.len()];
    let mut state = Box::<DecompressorOxide>::default();
    let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, taken, _) = decompress(&mut state, &encoded[header..], &mut copy, 0, flags);
    let end = header + taken + TRAILER;
    if status == TINFLStatus::Done && end <= encoded.len() { Ok(end) } else { Err(damaged()) }
}

/// Returns the length of the header of a member; `None` if it is cut off.
fn header_len(encoded: &[u8]) -> Option<usize> {
    let (header, mut rest) = encoded.split_at_checked(10)?;
    let flags = header[3];
    if flags & FEXTRA != 0 {
        let (len, more) = rest.split_first_chunk()?;
        rest = more.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for flag in [FNAME, FCOMMENT] {
        if flags & flag != 0 {
            let zero = rest.iter().position(|&byte| byte == 0)?;
            rest = &rest[zero + 1..];
        }
    }
    if flags & FHCRC != 0 {
        rest = rest.get(2..)?;
    }
    Some(encoded.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(data: &[u8]) -> Vec<u8> {
        let mut encoded = vec![];
        Gzip { member: Deflate::new(Wrapper::Gzip, &[5]).unwrap() }.encode(data, &mut encoded).unwrap();
        encoded
    }

    fn decode(encoded: &[u8]) -> Result<Vec<u8>> {
        let gzip = boxed(Gzip { member: Deflate::new(Wrapper::Gzip, &[5])? });
        let mut decoded = vec![];
        gzip.decode(encoded, &mut decoded, None, 1 << 20).map(|()| decoded)
    }

    #[test]
    fn bytes_after_a_member_are_those_that_python_accepts() {
        let data: Vec<u8> = (0..20_000u32).map(|number| ((number * number) >> 7) as u8).collect();
        for data in [&data[..], &data[..1], &[]] {
            let member = encode(data);
            assert_eq!(decode(&member).as_deref(), Ok(data));
            for count in [1, 7, 8, 9, 512] {
                assert_eq!(decode(&[&member[..], &vec![0; count]].concat()).as_deref(), Ok(data));
            }
            // The same member twice ends with its own trailer.
            for padding in [0, 3] {
                let two = [&member[..], &vec![0; padding], &member[..]].concat();
                assert_eq!(decode(&two), Ok([data, data].concat()));
            }
            for garbage in [&b"garbage!"[..], b"a", &member[member.len() - TRAILER..], &member[..10]] {
                // The trailer of no data is zeros.
                if garbage.iter().any(|&byte| byte != 0) {
                    assert!(decode(&[&member[..], garbage].concat()).is_err(), "{garbage:?}");
                    assert!(decode(&[&member[..], &[0, 0], garbage].concat()).is_err(), "{garbage:?}");
                }
            }
            for cut in 1..member.len().min(30) {
                assert!(decode(&member[..member.len() - cut]).is_err(), "{cut}");
            }
        }
    }

    #[test]
    fn a_header_with_all_optional_fields_is_skipped() {
        let member = encode(b"data");
        let mut full = member[..10].to_vec();
        full[3] = FHCRC | FEXTRA | FNAME | FCOMMENT;
        full.extend_from_slice(b"\x03\x00abcname\0comment\0\x00\x00");
        full.extend_from_slice(&member[10..]);
        assert_eq!(decode(&full).unwrap(), b"data");
        assert_eq!(decode(&[&full[..], &[0; 4], &full].concat()).unwrap(), b"datadata");
    }
}
