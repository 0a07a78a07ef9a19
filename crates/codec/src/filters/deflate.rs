//! Deflate (filter 1): one zlib stream (RFC 1950). Its parameter is the level, 0 to 9.
//!
//! Bytes after the end of the stream are not looked at, as in zlib.

use std::cell::RefCell;

use ferrocdf_bytes::Result;
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use crate::filter::{Codec, bad_params, boxed, corrupt};
use crate::json::level_spelling;
use crate::registry::Entry;
use crate::scratch::{with_bytes, with_kept};

/// Deflate makes at most 258 bytes of 2 bits.
const RATIO: usize = 1032;

thread_local! {
    static INFLATE: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    /// By level, those that were needed.
    static DEFLATE: RefCell<Vec<(i32, Compressor)>> = const { RefCell::new(Vec::new()) };
}

/// What packs better than so many to one is packed again at this level if the wished one is lower: the fast ways of the
/// library miss repeats there that zlib finds, and such bytes are packed quickly at any level.
const REPETITIVE: usize = 12;
const THOROUGH: i32 = 6;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: 1,
    names: &["deflate", "zlib", "gzip"],
    make: |params| Deflate::new(params).map(boxed),
    learn: None,
    json: Some(level_spelling!("zlib", 0..=9, 1)),
};

#[derive(Debug)]
pub struct Deflate {
    level: i32,
}

impl Deflate {
    pub fn new(params: &[u32]) -> Result<Deflate> {
        match *params {
            [level @ 0..=9] => Ok(Deflate { level: level as i32 }),
            _ => Err(bad_params(format!("the parameters {params:?} are not one level from 0 to 9"))),
        }
    }
}

/// Unpacks a zlib stream into the front of `plain`; `None` if that is too small.
pub fn inflate(stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
    match with_kept(&INFLATE, Decompressor::new, |inflate| inflate.zlib_decompress(stored, plain)) {
        Ok(len) => Ok(Some(len)),
        Err(DecompressionError::InsufficientSpace) => Ok(None),
        Err(DecompressionError::BadData) => {
            Err(corrupt(format!("the {} stored bytes are not a whole zlib stream", stored.len())))
        }
    }
}

/// Packs to a zlib stream at the end of `stored`.
pub fn deflate(level: i32, plain: &[u8], stored: &mut Vec<u8>) -> Result<()> {
    let start = stored.len();
    let len = deflate_at(level, plain, stored)?;
    if (1..THOROUGH).contains(&level) && len < plain.len() / REPETITIVE {
        if deflate_at(THOROUGH, plain, stored)? < len {
            stored.drain(start..start + len);
        } else {
            stored.truncate(start + len);
        }
    }
    Ok(())
}

/// Packs at just this level, and gives the length of what is made.
fn deflate_at(level: i32, plain: &[u8], stored: &mut Vec<u8>) -> Result<usize> {
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
        // Made where there is room for the worst, which the thread keeps: it is not touched anew for each block.
        with_bytes(compressor.zlib_compress_bound(plain.len()), |room| {
            let len = compressor
                .zlib_compress(plain, room)
                .map_err(|_| corrupt("the compressor asks for more than its bound"))?;
            stored.extend_from_slice(&room[..len]);
            Ok(len)
        })
    })
}

impl Codec for Deflate {
    fn plain_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
        inflate(stored, plain)
    }

    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        deflate(self.level, plain, stored).map(Some)
    }

    fn most_decoded(&self, stored: usize) -> usize {
        stored.saturating_mul(RATIO)
    }
}
