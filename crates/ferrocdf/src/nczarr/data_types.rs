//! From types of netCDF to data types of Zarr.
//!
//! User-defined types become the nearest data type of Zarr: enumerations their integers, since an element that was never written need not be one
//! of the members; compounds
//! structures without gaps, or complex numbers; opaque types bytes without a meaning, or in version 3 structures of bytes, since zarr-python knows
//! no `r<N>` and opens no store with what it does not know; vlens bytes. NetCDF's metadata says what they were.

use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_model::{Atomic, Class, Field, Model, Type};
use ferrocdf_zarr::{DataType, Element, Field as ZarrField, Version};

use super::types;

/// Bytes that netCDF-C gives to a string in Zarr version 2.
pub(super) const TEXT: usize = 128;

/// What kind of store a type is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) version: Version,
    /// True if the store has netCDF's metadata.
    pub(super) is_netcdf: bool,
}

impl Target {
    /// True for stores that are made so that netCDF-C reads them too: it knows netCDF's metadata in version 2.
    pub(super) fn is_for_netcdf_c(self) -> bool {
        self.version == Version::V2 && self.is_netcdf
    }

    /// Returns the data type of the elements of a variable. `wished` is the one of a store that the variable is read from or copied of: it,
    /// or each of its fields, is taken where it becomes the type.
    ///
    /// # Errors
    /// `NC_ENOTBUILT` for compounds with text or lists of any length in them, and for vlens of such elements; without netCDF's metadata also
    /// for vlens that no data type of the version holds.
    pub(super) fn element(
        self,
        model: &Model,
        ty: Type,
        order: Order,
        wished: Option<&Element>,
    ) -> Result<Element> {
        // NetCDF's metadata has bytes of the length 1 for characters.
        let is_letter = |element: &Element| self.is_netcdf && element.data_type == DataType::FixedBytes(1);
        if let Some(kept) = wished.filter(|wished| becomes(model, wished, ty) && !is_letter(wished)) {
            return Ok(kept.clone());
        }
        let data_type = match ty {
            Type::Atomic(Atomic::Char) => self.text_of_one_byte(),
            // NetCDF-C knows no text of any length.
            Type::Atomic(Atomic::String) if self.is_for_netcdf_c() => DataType::FixedBytes(TEXT),
            Type::Atomic(Atomic::String) => DataType::String,
            Type::Atomic(atomic) => number(atomic),
            Type::User(id) => {
                self.check_values(model, ty, wished)?;
                match &model.user_type(id).class {
                    Class::Vlen(of) => self.list(model, ty, *of)?,
                    _ => self.fixed(model, ty, wished)?.data_type,
                }
            }
        };
        let mut element = Element { data_type, order };
        if self.version == Version::V3 && matches!(element.data_type, DataType::Struct(_)) {
            // All numbers of an array have the same.
            element.set_order(Order::Little);
        }
        Ok(element)
    }

    /// Checks that an element of a type has not too many values side by side, each of which would be a field of a structure.
    fn check_values(self, model: &Model, ty: Type, wished: Option<&Element>) -> Result<()> {
        let mut visits = MAX_VALUES;
        let values = self.values(model, ty, wished, MAX_TYPE_DEPTH, &mut visits);
        match values.filter(|&values| values <= MAX_VALUES) {
            Some(_) => Ok(()),
            None => Err(not_written(&format!(
                "{}, whose elements have more than {MAX_VALUES} values, or types within each other more than {MAX_TYPE_DEPTH} times",
                model.type_name(ty)
            ))),
        }
    }

    /// Returns the number of values in an element; `None` if types are nested deeper than `depth`, or there are more than `visits` fields.
    fn values(
        self,
        model: &Model,
        ty: Type,
        wished: Option<&Element>,
        depth: usize,
        visits: &mut usize,
    ) -> Option<usize> {
        *visits = visits.checked_sub(1)?;
        let Type::User(id) = ty else { return Some(1) };
        match &model.user_type(id).class {
            Class::Enum { .. } => Some(1),
            Class::Opaque(size) => {
                let is_one = self.version == Version::V2 || wished.is_some_and(|own| becomes(model, own, ty));
                Some(if is_one { 1 } else { *size })
            }
            Class::Vlen(of) => self.values(model, *of, None, depth.checked_sub(1)?, visits),
            Class::Compound { fields, .. } => {
                let depth = depth.checked_sub(1)?;
                let wished = wished_fields(wished, fields.len());
                fields.iter().enumerate().try_fold(0usize, |all, (at, field)| {
                    let wished = wished.and_then(|fields| fields.get(at));
                    let element = wished.map(|wished| element_of(field, wished));
                    let of = self.values(model, field.ty, element, depth, visits)?;
                    let count = values_of(field);
                    let is_text = field.ty == Type::Atomic(Atomic::Char);
                    let values = match (wished.and_then(|wished| texts(wished, count)), self.version) {
                        (Some(texts), _) if is_text => texts,
                        (None, Version::V2) if is_text => 1,
                        _ => of.saturating_mul(count),
                    };
                    Some(all.saturating_add(values))
                })
            }
        }
    }

