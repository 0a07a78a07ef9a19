//! The tasks that build, test and measure.

use std::path::{Path, PathBuf};

use crate::install::install;
use crate::published;
use crate::run::{Outcome, cargo, run, timed};
use crate::setup::setup;
use crate::source;

/// The profile of `Cargo.toml` for tests of optimized code.
const CHECKED: &str = "checked";

/// Seconds for each fuzz target in a full run.
const FUZZ_SECONDS: &str = "10";

/// Installs what is missing, then runs every test that needs nothing but this repository.
pub fn test(args: &[String]) -> Outcome {
    setup(&[])?;
    cargo_test(None, &[], args, &[])?;
    models(&[])?;
    clients(&[])?;
    crate::python::python(&[])?;
    println!(
        "test: unit, integration and documentation tests of all crates passed, the comparison with netCDF-C and h5py, programs that others wrote, and the Python package"
    );
    Ok(())
}

/// Runs tests of the workspace: all, or those of a feature of `compat`. Every run selects all crates, so that the features of each are
/// the same and it is built once.
fn cargo_test(feature: Option<&str>, names: &[&str], args: &[String], env: &[(&str, &str)]) -> Outcome {
    // Those that no crate of the workspace turns on by itself.
    let all = "ferrocdf/ndarray";
    let features = feature.map_or(all.to_string(), |feature| format!("{all},ferrocdf-compat/{feature}"));
    let names = names.iter().flat_map(|name| ["--test", name]);
    let words = ["test", "--workspace", "--features", &features].into_iter().chain(names);
    cargo(&words.chain(args.iter().map(String::as_str)).collect::<Vec<_>>(), env)
}

/// Runs the tests over real files, read where they are.
pub fn corpus(args: &[String]) -> Outcome {
    let folder = std::env::var_os("FERROCDF_CORPUS")
        .map_or_else(|| Path::new("../shared/corpus").to_path_buf(), PathBuf::from);
    let index = folder.join("INDEX.tsv");
    if !index.is_file() {
        return Err(format!("{} is not there; FERROCDF_CORPUS names the folder", index.display()));
    }
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    crate::setup::clients()?;
    let [python, zarr] = [crate::setup::python()?, crate::setup::newest_zarr()?];
    let hdf4 = source::netcdf_with_hdf4()?;
    let prefix = installed()?;
    let env = [
        ("FERROCDF_CORPUS", &*folder.to_string_lossy()),
        ("FERROCDF_PREFIX", &*prefix),
        ("FERROCDF_PYTHON", &*python.to_string_lossy()),
        ("FERROCDF_ZARR_PYTHON", &*zarr.to_string_lossy()),
        ("FERROCDF_NETCDF_HDF4", &*hdf4.to_string_lossy()),
    ];
    cargo_test(Some("corpus"), &["corpus"], args, &env)
}

/// Reads random files that h5py and netCDF4-python make. `FERROCDF_MODELS` says how many; see the tests.
pub fn models(args: &[String]) -> Outcome {
    crate::setup::judges()?;
    let python = crate::setup::python()?;
    let env = [("FERROCDF_PYTHON", &*python.to_string_lossy())];
    cargo_test(Some("models"), &["hdf5", "plugins"], args, &env)
}

/// Installs ferrocdf beside the build; the folder.
fn installed() -> Result<String, String> {
    let prefix = std::env::current_dir().map_err(|error| error.to_string())?.join("target/prefix");
    let prefix = prefix.to_string_lossy().into_owned();
    let args = ["--prefix", &prefix, "--profile", CHECKED].map(str::to_string);
    install(&args)?;
    Ok(prefix)
}

