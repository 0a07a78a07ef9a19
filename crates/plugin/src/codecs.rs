//! Codec plugins: the name of a Zarr codec, and its parameters as JSON and as parameters of an HDF5 filter ("NetCDF-4
//! Filter Support", appendix "Codec API").
//!
//! A codec belongs to the HDF5 filter with its number, even if the two are in different libraries. Texts and parameters
//! that a plugin returns are from `malloc`, and are freed here. Only version 1 of the structure is supported. The
//! output parameter for the number of parameters may be an `int` or a `size_t`: existing plugins use both.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};

use crate::barrier::{self, Thrown};
use crate::elf::Reason;
use crate::filter::SPARE;
use crate::h5;
use crate::nc::{Asked, CodecVariable, NCID, VARID};

/// `NCZ_CODEC_CLASS_VER` and `NCZ_CODEC_HDF5`.
const VERSION: c_int = 1;
const HDF5: c_int = 1;
/// Limits on what a plugin may return: codecs of one library, parameters of one codec, bytes of JSON.
const MOST_CODECS: usize = 256;
const MOST_PARAMS: usize = 1 << 16;
const LONGEST: usize = 1 << 20;

type Function = Option<unsafe extern "C" fn()>;

#[repr(C)]
struct CodecClassV1 {
    version: c_int,
    sort: c_int,
    name: *const c_char,
    id: c_uint,
    initialize: Function,
    finalize: Function,
    to_hdf5: Function,
    to_json: Function,
    modify: Function,
}

/// Codec of a plugin.
#[derive(Debug)]
pub struct Codec {
    file: PathBuf,
    name: String,
    id: u32,
    initialize: Function,
    finalize: Function,
    to_hdf5: Function,
    to_json: Function,
    modify: Function,
    /// Lock of the library; held during each call into it.
    turn: Arc<Mutex<()>>,
    /// True if the codec is initialized.
    ready: Mutex<bool>,
}

fn address(function: unsafe extern "C" fn()) -> *const () {
    function as *const ()
}

/// Memory that a plugin allocated.
struct PluginMemory(*mut c_void);

impl Drop for PluginMemory {
    fn drop(&mut self) {
        // SAFETY: the pointer is null or from `malloc`, by the contract of codecs.
        unsafe { libc::free(self.0) };
    }
}

impl PluginMemory {
    /// Copies parameters into new memory, with `SPARE` zeros after them.
    fn of(params: &[u32]) -> Result<PluginMemory> {
        // SAFETY: `calloc` takes any sizes.
        let place = unsafe { libc::calloc(params.len().saturating_add(SPARE), size_of::<u32>()) };
        if place.is_null() {
            return Err(Error::new(Code::ENOMEM, "no memory for parameters"));
        }
        // SAFETY: the new memory is large enough, and does not overlap `params`.
        unsafe { place.cast::<u32>().copy_from_nonoverlapping(params.as_ptr(), params.len()) };
        Ok(PluginMemory(place))
    }

    /// Returns the first `count` parameters; `None` if the memory is too small for them.
    fn params(&self, count: usize) -> Option<Vec<u32>> {
        if count == 0 {
            return Some(Vec::new());
        }
        if self.0.is_null() || count > MOST_PARAMS || !self.0.cast::<u32>().is_aligned() {
            return None;
        }
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            // SAFETY: the memory is from `malloc`, by the contract of codecs.
            if unsafe { libc::malloc_usable_size(self.0) } / size_of::<u32>() < count {
                return None;
            }
        }
        // SAFETY: the memory holds `count` parameters: checked above, or by the contract of codecs.
        Some(unsafe { std::slice::from_raw_parts(self.0.cast::<u32>(), count) }.to_vec())
    }
}

