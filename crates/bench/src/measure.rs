//! One turn: a command, what it cost, and what it said.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What one turn cost.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Cost {
    /// Wall seconds: those that the program printed, else of the whole process.
    pub seconds: f64,
    /// CPU seconds of the process.
    pub cpu: f64,
    /// Peak memory in bytes.
    pub memory: u64,
}

/// The peer's program on either library.
pub struct Peers {
    /// On the reference.
    pub theirs: String,
    /// On ours.
    pub ours: String,
}

/// Runs commands and measures them.
pub struct Meter {
    runner: PathBuf,
    folder: PathBuf,
}

impl Meter {
    /// Compiles the helper programs into `folder`. Returns the meter, the path of the peer's program, and that of the same
    /// program on our library, which lies in `built`.
    pub fn new(folder: &Path, built: &Path) -> Result<(Meter, Peers), String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
        let compile = |as_: &str, name: &str, libraries: &[&str]| -> Result<PathBuf, String> {
            let program = folder.join(as_);
            let mut cc = Command::new("cc");
            cc.args(["-O2", "-o"]).arg(&program).arg(source.join(format!("{name}.c"))).args(libraries);
            match cc.status() {
                Ok(status) if status.success() => Ok(program),
                _ => Err(format!("{name}.c does not compile; `cargo xtask setup` installs what it needs")),
            }
        };
        let runner = compile("run", "run", &[])?;
        let theirs = compile("peer", "peer", &["-lnetcdf"])?;
        // Programs look for the library under its own name.
        let lib = folder.join("lib");
        std::fs::create_dir_all(&lib).map_err(|error| error.to_string())?;
        for name in ["libnetcdf.so", "libnetcdf.so.22"] {
            std::fs::copy(built.join("libnetcdf.so"), lib.join(name)).map_err(|error| error.to_string())?;
        }
        let (search, run) = (format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display()));
        let ours = compile("peer-on-ours", "peer", &[&search, &run, "-lnetcdf"])?;
        let peers = Peers { theirs: theirs.display().to_string(), ours: ours.display().to_string() };
        Ok((Meter { runner, folder: folder.to_path_buf() }, peers))
    }

    /// Runs a command; `prints_seconds` says that its output is the time to count.
    pub fn turn(&self, command: &[String], prints_seconds: bool) -> Result<Cost, String> {
        let (report, output) = (self.folder.join("report"), self.folder.join("output"));
        let failed = || format!("this command failed: {}", command.join(" "));
        let status = Command::new(&self.runner).arg(&report).arg(&output).args(command).status();
        if !status.map_err(|error| error.to_string())?.success() {
            return Err(failed());
        }
        let report = std::fs::read_to_string(report).map_err(|error| error.to_string())?;
        let numbers: Vec<f64> = report.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[mut seconds, cpu, kibibytes] = &numbers[..] else { return Err(failed()) };
        if prints_seconds {
            let said = std::fs::read_to_string(&output).map_err(|error| error.to_string())?;
            seconds = said.trim().parse().map_err(|_| failed())?;
        }
        Ok(Cost { seconds, cpu, memory: kibibytes as u64 * 1024 })
    }
}

/// The middle cost by time, with the largest memory.
pub fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or(0);
    Cost { memory, ..costs[costs.len() / 2] }
}
