//! Reads and copies of chunks that another process moves or rewrites meanwhile. The old location of a moved chunk gets the bytes
//! of another chunk.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ferrocdf_array::{
    Array, ChunkIndex, ChunkLocation, ChunkStore, Chunks, IndexSnapshot, Kind, Layout, Out, PastEnd,
    RangeCheck, Selection, Stored, copy_chunks, flush, read,
};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob};

use crate::engine::{SLOW, selection};

/// The number of chunks along each dimension of an array, and the shape of a chunk.
#[derive(Clone, Copy, Debug)]
struct Grid {
    chunks: [u64; 2],
    chunk: [u64; 2],
}

const SMALL: Grid = Grid { chunks: [4, 5], chunk: [3, 40] };

/// So many tiny rows that a read of all goes through `tiny_rows`.
const NARROW: Grid = Grid { chunks: [30, 2], chunk: [4000, 4] };

/// Large enough that the engine drops bytes that were read ahead before its first attempt.
const LARGE: Grid = Grid { chunks: [8, 2], chunk: [300, 200] };

/// A snapshot of an index: the locations of all chunks, the number of chunks in a row, and the generation.
#[derive(Clone, Debug)]
struct Table(Vec<ChunkLocation>, u64, u64);

impl ChunkIndex for Table {
    fn generation(&self) -> u64 {
        self.2
    }

    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let row = |y: u64| (first[1]..first[1] + count[1]).map(move |x| (y * self.1 + x) as usize);
        Ok((first[0]..first[0] + count[0]).flat_map(row).map(|number| self.0[number]).collect())
    }
}

/// A blob that moves or rewrites its chunks at random while it is read, and their index.
#[derive(Debug)]
struct VolatileBlob {
    blob: Counting<Arc<MemoryBlob>>,
    plain: Arc<MemoryBlob>,
    cost: Cost,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rng: Rng,
    table: Arc<Table>,
    /// The last snapshot.
    seen: Arc<Table>,
    /// Number of changes left. A change comes with one in `often` steps of a read.
    moves: usize,
    often: u64,
    /// True if old locations get bytes that no filter decodes.
    spoils: bool,
    grid: Grid,
    chain: Arc<Chain>,
    /// True if chunks get new values during reads; a rewritten chunk alternates between two locations.
    rewrites: bool,
    /// For each chunk, position and length of its previous location. `versions`: for each chunk, how often it got new values.
    before: Vec<Option<(u64, u64)>>,
    versions: Vec<u64>,
}

impl State {
    /// Moves a chunk, and writes the bytes of another chunk to its old location.
    fn move_one(&mut self, blob: &MemoryBlob) {
        let (number, other) = (self.rng.index(self.table.0.len()), self.rng.index(self.table.0.len()));
        let (ChunkLocation::At { at, len, mask }, ChunkLocation::At { at: from, len: other, .. }) =
            (self.table.0[number], self.table.0[other])
        else {
            return;
        };
        let end = blob.size().unwrap();
        let (mut chunk, mut instead) = (vec![0; len as usize], vec![0; other.min(len) as usize]);
        blob.read_exact_at(at, &mut chunk).unwrap();
        blob.read_exact_at(from, &mut instead).unwrap();
        blob.write_at(end, &chunk).unwrap();
        if self.spoils && self.rng.once_in(2) {
            instead.fill(0xff);
        }
        blob.write_at(at, &instead).unwrap();
        self.location(number, ChunkLocation::At { at: end, len, mask });
    }

    /// Writes new values of a chunk, to its previous location if they fit there.
    fn rewrite(&mut self, blob: &MemoryBlob, number: usize) {
        self.versions[number] += 1;
        let (mut bytes, plain) = (vec![], self.grid.bytes(number as u64, self.versions[number]));
        let mask = self.chain.encode(&plain, &mut bytes).unwrap();
        let len = bytes.len() as u64;
        let at = self.before[number].filter(|before| before.1 >= len).map(|before| before.0);
        let at = at.unwrap_or_else(|| blob.size().unwrap());
        blob.write_at(at, &bytes).unwrap();
        self.location(number, ChunkLocation::At { at, len, mask });
    }

