//! Which elements an index expression of Python asks for.
//!
//! Integers, slices with steps of either sign, `...`, lists and arrays of integers, and boolean arrays of one dimension are taken. Lists are
//! orthogonal (outer indexing): each selects along its own dimension, whatever the others do.

use std::ops::Range;

use ferrocdf::{Model, Selection, VarId};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

use crate::errors::index_error;
use crate::memory::{as_array, numpy_function};

/// What is asked for of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AxisIndex {
    /// One index. The result has no such dimension.
    One(u64),
    /// `count` indices from `start` on, `stride` apart, the last one first if they are `reversed`.
    Run {
        /// The lowest index.
        start: u64,
        /// How many.
        count: u64,
        /// Distance between neighbours, at least 1.
        stride: u64,
        /// True for a negative step.
        reversed: bool,
        /// True if the expression says no end, so that a dimension that grows may be written beyond its length.
        open_end: bool,
    },
    /// Any indices, in any order, with repetitions.
    List(Vec<u64>),
}

/// Returns the dimensions of a variable. Those that grow may be indexed beyond their length where it `is_written`.
pub(crate) fn axes(model: &Model, id: VarId, is_written: bool) -> Vec<Axis> {
    let dims = model.var(id).dims.iter().map(|&dim| model.dim(dim));
    dims.map(|dim| Axis { len: dim.len, grows: is_written && dim.unlimited }).collect()
}

/// A dimension of the variable that is indexed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Its length.
    pub(crate) len: u64,
    /// True if indices beyond the length are meant as they are: it is written, and grows.
    pub(crate) grows: bool,
}

/// Reads an index expression: what is asked for of each dimension.
pub(crate) fn parse(key: &Bound<'_, PyAny>, axes: &[Axis]) -> PyResult<Vec<AxisIndex>> {
    let parts: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let ellipses = parts.iter().filter(|part| part.is_instance_of::<PyEllipsis>()).count();
    let given = parts.len() - ellipses;
    if ellipses > 1 || given > axes.len() {
        let what = match ellipses {
            0 | 1 => format!("{given} indices for a variable of {} dimensions", axes.len()),
            _ => "an index has \"...\" once at most".to_string(),
        };
        return Err(index_error(what));
    }
    let mut found = Vec::with_capacity(axes.len());
    for part in &parts {
        if part.is_instance_of::<PyEllipsis>() {
            let skipped = axes.len() - given;
            found.extend(axes[found.len()..found.len() + skipped].iter().map(whole));
        } else {
            let dim = found.len();
            found.push(parse_axis(part, dim, axes[dim])?);
        }
    }
    found.extend(axes[found.len()..].iter().map(whole));
    Ok(found)
}

fn whole(axis: &Axis) -> AxisIndex {
    AxisIndex::Run { start: 0, count: axis.len, stride: 1, reversed: false, open_end: true }
}

fn parse_axis(part: &Bound<'_, PyAny>, dim: usize, axis: Axis) -> PyResult<AxisIndex> {
    if part.is_none() {
        return Err(index_error(
            "None adds no dimension here: read first, then index the array with numpy.newaxis",
        ));
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        return parse_slice(slice, axis);
    }
    // Python counts `True` among the integers; as an index it is a mistake.
    if part.is_instance_of::<PyBool>() {
        return Err(index_error(format!(
            "the index of dimension {dim} is one truth value; a boolean list has one for each element"
        )));
    }
    if part.is_instance_of::<PyInt>() || part.hasattr("__index__")? && !part.hasattr("__len__")? {
        let index = numpy_index(part)?;
        return one(index, dim, axis).map(AxisIndex::One);
    }
    let array = as_array(part)?;
    match (array.dtype().kind(), array.ndim()) {
        (b'b', 1) => parse_mask(&array, dim, axis),
        (b'i' | b'u', 0) => one(numpy_index(array.as_any())?, dim, axis).map(AxisIndex::One),
        (b'i' | b'u', 1) => {
            let too_large = |_| index_error("an index is beyond 64 bits");
            let list: Vec<i64> = array.call_method0("tolist")?.extract().map_err(too_large)?;
            list.into_iter().map(|index| one(index, dim, axis)).collect::<PyResult<_>>().map(AxisIndex::List)
        }
        // An empty list has no type of its own.
        (b'f', 1) if array.is_empty() => Ok(AxisIndex::List(vec![])),
        (b'b' | b'i' | b'u', rank) => Err(index_error(format!(
            "the index of dimension {dim} is an array of {rank} dimensions; each dimension has an index of its own, an integer, a slice or a list"
        ))),
        _ => Err(index_error(format!(
            "the index of dimension {dim} is {}: integers, slices, lists of integers and boolean lists are indices",
            part.get_type()
        ))),
    }
}

