//! What command lines ask for, and those of `ncgen`.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use ferrocdf::{Format, ZarrOptions};

use super::{format_named, tell};
use crate::getopt::{Getopt, Opt};
use crate::input::local;
use crate::kinds;

/// What is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputLanguage {
    /// A netCDF file.
    Binary,
    /// A program that writes it.
    C,
    Fortran77,
    Java,
}

impl OutputLanguage {
    pub fn named(name: &[u8]) -> Option<OutputLanguage> {
        Some(match name {
            b"b" => OutputLanguage::Binary,
            b"c" | b"C" => OutputLanguage::C,
            b"f77" | b"fortran77" | b"Fortran77" => OutputLanguage::Fortran77,
            b"j" | b"java" => OutputLanguage::Java,
            _ => return None,
        })
    }
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NcgenOptions {
    /// The program's name in messages.
    pub program: String,
    /// What stands before complaints about the command line.
    pub complaint_prefix: String,
    pub input: Option<OsString>,
    pub output: Option<OsString>,
    pub format: Option<Format>,
    /// The kind of Zarr store, if the format is one.
    pub zarr: ZarrOptions,
    pub language: Option<OutputLanguage>,
    pub extension: &'static str,
    /// Whether the output is named like the input, not like the dataset.
    pub name_from_input: bool,
    pub dataset: Option<OsString>,
    pub no_fill: bool,
    pub header_only: bool,
    pub check_only: bool,
    /// Whether the file is to be written besides a program.
    pub binary_too: bool,
    /// The name of a program's main function.
    pub main_name: Option<OsString>,
    /// The level that a program in C logs at.
    pub log_level: Option<i64>,
    /// Arrays of at most so many elements are written by one call in a program.
    pub whole_variable: u64,
}

impl NcgenOptions {
    pub fn new(program: String) -> Self {
        NcgenOptions {
            program,
            complaint_prefix: String::new(),
            input: None,
            output: None,
            format: None,
            zarr: ZarrOptions::default(),
            language: None,
            extension: ".nc",
            name_from_input: true,
            dataset: None,
            no_fill: false,
            header_only: false,
            check_only: false,
            binary_too: false,
            main_name: None,
            log_level: None,
            whole_variable: 1024,
        }
    }

    /// Whether the text can be read a second time.
    pub fn reads_a_file(&self) -> bool {
        self.named_input().is_some()
    }

    /// The input, if it is a file.
    pub fn named_input(&self) -> Option<&OsString> {
        self.input.as_ref().filter(|path| path.as_bytes() != b"-")
    }

    /// Where the text is: in the file named, or in the one that is standard input.
    pub fn input_path(&self) -> PathBuf {
        self.named_input().map_or("/dev/stdin".into(), PathBuf::from)
    }

    /// The file to write: as asked for, else the name of the text's file or of the dataset with the usual ending.
    pub fn output_path(&self, dataset: &str) -> PathBuf {
        if let Some(path) = &self.output {
            return PathBuf::from(path);
        }
        let mut name = match self.named_input().filter(|_| self.name_from_input) {
            Some(input) => {
                let mut bytes = input.as_bytes();
                if let Some(dot) = bytes.iter().rposition(|&byte| byte == b'.') {
                    bytes = &bytes[..dot];
                }
                let start = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
                bytes[start..].to_vec()
            }
            None if self.name_from_input => {
                self.dataset.as_ref().map_or(dataset.as_bytes(), |name| name.as_bytes()).to_vec()
            }
            None => without_escapes(dataset),
        };
        name.extend_from_slice(self.extension.as_bytes());
        PathBuf::from(OsString::from_vec(name))
    }

