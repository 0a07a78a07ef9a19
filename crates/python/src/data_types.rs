//! Types of netCDF and data types of NumPy.
//!
//! | netCDF | NumPy |
//! |---|---|
//! | numbers | the same number |
//! | `char` | `S1` |
//! | `string` | `O`, with the metadata `{"vlen": str}` |
//! | enumeration | its integer type, with the metadata `{"enum": {name: value}}` |
//! | list (`vlen`) | `O`, with the metadata `{"vlen": type of the elements}` |
//! | opaque | `V` and the number of bytes |
//! | compound | a structured type of the same fields |
//!
//! The metadata is that of h5py.

use ferrocdf::model::{Field, TypeId};
use ferrocdf::{Atomic, Class, GroupId, Model, Type};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};

/// The data types of numbers and `char`, in the order of [`ATOMIC`].
const ATOMIC: [(Atomic, &str); 11] = [
    (Atomic::Byte, "i1"),
    (Atomic::Char, "S1"),
    (Atomic::Short, "i2"),
    (Atomic::Int, "i4"),
    (Atomic::Float, "f4"),
    (Atomic::Double, "f8"),
    (Atomic::Ubyte, "u1"),
    (Atomic::Ushort, "u2"),
    (Atomic::Uint, "u4"),
    (Atomic::Int64, "i8"),
    (Atomic::Uint64, "u8"),
];

/// Returns the data type of the elements of a type in memory.
pub(crate) fn data_type<'py>(py: Python<'py>, model: &Model, ty: Type) -> PyResult<Bound<'py, PyArrayDescr>> {
    match ty {
        Type::Atomic(Atomic::String) => with_metadata(py, "O", "vlen", py.get_type::<PyString>().as_any()),
        Type::Atomic(atomic) => atomic_data_type(py, atomic),
        Type::User(id) => user_data_type(py, model, id),
    }
}

fn atomic_data_type(py: Python<'_>, atomic: Atomic) -> PyResult<Bound<'_, PyArrayDescr>> {
    static MADE: [PyOnceLock<Py<PyArrayDescr>>; ATOMIC.len()] = [const { PyOnceLock::new() }; ATOMIC.len()];
    let at = ATOMIC.iter().position(|&(known, _)| known == atomic);
    let at = at.ok_or_else(|| PyTypeError::new_err("strings have no size of their own"))?;
    let made = MADE[at].get_or_try_init(py, || PyArrayDescr::new(py, ATOMIC[at].1).map(Bound::unbind))?;
    Ok(made.bind(py).clone())
}

fn user_data_type<'py>(py: Python<'py>, model: &Model, id: TypeId) -> PyResult<Bound<'py, PyArrayDescr>> {
    match &model.user_type(id).class {
        Class::Opaque(size) => PyArrayDescr::new(py, format!("V{size}")),
        Class::Vlen(element) => with_metadata(py, "O", "vlen", data_type(py, model, *element)?.as_any()),
        Class::Enum { base, members } => {
            let names = PyDict::new(py);
            for (name, value) in members {
                names.set_item(name.to_str(), *value)?;
            }
            with_metadata(py, atomic_data_type(py, *base)?, "enum", names.as_any())
        }
        Class::Compound { size, fields } => {
            let names: Vec<_> = fields.iter().map(|field| field.name.to_str()).collect();
            let formats = fields.iter().map(|field| field_data_type(py, model, field));
            let structure = PyDict::new(py);
            structure.set_item("names", names)?;
            structure.set_item("formats", formats.collect::<PyResult<Vec<_>>>()?)?;
            // Compounds with references are built field by field, never from the bytes of a C structure.
            if model.is_flat(Type::User(id)) {
                let offsets: Vec<_> = fields.iter().map(|field| field.offset).collect();
                structure.set_item("offsets", offsets)?;
                structure.set_item("itemsize", *size)?;
            }
            PyArrayDescr::new(py, structure)
        }
    }
}

/// Returns the data type of a field. The last dimension of an array of `char` is a text of so many bytes, as netCDF4-python shows it.
fn field_data_type<'py>(py: Python<'py>, model: &Model, field: &Field) -> PyResult<Bound<'py, PyAny>> {
    let (element, shape) = match (field.ty, &field.shape[..]) {
        (Type::Atomic(Atomic::Char), [outer @ .., letters]) => {
            (PyArrayDescr::new(py, format!("S{}", letters * field.chars))?, outer)
        }
        (Type::Atomic(Atomic::Char), []) => (PyArrayDescr::new(py, format!("S{}", field.chars))?, &[][..]),
        (ty, shape) => (data_type(py, model, ty)?, shape),
    };
    if shape.is_empty() {
        return Ok(element.into_any());
    }
    Ok((element, shape.to_vec()).into_pyobject(py)?.into_any())
}

