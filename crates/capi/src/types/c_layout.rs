//! Inquiry of types and their alignment, and definition of compound types with the layout of C.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};

use ferrocdf::model::{Class, Field, Name, UserType};
use ferrocdf::nested::elements_of;
use ferrocdf::{Code, Error, Format, Model, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::{NC_OPAQUE, NC_VLEN};
use crate::abi::forks::ProcessMutex;
use crate::abi::memory::NcVlen;
use crate::abi::pointers::{NameOut, Out, Str, list};
use crate::model::type_numbers::{known_type, number_of, type_of};
use crate::open::ids::find_enhanced;
use crate::types::inquire::nc_inq_user_type;

/// Returns the alignment of an atomic type, of `NC_VLEN` or of `NC_OPAQUE`. Fails for others, and stores zero.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_class_alignment(class: c_int, place: Out<usize>) -> c_int {
    answer(|| {
        let alignment = match class {
            NC_VLEN => Ok(align_of::<NcVlen>()),
            NC_OPAQUE => Ok(1),
            _ => match type_of(class) {
                Ok(Type::Atomic(atomic)) => Ok(atomic.align()),
                _ => fail(Code::EINVAL, format!("{class} is no class that has an alignment")),
            },
        };
        place.put(*alignment.as_ref().unwrap_or(&0));
        alignment.map(drop)
    })
}

/// Returns the alignment of any type. For numbers below those of types it stores nothing, and does not fail, as in
/// netCDF-C.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_type_alignment(ty: c_int, ncid: c_int, place: Out<usize>) -> c_int {
    answer(|| {
        if ty <= 0 {
            return Ok(());
        }
        let (model, ty) = known_type(ncid, ty)?;
        place.put(model.align_of(ty));
        Ok(())
    })
}

/// Inquires about any type as `nc_inq_user_type` does about user-defined ones.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_inq_any_type(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    fields: Out<usize>,
    class: Out<c_int>,
) -> c_int {
    let known = type_of(ty);
    if let Ok(Type::User(_)) = known {
        return nc_inq_user_type(ncid, ty, name, size, base, fields, class);
    }
    answer(|| {
        let (known, model) = (known?, Model::new(Format::NETCDF4));
        name.put(model.type_name(known).as_bytes());
        size.put(model.size_of(known));
        base.put(0);
        fields.put(0);
        class.put(ty);
        Ok(())
    })
}

/// Compound type under construction.
struct CompoundBuilder {
    ncid: c_int,
    name: Vec<u8>,
    /// Name, type and dimensions of each field.
    fields: Vec<(Vec<u8>, c_int, Vec<usize>)>,
}

/// Compound types under construction, by their tags. A tag is a number and not an address, so the use of an ended tag
/// is harmless.
#[derive(Default)]
struct CompoundBuilders {
    last: usize,
    open: Option<HashMap<usize, CompoundBuilder>>,
}

static BUILDERS: ProcessMutex<CompoundBuilders> = ProcessMutex::new(CompoundBuilders { last: 0, open: None });

/// Begins a compound type. All have the layout of C: netCDF-C declares another alignment mode, but has never
/// implemented it.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_begin_compound(
    ncid: c_int,
    name: Str,
    _alignment_mode: c_int,
    tag: Out<*mut c_void>,
) -> c_int {
    answer(|| {
        let name = name.bytes()?.to_vec();
        if tag.is_null() {
            return Ok(());
        }
        let mut builders = BUILDERS.lock();
        builders.last += 1;
        let new = builders.last;
        builders.open.get_or_insert_default().insert(new, CompoundBuilder { ncid, name, fields: Vec::new() });
        tag.put(std::ptr::without_provenance_mut(new));
        Ok(())
    })
}

/// Adds a field; does nothing for a null tag.
///
/// # Safety
/// `shape` is null or has `rank` lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_add_field(
    tag: *mut c_void,
    name: Str,
    ty: c_int,
    rank: c_int,
    shape: *const c_int,
) -> c_int {
    answer(|| {
        if tag.is_null() {
            return Ok(());
        }
        let rank = usize::try_from(rank)
            .or_else(|_| fail(Code::EINVAL, format!("a field cannot have {rank} dimensions")))?;
        // SAFETY: `shape` is null or has `rank` lengths.
        let shape: Option<Vec<usize>> = unsafe { list(shape, rank) }
            .iter()
            .map(|len| usize::try_from(*len).ok().filter(|len| *len > 0))
            .collect();
        let Some(shape) = shape.filter(|shape| shape.len() == rank) else {
            return fail(Code::EINVAL, "the dimensions of a field are at least 1");
        };
        let name = name.bytes()?.to_vec();
        let mut builders = BUILDERS.lock();
        let Some(builder) = builders.open.get_or_insert_default().get_mut(&tag.addr()) else {
            return Err(no_tag());
        };
        builder.fields.push((name, ty, shape));
        Ok(())
    })
}

