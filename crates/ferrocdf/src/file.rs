//! Open files.
//!
//! A [`File`] reads, a [`FileMut`] writes too. Both are handles on one shared state behind one lock per file: any
//! number of threads read at once, a change waits for them. Two threads on two files never meet.
//!
//! Defining is lazy: changes to the model collect in a draft, and the first data call, [`FileMut::commit`],
//! [`FileMut::sync`] or [`FileMut::close`] makes the file say them.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf_array::{Array, In, RangeCheck, ShortRun, has_unwritten};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::Alignment;
use ferrocdf_model::{Atomic, Chunking, DimId, Format, Model, Type, VarId};
use ferrocdf_store::{
    Blob, BlobMut, ChangeToken, Durable, FileBlob, MemoryBlob, ReadAhead, ReplaceableFile, WriteBehind,
    is_stale, read_optimistically, retry,
};

use crate::driver::{Driver, Part, Written};
use crate::drivers;
use crate::options::{AppendOptions, CreateOptions, OpenOptions, SpaceOptions, check_sync_setting};

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
    /// Where the bytes of a file in memory are.
    memory: Option<Arc<MemoryBlob>>,
    open: bool,
}

struct Shared {
    path: PathBuf,
    state: RwLock<State>,
}

/// What is known of an open file.
pub(crate) struct State {
    /// What the file says.
    model: Arc<Model>,
    /// What it shall say, while there is a difference.
    draft: Option<Arc<Model>>,
    pub(crate) driver: Box<dyn Driver>,
    /// Where data lies, by `VarId`; asked of the driver once per variable.
    arrays: Vec<OnceLock<Located>>,
    /// The fill mode that new variables get.
    no_fill: bool,
    /// A new file whose first commit is still to come.
    is_new: bool,
    /// The change token of a file that is read and that others may write.
    seen: Option<ChangeToken>,
    /// The path, from the root on, of a classic file that is read, which writers may replace, and how it was opened.
    origin: Option<(PathBuf, OpenOptions)>,
}

/// The cached array of a variable.
struct Located {
    array: Array,
    /// True if the elements are of a user-defined type.
    has_user_type: bool,
    /// True if the variable has unwritten elements. Set by the first question, and only in files that are open for reading.
    has_unwritten: OnceLock<bool>,
}

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
        Ok(File::new(Path::new("memory"), State::opened(driver, model)))
    }

    /// Opens what another blob than a file of the system holds, for reading. Small requests come in any order: wrap it in
    /// [`ReadAhead`] if each costs time.
    pub fn from_blob(blob: Arc<dyn Blob>, options: &OpenOptions) -> Result<File> {
        let path = PathBuf::from(blob.name());
        let (driver, model) =
            drivers::in_file(&path, drivers::open(blob, options.beside.as_deref(), options))?;
        Ok(File::new(&path, State::opened(driver, model)))
    }

    fn new(path: &Path, state: State) -> File {
        File { shared: Arc::new(Shared { path: path.to_path_buf(), state: RwLock::new(state) }) }
    }

    /// The path it was opened with.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// The kind of file.
    pub fn format(&self) -> Format {
        self.read_state().model.format()
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
        self.named(self.read_state().driver.missing_bytes())
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> Result<u64> {
        self.read_state().driver.blob().size()
    }

    /// Sees what another process did to the file since it was opened: new records above all. A classic file that a writer
    /// replaced is opened again. A file that is open for writing is not looked at again.
    pub fn refresh(&self) -> Result<()> {
        let done = retry(
            || {
                let mut state = self.write_state();
                if state.driver.blob_mut().is_ok() {
                    return Ok(());
                }
                if let Some(replacement) = state.open_replacement()? {
                    *state = replacement;
                    return Ok(());
                }
                let seen = state.driver.blob().change_token();
                let model = state.driver.refresh()?;
                state.set_model(model);
                state.seen = seen;
                Ok(())
            },
            |_| {
                let state = self.read_state();
                is_stale(state.seen.as_ref(), state.driver.blob())
            },
        );
        self.named(done)
    }

    /// Reads something; if that fails and somebody has changed the file, with the places that things have then. The
    /// model stays as it was opened: lengths do not change under whoever looked at them.
    pub(crate) fn reading<T>(&self, mut read: impl FnMut(&State) -> Result<T>) -> Result<T> {
        let done = retry(|| read(&self.read_state()), |error| may_pass(error) && self.look_again());
        self.named(done)
    }

    /// Looks again where things are, if somebody has changed the file. True if what failed may go well now.
    fn look_again(&self) -> bool {
        let is_changed = {
            let state = self.read_state();
            is_stale(state.seen.as_ref(), state.driver.blob())
        };
        is_changed && {
            let mut state = self.write_state();
            let (seen, model) = (state.driver.blob().change_token(), state.model.clone());
            match state.driver.look_again(&model) {
                Ok(true) => {
                    state.arrays = no_arrays(&model);
                    state.seen = seen;
                    true
                }
                Ok(false) => false,
                // It may be half-way through the next change.
                Err(_) => true,
            }
        }
    }

    /// All bytes of the file, as they are now; see [`FileMut::sync`].
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let state = self.read_state();
        let blob = state.driver.blob();
        let mut bytes = crate::data::zeros(usize::try_from(blob.size()?).unwrap_or(usize::MAX))?;
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
        let state = &mut *state;
        let done = state
            .commit(&Alignment::default())
            .and_then(|()| state.model.var_ids().try_for_each(|var| state.driver.finish(&state.model, var)));
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
        drivers::in_file(self.path(), result)
    }
}

