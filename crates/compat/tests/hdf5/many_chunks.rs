//! Chunk indexes with more than 100,000 chunks.

use std::process::Stdio;
use std::time::Instant;

use ferrocdf::FileMut;
use ferrocdf_array::{Out, Selection, read};
use ferrocdf_compat::listing::open;
use ferrocdf_compat::python::{finish, script};
use ferrocdf_hdf5::Dataset;
use ferrocdf_hdf5::messages::{ChunkIndex, DataLayout};

/// What `many_chunks.py` makes: the files, and how their chunks are found.
const FILES: [(&str, &str); 9] = [
    ("btree1", "BTree1"),
    ("single", "Single"),
    ("implicit", "Implicit"),
    ("fixed", "FixedArray"),
    ("fixed-filtered", "FixedArray"),
    ("extensible", "ExtensibleArray"),
    ("extensible-filtered", "ExtensibleArray"),
    ("btree2", "BTree2"),
    ("btree2-filtered", "BTree2"),
];
const SHAPE: [u64; 2] = [330, 310];

fn kind(index: ChunkIndex) -> &'static str {
    match index {
        ChunkIndex::BTree1 => "BTree1",
        ChunkIndex::Single(_) => "Single",
        ChunkIndex::Implicit => "Implicit",
        ChunkIndex::FixedArray { .. } => "FixedArray",
        ChunkIndex::ExtensibleArray(_) => "ExtensibleArray",
        ChunkIndex::BTree2 { .. } => "BTree2",
    }
}

#[test]
fn every_index_holds_a_hundred_thousand_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = script("many_chunks.py");
    let child = command.arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    finish(child.expect("a Python that starts"));
    for (name, index) in FILES {
        let began = Instant::now();
        let file = open(&folder.path().join(format!("{name}.h5"))).unwrap();
        let object = file.open_path(file.superblock().root, b"data").unwrap().unwrap();
        let dataset = Dataset::open(&object).unwrap();
        let DataLayout::Chunked(layout) = dataset.layout() else { panic!("{name} has no chunks") };
        assert_eq!(kind(layout.index), index);
        let chunks: u64 = SHAPE.iter().zip(&layout.shape).map(|(len, chunk)| len.div_ceil(*chunk)).product();
        assert!(index == "Single" || chunks > 100_000, "{name} has {chunks} chunks");
        let placed = dataset.array().unwrap();
        let mut numbers = vec![0u32; (SHAPE[0] * SHAPE[1]) as usize];
        let _fit =
            read(&*placed.blob, &placed.array, &Selection::all(&SHAPE), Out::new(&mut numbers)).unwrap();
        let wrong = numbers.iter().zip(0u64..).find(|&(&number, n)| number != (n * 2_654_435_761) as u32);
        assert_eq!(wrong, None, "{name}: a number and its position");
        println!("{name}: {chunks} chunks in {:.2} s", began.elapsed().as_secs_f64());
    }
}

/// Number of elements, each a chunk, that a dataset grows to: enough for secondary blocks of its extensible array whose data blocks have pages.
const GROWN: u32 = 150_000;

#[test]
fn h5py_reads_extensible_arrays_that_grew_here_by_secondary_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let run = |what: &str| {
        let mut command = script("grown_chunks.py");
        let command = command.arg(what).arg(folder.path()).arg(GROWN.to_string());
        finish(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a Python that starts"));
    };
    run("make");
    for name in ["plain", "filtered"] {
        let file = FileMut::append(folder.path().join(format!("{name}.h5"))).expect("a file to edit");
        let numbers: Vec<u32> = (10..GROWN).map(|n| n.wrapping_mul(2_654_435_761)).collect();
        file.variable_mut("data").unwrap().put_values(&numbers, 10..GROWN as usize).unwrap();
        file.close().unwrap();
        let file = open(&folder.path().join(format!("{name}.h5"))).unwrap();
        let object = file.open_path(file.superblock().root, b"data").unwrap().unwrap();
        let dataset = Dataset::open(&object).unwrap();
        let DataLayout::Chunked(layout) = dataset.layout() else { panic!("{name} has no chunks") };
        assert_eq!(kind(layout.index), "ExtensibleArray", "{name}");
    }
    run("check");
}
