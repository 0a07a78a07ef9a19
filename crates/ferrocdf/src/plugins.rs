//! Filters that are not built in: HDF5 filter plugins, loaded when a file first needs them.
//!
//! They are looked for in the folders of [`path`], which begin as those of the environment variable `HDF5_PLUGIN_PATH`. A
//! filter that is built in goes before a plugin of its number, unless [`prefer`] or `FERROCDF_FILTERS=plugins` in the
//! environment says otherwise.

use std::sync::{Arc, Once};

use ferrocdf_bytes::{Code, Error, Result};

pub use ferrocdf_codec::{
    built_in_ids, codec_of, filter_of, names, prefer_provided as prefer, prefers_provided as prefers,
};
pub use ferrocdf_plugin::{
    Codec, Found, FoundFilter, Locks, Variable as CodecVariable, catalog, finalize_codecs, lock_all, path,
};

/// The environment variable that says what goes first, and its words: for the filters that are built in, which is the
/// default, and for plugins.
const VARIABLE: &str = "FERROCDF_FILTERS";
const BUILT_IN: &str = "built-in";
const PLUGINS: &str = "plugins";

/// Makes plugins known to what reads and writes files. Nothing is looked for before a filter is needed.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        ferrocdf_plugin::install();
        if std::env::var_os(VARIABLE).is_some_and(|word| word == PLUGINS) {
            prefer(true);
        }
    });
}

/// Checks the environment variable `FERROCDF_FILTERS`: netCDF-4 files are not opened while it holds an unknown word.
///
/// Fails with `NC_EINVAL` and the words that there are.
pub fn check_setting() -> Result<()> {
    let word = std::env::var_os(VARIABLE).unwrap_or_default();
    if word.is_empty() || word == BUILT_IN || word == PLUGINS {
        return Ok(());
    }
    let what = format!(
        "the environment variable {VARIABLE} is {word:?}; its words are {BUILT_IN:?} (the default) and {PLUGINS:?}"
    );
    Err(Error::new(Code::EINVAL, what))
}

/// Whether there is a filter of this HDF5 number, built in or in a plugin.
pub fn has_filter(id: u32) -> bool {
    install();
    ferrocdf_codec::is_available(id)
}

/// The codec of a plugin that goes with the filter of this number. A codec without a filter, which may be built in or in
/// another library, is none.
pub fn codec(id: u32) -> Option<Arc<Codec>> {
    ferrocdf_plugin::codec(id).filter(|_| has_filter(id))
}

/// The same by its name in Zarr metadata.
pub fn codec_named(name: &str) -> Option<Arc<Codec>> {
    ferrocdf_plugin::codec_named(name).filter(|codec| has_filter(codec.id()))
}

/// Whether the filter of this number changes its parameters for each dataset, so that those in a file are not those that a
/// user gives. Built-in filters take both.
pub fn learns(id: u32) -> bool {
    install();
    !ferrocdf_codec::is_built_in(id) && ferrocdf_codec::provider().is_some_and(|provider| provider.learns(id))
}