fn numpy_index(part: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !part.hasattr("__index__")? {
        return Err(index_error(format!("{} is no integer", part.get_type())));
    }
    let too_large = |_| index_error("an index is beyond 64 bits");
    part.call_method0("__index__")?.extract().map_err(too_large)
}

/// Returns the index that a number means, which counts from the end if it is negative.
fn one(index: i64, dim: usize, axis: Axis) -> PyResult<u64> {
    let from_end = index.unsigned_abs();
    let found = if index < 0 { axis.len.checked_sub(from_end) } else { Some(from_end) };
    found.filter(|&at| at < axis.len || axis.grows && index >= 0).ok_or_else(|| {
        PyIndexError::new_err(format!(
            "index {index} is out of bounds for dimension {dim} of length {}",
            axis.len
        ))
    })
}

fn parse_slice(slice: &Bound<'_, PySlice>, axis: Axis) -> PyResult<AxisIndex> {
    let number = |name: &str| -> PyResult<Option<i64>> {
        let value = slice.getattr(name)?;
        if value.is_none() { Ok(None) } else { numpy_index(&value).map(Some) }
    };
    let (start, stop, step) = (number("start")?, number("stop")?, number("step")?.unwrap_or(1));
    if step == 0 {
        return Err(pyo3::exceptions::PyValueError::new_err("the step of a slice cannot be 0"));
    }
    let open_end = stop.is_none() && step > 0;
    // As Python clips slices; a dimension that grows has no upper end.
    let len = i64::try_from(axis.len).unwrap_or(i64::MAX);
    let (lowest, highest) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clip = |value: Option<i64>, default: i64| match value {
        None => default,
        Some(value) if value < 0 => value.saturating_add(len).max(lowest),
        Some(value) if axis.grows && step > 0 => value,
        Some(value) => value.min(highest),
    };
    let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
    let (start, stop) = (clip(start, first), clip(stop, last));
    let distance = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    let stride = step.unsigned_abs();
    let count = u64::try_from(distance).unwrap_or(0).div_ceil(stride);
    let start = u64::try_from(start).unwrap_or(0);
    let lowest = if step > 0 || count == 0 { start } else { start - (count - 1) * stride };
    Ok(AxisIndex::Run { start: lowest, count, stride, reversed: step < 0, open_end })
}

fn parse_mask(array: &Bound<'_, PyUntypedArray>, dim: usize, axis: Axis) -> PyResult<AxisIndex> {
    if array.len() as u64 != axis.len {
        let what = format!(
            "the boolean index of dimension {dim} has {} elements, the dimension {}",
            array.len(),
            axis.len
        );
        return Err(index_error(what));
    }
    let found = numpy_function!(array.py(), "flatnonzero")?.call1((array,))?;
    found.call_method0("tolist")?.extract().map(AxisIndex::List)
}

/// Elements side by side in the result, and where they are in the variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisRun {
    /// Positions in the result.
    pub(crate) into: Range<u64>,
    /// The first index.
    pub(crate) start: u64,
    /// Distance between neighbours.
    pub(crate) stride: u64,
}

