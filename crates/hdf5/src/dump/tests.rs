//! Structures of real files, printed.
//!
//! The variable `FERROCDF_REENCODE` names a folder of more files to be tried.

use std::path::Path;
use std::sync::Arc;

use ferrocdf_store::MemoryBlob;
use ferrocdf_store::ranges::{total, union};

use super::extents::extents;
use super::structure;
use crate::reencoded::files;

/// The text of a file, and what is wrong with it.
fn dump(bytes: Vec<u8>) -> (String, Option<String>) {
    let mut text = Vec::new();
    let result = structure(Arc::new(MemoryBlob::new(bytes)), &mut text);
    (String::from_utf8(text).unwrap(), result.err().map(|error| error.to_string()))
}

#[test]
fn all_structures_of_real_files_are_printed() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"), &mut found);
    if let Some(folder) = std::env::var_os("FERROCDF_REENCODE") {
        files(Path::new(&folder), &mut found);
    }
    let (mut all, mut errors) = (String::new(), vec![]);
    for path in &found {
        let (text, error) = dump(std::fs::read(path).unwrap());
        errors.extend(error.map(|error| format!("{}: {error}", path.display())));
        if text.len() < 1 << 20 {
            all += &text;
        }
    }
    for what in [
        "superblock (signature",
        "object header of /",
        "object header continuation of /",
        "version 1 B-tree node",
        "symbol table node",
        "data segment of the local heap",
        "version 2 B-tree leaf node",
        "fractal heap direct block",
        "fractal heap indirect block",
        "shared message table",
        "shared message record list",
        "fractal heap ID = 0x",
    ] {
        assert!(all.contains(what), "no {what} in any file");
    }
    // Those of a folder of the user may be damaged.
    let own = errors.iter().filter(|error| error.contains("tests/data") && error.contains(".h5: "));
    assert_eq!(own.collect::<Vec<_>>(), Vec::<&String>::new());
    println!("{}", errors.join("\n"));
}

/// Values that `h5debug` and h5py tell of the same file.
#[test]
fn addresses_and_values_are_those_that_h5debug_tells() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dense.h5");
    let (text, error) = dump(std::fs::read(path).unwrap());
    assert_eq!(error, None);
    let structures: Vec<_> = text.split("\n0x").collect();
    let of = |title: &str| {
        let found = structures.iter().find(|structure| structure.starts_with(title));
        *found.unwrap_or_else(|| panic!("no {title} in {text}"))
    };
    let cases: [(&str, &[&str]); 6] = [
        ("0x0 superblock", &["version = 3", "root group object header address = 0x30"]),
        (
            "30 object header of /\n",
            &[
                "version = 2",
                "size of chunk 0 = 120",
                "0x3b body, 2 bytes",
                "fractal heap address = 0xa99",
                "address of the index by name = 0x5df",
                "fractal heap address = 0x78f",
                "address of the index by name = 0x821",
                "header message type = 10",
            ],
        ),
        (
            "78f fractal heap header\n",
            &[
                "heap ID length = 7",
                "maximum size of managed objects = 4096",
                "amount of free space in managed blocks = 166",
                "address of managed block free space manager = 0x847",
                "number of managed objects in heap = 22",
                "address of root block = 0x16cc",
                "table width = 4",
                "starting block size = 512",
            ],
        ),
        (
            "821 version 2 B-tree header\n",
            &[
                "type = 5",
                "node size = 512",
                "record size = 11",
                "root node address = 0x899",
                "total number of records in B-tree = 22",
            ],
        ),
        ("b3 object header of /g00\n", &["signature = \"OHDR\""]),
        ("d2b object header of /g03\n", &["signature = \"OHDR\""]),
    ];
    for (title, lines) in cases {
        let structure = of(title);
        for line in lines {
            assert!(structure.contains(line), "no {line} in {structure}");
        }
    }
}

#[test]
fn a_damaged_structure_does_not_hide_the_others() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dense.h5");
    let mut bytes = std::fs::read(path).unwrap();
    let (whole, _) = dump(bytes.clone());
    // The signature of the header of g00.
    bytes[0xb3] = b'X';
    let (text, error) = dump(bytes);
    let error = error.unwrap();
    assert!(error.contains("object header") && error.contains("0xb3"), "{error}");
    assert!(text.contains("error: ") && text.contains("object header of /g03"), "{text}");
    assert!(text.len() > whole.len() / 2);
}

/// A superblock of version 0 names a block that the driver wrote: the address is at byte 48, behind those of the base, of free
/// space, and of the end of the file.
#[test]
fn the_driver_information_block_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/old_small.h5");
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() as u64;
    bytes[48..56].copy_from_slice(&at.to_le_bytes());
    bytes.extend(b"\0\0\0\0\x04\0\0\0TESTdrvrmore");
    let (text, error) = dump(bytes);
    assert_eq!(error, None);
    let block = text.split("\n0x").find(|block| block.starts_with(&format!("{at:x} driver"))).unwrap();
    for line in ["size = 4", "identification = \"TESTdrvr\"", "information = \"more\" (4 bytes)"] {
        assert!(block.contains(line), "no {line} in {block}");
    }
}

/// Names and boxes that `virtual_sources()` of h5py tells of the same file.
#[test]
fn mappings_of_virtual_datasets_are_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data_half/virtual_old.h5");
    let (text, error) = dump(std::fs::read(path).unwrap());
    assert_eq!(error, None);
    let lists = text.split("    mappings of a virtual dataset, object ").skip(1);
    let list =
        lists.map(|list| list.split("\n0x").next().unwrap()).find(|list| list.contains("\"own\"")).unwrap();
    for name in ["source1.h5", "a", "own", "missing.h5"] {
        assert!(list.contains(&format!(" name = \"{name}\"")), "no {name} in {list}");
    }
    for field in ["selection type = 2", "rank = 2", "count = 1", "value = 4", "checksum = 0x"] {
        assert!(list.contains(field), "no {field} in {list}");
    }
}

#[test]
fn files_of_another_kind_are_an_error() {
    let (text, error) = dump(b"CDF\x01".to_vec());
    assert!(text.is_empty() && error.is_some_and(|error| error.contains("no HDF5 signature")));
}

/// Extents of metadata, indexes and elements are disjoint, and no structure is without them.
#[test]
fn extents_of_real_files_do_not_overlap() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"), &mut found);
    let (mut checked, mut elements) = (0, 0);
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        let (size, (_, error)) = (bytes.len() as u64, dump(bytes.clone()));
        let Ok(found) = extents(Arc::new(MemoryBlob::new(bytes))) else { continue };
        assert_eq!(found.unreadable.is_some(), error.is_some(), "{}", path.display());
        if error.is_some() {
            continue;
        }
        let mut all = [found.metadata, found.collections].concat();
        for dataset in found.datasets {
            elements += dataset.elements.len();
            all.extend(dataset.index);
            all.extend(dataset.elements.into_iter().map(|elements| elements.bytes));
        }
        assert_eq!(total(&all), total(&union(all.clone(), size)), "{}", path.display());
        checked += 1;
    }
    assert!(checked > 20 && elements > 8, "{checked} {elements}");
}

/// `h5stat -S` counts 5,944 bytes of headers, heaps and indexes, the superblock among them.
#[test]
fn metadata_of_a_file_is_what_h5stat_counts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dense.h5");
    let found = extents(Arc::new(MemoryBlob::new(std::fs::read(path).unwrap()))).unwrap();
    assert_eq!(total(&found.metadata), 5944);
}
