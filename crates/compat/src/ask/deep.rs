//! Values in the memory of a C program, of any type, as text.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;

use super::NO_TEXT;
use crate::both::Session;
use crate::call;

/// A type as a library tells it.
pub enum Deep {
    /// Numbers or text of a size.
    Flat(usize),
    /// A pointer to text.
    String,
    /// A list.
    Vlen(Box<Deep>),
    /// Bytes of a value; offset, type and number of values of each field.
    Compound(usize, Vec<(usize, Deep, usize)>),
}

impl Deep {
    /// Asks what a type is.
    pub fn learn(s: &Session<'_>, id: c_int, ty: c_int) -> Deep {
        let mut size = 0usize;
        match ty {
            12 => return Deep::String,
            ..12 => {
                call!(s, nc_inq_type(id, ty, NO_TEXT, &mut size));
                return Deep::Flat(size);
            }
            _ => {}
        }
        let (mut base, mut fields, mut class) = (0, 0usize, 0);
        call!(s, nc_inq_user_type(id, ty, NO_TEXT, &mut size, &mut base, &mut fields, &mut class));
        match class {
            13 => Deep::Vlen(Box::new(Self::learn(s, id, base))),
            16 => {
                let field = |at: c_int| {
                    let (mut offset, mut of, mut rank, mut shape) = (0usize, 0, 0, [0; 64]);
                    call!(
                        s,
                        nc_inq_compound_field(
                            id,
                            ty,
                            at,
                            NO_TEXT,
                            &mut offset,
                            &mut of,
                            &mut rank,
                            &mut shape
                        )
                    );
                    let count = shape[..rank as usize].iter().map(|&len| len as usize).product();
                    (offset, Self::learn(s, id, of), count)
                };
                Deep::Compound(size, (0..fields as c_int).map(field).collect())
            }
            _ => Deep::Flat(size),
        }
    }

    /// Bytes of a value.
    pub fn size(&self) -> usize {
        match self {
            Deep::Flat(size) | Deep::Compound(size, _) => *size,
            Deep::String => 8,
            Deep::Vlen(_) => 16,
        }
    }

    /// Room for values, aligned.
    pub fn room(&self, count: usize) -> Vec<u64> {
        vec![0; (self.size() * count).div_ceil(8) + 1]
    }

    /// Whether values have no memory of their own.
    pub fn is_flat(&self) -> bool {
        matches!(self, Deep::Flat(_))
    }
}

/// Values as text.
///
/// # Safety
/// There are that many values of the type.
pub unsafe fn tell(deep: &Deep, values: *const u8, count: usize) -> String {
    let mut to = String::new();
    // SAFETY: as the caller says.
    unsafe { tell_to(deep, values, count, &mut to) };
    to
}

unsafe fn tell_to(deep: &Deep, values: *const u8, count: usize, to: &mut String) {
    if let Deep::Flat(size) = deep {
        // SAFETY: as the caller says.
        let bytes =
            if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(values, size * count) } };
        to.push_str(&super::digest(bytes));
        return;
    }
    for at in 0..count {
        // SAFETY: as the caller says; the fields of a compound lie in it, and lists and strings are where they point.
        unsafe {
            let value = values.add(at * deep.size());
            match deep {
                Deep::Flat(_) => {}
                Deep::String => {
                    let string = value.cast::<*const c_char>().read_unaligned();
                    if string.is_null() {
                        to.push_str("null ");
                    } else {
                        write!(to, "\"{}\" ", CStr::from_ptr(string).to_bytes().escape_ascii())
                            .expect("text");
                    }
                }
                Deep::Vlen(base) => {
                    let (len, list) = value.cast::<(usize, *const u8)>().read_unaligned();
                    write!(to, "{len}{{").expect("text");
                    tell_to(base, list, len, to);
                    to.push_str("} ");
                }
                Deep::Compound(_, fields) => {
                    to.push('<');
                    for (offset, field, count) in fields {
                        tell_to(field, value.add(*offset), *count, to);
                        to.push(';');
                    }
                    to.push('>');
                }
            }
        }
    }
}
