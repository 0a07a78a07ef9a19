//! Numbers of rounds and requests to slow sources: as few as the cost of the source allows.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferrocdf_array::{
    Array, ChunkLocation, ChunkStore, Chunks, In, Kind, Layout, Out, PastEnd, RangeCheck, Selection, Stored,
    copy_chunks, flush, read, write,
};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::testing::{Fault, Simulated, Traffic};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob, MemoryStore, ObjectBlob, ReadRequest, Store, forward};

use crate::chunk_writing::GappyChunkStore;
use crate::chunks::{Table, step};

/// The cost of the sources here: a gap of 100 bytes, 32 requests in flight.
const COST: Cost = Cost { gap: 100, ..Cost::REMOTE };

/// An object of a store that counts requests, and the same bytes in memory.
struct Source {
    store: Arc<Simulated<MemoryStore>>,
    object: ObjectBlob,
    memory: MemoryBlob,
}

impl Source {
    fn new(bytes: Vec<u8>, latency: Duration) -> Source {
        let store = Arc::new(Simulated::new(MemoryStore::default(), COST, latency));
        store.put("k", &bytes).unwrap();
        store.take_traffic();
        let object = ObjectBlob::new(store.clone(), "k");
        Source { store, object, memory: MemoryBlob::new(bytes) }
    }

    /// Reads a selection of the object, compares it with the same selection in memory, and returns the traffic.
    fn read(&self, array: &Array, sel: &Selection) -> Traffic {
        let values = |blob: &dyn Blob| {
            let mut values = vec![0f64; sel.elements().unwrap() as usize];
            assert_eq!(read(blob, array, sel, Out::new(&mut values)), Ok(RangeCheck::InRange));
            values
        };
        assert_eq!(self.store.take_traffic(), Traffic::default());
        let found = values(&self.object);
        assert!(found == values(&self.memory), "{sel:?}");
        self.store.take_traffic()
    }
}

fn deflate() -> Arc<Chain> {
    Arc::new(Chain::new(vec![step(1, &[1])], &Codecs::default()))
}

/// Returns the bytes of `count` chunks of 16-bit integers with `gap` bytes behind each, their array, and the number of encoded
/// bytes.
fn row_of_chunks(count: u64, chunk: u64, gap: usize, chain: Arc<Chain>) -> (Vec<u8>, Array, u64) {
    let (mut table, mut bytes, mut sum) = (Table::default(), Vec::new(), 0);
    for number in 0..count {
        let values = (0..chunk).flat_map(|at| ((number * 31 + at * 7) as u16).to_le_bytes());
        let (values, mut encoded) = (values.collect::<Vec<u8>>(), vec![]);
        let mask = chain.encode(&values, &mut encoded).unwrap();
        let (at, len) = (bytes.len() as u64, encoded.len() as u64);
        table.0.insert(vec![number], ChunkLocation::At { at, len, mask });
        sum += len;
        bytes.extend(encoded);
        bytes.resize(bytes.len() + gap, 7);
    }
    let layout = Layout::Chunked(Chunks::new(vec![chunk], Arc::new(table), chain, vec![]));
    let stored = Stored::little(Kind::U16);
    let array = Array { shape: vec![count * chunk], stored, decoder: None, layout, past_end: PastEnd::Error };
    (bytes, array, sum)
}

#[test]
fn a_thousand_separate_chunks_take_full_batches_and_no_request_for_the_size() {
    let (bytes, array, sum) = row_of_chunks(1000, 50, 101, deflate());
    let source = Source::new(bytes, Duration::ZERO);
    let all = source.read(&array, &Selection::all(&array.shape));
    assert_eq!(all, Traffic { rounds: 32, requests: 1000, bytes: sum });
}

#[test]
fn chunks_near_each_other_are_one_request() {
    let (bytes, array, _) = row_of_chunks(1000, 50, 100, deflate());
    let len = bytes.len() as u64 - 100;
    let source = Source::new(bytes, Duration::ZERO);
    let all = source.read(&array, &Selection::all(&array.shape));
    assert_eq!(all, Traffic { rounds: 1, requests: 1, bytes: len });
}

#[test]
fn parts_of_unfiltered_chunks_take_full_batches() {
    let (bytes, array, _) = row_of_chunks(100, 1000, 0, Arc::default());
    let source = Source::new(bytes, Duration::ZERO);
    // About three elements of each chunk, 658 bytes apart: more than the gap.
    let sel = Selection::strided(&[50], &[300], &[330]);
    let sel = Selection { count: [300.min((100_000 - 50u64).div_ceil(330))].into_iter().collect(), ..sel };
    let count = sel.elements().unwrap();
    let parts = source.read(&array, &sel);
    assert_eq!(parts, Traffic { rounds: count.div_ceil(32), requests: count, bytes: 2 * count });
}

