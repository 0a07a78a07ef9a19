//! Every chunk index, with missing chunks, partial edges, filters.

use ferrocdf_array::{ChunkLocation, Chunks, Layout};
use ferrocdf_bytes::lookup3;
use ferrocdf_hdf5::messages::{ChunkIndex, DataLayout};
use ferrocdf_hdf5::{Dataset, File};

use super::{bytes, dataset, expected, numbers, open, open_bytes, read_bytes, read_numbers};

/// The shapes of datasets and chunks, by rank.
const SHAPES: [(&[u64], &[u64]); 3] = [(&[23], &[4]), (&[9, 7], &[2, 3]), (&[5, 6, 4], &[2, 4, 3])];

const FILL: f64 = 7.0;

/// The coordinates of the n-th element.
fn coordinates(shape: &[u64], mut n: u64) -> Vec<u64> {
    let mut at = vec![0; shape.len()];
    for (at, &len) in at.iter_mut().zip(shape).rev() {
        *at = n % len;
        n /= len;
    }
    at
}

/// What is read where only some chunks were written.
fn with_missing(shape: &[u64], chunk: &[u64], present: impl Fn(u64) -> bool) -> Vec<f64> {
    let mut values = expected(shape);
    for (n, value) in values.iter_mut().enumerate() {
        let at = coordinates(shape, n as u64);
        if !present(at.iter().zip(chunk).map(|(at, chunk)| at / chunk).sum()) {
            *value = FILL;
        }
    }
    values
}

fn kind(dataset: &Dataset) -> &'static str {
    match dataset.layout() {
        DataLayout::Chunked(chunked) => match chunked.index {
            ChunkIndex::BTree1 => "tree 1",
            ChunkIndex::Single(_) => "single",
            ChunkIndex::Implicit => "implicit",
            ChunkIndex::FixedArray { .. } => "fixed array",
            ChunkIndex::ExtensibleArray(_) => "extensible array",
            ChunkIndex::BTree2 { .. } => "tree 2",
        },
        other => panic!("{other:?}"),
    }
}

fn blocks(dataset: &Dataset) -> Chunks {
    match dataset.array().unwrap().array.layout {
        Layout::Chunked(blocks) => blocks,
        other => panic!("{other:?}"),
    }
}

/// Boxes of chunks are what their chunks are one by one, beyond the dataset too; those that are stored are visited.
fn check_boxes(dataset: &Dataset, chunk: &[u64]) {
    let index = blocks(dataset).index;
    let rank = chunk.len();
    let counts: Vec<u64> =
        dataset.dataspace().dims.iter().zip(chunk).map(|(len, by)| len.div_ceil(*by)).collect();
    for start in 0..3 {
        let first: Vec<u64> = counts.iter().map(|&count| start.min(count)).collect();
        let count: Vec<u64> = counts.iter().map(|count| count + 1).collect();
        let places = index.locate(&first, &count).unwrap();
        assert_eq!(places.len() as u64, count.iter().product::<u64>());
        for (n, place) in places.iter().enumerate() {
            let at: Vec<u64> =
                coordinates(&count, n as u64).iter().zip(&first).map(|(at, first)| at + first).collect();
            assert_eq!(index.locate(&at, &vec![1; rank]).unwrap(), [*place], "{at:?}");
            if at.iter().zip(&counts).any(|(at, count)| at >= count) {
                assert_eq!(*place, ChunkLocation::Missing, "{at:?}");
            }
        }
    }
    let places = index.locate(&vec![0; rank], &counts).unwrap();
    let is_stored = |(_, place): &(usize, &ChunkLocation)| **place != ChunkLocation::Missing;
    let stored = places.iter().enumerate().filter(is_stored).map(|(n, _)| coordinates(&counts, n as u64));
    let first = |at: Vec<u64>| -> Vec<u64> { at.iter().zip(chunk).map(|(at, len)| at * len).collect() };
    let stored: Vec<Vec<u64>> = stored.map(first).collect();
    let mut visited = vec![];
    dataset
        .each_chunk(|first| {
            visited.push(first);
            Ok(())
        })
        .unwrap();
    visited.sort();
    assert_eq!(visited, stored);
    assert!(index.locate(&vec![0; rank + 1], &vec![1; rank + 1]).is_err());
    assert_eq!(
        index.locate(&vec![u64::MAX; rank], &vec![2; rank]).unwrap(),
        vec![ChunkLocation::Missing; 1 << rank]
    );
}