    fn location(&mut self, number: usize, location: ChunkLocation) {
        let mut locations = self.table.0.clone();
        let old = std::mem::replace(&mut locations[number], location);
        let ChunkLocation::At { at, len, .. } = old else { unreachable!() };
        self.before[number] = Some((at, len));
        self.table = Arc::new(Table(locations, self.table.1, self.table.2 + 1));
    }

    /// Moves or rewrites a chunk; a chunk that is rewritten twice is back at its location.
    fn change(&mut self, blob: &MemoryBlob) {
        if !self.rewrites || self.rng.once_in(4) {
            return self.move_one(blob);
        }
        let number = self.rng.index(self.versions.len());
        (0..1 + self.rng.below(2)).for_each(|_| self.rewrite(blob, number));
    }
}

impl VolatileBlob {
    fn now(&self) -> Arc<Table> {
        self.state.lock().unwrap().table.clone()
    }

    fn versions(&self) -> Vec<u64> {
        self.state.lock().unwrap().versions.clone()
    }

    fn turn(&self) {
        let mut state = self.state.lock().unwrap();
        let often = state.often;
        if state.moves > 0 && state.rng.once_in(often) {
            state.moves -= 1;
            state.change(&self.plain);
        }
    }
}

impl Blob for VolatileBlob {
    fn size(&self) -> Result<u64> {
        self.blob.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.turn();
        let half = if self.state.lock().unwrap().rewrites { into.len() / 2 } else { 0 };
        let (first, second) = into.split_at_mut(half);
        if half > 0 && self.blob.read_at(at, first)? < half {
            return Ok(0);
        }
        self.turn();
        let done = self.blob.read_at(at + half as u64, second);
        self.turn();
        done.map(|done| half + done)
    }

    fn name(&self) -> String {
        "volatile".to_string()
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

#[derive(Debug)]
struct Index(Arc<VolatileBlob>);

impl ChunkIndex for Index {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.0.now().locate(first, count)
    }

    fn snapshot(&self) -> Option<IndexSnapshot> {
        let state = self.0.state.lock().unwrap();
        Some(IndexSnapshot { index: state.seen.clone(), is_volatile: state.seen.2 > 0 })
    }

    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        let mut state = self.0.state.lock().unwrap();
        state.seen = state.table.clone();
        Ok(Some(state.seen.clone()))
    }
}

const STORED: Stored = Stored::native(Kind::U16);

fn value(y: u64, x: u64) -> u16 {
    (y * 1000 + x) as u16
}

/// Returns the value after the chunk got new values `version` times. No two adjacent values equal those of another version or
/// chunk.
fn newer(value: u16, version: u64) -> u16 {
    value.wrapping_mul((2 * version + 1) as u16)
}

impl Grid {
    /// Returns the decoded bytes of a version of a chunk.
    fn bytes(&self, number: u64, version: u64) -> Vec<u8> {
        let Grid { chunks, chunk } = *self;
        let [row, column] = [number / chunks[1], number % chunks[1]];
        let elements = (0..chunk[0]).flat_map(|y| (0..chunk[1]).map(move |x| [y, x]));
        let values = elements.map(|[y, x]| value(row * chunk[0] + y, column * chunk[1] + x));
        values.flat_map(|value| newer(value, version).to_ne_bytes()).collect()
    }

    /// True if in each chunk the selected values are all of one version, at most the newest.
    fn are_whole(&self, sel: &Selection, values: &[u16], newest: &[u64]) -> bool {
        let along = |dim: usize| (0..sel.count[dim]).map(move |at| sel.start[dim] + at * sel.stride[dim]);
        let at = along(0).flat_map(|y| along(1).map(move |x| [y, x]));
        let mut possible: Vec<Vec<u64>> = newest.iter().map(|&newest| (0..=newest).collect()).collect();
        for ([y, x], &found) in at.zip(values) {
            let number = y / self.chunk[0] * self.chunks[1] + x / self.chunk[1];
            possible[number as usize].retain(|&version| newer(value(y, x), version) == found);
        }
        possible.iter().all(|versions| !versions.is_empty())
    }
}

/// Returns shuffle and deflate.
fn shuffle_deflate() -> Arc<Chain> {
    let step = |id: u32, params: &[u32]| Step {
        id: id.into(),
        name: String::new(),
        optional: false,
        params: params.to_vec(),
    };
    Arc::new(Chain::new(vec![step(2, &[2]), step(1, &[1])], &Codecs::default()))
}

