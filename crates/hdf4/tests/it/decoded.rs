//! Compressed datasets without chunks that are decoded in windows.

use std::sync::Arc;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_bytes::Result;
use ferrocdf_codec::{Chain, Codecs, FilterId, Step};
use ferrocdf_hdf4::sd::Datasets;
use ferrocdf_hdf4::{File, tags};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, Cost, MemoryBlob};

use crate::big;
use crate::build::{Builder, DEFLATE, INT16, RLE, SPECIAL, compressed};

const COLUMNS: usize = 1000;
/// Numbers of 18 MB: two checkpoints.
const ROWS: usize = 9001;

/// A coder as the file has it, and its filter.
pub struct Coder {
    pub name: &'static str,
    pub header: Vec<u8>,
    pub step: Step,
}

pub fn coders() -> Vec<Coder> {
    let coder = |name, header: &[u8], id, params: &[u32]| Coder {
        name,
        header: header.to_vec(),
        step: Step { id, name: String::new(), optional: false, params: params.to_vec() },
    };
    let szip = |name, bits: u8| {
        let numbers = [0u32, 128, 0x1_00b0].map(u32::to_be_bytes).concat();
        let header = [&[0, 0, 0, 5][..], &numbers, &[bits, 16]].concat();
        coder(name, &header, FilterId::named("hdf4_szip"), &[0x1_00b0, 16, bits.into(), 128, 0])
    };
    let nbit = [&[0, 0, 0, 2][..], &22u32.to_be_bytes(), &[0; 4], &15u32.to_be_bytes(), &11u32.to_be_bytes()]
        .concat();
    vec![
        coder("deflate", DEFLATE, FilterId::Hdf5(1), &[6]),
        coder("rle", RLE, FilterId::named("hdf4_rle"), &[]),
        coder("skphuff", &[0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0], FilterId::named("hdf4_skphuff"), &[2]),
        coder("nbit", &nbit, FilterId::named("hdf4_nbit"), &[2, 0, 0, 15, 11]),
        szip("szip", 16),
        // Bytes in four planes, and two bytes behind the last pixel.
        szip("szip in planes", 32),
    ]
}

/// The number at a place, of which the lower five bits are 0.
fn number(at: usize) -> i16 {
    let (row, column) = (at / COLUMNS, at % COLUMNS);
    let value = if column < 400 { row / 7 } else { (at * at % 1201) / (1 + row % 5) };
    (value as i16 & 0x3ff) << 5
}

fn numbers() -> Vec<u8> {
    big(&(0..ROWS * COLUMNS + 1).map(number).collect::<Vec<i16>>())
}

pub fn encode(coder: &Coder, bytes: &[u8]) -> Vec<u8> {
    let mut encoded = vec![];
    Chain::new(vec![coder.step.clone()], &Codecs::default()).encode(bytes, &mut encoded).unwrap();
    encoded
}

/// A file with a dataset of one dimension, of so many numbers, whose compressed bytes are these. They lie in linked blocks if there is a
/// length for them.
fn file(coder: &Coder, len: usize, encoded: &[u8], block: Option<usize>) -> Vec<u8> {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(len as u32));
    let data = builder.add(tags::COMPRESSED, encoded);
    let data = builder.add(tags::SD | SPECIAL, &compressed(2 * len as u32, data, &coder.header));
    let var = builder.dataset("large", &[x], INT16, Some(data), &[]);
    builder.cdf(&[x], &[var], &[]);
    if let Some(block) = block {
        builder.link_compressed(block);
    }
    builder.finish(100)
}

/// A dataset that is read in windows.
struct Large {
    array: ferrocdf_array::Array,
    blob: Arc<dyn Blob>,
}

impl Large {
    fn open(source: Arc<dyn Blob>) -> Large {
        let file = File::open(source, None, Codecs::default()).unwrap().decoding_as_a_whole(0);
        let found = Datasets::read(&file).unwrap();
        let located = found.vars[0].locate(&file, found.vars[0].shape.clone()).unwrap();
        Large { array: located.array, blob: located.blob.unwrap_or_else(|| file.blob().clone()) }
    }

    fn of(bytes: Vec<u8>) -> Large {
        Large::open(Arc::new(MemoryBlob::new(bytes)))
    }

    fn read(&self, start: usize, count: usize, stride: usize) -> Result<Vec<i16>> {
        let mut selection = Selection::slab(&[start as u64], &[count as u64]);
        selection.stride[0] = stride as u64;
        let mut out = vec![0i16; count];
        let _ = read(&*self.blob, &self.array, &selection, Out::new(&mut out))?;
        Ok(out)
    }

    fn check(&self, start: usize, count: usize, stride: usize, what: &str) {
        let found = self.read(start, count, stride).unwrap();
        let wrong = found.iter().enumerate().find(|&(at, &found)| found != number(start + at * stride));
        assert_eq!(wrong, None, "{what}: {count} from {start} on, stride {stride}");
    }
}

