//! Boxes on their way from file to file: the next one is read while one is written, since neither keeps all threads busy.

use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use ferrocdf_array::{Fit, In, Kind, Out, Selection};
use ferrocdf_bytes::{Code, Error, Result};

use super::Pair;
use crate::data::{elements, zeros};
use crate::{File, FileMut};

/// Boxes that are in memory at a time.
pub(super) const BUFFERS: u64 = 2;
/// Bytes of a box that are worth a thread.
const WORTH: u64 = 1 << 20;

/// A box of a variable, and the type of its elements in the source.
pub(super) struct Piece {
    pub(super) pair: Pair,
    pub(super) kind: Kind,
    pub(super) selection: Selection,
}

impl Piece {
    fn read(&self, from: &File, buffer: &mut Vec<u8>) -> Result<()> {
        let bytes = elements(&self.selection)? * self.kind.size();
        if buffer.len() < bytes {
            *buffer = vec![];
            *buffer = zeros(bytes)?;
        }
        let _exact = from.read(self.pair.0, &self.selection, Out::raw(self.kind, &mut buffer[..bytes]))?;
        Ok(())
    }

    /// Writes what was read. Gives the number of bytes.
    fn write(&self, from: &File, to: &FileMut, buffer: &[u8]) -> Result<u64> {
        let bytes = elements(&self.selection)? * self.kind.size();
        match to.write(self.pair.1, &self.selection, In::raw(self.kind, &buffer[..bytes]))? {
            Fit::Exact => Ok(bytes as u64),
            Fit::OutOfRange => {
                let path = from.model().var_path(self.pair.0);
                let what = format!("{path}: a number does not fit in the type of the copy");
                Err(Error::new(Code::ERANGE, what))
            }
        }
    }
}

/// Copies boxes of at most `most` bytes, in their order; `bytes` are those of all.
pub(super) fn pipe(
    from: &File,
    to: &FileMut,
    pieces: impl Iterator<Item = Piece> + Send,
    (bytes, most): (u64, u64),
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let pieces = Mutex::new(pieces);
    // Nobody goes on after a panic.
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let one_by_one = |progress: &mut dyn FnMut(u64)| {
        let mut buffer = vec![];
        while let Some(piece) = next() {
            piece.read(from, &mut buffer)?;
            progress(piece.write(from, to, &buffer)?);
        }
        Ok(())
    };
    if bytes <= most || most < WORTH || ferrocdf_array::pool().is_none() {
        return one_by_one(progress);
    }
    std::thread::scope(|scope| {
        // Whoever ends early drops its ends of both, which ends the other.
        let (fill, filled) = sync_channel(BUFFERS as usize);
        let (empty, emptied) = channel();
        for _ in 0..BUFFERS {
            let _ = empty.send(vec![]);
        }
        let read = move || {
            while let (Ok(mut buffer), Some(piece)) = (emptied.recv(), next()) {
                let done = piece.read(from, &mut buffer).map(|()| (piece, buffer));
                let failed = done.is_err();
                if fill.send(done).is_err() || failed {
                    return;
                }
            }
        };
        if std::thread::Builder::new().spawn_scoped(scope, read).is_err() {
            return one_by_one(progress);
        }
        for done in filled {
            let (piece, buffer) = done?;
            progress(piece.write(from, to, &buffer)?);
            let _ = empty.send(buffer);
        }
        Ok(())
    })
}
