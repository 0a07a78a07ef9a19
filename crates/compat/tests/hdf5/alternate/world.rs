//! What a file must hold: the test's own model, kept beside the file and changed by the same operations.

use std::collections::{BTreeSet, HashMap};

use ferrocdf::{Atomic, Values};
use serde_json::{Map, Value as Json, json};

use super::ours::told_values;

/// A user-defined type.
pub(super) enum Class {
    Enum(Atomic, Vec<(String, i64)>),
    Vlen(Atomic),
    /// Names, types and shapes of the fields.
    Compound(Vec<(String, Atomic, Vec<u64>)>),
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ty {
    Atomic(Atomic),
    User(usize),
}

pub(super) struct Group {
    pub(super) parent: Option<usize>,
    pub(super) name: String,
    pub(super) atts: Map<String, Json>,
}

pub(super) struct Dim {
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) unlimited: bool,
}

pub(super) struct Type {
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) class: Class,
}

pub(super) struct Var {
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) dims: Vec<usize>,
    pub(super) atts: Map<String, Json>,
    /// The definition, of which the storage is told.
    pub(super) defined: Json,
    /// What was written; all else is the fill value.
    pub(super) written: HashMap<Vec<u64>, Json>,
    /// How far it was written in each dimension.
    pub(super) extent: Vec<u64>,
    pub(super) fill: Json,
}

/// A file.
pub(super) struct World {
    pub(super) classic: bool,
    pub(super) groups: Vec<Group>,
    pub(super) dims: Vec<Dim>,
    pub(super) types: Vec<Type>,
    pub(super) vars: Vec<Var>,
}

/// What is taken out of a file together, by position.
#[derive(Default)]
pub(super) struct Gone {
    pub(super) groups: BTreeSet<usize>,
    pub(super) dims: BTreeSet<usize>,
    pub(super) types: BTreeSet<usize>,
    pub(super) vars: BTreeSet<usize>,
}

/// Takes some out of a list.
fn retain<T>(list: &mut Vec<T>, gone: &BTreeSet<usize>) {
    let mut numbers = 0..;
    list.retain(|_| numbers.next().is_some_and(|number| !gone.contains(&number)));
}

/// The indices of a box, last dimension fastest.
pub(super) fn indices(count: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for &len in count {
        all = all
            .iter()
            .flat_map(|index: &Vec<u64>| (0..len).map(move |at| [&index[..], &[at]].concat()))
            .collect();
    }
    all
}

impl World {
    pub(super) fn new(classic: bool) -> Self {
        let root = Group { parent: None, name: String::new(), atts: Map::new() };
        World { classic, groups: vec![root], dims: vec![], types: vec![], vars: vec![] }
    }

    pub(super) fn path(&self, group: usize) -> String {
        let of = &self.groups[group];
        match of.parent {
            None => "/".to_string(),
            Some(parent) => format!("{}/{}", self.path(parent).trim_end_matches('/'), of.name),
        }
    }

    /// A group with all that is in it.
    pub(super) fn all_in(&self, group: usize) -> Gone {
        let inside = |mut at: usize| loop {
            match self.groups[at].parent {
                _ if at == group => break true,
                Some(parent) => at = parent,
                None => break false,
            }
        };
        Gone {
            groups: (0..self.groups.len()).filter(|&at| inside(at)).collect(),
            dims: (0..self.dims.len()).filter(|&dim| inside(self.dims[dim].group)).collect(),
            types: (0..self.types.len()).filter(|&ty| inside(self.types[ty].group)).collect(),
            vars: (0..self.vars.len()).filter(|&var| inside(self.vars[var].group)).collect(),
        }
    }

    /// Whether something that stays is on a dimension or of a type that goes, or may be: a type that is made like another
    /// may be taken for it.
    pub(super) fn is_used(&self, gone: &Gone) -> bool {
        let vars = || (0..self.vars.len()).filter(|var| !gone.vars.contains(var)).map(|var| &self.vars[var]);
        let groups = (0..self.groups.len()).filter(|group| !gone.groups.contains(group));
        let owners = vars().map(|var| &var.atts).chain(groups.map(|group| &self.groups[group].atts));
        let names: Vec<&str> = gone.types.iter().map(|&ty| self.types[ty].name.as_str()).collect();
        let goes = |ty: Ty| matches!(ty, Ty::User(at) if gone.types.contains(&at));
        vars().any(|var| goes(var.ty) || var.dims.iter().any(|dim| gone.dims.contains(dim)))
            || owners.flat_map(Map::values).any(|att| att[0].as_str().is_some_and(|ty| names.contains(&ty)))
            || gone.types.iter().any(|&ty| self.has_twin(Ty::User(ty)))
    }

