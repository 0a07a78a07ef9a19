//! `python`: the wheel of the Python package, and its tests, which run on the installed wheel.

use std::fs;
use std::path::{Path, PathBuf};

use crate::python_source;
use crate::run::{Outcome, run};

/// Where wheels are made, and where the newest one is unpacked.
const WHEELS: &str = "target/wheels";
const INSTALLED: &str = "target/wheel";

/// Makes the wheel in the profile of the tests, and runs the tests on it. The arguments go to pytest.
pub fn python(args: &[String]) -> Outcome {
    let python = crate::setup::python()?;
    let python = &*python.to_string_lossy();
    // An old wheel must not be taken for the new one.
    for folder in [WHEELS, INSTALLED] {
        if Path::new(folder).exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
        }
    }
    let manifest = ["--manifest-path", "crates/python/Cargo.toml"];
    let build = [
        "-m",
        "maturin",
        "build",
        "--quiet",
        "--profile",
        "checked",
        "--out",
        WHEELS,
        "--interpreter",
        python,
    ];
    run(python, &[&build[..], &manifest].concat(), &[])?;
    let wheel = wheel()?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--target",
        INSTALLED,
    ];
    run(python, &[&install[..], &[&*wheel.to_string_lossy()]].concat(), &[])?;
    let installed = std::env::current_dir().map_err(|error| error.to_string())?.join(INSTALLED);
    let extra: Vec<&str> = args.iter().map(String::as_str).collect();
    let test = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "crates/python/tests"];
    run(python, &[&test[..], &extra].concat(), &[("PYTHONPATH", &*installed.to_string_lossy())])?;
    netcdf4(python, &installed)
}

/// Runs the tests of netCDF4-python on the module `ferrocdf.netCDF4`, which stands in for it.
fn netcdf4(python: &str, installed: &Path) -> Outcome {
    let tests = python_source::NETCDF4.fetch(python)?.join("test");
    let plugins = std::env::current_dir().map_err(|error| error.to_string())?.join("crates/python/suites");
    let path = format!("{}:{}", installed.display(), plugins.display());
    let test = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-p", "netcdf4_suite"];
    run(python, &[&test[..], &[&*tests.to_string_lossy()]].concat(), &[("PYTHONPATH", &path)])
}

/// The wheel that was made.
fn wheel() -> Result<PathBuf, String> {
    let files = fs::read_dir(WHEELS).map_err(|error| format!("{WHEELS}: {error}"))?;
    let mut wheels =
        files.flatten().map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "whl"));
    wheels.next().ok_or_else(|| format!("no wheel is in {WHEELS}"))
}
