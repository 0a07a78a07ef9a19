//! The built-in filters, a file for each.

mod deflate;
mod fletcher32;
mod shuffle;

use ferrocdf_bytes::Result;

use crate::filter::{Codec, Filter, Packed};

/// The filter of this number with these parameters.
pub fn make(id: u32, params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    match id {
        1 => Some(deflate::Deflate::new(params).map(boxed)),
        2 => Some(shuffle::Shuffle::new(params).map(boxed)),
        3 => Some(fletcher32::Fletcher32::new(params).map(boxed)),
        _ => None,
    }
}

fn boxed<C: Codec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(Packed(codec))
}
