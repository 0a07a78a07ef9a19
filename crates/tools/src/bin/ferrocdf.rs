//! `ferrocdf`: look, print, make, copy; see [`ferrocdf_tools::umbrella`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ferrocdf_tools::umbrella::main(std::env::args_os()).into()
}
