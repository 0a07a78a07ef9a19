//! The trait [`Filter`], and the size checks and errors that the built-in filters share.
//!
//! Built-in filters implement [`SliceCodec`], a smaller trait that works on slices. [`SliceFilter`] turns a [`SliceCodec`]
//! into a [`Filter`], so that sizes are checked in one place.

use std::fmt::Debug;
use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result};

use crate::codecs::ChunkInfo;
use crate::scratch::with_buffer;
use crate::stream::StreamDecoder;

/// One filter with its parameters, ready to run; several threads may use it at once.
///
/// When a chunk is written, the "decoded" bytes are the filter's input and the "encoded" bytes are its output.
pub trait Filter: Debug + Send + Sync {
    /// Decodes `encoded` into `decoded`, which is emptied first. `expected` is the decoded size, if the caller knows it. A
    /// decoded size above `limit` bytes is an error.
    fn decode(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        expected: Option<usize>,
        limit: usize,
    ) -> Result<()>;

    /// Encodes `decoded` into `encoded`, which is emptied first. Returns `None` if the filter does not apply to these bytes,
    /// for example because it would enlarge them; an optional filter is then left out for this chunk.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>>;

    /// Encodes bytes for which [`Filter::encode`] returned `None` because it would enlarge them, where the filter cannot be left out.
    /// `None` if the filter cannot do that.
    fn encode_enlarging(&self, _decoded: &[u8], _encoded: &mut Vec<u8>) -> Result<Option<()>> {
        Ok(None)
    }

    /// Fails if the filter cannot encode with these parameters: some files have parameters that can only be decoded.
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// Decodes `encoded` into `decoded`; a decoded size other than the length of `decoded` is an error.
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

    /// Decodes like [`decode_into`](Filter::decode_into), but only the bytes of `decoded` in the range `wanted` have a meaning then. A
    /// filter that can leave out other bytes does so, unless a checksum covers them: then damage would go unseen.
    fn decode_part(&self, encoded: &[u8], _wanted: Range<usize>, decoded: &mut [u8]) -> Result<()> {
        self.decode_into(encoded, decoded)
    }

    /// Borrows the decoded bytes from `encoded` if the filter only adds bytes to them, such as a checksum; `None` for most
    /// filters.
    fn borrow_payload<'a>(&self, _encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// Returns the encoded size of `decoded` bytes, if it is the same for all data of that size.
    fn encoded_len(&self, _decoded: usize) -> Option<usize> {
        None
    }

    /// Returns the maximum number of bytes that `encoded` bytes can decode to.
    fn max_decoded_len(&self, _encoded: usize) -> usize {
        usize::MAX
    }

    /// Returns the element size in bytes if the filter is a plain byte shuffle, whose output
    /// [`unshuffle_part`](crate::unshuffle_part) can decode in part; `None` for all other filters.
    fn shuffle_size(&self) -> Option<usize> {
        None
    }

    /// Returns the element size and shape of an array→array filter's output; `None` for a filter that outputs bytes.
    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        None
    }

    /// Returns a decoder for a stream that decodes to `len` bytes, in steps; `None` if the filter decodes only as a whole.
    fn stream(&self, _len: u64) -> Option<Box<dyn StreamDecoder>> {
        None
    }
}

/// A built-in filter with its parameters, which works on slices.
pub(crate) trait SliceCodec: Debug + Send + Sync {
    /// Returns the decoded size, if the encoded bytes contain it.
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>>;

    /// Decodes into the front of `decoded` and returns the decoded size; `None` if `decoded` is too short. If
    /// [`SliceCodec::decoded_len`] returns a size, `decoded` has exactly that size.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>>;

    /// Decodes like [`SliceCodec::decode`]; see [`Filter::decode_part`].
    fn decode_part(
        &self,
        encoded: &[u8],
        _wanted: Range<usize>,
        decoded: &mut [u8],
    ) -> Result<Option<usize>> {
        self.decode(encoded, decoded)
    }

    /// See [`Filter::encode`]; `encoded` is empty.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>>;

    /// See [`Filter::encode_enlarging`]; `encoded` is empty.
    fn encode_enlarging(&self, _decoded: &[u8], _encoded: &mut Vec<u8>) -> Result<Option<()>> {
        Ok(None)
    }

    /// See [`Filter::check_encode`].
    fn check_encode(&self) -> Result<()> {
        Ok(())
    }

    /// See [`Filter::max_decoded_len`].
    fn max_decoded_len(&self, encoded: usize) -> usize;

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

    /// See [`Filter::stream`].
    fn stream(&self, _len: u64) -> Option<Box<dyn StreamDecoder>> {
        None
    }
}

/// Adapter that makes a [`Filter`] of a built-in filter.
#[derive(Debug)]
pub(crate) struct SliceFilter<C>(pub C);

/// Boxes a built-in filter as a [`Filter`].
pub(crate) fn boxed<C: SliceCodec + 'static>(codec: C) -> Box<dyn Filter> {
    Box::new(SliceFilter(codec))
}

/// Assumed ratio of decoded to encoded size if neither the caller nor the encoded bytes give the decoded size.
const ASSUMED_RATIO: usize = 4;

