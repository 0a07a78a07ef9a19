//! `nccopy`: copies a netCDF file, perhaps to another kind.
//!
//! Takes every command line of the reference's `nccopy` and answers with the same exit codes and the same first lines of
//! errors. `-5` works, which the reference documents and then refuses. A copy leaves elements that the source never
//! gave undefined, as the reference does.

mod chunkspec;
mod codecs;
pub(crate) mod filterspec;
mod names;
pub(crate) mod options;
mod schema;
mod shardspec;
mod verify;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use ferrocdf::model::Chunking;
use ferrocdf::{
    Code, Container, CreateOptions, Error, File, FileMut, Format, Model, OpenOptions, Result, VarId,
    ZarrOptions, errno,
};

use crate::input::{ALLOWED_MISSING, Input, Overlap, overlap};
use crate::kinds;
use crate::progress::Progress;
use crate::says;
use crate::sources::check_overwritten;
use crate::target::{Target, remove_on_signals};
use crate::zarr_readers;
pub use options::OPTIONS_TEXT;
use options::{MissingSources, Options, Parsed};
use schema::Wanted;

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

/// What becomes of what other HDF5 programs write and netCDF does not allow: names, and fill values of other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Refused, as by the reference: `nccopy`.
    Refused,
    /// Copied as what netCDF allows, with a line on each: `ferrocdf copy`.
    Mapped,
    /// Refused by `ferrocdf copy --strict`.
    Strict,
}

/// True if an option was among the words of a command line, from which it is taken out.
pub(crate) fn takes(args: &mut Vec<OsString>, option: &str) -> bool {
    let before = args.len();
    args.retain(|word| word != option);
    args.len() < before
}

/// Runs the tool with the streams of this process and gives its exit code. `args` starts with the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    main_with(Foreign::Refused, &OpenOptions::default(), args)
}

/// Runs `ferrocdf copy`: [`main`], and what netCDF does not allow is mapped or refused. The source is opened with `opening`.
pub fn main_with(foreign: Foreign, opening: &OpenOptions, args: impl IntoIterator<Item = OsString>) -> u8 {
    remove_on_signals();
    run_with(foreign, opening, args, &mut io::stderr())
}

/// Runs the tool and gives its exit code. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, errors: &mut dyn Write) -> u8 {
    run_with(Foreign::Refused, &OpenOptions::default(), args, errors)
}

/// Runs the tool as [`run`] does. `foreign` says what becomes of things that netCDF does not allow; `opening` is how the source is opened.
pub fn run_with(
    foreign: Foreign,
    opening: &OpenOptions,
    args: impl IntoIterator<Item = OsString>,
    errors: &mut dyn Write,
) -> u8 {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let missing_sources = match foreign {
        Foreign::Refused => MissingSources::Warned,
        Foreign::Mapped | Foreign::Strict => MissingSources::of_option(takes(&mut args, "--fill-missing")),
    };
    let done = match options::parse(args) {
        Parsed::Stop(message) => Err(message),
        Parsed::Run(program, options) => {
            let options = Options { missing_sources, ..*options };
            copy_told(&program, foreign, opening, &options, errors)
        }
    };
    let Err(message) = done else { return 0 };
    // There is nowhere to tell that this failed.
    let _ = writeln!(errors, "{message}");
    1
}

/// Makes the copy. An error is the message that the tool ends with.
pub(crate) fn copy_told(
    program: &str,
    foreign: Foreign,
    opening: &OpenOptions,
    options: &Options,
    errors: &mut dyn Write,
) -> Result<(), String> {
    match copy(program, foreign, opening, options, errors) {
        Ok(Complete::All) => Ok(()),
        Ok(Complete::Without(error)) => {
            let why = says::once(&error);
            Err(format!("{program}: the copy is there, and lacks what cannot be read: {why}"))
        }
        Err(Stop::Said(message)) => Err(format!("{program}: {message}")),
        Err(Stop::Failed(error)) => Err(says::at_location(&error)),
    }
}

/// What a copy has that was made.
enum Complete {
    /// All that was asked for.
    All,
    /// All but what cannot be read, for this reason in the first place.
    Without(Error),
}

