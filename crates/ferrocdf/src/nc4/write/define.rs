//! The end of define mode: creates the objects of a model in the file, in the order of netCDF-C.
//!
//! First groups and types of the whole file; then, group by group, attributes, dimensions and variables. A dimension
//! without variable is created as early as possible, a coordinate variable in its place among the others, so that
//! reading gives the same ids.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Context, Error, Result};
use ferrocdf_hdf5::edit::{
    AllocTime, DatasetSpec, FillTime, GroupOptions, NewLayout, Node, TypeRef, VirtualBox,
};
use ferrocdf_hdf5::messages::datatype::Datatype;
use ferrocdf_hdf5::messages::{Dataspace, SpaceKind};
use ferrocdf_model::{
    Atomic, Attrs, Chunking, Class, DimId, Endian, GroupId, Model, Owner, SourceVariable, StoredFill, Type,
    TypeId, Value, Values, VarId,
};

use super::attrs::scalar;
use super::by_length::MadeUpDims;
use super::roles::{Attach, coordinate, is_prefixed, link_of, role};
use super::values::Encoder;
use super::{
    At, DimPlace, Edited, Facts, TypePlace, VarPlace, filters, is_strict, link_name, type_of, types,
};
use crate::nc4::chunks::complete_chunks;
use crate::nc4::names;
use crate::quantize;

/// Value of `_NCProperties` in a new file.
const PROPERTIES: &str = concat!("version=2,ferrocdf=", env!("CARGO_PKG_VERSION"));

/// Returns a dataspace with these lengths; a dimension may grow if its flag is true.
pub(super) fn space(dims: &[(u64, bool)]) -> Dataspace {
    if dims.is_empty() {
        return scalar();
    }
    Dataspace {
        kind: SpaceKind::Simple,
        dims: dims.iter().map(|&(len, _)| len).collect(),
        max: Some(dims.iter().map(|&(len, grows)| (!grows).then_some(len)).collect()),
    }
}

impl Edited {
    /// Changes the file from the state of `old` to that of `new`. After an error the file keeps the state of `old`.
    pub(super) fn define(&mut self, old: &Model, new: &Model) -> Result<()> {
        self.changed = true;
        self.all_or_nothing(|held| held.define_all(old, new))
    }

    fn define_all(&mut self, old: &Model, new: &Model) -> Result<()> {
        self.steps += 1;
        self.groups.resize(new.groups().len(), None);
        self.types.resize_with(new.types().len(), || None);
        self.dims.resize_with(new.dims().len(), || None);
        self.vars.resize_with(new.vars().len(), || None);
        self.classes = new.types().iter().map(|ty| ty.class.clone()).collect();
        let root = self.group(GroupId::ROOT)?;
        if self.fresh && is_strict(new.format()) {
            let one = 1i32.to_le_bytes().to_vec();
            self.put_plain(root, names::STRICT, types::atomic(Atomic::Int, None), scalar(), one)?;
        }
        self.rename_groups(old, new)?;
        let made_up = if self.moves_dims(old, new) { self.made_up(old)? } else { MadeUpDims::default() };
        let mut attach = self.change_roles(old, new, made_up)?;
        self.groups_and_types(new, GroupId::ROOT)?;
        self.contents(old, new, GroupId::ROOT, &mut attach)?;
        self.attach(new, attach)?;
        self.keep_ids(old, new)?;
        if self.fresh {
            let text = types::text(PROPERTIES.len() as u32);
            self.put_plain(root, names::PROPERTIES, text, scalar(), PROPERTIES.into())?;
            self.fresh = false;
        }
        Ok(())
    }

    pub(super) fn group(&mut self, group: GroupId) -> Result<Node> {
        let at = self.groups.get(group.index()).copied().flatten();
        let at = at.ok_or_else(|| Error::new(Code::EBADGRPID, "the group is still being defined"))?;
        at.node(&mut self.editor)
    }

    fn user_type(&self, id: TypeId) -> Result<&TypePlace> {
        let place = self.types.get(id.index()).and_then(Option::as_ref);
        place.ok_or_else(|| Error::new(Code::EBADTYPE, format!("type {} is not in the file", id.0)))
    }

