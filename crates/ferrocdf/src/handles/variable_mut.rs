//! Variables of writable files: attributes and data.

use std::fmt;
use std::ops::Deref;

use ferrocdf_array::{RangeCheck, Selection};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_model::{Atomic, Name, Owner, Type, Value, Values};

use super::nested_values::check_values;
use super::paths::check_link;
use super::{NetcdfType, Variable, VariableMut, attributes};
use crate::Extents;
use crate::data::in_of;
use crate::elements::elements;

impl<'f> Deref for VariableMut<'f> {
    type Target = Variable<'f>;

    fn deref(&self) -> &Variable<'f> {
        &self.variable
    }
}

impl<'f> VariableMut<'f> {
    /// Sets an attribute, replacing one of the same name.
    ///
    /// # Errors
    /// `NC_EBADNAME`, `NC_EBADTYPE` for values that the format cannot hold; `NC_ELATEFILL` for the attribute `_FillValue` of a variable that
    /// a commit or a write has brought to the file, but for classic files: elements that were never written have the old value already.
    pub fn put_attribute(&self, name: &str, value: impl Into<Values>) -> Result<()> {
        let value = value.into();
        if name == "_FillValue" {
            self.file.check_fill_can_change(self.id())?;
        }
        self.file.define(|model| attributes::put(model, Owner::Var(self.id()), name, value))
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.file.define(|model| attributes::remove(model, Owner::Var(self.id()), name))
    }

    /// Gives an attribute another name. Its place and its value stay.
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are; `NC_ENAMEINUSE`, `NC_EBADNAME`.
    pub fn rename_attribute(&self, name: &str, to: &str) -> Result<()> {
        self.file.define(|model| attributes::rename(model, Owner::Var(self.id()), name, to))
    }

    /// Sets the value that unwritten elements have, in the variable's own type.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a value of another type; `NC_ELATEFILL` as for [`VariableMut::put_attribute`].
    pub fn set_fill_value<T: NetcdfType>(&self, value: T) -> Result<()>
    where
        Values: From<T>,
    {
        if self.ty() != T::ATOMIC.into() {
            let model = self.file.model();
            let (is, expected) = (T::ATOMIC, model.type_name(self.ty()));
            return Err(
                self.error(Code::EBADTYPE, format!("a fill value of type {is}, it must be {expected}"))
            );
        }
        self.put_attribute("_FillValue", value)
    }

    /// Leaves unwritten elements undefined.
    pub fn set_no_fill(&self) -> Result<()> {
        self.file.define(|model| {
            model.var_mut(self.id()).storage.no_fill = true;
            Ok(())
        })
    }

    /// Gives it another name.
    pub fn rename(&self, name: &str) -> Result<()> {
        let name = Name::new(name)?;
        self.file.define(|model| {
            let group = model.var(self.id()).group;
            // Dimensions of this name are no hindrance: the variable becomes their coordinate.
            check_link(model, group, &name.to_str(), true)?;
            model.rename_var(self.id(), name)
        })
    }

    /// Writes numbers, last dimension fastest; the record dimension grows as needed. `u8` also writes text.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let mut file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// file.add_unlimited_dimension("time")?;
    /// let mut var = file.add_variable::<f32>("v", &["time"])?;
    /// var.put_values(&[1.0f32, 2.0], ..)?;
    /// var.put_value(5, [4])?;
    /// let fill = f32::from_bits(0x7CF0_0000);
    /// assert_eq!(var.get_values::<f32, _>(..)?, [1.0, 2.0, fill, fill, 5.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An extent without an end on the record dimension is as long as `values` needs. Fails with `NC_ERANGE` if a
    /// number does not fit in the variable's type, after all were written, and with `NC_EEDGE` if `values` is not
    /// what the extents ask for.
    pub fn put_values<T: NetcdfType, E: Into<Extents>>(&self, values: &[T], extents: E) -> Result<()> {
        let selection = self.select_to_write(&extents.into(), values.len())?;
        match self.file.write(self.id(), &selection, in_of(self.file, self.id(), values))? {
            RangeCheck::InRange => Ok(()),
            RangeCheck::OutOfRange => Err(self.out_of_range::<T>()),
        }
    }

    /// Writes one element.
    pub fn put_value<T: NetcdfType, E: Into<Extents>>(&self, value: T, index: E) -> Result<()> {
        self.put_values(&[value], index)
    }

