//! Copying variables between open files.
//!
//! Data whose bytes lie alike in both files (the same type and byte order, the same records) is moved as bytes, never
//! looked at. Where both have the same blocks these are copied one by one. Everything else is read and written in boxes
//! that fit a byte budget: records together, so that a file of many small record variables is passed over once, and what
//! is stored in blocks in whole blocks; one box is read while another is written.

mod compare;
mod compare_definitions;
mod definitions;
mod pipe;
mod sparse;

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use ferrocdf_array::{Array, Layout, Selection, Stored, copy_chunks, flush};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Class, Model, Type, Values, VarId};

use ferrocdf_store::{is_sparse, skipping_zeros};

use crate::data::grow;
use crate::driver::{ChunkTarget, Span};
use crate::file::State;
use crate::tiles::{self, Tiles};
use crate::variable_errors::in_variable;
use crate::{File, FileMut};

pub use compare::find_difference;
pub(crate) use compare::{find_difference_by, find_shifted_difference, is_equal, is_same};
pub use compare_definitions::find_definition_difference;
pub(crate) use compare_definitions::is_same_type;
pub(crate) use definitions::without_variables;
use pipe::{BUFFERS, Job, Piece, pipe};
pub use sparse::keep_unwritten;
use sparse::{Boxes, Gaps};

/// A variable of the source and the variable of the target that gets its data. Shapes must agree, except that the
/// record dimension of the target grows.
pub type Pair = (VarId, VarId);

/// Why lengths cannot be added.
pub(crate) const TOO_MANY: &str = "more elements than 64 bits count";

/// Where the elements of a source begin in the target: so many further along a dimension.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shift {
    pub(crate) dim: usize,
    pub(crate) by: u64,
}

impl Shift {
    /// Returns a selection of the target for one of the source.
    fn moved(self, mut selection: Selection) -> Result<Selection> {
        if let Some(start) = selection.start.get_mut(self.dim) {
            *start = self.end_of(*start)?;
        }
        Ok(selection)
    }

    /// Returns the lengths that the target needs for a source with these.
    pub(crate) fn reached(self, shape: &[u64]) -> Result<Vec<u64>> {
        let mut shape = shape.to_vec();
        if let Some(len) = shape.get_mut(self.dim) {
            *len = self.end_of(*len)?;
        }
        Ok(shape)
    }

    /// Returns where so many elements behind the shift end.
    fn end_of(self, len: u64) -> Result<u64> {
        len.checked_add(self.by).ok_or_else(|| Error::new(Code::EINVAL, TOO_MANY))
    }
}

/// Copies the data of variables, using at most about `budget` bytes of memory, or 128 MiB for what is stored in blocks.
/// `progress` is told of each number of bytes that was copied.
///
/// `progress` is called while the files are locked: it must not use them. Fails with `NC_ERANGE` if a number does not fit
/// in the target's type, with `NC_EINVAL` if shapes differ.
pub fn copy_data(
    from: &File,
    to: &FileMut,
    pairs: &[Pair],
    budget: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    to.commit()?;
    let pairs: Vec<(Pair, Shift)> = pairs.iter().map(|&pair| (pair, Shift::default())).collect();
    copy_shifted(from, to, &pairs, budget, progress)
}

