//! Times of a dataset in the units of the first one.

use ferrocdf_bytes::Result;
use ferrocdf_model::{Owner, Values};

use super::JoinedPart;
use super::check::JoinedDataset;
use crate::FileMut;

/// Elements that are converted at a time.
const CONVERTED: u64 = 1 << 20;

/// Converts values of a variable, but for those that stand for missing ones.
///
/// # Errors
/// `NC_EINVAL` for a number that has no equal in the type of the variable.
pub(super) fn convert(member: &JoinedDataset, part: &JoinedPart, values: Values) -> Result<Values> {
    let Some(conversion) = part.conversion else { return Ok(values) };
    let (model, var) = (member.file.model(), part.pair.0);
    let missing = model.find_attr(Owner::Var(var), b"missing_value").map(|attr| attr.value.clone());
    let kept: Vec<Values> = model.fill_value(var).into_iter().chain(missing).collect();
    conversion.convert(&values, &kept).map_err(|number| {
        let why = format!(
            "the time {number} cannot be told in the units of the first file by a {} number; join files with finer units first, or make it double",
            model.type_name(model.var(var).ty)
        );
        member.refused(&model.var_path(var), why)
    })
}

/// Copies a variable with conversion, behind the elements that the target has.
pub(super) fn copy_converted(member: &JoinedDataset, to: &FileMut, part: &JoinedPart) -> Result<()> {
    let (var, to_var) = part.pair;
    let shape = member.file.model().shape(var);
    let dim = part.shift.dim;
    let row = shape.iter().enumerate().filter(|(other, _)| *other != dim).map(|(_, &len)| len);
    let row = row.fold(1, u64::saturating_mul);
    let rows = (CONVERTED / row.max(1)).max(1);
    let (mut start, mut count) = (vec![0; shape.len()], shape.clone());
    while start[dim] < shape[dim] && row > 0 {
        count[dim] = rows.min(shape[dim] - start[dim]);
        let values = convert(member, part, member.file.read_values(var, &start, &count)?)?;
        let mut place = start.clone();
        place[dim] += part.shift.by;
        let _exact = to.write_values(to_var, &place, &count, &values)?;
        start[dim] += count[dim];
    }
    Ok(())
}
