//! Filters wished of variables through a C library, step by step, and what it tells of them after each.

use std::ffi::{CString, c_int};
use std::ptr::{null, null_mut};

use ferrocdf_compat::ask::{Options, ask};
use ferrocdf_compat::both::{Session, compare_content};
use ferrocdf_compat::call;

/// A call that says how a variable is to be stored.
pub enum Step {
    /// `nc_def_var_filter`
    Filter(u32, &'static [u32]),
    /// `nc_def_var_deflate`: shuffling, deflating, level.
    Deflate(c_int, c_int, c_int),
    /// `nc_def_var_fletcher32`, to have it.
    Fletcher32,
    /// `nc_def_var_szip`: options, pixels of a block.
    Szip(c_int, c_int),
    /// `nc_def_var_chunking`: arrangement, sizes.
    Chunking(c_int, Option<[usize; 2]>),
    /// `nc_def_var_bzip2`
    Bzip2(c_int),
    Enddef,
    Redef,
    /// Data is written.
    Put,
}

pub use Step::{Bzip2, Chunking, Deflate, Enddef, Filter, Fletcher32, Put, Redef, Szip};

/// Where a variable stands.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Scalar,
    /// 64 by 32
    Fixed,
    /// Without end, by 32.
    Grows,
}

/// Runs each row on a variable of its own, in both libraries, then reads both files by both.
pub fn run(rows: &[(Shape, c_int, &[Step])]) {
    let test = |s: &Session<'_>| {
        let (mut id, mut x, mut y, mut t) = (0, 0, 0, 0);
        call!(s, nc_create(s.path("filters.nc").as_ptr(), 0x1000, &mut id));
        call!(s, nc_def_dim(id, c"x".as_ptr(), 64usize, &mut x));
        call!(s, nc_def_dim(id, c"y".as_ptr(), 32usize, &mut y));
        call!(s, nc_def_dim(id, c"t".as_ptr(), 0usize, &mut t));
        for (at, (shape, ty, steps)) in rows.iter().enumerate() {
            let name = CString::new(format!("v{at}")).expect("no zero");
            let dims: &[c_int] = match shape {
                Shape::Scalar => &[],
                Shape::Fixed => &[x, y],
                Shape::Grows => &[t, y],
            };
            let mut var = -7;
            call!(s, nc_redef(id));
            call!(s, nc_def_var(id, name.as_ptr(), *ty, dims.len() as c_int, dims.as_ptr(), &mut var));
            s.note((at, shape));
            for step in *steps {
                take(s, id, var, step);
                tell(s, id, var);
            }
            if !steps.iter().any(|step| matches!(step, Put)) {
                call!(s, nc_enddef(id));
            }
            tell(s, id, var);
        }
        call!(s, nc_close(id));
    };
    compare_content(test, |s, path| {
        let mut id = 0;
        call!(s, nc_open(path.as_ptr(), 0, &mut id));
        (0..rows.len() as c_int).for_each(|var| tell(s, id, var));
        call!(s, nc_close(id));
        ask(s, path, Options { values: true });
    });
}

fn take(s: &Session<'_>, id: c_int, var: c_int, step: &Step) {
    match *step {
        Filter(filter, []) => call!(s, nc_def_var_filter(id, var, filter, 0usize, null::<u32>())),
        Filter(filter, params) => call!(s, nc_def_var_filter(id, var, filter, params.len(), params.as_ptr())),
        Deflate(shuffle, deflate, level) => call!(s, nc_def_var_deflate(id, var, shuffle, deflate, level)),
        Fletcher32 => call!(s, nc_def_var_fletcher32(id, var, 1)),
        Szip(options, pixels) => call!(s, nc_def_var_szip(id, var, options, pixels)),
        Chunking(kind, sizes) => {
            let sizes = sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
            call!(s, nc_def_var_chunking(id, var, kind, sizes))
        }
        Bzip2(level) => call!(s, nc_def_var_bzip2(id, var, level)),
        Enddef => call!(s, nc_enddef(id)),
        Redef => call!(s, nc_redef(id)),
        Put => {
            let values: Vec<f64> = (0..64).map(|at| f64::from(at % 7)).collect();
            call!(s, nc_enddef(id));
            let (first, many) = ([1usize, 0], [2usize, 32]);
            call!(s, nc_put_vara_double(id, var, first.as_ptr(), many.as_ptr(), values.as_ptr()))
        }
    };
}

/// All that can be asked about the filters of a variable.
pub fn tell(s: &Session<'_>, id: c_int, var: c_int) {
    let (mut count, mut ids) = (77usize, [77u32; 16]);
    call!(s, nc_inq_var_filter_ids(id, var, &mut count, &mut ids));
    s.note((count, ids));
    for &filter in ids[..count.min(16)].iter().chain(&[307, 9999]) {
        let (mut size, mut params) = (77usize, [77u32; 24]);
        call!(s, nc_inq_var_filter_info(id, var, filter, &mut size, &mut params));
        s.note((filter, size, params));
        call!(s, nc_inq_var_filter_info(id, var, filter, null_mut::<usize>(), null_mut::<u32>()));
    }
    let (mut first, mut size, mut params) = (77u32, 77usize, [77u32; 24]);
    call!(s, nc_inq_var_filter(id, var, &mut first, &mut size, &mut params));
    s.note((first, size, params));
    let (mut a, mut b, mut c, mut sizes) = (-7, -7, -7, [77usize; 2]);
    call!(s, nc_inq_var_deflate(id, var, &mut a, &mut b, &mut c));
    s.note((a, b, c));
    call!(s, nc_inq_var_fletcher32(id, var, &mut a));
    s.note(a);
    call!(s, nc_inq_var_szip(id, var, &mut a, &mut b));
    s.note((a, b));
    call!(s, nc_inq_var_chunking(id, var, &mut a, &mut sizes));
    s.note((a, sizes));
}
