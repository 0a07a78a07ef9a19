//! Fast path of calls that transfer a few values.
//!
//! `None` means that nothing was transferred: the general path then executes the call, and reports its errors.

use ferrocdf::{GroupId, RangeCheck, Result};

use crate::abi::constants::NC_SHARE;
use crate::abi::transfer::{Direction, MemoryType, TransferCall, VariablePart};
use crate::open::ids::find_root;

/// Returns a function that reads start and count of a dimension; `None` if a pointer is null.
fn bounds(part: &VariablePart) -> Option<impl Fn(usize) -> (u64, u64)> {
    let (start, count) = match part {
        VariablePart::One { start } if !start.is_null() => (*start, None),
        VariablePart::Slab { start, count } if !start.is_null() && !count.is_null() => (*start, Some(*count)),
        _ => return None,
    };
    Some(move |dim| {
        // SAFETY: both pointers have one number per dimension, by the contract of a transfer.
        unsafe { (*start.add(dim) as u64, count.map_or(1, |count| *count.add(dim) as u64)) }
    })
}

/// Executes a call; `None` if the fast path does not apply.
///
/// # Safety
/// The contract of a transfer, which still holds after `None`.
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
        // SAFETY: the memory has room for the requested elements, by the contract of a transfer.
        let memory = |count| unsafe { std::slice::from_raw_parts_mut(values, count * kind.size()) };
        return open.file().read_few(var, kind, bounds, memory);
    }
    if !open.is_classic() || open.mode & NC_SHARE != 0 {
        return None;
    }
    // SAFETY: the memory has the elements, by the contract of a transfer.
    let memory = |count| unsafe { std::slice::from_raw_parts(values, count * kind.size()) };
    open.writable().ok()?.write_few(var, kind, bounds, memory)
}
