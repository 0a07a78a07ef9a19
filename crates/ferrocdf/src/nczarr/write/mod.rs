//! Writing: a Zarr store that is made or edited, as a driver.
//!
//! Chunks go to the store when they are complete, and all others when the file is flushed. Metadata is made of the model anew with each
//! flush, and documents that changed are put after the chunks. An edit keeps the parts of a document that this library does not know.
//!
//! The decision that shaped it: each document is put whole, and none is put before what it refers to is there. So a store has no state
//! of its own that a killed writer could leave damaged.

mod arrays;
mod attributes;
mod data;
mod documents;
mod driver;
mod puts;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_array::Array;
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;
use ferrocdf_model::{Atomic, Attr, GroupId, Model, Owner, Quantize, Type, UserType, VarId};
use ferrocdf_store::{Store, Version as ObjectVersion, ZipDraft};
use ferrocdf_zarr::{
    ArrayMetadata, ChunkPuts, Conflicts, DataType, FillValue, Json, Members, NewArray, Version, WriteOptions,
    WrittenElements, group, within,
};

use super::keys::is_old_form;
use super::{AsRead, Content, Document, NcZarr, ZarrVariable, for_engine, place, text, values};
use crate::driver::Context;
use crate::location::Location;
use crate::plugins;
use crate::quantize;
use crate::zarr_options::ZarrOptions;
use documents::{Keyed, node_name};

/// What a new store says of its maker.
const PROPERTIES_TEXT: &str = concat!("version=2,ferrocdf=", env!("CARGO_PKG_VERSION"));

/// A Zarr store that is edited.
pub(crate) struct NcZarrWriter {
    /// Reads what is stored.
    reader: NcZarr,
    version: Version,
    options: ZarrOptions,
    /// By the ids of the groups.
    groups: Vec<GroupNode>,
    /// By the ids of the variables.
    variables: Vec<VariableNode>,
    /// What the documents of the store say, by their keys relative to its root.
    stored: HashMap<String, Json>,
    /// The versions of the documents as they were read or put, by their keys in the store.
    versions: HashMap<String, ObjectVersion>,
    /// Documents that consolidated metadata does not have as they are, by their keys relative to the root.
    changed: HashSet<String>,
    /// The nodes of consolidated metadata as they were when the store was opened, or as they were put last.
    consolidated: Members,
    /// The root group's document as it was read or put, without consolidated metadata.
    root_before: Json,
    /// Version 3: true if the root is that of another writer, which differs from what the model says.
    has_others_root: bool,
    /// What becomes of chunks of which parts are written, if others write them too.
    conflicts: Conflicts,
    /// True if the store was there before this writer.
    was_opened: bool,
    /// True for a store in a zip file, which nobody else writes.
    is_zip: bool,
}

/// A group.
struct GroupNode {
    /// Its key relative to the root of the store; empty for the root.
    path: String,
    metadata: Json,
    /// Its attributes when the store was opened, as JSON and in the model.
    attributes: Members,
    attrs_before: Vec<Attr>,
    /// What was in it then.
    before: GroupContents,
    /// True if it was made by this writer.
    is_new: bool,
}

/// What is in a group, for netCDF's metadata.
#[derive(Clone, Debug, Default, PartialEq)]
struct GroupContents {
    dims: Vec<(String, u64, bool)>,
    types: Vec<UserType>,
    arrays: Vec<String>,
    groups: Vec<String>,
}

