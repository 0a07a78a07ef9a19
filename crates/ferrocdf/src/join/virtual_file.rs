//! Joining without copying: virtual datasets of HDF5, whose elements are those of the joined files.

use std::collections::BTreeSet;
use std::path::Path;

use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, Container, Model, SourceVariable, StoredFill, Values, VarId};

use super::check::{JoinedDataset, refused};
use super::define::{JoinedVariable, define, plan};
use super::relative::relative;
use super::{BUDGET, check_member, first_ends};
use crate::copy::{Pair, Shift, copy_data};
use crate::parts::is_plain;
use crate::{FileMut, Location, OpenOptions};

/// Maximum bytes of a coordinate that is copied, so that the file opens without opening all others.
const MAX_COPIED: u64 = 16 << 20;

/// A variable that is joined.
struct VirtualVariable {
    var: VarId,
    sources: Vec<SourceVariable>,
    /// Values and where they begin, of the coordinate of the joined dimension, which is copied; `None` for other variables.
    values: Option<Vec<(u64, Values)>>,
    copied: u64,
}

/// Joins netCDF-4 or HDF5 files as [`join`](super::join()) does, without copying elements: variables with the dimension become virtual datasets of HDF5, which
/// refer to the files by paths relative to `folder`, the one that the new file is in or will be moved to. Other variables, and the coordinate variable of the dimension up to
/// 16 MiB, are copied. The dimension has a fixed length in the new file. Elements that a file lacks, and those of files that are not there when the new
/// file is read, have the fill value.
///
/// # Errors
/// Those of `join`; `NC_EINVAL` for files of other formats and at URLs, and for variables with the dimension of strings or of user-defined types other than enumerations.
pub fn join_virtual(
    inputs: &[Location],
    to: &FileMut,
    folder: &Path,
    dimension: Option<&str>,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let Some((first_input, others)) = inputs.split_first() else {
        return Err(refused("no dataset is given"));
    };
    let first = JoinedDataset::open(first_input, &OpenOptions::default().all_attributes(true))?;
    if to.format().container() != Container::Hdf5 {
        let what = "virtual datasets are those of HDF5: the new file must be a netCDF-4 file";
        return Err(refused(what));
    }
    let (mut target, variables) = plan(&first, to.format(), dimension)?;
    let mut ends = first_ends(&first, &variables);
    let joined = variables.iter().filter(|variable| variable.along.is_some());
    let mut virtual_variables: Vec<VirtualVariable> =
        joined.map(|variable| VirtualVariable::new(&target, variable.var)).collect();
    let at_first = variables
        .iter()
        .filter_map(|&JoinedVariable { var, along }| along.map(|dim| ((var, var), Shift { dim, by: 0 })));
    add(&mut virtual_variables, &first, &relative_to(folder, first_input)?, at_first)?;
    progress();
    for input in others {
        let other = JoinedDataset::open(input, &OpenOptions::default())?;
        if other.file.format().container() != Container::Hdf5 {
            let kind = other.file.format().kind_name();
            let what = format!("{}: a {kind} file cannot be a source of virtual datasets", other.name);
            return Err(refused(what));
        }
        let joined = check_member(&first, &variables, &other, &mut ends)?;
        add(&mut virtual_variables, &other, &relative_to(folder, input)?, joined.into_iter())?;
        progress();
    }
    for (&dim, &end) in &ends {
        if end == 0 {
            return Err(refused(format!("no file has an element along \"{}\"", target.dim(dim).name)));
        }
        target.fix_dim(dim, end);
    }
    fix_others(&mut target, &first, &variables)?;
    for variable in &mut virtual_variables {
        let storage = &mut target.var_mut(variable.var).storage;
        storage.chunking = None;
        if variable.values.is_none() {
            storage.filters.clear();
            storage.chunking = Some(Chunking::Contiguous);
            storage.sources = std::mem::take(&mut variable.sources);
            // Elements of missing files are unwritten ones.
            storage.no_fill = false;
            storage.fill = storage.fill.take().filter(|fill| matches!(fill, StoredFill::Value(_)));
        }
    }
    define(to, target)?;
    let copied = variables.iter().filter(|variable| variable.along.is_none());
    let pairs: Vec<Pair> = copied.map(|variable| (variable.var, variable.var)).collect();
    copy_data(&first.file, to, &pairs, BUDGET, &mut |_| {})?;
    for VirtualVariable { var, values, .. } in virtual_variables {
        for (start, values) in values.into_iter().flatten() {
            let _exact = to.write_values(var, &[start], &[values.len() as u64], &values)?;
        }
    }
    Ok(())
}