    fn rename_groups(&mut self, old: &Model, new: &Model) -> Result<()> {
        for id in old.group_ids() {
            let (was, is) = (old.group(id), new.group(id));
            let (Some(parent), true) = (was.parent, was.name != is.name) else { continue };
            let parent = self.group(parent)?;
            let (was, is) = (was.name.as_bytes(), is.name.as_bytes());
            self.editor.rename_link(parent, link_name(was)?, link_name(is)?)?;
        }
        Ok(())
    }

    /// Creates new groups and types, the types of a group before its subgroups.
    fn groups_and_types(&mut self, new: &Model, group: GroupId) -> Result<()> {
        if self.groups[group.index()].is_none()
            && let Some(parent) = new.group(group).parent
        {
            let parent = self.group(parent)?;
            let name = link_name(new.group(group).name.as_bytes())?;
            let node = self.editor.create_group(parent, name, GroupOptions::default())?;
            self.made.insert(node);
            self.groups[group.index()] = Some(At::Node(node));
        }
        for &id in &new.group(group).types {
            if self.types[id.index()].is_none() {
                self.make_type(new, id)?;
            }
        }
        new.group(group).groups.iter().try_for_each(|&child| self.groups_and_types(new, child))
    }

    fn make_type(&mut self, new: &Model, id: TypeId) -> Result<()> {
        let ty = new.user_type(id);
        let group = self.group(ty.group)?;
        let classes = |id: TypeId| new.user_type(id).class.clone();
        let known = |id: TypeId| self.user_type(id).map(|place| place.datatype.clone());
        let named = |error: Error| error.at(format_args!("type \"{}\"", ty.name));
        let datatype = self.widths().user_defined(&ty.class, &classes, &known).map_err(named)?;
        let node = self.editor.commit_datatype(group, link_name(ty.name.as_bytes())?, &datatype)?;
        self.made.insert(node);
        self.types[id.index()] = Some(TypePlace { datatype, is_made_up: false });
        Ok(())
    }

    /// Creates attributes, dimensions and variables of a group and its subgroups. New variables are added to `attach`.
    pub(super) fn contents(
        &mut self,
        old: &Model,
        new: &Model,
        group: GroupId,
        attach: &mut Attach,
    ) -> Result<()> {
        let owner = Owner::Group(group);
        let is_old = group.index() < old.groups().len();
        let was = is_old.then(|| old.attrs(owner));
        self.attributes(|held| held.group(group), was, new.attrs(owner))?;
        let (dims, vars) = (&new.group(group).dims, &new.group(group).vars);
        let unmade = |made: bool, id| (!made).then_some(id);
        let mut dims: std::collections::VecDeque<DimId> =
            dims.iter().filter_map(|&dim| unmade(self.dims[dim.index()].is_some(), dim)).collect();
        for &var in vars {
            if self.vars[var.index()].is_some() {
                let was = old.vars().get(var.index());
                if was.is_some_and(|was| Arc::ptr_eq(was, &new.vars()[var.index()])) {
                    continue;
                }
                let was = was.map(|was| &was.attrs);
                self.attributes(|held| held.node(var), was, &new.var(var).attrs)
                    .map_err(|error| error.at_path(new.var_path(var)))?;
                continue;
            }
            // Dimensions up to the next one with a coordinate variable. If that variable exists already, the remaining
            // dimensions come last.
            while let Some(&dim) = dims.front().filter(|&&dim| coordinate(new, dim).is_none()) {
                self.make_dim(new, dim)?;
                dims.pop_front();
            }
            self.make_var(new, var).map_err(|error| error.at_path(new.var_path(var)))?;
            if dims.front().is_some_and(|&dim| coordinate(new, dim) == Some(var)) {
                dims.pop_front();
            }
            attach.vars.push(var);
        }
        for dim in dims {
            if self.dims[dim.index()].is_none() {
                self.make_dim(new, dim)?;
            }
        }
        new.group(group).groups.iter().try_for_each(|&child| self.contents(old, new, child, attach))
    }

