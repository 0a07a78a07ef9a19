//! Define mode, and the ends of writing: commit, sync, close.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::Alignment;
use ferrocdf_model::{Atomic, Container, DimId, Model, Type, VarId};
use ferrocdf_store::BlobMut;

use super::{FileMut, WriteTarget};
use crate::driver::{Flush, Part};
use crate::options::SpaceOptions;

impl FileMut {
    /// Changes the draft of the model, which the next commit brings to the file. After an error of `change`, its changes before the
    /// error stay in the draft. The file is locked meanwhile: `change` must use only the model that it gets.
    pub fn define<R>(&self, change: impl FnOnce(&mut Model) -> Result<R>) -> Result<R> {
        let mut state = self.file.write_state();
        let state = &mut *state;
        if state.draft.is_none() {
            // A file that was left damaged takes no definitions; saying so now beats saying so when they are committed.
            self.file.named(state.blob_mut().map(drop))?;
            let known_ids = state.check_ids();
            self.file.named(known_ids)?;
        }
        let draft = Arc::make_mut(state.draft.get_or_insert_with(|| state.model.clone()));
        let known = draft.vars().len();
        let mut result = change(draft);
        if state.model.format().container().keeps_names() {
            result = undo_renames(&state.model, draft).and(result);
        }
        if state.no_fill {
            for var in draft.var_ids_from(known) {
                draft.var_mut(var).storage.no_fill |= can_be_undefined(draft, var);
            }
        }
        self.file.named(result)
    }

    /// Checks that a variable can get another fill value: in files of the classic formats any can, in others those that no commit has brought
    /// to the file.
    ///
    /// # Errors
    /// `NC_ELATEFILL`.
    pub(crate) fn check_fill_can_change(&self, var: VarId) -> Result<()> {
        let state = self.file.read_state();
        if state.view().format().has_cdf_model() || var.index() >= state.model.vars().len() {
            return Ok(());
        }
        let what = "it is in the file, and cannot get another fill value; set `_FillValue` before the first commit or write";
        self.file.named(Err(Error::new(Code::ELATEFILL, what).at_path(state.view().var_path(var))))
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

    /// Sets how commits take space from now on.
    pub fn set_space(&self, space: &SpaceOptions) {
        self.file.write_state().set_space(space);
    }

    /// Ends define mode: the file says what was defined. Data is moved if the header outgrew its place.
    ///
    /// Fails with `NC_EVARSIZE`, before anything is written, if the format cannot hold a variable.
    pub fn commit(&self) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit().and_then(|()| state.flush(Flush::Definitions { chunks: &[] }));
        self.file.named(done)
    }

