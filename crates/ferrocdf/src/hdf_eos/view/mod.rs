//! The model of an HDF-EOS2 file: a group for each grid, swath and point, with the fields in it and their coordinates.
//!
//! | in the file | in the model |
//! |---|---|
//! | grid, swath | a group of that name with all its fields, geolocation fields too: xarray opens one group at a time |
//! | point | a group with a group for each of its tables, whose fields are variables |
//! | dimension of `StructMetadata` | a dimension of the group |
//! | attributes of a grid, swath or point | attributes of the group |
//! | datasets and attributes that belong to none of them | as the HDF4 driver shows them, in the root group |
//!
//! A variable has no more attributes than the file gives it but for `coordinates` and `grid_mapping`, where the file has none.

mod grids;
mod points;
mod swaths;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ferrocdf_bytes::Error;
use ferrocdf_hdf4::Vdata;
use ferrocdf_model::{
    Attr, Attrs, Container, DataModel, Dim, DimId, Format, GroupId, LateAttrs, Model, Name, Named, Owner,
    Storage, Type, Values, Var, VarId,
};

use super::computed::Coordinate;
use super::members::{Member, Members, Objects};
use super::structure::{EosDimension, Field, MergedFields, Structure, Text};
use super::tables::legal;
use crate::hdf4::{DatasetVar, atomic};
use crate::unique_names::UniqueNames;

/// The storage of a variable of the view.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A variable of the HDF4 driver.
    Dataset(VarId),
    /// A part of a variable of the HDF4 driver, along its first dimension: one of several fields that were merged.
    Part { var: VarId, offset: u64, len: u64, shape: Vec<u64> },
    /// A field of a table.
    Table { table: Arc<Vdata>, field: usize },
    /// A computed coordinate.
    Computed(Coordinate),
    /// One integer that says nothing: its attributes are the grid mapping.
    GridMapping,
}

/// The model of a file, with the storage of its variables.
pub(super) struct View {
    pub model: Model,
    /// The storage of each variable, by its id.
    pub sources: Vec<Source>,
    /// The tables that the model shows, or that are of no use but to the HDF-EOS2 library.
    pub tables: HashSet<u16>,
    /// A line for each object that has no place in the model: its name and the reason.
    pub skipped: Vec<String>,
}

impl View {
    /// Makes the model of a file that the HDF4 driver shows as `flat`.
    pub fn new(structure: &Structure, flat: &Model, dataset_vars: &[DatasetVar], objects: Objects) -> View {
        let model = Model::new(Format::new(Container::Hdf4, DataModel::Netcdf4));
        let names = HashMap::from([(GroupId::ROOT, UniqueNames::default())]);
        let view = View { model, sources: vec![], tables: HashSet::new(), skipped: vec![] };
        let mut builder =
            Builder { view, flat, objects, names, used: HashSet::new(), scales: HashMap::new() };
        builder.view.model.set_attrs(GroupId::ROOT, flat.group(GroupId::ROOT).attrs.clone());
        for set in dataset_vars.iter().filter(|set| set.name.contains(&b':')) {
            builder.scales.insert(&set.name, set.var);
        }
        for grid in &structure.grids {
            builder.add_grid(grid);
        }
        for swath in &structure.swaths {
            builder.add_swath(swath);
        }
        for point in &structure.points {
            builder.add_point(point);
        }
        builder.add_rest(dataset_vars);
        let Builder { mut view, mut objects, .. } = builder;
        view.tables.extend(objects.attributes.iter().copied());
        view.skipped.append(&mut objects.skipped);
        view.skipped.extend(structure.skipped.iter().cloned());
        view
    }
}

/// A view that is being made.
struct Builder<'a> {
    view: View,
    /// What the HDF4 driver shows.
    flat: &'a Model,
    objects: Objects,
    /// The names that are taken in each group.
    names: HashMap<GroupId, UniqueNames>,
    /// The variables of the HDF4 driver that have their place.
    used: HashSet<VarId>,
    /// Datasets that are named after a dimension of an object, as `XDim:grid`: its dimension scales.
    scales: HashMap<&'a [u8], VarId>,
}

/// A field that is in the file.
struct FoundField<'a> {
    field: &'a Field,
    name: Name,
    source: Source,
    shape: Vec<u64>,
    ty: Type,
}

impl<'a> Builder<'a> {
    fn add_group(&mut self, parent: GroupId, name: &[u8]) -> GroupId {
        let name = self.unique(parent, legal(name));
        self.view.model.push_group(parent, name)
    }

    fn unique(&mut self, group: GroupId, name: Name) -> Name {
        self.names.entry(group).or_default().take(name.as_bytes())
    }

    /// Adds the dimensions of an object. Unlimited ones get the length of the first field that has them.
    fn add_dims(&mut self, group: GroupId, dims: &[EosDimension]) {
        for dim in dims.iter().filter(|dim| dim.size > 0) {
            let name = legal(&dim.name);
            if self.view.model.dim_in(group, name.as_bytes()).is_none() {
                self.view.model.push_dim(Dim { name, group, len: dim.size, unlimited: false });
            }
        }
    }

