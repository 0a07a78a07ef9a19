//! Open files and their ids.
//!
//! An id is a position in one table, shifted by 16 bits as in the reference; the low bits are for groups. A position is
//! free again once its file is closed, and the first free one is taken. The table's lock is held only while it is looked
//! at: calls keep the file alive through a count, so a close on one thread never pulls a file from under another.

use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use ferrocdf::model::Class;
use ferrocdf::{Code, Error, File, FileMut, Format, GroupId, Model, Result, Type, VarId};

use crate::boundary::fail;
use crate::caches::{self, Cache};
use crate::constants::{NC_CLASSIC_MODEL, NC_DISKLESS, NC_INMEMORY, NC_NETCDF4, format_flags};
use crate::files::as_path;
use crate::memory_files::GivenMemory;

/// Bits of an id that are for groups.
const GROUP_BITS: u32 = 16;
/// The most files open at once, plus one: position 0 is never taken.
const POSITIONS: usize = 1 << 15;

/// How long a close waits for calls on other threads.
const MOST_WAITING: Duration = Duration::from_secs(10);

static FILES: RwLock<Vec<Option<Arc<OpenFile>>>> = RwLock::new(Vec::new());

/// A file with an id.
pub(crate) struct OpenFile {
    /// The path it was opened with.
    pub(crate) path: Vec<u8>,
    /// The flags it was opened with, and those of its format, as `nc_inq_format_extended` tells them.
    pub(crate) mode: c_int,
    /// What a file in memory does with its bytes when it is closed.
    pub(crate) at_close: AtClose,
    /// The memory that the caller gave and that it gets back.
    pub(crate) given: Option<GivenMemory>,
    /// The chunk caches that variables of a netCDF-4 file have, once they were asked for.
    pub(crate) caches: Mutex<HashMap<VarId, Cache>>,
    access: Access,
    defining: AtomicBool,
    state: Mutex<State>,
}

/// How a file is open.
pub(crate) enum Access {
    Read(File),
    /// Shared by all openings of one netCDF-4 file for writing in this process.
    Write(Arc<FileMut>),
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
    /// How many variables and user-defined types are in the file: how these are stored is decided.
    stored: (usize, usize),
    /// Variables of netCDF-4 files that are taken to have values, so that their fill value is decided: those that were
    /// there when the file was opened, and these.
    written: (usize, HashSet<VarId>),
}

impl State {
    /// Takes note that the file says all that the model says.
    pub(crate) fn all_stored(&mut self, model: &Model) {
        self.stored = (model.vars().len(), model.types().len());
    }

    /// Fails with `NC_ELATEDEF` if a variable is in the file.
    pub(crate) fn check_open(&self, var: VarId) -> Result<()> {
        if var.index() < self.stored.0 {
            return fail(Code::ELATEDEF, "the variable is in the file, as it was defined");
        }
        Ok(())
    }

    /// Fails with `NC_ETYPDEFINED` if a user-defined type is in the file.
    pub(crate) fn check_type_open(&self, ty: Type) -> Result<()> {
        match ty {
            Type::User(_) if self.is_stored(ty) => {
                fail(Code::ETYPDEFINED, "the type is in the file, as it was defined")
            }
            _ => Ok(()),
        }
    }

    /// Whether a type is in the file.
    pub(crate) fn is_stored(&self, ty: Type) -> bool {
        matches!(ty, Type::User(id) if id.index() < self.stored.1) || matches!(ty, Type::Atomic(_))
    }

    /// Fails for types that are to be made and have nothing in them.
    pub(crate) fn check_types(&self, model: &Model) -> Result<()> {
        for ty in model.types().iter().skip(self.stored.1) {
            let code = match &ty.class {
                Class::Enum { members, .. } if members.is_empty() => Code::EINVAL,
                Class::Compound { fields, .. } if fields.is_empty() => Code::EHDFERR,
                _ => continue,
            };
            return fail(code, format!("type \"{}\" is empty", ty.name));
        }
        Ok(())
    }

    /// Takes note that a variable has values.
    pub(crate) fn set_written(&mut self, var: VarId) {
        self.written.1.insert(var);
    }

    /// Fails with `NC_ELATEFILL` if a variable has values.
    pub(crate) fn check_unwritten(&self, var: VarId) -> Result<()> {
        if var.index() < self.written.0 || self.written.1.contains(&var) {
            return fail(Code::ELATEFILL, "the variable has values, and gets no other fill value");
        }
        Ok(())
    }
}

