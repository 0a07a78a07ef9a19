//! Types as C lays them out, of `netcdf_aux.h`: alignment, and compound types whose offsets follow from their fields.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Class;
use ferrocdf::{Code, Error, Model, Result, Type};

use crate::boundary::{answer, fail, list, put, text};
use crate::constants::NC_NOERR;
use crate::groups::find_enhanced;
use crate::instances::find_copied;
use crate::types::{
    NC_OPAQUE, NC_VLEN, NcVlen, nc_inq_type, nc_inq_user_type, number_of, size_of_type, type_of,
};
use crate::user_types::{nc_def_compound, nc_insert_array_compound};

/// The alignment of values of a type: that of what they start with.
fn alignment(model: &Model, ty: Type) -> usize {
    match ty {
        // Atomic types are aligned to their size on all systems of 64 bits.
        Type::Atomic(atomic) => atomic.size(),
        Type::User(id) => match &model.user_type(id).class {
            Class::Opaque(_) => 1,
            Class::Vlen(_) => align_of::<NcVlen>(),
            Class::Enum { base, .. } => base.size(),
            Class::Compound { fields, .. } => fields.first().map_or(1, |field| alignment(model, field.ty)),
        },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_class_alignment(class: c_int, place: *mut usize) -> c_int {
    answer(|| {
        let found = match class {
            NC_OPAQUE => Ok(1),
            NC_VLEN => Ok(align_of::<NcVlen>()),
            _ => match type_of(class) {
                Ok(Type::Atomic(atomic)) => Ok(atomic.size()),
                _ => fail(Code::EINVAL, format!("values of class {class} have no alignment of their own")),
            },
        };
        // SAFETY: the contract of the interface.
        unsafe { put(place, *found.as_ref().unwrap_or(&0)) };
        found.map(drop)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_type_alignment(ty: c_int, ncid: c_int, place: *mut usize) -> c_int {
    answer(|| {
        let (model, ty) = find_copied(ncid, ty)?;
        // SAFETY: the contract of the interface.
        unsafe { put(place, alignment(&model, ty)) };
        Ok(())
    })
}

/// What [`nc_inq_user_type`] gives, for atomic types too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_inq_any_type(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    count: *mut usize,
    class: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe {
        if !matches!(type_of(ty), Ok(Type::Atomic(_))) {
            return nc_inq_user_type(ncid, ty, name, size, base, count, class);
        }
        put(base, 0);
        put(count, 0);
        put(class, ty);
        nc_inq_type(ncid, ty, name, size)
    }
}

/// A compound type that is being put together.
struct Builder {
    ncid: c_int,
    name: CString,
    fields: Vec<(CString, c_int, Vec<c_int>)>,
}

/// Those that are; a tag is a number that callers take for a pointer, so that one used too long does no harm.
static BUILDERS: Mutex<BTreeMap<usize, Builder>> = Mutex::new(BTreeMap::new());

fn builders() -> MutexGuard<'static, BTreeMap<usize, Builder>> {
    BUILDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_builder() -> Error {
    Error::new(Code::EINVAL, "the tag is of no compound type that was begun")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_begin_compound(
    ncid: c_int,
    name: *const c_char,
    _align: c_int,
    tag: *mut *mut c_void,
) -> c_int {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    answer(|| {
        // SAFETY: the contract of the interface.
        let name = CString::new(unsafe { text(name) }?).unwrap_or_default();
        if tag.is_null() {
            return fail(Code::EINVAL, "there is no place for the tag");
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        builders().insert(number, Builder { ncid, name, fields: vec![] });
        // SAFETY: the contract of the interface.
        unsafe { put(tag, std::ptr::without_provenance_mut(number)) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_add_field(
    tag: *mut c_void,
    name: *const c_char,
    ty: c_int,
    rank: c_int,
    shape: *const c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (name, shape) = unsafe { (text(name)?, list(shape, usize::try_from(rank).unwrap_or(0))) };
        if rank < 0 || shape.iter().any(|&len| len <= 0) {
            return fail(Code::EINVAL, format!("no field has the shape {shape:?}"));
        }
        let field = (CString::new(name).unwrap_or_default(), ty, shape.to_vec());
        builders().get_mut(&tag.addr()).ok_or_else(no_builder)?.fields.push(field);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncaux_abort_compound(tag: *mut c_void) -> c_int {
    builders().remove(&tag.addr());
    NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_end_compound(tag: *mut c_void, id: *mut c_int) -> c_int {
    let mut laid_out = None;
    let code = answer(|| {
        let builder = builders().remove(&tag.addr()).ok_or_else(no_builder)?;
        laid_out = Some((lay_out(&builder)?, builder));
        Ok(())
    });
    let Some(((offsets, size), builder)) = laid_out else { return code };
    let mut new = 0;
    // SAFETY: names end in a zero byte.
    let mut code = unsafe { nc_def_compound(builder.ncid, size, builder.name.as_ptr(), &mut new) };
    for ((name, ty, shape), offset) in builder.fields.iter().zip(offsets) {
        if code == NC_NOERR {
            let rank = shape.len() as c_int;
            // SAFETY: names end in a zero byte, and the shape is as long as is said.
            code = unsafe {
                nc_insert_array_compound(builder.ncid, new, name.as_ptr(), offset, *ty, rank, shape.as_ptr())
            };
        }
    }
    // SAFETY: the contract of the interface.
    unsafe { put(id, new) };
    code
}

/// The offsets of the fields and the size of the whole, as a C compiler has them.
fn lay_out(builder: &Builder) -> Result<(Vec<usize>, usize)> {
    find_enhanced(builder.ncid)?;
    let (mut offsets, mut end, mut widest) = (vec![], 0usize, 1);
    for (_, ty, shape) in &builder.fields {
        let (model, ty) = find_copied(builder.ncid, *ty)?;
        let align = alignment(&model, ty);
        let count = shape.iter().fold(1usize, |count, &len| count.saturating_mul(len as usize));
        let offset = end.next_multiple_of(align);
        offsets.push(offset);
        let bytes = count.saturating_mul(size_of_type(&model, ty));
        let Some(next) = offset.checked_add(bytes).filter(|&end| end < isize::MAX as usize) else {
            return fail(Code::EINVAL, format!("a field of type {} is too large", number_of(ty)));
        };
        (end, widest) = (next, widest.max(align));
    }
    Ok((offsets, end.next_multiple_of(widest)))
}

#[cfg(test)]
mod tests {
    use ferrocdf::model::{Field, UserType};
    use ferrocdf::{Atomic, Format, GroupId, Name};

    use super::*;

    #[test]
    fn compounds_are_aligned_like_their_first_field() {
        let mut model = Model::new(Format::Netcdf4);
        let mut define = |name: &str, class: Class| {
            let name = Name::new(name).unwrap();
            Type::User(model.def_type(UserType { name, group: GroupId::ROOT, class }).unwrap())
        };
        let field = |ty: Type| Field { name: Name::new("f").unwrap(), offset: 0, ty, shape: vec![] };
        let opaque = define("opaque", Class::Opaque(7));
        let list = define("list", Class::Vlen(Atomic::Byte.into()));
        let short = define("short", Class::Enum { base: Atomic::Short, members: vec![] });
        let inner = define("inner", Class::Compound { size: 8, fields: vec![field(Atomic::Int.into())] });
        let outer = define("outer", Class::Compound { size: 16, fields: vec![field(inner), field(list)] });
        let found = [opaque, list, short, inner, outer].map(|ty| alignment(&model, ty));
        assert_eq!(found, [1, align_of::<NcVlen>(), 2, 4, 4]);
        let mut double = 0;
        // SAFETY: the place is for one number.
        assert_eq!(unsafe { ncaux_type_alignment(6, -1, &mut double) }, NC_NOERR);
        assert_eq!(double, align_of::<f64>());
        assert_eq!([opaque, list, short, outer].map(|ty| size_of_type(&model, ty)), [7, 16, 2, 16]);
    }

    #[test]
    fn a_tag_ends_once() {
        let mut tag = std::ptr::null_mut();
        // SAFETY: names end in a zero byte, and shapes are as long as is said.
        unsafe {
            assert_eq!(ncaux_begin_compound(7, c"c".as_ptr(), 0, &mut tag), NC_NOERR);
            let field = |rank, shape: &[c_int]| ncaux_add_field(tag, c"f".as_ptr(), 4, rank, shape.as_ptr());
            assert_eq!(field(0, &[]), NC_NOERR);
            assert_eq!(field(1, &[3]), NC_NOERR);
            assert_eq!(field(1, &[0]), Code::EINVAL.0);
            assert_eq!(field(-1, &[]), Code::EINVAL.0);
            assert_eq!(ncaux_end_compound(tag, &mut 0), Code::EBADID.0);
            assert_eq!(ncaux_end_compound(tag, &mut 0), Code::EINVAL.0);
            assert_eq!(field(0, &[]), Code::EINVAL.0);
        }
        assert_eq!(ncaux_abort_compound(tag), NC_NOERR);
    }
}
