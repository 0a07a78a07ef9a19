//! Reading and writing of variables: the common part of all functions of [`crate::data::table`].
//!
//! Data is transferred directly between the file and the memory of the caller. The engine refuses a request that is
//! partly outside the variable; netCDF-C transfers the inside part of it. So the inside part is transferred, and then
//! the code of the last element is returned.

pub(crate) mod checks;
pub(crate) mod fast_path;
pub(crate) mod netcdf4;
pub(crate) mod steps;
pub(crate) mod table;

use std::ffi::{c_int, c_void};

use ferrocdf::array::{Index, Kind};
use ferrocdf::{Code, In, Out, RangeCheck, Result, Selection};

use crate::abi::answer::{answer, fail, in_range};
use crate::abi::constants::NC_SHARE;
use crate::abi::pointers::list;
use crate::abi::transfer::{Direction, MemoryType, TransferBuffer, TransferCall, VariablePart};
use crate::data::checks::{TransferTarget, check_strides};
use crate::data::steps::{Steps, dense_steps, span, too_large};
use crate::model::entities::check_not_global;
use crate::open::file::OpenFile;
use crate::open::ids::find;
use crate::open::table::PinnedFile;
use crate::user_formats::user_file;

/// Reads into the memory at `values`.
///
/// # Safety
/// The contract of a transfer; `values` is written.
#[inline(always)]
pub(crate) unsafe fn get(
    ncid: c_int,
    varid: c_int,
    part: VariablePart,
    memory: MemoryType,
    values: *mut c_void,
) -> c_int {
    // SAFETY: the caller keeps to the contract of a transfer, and `values` may be written.
    unsafe {
        run(&TransferCall {
            ncid,
            varid,
            part,
            buffer: TransferBuffer { memory, values, way: Direction::Get },
        })
    }
}

/// Writes from the memory at `values`.
///
/// # Safety
/// The contract of a transfer; `values` is only read.
#[inline(always)]
pub(crate) unsafe fn put(
    ncid: c_int,
    varid: c_int,
    part: VariablePart,
    memory: MemoryType,
    values: *const c_void,
) -> c_int {
    let buffer = TransferBuffer { memory, values: values.cast_mut(), way: Direction::Put };
    // SAFETY: the caller keeps to the contract of a transfer; a put only reads `values`.
    unsafe { run(&TransferCall { ncid, varid, part, buffer }) }
}

/// Executes a call.
///
/// # Safety
/// The contract of a transfer.
#[inline(never)]
unsafe fn run(call: &TransferCall) -> c_int {
    if let Some(file) = user_file(call.ncid) {
        // SAFETY: the call keeps to the contract of a transfer, which the functions of the table have too.
        return unsafe { file.transfer(call.ncid, call.varid, call.part, call.buffer) };
    }
    // SAFETY: the contract of a transfer.
    answer(|| match unsafe { fast_path::transfer(call) } {
        Some(done) => in_range(done?),
        // SAFETY: the fast path did nothing, so the call still keeps to the contract of a transfer.
        None => unsafe { transfer(call) },
    })
}

/// # Safety
/// The contract of a transfer, for a file that is not of a user-defined format.
unsafe fn transfer(call: &TransferCall) -> Result<()> {
    let TransferCall { part, buffer, .. } = *call;
    let (file, group) = find(call.ncid)?;
    let find = || file.file().look(|model| TransferTarget::find(model, group, call.varid));
    let classic = file.is_classic();
    let target = if !classic || part.looks_first(buffer.memory) {
        let target = find()?;
        if target.rank() > 0 && part.corner().0.is_null() && !matches!(part, VariablePart::All) {
            return fail(Code::EINVALCOORDS, "the start is a null pointer");
        }
        target
    } else {
        check_mode(&file, buffer.way)?;
        check_not_global(call.varid)?;
        find()?
    };
    file.caches.set_asked(target.var);
    let mut request = Transfer { file, target, buffer };
    if !classic {
        // SAFETY: the part is that of the call.
        return unsafe { request.move_netcdf4(part) };
    }
    // SAFETY: the part and its pointers are those of the call.
    unsafe {
        match part {
            VariablePart::All | VariablePart::One { .. } | VariablePart::Slab { .. } => request.slab(part),
            VariablePart::Strided { stride, .. } => request.strided(part, stride),
            VariablePart::Mapped { stride, map, .. } => request.mapped(part, stride, map),
        }
    }
}

fn check_mode(file: &OpenFile, way: Direction) -> Result<()> {
    if way == Direction::Put {
        file.writable()?;
    }
    file.check_data_mode()
}

/// Request of a call, resolved in an open file.
pub(crate) struct Transfer {
    pub(crate) file: PinnedFile,
    pub(crate) target: TransferTarget,
    pub(crate) buffer: TransferBuffer,
}

