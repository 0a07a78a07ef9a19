//! Chunks that are objects of a store, or ranges of objects.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferrocdf_array::{
    Array, ChunkBatch, ChunkIndex, ChunkLocation, ChunkObjects, ChunkStore, Chunks, Coverage, In,
    IndexSnapshot, Kind, Layout, Out, PastEnd, RangeCheck, Selection, Stored, copy_chunks, coverage, flush,
    has_unwritten, oracle, read, write,
};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::testing::{Fault, Rng, Simulated, Traffic};
use ferrocdf_store::{BlobMut, Cost, MemoryBlob, MemoryStore, Store};

use crate::chunk_writing::GappyChunkStore;
use crate::chunks::step;
use crate::engine::selection;

/// The chunk index of a two-dimensional array whose chunks are in objects.
#[derive(Clone, Debug)]
struct Objects {
    store: Arc<Simulated<MemoryStore>>,
    /// Locations of chunks by their coordinates if the chunks of a row share an object, a shard; the last chunk of a shard has no
    /// known length. Empty if each chunk is an object of its own.
    shards: HashMap<Vec<u64>, ChunkLocation>,
    /// True if another process may change the index.
    is_watched: bool,
}

impl ChunkObjects for Objects {
    fn store(&self) -> &dyn Store {
        &*self.store
    }

    fn key(&self, chunk: &[u64]) -> String {
        if self.shards.is_empty() {
            format!("c/{}/{}", chunk[0], chunk[1])
        } else {
            format!("c/{}", chunk[0])
        }
    }
}

impl ChunkIndex for Objects {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let whole = ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, mask: 0 };
        let row = |y: u64| (first[1]..first[1] + count[1]).map(move |x| vec![y, x]);
        let all = (first[0]..first[0] + count[0]).flat_map(row);
        let location = |at: Vec<u64>| match self.shards.is_empty() {
            true => whole,
            false => self.shards.get(&at).copied().unwrap_or_default(),
        };
        Ok(all.map(location).collect())
    }

    fn objects(&self) -> Option<&dyn ChunkObjects> {
        Some(self)
    }

    fn snapshot(&self) -> Option<IndexSnapshot> {
        let index = Arc::new(Objects { is_watched: false, ..self.clone() });
        self.is_watched.then_some(IndexSnapshot { index, is_volatile: true })
    }

    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        Ok(self.snapshot().map(|snapshot| snapshot.index))
    }
}

fn chain(is_filtered: bool) -> Arc<Chain> {
    let steps = if is_filtered { vec![step(2, &[2]), step(1, &[1])] } else { vec![] };
    Arc::new(Chain::new(steps, &Codecs::default()))
}

/// Variants of storing the chunks of a test.
#[derive(Clone, Copy, Debug)]
struct Form {
    cost: Cost,
    is_filtered: bool,
    is_sharded: bool,
    is_watched: bool,
}

const PLAIN: Form = Form { cost: Cost::REMOTE, is_filtered: true, is_sharded: false, is_watched: false };

/// Returns an array of 16-bit integers with a grid of chunks, of which about one in `absent` is missing, and its index.
fn array(form: Form, grid: [u64; 2], chunk: [u64; 2], absent: u64) -> (Objects, Array) {
    let Form { cost, is_filtered, is_sharded, is_watched } = form;
    let inner = MemoryStore::default();
    let (mut rng, chain, mut shards) = (Rng::new(grid[0] + absent), chain(is_filtered), HashMap::new());
    for y in 0..grid[0] {
        let mut shard = Vec::new();
        for x in 0..grid[1] {
            if absent > 0 && rng.once_in(absent) {
                continue;
            }
            let values: Vec<u8> = (0..chunk[0] * chunk[1] * 2).map(|at| (at / 3 + y * 7 + x) as u8).collect();
            let mut encoded = vec![];
            assert_eq!(chain.encode(&values, &mut encoded).unwrap(), 0);
            if !is_sharded {
                inner.put(&format!("c/{y}/{x}"), &encoded).unwrap();
                continue;
            }
            let (at, is_last) = (shard.len() as u64, x + 1 == grid[1]);
            let len = if is_last { ChunkLocation::TO_END } else { encoded.len() as u64 };
            shards.insert(vec![y, x], ChunkLocation::Object { at, len, mask: 0 });
            shard.extend(encoded);
        }
        // Shard 1 does not exist although the index has locations in it.
        if is_sharded && !(absent > 0 && y == 1) {
            inner.put(&format!("c/{y}"), &shard).unwrap();
        }
    }
    let store = Arc::new(Simulated::new(inner, cost, Duration::ZERO));
    let index = Objects { store, shards, is_watched };
    let fill = 7u16.to_le_bytes();
    let chunks = Chunks::new(chunk.to_vec(), Arc::new(index.clone()), chain, fill);
    let (shape, layout) = (vec![grid[0] * chunk[0] - 1, grid[1] * chunk[1] - 2], Layout::Chunked(chunks));
    let stored = Stored::little(Kind::U16);
    (index, Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error })
}

