//! Which chunks and filters a repacked file has.

use std::collections::HashMap;

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::spec::Spec;
use ferrocdf::{Code, Error, GroupId, Model, Owner, Result, Values, VarId};

use crate::nccopy::filterspec::FilterSpec;

/// Bytes of a chunk, before the filters, that CMIP7 asks for.
pub const CMIP7_CHUNK: u64 = 4 << 20;
/// Deflation level of variables that had no filters.
const LEVEL: u32 = 4;

/// What is wished for the chunks.
#[derive(Debug, Default)]
pub struct ChunkWishes {
    /// Chunk shapes by the paths of variables.
    pub shapes: Vec<(String, Vec<u64>)>,
    /// Bytes of chunks, before the filters, below which they are made larger.
    pub least: Option<u64>,
    /// Whether the file is to follow the rules of CMIP7.
    pub cmip7: bool,
}

/// The chunk shapes of variables that get others, and their filters.
#[derive(Debug, Default, PartialEq)]
pub struct ChunkPlan {
    pub chunk_shapes: HashMap<VarId, Vec<u64>>,
    pub filters: Vec<FilterSpec>,
}

/// Plans the chunks of all variables of a file.
///
/// # Errors
/// `NC_ENOTVAR` for a name that no variable has; `NC_EINVAL` for a shape that does not fit its variable.
pub fn plan(model: &Model, wishes: &ChunkWishes) -> Result<ChunkPlan> {
    let mut plan = ChunkPlan::default();
    for (name, shape) in &wishes.shapes {
        plan.chunk_shapes.insert(named(model, name, shape)?, shape.clone());
    }
    let whole = if wishes.cmip7 { time_and_bounds(model) } else { vec![] };
    let least = wishes.least.max(wishes.cmip7.then_some(CMIP7_CHUNK));
    for var in model.var_ids() {
        let Some(Chunking::Chunked(chunk)) = &model.var(var).storage.chunking else { continue };
        if !can_rechunk(model, var) {
            continue;
        }
        let (shape, size) = (model.shape(var), model.size_of(model.var(var).ty) as u64);
        let other = match least {
            _ if plan.chunk_shapes.contains_key(&var) => None,
            _ if whole.contains(&var) => Some(shape.iter().map(|&len| len.max(1)).collect()),
            Some(least) => Some(grown(chunk, &shape, size, least)),
            None => None,
        };
        if let Some(other) = other.filter(|other| other != chunk && bytes(other, size) < u64::from(u32::MAX))
        {
            plan.chunk_shapes.insert(var, other);
        }
        if wishes.cmip7 && model.var(var).storage.filters.is_empty() {
            let filters = [(Filter::SHUFFLE, vec![]), (Filter::DEFLATE, vec![LEVEL])];
            let filters = filters.map(|(id, params)| Spec { id: id.into(), params });
            plan.filters.push(FilterSpec::of_variable(&model.var_path(var), filters.to_vec()));
        }
    }
    Ok(plan)
}

/// Finds the variable that gets chunks of a shape.
fn named(model: &Model, name: &str, shape: &[u64]) -> Result<VarId> {
    let failed = |code, what: String| Error::new(code, what).at(format_args!("--chunks {name}"));
    let var = model.find_var_at(name.as_bytes());
    let var = var.ok_or_else(|| failed(Code::ENOTVAR, "there is no such variable".to_string()))?;
    if !can_rechunk(model, var) {
        let what = "its filters round values anew, or are not installed, so it keeps its chunks";
        return Err(failed(Code::EINVAL, what.to_string()));
    }
    let rank = model.var(var).dims.len();
    match shape.len() == rank && rank > 0 && !shape.contains(&0) {
        true => Ok(var),
        false => Err(failed(Code::EINVAL, format!("{shape:?} is no chunk shape for {rank} dimensions"))),
    }
}

/// The variable `time` of the root group and its bounds, as CMIP7 finds them.
fn time_and_bounds(model: &Model) -> Vec<VarId> {
    let Some(time) = model.find_var(GroupId::ROOT, b"time") else { return vec![] };
    let bounds = model.attrs(Owner::Var(time)).iter().find(|attr| attr.name == "bounds");
    let bounds = bounds.and_then(|attr| match &attr.value {
        Values::Char(text) => Some(text.clone()),
        Values::String(texts) => texts.first().cloned().flatten(),
        _ => None,
    });
    let bounds = bounds.and_then(|name| model.find_var(GroupId::ROOT, name.trim_ascii()));
    [time].into_iter().chain(bounds).collect()
}

/// Filters that give back each value exactly, whatever the chunk.
const LOSSLESS: [u32; 11] = [
    Filter::DEFLATE,
    Filter::SHUFFLE,
    Filter::FLETCHER32,
    Filter::SZIP,
    Filter::NBIT,
    Filter::BZIP2,
    LZF,
    Filter::BLOSC,
    Filter::LZ4,
    Filter::BITSHUFFLE,
    Filter::ZSTD,
];
const LZF: u32 = 32000;

