//! What happens in a session, at random: operations in JSON, each of which changes the test's own model too.
//!
//! The reference's sessions leave out what it is known to do wrong, and what its Python module has no way to ask for.

use ferrocdf::Atomic;
use ferrocdf::store::testing::Rng;
use serde_json::{Map, Value as Json, json};

use super::world::{Class, Dim, Gone, Group, Ty, Type, Var, World, indices};

/// Who does the operations of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Who {
    Ours,
    /// The reference of this position.
    Theirs(usize),
}

const CLASSIC: [Atomic; 6] =
    [Atomic::Byte, Atomic::Char, Atomic::Short, Atomic::Int, Atomic::Float, Atomic::Double];
const INTEGERS: [Atomic; 8] = [
    Atomic::Byte,
    Atomic::Ubyte,
    Atomic::Short,
    Atomic::Ushort,
    Atomic::Int,
    Atomic::Uint,
    Atomic::Int64,
    Atomic::Uint64,
];
const NAMES: [&str; 6] = ["x", "y", "time", "lat", "lon", "länge"];
/// The longest that dimensions become.
const LONGEST: u64 = 12;
const FILL: &str = "_FillValue";

/// The position of Debian's library among the references.
const DEBIANS: usize = 1;

/// Makes the operations of one file.
pub(super) struct Story {
    pub(super) world: World,
    rng: Rng,
    names: u64,
    who: Who,
    /// Whether this session defined dimensions or variables.
    defined: bool,
    /// The attributes that this session put or renamed.
    touched: Vec<String>,
    /// Whether there was ever an attribute of more bytes than a header holds: among those that lie elsewhere the HDF5
    /// library forgets the order.
    pub(super) unordered: bool,
}

