//! Deflate (filter 1): one zlib stream (RFC 1950). Its parameter is the level, 0 to 9.
//!
//! Bytes after the end of the stream are not looked at, as in zlib.

use std::cell::RefCell;

use ferrocdf_bytes::Result;
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::level_spelling;
use crate::registry::Entry;
use crate::scratch::{with_bytes, with_kept};

/// Deflate makes at most 258 bytes of 2 bits.
pub const RATIO: usize = 1032;

thread_local! {
    static INFLATE: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    /// By level, those that were needed.
    static DEFLATE: RefCell<Vec<(i32, Compressor)>> = const { RefCell::new(Vec::new()) };
}

/// What encodes better than so many to one is compressed again at this level if the wished one is lower: the fast ways of the
/// library miss repeats there that zlib finds, and such bytes are compressed quickly at any level.
const REPETITIVE: usize = 12;
const THOROUGH: i32 = 6;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(1),
    names: &["deflate", "zlib", "gzip"],
    make: |params, _| level_of(params).map(|level| boxed(Deflate { level })),
    derive: None,
    numcodecs: Some(level_spelling!("zlib", 0..=9, 1)),
    zarr_v3: None,
};

/// The format around deflated data.
#[derive(Clone, Copy, Debug)]
pub enum Wrapper {
    /// RFC 1950.
    Zlib,
    /// RFC 1952.
    Gzip,
}

#[derive(Debug)]
struct Deflate {
    level: i32,
}

/// The level that parameters say.
pub fn level_of(params: &[u32]) -> Result<i32> {
    match *params {
        [level @ 0..=9] => Ok(level as i32),
        _ => Err(bad_params(format!("the parameters {params:?} are not one level from 0 to 9"))),
    }
}

/// Decodes a stream into the front of `decoded`; `None` if that is too small.
pub fn inflate(wrapper: Wrapper, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
    let done = with_kept(&INFLATE, Decompressor::new, |inflate| match wrapper {
        Wrapper::Zlib => inflate.zlib_decompress(encoded, decoded),
        Wrapper::Gzip => inflate.gzip_decompress(encoded, decoded),
    });
    let format = match wrapper {
        Wrapper::Zlib => "zlib stream",
        Wrapper::Gzip => "gzip member",
    };
    match done {
        Ok(len) => Ok(Some(len)),
        Err(DecompressionError::InsufficientSpace) => Ok(None),
        Err(DecompressionError::BadData) => {
            Err(corrupt(format!("the {} stored bytes are not a whole {format}", encoded.len())))
        }
    }
}

/// Encodes to a stream at the end of `encoded`.
pub fn deflate(wrapper: Wrapper, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    let len = deflate_at(wrapper, level, decoded, encoded)?;
    if (1..THOROUGH).contains(&level) && len < decoded.len() / REPETITIVE {
        if deflate_at(wrapper, THOROUGH, decoded, encoded)? < len {
            encoded.drain(start..start + len);
        } else {
            encoded.truncate(start + len);
        }
    }
    Ok(())
}

/// Encodes at exactly this level, and returns the length of the stream.
fn deflate_at(wrapper: Wrapper, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<usize> {
    with_kept(&DEFLATE, Vec::new, |kept| {
        let at = match kept.iter().position(|&(of, _)| of == level) {
            Some(at) => at,
            None => {
                let level_of = CompressionLvl::new(level)
                    .map_err(|_| bad_params(format!("there is no level {level} of deflate")))?;
                kept.push((level, Compressor::new(level_of)));
                kept.len() - 1
            }
        };
        let compressor = &mut kept[at].1;
        let bound = match wrapper {
            Wrapper::Zlib => compressor.zlib_compress_bound(decoded.len()),
            Wrapper::Gzip => compressor.gzip_compress_bound(decoded.len()),
        };
        // The thread keeps a buffer for the worst case, whose pages are not touched anew for each chunk.
        with_bytes(bound, |room| {
            let done = match wrapper {
                Wrapper::Zlib => compressor.zlib_compress(decoded, room),
                Wrapper::Gzip => compressor.gzip_compress(decoded, room),
            };
            let len = done.map_err(|_| corrupt("the compressor asks for more than its bound"))?;
            encoded.extend_from_slice(&room[..len]);
            Ok(len)
        })
    })
}

impl SliceCodec for Deflate {
    fn decoded_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        inflate(Wrapper::Zlib, encoded, decoded)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        deflate(Wrapper::Zlib, self.level, decoded, encoded).map(Some)
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        encoded.saturating_mul(RATIO)
    }
}
