//! Boxes on their way from file to file: the next one is read while one is written, since neither keeps all threads busy.

use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use ferrocdf_array::{In, Kind, Out, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::is_sparse;

use super::{Pair, Shift};
use crate::elements::{elements, zeros};
use crate::{File, FileMut};

/// Boxes that are in memory at a time.
pub(super) const BUFFERS: u64 = 2;
/// Bytes of a box that are worth a thread.
const WORTH: u64 = 1 << 20;

/// A variable to copy.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) pair: Pair,
    pub(super) shift: Shift,
    /// The type of its elements in the source.
    pub(super) kind: Kind,
    /// True if the source may have unwritten elements.
    pub(super) has_unwritten: bool,
    /// Whether zeros are not written where the copy has zeros: the source may have holes there.
    pub(super) skips_zeros: bool,
}

impl Job {
    /// Looks where a variable lies: with patience, since somebody may write the source.
    pub(super) fn new(from: &File, pair: Pair, shift: Shift) -> Result<Job> {
        from.reading(|state| {
            let array = state.array(pair.0)?;
            let is_external = state.is_external(pair.0)?;
            let has_unwritten = state.has_unwritten(pair.0)?;
            let skips_zeros = has_unwritten || is_external || is_sparse(from.path());
            Ok(Job { pair, shift, kind: array.stored.kind, has_unwritten, skips_zeros })
        })
    }
}

/// A box of a variable.
pub(super) struct Piece {
    pub(super) job: Job,
    pub(super) selection: Selection,
    /// Whether it is not copied, since the copy reads the same without it.
    pub(super) is_left_out: bool,
}

impl Piece {
    fn bytes(&self) -> Result<usize> {
        Ok(elements(&self.selection)?.saturating_mul(self.job.kind.size()))
    }

    /// Returns the bytes of a box that is not copied, which may be more than memory holds.
    fn left_out_bytes(&self) -> u64 {
        self.selection.elements().unwrap_or(u64::MAX).saturating_mul(self.job.kind.size() as u64)
    }

    /// Reads the box into a buffer, which gets at least `room` bytes if it is too small: larger boxes may follow.
    fn read(&self, from: &File, buffer: &mut Vec<u8>, room: u64) -> Result<()> {
        let bytes = self.bytes()?;
        if buffer.len() < bytes {
            *buffer = vec![];
            *buffer = zeros(bytes.max(room as usize))?;
        }
        let out = Out::raw(self.job.kind, &mut buffer[..bytes]);
        let _exact = from.read(self.job.pair.0, &self.selection, out)?;
        Ok(())
    }

    /// Writes what was read. Returns the number of bytes that are done.
    fn write(&self, from: &File, to: &FileMut, buffer: &[u8]) -> Result<u64> {
        let bytes = self.bytes()?;
        let Job { pair, shift, kind, skips_zeros, .. } = self.job;
        let selection = shift.moved(self.selection.clone())?;
        match to.write_sparse(pair.1, &selection, In::raw(kind, &buffer[..bytes]), skips_zeros)? {
            RangeCheck::InRange => Ok(bytes as u64),
            RangeCheck::OutOfRange => {
                let path = from.model().var_path(pair.0);
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
    pieces: impl Iterator<Item = Result<Piece>> + Send,
    (bytes, most): (u64, u64),
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let pieces = Mutex::new(pieces);
    let room = bytes.min(most);
    // The next box to copy, and the bytes of those before it that are left out.
    let next = || -> Result<(u64, Option<Piece>)> {
        // Nobody goes on after a panic.
        let mut pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left_out = 0;
        loop {
            match pieces.next().transpose()? {
                Some(piece) if piece.is_left_out => {
                    left_out = piece.left_out_bytes().saturating_add(left_out)
                }
                piece => return Ok((left_out, piece)),
            }
        }
    };
    let one_by_one = |progress: &mut dyn FnMut(u64)| {
        let mut buffer = vec![];
        loop {
            let (left_out, piece) = next()?;
            let Some(piece) = piece else {
                if left_out > 0 {
                    progress(left_out);
                }
                return Ok(());
            };
            piece.read(from, &mut buffer, room)?;
            progress(left_out.saturating_add(piece.write(from, to, &buffer)?));
        }
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
            while let Ok(mut buffer) = emptied.recv() {
                let done = next().and_then(|(left_out, piece)| {
                    piece.as_ref().map_or(Ok(()), |piece| piece.read(from, &mut buffer, room))?;
                    Ok((left_out, piece, buffer))
                });
                let is_last = !matches!(done, Ok((_, Some(_), _)));
                if fill.send(done).is_err() || is_last {
                    return;
                }
            }
        };
        if std::thread::Builder::new().spawn_scoped(scope, read).is_err() {
            return one_by_one(progress);
        }
        for done in filled {
            let (left_out, piece, buffer) = done?;
            let copied = piece.map_or(Ok(0), |piece| piece.write(from, to, &buffer))?;
            if left_out > 0 || copied > 0 {
                progress(left_out.saturating_add(copied));
            }
            let _ = empty.send(buffer);
        }
        Ok(())
    })
}
