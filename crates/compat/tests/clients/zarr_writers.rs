//! Zarr stores that processes write at the same time, and that killed processes leave.
//!
//! The processes are this test binary again. zarr-python judges what they leave.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::{
    AppendOptions, Atomic, Container, CreateOptions, DataModel, File, FileMut, Format, GroupId, Location,
    OpenOptions, Result, Values, VarId,
};
use ferrocdf_compat::python;
use ferrocdf_compat::servers::{BUCKET, Moto};

use crate::folder;

/// Tells a process what to write: the store, and its number or nothing.
const STORE: &str = "FERROCDF_WRITERS_STORE";
const NUMBER: &str = "FERROCDF_WRITERS_NUMBER";
const SECONDS: &str = "FERROCDF_WRITERS_SECONDS";

const PROCESSES: u64 = 8;
const ROWS: u64 = 32;
const COLUMNS: u64 = 200;

/// Whether the tests run at full length, or only as long as each run can afford.
fn is_whole() -> bool {
    std::env::var_os("FERROCDF_EVERY").is_some()
}

fn open(store: &str) -> Result<File> {
    File::open_location(&Location::parse(store.as_bytes())?, &OpenOptions::default())
}

/// Starts this test binary as a process that runs one of its ignored tests.
fn start(test: &str, store: &str, environment: &[(&str, String)]) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([&format!("zarr_writers::{test}"), "--exact", "--ignored", "--nocapture"]);
    command.env(STORE, store).env("NO_PROXY", "*");
    command.envs(environment.iter().map(|(name, value)| (*name, value)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program")
}

/// Makes a store of variables of rows: numbers in chunks of one row, numbers and text in chunks of many rows, and in version 3 numbers in
/// shards.
fn make_regions(store: &str, container: Container) -> Result<()> {
    let options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
    let file = FileMut::create_at(&Location::parse(store.as_bytes())?, &options)?;
    file.define(|model| {
        let y = model.def_dim(GroupId::ROOT, "y", Some(ROWS))?;
        let x = model.def_dim(GroupId::ROOT, "x", Some(COLUMNS))?;
        for (name, chunk) in [("whole", [1, 50]), ("parts", [16, 70])] {
            let var = model.def_var(GroupId::ROOT, name, Atomic::Int.into(), &[y, x])?;
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(chunk.to_vec()));
            storage.filters = vec![Filter { id: Filter::DEFLATE, params: vec![1] }];
        }
        let text = model.def_var(GroupId::ROOT, "text", Atomic::String.into(), &[y])?;
        model.var_mut(text).storage.chunking = Some(Chunking::Chunked(vec![16]));
        if container == Container::ZarrV3 {
            let var = model.def_var(GroupId::ROOT, "shards", Atomic::Int.into(), &[y, x])?;
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(vec![4, 40]));
            storage.shards = Some(vec![16, 80]);
        }
        Ok(())
    })?;
    file.close()
}

/// What a process writes in a round into each element of a row.
fn number(process: u64, round: u64) -> i32 {
    (round * PROCESSES + process) as i32
}

/// Writes the rows of one process, again and again, each time with other numbers.
fn write_rows(store: &str, process: u64, seconds: u64) -> Result<()> {
    let location = Location::parse(store.as_bytes())?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut round = 0;
    while Instant::now() < end {
        let file = FileMut::append_at(&location, &AppendOptions::default().merge(true))?;
        for turn in 0..5 {
            round += 1;
            let value = number(process, round);
            for row in (process..ROWS).step_by(PROCESSES as usize) {
                for var in 0..file.model().vars().len() {
                    let var = VarId(var as u32);
                    let _exact = match file.model().var(var).name == "text" {
                        true => {
                            let text = Values::String(vec![Some(value.to_string().into_bytes())]);
                            file.write_values(var, &[row], &[1], &text)?
                        }
                        false => {
                            let row_of = Values::Int(vec![value; COLUMNS as usize]);
                            file.write_values(var, &[row, 0], &[1, COLUMNS], &row_of)?
                        }
                    };
                }
            }
            if turn < 4 {
                file.sync()?;
            }
        }
        file.close()?;
    }
    println!("rounds {round}");
    Ok(())
}

#[test]
#[ignore = "run by another test"]
fn a_writer_of_rows() {
    let variable = |name: &str| std::env::var(name).expect("the test sets it");
    let number = |name: &str| variable(name).parse().expect("a number");
    write_rows(&variable(STORE), number(NUMBER), number(SECONDS)).unwrap();
}

