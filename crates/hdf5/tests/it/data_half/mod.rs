//! Datasets of the reference library, read: `tests/data_half`.

mod chunks;
mod damage;
mod layouts;
mod types;
mod virtuals;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_array::{Out, RangeCheck, Selection, read};
use ferrocdf_bytes::Result;
use ferrocdf_hdf5::{Dataset, File, OpenOptions, Placed, Resolver, Value, Values};
use ferrocdf_store::{Blob, MemoryBlob};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data_half")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// The files of the folder.
struct Folder;

impl Resolver for Folder {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Blob>>> {
        let bytes = std::fs::read(folder().join(name)).ok();
        Ok(bytes.map(|bytes| Arc::new(MemoryBlob::new(bytes)) as _))
    }
}

fn open_bytes(bytes: Vec<u8>) -> Result<File> {
    let options = OpenOptions { resolver: Some(Arc::new(Folder)), ..OpenOptions::default() };
    File::open_with(Arc::new(MemoryBlob::new(bytes)), options)
}

fn open(name: &str) -> File {
    open_bytes(bytes(name)).unwrap()
}

fn dataset(file: &File, path: &str) -> Dataset {
    let root = file.superblock().root;
    Dataset::open(&file.open_path(root, path.as_bytes()).unwrap().unwrap()).unwrap()
}

/// All elements as numbers.
fn numbers(placed: &Placed) -> Result<Vec<f64>> {
    let shape = &placed.array.shape;
    let mut numbers = vec![0.0; shape.iter().product::<u64>() as usize];
    if !numbers.is_empty() {
        let fit = read(&*placed.blob, &placed.array, &Selection::all(shape), Out::new(&mut numbers))?;
        assert_eq!(fit, RangeCheck::InRange);
    }
    Ok(numbers)
}

fn read_numbers(file: &File, path: &str) -> Vec<f64> {
    numbers(&dataset(file, path).array().unwrap()).unwrap()
}

/// All elements as they are stored.
fn read_bytes(dataset: &Dataset) -> Result<Vec<u8>> {
    let placed = dataset.raw()?;
    let shape = &placed.array.shape;
    let mut bytes = vec![0u8; shape.iter().product::<u64>() as usize];
    if !bytes.is_empty() {
        let fit = read(&*placed.blob, &placed.array, &Selection::all(shape), Out::new(&mut bytes))?;
        assert_eq!(fit, RangeCheck::InRange);
    }
    Ok(bytes)
}

/// All elements as values.
fn read_values(file: &File, dataset: &Dataset) -> Result<Vec<Value>> {
    Values::new(file, 1 << 20).list(dataset.datatype(), &read_bytes(dataset)?)
}

/// What `make.py` writes: element n is 3 n + 1.
fn expected(shape: &[u64]) -> Vec<f64> {
    (0..shape.iter().product::<u64>()).map(|n| f64::from((3 * n + 1) as u16)).collect()
}
