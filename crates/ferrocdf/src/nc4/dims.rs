//! Which dimensions a file has, and which of them each dataset lies on.
//!
//! A dimension is a dimension scale; a dataset says which scales it has by the ids of netCDF, or by the references that
//! every HDF5 program writes. Datasets without scales get dimensions that are made up, as the reference makes them.

use std::collections::{HashMap, HashSet};

use ferrocdf_hdf5::Address;
use ferrocdf_model::{Dim, DimId, GroupId, Model, Name};

use super::found::{FoundVariable, Slots};

/// A dimension.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// The id that the file gives it, or the next one that is free.
    pub(super) id: i64,
    /// Whether the file gives it.
    pub(super) is_told: bool,
    pub(super) group: GroupId,
    pub(super) name: Name,
    pub(super) len: u64,
    pub(super) unlimited: bool,
    pub(super) has_variable: bool,
    /// Where the scale is, and in which file, as [`place_of`](super::walk::place_of) tells them apart.
    pub(super) at: Address,
    pub(super) file: usize,
}

/// No scale is at the end of the address space.
const NOWHERE: Address = Address(u64::MAX);

/// How the names of made-up dimensions begin. The reference lets the id follow.
const MADE_UP: &str = "phony_dim_";

/// Where a dimension comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimOrigin {
    /// The dataset that is its scale; made-up dimensions have none.
    pub(super) at: Option<Address>,
    /// The file that this is in.
    pub(super) file: usize,
    /// Whether the scale is a variable.
    pub(super) has_variable: bool,
    /// The id by which datasets call it, which rises from one dimension to the next but may leave some out.
    pub(super) id: i64,
    /// Whether the scale tells that id.
    pub(super) is_told: bool,
}

/// The dimensions of a file, in the order in which they were found.
#[derive(Default)]
pub(super) struct FoundDims {
    all: Vec<Scale>,
    ids: HashSet<i64>,
    /// The first scale at an address in a group.
    by_address: HashMap<(Address, GroupId), i64>,
    /// The dimensions of a group, by length and whether they are unlimited, in the order in which they were found.
    by_length: HashMap<(GroupId, u64, bool), Vec<i64>>,
    next: i64,
    /// Names like those of made-up dimensions that links of a group have.
    taken: HashSet<(GroupId, Name)>,
}

impl FoundDims {
    /// Notes that a link of a group has a name, so that no made-up dimension gets it: its scale could not be written. Links of
    /// variables need no note.
    pub(super) fn take_name(&mut self, group: GroupId, name: &[u8]) {
        if name.starts_with(MADE_UP.as_bytes()) {
            self.taken.insert((group, Name::stored(name)));
        }
    }

    /// Adds a scale with the id that the file gives it, if it does and no other has it.
    pub(super) fn add_scale(&mut self, mut scale: Scale, id: Option<i64>) -> Scale {
        let free = |id: &i64| (0..i64::from(u32::MAX)).contains(id) && !self.ids.contains(id);
        let told = id.filter(free);
        (scale.id, scale.is_told) = (told.unwrap_or(self.next), told.is_some());
        self.by_address.entry((scale.at, scale.group)).or_insert(scale.id);
        self.add(scale)
    }

    /// Adds a dimension. One of no length is unlimited, as in all of netCDF.
    fn add(&mut self, mut scale: Scale) -> Scale {
        scale.unlimited |= scale.len == 0;
        self.next = self.next.max(scale.id + 1);
        self.ids.insert(scale.id);
        self.by_length.entry((scale.group, scale.len, scale.unlimited)).or_default().push(scale.id);
        self.all.push(scale.clone());
        scale
    }

