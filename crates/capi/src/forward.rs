//! Functions of the interface that take the id of a file; only this module exports them. A file of a user-defined
//! format is served by the functions of its dispatch table, every other file by the functions of this crate.
//!
//! A row names the function of this crate, under its module, and after the arrow the corresponding call of the dispatch
//! table. Functions with several types in memory are defined in `data::table` and `attributes::values`, which forward
//! such files in one place each.

use std::ffi::{c_char, c_int, c_longlong, c_uint, c_void};
use std::ptr::null_mut;

use ferrocdf::model::Filter;

use crate::abi::pointers::{NameOut, Out, Str};
use crate::files::memory_calls::NcMemio;
use crate::user_formats::{Closing, VarFacts, user_file};

/// Defines one row: a function of the module in brackets, and the call of the dispatch table.
macro_rules! forward_row {
    ([$($module:ident)::+] $name:ident($id:ident $(, $argument:ident: $type:ty)*) => $call:ident($($given:expr),*)) => {
        /// # Safety
        /// The contract of the function of this crate with the same name, for its raw pointers.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some of our functions take no raw pointers")]
        pub unsafe extern "C" fn $name($id: c_int $(, $argument: $type)*) -> c_int {
            // SAFETY: the arguments are those of the call, so they keep to its contract, which both functions have.
            unsafe {
                match user_file($id) {
                    Some(file) => file.$call($($given),*),
                    None => crate::$($module)::+::$name($id $(, $argument)*),
                }
            }
        }
    };
}

macro_rules! forward {
    ($($module:tt { $($name:ident $arguments:tt => $call:ident $given:tt;)* })*) => {$($(
        forward_row!($module $name $arguments => $call $given);
    )*)*};
}

