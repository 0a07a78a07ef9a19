//! The coordinator's side: the encoded chunks of all parts become those of one file.

use std::collections::BTreeMap;
use std::sync::Arc;

use ferrocdf_array::{
    Array, ChunkIndex, ChunkLocation, Chunks, Coverage, Index, Layout, Selection, copy_chunks, coverage,
    unwritten_value,
};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Model, VarId};
use ferrocdf_store::{ReadAhead, WriteBehind};

use super::draft::Draft;
use super::format::{PartChunk, PartVariable};
use super::merged::{MergedIndex, PartsBlob};
use super::source;
use super::table::ChunkTable;
use super::writer::{encoded_chunks, is_plain, read_plan, storage_text};
use crate::data::grow;
use crate::driver::ChunkTarget;
use crate::file::State;
use crate::variable_errors::in_variable;
use crate::{FileMut, Location};

/// What a file was joined of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The number of parts.
    pub parts: u64,
    /// The number of chunks of all parts.
    pub chunks: u64,
    /// The encoded bytes of these chunks.
    pub bytes: u64,
}

/// Makes a netCDF-4 file of a plan and the parts that were written for it. Chunks are moved as they are encoded. Chunks that no part has are those of
/// the plan: without data there, their elements have the fill value. An unlimited dimension becomes as long as a part needs.
///
/// The file appears at its location when it is complete, in place of one that is there. A part that is given twice counts once.
///
/// # Errors
/// `NC_ETRUNC` for what is not a complete part; `NC_EINVAL` if two parts have the same chunk, if a part was made for another plan, and for chunks of
/// a variable that has data in the plan; those of the system and the store. Nothing appears then.
pub fn join(plan: &Location, parts: &[Location], target: &Location) -> Result<Joined> {
    let (bytes, plan_file) = read_plan(plan)?;
    let model = plan_file.model();
    // Gives its memory back before data is moved.
    drop(plan_file);
    let (blob, variables, joined) = merge(&model, parts)?;
    let draft = Draft::new(target)?;
    draft.blob().write_at(0, &bytes)?;
    drop(bytes);
    let buffered = Box::new(WriteBehind::new(ReadAhead::new(draft.blob())));
    let file = FileMut::append_in_place(buffered, target, &Default::default())?;
    let copied = copy(&mut file.write_state(), &blob, variables);
    copied.map_err(|error| error.at(target.name().display()))?;
    file.close()?;
    draft.finish()?;
    Ok(joined)
}

/// The chunks of one variable in all parts.
struct MergedVariable {
    shape: Index,
    /// The storage, and the part that says so, of which all are to be alike.
    storage: (String, Location),
    chunks: ChunkTable,
}

type Merged = BTreeMap<VarId, MergedVariable>;

/// Reads the indexes of all parts.
fn merge(model: &Model, parts: &[Location]) -> Result<(PartsBlob, Merged, Joined)> {
    let (mut all, mut variables, mut joined) = (PartsBlob::new(), Merged::new(), Joined::default());
    let mut seen = std::collections::HashSet::new();
    for part in parts {
        let is_named = matches!(part, Location::Path(_) | Location::Object { .. } | Location::Url(_));
        if is_named && !seen.insert(part.name()) {
            continue;
        }
        let blob = source::blob(part)?;
        let index = source::index(part, &*blob)?;
        let first = all.push(part.clone(), &*blob)?;
        joined.parts += 1;
        for variable in index.variables {
            let added = add(model, &mut variables, variable, (&all, first, part), &mut joined);
            added.map_err(|error| error.at(part.name().display()))?;
        }
    }
    Ok((all, variables, joined))
}

