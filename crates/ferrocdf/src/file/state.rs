//! What is known of an open file: model, draft, driver, and the arrays of its variables.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use ferrocdf_array::{Array, In, RangeCheck, ShortRun, has_unwritten};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Chunking, DimId, Model, Type, VarId};
use ferrocdf_store::{Blob, BlobMut, ChangeToken};

use crate::driver::{
    ChunkTarget, Driver, Flush, LocatedArray, Opened, Part, Resized, Span, WriteDriver, Written,
};
use crate::options::{CreateOptions, OpenOptions, SpaceOptions};
use crate::variable_errors::in_variable;

/// What is known of an open file.
pub(crate) struct State {
    /// What the file says.
    pub(super) model: Arc<Model>,
    /// Model that the next commit brings to the file; `None` while it equals `model`.
    pub(super) draft: Option<Arc<Model>>,
    pub(super) opened: Opened,
    /// The arrays of variables, by `VarId`; asked of the driver once per variable.
    arrays: Vec<OnceLock<Located>>,
    /// The fill mode that new variables get.
    pub(super) no_fill: bool,
    /// A new file whose first commit is still to come.
    pub(super) is_new: bool,
    /// True after a removal that failed: the driver is asked then whether ids still mean the same.
    is_removal_pending: bool,
    /// How commits take space.
    pub(super) space: SpaceOptions,
    /// The change token of a file that is read and that others may write.
    pub(super) seen: Option<ChangeToken>,
    /// The path, from the root on, of a classic file that is read, which writers may replace, and how it was opened.
    pub(super) origin: Option<(PathBuf, OpenOptions)>,
}

/// The cached array of a variable.
struct Located {
    array: Array,
    /// The bytes that the array lies in, if they are not the file's.
    blob: Option<Arc<dyn Blob>>,
    /// True if the elements are numbers or text in the file's own bytes. The engine must not convert the numbers of an
    /// enumeration.
    is_plain: bool,
    /// True if the variable has unwritten elements. Set by the first question, and only in files that are open for reading.
    has_unwritten: OnceLock<bool>,
}

/// Arrays of all variables, none of which is known yet.
fn no_arrays(model: &Model) -> Vec<OnceLock<Located>> {
    model.vars().iter().map(|_| OnceLock::new()).collect()
}

impl State {
    /// The state of a file that is there.
    pub(super) fn opened(opened: Opened, model: Model) -> State {
        let arrays = no_arrays(&model);
        State {
            model: Arc::new(model),
            draft: None,
            opened,
            arrays,
            no_fill: false,
            is_new: false,
            is_removal_pending: false,
            space: SpaceOptions::default(),
            seen: None,
            origin: None,
        }
    }