/// Cuts a list of indices that rises into runs of one stride each.
fn runs(list: &[u64]) -> Vec<AxisRun> {
    let mut runs: Vec<AxisRun> = Vec::new();
    for (at, &index) in list.iter().enumerate() {
        let at = at as u64;
        match runs.last_mut() {
            Some(run) if run.into.end - run.into.start == 1 && index > run.start => {
                (run.stride, run.into.end) = (index - run.start, at + 1);
            }
            Some(run)
                if index == run.start + (run.into.end - run.into.start) * run.stride && index > run.start =>
            {
                run.into.end = at + 1;
            }
            _ => runs.push(AxisRun { into: at..at + 1, start: index, stride: 1 }),
        }
    }
    runs
}

/// How a result is read: by selections that rise along each dimension, and what NumPy does to the array that they make.
pub(crate) struct ReadPlan {
    /// Runs of each dimension, which the array is made of.
    pub(crate) axes: Vec<Vec<AxisRun>>,
    /// Number of indices of each dimension in that array.
    pub(crate) counts: Vec<u64>,
    /// What gives the result.
    pub(crate) after: Vec<After>,
}

/// What is done to a dimension of the array that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum After {
    /// Nothing.
    Keep,
    /// It disappears.
    Drop,
    /// It is reversed.
    Reverse,
    /// These of its positions are taken.
    Take(Vec<u64>),
}

impl ReadPlan {
    /// Plans to read what is asked for.
    pub(crate) fn new(indices: &[AxisIndex]) -> ReadPlan {
        let mut plan = ReadPlan { axes: vec![], counts: vec![], after: vec![] };
        for index in indices {
            let (axis, after) = match index {
                AxisIndex::One(at) => (vec![AxisRun { into: 0..1, start: *at, stride: 1 }], After::Drop),
                AxisIndex::Run { start, count, stride, reversed, .. } => {
                    let run = AxisRun { into: 0..*count, start: *start, stride: *stride };
                    (vec![run], if *reversed { After::Reverse } else { After::Keep })
                }
                AxisIndex::List(list) => of_list(list),
            };
            plan.counts.push(axis.last().map_or(0, |run| run.into.end));
            plan.axes.push(axis);
            plan.after.push(after);
        }
        plan
    }

    /// Returns the shape of the result.
    pub(crate) fn result_shape(&self) -> Vec<u64> {
        let kept = self.after.iter().zip(&self.counts).filter(|(after, _)| **after != After::Drop);
        kept.map(|(after, &count)| if let After::Take(list) = after { list.len() as u64 } else { count })
            .collect()
    }

    /// Returns the only selection that is needed, if it is one.
    pub(crate) fn single(&self) -> Option<Selection> {
        let mut selection = Selection::all(&[]);
        for axis in &self.axes {
            let [run] = &axis[..] else { return None };
            selection.start.push(run.start);
            selection.count.push(run.into.end);
            selection.stride.push(run.stride);
        }
        Some(selection)
    }

    /// Returns all selections, each with the position of its first element in each dimension of the array.
    pub(crate) fn selections(&self) -> Vec<(Vec<u64>, Selection)> {
        let mut found = vec![(vec![], Selection::all(&[]))];
        for axis in &self.axes {
            let longer = found.iter().flat_map(|(into, selection)| {
                axis.iter().map(move |run| {
                    let (mut into, mut selection) = (into.clone(), selection.clone());
                    into.push(run.into.start);
                    selection.start.push(run.start);
                    selection.count.push(run.into.end - run.into.start);
                    selection.stride.push(run.stride);
                    (into, selection)
                })
            });
            found = longer.collect();
        }
        found
    }
}

/// Plans to read a list of indices: each index once, in rising order.
fn of_list(list: &[u64]) -> (Vec<AxisRun>, After) {
    if list.is_sorted_by(|a, b| a < b) {
        return (runs(list), After::Keep);
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let position = |index: &u64| sorted.partition_point(|known| known < index) as u64;
    let taken = list.iter().map(position).collect();
    (runs(&sorted), After::Take(taken))
}
