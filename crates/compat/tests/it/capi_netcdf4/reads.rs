//! Random requests for data: right ones and wrong ones, of every part and into every type of memory.

use std::ffi::c_int;
use std::ptr::null;

use ferrocdf_compat::ask::{Deep, MEMORY, tell};
use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;
use ferrocdf_store::testing::Rng;

use super::{c_path, files};

/// Elements of the memory that calls work on, and the one that maps start from.
const ROOM: usize = 2048;
const MIDDLE: usize = ROOM / 2;

/// A variable as the library tells it.
struct Variable {
    group: c_int,
    id: c_int,
    ty: c_int,
    lens: Vec<usize>,
    deep: Deep,
}

fn variables(s: &Session<'_>, group: c_int, into: &mut Vec<Variable>) {
    let mut count = 0;
    call!(s, nc_inq_nvars(group, &mut count));
    for id in 0..count {
        let (mut ty, mut rank, mut dims) = (0, 0, [0; 16]);
        call!(s, nc_inq_vartype(group, id, &mut ty));
        call!(s, nc_inq_varndims(group, id, &mut rank));
        call!(s, nc_inq_vardimid(group, id, dims.as_mut_ptr()));
        let len = |&dim: &c_int| {
            let mut len = 0usize;
            call!(s, nc_inq_dimlen(group, dim, &mut len));
            len
        };
        let lens = dims[..rank as usize].iter().map(len).collect();
        into.push(Variable { group, id, ty, lens, deep: Deep::learn(s, group, ty) });
    }
    let (mut count, mut groups) = (0, [0; 16]);
    call!(s, nc_inq_grps(group, &mut count, &mut groups));
    groups[..count as usize].iter().for_each(|&child| variables(s, child, into));
}

/// A part of a variable; nothing is a null pointer.
#[derive(Debug)]
struct Part {
    family: &'static str,
    start: Option<Vec<usize>>,
    count: Option<Vec<usize>>,
    stride: Option<Vec<isize>>,
    map: Option<Vec<isize>>,
}

fn part(rng: &mut Rng, lens: &[usize]) -> Part {
    let family = rng.pick(&["var", "var1", "vara", "vars", "varm"]);
    let (mut start, mut count, mut stride, mut map) = (vec![], vec![], vec![], vec![]);
    let wild = rng.once_in(3);
    for &len in lens {
        let first = if wild && rng.once_in(5) { len + rng.index(3) } else { rng.index(len.max(1)) };
        let step = if rng.once_in(3) { 2 + rng.below(2) as usize } else { 1 };
        let fit = len.saturating_sub(first).div_ceil(step);
        let many = match rng.below(8) {
            0 if wild => fit + 1 + rng.index(2),
            1..=2 if wild => 0,
            _ => (1 + rng.index(fit.max(1))).min(fit.max(1)),
        };
        start.push(first);
        count.push(many);
        stride.push(if wild && rng.once_in(9) {
            rng.pick(&[0, -1, i32::MAX as isize, 1])
        } else {
            step as isize
        });
        map.push(rng.below(9) as isize - 4);
    }
    if rng.once_in(2) {
        stride.fill(1);
    }
    // The steps of maps differ enough for all elements to have places of their own: which of two is seen may vary.
    let mut distance = rng.pick(&[1isize, 2, -1]);
    for (map, count) in map.iter_mut().zip(&count).rev() {
        *map = distance;
        distance *= (*count).clamp(1, 6) as isize;
    }
    if rng.once_in(3) && lens.len() == 2 && count[0] == count[1] {
        map.reverse();
    }
    let mut seldom = |null: u64| !rng.once_in(null);
    Part {
        family,
        start: seldom(25).then_some(start),
        count: seldom(12).then_some(count),
        stride: seldom(8).then_some(stride),
        map: seldom(4).then_some(map),
    }
}

fn read(s: &Session<'_>, rng: &mut Rng, var: &Variable) {
    let part = part(rng, &var.lens);
    let own = rng.once_in(3);
    let (ending, size) = if own { ("", var.deep.size()) } else { rng.pick(&MEMORY) };
    let count: usize = match (&part.count, part.family) {
        (_, "var1") => 1,
        (Some(count), "vara" | "vars" | "varm") => count.iter().product(),
        _ => var.lens.iter().product(),
    };
    // Debian's library casts through `long long`, which newer ones do not; nothing larger is asked for than there is room.
    if (ending == "_ulonglong" && matches!(var.ty, 5 | 6)) || count > MIDDLE / 2 {
        return;
    }
    let mut bytes = vec![0u64; ROOM * size.div_ceil(8)];
    let values = bytes.as_mut_ptr().cast::<u8>().wrapping_add(MIDDLE * size);
    let Part { start, count: counts, stride, map, .. } = &part;
    let numbers = |list: &Option<Vec<usize>>| list.as_ref().map_or(null(), |list| list.as_ptr());
    let steps = |list: &Option<Vec<isize>>| list.as_ref().map_or(null(), |list| list.as_ptr());
    let (first, many, strides, maps) = (numbers(start), numbers(counts), steps(stride), steps(map));
    let varid = if rng.once_in(40) { rng.pick(&[-1, -2, 99]) } else { var.id };
    let name = format!("nc_get_{}{ending}", part.family);
    // SAFETY: the lists have a number for each dimension, and memory reaches far around the values.
    let code = unsafe {
        match part.family {
            "var" => s.call(&name, (var.group, varid, values)),
            "var1" => s.call(&name, (var.group, varid, first, values)),
            "vara" => s.call(&name, (var.group, varid, first, many, values)),
            "vars" => s.call(&name, (var.group, varid, first, many, strides, values)),
            _ => s.call(&name, (var.group, varid, first, many, strides, maps, values)),
        }
    };
    s.note((varid, var.ty, &var.lens, &part));
    let trees = (own || ending == "_string") && !var.deep.is_flat();
    if ![0, -60].contains(&code) || varid != var.id {
        return;
    }
    if trees && part.family != "varm" {
        // SAFETY: that many values were read.
        s.note(unsafe { tell(&var.deep, values, count) });
        call!(s, nc_reclaim_data(var.group, var.ty, values, count));
    } else if trees {
        // SAFETY: all memory is strings, most of them null.
        s.note(unsafe { tell(&var.deep, bytes.as_ptr().cast(), ROOM) });
    } else {
        // SAFETY: the memory of numbers is bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<u8>(), ROOM * size) };
        let changed = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        s.note(changed.map(|(at, byte)| (at, *byte)).collect::<Vec<_>>());
    }
}

#[test]
fn random_parts_into_all_types_of_memory() {
    for (name, seed) in [("strict.nc", 1), ("storage.nc", 2), ("types.nc", 3)] {
        let path = c_path(&files::all().path().join(name));
        compare(|s| {
            let mut id = 0;
            call!(s, nc_open(path.as_ptr(), 0, &mut id));
            let mut vars = vec![];
            variables(s, id, &mut vars);
            let mut rng = Rng::new(seed);
            for _ in 0..1500 {
                let at = rng.index(vars.len());
                read(s, &mut rng, &vars[at]);
            }
            call!(s, nc_close(id));
        });
    }
}
