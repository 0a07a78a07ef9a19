//! The engine compared with the oracle on random arrays: results and whole blobs must be equal.

use ferrocdf_array::{
    Array, In, Kind, Layout, Out, PastEnd, RangeCheck, Selection, Stored, fill, oracle, read, write,
};
use ferrocdf_bytes::Order;
use ferrocdf_store::{Blob, Cost, MemoryBlob};

use ferrocdf_store::testing::{Counting, Rng};

pub const NUMBERS: [Kind; 10] = [
    Kind::I8,
    Kind::U8,
    Kind::I16,
    Kind::U16,
    Kind::I32,
    Kind::U32,
    Kind::I64,
    Kind::U64,
    Kind::F32,
    Kind::F64,
];

/// The cost of a slow source with small gaps and few requests in flight: small arrays take several batches.
pub const SLOW: Cost = Cost { gap: 64, window: 0, in_flight: 3, ..Cost::REMOTE };

/// Returns the cost of a near or of a slow source, depending on the number of elements that are read, which take about ten
/// batches at most.
pub fn cost(elements: u64) -> Cost {
    let slow = Cost { in_flight: SLOW.in_flight.max(elements as usize / 10), ..SLOW };
    [Cost::MEMORY, slow, Cost::LOCAL][(elements % 3) as usize]
}

/// A random request.
struct Case {
    array: Array,
    sel: Selection,
    memory: Kind,
    /// Steps and origin of the map, and the elements of memory it needs.
    map: Option<(Vec<isize>, usize)>,
    memory_len: usize,
}

/// Returns a random array of at most about `most` elements, and a selection of it.
fn case(rng: &mut Rng, most: u64, inline: bool) -> Case {
    let rank = rng.below(7) as usize;
    let mut left = most;
    let mut shape: Vec<u64> = Vec::new();
    for _ in 0..rank {
        let len = match rng.below(40) {
            0 => 0,
            1..10 => 1,
            10..20 => 1 + rng.below(left),
            _ => 1 + rng.below(left.min(9)),
        };
        left = (left / len.max(1)).max(1);
        shape.push(len);
    }
    if !shape.is_empty() {
        let far = rng.below(shape.len() as u64) as usize;
        shape.swap(0, far);
    }
    let (stored, memory) = kinds(rng);
    let size = stored.kind.size() as u64;
    let layout = if inline {
        let elements: u64 = shape.iter().product();
        let bytes: Vec<u8> = bytes(rng, stored, elements as usize);
        Layout::Inline(bytes.into())
    } else {
        // Gaps of all sizes after each row of some dimensions, as records of many variables have.
        let mut steps = vec![0; rank];
        let mut step = size;
        for dim in (0..rank).rev() {
            if rng.once_in(3) {
                step += if rng.once_in(2) { rng.below(16) } else { rng.below(1 + most.min(9000)) };
            }
            steps[dim] = step;
            step = step.max(step * shape[dim]);
        }
        if rank > 1 && rng.once_in(10) {
            // A layout whose last dimension is not the fastest.
            let (a, b) = (rng.below(rank as u64) as usize, rng.below(rank as u64) as usize);
            if shape[a] == shape[b] {
                steps.swap(a, b);
            }
        }
        Layout::Strided { begin: rng.below(100), strides: steps }
    };
    let sel = selection(rng, &shape);
    let (map, memory_len) = map(rng, &sel);
    Case {
        array: Array { shape, stored, layout, decoder: None, past_end: PastEnd::Zero },
        sel,
        memory,
        map,
        memory_len,
    }
}

fn kinds(rng: &mut Rng) -> (Stored, Kind) {
    let order = rng.pick(&[Order::Big, Order::Little]);
    let kind = rng.pick(&NUMBERS);
    let (kind, memory) = match rng.below(12) {
        0 => (Kind::Char, Kind::Char),
        1..4 => (kind, kind),
        _ => (kind, rng.pick(&NUMBERS)),
    };
    (Stored { kind, order }, memory)
}

pub fn selection(rng: &mut Rng, shape: &[u64]) -> Selection {
    if rng.once_in(3) {
        return Selection::all(shape);
    }
    let mut sel = Selection::all(shape);
    for (dim, &len) in shape.iter().enumerate() {
        let start = rng.below(len + 1);
        let stride = if rng.once_in(3) { 1 + rng.below(5) } else { 1 };
        let most = (len - start).div_ceil(stride);
        let count = if rng.once_in(2) { most } else { rng.below(most + 1) };
        sel.start[dim] = if rng.once_in(4) { 0 } else { start };
        sel.count[dim] = count;
        sel.stride[dim] = stride;
    }
    sel
}

