//! Calls that move data, and what they are given.

use std::ffi::c_int;
use std::ptr::null;

use ferrocdf::Atomic;
use ferrocdf_compat::call;

use super::Teller;

/// Elements of the memory that calls work on, and the one that maps start from.
pub const ROOM: usize = 4096;
const MIDDLE: usize = ROOM / 2;
/// Records beyond which no more are added.
const ENOUGH: usize = 24;
/// What memory holds before a call.
pub const BEFORE: u8 = 0xa5;

/// The types of memory, by the ends of the functions' names, with the size of an element.
pub const MEMORY: [(&str, Option<Atomic>); 15] = [
    ("", None),
    ("_text", Some(Atomic::Char)),
    ("_schar", Some(Atomic::Byte)),
    ("_uchar", Some(Atomic::Ubyte)),
    ("_ubyte", Some(Atomic::Ubyte)),
    ("_short", Some(Atomic::Short)),
    ("_ushort", Some(Atomic::Ushort)),
    ("_int", Some(Atomic::Int)),
    ("_uint", Some(Atomic::Uint)),
    ("_long", Some(Atomic::Int64)),
    ("_longlong", Some(Atomic::Int64)),
    ("_ulonglong", Some(Atomic::Uint64)),
    ("_float", Some(Atomic::Float)),
    ("_double", Some(Atomic::Double)),
    ("_string", Some(Atomic::String)),
];

/// A variable as the library tells it.
struct Variable {
    ty: Atomic,
    lens: Vec<usize>,
    is_record: bool,
}

