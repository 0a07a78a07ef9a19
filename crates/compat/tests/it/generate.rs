//! Random sequences of calls that are right, with some wrong ones between them, and what is known of the result.
//!
//! The generator keeps just enough of a model to make calls that succeed, and for each element whether anybody defined
//! its value: with fill mode off, or in padding that moved, the reference leaves whatever the file held.

use ferrocdf::{Alignment, Atomic, Format, Values};
use ferrocdf_compat::script::{Access, Op, native_bytes};
use ferrocdf_store::testing::Rng;

/// A script and what is known of the file that it leaves.
pub struct Story {
    pub ops: Vec<Op>,
    pub vars: Vec<Var>,
    /// Whether define mode was entered again, so that bytes between variables may be left over from moves.
    pub redefined: bool,
    /// Whether define mode was entered again and ended with alignment asked for.
    pub realigned: bool,
}

/// A variable as the generator knows it.
pub struct Var {
    name: String,
    ty: Atomic,
    dims: Vec<u32>,
    attrs: Vec<(String, Atomic, usize)>,
    /// Whether the file holds it.
    committed: bool,
    no_fill: bool,
    /// For each element whether its value is defined.
    pub defined: Vec<bool>,
    /// Whether its padding may hold anything.
    pub loose_padding: bool,
}

struct Generator {
    rng: Rng,
    format: Format,
    story: Story,
    dims: Vec<(String, Option<u64>)>,
    attrs: Vec<(String, Atomic, usize)>,
    records: u64,
    no_fill: bool,
    names: u32,
}

/// The types of a format.
pub fn types(format: Format) -> impl Iterator<Item = Atomic> {
    Atomic::ALL.into_iter().filter(move |&ty| format.holds(ty))
}

/// Values of a type from any bytes.
pub fn values(ty: Atomic, bytes: &[u8]) -> Values {
    macro_rules! numbers {
        ($number:ty) => {
            bytes
                .chunks_exact(size_of::<$number>())
                .map(|bytes| <$number>::from_ne_bytes(bytes.try_into().expect("a chunk of that size")))
                .collect()
        };
    }
    match ty {
        Atomic::Byte => Values::Byte(numbers!(i8)),
        Atomic::Char | Atomic::String => Values::Char(bytes.to_vec()),
        Atomic::Short => Values::Short(numbers!(i16)),
        Atomic::Int => Values::Int(numbers!(i32)),
        Atomic::Float => Values::Float(numbers!(f32)),
        Atomic::Double => Values::Double(numbers!(f64)),
        Atomic::Ubyte => Values::Ubyte(bytes.to_vec()),
        Atomic::Ushort => Values::Ushort(numbers!(u16)),
        Atomic::Uint => Values::Uint(numbers!(u32)),
        Atomic::Int64 => Values::Int64(numbers!(i64)),
        Atomic::Uint64 => Values::Uint64(numbers!(u64)),
    }
}

/// `count` small numbers, which every type holds.
fn small(ty: Atomic, count: usize, rng: &mut Rng) -> Vec<u8> {
    let mut one = || rng.below(100) as u8;
    (0..count)
        .flat_map(|_| match ty {
            Atomic::Float => f32::from(one()).to_ne_bytes().to_vec(),
            Atomic::Double => f64::from(one()).to_ne_bytes().to_vec(),
            _ => {
                let mut bytes = u64::from(one()).to_le_bytes()[..ty.size()].to_vec();
                if cfg!(target_endian = "big") {
                    bytes.reverse();
                }
                bytes
            }
        })
        .collect()
}

/// The sequence of a seed.
pub fn story(seed: u64) -> Story {
    let mut rng = Rng::new(seed);
    let format = rng.pick(&[Format::CLASSIC, Format::OFFSET64, Format::DATA64]);
    let no_fill = rng.once_in(6);
    let story =
        Story { ops: vec![Op::Create(format, no_fill)], vars: vec![], redefined: false, realigned: false };
    let mut g = Generator { rng, format, story, dims: vec![], attrs: vec![], records: 0, no_fill, names: 0 };
    g.define(4, 14);
    g.end_define(false);
    for _ in 0..g.rng.below(7) {
        g.session();
    }
    if g.all_defined() {
        g.story.ops.push(Op::Dump);
    }
    g.story.ops.push(Op::Close);
    g.story
}

