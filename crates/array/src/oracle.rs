//! The test oracle of the engine: reads, writes and converts one element at a time, slow and obviously right.
//!
//! It shares with the engine the types and the check of selections, and nothing else: the position of each element is computed
//! from its coordinates, numbers are converted through `i128` and `f64`. Requests must be valid: where the engine returns an
//! error, the oracle may panic.

use ferrocdf_bytes::{Order, Result, ToUsize};
use ferrocdf_store::{Blob, BlobMut, ByteRange};

use crate::{
    Array, ChunkLocation, ConversionRules, In, Kind, Layout, Map, Out, PastEnd, RangeCheck, Selection,
    SourceMapping, Stored,
};

/// As [`crate::read()`].
pub fn read(blob: &dyn Blob, array: &Array, sel: &Selection, out: Out<'_>) -> Result<RangeCheck> {
    sel.check(&array.shape)?;
    let made = out.kind.size();
    let mut fit = RangeCheck::InRange;
    for (number, index) in indices(&sel.count).enumerate() {
        let at: Vec<u64> =
            (0..index.len()).map(|dim| sel.start[dim] + index[dim] * sel.stride[dim]).collect();
        let to = element(out.map, number, &index) * made;
        let location = &mut out.bytes[to..to + made];
        // Elements of later mappings hide those of earlier ones.
        let mut in_range = RangeCheck::InRange;
        for (bytes, stored) in layers(blob, array, &at)? {
            in_range = one(out.rules, stored, &bytes, Stored::native(out.kind), location);
        }
        if in_range == RangeCheck::OutOfRange {
            fit = in_range;
        }
    }
    Ok(fit)
}

/// Returns the elements at these coordinates: of a virtual layout the fill value and the element of each mapping, else one
/// element.
fn layers(blob: &dyn Blob, array: &Array, at: &[u64]) -> Result<Vec<(Vec<u8>, Stored)>> {
    let Layout::Virtual(virtual_layout) = &array.layout else { return Ok(vec![stored(blob, array, at)?]) };
    let background =
        Array { layout: Layout::Fill(virtual_layout.fill.clone()), decoder: None, ..array.clone() };
    let mut layers = vec![stored(blob, &background, at)?];
    for mapping in virtual_layout.mappings.iter() {
        let Some(from) = in_mapping(mapping, at) else { continue };
        if let Some((blob, source)) = mapping.source.open()?
            && from.iter().zip(&source.shape).all(|(at, len)| at < len)
        {
            layers.extend(self::layers(&*blob, &source, &from)?);
        }
    }
    Ok(layers)
}

/// Returns the bytes of the element at these coordinates, and their stored type.
fn stored(blob: &dyn Blob, array: &Array, at: &[u64]) -> Result<(Vec<u8>, Stored)> {
    if let Some(decoder) = &array.decoder {
        let bytes = array.as_bytes(decoder.size());
        let mut raw = Vec::new();
        for byte in 0..decoder.size() as u64 {
            raw.extend(stored(blob, &bytes, &[at, &[byte]].concat())?.0);
        }
        let mut made = vec![0; array.stored.kind.size()];
        decoder.convert(&raw, &mut made);
        return Ok((made, array.stored));
    }
    let size = array.stored.kind.size();
    let mut bytes = vec![0; size];
    let fill = |fill: &[u8], last: u64| -> Vec<u8> {
        if fill.is_empty() {
            return vec![0; size];
        }
        let from = last.saturate() * size % fill.len();
        fill[from..from + size].to_vec()
    };
    let last = at.last().copied().unwrap_or(0);
    match &array.layout {
        Layout::Inline(data) => {
            let from = position(array, at).saturate();
            bytes.copy_from_slice(&data[from..from + size]);
        }
        Layout::Strided { .. } if array.past_end == PastEnd::Zero => {
            blob.read_zero_filled_at(position(array, at), &mut bytes)?;
        }
        Layout::Strided { .. } => blob.read_exact_at(position(array, at), &mut bytes)?,
        Layout::Fill(value) => bytes = fill(value, last),
        Layout::Chunked(chunks) => {
            let chunk: Vec<u64> = at.iter().zip(&chunks.shape).map(|(at, len)| at / len).collect();
            let within =
                at.iter().zip(&chunks.shape).fold(0, |index, (at, len)| index * len + at % len).saturate();
            let location = chunks.locate(&*chunks.index, &chunk, &vec![1; at.len()])?[0];
            let encoded = match location {
                ChunkLocation::Missing => None,
                ChunkLocation::At { at, len, mask } => {
                    let mut encoded = vec![0; len.to_usize("encoded bytes")?];
                    blob.read_exact_at(at, &mut encoded)?;
                    Some((encoded, mask))
                }
                ChunkLocation::Object { at, len, mask } => {
                    let objects = chunks.index.objects().expect("chunks in objects have a store");
                    let key = chunks.key(chunk.iter().copied());
                    let found = objects.store().get(&objects.key(&key), ByteRange::All)?;
                    found.map(|found| {
                        let from = &found.bytes[at.saturate()..];
                        (from[..len.at_most(from.len())].to_vec(), mask)
                    })
                }
            };
            match encoded {
                None => bytes = fill(&chunks.fill, last % chunks.shape.last().copied().unwrap_or(1)),
                Some((encoded, mask)) => {
                    let mut decoded =
                        vec![0; chunks.shape.iter().product::<u64>().to_usize("elements")? * size];
                    chunks.chain.decode(mask, &encoded, &mut decoded)?;
                    bytes.copy_from_slice(&decoded[within * size..][..size]);
                }
            }
        }
        Layout::Virtual(_) => unreachable!("a virtual layout has layers"),
    }
    Ok((bytes, array.stored))
}

