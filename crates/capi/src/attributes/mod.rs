//! Attributes: inquiry, renaming and deletion. Values are converted by [`crate::values::conversion`].

pub(crate) mod hidden;
pub(crate) mod netcdf4;
pub(crate) mod store;
pub(crate) mod values;

use std::ffi::c_int;

use ferrocdf::{Code, Name};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{NameOut, Out, Str};
use crate::attributes::store::{attribute, name_of};
use crate::model::entities::{attrs, owner};
use crate::model::names::renamed;
use crate::model::type_numbers::number_of;
use crate::open::ids::{ask, find};

pub extern "C" fn nc_inq_att(ncid: c_int, varid: c_int, name: Str, ty: Out<c_int>, len: Out<usize>) -> c_int {
    answer(|| {
        if let Some(attr) = hidden::find(ncid, varid, name)? {
            ty.put(number_of(attr.value.ty()));
            len.put(attr.value.len());
            return Ok(());
        }
        ask(ncid, |model, group| {
            let owner = owner(model, group, varid)?;
            let attr = attribute(model, owner, name_of(name)?)?;
            ty.put(number_of(attr.value.ty()));
            len.put(attr.value.len());
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_atttype(ncid: c_int, varid: c_int, name: Str, ty: Out<c_int>) -> c_int {
    nc_inq_att(ncid, varid, name, ty, Out::NULL)
}

pub extern "C" fn nc_inq_attlen(ncid: c_int, varid: c_int, name: Str, len: Out<usize>) -> c_int {
    nc_inq_att(ncid, varid, name, Out::NULL, len)
}

pub extern "C" fn nc_inq_attid(ncid: c_int, varid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        if hidden::find(ncid, varid, name)?.is_some() {
            return fail(Code::EATTMETA, "the attribute is not counted, so it has no number");
        }
        ask(ncid, |model, group| {
            let attrs = attrs(model, owner(model, group, varid)?)?;
            let name = name_of(name)?;
            let Some(place) = attrs.position(&Name::wanted(name)) else {
                return fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii()));
            };
            id.put(place as c_int);
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_attname(ncid: c_int, varid: c_int, at: c_int, name: NameOut) -> c_int {
    answer(|| {
        ask(ncid, |model, group| {
            let attrs = attrs(model, owner(model, group, varid)?)?;
            let Some(attr) = usize::try_from(at).ok().and_then(|at| attrs.get(at)) else {
                return fail(Code::ENOTATT, format!("no attribute is number {at}"));
            };
            name.put(attr.name.as_bytes());
            Ok(())
        })
    })
}

pub extern "C" fn nc_rename_att(ncid: c_int, varid: c_int, name: Str, new: Str) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        if !file.is_classic() {
            let names = (name.bytes()?, new.bytes()?);
            return netcdf4::rename(&file, group, varid, names);
        }
        let writable = file.writable()?;
        let _state = file.state();
        let model = file.model();
        let owner = owner(&model, group, varid)?;
        let (new, name) = (Name::new(new.bytes()?)?, name.bytes()?);
        let old = &attribute(&model, owner, name)?.name;
        if model.find_attr(owner, new.as_bytes()).is_some() {
            return fail(Code::ENAMEINUSE, format!("an attribute \"{new}\" exists already"));
        }
        let new = renamed(&file, old, new)?;
        writable.define(|model| model.rename_attr(owner, name, new))
    })
}

pub extern "C" fn nc_del_att(ncid: c_int, varid: c_int, name: Str) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let _state = file.state();
        if !file.is_classic() {
            file.writable()?;
        }
        file.check_define_mode()?;
        let owner = owner(&file.model(), group, varid)?;
        let name = name.bytes()?;
        if std::str::from_utf8(name).is_err() {
            return fail(Code::EBADNAME, format!("name \"{}\" is not UTF-8", name.escape_ascii()));
        }
        file.writable()?.define(|model| model.del_attr(owner, name)).map(drop)
    })
}
