//! Chunks, virtual layouts and elements with a decoder, compared with the oracle on random arrays.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_array::{
    Array, ChunkIndex, ChunkLocation, Chunks, Coverage, ElementDecoder, Kind, Layout, OpenSource, Out,
    PastEnd, RangeCheck, Selection, SourceMapping, Stored, VirtualLayout, VirtualSource, coverage,
    has_unwritten, oracle, read, unwritten_value,
};
use ferrocdf_bytes::{Code, Order, Result};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_store::testing::{Counting, Rng};
use ferrocdf_store::{Blob, Cost, MemoryBlob};

use crate::engine::{NUMBERS, SLOW, bytes, cost, map, selection};

/// Chunks by their coordinates.
#[derive(Debug, Default)]
pub struct Table(pub HashMap<Vec<u64>, ChunkLocation>);

impl ChunkIndex for Table {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let total: u64 = count.iter().product();
        let location = |number: u64| {
            let mut rest = number;
            let mut at = vec![0; first.len()];
            for dim in (0..first.len()).rev() {
                at[dim] = first[dim] + rest % count[dim];
                rest /= count[dim];
            }
            self.0.get(&at).copied().unwrap_or_default()
        };
        Ok((0..total).map(location).collect())
    }
}

pub fn step(id: u32, params: &[u32]) -> Step {
    Step { id: id.into(), name: String::new(), optional: false, params: params.to_vec() }
}

/// Returns a random chunked array of at most about `most` elements, and its blob.
fn chunked(rng: &mut Rng, most: u64, kind: Option<Kind>) -> (Arc<MemoryBlob>, Array) {
    let rank = rng.below(4) as usize + 1;
    let mut left = most;
    let (mut shape, mut chunk) = (vec![], vec![]);
    for _ in 0..rank {
        let most = if rng.once_in(3) { left } else { left.min(9) };
        let len = 1 + rng.below(most);
        left = (left / len).max(1);
        shape.push(len);
        chunk.push(match rng.below(4) {
            0 => 1,
            1 => len + rng.below(3),
            _ => 1 + rng.below(len),
        });
    }
    let order = rng.pick(&[Order::Big, Order::Little]);
    let stored = Stored { kind: kind.unwrap_or(rng.pick(&NUMBERS)), order };
    let size = stored.kind.size();
    let chain = Chain::new(
        match rng.below(5) {
            0 => vec![],
            1 => vec![step(1, &[1])],
            // These decode only what is selected of a chunk.
            2 => vec![step(32015, &[3])],
            3 => vec![step(32001, &[2, 2, size as u32, 0, 5, rng.below(3) as u32, 1])],
            _ => vec![step(2, &[size as u32]), step(1, &[4])],
        },
        &Codecs::default(),
    );
    let elements: u64 = chunk.iter().product();
    let mut blob = vec![0; rng.below(50) as usize];
    let mut table = Table::default();
    let grid: Vec<u64> = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let mut locations: Vec<Vec<u64>> = vec![vec![]];
    for &len in &grid {
        locations = locations.iter().flat_map(|at| (0..len).map(|b| [&at[..], &[b]].concat())).collect();
    }
    for number in (1..locations.len()).rev() {
        locations.swap(number, rng.below(number as u64 + 1) as usize);
    }
    for at in locations {
        if rng.once_in(5) {
            continue;
        }
        let plain = bytes(rng, stored, elements as usize);
        let plain_mask = chain.steps().len() > 0 && rng.once_in(6);
        let (encoded, mask) = if plain_mask {
            (plain, u32::MAX)
        } else {
            let mut encoded = vec![];
            let mask = chain.encode(&plain, &mut encoded).unwrap();
            (encoded, mask)
        };
        // Wide gaps only as long as the blob stays small: there may be 300,000 chunks.
        let widest = if rng.once_in(3) && blob.len() < 64 << 20 { 40_000 } else { 9 };
        let gap = rng.below(widest) as usize;
        blob.resize(blob.len() + gap, 7);
        table.0.insert(at, ChunkLocation::At { at: blob.len() as u64, len: encoded.len() as u64, mask });
        blob.extend(encoded);
    }
    let fill = if rng.once_in(3) { vec![] } else { bytes(rng, stored, 1) };
    let chunks = Chunks::new(chunk, Arc::new(table), Arc::new(chain), fill);
    let layout = Layout::Chunked(chunks);
    (
        Arc::new(MemoryBlob::new(blob)),
        Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error },
    )
}

