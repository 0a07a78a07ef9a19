//! Groups and types on classic files, through both C libraries: there is a root group, and there are atomic types.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use ferrocdf_compat::both::{Session, compare, text};
use ferrocdf_compat::call;

use crate::capi_variables::MODES;

const NO_INT: *mut c_int = null_mut();
const NO_TEXT: *mut i8 = null_mut();
const NO_SIZE: *mut usize = null_mut();

/// Runs a test on a file being defined, the file in data mode, and ids that are wrong.
fn on_classic_files(test: impl Fn(&Session<'_>, c_int)) {
    for mode in MODES {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("g.nc").as_ptr(), mode, &mut id));
            test(s, id);
            test(s, id + 1);
            test(s, id + 65536);
            test(s, -1);
            call!(s, nc_enddef(id));
            test(s, id);
            call!(s, nc_close(id));
            call!(s, nc_open(s.path("g.nc").as_ptr(), 0, &mut id));
            test(s, id);
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn the_root_is_the_only_group() {
    on_classic_files(|s, id| {
        let (mut other, mut count, mut ids, mut len) = (-7, -7, [-7; 4], 77usize);
        let mut name = [0x55; 300];
        for path in [c"", c"/", c"a", c"/a/b"] {
            call!(s, nc_inq_ncid(id, path.as_ptr(), &mut other));
            s.note(other);
            call!(s, nc_inq_grp_ncid(id, path.as_ptr(), &mut other));
            s.note(other);
            call!(s, nc_inq_grp_full_ncid(id, path.as_ptr(), &mut other));
            s.note(other);
            call!(s, nc_def_grp(id, path.as_ptr(), &mut other));
            s.note(other);
            call!(s, nc_rename_grp(id, path.as_ptr()));
        }
        call!(s, nc_inq_ncid(id, NO_TEXT, NO_INT));
        call!(s, nc_inq_grp_ncid(id, NO_TEXT, NO_INT));
        call!(s, nc_inq_grp_full_ncid(id, NO_TEXT, NO_INT));
        call!(s, nc_def_grp(id, NO_TEXT, NO_INT));
        call!(s, nc_rename_grp(id, NO_TEXT));
        call!(s, nc_inq_grps(id, &mut count, &mut ids));
        s.note((count, ids));
        call!(s, nc_inq_grps(id, NO_INT, NO_INT));
        call!(s, nc_inq_grpname(id, &mut name));
        s.note(text(&name));
        call!(s, nc_inq_grpname(id, NO_TEXT));
        call!(s, nc_inq_grpname_full(id, &mut len, &mut name));
        s.note((text(&name), len));
        call!(s, nc_inq_grpname_full(id, NO_SIZE, NO_TEXT));
        call!(s, nc_inq_grpname_len(id, &mut len));
        s.note(len);
        call!(s, nc_inq_grpname_len(id, NO_SIZE));
        call!(s, nc_inq_grp_parent(id, &mut other));
        s.note(other);
        call!(s, nc_inq_grp_parent(id, NO_INT));
        call!(s, nc_show_metadata(id));
    });
}

#[test]
fn atomic_types_are_told_as_the_reference_tells_them() {
    on_classic_files(|s, id| {
        let (mut name, mut size, mut found) = ([0x55; 300], 77usize, -7);
        for ty in (-2..18).chain([31, 32, 33, 1000, i32::MAX, i32::MIN]) {
            call!(s, nc_inq_type(id, ty, &mut name, &mut size));
            s.note((text(&name), size));
            call!(s, nc_inq_type(id, ty, NO_TEXT, NO_SIZE));
            for other in [-1, 0, 1, ty, 6, 7, 12, 13, 32] {
                call!(s, nc_inq_type_equal(id, ty, id, other, &mut found));
                s.note(found);
                call!(s, nc_inq_type_equal(id, ty, 1 << 30, other, &mut found));
                s.note(found);
                call!(s, nc_inq_type_equal(id, ty, id, other, NO_INT));
            }
        }
        let names = [
            c"byte",
            c"char",
            c"short",
            c"int",
            c"float",
            c"double",
            c"ubyte",
            c"ushort",
            c"uint",
            c"int64",
            c"uint64",
            c"string",
            c"undefined",
            c"",
            c"Int",
            c"long",
        ];
        for name in names {
            call!(s, nc_inq_typeid(id, name.as_ptr(), &mut found));
            s.note(found);
            call!(s, nc_inq_typeid(id, name.as_ptr(), NO_INT));
        }
        let (mut count, mut ids) = (-7, [-7; 4]);
        call!(s, nc_inq_typeids(id, &mut count, &mut ids));
        s.note((count, ids));
        call!(s, nc_inq_typeids(id, NO_INT, NO_INT));
    });
}

#[test]
fn there_are_no_types_of_a_files_own() {
    on_classic_files(|s, id| {
        let (mut name, mut size, mut a, mut b, mut c) = ([0i8; 300], 77usize, -7, 77usize, -7);
        let x: *const i8 = CStr::as_ptr(c"x");
        for ty in [-1, 0, 4, 12, 13, 32] {
            call!(s, nc_inq_user_type(id, ty, &mut name, &mut size, &mut a, &mut b, &mut c));
            call!(s, nc_inq_compound(id, ty, &mut name, &mut size, &mut b));
            call!(s, nc_inq_compound_name(id, ty, &mut name));
            call!(s, nc_inq_compound_size(id, ty, &mut size));
            call!(s, nc_inq_compound_nfields(id, ty, &mut size));
            call!(s, nc_inq_compound_field(id, ty, 0, &mut name, &mut size, &mut a, &mut c, NO_INT));
            call!(s, nc_inq_compound_fieldname(id, ty, 0, &mut name));
            call!(s, nc_inq_compound_fieldoffset(id, ty, 0, &mut size));
            call!(s, nc_inq_compound_fieldtype(id, ty, 0, &mut a));
            call!(s, nc_inq_compound_fieldndims(id, ty, 0, &mut a));
            call!(s, nc_inq_compound_fielddim_sizes(id, ty, 0, &mut a));
            call!(s, nc_inq_compound_fieldindex(id, ty, x, &mut a));
            call!(s, nc_insert_compound(id, ty, x, 0usize, 4));
            call!(s, nc_insert_array_compound(id, ty, x, 0usize, 4, 1, &3));
            call!(s, nc_inq_vlen(id, ty, &mut name, &mut size, &mut a));
            call!(s, nc_inq_opaque(id, ty, &mut name, &mut size));
            call!(s, nc_inq_enum(id, ty, &mut name, &mut a, &mut size, &mut b));
            call!(s, nc_inq_enum_member(id, ty, 0, &mut name, &mut a));
            call!(s, nc_inq_enum_ident(id, ty, 5i64, &mut name));
            call!(s, nc_insert_enum(id, ty, x, &5));
            call!(s, nc_put_vlen_element(id, ty, &mut [0usize; 2], 1usize, &5));
            call!(s, nc_get_vlen_element(id, ty, &[0usize; 2], &mut size, &mut a));
            call!(s, nc_def_vlen(id, x, ty, &mut a));
            call!(s, nc_def_enum(id, ty, x, &mut a));
        }
        call!(s, nc_def_compound(id, 8usize, x, &mut a));
        call!(s, nc_def_opaque(id, 8usize, x, &mut a));
        call!(s, nc_def_compound(id, 8usize, NO_TEXT, NO_INT));
        call!(s, nc_def_opaque(id, 8usize, NO_TEXT, NO_INT));
        s.note((text(&name), size, a, b, c));
    });
}
