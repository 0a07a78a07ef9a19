//! Attributes, read when they are first looked at.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::dataspace::SpaceKind;
use ferrocdf_hdf5::messages::datatype::Class as Stored;
use ferrocdf_hdf5::{Attribute, File};
use ferrocdf_model::{Atomic, Attr, Class, LateAttrs, Name, Named, Type, Values};

use super::types::{Native, Types};
use super::walk::Place;
use super::{decode, names};

/// What attributes are read from.
pub(super) struct Owners {
    /// The object of each owner.
    pub(super) places: Vec<Place>,
    pub(super) types: Types,
    /// The user-defined types of the file.
    pub(super) classes: Vec<Class>,
}

impl LateAttrs for Owners {
    fn attrs(&self, key: u64) -> (Named<Attr>, Option<Error>) {
        let Some(place) = self.places.get(key as usize) else { return (Named::default(), None) };
        let list = match place.object().and_then(|object| object.attributes()) {
            Ok(attributes) => attributes.list,
            Err(error) => return (Named::default(), Some(no_attribute(error))),
        };
        let (mut attrs, mut failure) = (Vec::new(), None);
        for (name, attribute) in list {
            if names::is_reserved(&name) {
                continue;
            }
            match attribute.and_then(|attribute| self.value(&place.file, &attribute)) {
                Ok(Some(value)) => attrs.push(Attr { name: Name::stored(&name), value }),
                Ok(None) => {}
                Err(error) => {
                    let error = error.at(format_args!("attribute \"{}\"", name.escape_ascii()));
                    failure.get_or_insert(no_attribute(error));
                }
            }
        }
        (attrs.into(), failure)
    }
}

/// An error that says that attributes cannot be read.
fn no_attribute(error: Error) -> Error {
    Error { code: Code::EATTMETA, ..error }
}

impl Owners {
    /// The value of an attribute; `None` if netCDF has no type for it. Attributes of several dimensions are one list.
    fn value(&self, file: &File, attribute: &Attribute) -> Result<Option<Values>> {
        let Attribute { datatype, dataspace, data, .. } = attribute;
        let Some(native) = Native::of(datatype) else { return Ok(None) };
        let Some(ty) = self.types.find(&native) else { return Ok(None) };
        if let (Stored::Text(_), false) = (&datatype.class, dataspace.kind == SpaceKind::Scalar) {
            // Fixed-length text is one text only where there is one.
            let ty = if dataspace.kind == SpaceKind::Null { Atomic::Char } else { Atomic::String };
            return decode::values(file, &self.classes, ty.into(), datatype, data).map(Some);
        }
        if let (Type::Atomic(_), SpaceKind::Null) = (ty, dataspace.kind) {
            return decode::values(file, &self.classes, ty, datatype, &[]).map(Some);
        }
        decode::values(file, &self.classes, ty, datatype, data).map(Some)
    }
}
