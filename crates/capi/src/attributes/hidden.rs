//! Hidden attributes of netCDF-4 datasets: the ones that describe the library that wrote the dataset and its format,
//! and the codecs of a Zarr variable. They are neither counted nor listed; a program reads one by its name. The hidden
//! attributes of the dataset can be read on every group.

use std::ffi::{c_int, c_void};

use ferrocdf::model::Attr;
use ferrocdf::{Atomic, Code, Format, GroupId, Owner, Result, Values};

use crate::abi::answer::fail;
use crate::abi::constants::NC_GLOBAL;
use crate::abi::pointers::Str;
use crate::model::entities::variable;
use crate::open::ids::{find_enhanced, find_file};
use crate::values::conversion::give_converted;

/// Hidden attribute of a variable.
const CODECS: &[u8] = b"_Codecs";

/// Hidden attributes of the dataset.
const NAMES: [&[u8]; 3] = [b"_NCProperties", b"_IsNetcdf4", b"_SuperblockVersion"];

/// Returns the hidden attribute of a name; `None` for names of other attributes. Fails with `NC_ENOTATT` if the dataset
/// does not have it.
pub(crate) fn find(ncid: c_int, varid: c_int, name: Str) -> Result<Option<Attr>> {
    if name.is_null() {
        return Ok(None);
    }
    let name = name.bytes()?;
    let is_hidden = if varid == NC_GLOBAL { NAMES.contains(&name) } else { name == CODECS };
    if !is_hidden {
        return Ok(None);
    }
    let file = find_file(ncid)?;
    if file.is_classic() {
        return Ok(None);
    }
    let owner = match varid {
        NC_GLOBAL => Owner::Group(GroupId::ROOT),
        _ => {
            let (file, group) = find_enhanced(ncid)?;
            Owner::Var(file.file().look(|model| variable(model, group, varid))?)
        }
    };
    let mut attrs = file.file().hidden_attributes(owner).into_iter();
    match attrs.find(|attr| attr.name.as_bytes() == name) {
        Some(attr) => Ok(Some(attr)),
        None if varid != NC_GLOBAL => Ok(None),
        None => fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii())),
    }
}

/// Stores the value: text as text, a number as any integer type, without a range check.
///
/// # Safety
/// `place` is null or has room for the value.
pub(crate) unsafe fn give(value: &Values, memory: Option<Atomic>, place: *mut c_void) -> Result<()> {
    let memory = memory.or(value.atomic());
    match (value, memory) {
        (Values::Char(_), Some(Atomic::Char)) => {}
        (Values::Char(_), _) => return fail(Code::ECHAR, "text does not convert to numbers"),
        (_, Some(Atomic::Char | Atomic::Float | Atomic::Double | Atomic::String) | None) => {
            return fail(Code::ERANGE, "the number is given as an integer");
        }
        _ => {}
    }
    if place.is_null() {
        return Ok(());
    }
    // SAFETY: `place` is not null, and has room for the value in the type of memory.
    unsafe { give_converted(Format::NETCDF4, value, memory.unwrap_or(Atomic::Int), place) }.map(drop)
}
