//! The program `ncdump`; see [`ferrocdf_tools::ncdump`].
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(ferrocdf_tools::ncdump::process());
}
