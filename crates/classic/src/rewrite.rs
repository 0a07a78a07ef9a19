//! Changing the header of a file that is there, and moving data when the header or a variable before it grew.
//!
//! The classic formats have room for one state only, so a change that no single write can make is made in a copy that
//! takes the place of the file ([`BlobMut::replace`]). Where there can be no copy, or no room for one, the change is made
//! in place: a header in one write that is undone if it fails, at once or as soon as the blob takes writes again; data from
//! the end towards the front, since it only ever moves towards the end, so that no byte is overwritten before it was moved. A
//! process that is killed during such moves leaves moved data under an old header.

use ferrocdf_bytes::{Code, Error, Result, ToUsize, errno};
use ferrocdf_store::{BlobMut, SkipZeros, WriteBehind, is_zero};

use crate::layout::{Layout, Place};

/// Bytes moved at a time.
const PIECE: u64 = 4 << 20;

/// Bytes of a block of the file system: what lies in one is written whole or not at all.
const BLOCK: usize = 4096;

/// The largest file that is copied for a change of its header alone.
const COPIED: u64 = 16 << 20;

/// Bytes of a header that a failed write may have torn.
pub struct OldHeader {
    at: u64,
    bytes: Vec<u8>,
}

impl OldHeader {
    /// Puts the bytes back.
    pub fn restore(&self, blob: &dyn BlobMut) -> Result<()> {
        blob.write_at(self.at, &self.bytes)?;
        blob.flush()
    }
}

/// Writes a header where none is, or where the old one must not come back.
pub fn write_header(blob: &dyn BlobMut, header: &[u8]) -> Result<()> {
    blob.write_at(0, header)?;
    blob.flush()
}

/// Writes a header over the old one. The data stays where it is.
pub fn change_header(blob: &dyn BlobMut, new: &[u8]) -> Result<(), Failure> {
    let mut old = vec![0; new.len()];
    blob.read_zero_filled_at(0, &mut old)?;
    let differs = |at: &usize| old[*at] != new[*at];
    let (Some(first), Some(last)) = ((0..new.len()).find(differs), (0..new.len()).rfind(differs)) else {
        return Ok(blob.flush()?);
    };
    let is_one_block = first / BLOCK == last / BLOCK;
    if !is_one_block && blob.size()? <= COPIED && copy(blob, &mut |to| copy_with_header(blob, to, new))? {
        return Ok(());
    }
    let at = first as u64;
    let written = blob.write_at(at, &new[first..=last]).and_then(|()| blob.flush());
    written.map_err(|error| {
        let old = OldHeader { at, bytes: old[first..=last].to_vec() };
        let damage = if old.restore(blob).is_ok() { Damage::None } else { Damage::TornHeader(old) };
        Failure { error, damage }
    })
}