    /// Returns the dimension of a name and a length. Where the group has one of that name and of another length, the name gets the
    /// length behind it. A new dimension is unlimited if the file says so.
    fn dim(&mut self, group: GroupId, name: &[u8], len: u64, unlimited: bool) -> DimId {
        let model = &mut self.view.model;
        let mut name = legal(name);
        if let Some(found) = model.dim_in(group, name.as_bytes()) {
            if model.dim(found).len == len {
                return found;
            }
            name = Name::stored(format!("{name}_{len}").as_bytes());
        }
        let found = model.dim_in(group, name.as_bytes()).filter(|&found| model.dim(found).len == len);
        found.unwrap_or_else(|| model.push_dim(Dim { name, group, len, unlimited }))
    }

    /// Returns the dimensions of a field: those that `StructMetadata` names, if it names as many as the field has; else those of
    /// the dataset, without the name of the object behind the colon.
    fn dims_of(&mut self, group: GroupId, found: &FoundField<'_>) -> Vec<DimId> {
        let of_flat: &'a [DimId] = match found.source {
            Source::Dataset(var) => &self.flat.var(var).dims,
            _ => &[],
        };
        let name = |at: usize| -> Text {
            let named = found.field.dims.get(at).filter(|_| found.field.dims.len() == found.shape.len());
            let stored = of_flat.get(at).map(|&dim| before_colon(self.flat.dim(dim).name.as_bytes()));
            named.cloned().or(stored.map(<[u8]>::to_vec)).unwrap_or_else(|| format!("dim{at}").into_bytes())
        };
        let names: Vec<Text> = (0..found.shape.len()).map(name).collect();
        let flat = self.flat;
        let is_unlimited = |at: usize| of_flat.get(at).is_some_and(|&dim| flat.dim(dim).unlimited);
        let dims = names.iter().zip(&found.shape).enumerate();
        dims.map(|(at, (name, &len))| self.dim(group, name, len, is_unlimited(at))).collect()
    }

    /// Returns the fields that are in the file, with names of their own. The others are skipped.
    fn find(
        &mut self,
        group: GroupId,
        members: &mut Members,
        parts: &mut Parts<'a>,
        fields: &'a [Field],
    ) -> Vec<FoundField<'a>> {
        let mut found = vec![];
        for field in fields {
            let place = match members.take(&field.name) {
                Some(Member::Dataset(var)) => {
                    Some((Source::Dataset(var), self.flat.shape(var), self.flat.var(var).ty))
                }
                Some(Member::Table(table)) => table_field(table),
                None => parts
                    .remove(field.name.as_slice())
                    .and_then(|(var, at)| self.part(var, at, field.dims.len())),
            };
            match place {
                Some((source, shape, ty)) => {
                    if let Source::Dataset(var) | Source::Part { var, .. } = source {
                        self.used.insert(var);
                    }
                    let name = self.unique(group, legal(&field.name));
                    found.push(FoundField { field, name, source, shape, ty });
                }
                None => {
                    let path = self.view.model.group_path(group);
                    let name = field.name.escape_ascii();
                    self.view
                        .skipped
                        .push(format!("{path}/{name}: StructMetadata has it, the file does not"));
                }
            }
        }
        found
    }

    /// Returns the part of a merged dataset that is its field number `at`, of `rank` dimensions.
    fn part(&self, var: VarId, at: usize, rank: usize) -> Option<(Source, Vec<u64>, Type)> {
        let attrs = &self.flat.var(var).attrs;
        let number = |name: &[u8]| match attrs.find(name).map(|attr| &attr.value) {
            Some(Values::Int(list)) => list.get(at).and_then(|&number| u64::try_from(number).ok()),
            _ => None,
        };
        let (len, offset) = (number(PART_LENGTHS)?, number(PART_OFFSETS)?);
        let mut shape = self.flat.shape(var);
        let first = shape.first_mut()?;
        if offset.checked_add(len)? > *first {
            return None;
        }
        *first = len;
        if rank < shape.len() && len == 1 {
            shape.remove(0);
        }
        Some((Source::Part { var, offset, len, shape: shape.clone() }, shape, self.flat.var(var).ty))
    }

    /// Adds the variable of a field, with more attributes than the file gives it.
    fn add_field(&mut self, group: GroupId, found: FoundField<'_>, dims: Vec<DimId>, more: Vec<Attr>) {
        let (attrs, storage) = match &found.source {
            Source::Dataset(var) => {
                let var = self.flat.var(*var);
                (var.attrs.clone(), var.storage.clone())
            }
            Source::Part { var, .. } => (self.flat.var(*var).attrs.clone(), Storage::default()),
            _ => (Attrs::default(), Storage::default()),
        };
        let without: &[&[u8]] = match found.source {
            Source::Part { .. } => &[PART_LENGTHS, PART_OFFSETS],
            _ => &[],
        };
        let attrs = match more.is_empty() && without.is_empty() {
            true => attrs,
            false => Attrs::late(Arc::new(Changed { attrs, more, without }), 0),
        };
        let FoundField { name, source, ty, .. } = found;
        self.push(Var { name, group, ty, dims, attrs, storage }, source);
    }

    fn push(&mut self, var: Var, source: Source) {
        if let Source::Table { table, .. } = &source {
            self.view.tables.insert(table.reference);
        }
        self.view.model.push_var(var);
        self.view.sources.push(source);
    }

    /// Adds the attributes of an object to its group. Fill values of fields (`_FV_name`) are returned apart, by the name of the field.
    fn add_attributes(&mut self, group: GroupId, attributes: Vec<Attr>) -> HashMap<Vec<u8>, Values> {
        let mut fill_values = HashMap::new();
        for attr in attributes {
            if let Some(field) = attr.name.as_bytes().strip_prefix(b"_FV_") {
                fill_values.insert(field.to_vec(), attr.value);
            } else if self.view.model.find_attr(Owner::Group(group), attr.name.as_bytes()).is_none() {
                self.view.model.push_attr(Owner::Group(group), attr);
            }
        }
        fill_values
    }

    /// Returns the fill value of a field as an attribute, if it is of the type of the field.
    fn fill_value(found: &FoundField<'_>, fill_values: &HashMap<Vec<u8>, Values>) -> Option<Attr> {
        let value = fill_values.get(&found.field.name)?.clone();
        (value.ty() == found.ty && value.len() == 1).then(|| attr("_FillValue", value))
    }

    /// Adds the variables of the HDF4 driver that belong to no object, with the dimensions that they have there. Their names are those
    /// of the file where no other variable of the root group has it.
    fn add_rest(&mut self, dataset_vars: &[DatasetVar]) {
        let flat = self.flat;
        let names: HashMap<VarId, &[u8]> =
            dataset_vars.iter().map(|set| (set.var, set.name.as_slice())).collect();
        let mut dims: HashMap<DimId, DimId> = HashMap::new();
        for id in flat.var_ids().filter(|id| !self.used.contains(id)).collect::<Vec<_>>() {
            let var = flat.var(id);
            let mut dim_of = |&dim: &DimId| {
                *dims.entry(dim).or_insert_with(|| {
                    let dim = Dim { group: GroupId::ROOT, ..flat.dim(dim).clone() };
                    self.view.model.push_dim(dim)
                })
            };
            let dims = var.dims.iter().map(&mut dim_of).collect();
            let name = names.get(&id).map_or_else(|| var.name.clone(), |name| legal(name));
            let name = self.unique(GroupId::ROOT, name);
            self.push(Var { name, group: GroupId::ROOT, dims, ..var.clone() }, Source::Dataset(id));
        }
    }
}

