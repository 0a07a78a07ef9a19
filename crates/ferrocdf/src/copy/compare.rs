//! Comparing the data of variables of two files.

use ferrocdf_array::Selection;
use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, Model, Values, VarId};

use super::{Pair, Shift, TREE};
use crate::File;
use crate::tiles::{self, Tiles};

/// Finds the first variable whose values differ between two files, with the first element that does; the list is empty if the shapes
/// differ. `budget` is the number of bytes that are read at a time, or a chunk of both files. Numbers are equal if their bits are.
///
/// # Errors
/// Those of reading either file.
pub fn find_difference(
    a: &File,
    b: &File,
    pairs: &[Pair],
    budget: usize,
) -> Result<Option<(VarId, Vec<u64>)>> {
    find_difference_by(is_same, (a, b), pairs, budget)
}

/// Finds what [`find_difference`] does with another comparison of values.
pub(crate) fn find_difference_by(
    is_same: fn(&Values, &Values) -> bool,
    (a, b): (&File, &File),
    pairs: &[Pair],
    budget: usize,
) -> Result<Option<(VarId, Vec<u64>)>> {
    for &(var, other) in pairs {
        if a.model().shape(var) != b.model().shape(other) {
            return Ok(Some((var, vec![])));
        }
        let is_same = |values, others: &Values| Ok(is_same(&values, others));
        let pair = ((var, other), Shift::default());
        if let Some(at) = find_shifted_difference((a, b), pair, budget, &is_same)? {
            return Ok(Some((var, at)));
        }
    }
    Ok(None)
}

/// Finds the first element of a variable of `a` that differs from the one of `b` behind a shift. `is_same` compares the values of a box of both.
pub(crate) fn find_shifted_difference(
    (a, b): (&File, &File),
    ((var, other), shift): (Pair, Shift),
    budget: usize,
    is_same: &dyn Fn(Values, &Values) -> Result<bool>,
) -> Result<Option<Vec<u64>>> {
    let models = (a.model(), b.model());
    let shape = models.0.shape(var);
    let ty = models.0.var(var).ty;
    let size = if models.0.is_flat(ty) { models.0.size_of(ty) as u64 } else { TREE };
    let most = (budget as u64 / size.max(1)).max(1);
    let unit = tiles::unit(&shape, chunk_shape(&models.0, var), chunk_shape(&models.1, other), most);
    let differs = |tile: &Selection| {
        let others = b.read_selected(other, &shift.moved(tile.clone())?)?;
        Ok(!is_same(a.read_selected(var, tile)?, &others)?)
    };
    for tile in Tiles::new(Selection::slab(&vec![0; shape.len()], &shape), &unit, most) {
        if differs(&tile)? {
            return first_element(tile, &differs).map(Some);
        }
    }
    Ok(None)
}

/// Returns the first element of a box of which `differs` is true, by asking about halves of it.
fn first_element(mut tile: Selection, differs: &dyn Fn(&Selection) -> Result<bool>) -> Result<Vec<u64>> {
    for dim in 0..tile.count.len() {
        while tile.count[dim] > 1 {
            let mut front = tile.clone();
            front.count[dim] /= 2;
            if differs(&front)? {
                tile = front;
            } else {
                tile.start[dim] += front.count[dim];
                tile.count[dim] -= front.count[dim];
            }
        }
    }
    Ok(tile.start.to_vec())
}

fn chunk_shape(model: &Model, var: VarId) -> Option<&[u64]> {
    match &model.var(var).storage.chunking {
        Some(Chunking::Chunked(shape)) => Some(shape),
        _ => None,
    }
}

/// True if values are equal as numbers are, both zeros too, or if their bits are.
pub(crate) fn is_equal(a: &Values, b: &Values) -> bool {
    match (a, b) {
        (Values::Float(a), Values::Float(b)) if a.len() == b.len() => {
            a.iter().zip(b).all(|(a, b)| a == b || a.to_bits() == b.to_bits())
        }
        (Values::Double(a), Values::Double(b)) if a.len() == b.len() => {
            a.iter().zip(b).all(|(a, b)| a == b || a.to_bits() == b.to_bits())
        }
        (a, b) => is_same(a, b),
    }
}

/// True if the bits of numbers and other values are the same.
pub(crate) fn is_same(a: &Values, b: &Values) -> bool {
    match (a, b) {
        (Values::Float(a), Values::Float(b)) => {
            a.iter().map(|a| a.to_bits()).eq(b.iter().map(|b| b.to_bits()))
        }
        (Values::Double(a), Values::Double(b)) => {
            a.iter().map(|a| a.to_bits()).eq(b.iter().map(|b| b.to_bits()))
        }
        // Numbers in nested values have no bits of their own to compare; their text tells all but the payload of not-a-numbers.
        (Values::User(_, a), Values::User(_, b)) => a == b || format!("{a:?}") == format!("{b:?}"),
        (a, b) => a == b,
    }
}
