//! Fuzz targets and the driver that runs them on a stable toolchain.
//!
//!     ferrocdf-fuzz [SECONDS [TARGET [SEED]]]
//!     ferrocdf-fuzz replay TARGET FILE
//!
//! The seed is the one given, else the number in `FERROCDF_SEED`, else the time.
//!
//! A target is a function of bytes, in a table. The driver feeds it mutations of a few valid files, made here, for some
//! time; a run with the same seed makes the same inputs. A failure is a panic, memory beyond a small multiple of the
//! input, or a call that does not come back soon; its input is saved under `target/fuzz`. There is no coverage feedback:
//! the targets can be handed to cargo-fuzz as they are, but that needs a nightly toolchain and is not set up.
#![deny(unsafe_code)]

mod filters;
mod hdf5;
mod memory;
mod mutate;
mod seeds;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ferrocdf_store::testing::Rng;
use targets::{TARGETS, Target};

/// How many times its own size an input may cost in memory, on top of what its target is allowed.
const TIMES: usize = 64;

/// Where inputs are saved.
const FOLDER: &str = "target/fuzz";

/// A call that takes longer is saved, to be looked at.
const SLOW: Duration = Duration::from_secs(1);

/// A call that takes longer hangs, or nearly so.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["replay", target, file] => replay(target, file),
        [] => campaign(10, None, None),
        [seconds, ref rest @ ..] => match (seconds.parse(), rest.get(1).map(|seed| seed.parse())) {
            (Ok(seconds), None) => campaign(seconds, rest.first().copied(), None),
            (Ok(seconds), Some(Ok(seed))) => campaign(seconds, rest.first().copied(), Some(seed)),
            _ => Err("usage: ferrocdf-fuzz [SECONDS [TARGET [SEED]]] | replay TARGET FILE".to_string()),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fuzz: {why}");
            ExitCode::FAILURE
        }
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .ok_or_else(|| format!("no target {name}; there are: {}", names()))
}

fn replay(target: &str, file: &str) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let (time, peak) = run(find(target)?, &bytes)?;
    println!("{} bytes, {time:?}, {peak} bytes of memory", bytes.len());
    Ok(())
}

/// Runs the chosen target, or each, for some seconds.
fn campaign(seconds: u64, only: Option<&str>, seed: Option<u64>) -> Result<(), String> {
    let told = || std::env::var("FERROCDF_SEED").ok()?.parse().ok();
    let seed = seed.or_else(told).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |since| since.as_secs())
    });
    // A panic is told with its input, not by the default hook, which would print one of many.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(name) = only {
        return fuzz(find(name)?, seconds, seed);
    }
    TARGETS.iter().try_for_each(|target| fuzz(target, seconds, seed))
}

fn fuzz(target: &Target, seconds: u64, seed: u64) -> Result<(), String> {
    println!("{}: {seconds} s with seed {seed}", target.name);
    std::fs::create_dir_all(FOLDER).map_err(|error| format!("{FOLDER}: {error}"))?;
    let seeds = (target.seeds)();
    let structures: Vec<_> =
        seeds.iter().map(|seed| if target.repair { mutate::structures(seed) } else { Vec::new() }).collect();
    let mut rng = Rng::new(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut inputs, mut slowest, mut most) = (0u64, Duration::ZERO, 0);
    for seed in &seeds {
        check(target, seed, 0)?;
    }
    while Instant::now() < end {
        let input = match target.repair && rng.once_in(2) {
            true => mutate::repaired(&seeds, &structures, &mut rng),
            false => mutate::mutate(&seeds, &mut rng),
        };
        let (time, peak) = check(target, &input, seed)?;
        inputs += 1;
        if time > slowest && time > SLOW {
            let path = save(target, &input).map_err(|error| format!("a slow input not saved: {error}"))?;
            println!("  {time:.1?}: {}", path.display());
        }
        slowest = slowest.max(time);
        most = most.max(peak);
    }
    println!("  {inputs} inputs; the slowest took {slowest:.1?}, the largest {most} bytes of memory");
    Ok(())
}

/// Runs a target and saves the input if that fails.
fn check(target: &Target, input: &[u8], seed: u64) -> Result<(Duration, usize), String> {
    run(target, input).map_err(|why| match save(target, input) {
        Ok(path) => format!("{} with seed {seed}: {why}\n  input saved as {}", target.name, path.display()),
        Err(error) => format!("{} with seed {seed}: {why}\n  input not saved: {error}", target.name),
    })
}

/// Runs a target on an input. Gives the time it took and its peak of memory.
fn run(target: &Target, input: &[u8]) -> Result<(Duration, usize), String> {
    memory::keep(format!("{FOLDER}/{}-refused", target.name), input);
    let before = memory::restart_peak();
    let start = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let (time, peak) = (start.elapsed(), memory::peak().saturating_sub(before));
    if let Err(panic) = done {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        return Err(format!("panic: {said}"));
    }
    let allowed = target.memory + TIMES * input.len();
    if peak > allowed {
        return Err(format!(
            "{peak} bytes of memory for an input of {} bytes, {allowed} are allowed",
            input.len()
        ));
    }
    if time > PATIENCE {
        return Err(format!("took {time:?}"));
    }
    Ok((time, peak))
}

fn save(target: &Target, input: &[u8]) -> std::io::Result<PathBuf> {
    let folder = PathBuf::from(FOLDER);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}-{:016x}", target.name, mutate::fingerprint(input)));
    std::fs::write(&path, input)?;
    Ok(path)
}
