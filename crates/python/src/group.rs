//! Groups, and what is defined in them.

use ferrocdf::{
    Class, Endian, File, FileMut, GroupId, GroupMut, Owner, Quantization, Quantize, Result, Type, Values,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{self, HasAttributes};
use crate::data_types::{data_type, type_of};
use crate::handles::Handle;
use crate::open_file::OpenFile;
use crate::values::of_attribute;
use crate::variable::Variable;

/// A group of an open dataset. Programs use the class `ferrocdf.Group`, which derives from it.
#[pyclass(frozen, subclass, module = "ferrocdf._ferrocdf")]
pub(crate) struct Group(pub(crate) Handle<GroupId>);

impl HasAttributes for GroupId {
    fn owner(self) -> Owner {
        Owner::Group(self)
    }

    fn all(self, file: &File) -> Result<Vec<(String, Values)>> {
        file.group(&path(file, self))?.attributes()
    }

    fn put(self, file: &FileMut, name: &str, values: Values) -> Result<()> {
        writable(file, self)?.put_attribute(name, values)
    }

    fn remove(self, file: &FileMut, name: &str) -> Result<()> {
        writable(file, self)?.remove_attribute(name)
    }

    fn rename(self, file: &FileMut, name: &str, to: &str) -> Result<()> {
        writable(file, self)?.rename_attribute(name, to)
    }
}

fn path(file: &File, id: GroupId) -> String {
    file.look(|model| model.group_path(id))
}

fn writable(file: &FileMut, id: GroupId) -> Result<GroupMut<'_>> {
    file.group_mut(&path(file, id))
}

/// How a new variable is stored.
#[derive(FromPyObject)]
struct Storage<'py> {
    #[pyo3(item)]
    chunks: Option<Vec<u64>>,
    #[pyo3(item)]
    contiguous: bool,
    #[pyo3(item)]
    shards: Option<Vec<u64>>,
    #[pyo3(item)]
    filters: Vec<String>,
    #[pyo3(item)]
    endian: String,
    #[pyo3(item)]
    quantize: Option<(String, u32)>,
    #[pyo3(item)]
    fill_value: Option<Bound<'py, PyAny>>,
    #[pyo3(item)]
    no_fill: bool,
}

#[pymethods]
impl Group {
    /// The root group of an open file, or another object for the same group.
    #[new]
    fn new(of: &Bound<'_, PyAny>) -> PyResult<Group> {
        let py = of.py();
        if let Ok(open) = of.cast::<OpenFile>() {
            return Ok(Group(Handle::root(open.clone().unbind())));
        }
        Ok(Group(of.cast::<Group>()?.get().0.again(py)))
    }

