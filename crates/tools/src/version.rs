//! What the tools say of their version.

/// The line that the reference's tools print behind "netCDF library version".
pub fn line() -> String {
    format!("{} of ferrocdf", env!("CARGO_PKG_VERSION"))
}
