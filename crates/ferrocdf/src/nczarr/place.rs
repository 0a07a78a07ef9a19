//! Which locations are stores, the store of a location, and making a new one.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_store::{DirectoryStore, Listing, Store, ZipDraft};
use ferrocdf_zarr::within;

use crate::location::Location;

/// True for an object whose key is that of a folder, so that no request for its bytes is needed.
pub(crate) fn is_folder(location: &Location) -> bool {
    matches!(location, Location::Object { key, .. } if key.is_empty() || key.ends_with('/') || [".zarr", ".parq", ".parquet"].iter().any(|end| key.ends_with(end)))
}

/// True if the answer to reading the first bytes at a location is that of a folder: a directory, or a key that no object has, or only an
/// empty one that stands for the folder.
pub(crate) fn has_no_bytes(location: &Location, answer: &Result<usize>) -> bool {
    let is_object = matches!(location, Location::Object { .. });
    match answer {
        Ok(got) => *got == 0 && is_object,
        Err(error) => error.code == errno::ISDIR || error.code == Code::ENOOBJECT && is_object,
    }
}

/// Returns the store that a zip file is, and the path of the Zarr store in it: the root of the file, as zarr-python and this library write it,
/// or its only folder, as netCDF-C does.
pub(super) fn in_zip(store: impl Store + 'static) -> Result<(Arc<dyn Store>, String)> {
    let mut listing = store.list("")?;
    let path = match (&listing.objects[..], &mut listing.folders[..]) {
        ([], [folder]) => std::mem::take(folder),
        _ => String::new(),
    };
    Ok((Arc::new(store), path))
}

/// Returns the store that holds what is at a location, and its path there. With `durable`, puts wait for the disk.
pub(super) fn store(location: &Location, durable: bool) -> Result<(Arc<dyn Store>, String)> {
    match location {
        Location::Path(path) => {
            Ok((Arc::new(DirectoryStore::open(as_folder(path))?.durable(durable)), String::new()))
        }
        Location::Object { store, key } => Ok((store.clone(), key.trim_end_matches('/').to_string())),
        _ => Err(Error::new(Code::ENOTNC, "it is no folder of a store")),
    }
}

/// The same of a store that is to be changed. A folder is asked now whether it can be written, and not when it is flushed.
pub(super) fn store_to_edit(location: &Location, durable: bool) -> Result<(Arc<dyn Store>, String)> {
    if let Location::Path(path) = location {
        DirectoryStore::open(as_folder(path))?.check_writable()?;
    }
    store(location, durable)
}

/// The objects that make a folder a Zarr store.
const ROOTS: [&str; 4] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

/// True if a path is that of a folder with the metadata of a Zarr store.
pub fn is_zarr_store(path: &Path) -> bool {
    ROOTS.iter().any(|root| path.join(root).is_file())
}

/// True if a folder has the metadata of a Zarr store.
fn has_root(listing: &Listing) -> bool {
    ROOTS.iter().any(|root| listing.objects.iter().any(|object| object == root))
}

/// True if objects are known to lie below a key. Some servers do not list objects.
pub(super) fn has_objects(store: &dyn Store, path: &str) -> bool {
    store.list(path).is_ok_and(|listing| !listing.objects.is_empty() || !listing.folders.is_empty())
}

/// Removes the Zarr store at a location; of a symbolic link to one, the link alone. Returns false if there is none.
///
/// # Errors
/// Those of the system or the store; `NC_EINVAL` for a group or an array within a store, because the metadata of the store would still name
/// it.
pub fn remove_zarr_store(location: &Location) -> Result<bool> {
    match location {
        Location::Path(path) if !is_zarr_store(path) => Ok(false),
        Location::Path(path) if path.is_symlink() => {
            let removed = fs::remove_file(path);
            removed.map(|()| true).map_err(|error| Error::system(error, path.display()))
        }
        Location::Path(path)
            if fs::canonicalize(path).is_ok_and(|path| path.parent().is_some_and(is_zarr_store)) =>
        {
            let what = format!(
                "{}: it is a part of the Zarr store around it, and cannot be removed alone",
                path.display()
            );
            Err(Error::new(Code::EINVAL, what))
        }
        Location::Path(path) => {
            let removed = empty(path).and_then(|()| fs::remove_dir(path));
            removed.map(|()| true).map_err(|error| Error::system(error, path.display()))
        }
        Location::Object { .. } => {
            let (store, path) = store(location, false)?;
            let is_store = has_root(&store.list(&path)?);
            if is_store {
                make_room(&*store, &path, true)?;
            }
            Ok(is_store)
        }
        _ => Ok(false),
    }
}

