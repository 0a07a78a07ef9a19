//! The source package of the reference library, whose test programs judge our C interface.
//!
//! It is fetched as Debian's package tool does, with lists and settings of its own under `target`, so that nothing on
//! the machine changes. The newest release is taken where it can be had, else that of the machine's own release.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, run};

const FOLDER: &str = "target/reference";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Releases of Debian to take the source from, the better one first.
const SUITES: [&str; 2] = ["sid", "bookworm"];

/// The folder of the unpacked source, fetched if it is not there yet.
pub fn fetch() -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(text)?.join(FOLDER);
    if let Some(source) = SUITES.iter().find_map(|suite| unpacked(&folder.join(suite))) {
        return Ok(source);
    }
    let site = site()?;
    let mut failures = vec![];
    for suite in SUITES {
        let folder = folder.join(suite);
        match download(&folder, &site, suite).and_then(|()| unpack(&folder)) {
            Ok(()) => {
                let source = unpacked(&folder);
                return source.ok_or_else(|| format!("no source of netcdf in {}", folder.display()));
            }
            Err(why) => failures.push(why),
        }
    }
    Err(format!("the source of the reference library cannot be had: {}", failures.join("; ")))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The unpacked source in a folder.
fn unpacked(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.join("nc_test").is_dir() && path.join("include/netcdf.h").is_file())
}

/// The archive that this machine gets its packages from.
fn site() -> Result<String, String> {
    let out = Command::new("apt-get")
        .args(["indextargets", "--format", "$(SITE)", "Created-By: Packages"])
        .output()
        .map_err(text)?;
    let sites = String::from_utf8_lossy(&out.stdout).into_owned();
    let site = sites.lines().find(|site| site.ends_with("/debian"));
    site.map(str::to_string).ok_or_else(|| format!("no archive of Debian among {sites:?}"))
}

fn download(folder: &Path, site: &str, suite: &str) -> Outcome {
    let apt = folder.join("apt");
    for part in ["lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(apt.join(part)).map_err(text)?;
    }
    let list = apt.join("sources.list");
    std::fs::write(&list, format!("deb-src [signed-by={KEYS}] {site} {suite} main\n")).map_err(text)?;
    let options = [
        format!("Dir::Etc::SourceList={}", list.display()),
        "Dir::Etc::SourceParts=/dev/null".to_string(),
        format!("Dir::State::Lists={}", apt.join("lists").display()),
        format!("Dir::Cache={}", apt.join("cache").display()),
        // The folder may be closed to the user that downloads run as otherwise.
        "APT::Sandbox::User=root".to_string(),
    ];
    let options: Vec<&str> = options.iter().flat_map(|option| ["-o", option]).collect();
    run("apt-get", &[&options[..], &["--quiet", "update"]].concat(), &[])?;
    let get = [&options[..], &["--quiet", "source", "--download-only", "netcdf"]].concat();
    let status = Command::new("apt-get").args(&get).current_dir(folder).status().map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("apt-get source from {suite}: {status}")) }
}

fn unpack(folder: &Path) -> Outcome {
    for entry in std::fs::read_dir(folder).map_err(text)? {
        let path = entry.map_err(text)?.path();
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".orig.tar.gz") || name.ends_with(".orig.tar.xz") {
            run("tar", &["--extract", "--file", &name, "--directory", &folder.to_string_lossy()], &[])?;
        }
    }
    Ok(())
}
