//! Requests that reading HDF5 costs: on a slow store each is a wait.

use std::path::Path;
use std::sync::Arc;

use ferrocdf::array::Out;
use ferrocdf::model::{Chunking, Filter};
use ferrocdf::store::testing::Counting;
use ferrocdf::store::{Blob, Cost, Latency, MemoryBlob, ReadAhead};
use ferrocdf::{
    CreateOptions, File, FileMut, Format, OpenOptions, Owner, Selection, Values, VarId, copy_data,
};
use ferrocdf_codec::{Chain, Codecs, Step};

/// A packed file of `tests/data`.
pub(crate) fn unpacked(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let packed = std::fs::read(path).unwrap();
    let (len, packed) = packed.split_first_chunk().unwrap();
    let mut bytes = vec![0; u64::from_le_bytes(*len) as usize];
    let deflate = Step { id: 1.into(), name: String::new(), optional: false, params: vec![6] };
    Chain::new(vec![deflate], &Codecs::default()).decode(0, packed, &mut bytes).unwrap();
    bytes
}

type Counted = Arc<Counting<MemoryBlob>>;

/// The gaps and windows of a remote file, without the pages that are kept of one.
const COST: Cost = Cost { latency: Latency::Local, ..Cost::REMOTE };

fn open(bytes: Vec<u8>, ahead: bool) -> (File, Counted) {
    let counting = Arc::new(Counting::new(MemoryBlob::new(bytes)).with_cost(COST));
    let blob: Arc<dyn Blob> =
        if ahead { Arc::new(ReadAhead::new(counting.clone())) } else { counting.clone() };
    (File::from_blob(blob, &OpenOptions::default()).unwrap(), counting)
}

#[test]
fn attributes_that_are_all_wanted_are_read_with_their_variables() {
    let bytes = unpacked("many.z");
    let counting = Arc::new(Counting::new(MemoryBlob::new(bytes.clone())).with_cost(COST));
    let options = OpenOptions::default().all_attributes(true);
    let file = File::from_blob(counting.clone(), &options).unwrap();
    let mut before = counting.reads();
    let (late, _) = open(bytes, false);
    for var in file.model().var_ids() {
        let model = file.model();
        let attributes = model.attrs(Owner::Var(var));
        assert_eq!(attributes.len(), 20);
        assert_eq!(attributes, late.model().attrs(Owner::Var(var)));
    }
    assert_eq!(since(&counting, &mut before), (0, 0));
}

/// Requests and bytes since the last time.
fn since(counted: &Counted, before: &mut (u64, u64)) -> (u64, u64) {
    let now = counted.reads();
    let since = (now.0 - before.0, now.1 - before.1);
    *before = now;
    since
}

#[test]
fn opening_looks_at_no_attributes_but_those_of_dimensions() {
    let bytes = unpacked("many.z");
    let size = bytes.len() as u64;
    let (file, counted) = open(bytes.clone(), false);
    assert_eq!(file.model().vars().len(), 250);
    let mut before = (0, 0);
    let (requests, read) = since(&counted, &mut before);
    // A variable's header, the index of its attributes, and the one that says which dimension it lies on.
    assert!(requests < 8 * 250 && read < size, "{requests} requests for {read} of {size} bytes");
    // The others are read when they are asked for, those of one variable at a time.
    assert_eq!(file.model().attrs(Owner::Var(VarId(7))).iter().count(), 20);
    let (requests, read) = since(&counted, &mut before);
    assert!((1..=8).contains(&requests) && read < 8192, "{requests} requests for {read} bytes");
    assert_eq!(file.model().attrs(Owner::Var(VarId(7))).iter().count(), 20);
    assert_eq!(since(&counted, &mut before), (0, 0));
    // What is side by side is read ahead, by each thread that opens objects and by the one that waits for them.
    let (_, counted) = open(bytes, true);
    let (requests, read) = counted.reads();
    let threads = ferrocdf::array::pool().map_or(0, |pool| pool.count()) as u64 + 1;
    assert!(requests <= 40 && read <= (threads + 1) * size, "{requests} requests for {read} of {size} bytes");
}

