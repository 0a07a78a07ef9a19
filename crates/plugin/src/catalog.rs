//! What there is in the folders in use.
//!
//! Files are looked at in the order of the folders, in each by name, one after the other until one has the filter that
//! is asked for; the first wins. A file that is no plugin, or that cannot be loaded, is passed over, and why is kept.
//! What was loaded stays, so a change of the folders and back loads nothing twice. A filter that was not found is
//! looked for again when it is asked for a second later: somebody may have installed it.
//!
//! While a library is loaded, what it runs then included, only those wait who need to know what that library is.

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

/// A file in one of the folders in use, whose name is that of a plugin.
#[derive(Clone, Debug)]
pub struct Found {
    /// The file.
    pub file: PathBuf,
    /// The HDF5 filters it has.
    pub filters: Vec<FoundFilter>,
    /// The codecs it has.
    pub codecs: Vec<Arc<Codec>>,
    /// Why it is passed over, if it is.
    pub rejected: Option<String>,
}

/// An HDF5 filter in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFilter {
    /// Its registered HDF5 number.
    pub id: u32,
    /// What it calls itself.
    pub name: String,
    /// Whether it can pack.
    pub encodes: bool,
    /// Whether it can unpack.
    pub decodes: bool,
}

/// What a library has.
#[derive(Debug)]
struct Contents {
    filter: Option<Arc<Plugin>>,
    codecs: Vec<Arc<Codec>>,
    /// How many of them, the first, are the library's own, and not for want of another library's.
    own: usize,
}

type Loaded = Result<Contents, Reason>;

#[derive(Debug, Default)]
pub(crate) struct State {
    /// All files that were ever looked at. No lock on all of this is held while one is.
    known: HashMap<Key, Arc<OnceLock<Loaded>>>,
    /// The filters that were found with this version of the folders.
    found: HashMap<u32, Arc<Plugin>>,
    /// When filters were looked for in vain.
    missed: HashMap<u32, Instant>,
    version: u64,
}

/// How long a filter is not looked for again, since a file may ask for it with each of many variables.
const AGAIN: Duration = Duration::from_secs(1);

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files that may be plugins, in the order in which they are looked at.
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
        // SAFETY: these are the functions of the plugin interfaces, which take nothing.
        let answer = unsafe { barrier::call(address as *const (), [0; 6]) };
        answer.map_err(|Thrown| format!("its {name} throws an exception"))
    };
    let filter = if library.has(FILTER_TYPE) && library.has(FILTER_INFO) {
        let kind = ask(FILTER_TYPE)? as u32 as c_int;
        if kind != FILTER {
            return Err(format!("it is a plugin of another kind, {kind}"));
        }
        // SAFETY: it gives the structure of a filter, by the contract of the interface; the library is never unloaded.
        let class = unsafe { Class::read(ask(FILTER_INFO)? as *const c_void) }?;
        Some(Arc::new(Plugin::new(file, class, &turn)))
    } else {
        None
    };
    let mut codecs = Vec::new();
    if library.has(CODEC) {
        // SAFETY: it gives the structure of a codec or nothing, as above.
        codecs.extend(unsafe { Codec::read_one(file, ask(CODEC)? as *const c_void) }?);
    }
    let own = codecs.len();
    if library.has(CODECS) {
        // SAFETY: it gives a list of structures of codecs, as above.
        codecs.extend(unsafe { Codec::read_list(file, ask(CODECS)? as *const c_void) }?);
    }
    // Some tell the first of their list alone too.
    let mut ids = HashSet::new();
    codecs.retain(|codec: &Codec| ids.insert(codec.id()));
    let codecs = codecs.into_iter().map(|codec| Arc::new(codec.in_turn(&turn))).collect();
    Ok(Contents { filter, codecs, own })
}

thread_local! {
    /// Whether this thread is loading a library.
    static LOADING: Cell<bool> = const { Cell::new(false) };
}

/// What a file is, if it is there, given to `ask`. A library that looks for filters while it is loaded finds those that are
/// loaded already: it might come to wait for itself.
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

/// The filter of this number that is found first.
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
    // The folders may have become others meanwhile.
    if state.version == search.version {
        match &found {
            Some(plugin) => drop(state.found.insert(id, plugin.clone())),
            // While a library is loaded not all files are looked at.
            None if LOADING.get() => {}
            None => drop(state.missed.insert(id, Instant::now())),
        }
    }
    found
}

/// Whether a filter of this number was found already. Loads nothing: a plugin asks this while it is loaded.
fn is_loaded(id: u32) -> bool {
    state().found.contains_key(&id)
}

/// Every file in the folders in use whose name is that of a plugin, in the order in which they are looked at, all of
/// them loaded to see what they are.
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

/// The first codec that is wanted: of those that libraries have for themselves, else of those that some have for all
/// ("NetCDF-4 Filter Support", "Filter Defaults Library").
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

/// The codec that goes with the HDF5 filter of this number, if a plugin has one.
pub fn codec(id: u32) -> Option<Arc<Codec>> {
    find_codec(|codec| codec.id() == id)
}

/// The codec of this name in Zarr metadata, if a plugin has one.
pub fn codec_named(name: &str) -> Option<Arc<Codec>> {
    find_codec(|codec| codec.name() == name)
}

/// Lets all codecs that were used give back what they hold (`NCZ_codec_finalize`), as at the end of a program. They may
/// be used again.
pub fn finalize_codecs() {
    let known: Vec<_> = state().known.values().cloned().collect();
    let loaded = known.iter().filter_map(|known| known.get()?.as_ref().ok());
    loaded.flat_map(|contents| &contents.codecs).for_each(|codec| codec.finalize());
}
