//! The filter chain of a dataset ("Filter Pipeline Message" of the HDF5 format specification; `codecs` of Zarr metadata).
//!
//! Decoding applies the filters from the last to the first. Intermediate bytes alternate between two thread-local buffers;
//! the first filter decodes directly into the caller's slice. Buffer sizes are computed from the first filter on: the
//! caller's slice has the first filter's decoded size, a filter with a fixed encoded size determines the decoded size of the
//! next filter, and any other filter encodes to at most about twice its input.

use std::ops::Range;

use ferrocdf_bytes::{Code, Context, Error, Result};

use crate::codecs::{ChunkInfo, Codecs};
use crate::filter::{Filter, wrong_size};
use crate::filters::lz4_frames;
use crate::identity::FilterId;
use crate::registry::registered_name;
use crate::scratch::with_buffer;
use crate::stream::StreamDecoder;

/// One filter of a dataset, as the dataset's metadata lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Identity of the filter.
    pub id: FilterId,
    /// Name of the filter in the file; may be empty.
    pub name: String,
    /// True if a chunk may be stored without this filter.
    pub optional: bool,
    /// Parameters of the filter ("client data values" in HDF5).
    pub params: Vec<u32>,
}

/// The filters of a dataset, in the order in which they encode.
#[derive(Debug, Default)]
pub struct Chain {
    stages: Vec<Stage>,
}

/// A step and its filter, or the reason why the filter cannot be used.
#[derive(Debug)]
struct Stage {
    step: Step,
    filter: Result<Box<dyn Filter>>,
}

/// Limit on the bytes between two filters: `MAX_EXPANSION` times the decoded chunk plus `EXPANSION_SLACK` bytes. A filter
/// that compresses tiny blocks one by one, each with its own header, can enlarge a chunk several times.
const MAX_EXPANSION: usize = 16;
const EXPANSION_SLACK: usize = 1 << 20;

/// A decoded size is plausible up to `PLAUSIBLE_LEN` bytes, and above it up to `PLAUSIBLE_RATIO` times the encoded size,
/// which most filters cannot exceed.
const PLAUSIBLE_LEN: usize = 64 << 20;
const PLAUSIBLE_RATIO: usize = 1024;

/// Size of a filter's input when encoding, in bytes.
#[derive(Clone, Copy)]
struct Size {
    /// The exact size, if it is the same for every chunk.
    exact: Option<usize>,
    /// Upper bound of the size.
    max: usize,
}

impl Size {
    fn exactly(len: usize) -> Size {
        Size { exact: Some(len), max: len }
    }
}

impl Chain {
    /// Creates a chain of bytes→bytes filters. A filter that is not available or has invalid parameters is an error only
    /// when a chunk needs it.
    pub fn new(steps: Vec<Step>, codecs: &Codecs) -> Chain {
        Self::build(steps, None, codecs)
    }

    /// Creates a chain for chunks of the given element size and shape, which array→array filters need.
    pub fn for_chunks(steps: Vec<Step>, chunk: ChunkInfo, codecs: &Codecs) -> Chain {
        Self::build(steps, Some(chunk), codecs)
    }

    fn build(steps: Vec<Step>, mut chunk: Option<ChunkInfo>, codecs: &Codecs) -> Chain {
        let stage = |step: Step| {
            let filter = match codecs.find(&step, chunk.as_ref()) {
                Some(filter) => filter.at(|| label(&step)),
                None => Err(not_available(&step, codecs)),
            };
            chunk = filter.as_ref().ok().and_then(|filter| filter.encoded_chunk());
            Stage { step, filter }
        };
        Chain { stages: steps.into_iter().map(stage).collect() }
    }

