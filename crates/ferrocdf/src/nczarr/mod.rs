//! Zarr stores as netCDF sees them: those of netCDF (NCZarr), those of xarray, and all others.
//!
//! Source: "The NetCDF NCZarr Implementation", and the conventions of xarray. The metadata of all nodes is read when a store is
//! opened; chunks are found by their keys.

mod atomic_json;
mod attributes;
mod codec_texts;
mod data_types;
mod dims;
mod encode;
mod form;
mod json_values;
mod keys;
mod no_bytes;
mod place;
mod tables;
mod type_definitions;
mod types;
mod values;
mod walk;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_array::{Array, Kind, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;
use ferrocdf_hdf5::ChunkCounts;
use ferrocdf_model::{
    Atomic, Attr, Class, Container, DataModel, Format, Model, Name, Owner, Type, Values, VarId,
};
use ferrocdf_store::{Blob, Store, Version as ObjectVersion, ZipStore};
use ferrocdf_zarr::{ArrayMetadata, DataType, Elements, FillValue, Hierarchy, Json, Members, Version};

use crate::driver::{Context, Driver, Inspect, LocatedArray, Skipped, StoredSize};
use crate::location::Location;
use crate::plugins;
pub use codec_texts::{can_have_codec, define_codecs};
pub(crate) use keys::ARRAY_DIMENSIONS;
use no_bytes::NoBytes;
pub(crate) use place::{has_no_bytes, is_folder, new_store, new_zip};
pub use place::{is_zarr_store, no_store_to_replace, remove_zarr_store};
pub(crate) use tables::{OpenTables, TableChunks, TableLayout};
pub(crate) use write::{NcZarrWriter, planned_metadata};

/// The codec of numcodecs with the blocks of HDF5's filter LZ4, which only this library reads in the frame of HDF5.
const LZ4: &str = "lz4";

/// A Zarr store that is open for reading.
pub(crate) struct NcZarr {
    /// The store of the chunks.
    store: Arc<dyn Store>,
    /// The same store, if the chunks are references in tables: the metadata is in another store then.
    referenced: Option<Arc<dyn TableChunks>>,
    path: String,
    codecs: Codecs,
    no_bytes: NoBytes,
    content: Content,
    /// What reads the variables that are no arrays of numbers: it keeps decoded chunks and the indexes of shards.
    readers: Mutex<HashMap<VarId, Arc<Reader>>>,
}

/// What reads a variable whose values are not numbers of netCDF.
enum Reader {
    /// The bytes of elements of a fixed size.
    Bytes(Array),
    /// Elements without a fixed size.
    Elements(Box<Elements>),
}

impl Reader {
    /// Reads the selected values of a variable of a type.
    fn values(
        &self,
        model: &Model,
        (metadata, ty): (&ArrayMetadata, Type),
        selection: &Selection,
    ) -> Result<Values> {
        match self {
            Reader::Bytes(array) => values::of_bytes(model, (&metadata.element, ty), array, selection),
            Reader::Elements(elements) => {
                values::of_any_size(model, (metadata, ty), &elements.read(selection)?)
            }
        }
    }
}

/// Returns the array of a variable as netCDF sees it: as long as its dimensions, which may be longer than what is stored where they grow,
/// and bytes that are text as text.
fn of_variable(mut array: Array, model: &Model, var: VarId) -> Array {
    let shape = model.shape(var);
    array.shape.splice(..shape.len(), shape);
    match model.var(var).ty {
        Type::Atomic(Atomic::Char) => array.stored.kind = Kind::Char,
        // Booleans of h5py have a sign.
        ty if base_of_enum(model, ty) == Some(Atomic::Byte) => array.stored.kind = Kind::I8,
        _ => {}
    }
    array
}

/// Returns the type of the numbers of an enumeration.
fn base_of_enum(model: &Model, ty: Type) -> Option<Atomic> {
    match ty {
        Type::User(id) => match model.user_type(id).class {
            Class::Enum { base, .. } => Some(base),
            _ => None,
        },
        Type::Atomic(_) => None,
    }
}

/// Returns the metadata of an array as the engine is to see it: elements of user-defined types are bytes, but for those of enumerations, which
/// are numbers. An array without a fill value has netCDF's default, unless the variable has none.
fn for_engine<'m>(model: &Model, var: VarId, metadata: &'m ArrayMetadata) -> Cow<'m, ArrayMetadata> {
    let described = model.var(var);
    match described.ty {
        ty @ Type::User(_) if base_of_enum(model, ty).is_none() => Cow::Owned(metadata.with_bytes()),
        Type::Atomic(atomic) if tells_no_fill(described.ty, metadata) && !described.storage.no_fill => {
            let bytes = encode::number(&Values::default_fill(atomic), metadata.element.order);
            Cow::Owned(ArrayMetadata { fill_value: FillValue::Bytes(bytes), ..metadata.clone() })
        }
        _ => Cow::Borrowed(metadata),
    }
}

