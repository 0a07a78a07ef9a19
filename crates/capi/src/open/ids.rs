//! Open files and their ids.
//!
//! An id is a position in the table of [`crate::open::table`], shifted by 16 bits as in netCDF-C; the low bits are the
//! group. A position becomes free when its file is closed; a new file takes the first free position.

use std::ffi::c_int;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use ferrocdf::{Code, Error, FileMut, GroupId, Model, Result};

use crate::abi::answer::fail;
use crate::abi::constants::{NC_DISKLESS, NC_INMEMORY};
use crate::open::file::{FileAccess, OpenFile};
use crate::open::paths::path_of;
use crate::open::table::{self, GROUP_BITS, POSITIONS, PinnedFile, RemovedFile};
use crate::user_formats;

/// Calls `question` with the model and group of an id. Fails with `NC_EBADID`.
pub(crate) fn ask<R>(ncid: c_int, question: impl FnOnce(&Model, GroupId) -> Result<R>) -> Result<R> {
    ask_of(ncid, |_, model, group| question(model, group))
}

/// Calls `question` as [`ask`] does, and passes the file too.
pub(crate) fn ask_of<R>(
    ncid: c_int,
    question: impl FnOnce(&OpenFile, &Model, GroupId) -> Result<R>,
) -> Result<R> {
    let (file, group) = (in_table(ncid)?, group_in(ncid));
    file.file().look(|model| {
        if group.index() >= model.groups().len() {
            return Err(bad_id(ncid));
        }
        question(&file, model, group)
    })
}

/// Returns the file with an id, if the id is that of the root group. For the fast path.
pub(crate) fn find_root(ncid: c_int) -> Option<PinnedFile> {
    if group_in(ncid) != GroupId::ROOT {
        return None;
    }
    in_table(ncid).ok()
}

fn in_table(ncid: c_int) -> Result<PinnedFile> {
    table::pin(position(ncid)).ok_or_else(|| bad_id(ncid))
}

fn position(ncid: c_int) -> usize {
    (ncid as u32 >> GROUP_BITS) as usize
}

fn group_in(ncid: c_int) -> GroupId {
    GroupId(ncid as u32 & ((1 << GROUP_BITS) - 1))
}

/// Returns the file and group with an id. Fails with `NC_EBADID`.
pub(crate) fn find(ncid: c_int) -> Result<(PinnedFile, GroupId)> {
    let (file, group) = (in_table(ncid)?, group_in(ncid));
    if group != GroupId::ROOT && group.index() >= file.model().groups().len() {
        return Err(bad_id(ncid));
    }
    Ok((file, group))
}

/// Returns the file with an id of any of its groups. Fails with `NC_EBADID`.
pub(crate) fn find_file(ncid: c_int) -> Result<PinnedFile> {
    find(ncid).map(|(file, _)| file)
}

/// Returns the id of another group of a file.
pub(crate) fn group_id(ncid: c_int, group: GroupId) -> c_int {
    ((ncid as u32 >> GROUP_BITS << GROUP_BITS) | group.0) as c_int
}

/// Assigns an id to a file. Fails with `NC_ENOMEM` if all ids are in use.
pub(crate) fn insert(file: OpenFile) -> Result<c_int> {
    match table::insert(file, POSITIONS - user_formats::ids_taken()) {
        Some(at) => Ok((at << GROUP_BITS) as c_int),
        None => fail(Code::ENOMEM, "as many files are open as there are ids"),
    }
}

/// Returns the writer of a netCDF-4 file if the file at a path is already open for writing in this process: two
/// separate writers of one file would not see each other's changes.
pub(crate) fn writer_of(path: &Path) -> Option<Arc<FileMut>> {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let wanted = place(path)?;
    table::all().find_map(|open| match &open.access {
        FileAccess::Write(writer)
            if open.mode & (NC_DISKLESS | NC_INMEMORY) == 0
                && !open.is_classic()
                && path_of(&open.location).and_then(place) == Some(wanted) =>
        {
            Some(writer.clone())
        }
        _ => None,
    })
}

/// Removes a file from the table. Fails with `NC_EBADID`.
///
/// Waits for running calls on other threads, so that their bytes are in the file when it is closed.
pub(crate) fn remove(ncid: c_int) -> Result<RemovedFile> {
    table::remove(position(ncid)).ok_or_else(|| bad_id(ncid))
}

fn bad_id(ncid: c_int) -> Error {
    Error::new(Code::EBADID, format!("no open file has the id {ncid}"))
}

/// Returns the file and group with an id, for features that classic files do not have. Fails with `NC_ENOTNC4` for
/// classic files.
pub(crate) fn find_enhanced(ncid: c_int) -> Result<(PinnedFile, GroupId)> {
    let (file, group) = find(ncid)?;
    if file.is_classic() {
        return fail(Code::ENOTNC4, "classic files have one group and no types of their own");
    }
    Ok((file, group))
}
