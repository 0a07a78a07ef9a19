//! Blocks that somebody moves while they are read: old places get the bytes of others.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ferrocdf_array::{
    Array, BlockIndex, BlockStore, Blocks, Fit, Kind, LastLook, Layout, Out, PastEnd, Place, Selection,
    Stored, copy_blocks, flush, read,
};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob};

use crate::engine::selection;

/// The shape of an array in blocks, and of a block.
#[derive(Clone, Copy, Debug)]
struct Grid {
    blocks: [u64; 2],
    block: [u64; 2],
}

const SMALL: Grid = Grid { blocks: [4, 5], block: [3, 40] };

/// More rows than memory is split into.
const NARROW: Grid = Grid { blocks: [30, 2], block: [4000, 4] };

/// More than is read twice for what may have been read ahead.
const LARGE: Grid = Grid { blocks: [8, 2], block: [300, 200] };

/// Where all blocks lie, and how many there are in a row; the number of this look.
#[derive(Clone, Debug)]
struct Table(Vec<Place>, u64, u64);

impl BlockIndex for Table {
    fn look(&self) -> u64 {
        self.2
    }

    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        let row = |y: u64| (first[1]..first[1] + count[1]).map(move |x| (y * self.1 + x) as usize);
        Ok((first[0]..first[0] + count[0]).flat_map(row).map(|number| self.0[number]).collect())
    }
}

/// A blob in which blocks are moved now and then while it is read, and their index.
#[derive(Debug)]
struct Restless {
    blob: Counting<Arc<MemoryBlob>>,
    plain: Arc<MemoryBlob>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rng: Rng,
    table: Arc<Table>,
    /// The table that was asked for last.
    seen: Arc<Table>,
    /// Moves to come, one in so many reads.
    moves: usize,
    often: u64,
    /// Whether there are bytes in old places that no filter takes.
    spoils: bool,
    grid: Grid,
    chain: Arc<Chain>,
    /// Whether blocks get new values, there and back between two places of each, while they are read.
    rewrites: bool,
    /// The place of each block that it had before, if that has room for it, and how often it got new values.
    before: Vec<Option<(u64, u64)>>,
    versions: Vec<u64>,
}

impl State {
    /// Puts a block somewhere else, and another thing in its place.
    fn move_one(&mut self, blob: &MemoryBlob) {
        let (number, other) = (self.rng.index(self.table.0.len()), self.rng.index(self.table.0.len()));
        let (Place::At { at, len, mask }, Place::At { at: from, len: other, .. }) =
            (self.table.0[number], self.table.0[other])
        else {
            return;
        };
        let end = blob.size().unwrap();
        let (mut block, mut instead) = (vec![0; len as usize], vec![0; other.min(len) as usize]);
        blob.read_exact_at(at, &mut block).unwrap();
        blob.read_exact_at(from, &mut instead).unwrap();
        blob.write_at(end, &block).unwrap();
        if self.spoils && self.rng.once_in(2) {
            instead.fill(0xff);
        }
        blob.write_at(at, &instead).unwrap();
        self.place(number, Place::At { at: end, len, mask });
    }

    /// Gives a block new values, where it was before if they fit there.
    fn rewrite(&mut self, blob: &MemoryBlob, number: usize) {
        self.versions[number] += 1;
        let (mut bytes, plain) = (vec![], self.grid.bytes(number as u64, self.versions[number]));
        let mask = self.chain.encode(&plain, &mut bytes).unwrap();
        let len = bytes.len() as u64;
        let at = self.before[number].filter(|before| before.1 >= len).map(|before| before.0);
        let at = at.unwrap_or_else(|| blob.size().unwrap());
        blob.write_at(at, &bytes).unwrap();
        self.place(number, Place::At { at, len, mask });
    }

    fn place(&mut self, number: usize, place: Place) {
        let mut places = self.table.0.clone();
        let old = std::mem::replace(&mut places[number], place);
        let Place::At { at, len, .. } = old else { unreachable!() };
        self.before[number] = Some((at, len));
        self.table = Arc::new(Table(places, self.table.1, self.table.2 + 1));
    }

