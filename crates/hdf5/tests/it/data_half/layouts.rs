//! Layouts without chunks.

use ferrocdf_array::Layout;
use ferrocdf_bytes::Code;
use ferrocdf_hdf5::File;
use ferrocdf_hdf5::messages::{DataLayout, SpaceKind};

use super::{bytes, dataset, expected, numbers, open, open_bytes, read_bytes, read_numbers};

#[test]
fn side_by_side() {
    let file = open("layouts.h5");
    assert_eq!(read_numbers(&file, "contiguous"), expected(&[4, 5]));
    assert_eq!(dataset(&file, "contiguous").storage_size().unwrap(), 40);
    assert_eq!(read_numbers(&file, "scalar"), [2.5]);
    assert!(dataset(&file, "scalar").shape().unwrap().is_empty());
    assert!(matches!(dataset(&file, "compact").layout(), DataLayout::Compact(bytes) if bytes.len() == 24));
    assert_eq!(read_numbers(&file, "compact"), expected(&[3, 4]));
    assert_eq!(read_bytes(&dataset(&file, "compact")).unwrap()[..4], [1, 0, 4, 0]);
}

#[test]
fn what_was_never_written_is_the_fill_value() {
    let file = open("layouts.h5");
    let unwritten = dataset(&file, "unwritten");
    assert!(matches!(unwritten.array().unwrap().array.layout, Layout::Fill(_)));
    assert_eq!(read_numbers(&file, "unwritten"), [-5.0; 6]);
    assert_eq!(read_bytes(&unwritten).unwrap(), (-5i32).to_le_bytes().repeat(6));
    assert_eq!(unwritten.storage_size().unwrap(), 0);
    assert_eq!(dataset(&file, "empty").shape().unwrap(), [0, 4]);
    assert!(read_numbers(&file, "empty").is_empty());
    let null = dataset(&file, "null");
    assert_eq!((null.dataspace().kind, null.shape().unwrap()), (SpaceKind::Null, vec![0]));
    assert!(read_bytes(&null).unwrap().is_empty());
}

#[test]
fn data_in_files_of_its_own() {
    let file = open("layouts.h5");
    let external = dataset(&file, "external");
    assert_eq!(external.external().unwrap().slots.len(), 2);
    assert_eq!(read_numbers(&file, "external"), expected(&[6]));
    // Nobody who finds other files.
    let blob = std::sync::Arc::new(ferrocdf_store::MemoryBlob::new(bytes("layouts.h5")));
    let alone = File::open(blob).unwrap();
    let error = numbers(&dataset(&alone, "external").array().unwrap()).unwrap_err();
    assert!(error.what.contains("raw1.bin"), "{error}");
}

#[test]
fn data_beyond_the_end_is_an_error() {
    let mut bytes = bytes("layouts.h5");
    let file = open_bytes(bytes.clone()).unwrap();
    let DataLayout::Contiguous { address: Some(at), .. } = *dataset(&file, "contiguous").layout() else {
        panic!()
    };
    // Version, class, address and size, as the layout message has them.
    let message = [&[3, 1][..], &at.0.to_le_bytes(), &40u64.to_le_bytes()].concat();
    let found: Vec<usize> = (0..bytes.len() - 18).filter(|&n| bytes[n..n + 18] == message).collect();
    assert_eq!(found.len(), 1);
    let beyond = bytes.len() as u64 - 20;
    bytes[found[0] + 2..found[0] + 10].copy_from_slice(&beyond.to_le_bytes());
    let file = open_bytes(bytes).unwrap();
    let error = numbers(&dataset(&file, "contiguous").array().unwrap()).unwrap_err();
    assert_eq!(error.code, Code::ETRUNC);
}