    /// The input's name in messages.
    pub fn shown_input(&self) -> String {
        match &self.input {
            Some(path) => path.to_string_lossy().into_owned(),
            None => "(null)".to_string(),
        }
    }
}

/// A name as it was before backslashes were put into it.
fn without_escapes(name: &str) -> Vec<u8> {
    let mut bytes = name.bytes();
    let mut plain = vec![];
    while let Some(byte) = bytes.next() {
        plain.extend(if byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    plain
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedOptions {
    Run(Box<NcgenOptions>),
    Exit(u8),
}

const KNOWN: &str = "134567bcdD:fhHk:l:M:no:Pv:xL:N:B:W:";

fn usage(program: &str, errors: &mut dyn Write) {
    tell(
        errors,
        format!(
            "Usage: {program} [-1] [-3] [-4] [-5] [-6] [-7] [-b] [-d] [-D debuglevel] [-h] [-k kind ] \
         [-l language=b|c|f77|java] [-M <name>] [-n] [-o outfile] [-P] [-x] [-N datasetname] [-L loglevel] [-H] \
         [-W generate whole var upload] [file ... ]"
        ),
    );
    tell(errors, format!("netcdf library version {}", crate::version::line()));
}

/// A path with `\#` for `#`, as other options of the reference need it.
fn without_backslashes(path: &OsString) -> OsString {
    let mut plain = path.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = plain[at..].windows(2).position(|pair| pair == b"\\#") {
        at += found;
        plain.remove(at);
    }
    OsString::from_vec(plain)
}

/// The integer at the start of a word, else 0.
fn leading_integer(word: &OsString) -> i64 {
    let text = word.to_string_lossy();
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let end = text[sign..].find(|letter: char| !letter.is_ascii_digit()).map_or(text.len(), |at| sign + at);
    text[..end].parse().unwrap_or(0)
}

/// Takes note of what is to be written; more than one such option is an error.
fn one_language(
    options: &mut NcgenOptions,
    errors: &mut dyn Write,
    language: OutputLanguage,
) -> Result<(), ParsedOptions> {
    if options.language.is_some() {
        tell(errors, "Please specify only one language");
        return Err(ParsedOptions::Exit(1));
    }
    options.language = Some(language);
    Ok(())
}

/// Reads the command line of `ncgen`.
pub(super) fn ncgen(args: impl IntoIterator<Item = OsString>, errors: &mut dyn Write) -> ParsedOptions {
    let mut words = Getopt::new(args, KNOWN);
    let mut options = NcgenOptions::new(words.program_name());
    for word in words.by_ref() {
        let done = match word {
            Opt::Flag(b'b') => one_language(&mut options, errors, OutputLanguage::Binary),
            Opt::Flag(b'n') => {
                options.extension = ".cdf";
                one_language(&mut options, errors, OutputLanguage::Binary)
            }
            Opt::Flag(b'c') => one_language(&mut options, errors, OutputLanguage::C).inspect(|()| {
                tell(errors, "-c is deprecated: please use -lc");
            }),
            Opt::Flag(b'f') => one_language(&mut options, errors, OutputLanguage::Fortran77).inspect(|()| {
                tell(errors, "-f is deprecated: please use -lf77");
            }),
            Opt::Value(b'l', name) => match OutputLanguage::named(name.as_bytes()) {
                _ if options.language.is_some() => one_language(&mut options, errors, OutputLanguage::Binary),
                Some(language) => one_language(&mut options, errors, language),
                None => {
                    let name = name.to_string_lossy();
                    tell(errors, format!("{}: output language {name} not implemented", options.program));
                    Err(ParsedOptions::Exit(1))
                }
            },
            Opt::Value(b'k' | b'v', name) => match format_named(&name) {
                Some(format) => {
                    options.format = Some(format);
                    Ok(())
                }
                None => match kinds::find_zarr(name.as_bytes()) {
                    Some((format, zarr)) => {
                        (options.format, options.zarr) = (Some(format), zarr);
                        Ok(())
                    }
                    None => {
                        tell(errors, format!("Invalid format: {}", name.to_string_lossy()));
                        Err(ParsedOptions::Exit(2))
                    }
                },
            },
            Opt::Flag(digit @ b'3'..=b'7') => {
                options.format = Some(match digit {
                    b'3' => Format::CLASSIC,
                    b'4' => Format::NETCDF4,
                    b'5' => Format::DATA64,
                    b'6' => Format::OFFSET64,
                    _ => Format::NETCDF4_CLASSIC,
                });
                Ok(())
            }
            Opt::Flag(b'h') => {
                usage(&options.program, errors);
                Err(ParsedOptions::Exit(0))
            }
            Opt::Flag(b'H') => {
                options.header_only = true;
                Ok(())
            }
            Opt::Flag(b'x') => {
                options.no_fill = true;
                Ok(())
            }
            Opt::Value(b'o', path) => {
                options.output = Some(local(without_backslashes(&path).into()).into());
                Ok(())
            }
            Opt::Value(b'N', name) => {
                options.dataset = Some(name);
                Ok(())
            }
            Opt::Value(b'M', name) => {
                options.main_name = Some(name);
                Ok(())
            }
            Opt::Value(b'L', level) => {
                options.log_level = Some(leading_integer(&level)).filter(|&level| level >= 0);
                Ok(())
            }
            Opt::Value(b'W', size) => {
                // As the reference: there is no limit below 0.
                options.whole_variable = leading_integer(&size).try_into().unwrap_or(u64::MAX);
                Ok(())
            }
            // For debugging and buffers: nothing to do here.
            Opt::Flag(_) | Opt::Value(..) => Ok(()),
            Opt::Wrong(message) => {
                tell(errors, message);
                usage(&options.program, errors);
                Err(ParsedOptions::Exit(8))
            }
        };
        if let Err(step) = done {
            return step;
        }
    }
    options.check_only = options.language.is_none() && options.format.is_none() && options.output.is_none();
    if matches!(options.language, Some(OutputLanguage::Java | OutputLanguage::Fortran77)) {
        // Only the model matters to these programs; this format has it, and takes wishes about storage too.
        options.format = Some(Format::NETCDF4_CLASSIC);
    }
    if options.language.is_none_or(|language| language == OutputLanguage::Binary)
        && let Some(output) = &options.output
    {
        let output = Path::new(output);
        if let Some(asked) = kinds::zarr_of_output(output, options.format) {
            (options.format, options.zarr) = (Some(asked.0), asked.1);
        }
        if let Some(why) =
            options.format.and_then(|format| kinds::contradiction(output, format, &options.zarr))
        {
            tell(errors, format!("{}: {why}", options.program));
            return ParsedOptions::Exit(2);
        }
    }
    if options.format.is_some_and(kinds::is_zarr) {
        options.extension = ".zarr";
    }
    with_operands(words, options, errors)
}

/// The one operand there may be: the text.
pub(super) fn with_operands(
    words: Getopt,
    mut options: NcgenOptions,
    errors: &mut dyn Write,
) -> ParsedOptions {
    let mut operands = words.operands();
    if operands.len() > 1 {
        let prefix = &options.complaint_prefix;
        tell(errors, format!("{prefix}{}: only one input file argument permitted", options.program));
        return ParsedOptions::Exit(6);
    }
    options.input = operands.pop();
    ParsedOptions::Run(Box::new(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &[&str]) -> ParsedOptions {
        ncgen(["ncgen"].iter().chain(args).map(OsString::from), &mut vec![])
    }

    fn options(args: &[&str]) -> NcgenOptions {
        match of(args) {
            ParsedOptions::Run(options) => *options,
            step => panic!("{step:?}"),
        }
    }

    #[test]
    fn only_a_check_unless_output_is_asked_for() {
        assert!(options(&["x.cdl"]).check_only);
        assert!(options(&["-x", "x.cdl"]).check_only);
        for args in [&["-b"][..], &["-n"], &["-o", "f"], &["-3"], &["-knc5"], &["-lb"]] {
            assert!(!options(args).check_only, "{args:?}");
        }
    }

    #[test]
    fn kinds_and_their_digits() {
        for (args, format) in [
            (&["-3"][..], Format::CLASSIC),
            (&["-k", "1"], Format::CLASSIC),
            (&["-k", "64-bit offset"], Format::OFFSET64),
            (&["-v2"], Format::OFFSET64),
            (&["-5"], Format::DATA64),
            (&["-kcdf5"], Format::DATA64),
            (&["-k", "3"], Format::NETCDF4),
            (&["-7"], Format::NETCDF4_CLASSIC),
            (&["-7", "-6"], Format::OFFSET64),
        ] {
            assert_eq!(options(args).format, Some(format), "{args:?}");
        }
        assert_eq!(options(&["-1", "-b"]).format, None);
    }

    #[test]
    fn exits_of_wrong_command_lines() {
        for (args, code) in [
            (&["-q"][..], 8),
            (&["-o"], 8),
            (&["-h"], 0),
            (&["-k", "nc9"], 2),
            (&["-l", "ada"], 1),
            (&["-b", "-n"], 1),
            (&["-c", "-lb"], 1),
            (&["a", "b"], 6),
        ] {
            assert_eq!(of(args), ParsedOptions::Exit(code), "{args:?}");
        }
    }

    #[test]
    fn values_of_old_options_are_not_taken_for_files() {
        let options = options(&["-P", "-W", "100", "-B", "1", "-D9", "-L", "2", "-o", "a\\ \\#b", "x"]);
        assert_eq!(options.input, Some("x".into()));
        assert_eq!(options.output, Some("a\\ #b".into()));
    }
}
