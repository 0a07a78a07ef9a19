//! The built-in filters, a file for each.

mod aec;
mod bits;
mod bitshuffle;
mod blosc;
mod blosclz;
mod bzip2;
mod deflate;
mod fletcher32;
mod lz;
mod lz4;
mod lzf;
mod nbit;
mod scale_offset;
mod shuffle;
mod szip;
mod zstd;

use ferrocdf_bytes::Result;

use crate::filter::{Codec, Filter, Packed};

pub use shuffle::unshuffle_part;

/// The filter of this number with these parameters.
pub fn make(id: u32, params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    match id {
        1 => Some(deflate::Deflate::new(params).map(boxed)),
        2 => Some(shuffle::Shuffle::new(params).map(boxed)),
        3 => Some(fletcher32::Fletcher32::new(params).map(boxed)),
        4 => Some(szip::Szip::new(params).map(boxed)),
        5 => Some(nbit::Nbit::new(params).map(boxed)),
        6 => Some(scale_offset::ScaleOffset::new(params).map(boxed)),
        307 => Some(bzip2::Bzip2::new(params).map(boxed)),
        32000 => Some(Ok(boxed(lzf::Lzf))),
        32001 => Some(blosc::Blosc::new(params).map(boxed)),
        32004 => Some(lz4::Lz4::new(params).map(boxed)),
        32008 => Some(bitshuffle::Bitshuffle::new(params).map(boxed)),
        32015 => Some(zstd::Zstd::new(params).map(boxed)),
        _ => None,
    }
}

fn boxed<C: Codec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(Packed(codec))
}
