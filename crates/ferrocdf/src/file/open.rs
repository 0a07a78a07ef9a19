//! Opening files and making new ones.

use std::path::Path;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_model::{Container, Format, Model};
use ferrocdf_store::{
    Blob, BlobMut, Durable, FileBlob, MemoryBlob, MetadataViews, ObjectDraft, ReadAhead, ReplaceableFile,
    WriteBehind, read_optimistically,
};
use ferrocdf_zarr::{Conflicts, Version};

use super::{File, FileMut, State, WriteTarget, in_file};
use crate::driver::{Context, Driver, Opened};
use crate::drivers;
use crate::location::Location;
use crate::nczarr::{self, NcZarrWriter};
use crate::options::{AppendOptions, CreateOptions, OpenOptions, check_sync_setting};

impl File {
    /// Opens a file for reading, as what its content says it is.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a file for reading with options.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
        Self::open_location(&Location::Path(path.as_ref().to_path_buf()), options)
    }

    /// Opens the bytes of a file in memory for reading.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        Self::from_bytes_with(bytes, &OpenOptions::default())
    }

    /// Opens the bytes of a file in memory for reading, with options.
    pub fn from_bytes_with(bytes: Vec<u8>, options: &OpenOptions) -> Result<File> {
        Self::open_location(&Location::bytes(bytes), options)
    }

    /// Opens what another blob than a file of the system holds, for reading. Small requests come in any order: wrap it in
    /// [`ReadAhead`] if each costs some microseconds. Of a blob whose cost is that of another machine, pages are kept.
    pub fn from_blob(blob: Arc<dyn Blob>, options: &OpenOptions) -> Result<File> {
        Self::open_location(&Location::Blob(blob), options)
    }

    /// Opens the dataset at a location for reading.
    ///
    /// Fails with `NC_ENOTBUILT` for a URL without the feature `remote`, with `NC_ENOTNC` for what no driver knows.
    pub fn open_location(location: &Location, options: &OpenOptions) -> Result<File> {
        let asks_for_hdf_eos = matches!(location, Location::Url(url) if url.asks_for_hdf_eos());
        let asks_for_all = match location {
            Location::Url(url) => {
                url.asks_for_all_of_hdf4().map_err(|error| error.at(location.name().display()))?
            }
            _ => false,
        };
        let options = &options
            .clone()
            .hdf_eos(options.hdf_eos || asks_for_hdf_eos)
            .hdf4_all(options.hdf4_all || asks_for_all);
        let location = &*location.resolved()?;
        let opened = opened(location, options)?;
        let name = location.name();
        let state = match location {
            // Bytes in memory have no name that would say anything.
            Location::Memory(_) => State::open(opened, location, options),
            _ => in_file(&name, State::open(opened, location, options)),
        };
        Ok(File::new(&name, state?))
    }

    /// A dataset that is read through a driver.
    pub(crate) fn of_driver(name: &Path, driver: Box<dyn Driver>, model: Model) -> File {
        File::new(name, State::opened(Opened::ReadOnly(driver), model))
    }
}

impl State {
    /// A file that is read, from what [`opened`] returned.
    pub(super) fn open(
        (blob, views): (Arc<dyn Blob>, Option<MetadataViews>),
        location: &Location,
        options: &OpenOptions,
    ) -> Result<State> {
        let context = Context { views, ..context(location, options) };
        let open = || {
            if let Some(views) = &context.views {
                views.metadata.forget();
            }
            drivers::open(blob.clone(), &context)
        };
        let ((driver, model), seen) = match location {
            Location::Path(_) | Location::Object { .. } => read_optimistically(&*blob, open)?,
            _ => (open()?, None),
        };
        let mut state = State::opened(Opened::ReadOnly(driver), model);
        if let (Location::Path(path), true) = (location, state.model().format().is_classic_file()) {
            state.origin = std::path::absolute(path).ok().map(|path| (path, options.clone()));
        }
        state.seen = seen;
        Ok(state)
    }
}