    /// Gives every variable its dimensions, adds them to the model, and gives for each variable their ids, and for each
    /// dimension its scale. Variables with a dimension that the file does not name, found by its length, are marked.
    pub(super) fn resolve(
        mut self,
        model: &mut Model,
        vars: &mut [FoundVariable],
    ) -> (Vec<Vec<DimId>>, Vec<DimOrigin>) {
        let mut ids: Vec<Vec<i64>> = vec![vec![]; vars.len()];
        let mut of_group: Vec<Vec<usize>> = vec![vec![]; model.groups().len()];
        for (number, var) in vars.iter().enumerate() {
            of_group[var.group.index()].push(number);
        }
        for group in inside_out(model) {
            for &number in &of_group[group.index()] {
                let var = &mut vars[number];
                (ids[number], var.by_length) = self.of_variable(model, var);
            }
        }
        // An unlimited dimension is as long as the longest dataset that lies on it.
        let mut longest: HashMap<i64, u64> = HashMap::new();
        for (var, ids) in vars.iter().zip(&ids) {
            for (&(len, _), &id) in var.extent.iter().zip(ids) {
                let known = longest.entry(id).or_default();
                *known = len.max(*known);
            }
        }
        self.all.sort_by_key(|dim| dim.id);
        self.name_made_up();
        let mut numbers = HashMap::new();
        let mut origins = Vec::with_capacity(self.all.len());
        for Scale { id, is_told, group, name, len, unlimited, has_variable, at, file } in self.all {
            let at = Some(at).filter(|&at| at != NOWHERE);
            origins.push(DimOrigin { at, file, has_variable, id, is_told });
            let len = if unlimited { longest.get(&id).copied().unwrap_or(0) } else { len };
            let dim = model.push_dim(Dim { name, group, len, unlimited });
            numbers.entry(id).or_insert(dim);
        }
        (ids.iter().map(|ids| ids.iter().map(|id| numbers[id]).collect()).collect(), origins)
    }

    /// The ids of a variable's dimensions, each of which is there when this returns, and whether one was found by its length.
    fn of_variable(&mut self, model: &Model, var: &FoundVariable) -> (Vec<i64>, bool) {
        let (mut ids, mut by_length): (Vec<i64>, _) = (Vec::new(), false);
        for dim in 0..var.extent.len() {
            let known = match &var.dims {
                Slots::Ids(list) => list.get(dim).copied().filter(|id| self.ids.contains(id)),
                Slots::Scales(list) => {
                    list.get(dim).copied().flatten().and_then(|at| self.seen_from(model, var.group, at))
                }
                Slots::None => None,
            };
            by_length |= known.is_none();
            let id = known.unwrap_or_else(|| self.made_up(var, dim, &ids));
            ids.push(id);
        }
        (ids, by_length)
    }

    /// The dimension whose scale is at an address, in a group or one that it is in.
    fn seen_from(&self, model: &Model, group: GroupId, at: Address) -> Option<i64> {
        model.and_parents(group).find_map(|group| self.by_address.get(&(at, group)).copied())
    }

    /// Gives made-up dimensions whose names are taken the next free ones of their groups. The others keep the names that the
    /// reference gives them.
    fn name_made_up(&mut self) {
        for scale in self.all.iter().filter(|dim| dim.at != NOWHERE) {
            if scale.name.as_bytes().starts_with(MADE_UP.as_bytes()) {
                self.taken.insert((scale.group, scale.name.clone()));
            }
        }
        let mut others = vec![];
        for dim in self.all.iter_mut().filter(|dim| dim.at == NOWHERE) {
            if !self.taken.insert((dim.group, dim.name.clone())) {
                others.push(dim);
            }
        }
        // Numbers below are taken, or were when they were looked at.
        let mut next: HashMap<GroupId, i64> = HashMap::new();
        for dim in others {
            let number = next.entry(dim.group).or_default();
            *number = dim.id.max(*number);
            while !self.taken.insert((dim.group, made_up_name(*number))) {
                *number += 1;
            }
            dim.name = made_up_name(*number);
        }
    }

    /// A dimension of the right length in the variable's group that it does not use yet, or a new one.
    fn made_up(&mut self, var: &FoundVariable, dim: usize, used: &[i64]) -> i64 {
        let (len, unlimited) = var.extent[dim];
        let fitting = self.by_length.get(&(var.group, len, unlimited));
        if let Some(&found) = fitting.and_then(|ids| ids.iter().find(|id| !used.contains(id))) {
            return found;
        }
        let (id, group) = (self.next, var.group);
        let name = made_up_name(id);
        let (is_told, has_variable) = (false, false);
        self.add(Scale { id, is_told, group, name, len, unlimited, has_variable, at: NOWHERE, file: 0 }).id
    }
}

/// The name that the reference gives a made-up dimension.
fn made_up_name(id: i64) -> Name {
    Name::stored(format!("{MADE_UP}{id}").as_bytes())
}

/// All groups, those within a group before it.
fn inside_out(model: &Model) -> Vec<GroupId> {
    fn add(model: &Model, group: GroupId, list: &mut Vec<GroupId>) {
        for &child in &model.group(group).groups {
            add(model, child, list);
        }
        list.push(group);
    }
    let mut list = Vec::new();
    add(model, GroupId::ROOT, &mut list);
    list
}
