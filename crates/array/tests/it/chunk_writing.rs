//! Writing chunks, compared with an oracle that writes to plain memory.

use std::collections::{HashMap, HashSet};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ferrocdf_array::{
    Array, ChunkIndex, ChunkLocation, ChunkStore, Chunks, ElementDecoder, In, Kind, Layout, Out, PastEnd,
    Selection, Stored, copy_chunks, fill, flush, oracle, read, write,
};
use ferrocdf_bytes::{Code, Error, Order, Result, errno};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_store::testing::{Counting, Failing, Faults, Rng};
use ferrocdf_store::{Blob, BlobMut, MemoryBlob};

use crate::engine::{NUMBERS, bytes, cost, map, selection};

/// A chunk store that allocates chunks one behind another, with gaps.
#[derive(Debug, Default)]
pub struct GappyChunkStore {
    blob: Arc<MemoryBlob>,
    locations: Mutex<HashMap<Vec<u64>, ChunkLocation>>,
    /// Chunks that may be overwritten in place.
    uncommitted: Mutex<HashSet<Vec<u64>>>,
    end: AtomicU64,
    gap: u64,
    /// Number of inserted chunks. `fails`: true if allocations fail.
    placed: AtomicU64,
    fails: AtomicBool,
    /// Chunks that were allocated and not written.
    released: AtomicU64,
    fixed: Vec<usize>,
}

impl GappyChunkStore {
    /// Returns a store that leaves a gap of fewer than `gap` bytes before each chunk.
    pub fn with_gap(gap: u64) -> GappyChunkStore {
        GappyChunkStore { gap, ..GappyChunkStore::default() }
    }

    /// Returns all bytes of the blob.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.blob.size().unwrap() as usize];
        self.blob.read_exact_at(0, &mut bytes).unwrap();
        bytes
    }

    fn location_of(&self, chunk: &[u64]) -> ChunkLocation {
        self.locations.lock().unwrap().get(chunk).copied().unwrap_or_default()
    }

    /// Makes all stored chunks part of the committed state.
    fn commit(&self) {
        self.uncommitted.lock().unwrap().clear();
    }
}

impl ChunkIndex for GappyChunkStore {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let location = |number: u64| {
            let mut rest = number;
            let mut at = first.to_vec();
            for dim in (0..first.len()).rev() {
                at[dim] += rest % count[dim];
                rest /= count[dim];
            }
            self.location_of(&at)
        };
        Ok((0..count.iter().product()).map(location).collect())
    }
}

impl ChunkStore for GappyChunkStore {
    fn allocate(&self, chunk: &[u64], len: u64) -> Result<u64> {
        if self.fails.load(Relaxed) {
            return Err(Error::new(errno::NOSPC, "the shelf is full"));
        }
        let gap = if self.gap > 0 { (len + chunk.iter().sum::<u64>()) % self.gap } else { 0 };
        Ok(self.end.fetch_add(len + gap, Relaxed) + gap)
    }

    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        self.placed.fetch_add(1, Relaxed);
        self.locations.lock().unwrap().insert(chunk.to_vec(), ChunkLocation::At { at, len, mask });
        self.uncommitted.lock().unwrap().insert(chunk.to_vec());
        Ok(())
    }

    fn release(&self, _chunk: &[u64], _at: u64, _len: u64) {
        self.released.fetch_add(1, Relaxed);
    }

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.blob.clone()
    }

    fn uncommitted_position(&self, chunk: &[u64]) -> Option<u64> {
        match self.location_of(chunk) {
            ChunkLocation::At { at, .. } if self.uncommitted.lock().unwrap().contains(chunk) => Some(at),
            _ => None,
        }
    }

    fn can_grow(&self, dim: usize) -> bool {
        !self.fixed.contains(&dim)
    }
}

fn step(id: u32, params: &[u32]) -> Step {
    Step { id: id.into(), name: String::new(), optional: id == 4, params: params.to_vec() }
}

fn chain(rng: &mut Rng, size: usize) -> Chain {
    Chain::new(
        match rng.below(6) {
            0 | 1 => vec![],
            2 => vec![step(1, &[1])],
            5 => vec![step(2, &[size as u32]), step(1, &[1])],
            3 => vec![step(3, &[]), step(2, &[size as u32]), step(1, &[4])],
            // Szip with parameters that suit no chunk: the optional filter is not applied, and the filter mask says so.
            _ => vec![step(4, &[1, 2, 3, 4, 5]), step(2, &[size as u32])],
        },
        &Codecs::default(),
    )
}

/// A chunked array, and its expected content: a contiguous array in memory, as large as the chunked array may become.
struct Case {
    shelf: Arc<GappyChunkStore>,
    array: Array,
    wanted: (MemoryBlob, Array),
}