/// Returns the bytes of a dataset as a reader with these options reads them, and the views for [`Context::views`].
pub(super) fn opened(
    location: &Location,
    options: &OpenOptions,
) -> Result<(Arc<dyn Blob>, Option<MetadataViews>)> {
    match options.all_attributes && !options.shared {
        true => location.blob_and_views(),
        false => location.blob(options.shared).map(|blob| (blob, None)),
    }
}

/// Returns the context for a driver. Files that bytes in memory refer to are looked for beside the location in the options.
fn context<'a>(location: &'a Location, options: &'a OpenOptions) -> Context<'a> {
    let beside = match location {
        Location::Memory(_) | Location::Blob(_) => options.beside.as_ref().unwrap_or(location),
        _ => location,
    };
    let OpenOptions { allow_missing, all_attributes, hdf_eos, hdf4_all, .. } = *options;
    let resolver = beside.resolver();
    Context {
        location,
        beside,
        views: None,
        resolver,
        allow_missing,
        all_attributes,
        hdf_eos,
        hdf4_all,
        durable: false,
    }
}

impl FileMut {
    /// Makes a new file.
    ///
    /// Fails with `NC_EEXIST` if there is one and `clobber` is off.
    pub fn create(path: impl AsRef<Path>, options: &CreateOptions) -> Result<FileMut> {
        check_sync_setting()?;
        let path = path.as_ref();
        if let Some(version) = zarr_version(options.format) {
            return Self::create_store(&Location::Path(path.to_path_buf()), version, options);
        }
        let write = in_file(path, drivers::writer_of(options.format))?;
        // A file that another one writes must not be emptied, whatever is to be in its place.
        if options.clobber && path.is_file() {
            in_file(path, FileBlob::open_mut(path)?.lock_for_writing())?;
        }
        let blob = if options.clobber { FileBlob::create(path) } else { FileBlob::create_new(path) };
        let blob = blob.map_err(exists_if_new(options))?;
        if !write.replaces_file {
            in_file(path, blob.lock_for_writing())?;
        }
        if options.durable {
            in_file(path, blob.sync_name())?;
        }
        let blob = buffered(blob, write.replaces_file, options.durable);
        let driver = in_file(path, (write.create)(blob, options.format))?;
        Ok(FileMut::new(File::new(path, State::created(driver, options)), WriteTarget::Disk))
    }

    /// Makes a new file at a location: a path, or the URL or store of an object.
    ///
    /// An object is written to a temporary file in the folder for such files, and put in its store by [`FileMut::sync`] and
    /// [`FileMut::close`]. Until then readers see the object that was there before; a program that ends without either leaves it
    /// as it was.
    ///
    /// The fragment of a URL (`#mode=nczarr`) asks for a Zarr store, whatever the format is; so does a name that ends in `.zarr` or
    /// `.zarr.zip` where the format is [`Format::NETCDF4`]. [`FileMut::create`] makes what the format says.
    ///
    /// # Errors
    /// `NC_EEXIST` if there is one and `clobber` is off; `NC_ENOTBUILT` for a URL without the feature `remote`; `NC_EINVAL` for bytes
    /// in memory and other blobs.
    pub fn create_at(location: &Location, options: &CreateOptions) -> Result<FileMut> {
        if let Some((format, zarr)) = location.zarr_for(options.format, options.zarr) {
            let options = CreateOptions { format, zarr, ..options.clone() };
            return Self::create_at(&*location.resolved()?, &options);
        }
        let place = location.resolved()?;
        if let (Location::Object { .. }, Some(version)) = (&*place, zarr_version(options.format)) {
            return Self::create_store(&place, version, options);
        }
        match &*place {
            Location::Path(path) => Self::create(path, options),
            Location::Object { store, key } => {
                let name = location.name();
                let write = in_file(&name, drivers::writer_of(options.format))?;
                let draft = ObjectDraft::new(store.clone(), key.clone(), !options.clobber);
                let draft = Arc::new(draft.map_err(exists_if_new(options))?);
                let blob = Box::new(WriteBehind::new(ReadAhead::new(draft.clone())));
                let driver = in_file(&name, (write.create)(blob, options.format))?;
                Ok(FileMut::new(
                    File::new(&name, State::created(driver, options)),
                    WriteTarget::Object(draft),
                ))
            }
            other => {
                let what = "no new file can be made there: only at a path, or as an object of a store";
                Err(Error::new(Code::EINVAL, what).at(other.name().display()))
            }
        }
    }

