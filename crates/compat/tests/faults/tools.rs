//! `nccopy`, `ncgen` and a program that brings a file from memory to the disk, whose requests fail: they leave the whole
//! file, or what was there before and nothing else.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{folder, named, number, shim};

/// One in how many cases a run takes.
const SHARE: u64 = 12;

/// What fails, and how often: see `c/faults/fault.h`.
const KINDS: [&str; 6] = ["eio", "enospc", "eintr", "short", "zero", "full"];
const TIMES: [i64; 3] = [1, 10, -1];

/// What stands at the target before.
const OLD: &[u8] = b"what was there before";

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
];

/// A text with records, fixed variables and attributes.
fn cdl() -> String {
    let list = |len: i32| (0..len).map(|at| (at * 7 % 1013).to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "netcdf same {{ dimensions: t = UNLIMITED ; x = 400 ; variables: int f(x) ; double r(t) ; float q(t, x) ; \
         f:long_name = \"fixed\" ; :title = \"what is copied\" ; data: f = {} ; r = {} ; q = {} ; }}",
        list(400),
        list(40),
        list(16_000)
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
        std::fs::write(folder.path().join("IN.cdl"), cdl()).expect("its own folder");
        compile_persist(folder.path());
        let place = Place { folder, shim };
        let made = place.tool("ncgen", &["-4", "-o", "IN.nc", "IN.cdl"]).output().expect("it is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
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

    /// Runs a tool with a fault, on a target that is there before or is not.
    fn run(&self, (name, args): (&str, &[&str]), fault: &str, is_there: bool) -> Output {
        let _ = std::fs::remove_file(self.target());
        if is_there {
            std::fs::write(self.target(), OLD).expect("its own folder");
        }
        let mut tool = self.tool(name, args);
        tool.env("LD_PRELOAD", &self.shim).env("FAULT", fault);
        tool.output().expect("it is installed")
    }

    /// The names in the folder of the target.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("out")).expect("its own folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    /// What is wrong after a run that should leave `whole`, or `OLD` if that was there.
    fn wrong(&self, output: &Output, whole: &[u8], must_succeed: bool, is_there: bool) -> Option<String> {
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
        let old = is_there.then_some(OLD);
        (found.as_deref() != old).then(|| "it failed, and what was there before is not".to_string())
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
    let (mut cases, mut taken, mut failed, mut wrong) = (0u64, 0, 0, vec![]);
    for &run in RUNS {
        let count = place.path("count");
        let mut tool = place.tool(run.0, run.1);
        let done =
            tool.env("LD_PRELOAD", &place.shim).env("FAULT_COUNT", &count).output().expect("it is installed");
        assert!(done.status.success(), "{run:?}: {}", String::from_utf8_lossy(&done.stderr));
        let requests = std::fs::read_to_string(&count).expect("a number");
        let requests: u64 = requests.trim().parse().expect("a number");
        let whole = std::fs::read(place.target()).expect("it went well");
        let is_zip = run.1.contains(&"ZIP");
        assert_eq!(text(&place.target(), is_zip), text(&place.path("IN.nc"), is_zip), "{run:?}");
        println!("{run:?}: {requests} requests");
        assert!(requests >= 1, "{run:?}: {requests} requests");
        for request in 0..requests {
            for kind in KINDS {
                for times in TIMES {
                    for is_there in [false, true] {
                        cases += 1;
                        if !((cases + seed).wrapping_mul(2_654_435_761) / 7).is_multiple_of(share) {
                            continue;
                        }
                        taken += 1;
                        let fault = format!("{request} {kind} {times}");
                        let output = place.run(run, &fault, is_there);
                        // What is interrupted or cut short is done again.
                        let must_succeed = kind == "short" || times == 1 && matches!(kind, "eintr" | "zero");
                        failed += u64::from(!output.status.success());
                        if let Some(what) = place.wrong(&output, &whole, must_succeed, is_there) {
                            wrong.push(format!("{run:?} {fault} {is_there}: {what}"));
                        }
                    }
                }
            }
        }
    }
    println!("{taken} of {cases} cases, {failed} of which failed, {} wrong", wrong.len());
    assert!(taken > 50 && failed > 20, "{taken} cases, {failed} failed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