impl Case {
    fn new(rng: &mut Rng, most: u64) -> Case {
        let rank = rng.below(5) as usize;
        let mut left = most;
        let (mut largest, mut shape, mut chunk, mut fixed) = (vec![], vec![], vec![], vec![]);
        for dim in 0..rank {
            let most = if rng.once_in(3) { left } else { left.min(9) };
            let len = 1 + rng.below(most);
            left = (left / len).max(1);
            let grows = rng.once_in(2);
            if !grows {
                fixed.push(dim);
            }
            largest.push(len);
            shape.push(if grows { rng.below(len + 1) } else { len });
            chunk.push(match rng.below(4) {
                0 => 1,
                1 => len + rng.below(3),
                _ => 1 + rng.below(len),
            });
        }
        let stored = Stored { kind: rng.pick(&NUMBERS), order: rng.pick(&[Order::Big, Order::Little]) };
        let chain = chain(rng, stored.kind.size());
        let fill = if rng.once_in(3) { vec![] } else { bytes(rng, stored, 1) };
        let shelf = Arc::new(GappyChunkStore {
            fixed,
            gap: rng.pick(&[0, 0, 7, 5000]),
            ..GappyChunkStore::default()
        });
        let chunks = Chunks::writable(chunk, shelf.clone(), Arc::new(chain), fill.clone());
        let layout = Layout::Chunked(chunks);
        let array = Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
        let elements = largest.iter().product::<u64>() as usize;
        let fill = if fill.is_empty() { vec![0; stored.kind.size()] } else { fill };
        let wanted = Array::contiguous(largest, stored, 0).unwrap();
        Case { shelf, array, wanted: (MemoryBlob::new(fill.repeat(elements)), wanted) }
    }

    fn write(&self, rng: &mut Rng) {
        let sel = selection(rng, &self.array.shape);
        let cost = cost(sel.elements().unwrap());
        let (blob, array) = (&Counting::new(&*self.shelf.blob).with_cost(cost), &self.array);
        if rng.once_in(8) {
            let value = bytes(rng, array.stored, 1);
            fill(blob, array, &sel, &value).unwrap();
            return oracle::fill(&self.wanted.0, &self.wanted.1, &sel, &value).unwrap();
        }
        let memory = if rng.once_in(2) { array.stored.kind } else { rng.pick(&NUMBERS) };
        let (map, memory_len) = map(rng, &sel);
        let content = bytes(rng, Stored::native(memory), memory_len);
        let mut input = In::raw(memory, &content);
        if let Some((steps, origin)) = &map {
            input = input.mapped(*origin, steps);
        }
        if rng.once_in(2) {
            input = input.cast();
        }
        let fit = write(blob, array, &sel, input).unwrap();
        let wanted = oracle::write(&self.wanted.0, &self.wanted.1, &sel, input).unwrap();
        assert_eq!(fit, wanted, "{array:?} {sel:?} from {memory:?} {map:?}");
    }

    fn check(&self, sel: &Selection) {
        let array = &self.array;
        let kind = array.stored.kind;
        let len = sel.elements().unwrap() as usize * kind.size();
        let (mut is, mut should) = (vec![1; len], vec![2; len]);
        let _ = read(&self.shelf.blob, array, sel, Out::raw(kind, &mut is)).unwrap();
        let _ = oracle::read(&self.wanted.0, &self.wanted.1, sel, Out::raw(kind, &mut should)).unwrap();
        assert!(is == should, "{array:?} {sel:?}: {is:?} and not {should:?}");
    }

    /// Checks all stored elements, also those of edge chunks beyond the array.
    fn check_stored(&self) {
        let Layout::Chunked(chunks) = &self.array.layout else { return };
        let (shape, size) = (&chunks.shape, self.array.stored.kind.size());
        let grid: Vec<u64> =
            self.array.shape.iter().zip(shape).map(|(len, chunk)| len.next_multiple_of(*chunk)).collect();
        let whole = Array { shape: grid.clone(), ..self.array.clone() };
        let kind = whole.stored.kind;
        let mut is = vec![0; grid.iter().product::<u64>() as usize * size];
        let all = Selection::all(&grid);
        let _ = oracle::read(&self.shelf.blob, &whole, &all, Out::raw(kind, &mut is)).unwrap();
        let fill = if chunks.fill.is_empty() { vec![0; size] } else { chunks.fill.to_vec() };
        let (should, wanted) = (MemoryBlob::new(fill.repeat(is.len() / size)), &self.wanted);
        let padded = Array::contiguous(grid, whole.stored, 0).unwrap();
        let inside = Selection::all(&self.array.shape);
        let mut known = vec![0; inside.elements().unwrap() as usize * size];
        let _ = oracle::read(&wanted.0, &wanted.1, &inside, Out::raw(kind, &mut known)).unwrap();
        let _ = oracle::write(&should, &padded, &inside, In::raw(kind, &known)).unwrap();
        let mut expected = vec![0; is.len()];
        let _ = oracle::read(&should, &padded, &all, Out::raw(kind, &mut expected)).unwrap();
        assert!(is == expected, "{:?}", self.array);
    }
}

