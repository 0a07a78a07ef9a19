//! Attributes of groups and variables.

use ferrocdf::{File, FileMut, Owner, Result, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::handles::Handle;
use crate::values::{of_attribute, to_attribute};

/// What has attributes: a group or a variable.
pub(crate) trait HasAttributes: Copy + Send + Sync {
    /// Returns it as the owner of attributes.
    fn owner(self) -> Owner;

    /// Returns the attributes, with their names in definition order.
    fn all(self, file: &File) -> Result<Vec<(String, Values)>>;

    /// Sets an attribute.
    fn put(self, file: &FileMut, name: &str, values: Values) -> Result<()>;

    /// Removes an attribute.
    fn remove(self, file: &FileMut, name: &str) -> Result<()>;

    /// Gives an attribute another name.
    fn rename(self, file: &FileMut, name: &str, to: &str) -> Result<()>;
}

/// Returns the names of the attributes of an object, in definition order.
pub(crate) fn names<O: HasAttributes>(py: Python<'_>, of: &Handle<O>) -> PyResult<Vec<String>> {
    of.read(py, |file, id| {
        let failure = file.look(|model| model.attrs(id.owner()).failure().cloned());
        failure.map_or(Ok(()), Err)?;
        Ok(file.look(|model| model.attrs(id.owner()).iter().map(|attr| attr.name.to_string()).collect()))
    })
}

/// Returns the value of an attribute.
pub(crate) fn get<'py, O: HasAttributes>(
    py: Python<'py>,
    of: &Handle<O>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (model, found) = of.read(py, |file, id| {
        let model = file.model();
        let failure = model.attrs(id.owner()).failure().cloned();
        let found = model.find_attr(id.owner(), name.as_bytes()).map(|attr| attr.value.clone());
        match (found, failure) {
            (None, Some(failure)) => Err(failure),
            (found, _) => Ok((model, found)),
        }
    })?;
    match found {
        Some(values) => to_attribute(py, &model, &values),
        None => Err(PyKeyError::new_err(name.to_string())),
    }
}

/// Returns names and values of all attributes, in definition order.
pub(crate) fn all<'py, O: HasAttributes>(py: Python<'py>, of: &Handle<O>) -> PyResult<Bound<'py, PyDict>> {
    let (model, found) = of.read(py, |file, id| Ok((file.model(), id.all(file)?)))?;
    let made = PyDict::new(py);
    for (name, values) in &found {
        made.set_item(name, to_attribute(py, &model, values)?)?;
    }
    Ok(made)
}

/// Sets an attribute. The fill value of a variable gets the type of the variable.
pub(crate) fn put<O: HasAttributes>(
    py: Python<'_>,
    of: &Handle<O>,
    name: &str,
    value: &Bound<'_, PyAny>,
    meant: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let model = of.read(py, |file, _| Ok(file.model()))?;
    let owner = of.id().owner();
    let ty = match (owner, meant) {
        (Owner::Var(var), None) if name == "_FillValue" => Some(model.var(var).ty),
        (_, None) => None,
        (Owner::Var(var), Some(meant)) => {
            Some(crate::data_types::type_of(&model, model.var(var).group, meant)?)
        }
        (Owner::Group(group), Some(meant)) => Some(crate::data_types::type_of(&model, group, meant)?),
    };
    let values = of_attribute(value, &model, ty)?;
    of.write(py, |file, id| id.put(file, name, values))
}

/// Removes an attribute.
pub(crate) fn remove<O: HasAttributes>(py: Python<'_>, of: &Handle<O>, name: &str) -> PyResult<()> {
    if !names(py, of)?.iter().any(|known| known == name) {
        return Err(PyKeyError::new_err(name.to_string()));
    }
    of.write(py, |file, id| id.remove(file, name))
}

/// Gives an attribute another name. Its place among the attributes and its type stay.
pub(crate) fn rename<O: HasAttributes>(py: Python<'_>, of: &Handle<O>, name: &str, to: &str) -> PyResult<()> {
    if !names(py, of)?.iter().any(|known| known == name) {
        return Err(PyKeyError::new_err(name.to_string()));
    }
    of.write(py, |file, id| id.rename(file, name, to))
}
