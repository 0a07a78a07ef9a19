//! Chunking of variables. In classic files it cannot be set: a definition fails with `NC_ENOTNC4`, and an inquiry
//! returns contiguous storage.

use std::ffi::c_int;

use ferrocdf::model::Chunking;
use ferrocdf::{Code, Result, chosen_chunks};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{Out, list, put_all};
use crate::open::ids::find_enhanced;
use crate::storage::chunk_shapes;
use crate::storage::definition::{storage_of, wish};

const NC_CHUNKED: c_int = 0;

const NC_CONTIGUOUS: c_int = 1;

const NC_COMPACT: c_int = 2;

/// Any other storage, such as virtual layouts.
const NC_UNKNOWN_STORAGE: c_int = 3;

/// Largest variable of compact storage, in bytes.
const MOST_COMPACT: u64 = 64 << 10;

/// Sets the storage of a variable. `sizes` is called only for chunked storage.
fn set_chunking(
    ncid: c_int,
    varid: c_int,
    kind: c_int,
    sizes: impl FnOnce(usize) -> Option<Vec<u64>>,
) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            let rank = model.var(var).dims.len();
            let grows = model.var(var).dims.iter().any(|&dim| model.dim(dim).unlimited);
            let must_chunk = grows || !model.var(var).storage.filters.is_empty();
            let chunking = match kind {
                NC_CHUNKED if rank == 0 => return fail(Code::EINVAL, "a scalar has no chunks"),
                NC_CHUNKED => {
                    let sizes = sizes(rank);
                    if let Some(sizes) = &sizes {
                        chunk_shapes::check(model, var, sizes)?;
                    }
                    match (sizes, &model.var(var).storage.chunking) {
                        // Zeros after a nonzero size stay until the variable is created.
                        (Some(sizes), _) if sizes.first() != Some(&0) => Chunking::Chunked(sizes),
                        (None, Some(Chunking::Chunked(known))) => Chunking::Chunked(known.clone()),
                        (sizes, _) => {
                            Chunking::Chunked(chosen_chunks(model, var, &sizes.unwrap_or_default()))
                        }
                    }
                }
                _ if must_chunk => {
                    return fail(Code::EINVAL, "what grows or goes through filters is stored in chunks");
                }
                NC_CONTIGUOUS => Chunking::Contiguous,
                NC_COMPACT => {
                    let size = model.size_of(model.var(var).ty) as u64;
                    let bytes = model.shape(var).iter().fold(size, |all, &len| all.saturating_mul(len));
                    if bytes > MOST_COMPACT {
                        return fail(Code::EVARSIZE, format!("{bytes} bytes do not fit in a header"));
                    }
                    Chunking::Compact
                }
                // netCDF-C accepts any other number, and does nothing.
                _ => return Ok(()),
            };
            model.var_mut(var).storage.chunking = Some(chunking);
            Ok(())
        })
    })
}

/// Returns the sizes of the caller; `None` for a null pointer. Negative sizes become sizes that are too large.
///
/// # Safety
/// `sizes` is null or has `rank` sizes.
unsafe fn sizes<T: Copy + TryInto<u64>>(sizes: *const T, rank: usize) -> Option<Vec<u64>> {
    // SAFETY: `sizes` is null or has `rank` sizes.
    let given = unsafe { list(sizes, rank) };
    (!sizes.is_null()).then(|| given.iter().map(|&size| size.try_into().unwrap_or(u64::MAX)).collect())
}

/// # Safety
/// `chunk` is null or has a size for each dimension of the variable.
pub unsafe extern "C" fn nc_def_var_chunking(
    ncid: c_int,
    varid: c_int,
    kind: c_int,
    chunk: *const usize,
) -> c_int {
    // SAFETY: `chunk` is null or has a size for each dimension.
    set_chunking(ncid, varid, kind, |rank| unsafe { sizes(chunk, rank) })
}

/// # Safety
/// `chunk` is null or has a size for each dimension of the variable.
pub unsafe extern "C" fn nc_def_var_chunking_ints(
    ncid: c_int,
    varid: c_int,
    kind: c_int,
    chunk: *const c_int,
) -> c_int {
    // SAFETY: `chunk` is null or has a size for each dimension.
    set_chunking(ncid, varid, kind, |rank| unsafe { sizes(chunk, rank) })
}

/// Stores the kind of storage of a variable, and the chunk shape if it is chunked.
///
/// # Safety
/// `chunk` is null or has room for a size for each dimension of the variable.
unsafe fn give_chunking<T: TryFrom<u64>>(
    ncid: c_int,
    varid: c_int,
    kind: Out<c_int>,
    chunk: *mut T,
) -> c_int {
    answer(|| {
        let storage = storage_of(ncid, varid)?;
        let number = match &storage.chunking {
            Some(Chunking::Chunked(_)) => NC_CHUNKED,
            Some(Chunking::Compact) => NC_COMPACT,
            None if find_enhanced(ncid).is_ok() => NC_UNKNOWN_STORAGE,
            Some(Chunking::Contiguous) | None => NC_CONTIGUOUS,
        };
        kind.put(number);
        if let Some(Chunking::Chunked(sizes)) = storage.chunking {
            let sizes = sizes.into_iter().map(T::try_from).collect::<Result<Vec<T>, _>>();
            let Ok(sizes) = sizes else { return fail(Code::ERANGE, "a chunk is too large to tell") };
            // SAFETY: `chunk` is null or has room for a size for each dimension.
            unsafe { put_all(chunk, sizes) };
        }
        Ok(())
    })
}

/// # Safety
/// `chunk` is null or has room for a size for each dimension of the variable.
pub unsafe extern "C" fn nc_inq_var_chunking(
    ncid: c_int,
    varid: c_int,
    kind: Out<c_int>,
    chunk: *mut usize,
) -> c_int {
    // SAFETY: `chunk` is null or has room for a size for each dimension.
    unsafe { give_chunking(ncid, varid, kind, chunk) }
}

/// # Safety
/// `chunk` is null or has room for a size for each dimension of the variable.
pub unsafe extern "C" fn nc_inq_var_chunking_ints(
    ncid: c_int,
    varid: c_int,
    kind: Out<c_int>,
    chunk: *mut c_int,
) -> c_int {
    // SAFETY: `chunk` is null or has room for a size for each dimension.
    unsafe { give_chunking(ncid, varid, kind, chunk) }
}
