//! Writing of elements: numbers through the engine, nested values as bytes that refer to the global heap.

use ferrocdf_array::{Array, In, Layout, Out, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::Placed;
use ferrocdf_hdf5::edit::Node;
use ferrocdf_hdf5::messages::datatype::Datatype;
use ferrocdf_model::{Model, Type, Values, VarId};
use ferrocdf_store::{MemoryBlob, skipping_zeros};

use super::values::{Encoder, places};
use super::{Edited, trees, written};
use crate::driver::{ChunkTarget, Rounding, Span, Written};
use crate::elements::{as_stored, elements, zeros};
use crate::quantize;

impl Edited {
    /// Extends a dataset to include a selection. Returns whether it grew.
    fn reach(&mut self, model: &Model, var: VarId, node: Node, selection: &Selection) -> Result<bool> {
        let mut extent = self.var(var)?.extent.clone();
        let mut longer = false;
        for (dim, len) in extent.iter_mut().enumerate() {
            let end = end(selection, dim);
            if end > *len && model.dim(model.var(var).dims[dim]).unlimited {
                (*len, longer) = (end, true);
            }
        }
        if longer {
            self.editor.set_extent(node, &extent)?;
            self.shorter = Some(std::mem::replace(&mut self.var_mut(var)?.extent, extent));
        }
        Ok(longer)
    }

    /// Returns the array of a variable for writing a selection, and the end of the defined elements once the write has
    /// succeeded.
    fn for_writing(
        &mut self,
        var: VarId,
        node: Node,
        raw: bool,
        selection: &Selection,
    ) -> Result<(Placed, u64)> {
        let Span { first, end, is_dense } = Span::of(&self.var(var)?.extent, selection);
        Ok((self.editor.for_writing(node, raw, if is_dense { first } else { end })?, end))
    }

    /// Writes numbers or text to a selection of at least one element.
    pub(super) fn write(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        input: In<'_>,
        skips_zeros: bool,
    ) -> Result<Written> {
        self.or_as_long(var, |held| held.write_numbers(model, var, selection, input, skips_zeros))
    }

    /// Writes to a variable. After an error the dataset has its former extent: the HDF5 library cannot read strings in
    /// chunks that were never written.
    fn or_as_long(
        &mut self,
        var: VarId,
        write: impl FnOnce(&mut Edited) -> Result<Written>,
    ) -> Result<Written> {
        self.shorter = None;
        let done = write(self);
        if let (Err(_), Some(before)) = (&done, self.shorter.take()) {
            let node = self.node(var)?;
            self.editor.reset_extent(node, &before)?;
            self.var_mut(var)?.extent = before;
        }
        done
    }

    fn write_numbers(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        input: In<'_>,
        skips_zeros: bool,
    ) -> Result<Written> {
        self.changed = true;
        let node = self.node(var)?;
        let longer = self.reach(model, var, node, selection)?;
        let moved = !self.editor.is_allocated(node)?;
        let (Placed { array, .. }, end) = self.for_writing(var, node, false, selection)?;
        let array = as_stored(model, &array, input.kind).unwrap_or(array);
        if let Layout::Inline(bytes) | Layout::Fill(bytes) = &array.layout {
            let fit = self.write_compact(node, &array, bytes, selection, input)?;
            return Ok(written(fit, true));
        }
        let fit = self.write_elements(model, var, &array, (selection, input), skips_zeros);
        // Also after an error: the write may have left pending chunks, which the next commit has to flush first.
        if let Layout::Chunked(_) = &array.layout {
            self.written.insert(var, array);
        }
        let fit = fit?;
        self.editor.wrote(node, end)?;
        Ok(written(fit, longer || moved))
    }

    /// Writes numbers or text to an array, quantized if the variable is.
    fn write_elements(
        &mut self,
        model: &Model,
        var: VarId,
        array: &Array,
        (selection, input): (&Selection, In<'_>),
        skips_zeros: bool,
    ) -> Result<RangeCheck> {
        let rounding = self.rounding(model, var)?.filter(|_| array.decoder.is_none());
        let blob = &**self.editor.blob();
        let Some(Rounding { quantize, fill }) = rounding else {
            return skipping_zeros(blob, skips_zeros, |blob| {
                ferrocdf_array::write(blob, array, selection, input)
            });
        };
        let kind = array.stored.kind;
        let (fit, bytes) = quantize::apply(quantize, kind, &selection.count, &fill, input)?;
        let _exact = ferrocdf_array::write(blob, array, selection, In::raw(kind, &bytes))?;
        Ok(fit)
    }

    /// Returns how the numbers of a variable are rounded.
    fn rounding(&mut self, model: &Model, var: VarId) -> Result<Option<Rounding>> {
        let facts = self.facts(var)?;
        let Some(quantize) = facts.quantize else { return Ok(None) };
        let fill = trees::fill_bytes(&facts.datatype, facts.fill.as_deref(), model, var)?;
        Ok(Some(Rounding { quantize, fill }))
    }

    /// Extends a chunked variable to the length of its dimensions, and returns it; `None` if chunks of another
    /// variable cannot be copied to it.
    pub(super) fn chunks_to_write(&mut self, model: &Model, var: VarId) -> Result<Option<ChunkTarget>> {
        let node = self.node(var)?;
        let shape = model.shape(var);
        if shape.is_empty() || shape.contains(&0) {
            return Ok(None);
        }
        let array = self.editor.look(node, false)?.array;
        let Layout::Chunked(_) = &array.layout else { return Ok(None) };
        self.changed = true;
        let _longer = self.reach(model, var, node, &Selection::all(&shape))?;
        let array = self.editor.array(node)?.array;
        self.written.insert(var, array.clone());
        Ok(Some(ChunkTarget { array, rounding: self.rounding(model, var)? }))
    }

    /// Changes elements of compact storage, in the header of a dataset.
    fn write_compact(
        &mut self,
        node: Node,
        array: &Array,
        now: &[u8],
        selection: &Selection,
        input: In<'_>,
    ) -> Result<RangeCheck> {
        let blob = MemoryBlob::new(now.to_vec());
        let copy = Array::contiguous(array.shape.clone(), array.stored, 0)?;
        let fit = ferrocdf_array::write(&blob, &copy, selection, input)?;
        self.editor.write_compact(node, &blob.to_bytes())?;
        Ok(fit)
    }

    /// Writes values of any type, nested values included.
    pub(super) fn write_values(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        values: &Values,
    ) -> Result<Written> {
        let ty = model.var(var).ty;
        let same = match (ty, values) {
            (Type::User(_), Values::User(..)) => true,
            (ty, values) => ty == values.ty(),
        };
        if !same {
            let (is, expected) = (model.type_name(values.ty()), model.type_name(ty));
            return Err(Error::new(
                Code::EBADTYPE,
                format!("values of type {is} for one of type {expected}"),
            ));
        }
        if elements(selection)? != values.len() {
            let what =
                format!("{} values for a selection of {} elements", values.len(), elements(selection)?);
            return Err(Error::new(Code::EEDGE, what));
        }
        if values.is_empty() {
            return Ok(written(RangeCheck::InRange, false));
        }
        self.or_as_long(var, |held| held.write_checked(model, var, selection, values))
    }

    fn write_checked(
        &mut self,
        model: &Model,
        var: VarId,
        selection: &Selection,
        values: &Values,
    ) -> Result<Written> {
        self.changed = true;
        let node = self.node(var)?;
        let longer = self.reach(model, var, node, selection)?;
        let facts = self.facts(var)?;
        let size = facts.datatype.size as usize;
        let fill = facts.fill.as_deref();
        let pointed = facts.datatype.has_pointers() && fill.is_some_and(|fill| fill.iter().any(|&b| b != 0));
        let all = is_all(selection, &self.var(var)?.extent);
        let moved = !self.editor.is_allocated(node)?;
        let mut moved_now = moved;
        let (placed, end) = match facts.datatype.has_pointers() {
            // If nothing is allocated yet, all elements are written now.
            true if moved && (all || pointed) => (self.editor.for_writing(node, true, 0)?, u64::MAX),
            // Overwritten elements are read before.
            true => {
                let (placed, is_elsewhere) = self.editor.raw_for_places(node)?;
                moved_now |= is_elsewhere;
                (placed, 0)
            }
            false => self.for_writing(var, node, true, selection)?,
        };
        let mut selected = selection.clone();
        selected.start.push(0);
        selected.count.push(size as u64);
        selected.stride.push(1);
        let blob = self.editor.blob().clone();
        let is_filled = moved && pointed && !all && matches!(placed.array.layout, Layout::Strided { .. });
        if is_filled {
            self.fill_each(var, &placed.array)?;
        }
        // Global heap objects of overwritten elements are freed.
        let mut given_up = vec![];
        if facts.datatype.has_pointers() && (!moved || is_filled) {
            let mut old = vec![0u8; values.len().saturating_mul(size)];
            let _exact = ferrocdf_array::read(&*placed.blob, &placed.array, &selected, Out::new(&mut old))?;
            places(&self.editor, &facts.datatype, &old, &mut given_up);
            let mut of_fill = vec![];
            places(&self.editor, &facts.datatype, fill.unwrap_or_default(), &mut of_fill);
            given_up.retain(|id| !of_fill.contains(id));
        }
        let bytes = Encoder::new(&mut self.editor).all(&facts.datatype, values)?;
        let input = In::new(&bytes);
        // Before the write: after an error the write may have left pending chunks, which the next commit has to flush
        // first.
        if let Layout::Chunked(_) = &placed.array.layout {
            self.written.insert(var, placed.array.clone());
        }
        let inline = match &placed.array.layout {
            Layout::Inline(now) | Layout::Fill(now) => {
                let _exact = self.write_compact(node, &placed.array, now, &selected, input)?;
                true
            }
            _ => {
                let _exact = ferrocdf_array::write(&*blob, &placed.array, &selected, input)?;
                self.editor.wrote(node, end)?;
                if pointed {
                    self.own_chunks(var, &placed.array, &selected)?;
                }
                false
            }
        };
        for id in given_up {
            // Another element may have shared the object, so that it is freed already.
            let _ = self.editor.heap_free(id);
        }
        Ok(written(RangeCheck::InRange, longer || moved_now || inline))
    }

    /// Writes a separate copy of the fill value to each element of a contiguous dataset.
    fn fill_each(&mut self, var: VarId, array: &Array) -> Result<()> {
        let facts = self.facts(var)?;
        let Some(fill) = &facts.fill else { return Ok(()) };
        let blob = self.editor.blob().clone();
        let (&size, dims) = array.shape.split_last().unwrap_or((&0, &[]));
        let count = dims.iter().fold(1u64, |count, &len| count.saturating_mul(len));
        let Layout::Strided { begin, .. } = &array.layout else { return Ok(()) };
        let mut encoder = Encoder::new(&mut self.editor);
        for number in 0..count {
            let mut element = fill.clone();
            encoder.own(&facts.datatype, &mut element)?;
            blob.write_at(begin + number * size, &element)?;
        }
        Ok(())
    }

    /// Gives each fill value in a new compact dataset its own global heap objects.
    pub(super) fn own_compact(&mut self, node: Node, datatype: &Datatype) -> Result<()> {
        let placed = self.editor.look(node, true)?;
        let Layout::Inline(now) = &placed.array.layout else { return Ok(()) };
        let mut bytes = now.to_vec();
        let mut encoder = Encoder::new(&mut self.editor);
        for element in bytes.chunks_exact_mut(datatype.size.max(1) as usize) {
            encoder.own(datatype, element)?;
        }
        self.editor.write_compact(node, &bytes)
    }

    /// Gives each fill value in the chunks of a selection its own global heap objects, including fill values beyond the
    /// extent, which become elements once the dataset grows.
    fn own_chunks(&mut self, var: VarId, array: &Array, selection: &Selection) -> Result<()> {
        let Layout::Chunked(blocks) = &array.layout else { return Ok(()) };
        let facts = self.facts(var)?;
        let (Some(fill), size) = (&facts.fill, facts.datatype.size.max(1) as usize) else { return Ok(()) };
        let mut wide = array.clone();
        for (len, chunk) in wide.shape.iter_mut().zip(&blocks.shape) {
            *len = len.div_ceil(*chunk).saturating_mul(*chunk);
        }
        let blob = self.editor.blob().clone();
        for first in met(selection, &blocks.shape) {
            if !self.owned.insert((var, first.clone())) {
                continue;
            }
            let chunk = Selection::slab(&first, &blocks.shape);
            let mut bytes = zeros(elements(&chunk)?)?;
            let _exact = ferrocdf_array::read(&*blob, &wide, &chunk, Out::new(&mut bytes))?;
            let mut changed = false;
            let mut encoder = Encoder::new(&mut self.editor);
            for element in bytes.chunks_exact_mut(size).filter(|element| *element == &fill[..]) {
                encoder.own(&facts.datatype, element)?;
                changed = true;
            }
            if changed {
                let _exact = ferrocdf_array::write(&*blob, &wide, &chunk, In::new(&bytes))?;
            }
        }
        Ok(())
    }
}

/// Returns the first elements of all chunks that overlap a selection.
fn met(selection: &Selection, chunk: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for (dim, &len) in chunk.iter().enumerate() {
        let at = |step| selection.start[dim] + step * selection.stride[dim];
        let mut firsts: Vec<u64> = (0..selection.count[dim]).map(|step| at(step) / len * len).collect();
        firsts.dedup();
        all = all
            .iter()
            .flat_map(|before: &Vec<u64>| firsts.iter().map(move |&first| [&before[..], &[first]].concat()))
            .collect();
    }
    all
}

/// Returns the end (exclusive) of a selection of at least one element along a dimension.
fn end(selection: &Selection, dim: usize) -> u64 {
    let reach = selection.count[dim].saturating_sub(1).saturating_mul(selection.stride[dim]);
    selection.start[dim].saturating_add(reach).saturating_add(1)
}

/// True if a selection is the whole array.
fn is_all(selection: &Selection, shape: &[u64]) -> bool {
    let starts = selection.start.iter().all(|&start| start == 0);
    let strides = selection.stride.iter().zip(shape).all(|(&stride, &len)| stride == 1 || len == 1);
    starts && strides && selection.count[..] == *shape
}
