//! The netCDF-4 convention, read here and written by `write`: what the objects of an HDF5 file are to netCDF ("netCDF-4
//! Format" in the file format specifications).
//!
//! Everything but attributes is known when the file is open, and in slow sources these too; where data lies is found when it is first
//! asked for.

mod attributes;
mod chunks;
mod decode;
mod dims;
mod filter_rules;
mod found;
mod made_up;
mod names;
mod native;
mod trees;
mod types;
mod walk;
mod write;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ferrocdf_array::{
    Array, Layout, OpenSource, PastEnd, Selection, SourceMapping, Stored, VirtualLayout, VirtualSource,
};
use ferrocdf_bytes::{Error, Result};
use ferrocdf_hdf5::messages::fill::Fill;
use ferrocdf_hdf5::{Dataset, File, LinkTarget, Object, ObjectKind, OpenOptions};
use ferrocdf_model::{Attr, Attrs, Model, Name, Owner, Type, TypeId, Values, Var, VarId};
use ferrocdf_store::ranges::union;
use ferrocdf_store::{Blob, Watched, read_optimistically};

use crate::driver::{
    DataSources, Driver, Inspect, LocatedArray, MissingSource, Shapeless, Skipped, StoredExtents, StoredSize,
};
use attributes::Owners;
pub(crate) use chunks::complete_chunks;
pub use chunks::fits as chunk_fits;
use dims::DimOrigin;
use ferrocdf_hdf5::messages::Datatype;
pub use filter_rules::{check_available, chosen_chunks, define_filter};
use found::{FoundVariable, Place};
pub use names::is_reserved as is_reserved_attribute;
use walk::{SkippedObjects, number_of, place_of, walk};
pub(crate) use write::Nc4Writer;
pub use write::check_filter;

/// An HDF5 file as netCDF sees it.
pub(crate) struct Nc4 {
    /// The bytes as they are; those of `file` may have newer ones of a commit laid over them that was under way.
    blob: Arc<dyn Blob>,
    file: File,
    options: OpenOptions,
    /// True if the attributes of variables are read when the file is opened.
    all_attributes: bool,
    /// What the variables are, and what was left out.
    content: Nc4Content,
}

struct Nc4Content {
    vars: Vec<Nc4Variable>,
    owners: Arc<Owners>,
    skipped: Vec<String>,
    /// Datasets without a shape: path, type, place.
    shapeless: Vec<(String, Option<Type>, Place)>,
    /// Why the first object that cannot be read is among that.
    lost: Option<Error>,
    /// What types are; where dimensions come from.
    types: Vec<Datatype>,
    /// Types that have no object in the file.
    made_up: HashSet<TypeId>,
    dims: Vec<DimOrigin>,
}

struct Nc4Variable {
    place: Place,
    /// Whether its link has the prefix of variables that are no coordinates.
    prefixed: bool,
    /// The lengths of the dataset's dimensions. Those of netCDF may be longer, where another dataset is.
    extent: Vec<u64>,
    /// Whether the file does not name some of its dimensions.
    by_length: bool,
}

impl Nc4 {
    /// Opens a file for reading. `NC_ENOTNC` if it is not HDF5.
    ///
    /// Of a file in a slow source the attributes are all read now: they come in the rounds of the objects, and only now can an error of
    /// the network be told. One that is met on the way fails the opening, whatever could be read without those bytes.
    pub(crate) fn open(
        blob: Arc<dyn Blob>,
        options: OpenOptions,
        all_attributes: bool,
    ) -> Result<(Nc4, Model)> {
        if blob.cost().is_near() {
            let file = File::open_with(blob.clone(), options.clone())?;
            let (content, model) = Nc4Content::read(&file, all_attributes)?;
            return Ok((Nc4 { blob, file, options, all_attributes, content }, model));
        }
        let watched = Arc::new(Watched::new(blob.clone()));
        let file = File::open_with(watched.clone(), options.clone())?;
        let (content, model) = Nc4Content::read(&file, true)?;
        let groups = model.group_ids().map(Owner::Group);
        groups.chain(model.var_ids().map(Owner::Var)).for_each(|owner| {
            model.attrs(owner).failure();
        });
        match watched.take_refusal() {
            Some(refusal) => Err(refusal),
            None => Ok((Nc4 { blob, file, options, all_attributes, content }, model)),
        }
    }

    /// The same file, as it is now.
    fn opened_again(&self) -> Result<(Nc4, Model)> {
        let open = || Nc4::open(self.blob.clone(), self.options.clone(), self.all_attributes);
        read_optimistically(&self.blob, open).map(|(opened, _)| opened)
    }