    fn text_of_one_byte(self) -> DataType {
        match self.version {
            // Xarray makes text of bytes of version 2; version 3 has no text of one byte.
            Version::V2 => DataType::FixedBytes(1),
            Version::V3 => number(Atomic::Ubyte),
        }
    }

    /// Returns the data type of values of a fixed size.
    fn fixed(self, model: &Model, ty: Type, wished: Option<&Element>) -> Result<Element> {
        if let Some(kept) = wished.filter(|wished| becomes(model, wished, ty)) {
            return Ok(kept.clone());
        }
        let data_type = match ty {
            Type::Atomic(Atomic::Char) => self.text_of_one_byte(),
            Type::Atomic(Atomic::String) => {
                return Err(not_written(
                    "text of any length in a compound, or in a vlen; make it char of a fixed length, or leave the variable out",
                ));
            }
            Type::Atomic(atomic) => number(atomic),
            Type::User(id) => match &model.user_type(id).class {
                Class::Enum { base, .. } => number(*base),
                Class::Opaque(size) if self.version == Version::V2 => DataType::Raw(*size),
                Class::Opaque(size) => side_by_side(&number_element(Atomic::Ubyte), *size),
                Class::Compound { fields, .. } => {
                    let wished = wished_fields(wished, fields.len());
                    match complex(fields).filter(|_| wished.is_none()) {
                        Some(size) => DataType::Complex(size),
                        None => {
                            let field = |(at, field): (usize, &Field)| {
                                let wished = wished.and_then(|fields| fields.get(at));
                                let in_member = |error: Error| error.at(format!("member {}", field.name));
                                self.field(model, field, wished).map_err(in_member)
                            };
                            DataType::Struct(fields.iter().enumerate().map(field).collect::<Result<_>>()?)
                        }
                    }
                }
                Class::Vlen(_) => {
                    return Err(not_written(
                        "a vlen in a compound, or in another vlen; make it an array of a fixed length, or leave the variable out",
                    ));
                }
            },
        };
        Ok(Element { data_type, order: Order::Little })
    }

    /// Returns a field. One with dimensions is a structure of as many fields: zarr-python opens no store with other structures.
    fn field(self, model: &Model, field: &Field, wished: Option<&ZarrField>) -> Result<ZarrField> {
        let name = field.name.to_str().into_owned();
        let count = values_of(field);
        let little = |data_type| Element { data_type, order: Order::Little };
        let texts = wished.and_then(|wished| texts(wished, count));
        let element = match (field.ty, self.version, texts) {
            (Type::Atomic(Atomic::Char), _, Some(texts)) => {
                let text = DataType::FixedBytes(count / texts);
                little(if texts == 1 { text } else { side_by_side(&little(text), texts) })
            }
            (Type::Atomic(Atomic::Char), Version::V2, None) if !field.shape.is_empty() || count > 1 => {
                little(DataType::FixedBytes(count))
            }
            _ => {
                let one = self.fixed(model, field.ty, wished.map(|wished| element_of(field, wished)))?;
                if count == 1 && field.shape.is_empty() { one } else { little(side_by_side(&one, count)) }
            }
        };
        Ok(ZarrField { name, element, shape: vec![] })
    }

    /// Returns the data type of lists of any length: bytes, since zarr-python opens no store with lists of numbers. Only where netCDF's
    /// metadata does not say what the bytes are, they are lists of numbers.
    fn list(self, model: &Model, ty: Type, of: Type) -> Result<DataType> {
        let element = self.fixed(model, of, None)?;
        let is_number = super::is_number(&element.data_type);
        let is_byte = matches!(of, Type::Atomic(Atomic::Ubyte | Atomic::Char));
        match self.version {
            _ if self.is_netcdf || is_byte => Ok(DataType::Bytes),
            Version::V2 if is_number => Ok(DataType::List(Box::new(element))),
            _ => Err(not_written(&format!(
                "the vlen {} in a store without netCDF's metadata (mode zarr)",
                model.type_name(ty)
            ))),
        }
    }
}

/// Returns the data type of the elements of a vlen whose lists are stored as bytes.
///
/// # Errors
/// Those of [`Target::element`].
pub(super) fn fixed(model: &Model, ty: Type) -> Result<Element> {
    // Bytes are the same in both versions.
    Target { version: Version::V2, is_netcdf: true }.fixed(model, ty, None)
}

