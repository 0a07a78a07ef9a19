//! `ferrocdf join`: files joined along a dimension into one file.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use clap::Args;
use ferrocdf::join::join_virtual;
use ferrocdf::store::{folder_of, resolve_links};
use ferrocdf::{Code, CreateOptions, Error, File, Location, Result};

use crate::input::{check_output, local, location, overlap};
use crate::progress::{Progress, RemoteProgress};
use crate::target::{Target, remove_on_signals};

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
            eprintln!("ferrocdf join: {error}");
            1
        }
    }
}

fn join(args: &JoinArgs) -> Result<()> {
    check_output(&args.inputs, &args.output)?;
    if args.r#virtual || args.output.exists() {
        check_sources(&args.inputs, &args.output)?;
    }
    let inputs: Vec<Location> = args.inputs.iter().map(|input| location(input)).collect::<Result<_>>()?;
    let Some(first) = inputs.first() else { return Ok(()) };
    let _shown = RemoteProgress::of(first, "reading");
    let first = File::open_location(first, &Default::default())?;
    for object in first.skipped() {
        eprintln!("ferrocdf join: skipped: {object}");
    }
    let mut how = CreateOptions::format(first.format().native());
    drop(first);
    let target = Target::new_dataset(&args.output, &mut how)?;
    let sizes: Vec<u64> = args.inputs.iter().map(|input| size(input)).collect();
    let mut progress = Progress::new("joining", sizes.iter().sum());
    let mut left = sizes.iter();
    let mut joined = || progress.add(left.next().copied().unwrap_or_default());
    let file = target.named(target.create(&how))?;
    let dimension = args.dimension.as_deref();
    let done = if args.r#virtual {
        let path = local(args.output.clone());
        let path = resolve_links(&path).unwrap_or(path);
        join_virtual(&inputs, &file, folder_of(&path), dimension, &mut joined)
    } else {
        ferrocdf::join::join(&inputs, &file, dimension, &mut joined)
    };
    target.named(done.and_then(|()| file.close()))?;
    drop(progress);
    target.replace()
}

/// # Errors
/// `NC_EINVAL` if the output is a file that an input has data in, so that the data would be lost, or a virtual file would refer to itself.
fn check_sources(inputs: &[PathBuf], output: &Path) -> Result<()> {
    let mut seen: HashSet<PathBuf> = inputs.iter().cloned().collect();
    let mut rest: Vec<PathBuf> = inputs.iter().rev().cloned().collect();
    while let Some(path) = rest.pop() {
        for source in sources(&path) {
            if overlap(&source, output).is_some() {
                let what = format!(
                    "the output would overwrite {}, which {} has data in",
                    source.display(),
                    path.display()
                );
                return Err(Error::new(Code::EINVAL, what).at(output.display()));
            }
            if seen.insert(source.clone()) {
                rest.push(source);
            }
        }
    }
    Ok(())
}

/// Returns the other files that the variables of a local file have data in; none if it cannot be opened, as files of raw data cannot.
fn sources(path: &Path) -> BTreeSet<PathBuf> {
    let path = local(path.to_path_buf());
    let path = resolve_links(&path).unwrap_or(path);
    let file = path.is_file().then(|| File::open(&path).ok()).flatten();
    let Some(file) = file else { return BTreeSet::new() };
    let mut names = BTreeSet::new();
    for id in file.model().var_ids() {
        let Ok(sources) = file.variable_of(id).sources() else { continue };
        names.extend(sources.external);
        // A percent sign is written twice in names of virtual sources.
        names.extend(sources.virtual_sources.into_iter().map(|(name, _)| name.replace("%%", "%")));
    }
    names.remove(".");
    let folder = folder_of(&path);
    let beside = |name: String| {
        let path = folder.join(&name);
        // As readers look for it: by its path, or else beside the file.
        let found = match path.file_name() {
            Some(last) if !path.exists() => folder.join(last),
            _ => path,
        };
        // One path for each file, so that files which refer to each other are looked at once.
        found.canonicalize().unwrap_or(found)
    };
    names.into_iter().map(beside).collect()
}

/// Returns the size of a file; that of a remote one is not asked for.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |about| about.len())
}
