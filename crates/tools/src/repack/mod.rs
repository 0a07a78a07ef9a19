//! `ferrocdf repack`: netCDF-4 files laid out for readers over a network.
//!
//! The copy is made by [`nccopy`](crate::nccopy), which moves chunks without decoding them where their shape and their filters stay.
//! What is new here are the files that are repacked, and the chunks that they get.

mod plan;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ferrocdf::{Code, Container, Error, File, Location, OpenOptions, Result};

use crate::input::location;
use crate::nccopy::options::{DEFAULT_BUFFER, Options};
use crate::nccopy::{Foreign, copy_told};
use crate::target::remove_on_signals;
use plan::{ChunkWishes, plan};

const PROGRAM: &str = "ferrocdf repack";

/// Rules that a repacked file follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CloudRules {
    /// All metadata lies in front of the elements.
    Metadata,
    /// The rules of CMIP7: also time and its bounds in one chunk each, other chunks of at least 4 MiB, and all of it compressed.
    Cmip7,
}

/// The command line of `ferrocdf repack`.
#[derive(Debug, clap::Args)]
pub struct RepackArgs {
    /// Put all metadata in front of the elements, so that a reader opens the file with one request. With `=cmip7`, follow the rules of
    /// CMIP7 too: time and its bounds in one chunk each, other chunks of at least 4 MiB, and shuffle and deflate where there was no
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
    /// Put each new file in the place of the old one. All paths are inputs then.
    #[arg(long)]
    in_place: bool,
    /// Repack all netCDF-4 files in folders, and in those below them.
    #[arg(short, long)]
    recursive: bool,
    /// The files to read, and the file or folder to write.
    #[arg(required = true, value_name = "IN... OUT")]
    paths: Vec<PathBuf>,
}

/// Repacks the files of a command line, and gives the exit code. A file that cannot be repacked does not keep the others from it.
pub fn run(args: RepackArgs) -> u8 {
    remove_on_signals();
    let mut errors = std::io::stderr();
    let jobs = match jobs(&args) {
        Ok(jobs) => jobs,
        Err(message) => {
            eprintln!("{PROGRAM}: {message}");
            return 1;
        }
    };
    let cmip7 = args.cloud == Some(CloudRules::Cmip7);
    let wishes = ChunkWishes { shapes: args.chunks, least: args.target_chunk, cmip7 };
    let how = RepackOptions {
        wishes,
        metadata_first: args.cloud.is_some(),
        verifies: args.verify,
        in_place: args.in_place,
    };
    let mut code = 0;
    for (input, output) in jobs {
        if let Err(message) = repack(&input, &output, &how, &mut errors) {
            eprintln!("{message}");
            code = 1;
        }
    }
    code
}

/// How files are repacked.
struct RepackOptions {
    wishes: ChunkWishes,
    metadata_first: bool,
    verifies: bool,
    in_place: bool,
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
        metadata_first: how.metadata_first,
        verifies: how.verifies,
        in_place: how.in_place,
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
    match file.skipped().first() {
        Some(object) if how.in_place => refused(format!(
            "the copy would lack what is no part of a netCDF file: {object}; name another file for it"
        )),
        _ => Ok(()),
    }
}

fn told(error: Error) -> String {
    format!("{PROGRAM}: {error}")
}

/// The inputs with their outputs.
fn jobs(args: &RepackArgs) -> Result<Vec<(PathBuf, PathBuf)>, String> {
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
    let mut jobs = vec![];
    for input in inputs {
        let below = match input.is_dir() {
            true if args.recursive => netcdf4_files(input).map_err(|error| failed(input, error))?,
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
    Ok(jobs)
}

/// The files of a folder and of those below it that have the signature of HDF5, by their names. Symbolic links are not followed.
fn netcdf4_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut found, mut waiting) = (vec![], vec![folder.to_path_buf()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let (kind, path) = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())))?;
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() && Location::Path(path.clone()).is_hdf5().unwrap_or(false) {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
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
