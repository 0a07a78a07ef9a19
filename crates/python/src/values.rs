//! Values of the model as objects of Python, and back.

use ferrocdf::model::TypeId;
use ferrocdf::nested::{self, NestedReader, NestedWriter};
use ferrocdf::{Atomic, Class, Code, Error, Model, Result, Type, Value, Values};
use numpy::{PyArray1, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::data_types::{atomic_of, data_type, to_convert_to};
use crate::errors::exception;
use crate::memory::{as_array, bytes, bytes_mut, contiguous, empty, numpy_function};

/// Makes an array of values, in their order.
pub(crate) fn to_array<'py>(
    py: Python<'py>,
    model: &Model,
    values: &Values,
    shape: &[usize],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let ty = values.ty();
    let array = empty(py, shape, &data_type(py, model, ty)?)?;
    if model.is_flat(ty) {
        // SAFETY: the array is new, and its data type holds no objects.
        let memory = unsafe { bytes_mut(&array) };
        let done = py.detach(|| nested::lay_out(model, values, memory, &mut NoReferences));
        return done.map(|()| array).map_err(exception);
    }
    let objects = match values {
        Values::String(strings) => strings.iter().map(|text| text_or_none(py, text.as_deref())).collect(),
        Values::User(id, values) => {
            values.iter().map(|value| user_to_object(py, model, *id, value)).collect::<PyResult<Vec<_>>>()?
        }
        _ => return Err(PyTypeError::new_err("numbers are flat")),
    };
    // One by one: NumPy would take a list of lists for an array of more dimensions.
    let flat = array.call_method1("reshape", (-1,))?;
    for (at, object) in objects.into_iter().enumerate() {
        flat.set_item(at, object)?;
    }
    Ok(array)
}

/// Returns the value of an attribute: text as `str`, without the zeros that programs in C leave at its end; one number or string alone,
/// several as an array or a list.
pub(crate) fn to_attribute<'py>(
    py: Python<'py>,
    model: &Model,
    values: &Values,
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Values::Char(text) => Ok(to_text(py, without_zeros(text)).into_any()),
        Values::String(strings) => match &strings[..] {
            [text] => Ok(text_or_none(py, text.as_deref())),
            strings => {
                Ok(PyList::new(py, strings.iter().map(|text| text_or_none(py, text.as_deref())))?.into_any())
            }
        },
        _ => {
            let array = to_array(py, model, values, &[values.len()])?;
            if values.len() == 1 { array.get_item(0) } else { Ok(array.into_any()) }
        }
    }
}

/// Returns text without zeros at its end.
fn without_zeros(text: &[u8]) -> &[u8] {
    let len = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &text[..len]
}

/// Returns bytes of text as `str`. Bytes that are no UTF-8 become surrogates, as in names of files, so that they can be written back.
pub(crate) fn to_text<'py>(py: Python<'py>, text: &[u8]) -> Bound<'py, PyString> {
    match std::str::from_utf8(text) {
        Ok(text) => PyString::new(py, text),
        Err(_) => {
            let decoded = PyBytes::new(py, text).call_method1("decode", ("utf-8", "surrogateescape"));
            decoded
                .and_then(|text| Ok(text.cast_into::<PyString>()?))
                .unwrap_or_else(|_| PyString::new(py, &String::from_utf8_lossy(text)))
        }
    }
}

fn text_or_none<'py>(py: Python<'py>, text: Option<&[u8]>) -> Bound<'py, PyAny> {
    text.map_or_else(|| py.None().into_bound(py), |text| to_text(py, text).into_any())
}

/// Returns one value of a user-defined type, one that is not flat or a part of one.
fn user_to_object<'py>(
    py: Python<'py>,
    model: &Model,
    id: TypeId,
    value: &Value,
) -> PyResult<Bound<'py, PyAny>> {
    match (&model.user_type(id).class, value) {
        (Class::Compound { fields, .. }, Value::Compound(values)) => {
            let each = fields
                .iter()
                .zip(values)
                .map(|(field, value)| field_to_object(py, model, field.ty, &field.shape, value));
            Ok(PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        (Class::Vlen(element), Value::Vlen(elements)) => list_to_object(py, model, *element, elements),
        _ => {
            let array = to_array(py, model, &Values::User(id, vec![value.clone()]), &[1])?;
            array.get_item(0)
        }
    }
}

fn field_to_object<'py>(
    py: Python<'py>,
    model: &Model,
    ty: Type,
    shape: &[usize],
    value: &Value,
) -> PyResult<Bound<'py, PyAny>> {
    let values = match (value, ty) {
        (Value::Atomic(Values::Char(text)), _) if shape.len() < 2 => {
            return Ok(PyBytes::new(py, text).into_any());
        }
        (Value::Atomic(values), _) => values.clone(),
        (Value::Array(values), Type::User(id)) => Values::User(id, values.clone()),
        (_, Type::User(id)) => return user_to_object(py, model, id, value),
        (_, Type::Atomic(_)) => return Err(PyTypeError::new_err("a field has a value of another type")),
    };
    let array = to_array(py, model, &values, &[values.len()])?;
    if shape.is_empty() { array.get_item(0) } else { array.call_method1("reshape", (shape.to_vec(),)) }
}

