//! Calls of `netcdf_mem.h`: files in memory that the caller passes or receives.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};
use crate::abi::constants::*;
use crate::abi::memory::{copy_of, free};
use crate::abi::pointers::{Out, Str, list};
use crate::files::close::close;
use crate::files::in_memory::access;
use crate::files::open::{check_mode, nc_create};
use crate::open::file::{GivenMemory, OpenFile};
use crate::open::ids::{find_file, insert, remove};
use crate::open::paths::location;

/// `NC_memio` of `netcdf_mem.h`.
#[repr(C)]
pub struct NcMemio {
    /// Number of bytes in `memory`.
    size: usize,
    memory: *mut c_void,
    flags: c_int,
}

/// Flag: the memory remains the property of the caller.
const NC_MEMIO_LOCKED: c_int = 1;

/// Size of the shortest file, in bytes.
const SHORTEST: usize = 8;

#[unsafe(no_mangle)]
pub extern "C" fn nc_create_mem(path: Str, mode: c_int, _initial_size: usize, id: Out<c_int>) -> c_int {
    if mode & NC_MMAP != 0 {
        return answer(|| fail(Code::EINVAL, "NC_MMAP is no memory of the caller's"));
    }
    nc_create(path, mode | NC_INMEMORY, id)
}

/// Opens memory that remains the property of the caller. The memory is copied, so the caller may change or free it.
///
/// # Safety
/// `memory` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_mem(
    path: Str,
    mode: c_int,
    size: usize,
    memory: *mut c_void,
    id: Out<c_int>,
) -> c_int {
    if memory.is_null() || size < SHORTEST || path.is_null() || mode & (NC_WRITE | NC_MMAP) != 0 {
        return answer(|| {
            fail(Code::EINVAL, "nc_open_mem takes a path and at least 8 bytes, to be read only")
        });
    }
    let mut memio = NcMemio { size, memory, flags: NC_MEMIO_LOCKED };
    // SAFETY: `memio` is one structure, and its memory has `size` bytes.
    unsafe { nc_open_memio(path, mode, &mut memio, id) }
}

/// Opens memory. Unlocked memory that is opened for writing belongs to the library from then on.
///
/// # Safety
/// `memio` is null or one `NC_memio`; its `memory` is null or has `size` bytes, from `malloc` unless it is locked.
/// Memory that is not locked belongs to the library afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_memio(path: Str, mode: c_int, memio: *mut NcMemio, id: Out<c_int>) -> c_int {
    answer(|| {
        if path.is_null() || memio.is_null() {
            return fail(Code::EINVAL, "nc_open_memio takes a path and memory");
        }
        // SAFETY: `memio` is not null, so it is one `NC_memio` that only this call uses.
        let memio = unsafe { &mut *memio };
        if memio.memory.is_null() || memio.size < SHORTEST || mode & NC_MMAP != 0 {
            return fail(Code::EINVAL, "nc_open_memio takes at least 8 bytes of memory, and no NC_MMAP");
        }
        let mode = mode | NC_INMEMORY;
        check_mode(mode)?;
        if UDF_FLAGS.iter().any(|flag| mode & flag != 0) {
            return fail(Code::ENOTBUILT, "formats that programs bring along open files, and no memory");
        }
        let location = location(path)?;
        // SAFETY: `memory` is not null, and has `size` bytes.
        let bytes = unsafe { list(memio.memory.cast::<u8>(), memio.size) };
        let (writes, locked) = (mode & NC_WRITE != 0, memio.flags & NC_MEMIO_LOCKED != 0);
        let limit = if locked { memio.size as u64 } else { u64::MAX };
        let access = access(&location, bytes.to_vec(), mode, limit)?;
        let mut file = OpenFile::new(location, mode, access, false);
        if !writes || locked {
            // If the file cannot be opened, the memory remains the property of the caller.
            let (memory, ours) = (AtomicPtr::new(memio.memory), AtomicBool::new(false));
            file.given = Some(GivenMemory { memory, size: memio.size, ours });
        }
        let new = insert(file)?;
        if !writes && !locked {
            find_file(new)?.given.iter().for_each(|given| given.ours.store(true, Ordering::Relaxed));
        }
        if writes && !locked {
            // SAFETY: the memory belongs to the library, and is from `malloc`, as the function says.
            unsafe { free(memio.memory) };
            memio.memory = std::ptr::null_mut();
        }
        id.put(new);
        Ok(())
    })
}

/// Closes a file and returns its bytes: in the memory from which it was opened if it was only read or is locked, else
/// in memory from `malloc` that the caller frees.
///
/// # Safety
/// `memio` is null or one `NC_memio`, which is written.
pub unsafe extern "C" fn nc_close_memio(ncid: c_int, memio: *mut NcMemio) -> c_int {
    answer(|| {
        // The id is checked before the file leaves the table.
        let mode = find_file(ncid)?.mode;
        let file = remove(ncid)?;
        if mode & (NC_INMEMORY | NC_DISKLESS) == 0 || memio.is_null() {
            return close(&file);
        }
        close(&file)?;
        let (memory, size) = match &file.given {
            Some(given) => {
                let size = if file.is_writable() { file.file().size()? as usize } else { given.size };
                (given.memory.swap(std::ptr::null_mut(), Ordering::Relaxed), size)
            }
            None => {
                let bytes = file.file().bytes()?;
                (copy_of(&bytes)?.cast(), bytes.len())
            }
        };
        // SAFETY: `memio` is not null, so it is one `NC_memio`.
        unsafe {
            (*memio).size = size;
            (*memio).memory = memory;
        }
        Ok(())
    })
}
