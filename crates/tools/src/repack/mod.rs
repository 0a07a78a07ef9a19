//! `ferrocdf repack`: netCDF-4 files laid out for readers over a network.
//!
//! The copy is made by [`nccopy`](crate::nccopy), which moves chunks without decoding them where their shape and their filters stay.
//! What is new here are the files that are repacked, and the chunks that they get.

mod plan;
mod tree;

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::Builder;

use ferrocdf::{Code, Container, Error, File, OpenOptions, Result};

use crate::input::location;
use crate::nccopy::options::{DEFAULT_BUFFER, MissingSources, Options};
use crate::nccopy::{Foreign, copy_told};
use crate::progress::print_line;
use crate::says;
use crate::target::remove_on_signals;
use plan::{ChunkWishes, plan};
use tree::Skipped;

const PROGRAM: &str = "ferrocdf repack";

/// Files that are repacked at once, at most: each needs buffers of its own.
const MAX_AT_ONCE: usize = 8;

/// Rules that a repacked file follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CloudRules {
    /// All metadata lies in front of the elements.
    Metadata,
    /// The rules of CMIP7: also time and its bounds in one chunk each, other chunks of at least 4 MiB, and all chunks compressed.
    Cmip7,
}

/// The command line of `ferrocdf repack`.
#[derive(Debug, clap::Args)]
pub struct RepackArgs {
    /// Put all metadata in front of the elements, so that a reader opens the file with one request. With `=cmip7`, follow the rules of
    /// CMIP7 too: time and its bounds in one chunk each, other chunks of at least 4 MiB, and shuffle and deflate where chunks had no
    /// filter.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "metadata")]
    cloud: Option<CloudRules>,
    /// Chunk shape of a variable, such as `tas=100,180,360`. Can be given several times.
    #[arg(long, value_name = "NAME=N,N,...", value_parser = chunk_shape)]
    chunks: Vec<(String, Vec<u64>)>,
    /// Make chunks of fewer bytes larger, of whole chunks along the first dimension: 4MiB, 8000000.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    target_chunk: Option<u64>,
    /// Compare each new file with the old one, before it takes its place.
    #[arg(long)]
    verify: bool,
    /// Copy elements of virtual datasets whose source files are missing as fill values, instead of refusing the file.
    #[arg(long)]
    fill_missing: bool,
    /// Put each new file in the place of the old one, once the disk has it. All paths are inputs then. Files that hold more than a netCDF
    /// library writes, or whose folder takes no new file, are refused.
    #[arg(long)]
    in_place: bool,
    /// Repack all HDF5 files in folders, and in those below them. Symbolic links are not followed. Files that are skipped are counted.
    #[arg(short, long)]
    recursive: bool,
    /// Name all files that -r skips, not only the first ones.
    #[arg(short, long)]
    verbose: bool,
    /// The files to read, and the file or folder to write.
    #[arg(required = true, value_name = "IN... OUT")]
    paths: Vec<PathBuf>,
}

