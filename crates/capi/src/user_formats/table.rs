//! `NC_Dispatch` of `netcdf_dispatch.h`: the functions of a format. Each is written once, and becomes a field of the
//! table and a method that calls it.

use std::ffi::{c_char, c_int, c_longlong, c_uint, c_void};

use ferrocdf::Code;

use super::UserFile;
use crate::abi::pointers::{NameOut, Out, Str};

/// Version of `NC_Dispatch` in the headers.
pub(crate) const DISPATCH_VERSION: c_int = 5;

macro_rules! dispatch {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// Dispatch table of a format, in memory of the program.
        #[repr(C)]
        pub(crate) struct Dispatch {
            /// `NC_FORMATX_*`
            pub(crate) model: c_int,
            pub(crate) dispatch_version: c_int,
            $(pub(super) $name: Option<unsafe extern "C" fn($($type),*) -> c_int>,)*
        }

        impl UserFile {$(
            /// Calls the function of this name. Returns `NC_EINVAL` if the table has none, where netCDF-C crashes.
            ///
            /// # Safety
            /// Raw pointers keep to the contract of the function of this name in `netcdf.h`.
            #[allow(dead_code, reason = "no call of this library ends in some of them")]
            #[allow(clippy::too_many_arguments, reason = "those of the interface")]
            pub(crate) unsafe fn $name(&self, $($argument: $type),*) -> c_int {
                match self.table().$name {
                    // SAFETY: the table has the version with this signature; the arguments are valid as the caller
                    // says.
                    Some(function) => unsafe { function($($argument),*) },
                    None => Code::EINVAL.0,
                }
            }
        )*}
    };
}

