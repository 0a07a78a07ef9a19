//! Filter class of a plugin (`H5Z_class2_t` and `H5Z_class1_t` in "Filter Behavior in HDF5").

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::barrier::{self, Thrown};
use crate::elf::Reason;
use crate::h5::Hid;

/// `can_apply`: whether the filter applies to a dataset, given its creation property list, type and dataspace.
pub(crate) type CanApply = unsafe extern "C" fn(Hid, Hid, Hid) -> c_int;
/// `set_local`: derives the filter parameters for a dataset.
pub(crate) type SetLocal = unsafe extern "C" fn(Hid, Hid, Hid) -> c_int;
/// Filter function: flags, number of parameters, parameters, bytes of data in the buffer, size of the buffer, buffer.
pub(crate) type Run =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// `H5Z_CLASS_T_VERS`, the version field of `H5Z_class2_t`; `H5Z_class1_t` begins with the filter number instead.
const VERSION_2: c_int = 1;
/// `H5Z_FILTER_MAX`.
const LAST_ID: c_int = 65_535;
/// Longest filter name that is read, in bytes.
const LONGEST: usize = 1024;

#[repr(C)]
struct Version2 {
    version: c_int,
    id: c_int,
    encoder: c_uint,
    decoder: c_uint,
    name: *const c_char,
    can_apply: Option<CanApply>,
    set_local: Option<SetLocal>,
    run: Option<Run>,
}

#[repr(C)]
struct FilterClassV1 {
    id: c_int,
    name: *const c_char,
    can_apply: Option<CanApply>,
    set_local: Option<SetLocal>,
    run: Option<Run>,
}

/// Filter of a plugin.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub id: u32,
    pub name: String,
    pub encodes: bool,
    pub decodes: bool,
    pub can_apply: Option<CanApply>,
    pub set_local: Option<SetLocal>,
    pub run: Run,
}

impl Class {
    /// Calls [`Class::can_apply`] or [`Class::set_local`].
    ///
    /// # Safety
    /// `function` is one of the two.
    pub(crate) unsafe fn ask(function: CanApply, handles: [Hid; 3]) -> Result<c_int, Thrown> {
        let [list, element, space] = handles.map(|handle| handle as usize);
        // SAFETY: a handle is a number that is checked at each use.
        let made = unsafe { barrier::call(function as *const (), [list, element, space, 0, 0, 0]) }?;
        Ok(made as u32 as c_int)
    }

    /// Calls the filter function, and returns the number of bytes that it wrote, 0 on failure.
    ///
    /// # Safety
    /// The buffer is from `malloc`, has `*size` bytes, of which `len` are data, and may be changed, grown and replaced
    /// by the plugin.
    pub(crate) unsafe fn run(
        &self,
        flags: u32,
        params: (usize, *const c_uint),
        len: usize,
        size: *mut usize,
        buffer: *mut *mut c_void,
    ) -> Result<usize, Thrown> {
        let numbers = [flags as usize, params.0, params.1 as usize, len, size as usize, buffer as usize];
        // SAFETY: as the caller says.
        unsafe { barrier::call(self.run as *const (), numbers) }
    }

    /// Reads a filter class structure.
    ///
    /// # Safety
    /// The pointer is null or points to one of the two structures, whose functions stay valid.
    pub(crate) unsafe fn read(info: *const c_void) -> Result<Class, Reason> {
        if info.is_null() {
            return Err("its H5PLget_plugin_info gives nothing".to_string());
        }
        if !info.cast::<Version2>().is_aligned() {
            return Err("its H5PLget_plugin_info gives an address where no structure can be".to_string());
        }
        // SAFETY: both structures begin with a `c_int`, as the caller says.
        let all = if unsafe { info.cast::<c_int>().read() } == VERSION_2 {
            // SAFETY: the first field tells which structure it is, as the caller says.
            unsafe { info.cast::<Version2>().read() }
        } else {
            // SAFETY: the first field tells which structure it is, as the caller says.
            let old = unsafe { info.cast::<FilterClassV1>().read() };
            let FilterClassV1 { id, name, can_apply, set_local, run } = old;
            Version2 { version: VERSION_2, id, encoder: 1, decoder: 1, name, can_apply, set_local, run }
        };
        if all.id <= 0 || all.id > LAST_ID {
            return Err(format!("its filter has the number {}, which no filter can have", all.id));
        }
        let id = all.id.unsigned_abs();
        let Some(run) = all.run else {
            return Err(format!("its filter {id} has no filter function"));
        };
        let name = if all.name.is_null() {
            String::new()
        } else {
            // SAFETY: the name ends in a zero byte, as the caller says; at most `LONGEST` bytes are read.
            let bytes = unsafe {
                let len = libc::strnlen(all.name, LONGEST);
                std::slice::from_raw_parts(all.name.cast::<u8>(), len)
            };
            String::from_utf8_lossy(bytes).into_owned()
        };
        let (encodes, decodes) = (all.encoder != 0, all.decoder != 0);
        Ok(Class { id, name, encodes, decodes, can_apply: all.can_apply, set_local: all.set_local, run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn run(
        _: c_uint,
        _: usize,
        _: *const c_uint,
        _: usize,
        _: *mut usize,
        _: *mut *mut c_void,
    ) -> usize {
        0
    }

    fn read<T>(structure: &T) -> Result<Class, Reason> {
        // SAFETY: `structure` is one of the two structures.
        unsafe { Class::read((&raw const *structure).cast()) }
    }

    #[test]
    fn both_versions() {
        let old = FilterClassV1 {
            id: 307,
            name: c"old".as_ptr(),
            can_apply: None,
            set_local: None,
            run: Some(run),
        };
        let class = read(&old).expect("it is a filter");
        assert_eq!((class.id, &*class.name, class.encodes, class.decodes), (307, "old", true, true));
        let new = |id, name, run| Version2 {
            version: 1,
            id,
            encoder: 0,
            decoder: 1,
            name,
            can_apply: None,
            set_local: None,
            run,
        };
        let class = read(&new(32015, std::ptr::null(), Some(run))).expect("it is a filter");
        assert_eq!((class.id, &*class.name, class.encodes, class.decodes), (32015, "", false, true));
        for (id, run, reason) in [
            (0, Some(run as Run), "its filter has the number 0, which no filter can have"),
            (-5, Some(run), "its filter has the number -5, which no filter can have"),
            (65536, Some(run), "its filter has the number 65536, which no filter can have"),
            (5, None, "its filter 5 has no filter function"),
        ] {
            assert_eq!(read(&new(id, c"x".as_ptr(), run)).expect_err("it is none"), reason);
        }
        // SAFETY: null is allowed.
        assert!(unsafe { Class::read(std::ptr::null()) }.is_err());
    }
}
