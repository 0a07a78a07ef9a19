//! Variable-length types.

use std::ffi::{c_int, c_void};

use ferrocdf::Code;
use ferrocdf::model::Class;

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_VLEN;
use crate::abi::memory::NcVlen;
use crate::abi::pointers::{NameOut, Out, Str, list, put_all};
use crate::model::type_numbers::user_type;
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, part, wrong_class};

pub extern "C" fn nc_def_vlen(ncid: c_int, name: Str, base: c_int, id: Out<c_int>) -> c_int {
    define(ncid, name, |model| part(model, base).map(Class::Vlen), id)
}

pub extern "C" fn nc_inq_vlen(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
) -> c_int {
    inquire(NC_VLEN, ncid, ty, name, size, base, Out::NULL)
}

/// Stores a list that refers to `values`, which are not copied.
///
/// # Safety
/// `element` is null or one `nc_vlen_t`.
pub unsafe extern "C" fn nc_put_vlen_element(
    ncid: c_int,
    _ty: c_int,
    element: *mut c_void,
    len: usize,
    values: *const c_void,
) -> c_int {
    answer(|| {
        find_enhanced(ncid)?;
        // SAFETY: `element` is null or one `nc_vlen_t`.
        unsafe { put_all(element.cast(), [NcVlen { len, values: values.cast_mut() }]) };
        Ok(())
    })
}

/// Copies the values of a list.
///
/// # Safety
/// `element` is null or one `nc_vlen_t` with `len` elements of the base type; `values` is null or has room for them.
pub unsafe extern "C" fn nc_get_vlen_element(
    ncid: c_int,
    ty: c_int,
    element: *const c_void,
    len: Out<usize>,
    values: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        let size = file.file().look(|model| match model.user_type(user_type(model, ty)?).class {
            Class::Vlen(base) => Ok(model.size_of(base)),
            _ => wrong_class(),
        })?;
        // SAFETY: `element` is null or one `nc_vlen_t`, whose `p` is null or has `len` elements of the base type; `values`
        // is null or has room for their bytes.
        unsafe {
            let Some(element) = element.cast::<NcVlen>().as_ref() else {
                return fail(Code::EINVAL, "the list is a null pointer");
            };
            len.put(element.len);
            put_all(
                values.cast::<u8>(),
                list(element.values.cast::<u8>(), element.len * size).iter().copied(),
            );
        }
        Ok(())
    })
}
