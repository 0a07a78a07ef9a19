//! Loading of shared libraries into the process.
//!
//! A plugin that uses names of the HDF5 or netCDF library is loaded from an edited copy of its file, in which these
//! names are bound to functions of this crate (see [`crate::elf`]). The copy is an anonymous file in memory, or, if the
//! system cannot map one, a temporary file that is deleted at once. All other libraries are loaded unmodified.
//! Libraries are never unloaded: some leave threads or exit handlers behind.
//!
//! Only for Linux with the GNU C library, whose loader uses hidden symbols without a lookup and leaves absolute
//! addresses unrelocated.

use std::path::{Path, PathBuf};

use crate::elf::Reason;

/// Functions by which a library is a plugin.
pub(crate) const FILTER_TYPE: &str = "H5PLget_plugin_type";
pub(crate) const FILTER_INFO: &str = "H5PLget_plugin_info";
pub(crate) const CODEC: &str = "NCZ_get_codec_info";
pub(crate) const CODECS: &str = "NCZ_codec_info_defaults";

/// Library that stays loaded until the process ends.
#[derive(Debug)]
pub(crate) struct Library {
    handle: usize,
    exports: Vec<String>,
}

impl Library {
    /// True if the library exports a function of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.exports.iter().any(|export| export == name)
    }
}

/// Identity of a file at the time it was examined; a changed file has another key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    path: PathBuf,
    len: u64,
    changed: Option<std::time::SystemTime>,
}

impl Key {
    /// Returns the key of a file; `None` if the file does not exist.
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

    /// Largest number of bytes that are loaded from a library.
    const LARGEST: u64 = 1 << 30;

    /// True if the loader leaves absolute addresses unrelocated (since glibc 2.28).
    fn loader_is_recent() -> bool {
        // SAFETY: the text is static.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0u32));
        (parts.next(), parts.next()) >= (Some(2), Some(28))
    }

    /// True for needed libraries that this crate replaces.
    fn is_replaced(name: &str) -> bool {
        name.starts_with("libhdf5") || name.starts_with("libnetcdf")
    }

    /// True if a symbol belongs to a replaced library.
    fn is_theirs(symbol: &Symbol) -> bool {
        match symbol.name.as_str() {
            FILTER_TYPE | FILTER_INFO => false,
            name => name.starts_with("H5") || (is_of_netcdf(name) && !symbol.defined),
        }
    }

    fn is_of_netcdf(name: &str) -> bool {
        name.starts_with("nc_") || name.starts_with("ncaux_")
    }

    /// True for names that identify a plugin or belong to a replaced library.
    fn is_of_interest(name: &str) -> bool {
        is_of_netcdf(name) || name.starts_with("H5") || name.starts_with("NCZ_")
    }

    /// Loads a plugin. A library that is not a plugin is not loaded, so none of its code runs.
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

    /// Reads the part of a file that is loaded.
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

    /// Returns the last error message of the loader.
    fn reason() -> Reason {
        // SAFETY: the text belongs to this thread, and is valid until its next call of the loader.
        let text = unsafe { libc::dlerror() };
        if text.is_null() {
            return "the loader does not say why".to_string();
        }
        // SAFETY: the text ends in a zero byte.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    fn load(path: &Path, flags: c_int) -> Result<usize, Reason> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a zero byte")?;
        // SAFETY: loading runs the initializers of the library; running a plugin's code is the purpose of this call.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        if handle.is_null() { Err(reason()) } else { Ok(handle as usize) }
    }

    /// Loads the mathematical library: some plugins use its functions without declaring the dependency.
    fn load_mathematics() {
        static ONCE: Once = Once::new();
        // A failure becomes an undefined symbol of the plugin that needs it.
        ONCE.call_once(|| drop(load(Path::new("libm.so.6"), libc::RTLD_LAZY | libc::RTLD_GLOBAL)));
    }

    /// Loads needed libraries from folders relative to the plugin (`$ORIGIN`): the edited copy is in another folder. A
    /// library that is not found there is left to the loader, which searches elsewhere and reports its absence.
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
                // A failure is reported when the plugin itself is loaded.
                drop(load(&file, libc::RTLD_LAZY | libc::RTLD_LOCAL));
            }
        }
    }

    /// Loads `bytes`, the edited image of the file `path`.
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
            // A file that cannot be deleted does no harm.
            drop(std::fs::remove_file(&name));
            loaded.map_err(|reason| reason.replace(&name.display().to_string(), &original))
        };
        in_memory().or_else(|first| {
            // An undefined symbol is a defect of the library, so a second copy would fail too.
            if first.contains("undefined symbol") { Err(first) } else { on_disk() }
        })
    }

    static COPIES: AtomicU32 = AtomicU32::new(0);

    /// Returns a path of an open file that was not used before: for a known path the loader returns the library that it
    /// loaded earlier, and file descriptors are reused. Each binary digit of a counter adds `/` or `./` to the path.
    fn unique_name(file: &File) -> PathBuf {
        let count = COPIES.fetch_add(1, Ordering::Relaxed);
        let digits =
            (0..u32::BITS - count.leading_zeros()).map(|bit| if count >> bit & 1 == 1 { "./" } else { "/" });
        PathBuf::from(format!("/proc/self/fd/{}{}", digits.collect::<String>(), file.as_raw_fd()))
    }

    /// Creates a temporary file that only this user can read.
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
        /// Returns the address of an exported symbol.
        pub(crate) fn address(&self, name: &str) -> Option<usize> {
            let name = CString::new(name).ok().filter(|_| self.has(name))?;
            // SAFETY: the handle is valid: libraries are never unloaded.
            let address = unsafe { libc::dlsym(self.handle as *mut libc::c_void, name.as_ptr()) };
            (!address.is_null()).then_some(address as usize)
        }
    }
}

pub(crate) use here::open;