/// A variable.
struct VariableNode {
    /// The key of its array relative to the root of the store.
    path: String,
    /// The metadata of the array, without attributes.
    document: Json,
    metadata: ArrayMetadata,
    /// Its attributes when the store was opened, as JSON and in the model.
    attributes: Members,
    before: Vec<Attr>,
    /// The paths of its dimensions then.
    dims_before: Vec<String>,
    /// True if it was made by this writer.
    is_new: bool,
    /// The type of netCDF that the data type of the array stands for, if it is another one.
    alias: Option<&'static str>,
    /// How numbers are rounded that are written.
    quantize: Option<Quantize>,
    /// How the array was described, if it was made by this writer.
    described: Option<NewArray>,
    /// True if the array has no fill value once all its chunks are stored: one of version 2 without `_FillValue`, of which xarray would
    /// mask elements.
    drops_fill: bool,
    /// The stored chunks, if the array was made by this writer.
    stored: Option<Arc<ChunkPuts>>,
    /// What writes it, once something is written or read.
    data: Mutex<Option<Arc<Data>>>,
}

/// What writes the elements of a variable.
enum Data {
    /// Elements of a fixed size. Clones of the array share its pending chunks.
    Array(Array),
    /// Text.
    Elements(Box<Mutex<WrittenElements>>),
}

impl GroupContents {
    fn of(model: &Model, group: GroupId) -> GroupContents {
        let of = model.group(group);
        let dim = |dim: &ferrocdf_model::Dim| (dim.name.to_str().into_owned(), dim.len, dim.unlimited);
        GroupContents {
            dims: of.dims.iter().map(|&id| dim(model.dim(id))).collect(),
            types: model.types().iter().filter(|ty| ty.group == group).cloned().collect(),
            arrays: of.vars.iter().map(|&id| model.var(id).name.to_str().into_owned()).collect(),
            groups: of.groups.iter().map(|&id| model.group(id).name.to_str().into_owned()).collect(),
        }
    }
}

/// Returns the metadata of the array that a new store of version 2 would have for a variable.
///
/// # Errors
/// `NC_EBADNAME` for a name that no node of a store can have; those of describing the array.
pub(crate) fn planned_metadata(model: &Model, var: VarId, options: &ZarrOptions) -> Result<ArrayMetadata> {
    node_name(model.var(var).name.as_bytes())?;
    let node = VariableNode::new(String::new(), (model, var), Version::V2, options, &plugins::codecs())?;
    Ok(node.metadata)
}

/// Returns the paths of the dimensions of a variable, such as `/g1/x`.
fn dim_paths(model: &Model, var: VarId) -> Vec<String> {
    let dims = model.var(var).dims.iter().map(|&dim| model.dim(dim));
    let path = |dim: &ferrocdf_model::Dim| {
        let group = model.group_path(dim.group);
        format!("{}/{}", group.trim_end_matches('/'), text(dim.name.as_bytes()))
    };
    dims.map(path).collect()
}