impl Codec {
    /// Reads a codec structure.
    ///
    /// # Safety
    /// The pointer points to a structure that begins with a version and a sort, and whose functions stay valid.
    unsafe fn read(file: &Path, info: *const c_void) -> Result<Codec, Reason> {
        let info = info.cast::<CodecClassV1>();
        if info.is_null() || !info.is_aligned() {
            return Err("it gives an address where no codec can be".to_string());
        }
        // SAFETY: all versions begin with these two, as the caller says.
        let (version, sort) = unsafe { ((*info).version, (*info).sort) };
        if (version, sort) != (VERSION, HDF5) {
            return Err(format!(
                "it has a codec of version {version}, sort {sort}; known is {VERSION}, {HDF5}"
            ));
        }
        // SAFETY: version and sort are those of this structure, as the caller says.
        let all = unsafe { info.read() };
        if all.name.is_null() {
            return Err("it has a codec without a name".to_string());
        }
        // SAFETY: a name ends in a zero byte.
        let name = unsafe { CStr::from_ptr(all.name) }.to_string_lossy().into_owned();
        let CodecClassV1 { id, initialize, finalize, to_hdf5, to_json, modify, .. } = all;
        let (file, turn, ready) = (file.to_path_buf(), Arc::default(), Mutex::default());
        Ok(Codec { file, name, id, initialize, finalize, to_hdf5, to_json, modify, turn, ready })
    }

    /// Reads a null-terminated list of pointers to codec structures.
    ///
    /// # Safety
    /// The pointer is null or points to a null-terminated list; each structure meets the conditions of [`Codec::read`].
    pub(crate) unsafe fn read_list(file: &Path, list: *const c_void) -> Result<Vec<Codec>, Reason> {
        let mut codecs = Vec::new();
        let list = list.cast::<*const c_void>();
        if list.is_null() || !list.is_aligned() {
            return Ok(codecs);
        }
        for at in 0..MOST_CODECS {
            // SAFETY: no earlier entry is null, so the list goes on.
            let info = unsafe { list.add(at).read() };
            if info.is_null() {
                break;
            }
            // SAFETY: as the caller says.
            codecs.push(unsafe { Codec::read(file, info) }?);
        }
        Ok(codecs)
    }

    /// Reads one codec structure; `None` if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null or meets the conditions of [`Codec::read`].
    pub(crate) unsafe fn read_one(file: &Path, info: *const c_void) -> Result<Option<Codec>, Reason> {
        // SAFETY: as the caller says.
        if info.is_null() { Ok(None) } else { unsafe { Codec::read(file, info) }.map(Some) }
    }

    /// Returns this codec with `turn` as its lock, which all codecs and filters of the library share.
    pub(crate) fn in_turn(self, turn: &Arc<Mutex<()>>) -> Codec {
        Codec { turn: turn.clone(), ..self }
    }

