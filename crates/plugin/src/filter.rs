//! The filter of a plugin as a [`Filter`].
//!
//! Input and output are in memory from `malloc`, which is freed here. The output length that a plugin reports is
//! checked against the size of the memory. One request of a plugin to the functions of this crate is limited by the
//! size of a chunk; memory that a plugin takes from the system itself is not. One thread at a time calls a library,
//! unless the library is known to keep no state between calls.

use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{DatasetInfo, Filter, Step};

use crate::barrier::Thrown;
use crate::class::Class;
use crate::h5::{self, Definition, Object, Scope, Space};

/// `H5Z_FLAG_REVERSE`.
const REVERSE: u32 = 0x100;
/// `H5Z_FLAG_OPTIONAL`.
const OPTIONAL: u32 = 1;
/// Number of zeros after the parameters, for plugins that read more parameters than there are.
pub(crate) const SPARE: usize = 16;
/// Number of zero bytes behind the input, which the size that the plugin gets does not count: some plugins read a whole header even
/// of damaged data that is shorter.
const SPARE_BYTES: usize = 4096;

/// One memory request of a plugin is at most `TIMES` times the larger of its input and its expected output, plus
/// `SLACK` bytes.
const TIMES: usize = 16;
const SLACK: usize = 8 << 20;

/// Libraries that several threads may call at once: each call uses only its arguments and memory of its own, without
/// global state. blosc, sz, zfp, sperr and the JPEG coders have global state.
const FREE: [&str; 5] =
    ["libh5zstd.so", "libh5lz4.so", "libh5bzip2.so", "lib__nch5zstd.so", "lib__nch5bzip2.so"];

/// Loaded filter of a plugin.
pub(crate) struct Plugin {
    file: PathBuf,
    class: Class,
    /// Lock of the library, held during each call; `None` if several threads may call the library at once.
    turn: Option<Arc<Mutex<()>>>,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({} {:?} of {})", self.class.id, self.class.name, self.file.display())
    }
}

impl Plugin {
    /// Creates the filter of a library whose lock is `turn`.
    pub(crate) fn new(file: &Path, class: Class, turn: &Arc<Mutex<()>>) -> Plugin {
        let is_free = file.file_name().is_some_and(|name| FREE.iter().any(|free| name == *free));
        Plugin { file: file.to_path_buf(), class, turn: (!is_free).then(|| turn.clone()) }
    }

    pub(crate) fn class(&self) -> &Class {
        &self.class
    }

    /// Runs a call into the plugin, and returns its result with the messages that the plugin pushed to its error stack.
    fn call<T>(&self, body: impl FnOnce() -> T) -> (T, String) {
        let turn = self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        let scope = Scope::new();
        h5::clear_messages();
        let made = body();
        let said = h5::take_messages();
        drop(scope);
        drop(turn);
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
        (made, said)
    }

    fn error(&self, code: Code, what: impl fmt::Display) -> Error {
        Error::new(code, format!("the plugin {} {what}", self.file.display()))
    }

    /// See [`ferrocdf_codec::Provider::prepare`]. An optional filter that does not apply is no error. As in the HDF5
    /// library, its `set_local` is still called, and chunks that it fails to encode are stored without it.
    pub(crate) fn prepare(&self, steps: &mut [Step], at: usize, dataset: &DatasetInfo) -> Result<()> {
        if !self.class.encodes {
            return Err(self.error(Code::EFILTER, "can only decode"));
        }
        let optional = steps.get(at).is_some_and(|step| step.optional);
        let definition = Definition { steps: steps.to_vec(), chunk: dataset.chunk.clone() };
        let (done, said) = self.call(|| self.ask(definition, dataset, optional));
        let changed = done.map_err(|what| self.error(Code::EFILTER, format_args!("{what}{said}")))?;
        let ids = |steps: &[Step]| steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
        if ids(steps) != ids(&changed.steps) {
            let listed =
                |steps: &[Step]| steps.iter().map(|step| step.id.to_string()).collect::<Vec<_>>().join(", ");
            let what = format!("makes [{}] of the filters [{}]", listed(&changed.steps), listed(steps));
            return Err(self.error(Code::EFILTER, what));
        }
        steps.clone_from_slice(&changed.steps);
        Ok(())
    }

