//! A decoded chunk, as it is shared between the engine, the cache and the pending chunks.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error};
use ferrocdf_codec::unshuffle_part;

use super::changes::Changes;
use crate::Index;

/// The coordinates of a chunk in the grid of chunks of its array.
pub(super) type Key = Index;

/// A decoded chunk that several threads may hold.
pub(super) type Shared = Arc<Decoded>;

/// The bytes of a decoded chunk, and their origin.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// The element size in bytes, if the bytes are still shuffled; see [`ChunkView::planes`].
    pub(super) planes: Option<usize>,
    /// Generation of the snapshot that located the chunk, if it was read; see
    /// [`ChunkIndex::generation`](super::index::ChunkIndex::generation).
    pub(super) generation: Option<u64>,
    /// Number of elements that were written into the chunk; an element that is written twice counts twice.
    pub(super) written: u64,
    /// The elements that were written, where other writers may store the chunk too.
    pub(super) changes: Option<Box<Changes>>,
}

impl Decoded {
    /// Returns a chunk of which `written` elements were written.
    pub(super) fn written(bytes: Vec<u8>, written: u64, changes: Option<Box<Changes>>) -> Shared {
        Arc::new(Decoded { bytes, planes: None, generation: None, written, changes })
    }

    /// True if the store has taken the changes of the chunk, or refused them; false for chunks that nobody else writes.
    pub(super) fn is_settled(&self) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.is_settled())
    }

    /// True if the chunk is valid for the snapshot with this generation: it was located by it, or it was written by this process.
    pub(super) fn is_of(&self, generation: u64) -> bool {
        self.generation.is_none_or(|own| own == generation)
    }

    /// Borrows the bytes.
    pub(super) fn view(&self) -> ChunkView<'_> {
        ChunkView { bytes: &self.bytes, planes: self.planes.is_some() }
    }

    /// Returns a copy of the bytes, unshuffled.
    fn unshuffled(&self) -> Vec<u8> {
        let Some(size) = self.planes else { return self.bytes.clone() };
        let mut bytes = vec![0; self.bytes.len()];
        unshuffle_part(size, &self.bytes, 0, &mut bytes);
        bytes
    }

    /// Returns the chunk for a reader of elements of `size` bytes: unshuffled if it was shuffled with another element size.
    pub(super) fn for_elements(self: Arc<Self>, size: usize) -> Shared {
        if self.planes.is_none_or(|of| of == size) {
            self
        } else {
            let changes = self.changes.clone();
            Arc::new(Decoded { bytes: self.unshuffled(), planes: None, changes, ..*self })
        }
    }
}

/// Returns the unshuffled bytes of a chunk; copies them only if they are shared or shuffled.
pub(super) fn owned(chunk: Shared) -> Vec<u8> {
    owned_with_changes(chunk).0
}

/// Returns what [`owned`] does, and the changes.
pub(super) fn owned_with_changes(chunk: Shared) -> (Vec<u8>, Option<Box<Changes>>) {
    match Arc::try_unwrap(chunk) {
        Ok(Decoded { bytes, planes: None, changes, .. }) => (bytes, changes),
        Ok(shuffled) => (shuffled.unshuffled(), shuffled.changes),
        Err(shared) => (shared.unshuffled(), shared.changes.clone()),
    }
}

/// Borrowed bytes of a decoded chunk.
#[derive(Clone, Copy)]
pub(crate) struct ChunkView<'a> {
    pub(crate) bytes: &'a [u8],
    /// True if the bytes are still shuffled: the first bytes of all elements, then the second bytes, and so on. A reader of
    /// few elements unshuffles these alone.
    pub(crate) planes: bool,
}

/// Returns a name of a stored chunk for messages, such as "chunk (3, 0) at byte 81920".
pub(super) fn name(key: &[u64], at: u64) -> String {
    format!("chunk {} at byte {at}", coordinates(key))
}

/// Returns the coordinates of a chunk for messages, such as "(3, 0)".
pub(super) fn coordinates(key: &[u64]) -> String {
    let list: Vec<String> = key.iter().map(u64::to_string).collect();
    format!("({})", list.join(", "))
}

/// Returns the error for an unfiltered chunk of a file that has fewer bytes than its elements.
pub(super) fn too_short(len: u64, chunk_len: u64) -> Error {
    Error::new(Code::EHDFERR, format!("stored with {len} of {chunk_len} bytes, and without filters"))
}