    /// Changes the attributes of an existing object, or sets the ones of a new object.
    fn attributes(
        &mut self,
        node: impl FnOnce(&mut Edited) -> Result<Node>,
        was: Option<&Attrs>,
        is: &Attrs,
    ) -> Result<()> {
        // Attributes that were never loaded are unchanged: no object is opened.
        if was.is_some() && is.is_late() {
            return Ok(());
        }
        if let Some(was) = was
            && !was.is_late()
            && was == is
        {
            return Ok(());
        }
        let node = node(self)?;
        match was {
            Some(was) => self.change_attributes(node, was, is),
            None => self.set_attributes(node, is),
        }
    }

    /// Creates the dataset of a dimension without variable.
    pub(super) fn make_dim(&mut self, new: &Model, dim: DimId) -> Result<()> {
        let of = new.dim(dim);
        let group = self.group(of.group)?;
        let datatype = types::scale();
        let spec = DatasetSpec {
            datatype: TypeRef::Inline(datatype),
            space: space(&[(of.len, of.unlimited)]),
            layout: if of.unlimited { NewLayout::Chunked(vec![1]) } else { NewLayout::Contiguous },
            filters: vec![],
            fill: None,
            fill_time: FillTime::default(),
            alloc_time: AllocTime::default(),
            attribute_order: true,
        };
        let node = self.editor.create_dataset(group, link_name(of.name.as_bytes())?, spec)?;
        self.made.insert(node);
        let mut title = names::NO_VARIABLE.to_vec();
        title.extend(format!(".{:10}", of.len).into_bytes());
        self.mark_scale(node, &title, dim)?;
        let scale = Some(At::Node(node));
        self.set_dim(dim, Some(DimPlace { scale, coordinate: None, users: Some(vec![]) }));
        Ok(())
    }

    fn make_var(&mut self, new: &Model, var: VarId) -> Result<()> {
        new.check_stored_fill(var)?;
        let of = new.var(var);
        let group = self.group(of.group)?;
        let datatype = self.datatype(of.ty, of.storage.endian)?;
        let dims: Vec<(u64, bool)> =
            of.dims.iter().map(|&dim| (new.dim(dim).len, new.dim(dim).unlimited)).collect();
        // Unlimited dimensions have length 0 until data is written.
        let at_first: Vec<(u64, bool)> =
            dims.iter().map(|&(len, grows)| (if grows { 0 } else { len }, grows)).collect();
        let layout = self.layout_of(new, var, &dims)?;
        let fill = match &of.storage.fill {
            Some(StoredFill::Default) => None,
            None if of.storage.no_fill => None,
            Some(StoredFill::Value(value)) => Some(Encoder::new(&mut self.editor).all(&datatype, value)?),
            None => Some(self.fill_of(new, var, &datatype)?).filter(|fill| !is_default_too_long(fill)),
        };
        let filters = match &layout {
            NewLayout::Chunked(chunk) => {
                let data = filters::FilterInput {
                    datatype: &datatype,
                    chunk,
                    fill: fill.as_deref(),
                    settled: of.storage.settled,
                };
                filters::steps(&of.storage.filters, &data)?
            }
            _ => vec![],
        };
        let spec = DatasetSpec {
            datatype: TypeRef::Inline(datatype.clone()),
            space: space(&at_first),
            layout,
            filters,
            fill: fill.clone(),
            fill_time: match of.storage.no_fill && of.storage.fill.is_none() {
                true => FillTime::Never,
                false => FillTime::IfSet,
            },
            alloc_time: AllocTime::default(),
            attribute_order: true,
        };
        let prefixed = is_prefixed(new, var);
        let compact = matches!(spec.layout, NewLayout::Compact);
        let link = link_of(new, var, prefixed)?;
        let node = self.editor.create_dataset(group, &link, spec).at_path(|| new.var_path(var))?;
        if compact {
            self.own_compact(node, &datatype)?;
        }
        self.made.insert(node);
        let extent = at_first.iter().map(|&(len, _)| len).collect();
        let is_float = matches!(of.ty, Type::Atomic(Atomic::Float | Atomic::Double));
        let rounded = of.storage.quantize.filter(|_| is_float);
        let facts = Some(Arc::new(Facts { datatype, fill, quantize: rounded }));
        self.vars[var.index()] = Some(VarPlace { at: At::Node(node), prefixed, extent, facts });
        self.put_dim_ids(new, var, node)?;
        if let Some(dim) = role(new, var) {
            self.mark_scale(node, of.name.as_bytes(), dim)?;
            let scale = Some(At::Node(node));
            self.set_dim(dim, Some(DimPlace { scale, coordinate: Some(var), users: Some(vec![]) }));
        }
        if let Some(how) = rounded {
            let value = Values::Int(vec![how.digits.cast_signed()]);
            self.put_value(node, quantize::attribute(how.way).as_bytes(), &value)?;
        }
        self.set_attributes(node, &of.attrs)
    }

