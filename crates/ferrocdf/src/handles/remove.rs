//! Removal of variables, dimensions, types and groups.

use ferrocdf_bytes::Result;
use ferrocdf_model::GroupId;

use super::paths::{find_dim, find_group, find_type, find_var};
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
    /// Fails with `NC_ENOTVAR` and the names that there are.
    pub fn remove_variable(&mut self, path: &str) -> Result<()> {
        self.remove(|model| find_var(model, GroupId::ROOT, path).map(Part::Variable))
    }

    /// Removes a dimension that no variable lies on.
    ///
    /// Fails with `NC_EBADDIM` and the names that there are.
    pub fn remove_dimension(&mut self, path: &str) -> Result<()> {
        self.remove(|model| find_dim(model, GroupId::ROOT, path).map(Part::Dimension))
    }

    /// Removes a user-defined type that nothing is of.
    ///
    /// Fails with `NC_EBADTYPE` and the names that there are.
    pub fn remove_type(&mut self, path: &str) -> Result<()> {
        self.remove(|model| find_type(model, GroupId::ROOT, path).map(Part::Type))
    }

    /// Removes a group with all that is in it.
    ///
    /// Fails with `NC_ENOGRP` and the names that there are, with `NC_EBADGRPID` for the root group.
    pub fn remove_group(&mut self, path: &str) -> Result<()> {
        self.remove(|model| find_group(model, GroupId::ROOT, path).map(Part::Group))
    }
}
