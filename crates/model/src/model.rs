//! The model of one dataset, and the changes that define mode makes to it.
//!
//! Two ways in: `push_*` builds a model from what a file says and takes everything as it is; `def_*`, `put_attr`,
//! `rename_*` are what a user asks for, checked against the format and the rules of names in the order in which the
//! reference checks, so that the same mistake gives the same code.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::named::in_use;
use crate::{
    Atomic, Attr, Attrs, Class, DataModel, Dim, DimId, Format, Group, GroupId, Name, Owner, Storage,
    StoredFill, Type, TypeId, UserType, Values, Var, VarId,
};

/// Groups, dimensions, types, variables and attributes of one dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    format: Format,
    groups: Vec<Group>,
    dims: Vec<Dim>,
    types: Vec<UserType>,
    vars: Vec<Arc<Var>>,
    /// Whether new names may be any that HDF5 holds.
    any_names: bool,
}

impl Model {
    /// A dataset with an empty root group.
    pub fn new(format: Format) -> Self {
        Model {
            format,
            groups: vec![Group::default()],
            dims: vec![],
            types: vec![],
            vars: vec![],
            any_names: false,
        }
    }

    /// The format whose rules hold.
    pub fn format(&self) -> Format {
        self.format
    }

    /// All groups; `GroupId`s are positions.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All dimensions; `DimId`s are positions.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// All user-defined types; `TypeId`s are positions.
    pub fn types(&self) -> &[UserType] {
        &self.types
    }

    /// All variables; `VarId`s are positions. Models that came from each other share those that are the same.
    pub fn vars(&self) -> &[Arc<Var>] {
        &self.vars
    }

    /// Ids of all variables.
    pub fn var_ids(&self) -> impl ExactSizeIterator<Item = VarId> + use<> {
        self.var_ids_from(0)
    }

    /// Ids of the variables behind the first `known` ones. Unlike `skip`, this does not step over those.
    pub fn var_ids_from(&self, known: usize) -> impl ExactSizeIterator<Item = VarId> + use<> {
        (known..self.vars.len()).map(VarId::from_index)
    }

    /// Ids of all groups.
    pub fn group_ids(&self) -> impl ExactSizeIterator<Item = GroupId> + use<> {
        (0..self.groups.len()).map(GroupId::from_index)
    }

