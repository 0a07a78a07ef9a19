//! Bytes in pieces: linked blocks, ranges of another file, and parts that were never written.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_store::{Blob, Cost, ReadRequest, read_parts};

/// Where a run of bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this position of the file.
    At(u64),
    /// The bytes were never written.
    Unwritten,
    /// In a linked block of this reference number, which the file does not have.
    Missing(u16),
}

/// A run of bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the bytes are.
    pub place: Place,
    /// Number of bytes.
    pub len: u64,
}

impl Piece {
    /// A run of bytes at a position of the file.
    pub fn at(at: u64, len: u64) -> Piece {
        Piece { place: Place::At(at), len }
    }
}

/// Adds a piece to others, joined with the last one if it goes on where that ends. An empty piece adds nothing.
pub(crate) fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    if piece.len == 0 {
        return;
    }
    if let Some(last) = pieces.last_mut() {
        let goes_on = match (last.place, piece.place) {
            (Place::At(last_at), Place::At(at)) => last_at.checked_add(last.len) == Some(at),
            (last, next) => last == next,
        };
        if goes_on && let Some(len) = last.len.checked_add(piece.len) {
            last.len = len;
            return;
        }
    }
    pieces.push(piece);
}

/// Returns the number of bytes of pieces that the file has.
pub(crate) fn stored(pieces: &[Piece]) -> u64 {
    let stored = pieces.iter().filter(|piece| matches!(piece.place, Place::At(_)));
    stored.fold(0u64, |sum, piece| sum.saturating_add(piece.len))
}

/// Returns the pieces of the first `len` bytes.
pub(crate) fn prefix(pieces: &[Piece], len: u64) -> Vec<Piece> {
    let (mut kept, mut left) = (vec![], len);
    for &piece in pieces {
        push(&mut kept, Piece { len: piece.len.min(left), ..piece });
        left = left.saturating_sub(piece.len);
    }
    kept
}

/// An error about bytes past the end of a file.
pub(crate) fn cut_short(blob: &dyn Blob, at: u64, len: u64) -> Error {
    let size = blob.size().map_or_else(|_| "fewer".into(), |size| size.to_string());
    let what = format!("{len} bytes at byte {at} reach past the end of the file, which has {size} bytes");
    Error::new(Code::ETRUNC, what)
}

/// A blob made of pieces, one behind the other. Bytes that were never written, and all behind the last piece, are those of `fill`.
pub(crate) struct PieceBlob {
    blob: Arc<dyn Blob>,
    /// For each piece where it begins among the bytes of all.
    pieces: Vec<(u64, Piece)>,
    end: u64,
    size: u64,
    /// The bytes of an unwritten element, repeated; zeros if empty.
    fill: Arc<[u8]>,
}

impl PieceBlob {
    /// Makes a blob of `size` bytes.
    pub fn new(blob: Arc<dyn Blob>, pieces: &[Piece], size: u64, fill: Arc<[u8]>) -> PieceBlob {
        let mut end = 0u64;
        let pieces = pieces
            .iter()
            .map(|&piece| {
                let start = end;
                end = end.saturating_add(piece.len);
                (start, piece)
            })
            .collect();
        PieceBlob { blob, pieces, end, size, fill }
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Fills bytes from position `at` on that were never written.
    fn fill(&self, at: u64, into: &mut [u8]) {
        let Some(skip) = at.checked_rem(self.fill.len() as u64) else { return into.fill(0) };
        into.iter_mut()
            .zip(self.fill.iter().cycle().skip(skip.saturate()))
            .for_each(|(to, from)| *to = *from);
    }

    /// Splits a read at the borders of pieces, as [`read_parts`](ferrocdf_store::read_parts) wants it. Returns the number of its bytes.
    pub fn split<'b>(
        &self,
        at: u64,
        into: &'b mut [u8],
        requests: &mut Vec<ReadRequest<'b>>,
    ) -> Result<usize> {
        let len = self.available(at, into.len());
        self.cut(at, &mut into[..len], requests)?;
        Ok(len)
    }

    /// Cuts a request at the borders of pieces. Fills what was never written; returns the requests for the rest.
    fn cut<'b>(&self, at: u64, mut into: &'b mut [u8], requests: &mut Vec<ReadRequest<'b>>) -> Result<()> {
        let mut position = at;
        let mut number = self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        while !into.is_empty() {
            let Some((start, piece)) = self.pieces.get(number).filter(|_| position < self.end) else {
                self.fill(position, into);
                return Ok(());
            };
            let skip = position.saturating_sub(*start);
            let left = piece.len.saturating_sub(skip).saturate();
            let (part, rest) = into.split_at_mut(left.min(into.len()));
            let part_len = part.len() as u64;
            match piece.place {
                Place::At(at) => {
                    let beyond = || Error::new(Code::EHDFERR, "a piece of an element lies beyond byte 2^64");
                    requests.push(ReadRequest::new(at.checked_add(skip).ok_or_else(beyond)?, part));
                }
                Place::Unwritten => self.fill(position, part),
                Place::Missing(block) => {
                    return Err(Error::new(
                        Code::EHDFERR,
                        format!("linked block {block} is not in the file"),
                    ));
                }
            }
            into = rest;
            position = position.saturating_add(part_len);
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// Returns how many bytes from position `at` on a request of `len` bytes gets.
    fn available(&self, at: u64, len: usize) -> usize {
        self.size.saturating_sub(at).at_most(len)
    }

    /// Checks that a read from position `at` on has all bytes that [`split`](PieceBlob::split) promised.
    ///
    /// # Errors
    /// `ETRUNC` if the file ends before one of the pieces does.
    pub fn check(&self, at: u64, request: &ReadRequest<'_>) -> Result<()> {
        if request.len >= self.available(at, request.into.len()) {
            return Ok(());
        }
        let (size, end) = (self.blob.size()?, at.saturating_add(request.into.len() as u64));
        let read =
            self.pieces.iter().filter(|(start, piece)| *start < end && start.saturating_add(piece.len) > at);
        let mut stored = read.filter_map(|(_, piece)| match piece.place {
            Place::At(at) => Some((at, piece.len)),
            Place::Unwritten | Place::Missing(_) => None,
        });
        let beyond = stored.find(|(at, len)| at.saturating_add(*len) > size);
        let (at, len) = beyond.unwrap_or((size, 1));
        Err(cut_short(&*self.blob, at, len))
    }
}

impl Blob for PieceBlob {
    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut requests = [ReadRequest::new(at, into)];
        self.read_many(&mut requests)?;
        Ok(requests[0].len)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        read_parts(&*self.blob, requests, |at, into, parts| self.split(at, into, parts))?;
        requests.iter().try_for_each(|request| self.check(request.at, request))
    }

    fn name(&self) -> String {
        format!("{} (in {} pieces)", self.blob.name(), self.pieces.len())
    }

    fn cost(&self) -> Cost {
        self.blob.cost()
    }

    fn forget(&self) {
        self.blob.forget();
    }
}
