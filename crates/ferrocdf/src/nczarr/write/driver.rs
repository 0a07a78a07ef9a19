//! The writer as a driver.

use std::sync::PoisonError;

use ferrocdf_array::{Array, Layout, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, ErrorKind, Result};
use ferrocdf_model::{Attr, DimId, Model, Owner, Type, Values, VarId};
use ferrocdf_store::{Blob, BlobMut};

use super::{Data, NcZarrWriter, data};
use crate::driver::{
    ChunkTarget, Driver, Flush, Inspect, LocatedArray, NewElements, Resized, Skipped, Span, StoredSize,
    WriteDriver, Written,
};
use crate::nczarr::{NcZarr, base_of_enum, codec_texts, for_engine, of_variable, values};
use crate::variable_errors::in_variable;

impl NcZarrWriter {
    /// Returns the array of a variable that is not text, as long as its dimensions are.
    fn current_array(&self, model: &Model, var: VarId) -> Result<Array> {
        let node = &self.variables[var.index()];
        let array = match node.data(self, model, var) {
            // What cannot be written can be read all the same.
            Err(error) if error.code == Code::EPERM => {
                let NcZarr { store, codecs, .. } = &self.reader;
                for_engine(model, var, &node.metadata).array(store.clone(), &self.key(&node.path), codecs)?
            }
            data => match &*data? {
                Data::Array(array) => array.clone(),
                Data::Elements(_) => return Err(Error::new(Code::EBADTYPE, "the variable holds text")),
            },
        };
        Ok(of_variable(array, model, var))
    }
}

impl Driver for NcZarrWriter {
    fn refresh(&mut self) -> Result<Model> {
        Err(Error::new(Code::EPERM, "a store that is written is not read again"))
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        self.current_array(model, var).map(LocatedArray::from)
    }

    fn blob(&self) -> &dyn Blob {
        self.reader.blob()
    }

    fn values(&self, model: &Model, var: VarId, selection: &Selection) -> Result<Values> {
        let node = &self.variables[var.index()];
        let (element, ty) = (&node.metadata.element, model.var(var).ty);
        let data = match node.data(self, model, var) {
            Err(error) if error.code == Code::EPERM => {
                let place = (&*self.key(&node.path), &node.metadata);
                let reader = self.reader.new_reader(model, var, place)?;
                return reader.values(model, (&node.metadata, ty), selection);
            }
            data => data?,
        };
        match &*data {
            Data::Array(_) => {
                values::of_bytes(model, (element, ty), &self.current_array(model, var)?, selection)
            }
            Data::Elements(elements) => {
                let mut elements = elements.lock().unwrap_or_else(PoisonError::into_inner);
                let stored = elements.read(selection)?;
                if let Type::User(_) = ty {
                    return values::of_any_size(model, (&node.metadata, ty), &stored);
                }
                let fill = data::fill_text(&node.metadata);
                let text = |stored: &Option<Box<[u8]>>| {
                    Some(values::text(element, stored.as_deref().unwrap_or(&fill)))
                };
                Ok(Values::String(stored.iter().map(text).collect()))
            }
        }
    }

    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        values::fill(model, var, &self.variables[var.index()].metadata)
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for NcZarrWriter {
    fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        match owner {
            Owner::Group(_) => self.reader.hidden_attributes(owner),
            // A variable that is only defined yet has no array.
            Owner::Var(var) => {
                let node = self.variables.get(var.index());
                node.and_then(|node| codec_texts::attribute(&node.document)).into_iter().collect()
            }
        }
    }

    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        let node = &self.variables[var.index()];
        self.reader.stored_size_of(&self.key(&node.path), &node.metadata)
    }

    fn is_written_by_netcdf(&self) -> bool {
        self.options.nczarr
    }

    fn is_consolidated(&self) -> Option<bool> {
        Some(self.options.consolidated)
    }

    fn skipped(&self, model: &Model) -> Skipped {
        self.reader.skipped(model)
    }

    fn unreadable(&self) -> Option<Error> {
        self.reader.unreadable()
    }

    fn unreadable_data(&self, var: VarId) -> Option<Error> {
        // A variable that is only defined yet has no array.
        self.variables.get(var.index())?.metadata.pipeline.as_ref().err().cloned()
    }
}