/// Waits for a process that ends well, and returns the number behind a word in what it said last.
fn finish(child: Child, word: &str) -> u64 {
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let mut numbers = said.lines().rev().filter_map(|line| line.rsplit_once(word)?.1.trim().parse().ok());
    numbers.next().unwrap_or(0)
}

/// Lets processes write one store, and returns how many rounds each made.
fn write_together(store: &str, seconds: u64, environment: &[(&str, String)]) -> Vec<u64> {
    let start = |process: u64| {
        let own = [(NUMBER, process.to_string()), (SECONDS, seconds.to_string())];
        let all: Vec<_> = own.into_iter().chain(environment.iter().cloned()).collect();
        start("a_writer_of_rows", store, &all)
    };
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    children.into_iter().map(|child| finish(child, "rounds ")).collect()
}

/// Checks that each row has what its process wrote last.
fn check_rows(store: &str, rounds: &[u64]) {
    let file = open(store).unwrap();
    let model = file.model();
    for var in model.var_ids_from(0) {
        let name = &model.var(var).name;
        for row in 0..ROWS {
            let process = row % PROCESSES;
            let wanted = number(process, rounds[process as usize]);
            let found = match *name == "text" {
                true => file.read_values(var, &[row], &[1]).unwrap(),
                false => file.read_values(var, &[row, 0], &[1, COLUMNS]).unwrap(),
            };
            let wanted = match found {
                Values::String(_) => Values::String(vec![Some(wanted.to_string().into_bytes())]),
                _ => Values::Int(vec![wanted; COLUMNS as usize]),
            };
            assert_eq!(found, wanted, "{store}: row {row} of {name:?}, rounds {rounds:?}");
        }
    }
}

/// zarr-python reads the same rows.
fn judge_rows(store: &Path, rounds: &[u64]) {
    let mut judge = python::newest_zarr("zarr_rows.py");
    judge.arg(store).args(rounds.iter().map(u64::to_string)).stderr(Stdio::piped());
    python::finish(judge.spawn().expect("a Python that starts"));
}

#[test]
fn processes_that_write_regions_of_one_store_lose_nothing() {
    let scene = tempfile::tempdir().unwrap();
    let seconds = if is_whole() { 60 } else { 3 };
    for (name, container) in [("2.zarr", Container::ZarrV2), ("3.zarr", Container::ZarrV3)] {
        let path = scene.path().join(name);
        let store = path.display().to_string();
        make_regions(&store, container).unwrap();
        let rounds = write_together(&store, seconds, &[]);
        println!("{name}: rounds {rounds:?}");
        assert!(rounds.iter().all(|&rounds| rounds >= 5), "{rounds:?}");
        check_rows(&store, &rounds);
        judge_rows(&path, &rounds);
    }
}

