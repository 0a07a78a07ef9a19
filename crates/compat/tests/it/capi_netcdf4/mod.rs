//! netCDF-4 files through both C libraries: those that the reference makes are read, others are made by each.

mod files;
mod misuse;
mod reads;
mod writes;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ferrocdf_compat::ask::{Options, ask};
use ferrocdf_compat::both::compare;

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

#[test]
fn everything_that_can_be_asked() {
    for name in ["strict.nc", "storage.nc", "attributes.nc", "types.nc"] {
        let path = c_path(&files::all().path().join(name));
        compare(|s| ask(s, &path, Options { values: true }));
    }
}
