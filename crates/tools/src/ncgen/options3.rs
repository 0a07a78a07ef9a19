//! Command lines of `ncgen3`.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use ferrocdf::Format;

use super::options::{NcgenOptions, OutputLanguage, ParsedOptions, with_operands};
use super::tell;
use crate::getopt::{Getopt, Opt};
use crate::input::local;

const KNOWN_3: &str = "bcfk:l:no:v:x";

/// Reads the command line of `ncgen3`.
pub(super) fn ncgen3(args: impl IntoIterator<Item = OsString>, errors: &mut dyn Write) -> ParsedOptions {
    let mut words = Getopt::new(args, KNOWN_3);
    let mut options = NcgenOptions::new(words.program_name());
    options.name_from_input = false;
    options.complaint_prefix = format!("{}: -: ", options.program);
    options.format = Some(Format::CLASSIC);
    let (mut c, mut fortran, mut binary) = (false, false, false);
    for word in words.by_ref() {
        let prefix = options.complaint_prefix.clone();
        let mut complaint = |what: String| tell(errors, format!("{prefix}{what}"));
        match word {
            Opt::Flag(b'b') => binary = true,
            Opt::Flag(b'n') => {
                binary = true;
                options.extension = ".cdf";
            }
            Opt::Flag(b'c') => c = true,
            Opt::Flag(b'f') => fortran = true,
            Opt::Flag(_) => options.no_fill = true,
            Opt::Value(b'l', name) => match OutputLanguage::named(name.as_bytes()) {
                Some(OutputLanguage::C) => c = true,
                Some(OutputLanguage::Fortran77) => fortran = true,
                _ => {
                    complaint(format!(
                        "{}: output language {} not implemented",
                        options.program,
                        name.to_string_lossy()
                    ));
                    return ParsedOptions::Exit(1);
                }
            },
            Opt::Value(b'o', path) => {
                binary = true;
                options.output = Some(local(path.into()).into());
            }
            Opt::Value(_, name) => {
                options.format = Some(match name.as_bytes() {
                    b"1" | b"classic" => Format::CLASSIC,
                    b"2" | b"64-bit-offset" | b"64-bit offset" => Format::OFFSET64,
                    b"3" | b"hdf5" | b"netCDF-4" => Format::NETCDF4,
                    b"4" | b"hdf5-nc3" | b"netCDF-4 classic model" => Format::NETCDF4_CLASSIC,
                    _ => {
                        let known = "classic, 64-bit offset, netCDF-4, or netCDF-4 classic model";
                        complaint(format!("Invalid format, try {known}"));
                        return ParsedOptions::Exit(2);
                    }
                });
            }
            Opt::Wrong(message) => {
                tell(errors, message);
                let known = "[ -b ] [ -c ] [ -f ] [ -k kind ] [ -x ] [ -o outfile]  [ file ... ]";
                tell(errors, format!("{prefix}Usage: {} {known}", options.program));
                let version = format!("netcdf library version {}", crate::version::line());
                tell(errors, format!("{prefix}{version}"));
                return ParsedOptions::Exit(8);
            }
        }
    }
    if c && fortran {
        tell(errors, format!("{}Only one of -c or -f may be specified", options.complaint_prefix));
        return ParsedOptions::Exit(8);
    }
    options.language = match (c, fortran) {
        (true, _) => Some(OutputLanguage::C),
        (_, true) => Some(OutputLanguage::Fortran77),
        _ => None,
    };
    options.check_only = !binary && !c && !fortran;
    options.binary_too = binary;
    with_operands(words, options, errors)
}
