//! Gzip (no HDF5 number; Zarr v3 core codec and numcodecs `gzip`): one member of the gzip format (RFC 1952). Its parameter
//! is the level, 0 to 9.
//!
//! HDF5's deflate, which h5py and filter specifications also call `gzip`, has the zlib format (RFC 1950) around the same
//! deflate stream. Bytes after the first member are ignored.

use super::deflate::{Deflate, Wrapper};
use crate::filter::boxed;
use crate::identity::FilterId;
use crate::json::level_form;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("gzip"),
    names: &["gzip-member"],
    new: |params, _| Deflate::new(Wrapper::Gzip, params).map(boxed),
    derive: None,
    numcodecs: Some(level_form!("gzip", 0..=9, 1)),
    zarr_v3: Some(level_form!("gzip", 0..=9, 5)),
};
