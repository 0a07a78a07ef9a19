//! `ferrocdf plugins`: filters that HDF5 and netCDF-C load while they run.

mod install;

pub use install::install;

use std::path::PathBuf;

/// What `ferrocdf plugins` can do.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Put the built-in filters where h5py, h5dump, netCDF-C and other programs on HDF5 find them.
    #[command(after_help = INSTALL_HELP)]
    Install {
        /// The folder. Without one: the last that HDF5_PLUGIN_PATH names, else the one where HDF5 looks by itself.
        folder: Option<PathBuf>,
    },
}

const INSTALL_HELP: &str = "\
Programs that use HDF5 cannot read zstd, blosc, bzip2, lz4, bitshuffle or lzf by themselves. They look for filters in the
folders that HDF5_PLUGIN_PATH names, or else in one that was chosen when HDF5 was built: /usr/local/hdf5/lib/plugin, or
another (Debian's). NetCDF-C finds the same filters there for NCZarr.

Examples:
  ferrocdf plugins install ~/hdf5-filters  for you; then put into your profile
  export HDF5_PLUGIN_PATH=~/hdf5-filters
  h5dump -d sst sst.nc                     reads what `ferrocdf copy -F sst,32015,3` packed
  sudo ferrocdf plugins install            for everybody";

/// Runs it; what there is to say goes to standard output.
///
/// # Errors
/// A sentence that says what went wrong, and what to do.
pub fn run(command: &Command) -> Result<(), String> {
    match command {
        Command::Install { folder } => install(folder.as_deref(), &mut std::io::stdout().lock()),
    }
}
