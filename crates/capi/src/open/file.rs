//! What is known of an open file: the file itself, how the caller opened it, and in which mode the caller sees it.

use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Class;
use ferrocdf::{Code, File, FileMut, Location, Model, OpenOptions, Result, Type, VarId};

use crate::abi::answer::fail;
use crate::abi::constants::{NC_CLASSIC_MODEL, NC_NETCDF4, format_flags};
use crate::abi::memory::free;
use crate::open::chunk_caches::{self, FileCaches};

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
    pub(crate) access: FileAccess,
    /// True for a file of a classic format.
    is_classic: bool,
    defining: AtomicBool,
    state: Mutex<DefineState>,
}

/// How a file is open.
pub(crate) enum FileAccess {
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

/// Memory that a caller gave. What is read from it, and written, is a copy; a file that may be written is brought back
/// when it is closed. The caller gets the memory back from `nc_close_memio`; it is freed when the file is closed
/// otherwise, unless it is locked.
pub(crate) struct GivenMemory {
    /// Null once it was given back.
    pub(crate) memory: AtomicPtr<c_void>,
    pub(crate) size: usize,
    /// Whether it is freed if it was not given back.
    pub(crate) ours: AtomicBool,
}

impl Drop for GivenMemory {
    fn drop(&mut self) {
        if *self.ours.get_mut() {
            // SAFETY: the caller gave it away, it is from `malloc`, as the function says, or null.
            unsafe { free(*self.memory.get_mut()) };
        }
    }
}

/// What calls change that define. Its lock makes each of them one step.
pub(crate) struct DefineState {
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

impl DefineState {
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

    /// True if a type is in the file.
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
    pub(crate) fn new(location: Location, mode: c_int, access: FileAccess, is_new: bool) -> Self {
        let file: &File = match &access {
            FileAccess::Read(file) => file,
            FileAccess::Write(file) => {
                file.set_space(&chunk_caches::space());
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
            state: Mutex::new(DefineState {
                is_new,
                no_fill: false,
                stored,
                written: (stored.0, HashSet::new()),
            }),
        }
    }

    /// Returns the file, to be read.
    pub(crate) fn file(&self) -> &File {
        match &self.access {
            FileAccess::Read(file) => file,
            FileAccess::Write(file) => file,
        }
    }

    /// Returns the file, to be written. Fails with `NC_EPERM`.
    pub(crate) fn writable(&self) -> Result<&FileMut> {
        match &self.access {
            FileAccess::Write(file) => Ok(file),
            FileAccess::Read(_) => fail(Code::EPERM, "the file is open for reading only"),
        }
    }

    /// True for a file of a classic format.
    pub(crate) fn is_classic(&self) -> bool {
        self.is_classic
    }

    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.access, FileAccess::Write(_))
    }

    /// Returns the model, changes of define mode included.
    pub(crate) fn model(&self) -> Arc<Model> {
        self.file().model()
    }

    /// Locks the state, so that other calls that define wait. Nothing panics half-way through a change of the state.
    pub(crate) fn state(&self) -> MutexGuard<'_, DefineState> {
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

    /// True if the file enters and leaves define mode by itself, as calls need it: netCDF-4 files that are not held to
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

/// Returns the options with which files that are cut off are read as the reference reads them: missing bytes are zero.
pub(crate) fn lenient_options() -> OpenOptions {
    OpenOptions::default().allow_missing(u64::MAX)
}
