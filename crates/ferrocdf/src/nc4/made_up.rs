//! Types for datatypes without a name: those that datasets and attributes have for themselves and that no committed
//! datatype equals, such as the booleans and complex numbers of h5py.
//!
//! The names are those of netCDF-C 4.10.1: `_AnonymousEnum1`, `_AnonymousCompound2` and so on, numbered in the order in which
//! the datasets of the file are met, types without a netCDF class counted too. That release gives names to the types of
//! datasets only. What it passes over, types of members and of attributes, is numbered behind all of these, so that no other
//! type has another name here.

use std::collections::HashSet;

use ferrocdf_hdf5::messages::datatype::{Class as Stored, Datatype};
use ferrocdf_model::{Atomic, Class, GroupId, Model, Name, Type, TypeId, UserType};

use super::types::{Native, Shape, Types, class, element};

/// The types of a file that were made up.
#[derive(Default)]
pub(super) struct MadeUpTypes {
    /// The types, in the order of their ids, with the number of each that a dataset has.
    list: Vec<(TypeId, Option<u32>)>,
    /// Datatypes of datasets that no type can be made up for. Each has used up a number.
    refused: HashSet<Refused>,
    /// The last number that was used.
    count: u32,
}

#[derive(PartialEq, Eq, Hash)]
enum Refused {
    Native(Native),
    /// The datatype message of what is nothing in memory.
    Stored(Vec<u8>),
}

impl MadeUpTypes {
    /// The types, in the order of their ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = TypeId> {
        self.list.iter().map(|&(id, _)| id)
    }

    fn next(&mut self) -> u32 {
        self.count = self.count.saturating_add(1);
        self.count
    }

    /// Gives a type that a dataset has the next number, unless it has one or a name.
    fn number(&mut self, id: TypeId) {
        if let Ok(at) = self.list.binary_search_by_key(&id, |&(id, _)| id)
            && self.list[at].1.is_none()
        {
            self.list[at].1 = Some(self.next());
        }
    }

    fn refuse(&mut self, datatype: &Datatype, native: Option<&Native>) {
        let key = match native {
            Some(native) => Refused::Native(native.clone()),
            None => Refused::Stored(datatype.encode().unwrap_or_default()),
        };
        if self.refused.insert(key) {
            self.next();
        }
    }
}

/// Whether the reference numbers a datatype that netCDF has no class for.
fn is_counted(datatype: &Datatype) -> bool {
    !matches!(
        datatype.class,
        Stored::Integer(_) | Stored::Float(_) | Stored::Time { .. } | Stored::Text(_) | Stored::Reference(_)
    )
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
