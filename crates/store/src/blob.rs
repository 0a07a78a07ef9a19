//! The two traits of a run of bytes.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::{ChangeToken, Cost};

/// Bytes that can be read at any position, from any thread.
pub trait Blob: Send + Sync {
    /// The number of bytes.
    fn size(&self) -> Result<u64>;

    /// Fills `into` from position `at`. Returns the bytes read, fewer than asked only where the blob ends.
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize>;

    /// A name for messages: the path, or "memory".
    fn name(&self) -> String;

    /// Returns what a request to read costs.
    fn cost(&self) -> Cost;

    /// Drops what was read ahead, so that later reads return what other processes wrote meanwhile.
    fn forget(&self) {}

    /// Returns a token that is another one after each change of the bytes by another process; `None` where no other process can
    /// change them, or nothing tells a change.
    fn change_token(&self) -> Option<ChangeToken> {
        None
    }

    /// True if no path leads to the bytes any more: another file took the name, or it was removed.
    fn is_nameless(&self) -> bool {
        false
    }

    /// Fills `into` from position `at`, or says that the blob is too short.
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

    /// Fills `into` from position `at`; what lies past the end reads as zero, like a hole in a sparse file.
    fn read_zero_filled_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let got = self.read_at(at, into)?;
        // Mostly there is nothing to fill, and this is called often.
        if got < into.len() {
            into[got..].fill(0);
        }
        Ok(())
    }
}

/// Bytes that can be written too. Writes need no `&mut`: what is written by two threads at once to different
/// positions is all kept.
pub trait BlobMut: Blob {
    /// Writes all of `from` at position `at`; the blob grows as needed, a gap reads as zero.
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()>;

    /// Writes as [`write_at`](BlobMut::write_at) does. The caller owns the blob, so an implementation may skip its lock.
    fn write_alone_at(&mut self, at: u64, from: &[u8]) -> Result<()> {
        self.write_at(at, from)
    }

    /// Cuts the blob, or extends it with zeros, to `size` bytes.
    fn set_size(&self, size: u64) -> Result<()>;

    /// Returns when all that was written is seen by others who open the same bytes.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Returns when all that was written would survive a power failure.
    fn sync(&self) -> Result<()>;

    /// True if ranges that were never written take no space, so that a copy should leave out zeros. It is asked of the empty blob
    /// that [`replace`](BlobMut::replace) makes.
    fn keeps_holes(&self) -> bool {
        false
    }

    /// Puts other bytes in the place of all of these at one instant: those that `write` puts into an empty blob. `write`
    /// may read from this blob. False, and nothing is done, if these bytes cannot be replaced.
    ///
    /// # Errors
    /// Those of `write` and of the system: the bytes are as before.
    fn replace(&self, _write: &mut Writes<'_>) -> Result<bool> {
        Ok(false)
    }
}

/// What writes the new bytes of [`BlobMut::replace`].
pub type Writes<'a> = dyn FnMut(&dyn BlobMut) -> Result<()> + 'a;

/// Forwards both traits through a pointer.
macro_rules! forward {
    ($pointer:ty) => {
        impl<B: Blob + ?Sized> Blob for $pointer {
            fn size(&self) -> Result<u64> {
                (**self).size()
            }

            fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
                (**self).read_at(at, into)
            }

            fn name(&self) -> String {
                (**self).name()
            }

            fn forget(&self) {
                (**self).forget();
            }

            fn change_token(&self) -> Option<ChangeToken> {
                (**self).change_token()
            }

            fn cost(&self) -> Cost {
                (**self).cost()
            }

            fn is_nameless(&self) -> bool {
                (**self).is_nameless()
            }
        }

        impl<B: BlobMut + ?Sized> BlobMut for $pointer {
            fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
                (**self).write_at(at, from)
            }

            fn set_size(&self, size: u64) -> Result<()> {
                (**self).set_size(size)
            }

            fn flush(&self) -> Result<()> {
                (**self).flush()
            }

            fn sync(&self) -> Result<()> {
                (**self).sync()
            }

            fn keeps_holes(&self) -> bool {
                (**self).keeps_holes()
            }

            fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
                (**self).replace(write)
            }
        }
    };
}

forward!(Arc<B>);
forward!(&B);
