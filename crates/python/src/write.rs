//! Writing arrays to variables.

use ferrocdf::{Atomic, Code, Error, In, Model, RangeCheck, Selection, Type, VarId, nested};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyEllipsis, PySlice, PyString, PyTuple};

use crate::data_types::{atomic_of, data_type};
use crate::handles::Handle;
use crate::indexing::{After, Axis, AxisIndex, ReadPlan, axes, parse};
use crate::memory::{as_array, bytes, contiguous, empty, numpy_function, reachable_bytes};
use crate::read::kind_in_memory;
use crate::values::{as_numbers, fixed_texts, of_objects, positions, to_array};

/// Writes an array, or what becomes one, to the elements that an index expression names. It is broadcast as NumPy does it; dimensions
/// that grow become long enough.
pub(crate) fn write<'py>(
    py: Python<'py>,
    variable: &Handle<VarId>,
    key: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let model = variable.read(py, |file, _| Ok(file.model()))?;
    let axes = axes(&model, variable.id(), true);
    let ty = model.var(variable.id()).ty;
    let mut indices = parse(key, &axes)?;
    let array = as_given(py, variable, values, &model, &indices)?;
    open_ends(&mut indices, &axes, array.shape());
    let plan = ReadPlan::new(&indices);
    let array = to_order_of_plan(&array, &plan)?;
    let selections = match plan.single() {
        Some(selection) => vec![(vec![0; plan.counts.len()], selection)],
        None => plan.selections(),
    };
    for (into, selection) in selections {
        if selection.elements() == Some(0) {
            continue;
        }
        let part = part(&array, &into, &selection)?;
        write_part(py, variable, &model, ty, &selection, &part)?;
    }
    Ok(())
}

/// Returns the values as an array for the elements that are indexed. Masked values become the fill value of the variable.
fn as_given<'py>(
    py: Python<'py>,
    variable: &Handle<VarId>,
    values: &Bound<'py, PyAny>,
    model: &Model,
    indices: &[AxisIndex],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let ty = model.var(variable.id()).ty;
    let kept: Vec<&AxisIndex> = indices.iter().filter(|index| !matches!(index, AxisIndex::One(_))).collect();
    if values.is_instance(&numpy_function!(py, "ma")?.getattr("MaskedArray")?)? {
        return without_mask(py, variable, values, model);
    }
    match ty {
        Type::Atomic(Atomic::Char) => as_letters(values, &kept),
        ty if kind_in_memory(model, ty).is_some() => as_array(values),
        ty => {
            let of = data_type(py, model, ty)?;
            if of.kind() == b'O' {
                return as_objects(py, values, kept.len(), ty == Type::Atomic(Atomic::String));
            }
            if let Ok(array) = values.cast::<PyUntypedArray>() {
                return Ok(array.clone());
            }
            let keywords = PyDict::new(py);
            keywords.set_item("dtype", of)?;
            Ok(numpy_function!(py, "asarray")?.call((values,), Some(&keywords))?.cast_into()?)
        }
    }
}

/// Returns the values of a masked array, with the fill value where they are masked.
fn without_mask<'py>(
    py: Python<'py>,
    variable: &Handle<VarId>,
    values: &Bound<'py, PyAny>,
    model: &Model,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let masked = numpy_function!(py, "ma")?;
    let (data, mask) =
        (masked.call_method1("getdata", (values,))?, masked.call_method1("getmaskarray", (values,))?);
    if !mask.call_method0("any")?.extract::<bool>()? {
        return as_array(&data);
    }
    let fill = variable.read(py, |file, id| file.fill_value(id))?;
    let Some(fill) = fill else {
        return Err(PyValueError::new_err(
            "values are masked, and the variable has no fill value to write instead",
        ));
    };
    let fill = to_array(py, model, &fill, &[])?;
    Ok(numpy_function!(py, "where")?.call1((mask, fill, data))?.cast_into()?)
}

