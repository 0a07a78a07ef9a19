//! From HDF5 datatypes to netCDF types.
//!
//! netCDF knows a datatype by what it is in the memory of a C program ([`Native`]). A datatype that is not committed is the
//! user-defined type of the file that is the same in memory. A type is made up for a datatype that no committed one equals: those
//! that datasets and attributes have for themselves, such as the booleans and complex numbers of h5py.

use std::collections::{HashMap, HashSet};

use ferrocdf_hdf5::messages::datatype::{Class as Stored, Datatype};
use ferrocdf_model::{Atomic, Class, GroupId, Model, Name, Type, TypeId, UserType};

use super::made_up::{MadeUpTypes, is_counted};
use super::native::{Native, Shape, class, element};

/// The user-defined types of a file that are known so far.
#[derive(Default)]
pub(super) struct Types {
    /// The first type that is the same in memory.
    pub(super) known: HashMap<Native, TypeId>,
    /// The datatype of each type as stored; `TypeId`s are positions.
    pub(super) stored: Vec<Datatype>,
    /// Types of datatypes without a name.
    pub(super) made_up: MadeUpTypes,
}

impl Types {
    /// The type of an attribute, of a field or of the elements of a list, as [`Native::atomic`] has them.
    pub(super) fn find(&self, native: &Native) -> Option<Type> {
        native.atomic().map(Type::from).or_else(|| self.known.get(native).map(|&id| Type::User(id)))
    }

    /// Adds a committed datatype to the model. `None` if it has parts that netCDF has no name for.
    pub(super) fn add(
        &mut self,
        model: &mut Model,
        group: GroupId,
        name: &[u8],
        datatype: Datatype,
    ) -> Option<TypeId> {
        let native = Native::of(&datatype)?;
        let class = class(&native, &mut |part| self.find(part))?;
        Some(self.push(model, UserType { name: Name::stored(name), group, class }, native, datatype))
    }

    pub(super) fn push(
        &mut self,
        model: &mut Model,
        ty: UserType,
        native: Native,
        datatype: Datatype,
    ) -> TypeId {
        let id = model.push_type(ty);
        self.known.entry(native).or_insert(id);
        self.stored.push(datatype);
        id
    }
}

impl Types {
    /// The type of a dataset in a group, made up if need be; `None` if netCDF has none. `native` is what `datatype` is in
    /// memory.
    pub(super) fn of_dataset(
        &mut self,
        model: &mut Model,
        group: GroupId,
        datatype: &Datatype,
        native: Option<&Native>,
    ) -> Option<Type> {
        let Some(native) = native else {
            if is_counted(datatype) {
                self.made_up.refuse(datatype, None);
            }
            return None;
        };
        if matches!(native.shape, Shape::Text) {
            return Some(if native.size == 1 { Atomic::Char } else { Atomic::String }.into());
        }
        let found = self.find(native).or_else(|| self.make_up(model, group, datatype, native));
        match found {
            Some(Type::User(id)) => self.made_up.number(id),
            Some(Type::Atomic(_)) => {}
            None => self.made_up.refuse(datatype, Some(native)),
        }
        found
    }

    /// Makes up types for the datatype of an attribute of a group or of a variable in it, unless it has one.
    pub(super) fn of_attribute(&mut self, model: &mut Model, group: GroupId, datatype: &Datatype) {
        if let Some(native) = Native::of(datatype)
            && self.find(&native).is_none()
        {
            self.make_up(model, group, datatype, &native);
        }
    }

    /// Makes up a type, and types for its parts before it; `None`, with nothing made, if netCDF has none.
    fn make_up(
        &mut self,
        model: &mut Model,
        group: GroupId,
        datatype: &Datatype,
        native: &Native,
    ) -> Option<Type> {
        if !is_expressible(native) {
            return None;
        }
        let mut stored = parts(datatype).into_iter();
        // In CDL and in files that are made from this one a type stands behind its parts, and groups behind the types of
        // those before them.
        let class = class(native, &mut |part| {
            let datatype = stored.next()?;
            let known = self.find(part).filter(|&ty| match ty {
                Type::User(id) => model.user_type(id).group <= group,
                Type::Atomic(_) => true,
            });
            known.or_else(|| self.make_up(model, group, datatype, part))
        })?;
        let ty = UserType { name: Name::stored(b""), group, class };
        let id = self.push(model, ty, native.clone(), datatype.clone());
        self.made_up.list.push((id, None));
        Some(Type::User(id))
    }

    /// Gives names to all types that were made up. A name that the group of a type has already is passed over.
    pub(super) fn name_made_up(&mut self, model: &mut Model) {
        let names = |ty: &UserType| (ty.group, ty.name.clone());
        let mut taken: HashSet<(GroupId, Name)> = model.types().iter().map(names).collect();
        for (id, number) in std::mem::take(&mut self.made_up.list) {
            let mut number = number.unwrap_or_else(|| self.made_up.next());
            let ty = model.user_type_mut(id);
            let kind = match &ty.class {
                Class::Compound { .. } => "Compound",
                Class::Vlen(_) => "Vlen",
                Class::Opaque(_) => "Opaque",
                Class::Enum { .. } => "Enum",
            };
            ty.name = loop {
                let name = Name::stored(format!("_Anonymous{kind}{number}").as_bytes());
                if taken.insert((ty.group, name.clone())) {
                    break name;
                }
                number = self.made_up.next();
            };
            self.made_up.list.push((id, Some(number)));
        }
    }
}

/// Whether netCDF has types for a datatype and all its parts: arrays are there as fields only, and not of arrays.
fn is_expressible(native: &Native) -> bool {
    match &native.shape {
        Shape::Compound(fields) => fields.iter().all(|(_, _, field)| is_expressible(element(field).1)),
        Shape::Vlen(base) => is_expressible(base),
        Shape::Array(..) => false,
        Shape::Number(_) | Shape::Text | Shape::String | Shape::Enum(..) | Shape::Opaque(_) => true,
    }
}

/// The datatypes of the parts of one, in the order in which [`class`] asks for their types.
fn parts(datatype: &Datatype) -> Vec<&Datatype> {
    match &datatype.class {
        Stored::Compound { members } => members
            .iter()
            .map(|member| match &member.datatype.class {
                Stored::Array { base, .. } => base,
                _ => &member.datatype,
            })
            .collect(),
        Stored::Variable { base, .. } => vec![base],
        _ => vec![],
    }
}