fn forms() -> impl Iterator<Item = Form> {
    let slow = Cost { in_flight: 5, ..Cost::REMOTE };
    (0..16).map(move |bits| Form {
        cost: if bits & 1 == 0 { slow } else { Cost::LOCAL },
        is_filtered: bits & 2 == 0,
        is_sharded: bits & 4 == 0,
        is_watched: bits & 8 == 0,
    })
}

fn values(array: &Array, sel: &Selection) -> Result<Vec<f64>> {
    let mut values = vec![0f64; sel.elements().unwrap() as usize];
    assert_eq!(read(&MemoryBlob::default(), array, sel, Out::new(&mut values))?, RangeCheck::InRange);
    Ok(values)
}

fn wanted(array: &Array, sel: &Selection) -> Vec<f64> {
    let mut values = vec![0f64; sel.elements().unwrap() as usize];
    let _ = oracle::read(&MemoryBlob::default(), array, sel, Out::new(&mut values)).unwrap();
    values
}

#[test]
fn chunks_in_objects_equal_the_oracle() {
    let mut rng = Rng::new(1);
    for form in forms() {
        let (_, array) = array(form, [6, 5], [4, 9], 4);
        for _ in 0..60 {
            let sel = selection(&mut rng, &array.shape);
            assert!(values(&array, &sel).unwrap() == wanted(&array, &sel), "{form:?} {sel:?}");
        }
    }
}

#[test]
fn chunks_in_objects_with_tiny_rows_equal_those_read_by_rows() {
    for form in forms() {
        let (_, array) = array(form, [2, 20], [4000, 4], 4);
        let all = values(&array, &Selection::all(&array.shape)).unwrap();
        let width = array.shape[1];
        for first in (0..array.shape[0]).step_by(1500) {
            let sel = Selection::slab(&[first, 0], &[1500.min(array.shape[0] - first), width]);
            let rows = values(&array, &sel).unwrap();
            assert!(all[(first * width) as usize..][..rows.len()] == rows, "{form:?} {first}");
        }
    }
}

#[test]
fn a_thousand_objects_take_full_batches_and_nothing_else() {
    let (index, array) = array(PLAIN, [25, 40], [4, 9], 0);
    values(&array, &Selection::all(&array.shape)).unwrap();
    let traffic = index.store.take_traffic();
    assert_eq!((traffic.rounds, traffic.requests), (32, 1000));
    // A missing chunk takes a request too.
    let (index, array) = self::array(PLAIN, [25, 40], [4, 9], 3);
    values(&array, &Selection::all(&array.shape)).unwrap();
    let traffic = index.store.take_traffic();
    assert_eq!((traffic.rounds, traffic.requests), (32, 1000));
}

#[test]
fn an_object_that_is_read_twice_in_part_is_cached() {
    let (index, array) = array(PLAIN, [1, 1], [100, 9], 0);
    for row in 0..10 {
        values(&array, &Selection::slab(&[row, 0], &[1, 3])).unwrap();
    }
    assert_eq!(index.store.take_traffic().requests, 2);
}

#[test]
fn an_object_that_may_have_changed_is_read_again() {
    let (index, array) = array(Form { is_watched: true, ..PLAIN }, [5, 8], [4, 9], 4);
    values(&array, &Selection::all(&array.shape)).unwrap();
    let Traffic { rounds, requests, .. } = index.store.take_traffic();
    assert_eq!((rounds, requests), (4, 80), "each chunk is confirmed by a second attempt");
}

