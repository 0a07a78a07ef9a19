//! Joining datasets along a dimension into one file.
//!
//! The file has the definitions of the first dataset. Variables without the dimension are those of the first dataset, and must have the same
//! values in all others; of variables with it, the elements of each dataset come behind those of the one before. The decision that shaped
//! it: datasets are opened one after the other, checked (`check.rs`, which references share) and copied by the copier of files, which
//! moves chunks and records without looking at them where they fit behind those that are there. Decision 033.

pub(crate) mod check;
mod define;
mod relative;
mod virtual_file;

use std::collections::HashMap;

use ferrocdf_bytes::Result;
use ferrocdf_model::DimId;

use crate::copy::{Pair, Shift, TOO_MANY, copy_data, copy_shifted};
use crate::{FileMut, Location, OpenOptions};
use check::{JoinedDataset, check_values, check_variable, refused};
use define::{JoinedVariable, define, plan};
pub use virtual_file::join_virtual;

/// Bytes of memory for copying and comparing data that is not moved without looking at it.
const BUDGET: usize = 16 << 20;

/// Joins datasets along a dimension, in their order, into a new file that is empty. Without a name the dimension is the unlimited one. It is
/// unlimited in the new file, also where it has a fixed length in the datasets. Dimensions of that name in several groups are all joined.
///
/// Chunks are copied without decoding them if a dataset has the chunk shape and the filters of the first one and begins between two
/// chunks; other data is encoded anew. One dataset is open at a time, and the first one. `progress` is called after each.
///
/// After an error the new file is incomplete: make it under another name, and rename it at the end.
///
/// ```
/// # fn main() -> ferrocdf::Result<()> {
/// use ferrocdf::{Location, join};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name);
/// for (name, first) in [("a.nc", 0), ("b.nc", 2)] {
///     let file = ferrocdf::create(path(name))?;
///     file.add_unlimited_dimension("time")?;
///     file.add_variable::<i32>("time", &["time"])?.put_values(&[first, first + 1], ..)?;
///     file.close()?;
/// }
/// let joined = ferrocdf::create(path("all.nc"))?;
/// let inputs = ["a.nc", "b.nc"].map(|name| Location::Path(path(name)));
/// join::join(&inputs, &joined, None, &mut || {})?;
/// joined.close()?;
/// assert_eq!(ferrocdf::open(path("all.nc"))?.variable("time")?.get_values::<i32, _>(..)?, [0, 1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NC_EINVAL` for datasets that cannot be joined: other variables, types, lengths, fill values, scales, units, calendars or coordinates. The message has
/// the dataset, the variable and what differs. Also if the new file is no netCDF-4 file where the first dataset is one, or no classic file where
/// that is one. Those of the datasets and of the new file.
pub fn join(
    inputs: &[Location],
    to: &FileMut,
    dimension: Option<&str>,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let Some((first, others)) = inputs.split_first() else { return Err(refused("no dataset is given")) };
    let first = JoinedDataset::open(first, &OpenOptions::default().all_attributes(true))?;
    let (target, variables) = plan(&first, to.format(), dimension)?;
    define(to, target)?;
    let pairs: Vec<Pair> = variables.iter().map(|variable| (variable.var, variable.var)).collect();
    copy_data(&first.file, to, &pairs, BUDGET, &mut |_| {})?;
    let mut ends = first_ends(&first, &variables);
    for (&dim, &end) in &ends {
        to.grow_dimension(dim, end)?;
    }
    progress();
    for other in others {
        let other = JoinedDataset::open(other, &OpenOptions::default())?;
        append(&first, &variables, &other, to, &mut ends)?;
        progress();
    }
    Ok(())
}

/// The lengths that joined dimensions have so far.
type Ends = HashMap<DimId, u64>;

/// Returns the lengths of the joined dimensions in the first dataset.
fn first_ends(first: &JoinedDataset, variables: &[JoinedVariable]) -> Ends {
    let model = first.file.model();
    let dims = variables.iter().filter_map(|variable| Some(model.var(variable.var).dims[variable.along?]));
    dims.map(|dim| (dim, model.dim(dim).len)).collect()
}

/// Checks another dataset and copies its elements behind those that there are.
fn append(
    first: &JoinedDataset,
    variables: &[JoinedVariable],
    other: &JoinedDataset,
    to: &FileMut,
    ends: &mut Ends,
) -> Result<()> {
    let joined = check_member(first, variables, other, ends)?;
    copy_shifted(&other.file, to, &joined, BUDGET, &mut |_| {})?;
    ends.iter().try_for_each(|(&dim, &end)| to.grow_dimension(dim, end))
}

/// Checks that another dataset can be joined. Returns the variables to be joined, and where they begin; `ends` gets the lengths with this dataset.
fn check_member(
    first: &JoinedDataset,
    variables: &[JoinedVariable],
    other: &JoinedDataset,
    ends: &mut Ends,
) -> Result<Vec<(Pair, Shift)>> {
    let (model, theirs) = (first.file.model(), other.file.model());
    other.check_complete()?;
    let mut joined = vec![];
    let mut longer = Ends::new();
    for &JoinedVariable { var, along } in variables {
        let path = model.var_path(var);
        let their_var = other.variable(&path)?;
        check_variable(along, (first, var), (other, their_var))?;
        other.check_readable(their_var)?;
        let Some(dim) = along else {
            check_values((first, var), (other, their_var))?;
            continue;
        };
        let id = model.var(var).dims[dim];
        let len = theirs.shape(their_var)[dim];
        let end = ends.get(&id).copied().unwrap_or_default();
        let reached = end.checked_add(len).ok_or_else(|| other.refused(&path, TOO_MANY))?;
        if *longer.entry(id).or_insert(reached) != reached {
            let name = &model.dim(id).name;
            let why = format!("{len} elements along {name}, and another number in a variable before it");
            return Err(other.refused(&path, why));
        }
        joined.push(((their_var, var), Shift { dim, by: end }));
    }
    for path in theirs.var_ids().map(|var| theirs.var_path(var)) {
        if first.variable(&path).is_err() {
            return Err(other.refused(&path, format!("{} has no such variable", first.name)));
        }
    }
    ends.extend(longer);
    Ok(joined)
}