impl Story {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let world = World::new(rng.once_in(6));
        Story { world, rng, names: 0, who: Who::Ours, defined: false, touched: vec![], unordered: false }
    }

    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    fn is_ours(&self) -> bool {
        self.who == Who::Ours
    }

    /// A name that nothing has.
    fn fresh(&mut self) -> String {
        self.names += 1;
        let start = self.rng.pick(&["", "ü", "x_", "日", "a b"]);
        let len = self.rng.below(if self.rng.clone().once_in(8) { 60 } else { 6 }) as usize;
        format!("{start}n{}{}", "abcde".repeat(len / 5 + 1).get(..len).unwrap_or_default(), self.names)
    }

    fn group(&mut self) -> usize {
        self.rng.index(self.world.groups.len())
    }

    fn atomic(&mut self) -> Atomic {
        if self.world.classic { self.rng.pick(&CLASSIC) } else { self.rng.pick(&Atomic::ALL) }
    }

    fn integer(&mut self, of: Atomic) -> Json {
        let bits = self.rng.number() >> self.rng.pick(&[0, 40, 57]);
        match of {
            Atomic::Byte => json!(bits as i8),
            Atomic::Ubyte => json!(bits as u8),
            Atomic::Short => json!(bits as i16),
            Atomic::Ushort => json!(bits as u16),
            Atomic::Int => json!(bits as i32),
            Atomic::Uint => json!(bits as u32),
            Atomic::Int64 => json!(bits as i64),
            _ => json!(bits >> 1),
        }
    }

    fn basic(&mut self, of: Atomic) -> Json {
        let number = self.rng.below(2_000_000) as f64 / 1024.0 - 700.0;
        match of {
            Atomic::Char => json!(self.rng.pick(b"abcxyz -")),
            Atomic::Float => json!(format!("{:x}", (number as f32).to_bits())),
            Atomic::Double => json!(format!("{:x}", (number * 1e-9).to_bits())),
            Atomic::String => {
                let words = self.rng.below(4) as usize;
                json!(self.rng.pick(&["", "süß", "word ", "日本"]).repeat(words))
            }
            of => self.integer(of),
        }
    }

    fn cell(&mut self, ty: Ty) -> Json {
        let at = match ty {
            Ty::Atomic(of) => return self.basic(of),
            Ty::User(at) => at,
        };
        match &self.world.types[at].class {
            Class::Enum(_, members) => json!(members[self.rng.index(members.len())].1),
            &Class::Vlen(base) => (0..self.rng.below(5)).map(|_| self.basic(base)).collect(),
            Class::Compound(fields) => {
                let fields: Vec<(Atomic, u64)> =
                    fields.iter().map(|(_, of, shape)| (*of, shape.iter().product())).collect();
                let part = |(of, count): (Atomic, u64)| (0..count).map(|_| self.basic(of)).collect::<Json>();
                fields.into_iter().map(part).collect()
            }
        }
    }

    fn def_dim(&mut self) -> Option<Json> {
        let group = self.group();
        let mut name = if self.rng.once_in(2) { self.rng.pick(&NAMES).to_string() } else { self.fresh() };
        let mut vars = self.world.vars.iter().enumerate().filter(|(_, var)| var.group == group);
        // A variable that is there gets out of the way of a dimension of its name.
        if self.is_ours() && self.rng.once_in(6) && vars.clone().next().is_some() {
            let (_, var) = vars.nth(self.rng.clone().index(vars.clone().count()))?;
            let taken = self.world.dims.iter().any(|dim| dim.group == group && dim.name == var.name);
            name = if taken { return None } else { var.name.clone() };
        } else if !self.world.is_free(group, &name) {
            return None;
        }
        let unlimited =
            self.rng.once_in(3) && !(self.world.classic && self.world.dims.iter().any(|dim| dim.unlimited));
        let len = if unlimited { None } else { Some(1 + self.rng.below(6)) };
        let op = json!({ "do": "dim", "in": self.world.path(group), "name": name, "len": len });
        self.defined = true;
        self.world.dims.push(Dim { group, name, len: len.unwrap_or(0), unlimited });
        Some(op)
    }

    fn def_group(&mut self) -> Option<Json> {
        let (parent, name) = (self.group(), self.fresh());
        let op = json!({ "do": "group", "in": self.world.path(parent), "name": name });
        self.world.groups.push(Group { parent: Some(parent), name, atts: Map::new() });
        Some(op)
    }

    fn def_type(&mut self) -> Option<Json> {
        let (group, name) = (self.group(), self.fresh());
        let mut op = json!({ "do": "type", "in": self.world.path(group), "name": name });
        let class = match self.rng.below(3) {
            0 => {
                let base = self.rng.pick(&INTEGERS);
                let members: Vec<(String, i64)> =
                    (0..1 + self.rng.below(5)).map(|at| (format!("m{at}"), at as i64 * 3)).collect();
                let by_name: Map<String, Json> =
                    members.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                (op["class"], op["base"], op["members"]) =
                    (json!("enum"), json!(base.cdl_name()), Json::Object(by_name));
                Class::Enum(base, members)
            }
            1 => {
                let base = self.rng.pick(&INTEGERS);
                (op["class"], op["base"]) = (json!("vlen"), json!(base.cdl_name()));
                Class::Vlen(base)
            }
            _ => {
                let fields: Vec<(String, Atomic, Vec<u64>)> = (0..1 + self.rng.below(4))
                    .map(|at| {
                        let of = self.rng.pick(&[Atomic::Byte, Atomic::Short, Atomic::Float, Atomic::Int64]);
                        (format!("f{at}"), of, self.rng.pick(&[&[][..], &[], &[2], &[2, 3]]).to_vec())
                    })
                    .collect();
                let told: Vec<Json> =
                    fields.iter().map(|(name, of, shape)| json!([name, of.cdl_name(), shape])).collect();
                (op["class"], op["base"]) = (json!("compound"), json!(told));
                Class::Compound(fields)
            }
        };
        self.world.types.push(Type { group, name, class });
        Some(op)
    }

    /// The dimensions of a new variable.
    fn some_dims(&mut self, group: usize) -> Vec<usize> {
        let visible = self.world.visible(group);
        let mut dims: Vec<usize> = vec![];
        for _ in 0..self.rng.below(4) {
            if !visible.is_empty() {
                let dim = self.rng.pick(&visible);
                if !dims.contains(&dim) || self.rng.once_in(8) {
                    dims.push(dim);
                }
            }
        }
        if self.world.classic {
            // The one that grows comes first.
            dims.sort_by_key(|&dim| !self.world.dims[dim].unlimited);
            let grows = |&dim: &usize| self.world.dims[dim].unlimited;
            if dims.iter().filter(|dim| grows(dim)).count() > 1 {
                dims.retain(|dim| !grows(dim));
            }
        }
        dims
    }

    fn def_var(&mut self) -> Option<Json> {
        let group = self.group();
        let dims = self.some_dims(group);
        let here = |dim: &&usize| self.world.dims[**dim].group == group;
        let first = dims.first().filter(here).map(|&dim| self.world.dims[dim].name.clone());
        let other = dims.iter().skip(1).rfind(here).map(|&dim| self.world.dims[dim].name.clone());
        let name = match (first, other) {
            (Some(first), _) if self.rng.once_in(3) => first,
            (_, Some(other)) if self.rng.once_in(5) => other,
            _ => self.fresh(),
        };
        if self.world.vars.iter().any(|var| var.group == group && var.name == name) {
            return None;
        }
        let users = self.world.visible_types(group);
        let ty = match !users.is_empty() && self.rng.once_in(4) {
            true => Ty::User(self.rng.pick(&users)),
            false => Ty::Atomic(self.atomic()),
        };
        let is_tree = match ty {
            Ty::Atomic(of) => of == Atomic::String,
            Ty::User(at) => matches!(self.world.types[at].class, Class::Vlen(_)),
        };
        let grows = dims.iter().any(|&dim| self.world.dims[dim].unlimited);
        let mut op = json!({
            "do": "var", "in": self.world.path(group), "name": name, "type": self.world.type_name(ty),
            "dims": dims.iter().map(|&dim| &self.world.dims[dim].name).collect::<Vec<_>>(),
            "storage": null, "deflate": null, "shuffle": false, "fletcher32": false, "endian": "native", "fill": null,
        });
        if !dims.is_empty() {
            if grows || self.rng.once_in(2) {
                let chunk = |&dim: &usize| {
                    let of = &self.world.dims[dim];
                    1 + self.rng.below(if of.unlimited { 5 } else { of.len })
                };
                let chunks: Vec<u64> = dims.iter().map(chunk).collect();
                op["storage"] = json!(chunks);
                if !is_tree {
                    op["deflate"] =
                        if self.rng.once_in(2) { json!(1 + self.rng.below(9)) } else { Json::Null };
                    op["shuffle"] = json!(!op["deflate"].is_null() && self.rng.once_in(2));
                    op["fletcher32"] = json!(self.rng.once_in(4));
                }
            } else if self.rng.once_in(2) {
                op["storage"] = json!(if self.is_ours() {
                    self.rng.pick(&["compact", "contiguous"])
                } else {
                    "contiguous"
                });
            }
        }
        let mut fill = self.world.fill(ty);
        let mut atts = Map::new();
        if let Ty::Atomic(of) = ty {
            if of.size() > 1 && of != Atomic::String {
                op["endian"] = json!(self.rng.pick(&["native", "native", "little", "big"]));
            }
            if of != Atomic::String && self.rng.once_in(4) {
                fill = self.basic(of);
                op["fill"] = fill.clone();
                atts.insert(FILL.into(), json!([of.cdl_name(), [fill]]));
            }
        }
        self.defined = true;
        let (defined, written, extent) = (op.clone(), Default::default(), vec![0; dims.len()]);
        self.world.vars.push(Var { group, name, ty, dims, atts, defined, written, extent, fill });
        Some(op)
    }

    fn put(&mut self) -> Option<Json> {
        let vars = self.world.vars.len();
        let var = if vars > 0 { self.rng.index(vars) } else { return None };
        let (ty, dims) = (self.world.vars[var].ty, self.world.vars[var].dims.clone());
        let plain = matches!(ty, Ty::Atomic(of) if of != Atomic::String);
        if self.who == Who::Theirs(DEBIANS) && self.world.vars[var].defined["endian"] == "big" {
            // It does not swap the bytes of numbers that it writes to variables that were there before.
            return None;
        }
        if !self.is_ours() && self.world.is_shadowed(var) {
            return None;
        }
        let (mut start, mut count, mut stride) = (vec![], vec![], vec![]);
        let whole = self.rng.once_in(3);
        for &dim in &dims {
            let of = &self.world.dims[dim];
            let room = if of.unlimited { (of.len + self.rng.below(5)).min(LONGEST) } else { of.len };
            if room == 0 {
                return None;
            }
            let step = match self.is_ours() || plain {
                true if !whole => self.rng.pick(&[1, 1, 2, 3]),
                _ => 1,
            };
            let first = if whole { 0 } else { self.rng.below(room) };
            let most = (room - first).div_ceil(step);
            start.push(first);
            count.push(if whole { most } else { 1 + self.rng.below(most) });
            stride.push(step);
        }
        let cells: Vec<Json> = (0..count.iter().product()).map(|_| self.cell(ty)).collect();
        for (index, cell) in indices(&count).into_iter().zip(&cells) {
            let at = index.iter().zip(&start).zip(&stride).map(|((&at, start), step)| start + at * step);
            self.world.vars[var].written.insert(at.collect(), cell.clone());
        }
        for (axis, &dim) in dims.iter().enumerate() {
            let end = start[axis] + (count[axis] - 1) * stride[axis] + 1;
            for len in [&mut self.world.dims[dim].len, &mut self.world.vars[var].extent[axis]] {
                *len = (*len).max(end);
            }
        }
        let of = &self.world.vars[var];
        Some(json!({
            "do": "put", "in": self.world.path(of.group), "var": of.name, "type": self.world.type_name(ty),
            "start": start, "count": count, "stride": stride, "cells": cells,
        }))
    }

    /// The attributes of something, and how to name it.
    fn owner(&mut self) -> (Json, &mut Map<String, Json>) {
        let at = self.rng.index(self.world.groups.len() + self.world.vars.len());
        match at.checked_sub(self.world.groups.len()) {
            None => {
                let op = json!({ "in": self.world.path(at), "var": null });
                (op, &mut self.world.groups[at].atts)
            }
            Some(var) => {
                let of = &self.world.vars[var];
                let op = json!({ "in": self.world.path(of.group), "var": of.name });
                (op, &mut self.world.vars[var].atts)
            }
        }
    }

    /// The type and the values of an attribute.
    fn attribute(&mut self) -> (String, Vec<Json>) {
        let users = self.world.types.len();
        if self.is_ours() && users > 0 && self.rng.once_in(6) {
            let at = self.rng.index(users);
            if !matches!(self.world.types[at].class, Class::Vlen(_)) {
                let ty = Ty::User(at);
                let cells = (0..1 + self.rng.below(3)).map(|_| self.cell(ty)).collect();
                return (self.world.type_name(ty).to_string(), cells);
            }
        }
        let of = self.atomic();
        let count = match self.rng.below(30) {
            0 if of != Atomic::String => {
                self.unordered = true;
                20_000
            }
            1..4 => self.rng.below(300),
            _ => self.rng.below(8),
        };
        // The module makes one byte of none.
        let count = if of == Atomic::Char && self.is_ours() { count } else { count.max(1) };
        (of.cdl_name().to_string(), (0..count).map(|_| self.basic(of)).collect())
    }

    fn att(&mut self) -> Option<Json> {
        let (ty, cells) = self.attribute();
        let (fresh, old) = (self.fresh(), self.rng.number() as usize);
        let (mut op, atts) = self.owner();
        let names: Vec<String> = atts.keys().filter(|name| *name != FILL).cloned().collect();
        let name = if names.is_empty() || old % 2 == 0 { fresh } else { names[old % names.len()].clone() };
        atts.insert(name.clone(), json!([ty, cells]));
        (op["do"], op["name"], op["type"], op["cells"]) =
            (json!("att"), json!(name), json!(ty), json!(cells));
        self.touched.push(name);
        Some(op)
    }

    fn change_att(&mut self, delete: bool) -> Option<Json> {
        let (fresh, which) = (self.fresh(), self.rng.number() as usize);
        // The reference forgets that an attribute is in the file once it is put anew.
        let spared = if self.is_ours() { vec![] } else { self.touched.clone() };
        let (mut op, atts) = self.owner();
        let free = |name: &&String| *name != FILL && !spared.contains(name);
        let names: Vec<String> = atts.keys().filter(free).cloned().collect();
        let name = if names.is_empty() { return None } else { &names[which % names.len()] };
        let value = atts.remove(name)?;
        (op["do"], op["name"]) = (json!("delete att"), json!(name));
        if !delete {
            (op["do"], op["to"]) = (json!("rename att"), json!(fresh));
            atts.insert(fresh.clone(), value);
            self.touched.push(fresh);
        }
        Some(op)
    }

    fn rename_dim(&mut self) -> Option<Json> {
        let dims = self.world.dims.len();
        let dim = if dims > 0 { self.rng.index(dims) } else { return None };
        let (group, name) = (self.world.dims[dim].group, self.world.dims[dim].name.clone());
        let mut to = self.fresh();
        if self.is_ours() {
            // It may become that of a variable that is there.
            let vars: Vec<String> =
                self.world.vars.iter().filter(|var| var.group == group).map(|var| var.name.clone()).collect();
            let free =
                |name: &String| !self.world.dims.iter().any(|dim| dim.group == group && dim.name == *name);
            if let Some(name) = vars.into_iter().rfind(free).filter(|_| self.rng.once_in(3)) {
                to = name;
            }
        } else if self.world.vars.iter().any(|var| var.group == group && var.name == name) {
            return None;
        }
        self.world.dims[dim].name.clone_from(&to);
        Some(json!({ "do": "rename dim", "in": self.world.path(group), "name": name, "to": to }))
    }

    fn rename_var(&mut self) -> Option<Json> {
        let vars = self.world.vars.len();
        let var = if vars > 0 { self.rng.index(vars) } else { return None };
        let (group, name) = (self.world.vars[var].group, self.world.vars[var].name.clone());
        let mut to = self.fresh();
        let dims: Vec<String> =
            self.world.dims.iter().filter(|dim| dim.group == group).map(|dim| dim.name.clone()).collect();
        if self.is_ours() {
            let free =
                |name: &String| !self.world.vars.iter().any(|var| var.group == group && var.name == *name);
            if let Some(name) = dims.into_iter().rfind(free).filter(|_| self.rng.once_in(3)) {
                to = name;
            }
        } else if group != 0
            || self.defined
            || self.world.vars.iter().any(|var| var.group == 0 && dims.contains(&var.name))
        {
            // The reference fails at variables in groups, at any after it defined something, and where others have the
            // name of a dimension.
            return None;
        }
        self.world.vars[var].name.clone_from(&to);
        Some(json!({ "do": "rename var", "in": self.world.path(group), "name": name, "to": to }))
    }

    fn rename_group(&mut self) -> Option<Json> {
        let (at, to) = (self.group(), self.fresh());
        let parent = self.world.groups[at].parent?;
        let name = std::mem::replace(&mut self.world.groups[at].name, to.clone());
        Some(json!({ "do": "rename group", "in": self.world.path(parent), "name": name, "to": to }))
    }

    /// Takes something out of the file, which the reference cannot do.
    fn remove(&mut self) -> Option<Json> {
        let world = &self.world;
        let [groups, dims, types, vars] =
            [world.groups.len(), world.dims.len(), world.types.len(), world.vars.len()];
        let mut gone = Gone::default();
        let (what, group, name) = match self.rng.below(6) {
            0 => {
                let at = self.rng.index(groups);
                gone = world.all_in(at);
                ("group", world.groups[at].parent?, &world.groups[at].name)
            }
            1 if types > 0 => {
                let at = self.rng.index(types);
                gone.types.insert(at);
                ("type", world.types[at].group, &world.types[at].name)
            }
            2 | 3 if dims > 0 => {
                let at = self.rng.index(dims);
                gone.dims.insert(at);
                ("dim", world.dims[at].group, &world.dims[at].name)
            }
            4.. if vars > 0 => {
                let at = self.rng.index(vars);
                gone.vars.insert(at);
                ("var", world.vars[at].group, &world.vars[at].name)
            }
            _ => return None,
        };
        let path = format!("{}/{name}", world.path(group).trim_end_matches('/'));
        let op = json!({ "do": "remove", "what": what, "path": path, "used": world.is_used(&gone) });
        if op["used"] == false {
            self.world.remove(&gone);
        } else if !gone.types.is_empty() {
            // It may be found to be used, or its twin.
            return None;
        }
        Some(op)
    }

    fn get(&mut self) -> Option<Json> {
        let vars = self.world.vars.len();
        let var = if vars > 0 { self.rng.index(vars) } else { return None };
        let of = &self.world.vars[var];
        let cells = self.world.data(var);
        Some(json!({ "do": "get", "in": self.world.path(of.group), "var": of.name, "cells": cells }))
    }

    fn operation(&mut self) -> Option<Json> {
        let enhanced = !self.world.classic;
        match self.rng.below(43) {
            0..4 => self.def_dim(),
            4 if enhanced => self.def_group(),
            5 if enhanced => self.def_type(),
            6..13 => self.def_var(),
            13..23 => self.put(),
            23..28 => self.att(),
            28 => self.change_att(true),
            29 | 30 => self.change_att(false),
            31 | 32 => self.rename_dim(),
            33 | 34 => self.rename_var(),
            35 if enhanced => self.rename_group(),
            36 => Some(json!({ "do": "sync" })),
            37 | 38 if self.is_ours() => self.get(),
            39 if self.is_ours() => Some(json!({ "do": "abort" })),
            40.. if self.is_ours() => self.remove(),
            _ => None,
        }
    }

    /// The operations of a session.
    pub(super) fn session(&mut self, who: Who) -> Vec<Json> {
        self.who = who;
        self.defined = false;
        self.touched.clear();
        let wanted = 1 + self.rng.below(14);
        let mut ops: Vec<Json> = (0..wanted).filter_map(|_| self.operation()).collect();
        if self.rng.once_in(12) {
            // More attributes than fit in a header without an index.
            ops.extend((0..12).filter_map(|_| self.att()));
        }
        ops
    }
}
