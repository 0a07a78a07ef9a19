//! What a driver does for a dataset that is written.

use ferrocdf_array::{Array, In, RangeCheck, Selection, ShortRun};
use ferrocdf_bytes::Result;
use ferrocdf_model::{DimId, GroupId, Model, Quantize, TypeId, Values, VarId};
use ferrocdf_store::{Blob, BlobMut};

use super::Driver;
use crate::options::SpaceOptions;

/// What a container does for a dataset that is written: the steps of define mode, growth, data and close, in the order in which
/// a file meets them. `model` is always the model of the last commit.
///
/// Required are the file's bytes, [`commit`](WriteDriver::commit), [`resize`](WriteDriver::resize) and
/// [`write_in_place`](WriteDriver::write_in_place). The defaults are those of a format that writes all that it is given at once.
pub trait WriteDriver: Driver {
    /// Returns the bytes of the file, to be written; their [`BlobMut::sync`] waits until the disk has what was flushed.
    ///
    /// # Errors
    /// That of a write which left the file damaged: then nothing is written any more.
    fn blob_mut(&self) -> Result<&dyn BlobMut>;

    /// Sets how commits take space from now on, in formats that leave a choice.
    fn set_space(&mut self, _space: &SpaceOptions) {}

    /// Ends define mode: makes the file say what `model` says instead of what `old` says.
    ///
    /// # Errors
    /// After an error the file says what `old` says, and the same commit may be tried again.
    fn commit(&mut self, old: &Model, model: &Model) -> Result<()>;

    /// Sets the length of an unlimited dimension: to a longer one before a write, and back to the one before after a write that
    /// failed. Returns what became of the arrays on the dimension.
    fn resize(&mut self, dim: DimId, len: u64) -> Result<Resized>;

    /// Writes at least one element to a variable whose dimensions are long enough. `None` leaves numbers and characters to the engine
    /// and [`WriteDriver::write_in_place`]; of nested values it means that the format has none.
    fn write(
        &mut self,
        _model: &Model,
        _var: VarId,
        _selection: &Selection,
        _elements: NewElements<'_>,
    ) -> Result<Option<Written>> {
        Ok(None)
    }

    /// Runs `write`, which writes elements of a variable at their places in the file's bytes, and takes note that these elements
    /// have values.
    fn write_in_place(
        &mut self,
        model: &Model,
        var: VarId,
        span: Span,
        write: &mut dyn FnMut(&dyn BlobMut) -> Result<RangeCheck>,
    ) -> Result<RangeCheck>;

    /// Writes a short run of elements that exist; `None` if the driver has no fast path for it.
    fn write_run(
        &mut self,
        _model: &Model,
        _var: VarId,
        _run: &ShortRun,
        _input: In<'_>,
    ) -> Option<Result<RangeCheck>> {
        None
    }

    /// Returns the array of a chunked variable, to which the caller writes whole chunks; `None` if the variable is not chunked.
    /// The array that [`Driver::array`] gave before is out of date then.
    fn chunks_to_write(&mut self, _model: &Model, _var: VarId) -> Result<Option<ChunkTarget>> {
        Ok(None)
    }

    /// Returns the file's bytes if all elements of a variable before `end`, in storage order, have values in them; `None` if fill
    /// values are pending there, so that [`WriteDriver::fill_unwritten`] must come before a read.
    fn filled_blob(&self, _var: VarId, _end: u64) -> Option<&dyn Blob> {
        Some(self.blob())
    }

    /// Writes the pending fill values of a variable.
    fn fill_unwritten(&mut self, _model: &Model, _var: VarId) -> Result<()> {
        Ok(())
    }

    /// Brings what is pending to the file.
    fn flush(&mut self, _model: &Model, _extent: Flush<'_>) -> Result<()> {
        Ok(())
    }

    /// Ends writing, after the last [`WriteDriver::flush`].
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// Removes what making a new dataset put in its store, if that is all there is, as it was put. Returns true if nothing is left.
    ///
    /// # Errors
    /// Those of the store.
    fn remove_new(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Returns what removes objects, if the format can.
    fn remover(&mut self) -> Option<&mut dyn Remover> {
        None
    }
}

/// Takes objects out of a file, which no draft of define mode can say.
pub trait Remover {
    /// Removes a part from a file that is committed. Returns the model after that, and whether the part is gone; all of it is
    /// committed.
    ///
    /// # Errors
    /// After an error of the call itself nothing is changed, or [`Remover::check_ids`] fails.
    fn remove(&mut self, model: &Model, part: Part) -> Result<(Model, Result<()>)>;

