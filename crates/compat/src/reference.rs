//! The reference library, driven through the C program `c/script.c`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::script::Op;

/// The compiled C program.
pub struct Reference {
    program: PathBuf,
    folder: PathBuf,
}

/// What one run of a script gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// A line for each call: its code, and what it read.
    pub lines: Vec<String>,
    /// Whether the reference ended the process: an assertion of its own failed.
    pub died: bool,
}

pub(crate) const ADVICE: &str = "run `cargo xtask setup`, which installs what these tests compare with";

impl Reference {
    /// Compiles the program in `folder`, which also takes scripts and transcripts.
    ///
    /// # Panics
    /// If there is no C compiler or no libnetcdf.
    pub fn new(folder: &Path) -> Reference {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/c/script.c");
        let program = folder.join("netcdf-script");
        let built = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .args([source, "-lnetcdf"])
            .output()
            .unwrap_or_else(|error| panic!("cc: {error}; {ADVICE}"));
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{source} does not compile: {said}\n{ADVICE}");
        Reference { program, folder: folder.to_path_buf() }
    }

    /// Runs each script on its file, in one process after another.
    pub fn run_all(&self, jobs: &[(PathBuf, &[Op])]) -> Vec<Transcript> {
        let folder = tempfile::tempdir_in(&self.folder).expect("a folder for scripts");
        let path = |kind: &str, job: usize| folder.path().join(format!("{job}.{kind}"));
        let mut command = Command::new(&self.program);
        for (job, (file, ops)) in jobs.iter().enumerate() {
            let text: String = ops.iter().map(|op| format!("{op}\n")).collect();
            std::fs::write(path("script", job), text).expect("the script is written");
            command.arg(file).arg(path("script", job)).arg(path("out", job));
        }
        let done = command.output().expect("the program was just compiled");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        (0..jobs.len())
            .map(|job| {
                let text = std::fs::read_to_string(path("out", job)).expect("the transcript is there");
                let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
                let died = lines.last().is_some_and(|line| line.ends_with("died"));
                if died {
                    lines.pop();
                }
                Transcript { lines, died }
            })
            .collect()
    }

    /// Runs one script on a file.
    pub fn run(&self, file: &Path, ops: &[Op]) -> Vec<String> {
        let transcript = self.run_all(&[(file.to_path_buf(), ops)]).pop().expect("one job, one transcript");
        assert!(!transcript.died, "the reference died after {:?}", transcript.lines.last());
        transcript.lines
    }
}
