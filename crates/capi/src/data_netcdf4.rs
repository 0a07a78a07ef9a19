//! Reading the variables of netCDF-4 files: which requests are right, in the reference's order, and values of all types.
//!
//! The rules are not those of classic files: any dimension may be unlimited, a strided request is checked to its last
//! element before anything is read, and values of all types come in their own type.

use ferrocdf::array::{Index, Kind, Out};
use ferrocdf::{Atomic, Code, Fit, Result, Selection, Type};

use crate::boundary::{fail, in_range};
use crate::data::{Memory, Part, Request, Steps, dense_steps, span, too_large};
use crate::data_checks::check_strides;
use crate::trees::lay_out;
use crate::types::size_of_type;

impl Request {
    /// Reads what `part` names.
    ///
    /// # Safety
    /// The contract of the interface.
    pub(crate) unsafe fn get_netcdf4(&self, part: Part) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe {
            match part {
                Part::All | Part::One { .. } | Part::Slab { .. } => {
                    self.get_strided(part, Steps::from_elem(1, self.target.rank()))
                }
                Part::Strided { stride, .. } => self.get_strided(part, self.strides(stride)),
                Part::Mapped { stride, map, .. } => self.get_mapped(part, self.strides(stride), map),
            }
        }
    }

    /// Dense in memory.
    unsafe fn get_strided(&self, part: Part, stride: Steps) -> Result<()> {
        self.check_text()?;
        if let Some(dim) = stride.iter().position(|&stride| stride <= 0) {
            return fail(Code::ESTRIDE, format!("dimension {dim}: the stride is {}", stride[dim]));
        }
        // SAFETY: as the caller says.
        let (start, count) = unsafe { self.corner(part) };
        let stride: Index = stride.iter().map(|&stride| stride as u64).collect();
        self.target.check_netcdf4(&start, &count, &stride)?;
        self.check_conversion()?;
        if count.contains(&0) {
            return Ok(());
        }
        // SAFETY: as the caller says.
        in_range(unsafe { self.read(Selection { start, count, stride }, None) }?)
    }

    /// With a map of memory: an element at a time as the reference does it, so the elements inside are read even where
    /// the last is outside.
    unsafe fn get_mapped(&self, part: Part, stride: Steps, map: *const isize) -> Result<()> {
        if let Type::User(_) = self.target.ty {
            return fail(Code::EMAPTYPE, "values of user-defined types are not mapped");
        }
        self.check_text()?;
        // SAFETY: as the caller says.
        let map = unsafe { crate::boundary::list(map, self.target.rank()) };
        if self.target.rank() == 0 {
            // SAFETY: as the caller says.
            return unsafe { self.get_strided(part, stride) };
        }
        check_strides(&stride)?;
        if map.is_empty() && stride.iter().all(|&stride| stride == 1) {
            // SAFETY: as the caller says.
            return unsafe { self.get_strided(part, stride) };
        }
        // SAFETY: as the caller says.
        let (start, count) = unsafe { self.corner(part) };
        self.target.check_mapped(&start, &count, self.buffer.way)?;
        if count.contains(&0) {
            return Ok(());
        }
        self.check_conversion()?;
        let steps = if map.is_empty() { dense_steps(&count)? } else { Steps::from_slice(map) };
        let stride: Index = stride.iter().map(|&stride| stride as u64).collect();
        let reach = |dim: usize| stride[dim].saturating_mul(count[dim] - 1);
        let last: Index = (0..count.len()).map(|dim| start[dim].saturating_add(reach(dim))).collect();
        let inside = self.target.inside(&start, &count, &stride, self.buffer.way);
        let moved = if inside.contains(&0) {
            Ok(Fit::Exact)
        } else {
            // SAFETY: as the caller says.
            unsafe { self.read(Selection { start, count: inside, stride }, Some(&steps)) }
        };
        let one = Index::from_elem(1, last.len());
        self.target.check_netcdf4(&last, &one, &one)?;
        in_range(moved?)
    }

    /// Strings and values of user-defined types do not convert.
    fn check_conversion(&self) -> Result<()> {
        let fits = match (self.buffer.memory, self.target.ty) {
            (Memory::Own, _) => true,
            (Memory::Elements(_), ty) => matches!(ty, Type::Atomic(atomic) if atomic != Atomic::String),
            (Memory::Strings, ty) => ty == Atomic::String.into(),
        };
        if fits {
            Ok(())
        } else {
            fail(Code::EBADTYPE, "the variable does not convert to the type of memory")
        }
    }

    /// Reads elements that are all inside, at least one.
    unsafe fn read(&self, selection: Selection, steps: Option<&[isize]>) -> Result<Fit> {
        if self.buffer.values.is_null() {
            return fail(Code::EINVAL, "the memory for values is a null pointer");
        }
        let kind = match self.buffer.memory {
            Memory::Own => self.target.kind,
            Memory::Elements(kind) => Some(kind),
            Memory::Strings => None,
        };
        // SAFETY: as the caller says.
        unsafe {
            match kind {
                Some(kind) => self.read_numbers(&selection, kind, steps),
                None => self.read_trees(&selection, steps).map(|()| Fit::Exact),
            }
        }
    }

    /// The caller's memory for elements of a size, and the one that is the first selected.
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
        // SAFETY: the memory from the lowest to the highest element that the request addresses is the caller's, by the
        // contract of the interface, and nobody else uses it meanwhile.
        let bytes = unsafe {
            let first = self.buffer.values.cast::<u8>().offset(low);
            std::slice::from_raw_parts_mut(first, len)
        };
        Ok((bytes, low.unsigned_abs() / size.max(1)))
    }

    unsafe fn read_numbers(&self, selection: &Selection, kind: Kind, steps: Option<&[isize]>) -> Result<Fit> {
        // SAFETY: as the caller says.
        let (bytes, origin) = unsafe { self.memory(&selection.count, kind.size(), steps) }?;
        let out = Out::raw(kind, bytes);
        let out = if let Some(steps) = steps { out.mapped(origin, steps) } else { out };
        self.file.file().read(self.target.var, selection, out)
    }

    unsafe fn read_trees(&self, selection: &Selection, steps: Option<&[isize]>) -> Result<()> {
        let model = self.file.model();
        let size = size_of_type(&model, self.target.ty);
        // SAFETY: as the caller says.
        let (bytes, origin) = unsafe { self.memory(&selection.count, size, steps) }?;
        let values = self.file.file().read_selected(self.target.var, selection)?;
        let Some(steps) = steps else { return lay_out(&model, &values, bytes) };
        let mut dense = vec![0; values.len() * size];
        lay_out(&model, &values, &mut dense)?;
        let mut index = Index::from_elem(0, selection.count.len());
        for value in dense.chunks_exact(size.max(1)) {
            let offset: isize = index.iter().zip(steps).map(|(&at, &step)| at as isize * step).sum();
            let to = (origin as isize + offset) as usize * size;
            bytes[to..to + size].copy_from_slice(value);
            for dim in (0..index.len()).rev() {
                index[dim] += 1;
                if index[dim] < selection.count[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
        Ok(())
    }
}
