//! Files that we wrote, in the hands of others: `h5stat`, `h5dump` and `h5repack` take them, h5py and netCDF-C edit them
//! further, and we read what they made of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf_compat::python::{script, texts};

use crate::models::{make, wanted};
use crate::nccopy_tool;
use crate::ncdump_tool::ours as print_ours;

/// How many seeds a usual run takes.
const USUAL: usize = 20;

/// What the names of all begin with that the edits add.
const ADDED: &str = "edited_by_";

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// The lines of a file as we print it.
fn printed(path: &Path) -> Vec<String> {
    let run = print_ours(&["-n", "same", "-p", "9,17", text(path)]);
    assert_eq!(run.code, Some(0), "{}: {}", path.display(), String::from_utf8_lossy(&run.err));
    String::from_utf8_lossy(&run.out).lines().map(str::to_string).collect()
}

/// What a program says of a file that it cannot take.
fn refuses(program: &str, args: &[&str]) -> Option<String> {
    let run = Command::new(program).args(args).output().expect("the HDF5 tools must be installed");
    (!run.status.success()).then(|| format!("{program}: {}", String::from_utf8_lossy(&run.stderr)))
}

/// Whether the tools, which are Debian's, can read a file: not its filters, nor strings where there is no chunk.
fn is_readable(path: &Path) -> bool {
    refuses("h5dump", &[text(path)]).is_none()
}

#[test]
fn our_files_in_the_hands_of_others() {
    let (count, first) = wanted(USUAL);
    let folder = tempfile::tempdir().expect("a folder");
    let mut failures: Vec<String> = vec![];
    let (mut files, mut unread): (Vec<PathBuf>, usize) = (vec![], 0);
    for model in make("models_netcdf4.py", folder.path(), first, count) {
        let copy = model.with_extension("ours.nc");
        let run = nccopy_tool::ours(&[text(&model), text(&copy)]);
        assert_eq!(run.code, Some(0), "{}: {}", model.display(), run.said);
        let mut say =
            |what: Option<String>| failures.extend(what.map(|what| format!("{}: {what}", copy.display())));
        say(refuses("h5stat", &[text(&copy)]));
        say(refuses("h5dump", &["-H", "-p", text(&copy)]));
        if is_readable(&copy) {
            let repacked = model.with_extension("repacked.nc");
            let failed = refuses("h5repack", &[text(&copy), text(&repacked)]);
            if failed.is_none() && printed(&repacked) != printed(&copy) {
                say(Some("h5repack made another file of it".to_string()));
            }
            say(failed);
        } else if is_readable(&model) {
            say(Some("h5dump prints the model, but not the copy".to_string()));
        } else {
            unread += 1;
        }
        files.push(copy);
    }
    let before: Vec<Vec<String>> = files.iter().map(|path| printed(path)).collect();
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let edited = texts(script("edit_further.py"), &paths);
    for ((path, before), edited) in files.iter().zip(&before).zip(edited) {
        if edited != "end\n" {
            failures.push(format!("{}: cannot be edited: {edited}", path.display()));
            continue;
        }
        let after = printed(path);
        let news = after.iter().filter(|line| line.contains(ADDED)).count();
        let differs = before.iter().find(|line| !after.contains(line));
        if news < 4 || differs.is_some() {
            failures.push(format!("{}: {news} lines are new, {differs:?} is gone", path.display()));
        }
    }
    println!(
        "{} files, {unread} of which Debian's tools cannot read, nor what they are copies of",
        files.len()
    );
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(files.len() > count / 2, "only {} files", files.len());
}
