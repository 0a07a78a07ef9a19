//! The interface of version 2: data of variables, and of whole records. Coordinates are `long`, which has the size of
//! `size_t` and `ptrdiff_t` here; values in memory have the type of the variable.

use std::ffi::{c_int, c_long, c_void};

use ferrocdf::{GroupId, Model, Result, Type, VarId};
use smallvec::SmallVec;

use crate::abi::answer::answer;
use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::{Out, list, put_all};
use crate::abi::transfer::{MemoryType, VariablePart};
use crate::data::checks::TransferTarget;
use crate::data::{get, put};
use crate::model::entities::variable;
use crate::open::ids::{ask, find};
use crate::v2::{outcome, version_2};

const _: () = assert!(size_of::<c_long>() == size_of::<usize>());

/// One number for each dimension.
type Numbers = SmallVec<[isize; 8]>;

/// Returns the size of a value of an atomic type; -1 for other types.
#[unsafe(no_mangle)]
pub extern "C" fn nctypelen(xtype: c_int) -> c_int {
    let atomic = u64::try_from(xtype).ok().and_then(ferrocdf::Atomic::from_nc_type);
    atomic.map_or(-1, |atomic| atomic.size() as c_int)
}

/// Converts a map in bytes to a map in elements.
///
/// # Safety
/// `map` is null or has a number for each dimension of the variable.
unsafe fn elements_of(ncid: c_int, varid: c_int, map: *const c_long) -> Result<Numbers> {
    ask(ncid, |model, group| {
        let var = model.var(variable(model, group, varid)?);
        // SAFETY: `map` is null or has a number for each dimension.
        let map = unsafe { list(map, var.dims.len()) };
        Ok(map.iter().map(|step| *step as isize / size(var.ty)).collect())
    })
}

/// Returns the size of an element; 1 for user-defined types, whose data has no maps.
fn size(ty: Type) -> isize {
    match ty {
        Type::Atomic(atomic) => atomic.size() as isize,
        Type::User(_) => 1,
    }
}

/// Defines functions of one direction.
macro_rules! data {
    ($move:ident, $one:ident, $slab:ident, $strided:ident, $mapped:ident, $values:ty) => {
        version_2! {
            fn $one(ncid, varid: c_int, start: *const c_long, values: $values) {
                ($move(ncid, varid, VariablePart::One { start: start.cast() }, MemoryType::Own, values), 0)
            }
        }

        /// # Safety
        /// The contract of a transfer.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strided(
            ncid: c_int,
            varid: c_int,
            start: *const c_long,
            count: *const c_long,
            stride: *const c_long,
            values: $values,
        ) -> c_int {
            if stride.is_null() {
                // SAFETY: the pointers are those of the call, without the stride.
                return unsafe { $slab(ncid, varid, start, count, values) };
            }
            let part =
                VariablePart::Strided { start: start.cast(), count: count.cast(), stride: stride.cast() };
            // SAFETY: the pointers are null or have a number for each dimension, and `values` is memory for the elements.
            let code = unsafe { $move(ncid, varid, part, MemoryType::Own, values) };
            outcome(stringify!($strided), code, 0, || format!("ncid {ncid}").into_bytes())
        }

        /// # Safety
        /// The contract of a transfer, with a map in bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $mapped(
            ncid: c_int,
            varid: c_int,
            start: *const c_long,
            count: *const c_long,
            stride: *const c_long,
            map: *const c_long,
            values: $values,
        ) -> c_int {
            if map.is_null() {
                // SAFETY: the pointers are those of the call, without the map.
                return unsafe { $strided(ncid, varid, start, count, stride, values) };
            }
            let mut elements = Numbers::new();
            let code = answer(|| {
                // SAFETY: `map` is not null, and has a number for each dimension.
                elements = unsafe { elements_of(ncid, varid, map) }?;
                Ok(())
            });
            if code != NC_NOERR {
                // As in netCDF-C, this error is not reported.
                return code;
            }
            let (start, count, stride, map) =
                (start.cast(), count.cast(), stride.cast(), elements.as_ptr().cast());
            let part = VariablePart::Mapped { start, count, stride, map };
            // SAFETY: the map has a number for each dimension; the other pointers are those of the call.
            let code = unsafe { $move(ncid, varid, part, MemoryType::Own, values) };
            outcome(stringify!($mapped), code, 0, || format!("ncid {ncid}").into_bytes())
        }
    };
}

