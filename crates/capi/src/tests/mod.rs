//! Tests of complete use cases through the C interface.

pub(crate) mod c;
mod other_containers;
#[cfg(feature = "remote")]
mod remote;
mod zarr_stores;
