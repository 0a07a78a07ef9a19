//! Paths: from a model to the names of its objects, and back.

use crate::{GroupId, Model, Owner, VarId};

impl Model {
    /// Returns the group that a path leads through, and the name at its end; `None` if a group in the path does not exist. A path that
    /// begins with a slash begins at the root group, others begin at `from`.
    pub fn split_path<'p>(&self, from: GroupId, path: &'p [u8]) -> Option<(GroupId, &'p [u8])> {
        let (from, path) = path.strip_prefix(b"/").map_or((from, path), |path| (GroupId::ROOT, path));
        let mut steps = path.split(|&byte| byte == b'/');
        let name = steps.next_back()?;
        let group = steps.try_fold(from, |group, step| self.find_group(group, step))?;
        Some((group, name))
    }

    /// The variable at a path such as `/model/wind`, or of a name in the root group.
    pub fn find_var_at(&self, path: &[u8]) -> Option<VarId> {
        let (group, name) = self.split_path(GroupId::ROOT, path)?;
        self.find_var(group, name)
    }

    /// The path of a group: `/` for the root, else `/a/b`.
    pub fn group_path(&self, group: GroupId) -> String {
        let mut names: Vec<_> = self.and_parents(group).map(|id| self.group(id).name.to_str()).collect();
        names.reverse();
        if names.len() == 1 { "/".to_string() } else { names.join("/") }
    }

    /// The path of a variable, such as `/a/b/temperature`.
    pub fn var_path(&self, var: VarId) -> String {
        let var = self.var(var);
        let group = self.group_path(var.group);
        format!("{}/{}", group.trim_end_matches('/'), var.name)
    }

    /// The path of what an attribute belongs to.
    pub fn owner_path(&self, owner: Owner) -> String {
        match owner {
            Owner::Group(group) => self.group_path(group),
            Owner::Var(var) => self.var_path(var),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Atomic, Format};

    #[test]
    fn paths_begin_at_a_group_or_at_the_root() {
        let mut model = Model::new(Format::NETCDF4);
        let a = model.def_group(GroupId::ROOT, "a").unwrap();
        let b = model.def_group(a, "b").unwrap();
        let v = model.def_var(b, "v", Atomic::Int.into(), &[]).unwrap();
        assert_eq!(model.split_path(a, b"b/v"), Some((b, &b"v"[..])));
        assert_eq!(model.split_path(b, b"/a/x"), Some((a, &b"x"[..])));
        assert_eq!(model.split_path(b, b"a/x"), None);
        assert_eq!((model.find_var_at(b"a/b/v"), model.find_var_at(b"v")), (Some(v), None));
        assert_eq!(model.owner_path(Owner::Var(v)), "/a/b/v");
    }
}
