//! Comparing the data of variables of two files.

use ferrocdf_array::Selection;
use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, Model, Values, VarId};

use super::Pair;
use crate::File;
use crate::tiles::{self, Tiles};

/// Finds the first variable whose values differ between two files, with the first element of a box in which they do. `budget` is the
/// number of bytes that are read at a time, or a chunk of both files. Numbers are equal if their bits are.
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
    let models = (a.model(), b.model());
    for &(var, other) in pairs {
        let shape = models.0.shape(var);
        if shape != models.1.shape(other) {
            return Ok(Some((var, vec![])));
        }
        let size = models.0.size_of(models.0.var(var).ty).max(1);
        let most = (budget / size).max(1) as u64;
        let chunks = [chunk_shape(&models.0, var), chunk_shape(&models.1, other)];
        let unit = tiles::unit(&shape, chunks[0], chunks[1], most);
        for tile in Tiles::new(Selection::slab(&vec![0; shape.len()], &shape), &unit, most) {
            if !is_same(&a.read_selected(var, &tile)?, &b.read_selected(other, &tile)?) {
                return Ok(Some((var, tile.start.to_vec())));
            }
        }
    }
    Ok(None)
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
fn is_same(a: &Values, b: &Values) -> bool {
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
