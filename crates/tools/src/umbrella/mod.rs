//! The umbrella command: `ferrocdf info|dump|gen|copy|refs|join|repack|plugins`.

mod help;

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use ferrocdf::OpenOptions;

use crate::info::{self, Style};
use crate::nccopy::{Foreign, takes};
use crate::{join, nccopy, ncdump, ncgen, plugins, refs, repack, says, structure, zarr_conformance};

/// netCDF files: look, print, make, copy.
#[derive(Parser)]
#[command(name = "ferrocdf", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: FerrocdfCommand,
}

#[derive(Subcommand)]
enum FerrocdfCommand {
    /// Show what a file holds: dimensions, variables with their sizes, attributes.
    Info {
        /// Print one JSON object, for programs.
        #[arg(long)]
        json: bool,
        /// Tell how many requests it took, and how many times one had to wait for the answer to another.
        #[arg(long)]
        requests: bool,
        /// Tell where the bytes of the file lie, and what reading them costs over a network.
        #[arg(long)]
        layout: bool,
        /// Show an HDF4 file as netCDF programs see it, and not as what its HDF-EOS2 metadata says.
        #[arg(long)]
        no_hdfeos: bool,
        /// Show all of an HDF4 file: its tables (Vdatas) and rasters too with their attributes, and no HDF-EOS2 groups.
        #[arg(long)]
        all: bool,
        /// The file to look at: a path, or a URL (http, https, s3, gs, az).
        file: PathBuf,
    },
    /// Print a file as CDL text; takes the options of `ncdump`. With `--structure`: print how an HDF5 file is stored.
    #[command(disable_help_flag = true, override_usage = "ferrocdf dump [OPTIONS] FILE", after_help = help::dump())]
    Dump(Rest),
    /// Make a file from CDL text; takes the options of `ncgen`.
    #[command(disable_help_flag = true, override_usage = "ferrocdf gen [OPTIONS] [FILE]", after_help = help::generate())]
    Gen(Rest),
    /// Copy a file, perhaps to another kind; takes the options of `nccopy`.
    #[command(disable_help_flag = true, override_usage = "ferrocdf copy [OPTIONS] INFILE OUTFILE", after_help = help::copy())]
    Copy(Rest),
    /// Write references to the chunks of a file, which other programs read as a Zarr store: JSON of kerchunk.
    Refs(refs::RefsOptions),
    /// Join files along a dimension, in the order in which they are named, into one file. Chunks are copied without decoding them where they fit
    /// behind those of the files before.
    #[command(after_help = help::join())]
    Join(join::JoinArgs),
    /// Lay out netCDF-4 files for readers over a network: metadata in front, chunks of a good size. Chunks are copied without
    /// decoding them where their shape and their filters stay.
    Repack(repack::RepackArgs),
    /// Print the elements of a Zarr array as a JSON list: the command of the conformance tests of Zarr implementations.
    ZarrConformance {
        /// The folder of the array.
        #[arg(long = "array_path")]
        array_path: PathBuf,
    },
    /// Filters: what there is, where it is looked for, and ours for other programs.
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Plugins {
        #[command(subcommand)]
        command: plugins::PluginsCommand,
    },
}

/// The command line of the tool, passed on as it is.
#[derive(clap::Args)]
struct Rest {
    /// Print help. There is no `-h` for it: the tools take that for something else.
    #[arg(long, action = clap::ArgAction::Help, hide = true)]
    help: Option<bool>,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    args: Vec<OsString>,
}

impl Rest {
    fn under(self, name: &str) -> impl Iterator<Item = OsString> {
        std::iter::once(OsString::from(name)).chain(self.args)
    }
}

/// Runs the command with the streams of this process and gives its exit code. `args` starts with the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(help_or_error) => {
            let _ = help_or_error.print();
            return help_or_error.exit_code() as u8;
        }
    };
    match cli.command {
        FerrocdfCommand::Info { json, requests, layout, no_hdfeos, all, file } => {
            let opening = OpenOptions::default().hdf_eos(!no_hdfeos).hdf4_all(all);
            let style = if json { Style::Json } else { Style::Text };
            match info::run(&file, style, info::InfoParts { requests, layout }, &opening) {
                Ok(()) => 0,
                Err(error) => failed("info", says::sentence(&error)),
            }
        }
        FerrocdfCommand::Dump(mut rest) => {
            if takes(&mut rest.args, "--structure") {
                return structure::main(rest.args);
            }
            let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
            let code = ncdump::dump_at_exit(rest.under("ferrocdf dump"), &mut out, &mut err);
            code as u8
        }
        FerrocdfCommand::Gen(rest) => ncgen::main(ncgen::Program::Ncgen, rest.under("ferrocdf gen")),
        FerrocdfCommand::Copy(mut rest) => {
            let mut takes = |option: &str| takes(&mut rest.args, option);
            let foreign = if takes("--strict") { Foreign::Strict } else { Foreign::Mapped };
            let (hdf_eos, hdf4_all) = (takes("--hdfeos"), takes("--all"));
            if hdf_eos && hdf4_all {
                eprintln!(
                    "ferrocdf copy: --all and --hdfeos exclude each other: tables and rasters belong to no group of HDF-EOS2"
                );
                return 1;
            }
            let opening = OpenOptions::default().hdf_eos(hdf_eos).hdf4_all(hdf4_all);
            nccopy::main_with(foreign, &opening, rest.under("ferrocdf copy"))
        }
        FerrocdfCommand::Refs(options) => {
            refs::run(&options).unwrap_or_else(|error| failed("refs", says::sentence(&error)))
        }
        FerrocdfCommand::Join(args) => join::run(&args),
        FerrocdfCommand::Repack(args) => repack::run(args),
        FerrocdfCommand::ZarrConformance { array_path } => {
            match zarr_conformance::run(&array_path, &mut std::io::stdout().lock()) {
                Ok(()) => 0,
                Err(error) => failed("zarr-conformance", error),
            }
        }
        FerrocdfCommand::Plugins { command } => match plugins::run(&command) {
            Ok(()) => 0,
            Err(why) => failed("plugins", why),
        },
    }
}

/// Tells why a subcommand failed; gives the exit code.
fn failed(subcommand: &str, why: impl Display) -> u8 {
    eprintln!("ferrocdf {subcommand}: {why}");
    1
}