    /// The dataset of a variable.
    fn dataset(&self, var: VarId) -> Result<Dataset> {
        Dataset::open(&self.content.vars[var.index()].place.object()?)
    }
}

/// Attributes that are shown only on request. `groups` are the groups of the file, perhaps with other objects.
fn hidden(file: &File, owner: Owner, groups: impl Iterator<Item = Result<Object>>) -> Vec<Attr> {
    let Owner::Group(ferrocdf_model::GroupId::ROOT) = owner else { return vec![] };
    let number = |name: &[u8], number: i32| Attr::new(Name::stored(name), Values::Int(vec![number]));
    let properties = file.root().and_then(|root| root.attribute(names::PROPERTIES)).ok().flatten();
    let properties = properties
        .map(|found| Attr::new(Name::stored(names::PROPERTIES), Values::Char(decode::text(&found, file))));
    let superblock = number(b"_SuperblockVersion", file.superblock().version.into());
    let marked = number(b"_IsNetcdf4", is_netcdf4(file, groups).unwrap_or(false).into());
    properties.into_iter().chain([superblock, marked]).collect()
}

/// Whether a netCDF library wrote the file, as the reference guesses it: by two attributes of its conventions on
/// datasets anywhere. (Its newest version looks at the root group first, Debian's does not.)
fn is_netcdf4(file: &File, groups: impl Iterator<Item = Result<Object>>) -> Result<bool> {
    if file.root()?.attribute(names::STRICT)?.is_some() {
        return Ok(false);
    }
    let mut found = 0;
    any_dataset(groups, |dataset| {
        if let Ok(attributes) = dataset.attributes() {
            found += attributes.list.iter().filter(|(name, _)| names::is_reserved(name)).count();
        }
        found >= 2
    })
}

/// Whether a netCDF library wrote the file, by what no other program writes: attributes of the root group, ids of
/// dimensions, and scales of dimensions that have no variable. A dimension scale alone is no sign.
fn has_signs_of_netcdf(file: &File, groups: impl Iterator<Item = Result<Object>>) -> Result<bool> {
    let root = file.root()?;
    if root.attribute(names::PROPERTIES)?.is_some() || root.attribute(names::STRICT)?.is_some() {
        return Ok(true);
    }
    any_dataset(groups, |dataset| {
        let has = |name| matches!(dataset.attribute(name), Ok(Some(_)));
        let title = dataset.attribute(names::NAME).ok().flatten();
        has(names::COORDINATES)
            || has(names::DIMID)
            || title.is_some_and(|title| decode::text(&title, file).starts_with(names::NO_VARIABLE))
    })
}

/// Whether something is true of a dataset in one of these groups. Each dataset is looked at once, until it is.
fn any_dataset(
    groups: impl Iterator<Item = Result<Object>>,
    mut is_true: impl FnMut(&Object) -> bool,
) -> Result<bool> {
    let mut seen = HashSet::new();
    for object in groups {
        let object = object?;
        if !seen.insert(place_of(&object)) {
            continue;
        }
        for link in object.links()?.list {
            let LinkTarget::Hard(at) = link.target else { continue };
            let Ok(object) = object.file().object(at) else { continue };
            if object.kind() == ObjectKind::Dataset && seen.insert(place_of(&object)) && is_true(&object) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl Nc4Content {
    fn read(file: &File, all_attributes: bool) -> Result<(Nc4Content, Model)> {
        let mut walk = walk(file, all_attributes)?;
        let (mut model, mut skipped) = (walk.model, walk.skipped);
        let (of_vars, dims) = walk.dims.resolve(&mut model, &mut walk.vars);
        let classes = model.types().iter().map(|ty| ty.class.clone()).collect();
        let groups = walk.groups.len();
        let places = walk.groups.into_iter().chain(walk.vars.iter().map(|var| var.place.clone())).collect();
        let mut types = walk.types;
        let stored = std::mem::take(&mut types.stored);
        let made_up = types.made_up.ids().collect();
        let owners = Arc::new(Owners::new(places, types, classes));
        let late = |key: usize| Attrs::late(owners.clone(), key as u64);
        for group in model.group_ids() {
            model.set_attrs(group, late(group.index()));
        }
        model.reserve_vars(walk.vars.len());
        let mut vars = Vec::with_capacity(walk.vars.len());
        for (number, (found, dims)) in walk.vars.into_iter().zip(of_vars).enumerate() {
            let FoundVariable {
                group,
                name,
                prefixed,
                ty,
                storage,
                extent,
                by_length,
                attributes,
                place,
                ..
            } = found;
            let key = groups + number;
            let attrs = match attributes {
                Some(list) => Attrs::read(list, owners.clone(), key as u64),
                None => late(key),
            };
            for (&(len, _), dim) in extent.iter().zip(dims.iter().map(|&dim| model.dim(dim))) {
                if len > dim.len {
                    let why =
                        format!("{} of {len} along {}, which is {} long", len - dim.len, dim.name, dim.len);
                    skipped.add(&model, group, name.as_bytes(), why);
                }
            }
            model.push_var(Var { name, group, ty, dims, attrs, storage });
            let extent = extent.into_iter().map(|(len, _)| len).collect();
            vars.push(Nc4Variable { place, prefixed, extent, by_length });
        }
        let lost = skipped.lost.take();
        let shapeless = walk.shapeless.into_iter();
        let shapeless = shapeless
            .map(|(group, name, ty, place)| (walk::path_in(&model, group, name.as_bytes()), ty, place))
            .collect();
        let skipped = skipped.words();
        Ok((Nc4Content { vars, owners, skipped, shapeless, lost, types: stored, made_up, dims }, model))
    }
}

/// One array, as a source of another one.
#[derive(Debug)]
struct WholeArray {
    blob: NamedBlob,
    array: Arc<Array>,
}

struct NamedBlob(Arc<dyn Blob>);

impl std::fmt::Debug for NamedBlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.name())
    }
}

