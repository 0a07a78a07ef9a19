//! Random calls through both C libraries: right ones, wrong ones, in any order and mode.
//!
//! Files have room behind their header, so that no data moves when it grows, and fill mode is on: then every byte of a
//! file is defined, and the two files must be equal.

use std::ffi::c_int;
use std::ptr::null;

use ferrocdf::{Alignment, Atomic, CreateOptions, FileMut, Format, GroupId};
use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;
use ferrocdf_store::testing::Rng;

use crate::FORMATS;
use crate::generate::types;

const NC_WRITE: c_int = 1;
const NC_SHARE: c_int = 0x800;

/// Elements of the memory that calls work on, and the one that maps start from.
const ROOM: usize = 4096;
const MIDDLE: usize = ROOM / 2;
/// Records beyond which no more are added.
const ENOUGH: usize = 24;
/// What memory holds before a call.
const BEFORE: u8 = 0xa5;

/// The types of memory, by the ends of the functions' names, with the size of an element.
const MEMORY: [(&str, Option<Atomic>); 15] = [
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

/// A file to start from: its bytes, and its variables as far as calls must know them.
struct Start {
    bytes: Vec<u8>,
    vars: Vec<(Atomic, Vec<usize>)>,
}

/// The unlimited dimension, and the lengths of all.
const RECORDS: usize = 0;
const LENS: [usize; 4] = [0, 3, 4, 1];

impl Start {
    fn new(format: Format, rng: &mut Rng) -> Start {
        let known: Vec<Atomic> = types(format).collect();
        let shapes: &[&[usize]] = match rng.below(3) {
            0 => &[&[], &[0], &[1], &[2, 1]],
            1 => &[&[0, 1], &[2], &[3, 2, 1]],
            _ => &[&[0], &[1, 2], &[0, 2, 1], &[], &[0, 1], &[0]],
        };
        let vars: Vec<_> = shapes.iter().map(|shape| (rng.pick(&known), shape.to_vec())).collect();
        let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
        file.define(|model| {
            for (at, len) in LENS.into_iter().enumerate() {
                model.def_dim(GroupId::ROOT, format!("d{at}"), (at != RECORDS).then_some(len as u64))?;
            }
            for (at, (ty, shape)) in vars.iter().enumerate() {
                let dims: Vec<_> = shape.iter().map(|&dim| ferrocdf::DimId(dim as u32)).collect();
                model.def_var(GroupId::ROOT, format!("v{at}"), (*ty).into(), &dims)?;
            }
            Ok(())
        })
        .unwrap();
        file.commit_aligned(&Alignment { header_free: 4000, ..Alignment::default() }).unwrap();
        Start { bytes: file.into_bytes().unwrap().unwrap(), vars }
    }
}

/// A story as it is told to one of the libraries.
struct Teller<'a> {
    session: &'a Session<'a>,
    start: &'a Start,
    rng: Rng,
    id: c_int,
    writable: bool,
    records: usize,
}

