//! Variables: shape, attributes, data.

use std::fmt;

use ferrocdf_array::{Element, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Owner, Type, Value, Values, VarId};

use super::{Dimension, FromValues, Group, Variable, attributes};
use crate::data::{check_selection, out_of, quoted_dim_name};
use crate::elements::{elements, zeros};
use crate::{Extents, File};

/// A Rust number type and the netCDF type that holds it.
pub trait NetcdfType: Element + Default {
    /// The netCDF type.
    const ATOMIC: Atomic;
}

macro_rules! netcdf_types {
    ($($number:ty => $atomic:ident),*) => {
        $(impl NetcdfType for $number { const ATOMIC: Atomic = Atomic::$atomic; })*
    };
}

netcdf_types!(i8 => Byte, u8 => Ubyte, i16 => Short, u16 => Ushort, i32 => Int, u32 => Uint, i64 => Int64,
    u64 => Uint64, f32 => Float, f64 => Double);

impl<'f> Variable<'f> {
    /// The file it is in.
    pub fn file(&self) -> &'f File {
        self.file
    }

    /// Its id in the file's model.
    pub fn id(&self) -> VarId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.file.look(|model| model.var(self.id).name.to_string())
    }

    /// Its path from the root group, such as `/model/wind`.
    pub fn path(&self) -> String {
        self.file.look(|model| model.var_path(self.id))
    }

    /// The group that it is in.
    pub fn group(&self) -> Group<'f> {
        let group = self.file.look(|model| model.var(self.id).group);
        Group::new(self.file, group)
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.file.model().var(self.id).ty
    }

    /// Its dimensions, slowest first.
    pub fn dimensions(&self) -> Vec<Dimension> {
        self.file.look(|model| model.var(self.id).dims.iter().map(|&dim| Dimension::of(model, dim)).collect())
    }

    /// The lengths of its dimensions.
    pub fn shape(&self) -> Vec<u64> {
        self.file.model().shape(self.id)
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.shape().iter().fold(1, |product, &len| product.saturating_mul(len))
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Returns the value of an attribute, as [`Values`] or converted: to a number, a text, or a list of these.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// # let variable = file.add_variable::<f32>("v", &[])?;
    /// variable.put_attribute("scale_factor", 0.5f32)?;
    /// variable.put_attribute("units", "kelvin")?;
    /// let units: String = variable.attribute("units")?;
    /// let scale: f64 = variable.find_attribute("scale_factor")?.unwrap_or(1.0);
    /// assert_eq!((&*units, scale), ("kelvin", 0.5));
    /// let error = variable.attribute::<u8>("scale_factor").unwrap_err();
    /// assert_eq!(&*error.what, "memory: /v: attribute \"scale_factor\": 0.5 is no value of u8");
    /// assert_eq!((error.kind(), error.path()), (ferrocdf::ErrorKind::OutOfRange, Some("/v")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are; `NC_EATTMETA` if it cannot be read; those of the conversion, which name the attribute.
    pub fn attribute<T: FromValues>(&self, name: &str) -> Result<T> {
        attributes::get(self.file, Owner::Var(self.id), name)
    }

    /// Returns the value of an attribute, if there is one of this name.
    ///
    /// # Errors
    /// Those of [`Variable::attribute`] for an attribute that exists; those of reading any attribute of the variable if there is none.
    pub fn find_attribute<T: FromValues>(&self, name: &str) -> Result<Option<T>> {
        attributes::find(self.file, Owner::Var(self.id), name)
    }

    /// Returns names and values of the attributes, in definition order.
    ///
    /// # Errors
    /// `NC_EATTMETA` for an attribute that cannot be read; the model has the others then.
    pub fn attributes(&self) -> Result<Vec<(String, Values)>> {
        attributes::all(self.file, Owner::Var(self.id))
    }

    /// Reads elements as numbers of type `T`, last dimension fastest. `u8` also reads text.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let mut file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// # file.add_dimension("y", 2)?;
    /// # file.add_dimension("x", 3)?;
    /// # let mut var = file.add_variable::<i16>("v", &["y", "x"])?;
    /// # var.put_values(&[0i16, 1, 2, 10, 11, 12], ..)?;
    /// assert_eq!(var.get_values::<i32, _>(..)?, [0, 1, 2, 10, 11, 12]);
    /// assert_eq!(var.get_values::<f64, _>((1, ..))?, [10.0, 11.0, 12.0]);
    /// assert_eq!(var.get_values::<u8, _>((.., ferrocdf::every(2)))?, [0, 2, 10, 12]);
    /// assert_eq!(var.get_values::<i16, _>((&[0, 1], &[2, 2]))?, [1, 2, 11, 12]);
    /// assert!(var.get_values::<i16, _>((2, ..)).unwrap_err().to_string().contains("start 2 is outside its length 2"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Fails with `NC_ERANGE` if a number does not fit in `T`; [`Variable::get_into`] gives the others even then.
    pub fn get_values<T: NetcdfType, E: Into<Extents>>(&self, extents: E) -> Result<Vec<T>> {
        let selection = self.select(&extents.into())?;
        let mut into = zeros(elements(&selection)?)?;
        self.read_selection(&selection, &mut into)?;
        Ok(into)
    }

    /// Reads elements into a slice, which must have just their number.
    ///
    /// Fails with `NC_ERANGE` if a number does not fit in `T`, after all were read.
    pub fn get_into<T: NetcdfType, E: Into<Extents>>(&self, into: &mut [T], extents: E) -> Result<()> {
        let selection = self.select(&extents.into())?;
        self.read_selection(&selection, into)
    }

    /// Reads one element.
    pub fn get_value<T: NetcdfType, E: Into<Extents>>(&self, index: E) -> Result<T> {
        let mut one = [T::default()];
        self.get_into(&mut one, index)?;
        Ok(one[0])
    }

    /// Reads text from a variable of characters, without the zero bytes at its end.
    pub fn get_text<E: Into<Extents>>(&self, extents: E) -> Result<String> {
        let mut bytes: Vec<u8> = self.get_values(extents)?;
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(end);
        String::from_utf8(bytes).map_err(|error| {
            self.error(
                Code::EBADTYPE,
                format!("its text is not UTF-8 at byte {}", error.utf8_error().valid_up_to()),
            )
        })
    }

    /// Reads strings. A null string is an empty text.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a variable of another type, and for text that is not UTF-8.
    pub fn get_strings<E: Into<Extents>>(&self, extents: E) -> Result<Vec<String>> {
        match self.get_all(extents)? {
            Values::String(list) => Values::String(list).try_into().map_err(|error| self.located(error)),
            _ => Err(self.error(Code::EBADTYPE, "it holds no strings; `get_text` reads characters")),
        }
    }

    /// Reads one string.
    ///
    /// # Errors
    /// As for [`Variable::get_strings`]; `NC_EEDGE` for extents of more than one element.
    pub fn get_string<E: Into<Extents>>(&self, index: E) -> Result<String> {
        let mut strings = self.get_strings(index)?;
        match (strings.len(), strings.pop()) {
            (1, Some(string)) => Ok(string),
            (count, _) => Err(self.error(Code::EEDGE, format!("{count} strings where one is expected"))),
        }
    }

    /// Reads values of a user-defined type: compounds, lists, enums and opaque bytes.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a variable of an atomic type.
    pub fn get_user_values<E: Into<Extents>>(&self, extents: E) -> Result<Vec<Value>> {
        match self.get_all(extents)? {
            Values::User(_, list) => Ok(list),
            _ => Err(self.error(Code::EBADTYPE, "it is of no user-defined type")),
        }
    }

    /// Reads elements of any type, in that type, last dimension fastest.
    ///
    /// # Errors
    /// `NC_EINVALCOORDS`, `NC_EEDGE` or `NC_ESTRIDE` for extents outside the variable.
    pub fn get_all<E: Into<Extents>>(&self, extents: E) -> Result<Values> {
        let selection = self.select(&extents.into())?;
        self.file.read_selected(self.id, &selection)
    }

    /// Reads elements as an array; dimensions asked for by index are left out.
    #[cfg(feature = "ndarray")]
    pub fn get<T: NetcdfType, E: Into<Extents>>(&self, extents: E) -> Result<ndarray::ArrayD<T>> {
        let extents = extents.into();
        let selection = self.select(&extents)?;
        let mut into = zeros(elements(&selection)?)?;
        self.read_selection(&selection, &mut into)?;
        ndarray::ArrayD::from_shape_vec(extents.result_shape(&selection), into)
            .map_err(|error| self.error(Code::EEDGE, error.to_string()))
    }

    fn select(&self, extents: &Extents) -> Result<Selection> {
        let shape = self.shape();
        let checked = self.resolve(extents, &shape, false, None).and_then(|selection| {
            // A wrong selection must not take memory.
            self.file.look(|model| check_selection(model, self.id, &selection, &shape))?;
            Ok(selection)
        });
        checked.map_err(|error| self.located(error))
    }

    /// Returns the selection of extents, as [`Extents::resolve`] does.
    pub(super) fn resolve(
        &self,
        extents: &Extents,
        shape: &[u64],
        grows: bool,
        wanted: Option<u64>,
    ) -> Result<Selection> {
        let dim_name = |place| self.file.look(|model| quoted_dim_name(model, self.id, place));
        extents.resolve(shape, grows, wanted, dim_name)
    }

    fn read_selection<T: NetcdfType>(&self, selection: &Selection, into: &mut [T]) -> Result<()> {
        let out = out_of(self.file, self.id, into);
        match self.file.read(self.id, selection, out)? {
            RangeCheck::InRange => Ok(()),
            RangeCheck::OutOfRange => Err(self.out_of_range::<T>()),
        }
    }

    pub(super) fn out_of_range<T>(&self) -> Error {
        let (here, there) = (self.file.model().type_name(self.ty()), std::any::type_name::<T>());
        self.error(Code::ERANGE, format!("a number does not fit between {here} and {there}"))
    }

    pub(super) fn error(&self, code: Code, what: impl fmt::Display) -> Error {
        self.located(Error::new(code, what.to_string()))
    }

    /// Names the variable and the file in an error.
    pub(super) fn located(&self, error: Error) -> Error {
        error.at_path(self.path()).at(self.file.path().display())
    }
}

impl fmt::Debug for Variable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable")
            .field("file", &self.file.path())
            .field("variable", &self.to_string())
            .finish()
    }
}

/// As in CDL, with the path: `float /model/wind(time, lat, lon)`.
impl fmt::Display for Variable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ty, path) =
            self.file.look(|model| (model.type_name(model.var(self.id).ty), model.var_path(self.id)));
        let dims: Vec<String> = self.dimensions().iter().map(|dim| dim.name().to_string()).collect();
        match dims.is_empty() {
            true => write!(f, "{ty} {path}"),
            false => write!(f, "{ty} {path}({})", dims.join(", ")),
        }
    }
}