impl NcZarrWriter {
    /// Makes a store at a path of another one, where nothing is: an empty group, so that it opens whatever becomes of the writer.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn create(
        store: Arc<dyn Store>,
        path: String,
        version: Version,
        options: ZarrOptions,
    ) -> Result<NcZarrWriter> {
        let content = Content::empty(version);
        let reader = NcZarr::of(store, path, plugins::codecs(), content);
        let root = GroupNode::new(String::new(), version);
        let mut writer = Self::of(reader, options, vec![root], vec![]);
        writer.put_documents(&Model::new(super::format(version)))?;
        Ok(writer)
    }

    /// Opens a store for reading and writing.
    ///
    /// # Errors
    /// Those of [`NcZarr::open`]; those of the system for a folder that cannot be written; `NC_EPERM` for a store whose root is an array, and for one that a netCDF library before 4.9.3 wrote.
    pub(crate) fn open(context: &Context<'_>, conflicts: Conflicts) -> Result<(NcZarrWriter, Model)> {
        let (mut writer, model) = Self::open_in(place::store_to_edit(context.location, context.durable)?)?;
        writer.conflicts = conflicts;
        Ok((writer, model))
    }

    /// Opens a store in a zip file for reading and writing.
    ///
    /// # Errors
    /// Those of [`NcZarrWriter::open`]; `NC_EPERM` for a zip file that is not at a path.
    pub(crate) fn open_zip(context: &Context<'_>) -> Result<(NcZarrWriter, Model)> {
        let Location::Path(path) = context.location else {
            let what =
                "zip files are changed at a path only: copy it there, change that, and put it with nccopy";
            return Err(Error::new(Code::EPERM, what));
        };
        let draft = ZipDraft::open(path)?.durable(context.durable);
        let (mut writer, model) = Self::open_in(place::in_zip(draft)?)?;
        writer.is_zip = true;
        Ok((writer, model))
    }

    fn open_in((store, path): (Arc<dyn Store>, String)) -> Result<(NcZarrWriter, Model)> {
        let codecs = plugins::codecs();
        let references = || only_read("a folder of references in parquet");
        let read = Content::read_each(&*store, &path, &codecs);
        let read = read.map_err(|error| match Content::read(&*store, &path, &codecs) {
            // They need no documents of their own for each node.
            Ok((content, _)) if content.record_size.is_some() => references(),
            _ => error,
        });
        let (mut content, model, AsRead { versions, consolidated }) = read?;
        if content.record_size.is_some() {
            return Err(references());
        }
        let variables = std::mem::take(&mut content.arrays);
        let groups = std::mem::take(&mut content.groups);
        let is_old = groups.iter().chain(variables.iter().map(|variable| &variable.document));
        if groups.is_empty() {
            return Err(only_read("a store of one array"));
        }
        if content.version == Version::V2 && is_old.clone().any(|document| is_old_form(&document.metadata)) {
            return Err(only_read("a store that a netCDF library before 4.9.3 wrote"));
        }
        let has_names =
            |name: &str| variables.iter().any(|variable| variable.document.attributes.get(name).is_some());
        let options = ZarrOptions {
            nczarr: content.is_netcdf,
            // Without netCDF's metadata there is no other place for names in version 2.
            xarray: !content.is_netcdf || variables.is_empty() || has_names(super::keys::ARRAY_DIMENSIONS),
            consolidated: content.is_consolidated,
            ..ZarrOptions::default()
        };
        let groups = groups.into_iter().zip(model.group_ids());
        let groups = groups.map(|(document, id)| GroupNode::read(document, &path, &model, id)).collect();
        let variables = variables.into_iter().zip(model.var_ids());
        let variables =
            variables.map(|(variable, id)| VariableNode::read(variable, &path, &model, id)).collect();
        let mut writer = Self::of(NcZarr::of(store, path, codecs, content), options, groups, variables);
        let documents = writer.documents(&model)?;
        writer.stored = documents.into_iter().map(|Keyed { key, json }| (key, json)).collect();
        (writer.versions, writer.was_opened) = (versions, true);
        writer.consolidated = consolidated;
        writer.root_before = puts::without_consolidated(&writer.groups[0].metadata);
        Ok((writer, model))
    }

    fn of(
        reader: NcZarr,
        options: ZarrOptions,
        groups: Vec<GroupNode>,
        variables: Vec<VariableNode>,
    ) -> NcZarrWriter {
        NcZarrWriter {
            version: reader.content.version,
            reader,
            options,
            groups,
            variables,
            stored: HashMap::new(),
            versions: HashMap::new(),
            changed: HashSet::new(),
            consolidated: Members::default(),
            root_before: Json::Null,
            has_others_root: false,
            conflicts: Conflicts::Refuse,
            was_opened: false,
            is_zip: false,
        }
    }

    /// True if others may write to the store at the same time: not to a new one, and not to a zip file.
    fn is_shared(&self) -> bool {
        self.was_opened && !self.is_zip
    }

    /// Returns the key in the store of a key relative to the root.
    fn key(&self, relative: &str) -> String {
        within(&self.reader.path, relative)
    }

    /// Makes nodes for the groups and variables that are new in a model. After an error none was made.
    fn define(&mut self, model: &Model) -> Result<()> {
        let known = self.groups.len();
        let mut groups: Vec<GroupNode> = vec![];
        for id in model.group_ids().skip(known) {
            let of = model.group(id);
            let parent = of.parent.map_or(0, GroupId::index);
            let parent = if parent < known { &self.groups[parent] } else { &groups[parent - known] };
            let path = within(&parent.path, node_name(of.name.as_bytes())?);
            self.check_free(&path)?;
            groups.push(GroupNode::new(path, self.version));
        }
        let mut variables = vec![];
        for var in model.var_ids_from(self.variables.len()) {
            let group = model.var(var).group.index();
            let group = if group < known { &self.groups[group] } else { &groups[group - known] };
            let path = within(&group.path, node_name(model.var(var).name.as_bytes())?);
            self.check_free(&path)?;
            variables.push(VariableNode::new(
                path,
                (model, var),
                self.version,
                &self.options,
                &self.reader.codecs,
            )?);
        }
        self.groups.append(&mut groups);
        self.variables.append(&mut variables);
        Ok(())
    }

    /// Checks that no object is where a new node is to be: an array that cannot be read, or chunks that a removed one left.
    ///
    /// # Errors
    /// `NC_ENAMEINUSE`, and those of the store.
    fn check_free(&self, path: &str) -> Result<()> {
        if !self.was_opened {
            return Ok(());
        }
        let listing = self.reader.store.list(&self.key(path))?;
        if listing.objects.is_empty() && listing.folders.is_empty() {
            return Ok(());
        }
        let what =
            format!("/{path}: the store has objects there already, of something that is not in the dataset");
        Err(Error::new(Code::ENAMEINUSE, what))
    }
}