impl Generator {
    fn name(&mut self, longest: usize) -> String {
        const STEMS: [&str; 6] = ["a", "lat", "temperature", "x y", "\u{e9}t\u{e9}", "e\u{301}@#."];
        self.names += 1;
        let number = self.names.to_string();
        let stem = self.rng.pick(&STEMS);
        let name = if self.rng.once_in(2) { format!("{stem}{number}") } else { format!("{number}{stem}") };
        let name = if name.ends_with(' ') { format!("{number}_") } else { name };
        if name.len() <= longest { name } else { number }
    }

    fn push(&mut self, op: Op) {
        self.story.ops.push(op);
    }

    fn is_record(&self, var: usize) -> bool {
        self.story.vars[var].dims.first().is_some_and(|&dim| self.dims[dim as usize].1.is_none())
    }

    fn shape(&self, var: usize) -> Vec<u64> {
        let dims = &self.story.vars[var].dims;
        dims.iter().map(|&dim| self.dims[dim as usize].1.unwrap_or(self.records)).collect()
    }

    fn all_defined(&self) -> bool {
        self.story.vars.iter().all(|var| var.defined.iter().all(|&defined| defined))
    }

    // ---- Define mode ----

    fn define(&mut self, least: u64, most: u64) {
        for _ in 0..least + self.rng.below(most - least) {
            match self.rng.below(12) {
                0..=2 => self.def_dim(),
                3..=5 => self.def_var(),
                6..=7 => self.put_att(),
                8 => self.change_att(),
                9 => self.rename(usize::MAX),
                10 => self.def_fill(),
                _ => self.wrong_definition(),
            }
        }
    }

    fn def_dim(&mut self) {
        let name = self.name(256);
        let has_record = self.dims.iter().any(|dim| dim.1.is_none());
        let len = if !has_record && self.rng.once_in(2) { None } else { Some(1 + self.rng.below(5)) };
        self.push(Op::Dim(name.clone(), len));
        self.dims.push((name, len));
    }

    fn def_var(&mut self) {
        let name = self.name(256);
        let types: Vec<_> = types(self.format).collect();
        let ty = self.rng.pick(&types);
        let fixed: Vec<u32> =
            (0..self.dims.len() as u32).filter(|&at| self.dims[at as usize].1.is_some()).collect();
        let record = (0..self.dims.len() as u32).find(|&at| self.dims[at as usize].1.is_none());
        let mut dims: Vec<u32> = record.filter(|_| !self.rng.once_in(3)).into_iter().collect();
        if !fixed.is_empty() {
            for _ in 0..self.rng.below(4) {
                dims.push(self.rng.pick(&fixed));
            }
        }
        self.push(Op::Var(name.clone(), ty, dims.clone()));
        let no_fill = self.no_fill;
        let attrs = vec![];
        let (committed, defined, loose_padding) = (false, vec![], no_fill);
        self.story.vars.push(Var { name, ty, dims, attrs, committed, no_fill, defined, loose_padding });
    }

    fn owner(&mut self) -> Option<u32> {
        let vars = self.story.vars.len() as u64;
        let at = self.rng.below(vars + 1);
        (at < vars).then_some(at as u32)
    }

    fn attrs_of(&mut self, owner: Option<u32>) -> &mut Vec<(String, Atomic, usize)> {
        match owner {
            Some(var) => &mut self.story.vars[var as usize].attrs,
            None => &mut self.attrs,
        }
    }

    fn value(&mut self, ty: Atomic, count: usize) -> Values {
        let bytes: Vec<u8> = (0..count * ty.size()).map(|_| self.rng.number() as u8).collect();
        values(ty, &bytes)
    }

