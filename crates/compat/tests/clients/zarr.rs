//! Zarr stores that netCDF-C writes (the release in the wheel of netCDF4): `ncdump` prints of them what the reference's prints. Stores
//! that we write: zarr-python, xarray and netCDF-C read the same dataset.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ferrocdf_compat::python::{self, seed};
use ferrocdf_compat::servers::{BUCKET, Moto, Nginx};

use crate::folder;

/// Returns the library of the reference in the wheel.
fn library_of_wheel() -> PathBuf {
    let find = "import netCDF4, pathlib; print(*(pathlib.Path(netCDF4.__file__).parents[1] / 'netcdf4.libs').glob('libnetcdf*'))";
    let python = std::env::var_os("FERROCDF_PYTHON").expect("`cargo xtask clients` sets FERROCDF_PYTHON");
    let said = Command::new(python).args(["-c", find]).output().expect("a Python that starts");
    PathBuf::from(String::from_utf8(said.stdout).expect("a path of UTF-8").trim())
}

fn folder_of(library: &Path) -> &Path {
    library.parent().expect("a library is in a folder")
}

/// Returns what a program prints of a dataset.
fn dump(mut ncdump: Command, dataset: &str) -> String {
    let done = ncdump.args(["-n", "same", dataset]).output().expect("a program that starts");
    let why = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{ncdump:?}: {why}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn stores_of_the_reference_are_printed_as_the_reference_prints_them() {
    let folder_of_stores = tempfile::tempdir().unwrap();
    let stores = folder_of_stores.path();
    let mut make = python::newest_zarr("zarr_netcdf.py");
    make.arg(stores).stderr(Stdio::piped());
    python::finish(make.spawn().expect("a Python that starts"));
    let library = library_of_wheel();
    let ours = folder("FERROCDF_PREFIX").join("bin/ncdump");
    for mode in ["nczarr", "zarr", "xarray", "nczarr,noxarray"] {
        let store = stores.join(mode.replace(',', "-"));
        let url = format!("file://{}#mode={mode},file", store.display());
        let mut theirs = Command::new("/usr/bin/ncdump");
        // Its codecs are plugins of the wheel.
        theirs.env("HDF5_PLUGIN_PATH", folder_of(&library).join("../netCDF4/plugins"));
        theirs.env("LD_PRELOAD", &library).env("LD_LIBRARY_PATH", folder_of(&library));
        let wanted = dump(theirs, &url);
        for place in [store.display().to_string(), url] {
            let found = dump(Command::new(&ours), &place);
            assert_eq!(found, wanted, "{place}");
        }
        copies(&store, &wanted);
    }
}

/// A copy of a store in a netCDF-4 file is printed by Debian's `ncdump` as the store is.
fn copies(store: &Path, wanted: &str) {
    let copy = store.with_extension("nc");
    let nccopy = folder("FERROCDF_PREFIX").join("bin/nccopy");
    let done = Command::new(nccopy).arg(store).arg(&copy).output().expect("a program that starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let found = dump(Command::new("/usr/bin/ncdump"), &copy.display().to_string());
    assert_eq!(found, wanted, "{}", store.display());
}

/// Runs a script that makes random datasets, has `tool`, or one of the tools in that folder, copy or print them, and compares. There are
/// `counts[0]` of them in each run, `counts[1]` if `FERROCDF_EVERY` is set. What fails tells its seed.
fn judge_random(judge: Command, tool: &str, counts: [usize; 2], bucket: &[&str]) {
    judge_random_from(seed(), judge, tool, counts, bucket);
}

/// Does the same with datasets from this seed on.
fn judge_random_from(seed: u64, mut judge: Command, tool: &str, counts: [usize; 2], bucket: &[&str]) {
    let folder_of_data = tempfile::tempdir().unwrap();
    let count = counts[usize::from(std::env::var_os("FERROCDF_EVERY").is_some())];
    judge.arg(folder("FERROCDF_PREFIX").join("bin").join(tool)).arg(folder_of_data.path());
    println!("FERROCDF_SEED={seed}");
    judge.args([seed.to_string(), count.to_string()]).args(bucket);
    judge.stdout(Stdio::piped()).stderr(Stdio::piped());
    python::finish(judge.spawn().expect("a Python that starts"));
}

/// The JSON of attributes, empty texts, bytes of text, and names that make stores: zarr-python, xarray and netCDF-C see what was there.
#[test]
fn copies_keep_what_the_netcdf_model_has_no_place_for() {
    let folder_of_stores = tempfile::tempdir().unwrap();
    let mut judge = python::newest_zarr("zarr_kept.py");
    let prefix = folder("FERROCDF_PREFIX");
    judge.arg(folder_of_stores.path()).args([prefix.join("bin"), prefix.join("lib/libnetcdf.so")]);
    let seed = seed();
    println!("FERROCDF_SEED={seed}");
    judge.arg(seed.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    python::finish(judge.spawn().expect("a Python that starts"));
}

/// Of 1,000 files, 32,288 arrays in folders and zip files are read by zarr-python 3.4.2 as they are, and those of version 2 by
/// zarr-python 2.18.7; tensorstore 0.1.86 reads 9,262 of them, the codecs of zarrs 0.2.3 read 11,137.
#[test]
fn stores_that_we_write_are_read_by_others() {
    judge_random(python::newest_zarr("zarr_written.py"), "nccopy", [20, 1000], &[]);
}

/// Of 1,000 arrays, `ferrocdf zarr-conformance` prints the values of all.
#[test]
fn random_arrays_of_tensorstore_and_zarrs_are_read() {
    judge_random(python::newest_zarr("zarr_others.py"), "ferrocdf", [40, 1000], &[]);
}

/// Of 1,000 stores of zarr-python 2.18.7, 2,363 arrays are printed with the same values and 3,424 copied with the same attributes.
#[test]
fn random_stores_of_zarr_python_2_are_read() {
    let mut judge = python::zarr2("zarr2_written.py");
    // LZ4 is one of the filters of the copies, which the wheel of netCDF4 has no plugin for.
    judge.env("HDF5_PLUGIN_PATH", python::hdf5plugin());
    judge_random(judge, "", [100, 1000], &[]);
}

/// Random datasets that netCDF-C writes in four modes: our library reads what netCDF-C reads of them. Of 2,000 datasets, 28,322 variables
/// were equal; netCDF-C could not read 3,687 that it had written, and crashed while it wrote 59 of the 8,000 stores. Each run takes the same
/// ones: netCDF-C may misread its own stores in ways that the judge does not know yet, which random ones would show in runs that have nothing
/// to do with it.
#[test]
fn random_stores_of_netcdf_c_are_read() {
    let judge = python::script("zarr_netcdf_random.py");
    judge_random_from(1, judge, "../lib/libnetcdf.so", [15, 1000], &[]);
}

/// Starts a script with the newest zarr-python that finds the S3 of a server in its environment.
fn with_s3(script: &str, moto: &Moto) -> Command {
    let mut command = python::newest_zarr(script);
    command.envs(moto.environment()).env("NO_PROXY", "*");
    command
}

/// Of 1,000 stores, the copies of 4,025 variables are as xarray wrote them.
#[test]
fn random_stores_of_xarray_are_read() {
    let moto = Moto::serve(&folder("FERROCDF_PYTHON"));
    judge_random(with_s3("zarr_xarray.py", &moto), "", [40, 1000], &[BUCKET]);
}

/// Of 1,000 files, all copies in a bucket are read by zarr-python 3.4.2 as they are, and by tensorstore where it knows the codecs. They take
/// half an hour.
#[test]
fn random_stores_that_we_write_to_buckets_are_read_by_others() {
    let moto = Moto::serve(&folder("FERROCDF_PYTHON"));
    judge_random(with_s3("zarr_s3.py", &moto), "", [4, 1000], &[BUCKET]);
}

#[test]
fn zip_files_hold_the_same_as_folders() {
    let stores = tempfile::tempdir().unwrap();
    let mut make = python::newest_zarr("zarr_zip.py");
    make.arg(stores.path()).stderr(Stdio::piped());
    python::finish(make.spawn().expect("a Python that starts"));
    let ours = folder("FERROCDF_PREFIX").join("bin/ncdump");
    for name in ["stored2", "stored3", "deflated2", "deflated3"] {
        let store = stores.path().join(name).display().to_string();
        let wanted = dump(Command::new(&ours), &store);
        assert!(wanted.contains("7, 7, 7, 7, 7, 7") && wanted.contains("in a zip file"), "{wanted}");
        for zip in [
            format!("{store}.zip"),
            format!("file://{store}.zip#mode=zarr,zip"),
            format!("{store}-within.zip"),
        ] {
            assert_eq!(dump(Command::new(&ours), &zip), wanted, "{zip}");
        }
    }
}

/// Runs one of our tools, which must go well, and returns what it prints.
fn run(tool: &str, arguments: &[&str], environment: &[(&str, String)]) -> String {
    let mut command = Command::new(folder("FERROCDF_PREFIX").join("bin").join(tool));
    command.args(arguments).envs(environment.iter().map(|(name, value)| (*name, value))).env("NO_PROXY", "*");
    let done = command.output().expect("a program that starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn stores_are_made_in_buckets_and_read_from_web_servers() {
    let scene = tempfile::tempdir().unwrap();
    let file = |name: &str| scene.path().join(name).display().to_string();
    let text = "netcdf a { dimensions: t = UNLIMITED ; x = 3 ; variables: int v(t, x) ; string s(x) ; :title = \"a\" ; \
                data: v = 1, 2, 3, 4, 5, 6 ; s = \"one\", \"two\" ; group: g { variables: double d(x) ; data: d = 1, 2, 3 ; } }";
    std::fs::write(file("a.cdl"), text).unwrap();
    run("ncgen", &["-4", "-o", &file("a.nc"), &file("a.cdl")], &[]);
    let wanted = run("ncdump", &["-n", "a", &file("a.nc")], &[]);
    let moto = Moto::serve(&folder("FERROCDF_PYTHON"));
    let environment = moto.environment();
    for kind in ["nczarr2", "nczarr3"] {
        let url = format!("s3://{BUCKET}/deep/{kind}.zarr");
        // The second copy replaces the first.
        for _ in 0..2 {
            run("nccopy", &["-k", kind, &file("a.nc"), &url], &environment);
        }
        assert_eq!(run("ncdump", &["-n", "a", &url], &environment), wanted, "{url}");
        // From a bucket to a folder, which a web server without listings gives.
        run("nccopy", &["-k", kind, &url, &file(&format!("{kind}.zarr"))], &environment);
    }
    let nginx = Nginx::serve(scene.path());
    for kind in ["nczarr2", "nczarr3"] {
        let url = format!("{}/{kind}.zarr", nginx.url());
        assert_eq!(run("ncdump", &["-n", "a", &url], &[]), wanted, "{url}");
    }
}

#[test]
fn tests_of_xarray_for_nczarr_pass_with_our_library() {
    let python = std::env::var_os("FERROCDF_PYTHON").expect("`cargo xtask clients` sets FERROCDF_PYTHON");
    let here = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], library: &Path| {
        let mut command = Command::new(&python);
        command.args(arguments).current_dir(here.path()).env("LD_PRELOAD", library);
        let done = command.output().expect("a Python that starts");
        let said =
            format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{command:?}: {said}");
        said
    };
    let ours = folder("FERROCDF_PREFIX").join("lib/libnetcdf.so");
    let version = ["-c", "import netCDF4; print(netCDF4.getlibversion())"];
    // The wheel's own library has another date.
    assert_ne!(run(&version, &ours), run(&version, &library_of_wheel()));
    let find = "import xarray.tests.test_backends as tests; print(tests.__file__)";
    let file = run(&["-W", "ignore", "-c", find], &ours);
    let tests = format!("{}::TestNCZarr", file.trim());
    let said = run(&["-m", "pytest", "-q", "-rs", "-W", "ignore", "-p", "no:cacheprovider", &tests], &ours);
    // Two are for releases of netCDF-C up to 4.8.1, which write no names of dimensions.
    assert!(
        said.contains("2 passed, 2 skipped") && said.contains("adds the _ARRAY_DIMENSIONS attribute"),
        "{said}"
    );
}
