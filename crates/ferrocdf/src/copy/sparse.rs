//! Elements that the source does not have: of chunks that were never written, of datasets without space, in holes of
//! sparse files. They take no space in the copy either.
//!
//! Where both variables have the same fill value, boxes of unwritten elements are left out. Everywhere else they are
//! written, but zeros are not where the file of the copy reads as zeros already.

use std::collections::VecDeque;

use ferrocdf_array::{Array, Coverage, Kind, Layout, Selection, coverage, unwritten_value};
use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, Container, Model, Owner, StoredFill, Type, Values, VarId};

use super::{Job, Pair, are_numbers, behind, lock_both};
use crate::driver::ChunkTarget;
use crate::variable_errors::in_variable;
use crate::{File, FileMut};

impl File {
    /// True if a variable may have unwritten elements: elements of chunks that were never written, of a dataset without space, or
    /// outside the sources of a virtual dataset. Always false for strings and for user-defined types but enumerations.
    pub fn has_unwritten(&self, var: VarId) -> Result<bool> {
        let model = self.model();
        if !are_numbers((&model, var), (&model, var)) {
            return Ok(false);
        }
        self.reading(|state| state.has_unwritten(var))
    }
}

/// Gives variables of a netCDF-4 copy, which are defined and not committed yet, the fill values of a source that [lacks
/// elements](File::has_unwritten) of them, so that [`copy_data`](super::copy_data) leaves these out. It can leave out whole
/// chunks, and a variable without chunks as a whole; a variable that it has to write is not changed.
pub fn keep_unwritten(from: &File, to: &FileMut, pairs: &[Pair]) -> Result<()> {
    let (source, target) = (from.model(), to.model());
    let mut fills = vec![];
    for &(from_var, to_var) in pairs {
        let storage = &target.var(to_var).storage;
        let is_chunked = matches!(storage.chunking, Some(Chunking::Chunked(_)));
        let ty = target.var(to_var).ty;
        let is_same = matches!(ty, Type::User(_)) || source.var(from_var).ty == ty;
        if !is_same || !are_numbers((&source, from_var), (&target, to_var)) {
            continue;
        }
        if !is_chunked && !is_all_unwritten(from, from_var)? {
            continue;
        }
        let has_value = !source.var(from_var).storage.no_fill;
        let value = if has_value { from.fill_value(from_var)? } else { None };
        let fill = match (value, ty) {
            (Some(Values::User(_, value)), Type::User(id)) => StoredFill::Value(Values::User(id, value)),
            (Some(value), _) if value.ty() == ty => StoredFill::Value(value),
            // The copy could not be defined.
            (Some(_), _) => continue,
            (None, _) => StoredFill::Default,
        };
        if !tells(&target, to_var, &fill) {
            continue;
        }
        fills.push((to_var, fill));
    }
    drop(target);
    to.define(|model| {
        for (var, fill) in fills {
            let storage = &mut model.var_mut(var).storage;
            storage.no_fill = fill == StoredFill::Default;
            storage.fill = Some(fill);
        }
        Ok(())
    })
}

/// True if readers of the copy take the fill value for nothing else than it is. In a Zarr store it is the missing value too, in version
/// 2 also where no attribute says so.
fn tells(target: &Model, var: VarId, fill: &StoredFill) -> bool {
    let own = target.find_attr(Owner::Var(var), b"_FillValue");
    let default = || match target.var(var).ty {
        Type::Atomic(atomic) => Some(Values::default_fill(atomic)),
        Type::User(_) => None,
    };
    let missing = match (target.format().container(), own) {
        (Container::ZarrV2 | Container::ZarrV3, Some(attr)) => Some(attr.value.clone()),
        (Container::ZarrV2, None) => default(),
        _ => return true,
    };
    matches!((missing, fill), (Some(missing), StoredFill::Value(value)) if is_same(&missing, value))
}

/// True if both are the same value; a NaN is the same as another one.
fn is_same(one: &Values, other: &Values) -> bool {
    let is_nan = |values: &Values| match values {
        Values::Float(list) => list.iter().all(|number| number.is_nan()),
        Values::Double(list) => list.iter().all(|number| number.is_nan()),
        _ => false,
    };
    one == other || one.ty() == other.ty() && is_nan(one) && is_nan(other)
}