impl Teller<'_> {
    fn open(&mut self) {
        let mode = self.rng.pick(&[0, NC_WRITE, NC_WRITE, NC_WRITE, NC_SHARE, NC_WRITE | NC_SHARE]);
        self.writable = mode & NC_WRITE != 0;
        let path = self.session.path("file.nc");
        call!(self.session, nc_open(path.as_ptr(), mode, &mut self.id));
        self.session.note((self.id, mode));
    }

    fn close(&mut self) {
        if self.rng.once_in(4) {
            call!(self.session, nc_abort(self.id));
        } else {
            call!(self.session, nc_close(self.id));
        }
    }

    fn step(&mut self) {
        let Teller { session, id, .. } = *self;
        match self.rng.below(40) {
            0 => {
                // The reference loses records that were added since the last one when define mode is aborted.
                call!(session, nc_sync(id));
                call!(session, nc_redef(id));
            }
            1..=2 => {
                call!(session, nc_enddef(id));
            }
            3 => {
                call!(session, nc__enddef(id, 0usize, 4usize, 0usize, 4usize));
            }
            4 => {
                call!(session, nc_sync(id));
            }
            5 => {
                self.close();
                self.open();
            }
            6 => {
                let wrong = self.wrong_id();
                call!(session, nc_sync(wrong));
            }
            _ => self.data(),
        }
        let mut records = 0usize;
        call!(session, nc_inq_dimlen(self.id, RECORDS as c_int, &mut records));
        session.note(records);
        self.records = records;
    }

    fn wrong_id(&mut self) -> c_int {
        let id = self.id;
        self.rng.pick(&[-1, 0, 1, id + 1, id + (1 << 16), i32::MAX, i32::MIN])
    }

    /// One of the 150 calls that move data.
    fn data(&mut self) {
        let (ending, memory) = self.rng.pick(&MEMORY);
        let put = self.rng.once_in(2);
        let at = self.rng.index(self.start.vars.len());
        let (ty, dims) = &self.start.vars[at];
        let id = if self.rng.once_in(30) { self.wrong_id() } else { self.id };
        let varid = if self.rng.once_in(30) { self.rng.pick(&[-1, -2, 99, i32::MIN]) } else { at as c_int };
        // Text and numbers seldom meet.
        let (ending, memory) = match (*ty == Atomic::Char, memory) {
            (true, Some(_)) if !self.rng.once_in(6) => ("_text", Some(Atomic::Char)),
            _ => (ending, memory),
        };
        let part = self.part(dims, put);
        // Whether no elements at all are of the wrong type depends on the path that the reference takes.
        let nothing = self.records == 0 || part.count.as_ref().is_some_and(|count| count.contains(&0));
        let (ending, memory) =
            if nothing && ending == "_string" { ("_double", Some(Atomic::Double)) } else { (ending, memory) };
        let element = memory.unwrap_or(*ty);
        let mut bytes = vec![BEFORE; ROOM * element.size().max(8)];
        if put {
            // The reference leaves the old bytes of an `NC_UINT` where a byte is negative.
            let small = element == Atomic::Byte && *ty == Atomic::Uint;
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
        session.note((varid, ty, dims, &part));
        let changed = bytes.iter().enumerate().filter(|(_, byte)| !put && **byte != BEFORE);
        session.note(changed.map(|(at, byte)| (at, *byte)).collect::<Vec<_>>());
    }

    /// Which part of a variable a call names.
    fn part(&mut self, dims: &[usize], put: bool) -> Part {
        let family = self.rng.pick(&["var", "var1", "vara", "vars", "varm"]);
        let lens: Vec<usize> =
            dims.iter().map(|&dim| if dim == RECORDS { self.records } else { LENS[dim] }).collect();
        let (mut start, mut count, mut stride, mut map) = (vec![], vec![], vec![], vec![]);
        let wild = self.rng.once_in(3);
        for (&dim, &len) in dims.iter().zip(&lens) {
            let grows = put && dim == RECORDS;
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
        let whole = !put || self.records < ENOUGH;
        let mut seldom = |null: u64| !self.rng.once_in(null);
        Part {
            family,
            start: seldom(25).then_some(start),
            count: (seldom(12) || !whole).then_some(count),
            stride: seldom(8).then_some(stride),
            map: seldom(4).then_some(map),
        }
    }

    /// Fills memory with numbers of a type; unless they shall be small, some are too large for others.
    fn fill(&mut self, ty: Atomic, small: bool, bytes: &mut [u8]) {
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

fn stories(format: Format, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        println!("{format:?}, story {seed}");
        let mut rng = Rng::new(seed);
        let start = Start::new(format, &mut rng);
        compare(|session| {
            let file = session.path("file.nc");
            std::fs::write(file.to_str().unwrap(), &start.bytes).unwrap();
            let (start, rng) = (&start, rng.clone());
            let mut teller = Teller { session, start, rng, id: 0, writable: false, records: 0 };
            teller.open();
            for _ in 0..40 {
                teller.step();
            }
            teller.close();
        });
    }
}

#[test]
fn the_same_random_calls_give_the_same() {
    for format in FORMATS {
        stories(format, 0..300);
    }
}
