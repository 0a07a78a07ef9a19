//! The worker's side: regions of variables become encoded chunks of a part.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_array::{Array, Chunks, In, Index, Layout, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Chunking, Class, Container, Model, Type, VarId};

use super::draft::Draft;
use super::format::{PartChunk, PartIndex, PartVariable};
use super::region;
use super::store::{PartBytes, PartStore};
use crate::data::{check_write, grow, quoted_dim_name};
use crate::driver::{ChunkTarget, Rounding};
use crate::elements::{as_stored, put_rules};
use crate::file::State;
use crate::variable_errors::in_variable;
use crate::{FileMut, Location, quantize};

/// Writes one part. Any number of threads may write regions at once.
pub struct PartWriter {
    /// A copy of the plan in memory, whose dimensions grow. No element is written to it.
    plan: FileMut,
    draft: Draft,
    bytes: Arc<PartBytes>,
    key: String,
    variables: Mutex<BTreeMap<VarId, WrittenVariable>>,
}

/// A variable of which chunks were written.
struct WrittenVariable {
    store: Arc<PartStore>,
    storage: String,
    /// The shape that the regions need.
    shape: Index,
}

/// Reads a plan into memory.
///
/// # Errors
/// `NC_ENOTNC4` for a file that is not HDF5; those of reading it.
pub(super) fn read_plan(plan: &Location) -> Result<(Vec<u8>, FileMut)> {
    let bytes = plan.read_whole()?;
    let file = FileMut::append_bytes(bytes.clone()).map_err(|error| error.at(plan.name().display()))?;
    if file.format().container() != Container::Hdf5 {
        let what = format!("a plan is a netCDF-4 file, and this is a {} file", file.format().kind_name());
        return Err(Error::new(Code::ENOTNC4, what).at(plan.name().display()));
    }
    Ok((bytes, file))
}

/// Returns element type, chunk shape and filters as text. Two arrays of one text encode chunks to the same bytes.
pub(super) fn storage_text(array: &Array, chunks: &Chunks) -> String {
    let filter = |step: &ferrocdf_codec::Step| {
        let params = step.params.iter().map(|param| format!(",{param}"));
        std::iter::once(step.id.to_string()).chain(params).collect::<String>()
    };
    let filters: Vec<String> = chunks.chain.steps().map(filter).collect();
    format!(
        "{:?} {:?}, chunks {:?}, filters [{}]",
        array.stored.kind,
        array.stored.order,
        chunks.shape,
        filters.join(" ")
    )
}

impl PartWriter {
    /// Begins a part of a file with this plan. The part appears at its location when it is [finished](PartWriter::finish), in place of one that is
    /// there. `key` is any text; [`part_key`](super::part_key) returns it.
    ///
    /// # Errors
    /// `NC_ENOTNC4` for a plan that is not a netCDF-4 file; those of reading it, and of making a file.
    pub fn create(plan: &Location, part: &Location, key: &str) -> Result<PartWriter> {
        let (_, plan) = read_plan(plan)?;
        let draft = Draft::new(part)?;
        let bytes = Arc::new(PartBytes { blob: draft.blob(), end: 0.into() });
        Ok(PartWriter { plan, draft, bytes, key: key.to_string(), variables: Mutex::default() })
    }

    /// Encodes the values of a region of a variable, which takes whole chunks. Unlimited dimensions grow as needed: at the end that they have
    /// then, a region may take a part of a chunk. A chunk that is written twice has the values of the last time.
    ///
    /// [`RangeCheck::OutOfRange`] is as for [`FileMut::write`].
    ///
    /// # Errors
    /// `NC_EINVAL` for a region that cuts a chunk, and for a variable without chunks; `NC_EBADTYPE` for strings and user-defined types other than
    /// enumerations; those of [`FileMut::write`].
    pub fn write(&self, variable: &str, region: &Selection, input: In<'_>) -> Result<RangeCheck> {
        let var = self.plan.variable(variable)?.id();
        let model = self.plan.model();
        let done = self.write_region(&model, var, region, input);
        done.map_err(|error| in_variable(error, &model, var))
    }