fn agrees(rng: &mut Rng, blob: &dyn Blob, array: &Array, sel: &Selection) {
    let memory = if rng.once_in(2) { array.stored.kind } else { rng.pick(&NUMBERS) };
    let (map, memory_len) = map(rng, sel);
    let before: Vec<u8> = (0..memory_len * memory.size()).map(|_| rng.number() as u8).collect();
    let (mut fast, mut slow) = (before.clone(), before);
    let out = |bytes| {
        let out = Out::raw(memory, bytes);
        match &map {
            Some((steps, origin)) => out.mapped(*origin, steps),
            None => out,
        }
    };
    let source = Counting::new(blob).with_cost(cost(memory_len as u64));
    let fit = read(&source, array, sel, out(&mut fast)).unwrap();
    let expected = oracle::read(blob, array, sel, out(&mut slow)).unwrap();
    let overlaps =
        matches!(&array.layout, Layout::Virtual(virtual_layout) if virtual_layout.mappings.len() > 1);
    assert!((overlaps || fit == expected) && fast == slow, "{array:?} {sel:?} to {memory:?} {map:?}");
    unwritten_elements_have_their_value(blob, array, sel);
}

/// Checks that an unwritten element is read as the value that `unwritten_value` returns.
fn unwritten_elements_have_their_value(blob: &dyn Blob, array: &Array, sel: &Selection) {
    let kind = array.stored.kind;
    let Some(value) = unwritten_value(array).unwrap() else { return };
    if coverage(array, sel, (kind, &value)).unwrap() == Coverage::Nothing {
        let mut found = vec![0; sel.elements().unwrap() as usize * kind.size()];
        let _exact = read(blob, array, sel, Out::raw(kind, &mut found)).unwrap();
        assert!(found.chunks_exact(value.len()).all(|element| element == value), "{array:?} {sel:?}");
    }
}

#[test]
fn chunked_reads_equal_the_oracle() {
    let mut rng = Rng::new(11);
    for _ in 0..4000 {
        let (blob, array) = chunked(&mut rng, 300, None);
        for _ in 0..2 {
            let sel = selection(&mut rng, &array.shape);
            agrees(&mut rng, &*blob, &array, &sel);
        }
    }
}

#[test]
fn chunked_reads_on_all_threads_equal_the_oracle() {
    let mut rng = Rng::new(12);
    for _ in 0..12 {
        let (blob, array) = chunked(&mut rng, 300_000, None);
        let sel = selection(&mut rng, &array.shape);
        if array.shape.iter().product::<u64>() < 400_000 {
            agrees(&mut rng, &*blob, &array, &sel);
        }
    }
}

#[test]
fn results_larger_than_the_processor_caches_are_complete() {
    let (shape, chunk) = ([5, 2003, 3500], [2, 500, 1100]);
    let value = |at: [u64; 3]| (at[0] * 131 + at[1] * 7 + at[2] * at[2]) as u8;
    let chain = Chain::new(vec![step(1, &[1])], &Codecs::default());
    let (mut blob, mut table) = (vec![], Table::default());
    let grid = [3, 5, 4];
    for number in 0..grid.iter().product() {
        let at = [number / 20, number / 4 % 5, number % 4];
        let inside = |i: u64| [i / (500 * 1100), i / 1100 % 500, i % 1100];
        let location = |i: u64| std::array::from_fn(|dim| at[dim] * chunk[dim] + inside(i)[dim]);
        let plain: Vec<u8> = (0..chunk.iter().product()).map(|i| value(location(i))).collect();
        let mut encoded = vec![];
        let mask = chain.encode(&plain, &mut encoded).unwrap();
        let (at, len) = (at.to_vec(), encoded.len() as u64);
        table.0.insert(at, ChunkLocation::At { at: blob.len() as u64, len, mask });
        blob.extend(encoded);
    }
    let layout = Layout::Chunked(Chunks::new(chunk.to_vec(), Arc::new(table), Arc::new(chain), vec![]));
    let stored = Stored { kind: Kind::U8, order: Order::Little };
    let array = Array { shape: shape.to_vec(), stored, decoder: None, layout, past_end: PastEnd::Error };
    let mut out = vec![0u8; shape.iter().product::<u64>() as usize];
    let fit = read(&MemoryBlob::new(blob), &array, &Selection::slab(&[0; 3], &shape), Out::new(&mut out));
    assert_eq!(fit.unwrap(), RangeCheck::InRange);
    for (number, &got) in out.iter().enumerate() {
        let i = number as u64;
        let at = [i / (2003 * 3500), i / 3500 % 2003, i % 3500];
        assert_eq!(got, value(at), "element {at:?}");
    }
}

