//! Byte order of variables in the file.

use std::ffi::c_int;

use ferrocdf::model::Endian;
use ferrocdf::{Atomic, Code, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
use crate::open::ids::find_enhanced;
use crate::storage::definition::{storage_of, wish};

const NC_ENDIAN_LITTLE: c_int = 1;

const NC_ENDIAN_BIG: c_int = 2;

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

pub extern "C" fn nc_inq_var_endian(ncid: c_int, varid: c_int, endian: Out<c_int>) -> c_int {
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
        endian.put(number);
        Ok(())
    })
}
