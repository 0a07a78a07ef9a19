//! Every netCDF-4 file of the corpus copied to each kind that it fits: the copy must hold what the file does.
//!
//! Our `ncdump` prints the copy as it prints the file, the reference's prints it likewise, and netCDF4-python says the same
//! of both, value by value. What the reference's `nccopy` copies, ours must, and store it in the same way.
//! One file in `FERROCDF_EVERY` is copied, by default 12; with a colon and a number behind, another one of so many.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_compat::python::texts;

use crate::excused::{Excused, FIXED_TEXT, is_excused};
use crate::nccopy_files::data_bytes;
use crate::nccopy_tool::ours;
use crate::ncdump_tool::{ours as our_dump, reference as their_dump};
use crate::{Entry, each, files, sampled, within_seconds};

const KINDS: [&str; 5] = ["nc4", "nc7", "nc3", "nc6", "cdf5"];

/// Bytes of data of the largest files that are copied.
const MOST: u64 = 100_000_000;

/// Files that differ besides those excused everywhere.
const EXCEPTIONS: &[Excused] = &[
    ("h5ex_d_sofloat.h5", "numbers that the filter does not look at are those of the source"),
    ("tenum.h5", "the reference prints the names of members without their escapes"),
    ("issue255_example.hdf5", FIXED_TEXT),
];

fn chosen() -> Vec<Entry> {
    let mut files = files(&["hdf5"]);
    files.retain(|entry| entry.normal && !is_excused(&entry.path, EXCEPTIONS) && !has_unnamed(&entry.path));
    sampled(files, 12)
}

/// Whether a file has types without a name. Debian's version leaves out what is of them, so that its copies lack it, and are
/// made in the classic formats, too.
fn has_unnamed(path: &Path) -> bool {
    let file = ferrocdf::File::open(path);
    file.is_ok_and(|file| file.model().types().iter().any(|ty| ty.name.as_bytes().starts_with(b"_Anonymous")))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("names in the corpus are UTF-8")
}

/// A copy that is to be compared with its source by others.
struct Copy {
    source: PathBuf,
    copy: PathBuf,
}

/// The lines of a dump without those that say how it is stored.
fn lines(printed: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(printed).lines().map(str::to_string).collect()
}

/// How lines begin that say what our copies keep of variables with elements that were never written: their fill values and
/// their chunks.
fn of_unwritten(path: &Path) -> Vec<String> {
    let Ok(file) = ferrocdf::File::open(path) else { return vec![] };
    let model = file.model();
    let vars = model.var_ids().filter(|&var| file.has_unwritten(var).unwrap_or(false));
    let names = vars.map(|var| model.var(var).name.to_string());
    names
        .flat_map(|name| ["_NoFill", "_Storage", "_ChunkSizes"].map(|what| format!("{name}:{what} ")))
        .collect()
}

fn first_difference(was: &[u8], is: &[u8]) -> String {
    let (was, is) = (lines(was), lines(is));
    let line = was.iter().zip(&is).position(|(a, b)| a != b).unwrap_or(was.len().min(is.len()));
    format!("line {}: {:?} and {:?}", line + 1, was.get(line), is.get(line))
}

