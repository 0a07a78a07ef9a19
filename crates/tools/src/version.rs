//! What the tools say of their version.

/// The text behind "netcdf library version": as `nc_inq_libvers` of the C library, the release of netCDF-C whose interface
/// this is, and the version of ferrocdf.
pub fn line() -> String {
    format!("4.10.1 of ferrocdf {}", env!("CARGO_PKG_VERSION"))
}
