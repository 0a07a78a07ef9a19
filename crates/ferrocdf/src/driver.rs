//! The seam between an open file and its format.

use std::sync::Arc;

use ferrocdf_array::{Array, In, RangeCheck, Selection, ShortRun};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::Alignment;
use ferrocdf_hdf5::ChunkCounts;
use ferrocdf_model::{Attr, DimId, GroupId, Model, Owner, TypeId, Values, VarId};
use ferrocdf_store::{Blob, BlobMut};

use crate::options::SpaceOptions;
use crate::storage::{DataSources, Shapeless};

/// What writing did.
pub(crate) struct Written {
    pub(crate) fit: RangeCheck,
    /// Whether the variable's array is another one now.
    pub(crate) moved: bool,
}

/// Something that can be taken out of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Variable(VarId),
    Dimension(DimId),
    Type(TypeId),
    /// With all that is in it.
    Group(GroupId),
}

/// What a format does for an open file. Names, ids, types and attributes are the model's; copying and converting data
/// is the engine's; a driver says where elements lie and brings the file from one model to the next.
///
/// Writing calls have defaults for formats that are only read: they answer `NC_EPERM`.
pub(crate) trait Driver: Send + Sync {
    /// Shape, element type and layout of a variable.
    fn array(&self, model: &Model, var: VarId) -> Result<Array>;

    /// The file's bytes.
    fn blob(&self) -> &dyn Blob;

    /// The bytes that a variable lies in, where they are not the file's.
    fn blob_of(&self, _var: VarId) -> Option<Arc<dyn Blob>> {
        None
    }

    /// The selected values of a variable of strings or of a user-defined type, which is a tree each.
    fn values(&self, model: &Model, var: VarId, _selection: &Selection) -> Result<Values> {
        Err(Error::new(Code::EBADTYPE, format!("{} does not hold numbers or text", model.var_path(var))))
    }

    /// The value that elements of a variable have which were never written, one of its type; `None` if that is not known.
    fn fill(&self, model: &Model, var: VarId) -> Result<Option<Values>> {
        Ok(model.fill_value(var))
    }

    /// Attributes of an owner that are shown only on request: which library wrote the file, and how.
    fn hidden(&self, _owner: Owner) -> Vec<Attr> {
        vec![]
    }

    /// The bytes of a variable's elements as the file has them, before and after its filters, where its array does not
    /// say.
    fn file_bytes(&self, _var: VarId) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// The numbers of a variable's chunks, if the file has chunks and tells.
    fn chunk_counts(&self, _var: VarId) -> Result<Option<ChunkCounts>> {
        Ok(None)
    }

    /// Whether a netCDF library wrote the file: true unless another one can have.
    fn is_written_by_netcdf(&self) -> bool {
        true
    }

    /// Where the data of a variable comes from.
    fn sources(&self, _var: VarId) -> Result<DataSources> {
        Ok(DataSources::default())
    }

    /// Datasets that have attributes and no shape, which are no variables.
    fn shapeless(&self, _model: &Model) -> Vec<Shapeless> {
        vec![]
    }

    /// What the file holds that netCDF has no name for, and why; a line each.
    fn left_out(&self, _model: &Model) -> Vec<String> {
        vec![]
    }

    /// Why an object of the file is not in the model, if one cannot be read.
    fn lost(&self) -> Option<Error> {
        None
    }

    /// How many bytes the file is shorter than it says it should be.
    fn missing_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    /// Reads again what the file says, which another process may have changed. Only for files that are only read.
    fn refresh(&mut self) -> Result<Model>;

    /// Looks again where things are in a file that is only read and that another process has changed. False, and nothing is
    /// done, where they do not move, or where the file does not have what `model` says any more.
    fn look_again(&mut self, _model: &Model) -> Result<bool> {
        Ok(false)
    }

    /// The file's bytes, to be written.
    fn blob_mut(&self) -> Result<&dyn BlobMut> {
        Err(read_only())
    }

    /// How space is taken from now on, in formats that leave a choice.
    fn set_space(&mut self, _space: &SpaceOptions) {}

    /// The end of define mode: makes the file say what `model` says instead of what `old` says.
    fn commit(&mut self, _old: &Model, _model: &Model, _alignment: &Alignment) -> Result<()> {
        Err(read_only())
    }