/// Returns the seed that the parent process gave if [`elsewhere`] started this one, else `own`.
fn seed(own: u64) -> u64 {
    std::env::var("WRITING_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(own)
}

#[test]
fn any_sequence_of_writes_equals_the_oracle() {
    let mut rng = Rng::new(seed(21));
    let cases = if cfg!(debug_assertions) { 800 } else { 10_000 };
    // Another array with pending chunks within the same budget.
    let mut other = Case::new(&mut rng, 200);
    for number in 0..cases {
        let large = number % 200 == 199;
        let mut case = Case::new(&mut rng, if large { 300_000 } else { 300 });
        for _ in 0..if large { 3 } else { 2 + rng.below(12) } {
            match rng.below(10) {
                0 => flush(&case.shelf.blob, &case.array).unwrap(),
                1 => {
                    flush(&case.shelf.blob, &case.array).unwrap();
                    case.shelf.commit();
                }
                2 => {
                    // As if the file was closed and opened again.
                    flush(&case.shelf.blob, &case.array).unwrap();
                    let Layout::Chunked(old) = &case.array.layout else { unreachable!() };
                    let (shape, shelf) = (old.shape.clone(), case.shelf.clone());
                    let new = Chunks::writable(shape, shelf, old.chain.clone(), old.fill.clone());
                    case.array.layout = Layout::Chunked(new);
                }
                3 => {
                    let largest = &case.wanted.1.shape;
                    for (len, &most) in case.array.shape.iter_mut().zip(largest) {
                        *len += rng.below(most - *len + 1);
                    }
                }
                4 => other.write(&mut rng),
                _ => case.write(&mut rng),
            }
            let sel = selection(&mut rng, &case.array.shape);
            case.check(&sel);
        }
        case.check(&Selection::all(&case.array.shape));
        flush(&case.shelf.blob, &case.array).unwrap();
        if !large {
            case.check_stored();
        }
        if rng.once_in(50) {
            other.check(&Selection::all(&other.array.shape));
            flush(&other.shelf.blob, &other.array).unwrap();
            other.check_stored();
            other = Case::new(&mut rng, 200);
        }
    }
}

/// Runs a test of this module in a process of its own. Returns the rest of the line that it prints after "answer ".
fn elsewhere(test: &str, settings: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("chunk_writing::{test}"), "--nocapture", "--include-ignored"]);
    let output = command.envs(settings.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{settings:?}: {text} {errors}");
    let answer = text.split_once("answer ").map_or("", |(_, rest)| rest.lines().next().unwrap_or(""));
    answer.to_string()
}

#[test]
fn small_budgets_do_not_change_results() {
    for (number, budget) in ["0", "50", "700", "5000", "100000"].into_iter().enumerate() {
        let seed = (100 + number).to_string();
        let threads = if number % 2 == 0 { "2" } else { "1" };
        let settings = [("FERROCDF_CACHE", budget), ("WRITING_SEED", &*seed), ("FERROCDF_THREADS", threads)];
        elsewhere("any_sequence_of_writes_equals_the_oracle", &settings);
    }
}

/// Writes arrays as a whole, row by row and in groups of columns; prints a checksum of all bytes and positions.
#[test]
#[ignore = "run by another test"]
fn a_fixed_program() {
    let mut rng = Rng::new(5);
    let mut sum = 0u64;
    for number in 0..6 {
        let (rows, columns) = (400u64, 1000u64);
        let shelf = Arc::new(GappyChunkStore { gap: 3, fixed: vec![1], ..GappyChunkStore::default() });
        let steps = if number % 3 == 0 { vec![] } else { vec![step(2, &[4]), step(1, &[1])] };
        let chunks = Chunks::writable(
            vec![40, 90],
            shelf.clone(),
            Arc::new(Chain::new(steps, &Codecs::default())),
            vec![0, 0, 1, 2],
        );
        let (stored, layout) = (Stored::little(Kind::F32), Layout::Chunked(chunks));
        let shape = vec![rows, columns];
        let array = Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
        let data: Vec<f32> = (0..rows * columns).map(|n| (n / 7 + rng.below(4)) as f32).collect();
        let slabs: Vec<Selection> = match number % 3 {
            0 => vec![Selection::all(&array.shape)],
            1 => (0..rows).map(|row| Selection::slab(&[row, 0], &[1, columns])).collect(),
            _ => (0..10).map(|n| Selection::slab(&[0, n * 100], &[rows, 100])).collect(),
        };
        for sel in slabs {
            let elements = sel.elements().unwrap() as usize;
            let _ = write(&shelf.blob, &array, &sel, In::new(&data[..elements])).unwrap();
        }
        flush(&shelf.blob, &array).unwrap();
        for byte in shelf.blob.to_bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
        for at in 0..20 {
            let ChunkLocation::At { at, .. } = shelf.location_of(&[at % 10, at % 12]) else { panic!("{at}") };
            sum = (sum ^ at).wrapping_mul(0x100_0000_01B3);
        }
    }
    println!("answer {sum}");
}

