//! Variables, through both C libraries.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, text};
use ferrocdf_compat::call;

/// Creation modes of the classic formats.
pub const MODES: [c_int; 3] = [0, 0x200, 0x20];
pub const GLOBAL: c_int = -1;
const NO_INT: *mut c_int = null_mut();

/// Asks everything about a variable.
fn inquire(s: &Session<'_>, id: c_int, var: c_int) {
    let (mut name, mut ty, mut rank, mut dims, mut atts) = ([0; 300], -7, -7, [-7; 1024], -7);
    call!(s, nc_inq_var(id, var, &mut name, &mut ty, &mut rank, &mut dims, &mut atts));
    s.note((text(&name), ty, rank, &dims[..8], atts));
    call!(s, nc_inq_var(id, var, null_mut::<i8>(), NO_INT, NO_INT, NO_INT, NO_INT));
    call!(s, nc_inq_varname(id, var, &mut name));
    call!(s, nc_inq_vartype(id, var, &mut ty));
    call!(s, nc_inq_varndims(id, var, &mut rank));
    call!(s, nc_inq_vardimid(id, var, &mut dims));
    call!(s, nc_inq_varnatts(id, var, &mut atts));
    s.note((text(&name), ty, rank, &dims[..8], atts));
    let (mut no_fill, mut value) = (-7, [0x55u8; 64]);
    call!(s, nc_inq_var_fill(id, var, &mut no_fill, &mut value));
    s.note((no_fill, value));
    call!(s, nc_inq_var_fill(id, var, NO_INT, null_mut::<c_void>()));
}

fn lists(s: &Session<'_>, id: c_int) {
    for name in ["nc_inq_varids", "nc_inq_unlimdims"] {
        let (mut count, mut ids) = (-7, [-7; 40]);
        // SAFETY: both take an id and two places.
        unsafe {
            s.call(name, (id, &mut count, &mut ids));
            s.note((count, ids));
            s.call(name, (id, NO_INT, NO_INT));
        }
    }
    let (mut count, mut ids) = (-7, [-7; 40]);
    call!(s, nc_inq_dimids(id, &mut count, &mut ids, 1));
    s.note((count, ids));
    call!(s, nc_inq_dimids(id, NO_INT, NO_INT, 0));
}

/// Names that are good, bad and normalized.
const NAMES: [&CStr; 11] =
    [c"plain", c"", c"a/b", c"a b", c"a ", c"-a", c"e\xcc\x81", c"\xc3\xa9", c"\xff", c"a\tb", c"9"];

#[test]
fn variables_are_defined_as_the_reference_defines_them() {
    for mode in MODES {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("v.nc").as_ptr(), mode, &mut id));
            let mut dim = 0;
            for (name, len) in [(c"t", 0usize), (c"x", 3), (c"y", 2), (c"one", 1)] {
                call!(s, nc_def_dim(id, name.as_ptr(), len, &mut dim));
            }
            lists(s, id);
            let define = |name: &CStr, ty: c_int, rank: c_int, dims: &[c_int]| {
                let mut var = -7;
                call!(s, nc_def_var(id, name.as_ptr(), ty, rank, dims.as_ptr(), &mut var));
                s.note(var);
            };
            for name in NAMES {
                define(name, 4, 1, &[1]);
                define(name, 99, 1, &[1]);
            }
            for (at, ty) in (-1..15).chain([32, 33, i32::MAX, i32::MIN]).enumerate() {
                let name = std::ffi::CString::new(format!("type{at}")).unwrap();
                define(&name, ty, 2, &[0, 2]);
            }
            let many = [3; 2000];
            for (rank, dims) in [(0, vec![]), (2, vec![1, 0]), (1, vec![4]), (1, vec![-1]), (2, vec![0, 0])] {
                define(c"dims", 1, rank, &dims);
            }
            for rank in [-1, i32::MIN, 1025] {
                define(c"rank", 1, rank, &many);
                define(c"rank", 99, rank, &many);
                define(c"plain", 1, rank, &many);
            }
            define(c"order", 1, 3, &[9, 1, 0]);
            define(c"order", 1, 3, &[1, 0, 9]);
            call!(s, nc_def_var(id, c"unseen".as_ptr(), 1, 0, null::<c_int>(), NO_INT));
            call!(s, nc_def_var(id + 1, c"unseen".as_ptr(), 1, 0, null::<c_int>(), NO_INT));
            lists(s, id);
            (-3..30).for_each(|var| inquire(s, id, var));
            call!(s, nc_inq_varnatts(id, GLOBAL, &mut dim));
            for name in NAMES {
                let mut var = -7;
                call!(s, nc_inq_varid(id, name.as_ptr(), &mut var));
                s.note(var);
            }
            call!(s, nc_enddef(id));
            call!(s, nc_def_var(id, c"late".as_ptr(), 1, 0, null::<c_int>(), NO_INT));
            call!(s, nc_close(id));
            call!(s, nc_open(s.path("v.nc").as_ptr(), 0, &mut id));
            lists(s, id);
            (0..4).for_each(|var| inquire(s, id, var));
            call!(s, nc_def_var(id, c"late".as_ptr(), 1, 0, null::<c_int>(), NO_INT));
            call!(s, nc_rename_var(id, 0, c"new".as_ptr()));
            call!(s, nc_def_var_fill(id, 0, 0, &7i32));
            call!(s, nc_def_var_fill(id, GLOBAL, 0, &7i32));
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn a_variable_has_1024_dimensions_at_most() {
    compare(|s| {
        let (mut id, mut dim) = (0, 0);
        call!(s, nc_create(s.path("v.nc").as_ptr(), 0, &mut id));
        call!(s, nc_def_dim(id, c"one".as_ptr(), 1usize, &mut dim));
        for rank in [1023, 1024, 1025] {
            let name = std::ffi::CString::new(format!("rank{rank}")).unwrap();
            call!(s, nc_def_var(id, name.as_ptr(), 1, rank, [dim; 2000].as_ptr(), NO_INT));
        }
        (0..3).for_each(|var| inquire(s, id, var));
        call!(s, nc_abort(id));
    });
}

