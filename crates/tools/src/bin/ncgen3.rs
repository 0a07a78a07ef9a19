//! `ncgen3`: CDL to classic netCDF, with the options of old.

fn main() -> std::process::ExitCode {
    ferrocdf_tools::ncgen::main3(std::env::args_os())
}