    /// Ends define mode of a new file, and reserves space behind its metadata for chunk indexes: all metadata of the file then lies in
    /// front of its elements, so that readers over a network open it with one request. `chunks` has the number of chunks
    /// that each chunked variable is going to have. If a variable gets more, or metadata is added later, that lies behind.
    ///
    /// Formats other than netCDF-4 have no use for it.
    ///
    /// # Errors
    /// Those of [`FileMut::commit`].
    pub fn reserve_indexes(&self, chunks: &[(VarId, u64)]) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit().and_then(|()| state.flush(Flush::Definitions { chunks }));
        self.file.named(done)
    }

    /// Ends define mode with free space and alignment for this once (`nc__enddef`), in classic files.
    pub fn commit_aligned(&self, alignment: &Alignment) -> Result<()> {
        let mut state = self.file.write_state();
        let usual = state.space;
        state.set_space(&SpaceOptions { classic: *alignment, ..usual });
        let done = state.commit().and_then(|()| state.flush(Flush::Definitions { chunks: &[] }));
        state.set_space(&usual);
        self.file.named(done)
    }

    /// Ends define mode as writing does. What was defined may be pending in memory until the next commit, sync or close,
    /// so that the definitions of a netCDF-4 file that is defined and written by turns are not flushed each time.
    pub fn apply(&self) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit().and_then(|()| state.flush(Flush::DueDefinitions));
        self.file.named(done)
    }

    /// Makes the unlimited first dimension of a variable at least `len` long, as a write that reaches so far does. There
    /// is nothing to do if it is longer, or not unlimited.
    pub fn grow(&self, var: VarId, len: u64) -> Result<()> {
        let mut state = self.file.write_state();
        let done = state.commit().and_then(|()| {
            state.blob_mut()?;
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

    /// Makes a dimension at least `len` long, as a write that reaches so far does. One of a Zarr store becomes unlimited first, since arrays of
    /// a store can grow along each dimension. A netCDF-4 file keeps the length if elements are written that reach so far before it is closed.
    ///
    /// # Errors
    /// `NC_EDIMSIZE` for a shorter dimension of another dataset that is not unlimited; those of writing.
    pub fn grow_dimension(&self, dim: DimId, len: u64) -> Result<()> {
        if matches!(self.format().container(), Container::ZarrV2 | Container::ZarrV3) {
            self.define(|model| {
                if model.dim(dim).len < len {
                    model.make_unlimited(dim);
                }
                Ok(())
            })?;
        }
        let mut state = self.file.write_state();
        let done = state.commit().and_then(|()| {
            state.blob_mut()?;
            let found = state.model.dim(dim);
            if found.len < len && !found.unlimited {
                let what = format!(
                    "dimension \"{}\" has the length {}, and is not unlimited",
                    found.name, found.len
                );
                return Err(Error::new(Code::EDIMSIZE, what));
            }
            state.grow_dim(dim, len)
        });
        self.file.named(done)
    }

    /// Forgets the changes since the last commit. A new file that was never committed is left empty.
    pub fn abort(&self) {
        self.file.write_state().draft = None;
    }

    /// Forgets all changes to a new file that was never committed, and removes what making it put: the file, or the folder of a Zarr store.
    /// A store stays in which there is more by now. What the new file replaced does not come back.
    ///
    /// # Errors
    /// Those of the system and the store.
    pub fn abort_new(&self) -> Result<()> {
        self.abort();
        let failed = |error: std::io::Error| Error::system(error, self.file.path().display());
        match &self.target {
            WriteTarget::Disk => std::fs::remove_file(self.file.path()).map_err(failed),
            WriteTarget::Store { made } => {
                let mut state = self.file.write_state();
                let removed = state.writer().and_then(|(_, writer)| writer.remove_new());
                match (self.file.named(removed)?, made) {
                    (true, Some(folder)) => std::fs::remove_dir(folder).map_err(failed),
                    _ => Ok(()),
                }
            }
            WriteTarget::Memory(_) | WriteTarget::Object(_) => Ok(()),
        }
    }

    /// Makes the file complete for readers in other processes: definitions, fill values, number of records. What was
    /// written survives the end of this process, not of the machine: that is [`FileMut::sync_to_disk`]. An object of a store is
    /// put whole if it changed. A removal that was left half done is finished or undone first.
    pub fn sync(&self) -> Result<()> {
        self.write_all()?;
        match self.target {
            WriteTarget::Object(_) => self.sync_blob(),
            WriteTarget::Disk | WriteTarget::Memory(_) | WriteTarget::Store { .. } => Ok(()),
        }
    }

    /// [`FileMut::sync`], and waits until the disk has it.
    pub fn sync_to_disk(&self) -> Result<()> {
        self.write_all()?;
        self.sync_blob()
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
        Ok(match &self.target {
            WriteTarget::Memory(memory) => Some(memory.to_bytes()),
            WriteTarget::Disk | WriteTarget::Object(_) | WriteTarget::Store { .. } => None,
        })
    }

    /// Brings all that is pending in this process to the file.
    fn write_all(&self) -> Result<()> {
        let mut state = self.file.write_state();
        let recovered = state.recover();
        let done = recovered.and_then(|_| state.commit()).and_then(|()| state.flush(Flush::All));
        self.file.named(done)
    }

    /// Waits until the disk, or the store of the object, has all that was written.
    fn sync_blob(&self) -> Result<()> {
        self.file.named(self.file.read_state().blob_mut().and_then(BlobMut::sync))
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        self.open = false;
        // An aborted new file has nothing to say.
        let aborted = {
            let state = self.file.read_state();
            state.is_new && !state.has_draft()
        };
        if aborted {
            return Ok(());
        }
        self.write_all()?;
        // Closing may tidy up the end of the file, which alone is not worth another put.
        let is_to_put = matches!(&self.target, WriteTarget::Object(draft) if draft.is_changed());
        let done = self.file.write_state().writer().and_then(|(_, writer)| writer.close());
        self.file.named(done)?;
        if is_to_put { self.sync_blob() } else { Ok(()) }
    }
}

/// Gives variables and groups that are committed their names again.
///
/// # Errors
/// `NC_ENCZARR` if one had another name.
fn undo_renames(model: &Model, draft: &mut Model) -> Result<()> {
    let mut renamed = None;
    for (id, group) in model.group_ids().zip(model.groups()) {
        if draft.group(id).name != group.name {
            draft.rename_group(id, group.name.as_bytes())?;
            renamed = Some(model.group_path(id));
        }
    }
    for (id, var) in model.var_ids().zip(model.vars()) {
        if draft.var(id).name != var.name {
            draft.rename_var(id, var.name.clone())?;
            renamed = Some(model.var_path(id));
        }
    }
    match renamed {
        None => Ok(()),
        Some(path) => {
            let what =
                format!("{path}: what is in a Zarr store keeps its name: copy it to give it another one");
            Err(Error::new(Code::ENCZARR, what))
        }
    }
}

/// Whether the fill mode of the file is one for a variable: strings and values of user-defined types are always filled.
fn can_be_undefined(model: &Model, var: VarId) -> bool {
    matches!(model.var(var).ty, Type::Atomic(atomic) if atomic != Atomic::String)
}