/// True if elements of a data type become those of a type, and no other data type has to stand for them. Of a compound its fields decide.
fn becomes(model: &Model, element: &Element, ty: Type) -> bool {
    match (ty, &element.data_type) {
        (Type::User(id), DataType::Bool) => match &model.user_type(id).class {
            Class::Enum { base: Atomic::Ubyte, members } => {
                members.iter().all(|&(_, number)| (0..=1).contains(&number))
            }
            _ => false,
        },
        (Type::User(id), DataType::Complex(size)) => match &model.user_type(id).class {
            Class::Compound { fields, .. } => complex(fields) == Some(*size),
            _ => false,
        },
        (Type::User(id), DataType::Raw(size)) => model.user_type(id).class == Class::Opaque(*size),
        (Type::User(_), _) => false,
        (Type::Atomic(atomic), data_type) => {
            data_type.size().is_some() && types::atomic(data_type) == Some(atomic)
        }
    }
}

/// Returns the fields of a structure, if there are so many.
fn wished_fields(wished: Option<&Element>, count: usize) -> Option<&[ZarrField]> {
    match &wished?.data_type {
        DataType::Struct(fields) if fields.len() == count => Some(fields),
        _ => None,
    }
}

/// Returns the number of values of a field with dimensions; of text, the number of characters.
fn values_of(field: &Field) -> usize {
    field.shape.iter().fold(field.chars, |count, &len| count.saturating_mul(len))
}

/// Returns the number of texts of a fixed length in a stored field that has so many characters; `None` if it has none.
fn texts(stored: &ZarrField, count: usize) -> Option<usize> {
    let data_type = match &stored.element.data_type {
        DataType::Struct(parts) => &parts.first()?.element.data_type,
        data_type => data_type,
    };
    match *data_type {
        DataType::FixedBytes(len) if len > 0 && count > 0 && count.is_multiple_of(len) => Some(count / len),
        _ => None,
    }
}

/// Returns the element of which a stored field has one for each value of a field of a compound.
pub(super) fn element_of<'s>(field: &Field, stored: &'s ZarrField) -> &'s Element {
    let count: usize = field.shape.iter().product();
    match &stored.element.data_type {
        DataType::Struct(parts)
            if !field.shape.is_empty() && stored.shape.is_empty() && parts.len() == count =>
        {
            &parts[0].element
        }
        _ => &stored.element,
    }
}

/// Most values in an element of a compound or an opaque type: metadata names each of them, and so do others who read it.
const MAX_VALUES: usize = 4096;

/// How often types may lie within each other.
pub(super) const MAX_TYPE_DEPTH: usize = 64;

/// Returns a structure of elements of one type, whose fields are named by numbers from 0.
fn side_by_side(element: &Element, count: usize) -> DataType {
    let field =
        |number: usize| ZarrField { name: number.to_string(), element: element.clone(), shape: vec![] };
    DataType::Struct((0..count).map(field).collect())
}

fn number_element(atomic: Atomic) -> Element {
    Element { data_type: number(atomic), order: Order::Little }
}

fn not_written(what: &str) -> Error {
    Error::new(Code::ENOTBUILT, format!("Zarr has no data type for {what}"))
}

/// Returns the data type with the numbers of an atomic type.
fn number(atomic: Atomic) -> DataType {
    let integer = |size, signed| DataType::Integer { size, signed };
    match atomic {
        Atomic::Byte => integer(1, true),
        Atomic::Short => integer(2, true),
        Atomic::Int => integer(4, true),
        Atomic::Int64 => integer(8, true),
        Atomic::Ubyte | Atomic::Char | Atomic::String => integer(1, false),
        Atomic::Ushort => integer(2, false),
        Atomic::Uint => integer(4, false),
        Atomic::Uint64 => integer(8, false),
        Atomic::Float => DataType::Float(4),
        Atomic::Double => DataType::Float(8),
    }
}

/// True if an integer of a size in bytes holds a number.
pub(super) fn holds(size: usize, is_signed: bool, number: i128) -> bool {
    let bits = 8 * size as u32;
    let (least, end) = match is_signed {
        true => (-(1i128 << (bits - 1)), 1i128 << (bits - 1)),
        false => (0, 1i128 << bits),
    };
    (least..end).contains(&number)
}

/// True if the numbers of an enumeration hold a number.
pub(super) fn enum_holds(base: Atomic, number: i128) -> bool {
    let is_signed = matches!(base, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64);
    holds(base.size(), is_signed, number)
}

/// Returns the size of the parts of a compound that h5py and netCDF4-python make of complex numbers.
fn complex(fields: &[Field]) -> Option<u8> {
    let [real, imaginary] = fields else { return None };
    let is_part = |field: &Field, name: &[u8]| {
        field.name.as_bytes() == name && field.shape.is_empty() && field.ty == real.ty
    };
    let size = match real.ty {
        Type::Atomic(Atomic::Float) => 4,
        Type::Atomic(Atomic::Double) => 8,
        _ => return None,
    };
    (is_part(real, b"r") && is_part(imaginary, b"i")).then_some(size)
}