fn list_to_object<'py>(
    py: Python<'py>,
    model: &Model,
    element: Type,
    elements: &[Value],
) -> PyResult<Bound<'py, PyAny>> {
    let values = match (element, elements) {
        (Type::Atomic(_), [Value::Atomic(values)]) => values.clone(),
        (Type::Atomic(atomic), _) => Values::empty(atomic),
        (Type::User(id), elements) => Values::User(id, elements.to_vec()),
    };
    Ok(to_array(py, model, &values, &[values.len()])?.into_any())
}

/// Returns the values that an object stands for: of a type, or of the type that fits it.
pub(crate) fn of_attribute(object: &Bound<'_, PyAny>, model: &Model, ty: Option<Type>) -> PyResult<Values> {
    if let Some(ty) = ty {
        return if ty == Type::Atomic(Atomic::Char) {
            text_of(object)
        } else {
            of_objects(object, model, ty)
        };
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return text_of(object);
    }
    let array = as_array(object)?;
    let mut atomic = match (array.dtype().kind(), atomic_of(&array.dtype())) {
        (b'S', _) if array.ndim() == 0 => return text_of(&array.call_method0("item")?),
        (b'S', _) => Atomic::String,
        (b'O', _) if holds_text(&array)? => Atomic::String,
        (_, Some(atomic)) => atomic,
        _ => {
            let what = format!("a value of the data type {} has no type in netCDF", array.dtype());
            return Err(PyTypeError::new_err(what));
        }
    };
    // Integers of Python have no width.
    let is_python_integer =
        object.is_instance_of::<pyo3::types::PyInt>() || object.is_instance_of::<PyList>();
    if atomic == Atomic::Int64 && !model.format().holds(atomic) && is_python_integer {
        atomic = Atomic::Int;
    }
    of_objects(array.as_any(), model, atomic.into())
}

fn holds_text(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let list: Vec<Bound<'_, PyAny>> = array.call_method0("ravel")?.call_method0("tolist")?.extract()?;
    Ok(!list.is_empty()
        && list.iter().all(|item| {
            item.is_none() || item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>()
        }))
}

fn text_of(object: &Bound<'_, PyAny>) -> PyResult<Values> {
    bytes_of_text(object).map(Values::Char)
}

/// Returns the bytes of `str` and `bytes`.
fn bytes_of_text(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(text) = object.cast::<PyString>() {
        let encoded = text.call_method1("encode", ("utf-8", "surrogateescape"))?;
        return Ok(encoded.cast::<PyBytes>()?.as_bytes().to_vec());
    }
    Err(PyTypeError::new_err(format!("text is str or bytes, not {}", object.get_type())))
}

/// Returns the values of a type that an array, a list or one object stands for, last dimension fastest.
pub(crate) fn of_objects(object: &Bound<'_, PyAny>, model: &Model, ty: Type) -> PyResult<Values> {
    let py = object.py();
    if model.is_flat(ty) {
        let wanted = data_type(py, model, ty)?;
        let array = as_array(object)?;
        let array = checked_cast(&array, &wanted)?;
        // SAFETY: the array is contiguous, and a flat data type holds no objects.
        let memory = unsafe { bytes(&array) };
        return nested::gather(model, ty, memory, &NoReferences).map_err(exception);
    }
    let objects = list_of(object)?;
    match ty {
        Type::Atomic(_) => {
            let strings = objects
                .iter()
                .map(|text| if text.is_none() { Ok(None) } else { bytes_of_text(text).map(Some) });
            strings.collect::<PyResult<_>>().map(Values::String)
        }
        Type::User(id) => {
            let values = objects.iter().map(|object| user_of_object(object, model, id));
            Ok(Values::User(id, values.collect::<PyResult<_>>()?))
        }
    }
}

/// Returns an array with elements of a data type. Numbers that it cannot hold are an error.
fn checked_cast<'py>(
    array: &Bound<'py, PyUntypedArray>,
    wanted: &Bound<'py, numpy::PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if array.dtype().is(wanted) || array.dtype().eq(wanted)? {
        return contiguous(array, None);
    }
    if matches!(array.dtype().kind(), b'M' | b'm' | b'c') {
        let what = format!(
            "values of the data type {} have no type in netCDF; convert them to numbers",
            array.dtype()
        );
        return Err(PyTypeError::new_err(what));
    }
    let cast = contiguous(array, Some(wanted))?;
    let are_integers = |kind: u8| matches!(kind, b'i' | b'u' | b'b');
    if are_integers(wanted.kind())
        && !numpy_function!(array.py(), "array_equal")?.call1((array, &cast))?.extract()?
    {
        return Err(PyValueError::new_err(format!("a value does not fit the type {wanted}")));
    }
    Ok(cast)
}

