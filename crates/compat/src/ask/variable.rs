//! Questions about a variable, and its data.

use std::ffi::c_int;
use std::ptr::null_mut;

use super::{Deep, MEMORY, NO_COUNTS, NO_INT, NO_SIZE, Options, attributes, digest, tell};
use crate::both::{Session, text};
use crate::call;

/// Bytes of data beyond which a variable is not read.
const MOST: usize = 16 << 20;

pub(super) fn all(s: &Session<'_>, id: c_int, var: c_int, options: Options) {
    let (mut name, mut ty, mut rank, mut dims, mut attrs) = ([0; 300], -7, -7, [-7; 1024], -7);
    call!(s, nc_inq_var(id, var, &mut name, &mut ty, &mut rank, &mut dims, &mut attrs));
    let dims = &dims[..rank.max(0) as usize];
    s.note((text(&name), ty, rank, dims, attrs));
    let mut found = -7;
    call!(s, nc_inq_varid(id, name.as_ptr(), &mut found));
    s.note(found);
    storage(s, id, var, ty, rank);
    attributes(s, id, var, attrs, options);
    if options.values {
        data(s, id, var, ty, dims);
    }
}

fn storage(s: &Session<'_>, id: c_int, var: c_int, ty: c_int, rank: c_int) {
    let rank = rank.max(0) as usize;
    let (mut kind, mut chunk, mut ints) = (-7, vec![77usize; rank + 1], vec![-7; rank + 1]);
    call!(s, nc_inq_var_chunking(id, var, &mut kind, chunk.as_mut_ptr()));
    s.note((kind, &chunk));
    call!(s, nc_inq_var_chunking_ints(id, var, &mut kind, ints.as_mut_ptr()));
    s.note((kind, &ints));
    let (mut a, mut b, mut c) = (-7, -7, -7);
    call!(s, nc_inq_var_deflate(id, var, &mut a, &mut b, &mut c));
    s.note((a, b, c));
    call!(s, nc_inq_var_fletcher32(id, var, &mut a));
    call!(s, nc_inq_var_endian(id, var, &mut b));
    s.note((a, b));
    call!(s, nc_inq_var_szip(id, var, &mut a, &mut b));
    s.note((a, b));
    call!(s, nc_inq_var_quantize(id, var, &mut a, &mut b));
    s.note((a, b));
    let (mut count, mut filter, mut filters, mut params) = (77usize, 77u32, [77u32; 32], [77u32; 64]);
    call!(s, nc_inq_var_filter(id, var, &mut filter, &mut count, &mut params));
    s.note((filter, count, params));
    call!(s, nc_inq_var_filter_ids(id, var, &mut count, &mut filters));
    s.note((count, filters));
    for filter in 0..6u32 {
        call!(s, nc_inq_var_filter_info(id, var, filter, NO_SIZE, &mut params));
        s.note(params);
    }
    // The sizes are those of version 4.10.1, which another test knows.
    call!(s, nc_get_var_chunk_cache(id, var, &mut 0usize, &mut 0usize, &mut 0f32));
    call!(s, nc_get_var_chunk_cache_ints(id, var, &mut 0, &mut 0, &mut 0));
    let deep = Deep::learn(s, id, ty);
    let mut value = deep.room(1);
    let mut no_fill = -7;
    call!(s, nc_inq_var_fill(id, var, &mut no_fill, value.as_mut_ptr()));
    // SAFETY: there is room for a value, and it is zero if none was given.
    s.note((no_fill, unsafe { tell(&deep, value.as_ptr().cast(), 1) }));
    call!(s, nc_inq_var_fill(id, var, NO_INT, null_mut::<u8>()));
}

/// Reads all data, in its own type and in all others.
fn data(s: &Session<'_>, id: c_int, var: c_int, ty: c_int, dims: &[c_int]) {
    let deep = Deep::learn(s, id, ty);
    let lens = dims.iter().map(|&dim| {
        let mut len = 0usize;
        call!(s, nc_inq_dimlen(id, dim, &mut len));
        len
    });
    let lens: Vec<usize> = lens.collect();
    let count = lens.iter().product::<usize>();
    if count.saturating_mul(deep.size().max(8)) > MOST {
        return;
    }
    let mut room = deep.room(count);
    let code = call!(s, nc_get_var(id, var, room.as_mut_ptr()));
    if code != 0 {
        return;
    }
    // SAFETY: there are as many values.
    s.note(unsafe { tell(&deep, room.as_ptr().cast(), count) });
    call!(s, nc_reclaim_data(id, ty, room.as_mut_ptr(), count));
    let (mut quantized, mut digits) = (0, 0);
    call!(s, nc_inq_var_quantize(id, var, &mut quantized, &mut digits));
    // Debian's library quantizes once more what it converts.
    for (ending, size) in MEMORY.into_iter().filter(|_| quantized == 0) {
        let mut room = vec![0x5555_5555_5555_5555u64; (count * size).div_ceil(8) + 1];
        let start = vec![0usize; lens.len() + 1];
        let function = format!("nc_get_vara{ending}");
        // SAFETY: they take an id, a variable's, start and count, and room for the values.
        let code = unsafe { s.call(&function, (id, var, start.as_ptr(), NO_COUNTS, room.as_mut_ptr())) };
        s.note((var, ty));
        match (ending, ty) {
            ("_string", 12) if code == 0 => {
                // SAFETY: there are as many strings.
                s.note(unsafe { tell(&deep, room.as_ptr().cast(), count) });
                call!(s, nc_free_string(count, room.as_mut_ptr()));
            }
            // Debian's library casts through `long long`, which newer ones do not.
            ("_ulonglong", 5 | 6) => {}
            // What was not read may be anything.
            _ if ![0, -60].contains(&code) => {}
            // SAFETY: the memory of numbers is bytes.
            _ => s.note(digest(unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), count * size) })),
        }
    }
}
