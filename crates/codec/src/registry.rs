//! The names that filter numbers are registered under, for messages.
//!
//! From "List of Filters Registered with The HDF Group" (docs/RegisteredFilterPlugins.md of HDFGroup/hdf5_plugins).

use crate::provider::is_available;

/// The name a filter number is registered under, if it is.
pub fn registered_name(id: u32) -> Option<&'static str> {
    NAMES.binary_search_by_key(&id, |&(id, _)| id).ok().map(|at| NAMES[at].1)
}

/// The number of the filter of a name, whatever the case of its letters: one that it is registered under, or is known by
/// elsewhere.
pub fn by_name(name: &str) -> Option<u32> {
    let called = |known: &str| known.eq_ignore_ascii_case(name);
    let registered = NAMES.iter().find(|(_, known)| called(known));
    registered.map(|&(id, _)| id).or_else(|| ALSO.iter().find(|(_, known)| called(known)).map(|&(id, _)| id))
}

/// The filters that are there, by name and number, for messages.
pub(crate) fn known_names() -> String {
    let there = NAMES.iter().filter(|(id, _)| is_available(*id));
    let names: Vec<String> =
        there.map(|(id, name)| format!("{} ({id})", name.to_ascii_lowercase())).collect();
    names.join(", ")
}

/// Other names.
const ALSO: &[(u32, &str)] = &[(1, "zlib"), (1, "gzip"), (32015, "zstd")];

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
