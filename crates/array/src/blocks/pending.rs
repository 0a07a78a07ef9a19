//! Blocks that are held back until more of them was written.

use ferrocdf_bytes::Result;
use ferrocdf_store::BlobMut;

use crate::Array;

/// Packs and stores all blocks of an array that were held back. They stay kept for reading. Arrays of other layouts have
/// none.
///
/// # Errors
/// The filters', the store's and the blob's. Blocks that could not be stored are still held back.
pub fn flush(_blob: &dyn BlobMut, _array: &Array) -> Result<()> {
    Ok(())
}
