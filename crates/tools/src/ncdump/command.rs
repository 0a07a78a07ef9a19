//! The command line of `ncdump`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use ferrocdf::{Container, DataModel, Format};
use ferrocdf_cdl::print::{Indices, PrintOptions};

use crate::getopt::{Getopt, Opt};
use crate::input::local;
use crate::version;

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Cdl,
    NcMl,
    /// The kind of the file.
    Kind,
    /// The kind, and the flags the file was opened with.
    ExtendedKind,
}

/// What is asked of the tool beside the options of printing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Task {
    pub(super) what: What,
    pub(super) in_memory: bool,
}

/// A command line that can be run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: Task,
    pub(super) path: OsString,
    pub(super) options: PrintOptions,
}

/// A command line that was read.
#[derive(Debug)]
pub(super) enum CommandLine {
    Job(Box<Job>),
    /// The message for the user.
    Refused(Vec<u8>),
    /// The usage is to be printed, after a line if there is one.
    Usage {
        before: Vec<u8>,
        code: i32,
    },
}

/// The options of the newest reference.
const KNOWN: &str = "b:cd:f:g:hikl:n:p:stv:xwFKL:X:";

/// Reads a command line.
pub(super) fn parse(args: Vec<OsString>) -> CommandLine {
    if args.len() <= 1 {
        return CommandLine::Usage { before: vec![], code: 0 };
    }
    let mut options = PrintOptions::default();
    if let Some(threads) = std::env::var("FERROCDF_THREADS").ok().and_then(|text| text.parse().ok()) {
        options.threads = threads;
    }
    let (mut name, mut in_memory, mut ncml, mut kind, mut extended) = (None, false, false, false, false);
    let mut getopt = Getopt::new(args, KNOWN);
    for opt in getopt.by_ref() {
        match opt {
            Opt::Wrong(mut message) => {
                message.push(b'\n');
                return CommandLine::Usage { before: message, code: 1 };
            }
            Opt::Flag(letter) => match letter {
                b'h' => options.header_only = true,
                b'c' => options.coordinates_only = true,
                b'x' => ncml = true,
                b'k' => kind = true,
                b'K' => extended = true,
                b't' => options.times = Some(b' '),
                b'i' => options.times = Some(b'T'),
                b's' => options.special = true,
                b'F' => options.filters_in_one_form = true,
                // `-w` is for a protocol that is not here.
                _ => {}
            },
            Opt::Value(letter, value) => {
                let result = match letter {
                    b'n' => {
                        name = Some(value);
                        Ok(())
                    }
                    b'X' => extra(&value, &mut options, &mut in_memory),
                    _ => with_value(letter, value.as_bytes(), &mut options),
                };
                if let Err(message) = result {
                    return CommandLine::Refused(message);
                }
            }
        }
    }
    let operands = getopt.operands();
    let [path] = &operands[..] else {
        return CommandLine::Usage { before: vec![], code: 1 };
    };
    let path = without_shell_escapes(path);
    let what = match (kind, extended, ncml) {
        (true, ..) => What::Kind,
        (_, true, _) => What::ExtendedKind,
        (.., true) => What::NcMl,
        _ => What::Cdl,
    };
    options.name = match name {
        _ if what == What::NcMl => path.as_bytes().to_vec(),
        Some(name) => name.into_vec(),
        None => dataset_name(local(path.clone().into()).as_os_str().as_bytes()),
    };
    CommandLine::Job(Box::new(Job { command: Task { what, in_memory }, path, options }))
}

fn with_value(letter: u8, value: &[u8], options: &mut PrintOptions) -> Result<(), Vec<u8>> {
    match letter {
        b'b' => {
            options.brief_comments = true;
            options.indices = indices(letter, value)?;
        }
        b'f' => {
            options.full_comments = true;
            options.indices = indices(letter, value)?;
        }
        b'l' => {
            let (length, _) = leading_number(value, 0);
            // A C `int`.
            let length = length as i32;
            if length < 10 {
                return Err(format!("unreasonably small line length specified: {length}").into_bytes());
            }
            options.line_length = length as usize;
        }
        b'v' => options.variables = names(value),
        b'g' => options.groups = if value.is_empty() { vec![vec![]] } else { names(value) },
        b'p' | b'd' => {
            let (float, double) = digits(value, options)?;
            options.float_digits_first |= letter == b'p' && float;
            options.double_digits_first |= letter == b'p' && double;
        }
        // `-L`: there is no log.
        _ => {}
    }
    Ok(())
}

fn extra(value: &OsStr, options: &mut PrintOptions, in_memory: &mut bool) -> Result<(), Vec<u8>> {
    match value.as_bytes().first().map(u8::to_ascii_lowercase) {
        Some(b'm') => *in_memory = true,
        Some(b'p') => options.no_provenance = true,
        Some(b'f') => options.fill_type = true,
        _ => return Err([b"invalid value for -X option: ", value.as_bytes()].concat()),
    }
    Ok(())
}