#[test]
fn processes_that_write_regions_of_a_store_in_a_bucket_lose_nothing() {
    let moto = Moto::serve(&folder("FERROCDF_PYTHON"));
    let environment = moto.environment();
    let store = format!("s3://{BUCKET}/regions.zarr");
    let scene = tempfile::tempdir().unwrap();
    let local = scene.path().join("made.zarr").display().to_string();
    make_regions(&local, Container::ZarrV3).unwrap();
    let run = |from: &str, to: &str| {
        let mut copy = Command::new(folder("FERROCDF_PREFIX").join("bin/nccopy"));
        copy.args(["-k", "nczarr3", from, to]).envs(environment.iter().map(|(name, value)| (*name, value)));
        let done = copy.env("NO_PROXY", "*").output().expect("a program that starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run(&local, &store);
    let rounds = write_together(&store, if is_whole() { 60 } else { 3 }, &environment);
    println!("in a bucket: rounds {rounds:?}");
    let back = scene.path().join("back.zarr");
    run(&store, &back.display().to_string());
    check_rows(&back.display().to_string(), &rounds);
    judge_rows(&back, &rounds);
}

/// Numbers of a record, records between two syncs, and kills: all, and in each run.
const WIDTH: u64 = 500;
const SYNC: u64 = 3;
const KILLS: [usize; 2] = [40, 500];

/// The numbers of a record.
fn record(number: u64) -> Vec<f32> {
    (0..WIDTH).map(|at| (number * 31 + at) as f32).collect()
}

/// Appends records until the process is killed, to a new store or to the one that an earlier process left.
fn append(store: &str) -> Result<()> {
    let location = Location::parse(store.as_bytes())?;
    let file = match open(store) {
        Ok(file) if file.variable("plain").is_ok() => {
            FileMut::append_at(&location, &AppendOptions::default())?
        }
        _ => {
            let is_v2 = store.contains("v2");
            let container = if is_v2 { Container::ZarrV2 } else { Container::ZarrV3 };
            let options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
            let file = FileMut::create_at(&location, &options)?;
            file.add_unlimited_dimension("time")?;
            file.add_dimension("x", WIDTH)?;
            let packed = file.add_variable::<f32>("packed", &["time", "x"])?.id();
            file.define(|model| {
                let storage = &mut model.var_mut(packed).storage;
                storage.chunking = Some(Chunking::Chunked(vec![7, 200]));
                storage.filters = vec![Filter { id: Filter::DEFLATE, params: vec![1] }];
                storage.shards = (!is_v2).then(|| vec![14, 400]);
                Ok(())
            })?;
            file.add_variable::<f32>("plain", &["time", "x"])?;
            file
        }
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
fn a_writer_that_is_killed() {
    append(&std::env::var(STORE).expect("the test sets it")).unwrap();
}

/// What a writer says before the number of records, after each sync.
const SYNCED: &str = "synced ";

/// Lets a process write for a while, kills it, and returns the numbers of records with each sync. With `is_synced` the time begins with
/// its first sync, so that a slow machine kills writers that synced too.
fn write_and_kill(store: &str, after: Duration, is_synced: bool) -> Vec<u64> {
    let mut child = start("a_writer_that_is_killed", store, &[]);
    let mut said = BufReader::new(child.stdout.take().expect("it was piped"));
    let mut text = String::new();
    while is_synced && !text.contains(SYNCED) && said.read_line(&mut text).expect("lines of text") > 0 {}
    std::thread::sleep(after);
    if let Some(status) = child.try_wait().expect("a child") {
        let output = child.wait_with_output().expect("a child");
        panic!(
            "the writer of {store} ended by itself, {status}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    child.kill().expect("a child that runs");
    child.wait().expect("a child");
    // The last line may be cut off.
    let _read = said.read_to_string(&mut text);
    text.lines().filter_map(|line| line.rsplit_once(SYNCED)?.1.parse().ok()).collect()
}

/// Says what is wrong with a store after these syncs, each with its number of records.
fn wrong(store: &str, syncs: &[u64]) -> Option<String> {
    let synced = syncs.last().copied().unwrap_or(0);
    let file = match open(store) {
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
    let missing = syncs.iter().find(|number| file.attribute::<Values>(&format!("at_{number}")).is_err());
    missing.map(|number| format!("attribute at_{number} is not there"))
}

#[test]
fn what_a_killed_writer_of_a_store_had_synced_is_there() {
    let scene = tempfile::tempdir().expect("a folder");
    let kills = KILLS[usize::from(is_whole())];
    let (mut synced_at_all, mut failures, mut shown) = (0, vec![], vec![]);
    let mut random = std::env::var("FERROCDF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    for number in 0..kills / 2 {
        let kind = if number % 2 == 0 { "v2" } else { "v3" };
        let path: PathBuf = scene.path().join(format!("{kind}-{number}.zarr"));
        let store = path.display().to_string();
        let mut syncs = vec![];
        // The second writer goes on with what the first one left.
        for turn in 0..2 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let after = Duration::from_micros(5000 + (random >> 33) % 60_000);
            let told = write_and_kill(&store, after, turn == 1);
            synced_at_all += usize::from(!told.is_empty());
            syncs.extend(told);
            failures
                .extend(wrong(&store, &syncs).map(|what| format!("{store}, kill {turn}, {syncs:?}: {what}")));
        }
        if let Some(&synced) = syncs.last() {
            shown.push((path, synced));
        }
    }
    let mut judge = python::newest_zarr("zarr_records.py");
    for (path, synced) in &shown {
        judge.arg(path).arg(synced.to_string());
    }
    python::finish(judge.stderr(Stdio::piped()).spawn().expect("a Python that starts"));
    println!("{kills} kills, {synced_at_all} after a sync, {} stores shown to zarr-python", shown.len());
    assert!(synced_at_all > kills / 4, "only {synced_at_all} writers came to sync");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