/// Repacks the files of a command line, and gives the exit code. A file that cannot be repacked does not keep the others from it.
pub fn run(args: RepackArgs) -> u8 {
    remove_on_signals();
    let has_failed = AtomicBool::new(false);
    let fail = |message: &str| {
        print_line(message);
        has_failed.store(true, Relaxed);
    };
    let Jobs { jobs, unreadable, skipped } = jobs(&args).unwrap_or_else(|message| {
        fail(&format!("{PROGRAM}: {message}"));
        Jobs::default()
    });
    unreadable.iter().for_each(|message| fail(&format!("{PROGRAM}: {message}")));
    skipped.lines(args.verbose).iter().for_each(|line| print_line(&format!("{PROGRAM}: {line}")));
    let cmip7 = args.cloud == Some(CloudRules::Cmip7);
    let wishes = ChunkWishes { shapes: args.chunks, least: args.target_chunk, cmip7 };
    let how = RepackOptions {
        wishes,
        metadata_first: args.cloud.is_some(),
        verifies: args.verify,
        in_place: args.in_place,
        missing_sources: MissingSources::of_option(args.fill_missing),
    };
    let groups = by_file(jobs);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(jobs) = groups.get(next.fetch_add(1, Relaxed)) {
            for (input, output) in jobs {
                if let Err(message) = repack(input, output, &how, &mut std::io::stderr()) {
                    fail(&message);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..groups.len().min(MAX_AT_ONCE).min(ferrocdf::array::threads()) {
            // Without a thread for it, the others do its part.
            let _ = Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    has_failed.into_inner().into()
}

/// How files are repacked.
struct RepackOptions {
    wishes: ChunkWishes,
    metadata_first: bool,
    verifies: bool,
    in_place: bool,
    missing_sources: MissingSources,
}

/// Repacks one file. An error is the message that the tool prints.
fn repack(input: &Path, output: &Path, how: &RepackOptions, errors: &mut dyn Write) -> Result<(), String> {
    let planned = File::open_location(&location(input).map_err(told)?, &OpenOptions::default());
    let source = planned.and_then(|file| check(&file, how).map(|()| file)).map_err(told)?;
    let model = source.model();
    let plan = plan(&model, &how.wishes).map_err(|error| told(error.at(input.display())))?;
    let options = Options {
        kind: Some(model.format().native()),
        filterspecs: plan.filters,
        chunk_shapes: plan.chunk_shapes,
        keeps_fill: true,
        metadata_first: how.metadata_first,
        verifies: how.verifies,
        in_place: how.in_place,
        missing_sources: how.missing_sources,
        buffer: DEFAULT_BUFFER,
        input: input.to_path_buf(),
        output: output.to_path_buf(),
        ..Options::default()
    };
    copy_told(PROGRAM, Foreign::Refused, &OpenOptions::default(), &options, errors)
}

/// Checks that a file can be repacked and, if it is to be replaced, that nothing of it would be lost.
fn check(file: &File, how: &RepackOptions) -> Result<()> {
    let refused = |what: String| Err(Error::new(Code::EINVAL, what).at(file.path().display()));
    if file.format().container() != Container::Hdf5 {
        let kind = file.format().kind_name();
        return refused(format!("it is a {kind} file; `ferrocdf copy -4` makes a netCDF-4 file of it"));
    }
    if !how.in_place {
        return Ok(());
    }
    match more_than_netcdf(file)? {
        Some(what) => refused(format!("{what}; name another file for the copy")),
        None => Ok(()),
    }
}

/// Tells what a file holds that a copy would not have, or not in the same form.
fn more_than_netcdf(file: &File) -> Result<Option<String>> {
    let Some(path) = file.path().to_str().filter(|path| Path::new(path).is_file()) else {
        return Ok(Some("only a file of this machine is replaced in one step".to_string()));
    };
    let mut head = vec![];
    let read = fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.map_err(|error| Error::system(error, path))?;
    if head != HDF5_SIGNATURE {
        return Ok(Some("the copy would lack the bytes before its HDF5 part (a user block)".to_string()));
    }
    for variable in file.variables() {
        let sources = variable.sources()?;
        if !sources.external.is_empty() || !sources.virtual_sources.is_empty() {
            let path = file.model().var_path(variable.id());
            return Ok(Some(format!("the data of {path} is in other files, and would be in the copy")));
        }
    }
    if let Some(object) = file.skipped().first() {
        return Ok(Some(format!("the copy would lack what is no part of a netCDF file: {object}")));
    }
    let what = "no netCDF library wrote it: links and types of HDF5 may be others in the copy";
    Ok((!file.is_written_by_netcdf()).then(|| what.to_string()))
}

const HDF5_SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

fn told(error: Error) -> String {
    format!("{PROGRAM}: {}", says::sentence(&error))
}

/// The files of a command line.
#[derive(Default)]
struct Jobs {
    /// The inputs with their outputs.
    jobs: Vec<(PathBuf, PathBuf)>,
    /// A message for each file or folder below a folder that cannot be read.
    unreadable: Vec<String>,
    /// The files below folders that are not repacked.
    skipped: Skipped,
}

fn jobs(args: &RepackArgs) -> Result<Jobs, String> {
    let (inputs, output) = match args.paths.split_last() {
        _ if args.in_place => (&args.paths[..], None),
        Some((output, inputs)) if !inputs.is_empty() => (inputs, Some(output)),
        _ => return Err("an input and an output are required, or --in-place".to_string()),
    };
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let is_folder = output.is_some_and(|output| output.is_dir());
    if output.is_some() && inputs.len() > 1 && !is_folder {
        return Err("the output of several inputs must be a folder that is there".to_string());
    }
    let Jobs { mut jobs, mut unreadable, mut skipped } = Jobs::default();
    for input in inputs {
        let below = match input.is_dir() {
            true if args.recursive => tree::hdf5_files(input, &mut unreadable, &mut skipped),
            true => return Err(format!("{}: it is a folder; -r repacks the files in it", input.display())),
            false => {
                let name = input.file_name().filter(|_| is_folder);
                let output = output
                    .map_or(input.clone(), |output| name.map_or(output.clone(), |name| output.join(name)));
                jobs.push((input.clone(), output));
                continue;
            }
        };
        for path in below {
            let place = match (output, path.strip_prefix(input)) {
                (Some(output), Ok(rest)) => output.join(rest),
                _ => path.clone(),
            };
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
            }
            jobs.push((path, place));
        }
    }
    let mut inputs: HashMap<PathBuf, PathBuf> = HashMap::new();
    for (input, output) in &jobs {
        if let Some(other) = inputs.insert(output.clone(), input.clone()).filter(|other| other != input) {
            let [other, input, output] = [&other, input, output].map(|path| path.display());
            return Err(format!("{other} and {input} would both become {output}"));
        }
    }
    // A file that is named twice is repacked once.
    jobs.retain(|(_, output)| inputs.remove(output).is_some());
    Ok(Jobs { jobs, unreadable, skipped })
}

/// The jobs that can be done at once, each with those that have another name of its output, which come behind it.
fn by_file(jobs: Vec<(PathBuf, PathBuf)>) -> Vec<Vec<(PathBuf, PathBuf)>> {
    let mut groups: Vec<Vec<_>> = vec![];
    let mut places = HashMap::new();
    for job in jobs {
        let file = fs::metadata(&job.1).ok().map(|about| (about.dev(), about.ino()));
        let place = match file {
            Some(file) => *places.entry(file).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(place) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

/// Reads `NAME=N,N,...`.
fn chunk_shape(word: &str) -> Result<(String, Vec<u64>), String> {
    let wrong = || format!("{word:?} is not NAME=N,N,...");
    let (name, lens) = word.rsplit_once('=').ok_or_else(wrong)?;
    let lens =
        lens.split(',').map(|len| len.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    Ok((name.to_string(), lens))
}

/// Reads a number of bytes: `4MiB`, `4M` (4,000,000), `4000000`.
fn size(word: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("K", 1000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
    ];
    /// Chunks of HDF5 have less than 4 GiB; one that is made of whole chunks may be twice as large.
    const MOST: u64 = 2 << 30;
    let found = UNITS.iter().find_map(|&(suffix, unit)| Some((word.strip_suffix(suffix)?, unit)));
    let (number, unit) = found.unwrap_or((word, 1));
    let size = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|size| (1..=MOST).contains(size)).ok_or_else(|| format!("{word:?} is no size from 1 to 2GiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shapes_as_users_write_them() {
        assert_eq!(
            ["4MiB", "4M", "4 MB", "17"].map(|word| size(word).unwrap()),
            [4 << 20, 4_000_000, 4_000_000, 17]
        );
        assert!(["", "MiB", "0", "-1", "3GiB", "4 TiB"].iter().all(|word| size(word).is_err()));
        assert_eq!(chunk_shape("/g/v=1, 2"), Ok(("/g/v".to_string(), vec![1, 2])));
        assert!(["v", "v=", "v=1,", "v=x"].iter().all(|word| chunk_shape(word).is_err()));
    }
}