fn indices(letter: u8, value: &[u8]) -> Result<Indices, Vec<u8>> {
    match value.first().map(u8::to_ascii_lowercase) {
        Some(b'c') => Ok(Indices::C),
        Some(b'f') => Ok(Indices::Fortran),
        _ => Err([b"invalid value for -", &[letter][..], b" option: ", value].concat()),
    }
}

/// Names with commas between them.
fn names(list: &[u8]) -> Vec<Vec<u8>> {
    list.split(|&byte| byte == b',').filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Reads `7,15`, `7`: tells which of the two was given. A number left out becomes the default again.
fn digits(value: &[u8], options: &mut PrintOptions) -> Result<(bool, bool), Vec<u8>> {
    let defaults = PrintOptions::default();
    let check = |what: &str, number: i64| match usize::try_from(number) {
        Ok(digits @ 1..=20) => Ok(digits),
        _ => Err(format!("unreasonable value for {what} significant digits: {}", number as i32).into_bytes()),
    };
    let (mut float, mut double) = (defaults.float_digits, defaults.double_digits);
    let (mut float_given, mut double_given) = (false, false);
    if value.first().is_some_and(|&first| first != b',') {
        let (number, rest) = leading_number(value, 10);
        float = check("float", number)?;
        float_given = true;
        if let Some(rest) = rest.strip_prefix(b",") {
            double = check("double", leading_number(rest, 10).0)?;
            double_given = true;
        }
    }
    (options.float_digits, options.double_digits) = (float, double);
    Ok((float_given, double_given))
}

/// The number a text begins with, as C's `strtol` reads it, and what follows. Base 0 is told by `0x` and `0`.
fn leading_number(text: &[u8], base: u32) -> (i64, &[u8]) {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0B).count();
    let mut rest = &text[blanks..];
    let negative = rest.first() == Some(&b'-');
    if let Some(b'-' | b'+') = rest.first() {
        rest = &rest[1..];
    }
    let base = match (base, rest) {
        (0, [b'0', b'x' | b'X', digit, ..]) if digit.is_ascii_hexdigit() => {
            rest = &rest[2..];
            16
        }
        (0, [b'0', ..]) => 8,
        (0, _) => 10,
        _ => base,
    };
    let mut number = 0i64;
    let mut count = 0;
    while let Some(digit) = rest.get(count).and_then(|&byte| char::from(byte).to_digit(base)) {
        number = number.saturating_mul(i64::from(base)).saturating_add(i64::from(digit));
        count += 1;
    }
    let rest = if count == 0 { text } else { &rest[count..] };
    (if negative { -number } else { number }, rest)
}

/// A path in which `\#` stands for `#`.
fn without_shell_escapes(path: &OsStr) -> OsString {
    let mut out = vec![];
    let bytes = path.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        if !(byte == b'\\' && bytes.get(at + 1) == Some(&b'#')) {
            out.push(byte);
        }
    }
    OsString::from_vec(out)
}

/// The name of the dataset in a file or folder: its own name, without its extension, or that of the folder that `.` and `..` stand for.
fn dataset_name(path: &[u8]) -> Vec<u8> {
    let is_url = path.windows(3).any(|part| part == b"://");
    let end = path.iter().position(|byte| is_url && b"#?".contains(byte)).unwrap_or(path.len());
    let path = &path[..end];
    let last =
        |path: &[u8]| path.split(|&byte| byte == b'/').rfind(|name| !name.is_empty()).map(<[u8]>::to_vec);
    let name = match last(path).unwrap_or_default() {
        dots if [&b"."[..], b".."].contains(&&*dots) => {
            let folder = std::fs::canonicalize(OsStr::from_bytes(path)).unwrap_or_default();
            last(folder.as_os_str().as_bytes()).unwrap_or_default()
        }
        name => name,
    };
    let end = name.iter().rposition(|&byte| byte == b'.').unwrap_or(name.len());
    name[..end].to_vec()
}

/// What `-K` prints: the format, with the version of Zarr and whether a store has netCDF's metadata, and the flags of the reference's open
/// function.
pub(super) fn extended_kind(format: Format, by_netcdf: bool, in_memory: bool) -> String {
    let (name, mode) = match (format.container(), format.data_model()) {
        (Container::Classic, DataModel::Offset64) => ("64-bit offset", 0x200),
        (Container::Classic, DataModel::Data64) => ("64-bit data", 0x20),
        (Container::ZarrV2, _) if by_netcdf => ("NCZarr 2", 0x1000),
        (Container::ZarrV3, _) if by_netcdf => ("NCZarr 3", 0x1000),
        (container @ (Container::Hdf5 | Container::Hdf4 | Container::ZarrV2 | Container::ZarrV3), _) => {
            (container.name(), 0x1000)
        }
        (container, _) => (container.name(), 0),
    };
    format!("{name} mode={:08x}", mode | if in_memory { 8 } else { 0 })
}

