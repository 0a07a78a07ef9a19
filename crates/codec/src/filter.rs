//! What a filter is, and which are built in.
//!
//! [`Filter`] is the seam for everyone; [`Codec`] is the smaller thing that the built-in filters are: it works on
//! slices, and [`Packed`] makes a filter of it, so that sizes are checked in one place.

use std::fmt::Debug;

use ferrocdf_bytes::{Code, Error, Result};

use crate::registry::entry;
use crate::scratch::with_buffer;

/// One filter with its parameters, ready to run; any number of threads may use it at once.
pub trait Filter: Debug + Send + Sync {
    /// Unpacks `stored` into `plain`, which is emptied first. `expected` is the size that the result should have where
    /// it is known. A filter never makes more than `limit` bytes.
    fn decode(&self, stored: &[u8], plain: &mut Vec<u8>, expected: Option<usize>, limit: usize)
    -> Result<()>;

    /// Packs `plain` into `stored`, which is emptied first. `None` says that the filter does not apply to these bytes
    /// (it would make them larger, say): an optional filter is then left out for this block.
    fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>>;

    /// Whether anything can be packed with these parameters: some files have ones that nobody can ask for.
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// Unpacks `stored` into all of `plain`. Another size is an error.
    fn decode_into(&self, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        with_buffer(|buffer| {
            self.decode(stored, buffer, Some(plain.len()), plain.len())?;
            if buffer.len() != plain.len() {
                return Err(wrong_size(plain.len(), buffer.len()));
            }
            plain.copy_from_slice(buffer);
            Ok(())
        })
    }

    /// The unpacked bytes where they lie in `stored` as they are, as with a checksum; `None` for most filters.
    fn peel<'a>(&self, _stored: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// Bytes that `plain` bytes become, if it is the same for all of that length.
    fn encoded_len(&self, _plain: usize) -> Option<usize> {
        None
    }

    /// The most bytes that `stored` bytes can become.
    fn most_decoded(&self, _stored: usize) -> usize {
        usize::MAX
    }

    /// The bytes of an element, if this filter only takes elements apart into planes of bytes, of which
    /// [`unshuffle_part`](crate::unshuffle_part) makes some whole again; `None` for all others.
    fn planes_of(&self) -> Option<usize> {
        None
    }
}

/// The filter of this HDF5 number, if it is built in.
pub fn built_in(id: u32, params: &[u32]) -> Option<Result<Box<dyn Filter>>> {
    entry(id).map(|entry| (entry.make)(params))
}

/// Whether the filter of this HDF5 number is built in.
pub fn is_built_in(id: u32) -> bool {
    entry(id).is_some()
}

/// A built-in filter.
pub(crate) trait Codec: Debug + Send + Sync {
    /// Bytes that `stored` becomes, where it says so.
    fn plain_len(&self, stored: &[u8]) -> Result<Option<usize>>;

    /// Unpacks into the front of `plain` and gives the number of bytes made, all of which are written; `None` if they
    /// do not fit. Where [`Codec::plain_len`] knows the size, `plain` has it.
    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>>;

    /// See [`Filter::encode`]; `stored` is empty.
    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>>;

    /// See [`Filter::check_encode`].
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// See [`Filter::most_decoded`].
    fn most_decoded(&self, stored: usize) -> usize;

    /// See [`Filter::encoded_len`].
    fn encoded_len(&self, _plain: usize) -> Option<usize> {
        None
    }

    /// See [`Filter::peel`].
    fn peel<'a>(&self, _stored: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// See [`Filter::planes_of`].
    fn planes_of(&self) -> Option<usize> {
        None
    }
}

/// A codec as a filter.
#[derive(Debug)]
pub(crate) struct Packed<C>(pub C);

/// A codec as a filter of any kind.
pub(crate) fn boxed<C: Codec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(Packed(codec))
}

/// The first guess at a size that nothing tells.
const GUESS: usize = 4;

