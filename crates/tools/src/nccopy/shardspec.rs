//! Shards of the copy (`--shards`): shapes along dimensions, as in a chunk specification.

use ferrocdf::model::Chunking;
use ferrocdf::{Code, Container, Error, Model, Result, VarId};

use super::chunkspec;

/// Checks a specification: `dim1/n1,dim2/n2,...`.
///
/// # Errors
/// Those of [`chunkspec::check`] for dimensions; `NC_EINVAL` for other specifications.
pub fn check(model: &Model, spec: &[u8]) -> Result<()> {
    if !spec.contains(&b'/') || spec.contains(&b':') {
        let what = format!(
            "--shards \"{}\": the length of shards along dimensions is wanted, as in time/100,lat/720",
            String::from_utf8_lossy(spec)
        );
        return Err(Error::new(Code::EINVAL, what));
    }
    chunkspec::check(model, spec).map_err(|error| error.at("--shards"))
}

/// Chooses the shards of a variable of the target: those that `spec` says, else those of the source if they consist of whole chunks. Sets
/// the chunk shape where there are shards.
///
/// # Errors
/// `NC_EINVAL` if the shards that are asked for do not consist of whole chunks.
pub fn choose(
    source: &Model,
    var: VarId,
    (target, to): (&mut Model, VarId),
    spec: Option<&[u8]>,
) -> Result<()> {
    let storage = &target.var(to).storage;
    let (kept, has_shards) = (storage.shards.clone(), target.format().container() == Container::ZarrV3);
    // Text and lists are not written in shards.
    if !has_shards || !target.is_flat(target.var(to).ty) || target.var(to).dims.is_empty() {
        target.var_mut(to).storage.shards = None;
        return Ok(());
    }
    let given = match &storage.chunking {
        Some(Chunking::Chunked(shape)) => shape.clone(),
        _ => vec![],
    };
    let chunks: Vec<u64> =
        ferrocdf::chosen_chunks(target, to, &given).into_iter().map(|len| len.max(1)).collect();
    let asked = spec.and_then(|spec| chunkspec::lengths(source, var, spec));
    let shards = match asked {
        Some(asked) => {
            let shards: Vec<u64> =
                asked.iter().zip(&chunks).map(|(len, &chunk)| len.unwrap_or(chunk)).collect();
            if !are_whole(&shards, &chunks) {
                let what = format!(
                    "shards of shape {shards:?} do not consist of whole chunks of shape {chunks:?} (-c)"
                );
                return Err(Error::new(Code::EINVAL, what).at_path(source.var_path(var)));
            }
            Some(shards)
        }
        None => kept.filter(|shards| are_whole(shards, &chunks) && !is_large(target, to, shards)),
    };
    let storage = &mut target.var_mut(to).storage;
    if shards.is_some() {
        storage.chunking = Some(Chunking::Chunked(chunks));
    }
    storage.shards = shards;
    Ok(())
}

/// Most bytes of a shard that is kept unasked: a shard is written whole, from memory.
const MAX_KEPT: u64 = 256 << 20;

fn is_large(model: &Model, var: VarId, shards: &[u64]) -> bool {
    let size = model.size_of(model.var(var).ty) as u64;
    shards.iter().fold(size, |bytes, &len| bytes.saturating_mul(len)) > MAX_KEPT
}

/// Returns a line if a variable is copied without the shards of its source, since they are too large.
pub fn warning(source: &Model, target: &Model, (var, to): (VarId, VarId)) -> Option<String> {
    let shards = source.var(var).storage.shards.as_ref().filter(|shards| is_large(source, var, shards))?;
    let can_have =
        target.format().container() == Container::ZarrV3 && target.var(to).storage.shards.is_none();
    let path = source.var_path(var);
    can_have.then(|| {
        format!("{path}: copied without its shards of shape {shards:?}, which take much memory; --shards makes them")
    })
}

fn are_whole(shards: &[u64], chunks: &[u64]) -> bool {
    shards.len() == chunks.len()
        && shards.iter().zip(chunks).all(|(&shard, &chunk)| shard > 0 && shard % chunk == 0)
}
