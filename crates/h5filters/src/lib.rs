//! Built-in filters for other programs: a plugin of HDF5 ("HDF5 Dynamically Loaded Filters") and of netCDF-C's NCZarr ("NetCDF-4
//! Filter Support", appendix E).
//!
//! HDF5 takes one filter from a library. There is one object for all of ours: it is installed as copies of different names,
//! `libferrocdf_zstd.so` and so on, and each learns from the name of its file which filter it is. A copy whose name says
//! nothing is no plugin to those who ask.
//!
//! Nothing is linked that the host has: functions of libhdf5 and libnetcdf are looked up when they are needed ([`host`]).
//! Buffers go over the border with `malloc` and `free`, which every released libhdf5 uses; one built to find leaks of its
//! own would count them. The rest is [`filter`] (packing and unpacking), [`learn`] (`set_local`, `modify_parameters`) and
//! [`codec`] (JSON). Decision 013.
//!
//! Not done: Windows, whose loader has other names for all of this.
#![warn(unsafe_op_in_unsafe_fn)]

mod codec;
mod filter;
mod host;
mod learn;

use std::ffi::{CString, OsStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::OnceLock;

/// `H5PL_type_t`: a filter, and what is nothing.
const H5PL_TYPE_FILTER: c_int = 0;
const H5PL_TYPE_ERROR: c_int = -1;

/// `H5Z_class2_t`.
#[repr(C)]
struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: Option<extern "C" fn(i64, i64, i64) -> c_int>,
    set_local: Option<learn::SetLocal>,
    filter: filter::Callback,
}

/// The version of `Class`.
const H5Z_CLASS_T_VERS: c_int = 1;

/// What this copy is.
struct Plugin {
    class: Class,
    codec: Option<codec::Codec>,
}

// SAFETY: its pointers are to text that is never changed nor given back.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

/// The filter that the name of a file tells: what comes behind the last `_`.
fn filter_of(file: &Path) -> Option<(u32, String)> {
    let name = file.file_name()?.to_str()?;
    let (stem, _) = name.split_once('.')?;
    let name = stem.rsplit_once('_')?.1;
    let id = ferrocdf_codec::by_name(name).filter(ferrocdf_codec::is_built_in)?.hdf5()?;
    Some((id, name.to_string()))
}

fn plugin() -> Option<&'static Plugin> {
    static PLUGIN: OnceLock<Option<Plugin>> = OnceLock::new();
    PLUGIN.get_or_init(|| plugin_of(&host::own_file()?)).as_ref()
}

fn plugin_of(file: &OsStr) -> Option<Plugin> {
    let (id, name) = filter_of(Path::new(file))?;
    let learns = ferrocdf_codec::derives(&id.into());
    let class = Class {
        version: H5Z_CLASS_T_VERS,
        id: id.try_into().ok()?,
        encoder_present: 1,
        decoder_present: 1,
        // HDF5 may read it until it closes this library, and nobody tells us when.
        name: CString::new(name).ok()?.into_raw(),
        can_apply: None,
        set_local: learns.then_some(learn::set_local),
        filter: filter::run,
    };
    Some(Plugin { class, codec: codec::Codec::new(id, learns) })
}

/// The number of the filter that this copy is; `None` before anybody asked for the plugin, or if it is none.
fn own_id() -> Option<u32> {
    plugin()?.class.id.try_into().ok()
}

/// Tells HDF5 that this is a filter.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    guarded(H5PL_TYPE_ERROR, || if plugin().is_some() { H5PL_TYPE_FILTER } else { H5PL_TYPE_ERROR })
}

/// The filter, an `H5Z_class2_t`.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    guarded(std::ptr::null(), || plugin().map_or(std::ptr::null(), |plugin| (&raw const plugin.class).cast()))
}

/// Its codec, an `NCZ_codec_t`.
#[unsafe(no_mangle)]
pub extern "C" fn NCZ_get_codec_info() -> *const c_void {
    guarded(std::ptr::null(), || {
        let codec = plugin().and_then(|plugin| plugin.codec.as_ref());
        codec.map_or(std::ptr::null(), |codec| std::ptr::from_ref(codec).cast())
    })
}

/// Runs what must not unwind into the host.
fn guarded<T>(failed: T, run: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_tells_the_filter() {
        for (file, id) in [
            ("/usr/lib/libferrocdf_zstd.so", Some(32015)),
            ("libferrocdf_Blosc.so.1", Some(32001)),
            ("/a_lz4/libferrocdf_bzip2.so", Some(307)),
            ("libferrocdf_bitshuffle.dylib", Some(32008)),
            ("libferrocdf_h5filters.so", None),
            ("libferrocdf_zfp.so", None),
            ("libzstd.so", None),
            ("libferrocdf_zstd", None),
            ("", None),
        ] {
            assert_eq!(filter_of(Path::new(file)).map(|(id, _)| id), id, "{file}");
        }
    }

    #[test]
    fn only_those_that_learn_have_set_local() {
        for (name, learns) in [("zstd", false), ("blosc", true), ("bitshuffle", true), ("lzf", false)] {
            let plugin = plugin_of(OsStr::new(&format!("libferrocdf_{name}.so"))).unwrap();
            assert_eq!(plugin.class.set_local.is_some(), learns, "{name}");
            assert!(plugin.codec.is_some(), "{name}");
        }
        assert!(plugin_of(OsStr::new("libferrocdf_h5filters.so")).is_none());
    }
}
