//! Chunks of files that others made, overwritten: under every index, with everything else as it was.

use std::sync::Arc;

use ferrocdf_array::{In, Layout, Out, Selection, flush, read, write};
use ferrocdf_bytes::lookup3;
use ferrocdf_hdf5::edit::{Barrier, Editor, GroupOptions};
use ferrocdf_hdf5::{Address, Dataset, File, LinkTarget, ObjectKind, OpenOptions, Placed};
use ferrocdf_store::{BlobMut, MemoryBlob};

use super::attribute;

fn all(placed: &Placed) -> Option<Vec<u8>> {
    let shape = &placed.array.shape;
    let mut bytes = vec![0; usize::try_from(shape.iter().product::<u64>()).ok()?];
    let selection = Selection::slab(&vec![0; shape.len()], shape);
    let _ = read(&*placed.blob, &placed.array, &selection, Out::new(&mut bytes)).ok()?;
    Some(bytes)
}

#[test]
fn chunks_of_every_index_are_overwritten() {
    let (mut changed, mut kinds) = (0, std::collections::BTreeSet::new());
    for name in ["chunks_new", "chunks_old", "chunks_v5", "edges", "pages", "resized_new", "resized_old"] {
        let path = format!("{}/tests/data_half/{name}.h5", env!("CARGO_MANIFEST_DIR"));
        let blob = Arc::new(MemoryBlob::new(std::fs::read(path).unwrap()));
        let file = File::open(blob.clone()).unwrap();
        let mut expected = Vec::new();
        let mut editor = Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
        for link in file.root().unwrap().links().unwrap().list {
            let LinkTarget::Hard(at) = link.target else { continue };
            let object = file.object(at).unwrap();
            if object.kind() != ObjectKind::Dataset {
                continue;
            }
            let dataset = Dataset::open(&object).unwrap();
            let Some(mut bytes) = dataset.raw().ok().and_then(|placed| all(&placed)) else { continue };
            let node = editor.node(at).unwrap();
            let placed = editor.look(node, true).unwrap();
            if matches!(placed.array.layout, Layout::Chunked(_)) && !bytes.is_empty() {
                // The middle of the first dimension, all of the others.
                let shape = placed.array.shape.clone();
                let (mut first, mut count) = (vec![0; shape.len()], shape.clone());
                (first[0], count[0]) = (shape[0] / 3, shape[0].div_ceil(3));
                let row = bytes.len() / shape[0] as usize;
                let values = vec![0x5a; row * count[0] as usize];
                let done = write(
                    &*blob as &dyn BlobMut,
                    &placed.array,
                    &Selection::slab(&first, &count),
                    In::new(&values),
                );
                // Filters that only unpack, perhaps.
                done.and_then(|_| flush(&*blob, &placed.array)).unwrap();
                bytes[row * first[0] as usize..][..values.len()].copy_from_slice(&values);
                kinds.insert(
                    format!("{:?}", dataset.layout()).split("index: ").nth(1).unwrap()[..6].to_string(),
                );
                changed += 1;
            }
            expected.push((at, bytes));
        }
        editor.commit().unwrap();
        let file = File::open(blob).unwrap();
        for (at, bytes) in expected {
            let dataset = Dataset::open(&file.object(at).unwrap()).unwrap();
            assert!(all(&dataset.raw().unwrap()) == Some(bytes), "{name}: dataset at {at}");
        }
    }
    assert!(changed > 20 && kinds.len() == 6, "{changed} datasets, {kinds:?}");
}

/// Names of a group's links and attributes.
fn names(file: &File, at: Address) -> Vec<Vec<u8>> {
    let object = file.object(at).unwrap();
    let links = object.links().unwrap().list.into_iter().map(|link| link.name);
    let attributes = object.attributes().unwrap().list.into_iter().map(|(name, _)| name);
    links.chain(attributes).collect()
}

#[test]
fn what_a_damaged_address_leads_to_is_not_given_up() {
    let path = format!("{}/tests/data/dense_ordered.h5", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = std::fs::read(path).unwrap();
    let root = File::open(Arc::new(MemoryBlob::new(bytes.clone()))).unwrap().superblock().root;
    // The indexes of creation order of links (6) and attributes (9), which reading does not need: their nodes are said to be
    // where the root group is. Behind that address are numbers of 2 and 8 bytes, then the checksum.
    let is_index = |at: &usize| bytes[*at..].starts_with(b"BTHD") && [6, 9].contains(&bytes[at + 5]);
    let indexes: Vec<usize> = (0..bytes.len() - 38).filter(is_index).collect();
    assert!(indexes.len() > 1);
    for at in indexes {
        bytes[at + 16..at + 24].copy_from_slice(&root.0.to_le_bytes());
        let sum = lookup3(&bytes[at..at + 34], 0).to_le_bytes();
        bytes[at + 34..at + 38].copy_from_slice(&sum);
    }
    let blob = Arc::new(MemoryBlob::new(bytes));
    let mut wanted = names(&File::open(blob.clone()).unwrap(), root);
    let mut editor = Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
    let top = editor.root();
    for number in 0..30 {
        let name = format!("added{number}");
        editor.create_group(top, &name, GroupOptions::default()).unwrap();
        editor.set_attribute(top, attribute(&name, &[number; 300])).unwrap();
        editor.commit().unwrap();
        wanted.extend([name.clone().into_bytes(), name.into_bytes()]);
    }
    let file = File::open(blob).unwrap();
    let mut found = names(&file, file.superblock().root);
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}