/// Makes room for a new store at a location: nothing is there afterwards. A store that was there is removed if `clobber`.
///
/// # Errors
/// `NC_EEXIST` for what is there if not `clobber`; `ENOTEMPTY` for a folder of other files than those of a store, which is replaced in no
/// case. `NC_EINVAL` for a location that is neither a path nor an object of a store.
pub(crate) fn new_store(
    location: &Location,
    clobber: bool,
    durable: bool,
) -> Result<(Arc<dyn Store>, String)> {
    let exists = |what: &str| Error::new(Code::EEXIST, what.to_string());
    if let Location::Path(path) = location {
        let path = as_folder(path);
        let failed = |error: std::io::Error| Error::system(error, path.display());
        match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(about) if !about.is_dir() && !clobber => return Err(exists("it is a file")),
            Ok(about) if !about.is_dir() => fs::remove_file(path).map_err(failed)?,
            Ok(_) => {}
        }
        let store = DirectoryStore::create(path)?.durable(durable);
        store.sync_name()?;
        check_replaceable(&store, "", clobber)?;
        empty(path).map_err(failed)?;
        return Ok((Arc::new(store), String::new()));
    }
    let (store, path) = match location {
        Location::Object { .. } => store(location, durable)?,
        _ => {
            return Err(Error::new(
                Code::EINVAL,
                "no Zarr store can be made there: only in a folder or in an object store",
            ));
        }
    };
    make_room(&*store, &path, clobber)?;
    Ok((store, path))
}

/// Makes room for a new store in a zip file, which is written when it is committed.
///
/// # Errors
/// `NC_EEXIST` for what is there if not `clobber`; `EISDIR` for a folder; `NC_ENOTBUILT` for a location that is no path; those of [`ZipDraft::create`].
pub(crate) fn new_zip(location: &Location, clobber: bool, durable: bool) -> Result<(Arc<dyn Store>, String)> {
    let Location::Path(path) = location else {
        let what = "zip files are made at a path only: make it there, and put it with nccopy";
        return Err(Error::new(Code::ENOTBUILT, what));
    };
    if path.is_dir() {
        return Err(Error::new(errno::ISDIR, "it is a folder, where a zip file is to be made"));
    }
    let draft = if clobber { ZipDraft::create(path) } else { ZipDraft::create_new(path) };
    Ok((Arc::new(draft?.durable(durable)), String::new()))
}

/// Empties a folder, of which the metadata goes first: what is half removed must not look like a store. Links are removed, and not what
/// they lead to.
fn empty(folder: &Path) -> std::io::Result<()> {
    for root in ROOTS {
        match fs::remove_file(folder.join(root)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Removes the store at a path of another one, if there is one.
fn make_room(store: &dyn Store, path: &str, clobber: bool) -> Result<()> {
    if !check_replaceable(store, path, clobber)? {
        return Ok(());
    }
    // What is half removed must not look like a store.
    for root in ROOTS {
        store.delete(&within(path, root))?;
    }
    remove(store, path)
}

/// Returns the error of making a store in a folder with other files than those of a store.
pub fn no_store_to_replace() -> Error {
    Error::new(errno::NOTEMPTY, "other files than those of a Zarr store are there, which are not replaced")
}

/// Checks that nothing but a store that may be replaced is at a path. Returns false if nothing is there.
fn check_replaceable(store: &dyn Store, path: &str, clobber: bool) -> Result<bool> {
    let listing = store.list(path)?;
    if listing.objects.is_empty() && listing.folders.is_empty() {
        return Ok(false);
    }
    // The attributes come first: alone they are of a store that could not be made.
    let is_begun = listing.folders.is_empty() && listing.objects == [".zattrs"];
    let is_store = is_begun || has_root(&listing);
    match (is_store, clobber) {
        (true, true) => {}
        (true, false) => return Err(Error::new(Code::EEXIST, "a Zarr store is there")),
        (false, false) => return Err(no_store_to_replace().with_code(Code::EEXIST)),
        (false, true) => return Err(no_store_to_replace()),
    }
    Ok(true)
}

/// Removes all objects in a folder.
fn remove(store: &dyn Store, folder: &str) -> Result<()> {
    let mut folders = vec![folder.to_string()];
    while let Some(folder) = folders.pop() {
        let listing = store.list(&folder)?;
        listing.objects.iter().try_for_each(|object| store.delete(&within(&folder, object)))?;
        folders.extend(listing.folders.iter().map(|name| within(&folder, name)));
    }
    Ok(())
}

/// An empty path is the folder of the process.
fn as_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
