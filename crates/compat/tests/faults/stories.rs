//! Stories told through the C library.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_compat::python;

use crate::{SHARE, folder, named, number};

/// What fails: see `c/faults/fault.h`.
const KINDS: [&str; 6] = ["eio", "enospc", "eintr", "short", "zero", "full"];
/// A disk with so many KiB free, in place of a fault.
const DISK: &str = "disk";
/// How often: once, ten times, for ever.
const TIMES: [i64; 3] = [1, 10, -1];
/// How the program goes on: it repeats the call, goes on as if nothing had been, syncs and closes, closes, aborts, ends.
const WAYS: [char; 6] = ['r', 'g', 's', 'c', 'a', 'x'];
/// Cases that are run before they are judged.
const TOGETHER: usize = 300;

/// A story whose requests fail.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    request: u64,
    kind: &'static str,
    times: i64,
    way: char,
}

impl Case {
    /// All cases of a story with so many requests.
    fn all(requests: u64) -> impl Iterator<Item = Case> {
        let kinds = move |request| KINDS.into_iter().map(move |kind| (request, kind));
        let times = |(request, kind)| TIMES.into_iter().map(move |times| (request, kind, times));
        let ways = |(request, kind, times)| {
            // What is interrupted once does not fail, so there is one way to go on.
            let is_seen = times != 1 || matches!(kind, "eio" | "enospc" | "full");
            let ways = if is_seen { &WAYS[..] } else { &WAYS[..1] };
            ways.iter().map(move |&way| Case { request, kind, times, way })
        };
        (0..requests).flat_map(kinds).flat_map(times).flat_map(ways)
    }
}

/// The program that tells stories, and the stories.
struct Teller {
    folder: tempfile::TempDir,
    library: PathBuf,
    /// How many cases had a call that failed.
    failed: AtomicUsize,
}

