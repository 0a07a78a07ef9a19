//! The free-space note: a list of the free extents in a file, for the next editor.
//!
//! It is a structure of ferrocdf alone, at the very end of the file, where no address refers to it. Other writers ignore it: what
//! they add lies behind it, and a note that does not end where the file ends is invalid. Until then the note stays true: no other
//! writer uses space inside a file that it has not freed itself, and an editor destroys the note before the first commit
//! that may use the listed space. Rejected: empty chunks in the header of the root group, which every reader skips, but the
//! HDF5 library fails on some of them when it edits that header.
//!
//! A commit never ends a file behind bytes that look like the end of a note: a later editor would take an old note for a valid one.
//!
//! The initial value of the checksum is the address of the note, so that a note at another address is invalid.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result, lookup3};
use smallvec::SmallVec;

use super::Editor;
use super::space::{Extent, lock};
use crate::fields::Fields;
use crate::wire;
use crate::{Address, Source};

const WHAT: &str = "free-space note";
const SIGNATURE: [u8; 8] = *b"fcdfFREE";
/// Bytes of the tail. The last [`UNCHECKED`] of them are not part of the checksum.
const TAIL: usize = 16;
const UNCHECKED: usize = 12;
/// Bytes of a piece.
const PIECE: u64 = 16;
/// Bytes at the beginning of a file that are never free.
const SUPERBLOCK: u64 = 48;
/// Bytes of a piece that is worth a note, and the most pieces of one.
const LEAST: u64 = 16;
const MOST: usize = 4096;

/// The note before its tail: pieces by address.
struct NotePieces {
    count: u64,
    pieces: Vec<Extent>,
}

impl Record for NotePieces {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.list("piece", self.count, &mut self.pieces, |piece, c| {
            c.position("address", 8, &mut piece.at.0)?;
            c.int("length", &mut piece.len)
        })
    }
}

/// The tail of the note, by which it is found at the end of a file.
struct NoteTail {
    /// The number of pieces.
    count: u32,
    /// Checksum of the pieces and of their number.
    checksum: u32,
    signature: SmallVec<[u8; 8]>,
}

impl Record for NoteTail {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.int("number of pieces", &mut self.count)?;
        c.int("checksum", &mut self.checksum)?;
        c.bytes("signature", 8, &mut self.signature)
    }
}

/// Returns the bytes of a note of so many pieces; the caller has counted at most [`MOST`] of them.
fn len(pieces: u64) -> u64 {
    pieces.saturating_mul(PIECE).saturating_add(TAIL as u64)
}

/// Returns the note that begins at an address.
fn encode(pieces: Vec<Extent>, at: Address) -> Result<Vec<u8>> {
    let count = pieces.len() as u64;
    let mut tail = NoteTail { count: count as u32, checksum: 0, signature: SIGNATURE.into() };
    let mut bytes = wire::encode(&mut NotePieces { count, pieces })?;
    bytes.extend(wire::encode(&mut tail)?);
    let checked = bytes.len().saturating_sub(UNCHECKED);
    tail.checksum = lookup3(&bytes[..checked], at.0 as u32);
    bytes.truncate(bytes.len().saturating_sub(TAIL));
    bytes.extend(wire::encode(&mut tail)?);
    Ok(bytes)
}

/// Returns the extent of the note of a file that ends at `end`, and the pieces that it calls free; `None` if there is none.
pub(super) fn read(source: &Source, end: u64) -> Result<Option<(Extent, Vec<Extent>)>> {
    let Some(tail_at) = end.checked_sub(TAIL as u64) else { return Ok(None) };
    let Ok(bytes) = source.read(WHAT, Address(tail_at), TAIL as u64) else { return Ok(None) };
    let mut tail = NoteTail { count: 0, checksum: 0, signature: SmallVec::new() };
    wire::decode(&mut tail, WHAT, Address(tail_at), &bytes)?;
    let count = u64::from(tail.count);
    if tail.signature[..] != SIGNATURE || count > MOST as u64 {
        return Ok(None);
    }
    let len = len(count);
    let Some(at) = end.checked_sub(len) else { return Ok(None) };
    let bytes = source.read(WHAT, Address(at), len)?;
    let mut note = NotePieces { count, pieces: vec![] };
    wire::decode(&mut note, WHAT, Address(at), &bytes)?;
    let checked = &bytes[..bytes.len().saturating_sub(UNCHECKED)];
    // A damaged note may not call space free that is in use.
    let mut free_from = SUPERBLOCK;
    let in_order = note.pieces.iter().all(|piece| {
        let fits = piece.at.0 >= free_from;
        free_from = piece.at.0.saturating_add(piece.len);
        fits && free_from <= at
    });
    if lookup3(checked, at as u32) != tail.checksum || !in_order {
        return Ok(None);
    }
    Ok(Some((Extent { at: Address(at), len }, note.pieces)))
}

