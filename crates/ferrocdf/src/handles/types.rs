//! Definition of user-defined types.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Class, Field, GroupId, Model, Name, Type, UserType};

use super::paths::check_link;
use super::{GroupMut, NetcdfType};
use crate::FileMut;

/// Bytes of the largest field or opaque value.
const LARGEST: usize = 1 << 31;

/// All fail with `NC_ENOTNC4` or `NC_ESTRICTNC3` for formats without user-defined types, with `NC_ENAMEINUSE` and `NC_EBADNAME`.
impl GroupMut<'_> {
    /// Defines a type of records with fields, laid out as C does it.
    pub fn add_compound_type(&self, name: &str, fields: &[(&str, Type)]) -> Result<Type> {
        let fields: Vec<(&str, Type, &[usize])> =
            fields.iter().map(|&(name, ty)| (name, ty, &[][..])).collect();
        self.add_compound_type_with_arrays(name, &fields)
    }

    /// Defines a type of records with fields that may be arrays: name, type of an element, and shape, which is empty for one value.
    pub fn add_compound_type_with_arrays(
        &self,
        name: &str,
        fields: &[(&str, Type, &[usize])],
    ) -> Result<Type> {
        self.define_type(name, |model| {
            let (mut end, mut widest) = (0usize, 1);
            let mut placed = Vec::with_capacity(fields.len());
            for &(name, ty, shape) in fields {
                check_known(model, ty)?;
                let align = model.align_of(ty);
                let offset = end.next_multiple_of(align);
                let size = shape.iter().try_fold(model.size_of(ty), |size, &len| size.checked_mul(len));
                let size = size.filter(|&size| (1..=LARGEST).contains(&size) && offset <= LARGEST);
                let what = || format!("field \"{name}\" of shape {shape:?}: a field has 1 byte to 2^31");
                let size = size.ok_or_else(|| Error::new(Code::EINVAL, what()))?;
                end = offset + size;
                widest = widest.max(align);
                placed.push(Field { name: model.name(name)?, offset, ty, shape: shape.to_vec(), chars: 1 });
            }
            check_members(placed.iter().map(|field: &Field| &field.name))?;
            Ok(Class::Compound { size: end.next_multiple_of(widest), fields: placed })
        })
    }

    /// Defines a type of lists of any length (vlen) of elements of one type.
    pub fn add_list_type(&self, name: &str, element: impl Into<Type>) -> Result<Type> {
        let element = element.into();
        self.define_type(name, |model| check_known(model, element).map(|()| Class::Vlen(element)))
    }

    /// Defines a type of `size` bytes that mean nothing to netCDF.
    pub fn add_opaque_type(&self, name: &str, size: usize) -> Result<Type> {
        self.define_type(name, |_| match size {
            1..=LARGEST => Ok(Class::Opaque(size)),
            _ => Err(Error::new(Code::EINVAL, format!("{size} bytes: an opaque type has 1 byte to 2^31"))),
        })
    }

    /// Defines a type of integers of type `T` of which some have names.
    pub fn add_enum_type<T: NetcdfType + Into<i128>>(
        &self,
        name: &str,
        members: &[(&str, T)],
    ) -> Result<Type> {
        let members: Vec<(&str, i128)> = members.iter().map(|&(name, value)| (name, value.into())).collect();
        self.add_enum_type_of(T::ATOMIC, name, &members)
    }

    /// Defines a type of integers of which some have names, of a type that is known when the program runs.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a type without integers; `NC_ERANGE` for a value that it does not hold.
    pub fn add_enum_type_of(&self, base: Atomic, name: &str, members: &[(&str, i128)]) -> Result<Type> {
        self.define_type(name, |model| {
            let range = integers(base)
                .ok_or_else(|| Error::new(Code::EBADTYPE, format!("{} has no integers", base.cdl_name())))?;
            let members = members.iter().map(|&(name, value)| Ok((model.name(name)?, value)));
            let members: Vec<(Name, i128)> = members.collect::<Result<_>>()?;
            if let Some((name, value)) = members.iter().find(|(_, value)| !range.contains(value)) {
                let what = format!("member \"{name}\": {value} is no {}", base.cdl_name());
                return Err(Error::new(Code::ERANGE, what));
            }
            check_members(members.iter().map(|(name, _)| name))?;
            let mut values = HashSet::new();
            match members.iter().find(|(_, value)| !values.insert(*value)) {
                Some((name, value)) => Err(Error::new(
                    Code::EINVAL,
                    format!("member \"{name}\": another one has the value {value}"),
                )),
                None => Ok(Class::Enum { base, members }),
            }
        })
    }

    fn define_type(&self, name: &str, class: impl FnOnce(&Model) -> Result<Class>) -> Result<Type> {
        let group: GroupId = self.id();
        let id = self.writable_file().define(|model| {
            let in_type = |error: Error| error.at(format_args!("type \"{name}\""));
            check_link(model, group, name, false)?;
            let class = class(model).map_err(in_type)?;
            model.def_type(UserType { name: Name::stored(name.as_bytes()), group, class })
        })?;
        Ok(Type::User(id))
    }
}

