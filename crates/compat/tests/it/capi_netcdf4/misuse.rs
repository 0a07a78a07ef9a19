//! Questions about what is not there, by names and paths of all kinds, and calls that would write.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use ferrocdf_compat::ask::{GLOBAL, Options, attribute};
use ferrocdf_compat::both::{Session, compare};
use ferrocdf_compat::call;

use super::{c_path, files};

const NO_INT: *mut c_int = null_mut();

fn on_file(name: &str, test: impl Fn(&Session<'_>, c_int)) {
    let path = c_path(&files::all().path().join(name));
    compare(|s| {
        let mut id = 0;
        call!(s, nc_open(path.as_ptr(), 0, &mut id));
        test(s, id);
        call!(s, nc_close(id));
    });
}

const NAMES: [&CStr; 22] = [
    c"",
    c"/",
    c"n",
    c"/n",
    c"g",
    c"/g",
    c"g/",
    c"g/h",
    c"/g/h",
    c"//g//h",
    c"/g/n",
    c"g/n",
    c"/g/h/far",
    c"h",
    c"colour",
    c"/colour",
    c"inner",
    c"/g/inner",
    c"/e/inner",
    c"int",
    c"strings",
    c"a b ",
];

#[test]
fn names_and_paths() {
    on_file("types.nc", |s, root| {
        let (mut g, mut h) = (0, 0);
        call!(s, nc_inq_ncid(root, c"g".as_ptr(), &mut g));
        call!(s, nc_inq_ncid(g, c"h".as_ptr(), &mut h));
        for id in [root, g, h, h + 1, root + 65536] {
            for name in NAMES {
                let name = name.as_ptr();
                for function in [
                    "nc_inq_ncid",
                    "nc_inq_grp_ncid",
                    "nc_inq_grp_full_ncid",
                    "nc_inq_varid",
                    "nc_inq_typeid",
                ] {
                    let mut found = -7;
                    // SAFETY: all take an id, a name and a place.
                    unsafe { s.call(function, (id, name, &mut found)) };
                    // The reference says that a type is there under a path, and not which one it is.
                    if function != "nc_inq_typeid" {
                        s.note(found);
                    }
                    // SAFETY: as above.
                    unsafe { s.call(function, (id, name, NO_INT)) };
                }
            }
            // Paths of dimensions: the reference takes them, and gives what it does not say.
            for name in [c"n", c"t", c"r", c"nothing", c"g/n", c"/n", c"/g/n", c"/g/x", c"/x/n"] {
                let mut found = -7;
                call!(s, nc_inq_dimid(id, name.as_ptr(), &mut found));
                s.note(found);
            }
            for function in ["nc_inq_grp_full_ncid", "nc_inq_varid", "nc_inq_dimid"] {
                // SAFETY: all take an id, a name and a place.
                unsafe { s.call(function, (id, null::<i8>(), NO_INT)) };
            }
            let mut found = -7;
            call!(s, nc_inq_ncid(id, null::<i8>(), &mut found));
            s.note(found);
        }
    });
}

#[test]
fn what_is_not_there() {
    on_file("types.nc", |s, id| {
        let (mut a, mut b, mut size) = (-7, -7, 77usize);
        for var in [-2, -1, 0, 50, i32::MAX, i32::MIN] {
            call!(s, nc_inq_var(id, var, null_mut::<i8>(), NO_INT, NO_INT, NO_INT, NO_INT));
            call!(s, nc_inq_var(id, var, null_mut::<i8>(), NO_INT, NO_INT, NO_INT, &mut a));
            s.note(a);
            call!(s, nc_inq_varnatts(id, var, &mut a));
            s.note(a);
            call!(s, nc_inq_var_chunking(id, var, NO_INT, null_mut::<usize>()));
            call!(s, nc_inq_var_deflate(id, var, &mut a, &mut b, NO_INT));
            call!(s, nc_inq_var_fletcher32(id, var, &mut a));
            call!(s, nc_inq_var_endian(id, var, &mut a));
            call!(s, nc_inq_var_szip(id, var, &mut a, &mut b));
            call!(s, nc_inq_var_quantize(id, var, NO_INT, NO_INT));
            call!(s, nc_inq_var_filter_ids(id, var, &mut size, null_mut::<u32>()));
            call!(s, nc_inq_var_fill(id, var, &mut a, null_mut::<u8>()));
            // The sizes are those of version 4.10.1, which another test knows.
            call!(s, nc_get_var_chunk_cache(id, var, &mut 0usize, null_mut::<usize>(), null_mut::<f32>()));
            call!(s, nc_set_var_chunk_cache(id, var, 5_000_000usize, 1000usize, 2f32));
            call!(s, nc_set_var_chunk_cache(id, var, 5_000_000usize, 1000usize, 0.5f32));
            call!(s, nc_set_var_chunk_cache_ints(id, var, 3, -1, 50));
            call!(s, nc_get_var_chunk_cache_ints(id, var, &mut a, &mut b, NO_INT));
            s.note((a, b));
            for name in [
                c"nothing",
                c"_NCProperties",
                c"_IsNetcdf4",
                c"_SuperblockVersion",
                c"_Netcdf4Dimid",
                c"CLASS",
            ] {
                call!(s, nc_inq_atttype(id, var, name.as_ptr(), &mut a));
                s.note(a);
            }
            call!(s, nc_inq_attname(id, var, 77, null_mut::<i8>()));
            call!(s, nc_inq_attname(id, var, -1, null_mut::<i8>()));
            call!(s, nc_inq_att(id, var, null::<i8>(), NO_INT, null_mut::<usize>()));
        }
        for ty in [-1, 0, 1, 12, 13, 31, 32, 40, 60, 1000] {
            let (mut base, mut fields, mut class) = (-7, 77usize, -7);
            call!(
                s,
                nc_inq_user_type(id, ty, null_mut::<i8>(), &mut size, &mut base, &mut fields, &mut class)
            );
            s.note((size, base, fields, class));
            call!(s, nc_inq_type(id, ty, null_mut::<i8>(), &mut size));
            for other in [-1, 0, 5, 12, 32, 37, 38, 1000] {
                call!(s, nc_inq_type_equal(id, ty, id, other, &mut a));
                s.note(a);
            }
        }
        for dim in [-1, 0, 3, 4, 5, 6, 99] {
            call!(s, nc_inq_dim(id, dim, null_mut::<i8>(), &mut size));
            s.note(size);
        }
        call!(s, nc_show_metadata(id));
    });
}

#[test]
fn hidden_attributes() {
    on_file("types.nc", |s, root| {
        let mut g = 0;
        call!(s, nc_inq_ncid(root, c"g".as_ptr(), &mut g));
        for id in [root, g] {
            for name in [c"_NCProperties", c"_IsNetcdf4", c"_SuperblockVersion", c"_nc3_strict", c"_Format"] {
                // In their own type: Debian's library does not look at what it is asked for, newer ones do.
                attribute(s, id, GLOBAL, name, Options::default());
                attribute(s, id, 0, name, Options::default());
            }
        }
    });
}

#[test]
fn writing_to_a_file_that_is_read() {
    on_file("storage.nc", |s, id| {
        let (name, mut a, x) = (c"new".as_ptr(), -7, c"x".as_ptr());
        call!(s, nc_redef(id));
        call!(s, nc_enddef(id));
        call!(s, nc_sync(id));
        call!(s, nc_def_dim(id, name, 4usize, &mut a));
        call!(s, nc_def_var(id, name, 4, 0, NO_INT, &mut a));
        call!(s, nc_def_grp(id, name, &mut a));
        call!(s, nc_rename_dim(id, 0, name));
        call!(s, nc_rename_var(id, 0, name));
        call!(s, nc_rename_att(id, 14, c"_FillValue".as_ptr(), name));
        call!(s, nc_del_att(id, 14, c"_FillValue".as_ptr()));
        call!(s, nc_put_att_int(id, GLOBAL, name, 4, 1usize, &5));
        call!(s, nc_put_att_text(id, GLOBAL, name, 1usize, x));
        call!(s, nc_def_var_fill(id, 0, 0, &5));
        call!(s, nc_def_var_deflate(id, 1, 1, 1, 1));
        call!(s, nc_def_var_chunking(id, 1, 1, null::<usize>()));
        call!(s, nc_def_var_endian(id, 1, 1));
        call!(s, nc_def_var_fletcher32(id, 1, 1));
        call!(s, nc_set_fill(id, 0, &mut a));
    });
}