fn no_tag() -> Error {
    Error::new(Code::EINVAL, "no compound type is being put together under this tag".to_string())
}

/// Defines the type, and ends its tag.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_end_compound(tag: *mut c_void, number: Out<c_int>) -> c_int {
    answer(|| {
        let builder = BUILDERS.lock().open.get_or_insert_default().remove(&tag.addr()).ok_or_else(no_tag)?;
        let (file, group) = find_enhanced(builder.ncid)?;
        let class = lay_out(builder.ncid, &builder.fields)?;
        let ty = UserType { name: Name::new(&builder.name)?, group, class };
        let id = file.writable()?.define(|model| model.def_type(ty))?;
        number.put(number_of(Type::User(id)));
        Ok(())
    })
}

/// Assigns fields the offsets of a C structure.
fn lay_out(ncid: c_int, fields: &[(Vec<u8>, c_int, Vec<usize>)]) -> Result<Class> {
    let (mut end, mut strictest) = (0usize, 1);
    let mut placed = Vec::with_capacity(fields.len());
    for (name, ty, shape) in fields {
        let (model, ty) = known_type(ncid, *ty)?;
        let alignment = model.align_of(ty);
        let field = Field {
            name: Name::new(name)?,
            offset: end.next_multiple_of(alignment),
            ty,
            shape: shape.clone(),
            chars: 1,
        };
        let size = model.size_of(ty).checked_mul(elements_of(&field));
        let Some(after) = size.and_then(|size| field.offset.checked_add(size)) else {
            return fail(Code::EINVAL, "the type is larger than memory");
        };
        end = after;
        strictest = strictest.max(alignment);
        placed.push(field);
    }
    Ok(Class::Compound { size: end.next_multiple_of(strictest), fields: placed })
}

/// Ends a tag without defining its type.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_abort_compound(tag: *mut c_void) -> c_int {
    answer(|| {
        BUILDERS.lock().open.get_or_insert_default().remove(&tag.addr());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::c::{
        nc_abort, nc_create, ncaux_abort_compound, ncaux_add_field, ncaux_begin_compound, ncaux_end_compound,
    };

    #[test]
    fn fields_lie_where_c_puts_them() {
        #[repr(C)]
        struct Here {
            a: u8,
            b: f64,
            c: [[i16; 3]; 1],
            d: *const std::ffi::c_char,
            e: i8,
        }
        let field = |name: &str, ty: c_int, shape: &[usize]| (name.as_bytes().to_vec(), ty, shape.to_vec());
        let fields = [
            field("a", 7, &[]),
            field("b", 6, &[]),
            field("c", 3, &[1, 3]),
            field("d", 12, &[]),
            field("e", 1, &[]),
        ];
        let Ok(Class::Compound { size, fields }) = lay_out(-1, &fields) else { panic!("it has fields") };
        assert_eq!(size, size_of::<Here>());
        let offsets = [
            std::mem::offset_of!(Here, a),
            std::mem::offset_of!(Here, b),
            std::mem::offset_of!(Here, c),
            std::mem::offset_of!(Here, d),
            std::mem::offset_of!(Here, e),
        ];
        assert!(fields.iter().map(|field| field.offset).eq(offsets), "{fields:?}");
    }

    #[test]
    fn a_tag_ends_once() {
        let (mut id, mut tag) = (0, std::ptr::null_mut());
        let shape = [2, 3];
        let name = c"a".as_ptr();
        // SAFETY: the pointers are valid, and text ends in a zero byte.
        let codes = unsafe {
            nc_create(name, crate::abi::constants::NC_DISKLESS, &mut id);
            [
                ncaux_begin_compound(id, name, 0, &mut tag),
                ncaux_add_field(tag, name, 4, 2, shape.as_ptr()),
                ncaux_end_compound(tag, std::ptr::null_mut()),
                ncaux_add_field(tag, name, 4, 0, std::ptr::null()),
                ncaux_end_compound(tag, std::ptr::null_mut()),
                ncaux_abort_compound(tag),
                nc_abort(id),
            ]
        };
        let (not_here, ended) = (Code::ENOTNC4.0, Code::EINVAL.0);
        assert_eq!(codes, [0, 0, not_here, ended, ended, 0, 0]);
    }

    #[test]
    fn types_too_large_are_refused() {
        let field = (b"a".to_vec(), 6, vec![c_int::MAX as usize; 2]);
        assert!(lay_out(-1, &[field]).is_err_and(|error| error.code == Code::EINVAL));
    }
}