fn only_read(what: &str) -> Error {
    Error::new(Code::EPERM, format!("{what} is only read: copy it to a new one"))
}

impl GroupNode {
    fn new(path: String, version: Version) -> GroupNode {
        GroupNode {
            path,
            metadata: group(version),
            attributes: Members::default(),
            attrs_before: vec![],
            before: GroupContents::default(),
            is_new: true,
        }
    }

    fn read(document: Document, root: &str, model: &Model, id: GroupId) -> GroupNode {
        let Document { path, metadata, attributes } = document;
        GroupNode {
            path: relative(&path, root),
            metadata,
            attributes,
            attrs_before: model.attrs(Owner::Group(id)).iter().cloned().collect(),
            before: GroupContents::of(model, id),
            is_new: false,
        }
    }
}

/// Returns a key relative to the root of the store.
fn relative(path: &str, root: &str) -> String {
    path.strip_prefix(root).unwrap_or(path).trim_matches('/').to_string()
}

impl VariableNode {
    fn new(
        path: String,
        (model, var): (&Model, VarId),
        version: Version,
        options: &ZarrOptions,
        codecs: &Codecs,
    ) -> Result<VariableNode> {
        let described = arrays::of((model, var), version, options, codecs)?;
        let in_variable = |error: Error| error.at_path(model.var_path(var));
        let document = described.metadata(version, codecs).map_err(in_variable)?;
        let mut metadata = ArrayMetadata::parse(version, &document, codecs).map_err(in_variable)?;
        if model.var(var).dims.is_empty() {
            // The only chunk has the same key with and without a dimension.
            (metadata.shape, metadata.chunk_shape) = (vec![], vec![]);
        }
        if model.var(var).ty == Type::Atomic(Atomic::Char) {
            // Text of one byte is numbers of one byte to the engine.
            metadata.element.data_type = DataType::Integer { size: 1, signed: false };
        }
        if let Type::User(_) = model.var(var).ty {
            // Metadata of version 3 has no lists in structures.
            metadata.element = described.element.clone();
        }
        let is_float = matches!(model.var(var).ty, Type::Atomic(Atomic::Float | Atomic::Double));
        let alias = match model.var(var).ty {
            Type::Atomic(Atomic::Char) => Some("char"),
            Type::Atomic(Atomic::String) if version == Version::V3 => Some("string"),
            _ => None,
        };
        Ok(VariableNode {
            path,
            document,
            metadata,
            attributes: Members::default(),
            before: vec![],
            dims_before: vec![],
            is_new: true,
            alias,
            quantize: model.var(var).storage.quantize.filter(|_| is_float),
            described: Some(described),
            drops_fill: version == Version::V2
                && !options.nczarr
                && model.var(var).storage.fill.is_none()
                && model.find_attr(Owner::Var(var), b"_FillValue").is_none(),
            stored: Some(Arc::default()),
            data: Mutex::default(),
        })
    }

