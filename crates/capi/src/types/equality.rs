//! Equality of types of the same file or of two files.

use std::ffi::c_int;

use ferrocdf::model::{Class, TypeId, UserType};
use ferrocdf::{Atomic, Code, Model, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
use crate::model::type_numbers::{number_of, type_of, user_type};
use crate::open::ids::find_file;

/// Returns whether two types are equal. In classic files only the first six types are, each to itself.
pub extern "C" fn nc_inq_type_equal(
    ncid: c_int,
    ty: c_int,
    other_id: c_int,
    other: c_int,
    equal: Out<c_int>,
) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        if equal.is_null() {
            return Ok(());
        }
        if ty <= 0 || other <= 0 {
            return fail(Code::EINVAL, format!("{ty} and {other} are no types"));
        }
        let model = file.model();
        let answer = if model.format().has_cdf_model() {
            ty == other && ty <= number_of(Atomic::Double.into())
        } else if (ty > LAST_ATOMIC) != (other > LAST_ATOMIC) || ty <= LAST_ATOMIC + 1 {
            // The number after the last atomic type counts as atomic too, as in netCDF-C.
            ty == other
        } else {
            user_type(&model, ty)?;
            let other_file = find_file(other_id)?;
            let others = other_file.model();
            user_type(&others, other)?;
            let (one, two) = (type_of(ty)?, type_of(other)?);
            // Locked one after another: both may be the same file.
            let stored = [(&file, one), (&other_file, two)].map(|(file, ty)| file.state().is_stored(ty));
            if stored.contains(&false) {
                return fail(Code::EHDFERR, "a type that is not in the file yet is not compared");
            }
            is_equal((&model, one), (&others, two), false)?
        };
        equal.put(c_int::from(answer));
        Ok(())
    })
}

/// Returns the type in `to` that equals a type in `from`, which may be the same file. Fails with `NC_EBADTYPE`.
pub(crate) fn equal_type(from: &Model, ty: Type, to: &Model) -> Result<Type> {
    let Type::User(_) = ty else { return Ok(ty) };
    for at in 0..to.types().len() {
        let other = Type::User(TypeId(at as u32));
        if is_equal((from, ty), (to, other), true)? {
            return Ok(other);
        }
    }
    fail(Code::EBADTYPE, format!("the file has no type like \"{}\"", from.type_name(ty)))
}

/// True if two types have the same structure, and the same names if `named`.
fn is_equal((model, ty): (&Model, Type), (other_model, other): (&Model, Type), named: bool) -> Result<bool> {
    let (Type::User(_), Type::User(_)) = (ty, other) else { return Ok(ty == other) };
    let one: &UserType = model.user_type(user_type(model, number_of(ty))?);
    let two: &UserType = other_model.user_type(user_type(other_model, number_of(other))?);
    if named && one.name != two.name {
        return Ok(false);
    }
    match (&one.class, &two.class) {
        (Class::Vlen(base), Class::Vlen(other)) => is_equal((model, *base), (other_model, *other), named),
        (Class::Compound { size, fields }, Class::Compound { size: other_size, fields: others }) => {
            if size != other_size || fields.len() != others.len() {
                return Ok(false);
            }
            for (field, other) in fields.iter().zip(others) {
                let alike =
                    (&field.name, field.offset, &field.shape) == (&other.name, other.offset, &other.shape);
                if !alike || !is_equal((model, field.ty), (other_model, other.ty), named)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Class::Enum { base, members }, Class::Enum { base: other, members: others }) if !named => {
            let same = members.len() == others.len() && members.iter().all(|member| others.contains(member));
            Ok(base == other && same)
        }
        (class, other) => Ok(class == other),
    }
}

/// Number of the last atomic type.
const LAST_ATOMIC: c_int = Atomic::String as c_int;
