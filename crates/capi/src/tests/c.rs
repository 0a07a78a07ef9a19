//! Functions of the interface for tests, declared as in C: with raw pointers, and linked by their exported names.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::auxiliary::plugin_path::PluginList;

unsafe extern "C" {
    pub(crate) safe fn nc_abort(ncid: c_int) -> c_int;
    pub(crate) safe fn nc_close(ncid: c_int) -> c_int;
    pub(crate) fn nc_create(path: *const c_char, mode: c_int, id: *mut c_int) -> c_int;
    pub(crate) fn nc_def_dim(ncid: c_int, name: *const c_char, len: usize, id: *mut c_int) -> c_int;
    pub(crate) fn nc_def_var(
        ncid: c_int,
        name: *const c_char,
        ty: c_int,
        dims_count: c_int,
        dims: *const c_int,
        id: *mut c_int,
    ) -> c_int;
    pub(crate) fn nc_def_var_chunking(ncid: c_int, varid: c_int, kind: c_int, chunk: *const usize) -> c_int;
    pub(crate) fn nc_delete(path: *const c_char) -> c_int;
    pub(crate) safe fn nc_enddef(ncid: c_int) -> c_int;
    pub(crate) fn nc_get_chunk_cache(size: *mut usize, places: *mut usize, preemption: *mut f32) -> c_int;
    pub(crate) fn nc_get_var1_double(
        ncid: c_int,
        varid: c_int,
        start: *const usize,
        values: *mut f64,
    ) -> c_int;
    pub(crate) fn nc_get_var_chunk_cache(
        ncid: c_int,
        varid: c_int,
        size: *mut usize,
        places: *mut usize,
        preemption: *mut f32,
    ) -> c_int;
    pub(crate) fn nc_get_var_float(ncid: c_int, varid: c_int, values: *mut f32) -> c_int;
    pub(crate) fn nc_get_var_int(ncid: c_int, varid: c_int, values: *mut c_int) -> c_int;
    pub(crate) fn nc_inq_format(ncid: c_int, format: *mut c_int) -> c_int;
    pub(crate) fn nc_inq_format_extended(ncid: c_int, format: *mut c_int, mode: *mut c_int) -> c_int;
    pub(crate) fn nc_inq_path(ncid: c_int, len: *mut usize, path: *mut c_char) -> c_int;
    pub(crate) fn nc_inq_var_chunking(
        ncid: c_int,
        varid: c_int,
        kind: *mut c_int,
        chunk: *mut usize,
    ) -> c_int;
    pub(crate) fn nc_inq_var_filter_ids(
        ncid: c_int,
        varid: c_int,
        count: *mut usize,
        ids: *mut c_uint,
    ) -> c_int;
    pub(crate) fn nc_inq_var_filter_info(
        ncid: c_int,
        varid: c_int,
        id: c_uint,
        count: *mut usize,
        params: *mut c_uint,
    ) -> c_int;
    pub(crate) fn nc_inq_varid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int;
    pub(crate) fn nc_inq_varnatts(ncid: c_int, varid: c_int, count: *mut c_int) -> c_int;
    pub(crate) fn nc_inq_varndims(ncid: c_int, varid: c_int, count: *mut c_int) -> c_int;
    pub(crate) fn nc_open(path: *const c_char, mode: c_int, id: *mut c_int) -> c_int;
    pub(crate) fn nc_open_mem(
        path: *const c_char,
        mode: c_int,
        size: usize,
        memory: *mut c_void,
        id: *mut c_int,
    ) -> c_int;
    pub(crate) fn nc_plugin_path_get(list: *mut PluginList) -> c_int;
    pub(crate) fn nc_plugin_path_ndirs(count: *mut usize) -> c_int;
    pub(crate) fn nc_plugin_path_set(list: *mut PluginList) -> c_int;
    pub(crate) fn nc_put_var1_double(
        ncid: c_int,
        varid: c_int,
        start: *const usize,
        values: *const f64,
    ) -> c_int;
    pub(crate) fn nc_put_var_int(ncid: c_int, varid: c_int, values: *const c_int) -> c_int;
    pub(crate) fn nc_rc_get(key: *const c_char) -> *mut c_char;
    pub(crate) fn nc_rc_set(key: *const c_char, value: *const c_char) -> c_int;
    pub(crate) safe fn nc_redef(ncid: c_int) -> c_int;
    pub(crate) safe fn nc_set_chunk_cache(size: usize, places: usize, preemption: f32) -> c_int;
    pub(crate) fn nc_set_default_format(format: c_int, old: *mut c_int) -> c_int;
    pub(crate) safe fn nc_set_var_chunk_cache(
        ncid: c_int,
        varid: c_int,
        size: usize,
        places: usize,
        preemption: f32,
    ) -> c_int;
    pub(crate) safe fn nc_sync(ncid: c_int) -> c_int;
    pub(crate) safe fn ncaux_abort_compound(tag: *mut c_void) -> c_int;
    pub(crate) fn ncaux_add_field(
        tag: *mut c_void,
        name: *const c_char,
        ty: c_int,
        rank: c_int,
        shape: *const c_int,
    ) -> c_int;
    pub(crate) fn ncaux_begin_compound(
        ncid: c_int,
        name: *const c_char,
        _alignment_mode: c_int,
        tag: *mut *mut c_void,
    ) -> c_int;
    pub(crate) fn ncaux_end_compound(tag: *mut c_void, number: *mut c_int) -> c_int;
    pub(crate) fn ncaux_plugin_path_append(list: *mut PluginList, folder: *const c_char) -> c_int;
    pub(crate) fn ncaux_plugin_path_clear(list_: *mut PluginList) -> c_int;
    pub(crate) fn ncaux_plugin_path_parse(
        path: *const c_char,
        separator: c_char,
        into: *mut PluginList,
    ) -> c_int;
    pub(crate) fn ncaux_plugin_path_prepend(list: *mut PluginList, folder: *const c_char) -> c_int;
    pub(crate) fn ncaux_plugin_path_reclaim(list: *mut PluginList) -> c_int;
    pub(crate) fn ncaux_plugin_path_stringget(len: c_int, place: *mut c_char) -> c_int;
    pub(crate) safe fn ncaux_plugin_path_stringlen() -> c_int;
    pub(crate) fn ncaux_plugin_path_stringset(len: c_int, path: *const c_char) -> c_int;
    pub(crate) fn ncaux_plugin_path_tostring(
        list: *const PluginList,
        separator: c_char,
        place: *mut *mut c_char,
    ) -> c_int;
}
