//! Closing of files, and discarding of files that cannot be completed.

use std::ffi::c_int;

use ferrocdf::Result;

use crate::abi::answer::answer;
use crate::files::in_memory;
use crate::open::file::{AtClose, OpenFile};
use crate::open::ids::{find_file, remove};

pub extern "C" fn nc_close(ncid: c_int) -> c_int {
    answer(|| {
        // The id and types that can still be completed are checked before the file leaves the table.
        let file = find_file(ncid)?;
        check_types(&file)?;
        match complete(&file) {
            // A request that the system refuses now may succeed later: the file stays open, so the caller can close it
            // again.
            Err(error) if error.is_of_system() => Err(error),
            done => {
                drop(file);
                let file = remove(ncid)?;
                done.inspect_err(|_| abandon(&file))
            }
        }
    })
}

/// Completes a file that is no longer in the table. Its last user closes it.
pub(crate) fn close(file: &OpenFile) -> Result<()> {
    check_types(file).and_then(|()| complete(file)).inspect_err(|_| abandon(file))
}

/// Fails for types without members in a writable file.
fn check_types(file: &OpenFile) -> Result<()> {
    if file.is_writable() { file.state().check_types(&file.model()) } else { Ok(()) }
}

/// Syncs a file, and stores a file in memory at its destination.
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
        // An error of the removal is ignored: the earlier error is reported.
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
