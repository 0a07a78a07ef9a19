//! Source packages of Python, whose own tests judge our Python package.
//!
//! pip fetches them and checks their SHA-256; they are unpacked in a folder under `target`.

use std::path::PathBuf;

use crate::published::FOLDER;
use crate::run::{Outcome, run};

/// A source package of one version.
pub struct SourcePackage {
    name: &'static str,
    version: &'static str,
    /// SHA-256 of the archive.
    checksum: &'static str,
}

/// netCDF4-python, of the version in the environment of the tests.
pub const NETCDF4: SourcePackage = SourcePackage {
    name: "netcdf4",
    version: "1.7.5.1.post1",
    checksum: "9823076013fd54e7984d3ae8f431671fd199b15eeb267f91b8c4b057fd8324ab",
};

impl SourcePackage {
    /// Returns the folder of the unpacked source; fetches it with the pip of an interpreter if it is not there yet.
    pub fn fetch(&self, python: &str) -> Result<PathBuf, String> {
        let release = format!("{}-{}", self.name, self.version);
        let target = std::env::current_dir().map_err(text)?.join(FOLDER);
        let folder = target.join(&release);
        if !folder.join("PKG-INFO").is_file() {
            let archives = target.join(format!("{release}.archive"));
            self.download(python, &archives)?;
            let archive = archives.join(format!("{release}.tar.gz"));
            // Unpacked elsewhere first, so that a folder that is there has all files.
            let unpacked = archives.to_string_lossy();
            run("tar", &["--extract", "--file", &archive.to_string_lossy(), "--directory", &unpacked], &[])?;
            std::fs::rename(archives.join(&release), &folder).map_err(text)?;
        }
        Ok(folder)
    }

    /// Downloads the archive into a folder.
    fn download(&self, python: &str, folder: &std::path::Path) -> Outcome {
        std::fs::create_dir_all(folder).map_err(text)?;
        let requirement = folder.join("requirement.txt");
        let (name, version, checksum) = (self.name, self.version, self.checksum);
        std::fs::write(&requirement, format!("{name}=={version} --hash=sha256:{checksum}\n"))
            .map_err(text)?;
        let (requirement, folder) = (requirement.to_string_lossy(), folder.to_string_lossy());
        let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
        let what = ["--no-binary", name, "--dest", &folder, "--requirement", &requirement];
        run(python, &[&pip[..], &what].concat(), &[])
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
