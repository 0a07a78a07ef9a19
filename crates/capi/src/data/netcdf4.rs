//! Reading and writing of variables in netCDF-4 files: checks of the requests in the order of netCDF-C, and values of
//! all types.
//!
//! The rules differ from those of classic files: any dimension may be unlimited, a strided request is checked up to its
//! last element before the transfer, values of user-defined types are transferred in their own type, and a file in
//! define mode leaves it implicitly unless it keeps to the classic model.

use ferrocdf::array::{In, Index, Kind, Out};
use ferrocdf::{Atomic, Code, RangeCheck, Result, Selection, Type};

use crate::abi::answer::{fail, in_range};
use crate::abi::transfer::{Direction, MemoryType, VariablePart};
use crate::data::Transfer;
use crate::data::checks::check_strides;
use crate::data::steps::{Steps, dense_steps, span, too_large};
use crate::files::define_mode::ready_for_data;
use crate::values::nested::{gather, lay_out};

impl Transfer {
    /// Transfers a part.
    ///
    /// # Safety
    /// `part` is that of the call, which keeps to the contract of a transfer.
    pub(crate) unsafe fn move_netcdf4(&self, part: VariablePart) -> Result<()> {
        // SAFETY: the part and its pointers are those of the call.
        unsafe {
            match part {
                VariablePart::All | VariablePart::One { .. } | VariablePart::Slab { .. } => {
                    self.move_strided(part, Steps::from_elem(1, self.target.rank()))
                }
                VariablePart::Strided { stride, .. } => self.move_strided(part, self.strides(stride)),
                VariablePart::Mapped { stride, map, .. } => self.move_mapped(part, self.strides(stride), map),
            }
        }
    }

    /// Transfers a part that is dense in memory.
    ///
    /// # Safety
    /// `part` is that of the call, whose memory is dense.
    unsafe fn move_strided(&self, part: VariablePart, stride: Steps) -> Result<()> {
        self.check_text()?;
        ready_for_data(&self.file)?;
        if let Some(dim) = stride.iter().position(|&stride| stride <= 0) {
            return fail(Code::ESTRIDE, format!("dimension {dim}: the stride is {}", stride[dim]));
        }
        // SAFETY: the part is that of the call.
        let (start, count) = unsafe { self.corner(part) };
        let stride: Index = stride.iter().map(|&stride| stride as u64).collect();
        self.target.check_netcdf4(&start, &count, &stride, self.buffer.way)?;
        self.check_conversion()?;
        if count.contains(&0) {
            return Ok(());
        }
        // SAFETY: the memory is dense, with room for the elements of the part.
        in_range(unsafe { self.elements(Selection { start, count, stride }, None) }?)
    }

    /// Transfers a part with a map of memory. netCDF-C transfers one element at a time, so the inside elements are
    /// transferred even if the last one is outside.
    ///
    /// # Safety
    /// `part` and its `map` are those of the call.
    unsafe fn move_mapped(&self, part: VariablePart, stride: Steps, map: *const isize) -> Result<()> {
        if let Type::User(_) = self.target.ty {
            return fail(Code::EMAPTYPE, "values of user-defined types are not mapped");
        }
        self.check_text()?;
        // SAFETY: `map` is null or has a number for each dimension.
        let map = unsafe { crate::abi::pointers::list(map, self.target.rank()) };
        if self.target.rank() == 0 {
            // SAFETY: a scalar has one element, so the map does not matter.
            return unsafe { self.move_strided(part, stride) };
        }
        check_strides(&stride)?;
        if map.is_empty() && stride.iter().all(|&stride| stride == 1) {
            // SAFETY: without strides and map the memory is dense.
            return unsafe { self.move_strided(part, stride) };
        }
        // SAFETY: the part is that of the call.
        let (start, count) = unsafe { self.corner(part) };
        self.target.check_mapped(&start, &count, self.buffer.way)?;
        if count.contains(&0) {
            return Ok(());
        }
        ready_for_data(&self.file)?;
        self.check_conversion()?;
        let steps = if map.is_empty() { dense_steps(&count)? } else { Steps::from_slice(map) };
        let stride: Index = stride.iter().map(|&stride| stride as u64).collect();
        let reach = |dim: usize| stride[dim].saturating_mul(count[dim] - 1);
        let last: Index = (0..count.len()).map(|dim| start[dim].saturating_add(reach(dim))).collect();
        let inside = self.target.inside(&start, &count, &stride, self.buffer.way);
        let moved = if inside.contains(&0) {
            Ok(RangeCheck::InRange)
        } else {
            // SAFETY: the inside elements are a part of the elements for which the call has memory.
            unsafe { self.elements(Selection { start, count: inside, stride }, Some(&steps)) }
        };
        let one = Index::from_elem(1, last.len());
        self.target.check_netcdf4(&last, &one, &one, self.buffer.way)?;
        in_range(moved?)
    }

