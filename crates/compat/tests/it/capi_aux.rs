//! The helpers of `netcdf_aux.h` through both C libraries.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, compare, new_classic};
use ferrocdf_compat::call;
use ferrocdf_store::testing::Rng;

/// `NC_H5_Filterspec`
#[repr(C)]
struct Filterspec {
    filterid: c_uint,
    nparams: usize,
    params: *mut c_uint,
}

/// Numbers in memory of `malloc`, which is given back.
fn take(numbers: *mut c_uint, count: usize) -> Vec<c_uint> {
    // SAFETY: there are `count` numbers.
    let seen = (0..count).map(|at| unsafe { *numbers.add(at) }).collect();
    // SAFETY: it is from `malloc`.
    unsafe { libc::free(numbers.cast()) };
    seen
}

/// The table of constants of "NetCDF-4 Filter Support".
pub const CONSTANTS: [&str; 11] = [
    "-17b",
    "23ub",
    "-25S",
    "27US",
    "-77",
    "77",
    "93U",
    "789f",
    "12345678.12345678d",
    "-9223372036854775807L",
    "18446744073709551615UL",
];

#[test]
fn filter_parameters() {
    let others = [
        "0",
        "17",
        "-1",
        "+5",
        "4294967295",
        "4294967296",
        "99999999999999999999",
        "-2147483649",
        "1b",
        "-1b",
        "300UB",
        "-1s",
        "70000us",
        "12u",
        "-3U",
        "5l",
        "-5L",
        "18446744073709551615ul",
        "7UL",
        "1.5f",
        "-1e10F",
        "3.25",
        "2.",
        ".5d",
        "1e400d",
        "nand",
        "inff",
        "0x10",
        "0xf",
        " \t9",
        "1 ",
        "x",
        "b",
        "l",
        "u",
        "-",
        "12q",
        "1b2",
        "ul",
        "1ul",
        "-l",
    ];
    compare(|s| {
        for text in CONSTANTS.into_iter().chain(others) {
            let text = CString::new(text).unwrap();
            let (mut count, mut words) = (7usize, [7 as c_uint; 3]);
            call!(s, ncaux_h5filterspec_parse_parameter(text.as_ptr(), &mut count, words.as_mut_ptr()));
            s.note((&text, count, words));
        }
        for text in [c"".as_ptr(), null()] {
            call!(s, ncaux_h5filterspec_parse_parameter(text, null_mut::<usize>(), null_mut::<c_uint>()));
        }
    });
}

/// Random words of the letters that parameters are made of, through both C libraries.
#[test]
fn random_filter_parameters() {
    const LETTERS: &[u8] = b"0123456789999--+..bBsSuUlLfFdDeExX aqn";
    let mut rng = Rng::new(6);
    let mut texts = vec![];
    while texts.len() < 20_000 {
        let len = 1 + rng.below(7) as usize;
        let text: Vec<u8> = (0..len).map(|_| LETTERS[rng.below(LETTERS.len() as u64) as usize]).collect();
        // At the end of a blank text the reference reads on; of "1e" it reads nothing, or 1, by the version of the C library.
        let reads_on = text.iter().all(|byte| *byte == b' ');
        let cut_off =
            text.windows(2).any(|pair| pair[0].eq_ignore_ascii_case(&b'e') && !pair[1].is_ascii_digit());
        let hexadecimal = text.iter().any(|byte| byte.eq_ignore_ascii_case(&b'x'));
        let named = text.contains(&b'n');
        if !reads_on && !cut_off && !hexadecimal && !named {
            texts.push(CString::new(text).unwrap());
        }
    }
    compare(|s| {
        for text in &texts {
            let (mut count, mut words) = (7usize, [7 as c_uint; 3]);
            call!(s, ncaux_h5filterspec_parse_parameter(text.as_ptr(), &mut count, words.as_mut_ptr()));
            s.note((text, count, words));
        }
    });
}

#[test]
fn filters() {
    compare(|s| {
        for text in [
            "307",
            "307,9",
            "32015, 3,4.5d,-1b",
            "x,1",
            ",1",
            "1,x",
            "-1,2",
            " 12 , 3",
            "4294967297",
            "1,2 ,3",
            "32768, -17b, 23ub, -25S, 27US, 77, 93U, 2147483647, -2147483648, 4294967295U, 789f, \
             -9223372036854775807L, 18446744073709551615UL, 12345678.12345678d",
        ] {
            let text = CString::new(text).unwrap();
            let (mut id, mut count, mut words): (c_uint, usize, *mut c_uint) = (7, 7, null_mut());
            if call!(s, ncaux_h5filterspec_parse(text.as_ptr(), &mut id, &mut count, &mut words)) == 0 {
                s.note((take(words, count), &text));
            }
            s.note((id, count));
            let none = (null_mut::<c_uint>(), null_mut::<usize>(), null_mut::<*mut c_uint>());
            call!(s, ncaux_h5filterspec_parse(text.as_ptr(), none.0, none.1, none.2));
        }
        for text in [c"".as_ptr(), null()] {
            let none = (null_mut::<c_uint>(), null_mut::<usize>(), null_mut::<*mut c_uint>());
            call!(s, ncaux_h5filterspec_parse(text, none.0, none.1, none.2));
        }
        // The reference stops the program at a list that begins with a bracket.
        for text in ["", "1", "1,2|307,9", "1,2|", "|1", "|", "1||2", "1,2|x", "1,2|3,4|5,6.5d"] {
            filter_list(s, &CString::new(text).unwrap());
        }
        let none = (null_mut::<c_int>(), null_mut::<usize>(), null_mut::<*mut *mut Filterspec>());
        call!(s, ncaux_h5filterspec_parselist(null::<c_char>(), none.0, none.1, none.2));
        call!(s, ncaux_h5filterspec_parselist(c"1|2".as_ptr(), none.0, none.1, none.2));
        let mut bytes = *b"12345678";
        // SAFETY: the function has this type, and takes 8 bytes.
        unsafe {
            s.function::<unsafe extern "C" fn(*mut u8, c_int)>("ncaux_h5filterspec_fix8")(
                bytes.as_mut_ptr(),
                0,
            )
        };
        s.note(bytes);
    });
}

