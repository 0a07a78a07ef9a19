//! A writing process is killed at any moment, 500 times: what it had synced must be there, for us, for h5py and for netCDF-C.
//!
//! The process is this test binary again: it appends records, adds attributes, and says each time how many records are
//! synced. What was written after the last sync may be there or not.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ferrocdf::model::Filter;
use ferrocdf::{CreateOptions, File, FileMut, Format};
use ferrocdf_compat::python::{script, texts};

/// How often, and one in how many is shown to the reference.
const KILLS: usize = 500;
const SHOWN: usize = 10;

/// Names the file to the process that writes it.
const FILE: &str = "FERROCDF_KILLED_FILE";
/// Numbers of a record, and records between two syncs.
const WIDTH: u64 = 500;
const SYNC: u64 = 3;

/// The numbers of a record.
fn record(number: u64) -> Vec<f32> {
    (0..WIDTH).map(|at| (number * 31 + at) as f32).collect()
}

/// What the process that is killed does: appends for ever. An existing file is gone on with.
fn append(path: &Path) -> ferrocdf::Result<()> {
    let file = if path.exists() {
        ferrocdf::append(path)?
    } else {
        let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4))?;
        file.add_unlimited_dimension("time")?;
        file.add_dimension("x", WIDTH)?;
        let packed = file.add_variable::<f32>("packed", &["time", "x"])?.id();
        file.define(|model| {
            model.var_mut(packed).storage.filters = vec![Filter { id: 1, params: vec![1] }];
            Ok(())
        })?;
        file.add_variable::<f32>("plain", &["time", "x"])?;
        file
    };
    let mut next = file.dimension("time").map_or(0, |dim| dim.len());
    loop {
        for name in ["packed", "plain"] {
            let var = file.variable_mut(name).expect("it was defined");
            var.put_values(&record(next), (next, ..))?;
        }
        next += 1;
        if next % SYNC == 0 {
            file.put_attribute("last", next as i64)?;
            file.put_attribute(&format!("at_{next}"), "x".repeat((next * 97 % 3000) as usize))?;
            file.sync()?;
            let mut out = std::io::stdout().lock();
            // A parent that is gone has no use for more.
            if writeln!(out, "synced {next}").and_then(|()| out.flush()).is_err() {
                return Ok(());
            }
        }
    }
}

#[test]
#[ignore = "run by another test"]
fn a_writer() {
    let path = std::env::var_os(FILE).expect("the file's name");
    append(Path::new(&path)).expect("a file that can be written");
}

/// Lets a process write for a while, kills it, and gives how many records it had synced.
fn write_and_kill(path: &Path, after: Duration) -> u64 {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["killed::a_writer", "--exact", "--ignored", "--nocapture"]).env(FILE, path);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("this program");
    std::thread::sleep(after);
    assert_eq!(child.try_wait().expect("a child"), None, "the writer ended by itself");
    child.kill().expect("a child that runs");
    let said = BufReader::new(child.stdout.take().expect("it was piped"));
    child.wait().expect("a child");
    let synced = |line: std::io::Result<String>| {
        line.ok().and_then(|line| line.rsplit_once("synced ").and_then(|(_, number)| number.parse().ok()))
    };
    said.lines().filter_map(synced).last().unwrap_or(0)
}

/// What is wrong with a file of which so many records were synced.
fn wrong(path: &Path, synced: u64) -> Option<String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(_) if synced == 0 => return None,
        Err(error) => return Some(error.to_string()),
    };
    let len = file.dimension("time").map_or(0, |dim| dim.len());
    if len < synced {
        return Some(format!("{len} records of {synced}"));
    }
    for number in 0..synced {
        for name in ["packed", "plain"] {
            let values = file.variable(name).ok()?.get_values::<f32, _>((number, ..));
            if values.as_ref().ok() != Some(&record(number)) {
                return Some(format!("record {number} of {name}: {:?}", values.map(|values| values[0])));
            }
        }
    }
    let missing = (1..=synced / SYNC)
        .map(|turn| turn * SYNC)
        .find(|number| file.attribute::<ferrocdf::Values>(&format!("at_{number}")).is_err());
    missing.map(|number| format!("attribute at_{number} is not there"))
}

#[test]
fn what_a_killed_writer_had_synced_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut shown, mut synced_at_all, mut failures) = (vec![], 0, vec![]);
    let mut random = 1u64;
    for number in 0..KILLS {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let after = Duration::from_micros(2000 + (random >> 33) % 40_000);
        // Every other writer goes on with what the one before left.
        let path: PathBuf = folder.path().join(format!("{}.nc", number / 2));
        let synced = write_and_kill(&path, after);
        synced_at_all += usize::from(synced > 0);
        failures.extend(wrong(&path, synced).map(|what| format!("kill {number}, {synced} synced: {what}")));
        if number % SHOWN == 1 && synced > 0 {
            shown.push((path, synced));
        }
    }
    let paths: Vec<&Path> = shown.iter().map(|(path, _)| &**path).collect();
    for ((path, _), text) in shown.iter().zip(texts(script("structure.py"), &paths)) {
        if !text.ends_with("\nend\n") || text.contains("Error") {
            failures.push(format!("{}: h5py: {}", path.display(), text.lines().last().unwrap_or_default()));
        }
    }
    for (path, _) in &shown {
        let run = Command::new("ncdump").arg(path).output().expect("the reference's ncdump");
        if !run.status.success() {
            let said = String::from_utf8_lossy(&run.stderr).into_owned();
            failures.push(format!("{}: ncdump: {said}", path.display()));
        }
    }
    println!("{KILLS} kills, {synced_at_all} after a sync, {} shown to the reference", shown.len());
    assert!(synced_at_all > KILLS / 4, "only {synced_at_all} writers came to sync");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
