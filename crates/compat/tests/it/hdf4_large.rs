//! Compressed data sets without chunks that are too large to be decoded as a whole: what libhdf4 reads of them, and how much memory a value
//! takes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf::{File, GroupId, Selection, Values, VarId};

use crate::hdf4::libhdf4;

/// Rows of 1024 numbers of 32 bits: more than the 32 MiB that are decoded as a whole.
const ROWS: u64 = 9000;
const COLUMNS: u64 = 1024;

/// Start, stride and count of a selection.
type Slab = [[u64; 2]; 3];

const SLABS: [Slab; 8] = [
    [[ROWS - 1, COLUMNS - 1], [1, 1], [1, 1]],
    [[0, 0], [1, 1], [ROWS, COLUMNS]],
    // A column, every seventh row, a band, and single rows backwards.
    [[0, 500], [1, 1], [ROWS, 1]],
    [[3, 1], [7, 3], [1200, 300]],
    [[4000, 0], [1, 1], [2000, COLUMNS]],
    [[8000, 0], [1, 1], [1, COLUMNS]],
    [[4100, 0], [1, 1], [1, COLUMNS]],
    [[20, 0], [1, 1], [1, COLUMNS]],
];

fn large(file: &File) -> VarId {
    file.model().find_var(GroupId::ROOT, b"large").expect("the data set")
}

/// The selected numbers as ferrocdf reads them.
fn numbers(file: &File, slab: &Slab) -> Vec<i32> {
    let [start, stride, count] = slab;
    let mut selection = Selection::slab(start, count);
    selection.stride = stride[..].into();
    match file.read_selected(large(file), &selection).expect("numbers") {
        Values::Int(numbers) => numbers,
        other => panic!("{other:.100?}"),
    }
}

/// A file of each coder, in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let path = |coder: &str| folder.join(format!("{coder}.hdf"));
    let mut paths = vec![];
    for coder in ["deflate", "rle", "skphuff", "nbit"] {
        libhdf4().write_large(&path(coder), coder, ROWS);
        paths.push(path(coder));
    }
    // libhdf4 has no szip here; the numbers are those of deflate.
    assert!(libhdf4().szip(&path("deflate"), &path("szip"), 4));
    paths.push(path("szip"));
    paths
}

#[test]
fn large_data_sets_without_chunks_are_what_libhdf4_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in files(folder.path()) {
        let judged =
            if path.ends_with("szip.hdf") { folder.path().join("deflate.hdf") } else { path.clone() };
        let wanted: Vec<Vec<i32>> = SLABS.iter().map(|slab| libhdf4().read_large(&judged, slab)).collect();
        let file = File::open(&path).expect("a sound file");
        for (slab, wanted) in SLABS.iter().zip(&wanted) {
            assert!(numbers(&file, slab) == *wanted, "{}: {slab:?}", path.display());
        }
        // Each thread begins elsewhere, in a file that nobody read before.
        let file = File::open(&path).expect("a sound file");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, wanted, path) = (&file, &wanted, &path);
                scope.spawn(move || {
                    for number in 0..SLABS.len() {
                        let at = (2 * thread + number) % SLABS.len();
                        let slab = &SLABS[at];
                        assert!(
                            numbers(file, slab) == wanted[at],
                            "{}, thread {thread}: {slab:?}",
                            path.display()
                        );
                    }
                });
            }
        });
    }
}

/// Names the file that the process that the test below starts reads.
const FILE: &str = "FERROCDF_TEST_LARGE";

/// Memory of a process that reads one value.
const MOST_MEMORY: u64 = 64 << 20;

/// Not a test but what the test below starts.
#[test]
fn reads_the_last_value() {
    let Some(path) = env::var_os(FILE) else { return };
    let file = File::open(Path::new(&path)).expect("a sound file");
    let shape = file.model().shape(large(&file));
    let last = numbers(&file, &[[shape[0] - 1, COLUMNS - 1], [1, 1], [1, 1]]);
    let status = fs::read_to_string("/proc/self/status").expect("Linux says it there");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is always there");
    println!("\nread {} {}", peak.trim().trim_end_matches(" kB"), last[0]);
}

#[test]
fn the_last_value_of_400_mb_takes_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.hdf");
    let rows = (400 << 20) / (4 * COLUMNS);
    libhdf4().write_large(&path, "deflate", rows);
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args(["hdf4_large::reads_the_last_value", "--exact", "--nocapture"]).env(FILE, &path);
    let output = command.output().expect("this program starts again");
    let out = String::from_utf8_lossy(&output.stdout);
    let line = out.lines().find_map(|line| line.strip_prefix("read ")).expect("what it read");
    let (peak, value) = line.split_once(' ').expect("a number and a value");
    assert_eq!(value.parse(), Ok(libhdf4().read_large(&path, &[[rows - 1, COLUMNS - 1], [1, 1], [1, 1]])[0]));
    let peak = 1024 * peak.parse::<u64>().expect("a number");
    assert!(peak < MOST_MEMORY, "{} MB", peak >> 20);
}