pub fn map(rng: &mut Rng, sel: &Selection) -> (Option<(Vec<isize>, usize)>, usize) {
    let elements = sel.elements().unwrap() as usize;
    if rng.once_in(2) {
        return (None, elements);
    }
    let rank = sel.count.len();
    let mut steps = vec![0isize; rank];
    let mut step = 1;
    let mut order: Vec<usize> = (0..rank).collect();
    for dim in (1..rank).rev() {
        order.swap(dim, rng.below(dim as u64 + 1) as usize);
    }
    for dim in order {
        let wanted = match rng.below(8) {
            0 => rng.below(3) as isize,
            1 => step + rng.below(3) as isize,
            _ => step,
        };
        steps[dim] = if rng.once_in(3) { -wanted } else { wanted };
        step = step.max(wanted * sel.count[dim].max(1) as isize);
    }
    let reach = |dim: usize| steps[dim] * (sel.count[dim].max(1) as isize - 1);
    let low: isize = (0..rank).map(|dim| reach(dim).min(0)).sum();
    let high: isize = (0..rank).map(|dim| reach(dim).max(0)).sum();
    let spare = rng.below(3) as usize;
    let origin = (-low) as usize + spare;
    (Some((steps, origin)), origin + high as usize + 1)
}

/// Elements among which each kind of edge is frequent.
pub fn bytes(rng: &mut Rng, stored: Stored, elements: usize) -> Vec<u8> {
    let edges = [0.0, 1.5, -1.5, 127.5, 255.5, -32768.5, 65535.0, 2147483647.0, -2147483649.0, 4294967296.0];
    let far = [9223372036854775808.0, 18446744073709551616.0, -1e19, 1e39, f64::NAN, f64::INFINITY];
    let mut all = Vec::with_capacity(elements * stored.kind.size());
    for _ in 0..elements {
        let number = match rng.below(12) {
            0 => rng.pick(&edges),
            1 => rng.pick(&far),
            2 => rng.number() as i64 as f64,
            _ => rng.below(200) as f64 - 60.0,
        };
        let raw = rng.number();
        let little: [u8; 8] = match stored.kind {
            Kind::F32 => u64::from((number as f32).to_bits()).to_le_bytes(),
            Kind::F64 => number.to_bits().to_le_bytes(),
            _ if rng.once_in(4) => raw.to_le_bytes(),
            _ => (number as i64).to_le_bytes(),
        };
        let mut one = little[..stored.kind.size()].to_vec();
        if stored.order == Order::Big {
            one.reverse();
        }
        all.extend(one);
    }
    all
}

fn out<'a>(case: &'a Case, bytes: &'a mut [u8]) -> Out<'a> {
    let out = Out::raw(case.memory, bytes);
    // Both sets of rules are tested: the number of elements of the memory, even or odd, decides.
    let out = if case.memory_len.is_multiple_of(2) { out.cast() } else { out };
    match &case.map {
        Some((steps, origin)) => out.mapped(*origin, steps),
        None => out,
    }
}

fn input<'a>(case: &'a Case, bytes: &'a [u8]) -> In<'a> {
    let input = In::raw(case.memory, bytes);
    match &case.map {
        Some((steps, origin)) => input.mapped(*origin, steps),
        None => input,
    }
}

/// Returns the position behind the last byte of an array.
fn end(array: &Array) -> u64 {
    let Layout::Strided { begin, strides: steps } = &array.layout else { return 0 };
    let reach: u64 = array.shape.iter().zip(steps).map(|(len, step)| len.saturating_sub(1) * step).sum();
    begin + reach + array.stored.kind.size() as u64
}

/// Returns the bytes of a blob for an array; one in four ends before the array does.
fn blob(rng: &mut Rng, array: &Array) -> Vec<u8> {
    let end = end(array);
    let len = if rng.once_in(4) { rng.below(end + 1) } else { end + rng.below(20) } as usize;
    let mut content = bytes(rng, array.stored, len / array.stored.kind.size() + 1);
    content.truncate(len);
    content
}

fn reads_agree(rng: &mut Rng, case: &Case) -> RangeCheck {
    let blob = Counting::new(MemoryBlob::new(blob(rng, &case.array))).with_cost(cost(case.memory_len as u64));
    let before: Vec<u8> = (0..case.memory_len * case.memory.size()).map(|_| rng.number() as u8).collect();
    let (mut fast, mut slow) = (before.clone(), before);
    let fit = read(&blob, &case.array, &case.sel, out(case, &mut fast)).unwrap();
    assert_eq!(fit, oracle::read(&blob, &case.array, &case.sel, out(case, &mut slow)).unwrap(), "{case:?}");
    assert!(fast == slow, "{case:?}");
    fit
}

