//! The command line of `nccopy`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use ferrocdf::{Format, VarId, ZarrOptions};

use super::filterspec::FilterSpec;
use crate::getopt::{Getopt, Opt};
use crate::input::local;
use crate::kinds;

/// The options of the reference, with the `5` that its manual has and its option string lacks.
const KNOWN: &str = "k:34567d:sum:c:h:e:rwxg:G:v:V:F:L:M:";

/// The size of the copy buffer, in bytes.
pub const DEFAULT_BUFFER: usize = 5_000_000;

/// Chunks of fewer bytes are not made where nothing asks for chunks, without `-M`.
const LEAST_CHUNK: u64 = 8192;

/// Which variables or groups to copy.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Names, in the order given.
    pub names: Vec<Vec<u8>>,
    /// Whether what is not named keeps its definition (`-v`, `-g`) or not (`-V`, `-G`).
    pub keep_definitions: bool,
}

/// What a command line asks for.
#[derive(Debug, Default)]
pub struct Options {
    /// The kind of the output.
    pub kind: Option<Format>,
    /// The kind of Zarr store, if `kind` is one.
    pub zarr: Option<ZarrOptions>,
    /// Deflation level, 0 to 9.
    pub deflate: Option<u8>,
    /// Whether filters of the input are left out.
    pub no_filters: bool,
    /// Filters of variables; one may get some from several of these.
    pub filterspecs: Vec<FilterSpec>,
    /// Chunks of fewer bytes are not made where nothing asks for chunks.
    pub least_chunk: u64,
    /// Whether to shuffle bytes before deflation.
    pub shuffle: bool,
    /// Whether unlimited dimensions become fixed ones.
    pub fix_unlimited: bool,
    /// Bytes of the copy buffer.
    pub buffer: usize,
    /// Chunk specifications, as given.
    pub chunkspecs: Vec<Vec<u8>>,
    /// Lengths of shards along dimensions, as given.
    pub shardspec: Option<Vec<u8>>,
    /// Chunk shapes of variables of the input, which go before `chunkspecs`: what `ferrocdf repack` has found out.
    pub chunk_shapes: HashMap<VarId, Vec<u64>>,
    /// Whether variables that are filled stay so. Other copies need no fill values, since each element is written.
    pub keeps_fill: bool,
    /// Whether all metadata is to lie in front of the elements.
    pub metadata_first: bool,
    /// Whether the output is compared with the input before it takes its place.
    pub verifies: bool,
    /// Whether the output may replace the input.
    pub in_place: bool,
    /// What becomes of elements of virtual datasets whose sources are missing.
    pub missing_sources: MissingSources,
    /// Whether to read the whole input into memory first.
    pub read_in_memory: bool,
    /// Whether to write the whole output from memory at the end.
    pub write_in_memory: bool,
    /// The variables to copy, if not all.
    pub vars: Option<Choice>,
    /// The groups to copy, if not all.
    pub groups: Option<Choice>,
    /// The file to read.
    pub input: PathBuf,
    /// The file to write.
    pub output: PathBuf,
}

impl Options {
    /// Whether anything was asked for that only netCDF-4 files have.
    pub fn wants_netcdf4(&self) -> bool {
        self.deflate.is_some_and(|level| level > 0) || self.shuffle || !self.chunkspecs.is_empty()
    }
}

/// What becomes of elements of virtual datasets whose sources are missing: they have the fill value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingSources {
    /// Copied, with a warning: `nccopy`.
    #[default]
    Warned,
    /// Not copied.
    Refused,
    /// Copied.
    Filled,
}

impl MissingSources {
    /// What commands of `ferrocdf` do, with the option `--fill-missing` or without it.
    pub fn of_option(fill_missing: bool) -> MissingSources {
        if fill_missing { MissingSources::Filled } else { MissingSources::Refused }
    }
}

/// A command line, read.
pub enum Parsed {
    /// The program's name and what to do.
    Run(String, Box<Options>),
    /// The message to stop with.
    Stop(String),
}