    /// Returns the filters as the metadata lists them.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.stages.iter().map(|stage| &stage.step)
    }

    /// True if the chain has no filters.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Checks that the filters are usable that decode a chunk with this filter mask: a set bit `n` means that the chunk was
    /// encoded without filter `n`.
    pub fn check(&self, mask: u32) -> Result<()> {
        self.applied(mask).try_for_each(|stage| stage.filter().map(drop))
    }

    /// Checks that chunks can be encoded.
    pub fn check_encode(&self) -> Result<()> {
        self.stages.iter().try_for_each(|stage| stage.filter()?.check_encode().at(|| label(&stage.step)))
    }

    /// Returns the encoded size of `decoded` bytes if it is the same for all data of that size.
    ///
    /// # Errors
    /// Those of [`Chain::check`].
    pub fn fixed_encoded_len(&self, decoded: usize) -> Result<Option<usize>> {
        self.stages.iter().try_fold(Some(decoded), |len, stage| {
            let filter = stage.filter()?;
            Ok(len.and_then(|len| filter.encoded_len(len)))
        })
    }

    /// Returns the maximum number of bytes that `encoded` bytes can decode to. Callers use it to reject a chunk size in a
    /// file before they allocate memory.
    pub fn max_decoded_len(&self, mask: u32, encoded: usize) -> usize {
        self.applied(mask).rev().fold(encoded, |size, stage| match &stage.filter {
            Ok(filter) => filter.max_decoded_len(size),
            Err(_) => size,
        })
    }

    /// True if no filter is applied to chunks with this filter mask.
    pub fn is_identity(&self, mask: u32) -> bool {
        self.applied(mask).next().is_none()
    }

    /// If the first applied filter is a plain byte shuffle, returns its element size in bytes and the mask with which
    /// [`Chain::decode`] leaves the bytes shuffled, so that the caller can unshuffle only the selected elements of a chunk.
    pub fn without_shuffle(&self, mask: u32) -> Option<(usize, u32)> {
        let first = self.applied(mask).next()?;
        let size = first.filter.as_ref().ok()?.shuffle_size()?;
        let position = self.stages.iter().position(|stage| std::ptr::eq(stage, first))?;
        Some((size, mask | mask_bit(position)?))
    }

    /// Checks, before memory is allocated, that `encoded` bytes can decode to a chunk of `decoded` bytes at all.
    ///
    /// # Errors
    /// `NC_EHDFERR` if the decoded size is impossible, and the errors of [`Chain::check`].
    pub fn check_size(&self, mask: u32, encoded: usize, decoded: usize) -> Result<()> {
        self.check(mask)?;
        let max = self.max_decoded_len(mask, encoded);
        if decoded <= max {
            return Ok(());
        }
        let what = format!("{encoded} encoded bytes cannot decode to {decoded} bytes (at most {max})");
        let error = Error::new(Code::EHDFERR, what);
        let filters = self.labels(mask);
        Err(if filters.is_empty() { error } else { error.at(filters) })
    }

    /// Returns the text that identifies the applied filters in errors, in the order in which they decode.
    pub fn labels(&self, mask: u32) -> String {
        self.applied(mask).rev().map(|stage| label(&stage.step)).collect::<Vec<_>>().join(", ")
    }

    /// Returns a decoder for a stream that decodes to `len` bytes, in steps. `None` if the chain has other than one filter, or its filter is
    /// not available, or decodes only as a whole.
    pub fn stream(&self, len: u64) -> Option<Box<dyn StreamDecoder>> {
        match &self.stages[..] {
            [stage] => stage.filter.as_ref().ok()?.stream(len),
            _ => None,
        }
    }

    /// True if encoded chunks differ from those of another chain at most in the frame around the bytes of the last filter: LZ4, which
    /// HDF5 and numcodecs frame in two ways.
    pub fn differs_in_frame(&self, other: &Chain) -> bool {
        let (Some((last, before)), Some((other_last, other_before))) =
            (self.stages.split_last(), other.stages.split_last())
        else {
            return false;
        };
        let is_same = |(a, b): (&Stage, &Stage)| (&a.step.id, &a.step.params) == (&b.step.id, &b.step.params);
        before.len() == other_before.len()
            && before.iter().zip(other_before).all(is_same)
            && lz4_frames::can_change(&last.step.id, &other_last.step.id)
    }

    /// Gives a chunk that was encoded with this filter mask, and decodes to `len` bytes, the frame of a chain that
    /// [differs in it](Chain::differs_in_frame). Returns false if the chunk has to be decoded and encoded, or says that it decodes to
    /// another number of bytes.
    pub fn reframe(&self, mask: u32, encoded: &[u8], len: u64, target: &Chain, into: &mut Vec<u8>) -> bool {
        let last = |chain: &Chain| chain.stages.last().map(|stage| stage.step.id.clone());
        match (last(self), last(target)) {
            (Some(from), Some(_)) if mask == 0 => lz4_frames::change(&from, encoded, len, into).is_some(),
            _ => false,
        }
    }

    /// Verifies the checksum of a chunk that was encoded with this filter mask, if the last filter appended one. All other chunks pass.
    ///
    /// # Errors
    /// `NC_EHDFERR` for a wrong checksum.
    pub fn verify_checksum(&self, mask: u32, encoded: &[u8]) -> Result<()> {
        match self.applied(mask).next_back().map(|stage| (&stage.step, &stage.filter)) {
            Some((step, Ok(filter))) => {
                filter.borrow_payload(encoded).transpose().map(drop).at(|| label(step))
            }
            _ => Ok(()),
        }
    }

    /// Decodes a chunk with this filter mask into `decoded`, which the decoded bytes must fill exactly.
    ///
    /// # Errors
    /// `NC_ENOFILTER` for a filter that is not available, `NC_EFILTER` for invalid filter parameters, `NC_EHDFERR` for
    /// encoded bytes that are damaged.
    pub fn decode(&self, mask: u32, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode_part(mask, encoded, 0..decoded.len(), decoded)
    }

    /// Decodes a chunk like [`Chain::decode`], but only the bytes of `decoded` in the range `wanted` have a meaning then: those that the
    /// first filter can leave out are not decoded. See [`Filter::decode_part`].
    pub fn decode_part(
        &self,
        mask: u32,
        encoded: &[u8],
        wanted: Range<usize>,
        decoded: &mut [u8],
    ) -> Result<()> {
        self.check_size(mask, encoded.len(), decoded.len())?;
        let size = Size::exactly(decoded.len());
        self.decode_through(mask, encoded, size, |filter, bytes| match filter {
            Some(filter) => filter.decode_part(bytes, wanted, decoded),
            None => copy(bytes, decoded),
        })
    }

    /// True if a chunk size of `decoded` bytes, read from a file, is implausible for so few `encoded` bytes. The caller
    /// should not allocate it, but call [`Chain::decode_unverified`], which allocates memory while the bytes decode.
    pub fn is_implausible(encoded: usize, decoded: usize) -> bool {
        decoded > PLAUSIBLE_LEN && decoded / PLAUSIBLE_RATIO > encoded
    }

    /// Decodes a chunk like [`Chain::decode`], but does not trust `len`, the chunk size in bytes read from the file:
    /// allocates no more than the encoded bytes really decode to.
    pub fn decode_unverified(&self, mask: u32, encoded: &[u8], len: usize) -> Result<Vec<u8>> {
        self.check_size(mask, encoded.len(), len)?;
        let mut decoded = Vec::new();
        self.decode_through(mask, encoded, Size::exactly(len), |filter, bytes| {
            match filter {
                Some(filter) => filter.decode(bytes, &mut decoded, None, len)?,
                None => append(bytes, &mut decoded)?,
            }
            if decoded.len() == len { Ok(()) } else { Err(wrong_size(len, decoded.len())) }
        })?;
        Ok(decoded)
    }

    /// Decodes a chunk whose decoded size is not known, such as text. More than `limit` bytes are an error.
    pub fn decode_of_any_size(&self, mask: u32, encoded: &[u8], limit: usize) -> Result<Vec<u8>> {
        self.check(mask)?;
        let mut decoded = Vec::new();
        self.decode_through(mask, encoded, Size { exact: None, max: limit }, |filter, bytes| match filter {
            Some(filter) => filter.decode(bytes, &mut decoded, None, limit),
            None if bytes.len() > limit => Err(wrong_size(limit, bytes.len())),
            None => append(bytes, &mut decoded),
        })?;
        Ok(decoded)
    }

    /// Encodes a chunk into `encoded`, which is emptied first, and returns the filter mask: the optional filters left out.
    pub fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<u32> {
        let mut mask = 0;
        encoded.clear();
        with_buffer(|spare| {
            let mut first = true;
            for (position, stage) in self.stages.iter().enumerate() {
                let input = if first { decoded } else { &encoded[..] };
                let mut encode = |filter: &dyn Filter| match filter.encode(input, spare)? {
                    None if !stage.step.optional => filter.encode_enlarging(input, spare),
                    encoded => Ok(encoded),
                };
                let error = match stage.filter().and_then(|filter| encode(filter).at(|| label(&stage.step))) {
                    Ok(Some(())) => {
                        std::mem::swap(encoded, spare);
                        first = false;
                        continue;
                    }
                    Ok(None) => {
                        Error::new(Code::EFILTER, "does not apply to this chunk").at(label(&stage.step))
                    }
                    Err(error) => error,
                };
                match mask_bit(position) {
                    Some(bit) if stage.step.optional => mask |= bit,
                    _ => return Err(error),
                }
            }
            if first {
                encoded.extend_from_slice(decoded);
            }
            Ok(mask)
        })
    }

    /// Returns the stages that are applied to a chunk with this filter mask.
    fn applied(&self, mask: u32) -> impl DoubleEndedIterator<Item = &Stage> {
        let masked = move |position: usize| position < 32 && mask >> position & 1 == 1;
        self.stages.iter().enumerate().filter(move |&(position, _)| !masked(position)).map(|(_, stage)| stage)
    }

    /// Decodes with the applied filters from the last to the second, through two buffers, and passes the result to `finish`
    /// with the first filter, or with `None` if the result is decoded already. `chunk` is the size of the decoded chunk.
    fn decode_through(
        &self,
        mask: u32,
        encoded: &[u8],
        chunk: Size,
        finish: impl FnOnce(Option<&dyn Filter>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        with_buffer(|input| {
            with_buffer(|output| {
                // Part of the encoded bytes, as long as no filter has copied them to a buffer.
                let mut borrowed = Some(encoded);
                let mut remaining = self.applied(mask).count();
                for stage in self.applied(mask).rev() {
                    remaining -= 1;
                    let filter = stage.filter()?;
                    let label = || label(&stage.step);
                    let bytes = borrowed.unwrap_or(input);
                    let payload = filter.borrow_payload(bytes).transpose().at(label)?;
                    if remaining == 0 {
                        let filter = if payload.is_some() { None } else { Some(filter) };
                        return finish(filter, payload.unwrap_or(bytes)).at(label);
                    }
                    match payload {
                        Some(payload) if borrowed.is_some() => borrowed = Some(payload),
                        _ => {
                            let limit =
                                chunk.max.saturating_mul(MAX_EXPANSION).saturating_add(EXPANSION_SLACK);
                            let size = self
                                .applied(mask)
                                .take(remaining)
                                .try_fold(chunk, |size, stage| stage.encoded_size(size))?;
                            filter.decode(bytes, output, size.exact, size.max.min(limit)).at(label)?;
                            borrowed = None;
                            std::mem::swap(input, output);
                        }
                    }
                }
                finish(None, encoded)
            })
        })
    }
}

