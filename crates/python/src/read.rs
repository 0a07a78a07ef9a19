//! Reading elements of variables into arrays.

use ferrocdf::array::Kind;
use ferrocdf::{Atomic, Class, Code, Error, Model, Out, Result, Selection, Type, VarId};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

use crate::data_types::data_type;
use crate::errors::exception;
use crate::handles::Handle;
use crate::indexing::{After, ReadPlan, axes, parse};
use crate::memory::{bytes_mut, check_writable, empty, numpy_function};
use crate::values::{positions, to_array};

/// Reads the elements that an index expression asks for into a new array, or into `out`.
pub(crate) fn read<'py>(
    py: Python<'py>,
    variable: &Handle<VarId>,
    key: &Bound<'py, PyAny>,
    out: Option<Bound<'py, PyUntypedArray>>,
) -> PyResult<Bound<'py, PyAny>> {
    let model = variable.read(py, |file, _| Ok(file.model()))?;
    let plan = ReadPlan::new(&parse(key, &axes(&model, variable.id(), false))?);
    let counts = plan.counts.iter().map(|&count| usize::try_from(count));
    let shape = counts.collect::<Result<Vec<usize>, _>>().map_err(|_| too_large())?;
    let ty = model.var(variable.id()).ty;
    let kind = kind_in_memory(&model, ty);
    if let Some(out) = out {
        check_out(&out, &plan)?;
        let is_in_order = plan.after.iter().all(|after| matches!(after, After::Keep | After::Drop));
        match kind.filter(|_| is_in_order) {
            Some(kind) if out.dtype().is_equiv_to(&data_type(py, &model, ty)?) => {
                check_writable(&out)?;
                fill(py, variable, &plan, kind, &out)?;
            }
            _ => {
                let array = read(py, variable, key, None)?;
                numpy_function!(py, "copyto")?.call1((&out, array))?;
            }
        }
        return Ok(out.into_any());
    }
    let array = match kind {
        Some(kind) => {
            let array = empty(py, &shape, &data_type(py, &model, ty)?)?;
            fill(py, variable, &plan, kind, &array)?;
            array
        }
        None => read_objects(py, variable, &model, &plan, &shape)?,
    };
    finish(array.into_any(), &plan)
}

fn too_large() -> PyErr {
    exception(Error::new(Code::ENOMEM, "the elements do not fit in memory; read a part of them"))
}

/// Returns the kind of number that elements of a type are in memory; `None` for strings, structures and the like.
pub(crate) fn kind_in_memory(model: &Model, ty: Type) -> Option<Kind> {
    let atomic = match ty {
        Type::Atomic(Atomic::String) => return None,
        Type::Atomic(atomic) => atomic,
        Type::User(id) => match model.user_type(id).class {
            Class::Enum { base, .. } => base,
            _ => return None,
        },
    };
    ferrocdf::kind_of(atomic)
}

fn check_out(out: &Bound<'_, PyUntypedArray>, plan: &ReadPlan) -> PyResult<()> {
    let wanted = plan.result_shape();
    let given: Vec<u64> = out.shape().iter().map(|&len| len as u64).collect();
    if given == wanted {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the array for the values has the shape {given:?}, the selection {wanted:?}"
    )))
}

/// Reads numbers into an array of the counts of a plan, or of those that are kept.
fn fill(
    py: Python<'_>,
    variable: &Handle<VarId>,
    plan: &ReadPlan,
    kind: Kind,
    array: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    // SAFETY: the array is contiguous and holds numbers; it is new, or the caller lends it for this.
    let memory = unsafe { bytes_mut(array) };
    variable.read(py, |file, id| {
        if let Some(selection) = plan.single() {
            return file.read(id, &selection, Out::raw(kind, memory)).map(drop);
        }
        let strides = strides(&plan.counts)?;
        for (into, selection) in plan.selections() {
            let first = into.iter().zip(&strides).map(|(&at, &stride)| at as usize * stride as usize).sum();
            // The memory is of the type of the variable, so every number fits.
            let _fits = file.read(id, &selection, Out::raw(kind, memory).mapped(first, &strides))?;
        }
        Ok(())
    })
}

/// Returns the distance in elements from each index of a dimension to the next.
fn strides(counts: &[u64]) -> Result<Vec<isize>> {
    let mut strides = vec![1isize; counts.len()];
    for dim in (1..counts.len()).rev() {
        let stride = isize::try_from(counts[dim]).ok().and_then(|count| count.checked_mul(strides[dim]));
        strides[dim - 1] =
            stride.ok_or_else(|| Error::new(Code::ENOMEM, "the elements do not fit in memory"))?;
    }
    Ok(strides)
}

/// Reads strings and values of user-defined types.
fn read_objects<'py>(
    py: Python<'py>,
    variable: &Handle<VarId>,
    model: &Model,
    plan: &ReadPlan,
    shape: &[usize],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let read = |selection: Selection| variable.read(py, |file, id| file.read_selected(id, &selection));
    if let Some(selection) = plan.single() {
        return to_array(py, model, &read(selection)?, shape);
    }
    let ty = model.var(variable.id()).ty;
    let array = empty(py, shape, &data_type(py, model, ty)?)?;
    for (into, selection) in plan.selections() {
        let counts: Vec<usize> = selection.count.iter().map(|&count| count as usize).collect();
        let slices = into
            .iter()
            .zip(&counts)
            .map(|(&at, &count)| PySlice::new(py, at as isize, (at as usize + count) as isize, 1));
        let target = PyTuple::new(py, slices)?;
        array.set_item(target, to_array(py, model, &read(selection)?, &counts)?)?;
    }
    Ok(array)
}

/// Does to an array what is left of an index expression. The element of an expression of integers alone is a scalar.
fn finish<'py>(array: Bound<'py, PyAny>, plan: &ReadPlan) -> PyResult<Bound<'py, PyAny>> {
    if plan.after.iter().all(|after| *after == After::Keep) && !plan.after.is_empty() {
        return Ok(array);
    }
    let py = array.py();
    let mut result = array;
    for (dim, after) in plan.after.iter().enumerate() {
        if let After::Take(list) = after {
            result = result.call_method1("take", (positions(py, list), dim))?;
        }
    }
    let parts = plan.after.iter().map(|after| {
        Ok(match after {
            After::Drop => 0i32.into_pyobject(py)?.into_any(),
            After::Reverse => PySlice::full(py).get_type().call1((py.None(), py.None(), -1))?,
            After::Keep | After::Take(_) => PySlice::full(py).into_any(),
        })
    });
    let mut parts = parts.collect::<PyResult<Vec<_>>>()?;
    if parts.iter().any(|part| part.is_instance_of::<PySlice>()) {
        parts.push(PyEllipsis::get(py).to_owned().into_any());
    }
    result.get_item(PyTuple::new(py, parts)?)
}
