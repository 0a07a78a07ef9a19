//! Comparing a copy with what it was made of.

use std::collections::HashMap;

use ferrocdf::{Attr, Code, Error, File, GroupId, Model, Owner, Result, VarId};

use super::options::Options;

/// Checks that the copy has the attributes and the values of these variables of the input and, if asked for, all metadata in front of the
/// elements.
///
/// # Errors
/// `NC_EINVAL` with the first difference; those of reading.
pub fn check(input: &File, made: &File, vars: impl Iterator<Item = VarId>, options: &Options) -> Result<()> {
    let differs = |what: String| {
        Error::new(Code::EINVAL, format!("the copy differs from {}: {what}", input.path().display()))
    };
    let (source, target) = (input.model(), made.model());
    let groups: HashMap<String, GroupId> =
        target.group_ids().map(|group| (target.group_path(group), group)).collect();
    let (mut owners, mut pairs) = (vec![], vec![]);
    for group in source.group_ids() {
        let path = source.group_path(group);
        let to = *groups.get(&path).ok_or_else(|| differs(format!("{path} is missing")))?;
        owners.push((path, Owner::Group(group), Owner::Group(to)));
    }
    for var in vars {
        let path = source.var_path(var);
        let to = target.find_var_at(path.as_bytes()).ok_or_else(|| differs(format!("{path} is missing")))?;
        owners.push((path, Owner::Var(var), Owner::Var(to)));
        pairs.push((var, to));
    }
    for (path, from, to) in owners {
        if let Some(name) = other_attribute(&source, from, &target, to) {
            return Err(differs(format!("attribute {name} of {path}")));
        }
    }
    if let Some((var, at)) = ferrocdf::find_difference(input, made, &pairs, options.buffer)? {
        return Err(differs(format!("{} from element {at:?} on", source.var_path(var))));
    }
    if options.metadata_first && made.layout()?.is_metadata_first() == Some(false) {
        return Err(Error::new(Code::EINTERNAL, "some metadata of the copy lies behind its first element"));
    }
    Ok(())
}

/// The name of the first attribute that the target has not, or with another value.
fn other_attribute(source: &Model, from: Owner, target: &Model, to: Owner) -> Option<String> {
    // The text of values is the same for not-a-numbers too.
    let is_same =
        |a: &Attr, b: &Attr| a.value == b.value || format!("{:?}", a.value) == format!("{:?}", b.value);
    let is_there =
        |attr: &&Attr| target.attrs(to).iter().any(|other| other.name == attr.name && is_same(attr, other));
    let missing = source.attrs(from).iter().find(|attr| !is_there(attr));
    missing.map(|attr| attr.name.to_string())
}
