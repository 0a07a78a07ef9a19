//! Closing files, and giving up files that cannot be completed.

use std::ffi::c_int;

use ferrocdf::Result;

use crate::abi::answer::answer;
use crate::files::in_memory;
use crate::open::file::{AtClose, OpenFile};
use crate::open::ids::{find_file, remove};

pub extern "C" fn nc_close(ncid: c_int) -> c_int {
    answer(|| {
        // The id must be right before the file is taken away, and so must types that can still be completed.
        let file = find_file(ncid)?;
        check_types(&file)?;
        match complete(&file) {
            // A request that the system refuses now may succeed later: the file stays open, so the caller can close it again.
            Err(error) if error.is_of_system() => Err(error),
            done => {
                drop(file);
                let file = remove(ncid)?;
                done.inspect_err(|_| abandon(&file))
            }
        }
    })
}

/// Completes a file that is not in the table any more. It is closed with its last user.
pub(crate) fn close(file: &OpenFile) -> Result<()> {
    check_types(file).and_then(|()| complete(file)).inspect_err(|_| abandon(file))
}

/// Fails for types of a file to be written that have nothing in them.
fn check_types(file: &OpenFile) -> Result<()> {
    if file.is_writable() { file.state().check_types(&file.model()) } else { Ok(()) }
}

/// Syncs a file where it lies, in memory or on the disk.
fn complete(file: &OpenFile) -> Result<()> {
    if !file.is_writable() {
        return Ok(());
    }
    let mut state = file.state();
    file.writable()?.sync()?;
    state.is_new = false;
    match file.at_close {
        AtClose::Nothing => in_memory::write_back(file),
        AtClose::Persist => in_memory::persist(file),
    }
}

/// Discards the changes of a file that cannot be completed. A new file is removed.
fn abandon(file: &OpenFile) {
    let Ok(writable) = file.writable() else { return };
    if file.state().is_new {
        // Whether it can be removed or not, the error to report is the one before.
        let _ = writable.abort_new();
    } else {
        writable.abort();
    }
}

pub extern "C" fn nc_abort(ncid: c_int) -> c_int {
    answer(|| {
        find_file(ncid)?;
        let file = remove(ncid)?;
        if !file.is_defining() {
            return close(&file);
        }
        abandon(&file);
        Ok(())
    })
}