/// Returns the integers that a type holds; `None` for floats and text.
fn integers(atomic: Atomic) -> Option<RangeInclusive<i128>> {
    Some(match atomic {
        Atomic::Byte => i8::MIN.into()..=i8::MAX.into(),
        Atomic::Short => i16::MIN.into()..=i16::MAX.into(),
        Atomic::Int => i32::MIN.into()..=i32::MAX.into(),
        Atomic::Int64 => i64::MIN.into()..=i64::MAX.into(),
        Atomic::Ubyte => 0..=u8::MAX.into(),
        Atomic::Ushort => 0..=u16::MAX.into(),
        Atomic::Uint => 0..=u32::MAX.into(),
        Atomic::Uint64 => 0..=u64::MAX.into(),
        Atomic::Char | Atomic::Float | Atomic::Double | Atomic::String => return None,
    })
}

/// Checks that fields or members have names that differ, and that there are some: other programs open no file with a type without.
fn check_members<'n>(names: impl Iterator<Item = &'n Name>) -> Result<()> {
    let mut known = HashSet::new();
    for name in names {
        if !known.insert(name.as_bytes()) {
            return Err(Error::new(Code::ENAMEINUSE, format!("\"{name}\" is there twice")));
        }
    }
    if known.is_empty() { Err(Error::new(Code::EINVAL, "it has no members")) } else { Ok(()) }
}

/// Checks that a user-defined type is one of the file.
fn check_known(model: &Model, ty: Type) -> Result<()> {
    match ty {
        Type::User(id) if id.index() >= model.types().len() => {
            Err(Error::new(Code::EBADTYPE, format!("no type of this file has the id {}", id.0)))
        }
        _ => Ok(()),
    }
}

/// Definitions of types in the root group, as [`GroupMut`] has them for all groups.
impl FileMut {
    /// Defines a type of records; see [`GroupMut::add_compound_type`].
    pub fn add_compound_type(&self, name: &str, fields: &[(&str, Type)]) -> Result<Type> {
        self.root_mut().add_compound_type(name, fields)
    }

    /// Defines a type of records with array fields; see [`GroupMut::add_compound_type_with_arrays`].
    pub fn add_compound_type_with_arrays(
        &self,
        name: &str,
        fields: &[(&str, Type, &[usize])],
    ) -> Result<Type> {
        self.root_mut().add_compound_type_with_arrays(name, fields)
    }

    /// Defines a type of lists; see [`GroupMut::add_list_type`].
    pub fn add_list_type(&self, name: &str, element: impl Into<Type>) -> Result<Type> {
        self.root_mut().add_list_type(name, element)
    }

    /// Defines a type of bytes; see [`GroupMut::add_opaque_type`].
    pub fn add_opaque_type(&self, name: &str, size: usize) -> Result<Type> {
        self.root_mut().add_opaque_type(name, size)
    }

    /// Defines a type of integers with names; see [`GroupMut::add_enum_type`].
    pub fn add_enum_type<T: NetcdfType + Into<i128>>(
        &self,
        name: &str,
        members: &[(&str, T)],
    ) -> Result<Type> {
        self.root_mut().add_enum_type(name, members)
    }
}
