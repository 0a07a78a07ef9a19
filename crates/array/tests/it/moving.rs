//! Blocks that somebody moves while they are read: old places get the bytes of others.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ferrocdf_array::{
    Array, BlockIndex, BlockStore, Blocks, Fit, Kind, Layout, Out, PastEnd, Place, Selection, Stored,
    copy_blocks, flush, read,
};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, BlobMut, MemoryBlob};

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
        let mut places = self.table.0.clone();
        places[number] = Place::At { at: end, len, mask };
        self.table = Arc::new(Table(places, self.table.1, self.table.2 + 1));
    }
}

impl Restless {
    fn now(&self) -> Arc<Table> {
        self.state.lock().unwrap().table.clone()
    }

    fn turn(&self) {
        let mut state = self.state.lock().unwrap();
        let often = state.often;
        if state.moves > 0 && state.rng.once_in(often) {
            state.moves -= 1;
            state.move_one(&self.plain);
        }
    }
}

impl Blob for Restless {
    fn size(&self) -> Result<u64> {
        self.blob.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.turn();
        let done = self.blob.read_at(at, into);
        self.turn();
        done
    }

    fn name(&self) -> String {
        "restless".to_string()
    }
}

#[derive(Debug)]
struct Index(Arc<Restless>);

impl BlockIndex for Index {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.0.now().locate(first, count)
    }

    fn last(&self) -> Option<Arc<dyn BlockIndex>> {
        let state = self.0.state.lock().unwrap();
        Some(state.seen.clone())
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

/// An array whose blocks are moved so many times, and its blob.
fn restless(grid: Grid, (seed, packed): (u64, bool), moves: usize, often: u64) -> (Arc<Restless>, Array) {
    let step =
        |id, params: &[u32]| Step { id, name: String::new(), optional: false, params: params.to_vec() };
    let steps = if packed { vec![step(2, &[2]), step(1, &[1])] } else { vec![] };
    let (blob, chain) = (MemoryBlob::default(), Arc::new(Chain::new(steps)));
    let mut table = vec![];
    let Grid { blocks, block } = grid;
    for at in (0..blocks[0]).flat_map(|y| (0..blocks[1]).map(move |x| [y, x])) {
        let elements = (0..block[0]).flat_map(|y| (0..block[1]).map(move |x| [y, x]));
        let values = elements.map(|[y, x]| value(at[0] * block[0] + y, at[1] * block[1] + x));
        let plain: Vec<u8> = values.flat_map(u16::to_ne_bytes).collect();
        let (mut bytes, at) = (vec![], blob.size().unwrap());
        let mask = chain.encode(&plain, &mut bytes).unwrap();
        blob.write_at(at, &bytes).unwrap();
        table.push(Place::At { at, len: bytes.len() as u64, mask });
    }
    let (rng, table) = (Rng::new(seed), Arc::new(Table(table, blocks[1], 0)));
    let state = Mutex::new(State { rng, seen: table.clone(), table, moves, often, spoils: packed });
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
fn of_much_only_what_moved_is_read_again() {
    for grid in [NARROW, LARGE] {
        let (blob, array) = restless(grid, (1, false), 1, 1);
        let sel = Selection::all(&array.shape);
        assert_eq!(values(&*blob, &array, &sel).unwrap(), wanted(&sel));
        assert_eq!(blob.state.lock().unwrap().moves, 0);
        let [blocks, block] = [grid.blocks, grid.block].map(|lens| lens[0] * lens[1]);
        assert_eq!(blob.blob.reads().1, (blocks + 1) * block * 2);
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
    let (blob, array) = restless(SMALL, (1, false), usize::MAX, 1);
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
}

impl BlockIndex for Still {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.table.lock().unwrap().locate(first, count)
    }
}

impl BlockStore for Still {
    fn place(&self, block: &[u64], len: u64, mask: u32) -> Result<u64> {
        let mut table = self.table.lock().unwrap();
        let end = |place: &Place| match *place {
            Place::At { at, len, .. } => at + len,
            Place::Missing => 0,
        };
        let at = table.0.iter().map(end).max().unwrap_or(0);
        let number = block[0] * table.1 + block[1];
        table.0[number as usize] = Place::At { at, len, mask };
        Ok(at)
    }

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.blob.clone()
    }
}

#[test]
fn what_moves_while_it_is_copied_is_copied_from_where_it_is_then() {
    for seed in 0..300 {
        let (blob, array) = restless(SMALL, (seed, seed % 2 == 0), 30, 1 + seed % 9);
        let Layout::Blocks(from) = &array.layout else { unreachable!() };
        let table = Mutex::new(Table(vec![Place::Missing; 20], SMALL.blocks[1], 0));
        let still = Arc::new(Still { blob: Arc::default(), table });
        // Unopened, or packed anew.
        let chain = if seed % 3 == 0 { Arc::default() } else { from.chain.clone() };
        let to = Blocks::stored(SMALL.block.to_vec(), still.clone(), chain, []);
        let to = Array { layout: Layout::Blocks(to), ..array.clone() };
        let mut told = 0;
        assert!(copy_blocks((&*blob, &array), (&*still.blob, &to), &mut |bytes| told += bytes).unwrap());
        flush(&*still.blob, &to).unwrap();
        let sel = Selection::all(&array.shape);
        assert!(values(&*still.blob, &to, &sel).unwrap() == wanted(&sel), "{seed}");
        assert_eq!(told, sel.elements().unwrap() * 2, "{seed}");
    }
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

    fn forget(&self) {
        *self.seen.lock().unwrap() = self.now.to_bytes();
    }
}

/// An index that is not the one of the last look any more, although nothing moved.
#[derive(Debug)]
struct Looked(Mutex<Arc<Table>>);

impl BlockIndex for Looked {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        self.0.lock().unwrap().locate(first, count)
    }

    fn last(&self) -> Option<Arc<dyn BlockIndex>> {
        Some(self.0.lock().unwrap().clone())
    }

    fn now(&self) -> Result<Option<Arc<dyn BlockIndex>>> {
        let mut last = self.0.lock().unwrap();
        *last = Arc::new(Table(last.0.clone(), last.1, last.2 + 1));
        Ok(Some(last.clone()))
    }
}

