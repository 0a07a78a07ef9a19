//! Copying bytes from one blob to another.

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, BlobMut, meeting_point};

use crate::pool;
use crate::scratch::Scratch;

/// Bytes that a thread copies at a time.
const PIECE: u64 = 1 << 20;

/// Copies `len` bytes from position `at` of one blob to position `to_at` of another, on all threads if there is enough to do.
///
/// # Errors
/// `ETRUNC` if the source ends too early; those of the blobs.
pub fn copy_bytes(from: &dyn Blob, at: u64, to: &dyn BlobMut, to_at: u64, len: u64) -> Result<()> {
    match pool::get() {
        Some(pool) if len >= 2 * PIECE => pool.install(|| split(from, at, to, to_at, len)),
        _ => range(from, at, to, to_at, len),
    }
}

/// Halves the range until the pieces are small, so that one thread reads while another writes.
fn split(from: &dyn Blob, at: u64, to: &dyn BlobMut, to_at: u64, len: u64) -> Result<()> {
    if len <= PIECE {
        return range(from, at, to, to_at, len);
    }
    let left = (len / 2).next_multiple_of(PIECE);
    let (a, b) = pool::join(
        || split(from, at, to, to_at, left.min(len)),
        || split(from, at + left, to, to_at + left, len - left.min(len)),
    );
    a.and(b)
}

fn range(from: &dyn Blob, at: u64, to: &dyn BlobMut, to_at: u64, len: u64) -> Result<()> {
    Scratch::with(|scratch| {
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(PIECE).saturate();
            let buffer = scratch.window.at(meeting_point(at + done, to_at + done), piece);
            from.read_exact_at(at + done, buffer)?;
            to.write_at(to_at + done, buffer)?;
            done += piece as u64;
        }
        Ok(())
    })
}