    /// Does one or the other, and one that is rewritten may be where it was then.
    fn change(&mut self, blob: &MemoryBlob) {
        if !self.rewrites || self.rng.once_in(4) {
            return self.move_one(blob);
        }
        let number = self.rng.index(self.versions.len());
        (0..1 + self.rng.below(2)).for_each(|_| self.rewrite(blob, number));
    }
}

impl Restless {
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

impl Blob for Restless {
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
        "restless".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }
}

#[derive(Debug)]
struct Index(Arc<Restless>);

impl BlockIndex for Index {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.0.now().locate(first, count)
    }

    fn last(&self) -> Option<LastLook> {
        let state = self.0.state.lock().unwrap();
        Some(LastLook { index: state.seen.clone(), is_restless: state.seen.2 > 0 })
    }

    fn now(&self) -> Result<Option<Arc<dyn BlockIndex>>> {
        let mut state = self.0.state.lock().unwrap();
        state.seen = state.table.clone();
        Ok(Some(state.seen.clone()))
    }
}

const STORED: Stored = Stored::native(Kind::U16);

fn value(y: u64, x: u64) -> u16 {
    (y * 1000 + x) as u16
}

/// The same after so many times that the block got new values: no two side by side are those of other versions or blocks.
fn newer(value: u16, version: u64) -> u16 {
    value.wrapping_mul((2 * version + 1) as u16)
}

impl Grid {
    /// The bytes of a block of a version.
    fn bytes(&self, number: u64, version: u64) -> Vec<u8> {
        let Grid { blocks, block } = *self;
        let [row, column] = [number / blocks[1], number % blocks[1]];
        let elements = (0..block[0]).flat_map(|y| (0..block[1]).map(move |x| [y, x]));
        let values = elements.map(|[y, x]| value(row * block[0] + y, column * block[1] + x));
        values.flat_map(|value| newer(value, version).to_ne_bytes()).collect()
    }

    /// Whether the values of a selection are, in each block, those of one version up to the newest.
    fn are_whole(&self, sel: &Selection, values: &[u16], newest: &[u64]) -> bool {
        let along = |dim: usize| (0..sel.count[dim]).map(move |at| sel.start[dim] + at * sel.stride[dim]);
        let at = along(0).flat_map(|y| along(1).map(move |x| [y, x]));
        let mut possible: Vec<Vec<u64>> = newest.iter().map(|&newest| (0..=newest).collect()).collect();
        for ([y, x], &found) in at.zip(values) {
            let number = y / self.block[0] * self.blocks[1] + x / self.block[1];
            possible[number as usize].retain(|&version| newer(value(y, x), version) == found);
        }
        possible.iter().all(|versions| !versions.is_empty())
    }
}

/// Filters that make blocks smaller.
fn packing() -> Arc<Chain> {
    let step = |id: u32, params: &[u32]| Step {
        id: id.into(),
        name: String::new(),
        optional: false,
        params: params.to_vec(),
    };
    Arc::new(Chain::new(vec![step(2, &[2]), step(1, &[1])], &Codecs::default()))
}

/// An array whose blocks are moved so many times, and its blob.
fn restless(grid: Grid, (seed, packed): (u64, bool), moves: usize, often: u64) -> (Arc<Restless>, Array) {
    let (blob, chain) = (MemoryBlob::default(), if packed { packing() } else { Arc::default() });
    let mut table = vec![];
    let Grid { blocks, block } = grid;
    let count = blocks[0] * blocks[1];
    for number in 0..count {
        let (mut bytes, at) = (vec![], blob.size().unwrap());
        let mask = chain.encode(&grid.bytes(number, 0), &mut bytes).unwrap();
        blob.write_at(at, &bytes).unwrap();
        table.push(Place::At { at, len: bytes.len() as u64, mask });
    }
    let (rng, table) = (Rng::new(seed), Arc::new(Table(table, blocks[1], 0)));
    let state = Mutex::new(State {
        rng,
        seen: table.clone(),
        table,
        moves,
        often,
        spoils: packed,
        grid,
        chain: chain.clone(),
        rewrites: false,
        before: vec![None; count as usize],
        versions: vec![0; count as usize],
    });
    let plain = Arc::new(blob);
    let blob = Arc::new(Restless { blob: Counting::new(plain.clone()), plain, state });
    // The last blocks reach beyond it.
    let shape = vec![blocks[0] * block[0] - 1, blocks[1] * block[1] - block[1] / 5];
    let layout = Layout::Blocks(Blocks::new(block.to_vec(), Arc::new(Index(blob.clone())), chain, []));
    (blob, Array { shape, stored: STORED, unusual: None, layout, past_end: PastEnd::Error })
}

