//! What opening and reading cost on a slow source.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;
use ferrocdf_hdf4::File;
use ferrocdf_hdf4::sd::{Datasets, Located};
use ferrocdf_store::testing::{Simulated, Traffic};
use ferrocdf_store::{Blob, Cost, MemoryBlob, MemoryStore, ObjectBlob, PageCache, Store};

use crate::big;
use crate::build::{Builder, INT16, RLE, compressed};

/// Returns numbers as run lengths of bytes as they are, which take as much room as data that compresses badly.
fn as_runs(numbers: &[i16]) -> Vec<u8> {
    big(numbers).chunks(128).flat_map(|part| [&[part.len() as u8 - 1][..], part].concat()).collect()
}

/// A file with one variable of rows, each a chunk.
struct Opened {
    file: File,
    located: Located,
}

impl Opened {
    fn open(blob: Arc<dyn Blob>) -> Opened {
        let file = File::open(blob, None, Codecs::default()).unwrap();
        let var = Datasets::read(&file).unwrap().vars.remove(0);
        Opened { located: var.locate(&file, var.shape.clone()).unwrap(), file }
    }

    /// Opens a remote file, with the pages that are kept of any remote file, and returns what counts the requests from now on.
    fn remote(bytes: &[u8]) -> (Opened, Arc<Simulated<MemoryStore>>) {
        Opened::remote_by(bytes, |object| Arc::new(PageCache::new(object)))
    }

    /// Opens a remote file whose object is wrapped.
    fn remote_by(
        bytes: &[u8],
        wrap: impl FnOnce(ObjectBlob) -> Arc<dyn Blob>,
    ) -> (Opened, Arc<Simulated<MemoryStore>>) {
        let store = MemoryStore::default();
        store.put("granule", bytes).unwrap();
        let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
        let opened = Opened::open(wrap(ObjectBlob::new(store.clone(), "granule")));
        store.take_traffic();
        (opened, store)
    }

    /// Reads rows, each a chunk.
    fn rows(&self, first: u64, count: u64) -> Result<Vec<i16>> {
        let len = self.located.array.shape[1];
        let mut out = vec![0i16; (count * len) as usize];
        let blob = self.located.blob.as_ref().unwrap_or(self.file.blob());
        let selection = Selection::slab(&[first, 0], &[count, len]);
        let _ = read(&**blob, &self.located.array, &selection, Out::new(&mut out))?;
        Ok(out)
    }
}

/// Makes a file of one variable whose rows of `len` numbers are chunks, those of row 3 all 3; `change` changes it before it is written.
fn rows_as_chunks(rows: u32, len: u32, change: impl FnOnce(&mut Builder)) -> Vec<u8> {
    let mut builder = Builder::default();
    let (y, x) = (builder.dim("y", Some(rows)), builder.dim("x", Some(len)));
    let encoded = |row: u32| (vec![row, 0], as_runs(&vec![row as i16; len as usize]));
    let chunks: Vec<(Vec<u32>, Vec<u8>)> = (0..rows).map(encoded).collect();
    let data = builder.chunked(&[rows, len], &[1, len], Some(RLE), &chunks);
    let var = builder.dataset("v", &[y, x], INT16, Some(data), &[]);
    builder.cdf(&[y, x], &[var], &[]);
    change(&mut builder);
    // All descriptors in the first block, so that opening reads the first window only.
    builder.finish(usize::from(u16::MAX))
}

#[test]
fn pieces_of_all_chunks_of_a_read_are_one_batch() {
    // Of each row 100 KB, in blocks of 30 KB.
    let (opened, store) =
        Opened::remote(&rows_as_chunks(40, 50_000, |builder| builder.link_compressed(30_000)));
    assert_eq!(opened.rows(20, 8).unwrap()[49_999..50_001], [20, 21]);
    let reading = store.take_traffic();
    // The tables of linked blocks, and the data: opening read the headers.
    assert!(reading.rounds <= 3, "{reading:?}");
}

#[test]
fn slices_of_a_variable_take_a_round_each_after_its_table_and_its_headers() {
    // 80 KB a row, so that neither a page nor the gap between two reads brings the next header along.
    let (opened, store) = Opened::remote(&rows_as_chunks(40, 40_000, |_| ()));
    for row in (10..30).step_by(2) {
        assert_eq!(opened.rows(row, 1).unwrap()[39_999], row as i16);
    }
    let reading = store.take_traffic();
    assert!(reading.rounds <= 1 + 1 + 10, "{reading:?}");
}