    /// Takes a part out of the file, which says what `model` says. Gives what it says then, and whether the part is gone; all
    /// of it is committed. After an error of the call itself nothing is changed, or [`Driver::check_ids`] fails.
    fn remove(&mut self, model: &Model, _part: Part) -> Result<(Model, Result<()>)> {
        self.blob_mut()?;
        let kind = model.format().kind_name();
        let what = format!("nothing is taken out of {kind} files: copy what shall stay to another one");
        Err(Error::new(Code::ENOTNC4, what))
    }

    /// Fails while a removal is half done: ids of the model may name other objects in the file.
    fn check_ids(&mut self) -> Result<()> {
        Ok(())
    }

    /// Finishes or undoes a removal that was left half done. Returns the model of the file after that, and the removed part if
    /// the removal was finished; `None` if no removal was half done.
    fn recover(&mut self) -> Result<Option<(Model, Option<Part>)>> {
        Ok(None)
    }

    /// Brings definitions that are held back to the file.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// The same, if much of them is held back for what the file has.
    fn settle_if_due(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether a variable may be shorter than its dimensions: what lies beyond has the fill value.
    fn is_padded(&self) -> bool {
        false
    }

    /// Writes at least one number or character to a variable, whose dimensions are long enough. `None` leaves that to the
    /// engine, with [`Driver::before_write`]. `skips_zeros` allows to leave out zeros where the file reads as zeros.
    fn write(
        &mut self,
        _model: &Model,
        _var: VarId,
        _selection: &Selection,
        _input: In<'_>,
        _skips_zeros: bool,
    ) -> Result<Option<Written>> {
        Ok(None)
    }

    /// The array of a variable to be written whole, block by block; `None` if it has no blocks.
    fn whole_blocks(&mut self, _model: &Model, _var: VarId) -> Result<Option<Array>> {
        Ok(None)
    }

    /// Writes strings or values of a user-defined type, which are a tree each, to a variable whose dimensions are long
    /// enough.
    fn write_values(
        &mut self,
        model: &Model,
        var: VarId,
        _selection: &Selection,
        _values: &Values,
    ) -> Result<Written> {
        Err(Error::new(Code::EBADTYPE, format!("{} holds numbers or text", model.var_path(var))))
    }

    /// Makes an unlimited dimension longer.
    fn grow(&mut self, _dim: DimId, _len: u64) -> Result<()> {
        Err(read_only())
    }

    /// Makes a dimension as long again as it was before a [`grow`](Driver::grow): the write that it was for failed.
    fn ungrow(&mut self, _dim: DimId, _len: u64) {}

    /// To be called before the elements `first..end` of a variable, in storage order, are written; `dense` says that
    /// every one of them is.
    fn before_write(
        &mut self,
        _model: &Model,
        _var: VarId,
        _first: u64,
        _end: u64,
        _dense: bool,
    ) -> Result<()> {
        Err(read_only())
    }

    /// To be called when what [`Driver::before_write`] made room for is written.
    fn wrote(&mut self, _var: VarId, _end: u64) {}

    /// Whether elements before `end` have no value yet, so that [`Driver::finish`] must come before a read.
    fn lacks_fill(&self, _var: VarId, _end: u64) -> bool {
        false
    }

    /// Returns the blob that a short run of elements is read from; `None` if the run has to take the general path.
    fn short_blob(&self, var: VarId, run: &ShortRun) -> Option<&dyn Blob> {
        // Most variables lack no fill value anywhere, and then the end of the run is not needed.
        let lacks_fill = self.lacks_fill(var, u64::MAX) && self.lacks_fill(var, run.span().end);
        (self.blob_of(var).is_none() && !lacks_fill).then(|| self.blob())
    }

    /// Writes a short run of elements, after fill values before it where they are missing; `None` if the driver has no fast
    /// path for it.
    fn write_short(
        &mut self,
        _model: &Model,
        _var: VarId,
        _run: &ShortRun,
        _input: In<'_>,
    ) -> Option<Result<RangeCheck>> {
        None
    }

    /// Gives every element of a variable a value.
    fn finish(&mut self, _model: &Model, _var: VarId) -> Result<()> {
        Ok(())
    }

    /// Writes everything that is held back.
    fn flush(&mut self, _model: &Model) -> Result<()> {
        Ok(())
    }

    /// What is done last, after [`Driver::flush`].
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

fn read_only() -> Error {
    Error::new(Code::EPERM, "the file is open for reading only")
}