    /// Calls `can_apply` and `set_local` for a dataset, and returns the definition as the plugin changed it.
    fn ask(
        &self,
        definition: Definition,
        dataset: &DatasetInfo,
        optional: bool,
    ) -> std::result::Result<Definition, &'static str> {
        let open = |object| h5::open(object).ok_or("cannot be asked: too many handles are open");
        let list = open(Object::List(definition))?;
        let element = open(Object::Type(dataset.element.clone()))?;
        let space = open(Object::Space(Space { shape: dataset.chunk.clone() }))?;
        const THROWS: &str = "throws an exception when asked about this dataset";
        let handles = [list, element, space];
        if let Some(can_apply) = self.class.can_apply {
            // SAFETY: the function is from the class of this plugin.
            match unsafe { Class::ask(can_apply, handles) }.map_err(|Thrown| THROWS)? {
                0 if !optional => return Err("does not apply to this dataset"),
                ..0 => return Err("fails when asked whether it applies to this dataset"),
                _ => {}
            }
        }
        if let Some(set_local) = self.class.set_local {
            // SAFETY: the function is from the class of this plugin.
            if unsafe { Class::ask(set_local, handles) }.map_err(|Thrown| THROWS)? < 0 {
                return Err("cannot set its parameters for this dataset");
            }
        }
        h5::with(list, |object| match object {
            Object::List(definition) => Some(definition.clone()),
            Object::Type(_) | Object::Space(_) => None,
        })
        .ok_or("closed the list of properties")
    }

    /// Runs the filter on `input` and passes the output to `take`. `len` is the largest expected length of the output.
    fn run(
        &self,
        flags: u32,
        params: &[u32],
        input: &[u8],
        len: usize,
        take: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let way = if flags & REVERSE != 0 { "decode" } else { "encode" };
        // No filter encodes to zero bytes, and some filters never return for empty input.
        if input.is_empty() {
            return Err(self.error(Code::EHDFERR, format_args!("cannot {way} no bytes")));
        }
        let mut values = params.to_vec();
        values.resize(params.len().saturating_add(SPARE), 0);
        let mut memory = Memory::of(input)?;
        let given = memory.place;
        let most = input.len().max(len).saturating_mul(TIMES).saturating_add(SLACK);
        let (made, said) = self.call(|| {
            let (values, size) = ((params.len(), values.as_ptr()), &raw mut memory.size);
            // SAFETY: the buffer is from `malloc`, and `memory.size` is its size.
            let run = || unsafe { self.class.run(flags, values, input.len(), size, &raw mut memory.place) };
            h5::with_most(most, run)
        });
        let Ok(made) = made else {
            // The owner of the memory is unknown after an exception, so the memory is leaked.
            memory.place = std::ptr::null_mut();
            let what = format!("throws an exception when it is to {way} {} bytes{said}", input.len());
            return Err(self.error(Code::EHDFERR, what));
        };
        if made == 0 {
            return Err(self.error(Code::EHDFERR, format_args!("fails to {way} {} bytes{said}", input.len())));
        }
        match memory.holds(made, given, input.len()) {
            Ok(()) => {}
            Err(room) => {
                return Err(
                    self.error(Code::EHDFERR, format_args!("says it made {made} bytes and has {room}"))
                );
            }
        }
        // SAFETY: the buffer has at least `made` bytes, as checked above.
        take(unsafe { std::slice::from_raw_parts(memory.place.cast::<u8>(), made) })
    }
}

/// Memory from `malloc` that a plugin may change and replace.
struct Memory {
    place: *mut c_void,
    size: usize,
}

impl Memory {
    fn of(bytes: &[u8]) -> Result<Memory> {
        let size = bytes.len();
        let all = size.saturating_add(SPARE_BYTES);
        // SAFETY: `malloc` takes any size.
        let place = unsafe { libc::malloc(all) };
        if place.is_null() {
            return Err(Error::new(Code::ENOMEM, format!("no memory for {all} bytes")));
        }
        // SAFETY: the new memory has `all` bytes and does not overlap `bytes`.
        unsafe {
            place.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), size);
            place.cast::<u8>().add(size).write_bytes(0, SPARE_BYTES);
        }
        Ok(Memory { place, size })
    }

    /// Checks that the memory has `made` bytes; the error is its size. Some plugins replace the memory and leave the
    /// old size, `len`: then only the size known to the allocator is checked.
    fn holds(&self, made: usize, given: *mut c_void, len: usize) -> std::result::Result<(), usize> {
        if self.place.is_null() {
            return Err(0);
        }
        let is_told = self.place == given || self.size != len;
        let mut room = if is_told { self.size } else { usize::MAX };
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            // SAFETY: the memory is from `malloc`, by the contract of filters.
            room = room.min(unsafe { libc::malloc_usable_size(self.place) });
        }
        if made > room { Err(room) } else { Ok(()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory is from `malloc` or null, by the contract of filters.
        unsafe { libc::free(self.place) };
    }
}

