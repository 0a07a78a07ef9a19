//! `ncgen` and `ncgen3`: CDL to netCDF.
//!
//! Options, messages and exit codes are those of the reference's tools, for scripts depend on them; so a conflict
//! between `-k` and the text is told and still ends with 0. Its crash on `-P` is not taken over: the file is written.
//! Programs in C, Fortran and Java go to standard output.

mod options;
mod options3;
mod output;
mod source;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;

use ferrocdf::{Error, Format};
use ferrocdf_cdl::parse::{self, ParseFailure};

use options::{NcgenOptions, OutputLanguage, ParsedOptions};
use output::Output;
use source::{Dataset, Gather};

use crate::says;
use crate::target::remove_on_signals;

/// What each option of `ncgen` does.
pub const OPTIONS_TEXT: &str = "\
\x20 [-o outfile] write this file
  [-b]      write a file named like the text, with \".nc\" for what is behind its last dot
  [-k kind] kind of the file: 'classic', '64-bit offset', 'cdf5', 'netCDF-4', 'netCDF-4 classic model',
            'nczarr3', 'nczarr2', 'zarr3', 'zarr2'; the
            default is what the text needs
  [-3]      short for -k 'classic'
  [-6]      short for -k '64-bit offset'
  [-5]      short for -k 'cdf5'
  [-4]      short for -k 'netCDF-4'
  [-7]      short for -k 'netCDF-4 classic model'
  [-x]      leave elements that the text does not give undefined, without fill values
  [-H]      definitions only, no data
  [-N name] the name of the dataset, instead of the one in the text
  [-l lang] print a program that makes the file: 'c', 'f77', 'java'
  [-M name] the main function, or class, of that program
  [-W n]    variables of at most n values are written by one call of that program (1024)
  file      the text; standard input if it is not named, or \"-\"
";

/// Which of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `ncgen`.
    Ncgen,
    /// `ncgen3`, with the options of old and for the classic model.
    Ncgen3,
}

/// Runs a program with the streams of this process and gives its exit code. `args` starts with the program's name.
pub fn main(program: Program, args: impl IntoIterator<Item = OsString>) -> u8 {
    remove_on_signals();
    run(program, args, &mut io::stdin().lock(), &mut io::stdout().lock(), &mut io::stderr())
}

/// Runs a program and gives its exit code. `args` starts with the program's name.
pub fn run(
    program: Program,
    args: impl IntoIterator<Item = OsString>,
    input: &mut dyn Read,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    let step = match program {
        Program::Ncgen => options::ncgen(args, errors),
        Program::Ncgen3 => options3::ncgen3(args, errors),
    };
    let options = match step {
        ParsedOptions::Exit(code) => return code,
        ParsedOptions::Run(options) => options,
    };
    let language = options.language.filter(|&language| language != OutputLanguage::Binary);
    let converted = match language {
        Some(language) => translate(&options, program, language, input, output, errors),
        None => convert(&options, false, input, errors),
    };
    match converted {
        Ok(code) => code,
        Err(error) => {
            tell(errors, format!("{}: {}", options.program, error.code.text()));
            if !error.what.is_empty() {
                tell(errors, format!("\t({})", says::once(&error)));
            }
            1
        }
    }
}

/// Writes a line of messages; there is nowhere to tell that this failed.
fn tell(errors: &mut dyn Write, line: impl AsRef<[u8]>) {
    let _ = errors.write_all(&[line.as_ref(), b"\n"].concat());
}

/// Opens the text: the file named, or standard input. The exit code if it is not there.
fn open<'a>(
    options: &NcgenOptions,
    input: &'a mut dyn Read,
    errors: &mut dyn Write,
) -> Result<Box<dyn Read + 'a>, u8> {
    let Some(path) = options.named_input() else { return Ok(Box::new(input)) };
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => {
            let prefix = options.complaint_prefix.as_bytes();
            tell(errors, [prefix, b"can't open file ", path.as_bytes(), b" for reading: "].concat());
            tell(errors, Error::system(error, "").code.text());
            Err(7)
        }
    }
}