#[test]
fn stored_bytes_do_not_depend_on_the_number_of_threads() {
    for budget in ["100000", "100000000"] {
        let run = |threads| {
            let settings = [("FERROCDF_CACHE", budget), ("FERROCDF_THREADS", threads)];
            elsewhere("a_fixed_program", &settings)
        };
        let one = run("1");
        assert!(!one.is_empty());
        assert_eq!((run("2"), run("5")), (one.clone(), one), "{budget}");
    }
}

/// Returns an array of bytes that can grow, in chunks of 1000 bytes with deflate.
fn rows(shelf: &Arc<GappyChunkStore>, rows: u64) -> Array {
    let chain = Arc::new(Chain::new(vec![step(1, &[1])], &Codecs::default()));
    let layout = Layout::Chunked(Chunks::writable(vec![10, 100], shelf.clone(), chain, vec![7]));
    let stored = Stored::little(Kind::U8);
    Array { shape: vec![rows, 250], stored, decoder: None, layout, past_end: PastEnd::Error }
}

#[test]
fn appended_steps_encode_each_chunk_once() {
    let shelf = Arc::new(GappyChunkStore { fixed: vec![1], ..GappyChunkStore::default() });
    let mut array = rows(&shelf, 0);
    for row in 0..95u64 {
        array.shape[0] = row + 1;
        let data = [row as u8; 250];
        let _ = write(&shelf.blob, &array, &Selection::slab(&[row, 0], &[1, 250]), In::new(&data)).unwrap();
        assert_eq!(shelf.placed.load(Relaxed), (row + 1) / 10 * 3);
    }
    flush(&shelf.blob, &array).unwrap();
    flush(&shelf.blob, &array).unwrap();
    assert_eq!(shelf.placed.load(Relaxed), 30);
    // Elements of the last chunks beyond the array have the fill value.
    array.shape[0] = 100;
    let mut last = [0u8; 1250];
    let _ = oracle::read(&shelf.blob, &array, &Selection::slab(&[95, 0], &[5, 250]), Out::new(&mut last))
        .unwrap();
    assert_eq!(last, [7; 1250]);
    // Rows appended after a flush go to the same chunks.
    for row in 95..100u64 {
        let data = [row as u8; 250];
        let _ = write(&shelf.blob, &array, &Selection::slab(&[row, 0], &[1, 250]), In::new(&data)).unwrap();
    }
    assert_eq!(shelf.placed.load(Relaxed), 33);
}

#[test]
fn chunks_that_could_not_be_stored_are_stored_by_the_next_flush() {
    let shelf = Arc::new(GappyChunkStore::default());
    let array = rows(&shelf, 20);
    let sel = Selection::slab(&[3, 5], &[2, 200]);
    let data: Vec<u8> = (0..400u32).map(|n| n as u8).collect();
    let _ = write(&shelf.blob, &array, &sel, In::new(&data)).unwrap();
    shelf.fails.store(true, Relaxed);
    assert_eq!(flush(&shelf.blob, &array).unwrap_err().code, errno::NOSPC);
    let all = Selection::all(&[20, 250]);
    let error = write(&shelf.blob, &array, &all, In::new(&[9u8; 5000])).unwrap_err();
    assert_eq!(error.code, errno::NOSPC);
    shelf.fails.store(false, Relaxed);
    // Complete chunks of the failed write stay as they were before it, pending; this flush stores them.
    flush(&shelf.blob, &array).unwrap();
    let mut back = vec![0u8; 400];
    let _ = oracle::read(&shelf.blob, &array, &sel, Out::new(&mut back)).unwrap();
    // The third chunk of each row of chunks reaches beyond the array, so it is incomplete: the failed write changed it in memory.
    let wanted = |at: usize| if 5 + at % 200 < 200 { data[at] } else { 9 };
    assert_eq!(back, (0..400).map(wanted).collect::<Vec<u8>>());
}