/// Reads a command line, whose first word is the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Parsed {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = args.first().map_or("nccopy".into(), |name| name.to_string_lossy().into_owned());
    if args.len() <= 1 {
        return Parsed::Stop(usage(&program));
    }
    match read(args, &program) {
        Ok(options) => Parsed::Run(program, Box::new(options)),
        Err(message) => Parsed::Stop(message),
    }
}

fn read(args: Vec<OsString>, program: &str) -> Result<Options, String> {
    let say = |message: String| format!("{program}: {message}");
    let mut options = Options { buffer: DEFAULT_BUFFER, least_chunk: LEAST_CHUNK, ..Options::default() };
    let (args, shardspec) = without_shards(args).map_err(|message| say(message.to_string()))?;
    options.shardspec = shardspec;
    let mut getopt = Getopt::new(args, KNOWN);
    for opt in getopt.by_ref() {
        match opt {
            Opt::Flag(b'3') => options.kind = Some(Format::CLASSIC),
            Opt::Flag(b'6') => options.kind = Some(Format::OFFSET64),
            Opt::Flag(b'5') => options.kind = Some(Format::DATA64),
            Opt::Flag(b'4') => options.kind = Some(Format::NETCDF4),
            Opt::Flag(b'7') => options.kind = Some(Format::NETCDF4_CLASSIC),
            Opt::Value(b'k', name) => match kinds::find(name.as_bytes()) {
                Some(kind) => options.kind = Some(kind),
                None => match kinds::find_zarr(name.as_bytes()) {
                    Some((format, zarr)) => (options.kind, options.zarr) = (Some(format), Some(zarr)),
                    None => return Err(say(format!("invalid output format: {}", name.to_string_lossy()))),
                },
            },
            Opt::Value(b'd', level) => {
                let level = leading_integer(level.as_bytes());
                match u8::try_from(level) {
                    Ok(level @ 0..=9) => options.deflate = Some(level),
                    _ => return Err(say(format!("invalid deflation level: {level}"))),
                }
            }
            Opt::Flag(b's') => options.shuffle = true,
            Opt::Flag(b'u') => options.fix_unlimited = true,
            Opt::Flag(b'r') => options.read_in_memory = true,
            Opt::Flag(b'w') => options.write_in_memory = true,
            Opt::Value(letter @ (b'm' | b'h' | b'e'), size) => match size_with_suffix(&size) {
                Some(size) if letter == b'm' => options.buffer = size.max(1),
                // Sizes of the chunk cache of HDF5 files; classic files have none.
                Some(_) => {}
                None => {
                    let letter = letter as char;
                    let what = format!("Suffix used for '-{letter}' option value must be K, M, G, T, or P");
                    return Err(say(what));
                }
            },
            Opt::Value(b'c', spec) => options.chunkspecs.push(spec.into_vec()),
            Opt::Value(letter @ (b'v' | b'V'), names) => {
                options.vars = Some(Choice { names: split_names(&names), keep_definitions: letter == b'v' });
            }
            Opt::Value(letter @ (b'g' | b'G'), names) => {
                options.groups =
                    Some(Choice { names: split_names(&names), keep_definitions: letter == b'g' });
            }
            Opt::Value(b'F', spec) => {
                if let Err(why) = read_filterspec(&spec, &mut options) {
                    let spec = spec.to_string_lossy();
                    return Err(say(format!("invalid filter specification: {spec}: {why}")));
                }
            }
            Opt::Value(b'M', size) => match size_with_suffix(&size) {
                Some(size) => options.least_chunk = size as u64,
                None => {
                    let what = "Suffix used for '-M' option value must be K, M, G, T, or P";
                    return Err(say(what.to_string()));
                }
            },
            // Estimates of chunk caches, and the logging level: nothing that shows in a file.
            Opt::Flag(b'x') | Opt::Value(b'L', _) => {}
            Opt::Flag(_) | Opt::Value(..) => return Err(usage(program)),
            Opt::Wrong(message) => {
                return Err(format!("{}\n{}", String::from_utf8_lossy(&message), usage(program)));
            }
        }
    }
    match <[OsString; 2]>::try_from(getopt.operands()) {
        Ok([input, output]) => {
            (options.input, options.output) = (local(unescape(&input)), local(unescape(&output)));
            Ok(options)
        }
        Err(_) => Err(say("one input file and one output file required".to_string())),
    }
}