impl VirtualSource for WholeArray {
    fn open(&self) -> Result<Option<OpenSource>> {
        Ok(Some((self.blob.0.clone(), self.array.clone())))
    }
}

impl Driver for Nc4 {
    fn refresh(&mut self) -> Result<Model> {
        let (file, model) = self.opened_again()?;
        *self = file;
        Ok(model)
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        let variable = &self.content.vars[var.index()];
        let dataset = self.dataset(var)?;
        let placed = dataset.array()?;
        let shape = model.shape(var);
        if shape == placed.array.shape {
            let is_external = !Arc::ptr_eq(&placed.blob, self.file.elements());
            return Ok(LocatedArray { array: placed.array, blob: is_external.then_some(placed.blob) });
        }
        // What is beyond the dataset has the fill value.
        let fill = trees::fill_bytes(dataset.datatype(), own_fill(&dataset), model, var)?;
        let common: Vec<u64> = shape.iter().zip(&variable.extent).map(|(&a, &b)| a.min(b)).collect();
        let source = WholeArray { blob: NamedBlob(placed.blob), array: Arc::new(placed.array) };
        Ok(padded(shape, source, &common, fill).into())
    }

    fn blob(&self) -> &dyn Blob {
        &**self.file.elements()
    }

    fn values(&self, model: &Model, var: VarId, selection: &Selection) -> Result<Values> {
        let variable = &self.content.vars[var.index()];
        let dataset = self.dataset(var)?;
        let place = &variable.place;
        trees::read(
            &place.file,
            &dataset,
            &self.content.owners.classes,
            model,
            var,
            &variable.extent,
            selection,
        )
    }

    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        let dataset = self.dataset(var)?;
        let (place, classes) = (&self.content.vars[var.index()].place, &self.content.owners.classes);
        match own_fill(&dataset) {
            Some(bytes) => {
                decode::values(&place.file, classes, type_of(model, var), dataset.datatype(), bytes).map(Some)
            }
            None => Ok(model.fill_value(var)),
        }
    }

    fn relocate(&mut self, model: &Model) -> Result<bool> {
        let (file, now) = self.opened_again()?;
        let has_same = has_same_variables(model, &now);
        if has_same {
            *self = file;
        }
        Ok(has_same)
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for Nc4 {
    fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        hidden(&self.file, owner, self.content.owners.places.iter().map(Place::object))
    }

    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        stored_size(&self.dataset(var)?, &self.content.vars[var.index()].extent)
    }

    fn extents(&self) -> Result<Option<StoredExtents>> {
        let found = ferrocdf_hdf5::extents(self.blob.clone())?;
        let own = number_of(&self.file);
        let vars = (0..).map(VarId).zip(&self.content.vars);
        let vars = vars.filter(|(_, variable)| number_of(&variable.place.file) == own);
        let vars: HashMap<_, _> = vars.map(|(var, variable)| (variable.place.at, var)).collect();
        let (mut variables, mut other_data) = (HashMap::new(), found.collections);
        for dataset in found.datasets {
            match vars.get(&dataset.object) {
                Some(&var) => drop(variables.insert(var, dataset)),
                None => {
                    let elements = dataset.elements.into_iter().map(|elements| elements.bytes);
                    other_data.extend(dataset.index.into_iter().chain(elements));
                }
            }
        }
        let other_data = union(other_data, u64::MAX);
        let (metadata, page, unreadable) = (found.metadata, found.page, found.unreadable);
        Ok(Some(StoredExtents { metadata, variables, other_data, page, unreadable }))
    }

    fn sources(&self, var: VarId) -> Result<DataSources> {
        let dataset = self.dataset(var)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let external = dataset.external_names()?.iter().map(|name| text(name)).collect();
        let virtual_sources = dataset.virtual_sources()?;
        let virtual_sources = virtual_sources.iter().map(|(file, path)| (text(file), text(path))).collect();
        let stored_shape = self.content.vars[var.index()].extent.clone();
        Ok(DataSources {
            external,
            virtual_sources,
            stored_shape: Some(stored_shape),
            ..DataSources::default()
        })
    }

    fn missing_sources(&self, var: VarId) -> Result<Vec<MissingSource>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let missing = self.dataset(var)?.missing_sources()?.into_iter();
        let missing =
            missing.map(|of| MissingSource { file: text(&of.file), path: text(&of.path), lack: of.lack });
        Ok(missing.collect())
    }

    fn dataset_path(&self, model: &Model, var: VarId) -> Result<Option<String>> {
        let Nc4Variable { place, prefixed, .. } = &self.content.vars[var.index()];
        let path = write::link_path(model, var, *prefixed)?;
        let found = self.file.open_path(self.file.superblock().root, path.as_bytes())?;
        let is_found = found.is_some_and(|found| place_of(&found) == (number_of(&place.file), place.at));
        Ok(is_found.then_some(path))
    }

    fn is_written_by_netcdf(&self) -> bool {
        let groups = self.content.owners.places.iter().map(Place::object);
        has_signs_of_netcdf(&self.file, groups).unwrap_or(false)
    }

    fn skipped(&self, model: &Model) -> Skipped {
        let groups = model.group_ids().map(|group| model.group_path(group));
        let vars = model.var_ids().map(|var| model.var_path(var));
        let why = "is of a type that netCDF does not know";
        let mut attributes = SkippedObjects::default();
        for (key, path) in groups.chain(vars).enumerate() {
            for attribute in self.content.owners.strangers(key as u64) {
                attributes.add_at(|| path.clone(), format_args!("its attribute \"{attribute}\" {why}"));
            }
        }
        let shapeless = |(path, ty, place): &(String, Option<Type>, Place)| Shapeless {
            path: path.clone(),
            type_name: ty.map(|ty| model.type_name(ty).to_string()),
            attributes: self.content.owners.attributes_at(place).iter().cloned().collect(),
            reason: format!("{path}: {}", walk::WITHOUT_SHAPE),
        };
        Skipped {
            reasons: [self.content.skipped.clone(), attributes.words()].concat(),
            shapeless: self.content.shapeless.iter().map(shapeless).collect(),
            ..Skipped::default()
        }
    }

    fn unreadable(&self) -> Option<Error> {
        self.content.lost.clone()
    }
}

