//! Dimensions: from the names and shapes in the metadata to dimensions that variables share.

use std::collections::HashMap;

use ferrocdf_model::{Dim, DimId, GroupId, Model};

use super::name;

/// The dimensions that were made so far.
#[derive(Default)]
pub(super) struct Dims {
    by_name: HashMap<(GroupId, String), DimId>,
}

impl Dims {
    /// Adds a dimension that a group defines; the first one of a name stays.
    pub(super) fn define(
        &mut self,
        model: &mut Model,
        group: GroupId,
        called: &str,
        len: u64,
        unlimited: bool,
    ) {
        let make = || model.push_dim(Dim { name: name(called), group, len, unlimited });
        self.by_name.entry((group, called.to_string())).or_insert_with(make);
    }

    /// Returns the dimension at a path such as `/g1/x`, if the length of an array fits it: arrays along a dimension that grows may have any
    /// length. `group_at` finds groups by their paths.
    pub(super) fn at_path(
        &self,
        model: &Model,
        path: &str,
        len: u64,
        group_at: impl Fn(&str) -> Option<GroupId>,
    ) -> Option<DimId> {
        let (group, called) = path.rsplit_once('/')?;
        let dim = *self.by_name.get(&(group_at(group)?, called.to_string()))?;
        let found = model.dim(dim);
        (found.len == len || found.unlimited).then_some(dim)
    }

    /// Returns the dimension of a group that an array names. A name that stands for another length already makes no dimension: the array
    /// gets an anonymous one.
    pub(super) fn named(&mut self, model: &mut Model, group: GroupId, called: &str, len: u64) -> DimId {
        if called.is_empty() {
            return self.anonymous(model, len);
        }
        self.define(model, group, called, len, false);
        let dim = self.by_name[&(group, called.to_string())];
        if model.dim(dim).len == len { dim } else { self.anonymous(model, len) }
    }

    /// Returns the dimension of the root group for arrays of a length that name none.
    pub(super) fn anonymous(&mut self, model: &mut Model, len: u64) -> DimId {
        let called = format!("_Anonymous_Dim_{len}");
        self.define(model, GroupId::ROOT, &called, len, false);
        self.by_name[&(GroupId::ROOT, called)]
    }
}
