//! `cargo xtask bench`: ferrocdf against netcdf-c, the same work on the same data, turn by turn.
//!
//! Every turn is a process of its own, so that CPU time and peak memory are that turn's alone. Library workloads print the
//! seconds they spent in calls; tools are timed whole. The peer's programs are compiled here from `c/`.
//!
//! `bench [--turns N] [--only WORD] [--against FOLDER]` prints a table, against the programs of an earlier build in a folder
//! if it is named; `bench worker WORKLOAD FILE` is one turn of ours. `bench remote` prints the table of remote datasets.
#![forbid(unsafe_code)]

mod data;
mod hdf4;
mod measure;
mod remote;
mod rows;
mod stores;
mod workers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", what, path] => workers::run(what, path),
        ["remote-worker", what, url] => remote::worker(what, url),
        ["remote", ref options @ ..] => rows::options(options).and_then(|options| rows::run_remote(&options)),
        ref options => rows::options(options).and_then(|options| rows::run(&options)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}