impl Stage {
    fn filter(&self) -> Result<&dyn Filter> {
        self.filter.as_ref().map(Box::as_ref).map_err(Error::clone)
    }

    /// Returns the size of the filter's output for an input of this size.
    fn encoded_size(&self, size: Size) -> Result<Size> {
        let filter = self.filter()?;
        let exact = size.exact.and_then(|size| filter.encoded_len(size));
        // The maximum is above an exact size too, so that the error for a longer chunk can state its size.
        Ok(Size { exact, max: exact.unwrap_or(size.max).saturating_mul(2).saturating_add(1 << 16) })
    }
}

/// Returns the bit of the filter at this position in a filter mask, which has 32 bits.
fn mask_bit(position: usize) -> Option<u32> {
    u32::try_from(position).ok().and_then(|position| 1u32.checked_shl(position))
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

/// Returns the text that identifies a filter in errors: its number and names, or its name alone.
fn label(step: &Step) -> String {
    let Some(number) = step.id.hdf5() else { return format!("codec {}", step.id) };
    let registered = registered_name(number);
    let name = registered.unwrap_or("not registered");
    if step.name.is_empty() || registered.is_some_and(|name| name.eq_ignore_ascii_case(&step.name)) {
        return format!("filter {number} ({name})");
    }
    format!("filter {number} ({name}; the file calls it {:?})", step.name)
}

fn not_available(step: &Step, codecs: &Codecs) -> Error {
    let what = format!("{}: not available; searched {}", label(step), codecs.search_path());
    Error::new(Code::ENOFILTER, what)
}
