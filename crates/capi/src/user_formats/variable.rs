//! The facts of a variable that `inq_var_all` of a table of functions tells, by name instead of by position.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use super::UserFile;

/// Pointers to memory for the facts of a variable; null for facts that the caller does not want.
pub(crate) struct VarFacts {
    pub(crate) name: *mut c_char,
    pub(crate) ty: *mut c_int,
    pub(crate) rank: *mut c_int,
    pub(crate) dims: *mut c_int,
    pub(crate) attrs: *mut c_int,
    pub(crate) shuffle: *mut c_int,
    pub(crate) deflate: *mut c_int,
    pub(crate) level: *mut c_int,
    pub(crate) checksum: *mut c_int,
    pub(crate) kind: *mut c_int,
    pub(crate) chunk: *mut usize,
    pub(crate) no_fill: *mut c_int,
    pub(crate) value: *mut c_void,
    pub(crate) endian: *mut c_int,
}

impl Default for VarFacts {
    fn default() -> Self {
        VarFacts {
            name: null_mut(),
            ty: null_mut(),
            rank: null_mut(),
            dims: null_mut(),
            attrs: null_mut(),
            shuffle: null_mut(),
            deflate: null_mut(),
            level: null_mut(),
            checksum: null_mut(),
            kind: null_mut(),
            chunk: null_mut(),
            no_fill: null_mut(),
            value: null_mut(),
            endian: null_mut(),
        }
    }
}

impl UserFile {
    /// Calls `inq_var_all` of the table. Szip and the number of a filter are never asked for.
    ///
    /// # Safety
    /// The contract of the interface.
    pub(crate) unsafe fn inq_facts(&self, ncid: c_int, varid: c_int, facts: VarFacts) -> c_int {
        let VarFacts { name, ty, rank, dims, attrs, shuffle, deflate, .. } = facts;
        let VarFacts { level, checksum, kind, chunk, no_fill, value, endian, .. } = facts;
        let (filter, filter_params, filter_values) = (null_mut(), null_mut(), null_mut());
        // SAFETY: as the caller says.
        unsafe {
            self.inq_var_all(
                ncid,
                varid,
                name,
                ty,
                rank,
                dims,
                attrs,
                shuffle,
                deflate,
                level,
                checksum,
                kind,
                chunk,
                no_fill,
                value,
                endian,
                filter,
                filter_params,
                filter_values,
            )
        }
    }
}
