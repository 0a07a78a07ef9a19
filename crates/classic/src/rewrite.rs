//! Changing the header of a file that is there, and moving data when the header or a variable before it grew.
//!
//! The classic formats have room for one state only, so a change that no single write can make is made in a copy that
//! takes the place of the file ([`BlobMut::replace`]). Where there can be no copy, or no room for one, the change is made
//! in place: a header in one write that is undone if it fails; data from the end towards the front, since it only ever
//! moves towards the end, so that no byte is overwritten before it was moved. A process that is killed during such moves
//! leaves moved data under an old header.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{BlobMut, WriteBehind};

use crate::layout::{Layout, Place};

/// Bytes moved at a time.
const PIECE: u64 = 4 << 20;

/// Bytes of a block of the file system: what lies in one is written whole or not at all.
const BLOCK: usize = 4096;

/// The largest file that is copied for a change of its header alone.
const COPIED: u64 = 16 << 20;

/// Writes a header over the old one of so many bytes, if there is one. The data stays where it is.
///
/// # Errors
/// Those of the blob. The old header is there then, unless it could not be restored either.
pub fn header(blob: &dyn BlobMut, old_size: Option<u64>, new: &[u8]) -> Result<()> {
    if old_size.is_none() {
        return blob.write_at(0, new).and_then(|()| blob.flush());
    }
    let mut old = vec![0; new.len()];
    blob.read_zero_filled_at(0, &mut old)?;
    let differs = |at: &usize| old[*at] != new[*at];
    let (Some(first), Some(last)) = ((0..new.len()).find(differs), (0..new.len()).rfind(differs)) else {
        return blob.flush();
    };
    let is_one_block = first / BLOCK == last / BLOCK;
    if !is_one_block && blob.size()? <= COPIED && copy(blob, &mut |to| copy_with_header(blob, to, new))? {
        return Ok(());
    }
    let write = |bytes: &[u8]| blob.write_at(first as u64, &bytes[first..=last]).and_then(|()| blob.flush());
    write(new).inspect_err(|_| {
        // What cannot be restored now either is what it was, or waits in memory for the next flush.
        let _ = write(&old);
    })
}

/// Replaces a blob by a copy that `write` makes. False where it cannot be replaced, or there is no room for a copy.
fn copy(blob: &dyn BlobMut, write: &mut dyn FnMut(&dyn BlobMut) -> Result<()>) -> Result<bool> {
    /// `ENOSPC` and `EDQUOT`.
    const NO_ROOM: [Code; 2] = [Code(28), Code(122)];
    blob.flush()?;
    let done = blob.replace(&mut |to| {
        // Records of many small variables are many small writes.
        let to = WriteBehind::new(to);
        write(&to)?;
        to.flush()
    });
    match done {
        Err(error) if NO_ROOM.contains(&error.code) => Ok(false),
        done => done,
    }
}

fn copy_with_header(blob: &dyn BlobMut, to: &dyn BlobMut, header: &[u8]) -> Result<()> {
    let size = blob.size()?;
    let begin = header.len() as u64;
    to.write_at(0, header)?;
    copy_range(blob, to, (begin, begin), size.saturating_sub(begin))?;
    if to.size()? < size { to.set_size(size) } else { Ok(()) }
}

/// A header that outgrew its place, or a record that did.
pub struct Plan<'a> {
    /// The new header.
    pub header: &'a [u8],
    /// Where data lies.
    pub old: &'a Layout,
    /// Where it is to lie.
    pub new: &'a Layout,
    /// The number of records.
    pub records: u64,
    /// The size of the file then.
    pub size: u64,
    /// Places of new variables that wait for their fill values. They are zero until then, not what lay there before.
    pub waiting: &'a [Place],
}

/// Why a plan was not carried out.
pub struct Failure {
    /// The error.
    pub error: Error,
    /// Whether some data was moved in place, so that the file is damaged.
    pub half_moved: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, half_moved: false }
    }
}

