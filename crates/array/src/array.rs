//! Where the elements of one variable lie.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::{Blocks, Kind, Mosaic, Stored};

/// One variable as the engine sees it.
#[derive(Clone, Debug)]
pub struct Array {
    /// The length of each dimension, slowest first. Empty for a scalar.
    pub shape: Vec<u64>,
    /// How an element is stored, or, for unusual ones, what they are turned into.
    pub stored: Stored,
    /// How elements are really stored, where `stored` cannot say it.
    pub unusual: Option<Arc<dyn Unusual>>,
    /// Where the elements lie.
    pub layout: Layout,
    /// What reading past the end of the blob gives.
    pub past_end: PastEnd,
}

/// Where elements lie.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Layout {
    /// The elements themselves, dense, last dimension fastest. Such an array is only read: its owner rewrites the
    /// structure that holds it.
    Inline(Arc<[u8]>),
    /// At fixed distances in the blob: contiguous and record-interleaved data.
    Strided {
        /// The byte position of the first element.
        begin: u64,
        /// For each dimension, the bytes from one index to the next.
        steps: Vec<u64>,
    },
    /// In blocks, which an index finds and filters may have packed.
    Blocks(Blocks),
    /// In other arrays.
    Mosaic(Mosaic),
    /// Nowhere: every element is the one of these bytes, or zeros if there are none.
    Fill(Arc<[u8]>),
}

/// Elements that no [`Kind`](crate::Kind) describes: other widths, bits at an offset, floats of other formats.
pub trait Unusual: std::fmt::Debug + Send + Sync {
    /// Bytes of one element as stored.
    fn size(&self) -> usize;

    /// Turns stored elements into those of [`Array::stored`]; both slices hold as many.
    fn convert(&self, stored: &[u8], elements: &mut [u8]);
}

/// What reading past the end of the blob gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PastEnd {
    /// Zeros: what the reference gives for classic files, which may end before the data their header promises.
    #[default]
    Zero,
    /// An error, `ETRUNC`.
    Error,
}

impl Array {
    /// An array whose elements lie side by side from byte `begin` on.
    ///
    /// # Errors
    /// `EVARSIZE` if the size in bytes is more than 64 bits hold.
    pub fn contiguous(shape: Vec<u64>, stored: Stored, begin: u64) -> Result<Self> {
        let steps = dense_steps(&shape, stored)?;
        let layout = Layout::Strided { begin, steps };
        Ok(Array { shape, stored, unusual: None, layout, past_end: PastEnd::Zero })
    }

    /// An array that holds its elements itself.
    pub fn inline(shape: Vec<u64>, stored: Stored, bytes: impl Into<Arc<[u8]>>) -> Self {
        let layout = Layout::Inline(bytes.into());
        Array { shape, stored, unusual: None, layout, past_end: PastEnd::Zero }
    }
}

impl Array {
    /// The same elements as bytes: one more dimension, the fastest, of `size` bytes.
    pub(crate) fn as_bytes(&self, size: usize) -> Array {
        let with = |list: &[u64], last: u64| list.iter().copied().chain([last]).collect::<Vec<u64>>();
        let layout = match &self.layout {
            Layout::Strided { begin, steps } => Layout::Strided { begin: *begin, steps: with(steps, 1) },
            Layout::Blocks(blocks) => Layout::Blocks(blocks.as_bytes(size as u64)),
            Layout::Inline(_) | Layout::Fill(_) | Layout::Mosaic(_) => self.layout.clone(),
        };
        let shape = with(&self.shape, size as u64);
        Array { shape, stored: Stored::native(Kind::U8), unusual: None, layout, past_end: self.past_end }
    }
}

/// The byte steps of a dense array.
pub(crate) fn dense_steps(shape: &[u64], stored: Stored) -> Result<Vec<u64>> {
    let mut steps = vec![0; shape.len()];
    let mut size = stored.kind.size() as u64;
    for (step, &len) in steps.iter_mut().zip(shape).rev() {
        *step = size;
        // A dimension of length 0 leaves nothing to address: any step will do.
        size = size.checked_mul(len.max(1)).ok_or_else(|| too_large(shape))?;
    }
    Ok(steps)
}

/// The error for an array that reaches beyond 64-bit positions.
pub(crate) fn too_large(shape: &[u64]) -> Error {
    Error::new(Code::EVARSIZE, format!("elements of shape {shape:?} lie beyond byte 2^64 of the file"))
}