/// Fields that are parts of a merged dataset, by their names: the dataset and the number of the part. Each is taken out once.
type Parts<'a> = HashMap<&'a [u8], (VarId, usize)>;

/// Takes the merged datasets of an object out of its members, and returns the fields in them.
fn parts<'a>(members: &mut Members, merged: &'a [MergedFields]) -> Parts<'a> {
    let mut parts = Parts::new();
    for together in merged {
        if let Some(Member::Dataset(var)) = members.take(&together.name) {
            let fields = together.fields.iter().enumerate();
            parts.extend(fields.map(|(at, field)| (field.as_slice(), (var, at))));
        }
    }
    parts
}

/// Returns a table that is one field: the first field of the table, whatever its name is.
fn table_field(table: Vdata) -> Option<(Source, Vec<u64>, Type)> {
    let field = table.fields.first()?;
    let mut shape = vec![table.records];
    if field.order != 1 {
        shape.push(field.order);
    }
    let ty = atomic(field.number).into();
    Some((Source::Table { table: Arc::new(table), field: 0 }, shape, ty))
}

/// Returns the name of a dimension without the name of its object: `XDim` of `XDim:grid`.
fn before_colon(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == b':').next().unwrap_or(name)
}

fn attr(name: &str, value: impl Into<Values>) -> Attr {
    Attr::new(Name::stored(name.as_bytes()), value.into())
}

/// Attributes of a dataset of merged fields: lengths and offsets of the fields along the first dimension.
const PART_LENGTHS: &[u8] = b"Field Dims";
const PART_OFFSETS: &[u8] = b"Field Offsets";

/// The attributes of a variable in the view: those of the file, without some, and those that the view adds. An attribute of the file
/// hides an added one of the same name. The file's attributes are read when they are first asked for.
struct Changed {
    attrs: Attrs,
    without: &'static [&'static [u8]],
    more: Vec<Attr>,
}

impl LateAttrs for Changed {
    fn attrs(&self, _key: u64) -> (Named<Attr>, Option<Error>) {
        let mut all = Named::default();
        for attr in self.attrs.iter().filter(|attr| !self.without.contains(&attr.name.as_bytes())) {
            all.push(attr.clone());
        }
        for attr in &self.more {
            if all.position(attr.name.as_bytes()).is_none() {
                all.push(attr.clone());
            }
        }
        (all, self.attrs.failure().cloned())
    }
}