/// Returns an array whose chunks are moved up to `moves` times during reads, and its blob.
fn volatile(
    grid: Grid,
    (seed, encoded): (u64, bool),
    moves: usize,
    often: u64,
) -> (Arc<VolatileBlob>, Array) {
    let (blob, chain) = (MemoryBlob::default(), if encoded { shuffle_deflate() } else { Arc::default() });
    let mut table = vec![];
    let Grid { chunks, chunk } = grid;
    let count = chunks[0] * chunks[1];
    for number in 0..count {
        let (mut bytes, at) = (vec![], blob.size().unwrap());
        let mask = chain.encode(&grid.bytes(number, 0), &mut bytes).unwrap();
        blob.write_at(at, &bytes).unwrap();
        table.push(ChunkLocation::At { at, len: bytes.len() as u64, mask });
    }
    let cost = if seed % 4 < 2 { Cost::LOCAL } else { SLOW };
    let (rng, table) = (Rng::new(seed), Arc::new(Table(table, chunks[1], 0)));
    let state = Mutex::new(State {
        rng,
        seen: table.clone(),
        table,
        moves,
        often,
        spoils: encoded,
        grid,
        chain: chain.clone(),
        rewrites: false,
        before: vec![None; count as usize],
        versions: vec![0; count as usize],
    });
    let plain = Arc::new(blob);
    let blob = Arc::new(VolatileBlob { blob: Counting::new(plain.clone()), plain, cost, state });
    // Edge chunks reach beyond the array.
    let shape = vec![chunks[0] * chunk[0] - 1, chunks[1] * chunk[1] - chunk[1] / 5];
    let layout = Layout::Chunked(Chunks::new(chunk.to_vec(), Arc::new(Index(blob.clone())), chain, []));
    (blob, Array { shape, stored: STORED, decoder: None, layout, past_end: PastEnd::Error })
}

/// Returns the values of a selection before any rewrite; see [`value`].
fn wanted(sel: &Selection) -> Vec<u16> {
    let along = |dim: usize| (0..sel.count[dim]).map(move |at| sel.start[dim] + at * sel.stride[dim]);
    along(0).flat_map(|y| along(1).map(move |x| value(y, x))).collect()
}

fn values(blob: &dyn Blob, array: &Array, sel: &Selection) -> Result<Vec<u16>> {
    let mut values = vec![0u16; sel.elements().unwrap() as usize];
    assert_eq!(read(blob, array, sel, Out::new(&mut values))?, RangeCheck::InRange);
    Ok(values)
}

#[test]
fn chunks_that_move_during_a_read_are_read_at_their_new_location() {
    let mut rng = Rng::new(5);
    for seed in 0..300 {
        let (blob, array) = volatile(SMALL, (seed, seed % 2 == 0), 60, 1 + rng.below(30));
        for _ in 0..20 {
            let sel = selection(&mut rng, &array.shape);
            assert!(values(&*blob, &array, &sel).unwrap() == wanted(&sel), "{seed}: {sel:?}");
        }
    }
    for seed in 0..10 {
        let (blob, array) = volatile(NARROW, (seed, seed % 2 == 0), 10, 20);
        let sel = Selection::all(&array.shape);
        assert!(values(&*blob, &array, &sel).unwrap() == wanted(&sel), "{seed}");
    }
}

#[test]
fn each_chunk_that_is_rewritten_during_a_read_is_of_one_version() {
    let mut rng = Rng::new(6);
    let few = Grid { chunks: [1, 2], ..SMALL };
    for seed in 0..600 {
        let grid = rng.pick(&[SMALL, few]);
        let (blob, array) = volatile(grid, (seed, seed % 2 == 0), 40, 1 + rng.below(9));
        blob.state.lock().unwrap().rewrites = true;
        for _ in 0..20 {
            let sel = selection(&mut rng, &array.shape);
            let values = values(&*blob, &array, &sel).unwrap();
            assert!(grid.are_whole(&sel, &values, &blob.versions()), "{seed}: {sel:?}");
        }
    }
    for seed in 0..20 {
        let grid = rng.pick(&[NARROW, LARGE]);
        let (blob, array) = volatile(grid, (seed, seed % 3 == 0), 20, 4);
        blob.state.lock().unwrap().rewrites = true;
        for _ in 0..2 {
            let sel = Selection::all(&array.shape);
            let values = values(&*blob, &array, &sel).unwrap();
            assert!(grid.are_whole(&sel, &values, &blob.versions()), "{seed}");
            blob.state.lock().unwrap().moves += 3;
        }
    }
}

