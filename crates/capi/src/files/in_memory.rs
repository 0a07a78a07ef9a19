//! Files in memory: `NC_DISKLESS`, `NC_INMEMORY`, and memory that the caller passes or receives.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ferrocdf::store::{MemoryBlob, write_file};
use ferrocdf::{Code, CreateOptions, File, FileMut, Location, Result};

use crate::abi::answer::fail;
use crate::abi::constants::*;
use crate::open::file::{AtClose, FileAccess, OpenFile, lenient_options};
use crate::open::paths::{path_of, text_of};

/// Copies a written file back to the memory from which it was opened.
pub(crate) fn write_back(file: &OpenFile) -> Result<()> {
    let Some(given) = &file.given else { return Ok(()) };
    let bytes = file.file().bytes()?;
    let memory = given.memory.load(Ordering::Relaxed).cast::<u8>();
    // SAFETY: by the contract of the interface the memory has `given.size` bytes and belongs to the library while the
    // file is open. The file cannot grow beyond that size.
    unsafe { memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len().min(given.size)) };
    Ok(())
}

/// Creates a file in memory.
pub(crate) fn create(location: Location, mode: c_int, options: &CreateOptions) -> Result<OpenFile> {
    let access = FileAccess::Write(Arc::new(FileMut::in_memory(options)?));
    let mut file = OpenFile::new(location, mode, access, true);
    if mode & NC_PERSIST != 0 {
        check_writable(&file.location)?;
        file.at_close = AtClose::Persist;
    }
    Ok(file)
}

/// Fails if a file at the location is read-only, or a URL names no object.
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

pub(crate) fn access(location: &Location, bytes: Vec<u8>, mode: c_int, limit: u64) -> Result<FileAccess> {
    if mode & NC_WRITE != 0 {
        FileMut::append_bytes_within(bytes, limit, Some(location.clone()))
            .map(Arc::new)
            .map(FileAccess::Write)
    } else {
        File::from_bytes_with(bytes, &lenient_options().beside(location.clone())).map(FileAccess::Read)
    }
}

/// Writes the bytes of a file in memory to its path, or puts them as the object of its URL. A failure leaves an
/// existing file or object unchanged.
pub(crate) fn persist(file: &OpenFile) -> Result<()> {
    let bytes = file.file().bytes()?;
    match path_of(&file.location) {
        Some(path) => write_file(path, &bytes),
        None => file.location.put(&MemoryBlob::new(bytes)),
    }
}
