//! Everything that a C program can ask of a file, asked of both libraries: what is in it and how it is stored, every
//! attribute, and all data in its own type and in every other.

mod deep;
mod variable;

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};

pub use deep::{Deep, tell};

use crate::both::{Session, text};
use crate::call;

/// The variable id of global attributes.
pub const GLOBAL: c_int = -1;
const NO_INT: *mut c_int = null_mut();
const NO_SIZE: *mut usize = null_mut();
const NO_TEXT: *mut c_char = null_mut();

/// The types of memory, by the ends of the functions' names, with the size of an element.
pub const MEMORY: [(&str, usize); 14] = [
    ("_text", 1),
    ("_schar", 1),
    ("_uchar", 1),
    ("_ubyte", 1),
    ("_short", 2),
    ("_ushort", 2),
    ("_int", 4),
    ("_uint", 4),
    ("_long", 8),
    ("_longlong", 8),
    ("_ulonglong", 8),
    ("_float", 4),
    ("_double", 8),
    ("_string", 8),
];

/// How much is asked.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Whether data is read, and attributes' values in types that are not their own.
    pub values: bool,
}

/// Opens a file, asks everything, and closes it.
pub fn ask(s: &Session<'_>, path: &CStr, options: Options) {
    let mut id = 0;
    if call!(s, nc_open(path.as_ptr(), 0, &mut id)) != 0 {
        return;
    }
    let (mut format, mut extended, mut mode) = (-7, -7, -7);
    call!(s, nc_inq_format(id, &mut format));
    call!(s, nc_inq_format_extended(id, &mut extended, &mut mode));
    s.note((format, extended, mode));
    group(s, id, options);
    call!(s, nc_close(id));
}

/// Ids that a question answers with a count and a list.
fn ids(s: &Session<'_>, name: &str, id: c_int) -> Vec<c_int> {
    let mut count = 0;
    // SAFETY: the questions that are asked so take an id and two places.
    unsafe { s.call(name, (id, &mut count, NO_INT)) };
    let mut ids = vec![-7; count.max(0) as usize + 1];
    // SAFETY: as above; there is room for all.
    unsafe { s.call(name, (id, NO_INT, ids.as_mut_ptr())) };
    ids.truncate(count.max(0) as usize);
    s.note(&ids);
    ids
}

fn group(s: &Session<'_>, id: c_int, options: Options) {
    let (mut name, mut len, mut parent) = ([0; 5000], 0usize, -7);
    call!(s, nc_inq_grpname(id, &mut name));
    s.note(text(&name));
    call!(s, nc_inq_grpname_full(id, &mut len, &mut name));
    s.note((text(&name), len));
    call!(s, nc_inq_grpname_len(id, &mut len));
    call!(s, nc_inq_grp_parent(id, &mut parent));
    s.note((len, parent));
    let (mut dims, mut vars, mut attrs, mut unlimited) = (-7, -7, -7, -7);
    call!(s, nc_inq(id, &mut dims, &mut vars, &mut attrs, &mut unlimited));
    s.note((dims, vars, attrs, unlimited));
    call!(s, nc_inq_unlimdim(id, &mut unlimited));
    call!(s, nc_inq_natts(id, &mut attrs));
    s.note((attrs, unlimited));
    let groups = ids(s, "nc_inq_grps", id);
    let types = ids(s, "nc_inq_typeids", id);
    let vars = ids(s, "nc_inq_varids", id);
    ids(s, "nc_inq_unlimdims", id);
    types.iter().for_each(|&ty| user_type(s, id, ty));
    for parents in [0, 1] {
        let (mut count, mut dims) = (-7, [-7; 3000]);
        call!(s, nc_inq_dimids(id, &mut count, &mut dims, parents));
        s.note((count, &dims[..count.max(0) as usize]));
        dims[..count.max(0) as usize].iter().for_each(|&dim| dimension(s, id, dim));
    }
    attributes(s, id, GLOBAL, attrs, options);
    vars.iter().for_each(|&var| variable::all(s, id, var, options));
    for &child in &groups {
        let mut found = -7;
        let mut name = [0; 300];
        call!(s, nc_inq_grpname(child, &mut name));
        for function in ["nc_inq_ncid", "nc_inq_grp_ncid"] {
            // SAFETY: both take an id, a name and a place.
            unsafe { s.call(function, (id, name.as_ptr(), &mut found)) };
            s.note(found);
        }
        group(s, child, options);
    }
}

