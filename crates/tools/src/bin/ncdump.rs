//! `ncdump`: prints a netCDF file as CDL.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ferrocdf_tools::ncdump::process(std::env::args_os()).into()
}
