//! Datasets of other programs without a scale for some dimension. When the file is opened, the dimensions of such a
//! dataset are derived from the lengths, ids and order of all dimensions of its group. So before one of these changes,
//! the anonymous dimensions get scales, and the datasets are attached to them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::Address;
use ferrocdf_model::{DimId, GroupId, Model, VarId};

use super::roles::{Attach, changes_names, role};
use super::undo::Before;
use super::{At, Edited};
use crate::nc4::{decode, names};

/// Dimensions and variables whose relation must be written to the file.
#[derive(Default)]
pub(super) struct MadeUpDims {
    /// Dimensions that get a scale.
    pub(super) dims: HashSet<DimId>,
    vars: BTreeMap<VarId, Unnamed>,
}

/// Variable without a scale for some of its dimensions.
struct Unnamed {
    /// For each dimension, the attached scales other than that of the netCDF dimension.
    others: Vec<Vec<Address>>,
    /// True if the variable has the attribute with the ids of its dimensions.
    has_ids: bool,
}

impl MadeUpDims {
    pub(super) fn is_empty(&self) -> bool {
        self.dims.is_empty() && self.vars.is_empty()
    }
}

impl Edited {
    /// True if a change of the model changes the dimension derived for a dataset, or creates a scale for an anonymous
    /// dimension.
    pub(super) fn moves_dims(&self, old: &Model, new: &Model) -> bool {
        let groups = old.groups().iter().zip(new.groups()).any(|(old, new)| old.name != new.name);
        let made_up = |dim: &DimId| self.dims[dim.index()].as_ref().is_some_and(|dim| dim.scale.is_none());
        let makes_scale = |var: VarId| {
            let is_coordinate = role(new, var).is_some_and(|dim| dim.index() < old.dims().len());
            is_coordinate || new.var(var).dims.iter().any(made_up)
        };
        groups || changes_names(old, new) || new.var_ids_from(old.vars().len()).any(makes_scale)
    }

    /// Returns the anonymous dimensions and their variables that can be written. The file has the state of `model`.
    ///
    /// Objects in other files are excluded. So are datasets with links in several groups, which have several
    /// dimensions: a list of scales names only one of them, and netCDF-C does not open a file in which a variable is
    /// attached to a scale that its group does not see.
    pub(super) fn made_up(&mut self, model: &Model) -> Result<MadeUpDims> {
        let mut made_up = MadeUpDims::default();
        if self.by_length.is_empty() {
            return Ok(made_up);
        }
        let mut seen = HashSet::new();
        // A group with several links has one set of scales, under their names by the first link.
        let is_first = |at: &Option<At>| at.is_some_and(|at| at != At::Elsewhere && seen.insert(at));
        let is_first: Vec<bool> = self.groups.iter().map(is_first).collect();
        let is_written = |group: GroupId| is_first.get(group.index()) == Some(&true);
        let made = |(dim, of): &(u32, &ferrocdf_model::Dim)| {
            let place = self.dims[*dim as usize].as_ref();
            is_written(of.group) && place.is_some_and(|place| place.scale.is_none())
        };
        made_up.dims = (0..).zip(model.dims()).filter(made).map(|(dim, _)| DimId(dim)).collect();
        let mut dims_at: HashMap<At, Option<&[DimId]>> = HashMap::new();
        for var in model.var_ids().filter(|&var| is_written(model.var(var).group)) {
            let dims = &model.var(var).dims[..];
            match dims_at.entry(self.var(var)?.at) {
                Entry::Vacant(entry) => drop(entry.insert(Some(dims))),
                Entry::Occupied(mut entry) if *entry.get() != Some(dims) => drop(entry.insert(None)),
                Entry::Occupied(_) => {}
            }
        }
        for var in self.by_length.clone() {
            let at = self.var(var)?.at;
            let dims = &model.var(var).dims;
            let is_own = |dim: &DimId| {
                let scale = self.dims[dim.index()].as_ref().and_then(|place| place.scale);
                made_up.dims.contains(dim) || scale.is_some_and(|scale| scale != At::Elsewhere)
            };
            if at == At::Elsewhere || dims_at.get(&at) != Some(&Some(dims)) || !dims.iter().all(is_own) {
                continue;
            }
            let others = self.other_scales(at, dims)?;
            let at = at.address(&mut self.editor)?;
            let has_ids = self.editor.file().object(at)?.attribute(names::COORDINATES)?.is_some();
            made_up.vars.insert(var, Unnamed { others, has_ids });
        }
        Ok(made_up)
    }

