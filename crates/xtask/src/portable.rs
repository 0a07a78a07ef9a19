//! `portable`: the crates on other machines than this one.
//!
//! The tests of the crates that read and write formats run on a machine of 32 bits and on a big-endian one; for WebAssembly and Windows,
//! which run nothing here, the compiler looks at the crates.
//!
//! The compiler and the standard libraries of all targets but Windows are packages of Debian unstable, unpacked below
//! `target/portable`: a machine whose Rust comes without `rustup` gets them too, and nothing on it changes. Debian has no standard
//! library for Windows any more, so that one comes from `rustup`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::run::{Outcome, cargo, run, works};
use crate::setup;
use crate::source::{self, text};

/// The crates whose tests run.
const PACKAGES: [&str; 7] = ["bytes", "model", "classic", "codec", "store", "hdf5", "array"];

/// The crates that the compiler looks at: those, and what stands on them.
const CHECKED: [&str; 3] = ["zarr", "hdf4", ""];

/// A target and how its programs are run.
struct Target {
    /// The first part of the names of the target and of its C compiler.
    name: &'static str,
    /// The name of the architecture in Debian.
    debian: &'static str,
    /// The program that runs the target's programs; the processor of this machine runs those without.
    runner: Option<&'static str>,
    rustflags: &'static str,
    /// Tests that cannot pass here, and the reason.
    skipped: &'static [&'static str],
    reason: &'static str,
}

const TARGETS: [Target; 2] = [
    Target {
        name: "i686",
        debian: "i386",
        runner: None,
        // The C library for cross compilers lies apart from where programs look for it.
        rustflags: "-Clink-arg=-Wl,--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2,-rpath,/usr/i686-linux-gnu/lib",
        skipped: &[],
        reason: "",
    },
    Target {
        name: "s390x",
        debian: "s390x",
        runner: Some("qemu-s390x -L /usr/s390x-linux-gnu"),
        rustflags: "",
        skipped: &[
            "chunk_writing::another_thread_makes_room_and_its_error_waits_for_the_owner",
            "chunk_writing::small_budgets_do_not_change_results",
            "chunk_writing::stored_bytes_do_not_depend_on_the_number_of_threads",
            "chunk_writing::writers_of_many_files_share_one_budget",
        ],
        reason: "it starts its own program again, which the kernel cannot run without the emulator",
    },
];

/// A target whose programs do not run here.
struct CheckTarget {
    name: &'static str,
    triple: &'static str,
    /// The C compiler, for the filters that are written in C.
    c_compiler: &'static str,
    archiver: &'static str,
    /// True if the standard library is one of `rustup`, and so goes with this machine's own compiler.
    from_rustup: bool,
    options: &'static [&'static str],
}

const CHECK_TARGETS: [CheckTarget; 2] = [
    CheckTarget {
        name: "wasm32",
        triple: "wasm32-unknown-unknown",
        c_compiler: "clang",
        archiver: "ar",
        from_rustup: false,
        // Neither threads nor plugins, nor the codec `zfpy`.
        options: &["--no-default-features"],
    },
    CheckTarget {
        name: "windows",
        triple: "x86_64-pc-windows-gnu",
        c_compiler: "x86_64-w64-mingw32-gcc",
        archiver: "x86_64-w64-mingw32-ar",
        from_rustup: true,
        // Plugins are libraries of Unix.
        options: &["--no-default-features", "--features=ferrocdf/threads,ferrocdf-codec/zfpy"],
    },
];

