//! Zstandard (filter 32015): one or more concatenated frames (RFC 8878). Its parameters are the level, 3 by default, and whether frames
//! get checksums, which Zarr may ask for.

use std::cell::RefCell;
use std::ops::Range;

use ferrocdf_bytes::Result;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective};

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;
use crate::scratch::with_thread_local;

/// Maximum ratio of decoded to encoded size: a zstd block of 128 KiB takes at least four bytes.
pub const MAX_RATIO: usize = 32_768;

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(32015),
    names: &["Zstandard", "zstd"],
    new: |params, _| Zstd::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "zstd",
        write: |params| {
            let zstd = Zstd::new(params)?;
            let checksum = zstd.checksum.then(|| ("checksum", true.into()));
            Ok([("level", zstd.level.into())].into_iter().chain(checksum).collect())
        },
        // NetCDF-C writes negative levels as unsigned 32-bit numbers; numcodecs takes levels above the highest one for it.
        read: |json| {
            let level = json.number("level", 0, i32::MIN.into()..=u32::MAX.into())? as u32 as i32;
            params(level.min(zstd_safe::max_c_level()) as u32, json.boolean("checksum", false)?)
        },
    }),
    zarr_v3: Some(JsonForm {
        id: "zstd",
        write: |params| {
            let zstd = Zstd::new(params)?;
            Ok(vec![("level", zstd.level.into()), ("checksum", zstd.checksum.into())])
        },
        read: |json| {
            let level = json.number("level", 0, i32::MIN.into()..=i32::MAX.into())? as u32;
            params(level, json.boolean("checksum", false)?)
        },
    }),
};

/// Returns the parameters for a level, if there is one like it. Without checksums there is only the level, as HDF5 has it.
fn params(level: u32, checksum: bool) -> Result<Vec<u32>> {
    let params = if checksum { vec![level, 1] } else { vec![level] };
    Zstd::new(&params).map(|_| params)
}

#[derive(Debug)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    pub fn new(params: &[u32]) -> Result<Zstd> {
        // A negative level is stored in two's complement.
        let level = params.first().map_or(3, |&level| level as i32);
        if level > zstd_safe::max_c_level() {
            return Err(bad_params(format!("zstd: invalid level {level}")));
        }
        Ok(Zstd { level, checksum: params.get(1).is_some_and(|&checksum| checksum != 0) })
    }
}

/// Decompresses frames into the front of `decoded` and returns their decoded size; `None` if `decoded` is too short.
pub fn decode(encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
    let result = with_thread_local(
        &DECOMPRESSOR,
        || None,
        |context| context.get_or_insert_with(DCtx::create).decompress(decoded, encoded),
    );
    match result.map_err(zstd_safe::get_error_name) {
        Ok(len) => Ok(Some(len)),
        Err("Destination buffer is too small") => Ok(None),
        Err(reason) => Err(corrupt(format!("the {} encoded bytes are not zstd: {reason}", encoded.len()))),
    }
}

/// Decompresses the front of a frame into the front of `decoded`, until that is full.
fn decode_front(frame: &[u8], decoded: &mut [u8]) -> Result<()> {
    let result = with_thread_local(
        &DECOMPRESSOR,
        || None,
        |context| {
            let context = context.get_or_insert_with(DCtx::create);
            context.reset(ResetDirective::SessionOnly)?;
            let (mut from, mut to) = (InBuffer::around(frame), OutBuffer::around(&mut *decoded));
            while to.pos() < to.capacity() {
                let before = (from.pos(), to.pos());
                context.decompress_stream(&mut to, &mut from)?;
                if (from.pos(), to.pos()) == before {
                    break;
                }
            }
            let len = to.pos();
            context.reset(ResetDirective::SessionOnly)?;
            Ok(len)
        },
    );
    let damaged = |reason: &str| corrupt(format!("the {} encoded bytes are not zstd: {reason}", frame.len()));
    match result.map_err(zstd_safe::get_error_name) {
        Ok(len) if len == decoded.len() => Ok(()),
        Ok(len) => Err(damaged(&format!("they end after {len} decoded bytes"))),
        Err(reason) => Err(damaged(reason)),
    }
}

/// True if a frame has a checksum of its decoded bytes, by its Frame_Header_Descriptor (RFC 8878, section 3.1.1.1.1).
fn has_checksum(frame: &[u8]) -> bool {
    frame.get(4).is_none_or(|descriptor| descriptor & 4 != 0)
}

/// Compresses to a frame at the end of `encoded`, without a checksum.
pub fn encode(level: i32, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    encode_with(level, false, decoded, encoded)
}

fn encode_with(level: i32, checksum: bool, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
    let start = encoded.len();
    encoded.resize(start + zstd_safe::compress_bound(decoded.len()), 0);
    let result = with_thread_local(
        &COMPRESSOR,
        || None,
        |context| {
            let context = context.get_or_insert_with(CCtx::create);
            if !checksum {
                return context.compress(&mut encoded[start..], decoded, level);
            }
            context.set_parameter(CParameter::CompressionLevel(level))?;
            context.set_parameter(CParameter::ChecksumFlag(true))?;
            context.compress2(&mut encoded[start..], decoded)
        },
    );
    let len = result
        .map_err(|code| corrupt(format!("zstd: compression failed: {}", zstd_safe::get_error_name(code))))?;
    encoded.truncate(start + len);
    Ok(())
}

impl SliceCodec for Zstd {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        // A frame header may contain the frame's decoded size, which is the whole size only if there is one frame.
        let is_one_frame = zstd_safe::find_frame_compressed_size(encoded) == Ok(encoded.len());
        let content_size = zstd_safe::get_frame_content_size(encoded).ok().flatten().filter(|_| is_one_frame);
        Ok(content_size.and_then(|len| len.try_into().ok()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        decode(encoded, decoded)
    }

    /// Decodes only to the end of `wanted` if that is in the first half: streams are decoded a little slower than whole frames.
    fn decode_part(&self, encoded: &[u8], wanted: Range<usize>, decoded: &mut [u8]) -> Result<Option<usize>> {
        // There is one frame if the encoded bytes contain the decoded size.
        let is_whole = wanted.end > decoded.len() / 2
            || has_checksum(encoded)
            || self.decoded_len(encoded)? != Some(decoded.len());
        if is_whole {
            return decode(encoded, decoded);
        }
        decode_front(encoded, &mut decoded[..wanted.end])?;
        Ok(Some(decoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encode_with(self.level, self.checksum, decoded, encoded).map(Some)
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(MAX_RATIO)
    }
}
