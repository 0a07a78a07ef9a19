//! `ncdump`: datasets as text.
//!
//! Options, exit codes and messages are those of the reference's `ncdump`, so that scripts see no difference. Where a
//! file cannot be read, a line more says why and where.

mod command;
mod source;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ferrocdf::{Error, Model, Owner};
use ferrocdf_cdl::print::{PrintFailure, print_cdl, print_ncml};

use crate::input::Input;
use crate::says;
pub use command::options_text;
use command::{CommandLine, Job, Task, What};
use source::FileSource;

/// Runs the tool: `args` begins with the program's name. Returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
    main_then(drop, false, args, out, err)
}

/// The same for a process that ends then, which gives all memory back at once.
pub fn main_at_exit(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    main_then(std::mem::forget, false, args, out, err)
}

/// Runs `ferrocdf dump`: `ncdump` with all names escaped that could be taken for something else.
pub fn dump(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
    main_then(drop, true, args, out, err)
}

/// The same for a process that ends then, which gives all memory back at once.
pub fn dump_at_exit(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    main_then(std::mem::forget, true, args, out, err)
}

/// The same, with what becomes of a file that was printed, and whether names are escaped.
fn main_then(
    done: fn(FileSource),
    escape_names: bool,
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = args.first().cloned().unwrap_or_else(|| "ncdump".into());
    let complain = |err: &mut dyn Write, message: &[u8]| {
        // There is no place to report a failure to write the report.
        let _ = err.write_all(&[program.as_bytes(), b": ", message, b"\n"].concat());
        1
    };
    let mut job = match command::parse(args) {
        CommandLine::Job(job) => *job,
        CommandLine::Refused(message) => return complain(err, &message),
        CommandLine::Usage { before, code } => {
            let _ = err.write_all(&before);
            let _ = err.write_all(&command::usage(program.as_bytes()));
            return code;
        }
    };
    job.options.escape_names = escape_names;
    match run(&job, &program.to_string_lossy(), out, err, done) {
        Ok(()) => 0,
        Err(PrintStop::Quiet) => 1,
        Err(PrintStop::Unopened(error)) => {
            let code = complain(err, &[job.path.as_bytes(), b": ", error.code.text().as_bytes()].concat());
            let why = says::without_path(&error, Path::new(&job.path));
            if !why.is_empty() {
                let _ = writeln!(err, "  {why}");
            }
            code
        }
        Err(PrintStop::Printing(PrintFailure::Refused(message))) => complain(err, &message),
        Err(PrintStop::Printing(PrintFailure::Source(error))) => {
            let _ = writeln!(err, "{}", says::at_location(&error));
            1
        }
        // Whoever read the output has seen enough: what a shell reports when SIGPIPE ends a program.
        Err(PrintStop::Printing(PrintFailure::Output(error)))
            if error.kind() == io::ErrorKind::BrokenPipe =>
        {
            141
        }
        Err(PrintStop::Printing(PrintFailure::Output(error))) => {
            let error = Error::system(error, "");
            complain(err, format!("standard output: {}", error.code.text()).as_bytes())
        }
    }
}

/// Why the tool stopped.
enum PrintStop {
    /// The reference says nothing here.
    Quiet,
    Unopened(Error),
    Printing(PrintFailure),
}

impl From<PrintFailure> for PrintStop {
    fn from(failure: PrintFailure) -> Self {
        PrintStop::Printing(failure)
    }
}

impl From<io::Error> for PrintStop {
    fn from(error: io::Error) -> Self {
        PrintStop::Printing(PrintFailure::Output(error))
    }
}

fn run(
    job: &Job,
    program: &str,
    out: &mut dyn Write,
    err: &mut dyn Write,
    done: fn(FileSource),
) -> Result<(), PrintStop> {
    let Task { what, in_memory, .. } = job.command;
    let path = Path::new(&job.path);
    let shows_attributes = matches!(what, What::Cdl | What::NcMl);
    let input = Input::open(path, in_memory, shows_attributes).map_err(PrintStop::Unopened)?;
    let format = input.file.format();
    match what {
        What::Kind => writeln!(out, "{}", format.kind_name())?,
        What::ExtendedKind => {
            let by_netcdf = input.file.is_written_by_netcdf();
            writeln!(out, "{}", command::extended_kind(format, by_netcdf, in_memory))?;
        }
        What::Cdl | What::NcMl => {
            if !job.options.header_only {
                input.warn_of_missing(program, path, "print as zeros", err);
            }
            let source = FileSource { model: Arc::clone(&input.file.model()), file: input.file };
            if !job.options.groups.is_empty() && !format.is_enhanced() {
                return Err(PrintStop::Quiet);
            }
            if what == What::Cdl {
                print_cdl(&source, &job.options, out)?;
            } else if format.is_enhanced() {
                let text = "NcML output (-x) currently only permitted for netCDF classic model";
                return Err(PrintFailure::Refused(text.into()).into());
            } else {
                print_ncml(&source, &job.options, out)?;
            }
            if let Some(error) = source.file.lost() {
                return Err(PrintFailure::Source(error).into());
            }
            if let Some(error) = missing_attributes(&source.model) {
                return Err(PrintFailure::Source(error.at(path.display())).into());
            }
            done(source);
        }
    }
    out.flush()?;
    Ok(())
}

/// Why attributes were not printed, if some could not be read.
fn missing_attributes(model: &Model) -> Option<Error> {
    let groups = model.group_ids().map(Owner::Group).map(|owner| (owner, None));
    let vars = model.var_ids().map(|var| (Owner::Var(var), Some(var)));
    groups.chain(vars).find_map(|(owner, var)| {
        let error = model.attrs(owner).failure()?.clone();
        Some(match var {
            Some(var) => error.at_path(model.var_path(var)),
            None => error,
        })
    })
}

/// Runs the tool with the streams of a process that ends then; gives its exit code. `args` starts with the program's name.
pub fn process(args: impl IntoIterator<Item = OsString>) -> u8 {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr());
    main_at_exit(args, &mut out, &mut err) as u8
}
