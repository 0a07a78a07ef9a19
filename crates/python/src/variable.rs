//! Variables.

use ferrocdf::{File, FileMut, Owner, Result, Type, Values, VarId};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{self, HasAttributes};
use crate::data_types::data_type;
use crate::handles::Handle;
use crate::open_file::OpenFile;
use crate::values::to_attribute;
use crate::{read, write};

/// A variable of an open dataset. Programs use the class `ferrocdf.Variable`, which derives from it.
#[pyclass(frozen, subclass, module = "ferrocdf._ferrocdf")]
pub(crate) struct Variable(pub(crate) Handle<VarId>);

impl HasAttributes for VarId {
    fn owner(self) -> Owner {
        Owner::Var(self)
    }

    fn all(self, file: &File) -> Result<Vec<(String, Values)>> {
        file.variable_of(self).attributes()
    }

    fn put(self, file: &FileMut, name: &str, values: Values) -> Result<()> {
        file.variable_mut(&path(file, self))?.put_attribute(name, values)
    }

    fn remove(self, file: &FileMut, name: &str) -> Result<()> {
        file.variable_mut(&path(file, self))?.remove_attribute(name)
    }

    fn rename(self, file: &FileMut, name: &str, to: &str) -> Result<()> {
        file.variable_mut(&path(file, self))?.rename_attribute(name, to)
    }
}

fn path(file: &File, id: VarId) -> String {
    file.look(|model| model.var_path(id))
}

#[pymethods]
impl Variable {
    /// Another object for the same variable.
    #[new]
    fn new(py: Python<'_>, of: &Bound<'_, Variable>) -> Variable {
        Variable(of.get().0.again(py))
    }

    /// The name, without the path of its group.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(file.variable_of(id).name()))
    }

    /// The path in the dataset: `/model/wind`.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(path(file, id)))
    }

    /// The path of the group it is in.
    fn _group_path(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(file.look(|model| model.group_path(model.var(id).group))))
    }

    /// The names of the dimensions, slowest first.
    #[getter]
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0.read(py, |file, id| {
            Ok(file.look(|model| {
                model.var(id).dims.iter().map(|&dim| model.dim(dim).name.to_string()).collect()
            }))
        })
    }

    /// The lengths of the dimensions, slowest first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let shape = self.0.read(py, |file, id| Ok(file.look(|model| model.shape(id))))?;
        pyo3::types::PyTuple::new(py, shape)
    }

    /// The data type of the elements in NumPy.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        Ok(data_type(py, &model, model.var(self.0.id()).ty)?.into_any())
    }

    /// The name of the type in netCDF: `float`, `string`, or that of a type of the dataset.
    #[getter]
    fn type_name(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(file.look(|model| model.type_name(model.var(id).ty))))
    }

    /// The elements that an index expression asks for, as a new array.
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read::read(key.py(), &self.0, key, None)
    }

    /// Reads into an array.
    fn _read_into<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        out: Bound<'py, PyUntypedArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read::read(key.py(), &self.0, key, Some(out))
    }

    /// Writes values to the elements that an index expression names.
    fn __setitem__(&self, key: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        write::write(key.py(), &self.0, key, values)
    }

    fn _attribute_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        attributes::names(py, &self.0)
    }

    fn _attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        attributes::get(py, &self.0, name)
    }

    fn _attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::all(py, &self.0)
    }

    #[pyo3(signature = (name, value, ty = None))]
    fn _put_attribute(
        &self,
        name: &str,
        value: &Bound<'_, PyAny>,
        ty: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        attributes::put(value.py(), &self.0, name, value, ty)
    }

    fn _remove_attribute(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        attributes::remove(py, &self.0, name)
    }

    fn _rename_attribute(&self, py: Python<'_>, name: &str, to: &str) -> PyResult<()> {
        attributes::rename(py, &self.0, name, to)
    }

    /// The shape of the chunks; None for a variable that is stored as one run of bytes.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, pyo3::types::PyTuple>>> {
        let shape = self.0.read(py, |file, id| Ok(file.variable_of(id).chunk_shape()))?;
        shape.map(|shape| pyo3::types::PyTuple::new(py, shape)).transpose()
    }

    /// The shape of the shards of a Zarr 3 array; None without.
    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, pyo3::types::PyTuple>>> {
        let shape = self.0.read(py, |file, id| Ok(file.variable_of(id).shard_shape()))?;
        shape.map(|shape| pyo3::types::PyTuple::new(py, shape)).transpose()
    }

    /// The filters in the order in which they encode, as `nccopy -F` takes them: `["shuffle", "deflate,4"]`.
    #[getter]
    fn filters(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0
            .read(py, |file, id| Ok(file.variable_of(id).filters().iter().map(ToString::to_string).collect()))
    }

    /// The value of elements that were never written; None if they have none.
    #[getter]
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (model, fill) = self.0.read(py, |file, id| Ok((file.model(), file.fill_value(id)?)))?;
        let as_bytes = |values: &Values| match values {
            Values::Char(text) => Ok(pyo3::types::PyBytes::new(py, text).into_any()),
            values => to_attribute(py, &model, values),
        };
        fill.as_ref().map(as_bytes).transpose()
    }

    /// False if elements that were never written are undefined.
    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.read(py, |file, id| Ok(file.look(|model| !model.var(id).storage.no_fill)))
    }

    /// The byte order of stored numbers, "little" or "big"; "native" where it is left to the format.
    #[getter]
    fn endian(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.0.read(py, |file, id| {
            Ok(match file.variable_of(id).endian() {
                Some(ferrocdf::Endian::Little) => "little",
                Some(ferrocdf::Endian::Big) => "big",
                None => "native",
            })
        })
    }

    /// True if the elements are numbers in memory, with which NumPy can calculate.
    fn _is_number(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.read(py, |file, id| {
            Ok(file.look(|model| {
                let ty = model.var(id).ty;
                read::kind_in_memory(model, ty).is_some() && ty != Type::Atomic(ferrocdf::Atomic::Char)
            }))
        })
    }

    /// Gives the variable another name.
    fn rename(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.0.write(py, |file, id| file.variable_mut(&path(file, id))?.rename(name))
    }

    fn _open_file(&self, py: Python<'_>) -> Py<OpenFile> {
        self.0.open().clone_ref(py)
    }
}
