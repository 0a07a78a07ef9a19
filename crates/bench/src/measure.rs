//! One turn: a command, what it cost, and what it said.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// The peer's programs.
pub struct Peers {
    /// The workloads on the reference.
    pub theirs: String,
    /// The same on ours.
    pub ours: String,
    /// The workloads of netCDF-4, on the reference.
    pub theirs4: String,
    /// What makes netCDF-4 files.
    pub make4: String,
    /// A Python that has h5py and hdf5plugin, if there is one.
    pub python: Option<String>,
    /// The folder of the plugins of that.
    pub plugins: Option<String>,
    /// The workloads in Python.
    pub script: String,
    /// A Python that has zarr-python, zarrs and tensorstore, if there is one.
    pub stores_python: Option<String>,
    /// The workloads of Zarr in Python.
    pub stores_script: String,
    /// The workloads of HDF4 on libhdf4, if it is there.
    pub hdf4: Option<String>,
    /// A Python that has pyhdf, if there is one.
    pub hdf4_python: Option<String>,
    /// The workloads of HDF4 in Python.
    pub hdf4_script: String,
}

/// The Python of the variable `FERROCDF_PYTHON`, else that of the tests, if it has what the workloads need, and the folder
/// of its plugins.
fn python() -> Option<(String, String)> {
    let python = std::env::var("FERROCDF_PYTHON").unwrap_or_else(|_| "target/python/bin/python".to_string());
    let mut import = Command::new(&python);
    import.args(["-c", "import h5py, hdf5plugin; print(hdf5plugin.PLUGINS_PATH)"]);
    let said = import.stderr(Stdio::null()).output().ok().filter(|said| said.status.success())?;
    let plugins = String::from_utf8(said.stdout).ok()?;
    Some((python, plugins.trim().to_string()))
}

/// The Python of the variable `FERROCDF_ZARR_PYTHON`, else that of the tests, if it has what the workloads of Zarr need.
fn stores_python() -> Option<String> {
    let python =
        std::env::var("FERROCDF_ZARR_PYTHON").unwrap_or_else(|_| "target/zarr/bin/python".to_string());
    let mut import = Command::new(&python);
    import.args(["-c", "import h5py, numcodecs, tensorstore, zarr, zarrs"]).stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success()).then_some(python)
}

/// The Python of the variable `FERROCDF_PYTHON`, else that of the tests, if it has pyhdf.
fn hdf4_python() -> Option<String> {
    let python = std::env::var("FERROCDF_PYTHON").unwrap_or_else(|_| "target/python/bin/python".to_string());
    let mut import = Command::new(&python);
    import.args(["-c", "import pyhdf.SD"]).stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success()).then_some(python)
}

/// Runs commands and measures them.
pub struct Meter {
    runner: PathBuf,
    folder: PathBuf,
}

impl Meter {
    /// Compiles the helper programs into `folder`. Returns the meter and the peer's programs, one of them on our library,
    /// which lies in `built`.
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
        let theirs4 = compile("peer4", "peer4", &["-lnetcdf"])?;
        let make4 = compile("make4", "make4", &["-lnetcdf", "-lm"])?;
        let [theirs, ours, theirs4, make4] =
            [theirs, ours, theirs4, make4].map(|path| path.display().to_string());
        let hdf4 = compile("hdf4", "hdf4", &["-I/usr/include/hdf", "-lmfhdfalt", "-ldfalt"]).ok();
        let hdf4 = hdf4.map(|path| path.display().to_string());
        let [script, stores_script, hdf4_script] =
            ["peer.py", "stores.py", "hdf4.py"].map(|name| source.join(name).display().to_string());
        let hdf4_python = hdf4_python();
        let stores_python = stores_python();
        let (python, plugins) = python().unzip();
        let peers = Peers {
            theirs,
            ours,
            theirs4,
            make4,
            python,
            plugins,
            script,
            stores_python,
            stores_script,
            hdf4,
            hdf4_python,
            hdf4_script,
        };
        Ok((Meter { runner, folder: folder.to_path_buf() }, peers))
    }

    /// Runs a command; `prints_seconds` says that its output is the time to count. The files that commands make are new
    /// ones: their names end in `.made`, and those of the last turn are removed.
    pub fn turn(&self, command: &[String], prints_seconds: bool) -> Result<Cost, String> {
        self.clear().map_err(|error| error.to_string())?;
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

    fn clear(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "made") {
                if path.is_dir() { std::fs::remove_dir_all(path)? } else { std::fs::remove_file(path)? }
            }
        }
        Ok(())
    }
}

/// Takes memory and lets go of it, so that what the next program takes is there: a virtual machine that reports its free
/// memory to a host gets it back slowly, and the program whose turn it is would pay.
pub fn ready_memory() {
    let mut memory = vec![0u8; 2_500_000_000];
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

/// The middle cost by time, with the largest memory.
pub fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or(0);
    Cost { memory, ..costs[costs.len() / 2] }
}