    pub(super) fn remove(&mut self, gone: &Gone) {
        retain(&mut self.groups, &gone.groups);
        retain(&mut self.dims, &gone.dims);
        retain(&mut self.types, &gone.types);
        retain(&mut self.vars, &gone.vars);
        let after = |gone: &BTreeSet<usize>, at: &mut usize| *at -= gone.range(..*at).count();
        self.groups
            .iter_mut()
            .filter_map(|group| group.parent.as_mut())
            .for_each(|at| after(&gone.groups, at));
        self.dims.iter_mut().for_each(|dim| after(&gone.groups, &mut dim.group));
        self.types.iter_mut().for_each(|ty| after(&gone.groups, &mut ty.group));
        for var in &mut self.vars {
            after(&gone.groups, &mut var.group);
            var.dims.iter_mut().for_each(|dim| after(&gone.dims, dim));
            if let Ty::User(ty) = &mut var.ty {
                after(&gone.types, ty);
            }
        }
        // One that grows is as long as the longest variable on it.
        for (id, dim) in self.dims.iter_mut().enumerate().filter(|(_, dim)| dim.unlimited) {
            let along = |var: &Var| {
                let lens = var.dims.iter().zip(&var.extent).filter(|(of, _)| **of == id).map(|(_, &len)| len);
                lens.max()
            };
            dim.len = self.vars.iter().filter_map(along).max().unwrap_or(0);
        }
    }

    fn dim_path(&self, dim: usize) -> String {
        let of = &self.dims[dim];
        format!("{}/{}", self.path(of.group).trim_end_matches('/'), of.name)
    }

    pub(super) fn type_name(&self, ty: Ty) -> &str {
        match ty {
            Ty::Atomic(atomic) => atomic.cdl_name(),
            Ty::User(at) => &self.types[at].name,
        }
    }

    pub(super) fn shape(&self, var: usize) -> Vec<u64> {
        self.vars[var].dims.iter().map(|&dim| self.dims[dim].len).collect()
    }

    /// What an element of a type holds that was never written.
    pub(super) fn fill(&self, ty: Ty) -> Json {
        let default = |atomic| match atomic {
            Atomic::String => json!(""),
            atomic => told_values(&Values::default_fill(atomic))[0].clone(),
        };
        match ty {
            Ty::Atomic(atomic) => default(atomic),
            Ty::User(at) => match &self.types[at].class {
                Class::Enum(base, _) => default(*base),
                Class::Vlen(_) => json!([]),
                Class::Compound(fields) => fields
                    .iter()
                    .map(|(_, of, shape)| vec![zero(*of); shape.iter().product::<u64>() as usize])
                    .collect(),
            },
        }
    }

    /// The variable of a group that is the coordinate of a dimension.
    pub(super) fn coordinate(&self, dim: usize) -> Option<usize> {
        let of = &self.dims[dim];
        let is = |var: &Var| var.group == of.group && var.name == of.name && var.dims.first() == Some(&dim);
        self.vars.iter().position(is)
    }

    /// Whether a variable is the coordinate of its first dimension.
    pub(super) fn is_coordinate(&self, var: usize) -> bool {
        self.vars[var].dims.first().is_some_and(|&dim| self.coordinate(dim) == Some(var))
    }

    /// The dimensions that a group sees by their names.
    pub(super) fn visible(&self, group: usize) -> Vec<usize> {
        let mut seen: Vec<usize> = vec![];
        let mut at = Some(group);
        while let Some(group) = at {
            for (id, dim) in self.dims.iter().enumerate() {
                if dim.group == group && seen.iter().all(|&other| self.dims[other].name != dim.name) {
                    seen.push(id);
                }
            }
            at = self.groups[group].parent;
        }
        seen
    }

    /// The types that variables of a group may have: readers know those of other groups too late.
    pub(super) fn visible_types(&self, group: usize) -> Vec<usize> {
        let parents = std::iter::successors(Some(group), |&group| self.groups[group].parent);
        let parents: Vec<usize> = parents.collect();
        (0..self.types.len()).filter(|&ty| parents.contains(&self.types[ty].group)).collect()
    }

    /// Whether a name of a group is free for anything.
    pub(super) fn is_free(&self, group: usize, name: &str) -> bool {
        let dims = self.dims.iter().any(|dim| dim.group == group && dim.name == name);
        let vars = self.vars.iter().any(|var| var.group == group && var.name == name);
        let types = self.types.iter().any(|ty| ty.group == group && ty.name == name);
        let groups = self.groups.iter().any(|of| of.parent == Some(group) && of.name == name);
        !(dims || vars || types || groups)
    }

    /// The values of a variable.
    pub(super) fn data(&self, var: usize) -> Vec<Json> {
        let of = &self.vars[var];
        let value = |index: Vec<u64>| of.written.get(&index).unwrap_or(&of.fill).clone();
        indices(&self.shape(var)).into_iter().map(value).collect()
    }

    /// Whether the reference reads a variable wrongly. Where another dimension than the slowest is longer than what was
    /// written, or any of several that grow, it puts values in wrong places of memory; and the HDF5 library cannot fill in strings where there is no
    /// chunk, in a file that is open for reading only. Its Python module takes a dimension for a nearer one of its name.
    pub(super) fn is_misread(&self, var: usize) -> bool {
        let of = &self.vars[var];
        let grows: Vec<bool> = of.dims.iter().map(|&dim| self.dims[dim].unlimited).collect();
        let is_short = |axis: usize| grows[axis] && of.extent[axis] < self.dims[of.dims[axis]].len;
        let many = grows.iter().filter(|&&grows| grows).count() > 1;
        let all = self.shape(var).iter().product::<u64>();
        self.is_shadowed(var)
            || (usize::from(!many)..of.dims.len()).any(is_short)
            || (of.ty == Ty::Atomic(Atomic::String)
                && (grows.contains(&true) || of.defined["storage"].is_array())
                && (of.written.len() as u64) < all)
    }