    fn put_att(&mut self) {
        let (owner, name) = (self.owner(), self.name(256));
        let types: Vec<_> = types(self.format).collect();
        let (ty, count) = (self.rng.pick(&types), self.rng.index(6));
        let value = self.value(ty, count);
        self.push(Op::Att(owner, name.clone(), value));
        self.attrs_of(owner).push((name, ty, count));
    }

    /// Replaces, renames or removes an attribute.
    fn change_att(&mut self) {
        let owner = self.owner();
        let len = self.attrs_of(owner).len();
        if len == 0 {
            return;
        }
        let at = self.rng.index(len);
        let (name, ty, _) = self.attrs_of(owner)[at].clone();
        match self.rng.below(3) {
            0 if name != "_FillValue" => {
                let count = self.rng.index(9);
                let value = self.value(ty, count);
                self.push(Op::Att(owner, name, value));
                self.attrs_of(owner)[at].2 = count;
            }
            1 => {
                let to = self.name(256);
                self.push(Op::RenAtt(owner, name, to.clone()));
                self.attrs_of(owner)[at].0 = to;
            }
            _ => {
                self.push(Op::DelAtt(owner, name));
                self.attrs_of(owner).remove(at);
            }
        }
    }

    /// Renames a dimension or variable to a name of at most `longest` bytes, and of at most its own length if that is
    /// asked for by a `longest` of 0.
    fn rename(&mut self, longest: usize) {
        let variable = self.rng.once_in(2);
        let len = if variable { self.story.vars.len() } else { self.dims.len() };
        if len == 0 {
            return;
        }
        let at = self.rng.index(len);
        let old = if variable { &self.story.vars[at].name } else { &self.dims[at].0 };
        // The file holds the composed form.
        let stored = old.replace("e\u{301}", "\u{e9}").len();
        let room = if longest == 0 { stored } else { longest };
        let mut to = self.name(room);
        if to.len() > room {
            return;
        }
        if longest == 0 {
            // In data mode the reference pads a shorter name with zero bytes that it then takes for part of it.
            let stored = to.replace("e\u{301}", "\u{e9}").len();
            to.push_str(&"_".repeat(room - stored));
        }
        if variable {
            self.push(Op::RenVar(at as u32, to.clone()));
            self.story.vars[at].name = to;
        } else {
            self.push(Op::RenDim(at as u32, to.clone()));
            self.dims[at].0 = to;
        }
    }

    fn def_fill(&mut self) {
        if self.story.vars.is_empty() {
            return;
        }
        let var = self.rng.index(self.story.vars.len());
        let ty = self.story.vars[var].ty;
        let no_fill = self.rng.once_in(4);
        let value = (!self.rng.once_in(4)).then(|| self.value(ty, 1));
        self.push(Op::Fill(var as u32, no_fill, value.clone()));
        let entry = &mut self.story.vars[var];
        entry.no_fill = no_fill;
        entry.loose_padding |= no_fill || entry.committed;
        if value.is_some() && !no_fill {
            entry.attrs.retain(|attr| attr.0 != "_FillValue");
            entry.attrs.push(("_FillValue".to_string(), ty, 1));
        }
    }

    fn wrong_definition(&mut self) {
        let bad = ["", "a/b", " x", "x ", "-x", "\u{1}", "a\tb", "a\u{7f}"];
        let name = self.name(256);
        let op = match self.rng.below(11) {
            0 => Op::Dim(self.rng.pick(&bad).to_string(), Some(2)),
            1 => Op::Var("n".repeat(257), Atomic::Int, vec![]),
            2 => Op::Dim(name, Some(self.format.max_dim_len() + 1)),
            3 if self.dims.iter().any(|dim| dim.1.is_none()) => Op::Dim(name, None),
            4 if !self.dims.is_empty() => Op::Dim(self.dims[0].0.clone(), Some(3)),
            5 if !self.story.vars.is_empty() => Op::Var(self.story.vars[0].name.clone(), Atomic::Int, vec![]),
            6 => Op::Var(name, Atomic::Int, vec![self.dims.len() as u32]),
            7 => match self.dims.iter().position(|dim| dim.1.is_none()) {
                Some(record) => Op::Var(name, Atomic::Byte, vec![record as u32; 2]),
                None => return,
            },
            8 if self.format != Format::DATA64 => Op::Var(name, Atomic::Uint64, vec![]),
            9 => Op::DelAtt(None, name),
            _ => Op::RenAtt(None, name, "other".to_string()),
        };
        // CDF-5 dimensions beyond 2^63 are taken by the reference, which then computes with negative lengths.
        if !(matches!(&op, Op::Dim(_, Some(len)) if *len > 1 << 40)) {
            self.push(op);
        }
    }

