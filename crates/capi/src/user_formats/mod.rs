//! User-defined formats: dispatch tables of programs, for the modes `NC_UDF0` to `NC_UDF9`.
//!
//! A file that is opened or created with such a mode, or begins with the magic number of such a format, has an id like
//! other files and is served by the functions of the dispatch table: `forward` forwards each call. These ids are
//! assigned from the last one downwards, ids of other files from the first one upwards, so the table of open files is
//! independent of this module.

mod calls;
mod data;
mod open;
mod plugins;
mod stand_ins;
mod table;
mod variable;

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, RwLockWriteGuard};

use ferrocdf::{Code, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::{NC_64BIT_DATA, NC_64BIT_OFFSET, NC_CLASSIC_MODEL, NC_NETCDF4, UDF_FLAGS};
use crate::abi::forks::{ProcessMutex, ProcessRwLock};
use crate::abi::pointers::{Out, Str, put_text};
use crate::open::table::{GROUP_BITS, POSITIONS};
pub(crate) use open::{Closing, OpenRequest, close, create, open};
use plugins::load_once;
use table::{DISPATCH_VERSION, Dispatch};
pub(crate) use variable::VarFacts;

/// Largest length of a magic number, in bytes.
const MAGIC_LEN: usize = 8;

/// User-defined format.
#[derive(Default)]
struct Format {
    table: Option<FormatTable>,
    /// Magic number of its files; empty if there is none.
    magic: Vec<u8>,
}

/// Dispatch table in memory of the program; valid until the process ends.
#[derive(Clone, Copy)]
struct FormatTable(*const Dispatch);

// SAFETY: the table is only read, and does not change until the process ends (`nc_def_user_format`).
unsafe impl Send for FormatTable {}
// SAFETY: threads only read the table, too.
unsafe impl Sync for FormatTable {}

static FORMATS: ProcessMutex<[Format; UDF_FLAGS.len()]> =
    ProcessMutex::new([const { Format { table: None, magic: vec![] } }; UDF_FLAGS.len()]);

fn formats() -> MutexGuard<'static, [Format; UDF_FLAGS.len()]> {
    FORMATS.lock()
}

/// File in a user-defined format.
pub(crate) struct UserFile {
    table: FormatTable,
    /// Path as given by the caller; the functions of the table may keep the pointer.
    pub(crate) path: CString,
}

impl UserFile {
    fn table(&self) -> &Dispatch {
        // SAFETY: the table is not null, and valid until the process ends, by the contract of `nc_def_user_format`.
        unsafe { &*self.table.0 }
    }
}

/// Open files in user-defined formats; the first has the last id.
static FILES: ProcessRwLock<Vec<Option<Arc<UserFile>>>> = ProcessRwLock::new(Vec::new());
/// Length of `FILES`, read without its lock: in most programs it is 0.
static POSITIONS_USED: AtomicUsize = AtomicUsize::new(0);

/// Locks the list of open files for a change.
fn files() -> RwLockWriteGuard<'static, Vec<Option<Arc<UserFile>>>> {
    FILES.write()
}

/// Returns the file with an id, if its format is user-defined.
pub(crate) fn user_file(ncid: c_int) -> Option<Arc<UserFile>> {
    if POSITIONS_USED.load(Ordering::Acquire) == 0 {
        return None;
    }
    let at = position_of(ncid)?;
    FILES.read().get(at)?.clone()
}

/// Returns the number of ids at the end of the range that are used by these files.
pub(crate) fn ids_taken() -> usize {
    POSITIONS_USED.load(Ordering::Acquire)
}

fn position_of(ncid: c_int) -> Option<usize> {
    (POSITIONS - 1).checked_sub((ncid as u32 >> GROUP_BITS) as usize)
}

/// Returns the index of the format in a mode. Fails with `NC_EINVAL` for a mode with none or several.
fn check_one(mode: c_int) -> Result<usize> {
    let mut named = (0..UDF_FLAGS.len()).filter(|&at| mode & UDF_FLAGS[at] != 0);
    match (named.next(), named.next()) {
        (Some(at), None) => Ok(at),
        _ => fail(Code::EINVAL, format!("{mode:#x} does not name one NC_UDF")),
    }
}

/// Defines or redefines a format by its dispatch table and its magic number.
///
/// # Safety
/// `table` is null or an `NC_Dispatch`, which does not change until the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_user_format(mode: c_int, table: *const c_void, magic: Str) -> c_int {
    answer(|| {
        if table.is_null() {
            return fail(Code::EINVAL, "the table is a null pointer");
        }
        let magic = if magic.is_null() { None } else { Some(magic.bytes()?) };
        if magic.is_some_and(|magic| magic.len() > MAGIC_LEN) {
            return fail(Code::EINVAL, format!("a magic number has at most {MAGIC_LEN} bytes"));
        }
        let table: *const Dispatch = table.cast();
        // SAFETY: a table begins with its model and its version, both `int`, as the function says.
        let [_model, version] = unsafe { table.cast::<[c_int; 2]>().read() };
        if version != DISPATCH_VERSION {
            return fail(Code::EINVAL, format!("the table has version {version}, not {DISPATCH_VERSION}"));
        }
        let classic = mode & (NC_64BIT_OFFSET | NC_64BIT_DATA) != 0
            || mode & (NC_CLASSIC_MODEL | NC_NETCDF4) == NC_CLASSIC_MODEL;
        if magic.is_some() && classic {
            return fail(Code::EINVAL, "classic formats have their own magic numbers");
        }
        let format = &mut formats()[check_one(mode)?];
        format.table = Some(FormatTable(table));
        if let Some(magic) = magic {
            format.magic = magic.to_vec();
        }
        Ok(())
    })
}

/// Returns the dispatch table and the magic number of a format; a null pointer and an empty text if it is not defined.
///
/// # Safety
/// `magic` is null or has room for the magic number and a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_format(
    mode: c_int,
    table: Out<*const c_void>,
    magic: *mut c_char,
) -> c_int {
    answer(|| {
        let format = &formats()[check_one(mode)?];
        table.put(format.table.map_or(std::ptr::null(), |table| table.0.cast()));
        // SAFETY: `magic` is null or has room for `NC_MAX_MAGIC_NUMBER_LEN` bytes and a zero byte.
        unsafe { put_text(magic, &format.magic) };
        Ok(())
    })
}

/// Returns the format whose magic number the file begins with, or else the first one in the mode; the same precedence
/// as in netCDF-C.
fn wanted(mode: c_int, begins: &[u8]) -> Option<usize> {
    let has_magic = |format: &Format| !format.magic.is_empty() && begins.starts_with(&format.magic);
    formats().iter().position(has_magic).or_else(|| UDF_FLAGS.iter().position(|flag| mode & flag != 0))
}

/// Returns the dispatch table of a format. Fails with `NC_ENOTBUILT` if it is not defined.
fn table_of(format: usize) -> Result<FormatTable> {
    match formats()[format].table {
        Some(table) => Ok(table),
        None => fail(Code::ENOTBUILT, format!("no format is defined as NC_UDF{format}")),
    }
}
