//! Real files, read where they are: `cargo xtask corpus`.
//!
//! `FERROCDF_CORPUS` names a folder with an `INDEX.tsv` that has a row for each file: path, kind and class among other
//! columns. A file of class `normal` must give what the reference gives, value by value; any other must end in an error
//! or in data, without harm.

mod content;
mod excused;
mod hdf4;
mod hdf5_clients;
mod hdf5_dims;
mod hdf5_edits;
mod hdf5_layout;
mod hdf5_ncdump;
mod hdf5_structure;
mod hdf5_values;
mod hdf_eos;
mod nccopy_files;
mod nccopy_netcdf4;
#[path = "../it/nccopy_tool.rs"]
mod nccopy_tool;
mod ncdump_files;
#[allow(dead_code, reason = "the other test binary uses the rest")]
#[path = "../it/ncdump_tool.rs"]
mod ncdump_tool;
mod ncgen3_source;
#[path = "../it/ncgen3_tool.rs"]
mod ncgen3_tool;
mod ncgen_files;
mod ncgen_source;
#[path = "../it/ncgen_tool.rs"]
mod ncgen_tool;
mod newest;
mod remote;
mod round_trip;
mod threads;
mod unnamed_types;
mod zarr;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrocdf_compat::Reference;

/// The reference, compiled once.
fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| Reference::new(Path::new(env!("CARGO_TARGET_TMPDIR"))))
}

/// Returns a command whose first argument is a program, which is stopped after some seconds and gets 4 GiB of memory at most: the
/// reference follows hard links in circles, and takes the sizes of damaged files from memory that nobody wrote.
fn within_seconds(seconds: u32) -> Command {
    let mut command = Command::new("timeout");
    command.arg(seconds.to_string()).args(["prlimit", &format!("--as={}", 4_u64 << 30)]);
    command
}

/// A file of the corpus.
struct Entry {
    path: PathBuf,
    /// Whether every reader must read it.
    normal: bool,
}

/// The files of the given kinds.
fn files(kinds: &[&str]) -> Vec<Entry> {
    let folder = std::env::var_os("FERROCDF_CORPUS")
        .expect("FERROCDF_CORPUS names the folder; see `cargo xtask corpus`");
    let folder = PathBuf::from(folder);
    let index = folder.join("INDEX.tsv");
    let text = std::fs::read_to_string(&index).unwrap_or_else(|error| panic!("{}: {error}", index.display()));
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a line of titles").split('\t').collect();
    let column =
        |title: &str| columns.iter().position(|&column| column == title).expect("a column of that title");
    let (path, kind, class) = (column("path"), column("kind"), column("class"));
    lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| kinds.contains(&row[kind]))
        .map(|row| Entry { path: folder.join(row[path]), normal: row[class] == "normal" })
        .collect()
}

/// Returns one file in `FERROCDF_EVERY`, or in `usual` if that is not set; with a colon and a number behind, another one of so many.
fn sampled(files: Vec<Entry>, usual: usize) -> Vec<Entry> {
    let wished = std::env::var("FERROCDF_EVERY").unwrap_or_else(|_| usual.to_string());
    let (every, first) = wished.split_once(':').unwrap_or((&wished, "0"));
    let number =
        |text: &str| text.parse::<usize>().expect("FERROCDF_EVERY is a number, or two with a colon between");
    files.into_iter().skip(number(first)).step_by(number(every)).collect()
}

/// The classic files.
fn classic() -> Vec<Entry> {
    let files = files(&["cdf1", "cdf2", "cdf5"]);
    assert!(files.len() > 100, "only {} classic files", files.len());
    files
}

/// Runs a check on each file, two at a time; what they find, sorted.
fn each(files: &[Entry], check: impl Fn(&Entry) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = vec![];
        while let Some(entry) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(check(entry));
        }
        found
    };
    let mut found = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mine = work();
        [mine, other.join().expect("a check panicked")].concat()
    });
    found.sort();
    found
}
