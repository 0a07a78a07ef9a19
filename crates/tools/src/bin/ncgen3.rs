//! `ncgen3`: CDL to classic netCDF, with the options of old.
#![forbid(unsafe_code)]

use ferrocdf_tools::ncgen::{Program, main as run};

fn main() -> std::process::ExitCode {
    run(Program::Ncgen3, std::env::args_os()).into()
}