/// A command line without `--shards`, the one long option, and the value of that.
fn without_shards(args: Vec<OsString>) -> Result<(Vec<OsString>, Option<Vec<u8>>), &'static str> {
    const SHARDS: &[u8] = b"--shards";
    let (mut rest, mut spec) = (vec![], None);
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_bytes().strip_prefix(SHARDS) {
            Some(b"") => spec = Some(args.next().ok_or("option '--shards' requires an argument")?.into_vec()),
            Some([b'=', value @ ..]) => spec = Some(value.to_vec()),
            _ if arg == "--" => {
                rest.push(arg);
                rest.extend(args.by_ref());
            }
            _ => rest.push(arg),
        }
    }
    Ok((rest, spec))
}

/// A filter makes the output netCDF-4, but for the word that takes filters away.
fn read_filterspec(spec: &OsStr, options: &mut Options) -> Result<(), String> {
    if spec == "none" || spec.as_bytes().eq_ignore_ascii_case(b"*,none") {
        options.no_filters = true;
    } else {
        options.filterspecs.push(FilterSpec::parse(spec.to_str().ok_or("this is no UTF-8")?)?);
        if options.zarr.is_none() {
            options.kind = options.kind.map(|_| Format::NETCDF4);
        }
    }
    Ok(())
}

