//! Setting of attributes in netCDF-4 files: checks of the calls, in the order of netCDF-C.
//!
//! Unlike in classic files, the space in the header does not matter. Some names are reserved by the format, and a fill
//! value can no longer be set once the variable has values.

use std::ffi::c_int;

use ferrocdf::{Atomic, Code, GroupId, Model, Name, Owner, Result, Type};

use crate::abi::answer::fail;
use crate::abi::constants::{FILL_VALUE, LONGEST_NAME};
use crate::model::entities::owner;
use crate::model::names::check_longer;
use crate::open::file::{DefineState, OpenFile};

/// Fails with `NC_ENAMEINUSE` for a name that the format reserves. Groups below the root may have such names.
pub(crate) fn check_reserved(owner: Owner, name: &[u8]) -> Result<()> {
    let below = matches!(owner, Owner::Group(group) if group != GroupId::ROOT);
    if !below && ferrocdf::is_reserved_attribute(name) {
        return fail(Code::ENAMEINUSE, format!("\"{}\" is a name of the format's own", name.escape_ascii()));
    }
    Ok(())
}

/// Arguments of a call that sets an attribute.
pub(crate) struct AttributeWrite<'a> {
    pub(crate) group: GroupId,
    pub(crate) varid: c_int,
    pub(crate) name: Result<&'a [u8]>,
    /// Type in the file.
    pub(crate) ty: Result<Type>,
    /// Type in memory, if it differs.
    pub(crate) memory: Option<Atomic>,
    pub(crate) len: usize,
    /// True if the pointer to the values is null.
    pub(crate) is_null: bool,
    /// JSON from which a copied attribute was read.
    pub(crate) json: Option<Box<str>>,
}

impl<'a> AttributeWrite<'a> {
    /// Checks all arguments but the values. Enters define mode if needed, in files that do so implicitly.
    pub(crate) fn check(
        self,
        file: &OpenFile,
        state: &DefineState,
        model: &Model,
    ) -> Result<(Owner, &'a [u8], Type)> {
        let owner = owner(model, self.group, self.varid)?;
        if self.len > i32::MAX as usize {
            return fail(Code::EINVAL, format!("{} values are too many", self.len));
        }
        let name = self.name?;
        if name.len() > LONGEST_NAME {
            return fail(Code::EBADNAME, "the name is too long");
        }
        if self.len > 0 && self.is_null {
            return fail(Code::EINVAL, "the values are a null pointer");
        }
        file.writable()?;
        Name::new(name)?;
        check_reserved(owner, name)?;
        let size = |ty: Type, len: usize| match ty {
            Type::Atomic(atomic) if atomic != Atomic::String => atomic.size().saturating_mul(len),
            _ => 0,
        };
        let room = model.find_attr(owner, name).map(|old| size(old.value.ty(), old.value.len()));
        let needs = self.ty.as_ref().map_or(0, |&ty| size(ty, self.len));
        if room.is_none_or(|room| needs > room) {
            file.check_define_mode()?;
        }
        let ty = self.ty?;
        let texts = [Type::from(Atomic::Char), Type::from(Atomic::String)];
        let memory = self.memory.map_or(ty, Type::Atomic);
        if ty != memory && (texts.contains(&ty) || texts.contains(&memory)) {
            return fail(Code::ECHAR, "text does not convert to numbers, nor numbers to text");
        }
        model.check_type(ty)?;
        if let (Owner::Var(var), true) = (owner, name == FILL_VALUE.as_bytes()) {
            if self.len != 1 {
                return fail(Code::EINVAL, format!("a fill value is one value, not {}", self.len));
            }
            state.check_unwritten(var)?;
        }
        Ok((owner, name, ty))
    }
}

/// Renames an attribute.
pub(crate) fn rename(
    file: &OpenFile,
    group: GroupId,
    varid: c_int,
    (name, new): (&[u8], &[u8]),
) -> Result<()> {
    if new.len() > LONGEST_NAME {
        return fail(Code::EMAXNAME, "the new name is too long");
    }
    let writable = file.writable()?;
    let new = Name::new(new)?;
    let _state = file.state();
    let model = file.model();
    let owner = owner(&model, group, varid)?;
    if model.find_attr(owner, new.as_bytes()).is_some() {
        return fail(Code::ENAMEINUSE, format!("an attribute \"{new}\" exists already"));
    }
    let Some(old) = model.find_attr(owner, name) else {
        return fail(Code::ENOTATT, format!("no attribute \"{}\"", name.escape_ascii()));
    };
    check_longer(file, &old.name, &new)?;
    check_reserved(owner, new.as_bytes())?;
    // Renaming to `_FillValue` is not checked, as in netCDF-C: NCO temporarily renames an attribute of another type.
    writable.define(|model| model.rename_attr(owner, name, new))
}