/// True if the fill value of an array tells that elements of a type which nobody wrote are undefined.
fn tells_no_fill(ty: Type, metadata: &ArrayMetadata) -> bool {
    let can_be_undefined =
        matches!(ty, Type::Atomic(atomic) if !matches!(atomic, Atomic::Char | Atomic::String));
    can_be_undefined && metadata.fill_value == FillValue::Undefined
}

/// Returns the format of stores of a version.
fn format(version: Version) -> Format {
    let container = match version {
        Version::V2 => Container::ZarrV2,
        Version::V3 => Container::ZarrV3,
    };
    Format::new(container, DataModel::Netcdf4)
}

/// What the metadata of a store says beside the model.
struct Content {
    version: Version,
    is_consolidated: bool,
    /// See [`Hierarchy::record_size`].
    record_size: Option<u64>,
    /// Those of the groups, by their ids; empty if the root is an array.
    groups: Vec<Document>,
    arrays: Vec<ZarrVariable>,
    skipped: Vec<String>,
    /// Why the first node that cannot be read is among that.
    lost: Option<Error>,
    hidden: Vec<Attr>,
    is_netcdf: bool,
}

/// What a writer must know of the documents of a store, to see what another writer does.
struct AsRead {
    /// The versions of the documents, by their keys.
    versions: HashMap<String, ObjectVersion>,
    /// The nodes of consolidated metadata.
    consolidated: Members,
}

/// The array of a variable.
struct ZarrVariable {
    document: Document,
    metadata: ArrayMetadata,
}

/// The metadata of a group or an array, as its store has it.
#[derive(Clone, Debug)]
struct Document {
    /// Its key in the store, without a slash at the end.
    path: String,
    /// `.zgroup`, `.zarray` or `zarr.json`.
    metadata: Json,
    attributes: Members,
}

impl NcZarr {
    /// Opens a store for reading.
    ///
    /// # Errors
    /// `NC_ENOTNC` if a folder has no Zarr metadata, `NC_ENOOBJECT` if a store has no object at the key or below it; `NC_EZARRMETA` if that of
    /// the root cannot be read.
    pub(crate) fn open(context: &Context<'_>, open_tables: OpenTables) -> Result<(NcZarr, Model)> {
        let (store, path) = place::store(context.location, context.durable)?;
        let codecs = plugins::codecs();
        let (content, model) =
            Content::read(&*store, &path, &codecs).map_err(|error| match context.location {
                Location::Object { store, key }
                    if error.code == Code::ENOTNC && !place::has_objects(&**store, &path) =>
                {
                    store.no_such_object(key)
                }
                _ => error,
            })?;
        let Some(layout) = content.tables()? else {
            return Ok((Self::of(store, path, codecs, content), model));
        };
        let chunks = open_tables(store, layout, context.beside)?;
        Ok((NcZarr { referenced: Some(chunks.clone()), ..Self::of(chunks, path, codecs, content) }, model))
    }

    /// Opens a store in a zip file for reading.
    ///
    /// # Errors
    /// Those of [`ZipStore::open`](ferrocdf_store::ZipStore::open) and of [`NcZarr::open`].
    pub(crate) fn open_zip(blob: Arc<dyn Blob>) -> Result<(NcZarr, Model)> {
        let (store, path) = place::in_zip(ZipStore::open(blob)?)?;
        Self::open_in(store, path)
    }

