//! From the parser to a file.

use std::io::Write;
use std::ops::Range;

use ferrocdf::array::{In, Selection};
use ferrocdf::model::{Chunking, Class, each_numbers};
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, DimId, Error, FileMut, Model, Result, Type, Values, VarId,
    check_filter, define_codecs, define_filter,
};
use ferrocdf_cdl::parse::Sink;

use super::options::NcgenOptions;
use super::tell;
use crate::input::overlap;
use crate::kinds::is_zarr;
use crate::target::Target;
use crate::zarr_readers;

/// The file being written.
pub(super) struct Output<'a> {
    options: &'a NcgenOptions,
    errors: &'a mut dyn Write,
    made: Option<(Target, FileMut)>,
    /// The attributes `_Codecs`.
    codecs: Vec<(VarId, String)>,
    /// For each variable the shape of its data, as the text has it: unlimited dimensions of the file are shorter until all
    /// is written.
    shapes: Vec<Vec<u64>>,
}

impl<'a> Output<'a> {
    pub fn new(options: &'a NcgenOptions, errors: &'a mut dyn Write) -> Self {
        Output { options, errors, made: None, codecs: vec![], shapes: vec![] }
    }

    /// Completes the file.
    pub fn finish(self) -> Result<()> {
        let Some((target, file)) = self.made else { return Ok(()) };
        target.named(file.close())?;
        target.replace()
    }

    /// Gives the variables of a Zarr store the filters that `_Codecs` tells. For other files it says what `_Filter` says, or is passed over,
    /// which the user is told once.
    fn with_codecs(&mut self, model: &Model) -> Result<Model> {
        let (mut model, is_new) = (model.clone(), self.made.is_none());
        for (var, text) in &self.codecs {
            let mut draft = model.clone();
            let done = define_codecs(&mut draft, *var, text);
            let path = model.var_path(*var);
            let told = match done {
                Err(error) if is_zarr(model.format()) || error.code == Code::EINVAL => return Err(error),
                Ok(left_out) if is_zarr(model.format()) => {
                    model = draft;
                    (!left_out.is_empty())
                        .then(|| format!("{path}: made without the codecs {}", left_out.join(", ")))
                }
                Ok(left_out) if left_out.is_empty() && says_no_more(&draft, &model, *var) => None,
                _ => Some(format!(
                    "{path}: _Codecs is for Zarr stores and passed over: _Filter tells other files their filters"
                )),
            };
            if let (Some(told), true) = (told, is_new) {
                tell(self.errors, format!("{}: {told}", self.options.program));
            }
        }
        Ok(model)
    }

    fn create(&mut self, model: &Model, name: &str) -> Result<(Target, FileMut)> {
        let mut how = CreateOptions::format(model.format());
        (how.no_fill, how.zarr) = (self.options.no_fill, self.options.zarr);
        let path = self.options.output_path(name);
        // A text that is replaced by its own dataset would be lost.
        if overlap(&self.options.input_path(), &path).is_some() {
            let what = format!("{}: output would overwrite input", path.display());
            return Err(Error::new(Code::EINVAL, what));
        }
        check_storage(model)?;
        let target = Target::new_dataset(&path, &mut how)?;
        let mut warnings = zarr_readers::warnings(model, how.zarr.nczarr);
        let sharded = model.var_ids().find(|&var| model.var(var).storage.shards.is_some());
        if let (Some(var), false) = (sharded, model.format().container() == Container::ZarrV3) {
            let path = model.var_path(var);
            warnings
                .push(format!("warning: {path}: _ShardSizes is for Zarr 3 stores, others have no shards"));
        }
        for warning in warnings {
            tell(self.errors, format!("{}: {warning}", self.options.program));
        }
        let file = target.create(&how)?;
        Ok((target, file))
    }
}

