//! Deflate (filter 1): one zlib stream (RFC 1950). Its parameter is the level, 0 to 9.
//!
//! Bytes after the end of the stream are ignored, as in zlib.

use std::cell::RefCell;

use ferrocdf_bytes::Result;
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::inflate::Inflater;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::level_form;
use crate::registry::Entry;
use crate::scratch::{with_bytes, with_thread_local};
use crate::stream::StreamDecoder;

/// Maximum ratio of decoded to encoded size: two bits of deflate encode at most 258 bytes.
const MAX_RATIO: usize = 1032;

thread_local! {
    static DECOMPRESSOR: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    /// Compressors that the thread has used, with their levels.
    static COMPRESSORS: RefCell<Vec<(i32, Compressor)>> = const { RefCell::new(Vec::new()) };
}

/// Data that compress by more than `REPETITIVE_RATIO` at a level below `THOROUGH_LEVEL` are compressed again at that level:
/// on such data the fast matchers of libdeflate miss repeats that zlib finds, and compression is fast at any level.
const REPETITIVE_RATIO: usize = 12;
const THOROUGH_LEVEL: i32 = 6;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(1),
    names: &["deflate", "zlib", "gzip"],
    new: |params, _| Deflate::new(Wrapper::Zlib, params).map(boxed),
    derive: None,
    numcodecs: Some(level_form!("zlib", 0..=9, 1)),
    zarr_v3: None,
};

/// Format around a deflate stream (RFC 1951).
#[derive(Clone, Copy, Debug)]
pub enum Wrapper {
    /// zlib stream (RFC 1950).
    Zlib,
    /// gzip member (RFC 1952).
    Gzip,
}

/// Deflate in a wrapper.
#[derive(Debug)]
pub struct Deflate {
    wrapper: Wrapper,
    level: i32,
}

impl Deflate {
    pub fn new(wrapper: Wrapper, params: &[u32]) -> Result<Deflate> {
        match *params {
            [level @ 0..=9] => Ok(Deflate { wrapper, level: level as i32 }),
            _ => Err(bad_params(format!("parameters {params:?}: must be one level from 0 to 9"))),
        }
    }
}

/// Decompresses a stream into the front of `decoded` and returns its decoded size; `None` if `decoded` is too short.
pub fn inflate(wrapper: Wrapper, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
    let result = with_thread_local(&DECOMPRESSOR, Decompressor::new, |decompressor| match wrapper {
        Wrapper::Zlib => decompressor.zlib_decompress(encoded, decoded),
        Wrapper::Gzip => decompressor.gzip_decompress(encoded, decoded),
    });
    let format = match wrapper {
        Wrapper::Zlib => "zlib stream",
        Wrapper::Gzip => "gzip member",
    };
    match result {
        Ok(len) => Ok(Some(len)),
        Err(DecompressionError::InsufficientSpace) => Ok(None),
        Err(DecompressionError::BadData) => {
            Err(corrupt(format!("the {} encoded bytes are not a complete, valid {format}", encoded.len())))
        }
    }
}

/// Compresses to a stream at the end of `encoded`.
pub fn deflate(wrapper: Wrapper, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    let len = deflate_at_level(wrapper, level, decoded, encoded)?;
    if (1..THOROUGH_LEVEL).contains(&level) && len < decoded.len() / REPETITIVE_RATIO {
        if deflate_at_level(wrapper, THOROUGH_LEVEL, decoded, encoded)? < len {
            encoded.drain(start..start + len);
        } else {
            encoded.truncate(start + len);
        }
    }
    Ok(())
}

/// Compresses at exactly this level and returns the length of the stream.
fn deflate_at_level(wrapper: Wrapper, level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<usize> {
    with_thread_local(&COMPRESSORS, Vec::new, |compressors| {
        let position = match compressors.iter().position(|&(other, _)| other == level) {
            Some(position) => position,
            None => {
                let valid_level = CompressionLvl::new(level)
                    .map_err(|_| bad_params(format!("deflate: invalid level {level}")))?;
                compressors.push((level, Compressor::new(valid_level)));
                compressors.len() - 1
            }
        };
        let compressor = &mut compressors[position].1;
        let bound = match wrapper {
            Wrapper::Zlib => compressor.zlib_compress_bound(decoded.len()),
            Wrapper::Gzip => compressor.gzip_compress_bound(decoded.len()),
        };
        // A thread-local buffer of the worst-case size, so that its pages are not faulted in again for each chunk.
        with_bytes(bound, |buffer| {
            let result = match wrapper {
                Wrapper::Zlib => compressor.zlib_compress(decoded, buffer),
                Wrapper::Gzip => compressor.gzip_compress(decoded, buffer),
            };
            let len = result.map_err(|_| corrupt("libdeflate: the output exceeds its own bound"))?;
            encoded.extend_from_slice(&buffer[..len]);
            Ok(len)
        })
    })
}

impl SliceCodec for Deflate {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        inflate(self.wrapper, encoded, decoded)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        deflate(self.wrapper, self.level, decoded, encoded).map(Some)
    }

    fn stream(&self, _len: u64) -> Option<Box<dyn StreamDecoder>> {
        match self.wrapper {
            Wrapper::Zlib => Some(Box::new(Inflater::new())),
            Wrapper::Gzip => None,
        }
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(MAX_RATIO)
    }
}
