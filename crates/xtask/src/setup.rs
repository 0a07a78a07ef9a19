//! `setup`: the programs and libraries that tests compare with.
//!
//! Each is looked for by using it, so that a machine that has them by other means than `apt-get` is left alone.

use std::path::{Path, PathBuf};

use crate::run::{Outcome, run, works};

/// Something the tests use.
struct Need {
    what: &'static str,
    package: &'static str,
    is_there: fn() -> bool,
}

/// The tools of netCDF-C.
const REFERENCE_TOOLS: Need = Need {
    what: "the reference tools",
    package: "netcdf-bin",
    // Without arguments they print their usage and succeed.
    is_there: || works("ncdump", &[]) && on_path("ncgen") && on_path("nccopy"),
};

const NEEDS: &[Need] = &[
    Need { what: "a C compiler", package: "gcc", is_there: || works("cc", &["--version"]) },
    Need { what: "a C++ compiler", package: "g++", is_there: || works("c++", &["--version"]) },
    Need { what: "pkg-config", package: "pkg-config", is_there: || works("pkg-config", &["--version"]) },
    Need { what: "CMake", package: "cmake", is_there: || works("cmake", &["--version"]) },
    Need { what: "C headers", package: "libc6-dev", is_there: || compiles("stdio.h") },
    REFERENCE_TOOLS,
    Need { what: "the reference library", package: "libnetcdf-dev", is_there: || compiles("netcdf.h") },
];

/// What the Python environment of the tests is made with.
const PYTHON: &[Need] = &[Need {
    what: "Python with environments",
    package: "python3-venv",
    is_there: || works("python3", &["-c", "import venv, ensurepip"]),
}];

/// What runs on our C library in tests.
const CLIENTS: &[Need] = &[
    REFERENCE_TOOLS,
    Need { what: "valgrind", package: "valgrind", is_there: || works("valgrind", &["--version"]) },
    Need { what: "NCO", package: "nco", is_there: || on_path("ncks") },
    Need { what: "CDO", package: "cdo", is_there: || on_path("cdo") },
    Need { what: "GDAL", package: "gdal-bin", is_there: || on_path("gdalinfo") },
    Need {
        what: "netCDF4 for Python",
        package: "python3-netcdf4",
        is_there: || works("/usr/bin/python3", &["-c", "import netCDF4"]),
    },
    Need {
        what: "ncdf4 for R",
        package: "r-cran-ncdf4",
        is_there: || works("Rscript", &["-e", "library(ncdf4)"]),
    },
    Need { what: "make", package: "make", is_there: || works("make", &["--version"]) },
    Need { what: "a Fortran compiler", package: "gfortran", is_there: || works("gfortran", &["--version"]) },
    Need {
        what: "netCDF-Fortran",
        package: "libnetcdff-dev",
        is_there: || works("nf-config", &["--version"]),
    },
    Need { what: "a C++ compiler", package: "g++", is_there: || works("c++", &["--version"]) },
    Need { what: "HDF5", package: "libhdf5-dev", is_there: || works("pkg-config", &["--exists", "hdf5"]) },
    Need { what: "the tools of HDF5", package: "hdf5-tools", is_there: || on_path("h5dump") },
    Need { what: "netCDF-C++", package: "libnetcdf-c++4-dev", is_there: || on_path("ncxx4-config") },
    Need {
        what: "a web server",
        package: "nginx",
        // Users who are not root may not have its folder in their path.
        is_there: || on_path("nginx") || Path::new("/usr/sbin/nginx").is_file(),
    },
    Need { what: "openssl", package: "openssl", is_there: || works("openssl", &["version"]) },
];

/// What judges random files, besides the tools of the reference.
const JUDGES: &[Need] = &[
    REFERENCE_TOOLS,
    Need {
        what: "netCDF4 for Python",
        package: "python3-netcdf4",
        is_there: || works("/usr/bin/python3", &["-c", "import netCDF4"]),
    },
    Need { what: "the HDF5 tools", package: "hdf5-tools", is_there: || works("h5dump", &["--version"]) },
    Need { what: "HDF5 plugins", package: "hdf5-filter-plugin", is_there: || has_plugin("h5bz2") },
    Need {
        what: "the HDF5 plugin for blosc",
        package: "hdf5-filter-plugin-blosc-serial",
        is_there: || has_plugin("H5Zblosc"),
    },
    Need {
        what: "the HDF5 plugin for zfp",
        package: "hdf5-filter-plugin-zfp-serial",
        is_there: || has_plugin("h5zzfp"),
    },
];

