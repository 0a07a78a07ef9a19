//! Random files, fact by fact.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use ferrocdf_compat::listing::{compare, listing};
use ferrocdf_compat::python::{Listings, finish, script};

use crate::ncdump_tool::{ours, reference};

/// How many files a usual run makes, and how many are in the works at a time.
const HDF5: usize = 90;
const NETCDF4: usize = 60;
const BATCH: usize = 200;

/// The number of files, and the first seed.
pub(crate) fn wanted(usual: usize) -> (usize, usize) {
    let Ok(text) = std::env::var("FERROCDF_MODELS") else { return (usual, 1) };
    let (count, first) = text.split_once(':').unwrap_or((&text, "1"));
    let number = |text: &str| text.parse().expect("FERROCDF_MODELS is a number, or two with a colon between");
    (number(count), number(first))
}

/// The files that a script makes of seeds, by two processes.
pub(crate) fn make(name: &str, folder: &Path, first: usize, count: usize) -> Vec<PathBuf> {
    let half = count / 2;
    let children = [(first, half), (first + half, count - half)].map(|(first, count)| {
        let mut command = script(name);
        command.arg(folder).args([first.to_string(), count.to_string()]);
        // The filters of others complain of data that they cannot pack.
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a Python that starts")
    });
    children.into_iter().for_each(finish);
    let extension = if name == "models_hdf5.py" { "h5" } else { "nc" };
    let path = |seed| folder.join(format!("{seed}.{extension}"));
    (first..first + count).map(path).filter(|path| path.exists()).collect()
}

/// Makes files in batches; the facts of all of them, and `also` on each, must be the same.
fn judge(name: &str, usual: usize, also: impl Fn(&Path) -> Vec<String> + Sync) {
    let began = Instant::now();
    let (count, first) = wanted(usual);
    let (mut files, same, mut differences) = (0, AtomicUsize::new(0), vec![]);
    let (only_ours, closed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for start in (first..first + count).step_by(BATCH) {
        let folder = tempfile::tempdir().unwrap();
        let paths = make(name, folder.path(), start, BATCH.min(first + count - start));
        files += paths.len();
        let lists = tempfile::tempdir().unwrap();
        let mut listings = Listings::start(&paths, lists.path());
        listings.finish();
        let next = AtomicUsize::new(0);
        let found = Mutex::new(vec![]);
        let work = || {
            while let Some((number, path)) =
                Some(next.fetch_add(1, Relaxed)).and_then(|n| Some((n, paths.get(n)?)))
            {
                let compared = compare(&listings.facts(number), &listing(path));
                same.fetch_add(compared.same, Relaxed);
                only_ours.fetch_add(compared.only_ours, Relaxed);
                closed.fetch_add(usize::from(compared.closed), Relaxed);
                let file = path.file_name().unwrap_or_default().display();
                let all = compared.differences.into_iter().chain(also(path));
                found.lock().unwrap().extend(all.map(|what| format!("{file} {what}")));
            }
        };
        std::thread::scope(|scope| {
            [scope.spawn(work), scope.spawn(work)].map(|worker| worker.join().unwrap())
        });
        differences.extend(found.into_inner().unwrap());
    }
    let [same, only_ours, closed] = [same, only_ours, closed].map(AtomicUsize::into_inner);
    println!(
        "{name}: {files} files of {count} seeds in {:.1} s: {same} facts are the same, {only_ours} only we can tell; \
         h5py cannot open {closed}",
        began.elapsed().as_secs_f64()
    );
    assert!(files > count / 2, "{name} made only {files} files of {count} seeds");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn hdf5_files() {
    judge("models_hdf5.py", HDF5, |_| vec![]);
}

#[test]
fn netcdf4_files() {
    let printed = AtomicUsize::new(0);
    judge("models_netcdf4.py", NETCDF4, |path| {
        let mut found = vec![];
        for way in [&["-p", "9,17"][..], &["-s", "-h"]] {
            let args = [way, &[path.to_str().expect("a path of UTF-8")]].concat();
            let theirs = reference(&args);
            // The machine's library lacks some of the filters of netCDF4-python's.
            if theirs.code != Some(0) {
                continue;
            }
            printed.fetch_add(1, Relaxed);
            let mine = ours(&args);
            if mine.out != theirs.out || mine.code != theirs.code {
                let lines = |bytes: &[u8]| {
                    String::from_utf8_lossy(bytes).lines().map(str::to_string).collect::<Vec<_>>()
                };
                let (their, my) = (lines(&theirs.out), lines(&mine.out));
                let at = their.iter().zip(&my).position(|(a, b)| a != b).unwrap_or(their.len().min(my.len()));
                let error = String::from_utf8_lossy(&mine.err).into_owned();
                found.push(format!(
                    "ncdump {way:?} line {}: {:?}, ours {:?} {error}",
                    at + 1,
                    their.get(at),
                    my.get(at)
                ));
            }
        }
        found
    });
    println!("ncdump printed {} times", printed.into_inner());
}
