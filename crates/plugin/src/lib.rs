//! HDF5 filter plugins and codec plugins, loaded unmodified at run time, without the HDF5 and netCDF-C libraries.
//!
//! [`Plugins`] provides the filters of the plugins in the folders of [`path`]. Plugins call functions of the HDF5
//! library. These calls reach functions of this crate, which are bound to each plugin when it is loaded. This crate
//! exports none of their names, so a process may load a real HDF5 library as well (docs/decisions, "Plugins are loaded
//! from edited images").
//!
//! This crate is unsafe: it runs code that others compiled. A plugin that writes to wrong addresses cannot be
//! contained.

mod barrier;
mod catalog;
mod class;
mod codecs;
mod elf;
mod filter;
mod forks;
mod h5;
mod load;
mod nc;
pub mod path;
mod provider;

pub use catalog::{Found, FoundFilter, catalog, codec, codec_named, finalize_codecs};
pub use codecs::Codec;
pub use elf::edited;
pub use forks::{Locks, lock_all};
pub use nc::CodecVariable;
pub use provider::Plugins;