/// Gives unlimited dimensions of virtual datasets beside the joined one the lengths that they have in all files, since a virtual dataset does not grow.
fn fix_others(target: &mut Model, first: &JoinedDataset, variables: &[JoinedVariable]) -> Result<()> {
    let source = first.file.model();
    let mut fixed = BTreeSet::new();
    for JoinedVariable { var, .. } in variables.iter().filter(|variable| variable.along.is_some()) {
        fixed.extend(source.var(*var).dims.iter().copied().filter(|&dim| target.dim(dim).unlimited));
    }
    for &dim in &fixed {
        let described = source.dim(dim);
        if described.len == 0 {
            return Err(refused(format!("{}: no element along \"{}\"", first.name, described.name)));
        }
        target.fix_dim(dim, described.len);
    }
    // Chunks of an unlimited dimension may be longer than a fixed one can have.
    for var in source.var_ids().filter(|&var| source.var(var).dims.iter().any(|dim| fixed.contains(dim))) {
        let storage = &mut target.var_mut(var).storage;
        (storage.chunking, storage.settled) = (None, false);
    }
    Ok(())
}

/// Returns the name of a source from a folder.
fn relative_to(folder: &Path, input: &Location) -> Result<String> {
    match &*input.resolved()? {
        Location::Path(path) => relative(folder, path),
        other => {
            let what = format!("{}: only files can be sources of virtual datasets", other.name().display());
            Err(refused(what))
        }
    }
}

/// Adds the variables of a file.
fn add(
    variables: &mut [VirtualVariable],
    member: &JoinedDataset,
    file: &str,
    joined: impl Iterator<Item = (Pair, Shift)>,
) -> Result<()> {
    for (variable, ((var, _), shift)) in variables.iter_mut().zip(joined) {
        variable.add(member, file, var, shift)?;
    }
    Ok(())
}

impl VirtualVariable {
    fn new(target: &Model, var: VarId) -> VirtualVariable {
        let described = target.var(var);
        let is_coordinate = match described.dims[..] {
            [dim] => target.dim(dim).name == described.name && target.dim(dim).group == described.group,
            _ => false,
        };
        VirtualVariable { var, sources: vec![], values: is_coordinate.then(Vec::new), copied: 0 }
    }

    /// Adds the elements of a file.
    fn add(&mut self, member: &JoinedDataset, file: &str, var: VarId, shift: Shift) -> Result<()> {
        let model = member.file.model();
        if !is_plain(&model, var) {
            let why = "strings and user-defined types other than enumerations cannot be virtual; join files without --virtual";
            return Err(member.refused(&model.var_path(var), why));
        }
        let stored = member.file.variable_of(var).sources()?.stored_shape;
        let count = stored.unwrap_or_else(|| model.shape(var));
        if count.contains(&0) {
            return Ok(());
        }
        let mut start = vec![0; count.len()];
        start[shift.dim] = shift.by;
        let size = model.size_of(model.var(var).ty) as u64;
        if let Some(values) = &mut self.values {
            self.copied = self.copied.saturating_add(count[shift.dim].saturating_mul(size));
            if self.copied <= MAX_COPIED {
                values.push((shift.by, member.file.read_values(var, &[0], &count)?));
            } else {
                self.values = None;
            }
        }
        let path = member.file.read_state().driver().inspect().dataset_path(&model, var)?;
        let path = path.ok_or_else(|| {
            let why = "its path in the file does not lead to its dataset, so it cannot be virtual; join files without --virtual";
            member.refused(&model.var_path(var), why)
        })?;
        self.sources.push(SourceVariable { file: file.into(), path: path.into_bytes(), start, count });
        Ok(())
    }
}