forward! {
    [files::define_mode] {
        nc_redef(ncid) => redef(ncid);
        nc_enddef(ncid) => _enddef(ncid, 0, 1, 0, 1);
        nc__enddef(ncid, header_free: usize, data_align: usize, data_free: usize, records_align: usize) =>
            _enddef(ncid, header_free, data_align, data_free, records_align);
        nc_sync(ncid) => sync(ncid);
        nc_set_fill(ncid, mode: c_int, old: Out<c_int>) => set_fill(ncid, mode, old);
    }
    [files::close] {
        nc_close(ncid) => closed(ncid, Closing::Close(null_mut()));
        nc_abort(ncid) => closed(ncid, Closing::Abort);
    }
    [files::memory_calls] {
        nc_close_memio(ncid, memio: *mut NcMemio) => closed(ncid, Closing::Close(memio.cast()));
    }
    [files::inquire] {
        nc_inq(ncid, dims: Out<c_int>, vars: Out<c_int>, attrs: Out<c_int>, unlimited: Out<c_int>) =>
            inq(ncid, dims, vars, attrs, unlimited);
        nc_inq_ndims(ncid, count: Out<c_int>) => inq(ncid, count, Out::NULL, Out::NULL, Out::NULL);
        nc_inq_nvars(ncid, count: Out<c_int>) => inq(ncid, Out::NULL, count, Out::NULL, Out::NULL);
        nc_inq_natts(ncid, count: Out<c_int>) => inq(ncid, Out::NULL, Out::NULL, count, Out::NULL);
        nc_inq_unlimdim(ncid, id: Out<c_int>) => inq_unlimdim(ncid, id);
        nc_inq_format(ncid, format: Out<c_int>) => inq_format(ncid, format);
        nc_inq_format_extended(ncid, format: Out<c_int>, mode: Out<c_int>) =>
            inq_format_extended(ncid, format, mode);
        nc_inq_path(ncid, len: Out<usize>, path: *mut c_char) => inq_path(len, path);
    }
    [dimensions] {
        nc_def_dim(ncid, name: Str, len: usize, id: Out<c_int>) => def_dim(ncid, name, len, id);
        nc_inq_dimid(ncid, name: Str, id: Out<c_int>) => inq_dimid(ncid, name, id);
        nc_inq_dim(ncid, id: c_int, name: NameOut, len: Out<usize>) => inq_dim(ncid, id, name, len);
        nc_inq_dimname(ncid, id: c_int, name: NameOut) => inq_dim(ncid, id, name, Out::NULL);
        nc_inq_dimlen(ncid, id: c_int, len: Out<usize>) => inq_dim(ncid, id, NameOut::NULL, len);
        nc_rename_dim(ncid, id: c_int, name: Str) => rename_dim(ncid, id, name);
        nc_inq_unlimdims(ncid, count: Out<c_int>, ids: *mut c_int) => inq_unlimdims(ncid, count, ids);
    }
    [groups] {
        nc_inq_dimids(ncid, count: Out<c_int>, ids: *mut c_int, include_parents: c_int) =>
            inq_dimids(ncid, count, ids, include_parents);
        nc_inq_varids(ncid, count: Out<c_int>, ids: *mut c_int) => inq_varids(ncid, count, ids);
        nc_inq_ncid(ncid, name: Str, id: Out<c_int>) => inq_ncid(ncid, name, id);
        nc_inq_grp_ncid(ncid, name: Str, id: Out<c_int>) => inq_ncid(ncid, name, id);
        nc_inq_grp_full_ncid(ncid, path: Str, id: Out<c_int>) => inq_grp_full_ncid(ncid, path, id);
        nc_inq_grps(ncid, count: Out<c_int>, ids: *mut c_int) => inq_grps(ncid, count, ids);
        nc_inq_grpname(ncid, name: NameOut) => inq_grpname(ncid, name);
        nc_inq_grpname_full(ncid, len: Out<usize>, path: *mut c_char) => inq_grpname_full(ncid, len, path);
        nc_inq_grpname_len(ncid, len: Out<usize>) => inq_grpname_full(ncid, len, null_mut());
        nc_inq_grp_parent(ncid, id: Out<c_int>) => inq_grp_parent(ncid, id);
        nc_def_grp(ncid, name: Str, id: Out<c_int>) => def_grp(ncid, name, id);
        nc_rename_grp(ncid, name: Str) => rename_grp(ncid, name);
        nc_show_metadata(ncid) => show_metadata(ncid);
    }
    [attributes] {
        nc_inq_att(ncid, varid: c_int, name: Str, ty: Out<c_int>, len: Out<usize>) =>
            inq_att(ncid, varid, name, ty, len);
        nc_inq_atttype(ncid, varid: c_int, name: Str, ty: Out<c_int>) =>
            inq_att(ncid, varid, name, ty, Out::NULL);
        nc_inq_attlen(ncid, varid: c_int, name: Str, len: Out<usize>) =>
            inq_att(ncid, varid, name, Out::NULL, len);
        nc_inq_attid(ncid, varid: c_int, name: Str, id: Out<c_int>) => inq_attid(ncid, varid, name, id);
        nc_inq_attname(ncid, varid: c_int, at: c_int, name: NameOut) => inq_attname(ncid, varid, at, name);
        nc_rename_att(ncid, varid: c_int, name: Str, new: Str) =>
            rename_att(ncid, varid, name, new);
        nc_del_att(ncid, varid: c_int, name: Str) => del_att(ncid, varid, name);
    }
    [variables] {
        nc_def_var(ncid, name: Str, ty: c_int, rank: c_int, dims: *const c_int, id: Out<c_int>) =>
            def_var(ncid, name, ty, rank, dims, id);
        nc_inq_varid(ncid, name: Str, id: Out<c_int>) => inq_varid(ncid, name, id);
        nc_rename_var(ncid, varid: c_int, name: Str) => rename_var(ncid, varid, name);
        nc_inq_var(ncid, varid: c_int, name: NameOut, ty: Out<c_int>, rank: Out<c_int>, dims: *mut c_int,
            attrs: Out<c_int>) => inq_facts(ncid, varid, VarFacts { name, ty, rank, dims, attrs, ..VarFacts::default() });
        nc_inq_varname(ncid, varid: c_int, name: NameOut) =>
            inq_facts(ncid, varid, VarFacts { name, ..VarFacts::default() });
        nc_inq_vartype(ncid, varid: c_int, ty: Out<c_int>) =>
            inq_facts(ncid, varid, VarFacts { ty, ..VarFacts::default() });
        nc_inq_varndims(ncid, varid: c_int, rank: Out<c_int>) =>
            inq_facts(ncid, varid, VarFacts { rank, ..VarFacts::default() });
        nc_inq_vardimid(ncid, varid: c_int, dims: *mut c_int) =>
            inq_facts(ncid, varid, VarFacts { dims, ..VarFacts::default() });
        nc_inq_varnatts(ncid, varid: c_int, count: Out<c_int>) => inq_varnatts(ncid, varid, count);
    }
    [variables::fill_values] {
        nc_def_var_fill(ncid, varid: c_int, no_fill: c_int, value: *const c_void) =>
            def_var_fill(ncid, varid, no_fill, value);
        nc_inq_var_fill(ncid, varid: c_int, no_fill: Out<c_int>, value: *mut c_void) =>
            inq_facts(ncid, varid, VarFacts { no_fill, value, ..VarFacts::default() });
    }
    [storage::chunking] {
        nc_def_var_chunking(ncid, varid: c_int, kind: c_int, chunk: *const usize) =>
            def_var_chunking(ncid, varid, kind, chunk);
        nc_inq_var_chunking(ncid, varid: c_int, kind: Out<c_int>, chunk: *mut usize) =>
            inq_facts(ncid, varid, VarFacts { kind, chunk, ..VarFacts::default() });
        nc_def_var_chunking_ints(ncid, varid: c_int, kind: c_int, chunk: *const c_int) =>
            def_chunking_ints(ncid, varid, kind, chunk);
        nc_inq_var_chunking_ints(ncid, varid: c_int, kind: Out<c_int>, chunk: *mut c_int) =>
            inq_chunking_ints(ncid, varid, kind, chunk);
    }
    [storage::byte_order] {
        nc_def_var_endian(ncid, varid: c_int, endian: c_int) => def_var_endian(ncid, varid, endian);
        nc_inq_var_endian(ncid, varid: c_int, endian: Out<c_int>) =>
            inq_facts(ncid, varid, VarFacts { endian, ..VarFacts::default() });
    }
    [storage::compression] {
        nc_def_var_deflate(ncid, varid: c_int, shuffle: c_int, deflate: c_int, level: c_int) =>
            def_var_deflate(ncid, varid, shuffle, deflate, level);
        nc_inq_var_deflate(ncid, varid: c_int, shuffle: Out<c_int>, deflate: Out<c_int>, level: Out<c_int>) =>
            inq_facts(ncid, varid, VarFacts { shuffle, deflate, level, ..VarFacts::default() });
        nc_def_var_fletcher32(ncid, varid: c_int, checksum: c_int) => def_var_fletcher32(ncid, varid, checksum);
        nc_inq_var_fletcher32(ncid, varid: c_int, checksum: Out<c_int>) =>
            inq_facts(ncid, varid, VarFacts { checksum, ..VarFacts::default() });
        nc_def_var_szip(ncid, varid: c_int, mask: c_int, pixels: c_int) =>
            def_var_filter(ncid, varid, Filter::SZIP, 2, [mask as c_uint, pixels as c_uint].as_ptr());
        nc_inq_var_szip(ncid, varid: c_int, mask: Out<c_int>, pixels: Out<c_int>) =>
            inq_szip(ncid, varid, mask, pixels);
    }
    [storage::quantization] {
        nc_def_var_quantize(ncid, varid: c_int, mode: c_int, digits: c_int) =>
            def_var_quantize(ncid, varid, mode, digits);
        nc_inq_var_quantize(ncid, varid: c_int, mode: Out<c_int>, digits: Out<c_int>) =>
            inq_var_quantize(ncid, varid, mode, digits);
    }
    [storage::caches] {
        nc_set_var_chunk_cache(ncid, varid: c_int, size: usize, places: usize, preemption: f32) =>
            set_var_chunk_cache(ncid, varid, size, places, preemption);
        nc_get_var_chunk_cache(ncid, varid: c_int, size: Out<usize>, places: Out<usize>, preemption: Out<f32>) =>
            get_var_chunk_cache(ncid, varid, size, places, preemption);
    }
    [storage::filters] {
        nc_def_var_filter(ncid, varid: c_int, id: c_uint, count: usize, params: *const c_uint) =>
            def_var_filter(ncid, varid, id, count, params);
        nc_inq_var_filter(ncid, varid: c_int, id: Out<c_uint>, count: Out<usize>, params: *mut c_uint) =>
            inq_first_filter(ncid, varid, id, count, params);
        nc_inq_var_filter_ids(ncid, varid: c_int, count: Out<usize>, ids: *mut c_uint) =>
            inq_var_filter_ids(ncid, varid, count, ids);
        nc_inq_var_filter_info(ncid, varid: c_int, id: c_uint, count: Out<usize>, params: *mut c_uint) =>
            inq_var_filter_info(ncid, varid, id, count, params);
    }
    [storage::compressors] {
        nc_def_var_bzip2(ncid, varid: c_int, level: c_int) =>
            def_var_filter(ncid, varid, Filter::BZIP2, 1, [level as c_uint].as_ptr());
        nc_def_var_zstandard(ncid, varid: c_int, level: c_int) =>
            def_var_filter(ncid, varid, Filter::ZSTD, 1, [level as c_uint].as_ptr());
        nc_def_var_blosc(ncid, varid: c_int, compressor: c_uint, level: c_uint, block: c_uint, shuffle: c_uint) =>
            def_var_filter(ncid, varid, Filter::BLOSC, 7, [0, 0, 0, block, level, shuffle, compressor].as_ptr());
        nc_inq_filter_avail(ncid, id: c_uint) => inq_filter_avail(ncid, id);
    }
    [types::inquire] {
        nc_inq_type(ncid, ty: c_int, name: NameOut, size: Out<usize>) => inq_any_type(ncid, ty, name, size);
        nc_inq_typeid(ncid, name: Str, id: Out<c_int>) => inq_typeid(ncid, name, id);
        nc_inq_typeids(ncid, count: Out<c_int>, ids: *mut c_int) => inq_typeids(ncid, count, ids);
        nc_inq_user_type(ncid, ty: c_int, name: NameOut, size: Out<usize>, base: Out<c_int>, count: Out<usize>,
            class: Out<c_int>) => inq_user_type(ncid, ty, name, size, base, count, class);
    }
    [types::equality] {
        nc_inq_type_equal(ncid, ty: c_int, other_id: c_int, other: c_int, equal: Out<c_int>) =>
            inq_type_equal(ncid, ty, other_id, other, equal);
    }
    [types::compounds] {
        nc_def_compound(ncid, size: usize, name: Str, id: Out<c_int>) =>
            def_compound(ncid, size, name, id);
        nc_insert_compound(ncid, ty: c_int, name: Str, offset: usize, field: c_int) =>
            insert_compound(ncid, ty, name, offset, field);
        nc_insert_array_compound(ncid, ty: c_int, name: Str, offset: usize, field: c_int, rank: c_int,
            shape: *const c_int) => insert_array_compound(ncid, ty, name, offset, field, rank, shape);
        nc_inq_compound(ncid, ty: c_int, name: NameOut, size: Out<usize>, fields: Out<usize>) =>
            inq_user_type(ncid, ty, name, size, Out::NULL, fields, Out::NULL);
        nc_inq_compound_field(ncid, ty: c_int, at: c_int, name: NameOut, offset: Out<usize>,
            field: Out<c_int>, rank: Out<c_int>, shape: *mut c_int) =>
            inq_compound_field(ncid, ty, at, name, offset, field, rank, shape);
        nc_inq_compound_fieldindex(ncid, ty: c_int, name: Str, at: Out<c_int>) =>
            inq_compound_fieldindex(ncid, ty, name, at);
    }
    [types::sequences] {
        nc_def_vlen(ncid, name: Str, base: c_int, id: Out<c_int>) => def_vlen(ncid, name, base, id);
        nc_inq_vlen(ncid, ty: c_int, name: NameOut, size: Out<usize>, base: Out<c_int>) =>
            inq_user_type(ncid, ty, name, size, base, Out::NULL, Out::NULL);
        nc_put_vlen_element(ncid, ty: c_int, element: *mut c_void, len: usize, values: *const c_void) =>
            put_vlen_element(ncid, ty, element, len, values);
        nc_get_vlen_element(ncid, ty: c_int, element: *const c_void, len: Out<usize>, values: *mut c_void) =>
            get_vlen_element(ncid, ty, element, len, values);
    }
    [types::opaque] {
        nc_def_opaque(ncid, size: usize, name: Str, id: Out<c_int>) => def_opaque(ncid, size, name, id);
        nc_inq_opaque(ncid, ty: c_int, name: NameOut, size: Out<usize>) =>
            inq_user_type(ncid, ty, name, size, Out::NULL, Out::NULL, Out::NULL);
    }
    [types::enumerations] {
        nc_def_enum(ncid, base: c_int, name: Str, id: Out<c_int>) => def_enum(ncid, base, name, id);
        nc_insert_enum(ncid, ty: c_int, name: Str, value: *const c_void) =>
            insert_enum(ncid, ty, name, value);
        nc_inq_enum(ncid, ty: c_int, name: NameOut, base: Out<c_int>, size: Out<usize>, members: Out<usize>) =>
            inq_user_type(ncid, ty, name, size, base, members, Out::NULL);
        nc_inq_enum_member(ncid, ty: c_int, at: c_int, name: NameOut, value: *mut c_void) =>
            inq_enum_member(ncid, ty, at, name, value);
        nc_inq_enum_ident(ncid, ty: c_int, value: c_longlong, name: NameOut) =>
            inq_enum_ident(ncid, ty, value, name);
    }
}