impl Transfer {
    /// Transfers a hyperslab that is dense in memory.
    ///
    /// # Safety
    /// `part` is that of the call, which keeps to the contract of a transfer.
    unsafe fn slab(&mut self, part: VariablePart) -> Result<()> {
        check_mode(&self.file, self.buffer.way)?;
        self.check_text()?;
        // SAFETY: the part is that of the call.
        let (start, count) = unsafe { self.corner(part) };
        self.refresh_records(start.first())?;
        self.check_slab(&start, &count)?;
        if count.contains(&0) {
            self.grow(start.first().zip(count.first()).map(|(start, count)| start.saturating_add(*count)))?;
            return self.sync_if_shared();
        }
        let stride = Index::from_elem(1, count.len());
        // SAFETY: the memory is dense, with room for the elements of the part.
        in_range(unsafe { self.transfer(Selection { start, count, stride }, None) }?)
    }

    /// Transfers a part with strides that is dense in memory.
    ///
    /// # Safety
    /// `part` and its `stride` are those of the call.
    unsafe fn strided(&mut self, part: VariablePart, stride: *const isize) -> Result<()> {
        self.check_text()?;
        // SAFETY: the part and its stride are those of the call.
        let ((start, count), stride) = unsafe { (self.corner(part), self.strides(stride)) };
        self.target.check_strided(&start, &count, &stride, self.buffer.way)?;
        if self.buffer.way == Direction::Get && count.contains(&0) {
            return Ok(());
        }
        if stride.iter().all(|&stride| stride == 1) {
            // SAFETY: strides of 1 leave a slab of the same corner and counts.
            return unsafe { self.slab(part) };
        }
        let steps = dense_steps(&count)?;
        self.scattered(start, count, &stride, &steps)
    }

    /// Transfers a part with strides and a map of memory.
    ///
    /// # Safety
    /// `part`, its `stride` and its `map` are those of the call.
    unsafe fn mapped(&mut self, part: VariablePart, stride: *const isize, map: *const isize) -> Result<()> {
        if self.target.kind.is_none() {
            return fail(Code::EMAPTYPE, "a map needs a variable of an atomic type");
        }
        self.check_text()?;
        let rank = self.target.rank();
        // SAFETY: the part, its stride and its map are those of the call; a map has `rank` numbers.
        let ((start, count), stride, map) =
            unsafe { (self.corner(part), self.strides(stride), list(map, rank)) };
        check_strides(&stride)?;
        if rank == 0 || (map.is_empty() && stride.iter().all(|&stride| stride == 1)) {
            // SAFETY: without strides and map the part is a slab.
            return unsafe { self.slab(part) };
        }
        self.target.check_mapped(&start, &count, self.buffer.way)?;
        let steps = if map.is_empty() { dense_steps(&count)? } else { Steps::from_slice(map) };
        self.scattered(start, count, &stride, &steps)
    }

    /// Returns the strides at a pointer, 1 if it is null.
    ///
    /// # Safety
    /// `stride` is null or has a number for each dimension of the variable.
    pub(crate) unsafe fn strides(&self, stride: *const isize) -> Steps {
        let rank = self.target.rank();
        // SAFETY: `stride` is null or has `rank` numbers.
        let stride = unsafe { list(stride, rank) };
        if stride.is_empty() { Steps::from_elem(1, rank) } else { Steps::from_slice(stride) }
    }

    /// Transfers the elements of a checked request that are inside the variable, `steps` apart in memory; then returns
    /// the error of the last element, if any.
    fn scattered(&mut self, start: Index, count: Index, stride: &[isize], steps: &[isize]) -> Result<()> {
        let stride: Index = stride.iter().map(|&stride| stride as u64).collect();
        if count.contains(&0) {
            return Ok(());
        }
        check_mode(&self.file, self.buffer.way)?;
        let reach = |dim: usize| stride[dim].saturating_mul(count[dim] - 1);
        let last: Index = (0..count.len()).map(|dim| start[dim].saturating_add(reach(dim))).collect();
        self.refresh_records(last.first())?;
        let inside = self.target.inside(&start, &count, &stride, self.buffer.way);
        let moved = if inside.contains(&0) {
            Ok(RangeCheck::InRange)
        } else {
            // SAFETY: the inside elements are a part of the elements for which the call has memory.
            unsafe { self.transfer(Selection { start, count: inside, stride }, Some(steps)) }
        };
        self.check_slab(&last, &Index::from_elem(1, last.len()))?;
        in_range(moved?)
    }

    /// Returns the start and counts of a part, or those of the whole variable if the part has none.
    ///
    /// # Safety
    /// The pointers of `part` are null or have a number for each dimension of the variable.
    pub(crate) unsafe fn corner(&self, part: VariablePart) -> (Index, Index) {
        let rank = self.target.rank();
        let numbers = |list: &[usize]| list.iter().map(|&number| number as u64).collect::<Index>();
        let (start, count) = part.corner();
        // SAFETY: both are null or have `rank` numbers.
        let (start, count) = unsafe { (list(start, rank), list(count, rank)) };
        let start = if start.is_empty() { Index::from_elem(0, rank) } else { numbers(start) };
        let count = match part {
            VariablePart::One { .. } => Index::from_elem(1, rank),
            _ if count.is_empty() => self.target.shape.clone(),
            _ => numbers(count),
        };
        (start, count)
    }

