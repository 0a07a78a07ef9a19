//! Dimension scales: the datasets that are scales, the datasets attached to them, and the changes of both when
//! dimensions and variables are renamed ("HDF5 Dimension Scale Specification").
//!
//! A coordinate variable is the scale of its dimension; a dimension without one has a dataset of its own. Object
//! references are addresses of headers, which are fixed at their first use: so all attributes get their sizes first.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::edit::{Node, TypeRef};
use ferrocdf_hdf5::{Address, Value as Raw};
use ferrocdf_model::{Atomic, DimId, Model, VarId};

use super::attrs::{list, scalar};
use super::by_length::{MadeUpDims, readable};
use super::roles::{Attach, changes_names, coordinate, is_prefixed, link_of, role};
use super::undo::Before;
use super::values::Encoder;
use super::{At, DimPlace, Edited, link_name, types};
use crate::nc4::names;

/// Ids of the dimensions in the file (`_Netcdf4Dimid`). They increase, but files of other writers may skip some, so
/// they can differ from the ids in the model.
#[derive(Default)]
pub(super) struct FileIds(Vec<i64>);

impl FileIds {
    /// Returns the stored bytes of the id of a dimension: its existing id, or else the next one.
    ///
    /// # Errors
    /// `NC_EMAXDIMS` if the id exceeds 32 bits.
    fn stored(&mut self, dim: DimId) -> Result<[u8; 4]> {
        while self.0.len() <= dim.index() {
            self.0.push(self.0.last().map_or(0, |last| last.saturating_add(1)));
        }
        let id = self.0[dim.index()];
        let what =
            || format!("the file has dimensions up to id {id}, which is more than attributes of ids hold");
        Ok(i32::try_from(id).map_err(|_| Error::new(Code::EMAXDIMS, what()))?.to_le_bytes())
    }

    pub(super) fn push(&mut self, id: i64) {
        self.0.push(id);
    }
}

impl Edited {
    /// Stores the id of a dimension on a dataset.
    fn put_dim_id(&mut self, node: Node, dim: DimId) -> Result<()> {
        let id = self.file_ids.stored(dim)?.to_vec();
        self.put_plain(node, names::DIMID, types::atomic(Atomic::Int, None), scalar(), id)
    }

    /// Stores the ids of the dimensions of a variable, and of their scales that have none yet: without an id there it
    /// would depend on the order of links.
    pub(super) fn put_dim_ids(&mut self, new: &Model, var: VarId, node: Node) -> Result<()> {
        let dims = &new.var(var).dims;
        if dims.is_empty() {
            return Ok(());
        }
        let ids: Vec<[u8; 4]> = dims.iter().map(|&dim| self.file_ids.stored(dim)).collect::<Result<_>>()?;
        let (ty, space) = (types::atomic(Atomic::Int, None), list(dims.len()));
        self.put_plain(node, names::COORDINATES, ty, space, ids.concat())?;
        dims.iter().try_for_each(|&dim| self.tell_id(dim))
    }