    fn end_define(&mut self, again: bool) {
        let alignment = self.rng.once_in(4).then(|| Alignment {
            header_free: self.rng.below(3) * self.rng.below(300),
            fixed: self.rng.pick(&[1, 4, 8, 512]),
            fixed_free: self.rng.below(3) * self.rng.below(100),
            records: self.rng.pick(&[1, 4, 64, 512]),
        });
        self.story.realigned |= again && alignment.is_some();
        self.story.redefined |= again;
        // In the first definition nothing may be left out of the file by lazy ends of define mode.
        self.push(Op::Enddef(alignment));
        let new_records =
            (0..self.story.vars.len()).any(|at| self.is_record(at) && !self.story.vars[at].committed);
        for at in 0..self.story.vars.len() {
            let (record, elements) = (self.is_record(at), self.shape(at).iter().product::<u64>());
            let var = &mut self.story.vars[at];
            if record && again && new_records {
                var.loose_padding = true;
            }
            if !var.committed {
                var.committed = true;
                var.defined = vec![!var.no_fill; elements as usize];
            }
        }
    }

    // ---- Data mode ----

    fn session(&mut self) {
        match self.rng.below(12) {
            0..=5 => {
                for _ in 0..=self.rng.below(5) {
                    self.data();
                }
            }
            6..=7 => {
                self.push(Op::Redef);
                self.define(0, 7);
                self.end_define(true);
            }
            8 => self.push(Op::Sync),
            9 => {
                self.push(Op::Close);
                self.push(Op::Open);
                self.no_fill = false;
                self.story.vars.iter_mut().for_each(|var| var.no_fill = false);
            }
            10 => {
                self.no_fill = self.rng.once_in(2);
                self.push(Op::SetFill(self.no_fill));
                for var in &mut self.story.vars {
                    var.no_fill = self.no_fill;
                    var.loose_padding |= self.no_fill;
                }
            }
            _ => self.rename(0),
        }
    }

    fn data(&mut self) {
        if self.story.vars.is_empty() {
            return;
        }
        let var = self.rng.index(self.story.vars.len());
        match self.rng.below(8) {
            0 => self.wrong_data(var),
            1 => self.get(var),
            _ => self.put(var),
        }
    }