/// Whether reading may fail so because of what somebody else wrote.
pub(crate) fn may_pass(error: &Error) -> bool {
    matches!(error.code, Code::EHDFERR | Code::ETRUNC | Code::EFILTER | Code::EVARSIZE | Code::EINTERNAL)
}

/// Arrays of all variables, none of which is known yet.
fn no_arrays(model: &Model) -> Vec<OnceLock<Located>> {
    model.vars().iter().map(|_| OnceLock::new()).collect()
}

impl State {
    /// A file that is read.
    fn open(blob: FileBlob, path: &Path, options: &OpenOptions) -> Result<State> {
        let blob: Arc<dyn Blob> =
            if options.shared { Arc::new(blob) } else { Arc::new(ReadAhead::new(blob)) };
        let done = read_optimistically(&*blob, || drivers::open(blob.clone(), Some(path), options));
        let ((driver, model), seen) = done?;
        let origin = match model.format().is_classic_file() {
            true => std::path::absolute(path).ok().map(|path| (path, options.clone())),
            false => None,
        };
        Ok(State { seen, origin, ..State::opened(driver, model) })
    }

    /// Opens the file that a writer put in the place of this classic one; `None` if there is no other in its place.
    fn open_replacement(&self) -> Result<Option<State>> {
        let Some((path, options)) = self.origin.as_ref().filter(|_| self.driver.blob().is_nameless()) else {
            return Ok(None);
        };
        let blob = match FileBlob::open(path) {
            Err(error) if error.code == Code(ENOENT) => return Ok(None),
            blob => blob?,
        };
        let state = State::open(blob, path, options)?;
        if !state.model.format().is_classic_file() {
            let what = "a file of another format has taken its place; open it again";
            return Err(Error::new(Code::ENOTNC, what));
        }
        Ok(Some(state))
    }

    fn opened(driver: Box<dyn Driver>, model: Model) -> State {
        let arrays = no_arrays(&model);
        State {
            model: Arc::new(model),
            draft: None,
            driver,
            arrays,
            no_fill: false,
            is_new: false,
            seen: None,
            origin: None,
        }
    }

    fn created(driver: Box<dyn Driver>, options: &CreateOptions) -> State {
        let model = Arc::new(Model::new(options.format));
        let (draft, no_fill) = (Some(model.clone()), options.no_fill);
        State { model, draft, driver, arrays: vec![], no_fill, is_new: true, seen: None, origin: None }
    }

    /// What the user sees: the draft, if there is one.
    pub(crate) fn view(&self) -> &Arc<Model> {
        self.draft.as_ref().unwrap_or(&self.model)
    }

    /// What the file says. Only [`State::commit`] makes it what the user sees.
    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub(crate) fn has_draft(&self) -> bool {
        self.draft.is_some()
    }

    /// Where a variable's data lies.
    pub(crate) fn array(&self, var: VarId) -> Result<&Array> {
        self.locate(var).map(|located| &located.array)
    }

    /// True if a variable may have unwritten elements. Reads the chunk index of a variable once.
    pub(crate) fn has_unwritten(&self, var: VarId) -> Result<bool> {
        let located = self.locate(var)?;
        if let Some(&known) = located.has_unwritten.get() {
            return Ok(known);
        }
        let lacks = has_unwritten(&located.array)?;
        // A variable that is written may become longer.
        let is_read_only = self.driver.blob_mut().is_err();
        Ok(if is_read_only { *located.has_unwritten.get_or_init(|| lacks) } else { lacks })
    }