    /// Fails with `NC_EBADTYPE` if the types differ and one is a string or user-defined type: these do not convert.
    fn check_conversion(&self) -> Result<()> {
        let fits = match (self.buffer.memory, self.target.ty) {
            (MemoryType::Own, _) => true,
            (MemoryType::Elements(_), ty) => matches!(ty, Type::Atomic(atomic) if atomic != Atomic::String),
            (MemoryType::Strings, ty) => ty == Atomic::String.into(),
        };
        if fits {
            Ok(())
        } else {
            fail(Code::EBADTYPE, "the variable does not convert to the type of memory")
        }
    }

    /// Transfers at least one element, all inside the variable.
    ///
    /// # Safety
    /// The memory of the call has the elements of the selection, `steps` apart or dense.
    unsafe fn elements(&self, selection: Selection, steps: Option<&[isize]>) -> Result<RangeCheck> {
        if self.buffer.values.is_null() {
            return fail(Code::EINVAL, "the memory for values is a null pointer");
        }
        let kind = match self.buffer.memory {
            MemoryType::Own => self.target.kind,
            MemoryType::Elements(kind) => Some(kind),
            MemoryType::Strings => None,
        };
        // SAFETY: `values` is not null, and has memory for the selection with its steps.
        let fit = unsafe {
            match (kind, self.buffer.way) {
                (Some(kind), Direction::Get) => self.read_numbers(&selection, kind, steps),
                (None, Direction::Get) => self.read_nested(&selection, steps).map(|()| RangeCheck::InRange),
                (Some(kind), Direction::Put) => self.write_numbers(&selection, kind, steps),
                (None, Direction::Put) => self.write_nested(&selection, steps),
            }
        }?;
        if self.buffer.way == Direction::Put {
            self.file.state().set_written(self.target.var);
        }
        Ok(fit)
    }

