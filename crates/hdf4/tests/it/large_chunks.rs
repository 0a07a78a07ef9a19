//! Chunks that are decoded in windows.

use std::sync::Arc;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_codec::Codecs;
use ferrocdf_hdf4::File;
use ferrocdf_hdf4::sd::{Datasets, Located};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, Cost, MemoryBlob};

use crate::big;
use crate::build::{Builder, INT16};
use crate::decoded::{Coder, coders, encode};

/// The shapes of the array, of whose chunks the last ones reach beyond it, and of a chunk, of 2 MB.
const SHAPE: [u64; 2] = [2500, 1800];
const CHUNK: [u64; 2] = [1024, 1000];

/// The chunk that is missing.
const MISSING: [u64; 2] = [1, 1];

/// The number at a place as a chunk has it, of which the lower five bits are 0.
fn number(row: u64, column: u64) -> i16 {
    let value = if column % 1000 < 400 { row / 7 } else { (row * column) % 1201 / (1 + row % 5) };
    (value as i16 & 0x3ff) << 5
}

/// The number at a place of the array.
fn value(row: u64, column: u64) -> i16 {
    match [row / CHUNK[0], column / CHUNK[1]] == MISSING {
        true => -1,
        false => number(row, column),
    }
}

/// A file with a chunked dataset, and the number of encoded bytes. These lie in linked blocks if there is a length for them.
fn file(coder: &Coder, block: Option<usize>) -> (Vec<u8>, usize) {
    let mut builder = Builder::default();
    let dims = SHAPE.map(|len| builder.dim(&format!("d{len}"), Some(len as u32)));
    let mut chunks = vec![];
    for at in (0..3).flat_map(|row| (0..2).map(move |column| [row, column])).filter(|at| *at != MISSING) {
        let place = |n: u64| (at[0] * CHUNK[0] + n / CHUNK[1], at[1] * CHUNK[1] + n % CHUNK[1]);
        let numbers: Vec<i16> =
            (0..CHUNK[0] * CHUNK[1]).map(place).map(|(row, column)| number(row, column)).collect();
        chunks.push((at.map(|at| at as u32).to_vec(), encode(coder, &big(&numbers))));
    }
    let encoded = chunks.iter().map(|(_, bytes)| bytes.len()).sum();
    let (shape, chunk) = (SHAPE.map(|len| len as u32), CHUNK.map(|len| len as u32));
    let data = builder.chunked(&shape, &chunk, Some(&coder.header), &chunks);
    let var = builder.dataset("large", &dims, INT16, Some(data), &[]);
    builder.cdf(&dims, &[var], &[]);
    if let Some(block) = block {
        builder.link_compressed(block);
    }
    (builder.finish(200), encoded)
}

fn open(source: Arc<dyn Blob>) -> Located {
    let file = File::open(source, None, Codecs::default()).unwrap().decoding_as_a_whole(0);
    let found = Datasets::read(&file).unwrap();
    found.vars[0].locate(&file, found.vars[0].shape.clone()).unwrap()
}

fn check(located: &Located, selection: &Selection, what: &str) {
    let mut out = vec![0i16; selection.elements().unwrap() as usize];
    let blob = located.blob.as_deref().unwrap();
    let _ = read(blob, &located.array, selection, Out::new(&mut out)).unwrap();
    for (at, &found) in out.iter().enumerate() {
        let at = [at as u64 / selection.count[1], at as u64 % selection.count[1]];
        let place = [0, 1].map(|dim| selection.start[dim] + at[dim] * selection.stride[dim]);
        assert_eq!(found, value(place[0], place[1]), "{what}: {place:?} of {selection:?}");
    }
}

#[test]
fn any_selection_of_chunks_of_any_coder_has_its_values() {
    for coder in coders() {
        for block in [None, Some(30_000)] {
            let located = open(Arc::new(MemoryBlob::new(file(&coder, block).0)));
            let check = |selection: Selection| check(&located, &selection, coder.name);
            check(Selection::slab(&[SHAPE[0] - 1, SHAPE[1] - 1], &[1, 1]));
            check(Selection::all(&SHAPE));
            // A whole chunk, a column, rows that are cut by strides.
            check(Selection::slab(&[1024, 0], &[1024, 1000]));
            check(Selection::slab(&[3, 999], &[SHAPE[0] - 3, 1]));
            check(Selection::strided(&[5, 7], &[350, 250], &[7, 7]));
            let mut rng = Rng::new(11);
            for _ in 0..8 {
                let start = [rng.below(SHAPE[0] - 40), rng.below(SHAPE[1] - 300)];
                check(Selection::slab(&start, &[1 + rng.below(40), 1 + rng.below(300)]));
            }
        }
    }
}

#[test]
fn a_pass_over_bands_of_rows_reads_the_encoded_bytes_once() {
    let coder = &coders()[0];
    let (bytes, encoded) = file(coder, None);
    for cost in [Cost::LOCAL, Cost::REMOTE] {
        let counted = Arc::new(Counting::new(MemoryBlob::new(bytes.clone())).with_cost(cost));
        let located = open(counted.clone());
        check(&located, &Selection::slab(&[0, 0], &[1, 1]), "the table");
        let before = counted.reads().1;
        for row in (0..SHAPE[0]).step_by(20) {
            check(&located, &Selection::slab(&[row, 0], &[20, SHAPE[1]]), "a band");
        }
        let read = (counted.reads().1 - before) as usize;
        assert!(read <= encoded + 10_000, "{read} bytes of {encoded}");
    }
}

#[test]
fn damage_of_a_chunk_is_an_error_of_the_chunk() {
    for coder in coders() {
        let (mut bytes, _) = file(&coder, None);
        // The chunk at (0, 0) is the first one of the file.
        let first = number_of_first_chunk(&bytes);
        bytes[first + 1000..first + 3000].fill(0xff);
        let located = open(Arc::new(MemoryBlob::new(bytes)));
        check(&located, &Selection::slab(&[0, 1000], &[10, 800]), coder.name);
        let mut out = vec![0i16; (CHUNK[0] * CHUNK[1]) as usize];
        let all = Selection::slab(&[0, 0], &CHUNK);
        let found = read(located.blob.as_deref().unwrap(), &located.array, &all, Out::new(&mut out));
        // Only deflate has a checksum.
        match found {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("chunk (0, 0) at byte "), "{}: {error}", coder.name);
            }
            Ok(_) => assert_ne!(coder.name, "deflate"),
        }
    }
}

/// Returns the position of the encoded bytes of the first chunk.
fn number_of_first_chunk(bytes: &[u8]) -> usize {
    let file = File::open(Arc::new(MemoryBlob::new(bytes.to_vec())), None, Codecs::default()).unwrap();
    let first = file.descriptors_of(ferrocdf_hdf4::tags::COMPRESSED).next().unwrap();
    first.place.unwrap().0 as usize
}