impl Plan<'_> {
    /// Moves the data and writes the header.
    pub fn run(&self, blob: &dyn BlobMut) -> Result<(), Failure> {
        if copy(blob, &mut |to| self.copy_all(blob, to))? {
            return Ok(());
        }
        make_room(blob, self.size)?;
        let move_back = |from, to, len| move_back(blob, from, to, len);
        let moved = self.each_run(&mut { move_back }).and_then(|()| self.clear_waiting(blob));
        let done = moved.and_then(|()| header(blob, None, self.header));
        done.map_err(|error| Failure { error, half_moved: true })
    }

    fn copy_all(&self, blob: &dyn BlobMut, to: &dyn BlobMut) -> Result<()> {
        to.write_at(0, self.header)?;
        // Bytes that no data moves to stay, as where data is moved in place: the reference leaves them so.
        let header = self.header.len() as u64;
        copy_range(blob, to, (header, header), blob.size()?.saturating_sub(header))?;
        self.each_run(&mut |from, at, len| copy_range(blob, to, (from, at), len))?;
        self.clear_waiting(to)?;
        // A file does not become shorter: the reference leaves what lies behind the data.
        let size = self.size.max(blob.size()?);
        if to.size()? < size { to.set_size(size) } else { Ok(()) }
    }

    fn clear_waiting(&self, blob: &dyn BlobMut) -> Result<()> {
        for place in self.waiting {
            for record in 0..if place.record { self.records } else { 1 } {
                clear(blob, place.begin + record * self.new.record_size, place.bytes)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with each run of data: where it begins in the old layout and in the new one, and how long it is. The
    /// last one in the file comes first.
    fn each_run(&self, each: &mut dyn FnMut(u64, u64, u64) -> Result<()>) -> Result<()> {
        self.each_record_run(each)?;
        let places = self.old.places.iter().zip(&self.new.places);
        for (from, to) in places.rev().filter(|(from, _)| !from.record) {
            each(from.begin, to.begin, from.padded())?;
        }
        Ok(())
    }

    fn each_record_run(&self, each: &mut dyn FnMut(u64, u64, u64) -> Result<()>) -> Result<()> {
        let (old, new) = (self.old, self.new);
        let slabs = || old.places.iter().zip(&new.places).filter(|(from, _)| from.record);
        let Some((first_from, first_to)) = slabs().next() else { return Ok(()) };
        let shift = first_to.begin - first_from.begin;
        let all_alike = slabs().all(|(from, to)| to.begin - from.begin == shift);
        if all_alike && old.record_size == new.record_size {
            return each(first_from.begin, first_to.begin, old.record_size * self.records);
        }
        for record in (0..self.records).rev() {
            for (from, to) in slabs().rev() {
                let (from_at, to_at) = (record * old.record_size, record * new.record_size);
                each(from.begin + from_at, to.begin + to_at, from.bytes)?;
            }
        }
        Ok(())
    }
}

/// Makes a file as long as it will be, with bytes that are truly there, so that a full disk is met before any data is
/// overwritten. The file is as it was if that fails.
fn make_room(blob: &dyn BlobMut, size: u64) -> Result<()> {
    let old = blob.size()?;
    let zeros = vec![0; size.saturating_sub(old).min(PIECE) as usize];
    let mut at = old;
    while at < size {
        let piece = &zeros[..(size - at).min(PIECE) as usize];
        if let Err(error) = blob.write_at(at, piece).and_then(|()| blob.flush()) {
            blob.set_size(old)?;
            return Err(error);
        }
        at += piece.len() as u64;
    }
    Ok(())
}

/// Writes zeros over what a file has of a range.
fn clear(blob: &dyn BlobMut, mut at: u64, len: u64) -> Result<()> {
    let end = at.saturating_add(len).min(blob.size()?);
    let zeros = vec![0; end.saturating_sub(at).min(PIECE) as usize];
    while at < end {
        let piece = &zeros[..(end - at).min(PIECE) as usize];
        blob.write_at(at, piece)?;
        at += piece.len() as u64;
    }
    Ok(())
}

/// Copies `len` bytes to another blob. What is zero is left out behind its end, where it reads as zero, and so is what lies
/// past the end of the file.
fn copy_range(blob: &dyn BlobMut, to: &dyn BlobMut, (from, at): (u64, u64), len: u64) -> Result<()> {
    let len = len.min(blob.size()?.saturating_sub(from));
    let mut buffer = vec![0; len.min(PIECE) as usize];
    let mut done = 0;
    while done < len {
        let piece = &mut buffer[..(len - done).min(PIECE) as usize];
        blob.read_exact_at(from + done, piece)?;
        if at + done < to.size()? || piece.iter().any(|&byte| byte != 0) {
            to.write_at(at + done, piece)?;
        }
        done += piece.len() as u64;
    }
    Ok(())
}

/// Moves `len` bytes towards the end of the file; source and target may overlap. What lies past the end of the file
/// was never written and is left so.
fn move_back(blob: &dyn BlobMut, from: u64, to: u64, len: u64) -> Result<()> {
    if from == to {
        return Ok(());
    }
    let mut left = len.min(blob.size()?.saturating_sub(from));
    let mut buffer = vec![0; left.min(PIECE) as usize];
    while left > 0 {
        let piece = &mut buffer[..left.min(PIECE) as usize];
        left -= piece.len() as u64;
        blob.read_exact_at(from + left, piece)?;
        blob.write_at(to + left, piece)?;
    }
    Ok(())
}