/// Copies the data of variables as [`copy_data`] does, each behind elements that the target has already. A shift is along an unlimited
/// dimension of the target.
pub(crate) fn copy_shifted(
    from: &File,
    to: &FileMut,
    pairs: &[(Pair, Shift)],
    budget: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    if from.is_same_file(to) {
        return Err(Error::new(Code::EINVAL, "a file cannot be copied to itself"));
    }
    // Not `commit`, which may flush as well: of many files each would write the indexes anew.
    to.named(to.write_state().commit())?;
    from.complete()?;
    let (source, target) = (from.model(), to.model());
    for &((from_var, to_var), _) in pairs {
        check_shapes(&source, &target, from_var, to_var)?;
    }
    let (numbers, trees): (Vec<_>, Vec<_>) =
        pairs.iter().partition(|&&((var, to_var), _)| are_numbers((&source, var), (&target, to_var)));
    for (pair, shift) in trees {
        copy_trees(from, to, (pair, shift), budget)?;
    }
    let mut rest: Vec<Job> = vec![];
    for (pair, shift) in numbers {
        let job = Job::new(from, pair, shift)?;
        if !copy_each_chunk(from, to, job, progress)? {
            rest.push(job);
        }
    }
    // Only the records of classic files lie together.
    let is_record = |job: &Job| source.format().is_classic_file() && source.is_record(job.pair.0);
    rest.retain(|job| !source.shape(job.pair.0).contains(&0));
    let (records, fixed): (Vec<Job>, Vec<Job>) = rest.into_iter().partition(is_record);
    // Only the engine knows what stands for bytes that are not there.
    let whole = from.missing_bytes()? == 0;
    for &job in &fixed {
        let copied = whole && move_fixed(from, to, job, progress)?;
        if !copied {
            copy_whole(from, to, job, budget, progress)?;
        }
    }
    let copied = whole && move_records(from, to, &records, progress)?;
    if !copied {
        copy_rows(from, to, &records, budget, progress)?;
    }
    Ok(())
}

/// True if a variable is copied as numbers or text: not one of strings or of a user-defined type, but for one of the same
/// enumeration in both files.
fn are_numbers((source, from): (&Model, VarId), (target, to): (&Model, VarId)) -> bool {
    match (source.var(from).ty, target.var(to).ty) {
        (Type::Atomic(atomic), _) => atomic != Atomic::String,
        (Type::User(from), Type::User(to)) => {
            let class = &source.user_type(from).class;
            matches!(class, Class::Enum { .. }) && *class == target.user_type(to).class
        }
        (Type::User(_), Type::Atomic(_)) => false,
    }
}

fn check_shapes(source: &Model, target: &Model, from: VarId, to: VarId) -> Result<()> {
    let (from_shape, mut to_shape) = (source.shape(from), target.shape(to));
    for (place, &dim) in target.var(to).dims.iter().enumerate() {
        if let (true, Some(&len)) = (target.dim(dim).unlimited, from_shape.get(place)) {
            to_shape[place] = len;
        }
    }
    if from_shape == to_shape {
        return Ok(());
    }
    let what = format!("{} of shape {from_shape:?} does not fit {to_shape:?}", source.var_path(from));
    Err(Error::new(Code::EINVAL, what))
}

/// Where a variable's bytes lie: first byte, bytes per step of the first dimension, bytes of what lies in one step.
struct Bytes {
    begin: u64,
    step: u64,
    slab: u64,
    stored: Stored,
}

/// The bytes of a variable in its file, if one step of its first dimension is one run.
fn bytes_of(state: &State, var: VarId) -> Result<Option<Bytes>> {
    let array = state.array(var)?;
    let plain = array.decoder.is_none() && !state.is_external(var)?;
    Ok(run_of(array).filter(|_| plain))
}

fn run_of(array: &Array) -> Option<Bytes> {
    let Layout::Strided { begin, strides: steps } = &array.layout else { return None };
    let mut size = array.stored.kind.size() as u64;
    for (&step, &len) in steps.iter().zip(&array.shape).skip(1).rev() {
        if step != size {
            return None;
        }
        size = size.checked_mul(len)?;
    }
    let step = steps.first().copied().unwrap_or(size);
    Some(Bytes { begin: *begin, step, slab: size, stored: array.stored })
}

/// Moves a variable that is one run of bytes in both files. `false` if it is not, or does not begin where the target does.
fn move_fixed(from: &File, to: &FileMut, job: Job, progress: &mut dyn FnMut(u64)) -> Result<bool> {
    let (from_var, to_var) = job.pair;
    if job.shift.by != 0 {
        return Ok(false);
    }
    let (source, mut target) = lock_both(from, to);
    let (Some(a), Some(b)) = (bytes_of(&source, from_var)?, bytes_of(&target, to_var)?) else {
        return Ok(false);
    };
    if target.model().is_record(to_var) || a.stored != b.stored || a.step != a.slab || b.step != b.slab {
        return Ok(false);
    }
    let shape = target.model().shape(to_var);
    let steps = shape.first().copied().unwrap_or(1);
    mark_written(&mut target, to_var)?;
    move_bytes(from, &source, to, &target, (a.begin, b.begin, a.slab * steps), progress)?;
    Ok(true)
}