impl OpenFile {
    pub(crate) fn new(path: Vec<u8>, mode: c_int, access: Access, is_new: bool) -> Self {
        let file: &File = match &access {
            Access::Read(file) => file,
            Access::Write(file) => {
                file.set_space(&caches::space());
                file
            }
        };
        let format = file.format();
        let stored = file.look(|model| (model.vars().len(), model.types().len()));
        OpenFile {
            path,
            // That a file keeps to the classic model is told of new ones only.
            mode: (mode & !NC_NETCDF4) | (format_flags(format) & if is_new { !0 } else { !NC_CLASSIC_MODEL }),
            caches: Mutex::default(),
            at_close: AtClose::Nothing,
            given: None,
            access,
            defining: AtomicBool::new(is_new),
            state: Mutex::new(State { is_new, no_fill: false, stored, written: (stored.0, HashSet::new()) }),
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

    /// Whether the file enters and leaves define mode by itself, as calls need it: netCDF-4 files that are not held to
    /// the classic model.
    pub(crate) fn is_free(&self) -> bool {
        self.file().format() == Format::Netcdf4
    }

    /// Enters define mode where that is free. Fails with `NC_ENOTINDEFINE` where it is not, and with `NC_EPERM` for
    /// netCDF-4 files that are only read.
    pub(crate) fn check_define_mode(&self) -> Result<()> {
        if self.file().format().is_classic_file() || self.is_defining() {
            return self.check_defining();
        }
        if !self.is_free() {
            return self.check_defining();
        }
        self.writable()?;
        self.set_defining(true);
        Ok(())
    }

    /// Fails with `NC_ENOTINDEFINE` outside define mode.
    pub(crate) fn check_defining(&self) -> Result<()> {
        if self.is_defining() { Ok(()) } else { fail(Code::ENOTINDEFINE, "the file is not in define mode") }
    }
}

/// Asks the model of the file with an id, and for its group. Without a share of either where nobody is changing the file;
/// otherwise the question waits for that file alone, and no other one for it.
pub(crate) fn ask<R>(ncid: c_int, question: impl FnOnce(&Model, GroupId) -> Result<R>) -> Result<R> {
    let group = group_in(ncid);
    let answer = |model: &Model| {
        if group.index() >= model.groups().len() { Err(bad_id(ncid)) } else { question(model, group) }
    };
    let files = table();
    let file = in_table(&files, ncid)?;
    match file.file().try_look(answer) {
        Ok(answered) => answered,
        Err(answer) => {
            let file = file.clone();
            drop(files);
            file.file().look(answer)
        }
    }
}

/// The file with an id, if it is the root group that is meant: for calls that look no further.
pub(crate) fn find_root(ncid: c_int) -> Option<Arc<OpenFile>> {
    if group_in(ncid) != GroupId::ROOT {
        return None;
    }
    in_table(&table(), ncid).ok().cloned()
}

/// The table, to be looked at: not longer than it takes to find a file in it.
fn table() -> RwLockReadGuard<'static, Vec<Option<Arc<OpenFile>>>> {
    FILES.read().unwrap_or_else(PoisonError::into_inner)
}

fn in_table(files: &[Option<Arc<OpenFile>>], ncid: c_int) -> Result<&Arc<OpenFile>> {
    files.get((ncid as u32 >> GROUP_BITS) as usize).and_then(Option::as_ref).ok_or_else(|| bad_id(ncid))
}

fn group_in(ncid: c_int) -> GroupId {
    GroupId(ncid as u32 & ((1 << GROUP_BITS) - 1))
}

/// The file and group with an id. Fails with `NC_EBADID`.
pub(crate) fn find(ncid: c_int) -> Result<(Arc<OpenFile>, GroupId)> {
    let (file, group) = (in_table(&table(), ncid)?.clone(), group_in(ncid));
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

/// Gives a file an id. Fails with `NC_ENOMEM` if all are taken.
pub(crate) fn insert(file: OpenFile) -> Result<c_int> {
    fork::make_safe();
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

/// The writer of a netCDF-4 file that is already open for writing in this process, if the file at a path is one: two
/// writers of one file would not know of each other.
pub(crate) fn writer_of(path: &Path) -> Option<Arc<FileMut>> {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let wanted = place(path)?;
    table().iter().flatten().find_map(|open| match &open.access {
        Access::Write(writer)
            if open.mode & (NC_DISKLESS | NC_INMEMORY) == 0
                && !writer.format().is_classic_file()
                && place(as_path(&open.path)) == Some(wanted) =>
        {
            Some(writer.clone())
        }
        _ => None,
    })
}

/// Takes a file from the table. Fails with `NC_EBADID`.
///
/// Calls that are under way on other threads end first, so that what they write is in the file when it is closed. There
/// is a limit to waiting: a process made by `fork` counts calls of threads that it does not have.
pub(crate) fn remove(ncid: c_int) -> Result<Arc<OpenFile>> {
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    let slot = files.get_mut((ncid as u32 >> GROUP_BITS) as usize);
    let file = slot.and_then(Option::take).ok_or_else(|| bad_id(ncid))?;
    drop(files);
    let limit = Instant::now() + MOST_WAITING;
    while Arc::strong_count(&file) > 1 && Instant::now() < limit {
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(file)
}

fn bad_id(ncid: c_int) -> Error {
    Error::new(Code::EBADID, format!("no open file has the id {ncid}"))
}

/// `fork` while another thread opens or closes a file: the child must find the table free.
mod fork {
    use std::cell::RefCell;
    use std::sync::{Once, PoisonError, RwLockWriteGuard};

    use super::{FILES, OpenFile};

    type Held = RwLockWriteGuard<'static, Vec<Option<std::sync::Arc<OpenFile>>>>;

    thread_local! {
        /// The table's lock, held by the thread that forks from before to after.
        static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
    }

    /// Sees to it, once, that the table is free on both sides of a `fork`.
    pub(super) fn make_safe() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the functions take no argument and do not unwind: the lock is there for all time.
            unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
        });
    }

    extern "C" fn before() {
        let held = FILES.write().unwrap_or_else(PoisonError::into_inner);
        // A thread that is ending does not fork.
        let _ = HELD.try_with(|place| place.replace(Some(held)));
    }

    extern "C" fn after() {
        let _ = HELD.try_with(|place| place.replace(None));
    }
}
