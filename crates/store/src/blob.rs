//! The traits of readable and writable bytes.

use std::ops::Deref;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use crate::{ChangeToken, Cost, forward};

/// One of the reads of [`Blob::read_many`].
#[derive(Debug)]
pub struct ReadRequest<'a> {
    /// Position of the first byte.
    pub at: u64,
    /// Buffer for the bytes.
    pub into: &'a mut [u8],
    /// Number of bytes that were read, fewer than the buffer holds only where the blob ends.
    pub len: usize,
}

impl<'a> ReadRequest<'a> {
    /// Asks for the bytes from position `at` on that fill a buffer.
    pub fn new(at: u64, into: &'a mut [u8]) -> ReadRequest<'a> {
        ReadRequest { at, into, len: 0 }
    }

    /// Returns the bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.into[..self.len]
    }
}

/// The answer to [`Blob::read_suffix`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// Number of bytes that were read, fewer than the buffer holds only if the blob has no more.
    pub len: usize,
    /// Size of the blob in bytes.
    pub size: u64,
}

/// Bytes that can be read at any position, from any thread.
///
/// A wrapper passes every method on, or says in its tests why not: the module `suite` (feature `testing`) has the check.
pub trait Blob: Send + Sync {
    /// Returns the number of bytes. Where this takes a request, [`read_suffix`](Blob::read_suffix) returns the size together with
    /// bytes.
    fn size(&self) -> Result<u64>;

    /// Fills `into` from position `at`. Returns the bytes read, fewer than asked only where the blob ends.
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize>;

    /// Runs several reads, in as few rounds as the blob can. The requests may overlap, and come in any order.
    ///
    /// # Errors
    /// The error of one of the reads. The content of all buffers is undefined then.
    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        for request in requests {
            request.len = self.read_at(request.at, request.into)?;
        }
        Ok(())
    }

    /// Reads the last bytes to the begin of `into`, as many as it holds or the blob has.
    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        let size = self.size()?;
        let at = size.saturating_sub(into.len() as u64);
        let len = size.at_most(into.len());
        Ok(Suffix { len: self.read_at(at, &mut into[..len])?, size })
    }

    /// Returns the name of the blob for messages: its path, or "memory".
    fn name(&self) -> String;

    /// Returns what a request to read costs.
    fn cost(&self) -> Cost;

    /// Drops bytes that were read ahead or cached, so that later reads return what other processes wrote meanwhile.
    fn forget(&self) {}

    /// Tells that metadata lies together in pages of so many bytes, which begin at multiples of it. A cache may load them as a whole.
    fn expect_pages(&self, _bytes: u64) {}

    /// Returns a token that differs after another process changed the bytes; `None` if no other process can change them, or if a
    /// change cannot be detected.
    fn change_token(&self) -> Option<ChangeToken> {
        None
    }

    /// True if no path leads to the bytes any more: another file took the name, or it was removed.
    fn is_nameless(&self) -> bool {
        false
    }

    /// Fills `into` from position `at`; an error if the blob is too short.
    fn read_exact_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let wanted = into.len();
        let got = self.read_at(at, into)?;
        if got == wanted {
            return Ok(());
        }
        let what = format!(
            "{}: {wanted} bytes at byte {at} are past the end, the file has {} bytes",
            self.name(),
            self.size()?
        );
        Err(Error::new(Code::ETRUNC, what))
    }

    /// Fills `into` from position `at`; bytes past the end read as zero, like a hole in a sparse file.
    fn read_zero_filled_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let got = self.read_at(at, into)?;
        // Most calls have no bytes past the end, and they are frequent.
        if got < into.len() {
            into[got..].fill(0);
        }
        Ok(())
    }
}

/// Bytes that can be written too. Writes need no `&mut`: two threads may write to disjoint ranges at once.
pub trait BlobMut: Blob {
    /// Writes all of `from` at position `at`; the blob grows as needed, a gap reads as zero.
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()>;

    /// Writes as [`write_at`](BlobMut::write_at) does. The caller owns the blob, so an implementation may skip its lock.
    fn write_alone_at(&mut self, at: u64, from: &[u8]) -> Result<()> {
        self.write_at(at, from)
    }

    /// Cuts the blob, or extends it with zeros, to `size` bytes.
    fn set_size(&self, size: u64) -> Result<()>;

    /// Waits until all written bytes are visible to others who open the same bytes.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until all written bytes are on disk.
    fn sync(&self) -> Result<()>;

    /// True if ranges that were never written take no space, so that a copy should leave out zeros. It is asked of the empty blob
    /// that [`replace`](BlobMut::replace) makes.
    fn keeps_holes(&self) -> bool {
        false
    }

    /// Replaces all bytes at one instant by those that `write` writes to an empty blob. `write` may read from this blob. Returns
    /// false, and does nothing, if the bytes cannot be replaced.
    ///
    /// # Errors
    /// Those of `write` and of the system. The bytes are unchanged then.
    fn replace(&self, _write: &mut Writes<'_>) -> Result<bool> {
        Ok(false)
    }
}

/// The function that writes the new bytes of [`BlobMut::replace`].
pub type Writes<'a> = dyn FnMut(&dyn BlobMut) -> Result<()> + 'a;

/// Forwards both traits through a pointer.
macro_rules! through_pointer {
    ($pointer:ty) => {
        impl<B: Blob + ?Sized> Blob for $pointer {
            forward!([.deref()] size read_at read_many read_suffix name forget expect_pages change_token cost is_nameless);
        }

        impl<B: BlobMut + ?Sized> BlobMut for $pointer {
            forward!([.deref()] write_at set_size flush sync keeps_holes replace);
        }
    };
}

through_pointer!(Arc<B>);
through_pointer!(&B);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Probe, forwards_reads, forwards_writes};

    #[test]
    fn pointers_pass_every_method_on() {
        forwards_reads(|probe: Arc<Probe>| probe, &[]);
        forwards_writes(|probe: Arc<Probe>| probe, &[]);
        let leak = |probe: Arc<Probe>| &**Box::leak(Box::new(probe));
        forwards_reads(leak, &[]);
        forwards_writes(leak, &[]);
    }
}