/// Moves whole records, if they look the same in both files. `false` if they do not.
fn move_records(from: &File, to: &FileMut, jobs: &[Job], progress: &mut dyn FnMut(u64)) -> Result<bool> {
    let Some(&Job { pair: (first, to_first), shift, .. }) = jobs.first() else { return Ok(true) };
    if jobs.iter().any(|job| (job.shift.dim, job.shift.by) != (0, shift.by)) {
        return Ok(false);
    }
    let (source, mut target) = lock_both(from, to);
    let records = source.model().shape(first)[0];
    let of_target = target.model().clone();
    if of_target.var_ids().filter(|&var| of_target.is_record(var)).count() != jobs.len() {
        return Ok(false);
    }
    let mut origin = None;
    for &Job { pair: (from_var, to_var), .. } in jobs {
        let (Some(a), Some(b)) = (bytes_of(&source, from_var)?, bytes_of(&target, to_var)?) else {
            return Ok(false);
        };
        let (a_first, b_first) = *origin.get_or_insert((a.begin, b.begin));
        let same_place = a.begin.wrapping_sub(a_first) == b.begin.wrapping_sub(b_first);
        if !of_target.is_record(to_var) || a.stored != b.stored || a.step != b.step || !same_place {
            return Ok(false);
        }
    }
    drop(of_target);
    target.grow(to_first, shift.end_of(records)?)?;
    for &Job { pair: (_, to_var), .. } in jobs {
        mark_written(&mut target, to_var)?;
    }
    let (begin, to_begin) = origin.expect("there is a first pair");
    let step = match bytes_of(&target, to_first)? {
        Some(bytes) => bytes.step,
        None => return Ok(false),
    };
    let to_begin = step.checked_mul(shift.by).and_then(|moved| to_begin.checked_add(moved));
    let to_begin = to_begin.ok_or_else(|| Error::new(Code::EINVAL, TOO_MANY))?;
    move_bytes(from, &source, to, &target, (begin, to_begin, step * records), progress)?;
    Ok(true)
}

/// Copies the chunks of a variable one by one, if both files have the same chunks: as they are stored if the filters agree.
/// `false` if they do not.
fn copy_each_chunk(from: &File, to: &FileMut, job: Job, progress: &mut dyn FnMut(u64)) -> Result<bool> {
    let (from_var, to_var) = job.pair;
    let (source, mut target) = lock_both(from, to);
    let (array, blob) = source.located(from_var)?;
    if !matches!(array.layout, Layout::Chunked(_)) {
        return Ok(false);
    }
    // What nobody wrote is told in the source; in a target without fill values it would be whatever memory held.
    let storage = &target.model().var(to_var).storage;
    if storage.no_fill && storage.fill.is_none() && job.has_unwritten {
        return Ok(false);
    }
    grow(&mut target, to_var, &job.shift.reached(&array.shape)?)?;
    // The numbers of the source are not rounded as those of a target with a rounding are.
    let Some(ChunkTarget { array: chunks, rounding: None }) = target.chunks_to_write(to_var)? else {
        return Ok(false);
    };
    let Some(chunks) = behind(&target, chunks, (&array.shape, job.shift))? else { return Ok(false) };
    let copied = skipping_zeros(target.blob_mut()?, job.skips_zeros, |to_blob| {
        copy_chunks((blob, array), (to_blob, &chunks), progress)
    });
    copied.map_err(|error| between(from, to, in_variable(error, source.model(), from_var)))
}

