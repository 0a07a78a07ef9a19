//! Every filter of the PyPI package `hdf5plugin`, both ways: what h5py packed with it we read, what we pack with it h5py
//! reads, value for value. Where a filter is built in as well, both say the same.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ferrocdf::plugins;
use ferrocdf_compat::python::script;

use crate::folders;
use crate::nccopy_tool;
use crate::ncdump_tool::ours as print;

/// The filters of the package.
const FILTERS: [u32; 12] = [307, 32001, 32004, 32008, 32013, 32015, 32017, 32018, 32024, 32026, 32028, 32033];

/// A file that h5py made.
struct Made {
    path: PathBuf,
    /// The filter with its parameters, as `nccopy -F` takes them.
    spec: String,
}

impl Made {
    fn id(&self) -> u32 {
        let id = self.spec.split(',').next().expect("a split gives something");
        id.parse().expect("a filter begins with its number")
    }

    fn text(&self) -> &str {
        self.path.to_str().expect("a path of UTF-8")
    }
}

/// What `plugins.py` says, a line each.
pub fn said(args: &[&str]) -> Vec<String> {
    let output = script("plugins.py").args(args).output().expect("a Python that starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "plugins.py {:?}: {err}", args.first());
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

fn make(folder: &Path) -> Vec<Made> {
    let lines = said(&["make", folder.to_str().expect("a path of UTF-8")]);
    let made = lines.iter().map(|line| {
        let (path, spec) = line.rsplit_once(' ').expect("a path and a filter");
        Made { path: path.into(), spec: spec.to_string() }
    });
    made.collect()
}

/// The values of a variable with all digits, without its name.
fn values(made: &Made, variable: &str) -> Result<String, String> {
    let run = print(&["-v", variable, "-p", "9,17", made.text()]);
    if run.code != Some(0) {
        return Err(String::from_utf8_lossy(&run.err).into_owned());
    }
    let out = String::from_utf8_lossy(&run.out).into_owned();
    let data = out.split_once("data:").map_or("", |(_, data)| data);
    Ok(data.replace(variable, "it"))
}

/// What differs when we read what h5py packed.
fn misread(made: &Made) -> Option<String> {
    let [packed, plain] = ["packed", "plain"].map(|variable| values(made, variable));
    match (packed, plain) {
        (Ok(packed), Ok(plain)) if packed == plain => None,
        (Err(error), _) | (_, Err(error)) => Some(format!("{}: {error}", made.text())),
        _ => Some(format!("{} {}: other values", made.text(), made.spec)),
    }
}

/// What is said without the plugin: the error must name the filter and where it was looked for, and the header must be
/// printed whole.
fn is_missed(made: &Made, folder: &str) -> Option<String> {
    let error = values(made, "packed").err()?;
    let header = print(&["-hs", made.text()]);
    let header = (header.code == Some(0)).then(|| String::from_utf8_lossy(&header.out).into_owned());
    let filter = format!("packed:_Filter = \"{}", made.id());
    let is_whole = header.is_some_and(|header| header.contains(&filter));
    let called = plugins::names(made.id()).iter().any(|name| error.contains(name));
    let names = called && error.contains(&made.id().to_string()) && error.contains(folder);
    (!is_whole || !names).then(|| format!("{}: {error}; header whole: {is_whole}", made.text()))
}

#[test]
fn files_go_both_ways_through_every_plugin() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = make(folder.path());
    let tried: BTreeSet<u32> = made.iter().map(Made::id).collect();
    assert_eq!(tried, BTreeSet::from(FILTERS));

    let mut wrong = vec![];
    let empty = tempfile::tempdir().expect("a folder");
    let nowhere = empty.path().to_str().expect("a path of UTF-8");
    let _turn = folders::only(empty.path());
    wrong.extend(made.iter().filter_map(|made| is_missed(made, nowhere)));
    let built_in = made.iter().filter(|made| values(made, "packed").is_ok()).count();
    assert!(built_in > 20, "{built_in} files are read without plugins");

    let [plugins_of_python] = &said(&["path"])[..] else { panic!("one line") };
    plugins::path::set(vec![PathBuf::from(plugins_of_python)]);
    for prefer in [false, true] {
        plugins::prefer(prefer);
        wrong.extend(made.iter().filter_map(misread));
        let mut copies: Vec<String> = vec![];
        for made in &made {
            let copy = format!("{}.{prefer}.copy", made.text());
            let run = nccopy_tool::ours(&["-F", &format!("source,{}", made.spec), made.text(), &copy]);
            match run.code {
                Some(0) => copies.push(copy),
                _ => wrong.push(format!("{copy}: {run:?}")),
            }
        }
        let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
        let judged = said(&[&["judge"], &copies[..]].concat());
        assert_eq!(judged.len(), copies.len());
        let others = copies.iter().zip(&judged).filter(|(_, judged)| *judged != "same");
        wrong.extend(others.map(|(copy, judged)| format!("{copy}: h5py: {judged}")));
    }
    println!("{} files", made.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_a_plugin_learned_of_other_elements_is_not_taken_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let [half, copy] = ["half.h5", "copy.nc"].map(|name| folder.path().join(name).display().to_string());
    said(&["half", &half]);
    let [plugins_of_python] = &said(&["path"])[..] else { panic!("one line") };
    let _turn = folders::only(Path::new(plugins_of_python));
    // Copies hold numbers of four bytes, in chunks like those of the file.
    let mut said = vec![];
    let code = ferrocdf_tools::nccopy::run(["nccopy", &half, &copy].map(OsString::from), &mut said);
    let said = String::from_utf8_lossy(&said);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("32018") && said.contains("-F \"/v,none\""), "{said}");
    assert!(!Path::new(&copy).exists());
    let run = nccopy_tool::ours(&["-F", "/v,none", &half, &copy]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let [ours, theirs] = [&copy, &half].map(|path| print(&["-v", "v", "-n", "it", path]).out);
    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
}
