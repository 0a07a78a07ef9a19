//! The definitions of a joined file: those of the first dataset, with a dimension that grows.

use std::collections::BTreeSet;

use ferrocdf_bytes::{Code, Result};
use ferrocdf_model::{
    Chunking, Container, DimId, Filter, Format, GroupId, Model, Owner, Storage, Values, Var, VarId,
};

use super::JoinOptions;
use super::attribute_values::text;
use super::check::{JoinedDataset, refused};
use super::coordinates::parent_of_bounds;
use crate::FileMut;
use crate::copy::without_variables;
use crate::nc4::complete_chunks;

/// An attribute with the least and the greatest number of a variable, which are others in the joined file.
const ACTUAL_RANGE: &str = "actual_range";

/// A variable of the first dataset, which has the same id in the joined file.
pub(super) struct JoinedVariable {
    pub(super) var: VarId,
    /// The dimension along which it is joined, as one of its own; `None` for a variable that is the same in all datasets.
    pub(super) along: Option<usize>,
}

/// Returns the definitions of the first dataset with a dimension that grows, for a file of another format, and its variables.
pub(super) fn plan(
    first: &JoinedDataset,
    format: Format,
    options: &JoinOptions,
) -> Result<(Model, Vec<JoinedVariable>)> {
    let source = first.file.model();
    let from_format = source.format();
    let is_file = matches!(format.container(), Container::Classic | Container::Hdf5);
    if !is_file || from_format.container() != format.container() {
        let kind = |format: Format| match format.container() {
            Container::Classic | Container::Hdf5 => format!("{} file", format.kind_name()),
            container => format!("dataset of {}", container.name()),
        };
        let what = format!(
            "{}: a {} is not joined into a {}; `ferrocdf copy -k nc4` makes a netCDF-4 file of it",
            first.name,
            kind(from_format),
            kind(if is_file { format } else { Format::NETCDF4 })
        );
        return Err(refused(what));
    }
    first.check_complete()?;
    let name = dimension_name(&source, first, options.dimension.as_deref())?;
    let mut target = without_variables(&source, format);
    for id in (0..source.dims().len() as u32).map(DimId) {
        if target.dim(id).name.as_bytes() == name.as_bytes() {
            target.make_unlimited(id);
        }
        if target.dim(id).unlimited {
            target.set_dim_len(id, 0);
        }
    }
    let mut variables = vec![];
    for var in source.var_ids() {
        first.check_readable(var)?;
        let along = along(&source, first, var, &name)?;
        let mut storage = storage(&source, var, along.is_some());
        if along.is_some() && storage.chunking.is_none() && format.container() == Container::Hdf5 {
            storage.chunking = chunks_of_bounds(&source, var, along);
        }
        target.push_var(Var { storage, ..source.var(var).clone() });
        variables.push(JoinedVariable { var, along });
    }
    if variables.iter().all(|variable| variable.along.is_none()) {
        return Err(refused(format!("{}: no variable has the dimension \"{name}\"", first.name)));
    }
    for owner in source.group_ids().map(Owner::Group).chain(source.var_ids().map(Owner::Var)) {
        if let Some(failure) = source.attrs(owner).failure() {
            return Err(failure.clone().at(&first.name));
        }
    }
    change_attributes(&mut target, &variables, options)?;
    check_records(&target, first, &name)?;
    Ok((target, variables))
}

/// Makes the attributes of the first dataset those of the joined file.
pub(super) fn change_attributes(
    target: &mut Model,
    variables: &[JoinedVariable],
    options: &JoinOptions,
) -> Result<()> {
    for variable in variables.iter().filter(|variable| variable.along.is_some()) {
        let owner = Owner::Var(variable.var);
        if target.find_attr(owner, ACTUAL_RANGE.as_bytes()).is_some() {
            target.del_attr(owner, ACTUAL_RANGE)?;
        }
    }
    match &options.history {
        Some(line) => add_history(target, line),
        None => Ok(()),
    }
}

/// Puts a line before those of the attribute `history`.
fn add_history(target: &mut Model, line: &str) -> Result<()> {
    const HISTORY: &str = "history";
    let group = Owner::Group(GroupId::ROOT);
    let present = target.find_attr(group, HISTORY.as_bytes()).and_then(|attr| text(&attr.value));
    let lines = [Some(line.as_bytes()), present].into_iter().flatten().collect::<Vec<_>>();
    let value = Values::Char(lines.join(&b'\n'));
    target.put_attr(group, HISTORY, value)
}