/// Returns a data type with a word of metadata.
fn with_metadata<'py>(
    py: Python<'py>,
    base: impl IntoPyObject<'py>,
    word: &str,
    what: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArrayDescr>> {
    let (metadata, keywords) = (PyDict::new(py), PyDict::new(py));
    metadata.set_item(word, what)?;
    keywords.set_item("metadata", metadata)?;
    let numpy = py.import("numpy")?;
    Ok(numpy.getattr("dtype")?.call((base,), Some(&keywords))?.cast_into()?)
}

/// Returns the type of numbers and text with a data type of NumPy; `None` for objects, structures and the like. Numbers that netCDF does
/// not have become the next larger ones: `bool` a byte, half precision single precision.
pub(crate) fn atomic_of(of: &Bound<'_, PyArrayDescr>) -> Option<Atomic> {
    Some(match (of.kind(), of.itemsize()) {
        (b'i', 1) | (b'b', 1) => Atomic::Byte,
        (b'i', 2) => Atomic::Short,
        (b'i', 4) => Atomic::Int,
        (b'i', 8) => Atomic::Int64,
        (b'u', 1) => Atomic::Ubyte,
        (b'u', 2) => Atomic::Ushort,
        (b'u', 4) => Atomic::Uint,
        (b'u', 8) => Atomic::Uint64,
        (b'f', 2 | 4) => Atomic::Float,
        (b'f', 8) => Atomic::Double,
        (b'S', 1) => Atomic::Char,
        (b'U' | b'T', _) => Atomic::String,
        _ => return None,
    })
}

/// Returns the data type that memory must have for a number to be taken as it is: of this machine's byte order, and of a type that netCDF
/// has. `None` if it has it already.
pub(crate) fn to_convert_to<'py>(
    of: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
    let py = of.py();
    let is_foreign = matches!((of.kind(), of.itemsize()), (b'b', 1) | (b'f', 2));
    if !is_foreign && of.is_native_byteorder() != Some(false) {
        return Ok(None);
    }
    atomic_of(of).map(|atomic| atomic_data_type(py, atomic)).transpose()
}

/// Returns the type that a program means by a name of netCDF (`int`, `string`), the name of a type of the dataset, a type of Python, or a
/// data type of NumPy.
pub(crate) fn type_of(model: &Model, group: GroupId, meant: &Bound<'_, PyAny>) -> PyResult<Type> {
    let py = meant.py();
    if let Ok(name) = meant.extract::<String>() {
        let atomic = (1..=12).filter_map(Atomic::from_nc_type).find(|atomic| atomic.cdl_name() == name);
        if let Some(atomic) = atomic {
            return Ok(atomic.into());
        }
        let scopes = model.and_parents(group);
        if let Some(id) = scopes.filter_map(|scope| model.type_in(scope, name.as_bytes())).next() {
            return Ok(Type::User(id));
        }
    }
    if meant.is(py.get_type::<PyString>()) {
        return Ok(Atomic::String.into());
    }
    let unknown = |_| {
        let what =
            format!("{} is no type of this dataset, and NumPy has no data type of this name", shown(meant));
        PyTypeError::new_err(what)
    };
    let of = PyArrayDescr::new(py, meant).map_err(unknown)?;
    if let Some(id) = user_type_like(model, &of)? {
        return Ok(Type::User(id));
    }
    let is_text = || {
        of.getattr("metadata")?
            .get_item("vlen")?
            .is(py.get_type::<PyString>())
            .then_some(())
            .ok_or_else(|| PyTypeError::new_err(""))
    };
    match atomic_of(&of) {
        Some(atomic) => Ok(atomic.into()),
        None if of.kind() == b'O' && is_text().is_ok() => Ok(Atomic::String.into()),
        None => {
            let what = format!(
                "no type of this dataset is like {of}; make one with create_type, or use str for text"
            );
            Err(PyTypeError::new_err(what))
        }
    }
}

/// Returns the user-defined type whose data type equals another one, metadata included.
fn user_type_like(model: &Model, of: &Bound<'_, PyArrayDescr>) -> PyResult<Option<TypeId>> {
    let py = of.py();
    let has_metadata = !of.getattr("metadata")?.is_none();
    if !has_metadata && of.kind() != b'V' {
        return Ok(None);
    }
    for id in (0..model.types().len()).map(|at| TypeId(at as u32)) {
        let known = user_data_type(py, model, id)?;
        if known.eq(of)? && known.getattr("metadata")?.eq(of.getattr("metadata")?)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn shown(what: &Bound<'_, PyAny>) -> String {
    match what.cast::<PyType>() {
        Ok(class) => class.to_string(),
        Err(_) => what.repr().map_or_else(|_| "this".to_string(), |text| text.to_string()),
    }
}
