//! How classic variables are stored, and settings of the process, through both C libraries.

use std::ffi::c_int;
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, text};
use ferrocdf_compat::call;

use crate::capi_variables::MODES;

const NO_INT: *mut c_int = null_mut();
const NO_UINT: *mut u32 = null_mut();
const NO_SIZE: *mut usize = null_mut();

/// Runs a test on the variables of files in all modes, and on ids that are wrong.
fn on_variables(test: impl Fn(&Session<'_>, c_int, c_int)) {
    for mode in MODES {
        compare(|s| {
            let (mut id, mut dim) = (0, 0);
            call!(s, nc_create(s.path("s.nc").as_ptr(), mode, &mut id));
            call!(s, nc_def_dim(id, c"x".as_ptr(), 3usize, &mut dim));
            for (name, ty, rank) in [(c"text", 2, 1), (c"float", 5, 1), (c"scalar", 4, 0)] {
                call!(s, nc_def_var(id, name.as_ptr(), ty, rank, &dim, NO_INT));
            }
            let all = |id: c_int| (-2..4).for_each(|var| test(s, id, var));
            all(id);
            all(id + 65536);
            all(id + 1);
            call!(s, nc_enddef(id));
            all(id);
            call!(s, nc_close(id));
            call!(s, nc_open(s.path("s.nc").as_ptr(), 0, &mut id));
            all(id);
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn classic_variables_are_stored_in_one_way() {
    on_variables(|s, id, var| {
        let (mut a, mut b, mut c, mut sizes) = (-7, -7, -7, [77usize; 4]);
        for (shuffle, deflate, level) in [(0, 0, 0), (1, 1, 5), (1, 1, 99)] {
            call!(s, nc_def_var_deflate(id, var, shuffle, deflate, level));
        }
        call!(s, nc_inq_var_deflate(id, var, &mut a, &mut b, &mut c));
        s.note((a, b, c));
        call!(s, nc_inq_var_deflate(id, var, NO_INT, &mut b, &mut c));
        call!(s, nc_inq_var_deflate(id, var, &mut a, NO_INT, NO_INT));
        call!(s, nc_inq_var_deflate(id, var, NO_INT, NO_INT, NO_INT));
        call!(s, nc_def_var_fletcher32(id, var, 1));
        call!(s, nc_inq_var_fletcher32(id, var, &mut a));
        s.note(a);
        call!(s, nc_inq_var_fletcher32(id, var, NO_INT));
        call!(s, nc_def_var_szip(id, var, 32, 16));
        call!(s, nc_inq_var_szip(id, var, &mut a, &mut b));
        s.note((a, b));
        call!(s, nc_inq_var_szip(id, var, NO_INT, NO_INT));
        for kind in [-1, 0, 1, 2, 3] {
            call!(s, nc_def_var_chunking(id, var, kind, &[1usize; 4]));
        }
        call!(s, nc_inq_var_chunking(id, var, &mut a, &mut sizes));
        s.note((a, sizes));
        call!(s, nc_inq_var_chunking(id, var, NO_INT, NO_SIZE));
        for endian in [-1, 0, 1, 2, 3] {
            call!(s, nc_def_var_endian(id, var, endian));
        }
        call!(s, nc_inq_var_endian(id, var, &mut a));
        s.note(a);
        call!(s, nc_inq_var_endian(id, var, NO_INT));
        for mode in [0, 1, 2, 3, 99] {
            call!(s, nc_def_var_quantize(id, var, mode, 3));
        }
        call!(s, nc_inq_var_quantize(id, var, &mut a, &mut b));
        s.note((a, b));
        call!(s, nc_inq_var_quantize(id, var, NO_INT, NO_INT));
    });
}

/// Debian's reference is built without zstandard and blosc: it answers `NC_NOERR` to wishes for them, and does nothing.
#[test]
fn classic_variables_have_no_filters() {
    on_variables(|s, id, var| {
        let (mut has, mut level, mut size, mut ids) = (-7, -7, 77usize, [77u32; 4]);
        let mut first = 77u32;
        for filter in [0u32, 1, 4, 307, 32001, 32015, 99999] {
            call!(s, nc_def_var_filter(id, var, filter, 1usize, &5u32));
            call!(s, nc_def_var_filter(id, var, filter, 0usize, null::<u32>()));
            call!(s, nc_inq_var_filter_info(id, var, filter, &mut size, &mut ids));
            s.note((size, ids));
            call!(s, nc_inq_var_filter_info(id, var, filter, NO_SIZE, NO_UINT));
            call!(s, nc_inq_filter_avail(id, filter));
        }
        call!(s, nc_inq_var_filter(id, var, &mut first, &mut size, &mut ids));
        s.note((first, size, ids));
        call!(s, nc_inq_var_filter(id, var, NO_UINT, NO_SIZE, NO_UINT));
        call!(s, nc_inq_var_filter_ids(id, var, &mut size, &mut ids));
        s.note((size, ids));
        call!(s, nc_inq_var_filter_ids(id, var, NO_SIZE, NO_UINT));
        for wish in [-200000, 0, 5, 23] {
            call!(s, nc_def_var_bzip2(id, var, wish));
        }
        call!(s, nc_inq_var_bzip2(id, var, &mut has, &mut level));
        s.note((has, level));
        call!(s, nc_inq_var_bzip2(id, var, NO_INT, NO_INT));
    });
}

#[test]
fn classic_variables_have_no_chunk_caches() {
    on_variables(|s, id, var| {
        let (mut size, mut places, mut preemption) = (77usize, 77usize, 0.5f32);
        call!(s, nc_set_var_chunk_cache(id, var, 1000usize, 10usize, 0.5f32));
        call!(s, nc_get_var_chunk_cache(id, var, &mut size, &mut places, &mut preemption));
        call!(s, nc_get_var_chunk_cache(id, var, NO_SIZE, NO_SIZE, null_mut::<f32>()));
        s.note((size, places, preemption));
    });
}

#[test]
fn the_process_keeps_its_wishes() {
    compare(|s| {
        let (mut size, mut places, mut preemption) = (77usize, 77usize, 0.5f32);
        let (mut a, mut b, mut c) = (-7, -7, -7);
        for (bytes, count, share) in [
            (1000usize, 10usize, 0.25f32),
            (0, 0, 0.0),
            (5, 5, -0.1),
            (5, 5, 1.1),
            (7, 7, f32::NAN),
            (usize::MAX, 9, 1.0),
            (4194304, 4133, 0.75),
        ] {
            call!(s, nc_set_chunk_cache(bytes, count, share));
            call!(s, nc_get_chunk_cache(&mut size, &mut places, &mut preemption));
            s.note((size, places, preemption.to_bits()));
            call!(s, nc_get_chunk_cache_ints(&mut a, &mut b, &mut c));
            if !share.is_nan() {
                s.note((a, b, c));
            }
        }
        call!(s, nc_get_chunk_cache(NO_SIZE, NO_SIZE, null_mut::<f32>()));
        call!(s, nc_get_chunk_cache_ints(NO_INT, NO_INT, NO_INT));
        for (bytes, count, share) in
            [(1000, 10, 25), (0, 1, 0), (1, 0, 0), (5, 5, -1), (5, 5, 101), (5, 5, 100), (4194304, 4133, 75)]
        {
            call!(s, nc_set_chunk_cache_ints(bytes, count, share));
            call!(s, nc_get_chunk_cache(&mut size, &mut places, &mut preemption));
            s.note((size, places, preemption));
        }
        for (from, to) in [(0, 0), (-1, 5), (1 << 20, 4096), (5000, 4096), (0, 0)] {
            call!(s, nc_set_alignment(from, to));
            call!(s, nc_get_alignment(&mut a, &mut b));
            s.note((a, b));
            if from == 5000 {
                aligned_data(s);
            }
        }
        call!(s, nc_get_alignment(NO_INT, NO_INT));
    });
}

/// A netCDF-4 file of which one variable is large enough to be aligned. Where the others lie is for each library to say.
fn aligned_data(s: &Session<'_>) {
    let (path, mut id, mut dim, mut var) = (s.path("aligned.nc"), 0, 0, 0);
    call!(s, nc_create(path.as_ptr(), 0x1000, &mut id));
    call!(s, nc_def_dim(id, c"x".as_ptr(), 4996usize, &mut dim));
    call!(s, nc_def_var(id, c"small".as_ptr(), 1, 1, &dim, &mut var));
    call!(s, nc_put_var_schar(id, var, [77i8; 4996].as_ptr()));
    call!(s, nc_def_var(id, c"large".as_ptr(), 4, 1, &dim, &mut var));
    call!(s, nc_put_var_int(id, var, [0x0a0b_0c0d; 4996].as_ptr()));
    call!(s, nc_close(id));
    let path = std::path::Path::new(path.to_str().unwrap());
    let bytes = std::fs::read(path).unwrap();
    call!(s, nc_get_alignment(NO_INT, NO_INT));
    let at = bytes.windows(8).position(|bytes| bytes == [13, 12, 11, 10, 13, 12, 11, 10]);
    s.note(at.map(|at| at % 4096));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn there_are_no_formats_of_a_programs_own() {
    compare(|s| {
        let mut wrong_version = [0i32; 2];
        for mode in [0, 1, 0x40, 0x80, 0xc0, 0x1000] {
            let (mut table, mut magic) = (&raw const wrong_version, [0x55i8; 20]);
            call!(s, nc_inq_user_format(mode, &mut table, &mut magic));
            s.note((table.is_null(), text(&magic)));
            call!(s, nc_inq_user_format(mode, null_mut::<*const i32>(), null_mut::<i8>()));
            call!(s, nc_def_user_format(mode, null::<i32>(), c"abc".as_ptr()));
            call!(s, nc_def_user_format(mode, &mut wrong_version, c"abc".as_ptr()));
            call!(s, nc_def_user_format(mode, &mut wrong_version, null::<i8>()));
            call!(s, nc_def_user_format(mode, &mut [0, 5], c"123456789".as_ptr()));
        }
    });
}
