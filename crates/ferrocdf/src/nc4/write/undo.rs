//! Atomic definitions: after an error the file has none of them, and the same or other definitions can be made.
//!
//! The editor rolls back its changes of objects; a log of earlier values restores [`Edited`].

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::Address;
use ferrocdf_hdf5::edit::Node;
use ferrocdf_hdf5::messages::HeapId;
use ferrocdf_model::{DimId, VarId};

use super::{At, DimPlace, Edited};

/// Value of [`Edited`] before a change.
pub(super) enum Before {
    /// Scale of a dimension.
    Dim(DimId, Option<DimPlace>),
    /// Users of the scale of a dimension without the last one.
    OneUserLess(DimId),
    /// Users of the scale of a dimension.
    Users(DimId, Vec<(At, i32)>),
    /// Dimension whose scale has no id in the file.
    WithoutId(u32),
    /// Variable without a scale for some dimension.
    ByLength(VarId),
    /// Further scales to which a dataset is attached, if they were known.
    Others(At, Option<Vec<Vec<Address>>>),
    /// True if the link of a variable has the prefix of variables that are not coordinates.
    Prefixed(VarId, bool),
    /// Global heap objects of an attribute, if they were known.
    Heaped(Node, Vec<u8>, Option<Vec<HeapId>>),
}

impl Edited {
    /// Runs `define`; after an error, undoes all of its definitions.
    pub(super) fn all_or_nothing(&mut self, define: impl FnOnce(&mut Edited) -> Result<()>) -> Result<()> {
        let lens = (self.groups.len(), self.types.len(), self.dims.len(), self.vars.len());
        self.editor.set_savepoint();
        self.log = Some(vec![]);
        let done = define(self);
        let log = self.log.take().unwrap_or_default();
        if done.is_ok() {
            self.editor.release_savepoint();
            return done;
        }
        self.editor.rollback();
        log.into_iter().rev().for_each(|before| self.bring_back(before));
        let (groups, types, dims, vars) = lens;
        self.groups.truncate(groups);
        self.types.truncate(types);
        self.classes.truncate(types);
        self.dims.truncate(dims);
        self.vars.truncate(vars);
        self.changed_users.retain(|&dim| (dim as usize) < dims);
        done
    }

    fn bring_back(&mut self, before: Before) {
        match before {
            Before::Dim(dim, place) => self.dims[dim.index()] = place,
            Before::OneUserLess(dim) => {
                let users = self.dims[dim.index()].as_mut().and_then(|place| place.users.as_mut());
                let _ = users.and_then(Vec::pop);
            }
            Before::Users(dim, users) => {
                if let Some(place) = &mut self.dims[dim.index()] {
                    place.users = Some(users);
                }
            }
            Before::WithoutId(dim) => drop(self.without_id.insert(dim)),
            Before::ByLength(var) => drop(self.by_length.insert(var)),
            Before::Others(at, Some(others)) => drop(self.others.insert(at, others)),
            Before::Others(at, None) => drop(self.others.remove(&at)),
            Before::Prefixed(var, prefixed) => {
                if let Some(place) = &mut self.vars[var.index()] {
                    place.prefixed = prefixed;
                }
            }
            Before::Heaped(node, name, held) => {
                let of_node = self.heaped.entry(node).or_default();
                match held {
                    Some(held) => drop(of_node.insert(name, held)),
                    None => drop(of_node.remove(&name)),
                }
            }
        }
    }

    /// Logs the former value of a change, while definitions are made.
    pub(super) fn log(&mut self, before: impl FnOnce() -> Before) {
        if let Some(log) = &mut self.log {
            log.push(before());
        }
    }

    /// Sets the scale of a dimension.
    pub(super) fn set_dim(&mut self, dim: DimId, place: Option<DimPlace>) {
        let before = std::mem::replace(&mut self.dims[dim.index()], place);
        self.log(|| Before::Dim(dim, before));
    }
}