    /// Returns the array of a variable, or `None` if its type is user-defined: the engine must not convert the numbers of
    /// an enumeration.
    #[inline(always)]
    pub(crate) fn plain_array(&self, var: VarId) -> Option<&Array> {
        let known = self.arrays.get(var.index())?.get();
        let located = match known {
            Some(located) => located,
            None => self.locate(var).ok()?,
        };
        (!located.has_user_type).then_some(&located.array)
    }

    fn locate(&self, var: VarId) -> Result<&Located> {
        let Some(cell) = self.arrays.get(var.index()) else {
            return Err(Error::new(Code::EINDEFINE, "the variable is still being defined"));
        };
        match cell.get() {
            Some(located) => Ok(located),
            None => {
                let array = self.driver.array(&self.model, var)?;
                let has_user_type = matches!(self.model.var(var).ty, Type::User(_));
                Ok(cell.get_or_init(|| Located { array, has_user_type, has_unwritten: OnceLock::new() }))
            }
        }
    }

    /// Ends define mode, if it was entered. Fails after a removal that was left half done, since ids that the caller has may
    /// mean other things in the file.
    pub(crate) fn commit(&mut self, alignment: &Alignment) -> Result<()> {
        self.driver.check_ids()?;
        let Some(draft) = &mut self.draft else { return Ok(()) };
        choose_chunks(draft, self.model.vars().len());
        self.driver.commit(&self.model, draft, alignment)?;
        self.model = self.draft.take().expect("seen above");
        self.arrays = no_arrays(&self.model);
        self.is_new = false;
        Ok(())
    }

    /// Finishes or undoes a removal that was left half done. Gives what was removed if it was finished.
    fn recover(&mut self) -> Result<Option<Part>> {
        let Some((model, part)) = self.driver.recover()? else { return Ok(None) };
        self.set_model(model);
        Ok(part)
    }

    /// Takes a part that `find` finds out of the file, which is committed before and after.
    fn remove(&mut self, find: impl Fn(&Model) -> Result<Part>) -> Result<()> {
        let before = self.model.clone();
        if let Some(gone) = self.recover()?
            && find(&before) == Ok(gone)
        {
            return Ok(());
        }
        self.commit(&Alignment::default())?;
        let part = find(&self.model)?;
        let (model, done) = self.driver.remove(&self.model, part)?;
        self.set_model(model);
        done
    }

    /// Takes a model that was read from the file.
    fn set_model(&mut self, model: Model) {
        self.arrays = no_arrays(&model);
        self.model = Arc::new(model);
    }

    /// Makes room for a write of the elements `first..end` of a variable; see [`Driver::before_write`].
    pub(crate) fn before_write(&mut self, var: VarId, first: u64, end: u64, dense: bool) -> Result<()> {
        self.driver.before_write(&self.model, var, first, end, dense)
    }

    /// Writes a short run of elements on the driver's fast path; see [`Driver::write_short`].
    pub(crate) fn write_short(
        &mut self,
        var: VarId,
        run: &ShortRun,
        input: In<'_>,
    ) -> Option<Result<RangeCheck>> {
        self.driver.write_short(&self.model, var, run, input)
    }

    /// Makes the first dimension of `var`, if it is unlimited, at least `len` long.
    pub(crate) fn grow(&mut self, var: VarId, len: u64) -> Result<()> {
        let Some(&dim) = self.model.var(var).dims.first() else { return Ok(()) };
        self.grow_dim(dim, len)
    }

    /// Makes a dimension, if it is unlimited, at least `len` long.
    pub(crate) fn grow_dim(&mut self, dim: DimId, len: u64) -> Result<()> {
        if !self.model.dim(dim).unlimited || self.model.dim(dim).len >= len {
            return Ok(());
        }
        self.driver.grow(dim, len)?;
        self.set_dim_len(dim, len);
        Ok(())
    }

    /// Makes the dimensions of a variable as long again as they were before a write that failed.
    pub(crate) fn ungrow(&mut self, var: VarId, lens: &[u64]) {
        let dims = self.model.var(var).dims.clone();
        for (dim, &len) in dims.into_iter().zip(lens) {
            if self.model.dim(dim).len != len {
                self.driver.ungrow(dim, len);
                self.set_dim_len(dim, len);
            }
        }
    }