#[test]
fn what_was_read_ahead_before_a_change_is_not_taken_for_what_is_there_now() {
    for grid in [SMALL, NARROW, LARGE] {
        let (blob, array) = restless(grid, (1, false), 0, 1);
        let stale = Stale { now: MemoryBlob::new(blob.plain.to_bytes()), seen: Mutex::new(vec![0; 1 << 22]) };
        let blocks =
            Blocks::new(grid.block.to_vec(), Arc::new(Looked(Mutex::new(blob.now()))), Arc::default(), []);
        let array = Array { layout: Layout::Blocks(blocks), ..array };
        let sel = Selection::all(&array.shape);
        assert!(values(&stale, &array, &sel).unwrap() == wanted(&sel), "{grid:?}");
        // Copied as well.
        stale.seen.lock().unwrap().fill(0);
        let count = (grid.blocks[0] * grid.blocks[1]) as usize;
        let table = Mutex::new(Table(vec![Place::Missing; count], grid.blocks[1], 0));
        let still = Arc::new(Still { blob: Arc::default(), table });
        let to = Blocks::stored(grid.block.to_vec(), still.clone(), Arc::default(), []);
        let to = Array { layout: Layout::Blocks(to), ..array.clone() };
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
    let index = Looked(Mutex::new(Arc::new(Table(places, SMALL.blocks[1], 0))));
    let blocks = Blocks::new(SMALL.block.to_vec(), Arc::new(index), blocks.chain.clone(), []);
    let array = Array { layout: Layout::Blocks(blocks), ..array };
    for _ in 0..4 {
        let sel = Selection::slab(&[1, 7], &[1, 9]);
        assert_eq!(values(&stale, &array, &sel).unwrap(), wanted(&sel));
    }
}
