//! The requests that reach a blob: their number, sizes, threads, and positions within memory pages.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrocdf_array::{
    Array, In, Kind, Layout, Out, PastEnd, RangeCheck, Selection, Stored, fill, read, write,
};
use ferrocdf_bytes::{Code, Result, errno};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob, testing::Counting, testing::Failing};

/// Elements of four bytes in `records` runs of `run` bytes, `record` bytes apart.
fn interleaved(records: u64, run: u64, record: u64) -> Array {
    let layout = Layout::Strided { begin: 100, strides: vec![record, 4] };
    Array {
        shape: vec![records, run / 4],
        stored: Stored::big(Kind::F32),
        layout,
        decoder: None,
        past_end: PastEnd::Zero,
    }
}

fn reads(array: &Array) -> (u64, u64) {
    let blob = Counting::new(MemoryBlob::default()).with_cost(Cost::LOCAL);
    let sel = Selection::all(&array.shape);
    let mut out = vec![0f32; sel.elements().unwrap() as usize];
    assert_eq!(read(&blob, array, &sel, Out::new(&mut out)), Ok(RangeCheck::InRange));
    blob.reads()
}

fn writes(array: &Array) -> [(u64, u64); 2] {
    let blob = Counting::new(MemoryBlob::default()).with_cost(Cost::LOCAL);
    let sel = Selection::all(&array.shape);
    let out = vec![0f32; sel.elements().unwrap() as usize];
    assert_eq!(write(&blob, array, &sel, In::new(&out)), Ok(RangeCheck::InRange));
    [blob.reads(), blob.writes()]
}

#[test]
fn one_value_is_one_request_of_its_size() {
    let array = Array::contiguous(vec![100, 100], Stored::big(Kind::F64), 0).unwrap();
    let blob = Counting::new(MemoryBlob::default()).with_cost(Cost::LOCAL);
    let sel = Selection::slab(&[7, 7], &[1, 1]);
    assert_eq!(read(&blob, &array, &sel, Out::new(&mut [0i32])), Ok(RangeCheck::InRange));
    assert_eq!(write(&blob, &array, &sel, In::new(&[5u8])), Ok(RangeCheck::InRange));
    assert_eq!((blob.reads(), blob.writes()), ((1, 8), (1, 8)));
}

#[test]
fn whole_arrays_take_few_requests_and_read_no_byte_twice() {
    let array = Array::contiguous(vec![10, 100, 1000], Stored::big(Kind::F32), 100).unwrap();
    let (requests, bytes) = reads(&array);
    assert!(requests <= 16 && bytes == 4_000_000, "{requests} {bytes}");
    let [read, (requests, bytes)] = writes(&array);
    assert!(read == (0, 0) && requests <= 4 && bytes == 4_000_000, "{requests} {bytes}");
}

#[test]
fn small_gaps_are_read_along() {
    let array = interleaved(10_000, 8, 80);
    let (requests, bytes) = reads(&array);
    assert!(requests <= 4 && bytes <= 800_000, "{requests} {bytes}");
    let [(fetched, _), (requests, bytes)] = writes(&array);
    assert!(fetched == requests && requests <= 2 && bytes <= 800_000, "{requests} {bytes}");
}

#[test]
fn large_gaps_are_not_read() {
    for array in [interleaved(50, 8, 100_000), interleaved(50, 20_000, 25_000)] {
        let elements: u64 = array.shape.iter().product();
        assert_eq!(reads(&array), (50, elements * 4));
        assert_eq!(writes(&array), [(0, 0), (50, elements * 4)]);
    }
}

/// An endless blob of zeros that records the requests it gets.
#[derive(Default)]
struct Notes {
    largest: AtomicU64,
    threads: Mutex<BTreeSet<String>>,
    slow_reads: AtomicU64,
    slow_writes: AtomicU64,
}

impl Notes {
    fn note(&self, len: usize) {
        self.largest.fetch_max(len as u64, Relaxed);
        let name = std::thread::current().name().unwrap_or("").to_string();
        self.threads.lock().unwrap().insert(name);
    }

    fn threads(&self) -> Vec<String> {
        self.threads.lock().unwrap().iter().cloned().collect()
    }
}

/// True if kernels copy `len` bytes slowly from one position to the other.
fn is_slow(from: usize, to: usize, len: usize) -> bool {
    len >= 2048 && (1..32).contains(&(to.wrapping_sub(from) % 4096))
}

impl Blob for Notes {
    fn size(&self) -> Result<u64> {
        Ok(u64::MAX)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.note(into.len());
        self.slow_reads.fetch_add(is_slow(at as usize, into.as_ptr().addr(), into.len()).into(), Relaxed);
        Ok(0)
    }