    /// The name, without the path of the group it is in; that of the root group is `/`.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(file.look(|model| model.group(id).name.to_string())))
    }

    /// The path in the dataset: `/model`.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, |file, id| Ok(path(file, id)))
    }

    /// The group that this one is in; None for the root group.
    fn _parent(&self, py: Python<'_>) -> PyResult<Option<Group>> {
        let parent =
            self.0.find(py, |file, id| Ok(file.group(&path(file, id))?.parent().map(|group| group.id())))?;
        Ok(parent.map(Group))
    }

    fn _group_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0.read(py, |file, id| {
            Ok(file.look(|model| {
                model.group(id).groups.iter().map(|&id| model.group(id).name.to_string()).collect()
            }))
        })
    }

    fn _variable_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0.read(py, |file, id| {
            Ok(file.look(|model| {
                model.group(id).vars.iter().map(|&id| model.var(id).name.to_string()).collect()
            }))
        })
    }

    /// The group, or the variable, at a path from this group.
    fn _find_group(&self, py: Python<'_>, path: &str) -> PyResult<Group> {
        let found = self.0.find(py, |file, id| {
            let (from, path) = (self::path(file, id), path.trim_end_matches('/'));
            Ok(file.group(&from)?.group(path).ok().map(|group| group.id()))
        })?;
        found.map(Group).ok_or_else(|| PyKeyError::new_err(path.to_string()))
    }

    fn _find_variable(&self, py: Python<'_>, path: &str) -> PyResult<Variable> {
        let found = self.0.find(py, |file, id| {
            Ok(file.look(|model| {
                let (group, name) = model.split_path(id, path.as_bytes())?;
                model.find_var(group, name)
            }))
        })?;
        found.map(Variable).ok_or_else(|| PyKeyError::new_err(path.to_string()))
    }

    /// The dimensions defined in this group: name, length, and whether it grows.
    fn _dimensions(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, bool)>> {
        self.0.read(py, |file, id| {
            let dims = file.group(&path(file, id))?.dimensions();
            Ok(dims.iter().map(|dim| (dim.name().to_string(), dim.len(), dim.is_unlimited())).collect())
        })
    }

    /// The types defined in this group: name, data type in NumPy, and what kind it is.
    fn _types<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>, &'static str)>> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        let own = self.0.read(py, |file, id| Ok(file.group(&path(file, id))?.types()))?;
        let each = own.iter().map(|(ty, user)| {
            let kind = match user.class {
                Class::Compound { .. } => "compound",
                Class::Vlen(_) => "vlen",
                Class::Opaque(_) => "opaque",
                Class::Enum { .. } => "enum",
            };
            Ok((user.name.to_string(), data_type(py, &model, *ty)?.into_any(), kind))
        });
        each.collect()
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

    fn _create_group(&self, py: Python<'_>, name: &str) -> PyResult<Group> {
        self.0.make(py, |file, id| Ok(writable(file, id)?.add_group(name)?.id())).map(Group)
    }

    #[pyo3(signature = (name, size))]
    fn _create_dimension(&self, py: Python<'_>, name: &str, size: Option<u64>) -> PyResult<()> {
        self.0.write(py, |file, id| {
            let group = writable(file, id)?;
            match size {
                Some(size) => group.add_dimension(name, size).map(drop),
                None => group.add_unlimited_dimension(name).map(drop),
            }
        })
    }

    fn _create_variable(
        &self,
        py: Python<'_>,
        name: &str,
        ty: &Bound<'_, PyAny>,
        dimensions: Vec<String>,
        storage: Storage<'_>,
    ) -> PyResult<Variable> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        let ty = type_of(&model, self.0.id(), ty)?;
        let Storage { chunks, contiguous, shards, filters, endian, quantize, fill_value, no_fill } = storage;
        let fill_value = fill_value.map(|value| of_attribute(&value, &model, Some(ty))).transpose()?;
        let (endian, quantize) = (endian_of(&endian)?, quantize.map(quantize_of).transpose()?);
        let made = self.0.make(py, |file, id| {
            let dims: Vec<&str> = dimensions.iter().map(String::as_str).collect();
            let mut builder = writable(file, id)?.build_variable(name, ty, &dims);
            if let Some(chunks) = &chunks {
                builder = builder.chunks(chunks);
            }
            if contiguous {
                builder = builder.contiguous();
            }
            if let Some(shards) = &shards {
                builder = builder.shards(shards);
            }
            for filter in &filters {
                builder = builder.filter(filter);
            }
            if let Some(endian) = endian {
                builder = builder.endian(endian);
            }
            if let Some(Quantize { way, digits }) = quantize {
                builder = builder.quantize(way, digits);
            }
            if let Some(value) = fill_value {
                builder = builder.fill_value(value);
            }
            if no_fill {
                builder = builder.no_fill();
            }
            Ok(builder.create()?.id())
        })?;
        Ok(Variable(made))
    }

    /// Defines a type: `kind` is "compound" (fields are names, types and shapes), "enum" (names and values of a base type), "vlen" (a type)
    /// or "opaque" (a number of bytes).
    fn _create_compound(
        &self,
        py: Python<'_>,
        name: &str,
        fields: Vec<(String, Bound<'_, PyAny>, Vec<usize>)>,
    ) -> PyResult<()> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        let types = fields.iter().map(|(_, ty, _)| type_of(&model, self.0.id(), ty));
        let types: Vec<Type> = types.collect::<PyResult<_>>()?;
        let fields: Vec<(String, Type, Vec<usize>)> =
            fields.into_iter().zip(types).map(|((name, _, shape), ty)| (name, ty, shape)).collect();
        self.0.write(py, |file, id| {
            let fields: Vec<(&str, Type, &[usize])> =
                fields.iter().map(|(name, ty, shape)| (name.as_str(), *ty, &shape[..])).collect();
            writable(file, id)?.add_compound_type_with_arrays(name, &fields).map(drop)
        })
    }

    fn _create_vlen(&self, py: Python<'_>, name: &str, element: &Bound<'_, PyAny>) -> PyResult<()> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        let element = type_of(&model, self.0.id(), element)?;
        self.0.write(py, |file, id| writable(file, id)?.add_list_type(name, element).map(drop))
    }

    fn _create_opaque(&self, py: Python<'_>, name: &str, size: usize) -> PyResult<()> {
        self.0.write(py, |file, id| writable(file, id)?.add_opaque_type(name, size).map(drop))
    }

    fn _create_enum(
        &self,
        py: Python<'_>,
        name: &str,
        base: &Bound<'_, PyAny>,
        members: Vec<(String, i128)>,
    ) -> PyResult<()> {
        let model = self.0.read(py, |file, _| Ok(file.model()))?;
        let base = match type_of(&model, self.0.id(), base)? {
            Type::Atomic(base) => base,
            Type::User(_) => {
                return Err(PyValueError::new_err("an enumeration is made of a type of integers"));
            }
        };
        self.0.write(py, |file, id| {
            let members: Vec<(&str, i128)> =
                members.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            writable(file, id)?.add_enum_type_of(base, name, &members).map(drop)
        })
    }

    fn _rename(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.0.write(py, |file, id| writable(file, id)?.rename(name))
    }

    fn _grow_dimension(&self, py: Python<'_>, name: &str, size: u64) -> PyResult<()> {
        self.0.write(py, |file, id| writable(file, id)?.grow_dimension(name, size))
    }

    fn _rename_dimension(&self, py: Python<'_>, name: &str, to: &str) -> PyResult<()> {
        self.0.write(py, |file, id| writable(file, id)?.rename_dimension(name, to))
    }

    /// Removes the variable, dimension, type or group at a path of the dataset.
    fn _remove(&self, py: Python<'_>, kind: &str, path: &str) -> PyResult<()> {
        let open = self.0.open().bind(py).get();
        match kind {
            "variable" => open.remove(py, |file| file.remove_variable(path)),
            "dimension" => open.remove(py, |file| file.remove_dimension(path)),
            "type" => open.remove(py, |file| file.remove_type(path)),
            "group" => open.remove(py, |file| file.remove_group(path)),
            _ => Err(PyValueError::new_err(format!("\"{kind}\" is nothing that can be removed"))),
        }
    }

    fn _open_file(&self, py: Python<'_>) -> Py<OpenFile> {
        self.0.open().clone_ref(py)
    }
}

fn endian_of(name: &str) -> PyResult<Option<Endian>> {
    match name {
        "native" => Ok(None),
        "little" => Ok(Some(Endian::Little)),
        "big" => Ok(Some(Endian::Big)),
        _ => Err(PyValueError::new_err(format!(
            "\"{name}\" is no byte order: \"native\", \"little\" and \"big\" are"
        ))),
    }
}

fn quantize_of((name, digits): (String, u32)) -> PyResult<Quantize> {
    let way = match name.as_str() {
        "BitGroom" => Quantization::BitGroom,
        "GranularBitRound" => Quantization::GranularBitRound,
        "BitRound" => Quantization::BitRound,
        _ => {
            let what =
                format!("\"{name}\" is no way to quantize: BitGroom, GranularBitRound and BitRound are");
            return Err(PyValueError::new_err(what));
        }
    };
    Ok(Quantize { way, digits })
}
