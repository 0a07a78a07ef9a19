//! `ncgen` and `ncgen3`: CDL to netCDF.
//!
//! Options, messages and exit codes are those of the reference's tools, for scripts depend on them; so a conflict
//! between `-k` and the text is told and still ends with 0. Its crash on `-P` is not taken over: the file is written.
//! Writing programs in C, Fortran and Java (`-l c`) is not done yet and says so.

mod options;
mod output;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use ferrocdf::{Error, Format};
use ferrocdf_cdl::parse::{self, Failure};

use options::{Language, Options, Step};
use output::Output;

/// Runs `ncgen`. `args` starts with the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    run(options::ncgen(args))
}

/// Runs `ncgen3`, the tool for the classic model.
pub fn main3(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    run(options::ncgen3(args))
}

/// Writes a line to standard error; there is nowhere to tell that this failed.
fn tell(line: impl AsRef<[u8]>) {
    let _ = io::stderr().write_all(&[line.as_ref(), b"\n"].concat());
}

fn run(step: Step) -> ExitCode {
    let options = match step {
        Step::Exit(code) => return ExitCode::from(code),
        Step::Run(options) => options,
    };
    if let Some(language) = options.language.filter(|&language| language != Language::Binary) {
        tell(format!("{}: writing {} programs is not supported yet", options.program, language.name()));
        return ExitCode::from(1);
    }
    match convert(&options, false) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            tell(format!("{}: {}", options.program, error.code.text()));
            if !error.what.is_empty() {
                tell(format!("\t({})", error.what));
            }
            ExitCode::from(1)
        }
    }
}

/// Opens the text: the file named, or standard input. The exit code if it is not there.
fn open(options: &Options) -> Result<Box<dyn Read>, u8> {
    let Some(path) = options.input.as_ref().filter(|path| path.as_bytes() != b"-") else {
        return Ok(Box::new(io::stdin().lock()));
    };
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => {
            let mut line = options.complaint_prefix.clone().into_bytes();
            line.extend_from_slice(b"can't open file ");
            line.extend_from_slice(path.as_bytes());
            line.extend_from_slice(b" for reading: ");
            tell(line);
            tell(Error::system(&error, "").code.text());
            Err(7)
        }
    }
}

/// Takes the mark of UTF-8 off the text. The exit code if it is one of another encoding.
fn skip_mark(mut input: Box<dyn Read>) -> Result<Box<dyn Read>, u8> {
    let mut start = vec![];
    // An error shows again when the text is read.
    let _ = input.by_ref().take(3).read_to_end(&mut start);
    match *start {
        [0 | 0xfe | 0xff, _, ..] => {
            tell("Input file contains a BOM indicating a non-UTF8 encoding");
            Err(1)
        }
        [0xef, 0xbb, 0xbf] => Ok(input),
        _ => Ok(Box::new(io::Cursor::new(start).chain(input))),
    }
}

fn convert(options: &Options, enhanced: bool) -> Result<u8, Error> {
    let input = match open(options).and_then(skip_mark) {
        Ok(input) => input,
        Err(code) => return Ok(code),
    };
    let reading = parse::Options {
        format: options.format,
        program: options.program.clone(),
        file: options.shown_input(),
        check_only: options.check_only,
        header_only: options.header_only,
        enhanced,
    };
    let mut output = Output::new(options);
    let result = parse::parse(input, &reading, &mut output);
    match result {
        Ok(_) => output.finish().map(|()| 0),
        Err(failure) => {
            output.discard();
            match failure {
                Failure::Text => Ok(1),
                Failure::Conflict => Ok(0),
                Failure::File(error) => Err(error),
                Failure::EnhancedAfterData if options.reads_a_file() => convert(options, true),
                Failure::EnhancedAfterData => {
                    tell(format!(
                        "{}: groups follow much data: use -k nc4, or give the file by name",
                        options.program
                    ));
                    Ok(1)
                }
            }
        }
    }
}

/// What `-k` takes in a format's name is the same as in `_Format`.
fn format_named(name: &OsString) -> Option<Format> {
    name.to_str().and_then(parse::format_named)
}
