//! Attributes of groups and variables, by name.
//!
//! An attribute that cannot be read is an error, never a missing attribute: readers take a missing `scale_factor` for one of 1.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Container, Model, Name, Owner, Values};

use super::paths::missing;
use crate::{File, is_reserved_attribute};

/// A type that attributes are read as: [`Values`], numbers, `String`, lists of these, and every type with a `TryFrom<Values>`.
pub trait FromValues: Sized {
    /// Converts the values of an attribute.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for values of another type, `NC_ERANGE` for a number out of range, `NC_EINVAL` for another number of values.
    fn from_values(values: Values) -> Result<Self>;
}

impl<T: TryFrom<Values, Error: std::error::Error + 'static>> FromValues for T {
    fn from_values(values: Values) -> Result<T> {
        T::try_from(values).map_err(|error| {
            let error: Box<dyn std::error::Error> = Box::new(error);
            match error.downcast() {
                Ok(own) => *own,
                Err(other) => Error::new(Code::EBADTYPE, other.to_string()),
            }
        })
    }
}

/// Returns the value of an attribute as a type; `None` if there is none of this name.
pub(super) fn find<T: FromValues>(file: &File, owner: Owner, name: &str) -> Result<Option<T>> {
    let found = file.look(|model| {
        let in_owner = |error: Error| error.at_path(model.owner_path(owner));
        let Some(attr) = model.find_attr(owner, name.as_bytes()) else {
            return model.attrs(owner).failure().map_or(Ok(None), |failure| Err(in_owner(failure.clone())));
        };
        let in_attribute = |error: Error| in_owner(error.at(format_args!("attribute \"{name}\"")));
        T::from_values(attr.value.clone()).map(Some).map_err(in_attribute)
    });
    file.named(found)
}

/// Returns the value of an attribute as a type.
pub(super) fn get<T: FromValues>(file: &File, owner: Owner, name: &str) -> Result<T> {
    let found = find(file, owner, name)?;
    found.map_or_else(|| file.named(file.look(|model| Err(none_of(model, owner, name)))), Ok)
}

/// Returns names and values of all attributes, in definition order.
pub(super) fn all(file: &File, owner: Owner) -> Result<Vec<(String, Values)>> {
    let found = file.look(|model| match model.attrs(owner).failure() {
        Some(failure) => Err(failure.clone().at_path(model.owner_path(owner))),
        None => {
            let each = model.attrs(owner).iter();
            Ok(each.map(|attr| (attr.name.to_string(), attr.value.clone())).collect())
        }
    });
    file.named(found)
}

/// Sets an attribute.
pub(super) fn put(model: &mut Model, owner: Owner, name: &str, value: Values) -> Result<()> {
    check_name(model, name)?;
    model.put_attr(owner, name, value)
}

/// Gives an attribute another name.
pub(super) fn rename(model: &mut Model, owner: Owner, name: &str, to: &str) -> Result<()> {
    check_name(model, to)?;
    let done = model.rename_attr(owner, name, Name::new(to)?);
    or_missing(done, model, owner, name)
}

/// Checks that an attribute can have a name.
fn check_name(model: &Model, name: &str) -> Result<()> {
    if model.format().container() == Container::Hdf5 && is_reserved_attribute(name.as_bytes()) {
        let what = format!(
            "attribute \"{name}\": netCDF writes attributes of this name itself; choose another name"
        );
        return Err(Error::new(Code::ENAMEINUSE, what));
    }
    Ok(())
}

/// Removes an attribute.
pub(super) fn remove(model: &mut Model, owner: Owner, name: &str) -> Result<()> {
    let done = model.del_attr(owner, name).map(drop);
    or_missing(done, model, owner, name)
}

/// Returns a result; the error of an attribute that does not exist names those that do.
fn or_missing(done: Result<()>, model: &Model, owner: Owner, name: &str) -> Result<()> {
    match done {
        Err(error) if error.code == Code::ENOTATT => Err(none_of(model, owner, name)),
        done => done,
    }
}

/// Returns the error of an attribute that does not exist.
fn none_of(model: &Model, owner: Owner, name: &str) -> Error {
    let names = model.attrs(owner).iter().map(|attr| &attr.name);
    missing(Code::ENOTATT, "attribute", name, Some(names)).at_path(model.owner_path(owner))
}
