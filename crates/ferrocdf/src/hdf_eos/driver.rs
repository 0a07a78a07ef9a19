//! The driver that shows an HDF4 file as what its HDF-EOS2 metadata says.
//!
//! It wraps the HDF4 driver, which finds and describes the datasets, and adds no reading of its own but for tables and computed
//! coordinates.

use std::collections::HashSet;
use std::sync::Arc;

use ferrocdf_array::{
    Array, Kind, Layout, OpenSource, Selection, SourceMapping, Stored, VirtualLayout, VirtualSource,
};
use ferrocdf_bytes::{Error, Result};
use ferrocdf_model::{Attr, GroupId, Model, Owner, Values, VarId};
use ferrocdf_store::Blob;

use super::members::Objects;
use super::structure::Structure;
use super::tables::table_array;
use super::view::{Source, View};
use crate::driver::{DataSources, Driver, Inspect, LocatedArray, Skipped, StoredSize};
use crate::hdf4::Hdf4;

/// An HDF4 file with HDF-EOS2 metadata.
pub(crate) struct HdfEos {
    hdf4: Hdf4,
    /// The model of the HDF4 driver.
    flat: Model,
    /// The storage of each variable of the view.
    sources: Vec<Source>,
    /// The tables that the view shows.
    tables: HashSet<u16>,
    /// A line for each object that has no place in the view.
    skipped: Vec<String>,
}

/// Returns the driver and the model that show what the HDF-EOS2 metadata of a file says; those of the file itself if it has none.
///
/// # Errors
/// Those of the source of the bytes.
pub(crate) fn wrap(hdf4: Hdf4, flat: Model) -> Result<(Box<dyn Driver>, Model)> {
    let Some(text) = struct_metadata(&flat) else { return Ok((Box::new(hdf4), flat)) };
    let View { model, sources, tables, skipped } = view(&hdf4, &flat, &text)?;
    Ok((Box::new(HdfEos { hdf4, flat, sources, tables, skipped }), model))
}

/// Begin of the names of the attributes that hold the description of the file; a number follows.
const STRUCT_METADATA: &[u8] = b"StructMetadata.";

/// Returns the description of the file: the attributes `StructMetadata.0`, `.1`, … one behind the other. The library cuts the text
/// wherever an attribute is full. `None` if the file has none.
fn struct_metadata(flat: &Model) -> Option<Vec<u8>> {
    let mut parts: Vec<(u32, &[u8])> = vec![];
    for attr in &flat.group(GroupId::ROOT).attrs {
        let number = attr.name.as_bytes().strip_prefix(STRUCT_METADATA);
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        if let (Some(number), Values::Char(text)) = (number, &attr.value) {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            parts.push((number, &text[..end]));
        }
    }
    parts.sort_by_key(|&(number, _)| number);
    (!parts.is_empty()).then(|| parts.into_iter().flat_map(|(_, text)| text).copied().collect())
}

fn view(hdf4: &Hdf4, flat: &Model, text: &[u8]) -> Result<View> {
    let (structure, malformed) = match Structure::read(text) {
        Ok(structure) => (structure, None),
        Err(error) => (Structure::default(), Some(error.to_string())),
    };
    let dataset_vars = hdf4.dataset_vars();
    let mut view = View::new(&structure, flat, dataset_vars, Objects::read(hdf4.file(), dataset_vars)?);
    view.skipped.extend(malformed);
    Ok(view)
}

impl HdfEos {
    fn source(&self, var: VarId) -> Option<&Source> {
        self.sources.get(var.index())
    }

    /// Returns the variable of the HDF4 driver that is the whole of a variable of the view.
    fn dataset(&self, var: VarId) -> Option<VarId> {
        match self.source(var) {
            Some(&Source::Dataset(var)) => Some(var),
            _ => None,
        }
    }
}

