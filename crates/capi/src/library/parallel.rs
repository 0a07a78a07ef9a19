//! Functions of `netcdf_par.h`, which always fail: this library has no MPI.

use std::ffi::c_int;

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};

macro_rules! without_mpi {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_int {
            answer(|| fail(Code::ENOPAR, concat!(stringify!($name), ": this library is for processes without MPI")))
        }
    )*};
}

without_mpi!(nc_create_par nc_create_par_fortran nc_open_par nc_open_par_fortran nc_var_par_access);