    /// Stores the id of a dimension on its scale, if the scale has none.
    pub(super) fn tell_id(&mut self, dim: DimId) -> Result<()> {
        let scale = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale);
        let lacks_id = self.without_id.remove(&dim.0);
        if lacks_id {
            self.log(|| Before::WithoutId(dim.0));
        }
        if lacks_id && let Some(scale) = scale.filter(|&scale| scale != At::Elsewhere) {
            let scale = scale.node(&mut self.editor)?;
            self.put_dim_id(scale, dim)?;
        }
        Ok(())
    }

    /// Marks a dataset as the scale of a dimension.
    pub(super) fn mark_scale(&mut self, node: Node, title: &[u8], dim: DimId) -> Result<()> {
        for (name, text) in [(names::CLASS, names::DIMENSION_SCALE), (names::NAME, title)] {
            let stored = [text, &[0]].concat();
            self.put_plain(node, name, types::text(stored.len() as u32), scalar(), stored)?;
        }
        self.put_dim_id(node, dim)
    }

    /// Renames links, demotes datasets that are no longer scales, and promotes coordinate variables to scales. Returns
    /// the variables and dimensions to attach again; a dimension whose scale is still to be created has no place.
    pub(super) fn change_roles(&mut self, old: &Model, new: &Model, made_up: MadeUpDims) -> Result<Attach> {
        let mut attach = Attach::default();
        let renames = changes_names(old, new) || !made_up.is_empty();
        if !renames && new.vars().len() == old.vars().len() {
            return Ok(attach);
        }
        let ids = |len: usize| (0..len).map(|id| DimId(id as u32));
        let mut lost = vec![];
        let mut gained = vec![];
        for dim in ids(old.dims().len()) {
            let Some(place) = &self.dims[dim.index()] else { continue };
            let (was, is) = (place.coordinate, coordinate(new, dim));
            if was == is && !made_up.dims.contains(&dim) {
                continue;
            }
            lost.push((dim, was));
            gained.extend(is.filter(|var| self.vars[var.index()].is_some()).map(|var| (dim, var)));
        }
        let anew = self.attached_anew(old, new, &lost)?;
        let mut no_scales = HashSet::new();
        for &(dim, was) in &lost {
            attach.dims.insert(dim.0);
            if let Some(At::Address(at)) = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale) {
                no_scales.insert(at);
            }
            match was {
                Some(var) => {
                    let node = self.node(var)?;
                    for name in [names::CLASS, names::NAME, names::DIMID, names::REFERENCE_LIST] {
                        self.remove_attribute(node, name)?;
                    }
                    attach.vars.push(var);
                    attach.dims.extend(new.var(var).dims.iter().map(|dim| dim.0));
                }
                None if self.dims[dim.index()].as_ref().is_some_and(|place| place.scale.is_some()) => {
                    let group = self.group(old.dim(dim).group)?;
                    self.editor.unlink(group, link_name(old.dim(dim).name.as_bytes())?)?;
                }
                None => {}
            }
            self.set_dim(dim, None);
        }
        if renames {
            self.rename_links(old, new)?;
        }
        for &(dim, var) in &gained {
            self.leave_other_scales(new, var)?;
            let node = self.node(var)?;
            self.remove_attribute(node, names::DIMENSION_LIST)?;
            self.mark_scale(node, new.var(var).name.as_bytes(), dim)?;
            if new.var(var).dims.len() > 1 {
                self.put_dim_ids(new, var, node)?;
            }
            attach.dims.extend(new.var(var).dims.iter().map(|dim| dim.0));
            let scale = Some(self.var(var)?.at);
            self.set_dim(dim, Some(DimPlace { scale, coordinate: Some(var), users: Some(vec![]) }));
        }
        for (var, mut others) in anew {
            others.iter_mut().for_each(|others| others.retain(|other| !no_scales.contains(other)));
            attach.vars.push(var);
            attach.others.insert(var, others);
        }
        self.attach_made_up(new, made_up, &no_scales, &mut attach)?;
        Ok(attach)
    }

    /// Returns the variables that are attached again because a scale is lost, each with its attached scales other than
    /// those of the netCDF dimensions.
    fn attached_anew(
        &mut self,
        old: &Model,
        new: &Model,
        lost: &[(DimId, Option<VarId>)],
    ) -> Result<Vec<(VarId, Vec<Vec<Address>>)>> {
        if lost.is_empty() {
            return Ok(vec![]);
        }
        let mut users = HashSet::new();
        for &(dim, _) in lost {
            if let Some(list) = readable(self.users(dim).cloned())? {
                users.extend(list.into_iter().map(|(at, _)| at));
            }
        }
        let coordinates: HashSet<VarId> = lost.iter().filter_map(|&(_, was)| was).collect();
        let lost: HashSet<DimId> = lost.iter().map(|&(dim, _)| dim).collect();
        let mut anew = vec![];
        for var in old.var_ids() {
            let Some(at) = self.vars[var.index()].as_ref().map(|place| place.at) else { continue };
            let dims = &new.var(var).dims;
            // Another program may have attached the dataset to a scale other than that of its dimension.
            let is_user = users.contains(&at) || dims.iter().any(|dim| lost.contains(dim));
            if is_user
                && role(new, var).is_none()
                && !coordinates.contains(&var)
                && !self.by_length.contains(&var)
            {
                anew.push((var, self.other_scales(at, dims)?));
            }
        }
        Ok(anew)
    }

    /// Removes a variable that becomes a scale from the reference lists of scales other than those of its dimensions.
    fn leave_other_scales(&mut self, new: &Model, var: VarId) -> Result<()> {
        let own = self.var(var)?.at;
        let others = self.other_scales(own, &new.var(var).dims)?.concat();
        if others.is_empty() {
            return Ok(());
        }
        for dim in (0..self.dims.len() as u32).map(DimId) {
            let scale = self.dims[dim.index()].as_ref().and_then(|place| place.scale);
            let Some(scale) = scale.filter(|&scale| scale != At::Elsewhere) else { continue };
            if others.contains(&scale.address(&mut self.editor)?) {
                let before = self.users(dim)?.clone();
                self.users(dim)?.retain(|&(at, _)| at != own);
                self.log(|| Before::Users(dim, before));
                self.changed_users.insert(dim.0);
            }
        }
        Ok(())
    }

    /// Renames links. A new name may still belong to another link that is renamed too.
    fn rename_links(&mut self, old: &Model, new: &Model) -> Result<()> {
        let mut changes: Vec<(Node, String, String)> = vec![];
        for var in old.var_ids() {
            let Some(place) = &self.vars[var.index()] else { continue };
            let (at, was_prefixed, prefixed) = (place.at, place.prefixed, is_prefixed(new, var));
            if old.var(var).name == new.var(var).name && (was_prefixed == prefixed || at == At::Elsewhere) {
                continue;
            }
            let group = self.group(new.var(var).group)?;
            changes.push((group, link_of(old, var, was_prefixed)?, link_of(new, var, prefixed)?));
            self.var_mut(var)?.prefixed = prefixed;
            self.log(|| Before::Prefixed(var, was_prefixed));
            // The title of a scale is the name of its variable.
            if let (Some(dim), true) = (role(new, var), role(old, var) == role(new, var)) {
                let node = self.node(var)?;
                self.mark_scale(node, new.var(var).name.as_bytes(), dim)?;
            }
        }
        for (number, (was, is)) in old.dims().iter().zip(new.dims()).enumerate() {
            // A scale that is still to be created gets the new name at once.
            let own = self.dims[number].as_ref().filter(|place| place.coordinate.is_none());
            let Some(has_scale) = own.filter(|_| was.name != is.name).map(|own| own.scale.is_some()) else {
                continue;
            };
            let group = self.group(is.group)?;
            if !has_scale {
                let name = &was.name;
                let what = format!(
                    "dimension \"{name}\" can be renamed under the first path of its group only, where its scale is made"
                );
                return Err(Error::new(Code::EPERM, what));
            }
            let (was, is) = (link_name(was.name.as_bytes())?, link_name(is.name.as_bytes())?);
            changes.push((group, was.to_string(), is.to_string()));
        }
        let mut parked = vec![];
        for (number, (group, was, is)) in changes.into_iter().enumerate() {
            if was == is {
                continue;
            }
            if self.editor.child(group, &is)?.is_some() {
                let meanwhile = format!("_nc4_renamed_{number}");
                self.editor.rename_link(group, &was, &meanwhile)?;
                parked.push((group, meanwhile, is));
            } else {
                self.editor.rename_link(group, &was, &is)?;
            }
        }
        // All old names are free now.
        parked.iter().try_for_each(|(group, was, is)| self.editor.rename_link(*group, was, is))
    }

    /// Stores the id of their first dimension on new variables if the order of datasets would give dimensions different
    /// ids, as netCDF-C does.
    pub(super) fn keep_ids(&mut self, old: &Model, new: &Model) -> Result<()> {
        if old.vars().len() == new.vars().len() || !loses_ids(new) {
            return Ok(());
        }
        for var in new.var_ids_from(old.vars().len()) {
            let Some(&dim) = new.var(var).dims.first() else { continue };
            if !self.is_scale(new, var) {
                let node = self.node(var)?;
                self.put_dim_id(node, dim)?;
            }
        }
        Ok(())
    }

    /// Attaches variables to the scales of their dimensions.
    pub(super) fn attach(&mut self, new: &Model, attach: Attach) -> Result<()> {
        let Attach { vars, dims: anew, mut others } = attach;
        let vars: Vec<VarId> = vars
            .into_iter()
            .filter(|&var| !new.var(var).dims.is_empty() && !self.is_scale(new, var))
            .filter(|var| self.vars[var.index()].as_ref().is_some_and(|place| place.at != At::Elsewhere))
            .collect();
        let (mut changed, mut known) = (anew.clone(), HashMap::new());
        for &var in &vars {
            let at = self.var(var)?.at;
            for (place, &dim) in (0..).zip(&new.var(var).dims) {
                if self.dims[dim.index()].as_ref().is_none_or(|dim| dim.scale.is_none()) {
                    self.make_dim(new, dim)?;
                }
                // The lists of these dimensions are rebuilt from the model below.
                if anew.contains(&dim.0) {
                    continue;
                }
                let known: &mut HashSet<_> = match known.entry(dim) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(self.users(dim)?.iter().copied().collect()),
                };
                if known.insert((at, place)) {
                    self.users(dim)?.push((at, place));
                    self.log(|| Before::OneUserLess(dim));
                    changed.insert(dim.0);
                }
            }
        }
        let mut users: BTreeMap<u32, Vec<(At, i32)>> = anew.iter().map(|&dim| (dim, vec![])).collect();
        let mut listed = HashSet::new();
        for group in outside_in(new) {
            for &var in &new.group(group).vars {
                let Some(place) = &self.vars[var.index()] else { continue };
                let is_attached = !self.is_scale(new, var) && !self.by_length.contains(&var);
                if place.at == At::Elsewhere || !is_attached {
                    continue;
                }
                for (dim, number) in new.var(var).dims.iter().zip(0..) {
                    // A dataset with several links in a group is listed once.
                    if let Some(users) = users.get_mut(&dim.0)
                        && listed.insert((dim.0, place.at, number))
                    {
                        users.push((place.at, number));
                    }
                }
            }
        }
        let coordinates = self.dims.iter().flatten().filter_map(|place| place.coordinate);
        let are_scales: HashSet<At> =
            coordinates.filter_map(|var| Some(self.vars[var.index()].as_ref()?.at)).collect();
        let mut attached = HashMap::new();
        for &var in &vars {
            attached.insert(self.var(var)?.at, var);
        }
        for (dim, mut users) in users {
            // Datasets may be attached to this scale in addition to that of their dimension.
            for (at, place) in self.users(DimId(dim))?.clone() {
                if are_scales.contains(&at) || listed.contains(&(dim, at, place)) {
                    continue;
                }
                let is_attached = match attached.get(&at).and_then(|var| others.get(var)) {
                    Some(others) => {
                        let scale = self.dims[dim as usize].as_ref().and_then(|dim| dim.scale);
                        let scale = scale.map(|scale| scale.address(&mut self.editor)).transpose()?;
                        let others = usize::try_from(place).ok().and_then(|place| others.get(place));
                        scale.is_some_and(|scale| others.is_some_and(|others| others.contains(&scale)))
                    }
                    None => !attached.contains_key(&at),
                };
                if is_attached {
                    users.push((at, place));
                }
            }
            let before = std::mem::replace(self.users(DimId(dim))?, users);
            self.log(|| Before::Users(DimId(dim), before));
        }
        // First the sizes of all lists, then the addresses in the lists.
        let widths = self.widths();
        for &var in &vars {
            let (node, count) = (self.node(var)?, new.var(var).dims.len());
            let none = vec![0; count * widths.pointer()];
            let datatype = TypeRef::Inline(widths.references()?);
            self.put_attribute(node, names::DIMENSION_LIST, datatype, list(count), none, vec![])?;
        }
        for &dim in &changed {
            let count = self.users(DimId(dim))?.len();
            self.put_users(DimId(dim), &vec![0; count * widths.user()?.size as usize], count)?;
        }
        for &var in &vars {
            let node = self.node(var)?;
            self.editor.address(node)?;
            let mut scales = others.remove(&var).unwrap_or_default();
            scales.resize(new.var(var).dims.len(), vec![]);
            let at = self.var(var)?.at;
            // New datasets have no other scales.
            if let At::Address(_) = at {
                let before = self.others.insert(at, scales.clone());
                self.log(|| Before::Others(at, before));
            }
            for (dim, scales) in new.var(var).dims.iter().zip(&mut scales) {
                if let Some(at) = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale) {
                    let at = at.address(&mut self.editor)?;
                    scales.retain(|&other| other != at);
                    scales.push(at);
                }
            }
            let mut encoder = Encoder::new(&mut self.editor);
            let bytes = encoder.references(&scales)?;
            let made = std::mem::take(&mut encoder.made);
            let datatype = TypeRef::Inline(widths.references()?);
            self.put_attribute(node, names::DIMENSION_LIST, datatype, list(scales.len()), bytes, made)?;
        }
        self.changed_users.extend(changed);
        Ok(())
    }

    /// Writes the reference lists of scales whose users changed.
    pub(super) fn list_users(&mut self) -> Result<()> {
        let size = self.widths().user()?.size as usize;
        while let Some(&dim) = self.changed_users.first() {
            let users = self.users(DimId(dim))?.clone();
            let mut bytes = vec![];
            for &(at, place) in &users {
                let start = bytes.len();
                let address = at.address(&mut self.editor)?;
                Encoder::new(&mut self.editor).reference(address, &mut bytes)?;
                bytes.extend(place.to_le_bytes());
                bytes.resize(start + size, 0);
            }
            self.put_users(DimId(dim), &bytes, users.len())?;
            self.changed_users.remove(&dim);
        }
        Ok(())
    }

    /// True if the dataset of a variable is the scale of its first dimension.
    fn is_scale(&self, new: &Model, var: VarId) -> bool {
        let Some(&first) = new.var(var).dims.first() else { return false };
        self.dims[first.index()].as_ref().is_some_and(|dim| dim.coordinate == Some(var))
    }

    fn put_users(&mut self, dim: DimId, bytes: &[u8], count: usize) -> Result<()> {
        let scale = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale);
        let Some(scale) = scale.filter(|&scale| scale != At::Elsewhere) else { return Ok(()) };
        let node = scale.node(&mut self.editor)?;
        if count == 0 {
            return self.remove_attribute(node, names::REFERENCE_LIST);
        }
        let datatype = self.widths().user()?;
        self.put_plain(node, names::REFERENCE_LIST, datatype, list(count), bytes.to_vec())
    }

    /// Returns the datasets attached to the scale of a dimension, with the index of their dimension.
    pub(super) fn users(&mut self, dim: DimId) -> Result<&mut Vec<(At, i32)>> {
        let place = self.dims[dim.index()].get_or_insert_default();
        if place.users.is_none() {
            let scale = place.scale;
            let read = match scale {
                Some(At::Address(at)) => {
                    let file = self.editor.file();
                    let attribute = file.object(at)?.attribute(names::REFERENCE_LIST)?;
                    let decode = |attribute: ferrocdf_hdf5::Attribute| {
                        let most = attribute.data.len() as u64 * 64 + 4096;
                        let mut values = ferrocdf_hdf5::Values::new(file, most);
                        values.list(&attribute.datatype, &attribute.data)
                    };
                    attribute.map(decode).transpose()?.unwrap_or_default()
                }
                _ => vec![],
            };
            let users = read.into_iter().filter_map(|value| match value {
                Raw::Compound(pair) => match pair.as_slice() {
                    [Raw::Reference(Some(to)), Raw::Int(place)] => {
                        Some((At::Address(to.object), i32::try_from(*place).ok()?))
                    }
                    [Raw::Reference(Some(to)), Raw::Uint(place)] => {
                        Some((At::Address(to.object), i32::try_from(*place).ok()?))
                    }
                    _ => None,
                },
                _ => None,
            });
            let users = users.collect();
            self.dims[dim.index()].get_or_insert_default().users = Some(users);
        }
        let place = self.dims[dim.index()].get_or_insert_default();
        Ok(place.users.get_or_insert_default())
    }
}

