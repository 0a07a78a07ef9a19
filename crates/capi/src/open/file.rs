//! State of an open file: the file itself, the arguments with which it was opened, and the mode that the caller sees.

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

/// Open file with an id.
pub(crate) struct OpenFile {
    /// Path or URL with which the file was opened.
    pub(crate) location: Location,
    /// Flags with which the file was opened, and the flags of its format, as `nc_inq_format_extended` returns them.
    pub(crate) mode: c_int,
    /// Action on the bytes of a file in memory at the close.
    pub(crate) at_close: AtClose,
    /// Memory that the caller passed and gets back.
    pub(crate) given: Option<GivenMemory>,
    /// Chunk cache settings of the variables of a netCDF-4 file.
    pub(crate) caches: FileCaches,
    pub(crate) access: FileAccess,
    /// True for a file of a classic format.
    is_classic: bool,
    defining: AtomicBool,
    state: Mutex<DefineState>,
}

/// Access to an open file.
pub(crate) enum FileAccess {
    Read(File),
    /// Shared by all openings of one netCDF-4 file for writing in this process.
    Write(Arc<FileMut>),
}

/// Action on the bytes of a file at the close.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtClose {
    /// No action: the bytes are in their place, or are discarded.
    Nothing,
    /// Writes a file in memory to its path (`NC_PERSIST`).
    Persist,
}

/// Memory that a caller passed. The file works on a copy; a writable file is copied back at the close. `nc_close_memio`
/// returns the memory to the caller; any other close frees it, unless it is locked.
pub(crate) struct GivenMemory {
    /// Null after the memory was returned to the caller.
    pub(crate) memory: AtomicPtr<c_void>,
    pub(crate) size: usize,
    /// True if the memory is freed unless it was returned.
    pub(crate) ours: AtomicBool,
}

impl Drop for GivenMemory {
    fn drop(&mut self) {
        if *self.ours.get_mut() {
            // SAFETY: the memory belongs to the library, and is from `malloc`, as `nc_open_memio` says, or null.
            unsafe { free(*self.memory.get_mut()) };
        }
    }
}

/// State that defining calls change. Its lock makes each such call atomic.
pub(crate) struct DefineState {
    /// True for a file from `nc_create` that has never left define mode: an abort removes it.
    pub(crate) is_new: bool,
    /// True if new variables are not filled.
    pub(crate) no_fill: bool,
    /// Number of variables and of user-defined types in the file: their storage can no longer change.
    stored: (usize, usize),
    /// Variables of netCDF-4 files that count as written, so that their fill value can no longer change: the number of
    /// leading variables that existed when the file was opened, and a set of others.
    written: (usize, HashSet<VarId>),
}

impl DefineState {
    /// Records that all definitions of the model are in the file.
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

    /// Fails for new types without members.
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

    /// Records that a variable has values.
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
            // The flag of the classic model is reported for new files only.
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

    /// Returns the file for reading.
    pub(crate) fn file(&self) -> &File {
        match &self.access {
            FileAccess::Read(file) => file,
            FileAccess::Write(file) => file,
        }
    }

    /// Returns the file for writing. Fails with `NC_EPERM` if it is open for reading only.
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

    /// Returns the model, including the changes of define mode.
    pub(crate) fn model(&self) -> Arc<Model> {
        self.file().model()
    }

    /// Locks the state, so that other defining calls wait. Poison is ignored: no panic leaves a half-made change of the
    /// state.
    pub(crate) fn state(&self) -> MutexGuard<'_, DefineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_defining(&self) -> bool {
        self.defining.load(Ordering::Acquire)
    }

    /// Enters or leaves define mode as the caller sees it.
    pub(crate) fn set_defining(&self, defining: bool) {
        self.defining.store(defining, Ordering::Release);
    }

    /// Fails with `NC_EINDEFINE` in define mode.
    pub(crate) fn check_data_mode(&self) -> Result<()> {
        if self.is_defining() { fail(Code::EINDEFINE, "the file is in define mode") } else { Ok(()) }
    }

    /// True if the file enters and leaves define mode implicitly: netCDF-4 files that do not keep to the classic model.
    pub(crate) fn is_free(&self) -> bool {
        self.file().format().is_enhanced()
    }

    /// Enters define mode in files that do so implicitly. Fails with `NC_ENOTINDEFINE` for other files in data mode,
    /// and with `NC_EPERM` for netCDF-4 files that are open for reading only.
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

/// Returns the options for reading truncated files as netCDF-C does: missing bytes are zero.
pub(crate) fn lenient_options() -> OpenOptions {
    OpenOptions::default().allow_missing(u64::MAX)
}