/// Whether a package put this HDF5 plugin where Debian's HDF5 library looks.
fn has_plugin(name: &str) -> bool {
    let folder = format!("/usr/lib/{}-linux-gnu/hdf5/serial/plugins", std::env::consts::ARCH);
    Path::new(&folder).join(format!("lib{name}.so")).is_file()
}

/// Installs what is missing for `cargo xtask test` without the programs of others.
pub fn setup(_args: &[String]) -> Outcome {
    install(NEEDS)
}

/// Installs the programs of others that run on our C library.
pub fn clients() -> Outcome {
    install(CLIENTS)
}

/// Installs what judges random files.
pub fn judges() -> Outcome {
    install(JUDGES)
}

/// What the Python environment of the tests holds.
const WHEELS: &[&str] = &[
    "netCDF4==1.7.5.1.post1",
    "numpy==2.4.6",
    "cftime==1.6.6.1",
    "certifi==2026.10.18",
    "h5py==3.16.0",
    "hdf5plugin==7.1.0",
    "fsspec==2026.9.0",
    "zarr==3.1.6",
    "pandas==3.1.1",
    "xarray==2026.9.0",
    "aiohttp==3.14.5",
    "boto3==1.44.8",
    "moto[s3]==5.1.4",
    "flask==3.1.3",
    "flask-cors==6.0.5",
];

/// A Python environment of its own, under `target`; its interpreter.
pub fn python() -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(|error| error.to_string())?.join("target/python");
    let python = folder.join("bin/python");
    let there = || {
        works(
            &python.to_string_lossy(),
            &["-c", "import netCDF4, h5py, hdf5plugin, aiohttp, flask_cors, moto, zarr, xarray"],
        )
    };
    if !there() {
        install(PYTHON)?;
        run("python3", &["-m", "venv", "--clear", &folder.to_string_lossy()], &[])?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&python.to_string_lossy(), &[&pip[..], WHEELS].concat(), &[])?;
    }
    if there() { Ok(python) } else { Err("the Python environment does not work".to_string()) }
}

fn install(needs: &[Need]) -> Outcome {
    let missing: Vec<&Need> = needs.iter().filter(|need| !(need.is_there)()).collect();
    if missing.is_empty() {
        println!("setup: everything is there");
        return Ok(());
    }
    for need in &missing {
        println!("setup: {} ({}) is missing", need.what, need.package);
    }
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    apt(&["update"])?;
    let install = ["install", "--yes", "--no-install-recommends"];
    apt(&[&install[..], &packages].concat())?;
    match missing.iter().find(|need| !(need.is_there)()) {
        Some(need) => Err(format!("{} was installed, but {} does not work", need.package, need.what)),
        None => Ok(()),
    }
}

fn apt(args: &[&str]) -> Outcome {
    let quiet = [("DEBIAN_FRONTEND", "noninteractive")];
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|meta| {
        use std::os::unix::fs::MetadataExt;
        meta.uid() == 0
    });
    if is_root {
        return run("apt-get", args, &quiet);
    }
    run("sudo", &[&["DEBIAN_FRONTEND=noninteractive", "apt-get"][..], args].concat(), &[])
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether the C compiler finds a header.
fn compiles(header: &str) -> bool {
    let source = std::env::temp_dir().join(format!("ferrocdf-setup-{}.c", std::process::id()));
    if std::fs::write(&source, format!("#include <{header}>\n")).is_err() {
        return false;
    }
    let found = works("cc", &["-fsyntax-only", &source.to_string_lossy()]);
    // A file left behind in the folder for such files harms nobody.
    let _ = std::fs::remove_file(&source);
    found
}
