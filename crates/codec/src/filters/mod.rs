//! The built-in filters. Each has a file, whose `ENTRY` describes it to the registry.
//!
//! To add a filter, write its file and add the name to the list below. `cargo fmt` does not find files that a macro
//! declares, so `cargo xtask ci` checks their format by path.

mod aec;
mod bits;
mod blosclz;
mod checksum;
mod conversion;
mod inflate;
mod lanes;
mod lz;
pub mod lz4_frames;
mod numbers;
mod scalars;

use crate::registry::Entry;

/// Declares the modules of the filters and collects their entries.
macro_rules! filters {
    ($($(#[$condition:meta])? $file:ident,)*) => {
        $($(#[$condition])? mod $file;)*

        /// The built-in filters: first the ones with an HDF5 number, sorted by number, then the others, sorted by name.
        pub const ENTRIES: &[Entry] = &[$($(#[$condition])? $file::ENTRY),*];
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
    adler32,
    astype,
    base64,
    bitround,
    cast_value,
    categorize,
    crc32,
    crc32c,
    delta,
    fixed_scale_offset,
    gzip,
    hdf4_imcomp,
    hdf4_nbit,
    hdf4_raster_rle,
    hdf4_rle,
    hdf4_skphuff,
    hdf4_szip,
    jenkins_lookup3,
    lz4_block,
    lzma,
    packbits,
    packbits_v3,
    pcodec,
    quantize,
    reshape,
    scale_offset_v3,
    transpose,
    #[cfg(feature = "zfpy")]
    zfpy,
}

pub use blosc::decode_snappy;
pub use numbers::{NumberKind, NumberType};
pub use shuffle::unshuffle_part;
pub use szip::derived_params as szip_params;