    /// Opens the group or array at a path of a store.
    ///
    /// # Errors
    /// Those of [`NcZarr::open`]; `NC_ENOTBUILT` for references in parquet, whose targets are named from their folder.
    pub(crate) fn open_in(store: Arc<dyn Store>, path: String) -> Result<(NcZarr, Model)> {
        let codecs = plugins::codecs();
        let (content, model) = Content::read(&*store, &path, &codecs)?;
        if content.record_size.is_some() {
            let what = "references in parquet are read from a folder only: unpack the file there";
            return Err(Error::new(Code::ENOTBUILT, what));
        }
        Ok((Self::of(store, path, codecs, content), model))
    }

    fn of(store: Arc<dyn Store>, path: String, codecs: Codecs, content: Content) -> NcZarr {
        let (no_bytes, readers) = (NoBytes(store.clone()), Mutex::default());
        NcZarr { store, referenced: None, path, codecs, no_bytes, content, readers }
    }

    fn variable(&self, var: VarId) -> &ZarrVariable {
        &self.content.arrays[var.index()]
    }

    /// Returns what reads the values of a variable.
    fn reader(&self, model: &Model, var: VarId) -> Result<Arc<Reader>> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = readers.get(&var) {
            return Ok(reader.clone());
        }
        let ZarrVariable { document: Document { path, .. }, metadata } = self.variable(var);
        let reader = Arc::new(self.new_reader(model, var, (path, metadata))?);
        readers.insert(var, reader.clone());
        Ok(reader)
    }

    /// Makes the reader of a variable's values. The array of the variable lies at a key of the store.
    fn new_reader(
        &self,
        model: &Model,
        var: VarId,
        (path, metadata): (&str, &ArrayMetadata),
    ) -> Result<Reader> {
        let store = self.store.clone();
        Ok(match metadata.element.data_type.size() {
            Some(_) => {
                let array = for_engine(model, var, metadata).array(store, path, &self.codecs)?;
                Reader::Bytes(of_variable(array, model, var))
            }
            None => Reader::Elements(Box::new(metadata.elements(store, path, &self.codecs)?)),
        })
    }

    /// Returns the sizes of an array at a key of the store.
    fn stored_size_of(&self, path: &str, metadata: &ArrayMetadata) -> Result<StoredSize> {
        // Of a slow store each object would take a request.
        if !self.store.cost().is_near() {
            return Ok(StoredSize::default());
        }
        let Some(objects) = metadata.stored(&*self.store, path)? else { return Ok(StoredSize::default()) };
        let elements = |shape: &[u64]| shape.iter().fold(1u64, |count, &len| count.saturating_mul(len));
        let Some(size) = metadata.element.data_type.size() else {
            return Ok(StoredSize { bytes: Some((objects.bytes, objects.bytes)), chunks: None });
        };
        let bytes = |shape: &[u64]| elements(shape).saturating_mul(size as u64);
        let chunks = (!metadata.is_sharded() && metadata.blocks.is_empty()).then(|| ChunkCounts {
            all: objects.all,
            stored: objects.stored,
            decoded_bytes: bytes(&metadata.chunk_shape),
        });
        Ok(StoredSize { bytes: Some((bytes(&metadata.shape), objects.bytes)), chunks })
    }
}

impl Driver for NcZarr {
    fn refresh(&mut self) -> Result<Model> {
        let store = self.referenced.as_ref().map_or(&*self.store, |chunks| chunks.tables());
        let (content, model) = Content::read(store, &self.path, &self.codecs)?;
        match (&self.referenced, content.tables()?) {
            (Some(chunks), Some(layout)) => chunks.refresh(layout)?,
            (None, None) => {}
            _ => {
                let what = "chunks took the place of references, or references that of chunks; open it again";
                return Err(Error::new(Code::EZARRMETA, what));
            }
        }
        self.content = content;
        self.readers = Mutex::default();
        Ok(model)
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        let ZarrVariable { document: Document { path, .. }, metadata } = self.variable(var);
        let array = for_engine(model, var, metadata).array(self.store.clone(), path, &self.codecs)?;
        Ok(of_variable(array, model, var).into())
    }

