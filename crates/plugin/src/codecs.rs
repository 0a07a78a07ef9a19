//! Codec plugins: what a Zarr codec is called, and its parameters as JSON and as those of an HDF5 filter
//! ("NetCDF-4 Filter Support", appendix "Codec API").
//!
//! A codec goes with the HDF5 filter of its number, wherever either comes from. Texts and parameters that a plugin makes
//! are its `malloc`'s, and freed here. Only version 1 of the structure; its count of parameters may be an `int` or a
//! `size_t`, as both are seen.

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
/// The most codecs of one library, parameters, and bytes of JSON that are believed.
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

/// A codec of a plugin.
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
    /// Held by whoever calls its library.
    turn: Arc<Mutex<()>>,
    /// Whether it is initialized.
    ready: Mutex<bool>,
}

fn address(function: unsafe extern "C" fn()) -> *const () {
    function as *const ()
}

/// Memory that a plugin made.
struct PluginMemory(*mut c_void);

impl Drop for PluginMemory {
    fn drop(&mut self) {
        // SAFETY: it is null or from `malloc`, by the contract of codecs.
        unsafe { libc::free(self.0) };
    }
}

impl PluginMemory {
    /// A copy of parameters, with zeros behind them.
    fn of(params: &[u32]) -> Result<PluginMemory> {
        // SAFETY: `calloc` takes any sizes.
        let place = unsafe { libc::calloc(params.len().saturating_add(SPARE), size_of::<u32>()) };
        if place.is_null() {
            return Err(Error::new(Code::ENOMEM, "no memory for parameters"));
        }
        // SAFETY: there is room for all, and it is nobody else's.
        unsafe { place.cast::<u32>().copy_from_nonoverlapping(params.as_ptr(), params.len()) };
        Ok(PluginMemory(place))
    }

    /// The parameters in it; `None` if it cannot have as many.
    fn params(&self, count: usize) -> Option<Vec<u32>> {
        if count == 0 {
            return Some(Vec::new());
        }
        if self.0.is_null() || count > MOST_PARAMS || !self.0.cast::<u32>().is_aligned() {
            return None;
        }
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            // SAFETY: it is from `malloc`, by the contract of codecs.
            if unsafe { libc::malloc_usable_size(self.0) } / size_of::<u32>() < count {
                return None;
            }
        }
        // SAFETY: there are as many, as was checked or is the contract of codecs.
        Some(unsafe { std::slice::from_raw_parts(self.0.cast::<u32>(), count) }.to_vec())
    }
}

impl Codec {
    /// Reads a structure.
    ///
    /// # Safety
    /// The pointer is to a structure with a version and a sort, which outlives the functions it names.
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
        // SAFETY: it is this structure then, as the caller says.
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

    /// Reads a list of addresses of structures with a null behind it.
    ///
    /// # Safety
    /// The pointer is null or to such a list; the structures are as [`Codec::read`] wants them.
    pub(crate) unsafe fn read_list(file: &Path, list: *const c_void) -> Result<Vec<Codec>, Reason> {
        let mut codecs = Vec::new();
        let list = list.cast::<*const c_void>();
        if list.is_null() || !list.is_aligned() {
            return Ok(codecs);
        }
        for at in 0..MOST_CODECS {
            // SAFETY: no null was before this one, so the list is not at its end.
            let info = unsafe { list.add(at).read() };
            if info.is_null() {
                break;
            }
            // SAFETY: as the caller says.
            codecs.push(unsafe { Codec::read(file, info) }?);
        }
        Ok(codecs)
    }

    /// Reads one structure, if there is one.
    ///
    /// # Safety
    /// The pointer is null or to a structure as [`Codec::read`] wants it.
    pub(crate) unsafe fn read_one(file: &Path, info: *const c_void) -> Result<Option<Codec>, Reason> {
        // SAFETY: as the caller says.
        if info.is_null() { Ok(None) } else { unsafe { Codec::read(file, info) }.map(Some) }
    }

    /// The same, called in the turns of its library.
    pub(crate) fn in_turn(self, turn: &Arc<Mutex<()>>) -> Codec {
        Codec { turn: turn.clone(), ..self }
    }

    /// Its name in Zarr metadata.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the HDF5 filter that it goes with.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The library it is in.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::new(Code::EFILTER, format!("the codec {} of {} {what}", self.name, self.file.display()))
    }

    /// Calls one of its functions, alone and initialized. An answer that is not 0 is an error of that code.
    fn call(&self, name: &str, function: Function, arguments: [usize; 6]) -> Result<()> {
        let function = function.ok_or_else(|| self.error(format_args!("has no {name}")))?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let threw = |Thrown| self.error(format_args!("throws an exception in {name}"));
        if !*ready {
            if let Some(initialize) = self.initialize {
                // SAFETY: it takes nothing.
                unsafe { barrier::call(address(initialize), [0; 6]) }.map_err(threw)?;
            }
            *ready = true;
        }
        let scope = h5::Scope::new();
        // SAFETY: the callers give each function what it takes.
        let code = unsafe { barrier::call(address(function), arguments) }.map_err(threw)? as u32 as c_int;
        drop(scope);
        if code == 0 {
            return Ok(());
        }
        let error = self.error(format_args!("fails in {name}"));
        // Errors of netCDF are negative; others would be those of the system.
        Err(if code < 0 { error.with_code(Code(code)) } else { error })
    }

    /// The visible parameters that JSON stands for (`NCZ_codec_to_hdf5`).
    ///
    /// `NC_EFILTER` if it is no JSON object, which plugins take for granted; the plugin's error code if it does not
    /// know such JSON.
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

    /// The JSON of visible parameters (`NCZ_hdf5_to_codec`). None at all are a null pointer, as the netCDF library gives it: some plugins ask
    /// for that.
    ///
    /// The plugin's error code if it cannot have such parameters.
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
        // SAFETY: it is text that ends in a zero byte, by the contract of codecs; no more is read than there may be.
        let bytes = unsafe {
            let text = made.0.cast::<c_char>();
            std::slice::from_raw_parts(text.cast::<u8>(), libc::strnlen(text, LONGEST))
        };
        String::from_utf8(bytes.to_vec()).map_err(|_| self.error("made JSON that is not UTF-8"))
    }

    /// The working parameters of a variable with these visible ones, which may change too (`NCZ_modify_parameters`). A
    /// codec without that function works with the visible ones.
    ///
    /// The plugin's error code if it does not apply to the variable.
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

    /// Ends what was initialized; a call later initializes again.
    pub(crate) fn finalize(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *ready)
            && let Some(finalize) = self.finalize
        {
            // SAFETY: it takes nothing. What it throws says nothing about anything that is still to be done.
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

    /// One parameter, the length of the text; its count as an `int`, as some say. More than it has for one of four bytes.
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

    /// The visible parameters turn around, the working ones are the first of them.
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
        // SAFETY: they are called with what they take.
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
        // SAFETY: it is the structure.
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
        // SAFETY: it is a list with a null behind it.
        let codecs = unsafe { Codec::read_list(Path::new("libtest.so"), list.as_ptr().cast()) };
        assert_eq!(codecs.expect("both are codecs").iter().map(Codec::id).collect::<Vec<_>>(), [300, 301]);
    }
}