/// The integer at the start of a word, 0 if there is none, as C's `strtol` reads it.
fn leading_integer(word: &[u8]) -> i64 {
    let word = word.trim_ascii_start();
    let sign = usize::from(matches!(word.first(), Some(b'-' | b'+')));
    let digits = word[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = String::from_utf8_lossy(&word[..sign + digits]);
    text.parse().unwrap_or(if digits > 0 { i64::MAX } else { 0 })
}

/// A number with one of the decimal suffixes K, M, G, T, P.
fn size_with_suffix(word: &OsStr) -> Option<usize> {
    let word = word.to_str()?.trim_start();
    let end = word.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(word.len());
    let number: f64 = if end == 0 { 0.0 } else { word[..end].parse().ok()? };
    let unit = match word.as_bytes().get(end).map(u8::to_ascii_uppercase) {
        None => 1.0,
        Some(b'K') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        Some(b'T') => 1e12,
        Some(b'P') => 1e15,
        Some(_) => return None,
    };
    // A cast from a float stops at the largest integer.
    (number >= 0.0).then_some((number * unit) as usize)
}

/// Names between commas, empty ones left out; a backslash takes the comma behind it into the name.
fn split_names(list: &OsStr) -> Vec<Vec<u8>> {
    let mut names = vec![vec![]];
    let mut bytes = list.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        let name = names.last_mut().expect("there is always one");
        match byte {
            b',' => names.push(vec![]),
            b'\\' => name.extend(bytes.next()),
            _ => name.push(byte),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// A file name without the backslashes that a shell added.
fn unescape(name: &OsStr) -> PathBuf {
    let mut bytes = name.as_bytes().iter().copied().peekable();
    let mut plain = vec![];
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => plain.push(bytes.next().unwrap_or(byte)),
            _ => plain.push(byte),
        }
    }
    OsString::from_vec(plain).into()
}

fn usage(program: &str) -> String {
    format!(
        "{program}: {program} {SYNOPSIS}\n{OPTIONS_TEXT}\nnetCDF library version {}",
        crate::version::line()
    )
}

const SYNOPSIS: &str = "[-k kind] [-[3|4|5|6|7]] [-d n] [-s] [-c chunkspec] [-u] [-w] [-[v|V] varlist] \
[-[g|G] grplist] [-m n] [-h n] [-e n] [-r] [-F filterspec] [-Ln] [-Mn] [--shards shardspec] infile outfile";

/// What each option does.
pub const OPTIONS_TEXT: &str = "\
\x20 [-k kind] kind of the output file; the default is that of the input:
            'classic', '64-bit offset', 'cdf5', 'netCDF-4', 'netCDF-4 classic model';
            'nczarr3' or 'nczarr2' (a Zarr store with all of netCDF), 'zarr3' or 'zarr2' (for
            Zarr programs alone); an outfile whose name ends in .zarr or
            .zarr.zip is 'nczarr3'; one that ends in .zip is a zip file
  [-3]      short for -k 'classic'
  [-6]      short for -k '64-bit offset'
  [-5]      short for -k 'cdf5'
  [-4]      short for -k 'netCDF-4'
  [-7]      short for -k 'netCDF-4 classic model'
  [-d n]    deflation level of the output, 0 (none) to 9 (most)
  [-s]      shuffle bytes before deflation
  [-c chunkspec] chunk shapes, such as \"var:N1,N2,...\" or \"dim1/N1,dim2/N2,...\"
  [-u]      make unlimited dimensions fixed
  [-w]      keep the output in memory, write the file at the end
  [-v var1,...] copy data of these variables only, definitions of all
  [-V var1,...] copy definitions and data of these variables only
  [-g grp1,...] copy data of these groups only, definitions of all
  [-G grp1,...] copy definitions and data of these groups only
  [-m n]    bytes of the copy buffer (5000000); suffix K, M, G, T, P
  [-h n]    bytes of the chunk cache
  [-e n]    chunks the chunk cache can hold
  [-r]      read the whole input into memory first
  [-F filterspec] filters of output variables; may be repeated
  [-Ln]     logging level; accepted and ignored
  [-Mn]     variables smaller than n bytes are not chunked
  [--shards shardspec] shapes of the shards of a Zarr 3 store, such as \"dim1/N1,dim2/N2,...\", in
            multiples of the chunks; the default is those of the input
  infile    the file to read
  outfile   the file to write; replaced if it is there
";

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        read(line.split(' ').map(OsString::from).collect(), "nccopy")
    }

    #[test]
    fn kinds_and_lists() {
        let options = parsed("nccopy -5 -uv a,b\\,c in.nc out.nc").unwrap();
        assert_eq!(options.kind, Some(Format::DATA64));
        assert!(options.fix_unlimited);
        let names = vec![b"a".to_vec(), b"b,c".to_vec()];
        assert_eq!(options.vars, Some(Choice { names, keep_definitions: true }));
        assert_eq!(parsed("nccopy -k nc6 a b").unwrap().kind, Some(Format::OFFSET64));
        assert_eq!(parsed("nccopy -k x a b").unwrap_err(), "nccopy: invalid output format: x");
    }

    #[test]
    fn sizes() {
        let size = |word: &str| size_with_suffix(OsStr::new(word));
        assert_eq!(size("5"), Some(5));
        assert_eq!(size("1.5k"), Some(1500));
        assert_eq!(size("2G"), Some(2_000_000_000));
        assert_eq!((size("5x"), size("-1")), (None, None));
        assert_eq!(parsed("nccopy -m 3M a b").unwrap().buffer, 3_000_000);
    }

    #[test]
    fn shards() {
        let options = parsed("nccopy --shards time/100,lat/7 -d1 a b").unwrap();
        assert_eq!((options.shardspec, options.deflate), (Some(b"time/100,lat/7".to_vec()), Some(1)));
        assert_eq!(parsed("nccopy a --shards=x/5 b").unwrap().shardspec, Some(b"x/5".to_vec()));
        assert_eq!(
            parsed("nccopy a b --shards").unwrap_err(),
            "nccopy: option '--shards' requires an argument"
        );
        assert_eq!(parsed("nccopy -- --shards a").unwrap().input, PathBuf::from("--shards"));
    }

    #[test]
    fn deflation_levels() {
        assert_eq!(parsed("nccopy -d 9 a b").unwrap().deflate, Some(9));
        assert_eq!(parsed("nccopy -d 11 a b").unwrap_err(), "nccopy: invalid deflation level: 11");
        assert_eq!(parsed("nccopy -d -1 a b").unwrap_err(), "nccopy: invalid deflation level: -1");
    }

    #[test]
    fn two_files_are_needed() {
        assert_eq!(parsed("nccopy a").unwrap_err(), "nccopy: one input file and one output file required");
    }
}
