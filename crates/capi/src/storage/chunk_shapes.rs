//! Default chunk shapes of variables in netCDF-4 files, chosen when the variable is defined.

use ferrocdf::model::Chunking;
use ferrocdf::{Model, Result, VarId, chosen_chunks, chunk_fits};

use crate::abi::answer::fail;

/// Returns the storage of a new variable: contiguous, or chunked if a dimension is unlimited.
pub(crate) fn of_new(model: &Model, var: VarId) -> Chunking {
    if model.var(var).dims.iter().any(|&dim| model.dim(dim).unlimited) {
        Chunking::Chunked(chosen_chunks(model, var, &[]))
    } else {
        Chunking::Contiguous
    }
}

/// Fails with `NC_EBADCHUNK` for chunks that are too large for any file, or longer than a dimension.
pub(crate) fn check(model: &Model, var: VarId, chunk: &[u64]) -> Result<()> {
    let described = model.var(var);
    if !chunk_fits(chunk, model.size_of(described.ty) as u64) {
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
