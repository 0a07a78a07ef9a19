//! `cargo xtask TASK`: the one door for everything that is done to this workspace.
//!
//! A task is a row of [`TASKS`]: name, help, function. Tasks run other programs and say which; nothing but the standard
//! library is needed, so that the first run on a fresh machine builds in a second.
#![forbid(unsafe_code)]

mod circles;
mod facts;
mod install;
mod names;
mod package;
mod portable;
mod published;
mod python;
mod python_source;
mod run;
mod rust_files;
mod setup;
mod source;
mod tasks;

use std::process::ExitCode;

use run::Outcome;

/// One task.
struct Task {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task { name: "setup", help: "install what the tests need, where it is missing", run: setup::setup },
    Task { name: "test", help: "setup, then every test that needs no other files", run: tasks::test },
    Task {
        name: "corpus",
        help: "tests over real files in ../shared/corpus, or in FERROCDF_CORPUS",
        run: tasks::corpus,
    },
    Task {
        name: "models",
        help: "random HDF5 files that h5py and netCDF4-python make, and filter plugins of others; FERROCDF_MODELS=COUNT[:SEED]",
        run: tasks::models,
    },
    Task {
        name: "clients",
        help: "programs that others wrote, on our C library, beside the same programs on the reference",
        run: tasks::clients,
    },
    Task {
        name: "python",
        help: "[PYTEST ARGUMENT...]: the wheel of the Python package, and its tests",
        run: python::python,
    },
    Task {
        name: "fuzz",
        help: "[SECONDS [TARGET [SEED]]]: hostile input for each target, 10 seconds each",
        run: tasks::fuzz,
    },
    Task {
        name: "install",
        help: "--prefix DIR [--destdir DIR] [--profile NAME]: the C library, its headers and the tools",
        run: install::install,
    },
    Task {
        name: "circles",
        help: "files that import each other in a circle, so that none can be read first",
        run: circles::circles,
    },
    Task {
        name: "names",
        help: "types of a crate that have the same name as another one",
        run: names::names,
    },
    Task {
        name: "package",
        help: "the packages of all published crates, each built from what its package holds; not part of ci",
        run: package::package,
    },
    Task {
        name: "portable",
        help: "[i686|s390x|wasm32|windows [FILTER...]]: tests on 32 bits and on a big-endian machine, compiler checks for the others; not part of ci",
        run: portable::portable,
    },
    Task { name: "sanitize", help: "the engine's tests under AddressSanitizer", run: tasks::sanitize },
    Task {
        name: "ci",
        help: "all of the above but package and portable, and format, lints and documentation",
        run: tasks::ci,
    },
    Task { name: "bench", help: "[NAME...]: measure against the reference library", run: tasks::bench },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = args.first() else {
        usage();
        return ExitCode::from(2);
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("no task \"{name}\"");
        usage();
        return ExitCode::from(2);
    };
    match run::enter_root().and_then(|()| (task.run)(&args[1..])) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask {name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    eprintln!("usage: cargo xtask TASK\n");
    for task in TASKS {
        eprintln!("  {:8} {}", task.name, task.help);
    }
}
