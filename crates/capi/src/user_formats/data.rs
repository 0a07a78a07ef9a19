//! Data transfer of files in user-defined formats: conversion of parts of variables and types in memory to calls of the
//! dispatch table.

use std::ffi::{c_int, c_void};

use ferrocdf::{Atomic, Code};

use super::{UserFile, VarFacts};
use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::{NameOut, Out, Str};
use crate::abi::transfer::{Direction, MemoryType, TransferBuffer, VariablePart};

/// `NC_MAX_VAR_DIMS`
const MOST_DIMS: usize = 1024;

/// Returns the type of the elements in memory; `None` for the type of the variable.
fn type_of(memory: MemoryType) -> Option<Atomic> {
    Some(match memory {
        MemoryType::Own => return None,
        MemoryType::Strings => Atomic::String,
        MemoryType::Elements(kind) => ferrocdf::atomic_of(kind),
    })
}

/// Returns from a function with the code of a failed call.
macro_rules! ok {
    ($code:expr) => {
        match $code {
            NC_NOERR => {}
            code => return code,
        }
    };
}

impl UserFile {
    /// Returns the lengths of a variable's dimensions.
    ///
    /// # Safety
    /// No variable has more than `NC_MAX_VAR_DIMS` dimensions.
    unsafe fn shape(&self, ncid: c_int, varid: c_int, shape: &mut Vec<usize>) -> c_int {
        let (mut rank, mut dims) = (0, vec![0; MOST_DIMS]);
        // SAFETY: `dims` has room for the largest number of dimensions.
        unsafe {
            let facts =
                VarFacts { rank: Out::from(&mut rank), dims: dims.as_mut_ptr(), ..VarFacts::default() };
            ok!(self.inq_facts(ncid, varid, facts));
            for &dim in dims.iter().take(usize::try_from(rank).unwrap_or(0)) {
                let mut len = 0;
                ok!(self.inq_dim(ncid, dim, NameOut::NULL, Out::from(&mut len)));
                shape.push(len);
            }
        }
        NC_NOERR
    }

    /// Reads or writes a part of a variable.
    ///
    /// # Safety
    /// The contract of a transfer.
    pub(crate) unsafe fn transfer(
        &self,
        ncid: c_int,
        varid: c_int,
        part: VariablePart,
        buffer: TransferBuffer,
    ) -> c_int {
        let (values, mut memory, mut shape) = (buffer.values, 0, vec![]);
        // SAFETY: the call keeps to the contract of a transfer; the vectors have a number for each dimension.
        unsafe {
            match type_of(buffer.memory) {
                Some(atomic) => memory = atomic.nc_type().into(),
                None => ok!(self.inq_facts(
                    ncid,
                    varid,
                    VarFacts { ty: Out::from(&mut memory), ..VarFacts::default() }
                )),
            }
            let (start, count, stride) = match part {
                VariablePart::All => (None, None, None),
                VariablePart::One { start } => (Some(start), None, None),
                VariablePart::Slab { start, count } => (Some(start), Some(count), None),
                VariablePart::Strided { start, count, stride }
                | VariablePart::Mapped { start, count, stride, .. } => {
                    (Some(start), Some(count), Some(stride))
                }
            };
            ok!(self.shape(ncid, varid, &mut shape));
            if shape.is_empty() {
                // A scalar has no start or count to check; null pointers are accepted.
                shape.push(1);
            } else if start.is_some_and(|start| start.is_null()) {
                return Code::EINVALCOORDS.0;
            }
            let (zeros, ones, steps) = (vec![0; shape.len()], vec![1; shape.len()], vec![1; shape.len()]);
            let start = start.filter(|start| !start.is_null()).unwrap_or(zeros.as_ptr());
            let is_one = matches!(part, VariablePart::One { .. });
            let count = count.filter(|count| !count.is_null()).unwrap_or_else(|| {
                for (at, len) in shape.iter_mut().enumerate() {
                    *len = len.saturating_sub(*start.add(at));
                }
                if is_one { ones.as_ptr() } else { shape.as_ptr() }
            });
            let stride = stride.map(|stride| if stride.is_null() { steps.as_ptr() } else { stride });
            match (buffer.way, part, stride) {
                (Direction::Get, VariablePart::Mapped { map, .. }, Some(stride)) if !map.is_null() => {
                    self.get_varm(ncid, varid, start, count, stride, map, values, memory)
                }
                (Direction::Put, VariablePart::Mapped { map, .. }, Some(stride)) if !map.is_null() => {
                    self.put_varm(ncid, varid, start, count, stride, map, values, memory)
                }
                (Direction::Get, _, Some(stride)) => {
                    self.get_vars(ncid, varid, start, count, stride, values, memory)
                }
                (Direction::Put, _, Some(stride)) => {
                    self.put_vars(ncid, varid, start, count, stride, values, memory)
                }
                (Direction::Get, _, None) => self.get_vara(ncid, varid, start, count, values, memory),
                (Direction::Put, _, None) => self.put_vara(ncid, varid, start, count, values, memory),
            }
        }
    }

    /// Stores the values of an attribute.
    ///
    /// # Safety
    /// `values` is null or has room for the attribute in type `memory`, or in its own type without `memory`.
    pub(crate) unsafe fn get_attribute(
        &self,
        (ncid, varid, name): (c_int, c_int, Str),
        values: *mut c_void,
        memory: Option<Atomic>,
    ) -> c_int {
        let mut ty = memory.map_or(0, |memory| memory.nc_type().into());
        // SAFETY: `values` is null or has room for the attribute in the type of memory.
        unsafe {
            if memory.is_none() {
                ok!(self.inq_att(ncid, varid, name, Out::from(&mut ty), Out::NULL));
            }
            self.get_att(ncid, varid, name, values, ty)
        }
    }
}
