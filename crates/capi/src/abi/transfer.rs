//! What a call that reads or writes a variable asks for: part of the variable, memory, direction.
//!
//! # Safety
//! The contract of a transfer, which all functions on the way of a [`TransferCall`] have: `start`, `count`, `stride` and `map` are null or have a
//! number for each dimension of the variable. `values` is null or has memory for the elements of the part, dense or as the map says, each of
//! the type in memory; strings and lists that are written hang from it as C has them. Nobody else uses that memory during the call.

use std::ffi::{c_int, c_void};

use ferrocdf::array::Kind;

/// The direction of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Get,
    Put,
}

/// What part of a variable a call names. Pointers may be null.
#[derive(Clone, Copy)]
pub(crate) enum VariablePart {
    All,
    One { start: *const usize },
    Slab { start: *const usize, count: *const usize },
    Strided { start: *const usize, count: *const usize, stride: *const isize },
    Mapped { start: *const usize, count: *const usize, stride: *const isize, map: *const isize },
}

/// What a call holds in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryType {
    /// Elements of the variable's own type.
    Own,
    Elements(Kind),
    Strings,
}

impl VariablePart {
    /// Returns the pointers that say where it starts and ends; null where there are none.
    pub(crate) fn corner(self) -> (*const usize, *const usize) {
        match self {
            VariablePart::All => (std::ptr::null(), std::ptr::null()),
            VariablePart::One { start } => (start, std::ptr::null()),
            VariablePart::Slab { start, count }
            | VariablePart::Strided { start, count, .. }
            | VariablePart::Mapped { start, count, .. } => (start, count),
        }
    }

    /// True if a wrong variable is found before a wrong mode.
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

/// Memory for elements that are moved.
#[derive(Clone, Copy)]
pub(crate) struct TransferBuffer {
    pub(crate) memory: MemoryType,
    pub(crate) values: *mut c_void,
    pub(crate) way: Direction,
}

/// A call that moves data, as the program made it. It is passed by reference: copying a struct whose fields were just written
/// stalls the processor, and programs make many small calls.
pub(crate) struct TransferCall {
    pub(crate) ncid: c_int,
    pub(crate) varid: c_int,
    pub(crate) part: VariablePart,
    pub(crate) buffer: TransferBuffer,
}
