//! Groups: what is in them, by name and in definition order.

use std::fmt;
use std::ops::Deref;

use ferrocdf_bytes::Result;
use ferrocdf_model::{GroupId, Model, Name, Owner, Type, UserType, Values, VarId};

use super::paths::{check_link, find_dim, find_group, find_type, find_var};
use super::{
    Dimension, FromValues, Group, GroupMut, NetcdfType, Variable, VariableBuilder, VariableMut, attributes,
};
use crate::{File, FileMut};

impl<'f> Group<'f> {
    /// Returns the file of the group.
    pub fn file(&self) -> &'f File {
        self.file
    }

    /// Returns the id of the group in the file's model.
    pub fn id(&self) -> GroupId {
        self.id
    }

    /// Returns the name; that of the root group is empty.
    pub fn name(&self) -> String {
        self.file.look(|model| model.group(self.id).name.to_string())
    }

    /// Returns the path from the root group: `/` for that group, `/model/run` for others.
    pub fn path(&self) -> String {
        self.file.look(|model| model.group_path(self.id))
    }

    /// Returns the group around this one; `None` for the root group.
    pub fn parent(&self) -> Option<Group<'f>> {
        let parent = self.file.look(|model| model.group(self.id).parent);
        parent.map(|id| Group::new(self.file, id))
    }

    /// Finds a group.
    ///
    /// # Errors
    /// `NC_ENOGRP`, with the names that there are.
    pub fn group(&self, path: &str) -> Result<Group<'f>> {
        Ok(Group::new(self.file, self.find_group(path)?))
    }

    /// Returns the groups that are defined in this one.
    pub fn groups(&self) -> Vec<Group<'f>> {
        let ids = self.file.look(|model| model.group(self.id).groups.clone());
        ids.into_iter().map(|id| Group::new(self.file, id)).collect()
    }

    /// Finds a variable.
    ///
    /// # Errors
    /// `NC_ENOTVAR`, with the names that there are.
    pub fn variable(&self, path: &str) -> Result<Variable<'f>> {
        Ok(Variable::new(self.file, self.find_variable(path)?))
    }

    /// Returns the variables that are defined in this group.
    pub fn variables(&self) -> Vec<Variable<'f>> {
        let ids = self.file.look(|model| model.group(self.id).vars.clone());
        ids.into_iter().map(|id| Variable::new(self.file, id)).collect()
    }

    /// Finds a dimension: a name alone also finds one of a group around this one, as in netCDF.
    ///
    /// # Errors
    /// `NC_EBADDIM`, with the names that there are.
    pub fn dimension(&self, path: &str) -> Result<Dimension> {
        self.look(|model| find_dim(model, self.id, path).map(|id| Dimension::of(model, id)))
    }

    /// Returns the dimensions that are defined in this group.
    pub fn dimensions(&self) -> Vec<Dimension> {
        self.file.look(|model| model.group(self.id).dims.iter().map(|&id| Dimension::of(model, id)).collect())
    }

    /// Finds a user-defined type: a name alone also finds one of a group around this one.
    ///
    /// # Errors
    /// `NC_EBADTYPE`, with the names that there are.
    pub fn user_type(&self, path: &str) -> Result<(Type, UserType)> {
        self.look(|model| {
            let id = find_type(model, self.id, path)?;
            Ok((Type::User(id), model.user_type(id).clone()))
        })
    }

    /// Returns the user-defined types that are defined in this group. [`Class::members`](ferrocdf_model::Class::members) has the names of
    /// the values of an enumeration.
    pub fn types(&self) -> Vec<(Type, UserType)> {
        self.file.look(|model| {
            let ids = model.group(self.id).types.iter();
            ids.map(|&id| (Type::User(id), model.user_type(id).clone())).collect()
        })
    }

    /// Returns the value of an attribute, as [`Values`] or converted: to a number, a text, or a list of these.
    ///
    /// ```
    /// # fn main() -> ferrocdf::Result<()> {
    /// # let file = ferrocdf::FileMut::in_memory(&ferrocdf::CreateOptions::default())?;
    /// file.put_attribute("Conventions", "CF-1.12")?;
    /// let conventions: String = file.attribute("Conventions")?;
    /// assert_eq!(conventions, "CF-1.12");
    /// assert_eq!(file.attribute::<String>("title").unwrap_err().kind(), ferrocdf::ErrorKind::NotFound);
    /// assert_eq!(file.find_attribute::<String>("title")?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are; `NC_EATTMETA` if it cannot be read; those of the conversion, which name the attribute.
    pub fn attribute<T: FromValues>(&self, name: &str) -> Result<T> {
        attributes::get(self.file, Owner::Group(self.id), name)
    }

    /// Returns the value of an attribute, if there is one of this name.
    ///
    /// # Errors
    /// Those of [`Group::attribute`] for an attribute that exists; those of reading any attribute of the group if there is none.
    pub fn find_attribute<T: FromValues>(&self, name: &str) -> Result<Option<T>> {
        attributes::find(self.file, Owner::Group(self.id), name)
    }

    /// Returns names and values of the attributes, in definition order.
    ///
    /// # Errors
    /// `NC_EATTMETA` for an attribute that cannot be read; the model has the others then.
    pub fn attributes(&self) -> Result<Vec<(String, Values)>> {
        attributes::all(self.file, Owner::Group(self.id))
    }

    fn find_group(&self, path: &str) -> Result<GroupId> {
        self.look(|model| find_group(model, self.id, path))
    }

    fn find_variable(&self, path: &str) -> Result<VarId> {
        self.look(|model| find_var(model, self.id, path))
    }

    /// Looks at the model; errors get the names of the file and, but for the root group, of this group.
    fn look<R>(&self, look: impl FnOnce(&Model) -> Result<R>) -> Result<R> {
        let found = self.file.look(|model| {
            look(model).map_err(|error| match self.id {
                GroupId::ROOT => error,
                id => error.at_path(model.group_path(id)),
            })
        });
        self.file.named(found)
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("file", &self.file.path()).field("path", &self.path()).finish()
    }
}