#[test]
fn chunks_with_many_tiny_rows_equal_the_oracle() {
    // Chunks of one column each.
    let (rows, columns) = (3000u64, 40u64);
    let mut table = Table::default();
    let mut blob = Vec::new();
    for column in 0..columns {
        if column != 7 {
            let len = rows * 2;
            table.0.insert(vec![0, column], ChunkLocation::At { at: blob.len() as u64, len, mask: 0 });
            (0..rows).for_each(|row| blob.extend(((row * columns + column) as u16).to_le_bytes()));
        }
    }
    let chunks = Chunks::new(vec![rows, 1], Arc::new(table), Arc::default(), vec![9, 9]);
    let stored = Stored::little(Kind::U16);
    let layout = Layout::Chunked(chunks);
    let array = Array { shape: vec![rows, columns], stored, decoder: None, layout, past_end: PastEnd::Error };
    let blob = MemoryBlob::new(blob);
    for cost in [Cost::MEMORY, SLOW] {
        let blob = Counting::new(&blob).with_cost(cost);
        let mut out = vec![0u16; (rows * columns) as usize];
        let _ = read(&blob, &array, &Selection::all(&array.shape), Out::new(&mut out)).unwrap();
        for (number, &value) in out.iter().enumerate() {
            let wanted = if number as u64 % columns == 7 { 0x0909 } else { number as u16 };
            assert_eq!(value, wanted, "{number}");
        }
    }
}

/// A source of a virtual layout: an array and its blob; `None` if the source does not exist.
#[derive(Debug)]
struct OptionalSource(Option<(Arc<MemoryBlob>, Arc<Array>)>);

impl VirtualSource for OptionalSource {
    fn open(&self) -> Result<Option<OpenSource>> {
        Ok(self.0.as_ref().map(|(blob, array)| (blob.clone() as Arc<dyn Blob>, array.clone())))
    }
}

/// Returns a mapping of a virtual layout of this shape. Its source is a chunked array that may be smaller than the mapping says.
fn mapping(rng: &mut Rng, shape: &[u64], kind: Kind) -> SourceMapping {
    let mut here = Selection::all(shape);
    for (dim, &len) in shape.iter().enumerate() {
        here.start[dim] = rng.below(len);
        here.stride[dim] = 1 + rng.below(3);
        here.count[dim] = 1 + rng.below((len - here.start[dim]).div_ceil(here.stride[dim]));
    }
    let (blob, array) = chunked(rng, 200, Some(kind));
    let mut there = Selection::all(&[]);
    let mut counts: Vec<u64> = here.count.iter().copied().filter(|&count| count != 1).collect();
    while counts.len() < array.shape.len() {
        counts.insert(rng.below(counts.len() as u64 + 1) as usize, 1);
    }
    if counts.len() > array.shape.len() {
        // The source has too few dimensions for these counts, so one element is mapped.
        here.count.iter_mut().for_each(|count| *count = 1);
        counts = vec![1; array.shape.len()];
    }
    for (dim, count) in counts.into_iter().enumerate() {
        there.start.push(rng.below(array.shape[dim]));
        there.stride.push(1 + rng.below(2));
        there.count.push(count);
    }
    let source = OptionalSource(if rng.once_in(6) { None } else { Some((blob, Arc::new(array))) });
    SourceMapping { virtual_selection: here, source_selection: there, source: Arc::new(source) }
}

