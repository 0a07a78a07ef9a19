//! `nccopy`: copies a netCDF file, perhaps to another kind.
//!
//! Takes every command line of the reference's `nccopy` and answers with the same exit codes and the same first lines of
//! errors. `-5` works, which the reference documents and then refuses. A copy leaves elements that the source never
//! gave undefined, as the reference does.

mod chunkspec;
mod options;
mod schema;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use ferrocdf::{CreateOptions, Error, File, FileMut, Format, Model, Result, VarId};

use crate::input::open_in_memory;
use crate::progress::Progress;
use options::{Options, Parsed};

/// Why the tool stops.
enum Stop {
    /// A message in the tool's own words.
    Said(String),
    /// An error of the library, printed as the reference prints them.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// Runs the tool with the streams of this process. `args` starts with the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(run(args, &mut io::stderr()))
}

/// Runs the tool and gives its exit code. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, errors: &mut dyn Write) -> u8 {
    let message = match options::parse(args) {
        Parsed::Stop(message) => message,
        Parsed::Run(program, options) => match copy(&options) {
            Ok(()) => return 0,
            Err(Stop::Said(message)) => format!("{program}: {message}"),
            Err(Stop::Failed(error)) => format!("{}\nLocation: {}", error.code.text(), error.what),
        },
    };
    // There is nowhere to tell that this failed.
    let _ = writeln!(errors, "{message}");
    1
}

fn copy(options: &Options) -> Result<(), Stop> {
    if is_same(&options.input, &options.output) {
        return Err(Stop::Said("output would overwrite input".to_string()));
    }
    let input = open(options)?;
    let source = input.model();
    for spec in &options.chunkspecs {
        chunkspec::check(&source, spec)?;
    }
    let wanted = schema::wanted_vars(&source, options)?;
    let format = output_format(input.format(), options);
    // What cannot be defined shall not cost an existing file its content.
    schema::copy(&source, &mut Model::new(format), options, &wanted)?;
    let output = create(options, format)?;
    output.set_no_fill(true)?;
    let pairs = output.define(|model| schema::copy(&source, model, options, &wanted))?;
    output.commit()?;
    let pairs: Vec<(VarId, VarId)> = pairs.into_iter().filter(|(var, _)| wanted.contains(var)).collect();

    let bytes = pairs.iter().map(|&(var, _)| data_bytes(&input, var)).sum();
    let mut progress = Progress::new("copying", bytes);
    ferrocdf::copy_data(&input, &output, &pairs, options.buffer, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    if !options.write_in_memory {
        return Ok(output.close()?);
    }
    let bytes = output.into_bytes()?.unwrap_or_default();
    std::fs::write(&options.output, bytes)
        .map_err(|error| Error::system(&error, options.output.display()))?;
    Ok(())
}

fn open(options: &Options) -> Result<File> {
    if options.read_in_memory {
        return open_in_memory(&options.input);
    }
    File::open(&options.input)
}

fn create(options: &Options, format: Format) -> Result<FileMut> {
    let create = CreateOptions::format(format);
    if options.write_in_memory {
        FileMut::in_memory(&create)
    } else {
        FileMut::create(&options.output, &create)
    }
}

/// The kind asked for; else netCDF-4 classic model where compression or chunking was asked for; else the input's.
fn output_format(input: Format, options: &Options) -> Format {
    match options.kind {
        Some(kind) => kind,
        None if input.is_classic_file() && options.wants_netcdf4() => Format::Netcdf4Classic,
        None => input,
    }
}

/// Whether two names are of the same file, through whatever links. The reference compares the names only and would empty
/// its own input.
fn is_same(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => a == b,
    }
}

fn data_bytes(file: &File, var: VarId) -> u64 {
    let model = file.model();
    let size = model.atomic_type(var).map_or(0, |atomic| atomic.size() as u64);
    model.shape(var).iter().fold(size, |bytes, &len| bytes.saturating_mul(len))
}
