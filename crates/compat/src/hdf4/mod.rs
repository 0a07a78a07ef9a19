//! HDF4 files: libhdf4 writes and judges them, through the C programs in `c/hdf4`.
//!
//! [`Libhdf4::write`] makes files of every kind, [`Libhdf4::tell`] says what the SD interface finds in files, and [`compare`] compares
//! that with what ferrocdf reads. Names, dimensions and types must be those that netCDF-C makes of it (`libhdf4/hdf4file.c` there). Number
//! formats that netCDF-C refuses follow the same rules.

mod compare;
mod others;
mod told;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use compare::{Hdf4Comparison, compare};
pub use others::compare_others;
pub use told::{Attribute, DataSet, Told, parse};

/// The compiled C programs.
pub struct Libhdf4 {
    write: PathBuf,
    tell: PathBuf,
    others: PathBuf,
    szip: PathBuf,
    bench: PathBuf,
    large: PathBuf,
}

const ADVICE: &str = "run `cargo xtask setup`, which installs what these tests compare with";

/// Headers of Debian's package, and of a library that was built from its source.
const HEADERS: [&str; 2] = ["-I/usr/include/hdf", "-I/usr/local/include"];

impl Libhdf4 {
    /// Compiles the programs in `folder`.
    ///
    /// # Panics
    /// If there is no C compiler or no libhdf4.
    pub fn new(folder: &Path) -> Libhdf4 {
        let compile = |source: &str, name: &str, libraries: &[&str]| {
            let source = format!("{}/{source}", env!("CARGO_MANIFEST_DIR"));
            let program = folder.join(name);
            let built = Command::new("cc")
                .args(["-O1", "-Wall", "-Wextra", "-Werror"])
                .args(HEADERS)
                .arg("-o")
                .arg(&program)
                .arg(&source)
                .args(libraries)
                .output()
                .unwrap_or_else(|error| panic!("cc: {error}; {ADVICE}"));
            let said = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "{source} does not compile: {said}\n{ADVICE}");
            program
        };
        const LIBHDF4: &[&str] = &["-lmfhdfalt", "-ldfalt"];
        Libhdf4 {
            write: compile("c/hdf4/write.c", "hdf4-write", LIBHDF4),
            tell: compile("c/hdf4/tell.c", "hdf4-tell", LIBHDF4),
            others: compile("c/hdf4/others.c", "hdf4-others", LIBHDF4),
            szip: compile("c/hdf4/szip.c", "hdf4-szip", &["-lsz", "-lz"]),
            bench: compile("../bench/c/hdf4.c", "hdf4-bench", LIBHDF4),
            large: compile("c/hdf4/large.c", "hdf4-large", LIBHDF4),
        }
    }

    /// Copies a file of numbers of `bytes` bytes, with szip in place of deflate. Returns whether it could: not where streams lie in linked
    /// blocks, or end early.
    ///
    /// # Panics
    /// If the program fails.
    pub fn szip(&self, from: &Path, to: &Path, bytes: usize) -> bool {
        const ELSEWHERE: i32 = 4;
        let status = Command::new(&self.szip).args([from, to]).arg(bytes.to_string()).status();
        let status = status.expect("the program was just compiled");
        assert!(status.success() || status.code() == Some(ELSEWHERE), "{}: {status}", from.display());
        status.success()
    }

    /// Makes a file like those of satellites: 40 data sets in 1,200 chunks with deflate, ten attributes each.
    ///
    /// # Panics
    /// If the program fails.
    pub fn granule(&self, path: &Path) {
        let status = Command::new(&self.bench).arg("make-chunks").arg(path).status();
        assert!(status.expect("the program was just compiled").success());
    }

    /// Writes a file with a data set, `large`, without chunks or with chunks of a shape, of so many rows of 1024 numbers of 32 bits. The coder is deflate, rle, skphuff
    /// or nbit.
    ///
    /// # Panics
    /// If the program fails.
    pub fn write_large(&self, path: &Path, coder: &str, rows: u64, chunk: Option<[u64; 2]>) {
        self.write_numbers(path, (coder, "1"), rows, chunk);
    }

    /// Writes the same file with zeros.
    ///
    /// # Panics
    /// If the program fails.
    pub fn write_zeros(&self, path: &Path, coder: &str, rows: u64, chunk: Option<[u64; 2]>) {
        self.write_numbers(path, (coder, "0"), rows, chunk);
    }

    fn write_numbers(&self, path: &Path, (coder, level): (&str, &str), rows: u64, chunk: Option<[u64; 2]>) {
        let [rows, chunk_rows, chunk_columns] =
            [rows, chunk.map_or(0, |chunk| chunk[0]), chunk.map_or(0, |chunk| chunk[1])]
                .map(|n| n.to_string());
        let numbers = [coder, level, &rows, &chunk_rows, &chunk_columns];
        let status = Command::new(&self.large).arg("write").arg(path).args(numbers).status();
        assert!(status.expect("the program was just compiled").success());
    }

    /// Reads numbers of the data set of [`Libhdf4::write_large`]: start, stride and count along its dimensions.
    ///
    /// # Panics
    /// If the program fails.
    pub fn read_large(&self, path: &Path, slab: &[[u64; 2]; 3]) -> Vec<i32> {
        let numbers = slab.iter().flatten().map(u64::to_string);
        let output = Command::new(&self.large).arg("read").arg(path).args(numbers).output();
        let output = output.expect("the program was just compiled");
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        output.stdout.as_chunks().0.iter().map(|&bytes| i32::from_ne_bytes(bytes)).collect()
    }

    /// Writes all files of a seed into a folder. Returns their paths.
    ///
    /// # Panics
    /// If the program fails.
    pub fn write(&self, folder: &Path, seed: u64) -> Vec<PathBuf> {
        let output = Command::new(&self.write).arg(folder).arg(seed.to_string()).output();
        let output = output.expect("the program was just compiled");
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(|name| folder.join(name)).collect()
    }

    /// Writes files with rasters and tables into a folder. Returns their paths.
    ///
    /// # Panics
    /// If the program fails.
    pub fn write_others(&self, folder: &Path) -> Vec<PathBuf> {
        let output = Command::new(&self.others).arg("write").arg(folder).output();
        let output = output.expect("the program was just compiled");
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect()
    }

    /// Says what the GR and VS interfaces find in a file; `None` if they crash.
    pub fn tell_others(&self, path: &Path) -> Option<String> {
        let output = Command::new(&self.others).arg("tell").arg(path).output();
        let output = output.expect("the program was just compiled");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Says what libhdf4 finds in files, in their order.
    ///
    /// # Panics
    /// If the program fails.
    pub fn tell(&self, paths: &[PathBuf]) -> Vec<Told> {
        let mut child = Command::new(&self.tell)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program was just compiled");
        let mut input = child.stdin.take().expect("a pipe");
        let list: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
        let writer = std::thread::spawn(move || input.write_all(list.as_bytes()));
        let output = child.wait_with_output().expect("it was started");
        writer.join().expect("a thread that writes").expect("a pipe that is read");
        assert!(output.status.success(), "{}", output.status);
        let texts = parse(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(texts.len(), paths.len());
        texts
    }
}
