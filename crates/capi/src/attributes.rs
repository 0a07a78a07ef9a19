//! Attributes: what there is, and changes of it. Their values go through [`crate::attribute_values`].

use std::ffi::{
    c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulonglong, c_ushort, c_void,
};
use std::ptr::null_mut as no;

use ferrocdf::{Atomic, Attr, Code, GroupId, Model, Name, Owner, RangeCheck, Result, Type, Values};

use crate::attribute_values::{give_values, values_of};
use crate::attributes_hidden as hidden;
use crate::attributes_netcdf4::{self as netcdf4, Wanted};
use crate::boundary::{answer, fail, in_range, put, put_name, text};
use crate::entities::{attrs, owner};
use crate::names::renamed;
use crate::open_file::OpenFile;
use crate::open_files::{ask, find};
use crate::trees::gather;
use crate::type_numbers::{number_of, type_of};
use crate::types::equal_type;
use crate::user_formats::user_file;

/// The name of an attribute. A null pointer is a bad name.
unsafe fn name_of<'a>(name: *const c_char) -> Result<&'a [u8]> {
    if name.is_null() {
        return fail(Code::EBADNAME, "the name is a null pointer");
    }
    // SAFETY: the contract of the interface.
    unsafe { text(name) }
}

fn attribute<'a>(model: &'a Model, owner: Owner, name: &[u8]) -> Result<&'a Attr> {
    match attrs(model, owner)?.find(&Name::wanted(name)) {
        Some(attr) => Ok(attr),
        None => fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii())),
    }
}

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

/// Copies an attribute, to another file or another variable. Onto itself there is nothing to do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_att(
    from_id: c_int,
    from_var: c_int,
    name: *const c_char,
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
        // SAFETY: the contract of the interface.
        let name = unsafe { name_of(name) }?;
        copy_attribute((&to, to_group, to_var), name, &model, attribute(&model, owner, name)?)
    })
}

