//! Functions of `netcdf.h` without a counterpart of the same arguments in `NC_Dispatch`, implemented with other
//! functions of the table.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr::{null, null_mut};

use ferrocdf::model::Filter;
use ferrocdf::{Atomic, Code, Result};

use super::{Closing, UserFile, VarFacts, close};
use crate::abi::answer::{answer, fail};
use crate::abi::constants::{NC_GLOBAL, NC_NOERR};
use crate::abi::pointers::{NameOut, Out, list, put_all, put_text};

impl UserFile {
    /// # Safety
    /// An `NC_memio` in `how` meets the contract of `nc_close_memio`.
    pub(crate) unsafe fn closed(&self, ncid: c_int, how: Closing) -> c_int {
        // SAFETY: the parameters are null or the `NC_memio` of `nc_close_memio`.
        unsafe { close(self, ncid, how) }
    }

    /// # Safety
    /// `path` is null or has room for the path and a zero byte.
    pub(crate) unsafe fn inq_path(&self, len: Out<usize>, path: *mut c_char) -> c_int {
        let text = self.path.as_bytes();
        // SAFETY: `path` is null or has room for the path and a zero byte.
        unsafe {
            len.put(text.len());
            put_text(path, text);
        }
        NC_NOERR
    }

    /// Answers for atomic types, which are the same in all formats; forwards user-defined ones to the format.
    ///
    /// # Safety
    /// The table keeps to the signatures of `NC_Dispatch`.
    pub(crate) unsafe fn inq_any_type(
        &self,
        ncid: c_int,
        ty: c_int,
        name: NameOut,
        size: Out<usize>,
    ) -> c_int {
        // SAFETY: the arguments carry their contract.
        unsafe {
            let Some(atomic) = u64::try_from(ty).ok().and_then(Atomic::from_nc_type) else {
                return self.inq_type(ncid, ty, name, size);
            };
            name.put(atomic.cdl_name().as_bytes());
            size.put(atomic.size());
        }
        NC_NOERR
    }

    /// # Safety
    /// The table keeps to the signatures of `NC_Dispatch`.
    pub(crate) unsafe fn inq_varnatts(&self, ncid: c_int, varid: c_int, count: Out<c_int>) -> c_int {
        // SAFETY: no list is requested.
        unsafe {
            match varid {
                NC_GLOBAL => self.inq(ncid, Out::NULL, Out::NULL, count, Out::NULL),
                _ => self.inq_facts(ncid, varid, VarFacts { attrs: count, ..VarFacts::default() }),
            }
        }
    }

    /// # Safety
    /// `chunk` is null or has a size for each dimension of the variable.
    pub(crate) unsafe fn def_chunking_ints(
        &self,
        ncid: c_int,
        varid: c_int,
        kind: c_int,
        chunk: *const c_int,
    ) -> c_int {
        let mut rank = 0;
        // SAFETY: `chunk` is null or has a size for each dimension, whose number the table returns.
        unsafe {
            let code =
                self.inq_facts(ncid, varid, VarFacts { rank: Out::from(&mut rank), ..VarFacts::default() });
            if code != NC_NOERR || chunk.is_null() {
                return if code == NC_NOERR {
                    self.def_var_chunking(ncid, varid, kind, null())
                } else {
                    code
                };
            }
            let sizes: Vec<usize> = list(chunk, rank as usize).iter().map(|&size| size as usize).collect();
            self.def_var_chunking(ncid, varid, kind, sizes.as_ptr())
        }
    }

    /// # Safety
    /// `chunk` is null or has room for a size for each dimension of the variable.
    pub(crate) unsafe fn inq_chunking_ints(
        &self,
        ncid: c_int,
        varid: c_int,
        kind: Out<c_int>,
        chunk: *mut c_int,
    ) -> c_int {
        let mut rank = 0;
        // SAFETY: the vector has a size for each dimension; `chunk` is null or has room for as many.
        unsafe {
            let code =
                self.inq_facts(ncid, varid, VarFacts { rank: Out::from(&mut rank), ..VarFacts::default() });
            if code != NC_NOERR {
                return code;
            }
            let mut sizes = vec![0; rank as usize];
            let code = self.inq_facts(
                ncid,
                varid,
                VarFacts { kind, chunk: sizes.as_mut_ptr(), ..VarFacts::default() },
            );
            if code == NC_NOERR {
                put_all(chunk, sizes.into_iter().map(|size| size as c_int));
            }
            code
        }
    }

    pub(crate) fn inq_szip(&self, ncid: c_int, varid: c_int, mask: Out<c_int>, pixels: Out<c_int>) -> c_int {
        answer(|| {
            let params = self.filter(ncid, varid, Filter::SZIP)?.unwrap_or_default();
            let param = |at: usize| params.get(at).map_or(0, |&param| param as c_int);
            mask.put(param(0));
            pixels.put(param(1));
            Ok(())
        })
    }

    /// Returns the parameters of a filter of a variable; `None` if the variable does not have it.
    pub(crate) fn filter(&self, ncid: c_int, varid: c_int, id: c_uint) -> Result<Option<Vec<c_uint>>> {
        let code = |code: c_int| match code {
            NC_NOERR => Ok(true),
            code if code == Code::ENOFILTER.0 => Ok(false),
            code => fail(Code(code), "its format does not tell the filters of a variable"),
        };
        let mut count = 0;
        // SAFETY: pointers are null or valid; `params` has room for the number of parameters that the table returned.
        unsafe {
            if !code(self.inq_var_filter_info(ncid, varid, id, Out::from(&mut count), null_mut()))? {
                return Ok(None);
            }
            let mut params = vec![0; count];
            let found =
                code(self.inq_var_filter_info(ncid, varid, id, Out::from(&mut count), params.as_mut_ptr()))?;
            Ok(found.then_some(params))
        }
    }

    /// # Safety
    /// `params` is null or has room for the parameters of the first filter.
    pub(crate) unsafe fn inq_first_filter(
        &self,
        ncid: c_int,
        varid: c_int,
        id: Out<c_uint>,
        count: Out<usize>,
        params: *mut c_uint,
    ) -> c_int {
        let mut filters = 0;
        // SAFETY: `ids` has room for the number of ids that the table returned; `params` is null or has room for the
        // parameters of the first filter.
        unsafe {
            let code = self.inq_var_filter_ids(ncid, varid, Out::from(&mut filters), null_mut());
            if code != NC_NOERR || filters == 0 {
                id.put(0);
                return code;
            }
            let mut ids = vec![0; filters];
            let code = self.inq_var_filter_ids(ncid, varid, Out::from(&mut filters), ids.as_mut_ptr());
            if code != NC_NOERR {
                return code;
            }
            id.put(ids[0]);
            self.inq_var_filter_info(ncid, varid, ids[0], count, params)
        }
    }
}
