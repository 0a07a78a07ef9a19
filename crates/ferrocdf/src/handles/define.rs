//! Defining dimensions, variables and attributes by name.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, DimId, GroupId, Model, Name, Owner, Values};

use super::{Dimension, NetcdfType, VariableMut};
use crate::FileMut;
use crate::driver::Part;

const ROOT: GroupId = GroupId::ROOT;

impl FileMut {
    /// The variable called `name`, in the root group or by its path, to be written.
    pub fn variable_mut(&self, name: &str) -> Option<VariableMut<'_>> {
        let id = self.model().find_var_at(name.as_bytes())?;
        Some(VariableMut::new(self, id))
    }

    /// Defines a dimension.
    pub fn add_dimension(&mut self, name: &str, len: u64) -> Result<Dimension> {
        let id = self.define(|model| model.def_dim(ROOT, name, Some(len)))?;
        Ok(self.dimension_of(id))
    }

    /// Defines a dimension that grows.
    pub fn add_unlimited_dimension(&mut self, name: &str) -> Result<Dimension> {
        let id = self.define(|model| model.def_dim(ROOT, name, None))?;
        Ok(self.dimension_of(id))
    }

    /// Defines a variable of numbers of type `T` on dimensions called by name.
    pub fn add_variable<T: NetcdfType>(&mut self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.add_variable_of(T::ATOMIC, name, dims)
    }

    /// Defines a variable of characters.
    pub fn add_text_variable(&mut self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.add_variable_of(Atomic::Char, name, dims)
    }

    /// Defines a variable of a type known only at run time.
    pub fn add_variable_of(&mut self, ty: Atomic, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        let id = self.define(|model| {
            let dims = dims.iter().map(|dim| find_dim(model, dim)).collect::<Result<Vec<_>>>();
            let dims = dims.map_err(|error| error.at(format_args!("variable \"{name}\"")))?;
            model.def_var(ROOT, name, ty.into(), &dims)
        })?;
        Ok(VariableMut::new(self, id))
    }

    /// Sets a global attribute, replacing one of the same name.
    pub fn add_attribute(&mut self, name: &str, value: impl Into<Values>) -> Result<()> {
        let value = value.into();
        self.define(|model| model.put_attr(Owner::Group(ROOT), name, value))
    }

    /// Removes a global attribute. Fails with `NC_ENOTATT`.
    pub fn remove_attribute(&mut self, name: &str) -> Result<()> {
        self.define(|model| model.del_attr(Owner::Group(ROOT), name).map(drop))
    }

    /// Gives a dimension another name.
    pub fn rename_dimension(&mut self, name: &str, to: &str) -> Result<()> {
        let to = Name::new(to)?;
        self.define(|model| {
            let dim = find_dim(model, name)?;
            model.rename_dim(dim, to)
        })
    }
}

/// Taking things out of a netCDF-4 file. They are called by their names in the root group, or by paths such as
/// `/model/wind`. The file is committed before and after, so a removal cannot be aborted; ids that were given before mean
/// other things afterwards. Where other links lead to an object, it stays with them.
///
/// After an error the file is as it was, unless it could not be written or read again even then. Such a removal is left half
/// done: puts and definitions fail until [`FileMut::sync`] or the same removal finishes it, after which ids mean other things,
/// or undoes it.
///
/// All fail with `NC_ENOTNC4` for files of other formats, with `NC_EPERM` while there are clones of the handle, whose ids
/// would change, and with `NC_EINVAL` for what something uses that stays, be it a dataset that netCDF does not know.
impl FileMut {
    /// Removes a variable. The dimension that it is the coordinate of stays; one that grows is as long then as the longest
    /// of the variables that are left on it.
    ///
    /// Fails with `NC_ENOTVAR`.
    pub fn remove_variable(&mut self, path: &str) -> Result<()> {
        let missing = || Error::new(Code::ENOTVAR, format!("no variable \"{path}\""));
        self.remove(|model| model.find_var_at(path.as_bytes()).map(Part::Variable).ok_or_else(missing))
    }

    /// Removes a dimension that no variable lies on.
    ///
    /// Fails with `NC_EBADDIM` if there is none.
    pub fn remove_dimension(&mut self, path: &str) -> Result<()> {
        let missing = || Error::new(Code::EBADDIM, format!("no dimension \"{path}\""));
        let find = |model: &Model| {
            let (group, name) = split(model, path)?;
            model.dim_in(group, name)
        };
        self.remove(|model| find(model).map(Part::Dimension).ok_or_else(missing))
    }

    /// Removes a user-defined type that nothing is of.
    ///
    /// Fails with `NC_EBADTYPE` if there is none.
    pub fn remove_type(&mut self, path: &str) -> Result<()> {
        let missing = || Error::new(Code::EBADTYPE, format!("no type \"{path}\""));
        let find = |model: &Model| {
            let (group, name) = split(model, path)?;
            model.type_in(group, name)
        };
        self.remove(|model| find(model).map(Part::Type).ok_or_else(missing))
    }

    /// Removes a group with all that is in it.
    ///
    /// Fails with `NC_ENOGRP` if there is none, with `NC_EBADGRPID` for the root group.
    pub fn remove_group(&mut self, path: &str) -> Result<()> {
        let missing = || Error::new(Code::ENOGRP, format!("no group \"{path}\""));
        let find = |model: &Model| match path.trim_matches('/') {
            "" => Some(ROOT),
            path => split(model, path).and_then(|(parent, name)| model.find_group(parent, name)),
        };
        self.remove(|model| find(model).map(Part::Group).ok_or_else(missing))
    }
}

/// The group that a path leads through, and the name in it.
fn split<'p>(model: &Model, path: &'p str) -> Option<(GroupId, &'p [u8])> {
    let (groups, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut steps = groups.split('/').filter(|step| !step.is_empty());
    let group = steps.try_fold(ROOT, |group, step| model.find_group(group, step.as_bytes()))?;
    Some((group, name.as_bytes()))
}

fn find_dim(model: &Model, name: &str) -> Result<DimId> {
    let there = || model.dims().iter().map(|dim| dim.name.to_string()).collect::<Vec<_>>().join(", ");
    model
        .find_dim(ROOT, name.as_bytes())
        .ok_or_else(|| Error::new(Code::EBADDIM, format!("no dimension \"{name}\"; there are: {}", there())))
}
