//! The built-in filters, one file each, whose `ENTRY` is what the registry lists.
//!
//! To add one, write its file, and name it below. Files that a macro names are out of sight of `cargo fmt`, so
//! `cargo xtask ci` checks the format of these by their paths.

mod aec;
mod bits;
mod blosclz;
mod lanes;
mod lz;

use crate::registry::Entry;

/// Declares the files of the filters, and lists their entries.
macro_rules! filters {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// The built-in filters: those with HDF5 numbers in their order, then the others by name.
        pub const ENTRIES: &[Entry] = &[$($file::ENTRY),*];
    };
}

filters! {
    deflate,
    shuffle,
    fletcher32,
    szip,
    nbit,
    scale_offset,
    bzip2,
    lzf,
    blosc,
    lz4,
    bitshuffle,
    zstd,
    crc32c,
    gzip,
    transpose,
}

pub use shuffle::unshuffle_part;
