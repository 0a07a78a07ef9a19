//! Copies a netCDF file, perhaps to another kind.

fn main() -> std::process::ExitCode {
    ferrocdf_tools::nccopy::main(std::env::args_os())
}
