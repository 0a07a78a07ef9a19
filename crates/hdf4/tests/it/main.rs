//! Files that a small writer makes: every structure, what it becomes, what it costs, and what is damaged.

mod build;
mod compressed;
mod decoded;
mod elements;
mod hostile;
mod large_chunks;
mod rasters;
mod rounds;
mod sd;

use std::sync::Arc;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;
use ferrocdf_hdf4::sd::{Datasets, Located, Var};
use ferrocdf_hdf4::{File, OpenNamed};
use ferrocdf_store::{Blob, MemoryBlob};

fn open(bytes: Vec<u8>) -> File {
    File::open(Arc::new(MemoryBlob::new(bytes)), None, Codecs::default()).unwrap()
}

/// Opens a file that has one file beside it.
fn open_beside(bytes: Vec<u8>, name: &'static str, other: Vec<u8>) -> File {
    let other: Arc<dyn Blob> = Arc::new(MemoryBlob::new(other));
    let open_named: OpenNamed = Arc::new(move |asked| Ok((asked == name).then(|| other.clone())));
    File::open(Arc::new(MemoryBlob::new(bytes)), Some(open_named), Codecs::default()).unwrap()
}

/// Reads all values of a variable, of its own shape.
fn values(file: &File, var: &Var) -> Vec<i16> {
    values_of(file, var, var.shape.clone())
}

fn values_of(file: &File, var: &Var, shape: Vec<u64>) -> Vec<i16> {
    let selection = Selection::all(&shape);
    selected(file, &var.locate(file, shape).unwrap(), &selection).unwrap()
}

fn selected(file: &File, located: &Located, selection: &Selection) -> Result<Vec<i16>> {
    let mut out = vec![0i16; selection.elements().unwrap() as usize];
    let blob = located.blob.as_ref().unwrap_or_else(|| file.blob());
    let _ = read(&**blob, &located.array, selection, Out::new(&mut out))?;
    Ok(out)
}

fn named<'d>(datasets: &'d Datasets, name: &str) -> &'d Var {
    datasets.vars.iter().find(|var| var.name == name.as_bytes()).unwrap()
}

fn big(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}