    /// Fails while a removal is half done: ids of the model may name other objects in the file.
    fn check_ids(&self) -> Result<()>;

    /// Finishes or undoes a removal that was left half done. Returns the model of the file after that, and the removed part if
    /// the removal was finished; `None` if no removal was half done.
    fn recover(&mut self) -> Result<Option<(Model, Option<Part>)>>;
}

/// The elements from the first to the last one of a write, in storage order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first element that is written.
    pub first: u64,
    /// One past the last element that is written.
    pub end: u64,
    /// True if every element between is written.
    pub is_dense: bool,
}

impl Span {
    /// Returns the span of a selection, which is within the shape and not empty.
    pub(crate) fn of(shape: &[u64], selection: &Selection) -> Span {
        let (mut first, mut last, mut dense, mut size) = (0, 0, true, 1u64);
        // Whether the dimensions seen so far, the fast ones, are selected whole.
        let mut whole = true;
        for dim in (0..shape.len()).rev() {
            let (start, count, stride) = (selection.start[dim], selection.count[dim], selection.stride[dim]);
            first += start * size;
            last += (start + (count - 1) * stride) * size;
            dense &= count == 1 || (whole && stride == 1);
            whole &= start == 0 && count == shape[dim] && stride == 1;
            size = size.saturating_mul(shape[dim]);
        }
        Span { first, end: last + 1, is_dense: dense }
    }
}

/// What [`WriteDriver::flush`] brings to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush<'a> {
    /// Definitions, if enough of them are pending to be worth it: more will follow.
    DueDefinitions,
    /// Definitions.
    Definitions {
        /// The number of chunks that each of these variables is going to have: in a new file, space for their chunk indexes is reserved behind
        /// the definitions. Formats whose chunk indexes have a place of their own ignore it.
        chunks: &'a [(VarId, u64)],
    },
    /// All: definitions, data, fill values, lengths.
    All,
}

/// What [`WriteDriver::resize`] did to the arrays of the variables on the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resized {
    /// Those whose first dimension it is have its length, and lie where they lay.
    InPlace,
    /// They are other ones: [`Driver::array`] has to be asked again.
    Relocated,
}

/// What [`WriteDriver::write`] writes.
#[derive(Clone, Copy)]
pub enum NewElements<'a> {
    /// Numbers or characters.
    Plain {
        /// The elements in the memory of the caller.
        input: In<'a>,
        /// True if zeros may be left out where the file reads as zeros.
        skips_zeros: bool,
    },
    /// Strings, or values of a user-defined type.
    Nested(&'a Values),
}

/// A chunked variable to which a caller writes whole chunks.
#[derive(Debug)]
pub struct ChunkTarget {
    /// Its array.
    pub array: Array,
    /// How the numbers in the chunks must have been rounded; `None` if they are stored unchanged.
    pub rounding: Option<Rounding>,
}

/// The result of a write.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Whether all numbers were in range.
    pub range_check: RangeCheck,
    /// True if the array of the variable is another one now.
    pub is_relocated: bool,
}

/// How numbers are rounded before they are stored.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// The way, and the digits or bits that are kept.
    pub quantize: Quantize,
    /// The fill value, which is not rounded, in this machine's byte order; empty if there is none.
    pub fill: Vec<u8>,
}

/// An object that can be taken out of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A variable.
    Variable(VarId),
    /// A dimension.
    Dimension(DimId),
    /// A user-defined type.
    Type(TypeId),
    /// A group with all that is in it.
    Group(GroupId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_tells_dense_from_scattered() {
        let span = |shape: &[u64], selection: &Selection| {
            let Span { first, end, is_dense } = Span::of(shape, selection);
            (first, end, is_dense)
        };
        let all = Selection::all(&[2, 3]);
        assert_eq!(span(&[2, 3], &all), (0, 6, true));
        assert_eq!(span(&[2, 3], &Selection::slab(&[1, 0], &[1, 3])), (3, 6, true));
        assert_eq!(span(&[2, 3], &Selection::slab(&[1, 1], &[1, 2])), (4, 6, true));
        assert_eq!(span(&[2, 3], &Selection::slab(&[0, 1], &[2, 2])), (1, 6, false));
        assert_eq!(span(&[4, 3], &Selection::strided(&[0, 0], &[2, 3], &[2, 1])), (0, 9, false));
        assert_eq!(span(&[4, 3, 2], &Selection::slab(&[1, 1, 0], &[1, 2, 2])), (8, 12, true));
        assert_eq!(span(&[], &Selection::all(&[])), (0, 1, true));
    }
}
