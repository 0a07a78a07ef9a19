//! Handles: the parts of an open file by name, for people.
//!
//! A handle is an id and a reference to its file; it asks the file's model anew at each call, so it stays true while
//! the file changes.

mod attributes;
mod builder;
mod enums;
mod group;
mod nested_values;
mod paths;
mod remove;
mod types;
mod variable;
mod variable_mut;
mod variable_storage;

pub use attributes::FromValues;
pub use builder::VariableBuilder;
pub use variable::NetcdfType;
pub use variable_storage::VariableFilter;

use std::fmt;

use ferrocdf_bytes::Result;
use ferrocdf_model::{DimId, GroupId, Model, Type, UserType, Values, VarId};
use ferrocdf_store::read_in_rounds;

use crate::{File, FileMut};

/// A group of an open file. Names of other objects may be paths from this group, such as `model/wind`, or from the root
/// group, such as `/model/wind`.
#[derive(Clone, Copy)]
pub struct Group<'f> {
    file: &'f File,
    id: GroupId,
}

/// A group of a writable file. Changes lock the file for a moment, so they may be made from any thread.
pub struct GroupMut<'f> {
    group: Group<'f>,
    file: &'f FileMut,
}

/// A variable of an open file.
#[derive(Clone, Copy)]
pub struct Variable<'f> {
    file: &'f File,
    id: VarId,
}

/// A variable of a writable file. Changes lock the file for a moment, so they may be made from any thread.
pub struct VariableMut<'f> {
    variable: Variable<'f>,
    file: &'f FileMut,
}

impl<'f> Group<'f> {
    fn new(file: &'f File, id: GroupId) -> Group<'f> {
        Group { file, id }
    }
}

impl<'f> GroupMut<'f> {
    fn new(file: &'f FileMut, id: GroupId) -> GroupMut<'f> {
        GroupMut { group: Group::new(file, id), file }
    }
}

impl<'f> Variable<'f> {
    fn new(file: &'f File, id: VarId) -> Variable<'f> {
        Variable { file, id }
    }
}

impl<'f> VariableMut<'f> {
    fn new(file: &'f FileMut, id: VarId) -> VariableMut<'f> {
        VariableMut { variable: Variable::new(file, id), file }
    }
}

/// A dimension of an open file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its id in the file's model.
    pub id: DimId,
    name: String,
    len: u64,
    unlimited: bool,
}

impl Dimension {
    fn of(model: &Model, id: DimId) -> Dimension {
        let dim = model.dim(id);
        Dimension { id, name: dim.name.to_string(), len: dim.len, unlimited: dim.unlimited }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length that the dimension had when this handle was made.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the length was 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if the dimension grows.
    pub fn is_unlimited(&self) -> bool {
        self.unlimited
    }
}

/// As in CDL: `lat = 180`, `time = UNLIMITED (3)`.
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unlimited {
            true => write!(f, "{} = UNLIMITED ({})", self.name, self.len),
            false => write!(f, "{} = {}", self.name, self.len),
        }
    }
}

/// The root group and what is in it. [`File::group`] leads to other groups; names may also be paths, such as `/model/wind`.
impl File {
    /// Returns the root group.
    pub fn root(&self) -> Group<'_> {
        Group::new(self, GroupId::ROOT)
    }

    /// Finds a group by its path; see [`Group::group`].
    pub fn group(&self, path: &str) -> Result<Group<'_>> {
        self.root().group(path)
    }

