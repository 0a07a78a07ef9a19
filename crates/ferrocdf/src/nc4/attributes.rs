//! Attributes, read when they are first looked at.

use ferrocdf_bytes::{Context, Result};
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
    fn attrs(&self, key: u64) -> Result<Named<Attr>> {
        let Some(place) = self.places.get(key as usize) else { return Ok(Named::default()) };
        let object = place.object()?;
        let mut attrs = Vec::new();
        for (name, attribute) in object.attributes()?.list {
            if names::is_reserved(&name) {
                continue;
            }
            let value = attribute
                .and_then(|attribute| self.value(&place.file, &attribute))
                .at(|| format!("attribute \"{}\"", name.escape_ascii()))?;
            if let Some(value) = value {
                attrs.push(Attr { name: Name::stored(&name), value });
            }
        }
        Ok(attrs.into())
    }
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