    /// Returns the datatype of a type. As in netCDF-C, variables and attributes of a user-defined type have a copy of
    /// it and do not refer to the committed type; therefore types are compared when a file is read.
    pub(super) fn datatype(&self, ty: Type, endian: Option<Endian>) -> Result<Datatype> {
        self.widths().of(ty, endian, &|id| self.user_type(id).map(|place| place.datatype.clone()))
    }

    /// Returns the layout of a variable: the requested one, else contiguous where possible.
    fn layout_of(&self, new: &Model, var: VarId, dims: &[(u64, bool)]) -> Result<NewLayout> {
        let storage = &new.var(var).storage;
        if !storage.sources.is_empty() {
            let of = |source: &SourceVariable| {
                let SourceVariable { file, path, start, count } = source.clone();
                VirtualBox { file, path, start, count }
            };
            return Ok(NewLayout::Virtual(storage.sources.iter().map(of).collect()));
        }
        if dims.is_empty() {
            let compact = storage.chunking == Some(Chunking::Compact);
            return Ok(if compact { NewLayout::Compact } else { NewLayout::Contiguous });
        }
        let must_chunk = !storage.filters.is_empty() || dims.iter().any(|&(_, grows)| grows);
        let classes = |id: TypeId| new.user_type(id).class.clone();
        let complete = |given: &[u64]| {
            let size = types::memory_size(type_of(new, var), &classes);
            NewLayout::Chunked(complete_chunks(given, dims, size as u64))
        };
        Ok(match &storage.chunking {
            Some(Chunking::Chunked(shape)) if shape.len() == dims.len() => {
                let beyond = shape.iter().zip(dims).find(|(chunk, dim)| !dim.1 && **chunk > dim.0);
                if let Some((chunk, dim)) = beyond {
                    let what = format!("a chunk of {chunk} in a dimension of length {}", dim.0);
                    return Err(Error::new(Code::EBADCHUNK, what));
                }
                complete(shape)
            }
            Some(Chunking::Chunked(_)) => complete(&[]),
            _ if must_chunk => complete(&[]),
            Some(Chunking::Compact) => NewLayout::Compact,
            Some(Chunking::Contiguous) | None => NewLayout::Contiguous,
        })
    }

    /// Returns the encoded fill value of a variable: its own, else the default of its type.
    fn fill_of(&mut self, new: &Model, var: VarId, datatype: &Datatype) -> Result<Vec<u8>> {
        let value = match (new.fill_value(var), type_of(new, var)) {
            (Some(value), _) => value,
            (None, Type::User(id)) => match &new.user_type(id).class {
                Class::Enum { base, .. } => default_enum(id, *base),
                _ => return Ok(vec![0; datatype.size as usize]),
            },
            (None, Type::Atomic(_)) => return Ok(vec![0; datatype.size as usize]),
        };
        Encoder::new(&mut self.editor).all(datatype, &value)
    }
}

/// True for zeros that are too long for a fill value message, which has at most 65,535 bytes, 6 of them before the value.
/// Without a fill value HDF5 uses zeros.
fn is_default_too_long(fill: &[u8]) -> bool {
    fill.len() > 65_535 - 6 && fill.iter().all(|&byte| byte == 0)
}

/// Returns the default fill value of an enumeration: that of its base type.
fn default_enum(id: TypeId, base: Atomic) -> Values {
    let number = match Values::default_fill(base) {
        Values::Byte(list) => list[0].into(),
        Values::Short(list) => list[0].into(),
        Values::Int(list) => list[0].into(),
        Values::Ubyte(list) => list[0].into(),
        Values::Ushort(list) => list[0].into(),
        Values::Uint(list) => list[0].into(),
        Values::Int64(list) => list[0].into(),
        Values::Uint64(list) => list[0].into(),
        _ => 0,
    };
    Values::User(id, vec![Value::Enum(number)])
}