/// True if other chunks have the same values: the filters lose nothing when they encode decoded values again, and are installed.
fn can_rechunk(model: &Model, var: VarId) -> bool {
    let storage = &model.var(var).storage;
    let is_bound =
        |filter: &Filter| !LOSSLESS.contains(&filter.id) || !ferrocdf::plugins::has_filter(filter.id);
    model.is_flat(model.var(var).ty)
        && storage.named_codecs.is_empty()
        && !storage.filters.iter().any(is_bound)
}

fn bytes(chunk: &[u64], size: u64) -> u64 {
    chunk.iter().fold(size, |bytes, &len| bytes.saturating_mul(len))
}

/// A chunk of at least `least` bytes that is made of whole chunks of another shape: as many along the first dimension as are needed, and
/// if there are too few, along the next ones.
fn grown(chunk: &[u64], shape: &[u64], size: u64, least: u64) -> Vec<u64> {
    let mut grown = chunk.to_vec();
    for dim in 0..grown.len() {
        let present = bytes(&grown, size);
        if present == 0 || present >= least {
            break;
        }
        let len = grown[dim].saturating_mul(least.div_ceil(present));
        grown[dim] = len.min(shape[dim]).max(grown[dim]);
    }
    grown
}

#[cfg(test)]
mod tests {
    use ferrocdf::{Atomic, Attr, Format, Name};

    use super::*;

    #[test]
    fn chunks_grow_along_the_first_dimension_first() {
        assert_eq!(grown(&[1, 144, 192], &[1800, 144, 192], 4, 4 << 20), [38, 144, 192]);
        assert_eq!(grown(&[5, 144, 192], &[1800, 144, 192], 4, 4 << 20), [40, 144, 192]);
        assert_eq!(grown(&[1, 10, 10], &[5, 1000, 1000], 4, 4 << 20), [5, 1000, 210]);
        assert_eq!(grown(&[512], &[1000], 8, 4 << 20), [1000]);
        assert_eq!(grown(&[2000], &[1000], 8, 4 << 20), [2000]);
        assert_eq!(grown(&[1, 1 << 20], &[9, 1 << 20], 4, 4 << 20), [1, 1 << 20]);
    }

    #[test]
    fn time_and_its_bounds_are_one_chunk_and_all_is_deflated() {
        let mut model = Model::new(Format::NETCDF4);
        let time = model.def_dim(GroupId::ROOT, "time", Some(1800)).unwrap();
        let two = model.def_dim(GroupId::ROOT, "bnds", Some(2)).unwrap();
        let def = |model: &mut Model, name: &str, dims: &[_], chunk: &[u64]| {
            let var = model.def_var(GroupId::ROOT, name, Atomic::Double.into(), dims).unwrap();
            model.var_mut(var).storage.chunking = Some(Chunking::Chunked(chunk.to_vec()));
            var
        };
        let axis = def(&mut model, "time", &[time], &[1]);
        let bounds = def(&mut model, "time_bnds", &[time, two], &[1, 2]);
        let mean = def(&mut model, "mean", &[time], &[512]);
        model
            .copy_attr(
                Owner::Var(axis),
                Attr::new(Name::stored(b"bounds"), Values::Char(b"time_bnds".to_vec())),
            )
            .unwrap();
        let cmip7 = plan(&model, &ChunkWishes { cmip7: true, ..ChunkWishes::default() }).unwrap();
        let shapes = [(axis, vec![1800]), (bounds, vec![1800, 2]), (mean, vec![1800])];
        assert_eq!(cmip7.chunk_shapes, HashMap::from(shapes));
        assert_eq!(cmip7.filters.len(), 3);
        let given = ChunkWishes { shapes: vec![("mean".to_string(), vec![600])], ..ChunkWishes::default() };
        assert_eq!(plan(&model, &given).unwrap().chunk_shapes, HashMap::from([(mean, vec![600])]));
        assert_eq!(plan(&model, &ChunkWishes::default()).unwrap(), ChunkPlan::default());
        for (name, shape, code) in [("none", vec![1], Code::ENOTVAR), ("mean", vec![1, 1], Code::EINVAL)] {
            let wrong = ChunkWishes { shapes: vec![(name.to_string(), shape)], ..ChunkWishes::default() };
            assert_eq!(plan(&model, &wrong).unwrap_err().code, code);
        }
        // CMIP7's size of chunks is not made smaller.
        let smaller = ChunkWishes { cmip7: true, least: Some(1000), ..ChunkWishes::default() };
        assert_eq!(plan(&model, &smaller).unwrap().chunk_shapes, cmip7.chunk_shapes);
        model.var_mut(mean).storage.set_filter(Filter::SCALE_OFFSET, vec![0, 1]);
        assert!(!plan(&model, &smaller).unwrap().chunk_shapes.contains_key(&mean));
        let error = plan(&model, &given).unwrap_err();
        assert!(error.what.contains("round values anew"), "{error}");
    }
}
