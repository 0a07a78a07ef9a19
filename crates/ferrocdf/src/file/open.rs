//! Opening files and making new ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Result};
use ferrocdf_store::{
    Blob, BlobMut, Durable, FileBlob, MemoryBlob, ReadAhead, ReplaceableFile, WriteBehind,
    read_optimistically,
};

use super::{File, FileMut, State};
use crate::driver::Opened;
use crate::drivers;
use crate::options::{AppendOptions, CreateOptions, OpenOptions, check_sync_setting};

impl File {
    /// Opens a file for reading, as what its content says it is.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a file for reading with options.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
        let path = path.as_ref();
        let state = State::open(FileBlob::open(path)?, path, options);
        Ok(File::new(path, drivers::in_file(path, state)?))
    }

    /// Opens the bytes of a file in memory for reading.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        Self::from_bytes_with(bytes, &OpenOptions::default())
    }

    /// Opens the bytes of a file in memory for reading, with options.
    pub fn from_bytes_with(bytes: Vec<u8>, options: &OpenOptions) -> Result<File> {
        let blob = Arc::new(MemoryBlob::new(bytes));
        let (driver, model) = drivers::open(blob, options.beside.as_deref(), options)?;
        Ok(File::new(Path::new("memory"), State::opened(Opened::ReadOnly(driver), model)))
    }

    /// Opens what another blob than a file of the system holds, for reading. Small requests come in any order: wrap it in
    /// [`ReadAhead`] if each costs time.
    pub fn from_blob(blob: Arc<dyn Blob>, options: &OpenOptions) -> Result<File> {
        let path = PathBuf::from(blob.name());
        let (driver, model) =
            drivers::in_file(&path, drivers::open(blob, options.beside.as_deref(), options))?;
        Ok(File::new(&path, State::opened(Opened::ReadOnly(driver), model)))
    }
}

impl State {
    /// A file that is read.
    pub(super) fn open(blob: FileBlob, path: &Path, options: &OpenOptions) -> Result<State> {
        let blob: Arc<dyn Blob> =
            if options.shared { Arc::new(blob) } else { Arc::new(ReadAhead::new(blob)) };
        let done = read_optimistically(&*blob, || drivers::open(blob.clone(), Some(path), options));
        let ((driver, model), seen) = done?;
        let mut state = State::opened(Opened::ReadOnly(driver), model);
        if state.model().format().is_classic_file() {
            state.origin = std::path::absolute(path).ok().map(|path| (path, options.clone()));
        }
        state.seen = seen;
        Ok(state)
    }
}

impl FileMut {
    /// Makes a new file.
    ///
    /// Fails with `NC_EEXIST` if there is one and `clobber` is off.
    pub fn create(path: impl AsRef<Path>, options: &CreateOptions) -> Result<FileMut> {
        check_sync_setting()?;
        let path = path.as_ref();
        // A file that another one writes must not be emptied, whatever is to be in its place.
        if options.clobber && path.is_file() {
            drivers::in_file(path, FileBlob::open_mut(path)?.lock_for_writing())?;
        }
        let blob = if options.clobber { FileBlob::create(path) } else { FileBlob::create_new(path) };
        let blob = blob.map_err(|error| match error.code {
            Code(errno) if !options.clobber && errno == EEXIST => error.with_code(Code::EEXIST),
            _ => error,
        })?;
        if !options.format.is_classic_file() {
            drivers::in_file(path, blob.lock_for_writing())?;
        }
        if options.durable {
            drivers::in_file(path, blob.sync_name())?;
        }
        let blob = buffered(blob, options.format.is_classic_file(), options.durable);
        let driver = drivers::in_file(path, drivers::create(blob, options.format))?;
        Ok(FileMut::new(File::new(path, State::created(driver, options)), None))
    }

    /// Opens an existing file for reading and writing.
    pub fn append(path: impl AsRef<Path>) -> Result<FileMut> {
        Self::append_with(path, &AppendOptions::default())
    }

    /// Opens an existing file for reading and writing, with options.
    pub fn append_with(path: impl AsRef<Path>, options: &AppendOptions) -> Result<FileMut> {
        let path = path.as_ref();
        check_sync_setting()?;
        let blob = FileBlob::open_mut(path)?;
        let is_classic = drivers::is_classic(&blob);
        if !is_classic {
            drivers::in_file(path, blob.lock_for_writing())?;
        }
        let blob = buffered(blob, is_classic, options.durable);
        let (driver, model) = drivers::in_file(path, drivers::open_mut(blob, Some(path)))?;
        Ok(FileMut::new(File::new(path, State::opened(Opened::Writable(driver), model)), None))
    }

    /// Makes a new file in memory; [`FileMut::into_bytes`] gives its bytes.
    pub fn in_memory(options: &CreateOptions) -> Result<FileMut> {
        let memory = Arc::new(MemoryBlob::default());
        let driver = drivers::create(Box::new(memory.clone()), options.format)?;
        Ok(FileMut::new(File::new(Path::new("memory"), State::created(driver, options)), Some(memory)))
    }

    /// Opens what a blob holds for reading and writing, without buffers.
    #[cfg(test)]
    pub(crate) fn append_blob(blob: Box<dyn BlobMut>) -> Result<FileMut> {
        let (driver, model) = drivers::open_mut(blob, None)?;
        let state = State::opened(Opened::Writable(driver), model);
        Ok(FileMut::new(File::new(Path::new("blob"), state), None))
    }

    /// Opens the bytes of a file in memory for reading and writing.
    pub fn append_bytes(bytes: Vec<u8>) -> Result<FileMut> {
        Self::append_bytes_within(bytes, u64::MAX, None)
    }

    /// [`FileMut::append_bytes`] of a file that cannot grow beyond `limit` bytes: that fails with `NC_EINMEMORY`. Files that
    /// it names are looked for beside the path that it comes from.
    pub fn append_bytes_within(bytes: Vec<u8>, limit: u64, beside: Option<&Path>) -> Result<FileMut> {
        let memory = Arc::new(MemoryBlob::new(bytes).limited(limit));
        let (driver, model) = drivers::open_mut(Box::new(memory.clone()), beside)?;
        let state = State::opened(Opened::Writable(driver), model);
        Ok(FileMut::new(File::new(Path::new("memory"), state), Some(memory)))
    }
}

/// A file to be written, through buffers. Classic files can be replaced as a whole: they have no other way to change more
/// than one write does at one instant.
fn buffered(blob: FileBlob, is_classic: bool, is_durable: bool) -> Box<dyn BlobMut> {
    fn behind(blob: impl BlobMut + 'static) -> Box<dyn BlobMut> {
        Box::new(WriteBehind::new(ReadAhead::new(blob)))
    }
    match (is_classic, is_durable) {
        (false, false) => behind(blob),
        (false, true) => behind(Durable::new(blob)),
        (true, false) => behind(ReplaceableFile::new(blob)),
        (true, true) => behind(Durable::new(ReplaceableFile::new(blob))),
    }
}

/// `EEXIST` of the operating system.
const EEXIST: i32 = 17;