#[test]
fn variables_are_renamed_as_the_reference_renames_them() {
    for mode in MODES {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("v.nc").as_ptr(), mode, &mut id));
            for name in [c"first", c"second", c"third"] {
                call!(s, nc_def_var(id, name.as_ptr(), 4, 0, null::<c_int>(), NO_INT));
            }
            let rename = |var: c_int, name: &CStr| {
                call!(s, nc_rename_var(id, var, name.as_ptr()));
                inquire(s, id, var);
            };
            for name in NAMES {
                rename(0, name);
            }
            for var in [GLOBAL, 7, -2, 0] {
                rename(var, c"second");
                rename(var, c"other");
                rename(var, c"");
            }
            call!(s, nc_enddef(id));
            for (var, name) in
                [(0, c"equal"), (0, c"longer"), (1, c"equal"), (GLOBAL, c"e"), (9, c"e\xcc\x81")]
            {
                rename(var, name);
            }
            call!(s, nc_redef(id));
            rename(2, c"very long");
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn fill_values_are_set_as_the_reference_sets_them() {
    for mode in MODES {
        for no_fill_of_file in [0, 0x100] {
            compare(|s| {
                let mut id = 0;
                call!(s, nc_create(s.path("v.nc").as_ptr(), mode, &mut id));
                call!(s, nc_set_fill(id, no_fill_of_file, NO_INT));
                let mut dim = 0;
                call!(s, nc_def_dim(id, c"x".as_ptr(), 3usize, &mut dim));
                let last = if mode == 0x20 { 11 } else { 6 };
                for ty in 1..=last {
                    let name = std::ffi::CString::new(format!("type{ty}")).unwrap();
                    let mut var = 0;
                    call!(s, nc_def_var(id, name.as_ptr(), ty, 1, &dim, &mut var));
                    call!(s, nc_put_att_int(id, var, c"before".as_ptr(), 4, 1usize, &1));
                    let value = [ty as u8; 8];
                    call!(s, nc_def_var_fill(id, var, 0, &value));
                    inquire(s, id, var);
                    call!(s, nc_put_att_int(id, var, c"after".as_ptr(), 4, 1usize, &1));
                    if ty % 3 == 0 {
                        call!(s, nc_def_var_fill(id, var, 0, &[9u8; 8]));
                    }
                    if ty % 4 == 0 {
                        call!(s, nc_def_var_fill(id, var, 1, &value));
                    }
                    if ty % 5 == 0 {
                        call!(s, nc_def_var_fill(id, var, 1, null::<u8>()));
                        call!(s, nc_def_var_fill(id, var, 0, null::<u8>()));
                    }
                    inquire(s, id, var);
                }
                for var in [GLOBAL, 30, -2] {
                    call!(s, nc_def_var_fill(id, var, 0, &[9u8; 8]));
                    inquire(s, id, var);
                }
                call!(s, nc_put_att_int(id, 3, c"_FillValue".as_ptr(), 4, 1usize, &77));
                call!(s, nc_put_att_int(id, 2, c"_FillValue".as_ptr(), 4, 3usize, &[77, 78, 79]));
                inquire(s, id, 2);
                call!(s, nc_put_att_int(id, 2, c"_FillValue".as_ptr(), 3, 1usize, &77));
                call!(s, nc_enddef(id));
                call!(s, nc_def_var_fill(id, 0, 0, &[9u8; 8]));
                (0..last).for_each(|var| inquire(s, id, var));
                call!(s, nc_close(id));
            });
        }
    }
}