#[test]
fn coverage_of_a_virtual_layout_is_that_of_its_sources() {
    let (_, mut array) = row_of_chunks(6);
    let parts = [SourceMapping {
        virtual_selection: Selection::slab(&[100], &[700]),
        source_selection: Selection::slab(&[0], &[700]),
        source: Arc::new(OptionalSource(Some((Arc::new(MemoryBlob::default()), Arc::new(array.clone()))))),
    }];
    array.shape = vec![1000];
    array.layout = Layout::Virtual(VirtualLayout { mappings: parts.into(), fill: vec![0].into() });
    for (start, count, expected) in [
        (0, 1000, Coverage::Part),
        (100, 600, Coverage::Whole),
        (150, 1, Coverage::Whole),
        (99, 2, Coverage::Part),
        (699, 2, Coverage::Part),
        (0, 100, Coverage::Nothing),
        (700, 300, Coverage::Nothing),
    ] {
        let sel = Selection::slab(&[start], &[count]);
        assert_eq!(coverage(&array, &sel, (Kind::U8, &[0])).unwrap(), expected, "{start} {count}");
    }
}

#[test]
fn virtual_layouts_equal_the_oracle() {
    let mut rng = Rng::new(13);
    for _ in 0..3000 {
        let shape: Vec<u64> = (0..rng.below(4)).map(|_| 1 + rng.below(12)).collect();
        let stored = Stored::native(rng.pick(&NUMBERS));
        let mappings: Vec<SourceMapping> =
            (0..rng.below(4)).map(|_| mapping(&mut rng, &shape, stored.kind)).collect();
        let virtual_layout =
            VirtualLayout { mappings: mappings.into(), fill: bytes(&mut rng, stored, 1).into() };
        let layout = Layout::Virtual(virtual_layout);
        let array = Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
        let sel = selection(&mut rng, &array.shape);
        agrees(&mut rng, &MemoryBlob::default(), &array, &sel);
    }
}

/// Integers of three bytes.
#[derive(Debug)]
struct Three;

impl ElementDecoder for Three {
    fn size(&self) -> usize {
        3
    }

    fn convert(&self, stored: &[u8], elements: &mut [u8]) {
        for (from, to) in stored.chunks_exact(3).zip(elements.chunks_exact_mut(4)) {
            to.copy_from_slice(&u32::from_le_bytes([from[0], from[1], from[2], 0]).to_ne_bytes());
        }
    }
}

#[test]
fn decoded_elements_equal_the_oracle() {
    let mut rng = Rng::new(14);
    for number in 0..600 {
        let (blob, chunks) = chunked(&mut rng, 100, None);
        // The bytes of elements of another size, seen as elements of three: only the shape counts.
        let mut array = match number % 2 {
            0 => Array::inline(
                chunks.shape.clone(),
                chunks.stored,
                bytes(&mut rng, Stored::little(Kind::U8), 3 * chunks.shape.iter().product::<u64>() as usize),
            ),
            _ => Array { layout: Layout::Fill(vec![1, 2, 3].into()), ..chunks },
        };
        array.stored = Stored::native(Kind::U32);
        array.decoder = Some(Arc::new(Three));
        let sel = selection(&mut rng, &array.shape);
        agrees(&mut rng, &*blob, &array, &sel);
    }
}

/// Returns an array of `count` contiguous chunks of 100 bytes.
fn row_of_chunks(count: u64) -> (Counting<MemoryBlob>, Array) {
    let locations = (0..count).map(|n| (vec![n], ChunkLocation::At { at: n * 100, len: 100, mask: 0 }));
    let chunks = Chunks::new(vec![100], Arc::new(Table(locations.collect())), Arc::default(), vec![]);
    let content: Vec<u8> = (0..count * 100).map(|n| n as u8).collect();
    let stored = Stored::little(Kind::U8);
    let layout = Layout::Chunked(chunks);
    let array = Array { shape: vec![count * 100], stored, decoder: None, layout, past_end: PastEnd::Error };
    (Counting::new(MemoryBlob::new(content)), array)
}

