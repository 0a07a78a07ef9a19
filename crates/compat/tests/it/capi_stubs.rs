//! Functions that always give the same, through both C libraries.

use std::ptr::null_mut;

use ferrocdf_compat::both::compare;
use ferrocdf_compat::call;

/// The functions of `netcdf_dispatch.h` that look at nothing.
const STUBS: &str = "NC_RO_create NC_RO_redef NC_RO__enddef NC_RO_sync NC_RO_def_var_fill NC_RO_rename_att NC_RO_del_att \
    NC_RO_put_att NC_RO_def_var NC_RO_rename_var NC_RO_put_vara NC_RO_def_dim NC_RO_rename_dim NC_RO_set_fill \
    NC_NOTNC4_def_var_filter NC_NOTNC4_inq_var_filter_ids NC_NOTNC4_inq_var_filter_info NC_NOTNC4_def_grp \
    NC_NOTNC4_rename_grp NC_NOTNC4_def_compound NC_NOTNC4_insert_compound NC_NOTNC4_insert_array_compound \
    NC_NOTNC4_inq_typeid NC_NOTNC4_inq_compound_field NC_NOTNC4_inq_compound_fieldindex NC_NOTNC4_def_vlen \
    NC_NOTNC4_put_vlen_element NC_NOTNC4_get_vlen_element NC_NOTNC4_def_enum NC_NOTNC4_insert_enum \
    NC_NOTNC4_inq_enum_member NC_NOTNC4_inq_enum_ident NC_NOTNC4_def_opaque NC_NOTNC4_def_var_deflate \
    NC_NOTNC4_def_var_fletcher32 NC_NOTNC4_def_var_chunking NC_NOTNC4_def_var_endian \
    NC_NOTNC4_set_var_chunk_cache NC_NOTNC4_get_var_chunk_cache NC_NOTNC4_var_par_access NC_NOTNC4_inq_ncid \
    NC_NOTNC4_inq_grps NC_NOTNC4_inq_grpname NC_NOTNC4_inq_grpname_full NC_NOTNC4_inq_grp_parent \
    NC_NOTNC4_inq_grp_full_ncid NC_NOTNC4_inq_varids NC_NOTNC4_inq_dimids NC_NOTNC4_inq_typeids \
    NC_NOTNC4_inq_user_type NC_NOTNC4_def_var_quantize NC_NOTNC4_inq_var_quantize NC_NOTNC3_get_varm \
    NC_NOTNC3_put_varm NC_NOOP_inq_var_filter_info NC_NOOP_inq_filter_avail";

#[test]
fn stubs_of_dispatch_tables() {
    compare(|session| {
        for name in STUBS.split_ascii_whitespace() {
            // SAFETY: none of them looks at what it is given.
            unsafe { session.call(name, (0, 0)) };
        }
        let mut filters = 7usize;
        call!(session, NC_NOOP_inq_var_filter_ids(0, 0, &mut filters, null_mut::<u32>()));
        session.note(filters);
        call!(session, NC_NOOP_inq_var_filter_ids(0, 0, null_mut::<usize>(), null_mut::<u32>()));
    });
}

#[test]
fn parallel_calls_of_a_library_without_mpi() {
    compare(|session| {
        let path = session.path("none.nc");
        let mut id = 7;
        call!(session, nc_create_par(path.as_ptr(), 0, 0, 0, &mut id));
        call!(session, nc_open_par(path.as_ptr(), 0, 0, 0, &mut id));
        call!(session, nc_create_par_fortran(path.as_ptr(), 0, 0, 0, &mut id));
        call!(session, nc_open_par_fortran(path.as_ptr(), 0, 0, 0, &mut id));
        session.note(id);
        call!(session, nc_var_par_access(0, 0, 0));
    });
}
