//! The headers and the library that C programs build against, held against the reference's.
//!
//! Two references judge: the headers that are installed, and `newest-facts.txt`, which was derived from those of the
//! newest release. The compiler does the comparing: it prints values and layouts, and refuses a function declared in two
//! ways.

mod alone;
mod declared;
mod facts;
mod features;
mod headers;
mod install;
mod library;
mod prototypes;
mod user_formats;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A C program or header that tests use.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c/headers").join(name)
}

/// A text in the repository.
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs a command; a program that is not there is told of.
fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; `cargo xtask setup` installs what is missing"))
}

/// Runs a command that must succeed; gives what it prints.
fn run(command: &mut Command) -> String {
    let done = output(command);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?} ended with {}:\n{said}", done.status);
    String::from_utf8(done.stdout).expect("text")
}
