//! Opening, creation and closing of files in user-defined formats.

use std::ffi::{CString, c_int, c_void};
use std::io::Read;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ferrocdf::{Code, Error, Location, Result};

use super::{
    FormatTable, MAGIC_LEN, POSITIONS_USED, UserFile, files, formats, load_once, position_of, table_of,
    wanted,
};
use crate::abi::answer::fail;
use crate::abi::constants::{NC_NOERR, UDF_FLAGS};
use crate::abi::pointers::Out;
use crate::open::paths::{path_of, text_of};
use crate::open::table::{GROUP_BITS, POSITIONS};

/// Arguments of `nc_open` or `nc_create` for a file that is not in memory.
pub(crate) struct OpenRequest<'a> {
    pub(crate) location: &'a Location,
    pub(crate) mode: c_int,
    pub(crate) pe: c_int,
    pub(crate) hint: Out<'a, usize>,
}

/// Opens a file if the mode or the magic number selects a user-defined format; `None` if neither does.
///
/// # Safety
/// The dispatch table keeps to the signatures of `NC_Dispatch`.
pub(crate) unsafe fn open(request: &OpenRequest<'_>) -> Result<Option<c_int>> {
    load_once();
    let is_asked = UDF_FLAGS.iter().any(|flag| request.mode & flag != 0);
    if !is_asked && formats().iter().all(|format| format.magic.is_empty()) {
        return Ok(None);
    }
    // For a URL only the mode selects a format.
    let begins = match path_of(request.location).map(first_bytes) {
        None => None,
        Some(Ok(begins)) => Some(begins),
        Some(Err(error)) if is_asked => return Err(error),
        Some(Err(_)) => return Ok(None),
    };
    let Some(format) = wanted(request.mode, begins.as_ref().map_or(&[], |begins| begins)) else {
        return Ok(None);
    };
    // SAFETY: the path ends in a zero byte and lives as long as the file; the request's hint is null or one number.
    unsafe {
        insert(request.location, table_of(format)?, |file, id| {
            let OpenRequest { mode, pe, hint, .. } = *request;
            file.open(file.path.as_c_str().into(), mode, pe, hint, null_mut(), file.table.0, id)
        })
        .map(Some)
    }
}

/// Creates a file if the mode selects a user-defined format; `None` if it does not.
///
/// # Safety
/// The dispatch table keeps to the signatures of `NC_Dispatch`.
pub(crate) unsafe fn create(request: &OpenRequest<'_>, size: usize) -> Result<Option<c_int>> {
    load_once();
    let Some(format) = wanted(request.mode, &[]) else { return Ok(None) };
    // SAFETY: the path ends in a zero byte and lives as long as the file; the request's hint is null or one number.
    unsafe {
        insert(request.location, table_of(format)?, |file, id| {
            let OpenRequest { mode, pe, hint, .. } = *request;
            file.create(file.path.as_c_str().into(), mode, size, pe, hint, null_mut(), file.table.0, id)
        })
        .map(Some)
    }
}

/// Returns the first bytes of a file. Fails with `NC_ENOTNC` for a file that is too short for any format.
fn first_bytes(path: &Path) -> Result<[u8; MAGIC_LEN]> {
    let failed = |error: std::io::Error| Error::system(error, path.display());
    let mut file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() <= MAGIC_LEN as u64 {
        return fail(
            Code::ENOTNC,
            format!("{}: the file is too short to begin with a magic number", path.display()),
        );
    }
    let mut begins = [0; MAGIC_LEN];
    file.read_exact(&mut begins).map_err(failed)?;
    Ok(begins)
}

/// Assigns an id to a file, and keeps the file if `take` succeeds.
fn insert(
    location: &Location,
    table: FormatTable,
    take: impl FnOnce(&UserFile, c_int) -> c_int,
) -> Result<c_int> {
    let path =
        CString::new(text_of(location)).map_err(|_| Error::new(Code::EINVAL, "a zero byte in a path"))?;
    let file = Arc::new(UserFile { table, path });
    let mut files = files();
    let at = files.iter().position(Option::is_none).unwrap_or(files.len());
    if at >= POSITIONS / 2 {
        return fail(Code::ENOMEM, format!("{at} files are open, which is the limit"));
    }
    if at == files.len() {
        files.push(None);
    }
    files[at] = Some(file.clone());
    POSITIONS_USED.store(files.len(), Ordering::Release);
    // The lock is released first: the functions of the format may call the library.
    drop(files);
    let id = ((POSITIONS - 1 - at) << GROUP_BITS) as c_int;
    match take(&file, id) {
        NC_NOERR => Ok(id),
        code => {
            remove(id);
            fail(Code(code), format!("{}: its format refused the file", name_of(&file)))
        }
    }
}

fn name_of(file: &UserFile) -> std::borrow::Cow<'_, str> {
    file.path.to_string_lossy()
}

fn remove(ncid: c_int) {
    let mut files = files();
    if let Some(place) = position_of(ncid).and_then(|at| files.get_mut(at)) {
        *place = None;
    }
    while files.last().is_some_and(Option::is_none) {
        files.pop();
    }
    POSITIONS_USED.store(files.len(), Ordering::Release);
}

/// Way of closing a file.
pub(crate) enum Closing {
    /// The file stays open if its format fails to close it.
    Close(*mut c_void),
    /// The file is closed in any case.
    Abort,
}

/// Closes a file and releases its id.
///
/// # Safety
/// The parameters of `how` are null or the `NC_memio` of the call.
pub(crate) unsafe fn close(file: &UserFile, ncid: c_int, how: Closing) -> c_int {
    // SAFETY: the parameters are null or the `NC_memio` of the call.
    let (code, is_gone) = unsafe {
        match how {
            Closing::Close(parameters) => {
                let code = file.close(ncid, parameters);
                (code, code == NC_NOERR)
            }
            Closing::Abort => (file.abort(ncid), true),
        }
    };
    if is_gone {
        remove(ncid);
    }
    code
}
