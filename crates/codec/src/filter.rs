//! What a filter is.

use std::fmt::Debug;

use ferrocdf_bytes::Result;

/// One filter with its parameters, ready to run; any number of threads may use it at once.
pub trait Filter: Debug + Send + Sync {
    /// Unpacks `stored` into `plain`, which is emptied first. `expected` is the size that the result should have where
    /// it is known. A filter never makes more than `limit` bytes.
    fn decode(&self, stored: &[u8], plain: &mut Vec<u8>, expected: Option<usize>, limit: usize)
    -> Result<()>;

    /// Packs `plain` into `stored`, which is emptied first. `None` says that the filter does not apply to these bytes
    /// (it would make them larger, say): an optional filter is then left out for this block.
    fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>>;
}

/// The filter of this HDF5 number, if it is built in.
pub fn built_in(_id: u32, _params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    None
}
