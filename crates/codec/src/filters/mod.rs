//! The built-in filters, a file for each.

mod bits;
mod bzip2;
mod deflate;
mod fletcher32;
mod lz4;
mod lzf;
mod nbit;
mod scale_offset;
mod shuffle;
mod zstd;

use ferrocdf_bytes::Result;

use crate::filter::{Codec, Filter, Packed};

/// The filter of this number with these parameters.
pub fn make(id: u32, params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    match id {
        1 => Some(deflate::Deflate::new(params).map(boxed)),
        2 => Some(shuffle::Shuffle::new(params).map(boxed)),
        3 => Some(fletcher32::Fletcher32::new(params).map(boxed)),
        5 => Some(nbit::Nbit::new(params).map(boxed)),
        6 => Some(scale_offset::ScaleOffset::new(params).map(boxed)),
        307 => Some(bzip2::Bzip2::new(params).map(boxed)),
        32000 => Some(Ok(boxed(lzf::Lzf))),
        32004 => Some(lz4::Lz4::new(params).map(boxed)),
        32015 => Some(zstd::Zstd::new(params).map(boxed)),
        _ => None,
    }
}

fn boxed<C: Codec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(Packed(codec))
}