/// Returns the values for a variable of the type `char`. Texts have the letters of the last dimension that is indexed, and zeros behind
/// them; an array of single bytes has them one by one.
fn as_letters<'py>(values: &Bound<'py, PyAny>, kept: &[&AxisIndex]) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = as_array(values)?;
    let is_text = values.is_instance_of::<PyString>()
        || values.is_instance_of::<PyBytes>()
        || matches!(array.dtype().kind(), b'U' | b'T' | b'O')
        || array.dtype().kind() == b'S' && array.dtype().itemsize() > 1;
    if !is_text {
        return Ok(array);
    }
    let Some(last) = kept.last().filter(|_| array.ndim() < kept.len()) else {
        return fixed_texts(array.as_any(), 1);
    };
    let len = match last {
        AxisIndex::One(_) => 1,
        AxisIndex::Run { count, .. } => usize::try_from(*count).unwrap_or(usize::MAX),
        AxisIndex::List(list) => list.len(),
    };
    let mut shape = array.shape().to_vec();
    shape.push(len);
    let texts = contiguous(&fixed_texts(array.as_any(), len)?, None)?;
    let letters = texts.call_method1("reshape", (-1,))?.call_method1("view", ("S1",))?;
    Ok(letters.call_method1("reshape", (shape,))?.cast_into()?)
}

/// Returns the values for a variable whose elements are objects: strings or lists. One element is one object, whatever it is; for a dimension
/// there is a list of them.
fn as_objects<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    kept: usize,
    are_strings: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array =
        values.cast::<PyUntypedArray>().ok().filter(|array| array.dtype().kind() == b'O' || are_strings);
    if let Some(array) = array {
        return Ok(array.clone());
    }
    if are_strings {
        return Ok(numpy_function!(py, "asarray")?.call1((values, "O"))?.cast_into()?);
    }
    let objects = PyArrayDescr::object(py);
    if kept == 0 {
        let one = empty(py, &[], &objects)?;
        one.set_item(PyTuple::empty(py), values)?;
        return Ok(one);
    }
    let each = values.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let array = empty(py, &[each.len()], &objects)?;
    for (at, object) in each.into_iter().enumerate() {
        array.set_item(at, object)?;
    }
    Ok(array)
}

/// Makes open slices of dimensions that grow as long as the array needs.
fn open_ends(indices: &mut [AxisIndex], axes: &[Axis], shape: &[usize]) {
    let with_dimension =
        indices.iter_mut().zip(axes).filter(|(index, _)| !matches!(index, AxisIndex::One(_)));
    // Broadcasting aligns the last dimensions.
    let with_dimension: Vec<_> = with_dimension.collect();
    let lens = shape.iter().rev();
    for ((index, axis), &len) in with_dimension.into_iter().rev().zip(lens) {
        if let AxisIndex::Run { count, reversed: false, open_end: true, .. } = index {
            let needed = len as u64;
            if axis.grows && needed > *count && (needed > 1 || *count == 0) {
                *count = needed;
            }
        }
    }
}

