//! Removal of variables, dimensions, types and groups.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{GroupId, Model};

use super::paths::split;
use crate::FileMut;
use crate::driver::Part;

/// Removal from netCDF-4 files. Objects are given by their names in the root group, or by paths such as `/model/wind`. The file is committed before and after, so a removal cannot be aborted; ids that were given before mean
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
            let (group, name) = split(model, GroupId::ROOT, path)?;
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
            let (group, name) = split(model, GroupId::ROOT, path)?;
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
            "" => Some(GroupId::ROOT),
            path => {
                split(model, GroupId::ROOT, path).and_then(|(parent, name)| model.find_group(parent, name))
            }
        };
        self.remove(|model| find(model).map(Part::Group).ok_or_else(missing))
    }
}
