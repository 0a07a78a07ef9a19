//! `nccopy`: copies a netCDF file, perhaps to another kind.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ferrocdf_tools::nccopy::main(std::env::args_os()).into()
}
