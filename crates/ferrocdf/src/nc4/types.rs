//! From HDF5 datatypes to netCDF types.
//!
//! Two datatypes are the same type for netCDF if the values of both look the same in the memory of a C program ([`Native`]). So a datatype
//! that is not committed becomes the user-defined type of the committed datatype that looks the same. Where there is none, a name and a type
//! are made up: the booleans and complex numbers of h5py are such datatypes, which only a dataset or an attribute has.

use std::collections::{HashMap, HashSet};

use ferrocdf_hdf5::messages::datatype::{Class as Stored, Datatype};
use ferrocdf_model::{Atomic, Class, GroupId, Model, Name, Type, TypeId, UserType};

use super::made_up::{MadeUpTypes, is_counted};
use super::native::{Native, Shape, class, element};

/// The user-defined types of a file that are known so far.
#[derive(Default)]
pub(super) struct Types {
    /// The first type of each native form.
    pub(super) known: HashMap<Native, TypeId>,
    /// The datatype of each type as stored; `TypeId`s are positions.
    pub(super) stored: Vec<Datatype>,
    /// Types of datatypes that are not committed.
    pub(super) made_up: MadeUpTypes,
}

impl Types {
    /// Returns the type of a native form: an atomic one by [`Native::atomic`], else a user-defined one that is known.
    pub(super) fn find(&self, native: &Native) -> Option<Type> {
        native.atomic().map(Type::from).or_else(|| self.known.get(native).map(|&id| Type::User(id)))
    }

    /// Adds a committed datatype to the model; returns `None` if netCDF cannot express one of its parts.
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
    /// Returns the type of a dataset in a group, makes it up if none is known; `None` if netCDF cannot express it. `native` is
    /// the native form of `datatype`.
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

    /// Makes up types for the parts of a datatype and then one for itself; `None`, and no type, if netCDF cannot express it.
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
        // CDL and copies of this file define a type after its parts, and a group after the types of its parents. So the
        // types of parts have to be in this group or in one before it.
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

    /// Names all made-up types. A name that exists in the group of the type already is skipped.
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

/// True if netCDF can express a datatype and all its parts: arrays only as fields of compounds, and no arrays of arrays.
fn is_expressible(native: &Native) -> bool {
    match &native.shape {
        Shape::Compound(fields) => fields.iter().all(|(_, _, field)| is_expressible(element(field).1)),
        Shape::Vlen(base) => is_expressible(base),
        Shape::Array(..) => false,
        Shape::Number(_) | Shape::Text | Shape::String | Shape::Enum(..) | Shape::Opaque(_) => true,
    }
}

/// Returns the datatypes of the parts of a datatype, in the order in which [`class`] asks for their types.
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
