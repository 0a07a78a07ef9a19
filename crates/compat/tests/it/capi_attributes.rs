//! Attributes, through both C libraries: every type of memory against every type of file.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, text};
use ferrocdf_compat::call;

use crate::capi_variables::{GLOBAL, MODES};

/// Suffixes of the typed functions, and the `nc_type` of their memory.
const MEMORIES: [(&str, c_int); 13] = [
    ("schar", 1),
    ("short", 3),
    ("int", 4),
    ("float", 5),
    ("double", 6),
    ("uchar", 7),
    ("ubyte", 7),
    ("ushort", 8),
    ("uint", 9),
    ("longlong", 10),
    ("long", 10),
    ("ulonglong", 11),
    ("text", 2),
];

/// Numbers around all borders of ranges.
const NUMBERS: [f64; 30] = [
    0.0,
    1.0,
    -1.0,
    1.5,
    -1.5,
    127.0,
    128.0,
    -128.0,
    -129.0,
    255.0,
    256.0,
    32767.0,
    32768.0,
    -32769.0,
    65535.0,
    65536.0,
    2147483647.0,
    2147483648.0,
    -2147483649.0,
    4294967295.0,
    4294967296.0,
    9.3e18,
    -9.3e18,
    1.9e19,
    3.5e38,
    -3.5e38,
    1e308,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// The bytes of the numbers in a type of memory.
fn bytes_of(ty: c_int) -> Vec<u8> {
    macro_rules! all {
        ($number:ty) => {
            NUMBERS.iter().flat_map(|&number| (number as $number).to_ne_bytes()).collect()
        };
    }
    match ty {
        1 => all!(i8),
        3 => all!(i16),
        4 => all!(i32),
        5 => all!(f32),
        6 => all!(f64),
        8 => all!(u16),
        9 => all!(u32),
        10 => all!(i64),
        11 => all!(u64),
        _ => all!(u8),
    }
}

fn put(
    s: &Session<'_>,
    memory: &str,
    place: (c_int, c_int, &CStr),
    ty: c_int,
    len: usize,
    values: *const u8,
) {
    let (id, var, name) = place;
    let function = format!("nc_put_att_{memory}");
    // SAFETY: the prototypes in the headers.
    unsafe {
        match memory {
            "text" => s.call(&function, (id, var, name.as_ptr(), len, values)),
            _ => s.call(&function, (id, var, name.as_ptr(), ty, len, values)),
        };
    }
}

/// Asks for an attribute, in its own type and in all others.
fn get(s: &Session<'_>, id: c_int, var: c_int, name: &CStr) {
    let (mut ty, mut len, mut at) = (-7, 77usize, -7);
    call!(s, nc_inq_att(id, var, name.as_ptr(), &mut ty, &mut len));
    call!(s, nc_inq_att(id, var, name.as_ptr(), null_mut::<c_int>(), null_mut::<usize>()));
    call!(s, nc_inq_atttype(id, var, name.as_ptr(), &mut ty));
    call!(s, nc_inq_attlen(id, var, name.as_ptr(), &mut len));
    call!(s, nc_inq_attid(id, var, name.as_ptr(), &mut at));
    s.note((ty, len, at));
    let mut room = [0x55u8; 300];
    call!(s, nc_get_att(id, var, name.as_ptr(), &mut room));
    s.note(room);
    for (memory, _) in MEMORIES.iter().chain(&[("string", 12)]) {
        let mut room = [0x55u8; 300];
        // SAFETY: the prototypes in the headers; no attribute of a classic file has strings.
        unsafe { s.call(&format!("nc_get_att_{memory}"), (id, var, name.as_ptr(), &mut room)) };
        s.note(room);
    }
}

#[test]
fn every_memory_goes_to_every_type_as_in_the_reference() {
    for mode in MODES {
        for (memory, memory_type) in MEMORIES {
            compare(|s| {
                let mut id = 0;
                call!(s, nc_create(s.path("a.nc").as_ptr(), mode, &mut id));
                let bytes = bytes_of(memory_type);
                // The reference leaves what was in memory where a negative byte goes to `NC_UINT`.
                for ty in (-1..14).chain([32]).filter(|&ty| (memory, ty) != ("schar", 9)) {
                    let name = std::ffi::CString::new(format!("{memory}{ty}")).unwrap();
                    put(s, memory, (id, GLOBAL, &name), ty, NUMBERS.len(), bytes.as_ptr());
                    get(s, id, GLOBAL, &name);
                }
                call!(s, nc_close(id));
                call!(s, nc_open(s.path("a.nc").as_ptr(), 0, &mut id));
                for ty in (1..12).filter(|&ty| (memory, ty) != ("schar", 9)) {
                    let name = std::ffi::CString::new(format!("{memory}{ty}")).unwrap();
                    get(s, id, GLOBAL, &name);
                    put(s, memory, (id, GLOBAL, &name), ty, 1, bytes.as_ptr());
                }
                call!(s, nc_close(id));
            });
        }
    }
}

#[test]
fn one_number_after_another_stays_in_its_range() {
    for mode in [0, 0x20] {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("a.nc").as_ptr(), mode, &mut id));
            for (memory, memory_type) in MEMORIES {
                let bytes = bytes_of(memory_type);
                for value in bytes.chunks_exact(bytes.len() / NUMBERS.len()) {
                    for ty in 1..12 {
                        put(s, memory, (id, GLOBAL, c"a"), ty, 1, value.as_ptr());
                    }
                }
            }
            call!(s, nc_close(id));
        });
    }
}

