//! Writing blocks.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::BlobMut;

use super::Blocks;
use crate::convert::Conversion;
use crate::{Array, Selection};

/// Writes dense memory of `size` bytes an element to the selected elements, at least one.
pub(crate) fn write(
    _blob: &dyn BlobMut,
    _array: &Array,
    _blocks: &Blocks,
    _sel: &Selection,
    _conversion: Conversion,
    _size: usize,
    _input: &[u8],
) -> Result<bool> {
    Err(Error::new(Code::EPERM, "these blocks are only read"))
}