/// Programs that others wrote, and what makes them: the names of the tests for them, and where they are.
struct Clients(Vec<(&'static str, PathBuf)>);

impl Clients {
    /// Fetches and makes what is missing.
    fn get() -> Result<Clients, String> {
        crate::setup::clients()?;
        Ok(Clients(vec![
            ("FERROCDF_REFERENCE", source::NETCDF.fetch()?),
            ("FERROCDF_FORTRAN", source::FORTRAN.fetch()?),
            ("FERROCDF_CXX", source::CXX.fetch()?),
            ("FERROCDF_CRATE", published::NETCDF.fetch()?),
            ("FERROCDF_CRATE_TESTED", published::NETCDF_TESTED.fetch()?),
            ("FERROCDF_PYTHON", crate::setup::python()?),
            ("FERROCDF_ZARR_PYTHON", crate::setup::newest_zarr()?),
            ("FERROCDF_ZARR2_PYTHON", crate::setup::zarr2()?),
            ("FERROCDF_NETCDF_HDF4", source::netcdf_with_hdf4()?),
        ]))
    }
}

/// Installs ferrocdf beside the build, and runs programs that others wrote on it.
pub fn clients(args: &[String]) -> Outcome {
    let Clients(clients) = Clients::get()?;
    let prefix = installed()?;
    let paths = clients.iter().map(|(name, path)| (*name, path.to_string_lossy()));
    let paths: Vec<_> = paths.chain([("FERROCDF_PREFIX", prefix.into())]).collect();
    let env: Vec<(&str, &str)> = paths.iter().map(|(name, path)| (*name, &**path)).collect();
    cargo_test(Some("clients"), &["clients", "faults"], args, &env)
}

/// Runs the engine's tests, its comparison with the oracle among them, under AddressSanitizer. The compiler's unstable
/// flag is let through by `RUSTC_BOOTSTRAP`; the result is only run, never shipped.
pub fn sanitize(args: &[String]) -> Outcome {
    let extra: Vec<&str> = args.iter().map(String::as_str).collect();
    // Naming the target keeps the flag away from build scripts and macros.
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let test = ["test", "--package", "ferrocdf-array", "--test", "it", "--target", &target];
    let env = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")];
    cargo(&[&test[..], &["--target-dir", "target/sanitize"], &extra].concat(), &env)
}

/// Runs each fuzz target for a while.
pub fn fuzz(args: &[String]) -> Outcome {
    fuzz_with(args, &[])
}

fn fuzz_with(args: &[String], env: &[(&str, &str)]) -> Outcome {
    let mut extra: Vec<&str> = args.iter().map(String::as_str).collect();
    if extra.is_empty() {
        extra.push(FUZZ_SECONDS);
    }
    let run = ["run", "--quiet", "--profile", CHECKED, "--package", "ferrocdf-fuzz", "--"];
    cargo(&[&run[..], &extra].concat(), env)
}

/// The fuzz seed of a change: each commit has its own, and two runs of one commit see the same inputs.
fn seed() -> String {
    let commit = std::process::Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let number = commit.ok().and_then(|commit| u64::from_str_radix(&commit, 16).ok());
    number.unwrap_or(1).to_string()
}

/// Measures.
pub fn bench(args: &[String]) -> Outcome {
    // The bench runs the tools and the library that lie beside it.
    let packages = ["--package", "ferrocdf-tools", "--package", "ferrocdf-libnetcdf"];
    cargo(&[&["build", "--release"][..], &packages].concat(), &[])?;
    let extra: Vec<&str> = args.iter().map(String::as_str).collect();
    cargo(&[&["run", "--release", "--package", "ferrocdf-bench", "--"][..], &extra].concat(), &[])
}

/// Everything a change must pass.
pub fn ci(_args: &[String]) -> Outcome {
    let mut times = Vec::new();
    let done = steps(&mut times);
    println!();
    for (name, time) in &times {
        println!("{name:8} {:6.1} s", time.as_secs_f64());
    }
    let total: f64 = times.iter().map(|(_, time)| time.as_secs_f64()).sum();
    println!("{:8} {total:6.1} s", "total");
    done
}

/// Checks the format of all files, those that `cargo fmt` does not see too: a macro names them.
fn format() -> Outcome {
    const NAMED_BY_MACRO: &str = "crates/codec/src/filters";
    cargo(&["fmt", "--all", "--check"], &[])?;
    let entries = std::fs::read_dir(NAMED_BY_MACRO).map_err(|error| format!("{NAMED_BY_MACRO}: {error}"))?;
    // Of a folder, `rustfmt` finds the other files by itself.
    let file = |path: PathBuf| if path.is_dir() { path.join("mod.rs") } else { path };
    let files: Vec<String> =
        entries.flatten().map(|entry| file(entry.path()).display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run("rustfmt", &[&["--edition", "2024", "--check"][..], &files].concat(), &[])
}

fn steps(times: &mut Vec<(&'static str, std::time::Duration)>) -> Outcome {
    timed(times, "setup", || setup(&[]))?;
    // In a fresh clone fetching and making these takes minutes, most of them without the processor, which the lints need.
    let clients = std::thread::spawn(Clients::get);
    timed(times, "format", format)?;
    timed(times, "circles", || crate::circles::circles(&[]))?;
    timed(times, "names", || crate::names::names(&[]))?;
    timed(times, "clippy", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"], &[])
    })?;
    timed(times, "docs", || {
        let strict = [("RUSTDOCFLAGS", "-D warnings")];
        cargo(&["doc", "--workspace", "--no-deps", "--all-features"], &strict)
    })?;
    timed(times, "clients", || match clients.join() {
        Ok(done) => done.map(drop),
        Err(_) => Err("fetching the programs of others panicked".to_string()),
    })?;
    timed(times, "test", || test(&[]))?;
    timed(times, "features", || {
        // The other steps build everything with all features.
        let clippy = |packages: &[&str]| {
            cargo(&[&["clippy", "--no-default-features"], packages, &["--", "-D", "warnings"]].concat(), &[])
        };
        clippy(&["--package", "ferrocdf-tools", "--package", "ferrocdf-libnetcdf"])?;
        // Alone, since those need it with its features.
        clippy(&["--package", "ferrocdf"])
    })?;
    timed(times, "corpus", || corpus(&[]))?;
    timed(times, "sanitize", || sanitize(&[]))?;
    timed(times, "fuzz", || fuzz_with(&[], &[("FERROCDF_SEED", &seed())]))
}