/// Returns true if a file that ends at `end` would end with the signature of a note: bytes of an old one, in space that was taken and
/// never written.
pub(super) fn ends_with_signature(source: &Source, end: u64) -> bool {
    let len = SIGNATURE.len() as u64;
    let last = end.checked_sub(len).map(|at| source.read("the end of the file", Address(at), len));
    last.is_some_and(|last| last.is_ok_and(|last| last == SIGNATURE))
}

impl Editor {
    /// Takes the note of an opened file, and what it calls free.
    pub(super) fn take_note(&mut self) -> Result<()> {
        let mut space = lock(&self.space);
        if let Some((note, pieces)) = read(&self.source, space.end())? {
            pieces.iter().for_each(|piece| space.give_back(piece.at, piece.len));
            self.note = Some(note);
        }
        Ok(())
    }

    /// Destroys the note before a commit that may take what it calls free: no later reader may believe it, wherever the file
    /// ends then. Its own place is given up by the commit.
    pub(super) fn destroy_note(&mut self) -> Result<()> {
        let Some(note) = self.note else { return Ok(()) };
        let tail = Address(note.at.0.saturating_add(note.len).saturating_sub(TAIL as u64));
        self.blob.write_at(self.source.position(tail)?, &[0; TAIL])
    }

    /// Writes the note of a committed state, if so many bytes are free.
    ///
    /// # Errors
    /// Those of the blob. The file is whole without the note, and may be longer than its superblock says. Called again,
    /// this goes on where it failed.
    pub(super) fn leave_note(&mut self, least: u64) -> Result<()> {
        if self.note.is_none() {
            let mut space = lock(&self.space);
            let pieces = space.pieces(LEAST, MOST);
            let free: u64 = pieces.iter().map(|piece| piece.len).sum();
            if pieces.is_empty() || free < least {
                return Ok(());
            }
            let len = len(pieces.len() as u64);
            let Ok(at) = space.take_end(len) else { return Ok(()) };
            drop(space);
            let written =
                encode(pieces, at).and_then(|bytes| self.blob.write_at(self.source.position(at)?, &bytes));
            if let Err(error) = written.and_then(|()| self.wait()) {
                lock(&self.space).give_back(at, len);
                return Err(error);
            }
            self.note = Some(Extent { at, len });
        }
        self.superblock.end = self.source.position(Address(lock(&self.space).end()))?;
        self.write_superblock(&self.superblock)?;
        self.wait()?;
        self.wrote = false;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "numbers that the tests choose")]
mod tests {
    use std::sync::Arc;

    use ferrocdf_store::{BlobMut, MemoryBlob};

    use super::super::{Barrier, CreateOptions};
    use super::*;
    use crate::{OpenOptions, Sizes};

    fn found(bytes: Vec<u8>, base: u64) -> Vec<(u64, u64)> {
        let end = bytes.len() as u64 - base;
        let sizes = Sizes { offset: 8, length: 8 };
        let source =
            Source { blob: Arc::new(MemoryBlob::new(bytes)), base, sizes, codecs: Default::default() };
        let (note, mut pieces) =
            read(&source, end).unwrap().unwrap_or((Extent { at: Address(0), len: 0 }, vec![]));
        pieces.extend((note.len > 0).then_some(note));
        pieces.iter().map(|piece| (piece.at.0, piece.len)).collect()
    }

    /// A file of this many bytes with a note behind them.
    fn noted(len: usize, pieces: &[(u64, u64)]) -> Vec<u8> {
        let pieces: Vec<Extent> = pieces.iter().map(|&(at, len)| Extent { at: Address(at), len }).collect();
        [vec![7; len], encode(pieces, Address(len as u64)).unwrap()].concat()
    }

