//! Open files.
//!
//! A [`File`] reads, a [`FileMut`] writes too. Both are handles on one shared state behind one lock per file: any
//! number of threads read at once, a change waits for them. Two threads on two files never meet.
//!
//! Defining is lazy: changes to the model collect in a draft, and the first data call, [`FileMut::commit`],
//! [`FileMut::sync`] or [`FileMut::close`] makes the file say them.

mod define;
mod open;
mod refresh;
mod state;

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf_bytes::Result;
use ferrocdf_model::{Format, Model};
use ferrocdf_store::{MemoryBlob, ObjectDraft};

pub(crate) use refresh::may_pass;
pub(crate) use state::State;

/// A file open for reading. Cloning gives another handle on the same open file.
#[derive(Clone)]
pub struct File {
    shared: Arc<Shared>,
}

/// A file open for reading and writing.
///
/// Dropping it closes it; errors are then lost, so call [`FileMut::close`].
pub struct FileMut {
    file: File,
    target: WriteTarget,
    open: bool,
}

/// Where the bytes of a file that is written go.
enum WriteTarget {
    /// To the file of the system.
    Disk,
    /// To memory, which [`FileMut::into_bytes`] gives away.
    Memory(Arc<MemoryBlob>),
    /// To the objects of a Zarr store.
    Store {
        /// The folder that was made for a new store, or emptied of an old one.
        made: Option<PathBuf>,
    },
    /// To an object of a store, which takes them when they are synced.
    Object(Arc<ObjectDraft>),
}

struct Shared {
    path: PathBuf,
    state: RwLock<State>,
}

impl File {
    fn new(path: &Path, state: State) -> File {
        File { shared: Arc::new(Shared { path: path.to_path_buf(), state: RwLock::new(state) }) }
    }

    /// The path it was opened with.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// The kind of file.
    pub fn format(&self) -> Format {
        self.read_state().model().format()
    }

    /// Groups, dimensions, types, variables and attributes as they are now, changes not yet committed included.
    pub fn model(&self) -> Arc<Model> {
        self.read_state().view().clone()
    }

    /// Looks at what [`File::model`] gives, without a share of it: for callers who look often and briefly. The file is
    /// locked meanwhile: `look` must not use it but through the model it is given.
    pub fn look<R>(&self, look: impl FnOnce(&Model) -> R) -> R {
        look(self.read_state().view())
    }

    /// How many bytes the file is shorter than it says it should be.
    pub fn missing_bytes(&self) -> Result<u64> {
        self.named(self.read_state().driver().inspect().missing_bytes())
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> Result<u64> {
        self.read_state().driver().blob().size()
    }

    /// All bytes of the file, as they are now; see [`FileMut::sync`].
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let state = self.read_state();
        let blob = state.driver().blob();
        let mut bytes = crate::elements::zeros(usize::try_from(blob.size()?).unwrap_or(usize::MAX))?;
        self.named(blob.read_exact_at(0, &mut bytes))?;
        Ok(bytes)
    }

    /// Whether both are handles on one open file.
    pub(crate) fn is_same_file(&self, other: &File) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Where the shared state lies: an order among open files.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Ends define mode and gives every element a value, so that the bytes of the file say all.
    pub(crate) fn complete(&self) -> Result<()> {
        let mut state = self.write_state();
        let done = state
            .commit()
            .and_then(|()| state.model().clone().var_ids().try_for_each(|var| state.fill_unwritten(var)));
        self.named(done)
    }

    // A panic while the lock is held leaves a file that may be half changed, but memory that is sound; going on gives
    // the caller an error or data, never a second panic.
    pub(crate) fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.shared.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.shared.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names this file in an error.
    pub(crate) fn named<T>(&self, result: Result<T>) -> Result<T> {
        in_file(self.path(), result)
    }
}

impl FileMut {
    fn new(file: File, target: WriteTarget) -> FileMut {
        FileMut { file, target, open: true }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path())
            .field("format", &self.format().kind_name())
            .finish()
    }
}

impl fmt::Debug for FileMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl Deref for FileMut {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for FileMut {
    fn drop(&mut self) {
        if self.open {
            // An error has nowhere to go; `close` reports it.
            let _ = self.finish();
        }
    }
}

/// Names the file in an error, unless the store has named it.
fn in_file<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| {
        let name = path.display().to_string();
        let is_named = error.what.strip_prefix(&name).is_some_and(|rest| rest.starts_with(": "));
        if is_named { error } else { error.at(name) }
    })
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<File>();
    shared_by_threads::<FileMut>();
};