/// The usage, with the name of the program as it was called.
pub(super) fn usage(program: &[u8]) -> Vec<u8> {
    const SYNOPSIS: &str = " [-c|-h] [-v ...] [[-b|-f] [c|f]] [-l len] [-n name] [-p n[,n]] [-k] [-x] [-s] [-t|-i] \
[-g ...] [-w] [-F] [-Ln] file\n";
    let version = format!("netcdf library version {}\n", version::line());
    [program, SYNOPSIS.as_bytes(), options_text().as_bytes(), version.as_bytes()].concat()
}

/// What each option does.
pub fn options_text() -> String {
    const OPTIONS: [(&str, &str); 19] = [
        ("[-c]", "Coordinate variable data and header information"),
        ("[-h]", "Header information only, no data"),
        ("[-v var1[,...]]", "Data for variable(s) <var1>,... only"),
        ("[-b [c|f]]", "Brief annotations for C or Fortran indices in data"),
        ("[-f [c|f]]", "Full annotations for C or Fortran indices in data"),
        ("[-l len]", "Line length maximum in data section (default 80)"),
        ("[-n name]", "Name for netCDF (default derived from file name)"),
        ("[-p n[,n]]", "Display floating-point values with less precision"),
        ("[-k]", "Output kind of netCDF file"),
        ("[-s]", "Output special (virtual) attributes"),
        ("[-t]", "Output time data as date-time strings"),
        ("[-i]", "Output time data as date-time strings with ISO-8601 'T' separator"),
        ("[-g grp1[,...]]", "Data and metadata for group(s) <grp1>,... only"),
        ("[-w]", "With client-side caching of variables for DAP URLs"),
        ("[-x]", "Output XML (NcML) instead of CDL"),
        ("[-F]", "Output _Filter and _Codecs instead of _Fletcher32, _Shuffle, and _Deflate"),
        ("[-Xp]", "Unconditionally suppress output of the properties attribute"),
        ("[-Ln]", "Set log level to n (>= 0); ignore if logging not enabled."),
        ("file", "Name of netCDF file (or URL if DAP access enabled)"),
    ];
    OPTIONS.iter().map(|(option, meaning)| format!("  {option:<16} {meaning}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(args: &[&str]) -> Job {
        let args = ["ncdump"].iter().chain(args).map(OsString::from).collect();
        match parse(args) {
            CommandLine::Job(job) => *job,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(args: &[&str]) -> String {
        let args = ["ncdump"].iter().chain(args).map(OsString::from).collect();
        match parse(args) {
            CommandLine::Refused(message) => String::from_utf8(message).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn digits_as_the_reference_reads_them() {
        for (value, float, double, first) in [
            ("9,17", 9, 17, (true, true)),
            ("9", 9, 15, (true, false)),
            (",9", 7, 15, (false, false)),
            (" 3 ,4", 3, 15, (true, false)),
        ] {
            let options = job(&["-p", value, "f"]).options;
            assert_eq!((options.float_digits, options.double_digits), (float, double), "{value}");
            assert_eq!((options.float_digits_first, options.double_digits_first), first, "{value}");
        }
        assert!(!job(&["-d", "3,4", "f"]).options.float_digits_first);
        assert_eq!(refusal(&["-p", "x", "f"]), "unreasonable value for float significant digits: 0");
        assert_eq!(refusal(&["-p", "5,21", "f"]), "unreasonable value for double significant digits: 21");
    }

    #[test]
    fn line_lengths() {
        assert_eq!(job(&["-l", "0x20", "f"]).options.line_length, 32);
        assert_eq!(job(&["-l", "020", "f"]).options.line_length, 16);
        assert_eq!(refusal(&["-l", "9", "f"]), "unreasonably small line length specified: 9");
        assert_eq!(refusal(&["-l", "-1", "f"]), "unreasonably small line length specified: -1");
    }

    #[test]
    fn names_of_datasets() {
        for (path, name) in [
            ("a.nc", "a"),
            ("/x.y/b", "b"),
            ("b.c.nc", "b.c"),
            (".nc", ""),
            ("file:///d/t.zarr#mode=zarr,file", "t"),
            ("d/x.zarr/", "x"),
            ("s3://bucket/x.zarr//", "x"),
            ("/", ""),
        ] {
            assert_eq!(dataset_name(path.as_bytes()), name.as_bytes());
        }
        let folder = std::env::current_dir().unwrap();
        for dots in [".", "./", "src/.."] {
            assert_eq!(dataset_name(dots.as_bytes()), folder.file_stem().unwrap().as_bytes(), "{dots}");
        }
        assert_eq!(job(&["a\\#b"]).path, "a#b");
        assert_eq!(job(&["-x", "-n", "n", "d/a.nc"]).options.name, b"d/a.nc");
    }

    #[test]
    fn what_to_print() {
        assert_eq!(job(&["-kK", "f"]).command.what, What::Kind);
        assert_eq!(job(&["-xK", "f"]).command.what, What::ExtendedKind);
        assert_eq!(job(&["-v", "a,,b", "f"]).options.variables, [b"a", b"b"]);
        assert_eq!(refusal(&["-Xq", "f"]), "invalid value for -X option: q");
        assert_eq!(refusal(&["-b", "q", "f"]), "invalid value for -b option: q");
    }
}
