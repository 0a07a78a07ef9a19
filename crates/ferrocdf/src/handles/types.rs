//! Definition of user-defined types.

use ferrocdf_bytes::Result;
use ferrocdf_model::{Class, Field, GroupId, Model, Name, Type, UserType};

use super::{GroupMut, NetcdfType};
use crate::FileMut;

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
                let align = model.align_of(ty);
                let offset = end.next_multiple_of(align);
                let elements = shape.iter().fold(1usize, |count, &len| count.saturating_mul(len));
                end = offset.saturating_add(model.size_of(ty).saturating_mul(elements));
                widest = widest.max(align);
                placed.push(Field { name: model.name(name)?, offset, ty, shape: shape.to_vec(), chars: 1 });
            }
            Ok(Class::Compound { size: end.next_multiple_of(widest), fields: placed })
        })
    }

    /// Defines a type of lists of any length (vlen) of elements of one type.
    pub fn add_list_type(&self, name: &str, element: impl Into<Type>) -> Result<Type> {
        let element = element.into();
        self.define_type(name, |_| Ok(Class::Vlen(element)))
    }

    /// Defines a type of `size` bytes that mean nothing to netCDF.
    pub fn add_opaque_type(&self, name: &str, size: usize) -> Result<Type> {
        self.define_type(name, |_| Ok(Class::Opaque(size)))
    }

    /// Defines a type of integers of type `T` of which some have names.
    pub fn add_enum_type<T: NetcdfType + Into<i128>>(
        &self,
        name: &str,
        members: &[(&str, T)],
    ) -> Result<Type> {
        self.define_type(name, |model| {
            let members = members.iter().map(|&(name, value)| Ok((model.name(name)?, value.into())));
            Ok(Class::Enum { base: T::ATOMIC, members: members.collect::<Result<_>>()? })
        })
    }

    fn define_type(&self, name: &str, class: impl FnOnce(&Model) -> Result<Class>) -> Result<Type> {
        let group: GroupId = self.id();
        let id = self.writable_file().define(|model| {
            let in_type = |error: ferrocdf_bytes::Error| error.at(format_args!("type \"{name}\""));
            let class = class(model).map_err(in_type)?;
            model.def_type(UserType { name: Name::stored(name.as_bytes()), group, class })
        })?;
        Ok(Type::User(id))
    }
}

/// Definitions of types in the root group, as [`GroupMut`] has them for all groups.
impl FileMut {
    /// Defines a type of records; see [`GroupMut::add_compound_type`].
    pub fn add_compound_type(&self, name: &str, fields: &[(&str, Type)]) -> Result<Type> {
        self.root_mut().add_compound_type(name, fields)
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
