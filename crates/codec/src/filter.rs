//! The trait of a filter, and what the built-in filters share.
//!
//! [`Filter`] is the seam for everyone; [`SliceCodec`] is the smaller trait that the built-in filters implement: it works on
//! slices, and [`SliceFilter`] makes a filter of it, so that sizes are checked in one place.

use std::fmt::Debug;

use ferrocdf_bytes::{Code, Error, Result};

use crate::codecs::ChunkInfo;
use crate::scratch::with_buffer;

/// One filter with its parameters, ready to run; any number of threads may use it at once.
///
/// "Decoded" bytes are those in front of the filter when a chunk is written, "encoded" bytes those behind it.
pub trait Filter: Debug + Send + Sync {
    /// Decodes `encoded` into `decoded`, which is emptied first. `expected` is the decoded size where it is known. A filter
    /// never makes more than `limit` bytes.
    fn decode(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        expected: Option<usize>,
        limit: usize,
    ) -> Result<()>;

    /// Encodes `decoded` into `encoded`, which is emptied first. `None` says that the filter does not apply to these bytes
    /// (it would make them larger, say): an optional filter is then left out for this chunk.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>>;

    /// Fails if nothing can be encoded with these parameters: some files have parameters that only decode.
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// Decodes `encoded` into all of `decoded`. Another size is an error.
    fn decode_into(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        with_buffer(|buffer| {
            self.decode(encoded, buffer, Some(decoded.len()), decoded.len())?;
            if buffer.len() != decoded.len() {
                return Err(wrong_size(decoded.len(), buffer.len()));
            }
            decoded.copy_from_slice(buffer);
            Ok(())
        })
    }

    /// Borrows the decoded bytes from `encoded` if the filter only adds to them, as a checksum does; `None` for most filters.
    fn borrow_payload<'a>(&self, _encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// Returns the encoded size of `decoded` bytes, if it is the same for all data of that size.
    fn encoded_len(&self, _decoded: usize) -> Option<usize> {
        None
    }

    /// Returns the most bytes that `encoded` bytes can decode to.
    fn most_decoded(&self, _encoded: usize) -> usize {
        usize::MAX
    }

    /// Returns the element size in bytes if the filter is a plain byte shuffle, of which
    /// [`unshuffle_part`](crate::unshuffle_part) decodes some elements alone; `None` for all others.
    fn shuffle_size(&self) -> Option<usize> {
        None
    }

    /// Returns the element size and shape behind an array→array filter; `None` for a filter that makes bytes.
    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        None
    }
}

/// A built-in filter, which works on slices.
pub(crate) trait SliceCodec: Debug + Send + Sync {
    /// Returns the decoded size, if the encoded bytes say it.
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>>;

    /// Decodes into the front of `decoded` and returns the decoded size; `None` if the bytes do not fit. Where
    /// [`SliceCodec::decoded_len`] knows the size, `decoded` has it.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>>;

    /// See [`Filter::encode`]; `encoded` is empty.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>>;

    /// See [`Filter::check_encode`].
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// See [`Filter::most_decoded`].
    fn most_decoded(&self, encoded: usize) -> usize;

    /// See [`Filter::encoded_len`].
    fn encoded_len(&self, _decoded: usize) -> Option<usize> {
        None
    }

    /// See [`Filter::borrow_payload`].
    fn borrow_payload<'a>(&self, _encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// See [`Filter::shuffle_size`].
    fn shuffle_size(&self) -> Option<usize> {
        None
    }

    /// See [`Filter::encoded_chunk`].
    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        None
    }
}

/// A built-in filter as a [`Filter`].
#[derive(Debug)]
pub(crate) struct SliceFilter<C>(pub C);

/// Boxes a built-in filter.
pub(crate) fn boxed<C: SliceCodec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(SliceFilter(codec))
}

/// The first guess at a size that nothing tells.
const GUESS: usize = 4;

impl<C: SliceCodec> Filter for SliceFilter<C> {
    fn decode(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        expected: Option<usize>,
        limit: usize,
    ) -> Result<()> {
        let most = self.0.most_decoded(encoded.len()).min(limit);
        let done = match self.0.decoded_len(encoded) {
            Ok(Some(len)) if len > most => Err(too_large(encoded.len(), len, most)),
            Ok(Some(len)) => resize(decoded, len).and_then(|()| self.0.decode(encoded, decoded)),
            Ok(None) => {
                let guess = expected.unwrap_or_else(|| encoded.len().saturating_mul(GUESS));
                self.grow(encoded, decoded, guess, most)
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(Some(len)) => {
                decoded.truncate(len);
                Ok(())
            }
            Ok(None) => {
                decoded.clear();
                Err(corrupt(format!("{} stored bytes become more than {most}", encoded.len())))
            }
            Err(error) => {
                decoded.clear();
                Err(error)
            }
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.clear();
        self.0.encode(decoded, encoded)
    }

    fn decode_into(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        if decoded.len() > self.0.most_decoded(encoded.len()) {
            return Err(corrupt(format!("{} stored bytes cannot become {}", encoded.len(), decoded.len())));
        }
        if let Some(len) = self.0.decoded_len(encoded)?.filter(|&len| len != decoded.len()) {
            return Err(wrong_size(decoded.len(), len));
        }
        match self.0.decode(encoded, decoded)? {
            Some(len) if len == decoded.len() => Ok(()),
            Some(len) => Err(wrong_size(decoded.len(), len)),
            None => Err(self.longer(encoded, decoded.len())),
        }
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        self.0.borrow_payload(encoded)
    }

    fn check_encode(&self) -> Result<()> {
        self.0.check_encode()
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        self.0.encoded_len(decoded)
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        self.0.most_decoded(encoded)
    }

    fn shuffle_size(&self) -> Option<usize> {
        self.0.shuffle_size()
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        self.0.encoded_chunk()
    }
}

impl<C: SliceCodec> SliceFilter<C> {
    /// Decodes into a buffer that doubles until the bytes fit, or it has the size `most`.
    fn grow(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        guess: usize,
        most: usize,
    ) -> Result<Option<usize>> {
        let mut len = guess.clamp(64, most.max(64)).min(most);
        loop {
            resize(decoded, len)?;
            match self.0.decode(encoded, decoded)? {
                None if len < most => len = len.saturating_mul(2).min(most),
                made => return Ok(made),
            }
        }
    }

    /// The error of a block that has more than `len` bytes. Says how many if that is not very many.
    fn longer(&self, encoded: &[u8], len: usize) -> Error {
        let limit = len.saturating_mul(4).saturating_add(1 << 16);
        let whole = with_buffer(|buffer| {
            self.decode(encoded, buffer, Some(len.saturating_mul(2)), limit).map(|()| buffer.len())
        });
        match whole {
            Ok(whole) => wrong_size(len, whole),
            Err(_) => corrupt(format!("the block is longer than the {len} bytes it should have")),
        }
    }
}

/// Makes a buffer of this size, if there is memory for it.
fn resize(decoded: &mut Vec<u8>, len: usize) -> Result<()> {
    let none = |_| Error::new(Code::ENOMEM, format!("there is no memory for a block of {len} bytes"));
    decoded.try_reserve_exact(len.saturating_sub(decoded.len())).map_err(none)?;
    decoded.resize(len, 0);
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

fn too_large(encoded: usize, says: usize, most: usize) -> Error {
    corrupt(format!("{encoded} stored bytes say they become {says}, but {most} is the most they may"))
}