/// The values of a selection, by [`value`].
fn wanted(sel: &Selection) -> Vec<u16> {
    let along = |dim: usize| (0..sel.count[dim]).map(move |at| sel.start[dim] + at * sel.stride[dim]);
    along(0).flat_map(|y| along(1).map(move |x| value(y, x))).collect()
}

fn values(blob: &dyn Blob, array: &Array, sel: &Selection) -> Result<Vec<u16>> {
    let mut values = vec![0u16; sel.elements().unwrap() as usize];
    assert_eq!(read(blob, array, sel, Out::new(&mut values))?, Fit::Exact);
    Ok(values)
}

#[test]
fn what_moves_while_it_is_read_is_read_where_it_is_then() {
    let mut rng = Rng::new(5);
    for seed in 0..300 {
        let (blob, array) = restless(SMALL, (seed, seed % 2 == 0), 60, 1 + rng.below(30));
        for _ in 0..20 {
            let sel = selection(&mut rng, &array.shape);
            assert!(values(&*blob, &array, &sel).unwrap() == wanted(&sel), "{seed}: {sel:?}");
        }
    }
    for seed in 0..10 {
        let (blob, array) = restless(NARROW, (seed, seed % 2 == 0), 10, 20);
        let sel = Selection::all(&array.shape);
        assert!(values(&*blob, &array, &sel).unwrap() == wanted(&sel), "{seed}");
    }
}

