//! The chunks that a variable of a netCDF-4 file gets without a word on them, told as soon as it is defined.

use ferrocdf::model::{Chunking, Dim};
use ferrocdf::{Model, Result, VarId, chunk_fits, default_chunks};

use crate::boundary::fail;
use crate::types::size_of_type;

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
    default_chunks(&dims, size_of_type(model, described.ty) as u64)
}

/// Fails with `NC_EBADCHUNK` for chunks that no file can hold, or that are longer than a dimension.
pub(crate) fn check(model: &Model, var: VarId, chunk: &[u64]) -> Result<()> {
    let described = model.var(var);
    if !chunk_fits(chunk, size_of_type(model, described.ty) as u64) {
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
