//! Dimensions and what a file holds, through both C libraries.

use std::ptr::null_mut;

use ferrocdf_compat::both::{compare, text};
use ferrocdf_compat::call;

#[test]
fn dimensions() {
    for format in [0, 0x200, 0x20] {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("d.nc").as_ptr(), format, &mut id));
            s.note(id);
            for (name, len) in
                [(c"x", 3usize), (c"t", 0), (c"t", 4), (c"u", 0), (c"", 1), (c"a/b", 1), (c"y", 1 << 62)]
            {
                let mut dim = -7;
                call!(s, nc_def_dim(id, name.as_ptr(), len, &mut dim));
                s.note(dim);
            }
            for dim in [0, 1, 2, -1] {
                let (mut name, mut len) = ([0; 300], 77usize);
                call!(s, nc_inq_dim(id, dim, &mut name, &mut len));
                s.note((text(&name), len));
            }
            call!(s, nc_rename_dim(id, 0, c"t".as_ptr()));
            call!(s, nc_rename_dim(id, 0, c"longer".as_ptr()));
            call!(s, nc_enddef(id));
            call!(s, nc_rename_dim(id, 0, c"still longer".as_ptr()));
            call!(s, nc_rename_dim(id, 0, c"equal.".as_ptr()));
            let (mut dims, mut vars, mut atts, mut unlimited) = (0, 0, 0, 0);
            call!(s, nc_inq(id, &mut dims, &mut vars, &mut atts, &mut unlimited));
            s.note((dims, vars, atts, unlimited));
            call!(s, nc_inq(id, null_mut::<i32>(), &mut vars, &mut atts, &mut unlimited));
            call!(s, nc_close(id));
            call!(s, nc_close(id));
        });
    }
}