/// Returns the part of an array that gets the chunks of a source of this shape; `None` if it begins within a chunk.
fn behind(target: &State, array: Array, (shape, shift): (&[u64], Shift)) -> Result<Option<Array>> {
    let Shift { dim, by } = shift;
    if by == 0 {
        return Ok(Some(array));
    }
    flush(target.blob_mut()?, &array)?;
    let Layout::Chunked(chunks) = &array.layout else { return Ok(None) };
    let first = chunks.shape.get(dim).filter(|&&len| by.is_multiple_of(len)).map(|len| by / len);
    let behind = first.and_then(|first| chunks.from_chunk(dim, first));
    Ok(behind.map(|behind| Array { shape: shape.to_vec(), layout: Layout::Chunked(behind), ..array }))
}

/// Bytes that a value which is a tree is taken to have.
const TREE: u64 = 256;

/// Copies a variable of strings or of a user-defined type, some rows at a time.
fn copy_trees(from: &File, to: &FileMut, ((var, to_var), shift): (Pair, Shift), budget: usize) -> Result<()> {
    let shape = from.model().shape(var);
    let ty = to.model().var(to_var).ty;
    let rows = shape.first().copied().unwrap_or(1);
    let row = shape.iter().skip(1).fold(1u64, |count, &len| count.saturating_mul(len));
    let block = (budget as u64 / row.saturating_mul(TREE).max(1)).clamp(1, rows.max(1));
    let mut at = 0;
    while at < rows && row > 0 {
        let mut selection = Selection::all(&shape);
        if let (Some(start), Some(count)) = (selection.start.first_mut(), selection.count.first_mut()) {
            (*start, *count) = (at, block.min(rows - at));
        }
        let values = match (from.read_selected(var, &selection)?, ty) {
            (Values::User(_, list), Type::User(id)) => Values::User(id, list),
            (values, _) => values,
        };
        let _exact = to.write_trees(to_var, &shift.moved(selection)?, &values)?;
        at += block;
    }
    Ok(())
}

/// Locks the source for reading and the target for writing, in an order that depends on nothing but the files, so that
/// two copies in opposite directions cannot wait for each other.
fn lock_both<'a>(
    from: &'a File,
    to: &'a FileMut,
) -> (RwLockReadGuard<'a, State>, RwLockWriteGuard<'a, State>) {
    if from.address() < to.address() {
        let source = from.read_state();
        return (source, to.write_state());
    }
    let target = to.write_state();
    (from.read_state(), target)
}

/// Tells the target that all elements of a variable are about to be written.
fn mark_written(target: &mut State, var: VarId) -> Result<()> {
    let shape = target.model().shape(var);
    if shape.contains(&0) {
        return Ok(());
    }
    target.note_written(var, Span::of(&shape, &Selection::all(&shape)))
}

fn move_bytes(
    from: &File,
    source: &State,
    to: &FileMut,
    target: &State,
    (at, to_at, len): (u64, u64, u64),
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let (source, target) = (source.driver().blob(), target.blob_mut()?);
    skipping_zeros(target, is_sparse(from.path()), |copied| {
        let mut done = 0;
        while done < len {
            let part = (len - done).min(REPORTED);
            ferrocdf_array::copy_bytes(source, at + done, copied, to_at + done, part)
                .map_err(|error| between(from, to, error))?;
            done += part;
            progress(part);
        }
        Ok(())
    })?;
    // Zeros at the end were left out as well.
    if target.size()? < to_at + len { target.set_size(to_at + len) } else { Ok(()) }
}

/// An error of what is moved without being read and written, which names both files.
fn between(from: &File, to: &FileMut, error: Error) -> Error {
    error.at(format_args!("{} to {}", from.path().display(), to.path().display()))
}

/// Bytes moved between two words to the progress.
const REPORTED: u64 = 64 << 20;

/// Bytes of memory for copying chunked data, in [`BUFFERS`] boxes: enough chunks to keep all threads busy. What a hostile file can make a copy
/// take besides (kept decoders and windows, a chunk for each thread) leaves room for no more within 150 MB.
const IN_BLOCKS: u64 = 64 << 20;