    /// Writes text to a variable of characters, padded with zero bytes to the number of characters in `extents`.
    pub fn put_text<E: Into<Extents>>(&self, text: &str, extents: E) -> Result<()> {
        if self.ty() != Atomic::Char.into() {
            let what = "it holds no characters; `put_strings` writes strings, `put_values` numbers";
            return Err(self.error(Code::EBADTYPE, what));
        }
        let extents = extents.into();
        let selection = self.select_to_write(&extents, text.len())?;
        let mut bytes = text.as_bytes().to_vec();
        let room = elements(&selection)?;
        if bytes.len() > room {
            return Err(
                self.error(Code::EEDGE, format!("{} bytes of text for {room} characters", bytes.len()))
            );
        }
        bytes.resize(room, 0);
        self.put_values(&bytes, &extents)
    }

    /// Writes strings, last dimension fastest; the record dimension grows as needed.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a variable of another type, `NC_EEDGE` if there are not as many as the extents ask for.
    pub fn put_strings<S: AsRef<str>, E: Into<Extents>>(&self, strings: &[S], extents: E) -> Result<()> {
        let list = strings.iter().map(|string| Some(string.as_ref().as_bytes().to_vec())).collect();
        self.put_nested(&Values::String(list), extents.into())
    }

    /// Writes one string.
    pub fn put_string<E: Into<Extents>>(&self, string: &str, index: E) -> Result<()> {
        self.put_strings(&[string], index)
    }

    /// Writes values of the user-defined type of the variable: compounds, lists, enums and opaque bytes.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// use ferrocdf::{Atomic, CreateOptions, Format, Value};
    ///
    /// # let file = ferrocdf::FileMut::in_memory(&CreateOptions::format(Format::NETCDF4))?;
    /// let ray = file.add_compound_type("ray", &[("angle", Atomic::Double.into()), ("name", Atomic::String.into())])?;
    /// file.add_dimension("n", 1)?;
    /// let rays = file.add_variable_of(ray, "rays", &["n"])?;
    /// rays.put_user_values(&[Value::Compound(vec![0.5.into(), Value::string("first")])], ..)?;
    /// let read = rays.get_user_values(..)?;
    /// assert_eq!(f64::try_from(&read[0].fields()?[0])?, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NC_EBADTYPE` for values of another type, `NC_EEDGE` if there are not as many as the extents ask for.
    pub fn put_user_values<E: Into<Extents>>(&self, values: &[Value], extents: E) -> Result<()> {
        let Type::User(id) = self.ty() else {
            return Err(self.error(Code::EBADTYPE, "it is of no user-defined type"));
        };
        let checked = self.file.look(|model| check_values(model, id, values));
        checked.map_err(|error| self.located(error))?;
        self.put_nested(&Values::User(id, values.to_vec()), extents.into())
    }

    fn put_nested(&self, values: &Values, extents: Extents) -> Result<()> {
        let selection = self.select_to_write(&extents, values.len())?;
        match self.file.write_trees(self.id(), &selection, values)? {
            RangeCheck::InRange => Ok(()),
            RangeCheck::OutOfRange => {
                Err(self.error(Code::ERANGE, "a number is out of the range of its stored type"))
            }
        }
    }

    /// Returns the selection of extents into which `count` elements are written.
    fn select_to_write(&self, extents: &Extents, count: usize) -> Result<Selection> {
        let grows = self.file.look(|model| model.is_record(self.id()));
        let selection = self.resolve(extents, &self.shape(), grows, Some(count as u64));
        selection.map_err(|error| self.located(error))
    }

    /// Writes an array, whose shape must be that of the extents.
    #[cfg(feature = "ndarray")]
    pub fn put<T, E, S, D>(&self, values: &ndarray::ArrayBase<S, D>, extents: E) -> Result<()>
    where
        T: NetcdfType,
        E: Into<Extents>,
        S: ndarray::Data<Elem = T>,
        D: ndarray::Dimension,
    {
        let extents = extents.into();
        let selection = self.select_to_write(&extents, values.len())?;
        let wanted = extents.result_shape(&selection);
        if values.shape() != wanted {
            let what = format!("an array of shape {:?} for extents of shape {wanted:?}", values.shape());
            return Err(self.error(Code::EEDGE, what));
        }
        match values.as_slice() {
            Some(slice) => self.put_values(slice, extents),
            None => self.put_values(&values.iter().copied().collect::<Vec<T>>(), extents),
        }
    }
}

impl fmt::Debug for VariableMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variable.fmt(f)
    }
}

impl fmt::Display for VariableMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variable.fmt(f)
    }
}