/// Returns the elements of an array or a list, one alone for another object.
fn list_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return array.call_method0("ravel")?.call_method0("tolist")?.extract();
    }
    if object.is_instance_of::<PyList>() {
        return object.extract();
    }
    Ok(vec![object.clone()])
}

/// Returns texts as their letters, `len` for each, filled up with zeros.
pub(crate) fn letters(texts: &Bound<'_, PyAny>, len: usize) -> PyResult<Values> {
    let array = fixed_texts(texts, len)?;
    let text = array.call_method0("tobytes")?;
    Ok(Values::Char(text.cast::<PyBytes>()?.as_bytes().to_vec()))
}

/// Returns texts as an array of texts of `len` bytes. Longer ones are an error.
pub(crate) fn fixed_texts<'py>(
    texts: &Bound<'py, PyAny>,
    len: usize,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = texts.py();
    let mut array = as_array(texts)?;
    if array.dtype().kind() == b'O' {
        array = array.call_method1("astype", ("U",))?.cast_into()?;
    }
    if matches!(array.dtype().kind(), b'U' | b'T') {
        let encode = numpy_function!(py, "char")?.getattr("encode")?;
        array = as_array(&encode.call1((array, "utf-8"))?)?;
    }
    if array.dtype().kind() != b'S' || array.dtype().itemsize() > len {
        let what = format!("a text of {} bytes does not fit in {len}", array.dtype().itemsize());
        return Err(PyValueError::new_err(what));
    }
    Ok(array.call_method1("astype", (format!("S{len}"),))?.cast_into()?)
}

fn user_of_object(object: &Bound<'_, PyAny>, model: &Model, id: TypeId) -> PyResult<Value> {
    match &model.user_type(id).class {
        Class::Compound { fields, .. } => {
            let given: Vec<Bound<'_, PyAny>> = match object.cast::<PyTuple>() {
                Ok(tuple) => tuple.iter().collect(),
                Err(_) => object.call_method0("item")?.extract()?,
            };
            if given.len() != fields.len() {
                let what = format!("{} values for the {} fields of a compound", given.len(), fields.len());
                return Err(PyValueError::new_err(what));
            }
            let values = fields.iter().zip(given).map(|(field, given)| {
                let wanted = nested::elements_of(field);
                let values = match field.ty {
                    Type::Atomic(Atomic::Char) => letters(&given, field.shape.last().copied().unwrap_or(1))?,
                    ty => of_objects(&given, model, ty)?,
                };
                if values.len() != wanted {
                    let what =
                        format!("{} values for the field \"{}\" of {wanted}", values.len(), field.name);
                    return Err(PyValueError::new_err(what));
                }
                Ok(match values {
                    Values::User(_, mut values) if field.shape.is_empty() => values.swap_remove(0),
                    Values::User(_, values) => Value::Array(values),
                    values => Value::Atomic(values),
                })
            });
            values.collect::<PyResult<_>>().map(Value::Compound)
        }
        Class::Vlen(element) => {
            let values = of_objects(object, model, *element)?;
            Ok(Value::Vlen(match values {
                Values::User(_, values) => values,
                values => vec![Value::Atomic(values)],
            }))
        }
        Class::Opaque(_) | Class::Enum { .. } => match of_objects(object, model, Type::User(id))? {
            Values::User(_, mut values) if values.len() == 1 => Ok(values.swap_remove(0)),
            other => Err(PyValueError::new_err(format!("{} values where one is wanted", other.len()))),
        },
    }
}

/// Returns an array whose elements can be taken as they are: numbers of netCDF in this machine's byte order.
pub(crate) fn as_numbers<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    match to_convert_to(&array.dtype())? {
        Some(wanted) => contiguous(array, Some(&wanted)),
        None => Ok(array.clone()),
    }
}

/// Values without strings and lists have no references.
struct NoReferences;

fn unexpected() -> Error {
    Error::new(Code::EBADTYPE, "a type without strings and lists has references")
}

impl<'m> NestedWriter<'m> for NoReferences {
    fn put_string(&mut self, _: &mut [u8], _: &[u8]) -> Result<()> {
        Err(unexpected())
    }

    fn put_list(&mut self, _: &mut [u8], _: usize, _: usize) -> Result<&'m mut [u8]> {
        Err(unexpected())
    }
}

impl NestedReader for NoReferences {
    fn string(&self, _: &[u8]) -> Result<Option<&[u8]>> {
        Err(unexpected())
    }

    fn list(&self, _: &[u8], _: usize) -> Result<&[u8]> {
        Err(unexpected())
    }
}

/// Returns a list of numbers as an array.
pub(crate) fn positions<'py>(py: Python<'py>, list: &[u64]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, list.iter().map(|&at| at as i64))
}
