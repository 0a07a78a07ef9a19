//! Removal of variables, dimensions, groups and types.
//!
//! A link is removed, and an object with its last link: it is detached from the remaining objects, and its global heap
//! objects are freed, all in one commit. Then the file is read again, with new ids. A removal that would leave dangling
//! references in HDF5 objects unknown to netCDF is refused.

use std::collections::{BTreeSet, HashSet};

use ferrocdf_array::{Array, Layout, Out, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::edit::Node;
use ferrocdf_hdf5::messages::datatype::Datatype;
use ferrocdf_hdf5::messages::fill::Fill;
use ferrocdf_hdf5::messages::{Dataspace, HeapId};
use ferrocdf_hdf5::{Address, Dataset, File, LinkTarget, Object, ObjectKind};
use ferrocdf_model::{Atomic, Class, DimId, GroupId, Model, Name, Owner, Type, TypeId, VarId};
use ferrocdf_store::Blob;

use super::attrs::{list, scalar};
use super::roles::{link_of, role};
use super::values::places;
use super::{At, Edited, link_name, types};
use crate::driver::Part;
use crate::elements::{elements, zeros};
use crate::nc4::walk::{number_of, place_of};
use crate::nc4::{decode, names};
use crate::tiles::Tiles;

/// Bytes of elements that are searched at a time.
const WINDOW: u64 = 1 << 20;

/// Plan of the removal of a part.
pub(super) struct Removal {
    part: Part,
    gone: Gone,
    /// Objects without another link.
    objects: HashSet<Node>,
    /// Model in which removed coordinate variables are renamed, so that they no longer are coordinates.
    renamed: Model,
}

/// All parts of the model that are removed with a part.
#[derive(Default)]
struct Gone {
    groups: BTreeSet<GroupId>,
    dims: BTreeSet<DimId>,
    types: BTreeSet<TypeId>,
    vars: BTreeSet<VarId>,
}

fn used<T>(what: impl std::fmt::Display, by: impl std::fmt::Display) -> Result<T> {
    Err(Error::new(Code::EINVAL, format!("{what} is used by {by}: remove that first")))
}

impl Gone {
    fn with(model: &Model, part: Part, unnamed: impl Fn(TypeId) -> bool) -> Gone {
        let mut gone = Gone::default();
        match part {
            Part::Variable(var) => drop(gone.vars.insert(var)),
            Part::Dimension(dim) => drop(gone.dims.insert(dim)),
            Part::Type(ty) => drop(gone.types.insert(ty)),
            Part::Group(group) => gone.add_group(model, group),
        }
        // Types without a name exist only in the objects that use them.
        gone.types.retain(|&ty| !unnamed(ty));
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

    /// Checks that no remaining object uses a removed dimension or type. `NC_EINVAL` if one does.
    fn check_unused(&self, model: &Model) -> Result<()> {
        let stays = |var: &VarId| !self.vars.contains(var);
        for var in model.var_ids().filter(stays) {
            if let Some(&dim) = model.var(var).dims.iter().find(|dim| self.dims.contains(dim)) {
                return used(dimension(model, dim), model.var_path(var));
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
            let attrs = model.attrs(owner);
            if let Some(attr) = attrs.iter().find(|attr| goes(attr.value.ty())) {
                return used(name(attr.value.ty()), format!("attribute \"{}\" of {path}", attr.name));
            }
            // An unreadable attribute may be of a removed type.
            if let Some(failure) = attrs.failure() {
                return Err(failure.clone().at_path(path));
            }
        }
        Ok(())
    }

    /// Returns the id of a dimension after the removal of others.
    fn id_after(&self, dim: DimId) -> DimId {
        DimId(dim.0 - self.dims.range(..dim).count() as u32)
    }
}

fn dimension(model: &Model, dim: DimId) -> String {
    format!("dimension \"{}\"", model.dim(dim).name)
}

impl Edited {
    /// Plans the removal of a part from a file with the state of `model`. Changes nothing.
    ///
    /// # Errors
    /// `NC_EINVAL` if a remaining object uses a removed one, `NC_EBADGRPID` for the root group.
    pub(super) fn plan_removal(&mut self, model: &Model, part: Part) -> Result<Removal> {
        if part == Part::Group(GroupId::ROOT) {
            return Err(Error::new(Code::EBADGRPID, "the root group cannot be removed"));
        }
        let unnamed = |ty: TypeId| {
            self.types.get(ty.index()).and_then(Option::as_ref).is_some_and(|place| place.is_made_up)
        };
        if let Part::Type(ty) = part
            && unnamed(ty)
        {
            let what = format!(
                "type \"{}\" has no name in the file: it goes with what is of it",
                model.user_type(ty).name
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        let gone = Gone::with(model, part, unnamed);
        gone.check_unused(model)?;
        let (parent, link) = self.link_of_part(model, part)?;
        let objects: HashSet<Node> = self.editor.goes_with(parent, &link)?.into_iter().collect();
        let mut renamed = model.clone();
        for &var in &gone.vars {
            let Some(dim) = role(model, var).filter(|dim| !gone.dims.contains(dim)) else { continue };
            if self.has_object(&objects, self.var(var)?.at)? {
                self.check_users(model, &gone, dim)?;
                renamed.rename_var(var, free_name(model, model.var(var).group)?)?;
            }
        }
        for &dim in &gone.dims {
            let Some(scale) = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale) else { continue };
            if self.has_object(&objects, scale)? {
                self.check_users(model, &gone, dim)?;
            }
            if let Part::Dimension(_) = part {
                self.check_is_bare(model, dim, scale)?;
            }
        }
        self.check_soft_links(model, &gone, (parent, &link))?;
        Ok(Removal { part, gone, objects, renamed })
    }

    /// Checks that no remaining soft link leads through a removed link: netCDF-C does not open a file with a dangling
    /// link.
    fn check_soft_links(&mut self, model: &Model, gone: &Gone, (parent, link): (Node, &str)) -> Result<()> {
        let file = self.editor.file().clone();
        let parent = (number_of(&file), self.editor.address(parent)?);
        for group in model.group_ids().filter(|group| !gone.groups.contains(group)) {
            let Some(at) = self.groups[group.index()].filter(|&at| at != At::Elsewhere) else { continue };
            let at = at.address(&mut self.editor)?;
            for soft in file.object(at)?.links()?.list {
                let LinkTarget::Soft(path) = &soft.target else { continue };
                if goes_through(&file, at, path, (parent, link.as_bytes())) {
                    let soft = String::from_utf8_lossy(&soft.name).into_owned();
                    let by = format!("the soft link \"{soft}\" in {}", model.group_path(group));
                    return used(format_args!("\"{link}\""), by);
                }
            }
        }
        Ok(())
    }

    fn has_object(&mut self, objects: &HashSet<Node>, at: At) -> Result<bool> {
        Ok(at != At::Elsewhere && objects.contains(&at.node(&mut self.editor)?))
    }

    /// Returns the group of a part, and the name of its link there.
    fn link_of_part(&mut self, model: &Model, part: Part) -> Result<(Node, String)> {
        let (parent, name) = match part {
            Part::Variable(var) => {
                let link = link_of(model, var, self.var(var)?.prefixed)?;
                return Ok((self.group(model.var(var).group)?, link));
            }
            Part::Dimension(dim) => (model.dim(dim).group, &model.dim(dim).name),
            Part::Type(ty) => (model.user_type(ty).group, &model.user_type(ty).name),
            Part::Group(group) => {
                (model.group(group).parent.unwrap_or(GroupId::ROOT), &model.group(group).name)
            }
        };
        Ok((self.group(parent)?, link_name(name.as_bytes())?.to_string()))
    }

    /// Checks that all users of the removed scale of a dimension are removed too, or are known to be on that dimension.
    fn check_users(&mut self, model: &Model, gone: &Gone, dim: DimId) -> Result<()> {
        let mut known = HashSet::new();
        for var in model.var_ids() {
            let at = self.var(var)?.at;
            if at != At::Elsewhere && (gone.vars.contains(&var) || model.var(var).dims.contains(&dim)) {
                known.insert(at.address(&mut self.editor)?);
            }
        }
        for (at, _) in self.users(dim)?.clone() {
            let at = at.address(&mut self.editor)?;
            // Reference lists of other writers may name objects that no longer exist.
            if !known.contains(&at) && self.editor.file().object(at).is_ok() {
                return used(
                    dimension(model, dim),
                    format_args!("the HDF5 dataset at {at}, which netCDF does not know"),
                );
            }
        }
        Ok(())
    }

    /// Checks that the dataset of a scale has no other purpose.
    fn check_is_bare(&mut self, model: &Model, dim: DimId, scale: At) -> Result<()> {
        let at = scale.address(&mut self.editor)?;
        let object = self.editor.file().object(at)?;
        let title = object.attribute(names::NAME)?;
        if title.is_some_and(|title| title.data.starts_with(names::NO_VARIABLE)) {
            return Ok(());
        }
        used(dimension(model, dim), "the HDF5 dataset that is its scale, which netCDF does not know")
    }

    /// Removes a part from a file with the state of `model`, and commits.
    ///
    /// # Errors
    /// After an error the file is unchanged, and this state must [start again](Edited::start_again) before its next
    /// use.
    pub(super) fn remove(&mut self, model: &Model, removal: &Removal) -> Result<()> {
        let Removal { part, gone, objects, renamed } = removal;
        self.changed = true;
        // A remaining dimension gets a scale of its own.
        self.define(model, renamed)?;
        for &var in &gone.vars {
            if self.has_object(objects, self.var(var)?.at)? {
                self.detach(renamed, var)?;
            }
        }
        for &node in objects {
            self.free(node);
        }
        self.renumber(renamed, gone)?;
        let (parent, link) = self.link_of_part(renamed, *part)?;
        self.editor.unlink(parent, &link)?;
        // A variable whose link has a prefix because of the dimension gets its plain name.
        if let Part::Dimension(dim) = *part
            && let Some(var) = renamed.find_var(renamed.dim(dim).group, link.as_bytes())
            && self.var(var)?.prefixed
        {
            self.editor.rename_link(parent, &link_of(renamed, var, true)?, &link)?;
        }
        for dim in &gone.dims {
            self.changed_users.remove(&dim.0);
        }
        self.flush()
    }

    /// Removes a variable from the reference lists of its dimensions.
    fn detach(&mut self, model: &Model, var: VarId) -> Result<()> {
        let own = self.var(var)?.at.address(&mut self.editor)?;
        let mut dims: BTreeSet<DimId> = model.var(var).dims.iter().copied().collect();
        dims.extend(self.attached(own)?);
        for dim in dims {
            let users = self.users(dim)?.clone();
            let mut stay = vec![];
            for (at, place) in users {
                if at.address(&mut self.editor)? != own {
                    stay.push((at, place));
                }
            }
            *self.users(dim)? = stay;
            self.changed_users.insert(dim.0);
        }
        Ok(())
    }

    /// Returns the dimensions whose scales are in the `DIMENSION_LIST` of a dataset, independently of the model.
    fn attached(&mut self, at: Address) -> Result<Vec<DimId>> {
        let file = self.editor.file().clone();
        let list = file.object(at)?.attribute(names::DIMENSION_LIST)?;
        let scales = list.and_then(|list| decode::scales(&file, &list).ok()).unwrap_or_default().concat();
        let mut dims = vec![];
        for (dim, place) in (0..).map(DimId).zip(&self.dims) {
            let Some(scale) = place.as_ref().and_then(|place| place.scale) else { continue };
            if scale != At::Elsewhere && scales.contains(&scale.address(&mut self.editor)?) {
                dims.push(dim);
            }
        }
        Ok(dims)
    }

    fn object(&mut self, node: Node) -> Result<Object> {
        let at = self.editor.address(node)?;
        self.editor.file().object(at)
    }

    /// Frees the global heap objects of a removed object, as far as it can be read.
    fn free(&mut self, node: Node) {
        // Heap objects of unreadable values stay in the heap, unused.
        let _ = self.free_values(node);
        let _ = self.free_attributes(node);
    }

    fn free_values(&mut self, node: Node) -> Result<()> {
        let object = self.object(node)?;
        if object.kind() != ObjectKind::Dataset {
            return Ok(());
        }
        let dataset = Dataset::open(&object)?;
        let datatype = dataset.datatype();
        if !datatype.has_pointers() {
            return Ok(());
        }
        let mut held = vec![];
        if let Fill::Value(bytes) = &dataset.fill().value {
            places(&self.editor, datatype, bytes, &mut held);
        }
        self.give_up_all(held);
        // Values in external files have no objects in this heap.
        if dataset.external().is_some() {
            return Ok(());
        }
        let placed = dataset.raw()?;
        let (blob, mut array) = (placed.blob, placed.array);
        match &array.layout {
            Layout::Chunked(blocks) => {
                let shape = blocks.shape.clone();
                // Elements beyond the extent hold fill values.
                for (len, chunk) in array.shape.iter_mut().zip(&shape) {
                    *len = len.div_ceil(*chunk).saturating_mul(*chunk);
                }
                dataset.each_chunk(|mut first| {
                    first.push(0);
                    self.free_elements(&*blob, &array, datatype, Selection::slab(&first, &shape))
                })
            }
            Layout::Strided { .. } | Layout::Inline(_) => {
                let all = Selection::all(&array.shape);
                self.free_elements(&*blob, &array, datatype, all)
            }
            // Elements of virtual datasets belong to other datasets.
            _ => Ok(()),
        }
    }

    fn free_elements(
        &mut self,
        blob: &dyn Blob,
        array: &Array,
        datatype: &Datatype,
        which: Selection,
    ) -> Result<()> {
        let size = u64::from(datatype.size);
        let mut unit = vec![1; which.count.len()];
        if let Some(element) = unit.last_mut() {
            *element = size;
        }
        for some in Tiles::new(which, &unit, WINDOW.max(size)) {
            let mut bytes = zeros(elements(&some)?)?;
            let _exact = ferrocdf_array::read(blob, array, &some, Out::new(&mut bytes))?;
            let mut held = vec![];
            places(&self.editor, datatype, &bytes, &mut held);
            self.give_up_all(held);
        }
        Ok(())
    }

    fn free_attributes(&mut self, node: Node) -> Result<()> {
        let attributes = self.object(node)?.attributes()?.list;
        // A former scale has got a `DIMENSION_LIST` by the renaming.
        let list = names::DIMENSION_LIST.to_vec();
        for name in attributes.into_iter().map(|(name, _)| name).chain([list]) {
            let held = self.heap_of(node, &name)?;
            self.give_up_all(held);
        }
        Ok(())
    }

    fn give_up_all(&mut self, held: Vec<HeapId>) {
        for id in held {
            // Elements may share an object, above all that of the fill value; the second free fails, and is ignored.
            let _ = self.editor.heap_free(id);
        }
    }

    /// Updates all ids of dimensions in the file to those after the removal.
    fn renumber(&mut self, model: &Model, gone: &Gone) -> Result<()> {
        if gone.dims.is_empty() {
            return Ok(());
        }
        let bytes =
            |dims: &[DimId]| dims.iter().flat_map(|&dim| gone.id_after(dim).0.to_le_bytes()).collect();
        let mut told: Vec<(At, &[u8], Dataspace, Vec<u8>)> = vec![];
        for dim in (0..model.dims().len() as u32).map(DimId).filter(|dim| !gone.dims.contains(dim)) {
            if let Some(scale) = self.dims[dim.index()].as_ref().and_then(|dim| dim.scale) {
                told.push((scale, names::DIMID, scalar(), bytes(&[dim])));
            }
        }
        for var in model.var_ids().filter(|var| !gone.vars.contains(var)) {
            let dims = &model.var(var).dims;
            if !dims.is_empty() {
                let at = self.var(var)?.at;
                told.push((at, names::COORDINATES, list(dims.len()), bytes(dims)));
                told.push((at, names::DIMID, scalar(), bytes(&dims[..1])));
            }
        }
        for (at, name, space, bytes) in told.into_iter().filter(|told| told.0 != At::Elsewhere) {
            let node = at.node(&mut self.editor)?;
            if self.object(node)?.attribute(name)?.is_some() {
                self.put_plain(node, name, types::atomic(Atomic::Int, None), space, bytes)?;
            }
        }
        Ok(())
    }
}

/// True if a path from a group goes through a link of another group.
fn goes_through(file: &File, from: Address, path: &[u8], link: ((usize, Address), &[u8])) -> bool {
    let (parent, name) = link;
    let mut end = 0;
    path.split(|&byte| byte == b'/').any(|step| {
        let before = &path[..end];
        end += step.len() + 1;
        // The path "/" leads to the root group.
        let before = if before.is_empty() && path.starts_with(b"/") { b"/" } else { before };
        let is_there =
            || file.open_path(from, before).ok().flatten().is_some_and(|group| place_of(&group) == parent);
        step == name && is_there()
    })
}

/// Returns a name that is unused in a group.
fn free_name(model: &Model, group: GroupId) -> Result<Name> {
    let is_free = |name: &String| {
        let name = name.as_bytes();
        model.is_free(group, name) && model.dim_in(group, name).is_none()
    };
    let mut names = (0u64..).map(|number| format!("_nc4_removed_{number}"));
    Name::new(names.find(is_free).unwrap_or_default())
}