impl Teller {
    fn new() -> Teller {
        let (folder, prefix) = (folder(), named("FERROCDF_PREFIX"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/faults");
        let library = prefix.join("lib");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-Wall", "-rdynamic", "-I"]).arg(prefix.join("include"));
        cc.args([source.join("story.c"), source.join("fault.c")]).arg("-L").arg(&library);
        cc.args(["-lnetcdf", "-ldl", "-o"]).arg(folder.path().join("story"));
        let done = cc.output().expect("there is a compiler");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let done = python::script("fault_stories.py").arg(folder.path()).status();
        assert!(done.expect("there is a Python").success());
        Teller { folder, library, failed: AtomicUsize::new(0) }
    }

    /// The names of all stories.
    fn stories(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("its own folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        let mut names: Vec<String> = names.filter(|name| name != "story" && !name.contains('.')).collect();
        names.sort_unstable();
        names
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, script: &Path) -> Command {
        let mut command = Command::new(self.path("story"));
        command.env("LD_LIBRARY_PATH", &self.library).arg(script);
        command
    }

    /// Runs a story without faults; how many requests it makes.
    fn count(&self, script: &Path, file: &Path) -> u64 {
        let output = self.command(script).arg("count").arg(file).output().expect("it was compiled");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", script.display());
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
    }

    /// How many requests a story makes; the file that it starts from is made, where nobody else does that.
    fn requests(&self, name: &str) -> u64 {
        let (before, start) = (self.path(&format!("{name}.before")), self.path(&format!("{name}.start")));
        if before.exists() && !start.exists() {
            self.count(&before, &start);
        }
        self.count(&self.path(name), &self.path(&format!("{name}.nc")))
    }

    /// Runs a command in a mount namespace of its own, where the folder that the environment variable DISK names is a file
    /// system of 8 MiB in memory.
    fn on_small_disk(&self, command: Command) -> Command {
        let disk = self.path("disk");
        std::fs::create_dir_all(&disk).expect("its own folder");
        let mut outer = Command::new("unshare");
        outer.args(["--map-root-user", "--mount", "sh", "-c"]);
        outer.arg("mount -t tmpfs -o size=8m none \"$DISK\" && exec \"$0\" \"$@\"");
        outer.arg(command.get_program()).args(command.get_args()).env("DISK", disk);
        outer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        outer
    }

    /// Runs cases of a story and judges what they leave; what is wrong, a line each.
    fn run(&self, name: &str, cases: &[Case]) -> Vec<String> {
        let folder = self.path(&format!("{name}.cases"));
        std::fs::create_dir_all(&folder).expect("its own folder");
        let mut wrong = Vec::new();
        for cases in cases.chunks(TOGETHER) {
            let mut list = String::new();
            for (number, Case { request, kind, times, way }) in cases.iter().enumerate() {
                writeln!(list, "c{number} {request} {kind} {times} {way}").expect("memory");
            }
            let path = self.path(&format!("{name}.list"));
            std::fs::write(&path, &list).expect("its own folder");
            let open = || Stdio::from(std::fs::File::open(&path).expect("just written"));
            let script = self.path(name);
            let mut run = self.command(&script);
            run.arg("run").arg(&folder);
            if cases.iter().any(|case| case.kind == DISK) {
                run = self.on_small_disk(run);
            }
            let output = run.stdin(open()).output().expect("it was compiled");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{name}: {errors} (a small disk needs root, or user namespaces)"
            );
            let has_failed = |number: &usize| {
                let log = std::fs::read_to_string(folder.join(format!("c{number}.log"))).expect("a log");
                log.lines().any(|line| line.split(' ').nth(1).is_some_and(|status| status != "0"))
            };
            self.failed.fetch_add((0..cases.len()).filter(has_failed).count(), Relaxed);
            for (reader, preloaded) in self.readers(name) {
                let mut judge = match reader {
                    "zarr" => python::newest_zarr("fault_judge.py"),
                    _ => python::script("fault_judge.py"),
                };
                judge.args([reader]).arg(&script).arg(&folder).stdin(open());
                if let Some(library) = preloaded {
                    judge.env("LD_PRELOAD", library);
                }
                let output = judge.output().expect("there is a Python");
                let said = String::from_utf8_lossy(&output.stdout);
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(said.ends_with("judged\n"), "{name}: {reader}: {errors}");
                let lines = said.lines().filter(|line| *line != "judged");
                wrong.extend(lines.map(|line| format!("{name}: {reader}: {line}")));
            }
        }
        wrong
    }

    /// Who reads what a story leaves: a reader of `fault_judge.py`, and the library that takes the place of its own.
    fn readers(&self, name: &str) -> Vec<(&'static str, Option<PathBuf>)> {
        let first = std::fs::read_to_string(self.path(&format!("{name}.before")))
            .or_else(|_| std::fs::read_to_string(self.path(name)))
            .expect("a story");
        let ours = ("netcdf4", Some(self.library.join("libnetcdf.so.22")));
        let theirs = ("netcdf4", None);
        match first.split([' ', '\n']).nth(1) {
            Some("nczarr2") => vec![theirs, ours, ("zarr", None)],
            Some("nczarr3") => vec![ours, ("zarr", None)],
            Some(kind) if kind.starts_with("cdf") => vec![theirs, ours],
            _ => vec![theirs, ours, ("h5py", None)],
        }
    }
}

/// Runs the cases of a story that `takes` takes, and counts them.
fn judge(teller: &Teller, name: &str, takes: impl Fn(&Case) -> bool) -> (usize, Vec<String>) {
    let cases: Vec<Case> = Case::all(teller.requests(name)).filter(takes).collect();
    (cases.len(), teller.run(name, &cases))
}

/// True for one in so many cases, chosen by a seed.
fn is_taken(number: usize, share: u64, seed: u64) -> bool {
    let mixed =
        (number as u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 32).is_multiple_of(share)
}

#[test]
fn whatever_fails_the_file_is_in_a_committed_state_and_nothing_that_was_confirmed_is_lost() {
    let teller = Teller::new();
    let (share, seed) = (number("FERROCDF_FAULTS").unwrap_or(SHARE), number("FERROCDF_SEED").unwrap_or(0));
    let stories = teller.stories();
    assert!(stories.len() >= 20, "{stories:?}");
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut all, mut wrong) = (0, Vec::new());
        while let Some(name) = stories.get(next.fetch_add(1, Relaxed)) {
            let number = AtomicUsize::new(0);
            let (count, some) = judge(&teller, name, |_| is_taken(number.fetch_add(1, Relaxed), share, seed));
            println!("{name}: {count} cases, {} wrong", some.len());
            all += count;
            wrong.extend(some);
        }
        (all, wrong)
    };
    let (all, wrong) = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let (own, mut wrong) = work();
        let (others, more) = other.join().expect("no panic");
        wrong.extend(more);
        (own + others, wrong)
    });
    println!("{all} cases, {} wrong", wrong.len());
    assert!(all > 500, "only {all} cases");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// How many bytes of a disk a file takes, or all files of a folder.
