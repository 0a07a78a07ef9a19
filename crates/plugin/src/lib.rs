//! HDF5 filter plugins and codec plugins, loaded at run time as they are, without the HDF5 and the netCDF library.
//!
//! [`Plugins`] provides the filters of the plugins in the folders of [`path`]. Plugins call back into
//! the HDF5 library; here they are answered by functions of this crate, which are bound to each plugin when it is
//! loaded and export no name, so that a process may hold a real HDF5 library beside them (docs/decisions, "Plugins are
//! loaded from edited images").
//!
//! Unsafe, since it runs what others compiled: a plugin that writes where it should not cannot be contained.

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
