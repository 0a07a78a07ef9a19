//! Values in memory: freed, copied and written as text through both C libraries.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, new_classic};
use ferrocdf_compat::call;

/// What a call gave in memory of `malloc`, which is given back.
fn take(place: *mut c_char) -> Option<String> {
    if place.is_null() {
        return None;
    }
    // SAFETY: both libraries end texts in a zero byte.
    let text = unsafe { CStr::from_ptr(place) }.to_bytes().escape_ascii().to_string();
    // SAFETY: it is from `malloc`.
    unsafe { libc::free(place.cast()) };
    Some(text)
}

/// A copy in memory of `malloc`.
fn give(text: &CStr) -> *mut c_char {
    // SAFETY: it ends in a zero byte.
    unsafe { libc::strdup(text.as_ptr()) }
}

fn dump(s: &Session<'_>, id: i32, ty: i32, values: *mut c_void, count: usize) {
    let mut place: *mut c_char = null_mut();
    call!(s, nc_dump_data(id, ty, values, count, &mut place));
    s.note(take(place));
}

#[test]
fn all_types() {
    compare(|s| {
        let id = new_classic(s);
        let values = [65i64, -2, 300, 1 << 40];
        let from: *const c_void = values.as_ptr().cast();
        for ty in (-1..34).filter(|ty| *ty != 12) {
            for id in [id, 99 << 16, -1] {
                let mut place = [0i64; 4];
                let to: *mut c_void = place.as_mut_ptr().cast();
                call!(s, nc_copy_data(id, ty, from, 3usize, to));
                s.note(place);
                call!(s, nc_reclaim_data(id, ty, to, 3usize));
                dump(s, id, ty, from.cast_mut(), 1);
                // Numbers that the reference takes for signed ones are not compared.
                if ty != 9 {
                    dump(s, id, ty, from.cast_mut(), 4);
                }
                for count in [0usize, 2] {
                    let mut new: *mut c_void = null_mut();
                    call!(s, nc_copy_data_all(id, ty, from, count, &mut new));
                    s.note(new.is_null());
                    call!(s, nc_copy_data_all(id, ty, from, count, null_mut::<*mut c_void>()));
                    call!(s, ncaux_reclaim_data_all(id, ty, new, count));
                }
            }
            call!(s, nc_copy_data(id, ty, from, 1usize, null_mut::<c_void>()));
            call!(s, nc_copy_data(id, ty, null::<c_void>(), 1usize, null_mut::<c_void>()));
            call!(s, nc_copy_data(id, ty, null::<c_void>(), 0usize, null_mut::<c_void>()));
            call!(s, nc_reclaim_data(id, ty, null_mut::<c_void>(), 1usize));
            call!(s, nc_reclaim_data(id, ty, null_mut::<c_void>(), 0usize));
            call!(s, ncaux_reclaim_data(id, ty, null_mut::<c_void>(), 0usize));
            dump(s, id, ty, null_mut(), 1);
            dump(s, id, ty, null_mut(), 0);
        }
        call!(s, nc_close(id));
    });
}

#[test]
fn strings() {
    compare(|s| {
        let mut strings = [give(c"abc"), null_mut(), give(c""), give(c"d \" e")];
        let place: *mut c_void = strings.as_mut_ptr().cast();
        dump(s, 0, 12, place, 4);
        let mut copies = [null_mut::<c_char>(); 4];
        call!(s, nc_copy_data(0, 12, place.cast_const(), 4usize, copies.as_mut_ptr().cast::<c_void>()));
        assert_ne!(strings[0], copies[0]);
        call!(s, nc_reclaim_data(0, 12, place, 4usize));
        dump(s, 0, 12, copies.as_mut_ptr().cast(), 4);
        call!(s, nc_free_string(4usize, copies.as_mut_ptr()));
        call!(s, nc_free_string(0usize, null_mut::<*mut c_char>()));

        let mut list = [4usize, give(c"a list") as usize];
        call!(s, nc_free_vlen(list.as_mut_ptr()));
        let mut lists = [1usize, give(c"x") as usize, 0, 0, 2, give(c"y") as usize];
        call!(s, nc_free_vlens(3usize, lists.as_mut_ptr()));
        call!(s, nc_free_vlens(0usize, null_mut::<usize>()));
    });
}

#[test]
fn reals() {
    compare(|s| {
        let mut floats = [1.5f32, -0.0, 1e30, f32::NAN, -f32::NAN, f32::INFINITY, 1e-7, 0.0000005];
        dump(s, 0, 5, floats.as_mut_ptr().cast(), floats.len());
        let mut doubles = [-1.5f64, 2.0f64.powi(80), f64::NEG_INFINITY, 1e100, 0.1234565, 5e-324];
        dump(s, 0, 6, doubles.as_mut_ptr().cast(), doubles.len());
        let mut text = *b"a\0\xff'";
        dump(s, 0, 2, text.as_mut_ptr().cast(), text.len());
    });
}