/// A slow blob in memory that records, for each batch of requests, where in memory the bytes go.
struct Destinations {
    inner: MemoryBlob,
    batches: Mutex<Vec<Vec<std::ops::Range<usize>>>>,
}

impl Blob for Destinations {
    forward!([.inner] size read_at name);

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let destination = |request: &ReadRequest<'_>| {
            let range = request.into.as_ptr_range();
            range.start as usize..range.end as usize
        };
        self.batches.lock().unwrap().push(requests.iter().map(destination).collect());
        self.inner.read_many(requests)
    }

    fn cost(&self) -> Cost {
        COST
    }
}

#[test]
fn bytes_that_are_not_converted_are_fetched_in_one_batch_into_the_memory_of_the_caller() {
    let (chunks, mut array, _) = row_of_chunks(1000, 50, 101, Arc::new(Chain::default()));
    array.stored = Stored::native(Kind::U16);
    let large: Vec<u8> = (0..8 << 20).map(|at| (at / 3) as u8).collect();
    let run = Layout::Strided { begin: 0, strides: vec![2] };
    for (bytes, layout, count, requests) in
        [(chunks, array.layout.clone(), 50_000, 1000), (large, run, 4 << 20, 8)]
    {
        (array.layout, array.shape) = (layout, vec![count as u64]);
        let sel = Selection::all(&array.shape);
        let (mut values, mut wanted) = (vec![0u16; count], vec![0u16; count]);
        let memory = MemoryBlob::new(bytes.clone());
        assert_eq!(read(&memory, &array, &sel, Out::new(&mut wanted)), Ok(RangeCheck::InRange));
        let blob = Destinations { inner: MemoryBlob::new(bytes), batches: Mutex::default() };
        assert_eq!(read(&blob, &array, &sel, Out::new(&mut values)), Ok(RangeCheck::InRange));
        assert!(values == wanted);
        let all = values.as_ptr_range();
        let batches = blob.batches.into_inner().unwrap();
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [requests], "{:?}", array.layout);
        let is_inside = |range: &std::ops::Range<usize>| {
            range.start >= all.start as usize && range.end <= all.end as usize
        };
        assert!(batches[0].iter().all(is_inside), "{:?}", array.layout);
    }
}

#[test]
fn strided_selections_of_contiguous_data_take_full_batches() {
    let bytes: Vec<u8> = (0..1_000_000u32).map(|at| (at % 251) as u8).collect();
    let array = Array::contiguous(vec![1000, 500], Stored::big(Kind::U16), 0).unwrap();
    let source = Source::new(bytes, Duration::ZERO);
    let column = source.read(&array, &Selection::slab(&[0, 7], &[1000, 3]));
    assert_eq!(column, Traffic { rounds: 32, requests: 1000, bytes: 6000 });
    // Contiguous rows are read with one request.
    let all = source.read(&array, &Selection::all(&array.shape));
    assert_eq!(all, Traffic { rounds: 1, requests: 1, bytes: 1_000_000 });
    // A read through a map takes no more rounds than a dense one.
    let sel = Selection::slab(&[0, 7], &[1000, 1]);
    let mut values = vec![0u16; 3000];
    let out = Out::new(&mut values).mapped(0, &[3, 1]);
    assert_eq!(read(&source.object, &array, &sel, out), Ok(RangeCheck::InRange));
    assert_eq!(source.store.take_traffic(), Traffic { rounds: 32, requests: 1000, bytes: 2000 });
}

#[test]
fn chunks_with_tiny_rows_take_full_batches() {
    let (rows, columns) = (70_000u64, 64);
    let (mut table, mut bytes) = (Table::default(), Vec::new());
    for column in 0..columns {
        let at = bytes.len() as u64;
        table.0.insert(vec![0, column], ChunkLocation::At { at, len: rows, mask: 0 });
        bytes.extend((0..rows).map(|row| (row * columns + column) as u8));
        bytes.resize(bytes.len() + 101, 7);
    }
    let layout = Layout::Chunked(Chunks::new(vec![rows, 1], Arc::new(table), Arc::default(), vec![]));
    let stored = Stored::little(Kind::U8);
    let shape = vec![rows, columns];
    let array = Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
    let source = Source::new(bytes, Duration::ZERO);
    let sel = Selection::all(&array.shape);
    let mut values = vec![0u8; (rows * columns) as usize];
    assert_eq!(read(&source.object, &array, &sel, Out::new(&mut values)), Ok(RangeCheck::InRange));
    assert!(values.iter().enumerate().all(|(at, &value)| value == at as u8));
    assert_eq!(source.store.take_traffic(), Traffic { rounds: 2, requests: 64, bytes: rows * columns });
}

