//! Making, opening and closing files, and the modes they are in.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use ferrocdf::{
    Alignment, AppendOptions, Code, Container, CreateOptions, File, FileMut, Format, Location, Result,
};

use crate::boundary::{answer, fail, put};
use crate::constants::*;
use crate::library::default_format;
use crate::memory_files;
use crate::open_file::{Access, AtClose, OpenFile, missing_is_zero};
use crate::open_files::{find, find_file, insert, remove, writer_of};
use crate::paths::{location, path_of};
use crate::user_formats::{self, OpenRequest};

/// Fails for flags that exclude each other.
pub(crate) fn check_mode(mode: c_int) -> Result<()> {
    let all = |flags: c_int| mode & flags == flags;
    if all(NC_DISKLESS | NC_INMEMORY) || all(NC_DISKLESS | NC_MMAP) {
        return fail(Code::EDISKLESS, "NC_DISKLESS excludes NC_INMEMORY and NC_MMAP");
    }
    if all(NC_INMEMORY | NC_MMAP) {
        return fail(Code::EINMEMORY, "NC_INMEMORY excludes NC_MMAP");
    }
    if all(NC_MMAP | NC_NETCDF4) {
        return fail(Code::EINVAL, "NC_MMAP is for classic files");
    }
    Ok(())
}

/// The format that flags ask for. Without a flag it is the default that the program has set; else netCDF-4 for a name that asks for a Zarr
/// store, and classic for all others.
fn format_of(mode: c_int, is_zarr: impl FnOnce() -> bool) -> Result<Format> {
    let chosen = mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
    let classic_model = mode & NC_CLASSIC_MODEL != 0;
    match chosen {
        NC_64BIT_OFFSET => Ok(Format::OFFSET64),
        NC_64BIT_DATA => Ok(Format::DATA64),
        NC_NETCDF4 if classic_model => Ok(Format::NETCDF4_CLASSIC),
        NC_NETCDF4 => Ok(Format::NETCDF4),
        0 if classic_model => Ok(Format::CLASSIC),
        0 => Ok(default_format().unwrap_or_else(|| match mode & (NC_DISKLESS | NC_INMEMORY | NC_MMAP) {
            0 if is_zarr() => Format::NETCDF4,
            _ => Format::CLASSIC,
        })),
        _ => fail(Code::EINVAL, "more than one format is asked for"),
    }
}

/// The size of the blocks that a file is said to be read in: the reference tells it, nothing depends on it here.
unsafe fn put_chunk_size(hint: *mut usize) {
    const LEAST: usize = 256;
    const MOST: usize = 256 << 20;
    const USUAL: usize = 8192;
    if hint.is_null() {
        return;
    }
    // SAFETY: it is not null, so it is valid as the caller says.
    unsafe {
        *hint = match *hint {
            ..LEAST => USUAL,
            size => size.min(MOST).next_multiple_of(8),
        }
    }
}

/// Makes a file and gives its id.
unsafe fn create(
    path: *const c_char,
    mode: c_int,
    size: usize,
    basepe: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        if path.is_null() {
            return fail(Code::EINVAL, "the path is a null pointer");
        }
        // SAFETY: the contract of the interface.
        let location = unsafe { location(path) };
        let format = format_of(mode, || location.as_ref().is_ok_and(|location| location.zarr().is_some()));
        check_mode(mode)?;
        let (format, location) = (format?, location?);
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        let request = OpenRequest { location: &location, mode, pe: basepe, hint };
        // SAFETY: the contract of the interface.
        if let Some(new) = unsafe { user_formats::create(&request, size) }? {
            // SAFETY: the contract of the interface.
            unsafe { put(id, new) };
            return Ok(());
        }
        let mut options = CreateOptions::format(format);
        options.clobber = mode & NC_NOCLOBBER == 0;
        // A new file that is mapped stays in memory too, unless it is to persist.
        let mode = if mode & NC_MMAP != 0 { mode | NC_DISKLESS } else { mode };
        let file = if mode & (NC_DISKLESS | NC_INMEMORY) != 0 {
            memory_files::create(location, mode, &options)?
        } else {
            let file = FileMut::create_at(&location, &options)?;
            OpenFile::new(location, mode, Access::Write(Arc::new(file)), true)
        };
        let new = insert(file)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put_chunk_size(hint);
            put(id, new);
        }
        Ok(())
    })
}

