//! On-disk structures written down once, and the error type of all layers.
//!
//! A structure implements [`Record`]: one `fields` function that names its fields in order. The same function, run by
//! a [`Decoder`], an [`Encoder`], a [`Sizer`] or a [`Dumper`], reads, writes, measures and prints it, so the four can
//! never disagree. This crate knows no I/O and no format.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod coder;
mod error;
mod lookup3;
mod to_usize;

pub use coder::{Bytes, Coder, Decoder, Dumper, Encoder, Order, Record, Sizer};
pub use error::{Code, Context, Details, Error, ErrorKind, Result, errno};
pub use lookup3::lookup3;
pub use to_usize::ToUsize;