impl Sink for Output<'_> {
    fn message(&mut self, text: &str) {
        tell(self.errors, text);
    }

    fn codecs(&mut self, texts: &[(VarId, String)]) {
        self.codecs = texts.to_vec();
    }

    fn define(&mut self, model: &Model, name: &str) -> Result<()> {
        let model = &self.with_codecs(model)?;
        if self.made.is_none() {
            self.made = Some(self.create(model, name)?);
        }
        self.shapes = model.var_ids().map(|var| model.shape(var)).collect();
        let no_fill = self.options.no_fill;
        let Some((target, file)) = &self.made else { return Ok(()) };
        target.named(define(file, model, no_fill))
    }

    fn data(&mut self, var: VarId, first: u64, values: Values) -> Result<()> {
        let Some((target, file)) = &self.made else {
            return Err(Error::new(Code::EINTERNAL, "data before definitions"));
        };
        let mut result = Ok(());
        boxes(&self.shapes[var.index()], first, values.len() as u64, &mut |start, count, range| {
            if result.is_ok() {
                result = write(file, var, &Selection::slab(start, count), &values, range);
            }
        });
        target.named(result)
    }
}

/// True if a variable has no more filters and codecs in one model than in another.
fn says_no_more(one: &Model, other: &Model, var: VarId) -> bool {
    let [one, other] = [one, other].map(|model| &model.var(var).storage);
    one.filters.len() == other.filters.len() && one.named_codecs.is_empty()
}

/// Gives the file the definitions of `model`.
fn define(file: &FileMut, model: &Model, no_fill: bool) -> Result<()> {
    file.define(|draft| {
        let grown: Vec<_> = draft.dims().iter().map(|dim| dim.len).collect();
        *draft = model.clone();
        let turns = turns(model);
        draft.order_types(|id| turns[id.index()]);
        // Unlimited dimensions get their length from the data that is written.
        for at in 0..model.dims().len() {
            let id = DimId(at as u32);
            if model.dim(id).unlimited {
                draft.set_dim_len(id, grown.get(at).copied().unwrap_or(0));
            }
        }
        for var in model.var_ids() {
            let storage = &mut draft.var_mut(var).storage;
            storage.no_fill |= no_fill;
            storage.shards.take_if(|_| model.format().container() != Container::ZarrV3);
            if let (Some(Chunking::Chunked(shape)), false) = (&mut storage.chunking, is_zarr(model.format()))
            {
                // A text of a Zarr store may have chunks that are longer than a dimension.
                let dims = model.var(var).dims.iter().map(|&dim| model.dim(dim));
                let fixed = shape.iter_mut().zip(dims).filter(|(_, dim)| !dim.unlimited);
                fixed.for_each(|(chunk, dim)| *chunk = (*chunk).min(dim.len.max(1)));
            }
        }
        Ok(())
    })?;
    file.commit()
}

/// Fails for variables that cannot be stored as they should be: as the functions of the C library would that say so.
fn check_storage(model: &Model) -> Result<()> {
    if model.format().has_cdf_model() {
        return Ok(());
    }
    let mut draft = model.clone();
    let mut vars = model.var_ids();
    vars.try_for_each(|var| check_var(&mut draft, var).map_err(|error| error.at_path(model.var_path(var))))
}

fn check_var(model: &mut Model, var: VarId) -> Result<()> {
    let described = model.var(var);
    let grows = described.dims.iter().any(|&dim| model.dim(dim).unlimited);
    let wrong = |what: &str| Err(Error::new(Code::EINVAL, what));
    match &described.storage.chunking {
        Some(Chunking::Chunked(_)) if described.dims.is_empty() => return wrong("a scalar has no chunks"),
        Some(Chunking::Contiguous | Chunking::Compact) if grows => {
            return wrong("what grows is stored in chunks");
        }
        _ => {}
    }
    let ordered = |atomic| !matches!(atomic, Atomic::Char | Atomic::String);
    if described.storage.endian.is_some() && !matches!(described.ty, Type::Atomic(ty) if ordered(ty)) {
        return wrong("only numbers have a byte order");
    }
    for filter in std::mem::take(&mut model.var_mut(var).storage.filters) {
        define_filter(model, var, filter.id, &filter.params)?;
        check_filter(&filter)?;
    }
    Ok(())
}

/// For each type the turn in which the reference defines it: first those that are made of no others, then, turn by turn
/// through all that are left, those whose parts are there.
pub(super) fn turns(model: &Model) -> Vec<u32> {
    let mut turns: Vec<Option<u32>> = vec![None; model.types().len()];
    let has_turn = |turns: &[Option<u32>], ty: &Type| match ty {
        Type::Atomic(_) => true,
        Type::User(id) => turns[id.index()].is_some(),
    };
    for turn in 0.. {
        let before = turns.clone();
        for (at, ty) in model.types().iter().enumerate() {
            // Within a turn, what was just defined counts, but for the first.
            let known = if turn == 0 { &before } else { &turns };
            let ready = match &ty.class {
                Class::Opaque(_) | Class::Enum { .. } => true,
                Class::Vlen(base) => has_turn(known, base),
                Class::Compound { fields, .. } => fields.iter().all(|field| has_turn(known, &field.ty)),
            };
            if turns[at].is_none() && ready {
                turns[at] = Some(turn);
            }
        }
        if turns == before {
            break;
        }
    }
    turns.into_iter().map(|turn| turn.unwrap_or(u32::MAX)).collect()
}