dispatch! {
    create(path: Str, mode: c_int, size: usize, pe: c_int, hint: Out<usize>, parameters: *mut c_void,
        table: *const Dispatch, ncid: c_int);
    open(path: Str, mode: c_int, pe: c_int, hint: Out<usize>, parameters: *mut c_void, table: *const Dispatch,
        ncid: c_int);
    redef(ncid: c_int);
    _enddef(ncid: c_int, header_free: usize, data_align: usize, data_free: usize, records_align: usize);
    sync(ncid: c_int);
    abort(ncid: c_int);
    close(ncid: c_int, parameters: *mut c_void);
    set_fill(ncid: c_int, mode: c_int, old: Out<c_int>);
    inq_format(ncid: c_int, format: Out<c_int>);
    inq_format_extended(ncid: c_int, format: Out<c_int>, mode: Out<c_int>);
    inq(ncid: c_int, dims: Out<c_int>, vars: Out<c_int>, attrs: Out<c_int>, unlimited: Out<c_int>);
    inq_type(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>);
    def_dim(ncid: c_int, name: Str, len: usize, id: Out<c_int>);
    inq_dimid(ncid: c_int, name: Str, id: Out<c_int>);
    inq_dim(ncid: c_int, id: c_int, name: NameOut, len: Out<usize>);
    inq_unlimdim(ncid: c_int, id: Out<c_int>);
    rename_dim(ncid: c_int, id: c_int, name: Str);
    inq_att(ncid: c_int, varid: c_int, name: Str, ty: Out<c_int>, len: Out<usize>);
    inq_attid(ncid: c_int, varid: c_int, name: Str, id: Out<c_int>);
    inq_attname(ncid: c_int, varid: c_int, at: c_int, name: NameOut);
    rename_att(ncid: c_int, varid: c_int, name: Str, new: Str);
    del_att(ncid: c_int, varid: c_int, name: Str);
    get_att(ncid: c_int, varid: c_int, name: Str, values: *mut c_void, memory: c_int);
    put_att(ncid: c_int, varid: c_int, name: Str, ty: c_int, len: usize, values: *const c_void, memory: c_int);
    def_var(ncid: c_int, name: Str, ty: c_int, rank: c_int, dims: *const c_int, id: Out<c_int>);
    inq_varid(ncid: c_int, name: Str, id: Out<c_int>);
    rename_var(ncid: c_int, varid: c_int, name: Str);
    get_vara(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, values: *mut c_void, memory: c_int);
    put_vara(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, values: *const c_void, memory: c_int);
    get_vars(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, stride: *const isize,
        values: *mut c_void, memory: c_int);
    put_vars(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, stride: *const isize,
        values: *const c_void, memory: c_int);
    get_varm(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, stride: *const isize,
        map: *const isize, values: *mut c_void, memory: c_int);
    put_varm(ncid: c_int, varid: c_int, start: *const usize, count: *const usize, stride: *const isize,
        map: *const isize, values: *const c_void, memory: c_int);
    inq_var_all(ncid: c_int, varid: c_int, name: NameOut, ty: Out<c_int>, rank: Out<c_int>, dims: *mut c_int,
        attrs: Out<c_int>, shuffle: Out<c_int>, deflate: Out<c_int>, level: Out<c_int>, checksum: Out<c_int>,
        storage: Out<c_int>, chunk: *mut usize, no_fill: Out<c_int>, fill: *mut c_void, endian: Out<c_int>,
        filter: Out<c_uint>, count: Out<usize>, params: *mut c_uint);
    var_par_access(ncid: c_int, varid: c_int, access: c_int);
    def_var_fill(ncid: c_int, varid: c_int, no_fill: c_int, value: *const c_void);
    show_metadata(ncid: c_int);
    inq_unlimdims(ncid: c_int, count: Out<c_int>, ids: *mut c_int);
    inq_ncid(ncid: c_int, name: Str, id: Out<c_int>);
    inq_grps(ncid: c_int, count: Out<c_int>, ids: *mut c_int);
    inq_grpname(ncid: c_int, name: NameOut);
    inq_grpname_full(ncid: c_int, len: Out<usize>, path: *mut c_char);
    inq_grp_parent(ncid: c_int, id: Out<c_int>);
    inq_grp_full_ncid(ncid: c_int, path: Str, id: Out<c_int>);
    inq_varids(ncid: c_int, count: Out<c_int>, ids: *mut c_int);
    inq_dimids(ncid: c_int, count: Out<c_int>, ids: *mut c_int, include_parents: c_int);
    inq_typeids(ncid: c_int, count: Out<c_int>, ids: *mut c_int);
    inq_type_equal(ncid: c_int, ty: c_int, other_id: c_int, other: c_int, equal: Out<c_int>);
    def_grp(ncid: c_int, name: Str, id: Out<c_int>);
    rename_grp(ncid: c_int, name: Str);
    inq_user_type(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>, base: Out<c_int>, count: Out<usize>,
        class: Out<c_int>);
    inq_typeid(ncid: c_int, name: Str, id: Out<c_int>);
    def_compound(ncid: c_int, size: usize, name: Str, id: Out<c_int>);
    insert_compound(ncid: c_int, ty: c_int, name: Str, offset: usize, field: c_int);
    insert_array_compound(ncid: c_int, ty: c_int, name: Str, offset: usize, field: c_int, rank: c_int,
        shape: *const c_int);
    inq_compound_field(ncid: c_int, ty: c_int, at: c_int, name: NameOut, offset: Out<usize>, field: Out<c_int>,
        rank: Out<c_int>, shape: *mut c_int);
    inq_compound_fieldindex(ncid: c_int, ty: c_int, name: Str, at: Out<c_int>);
    def_vlen(ncid: c_int, name: Str, base: c_int, id: Out<c_int>);
    put_vlen_element(ncid: c_int, ty: c_int, element: *mut c_void, len: usize, values: *const c_void);
    get_vlen_element(ncid: c_int, ty: c_int, element: *const c_void, len: Out<usize>, values: *mut c_void);
    def_enum(ncid: c_int, base: c_int, name: Str, id: Out<c_int>);
    insert_enum(ncid: c_int, ty: c_int, name: Str, value: *const c_void);
    inq_enum_member(ncid: c_int, ty: c_int, at: c_int, name: NameOut, value: *mut c_void);
    inq_enum_ident(ncid: c_int, ty: c_int, value: c_longlong, name: NameOut);
    def_opaque(ncid: c_int, size: usize, name: Str, id: Out<c_int>);
    def_var_deflate(ncid: c_int, varid: c_int, shuffle: c_int, deflate: c_int, level: c_int);
    def_var_fletcher32(ncid: c_int, varid: c_int, checksum: c_int);
    def_var_chunking(ncid: c_int, varid: c_int, kind: c_int, chunk: *const usize);
    def_var_endian(ncid: c_int, varid: c_int, endian: c_int);
    def_var_filter(ncid: c_int, varid: c_int, id: c_uint, count: usize, params: *const c_uint);
    set_var_chunk_cache(ncid: c_int, varid: c_int, size: usize, places: usize, preemption: f32);
    get_var_chunk_cache(ncid: c_int, varid: c_int, size: Out<usize>, places: Out<usize>, preemption: Out<f32>);
    inq_var_filter_ids(ncid: c_int, varid: c_int, count: Out<usize>, ids: *mut c_uint);
    inq_var_filter_info(ncid: c_int, varid: c_int, id: c_uint, count: Out<usize>, params: *mut c_uint);
    def_var_quantize(ncid: c_int, varid: c_int, mode: c_int, digits: c_int);
    inq_var_quantize(ncid: c_int, varid: c_int, mode: Out<c_int>, digits: Out<c_int>);
    inq_filter_avail(ncid: c_int, id: c_uint);
}
