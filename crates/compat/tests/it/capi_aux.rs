//! Helpers around the interface, through both C libraries: memory that values own, filters as text, whole files.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, text};
use ferrocdf_compat::call;

/// Text in memory of `malloc`.
fn string(text: &CStr) -> *mut i8 {
    // SAFETY: the text ends in a zero byte.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// The texts behind pointers.
fn texts(pointers: &[*mut i8]) -> Vec<Option<&CStr>> {
    // SAFETY: the library made them, or left null.
    pointers.iter().map(|&text| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })).collect()
}

#[test]
fn strings_are_copied_and_given_back() {
    compare(|s| {
        let mut copies = [null_mut::<i8>(); 3];
        let strings = [string(c"one"), null_mut(), string(c"")];
        call!(s, nc_copy_data(5, 12, strings.as_ptr(), 3usize, copies.as_mut_ptr()));
        s.note(texts(&copies));
        call!(s, nc_reclaim_data(5, 12, copies.as_mut_ptr(), 3usize));
        let mut all = null_mut::<*mut i8>();
        call!(s, nc_copy_data_all(5, 12, strings.as_ptr(), 3usize, &mut all));
        // SAFETY: the library made a list of three.
        s.note(texts(unsafe { std::slice::from_raw_parts(all, 3) }));
        call!(s, nc_reclaim_data_all(5, 12, all, 3usize));
        call!(s, nc_free_string(3usize, strings.as_ptr()));
        call!(s, nc_free_string(0usize, null::<*mut i8>()));
        let lists = [(2usize, string(c"ab")), (0, null_mut())];
        call!(s, nc_free_vlens(2usize, lists.as_ptr()));
        call!(s, nc_free_vlen(&(1usize, string(c"x"))));
        call!(s, nc_free_vlens(0usize, null::<u8>()));
    });
}

#[test]
fn numbers_own_nothing() {
    compare(|s| {
        let (mut id, mut room) = (0, [0u64; 4]);
        call!(s, nc_create(s.path("n.nc").as_ptr(), 0, &mut id));
        for file in [id, id + 65536, 5, -1] {
            for ty in [-1, 0, 1, 2, 5, 6, 11, 12, 13, 16, 32] {
                for (count, memory) in [(0usize, null_mut::<u64>()), (2, null_mut()), (0, room.as_mut_ptr())]
                {
                    call!(s, nc_reclaim_data(file, ty, memory, count));
                    call!(s, nc_copy_data(file, ty, memory, count, &mut [0u64; 4]));
                    call!(s, nc_copy_data(file, ty, memory, count, null_mut::<u64>()));
                    call!(s, ncaux_reclaim_data(file, ty, memory, count));
                }
                let (mut values, mut copy) = ([0u64, 0], [7u64; 4]);
                call!(s, nc_reclaim_data(file, ty, &mut values, 2usize));
                call!(s, nc_copy_data(file, ty, &values, 2usize, &mut copy));
                s.note(copy);
                call!(s, nc_copy_data(file, ty, &values, 2usize, null_mut::<u64>()));
            }
        }
        call!(s, nc_close(id));
    });
}

#[test]
fn filters_are_read_as_the_reference_reads_them() {
    compare(|s| {
        let parameters = [
            c"1",
            c"-1",
            c"007",
            c"4294967295",
            c"4294967296",
            c"99999999999999999999",
            c"-2147483649",
            c"300b",
            c"-1b",
            c"70000s",
            c"-1S",
            c"5u",
            c"300ub",
            c"70000us",
            c"5ul",
            c"-5L",
            c"18446744073709551615UL",
            c"9223372036854775808l",
            c"1.5",
            c"1.5f",
            c"1.5d",
            c"1.5D",
            c"1e10",
            c"1e10f",
            c"nanf",
            c"infd",
            c"1.",
            c".",
            c".5f",
            c" 5",
            c"\t 5",
            c"5 ",
            c"5x",
            c"x",
            c"xu",
            c"u",
            c"l",
            c"0x10",
            c"1e",
            c"1ed",
            c"--1",
            c"+5",
            c"-",
            c"1,2",
            c"5i",
            c"0x1p3f",
        ];
        for parameter in parameters {
            let (mut count, mut params) = (77usize, [77u32; 4]);
            call!(s, ncaux_h5filterspec_parse_parameter(parameter.as_ptr(), &mut count, &mut params));
            s.note((parameter, count, params));
        }
        let specs = [
            c"1",
            c"1,9",
            c"307,9",
            c"32001,0,0,0,0,5,1,1",
            c"4,32, 16",
            c"1,1.5d,2ul",
            c"",
            c"x",
            c"x,1",
            c"1,x",
            c" 7,1",
            c"-1,2",
            c"5;6",
            c"1,2|3",
            c"1x,4",
        ];
        for spec in specs {
            let (mut id, mut count, mut params) = (77u32, 77usize, null_mut::<u32>());
            call!(s, ncaux_h5filterspec_parse(spec.as_ptr(), &mut id, &mut count, &mut params));
            s.note((spec, id, count, numbers(params, count)));
            call!(
                s,
                ncaux_h5filterspec_parse(
                    spec.as_ptr(),
                    null_mut::<u32>(),
                    null_mut::<usize>(),
                    null_mut::<c_void>()
                )
            );
        }
        call!(s, ncaux_h5filterspec_parse(null::<i8>(), &mut 1u32, &mut 1usize, &mut null_mut::<u32>()));
        call!(s, ncaux_h5filterspec_parse_parameter(null::<i8>(), &mut 1usize, &mut 1u32));
        for list in [c"1,9|2", c"1", c"", c"1|", c"1||2", c"|", c"|1", c"1,9|x", c"307,9|4,32,16|3|"] {
            lists(s, list);
        }
        call!(s, ncaux_h5filterspec_parselist(null::<i8>(), &mut 1, &mut 1usize, null_mut::<c_void>()));
        let mut bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
        // SAFETY: the prototype in the headers.
        unsafe {
            s.function::<unsafe extern "C" fn(&mut [u8; 8], c_int)>("ncaux_h5filterspec_fix8")(&mut bytes, 0)
        };
        s.note(bytes);
    });
}

