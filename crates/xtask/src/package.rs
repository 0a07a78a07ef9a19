//! `package`: the packages that crates.io would get, each built from the files that it holds and from nothing else.

use std::fs;
use std::path::Path;

use crate::run::{Outcome, cargo};
use crate::rust_files;

/// Files that every package holds: the texts of both licenses must go with the code.
const HELD: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Packages each crate that is published, and builds it from its package and the packages that it depends on.
///
/// Changes that are not committed are packaged too.
pub fn package(args: &[String]) -> Outcome {
    let mut command: Vec<String> = ["package", "--workspace", "--allow-dirty"].map(str::to_string).to_vec();
    let (published, others): (Vec<_>, Vec<_>) = manifests()?.into_iter().partition(Manifest::is_published);
    command.extend(others.iter().map(|manifest| format!("--exclude={}", manifest.field("name"))));
    command.extend_from_slice(args);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    cargo(&command, &[])?;
    for manifest in &published {
        manifest.check_package()?;
    }
    Ok(())
}

/// The text of a crate's `Cargo.toml`.
struct Manifest(String);

fn manifests() -> Result<Vec<Manifest>, String> {
    let read = |name: String| {
        let path = Path::new("crates").join(name).join("Cargo.toml");
        fs::read_to_string(&path).map(Manifest).map_err(|error| format!("{}: {error}", path.display()))
    };
    rust_files::crates()?.into_iter().map(read).collect()
}

impl Manifest {
    /// Returns the value of the first field with a name, without quotes; empty if there is none.
    fn field(&self, name: &str) -> &str {
        let values = self.0.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        values.map(|value| value.trim_matches('"')).next().unwrap_or_default()
    }

    fn is_published(&self) -> bool {
        self.field("publish") != "false"
    }

    /// Checks that the unpacked package holds what every package must hold.
    fn check_package(&self) -> Outcome {
        let folder = format!("target/package/{}-{}", self.field("name"), env!("CARGO_PKG_VERSION"));
        match HELD.iter().find(|file| !Path::new(&folder).join(file).is_file()) {
            Some(file) => Err(format!("{folder} has no {file}")),
            None => Ok(()),
        }
    }
}
