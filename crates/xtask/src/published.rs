//! Crates from crates.io whose own tests judge our C library.
//!
//! Cargo unpacks what it downloads into a cache of its own; a crate is copied from there to a folder under `target`, where
//! it is a workspace of its own, with the versions of its dependencies that it was published with.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, run};

/// Where sources that others published are put.
pub const FOLDER: &str = "target/published";

/// A crate of one version.
pub struct Crate {
    name: &'static str,
    version: &'static str,
}

/// The last version of the `netcdf` crate that was published with its integration tests.
pub const NETCDF_TESTED: Crate = Crate { name: "netcdf", version: "0.4.1" };
/// The newest version of the `netcdf` crate, published without them.
pub const NETCDF: Crate = Crate { name: "netcdf", version: "0.12.1" };

impl Crate {
    /// Returns the folder of the crate's source; fetches it if it is not there yet.
    pub fn fetch(&self) -> Result<PathBuf, String> {
        let release = format!("{}-{}", self.name, self.version);
        let folder = std::env::current_dir().map_err(text)?.join(FOLDER).join(&release);
        if folder.join("Cargo.toml").is_file() {
            return Ok(folder);
        }
        let cached = self.cached(&folder.with_extension("user"), &release)?;
        self.copy(&cached, &folder)?;
        Ok(folder)
    }

    /// Returns the folder that cargo unpacks the crate into, by a package that depends on it.
    fn cached(&self, user: &Path, release: &str) -> Result<PathBuf, String> {
        std::fs::create_dir_all(user.join("src")).map_err(text)?;
        std::fs::write(user.join("src/lib.rs"), "").map_err(text)?;
        let manifest = user.join("Cargo.toml");
        let (name, version) = (self.name, self.version);
        let package = "[package]\nname = \"user\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
        std::fs::write(&manifest, format!("{package}{name} = \"={version}\"\n")).map_err(text)?;
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let done = Command::new(cargo)
            .args(["metadata", "--quiet", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .output()
            .map_err(text)?;
        let says = String::from_utf8_lossy(&done.stdout);
        let end = format!("/{release}/Cargo.toml");
        let path = says.split('"').find(|word| word.ends_with(&end));
        let path = path.and_then(|path| Path::new(path).parent()).map(Path::to_path_buf);
        path.ok_or_else(|| format!("{release} cannot be had: {}", String::from_utf8_lossy(&done.stderr)))
    }

    /// Copies the crate, whole or not at all, and makes it a workspace.
    fn copy(&self, from: &Path, to: &Path) -> Outcome {
        let half = to.with_extension("half");
        let _ = std::fs::remove_dir_all(&half);
        run("cp", &["-r", &from.to_string_lossy(), &half.to_string_lossy()], &[])?;
        let manifest = half.join("Cargo.toml");
        let lines = std::fs::read_to_string(&manifest).map_err(text)?;
        // Published manifests list the tests one by one; we add some.
        let mut lines = lines.replace("autotests = false\n", "");
        lines.push_str("\n[workspace]\n");
        std::fs::write(&manifest, lines).map_err(text)?;
        std::fs::rename(&half, to).map_err(text)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
