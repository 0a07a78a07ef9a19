//! Merging the references of files with different variables.
//!
//! A Zarr store has one array of a name and one length of a dimension. Files that have both of the same name are merged only if they have
//! the same meaning and the same values, since nothing would tell it afterwards.

use std::collections::{BTreeMap, HashMap};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_zarr::within;

use super::{MadeReferences, ReferenceOptions, References, check_urls};
use crate::join::check::{JoinedDataset, check_values, check_variable, refused};
use crate::location::Location;
use crate::options::OpenOptions;

impl References {
    /// Makes the references of several datasets with other variables each. Variables that several datasets have, coordinates mostly, have
    /// equal values in all of them; those of the first dataset that has one are taken, and the attributes of the first one's groups.
    ///
    /// # Errors
    /// `NC_EINVAL` for a variable that is not the same in two datasets, and for a dimension that has two lengths; the message has the dataset
    /// and the variable. Those of [`References::of`].
    pub fn merge(datasets: &[(Location, ReferenceOptions)]) -> Result<MadeReferences> {
        check_urls(datasets)?;
        let mut merged = MergedReferences::default();
        for (location, options) in datasets {
            let made = References::of(location, options)?;
            let member = JoinedDataset::open(location, &OpenOptions::default())?;
            merged.skipped.extend(made.skipped.into_iter().map(|error| error.at(&member.name)));
            merged.members.push(member);
            merged.check_dimensions()?;
            merged.insert(&made.references)?;
        }
        match merged.members.is_empty() {
            true => Err(refused("no file is given")),
            false => Ok(MadeReferences { references: merged.references, skipped: merged.skipped }),
        }
    }
}

/// Datasets that are merged so far.
#[derive(Default)]
struct MergedReferences {
    members: Vec<JoinedDataset>,
    references: References,
    skipped: Vec<Error>,
    /// The number of the first dataset with each array, by the array's path without a slash before it.
    arrays: BTreeMap<String, usize>,
    /// The number of the first dataset with each group, by the group's path without a slash before it.
    groups: HashMap<String, usize>,
    /// The number of the first dataset with each dimension, and the length there, by the path of the group of a variable that has it, in
    /// which Zarr looks for it, and its name.
    dims: HashMap<(String, String), (usize, u64)>,
}

impl MergedReferences {
    /// Checks that the dimensions of the last dataset have the lengths that they have in the others.
    fn check_dimensions(&mut self) -> Result<()> {
        let Some((member, _)) = self.members.split_last() else { return Ok(()) };
        let number = self.members.len() - 1;
        let model = member.file.model();
        for var in model.var_ids() {
            let group = model.group_path(model.var(var).group);
            for &dim in &model.var(var).dims {
                let dim = model.dim(dim);
                let path = (group.clone(), dim.name.to_string());
                let &mut (first, len) = self.dims.entry(path).or_insert((number, dim.len));
                if len != dim.len {
                    let first = &self.members[first].name;
                    let why =
                        format!("its dimension {} has {} elements, but {len} in {first}", dim.name, dim.len);
                    return Err(member.refused(&model.var_path(var), why));
                }
            }
        }
        Ok(())
    }

    /// Adds what the last dataset has and no other, and checks that all else is the same.
    fn insert(&mut self, made: &References) -> Result<()> {
        let Some((member, _)) = self.members.split_last() else { return Ok(()) };
        let number = self.members.len() - 1;
        for (key, reference) in made.iter() {
            let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_new = match made.get(&within(folder, ".zarray")) {
                Some(_) => *self.arrays.entry(folder.to_string()).or_insert(number) == number,
                None => *self.groups.entry(folder.to_string()).or_insert(number) == number,
            };
            if is_new {
                self.references.insert(key.to_string(), reference.clone())?;
            }
        }
        for (array, &first) in &self.arrays {
            let path = format!("/{array}");
            if self.references.get(&within(array, ".zgroup")).is_some() {
                return Err(member.refused(&path, "it is a group in one file and a variable in another"));
            }
            if first != number && made.get(&within(array, ".zarray")).is_some() {
                let first = &self.members[first];
                let (ours, theirs) = ((first, first.variable(&path)?), (member, member.variable(&path)?));
                check_variable(None, ours, theirs)?;
                check_values(ours, theirs)?;
            }
        }
        Ok(())
    }
}