#[test]
fn a_refused_or_short_object_is_an_error_that_names_it() {
    for cost in [Cost::REMOTE, Cost::LOCAL] {
        for (fault, code) in [(Fault::Refused, Code::EIO), (Fault::BodyCut, Code::ETRUNC)] {
            let (index, array) = array(Form { cost, ..PLAIN }, [5, 8], [4, 9], 0);
            index.store.fail(17, fault);
            let error = values(&array, &Selection::all(&array.shape)).unwrap_err();
            assert_eq!(error.code, code, "{error}");
            assert!(error.what.contains(" in object c/"), "{error}");
            assert!(values(&array, &Selection::all(&array.shape)).is_ok());
        }
        // A shard that ends within a chunk.
        let (index, array) = array(Form { cost, is_sharded: true, ..PLAIN }, [2, 3], [4, 9], 0);
        index.store.put("c/1", &[0; 5]).unwrap();
        let error = values(&array, &Selection::all(&array.shape)).unwrap_err();
        assert_eq!(error.code, Code::ETRUNC, "{error}");
        assert!(error.what.starts_with("chunk (1, 0) in object c/1: "), "{error}");
        assert!(error.what.ends_with("are past the end, it has 5 bytes"), "{error}");
    }
}

#[test]
fn chunks_in_objects_are_copied() {
    for form in forms() {
        for to_filtered in [true, false] {
            let (index, array) = array(form, [6, 5], [4, 9], 4);
            let Layout::Chunked(chunks) = &array.layout else { unreachable!() };
            let target = |fill: &[u8]| {
                let shelf = Arc::new(GappyChunkStore::default());
                let to = Chunks::writable(chunks.shape.clone(), shelf.clone(), chain(to_filtered), fill);
                (shelf, Array { layout: Layout::Chunked(to), ..array.clone() })
            };
            let (shelf, copy) = target(&chunks.fill);
            let blob = MemoryBlob::default();
            index.store.take_traffic();
            assert!(copy_chunks((&blob, &array), (&*shelf.blob(), &copy), &mut |_| ()).unwrap());
            let all = Selection::all(&array.shape);
            let mut found = vec![0f64; all.elements().unwrap() as usize];
            let _ = read(&*shelf.blob(), &copy, &all, Out::new(&mut found)).unwrap();
            assert!(found == wanted(&array, &all), "{form:?}");
            assert!(has_unwritten(&copy).unwrap(), "chunks that do not exist are not written");
            // Any object may turn out not to exist, so another fill value is refused.
            let (shelf, copy) = target(&[8, 0]);
            assert!(!copy_chunks((&blob, &array), (&*shelf.blob(), &copy), &mut |_| ()).unwrap());
        }
    }
}

#[test]
fn objects_may_be_unwritten_and_count_as_stored() {
    let (index, array) = array(PLAIN, [5, 8], [4, 9], 0);
    assert!(has_unwritten(&array).unwrap());
    let sel = Selection::all(&array.shape);
    assert_eq!(coverage(&array, &sel, (Kind::U16, &7u16.to_le_bytes())).unwrap(), Coverage::Whole);
    assert_eq!(index.store.take_traffic(), Traffic::default());
}

/// A chunk store that puts each chunk as an object.
#[derive(Debug)]
struct Puts {
    objects: Objects,
    put: Mutex<HashSet<Vec<u64>>>,
    /// Number of chunks of the largest batch.
    largest: AtomicUsize,
}

impl ChunkIndex for Puts {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let row = |y: u64| (first[1]..first[1] + count[1]).map(move |x| vec![y, x]);
        let all = (first[0]..first[0] + count[0]).flat_map(row);
        let put = self.put.lock().unwrap();
        let whole = ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, mask: 0 };
        Ok(all.map(|at| if put.contains(&at) { whole } else { ChunkLocation::Missing }).collect())
    }

    fn objects(&self) -> Option<&dyn ChunkObjects> {
        Some(&self.objects)
    }
}

impl ChunkStore for Puts {
    fn put(&self, batch: &dyn ChunkBatch) -> Result<bool> {
        self.largest.fetch_max(batch.len(), Relaxed);
        for number in 0..batch.len() {
            let chunk = batch.coordinates(number);
            let mut bytes = vec![0; batch.encoded_len(number) as usize];
            match batch.borrow(number..number + 1) {
                Some(encoded) => bytes.copy_from_slice(encoded),
                None => batch.copy_to(number, &mut bytes)?,
            }
            assert_eq!(batch.mask(number), 0);
            self.objects.store.put(&self.objects.key(&chunk), &bytes)?;
            self.put.lock().unwrap().insert(chunk.to_vec());
        }
        Ok(true)
    }