impl Teller<'_> {
    /// A variable that there is, if any.
    pub fn any_variable(&mut self) -> Option<c_int> {
        let mut count = 0;
        call!(self.session, nc_inq_nvars(self.id, &mut count));
        (count > 0).then(|| self.rng.below(count as u64) as c_int)
    }

    fn variable(&self, id: c_int) -> Variable {
        let (mut ty, mut rank, mut dims, mut unlimited) = (0, 0, [0; 16], -1);
        call!(self.session, nc_inq_vartype(self.id, id, &mut ty));
        call!(self.session, nc_inq_varndims(self.id, id, &mut rank));
        call!(self.session, nc_inq_vardimid(self.id, id, dims.as_mut_ptr()));
        call!(self.session, nc_inq_unlimdim(self.id, &mut unlimited));
        let dims = &dims[..rank as usize];
        let len = |&dim: &c_int| {
            let mut len = 0usize;
            call!(self.session, nc_inq_dimlen(self.id, dim, &mut len));
            len
        };
        Variable {
            ty: Atomic::from_nc_type(ty as u64).expect("files have types that there are"),
            lens: dims.iter().map(len).collect(),
            is_record: dims.first().is_some_and(|&dim| dim == unlimited),
        }
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        let (mut unlimited, mut len) = (-1, 0usize);
        call!(self.session, nc_inq_unlimdim(self.id, &mut unlimited));
        call!(self.session, nc_inq_dimlen(self.id, unlimited, &mut len));
        self.session.note(len);
        len
    }

    /// One of the 150 calls that move data.
    pub fn data(&mut self) {
        let (ending, memory) = self.rng.pick(&MEMORY);
        let put = self.rng.once_in(2);
        let Some(at) = self.any_variable() else { return };
        let Variable { ty, lens, is_record } = self.variable(at);
        let id = if self.rng.once_in(30) { self.wrong_id() } else { self.id };
        let varid = if self.rng.once_in(30) { self.rng.pick(&[-1, -2, 99, i32::MIN]) } else { at };
        // Text and numbers seldom meet.
        let (ending, memory) = match (ty == Atomic::Char, memory) {
            (true, Some(_)) if !self.rng.once_in(6) => ("_text", Some(Atomic::Char)),
            _ => (ending, memory),
        };
        let part = self.part(&lens, is_record, put);
        // Whether no elements at all are of the wrong type depends on the path that the reference takes.
        let nothing = self.records() == 0 || part.count.as_ref().is_some_and(|count| count.contains(&0));
        let (ending, memory) =
            if nothing && ending == "_string" { ("_double", Some(Atomic::Double)) } else { (ending, memory) };
        let element = memory.unwrap_or(ty);
        let mut bytes = vec![BEFORE; ROOM * element.size().max(8)];
        if put {
            // The reference leaves the old bytes of an `NC_UINT` where a byte is negative.
            let small = element == Atomic::Byte && ty == Atomic::Uint;
            self.fill(element, small, &mut bytes);
        }
        let name = format!("nc_{}_{}{ending}", if put { "put" } else { "get" }, part.family);
        let values = bytes.as_mut_ptr().wrapping_add(MIDDLE * element.size());
        let Part { start, count, stride, map, .. } = &part;
        let numbers = |list: &Option<Vec<usize>>| list.as_ref().map_or(null(), |list| list.as_ptr());
        let steps = |list: &Option<Vec<isize>>| list.as_ref().map_or(null(), |list| list.as_ptr());
        let (first, counts, strides, maps) = (numbers(start), numbers(count), steps(stride), steps(map));
        let session = self.session;
        // SAFETY: the lists have a number for each dimension, and memory reaches far around the values.
        unsafe {
            match part.family {
                "var" => session.call(&name, (id, varid, values)),
                "var1" => session.call(&name, (id, varid, first, values)),
                "vara" => session.call(&name, (id, varid, first, counts, values)),
                "vars" => session.call(&name, (id, varid, first, counts, strides, values)),
                _ => session.call(&name, (id, varid, first, counts, strides, maps, values)),
            }
        };
        session.note((varid, ty, &lens, &part));
        let changed = bytes.iter().enumerate().filter(|(_, byte)| !put && **byte != BEFORE);
        session.note(changed.map(|(at, byte)| (at, *byte)).collect::<Vec<_>>());
    }

    /// Which part of a variable a call names.
    fn part(&mut self, lens: &[usize], is_record: bool, put: bool) -> Part {
        let family = self.rng.pick(&["var", "var1", "vara", "vars", "varm"]);
        let (mut start, mut count, mut stride, mut map) = (vec![], vec![], vec![], vec![]);
        let wild = self.rng.once_in(3);
        for (dim, &len) in lens.iter().enumerate() {
            let grows = put && is_record && dim == 0;
            let first = match self.rng.below(20) {
                0 if wild => 1 << 33,
                1..=3 if wild && (!grows || len < ENOUGH) => len + self.rng.index(3),
                _ if grows && len < ENOUGH => self.rng.index(len + 2),
                _ => self.rng.index(len.max(1)),
            };
            let rest = len.saturating_sub(first);
            let many = match self.rng.below(20) {
                0 if wild && !grows => 1 << 40,
                1..=2 if wild && (!grows || len < ENOUGH) => rest + 1,
                3..=5 if wild => 0,
                _ if grows && len < ENOUGH => 1 + self.rng.index(3),
                _ => self.rng.index(rest + 1).max(1).min(rest.max(1)),
            };
            let step = match self.rng.below(30) {
                0 if wild => self.rng.pick(&[0, -1, isize::MIN, i32::MAX as isize]),
                1..=2 if wild && !grows => i32::MAX as isize - 1,
                3..=9 if !grows || len < ENOUGH => 2 + self.rng.below(2) as isize,
                _ => 1,
            };
            start.push(first);
            count.push(many);
            stride.push(step);
            map.push(self.rng.below(19) as isize - 9);
        }
        if self.rng.once_in(2) {
            stride.fill(1);
        }
        if self.rng.once_in(3) {
            // Memory in its natural order, or a transposed one.
            let mut step = 1;
            for (map, count) in map.iter_mut().zip(&count).rev() {
                *map = step;
                step = step.saturating_mul(*count as isize).min(40);
            }
            if self.rng.once_in(2) {
                map.reverse();
            }
        }
        // Without a count a write past the last record would double the records each time.
        let whole = !put || self.records() < ENOUGH;
        let mut seldom = |null: u64| !self.rng.once_in(null);
        Part {
            family,
            start: seldom(25).then_some(start),
            count: (seldom(12) || !whole).then_some(count),
            stride: seldom(8).then_some(stride),
            map: seldom(4).then_some(map),
        }
    }

    /// Fills memory with numbers of a type; unless they have to be small, some are too large for others.
    pub fn fill(&mut self, ty: Atomic, small: bool, bytes: &mut [u8]) {
        const NUMBERS: [i64; 16] =
            [0, 1, 2, -1, 100, 127, 128, -128, 200, 255, 256, -129, 32767, 40000, 1 << 31, 1 << 40];
        const FRACTIONS: [f64; 6] = [0.5, -1.5, 1e30, -1e30, 1e300, 3.0];
        let tame = small || self.rng.once_in(2);
        let mut next = || {
            let number = if tame { self.rng.below(100) as i64 } else { self.rng.pick(&NUMBERS) };
            let fraction =
                if tame || self.rng.once_in(3) { number as f64 } else { self.rng.pick(&FRACTIONS) };
            (number, fraction)
        };
        for piece in bytes.chunks_exact_mut(ty.size()) {
            let (number, fraction) = next();
            match ty {
                Atomic::Float => piece.copy_from_slice(&(fraction as f32).to_ne_bytes()),
                Atomic::Double => piece.copy_from_slice(&fraction.to_ne_bytes()),
                _ => piece.copy_from_slice(&number.to_le_bytes()[..piece.len()]),
            }
        }
    }
}

/// What part of a variable a call names; nothing is a null pointer.
#[derive(Debug)]
struct Part {
    family: &'static str,
    start: Option<Vec<usize>>,
    count: Option<Vec<usize>>,
    stride: Option<Vec<isize>>,
    map: Option<Vec<isize>>,
}
