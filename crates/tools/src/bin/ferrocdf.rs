//! The umbrella command: `ferrocdf info|dump|gen|copy`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ferrocdf_tools::info::{self, Style};
use ferrocdf_tools::{nccopy, ncdump, ncgen};

/// netCDF files: look, print, make, copy.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what a file holds: dimensions, variables with their sizes, attributes.
    Info {
        /// Print one JSON object, for programs.
        #[arg(long)]
        json: bool,
        /// The file to look at.
        file: PathBuf,
    },
    /// Print a file as CDL text; takes the options of `ncdump`.
    #[command(disable_help_flag = true)]
    Dump(Rest),
    /// Make a file from CDL text; takes the options of `ncgen`.
    #[command(disable_help_flag = true)]
    Gen(Rest),
    /// Copy a file, perhaps to another kind; takes the options of `nccopy`.
    #[command(disable_help_flag = true)]
    Copy(Rest),
}

/// The command line of the tool, passed on as it is.
#[derive(clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    args: Vec<OsString>,
}

impl Rest {
    fn under(self, name: &str) -> impl Iterator<Item = OsString> {
        std::iter::once(OsString::from(name)).chain(self.args)
    }
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Info { json, file } => {
            match info::run(&file, if json { Style::Json } else { Style::Text }) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("ferrocdf info: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        Command::Dump(rest) => {
            let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
            let code = ncdump::main(rest.under("ferrocdf dump"), &mut out, &mut err);
            ExitCode::from(code as u8)
        }
        Command::Gen(rest) => ncgen::main(ncgen::Program::Ncgen, rest.under("ferrocdf gen")),
        Command::Copy(rest) => nccopy::main(rest.under("ferrocdf copy")),
    }
}
