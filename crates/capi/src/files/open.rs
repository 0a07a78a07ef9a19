//! Creation and opening of files.

use std::ffi::c_int;
use std::sync::Arc;

use ferrocdf::{AppendOptions, Code, CreateOptions, File, FileMut, Format, Location, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::*;
use crate::abi::pointers::{Out, Str};
use crate::files::default_format::default_format;
use crate::files::in_memory;
use crate::open::file::{FileAccess, OpenFile, lenient_options};
use crate::open::ids::{insert, writer_of};
use crate::open::paths::{location, path_of};
use crate::user_formats::{self, OpenRequest};

/// Fails for mode flags that exclude each other.
pub(crate) fn check_mode(mode: c_int) -> Result<()> {
    let all = |flags: c_int| mode & flags == flags;
    if all(NC_DISKLESS | NC_INMEMORY) || all(NC_DISKLESS | NC_MMAP) {
        return fail(Code::EDISKLESS, "NC_DISKLESS excludes NC_INMEMORY and NC_MMAP");
    }
    if all(NC_INMEMORY | NC_MMAP) {
        return fail(Code::EINMEMORY, "NC_INMEMORY excludes NC_MMAP");
    }
    if all(NC_MMAP | NC_NETCDF4) {
        return fail(Code::EINVAL, "NC_MMAP is for classic files");
    }
    Ok(())
}

/// Returns the format that mode flags select. Without a flag, the format is the default that the program has set; else
/// netCDF-4 if the name is that of a Zarr store, and classic for all other names.
fn format_of(mode: c_int, is_zarr: impl FnOnce() -> bool) -> Result<Format> {
    let chosen = mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
    let classic_model = mode & NC_CLASSIC_MODEL != 0;
    match chosen {
        NC_64BIT_OFFSET => Ok(Format::OFFSET64),
        NC_64BIT_DATA => Ok(Format::DATA64),
        NC_NETCDF4 if classic_model => Ok(Format::NETCDF4_CLASSIC),
        NC_NETCDF4 => Ok(Format::NETCDF4),
        0 if classic_model => Ok(Format::CLASSIC),
        0 => Ok(default_format().unwrap_or_else(|| match mode & (NC_DISKLESS | NC_INMEMORY | NC_MMAP) {
            0 if is_zarr() => Format::NETCDF4,
            _ => Format::CLASSIC,
        })),
        _ => fail(Code::EINVAL, "more than one format is asked for"),
    }
}

/// Stores the I/O block size that netCDF-C reports; nothing here depends on it.
fn put_chunk_size(hint: Out<usize>) {
    const LEAST: usize = 256;
    const MOST: usize = 256 << 20;
    const USUAL: usize = 8192;
    // SAFETY: C callers set the requested size before the call.
    if let Some(hint) = unsafe { hint.value() } {
        *hint = match *hint {
            ..LEAST => USUAL,
            size => size.min(MOST).next_multiple_of(8),
        };
    }
}

/// Creates a file and returns its id.
pub(crate) fn create(
    path: Str,
    mode: c_int,
    size: usize,
    basepe: c_int,
    hint: Out<usize>,
    id: Out<c_int>,
) -> c_int {
    answer(|| {
        if path.is_null() {
            return fail(Code::EINVAL, "the path is a null pointer");
        }
        let location = location(path);
        let format = format_of(mode, || location.as_ref().is_ok_and(|location| location.zarr().is_some()));
        check_mode(mode)?;
        let (format, location) = (format?, location?);
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        let request = OpenRequest { location: &location, mode, pe: basepe, hint };
        // SAFETY: `hint` is null or one number, which the format may set.
        if let Some(new) = unsafe { user_formats::create(&request, size) }? {
            id.put(new);
            return Ok(());
        }
        let mut options = CreateOptions::format(format);
        options.clobber = mode & NC_NOCLOBBER == 0;
        // A new file with `NC_MMAP` is kept in memory, unless it is to persist.
        let mode = if mode & NC_MMAP != 0 { mode | NC_DISKLESS } else { mode };
        let file = if mode & (NC_DISKLESS | NC_INMEMORY) != 0 {
            in_memory::create(location, mode, &options)?
        } else {
            let file = FileMut::create_at(&location, &options)?;
            OpenFile::new(location, mode, FileAccess::Write(Arc::new(file)), true)
        };
        let new = insert(file)?;
        put_chunk_size(hint);
        id.put(new);
        Ok(())
    })
}

/// Opens a file and returns its id.
pub(crate) fn open(path: Str, mode: c_int, basepe: c_int, hint: Out<usize>, id: Out<c_int>) -> c_int {
    answer(|| {
        if path.is_null() {
            return fail(Code::EINVAL, "the path is a null pointer");
        }
        check_mode(mode)?;
        let location = location(path)?;
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        if mode & NC_INMEMORY != 0 {
            return fail(Code::EINVAL, "NC_INMEMORY needs the memory: nc_open_mem and nc_open_memio take it");
        }
        let request = OpenRequest { location: &location, mode, pe: basepe, hint };
        // SAFETY: `hint` is null or one number, which the format may set.
        if let Some(new) = unsafe { user_formats::open(&request) }? {
            id.put(new);
            return Ok(());
        }
        let file = if mode & NC_DISKLESS != 0 {
            in_memory::open_diskless(location, mode)?
        } else {
            let access = if mode & NC_WRITE != 0 {
                FileAccess::Write(edit(&location)?)
            } else {
                let options = lenient_options().shared(mode & NC_SHARE != 0);
                FileAccess::Read(File::open_location(&location, &options)?)
            };
            OpenFile::new(location, mode, access, false)
        };
        let new = insert(file)?;
        put_chunk_size(hint);
        id.put(new);
        Ok(())
    })
}

/// Opens a file or a store for changes in place. Fails with `NC_EPERM` for the URL of a file.
fn edit(location: &Location) -> Result<Arc<FileMut>> {
    match path_of(location).and_then(writer_of) {
        Some(writer) => Ok(writer),
        None => FileMut::append_at(location, &AppendOptions::default()).map(Arc::new),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_create(path: Str, mode: c_int, id: Out<c_int>) -> c_int {
    create(path, mode, 0, 0, Out::NULL, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc__create(path: Str, mode: c_int, size: usize, hint: Out<usize>, id: Out<c_int>) -> c_int {
    create(path, mode, size, 0, hint, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_open(path: Str, mode: c_int, id: Out<c_int>) -> c_int {
    open(path, mode, 0, Out::NULL, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc__open(path: Str, mode: c_int, hint: Out<usize>, id: Out<c_int>) -> c_int {
    open(path, mode, 0, hint, id)
}

#[cfg(test)]
mod tests;