    /// A group.
    ///
    /// # Panics
    /// If `id` is from another model; so do all that take an id.
    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.index()]
    }

    /// Returns the variable at a position of a group.
    #[inline(always)]
    pub fn var_at(&self, group: GroupId, at: usize) -> Option<VarId> {
        // With one group the position is the id. Calls that move one value do this lookup each time.
        if self.groups.len() == 1 && group == GroupId::ROOT {
            return (at < self.vars.len()).then(|| VarId::from_index(at));
        }
        self.groups.get(group.index())?.vars.get(at).copied()
    }

    /// A dimension.
    pub fn dim(&self, id: DimId) -> &Dim {
        &self.dims[id.index()]
    }

    /// A variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// A variable, to be changed in all but its name, group and dimensions.
    pub fn var_mut(&mut self, id: VarId) -> &mut Var {
        Arc::make_mut(&mut self.vars[id.index()])
    }

    /// A user-defined type.
    pub fn user_type(&self, id: TypeId) -> &UserType {
        &self.types[id.index()]
    }

    /// Bytes of one value of a type in the memory of a C program.
    pub fn size_of(&self, ty: Type) -> usize {
        match ty {
            Type::Atomic(atomic) => atomic.size(),
            Type::User(id) => self.user_type(id).class.size(),
        }
    }

    /// Returns the multiple of bytes at which values of a type begin in the memory of a C program.
    pub fn align_of(&self, ty: Type) -> usize {
        match ty {
            Type::Atomic(atomic) => atomic.align(),
            Type::User(id) => match &self.user_type(id).class {
                Class::Compound { fields, .. } => {
                    fields.iter().map(|field| self.align_of(field.ty)).max().unwrap_or(1)
                }
                Class::Vlen(_) => align_of::<usize>(),
                Class::Opaque(_) => 1,
                Class::Enum { base, .. } => base.align(),
            },
        }
    }

    /// Whether values of a type hold no text or lists of any length, which lie elsewhere in memory and in files.
    pub fn is_flat(&self, ty: Type) -> bool {
        match ty {
            Type::Atomic(atomic) => atomic != Atomic::String,
            Type::User(id) => match &self.user_type(id).class {
                Class::Compound { fields, .. } => fields.iter().all(|field| self.is_flat(field.ty)),
                Class::Vlen(_) => false,
                Class::Opaque(_) | Class::Enum { .. } => true,
            },
        }
    }

    /// A user-defined type, to be changed in all but its group.
    pub fn user_type_mut(&mut self, id: TypeId) -> &mut UserType {
        &mut self.types[id.index()]
    }

    /// The attributes of a group or variable.
    pub fn attrs(&self, owner: Owner) -> &Attrs {
        match owner {
            Owner::Group(id) => &self.groups[id.index()].attrs,
            Owner::Var(id) => &self.vars[id.index()].attrs,
        }
    }

    fn attrs_mut(&mut self, owner: Owner) -> &mut Attrs {
        match owner {
            Owner::Group(id) => &mut self.groups[id.index()].attrs,
            Owner::Var(id) => &mut self.var_mut(id).attrs,
        }
    }

    /// The dimension called `name` that is defined in this group itself.
    pub fn dim_in(&self, group: GroupId, name: &[u8]) -> Option<DimId> {
        let group = self.group(group);
        let at = group.dim_index.find(
            group.dims.len(),
            |at| &self.dim(group.dims[at]).name,
            &Name::wanted(name),
        )?;
        Some(group.dims[at])
    }

    /// The dimension called `name` that a variable in this group sees: in the group itself, else in its parents.
    pub fn find_dim(&self, group: GroupId, name: &[u8]) -> Option<DimId> {
        self.and_parents(group).find_map(|group| self.dim_in(group, name))
    }

    /// The variable called `name` in this group.
    pub fn find_var(&self, group: GroupId, name: &[u8]) -> Option<VarId> {
        self.find_var_position(group, name).map(|at| self.group(group).vars[at])
    }

    /// The position of the variable called `name` among those of a group, which is its id in the C interface.
    pub fn find_var_position(&self, group: GroupId, name: &[u8]) -> Option<usize> {
        let group = self.group(group);
        group.var_index.find(group.vars.len(), |at| &self.var(group.vars[at]).name, &Name::wanted(name))
    }

    /// The group called `name` in this group.
    pub fn find_group(&self, parent: GroupId, name: &[u8]) -> Option<GroupId> {
        let name = Name::wanted(name);
        self.group(parent).groups.iter().copied().find(|&id| self.group(id).name.as_bytes() == &*name)
    }

    /// The type called `name` that is defined in this group itself.
    pub fn type_in(&self, group: GroupId, name: &[u8]) -> Option<TypeId> {
        let name = Name::wanted(name);
        self.group(group).types.iter().copied().find(|&id| self.user_type(id).name.as_bytes() == &*name)
    }

    /// The attribute called `name`, if it could be read; [`Attrs::failure`] says why it could not.
    pub fn find_attr(&self, owner: Owner, name: &[u8]) -> Option<&Attr> {
        self.attrs(owner).find(&Name::wanted(name))
    }

    /// This group, its parent, and so on up to the root.
    pub fn and_parents(&self, group: GroupId) -> impl Iterator<Item = GroupId> + Clone {
        std::iter::successors(Some(group), |&id| self.group(id).parent)
    }

    /// The lengths of a variable's dimensions as they are now.
    pub fn shape(&self, var: VarId) -> Vec<u64> {
        self.var(var).dims.iter().map(|&dim| self.dim(dim).len).collect()
    }

    /// Whether the variable's first dimension is unlimited, which in classic files makes it a record variable.
    pub fn is_record(&self, var: VarId) -> bool {
        self.var(var).dims.first().is_some_and(|&dim| self.dim(dim).unlimited)
    }

    /// The first unlimited dimension: the only one of the classic model.
    pub fn record_dim(&self) -> Option<DimId> {
        self.dims.iter().position(|dim| dim.unlimited).map(DimId::from_index)
    }

    /// The name of a type in CDL.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Atomic(atomic) => atomic.cdl_name().to_string(),
            Type::User(id) => self.user_type(id).name.to_string(),
        }
    }

    // ---- Building from a file ----

    /// Adds a group as found in a file.
    pub fn push_group(&mut self, parent: GroupId, name: Name) -> GroupId {
        let id = GroupId::from_index(self.groups.len());
        self.groups.push(Group { name, parent: Some(parent), ..Group::default() });
        self.groups[parent.index()].groups.push(id);
        id
    }

    /// Adds a dimension as found in a file.
    pub fn push_dim(&mut self, dim: Dim) -> DimId {
        let id = DimId::from_index(self.dims.len());
        let group = &mut self.groups[dim.group.index()];
        self.dims.push(dim);
        group.dims.push(id);
        let (dims, ids) = (&self.dims, &group.dims);
        group.dim_index.appended(ids.len(), |at| &dims[ids[at].index()].name);
        id
    }

    /// Adds a type as found in a file.
    pub fn push_type(&mut self, ty: UserType) -> TypeId {
        let id = TypeId::from_index(self.types.len());
        self.groups[ty.group.index()].types.push(id);
        self.types.push(ty);
        id
    }

    /// Makes room for that many more variables.
    pub fn reserve_vars(&mut self, count: usize) {
        self.vars.reserve_exact(count);
    }

    /// Adds a variable as found in a file.
    pub fn push_var(&mut self, var: Var) -> VarId {
        let id = VarId::from_index(self.vars.len());
        let group = &mut self.groups[var.group.index()];
        self.vars.push(Arc::new(var));
        group.vars.push(id);
        let (vars, ids) = (&self.vars, &group.vars);
        group.var_index.appended(ids.len(), |at| &vars[ids[at].index()].name);
        id
    }

    /// Takes back the variable that was defined last: what else it should have was refused.
    pub fn pop_var(&mut self) {
        let Some(var) = self.vars.pop() else { return };
        let group = &mut self.groups[var.group.index()];
        group.vars.pop();
        let (vars, ids) = (&self.vars, &group.vars);
        group.var_index.rebuild(ids.len(), |at| &vars[ids[at].index()].name);
    }

    /// Adds an attribute as found in a file.
    pub fn push_attr(&mut self, owner: Owner, attr: Attr) {
        self.attrs_mut(owner).push(attr);
    }

    /// Sets all attributes of a group, as found in a file.
    pub fn set_attrs(&mut self, group: GroupId, attrs: Attrs) {
        self.groups[group.index()].attrs = attrs;
    }

    /// Sets the present length of an unlimited dimension.
    pub fn set_dim_len(&mut self, dim: DimId, len: u64) {
        self.dims[dim.index()].len = len;
    }

    // ---- Define mode ----

    /// Makes a dimension unlimited.
    pub fn make_unlimited(&mut self, dim: DimId) {
        self.dims[dim.index()].unlimited = true;
    }

    /// Gives a dimension a fixed length.
    pub fn fix_dim(&mut self, dim: DimId, len: u64) {
        let dim = &mut self.dims[dim.index()];
        (dim.unlimited, dim.len) = (false, len);
    }

    /// This model with new names checked by the rules of HDF5 ([`Name::of_hdf5`]), which are wider than those of netCDF:
    /// for a file that is to hold what a file of another program holds.
    #[must_use]
    pub fn with_names_of_hdf5(self) -> Self {
        Model { any_names: true, ..self }
    }

    /// A new name of an attribute or of a member of a type, checked by the rules of this model.
    pub fn name(&self, name: impl AsRef<[u8]>) -> Result<Name> {
        if self.any_names { Name::of_hdf5(name) } else { Name::new(name) }
    }

    /// A new name of a dimension, variable, group or type, checked by the rules of this model.
    fn link_name(&self, name: impl AsRef<[u8]>) -> Result<Name> {
        if self.any_names { Name::of_link(name) } else { Name::new(name) }
    }

    /// Defines a dimension; `None` makes it unlimited.
    ///
    /// Fails with `NC_EBADNAME`, `NC_EDIMSIZE` (longer than the format holds, or 0 in a classic file), `NC_EUNLIMIT` (a second unlimited one
    /// in the classic model), `NC_ENAMEINUSE`.
    pub fn def_dim(&mut self, group: GroupId, name: impl AsRef<[u8]>, len: Option<u64>) -> Result<DimId> {
        let name = self.link_name(name)?;
        match len {
            Some(len) if len > self.format.max_dim_len() => {
                let (most, kind) = (self.format.max_dim_len(), self.format.kind_name());
                let what = format!("dimension \"{name}\" of length {len}: {kind} files hold at most {most}");
                return Err(Error::new(Code::EDIMSIZE, what));
            }
            Some(0) if self.format.has_cdf_model() => {
                let what =
                    format!("dimension \"{name}\" of length 0: classic files mark the unlimited one so");
                return Err(Error::new(Code::EDIMSIZE, what));
            }
            None if !self.format.is_enhanced() && self.record_dim().is_some() => {
                let what =
                    format!("dimension \"{name}\": the classic model has one unlimited dimension at most");
                return Err(Error::new(Code::EUNLIMIT, what));
            }
            _ => {}
        }
        if self.dim_in(group, name.as_bytes()).is_some() {
            return Err(in_use(&name).at("dimension"));
        }
        Ok(self.push_dim(Dim { name, group, len: len.unwrap_or(0), unlimited: len.is_none() }))
    }

    /// Defines a variable.
    ///
    /// Fails with `NC_EBADNAME`, `NC_EBADTYPE` (not held by the format), `NC_ENAMEINUSE`, `NC_EBADDIM`,
    /// `NC_EUNLIMPOS` (unlimited dimension not first, in classic files).
    pub fn def_var(
        &mut self,
        group: GroupId,
        name: impl AsRef<[u8]>,
        ty: Type,
        dims: &[DimId],
    ) -> Result<VarId> {
        let name = self.link_name(name)?;
        self.check_type(ty).map_err(|error| error.at(format_args!("variable \"{name}\"")))?;
        self.check_new_in_group(group, &name).map_err(|error| error.at("variable"))?;
        for (place, id) in dims.iter().enumerate() {
            let Some(dim) = self.dims.get(id.index()) else {
                return Err(Error::new(Code::EBADDIM, format!("variable \"{name}\": no dimension {}", id.0)));
            };
            if dim.unlimited && place > 0 && self.format.has_cdf_model() {
                let what =
                    format!("variable \"{name}\": unlimited dimension \"{}\" must come first", dim.name);
                return Err(Error::new(Code::EUNLIMPOS, what));
            }
        }
        let (dims, attrs, storage) = (dims.to_vec(), Attrs::default(), Storage::default());
        Ok(self.push_var(Var { name, group, ty, dims, attrs, storage }))
    }

    /// Defines a group. Fails with `NC_ESTRICTNC3` or `NC_ENOTNC4` in the classic model.
    pub fn def_group(&mut self, parent: GroupId, name: impl AsRef<[u8]>) -> Result<GroupId> {
        self.check_enhanced("groups")?;
        let name = self.link_name(name)?;
        self.check_new_in_group(parent, &name)?;
        Ok(self.push_group(parent, name))
    }

    /// Defines a type. Fails with `NC_ESTRICTNC3` or `NC_ENOTNC4` in the classic model.
    pub fn def_type(&mut self, ty: UserType) -> Result<TypeId> {
        self.check_enhanced("user-defined types")?;
        let name = self.link_name(ty.name.as_bytes())?;
        self.check_new_in_group(ty.group, &name)?;
        Ok(self.push_type(UserType { name, ..ty }))
    }

    /// Sets an attribute, replacing one of the same name.
    ///
    /// Fails with `NC_EBADNAME`, `NC_EBADTYPE` (not held by the format), and in netCDF-4 files as
    /// [`Model::check_fill_value`] does. Classic files take any `_FillValue` until a variable must be filled with it,
    /// which long-lived workflows rely on.
    pub fn put_attr(&mut self, owner: Owner, name: impl AsRef<[u8]>, value: Values) -> Result<()> {
        let name = self.name(name)?;
        self.copy_attr(owner, Attr::new(name, value))
    }

    /// Sets an attribute as [`Model::put_attr`] does, to what one of another dataset is.
    pub fn copy_attr(&mut self, owner: Owner, attr: Attr) -> Result<()> {
        let attr = Attr { name: self.name(attr.name.as_bytes())?, ..attr };
        let Attr { name, value, .. } = &attr;
        self.check_type(value.ty()).map_err(|error| error.at(format_args!("attribute \"{name}\"")))?;
        if let (Owner::Var(var), true, false) = (owner, *name == "_FillValue", self.format.has_cdf_model()) {
            self.check_fill(var, "_FillValue", value)?;
        }
        let attrs = self.attrs_mut(owner).to_change()?;
        match attrs.position(name.as_bytes()) {
            Some(at) => *attrs.get_mut(at).expect("found above") = attr,
            None => drop(attrs.push(attr)),
        }
        Ok(())
    }

    /// Removes an attribute. Fails with `NC_ENOTATT`, and as reading the attributes did if it is not among those that could be read.
    pub fn del_attr(&mut self, owner: Owner, name: impl AsRef<[u8]>) -> Result<Values> {
        self.attrs_mut(owner).to_change()?;
        let at = self.attr_position(owner, name.as_ref())?;
        Ok(self.attrs_mut(owner).remove(at).value)
    }

    /// Renames an attribute. Fails as [`Model::del_attr`] does, and with `NC_ENAMEINUSE`.
    pub fn rename_attr(&mut self, owner: Owner, name: impl AsRef<[u8]>, to: Name) -> Result<()> {
        self.attrs_mut(owner).to_change()?;
        let at = self.attr_position(owner, name.as_ref())?;
        self.attrs_mut(owner).rename(at, to)
    }

    /// Renames a dimension. Fails with `NC_ENAMEINUSE`.
    pub fn rename_dim(&mut self, id: DimId, to: Name) -> Result<()> {
        let group = self.dim(id).group;
        if self.dim_in(group, to.as_bytes()).is_some() {
            return Err(in_use(&to).at("dimension"));
        }
        self.dims[id.index()].name = to;
        let group = &mut self.groups[group.index()];
        let (dims, ids) = (&self.dims, &group.dims);
        group.dim_index.rebuild(ids.len(), |at| &dims[ids[at].index()].name);
        Ok(())
    }

    /// Renames a variable. Fails with `NC_ENAMEINUSE`.
    pub fn rename_var(&mut self, id: VarId, to: Name) -> Result<()> {
        let group = self.var(id).group;
        if self.find_var(group, to.as_bytes()).is_some() {
            return Err(in_use(&to).at("variable"));
        }
        self.var_mut(id).name = to;
        let group = &mut self.groups[group.index()];
        let (vars, ids) = (&self.vars, &group.vars);
        group.var_index.rebuild(ids.len(), |at| &vars[ids[at].index()].name);
        Ok(())
    }

    /// Puts the types of each group into another order, in which files store them: by a key of each. Their ids stay.
    pub fn order_types<K: Ord>(&mut self, key: impl Fn(TypeId) -> K) {
        for group in &mut self.groups {
            group.types.sort_by_key(|&id| key(id));
        }
    }

    /// Renames a user-defined type. Fails with `NC_ENAMEINUSE`.
    pub fn rename_type(&mut self, id: TypeId, to: Name) -> Result<()> {
        self.check_new_in_group(self.user_type(id).group, &to)?;
        self.types[id.index()].name = to;
        Ok(())
    }

    /// Renames a group. Fails with `NC_EBADNAME`, `NC_ENAMEINUSE`, and `NC_EBADGRPID` for the root.
    pub fn rename_group(&mut self, id: GroupId, to: impl AsRef<[u8]>) -> Result<()> {
        let to = Name::new(to)?;
        let Some(parent) = self.group(id).parent else {
            return Err(Error::new(Code::EBADGRPID, "the root group has no name to change"));
        };
        self.check_new_in_group(parent, &to)?;
        self.groups[id.index()].name = to;
        Ok(())
    }

    /// The fill value a variable's unwritten elements have: its `_FillValue`, else the type's default. `None` for a
    /// user-defined type without `_FillValue`.
    pub fn fill_value(&self, var: VarId) -> Option<Values> {
        let var = self.var(var);
        let own =
            var.attrs.find(b"_FillValue").filter(|attr| attr.value.ty() == var.ty && attr.value.len() == 1);
        match (own, var.ty) {
            (Some(attr), _) => Some(attr.value.clone()),
            (None, Type::Atomic(atomic)) => Some(Values::default_fill(atomic)),
            (None, Type::User(_)) => None,
        }
    }

    /// Checks that the `_FillValue` of a variable, if it has one, can fill it. Fails with `NC_EBADTYPE` if it is of another
    /// type, with `NC_EINVAL` if it is not one value.
    pub fn check_fill_value(&self, var: VarId) -> Result<()> {
        match self.var(var).attrs.find(b"_FillValue") {
            Some(attr) => self.check_fill(var, "_FillValue", &attr.value),
            None => Ok(()),
        }
    }

    /// Checks that the [fill value of the dataset](crate::Storage::fill) of a variable, if it has one, can fill it. Fails as
    /// [`Model::check_fill_value`] does.
    pub fn check_stored_fill(&self, var: VarId) -> Result<()> {
        match &self.var(var).storage.fill {
            Some(StoredFill::Value(value)) => self.check_fill(var, "fill value", value),
            Some(StoredFill::Default) | None => Ok(()),
        }
    }

    fn check_fill(&self, var: VarId, name: &str, value: &Values) -> Result<()> {
        let var = self.var(var);
        if var.ty != value.ty() {
            let (is, expected) = (self.type_name(value.ty()), self.type_name(var.ty));
            let what = format!("{name} of variable \"{}\" is {is}, it must be {expected}", var.name);
            return Err(Error::new(Code::EBADTYPE, what));
        }
        if value.len() != 1 {
            let what = format!("{name} of variable \"{}\" has {} values, not one", var.name, value.len());
            return Err(Error::new(Code::EINVAL, what));
        }
        Ok(())
    }

    fn attr_position(&self, owner: Owner, name: &[u8]) -> Result<usize> {
        let attrs = self.attrs(owner);
        let missing = || match attrs.failure() {
            Some(failure) => failure.clone().at_path(self.owner_path(owner)),
            None => Error::new(Code::ENOTATT, format!("no attribute \"{}\"", String::from_utf8_lossy(name))),
        };
        attrs.position(&Name::wanted(name)).ok_or_else(missing)
    }

    /// Checks that variables and attributes may have a type. Fails with `NC_EBADTYPE`, and with `NC_ESTRICTNC3` in
    /// netCDF-4 files held to the classic model.
    pub fn check_type(&self, ty: Type) -> Result<()> {
        let held = match ty {
            Type::Atomic(atomic) => self.format.holds(atomic),
            Type::User(id) => self.format.is_enhanced() && id.index() < self.types.len(),
        };
        if held {
            return Ok(());
        }
        let (ty, others) = match ty {
            Type::Atomic(atomic) if Format::DATA64.holds(atomic) => {
                (atomic.cdl_name().to_string(), "cdf5 and netCDF-4")
            }
            Type::Atomic(atomic) => (atomic.cdl_name().to_string(), "netCDF-4"),
            Type::User(id) => (format!("user-defined type {}", id.0), "netCDF-4"),
        };
        let strict = self.format == Format::NETCDF4_CLASSIC;
        let code = if strict { Code::ESTRICTNC3 } else { Code::EBADTYPE };
        Err(Error::new(code, format!("{} files hold no {ty}, {others} files do", self.format.kind_name())))
    }

    fn check_enhanced(&self, what: &str) -> Result<()> {
        let code = match self.format.data_model() {
            DataModel::Netcdf4 => return Ok(()),
            DataModel::Netcdf4Classic => Code::ESTRICTNC3,
            _ => Code::ENOTNC4,
        };
        Err(Error::new(code, format!("{} files hold no {what}", self.format.kind_name())))
    }

    fn check_new_in_group(&self, group: GroupId, name: &Name) -> Result<()> {
        if self.is_free(group, name.as_bytes()) { Ok(()) } else { Err(in_use(name)) }
    }

    /// Whether nothing in a group but a dimension has a name: variables, groups and types share one space of names.
    pub fn is_free(&self, group: GroupId, name: &[u8]) -> bool {
        self.find_var(group, name).is_none()
            && self.find_group(group, name).is_none()
            && self.type_in(group, name).is_none()
    }
}

