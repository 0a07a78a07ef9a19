//! Open files and their ids.
//!
//! An id is a position in the table of [`crate::file_table`], shifted by 16 bits as in the reference; the low bits are for
//! groups. A position is free again once its file is closed, and the first free one is taken.

use std::collections::HashSet;
use std::ffi::c_int;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Class;
use ferrocdf::{Code, Error, File, FileMut, GroupId, Location, Model, Result, Type, VarId};

use crate::boundary::fail;
use crate::caches::{self, FileCaches};
use crate::constants::{NC_CLASSIC_MODEL, NC_DISKLESS, NC_INMEMORY, NC_NETCDF4, format_flags};
use crate::file_table::{self, Pinned, Removed};
use crate::files::path_of;
use crate::memory_files::GivenMemory;
use crate::user_formats;

/// Bits of an id that are for groups.
pub(crate) const GROUP_BITS: u32 = 16;
/// The most files open at once, plus one: position 0 is never taken.
pub(crate) const POSITIONS: usize = 1 << 15;

/// A file with an id.
pub(crate) struct OpenFile {
    /// The path or the URL it was opened with.
    pub(crate) location: Location,
    /// The flags it was opened with, and those of its format, as `nc_inq_format_extended` tells them.
    pub(crate) mode: c_int,
    /// What a file in memory does with its bytes when it is closed.
    pub(crate) at_close: AtClose,
    /// The memory that the caller gave and that it gets back.
    pub(crate) given: Option<GivenMemory>,
    /// The chunk caches that variables of a netCDF-4 file have.
    pub(crate) caches: FileCaches,
    access: Access,
    /// True for a file of a classic format.
    is_classic: bool,
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
    pub(crate) fn new(location: Location, mode: c_int, access: Access, is_new: bool) -> Self {
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
            location,
            // That a file keeps to the classic model is told of new ones only.
            mode: (mode & !NC_NETCDF4) | (format_flags(format) & if is_new { !0 } else { !NC_CLASSIC_MODEL }),
            caches: FileCaches::new(stored.0),
            at_close: AtClose::Nothing,
            given: None,
            access,
            is_classic: format.has_cdf_model(),
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

    /// True for a file of a classic format.
    pub(crate) fn is_classic(&self) -> bool {
        self.is_classic
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
        self.file().format().is_enhanced()
    }

    /// Enters define mode where that is free. Fails with `NC_ENOTINDEFINE` where it is not, and with `NC_EPERM` for
    /// netCDF-4 files that are only read.
    pub(crate) fn check_define_mode(&self) -> Result<()> {
        if self.is_classic() || self.is_defining() {
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

/// Asks the model of the file with an id, and for its group.
pub(crate) fn ask<R>(ncid: c_int, question: impl FnOnce(&Model, GroupId) -> Result<R>) -> Result<R> {
    ask_of(ncid, |_, model, group| question(model, group))
}

/// The same with the file itself.
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

/// The file with an id, if it is the root group that is meant: for calls that look no further.
pub(crate) fn find_root(ncid: c_int) -> Option<Pinned> {
    if group_in(ncid) != GroupId::ROOT {
        return None;
    }
    in_table(ncid).ok()
}

fn in_table(ncid: c_int) -> Result<Pinned> {
    file_table::pin(position(ncid)).ok_or_else(|| bad_id(ncid))
}

fn position(ncid: c_int) -> usize {
    (ncid as u32 >> GROUP_BITS) as usize
}

fn group_in(ncid: c_int) -> GroupId {
    GroupId(ncid as u32 & ((1 << GROUP_BITS) - 1))
}

/// The file and group with an id. Fails with `NC_EBADID`.
pub(crate) fn find(ncid: c_int) -> Result<(Pinned, GroupId)> {
    let (file, group) = (in_table(ncid)?, group_in(ncid));
    if group != GroupId::ROOT && group.index() >= file.model().groups().len() {
        return Err(bad_id(ncid));
    }
    Ok((file, group))
}

/// The file with an id, whichever group of it is meant. Fails with `NC_EBADID`.
pub(crate) fn find_file(ncid: c_int) -> Result<Pinned> {
    find(ncid).map(|(file, _)| file)
}

/// The id of another group of a file.
pub(crate) fn group_id(ncid: c_int, group: GroupId) -> c_int {
    ((ncid as u32 >> GROUP_BITS << GROUP_BITS) | group.0) as c_int
}

/// Gives a file an id. Fails with `NC_ENOMEM` if all are taken.
pub(crate) fn insert(file: OpenFile) -> Result<c_int> {
    match file_table::insert(file, POSITIONS - user_formats::ids_taken()) {
        Some(at) => Ok((at << GROUP_BITS) as c_int),
        None => fail(Code::ENOMEM, "as many files are open as there are ids"),
    }
}

/// The writer of a netCDF-4 file that is already open for writing in this process, if the file at a path is one: two
/// writers of one file would not know of each other.
pub(crate) fn writer_of(path: &Path) -> Option<Arc<FileMut>> {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let wanted = place(path)?;
    file_table::all().find_map(|open| match &open.access {
        Access::Write(writer)
            if open.mode & (NC_DISKLESS | NC_INMEMORY) == 0
                && !open.is_classic()
                && path_of(&open.location).and_then(place) == Some(wanted) =>
        {
            Some(writer.clone())
        }
        _ => None,
    })
}

/// Takes a file from the table. Fails with `NC_EBADID`.
///
/// Calls that are under way on other threads end first, so that the bytes they write are in the file when it is closed.
pub(crate) fn remove(ncid: c_int) -> Result<Removed> {
    file_table::remove(position(ncid)).ok_or_else(|| bad_id(ncid))
}

fn bad_id(ncid: c_int) -> Error {
    Error::new(Code::EBADID, format!("no open file has the id {ncid}"))
}
