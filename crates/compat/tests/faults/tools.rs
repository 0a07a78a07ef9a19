//! `nccopy`, `ncgen`, `ferrocdf repack` and a program that brings a file from memory to the disk, whose requests fail or which are killed at
//! a request: they leave the whole file, or what was there before and nothing else.

use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{folder, named, number, shim};

/// One in how many cases a run takes.
const SHARE: u64 = 12;

/// What fails, and how often: see `c/faults/fault.h`. A process is also killed at each request, once.
const KINDS: [&str; 6] = ["eio", "enospc", "eintr", "short", "zero", "full"];
const TIMES: [i64; 3] = [1, 10, -1];
const KILL: &str = "kill";
const SIGKILL: i32 = 9;

/// What the names of temporary files begin with. The next run in the folder removes those of processes that were killed.
const TEMPORARY: &str = ".ferrocdf-";

/// What stands at the target before. A file that is repacked in its place is [`INPUT`].
const OLD: &[u8] = b"what was there before";

/// The netCDF-4 file that runs read, in two files those that join.
const INPUT: &str = "IN.nc";

/// The option with which the target is the input.
const IN_PLACE: &str = "--in-place";

/// Runs of the tools; `IN` stands for the input, `OUT` for the target, `ZIP` for the target as a Zarr store in a zip file.
const RUNS: &[(&str, &[&str])] = &[
    ("nccopy", &["-k", "classic", "IN.nc"]),
    ("nccopy", &["-k", "cdf5", "-w", "IN.nc"]),
    ("nccopy", &["-k", "netCDF-4", "-d", "1", "-s", "IN.nc"]),
    ("nccopy", &["-k", "netCDF-4 classic model", "-c", "t/7,x/11", "IN.nc"]),
    ("nccopy", &["-k", "nczarr3", "IN.nc", "ZIP"]),
    ("persist", &["IN.nc", "OUT"]),
    ("ncgen", &["-3", "-o", "OUT", "IN.cdl"]),
    ("ncgen", &["-5", "-x", "-o", "OUT", "IN.cdl"]),
    ("ncgen", &["-4", "-o", "OUT", "IN.cdl"]),
    ("ncgen", &["-7", "-o", "OUT", "IN.cdl"]),
    ("ferrocdf", &["join", "--no-history", "FIRST.nc", "SECOND.nc", "-o", "OUT"]),
    ("ferrocdf", &["join", "--no-history", "--virtual", "FIRST.nc", "SECOND.nc", "-o", "OUT"]),
    ("ferrocdf", &["repack", "--cloud", "--verify", "IN.nc", "OUT"]),
    ("ferrocdf", &["repack", "--cloud=cmip7", "IN.nc", "OUT"]),
    ("ferrocdf", &["repack", "--cloud=cmip7", IN_PLACE, "OUT"]),
];

/// A text with these records, fixed variables and attributes.
fn cdl(records: Range<i32>) -> String {
    let list = |range: Range<i32>| range.map(|at| (at * 7 % 1013).to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "netcdf same {{ dimensions: t = UNLIMITED ; x = 400 ; variables: int f(x) ; double r(t) ; float q(t, x) ; \
         f:long_name = \"fixed\" ; :title = \"what is copied\" ; data: f = {} ; r = {} ; q = {} ; }}",
        list(0..400),
        list(records.clone()),
        list(records.start * 400..records.end * 400)
    )
}