/// Copies a file to each kind; gives what is wrong.
fn copies(
    entry: &Entry,
    folder: &Path,
    number: usize,
    made: &Mutex<Vec<Copy>>,
    refused: &AtomicUsize,
) -> Vec<String> {
    let source = text(&entry.path);
    let mut wrong = vec![];
    let kept = of_unwritten(&entry.path);
    // `ncdump` breaks the lines of text elsewhere in files of the classic model.
    let is_classic = our_dump(&["-k", source]).out.ends_with(b"classic model\n");
    for kind in KINDS {
        let [copy, theirs] = ["ours", "theirs"].map(|who| folder.join(format!("{number}-{kind}-{who}.nc")));
        let done = ours(&["-k", kind, source, text(&copy)]);
        let reference = within_seconds(20).args(["nccopy", "-k", kind, source]).arg(&theirs).output();
        let reference = reference.expect("the reference's nccopy must be installed");
        let mut say = |what: String| wrong.push(format!("{source} {kind}: {what}"));
        if done.code != Some(0) {
            if reference.status.success() {
                say(format!("only the reference copies it; {done:?}"));
            }
            refused.fetch_add(1, Relaxed);
            continue;
        }
        let args = |path| ["-n", "same", "-p", "9,17", path];
        let [was, is] = [source, text(&copy)].map(|path| our_dump(&args(path)));
        let read = their_dump(&args(text(&copy)));
        // Strings that become text are printed in another way, as the reference's copy is.
        let converted = || reference.status.success() && their_dump(&args(text(&theirs))).out == read.out;
        if was.out != is.out && ((kind == "nc4" && !is_classic) || !converted()) {
            say(format!("our ncdump: {}", first_difference(&was.out, &is.out)));
        }
        if read.code != Some(0) {
            // Filters that it is built without judge nothing.
            if !String::from_utf8_lossy(&read.err).contains("undefined filter") {
                say(format!("the reference cannot print the copy: {}", String::from_utf8_lossy(&read.err)));
            }
        } else if read.out != is.out {
            say(format!("ncdump of the copy: {}", first_difference(&read.out, &is.out)));
        }
        if reference.status.success() {
            let stored = |path: &PathBuf| -> Vec<u8> {
                let printed = their_dump(&["-hs", "-n", "same", text(path)]).out;
                let mut lines = lines(&printed);
                lines.retain(|line| {
                    let line = line.trim_start();
                    !line.contains("_NCProperties") && !kept.iter().any(|kept| line.starts_with(kept))
                });
                // The reference forgets where data lies in the header.
                lines.join("\n").replace("_Storage = \"compact\"", "_Storage = \"contiguous\"").into_bytes()
            };
            let [theirs, mine] = [&theirs, &copy].map(stored);
            if theirs != mine {
                say(format!("the reference's copy: {}", first_difference(&theirs, &mine)));
            }
        }
        // It may not have been made, or not to its end.
        let _ = std::fs::remove_file(&theirs);
        made.lock().expect("no panic").push(Copy { source: entry.path.clone(), copy });
    }
    wrong
}

/// What netCDF4-python says, but for the kind of the file and the storage; of classic files without byte orders.
fn comparable(said: &str, copy: &Path) -> Vec<String> {
    let classic = !text(copy).contains("-nc4-") && !text(copy).contains("-nc7-");
    let kept = |line: &&str| !line.starts_with(" storage ");
    let without = |line: &str| if classic { without_order(line) } else { line.to_string() };
    said.lines().skip(1).filter(kept).map(without).collect()
}

/// A line about a variable without the byte order.
fn without_order(line: &str) -> String {
    const ORDERED: [(&str, &str); 8] = [
        (" >i2 ", " int16 "),
        (" >u2 ", " uint16 "),
        (" >i4 ", " int32 "),
        (" >u4 ", " uint32 "),
        (" >i8 ", " int64 "),
        (" >u8 ", " uint64 "),
        (" >f4 ", " float32 "),
        (" >f8 ", " float64 "),
    ];
    if !line.starts_with("variable ") {
        return line.to_string();
    }
    let line = line.rsplit_once(' ').map_or(line, |(rest, _)| rest).to_string();
    ORDERED.iter().fold(line, |line, (ordered, plain)| line.replace(ordered, plain))
}

/// Debian's module.
fn debians_values() -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("py/netcdf4_values.py"));
    command
}

#[test]
fn netcdf4_files_are_copied_to_each_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let files: Vec<Entry> =
        chosen().into_iter().filter(|entry| data_bytes(entry).is_some_and(|bytes| bytes <= MOST)).collect();
    let (made, number, refused) = (Mutex::new(vec![]), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut wrong = each(&files, |entry| {
        let number = number.fetch_add(1, Relaxed);
        copies(entry, folder.path(), number, &made, &refused)
    });
    let made = made.into_inner().expect("no panic");
    let sources: Vec<&Path> = made.iter().map(|copy| &*copy.source).collect();
    let copies: Vec<&Path> = made.iter().map(|copy| &*copy.copy).collect();
    let [was, is] = std::thread::scope(|scope| {
        let jobs = [&sources, &copies].map(|paths| scope.spawn(|| texts(debians_values(), paths)));
        jobs.map(|job| job.join().expect("a listing"))
    });
    let mut compared = 0;
    for ((copy, was), is) in made.iter().zip(&was).zip(&is) {
        let [was, is] = [was, is].map(|said| comparable(said, &copy.copy));
        // Where the reference reads the source wrongly, or not at all, it judges nothing; nor does a sum over bytes in
        // another order.
        let is_other = |line: &String| line.contains("cannot be read") || line.contains("('>");
        if was.last().is_none_or(|last| last != "end") || was.iter().any(is_other) {
            continue;
        }
        compared += 1;
        if was != is {
            let line = was.iter().zip(&is).find(|(a, b)| a != b);
            wrong.push(format!("{} {}: netCDF4-python: {line:?}", text(&copy.source), text(&copy.copy)));
        }
    }
    println!("{} files, {} copies, {compared} of them compared by netCDF4-python", files.len(), made.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(made.len() > files.len(), "only {} copies of {} files", made.len(), files.len());
}