    /// Returns the memory of the caller for elements of a size, and the index of the first selected element in it.
    ///
    /// # Safety
    /// The memory of the call has elements of `size` bytes for all counts, `steps` apart or dense, and there is no
    /// other reference to it.
    unsafe fn memory<'m>(
        &self,
        count: &[u64],
        size: usize,
        steps: Option<&[isize]>,
    ) -> Result<(&'m mut [u8], usize)> {
        let (low, len) = match steps {
            Some(steps) => span(count, steps),
            None => count
                .iter()
                .try_fold(1u64, |all, &count| all.checked_mul(count))
                .and_then(|len| Some((0, isize::try_from(len).ok()?))),
        }
        .and_then(|(low, len)| {
            Some((low.checked_mul(size as isize)?, len.checked_mul(size as isize)? as usize))
        })
        .ok_or_else(too_large)?;
        // SAFETY: the memory from the lowest to the highest addressed element belongs to the caller, as the function
        // says, and no other code uses it.
        let bytes = unsafe {
            let first = self.buffer.values.cast::<u8>().offset(low);
            std::slice::from_raw_parts_mut(first, len)
        };
        Ok((bytes, low.unsigned_abs() / size.max(1)))
    }

    /// # Safety
    /// The contract of [`Transfer::elements`], for memory of `kind`.
    unsafe fn read_numbers(
        &self,
        selection: &Selection,
        kind: Kind,
        steps: Option<&[isize]>,
    ) -> Result<RangeCheck> {
        // SAFETY: the memory is for elements of `kind`.
        let (bytes, origin) = unsafe { self.memory(&selection.count, kind.size(), steps) }?;
        let out = Out::raw(kind, bytes);
        let out = if let Some(steps) = steps { out.mapped(origin, steps) } else { out };
        self.file.file().read(self.target.var, selection, out)
    }

    /// # Safety
    /// The contract of [`Transfer::elements`], for memory of `kind`.
    unsafe fn write_numbers(
        &self,
        selection: &Selection,
        kind: Kind,
        steps: Option<&[isize]>,
    ) -> Result<RangeCheck> {
        // SAFETY: the memory has elements of `kind`; they are only read.
        let (bytes, origin) = unsafe { self.memory(&selection.count, kind.size(), steps) }?;
        let input = In::raw(kind, bytes);
        let input = if let Some(steps) = steps { input.mapped(origin, steps) } else { input };
        self.file.writable()?.write(self.target.var, selection, input)
    }

    /// # Safety
    /// The contract of [`Transfer::elements`], for memory of the type of the variable, with its strings and lists.
    unsafe fn write_nested(&self, selection: &Selection, steps: Option<&[isize]>) -> Result<RangeCheck> {
        let (model, ty) = (self.file.model(), self.target.ty);
        let size = model.size_of(ty);
        // SAFETY: the memory has values of the type of the variable; they are only read.
        let (bytes, origin) = unsafe { self.memory(&selection.count, size, steps) }?;
        let dense: Option<Vec<u8>> = steps.map(|steps| {
            let places = mapped(&selection.count, steps, origin);
            places.flat_map(|at| bytes[at * size..][..size].iter().copied()).collect()
        });
        let dense = dense.as_deref().unwrap_or(bytes);
        // SAFETY: the memory holds exactly the values, whose strings and lists belong to the caller.
        let values = unsafe { gather(&model, ty, dense.as_ptr(), dense.len() / size.max(1)) }?;
        self.file.writable()?.write_trees(self.target.var, selection, &values)
    }

    /// # Safety
    /// The contract of [`Transfer::elements`], for memory of the type of the variable.
    unsafe fn read_nested(&self, selection: &Selection, steps: Option<&[isize]>) -> Result<()> {
        let model = self.file.model();
        let size = model.size_of(self.target.ty);
        // SAFETY: the memory is for values of the type of the variable.
        let (bytes, origin) = unsafe { self.memory(&selection.count, size, steps) }?;
        let values = self.file.file().read_selected(self.target.var, selection)?;
        let Some(steps) = steps else { return lay_out(&model, &values, bytes) };
        let mut dense = vec![0; values.len() * size];
        lay_out(&model, &values, &mut dense)?;
        for (at, value) in mapped(&selection.count, steps, origin).zip(dense.chunks_exact(size.max(1))) {
            bytes[at * size..][..size].copy_from_slice(value);
        }
        Ok(())
    }
}

/// Returns the positions of the elements of a map in memory, last dimension fastest. No count is 0.
fn mapped(count: &[u64], steps: &[isize], origin: usize) -> impl Iterator<Item = usize> {
    let mut next = Some(Index::from_elem(0, count.len()));
    std::iter::from_fn(move || {
        let mut index = next.take()?;
        let offset: isize = index.iter().zip(steps).map(|(&at, &step)| at as isize * step).sum();
        for dim in (0..index.len()).rev() {
            index[dim] += 1;
            if index[dim] < count[dim] {
                next = Some(index);
                break;
            }
            index[dim] = 0;
        }
        Some((origin as isize + offset) as usize)
    })
}