    fn set_dim_len(&mut self, dim: DimId, len: u64) {
        Arc::make_mut(&mut self.model).set_dim_len(dim, len);
        let padded = self.driver.is_padded();
        for (at, cell) in self.arrays.iter_mut().enumerate() {
            let dims = &self.model.vars()[at].dims;
            if padded && dims.contains(&dim) {
                *cell = OnceLock::new();
            } else if let Some(located) = cell.get_mut()
                && dims.first() == Some(&dim)
            {
                located.array.shape[0] = len;
            }
        }
    }

    /// Forgets where a variable's data lies if a write moved it, or may have before it failed.
    pub(crate) fn after_write(&mut self, var: VarId, written: Result<Written>) -> Result<RangeCheck> {
        if written.as_ref().map_or(true, |written| written.moved) {
            self.forget_array(var);
        }
        written.map(|written| written.fit)
    }

    /// Forgets where a variable's data lies: that changed.
    pub(crate) fn forget_array(&mut self, var: VarId) {
        if let Some(cell) = self.arrays.get_mut(var.index()) {
            *cell = OnceLock::new();
        }
    }
}

impl Deref for FileMut {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
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
        Ok(FileMut { file: File::new(path, State::created(driver, options)), memory: None, open: true })
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
        Ok(FileMut { file: File::new(path, State::opened(driver, model)), memory: None, open: true })
    }

    /// Makes a new file in memory; [`FileMut::into_bytes`] gives its bytes.
    pub fn in_memory(options: &CreateOptions) -> Result<FileMut> {
        let memory = Arc::new(MemoryBlob::default());
        let driver = drivers::create(Box::new(memory.clone()), options.format)?;
        let file = File::new(Path::new("memory"), State::created(driver, options));
        Ok(FileMut { file, memory: Some(memory), open: true })
    }

    /// Opens what a blob holds for reading and writing, without buffers.
    #[cfg(test)]
    pub(crate) fn append_blob(blob: Box<dyn BlobMut>) -> Result<FileMut> {
        let (driver, model) = drivers::open_mut(blob, None)?;
        Ok(FileMut {
            file: File::new(Path::new("blob"), State::opened(driver, model)),
            memory: None,
            open: true,
        })
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
        let file = File::new(Path::new("memory"), State::opened(driver, model));
        Ok(FileMut { file, memory: Some(memory), open: true })
    }

    /// Changes the model: the draft of what the file shall say. What `change` did before it failed stays done. The file
    /// is locked meanwhile: `change` must not use it but through the model it is given.
    pub fn define<R>(&self, change: impl FnOnce(&mut Model) -> Result<R>) -> Result<R> {
        let mut state = self.file.write_state();
        let state = &mut *state;
        if state.draft.is_none() {
            // Only a writable file may have a draft; saying so now beats saying so when it is committed.
            self.file.named(state.driver.blob_mut().map(drop))?;
            let known_ids = state.driver.check_ids();
            self.file.named(known_ids)?;
        }
        let draft = Arc::make_mut(state.draft.get_or_insert_with(|| state.model.clone()));
        let known = draft.vars().len();
        let result = change(draft);
        if state.no_fill {
            for var in draft.var_ids_from(known) {
                draft.var_mut(var).storage.no_fill |= can_be_undefined(draft, var);
            }
        }
        self.file.named(result)
    }

    /// Sets whether unwritten elements stay undefined, for all variables there are and those to come.
    pub fn set_no_fill(&self, no_fill: bool) -> Result<()> {
        self.file.write_state().no_fill = no_fill;
        self.define(|model| {
            for var in model.var_ids() {
                model.var_mut(var).storage.no_fill = no_fill && can_be_undefined(model, var);
            }
            Ok(())
        })
    }

    /// Chooses how space is taken from now on in a netCDF-4 file; others leave no choice.
    pub fn set_space(&self, space: &SpaceOptions) {
        self.file.write_state().driver.set_space(space);
    }

    /// Ends define mode: the file says what was defined. Data is moved if the header outgrew its place.
    ///
    /// Fails with `NC_EVARSIZE`, before anything is written, if the format cannot hold a variable.
    pub fn commit(&self) -> Result<()> {
        self.commit_aligned(&Alignment::default())
    }

    /// Ends define mode with free space and alignment as asked for (`nc__enddef`).
    pub fn commit_aligned(&self, alignment: &Alignment) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit(alignment).and_then(|()| state.driver.settle());
        self.file.named(done)
    }

    /// Ends define mode as writing does. What was defined may be held back in memory until the next commit, sync or close,
    /// so that a netCDF-4 file that is defined and written by turns is not brought up to date each time.
    pub fn apply(&self) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit(&Alignment::default()).and_then(|()| state.driver.settle_if_due());
        self.file.named(done)
    }

    /// Makes the unlimited first dimension of a variable at least `len` long, as a write that reaches so far does. There
    /// is nothing to do if it is longer, or not unlimited.
    pub fn grow(&self, var: VarId, len: u64) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit(&Alignment::default()).and_then(|()| {
            state.driver.blob_mut().map(drop)?;
            state.grow(var, len)
        });
        self.file.named(done)
    }

    /// Takes a part that `find` finds out of the file, which is committed before and after.
    pub(crate) fn remove(&mut self, find: impl Fn(&Model) -> Result<Part>) -> Result<()> {
        // Those of others would mean other variables, or none.
        if Arc::strong_count(&self.file.shared) > 1 {
            let what = "nothing is removed while there are other handles on the file, whose ids would change";
            return self.file.named(Err(Error::new(Code::EPERM, what)));
        }
        let done = self.file.write_state().remove(find);
        self.file.named(done)
    }

    /// Forgets the changes since the last commit. A new file that was never committed is left empty.
    pub fn abort(&self) {
        self.file.write_state().draft = None;
    }

    /// Makes the file complete for readers in other processes: definitions, fill values, number of records. What was
    /// written survives the end of this process, not of the machine: that is [`FileMut::sync_to_disk`]. A removal that was
    /// left half done is finished or undone first.
    pub fn sync(&self) -> Result<()> {
        let mut state = self.file.write_state();
        let state = &mut *state;
        let recovered = state.recover();
        let done = recovered
            .and_then(|_| state.commit(&Alignment::default()))
            .and_then(|()| state.driver.flush(&state.model));
        self.file.named(done)
    }

    /// [`FileMut::sync`], and waits until the disk has it.
    pub fn sync_to_disk(&self) -> Result<()> {
        self.sync()?;
        self.file.named(self.file.read_state().driver.blob_mut()?.sync())
    }

    /// Completes the file and closes it.
    ///
    /// After an error the handle is gone and the file has its last committed state. A program that wants to try again calls
    /// [`FileMut::sync`] until it succeeds, and then closes the file.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// Completes a file in memory and gives its bytes; `None` if the file is not in memory.
    pub fn into_bytes(mut self) -> Result<Option<Vec<u8>>> {
        self.finish()?;
        Ok(self.memory.take().map(|memory| memory.to_bytes()))
    }

    fn finish(&mut self) -> Result<()> {
        self.open = false;
        // An aborted new file has nothing to say.
        let aborted = {
            let state = self.file.read_state();
            state.is_new && !state.has_draft()
        };
        if aborted {
            return Ok(());
        }
        self.sync()?;
        self.file.named(self.file.write_state().driver.close())
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

/// Chooses the sizes of chunks that are left open, of the variables from `first` on.
fn choose_chunks(draft: &mut Arc<Model>, first: usize) {
    let is_open = |var: &VarId| match &draft.var(*var).storage.chunking {
        Some(Chunking::Chunked(shape)) => shape.len() != draft.var(*var).dims.len() || shape.contains(&0),
        _ => false,
    };
    let open: Vec<VarId> = draft.var_ids_from(first).filter(is_open).collect();
    for var in open {
        let draft = Arc::make_mut(draft);
        let Some(Chunking::Chunked(given)) = draft.var(var).storage.chunking.clone() else { continue };
        let chosen = crate::chosen_chunks(draft, var, &given);
        draft.var_mut(var).storage.chunking = Some(Chunking::Chunked(chosen));
    }
}

/// Whether the fill mode of the file is one for a variable: strings and values of user-defined types are always filled.
fn can_be_undefined(model: &Model, var: VarId) -> bool {
    matches!(model.var(var).ty, Type::Atomic(atomic) if atomic != Atomic::String)
}

/// `ENOENT` and `EEXIST` of the operating system.
const ENOENT: i32 = 2;
const EEXIST: i32 = 17;

impl Drop for FileMut {
    fn drop(&mut self) {
        if self.open {
            // An error has nowhere to go; `close` reports it.
            let _ = self.finish();
        }
    }
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<File>();
    shared_by_threads::<FileMut>();
};
