//! Properties of a variable from `inq_var_all` of a dispatch table, by name instead of by position.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::UserFile;
use crate::abi::pointers::{NameOut, Out};

/// Pointers to memory for the properties of a variable; null for properties that the caller does not want.
pub(crate) struct VarFacts<'a> {
    pub(crate) name: NameOut<'a>,
    pub(crate) ty: Out<'a, c_int>,
    pub(crate) rank: Out<'a, c_int>,
    pub(crate) dims: *mut c_int,
    pub(crate) attrs: Out<'a, c_int>,
    pub(crate) shuffle: Out<'a, c_int>,
    pub(crate) deflate: Out<'a, c_int>,
    pub(crate) level: Out<'a, c_int>,
    pub(crate) checksum: Out<'a, c_int>,
    pub(crate) kind: Out<'a, c_int>,
    pub(crate) chunk: *mut usize,
    pub(crate) no_fill: Out<'a, c_int>,
    pub(crate) value: *mut c_void,
    pub(crate) endian: Out<'a, c_int>,
}

impl Default for VarFacts<'_> {
    fn default() -> Self {
        VarFacts {
            name: NameOut::NULL,
            ty: Out::NULL,
            rank: Out::NULL,
            dims: null_mut(),
            attrs: Out::NULL,
            shuffle: Out::NULL,
            deflate: Out::NULL,
            level: Out::NULL,
            checksum: Out::NULL,
            kind: Out::NULL,
            chunk: null_mut(),
            no_fill: Out::NULL,
            value: null_mut(),
            endian: Out::NULL,
        }
    }
}

impl UserFile {
    /// Calls `inq_var_all` of the table. The arguments for filters are always null.
    ///
    /// # Safety
    /// Each list of `facts` is null or has room for the values of the variable: an id and a size for each dimension, a
    /// fill value.
    pub(crate) unsafe fn inq_facts(&self, ncid: c_int, varid: c_int, facts: VarFacts) -> c_int {
        let VarFacts { name, ty, rank, dims, attrs, shuffle, deflate, .. } = facts;
        let VarFacts { level, checksum, kind, chunk, no_fill, value, endian, .. } = facts;
        let (filter, filter_params, filter_values) = (Out::NULL, Out::NULL, null_mut());
        // SAFETY: the pointers are null or have room for the values of the variable; the last three are null, so
        // nothing is written there.
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
