//! HDF4 files as netCDF sees them: their Scientific Datasets (netCDF-C, `libhdf4`).
//!
//! Datasets are variables in the order of the file, in one group. As in netCDF-C dimensions are known by their names, and only those of
//! variables exist. Unlike there, a name that comes twice gets a number, the dimensions that the file calls unlimited are, and number
//! formats of this machine and of PCs are read (`docs/decisions/023-hdf4.md`).

mod build;
mod others;
mod skipped;

use std::collections::HashSet;
use std::sync::Arc;

use ferrocdf_array::Selection;
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf4::sd::{Datasets, Var};
use ferrocdf_hdf4::{File, OpenNamed};
use ferrocdf_hdf5::ChunkCounts;
use ferrocdf_model::{Model, Values, VarId};
use ferrocdf_store::{Blob, Watched};

use crate::driver::{Context, DataSources, Driver, Inspect, LocatedArray, Skipped, StoredSize};
use crate::plugins;
use others::{Other, Table};

pub(crate) use build::{atomic, values};

/// An HDF4 file that is open for reading.
pub(crate) struct Hdf4 {
    blob: Arc<dyn Blob>,
    open_named: Option<OpenNamed>,
    /// True if Vdatas and rasters are variables.
    shows_all: bool,
    content: Hdf4Content,
}

/// What the file says.
struct Hdf4Content {
    file: File,
    datasets: Datasets,
    dataset_vars: Vec<DatasetVar>,
    /// The variables behind the datasets.
    others: Vec<Other>,
}

/// What a variable is in the file.
enum Object<'h> {
    /// A dataset or a raster.
    Array(&'h Var),
    Table(&'h Table),
}

/// A dataset that a group of numeric data stands for, and the variable that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatasetVar {
    /// Reference number of its NDG or SDG.
    pub reference: u16,
    /// Its name in the file, before it is made unique.
    pub name: Vec<u8>,
    /// The variable.
    pub var: VarId,
}

impl Hdf4Content {
    fn read(
        blob: &Arc<dyn Blob>,
        open_named: Option<OpenNamed>,
        shows_all: bool,
    ) -> Result<(Hdf4Content, Model)> {
        let watched = Arc::new(Watched::new(blob.clone()));
        let file = File::open(watched.clone(), open_named, plugins::codecs())?;
        let mut datasets = Datasets::read(&file)?;
        let (mut model, dataset_vars) = build::model(&file, &datasets)?;
        let others = if shows_all { others::add(&mut model, &file, &mut datasets) } else { vec![] };
        // What the source refused is not to be taken for something that cannot be read.
        match watched.take_refusal() {
            Some(refusal) => Err(refusal),
            None => Ok((Hdf4Content { file, datasets, dataset_vars, others }, model)),
        }
    }
}

impl Hdf4 {
    /// Opens a file.
    ///
    /// # Errors
    /// `NC_EHDFERR` if its descriptors cannot be read, and those of the source.
    pub(crate) fn open(blob: Arc<dyn Blob>, context: &Context<'_>) -> Result<(Hdf4, Model)> {
        let open_named = context
            .resolver
            .clone()
            .map(|resolver| -> OpenNamed { Arc::new(move |name| resolver.open(name)) });
        let (content, model) = Hdf4Content::read(&blob, open_named.clone(), context.hdf4_all)?;
        Ok((Hdf4 { blob, open_named, shows_all: context.hdf4_all, content }, model))
    }

    /// Reads the file again, as it is now.
    ///
    /// # Errors
    /// Those of [`Hdf4::open`].
    pub(crate) fn read_again(&self) -> Result<(Hdf4, Model)> {
        let (blob, open_named) = (self.blob.clone(), self.open_named.clone());
        let (content, model) = Hdf4Content::read(&blob, open_named.clone(), self.shows_all)?;
        Ok((Hdf4 { blob, open_named, shows_all: self.shows_all, content }, model))
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        &self.content.file
    }