/// Opens a file and gives its id.
unsafe fn open(path: *const c_char, mode: c_int, basepe: c_int, hint: *mut usize, id: *mut c_int) -> c_int {
    answer(|| {
        if path.is_null() {
            return fail(Code::EINVAL, "the path is a null pointer");
        }
        check_mode(mode)?;
        // SAFETY: the contract of the interface.
        let location = unsafe { location(path) }?;
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        if mode & NC_INMEMORY != 0 {
            return fail(Code::EINVAL, "NC_INMEMORY needs the memory: nc_open_mem and nc_open_memio take it");
        }
        let request = OpenRequest { location: &location, mode, pe: basepe, hint };
        // SAFETY: the contract of the interface.
        if let Some(new) = unsafe { user_formats::open(&request) }? {
            // SAFETY: the contract of the interface.
            unsafe { put(id, new) };
            return Ok(());
        }
        let file = if mode & NC_DISKLESS != 0 {
            memory_files::open_diskless(location, mode)?
        } else {
            let access = if mode & NC_WRITE != 0 {
                Access::Write(edit(&location)?)
            } else {
                let options = missing_is_zero().shared(mode & NC_SHARE != 0);
                Access::Read(File::open_location(&location, &options)?)
            };
            OpenFile::new(location, mode, access, false)
        };
        let new = insert(file)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put_chunk_size(hint);
            put(id, new);
        }
        Ok(())
    })
}

