//! How variables are stored: chunks, byte order, checksums, quantization. Classic files leave no choice: they answer
//! `NC_ENOTNC4` to wishes, and tell how they store.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::{Chunking, Endian, Filter, Quantization, Quantize};
use ferrocdf::{Atomic, Code, Owner, Result, Type, Values, chosen_chunks, define_filter};

use crate::boundary::{answer, fail, list, put, put_all};
use crate::chunk_shapes;
use crate::entities::{check_not_global, variable};
use crate::filters::nc_def_var_filter;
use crate::open_files::{find, find_enhanced};
use crate::storage_wishes::{add_filter, filtered, storage_of, wish};

const NC_CHUNKED: c_int = 0;
const NC_CONTIGUOUS: c_int = 1;
const NC_COMPACT: c_int = 2;
/// Any other, such as pieces of other files.
const NC_UNKNOWN_STORAGE: c_int = 3;
const NC_ENDIAN_LITTLE: c_int = 1;
const NC_ENDIAN_BIG: c_int = 2;

/// Bytes of a variable that lies in its header, at most.
const MOST_COMPACT: u64 = 64 << 10;

/// `sizes` are not looked at unless the variable is chunked.
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
                        // Zeros behind another size stay until the variable is made.
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
                // The reference takes any number, and does nothing.
                _ => return Ok(()),
            };
            model.var_mut(var).storage.chunking = Some(chunking);
            Ok(())
        })
    })
}

/// Sizes that the caller gave, if the caller gave any. Negative ones become too large ones.
///
/// # Safety
/// The pointer is null or there are that many.
unsafe fn sizes<T: Copy + TryInto<u64>>(sizes: *const T, rank: usize) -> Option<Vec<u64>> {
    // SAFETY: as the caller says.
    let given = unsafe { list(sizes, rank) };
    (!sizes.is_null()).then(|| given.iter().map(|&size| size.try_into().unwrap_or(u64::MAX)).collect())
}

pub unsafe extern "C" fn nc_def_var_chunking(
    ncid: c_int,
    varid: c_int,
    kind: c_int,
    chunk: *const usize,
) -> c_int {
    // SAFETY: the contract of the interface.
    set_chunking(ncid, varid, kind, |rank| unsafe { sizes(chunk, rank) })
}

pub unsafe extern "C" fn nc_def_var_chunking_ints(
    ncid: c_int,
    varid: c_int,
    kind: c_int,
    chunk: *const c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    set_chunking(ncid, varid, kind, |rank| unsafe { sizes(chunk, rank) })
}

/// Gives the arrangement of a variable, and where it is chunked the chunk's sizes.
unsafe fn give_chunking<T: TryFrom<u64>>(
    ncid: c_int,
    varid: c_int,
    kind: *mut c_int,
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
        // SAFETY: the contract of the interface.
        unsafe { put(kind, number) };
        if let Some(Chunking::Chunked(sizes)) = storage.chunking {
            let sizes = sizes.into_iter().map(T::try_from).collect::<Result<Vec<T>, _>>();
            let Ok(sizes) = sizes else { return fail(Code::ERANGE, "a chunk is too large to tell") };
            // SAFETY: the contract of the interface.
            unsafe { put_all(chunk, sizes) };
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_var_chunking(
    ncid: c_int,
    varid: c_int,
    kind: *mut c_int,
    chunk: *mut usize,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { give_chunking(ncid, varid, kind, chunk) }
}

pub unsafe extern "C" fn nc_inq_var_chunking_ints(
    ncid: c_int,
    varid: c_int,
    kind: *mut c_int,
    chunk: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { give_chunking(ncid, varid, kind, chunk) }
}

pub extern "C" fn nc_def_var_endian(ncid: c_int, varid: c_int, endian: c_int) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            let ordered = |atomic| !matches!(atomic, Atomic::Char | Atomic::String);
            if !matches!(model.var(var).ty, Type::Atomic(atomic) if ordered(atomic)) {
                return fail(Code::EINVAL, "only numbers have a byte order");
            }
            model.var_mut(var).storage.endian = match endian {
                0 => None,
                NC_ENDIAN_LITTLE => Some(Endian::Little),
                NC_ENDIAN_BIG => Some(Endian::Big),
                _ => return fail(Code::EINVAL, format!("{endian} is no byte order")),
            };
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_var_endian(ncid: c_int, varid: c_int, endian: *mut c_int) -> c_int {
    answer(|| {
        let storage = storage_of(ncid, varid)?;
        if endian.is_null() {
            return Ok(());
        }
        find_enhanced(ncid)?;
        let number = match storage.endian {
            None => 0,
            Some(Endian::Little) => NC_ENDIAN_LITTLE,
            Some(Endian::Big) => NC_ENDIAN_BIG,
        };
        // SAFETY: the contract of the interface.
        unsafe { put(endian, number) };
        Ok(())
    })
}

pub extern "C" fn nc_def_var_deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: c_int,
    deflate: c_int,
    level: c_int,
) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            if shuffle != 0 {
                define_filter(model, var, Filter::SHUFFLE, &[])?;
            }
            Ok(())
        })?;
        // Level 0 is a valid one, of which nobody has anything.
        if deflate == 0 || level == 0 {
            return Ok(());
        }
        add_filter(ncid, varid, Filter::DEFLATE, Some(&[level as c_uint]))
    })
}

