//! Plugins in the folders in use.
//!
//! Folders are searched in their order and the files of a folder by name; the first file that has the requested filter
//! wins. A file that is not a plugin, or cannot be loaded, is skipped and the reason is kept. Libraries stay loaded, so
//! restoring an earlier list of folders loads nothing twice. A missing filter is searched again one second later at the
//! earliest: it may have been installed in the meantime.
//!
//! While a library is being loaded, and its initializers run, only threads that need the result of this library wait.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::barrier::{self, Thrown};
use crate::class::Class;
use crate::codecs::Codec;
use crate::elf::Reason;
use crate::filter::Plugin;
use crate::h5;
use crate::load::{self, CODEC, CODECS, FILTER_INFO, FILTER_TYPE, Key};
use crate::path;

/// `H5PL_TYPE_FILTER`.
const FILTER: c_int = 0;

/// File in one of the folders in use whose name is that of a plugin.
#[derive(Clone, Debug)]
pub struct Found {
    /// Path of the file.
    pub file: PathBuf,
    /// HDF5 filters in the file.
    pub filters: Vec<FoundFilter>,
    /// Codecs in the file.
    pub codecs: Vec<Arc<Codec>>,
    /// Reason why the file is skipped, if it is.
    pub rejected: Option<String>,
}

/// HDF5 filter in a plugin file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFilter {
    /// Registered HDF5 filter number.
    pub id: u32,
    /// Name that the plugin gives the filter.
    pub name: String,
    /// True if the filter can encode.
    pub encodes: bool,
    /// True if the filter can decode.
    pub decodes: bool,
}

/// Filter and codecs of a library.
#[derive(Debug)]
struct Contents {
    filter: Option<Arc<Plugin>>,
    codecs: Vec<Arc<Codec>>,
    /// Number of leading `codecs` that belong to this library itself; the rest are defaults for other libraries.
    own: usize,
}

type Loaded = Result<Contents, Reason>;

#[derive(Debug, Default)]
pub(crate) struct State {
    /// All files that were ever examined. The lock of this state is not held while a file is loaded.
    known: HashMap<Key, Arc<OnceLock<Loaded>>>,
    /// Filters found with folder list `version`.
    found: HashMap<u32, Arc<Plugin>>,
    /// Time of the last unsuccessful search for each filter.
    missed: HashMap<u32, Instant>,
    version: u64,
}

/// Shortest time between two searches for a missing filter: a file may request it once for each of many variables.
const AGAIN: Duration = Duration::from_secs(1);

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the files that may be plugins, in search order.
fn candidates(search: &path::Search) -> impl Iterator<Item = PathBuf> {
    search.searched().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| path::may_be_plugin(&entry.file_name()))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    })
}

fn load(file: &Path) -> Loaded {
    let library = load::open(file)?;
    let turn = Arc::default();
    let ask = |name| {
        let address = library.address(name).ok_or_else(|| format!("its {name} cannot be found"))?;
        // SAFETY: the functions of the plugin interfaces take no arguments.
        let answer = unsafe { barrier::call(address as *const (), [0; 6]) };
        answer.map_err(|Thrown| format!("its {name} throws an exception"))
    };
    let filter = if library.has(FILTER_TYPE) && library.has(FILTER_INFO) {
        let kind = ask(FILTER_TYPE)? as u32 as c_int;
        if kind != FILTER {
            return Err(format!("it is a plugin of another kind, {kind}"));
        }
        // SAFETY: by its contract the function returns a filter structure; the library is never unloaded.
        let class = unsafe { Class::read(ask(FILTER_INFO)? as *const c_void) }?;
        Some(Arc::new(Plugin::new(file, class, &turn)))
    } else {
        None
    };
    let mut codecs = Vec::new();
    if library.has(CODEC) {
        // SAFETY: by its contract the function returns a codec structure or null; the library is never unloaded.
        codecs.extend(unsafe { Codec::read_one(file, ask(CODEC)? as *const c_void) }?);
    }
    let own = codecs.len();
    if library.has(CODECS) {
        // SAFETY: by its contract the function returns a list of codec structures; the library is never unloaded.
        codecs.extend(unsafe { Codec::read_list(file, ask(CODECS)? as *const c_void) }?);
    }
    // Some libraries return the first codec of their list from `NCZ_get_codec_info` as well.
    let mut ids = HashSet::new();
    codecs.retain(|codec: &Codec| ids.insert(codec.id()));
    let codecs = codecs.into_iter().map(|codec| Arc::new(codec.in_turn(&turn))).collect();
    Ok(Contents { filter, codecs, own })
}

thread_local! {
    /// True while this thread loads a library.
    static LOADING: Cell<bool> = const { Cell::new(false) };
}