#[test]
fn a_failed_write_leaves_the_old_chunk() {
    for chain in [Chain::new(vec![], &Codecs::default()), Chain::new(vec![step(1, &[1])], &Codecs::default())]
    {
        let shelf = Arc::new(GappyChunkStore::default());
        let mut array = rows(&shelf, 30);
        array.layout =
            Layout::Chunked(Chunks::writable(vec![10, 100], shelf.clone(), Arc::new(chain), vec![7]));
        let all = Selection::slab(&[0, 0], &[30, 250]);
        let blob = Failing::never(&shelf.blob);
        let _ = write(&blob, &array, &all, In::new(&[1u8; 7500])).unwrap();
        flush(&blob, &array).unwrap();
        let read = |sel: &Selection| {
            let mut back = vec![0u8; sel.elements().unwrap() as usize];
            let _ = oracle::read(&shelf.blob, &array, sel, Out::new(&mut back)).unwrap();
            back
        };
        for after in 0..4 {
            blob.arm(Faults { after, times: 1, torn: true });
            let before = shelf.released.load(Relaxed);
            let failed = write(&blob, &array, &all, In::new(&[2 + after as u8; 7500]));
            let failed = failed.map(drop).and_then(|()| flush(&blob, &array)).is_err();
            for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
                let width = if column == 2 { 50 } else { 100 };
                let chunk = read(&Selection::slab(&[row * 10, column * 100], &[10, width]));
                assert!(chunk.iter().all(|byte| *byte == chunk[0]), "chunk {row}, {column} is torn");
            }
            assert_eq!(failed, shelf.released.load(Relaxed) > before);
            blob.arm(Faults::default());
            flush(&blob, &array).unwrap();
        }
        assert!(shelf.released.load(Relaxed) > 0);
    }
}

#[test]
#[ignore = "run by another test"]
fn a_foreign_writer() {
    let (shelf, other) = (Arc::new(GappyChunkStore::default()), Arc::new(GappyChunkStore::default()));
    let (array, crowd) = (rows(&shelf, 10), rows(&other, 200));
    let sel = Selection::slab(&[3, 5], &[2, 200]);
    let data: Vec<u8> = (0..400u32).map(|n| n as u8).collect();
    let _ = write(&shelf.blob, &array, &sel, In::new(&data)).unwrap();
    shelf.fails.store(true, Relaxed);
    let crowds = |value: u8| {
        let sel = Selection::strided(&[0, 0], &[200, 125], &[1, 2]);
        let _ = write(&other.blob, &crowd, &sel, In::new(&[value; 25_000])).unwrap();
    };
    crowds(1);
    assert_eq!((shelf.placed.load(Relaxed), other.placed.load(Relaxed) > 50), (0, true));
    // The owner gets the error of the other thread once, and the chunks stay pending.
    assert_eq!(write(&shelf.blob, &array, &sel, In::new(&data)).unwrap_err().code, errno::NOSPC);
    shelf.fails.store(false, Relaxed);
    let mut back = vec![0u8; 400];
    let _ = read(&shelf.blob, &array, &sel, Out::new(&mut back)).unwrap();
    assert_eq!(back, data);
    // The chunks of the owner can be stored now.
    crowds(2);
    assert_eq!(shelf.placed.load(Relaxed), 3);
    let _ = oracle::read(&shelf.blob, &array, &sel, Out::new(&mut back)).unwrap();
    assert_eq!(back, data);
    flush(&other.blob, &crowd).unwrap();
    let mut all = vec![0u8; 50_000];
    let _ = oracle::read(&other.blob, &crowd, &Selection::all(&[200, 250]), Out::new(&mut all)).unwrap();
    assert!(all.chunks(2).all(|pair| pair == [2, 7]));
}

#[test]
fn another_thread_makes_room_and_its_error_waits_for_the_owner() {
    elsewhere("a_foreign_writer", &[("FERROCDF_CACHE", "12000")]);
}

#[test]
fn writers_of_many_files_share_one_budget() {
    elsewhere("many_writers", &[("FERROCDF_CACHE", "9000"), ("FERROCDF_THREADS", "3")]);
}

#[test]
#[ignore = "run by another test"]
fn many_writers() {
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let mut rng = Rng::new(number);
                for _ in 0..40 {
                    let case = Case::new(&mut rng, 3000);
                    for _ in 0..20 {
                        case.write(&mut rng);
                        let sel = selection(&mut rng, &case.array.shape);
                        case.check(&sel);
                    }
                    flush(&case.shelf.blob, &case.array).unwrap();
                    case.check_stored();
                }
            });
        }
    });
}