    /// Opens an existing file for reading and writing.
    pub fn append(path: impl AsRef<Path>) -> Result<FileMut> {
        Self::append_with(path, &AppendOptions::default())
    }

    /// Opens an existing file for reading and writing, with options.
    pub fn append_with(path: impl AsRef<Path>, options: &AppendOptions) -> Result<FileMut> {
        let path = path.as_ref();
        check_sync_setting()?;
        let location = Location::Path(path.to_path_buf());
        if path.is_dir() {
            return Self::append_store(&location, options);
        }
        let blob = FileBlob::open_mut(path)?;
        let probe = drivers::find(&blob, &location);
        let replaces_file =
            probe.as_ref().is_ok_and(|probe| probe.write.is_some_and(|write| write.replaces_file));
        // A file that another process writes may not say yet what it is.
        if !replaces_file {
            in_file(path, blob.lock_for_writing())?;
        }
        let probe = in_file(path, probe)?;
        let blob = buffered(blob, replaces_file, options.durable);
        let reading = OpenOptions::default();
        let context = Context { durable: options.durable, ..context(&location, &reading) };
        let (driver, model) = in_file(path, drivers::open_mut(blob, &probe, &context))?;
        Ok(FileMut::new(File::new(path, State::opened(Opened::Writable(driver), model)), WriteTarget::Disk))
    }

    /// Opens the dataset at a location for reading and writing: a file, or a Zarr store.
    ///
    /// # Errors
    /// `NC_EPERM` for a file that is an object of a store, which is replaced whole and not changed in place; those of
    /// [`FileMut::append`].
    pub fn append_at(location: &Location, options: &AppendOptions) -> Result<FileMut> {
        let asks_to_merge = matches!(location, Location::Url(url) if url.asks_to_merge());
        let options = &options.clone().merge(options.merge || asks_to_merge);
        match &*location.resolved()? {
            Location::Path(path) => Self::append_with(path, options),
            place @ Location::Object { .. } => Self::append_store(place, options).map_err(|error| match error.code {
                Code::ENOTNC | Code::ENOOBJECT => {
                    let what = "objects are replaced whole, and not changed in place: copy it to a file, change that, and put it with nccopy";
                    Error::new(Code::EPERM, what).at(place.name().display())
                }
                _ => error,
            }),
            other => {
                let what = "it cannot be changed there: only a file or a Zarr store can";
                Err(Error::new(Code::EPERM, what).at(other.name().display()))
            }
        }
    }

    /// Makes a new Zarr store in a folder, in a zip file, or under a key of another store.
    fn create_store(location: &Location, version: Version, options: &CreateOptions) -> Result<FileMut> {
        let name = location.name();
        let is_zip = options.zarr.zip || location.is_zip();
        let made = match location {
            Location::Path(path) if !is_zip && !is_empty_folder(path) => std::path::absolute(path).ok(),
            _ => None,
        };
        let new = match is_zip {
            true => nczarr::new_zip(location, options.clobber, options.durable),
            false => nczarr::new_store(location, options.clobber, options.durable),
        };
        let (store, path) = in_file(&name, new)?;
        let driver = Box::new(in_file(&name, NcZarrWriter::create(store, path, version, options.zarr))?);
        Ok(FileMut::new(File::new(&name, State::created(driver, options)), WriteTarget::Store { made }))
    }