impl Driver for HdfEos {
    fn refresh(&mut self) -> Result<Model> {
        // Content and view change together or not at all: the view refers to variables of the content by their ids.
        let (hdf4, flat) = self.hdf4.read_again()?;
        let text = struct_metadata(&flat).unwrap_or_default();
        let View { model, sources, tables, skipped } = view(&hdf4, &flat, &text)?;
        *self = HdfEos { hdf4, flat, sources, tables, skipped };
        Ok(model)
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        match self.source(var) {
            Some(&Source::Dataset(var)) => self.hdf4.array(&self.flat, var),
            Some(&Source::Part { var, offset, len, ref shape }) => {
                let LocatedArray { array, blob } = self.hdf4.array(&self.flat, var)?;
                let blob = blob.unwrap_or_else(|| self.hdf4.file().blob().clone());
                part_of(array, blob, offset, len, shape)
            }
            Some(Source::Table { table, field }) => table_array(self.hdf4.file(), table, *field),
            Some(&Source::Computed(coordinate)) => coordinate.array(),
            // A variable of another model has no storage, as a grid mapping has none.
            Some(Source::GridMapping) | None => {
                let zeros = vec![0; size_of::<i32>()];
                Ok(Array::inline(model.shape(var), Stored::native(Kind::I32), zeros).into())
            }
        }
    }

    fn blob(&self) -> &dyn Blob {
        self.hdf4.blob()
    }

    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        match self.dataset(var) {
            Some(var) => self.hdf4.fill(&self.flat, var),
            None => Ok(model.fill_value(var)),
        }
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

/// Returns the array of a part of another array along its first dimension.
fn part_of(whole: Array, blob: Arc<dyn Blob>, offset: u64, len: u64, shape: &[u64]) -> Result<LocatedArray> {
    let (mut start, mut count) = (vec![0; whole.shape.len()], whole.shape.clone());
    if let (Some(start), Some(count)) = (start.first_mut(), count.first_mut()) {
        (*start, *count) = (offset, len);
    }
    let (stored, past_end) = (whole.stored, whole.past_end);
    let mapping = SourceMapping {
        virtual_selection: Selection::all(shape),
        source_selection: Selection::slab(&start, &count),
        source: Arc::new(FieldsArray { blob, array: Arc::new(whole) }),
    };
    let layout = Layout::Virtual(VirtualLayout { mappings: Arc::new([mapping]), fill: Arc::new([]) });
    Ok(Array { shape: shape.to_vec(), stored, decoder: None, layout, past_end }.into())
}

/// The array that several fields are parts of.
struct FieldsArray {
    blob: Arc<dyn Blob>,
    array: Arc<Array>,
}

impl std::fmt::Debug for FieldsArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Whole({:?})", self.array)
    }
}

impl VirtualSource for FieldsArray {
    fn open(&self) -> Result<Option<OpenSource>> {
        Ok(Some((self.blob.clone(), self.array.clone())))
    }
}

impl Inspect for HdfEos {
    fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        match owner {
            Owner::Group(GroupId::ROOT) => self.hdf4.inspect().hidden_attributes(owner),
            Owner::Group(_) => vec![],
            Owner::Var(var) => {
                let var = self.dataset(var);
                var.map_or(vec![], |var| self.hdf4.inspect().hidden_attributes(Owner::Var(var)))
            }
        }
    }

    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        match self.dataset(var) {
            Some(var) => self.hdf4.inspect().stored_size(var),
            None => Ok(StoredSize::default()),
        }
    }

    fn sources(&self, var: VarId) -> Result<DataSources> {
        match self.dataset(var) {
            Some(var) => self.hdf4.inspect().sources(var),
            None => Ok(DataSources::default()),
        }
    }

    fn is_computed(&self, var: VarId) -> bool {
        matches!(self.source(var), Some(Source::Computed(_) | Source::GridMapping))
    }

    fn is_written_by_netcdf(&self) -> bool {
        false
    }

    fn skipped(&self, _model: &Model) -> Skipped {
        let mut skipped = self.hdf4.skipped_but(&self.tables);
        skipped.reasons.extend(self.skipped.iter().cloned());
        skipped
    }

    fn unreadable(&self) -> Option<Error> {
        self.hdf4.inspect().unreadable()
    }

    fn missing_bytes(&self) -> Result<u64> {
        self.hdf4.inspect().missing_bytes()
    }
}
