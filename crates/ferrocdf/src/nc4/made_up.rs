//! The numbers in the names of types that are made up.
//!
//! The names are those of netCDF-C 4.10.1: `_AnonymousEnum1`, `_AnonymousCompound2` and so on, numbered in the order in which
//! the datasets of the file are met, types without a netCDF class counted too. That release gives names to the types of
//! datasets only. What it passes over, types of members and of attributes, is numbered behind all of these, so that no other
//! type has another name here.

use std::collections::HashSet;

use ferrocdf_hdf5::messages::datatype::{Class as Stored, Datatype};
use ferrocdf_model::TypeId;

use super::native::Native;

/// The types of a file that were made up.
#[derive(Default)]
pub(super) struct MadeUpTypes {
    /// The types, in the order of their ids, with the number of each that a dataset has.
    pub(super) list: Vec<(TypeId, Option<u32>)>,
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

    pub(super) fn next(&mut self) -> u32 {
        self.count = self.count.saturating_add(1);
        self.count
    }

    /// Gives a type that a dataset has the next number, unless it has one or a name.
    pub(super) fn number(&mut self, id: TypeId) {
        if let Ok(at) = self.list.binary_search_by_key(&id, |&(id, _)| id)
            && self.list[at].1.is_none()
        {
            self.list[at].1 = Some(self.next());
        }
    }

    pub(super) fn refuse(&mut self, datatype: &Datatype, native: Option<&Native>) {
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
pub(super) fn is_counted(datatype: &Datatype) -> bool {
    !matches!(
        datatype.class,
        Stored::Integer(_) | Stored::Float(_) | Stored::Time { .. } | Stored::Text(_) | Stored::Reference(_)
    )
}
