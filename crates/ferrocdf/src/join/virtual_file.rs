//! Joining without copying: virtual datasets of HDF5, whose elements are those of the joined files.

use std::collections::BTreeSet;
use std::path::Path;

use ferrocdf_bytes::Result;
use ferrocdf_model::{Chunking, Container, Model, SourceVariable, StoredFill, Values, VarId};

use super::check::{JoinedDataset, refused};
use super::convert::convert;
use super::coordinates::{is_coordinate, parent_of_bounds};
use super::define::{JoinedVariable, define, plan};
use super::relative::relative;
use super::{BUDGET, JoinEvent, JoinOptions, JoinState, JoinedPart};
use crate::copy::{Pair, copy_data};
use crate::parts::is_plain;
use crate::{FileMut, Location, OpenOptions};

/// Maximum bytes of a coordinate that is copied, so that the file opens without opening all others.
const MAX_COPIED: u64 = 16 << 20;

/// The values of one file.
struct CopiedBox {
    /// The coordinates of the first value in the new file.
    start: Vec<u64>,
    count: Vec<u64>,
    values: Values,
}

/// A variable that is joined.
struct VirtualVariable {
    var: VarId,
    sources: Vec<SourceVariable>,
    /// The values of the coordinate of the joined dimension and of its bounds, which are copied; `None` for other variables.
    values: Option<Vec<CopiedBox>>,
    copied: u64,
    /// True if a file has other units of time, so that the values must be copied.
    is_converted: bool,
}

/// Joins netCDF-4 or HDF5 files as [`join`](super::join()) does, without copying elements: variables with the dimension become virtual datasets of HDF5, which
/// refer to the files by paths relative to `folder`, the one that the new file is in or will be moved to. Other variables are copied, and the coordinate variable of the dimension and its bounds, up to
/// 16 MiB each. The dimension has a fixed length in the new file. Elements that a file lacks, and those of files that are not there when the new
/// file is read, have the fill value.
///
/// # Errors
/// Those of `join`; `NC_EINVAL` for files of other formats and at URLs, and for variables with the dimension of strings or of user-defined types other than enumerations.
pub fn join_virtual(
    inputs: &[Location],
    to: &FileMut,
    folder: &Path,
    options: &JoinOptions,
    report: &mut dyn FnMut(JoinEvent<'_>),
) -> Result<()> {
    let Some((first_input, others)) = inputs.split_first() else {
        return Err(refused("no dataset is given"));
    };
    let first = JoinedDataset::open(first_input, &OpenOptions::default().all_attributes(true))?;
    check_kind(&first)?;
    if to.format().container() != Container::Hdf5 {
        let what = "virtual datasets are those of HDF5: the new file must be a netCDF-4 file";
        return Err(refused(what));
    }
    let (mut target, variables) = plan(&first, to.format(), options)?;
    let mut joined = JoinState::new(&first, &variables, options);
    let parts: Vec<JoinedPart> = joined.parts_of_first().collect();
    let source = first.file.model();
    let mut virtual_variables: Vec<VirtualVariable> =
        parts.iter().map(|part| VirtualVariable::new(&source, part.pair.1)).collect();
    if !options.fill_missing {
        let copied = variables.iter().filter(|variable| variable.along.is_none());
        copied.map(|variable| variable.var).try_for_each(|var| first.check_sources(var))?;
    }
    joined.check_order(&first, parts.iter().copied(), report)?;
    add(&mut virtual_variables, &first, &relative_to(folder, first_input)?, &parts)?;
    report(JoinEvent::Joined);
    for input in others {
        let other = JoinedDataset::open(input, &OpenOptions::default())?;
        check_kind(&other)?;
        let parts = joined.check_member(&other)?;
        joined.check_order(&other, parts.iter().copied(), report)?;
        add(&mut virtual_variables, &other, &relative_to(folder, input)?, &parts)?;
        report(JoinEvent::Joined);
    }
    for (&dim, &end) in &joined.ends {
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
        for CopiedBox { start, count, values } in values.into_iter().flatten() {
            let _exact = to.write_values(var, &start, &count, &values)?;
        }
    }
    Ok(())
}

/// # Errors
/// `NC_EINVAL` for a dataset that is no HDF5 file.
fn check_kind(member: &JoinedDataset) -> Result<()> {
    let format = member.file.format();
    if format.container() == Container::Hdf5 {
        return Ok(());
    }
    let what = format!(
        "{}: only netCDF-4 and other HDF5 files can be sources of virtual datasets; join files of {} without --virtual",
        member.name,
        format.container().name()
    );
    Err(refused(what))
}

/// Gives unlimited dimensions of virtual datasets beside the joined one the lengths that they have in all files, since a virtual dataset does not grow.
pub(super) fn fix_others(
    target: &mut Model,
    first: &JoinedDataset,
    variables: &[JoinedVariable],
) -> Result<()> {
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
    parts: &[JoinedPart],
) -> Result<()> {
    variables.iter_mut().zip(parts).try_for_each(|(variable, part)| variable.add(member, file, part))
}

impl VirtualVariable {
    fn new(source: &Model, var: VarId) -> VirtualVariable {
        let parent = parent_of_bounds(source, var).unwrap_or(var);
        let values = is_coordinate(source, parent).then(Vec::new);
        VirtualVariable { var, sources: vec![], values, copied: 0, is_converted: false }
    }

    /// Adds the elements of a file.
    fn add(&mut self, member: &JoinedDataset, file: &str, part: &JoinedPart) -> Result<()> {
        let (var, shift) = (part.pair.0, part.shift);
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
            let added = count.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
            self.copied = self.copied.saturating_add(added);
            if self.copied <= MAX_COPIED {
                let read = member.file.read_values(var, &vec![0; count.len()], &count)?;
                let read = convert(member, part, read)?;
                values.push(CopiedBox { start: start.clone(), count: count.clone(), values: read });
            } else {
                self.values = None;
            }
        }
        self.is_converted |= part.conversion.is_some();
        if self.values.is_none() && self.is_converted {
            let why = "its times have other units than in the first file, and virtual elements are not converted; join files without --virtual";
            return Err(member.refused(&model.var_path(var), why));
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
