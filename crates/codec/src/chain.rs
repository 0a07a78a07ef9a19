//! The filter chain of a dataset ("Filter Pipeline Message" of the HDF5 format specification; `codecs` of Zarr metadata).
//!
//! Decoding goes from the last filter to the first through two buffers of the thread; the first filter writes into the
//! caller's bytes. Sizes are known from the front: the caller's bytes say how many the first filter decodes to, a filter with
//! a fixed encoded size passes that on, and the output of any other is at most about twice its input.

use ferrocdf_bytes::{Code, Context, Error, Result};

use crate::codecs::{ChunkInfo, Codecs};
use crate::filter::{Filter, wrong_size};
use crate::identity::FilterId;
use crate::registry::registered_name;
use crate::scratch::with_buffer;

/// One filter of a dataset as its metadata names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its identity.
    pub id: FilterId,
    /// Its name in the file; may be empty.
    pub name: String,
    /// True if a chunk may be stored without it.
    pub optional: bool,
    /// The parameters (client values in HDF5).
    pub params: Vec<u32>,
}

/// The filters of a dataset in the order in which they encode.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    step: Step,
    filter: Result<Box<dyn Filter>>,
}

/// Bound on the bytes between two filters: `TIMES` times the decoded chunk plus `SLACK`. A filter that encodes tiny chunks one
/// by one may make them several times as large.
const TIMES: usize = 16;
const SLACK: usize = 1 << 20;

/// Chunk sizes up to this many bytes are believed, and larger ones if their encoded bytes become no more than `USUAL` times as
/// many: most filters make no more of any bytes.
const BELIEVED: usize = 64 << 20;
const USUAL: usize = 1024;

/// The size of a filter's input when encoding, in bytes.
#[derive(Clone, Copy)]
struct Size {
    exact: Option<usize>,
    most: usize,
}

impl Chain {
    /// Makes a chain of bytes→bytes filters. A filter that is missing, or has wrong parameters, is an error only when a chunk
    /// needs it.
    pub fn new(steps: Vec<Step>, codecs: &Codecs) -> Chain {
        Self::make(steps, None, codecs)
    }

    /// Makes a chain for chunks of this element size and shape, which array→array filters need.
    pub fn for_chunks(steps: Vec<Step>, chunk: ChunkInfo, codecs: &Codecs) -> Chain {
        Self::make(steps, Some(chunk), codecs)
    }

    fn make(steps: Vec<Step>, mut chunk: Option<ChunkInfo>, codecs: &Codecs) -> Chain {
        let link = |step: Step| {
            let filter = match codecs.find(&step, chunk.as_ref()) {
                Some(filter) => filter.at(|| shown(&step)),
                None => Err(missing(&step, codecs)),
            };
            chunk = filter.as_ref().ok().and_then(|filter| filter.encoded_chunk());
            Link { step, filter }
        };
        Chain { links: steps.into_iter().map(link).collect() }
    }