/// The size of a dataset in its file. `extent` is its shape.
fn stored_size(dataset: &Dataset, extent: &[u64]) -> Result<StoredSize> {
    let size = u64::from(dataset.datatype().size());
    let decoded = extent.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    Ok(StoredSize { bytes: Some((decoded, dataset.storage_size()?)), chunks: dataset.chunk_counts()? })
}

/// A larger array with another one at its origin.
fn padded(shape: Vec<u64>, source: WholeArray, common: &[u64], fill: Vec<u8>) -> Array {
    let stored = Stored::native(source.array.stored.kind);
    let all = Selection::slab(&vec![0; common.len()], common);
    let part =
        SourceMapping { virtual_selection: all.clone(), source_selection: all, source: Arc::new(source) };
    let parts = if common.contains(&0) { vec![] } else { vec![part] };
    let layout = Layout::Virtual(VirtualLayout { mappings: parts.into(), fill: fill.into() });
    Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error }
}

/// The fill value of a dataset in its own bytes, if its maker set one.
fn own_fill(dataset: &Dataset) -> Option<&[u8]> {
    match &dataset.fill().value {
        Fill::Value(bytes) if bytes.len() == dataset.datatype().size as usize => Some(bytes),
        _ => None,
    }
}

/// Whether two models have the same variables, of the same types and dimensions, whatever the lengths of these.
fn has_same_variables(one: &Model, other: &Model) -> bool {
    let is_same = |a: &Var, b: &Var| (&a.name, a.group, a.ty, &a.dims) == (&b.name, b.group, b.ty, &b.dims);
    one.types() == other.types()
        && one.vars().len() == other.vars().len()
        && one.vars().iter().zip(other.vars()).all(|(a, b)| is_same(a, b))
}

/// The type of a variable.
fn type_of(model: &Model, var: VarId) -> Type {
    model.var(var).ty
}
