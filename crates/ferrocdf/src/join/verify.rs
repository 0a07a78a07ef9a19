//! Comparing a joined file with the datasets that it was made of.
//!
//! Definitions are compared with those of the first dataset itself, not with the plan of the joined file, so that a definition which the plan
//! lacks is found too. Values are compared by what also compares copies (`copy::find_shifted_difference`), in boxes of bounded size.

use ferrocdf_bytes::Result;
use ferrocdf_model::{Model, VarId};

use super::check::{JoinedDataset, refused};
use super::convert::convert;
use super::define::{JoinedVariable, change_attributes, plan};
use super::virtual_file::fix_others;
use super::{BUDGET, JoinEvent, JoinOptions, JoinState, JoinedPart};
use crate::copy::{Shift, find_definition_difference, find_shifted_difference, is_same};
use crate::{File, Location, OpenOptions};

/// Compares a joined file with the datasets that it was made of, in their order: dimensions, variables, types, attributes, and all values; numbers are
/// equal if their bits are, and converted times if they are those that the conversion gives. `is_virtual` is true for a file of [`join_virtual`](super::join_virtual());
/// the options are those that the file was made with.
///
/// # Errors
/// `NC_EINVAL` with the first difference: the dataset, the variable, and the element of the dataset. `ENOENT` for a virtual file whose sources are
/// not found. Those of `join` that concern the datasets.
pub fn verify(
    inputs: &[Location],
    joined: &File,
    is_virtual: bool,
    options: &JoinOptions,
    report: &mut dyn FnMut(JoinEvent<'_>),
) -> Result<()> {
    let Some((first, others)) = inputs.split_first() else { return Err(refused("no dataset is given")) };
    let first = JoinedDataset::open(first, &OpenOptions::default().all_attributes(true))?;
    let (_, variables) = plan(&first, joined.format(), options)?;
    let mut state = JoinState::new(&first, &variables, options);
    let copied = variables.iter().filter(|variable| variable.along.is_none());
    let copied = copied.map(|&JoinedVariable { var, .. }| JoinedPart {
        pair: (var, var),
        shift: Shift::default(),
        conversion: None,
    });
    for part in copied.chain(state.parts_of_first()) {
        compare(&first, &first, joined, &part)?;
    }
    report(JoinEvent::Joined);
    for other in others {
        let other = JoinedDataset::open(other, &OpenOptions::default())?;
        for part in state.check_member(&other)? {
            compare(&first, &other, joined, &part)?;
        }
        report(JoinEvent::Joined);
    }
    let mut wanted = Model::clone(&first.file.model());
    change_attributes(&mut wanted, &variables, options)?;
    for (&dim, &end) in &state.ends {
        wanted.fix_dim(dim, end);
        if !is_virtual {
            wanted.make_unlimited(dim);
        }
    }
    if is_virtual {
        fix_others(&mut wanted, &first, &variables)?;
        if !options.fill_missing {
            joined.check_sources(joined.model().var_ids())?;
        }
    }
    compare_definitions(&first, &wanted, &joined.model())
}

/// Compares the values of one variable of a dataset, whose definition is that of the first dataset, with those of the joined file.
fn compare(first: &JoinedDataset, member: &JoinedDataset, joined: &File, part: &JoinedPart) -> Result<()> {
    let (var, first_var) = part.pair;
    let path = first.file.model().var_path(first_var);
    let differs =
        |what: String| Err(refused(format!("the joined file differs from {}: {what}", member.name)));
    let model = joined.model();
    let Some(made) = model.find_var_at(path.as_bytes()) else { return differs(format!("{path} is missing")) };
    let shape = part.shift.reached(&member.file.model().shape(var))?;
    let made_shape = model.shape(made);
    if shape.len() != made_shape.len() || shape.iter().zip(&made_shape).any(|(len, made)| len > made) {
        return differs(format!("{path} has the shape {made_shape:?}, and should have at least {shape:?}"));
    }
    let is_as_converted = |values, made: &_| Ok(is_same(&convert(member, part, values)?, made));
    let files = (&member.file, joined);
    match find_shifted_difference(files, ((var, made), part.shift), BUDGET, &is_as_converted)? {
        Some(at) => differs(format!("element {at:?} of {path}")),
        None => Ok(()),
    }
}

/// Compares definitions in both directions: the joined file has all that it should have, and nothing else.
fn compare_definitions(first: &JoinedDataset, wanted: &Model, joined: &Model) -> Result<()> {
    let vars = |model: &Model| model.var_ids().collect::<Vec<VarId>>();
    let missing = find_definition_difference(wanted, joined, &vars(wanted));
    let what = missing.or_else(|| find_definition_difference(joined, wanted, &vars(joined)));
    match what {
        Some(what) => Err(refused(format!("the joined file differs from {}: {what}", first.name))),
        None => Ok(()),
    }
}