/// Returns the coordinates in the source of an element of a virtual layout, if it is in the mapping.
fn in_mapping(mapping: &SourceMapping, at: &[u64]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for (dim, &at) in at.iter().enumerate() {
        let (start, count, stride) = (
            mapping.virtual_selection.start[dim],
            mapping.virtual_selection.count[dim],
            mapping.virtual_selection.stride[dim],
        );
        let number = at.checked_sub(start).filter(|far| far % stride == 0).map(|far| far / stride)?;
        if number >= count {
            return None;
        }
        if count != 1 {
            numbers.push(number);
        }
    }
    let mut numbers = numbers.into_iter();
    let there = &mapping.source_selection;
    let along = |dim: usize| if there.count[dim] == 1 { Some(0) } else { numbers.next() };
    let numbers: Option<Vec<u64>> = (0..there.count.len()).map(along).collect();
    Some(
        numbers?
            .iter()
            .enumerate()
            .map(|(dim, number)| there.start[dim] + number * there.stride[dim])
            .collect(),
    )
}

/// As [`crate::write()`].
pub fn write(blob: &dyn BlobMut, array: &Array, sel: &Selection, input: In<'_>) -> Result<RangeCheck> {
    sel.check(&array.shape)?;
    let size = input.kind.size();
    let mut fit = RangeCheck::InRange;
    for (number, index) in indices(&sel.count).enumerate() {
        let from = element(input.map, number, &index) * size;
        let from = &input.bytes[from..from + size];
        let mut stored = vec![0; array.stored.kind.size()];
        if one(input.rules, Stored::native(input.kind), from, array.stored, &mut stored)
            == RangeCheck::OutOfRange
        {
            fit = RangeCheck::OutOfRange;
        }
        blob.write_at(selected(array, sel, &index), &stored)?;
    }
    Ok(fit)
}

/// As [`crate::fill`].
pub fn fill(blob: &dyn BlobMut, array: &Array, sel: &Selection, value: &[u8]) -> Result<()> {
    sel.check(&array.shape)?;
    indices(&sel.count).try_for_each(|index| blob.write_at(selected(array, sel, &index), value))
}

/// Returns all indices below `count`, last dimension fastest.
fn indices(count: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let mut next = (!count.contains(&0)).then(|| vec![0; count.len()]);
    std::iter::from_fn(move || {
        let current = next.clone()?;
        let mut following = current.clone();
        next = None;
        for dim in (0..count.len()).rev() {
            following[dim] += 1;
            if following[dim] < count[dim] {
                next = Some(following);
                break;
            }
            following[dim] = 0;
        }
        Some(current)
    })
}

/// Returns the byte position of a selected element.
fn selected(array: &Array, sel: &Selection, index: &[u64]) -> u64 {
    let at: Vec<u64> = (0..index.len()).map(|dim| sel.start[dim] + index[dim] * sel.stride[dim]).collect();
    position(array, &at)
}

/// Returns the byte position of the element at these coordinates.
fn position(array: &Array, at: &[u64]) -> u64 {
    let mut inline_step = array.stored.kind.size() as u64;
    let mut position = if let Layout::Strided { begin, .. } = &array.layout { *begin } else { 0 };
    for dim in (0..at.len()).rev() {
        let step =
            if let Layout::Strided { strides, .. } = &array.layout { strides[dim] } else { inline_step };
        position += at[dim] * step;
        inline_step *= array.shape[dim];
    }
    position
}

/// Returns the index in memory of a selected element.
fn element(map: Option<Map<'_>>, number: usize, index: &[u64]) -> usize {
    let Some(map) = map else { return number };
    let offset: isize =
        index.iter().zip(map.strides).map(|(&index, step)| index.saturate() as isize * step).sum();
    (map.origin as isize + offset) as usize
}

/// A number without its type.
#[derive(Clone, Copy)]
enum ExactNumber {
    Int(i128),
    Float(f64),
}