fn check(
    file: &File,
    old: bool,
    path: &str,
    expected_kind: &str,
    shape: &[u64],
    chunk: &[u64],
    wanted: &[f64],
) {
    let set = dataset(file, path);
    assert_eq!(kind(&set), if old { "tree 1" } else { expected_kind }, "{path}");
    assert_eq!(set.shape().unwrap(), shape);
    assert_eq!(numbers(&set.array().unwrap()).unwrap(), wanted, "{path}");
    // The same elements as bytes.
    let bytes: Vec<u8> = wanted.iter().flat_map(|&value| (value as u16).to_le_bytes()).collect();
    assert_eq!(read_bytes(&set).unwrap(), bytes, "{path}");
    check_boxes(&set, chunk);
    let count: Vec<u64> = shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let places = blocks(&set).index.locate(&vec![0; count.len()], &count).unwrap();
    let stored = places.iter().map(|place| match place {
        ChunkLocation::Missing => 0,
        ChunkLocation::At { len, .. } => *len,
        ChunkLocation::Object { .. } => unreachable!("HDF5 chunks are in the file"),
    });
    assert_eq!(set.storage_size().unwrap(), stored.sum::<u64>(), "{path}");
}

fn check_all(name: &str, old: bool) {
    let file = open(name);
    for (rank, (shape, chunk)) in (1..).zip(SHAPES) {
        let some = with_missing(shape, chunk, |sum| sum % 3 != 1);
        let none = vec![FILL; some.len()];
        for packed in ["", "z"] {
            let check = |path: &str, kind, chunk, wanted: &[f64]| {
                check(&file, old, &format!("{path}{rank}{packed}"), kind, shape, chunk, wanted);
            };
            check("fixed", "fixed array", chunk, &some);
            check("larger", "fixed array", chunk, &some);
            (0..rank).for_each(|dim| check(&format!("grows{dim}_"), "extensible array", chunk, &some));
            if rank > 1 {
                check("free", "tree 2", chunk, &some);
            }
            check("none", "fixed array", chunk, &none);
            check("single", "single", shape, &expected(shape));
        }
        check(&file, old, &format!("early{rank}"), "implicit", shape, chunk, &some);
    }
}

#[test]
fn trees_of_version_1() {
    check_all("chunks_old.h5", true);
}

#[test]
fn indexes_of_version_4() {
    check_all("chunks_new.h5", false);
}

#[test]
fn indexes_of_version_5() {
    check_all("chunks_v5.h5", false);
}

#[test]
fn what_was_cut_off_is_gone() {
    let shape = [11, 9];
    let kept = |n: usize, value: f64| if n / 10 < 5 && n % 10 < 7 { value } else { FILL };
    let all: Vec<f64> =
        expected(&[12, 10]).into_iter().enumerate().map(|(n, value)| kept(n, value)).collect();
    let wanted: Vec<f64> = (0..99).map(|n| all[n / 9 * 10 + n % 9]).collect();
    for name in ["resized_old.h5", "resized_new.h5"] {
        let file = open(name);
        for path in ["one", "onez", "two", "twoz", "fixed", "fixedz"] {
            assert_eq!(dataset(&file, path).shape().unwrap(), shape);
            assert_eq!(read_numbers(&file, path), wanted, "{name} {path}");
            check_boxes(&dataset(&file, path), &[3, 4]);
        }
    }
}

#[test]
fn chunks_outside_the_extent_are_not_visited() {
    let whole = bytes("chunks_new.h5");
    let header = dataset(&open("chunks_new.h5"), "grows0_1").object().address().0 as usize;
    let checksum = |bytes: &[u8], end: usize| lookup3(&bytes[header..end], 0).to_le_bytes();
    let end =
        (header + 8..whole.len() - 4).find(|&end| checksum(&whole, end) == whole[end..end + 4]).unwrap();
    let dims = [23u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
    let at = whole[header..end].windows(16).position(|window| window == dims).unwrap() + header;
    let mut cut = whole;
    cut[at..at + 8].copy_from_slice(&10u64.to_le_bytes());
    let sum = checksum(&cut, end);
    cut[end..end + 4].copy_from_slice(&sum);
    check_boxes(&dataset(&open_bytes(cut).unwrap(), "grows0_1"), &[4]);
}

#[test]
fn edges_may_be_stored_plain() {
    let file = open("edges.h5");
    for path in ["fixed", "grows", "free"] {
        assert_eq!(read_numbers(&file, path), expected(&[9, 7]), "{path}");
        let places = blocks(&dataset(&file, path)).index.locate(&[0, 0], &[3, 2]).unwrap();
        let edges =
            places.iter().map(|place| matches!(place, ChunkLocation::At { mask: u32::MAX, len: 32, .. }));
        assert_eq!(edges.collect::<Vec<_>>(), [false, true, false, true, true, true], "{path}");
    }
}

#[test]
fn pages_that_were_never_written() {
    let file = open("pages.h5");
    let present = |n: usize| (1000..1024).contains(&n) || n >= 2500;
    let wanted: Vec<f64> = expected(&[2600])
        .into_iter()
        .enumerate()
        .map(|(n, value)| if present(n) { value } else { FILL })
        .collect();
    for path in ["paged", "pagedz"] {
        assert_eq!(kind(&dataset(&file, path)), "fixed array");
        assert_eq!(read_numbers(&file, path), wanted, "{path}");
        check_boxes(&dataset(&file, path), &[1]);
    }
    assert_eq!(dataset(&file, "paged").storage_size().unwrap(), 2 * 124);
}