    fn blob(&self) -> &dyn Blob {
        &self.no_bytes
    }

    fn values(&self, model: &Model, var: VarId, selection: &Selection) -> Result<Values> {
        let metadata = &self.variable(var).metadata;
        self.reader(model, var)?.values(model, (metadata, model.var(var).ty), selection)
    }

    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        values::fill(model, var, &self.variable(var).metadata)
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for NcZarr {
    fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        match owner {
            Owner::Group(ferrocdf_model::GroupId::ROOT) => self.content.hidden.clone(),
            Owner::Group(_) => vec![],
            Owner::Var(var) => {
                let variable = self.content.arrays.get(var.index());
                variable
                    .and_then(|variable| codec_texts::attribute(&variable.document.metadata))
                    .into_iter()
                    .collect()
            }
        }
    }

    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        let ZarrVariable { document: Document { path, .. }, metadata } = self.variable(var);
        self.stored_size_of(path, metadata)
    }

    fn is_written_by_netcdf(&self) -> bool {
        self.content.is_netcdf
    }

    fn is_consolidated(&self) -> Option<bool> {
        Some(self.content.is_consolidated)
    }

    fn skipped(&self, _model: &Model) -> Skipped {
        Skipped { reasons: self.content.skipped.clone(), ..Skipped::default() }
    }

    fn unreadable(&self) -> Option<Error> {
        self.content.lost.clone()
    }

    fn unreadable_data(&self, var: VarId) -> Option<Error> {
        self.variable(var).metadata.pipeline.as_ref().err().cloned()
    }
}

impl Content {
    /// That of a store in which nothing is.
    fn empty(version: Version) -> Content {
        let (groups, arrays, skipped, hidden) = Default::default();
        Content {
            version,
            is_consolidated: false,
            record_size: None,
            groups,
            arrays,
            skipped,
            lost: None,
            hidden,
            is_netcdf: true,
        }
    }

    fn read(store: &dyn Store, path: &str, codecs: &Codecs) -> Result<(Content, Model)> {
        let hierarchy = Hierarchy::open(store, path, &keys::child_names, codecs)?;
        hierarchy.map(walk::walk).ok_or_else(no_metadata)
    }

    /// Returns the layout of the tables with references to chunks; `None` for a store that has its chunks.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for an array whose chunks tables cannot have.
    fn tables(&self) -> Result<Option<TableLayout>> {
        let Some(record_size) = self.record_size else { return Ok(None) };
        let grids = self.arrays.iter().map(|array| {
            let path = array.document.path.clone();
            if path.is_empty() || array.metadata.keys.separator != '.' {
                let what = "references in parquet have only chunks with names like `0.0`, of arrays in a group; write them anew as JSON";
                return Err(Error::new(Code::EZARRMETA, what).at(format_args!("/{path}")));
            }
            let lens = array.metadata.shape.iter().zip(&array.metadata.chunk_shape);
            Ok((path, lens.map(|(len, chunk)| len.div_ceil((*chunk).max(1))).collect()))
        });
        Ok(Some(TableLayout { grids: grids.collect::<Result<_>>()?, record_size }))
    }

    /// Reads a store that is to be written: from the documents of each node.
    fn read_each(store: &dyn Store, path: &str, codecs: &Codecs) -> Result<(Content, Model, AsRead)> {
        let mut hierarchy = Hierarchy::open_each(store, path, codecs)?.ok_or_else(no_metadata)?;
        let (versions, consolidated) =
            (std::mem::take(&mut hierarchy.versions), std::mem::take(&mut hierarchy.consolidated));
        let (content, model) = walk::walk(hierarchy);
        Ok((content, model, AsRead { versions, consolidated }))
    }
}

fn no_metadata() -> Error {
    let what = "it has no metadata of Zarr (zarr.json, .zmetadata, .zgroup, .zarray)";
    Error::new(Code::ENOTNC, what)
}

/// Returns text as JSON has it. Text that is not UTF-8 is taken as ISO 8859-1, of which every byte is a character.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// A name as a store has it.
fn name(text: &str) -> Name {
    Name::stored(text.as_bytes())
}

/// True for types of which an element is one character or number.
fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Integer { .. } | DataType::Float(_))
}
