//! Libraries brought into the process.
//!
//! A plugin that uses names of the HDF5 or the netCDF library is loaded from an edited copy of its file, in which
//! these are ours (see [`crate::elf`]); the copy is a file in memory without a name, or, where the system does not map
//! such, a temporary one that is deleted at once. All others are loaded as they are. Libraries are never unloaded:
//! some leave threads behind, or handlers for the end of the process.
//!
//! Only Linux with the GNU C library: its loader takes a hidden symbol as it is, and leaves an absolute address alone.

use std::path::{Path, PathBuf};

use crate::elf::Reason;

/// Functions that make a library a plugin.
pub(crate) const FILTER_TYPE: &str = "H5PLget_plugin_type";
pub(crate) const FILTER_INFO: &str = "H5PLget_plugin_info";
pub(crate) const CODEC: &str = "NCZ_get_codec_info";
pub(crate) const CODECS: &str = "NCZ_codec_info_defaults";

/// A library that is in the process for good.
#[derive(Debug)]
pub(crate) struct Library {
    handle: usize,
    exports: Vec<String>,
}

impl Library {
    /// Whether it has a function of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.exports.iter().any(|export| export == name)
    }
}

/// A file as it was when it was looked at: another one has another key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    path: PathBuf,
    len: u64,
    changed: Option<std::time::SystemTime>,
}

