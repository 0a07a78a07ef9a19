//! The rules of filters ("NetCDF-4 Filter Support": "Order of Invocation", "SZIP Issues", `nc_def_var_filter`) through both C
//! libraries. Filters that the reference has only as plugins are in the tests of `cargo xtask models`.

use std::ffi::c_int;
use std::ptr::null;

use ferrocdf_compat::both::compare;
use ferrocdf_compat::call;

use crate::filter_stories::Shape::{Fixed, Grows, Scalar};
use crate::filter_stories::{Chunking, Deflate, Enddef, Filter, Fletcher32, Put, Redef, Szip, run};

const INT: c_int = 4;
const FLOAT: c_int = 5;
const DOUBLE: c_int = 6;

#[test]
fn order_of_filters() {
    run(&[
        (Fixed, INT, &[Filter(1, &[5]), Filter(2, &[]), Filter(3, &[]), Put]),
        (Fixed, INT, &[Deflate(1, 1, 3), Fletcher32, Put]),
        (Fixed, INT, &[Fletcher32, Deflate(0, 1, 3), Filter(2, &[]), Put]),
        (Fixed, FLOAT, &[Filter(5, &[]), Filter(1, &[2]), Fletcher32, Put]),
        (Fixed, INT, &[Filter(1, &[2]), Filter(5, &[]), Filter(2, &[]), Put]),
        // Of doubles neither HDF5 nor anybody else reads this: four bytes are no whole pixel, and szip drops them.
        (Grows, INT, &[Szip(32, 16), Fletcher32, Filter(2, &[]), Put]),
        // The same again: its place stays, its parameters are the last.
        (Fixed, INT, &[Filter(1, &[5]), Filter(5, &[]), Filter(1, &[7]), Put]),
        (Fixed, INT, &[Deflate(1, 1, 3), Deflate(0, 1, 9), Fletcher32, Deflate(1, 1, 1), Put]),
        (Fixed, INT, &[Fletcher32, Fletcher32, Filter(3, &[]), Put]),
        (Fixed, INT, &[Szip(32, 16), Szip(4, 8), Put]),
    ]);
}

#[test]
fn what_is_refused() {
    run(&[
        (Scalar, INT, &[Filter(1, &[5]), Filter(9999, &[]), Deflate(1, 1, 3), Fletcher32, Szip(32, 2)]),
        (Fixed, INT, &[Filter(9999, &[1]), Filter(65535, &[]), Filter(65536, &[]), Filter(u32::MAX, &[])]),
        (Fixed, INT, &[Filter(1, &[]), Filter(1, &[1, 2]), Filter(1, &[10]), Deflate(0, 1, -1)]),
        (Fixed, INT, &[Filter(4, &[32]), Filter(4, &[32, 8, 1]), Szip(32, 7), Szip(32, 34), Szip(32, -2)]),
        (Fixed, INT, &[Deflate(0, 1, 5), Szip(32, 8), Put]),
        (Fixed, INT, &[Szip(32, 8), Deflate(0, 1, 5), Filter(1, &[5]), Put]),
        (Fixed, INT, &[Szip(32, 8), Deflate(1, 1, 5), Put]),
        (Fixed, INT, &[Deflate(0, 1, 0), Deflate(0, 0, 5), Deflate(0, 0, 99)]),
        (Fixed, INT, &[Deflate(1, 1, 99), Deflate(1, 0, 99)]),
    ]);
}

#[test]
fn filters_make_chunks() {
    run(&[
        (Fixed, INT, &[Chunking(1, None), Filter(1, &[5]), Chunking(1, None), Chunking(2, None)]),
        (Fixed, INT, &[Chunking(2, None), Filter(2, &[]), Chunking(0, Some([8, 8])), Put]),
        (Fixed, INT, &[Chunking(0, Some([8, 8])), Filter(3, &[]), Put]),
        (Fixed, INT, &[Filter(1, &[5]), Chunking(0, Some([65, 8])), Chunking(0, Some([64, 1]))]),
        (Fixed, INT, &[Deflate(1, 0, 0)]),
        (Grows, INT, &[Chunking(1, None), Filter(1, &[5]), Put]),
        // Sizes that are left open.
        (Fixed, INT, &[Chunking(0, Some([0, 8])), Put]),
        (Fixed, INT, &[Chunking(0, Some([8, 0])), Put]),
        (Fixed, INT, &[Chunking(0, Some([0, 0]))]),
        (Grows, INT, &[Chunking(0, Some([0, 8])), Put]),
        (Grows, INT, &[Chunking(0, Some([3, 0])), Filter(2, &[]), Put]),
    ]);
}

#[test]
fn too_late() {
    run(&[
        (
            Fixed,
            INT,
            &[Filter(1, &[5]), Enddef, Filter(1, &[6]), Filter(2, &[]), Deflate(1, 1, 6), Fletcher32],
        ),
        (Fixed, INT, &[Enddef, Redef, Filter(1, &[6]), Deflate(1, 1, 6), Szip(32, 8), Chunking(1, None)]),
        (Fixed, INT, &[Filter(1, &[5]), Put, Redef, Filter(1, &[6]), Filter(9999, &[]), Enddef]),
        (Scalar, INT, &[Enddef, Filter(1, &[6]), Redef, Filter(1, &[6]), Enddef, Deflate(1, 1, 6)]),
    ]);
}

/// What szip is given, and the four numbers that it stores.
#[test]
fn parameters_of_szip() {
    run(&[
        (Fixed, FLOAT, &[Szip(32, 32), Put]),
        (Fixed, FLOAT, &[Szip(4, 16), Put]),
        (Fixed, DOUBLE, &[Filter(4, &[32, 8]), Chunking(0, Some([4, 4])), Put]),
        (Fixed, 1, &[Szip(32, 2), Put]),
        (Grows, 3, &[Szip(4, 32), Put]),
    ]);
}

#[test]
fn wrong_ids_and_null_pointers() {
    for mode in [0, 0x1000, 0x1100] {
        compare(|s| {
            let (mut id, mut dim, mut var) = (0, 0, 0);
            // The file is not left behind: its bytes are each library's own.
            let path = s.path("gone.nc");
            call!(s, nc_create(path.as_ptr(), mode, &mut id));
            call!(s, nc_def_dim(id, c"x".as_ptr(), 8usize, &mut dim));
            call!(s, nc_def_var(id, c"v".as_ptr(), INT, 1, &dim, &mut var));
            for (file, var) in [(id, var), (id, 77), (id, -1), (id + 65536, 0)] {
                // The reference looks at those of deflate and szip.
                call!(s, nc_def_var_filter(file, var, 5u32, 1usize, null::<u32>()));
                call!(s, nc_def_var_filter(file, var, 9999u32, 0usize, null::<u32>()));
                call!(s, nc_def_var_filter(file, var, 2u32, 0usize, null::<u32>()));
                if (file, var) != (id, -1) {
                    crate::filter_stories::tell(s, file, var);
                }
            }
            for filter in [0u32, 1, 2, 3, 4, 5, 6, 7, 9999, 65535, 65536] {
                call!(s, nc_inq_filter_avail(id, filter));
                s.note(filter);
            }
            call!(s, nc_close(id));
            std::fs::remove_file(path.to_str().expect("UTF-8")).expect("it is there");
        });
    }
}