fn write(
    file: &FileMut,
    var: VarId,
    selection: &Selection,
    values: &Values,
    range: Range<usize>,
) -> Result<()> {
    // The values have the variable's own type, so all of them fit.
    let _exact = match values {
        Values::Char(text) => file.write(var, selection, In::text(&text[range]))?,
        Values::String(list) => file.write_trees(var, selection, &Values::String(list[range].to_vec()))?,
        Values::User(id, list) => {
            file.write_trees(var, selection, &Values::User(*id, list[range].to_vec()))?
        }
        numbers => each_numbers!(numbers, list => file.write(var, selection, In::new(&list[range]))?, _ => {
            unreachable!("text, strings and trees are handled above")
        }),
    };
    Ok(())
}

/// Takes a hyperslab's start and count, and which of the elements it holds.
type Give<'a> = dyn FnMut(&[u64], &[u64], Range<usize>) + 'a;

/// Cuts `count` elements in row-major order, from element `first` on, into hyperslabs: for each its start and count,
/// and which of the elements it holds.
fn boxes(shape: &[u64], first: u64, count: u64, give: &mut Give<'_>) {
    let mut start = vec![0; shape.len()];
    let mut extent = vec![1; shape.len()];
    cut(shape, 0, first, 0..count, &mut start, &mut extent, give);
}

/// The part of [`boxes`] inside one index of each dimension before `level`.
fn cut(
    shape: &[u64],
    level: usize,
    first: u64,
    range: Range<u64>,
    start: &mut [u64],
    extent: &mut [u64],
    give: &mut Give<'_>,
) {
    let usize_range = |range: &Range<u64>| range.start as usize..range.end as usize;
    if level == shape.len() {
        give(start, extent, usize_range(&range));
        return;
    }
    let row: u64 = shape[level + 1..].iter().product();
    let (mut first, mut range) = (first, range);
    while range.start < range.end {
        let left = range.end - range.start;
        let inside = first % row;
        start[level] = first / row;
        let taken = if inside == 0 && left >= row {
            let rows = left / row;
            start[level + 1..].fill(0);
            extent[level] = rows;
            extent[level + 1..].copy_from_slice(&shape[level + 1..]);
            give(start, extent, usize_range(&(range.start..range.start + rows * row)));
            rows * row
        } else {
            let taken = left.min(row - inside);
            extent[level] = 1;
            cut(shape, level + 1, inside, range.start..range.start + taken, start, extent, give);
            taken
        };
        first += taken;
        range.start += taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element must come once, in order, at its own place.
    #[test]
    fn boxes_cover_each_element_once() {
        for shape in [&[24][..], &[4, 6], &[2, 3, 4], &[0, 3, 4], &[2, 1, 3, 4], &[]] {
            let total: u64 = if shape.first() == Some(&0) { 24 } else { shape.iter().product() };
            for first in 0..total {
                for count in 1..=total - first {
                    let mut next = 0;
                    boxes(shape, first, count, &mut |start, extent, range| {
                        assert_eq!(range.start, next);
                        next = range.end;
                        assert_eq!(extent.iter().product::<u64>(), range.len() as u64);
                        let steps: Vec<u64> =
                            (0..shape.len()).map(|at| shape[at + 1..].iter().product()).collect();
                        let at: u64 = start.iter().zip(&steps).map(|(index, step)| index * step).sum();
                        assert_eq!(at, first + range.start as u64);
                        // All but the first dimension that varies are whole, so the elements follow each other.
                        let varies = extent.iter().position(|&len| len > 1).unwrap_or(shape.len());
                        for dim in varies + 1..shape.len() {
                            assert_eq!((start[dim], extent[dim]), (0, shape[dim]));
                        }
                    });
                    assert_eq!(next as u64, count);
                }
            }
        }
    }
}