/// The folder of a test, with the input, the tools and what lets their requests fail.
struct Place {
    folder: tempfile::TempDir,
    shim: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = folder();
        let shim = shim(folder.path());
        compile_persist(folder.path());
        let place = Place { folder, shim };
        for (name, records) in [("IN", 0..40), ("FIRST", 0..20), ("SECOND", 20..40)] {
            let [text, file] = ["cdl", "nc"].map(|end| format!("{name}.{end}"));
            std::fs::write(place.path(&text), cdl(records)).expect("its own folder");
            let made = place.tool("ncgen", &["-4", "-o", &file, &text]).output().expect("it is installed");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        std::fs::create_dir(place.path("out")).expect("its own folder");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn target(&self) -> PathBuf {
        self.path("out/target")
    }

    fn tool(&self, name: &str, args: &[&str]) -> Command {
        let own = self.path(name);
        let program = if own.exists() { own } else { named("FERROCDF_PREFIX").join("bin").join(name) };
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        for &arg in args {
            match arg {
                "OUT" => command.arg("out/target"),
                "ZIP" => command.arg(format!("file://{}#mode=nczarr,v3,zip", self.target().display())),
                _ => command.arg(arg),
            };
        }
        if name == "nccopy" && !args.is_empty() && !args.contains(&"ZIP") {
            command.arg("out/target");
        }
        command
    }

    /// Runs a tool, on a target with these bytes before or on none.
    fn run(
        &self,
        (name, args): (&str, &[&str]),
        old: Option<&[u8]>,
        (variable, value): (&str, &str),
    ) -> Output {
        let _ = std::fs::remove_file(self.target());
        if let Some(old) = old {
            std::fs::write(self.target(), old).expect("its own folder");
        }
        let mut tool = self.tool(name, args);
        tool.env("LD_PRELOAD", &self.shim).env(variable, value);
        tool.output().expect("it is installed")
    }

    /// The names in the folder of the target.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("out")).expect("its own folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    /// What is wrong after a run that should leave `whole`, or `old`. A file that is repacked in its place is whole too if only the system
    /// did not say that the disk has its name.
    fn wrong(
        &self,
        output: &Output,
        whole: &[u8],
        must_succeed: bool,
        (old, is_in_place): (Option<&[u8]>, bool),
    ) -> Option<String> {
        let said = String::from_utf8_lossy(&output.stderr);
        let found = std::fs::read(self.target()).ok();
        let names = self.left();
        if names.iter().any(|name| name != "target") {
            return Some(format!("it left {names:?}"));
        }
        if output.status.success() {
            return (found.as_deref() != Some(whole))
                .then(|| "it went well, and the file is not whole".to_string());
        }
        if must_succeed || output.status.code() != Some(1) || said.is_empty() {
            return Some(format!("it ended with {}: {said}", output.status));
        }
        let is_kept = found.as_deref() == old || is_in_place && found.as_deref() == Some(whole);
        (!is_kept).then(|| "it failed, and what was there before is not".to_string())
    }

    /// What is wrong after a run that was killed, and after the next one, which removes what that one left.
    fn wrong_after_kill(
        &self,
        run: (&str, &[&str]),
        output: &Output,
        whole: &[u8],
        old: Option<&[u8]>,
    ) -> Option<String> {
        // The last request counted may be a removal, which is none of those that fail.
        let is_killed = output.status.signal() == Some(SIGKILL);
        if !is_killed && !output.status.success() {
            return Some(format!("it ended with {}", output.status));
        }
        let found = std::fs::read(self.target()).ok();
        // A file in memory that gets a new name is written under that name, as by the reference.
        let may_be_part = run.0 == "persist" && old.is_none();
        if !(is_killed && (found.as_deref() == old || may_be_part)) && found.as_deref() != Some(whole) {
            return Some("what it left is neither the old file nor the whole one".to_string());
        }
        let left = self.left();
        if left.iter().any(|name| name != "target" && !name.starts_with(TEMPORARY)) {
            return Some(format!("it left {left:?}"));
        }
        let next = self.run(run, old, ("FAULT_COUNT", "/dev/null"));
        let mut kept = self.left();
        if run.1.contains(&"ZIP") || run.0 == "persist" {
            // The library's own temporary files, beside zip files and files that it replaces, have names that do not tell who made them: they
            // stay.
            for name in kept.extract_if(.., |name| name.starts_with(TEMPORARY)) {
                std::fs::remove_file(self.path("out").join(name)).expect("its own folder");
            }
        }
        let is_whole = std::fs::read(self.target()).ok().as_deref() == Some(whole);
        (!next.status.success() || kept != ["target"] || !is_whole)
            .then(|| format!("the next run keeps {kept:?}"))
    }
}

fn compile_persist(folder: &Path) {
    let (prefix, source) =
        (named("FERROCDF_PREFIX"), Path::new(env!("CARGO_MANIFEST_DIR")).join("c/faults/persist.c"));
    let lib = prefix.join("lib");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-I"]).arg(prefix.join("include")).arg(source).arg("-L").arg(&lib);
    cc.arg(format!("-Wl,-rpath,{}", lib.display())).args(["-lnetcdf", "-o"]).arg(folder.join("persist"));
    let done = cc.output().expect("there is a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The text that a program makes of a file, with all digits: the reference, or our `ncdump`, since not every reference reads zip files.
fn text(path: &Path, is_zip: bool) -> String {
    let own = named("FERROCDF_PREFIX").join("bin/ncdump");
    let output = Command::new(if is_zip { own } else { "ncdump".into() })
        .args(["-n", "same", "-p", "9,17"])
        .arg(path)
        .output()
        .expect("it is installed");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_tool_whose_requests_fail_leaves_the_whole_file_or_what_was_there() {
    let place = Place::new();
    let (share, seed) =
        (number("FERROCDF_FAULTS").unwrap_or(SHARE).min(SHARE), number("FERROCDF_SEED").unwrap_or(0));
    let is_taken = |case: u64| ((case + seed).wrapping_mul(2_654_435_761) / 7).is_multiple_of(share);
    let (mut cases, mut taken, mut failed, mut wrong) = (0u64, 0, 0, vec![]);
    for &run in RUNS {
        let count = place.path("count");
        let input = std::fs::read(place.path(INPUT)).expect("it was made");
        let is_in_place = run.1.contains(&IN_PLACE);
        let olds: &[Option<&[u8]>] = if is_in_place { &[Some(&input)] } else { &[None, Some(OLD)] };
        let counting = ("FAULT_COUNT", count.to_str().expect("a path of UTF-8"));
        let done = place.run(run, olds[0], counting);
        assert!(done.status.success(), "{run:?}: {}", String::from_utf8_lossy(&done.stderr));
        let requests = std::fs::read_to_string(&count).expect("a number");
        let requests: u64 = requests.trim().parse().expect("a number");
        let whole = std::fs::read(place.target()).expect("it went well");
        let is_zip = run.1.contains(&"ZIP");
        let [made, wanted] = [place.target(), place.path(INPUT)].map(|path| text(&path, is_zip));
        // Dimensions of virtual files have fixed lengths.
        let part = |text: &str| match run.1.contains(&"--virtual") {
            true => text.split_once("data:").map(|(_, data)| data.to_string()),
            false => Some(text.to_string()),
        };
        assert_eq!(part(&made), part(&wanted), "{run:?}");
        println!("{run:?}: {requests} requests");
        assert!(requests >= 1, "{run:?}: {requests} requests");
        let faults = KINDS.into_iter().flat_map(|kind| TIMES.map(|times| (kind, times)));
        let faults: Vec<_> = std::iter::once((KILL, 1)).chain(faults).collect();
        for request in 0..requests {
            for &(kind, times) in &faults {
                for &old in olds {
                    cases += 1;
                    if !is_taken(cases) {
                        continue;
                    }
                    taken += 1;
                    let fault = format!("{request} {kind} {times}");
                    let output = place.run(run, old, ("FAULT", &fault));
                    let what = if kind == KILL {
                        place.wrong_after_kill(run, &output, &whole, old)
                    } else {
                        failed += u64::from(!output.status.success());
                        // What is interrupted or cut short is done again.
                        let must_succeed = kind == "short" || times == 1 && matches!(kind, "eintr" | "zero");
                        place.wrong(&output, &whole, must_succeed, (old, is_in_place))
                    };
                    if let Some(what) = what {
                        wrong.push(format!("{run:?} {fault} {}: {what}", old.is_some()));
                    }
                }
            }
        }
    }
    println!("{taken} of {cases} cases, {failed} of which failed, {} wrong", wrong.len());
    assert!(taken > 50 && failed > 20, "{taken} cases, {failed} failed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