#[test]
fn chunks_that_do_not_change_are_read_once() {
    for grid in [NARROW, LARGE] {
        let (blob, array) = volatile(grid, (1, false), 1, 1);
        let [chunks, chunk] = [grid.chunks, grid.chunk].map(|lens| lens[0] * lens[1]);
        // A chunk moves during the first read. In later reads the index is volatile because of that, so checksums are recorded.
        for reads in [2, 3, 4] {
            let sel = Selection::all(&array.shape);
            assert_eq!(values(&*blob, &array, &sel).unwrap(), wanted(&sel));
            assert_eq!(blob.blob.reads().1, reads * chunks * chunk * 2);
        }
    }
}

#[test]
fn a_cached_chunk_is_replaced_after_it_moved() {
    let (blob, array) = volatile(SMALL, (1, true), 0, 1);
    let sel = Selection::slab(&[1, 7], &[1, 9]);
    for _ in 0..3 {
        // The second read puts the chunk into the cache.
        (0..2).for_each(|_| assert_eq!(values(&*blob, &array, &sel).unwrap(), wanted(&sel)));
        let reads = blob.blob.reads();
        assert_eq!(values(&*blob, &array, &sel).unwrap(), wanted(&sel));
        assert_eq!(blob.blob.reads(), reads);
        let here = blob.now().0[0];
        while blob.now().0[0] == here {
            blob.state.lock().unwrap().move_one(&blob.plain);
        }
    }
}

#[test]
fn chunks_that_change_during_every_attempt_are_an_error() {
    let one = Grid { chunks: [1, 1], ..SMALL };
    let (blob, array) = volatile(one, (1, false), usize::MAX, 1);
    let begin = Instant::now();
    let error = values(&*blob, &array, &Selection::all(&array.shape)).unwrap_err();
    assert_eq!(error.code, Code::EHDFERR);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// A chunk store whose chunks never move: allocates space at the end of its blob.
#[derive(Debug)]
struct FixedChunkStore {
    blob: Arc<MemoryBlob>,
    table: Mutex<Table>,
    end: AtomicU64,
    /// Number of the allocation that fails, counted from 0.
    fails: AtomicUsize,
}

impl ChunkIndex for FixedChunkStore {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.table.lock().unwrap().locate(first, count)
    }
}

impl ChunkStore for FixedChunkStore {
    fn allocate(&self, _chunk: &[u64], len: u64) -> Result<u64> {
        if self.fails.fetch_sub(1, Relaxed) == 0 {
            return Err(Error::new(Code::EIO, "no location"));
        }
        Ok(self.end.fetch_add(len, Relaxed))
    }

    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        let mut table = self.table.lock().unwrap();
        let number = chunk[0] * table.1 + chunk[1];
        table.0[number as usize] = ChunkLocation::At { at, len, mask };
        Ok(())
    }

    fn release(&self, _chunk: &[u64], _at: u64, _len: u64) {}

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.blob.clone()
    }
}

#[test]
fn chunks_that_move_during_a_copy_are_copied_from_their_new_location() {
    for seed in 0..300 {
        let (blob, array) = volatile(SMALL, (seed, seed % 2 == 0), 30, 1 + seed % 9);
        let (still, to) = target(SMALL, filters(&array, seed % 3 > 0), &array);
        let mut reported = 0;
        assert!(copy_chunks((&*blob, &array), (&*still.blob, &to), &mut |bytes| reported += bytes).unwrap());
        flush(&*still.blob, &to).unwrap();
        let sel = Selection::all(&array.shape);
        assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{seed}");
        assert_eq!(reported, sel.elements().unwrap() * 2, "{seed}");
    }
}

