//! `ferrocdf plugins`: filters that HDF5 and netCDF-C load while they run.

mod install;
mod list;

pub use install::install;

use std::io::Write;
use std::path::PathBuf;

use ferrocdf::plugins::{check_setting, path};

/// What `ferrocdf plugins` can do.
#[derive(clap::Subcommand)]
pub enum PluginsCommand {
    /// Show every filter that files can be read or written with, and which files are no plugins, and why.
    #[command(after_help = LIST_HELP)]
    List,
    /// Show the folders in which plugins are looked for, in their order.
    #[command(after_help = PATH_HELP)]
    Path,
    /// Put the built-in filters where h5py, h5dump, netCDF-C and other programs on HDF5 find them.
    #[command(after_help = INSTALL_HELP)]
    Install {
        /// The folder. Without one: the last that HDF5_PLUGIN_PATH names, else the one where HDF5 looks by itself.
        folder: Option<PathBuf>,
    },
}

const LIST_HELP: &str = "\
A filter that is built in goes before a plugin of the same number; FERROCDF_FILTERS=plugins in the environment turns that
round. All plugins are loaded to see what they are.

Example:
  HDF5_PLUGIN_PATH=~/hdf5-filters ferrocdf plugins list";

const PATH_HELP: &str = "\
The environment variable HDF5_PLUGIN_PATH names the folders, with a colon between two; without it they are those where
HDF5 looks by itself, and those of the system's packages. A folder that is not there is marked.";

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
pub fn run(command: &PluginsCommand) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let written = match command {
        PluginsCommand::Install { folder } => return install(folder.as_deref(), &mut out),
        PluginsCommand::List => {
            check_setting().map_err(|error| error.what.to_string())?;
            list::list(&mut out)
        }
        PluginsCommand::Path => print_path(&mut out),
    };
    match written {
        // Whoever read the output has seen enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// A folder a line.
fn print_path(out: &mut dyn Write) -> std::io::Result<()> {
    let folders = path::searched();
    if folders.is_empty() || !path::is_allowed() {
        return writeln!(out, "plugins are looked for {}", path::places());
    }
    for folder in folders {
        let mark = if folder.is_dir() { "" } else { "  (not there)" };
        writeln!(out, "{}{mark}", folder.display())?;
    }
    Ok(())
}
