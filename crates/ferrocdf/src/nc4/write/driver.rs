//! The writer as a driver: each method locks the edited state and calls it.

use std::sync::Arc;

use ferrocdf_array::{RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Attr, DimId, Model, Owner, Values, VarId};
use ferrocdf_store::{Blob, BlobMut};

use super::{Nc4Writer, Removed};
use crate::driver::{
    ChunkTarget, Driver, Flush, Inspect, LocatedArray, NewElements, Part, Remover, Resized, Skipped, Span,
    StoredSize, WriteDriver, Written,
};
use crate::nc4::{NamedBlob, WholeArray, decode, has_signs_of_netcdf, hidden, padded, stored_size, trees};
use crate::options::SpaceOptions;

/// Definitions stay pending while this factor times their number is below the number of objects in the file, since the
/// time of a flush grows with that number.
const PENDING_SHARE: usize = 8;

/// Free space in a newly created file, in bytes, below which none is recorded at the close; in existing files all is
/// recorded, since it may grow with each session.
const LEFT_BY_CREATING: u64 = 64 << 10;

impl Driver for Nc4Writer {
    fn refresh(&mut self) -> Result<Model> {
        Err(Error::new(Code::EPERM, "a file that is written is not read again"))
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        let mut held = self.held();
        held.ready()?;
        let node = held.node(var)?;
        let placed = held.editor.look(node, false)?;
        let shape = model.shape(var);
        if shape == placed.array.shape {
            let is_external = Arc::as_ptr(&placed.blob).cast::<()>() != Arc::as_ptr(&self.blob).cast::<()>();
            return Ok(LocatedArray { array: placed.array, blob: is_external.then_some(placed.blob) });
        }
        // Elements beyond the extent of the dataset have the fill value.
        let facts = held.facts(var)?;
        let fill = trees::fill_bytes(&facts.datatype, facts.fill.as_deref(), model, var)?;
        let common: Vec<u64> = shape.iter().zip(&placed.array.shape).map(|(&a, &b)| a.min(b)).collect();
        let source = WholeArray { blob: NamedBlob(placed.blob), array: Arc::new(placed.array) };
        Ok(padded(shape, source, &common, fill).into())
    }

    fn blob(&self) -> &dyn Blob {
        &*self.blob
    }

    fn values(&self, model: &Model, var: VarId, selection: &Selection) -> Result<Values> {
        let mut held = self.held();
        let (file, dataset) = held.dataset(var)?;
        let extent = held.var(var)?.extent.clone();
        trees::read(&file, &dataset, &held.classes, model, var, &extent, selection)
    }

    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        let mut held = self.held();
        held.ready()?;
        let facts = held.facts(var)?;
        let Some(bytes) = &facts.fill else { return Ok(model.fill_value(var)) };
        let file =
            if facts.datatype.has_pointers() { held.flushed_file()? } else { held.editor.file().clone() };
        decode::values(&file, &held.classes, model.var(var).ty, &facts.datatype, bytes).map(Some)
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for Nc4Writer {
    fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        let found = self.held().flushed_groups();
        found.map_or(vec![], |(file, groups)| hidden(&file, owner, groups.into_iter().map(Ok)))
    }

    fn stored_size(&self, var: VarId) -> Result<StoredSize> {
        let mut held = self.held();
        let (_, dataset) = held.dataset(var)?;
        stored_size(&dataset, &held.var(var)?.extent)
    }

    fn is_written_by_netcdf(&self) -> bool {
        let found = self.held().flushed_groups();
        found.is_ok_and(|(file, groups)| {
            has_signs_of_netcdf(&file, groups.into_iter().map(Ok)).unwrap_or(false)
        })
    }

    fn skipped(&self, _model: &Model) -> Skipped {
        Skipped { reasons: self.skipped.clone(), ..Skipped::default() }
    }
}

impl WriteDriver for Nc4Writer {
    fn blob_mut(&self) -> Result<&dyn BlobMut> {
        Ok(&*self.blob)
    }

