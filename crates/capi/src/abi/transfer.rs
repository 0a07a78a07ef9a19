//! Request of a call that reads or writes a variable: part of the variable, memory, direction.
//!
//! # Safety
//! The contract of a transfer applies to all functions that pass on a [`TransferCall`]: `start`, `count`, `stride` and
//! `map` are null or have one number per dimension of the variable. `values` is null or has memory for the elements of
//! the part, dense or as the map defines, each of the type in memory; strings and lists that are written are laid out
//! as in C. No other code uses that memory during the call.

use std::ffi::{c_int, c_void};

use ferrocdf::array::Kind;

/// Direction of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Get,
    Put,
}

/// Part of a variable that a call addresses. Pointers may be null.
#[derive(Clone, Copy)]
pub(crate) enum VariablePart {
    All,
    One { start: *const usize },
    Slab { start: *const usize, count: *const usize },
    Strided { start: *const usize, count: *const usize, stride: *const isize },
    Mapped { start: *const usize, count: *const usize, stride: *const isize, map: *const isize },
}

/// Type of the elements in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryType {
    /// Elements of the type of the variable.
    Own,
    Elements(Kind),
    Strings,
}

impl VariablePart {
    /// Returns the pointers to start and count; null if the part has none.
    pub(crate) fn corner(self) -> (*const usize, *const usize) {
        match self {
            VariablePart::All => (std::ptr::null(), std::ptr::null()),
            VariablePart::One { start } => (start, std::ptr::null()),
            VariablePart::Slab { start, count }
            | VariablePart::Strided { start, count, .. }
            | VariablePart::Mapped { start, count, .. } => (start, count),
        }
    }

    /// True if the variable is checked before the mode of the file.
    pub(crate) fn looks_first(self, memory: MemoryType) -> bool {
        match self {
            VariablePart::All | VariablePart::Strided { .. } | VariablePart::Mapped { .. } => true,
            VariablePart::One { start } => start.is_null(),
            VariablePart::Slab { start, count } => {
                memory == MemoryType::Own || start.is_null() || count.is_null()
            }
        }
    }
}

/// Memory for the transferred elements.
#[derive(Clone, Copy)]
pub(crate) struct TransferBuffer {
    pub(crate) memory: MemoryType,
    pub(crate) values: *mut c_void,
    pub(crate) way: Direction,
}

/// Arguments of a call that transfers data. Passed by reference: copying a struct whose fields were just written stalls
/// the processor, and programs make many small calls.
pub(crate) struct TransferCall {
    pub(crate) ncid: c_int,
    pub(crate) varid: c_int,
    pub(crate) part: VariablePart,
    pub(crate) buffer: TransferBuffer,
}
