//! The test suites of netCDF-Fortran and netCDF-C++, built against our headers and linked to our library by their own
//! `configure` and `make check`.
//!
//! A build is kept under `target` for each release of the suite and each content of our headers: the programs load our
//! library when they run, so a change of the library alone needs no new build.
//!
//! Each test runs in a folder of its own, but for the examples: those that read files follow those that write them.
//! A program that fails for a reason is compiled once more with other lines, and then must pass.
//! netCDF-Fortran's `run_tst_filter.sh`, which is off by default, is left out: it wants plugins in the folder that
//! netCDF-Fortran is installed in.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::suite::{Excuse, Verdict, pkg_config, settle};
use crate::{folder, loads_only};

/// A test suite and what is expected of it.
struct Suite {
    /// The environment variable that names the folder of its source.
    source: &'static str,
    /// The folder of the library that it builds, under that of the build.
    library: &'static str,
    /// Options of its `configure`.
    options: &'static [&'static str],
    /// Its folders.
    folders: &'static [Folder],
    /// Programs that fail, each with the reason. All are Fortran.
    excused: &'static [Excuse],
}

/// A folder with tests.
struct Folder {
    name: &'static str,
    /// Number of tests in it: a test that the build leaves out is a failure.
    tests: usize,
    /// True if its tests run in one folder, in their order.
    is_shared: bool,
}

const fn apart(name: &'static str, tests: usize) -> Folder {
    Folder { name, tests, is_shared: false }
}

const fn shared(name: &'static str, tests: usize) -> Folder {
    Folder { name, tests, is_shared: true }
}

const FORTRAN: Suite = Suite {
    source: "FERROCDF_FORTRAN",
    library: "fortran/.libs",
    // One library is compiled, not two, and programs are linked once.
    options: &["--disable-shared"],
    folders: &[
        apart("nf_test", 7),
        apart("nf03_test", 2),
        apart("nf_test4", 28),
        apart("nf03_test4", 15),
        shared("examples/F77", 2),
        shared("examples/F90", 2),
    ],
    excused: &[old_cache("ftst_vars"), old_cache("f03tst_vars")],
};

/// The excuse of a program that knows the chunk cache of older releases only.
const fn old_cache(program: &'static str) -> Excuse {
    Excuse {
        program,
        changes: &[
            ("DEFAULT_CACHE_SIZE = 16777216", "DEFAULT_CACHE_SIZE = 67108864"),
            ("DEFAULT_CACHE_NELEMS = 4133", "DEFAULT_CACHE_NELEMS = 1000"),
        ],
        why: "wants the default chunk cache of netCDF-C 4.9; ours is that of 4.10.1",
    }
}

const CXX: Suite = Suite {
    source: "FERROCDF_CXX",
    library: "cxx4/.libs",
    // Its filter plugins are shared libraries.
    options: &["--disable-static", "--disable-fast-install"],
    folders: &[apart("cxx4", 9), shared("examples", 8)],
    excused: &[],
};

/// Tests that run one after the other in one folder.
struct Group<'a> {
    folder: &'a str,
    tests: Vec<String>,
}

