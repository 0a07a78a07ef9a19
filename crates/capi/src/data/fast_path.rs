//! Calls that move a few values: the short way through the facade.
//!
//! `None` says that nothing was done, and the call goes the long way, which also has the errors.

use ferrocdf::{GroupId, RangeCheck, Result};

use crate::abi::constants::NC_SHARE;
use crate::abi::transfer::{Direction, MemoryType, TransferCall, VariablePart};
use crate::open::ids::find_root;

/// Start and count of each dimension, behind pointers that are not null.
fn bounds(part: &VariablePart) -> Option<impl Fn(usize) -> (u64, u64)> {
    let (start, count) = match part {
        VariablePart::One { start } if !start.is_null() => (*start, None),
        VariablePart::Slab { start, count } if !start.is_null() && !count.is_null() => (*start, Some(*count)),
        _ => return None,
    };
    Some(move |dim| {
        // SAFETY: both have a number for each dimension, as the function says.
        unsafe { (*start.add(dim) as u64, count.map_or(1, |count| *count.add(dim) as u64)) }
    })
}

/// Moves what a call asks for.
///
/// # Safety
/// The contract of a transfer; a call that goes on the long way has it still.
pub(crate) unsafe fn transfer(call: &TransferCall) -> Option<Result<RangeCheck>> {
    let MemoryType::Elements(kind) = call.buffer.memory else { return None };
    let (bounds, var) = (bounds(&call.part)?, usize::try_from(call.varid).ok()?);
    let values = call.buffer.values.cast::<u8>();
    if values.is_null() {
        return None;
    }
    let open = find_root(call.ncid)?;
    if open.is_defining() {
        return None;
    }
    let var = (GroupId::ROOT, var);
    if call.buffer.way == Direction::Get {
        // SAFETY: there is room for the elements that are asked for, as the function says.
        let memory = |count| unsafe { std::slice::from_raw_parts_mut(values, count * kind.size()) };
        return open.file().read_few(var, kind, bounds, memory);
    }
    if !open.is_classic() || open.mode & NC_SHARE != 0 {
        return None;
    }
    // SAFETY: the elements are there, as the function says.
    let memory = |count| unsafe { std::slice::from_raw_parts(values, count * kind.size()) };
    open.writable().ok()?.write_few(var, kind, bounds, memory)
}