/// Broadcasts an array to the shape of an index expression, and returns it with a dimension for each of the variable, in rising order.
fn to_order_of_plan<'py>(
    array: &Bound<'py, PyUntypedArray>,
    plan: &ReadPlan,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let wanted = plan.result_shape();
    // As NumPy assigns: leading dimensions of length 1 may be too many.
    let mut shape = array.shape();
    while shape.len() > wanted.len() && shape[0] == 1 {
        shape = &shape[1..];
    }
    let given = array.call_method1("reshape", (shape.to_vec(),))?;
    let shape = PyTuple::new(py, &wanted)?;
    let broadcast = numpy_function!(py, "broadcast_to")?.call1((&given, shape)).map_err(|_| {
        let what = format!(
            "values of shape {:?} cannot be broadcast to the shape {wanted:?} of the selection",
            array.shape()
        );
        PyValueError::new_err(what)
    })?;
    let parts = plan.after.iter().map(|after| {
        Ok(match after {
            After::Drop => py.None().into_bound(py),
            After::Reverse => PySlice::full(py).get_type().call1((py.None(), py.None(), -1))?,
            After::Keep | After::Take(_) => PySlice::full(py).into_any(),
        })
    });
    let mut parts = parts.collect::<PyResult<Vec<_>>>()?;
    parts.push(PyEllipsis::get(py).to_owned().into_any());
    let mut result = broadcast.get_item(PyTuple::new(py, parts)?)?;
    for (dim, after) in plan.after.iter().enumerate() {
        if let After::Take(list) = after {
            // Of an index that is named twice the last value stays, as in NumPy.
            let mut last = vec![0; usize::try_from(plan.counts[dim]).unwrap_or(usize::MAX)];
            list.iter().enumerate().for_each(|(at, &position)| last[position as usize] = at as u64);
            result = result.call_method1("take", (positions(py, &last), dim))?;
        }
    }
    Ok(result.cast_into()?)
}

/// Returns the part of an array that a selection is written from.
fn part<'py>(
    array: &Bound<'py, PyUntypedArray>,
    from: &[u64],
    selection: &Selection,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let is_whole = array.shape().iter().zip(&selection.count).all(|(&len, &count)| len as u64 == count);
    if is_whole {
        return Ok(array.clone());
    }
    let slices = from
        .iter()
        .zip(&selection.count)
        .map(|(&at, &count)| PySlice::new(py, at as isize, (at + count) as isize, 1));
    Ok(array.get_item(PyTuple::new(py, slices)?)?.cast_into()?)
}

fn write_part(
    py: Python<'_>,
    variable: &Handle<VarId>,
    model: &Model,
    ty: Type,
    selection: &Selection,
    array: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    let check = |fit: RangeCheck| match fit {
        RangeCheck::InRange => Ok(()),
        RangeCheck::OutOfRange => {
            let name = &model.var(variable.id()).name;
            let what =
                format!("{name}: a value does not fit the type of the variable; the others were written");
            Err(Error::new(Code::ERANGE, what))
        }
    };
    let from = atomic_of(&array.dtype()).and_then(ferrocdf::kind_of);
    let Some(kind) = from.filter(|_| kind_in_memory(model, ty).is_some()) else {
        let values = of_objects(contiguous(array, None)?.as_any(), model, ty)?;
        return variable.write(py, |file, id| match values.atomic().and_then(ferrocdf::kind_of) {
            Some(kind) => check(file.write(id, selection, In::raw(kind, nested::bytes(&values)))?),
            None => check(file.write_trees(id, selection, &values)?),
        });
    };
    let array = as_numbers(array)?;
    // Elements that are the same in memory (a number that was broadcast) or lie far apart are taken where they are.
    let size = array.dtype().itemsize() as isize;
    let is_mapped = !array.is_c_contiguous()
        && array.strides().iter().all(|stride| *stride >= 0 && stride % size == 0)
        && array.strides().contains(&0);
    if is_mapped {
        let strides: Vec<isize> = array.strides().iter().map(|stride| stride / size).collect();
        let reach = array
            .shape()
            .iter()
            .zip(&strides)
            .map(|(&len, &stride)| (len - 1) * stride as usize)
            .sum::<usize>()
            + 1;
        // SAFETY: the elements of the array lie from its data pointer on, the last one `reach` elements further at most, since no stride
        // is negative and no dimension is empty; numbers are not objects.
        let memory = unsafe { reachable_bytes(&array, reach) };
        return variable.write(py, |file, id| {
            check(file.write(id, selection, In::raw(kind, memory).mapped(0, &strides))?)
        });
    }
    let array = contiguous(&array, None)?;
    // SAFETY: the array is contiguous and holds numbers.
    let memory = unsafe { bytes(&array) };
    variable.write(py, |file, id| check(file.write(id, selection, In::raw(kind, memory))?))
}
