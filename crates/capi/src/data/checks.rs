//! Checks of the part of a variable that a call addresses, in the order of netCDF-C.
//!
//! Most rules are those of the classic formats, in which only the first dimension may be unlimited. A writer may
//! address any record. A strided request is checked as if its strides were 1, and then fails at the first element
//! outside the variable, after the elements inside have been transferred.

use std::ffi::c_int;

use ferrocdf::array::{Index, Kind};
use ferrocdf::{Code, GroupId, Model, Result, Type, VarId, kind_of};

use crate::abi::answer::fail;
use crate::abi::transfer::Direction;
use crate::model::entities::variable;

/// Limit of the record numbers of a call.
const MOST_RECORDS: u64 = 1 << 32;
/// Smallest stride that is too large.
const STRIDE_LIMIT: isize = i32::MAX as isize;

/// Properties of a variable that a transfer needs.
pub(crate) struct TransferTarget {
    pub(crate) var: VarId,
    pub(crate) ty: Type,
    /// Kind of the elements; `None` for strings and user-defined types.
    pub(crate) kind: Option<Kind>,
    pub(crate) shape: Index,
    /// For each dimension, true if it is unlimited.
    pub(crate) grows: smallvec::SmallVec<[bool; 4]>,
    /// True if the first dimension is unlimited.
    pub(crate) is_record: bool,
}

impl TransferTarget {
    pub(crate) fn find(model: &Model, group: GroupId, varid: c_int) -> Result<TransferTarget> {
        let var = variable(model, group, varid)?;
        let described = model.var(var);
        Ok(TransferTarget {
            var,
            ty: described.ty,
            kind: match described.ty {
                Type::Atomic(atomic) => kind_of(atomic),
                Type::User(_) => None,
            },
            shape: described.dims.iter().map(|&dim| model.dim(dim).len).collect(),
            grows: described.dims.iter().map(|&dim| model.dim(dim).unlimited).collect(),
            is_record: model.is_record(var),
        })
    }

    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of records; `None` if the variable has none.
    pub(crate) fn records(&self) -> Option<u64> {
        if self.is_record { self.shape.first().copied() } else { None }
    }

    /// Checks a hyperslab. `reader` is true if the file is open for reading only.
    pub(crate) fn check_slab(
        &self,
        start: &[u64],
        count: &[u64],
        way: Direction,
        reader: bool,
    ) -> Result<()> {
        let fixed = usize::from(self.is_record);
        if let Some(records) = self.records()
            && (start[0] >= MOST_RECORDS || (reader && start[0] > records))
        {
            return outside(0, start[0], records);
        }
        for (dim, (&start, &len)) in start.iter().zip(&self.shape).enumerate().skip(fixed) {
            if start > len {
                return outside(dim, start, len);
            }
        }
        if let Some(records) = self.records()
            && reader
            && start[0] == records
            && count[0] > 0
        {
            return outside(0, start[0], records);
        }
        for dim in fixed..self.rank() {
            self.check_dimension(dim, start, count)?;
        }
        match self.records() {
            Some(records) if way == Direction::Get => check_end(0, start[0], count[0], records),
            _ => Ok(()),
        }
    }

    /// Checks a request with strides; every stride must be at least 1 and below `STRIDE_LIMIT`.
    pub(crate) fn check_strided(
        &self,
        start: &[u64],
        count: &[u64],
        stride: &[isize],
        way: Direction,
    ) -> Result<()> {
        let free = self.unchecked(way);
        for (dim, &stride) in stride.iter().enumerate() {
            if dim >= free {
                self.check_dimension(dim, start, count)?;
            }
            check_stride(dim, stride)?;
        }
        Ok(())
    }

    /// Checks a request with a map, whose strides are valid.
    pub(crate) fn check_mapped(&self, start: &[u64], count: &[u64], way: Direction) -> Result<()> {
        let mut dims = self.unchecked(way)..self.rank();
        match way {
            Direction::Get => dims.rev().try_for_each(|dim| self.check_dimension(dim, start, count)),
            Direction::Put => dims.try_for_each(|dim| self.check_dimension(dim, start, count)),
        }
    }

    /// Returns the number of leading dimensions whose indexes are not checked.
    fn unchecked(&self, way: Direction) -> usize {
        usize::from(self.is_record && way == Direction::Put)
    }

    /// Checks a request for elements of a netCDF-4 file, up to its last element. Unlimited dimensions may be written at
    /// any index; the end of an empty write is not checked.
    pub(crate) fn check_netcdf4(
        &self,
        start: &[u64],
        count: &[u64],
        stride: &[u64],
        way: Direction,
    ) -> Result<()> {
        let nothing = way == Direction::Put && count.contains(&0);
        for (dim, &len) in self.shape.iter().enumerate() {
            let (start, count) = (start[dim], count[dim]);
            if way == Direction::Put && self.grows[dim] {
                continue;
            }
            if start > len || (start == len && count > 0) {
                return outside(dim, start, len);
            }
            let last =
                count.checked_sub(1).map(|steps| stride[dim].saturating_mul(steps).saturating_add(start));
            if !nothing && last.is_some_and(|last| last >= len) {
                let what = format!(
                    "dimension {dim}: {count} elements from {start} on reach beyond its length {len}"
                );
                return fail(Code::EEDGE, what);
            }
        }
        Ok(())
    }

    fn check_dimension(&self, dim: usize, start: &[u64], count: &[u64]) -> Result<()> {
        let (start, count, len) = (start[dim], count[dim], self.shape[dim]);
        if start > len || (start == len && count > 0) {
            return outside(dim, start, len);
        }
        check_end(dim, start, count, len)
    }

    /// Returns the limit (exclusive) of the indexes of a strided transfer in a dimension.
    fn limit(&self, dim: usize, way: Direction) -> u64 {
        if dim < self.unchecked(way) { MOST_RECORDS } else { self.shape[dim] }
    }

    /// Returns the counts of the elements of a strided request that are inside the variable. The request passed the
    /// checks, and no count is 0.
    pub(crate) fn inside(&self, start: &[u64], count: &[u64], stride: &[u64], way: Direction) -> Index {
        let dims = start.iter().zip(count).zip(stride).enumerate();
        dims.map(|(dim, ((&start, &count), &stride))| {
            self.limit(dim, way).checked_sub(start).map_or(0, |room| room.div_ceil(stride)).min(count)
        })
        .collect()
    }
}

/// Checks the strides of a request with a map.
pub(crate) fn check_strides(strides: &[isize]) -> Result<()> {
    strides.iter().enumerate().try_for_each(|(dim, &stride)| check_stride(dim, stride))
}

fn check_stride(dim: usize, stride: isize) -> Result<()> {
    if (1..STRIDE_LIMIT).contains(&stride) {
        return Ok(());
    }
    fail(Code::ESTRIDE, format!("dimension {dim}: the stride is {stride}"))
}

fn check_end(dim: usize, start: u64, count: u64, len: u64) -> Result<()> {
    if start.checked_add(count).is_some_and(|end| end <= len) {
        return Ok(());
    }
    let what = format!("dimension {dim}: start {start} and count {count} reach beyond its length {len}");
    fail(Code::EEDGE, what)
}

fn outside(dim: usize, start: u64, len: u64) -> Result<()> {
    fail(Code::EINVALCOORDS, format!("dimension {dim}: start {start} is outside its length {len}"))
}