/// Runs the tests, or the compiler alone, for the target that the first argument names, or for all; further arguments are filters of
/// tests.
pub fn portable(args: &[String]) -> Outcome {
    let (wanted, filters) = match args.split_first() {
        Some((name, filters)) => (Some(name.as_str()), filters),
        None => (None, args),
    };
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted == name);
    let tested: Vec<&Target> = TARGETS.iter().filter(|target| is_wanted(target.name)).collect();
    let checked: Vec<&CheckTarget> = CHECK_TARGETS.iter().filter(|target| is_wanted(target.name)).collect();
    if let (Some(name), true, true) = (wanted, tested.is_empty(), checked.is_empty()) {
        return Err(format!("no target \"{name}\": i686, s390x, wasm32 or windows"));
    }
    setup::portable()?;
    let folder = std::env::current_dir().map_err(text)?.join("target/portable");
    let compiler = compiler(&folder)?;
    // A failure on one target hides none of the others.
    let tests = tested.iter().map(|target| target.test(&folder, &compiler, filters));
    let checks = checked.iter().map(|target| target.check(&folder, &compiler));
    let failures: Vec<String> = tests.chain(checks).filter_map(Outcome::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

impl CheckTarget {
    /// Lets the compiler look at the crates; each warning is an error.
    fn check(&self, folder: &Path, compiler: &Path) -> Outcome {
        let triple = self.triple;
        let (lower, upper) = (triple.replace('-', "_"), triple.replace('-', "_").to_uppercase());
        let mut env = vec![
            (format!("CC_{lower}"), self.c_compiler.to_string()),
            (format!("AR_{lower}"), self.archiver.to_string()),
            (format!("CARGO_TARGET_{upper}_RUSTFLAGS"), "-Dwarnings".to_string()),
        ];
        if self.from_rustup {
            run("rustup", &["target", "add", triple], &[])?;
        } else {
            env.push(("RUSTC".to_string(), compiler.display().to_string()));
        }
        let env: Vec<(&str, &str)> =
            env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // Two compilers would make each other's files anew.
        let build =
            folder.join(if self.from_rustup { "build-rustup" } else { "build" }).display().to_string();
        let packages: Vec<String> = PACKAGES.iter().chain(&CHECKED).map(|package| of(package)).collect();
        let mut check = vec!["check", "--lib", "--target", triple, "--target-dir", &build];
        check.extend(self.options);
        check.extend(packages.iter().map(String::as_str));
        cargo(&check, &env)
    }
}

/// Returns the option of cargo that chooses a crate by the part of its name behind `ferrocdf-`.
fn of(package: &str) -> String {
    match package {
        "" => "--package=ferrocdf".to_string(),
        package => format!("--package=ferrocdf-{package}"),
    }
}

impl Target {
    /// Runs the tests whose names contain one of the filters.
    fn test(&self, folder: &Path, compiler: &Path, filters: &[String]) -> Outcome {
        let (name, upper) = (self.name, self.name.to_uppercase());
        let gcc = format!("{name}-linux-gnu-gcc");
        let mut env = vec![
            ("RUSTC".to_string(), compiler.display().to_string()),
            ("CARGO_PROFILE_DEV_DEBUG".to_string(), "0".to_string()),
            (format!("CARGO_TARGET_{upper}_UNKNOWN_LINUX_GNU_LINKER"), gcc.clone()),
            (format!("CARGO_TARGET_{upper}_UNKNOWN_LINUX_GNU_RUSTFLAGS"), self.rustflags.to_string()),
            (format!("CC_{name}_unknown_linux_gnu"), gcc),
            (format!("AR_{name}_unknown_linux_gnu"), format!("{name}-linux-gnu-ar")),
        ];
        if let Some(runner) = self.runner {
            env.push((format!("CARGO_TARGET_{upper}_UNKNOWN_LINUX_GNU_RUNNER"), runner.to_string()));
        }
        let env: Vec<(&str, &str)> =
            env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let packages = PACKAGES.map(of);
        let triple = format!("{name}-unknown-linux-gnu");
        let build = folder.join("build").display().to_string();
        let mut test = vec!["test", "--tests", "--no-fail-fast", "--target", &triple, "--target-dir", &build];
        test.extend(packages.iter().map(String::as_str));
        test.push("--");
        test.extend(filters.iter().map(String::as_str));
        for skipped in self.skipped {
            println!("portable: {name}: {skipped} is skipped: {}", self.reason);
            test.extend(["--skip", skipped]);
        }
        cargo(&test, &env)
    }
}

/// Returns the compiler with the standard libraries of this machine and of all targets; fetches it if it is not there yet.
fn compiler(folder: &Path) -> Result<PathBuf, String> {
    let wrapper = folder.join("rustc");
    let has_std = || folder.join("root/usr/lib/rustlib/wasm32-unknown-unknown").is_dir();
    let is_there = || has_std() && works(&wrapper.to_string_lossy(), &["--version"]);
    if is_there() {
        return Ok(wrapper);
    }
    std::fs::create_dir_all(folder).map_err(text)?;
    let others = TARGETS.map(|target| target.debian);
    let lists = source::Lists::fetch(folder, "deb", &source::site()?, "sid", &others)?;
    let mut packages = ["rustc", "libstd-rust-dev", "libstd-rust-dev-wasm32"].map(str::to_string).to_vec();
    packages.extend(others.map(|other| format!("libstd-rust-dev:{other}")));
    // The compiler is a library; its name has the version.
    let library = |name: &String| name.starts_with("lib") || name.starts_with("zlib");
    let names = lists.dependencies(&["libstd-rust-dev"])?;
    packages.extend(names.into_iter().filter(|name| library(name) && !name.ends_with("-dev")));
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    lists.get(&[&["download"], &packages[..]].concat())?;
    let root = source::unpack_packages(folder)?;
    // The compiler needs a newer C library than the machine may have.
    let libraries = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let usr = root.join("usr");
    let script = format!(
        "#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} {usr}/bin/rustc --sysroot {usr} \"$@\"\n",
        libraries = libraries.display(),
        usr = usr.display(),
    );
    std::fs::write(&wrapper, script).map_err(text)?;
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).map_err(text)?;
    if is_there() { Ok(wrapper) } else { Err(format!("the compiler {} does not work", wrapper.display())) }
}