    /// Returns the name of the codec in Zarr metadata.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the HDF5 filter to which the codec belongs.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the path of the library that has the codec.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::new(Code::EFILTER, format!("the codec {} of {} {what}", self.name, self.file.display()))
    }

    /// Calls a function of the codec under the lock of its library; initializes the codec first if needed. A result
    /// other than 0 is an error; a negative one is its netCDF error code.
    fn call(&self, name: &str, function: Function, arguments: [usize; 6]) -> Result<()> {
        let function = function.ok_or_else(|| self.error(format_args!("has no {name}")))?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let threw = |Thrown| self.error(format_args!("throws an exception in {name}"));
        if !*ready {
            if let Some(initialize) = self.initialize {
                // SAFETY: `initialize` takes no arguments.
                unsafe { barrier::call(address(initialize), [0; 6]) }.map_err(threw)?;
            }
            *ready = true;
        }
        let scope = h5::Scope::new();
        // SAFETY: each caller passes the arguments of the function.
        let code = unsafe { barrier::call(address(function), arguments) }.map_err(threw)? as u32 as c_int;
        drop(scope);
        if code == 0 {
            return Ok(());
        }
        let error = self.error(format_args!("fails in {name}"));
        // netCDF error codes are negative; positive codes would be read as errors of the system.
        Err(if code < 0 { error.with_code(Code(code)) } else { error })
    }

    /// Returns the visible parameters for the JSON of a codec (`NCZ_codec_to_hdf5`).
    ///
    /// `NC_EFILTER` if `json` is not a JSON object: plugins do not check that. The plugin's error code if it rejects
    /// the JSON.
    pub fn to_hdf5(&self, json: &str) -> Result<Vec<u32>> {
        if !serde_json::from_str(json).is_ok_and(|value: serde_json::Value| value.is_object()) {
            return Err(self.error(format_args!("cannot be {json:.200}, which is no JSON object")));
        }
        let text = CString::new(json).map_err(|_| self.error("has no JSON with zero bytes"))?;
        let (mut count, mut made) = (0usize, PluginMemory(std::ptr::null_mut()));
        let places = [&raw mut count as usize, &raw mut made.0 as usize];
        self.call("codec_to_hdf5", self.to_hdf5, [text.as_ptr() as usize, places[0], places[1], 0, 0, 0])?;
        made.params(count).ok_or_else(|| self.error(format_args!("says it made {count} parameters")))
    }

    /// Returns the JSON for visible parameters (`NCZ_hdf5_to_codec`). An empty list is passed as a null pointer, as
    /// netCDF-C does: some plugins test for null.
    ///
    /// The plugin's error code if it rejects the parameters.
    pub fn to_json(&self, params: &[u32]) -> Result<String> {
        let mut made = PluginMemory(std::ptr::null_mut());
        let mut values = params.to_vec();
        values.resize(params.len().saturating_add(SPARE), 0);
        let given = if params.is_empty() { std::ptr::null() } else { values.as_ptr() };
        let places = [given as usize, &raw mut made.0 as usize];
        self.call("hdf5_to_codec", self.to_json, [params.len(), places[0], places[1], 0, 0, 0])?;
        if made.0.is_null() {
            return Err(self.error("made no JSON"));
        }
        // SAFETY: the text ends in a zero byte, by the contract of codecs; at most `LONGEST` bytes are read.
        let bytes = unsafe {
            let text = made.0.cast::<c_char>();
            std::slice::from_raw_parts(text.cast::<u8>(), libc::strnlen(text, LONGEST))
        };
        String::from_utf8(bytes.to_vec()).map_err(|_| self.error("made JSON that is not UTF-8"))
    }

    /// Returns the working parameters for a variable (`NCZ_modify_parameters`); the plugin may change the visible ones
    /// too. Without that function the working parameters are the visible ones.
    ///
    /// The plugin's error code if the codec does not apply to the variable.
    pub fn working(&self, variable: &CodecVariable, visible: &mut Vec<u32>) -> Result<Vec<u32>> {
        if self.modify.is_none() {
            return Ok(visible.clone());
        }
        let (mut shown, mut shown_count) = (PluginMemory::of(visible)?, visible.len());
        let (mut made, mut count) = (PluginMemory(std::ptr::null_mut()), 0usize);
        let asked = Asked::about(variable);
        let arguments = [
            NCID as usize,
            VARID as usize,
            &raw mut shown_count as usize,
            &raw mut shown.0 as usize,
            &raw mut count as usize,
            &raw mut made.0 as usize,
        ];
        self.call("modify_parameters", self.modify, arguments)?;
        drop(asked);
        let wrong = |count| self.error(format_args!("says it made {count} parameters"));
        *visible = shown.params(shown_count).ok_or_else(|| wrong(shown_count))?;
        made.params(count).ok_or_else(|| wrong(count))
    }

    /// Finalizes the codec if it is initialized; a later call initializes it again.
    pub(crate) fn finalize(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *ready)
            && let Some(finalize) = self.finalize
        {
            // SAFETY: `finalize` takes no arguments. An exception of it is ignored: no further call depends on it.
            drop(unsafe { barrier::call(address(finalize), [0; 6]) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static COUNT: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

    extern "C" fn begin() {
        COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    extern "C" fn end() {
        COUNT.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }

    /// Returns one parameter, the length of the text. Stores the number of parameters as an `int`, as some plugins do;
    /// for a text of four bytes a number that is too large.
    unsafe extern "C" fn to_hdf5(json: *const c_char, count: *mut c_int, params: *mut *mut u32) -> c_int {
        // SAFETY: the contract of codecs.
        unsafe {
            let len = libc::strlen(json);
            if len == 3 {
                return Code::EINVAL.0;
            }
            *count = if len == 4 { 1000 } else { 1 };
            *params = libc::malloc(4).cast();
            **params = len as u32;
        }
        0
    }

    unsafe extern "C" fn to_json(count: usize, params: *const u32, json: *mut *mut c_char) -> c_int {
        // SAFETY: the contract of codecs.
        unsafe {
            let text = match params.is_null() {
                true => "null\0".to_string(),
                false => format!("{:?}\0", std::slice::from_raw_parts(params, count)),
            };
            *json = libc::strdup(text.as_ptr().cast());
        }
        0
    }

    /// Reverses the visible parameters; the first of them becomes the one working parameter.
    unsafe extern "C" fn modify(
        ncid: c_int,
        varid: c_int,
        shown_count: *mut usize,
        shown: *mut *mut u32,
        count: *mut usize,
        params: *mut *mut u32,
    ) -> c_int {
        // SAFETY: the contract of codecs.
        unsafe {
            assert_eq!((ncid, varid), (NCID, VARID));
            std::slice::from_raw_parts_mut(*shown, *shown_count).reverse();
            *params = libc::malloc(4).cast();
            **params = **shown;
            *count = 1;
        }
        0
    }

    fn structure() -> CodecClassV1 {
        // SAFETY: each function is called with its own arguments.
        unsafe fn any(function: *const ()) -> Function {
            // SAFETY: all functions have the same size.
            unsafe { std::mem::transmute::<*const (), Function>(function) }
        }
        // SAFETY: as above.
        unsafe {
            CodecClassV1 {
                version: VERSION,
                sort: HDF5,
                name: c"test".as_ptr(),
                id: 300,
                initialize: any(begin as *const ()),
                finalize: any(end as *const ()),
                to_hdf5: any(to_hdf5 as *const ()),
                to_json: any(to_json as *const ()),
                modify: any(modify as *const ()),
            }
        }
    }

    fn read(info: &CodecClassV1) -> Result<Codec, Reason> {
        // SAFETY: `info` is a codec structure.
        unsafe { Codec::read(Path::new("libtest.so"), (&raw const *info).cast()) }
    }

    #[test]
    fn parameters_go_both_ways() {
        let codec = read(&structure()).expect("it is a codec");
        assert_eq!((codec.name(), codec.id()), ("test", 300));
        assert_eq!(codec.to_hdf5("{}"), Ok(vec![2]));
        assert_eq!(COUNT.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert_eq!(codec.to_hdf5("{ }").map_err(|error| error.code), Err(Code::EINVAL));
        for json in ["", "{", "[1]", "{} {}"] {
            assert_eq!(codec.to_hdf5(json).map_err(|error| error.code), Err(Code::EFILTER));
        }
        let what = codec.to_hdf5("{  }").expect_err("the plugin gives a wrong count").what.clone();
        assert_eq!(&*what, "the codec test of libtest.so says it made 1000 parameters");
        assert_eq!(codec.to_json(&[1, 2]).as_deref(), Ok("[1, 2]"));
        assert_eq!(codec.to_json(&[]).as_deref(), Ok("null"));
        let variable = CodecVariable {
            name: "v".into(),
            kind: 5,
            size: 4,
            big_endian: false,
            shape: vec![],
            chunk: vec![],
        };
        let mut visible = vec![5, 6];
        assert_eq!((codec.working(&variable, &mut visible), &*visible), (Ok(vec![6]), &[6, 5][..]));
        codec.finalize();
        codec.finalize();
        assert_eq!(COUNT.load(std::sync::atomic::Ordering::Relaxed), 0);
        let plain =
            read(&CodecClassV1 { modify: None, to_json: None, ..structure() }).expect("it is a codec");
        assert_eq!(plain.working(&variable, &mut visible), Ok(vec![6, 5]));
        assert!(plain.to_json(&[]).is_err_and(|error| error.what.ends_with("has no hdf5_to_codec")));
    }

    #[test]
    fn other_structures_are_refused() {
        let reason = read(&CodecClassV1 { version: 2, ..structure() }).expect_err("it is another version");
        assert_eq!(reason, "it has a codec of version 2, sort 1; known is 1, 1");
        assert!(read(&CodecClassV1 { name: std::ptr::null(), ..structure() }).is_err());
        let (one, other) = (structure(), CodecClassV1 { id: 301, ..structure() });
        let list = [(&raw const one).cast::<c_void>(), (&raw const other).cast(), std::ptr::null()];
        // SAFETY: the list is null-terminated.
        let codecs = unsafe { Codec::read_list(Path::new("libtest.so"), list.as_ptr().cast()) };
        assert_eq!(codecs.expect("both are codecs").iter().map(Codec::id).collect::<Vec<_>>(), [300, 301]);
    }
}