#[test]
fn coverage_of_chunks_is_answered_by_the_index() {
    let locations = [1, 2, 5].map(|n| (vec![n], ChunkLocation::At { at: n * 100, len: 100, mask: 0 }));
    let index = Arc::new(Table(locations.into_iter().collect()));
    let chunks = Chunks::new(vec![100], index, Arc::default(), vec![7]);
    let (_, mut array) = row_of_chunks(6);
    assert!(!has_unwritten(&array).unwrap());
    array.layout = Layout::Chunked(chunks);
    assert!(has_unwritten(&array).unwrap());
    assert_eq!(unwritten_value(&array).unwrap(), Some(vec![7]));
    let of = |start: u64, count: u64| Selection::slab(&[start], &[count]);
    for (sel, expected) in [
        (of(0, 100), Coverage::Nothing),
        (of(99, 2), Coverage::Part),
        (of(100, 200), Coverage::Whole),
        (of(300, 200), Coverage::Nothing),
        (of(0, 600), Coverage::Part),
        (of(40, 0), Coverage::Nothing),
        (Selection::strided(&[10], &[2], &[350]), Coverage::Part),
    ] {
        assert_eq!(coverage(&array, &sel, (Kind::U8, &[7])).unwrap(), expected, "{sel:?}");
    }
    assert_eq!(coverage(&array, &of(0, 100), (Kind::U8, &[8])).unwrap(), Coverage::Whole);
    assert_eq!(coverage(&array, &of(0, 100), (Kind::I8, &[7])).unwrap(), Coverage::Whole);
    array.layout = Layout::Fill(vec![7].into());
    assert_eq!(coverage(&array, &of(0, 600), (Kind::U8, &[7])).unwrap(), Coverage::Nothing);
}

#[test]
fn neighbouring_chunks_are_read_with_one_request() {
    let (blob, array) = row_of_chunks(64);
    let mut out = vec![0u8; 6400];
    let _ = read(&blob, &array, &Selection::all(&[6400]), Out::new(&mut out)).unwrap();
    assert!(out.iter().enumerate().all(|(n, &byte)| byte == n as u8));
    assert_eq!(blob.reads().0, 1);
}

#[test]
fn a_chunk_that_is_read_twice_in_part_is_cached() {
    let chain = Chain::new(vec![step(1, &[1])], &Codecs::default());
    let mut encoded = vec![];
    let plain: Vec<u8> = (0..1000u32).map(|n| (n / 7) as u8).collect();
    let mask = chain.encode(&plain, &mut encoded).unwrap();
    let table = Table([(vec![0], ChunkLocation::At { at: 0, len: encoded.len() as u64, mask })].into());
    let chunks = Chunks::new(vec![1000], Arc::new(table), Arc::new(chain), vec![]);
    let stored = Stored::little(Kind::U8);
    let layout = Layout::Chunked(chunks);
    let array = Array { shape: vec![1000], stored, decoder: None, layout, past_end: PastEnd::Error };
    let blob = Counting::new(MemoryBlob::new(encoded));
    for first in (0..1000u64).step_by(100) {
        let mut out = [0u8; 100];
        let _ = read(&blob, &array, &Selection::slab(&[first], &[100]), Out::new(&mut out)).unwrap();
        assert_eq!(out[..], plain[first as usize..][..100]);
        // Chunks that are requested once are not cached: most of them are never requested again.
        assert_eq!(blob.reads().0, if first == 0 { 1 } else { 2 });
    }
}

#[test]
fn blocks_of_a_chunk_that_nobody_selects_are_not_decoded() {
    // Blosc with LZ4: shuffled numbers of four bytes in blocks of 128 KiB.
    let chain = Arc::new(Chain::new(vec![step(32001, &[2, 2, 4, 0, 5, 1, 1])], &Codecs::default()));
    let plain: Vec<u8> = (0..300_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let mut encoded = vec![];
    let mask = chain.encode(&plain, &mut encoded).unwrap();
    // The header and the position of each block come first. The last block begins with the length of a part.
    let blocks = plain.len().div_ceil(1 << 17);
    let last = u32::from_le_bytes(encoded[16 + 4 * (blocks - 1)..][..4].try_into().unwrap()) as usize;
    encoded[last..last + 4].copy_from_slice(&[0xff; 4]);
    let location = ChunkLocation::At { at: 0, len: encoded.len() as u64, mask };
    let blob = MemoryBlob::new(encoded);
    let shape = vec![30, 100, 100];
    let read_slab = |first: &[u64], count: &[u64]| {
        let table = Table([(vec![0, 0, 0], location)].into());
        let chunks = Chunks::new(shape.clone(), Arc::new(table), chain.clone(), vec![]);
        let stored = Stored::little(Kind::U32);
        let layout = Layout::Chunked(chunks);
        let array = Array { shape: shape.clone(), stored, decoder: None, layout, past_end: PastEnd::Error };
        let mut out = vec![0u32; count.iter().product::<u64>() as usize];
        read(&blob, &array, &Selection::slab(first, count), Out::new(&mut out)).map(|_| out)
    };
    let step: Vec<u32> = (120_000..130_000).map(|n| n / 7).collect();
    assert_eq!(read_slab(&[12, 0, 0], &[1, 100, 100]).unwrap(), step);
    let series: Vec<u32> = (0..25).map(|at| (at * 10_000 + 5_007) / 7).collect();
    assert_eq!(read_slab(&[0, 50, 7], &[25, 1, 1]).unwrap(), series);
    assert_eq!(read_slab(&[29, 99, 99], &[1, 1, 1]).unwrap_err().code, Code::EHDFERR);
}

#[test]
fn a_chunk_past_the_end_of_the_file_is_an_error() {
    let (blob, array) = row_of_chunks(3);
    let short = MemoryBlob::new(vec![0; 250]);
    let mut out = vec![0u8; 300];
    let sel = Selection::all(&[300]);
    let error = read(&short, &array, &sel, Out::new(&mut out)).unwrap_err();
    assert_eq!(error.code, Code::ETRUNC);
    assert!(read(&blob, &array, &sel, Out::new(&mut out)).is_ok());
}

/// Locates the chunks of a table; each that is stored has decoded bytes of its own.
#[derive(Debug)]
struct Decoded(Table, Arc<MemoryBlob>);

impl ChunkIndex for Decoded {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.0.locate(first, count)
    }

    fn decoded(&self, _location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        Some(self.1.clone())
    }
}

