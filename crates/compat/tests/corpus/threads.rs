//! Sixteen threads that read the corpus at once: each a part of it in an order of its own, and all the same few files.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ferrocdf_compat::listing::{Facts, listing, open, walk_open};

use crate::files;

const THREADS: usize = 16;
/// Files that every thread reads, all through one open file.
const SHARED: usize = 12;
/// Larger files would take most of the time.
const LARGEST: u64 = 1 << 20;

/// A number that looks random, always the same for the same things.
fn chance(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What netCDF sees of a file, if it can be opened.
fn netcdf(path: &Path) -> u64 {
    let Ok(file) = ferrocdf::open(path) else { return 0 };
    let mut hasher = DefaultHasher::new();
    for variable in file.variables() {
        let shape = file.model().shape(variable.id());
        let size = shape.iter().try_fold(8u64, |size, &len| size.checked_mul(len));
        if size.is_some_and(|size| size < 1 << 20) {
            let values = file.read_values(variable.id(), &vec![0; shape.len()], &shape);
            format!("{values:?}").hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The facts of a file, and what netCDF sees of it.
type Seen = (Facts, u64);
/// What a thread saw: files of its own, and the shared ones by their number.
type SeenByOne = (Vec<(PathBuf, Seen)>, Vec<(usize, Facts)>);

#[test]
fn sixteen_threads_read_what_one_reads() {
    let began = Instant::now();
    let mut paths: Vec<PathBuf> = files(&["hdf5"]).into_iter().map(|entry| entry.path).collect();
    paths.retain(|path| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= LARGEST));
    paths.sort_by_key(|path| chance(path));
    let shared: Vec<_> =
        paths.iter().filter_map(|path| Some((path, open(path).ok()?))).take(SHARED).collect();
    assert_eq!(shared.len(), SHARED);
    // Each file has two readers.
    let part = |thread: usize| {
        let mut mine: Vec<&PathBuf> = paths.iter().skip(thread / 2).step_by(THREADS / 2).collect();
        mine.sort_by_key(|path| chance((path, thread)));
        mine
    };
    let look = |path: &Path| -> Seen { (listing(path), netcdf(path)) };
    let read: Vec<SeenByOne> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (shared, part, look) = (&shared, &part, &look);
                scope.spawn(move || {
                    let mut order: Vec<usize> = (0..SHARED).collect();
                    order.sort_by_key(|&number| chance((number, thread)));
                    let common =
                        order.into_iter().map(|number| (number, walk_open(&shared[number].1))).collect();
                    (part(thread).into_iter().map(|path| (path.clone(), look(path))).collect(), common)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread panicked")).collect()
    });
    let together = began.elapsed();
    let mut alone: HashMap<PathBuf, Seen> = HashMap::new();
    let mut reads = 0;
    for (own, common) in read {
        for (path, seen) in own {
            let expected = alone.entry(path.clone()).or_insert_with(|| look(&path));
            assert!(*expected == seen, "{} read by many threads", path.display());
            reads += 1;
        }
        for (number, facts) in common {
            let (path, _) = &shared[number];
            let expected = alone.entry((*path).clone()).or_insert_with(|| look(path));
            assert!(expected.0 == facts, "{} shared by all threads", path.display());
            reads += 1;
        }
    }
    println!(
        "{THREADS} threads read {} files {reads} times in {:.1} s; alone and compared in {:.1} s",
        alone.len(),
        together.as_secs_f64(),
        (began.elapsed() - together).as_secs_f64()
    );
    assert!(alone.len() > 900, "only {} files were read", alone.len());
}