    #[test]
    fn notes_are_read_where_files_end() {
        let noted_there = noted(1000, &[(100, 64), (164, 500), (900, 100)]);
        let all = [(100, 64), (164, 500), (900, 100), (1000, 64)];
        assert_eq!(found(noted_there.clone(), 0), all);
        assert_eq!(found([vec![0; 512], noted_there.clone()].concat(), 512), all);
        assert_eq!(found([noted_there, vec![0; 8]].concat(), 0), []);
        assert_eq!(found(vec![0; 10], 0), []);
        assert_eq!(found(noted(48, &[]), 0), [(48, 16)]);
    }

    #[test]
    fn commits_do_not_end_files_behind_old_notes() {
        let blob = Arc::new(MemoryBlob::default());
        let mut editor = Editor::create(blob.clone(), &CreateOptions::default()).unwrap();
        editor.commit().unwrap();
        let end = lock(&editor.space).end();
        // What lies in space that is taken now, and is not written.
        let at = lock(&editor.space).take(200).unwrap();
        blob.write_at(at.0, &[vec![0; 200 - 16], encode(vec![], Address(at.0 + 184)).unwrap()].concat())
            .unwrap();
        assert!(ends_with_signature(&editor.source, end + 200));
        editor.unwritten = true;
        editor.commit().unwrap();
        assert_eq!(lock(&editor.space).end(), end + 208);
        assert_eq!(read(&editor.source, editor.superblock.end).unwrap(), None);
    }

    #[test]
    fn notes_are_destroyed_before_what_they_call_free_is_used() {
        let blob = Arc::new(MemoryBlob::default());
        let mut editor = Editor::create(blob.clone(), &CreateOptions::default()).unwrap();
        let piece = lock(&editor.space).take(500).unwrap();
        lock(&editor.space).take(8).unwrap();
        editor.commit().unwrap();
        lock(&editor.space).give_back(piece, 500);
        editor.close(0).unwrap();
        let noted = blob.to_bytes();
        assert_eq!(blob.to_bytes().len() as u64, editor.superblock.end);
        drop(editor);

        let open = || Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
        // Nothing was changed: it stays.
        let mut editor = open();
        assert!(editor.note.is_some());
        editor.close(0).unwrap();
        assert_eq!(blob.to_bytes(), noted);
        // What it calls free is taken, and the file ends elsewhere; then it ends where the note did.
        let mut editor = open();
        assert_eq!(lock(&editor.space).take(500).unwrap(), piece);
        let behind = lock(&editor.space).take(1000).unwrap();
        assert!(behind.0 >= noted.len() as u64);
        editor.unwritten = true;
        editor.commit().unwrap();
        blob.set_size(noted.len() as u64).unwrap();
        assert_eq!(read(&editor.source, noted.len() as u64).unwrap(), None);
    }

    #[test]
    fn what_a_crash_left_behind_the_end_is_cut_off() {
        let blob = Arc::new(MemoryBlob::default());
        let mut editor = Editor::create(blob.clone(), &CreateOptions::default()).unwrap();
        editor.commit().unwrap();
        let whole = blob.to_bytes();
        blob.write_at(whole.len() as u64, b"behind").unwrap();
        drop(editor);
        Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
        assert_eq!(blob.to_bytes(), whole);
    }

    #[test]
    fn damaged_notes_are_none() {
        let whole = noted(1000, &[(100, 64), (200, 500)]);
        for byte in 1000..whole.len() {
            let mut bytes = whole.clone();
            bytes[byte] ^= 0x10;
            assert_eq!(found(bytes, 0), [], "byte {byte}");
        }
        // Moved with what is before it cut off, it is about other places.
        assert_eq!(found(whole[8..].to_vec(), 0), []);
        for pieces in
            [[(200, 500), (100, 64)], [(100, 200), (200, 500)], [(0, 64), (200, 500)], [(100, 1), (900, 101)]]
        {
            assert_eq!(found(noted(1000, &pieces), 0), [], "{pieces:?}");
        }
        assert_eq!(found(noted(1000, &[(100, u64::MAX)]), 0), []);
    }
}
