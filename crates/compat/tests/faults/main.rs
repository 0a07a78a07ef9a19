//! Programs whose requests to the system fail, and that go on: what they leave is judged by h5py, by netCDF-C and by us.
//!
//! `c/faults/story.c` tells a story of calls to the library while the n-th request to write, to set the size or to flush
//! fails, and some behind it; `py/fault_stories.py` has the stories, `py/fault_judge.py` says what a file may hold then.
//! A case is a story, a request, a kind of fault, how often it strikes, and a way to go on. Each run takes a share of all
//! cases: one in [`SHARE`], or in as many as `FERROCDF_FAULTS` says; 1 takes all. `FERROCDF_SEED` chooses which.

mod removals;
mod stories;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

/// One in how many cases a run takes.
const SHARE: u64 = 60;

/// A folder or file that the task named.
fn named(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask clients`"))
}

/// A number of the environment.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// A folder in memory, where there is such a file system: flushing costs nothing there.
fn folder() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    let at = if memory.is_dir() { memory } else { std::env::temp_dir() };
    tempfile::tempdir_in(at).expect("a folder")
}

/// Compiles the library whose preloading lets requests fail.
fn shim(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/faults/fault.c");
    let library = folder.join("libfault.so");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-shared", "-fPIC"]).arg(source).args(["-ldl", "-o"]).arg(&library);
    let done = cc.output().expect("there is a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}
