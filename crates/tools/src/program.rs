//! All programs in one, which does what the name says by which it is called: so are they installed, as links to one file.

use std::ffi::OsString;
use std::path::Path;

use crate::{nccopy, ncdump, ncgen, umbrella};

/// Runs the program that the file name of the first argument names, `ferrocdf` if that is none of them, and gives its exit code.
pub fn run(args: Vec<OsString>) -> u8 {
    let name = args.first().and_then(|name| Path::new(name).file_stem()).and_then(|name| name.to_str());
    match name {
        Some("ncdump") => ncdump::process(args),
        Some("ncgen") => ncgen::main(ncgen::Program::Ncgen, args),
        Some("ncgen3") => ncgen::main(ncgen::Program::Ncgen3, args),
        Some("nccopy") => nccopy::main(args),
        _ => umbrella::main(args),
    }
}