/// Names are equally long, since those that get shorter in data mode keep their room in the reference only.
#[test]
fn mistakes_are_found_in_the_order_of_the_reference() {
    for mode in MODES {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("a.nc").as_ptr(), mode, &mut id));
            call!(s, nc_def_var(id, c"v".as_ptr(), 4, 0, null::<c_int>(), null_mut::<c_int>()));
            let all = |id: c_int| {
                for var in [GLOBAL, 0, 1, -2, i32::MAX] {
                    for name in [c"xx", c"", c"a/b", c"e\xcc\x81", c"\xc3\xa9", c"\xff", c"a ", c"xx"] {
                        for (memory, ty) in
                            [("int", 4), ("int", 2), ("int", 99), ("text", 2), ("text", 4), ("float", 7)]
                        {
                            put(s, memory, (id, var, name), ty, 3, [65u8; 40].as_ptr());
                            put(s, memory, (id, var, name), ty, 3, null());
                            put(s, memory, (id, var, name), ty, 0, null());
                            put(s, memory, (id, var, name), ty, 1 << 31, null());
                            put(s, memory, (id, var, name), ty, usize::MAX, null());
                        }
                        call!(s, nc_put_att(id, var, name.as_ptr(), 3, 2usize, &[7i16, 8]));
                        call!(s, nc_put_att(id, var, name.as_ptr(), 12, 1usize, &[c"s".as_ptr()]));
                        call!(s, nc_put_att_string(id, var, name.as_ptr(), 1usize, &[c"s".as_ptr()]));
                        get(s, id, var, name);
                        for new in [c"yy", c"", c"xx", c"e\xcc\x81", c"zz"] {
                            call!(s, nc_rename_att(id, var, name.as_ptr(), new.as_ptr()));
                        }
                        call!(s, nc_rename_att(id, var, c"zz".as_ptr(), name.as_ptr()));
                    }
                    call!(s, nc_put_att_int(id, var, null::<i8>(), 4, 1usize, &1));
                    call!(s, nc_put_att_int(id, var, null::<i8>(), 99, 1usize, &1));
                    call!(s, nc_get_att_int(id, var, null::<i8>(), &mut 1));
                    call!(s, nc_get_att(id, var, null::<i8>(), &mut 1));
                    call!(s, nc_inq_att(id, var, null::<i8>(), &mut 1, &mut 1usize));
                    let mut count = -7;
                    call!(s, nc_inq_varnatts(id, var, &mut count));
                    s.note(count);
                    call!(s, nc_inq_natts(id, &mut count));
                    s.note(count);
                    for at in [-1, 0, 1, 2, 3, 99] {
                        let mut name = [0; 300];
                        call!(s, nc_inq_attname(id, var, at, &mut name));
                        s.note(text(&name));
                    }
                    for name in [c"yy", c"missing", c"", c"\xff"] {
                        call!(s, nc_del_att(id, var, name.as_ptr()));
                    }
                }
            };
            all(id);
            all(id + 65536);
            all(id + 1);
            call!(s, nc_enddef(id));
            all(id);
            call!(s, nc_close(id));
            all(id);
            call!(s, nc_open(s.path("a.nc").as_ptr(), 0, &mut id));
            all(id);
            call!(s, nc_close(id));
        });
    }
}

#[test]
fn in_data_mode_attributes_keep_to_their_room() {
    for mode in MODES {
        compare(|s| {
            let mut id = 0;
            call!(s, nc_create(s.path("a.nc").as_ptr(), mode, &mut id));
            call!(s, nc_def_var(id, c"v".as_ptr(), 4, 0, null::<c_int>(), null_mut::<c_int>()));
            for (name, len) in [(c"one", 1usize), (c"five", 5), (c"none", 0)] {
                put(s, "text", (id, 0, name), 0, len, c"abcdefgh".as_ptr().cast());
                put(s, "short", (id, GLOBAL, name), 3, len, [7u8; 20].as_ptr());
            }
            call!(s, nc_enddef(id));
            call!(s, nc_put_var_int(id, 0, &7));
            for name in [c"one", c"five", c"none"] {
                for (memory, ty, len) in [
                    ("short", 3, 2usize),
                    ("int", 6, 1),
                    ("text", 2, 8),
                    ("int", 4, 2),
                    ("int", 1, 5),
                    ("double", 3, 1),
                    ("text", 2, 4),
                    ("int", 5, 0),
                    ("text", 2, 1),
                ] {
                    for var in [GLOBAL, 0] {
                        put(s, memory, (id, var, name), ty, len, [0xffu8; 80].as_ptr());
                    }
                }
                get(s, id, 0, name);
            }
            call!(s, nc_rename_att(id, 0, c"one".as_ptr(), c"two".as_ptr()));
            call!(s, nc_rename_att(id, 0, c"two".as_ptr(), c"three".as_ptr()));
            call!(s, nc_sync(id));
            call!(s, nc_redef(id));
            put(s, "short", (id, GLOBAL, c"more"), 3, 9, [7u8; 20].as_ptr());
            call!(s, nc_del_att(id, GLOBAL, c"five".as_ptr()));
            call!(s, nc_enddef(id));
            let mut value = 0;
            call!(s, nc_get_var_int(id, 0, &mut value));
            s.note(value);
            call!(s, nc_close(id));
        });
    }
}