/// Replaces a blob by a copy that `write` makes. False where it cannot be replaced, or there is no room for a copy.
fn copy(blob: &dyn BlobMut, write: &mut dyn FnMut(&dyn BlobMut) -> Result<()>) -> Result<bool> {
    const NO_ROOM: [Code; 2] = [errno::NOSPC, errno::DQUOT];
    blob.flush()?;
    let done = blob.replace(&mut |to| {
        // Holes stay holes.
        let sparse = SkipZeros(to);
        let to = if to.keeps_holes() { &sparse } else { to };
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

/// Why a change was not made.
pub struct Failure {
    /// The error.
    pub error: Error,
    /// What is wrong with the file now.
    pub damage: Damage,
}

/// What a failed change did to a file.
pub enum Damage {
    /// The file is as before.
    None,
    /// The header may be torn, and could not be restored.
    TornHeader(OldHeader),
    /// Some of the data was moved in place.
    HalfMoved,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, damage: Damage::None }
    }
}

/// Bytes that move together.
#[derive(Clone, Copy)]
struct Run {
    /// Position in the old layout.
    from: u64,
    /// Position in the new layout, never before the old one.
    to: u64,
    /// Number of bytes.
    len: u64,
}

impl Plan<'_> {
    /// Moves the data and writes the header.
    pub fn run(&self, blob: &dyn BlobMut) -> Result<(), Failure> {
        if copy(blob, &mut |to| self.copy_all(blob, to))? {
            return Ok(());
        }
        self.make_room(blob)?;
        self.move_all(blob).map_err(|error| Failure { error, damage: Damage::HalfMoved })
    }

    fn copy_all(&self, blob: &dyn BlobMut, to: &dyn BlobMut) -> Result<()> {
        let size = blob.size()?;
        to.write_at(0, self.header)?;
        let mut at = self.header.len() as u64;
        for run in self.runs() {
            // Bytes that no data moves to stay, as where data is moved in place: the reference leaves them so.
            copy_range(blob, to, (at, at), run.to - at)?;
            copy_range(blob, to, (run.from, run.to), run.len)?;
            at = run.to + run.len;
        }
        copy_range(blob, to, (at, at), size.saturating_sub(at))?;
        self.clear_waiting(to)?;
        // A file does not become shorter: the reference leaves what lies behind the data.
        let size = size.max(self.size);
        if to.size()? < size { to.set_size(size) } else { Ok(()) }
    }

    fn move_all(&self, blob: &dyn BlobMut) -> Result<()> {
        // Holes stay holes: filling them takes space that may not be there.
        let sparse = SkipZeros(blob);
        self.runs().rev().try_for_each(|run| move_back(&sparse, run))?;
        self.clear_waiting(&sparse)?;
        write_header(blob, self.header)
    }

    /// Makes the file as long as it will be, and takes the space on the disk for all that will be written, so that a full
    /// disk is met before any data is overwritten. The file reads as before if that fails.
    fn make_room(&self, blob: &dyn BlobMut) -> Result<()> {
        let old = blob.size()?;
        let done = self.take_space(blob);
        if done.is_err() {
            blob.set_size(old)?;
        }
        done
    }

    fn take_space(&self, blob: &dyn BlobMut) -> Result<()> {
        if blob.size()? < self.size {
            blob.set_size(self.size)?;
        }
        fill_holes(blob, 0, self.header.len() as u64)?;
        self.runs().try_for_each(|run| fill_holes_for(blob, run))?;
        // File servers tell only now that they have no room.
        blob.sync()
    }

    fn clear_waiting(&self, blob: &dyn BlobMut) -> Result<()> {
        for place in self.waiting {
            for record in 0..if place.record { self.records } else { 1 } {
                clear(blob, place.begin + record * self.new.record_size, place.bytes)?;
            }
        }
        Ok(())
    }

    /// Runs that hold all data, in the order in which they lie in the file.
    fn runs(&self) -> impl DoubleEndedIterator<Item = Run> {
        let (old, new) = (self.old, self.new);
        let places = move |record| {
            let places = old.places.iter().zip(&new.places);
            places.filter(move |(from, _)| from.record == record)
        };
        let fixed =
            places(false).map(|(from, to)| Run { from: from.begin, to: to.begin, len: from.padded() });
        let first = places(true).next();
        let shift = first.map(|(from, to)| to.begin - from.begin);
        let all_alike = old.record_size == new.record_size
            && places(true).all(|(from, to)| Some(to.begin - from.begin) == shift);
        let whole = first.filter(|_| all_alike).map(|(from, to)| Run {
            from: from.begin,
            to: to.begin,
            len: old.record_size * self.records,
        });
        let slabs = (0..if all_alike { 0 } else { self.records }).flat_map(move |record| {
            places(true).map(move |(from, to)| Run {
                from: from.begin + record * old.record_size,
                to: to.begin + record * new.record_size,
                len: from.bytes,
            })
        });
        fixed.chain(whole).chain(slabs)
    }
}

/// Bytes that a disk stores at least at a time: no hole is smaller.
const SECTOR: usize = 512;

/// Fills the holes of a file that [`SkipZeros`] will write to when a run moves.
fn fill_holes_for(blob: &dyn BlobMut, Run { from, to, len }: Run) -> Result<()> {
    if from == to {
        return Ok(());
    }
    let mut buffer = vec![0; len.min(SkipZeros::RUN).saturate()];
    let mut done = 0;
    while done < len {
        let to_border = SkipZeros::RUN - (to + done) % SkipZeros::RUN;
        let piece = &mut buffer[..(len - done).min(to_border).saturate()];
        blob.read_zero_filled_at(from + done, piece)?;
        let from_zero = is_zero(piece);
        blob.read_zero_filled_at(to + done, piece)?;
        if !from_zero || !is_zero(piece) {
            fill_holes(blob, to + done, piece.len() as u64)?;
        }
        done += piece.len() as u64;
    }
    Ok(())
}

/// Fills the holes in `len` bytes of a file from `at` on: writes sectors that may be holes as they read.
fn fill_holes(blob: &dyn BlobMut, at: u64, len: u64) -> Result<()> {
    let sector = SECTOR as u64;
    let start = at - at % sector;
    let end = (at + len).next_multiple_of(sector).min(blob.size()?);
    let mut present = vec![0; end.saturating_sub(start).to_usize("bytes with holes")?];
    blob.read_exact_at(start, &mut present)?;
    if present.chunks(SECTOR).any(is_zero) { blob.write_at(start, &present) } else { Ok(()) }
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

/// Copies `len` bytes to another blob, as far as the file has them.
fn copy_range(blob: &dyn BlobMut, to: &dyn BlobMut, (from, at): (u64, u64), len: u64) -> Result<()> {
    let len = len.min(blob.size()?.saturating_sub(from));
    let mut buffer = vec![0; len.min(PIECE) as usize];
    let mut done = 0;
    while done < len {
        let piece = &mut buffer[..(len - done).min(PIECE) as usize];
        blob.read_exact_at(from + done, piece)?;
        to.write_at(at + done, piece)?;
        done += piece.len() as u64;
    }
    Ok(())
}

/// Moves a run towards the end of the file; source and target may overlap. Bytes past the end of the file were never written,
/// and the move does not write them.
fn move_back(blob: &dyn BlobMut, Run { from, to, len }: Run) -> Result<()> {
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
