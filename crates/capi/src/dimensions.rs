//! Dimensions: definition, inquiry, renaming.

use std::ffi::c_int;

use ferrocdf::{Code, DataModel, Name, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_UNLIMITED;
use crate::abi::pointers::{NameOut, Out, Str, put_all};
use crate::model::entities::dimension;
use crate::model::names::{check_wanted, renamed, split_path};
use crate::open::file::OpenFile;
use crate::open::ids::{ask, find};

/// Fails for dimensions that the classic model does not allow, in a netCDF-4 file that keeps to it.
fn check_strict(file: &OpenFile, len: Option<u64>) -> Result<()> {
    match len {
        None if file.file().look(|model| model.record_dim().is_some()) => {
            fail(Code::EUNLIMIT, "the classic model has one unlimited dimension at most")
        }
        Some(len) if file.is_defining() && len > u32::MAX.into() => {
            fail(Code::EDIMSIZE, format!("a length of {len}, the classic model has 32 bits for it"))
        }
        _ => Ok(()),
    }
}

pub extern "C" fn nc_def_dim(ncid: c_int, name: Str, len: usize, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let _state = file.state();
        let len = (len != NC_UNLIMITED).then_some(len as u64);
        if file.file().format().data_model() == DataModel::Netcdf4Classic {
            file.writable()?;
            check_strict(&file, len)?;
        }
        file.check_define_mode()?;
        let name = name.bytes()?;
        let new = file.writable()?.define(|model| model.def_dim(group, name, len))?;
        id.put(new.0 as c_int);
        Ok(())
    })
}

pub extern "C" fn nc_inq_dimid(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        ask(ncid, |model, group| {
            let name = name.bytes()?;
            let of_path = if model.format().has_cdf_model() {
                None
            } else {
                check_wanted(name)?;
                split_path(model, name)?
            };
            let found = match of_path {
                None => model.find_dim(group, name),
                Some((group, name)) => match model.dim_in(group, name) {
                    // netCDF-C returns this code, which is that of types.
                    None => return fail(Code::EBADTYPE, format!("no dimension \"{}\"", name.escape_ascii())),
                    found => found,
                },
            };
            let Some(found) = found else {
                return fail(Code::EBADDIM, format!("no dimension \"{}\"", name.escape_ascii()));
            };
            id.put(found.0 as c_int);
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_dim(ncid: c_int, id: c_int, name: NameOut, len: Out<usize>) -> c_int {
    answer(|| {
        ask(ncid, |model, _| {
            let dim = model.dim(dimension(model, id)?);
            name.put(dim.name.as_bytes());
            len.put(dim.len as usize);
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_dimname(ncid: c_int, id: c_int, name: NameOut) -> c_int {
    nc_inq_dim(ncid, id, name, Out::NULL)
}

pub extern "C" fn nc_inq_dimlen(ncid: c_int, id: c_int, len: Out<usize>) -> c_int {
    nc_inq_dim(ncid, id, NameOut::NULL, len)
}

pub extern "C" fn nc_rename_dim(ncid: c_int, id: c_int, name: Str) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let writable = file.writable()?;
        let name = Name::new(name.bytes()?)?;
        let _state = file.state();
        let model = file.model();
        let classic = model.format().has_cdf_model();
        let dim = dimension(&model, id);
        if !classic {
            dim.as_ref().map_err(Clone::clone)?;
        }
        let taken = match classic {
            true => model.dims().iter().any(|dim| dim.name == name),
            false => model.dim_in(group, name.as_bytes()).is_some(),
        };
        if taken {
            return fail(Code::ENAMEINUSE, format!("a dimension \"{name}\" exists already"));
        }
        let dim = dim?;
        let name = renamed(&file, &model.dim(dim).name, name)?;
        writable.define(|model| model.rename_dim(dim, name))
    })
}

/// # Safety
/// `ids` is null or has room for an id for each unlimited dimension of the group.
pub unsafe extern "C" fn nc_inq_unlimdims(ncid: c_int, count: Out<c_int>, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let unlimited = || model.group(group).dims.iter().filter(|&&dim| model.dim(dim).unlimited);
        count.put(unlimited().count() as c_int);
        // SAFETY: `ids` is null or has room for the unlimited dimensions of the group.
        unsafe { put_all(ids, unlimited().map(|dim| dim.0 as c_int)) };
        Ok(())
    })
}
