//! Whole files in memory, of `netcdf_aux.h`.

use std::ffi::{c_char, c_int, c_void};

use ferrocdf::{Code, Error, Result};

use crate::boundary::{answer, list, put};
use crate::c_memory::room;
use crate::files::{as_path, path};

fn system<T>(result: std::io::Result<T>, path: &[u8]) -> Result<T> {
    result.map_err(|error| {
        let code = error.raw_os_error().map_or(Code::EIO, Code);
        Error::new(code, format!("{}: {error}", path.escape_ascii()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_readfile(
    name: *const c_char,
    size: *mut usize,
    content: *mut *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let path = unsafe { path(name) }?;
        let bytes = system(std::fs::read(as_path(path)), path)?;
        let place = room::<u8>(bytes.len() + 1)?;
        // SAFETY: there is room for all; the rest by the contract of the interface.
        unsafe {
            place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            put(size, bytes.len());
            put(content, place.cast());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_writefile(name: *const c_char, size: usize, content: *mut c_void) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (path, bytes) = unsafe { (path(name)?, list(content.cast::<u8>(), size)) };
        system(std::fs::write(as_path(path), bytes), path)
    })
}