impl<C: SliceCodec> Filter for SliceFilter<C> {
    fn decode(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        expected: Option<usize>,
        limit: usize,
    ) -> Result<()> {
        let max = self.0.max_decoded_len(encoded.len()).min(limit);
        let result = match self.0.decoded_len(encoded) {
            Ok(Some(len)) if len > max => Err(too_large(encoded.len(), len, max)),
            Ok(Some(len)) => resize(decoded, len).and_then(|()| self.0.decode(encoded, decoded)),
            Ok(None) => {
                let initial = expected.unwrap_or_else(|| encoded.len().saturating_mul(ASSUMED_RATIO));
                self.decode_growing(encoded, decoded, initial, max)
            }
            Err(error) => Err(error),
        };
        match result {
            Ok(Some(len)) => {
                decoded.truncate(len);
                Ok(())
            }
            Ok(None) => {
                decoded.clear();
                Err(corrupt(format!("{} encoded bytes decode to more than {max} bytes", encoded.len())))
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

    fn encode_enlarging(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.clear();
        self.0.encode_enlarging(decoded, encoded)
    }

    fn decode_into(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode_part(encoded, 0..decoded.len(), decoded)
    }

    fn decode_part(&self, encoded: &[u8], wanted: Range<usize>, decoded: &mut [u8]) -> Result<()> {
        if decoded.len() > self.0.max_decoded_len(encoded.len()) {
            let (from, to) = (encoded.len(), decoded.len());
            return Err(corrupt(format!("{from} encoded bytes cannot decode to {to} bytes")));
        }
        if let Some(len) = self.0.decoded_len(encoded)?.filter(|&len| len != decoded.len()) {
            return Err(wrong_size(decoded.len(), len));
        }
        match self.0.decode_part(encoded, wanted, decoded)? {
            Some(len) if len == decoded.len() => Ok(()),
            Some(len) => Err(wrong_size(decoded.len(), len)),
            None => Err(self.longer_than(decoded.len(), encoded)),
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

    fn max_decoded_len(&self, encoded: usize) -> usize {
        self.0.max_decoded_len(encoded)
    }

    fn shuffle_size(&self) -> Option<usize> {
        self.0.shuffle_size()
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        self.0.encoded_chunk()
    }

    fn stream(&self, len: u64) -> Option<Box<dyn StreamDecoder>> {
        self.0.stream(len)
    }
}

/// Maximum number of bytes that are decoded to state a size in an error, 16 MiB.
const MAX_STATED: usize = 16 << 20;

impl<C: SliceCodec> SliceFilter<C> {
    /// Decodes into a buffer of `initial` bytes, which doubles until the decoded bytes fit or its size is `max`.
    fn decode_growing(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        initial: usize,
        max: usize,
    ) -> Result<Option<usize>> {
        let mut len = initial.clamp(64, max.max(64)).min(max);
        loop {
            resize(decoded, len)?;
            match self.0.decode(encoded, decoded)? {
                None if len < max => len = len.saturating_mul(2).min(max),
                decoded_len => return Ok(decoded_len),
            }
        }
    }

    /// Returns the error for encoded bytes that decode to more than `len` bytes. The error states the decoded size, unless
    /// it is more than about four times `len`, or more than [`MAX_STATED`].
    fn longer_than(&self, len: usize, encoded: &[u8]) -> Error {
        let limit = len.saturating_mul(4).saturating_add(1 << 16).min(MAX_STATED);
        let decoded_len = with_buffer(|buffer| {
            self.decode(encoded, buffer, Some(len.saturating_mul(2)), limit).map(|()| buffer.len())
        });
        match decoded_len {
            Ok(decoded_len) => wrong_size(len, decoded_len),
            Err(_) => corrupt(format!("decodes to more bytes than the expected {len}")),
        }
    }
}

/// Resizes a buffer, or fails if there is no memory for it.
fn resize(decoded: &mut Vec<u8>, len: usize) -> Result<()> {
    let no_memory = |_| Error::new(Code::ENOMEM, format!("no memory for {len} decoded bytes"));
    decoded.try_reserve_exact(len.saturating_sub(decoded.len())).map_err(no_memory)?;
    decoded.resize(len, 0);
    Ok(())
}

/// Returns the error for encoded bytes that are damaged.
pub(crate) fn corrupt(what: impl Into<String>) -> Error {
    Error::new(Code::EHDFERR, what)
}

/// Returns the error for invalid filter parameters.
pub(crate) fn bad_params(what: impl Into<String>) -> Error {
    Error::new(Code::EFILTER, what)
}

/// Returns the error for a decoded size other than the expected size.
pub(crate) fn wrong_size(expected: usize, actual: usize) -> Error {
    let than = if actual < expected { "shorter" } else { "longer" };
    corrupt(format!("decodes to {actual} bytes, {than} than the expected {expected}"))
}

fn too_large(encoded: usize, claimed: usize, max: usize) -> Error {
    corrupt(format!("{encoded} encoded bytes claim a decoded size of {claimed} bytes (at most {max})"))
}
