//! Many chunks and many variables, made by us: opening them takes a bounded number of reads, and all can read them.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use ferrocdf::model::Chunking;
use ferrocdf::store::{Blob, Cost, FileBlob};
use ferrocdf::{CreateOptions, File, FileMut, Format, OpenOptions, Owner};
use ferrocdf_compat::python::{finish, script};

const CHUNKS: u64 = 100_000;
const SESSIONS: u64 = 5;
const VARS: i32 = 20_000;
const ATTRIBUTES: i32 = 10;

/// Reads that opening a file with one variable may take, and bytes for each variable of one with many.
const READS: usize = 40;
const BYTES: usize = 4096;

/// A blob that counts what is read of it.
#[derive(Debug)]
struct Counting {
    inner: FileBlob,
    reads: AtomicUsize,
    bytes: AtomicUsize,
}

impl Blob for Counting {
    fn size(&self) -> ferrocdf::Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> ferrocdf::Result<usize> {
        self.reads.fetch_add(1, Relaxed);
        self.bytes.fetch_add(into.len(), Relaxed);
        self.inner.read_at(at, into)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }
}

/// Opens a file; how many reads and bytes that took.
fn open(path: &Path) -> (File, usize, usize) {
    let inner = FileBlob::open(path).expect("a file that is there");
    let blob = Arc::new(Counting { inner, reads: AtomicUsize::new(0), bytes: AtomicUsize::new(0) });
    let began = Instant::now();
    let file = File::from_blob(blob.clone(), &OpenOptions::default()).expect("a file of ours");
    let (reads, bytes) = (blob.reads.load(Relaxed), blob.bytes.load(Relaxed));
    println!("we open it: {:.2} s, {reads} reads, {bytes} bytes", began.elapsed().as_secs_f64());
    (file, reads, bytes)
}

/// Appends chunk after chunk, in several sessions.
fn append_chunks(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4))?;
    file.add_unlimited_dimension("time")?;
    let var = file.add_variable::<i32>("v", &["time"])?.id();
    file.define(|model| {
        model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![1]));
        Ok(())
    })?;
    file.close()?;
    for session in 0..SESSIONS {
        let file = ferrocdf::append(path)?;
        let var = file.variable_mut("v").expect("it was defined");
        for number in session * CHUNKS / SESSIONS..(session + 1) * CHUNKS / SESSIONS {
            var.put_values(&[number as i32 * 7], number..number + 1)?;
        }
        file.close()?;
    }
    Ok(())
}

fn define_variables(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4))?;
    file.add_dimension("x", 2)?;
    for number in 0..VARS {
        let var = file.add_variable::<i32>(&format!("v{number}"), &["x"])?.id();
        file.define(|model| {
            (0..ATTRIBUTES)
                .try_for_each(|at| model.put_attr(Owner::Var(var), format!("a{at}"), (number + at).into()))
        })?;
    }
    file.close()
}

#[test]
fn many_chunks_and_many_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let [chunks, vars] = ["chunks.nc", "vars.nc"].map(|name| folder.path().join(name));
    let began = Instant::now();
    append_chunks(&chunks).expect("chunks can be appended");
    println!("{CHUNKS} chunks are written: {:.2} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    define_variables(&vars).expect("variables can be defined");
    println!("{VARS} variables are written: {:.2} s", began.elapsed().as_secs_f64());

    let (file, reads, _) = open(&chunks);
    assert!(reads <= READS, "{reads} reads");
    let wanted: Vec<i32> = (0..CHUNKS as i32).map(|number| number * 7).collect();
    let began = Instant::now();
    let values = file.variable("v").expect("it was defined").get_values::<i32, _>(..).expect("values");
    assert_eq!(values, wanted);
    println!("and read it: {:.2} s", began.elapsed().as_secs_f64());

    let (file, _, bytes) = open(&vars);
    assert!(bytes <= BYTES * VARS as usize, "{bytes} bytes");
    for number in [0, 1, VARS / 2 - 1, VARS - 1] {
        let attributes = file.variable(&format!("v{number}")).expect("it was defined").attributes().unwrap();
        let wanted = (0..ATTRIBUTES).map(|at| (format!("a{at}"), (number + at).into()));
        assert_eq!(attributes, wanted.collect::<Vec<_>>());
    }
    let mut command = script("large.py");
    finish(command.args([&chunks, &vars]).stderr(Stdio::piped()).spawn().expect("a Python that starts"));
}