#[test]
fn decoded_bytes_serve_all_reads_but_those_that_decode_to_the_memory_of_the_caller() {
    // Encoded chunks have ones, decoded bytes twos, so that each tells where values come from.
    let stored = Stored { kind: Kind::I16, order: Order::Big };
    let mut encoded = vec![];
    let chain = Chain::new(vec![step(1, &[1])], &Codecs::default());
    chain.encode(&[0, 1].repeat(60), &mut encoded).unwrap();
    let all_ones = encoded.len() as u64;
    let decoded = Arc::new(MemoryBlob::new([0, 2].repeat(60)));
    encoded.resize(1000, 0);
    let far = Counting::new(MemoryBlob::new(encoded.clone())).with_cost(Cost::REMOTE);
    let (near, chain) = (MemoryBlob::new(encoded), Arc::new(chain));
    // Encoded bytes of more than twice what they decode to are never read as a whole.
    for (len, all) in [(all_ones, 1i16), (1000, 2)] {
        let location = ChunkLocation::At { at: 0, len, mask: 0 };
        // Of six chunks the one at (1, 1) is missing, and the last ones reach beyond the array.
        let at = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]];
        let table = Table(at.into_iter().map(|at| (at.to_vec(), location)).collect());
        let index = Arc::new(Decoded(table, decoded.clone()));
        let chunks = Chunks::new(vec![6, 10], index, chain.clone(), [0, 7]);
        let layout = Layout::Chunked(chunks);
        let array = Array { shape: vec![17, 18], stored, decoder: None, layout, past_end: PastEnd::Error };
        let value = |row: u64, column: u64, stored: i16| match (row / 6, column / 10) {
            (1, 1) => 7,
            _ => stored,
        };
        let check = |selection: Selection, stored: i16| {
            let (rows, columns) = (selection.count[0], selection.count[1]);
            let elements = (rows * columns) as usize;
            let (mut shorts, mut doubles) = (vec![0i16; elements], vec![0f64; elements]);
            for blob in [&near as &dyn Blob, &far] {
                assert_eq!(read(blob, &array, &selection, Out::new(&mut shorts)), Ok(RangeCheck::InRange));
                assert_eq!(read(blob, &array, &selection, Out::new(&mut doubles)), Ok(RangeCheck::InRange));
                for number in 0..elements {
                    let (row, column) = (number as u64 / columns, number as u64 % columns);
                    let row = selection.start[0] + row * selection.stride[0];
                    let column = selection.start[1] + column * selection.stride[1];
                    assert_eq!(shorts[number], value(row, column, stored), "{selection:?}");
                    assert_eq!(doubles[number], f64::from(value(row, column, 2)), "{selection:?}");
                }
            }
        };
        check(Selection::all(&[17, 18]), 2);
        check(Selection::strided(&[1, 3], &[5, 5], &[3, 3]), 2);
        // A whole chunk in one row of memory.
        check(Selection::slab(&[6, 0], &[6, 10]), all);
        check(Selection::slab(&[6, 0], &[6, 9]), 2);
    }
}
