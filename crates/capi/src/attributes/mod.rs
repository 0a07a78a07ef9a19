//! Attributes: what there is, and changes of it. Their values go through [`crate::values::conversion`].

pub(crate) mod hidden;
pub(crate) mod netcdf4;
pub(crate) mod store;
pub(crate) mod values;

use std::ffi::{c_char, c_int};
use std::ptr::null_mut as no;

use ferrocdf::{Code, Name};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{put, put_name, text};
use crate::attributes::store::{attribute, name_of};
use crate::model::entities::{attrs, owner};
use crate::model::names::renamed;
use crate::model::type_numbers::number_of;
use crate::open::ids::{ask, find};

pub unsafe extern "C" fn nc_inq_att(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    ty: *mut c_int,
    len: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        if let Some(attr) = unsafe { hidden::find(ncid, varid, name) }? {
            // SAFETY: the contract of the interface.
            unsafe {
                put(ty, number_of(attr.value.ty()));
                put(len, attr.value.len());
            }
            return Ok(());
        }
        ask(ncid, |model, group| {
            let owner = owner(model, group, varid)?;
            // SAFETY: the contract of the interface.
            let attr = attribute(model, owner, unsafe { name_of(name) }?)?;
            // SAFETY: the contract of the interface.
            unsafe {
                put(ty, number_of(attr.value.ty()));
                put(len, attr.value.len());
            }
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_atttype(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    ty: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_att(ncid, varid, name, ty, no()) }
}

pub unsafe extern "C" fn nc_inq_attlen(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    len: *mut usize,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_att(ncid, varid, name, no(), len) }
}

pub unsafe extern "C" fn nc_inq_attid(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        if unsafe { hidden::find(ncid, varid, name) }?.is_some() {
            return fail(Code::EATTMETA, "the attribute is not counted, so it has no number");
        }
        ask(ncid, |model, group| {
            let attrs = attrs(model, owner(model, group, varid)?)?;
            // SAFETY: the contract of the interface.
            let name = unsafe { name_of(name) }?;
            let Some(place) = attrs.position(&Name::wanted(name)) else {
                return fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii()));
            };
            // SAFETY: the contract of the interface.
            unsafe { put(id, place as c_int) };
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_attname(ncid: c_int, varid: c_int, at: c_int, name: *mut c_char) -> c_int {
    answer(|| {
        ask(ncid, |model, group| {
            let attrs = attrs(model, owner(model, group, varid)?)?;
            let Some(attr) = usize::try_from(at).ok().and_then(|at| attrs.get(at)) else {
                return fail(Code::ENOTATT, format!("no attribute is number {at}"));
            };
            // SAFETY: the contract of the interface.
            unsafe { put_name(name, attr.name.as_bytes()) };
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_rename_att(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    new: *const c_char,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        if !file.is_classic() {
            // SAFETY: the contract of the interface.
            let names = unsafe { (text(name)?, text(new)?) };
            return netcdf4::rename(&file, group, varid, names);
        }
        let writable = file.writable()?;
        let _state = file.state();
        let model = file.model();
        let owner = owner(&model, group, varid)?;
        // SAFETY: the contract of the interface.
        let (new, name) = unsafe { (Name::new(text(new)?)?, text(name)?) };
        let old = &attribute(&model, owner, name)?.name;
        if model.find_attr(owner, new.as_bytes()).is_some() {
            return fail(Code::ENAMEINUSE, format!("an attribute \"{new}\" exists already"));
        }
        let new = renamed(&file, old, new)?;
        writable.define(|model| model.rename_attr(owner, name, new))
    })
}

pub unsafe extern "C" fn nc_del_att(ncid: c_int, varid: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let _state = file.state();
        if !file.is_classic() {
            file.writable()?;
        }
        file.check_define_mode()?;
        let owner = owner(&file.model(), group, varid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { text(name) }?;
        if std::str::from_utf8(name).is_err() {
            return fail(Code::EBADNAME, format!("name \"{}\" is not UTF-8", name.escape_ascii()));
        }
        file.writable()?.define(|model| model.del_attr(owner, name)).map(drop)
    })
}
