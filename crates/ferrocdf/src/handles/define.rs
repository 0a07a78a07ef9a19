//! Defining dimensions, variables and attributes by name.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, DimId, GroupId, Model, Name, Owner, Values};

use super::{Dimension, NetcdfType, VariableMut};
use crate::FileMut;

const ROOT: GroupId = GroupId::ROOT;

impl FileMut {
    /// The variable called `name`, in the root group or by its path, to be written.
    pub fn variable_mut(&self, name: &str) -> Option<VariableMut<'_>> {
        let id = self.model().find_var_at(name.as_bytes())?;
        Some(VariableMut::new(self, id))
    }

    /// Defines a dimension.
    pub fn add_dimension(&mut self, name: &str, len: u64) -> Result<Dimension> {
        let id = self.define(|model| model.def_dim(ROOT, name, Some(len)))?;
        Ok(self.dimension_of(id))
    }

    /// Defines a dimension that grows.
    pub fn add_unlimited_dimension(&mut self, name: &str) -> Result<Dimension> {
        let id = self.define(|model| model.def_dim(ROOT, name, None))?;
        Ok(self.dimension_of(id))
    }

    /// Defines a variable of numbers of type `T` on dimensions called by name.
    pub fn add_variable<T: NetcdfType>(&mut self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.add_variable_of(T::ATOMIC, name, dims)
    }

    /// Defines a variable of characters.
    pub fn add_text_variable(&mut self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.add_variable_of(Atomic::Char, name, dims)
    }

    /// Defines a variable of a type known only at run time.
    pub fn add_variable_of(&mut self, ty: Atomic, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        let id = self.define(|model| {
            let dims = dims.iter().map(|dim| find_dim(model, dim)).collect::<Result<Vec<_>>>();
            let dims = dims.map_err(|error| error.at(format_args!("variable \"{name}\"")))?;
            model.def_var(ROOT, name, ty.into(), &dims)
        })?;
        Ok(VariableMut::new(self, id))
    }

    /// Sets a global attribute, replacing one of the same name.
    pub fn add_attribute(&mut self, name: &str, value: impl Into<Values>) -> Result<()> {
        let value = value.into();
        self.define(|model| model.put_attr(Owner::Group(ROOT), name, value))
    }

    /// Removes a global attribute. Fails with `NC_ENOTATT`.
    pub fn remove_attribute(&mut self, name: &str) -> Result<()> {
        self.define(|model| model.del_attr(Owner::Group(ROOT), name).map(drop))
    }

    /// Gives a dimension another name.
    pub fn rename_dimension(&mut self, name: &str, to: &str) -> Result<()> {
        let to = Name::new(to)?;
        self.define(|model| {
            let dim = find_dim(model, name)?;
            model.rename_dim(dim, to)
        })
    }
}

fn find_dim(model: &Model, name: &str) -> Result<DimId> {
    let there = || model.dims().iter().map(|dim| dim.name.to_string()).collect::<Vec<_>>().join(", ");
    model
        .find_dim(ROOT, name.as_bytes())
        .ok_or_else(|| Error::new(Code::EBADDIM, format!("no dimension \"{name}\"; there are: {}", there())))
}