/// Opens a file or a store to be changed where it lies. Fails with `NC_EPERM` for the URL of a file.
fn edit(location: &Location) -> Result<Arc<FileMut>> {
    match path_of(location).and_then(writer_of) {
        Some(writer) => Ok(writer),
        None => FileMut::append_at(location, &AppendOptions::default()).map(Arc::new),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create(path: *const c_char, mode: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { create(path, mode, 0, 0, std::ptr::null_mut(), id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__create(
    path: *const c_char,
    mode: c_int,
    size: usize,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { create(path, mode, size, 0, hint, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__create_mp(
    path: *const c_char,
    mode: c_int,
    size: usize,
    basepe: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { create(path, mode, size, basepe, hint, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open(path: *const c_char, mode: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { open(path, mode, 0, std::ptr::null_mut(), id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__open(
    path: *const c_char,
    mode: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { open(path, mode, 0, hint, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__open_mp(
    path: *const c_char,
    mode: c_int,
    basepe: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { open(path, mode, basepe, hint, id) }
}

pub extern "C" fn nc_redef(ncid: c_int) -> c_int {
    answer(|| redefine(&*find_file(ncid)?))
}

/// Enters define mode. Fails with `NC_EINDEFINE` if the file is in it.
pub(crate) fn redefine(file: &OpenFile) -> Result<()> {
    let writable = file.writable()?;
    let _state = file.state();
    if file.is_free() {
        file.set_defining(true);
        return Ok(());
    }
    file.check_data_mode()?;
    // A draft, even if nothing is changed in it: its end may ask for alignment.
    writable.define(|_| Ok(()))?;
    file.set_defining(true);
    Ok(())
}

pub extern "C" fn nc_enddef(ncid: c_int) -> c_int {
    answer(|| end_in_group(ncid, &Alignment::default()))
}

#[allow(non_snake_case, reason = "the name in C")]
pub extern "C" fn nc__enddef(
    ncid: c_int,
    header_free: usize,
    data_align: usize,
    data_free: usize,
    records_align: usize,
) -> c_int {
    answer(|| {
        let alignment = Alignment {
            header_free: header_free as u64,
            fixed: data_align as u64,
            fixed_free: data_free as u64,
            records: records_align as u64,
        };
        end_in_group(ncid, &alignment)
    })
}

/// Leaves define mode as a caller asks for it. In a netCDF-4 file the variables of the group then count as written, as
/// they do in the reference.
fn end_in_group(ncid: c_int, alignment: &Alignment) -> Result<()> {
    let (file, group) = find(ncid)?;
    // In the reference the read-only formats have no define mode, and leaving it does nothing.
    if file.file().format().container() == Container::Hdf4 {
        return Ok(());
    }
    if !file.is_classic() {
        let mut state = file.state();
        file.file().look(|model| model.group(group).vars.iter().for_each(|&var| state.set_written(var)));
    }
    end_definitions(&file, |file| file.commit_aligned(alignment))
}

/// Leaves define mode in one of the ways that a file has.
pub(crate) fn end_definitions(file: &OpenFile, end: impl FnOnce(&FileMut) -> Result<()>) -> Result<()> {
    let mut state = file.state();
    file.check_defining()?;
    state.check_types(&file.model())?;
    end(file.writable()?)?;
    state.is_new = false;
    state.all_stored(&file.model());
    file.set_defining(false);
    Ok(())
}

/// Leaves define mode before elements are moved, where that is free. Fails with `NC_EINDEFINE` where it is not.
pub(crate) fn ready_for_data(file: &OpenFile) -> Result<()> {
    if !file.is_defining() || !file.is_free() {
        return file.check_data_mode();
    }
    match end_definitions(file, FileMut::apply) {
        // Another thread was faster.
        Err(error) if error.code == Code::ENOTINDEFINE => Ok(()),
        done => done,
    }
}

pub extern "C" fn nc_sync(ncid: c_int) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        if file.is_free() && file.is_defining() {
            end_in_group(ncid, &Alignment::default())?;
        }
        file.check_data_mode()?;
        if file.is_writable() { file.writable()?.sync() } else { file.file().refresh() }
    })
}

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
                done.inspect_err(|_| give_up(&file))
            }
        }
    })
}

/// Completes a file that is not in the table any more. It is closed with its last user.
pub(crate) fn close(file: &OpenFile) -> Result<()> {
    check_types(file).and_then(|()| complete(file)).inspect_err(|_| give_up(file))
}

/// Fails for types of a file to be written that have nothing in them.
fn check_types(file: &OpenFile) -> Result<()> {
    if file.is_writable() { file.state().check_types(&file.model()) } else { Ok(()) }
}

/// Brings a file up to date where it lies, in memory or on the disk.
fn complete(file: &OpenFile) -> Result<()> {
    if !file.is_writable() {
        return Ok(());
    }
    let mut state = file.state();
    file.writable()?.sync()?;
    state.is_new = false;
    match file.at_close {
        AtClose::Nothing => memory_files::bring_back(file),
        AtClose::Persist => memory_files::persist(file),
    }
}

/// Forgets the changes of a file that cannot be completed. A new file is removed.
fn give_up(file: &OpenFile) {
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
        give_up(&file);
        Ok(())
    })
}

pub unsafe extern "C" fn nc_set_fill(ncid: c_int, mode: c_int, old: *mut c_int) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let writable = file.writable()?;
        let mut state = file.state();
        if mode != NC_FILL && mode != NC_NOFILL {
            return fail(Code::EINVAL, format!("{mode} is neither NC_FILL nor NC_NOFILL"));
        }
        let before = if state.no_fill { NC_NOFILL } else { NC_FILL };
        state.no_fill = mode == NC_NOFILL;
        if file.is_classic() {
            writable.set_no_fill(state.no_fill)?;
        }
        // SAFETY: the contract of the interface.
        unsafe { put(old, before) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_base_pe(ncid: c_int, pe: *mut c_int) -> c_int {
    answer(|| {
        find_file(ncid)?;
        // SAFETY: the contract of the interface.
        unsafe { put(pe, 0) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_base_pe(ncid: c_int, _pe: c_int) -> c_int {
    answer(|| find_file(ncid).map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_delete(path: *const c_char) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_delete_mp(path, 0) }
}

/// Removes a file or an object, which must be one of netCDF.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_delete_mp(path: *const c_char, basepe: c_int) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let location = unsafe { location(path) }?;
        let format = File::open_location(&location, &missing_is_zero())?.format();
        let is_zarr = matches!(format.container(), Container::ZarrV2 | Container::ZarrV3);
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        match &*location.resolved()? {
            place if is_zarr && ferrocdf::remove_zarr_store(place)? => Ok(()),
            Location::Object { store, key } => store.delete(key),
            other => {
                let path = other.clone().into_path()?;
                std::fs::remove_file(&path)
                    .or_else(|error| fail(Code::EIO, format!("{}: {error}", path.display())))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn file_urls_are_paths() {
        let folder = std::env::temp_dir().join(format!("ferrocdf urls {}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let url = |text: &str| CString::new(text.replace('@', folder.to_str().unwrap())).unwrap();
        let (made, opened) = (url("file://@/a%20b.nc#mode=netcdf-4"), url("file:@/a b.nc"));
        let mut id = 0;
        // SAFETY: texts end in a zero byte, and the id is valid for writing.
        unsafe {
            assert_eq!(nc_create(made.as_ptr(), NC_NETCDF4, &mut id), 0);
            assert_eq!(nc_close(id), 0);
            assert!(folder.join("a b.nc").is_file());
            assert_eq!(nc_open(opened.as_ptr(), 0, &mut id), 0);
            assert_eq!(nc_close(id), 0);
            for (text, code) in [
                ("file://@/none.nc", Code(2)),
                ("file://@/a%20b.nc?x", Code::EDAPCONSTRAINT),
                ("file://@/a%20b.nc#mode=dap2", Code::ENOTBUILT),
                ("file://@/#mode=zarr,file", Code::ENOTNC),
                ("dods://host/a.nc", Code::ENOTBUILT),
            ] {
                assert_eq!(nc_open(url(text).as_ptr(), 0, &mut id), code.0, "{text}");
            }
            let zip = url("file://@/new.zip#mode=nczarr,zip");
            assert_eq!(nc_create(zip.as_ptr(), NC_NETCDF4, &mut id), 0);
            assert_eq!(nc_close(id), 0);
            assert!(std::fs::read(folder.join("new.zip")).unwrap().starts_with(b"PK"));
            assert_eq!(nc_open(zip.as_ptr(), 0, &mut id), 0);
            assert_eq!(nc_close(id), 0);
            assert_eq!(nc_delete(zip.as_ptr()), 0);
            assert_eq!(nc_delete(made.as_ptr()), 0);
            let store = url("file://@/s.zarr#mode=nczarr,file");
            assert_eq!(nc_create(store.as_ptr(), NC_NETCDF4, &mut id), 0);
            assert_eq!(nc_close(id), 0);
            assert!(folder.join("s.zarr/.zgroup").is_file());
            assert_eq!(nc_delete(store.as_ptr()), 0);
        }
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn names_of_zarr_stores_make_stores_unless_a_format_is_asked_for() {
        let folder = std::env::temp_dir().join(format!("ferrocdf store names {}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        let text = |name: &str| CString::new(at(name).to_str().unwrap()).unwrap();
        let mut id = 0;
        let mut create = |name: &str, mode| {
            // SAFETY: texts end in a zero byte, and the id is valid for writing.
            unsafe {
                match nc_create(text(name).as_ptr(), mode, &mut id) {
                    0 => nc_close(id),
                    code => code,
                }
            }
        };
        for mode in [0, NC_NETCDF4] {
            assert_eq!(create("a.zarr", mode), 0);
            assert!(at("a.zarr/zarr.json").is_file());
            assert_eq!(create("a.zarr", mode | NC_NOCLOBBER), Code::EEXIST.0);
            assert_eq!(create("a.zarr.zip", mode), 0);
            assert!(std::fs::read(at("a.zarr.zip")).unwrap().starts_with(b"PK"));
            assert_eq!(create("a.zarr.zip", mode | NC_NOCLOBBER), Code::EEXIST.0);
        }
        let magic = |name: &str| std::fs::read(at(name)).unwrap()[..4].to_vec();
        for (mode, wanted) in [
            (NC_64BIT_OFFSET, b"CDF\x02"),
            (NC_64BIT_DATA, b"CDF\x05"),
            (NC_CLASSIC_MODEL, b"CDF\x01"),
            (NC_NETCDF4 | NC_CLASSIC_MODEL, b"\x89HDF"),
            (NC_DISKLESS | NC_PERSIST, b"CDF\x01"),
            (NC_NETCDF4 | NC_DISKLESS | NC_PERSIST, b"\x89HDF"),
        ] {
            assert_eq!(create("b.zarr", mode), 0);
            assert_eq!(magic("b.zarr"), wanted, "{mode:#x}");
        }
        // SAFETY: null is allowed for the format that was set before.
        unsafe {
            use crate::library::nc_set_default_format;
            assert_eq!(nc_set_default_format(Format::CLASSIC.number(), std::ptr::null_mut()), 0);
            assert_eq!(create("c.zarr", 0), 0);
            assert_eq!(magic("c.zarr"), b"CDF\x01");
            assert_eq!(nc_set_default_format(Format::NETCDF4.number(), std::ptr::null_mut()), 0);
            assert_eq!(create("d.zarr", 0), 0);
        }
        assert!(at("d.zarr/zarr.json").is_file());
        crate::library::forget_default_format();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
