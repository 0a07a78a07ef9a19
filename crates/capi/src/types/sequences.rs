//! Types of sequences of varying length.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut as no;

use ferrocdf::Code;
use ferrocdf::model::Class;

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_VLEN;
use crate::abi::memory::NcVlen;
use crate::abi::pointers::{list, put, put_all};
use crate::model::type_numbers::user_type;
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, part, wrong_class};

pub unsafe extern "C" fn nc_def_vlen(ncid: c_int, name: *const c_char, base: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |model| part(model, base).map(Class::Vlen), id) }
}

pub unsafe extern "C" fn nc_inq_vlen(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_VLEN, ncid, ty, name, size, base, no()) }
}

/// Makes a list of values that stay where they are.
pub unsafe extern "C" fn nc_put_vlen_element(
    ncid: c_int,
    _ty: c_int,
    element: *mut c_void,
    len: usize,
    values: *const c_void,
) -> c_int {
    answer(|| {
        find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        unsafe { put(element.cast(), NcVlen { len, values: values.cast_mut() }) };
        Ok(())
    })
}

/// Copies the values of a list.
pub unsafe extern "C" fn nc_get_vlen_element(
    ncid: c_int,
    ty: c_int,
    element: *const c_void,
    len: *mut usize,
    values: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        let size = file.file().look(|model| match model.user_type(user_type(model, ty)?).class {
            Class::Vlen(base) => Ok(model.size_of(base)),
            _ => wrong_class(),
        })?;
        // SAFETY: the contract of the interface.
        unsafe {
            let Some(element) = element.cast::<NcVlen>().as_ref() else {
                return fail(Code::EINVAL, "the list is a null pointer");
            };
            put(len, element.len);
            put_all(
                values.cast::<u8>(),
                list(element.values.cast::<u8>(), element.len * size).iter().copied(),
            );
        }
        Ok(())
    })
}
