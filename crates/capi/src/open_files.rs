//! Open files and their ids.
//!
//! An id is a position in one table, shifted by 16 bits as in the reference; the low bits are for groups. A position is
//! free again once its file is closed, and the first free one is taken. The table's lock is held only while it is looked
//! at: calls keep the file alive through a count, so a close on one thread never pulls a file from under another.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ferrocdf::{Code, Error, File, FileMut, GroupId, Model, Result};

use crate::boundary::fail;
use crate::memory_files::GivenMemory;

/// Bits of an id that are for groups.
const GROUP_BITS: u32 = 16;
/// The most files open at once, plus one: position 0 is never taken.
const POSITIONS: usize = 1 << 15;

static FILES: RwLock<Vec<Option<Arc<OpenFile>>>> = RwLock::new(Vec::new());

/// A file with an id.
pub(crate) struct OpenFile {
    /// The path it was opened with.
    pub(crate) path: Vec<u8>,
    /// The flags it was opened with, as `nc_inq_format_extended` tells them.
    pub(crate) mode: c_int,
    /// What a file in memory does with its bytes when it is closed.
    pub(crate) at_close: AtClose,
    /// The memory that the caller gave for a file that is only read.
    pub(crate) given: Option<GivenMemory>,
    access: Access,
    defining: AtomicBool,
    state: Mutex<State>,
}

/// How a file is open.
pub(crate) enum Access {
    Read(File),
    Write(FileMut),
}

/// What is done with the bytes of a file when it is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtClose {
    /// They are where they belong, or nobody wants them.
    Nothing,
    /// A file in memory is written to its path (`NC_PERSIST`).
    Persist,
}

/// What calls change that define. Its lock makes each of them one step.
pub(crate) struct State {
    /// Made by `nc_create` and never out of define mode: aborting removes it.
    pub(crate) is_new: bool,
    /// Whether variables to come are not filled.
    pub(crate) no_fill: bool,
}

impl OpenFile {
    pub(crate) fn new(path: Vec<u8>, mode: c_int, access: Access, is_new: bool) -> Self {
        OpenFile {
            path,
            mode,
            at_close: AtClose::Nothing,
            given: None,
            access,
            defining: AtomicBool::new(is_new),
            state: Mutex::new(State { is_new, no_fill: false }),
        }
    }

    /// The file, to be read.
    pub(crate) fn file(&self) -> &File {
        match &self.access {
            Access::Read(file) => file,
            Access::Write(file) => file,
        }
    }

    /// The file, to be written. Fails with `NC_EPERM`.
    pub(crate) fn writable(&self) -> Result<&FileMut> {
        match &self.access {
            Access::Write(file) => Ok(file),
            Access::Read(_) => fail(Code::EPERM, "the file is open for reading only"),
        }
    }

    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.access, Access::Write(_))
    }

    /// What the file says now, changes of define mode included.
    pub(crate) fn model(&self) -> Arc<Model> {
        self.file().model()
    }

    /// Holds back other calls that define. Nothing panics half-way through a change of the state.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_defining(&self) -> bool {
        self.defining.load(Ordering::Acquire)
    }

    /// Enters or leaves define mode, in the eyes of the caller.
    pub(crate) fn set_defining(&self, defining: bool) {
        self.defining.store(defining, Ordering::Release);
    }

    /// Fails with `NC_EINDEFINE` in define mode.
    pub(crate) fn check_data_mode(&self) -> Result<()> {
        if self.is_defining() { fail(Code::EINDEFINE, "the file is in define mode") } else { Ok(()) }
    }

    /// Fails with `NC_ENOTINDEFINE` outside define mode.
    pub(crate) fn check_define_mode(&self) -> Result<()> {
        if self.is_defining() { Ok(()) } else { fail(Code::ENOTINDEFINE, "the file is not in define mode") }
    }
}

/// Runs a brief `look` at the file and group with an id, without a count for it: nobody opens or closes a file meanwhile.
/// `None` if there is no such file, or the id is that of a group below the root, which may not exist.
pub(crate) fn look<R>(ncid: c_int, look: impl FnOnce(&OpenFile) -> Option<R>) -> Option<R> {
    let number = ncid as u32;
    if number & ((1 << GROUP_BITS) - 1) != 0 {
        return None;
    }
    let files = FILES.read().unwrap_or_else(PoisonError::into_inner);
    look(files.get((number >> GROUP_BITS) as usize)?.as_ref()?)
}

/// Asks the model of the file with an id, and for its group, without a share of either: for brief questions.
pub(crate) fn ask<R>(ncid: c_int, question: impl FnOnce(&Model, GroupId) -> Result<R>) -> Result<R> {
    let number = ncid as u32;
    let files = FILES.read().unwrap_or_else(PoisonError::into_inner);
    let file = files.get((number >> GROUP_BITS) as usize).and_then(Option::as_ref);
    let file = file.ok_or_else(|| bad_id(ncid))?;
    let group = GroupId(number & ((1 << GROUP_BITS) - 1));
    file.file().look(|model| {
        if group.index() >= model.groups().len() { Err(bad_id(ncid)) } else { question(model, group) }
    })
}

/// The file and group with an id. Fails with `NC_EBADID`.
pub(crate) fn find(ncid: c_int) -> Result<(Arc<OpenFile>, GroupId)> {
    let files = FILES.read().unwrap_or_else(PoisonError::into_inner);
    let number = ncid as u32;
    let Some(Some(file)) = files.get((number >> GROUP_BITS) as usize) else { return Err(bad_id(ncid)) };
    let (file, group) = (file.clone(), GroupId(number & ((1 << GROUP_BITS) - 1)));
    drop(files);
    if group != GroupId::ROOT && group.index() >= file.model().groups().len() {
        return Err(bad_id(ncid));
    }
    Ok((file, group))
}

/// The file with an id, whichever group of it is meant. Fails with `NC_EBADID`.
pub(crate) fn find_file(ncid: c_int) -> Result<Arc<OpenFile>> {
    find(ncid).map(|(file, _)| file)
}

/// The id of another group of a file.
pub(crate) fn group_id(ncid: c_int, group: GroupId) -> c_int {
    ((ncid as u32 >> GROUP_BITS << GROUP_BITS) | group.0) as c_int
}

/// Gives a file an id. Fails with `NC_ENOMEM` if all are taken, as the reference does.
pub(crate) fn insert(file: OpenFile) -> Result<c_int> {
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    if files.is_empty() {
        files.push(None);
    }
    let at = files.iter().skip(1).position(Option::is_none).map_or(files.len(), |free| free + 1);
    if at >= POSITIONS {
        return fail(Code::ENOMEM, format!("{at} files are open, which is the limit"));
    }
    if at == files.len() {
        files.push(None);
    }
    files[at] = Some(Arc::new(file));
    Ok((at << GROUP_BITS) as c_int)
}

/// Takes a file from the table. Fails with `NC_EBADID`.
pub(crate) fn remove(ncid: c_int) -> Result<Arc<OpenFile>> {
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    let slot = files.get_mut((ncid as u32 >> GROUP_BITS) as usize);
    slot.and_then(Option::take).ok_or_else(|| bad_id(ncid))
}

fn bad_id(ncid: c_int) -> Error {
    Error::new(Code::EBADID, format!("no open file has the id {ncid}"))
}