/// The parameters that a call gave, which are then freed.
fn numbers(params: *mut u32, count: usize) -> Vec<u32> {
    if params.is_null() {
        return vec![];
    }
    // SAFETY: the library made a list of that many, of `malloc`.
    unsafe {
        let numbers = std::slice::from_raw_parts(params, count).to_vec();
        libc::free(params.cast());
        numbers
    }
}

/// `NC_H5_Filterspec`
#[repr(C)]
struct Spec {
    id: u32,
    count: usize,
    params: *mut u32,
}

fn lists(s: &Session<'_>, list: &CStr) {
    let (mut format, mut count, mut specs) = (-7, 77usize, null_mut::<*mut Spec>());
    let code = call!(s, ncaux_h5filterspec_parselist(list.as_ptr(), &mut format, &mut count, &mut specs));
    s.note((list, format, count));
    for at in 0..if code == 0 { count } else { 0 } {
        // SAFETY: the library made a list of that many.
        unsafe {
            let spec = *specs.add(at);
            s.note(((*spec).id, std::slice::from_raw_parts((*spec).params, (*spec).count)));
            s.function::<unsafe extern "C" fn(*mut Spec)>("ncaux_h5filterspec_free")(spec);
        }
    }
    // SAFETY: it is of `malloc`, or null.
    unsafe { libc::free(specs.cast()) };
}

#[test]
fn whole_files_are_read_and_written() {
    compare(|s| {
        call!(s, ncaux_writefile(s.path("f").as_ptr(), 5usize, c"hello".as_ptr()));
        call!(s, ncaux_writefile(s.path("f").as_ptr(), 3usize, c"abc".as_ptr()));
        call!(s, ncaux_writefile(s.path("none/f").as_ptr(), 3usize, c"abc".as_ptr()));
        let (mut size, mut content) = (77usize, null_mut::<i8>());
        call!(s, ncaux_readfile(s.path("f").as_ptr(), &mut size, &mut content));
        // SAFETY: the library made that many bytes, of `malloc`.
        unsafe {
            s.note((size, text(std::slice::from_raw_parts(content, size))));
            libc::free(content.cast());
        }
        call!(s, ncaux_readfile(s.path("f").as_ptr(), null_mut::<usize>(), null_mut::<*mut i8>()));
        call!(s, ncaux_readfile(s.path("missing").as_ptr(), &mut size, &mut content));
        s.note(size);
    });
}

/// The reference has an error in `ncaux_type_alignment`: it does not give what it finds for atomic types.
#[test]
fn alignment_is_that_of_c() {
    compare(|s| {
        for ty in (1..13).chain([13, 14]) {
            let mut align = 77usize;
            call!(s, ncaux_class_alignment(ty, &mut align));
            s.note(align);
        }
        for class in [15, 16, 17, 99] {
            let mut align = 77usize;
            call!(s, ncaux_class_alignment(class, &mut align));
            s.note(align);
        }
    });
}

#[test]
fn numbers_and_strings_are_dumped_as_the_reference_dumps_them() {
    compare(|s| {
        let bytes: [u64; 4] =
            [0x4142_4344_4546_4748, 0xc008_0000_4049_0fdb, u64::MAX - 1, 0x7ff0_0000_7f80_0000];
        for ty in 1..12 {
            let mut shown = null_mut::<i8>();
            call!(s, nc_dump_data(0, ty, &bytes, 4usize, &mut shown));
            s.note(texts(&[shown]));
            // SAFETY: the library made it, with `malloc`.
            unsafe { libc::free(shown.cast()) };
        }
        for (id, ty, count) in [(-1, 4, 1usize), (0, 0, 1), (0, 4, 0), (0, 13, 1), (1 << 20, 40, 1)] {
            call!(s, nc_dump_data(id, ty, &bytes, count, &mut null_mut::<i8>()));
            call!(s, nc_dump_data(id, ty, null::<u8>(), count, &mut null_mut::<i8>()));
        }
        let mut shown = null_mut::<i8>();
        call!(s, nc_dump_data(0, 12, &[c"one".as_ptr(), c"".as_ptr()], 2usize, &mut shown));
        s.note(texts(&[shown]));
        // SAFETY: the library made it, with `malloc`.
        unsafe { libc::free(shown.cast()) };
    });
}