impl WriteDriver for NcZarrWriter {
    fn blob_mut(&self) -> Result<&dyn BlobMut> {
        Ok(&self.reader.no_bytes)
    }

    fn remove_new(&mut self) -> Result<bool> {
        self.remove_documents()
    }

    fn commit(&mut self, _old: &Model, model: &Model) -> Result<()> {
        self.define(model)
    }

    fn resize(&mut self, _dim: DimId, _len: u64) -> Result<Resized> {
        // The arrays are made longer with the next flush.
        Ok(Resized::Relocated)
    }

    fn write(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        elements: NewElements<'_>,
    ) -> Result<Option<Written>> {
        match elements {
            NewElements::Plain { input, .. } => self.write_rounded(model, var, selection, input),
            NewElements::Nested(values) => self.write_each(model, var, selection, values).map(Some),
        }
    }

    fn write_in_place(
        &mut self,
        _model: &Model,
        _var: VarId,
        _span: Span,
        write: &mut dyn FnMut(&dyn BlobMut) -> Result<RangeCheck>,
    ) -> Result<RangeCheck> {
        write(&self.reader.no_bytes)
    }

    fn chunks_to_write(&mut self, model: &Model, var: VarId) -> Result<Option<ChunkTarget>> {
        let node = &self.variables[var.index()];
        // Numbers that are rounded are written one by one; shards are made of their elements.
        if node.quantize.is_some()
            || node.metadata.is_sharded()
            || !matches!(model.var(var).ty, Type::Atomic(_))
                && base_of_enum(model, model.var(var).ty).is_none()
        {
            return Ok(None);
        }
        let array = self.current_array(model, var)?;
        let has_chunks = matches!(array.layout, Layout::Chunked(_)) && !array.shape.contains(&0);
        Ok(has_chunks.then_some(ChunkTarget { array, rounding: None }))
    }

    fn flush(&mut self, model: &Model, extent: Flush<'_>) -> Result<()> {
        let stored = match extent {
            Flush::DueDefinitions => return Ok(()),
            Flush::Definitions { .. } => Ok(()),
            Flush::All => self.flush_data(model),
        };
        // A conflict with another writer is no reason to keep all else from being stored.
        if stored.as_ref().is_err_and(|error| error.kind() != ErrorKind::Conflict) {
            return stored;
        }
        self.put_documents(model)?;
        // A zip file is written anew with each commit.
        let committed = if extent == Flush::All { self.reader.store.commit() } else { Ok(()) };
        committed.and(stored)
    }
}

impl NcZarrWriter {
    /// Stores all chunks that are pending. Returns the first error, or one that is no conflict, after those of all variables were tried.
    fn flush_data(&mut self, model: &Model) -> Result<()> {
        let mut failed: Result<()> = Ok(());
        for (node, var) in self.variables.iter_mut().zip(model.var_ids()) {
            let data = node.data.get_mut().unwrap_or_else(PoisonError::into_inner);
            let done = match data.as_deref() {
                None => Ok(()),
                Some(Data::Array(array)) => ferrocdf_array::flush(&self.reader.no_bytes, array),
                Some(Data::Elements(elements)) => {
                    elements.lock().unwrap_or_else(PoisonError::into_inner).flush()
                }
            };
            let done = done.map_err(|error| in_variable(error, model, var));
            if failed.as_ref().is_ok()
                || done.as_ref().is_err_and(|error| error.kind() != ErrorKind::Conflict)
            {
                failed = done;
            }
        }
        failed
    }
}