#[test]
fn headers_of_thousands_of_chunks_come_in_batches_that_grow() {
    // No page brings other headers along.
    let bytes = rows_as_chunks(8000, 400, |_| ());
    let (opened, store) = Opened::remote_by(&bytes, |object| Arc::new(object));
    let mut batches = vec![];
    for row in [1000, 1001, 2023, 2024, 500, 7999, 1500, 5000, 6000, 7000] {
        assert_eq!(opened.rows(row, 1).unwrap(), [row as i16; 400]);
        let traffic = store.take_traffic();
        if batches.is_empty() {
            // The table, headers in flight together, the chunk.
            assert_eq!(traffic.rounds, 1 + 1024 / Cost::REMOTE.in_flight as u64 + 1);
        }
        batches.push(traffic.requests);
    }
    // Beside a chunk each: the table with its description, and the headers, first from row 1000 on, then twice as many each time.
    assert_eq!(batches[..5], [1 + 2 + 1024, 1, 1, 1 + 1024, 1 + 2048]);
    assert_eq!(batches[6..], [1; 4]);
}

#[test]
fn a_damaged_header_spoils_no_other_chunk_and_is_read_ahead_once() {
    let mut bytes = rows_as_chunks(40, 40_000, |_| ());
    let header = &compressed(80_000, 0, &[])[..8];
    let mut starts = (0..bytes.len() - 8).filter(|&at| &bytes[at..at + 8] == header);
    let at = starts.nth(20).unwrap();
    bytes[at + 1] = 9;
    let (opened, store) = Opened::remote_by(&bytes, |object| Arc::new(object));
    assert_eq!(opened.rows(19, 1).unwrap()[0], 19);
    store.take_traffic();
    for _ in 0..2 {
        let error = opened.rows(20, 1).unwrap_err();
        assert!(error.to_string().contains("special tag 9"), "{error}");
    }
    assert_eq!(store.take_traffic().requests, 2);
    assert_eq!(opened.rows(30, 1).unwrap()[0], 30);
    assert_eq!(store.take_traffic().requests, 1);
}

/// The bytes of a file, some of which arrive only when a message lets them.
struct Held {
    bytes: MemoryBlob,
    /// Where these bytes are.
    range: Mutex<Range<u64>>,
    asked: Sender<()>,
    released: Mutex<Receiver<()>>,
}

impl Blob for Held {
    fn size(&self) -> Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        if self.range.lock().unwrap().contains(&at) {
            let _ = self.asked.send(());
            let _ = self.released.lock().unwrap().recv_timeout(PATIENCE);
        }
        self.bytes.read_at(at, into)
    }

    fn name(&self) -> String {
        self.bytes.name()
    }

    fn cost(&self) -> Cost {
        self.bytes.cost()
    }
}

/// How long a thread is waited for before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn located_chunks_are_read_while_another_thread_waits_for_a_header() {
    let bytes = rows_as_chunks(4, 8, |_| ());
    let header = compressed(16, 0, &[]);
    // The header of row 3 is the last one.
    let header = bytes.windows(8).rposition(|window| window == &header[..8]).unwrap() as u64;
    let ((asked, is_asked), (release, released)) = (channel(), channel());
    let held = Arc::new(Held {
        bytes: MemoryBlob::new(bytes),
        range: Mutex::new(0..0),
        asked,
        released: Mutex::new(released),
    });
    let opened = Opened::open(held.clone());
    assert_eq!(opened.rows(0, 1).unwrap(), [0; 8]);
    *held.range.lock().unwrap() = header..header + 1;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| opened.rows(3, 1));
        is_asked.recv_timeout(PATIENCE).unwrap();
        let (done, is_done) = channel();
        let opened = &opened;
        scope.spawn(move || done.send(opened.rows(0, 1)));
        let found = is_done.recv_timeout(PATIENCE / 4);
        release.send(()).unwrap();
        assert_eq!(found.expect("the other thread holds a lock").unwrap(), [0; 8]);
        assert_eq!(waiting.join().unwrap().unwrap(), [3; 8]);
    });
}

