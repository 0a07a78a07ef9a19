//! Files in memory: `NC_DISKLESS`, `NC_INMEMORY`, and memory that the caller gives or takes.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use ferrocdf::store::{MemoryBlob, write_file};
use ferrocdf::{Code, CreateOptions, File, FileMut, Location, Result};

use crate::boundary::{answer, fail, list, put};
use crate::constants::*;
use crate::files::{check_mode, close, location, missing_is_zero, nc_create, path_of, text_of};
use crate::memory::{copy_of, free};
use crate::open_files::{Access, AtClose, OpenFile, find_file, insert, remove};

/// `NC_memio` of `netcdf_mem.h`.
#[repr(C)]
pub struct NcMemio {
    /// Bytes in `memory`.
    size: usize,
    memory: *mut c_void,
    flags: c_int,
}

/// The memory stays the caller's.
const NC_MEMIO_LOCKED: c_int = 1;
/// No file is shorter.
const SHORTEST: usize = 8;

/// Memory that a caller gave. What is read from it, and written, is a copy; a file that may be written is brought back
/// when it is closed. The caller gets the memory back from `nc_close_memio`; it is freed when the file is closed
/// otherwise, unless it is locked.
pub(crate) struct GivenMemory {
    /// Null once it was given back.
    memory: AtomicPtr<c_void>,
    size: usize,
    /// Whether it is freed if it was not given back.
    ours: AtomicBool,
}

impl Drop for GivenMemory {
    fn drop(&mut self) {
        if *self.ours.get_mut() {
            // SAFETY: the caller gave it away, it is from `malloc` by the contract of the interface, or null.
            unsafe { free(*self.memory.get_mut()) };
        }
    }
}

/// Brings a file that was written back to the memory it was opened in.
pub(crate) fn bring_back(file: &OpenFile) -> Result<()> {
    let Some(given) = &file.given else { return Ok(()) };
    let bytes = file.file().bytes()?;
    let memory = given.memory.load(Ordering::Relaxed).cast::<u8>();
    // SAFETY: the caller's memory has `given.size` bytes and is ours while the file is open, by the contract of the
    // interface. The file was not let grow beyond that.
    unsafe { memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len().min(given.size)) };
    Ok(())
}

/// Makes a file in memory.
pub(crate) fn create(location: Location, mode: c_int, options: &CreateOptions) -> Result<OpenFile> {
    let access = Access::Write(Arc::new(FileMut::in_memory(options)?));
    let mut file = OpenFile::new(location, mode, access, true);
    if mode & NC_PERSIST != 0 {
        check_writable(&file.location)?;
        file.at_close = AtClose::Persist;
    }
    Ok(file)
}

/// Fails if there is a file of that name that may not be written, or a URL is of no object.
fn check_writable(location: &Location) -> Result<()> {
    let location = &*location.resolved()?;
    match path_of(location).map(std::fs::metadata) {
        Some(Ok(there)) if there.permissions().readonly() => {
            fail(Code(libc::EPERM), format!("{} may not be written", text_of(location).escape_ascii()))
        }
        _ => Ok(()),
    }
}

/// Reads a file or an object into memory and opens it there.
pub(crate) fn open_diskless(location: Location, mode: c_int) -> Result<OpenFile> {
    let access = access(&location, location.read_whole()?, mode, u64::MAX)?;
    let mut file = OpenFile::new(location, mode, access, false);
    if mode & NC_PERSIST != 0 && mode & NC_WRITE != 0 {
        check_writable(&file.location)?;
        file.at_close = AtClose::Persist;
    }
    Ok(file)
}

fn access(location: &Location, bytes: Vec<u8>, mode: c_int, limit: u64) -> Result<Access> {
    if mode & NC_WRITE != 0 {
        FileMut::append_bytes_within(bytes, limit, Some(location.clone())).map(Arc::new).map(Access::Write)
    } else {
        File::from_bytes_with(bytes, &missing_is_zero().beside(location.clone())).map(Access::Read)
    }
}

