//! The chunks of a dataset in a file that somebody else may write meanwhile.
//!
//! A commit gives the chunks that it changes new places, and their old places to others from the next commit on. So whoever
//! has read chunks asks whether the index is still the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_array::{ChunkIndex, ChunkLocation, IndexSnapshot};
use ferrocdf_bytes::{Context, Result};
use ferrocdf_store::retry;

use super::Dataset;
use crate::chunks::DatasetChunks;
use crate::messages::{ChunkedLayout, DataLayout};
use crate::objects::kind;
use crate::objects::object::Object;
use crate::wire::bad;
use crate::{Address, File};

/// Chunks, looked for again whenever the file has changed.
#[derive(Debug)]
pub(crate) struct Watched {
    at: Address,
    /// What decoding them depends on.
    shape: Vec<u64>,
    messages: Vec<Vec<u8>>,
    /// The number of the first look.
    first: u64,
    last: Mutex<Look>,
}

/// The chunks that a header gave, and the file as it was then.
#[derive(Debug)]
struct Look {
    file: File,
    chunks: Arc<DatasetChunks>,
}

impl Watched {
    /// The chunks of the dataset that an object is. They are looked at again if the file has changed since it was opened:
    /// what was read ahead then may be older than they are.
    pub fn new(object: &Object, layout: &ChunkedLayout, chunks: Arc<DatasetChunks>) -> Result<Watched> {
        let last = Mutex::new(Look { file: object.file().clone(), chunks });
        let (shape, messages) = (layout.shape.clone(), messages(object));
        let mut watched = Watched { at: object.address(), shape, messages, first: 0, last };
        // Half-way through a change that fails.
        retry(|| watched.refresh(), |_| true)?;
        let first = watched.look().chunks.generation();
        watched.first = first;
        Ok(watched)
    }

    fn look(&self) -> MutexGuard<'_, Look> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_at(&self, file: File) -> Result<Look> {
        let object = file.object(self.at)?;
        let dataset = Dataset::open(&object)?;
        match dataset.layout() {
            DataLayout::Chunked(layout)
                if layout.shape == self.shape && messages(&object) == self.messages =>
            {
                let chunks = dataset.chunks(layout)?.clone();
                Ok(Look { file, chunks })
            }
            _ => Err(bad("another dataset is in its place now: somebody writes the file")),
        }
    }
}

/// What the elements are and what packs them.
fn messages(object: &Object) -> Vec<Vec<u8>> {
    let messages = [kind::DATATYPE, kind::PIPELINE].into_iter().filter_map(|kind| object.message(kind));
    messages.map(|message| message.body.clone()).collect()
}

impl ChunkIndex for Watched {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let chunks = self.look().chunks.clone();
        chunks.locate(first, count)
    }

    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        let chunks = self.look().chunks.clone();
        chunks.count_stored(first, count, limit)
    }

    fn snapshot(&self) -> Option<IndexSnapshot> {
        let last = self.look();
        let is_volatile = last.file.is_fresh() || last.chunks.generation() != self.first;
        Some(IndexSnapshot { index: last.chunks.clone(), is_volatile })
    }

    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        let mut last = self.look();
        if let Some(file) = last.file.changed()? {
            *last = self.look_at(file).at(|| format!("dataset at {}", self.at))?;
        }
        Ok(Some(last.chunks.clone()))
    }
}