/// Filter of a plugin with its parameters.
#[derive(Debug)]
pub(crate) struct Bound {
    plugin: Arc<Plugin>,
    optional: bool,
    params: Vec<u32>,
}

impl Bound {
    pub(crate) fn new(plugin: Arc<Plugin>, step: &Step) -> Bound {
        Bound { plugin, optional: step.optional, params: step.params.clone() }
    }

    fn flags(&self) -> u32 {
        if self.optional { OPTIONAL } else { 0 }
    }
}

/// Replaces the contents of `to`.
fn copy(from: &[u8], to: &mut Vec<u8>) -> Result<()> {
    to.clear();
    to.try_reserve(from.len())
        .map_err(|_| Error::new(Code::ENOMEM, format!("no memory for {} bytes", from.len())))?;
    to.extend_from_slice(from);
    Ok(())
}

impl Filter for Bound {
    fn decode(
        &self,
        stored: &[u8],
        plain: &mut Vec<u8>,
        _expected: Option<usize>,
        limit: usize,
    ) -> Result<()> {
        plain.clear();
        if !self.plugin.class.decodes {
            return Err(self.plugin.error(Code::EFILTER, "can only encode"));
        }
        self.plugin.run(self.flags() | REVERSE, &self.params, stored, limit, |made| {
            if made.len() > limit {
                let what = format!("made {} bytes of {}; {limit} is the most", made.len(), stored.len());
                return Err(self.plugin.error(Code::EHDFERR, what));
            }
            copy(made, plain)
        })
    }

    fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        stored.clear();
        if !self.plugin.class.encodes {
            return Err(self.plugin.error(Code::EFILTER, "can only decode"));
        }
        self.plugin.run(self.flags(), &self.params, plain, plain.len(), |made| copy(made, stored)).map(Some)
    }

    fn decode_into(&self, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        if !self.plugin.class.decodes {
            return Err(self.plugin.error(Code::EFILTER, "can only encode"));
        }
        self.plugin.run(self.flags() | REVERSE, &self.params, stored, plain.len(), |made| {
            if made.len() != plain.len() {
                let what = format!("made {} bytes, not the {} of a block", made.len(), plain.len());
                return Err(self.plugin.error(Code::EHDFERR, what));
            }
            plain.copy_from_slice(made);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_uint};

    use ferrocdf_codec::ElementType;

    use super::*;
    use crate::h5::Hid;

    /// Filter function with the signature of a plugin; the parameters select its behaviour.
    unsafe extern "C" fn filter(
        flags: c_uint,
        count: usize,
        params: *const c_uint,
        len: usize,
        size: *mut usize,
        buffer: *mut *mut c_void,
    ) -> usize {
        // SAFETY: the contract of filters.
        unsafe {
            let params = std::slice::from_raw_parts(params, count);
            let bytes = (*buffer).cast::<u8>();
            match params {
                [1] => {
                    for at in 0..len {
                        *bytes.add(at) ^= if flags & REVERSE != 0 { 0x0f } else { 0xf0 | flags as u8 };
                    }
                    len
                }
                // New memory, whose size is stored (2) or not (3).
                [2 | 3, times] => {
                    let made = len * *times as usize;
                    let new = libc::malloc(made);
                    new.cast::<u8>().write_bytes(7, made);
                    libc::free(*buffer);
                    *buffer = new;
                    if params[0] == 2 {
                        *size = made;
                    }
                    made
                }
                // Output lengths beyond the buffer.
                [4, more] => len + *more as usize,
                [5, more] => {
                    *buffer = libc::realloc(*buffer, len + 100_000);
                    *size = len + 1;
                    len + *more as usize
                }
                [6] => {
                    libc::free(*buffer);
                    *buffer = std::ptr::null_mut();
                    len
                }
                _ => 0,
            }
        }
    }

    fn plugin(decodes: bool, encodes: bool, can_apply: i32, set_local: i32) -> Plugin {
        unsafe extern "C" fn no(_: Hid, _: Hid, _: Hid) -> c_int {
            0
        }
        unsafe extern "C" fn yes(_: Hid, _: Hid, _: Hid) -> c_int {
            1
        }
        unsafe extern "C" fn bad(_: Hid, _: Hid, _: Hid) -> c_int {
            -1
        }
        let answer = |number| match number {
            0 => no,
            1 => yes,
            _ => bad,
        };
        let (can_apply, set_local) = (Some(answer(can_apply) as _), Some(answer(set_local) as _));
        let name = "test".to_string();
        Plugin::new(
            Path::new("libtest.so"),
            Class { id: 300, name, encodes, decodes, can_apply, set_local, run: filter },
            &Arc::default(),
        )
    }

    fn step(optional: bool, params: &[u32]) -> Step {
        Step { id: 300.into(), name: String::new(), optional, params: params.to_vec() }
    }

    fn bound(params: &[u32]) -> Bound {
        Bound::new(Arc::new(plugin(true, true, 1, 1)), &step(true, params))
    }

    fn decoded(params: &[u32], stored: &[u8], limit: usize) -> std::result::Result<Vec<u8>, String> {
        let mut plain = vec![9];
        let done = bound(params).decode(stored, &mut plain, None, limit);
        done.map(|()| plain).map_err(|error| error.what.to_string())
    }

    #[test]
    fn bytes_come_back() {
        assert_eq!(decoded(&[1], &[1, 2, 3], 3), Ok(vec![14, 13, 12]));
        assert_eq!(decoded(&[2, 5], &[1, 2, 3], 15), Ok(vec![7; 15]));
        assert_eq!(decoded(&[3, 5], &[1, 2, 3], 15), Ok(vec![7; 15]), "the size beside it is the old one");
        let mut stored = vec![9];
        assert_eq!(bound(&[1]).encode(&[0, 1], &mut stored), Ok(Some(())));
        assert_eq!(stored, [0xf1, 0xf0], "it is told that it is optional");
        let mut plain = [0; 4];
        assert!(bound(&[2, 2]).decode_into(&[1, 2], &mut plain).is_ok());
        assert_eq!(plain, [7; 4]);
    }

    #[test]
    fn lies_are_errors() {
        let says = |what: &str| Err(format!("the plugin libtest.so {what}"));
        assert_eq!(decoded(&[2, 1000], &[1, 2], 1999), says("made 2000 bytes of 2; 1999 is the most"));
        assert_eq!(decoded(&[4, 1], &[1, 2], 9), says("says it made 3 bytes and has 2"));
        assert_eq!(decoded(&[5, 1], &[1, 2], 9), Ok(vec![1, 2, 0]));
        assert_eq!(decoded(&[5, 2], &[1, 2], 9), says("says it made 4 bytes and has 3"));
        assert_eq!(decoded(&[6], &[1, 2], 9), says("says it made 2 bytes and has 0"));
        assert_eq!(decoded(&[7], &[1, 2], 9), says("fails to decode 2 bytes"));
        assert_eq!(decoded(&[1], &[], 9), says("cannot decode no bytes"));
        let error = bound(&[1]).decode_into(&[1, 2], &mut [0; 3]).expect_err("it is shorter");
        assert_eq!(&*error.what, "the plugin libtest.so made 2 bytes, not the 3 of a block");
        let one_way = Bound::new(Arc::new(plugin(false, false, 1, 1)), &step(true, &[1]));
        let made = one_way.decode(&[1], &mut Vec::new(), None, 9).expect_err("it has no decoder");
        assert_eq!((made.code, &*made.what), (Code::EFILTER, "the plugin libtest.so can only encode"));
        let made = one_way.encode(&[1], &mut Vec::new()).expect_err("it has no encoder");
        assert_eq!((made.code, &*made.what), (Code::EFILTER, "the plugin libtest.so can only decode"));
    }

    #[test]
    fn datasets_are_refused() {
        let base = None;
        let element = ElementType {
            class: 0,
            size: 4,
            big_endian: false,
            signed: true,
            precision: 32,
            offset: 0,
            base,
        };
        let dataset = DatasetInfo { element, chunk: vec![2] };
        for (optional, can_apply, set_local, expected) in [
            (false, 1, 0, None),
            (false, 0, 0, Some("does not apply to this dataset")),
            (true, 0, 0, None),
            (true, -1, 0, Some("fails when asked whether it applies to this dataset")),
            (true, 1, -1, Some("cannot set its parameters for this dataset")),
        ] {
            let done =
                plugin(true, true, can_apply, set_local).prepare(&mut [step(optional, &[])], 0, &dataset);
            let expected = expected.map(|what| (Code::EFILTER, format!("the plugin libtest.so {what}")));
            assert_eq!(done.err().map(|error| (error.code, error.what.to_string())), expected);
        }
    }
}
