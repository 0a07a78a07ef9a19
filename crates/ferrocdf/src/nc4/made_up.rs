//! The numbers in the names of made-up types: types of datatypes that are not committed.
//!
//! The names are those of netCDF-C 4.10.1: `_AnonymousEnum1`, `_AnonymousCompound2` and so on, numbered in the order in which
//! the walk meets the datasets of the file. Datatypes without a netCDF class use up numbers too. netCDF-C makes up types for
//! datasets only. Types of members and attributes, which it skips, get the numbers behind those, so that the types of
//! datasets have the same names here as there.

use std::collections::HashSet;

use ferrocdf_hdf5::messages::datatype::{Class as Stored, Datatype};
use ferrocdf_model::TypeId;

use super::native::Native;

/// The types of a file that were made up.
#[derive(Default)]
pub(super) struct MadeUpTypes {
    /// The types, in the order of their ids. A type that a dataset has is numbered at once, others at the end.
    pub(super) list: Vec<(TypeId, Option<u32>)>,
    /// Datatypes of datasets that netCDF cannot express. Each has used up a number.
    refused: HashSet<Refused>,
    /// The highest number in use.
    count: u32,
}

#[derive(PartialEq, Eq, Hash)]
enum Refused {
    Native(Native),
    /// The datatype message of a datatype without a native form.
    Stored(Vec<u8>),
}

impl MadeUpTypes {
    /// Returns the types, in the order of their ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = TypeId> {
        self.list.iter().map(|&(id, _)| id)
    }

    pub(super) fn next(&mut self) -> u32 {
        self.count = self.count.saturating_add(1);
        self.count
    }

    /// Gives a made-up type of a dataset the next number, unless it has one. Committed types have names instead.
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

/// True if netCDF-C uses up a number for a datatype that it has no class for.
pub(super) fn is_counted(datatype: &Datatype) -> bool {
    !matches!(
        datatype.class,
        Stored::Integer(_) | Stored::Float(_) | Stored::Time { .. } | Stored::Text(_) | Stored::Reference(_)
    )
}
