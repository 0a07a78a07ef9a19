//! `ferrocdf join`: files joined along a dimension into one file.

use std::path::{Path, PathBuf};

use clap::Args;
use ferrocdf::join::{JoinEvent, JoinOptions, join_virtual, verify};
use ferrocdf::store::{folder_of, resolve_links};
use ferrocdf::{Code, CreateOptions, Error, File, Format, Location, Result, errno};

use crate::input::{check_output, local, location};
use crate::kinds::{is_zarr, zarr_of_output};
use crate::progress::{Progress, RemoteProgress, print_line};
use crate::sources::check_overwritten;
use crate::target::{Target, remove_on_signals};
use crate::{date, says};

const PROGRAM: &str = "ferrocdf join";

/// The command line.
#[derive(Args)]
pub struct JoinArgs {
    /// The dimension along which files are joined; the unlimited one unless given. It is unlimited in the new file.
    #[arg(long, value_name = "DIMENSION")]
    dimension: Option<String>,
    /// Copy no elements of variables with the dimension: refer to those of the files, which must be netCDF-4 or other HDF5 files and stay where they
    /// are, seen from the new file. The dimension has a fixed length in the new file.
    #[arg(long)]
    r#virtual: bool,
    /// Convert times of files with other units, such as another reference date, to the units of the first file, and their bounds too. Calendars must
    /// be equal. A whole number that would be cut is refused.
    #[arg(long)]
    convert_times: bool,
    /// Copy elements of virtual datasets whose source files are missing as fill values, instead of refusing the file.
    #[arg(long)]
    fill_missing: bool,
    /// Compare the new file with all files, before it takes its name: dimensions, attributes and values.
    #[arg(long)]
    verify: bool,
    /// Leave the attribute `history` as it is in the first file; otherwise the date and this command are put before it.
    #[arg(long)]
    no_history: bool,
    /// The file to write, of the kind of the first file.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The files, in the order of their elements: netCDF-4 or classic files, paths or URLs (http, https, s3, gs, az). They must have the same
    /// variables, types, units and scales, and the same values in variables without the dimension.
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
}

/// Joins files. Returns the exit code.
pub fn run(args: &JoinArgs) -> u8 {
    remove_on_signals();
    match join(args) {
        Ok(()) => 0,
        Err(error) => {
            print_line(&format!("{PROGRAM}: {}", says::sentence(&error)));
            1
        }
    }
}

fn join(args: &JoinArgs) -> Result<()> {
    let output = local(args.output.clone());
    check_output(&args.inputs, &output)?;
    check_place(&output)?;
    if args.r#virtual || output.exists() {
        check_overwritten(&args.inputs, &output)?;
    }
    let inputs: Vec<Location> = args.inputs.iter().map(|input| location(input)).collect::<Result<_>>()?;
    let Some(first) = inputs.first() else { return Ok(()) };
    let _shown = RemoteProgress::of(first, "reading");
    let first = File::open_location(first, &Default::default())?;
    for object in first.skipped() {
        eprintln!("{PROGRAM}: skipped: {object}");
    }
    // What is no file is refused by the library, with the reason.
    let format = first.format().native();
    let mut how = CreateOptions::format(if is_zarr(format) { Format::NETCDF4 } else { format });
    drop(first);
    let target = Target::new_dataset(&output, &mut how)?;
    let sizes: Vec<u64> = args.inputs.iter().map(|input| size(input)).collect();
    let mut progress = Progress::new("joining", sizes.iter().sum());
    let mut left = sizes.iter();
    let mut report = |event: JoinEvent<'_>| match event {
        JoinEvent::Warning(warning) => print_line(&format!("{PROGRAM}: warning: {warning}")),
        _ => progress.add(left.next().copied().unwrap_or_default()),
    };
    let file = target.named(target.create(&how))?;
    let options = JoinOptions {
        dimension: args.dimension.clone(),
        convert_times: args.convert_times,
        fill_missing: args.fill_missing,
        history: (!args.no_history).then(|| history(args)),
    };
    let done = if args.r#virtual {
        let path = resolve_links(&output).unwrap_or_else(|| output.clone());
        join_virtual(&inputs, &file, folder_of(&path), &options, &mut report)
    } else {
        ferrocdf::join::join(&inputs, &file, &options, &mut report)
    };
    target.named(done.and_then(|()| file.close()))?;
    drop(progress);
    if args.verify {
        let mut progress = Progress::new("comparing", sizes.iter().sum());
        let mut left = sizes.iter();
        let mut report = |_: JoinEvent<'_>| progress.add(left.next().copied().unwrap_or_default());
        let made = target.open();
        target.named(made.and_then(|made| verify(&inputs, &made, args.r#virtual, &options, &mut report)))?;
    }
    target.replace()
}

/// # Errors
/// `NC_EINVAL` for an output that is a folder, or whose name asks for a Zarr store; `ENOENT` for one in a folder that is not there.
fn check_place(output: &Path) -> Result<()> {
    let refused = |code, what: &str| Err(Error::new(code, what).at(output.display()));
    if zarr_of_output(output, None).is_some() {
        let what = "its name asks for a Zarr store, and files are joined into a netCDF-4 or a classic file; `ferrocdf copy` makes a Zarr \
                    store of the joined file";
        return refused(Code::EINVAL, what);
    }
    if !matches!(location(output)?, Location::Path(_)) {
        return Ok(());
    }
    if output.is_dir() {
        return refused(Code::EINVAL, "it is a folder; name a file in it for the joined file");
    }
    if !folder_of(output).exists() {
        return refused(errno::NOENT, "the folder of the joined file is not there; make it first");
    }
    Ok(())
}

/// Names of inputs that the attribute `history` has: attributes of many kilobytes are in the way of readers.
const NAMED: usize = 20;

/// Returns the line for the attribute `history`: when, and the command, as NCO and CDO write it.
fn history(args: &JoinArgs) -> String {
    let names = args.inputs.iter().map(|input| input.display().to_string());
    let options = [
        args.dimension.as_ref().map(|dimension| format!("--dimension {dimension}")),
        args.r#virtual.then(|| "--virtual".to_string()),
        args.convert_times.then(|| "--convert-times".to_string()),
        args.fill_missing.then(|| "--fill-missing".to_string()),
        args.verify.then(|| "--verify".to_string()),
    ];
    let more = args.inputs.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("(and {more} more)"));
    let output = format!("-o {}", args.output.display());
    let words = options.into_iter().flatten().chain(names.take(NAMED)).chain(more).chain([output]);
    let words: Vec<String> = words.collect();
    format!("{}: {PROGRAM} {}", date::now(), words.join(" "))
}

/// Returns the size of a file; that of a remote one is not asked for.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |about| about.len())
}
