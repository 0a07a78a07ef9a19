//! `ncgen`: CDL to netCDF.
#![forbid(unsafe_code)]

use ferrocdf_tools::ncgen::{Program, main as run};

fn main() -> std::process::ExitCode {
    run(Program::Ncgen, std::env::args_os()).into()
}