/// Copies all chunks if they can be copied, and checks that the sum of the progress is the size of the array.
fn copied(from: (&dyn Blob, &Array), to: (&dyn BlobMut, &Array)) -> Result<bool> {
    let mut reported = 0;
    let copied = copy_chunks(from, to, &mut |bytes| reported += bytes)?;
    let bytes = from.1.shape.iter().product::<u64>() * from.1.stored.kind.size() as u64;
    assert_eq!(reported, if copied { bytes } else { 0 });
    Ok(copied)
}

#[test]
fn chunks_are_copied_one_by_one() {
    let mut rng = Rng::new(31);
    let (mut transferred, mut reencoded) = (0, 0);
    for number in 0..800 {
        let case = Case::new(&mut rng, if number % 40 == 0 { 100_000 } else { 300 });
        (0..3).for_each(|_| case.write(&mut rng));
        let Layout::Chunked(chunks) = &case.array.layout else { unreachable!() };
        let shelf =
            Arc::new(GappyChunkStore { gap: rng.pick(&[0, 7]), fixed: vec![], ..GappyChunkStore::default() });
        // Copied without decoding, or reencoded with other filters.
        let anew = rng.once_in(2);
        let chain = match anew {
            true => Arc::new(chain(&mut rng, case.array.stored.kind.size())),
            false => chunks.chain.clone(),
        };
        let to = Chunks::writable(chunks.shape.clone(), shelf.clone(), chain, chunks.fill.clone());
        let to = Array { layout: Layout::Chunked(to), ..case.array.clone() };
        let source = Counting::new(&*case.shelf.blob).with_cost(cost(case.array.shape.iter().product()));
        let from: (&dyn Blob, &Array) = (&source, &case.array);
        flush(&case.shelf.blob, from.1).unwrap();
        assert!(copied(from, (&*shelf.blob, &to)).unwrap());
        assert_eq!(shelf.locations.lock().unwrap().len(), case.shelf.locations.lock().unwrap().len());
        let copy = Case { shelf: shelf.clone(), array: to, wanted: case.wanted };
        copy.check(&Selection::all(&copy.array.shape));
        if shelf.placed.load(Relaxed) > 0 {
            *if anew { &mut reencoded } else { &mut transferred } += 1;
            // A target with stored chunks is refused.
            assert!(!copied(from, (&*shelf.blob, &copy.array)).unwrap());
        }
    }
    assert!(transferred > 200 && reencoded > 200, "{transferred} {reencoded}");
}

#[test]
fn chunks_of_different_layout_are_not_copied() {
    let (shelf, to) = (Arc::new(GappyChunkStore::default()), Arc::new(GappyChunkStore::default()));
    let (array, other) = (rows(&shelf, 20), rows(&to, 20));
    let sel = Selection::slab(&[0, 0], &[20, 100]);
    let _ = write(&shelf.blob, &array, &sel, In::new(&[3u8; 2000])).unwrap();
    let Layout::Chunked(chunks) = &other.layout else { unreachable!() };
    let with = |shape: &[u64], steps: Vec<Step>, fill: u8| {
        let chain = Arc::new(Chain::new(steps, &Codecs::default()));
        let layout = Layout::Chunked(Chunks::writable(shape.to_vec(), to.clone(), chain, vec![fill]));
        Array { layout, ..other.clone() }
    };
    let deflate = |level| vec![step(1, &[level])];
    for different in [
        with(&[10, 50], deflate(1), 7),
        with(&[10, 100], deflate(1), 8),
        Array { shape: vec![21, 250], ..other.clone() },
        Array { stored: Stored::little(Kind::I8), ..other.clone() },
        Array {
            layout: Layout::Chunked(Chunks::new(vec![10, 100], to.clone(), chunks.chain.clone(), [7])),
            ..other.clone()
        },
    ] {
        assert!(!copied((&*shelf.blob, &array), (&*to.blob, &different)).unwrap(), "{different:?}");
    }
    // Another fill value, also an empty one, does not matter if no chunk is missing and no dimension of the target can grow.
    let narrow = |array: &Array| Array { shape: vec![20, 100], ..array.clone() };
    for fill in [vec![8], vec![]] {
        let target = Arc::new(GappyChunkStore { fixed: vec![0, 1], ..GappyChunkStore::default() });
        let chain = Arc::new(Chain::new(deflate(1), &Codecs::default()));
        let layout = Layout::Chunked(Chunks::writable(vec![10, 100], target.clone(), chain, fill));
        let target_array = narrow(&Array { layout, ..other.clone() });
        assert!(copied((&*shelf.blob, &narrow(&array)), (&*target.blob, &target_array)).unwrap());
    }
    let partial = Selection::slab(&[0, 0], &[1, 1]);
    let _ = write(&shelf.blob, &array, &partial, In::new(&[3u8])).unwrap();
    assert!(!copied((&*shelf.blob, &array), (&*to.blob, &other)).unwrap());
    flush(&shelf.blob, &array).unwrap();
    assert!(copied((&*shelf.blob, &array), (&*to.blob, &other)).unwrap());
    // A location past the end of the file.
    shelf.blob.set_size(shelf.blob.size().unwrap() - 1).unwrap();
    let shelf_2 = Arc::new(GappyChunkStore::default());
    let error = copied((&*shelf.blob, &array), (&*shelf_2.blob, &rows(&shelf_2, 20))).unwrap_err();
    assert_eq!(error.code, Code::ETRUNC);
}

