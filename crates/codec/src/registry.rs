//! What filters are called: those that are built in, which say so themselves, and those that are registered.
//!
//! Registered names are from "List of Filters Registered with The HDF Group" (docs/RegisteredFilterPlugins.md of
//! HDFGroup/hdf5_plugins), other names are those of numcodecs and of the HDF5 library.

use ferrocdf_bytes::Result;

use crate::filter::Filter;
use crate::filters::ENTRIES;
use crate::json::Spelling;
use crate::provider::is_available;

/// A built-in filter as it is listed.
pub struct Entry {
    /// Its HDF5 number.
    pub id: u32,
    /// What it is called: first the name it is registered under, then others. Case does not count.
    pub names: &'static [&'static str],
    /// The filter with these parameters.
    pub make: fn(&[u32]) -> Result<Box<dyn Filter>>,
    /// Puts the size of elements and that of a chunk in bytes into its parameters, if it wants them and no more.
    pub learn: Option<fn(&mut Vec<u32>, u32, u32)>,
    /// How it is written down in JSON, if it is.
    pub json: Option<Spelling>,
}

/// The built-in filter of this number.
pub fn entry(id: u32) -> Option<&'static Entry> {
    ENTRIES.binary_search_by_key(&id, |entry| entry.id).ok().map(|at| &ENTRIES[at])
}

/// The numbers of the filters that are built in, in their order.
pub fn built_in_ids() -> impl ExactSizeIterator<Item = u32> {
    ENTRIES.iter().map(|entry| entry.id)
}

/// The name a filter number is registered under, if it is.
pub fn registered_name(id: u32) -> Option<&'static str> {
    match entry(id) {
        Some(entry) => entry.names.first().copied(),
        None => OTHERS.binary_search_by_key(&id, |&(id, _)| id).ok().map(|at| OTHERS[at].1),
    }
}

/// Puts into the parameters that a caller gives what a built-in filter learns of the data by itself: the size of elements,
/// and that of a chunk, in bytes. For filters that learn just that (shuffle, blosc, bitshuffle); others stay as they are.
pub fn learn(id: u32, params: &mut Vec<u32>, element: u32, chunk: u32) {
    if let Some(learn) = entry(id).and_then(|entry| entry.learn) {
        learn(params, element, chunk);
    }
}

/// Whether [`learn`] does anything for the filter of this number.
pub fn learns(id: u32) -> bool {
    entry(id).is_some_and(|entry| entry.learn.is_some())
}

/// What a filter is called, the name it is registered under first; empty for one that has no name.
pub fn names(id: u32) -> Vec<&'static str> {
    entry(id).map_or_else(|| registered_name(id).into_iter().collect(), |entry| entry.names.to_vec())
}

/// The number of the filter of this name: a registered name, or what numcodecs or HDF5 call a built-in one. Case does
/// not count. Of two that are registered under one name it is the later.
pub fn by_name(name: &str) -> Option<u32> {
    let is = |other: &&'static str| other.eq_ignore_ascii_case(name);
    let ours = ENTRIES.iter().find(|entry| entry.names.iter().any(is));
    let others = || OTHERS.iter().rfind(|(_, other)| is(other)).map(|&(id, _)| id);
    ours.map(|entry| entry.id).or_else(others)
}

/// The filters that are there, by name and number, for messages.
pub(crate) fn known_names() -> String {
    let others = OTHERS.iter().filter(|(id, _)| is_available(*id)).copied();
    let ours = ENTRIES.iter().filter_map(|entry| Some((entry.id, *entry.names.first()?)));
    let shown = |(id, name): (u32, &str)| format!("{} ({id})", name.to_ascii_lowercase());
    ours.chain(others).map(shown).collect::<Vec<_>>().join(", ")
}

/// Registered filters that are not built in, ordered by number.
const OTHERS: &[(u32, &str)] = &[
    (257, "hzip"),
    (258, "fpzip"),
    (305, "LZO"),
    (32002, "MAFISC"),
    (32003, "Snappy"),
    (32005, "APAX"),
    (32006, "CBF"),
    (32007, "JPEG-XR"),
    (32009, "SPDP"),
    (32010, "LPC-Rice"),
    (32011, "CCSDS-123"),
    (32012, "JPEG-LS"),
    (32013, "zfp"),
    (32014, "fpzip"),
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
    (32033, "htj2k"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn entries_are_ordered_and_names_are_of_one_filter() {
        assert!(ENTRIES.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(OTHERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(OTHERS.iter().all(|&(id, _)| entry(id).is_none()), "a filter is built in or it is not");
        let mut seen = HashSet::new();
        for name in ENTRIES.iter().flat_map(|entry| entry.names) {
            assert!(seen.insert(name.to_lowercase()), "{name} names two filters");
        }
        for (_, name) in OTHERS {
            assert!(!seen.contains(&name.to_lowercase()), "{name} is built in");
        }
    }

    #[test]
    fn every_name_leads_to_its_filter() {
        for entry in ENTRIES {
            for name in entry.names {
                assert_eq!(by_name(&name.to_uppercase()), Some(entry.id), "{name}");
            }
        }
        for (id, names) in [
            (1, &["zlib", "gzip", "deflate"][..]),
            (2, &["shuffle"]),
            (3, &["fletcher32"]),
            (4, &["szip"]),
            (5, &["nbit"]),
            (6, &["scaleoffset"]),
            (307, &["bz2", "bzip2"]),
            (32000, &["lzf"]),
            (32001, &["blosc"]),
            (32004, &["lz4"]),
            (32008, &["bitshuffle"]),
            (32015, &["zstd", "zstandard"]),
            (32013, &["zfp", "ZFP"]),
            (32014, &["fpzip"]),
        ] {
            for name in names {
                assert_eq!(by_name(name), Some(id), "{name}");
            }
        }
        assert_eq!((by_name(""), by_name("zst"), by_name("307")), (None, None, None));
    }

    #[test]
    fn numbers_have_their_registered_names() {
        assert_eq!(registered_name(32013), Some("zfp"));
        assert_eq!(registered_name(32015), Some("Zstandard"));
        assert_eq!(registered_name(32767), None);
        assert_eq!(names(32015), ["Zstandard", "zstd"]);
        assert_eq!((names(32024), names(32767)), (vec!["SZ3"], vec![]));
    }
}
