//! Joining datasets along a dimension into one file.
//!
//! The file has the definitions of the first dataset. Variables without the dimension are those of the first dataset, and must have the same
//! values in all others; of variables with it, the elements of each dataset come behind those of the one before. The decision that shaped
//! it: datasets are opened one after the other, checked (`check.rs`, which references share) and copied by the copier of files, which
//! moves chunks and records without looking at them where they fit behind those that are there. Decision 033.

mod attribute_values;
pub(crate) mod check;
mod convert;
mod coordinates;
mod define;
mod order;
mod relative;
mod times;
mod verify;
mod virtual_file;

use std::collections::HashMap;

use ferrocdf_bytes::Result;
use ferrocdf_model::{DimId, VarId};

use crate::copy::{Pair, Shift, TOO_MANY, copy_data, copy_shifted};
use crate::{FileMut, Location, OpenOptions};
use check::{JoinedDataset, check_values, compare_variable, refused};
use convert::{convert, copy_converted};
use coordinates::is_coordinate;
use define::{JoinedVariable, define, plan};
use order::CoordinateOrder;
use times::TimeConversion;
pub use verify::verify;
pub use virtual_file::join_virtual;

/// Bytes of memory for copying and comparing data that is not moved without looking at it.
const BUDGET: usize = 16 << 20;

/// How datasets are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinOptions {
    /// The name of the dimension; `None` for the unlimited one.
    pub dimension: Option<String>,
    /// True if times with other units (`days since 2000-01-02`) become those of the first dataset, in the same calendar: integers exactly, or not at all.
    pub convert_times: bool,
    /// True if elements of virtual datasets whose sources are missing are copied as fill values.
    pub fill_missing: bool,
    /// A line that is put before those of the attribute `history`.
    pub history: Option<String>,
}

/// A report of a function that joins datasets, made while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinEvent<'a> {
    /// Another dataset is done.
    Joined,
    /// Something that users seldom want: a coordinate that is not monotonic. It is done nevertheless.
    Warning(&'a str),
}

/// Joins datasets along a dimension, in their order, into a new file that is empty. The dimension is
/// unlimited in the new file, also where it has a fixed length in the datasets. Dimensions of that name in several groups are all joined.
///
/// Chunks are copied without decoding them if a dataset has the chunk shape and the filters of the first one and begins between two
/// chunks; other data is encoded anew. One dataset is open at a time, and the first one.
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
/// join::join(&inputs, &joined, &join::JoinOptions::default(), &mut |_| {})?;
/// joined.close()?;
/// assert_eq!(ferrocdf::open(path("all.nc"))?.variable("time")?.get_values::<i32, _>(..)?, [0, 1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NC_EINVAL` for datasets that cannot be joined: other variables, types, lengths, fill values, scales, units, calendars or coordinates. The message has
/// the dataset, the variable and what differs. Also if the new file is no netCDF-4 file where the first dataset is one, or no classic file where
/// that is one. `ENOENT` for virtual datasets with a source that is missing. Those of the datasets and of the new file.
pub fn join(
    inputs: &[Location],
    to: &FileMut,
    options: &JoinOptions,
    report: &mut dyn FnMut(JoinEvent<'_>),
) -> Result<()> {
    let Some((first, others)) = inputs.split_first() else { return Err(refused("no dataset is given")) };
    let first = JoinedDataset::open(first, &OpenOptions::default().all_attributes(true))?;
    let (target, variables) = plan(&first, to.format(), options)?;
    if !options.fill_missing {
        variables.iter().try_for_each(|variable| first.check_sources(variable.var))?;
    }
    define(to, target)?;
    let pairs: Vec<Pair> = variables.iter().map(|variable| (variable.var, variable.var)).collect();
    copy_data(&first.file, to, &pairs, BUDGET, &mut |_| {})?;
    let mut joined = JoinState::new(&first, &variables, options);
    for (&dim, &end) in &joined.ends {
        to.grow_dimension(dim, end)?;
    }
    joined.check_order(&first, joined.parts_of_first(), report)?;
    report(JoinEvent::Joined);
    for other in others {
        let other = JoinedDataset::open(other, &OpenOptions::default())?;
        let parts = joined.check_member(&other)?;
        if !options.fill_missing {
            parts.iter().try_for_each(|part| other.check_sources(part.pair.0))?;
        }
        joined.check_order(&other, parts.iter().copied(), report)?;
        let (converted, copied): (Vec<JoinedPart>, Vec<JoinedPart>) =
            parts.into_iter().partition(|part| part.conversion.is_some());
        let copied: Vec<(Pair, Shift)> = copied.iter().map(|part| (part.pair, part.shift)).collect();
        copy_shifted(&other.file, to, &copied, BUDGET, &mut |_| {})?;
        converted.iter().try_for_each(|part| copy_converted(&other, to, part))?;
        joined.ends.iter().try_for_each(|(&dim, &end)| to.grow_dimension(dim, end))?;
        report(JoinEvent::Joined);
    }
    Ok(())
}

/// A variable of a dataset that is joined.
#[derive(Clone, Copy)]
struct JoinedPart {
    /// The variable, and that of the new file, which has the id of that of the first dataset.
    pair: Pair,
    shift: Shift,
    conversion: Option<TimeConversion>,
}

/// What is joined so far.
struct JoinState<'a> {
    first: &'a JoinedDataset,
    variables: &'a [JoinedVariable],
    options: &'a JoinOptions,
    ends: Ends,
    /// The coordinate variables of the joined dimensions, but for those that have lost their order.
    orders: HashMap<VarId, CoordinateOrder>,
}