/// Loads a file, unless it was loaded before, and returns the result of `ask` for it. `None` if the file does not
/// exist, or is not loaded yet while this thread is loading a library: that library searches for filters, and the
/// thread could wait for itself.
fn look<T>(file: &Path, ask: impl FnOnce(&Loaded) -> T) -> Option<T> {
    let key = Key::of(file)?;
    let known = state().known.entry(key).or_default().clone();
    if let Some(loaded) = known.get() {
        return Some(ask(loaded));
    }
    if LOADING.replace(true) {
        return None;
    }
    h5::IS_LOADED.get_or_init(|| is_loaded);
    let loaded = known.get_or_init(|| load(file));
    LOADING.set(false);
    Some(ask(loaded))
}

impl State {
    fn follow(&mut self, search: &path::Search) {
        if self.version != search.version {
            self.found.clear();
            self.missed.clear();
            self.version = search.version;
        }
    }
}

/// Returns the first filter with this number.
pub(crate) fn find(id: u32) -> Option<Arc<Plugin>> {
    let search = path::current();
    if !search.allowed {
        return None;
    }
    {
        let mut state = state();
        state.follow(&search);
        if let Some(plugin) = state.found.get(&id) {
            return Some(plugin.clone());
        }
        if state.missed.get(&id).is_some_and(|missed| missed.elapsed() < AGAIN) {
            return None;
        }
    }
    let its = |loaded: &Loaded| {
        let plugin = loaded.as_ref().ok()?.filter.as_ref()?;
        (plugin.class().id == id).then(|| plugin.clone())
    };
    let found = candidates(&search).find_map(|file| look(&file, its)?);
    let mut state = state();
    // The list of folders may have changed in the meantime.
    if state.version == search.version {
        match &found {
            Some(plugin) => drop(state.found.insert(id, plugin.clone())),
            // While this thread loads a library, it does not examine all files.
            None if LOADING.get() => {}
            None => drop(state.missed.insert(id, Instant::now())),
        }
    }
    found
}

/// True if a filter with this number was found before. Loads nothing: a plugin may call this function while it is
/// loaded.
fn is_loaded(id: u32) -> bool {
    state().found.contains_key(&id)
}

/// Loads every file in the folders in use whose name is that of a plugin, and returns their contents in search order.
pub fn catalog() -> Vec<Found> {
    let search = path::current();
    if !search.allowed {
        return Vec::new();
    }
    let mut all = Vec::new();
    for file in candidates(&search) {
        let told = look(&file, |loaded| match loaded {
            Err(reason) => (Vec::new(), Vec::new(), Some(reason.clone())),
            Ok(contents) => {
                let filters = contents.filter.iter().map(|plugin| {
                    let Class { id, name, encodes, decodes, .. } = plugin.class().clone();
                    FoundFilter { id, name, encodes, decodes }
                });
                (filters.collect(), contents.codecs.clone(), None)
            }
        });
        if let Some((filters, codecs, rejected)) = told {
            all.push(Found { file, filters, codecs, rejected });
        }
    }
    all
}

/// Returns the first codec for which `is_wanted` is true. Codecs that a library has for itself take precedence over
/// defaults for other libraries ("NetCDF-4 Filter Support", "Filter Defaults Library").
fn find_codec(is_wanted: impl Fn(&Codec) -> bool) -> Option<Arc<Codec>> {
    let search = path::current();
    if !search.allowed {
        return None;
    }
    let mut spare = None;
    for file in candidates(&search) {
        let its = |loaded: &Loaded| {
            let contents = loaded.as_ref().ok()?;
            let at = contents.codecs.iter().position(|codec| is_wanted(codec))?;
            Some((at < contents.own, contents.codecs.get(at)?.clone()))
        };
        match look(&file, its).flatten() {
            Some((true, codec)) => return Some(codec),
            Some((false, codec)) => spare = spare.or(Some(codec)),
            None => {}
        }
    }
    spare
}

/// Returns the codec of the HDF5 filter with this number, if a plugin has one.
pub fn codec(id: u32) -> Option<Arc<Codec>> {
    find_codec(|codec| codec.id() == id)
}

/// Returns the codec with this name in Zarr metadata, if a plugin has one.
pub fn codec_named(name: &str) -> Option<Arc<Codec>> {
    find_codec(|codec| codec.name() == name)
}

/// Finalizes all codecs that were used (`NCZ_codec_finalize`), which releases their resources, as at the end of a
/// program. A later use initializes a codec again.
pub fn finalize_codecs() {
    let known: Vec<_> = state().known.values().cloned().collect();
    let loaded = known.iter().filter_map(|known| known.get()?.as_ref().ok());
    loaded.flat_map(|contents| &contents.codecs).for_each(|codec| codec.finalize());
}