impl Model {
    /// The atomic type of a variable. Fails with `NC_EBADTYPE` for a user-defined one.
    pub fn atomic_type(&self, var: VarId) -> Result<Atomic> {
        match self.var(var).ty {
            Type::Atomic(atomic) => Ok(atomic),
            Type::User(_) => {
                Err(Error::new(Code::EBADTYPE, format!("{} has a user-defined type", self.var_path(var))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: GroupId = GroupId::ROOT;

    fn code<T: std::fmt::Debug>(result: Result<T>) -> Code {
        result.unwrap_err().code
    }

    /// HDF5 lets any dimension grow, also where a file keeps to the classic model.
    #[test]
    fn unlimited_dimensions_anywhere() {
        for format in [Format::NETCDF4, Format::NETCDF4_CLASSIC] {
            let mut model = Model::new(format);
            let t = model.def_dim(ROOT, "t", None).unwrap();
            let x = model.def_dim(ROOT, "x", Some(3)).unwrap();
            assert!(model.def_var(ROOT, "v", Atomic::Int.into(), &[x, t]).is_ok());
        }
    }

    #[test]
    fn classic_rules() {
        let mut model = Model::new(Format::CLASSIC);
        let t = model.def_dim(ROOT, "t", None).unwrap();
        let x = model.def_dim(ROOT, "x", Some(3)).unwrap();
        assert_eq!(code(model.def_dim(ROOT, "u", None)), Code::EUNLIMIT);
        assert_eq!(code(model.def_dim(ROOT, "x", Some(4))), Code::ENAMEINUSE);
        assert_eq!(code(model.def_dim(ROOT, "y", Some(1 << 31))), Code::EDIMSIZE);
        assert_eq!(code(model.def_dim(ROOT, "y", Some(0))), Code::EDIMSIZE);
        assert_eq!(code(model.def_var(ROOT, "v", Atomic::Int.into(), &[x, t])), Code::EUNLIMPOS);
        assert_eq!(code(model.def_var(ROOT, "v", Atomic::Int.into(), &[DimId(7)])), Code::EBADDIM);
        assert_eq!(code(model.def_var(ROOT, "v", Atomic::Int64.into(), &[x])), Code::EBADTYPE);
        assert_eq!(code(model.def_group(ROOT, "g")), Code::ENOTNC4);
        let v = model.def_var(ROOT, "v", Atomic::Int.into(), &[t, x]).unwrap();
        assert_eq!(code(model.def_var(ROOT, "v", Atomic::Int.into(), &[])), Code::ENAMEINUSE);
        assert!(model.is_record(v));
        assert_eq!(model.record_dim(), Some(t));
    }

    #[test]
    fn fill_value_must_fit_its_variable() {
        let mut model = Model::new(Format::DATA64);
        let v = model.def_var(ROOT, "v", Atomic::Ubyte.into(), &[]).unwrap();
        let owner = Owner::Var(v);
        model.put_attr(owner, "_FillValue", 1i8.into()).unwrap();
        assert_eq!(code(model.check_fill_value(v)), Code::EBADTYPE);

        let mut model = Model::new(Format::NETCDF4);
        model.def_var(ROOT, "v", Atomic::Ubyte.into(), &[]).unwrap();
        assert_eq!(model.fill_value(v), Some(Values::Ubyte(vec![255])));
        assert_eq!(code(model.put_attr(owner, "_FillValue", 1i8.into())), Code::EBADTYPE);
        assert_eq!(code(model.put_attr(owner, "_FillValue", vec![1u8, 2].into())), Code::EINVAL);
        model.put_attr(owner, "_FillValue", 7u8.into()).unwrap();
        assert_eq!(model.fill_value(v), Some(Values::Ubyte(vec![7])));
    }

    #[test]
    fn attributes_keep_their_place() {
        let mut model = Model::new(Format::CLASSIC);
        let owner = Owner::Group(ROOT);
        for name in ["a", "b", "c"] {
            model.put_attr(owner, name, 1i32.into()).unwrap();
        }
        model.put_attr(owner, "a", "text".into()).unwrap();
        model.rename_attr(owner, "b", Name::new("d").unwrap()).unwrap();
        assert_eq!(code(model.rename_attr(owner, "c", Name::new("a").unwrap())), Code::ENAMEINUSE);
        assert_eq!(code(model.rename_attr(owner, "b", Name::new("e").unwrap())), Code::ENOTATT);
        model.del_attr(owner, "c").unwrap();
        let names: Vec<_> = model.attrs(owner).iter().map(|attr| attr.name.to_string()).collect();
        assert_eq!(names, ["a", "d"]);
    }

    #[test]
    fn dimensions_are_seen_from_groups_below() {
        let mut model = Model::new(Format::NETCDF4);
        let x = model.def_dim(ROOT, "x", Some(2)).unwrap();
        let a = model.def_group(ROOT, "a").unwrap();
        let b = model.def_group(a, "b").unwrap();
        assert_eq!(model.find_dim(b, b"x"), Some(x));
        assert_eq!(model.dim_in(b, b"x"), None);
        let inner = model.def_dim(a, "x", None).unwrap();
        assert_eq!(model.find_dim(b, b"x"), Some(inner));
        let v = model.def_var(b, "v", Atomic::String.into(), &[x, inner]).unwrap();
        assert_eq!((model.var_path(v), model.group_path(b)), ("/a/b/v".to_string(), "/a/b".to_string()));
        assert_eq!(code(model.def_group(b, "v")), Code::ENAMEINUSE);
    }

    #[test]
    fn renames_are_found_under_the_new_name_only() {
        let mut model = Model::new(Format::CLASSIC);
        for n in 0..100 {
            let dim = model.def_dim(ROOT, format!("d{n}"), Some(1)).unwrap();
            model.def_var(ROOT, format!("v{n}"), Atomic::Byte.into(), &[dim]).unwrap();
        }
        model.rename_dim(DimId(50), Name::new("e").unwrap()).unwrap();
        model.rename_var(VarId(60), Name::new("w").unwrap()).unwrap();
        assert_eq!(model.find_dim(ROOT, b"e"), Some(DimId(50)));
        assert_eq!(model.find_dim(ROOT, b"d50"), None);
        assert_eq!(model.find_var(ROOT, b"w"), Some(VarId(60)));
        assert_eq!(model.find_var(ROOT, b"v60"), None);
        assert_eq!(code(model.rename_var(VarId(1), Name::new("w").unwrap())), Code::ENAMEINUSE);
    }
}