    /// A selection inside the variable; records may lie behind the last one.
    fn selection(&mut self, var: usize, ahead: u64) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let mut shape = self.shape(var);
        if self.is_record(var) {
            shape[0] += ahead;
        }
        let (mut start, mut count, mut stride) = (vec![], vec![], vec![]);
        for len in shape {
            let first = self.rng.below(len.max(1));
            let step = 1 + self.rng.below(3);
            let room = (len - first.min(len)).div_ceil(step);
            start.push(first);
            stride.push(step);
            count.push(if room == 0 { 0 } else { 1 + self.rng.below(room) });
        }
        (start, count, stride)
    }

    fn access(&mut self, var: usize, ahead: u64) -> (Access, Vec<u64>) {
        let (start, mut count, mut stride) = self.selection(var, ahead);
        let ty = self.story.vars[var].ty;
        let numbers: Vec<_> =
            Atomic::ALL.into_iter().filter(|&ty| ty != Atomic::Char && ty < Atomic::String).collect();
        let memory = if ty == Atomic::Char || self.rng.once_in(2) { ty } else { self.rng.pick(&numbers) };
        let kind = self.rng.below(3);
        if kind == 0 {
            // Without strides whole rows are the common case.
            let shape = self.shape(var);
            for dim in usize::from(self.is_record(var))..count.len() {
                if self.rng.once_in(2) {
                    count[dim] = shape[dim] - start[dim];
                } else {
                    count[dim] = count[dim].min(shape[dim] - start[dim]);
                }
            }
            stride.fill(1);
        }
        let mut access = Access::slab(var as u32, memory, &start, &count);
        if kind > 0 {
            access = access.strided(&stride);
        }
        if kind == 2 && !count.contains(&0) {
            // Memory in the opposite order of dimensions, some of them from the end to the front.
            let (mut steps, mut origin, mut step) = (vec![], 0, 1);
            for &count in &count {
                let backwards = self.rng.once_in(3);
                origin += if backwards { (count as usize - 1) * step as usize } else { 0 };
                steps.push(if backwards { -step } else { step });
                step *= count as isize;
            }
            access = access.mapped(origin, &steps);
        }
        (access, stride)
    }

    fn put(&mut self, var: usize) {
        let ahead = self.rng.below(4);
        let (access, stride) = self.access(var, ahead);
        let count = access.elements();
        if count == 0 {
            return;
        }
        let own = access.memory == self.story.vars[var].ty;
        let memory = if own {
            native_bytes(&self.value(access.memory, count))
        } else {
            small(access.memory, count, &mut self.rng)
        };
        if self.is_record(var) {
            self.grow(access.start[0] + (access.count[0] - 1) * stride[0] + 1);
        }
        self.mark(var, &access.start, &access.count, &stride);
        self.push(Op::Put(access, memory));
    }

    fn grow(&mut self, records: u64) {
        if records <= self.records {
            return;
        }
        self.records = records;
        for at in 0..self.story.vars.len() {
            if self.is_record(at) {
                let elements = self.shape(at).iter().product::<u64>() as usize;
                let no_fill = self.no_fill;
                let var = &mut self.story.vars[at];
                // The reference fills records by the file's mode, ferrocdf by the variable's.
                var.loose_padding |= no_fill || var.no_fill;
                var.defined.resize(elements, !no_fill && !var.no_fill);
            }
        }
    }

    fn mark(&mut self, var: usize, start: &[u64], count: &[u64], stride: &[u64]) {
        let shape = self.shape(var);
        let mut index = vec![0; shape.len()];
        for _ in 0..count.iter().product::<u64>() {
            let mut at = 0;
            for dim in 0..shape.len() {
                at = at * shape[dim] + start[dim] + index[dim] * stride[dim];
            }
            self.story.vars[var].defined[at as usize] = true;
            for dim in (0..shape.len()).rev() {
                index[dim] += 1;
                if index[dim] < count[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
    }

    fn get(&mut self, var: usize) {
        if !self.all_defined() {
            return;
        }
        let (access, _) = self.access(var, 0);
        let elements = access.elements();
        self.push(Op::Get(access, elements));
    }

    fn wrong_data(&mut self, var: usize) {
        let shape = self.shape(var);
        let Some(last) = shape.len().checked_sub(1) else { return };
        if last == 0 && self.is_record(var) {
            return;
        }
        let ty = self.story.vars[var].ty;
        let (mut start, mut count) = (vec![0; shape.len()], vec![1; shape.len()]);
        let mut memory = ty;
        match self.rng.below(4) {
            0 => start[last] = shape[last],
            1 => start[last] = shape[last] + 1,
            2 => count[last] = shape[last] + 1,
            _ => memory = if ty == Atomic::Char { Atomic::Int } else { Atomic::Char },
        }
        let access = Access::slab(var as u32, memory, &start, &count);
        let bytes = vec![1; access.elements() * memory.size()];
        let op = if self.rng.once_in(2) || self.is_record(var) {
            Op::Put(access, bytes)
        } else {
            let elements = access.elements();
            Op::Get(access, elements)
        };
        self.push(op);
    }
}