/// Returns the chunks of bounds of a joined coordinate: as long as the coordinate's. Others would have one step each.
fn chunks_of_bounds(source: &Model, var: VarId, along: Option<usize>) -> Option<Chunking> {
    let parent = parent_of_bounds(source, var).filter(|_| along == Some(0))?;
    let len = match &source.var(parent).storage.chunking {
        Some(Chunking::Chunked(shape)) => shape.first().copied()?,
        _ => complete_chunks(&[], &[(0, true)], source.size_of(source.var(var).ty) as u64)[0],
    };
    Some(Chunking::Chunked(vec![len.max(1), 2]))
}

/// Gives an empty file its definitions.
pub(super) fn define(to: &FileMut, target: Model) -> Result<()> {
    to.define(|draft| {
        if draft.var_ids().next().is_some() || !draft.dims().is_empty() {
            return Err(refused("the file has definitions already; datasets are joined into a new file"));
        }
        *draft = target;
        Ok(())
    })
}

/// Returns the name of the dimension along which datasets are joined: the given one, or that of the unlimited dimensions.
fn dimension_name(source: &Model, first: &JoinedDataset, given: Option<&str>) -> Result<String> {
    if let Some(name) = given {
        if let Some((_, last)) = name.rsplit_once('/') {
            let what = format!(
                "{}: \"{name}\" is a path; name the dimension \"{last}\" alone: those of this name in all groups are joined",
                first.name
            );
            return Err(refused(what));
        }
        return Ok(name.to_string());
    }
    let unlimited = source.dims().iter().filter(|dim| dim.unlimited);
    let names: BTreeSet<String> = unlimited.map(|dim| dim.name.to_string()).collect();
    let all = names.iter().cloned().collect::<Vec<_>>().join(", ");
    match (names.len(), names.into_iter().next()) {
        (1, Some(name)) => Ok(name),
        (0, _) => Err(refused(format!(
            "{}: no dimension is unlimited; say along which one files are joined",
            first.name
        ))),
        _ => Err(refused(format!(
            "{}: several dimensions are unlimited ({all}); say along which one files are joined",
            first.name
        ))),
    }
}

/// Returns the place of the joined dimension among those of a variable.
fn along(source: &Model, first: &JoinedDataset, var: VarId, name: &str) -> Result<Option<usize>> {
    let dims = &source.var(var).dims;
    let mut places = (0..dims.len()).filter(|&at| source.dim(dims[at]).name.as_bytes() == name.as_bytes());
    let found = places.next();
    if places.next().is_some() {
        let why = format!("it has the dimension \"{name}\" twice, and can be joined along one only");
        return Err(first.refused(&source.var_path(var), why));
    }
    Ok(found)
}

/// Returns how a variable is stored in the joined file.
fn storage(source: &Model, var: VarId, is_joined: bool) -> Storage {
    let own = &source.var(var).storage;
    let mut storage = own.clone();
    if is_joined && !matches!(storage.chunking, Some(Chunking::Chunked(_))) {
        storage.chunking = None;
    }
    // Shuffling derives its parameter from the type.
    if let Some(shuffle) = storage.filters.iter_mut().find(|filter| filter.id == Filter::SHUFFLE) {
        shuffle.params.clear();
    }
    storage.settled = own.as_usual && storage.chunking == own.chunking;
    storage
}

/// Checks that a model with one unlimited dimension, the first one of a variable, can hold the joined dataset.
fn check_records(target: &Model, first: &JoinedDataset, name: &str) -> Result<()> {
    if !target.format().has_cdf_model() {
        return Ok(());
    }
    let other = target.dims().iter().find(|dim| dim.unlimited && dim.name.as_bytes() != name.as_bytes());
    if let Some(other) = other {
        let what = format!(
            "{}: {} files have one unlimited dimension, here \"{}\", so they are not joined along \"{name}\"; \
             `ferrocdf copy -k nc4` makes netCDF-4 files of them",
            first.name,
            target.format().kind_name(),
            other.name
        );
        return Err(refused(what).with_code(Code::EUNLIMIT));
    }
    for var in target.var_ids() {
        let is_later = |&dim| target.dim(dim).unlimited;
        if target.var(var).dims.iter().skip(1).any(is_later) {
            let why = format!(
                "\"{name}\" is not its first dimension, as it must be in {} files; `ferrocdf copy -k nc4` makes netCDF-4 files of them",
                target.format().kind_name()
            );
            return Err(first.refused(&target.var_path(var), why).with_code(Code::EUNLIMPOS));
        }
    }
    Ok(())
}