    /// The state of a new file, which is in define mode.
    pub(super) fn created(driver: Box<dyn WriteDriver>, options: &CreateOptions) -> State {
        let state = State::opened(Opened::Writable(driver), Model::new(options.format));
        State { draft: Some(state.model.clone()), no_fill: options.no_fill, is_new: true, ..state }
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

    /// The driver, to be asked.
    #[inline]
    pub(crate) fn driver(&self) -> &dyn Driver {
        self.opened.driver()
    }

    /// The model, and the driver to write what the model says. Fails with `NC_EPERM` if the file is only read.
    #[inline]
    pub(crate) fn writer(&mut self) -> Result<(&Arc<Model>, &mut dyn WriteDriver)> {
        Ok((&self.model, self.opened.writer_mut()?))
    }

    /// The bytes of the file, to be written. Fails with `NC_EPERM` if the file is only read.
    pub(crate) fn blob_mut(&self) -> Result<&dyn BlobMut> {
        self.opened.writer()?.blob_mut()
    }

    /// The array of a variable.
    pub(crate) fn array(&self, var: VarId) -> Result<&Array> {
        self.locate(var).map(|located| &located.array)
    }

    /// The array of a variable, and the bytes that it lies in.
    pub(crate) fn located(&self, var: VarId) -> Result<(&Array, &dyn Blob)> {
        let located = self.locate(var)?;
        Ok((&located.array, located.blob.as_deref().unwrap_or_else(|| self.driver().blob())))
    }

    /// True if a variable lies in other bytes than those of the file.
    pub(crate) fn is_external(&self, var: VarId) -> Result<bool> {
        self.locate(var).map(|located| located.blob.is_some())
    }

    /// True if a variable may have unwritten elements. Reads the chunk index of a variable once.
    pub(crate) fn has_unwritten(&self, var: VarId) -> Result<bool> {
        let located = self.locate(var)?;
        if let Some(&known) = located.has_unwritten.get() {
            return Ok(known);
        }
        let lacks = has_unwritten(&located.array).map_err(|error| in_variable(error, self.model(), var))?;
        // A variable that is written may become longer.
        Ok(match self.opened {
            Opened::ReadOnly(_) => *located.has_unwritten.get_or_init(|| lacks),
            Opened::Writable(_) => lacks,
        })
    }

    /// Returns the array of a variable, or `None` if its elements are not plain numbers or text in the file's own bytes.
    #[inline(always)]
    pub(crate) fn plain_array(&self, var: VarId) -> Option<&Array> {
        let known = self.arrays.get(var.index())?.get();
        let located = match known {
            Some(located) => located,
            None => self.locate(var).ok()?,
        };
        located.is_plain.then_some(&located.array)
    }

    #[inline]
    fn locate(&self, var: VarId) -> Result<&Located> {
        locate(&self.arrays, &self.model, self.opened.driver(), var)
    }

    /// True if elements of a variable before `end`, in storage order, wait for their fill values.
    pub(crate) fn lacks_fill(&self, var: VarId, end: u64) -> bool {
        match &self.opened {
            Opened::ReadOnly(_) => false,
            Opened::Writable(driver) => driver.filled_blob(var, end).is_none(),
        }
    }

    /// Returns the bytes that a short run of a plain array is read from; `None` if fill values must be written first.
    #[inline]
    pub(crate) fn short_blob(&self, var: VarId, run: &ShortRun) -> Option<&dyn Blob> {
        match &self.opened {
            Opened::ReadOnly(driver) => Some(driver.blob()),
            // Most variables lack no fill value anywhere, and then the end of the run is not needed.
            Opened::Writable(driver) => {
                driver.filled_blob(var, u64::MAX).or_else(|| driver.filled_blob(var, run.span().end))
            }
        }
    }

    /// Ends define mode, if it was entered. Fails after a removal that was left half done, since ids that the caller has may
    /// mean other things in the file.
    #[inline]
    pub(crate) fn commit(&mut self) -> Result<()> {
        if self.draft.is_none() && !self.is_removal_pending {
            return Ok(());
        }
        self.commit_draft()
    }

    fn commit_draft(&mut self) -> Result<()> {
        self.check_ids()?;
        let Some(draft) = &mut self.draft else { return Ok(()) };
        choose_chunks(draft, self.model.vars().len());
        self.opened.writer_mut()?.commit(&self.model, draft)?;
        self.model = self.draft.take().expect("seen above");
        self.arrays = no_arrays(&self.model);
        self.is_new = false;
        Ok(())
    }

    /// Sets how commits take space from now on.
    pub(super) fn set_space(&mut self, space: &SpaceOptions) {
        if self.space == *space {
            return;
        }
        self.space = *space;
        if let Opened::Writable(driver) = &mut self.opened {
            driver.set_space(space);
        }
    }

    /// Brings pending changes to the file.
    pub(super) fn flush(&mut self, extent: Flush<'_>) -> Result<()> {
        self.opened.writer_mut()?.flush(&self.model, extent)
    }

    /// Writes the fill values that a variable lacks.
    pub(crate) fn fill_unwritten(&mut self, var: VarId) -> Result<()> {
        match &mut self.opened {
            Opened::ReadOnly(_) => Ok(()),
            Opened::Writable(driver) => driver.fill_unwritten(&self.model, var),
        }
    }

    /// Fails while a removal is half done.
    pub(super) fn check_ids(&mut self) -> Result<()> {
        if self.is_removal_pending {
            self.opened.writer_mut()?.remover().map_or(Ok(()), |remover| remover.check_ids())?;
            self.is_removal_pending = false;
        }
        Ok(())
    }

    /// Finishes or undoes a removal that was left half done. Gives what was removed if it was finished.
    pub(super) fn recover(&mut self) -> Result<Option<Part>> {
        if !self.is_removal_pending {
            return Ok(None);
        }
        let remover = self.opened.writer_mut()?.remover();
        let recovered = remover.map_or(Ok(None), |remover| remover.recover())?;
        self.is_removal_pending = false;
        let Some((model, part)) = recovered else { return Ok(None) };
        self.set_model(model);
        Ok(part)
    }

    /// Takes a part that `find` finds out of the file, which is committed before and after.
    pub(super) fn remove(&mut self, find: impl Fn(&Model) -> Result<Part>) -> Result<()> {
        let before = self.model.clone();
        if let Some(gone) = self.recover()?
            && find(&before) == Ok(gone)
        {
            return Ok(());
        }
        self.commit()?;
        let part = find(&self.model)?;
        let Some(remover) = self.opened.writer_mut()?.remover() else {
            let kind = self.model.format().kind_name();
            let what = format!("nothing is taken out of {kind} files: copy what is to stay to another file");
            return Err(Error::new(Code::ENOTNC4, what));
        };
        let removed = remover.remove(&self.model, part);
        self.is_removal_pending = removed.is_err();
        let (model, done) = removed?;
        self.set_model(model);
        done
    }

    /// Takes a model that was read from the file.
    pub(super) fn set_model(&mut self, model: Model) {
        self.arrays = no_arrays(&model);
        self.model = Arc::new(model);
    }

    /// Forgets all arrays: they are elsewhere now.
    pub(super) fn forget_arrays(&mut self) {
        self.arrays = no_arrays(&self.model);
    }

    /// Runs `write` with the array of a variable, to write the elements of a span; see [`WriteDriver::write_in_place`].
    pub(crate) fn write_in_place(
        &mut self,
        var: VarId,
        span: Span,
        mut write: impl FnMut(&Model, &Array, &dyn BlobMut) -> Result<RangeCheck>,
    ) -> Result<RangeCheck> {
        let Located { array, .. } = locate(&self.arrays, &self.model, self.opened.driver(), var)?;
        let model = &*self.model;
        self.opened.writer_mut()?.write_in_place(model, var, span, &mut |blob| write(model, array, blob))
    }

    /// Takes note that all elements of a variable are about to be written.
    pub(crate) fn note_written(&mut self, var: VarId, span: Span) -> Result<()> {
        let (model, writer) = self.writer()?;
        writer.write_in_place(model, var, span, &mut |_| Ok(RangeCheck::InRange)).map(drop)
    }

    /// Writes a short run of elements on the driver's fast path; see [`WriteDriver::write_run`].
    #[inline]
    pub(crate) fn write_run(
        &mut self,
        var: VarId,
        run: &ShortRun,
        input: In<'_>,
    ) -> Option<Result<RangeCheck>> {
        match &mut self.opened {
            Opened::ReadOnly(_) => None,
            Opened::Writable(driver) => driver.write_run(&self.model, var, run, input),
        }
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
        let resized = self.opened.writer_mut()?.resize(dim, len)?;
        self.set_dim_len(dim, len, resized);
        Ok(())
    }

    /// Makes the dimensions of a variable as long again as they were before a write that failed.
    pub(crate) fn ungrow(&mut self, var: VarId, lens: &[u64]) {
        let dims = self.model.var(var).dims.clone();
        for (dim, &len) in dims.into_iter().zip(lens) {
            if self.model.dim(dim).len != len {
                let resized = self.opened.writer_mut().and_then(|driver| driver.resize(dim, len));
                self.set_dim_len(dim, len, resized.unwrap_or(Resized::Relocated));
            }
        }
    }

    fn set_dim_len(&mut self, dim: DimId, len: u64, resized: Resized) {
        Arc::make_mut(&mut self.model).set_dim_len(dim, len);
        for (cell, var) in self.arrays.iter_mut().zip(self.model.vars()) {
            match resized {
                Resized::Relocated if var.dims.contains(&dim) => *cell = OnceLock::new(),
                Resized::InPlace if var.dims.first() == Some(&dim) => {
                    if let Some(located) = cell.get_mut() {
                        located.array.shape[0] = len;
                    }
                }
                _ => {}
            }
        }
    }

    /// Forgets the array of a variable if a write moved it, or may have before it failed.
    pub(crate) fn after_write(&mut self, var: VarId, written: Result<Written>) -> Result<RangeCheck> {
        if written.as_ref().map_or(true, |written| written.is_relocated) {
            self.forget_array(var);
        }
        written.map(|written| written.range_check)
    }

    /// Returns a chunked variable, to which the caller writes chunks; see [`WriteDriver::chunks_to_write`].
    pub(crate) fn chunks_to_write(&mut self, var: VarId) -> Result<Option<ChunkTarget>> {
        let (model, writer) = self.writer()?;
        let chunks = writer.chunks_to_write(model, var)?;
        if chunks.is_some() {
            self.forget_array(var);
        }
        Ok(chunks)
    }

    /// Forgets the array of a variable: it is another one now.
    pub(crate) fn forget_array(&mut self, var: VarId) {
        if let Some(cell) = self.arrays.get_mut(var.index()) {
            *cell = OnceLock::new();
        }
    }
}

/// The array of a variable, from the cache or from the driver.
#[inline]
fn locate<'a>(
    arrays: &'a [OnceLock<Located>],
    model: &Model,
    driver: &dyn Driver,
    var: VarId,
) -> Result<&'a Located> {
    let Some(cell) = arrays.get(var.index()) else {
        return Err(Error::new(Code::EINDEFINE, "the variable is still being defined"));
    };
    match cell.get() {
        Some(located) => Ok(located),
        None => {
            let LocatedArray { array, blob } = driver.array(model, var)?;
            let is_plain = blob.is_none() && matches!(model.var(var).ty, Type::Atomic(_));
            Ok(cell.get_or_init(|| Located { array, blob, is_plain, has_unwritten: OnceLock::new() }))
        }
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
