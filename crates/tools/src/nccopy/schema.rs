//! What the copy defines.

use std::collections::HashSet;

use ferrocdf::{Code, DimId, Error, GroupId, Model, Owner, Result, VarId};

use super::Stop;
use super::options::Options;

/// The variables whose data is copied. Fails if one that was asked for is not there.
pub fn wanted_vars(model: &Model, options: &Options) -> Result<HashSet<VarId>, Stop> {
    let wanted = match &options.vars {
        None => model.var_ids().collect(),
        Some(choice) => {
            let find = |name: &Vec<u8>| {
                let missing = || Stop::Said(format!("{}: No such variable", String::from_utf8_lossy(name)));
                model.find_var(GroupId::ROOT, name).ok_or_else(missing)
            };
            choice.names.iter().map(find).collect::<Result<_, Stop>>()?
        }
    };
    match options.groups {
        Some(_) => Err(Stop::Said("Group list (-g ...) only permitted for netCDF-4 file".to_string())),
        None => Ok(wanted),
    }
}

/// Defines in `target` what the copy shall hold. Returns the variables that are there in both.
pub fn copy(
    source: &Model,
    target: &mut Model,
    options: &Options,
    wanted: &HashSet<VarId>,
) -> Result<Vec<(VarId, VarId)>> {
    let root = GroupId::ROOT;
    let holds_not = |what: &str| format!("{} files hold no {what}", target.format().kind_name());
    if source.groups().len() > 1 {
        return Err(Error::new(Code::ENOGRP, holds_not("groups")));
    }
    if !source.types().is_empty() {
        return Err(Error::new(Code::EBADTYPE, holds_not("user-defined types")));
    }
    for dim in source.dims() {
        // A dimension of length 0 is unlimited in classic files, whatever was asked for.
        let fixed = (!dim.unlimited || options.fix_unlimited) && dim.len > 0;
        target.def_dim(root, dim.name.as_bytes(), fixed.then_some(dim.len))?;
    }
    copy_attrs(source, Owner::Group(root), target, Owner::Group(root))?;
    let all_definitions = options.vars.as_ref().is_none_or(|choice| choice.keep_definitions);
    let mut pairs = vec![];
    for var in source.var_ids().filter(|var| all_definitions || wanted.contains(var)) {
        let from = source.var(var);
        // Dimensions were copied in order, so their ids are the same.
        let dims: Vec<DimId> = from.dims.clone();
        let to = target.def_var(root, from.name.as_bytes(), from.ty, &dims)?;
        copy_attrs(source, Owner::Var(var), target, Owner::Var(to))?;
        pairs.push((var, to));
    }
    Ok(pairs)
}

fn copy_attrs(source: &Model, from: Owner, target: &mut Model, to: Owner) -> Result<()> {
    let attrs = source.attrs(from);
    if let Some(failure) = attrs.failure() {
        return Err(failure.clone());
    }
    for attr in attrs {
        target.put_attr(to, attr.name.as_bytes(), attr.value.clone())?;
    }
    Ok(())
}