fn writes_agree(rng: &mut Rng, case: &Case) -> RangeCheck {
    let before = blob(rng, &case.array);
    let (fast, slow) = (MemoryBlob::new(before.clone()), MemoryBlob::new(before.clone()));
    let content = bytes(rng, Stored::native(case.memory), case.memory_len);
    let cost = cost(case.memory_len as u64);
    let fit = write(&Counting::new(&fast).with_cost(cost), &case.array, &case.sel, input(case, &content));
    let fit = fit.unwrap();
    assert_eq!(fit, oracle::write(&slow, &case.array, &case.sel, input(case, &content)).unwrap(), "{case:?}");
    assert!(fast.into_bytes() == slow.into_bytes(), "{case:?}");

    let (fast, slow) = (MemoryBlob::new(before.clone()), MemoryBlob::new(before));
    let value = &0x0102_0304_0506_0708u64.to_ne_bytes()[..case.array.stored.kind.size()];
    fill(&Counting::new(&fast).with_cost(cost), &case.array, &case.sel, value).unwrap();
    oracle::fill(&slow, &case.array, &case.sel, value).unwrap();
    assert!(fast.size() == slow.size() && fast.into_bytes() == slow.into_bytes(), "{case:?}");
    fit
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { array, sel, memory, map, .. } = self;
        let layout = if let Layout::Strided { .. } = array.layout { Some(&array.layout) } else { None };
        write!(f, "{:?} of {:?} at {layout:?}, {sel:?}, {memory:?} {map:?}", array.shape, array.stored)
    }
}

/// True if two elements of an array may overlap, so that the order of writes would count.
fn overlaps(array: &Array) -> bool {
    let Layout::Strided { strides: steps, .. } = &array.layout else { return false };
    let mut dims: Vec<(u64, u64)> = steps.iter().copied().zip(array.shape.iter().copied()).collect();
    dims.sort();
    let mut span = array.stored.kind.size() as u64;
    dims.into_iter().filter(|&(_, len)| len > 1).any(|(step, len)| {
        let overlap = step < span;
        span += (len - 1) * step;
        overlap
    })
}

#[test]
fn small_reads_equal_the_oracle() {
    let mut rng = Rng::new(1);
    let mut out_of_range = 0;
    for number in 0..8000 {
        let case = case(&mut rng, 300, number % 4 == 0);
        out_of_range += u32::from(reads_agree(&mut rng, &case) == RangeCheck::OutOfRange);
    }
    assert!((1000..6000).contains(&out_of_range), "{out_of_range}");
}

#[test]
fn small_writes_and_fills_equal_the_oracle() {
    let mut rng = Rng::new(2);
    let mut written = 0;
    for _ in 0..8000 {
        let case = case(&mut rng, 300, false);
        if !overlaps(&case.array) {
            let _ = writes_agree(&mut rng, &case);
            written += 1;
        }
    }
    assert!(written > 7000, "{written}");
}

#[test]
fn requests_on_all_threads_equal_the_oracle() {
    let mut rng = Rng::new(3);
    for number in 0..60 {
        let case = case(&mut rng, 600_000, number % 8 == 0);
        if end(&case.array) > 60_000_000 || overlaps(&case.array) {
            continue;
        }
        let _ = reads_agree(&mut rng, &case);
        if number % 8 != 0 {
            let _ = writes_agree(&mut rng, &case);
        }
    }
}

#[test]
fn large_reads_at_slow_page_offsets_equal_the_blob() {
    let elements = (33 << 20) / 2 + 1;
    let values: Vec<i16> = (0..elements as u32 + 4096).map(|number| (number * 7 % 65_521) as i16).collect();
    let blob = MemoryBlob::new(values.iter().flat_map(|value| value.to_le_bytes()).collect());
    let mut out = vec![0i16; elements];
    // Positions whose locations in a page are just before that of the memory, where kernels copy slowly.
    let page = out.as_ptr().addr() % 4096;
    for before in [2, 16, 30] {
        let begin = (page + 4096 - before) % 4096;
        let array =
            Array::contiguous(vec![elements as u64], Stored::little(Kind::I16), begin as u64).unwrap();
        out.fill(0);
        let done = read(&blob, &array, &Selection::all(&array.shape), Out::new(&mut out));
        assert_eq!(done, Ok(RangeCheck::InRange));
        assert!(out == values[begin / 2..][..elements], "from {begin} on");
    }
}