    /// Returns the filters as the metadata names them.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.links.iter().map(|link| &link.step)
    }

    /// True if there is no filter.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Checks that chunks can be decoded that were encoded with all filters but those in `mask` (bit `n` for filter `n`).
    pub fn check(&self, mask: u32) -> Result<()> {
        self.used(mask).try_for_each(|link| link.filter().map(drop))
    }

    /// Checks that chunks can be encoded.
    pub fn check_encode(&self) -> Result<()> {
        self.links.iter().try_for_each(|link| link.filter()?.check_encode().at(|| shown(&link.step)))
    }

    /// Returns the most bytes that `encoded` bytes can decode to, which bounds what a size in a file may make the caller
    /// allocate.
    pub fn most_decoded(&self, mask: u32, encoded: usize) -> usize {
        self.used(mask).rev().fold(encoded, |size, link| match &link.filter {
            Ok(filter) => filter.most_decoded(size),
            Err(_) => size,
        })
    }

    /// True if chunks stored without the filters in `mask` are not encoded at all.
    pub fn is_identity(&self, mask: u32) -> bool {
        self.used(mask).next().is_none()
    }

    /// If the first filter in use is a plain byte shuffle, returns its element size in bytes and the mask with which
    /// [`Chain::decode`] leaves the bytes shuffled, so that the wanted elements of a chunk can be unshuffled alone.
    pub fn without_shuffle(&self, mask: u32) -> Option<(usize, u32)> {
        let first = self.used(mask).next()?;
        let size = first.filter.as_ref().ok()?.shuffle_size()?;
        let at = self.links.iter().position(|link| std::ptr::eq(link, first))?;
        let bit = u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at))?;
        Some((size, mask | bit))
    }

    /// Checks, before memory is allocated, that `encoded` bytes can decode to a chunk of `decoded` bytes at all.
    ///
    /// # Errors
    /// `NC_EHDFERR` if they cannot; also those of [`Chain::check`].
    pub fn check_size(&self, mask: u32, encoded: usize, decoded: usize) -> Result<()> {
        self.check(mask)?;
        let most = self.most_decoded(mask, encoded);
        if decoded <= most {
            return Ok(());
        }
        let what = format!("{encoded} stored bytes cannot become {decoded} (at most {most})");
        let error = Error::new(Code::EHDFERR, what);
        let filters = self.used(mask).rev().map(|link| shown(&link.step)).collect::<Vec<_>>().join(", ");
        Err(if filters.is_empty() { error } else { error.at(filters) })
    }

    /// Decodes a chunk that was encoded without the filters in `mask` into `decoded`, which it must fill exactly.
    ///
    /// # Errors
    /// `NC_ENOFILTER` for a missing filter, `NC_EFILTER` for parameters that a filter does not have, `NC_EHDFERR` for bytes
    /// that a filter did not make.
    pub fn decode(&self, mask: u32, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.check_size(mask, encoded.len(), decoded.len())?;
        self.decode_through(mask, encoded, decoded.len(), |filter, bytes| match filter {
            Some(filter) => filter.decode_into(bytes, decoded),
            None => copy(bytes, decoded),
        })
    }

    /// True if `encoded` bytes are so few that a chunk size of `decoded` bytes, which only the file claims, should not be
    /// allocated: [`Chain::decode_unverified`] then allocates as the bytes decode.
    pub fn is_implausible(encoded: usize, decoded: usize) -> bool {
        decoded > BELIEVED && decoded / USUAL > encoded
    }

    /// Decodes as [`Chain::decode`] does a chunk whose size of `len` bytes only the file claims. Allocates no more than the
    /// encoded bytes really decode to.
    pub fn decode_unverified(&self, mask: u32, encoded: &[u8], len: usize) -> Result<Vec<u8>> {
        self.check_size(mask, encoded.len(), len)?;
        let mut decoded = Vec::new();
        self.decode_through(mask, encoded, len, |filter, bytes| {
            match filter {
                Some(filter) => filter.decode(bytes, &mut decoded, None, len)?,
                None => append(bytes, &mut decoded)?,
            }
            if decoded.len() == len { Ok(()) } else { Err(wrong_size(len, decoded.len())) }
        })?;
        Ok(decoded)
    }

    /// Encodes a chunk into `encoded`, which is emptied first, and returns the mask of the optional filters left out.
    pub fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<u32> {
        let mut mask = 0;
        encoded.clear();
        with_buffer(|spare| {
            let mut first = true;
            for (at, link) in self.links.iter().enumerate() {
                let input = if first { decoded } else { &encoded[..] };
                let why = match link
                    .filter()
                    .and_then(|filter| filter.encode(input, spare).at(|| shown(&link.step)))
                {
                    Ok(Some(())) => {
                        std::mem::swap(encoded, spare);
                        first = false;
                        continue;
                    }
                    Ok(None) => {
                        Error::new(Code::EFILTER, "it does not apply to this chunk").at(shown(&link.step))
                    }
                    Err(error) => error,
                };
                match u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at)) {
                    Some(bit) if link.step.optional => mask |= bit,
                    _ => return Err(why),
                }
            }
            if first {
                encoded.extend_from_slice(decoded);
            }
            Ok(mask)
        })
    }

    fn used(&self, mask: u32) -> impl DoubleEndedIterator<Item = &Link> {
        let masked = move |at: usize| at < 32 && mask >> at & 1 == 1;
        self.links.iter().enumerate().filter(move |&(at, _)| !masked(at)).map(|(_, link)| link)
    }

    /// Decodes with the filters in use from the last to the second, through two buffers, and passes the result to `finish`
    /// with the first filter, or with `None` if the result is decoded already. The decoded chunk has `len` bytes.
    fn decode_through(
        &self,
        mask: u32,
        encoded: &[u8],
        len: usize,
        finish: impl FnOnce(Option<&dyn Filter>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        with_buffer(|input| {
            with_buffer(|output| {
                // The encoded bytes themselves are passed on until a filter has made others.
                let mut whole = Some(encoded);
                let mut left = self.used(mask).count();
                for link in self.used(mask).rev() {
                    left -= 1;
                    let filter = link.filter()?;
                    let at = || shown(&link.step);
                    let bytes = whole.unwrap_or(input);
                    let inside = filter.borrow_payload(bytes).transpose().at(at)?;
                    if left == 0 {
                        let filter = if inside.is_some() { None } else { Some(filter) };
                        return finish(filter, inside.unwrap_or(bytes)).at(at);
                    }
                    match inside {
                        Some(inside) if whole.is_some() => whole = Some(inside),
                        _ => {
                            let start = Size { exact: Some(len), most: len };
                            let cap = len.saturating_mul(TIMES).saturating_add(SLACK);
                            let size = self
                                .used(mask)
                                .take(left)
                                .try_fold(start, |size, link| link.encoded(size))?;
                            filter.decode(bytes, output, size.exact, size.most.min(cap)).at(at)?;
                            whole = None;
                            std::mem::swap(input, output);
                        }
                    }
                }
                finish(None, encoded)
            })
        })
    }
}