/// Writes the bytes of a file in memory to its path, or puts them as the object of its URL. What is there stays if that fails.
pub(crate) fn persist(file: &OpenFile) -> Result<()> {
    let bytes = file.file().bytes()?;
    match path_of(&file.location) {
        Some(path) => write_file(path, &bytes),
        None => file.location.put(&MemoryBlob::new(bytes)),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create_mem(
    path: *const c_char,
    mode: c_int,
    _initial_size: usize,
    id: *mut c_int,
) -> c_int {
    if mode & NC_MMAP != 0 {
        return answer(|| fail(Code::EINVAL, "NC_MMAP is no memory of the caller's"));
    }
    // SAFETY: the contract of the interface.
    unsafe { nc_create(path, mode | NC_INMEMORY, id) }
}

/// Opens memory that stays the caller's. It is copied, so that the caller may do with it what it likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_mem(
    path: *const c_char,
    mode: c_int,
    size: usize,
    memory: *mut c_void,
    id: *mut c_int,
) -> c_int {
    if memory.is_null() || size < SHORTEST || path.is_null() || mode & (NC_WRITE | NC_MMAP) != 0 {
        return answer(|| {
            fail(Code::EINVAL, "nc_open_mem takes a path and at least 8 bytes, to be read only")
        });
    }
    let mut memio = NcMemio { size, memory, flags: NC_MEMIO_LOCKED };
    // SAFETY: the contract of the interface.
    unsafe { nc_open_memio(path, mode, &mut memio, id) }
}

/// Opens memory. Unless it is locked, memory that is opened to be written is ours from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_memio(
    path: *const c_char,
    mode: c_int,
    memio: *mut NcMemio,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        if path.is_null() || memio.is_null() {
            return fail(Code::EINVAL, "nc_open_memio takes a path and memory");
        }
        // SAFETY: it is not null, so it is valid by the contract of the interface.
        let memio = unsafe { &mut *memio };
        if memio.memory.is_null() || memio.size < SHORTEST || mode & NC_MMAP != 0 {
            return fail(Code::EINVAL, "nc_open_memio takes at least 8 bytes of memory, and no NC_MMAP");
        }
        let mode = mode | NC_INMEMORY;
        check_mode(mode)?;
        if UDF_FLAGS.iter().any(|flag| mode & flag != 0) {
            return fail(Code::ENOTBUILT, "formats that programs bring along open files, and no memory");
        }
        // SAFETY: the contract of the interface.
        let location = unsafe { location(path) }?;
        // SAFETY: the contract of the interface.
        let bytes = unsafe { list(memio.memory.cast::<u8>(), memio.size) };
        let (writes, locked) = (mode & NC_WRITE != 0, memio.flags & NC_MEMIO_LOCKED != 0);
        let limit = if locked { memio.size as u64 } else { u64::MAX };
        let access = access(&location, bytes.to_vec(), mode, limit)?;
        let mut file = OpenFile::new(location, mode, access, false);
        if !writes || locked {
            // A file that cannot be opened leaves the memory with the caller.
            let (memory, ours) = (AtomicPtr::new(memio.memory), AtomicBool::new(false));
            file.given = Some(GivenMemory { memory, size: memio.size, ours });
        }
        let new = insert(file)?;
        if !writes && !locked {
            find_file(new)?.given.iter().for_each(|given| given.ours.store(true, Ordering::Relaxed));
        }
        if writes && !locked {
            // SAFETY: the caller gave it away, and it is from `malloc`, by the contract of the interface.
            unsafe { free(memio.memory) };
            memio.memory = std::ptr::null_mut();
        }
        // SAFETY: the contract of the interface.
        unsafe { put(id, new) };
        Ok(())
    })
}

/// Closes a file and gives its bytes: in the memory it was opened in if it was only read, or is locked, else in memory of
/// `malloc` that the caller frees.
pub unsafe extern "C" fn nc_close_memio(ncid: c_int, memio: *mut NcMemio) -> c_int {
    answer(|| {
        // The id must be right before the file is taken away.
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
        // SAFETY: `memio` is valid by the contract of the interface.
        unsafe {
            (*memio).size = size;
            (*memio).memory = memory;
        }
        Ok(())
    })
}