/// Adds the chunks of a variable in a part, whose first byte is at position `first` among those of all parts.
fn add(
    model: &Model,
    variables: &mut Merged,
    PartVariable { path, storage, shape, chunks }: PartVariable,
    (all, first, part): (&PartsBlob, u64, &Location),
    joined: &mut Joined,
) -> Result<()> {
    let wrong = |what: String| Error::new(Code::EINVAL, what).at_path(&path);
    let found = model.find_var_at(path.as_bytes()).filter(|&var| is_plain(model, var));
    let Some(var) = found else {
        return Err(wrong("the plan has no such variable: the part was made for another plan".to_string()));
    };
    let planned = model.shape(var);
    let dims = &model.var(var).dims;
    let fits = |(dim, &len): (usize, &u64)| {
        len == planned[dim] || len > planned[dim] && model.dim(dims[dim]).unlimited
    };
    if shape.len() != planned.len() || !shape.iter().enumerate().all(fits) {
        let what =
            format!("shape {shape:?}, where the plan has {planned:?}: the part was made for another plan");
        return Err(wrong(what));
    }
    let merged = variables.entry(var).or_insert_with(|| MergedVariable {
        shape: Index::from_slice(&planned),
        storage: (storage.clone(), part.clone()),
        chunks: ChunkTable::default(),
    });
    if merged.storage.0 != storage {
        let (other, of) = (&merged.storage.0, merged.storage.1.name());
        return Err(wrong(format!("the part stores {storage}, and {} {other}", of.display())));
    }
    merged.shape.iter_mut().zip(&shape).for_each(|(len, &needed)| *len = needed.max(*len));
    for PartChunk { coordinates, location } in chunks {
        let ChunkLocation::At { at, len, mask } = location else { continue };
        joined.chunks += 1;
        joined.bytes += len;
        let moved = ChunkLocation::At { at: first.saturating_add(at), len, mask };
        let before = merged.chunks.0.insert(coordinates.clone(), moved);
        let Some(ChunkLocation::At { at, .. }) = before else { continue };
        let other = all.part_at(at).map(|part| part.name().display().to_string()).unwrap_or_default();
        return Err(wrong(format!(
            "chunk {coordinates:?} is in the part {other} as well; write each chunk to one part"
        )));
    }
    Ok(())
}

/// Copies the chunks to the file.
fn copy(state: &mut State, blob: &PartsBlob, variables: Merged) -> Result<()> {
    for (&var, MergedVariable { shape, .. }) in &variables {
        grow(state, var, shape)?;
    }
    for (var, merged) in variables {
        let copied = copy_variable(state, blob, var, merged);
        copied.map_err(|error| in_variable(error, state.model(), var))?;
    }
    Ok(())
}

fn copy_variable(state: &mut State, blob: &PartsBlob, var: VarId, merged: MergedVariable) -> Result<()> {
    let MergedVariable { storage, chunks: table, .. } = merged;
    if table.0.is_empty() {
        return Ok(());
    }
    let Some((ChunkTarget { array: to, .. }, chunks)) = encoded_chunks(state, var)? else {
        return Err(Error::new(
            Code::EINVAL,
            "the variable has no chunks in the plan: the parts were made for another one",
        ));
    };
    let wrong = |what: String| Err(Error::new(Code::EINVAL, what));
    let planned = storage_text(&to, &chunks);
    if storage.0 != planned {
        let part = storage.1.name();
        return wrong(format!(
            "the part {} stores {}, where the plan has {planned}",
            part.display(),
            storage.0
        ));
    }
    let value = unwritten_value(&to)?.unwrap_or_else(|| vec![0; to.stored.kind.size()]);
    if coverage(&to, &Selection::all(&to.shape), (to.stored.kind, &value))? != Coverage::Nothing {
        return wrong(
            "the variable has data in the plan, and chunks in parts: write it to one of both".to_string(),
        );
    }
    let grid: Vec<u64> =
        to.shape.iter().zip(&chunks.shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let size = chunks.shape.iter().fold(to.stored.kind.size() as u64, |size, &len| size.saturating_mul(len));
    for (coordinates, location) in &table.0 {
        let ChunkLocation::At { at, len, mask } = *location else { continue };
        let problem = if coordinates.iter().zip(&grid).any(|(at, len)| at >= len) {
            format!("is outside of the shape {:?}", to.shape)
        } else if chunks.chain.is_identity(mask) && len != size {
            format!("has {len} bytes, where an unfiltered chunk has {size}")
        } else {
            continue;
        };
        let part = blob.part_at(at).map(|part| part.name().display().to_string()).unwrap_or_default();
        return wrong(format!("chunk {coordinates:?} of the part {part} {problem}"));
    }
    let index: Arc<dyn ChunkIndex> = Arc::new(MergedIndex { grid, chunks: table });
    let from = Chunks::new(chunks.shape.clone(), index, chunks.chain.clone(), chunks.fill.clone());
    let from = Array { layout: Layout::Chunked(from), ..to.clone() };
    match copy_chunks((blob, &from), (state.blob_mut()?, &to), &mut |_| {})? {
        true => Ok(()),
        false => Err(Error::new(Code::EINTERNAL, "encoded chunks cannot be moved to the file")),
    }
}