#[test]
fn a_failed_request_ends_the_read_with_its_error() {
    for (fault, code) in [(Fault::Refused, Code::EIO), (Fault::BodyCut, Code::ETRUNC)] {
        let (bytes, array, _) = row_of_chunks(1000, 50, 101, deflate());
        let source = Source::new(bytes, Duration::from_millis(1));
        // Request 0 was the put.
        source.store.fail(501, fault);
        let sel = Selection::all(&array.shape);
        let mut values = vec![0u16; 50_000];
        let error = read(&source.object, &array, &sel, Out::new(&mut values)).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        let requests = source.store.take_traffic().requests;
        assert_eq!(requests, 512, "no batch begins after the one that failed");
        assert_eq!(source.read(&array, &sel).rounds, 32);
    }
}

#[test]
fn a_chunk_that_cannot_be_decoded_ends_the_read() {
    let (mut bytes, array, _) = row_of_chunks(1000, 50, 101, deflate());
    let Layout::Chunked(chunks) = &array.layout else { unreachable!() };
    let ChunkLocation::At { at, len, .. } = chunks.index.locate(&[40], &[1]).unwrap()[0] else {
        unreachable!()
    };
    bytes[at as usize..][..len as usize].fill(0xff);
    let source = Source::new(bytes, Duration::ZERO);
    let mut values = vec![0u16; 50_000];
    let sel = Selection::all(&array.shape);
    let error = read(&source.object, &array, &sel, Out::new(&mut values)).unwrap_err();
    assert!(error.what.starts_with("chunk (40) at byte"), "{error}");
    assert_eq!(source.store.take_traffic().rounds, 3, "the batch after it was being fetched");
}

#[test]
fn a_chunk_past_the_end_is_an_error_without_a_request_for_the_size() {
    // In the first batch, whose answer tells the size, and in the second one.
    for count in [3, 40] {
        let (mut bytes, array, _) = row_of_chunks(count, 50, 101, deflate());
        bytes.truncate(bytes.len() - 102);
        let source = Source::new(bytes, Duration::ZERO);
        let mut values = vec![0u16; 50 * count as usize];
        let sel = Selection::all(&array.shape);
        let error = read(&source.object, &array, &sel, Out::new(&mut values)).unwrap_err();
        assert_eq!(error.code, Code::ETRUNC, "{error}");
        assert!(error.what.contains("past the end of the file, which has"), "{error}");
        assert_eq!(source.store.take_traffic().rounds, 1, "{count}");
    }
}

#[test]
fn memory_for_a_chunk_is_taken_only_if_the_source_has_as_many_bytes() {
    let table = Table([(vec![0], ChunkLocation::At { at: 0, len: 1 << 50, mask: 0 })].into());
    let layout = Layout::Chunked(Chunks::new(vec![10], Arc::new(table), deflate(), vec![]));
    let stored = Stored::little(Kind::U8);
    let array = Array { shape: vec![10], stored, decoder: None, layout, past_end: PastEnd::Error };
    let source = Source::new(vec![1; 100], Duration::ZERO);
    let error = read(&source.object, &array, &Selection::all(&[10]), Out::new(&mut [0u8; 10])).unwrap_err();
    assert_eq!(error.code, Code::ETRUNC, "{error}");
}

/// A slow blob in memory that counts rounds and requests, and records the names of the threads that read.
#[derive(Default)]
struct SlowBlob {
    inner: MemoryBlob,
    rounds: AtomicU64,
    requests: AtomicU64,
    threads: Mutex<BTreeSet<String>>,
}

impl SlowBlob {
    fn note(&self, requests: u64) {
        self.rounds.fetch_add(requests.div_ceil(COST.in_flight as u64), Relaxed);
        self.requests.fetch_add(requests, Relaxed);
        let name = std::thread::current().name().unwrap_or_default().to_string();
        self.threads.lock().unwrap().insert(name);
    }

    /// Returns rounds and requests since the last call.
    fn take(&self) -> (u64, u64) {
        (self.rounds.swap(0, Relaxed), self.requests.swap(0, Relaxed))
    }
}

impl Blob for SlowBlob {
    forward!([.inner] size name);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.note(1);
        self.inner.read_at(at, into)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.note(requests.len() as u64);
        self.inner.read_many(requests)
    }

    fn cost(&self) -> Cost {
        COST
    }
}

impl BlobMut for SlowBlob {
    forward!([.inner] write_at set_size sync);
}

