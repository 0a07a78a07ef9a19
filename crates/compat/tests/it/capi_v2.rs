//! The interface of version 2 through both C libraries, and what it prints.

use std::ffi::{c_char, c_int, c_long};
use std::path::Path;
use std::process::Command;
use std::ptr::{null, null_mut};

use ferrocdf_compat::both::{Session, build, compare, text};
use ferrocdf_compat::call;

/// Errors neither print nor end the process; the last one is noted.
fn quiet(session: &Session<'_>) {
    // SAFETY: both are integers.
    unsafe { **session.function::<*mut c_int>("ncopts") = 0 };
}

fn note_error(session: &Session<'_>) {
    // SAFETY: as above.
    session.note(unsafe { **session.function::<*mut c_int>("ncerr") });
}

/// Calls a function of the library, and notes the last error.
macro_rules! old {
    ($session:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let given = call!($session, $name($($argument),*));
        note_error($session);
        given
    }};
}

#[test]
fn a_file_from_begin_to_end() {
    compare(|s| {
        quiet(s);
        let path = s.path("old.nc");
        old!(s, ncopen(path.as_ptr(), 0));
        let id = old!(s, nccreate(path.as_ptr(), 0));
        let t = old!(s, ncdimdef(id, c"t".as_ptr(), 0 as c_long));
        let x = old!(s, ncdimdef(id, c"x".as_ptr(), 3 as c_long));
        old!(s, ncdimdef(id, c"y".as_ptr(), -1 as c_long));
        old!(s, ncdimid(id, c"x".as_ptr()));
        old!(s, ncdimid(id, c"none".as_ptr()));
        let fixed = old!(s, ncvardef(id, c"fixed".as_ptr(), 4, 1, &x));
        let records = old!(s, ncvardef(id, c"records".as_ptr(), 6, 2, [t, x].as_ptr()));
        let text_records = old!(s, ncvardef(id, c"text".as_ptr(), 2, 1, &t));
        old!(s, ncvardef(id, c"text".as_ptr(), 2, 1, &t));
        old!(s, ncvarid(id, c"records".as_ptr()));
        old!(s, ncattput(id, fixed, c"a".as_ptr(), 4, 2, [1i32, 2].as_ptr()));
        old!(s, ncattput(id, fixed, c"a".as_ptr(), 4, -1, [1i32, 2].as_ptr()));
        old!(s, ncattput(id, -1, c"title".as_ptr(), 2, 5, c"hello".as_ptr()));
        old!(s, ncattcopy(id, fixed, c"a".as_ptr(), id, records));
        old!(s, ncattcopy(id, fixed, c"b".as_ptr(), id, records));
        old!(s, ncattrename(id, records, c"a".as_ptr(), c"b".as_ptr()));
        old!(s, ncsetfill(id, 0));
        old!(s, ncsetfill(id, 7));
        old!(s, ncvarput1(id, fixed, &(0 as c_long), &5i32));
        old!(s, ncendef(id));
        old!(s, ncendef(id));
        let (zero, one, three): (c_long, c_long, c_long) = (0, 1, 3);
        old!(s, ncvarput1(id, fixed, &one, &5i32));
        old!(s, ncvarput(id, fixed, &one, &three, [1i32, 2, 3].as_ptr()));
        old!(s, ncvarput(id, fixed, &zero, &three, [1i32, 2, 3].as_ptr()));
        let (start, count) = ([1 as c_long, 0], [2 as c_long, 3]);
        let values: [f64; 12] = std::array::from_fn(|at| at as f64);
        old!(s, ncvarput(id, records, start.as_ptr(), count.as_ptr(), values.as_ptr()));
        let (count, stride, map) = ([2 as c_long, 2], [2 as c_long, 2], [8 as c_long, 24]);
        old!(s, ncvarputs(id, records, start.as_ptr(), count.as_ptr(), stride.as_ptr(), values.as_ptr()));
        let (start, none) = (start.as_ptr(), null::<c_long>());
        old!(s, ncvarputg(id, records, start, count.as_ptr(), none, map.as_ptr(), values.as_ptr()));
        old!(s, ncvarputg(id, records, start, count.as_ptr(), none, none, values.as_ptr()));
        old!(s, ncvarputg(id, 9, start, count.as_ptr(), none, map.as_ptr(), values.as_ptr()));
        let mut letter = *b"x";
        let mut record = [1.5f64; 3];
        let pointers = [record.as_mut_ptr().cast::<u8>(), letter.as_mut_ptr()];
        old!(s, ncrecput(id, 5 as c_long, pointers.as_ptr()));
        (record, letter) = ([0.0; 3], *b"?");
        let pointers = [record.as_mut_ptr().cast::<u8>(), letter.as_mut_ptr()];
        for number in [5 as c_long, 9, 1, -1] {
            old!(s, ncrecget(id, number, pointers.as_ptr()));
            s.note((record, letter));
        }
        old!(s, ncrecget(id, 1 as c_long, [null_mut::<u8>(), null_mut()].as_ptr()));
        let (mut vars, mut ids, mut sizes) = (0, [0; 4], [0 as c_long; 4]);
        old!(s, ncrecinq(id, &mut vars, ids.as_mut_ptr(), sizes.as_mut_ptr()));
        s.note((vars, ids, sizes, text_records));
        old!(s, ncrecinq(id, null_mut::<c_int>(), null_mut::<c_int>(), null_mut::<c_long>()));
        read(s, id, records);
        inquire(s, id, fixed);
        old!(s, ncredef(id));
        old!(s, ncdimrename(id, x, c"a longer name".as_ptr()));
        old!(s, ncvarrename(id, fixed, c"f".as_ptr()));
        old!(s, ncattdel(id, fixed, c"a".as_ptr()));
        old!(s, ncattdel(id, fixed, c"a".as_ptr()));
        old!(s, ncsync(id));
        old!(s, ncendef(id));
        old!(s, ncsync(id));
        old!(s, ncclose(id));
        old!(s, ncclose(id));
        let id = old!(s, ncopen(path.as_ptr(), 1));
        old!(s, ncabort(id));
        old!(s, ncabort(id));
    });
}

