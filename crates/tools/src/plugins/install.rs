//! Installs our filters as plugins: a copy of one object for each, since HDF5 takes one filter from a file.
//!
//! They are copies and not links: a loader takes two names of one file for one library. The object tells from its name which
//! filter it is (`crates/h5filters`).

use std::env::{self, consts};
use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use ferrocdf::plugins::path::{self, VARIABLE};

/// The filters that HDF5 does not have by itself (LZF is h5py's own).
const FILTERS: &[&str] = &["zstd", "blosc", "bzip2", "lz4", "bitshuffle", "lzf"];

/// Copies the object into `folder`, which is made, under a name for each filter, and tells the names to `out`. Without a
/// folder it is the last that `HDF5_PLUGIN_PATH` names, else the one where HDF5 looks by itself.
///
/// # Errors
/// A sentence that says what went wrong, and what to do.
pub fn install(folder: Option<&Path>, out: &mut dyn Write) -> Result<(), String> {
    let named = env::var_os(VARIABLE);
    let object = object()?;
    let folder = match folder {
        Some(folder) => folder.to_path_buf(),
        None => default_folder(named.as_deref())?,
    };
    let folder = std::path::absolute(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let advise = |error: io::Error| match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => format!(
            "{}: {error}; name a folder of yours: ferrocdf plugins install ~/hdf5-filters",
            folder.display()
        ),
        _ => format!("{}: {error}", folder.display()),
    };
    fs::create_dir_all(&folder).map_err(advise)?;
    let mut said = String::new();
    for filter in FILTERS {
        let name = file_name(filter);
        put(&object, &folder, &name).map_err(advise)?;
        said += &format!("{}\n", folder.join(&name).display());
    }
    let in_use = named.is_some_and(|named| env::split_paths(&named).any(|other| same(&other, &folder)));
    if !in_use {
        said +=
            &format!("Programs look there if {VARIABLE} names it: export {VARIABLE}={}\n", folder.display());
    }
    // A reader that has gone away is none of our business.
    let _ = out.write_all(said.as_bytes());
    Ok(())
}

/// The file that holds a filter.
fn file_name(filter: &str) -> String {
    format!("{}ferrocdf_{filter}{}", consts::DLL_PREFIX, consts::DLL_SUFFIX)
}

/// The last folder that the variable names, else the one where HDF5 looks without it ("NetCDF-4 Filter Support", appendix H).
fn default_folder(named: Option<&OsStr>) -> Result<PathBuf, String> {
    let Some(named) = named else { return Ok(path::usual()) };
    let last = env::split_paths(named).filter(|folder| !folder.as_os_str().is_empty()).last();
    last.ok_or_else(|| {
        format!("{VARIABLE} is set and names no folder; name one: ferrocdf plugins install DIR")
    })
}

/// The object, as it is installed or built.
fn object() -> Result<PathBuf, String> {
    let name = file_name("h5filters");
    let program = env::current_exe().and_then(fs::canonicalize);
    let program = program.map_err(|error| format!("where this program is: {error}"))?;
    let bin = program.parent().unwrap_or(Path::new("/"));
    let places = [bin.join("../lib/ferrocdf").join(&name), bin.join(&name)];
    places.iter().find(|place| place.is_file()).cloned().ok_or_else(|| {
        let places = places.map(|place| place.display().to_string()).join(" and ");
        format!(
            "the filters are in {name}, which is not there: looked for {places}; `cargo xtask install` lays it down, \
             `cargo build -p ferrocdf-h5filters` makes it"
        )
    })
}

/// Copies the object under a name that HDF5 does not look at, and then gives it its own: programs that run keep what they
/// have, and none sees half of it.
fn put(object: &Path, folder: &Path, name: &str) -> io::Result<()> {
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let done = fs::copy(object, &temporary).and_then(|_| fs::rename(&temporary, folder.join(name)));
    if done.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done
}

fn same(one: &Path, other: &Path) -> bool {
    one == other
        || fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_folder_of_the_path_is_the_default() {
        let of = |path: &str| default_folder(Some(OsStr::new(path)));
        assert_eq!(of("/a:/b"), Ok("/b".into()));
        assert_eq!(of("/a::"), Ok("/a".into()));
        assert!(of("").unwrap_err().contains("names no folder"));
        assert_eq!(default_folder(None), Ok("/usr/local/hdf5/lib/plugin".into()));
    }

    #[test]
    fn files_are_put_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let (object, to) = (folder.path().join("object"), folder.path().join("to"));
        fs::write(&object, "new").unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(to.join("libx.so"), "old and longer").unwrap();
        put(&object, &to, "libx.so").unwrap();
        assert_eq!(fs::read(to.join("libx.so")).unwrap(), b"new");
        // A folder of that name is in the way.
        fs::create_dir(to.join("liby.so")).unwrap();
        fs::write(to.join("liby.so/inside"), "").unwrap();
        assert!(put(&object, &to, "liby.so").is_err());
        let names: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }
}