/// Returns chunks of 400 decoded bytes on a slow blob, their array, and its values.
fn slow_copy(count: u64, gap: usize, chain: Arc<Chain>) -> (SlowBlob, Array, Vec<u16>) {
    let (bytes, array, _) = row_of_chunks(count, 200, gap, chain);
    let mut values = vec![0u16; (count * 200) as usize];
    let sel = Selection::all(&array.shape);
    let _ = read(&MemoryBlob::new(bytes.clone()), &array, &sel, Out::new(&mut values)).unwrap();
    (SlowBlob { inner: MemoryBlob::new(bytes), ..SlowBlob::default() }, array, values)
}

#[test]
fn chunks_are_fetched_by_a_thread_that_is_none_of_the_pool() {
    let (blob, array, _) = slow_copy(1000, 101, deflate());
    let mut values = vec![0u16; 200_000];
    let _ = read(&blob, &array, &Selection::all(&array.shape), Out::new(&mut values)).unwrap();
    assert_eq!(blob.take(), (32, 1000));
    let threads = blob.threads.lock().unwrap();
    // The thread of the caller fetches the first batch.
    let mine = std::thread::current().name().unwrap().to_string();
    assert_eq!(*threads, BTreeSet::from([mine, "ferrocdf-io".to_string()]));
}

#[test]
fn copies_fetch_chunks_in_batches() {
    for gap in [0, 101] {
        for (from_chain, to_chain) in
            [(deflate(), deflate()), (deflate(), Arc::default()), (Arc::default(), deflate())]
        {
            let (blob, array, wanted) = slow_copy(1000, gap, from_chain);
            let shelf = Arc::new(GappyChunkStore::default());
            let layout = Layout::Chunked(Chunks::writable(vec![200], shelf.clone(), to_chain, vec![]));
            let copy = Array { layout, ..array.clone() };
            assert!(copy_chunks((&blob, &array), (&*shelf.blob(), &copy), &mut |_| ()).unwrap());
            let (rounds, requests) = blob.take();
            assert!(if gap == 0 { requests == 1 } else { requests == 1000 }, "{requests}");
            assert_eq!(rounds, requests.div_ceil(32));
            let mut values = vec![0u16; 200_000];
            let _ = read(&*shelf.blob(), &copy, &Selection::all(&copy.shape), Out::new(&mut values)).unwrap();
            assert!(values == wanted);
        }
    }
}

#[test]
fn chunks_that_are_written_in_part_are_fetched_in_batches() {
    let shelf = Arc::new(GappyChunkStore::with_gap(120));
    let array = |shelf: &Arc<GappyChunkStore>| {
        let chunks = Chunks::writable(vec![100, 1], shelf.clone(), deflate(), vec![]);
        let stored = Stored::little(Kind::U16);
        let (shape, layout) = (vec![100, 1000], Layout::Chunked(chunks));
        Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error }
    };
    let values: Vec<u16> = (0..100_000u32).map(|at| (at * 7) as u16).collect();
    let all = Selection::all(&[100, 1000]);
    let first = array(&shelf);
    let _ = write(&*shelf.blob(), &first, &all, In::new(&values)).unwrap();
    flush(&*shelf.blob(), &first).unwrap();
    let bytes = shelf.bytes();
    let blob = SlowBlob { inner: MemoryBlob::new(bytes), ..SlowBlob::default() };
    let second = array(&shelf);
    let row = Selection::slab(&[3, 0], &[1, 1000]);
    let _ = write(&blob, &second, &row, In::new(&[9u16; 1000])).unwrap();
    let (rounds, requests) = blob.take();
    assert!(requests > 100 && rounds == requests.div_ceil(32), "{rounds} {requests}");
    let mut found = vec![0u16; 100_000];
    let _ = read(&blob, &second, &all, Out::new(&mut found)).unwrap();
    let wanted = |at: usize| if at / 1000 == 3 { 9 } else { values[at] };
    assert!(found.iter().enumerate().all(|(at, &value)| value == wanted(at)));
}

#[test]
fn rows_with_gaps_are_read_in_batches_before_they_are_written() {
    let layout = Layout::Strided { begin: 0, strides: vec![1000, 8, 4] };
    let array = Array { layout, ..Array::contiguous(vec![100, 10, 1], Stored::big(Kind::F32), 0).unwrap() };
    let blob = SlowBlob { inner: MemoryBlob::new(vec![5; 100_000]), ..SlowBlob::default() };
    let _ = write(&blob, &array, &Selection::all(&array.shape), In::new(&[0f32; 1000])).unwrap();
    assert_eq!(blob.take(), (4, 100));
    let bytes = blob.inner.into_bytes();
    let is_written = |at: usize| at % 1000 < 80 && at % 8 < 4;
    assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == if is_written(at) { 0 } else { 5 }));
}