/// Copies variables a block of rows at a time, the same rows of each in turn.
fn copy_rows(
    from: &File,
    to: &FileMut,
    jobs: &[Job],
    budget: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let model = from.model();
    let Some(&Job { pair: (first, _), .. }) = jobs.first() else { return Ok(()) };
    let rows = model.shape(first).first().copied().unwrap_or(1);
    let (mut all, mut unit, mut most) = (0u64, 1, budget as u64 / BUFFERS);
    for &Job { pair: (var, to_var), .. } in jobs {
        let size = model.atomic_type(var)?.size() as u64;
        // A row is what lies along all dimensions but the first.
        let row = model.shape(var).iter().skip(1).fold(size, |bytes, &len| bytes.saturating_mul(len));
        all = all.saturating_add(row);
        if let Some(&[rows, ..]) = blocks_of(&to.read_state(), to_var)?.as_deref() {
            unit = tiles::multiple(unit, rows);
            most = most.max(IN_BLOCKS / BUFFERS);
        }
    }
    let mut block = (most / all.max(1)).clamp(1, rows.max(1));
    if unit <= block {
        block -= block % unit;
    }
    let model = &model;
    let blocks = (0..rows.div_ceil(block)).map(|number| number * block);
    let pieces = blocks.flat_map(|row| {
        jobs.iter().flat_map(move |&job| {
            let mut whole = Selection::all(&model.shape(job.pair.0));
            if let (Some(start), Some(len)) = (whole.start.first_mut(), whole.count.first_mut()) {
                (*start, *len) = (row, block.min(rows - row));
            }
            let unit = vec![1; whole.count.len()];
            let tiles = Tiles::new(whole, &unit, most / job.kind.size() as u64);
            tiles.map(move |selection| Ok(Piece { job, selection, is_left_out: false }))
        })
    });
    pipe(from, to, pieces, (rows.saturating_mul(all), most), progress)
}

/// Copies one variable, whole blocks of both files at a time.
fn copy_whole(
    from: &File,
    to: &FileMut,
    job: Job,
    budget: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let pair = job.pair;
    let blocks = [blocks_of(&from.read_state(), pair.0)?, blocks_of(&to.read_state(), pair.1)?];
    let (shape, size) = (from.model().shape(pair.0), job.kind.size() as u64);
    let [source, target] =
        blocks.each_ref().map(|blocks| blocks.as_deref().filter(|of| of.len() == shape.len()));
    let stored_in_blocks = source.or(target).is_some();
    let most = if stored_in_blocks { IN_BLOCKS.max(budget as u64) } else { budget as u64 } / BUFFERS;
    let unit = tiles::unit(&shape, source, target, most / size);
    let bytes = shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let gaps = if job.has_unwritten { Gaps::find(from, to, job)? } else { None };
    if let Some(gaps) = &gaps
        && gaps.leaves_out(from, pair.0, &Selection::all(&shape))? == Some(true)
    {
        progress(bytes);
        return Ok(());
    }
    // Boxes before tiles: a huge variable with few elements has too many tiles to look at each.
    let boxes = Boxes::new(from, pair.0, gaps.as_ref(), Selection::all(&shape));
    let pieces = boxes.flat_map(|next| {
        let (left_out, stored) = match next {
            Ok((selection, true)) => (Some(Ok(Piece { job, selection, is_left_out: true })), None),
            Ok((selection, false)) => (None, Some(Tiles::new(selection, &unit, most / size))),
            Err(error) => (Some(Err(error)), None),
        };
        let stored = stored.into_iter().flatten();
        left_out.into_iter().chain(stored.map(|selection| Ok(Piece { job, selection, is_left_out: false })))
    });
    pipe(from, to, pieces, (bytes, most), progress)
}

/// The shape of the blocks of a variable, if it is stored in blocks.
fn blocks_of(state: &State, var: VarId) -> Result<Option<Vec<u64>>> {
    match &state.array(var)?.layout {
        Layout::Chunked(blocks) => Ok(Some(blocks.shape.clone())),
        _ => Ok(None),
    }
}
