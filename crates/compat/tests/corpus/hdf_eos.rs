//! HDF-EOS2 files: those of the corpus, and files with grids of all projections that pyhdf writes.
//!
//! `ferrocdf copy --hdfeos` makes a netCDF-4 file of each, which `py/hdf_eos.py` compares with the text of `StructMetadata`, with the
//! fields that pyhdf reads, with PROJ and with GDAL.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use ferrocdf::OpenOptions;
use ferrocdf_compat::python;
use ferrocdf_tools::nccopy::{self, Foreign};

use super::{Entry, each};

/// The files of the corpus that the index calls HDF-EOS2.
fn hdf_eos_files() -> Vec<Entry> {
    let all = super::files(&["hdf4"]);
    let is_hdf_eos = |entry: &Entry| {
        let bytes = fs::read(&entry.path).expect("a file of the corpus");
        bytes.windows(16).any(|part| part == b"StructMetadata.0")
    };
    all.into_iter().filter(is_hdf_eos).collect()
}

/// Returns what the judge says of a file: a line for each difference, then the numbers of what was compared.
fn judged(path: &Path, folder: &Path) -> Vec<String> {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let (copy, said) = (folder.join(format!("{name}.nc")), folder.join(format!("{name}.said")));
    let opening = OpenOptions::default().hdf_eos(true);
    let words =
        ["ferrocdf copy".as_ref(), path.as_os_str(), copy.as_os_str()].map(|word| word.to_os_string());
    if nccopy::main_with(Foreign::Mapped, &opening, words) != 0 {
        return vec!["no copy was made".to_string()];
    }
    let mut judge = python::script("hdf_eos.py");
    judge.arg("judge").arg(path).arg(&copy).stdout(File::create(&said).unwrap()).stderr(Stdio::piped());
    python::finish(judge.spawn().expect("a Python that starts"));
    fs::read_to_string(&said).unwrap().lines().map(str::to_string).collect()
}

/// Compares files, and prints how much was compared. Returns the lines of differences.
fn differences(files: &[Entry]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let said = each(files, |entry| {
        let name = entry.path.display().to_string();
        judged(&entry.path, folder.path()).iter().map(|line| format!("{name}: {line}")).collect()
    });
    let (compared, different): (Vec<_>, Vec<_>) =
        said.into_iter().partition(|line| line.contains(": compared {"));
    assert_eq!(compared.len(), files.len(), "{different:#?}");
    println!("{}", compared.join("\n"));
    different
}

#[test]
fn files_of_the_corpus_have_the_names_and_coordinates_of_their_metadata() {
    let files = hdf_eos_files();
    assert!(files.len() >= 30, "only {} HDF-EOS2 files", files.len());
    assert_eq!(differences(&files), Vec::<String>::new());
}

#[test]
fn grids_of_all_projections_have_the_coordinates_of_proj() {
    let folder = tempfile::tempdir().unwrap();
    let seed = python::seed();
    println!("seed {seed}");
    let mut maker = python::script("hdf_eos.py");
    maker.arg("make").arg(folder.path()).arg(seed.to_string()).stdout(Stdio::null()).stderr(Stdio::piped());
    python::finish(maker.spawn().expect("a Python that starts"));
    let entries = fs::read_dir(folder.path()).unwrap();
    let files: Vec<Entry> =
        entries.map(|entry| Entry { path: entry.unwrap().path(), normal: true }).collect();
    assert_eq!(files.len(), 3);
    assert_eq!(differences(&files), Vec::<String>::new());
}