    /// Fails with `NC_ECHAR` if one of the types is text and the other is not.
    pub(crate) fn check_text(&self) -> Result<()> {
        let of_text = |kind: Kind| kind == Kind::Char;
        let text = self.target.kind.is_some_and(of_text);
        let fits = match self.buffer.memory {
            MemoryType::Own => true,
            MemoryType::Elements(kind) => of_text(kind) == text,
            MemoryType::Strings => !text,
        };
        if fits { Ok(()) } else { fail(Code::ECHAR, "text does not convert to numbers, nor numbers to text") }
    }

    fn check_slab(&self, start: &[u64], count: &[u64]) -> Result<()> {
        self.target.check_slab(start, count, self.buffer.way, !self.file.is_writable())
    }

    /// Refreshes a file that another program may be writing (`NC_SHARE`), if the call requests a record that is not
    /// known yet.
    fn refresh_records(&mut self, wanted: Option<&u64>) -> Result<()> {
        let unknown = |(wanted, known): (&u64, u64)| *wanted > known;
        let is_new = wanted.zip(self.target.records()).is_some_and(unknown);
        if !is_new || self.file.is_writable() || !self.is_shared() {
            return Ok(());
        }
        self.file.file().refresh()?;
        let var = self.target.var;
        // The file may have been replaced.
        let records = self.file.file().look(|model| {
            let dim = *model.vars().get(var.index())?.dims.first()?;
            Some(model.dim(dim).len)
        });
        match records {
            Some(records) => self.target.shape[0] = records,
            None => return fail(Code::ENOTVAR, "the variable is gone: the file was replaced"),
        }
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.file.mode & NC_SHARE != 0
    }

    /// Creates the records that netCDF-C creates before it finds that the call writes nothing, or must not write.
    fn grow(&self, records: Option<u64>) -> Result<()> {
        match records {
            Some(records) if self.buffer.way == Direction::Put => {
                self.file.writable()?.grow(self.target.var, records)
            }
            _ => Ok(()),
        }
    }

    /// Syncs a file that other programs may be reading (`NC_SHARE`).
    fn sync_if_shared(&self) -> Result<()> {
        if self.buffer.way == Direction::Put && self.is_shared() {
            self.file.writable()?.sync()
        } else {
            Ok(())
        }
    }

    /// Transfers at least one element, all inside the variable.
    ///
    /// # Safety
    /// The memory of the call has the elements of the selection, `steps` apart or dense.
    unsafe fn transfer(&self, selection: Selection, steps: Option<&[isize]>) -> Result<RangeCheck> {
        let kind = match self.buffer.memory {
            MemoryType::Own => self.target.kind,
            MemoryType::Elements(kind) => Some(kind),
            MemoryType::Strings => None,
        };
        let (Some(kind), Some(_)) = (kind, self.target.kind) else {
            let reach =
                |dim: usize| selection.start[dim] + (selection.count[dim] - 1) * selection.stride[dim];
            self.grow(self.target.is_record.then(|| reach(0) + 1))?;
            return fail(Code::EBADTYPE, "classic files hold no strings and no user-defined types");
        };
        let TransferBuffer { values, way, .. } = self.buffer;
        if values.is_null() {
            return fail(Code::EINVAL, "the memory for values is a null pointer");
        }
        let (low, len) = match steps {
            Some(steps) => span(&selection.count, steps),
            None => selection.elements().and_then(|len| Some((0, isize::try_from(len).ok()?))),
        }
        .and_then(|(low, len)| {
            let size = kind.size() as isize;
            Some((low.checked_mul(size)?, len.checked_mul(size)? as usize))
        })
        .ok_or_else(too_large)?;
        let origin = low.unsigned_abs() / kind.size();
        // SAFETY: the memory from the lowest to the highest addressed element belongs to the caller, as the function
        // says.
        let first = unsafe { values.cast::<u8>().offset(low) };
        let (file, var) = (self.file.file(), self.target.var);
        if way == Direction::Get {
            // SAFETY: `first` has `len` bytes of the caller, which no other code uses during the call.
            let out = Out::raw(kind, unsafe { std::slice::from_raw_parts_mut(first, len) });
            let out = if let Some(steps) = steps { out.mapped(origin, steps) } else { out };
            return file.read(var, &selection, out);
        }
        // SAFETY: `first` has `len` bytes of the caller, which do not change during the call.
        let input = In::raw(kind, unsafe { std::slice::from_raw_parts(first, len) });
        let input = if let Some(steps) = steps { input.mapped(origin, steps) } else { input };
        let fit = self.file.writable()?.write(var, &selection, input)?;
        self.sync_if_shared()?;
        Ok(fit)
    }
}
