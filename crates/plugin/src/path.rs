//! Search path of plugins: the folders in use, and which files in them may be plugins.
//!
//! The process has one list of folders, as in the HDF5 library. It is read from `HDF5_PLUGIN_PATH` at the first use,
//! and changed by the functions of this module afterwards. Empty folder names are kept and returned, since netCDF-C
//! returns them, but never searched; so nothing is found with the list `::`. `HDF5_PLUGIN_PRELOAD=::` disables plugins,
//! as in the HDF5 library.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};

/// Environment variable that names the folders.
pub const VARIABLE: &str = "HDF5_PLUGIN_PATH";

/// Folders in use if `HDF5_PLUGIN_PATH` is not set.
#[cfg(not(windows))]
const USUAL: [&str; 2] = ["/usr/local/lib/hdf5/plugin", "/usr/local/hdf5/lib/plugin"];
#[cfg(windows)]
const USUAL: [&str; 1] = ["%ALLUSERSPROFILE%\\hdf5\\lib\\plugin"];

/// Folders in which system packages install plugins for their HDF5 library; `ARCH` stands for the processor. They are
/// searched last, and only while neither the environment nor the program sets a path; they do not appear in netCDF's
/// list of folders.
#[cfg(unix)]
const PACKAGES: [&str; 2] = ["/usr/lib/ARCH-linux-gnu/hdf5/serial/plugins", "/usr/lib64/hdf5/plugin"];
#[cfg(not(unix))]
const PACKAGES: [&str; 0] = [];

/// Origin of the list of folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// `HDF5_PLUGIN_PATH`.
    Environment,
    /// The default.
    Usual,
    /// The functions of this module.
    Program,
}

#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub folders: Vec<PathBuf>,
    /// Folders of system packages, searched after `folders`.
    pub packages: Vec<PathBuf>,
    pub source: Source,
    /// True if plugins may be loaded.
    pub allowed: bool,
    /// Version of the list; each change of the folders increments it.
    pub version: u64,
}

static SEARCH: LazyLock<Mutex<Search>> = LazyLock::new(|| {
    let (folders, source) = match std::env::var_os(VARIABLE) {
        Some(text) => (parse(&text), Source::Environment),
        None => (USUAL.iter().map(|folder| expand(folder)).collect(), Source::Usual),
    };
    let allowed = std::env::var_os("HDF5_PLUGIN_PRELOAD").is_none_or(|text| text != "::");
    let packages = match source {
        Source::Usual => packages(),
        _ => Vec::new(),
    };
    Mutex::new(Search { folders, packages, source, allowed, version: 0 })
});

fn packages() -> Vec<PathBuf> {
    let folders = PACKAGES.iter().map(|folder| PathBuf::from(folder.replace("ARCH", std::env::consts::ARCH)));
    folders.filter(|folder| folder.is_dir()).collect()
}

impl Search {
    fn changed(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
        self.source = Source::Program;
        self.version = self.version.wrapping_add(1);
    }

    /// Returns the searched folders in search order.
    pub fn searched(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().chain(&self.packages).filter(|folder| !folder.as_os_str().is_empty())
    }
}

/// Returns the folder in which to install plugins that are found without [`VARIABLE`]: the last of the default folders
/// ("NetCDF-4 Filter Support", appendix H).
pub fn usual() -> PathBuf {
    USUAL.last().map(|folder| expand(folder)).unwrap_or_default()
}

/// Expands the environment variable in a folder name, for Windows.
fn expand(folder: &str) -> PathBuf {
    match folder.split('%').collect::<Vec<_>>()[..] {
        ["", name, rest] => {
            PathBuf::from(std::env::var(name).unwrap_or_else(|_| "C:\\ProgramData".to_string()) + rest)
        }
        _ => PathBuf::from(folder),
    }
}

/// Splits a list of folders at `:`, on Windows at `;`. The empty text has no folders.
pub fn parse(text: &OsStr) -> Vec<PathBuf> {
    if text.is_empty() { Vec::new() } else { std::env::split_paths(text).collect() }
}

pub(crate) fn search() -> MutexGuard<'static, Search> {
    SEARCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the current search path.
pub(crate) fn current() -> Search {
    search().clone()
}

/// Returns the folders in use, in search order.
pub fn get() -> Vec<PathBuf> {
    search().folders.clone()
}

/// Returns all searched folders: the folders in use except empty names, followed by the folders of system packages
/// while neither the environment nor the program sets a path.
pub fn searched() -> Vec<PathBuf> {
    current().searched().cloned().collect()
}

/// True if plugins may be loaded; `HDF5_PLUGIN_PRELOAD=::` forbids it.
pub fn is_allowed() -> bool {
    current().allowed
}

/// Returns the number of folders in use.
pub fn len() -> usize {
    search().folders.len()
}

/// Changes the folders in use if `body` succeeds.
fn try_edit<T>(body: impl FnOnce(&mut Vec<PathBuf>) -> Result<T>) -> Result<T> {
    let mut search = search();
    let mut folders = search.folders.clone();
    let done = body(&mut folders)?;
    search.changed(folders);
    Ok(done)
}

/// Changes the folders in use.
fn edit(body: impl FnOnce(&mut Vec<PathBuf>)) {
    let mut search = search();
    let mut folders = search.folders.clone();
    body(&mut folders);
    search.changed(folders);
}