impl Key {
    /// The key of a file; `None` if there is none.
    pub(crate) fn of(path: &Path) -> Option<Key> {
        let path = path.canonicalize().ok()?;
        let facts = path.metadata().ok().filter(|facts| facts.is_file())?;
        Some(Key { len: facts.len(), changed: facts.modified().ok(), path })
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod here {
    use super::*;

    pub(crate) fn open(_path: &Path) -> Result<Library, Reason> {
        Err("plugins cannot be loaded on this system".to_string())
    }

    impl Library {
        pub(crate) fn address(&self, _name: &str) -> Option<usize> {
            None
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod here {
    use std::collections::BTreeSet;
    use std::ffi::{CStr, CString, c_int};
    use std::fs::{File, OpenOptions};
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::Once;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::fs::MemfdFlags;

    use super::*;
    use crate::elf::{self, Image, Symbol};
    use crate::{h5, nc};

    /// The most bytes of a library that are loaded.
    const LARGEST: u64 = 1 << 30;

    /// Whether the loader leaves absolute addresses alone, which older ones take for offsets (since glibc 2.28).
    fn loader_is_recent() -> bool {
        // SAFETY: it is a text that stays.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0u32));
        (parts.next(), parts.next()) >= (Some(2), Some(28))
    }

    /// Libraries that plugins say they need, and that are us.
    fn is_replaced(name: &str) -> bool {
        name.starts_with("libhdf5") || name.starts_with("libnetcdf")
    }

    /// Whether a symbol is one of the libraries that are replaced.
    fn is_theirs(symbol: &Symbol) -> bool {
        match symbol.name.as_str() {
            FILTER_TYPE | FILTER_INFO => false,
            name => name.starts_with("H5") || (is_of_netcdf(name) && !symbol.defined),
        }
    }

    fn is_of_netcdf(name: &str) -> bool {
        name.starts_with("nc_") || name.starts_with("ncaux_")
    }

    /// Whether a name says something about a plugin.
    fn is_of_interest(name: &str) -> bool {
        is_of_netcdf(name) || name.starts_with("H5") || name.starts_with("NCZ_")
    }

    /// Loads a plugin. A library that is none is not loaded, so nothing of it runs.
    pub(crate) fn open(path: &Path) -> Result<Library, Reason> {
        let mut image = read(path)?;
        let symbols = image.symbols(is_of_interest)?;
        let defined = symbols.iter().filter(|symbol| symbol.defined);
        let exports: Vec<String> = defined.map(|symbol| symbol.name.clone()).collect();
        let has = |name: &str| exports.iter().any(|export| export == name);
        if !(has(FILTER_TYPE) && has(FILTER_INFO) || has(CODEC) || has(CODECS)) {
            return Err(format!(
                "it is no plugin: it has no {FILTER_TYPE} and {FILTER_INFO}, and no {CODEC}"
            ));
        }
        let mut edited = image.needed().iter().any(|name| is_replaced(name));
        if !loader_is_recent() {
            return Err(
                "the C library is too old to load plugins: it must be glibc 2.28 or later".to_string()
            );
        }
        let mut missing = BTreeSet::new();
        for symbol in symbols.iter().filter(|symbol| is_theirs(symbol)) {
            match h5::address(&symbol.name).or_else(|| nc::address(&symbol.name)) {
                Some(address) => {
                    image.bind(symbol, address as u64);
                    edited = true;
                }
                None if !symbol.defined && !symbol.weak => {
                    missing.insert(&*symbol.name);
                }
                None => {}
            }
        }
        if !missing.is_empty() {
            let names: Vec<&str> = missing.into_iter().collect();
            return Err(format!(
                "it needs {}, which only the HDF5 or the netCDF library has",
                names.join(", ")
            ));
        }
        load_mathematics();
        let handle = if edited {
            image.forget(is_replaced)?;
            load_needed(path, &image);
            load_copy(path, image.bytes())?
        } else {
            load(path, libc::RTLD_NOW | libc::RTLD_LOCAL)?
        };
        Ok(Library { handle, exports })
    }

    /// The part of a file that is loaded.
    fn read(path: &Path) -> Result<Image, Reason> {
        let failed = |error: std::io::Error| format!("it cannot be read: {error}");
        let mut file = File::open(path).map_err(failed)?;
        let whole = file.metadata().map_err(failed)?.len();
        let mut header = Vec::new();
        (&file).take(64).read_to_end(&mut header).map_err(failed)?;
        let (at, len) = elf::segments_at(&header)?;
        let mut segments = Vec::new();
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        (&file).take(len as u64).read_to_end(&mut segments).map_err(failed)?;
        let len = elf::loaded_len(at, &segments)?;
        if len > LARGEST {
            return Err(format!("{len} bytes are to be loaded, more than {LARGEST}"));
        }
        if len > whole {
            return Err("the file ends before the end of what is to be loaded".to_string());
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.take(len).read_to_end(&mut bytes).map_err(failed)?;
        Image::read(bytes)
    }

    /// What the loader says went wrong last.
    fn reason() -> Reason {
        // SAFETY: the text is this thread's, and stays until the loader's next call.
        let text = unsafe { libc::dlerror() };
        if text.is_null() {
            return "the loader does not say why".to_string();
        }
        // SAFETY: it ends in a zero byte.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    fn load(path: &Path, flags: c_int) -> Result<usize, Reason> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a zero byte")?;
        // SAFETY: loading runs what the library wants to run at its start; that is what a plugin is for.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        if handle.is_null() { Err(reason()) } else { Ok(handle as usize) }
    }

    /// Some plugins use mathematical functions and do not say that they need them.
    fn load_mathematics() {
        static ONCE: Once = Once::new();
        // A failure shows as an unknown name in the plugin that needs it.
        ONCE.call_once(|| drop(load(Path::new("libm.so.6"), libc::RTLD_LAZY | libc::RTLD_GLOBAL)));
    }

    /// Loads the libraries that a plugin has in folders relative to its own: its copy has another folder. One that is
    /// not there is left to the loader, which looks elsewhere and tells if it finds none.
    fn load_needed(path: &Path, image: &Image) {
        let Some(origin) = path.parent().and_then(|folder| folder.canonicalize().ok()) else { return };
        let folders: Vec<PathBuf> = image
            .run_path()
            .iter()
            .filter(|folder| folder.contains("$ORIGIN") || folder.contains("${ORIGIN}"))
            .map(|folder| {
                let origin = origin.to_string_lossy();
                PathBuf::from(folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
            })
            .collect();
        for name in image.needed() {
            let files = folders.iter().map(|folder| folder.join(&name));
            if let Some(Ok(file)) = files.map(|file| file.canonicalize()).find(Result::is_ok) {
                // A failure shows when the plugin itself is loaded.
                drop(load(&file, libc::RTLD_LAZY | libc::RTLD_LOCAL));
            }
        }
    }

    /// Loads these bytes, which were made from that file.
    fn load_copy(path: &Path, bytes: &[u8]) -> Result<usize, Reason> {
        let (flags, original) = (libc::RTLD_NOW | libc::RTLD_LOCAL, path.display().to_string());
        let in_memory = || -> Result<usize, Reason> {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let fd =
                rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).map_err(|error| error.to_string())?;
            let mut file = File::from(fd);
            file.write_all(bytes).map_err(|error| error.to_string())?;
            let name = unique_name(&file);
            load(&name, flags).map_err(|reason| reason.replace(&name.display().to_string(), &original))
        };
        let on_disk = || -> Result<usize, Reason> {
            let (name, mut file) =
                temporary().map_err(|error| format!("no copy of it can be made: {error}"))?;
            let loaded = file.write_all(bytes).map_err(|error| format!("no copy of it can be made: {error}"));
            drop(file);
            let loaded = loaded.and_then(|()| load(&name, flags));
            // One that stays is in the way of nobody.
            drop(std::fs::remove_file(&name));
            loaded.map_err(|reason| reason.replace(&name.display().to_string(), &original))
        };
        in_memory().or_else(|first| {
            // What is wrong with the library itself is wrong with any copy of it.
            if first.contains("undefined symbol") { Err(first) } else { on_disk() }
        })
    }

    static COPIES: AtomicU32 = AtomicU32::new(0);

    /// A name of an open file that was not used before: the loader takes a name it knows for the library it knows,
    /// and numbers of files come again. Each binary digit of a counter is one of two ways to say "here".
    fn unique_name(file: &File) -> PathBuf {
        let count = COPIES.fetch_add(1, Ordering::Relaxed);
        let digits =
            (0..u32::BITS - count.leading_zeros()).map(|bit| if count >> bit & 1 == 1 { "./" } else { "/" });
        PathBuf::from(format!("/proc/self/fd/{}{}", digits.collect::<String>(), file.as_raw_fd()))
    }

    /// A new file that only this user can read.
    fn temporary() -> std::io::Result<(PathBuf, File)> {
        let mut tries = 0;
        loop {
            let count = COPIES.fetch_add(1, Ordering::Relaxed);
            let name = format!("ferrocdf-plugin-{}-{count}.so", std::process::id());
            let path = std::env::temp_dir().join(name);
            match OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    impl Library {
        /// The address of something it exports.
        pub(crate) fn address(&self, name: &str) -> Option<usize> {
            let name = CString::new(name).ok().filter(|_| self.has(name))?;
            // SAFETY: the handle is of a library that is never unloaded.
            let address = unsafe { libc::dlsym(self.handle as *mut libc::c_void, name.as_ptr()) };
            (!address.is_null()).then_some(address as usize)
        }
    }
}

pub(crate) use here::open;
