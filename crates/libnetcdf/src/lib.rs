//! The library that takes the place of `libnetcdf.so`: the functions of `ferrocdf-capi`, and nothing else.

use ferrocdf_capi as _;