fn filter_list(s: &Session<'_>, text: &CStr) {
    let (mut format, mut count) = (7 as c_int, 7usize);
    let mut list: *mut *mut Filterspec = null_mut();
    let code = call!(s, ncaux_h5filterspec_parselist(text.as_ptr(), &mut format, &mut count, &mut list));
    s.note((text, format, count, list.is_null()));
    if code != 0 {
        return;
    }
    // SAFETY: the function has this type.
    let free = unsafe { s.function::<unsafe extern "C" fn(*mut Filterspec)>("ncaux_h5filterspec_free") };
    for at in 0..count {
        // SAFETY: there are `count` filters, each with as many parameters as it says, all from `malloc`.
        unsafe {
            let filter = *list.add(at);
            let words = std::slice::from_raw_parts((*filter).params, (*filter).nparams);
            s.note(((*filter).filterid, words));
            free(filter);
        }
    }
    // SAFETY: it is from `malloc`.
    unsafe {
        free(null_mut());
        libc::free(list.cast());
    }
}

#[test]
fn alignments() {
    compare(|s| {
        let id = new_classic(s);
        for ty in -2..40 {
            let mut alignment = 7usize;
            call!(s, ncaux_class_alignment(ty, &mut alignment));
            s.note(alignment);
            call!(s, ncaux_class_alignment(ty, null_mut::<usize>()));
            // The reference gives no alignment of atomic types.
            call!(s, ncaux_type_alignment(ty, id, &mut alignment));
            call!(s, ncaux_type_alignment(ty, 99 << 16, null_mut::<usize>()));
        }
        let mut tag: *mut c_void = null_mut();
        call!(s, ncaux_begin_compound(id, c"c".as_ptr(), 0, &mut tag));
        s.note(tag.is_null());
        for (rank, shape) in [(-1, [1, 1]), (1, [0, 1]), (2, [1, -1])] {
            call!(s, ncaux_add_field(tag, c"a".as_ptr(), 4, rank, shape.as_ptr()));
        }
        call!(s, ncaux_abort_compound(tag));
        call!(s, ncaux_abort_compound(null_mut::<c_void>()));
        call!(s, ncaux_add_field(null_mut::<c_void>(), c"a".as_ptr(), 4, 0, null::<c_int>()));
        call!(s, ncaux_end_compound(null_mut::<c_void>(), null_mut::<c_int>()));
        call!(s, ncaux_begin_compound(77, c"c".as_ptr(), 5, null_mut::<*mut c_void>()));
        call!(s, nc_close(id));
    });
}

#[test]
fn whole_files() {
    compare(|s| {
        let (path, gone) = (s.path("file"), s.path("no/folder"));
        let content = *b"some\0bytes";
        let at: *mut c_void = content.as_ptr().cast_mut().cast();
        call!(s, ncaux_writefile(path.as_ptr(), content.len(), at));
        read(s, &path);
        call!(s, ncaux_writefile(path.as_ptr(), 4usize, at));
        read(s, &path);
        call!(s, ncaux_writefile(path.as_ptr(), 4usize, null_mut::<c_void>()));
        read(s, &path);
        call!(s, ncaux_writefile(gone.as_ptr(), 4usize, at));
        call!(s, ncaux_writefile(s.path("").as_ptr(), 4usize, at));
        read(s, &gone);
        read(s, &s.path(""));
    });
}

fn read(s: &Session<'_>, path: &CStr) {
    let (mut size, mut content): (usize, *mut c_void) = (7, null_mut());
    if call!(s, ncaux_readfile(path.as_ptr(), &mut size, &mut content)) == 0 {
        // SAFETY: there are as many bytes and a zero byte, in memory of `malloc`.
        unsafe {
            s.note(std::slice::from_raw_parts(content.cast::<u8>(), size + 1));
            libc::free(content);
        }
    }
    s.note(size);
    call!(s, ncaux_readfile(path.as_ptr(), null_mut::<usize>(), null_mut::<*mut c_void>()));
}