impl<C: Codec> Filter for Packed<C> {
    fn decode(
        &self,
        stored: &[u8],
        plain: &mut Vec<u8>,
        expected: Option<usize>,
        limit: usize,
    ) -> Result<()> {
        let most = self.0.most_decoded(stored.len()).min(limit);
        let done = match self.0.plain_len(stored) {
            Ok(Some(len)) if len > most => Err(too_large(stored.len(), len, most)),
            Ok(Some(len)) => resize(plain, len).and_then(|()| self.0.unpack(stored, plain)),
            Ok(None) => {
                let guess = expected.unwrap_or_else(|| stored.len().saturating_mul(GUESS));
                self.grow(stored, plain, guess, most)
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(Some(len)) => {
                plain.truncate(len);
                Ok(())
            }
            Ok(None) => {
                plain.clear();
                Err(corrupt(format!("{} stored bytes become more than {most}", stored.len())))
            }
            Err(error) => {
                plain.clear();
                Err(error)
            }
        }
    }

    fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        stored.clear();
        self.0.pack(plain, stored)
    }

    fn decode_into(&self, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        if plain.len() > self.0.most_decoded(stored.len()) {
            return Err(corrupt(format!("{} stored bytes cannot become {}", stored.len(), plain.len())));
        }
        if let Some(len) = self.0.plain_len(stored)?.filter(|&len| len != plain.len()) {
            return Err(wrong_size(plain.len(), len));
        }
        match self.0.unpack(stored, plain)? {
            Some(len) if len == plain.len() => Ok(()),
            Some(len) => Err(wrong_size(plain.len(), len)),
            None => Err(self.longer(stored, plain.len())),
        }
    }

    fn peel<'a>(&self, stored: &'a [u8]) -> Option<Result<&'a [u8]>> {
        self.0.peel(stored)
    }

    fn check_encode(&self) -> Result<()> {
        self.0.check_encode()
    }

    fn encoded_len(&self, plain: usize) -> Option<usize> {
        self.0.encoded_len(plain)
    }

    fn most_decoded(&self, stored: usize) -> usize {
        self.0.most_decoded(stored)
    }

    fn planes_of(&self) -> Option<usize> {
        self.0.planes_of()
    }
}

impl<C: Codec> Packed<C> {
    /// Unpacks into a buffer that doubles until the bytes fit, or it has the size `most`.
    fn grow(&self, stored: &[u8], plain: &mut Vec<u8>, guess: usize, most: usize) -> Result<Option<usize>> {
        let mut len = guess.clamp(64, most.max(64)).min(most);
        loop {
            resize(plain, len)?;
            match self.0.unpack(stored, plain)? {
                None if len < most => len = len.saturating_mul(2).min(most),
                made => return Ok(made),
            }
        }
    }

    /// The error of a block that has more than `len` bytes. Says how many if that is not very many.
    fn longer(&self, stored: &[u8], len: usize) -> Error {
        let limit = len.saturating_mul(4).saturating_add(1 << 16);
        let whole = with_buffer(|buffer| {
            self.decode(stored, buffer, Some(len.saturating_mul(2)), limit).map(|()| buffer.len())
        });
        match whole {
            Ok(whole) => wrong_size(len, whole),
            Err(_) => corrupt(format!("the block is longer than the {len} bytes it should have")),
        }
    }
}

/// Makes a buffer of this size, if there is memory for it.
fn resize(plain: &mut Vec<u8>, len: usize) -> Result<()> {
    let none = |_| Error::new(Code::ENOMEM, format!("there is no memory for a block of {len} bytes"));
    plain.try_reserve_exact(len.saturating_sub(plain.len())).map_err(none)?;
    plain.resize(len, 0);
    Ok(())
}

/// The error of bytes that are not what the filter makes.
pub(crate) fn corrupt(what: impl Into<String>) -> Error {
    Error::new(Code::EHDFERR, what)
}

/// The error of parameters that the filter does not have.
pub(crate) fn bad_params(what: impl Into<String>) -> Error {
    Error::new(Code::EFILTER, what)
}

/// The error of a block of another size.
pub(crate) fn wrong_size(should: usize, is: usize) -> Error {
    let than = if is < should { "shorter" } else { "longer" };
    corrupt(format!("the block unpacks to {is} bytes, {than} than the {should} it should have"))
}

fn too_large(stored: usize, says: usize, most: usize) -> Error {
    corrupt(format!("{stored} stored bytes say they become {says}, but {most} is the most they may"))
}
