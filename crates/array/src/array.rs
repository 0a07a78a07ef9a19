//! The storage of one variable: shape, element type and layout.

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::Blob;

use crate::{Chunks, Kind, Selection, Stored};

/// The storage of one variable.
#[derive(Clone, Debug)]
pub struct Array {
    /// The length of each dimension, slowest first. Empty for a scalar.
    pub shape: Vec<u64>,
    /// The stored type of an element; with a `decoder`, the type that it is decoded to.
    pub stored: Stored,
    /// The decoder of elements that no [`Kind`] describes.
    pub decoder: Option<Arc<dyn ElementDecoder>>,
    /// The layout of the elements.
    pub layout: Layout,
    /// The result of reading past the end of the blob.
    pub past_end: PastEnd,
}

/// The layout of the elements of an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Layout {
    /// The elements themselves, dense, last dimension fastest. The engine only reads them: the owner of the array rewrites
    /// the structure that holds them.
    Inline(Arc<[u8]>),
    /// A fixed stride of the blob for each dimension: contiguous and record-interleaved data.
    Strided {
        /// Position of the first element in bytes.
        begin: u64,
        /// For each dimension, the distance from one index to the next in bytes.
        strides: Vec<u64>,
    },
    /// Chunks, which an index locates and filters may have encoded.
    Chunked(Chunks),
    /// Mapped selections of other arrays: an HDF5 virtual dataset.
    Virtual(VirtualLayout),
    /// No storage: every element has these bytes, zeros if empty. Several elements are repeated along the fastest dimension, whose length
    /// is a multiple of theirs.
    Fill(Arc<[u8]>),
}

/// The layout of an HDF5 virtual dataset (specification, IV.A.2.i, "Virtual Storage Layout").
#[derive(Clone, Debug)]
pub struct VirtualLayout {
    /// The mappings. Where two overlap, elements come from the later one.
    pub mappings: Arc<[SourceMapping]>,
    /// The bytes of an element in no mapping, in the element type of the array; zeros if empty.
    pub fill: Arc<[u8]>,
}

/// A selection of a source, and where it appears in a virtual layout.
#[derive(Clone, Debug)]
pub struct SourceMapping {
    /// The elements of the virtual array.
    pub virtual_selection: Selection,
    /// The elements of the source: as many, in the same order. Dimensions of count 1 aside, both selections have the same
    /// counts, so that a box of one is a box of the other.
    pub source_selection: Selection,
    /// The source.
    pub source: Arc<dyn VirtualSource>,
}

/// A source of a virtual layout.
pub trait VirtualSource: Debug + Send + Sync {
    /// Opens the source. Each read that needs it calls this, so implementations keep the opened source. `None` if the source
    /// does not exist: its elements have the fill value, as elements outside the shape of a source do.
    fn open(&self) -> Result<Option<OpenSource>>;

    /// Returns the array of the source if it is written through the virtual layout, with the blob that is given to
    /// [`write()`](crate::write). The mappings then cover the virtual array.
    fn writable(&self) -> Option<&Array> {
        None
    }
}

/// The blob and the array of a source.
pub type OpenSource = (Arc<dyn Blob>, Arc<Array>);

/// Decodes elements that no [`Kind`](crate::Kind) describes: other widths, bits at an offset, other float formats.
pub trait ElementDecoder: Debug + Send + Sync {
    /// Returns the size of a stored element in bytes.
    fn size(&self) -> usize;

    /// Decodes stored elements to those of [`Array::stored`]; both slices have equally many.
    fn convert(&self, stored: &[u8], elements: &mut [u8]);
}

/// The result of reading past the end of the blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PastEnd {
    /// Zeros, as netCDF-C returns for classic files that end before the data of their header.
    #[default]
    Zero,
    /// An error, `ETRUNC`.
    Error,
}

impl PastEnd {
    /// Fills `into` from position `at` of a blob.
    pub(crate) fn fetch(self, blob: &dyn Blob, at: u64, into: &mut [u8]) -> Result<()> {
        match self {
            PastEnd::Zero => blob.read_zero_filled_at(at, into),
            PastEnd::Error => blob.read_exact_at(at, into),
        }
    }
}

impl Array {
    /// Makes an array of contiguous elements from byte `begin` of the blob on.
    ///
    /// # Errors
    /// `EVARSIZE` if the size in bytes is 2^64 or more.
    pub fn contiguous(shape: Vec<u64>, stored: Stored, begin: u64) -> Result<Self> {
        let strides = dense_strides(&shape, stored)?;
        let layout = Layout::Strided { begin, strides };
        Ok(Array { shape, stored, decoder: None, layout, past_end: PastEnd::Zero })
    }

    /// Makes an array with the inline layout: `bytes` are its elements.
    pub fn inline(shape: Vec<u64>, stored: Stored, bytes: impl Into<Arc<[u8]>>) -> Self {
        let layout = Layout::Inline(bytes.into());
        Array { shape, stored, decoder: None, layout, past_end: PastEnd::Zero }
    }
}

impl Array {
    /// Returns the same array with elements of `size` bytes as one more, fastest dimension of bytes.
    pub(crate) fn as_bytes(&self, size: usize) -> Array {
        let with = |list: &[u64], last: u64| list.iter().copied().chain([last]).collect::<Vec<u64>>();
        let layout = match &self.layout {
            Layout::Strided { begin, strides } => {
                Layout::Strided { begin: *begin, strides: with(strides, 1) }
            }
            Layout::Chunked(chunks) => Layout::Chunked(chunks.as_bytes(size as u64)),
            Layout::Inline(_) | Layout::Fill(_) | Layout::Virtual(_) => self.layout.clone(),
        };
        let shape = with(&self.shape, size as u64);
        Array { shape, stored: Stored::native(Kind::U8), decoder: None, layout, past_end: self.past_end }
    }
}

/// Returns the strides of a dense array in bytes.
pub(crate) fn dense_strides(shape: &[u64], stored: Stored) -> Result<Vec<u64>> {
    let mut strides = vec![0; shape.len()];
    let mut size = stored.kind.size() as u64;
    for (step, &len) in strides.iter_mut().zip(shape).rev() {
        *step = size;
        // A dimension of length 0 leaves nothing to address: any step will do.
        size = size.checked_mul(len.max(1)).ok_or_else(|| too_large(shape))?;
    }
    Ok(strides)
}

/// Returns the error for an array that reaches beyond 64-bit positions.
pub(crate) fn too_large(shape: &[u64]) -> Error {
    Error::new(Code::EVARSIZE, format!("array of shape {shape:?}: reaches beyond byte 2^64 of the file"))
}