    fn set_space(&mut self, space: &SpaceOptions) {
        let alignment = (space.threshold, space.alignment);
        self.held_mut().editor.set_space(alignment, space.meta_block);
    }

    fn commit(&mut self, old: &Model, model: &Model) -> Result<()> {
        let held = self.held_mut();
        held.ready()?;
        held.define(old, model)
    }

    fn resize(&mut self, _dim: DimId, _len: u64) -> Result<Resized> {
        // The length of a dimension is that of its longest dataset; shorter datasets are padded.
        Ok(Resized::Relocated)
    }

    fn write(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        elements: NewElements<'_>,
    ) -> Result<Option<Written>> {
        let held = self.held_mut();
        held.ready()?;
        let written = match elements {
            NewElements::Plain { input, skips_zeros } => {
                held.write(model, var, selection, input, skips_zeros)
            }
            NewElements::Nested(values) => held.write_values(model, var, selection, values),
        };
        written.map(Some)
    }

    fn write_in_place(
        &mut self,
        _model: &Model,
        _var: VarId,
        _span: Span,
        write: &mut dyn FnMut(&dyn BlobMut) -> Result<RangeCheck>,
    ) -> Result<RangeCheck> {
        self.held_mut().changed = true;
        write(&*self.blob)
    }

    fn chunks_to_write(&mut self, model: &Model, var: VarId) -> Result<Option<ChunkTarget>> {
        let held = self.held_mut();
        held.ready()?;
        held.chunks_to_write(model, var)
    }

    fn flush(&mut self, _model: &Model, extent: Flush<'_>) -> Result<()> {
        let held = self.held_mut();
        let all = held.groups.len() + held.types.len() + held.dims.len() + held.vars.len();
        match extent {
            Flush::DueDefinitions if held.steps.saturating_mul(PENDING_SHARE) < all => Ok(()),
            Flush::Definitions { chunks } if !chunks.is_empty() => {
                held.flush()?;
                let nodes = chunks.iter().map(|&(var, count)| Ok((held.node(var)?, count)));
                let nodes = nodes.collect::<Result<Vec<_>>>()?;
                held.editor.reserve_indexes(&nodes)
            }
            Flush::DueDefinitions | Flush::Definitions { .. } | Flush::All => held.flush(),
        }
    }

    fn close(&mut self) -> Result<()> {
        let held = self.held_mut();
        let created = held.made.contains(&held.editor.root());
        held.editor.close(if created { LEFT_BY_CREATING } else { 0 })
    }

    fn remover(&mut self) -> Option<&mut dyn Remover> {
        Some(self)
    }
}

impl Remover for Nc4Writer {
    fn remove(&mut self, model: &Model, part: Part) -> Result<(Model, Result<()>)> {
        let held = self.held_mut();
        held.flush()?;
        let removal = held.plan_removal(model, part)?;
        // The derived dimensions of a remaining variable may depend on the removed part.
        let made_up = held.made_up(model)?;
        let (is_attached, done) = if made_up.is_empty() {
            (true, held.remove(model, &removal))
        } else {
            let attached = held.attach_and_commit(model, made_up);
            let is_attached = attached.is_ok();
            let removal = attached.and_then(|()| held.plan_removal(model, part));
            (is_attached, removal.and_then(|removal| held.remove(model, &removal)))
        };
        let is_gone = done.is_ok() || is_attached && held.editor.is_resumable();
        held.removal = Some(Removed { part, is_gone });
        let model = if done.is_ok() { self.read()? } else { self.read_again()? };
        Ok((model, if is_gone { Ok(()) } else { done }))
    }

    fn check_ids(&self) -> Result<()> {
        self.held().check_ids()
    }

    fn recover(&mut self) -> Result<Option<(Model, Option<Part>)>> {
        let Some(Removed { part, is_gone }) = self.held_mut().removal else { return Ok(None) };
        let model = self.read_again()?;
        Ok(Some((model, is_gone.then_some(part))))
    }
}