fn dimension(s: &Session<'_>, id: c_int, dim: c_int) {
    let (mut name, mut len, mut found) = ([0; 300], 77usize, -7);
    call!(s, nc_inq_dim(id, dim, &mut name, &mut len));
    s.note((text(&name), len));
    call!(s, nc_inq_dimid(id, name.as_ptr(), &mut found));
    s.note(found);
}

fn user_type(s: &Session<'_>, id: c_int, ty: c_int) {
    let (mut name, mut size, mut base, mut fields, mut class) = ([0; 300], 77usize, -7, 77usize, -7);
    call!(s, nc_inq_user_type(id, ty, &mut name, &mut size, &mut base, &mut fields, &mut class));
    s.note((ty, text(&name), size, base, fields, class));
    let mut found = -7;
    call!(s, nc_inq_typeid(id, name.as_ptr(), &mut found));
    s.note(found);
    call!(s, nc_inq_type(id, ty, &mut name, &mut size));
    s.note((text(&name), size));
    call!(s, nc_inq_type_equal(id, ty, id, ty, &mut found));
    s.note(found);
    for at in 0..fields as c_int {
        let (mut offset, mut of, mut rank, mut shape) = (77usize, -7, -7, [-7; 64]);
        match class {
            16 => {
                call!(
                    s,
                    nc_inq_compound_field(id, ty, at, &mut name, &mut offset, &mut of, &mut rank, &mut shape)
                );
                s.note((text(&name), offset, of, rank, &shape[..rank.max(0) as usize]));
                call!(s, nc_inq_compound_fieldindex(id, ty, name.as_ptr(), &mut found));
                s.note(found);
            }
            15 => {
                let mut value = 0i64;
                call!(s, nc_inq_enum_member(id, ty, at, &mut name, &mut value));
                s.note((text(&name), value));
            }
            _ => {}
        }
    }
    for value in (-3..10i64).filter(|_| class == 15) {
        call!(s, nc_inq_enum_ident(id, ty, value, &mut name));
        s.note(text(&name));
    }
}

fn attributes(s: &Session<'_>, id: c_int, var: c_int, count: c_int, options: Options) {
    for at in 0..count.max(0) {
        let mut name = [0; 300];
        call!(s, nc_inq_attname(id, var, at, &mut name));
        s.note(text(&name));
        let bytes: Vec<u8> = name.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
        let name = CString::new(bytes).expect("it ends at its zero");
        attribute(s, id, var, &name, options);
    }
}

/// Asks everything about an attribute that may be there.
pub fn attribute(s: &Session<'_>, id: c_int, var: c_int, name: &CStr, options: Options) {
    let name = name.as_ptr();
    let (mut ty, mut len, mut number) = (-7, 77usize, -7);
    call!(s, nc_inq_attid(id, var, name, &mut number));
    s.note(number);
    if call!(s, nc_inq_att(id, var, name, &mut ty, &mut len)) != 0 {
        return;
    }
    s.note((ty, len));
    let deep = Deep::learn(s, id, ty);
    let mut room = deep.room(len);
    call!(s, nc_get_att(id, var, name, room.as_mut_ptr()));
    // SAFETY: the values are of that type.
    s.note(unsafe { tell(&deep, room.as_ptr().cast(), len) });
    call!(s, nc_reclaim_data(id, ty, room.as_mut_ptr(), len));
    // Debian's library casts floats through `long long`, which newer ones do not.
    let odd = |ending: &str| ending == "_ulonglong" && matches!(ty, 5 | 6);
    for (ending, size) in MEMORY.into_iter().filter(|(ending, _)| options.values && !odd(ending)) {
        let is_string = (ending, ty) == ("_string", 12);
        let mut room = vec![0x5555_5555_5555_5555u64; (len * size).div_ceil(8) + 1];
        let function = format!("nc_get_att{ending}");
        // SAFETY: they take an id, a variable's, a name, and room for the values.
        unsafe { s.call(&function, (id, var, name, room.as_mut_ptr())) };
        if is_string {
            // SAFETY: they are strings.
            s.note(unsafe { tell(&deep, room.as_ptr().cast(), len) });
            call!(s, nc_free_string(len, room.as_mut_ptr()));
        } else {
            s.note(&room);
        }
    }
}

/// What is noted of much memory.
fn digest(bytes: &[u8]) -> String {
    if bytes.len() <= 2000 {
        return format!("{bytes:02x?}");
    }
    let sum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{} bytes, {sum:x}", bytes.len())
}

const NO_COUNTS: *const usize = null();