data!(put, ncvarput1, ncvarput, ncvarputs, ncvarputg, *const c_void);
data!(get, ncvarget1, ncvarget, ncvargets, ncvargetg, *mut c_void);

version_2! {
    fn ncvarput(ncid, varid: c_int, start: *const c_long, count: *const c_long, values: *const c_void) {
        let part = VariablePart::Slab { start: start.cast(), count: count.cast() };
        (put(ncid, varid, part, MemoryType::Own, values), 0)
    }
}

/// # Safety
/// `start` and `count` are null or have a number for each dimension; `values` is null or has room for the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncvarget(
    ncid: c_int,
    varid: c_int,
    start: *const c_long,
    count: *const c_long,
    values: *mut c_void,
) -> c_int {
    let part = VariablePart::Slab { start: start.cast(), count: count.cast() };
    // SAFETY: `start` and `count` have a number for each dimension, and `values` room for the elements.
    let code = unsafe { get(ncid, varid, part, MemoryType::Own, values) };
    outcome("ncvarget", code, 0, || format!("ncid {ncid}; varid {varid}").into_bytes())
}

/// Returns the record variables of a group with their ids in it.
fn record_variables(model: &Model, group: GroupId) -> Vec<(c_int, VarId)> {
    let vars = model.group(group).vars.iter().copied().enumerate();
    vars.filter(|(_, var)| model.is_record(*var)).map(|(id, var)| (id as c_int, var)).collect()
}

/// Transfers one record of each variable whose memory is not null: calls `transfer` with the id of the variable, the
/// part and the memory. Returns the first error code.
///
/// # Safety
/// `values` is null or has a pointer for each record variable, each null or to memory for one record.
unsafe fn each_record(
    ncid: c_int,
    record: c_long,
    values: *const *mut c_void,
    transfer: impl Fn(c_int, VariablePart, *mut c_void) -> c_int,
) -> c_int {
    let mut parts = vec![];
    let code = answer(|| {
        let (file, group) = find(ncid)?;
        parts = file.file().look(|model| -> Result<Vec<_>> {
            let vars = record_variables(model, group);
            vars.into_iter().map(|(id, _)| Ok((id, TransferTarget::find(model, group, id)?.shape))).collect()
        })?;
        Ok(())
    });
    if code != NC_NOERR {
        return code;
    }
    // SAFETY: `values` is null or has a pointer for each record variable.
    let values = unsafe { list(values, parts.len()) };
    let given = parts.iter().zip(values).filter(|(_, values)| !values.is_null());
    let codes = given.map(|((id, shape), values)| {
        let mut start = SmallVec::<[usize; 8]>::from_elem(0, shape.len());
        let mut count: SmallVec<[usize; 8]> = shape.iter().map(|&len| len as usize).collect();
        (start[0], count[0]) = (record as usize, 1);
        transfer(*id, VariablePart::Slab { start: start.as_ptr(), count: count.as_ptr() }, *values)
    });
    codes.into_iter().find(|&code| code != NC_NOERR).unwrap_or(NC_NOERR)
}

version_2! {
    fn ncrecinq(ncid, vars: Out<c_int>, ids: *mut c_int, sizes: *mut c_long) {
        let mut count = 0;
        let code = answer(|| {
            let (file, group) = find(ncid)?;
            let found = file.file().look(|model| {
                let size_of = |var: VarId| {
                    let lens = model.shape(var).into_iter().skip(1);
                    lens.fold(size(model.var(var).ty) as c_long, |size, len| size.wrapping_mul(len as c_long))
                };
                let vars = record_variables(model, group);
                vars.into_iter().map(|(id, var)| (id, size_of(var))).collect::<Vec<_>>()
            });
            count = found.len() as c_int;
            vars.put(count);
            put_all(ids, found.iter().map(|(id, _)| *id));
            put_all(sizes, found.iter().map(|(_, size)| *size));
            Ok(())
        });
        (code, count)
    }

    fn ncrecget(ncid, record: c_long, values: *const *mut c_void) {
        (each_record(ncid, record, values, |id, part, values| get(ncid, id, part, MemoryType::Own, values)), 0)
    }

    fn ncrecput(ncid, record: c_long, values: *const *mut c_void) {
        (each_record(ncid, record, values, |id, part, values| put(ncid, id, part, MemoryType::Own, values)), 0)
    }
}
