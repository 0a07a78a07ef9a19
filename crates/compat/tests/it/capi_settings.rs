//! Settings of the whole library through both C libraries.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{compare, new_classic, text};
use ferrocdf_compat::call;

#[test]
fn settings() {
    compare(|s| {
        let chunk_cache = || {
            let (mut size, mut slots, mut preemption) = (7usize, 7usize, 7f32);
            call!(s, nc_get_chunk_cache(&mut size, &mut slots, &mut preemption));
            s.note((size, slots, preemption));
            let (mut size, mut slots, mut preemption) = (7, 7, 7);
            call!(s, nc_get_chunk_cache_ints(&mut size, &mut slots, &mut preemption));
            s.note((size, slots, preemption));
        };
        chunk_cache();
        for (size, slots, preemption) in
            [(1usize, 2usize, 0.5f32), (0, 0, 0.0), (usize::MAX, 1 << 40, 1.0), (3, 3, 1.1), (3, 3, -0.1)]
        {
            call!(s, nc_set_chunk_cache(size, slots, preemption));
            chunk_cache();
        }
        for (size, slots, preemption) in [
            (1, 2, 33),
            (0, 1, 1),
            (1, 0, 1),
            (-1, 1, 1),
            (1, 1, -1),
            (1, 1, 101),
            (1, 1, 100),
            (16 << 20, 4133, 75),
        ] {
            call!(s, nc_set_chunk_cache_ints(size, slots, preemption));
            chunk_cache();
        }
        call!(s, nc_get_chunk_cache(null_mut::<usize>(), null_mut::<usize>(), null_mut::<f32>()));
        call!(s, nc_get_chunk_cache_ints(null_mut::<c_int>(), null_mut::<c_int>(), null_mut::<c_int>()));
        let mut alignment = (7, 7);
        call!(s, nc_get_alignment(&mut alignment.0, &mut alignment.1));
        s.note(alignment);
        call!(s, nc_set_alignment(-4, 512));
        call!(s, nc_get_alignment(&mut alignment.0, &mut alignment.1));
        s.note(alignment);
        call!(s, nc_get_alignment(null_mut::<c_int>(), null_mut::<c_int>()));
        call!(s, nc_set_alignment(0, 0));
        let id = new_classic(s);
        for filter in [0 as c_uint, 1, 2, 3, 4, 307, 32015, 99999] {
            call!(s, nc_inq_filter_avail(id, filter));
            call!(s, nc_inq_filter_avail(99 << 16, filter));
        }
        call!(s, nc_close(id));
    });
}

#[test]
fn formats_of_programs() {
    compare(|s| {
        // The reference keeps its address.
        static TABLE: [c_int; 4] = [8, 5, 0, 0];
        let table = &TABLE;
        let old = [8 as c_int, 4, 0, 0];
        let inquire = |mode| {
            let (mut given, mut magic) = (null::<c_int>(), [b'#' as c_char; 10]);
            call!(s, nc_inq_user_format(mode, &mut given, magic.as_mut_ptr()));
            s.note((given.is_null(), given == table.as_ptr(), text(&magic)));
            call!(s, nc_inq_user_format(mode, null_mut::<*const c_int>(), null_mut::<c_char>()));
        };
        for mode in [0, 0x40, 0x80, 0xc0, 1] {
            inquire(mode);
            call!(s, nc_def_user_format(mode, null::<c_int>(), c"MAGIC".as_ptr()));
            call!(s, nc_def_user_format(mode, old.as_ptr(), c"MAGIC".as_ptr()));
            call!(s, nc_def_user_format(mode, table.as_ptr(), c"MAGICMAGI".as_ptr()));
            inquire(mode);
            call!(s, nc_def_user_format(mode, table.as_ptr(), c"MAGICMAG".as_ptr()));
            inquire(mode);
            call!(s, nc_def_user_format(mode, table.as_ptr(), c"AB".as_ptr()));
            call!(s, nc_def_user_format(mode, table.as_ptr(), null::<c_char>()));
            inquire(mode);
        }
    });
}