#[test]
fn a_granule_of_40_datasets_and_1200_chunks_opens_in_8_rounds() {
    let mut builder = Builder::default();
    let (y, x) = (builder.dim("y", Some(30)), builder.dim("x", Some(500)));
    let mut vars = vec![];
    for number in 0..40i16 {
        let encoded = |row: u32| -> Vec<u8> {
            let numbers: Vec<i16> = (0..500).map(|at| at * 37 + number + row as i16).collect();
            as_runs(&numbers)
        };
        let chunks: Vec<(Vec<u32>, Vec<u8>)> = (0..30).map(|row| (vec![row, 0], encoded(row))).collect();
        let data = builder.chunked(&[30, 500], &[1, 500], Some(RLE), &chunks);
        let units = builder.attribute("units", 4, 1, b"K");
        let scale = builder.attribute("scale_factor", 6, 8, &0.5f64.to_be_bytes());
        vars.push(builder.dataset(&format!("v{number}"), &[y, x], INT16, Some(data), &[units, scale]));
    }
    builder.cdf(&[y, x], &vars, &[]);
    // As HDF-EOS writes it: 16 descriptors in a block, so some 170 blocks in a chain.
    let bytes = builder.finish(16);
    let store = MemoryStore::default();
    store.put("granule", &bytes).unwrap();
    let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
    let blob: Arc<dyn Blob> = Arc::new(ObjectBlob::new(store.clone(), "granule"));
    let file = File::open(blob, None, Codecs::default()).unwrap();
    let found = Datasets::read(&file).unwrap();
    assert_eq!((found.vars.len(), found.unreadable.len()), (40, 0));
    assert_eq!(found.vars[39].attributes.len(), 2);
    let opening = store.take_traffic();
    assert!(opening.rounds <= 8, "{opening:?} for {} bytes", bytes.len());
    // The headers of all chunks are one batch.
    let shape = found.vars[7].shape.clone();
    let located = found.vars[7].locate(&file, shape.clone()).unwrap();
    let mut out = vec![0i16; 15_000];
    let _ =
        read(&*located.blob.unwrap(), &located.array, &Selection::all(&shape), Out::new(&mut out)).unwrap();
    assert_eq!(out[500..502], [8, 45]);
    let reading = store.take_traffic();
    assert!(reading.rounds <= 6, "{reading:?}");
}

/// Makes a file of descriptor blocks at these positions, each with one descriptor of an object of a kind that nobody knows.
fn blocks_at(positions: &[usize]) -> Vec<u8> {
    let mut bytes = vec![0; positions[positions.len() - 1] + 18];
    bytes[..4].copy_from_slice(&[0x0e, 0x03, 0x13, 0x01]);
    let next = positions[1..].iter().copied().chain([0]);
    for (reference, (&at, next)) in positions.iter().zip(next).enumerate() {
        bytes[at..at + 2].copy_from_slice(&1u16.to_be_bytes());
        bytes[at + 2..at + 6].copy_from_slice(&(next as u32).to_be_bytes());
        bytes[at + 6..at + 8].copy_from_slice(&0x1234u16.to_be_bytes());
        bytes[at + 8..at + 10].copy_from_slice(&(reference as u16 + 1).to_be_bytes());
    }
    bytes
}

/// Opens a file with blocks that have these distances from each other, and returns what opening took.
fn opening_by_distances(distances: &[usize]) -> Traffic {
    let mut positions = vec![4];
    positions.extend(distances.iter().scan(4, |at, distance| {
        *at += distance;
        Some(*at)
    }));
    let store = MemoryStore::default();
    store.put("granule", &blocks_at(&positions)).unwrap();
    let store = Arc::new(Simulated::new(store, Cost::REMOTE, Duration::ZERO));
    let file =
        File::open(Arc::new(ObjectBlob::new(store.clone(), "granule")), None, Codecs::default()).unwrap();
    assert_eq!(file.descriptors().count(), positions.len());
    store.take_traffic()
}

#[test]
fn blocks_with_megabytes_between_them_are_looked_for_where_the_next_ones_probably_are() {
    // In kilobytes: much the same, in turns, and growing.
    let same: Vec<usize> = (0..12).map(|number| 8900 + number * 37 % 200).collect();
    let in_turns = (0..13).map(|number| [5500, 10_500][number % 2]).collect();
    let growing = (1..12).map(|number| number * 1600).collect();
    for (kilobytes, most) in [(same, 40), (in_turns, 90), (growing, 110)] {
        let distances: Vec<usize> = kilobytes.iter().map(|distance| distance * 1000).collect();
        let traffic = opening_by_distances(&distances);
        assert!(traffic.rounds <= 5, "{kilobytes:?}: {traffic:?}");
        assert!(traffic.bytes < most << 20, "{kilobytes:?}: {traffic:?}");
    }
}

#[test]
fn hundreds_of_blocks_in_a_hundred_megabytes_are_read_with_what_is_between_them() {
    let distances: Vec<usize> = (0..190).map(|number| 200_000 + number * 7919 % 700_000).collect();
    let traffic = opening_by_distances(&distances);
    assert!(traffic.rounds <= 5, "{traffic:?}");
}

#[test]
fn blocks_far_from_where_they_are_looked_for_are_found() {
    let traffic =
        opening_by_distances(&[9_000_000, 5_000_000, 20_000_000, 7_000_000, 100, 100, 25_000_000, 100]);
    assert!(traffic.rounds <= 6, "{traffic:?}");
}