/// Takes the mark of UTF-8 off the text. The exit code if it is one of another encoding.
fn skip_mark<'a>(mut input: Box<dyn Read + 'a>, errors: &mut dyn Write) -> Result<Box<dyn Read + 'a>, u8> {
    let mut start = vec![];
    // An error shows again when the text is read.
    let _ = input.by_ref().take(3).read_to_end(&mut start);
    match *start {
        [0 | 0xfe | 0xff, _, ..] => {
            tell(errors, "Input file contains a BOM indicating a non-UTF8 encoding");
            Err(1)
        }
        [0xef, 0xbb, 0xbf] => Ok(input),
        _ => Ok(Box::new(io::Cursor::new(start).chain(input))),
    }
}

/// Writes the program that makes the dataset of a text, and the dataset itself if both are asked for.
fn translate(
    options: &NcgenOptions,
    style: Program,
    language: OutputLanguage,
    input: &mut dyn Read,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<u8, Error> {
    let text = match open(options, input, errors).and_then(|text| skip_mark(text, errors)) {
        Ok(text) => text,
        Err(code) => return Ok(code),
    };
    // Programs without the data still depend on it: on the number of records, and on whether it holds infinities.
    let mut reading = parse::ParseOptions { header_only: false, ..reading(options, false) };
    if style == Program::Ncgen3 {
        reading.own_records = true;
        // Only the model matters to the program; see `options::ncgen`.
        reading.format = reading.format.map(|format| match format {
            Format::NETCDF4 => Format::NETCDF4_CLASSIC,
            format => format,
        });
    }
    let mut dataset = Dataset::new(options);
    match parse::parse(
        text,
        &reading,
        &mut Gather { dataset: &mut dataset, takes_all: style == Program::Ncgen, errors },
    ) {
        Ok(_) => {}
        Err(ParseFailure::Text | ParseFailure::EnhancedAfterData) => return Ok(1),
        Err(ParseFailure::Conflict) => return Ok(0),
        Err(ParseFailure::File(error)) => return Err(error),
    }
    dataset.measure();
    if options.binary_too {
        let mut file = Output::new(options, errors);
        dataset.tell(&mut file)?;
        file.finish()?;
    }
    let mut output = io::BufWriter::new(output);
    source::write(&dataset, style, language, &mut output)
        .and_then(|()| output.flush())
        .map_err(|error| Error::system(error, "writing the program"))?;
    Ok(0)
}

/// What the parser is to know.
fn reading(options: &NcgenOptions, enhanced: bool) -> parse::ParseOptions {
    parse::ParseOptions {
        format: options.format,
        program: options.program.clone(),
        file: options.shown_input(),
        check_only: options.check_only,
        header_only: options.header_only,
        own_records: false,
        enhanced,
    }
}

fn convert(
    options: &NcgenOptions,
    enhanced: bool,
    input: &mut dyn Read,
    errors: &mut dyn Write,
) -> Result<u8, Error> {
    let text = match open(options, &mut *input, errors).and_then(|text| skip_mark(text, errors)) {
        Ok(text) => text,
        Err(code) => return Ok(code),
    };
    let reading = reading(options, enhanced);
    let mut output = Output::new(options, errors);
    let failure = match parse::parse(text, &reading, &mut output) {
        Ok(_) => return output.finish().map(|()| 0),
        Err(failure) => failure,
    };
    drop(output);
    match failure {
        ParseFailure::Text => Ok(1),
        ParseFailure::Conflict => Ok(0),
        ParseFailure::File(error) => Err(error),
        ParseFailure::EnhancedAfterData if options.reads_a_file() && !enhanced => {
            convert(options, true, input, errors)
        }
        ParseFailure::EnhancedAfterData => {
            let text = "groups follow much data: use -k nc4, or give the file by name";
            tell(errors, format!("{}: {text}", options.program));
            Ok(1)
        }
    }
}

/// What `-k` takes in a format's name is the same as in `_Format`.
fn format_named(name: &OsString) -> Option<Format> {
    name.to_str().and_then(parse::format_named)
}