#[test]
fn what_gets_new_values_while_it_is_read_is_of_one_version_in_each_block() {
    let mut rng = Rng::new(6);
    let few = Grid { blocks: [1, 2], ..SMALL };
    for seed in 0..600 {
        let grid = rng.pick(&[SMALL, few]);
        let (blob, array) = restless(grid, (seed, seed % 2 == 0), 40, 1 + rng.below(9));
        blob.state.lock().unwrap().rewrites = true;
        for _ in 0..20 {
            let sel = selection(&mut rng, &array.shape);
            let values = values(&*blob, &array, &sel).unwrap();
            assert!(grid.are_whole(&sel, &values, &blob.versions()), "{seed}: {sel:?}");
        }
    }
    for seed in 0..20 {
        let grid = rng.pick(&[NARROW, LARGE]);
        let (blob, array) = restless(grid, (seed, seed % 3 == 0), 20, 4);
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
fn what_nobody_moved_is_read_once() {
    for grid in [NARROW, LARGE] {
        let (blob, array) = restless(grid, (1, false), 1, 1);
        let [blocks, block] = [grid.blocks, grid.block].map(|lens| lens[0] * lens[1]);
        // It moves in the first; in the others it is known to have moved.
        for reads in [2, 3, 4] {
            let sel = Selection::all(&array.shape);
            assert_eq!(values(&*blob, &array, &sel).unwrap(), wanted(&sel));
            assert_eq!(blob.blob.reads().1, reads * blocks * block * 2);
        }
    }
}

#[test]
fn a_kept_block_is_kept_anew_once_it_moved() {
    let (blob, array) = restless(SMALL, (1, true), 0, 1);
    let sel = Selection::slab(&[1, 7], &[1, 9]);
    for _ in 0..3 {
        // The second time it is kept.
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
fn what_moves_all_the_time_is_an_error_in_the_end() {
    let one = Grid { blocks: [1, 1], ..SMALL };
    let (blob, array) = restless(one, (1, false), usize::MAX, 1);
    let begin = Instant::now();
    let error = values(&*blob, &array, &Selection::all(&array.shape)).unwrap_err();
    assert_eq!(error.code, Code::EHDFERR);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// A store that puts blocks one behind another.
#[derive(Debug)]
struct Still {
    blob: Arc<MemoryBlob>,
    table: Mutex<Table>,
    end: AtomicU64,
    /// The allocation that fails, counted from 0.
    fails: AtomicUsize,
}

impl BlockIndex for Still {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.table.lock().unwrap().locate(first, count)
    }
}

impl BlockStore for Still {
    fn allocate(&self, _block: &[u64], len: u64) -> Result<u64> {
        if self.fails.fetch_sub(1, Relaxed) == 0 {
            return Err(Error::new(Code::EIO, "no place"));
        }
        Ok(self.end.fetch_add(len, Relaxed))
    }

    fn insert(&self, block: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        let mut table = self.table.lock().unwrap();
        let number = block[0] * table.1 + block[1];
        table.0[number as usize] = Place::At { at, len, mask };
        Ok(())
    }

    fn release(&self, _block: &[u64], _at: u64, _len: u64) {}

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.blob.clone()
    }
}

#[test]
fn what_moves_while_it_is_copied_is_copied_from_where_it_is_then() {
    for seed in 0..300 {
        let (blob, array) = restless(SMALL, (seed, seed % 2 == 0), 30, 1 + seed % 9);
        let (still, to) = target(SMALL, filters(&array, seed % 3 > 0), &array);
        let mut told = 0;
        assert!(copy_blocks((&*blob, &array), (&*still.blob, &to), &mut |bytes| told += bytes).unwrap());
        flush(&*still.blob, &to).unwrap();
        let sel = Selection::all(&array.shape);
        assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{seed}");
        assert_eq!(told, sel.elements().unwrap() * 2, "{seed}");
    }
}

/// A store for the blocks of a grid, and the array that they make in the shape of another.
fn target(grid: Grid, chain: Arc<Chain>, array: &Array) -> (Arc<Still>, Array) {
    let count = (grid.blocks[0] * grid.blocks[1]) as usize;
    let table = Mutex::new(Table(vec![Place::Missing; count], grid.blocks[1], 0));
    let still = Arc::new(Still {
        blob: Arc::default(),
        table,
        end: AtomicU64::default(),
        fails: AtomicUsize::new(usize::MAX),
    });
    let to = Blocks::stored(grid.block.to_vec(), still.clone(), chain, []);
    (still, Array { layout: Layout::Blocks(to), ..array.clone() })
}

/// The filters that copies of these blocks have: the same ones, which leave them unopened, or others.
fn filters(array: &Array, unopened: bool) -> Arc<Chain> {
    let Layout::Blocks(blocks) = &array.layout else { unreachable!() };
    match unopened {
        true => blocks.chain.clone(),
        false if blocks.chain.is_empty() => packing(),
        false => Arc::default(),
    }
}

#[test]
fn what_gets_new_values_while_it_is_copied_is_of_one_version_in_each_block() {
    for seed in 0..600 {
        let grid = if seed % 5 == 0 { SMALL } else { Grid { blocks: [1, 2], ..SMALL } };
        let (blob, array) = restless(grid, (seed, seed % 2 == 0), 40, 1 + seed % 9);
        blob.state.lock().unwrap().rewrites = true;
        let (still, to) = target(grid, filters(&array, seed % 3 > 0), &array);
        assert!(copy_blocks((&*blob, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
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

/// Large blocks of several batches, packed or not, with an index that is never the one of the last look.
fn batches(packed: bool) -> (Grid, Arc<Restless>, Array) {
    let grid = Grid { blocks: [20, 1], block: [1000, 1000] };
    let (blob, array) = restless(grid, (1, packed), 0, 1);
    let Layout::Blocks(blocks) = &array.layout else { unreachable!() };
    let index = Looked { changed: true, ..Looked::new(&blob) };
    let blocks = Blocks::new(grid.block.to_vec(), Arc::new(index), blocks.chain.clone(), []);
    (grid, blob, Array { layout: Layout::Blocks(blocks), ..array })
}

#[test]
fn a_copy_whose_target_fails_once_fails() {
    for (packed, unopened) in [(false, true), (false, false), (true, false)] {
        let (grid, blob, array) = batches(packed);
        // A write, or a place.
        for (write, place) in [(0, usize::MAX), (3, usize::MAX), (usize::MAX, 0), (usize::MAX, 12)] {
            let (still, to) = target(grid, filters(&array, unopened), &array);
            still.fails.store(place, Relaxed);
            let faulty = Faulty { blob: still.blob.clone(), fails: AtomicUsize::new(write) };
            let error = copy_blocks((&*blob.plain, &array), (&faulty, &to), &mut |_| ()).unwrap_err();
            assert_eq!(error.code, Code::EIO, "{packed} {unopened} {write} {place}");
        }
    }
}

#[test]
fn a_copy_whose_source_fails_once_is_whole() {
    for (packed, unopened) in [(false, true), (false, false), (true, false)] {
        let (grid, blob, array) = batches(packed);
        for fails in [0, 19, 21, 25, 39] {
            let (still, to) = target(grid, filters(&array, unopened), &array);
            let faulty = odd(&blob, |number, _, _| match number == fails {
                true => Err(Error::new(Code::EIO, "not now")),
                false => Ok(()),
            });
            assert!(copy_blocks((&faulty, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
            flush(&*still.blob, &to).unwrap();
            let sel = Selection::all(&array.shape);
            assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{packed} {unopened} {fails}");
        }
    }
}

/// A blob that does something after its reads, counted from 0.
struct Odd<F>(Counting<Arc<MemoryBlob>>, F, AtomicUsize);

impl<F: Fn(usize, u64, &mut [u8]) -> Result<()> + Send + Sync> Blob for Odd<F> {
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

fn odd<F: Fn(usize, u64, &mut [u8]) -> Result<()>>(blob: &Restless, act: F) -> Odd<F> {
    Odd(Counting::new(blob.plain.clone()), act, AtomicUsize::new(0))
}

#[test]
fn what_was_written_over_and_lies_there_again_is_read_until_two_reads_agree() {
    for (grid, changed) in [(SMALL, false), (SMALL, true), (NARROW, false), (NARROW, true), (LARGE, true)] {
        let (blob, array) = restless(grid, (1, false), 0, 1);
        let index = Arc::new(Looked { changed, ..Looked::new(&blob) });
        let blocks = Blocks::new(grid.block.to_vec(), index, Arc::default(), []);
        let array = Array { layout: Layout::Blocks(blocks), ..array };
        // The first try is marked if it is known to change. In the first marked one a block is half-way.
        let [blocks, block] = [grid.blocks, grid.block].map(|lens| lens[0] * lens[1]);
        let first = if changed { 0 } else { 1 };
        let tries = AtomicUsize::new(0);
        let half = odd(&blob, |_, at, into| {
            if at == 0 && tries.fetch_add(1, Relaxed) == first {
                into[64..128].fill(0xee);
            }
            Ok(())
        });
        let sel = Selection::all(&array.shape);
        assert!(values(&half, &array, &sel).unwrap() == wanted(&sel), "{grid:?} {changed}");
        // The others twice, that one three times.
        assert_eq!(half.0.reads().1, ((first as u64 + 2) * blocks + 1) * block * 2, "{grid:?} {changed}");
        for unopened in [true, false] {
            let tries = AtomicUsize::new(0);
            let half = odd(&blob, |_, at, into| {
                if at == 0 && tries.fetch_add(1, Relaxed) == first {
                    into[64..128].fill(0xee);
                }
                Ok(())
            });
            let (still, to) = target(grid, filters(&array, unopened), &array);
            assert!(copy_blocks((&half, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
            flush(&*still.blob, &to).unwrap();
            assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{grid:?} {changed}");
            assert_eq!(half.0.reads().1, ((first as u64 + 2) * blocks + 1) * block * 2, "{grid:?} {changed}");
        }
    }
}

#[test]
fn what_is_slow_to_read_is_read_as_often_as_it_needs() {
    let (blob, array) = restless(SMALL, (1, false), 0, 1);
    let blocks = Blocks::new(SMALL.block.to_vec(), Arc::new(Looked::new(&blob)), Arc::default(), []);
    let array = Array { layout: Layout::Blocks(blocks), ..array };
    // The second of three takes longer than patience lasts.
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

/// A blob that shows what it was when it was told to forget the last time.
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

/// An index that is not the one of the last look any more, although nothing moved.
#[derive(Debug)]
struct Looked {
    table: Mutex<Arc<Table>>,
    /// Whether that is known.
    changed: bool,
}

impl Looked {
    fn at(table: Arc<Table>) -> Looked {
        Looked { table: Mutex::new(table), changed: false }
    }

    fn new(blob: &Restless) -> Looked {
        Looked::at(blob.now())
    }
}

impl BlockIndex for Looked {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.table.lock().unwrap().locate(first, count)
    }

    fn last(&self) -> Option<LastLook> {
        Some(LastLook { index: self.table.lock().unwrap().clone(), is_restless: self.changed })
    }

    fn now(&self) -> Result<Option<Arc<dyn BlockIndex>>> {
        let mut last = self.table.lock().unwrap();
        *last = Arc::new(Table(last.0.clone(), last.1, last.2 + 1));
        Ok(Some(last.clone()))
    }
}

#[test]
fn what_was_read_ahead_before_a_change_is_not_taken_for_what_is_there_now() {
    for grid in [SMALL, NARROW, LARGE] {
        let (blob, array) = restless(grid, (1, false), 0, 1);
        let stale = Stale { now: MemoryBlob::new(blob.plain.to_bytes()), seen: Mutex::new(vec![0; 1 << 22]) };
        let blocks = Blocks::new(grid.block.to_vec(), Arc::new(Looked::new(&blob)), Arc::default(), []);
        let array = Array { layout: Layout::Blocks(blocks), ..array };
        let sel = Selection::all(&array.shape);
        assert!(values(&stale, &array, &sel).unwrap() == wanted(&sel), "{grid:?}");
        // Copied as well.
        stale.seen.lock().unwrap().fill(0);
        let (still, to) = target(grid, Arc::default(), &array);
        assert!(copy_blocks((&stale, &array), (&*still.blob, &to), &mut |_| ()).unwrap());
        flush(&*still.blob, &to).unwrap();
        assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{grid:?}");
    }
}

#[test]
fn what_was_read_ahead_before_a_change_is_not_kept() {
    let (blob, array) = restless(SMALL, (1, true), 0, 1);
    let Layout::Blocks(blocks) = &array.layout else { unreachable!() };
    // What is there: all other blocks, in the places of these.
    let mut places = blob.now().0.clone();
    let old = blob.plain.to_bytes();
    let plain = MemoryBlob::new(old.clone());
    for (number, place) in places.iter_mut().enumerate() {
        let Place::At { at, len, mask } = *place else { unreachable!() };
        let mut bytes = vec![0; len as usize];
        plain.read_exact_at(at, &mut bytes).unwrap();
        let at = number as u64 * 4096;
        *place = Place::At { at, len, mask };
        plain.write_at(at, &bytes).unwrap();
    }
    let mut seen = vec![0; 1 << 17];
    for (number, other) in (0..places.len()).zip((1..places.len()).chain([0])) {
        let Place::At { at, len, .. } = blob.now().0[other] else { unreachable!() };
        let len = len as usize;
        seen[number * 4096..][..len].copy_from_slice(&old[at as usize..][..len]);
    }
    let stale = Stale { now: plain, seen: Mutex::new(seen) };
    let index = Looked::at(Arc::new(Table(places, SMALL.blocks[1], 0)));
    let blocks = Blocks::new(SMALL.block.to_vec(), Arc::new(index), blocks.chain.clone(), []);
    let array = Array { layout: Layout::Blocks(blocks), ..array };
    for _ in 0..4 {
        let sel = Selection::slab(&[1, 7], &[1, 9]);
        assert_eq!(values(&stale, &array, &sel).unwrap(), wanted(&sel));
    }
}