/// Gives a variable an attribute of another one.
pub(crate) fn copy_attribute(
    (to, group, varid): (&OpenFile, GroupId, c_int),
    name: &[u8],
    from: &Model,
    Attr { value, json, .. }: &Attr,
) -> Result<()> {
    let wanted = Wanted {
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

/// Sets an attribute to values that `make` makes, given the model and the type, once all else is found to be right.
/// In data mode an attribute of a classic file may be set to what takes no more room.
fn store(
    file: &OpenFile,
    wanted: Wanted<'_>,
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

/// Sets an attribute of type `ty` to `len` values of type `memory`, or of its own type.
pub(crate) unsafe fn put_attribute(
    (ncid, varid, name): (c_int, c_int, *const c_char),
    ty: c_int,
    len: usize,
    values: *const c_void,
    memory: Option<Atomic>,
) -> c_int {
    if let Some(file) = user_file(ncid) {
        let own = memory.map_or(ty, |memory| memory.nc_type().into());
        // SAFETY: the contract of the interface.
        return unsafe { file.put_att(ncid, varid, name, ty, len, values, own) };
    }
    answer(|| {
        let (file, group) = find(ncid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { name_of(name) };
        let is_null = values.is_null();
        let wanted = Wanted { group, varid, name, ty: type_of(ty), memory, len, is_null, json: None };
        store(&file, wanted, |model, ty| {
            // SAFETY: the contract of the interface.
            match (ty, memory) {
                (Type::Atomic(atomic), memory) => unsafe {
                    values_of(model.format(), atomic, memory.unwrap_or(atomic), values, len)
                },
                (Type::User(_), None) => unsafe { gather(model, ty, values.cast(), len) }
                    .map(|values| (values, RangeCheck::InRange)),
                (Type::User(_), Some(_)) => {
                    fail(Code::EBADTYPE, "values of user-defined types do not convert")
                }
            }
        })
    })
}

/// Gives the values of an attribute as values of type `memory`, or of its own type.
pub(crate) unsafe fn get_attribute(
    (ncid, varid, name): (c_int, c_int, *const c_char),
    values: *mut c_void,
    memory: Option<Atomic>,
) -> c_int {
    if let Some(file) = user_file(ncid) {
        // SAFETY: the contract of the interface.
        return unsafe { file.get_attribute((ncid, varid, name), values, memory) };
    }
    answer(|| {
        // SAFETY: the contract of the interface.
        if let Some(attr) = unsafe { hidden::find(ncid, varid, name) }? {
            // SAFETY: the contract of the interface.
            return unsafe { hidden::give(&attr.value, memory, values) };
        }
        let (file, group) = find(ncid)?;
        let fit = file.file().look(|model| {
            let owner = owner(model, group, varid)?;
            // SAFETY: the contract of the interface.
            let value = &attribute(model, owner, unsafe { name_of(name) }?)?.value;
            // SAFETY: the contract of the interface.
            unsafe { give_values(model, value, memory, values) }
        })?;
        in_range(fit)
    })
}

/// The functions of one type of memory; their names end in `$suffix`. Where a type of the file is part of a call, it is
/// an argument; where it is not, the values are stored as they are.
macro_rules! functions {
    ($suffix:literal, $get:ty, $put:ty, $memory:expr, stored as it is) => {
        functions!(@ $suffix, $get, $put, $memory, $memory.map_or(0, |memory| memory.nc_type().into()),);
    };
    ($suffix:literal, $get:ty, $put:ty, $memory:expr) => {
        functions!(@ $suffix, $get, $put, $memory, ty, ty: c_int,);
    };
    (@ $suffix:literal, $get:ty, $put:ty, $memory:expr, $type:expr, $($ty:ident: c_int,)?) => {
        const _: () = {
            const MEMORY: Option<Atomic> = $memory;

            #[unsafe(export_name = concat!("nc_put_att", $suffix))]
            unsafe extern "C" fn put_(
                ncid: c_int, varid: c_int, name: *const c_char, $($ty: c_int,)? len: usize, values: *const $put,
            ) -> c_int {
                // SAFETY: the contract of the interface.
                unsafe { put_attribute((ncid, varid, name), $type, len, values.cast(), MEMORY) }
            }

            #[unsafe(export_name = concat!("nc_get_att", $suffix))]
            unsafe extern "C" fn get_(ncid: c_int, varid: c_int, name: *const c_char, values: *mut $get) -> c_int {
                // SAFETY: the contract of the interface.
                unsafe { get_attribute((ncid, varid, name), values.cast(), MEMORY) }
            }
        };
    };
}

/// `long` is 64 bits wide where pointers are, except on Windows.
const LONG: Atomic = if size_of::<c_long>() == 8 { Atomic::Int64 } else { Atomic::Int };

functions!("", c_void, c_void, None);
functions!("_text", c_char, c_char, Some(Atomic::Char), stored as it is);
functions!("_string", *mut c_char, *const c_char, Some(Atomic::String), stored as it is);
functions!("_schar", c_schar, c_schar, Some(Atomic::Byte));
functions!("_uchar", c_uchar, c_uchar, Some(Atomic::Ubyte));
functions!("_ubyte", c_uchar, c_uchar, Some(Atomic::Ubyte));
functions!("_short", c_short, c_short, Some(Atomic::Short));
functions!("_ushort", c_ushort, c_ushort, Some(Atomic::Ushort));
functions!("_int", c_int, c_int, Some(Atomic::Int));
functions!("_uint", c_uint, c_uint, Some(Atomic::Uint));
functions!("_long", c_long, c_long, Some(LONG));
functions!("_longlong", c_longlong, c_longlong, Some(Atomic::Int64));
functions!("_ulonglong", c_ulonglong, c_ulonglong, Some(Atomic::Uint64));
functions!("_float", f32, f32, Some(Atomic::Float));
functions!("_double", f64, f64, Some(Atomic::Double));