    /// Returns, for each dimension of a dataset, the attached scales other than that of the netCDF dimension.
    pub(super) fn other_scales(&mut self, at: At, dims: &[DimId]) -> Result<Vec<Vec<Address>>> {
        if let Some(known) = self.others.get(&at) {
            return Ok(known.clone());
        }
        let mut others = match at {
            At::Address(at) => {
                let object = self.editor.file().object(at)?;
                let list = object.attribute(names::DIMENSION_LIST)?;
                let list = list.map(|list| readable(decode::scales(object.file(), &list))).transpose()?;
                list.flatten().unwrap_or_default()
            }
            At::Node(_) | At::Elsewhere => vec![],
        };
        others.resize(dims.len(), vec![]);
        for (dim, others) in dims.iter().zip(&mut others) {
            let own = self.dims[dim.index()].as_ref().and_then(|place| place.scale);
            let own = own.filter(|&own| own != At::Elsewhere && !others.is_empty());
            let own = own.map(|scale| scale.address(&mut self.editor)).transpose()?;
            others.retain(|&other| own != Some(other));
        }
        if others.iter().any(|others| !others.is_empty()) {
            // Another program may have removed a scale without detaching it.
            let mut scales = HashSet::new();
            for scale in self.dims.iter().flatten().filter_map(|place| place.scale) {
                if scale != At::Elsewhere {
                    scales.insert(scale.address(&mut self.editor)?);
                }
            }
            others.iter_mut().for_each(|others| others.retain(|other| scales.contains(other)));
        }
        Ok(others)
    }

    /// Adds the variables of [`made_up`](Edited::made_up) to `attach`. `no_scales` are datasets that are no longer
    /// scales.
    pub(super) fn attach_made_up(
        &mut self,
        new: &Model,
        made_up: MadeUpDims,
        no_scales: &HashSet<Address>,
        attach: &mut Attach,
    ) -> Result<()> {
        if made_up.is_empty() {
            return Ok(());
        }
        for dim in (0..self.dims.len() as u32).map(DimId) {
            self.tell_id(dim)?;
        }
        let known: HashSet<VarId> = attach.vars.iter().copied().collect();
        for (var, Unnamed { mut others, has_ids }) in made_up.vars {
            self.by_length.remove(&var);
            self.log(|| Before::ByLength(var));
            let is_scale = role(new, var).is_some();
            if has_ids || is_scale && new.var(var).dims.len() > 1 {
                let node = self.node(var)?;
                self.put_dim_ids(new, var, node)?;
            }
            if !is_scale && !known.contains(&var) {
                attach.vars.push(var);
            }
            others.iter_mut().for_each(|others| others.retain(|other| !no_scales.contains(other)));
            attach.others.insert(var, others);
        }
        Ok(())
    }

    /// Creates the scales of anonymous dimensions, attaches the variables and commits.
    ///
    /// # Errors
    /// As for [`Edited::remove`].
    pub(super) fn attach_and_commit(&mut self, model: &Model, made_up: MadeUpDims) -> Result<()> {
        self.changed = true;
        let mut attach = self.change_roles(model, model, made_up)?;
        self.contents(model, model, GroupId::ROOT, &mut attach)?;
        self.attach(model, attach)?;
        self.flush()
    }
}

/// Returns the result of reading; `None` if the file is damaged there. Errors of the system are kept.
pub(super) fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_of_system() => Err(error),
        read => Ok(read.ok()),
    }
}
