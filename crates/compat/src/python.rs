//! The Python of the tests, with h5py, netCDF4 and the filters of hdf5plugin: `FERROCDF_PYTHON` names its interpreter.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::listing::{Facts, parse};

/// A command that runs a script of the folder `py`.
///
/// # Panics
/// If `FERROCDF_PYTHON` is not set; the tasks do that.
pub fn script(name: &str) -> Command {
    let python = std::env::var_os("FERROCDF_PYTHON").expect(
        "FERROCDF_PYTHON names a Python with h5py; `cargo xtask corpus` and `cargo xtask models` make it",
    );
    command(&python, name)
}

/// A command that runs a script of the folder `py` with the newest zarr-python.
///
/// # Panics
/// If `FERROCDF_ZARR_PYTHON` is not set; `cargo xtask clients` and `cargo xtask corpus` do that.
pub fn newest_zarr(name: &str) -> Command {
    let python = std::env::var_os("FERROCDF_ZARR_PYTHON")
        .expect("`cargo xtask clients` and `cargo xtask corpus` set FERROCDF_ZARR_PYTHON");
    command(&python, name)
}

/// A command that runs a script of the folder `py` with zarr-python 2.
///
/// # Panics
/// If `FERROCDF_ZARR2_PYTHON` is not set; `cargo xtask clients` does that.
pub fn zarr2(name: &str) -> Command {
    let python =
        std::env::var_os("FERROCDF_ZARR2_PYTHON").expect("`cargo xtask clients` sets FERROCDF_ZARR2_PYTHON");
    command(&python, name)
}

/// Returns the folder of the filters of hdf5plugin, for programs that have no filter of that kind themselves.
///
/// # Panics
/// If `FERROCDF_PYTHON` names no Python that has hdf5plugin.
pub fn hdf5plugin() -> PathBuf {
    let python = std::env::var_os("FERROCDF_PYTHON").expect("`cargo xtask clients` sets FERROCDF_PYTHON");
    let mut command = Command::new(python);
    command.args(["-c", "import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)"]);
    let said = command.output().expect("a Python that starts").stdout;
    let folder = PathBuf::from(String::from_utf8_lossy(&said).trim());
    assert!(folder.is_dir(), "hdf5plugin has no folder {}", folder.display());
    folder
}

/// Returns the seed of random data: the number in `FERROCDF_SEED`, else one of the time.
///
/// # Panics
/// If `FERROCDF_SEED` is no number.
pub fn seed() -> u64 {
    match std::env::var("FERROCDF_SEED") {
        Ok(seed) => seed.parse().expect("FERROCDF_SEED is a number"),
        Err(_) => {
            let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
            u64::from(time.subsec_nanos())
        }
    }
}

fn command(python: &OsStr, name: &str) -> Command {
    let mut command = Command::new(python);
    // The scripts fork; threads that a library started at its import can keep them from that.
    // Its packages bring their plugins, and look for them where they are if nobody says otherwise.
    command.env_remove("HDF5_PLUGIN_PATH");
    command.env("OPENBLAS_NUM_THREADS", "1").env("BLOSC_NTHREADS", "1");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("py").join(name)).stdin(Stdio::null());
    command
}

/// How long a process may take: many times what the longest does, and with all random data, if `FERROCDF_EVERY` is set.
const PATIENCE: [Duration; 2] = [Duration::from_secs(500), Duration::from_secs(3 * 3600)];

/// Ends with what a process said unless it went well.
///
/// # Panics
/// If it did not, or did not end.
pub fn finish(mut child: Child) {
    // A full pipe would hold up the process.
    let drain = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = vec![];
            // What a process that was ended said last does not count.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    };
    let out = drain(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let err = drain(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let began = Instant::now();
    let patience = PATIENCE[usize::from(std::env::var_os("FERROCDF_EVERY").is_some())];
    while child.try_wait().expect("a child that was started").is_none() {
        if began.elapsed() > patience {
            // One that has just ended cannot be killed, and need not be.
            let _ = child.kill();
            panic!("Python did not end within {patience:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait().expect("a child that was started");
    let (_, said) = (out.join(), err.join().expect("a thread that reads"));
    assert!(status.success(), "Python ended with {status}: {}", String::from_utf8_lossy(&said));
}

/// What a script says of files, whose paths it reads from its standard input: a text for each, in their order.
///
/// # Panics
/// If it cannot be started, or fails.
pub fn texts(mut command: Command, paths: &[&Path]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (list, said) = (folder.path().join("list"), folder.path().join("said"));
    let names: Vec<&str> = paths.iter().map(|path| path.to_str().expect("a path of UTF-8")).collect();
    std::fs::write(&list, names.join("\n")).expect("a folder that can be written to");
    let (list, out) = (File::open(&list).expect("just written"), File::create(&said).expect("a new file"));
    finish(command.stdin(list).stdout(out).stderr(Stdio::piped()).spawn().expect("a Python that starts"));
    let said = std::fs::read(&said).expect("just written");
    let said = String::from_utf8_lossy(&said);
    // A process that was stopped may have left half a line before the next head.
    let mut rest = &said[..];
    let mut texts = vec![];
    for (number, name) in names.iter().enumerate() {
        let head = format!("== {name}\n");
        let at = rest.find(&head).unwrap_or_else(|| panic!("nothing is said of {name}"));
        if number > 0 {
            texts.push(rest[..at].to_string());
        }
        rest = &rest[at + head.len()..];
    }
    if !names.is_empty() {
        texts.push(rest.to_string());
    }
    texts
}

/// What h5py finds in files, with two processes at a time; `folder` takes their answers.
pub struct Listings {
    children: Vec<Child>,
    folder: PathBuf,
}

impl Listings {
    /// Begins with the listing.
    ///
    /// # Panics
    /// If Python cannot be started.
    pub fn start(paths: &[PathBuf], folder: &Path) -> Listings {
        let list = folder.join("paths");
        let names: Vec<&str> = paths.iter().map(|path| path.to_str().expect("a path of UTF-8")).collect();
        std::fs::write(&list, names.join("\n")).expect("a folder that can be written to");
        let start = |part: &str| {
            let mut command = script("listing.py");
            command.arg(&list).arg(folder).args([part, "2"]).stderr(Stdio::piped());
            command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
        };
        Listings { children: ["0", "1"].map(start).into(), folder: folder.to_path_buf() }
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// If a listing process failed.
    pub fn finish(&mut self) {
        self.children.drain(..).for_each(finish);
    }

    /// The facts of the file of this number.
    ///
    /// # Panics
    /// If it was not listed.
    pub fn facts(&self, number: usize) -> Facts {
        let path = self.folder.join(number.to_string());
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        parse(&text)
    }
}
