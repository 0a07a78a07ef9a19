//! Setting and copying of attributes after the checks of a call.

use std::ffi::c_int;

use ferrocdf::{Atomic, Attr, Code, GroupId, Model, Name, Owner, RangeCheck, Result, Type, Values};

use crate::abi::answer::{answer, fail, in_range};
use crate::abi::pointers::Str;
use crate::attributes::netcdf4::AttributeWrite;
use crate::model::entities::{attrs, owner};
use crate::open::file::OpenFile;
use crate::open::ids::find;
use crate::types::equality::equal_type;

/// Returns the name of an attribute. A null pointer is a bad name.
pub(crate) fn name_of(name: Str<'_>) -> Result<&[u8]> {
    match name.c_str() {
        Some(name) => Ok(name.to_bytes()),
        None => fail(Code::EBADNAME, "the name is a null pointer"),
    }
}

pub(crate) fn attribute<'a>(model: &'a Model, owner: Owner, name: &[u8]) -> Result<&'a Attr> {
    match attrs(model, owner)?.find(&Name::wanted(name)) {
        Some(attr) => Ok(attr),
        None => fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii())),
    }
}

/// Copies an attribute to another file or variable. A copy onto itself does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn nc_copy_att(
    from_id: c_int,
    from_var: c_int,
    name: Str,
    to_id: c_int,
    to_var: c_int,
) -> c_int {
    answer(|| {
        let (to, to_group) = find(to_id)?;
        if (from_id, from_var) == (to_id, to_var) {
            return Ok(());
        }
        let (from, from_group) = find(from_id)?;
        let model = from.model();
        let owner = owner(&model, from_group, from_var)?;
        let name = name_of(name)?;
        copy_attribute((&to, to_group, to_var), name, &model, attribute(&model, owner, name)?)
    })
}

/// Copies an attribute to a variable or group.
pub(crate) fn copy_attribute(
    (to, group, varid): (&OpenFile, GroupId, c_int),
    name: &[u8],
    from: &Model,
    Attr { value, json, .. }: &Attr,
) -> Result<()> {
    let wanted = AttributeWrite {
        group,
        varid,
        name: Ok(name),
        ty: equal_type(from, value.ty(), &to.model()),
        memory: None,
        len: value.len(),
        is_null: false,
        json: json.clone(),
    };
    store(to, wanted, |_, ty| match (ty, value) {
        (Type::User(id), Values::User(_, list)) => Ok((Values::User(id, list.clone()), RangeCheck::InRange)),
        (_, value) => Ok((value.clone(), RangeCheck::InRange)),
    })
}

/// Sets an attribute to the values that `make` returns, which gets the model and the type after all other checks. In
/// data mode an attribute of a classic file may be set to values that need no more space.
pub(crate) fn store(
    file: &OpenFile,
    wanted: AttributeWrite<'_>,
    make: impl FnOnce(&Model, Type) -> Result<(Values, RangeCheck)>,
) -> Result<()> {
    if !file.is_classic() {
        let json = wanted.json.clone();
        let state = file.state();
        let model = file.model();
        let (owner, name, ty) = wanted.check(file, &state, &model)?;
        let (values, fit) = make(&model, ty)?;
        drop(model);
        let attr = Attr { json, ..Attr::new(Name::stored(name), values) };
        file.writable()?.define(|model| model.copy_attr(owner, attr))?;
        return in_range(fit);
    }
    let writable = file.writable()?;
    let _state = file.state();
    let model = file.model();
    let owner = owner(&model, wanted.group, wanted.varid)?;
    let (name, ty) = (wanted.name?, wanted.ty?);
    model.check_type(ty)?;
    let (values, fit) = make(&model, ty)?;
    if !file.is_defining() {
        let room = |values: &Values| {
            let size = values.atomic().map_or(0, Atomic::size);
            (values.len() * size).next_multiple_of(4)
        };
        if model.find_attr(owner, name).is_none_or(|old| room(&values) > room(&old.value)) {
            return fail(Code::ENOTINDEFINE, "outside define mode attributes do not grow");
        }
    }
    writable.define(|model| model.put_attr(owner, name, values))?;
    in_range(fit)
}
