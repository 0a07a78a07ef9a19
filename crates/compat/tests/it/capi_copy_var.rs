//! `nc_copy_var` and `nc_copy_att`, through both C libraries.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;

use crate::capi_variables::{GLOBAL, MODES};

/// Makes a file with variables of all kinds; gives its id. The file is in data mode. Slabs of records need no padding,
/// which the reference leaves undefined where records are moved apart.
fn source(s: &Session<'_>, mode: c_int) -> c_int {
    let (mut id, mut dims) = (0, [0; 4]);
    call!(s, nc_create(s.path("source.nc").as_ptr(), mode, &mut id));
    for (dim, (name, len)) in dims.iter_mut().zip([(c"t", 0usize), (c"x", 4), (c"y", 2), (c"none", 0)]) {
        call!(s, nc_def_dim(id, name.as_ptr(), len, dim));
    }
    let [t, x, y, _] = dims;
    let last = if mode == 0x20 { 11 } else { 6 };
    for ty in 1..=last {
        for (kind, dims) in [("scalar", vec![]), ("fixed", vec![x, y]), ("record", vec![t, x])] {
            let name = std::ffi::CString::new(format!("{kind}{ty}")).unwrap();
            let mut var = 0;
            call!(s, nc_def_var(id, name.as_ptr(), ty, dims.len() as c_int, dims.as_ptr(), &mut var));
            call!(s, nc_put_att_text(id, var, c"units".as_ptr(), 5usize, c"metre".as_ptr()));
            if ty != 2 {
                call!(s, nc_put_att_int(id, var, c"_FillValue".as_ptr(), ty, 1usize, &(ty + 1)));
            }
            call!(s, nc_put_att(id, var, c"empty".as_ptr(), ty, 0usize, null::<u8>()));
        }
    }
    call!(s, nc_put_att_text(id, GLOBAL, c"title".as_ptr(), 4usize, c"many".as_ptr()));
    call!(s, nc_enddef(id));
    for var in 0..3 * last {
        let bytes: Vec<u8> = (0..200).map(|byte| (byte * 7 + var) as u8).collect();
        call!(s, nc_put_vara(id, var, [0usize; 2].as_ptr(), [2usize; 2].as_ptr(), bytes.as_ptr()));
    }
    id
}

fn target(s: &Session<'_>, mode: c_int, dims: &[(&CStr, usize)]) -> c_int {
    let (mut id, mut dim) = (0, 0);
    call!(s, nc_create(s.path("target.nc").as_ptr(), mode, &mut id));
    for (name, len) in dims {
        call!(s, nc_def_dim(id, name.as_ptr(), *len, &mut dim));
    }
    id
}

#[test]
fn variables_are_copied_to_files_like_their_own() {
    for (mode, to_mode) in MODES.iter().flat_map(|&mode| MODES.map(|to_mode| (mode, to_mode))) {
        compare(|s| {
            let from = source(s, mode);
            let to = target(s, to_mode, &[(c"x", 4), (c"y", 2), (c"t", 0)]);
            for var in -1..34 {
                call!(s, nc_copy_var(from, var, to));
            }
            call!(s, nc_copy_var(from, 0, to));
            call!(s, nc_copy_var(from, 0, from));
            call!(s, nc_copy_var(from, 0, to + 65536));
            call!(s, nc_copy_var(from, 1, to + 65536));
            call!(s, nc_copy_var(to + 65536, 1, to));
            call!(s, nc_close(from));
            call!(s, nc_close(to));
        });
    }
}

#[test]
fn variables_are_copied_to_files_of_other_dimensions() {
    let targets: [&[(&CStr, usize)]; 6] = [
        &[],
        &[(c"x", 4), (c"y", 2), (c"t", 4)],
        &[(c"x", 4), (c"y", 2), (c"t", 1)],
        &[(c"x", 2), (c"y", 2), (c"t", 0)],
        &[(c"x", 5), (c"y", 4), (c"t", 3)],
        &[(c"x", 0), (c"y", 2), (c"t", 2)],
    ];
    for dims in targets {
        compare(|s| {
            let from = source(s, 0);
            let to = target(s, 0, dims);
            for var in 9..12 {
                call!(s, nc_copy_var(from, var, to));
            }
            call!(s, nc_close(from));
            call!(s, nc_close(to));
        });
    }
}

#[test]
fn modes_stop_a_copy() {
    compare(|s| {
        let from = source(s, 0);
        call!(s, nc_redef(from));
        let mut to = target(s, 0, &[(c"x", 4), (c"y", 2), (c"t", 0)]);
        for var in 9..12 {
            call!(s, nc_copy_var(from, var, to));
        }
        call!(s, nc_enddef(from));
        call!(s, nc_close(to));
        call!(s, nc_open(s.path("target.nc").as_ptr(), 0, &mut to));
        call!(s, nc_copy_var(from, 3, to));
        call!(s, nc_copy_att(from, 3, c"units".as_ptr(), to, 0));
        call!(s, nc_close(from));
        call!(s, nc_close(to));
    });
}

#[test]
fn attributes_are_copied_as_the_reference_copies_them() {
    for (mode, to_mode) in MODES.iter().flat_map(|&mode| MODES.map(|to_mode| (mode, to_mode))) {
        compare(|s| {
            let from = source(s, mode);
            let to = target(s, to_mode, &[]);
            call!(s, nc_def_var(to, c"v".as_ptr(), 4, 0, null::<c_int>(), null_mut::<c_int>()));
            for (var, to_var) in [(0, 0), (3, GLOBAL), (GLOBAL, GLOBAL), (99, 0), (0, 99), (25, 0), (26, 0)] {
                for name in [c"units", c"empty", c"_FillValue", c"title", c"missing", c"", c"a/b"] {
                    call!(s, nc_copy_att(from, var, name.as_ptr(), to, to_var));
                    call!(s, nc_copy_att(from, var, name.as_ptr(), to + 65536, to_var));
                    call!(s, nc_copy_att(to + 65536, var, name.as_ptr(), to, to_var));
                    call!(s, nc_copy_att(from, var, name.as_ptr(), from, var));
                }
                call!(s, nc_copy_att(from, var, null::<i8>(), to, to_var));
            }
            // One of another type, which would keep the file from being closed.
            call!(s, nc_del_att(to, 0, c"_FillValue".as_ptr()));
            call!(s, nc_enddef(to));
            call!(s, nc_copy_att(from, 0, c"units".as_ptr(), to, 0));
            call!(s, nc_copy_att(from, GLOBAL, c"title".as_ptr(), to, 0));
            call!(s, nc_close(from));
            call!(s, nc_close(to));
        });
    }
}