/// Returns all groups, each before its subgroups.
fn outside_in(model: &Model) -> Vec<ferrocdf_model::GroupId> {
    let mut list = vec![ferrocdf_model::GroupId::ROOT];
    let mut next = 0;
    while let Some(&group) = list.get(next) {
        next += 1;
        list.splice(next..next, model.group(group).groups.iter().copied());
    }
    list
}

/// True if some coordinate variable has several dimensions, or comes before one whose dimension was defined earlier.
fn loses_ids(model: &Model) -> bool {
    let dims = (0..model.dims().len()).map(|dim| DimId(dim as u32));
    let mut coordinates: Vec<(VarId, DimId)> =
        dims.filter_map(|dim| Some((coordinate(model, dim)?, dim))).collect();
    coordinates.sort_unstable();
    let group = |var: VarId| model.var(var).group;
    let mut last = HashMap::new();
    coordinates.into_iter().any(|(var, dim)| {
        let earlier = last.insert(group(var), dim).is_some_and(|last| dim < last);
        earlier || model.var(var).dims.len() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_on_behind_the_last_one_as_long_as_there_is_room() {
        let mut ids = FileIds::default();
        [3, 7, i64::from(i32::MAX) - 1].into_iter().for_each(|id| ids.push(id));
        assert_eq!(ids.stored(DimId(1)), Ok(7i32.to_le_bytes()));
        assert_eq!(ids.stored(DimId(3)), Ok(i32::MAX.to_le_bytes()));
        assert_eq!(ids.stored(DimId(4)).unwrap_err().code, Code::EMAXDIMS);
        assert_eq!(FileIds::default().stored(DimId(2)), Ok(2i32.to_le_bytes()));
    }
}
