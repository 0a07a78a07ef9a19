//! Objects and variables as they are found in a file, before the dimensions of the variables are known.

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::{Address, File, Object};
use ferrocdf_model::{Attr, GroupId, Name, Named, Storage, Type};

use super::{decode, names};

/// An object of a file, which another file may hold.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: File,
    pub(super) at: Address,
}

impl Place {
    pub(super) fn of(object: &Object) -> Place {
        Place { file: object.file().clone(), at: object.address() }
    }

    pub(super) fn object(&self) -> Result<Object> {
        self.file.object(self.at)
    }
}

/// A variable that was found.
pub(super) struct FoundVariable {
    pub(super) group: GroupId,
    pub(super) name: Name,
    /// Whether the link has the prefix of variables that are no coordinates before the name.
    pub(super) prefixed: bool,
    pub(super) ty: Type,
    pub(super) storage: Storage,
    /// The lengths of the dataset's dimensions, and which may grow.
    pub(super) extent: Vec<(u64, bool)>,
    pub(super) dims: Slots,
    /// Whether the file does not name some of its dimensions, which then are those of their lengths.
    pub(super) by_length: bool,
    /// The attributes, if they were asked for and could be read with the object.
    pub(super) attributes: Option<Named<Attr>>,
    pub(super) place: Place,
}

/// What a dataset says of its dimensions.
#[derive(Debug)]
pub(super) enum Slots {
    /// Their ids; the variable of a dimension may know but its own, the first.
    Ids(Vec<i64>),
    /// For each, where its scale is.
    Scales(Vec<Option<Address>>),
    /// Nothing.
    None,
}

impl Slots {
    /// What a dataset of that many dimensions says, which is a scale or not.
    pub(super) fn read(object: &Object, is_scale: bool, rank: usize) -> Result<Slots> {
        if let Some(ids) = object.attribute(names::COORDINATES)? {
            let ids = decode::integers(&ids);
            if ids.len() == rank {
                return Ok(Slots::Ids(ids));
            }
        }
        if is_scale {
            return Ok(Slots::None);
        }
        let Some(list) = object.attribute(names::DIMENSION_LIST)? else { return Ok(Slots::None) };
        let scales = decode::references(object.file(), &list)?;
        // As the reference, which looks at the first one.
        match scales.first() {
            Some(Some(_)) => Ok(Slots::Scales(scales)),
            _ => Ok(Slots::None),
        }
    }

    /// The same of the scale of a dimension, which is its own.
    pub(super) fn or_own(self, own: Option<i64>) -> Slots {
        match (self, own) {
            (Slots::None, Some(own)) => Slots::Ids(vec![own]),
            (slots, _) => slots,
        }
    }
}