    /// Returns the groups in the root group.
    pub fn groups(&self) -> Vec<Group<'_>> {
        self.root().groups()
    }

    /// Finds a variable by its name in the root group, or by its path; see [`Group::variable`].
    pub fn variable(&self, path: &str) -> Result<Variable<'_>> {
        self.root().variable(path)
    }

    /// Returns all variables of all groups, in definition order.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.model().var_ids().map(|id| Variable::new(self, id))
    }

    /// Runs a task for each variable of all groups, in definition order. What the tasks read of a slow source, like the chunk indexes of all
    /// variables, they wait for together; see [`read_in_rounds`](ferrocdf_store::read_in_rounds): a task may run several times, and must not
    /// keep errors of runs before the last one.
    pub fn for_each_variable<R>(&self, mut task: impl FnMut(Variable<'_>) -> R) -> Vec<R> {
        let ids: Vec<VarId> = self.model().var_ids().collect();
        read_in_rounds(&ids, |&id| task(Variable::new(self, id)))
    }

    /// Returns the variable with an id of this file's model, for callers that hold ids.
    ///
    /// # Panics
    /// Later calls panic if the id is from another file.
    pub fn variable_of(&self, id: VarId) -> Variable<'_> {
        Variable::new(self, id)
    }

    /// Finds a dimension by its name in the root group, or by its path; see [`Group::dimension`].
    pub fn dimension(&self, path: &str) -> Result<Dimension> {
        self.root().dimension(path)
    }

    /// Returns all dimensions of all groups, in definition order.
    pub fn dimensions(&self) -> Vec<Dimension> {
        self.look(|model| (0..model.dims().len()).map(|at| Dimension::of(model, DimId(at as u32))).collect())
    }

    /// Returns the value of a global attribute; see [`Group::attribute`].
    pub fn attribute<T: FromValues>(&self, name: &str) -> Result<T> {
        self.root().attribute(name)
    }

    /// Returns the value of a global attribute, if there is one of this name; see [`Group::find_attribute`].
    pub fn find_attribute<T: FromValues>(&self, name: &str) -> Result<Option<T>> {
        self.root().find_attribute(name)
    }

    /// Returns names and values of the global attributes, in definition order; see [`Group::attributes`].
    pub fn attributes(&self) -> Result<Vec<(String, Values)>> {
        self.root().attributes()
    }

    /// Returns the user-defined types of the root group; see [`Group::types`].
    pub fn types(&self) -> Vec<(Type, UserType)> {
        self.root().types()
    }

    /// Finds a user-defined type by its name in the root group, or by its path; see [`Group::user_type`].
    pub fn user_type(&self, path: &str) -> Result<(Type, UserType)> {
        self.root().user_type(path)
    }
}

/// Definitions in the root group, as [`GroupMut`] has them for all groups. They lock the file for a moment, so they may be made
/// from any thread.
impl FileMut {
    /// Returns the root group, to be changed.
    pub fn root_mut(&self) -> GroupMut<'_> {
        GroupMut::new(self, GroupId::ROOT)
    }

    /// Finds a group by its path, to be changed; see [`Group::group`].
    pub fn group_mut(&self, path: &str) -> Result<GroupMut<'_>> {
        self.root_mut().group_mut(path)
    }

    /// Finds a variable by its name in the root group or by its path, to be written; see [`Group::variable`].
    pub fn variable_mut(&self, path: &str) -> Result<VariableMut<'_>> {
        self.root_mut().variable_mut(path)
    }

    /// Defines a group; see [`GroupMut::add_group`].
    pub fn add_group(&self, name: &str) -> Result<GroupMut<'_>> {
        self.root_mut().add_group(name)
    }

    /// Defines a dimension; see [`GroupMut::add_dimension`].
    pub fn add_dimension(&self, name: &str, len: u64) -> Result<Dimension> {
        self.root_mut().add_dimension(name, len)
    }

    /// Defines a dimension that grows; see [`GroupMut::add_unlimited_dimension`].
    pub fn add_unlimited_dimension(&self, name: &str) -> Result<Dimension> {
        self.root_mut().add_unlimited_dimension(name)
    }

    /// Defines a variable of numbers of type `T`; see [`GroupMut::add_variable`].
    pub fn add_variable<T: NetcdfType>(&self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.root_mut().add_variable::<T>(name, dims)
    }

    /// Defines a variable of characters; see [`GroupMut::add_text_variable`].
    pub fn add_text_variable(&self, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.root_mut().add_text_variable(name, dims)
    }

    /// Defines a variable of a type that is known at run time only; see [`GroupMut::add_variable_of`].
    pub fn add_variable_of(&self, ty: impl Into<Type>, name: &str, dims: &[&str]) -> Result<VariableMut<'_>> {
        self.root_mut().add_variable_of(ty, name, dims)
    }

    /// Begins the definition of a variable with choices; see [`GroupMut::build_variable`].
    pub fn build_variable(&self, name: &str, ty: impl Into<Type>, dims: &[&str]) -> VariableBuilder<'_> {
        self.root_mut().build_variable(name, ty, dims)
    }

    /// Sets a global attribute; see [`GroupMut::put_attribute`].
    pub fn put_attribute(&self, name: &str, value: impl Into<Values>) -> Result<()> {
        self.root_mut().put_attribute(name, value)
    }

    /// Removes a global attribute; see [`GroupMut::remove_attribute`].
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.root_mut().remove_attribute(name)
    }

    /// Gives a global attribute another name; see [`GroupMut::rename_attribute`].
    pub fn rename_attribute(&self, name: &str, to: &str) -> Result<()> {
        self.root_mut().rename_attribute(name, to)
    }

    /// Gives a dimension another name; see [`GroupMut::rename_dimension`].
    pub fn rename_dimension(&self, name: &str, to: &str) -> Result<()> {
        self.root_mut().rename_dimension(name, to)
    }
}
