//! An installed library serves programs: those built against it in each way that build systems know, and those that were
//! built against the reference.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::{root, run, source};

/// Where the library is installed, once for all tests.
pub fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        let mut install = ferrocdf_compat::cargo();
        install.current_dir(root()).args(["run", "--quiet", "--package", "ferrocdf-xtask", "--"]);
        run(install.args(["install", "--profile", "checked", "--prefix"]).arg(&prefix));
        prefix
    })
}

/// What the client prints, whatever library it runs with.
const PRINTED: &str = "time 3 (0 1.5 3)\nNetCDF: Variable not found\nNetCDF: Index exceeds dimension bound\n";

/// Flags that a tool prints, in words.
fn flags(tool: &mut Command) -> Vec<String> {
    run(tool.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")))
        .split_whitespace()
        .map(str::to_string)
        .collect()
}

/// Compiles the client with flags, and runs it with the installed library; gives what it printed and what it loaded.
fn client(flags: &[String]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    run(Command::new("cc")
        .args(["-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(source("client/client.c"))
        .args(flags));
    run_client(&program, folder.path())
}

fn run_client(program: &Path, folder: &Path) -> (String, String) {
    let libraries = prefix().join("lib");
    let printed = run(Command::new(program).arg(folder.join("client.nc")).env("LD_LIBRARY_PATH", &libraries));
    (printed, run(Command::new("ldd").arg(program).env("LD_LIBRARY_PATH", &libraries)))
}

/// Checks that a program ran well and with the installed library.
fn assert_served((printed, loaded): (String, String)) {
    assert_eq!(printed, PRINTED);
    let library = prefix().join("lib/libnetcdf.so.22");
    assert!(loaded.contains(&format!("=> {}", library.display())), "{loaded}");
}

#[test]
fn a_program_of_the_reference_runs() {
    // No folder of ours: the program is compiled and linked against what is installed on the machine.
    assert_served(client(&["-lnetcdf".to_string()]));
}

#[test]
fn pkg_config_knows_the_library() {
    let ask = |what: &[&str]| flags(Command::new("pkg-config").args(what).arg("netcdf >= 4.9.0"));
    assert_served(client(&ask(&["--cflags", "--libs"])));
    assert_eq!(ask(&["--variable=prefix"]), [prefix().to_str().unwrap()]);
}

#[test]
fn nc_config_knows_the_library() {
    let ask = |what: &[&str]| flags(Command::new(prefix().join("bin/nc-config")).args(what));
    assert_served(client(&ask(&["--cflags", "--libs"])));
    assert_eq!(ask(&["--version"]), ["netCDF", "4.10.1"]);
    assert_eq!(ask(&["--has-cdf5"]), ["yes"]);
}

#[test]
fn the_static_library_links() {
    let mut flags =
        flags(Command::new(prefix().join("bin/nc-config")).args(["--cflags", "--libs", "--static"]));
    for flag in &mut flags {
        if flag == "-lnetcdf" {
            *flag = "-l:libnetcdf.a".to_string();
        }
    }
    let (printed, loaded) = client(&flags);
    assert_eq!(printed, PRINTED);
    assert!(!loaded.contains("libnetcdf"), "{loaded}");
}

#[test]
fn a_cmake_project_finds_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path().join("build");
    let prefix_path = format!("-DCMAKE_PREFIX_PATH={}", prefix().display());
    run(Command::new("cmake").arg("-S").arg(source("client")).arg("-B").arg(&build).arg(&prefix_path));
    run(Command::new("cmake").arg("--build").arg(&build));
    assert_served(run_client(&build.join("client"), folder.path()));
}

/// All files below a folder; a link is none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .flat_map(|entry| match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&entry.path()),
            kind if kind.is_file() => vec![entry.path()],
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn an_installed_prefix_is_under_25_megabytes() {
    let sizes = files(prefix()).into_iter().filter(|file| !file.ends_with("libnetcdf.a"));
    let sizes: Vec<_> = sizes.map(|file| (std::fs::metadata(&file).unwrap().len(), file)).collect();
    let whole: u64 = sizes.iter().map(|(size, _)| size).sum();
    assert!(whole < 25_000_000, "{whole} bytes: {sizes:?}");
}

#[test]
fn the_programs_are_one_that_prefers_the_library_of_its_prefix() {
    // A library of that name without the programs, as netCDF-C's is, in a folder that the environment names.
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libnetcdf.so.22");
    std::fs::write(folder.path().join("other.c"), "int nc_open;").unwrap();
    run(Command::new("cc")
        .args(["-shared", "-nostdlib", "-Wl,-soname,libnetcdf.so.22", "-o"])
        .arg(&other)
        .arg(folder.path().join("other.c")));
    for (name, says) in [
        ("ncdump", "ncdump [-c|-h]"),
        ("ncgen", "Usage: ncgen [-1]"),
        ("ncgen3", "Usage: ncgen3 [ -b ]"),
        ("nccopy", "nccopy [-k kind]"),
        ("ferrocdf", "Usage: ferrocdf <COMMAND>"),
    ] {
        let mut program = Command::new(prefix().join("bin").join(name));
        let done = program.arg("--help").env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
        let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(said.contains(says), "{name}: {said}");
    }
}
