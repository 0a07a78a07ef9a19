//! `ncgen`: CDL to netCDF.

fn main() -> std::process::ExitCode {
    ferrocdf_tools::ncgen::main(std::env::args_os())
}