#[test]
fn any_selection_of_any_coder_has_its_values() {
    let all = ROWS * COLUMNS + 1;
    let bytes = numbers();
    for coder in coders() {
        let encoded = encode(&coder, &bytes);
        let large = Large::of(file(&coder, all, &encoded, None));
        let check = |start, count, stride| large.check(start, count, stride, coder.name);
        check(all - 1, 1, 1);
        check(0, all - 1, 1);
        check(0, all, 1);
        check(17, ROWS - 1, COLUMNS);
        for row in (0..ROWS).rev().step_by(1500) {
            check(row * COLUMNS, COLUMNS, 1);
        }
        let mut rng = Rng::new(7);
        for _ in 0..8 {
            check(rng.index(all - 100), 100, 1);
        }
        // Numbers of another type.
        let mut floats = vec![0f64; all];
        let selection = Selection::all(&large.array.shape);
        let _ = read(&*large.blob, &large.array, &selection, Out::new(&mut floats)).unwrap();
        assert!(
            floats.iter().enumerate().all(|(at, &float)| float == f64::from(number(at))),
            "{}",
            coder.name
        );
    }
}

#[test]
fn threads_read_their_own_parts() {
    let (all, bytes) = (ROWS * COLUMNS + 1, numbers());
    for coder in coders() {
        let encoded = encode(&coder, &bytes);
        let large = Large::of(file(&coder, all, &encoded, None));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (large, name) = (&large, coder.name);
                scope.spawn(move || {
                    let quarter = all / 4;
                    for part in 0..6 {
                        // Forwards, backwards, and across the quarters of the others.
                        let part = if thread % 2 == 0 { part } else { 5 - part };
                        let start = (thread * quarter + part * quarter / 3) % (all - quarter / 3);
                        large.check(start, quarter / 3, 1, name);
                    }
                });
            }
        });
    }
}

#[test]
fn encoded_bytes_are_read_once_by_a_pass_and_in_few_requests() {
    let (all, coder) = (ROWS * COLUMNS + 1, &coders()[0]);
    let encoded = encode(coder, &numbers());
    for (block, cost) in [(None, Cost::LOCAL), (None, Cost::REMOTE), (Some(100_000), Cost::LOCAL)] {
        let source = MemoryBlob::new(file(coder, all, &encoded, block));
        let counted = Arc::new(Counting::new(source).with_cost(cost));
        let large = Large::open(counted.clone());
        let before = counted.reads().1;
        for row in 0..ROWS {
            large.check(row * COLUMNS, COLUMNS, 1, "a row");
        }
        let read = counted.reads().1 - before;
        assert!(read as usize <= encoded.len() + 10_000, "{read} bytes of {}", encoded.len());
        // Back to the last checkpoint, and no more.
        let before = counted.reads().1;
        large.check(all - 3_000_000, 1, 1, "back");
        let read = counted.reads().1 - before;
        let most = encoded.len() / 2 + (4 << 20);
        assert!((read as usize) < most, "{read} bytes of {} to go back", encoded.len());
    }
}

#[test]
fn damage_is_an_error_where_it_is() {
    let (all, bytes) = (ROWS * COLUMNS + 1, numbers());
    for coder in coders() {
        let encoded = encode(&coder, &bytes);
        let large = Large::of(file(&coder, all, &encoded[..encoded.len() / 3], None));
        let error = large.read(all - 1, 1, 1).unwrap_err().to_string();
        assert!(error.contains("compressed bytes at byte "), "{}: {error}", coder.name);
        // The sizes of n-bit are checked before work; planes of szip lie elsewhere in data of another size.
        if coder.name.starts_with("szip") || coder.name == "nbit" {
            continue;
        }
        large.check(0, 1000, 1, coder.name);
        // More numbers than there are, and, where the stream says where it ends, fewer.
        let large = Large::of(file(&coder, all + 200_000, &encoded, None));
        large.check(all - 200_000, 1, 1, coder.name);
        let error = large.read(all + 199_999, 1, 1).unwrap_err().to_string();
        assert!(error.contains("compressed bytes at byte "), "{}: {error}", coder.name);
        let large = Large::of(file(&coder, all - 200_000, &encoded, None));
        large.check(0, 1, 1, coder.name);
        match large.read(all - 200_001, 1, 1) {
            Err(error) => assert!(error.to_string().contains("decodes to more bytes"), "{error}"),
            Ok(_) => assert_ne!(coder.name, "deflate"),
        }
    }
}

#[test]
fn sizes_that_lie_are_refused_before_work() {
    for coder in coders() {
        let encoded = encode(&coder, &big(&[64; 32]));
        let large = Large::of(file(&coder, 2_000_000_000, &encoded, None));
        let error = large.read(1_999_999_999, 1, 1).unwrap_err().to_string();
        assert!(error.contains("cannot decode to 4000000000 bytes"), "{}: {error}", coder.name);
    }
    // More encoded bytes than decoded ones.
    let coder = &coders()[0];
    let encoded = [encode(coder, &big(&[0, 32, 64])), vec![9; 500]].concat();
    let large = Large::of(file(coder, 3, &encoded, None));
    assert_eq!(large.read(0, 3, 1).unwrap(), [0, 32, 64]);
}