/// Converts one element by the rules that `kernels` states.
fn one(direction: ConversionRules, from: Stored, input: &[u8], to: Stored, output: &mut [u8]) -> RangeCheck {
    let little = |stored: Stored, bytes: &[u8]| -> Vec<u8> {
        if stored.order == Order::Big { bytes.iter().rev().copied().collect() } else { bytes.to_vec() }
    };
    let bytes = little(from, input);
    if from.kind == to.kind {
        output.copy_from_slice(&little(to, &bytes));
        return RangeCheck::InRange;
    }
    let (value, fit) = match (decode(from.kind, &bytes), to.kind.is_float()) {
        (ExactNumber::Int(int), false) => (Some(ExactNumber::Int(int)), in_range(int, to.kind)),
        (ExactNumber::Float(float), false) => float_to_int(direction, from.kind, float, to.kind),
        (ExactNumber::Int(int), true) => (Some(ExactNumber::Int(int)), true),
        (ExactNumber::Float(float), true) => {
            let widening = to.kind == Kind::F64;
            let beyond = float.abs() > f64::from(f32::MAX);
            match direction {
                ConversionRules::Get | ConversionRules::Cast if widening => {
                    (Some(ExactNumber::Float(float)), true)
                }
                ConversionRules::Get if beyond => {
                    (Some(ExactNumber::Float(f64::from(f32::MAX).copysign(float))), false)
                }
                _ => (Some(ExactNumber::Float(float)), !beyond),
            }
        }
    };
    if let Some(value) = value {
        output.copy_from_slice(&little(to, &encode(to.kind, value)));
    }
    fit.into()
}

fn bounds(kind: Kind) -> (i128, i128) {
    let bits = 8 * kind.size();
    match kind {
        Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}

fn in_range(int: i128, kind: Kind) -> bool {
    let (low, high) = bounds(kind);
    low <= int && int <= high
}

/// Returns the integer for a float, `None` if memory keeps its old value; and true if the float is in range.
fn float_to_int(direction: ConversionRules, from: Kind, float: f64, to: Kind) -> (Option<ExactNumber>, bool) {
    let (low, high) = bounds(to);
    let rounded_high = if to.size() == 8 && from == Kind::F32 { f64::from(high as f32) } else { high as f64 };
    // In netCDF-4 files the bound of 32 bits is rounded to the float type as well.
    let rounded_high = if direction == ConversionRules::Cast && (from, to) == (Kind::F32, Kind::U32) {
        2f64.powi(32)
    } else {
        rounded_high
    };
    let in_range = !(float > rounded_high || float < low as f64);
    if direction == ConversionRules::Get {
        if !in_range {
            return (None, false);
        }
        if to.size() == 8 && float == rounded_high {
            return (Some(ExactNumber::Int(high)), true);
        }
    }
    // The instruction of the processor, which knows signed integers of 32 and 64 bits.
    let cut = |float: f64, bits: u32| -> i128 {
        let least: i128 = -1 << (bits - 1);
        let whole = float.trunc();
        if float.is_nan() || whole < least as f64 || whole >= -(least as f64) { least } else { whole as i128 }
    };
    let half = 2f64.powi(63);
    let int = match to {
        Kind::U32 | Kind::I64 => cut(float, 64),
        Kind::U64 if float >= half => cut(float - half, 64) + (1 << 63),
        Kind::U64 => cut(float, 64),
        _ => cut(float, 32),
    };
    (Some(ExactNumber::Int(int)), in_range)
}

fn decode(kind: Kind, little: &[u8]) -> ExactNumber {
    let mut wide = [0; 16];
    wide[..little.len()].copy_from_slice(little);
    let raw = i128::from_le_bytes(wide);
    match kind {
        Kind::F32 => ExactNumber::Float(f64::from(f32::from_bits(raw as u32))),
        Kind::F64 => ExactNumber::Float(f64::from_bits(raw as u64)),
        _ if in_range(raw, kind) => ExactNumber::Int(raw),
        _ => ExactNumber::Int(raw - (1 << (8 * kind.size()))),
    }
}

/// Returns the low bytes of an integer, or the bytes of the nearest float.
fn encode(kind: Kind, value: ExactNumber) -> Vec<u8> {
    let all = match (kind, value) {
        (Kind::F32, ExactNumber::Int(int)) => i128::from((int as f32).to_bits()),
        (Kind::F32, ExactNumber::Float(float)) => i128::from((float as f32).to_bits()),
        (Kind::F64, ExactNumber::Int(int)) => i128::from((int as f64).to_bits()),
        (Kind::F64, ExactNumber::Float(float)) => i128::from(float.to_bits()),
        (_, ExactNumber::Int(int)) => int,
        (_, ExactNumber::Float(_)) => unreachable!("floats are made integers by float_to_int"),
    };
    all.to_le_bytes()[..kind.size()].to_vec()
}