    fn name(&self) -> String {
        "zeros".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

impl BlobMut for Notes {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.note(from.len());
        self.slow_writes.fetch_add(is_slow(from.as_ptr().addr(), at as usize, from.len()).into(), Relaxed);
        Ok(())
    }

    fn set_size(&self, _size: u64) -> Result<()> {
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn tiles_are_bounded_for_any_selection() {
    let all = Array::contiguous(vec![3_000_000_000], Stored::big(Kind::F32), 0).unwrap();
    let sparse = Selection::strided(&[0], &[3_000_000], &[1000]);
    let wide = Array::contiguous(vec![20, 2_000_000], Stored::big(Kind::F32), 0).unwrap();
    let alternate = Selection::strided(&[0, 0], &[20, 1_000_000], &[1, 2]);
    for (array, sel) in [(all, sparse), (wide, alternate)] {
        let notes = Notes::default();
        let mut out = vec![0f64; sel.elements().unwrap() as usize];
        assert_eq!(read(&notes, &array, &sel, Out::new(&mut out)), Ok(RangeCheck::InRange));
        assert!(notes.largest.load(Relaxed) <= 256 << 10);
        assert_eq!(write(&notes, &array, &sel, In::new(&out)), Ok(RangeCheck::InRange));
        fill(&notes, &array, &sel, &[0; 4]).unwrap();
        assert!(notes.largest.load(Relaxed) <= 1 << 20);
    }
}

#[test]
fn tiles_are_bounded_if_elements_coincide() {
    let layout = Layout::Strided { begin: 0, strides: vec![0] };
    let array = Array { layout, ..Array::contiguous(vec![1 << 40], Stored::big(Kind::F32), 0).unwrap() };
    let blob = Counting::new(MemoryBlob::default()).with_cost(Cost::LOCAL);
    fill(&blob, &array, &Selection::slab(&[0], &[1 << 22]), &[1, 2, 3, 4]).unwrap();
    assert_eq!((blob.size(), blob.writes()), (Ok(4), (16, 64)));
}

#[test]
fn large_requests_use_all_threads_and_small_ones_one() {
    let array = Array::contiguous(vec![20_000_000], Stored::big(Kind::I16), 0).unwrap();
    let mine = std::thread::current().name().unwrap().to_string();
    let cores = std::thread::available_parallelism().unwrap().get();
    for (count, shared) in [(400_000, false), (20_000_000, cores > 1)] {
        let (reading, writing) = (Notes::default(), Notes::default());
        let sel = Selection::slab(&[0], &[count]);
        let mut memory = vec![0i32; count as usize];
        assert_eq!(read(&reading, &array, &sel, Out::new(&mut memory)), Ok(RangeCheck::InRange));
        assert_eq!(write(&writing, &array, &sel, In::new(&memory)), Ok(RangeCheck::InRange));
        for threads in [reading.threads(), writing.threads()] {
            let pool = threads.iter().all(|name| name.starts_with("ferrocdf-"));
            assert!(if shared { pool } else { threads == [mine.clone()] }, "{threads:?}");
        }
    }
}

#[test]
fn interleaved_tiles_are_written_by_one_thread() {
    let layout = Layout::Strided { begin: 0, strides: vec![4, 4000] };
    let array = Array { layout, ..interleaved(1000, 4000, 4000) };
    let notes = Notes::default();
    fill(&notes, &array, &Selection::all(&array.shape), &[0; 4]).unwrap();
    assert_eq!(notes.threads(), [std::thread::current().name().unwrap()]);
}

#[test]
fn no_buffer_lies_at_a_slow_page_offset() {
    let mut memory = vec![0u8; 12_100];
    let notes = Notes::default();
    for order in [Stored::big(Kind::F32), Stored::little(Kind::F32)] {
        for shift in [0, 1, 4, 16, 40] {
            // Whatever the address of a buffer, a copy from some of these positions would be slow.
            for begin in (3..4099).step_by(16) {
                let array = Array::contiguous(vec![3000], order, begin).unwrap();
                let sel = Selection::all(&array.shape);
                let piece = &mut memory[shift..shift + 12_000];
                assert_eq!(read(&notes, &array, &sel, Out::raw(Kind::F32, piece)), Ok(RangeCheck::InRange));
                assert_eq!(write(&notes, &array, &sel, In::raw(Kind::F32, piece)), Ok(RangeCheck::InRange));
            }
        }
    }
    assert_eq!((notes.slow_reads.load(Relaxed), notes.slow_writes.load(Relaxed)), (0, 0));
}

#[test]
fn errors_of_pool_threads_reach_the_caller() {
    // Values in the order of the machine are written at once, with no thread of the pool.
    let stored = if cfg!(target_endian = "big") { Stored::little } else { Stored::big };
    let array = Array::contiguous(vec![4_000_000], stored(Kind::I16), 0).unwrap();
    let sel = Selection::all(&array.shape);
    let mut memory = vec![0i16; 4_000_000];
    let blob = Failing::after(MemoryBlob::default(), 3);
    assert_eq!(write(&blob, &array, &sel, In::new(&memory)).unwrap_err().code, errno::NOSPC);
    let strict = Array { past_end: PastEnd::Error, ..array };
    let blob = MemoryBlob::new(vec![0; 7_999_999]);
    assert_eq!(read(&blob, &strict, &sel, Out::new(&mut memory)).unwrap_err().code, Code::ETRUNC);
}

#[test]
fn writes_keep_the_bytes_between_runs_and_the_end_of_the_blob() {
    let array = interleaved(1000, 8, 24);
    let before: Vec<u8> = (0..100 + 24 * 999 + 8).map(|at| at as u8).collect();
    let blob = MemoryBlob::new(before.clone());
    fill(&blob, &array, &Selection::all(&array.shape), &[0xee; 4]).unwrap();
    let after = blob.into_bytes();
    assert_eq!(after.len(), before.len());
    for (at, (old, new)) in before.iter().zip(&after).enumerate() {
        let inside = at >= 100 && (at - 100) % 24 < 8;
        assert_eq!(*new, if inside { 0xee } else { *old }, "byte {at}");
    }
}