/// A classic variable need not exist to be said not to be deflated, unless it is asked whether it is shuffled.
pub unsafe extern "C" fn nc_inq_var_deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: *mut c_int,
    deflate: *mut c_int,
    level: *mut c_int,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = storage.filter(Filter::DEFLATE);
        // SAFETY: the contract of the interface.
        unsafe {
            put(deflate, c_int::from(found.is_some()));
            put(level, found.and_then(|found| found.first().copied()).unwrap_or(0) as c_int);
        }
        if !shuffle.is_null() {
            let shuffled = storage_of(ncid, varid)?.filter(Filter::SHUFFLE).is_some();
            // SAFETY: the contract of the interface.
            unsafe { put(shuffle, c_int::from(shuffled)) };
        }
        Ok(())
    })
}

pub extern "C" fn nc_def_var_fletcher32(ncid: c_int, varid: c_int, checksum: c_int) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            if checksum != 0 { define_filter(model, var, Filter::FLETCHER32, &[]) } else { Ok(()) }
        })
    })
}

pub unsafe extern "C" fn nc_inq_var_fletcher32(ncid: c_int, varid: c_int, checksum: *mut c_int) -> c_int {
    answer(|| {
        let found = storage_of(ncid, varid)?.filter(Filter::FLETCHER32).is_some();
        // SAFETY: the contract of the interface.
        unsafe { put(checksum, c_int::from(found)) };
        Ok(())
    })
}

pub extern "C" fn nc_def_var_szip(ncid: c_int, varid: c_int, mask: c_int, pixels: c_int) -> c_int {
    let parameters = [mask as c_uint, pixels as c_uint];
    // SAFETY: there are two parameters.
    unsafe { nc_def_var_filter(ncid, varid, Filter::SZIP, parameters.len(), parameters.as_ptr()) }
}

pub unsafe extern "C" fn nc_inq_var_szip(
    ncid: c_int,
    varid: c_int,
    mask: *mut c_int,
    pixels: *mut c_int,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = match storage.filter(Filter::SZIP) {
            None => &[0, 0],
            Some(found) if found.len() < 2 => return fail(Code::EFILTER, "szip has too few parameters"),
            Some(found) => found,
        };
        // SAFETY: the contract of the interface.
        unsafe {
            put(mask, found[0] as c_int);
            put(pixels, found[1] as c_int);
        }
        Ok(())
    })
}

/// The ways to quantize: their numbers, the attributes that tell of them, and how many digits or bits there are of
/// `float` and of `double`.
const QUANTIZED: [(c_int, Quantization, &[u8], [c_int; 2]); 3] = [
    (1, Quantization::BitGroom, b"_QuantizeBitGroomNumberOfSignificantDigits", [6, 15]),
    (2, Quantization::GranularBitRound, b"_QuantizeGranularBitRoundNumberOfSignificantDigits", [6, 15]),
    (3, Quantization::BitRound, b"_QuantizeBitRoundNumberOfSignificantBits", [23, 52]),
];

pub extern "C" fn nc_def_var_quantize(ncid: c_int, varid: c_int, mode: c_int, digits: c_int) -> c_int {
    answer(|| {
        find(ncid)?;
        check_not_global(varid)?;
        wish(ncid, varid, |model, var| {
            let quantize = if mode == 0 {
                None
            } else {
                let way = QUANTIZED.iter().find(|(number, ..)| *number == mode);
                let most = way.and_then(|(_, way, _, [float, double])| match model.var(var).ty {
                    Type::Atomic(Atomic::Float) => Some((*way, *float)),
                    Type::Atomic(Atomic::Double) => Some((*way, *double)),
                    _ => None,
                });
                match most {
                    Some((way, most)) if (1..=most).contains(&digits) => {
                        Some(Quantize { way, digits: digits as u32 })
                    }
                    _ => {
                        return fail(Code::EINVAL, format!("no way {mode} to keep {digits} digits of these"));
                    }
                }
            };
            model.var_mut(var).storage.quantize = quantize;
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_var_quantize(
    ncid: c_int,
    varid: c_int,
    mode: *mut c_int,
    digits: *mut c_int,
) -> c_int {
    answer(|| {
        find(ncid)?;
        check_not_global(varid)?;
        let (file, group) = find_enhanced(ncid)?;
        let (way, left) = file.file().look(|model| {
            let var = variable(model, group, varid)?;
            let wanted = model.var(var).storage.quantize;
            let found = QUANTIZED.iter().find_map(|&(number, way, name, _)| {
                if let Some(wanted) = wanted {
                    return (wanted.way == way).then_some((number, wanted.digits as c_int));
                }
                match model.find_attr(Owner::Var(var), name)?.value {
                    Values::Int(ref numbers) => Some((number, *numbers.first()?)),
                    _ => None,
                }
            });
            Ok(found.unwrap_or((0, 0)))
        })?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(mode, way);
            put(digits, left);
        }
        Ok(())
    })
}
