//! Moving data when the header or a variable before it grew.
//!
//! Data only ever moves towards the end of the file, so everything is moved from the end towards the front, and no byte
//! is overwritten before it was moved. The classic formats have no room for two states at once: a process killed here
//! leaves moved data under an old header. The header is therefore written right behind the moves.

use ferrocdf_bytes::Result;
use ferrocdf_store::BlobMut;

use crate::layout::Layout;

/// Bytes moved at a time.
const PIECE: u64 = 4 << 20;

/// Makes a file as long as it will be, with bytes that are truly there, so that a full disk is met before any data is
/// overwritten. The file is as it was if that fails.
pub fn make_room(blob: &dyn BlobMut, size: u64) -> Result<()> {
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

/// Moves the data of all variables of `old` to their places in `new`.
pub fn relocate(blob: &dyn BlobMut, old: &Layout, new: &Layout, records: u64) -> Result<()> {
    move_records(blob, old, new, records)?;
    for (from, to) in old.places.iter().zip(&new.places).rev().filter(|(from, _)| !from.record) {
        move_back(blob, from.begin, to.begin, from.padded())?;
    }
    Ok(())
}

fn move_records(blob: &dyn BlobMut, old: &Layout, new: &Layout, records: u64) -> Result<()> {
    let slabs = || old.places.iter().zip(&new.places).filter(|(from, _)| from.record);
    let Some((first_from, first_to)) = slabs().next() else { return Ok(()) };
    let shift = first_to.begin - first_from.begin;
    let all_alike = slabs().all(|(from, to)| to.begin - from.begin == shift);
    if all_alike && old.record_size == new.record_size {
        return move_back(blob, first_from.begin, first_to.begin, old.record_size * records);
    }
    for record in (0..records).rev() {
        for (from, to) in slabs().rev() {
            let (from_at, to_at) = (record * old.record_size, record * new.record_size);
            move_back(blob, from.begin + from_at, to.begin + to_at, from.bytes)?;
        }
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