#[test]
fn a_chunk_that_cannot_be_decoded_is_an_error_and_not_copied() {
    let shelf = Arc::new(GappyChunkStore::default());
    let array = rows(&shelf, 20);
    let _ = write(&shelf.blob, &array, &Selection::all(&array.shape), In::new(&[3u8; 20 * 250])).unwrap();
    flush(&shelf.blob, &array).unwrap();
    // Damage the checksum of the last chunk, at the end of the blob.
    let end = shelf.blob.size().unwrap();
    shelf.blob.write_at(end - 4, &[1, 2, 3, 4]).unwrap();
    for steps in [vec![], vec![step(1, &[2])]] {
        let to = Arc::new(GappyChunkStore::default());
        to.blob.write_at(0, &[0xAB; 10_000]).unwrap();
        let chain = Arc::new(Chain::new(steps, &Codecs::default()));
        let layout = Layout::Chunked(Chunks::writable(vec![10, 100], to.clone(), chain, vec![7]));
        let copy = Array { layout, ..array.clone() };
        let from: (&dyn Blob, &Array) = (&*shelf.blob, &array);
        let error = copy_chunks(from, (&*to.blob, &copy), &mut |_| ()).unwrap_err();
        assert_eq!(error.code, Code::EHDFERR, "{error}");
        let mut values = [0u8; 20 * 250];
        let _ = read(&*to.blob, &copy, &Selection::all(&array.shape), Out::new(&mut values)).unwrap();
        // Other chunks of its batch may have been copied or not; this chunk was not.
        assert!(values.iter().all(|value| [3, 7].contains(value)), "{values:?}");
        assert_eq!(values[19 * 250 + 200..], [7; 50]);
    }
}

/// Decodes a pair of bytes to a number.
#[derive(Debug)]
struct Pairs;

impl ElementDecoder for Pairs {
    fn size(&self) -> usize {
        2
    }

    fn convert(&self, stored: &[u8], elements: &mut [u8]) {
        for (from, to) in stored.chunks_exact(2).zip(elements.chunks_exact_mut(4)) {
            to.copy_from_slice(&(u32::from(from[0]) * 100 + u32::from(from[1])).to_ne_bytes());
        }
    }
}

#[test]
fn elements_with_a_decoder_are_written_as_bytes() {
    let shelf = Arc::new(GappyChunkStore { fixed: vec![0], ..GappyChunkStore::default() });
    let chunks = Chunks::writable(
        vec![4],
        shelf.clone(),
        Arc::new(Chain::new(vec![step(1, &[1])], &Codecs::default())),
        vec![1, 2],
    );
    let raw = Array {
        shape: vec![9, 2],
        stored: Stored::native(Kind::U8),
        decoder: None,
        layout: Layout::Chunked(chunks.as_bytes(2)),
        past_end: PastEnd::Error,
    };
    let array = Array {
        shape: vec![9],
        stored: Stored::native(Kind::U32),
        decoder: Some(Arc::new(Pairs)),
        layout: Layout::Chunked(chunks),
        past_end: PastEnd::Error,
    };
    let error = write(&shelf.blob, &array, &Selection::all(&[9]), In::new(&[0u32; 9])).unwrap_err();
    assert_eq!((error.code, error.what.contains("decoder")), (Code::EPERM, true));
    let sel = Selection::slab(&[2, 0], &[3, 2]);
    let _ = write(&shelf.blob, &raw, &sel, In::new(&[9u8, 8, 7, 6, 5, 4])).unwrap();
    // Both views see the pending chunks.
    for _ in 0..2 {
        let mut all = [0u32; 9];
        let _ = read(&shelf.blob, &array, &Selection::all(&[9]), Out::new(&mut all)).unwrap();
        assert_eq!(all, [102, 102, 908, 706, 504, 102, 102, 102, 102]);
        flush(&shelf.blob, &array).unwrap();
    }
    assert_eq!(shelf.placed.load(Relaxed), 2);
}

