//! The names that filter numbers are registered under, for messages.
//!
//! From "List of Filters Registered with The HDF Group" (docs/RegisteredFilterPlugins.md of HDFGroup/hdf5_plugins).

/// The name a filter number is registered under, if it is.
pub fn registered_name(id: u32) -> Option<&'static str> {
    NAMES.binary_search_by_key(&id, |&(id, _)| id).ok().map(|at| NAMES[at].1)
}

/// Ordered by number.
const NAMES: &[(u32, &str)] = &[
    (1, "deflate"),
    (2, "shuffle"),
    (3, "fletcher32"),
    (4, "szip"),
    (5, "nbit"),
    (6, "scaleoffset"),
    (257, "hzip"),
    (258, "fpzip"),
    (305, "LZO"),
    (307, "bzip2"),
    (32000, "LZF"),
    (32001, "Blosc"),
    (32002, "MAFISC"),
    (32003, "Snappy"),
    (32004, "LZ4"),
    (32005, "APAX"),
    (32006, "CBF"),
    (32007, "JPEG-XR"),
    (32008, "bitshuffle"),
    (32009, "SPDP"),
    (32010, "LPC-Rice"),
    (32011, "CCSDS-123"),
    (32012, "JPEG-LS"),
    (32013, "zfp"),
    (32014, "fpzip"),
    (32015, "Zstandard"),
    (32016, "B3D"),
    (32017, "SZ"),
    (32018, "FCIDECOMP"),
    (32019, "JPEG"),
    (32020, "VBZ"),
    (32021, "FAPEC"),
    (32022, "BitGroom"),
    (32023, "Granular BitRound"),
    (32024, "SZ3"),
    (32025, "Delta-Rice"),
    (32026, "Blosc2"),
    (32027, "FLAC"),
    (32028, "SPERR"),
    (32029, "TERSE/PROLIX"),
    (32030, "FFMPEG"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(NAMES.is_sorted_by_key(|&(id, _)| id));
        assert_eq!(registered_name(32013), Some("zfp"));
        assert_eq!(registered_name(32767), None);
    }
}