    fn allocate(&self, chunk: &[u64], _len: u64) -> Result<u64> {
        panic!("chunk {chunk:?} is put")
    }

    fn insert(&self, chunk: &[u64], _at: u64, _len: u64, _mask: u32) -> Result<()> {
        panic!("chunk {chunk:?} is put")
    }

    fn release(&self, chunk: &[u64], _at: u64, _len: u64) {
        panic!("chunk {chunk:?} is put")
    }

    fn blob(&self) -> Arc<dyn BlobMut> {
        Arc::new(MemoryBlob::default())
    }

    fn can_grow(&self, _dim: usize) -> bool {
        false
    }
}

/// Returns a store that puts chunks as objects, and an array of this shape whose chunks it stores.
fn puts(form: Form, shape: &[u64], chunk: &[u64]) -> (Arc<Puts>, Array) {
    let store = Arc::new(Simulated::new(MemoryStore::default(), form.cost, Duration::ZERO));
    let objects = Objects { store, shards: HashMap::new(), is_watched: false };
    let puts = Arc::new(Puts { objects, put: Mutex::default(), largest: AtomicUsize::default() });
    let fill = 7u16.to_le_bytes();
    let chunks = Chunks::writable(chunk.to_vec(), puts.clone(), chain(form.is_filtered), fill);
    let (shape, layout) = (shape.to_vec(), Layout::Chunked(chunks));
    let stored = Stored::little(Kind::U16);
    (puts, Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error })
}

#[test]
fn chunks_are_put_as_objects_in_batches() {
    let (mut rng, blob) = (Rng::new(9), MemoryBlob::default());
    for form in forms().filter(|form| !form.is_sharded && !form.is_watched) {
        let shape = [22, 43];
        let (puts, mut array) = puts(form, &shape, &[4, 9]);
        let plain = Array::contiguous(shape.to_vec(), array.stored, 0).unwrap();
        let memory = MemoryBlob::new(7u16.to_le_bytes().repeat(22 * 43));
        for round in 0..40 {
            let sel = selection(&mut rng, &shape);
            let input: Vec<u16> = (0..sel.elements().unwrap()).map(|at| (at * 3 + round) as u16).collect();
            let _ = write(&blob, &array, &sel, In::new(&input)).unwrap();
            let _ = oracle::write(&memory, &plain, &sel, In::new(&input)).unwrap();
            if rng.once_in(4) {
                flush(&blob, &array).unwrap();
                // The array is opened again, without cached or pending chunks: writing a part of a chunk has to fetch it.
                let Layout::Chunked(old) = &array.layout else { unreachable!() };
                let new =
                    Chunks::writable(old.shape.clone(), puts.clone(), old.chain.clone(), old.fill.clone());
                array.layout = Layout::Chunked(new);
            }
            let all = Selection::all(&shape);
            let mut wanted = vec![0f64; 22 * 43];
            let _ = oracle::read(&memory, &plain, &all, Out::new(&mut wanted)).unwrap();
            assert!(values(&array, &all).unwrap() == wanted, "{form:?} {round}");
        }
        assert!(puts.largest.load(Relaxed) > 4);
    }
}

#[test]
fn chunks_are_copied_to_objects() {
    for (from_filtered, to_filtered) in [(true, true), (false, false), (true, false), (false, true)] {
        let form = Form { is_filtered: from_filtered, ..PLAIN };
        let (_, from) = array(form, [6, 5], [4, 9], 4);
        let (puts, to) = puts(Form { is_filtered: to_filtered, ..PLAIN }, &from.shape, &[4, 9]);
        let blob = MemoryBlob::default();
        assert!(copy_chunks((&blob, &from), (&blob, &to), &mut |_| ()).unwrap());
        let all = Selection::all(&from.shape);
        assert!(values(&to, &all).unwrap() == wanted(&from, &all));
        assert!((1..30).contains(&puts.put.lock().unwrap().len()), "chunks that do not exist are not put");
    }
}