fn read(s: &Session<'_>, id: c_int, var: c_int) {
    let (start, count, stride, map) =
        ([1 as c_long, 0], [2 as c_long, 2], [1 as c_long, 2], [8 as c_long, 16]);
    let (start, count) = (start.as_ptr(), count.as_ptr());
    let mut values = [0f64; 8];
    old!(s, ncvarget1(id, var, start, values.as_mut_ptr()));
    s.note(values);
    old!(s, ncvarget(id, var, start, count, values.as_mut_ptr()));
    s.note(values);
    old!(s, ncvargets(id, var, start, count, stride.as_ptr(), values.as_mut_ptr()));
    s.note(values);
    old!(s, ncvargets(id, var, start, count, null::<c_long>(), values.as_mut_ptr()));
    old!(s, ncvargetg(id, var, start, count, stride.as_ptr(), map.as_ptr(), values.as_mut_ptr()));
    s.note(values);
    old!(s, ncvarget(id, 77, start, count, values.as_mut_ptr()));
}

fn inquire(s: &Session<'_>, id: c_int, var: c_int) {
    let mut numbers = [0; 4];
    let [a, b, c, d] = &mut numbers;
    old!(s, ncinquire(id, &mut *a, &mut *b, &mut *c, &mut *d));
    s.note(numbers);
    old!(
        s,
        ncinquire(-1, null_mut::<c_int>(), null_mut::<c_int>(), null_mut::<c_int>(), null_mut::<c_int>())
    );
    let (mut name, mut len): ([c_char; 300], c_long) = ([0; 300], 0);
    for dim in [0, 1, 2] {
        old!(s, ncdiminq(id, dim, name.as_mut_ptr(), &mut len));
        s.note((text(&name), len));
    }
    let (mut ty, mut dims_count, mut dims, mut attrs) = (0, 0, [0; 8], 0);
    for var in [var, 1, 9] {
        old!(
            s,
            ncvarinq(id, var, name.as_mut_ptr(), &mut ty, &mut dims_count, dims.as_mut_ptr(), &mut attrs)
        );
        s.note((text(&name), ty, dims_count, dims, attrs));
    }
    let (mut len, mut values) = (0, [0i32; 4]);
    for at in [0, 1] {
        old!(s, ncattname(id, var, at, name.as_mut_ptr()));
        s.note(text(&name));
        old!(s, ncattinq(id, var, name.as_ptr(), &mut ty, &mut len));
        s.note((ty, len));
    }
    old!(s, ncattinq(id, var, c"none".as_ptr(), &mut ty, &mut len));
    old!(s, ncattget(id, var, c"a".as_ptr(), values.as_mut_ptr()));
    s.note(values);
    for ty in -1..14 {
        call!(s, nctypelen(ty));
    }
}

/// What a program gives over a library: its code, and what it printed.
fn run(program: &Path, library: Option<&Path>, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command.args(args);
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    let output = command.output().expect("it was just compiled");
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
    )
}

/// A C program linked in the old way, so that it has `ncopts` and `ncerr` in memory of its own.
#[test]
fn errors_are_printed_and_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("v2");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/c/v2.c");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-no-pie", "-fno-pie", "-o"])
        .arg(&program)
        .args([source, "-lnetcdf"])
        .status();
    assert!(built.expect("a C compiler").success());
    // The name by which programs of the reference's release look for it.
    std::os::unix::fs::symlink(build(), folder.path().join("libnetcdf.so.19")).unwrap();
    for args in [["0"], ["1"], ["2"], ["3"], ["7"], ["default"]] {
        let (theirs, ours) = (run(&program, None, &args), run(&program, Some(folder.path()), &args));
        assert_eq!(theirs, ours, "ncopts {args:?}: the reference gives the left, ferrocdf the right");
    }
}
