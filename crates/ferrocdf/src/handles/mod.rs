//! Handles: the parts of an open file by name, for people.
//!
//! A handle is an id and a reference to its file; it asks the file's model anew at each call, so it stays true while
//! the file changes.

mod define;
mod variable;

pub use variable::{NetcdfType, Variable, VariableMut};

use ferrocdf_model::{DimId, GroupId, Owner, Values, VarId};

use crate::File;

/// A dimension of an open file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its id.
    pub id: DimId,
    name: String,
    len: u64,
    unlimited: bool,
}

impl Dimension {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its length when the handle was made.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether its length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it grows.
    pub fn is_unlimited(&self) -> bool {
        self.unlimited
    }
}

impl File {
    /// The variable called `name`: of the root group, or with a path, such as `/model/wind`, of another.
    pub fn variable(&self, name: &str) -> Option<Variable<'_>> {
        Some(Variable::new(self, self.model().find_var_at(name.as_bytes())?))
    }

    /// All variables, in definition order.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.model().var_ids().map(|id| Variable::new(self, id))
    }

    /// The dimension called `name` in the root group.
    pub fn dimension(&self, name: &str) -> Option<Dimension> {
        let id = self.model().find_dim(GroupId::ROOT, name.as_bytes())?;
        Some(self.dimension_of(id))
    }

    /// All dimensions, in definition order.
    pub fn dimensions(&self) -> Vec<Dimension> {
        (0..self.model().dims().len()).map(|at| self.dimension_of(DimId(at as u32))).collect()
    }

    /// The length of a dimension of the root group.
    pub fn dimension_len(&self, name: &str) -> Option<u64> {
        Some(self.dimension(name)?.len)
    }

    /// The value of a global attribute.
    pub fn attribute(&self, name: &str) -> Option<Values> {
        attribute(self, Owner::Group(GroupId::ROOT), name)
    }

    /// Names and values of the global attributes, in definition order.
    pub fn attributes(&self) -> Vec<(String, Values)> {
        attributes(self, Owner::Group(GroupId::ROOT))
    }

    fn dimension_of(&self, id: DimId) -> Dimension {
        let model = self.model();
        let dim = model.dim(id);
        Dimension { id, name: dim.name.to_string(), len: dim.len, unlimited: dim.unlimited }
    }
}

fn attribute(file: &File, owner: Owner, name: &str) -> Option<Values> {
    Some(file.model().find_attr(owner, name.as_bytes())?.value.clone())
}

fn attributes(file: &File, owner: Owner) -> Vec<(String, Values)> {
    file.model().attrs(owner).iter().map(|attr| (attr.name.to_string(), attr.value.clone())).collect()
}

/// A variable by id: for callers that hold ids of the model.
impl File {
    /// The variable with an id of this file's model.
    ///
    /// # Panics
    /// Later calls panic if the id is from another file.
    pub fn variable_of(&self, id: VarId) -> Variable<'_> {
        Variable::new(self, id)
    }
}