impl Suite {
    /// Builds the suite and runs its tests.
    fn judge(&self) {
        let source = folder(self.source);
        let build = build(&source, self.options);
        let mut groups = vec![];
        for folder in self.folders {
            let tests = tests(&build.join(folder.name));
            assert_eq!(tests.len(), folder.tests, "tests in {}: {tests:?}", folder.name);
            let programs = programs(&build.join(folder.name));
            let search = self.search(&build);
            let loads = |program: &PathBuf| loads_only(program, &search, &[&library(), &build]);
            assert!(programs.iter().filter(|program| loads(program)).count() > 0, "{}", folder.name);
            if folder.is_shared {
                groups.push(Group { folder: folder.name, tests });
            } else {
                groups.extend(tests.into_iter().map(|test| Group { folder: folder.name, tests: vec![test] }));
            }
        }
        let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![]));
        std::thread::scope(|scope| {
            for _ in 0..threads() {
                scope.spawn(|| {
                    while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let done = group.judge(self, &source, &build);
                        verdicts.lock().expect("no thread panics").extend(done);
                    }
                });
            }
        });
        self.report(&verdicts.into_inner().expect("no thread panics"));
    }

    /// The folders to search for libraries, as the loader wants them.
    fn search(&self, build: &Path) -> OsString {
        let folders = [build.join(self.library), library()];
        std::env::join_paths(folders).expect("no colon in them")
    }

    /// Prints what passes and what is excused; panics if anything else happened.
    fn report(&self, verdicts: &[Verdict]) {
        let all: usize = self.folders.iter().map(|folder| folder.tests).sum();
        let (mut passed, mut failures, mut notes) = (0, vec![], vec![]);
        for verdict in verdicts {
            match verdict {
                Verdict::Passes => passed += 1,
                Verdict::Excused(why) => notes.push(why.as_str()),
                Verdict::Fails(why) => failures.push(why.as_str()),
            }
        }
        println!("{}: {passed} of {all} tests pass\n{}", self.source, notes.join("\n"));
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
        assert_eq!(passed + self.excused.len(), all, "every test passes or is excused");
    }
}

/// Threads to work with: as many as the machine runs at once.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Group<'_> {
    /// Judges the tests in a new folder that has the programs of their folder.
    fn judge(&self, suite: &Suite, source: &Path, build: &Path) -> Vec<Verdict> {
        let tree = tempfile::tempdir().expect("a folder for the test");
        let (made, here) = (build.join(self.folder), tree.path().join(self.folder));
        fs::create_dir_all(&here).expect("a new folder");
        // Scripts expect these settings beside their folder.
        let settings = build.join("test_common.sh");
        if settings.is_file() {
            symlink(settings, tree.path().join("test_common.sh")).expect("a new name");
        }
        for program in programs(&made) {
            symlink(&program, here.join(program.file_name().expect("it has a name"))).expect("a new name");
        }
        for file in files(&made) {
            let place = here.join(file.file_name().expect("it has a name"));
            match file.extension().and_then(OsStr::to_str) {
                Some("sh") => symlink(&file, place).expect("a new name"),
                // Data that `configure` put there; a test may write to it.
                Some("nc") => drop(fs::copy(&file, place).expect("it can be copied")),
                _ => {}
            }
        }
        // The scripts that `configure` does not write are in the source.
        let sources = [made, source.join(self.folder)];
        let judge = |test: &String| {
            settle(test, suite.excused, |excuse| {
                let script = sources.iter().map(|folder| folder.join(test)).find(|path| path.is_file());
                let program = match excuse {
                    Some(excuse) => compile(excuse, &sources, build, &here)?,
                    None => here.join(test),
                };
                let mut command = match script.filter(|_| test.ends_with(".sh")) {
                    Some(script) => {
                        let mut command = Command::new("bash");
                        command.arg(script);
                        command
                    }
                    None => Command::new(program),
                };
                command.current_dir(&here).env("srcdir", source.join(self.folder)).stdin(Stdio::null());
                command.env("LD_LIBRARY_PATH", suite.search(build));
                finish(&mut command, self.folder)
            })
        };
        self.tests.iter().map(judge).collect()
    }
}

/// Compiles an excused Fortran program with other lines.
fn compile(excuse: &Excuse, sources: &[PathBuf], build: &Path, to: &Path) -> Result<PathBuf, String> {
    let name = Path::new(excuse.program).with_extension("F");
    // Sources that the build makes of others are in its folder.
    let source = sources.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    let source = source.ok_or_else(|| format!("there is no {}", name.display()))?;
    let (module, program) = (build.join("fortran"), to.join("changed"));
    let mut compiler = Command::new("gfortran");
    compiler.args(["-w", "-fallow-argument-mismatch", "-I"]).arg(&module);
    compiler.arg("-o").arg(&program).arg(excuse.change(&source, to)?);
    for folder in [module.join(".libs"), library()] {
        compiler.arg("-L").arg(&folder).arg(format!("-Wl,-rpath,{}", folder.display()));
    }
    compiler.args(["-lnetcdff", "-lnetcdf"]);
    finish(&mut compiler, "gfortran")?;
    Ok(program)
}