    fn write_region(
        &self,
        model: &Model,
        var: VarId,
        region: &Selection,
        input: In<'_>,
    ) -> Result<RangeCheck> {
        if !is_plain(model, var) {
            let what = "strings and user-defined types other than enumerations are not written to parts: write them to the plan";
            return Err(Error::new(Code::EBADTYPE, what));
        }
        let input = In { rules: put_rules(model.format()), ..input };
        let Some(RegionTarget { array, chunks, shape, rounding }) = self.target(model, var, region, input)?
        else {
            return Ok(RangeCheck::InRange);
        };
        let store = self.note(var, &array, &chunks, &shape)?;
        let Chunks { shape, chain, fill, .. } = chunks;
        let array = Array { layout: Layout::Chunked(Chunks::writable(shape, store, chain, fill)), ..array };
        let array = as_stored(model, &array, input.kind).unwrap_or(array);
        let blob = &*self.bytes.blob;
        let fit = match rounding {
            Some(Rounding { quantize: how, fill }) => {
                let kind = array.stored.kind;
                let (fit, bytes) = quantize::apply(how, kind, &region.count, &fill, input)?;
                ferrocdf_array::write(blob, &array, region, In::raw(kind, &bytes)).map(|_| fit)
            }
            None => ferrocdf_array::write(blob, &array, region, input),
        };
        // Also after an error, so that no chunk stays pending.
        ferrocdf_array::flush(blob, &array).and(fit)
    }

    /// Checks a region, and finds where it is written; `None` if it has no element.
    fn target(
        &self,
        model: &Model,
        var: VarId,
        region: &Selection,
        input: In<'_>,
    ) -> Result<Option<RegionTarget>> {
        let mut state = self.plan.write_state();
        let Some(shape) = check_write(&state, var, region, input)? else { return Ok(None) };
        let unchunked = || {
            let what = "the variable has no chunks: give it a chunk shape, or write it to the plan";
            Error::new(Code::EINVAL, what)
        };
        let Some(Chunking::Chunked(chunk)) = &model.var(var).storage.chunking else {
            return Err(unchunked());
        };
        region::check(region, &shape, chunk, |dim| quoted_dim_name(model, var, dim))?;
        grow(&mut state, var, &shape)?;
        let (target, chunks) = encoded_chunks(&mut state, var)?.ok_or_else(unchunked)?;
        Ok(Some(RegionTarget { array: target.array, chunks, shape, rounding: target.rounding }))
    }

    /// Notes that a variable needs a shape. Returns the store of its chunks.
    fn note(&self, var: VarId, array: &Array, chunks: &Chunks, shape: &Index) -> Result<Arc<PartStore>> {
        let mut variables = self.variables();
        let written = variables.entry(var).or_insert_with(|| WrittenVariable {
            store: Arc::new(PartStore::new(self.bytes.clone())),
            storage: storage_text(array, chunks),
            shape: shape.clone(),
        });
        written.shape.iter_mut().zip(shape).for_each(|(len, &needed)| *len = needed.max(*len));
        Ok(written.store.clone())
    }

    fn variables(&self) -> MutexGuard<'_, BTreeMap<VarId, WrittenVariable>> {
        self.variables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the index of the part and makes the part appear at its location.
    ///
    /// # Errors
    /// `NC_EINVAL` for more chunks than the index of a part holds (some two millions); those of the system and the store. There is no part then, or the one
    /// that was there before.
    pub fn finish(self) -> Result<()> {
        let model = self.plan.model();
        let variables = self.variables.into_inner().unwrap_or_else(PoisonError::into_inner);
        let of_part = |(var, WrittenVariable { store, storage, shape }): (VarId, WrittenVariable)| {
            let chunks = std::mem::take(&mut store.chunks().0).into_iter();
            PartVariable {
                path: model.var_path(var),
                storage,
                shape: shape.into_vec(),
                chunks: chunks.map(|(coordinates, location)| PartChunk { coordinates, location }).collect(),
            }
        };
        let index = PartIndex { key: self.key, variables: variables.into_iter().map(of_part).collect() };
        index.write(&*self.bytes.blob, self.bytes.end.load(Ordering::Acquire))?;
        self.draft.finish()
    }
}

/// Where a region is written.
struct RegionTarget {
    array: Array,
    chunks: Chunks,
    shape: Index,
    rounding: Option<Rounding>,
}

/// Returns a variable that is stored in chunks of numbers or text, at its present length; `None` for other variables.
pub(super) fn encoded_chunks(state: &mut State, var: VarId) -> Result<Option<(ChunkTarget, Chunks)>> {
    let Some(target) = state.chunks_to_write(var)?.filter(|target| target.array.decoder.is_none()) else {
        return Ok(None);
    };
    let Layout::Chunked(chunks) = &target.array.layout else { return Ok(None) };
    let chunks = chunks.clone();
    Ok(Some((target, chunks)))
}

/// True if the elements of a variable are numbers or text of fixed size.
pub(crate) fn is_plain(model: &Model, var: VarId) -> bool {
    match model.var(var).ty {
        Type::Atomic(atomic) => atomic != Atomic::String,
        Type::User(id) => matches!(model.user_type(id).class, Class::Enum { .. }),
    }
}
