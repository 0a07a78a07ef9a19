//! How a variable lies in its file, for people.

use ferrocdf_array::{Array, Layout};
use ferrocdf_bytes::Result;

use crate::Variable;

/// How a variable is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrangement {
    /// One run of bytes.
    Contiguous,
    /// A slab in each record, between those of other variables.
    Records {
        /// Bytes of one slab.
        slab: u64,
        /// Bytes from one record to the next.
        record: u64,
    },
    /// In the header.
    Inline,
}

/// Where and how large a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageInfo {
    /// How it is stored.
    pub arrangement: Arrangement,
    /// Bytes of its elements, not compressed.
    pub bytes: u64,
    /// Bytes they take in the file.
    pub stored_bytes: u64,
    /// Position of the first byte, if it has one.
    pub begin: Option<u64>,
    /// One past the last byte, if it has one.
    pub end: Option<u64>,
}

impl StorageInfo {
    /// How many times smaller the stored bytes are than the elements; `None` for an empty variable.
    pub fn ratio(&self) -> Option<f64> {
        (self.stored_bytes > 0).then(|| self.bytes as f64 / self.stored_bytes as f64)
    }

    fn of(array: &Array, is_record: bool) -> StorageInfo {
        let size = array.stored.kind.size() as u64;
        let bytes = array.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        let inline = StorageInfo {
            arrangement: Arrangement::Inline,
            bytes,
            stored_bytes: bytes,
            begin: None,
            end: None,
        };
        let Layout::Strided { begin, steps } = &array.layout else { return inline };
        let last = steps
            .iter()
            .zip(&array.shape)
            .fold(*begin, |at, (&step, &len)| at.saturating_add(step.saturating_mul(len.saturating_sub(1))));
        let arrangement = match steps.first() {
            Some(&record) if is_record => {
                let slab = array.shape.iter().skip(1).fold(size, |bytes, &len| bytes.saturating_mul(len));
                Arrangement::Records { slab, record }
            }
            _ => Arrangement::Contiguous,
        };
        let end = (bytes > 0).then(|| last.saturating_add(size));
        StorageInfo { arrangement, begin: Some(*begin), end, ..inline }
    }
}

impl Variable<'_> {
    /// How it is stored.
    pub fn storage(&self) -> Result<StorageInfo> {
        let state = self.file().read_state();
        let is_record = state.model().is_record(self.id());
        Ok(StorageInfo::of(state.array(self.id())?, is_record))
    }
}