    /// Opens a Zarr store for reading and writing.
    fn append_store(location: &Location, options: &AppendOptions) -> Result<FileMut> {
        let name = location.name();
        let reading = OpenOptions::default();
        let context = Context { durable: options.durable, ..context(location, &reading) };
        let conflicts = if options.merge { Conflicts::Merge } else { Conflicts::Refuse };
        let (driver, model) = in_file(&name, NcZarrWriter::open(&context, conflicts))?;
        let state = State::opened(Opened::Writable(Box::new(driver)), model);
        Ok(FileMut::new(File::new(&name, state), WriteTarget::Store { made: None }))
    }

    /// Makes a new file in memory; [`FileMut::into_bytes`] gives its bytes.
    pub fn in_memory(options: &CreateOptions) -> Result<FileMut> {
        let memory = Arc::new(MemoryBlob::default());
        let driver = (drivers::writer_of(options.format)?.create)(Box::new(memory.clone()), options.format)?;
        Ok(FileMut::new(
            File::new(Path::new("memory"), State::created(driver, options)),
            WriteTarget::Memory(memory),
        ))
    }

    /// Opens what a blob holds for reading and writing, without buffers.
    #[cfg(test)]
    pub(crate) fn append_blob(blob: Arc<dyn BlobMut>) -> Result<FileMut> {
        Self::append_in_place(Box::new(blob.clone()), &Location::Blob(blob), &OpenOptions::default())
    }

    /// Opens the bytes of a file in memory for reading and writing.
    pub fn append_bytes(bytes: Vec<u8>) -> Result<FileMut> {
        Self::append_bytes_within(bytes, u64::MAX, None)
    }

    /// [`FileMut::append_bytes`] of a file that cannot grow beyond `limit` bytes: that fails with `NC_EINMEMORY`. Files that
    /// it names are looked for beside the location that it comes from.
    pub fn append_bytes_within(bytes: Vec<u8>, limit: u64, beside: Option<Location>) -> Result<FileMut> {
        let memory = Arc::new(MemoryBlob::new(bytes).limited(limit));
        let options = OpenOptions { beside, ..OpenOptions::default() };
        let location = Location::Memory(memory.clone());
        let mut file = Self::append_in_place(Box::new(memory.clone()), &location, &options)?;
        file.target = WriteTarget::Memory(memory);
        Ok(file)
    }

    /// Opens the bytes at a location for reading and writing, without buffers. The caller owns the bytes, so no lock is taken.
    pub(crate) fn append_in_place(
        blob: Box<dyn BlobMut>,
        location: &Location,
        options: &OpenOptions,
    ) -> Result<FileMut> {
        let probe = drivers::find(&*blob, location)?;
        let (driver, model) = drivers::open_mut(blob, &probe, &context(location, options))?;
        let state = State::opened(Opened::Writable(driver), model);
        Ok(FileMut::new(File::new(&location.name(), state), WriteTarget::Disk))
    }
}

/// Returns the version of Zarr that a format is.
fn zarr_version(format: Format) -> Option<Version> {
    match format.container() {
        Container::ZarrV2 => Some(Version::V2),
        Container::ZarrV3 => Some(Version::V3),
        _ => None,
    }
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Returns what gives the error of a file that exists the code `NC_EEXIST`, if it must be a new one.
fn exists_if_new(options: &CreateOptions) -> impl Fn(Error) -> Error {
    let must_be_new = !options.clobber;
    move |error| match error.code {
        errno::EXIST if must_be_new => error.with_code(Code::EEXIST),
        _ => error,
    }
}

/// A file to be written, through buffers. A file that is replaced as a whole has no other way to change more than one write
/// does at one instant.
fn buffered(blob: FileBlob, replaces_file: bool, is_durable: bool) -> Box<dyn BlobMut> {
    fn behind(blob: impl BlobMut + 'static) -> Box<dyn BlobMut> {
        Box::new(WriteBehind::new(ReadAhead::new(blob)))
    }
    match (replaces_file, is_durable) {
        (false, false) => behind(blob),
        (false, true) => behind(Durable::new(blob)),
        (true, false) => behind(ReplaceableFile::new(blob)),
        (true, true) => behind(Durable::new(ReplaceableFile::new(blob))),
    }
}
