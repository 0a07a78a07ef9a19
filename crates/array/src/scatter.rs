//! Gathering the selected elements of a tile or chunk into a dense buffer, and scattering them back.
//!
//! The innermost dimension is a run of contiguous bytes. Runs of one element have loops of their own, where the compiler
//! knows the length of each copy.

use ferrocdf_bytes::ToUsize;
use ferrocdf_codec::unshuffle_part;

use crate::tiling::{Dim, offset};

/// Calls `row` for each line of runs: its byte offsets in the strided and in the dense buffer, number of runs, and stride.
fn lines(dims: &[Dim], run: usize, mut row: impl FnMut(usize, usize, usize, usize)) {
    let (outer, line) = match dims {
        [] => (dims, Dim { count: 1, step: run as u64 }),
        [outer @ .., line] => (outer, *line),
    };
    let (count, step) = (line.count.saturate(), line.step.saturate());
    let rows: u64 = outer.iter().map(|dim| dim.count).product();
    for number in 0..rows {
        row(offset(outer, number).saturate(), number.saturate() * count * run, count, step);
    }
}

/// Returns the dimensions that count runs, and the bytes of a run.
fn runs(dims: &[Dim], size: usize) -> (&[Dim], usize) {
    match dims {
        [outer @ .., run] => (outer, run.count.saturate() * size),
        [] => (dims, size),
    }
}

/// Gathers elements into `dense`.
pub(crate) fn gather(window: &[u8], dims: &[Dim], size: usize, dense: &mut [u8]) {
    let (outer, run) = runs(dims, size);
    lines(outer, run, |at, to, count, step| {
        let from = &window[at..];
        let to = &mut dense[to..to + count * run];
        match run {
            1 => gather_line::<1>(from, step, to),
            2 => gather_line::<2>(from, step, to),
            4 => gather_line::<4>(from, step, to),
            8 => gather_line::<8>(from, step, to),
            _ => {
                for (number, to) in to.chunks_exact_mut(run).enumerate() {
                    to.copy_from_slice(&from[number * step..][..run]);
                }
            }
        }
    });
}

/// Gathers elements of a shuffled chunk, from element `first` on, into `dense`. Strides are those of the unshuffled chunk.
pub(crate) fn gather_planes(planes: &[u8], first: usize, dims: &[Dim], size: usize, dense: &mut [u8]) {
    let (outer, run) = runs(dims, size);
    let count_of = planes.len() / size;
    lines(outer, run, |at, to, count, step| {
        let to = &mut dense[to..to + count * run];
        let (first, step) = (first + at / size, step / size);
        if run > size || count == 1 {
            for (number, to) in to.chunks_exact_mut(run).enumerate() {
                unshuffle_part(size, planes, first + number * step, to);
            }
            return;
        }
        for (of, plane) in planes.chunks_exact(count_of).enumerate() {
            let bytes = &plane[first..];
            for (number, element) in to.chunks_exact_mut(size).enumerate() {
                element[of] = bytes[number * step];
            }
        }
    });
}

/// Scatters the elements of `dense`.
pub(crate) fn scatter(dense: &[u8], dims: &[Dim], size: usize, window: &mut [u8]) {
    let (outer, run) = runs(dims, size);
    lines(outer, run, |at, from, count, step| {
        let to = &mut window[at..];
        let from = &dense[from..from + count * run];
        match run {
            1 => scatter_line::<1>(from, to, step),
            2 => scatter_line::<2>(from, to, step),
            4 => scatter_line::<4>(from, to, step),
            8 => scatter_line::<8>(from, to, step),
            _ => {
                for (number, from) in from.chunks_exact(run).enumerate() {
                    to[number * step..][..run].copy_from_slice(from);
                }
            }
        }
    });
}

fn gather_line<const N: usize>(from: &[u8], step: usize, to: &mut [u8]) {
    for (number, to) in to.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        to.copy_from_slice(&from[number * step..][..N]);
    }
}

fn scatter_line<const N: usize>(from: &[u8], to: &mut [u8], step: usize) {
    for (number, from) in from.as_chunks::<N>().0.iter().enumerate() {
        to[number * step..][..N].copy_from_slice(from);
    }
}