    fn read(variable: ZarrVariable, root: &str, model: &Model, var: VarId) -> VariableNode {
        let ZarrVariable { document: Document { path, metadata: document, attributes }, metadata } = variable;
        VariableNode {
            path: relative(&path, root),
            document,
            metadata,
            attributes,
            before: model.attrs(Owner::Var(var)).iter().cloned().collect(),
            dims_before: dim_paths(model, var),
            is_new: false,
            alias: None,
            quantize: quantize_of(model, var),
            described: None,
            drops_fill: false,
            stored: None,
            data: Mutex::default(),
        }
    }

    /// True if all chunks of an array of a shape are stored, which this writer made.
    fn has_all_chunks(&self, shape: &[u64]) -> bool {
        let grid = shape.iter().zip(&self.metadata.chunk_shape).map(|(len, chunk)| len.div_ceil(*chunk));
        let grid: Vec<u64> = grid.collect();
        self.stored.as_ref().is_some_and(|stored| stored.has_all(&grid))
    }

    /// Returns what writes the variable, made when it is first needed.
    fn data(&self, writer: &NcZarrWriter, model: &Model, var: VarId) -> Result<Arc<Data>> {
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = &*data {
            return Ok(data.clone());
        }
        let made = Arc::new(writer.data_of(model, var, self)?);
        *data = Some(made.clone());
        Ok(made)
    }
}

/// Returns how numbers of a variable are rounded that are written, which an attribute says.
fn quantize_of(model: &Model, var: VarId) -> Option<Quantize> {
    let found = quantize::ATTRIBUTES.iter().find_map(|&(name, way)| {
        let attr = model.attrs(Owner::Var(var)).find(name.as_bytes())?;
        match &attr.value {
            ferrocdf_model::Values::Int(digits) => {
                Some(Quantize { way, digits: u32::try_from(*digits.first()?).ok()? })
            }
            _ => None,
        }
    });
    found.filter(|_| matches!(model.var(var).ty, Type::Atomic(Atomic::Float | Atomic::Double)))
}

impl NcZarrWriter {
    /// Makes what writes the elements of a variable.
    fn data_of(&self, model: &Model, var: VarId, node: &VariableNode) -> Result<Data> {
        let dims = &model.var(var).dims;
        let options = WriteOptions {
            stored: node.stored.clone(),
            can_grow: dims.iter().map(|&dim| model.dim(dim).unlimited).collect(),
            // Other programs read anything where chunks of an array without a fill value are missing.
            keeps_empty: self.options.keeps_empty_chunks
                || node.metadata.fill_value == FillValue::Undefined
                || node.drops_fill,
            is_shared: !node.is_new && self.is_shared(),
            conflicts: self.conflicts,
        };
        let (store, path, codecs) = (self.reader.store.clone(), self.key(&node.path), &self.reader.codecs);
        let is_text = model.var(var).ty == Type::Atomic(Atomic::String);
        if is_text || node.metadata.element.data_type.size().is_none() {
            let fill = match is_text {
                true => data::fill_text(&node.metadata),
                false => values::fill_of_any_size(&node.metadata),
            };
            let elements = node.metadata.elements_to_write(store, &path, codecs, &fill, options)?;
            return Ok(Data::Elements(Box::new(Mutex::new(elements))));
        }
        let metadata = for_engine(model, var, &node.metadata);
        metadata.array_to_write(store, &path, codecs, options).map(Data::Array)
    }
}