fn copy(
    program: &str,
    foreign: Foreign,
    opening: &OpenOptions,
    options: &Options,
    errors: &mut dyn Write,
) -> Result<Complete, Stop> {
    match overlap(&options.input, &options.output).filter(|_| !options.in_place) {
        None => {}
        Some(Overlap::Overwrites) => return Err(Stop::Said("output would overwrite input".to_string())),
        Some(Overlap::Within) => return Err(Stop::Said("output would lie within input".to_string())),
    }
    if !options.in_place && options.output.exists() {
        check_overwritten(std::slice::from_ref(&options.input), &options.output)
            .map_err(|error| Stop::Said(says::sentence(&error)))?;
    }
    if let (Some(format), Some(zarr)) = (options.kind, &options.zarr)
        && let Some(why) = kinds::contradiction(&options.output, format, zarr)
    {
        return Err(Stop::Said(why));
    }
    let opening = opening.clone().all_attributes(true);
    let before = options.in_place.then(|| version(&options.input)).transpose()?;
    let input = Input::open_with(&options.input, options.read_in_memory, &opening)?;
    let source = input.file.model();
    for spec in &options.chunkspecs {
        chunkspec::check(&source, spec)?;
    }
    if let Some(spec) = &options.shardspec {
        shardspec::check(&source, spec)?;
    }
    let mut wanted = schema::wanted(&source, options)?;
    let without_data = wanted.leave_out_unreadable(&input.file, options)?;
    let copied = source.var_ids().filter(|var| wanted.vars.contains(var));
    let missing_sources = check_sources(&input.file, copied, options)?;
    if let Some(warning) = missing_sources {
        print(errors, program, &format_args!("warning: {warning}"));
    }
    let format = output_format(source.format(), options);
    if options.shardspec.is_some() && format.container() != Container::ZarrV3 {
        let what = "--shards: only Zarr 3 stores have shards (-k nczarr3, -k zarr3)";
        return Err(Stop::Said(what.to_string()));
    }
    let zarr = options.zarr.or_else(|| asked_by(options).map(|(_, zarr)| zarr)).unwrap_or_default();
    // A fill value of version 2 is a missing value to xarray, so it is kept only where it is one in the source.
    wanted.keeps_zarr_fill = match (source.format().container(), format.container()) {
        (Container::ZarrV2, Container::ZarrV2) => !zarr.nczarr,
        (Container::ZarrV2 | Container::ZarrV3, Container::ZarrV3) => true,
        _ => false,
    };
    if !format.has_cdf_model() {
        // The elements of an empty variable are still to be written. An error is one of the copy too, which tells it.
        let has_unwritten =
            |&var: &VarId| source.shape(var).contains(&0) || input.file.has_unwritten(var).unwrap_or(false);
        wanted.in_part = wanted.vars.iter().copied().filter(has_unwritten).collect();
    }
    let (source, mapped) = match foreign {
        Foreign::Mapped => {
            let (legal, mapped) = names::legal(&source, format)?;
            (Arc::new(legal), mapped)
        }
        Foreign::Refused | Foreign::Strict => (source, vec![]),
    };
    // An input that is not there or cannot be defined must not cost an existing output its content.
    let mut tried = Model::new(format);
    let pairs =
        schema::copy(&source, &mut tried, options, &wanted).map_err(|error| advised(error, foreign))?;
    check_length(&input, pairs.iter().map(|&(var, _)| var))?;
    input.warn_of_missing(program, &options.input, "are copied as zeros", errors);
    let input = input.file;
    let strangers = options.filterspecs.iter().flat_map(|spec| spec.strangers(&source));
    let strangers = strangers.map(|name| format!("-F: {} has no variable {name:?}", options.input.display()));
    let skipped = match foreign {
        Foreign::Refused => input.skipped_netcdf_objects(),
        Foreign::Mapped | Foreign::Strict => input.skipped(),
    };
    let skipped = skipped.into_iter().map(|object| format!("skipped: {object}"));
    let rounded = pairs.iter().filter(|pair| schema::is_rounded_again(&source, &tried, pair)).map(|&(var, _)| {
        let path = source.var_path(var);
        format!("{path}: its values are rounded again, to digits of its new chunks; -F \"{path},none\" keeps them")
    });
    let dropped = pairs.iter().filter_map(|pair| {
        let codecs = codecs::dropped(&source, &tried, options, pair);
        let path = source.var_path(pair.0);
        (!codecs.is_empty()).then(|| format!("{path}: copied without the codecs {}", codecs.join(", ")))
    });
    let unsharded = pairs.iter().filter_map(|&pair| shardspec::warning(&source, &tried, pair));
    let cut = pairs.iter().filter_map(|&pair| chunkspec::warning(&source, &tried, options, pair));
    let mut how = CreateOptions::format(format);
    how.zarr = zarr;
    let mut target = Target::new_dataset(&options.output, &mut how)?;
    if let Some(before) = before {
        target = target.replacing_only_copy()?;
        // Writers cannot have it any more. One may have had it before.
        if version(&options.input)? != before {
            return Err(Stop::Said(format!("{}: it changed while it was read", options.input.display())));
        }
        if let Some(why) = input.lost().or(without_data.clone()) {
            return Err(Stop::Failed(why));
        }
    }
    let unread = zarr_readers::warnings(&tried, how.zarr.nczarr);
    let told = strangers.chain(skipped).chain(rounded).chain(dropped).chain(unsharded).chain(cut);
    for told in told.chain(mapped).chain(unread) {
        print(errors, program, &told);
    }
    target.named(write(&input, &source, &target, options, &wanted, &how))?;
    if options.verifies {
        let copied = pairs.iter().map(|pair| pair.0).filter(|var| wanted.vars.contains(var));
        target.named(target.open().and_then(|made| verify::check(&input, &made, copied, options)))?;
    }
    target.replace()?;
    // With `-V` and `-G` all that is asked for is there, since it has been found.
    let named_only =
        [&options.vars, &options.groups].into_iter().flatten().any(|choice| !choice.keep_definitions);
    let missing = input.lost().filter(|_| !named_only).or(without_data);
    Ok(missing.map_or(Complete::All, Complete::Without))
}