/// The folder of our library.
fn library() -> PathBuf {
    folder("FERROCDF_PREFIX").join("lib")
}

/// The programs of a folder: where libtool has put them into a folder of their own, scripts beside it only start them.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| path.extension().is_none() && starts_with(path, b"\x7fELF");
    [folder, &folder.join(".libs")].into_iter().flat_map(files).filter(is_program).collect()
}

/// True if these are the first bytes of a file.
fn starts_with(path: &Path, bytes: &[u8]) -> bool {
    let mut start = vec![0; bytes.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == bytes
}

/// The files of a folder; none if it is not there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect()
}

/// Runs a command; the last lines of its outputs if it fails.
fn finish(command: &mut Command, what: &str) -> Result<(), String> {
    let done = command.output().map_err(|error| format!("{what}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let last = |output: &[u8]| {
        let text = String::from_utf8_lossy(output);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    };
    Err(format!("{what}: {}\n{}\n{}", done.status, last(&done.stdout), last(&done.stderr)))
}

/// The names of the tests of a folder, as its makefile has them.
fn tests(folder: &Path) -> Vec<String> {
    let print = Command::new("make")
        .args(["-s", "--eval", "tests:;@echo $(TESTS)", "tests"])
        .current_dir(folder)
        .output()
        .expect("there is make");
    assert!(print.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&print.stderr));
    String::from_utf8_lossy(&print.stdout).split_whitespace().map(str::to_string).collect()
}

/// Configures and compiles a suite, its library and its tests; the folder of the build.
fn build(source: &Path, options: &[&str]) -> PathBuf {
    let prefix = folder("FERROCDF_PREFIX");
    let release = source.file_name().expect("it has a name").to_string_lossy().into_owned();
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{release}-{:016x}", key(&prefix, options)));
    let done = folder.join("built");
    if done.is_file() {
        return folder;
    }
    // A build that was stopped may be half there.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the build");
    // The plugins of netCDF-C++ include headers of HDF5.
    let hdf5 = pkg_config("--cflags").expect("the headers of HDF5").join(" ");
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    // A shell that starts fast: `configure` starts thousands.
    let mut configure = Command::new("sh");
    configure
        .arg(source.join("configure"))
        .args(["--disable-dependency-tracking", "--quiet"])
        .args(options)
        .arg(format!("CPPFLAGS=-I{} {hdf5}", include.display()))
        .arg(format!("LDFLAGS=-L{0} -Wl,-rpath,{0}", lib.display()))
        .args(["CFLAGS", "CXXFLAGS", "FFLAGS", "FCFLAGS"].map(|name| format!("{name}=-O0 -w")))
        .env("CONFIG_SHELL", "/bin/sh")
        .current_dir(&folder);
    finish(&mut configure, "configure").unwrap_or_else(|why| panic!("{release}: {why}"));
    let mut make = Command::new("make");
    make.args(["-s", &format!("-j{}", threads()), "SHELL=/bin/sh", "check", "TESTS="]).current_dir(&folder);
    finish(&mut make, "make").unwrap_or_else(|why| panic!("{release}: {why}"));
    fs::write(&done, "").expect("a new file");
    folder
}

/// A number for what the build depends on besides its source: its options, our headers, and where the library is.
fn key(prefix: &Path, options: &[&str]) -> u64 {
    let mut headers: Vec<PathBuf> = fs::read_dir(prefix.join("include"))
        .expect("the headers are installed")
        .map(|entry| entry.expect("they can be listed").path())
        .collect();
    headers.sort();
    let mut hasher = DefaultHasher::new();
    (prefix, options).hash(&mut hasher);
    for header in headers {
        fs::read(header).expect("it can be read").hash(&mut hasher);
    }
    hasher.finish()
}

#[test]
fn tests_of_netcdf_fortran() {
    FORTRAN.judge();
}

#[test]
fn tests_of_netcdf_cxx() {
    CXX.judge();
}