/// Returns a store for the chunks of a grid, and an array with these chunks that is otherwise a copy of `array`.
fn target(grid: Grid, chain: Arc<Chain>, array: &Array) -> (Arc<FixedChunkStore>, Array) {
    let count = (grid.chunks[0] * grid.chunks[1]) as usize;
    let table = Mutex::new(Table(vec![ChunkLocation::Missing; count], grid.chunks[1], 0));
    let still = Arc::new(FixedChunkStore {
        blob: Arc::default(),
        table,
        end: AtomicU64::default(),
        fails: AtomicUsize::new(usize::MAX),
    });
    let to = Chunks::writable(grid.chunk.to_vec(), still.clone(), chain, []);
    (still, Array { layout: Layout::Chunked(to), ..array.clone() })
}

/// Returns the filters of the target of a copy: those of the source for a transfer, else others.
fn filters(array: &Array, is_transfer: bool) -> Arc<Chain> {
    let Layout::Chunked(chunks) = &array.layout else { unreachable!() };
    match is_transfer {
        true => chunks.chain.clone(),
        false if chunks.chain.is_empty() => shuffle_deflate(),
        false => Arc::default(),
    }
}

#[test]
fn each_chunk_that_is_rewritten_during_a_copy_is_of_one_version() {
    for seed in 0..600 {
        let grid = if seed % 5 == 0 { SMALL } else { Grid { chunks: [1, 2], ..SMALL } };
        let (blob, array) = volatile(grid, (seed, seed % 2 == 0), 40, 1 + seed % 9);
        blob.state.lock().unwrap().rewrites = true;
        let (still, to) = target(grid, filters(&array, seed % 3 > 0), &array);
        assert!(copy_chunks((&*blob, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
        flush(&*still.blob, &to).unwrap();
        let sel = Selection::all(&array.shape);
        let values = values(&*still.blob, &to, &sel).unwrap();
        assert!(grid.are_whole(&sel, &values, &blob.versions()), "{seed}");
    }
}

/// A blob of which one write, counted from 0, fails.
struct Faulty {
    blob: Arc<MemoryBlob>,
    fails: AtomicUsize,
}

impl Blob for Faulty {
    fn size(&self) -> Result<u64> {
        self.blob.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.blob.read_at(at, into)
    }

    fn name(&self) -> String {
        "faulty".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

impl BlobMut for Faulty {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        if self.fails.fetch_sub(1, Relaxed) == 0 {
            return Err(Error::new(Code::EIO, "no room"));
        }
        self.blob.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.blob.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// Returns an array with so large chunks that a copy takes several batches. Each refresh of its index gives another snapshot.
fn batches(encoded: bool) -> (Grid, Arc<VolatileBlob>, Array) {
    let grid = Grid { chunks: [20, 1], chunk: [1000, 1000] };
    let (blob, array) = volatile(grid, (1, encoded), 0, 1);
    let Layout::Chunked(chunks) = &array.layout else { unreachable!() };
    let index = LateIndex { changed: true, ..LateIndex::new(&blob) };
    let chunks = Chunks::new(grid.chunk.to_vec(), Arc::new(index), chunks.chain.clone(), []);
    (grid, blob, Array { layout: Layout::Chunked(chunks), ..array })
}

#[test]
fn a_copy_fails_if_its_target_fails_once() {
    for (encoded, is_transfer) in [(false, true), (false, false), (true, false)] {
        let (grid, blob, array) = batches(encoded);
        // Either a write of the blob fails or an allocation of the store.
        for (write, location) in [(0, usize::MAX), (3, usize::MAX), (usize::MAX, 0), (usize::MAX, 12)] {
            let (still, to) = target(grid, filters(&array, is_transfer), &array);
            still.fails.store(location, Relaxed);
            let faulty = Faulty { blob: still.blob.clone(), fails: AtomicUsize::new(write) };
            let error = copy_chunks((&*blob.plain, &array), (&faulty, &to), &mut |_| ()).unwrap_err();
            assert_eq!(error.code, Code::EIO, "{encoded} {is_transfer} {write} {location}");
        }
    }
}

#[test]
fn a_copy_is_complete_if_its_source_fails_once() {
    for (encoded, is_transfer) in [(false, true), (false, false), (true, false)] {
        let (grid, blob, array) = batches(encoded);
        for fails in [0, 19, 21, 25, 39] {
            let (still, to) = target(grid, filters(&array, is_transfer), &array);
            let faulty = odd(&blob, |number, _, _| match number == fails {
                true => Err(Error::new(Code::EIO, "not now")),
                false => Ok(()),
            });
            assert!(copy_chunks((&faulty, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
            flush(&*still.blob, &to).unwrap();
            let sel = Selection::all(&array.shape);
            assert!(
                values(&*still.blob, &to, &sel).unwrap() == wanted(&sel),
                "{encoded} {is_transfer} {fails}"
            );
        }
    }
}

/// A blob that calls a function after each read. The function gets the number of the read, counted from 0, its position and its
/// bytes.
struct AfterRead<F>(Counting<Arc<MemoryBlob>>, F, AtomicUsize);

impl<F: Fn(usize, u64, &mut [u8]) -> Result<()> + Send + Sync> Blob for AfterRead<F> {
    fn size(&self) -> Result<u64> {
        self.0.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let done = self.0.read_at(at, into)?;
        self.1(self.2.fetch_add(1, Relaxed), at, into)?;
        Ok(done)
    }

    fn name(&self) -> String {
        "odd".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

fn odd<F: Fn(usize, u64, &mut [u8]) -> Result<()>>(blob: &VolatileBlob, act: F) -> AfterRead<F> {
    AfterRead(Counting::new(blob.plain.clone()), act, AtomicUsize::new(0))
}

#[test]
fn a_chunk_that_moves_away_and_back_is_read_until_two_checksums_agree() {
    for (grid, changed) in [(SMALL, false), (SMALL, true), (NARROW, false), (NARROW, true), (LARGE, true)] {
        let (blob, array) = volatile(grid, (1, false), 0, 1);
        let index = Arc::new(LateIndex { changed, ..LateIndex::new(&blob) });
        let chunks = Chunks::new(grid.chunk.to_vec(), index, Arc::default(), []);
        let array = Array { layout: Layout::Chunked(chunks), ..array };
        // The first attempt records checksums only if the index is known to be volatile. In the first attempt that does so, one
        // chunk is read while it is being written.
        let [chunks, chunk] = [grid.chunks, grid.chunk].map(|lens| lens[0] * lens[1]);
        let first = if changed { 0 } else { 1 };
        let attempts = AtomicUsize::new(0);
        let half = odd(&blob, |_, at, into| {
            if at == 0 && attempts.fetch_add(1, Relaxed) == first {
                into[64..128].fill(0xee);
            }
            Ok(())
        });
        let sel = Selection::all(&array.shape);
        assert!(values(&half, &array, &sel).unwrap() == wanted(&sel), "{grid:?} {changed}");
        // From the first attempt with checksums on, that chunk is read three times, each other chunk twice.
        assert_eq!(half.0.reads().1, ((first as u64 + 2) * chunks + 1) * chunk * 2, "{grid:?} {changed}");
        for is_transfer in [true, false] {
            let attempts = AtomicUsize::new(0);
            let half = odd(&blob, |_, at, into| {
                if at == 0 && attempts.fetch_add(1, Relaxed) == first {
                    into[64..128].fill(0xee);
                }
                Ok(())
            });
            let (still, to) = target(grid, filters(&array, is_transfer), &array);
            assert!(copy_chunks((&half, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
            flush(&*still.blob, &to).unwrap();
            assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{grid:?} {changed}");
            assert_eq!(half.0.reads().1, ((first as u64 + 2) * chunks + 1) * chunk * 2, "{grid:?} {changed}");
        }
    }
}

#[test]
fn slow_reads_get_as_many_attempts_as_they_need() {
    let (blob, array) = volatile(SMALL, (1, false), 0, 1);
    let chunks = Chunks::new(SMALL.chunk.to_vec(), Arc::new(LateIndex::new(&blob)), Arc::default(), []);
    let array = Array { layout: Layout::Chunked(chunks), ..array };
    // The second of the three reads takes longer than the time limit of retries, 2 s.
    let slow = odd(&blob, |number, _, _| {
        if number == 1 {
            sleep(Duration::from_millis(2100));
        }
        Ok(())
    });
    let sel = Selection::slab(&[0, 0], &[1, 2]);
    assert_eq!(values(&slow, &array, &sel).unwrap(), wanted(&sel));
    assert_eq!(slow.2.load(Relaxed), 3);
}

/// A blob with read-ahead: reads return the content at the last call of `forget`.
struct Stale {
    now: MemoryBlob,
    seen: Mutex<Vec<u8>>,
}

impl Blob for Stale {
    fn size(&self) -> Result<u64> {
        self.now.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        MemoryBlob::new(self.seen.lock().unwrap().clone()).read_at(at, into)
    }

    fn name(&self) -> String {
        "stale".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }

    fn forget(&self) {
        *self.seen.lock().unwrap() = self.now.to_bytes();
    }
}

/// An index of which each refresh gives a new generation with the same locations.
#[derive(Debug)]
struct LateIndex {
    table: Mutex<Arc<Table>>,
    /// True if snapshots say that the index is volatile.
    changed: bool,
}

impl LateIndex {
    fn at(table: Arc<Table>) -> LateIndex {
        LateIndex { table: Mutex::new(table), changed: false }
    }

    fn new(blob: &VolatileBlob) -> LateIndex {
        LateIndex::at(blob.now())
    }
}

impl ChunkIndex for LateIndex {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.table.lock().unwrap().locate(first, count)
    }

    fn snapshot(&self) -> Option<IndexSnapshot> {
        Some(IndexSnapshot { index: self.table.lock().unwrap().clone(), is_volatile: self.changed })
    }

    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        let mut last = self.table.lock().unwrap();
        *last = Arc::new(Table(last.0.clone(), last.1, last.2 + 1));
        Ok(Some(last.clone()))
    }
}

#[test]
fn bytes_read_ahead_before_a_change_are_not_returned_after_it() {
    for grid in [SMALL, NARROW, LARGE] {
        let (blob, array) = volatile(grid, (1, false), 0, 1);
        let stale = Stale { now: MemoryBlob::new(blob.plain.to_bytes()), seen: Mutex::new(vec![0; 1 << 22]) };
        let chunks = Chunks::new(grid.chunk.to_vec(), Arc::new(LateIndex::new(&blob)), Arc::default(), []);
        let array = Array { layout: Layout::Chunked(chunks), ..array };
        let sel = Selection::all(&array.shape);
        assert!(values(&stale, &array, &sel).unwrap() == wanted(&sel), "{grid:?}");
        // A copy drops bytes that were read ahead, too.
        stale.seen.lock().unwrap().fill(0);
        let (still, to) = target(grid, Arc::default(), &array);
        assert!(copy_chunks((&stale, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
        flush(&*still.blob, &to).unwrap();
        assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{grid:?}");
    }
}

#[test]
fn bytes_read_ahead_before_a_change_are_not_cached() {
    let (blob, array) = volatile(SMALL, (1, true), 0, 1);
    let Layout::Chunked(chunks) = &array.layout else { unreachable!() };
    // Each chunk moves to another location. The bytes that were read ahead have, at these locations, a different chunk each.
    let mut locations = blob.now().0.clone();
    let old = blob.plain.to_bytes();
    let plain = MemoryBlob::new(old.clone());
    for (number, location) in locations.iter_mut().enumerate() {
        let ChunkLocation::At { at, len, mask } = *location else { unreachable!() };
        let mut bytes = vec![0; len as usize];
        plain.read_exact_at(at, &mut bytes).unwrap();
        let at = number as u64 * 4096;
        *location = ChunkLocation::At { at, len, mask };
        plain.write_at(at, &bytes).unwrap();
    }
    let mut seen = vec![0; 1 << 17];
    for (number, other) in (0..locations.len()).zip((1..locations.len()).chain([0])) {
        let ChunkLocation::At { at, len, .. } = blob.now().0[other] else { unreachable!() };
        let len = len as usize;
        seen[number * 4096..][..len].copy_from_slice(&old[at as usize..][..len]);
    }
    let stale = Stale { now: plain, seen: Mutex::new(seen) };
    let index = LateIndex::at(Arc::new(Table(locations, SMALL.chunks[1], 0)));
    let chunks = Chunks::new(SMALL.chunk.to_vec(), Arc::new(index), chunks.chain.clone(), []);
    let array = Array { layout: Layout::Chunked(chunks), ..array };
    for _ in 0..4 {
        let sel = Selection::slab(&[1, 7], &[1, 9]);
        assert_eq!(values(&stale, &array, &sel).unwrap(), wanted(&sel));
    }
}
