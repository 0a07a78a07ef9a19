//! Random netCDF-4 models, written by the reference and by us, must hold the same.
//!
//! netCDF4-python makes files at random; the reference prints each as CDL, storage included. Out of that text its `ncgen`
//! and ours make a file each, and its `nccopy` and ours copy the file. What is made is compared as the reference prints it,
//! as we print it, and object by object as h5py sees it: types, shapes, layouts, filters, fill values, attributes, hidden
//! ones included, and the order of everything. `h5dump` must print the same structure of both, but for addresses and for
//! the sizes of what is compressed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_compat::python::{script, texts};

use crate::models::{make, wanted};
use crate::ncdump_tool::{ours as print_ours, reference as print_theirs};
use crate::{nccopy_tool, ncgen_tool};

/// How many files a usual run makes, and how many are in the works at a time.
const USUAL: usize = 60;
const BATCH: usize = 200;

/// What is printed: storage, and all digits.
const PRINT: [&str; 3] = ["-s", "-p", "9,17"];

/// The two files of a model that are to be the same.
struct Pair {
    model: PathBuf,
    theirs: PathBuf,
    ours: PathBuf,
}

/// What was found of a pair.
enum Verdict {
    /// As far as `ncdump` can tell.
    Same,
    /// The reference did not make of the text what the text was made of, but we did; or our copy keeps more of how the
    /// model is stored.
    Better,
    Different(String),
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// A printed file without the lines that name its writer and filters.
fn comparable(printed: &[u8]) -> Vec<&[u8]> {
    let names = |line: &&[u8]| line.windows(13).any(|part| part == b"_NCProperties");
    printed.split(|&byte| byte == b'\n').filter(|line| !names(line) && !needs_filter(line)).collect()
}

/// Whether a line of CDL asks for a filter that Debian's library is built without.
fn needs_filter(line: &[u8]) -> bool {
    line.windows(10).any(|part| part == b":_Filter =")
}

/// Compares a pair, as both tools print it.
fn judge(pair: &Pair) -> Verdict {
    let args = |path| [&PRINT[..], &["-n", "same", text(path)]].concat();
    let [model, theirs, ours] = [&pair.model, &pair.theirs, &pair.ours].map(|path| print_theirs(&args(path)));
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Strings that were never written, in chunks that are not there, it cannot print of its own file either.
    if ours.code != Some(0) && theirs.code != Some(0) {
        return Verdict::Better;
    }
    if ours.code != Some(0) {
        return Verdict::Different(format!("the reference cannot print it: {}", words(&ours.err)));
    }
    if print_ours(&args(&pair.ours)).out != ours.out {
        return Verdict::Different("we print it differently".to_string());
    }
    let [model, theirs, ours] = [&model, &theirs, &ours].map(|run| comparable(&run.out));
    if theirs == ours {
        return Verdict::Same;
    }
    // A copy may be stored in another way, and `ncgen` puts types into an order of its own.
    let content = |lines: &[&[u8]]| -> Vec<Vec<u8>> {
        let special = |line: &&&[u8]| line.windows(2).any(|part| part == b":_");
        let mut content: Vec<Vec<u8>> =
            lines.iter().filter(|line| !special(line)).map(|line| line.to_vec()).collect();
        let is = |line: &Vec<u8>, word: &str| line.trim_ascii() == word.as_bytes();
        for types in content.split_mut(|line| is(line, "dimensions:") || is(line, "variables:")) {
            if let Some(start) = types.iter().position(|line| is(line, "types:")) {
                types[start..].sort();
            }
        }
        content
    };
    // What our copies keep of variables with elements that were never written.
    let of_unwritten = |line: &[u8]| {
        [&b":_NoFill"[..], b":_Storage", b":_ChunkSizes"]
            .iter()
            .any(|name| line.windows(name.len()).any(|part| part == *name))
    };
    let keeps_more = content(&theirs) == content(&ours)
        && ours.iter().all(|line| theirs.contains(line) || model.contains(line))
        && theirs.iter().all(|line| ours.contains(line) || of_unwritten(line));
    let model = content(&model);
    if keeps_more || (content(&theirs) != model && content(&ours) == model) {
        return Verdict::Better;
    }
    let line = theirs.iter().zip(&ours).find(|(a, b)| a != b).map(|(a, b)| (words(a), words(b)));
    Verdict::Different(format!("{} and {} lines, {line:?}", theirs.len(), ours.len()))
}

/// Makes both files of a model and both copies of it; what the reference itself cannot make is left out.
fn pairs(model: &Path, folder: &Path) -> Vec<Pair> {
    let stem = model.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let path = |name: &str| folder.join(format!("{stem}-{name}.nc"));
    let kind = match &print_theirs(&["-k", text(model)]).out[..] {
        b"netCDF-4 classic model\n" => "nc7",
        _ => "nc4",
    };
    let printed = print_theirs(&[&PRINT[..], &[text(model)]].concat());
    if printed.code != Some(0) {
        return vec![];
    }
    // Filters that the reference has not at hand are left out; files with them are copied by those who have them.
    let lines: Vec<&[u8]> =
        printed.out.split(|&byte| byte == b'\n').filter(|line| !needs_filter(line)).collect();
    let cdl = folder.join(format!("{stem}.cdl"));
    std::fs::write(&cdl, lines.join(&b'\n')).expect("a folder that can be written to");
    let mut pairs = vec![];
    let model = model.to_path_buf();
    let made = Pair { model: model.clone(), theirs: path("made-theirs"), ours: path("made-ours") };
    let (_, _, code) = ncgen_tool::theirs(&["-k", kind, "-o", text(&made.theirs), text(&cdl)], folder);
    if code == Some(0) {
        let (_, said, code) = ncgen_tool::ours(&["-k", kind, "-o", text(&made.ours), text(&cdl)], &[]);
        assert_eq!(code, Some(0), "{}: {said}", cdl.display());
        pairs.push(made);
    }
    let copied = Pair { model: model.clone(), theirs: path("copied-theirs"), ours: path("copied-ours") };
    if nccopy_tool::reference(&[text(&model), text(&copied.theirs)], folder).code == Some(0) {
        let run = nccopy_tool::ours(&[text(&model), text(&copied.ours)]);
        assert_eq!(run.code, Some(0), "{}: {}", model.display(), run.said);
        pairs.push(copied);
    }
    pairs
}

/// The structure of a file as `h5dump` prints it, without what may differ: its name, addresses, packed sizes and those of
/// compounds, and the attribute that names its writer.
fn structure(path: &Path) -> Result<Vec<String>, String> {
    let run = Command::new("h5dump").args(["-H", "-p"]).arg(path).output().expect("h5dump must be installed");
    if !run.status.success() {
        return Err(format!("h5dump: {}", String::from_utf8_lossy(&run.stderr)));
    }
    let printed = String::from_utf8_lossy(&run.stdout);
    let mut lines = vec![];
    let (mut written_by, mut compound) = (None, false);
    for line in printed.lines().skip(1) {
        let depth = line.len() - line.trim_start().len();
        if line.ends_with("ATTRIBUTE \"_NCProperties\" {") {
            written_by = Some(depth);
        }
        let words = line.trim_start();
        if words.starts_with("DATATYPE ") {
            compound = words.contains("H5T_COMPOUND") || words.contains('"');
        }
        // The reference's `ncgen` gives compounds other sizes than C does.
        let differs = words.starts_with("OFFSET ")
            || line.ends_with(" COMPRESSION)")
            || (compound && words.starts_with("SIZE "));
        if written_by.is_none() && !differs {
            lines.push(line.to_string());
        }
        if written_by == Some(depth) && line.trim() == "}" {
            written_by = None;
        }
    }
    Ok(lines)
}

/// How the structures of a pair differ.
fn dumps_differ(pair: &Pair) -> Option<String> {
    match (structure(&pair.theirs), structure(&pair.ours)) {
        (Ok(theirs), Ok(ours)) if theirs == ours => None,
        (Ok(theirs), Ok(ours)) => {
            let line = theirs.iter().zip(&ours).position(|(a, b)| a != b).unwrap_or_default();
            let object = ours[..line].iter().rev().find(|line| line.ends_with('{'));
            Some(format!("{object:?}: {:?} and {:?}", theirs.get(line), ours.get(line)))
        }
        (_, Err(why)) => Some(why),
        // What it cannot print of the reference's file judges nothing.
        (Err(_), _) => None,
    }
}

#[test]
fn random_models_are_written_as_the_reference_does() {
    let (count, first) = wanted(USUAL);
    let (mut models, mut compared, mut better) = (0, 0, 0);
    let mut differences: Vec<String> = vec![];
    for start in (first..first + count).step_by(BATCH) {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = make("models_netcdf4.py", folder.path(), start, BATCH.min(first + count - start));
        models += paths.len();
        let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![]));
        let work = || {
            while let Some(model) = paths.get(next.fetch_add(1, Relaxed)) {
                let made = pairs(model, folder.path());
                found.lock().expect("no panic").extend(made);
            }
        };
        std::thread::scope(|scope| {
            [scope.spawn(work), scope.spawn(work)].map(|worker| worker.join().expect("a worker"))
        });
        let mut pairs = found.into_inner().expect("no panic");
        compared += pairs.len();
        pairs.retain(|pair| match judge(pair) {
            Verdict::Same => true,
            Verdict::Better => {
                better += 1;
                false
            }
            Verdict::Different(how) => {
                differences.push(format!("{}: {how}", text(&pair.ours)));
                false
            }
        });
        let theirs: Vec<&Path> = pairs.iter().map(|pair| &*pair.theirs).collect();
        let ours: Vec<&Path> = pairs.iter().map(|pair| &*pair.ours).collect();
        let [theirs, mine] = [theirs, ours].map(|paths| texts(script("structure.py"), &paths));
        for ((pair, theirs), mine) in pairs.iter().zip(theirs).zip(mine) {
            if theirs != mine || !mine.ends_with("\nend\n") {
                let line = theirs.lines().zip(mine.lines()).find(|(a, b)| a != b);
                differences.push(format!("{}: {line:?}", text(&pair.ours)));
            }
            differences.extend(dumps_differ(pair).map(|how| format!("{}: h5dump: {how}", text(&pair.ours))));
        }
    }
    println!(
        "{models} models of {count} seeds, {compared} pairs of files compared, {better} better than the reference's"
    );
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
    assert!(compared * 2 > count, "only {compared} pairs of {count} seeds");
}
