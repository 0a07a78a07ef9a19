//! The memory of NumPy arrays as bytes.

use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns a function of NumPy, looked up once.
macro_rules! numpy_function {
    ($py:expr, $name:literal) => {{
        static FOUND: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
        FOUND
            .get_or_try_init($py, || $py.import("numpy")?.getattr($name).map(Bound::unbind))
            .map(|found| found.bind($py))
    }};
}
pub(crate) use numpy_function;

/// Makes a new array. Its elements are undefined, those of objects `None`.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    of: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let shape = pyo3::types::PyTuple::new(py, shape)?;
    Ok(numpy_function!(py, "empty")?.call1((shape, of))?.cast_into()?)
}

/// Returns an object as an array without a copy where it is one.
pub(crate) fn as_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    Ok(numpy_function!(object.py(), "asarray")?.call1((object,))?.cast_into()?)
}

/// Returns the array with its elements in memory one after the other, last dimension fastest, of a data type; a copy where it must be.
pub(crate) fn contiguous<'py>(
    array: &Bound<'py, PyUntypedArray>,
    of: Option<&Bound<'py, PyArrayDescr>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if of.is_none() && array.is_c_contiguous() {
        return Ok(array.clone());
    }
    let py = array.py();
    // Not `ascontiguousarray`, which adds a dimension where there is none.
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", of)?;
    keywords.set_item("order", "C")?;
    Ok(numpy_function!(py, "asarray")?.call((array,), Some(&keywords))?.cast_into()?)
}

/// Checks that an array can be written to, and has its elements in memory one after the other.
pub(crate) fn check_writable(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    // SAFETY: the pointer is that of a living array, of which one field is read.
    let flags = unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags };
    if flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyValueError::new_err("the array for the values is read-only"));
    }
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err(
            "the array for the values is not contiguous in C order; read into a new one",
        ));
    }
    Ok(())
}

/// Returns the bytes of an array to write to.
///
/// # Safety
/// The array is contiguous in C order and holds no objects, and nobody else looks at its elements while the bytes are borrowed: it was made
/// just now, or the caller said that it may be filled, as with every `out` of NumPy.
// The reference is to the object of Python, whose elements lie elsewhere and are lent by NumPy.
#[allow(clippy::mut_from_ref)]
pub(crate) unsafe fn bytes_mut<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a mut [u8] {
    let len = array.len() * array.dtype().itemsize();
    if len == 0 {
        return &mut [];
    }
    // SAFETY: the elements of a contiguous array are `len` bytes from its data pointer on, and live as long as it does.
    unsafe {
        std::slice::from_raw_parts_mut((*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast(), len)
    }
}

/// Returns the bytes of an array to read from.
///
/// # Safety
/// The array is contiguous in C order and holds no objects. That nobody changes its elements meanwhile is the duty of the Python program, as
/// with every function of NumPy that releases the interpreter.
pub(crate) unsafe fn bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a [u8] {
    // SAFETY: as this function says; an empty array need not have memory.
    unsafe { reachable_bytes(array, array.len()) }
}

/// Returns the bytes of the first `elements` elements from the data pointer of an array on.
///
/// # Safety
/// As for [`bytes`], but that the array need not be contiguous: so many elements lie there in one piece of memory.
pub(crate) unsafe fn reachable_bytes<'a>(array: &'a Bound<'_, PyUntypedArray>, elements: usize) -> &'a [u8] {
    if elements == 0 {
        return &[];
    }
    // SAFETY: as this function says.
    unsafe {
        std::slice::from_raw_parts(
            (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast(),
            elements * array.dtype().itemsize(),
        )
    }
}
