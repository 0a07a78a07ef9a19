//! Selection of the variables whose data is printed.

use std::collections::HashSet;

use ferrocdf_model::{GroupId, Model, VarId};

use super::{PrintFailure, PrintOptions};

/// Requested variables and groups; `None` for all.
pub(super) struct Selection {
    vars: Option<HashSet<VarId>>,
    groups: Option<HashSet<GroupId>>,
}

impl Selection {
    /// Finds the requested variables and groups. The first name that does not exist is an error.
    pub(super) fn new(model: &Model, options: &PrintOptions) -> Result<Selection, PrintFailure> {
        let all = |count: usize| (0..count as u32).map(GroupId);
        let mut vars = HashSet::new();
        for wanted in &options.variables {
            let found: Vec<_> =
                all(model.groups().len()).filter_map(|group| var_in(model, group, wanted)).collect();
            if found.is_empty() {
                return Err(missing(wanted, "No such variable"));
            }
            vars.extend(found);
        }
        let mut groups = HashSet::new();
        for wanted in &options.groups {
            let found: Vec<_> = match wanted.strip_prefix(b"/") {
                None if wanted.is_empty() => vec![GroupId::ROOT],
                Some(path) => group_at(model, path).into_iter().collect(),
                None => all(model.groups().len())
                    .filter(|&id| id != GroupId::ROOT && model.group(id).name.as_bytes() == &wanted[..])
                    .collect(),
            };
            if found.is_empty() {
                return Err(missing(wanted, "No such group"));
            }
            groups.extend(found);
        }
        Ok(Selection {
            vars: (!options.variables.is_empty()).then_some(vars),
            groups: (!options.groups.is_empty()).then_some(groups),
        })
    }

    /// True if this variable is requested.
    pub(super) fn has_var(&self, id: VarId) -> bool {
        self.vars.as_ref().is_none_or(|vars| vars.contains(&id))
    }

    /// True if this group is requested.
    pub(super) fn has_group(&self, id: GroupId) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.contains(&id))
    }
}

fn missing(wanted: &[u8], why: &str) -> PrintFailure {
    PrintFailure::Refused([wanted, b": ", why.as_bytes()].concat())
}

/// Returns the variable of this group that `wanted` names: `/g/v` if the group is `/g`, `g/v` if its path ends in `g`,
/// or `v`.
fn var_in(model: &Model, group: GroupId, wanted: &[u8]) -> Option<VarId> {
    let Some(slash) = wanted.iter().rposition(|&byte| byte == b'/') else {
        return model.find_var(group, wanted);
    };
    let (path, name) = (&wanted[..slash], &wanted[slash + 1..]);
    let full = model.group_path(group);
    let here = match wanted[0] {
        b'/' => full.trim_end_matches('/').as_bytes() == path,
        _ => full.as_bytes().ends_with(path),
    };
    if here { model.find_var(group, name) } else { None }
}

fn group_at(model: &Model, path: &[u8]) -> Option<GroupId> {
    let mut parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
    parts.try_fold(GroupId::ROOT, |group, part| model.find_group(group, part))
}
