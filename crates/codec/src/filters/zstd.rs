//! Zstandard (filter 32015): frames, one behind the other. Its parameter is the level; 3 without one.

use std::cell::RefCell;

use ferrocdf_bytes::Result;
use zstd::zstd_safe::{self, CCtx, DCtx};

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;
use crate::scratch::with_kept;

/// A block of 128 KiB takes no less than four bytes.
pub const RATIO: usize = 32_768;

thread_local! {
    static PACK: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static UNPACK: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32015),
    names: &["Zstandard", "zstd"],
    make: |params, _| Zstd::new(params).map(boxed),
    derive: None,
    numcodecs: Some(Spelling {
        id: "zstd",
        write: |params| Ok(vec![("level", Zstd::new(params)?.level.into())]),
        // NetCDF-C writes negative levels as they are in 32 bits.
        read: |json| {
            let level = json.number("level", 0, i32::MIN.into()..=u32::MAX.into())? as u32;
            Zstd::new(&[level]).map(|_| vec![level])
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Zstd {
    level: i32,
}

impl Zstd {
    pub fn new(params: &[u32]) -> Result<Zstd> {
        // Negative levels are encoded as they are in 32 bits.
        let level = params.first().map_or(3, |&level| level as i32);
        if level > zstd_safe::max_c_level() {
            return Err(bad_params(format!("there is no level {level} of zstd")));
        }
        Ok(Zstd { level })
    }
}

/// Decodes frames into the front of `decoded`; `None` if that is too small.
pub fn decode(encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
    let done = with_kept(
        &UNPACK,
        || None,
        |kept| kept.get_or_insert_with(DCtx::create).decompress(decoded, encoded),
    );
    match done.map_err(zstd_safe::get_error_name) {
        Ok(len) => Ok(Some(len)),
        Err("Destination buffer is too small") => Ok(None),
        Err(why) => Err(corrupt(format!("the {} stored bytes are not zstd: {why}", encoded.len()))),
    }
}

/// Encodes to a frame at the end of `encoded`.
pub fn encode(level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    encoded.resize(start + zstd_safe::compress_bound(decoded.len()), 0);
    let made = with_kept(
        &PACK,
        || None,
        |kept| kept.get_or_insert_with(CCtx::create).compress(&mut encoded[start..], decoded, level),
    );
    let len =
        made.map_err(|code| corrupt(format!("zstd cannot pack: {}", zstd_safe::get_error_name(code))))?;
    encoded.truncate(start + len);
    Ok(())
}

impl SliceCodec for Zstd {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        // A frame may say its size; of more than one it is not the sum.
        let one = zstd_safe::find_frame_compressed_size(encoded) == Ok(encoded.len());
        let says = zstd_safe::get_frame_content_size(encoded).ok().flatten().filter(|_| one);
        Ok(says.and_then(|len| len.try_into().ok()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        decode(encoded, decoded)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encode(self.level, decoded, encoded).map(Some)
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        encoded.saturating_mul(RATIO)
    }
}
