//! Variables: shape, attributes, data.

use std::ops::Deref;

use ferrocdf_array::{Element, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Name, Owner, Type, Values, VarId};

use super::{Dimension, attribute, attributes};
use crate::data::{in_of, out_of};
use crate::elements::{elements, zeros};
use crate::{Extents, File, FileMut};

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

/// A variable of an open file.
#[derive(Clone, Copy)]
pub struct Variable<'f> {
    file: &'f File,
    id: VarId,
}

/// A variable of a writable file.
#[derive(Clone, Copy)]
pub struct VariableMut<'f> {
    variable: Variable<'f>,
    file: &'f FileMut,
}

impl<'f> Variable<'f> {
    pub(super) fn new(file: &'f File, id: VarId) -> Self {
        Variable { file, id }
    }

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
        self.file.model().var(self.id).name.to_string()
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.file.model().var(self.id).ty
    }

    /// Its dimensions, slowest first.
    pub fn dimensions(&self) -> Vec<Dimension> {
        self.file.model().var(self.id).dims.iter().map(|&dim| self.file.dimension_of(dim)).collect()
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

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<Values> {
        attribute(self.file, Owner::Var(self.id), name)
    }

    /// Names and values of its attributes, in definition order.
    pub fn attributes(&self) -> Vec<(String, Values)> {
        attributes(self.file, Owner::Var(self.id))
    }

    /// The value that unwritten elements have.
    pub fn fill_value(&self) -> Option<Values> {
        self.file.model().fill_value(self.id)
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
        let checked = extents.resolve(&shape, false, None).and_then(|selection| {
            // A wrong selection shall not cost memory.
            selection.check(&shape)?;
            Ok(selection)
        });
        checked.map_err(|error| self.error(error.code, &*error.what))
    }

    fn read_selection<T: NetcdfType>(&self, selection: &Selection, into: &mut [T]) -> Result<()> {
        let out = out_of(self.file, self.id, into);
        match self.file.read(self.id, selection, out)? {
            RangeCheck::InRange => Ok(()),
            RangeCheck::OutOfRange => Err(self.out_of_range::<T>()),
        }
    }

    fn out_of_range<T>(&self) -> Error {
        let (here, there) = (self.file.model().type_name(self.ty()), std::any::type_name::<T>());
        self.error(Code::ERANGE, format!("a number does not fit between {here} and {there}"))
    }

    fn error(&self, code: Code, what: impl std::fmt::Display) -> Error {
        let path = self.file.model().var_path(self.id);
        Error::new(code, format!("{}: {path}: {what}", self.file.path().display()))
    }
}

impl<'f> Deref for VariableMut<'f> {
    type Target = Variable<'f>;

    fn deref(&self) -> &Variable<'f> {
        &self.variable
    }
}

impl<'f> VariableMut<'f> {
    pub(super) fn new(file: &'f FileMut, id: VarId) -> Self {
        VariableMut { variable: Variable::new(file, id), file }
    }

    /// Sets an attribute, replacing one of the same name.
    pub fn put_attribute(&mut self, name: &str, value: impl Into<Values>) -> Result<()> {
        let value = value.into();
        self.file.define(|model| model.put_attr(Owner::Var(self.id()), name, value))
    }

    /// Removes an attribute. Fails with `NC_ENOTATT`.
    pub fn remove_attribute(&mut self, name: &str) -> Result<()> {
        self.file.define(|model| model.del_attr(Owner::Var(self.id()), name).map(drop))
    }

    /// Sets the value that unwritten elements have, in the variable's own type.
    pub fn set_fill_value<T: NetcdfType>(&mut self, value: T) -> Result<()>
    where
        Values: From<T>,
    {
        if self.ty() != T::ATOMIC.into() {
            let model = self.file.model();
            let (is, shall) = (T::ATOMIC, model.type_name(self.ty()));
            return Err(self.error(Code::EBADTYPE, format!("a fill value of type {is}, it must be {shall}")));
        }
        self.put_attribute("_FillValue", value)
    }

    /// Leaves unwritten elements undefined.
    pub fn set_no_fill(&mut self) -> Result<()> {
        self.file.define(|model| {
            model.var_mut(self.id()).storage.no_fill = true;
            Ok(())
        })
    }

    /// Gives it another name.
    pub fn rename(&mut self, name: &str) -> Result<()> {
        let name = Name::new(name)?;
        self.file.define(|model| model.rename_var(self.id(), name))
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
    pub fn put_values<T: NetcdfType, E: Into<Extents>>(&mut self, values: &[T], extents: E) -> Result<()> {
        let grows = self.file.model().is_record(self.id());
        let extents: Extents = extents.into();
        let selection = extents
            .resolve(&self.shape(), grows, Some(values.len() as u64))
            .map_err(|error| self.error(error.code, &*error.what))?;
        match self.file.write(self.id(), &selection, in_of(self.file, self.id(), values))? {
            RangeCheck::InRange => Ok(()),
            RangeCheck::OutOfRange => Err(self.out_of_range::<T>()),
        }
    }

    /// Writes one element.
    pub fn put_value<T: NetcdfType, E: Into<Extents>>(&mut self, value: T, index: E) -> Result<()> {
        self.put_values(&[value], index)
    }

    /// Writes text to a variable of characters, padded with zero bytes to the number of characters in `extents`.
    pub fn put_text<E: Into<Extents>>(&mut self, text: &str, extents: E) -> Result<()> {
        let extents = extents.into();
        let selection = extents.resolve(&self.shape(), false, None);
        let selection = selection.map_err(|error| self.error(error.code, &*error.what))?;
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

    /// Writes an array, whose shape must be that of the extents.
    #[cfg(feature = "ndarray")]
    pub fn put<T, E, S, D>(&mut self, values: &ndarray::ArrayBase<S, D>, extents: E) -> Result<()>
    where
        T: NetcdfType,
        E: Into<Extents>,
        S: ndarray::Data<Elem = T>,
        D: ndarray::Dimension,
    {
        let extents = extents.into();
        let grows = self.file.model().is_record(self.id());
        let selection = extents
            .resolve(&self.shape(), grows, Some(values.len() as u64))
            .map_err(|error| self.error(error.code, &*error.what))?;
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
