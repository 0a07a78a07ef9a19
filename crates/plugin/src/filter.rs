//! A plugin's filter as a filter of ours.
//!
//! Bytes go to it in memory from `malloc` and come back in such, which is freed here. What a plugin says it made is
//! believed only as far as there is memory for it. A library is called by one thread at a time, unless it is known to
//! keep nothing between calls.

use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Dataset, Filter, Step};

use crate::class::Class;
use crate::h5::{self, Definition, Object, Scope, Space};

/// `H5Z_FLAG_REVERSE`.
const REVERSE: u32 = 0x100;
/// `H5Z_FLAG_OPTIONAL`.
const OPTIONAL: u32 = 1;
/// Zeros behind the parameters, for plugins that read more of them than they have.
const SPARE: usize = 16;

/// Libraries that any number of threads may call at once: each call of theirs works on its arguments and on memory of
/// its own, and they set up nothing. blosc, sz, zfp, sperr and the JPEG coders have global state.
const FREE: [&str; 5] =
    ["libh5zstd.so", "libh5lz4.so", "libh5bzip2.so", "lib__nch5zstd.so", "lib__nch5bzip2.so"];

/// A plugin's filter, loaded.
pub(crate) struct Plugin {
    file: PathBuf,
    class: Class,
    /// Held by whoever calls it; `None` if all may at once.
    turn: Option<Mutex<()>>,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({} {:?} of {})", self.class.id, self.class.name, self.file.display())
    }
}

impl Plugin {
    pub(crate) fn new(file: &Path, class: Class) -> Plugin {
        let is_free = file.file_name().is_some_and(|name| FREE.iter().any(|free| name == *free));
        Plugin { file: file.to_path_buf(), class, turn: (!is_free).then(Mutex::default) }
    }

    pub(crate) fn class(&self) -> &Class {
        &self.class
    }

    /// Runs something of the plugin, and gives what it said meanwhile as reasons.
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

    /// See [`ferrocdf_codec::Provider::prepare`]. A filter that does not apply and is optional is no error: as in the
    /// HDF5 library it is asked for its parameters all the same, and blocks it fails for are stored without it.
    pub(crate) fn prepare(&self, steps: &mut [Step], at: usize, dataset: &Dataset) -> Result<()> {
        if !self.class.encodes {
            return Err(self.error(Code::EFILTER, "can only decode"));
        }
        let optional = steps.get(at).is_some_and(|step| step.optional);
        let definition = Definition { steps: steps.to_vec(), chunk: dataset.chunk.clone() };
        let (done, said) = self.call(|| self.ask(definition, dataset, optional));
        let changed = done.map_err(|what| self.error(Code::EFILTER, format_args!("{what}{said}")))?;
        for (step, new) in steps.iter_mut().zip(changed.steps) {
            if step.id == new.id {
                *step = new;
            }
        }
        Ok(())
    }

    /// Calls the plugin's two functions about a dataset, and gives what they made of its definition.
    fn ask(
        &self,
        definition: Definition,
        dataset: &Dataset,
        optional: bool,
    ) -> std::result::Result<Definition, &'static str> {
        let open = |object| h5::open(object).ok_or("cannot be asked: too many handles are open");
        let list = open(Object::List(definition))?;
        let element = open(Object::Type(dataset.element.clone()))?;
        let space = open(Object::Space(Space { shape: dataset.chunk.clone() }))?;
        if let Some(can_apply) = self.class.can_apply {
            // SAFETY: this is the function's contract; a handle is a number that is checked whenever it is used.
            match unsafe { can_apply(list, element, space) } {
                0 if !optional => return Err("does not apply to this dataset"),
                ..0 => return Err("fails when asked whether it applies to this dataset"),
                _ => {}
            }
        }
        if let Some(set_local) = self.class.set_local {
            // SAFETY: as above.
            if unsafe { set_local(list, element, space) } < 0 {
                return Err("cannot set its parameters for this dataset");
            }
        }
        h5::with(list, |object| match object {
            Object::List(definition) => Some(definition.clone()),
            Object::Type(_) | Object::Space(_) => None,
        })
        .ok_or("closed the list of properties")
    }

    /// Runs the filter over `input` and gives its result to `take`.
    fn run(
        &self,
        flags: u32,
        params: &[u32],
        input: &[u8],
        take: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let way = if flags & REVERSE != 0 { "decode" } else { "encode" };
        // No filter makes nothing of something, and some never end when they get nothing.
        if input.is_empty() {
            return Err(self.error(Code::EHDFERR, format_args!("cannot {way} no bytes")));
        }
        let mut values = params.to_vec();
        values.resize(params.len().saturating_add(SPARE), 0);
        let mut memory = Memory::of(input)?;
        let given = memory.place;
        let (made, said) = self.call(|| {
            let buffer = &raw mut memory.place;
            // SAFETY: this is the function's contract: the buffer is from `malloc`, has the size and the bytes that
            // are said, and is the plugin's to change, to grow and to replace.
            unsafe {
                let run = self.class.run;
                run(flags, params.len(), values.as_ptr(), input.len(), &raw mut memory.size, buffer)
            }
        });
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
        // SAFETY: there are as many bytes in the buffer, as was checked.
        take(unsafe { std::slice::from_raw_parts(memory.place.cast::<u8>(), made) })
    }
}

/// Memory from `malloc`, for a plugin to change and to replace.
struct Memory {
    place: *mut c_void,
    size: usize,
}

impl Memory {
    fn of(bytes: &[u8]) -> Result<Memory> {
        let size = bytes.len().max(1);
        // SAFETY: `malloc` takes any size.
        let place = unsafe { libc::malloc(size) };
        if place.is_null() {
            return Err(Error::new(Code::ENOMEM, format!("no memory for {size} bytes")));
        }
        // SAFETY: there is room for all, in memory that is nobody else's.
        unsafe { place.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(Memory { place, size })
    }

    /// Checks that there is room for `made` bytes, else says for how many there is. Some plugins put other memory into
    /// the place and leave the old size, `len`, beside it: then what the system knows of that memory counts alone.
    fn holds(&self, made: usize, given: *mut c_void, len: usize) -> std::result::Result<(), usize> {
        if self.place.is_null() {
            return Err(0);
        }
        let is_told = self.place == given || self.size != len.max(1);
        let mut room = if is_told { self.size } else { usize::MAX };
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            // SAFETY: it is memory from `malloc`, by the contract of filters.
            room = room.min(unsafe { libc::malloc_usable_size(self.place) });
        }
        if made > room { Err(room) } else { Ok(()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it is from `malloc` or null, by the contract of filters.
        unsafe { libc::free(self.place) };
    }
}

/// A plugin's filter with parameters.
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

/// Replaces what is in `to`.
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
        self.plugin.run(self.flags() | REVERSE, &self.params, stored, |made| {
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
        self.plugin.run(self.flags(), &self.params, plain, |made| copy(made, stored)).map(Some)
    }

    fn decode_into(&self, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        if !self.plugin.class.decodes {
            return Err(self.plugin.error(Code::EFILTER, "can only encode"));
        }
        self.plugin.run(self.flags() | REVERSE, &self.params, stored, |made| {
            if made.len() != plain.len() {
                let what = format!("made {} bytes, not the {} of a block", made.len(), plain.len());
                return Err(self.plugin.error(Code::EHDFERR, what));
            }
            plain.copy_from_slice(made);
            Ok(())
        })
    }
}
