//! Filters that are not built in: HDF5 filter plugins, loaded when a file first needs them.
//!
//! They are looked for in the folders of [`path`], which begin as those of the environment variable `HDF5_PLUGIN_PATH`. A
//! filter that is built in goes before a plugin of its number, unless [`prefer`] or `FERROCDF_FILTERS=plugins` in the
//! environment says otherwise. Without the feature `plugins` the built-in filters are all there are.

#[cfg(feature = "plugins")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;

pub use ferrocdf_codec::{built_in_ids, from_numcodecs, names, to_numcodecs};
#[cfg(feature = "plugins")]
pub use ferrocdf_plugin::{
    Codec, CodecVariable, Found, FoundFilter, Locks, catalog, finalize_codecs, lock_all, path,
};

/// The environment variable that says which filter is used where a built-in one and a plugin have one number, and its words:
/// the built-in one, which is the default, or the plugin.
const VARIABLE: &str = "FERROCDF_FILTERS";
const BUILT_IN: &str = "built-in";
const PLUGINS: &str = "plugins";

/// What [`prefer`] said, for the files that are opened from then on.
static PREFERENCE: AtomicU8 = AtomicU8::new(NOT_SAID);
const NOT_SAID: u8 = 0;
const BUILT_IN_FIRST: u8 = 1;
const PLUGINS_FIRST: u8 = 2;

/// Uses plugins in place of built-in filters of the same number, or not, in files that are opened from now on, whatever the
/// environment says.
pub fn prefer(plugins: bool) {
    PREFERENCE.store(if plugins { PLUGINS_FIRST } else { BUILT_IN_FIRST }, Ordering::Relaxed);
}

/// True if plugins are used in place of built-in filters of the same number.
pub fn prefers() -> bool {
    match PREFERENCE.load(Ordering::Relaxed) {
        NOT_SAID => std::env::var_os(VARIABLE).is_some_and(|word| word == PLUGINS),
        said => said == PLUGINS_FIRST,
    }
}

/// Returns the filters for a file that is opened now: the built-in ones and those of plugins.
#[cfg(feature = "plugins")]
pub(crate) fn codecs() -> Codecs {
    Codecs::new(Arc::new(ferrocdf_plugin::Plugins), prefers())
}

/// Returns the built-in filters.
#[cfg(not(feature = "plugins"))]
pub(crate) fn codecs() -> Codecs {
    Codecs::default()
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

/// True if there is a filter of this HDF5 number, built in or in a plugin.
pub fn has_filter(id: u32) -> bool {
    codecs().has(&id.into())
}

/// The codec of a plugin that goes with the filter of this number. A codec without a filter, which may be built in or in
/// another library, is none.
#[cfg(feature = "plugins")]
pub fn codec(id: u32) -> Option<Arc<Codec>> {
    ferrocdf_plugin::codec(id).filter(|_| has_filter(id))
}

/// The same by its name in Zarr metadata.
#[cfg(feature = "plugins")]
pub fn codec_named(name: &str) -> Option<Arc<Codec>> {
    ferrocdf_plugin::codec_named(name).filter(|codec| has_filter(codec.id()))
}

/// True if the filter of this number derives parameters from each dataset, so that those in a file are not those that a user
/// gave. Built-in filters take both.
pub fn derives(id: u32) -> bool {
    let is_plugin = !ferrocdf_codec::is_built_in(&id.into());
    is_plugin && codecs().provider().is_some_and(|provider| provider.derives(id))
}