fn room_of(path: &Path) -> u64 {
    let about = std::fs::metadata(path).expect("it was made");
    if !about.is_dir() {
        return about.len();
    }
    let entries = std::fs::read_dir(path).expect("a folder");
    entries.map(|entry| room_of(&entry.expect("an entry").path()).next_multiple_of(4096)).sum()
}

#[test]
fn a_small_disk_that_is_full_and_gets_room_costs_nothing_that_was_committed() {
    let teller = Teller::new();
    let (share, seed) = (number("FERROCDF_FAULTS").unwrap_or(SHARE), number("FERROCDF_SEED").unwrap_or(0));
    let (mut all, mut wrong, mut number) = (0, Vec::new(), 0);
    for name in teller.stories() {
        teller.requests(&name);
        let size = room_of(&teller.path(&format!("{name}.nc")));
        // From no room to room for two copies of the file.
        let most = 2 * size / 1024 + 64;
        let steps = (0..48).map(|step| most * step / 48);
        let kinds = steps.flat_map(|kib| [1, -1].map(|times| (kib, times)));
        let cases =
            kinds.flat_map(|(request, times)| WAYS.map(|way| Case { request, kind: DISK, times, way }));
        let cases: Vec<Case> = cases
            .filter(|_| {
                number += 1;
                is_taken(number, share.div_ceil(4), seed)
            })
            .collect();
        all += cases.len();
        wrong.extend(teller.run(&name, &cases));
    }
    let failed = teller.failed.load(Relaxed);
    println!("{all} cases on a small disk, {failed} with a call that failed, {} wrong", wrong.len());
    assert!(all > 300 && failed > all / 10, "{failed} of {all} cases have a call that failed");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn one_write_that_fails_within_a_sync_does_not_cost_the_file() {
    let teller = Teller::new();
    let (count, wrong) = judge(&teller, "records", |case| {
        case.kind == "eio" && case.times == 1 && matches!(case.way, 'g' | 'c' | 'r')
    });
    assert!(count > 200 && wrong.is_empty(), "{count} cases:\n{}", wrong.join("\n"));
}

#[test]
fn a_chunk_that_is_written_over_on_a_full_disk_is_old_or_new() {
    let teller = Teller::new();
    for name in ["overwritten", "overwritten_deflate", "overwritten_checked"] {
        let (count, wrong) = judge(&teller, name, |case| matches!(case.kind, "full" | "enospc"));
        assert!(count > 200 && wrong.is_empty(), "{count} cases:\n{}", wrong.join("\n"));
    }
}

#[test]
fn definitions_of_classic_files_on_a_full_disk_leave_a_whole_header() {
    let teller = Teller::new();
    for name in ["classic1", "classic5", "edited_classic"] {
        let (count, wrong) = judge(&teller, name, |case| case.kind == "full");
        assert!(count > 50 && wrong.is_empty(), "{count} cases:\n{}", wrong.join("\n"));
    }
}

#[test]
fn records_that_a_put_skipped_have_fill_values() {
    let teller = Teller::new();
    let (count, wrong) = judge(&teller, "skipped_records", |case| case.kind == "eio" && case.times == 1);
    assert!(count > 50 && wrong.is_empty(), "{count} cases:\n{}", wrong.join("\n"));
}