#[test]
fn shuffled_cached_chunks_are_read_as_bytes_and_written() {
    let shelf = Arc::new(GappyChunkStore { fixed: vec![0], ..GappyChunkStore::default() });
    let chain = Chain::new(vec![step(2, &[4]), step(1, &[1])], &Codecs::default());
    let chunks = Chunks::writable(vec![500], shelf.clone(), Arc::new(chain), vec![]);
    let bytes = Layout::Chunked(chunks.as_bytes(4));
    let (stored, layout) = (Stored::little(Kind::U32), Layout::Chunked(chunks));
    let array = Array { shape: vec![1000], stored, decoder: None, layout, past_end: PastEnd::Error };
    let raw =
        Array { shape: vec![1000, 4], stored: Stored::little(Kind::U8), layout: bytes, ..array.clone() };
    let numbers: Vec<u32> = (0..1000).map(|n| n * 70_001).collect();
    let _ = write(&shelf.blob, &array, &Selection::all(&[1000]), In::new(&numbers)).unwrap();
    let few = Selection::slab(&[100], &[9]);
    for _ in 0..3 {
        let mut back = [0u32; 9];
        let _ = read(&shelf.blob, &array, &few, Out::new(&mut back)).unwrap();
        assert_eq!(back, numbers[100..109]);
    }
    let mut back = [0u8; 36];
    let _ = read(&shelf.blob, &raw, &Selection::slab(&[100, 0], &[9, 4]), Out::new(&mut back)).unwrap();
    assert!(back.chunks(4).zip(&numbers[100..]).all(|(bytes, number)| *bytes == number.to_le_bytes()));
    let _ = write(&shelf.blob, &array, &few, In::new(&[7u32; 9])).unwrap();
    flush(&shelf.blob, &array).unwrap();
    let mut all = vec![0u32; 1000];
    let _ = oracle::read(&shelf.blob, &array, &Selection::all(&[1000]), Out::new(&mut all)).unwrap();
    assert!((0..1000).all(|n| all[n] == if (100..109).contains(&n) { 7 } else { numbers[n] }));
}

#[test]
fn writing_chunks_without_a_store_is_an_error() {
    let shelf = Arc::new(GappyChunkStore::default());
    let chunks = Chunks::new(vec![4], shelf.clone(), Arc::default(), vec![]);
    let layout = Layout::Chunked(chunks);
    let stored = Stored::native(Kind::U8);
    let array = Array { shape: vec![9], stored, decoder: None, layout, past_end: PastEnd::Error };
    let sel = Selection::all(&[9]);
    assert_eq!(write(&shelf.blob, &array, &sel, In::new(&[0u8; 9])).unwrap_err().code, Code::EPERM);
    assert_eq!(fill(&shelf.blob, &array, &sel, &[0]).unwrap_err().code, Code::EPERM);
    flush(&shelf.blob, &array).unwrap();
}

#[test]
fn few_elements_of_a_large_chunk_are_overwritten_in_place() {
    let shelf = Arc::new(GappyChunkStore { fixed: vec![0, 1], ..GappyChunkStore::default() });
    let layout = Layout::Chunked(Chunks::writable(vec![200, 100], shelf.clone(), Arc::default(), vec![]));
    let stored = Stored::little(Kind::U16);
    let shape = vec![200, 300];
    let array = Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
    let all: Vec<u16> = (0..60_000).map(|n| n as u16).collect();
    let _ = write(&shelf.blob, &array, &Selection::all(&[200, 300]), In::new(&all)).unwrap();
    let sel = Selection::strided(&[7, 50], &[3, 100], &[2, 2]);
    let few: Vec<u16> = (0..300).collect();
    let _ = write(&shelf.blob, &array, &sel, In::new(&few)).unwrap();
    assert_eq!(shelf.placed.load(Relaxed), 3);
    let mut back = vec![0u16; 300];
    let _ = oracle::read(&shelf.blob, &array, &sel, Out::new(&mut back)).unwrap();
    assert_eq!(back, few);
    // Committed chunks are not overwritten in place.
    shelf.commit();
    let before = shelf.blob.to_bytes();
    let _ = write(&shelf.blob, &array, &sel, In::new(&back[..])).unwrap();
    let _ = write(&shelf.blob, &array, &Selection::all(&[200, 300]), In::new(&all)).unwrap();
    flush(&shelf.blob, &array).unwrap();
    assert_eq!(shelf.blob.to_bytes()[..before.len()], before);
    assert_eq!(shelf.placed.load(Relaxed), 6);
}
