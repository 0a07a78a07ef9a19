//! The built-in filters by identity and by name, and the names of registered HDF5 filters that are not built in.
//!
//! Registered names are from "List of Filters Registered with The HDF Group" (docs/RegisteredFilterPlugins.md of
//! HDFGroup/hdf5_plugins); other names are those of numcodecs and of the HDF5 library.

use ferrocdf_bytes::Result;

use crate::codecs::ChunkInfo;
use crate::filter::Filter;
use crate::filters::ENTRIES;
use crate::identity::FilterId;
use crate::json::JsonForm;

/// Constructor of a filter from its parameters. The chunk describes the filter's input when encoding; `None` if the input is
/// bytes whose element size and shape are unknown.
pub type Constructor = fn(&[u32], Option<&ChunkInfo>) -> Result<Box<dyn Filter>>;

/// Description of a built-in filter.
pub struct Entry {
    /// Identity of the filter.
    pub id: FilterId,
    /// Names of the filter in filter specifications: first the registered one, then aliases. Case is ignored.
    pub names: &'static [&'static str],
    /// Constructor of the filter.
    pub new: Constructor,
    /// Function that stores the element size and the chunk size, both in bytes, in the parameters; `None` for filters that
    /// derive something else from the dataset, or nothing.
    pub derive: Option<fn(&mut Vec<u32>, u32, u32)>,
    /// JSON form as a numcodecs configuration (Zarr v2), if the filter has one.
    pub numcodecs: Option<JsonForm>,
    /// JSON form as a Zarr v3 codec. A filter without it has the name `numcodecs.` plus its numcodecs `id` in Zarr v3.
    pub zarr_v3: Option<JsonForm>,
}

/// Returns the entry of the built-in filter with this identity.
pub fn entry(id: &FilterId) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.id == *id)
}

/// True if the filter with this identity is built in.
pub fn is_built_in(id: &FilterId) -> bool {
    entry(id).is_some()
}

/// Returns the built-in bytes→bytes filter with this identity and these parameters; `None` if it is not built in.
pub fn built_in(id: &FilterId, params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    entry(id).map(|entry| (entry.new)(params, None))
}

/// Returns the HDF5 numbers of the built-in filters, in ascending order.
pub fn built_in_ids() -> impl Iterator<Item = u32> {
    ENTRIES.iter().filter_map(|entry| entry.id.hdf5())
}

/// Returns the registered name of an HDF5 filter number, if it is registered.
pub fn registered_name(id: u32) -> Option<&'static str> {
    match entry(&id.into()) {
        Some(entry) => entry.names.first().copied(),
        None => NOT_BUILT_IN.binary_search_by_key(&id, |&(id, _)| id).ok().map(|at| NOT_BUILT_IN[at].1),
    }
}

/// Stores the element size and the chunk size, both in bytes, in the parameters of a built-in filter that derives only these
/// two (shuffle, blosc, bitshuffle). Leaves the parameters of all other filters unchanged.
pub fn derive(id: &FilterId, params: &mut Vec<u32>, element: u32, chunk: u32) {
    if let Some(derive) = entry(id).and_then(|entry| entry.derive) {
        derive(params, element, chunk);
    }
}

/// True if [`derive()`] changes the parameters of this filter.
pub fn derives(id: &FilterId) -> bool {
    entry(id).is_some_and(|entry| entry.derive.is_some())
}

/// Returns the names of a filter, the registered one first; empty if the number is not registered.
pub fn names(id: u32) -> Vec<&'static str> {
    entry(&id.into()).map_or_else(|| registered_name(id).into_iter().collect(), |entry| entry.names.to_vec())
}

/// Returns the identity of the filter with this name: a registered name, or a built-in filter's name in numcodecs or HDF5.
/// Case is ignored. If two filters are registered under one name, returns the one with the higher number.
pub fn by_name(name: &str) -> Option<FilterId> {
    let is = |other: &&'static str| other.eq_ignore_ascii_case(name);
    let built_in = ENTRIES.iter().find(|entry| entry.names.iter().any(is));
    let others = || NOT_BUILT_IN.iter().rfind(|(_, other)| is(other)).map(|&(id, _)| id.into());
    built_in.map(|entry| entry.id.clone()).or_else(others)
}

/// Returns the names and numbers of the built-in filters that have an HDF5 number, for errors.
pub(crate) fn built_in_names() -> String {
    let shown =
        |entry: &Entry| Some(format!("{} ({})", entry.names.first()?.to_ascii_lowercase(), entry.id.hdf5()?));
    ENTRIES.iter().filter_map(shown).collect::<Vec<_>>().join(", ")
}

/// Registered filters that are not built in, ordered by number.
const NOT_BUILT_IN: &[(u32, &str)] = &[
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
    fn entries_are_sorted_and_names_are_unique() {
        // Identities with a number sort before named identities.
        assert!(ENTRIES.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(NOT_BUILT_IN.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(
            NOT_BUILT_IN.iter().all(|&(id, _)| entry(&id.into()).is_none()),
            "a filter is in both tables"
        );
        let mut seen = HashSet::new();
        for name in ENTRIES.iter().flat_map(|entry| entry.names) {
            assert!(seen.insert(name.to_lowercase()), "{name} names two filters");
        }
        for (_, name) in NOT_BUILT_IN {
            assert!(!seen.contains(&name.to_lowercase()), "{name} is built in");
        }
    }

    #[test]
    fn by_name_finds_every_name_in_any_case() {
        for entry in ENTRIES {
            for name in entry.names {
                assert_eq!(by_name(&name.to_uppercase()), Some(entry.id.clone()), "{name}");
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
                assert_eq!(by_name(name), Some(FilterId::Hdf5(id)), "{name}");
            }
        }
        assert_eq!(by_name("crc32c"), Some(FilterId::named("crc32c")));
        assert_eq!((by_name(""), by_name("zst"), by_name("307")), (None, None, None));
    }

    #[test]
    fn registered_numbers_have_names() {
        assert_eq!(registered_name(32013), Some("zfp"));
        assert_eq!(registered_name(32015), Some("Zstandard"));
        assert_eq!(registered_name(32767), None);
        assert_eq!(names(32015), ["Zstandard", "zstd"]);
        assert_eq!((names(32024), names(32767)), (vec!["SZ3"], vec![]));
    }
}
