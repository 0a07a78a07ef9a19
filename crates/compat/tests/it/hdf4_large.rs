//! Compressed data sets without chunks, and chunks, that are too large to be decoded as a whole: what libhdf4 reads of them, and how much
//! memory a value takes.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf::{File, GroupId, Selection, Values, VarId};

use crate::hdf4::libhdf4;
use crate::hostile;

/// Rows of 1024 numbers of 32 bits: more than the 32 MiB that are decoded as a whole.
const ROWS: u64 = 9000;
const COLUMNS: u64 = 1024;

/// Start, stride and count of a selection.
type Slab = [[u64; 2]; 3];

/// A shape of chunks of more than 32 MiB, one above the other, and one with two side by side.
const CHUNKS: [[u64; 2]; 2] = [[8500, COLUMNS], [ROWS, 1000]];

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

/// Files of each coder, in a folder, without chunks and with chunks of two shapes, each with the file whose numbers it has.
fn files(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let path = |name: String| folder.join(format!("{name}.hdf"));
    let mut paths = vec![];
    for (number, chunk) in [None, Some(CHUNKS[0]), Some(CHUNKS[1])].into_iter().enumerate() {
        let coders = ["deflate", "rle", "nbit", "skphuff"];
        for coder in &coders[..[4, 3, 1][number]] {
            let path = path(format!("{coder}{number}"));
            libhdf4().write_large(&path, coder, ROWS, chunk);
            paths.push((path.clone(), path));
        }
    }
    // libhdf4 has no szip here; the numbers are those of deflate.
    for number in [0, 1] {
        let (deflate, szip) = (path(format!("deflate{number}")), path(format!("szip{number}")));
        assert!(libhdf4().szip(&deflate, &szip, 4));
        paths.push((szip, deflate));
    }
    paths
}

#[test]
fn large_data_is_what_libhdf4_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, judged) in files(folder.path()) {
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

/// Not a test but what a test below starts.
#[test]
fn reads_the_last_value() {
    let Some(path) = env::var_os(FILE) else { return };
    let file = File::open(Path::new(&path)).expect("a sound file");
    let shape = file.model().shape(large(&file));
    let last = numbers(&file, &[[shape[0] - 1, COLUMNS - 1], [1, 1], [1, 1]]);
    println!("\ntold {} {}", of_process("status", "VmHWM:"), last[0]);
}

/// Not a test but what a test below starts.
#[test]
fn copies_a_large_chunk() {
    let Some(path) = env::var_os(FILE) else { return };
    let path = path.to_string_lossy();
    for kind in ["classic", "nc4"] {
        let copy = format!("{path}.{kind}");
        let before = of_process("io", "rchar:");
        let args = ["nccopy", "-k", kind, &path, &copy].map(OsString::from);
        let mut said = vec![];
        assert_eq!(ferrocdf_tools::nccopy::run(args, &mut said), 0, "{said:?}");
        println!("\ntold {} {copy}", of_process("io", "rchar:") - before);
    }
}

/// Returns a number that Linux tells of this process.
fn of_process(what: &str, name: &str) -> u64 {
    let told = fs::read_to_string(format!("/proc/self/{what}")).expect("Linux says it there");
    let number = told.lines().find_map(|line| line.strip_prefix(name)).expect("it is always there");
    number.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Starts one of the tests above for a file, and returns the numbers and texts that it tells.
fn tell(test: &str, path: &Path) -> Vec<(u64, String)> {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args([&format!("hdf4_large::{test}"), "--exact", "--nocapture"]).env(FILE, path);
    let output = command.output().expect("this program starts again");
    let out = String::from_utf8_lossy(&output.stdout);
    let lines = out.lines().filter_map(|line| line.strip_prefix("told ")?.split_once(' '));
    lines.map(|(number, text)| (number.parse().expect("a number"), text.to_string())).collect()
}

#[test]
fn the_last_value_of_400_mb_takes_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = (400 << 20) / (4 * COLUMNS);
    for chunk in [None, Some([rows, COLUMNS])] {
        let path = folder.path().join("large.hdf");
        libhdf4().write_large(&path, "deflate", rows, chunk);
        let told = tell("reads_the_last_value", &path);
        let [(peak, value)] = &told[..] else { panic!("{told:?}") };
        let wanted = libhdf4().read_large(&path, &[[rows - 1, COLUMNS - 1], [1, 1], [1, 1]])[0];
        assert_eq!(*value, wanted.to_string());
        assert!(1024 * peak < MOST_MEMORY, "{} MB", peak >> 10);
    }
}

#[test]
fn nccopy_decodes_a_large_chunk_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.hdf");
    // 300 MB, and a chunk with the last columns.
    let rows = 77_000;
    libhdf4().write_large(&path, "deflate", rows, Some([rows, 1000]));
    let stored = fs::metadata(&path).expect("just written").len();
    let told = tell("copies_a_large_chunk", &path);
    assert_eq!(told.len(), 2);
    for (read, copy) in told {
        assert!(read < stored + stored / 4, "{copy}: {read} bytes of {stored} are read");
        let copy = File::open(Path::new(&copy)).expect("a sound copy");
        let slab = [[rows - 2000, 0], [1, 1], [2000, COLUMNS]];
        assert!(numbers(&copy, &slab) == libhdf4().read_large(&path, &slab));
    }
}

#[test]
fn a_damaged_chunk_of_300_mb_of_zeros_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("zeros.hdf");
    let rows = (300 << 20) / (4 * COLUMNS);
    for coder in ["deflate", "rle"] {
        libhdf4().write_zeros(&path, coder, rows, Some([rows, COLUMNS]));
        let said = hostile::read_apart(&path).expect("the last value");
        assert!(said.ends_with("values: Int([0])"), "{coder}: {said}");
        let mut bytes = fs::read(&path).expect("just written");
        let at = bytes.len() * 2 / 3;
        bytes[at..at + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, bytes).expect("written once more");
        let said = hostile::read_apart(&path).expect("an error");
        assert!(said.contains("error: "), "{coder}: {said}");
    }
}
