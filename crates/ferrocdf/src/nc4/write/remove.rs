//! Taking variables, dimensions, groups and types out of a file.
//!
//! What goes is detached from what stays, gives up what it holds in the global heap, and loses its link, all in one
//! commit. Then the file is read again: ids are given anew.

use std::collections::BTreeSet;

use ferrocdf_array::{Out, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::edit::Node;
use ferrocdf_hdf5::messages::Dataspace;
use ferrocdf_hdf5::messages::fill::Fill;
use ferrocdf_hdf5::{Dataset, Object, Placed};
use ferrocdf_model::{Atomic, Class, DimId, GroupId, Model, Name, Owner, Type, TypeId, VarId};

use super::attrs::{list, scalar};
use super::define::{link_of, role};
use super::values::places;
use super::{At, Edited, types};
use crate::copy::Tiles;
use crate::data::{elements, zeros};
use crate::driver::Part;
use crate::nc4::names;

/// Bytes of elements that are looked through at a time.
const WINDOW: u64 = 1 << 20;

/// All that goes with a part.
#[derive(Default)]
struct Gone {
    groups: BTreeSet<GroupId>,
    dims: BTreeSet<DimId>,
    types: BTreeSet<TypeId>,
    vars: BTreeSet<VarId>,
}

impl Gone {
    fn with(model: &Model, part: Part) -> Gone {
        let mut gone = Gone::default();
        match part {
            Part::Variable(var) => drop(gone.vars.insert(var)),
            Part::Dimension(dim) => drop(gone.dims.insert(dim)),
            Part::Type(ty) => drop(gone.types.insert(ty)),
            Part::Group(group) => gone.add_group(model, group),
        }
        gone
    }

    fn add_group(&mut self, model: &Model, id: GroupId) {
        let group = model.group(id);
        self.groups.insert(id);
        self.dims.extend(&group.dims);
        self.types.extend(&group.types);
        self.vars.extend(&group.vars);
        group.groups.iter().for_each(|&child| self.add_group(model, child));
    }

    /// Checks that nothing that stays lies on a dimension, or is of a type, that goes. `NC_EINVAL` if something does.
    fn check_unused(&self, model: &Model) -> Result<()> {
        let used =
            |what: String, by: String| Err(Error::new(Code::EINVAL, format!("{what} is used by {by}")));
        let stays = |var: &VarId| !self.vars.contains(var);
        for var in model.var_ids().filter(stays) {
            if let Some(&dim) = model.var(var).dims.iter().find(|dim| self.dims.contains(dim)) {
                return used(format!("dimension \"{}\"", model.dim(dim).name), model.var_path(var));
            }
        }
        if self.types.is_empty() {
            return Ok(());
        }
        let goes = |ty: Type| matches!(ty, Type::User(id) if self.types.contains(&id));
        let name = |ty: Type| format!("type \"{}\"", model.type_name(ty));
        for (id, ty) in (0..).map(TypeId).zip(model.types()).filter(|(id, _)| !self.types.contains(id)) {
            let parts: Vec<Type> = match &ty.class {
                Class::Compound { fields, .. } => fields.iter().map(|field| field.ty).collect(),
                Class::Vlen(base) => vec![*base],
                Class::Opaque(_) | Class::Enum { .. } => vec![],
            };
            if let Some(part) = parts.into_iter().find(|&part| goes(part)) {
                return used(name(part), name(Type::User(id)));
            }
        }
        let groups = model.group_ids().filter(|group| !self.groups.contains(group));
        for owner in groups.map(Owner::Group).chain(model.var_ids().filter(stays).map(Owner::Var)) {
            let (ty, path) = match owner {
                Owner::Group(group) => (None, model.group_path(group)),
                Owner::Var(var) => (Some(model.var(var).ty), model.var_path(var)),
            };
            if let Some(ty) = ty.filter(|&ty| goes(ty)) {
                return used(name(ty), path);
            }
            if let Some(attr) = model.attrs(owner).iter().find(|attr| goes(attr.value.ty())) {
                let by = format!("attribute \"{}\" of {path}", attr.name);
                return used(name(attr.value.ty()), by);
            }
        }
        Ok(())
    }

    /// The id of a dimension once others are gone.
    fn id_after(&self, dim: DimId) -> DimId {
        DimId(dim.0 - self.dims.range(..dim).count() as u32)
    }
}

impl Edited {
    /// Takes a part out of the file, which says what `model` says.
    pub(super) fn remove(&mut self, model: &Model, part: Part) -> Result<()> {
        if part == Part::Group(GroupId::ROOT) {
            return Err(Error::new(Code::EBADGRPID, "the root group cannot be removed"));
        }
        let gone = Gone::with(model, part);
        gone.check_unused(model)?;
        self.settle()?;
        self.changed = true;
        // A dimension that stays gets a scale of its own.
        let mut renamed = model.clone();
        for &var in &gone.vars {
            if role(model, var).is_some_and(|dim| !gone.dims.contains(&dim)) {
                renamed.rename_var(var, free_name(model, model.var(var).group)?)?;
            }
        }
        self.define(model, &renamed)?;
        let model = &renamed;
        for &var in &gone.vars {
            self.detach(model, var)?;
            if self.var(var)?.at != At::Elsewhere {
                let node = self.node(var)?;
                self.free_values(node)?;
                self.free_attributes(node)?;
            }
        }
        for &group in &gone.groups {
            if self.groups[group.index()].is_some_and(|at| at != At::Elsewhere) {
                let node = self.group(group)?;
                self.free_attributes(node)?;
            }
        }
        self.renumber(model, &gone)?;
        let (parent, link) = match part {
            Part::Variable(var) => {
                let of = model.var(var);
                (of.group, link_of(model, var, self.var(var)?.prefixed)?)
            }
            Part::Dimension(dim) => (model.dim(dim).group, model.dim(dim).name.to_string()),
            Part::Type(ty) => (model.user_type(ty).group, model.user_type(ty).name.to_string()),
            Part::Group(group) => {
                let of = model.group(group);
                (of.parent.unwrap_or(GroupId::ROOT), of.name.to_string())
            }
        };
        let parent = self.group(parent)?;
        // A dimension that was made up has no link.
        let is_made_up = |dim: DimId| self.dims[dim.index()].as_ref().is_none_or(|dim| dim.scale.is_none());
        if !matches!(part, Part::Dimension(dim) if is_made_up(dim)) {
            self.editor.unlink(parent, &link)?;
        }
        // A variable that had to make way for the name of a dimension has it to itself now.
        if let Part::Dimension(dim) = part
            && let Some(var) = model.find_var(model.dim(dim).group, link.as_bytes())
            && self.var(var)?.prefixed
        {
            self.editor.rename_link(parent, &link_of(model, var, true)?, &link)?;
        }
        for dim in &gone.dims {
            self.unlisted.remove(&dim.0);
        }
        self.settle()
    }

    /// Takes a variable that goes out of the lists of its dimensions.
    fn detach(&mut self, model: &Model, var: VarId) -> Result<()> {
        let own = self.var(var)?.at;
        if own == At::Elsewhere {
            return Ok(());
        }
        let own = own.address(&mut self.editor)?;
        for &dim in &model.var(var).dims {
            let users = self.users(dim)?.clone();
            let mut stay = vec![];
            for (at, place) in users {
                if at.address(&mut self.editor)? != own {
                    stay.push((at, place));
                }
            }
            *self.users(dim)? = stay;
            self.unlisted.insert(dim.0);
        }
        Ok(())
    }

    fn object(&mut self, node: Node) -> Result<Object> {
        let at = self.editor.address(node)?;
        self.editor.file().object(at)
    }

    /// Gives up what the elements of a variable hold in the global heap.
    fn free_values(&mut self, node: Node) -> Result<()> {
        let dataset = Dataset::open(&self.object(node)?)?;
        let datatype = dataset.datatype();
        if !datatype.has_pointers() {
            return Ok(());
        }
        let mut held = vec![];
        if let Fill::Value(bytes) = &dataset.fill().value {
            places(&self.editor, datatype, bytes, &mut held);
        }
        let Placed { blob, array } = dataset.raw()?;
        let unit: Vec<u64> = array.shape.iter().map(|_| 1).collect();
        for some in Tiles::new(Selection::all(&array.shape), &unit, WINDOW.max(datatype.size.into())) {
            let mut bytes = zeros(elements(&some)?)?;
            let _exact = ferrocdf_array::read(&*blob, &array, &some, Out::new(&mut bytes))?;
            places(&self.editor, datatype, &bytes, &mut held);
            for id in held.drain(..) {
                // Elements may share a place, above all that of the fill value.
                let _ = self.editor.heap_free(id);
            }
        }
        Ok(())
    }

    /// Removes all attributes of an object with what they hold in the global heap.
    fn free_attributes(&mut self, node: Node) -> Result<()> {
        let attributes = self.object(node)?.attributes()?.list;
        for (name, _) in attributes {
            self.remove_attribute(node, &name)?;
        }
        // One that is a scale no more has got a list just now.
        self.remove_attribute(node, names::DIMENSION_LIST)
    }

    /// Gives dimensions the ids that they have once others are gone, wherever the file tells ids.
    fn renumber(&mut self, model: &Model, gone: &Gone) -> Result<()> {
        if gone.dims.is_empty() {
            return Ok(());
        }
        let bytes =
            |dims: &[DimId]| dims.iter().flat_map(|&dim| gone.id_after(dim).0.to_le_bytes()).collect();
        let mut told: Vec<(Node, &[u8], Dataspace, Vec<u8>)> = vec![];
        for dim in (0..model.dims().len() as u32).map(DimId).filter(|dim| !gone.dims.contains(dim)) {
            if let Some(scale) = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale) {
                let node = scale.node(&mut self.editor)?;
                told.push((node, names::DIMID, scalar(), bytes(&[dim])));
            }
        }
        for var in model.var_ids().filter(|var| !gone.vars.contains(var)) {
            let dims = &model.var(var).dims;
            if dims.is_empty() || self.var(var)?.at == At::Elsewhere {
                continue;
            }
            let node = self.node(var)?;
            told.push((node, names::COORDINATES, list(dims.len()), bytes(dims)));
            told.push((node, names::DIMID, scalar(), bytes(&dims[..1])));
        }
        for (node, name, space, bytes) in told {
            if self.object(node)?.attribute(name)?.is_some() {
                self.put_plain(node, name, types::atomic(Atomic::Int, None), space, bytes)?;
            }
        }
        Ok(())
    }
}

/// A name that nothing in a group has.
fn free_name(model: &Model, group: GroupId) -> Result<Name> {
    let is_free = |name: &String| {
        let name = name.as_bytes();
        model.find_var(group, name).is_none()
            && model.dim_in(group, name).is_none()
            && model.find_group(group, name).is_none()
            && model.type_in(group, name).is_none()
    };
    let mut names = (0u64..).map(|number| format!("_nc4_removed_{number}"));
    Name::new(names.find(is_free).unwrap_or_default())
}