/// True if no element of a variable was ever written.
fn is_all_unwritten(from: &File, var: VarId) -> Result<bool> {
    from.reading(|state| {
        let array = state.array(var)?;
        let Some(value) = unwritten_value(array)? else { return Ok(false) };
        let empty = is_empty(array, (array.stored.kind, &value));
        empty.map_err(|error| in_variable(error, state.model(), var))
    })
}

/// True if no element of an array is stored, and all have this value.
fn is_empty(array: &Array, value: (Kind, &[u8])) -> Result<bool> {
    Ok(coverage(array, &Selection::all(&array.shape), value)? == Coverage::Nothing)
}

/// How the unwritten elements of a variable are left out of its copy.
pub(super) struct Gaps {
    kind: Kind,
    /// Their value.
    value: Vec<u8>,
    /// The chunks of the copy, which are left out whole; `None` if it has none.
    chunk: Option<Vec<u64>>,
}

impl Gaps {
    /// Looks whether elements can be left out, because the copy makes the same of those that are not written and has none
    /// yet. Its dimensions become as long as those of the source, behind the shift.
    pub(super) fn find(from: &File, to: &FileMut, job: Job) -> Result<Option<Gaps>> {
        let (from_var, to_var) = job.pair;
        let (source, mut target) = lock_both(from, to);
        let storage = &target.model().var(to_var).storage;
        let array = source.array(from_var)?;
        if storage.no_fill && storage.fill.is_none() {
            return Ok(None);
        }
        let (kind, Some(value)) = (array.stored.kind, unwritten_value(array)?) else { return Ok(None) };
        let dims = target.model().var(to_var).dims.clone();
        let reached = job.shift.reached(&array.shape)?;
        dims.iter().zip(reached).try_for_each(|(&dim, len)| target.grow_dim(dim, len))?;
        let copy = match target.chunks_to_write(to_var)? {
            Some(ChunkTarget { array, .. }) => array,
            None if dims.iter().any(|&dim| target.model().dim(dim).unlimited) => return Ok(None),
            None => target.array(to_var)?.clone(),
        };
        let Some(copy) = behind(&target, copy, (&array.shape, job.shift))? else { return Ok(None) };
        if !is_empty(&copy, (kind, &value))? {
            return Ok(None);
        }
        let chunk = match copy.layout {
            Layout::Chunked(blocks) => Some(blocks.shape),
            _ if is_empty(array, (kind, &value))? => None,
            _ => return Ok(None),
        };
        Ok(Some(Gaps { kind, value, chunk }))
    }

    /// True if a selection of the source is left out, false if it is not; `None` if that differs between chunks of the copy.
    pub(super) fn leaves_out(&self, from: &File, var: VarId, selection: &Selection) -> Result<Option<bool>> {
        let covered =
            from.reading(|state| coverage(state.array(var)?, selection, (self.kind, &self.value)))?;
        Ok(match (covered, &self.chunk) {
            (Coverage::Nothing, _) => Some(true),
            (Coverage::Part, Some(_)) => None,
            (Coverage::Part | Coverage::Whole, _) => Some(false),
        })
    }
}

/// The boxes of a tile that are left out, and those that are not, of whole chunks of the copy and in their order; neighbours
/// are joined.
///
/// The tile is halved where only some of it is stored, so that the index is asked about few boxes where most chunks lie
/// together, and only some boxes are in memory at a time.
pub(super) struct Boxes<'a> {
    from: &'a File,
    var: VarId,
    /// `None` if nothing is left out.
    gaps: Option<&'a Gaps>,
    /// What is left to be looked at, the first one last.
    rest: Vec<Selection>,
    /// Boxes that others may be joined to.
    joined: VecDeque<(Selection, bool)>,
}

impl<'a> Boxes<'a> {
    pub(super) fn new(from: &'a File, var: VarId, gaps: Option<&'a Gaps>, tile: Selection) -> Self {
        Boxes { from, var, gaps, rest: vec![tile], joined: VecDeque::new() }
    }
}

/// Boxes that wait for others to be joined to: a row of chunks that differ waits for none, so there is no need for many.
const WAITING: usize = 256;

