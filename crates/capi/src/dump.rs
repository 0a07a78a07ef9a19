//! `nc_dump_data`: values of any type as text, in the reference's form.

use std::ffi::{c_char, c_int, c_void};

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Code, Model, Result, Type};

use crate::boundary::{answer, fail, list, put, text};
use crate::c_memory::copy_text;
use crate::instances::{check, find_copied};
use crate::types::{NcVlen, size_of_type};

/// Numbers as `printf` has them, with six digits behind the point for floating-point ones.
macro_rules! number {
    ($place:expr, $type:ty) => {
        // SAFETY: the caller says that a value of the type is there.
        unsafe { $place.cast::<$type>().read_unaligned() }
    };
}

fn real(number: f64) -> String {
    if number.is_finite() {
        return format!("{number:.6}");
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" })
}

/// The text of one value.
///
/// # Safety
/// A value of the type is at `place`.
unsafe fn shown(model: &Model, ty: Type, place: *const u8) -> Result<Vec<u8>> {
    let id = match ty {
        // SAFETY: as the caller says.
        Type::Atomic(atomic) => return Ok(unsafe { shown_atomic(atomic, place) }),
        Type::User(id) => id,
    };
    match &model.user_type(id).class {
        // SAFETY: as the caller says: a number of the base type is there.
        Class::Enum { base, .. } => unsafe { shown(model, (*base).into(), place) },
        Class::Opaque(size) => {
            // SAFETY: as the caller says, there are so many bytes.
            let bytes = unsafe { list(place, *size) };
            let digits: String = bytes.iter().map(|byte| format!("{byte:2x}")).collect();
            Ok(format!("|{digits}|").into_bytes())
        }
        Class::Vlen(base) => {
            let held = number!(place, NcVlen);
            if held.len > 0 && held.values.is_null() {
                return fail(Code::EINVAL, "a list has no values");
            }
            // SAFETY: the list has that many values.
            let values = unsafe { shown_all(model, *base, held.values.cast(), held.len) }?;
            Ok([format!("{{len={},p=(", held.len).as_bytes(), &values, b")}"].concat())
        }
        Class::Compound { fields, .. } => {
            let mut parts = Vec::with_capacity(fields.len());
            for field in fields {
                let shape: String = field.shape.iter().map(|len| format!("[{len}]")).collect();
                let count = field.shape.iter().product();
                // SAFETY: fields are inside the value.
                let values = unsafe { shown_all(model, field.ty, place.add(field.offset), count) }?;
                parts.push([field.name.as_bytes(), shape.as_bytes(), &values].concat());
            }
            Ok([b"<", &*parts.join(&b';'), b">"].concat())
        }
    }
}

/// The text of a number, character or string.
unsafe fn shown_atomic(atomic: Atomic, place: *const u8) -> Vec<u8> {
    let number = match atomic {
        Atomic::Char => return vec![b'\'', number!(place, u8), b'\''],
        Atomic::String => {
            let string = number!(place, *const c_char);
            // SAFETY: as the caller says; a null pointer has no text.
            return [b"\"", unsafe { text(string) }.unwrap_or_default(), b"\""].concat();
        }
        Atomic::Byte => number!(place, i8).to_string(),
        Atomic::Ubyte => number!(place, u8).to_string(),
        Atomic::Short => number!(place, i16).to_string(),
        Atomic::Ushort => number!(place, u16).to_string(),
        // The reference shows unsigned numbers of 32 bits as if they were signed.
        Atomic::Int | Atomic::Uint => number!(place, i32).to_string(),
        Atomic::Int64 => number!(place, i64).to_string(),
        Atomic::Uint64 => number!(place, u64).to_string(),
        Atomic::Float => real(number!(place, f32).into()),
        Atomic::Double => real(number!(place, f64)),
    };
    number.into_bytes()
}

/// The text of values one behind the other.
unsafe fn shown_all(model: &Model, ty: Type, place: *const u8, count: usize) -> Result<Vec<u8>> {
    let size = size_of_type(model, ty);
    // SAFETY: as the caller says, there are that many values.
    let values = (0..count).map(|at| unsafe { shown(model, ty, place.add(at * size)) });
    Ok(values.collect::<Result<Vec<_>>>()?.join(&b' '))
}

/// The functions of `netcdf.h` and of `netcdf_aux.h`: the same under two names.
macro_rules! functions {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            ncid: c_int, ty: c_int, memory: *mut c_void, count: usize, place: *mut *mut c_char,
        ) -> c_int {
            answer(|| {
                if !check(ncid, ty, memory, count)? {
                    return Ok(());
                }
                let (model, ty) = find_copied(ncid, ty)?;
                // SAFETY: the contract of the interface.
                unsafe { put(place, copy_text(&shown_all(&model, ty, memory.cast(), count)?)?) };
                Ok(())
            })
        }
    )*};
}

functions!(nc_dump_data ncaux_dump_data);

#[cfg(test)]
mod tests {
    use ferrocdf::model::{Field, UserType};
    use ferrocdf::{Format, GroupId, Name};

    use super::*;
    use crate::instances::{copy, reclaim};

    /// A compound of two strings and a list.
    #[repr(C)]
    struct Owner {
        strings: [*mut c_char; 2],
        list: NcVlen,
    }

    #[test]
    fn values_that_own_others_are_copied_whole() {
        let mut model = Model::new(Format::Netcdf4);
        let mut define = |name: &str, class: Class| {
            let name = Name::new(name).unwrap();
            Type::User(model.def_type(UserType { name, group: GroupId::ROOT, class }).unwrap())
        };
        let field = |name: &str, offset: usize, ty: Type, shape: &[usize]| Field {
            name: Name::new(name).unwrap(),
            offset,
            ty,
            shape: shape.to_vec(),
        };
        let list = define("list", Class::Vlen(Atomic::Short.into()));
        let fields = vec![field("s", 0, Atomic::String.into(), &[2]), field("l", 16, list, &[])];
        let owner = define("owner", Class::Compound { size: size_of::<Owner>(), fields });
        let mut numbers = [7i16, -8];
        let values = numbers.as_mut_ptr().cast();
        let original = Owner {
            strings: [c"one".as_ptr().cast_mut(), std::ptr::null_mut()],
            list: NcVlen { len: 2, values },
        };
        // SAFETY: both places hold a value of the type; the copy is reclaimed once.
        unsafe {
            let mut copied = std::mem::MaybeUninit::<Owner>::uninit();
            copy(&model, owner, (&raw const original).cast(), copied.as_mut_ptr().cast()).unwrap();
            numbers = [0; 2];
            let mut copied = copied.assume_init();
            assert_ne!((copied.strings[0], copied.list.values), (original.strings[0], original.list.values));
            let out = shown(&model, owner, (&raw const copied).cast()).unwrap();
            assert_eq!(out.escape_ascii().to_string(), r#"<s[2]\"one\" \"\";l{len=2,p=(7 -8)}>"#);
            reclaim(&model, owner, (&raw mut copied).cast()).unwrap();
        }
        assert_eq!(numbers, [0; 2]);
    }
}
