//! External raw data: a contiguous dataset whose bytes lie in files of their own, one piece behind the other.

use std::sync::Arc;

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, Cost};

use crate::File;
use crate::chunks::Lazy;
use crate::heaps::LocalHeap;
use crate::messages::ExternalFiles;
use crate::wire::bad;

/// The bytes of a dataset, wherever they are.
pub(crate) struct ExternalBlob {
    file: File,
    pieces: Vec<Piece>,
}

/// A piece of the dataset.
struct Piece {
    name: Vec<u8>,
    /// Where it begins in the file, and where in the dataset it begins and ends.
    offset: u64,
    start: u64,
    end: u64,
    /// The file, opened when it is first needed.
    blob: Lazy<Arc<dyn Blob>>,
}

impl ExternalBlob {
    /// The bytes that a message describes. The files are not opened yet.
    pub fn new(file: &File, files: &ExternalFiles) -> Result<ExternalBlob> {
        let mut names = LocalHeap::open(file.source(), files.heap)?;
        names.read_whole()?;
        let mut pieces = Vec::new();
        let mut start = 0u64;
        for slot in &files.slots {
            let end = slot.size.map_or(u64::MAX, |size| start.saturating_add(size));
            let name = names.string(slot.name)?;
            pieces.push(Piece { name, offset: slot.offset, start, end, blob: Lazy::default() });
            start = end;
        }
        Ok(ExternalBlob { file: file.clone(), pieces })
    }

    /// The names of the files, in the order of the pieces.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| &*piece.name)
    }

    fn open(&self, piece: &Piece) -> Result<Arc<dyn Blob>> {
        let found = self.file.neighbour_blob(&piece.name)?;
        found.ok_or_else(|| {
            bad(format!("external raw data file \"{}\" is not there", piece.name.escape_ascii()))
        })
    }
}

impl Blob for ExternalBlob {
    fn size(&self) -> Result<u64> {
        Ok(self.pieces.last().map_or(0, |piece| piece.end))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        for piece in &self.pieces {
            let from = at.saturating_add(done as u64);
            if done == into.len() || from >= piece.end {
                continue;
            }
            // Pieces follow one another, so `from` is not before this one.
            let len = (piece.end - from).at_most(into.len() - done);
            let position = (from - piece.start).checked_add(piece.offset);
            let position = position.ok_or_else(|| bad("external raw data beyond byte 2^64 of its file"))?;
            // A file may be shorter than what is reserved in it.
            let blob = piece.blob.get(|| self.open(piece))?;
            blob.read_zero_filled_at(position, &mut into[done..done + len])?;
            done += len;
        }
        Ok(done)
    }

    fn name(&self) -> String {
        format!("external raw data of {:?}", self.file)
    }

    fn cost(&self) -> Cost {
        // The pieces are files beside this one, which need not be open to know what they cost.
        self.file.source().blob.cost()
    }
}