impl Iterator for Boxes<'_> {
    type Item = Result<(Selection, bool)>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(next) = self.rest.pop() {
            let is_left_out = match self.gaps {
                Some(gaps) => gaps.leaves_out(self.from, self.var, &next),
                None => Ok(Some(false)),
            };
            let is_left_out = match is_left_out {
                Ok(Some(is_left_out)) => is_left_out,
                Ok(None) => {
                    let chunk = self.gaps.and_then(|gaps| gaps.chunk.as_deref()).unwrap_or_default();
                    if let Some((first, second)) = halves(&next, chunk) {
                        self.rest.extend([second, first]);
                        continue;
                    }
                    false
                }
                Err(error) => {
                    self.rest.clear();
                    return Some(Err(error));
                }
            };
            join(&mut self.joined, (next, is_left_out));
            if self.joined.len() > WAITING {
                break;
            }
        }
        self.joined.pop_front().map(Ok)
    }
}

/// Halves a box between chunks, along the first dimension that has several. `None` if it lies in one chunk.
fn halves(whole: &Selection, chunk: &[u64]) -> Option<(Selection, Selection)> {
    for (dim, &len) in chunk.iter().enumerate() {
        let (start, end) = (whole.start[dim], whole.start[dim] + whole.count[dim]);
        let (first, last) = (start / len, (end - 1) / len);
        if first < last {
            let middle = (first + (last - first).div_ceil(2)) * len;
            let (mut before, mut after) = (whole.clone(), whole.clone());
            before.count[dim] = middle - start;
            (after.start[dim], after.count[dim]) = (middle, end - middle);
            return Some((before, after));
        }
    }
    None
}

/// Adds a box, joined to the one before it if both are left out, or both not, and make a box together; and so on: chunks
/// become rows of chunks, these become planes.
fn join(joined: &mut VecDeque<(Selection, bool)>, mut next: (Selection, bool)) {
    while let Some((mut last, is_left_out)) = joined.pop_back() {
        if is_left_out != next.1 || !extend(&mut last, &next.0) {
            joined.push_back((last, is_left_out));
            break;
        }
        next.0 = last;
    }
    joined.push_back(next);
}

/// Extends a box by one that begins where it ends along one dimension and is the same along the others. `false` if there is no
/// such dimension.
fn extend(last: &mut Selection, next: &Selection) -> bool {
    let is_other = |&dim: &usize| last.start[dim] != next.start[dim] || last.count[dim] != next.count[dim];
    let mut others = (0..last.start.len()).filter(is_other);
    let (Some(dim), None) = (others.next(), others.next()) else { return false };
    let is_next = last.start[dim] + last.count[dim] == next.start[dim];
    if is_next {
        last.count[dim] += next.count[dim];
    }
    is_next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_to_rows_and_planes() {
        let cells = |is_left_out: fn(u64, u64) -> bool| {
            let cells = (0..3).flat_map(|row| (0..4).map(move |column| (row, column)));
            let mut joined = VecDeque::new();
            for (row, column) in cells {
                join(
                    &mut joined,
                    (Selection::slab(&[row * 10, column * 5], &[10, 5]), is_left_out(row, column)),
                );
            }
            joined
                .into_iter()
                .map(|(all, is_left_out)| (all.start.to_vec(), all.count.to_vec(), is_left_out))
                .collect::<Vec<_>>()
        };
        assert_eq!(cells(|_, _| false), [(vec![0, 0], vec![30, 20], false)]);
        assert_eq!(
            cells(|row, _| row == 0),
            [(vec![0, 0], vec![10, 20], true), (vec![10, 0], vec![20, 20], false)]
        );
        assert_eq!(
            cells(|row, column| row == 1 && column > 1),
            [
                (vec![0, 0], vec![10, 20], false),
                (vec![10, 0], vec![10, 10], false),
                (vec![10, 10], vec![10, 10], true),
                (vec![20, 0], vec![10, 20], false)
            ]
        );
    }

    #[test]
    fn boxes_are_halved_between_chunks() {
        let halved = |start: &[u64], count: &[u64]| {
            halves(&Selection::slab(start, count), &[10, 5])
                .map(|(first, second)| [first, second].map(|half| (half.start.to_vec(), half.count.to_vec())))
        };
        assert_eq!(halved(&[5, 0], &[20, 9]), Some([(vec![5, 0], vec![5, 9]), (vec![10, 0], vec![15, 9])]));
        assert_eq!(
            halved(&[10, 0], &[10, 15]),
            Some([(vec![10, 0], vec![10, 5]), (vec![10, 5], vec![10, 10])])
        );
        assert_eq!(halved(&[19, 4], &[1, 1]), None);
    }
}
