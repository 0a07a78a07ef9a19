//! Running other programs, and saying so.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a task ends: well, or with a sentence that says what went wrong.
pub type Outcome = Result<(), String>;

/// Makes the workspace's folder the current one, wherever the task was called from.
pub fn enter_root() -> Outcome {
    // Cargo says where the package is that it runs: a build that was copied with its tree was made elsewhere.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&package).join("../..");
    std::env::set_current_dir(&root).map_err(|error| format!("{}: {error}", root.display()))
}

/// Runs a program with the terminal as its own; prints its command line first.
pub fn run(program: &str, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let set: String = env.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    println!("$ {set}{program} {}", args.join(" "));
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    let status = command.args(args).envs(env.iter().copied()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} {} ended with {status}", args.join(" "))),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// True for the variables that cargo sets for the programs of a package, which this one is. Some build scripts (that of `ring`) run again
/// where these are others, and a third of the workspace is built anew.
fn is_of_this_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Tests that want HDF5 plugins say which: what is installed on a machine must not change what the reference can read.
const NO_PLUGINS: (&str, &str) = ("HDF5_PLUGIN_PATH", "/no/plugins");

/// Runs cargo, the one this task was started by.
pub fn cargo(args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    run(&cargo, args, &[&[NO_PLUGINS][..], env].concat())
}

/// Whether a program runs without complaint; what it prints is dropped.
pub fn works(program: &str, args: &[&str]) -> bool {
    let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs one step of many and remembers how long it took.
pub fn timed(
    times: &mut Vec<(&'static str, Duration)>,
    name: &'static str,
    step: impl FnOnce() -> Outcome,
) -> Outcome {
    println!("\n== {name} ==");
    let start = Instant::now();
    let done = step();
    times.push((name, start.elapsed()));
    done.map_err(|why| format!("{name}: {why}"))
}
