//! The chunks that a variable of a netCDF-4 file gets without a word on them, told as soon as it is defined.
//!
//! The arithmetic is the reference's, cut-off fractions and single precision included: programs print these numbers.

use ferrocdf::model::{Chunking, Dim};
use ferrocdf::{Model, Result, VarId};

use crate::boundary::fail;
use crate::types::size_of_type;

/// Bytes of a chunk at most, where one dimension at least is fixed.
const CHUNK: f64 = 16_777_216.0;
/// Bytes of a chunk of a variable on one unlimited dimension.
const LINE: u64 = 4096;
/// Bytes that no chunk exceeds.
const MOST: f64 = u32::MAX as f64;

/// How a new variable is stored: in one run, or in chunks if a dimension grows.
pub(crate) fn of_new(model: &Model, var: VarId) -> Chunking {
    if model.var(var).dims.iter().any(|&dim| model.dim(dim).unlimited) {
        Chunking::Chunked(usual(model, var))
    } else {
        Chunking::Contiguous
    }
}

/// The usual chunk shape of a variable.
pub(crate) fn usual(model: &Model, var: VarId) -> Vec<u64> {
    let described = model.var(var);
    // What grows has no length that chunks are cut to, whatever was written so far.
    let len = |dim: &Dim| (if dim.unlimited { 0 } else { dim.len }, dim.unlimited);
    let dims: Vec<(u64, bool)> = described.dims.iter().map(|&dim| len(model.dim(dim))).collect();
    shape(&dims, size_of_type(model, described.ty) as u64)
}

/// Fails with `NC_EBADCHUNK` for chunks that no file can hold, or that are longer than a dimension.
pub(crate) fn check(model: &Model, var: VarId, chunk: &[u64]) -> Result<()> {
    let described = model.var(var);
    if bytes(chunk, size_of_type(model, described.ty) as u64) > MOST {
        return fail(ferrocdf::Code::EBADCHUNK, "a chunk is smaller than 4 GiB");
    }
    for (&chunk, &dim) in chunk.iter().zip(&described.dims) {
        let dim = model.dim(dim);
        if !dim.unlimited && dim.len > 0 && chunk > dim.len {
            let what = format!("a chunk of {chunk} in dimension \"{}\" of length {}", dim.name, dim.len);
            return fail(ferrocdf::Code::EBADCHUNK, what);
        }
    }
    Ok(())
}

fn bytes(chunk: &[u64], size: u64) -> f64 {
    chunk.iter().fold(size as f64, |bytes, &len| bytes * len as f64)
}

fn shape(dims: &[(u64, bool)], size: u64) -> Vec<u64> {
    let size = size.max(1);
    let rank = dims.len() as f64;
    let growing = dims.iter().filter(|(_, grows)| *grows).count();
    let values = dims.iter().filter(|(_, grows)| !grows).fold(1f32, |values, &(len, _)| values * len as f32);
    let mut shape: Vec<u64> = dims.iter().map(|&(_, grows)| u64::from(grows)).collect();
    if dims.len() == 1 && growing == 1 {
        shape[0] = (CHUNK as u64 / size).clamp(1, LINE) / size;
    } else if growing == dims.len() {
        shape.fill(((CHUNK / size as f64).powf(1.0 / rank) as u64).max(1));
    }
    for (chunk, &(len, _)) in shape.iter_mut().zip(dims).filter(|(chunk, _)| **chunk == 0) {
        let part = (CHUNK / (f64::from(values) * size as f64)).powf(1.0 / (rank - growing as f64));
        let wanted = (part * len as f64 - 0.5) as u64;
        *chunk = wanted.min(len).max(1);
    }
    while bytes(&shape, size) > MOST {
        shape.iter_mut().for_each(|chunk| *chunk = (*chunk / 2).max(1));
    }
    // The last chunk of a dimension shall not be nearly empty.
    for (chunk, &(len, _)) in shape.iter_mut().zip(dims) {
        let count = len.div_ceil(*chunk);
        let beyond = count.saturating_mul(*chunk) - len;
        *chunk -= beyond.checked_div(count).unwrap_or(0);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_the_reference() {
        let (fixed, grows) = (|len| (len, false), (0, true));
        assert_eq!(shape(&[grows], 4), [1024]);
        assert_eq!(shape(&[grows], 8), [512]);
        assert_eq!(shape(&[grows, grows], 4), [2048, 2048]);
        assert_eq!(shape(&[fixed(2), grows], 4), [2, 1]);
        assert_eq!(shape(&[grows, fixed(4), fixed(3)], 4), [1, 4, 3]);
    }
}