fn out_of_range(at: usize, len: usize) -> Error {
    Error::new(Code::EINVAL, format!("there is no plugin folder {at}: there are {len}"))
}

/// Sets the folders in use.
pub fn set(folders: Vec<PathBuf>) {
    let mut search = search();
    search.packages.clear();
    search.changed(folders);
}

/// Adds a folder that is searched last.
pub fn append(folder: impl Into<PathBuf>) {
    edit(|folders| folders.push(folder.into()));
}

/// Adds a folder that is searched first.
pub fn prepend(folder: impl Into<PathBuf>) {
    edit(|folders| folders.insert(0, folder.into()));
}

/// Adds a folder before the one at `at`, or after the last. `NC_EINVAL` if there are fewer.
pub fn insert(at: usize, folder: impl Into<PathBuf>) -> Result<()> {
    try_edit(|folders| {
        if at > folders.len() {
            return Err(out_of_range(at, folders.len()));
        }
        folders.insert(at, folder.into());
        Ok(())
    })
}

/// Replaces the folder at `at`, and returns the old one. `NC_EINVAL` if there is none.
pub fn replace(at: usize, folder: impl Into<PathBuf>) -> Result<PathBuf> {
    try_edit(|folders| {
        let len = folders.len();
        let place = folders.get_mut(at).ok_or_else(|| out_of_range(at, len))?;
        Ok(std::mem::replace(place, folder.into()))
    })
}

/// Removes the folder at `at`, and returns it. `NC_EINVAL` if there is none.
pub fn remove(at: usize) -> Result<PathBuf> {
    try_edit(|folders| {
        if at >= folders.len() {
            return Err(out_of_range(at, folders.len()));
        }
        Ok(folders.remove(at))
    })
}

/// Returns the searched folders in the form that follows "searched" in an error.
pub fn places() -> String {
    let search = current();
    if !search.allowed {
        return "in no folder (HDF5_PLUGIN_PRELOAD forbids plugins)".to_string();
    }
    let folders: Vec<String> = search.searched().map(|folder| folder.display().to_string()).collect();
    let source = match search.source {
        Source::Environment => VARIABLE.to_string(),
        Source::Usual => format!("the usual folders, since {VARIABLE} is not set"),
        Source::Program => "the plugin path that the program set".to_string(),
    };
    if folders.is_empty() {
        return format!("in no folder ({source})");
    }
    format!("in {} ({source})", folders.join(" and "))
}

/// Systems by their names of shared libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Unix,
    Cygwin,
    Windows,
}

const HERE: System = if cfg!(windows) {
    System::Windows
} else if cfg!(target_os = "cygwin") {
    System::Cygwin
} else {
    System::Unix
};

/// True if a file with this name may be a plugin.
pub(crate) fn may_be_plugin(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_library_name(name, HERE))
}

fn is_library_name(name: &str, system: System) -> bool {
    match system {
        System::Unix => name.starts_with("lib") && (name.contains(".so") || name.contains(".dylib")),
        System::Cygwin => name.starts_with("cyg") && name.contains(".dll"),
        System::Windows => name.contains(".dll"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_of_libraries() {
        for (name, system, is) in [
            ("libh5zstd.so", System::Unix, true),
            ("libh5zstd.so.1.2", System::Unix, true),
            ("libh5zstd.dylib", System::Unix, true),
            ("h5zstd.so", System::Unix, false),
            ("libh5zstd.a", System::Unix, false),
            ("libh5zstd.dll", System::Unix, false),
            ("cygh5zstd.dll", System::Cygwin, true),
            ("libh5zstd.dll", System::Cygwin, false),
            ("h5zstd.dll", System::Windows, true),
            ("h5zstd.so", System::Windows, false),
        ] {
            assert_eq!(is_library_name(name, system), is, "{name} on {system:?}");
        }
    }

    /// One test, since the process has one list.
    #[test]
    fn the_list_changes() {
        let names =
            |folders: Vec<PathBuf>| folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>();
        set(vec!["b".into()]);
        let before = current().version;
        append("c");
        prepend("a");
        insert(3, "d").expect("it is the end");
        assert_eq!(names(get()), ["a", "b", "c", "d"]);
        assert_eq!(replace(1, "x").expect("it is there"), Path::new("b"));
        assert_eq!(remove(0).expect("it is there"), Path::new("a"));
        assert_eq!((names(get()), len()), (vec!["x".to_string(), "c".into(), "d".into()], 3));
        assert_eq!(current().version, before + 5);
        assert_eq!(places(), "in x and c and d (the plugin path that the program set)");
        for error in [insert(4, "e").err(), replace(3, "e").err(), remove(3).err()] {
            assert_eq!(error.map(|error| error.code), Some(Code::EINVAL));
        }
        assert_eq!(current().version, before + 5);
        set(parse(OsStr::new("")));
        assert_eq!((len(), places()), (0, "in no folder (the plugin path that the program set)".to_string()));
        #[cfg(not(windows))]
        {
            set(parse(OsStr::new("::")));
            assert_eq!(
                (len(), places()),
                (3, "in no folder (the plugin path that the program set)".to_string())
            );
        }
    }
}