/// Prints a line. The copy goes on where it cannot be printed.
fn print(errors: &mut dyn Write, program: &str, line: &dyn Display) {
    let _ = writeln!(errors, "{program}: {line}");
}

/// Checks that no source of a virtual dataset lacks elements, which the copy has as fill values. Returns a warning.
///
/// # Errors
/// That of a copy which must not have such fill values; those of the sources.
fn check_sources(
    input: &File,
    vars: impl Iterator<Item = VarId>,
    options: &Options,
) -> Result<Option<String>, Stop> {
    if options.missing_sources == MissingSources::Filled {
        return Ok(None);
    }
    let Err(error) = input.check_sources(vars) else { return Ok(None) };
    let place = format!("{}: {}", options.input.display(), says::once(&error));
    match options.missing_sources {
        _ if error.code != errno::NOENT => Err(Stop::Failed(error)),
        MissingSources::Warned => Ok(Some(format!("{place}; they are copied as fill values"))),
        _ => Err(Stop::Said(format!("{place}; --fill-missing copies them as fill values"))),
    }
}

/// Returns the inode number, the size and the modification time of a file. They are other ones after a write.
fn version(path: &Path) -> Result<(u64, u64, i64, i64)> {
    let about = std::fs::metadata(path).map_err(|error| Error::system(error, path.display()))?;
    Ok((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

/// An error about what netCDF does not allow, with what can be done.
fn advised(error: Error, foreign: Foreign) -> Error {
    let is_foreign = matches!(error.code, Code::EBADNAME | Code::EMAXNAME)
        || (error.code == Code::EBADTYPE && error.what.contains("_FillValue"));
    let advice = match foreign {
        Foreign::Refused if is_foreign => "`ferrocdf copy` copies it as what netCDF allows",
        Foreign::Strict if is_foreign => "without --strict it is copied as what netCDF allows",
        _ => return error,
    };
    Error::new(error.code, format!("{}; {advice}", error.what))
}

/// Writes the copy to the file that `target` names.
fn write(
    input: &File,
    source: &Model,
    target: &Target,
    options: &Options,
    wanted: &Wanted,
    how: &CreateOptions,
) -> Result<()> {
    let output = create(target, options, how)?;
    output.set_no_fill(!options.keeps_fill)?;
    let pairs = output.define(|model| schema::copy(source, model, options, wanted))?;
    let pairs: Vec<(VarId, VarId)> = pairs.into_iter().filter(|(var, _)| wanted.vars.contains(var)).collect();
    let in_part: Vec<(VarId, VarId)> =
        pairs.iter().copied().filter(|(var, _)| wanted.in_part.contains(var)).collect();
    ferrocdf::keep_unwritten(input, &output, &in_part)?;
    output.commit()?;
    if options.metadata_first {
        output.reserve_indexes(&chunks_of_copy(input, &output.model(), &pairs)?)?;
    }

    let bytes = pairs.iter().map(|&(var, _)| data_bytes(input, var)).sum();
    let mut progress = Progress::new("copying", bytes);
    ferrocdf::copy_data(input, &output, &pairs, options.buffer, &mut |bytes| progress.add(bytes))?;
    drop(progress);
    if kinds::is_zarr(how.format) {
        // The store says what the source says of elements that are still to come.
        output.define(|model| {
            for &(var, to) in &pairs {
                model.var_mut(to).storage.no_fill = source.var(var).storage.no_fill;
            }
            Ok(())
        })?;
    }
    if !options.write_in_memory {
        return output.close();
    }
    target.write(&output.into_bytes()?.unwrap_or_default())
}

/// Returns the number of chunks that each chunked variable of the copy is going to have at most.
fn chunks_of_copy(input: &File, target: &Model, pairs: &[(VarId, VarId)]) -> Result<Vec<(VarId, u64)>> {
    let source = input.model();
    let mut counts = vec![];
    for &(var, to) in pairs {
        let Some(Chunking::Chunked(chunk)) = &target.var(to).storage.chunking else { continue };
        let lens = source.shape(var).into_iter().zip(chunk);
        let all = lens.fold(1, |all: u64, (len, &chunk)| all.saturating_mul(len.div_ceil(chunk.max(1))));
        let same = source.var(var).storage.chunking == target.var(to).storage.chunking;
        let stored =
            if same { input.variable_of(var).storage()?.chunks.map(|chunks| chunks.stored) } else { None };
        counts.push((to, stored.unwrap_or(all).min(all)));
    }
    Ok(counts)
}

/// Checks that the variables to be defined lie in the file, but for a few bytes: the copy would have room for all that
/// the header promises, which may be any number of bytes.
fn check_length(input: &Input, vars: impl Iterator<Item = VarId>) -> Result<()> {
    if input.missing <= ALLOWED_MISSING {
        return Ok(());
    }
    let size = input.file.size()?;
    let mut cut = vec![];
    for var in vars {
        if input.file.variable_of(var).storage()?.end.is_some_and(|end| end > size) {
            cut.push(input.file.model().var_path(var));
        }
    }
    if cut.is_empty() {
        return Ok(());
    }
    let more = cut.len().saturating_sub(NAMED);
    cut.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!(
        "the file has {size} bytes, its header promises {} more; there is no data, or not all, for {}{more} (-V copies \
         only the variables it names)",
        input.missing,
        cut.join(", ")
    );
    Err(Error::new(Code::ETRUNC, what).at(input.file.path().display()))
}

/// How many variables a message names.
const NAMED: usize = 5;

fn create(target: &Target, options: &Options, how: &CreateOptions) -> Result<FileMut> {
    if options.write_in_memory { FileMut::in_memory(how) } else { target.create(how) }
}

/// What the name of the output asks for, where that is a Zarr store.
fn asked_by(options: &Options) -> Option<(Format, ZarrOptions)> {
    kinds::zarr_of_output(&options.output, options.kind)
}

/// The kind asked for, or that of a Zarr store where the name of the output asks for one; else netCDF-4 classic model where compression
/// or chunking was asked for; else the input's.
fn output_format(input: Format, options: &Options) -> Format {
    match asked_by(options).map(|(format, _)| format).or(options.kind) {
        Some(kind) => kind,
        None if !options.filterspecs.is_empty() => Format::NETCDF4,
        None if input.has_cdf_model() && options.wants_netcdf4() => Format::NETCDF4_CLASSIC,
        None => input.native(),
    }
}

fn data_bytes(file: &File, var: VarId) -> u64 {
    let model = file.model();
    let size = model.atomic_type(var).map_or(0, |atomic| atomic.size() as u64);
    model.shape(var).iter().fold(size, |bytes, &len| bytes.saturating_mul(len))
}
