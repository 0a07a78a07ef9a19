//! One netCDF-4 file that many workers write in parts.

use std::sync::{PoisonError, RwLock};

use ferrocdf::parts::{self, Joined};
use ferrocdf::{Code, Error, In, RangeCheck, Selection, kind_of};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::data_types::atomic_of;
use crate::errors::exception;
use crate::memory::{bytes, contiguous};
use crate::open::location;
use crate::values::as_numbers;

/// Writes one part. `ferrocdf.parts.write_part` uses it.
#[pyclass(frozen, module = "ferrocdf._ferrocdf")]
pub(crate) struct PartWriter(RwLock<Option<parts::PartWriter>>);

#[pymethods]
impl PartWriter {
    /// Begins a part of a file with this plan.
    #[new]
    fn new(plan: &Bound<'_, PyAny>, part: &Bound<'_, PyAny>, key: &str) -> PyResult<PartWriter> {
        let (py, plan, part) = (plan.py(), location(plan)?, location(part)?);
        let made = py.detach(|| parts::PartWriter::create(&plan, &part, key));
        made.map(|writer| PartWriter(RwLock::new(Some(writer)))).map_err(exception)
    }

    /// Encodes an array for the region of a variable that begins at `start`. It has all dimensions of the variable.
    fn write(
        &self,
        py: Python<'_>,
        path: &str,
        start: Vec<u64>,
        array: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<()> {
        let Some(kind) = atomic_of(&array.dtype()).and_then(kind_of) else {
            let what = format!(
                "{path}: parts have numbers and text, and no values of the data type {}",
                array.dtype()
            );
            return Err(exception(Error::new(Code::EBADTYPE, what)));
        };
        let count: Vec<u64> = array.shape().iter().map(|&len| len as u64).collect();
        let array = contiguous(&as_numbers(array)?, None)?;
        // SAFETY: the array is contiguous and holds numbers.
        let memory = unsafe { bytes(&array) };
        let region = Selection::slab(&start, &count);
        let done = py.detach(|| {
            let writer = self.0.read().unwrap_or_else(PoisonError::into_inner);
            let writer = writer.as_ref().ok_or_else(finished)?;
            match writer.write(path, &region, In::raw(kind, memory))? {
                RangeCheck::InRange => Ok(()),
                RangeCheck::OutOfRange => {
                    let what = format!("{path}: a value does not fit the type of the variable");
                    Err(Error::new(Code::ERANGE, what))
                }
            }
        });
        done.map_err(exception)
    }

    /// Completes the part, which appears at its location.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| {
            let writer = self.0.write().unwrap_or_else(PoisonError::into_inner).take();
            writer.ok_or_else(finished)?.finish()
        });
        done.map_err(exception)
    }
}

fn finished() -> Error {
    Error::new(Code::EINVAL, "the part is complete: nothing more is written to it")
}

/// Returns the key of a complete part; None if there is none.
#[pyfunction]
pub(crate) fn part_key(part: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let place = location(part)?;
    part.py().detach(|| parts::part_key(&place)).map_err(exception)
}

/// Makes a file of a plan and its parts. Returns the number of parts, of chunks and of encoded bytes.
#[pyfunction]
pub(crate) fn join_parts(
    plan: &Bound<'_, PyAny>,
    parts: Vec<Bound<'_, PyAny>>,
    target: &Bound<'_, PyAny>,
) -> PyResult<(u64, u64, u64)> {
    let (py, plan, target) = (plan.py(), location(plan)?, location(target)?);
    let places = parts.iter().map(location).collect::<PyResult<Vec<_>>>()?;
    let joined = py.detach(|| parts::join(&plan, &places, &target)).map_err(exception)?;
    let Joined { parts, chunks, bytes } = joined;
    Ok((parts, chunks, bytes))
}
