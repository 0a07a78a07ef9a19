//! Tests of a container whose driver a program registers, through the C interface.

#[path = "../../../ferrocdf/tests/it/toy/mod.rs"]
mod toy;

use std::ffi::{CString, c_int};

use crate::tests::c::{
    nc_close, nc_get_var_float, nc_get_var1_double, nc_inq_format, nc_inq_format_extended, nc_inq_varid,
    nc_open, nc_put_var1_double,
};

/// `NC_WRITE`, and the codes of `netcdf.h` that are expected.
const WRITE: c_int = 1;
const NC_EPERM: c_int = -37;
const NC_EINVALCOORDS: c_int = -40;

#[test]
fn registered_container_is_read_and_not_written() {
    ferrocdf::driver::register(toy::PROBE);
    let path = std::env::temp_dir().join(format!("ferrocdf-toy-{}", std::process::id()));
    std::fs::write(&path, toy::sample::bytes()).unwrap();
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let (mut id, mut matrix, mut format, mut container, mut mode) = (0, -1, 0, -1, -1);
    let (mut values, mut value) = ([0.0; 12], 0.0);
    // SAFETY: texts end in a zero byte, and memory is as large as the requests.
    unsafe {
        assert_eq!(nc_open(name.as_ptr(), WRITE, &mut id), NC_EPERM);
        assert_eq!(nc_open(name.as_ptr(), 0, &mut id), 0);
        assert_eq!(nc_inq_format(id, &mut format), 0);
        assert_eq!(nc_inq_format_extended(id, &mut container, &mut mode), 0);
        assert_eq!(nc_inq_varid(id, c"matrix".as_ptr(), &mut matrix), 0);
        assert_eq!(nc_get_var_float(id, matrix, values.as_mut_ptr()), 0);
        assert_eq!(nc_get_var1_double(id, matrix, [2, 1].as_ptr(), &mut value), 0);
        assert_eq!(nc_get_var1_double(id, matrix, [3, 0].as_ptr(), &mut value), NC_EINVALCOORDS);
        assert_eq!(nc_put_var1_double(id, matrix, [0, 0].as_ptr(), &value), NC_EPERM);
        assert_eq!(nc_close(id), 0);
    }
    std::fs::remove_file(&path).unwrap();
    // `NC_FORMAT_CLASSIC` in a container without a number.
    assert_eq!((format, container, mode), (1, 0, 0));
    assert_eq!(values, [-7.0, -4.0, -1.0, 2.0, -6.0, -3.0, 0.0, 3.0, -5.0, -2.0, 1.0, 4.0]);
    assert_eq!(value, -2.0);
}