    /// Whether a dimension of a variable has the name of one that is nearer to it.
    pub(super) fn is_shadowed(&self, var: usize) -> bool {
        let visible = self.visible(self.vars[var].group);
        self.vars[var].dims.iter().any(|dim| !visible.contains(dim))
    }

    /// Whether another type is made alike: variables and attributes have a type without its name.
    fn has_twin(&self, ty: Ty) -> bool {
        let Ty::User(at) = ty else { return false };
        let told = self.told_type(&self.types[at]);
        self.types.iter().enumerate().any(|(other, ty)| other != at && self.told_type(ty) == told)
    }

    /// Attributes; the type of one that has a twin is left open.
    fn told_atts(&self, atts: &Map<String, Json>) -> Json {
        let is_open = |name: &Json| {
            let at = self.types.iter().position(|ty| *name == ty.name);
            at.is_some_and(|at| self.has_twin(Ty::User(at)))
        };
        let told = |att: &Json| if is_open(&att[0]) { json!([null, att[1]]) } else { att.clone() };
        atts.iter().map(|(name, att)| (name.clone(), told(att))).collect::<Map<_, _>>().into()
    }

    fn told_type(&self, ty: &Type) -> Json {
        match &ty.class {
            Class::Enum(base, members) => json!(["enum", base.cdl_name(), members]),
            Class::Vlen(base) => json!(["vlen", base.cdl_name(), []]),
            Class::Compound(fields) => {
                let told =
                    |(name, of, shape): &(String, Atomic, Vec<u64>)| json!([name, of.cdl_name(), shape]);
                json!(["compound", fields.iter().map(told).collect::<Vec<_>>(), []])
            }
        }
    }

    fn told_var(&self, var: usize) -> Json {
        let of = &self.vars[var];
        let dims: Vec<String> = of.dims.iter().map(|&dim| self.dim_path(dim)).collect();
        json!({
            "type": if self.has_twin(of.ty) { Json::Null } else { json!(self.type_name(of.ty)) },
            "dims": dims,
            "storage": of.defined["storage"],
            "deflate": of.defined["deflate"],
            "shuffle": of.defined["shuffle"],
            "fletcher32": of.defined["fletcher32"],
            "big": of.defined["endian"] == "big",
            "atts": self.told_atts(&of.atts),
            "data": self.data(var),
        })
    }

    /// All that is in the file, but for what the writer chooses.
    pub(super) fn told(&self) -> Json {
        let mut groups = Map::new();
        for (id, group) in self.groups.iter().enumerate() {
            let (mut dims, mut types, mut vars) = (Map::new(), Map::new(), Map::new());
            for dim in self.dims.iter().filter(|dim| dim.group == id) {
                dims.insert(dim.name.clone(), json!([dim.len, dim.unlimited]));
            }
            for ty in self.types.iter().filter(|ty| ty.group == id) {
                types.insert(ty.name.clone(), self.told_type(ty));
            }
            for var in (0..self.vars.len()).filter(|&var| self.vars[var].group == id) {
                vars.insert(self.vars[var].name.clone(), self.told_var(var));
            }
            let told =
                json!({ "dims": dims, "types": types, "atts": self.told_atts(&group.atts), "vars": vars });
            groups.insert(self.path(id), told);
        }
        json!({ "classic": self.classic, "groups": groups })
    }

    /// What h5py must find: of each dataset the scales of its dimensions, and of each scale its users.
    pub(super) fn scales(&self) -> Json {
        let mut told = Map::new();
        let mut users: HashMap<usize, Vec<(String, usize)>> = HashMap::new();
        let link = |var: usize| {
            let of = &self.vars[var];
            let is_dim = self.dims.iter().any(|dim| dim.group == of.group && dim.name == of.name);
            let prefix = if is_dim && !self.is_coordinate(var) { "_nc4_non_coord_" } else { "" };
            format!("{}/{prefix}{}", self.path(of.group).trim_end_matches('/'), of.name)
        };
        for var in 0..self.vars.len() {
            let mut attached = vec![];
            if !self.is_coordinate(var) {
                for (axis, &dim) in self.vars[var].dims.iter().enumerate() {
                    attached.push(json!([self.dim_path(dim)]));
                    users.entry(dim).or_default().push((link(var), axis));
                }
            }
            told.insert(link(var), json!([attached, null]));
        }
        for dim in 0..self.dims.len() {
            let mut users = users.remove(&dim).unwrap_or_default();
            users.sort();
            let told = told.entry(self.dim_path(dim)).or_insert_with(|| json!([[], null]));
            told[1] = json!(users);
        }
        Json::Object(told)
    }
}

fn zero(of: Atomic) -> Json {
    if matches!(of, Atomic::Float | Atomic::Double) { json!("0") } else { json!(0) }
}