/// The path of the group.
impl fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

impl<'f> Deref for GroupMut<'f> {
    type Target = Group<'f>;

    fn deref(&self) -> &Group<'f> {
        &self.group
    }
}

impl fmt::Debug for GroupMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.group.fmt(f)
    }
}

impl<'f> GroupMut<'f> {
    pub(super) fn writable_file(&self) -> &'f FileMut {
        self.file
    }

    /// Finds a group, to be changed.
    ///
    /// # Errors
    /// As for [`Group::group`].
    pub fn group_mut(&self, path: &str) -> Result<GroupMut<'f>> {
        Ok(GroupMut::new(self.file, self.find_group(path)?))
    }

    /// Finds a variable, to be written.
    ///
    /// # Errors
    /// As for [`Group::variable`].
    pub fn variable_mut(&self, path: &str) -> Result<VariableMut<'f>> {
        Ok(VariableMut::new(self.file, self.find_variable(path)?))
    }

    /// Defines a group in this one.
    ///
    /// # Errors
    /// `NC_ENOTNC4` or `NC_ESTRICTNC3` for formats without groups, `NC_ENAMEINUSE`, `NC_EBADNAME`.
    pub fn add_group(&self, name: &str) -> Result<GroupMut<'f>> {
        let id = self.file.define(|model| {
            check_link(model, self.id, name, false)?;
            model.def_group(self.id, name)
        })?;
        Ok(GroupMut::new(self.file, id))
    }

    /// Defines a dimension.
    ///
    /// # Errors
    /// `NC_ENAMEINUSE`, `NC_EBADNAME`, `NC_EDIMSIZE` for a length that the format cannot hold.
    pub fn add_dimension(&self, name: &str, len: u64) -> Result<Dimension> {
        self.define_dimension(name, Some(len))
    }

    /// Defines a dimension that grows.
    ///
    /// # Errors
    /// Those of [`GroupMut::add_dimension`]; `NC_EUNLIMIT` for a second one in a classic file.
    pub fn add_unlimited_dimension(&self, name: &str) -> Result<Dimension> {
        self.define_dimension(name, None)
    }

    fn define_dimension(&self, name: &str, len: Option<u64>) -> Result<Dimension> {
        self.file.define(|model| {
            check_link(model, self.id, name, true)?;
            let id = model.def_dim(self.id, name, len)?;
            Ok(Dimension::of(model, id))
        })
    }

    /// Defines a variable of numbers of type `T` on dimensions called by name. [`GroupMut::build_variable`] has more choices.
    ///
    /// # Errors
    /// Those of [`VariableBuilder::create`].
    pub fn add_variable<T: NetcdfType>(&self, name: &str, dims: &[&str]) -> Result<VariableMut<'f>> {
        self.add_variable_of(T::ATOMIC, name, dims)
    }

    /// Defines a variable of characters.
    ///
    /// # Errors
    /// Those of [`VariableBuilder::create`].
    pub fn add_text_variable(&self, name: &str, dims: &[&str]) -> Result<VariableMut<'f>> {
        self.add_variable_of(ferrocdf_model::Atomic::Char, name, dims)
    }

    /// Defines a variable of a type that is known at run time only, user-defined ones among them.
    ///
    /// # Errors
    /// Those of [`VariableBuilder::create`].
    pub fn add_variable_of(&self, ty: impl Into<Type>, name: &str, dims: &[&str]) -> Result<VariableMut<'f>> {
        self.build_variable(name, ty, dims).create()
    }

    /// Begins the definition of a variable with choices: chunks, filters, fill value and so on.
    pub fn build_variable(&self, name: &str, ty: impl Into<Type>, dims: &[&str]) -> VariableBuilder<'f> {
        VariableBuilder::new(GroupMut::new(self.file, self.id), name, ty.into(), dims)
    }

    /// Sets an attribute; an attribute of the same name is replaced.
    ///
    /// # Errors
    /// `NC_EBADNAME`, `NC_EBADTYPE` for values that the format cannot hold.
    pub fn put_attribute(&self, name: &str, value: impl Into<Values>) -> Result<()> {
        let value = value.into();
        self.file.define(|model| attributes::put(model, Owner::Group(self.id), name, value))
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.file.define(|model| attributes::remove(model, Owner::Group(self.id), name))
    }

    /// Gives an attribute another name. Its place and its value stay.
    ///
    /// # Errors
    /// `NC_ENOTATT`, with the names that there are; `NC_ENAMEINUSE`, `NC_EBADNAME`.
    pub fn rename_attribute(&self, name: &str, to: &str) -> Result<()> {
        self.file.define(|model| attributes::rename(model, Owner::Group(self.id), name, to))
    }

    /// Gives a dimension of this group another name.
    ///
    /// # Errors
    /// `NC_EBADDIM`, `NC_ENAMEINUSE`, `NC_EBADNAME`.
    pub fn rename_dimension(&self, name: &str, to: &str) -> Result<()> {
        let to = Name::new(to)?;
        self.file.define(|model| {
            let dim = find_dim(model, self.id, name)?;
            check_link(model, model.dim(dim).group, &to.to_str(), true)?;
            model.rename_dim(dim, to)
        })
    }

    /// Makes a dimension at least `len` long; see [`FileMut::grow_dimension`].
    ///
    /// # Errors
    /// `NC_EBADDIM`, and those of [`FileMut::grow_dimension`].
    pub fn grow_dimension(&self, name: &str, len: u64) -> Result<()> {
        let dim = self.file.look(|model| find_dim(model, self.id, name))?;
        self.file.grow_dimension(dim, len)
    }

    /// Gives the group another name.
    ///
    /// # Errors
    /// `NC_EBADGRPID` for the root group, `NC_ENAMEINUSE`, `NC_EBADNAME`.
    pub fn rename(&self, name: &str) -> Result<()> {
        self.file.define(|model| {
            if let Some(parent) = model.group(self.id).parent {
                check_link(model, parent, name, false)?;
            }
            model.rename_group(self.id, name)
        })
    }
}
