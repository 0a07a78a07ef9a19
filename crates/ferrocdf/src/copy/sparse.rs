//! Elements that the source does not have: of chunks that were never written, of datasets without space, in holes of
//! sparse files. They take no space in the copy either.
//!
//! Where both variables have the same fill value, boxes of unwritten elements are left out. Everywhere else they are
//! written, but zeros are not where the file of the copy reads as zeros already.

use ferrocdf_array::{Array, Coverage, Kind, Layout, Selection, coverage, unwritten_value};
use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, StoredFill, Type, Values, VarId};

use super::tiles::Tiles;
use super::{Pair, are_numbers, lock_both};
use crate::{File, FileMut};

impl File {
    /// True if elements of a variable may be stored nowhere: of chunks that were never written, of a dataset without space, or
    /// outside the sources of a virtual dataset. Always false for strings and for user-defined types but enumerations.
    pub fn lacks_elements(&self, var: VarId) -> Result<bool> {
        let model = self.model();
        if !are_numbers((&model, var), (&model, var)) {
            return Ok(false);
        }
        self.reading(|state| state.lacks_elements(var))
    }
}

/// Gives variables of a netCDF-4 copy, which are defined and not committed yet, the fill values of a source that [lacks
/// elements](File::lacks_elements) of them, so that [`copy_data`](super::copy_data) leaves these out. It can leave out whole
/// chunks, and a variable without chunks as a whole; a variable that it has to write is not changed.
pub fn keep_unwritten(from: &File, to: &FileMut, pairs: &[Pair]) -> Result<()> {
    let (source, target) = (from.model(), to.model());
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
            (Some(value), _) => StoredFill::Value(value),
            (None, _) => StoredFill::Default,
        };
        to.define(|model| {
            let storage = &mut model.var_mut(to_var).storage;
            storage.no_fill = fill == StoredFill::Default;
            storage.fill = Some(fill);
            Ok(())
        })?;
    }
    Ok(())
}

/// True if no element of a variable was ever written.
fn is_all_unwritten(from: &File, var: VarId) -> Result<bool> {
    from.reading(|state| {
        let array = state.array(var)?;
        let Some(value) = unwritten_value(array)? else { return Ok(false) };
        is_empty(array, (array.stored.kind, &value))
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
    /// yet. Its dimensions become as long as those of the source.
    pub(super) fn find(from: &File, to: &FileMut, (from_var, to_var): Pair) -> Result<Option<Gaps>> {
        let (source, mut target) = lock_both(from, to);
        let storage = &target.model().var(to_var).storage;
        let array = source.array(from_var)?;
        if storage.no_fill && storage.fill.is_none() {
            return Ok(None);
        }
        let (kind, Some(value)) = (array.stored.kind, unwritten_value(array)?) else { return Ok(None) };
        let dims = target.model().var(to_var).dims.clone();
        dims.iter().zip(&array.shape).try_for_each(|(&dim, &len)| target.grow_dim(dim, len))?;
        let model = target.model().clone();
        let copy = match target.driver.whole_blocks(&model, to_var)? {
            Some(copy) => {
                target.forget_array(to_var);
                copy
            }
            None if dims.iter().any(|&dim| model.dim(dim).unlimited) => return Ok(None),
            None => target.array(to_var)?.clone(),
        };
        if !is_empty(&copy, (kind, &value))? {
            return Ok(None);
        }
        let chunk = match copy.layout {
            Layout::Blocks(blocks) => Some(blocks.shape),
            _ if is_empty(array, (kind, &value))? => None,
            _ => return Ok(None),
        };
        Ok(Some(Gaps { kind, value, chunk }))
    }

    /// Cuts a tile into boxes that are left out, and boxes that are not, of whole chunks of the copy; as few as are found by
    /// joining neighbours.
    pub(super) fn cut(&self, from: &File, var: VarId, tile: &Selection) -> Result<Vec<(Selection, bool)>> {
        from.reading(|state| {
            let array = state.array(var)?;
            let of = |part: &Selection| coverage(array, part, (self.kind, &self.value));
            let chunk = match (of(tile)?, &self.chunk) {
                (Coverage::Part, Some(chunk)) => chunk,
                (covered, _) => return Ok(vec![(tile.clone(), covered == Coverage::Nothing)]),
            };
            let boxes = Tiles::new(tile.clone(), chunk, 1).map(|next| {
                let is_left_out = of(&next)? == Coverage::Nothing;
                Ok((next, is_left_out))
            });
            // Chunks become rows of chunks, these become planes, and so on.
            let boxes = boxes.collect::<Result<Vec<_>>>()?;
            Ok(chunk.iter().fold(boxes, |boxes, _| join(boxes)))
        })
    }
}

/// Joins boxes with the next one where both are left out, or both not, and make a box together.
fn join(boxes: Vec<(Selection, bool)>) -> Vec<(Selection, bool)> {
    let mut joined: Vec<(Selection, bool)> = vec![];
    for (next, is_left_out) in boxes {
        let last = joined.last_mut().filter(|(_, is_same)| *is_same == is_left_out);
        if !last.is_some_and(|(last, _)| extend(last, &next)) {
            joined.push((next, is_left_out));
        }
    }
    joined
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
            let boxes: Vec<(Selection, bool)> = cells
                .map(|(row, column)| {
                    (Selection::slab(&[row * 10, column * 5], &[10, 5]), is_left_out(row, column))
                })
                .collect();
            let joined = join(join(boxes)).into_iter();
            joined
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
}