/// The lengths that joined dimensions have so far.
type Ends = HashMap<DimId, u64>;

impl<'a> JoinState<'a> {
    /// The first dataset.
    fn new(
        first: &'a JoinedDataset,
        variables: &'a [JoinedVariable],
        options: &'a JoinOptions,
    ) -> JoinState<'a> {
        let model = first.file.model();
        let dims =
            variables.iter().filter_map(|variable| Some(model.var(variable.var).dims[variable.along?]));
        let ends = dims.map(|dim| (dim, model.dim(dim).len)).collect();
        let joined =
            variables.iter().filter(|variable| variable.along.is_some()).map(|variable| variable.var);
        let coordinates = joined.filter(|&var| is_coordinate(&model, var));
        let orders = coordinates.map(|var| (var, CoordinateOrder::default())).collect();
        JoinState { first, variables, options, ends, orders }
    }

    /// Returns the joined variables of the first dataset.
    fn parts_of_first(&self) -> impl Iterator<Item = JoinedPart> + use<'a> {
        self.variables.iter().filter_map(|&JoinedVariable { var, along }| {
            Some(JoinedPart { pair: (var, var), shift: Shift { dim: along?, by: 0 }, conversion: None })
        })
    }

    /// Reports coordinates that do not continue in their order in another dataset, each at most once.
    fn check_order(
        &mut self,
        member: &JoinedDataset,
        parts: impl Iterator<Item = JoinedPart>,
        report: &mut dyn FnMut(JoinEvent<'_>),
    ) -> Result<()> {
        for part in parts {
            let Some(order) = self.orders.get_mut(&part.pair.1) else { continue };
            let convert = |values| convert(member, &part, values);
            if let Some(warning) = order.add((member, part.pair.0), &convert)? {
                report(JoinEvent::Warning(&warning));
                self.orders.remove(&part.pair.1);
            }
        }
        Ok(())
    }

    /// Checks that another dataset can be joined. Returns its joined variables; the lengths of the joined dimensions become those with it.
    fn check_member(&mut self, other: &JoinedDataset) -> Result<Vec<JoinedPart>> {
        let first = self.first;
        let (model, theirs) = (first.file.model(), other.file.model());
        other.check_complete()?;
        let mut joined = vec![];
        let mut longer = Ends::new();
        for &JoinedVariable { var, along } in self.variables {
            let path = model.var_path(var);
            let their_var = other.variable(&path)?;
            let converts = self.options.convert_times;
            let conversion = compare_variable(along, (first, var), (other, their_var), converts)?;
            other.check_readable(their_var)?;
            let Some(dim) = along else {
                check_values((first, var), (other, their_var))?;
                continue;
            };
            let id = model.var(var).dims[dim];
            let len = theirs.shape(their_var)[dim];
            let end = self.ends.get(&id).copied().unwrap_or_default();
            let reached = end.checked_add(len).ok_or_else(|| other.refused(&path, TOO_MANY))?;
            if *longer.entry(id).or_insert(reached) != reached {
                let name = &model.dim(id).name;
                let why = format!("{len} elements along {name}, and another number in a variable before it");
                return Err(other.refused(&path, why));
            }
            joined.push(JoinedPart { pair: (their_var, var), shift: Shift { dim, by: end }, conversion });
        }
        for path in theirs.var_ids().map(|var| theirs.var_path(var)) {
            if first.variable(&path).is_err() {
                return Err(other.refused(&path, format!("{} has no such variable", first.name)));
            }
        }
        self.ends.extend(longer);
        Ok(joined)
    }
}