    /// Returns the datasets that groups of numeric data stand for.
    pub(crate) fn dataset_vars(&self) -> &[DatasetVar] {
        &self.content.dataset_vars
    }

    /// Returns the objects that are not in the model, but for Vdatas that another driver shows.
    pub(crate) fn skipped_but(&self, shown: &HashSet<u16>) -> Skipped {
        skipped::skipped(&self.content.file, &self.content.datasets, shown, self.shows_all)
    }

    /// Returns the dataset or other object that a variable is.
    fn object(&self, var: VarId) -> Result<Object<'_>> {
        let Hdf4Content { datasets, others, .. } = &self.content;
        if let Some(dataset) = datasets.vars.get(var.index()) {
            return Ok(Object::Array(dataset));
        }
        let other = var.index().checked_sub(datasets.vars.len()).and_then(|number| others.get(number));
        match other {
            Some(Other::Raster(raster)) => Ok(Object::Array(raster)),
            Some(Other::Table(table)) => Ok(Object::Table(table)),
            None => Err(Error::new(Code::ENOTVAR, format!("the file has no variable {}", var.index()))),
        }
    }
}

impl Driver for Hdf4 {
    fn refresh(&mut self) -> Result<Model> {
        let (read_again, model) = self.read_again()?;
        *self = read_again;
        Ok(model)
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        match self.object(var)? {
            Object::Array(found) => {
                let located = found.locate(&self.content.file, model.shape(var))?;
                Ok(LocatedArray { array: located.array, blob: located.blob })
            }
            Object::Table(table) => table.array(&self.content.file),
        }
    }

    fn blob(&self) -> &dyn Blob {
        &*self.blob
    }

    fn values(&self, model: &Model, var: VarId, selection: &Selection) -> Result<Values> {
        match self.object(var)? {
            Object::Table(table) => table.values(&self.content.file, selection),
            Object::Array(_) => {
                Err(Error::new(Code::EBADTYPE, format!("{} holds numbers or text", model.var_path(var))))
            }
        }
    }

    fn fill(&self, _model: &Model, var: VarId) -> Result<Option<Values>> {
        Ok(match self.object(var)? {
            Object::Array(found) => {
                let fill = values(found.number, &found.unwritten_fill(&self.content.file)?);
                // One value, and not one for each component of a pixel.
                Some(fill).filter(|fill| fill.len() == 1)
            }
            Object::Table(_) => None,
        })
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for Hdf4 {
    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        let var = match self.object(var)? {
            Object::Array(var) => var,
            Object::Table(table) => return table.stored_size(&self.content.file),
        };
        let size = var.stored_size(&self.content.file)?;
        let elements =
            var.shape.iter().fold(var.number.size() as u64, |bytes, &len| bytes.saturating_mul(len));
        let chunks =
            size.chunks.map(|(all, stored, decoded_bytes)| ChunkCounts { all, stored, decoded_bytes });
        Ok(StoredSize { bytes: Some((elements, size.bytes)), chunks })
    }

    fn sources(&self, var: VarId) -> Result<DataSources> {
        let Object::Array(var) = self.object(var)? else { return Ok(DataSources::default()) };
        let arrangement = var.arrangement(&self.content.file)?;
        let external = arrangement.external.map(|name| String::from_utf8_lossy(&name).into_owned());
        let own_codecs = arrangement.steps.iter().filter(|step| step.id.hdf5().is_none());
        Ok(DataSources {
            external: external.into_iter().collect(),
            stored_shape: Some(var.shape.clone()),
            codecs: own_codecs.map(|step| step.id.to_string()).collect(),
            is_one_piece: arrangement.is_one_piece,
            ..DataSources::default()
        })
    }

    fn is_written_by_netcdf(&self) -> bool {
        false
    }

    fn skipped(&self, _model: &Model) -> Skipped {
        self.skipped_but(&HashSet::new())
    }

    fn unreadable(&self) -> Option<Error> {
        self.content.datasets.unreadable.first().cloned()
    }
}