#[test]
fn chunks_side_by_side_are_one_request() {
    let (file, counted) = open(unpacked("chunks.z"), false);
    let var = file.model().find_var(ferrocdf::GroupId::ROOT, b"v").unwrap();
    let read = |rows: std::ops::Range<u64>| {
        let mut values = vec![0f32; (rows.end - rows.start) as usize * 1024];
        let selection = Selection::slab(&[rows.start, 0], &[rows.end - rows.start, 1024]);
        let _exact = file.read(var, &selection, Out::new(&mut values)).unwrap();
        values
    };
    // The first read reads the index.
    assert_eq!(read(0..1)[8], 1.0);
    let mut before = counted.reads();
    assert_eq!(read(100..101)[8], 101.0);
    let (requests, bytes) = since(&counted, &mut before);
    assert!(requests == 1 && bytes < 1000, "{requests} requests for {bytes} bytes");
    assert_eq!(read(130..194)[8 + 1024], 132.0);
    let (requests, bytes) = since(&counted, &mut before);
    assert!(requests == 1 && bytes < 64_000, "{requests} requests for {bytes} bytes");
    // What is asked for in part, and then again, is kept.
    for (column, value, wanted) in [(8, 201.0, 1), (9, 202.0, 1), (10, 203.0, 0)] {
        assert_eq!(file.read_values(var, &[200, column], &[1, 1]), Ok(Values::Float(vec![value])));
        assert_eq!(since(&counted, &mut before).0, wanted, "column {column}");
    }
}

#[test]
fn chunks_of_slow_files_are_copied_unopened() {
    let file = |filters: &[u32], values: &[i32]| {
        let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
        file.add_dimension("x", 1000).unwrap();
        file.add_variable::<i32>("v", &["x"]).unwrap();
        file.define(|model| {
            let storage = &mut model.var_mut(VarId(0)).storage;
            storage.chunking = Some(Chunking::Chunked(vec![100]));
            storage.filters = filters.iter().map(|&id| Filter { id, params: vec![] }).collect();
            Ok(())
        })
        .unwrap();
        if !values.is_empty() {
            file.variable_mut("v").unwrap().put_values(values, ..).unwrap();
        }
        file
    };
    let values: Vec<i32> = (0..1000).map(|value| value * 7919 + 13).collect();
    let copy_damaged = |filters: &[u32], stored: &[u8]| {
        let mut bytes = file(filters, &values).into_bytes().unwrap().unwrap();
        let at = bytes.windows(stored.len()).position(|bytes| bytes == stored).unwrap();
        bytes[at] ^= 1;
        let slow = Counting::new(MemoryBlob::new(bytes)).with_cost(Cost::REMOTE);
        let source = File::from_blob(Arc::new(slow), &OpenOptions::default()).unwrap();
        let target = file(filters, &[]);
        copy_data(&source, &target, &[(VarId(0), VarId(0))], 1 << 20, &mut |_| {})?;
        File::from_bytes(target.into_bytes()?.unwrap())
    };
    // A chunk that is shuffled after its checksum was added: only decoding it shows that the checksum is wrong.
    let low: Vec<u8> = values[500..600].iter().map(|value| value.to_le_bytes()[0]).collect();
    let copy = copy_damaged(&[Filter::FLETCHER32, Filter::SHUFFLE], &low).unwrap();
    let read = |start: u64| copy.read_values(VarId(0), &[start], &[100]);
    assert_eq!(read(400), Ok(Values::Int(values[400..500].to_vec())));
    assert!(read(500).is_err(), "the wrong checksum was copied");
    // A checksum at the end is verified.
    let error = copy_damaged(&[Filter::FLETCHER32], &values[555].to_le_bytes()).err().unwrap();
    assert!(error.what.contains("/v: chunk (5) at byte ") && error.what.contains("checksum"), "{error}");
}