impl Link {
    fn filter(&self) -> Result<&dyn Filter> {
        self.filter.as_ref().map(Box::as_ref).map_err(Error::clone)
    }

    /// Returns the size that the filter encodes this size to.
    fn encoded(&self, size: Size) -> Result<Size> {
        let filter = self.filter()?;
        let exact = size.exact.and_then(|size| filter.encoded_len(size));
        // A known size has room as well, so that a longer block can be told how long it is.
        Ok(Size { exact, most: exact.unwrap_or(size.most).saturating_mul(2).saturating_add(1 << 16) })
    }
}

fn copy(from: &[u8], to: &mut [u8]) -> Result<()> {
    if from.len() != to.len() {
        return Err(wrong_size(to.len(), from.len()));
    }
    to.copy_from_slice(from);
    Ok(())
}

fn append(from: &[u8], to: &mut Vec<u8>) -> Result<()> {
    to.try_reserve_exact(from.len())
        .map_err(|_| Error::new(Code::ENOMEM, format!("no memory for {} bytes", from.len())))?;
    to.extend_from_slice(from);
    Ok(())
}

/// Names a filter in messages: by number and names, or by its name alone.
fn shown(step: &Step) -> String {
    let Some(number) = step.id.hdf5() else { return format!("codec {}", step.id) };
    let registered = registered_name(number);
    let name = registered.unwrap_or("not registered");
    if step.name.is_empty() || registered.is_some_and(|name| name.eq_ignore_ascii_case(&step.name)) {
        return format!("filter {number} ({name})");
    }
    format!("filter {number} ({name}; the file calls it {:?})", step.name)
}

fn missing(step: &Step, codecs: &Codecs) -> Error {
    let what = format!("{} is needed and not there; looked {}", shown(step), codecs.search_path());
    Error::new(Code::ENOFILTER, what)
}
