//! The filters of a dataset, one behind the other ("Filter Pipeline Message" of the HDF5 format specification).
//!
//! Decoding walks from the last filter to the first through two buffers of the thread; the first filter writes into the
//! caller's bytes. Sizes are known from the front: the caller's bytes say how many the first filter makes, a filter that
//! keeps sizes passes that on, and any other may have made at most twice as much and a little.

use ferrocdf_bytes::{Code, Context, Error, Result};

use crate::filter::{Filter, wrong_size};
use crate::provider::{find, places};
use crate::registry::registered_name;
use crate::scratch::with_buffer;

/// A filter as a file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The registered HDF5 number.
    pub id: u32,
    /// Its name as the file says; may be empty.
    pub name: String,
    /// Whether a block may be stored without it.
    pub optional: bool,
    /// The client values.
    pub params: Vec<u32>,
}

/// The filters of a dataset in the order in which they are applied when writing.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    step: Step,
    filter: Result<Box<dyn Filter>>,
}

/// What lies between two filters is never larger than so many times the unpacked block, and so much more. A filter that
/// packs tiny blocks one by one may make them several times as large.
const TIMES: usize = 16;
const SLACK: usize = 1 << 20;

/// Blocks up to so many bytes are taken as long as a file says that they are, and longer ones whose stored bytes become no
/// more than so many times as many: most filters make no more of any bytes.
const BELIEVED: usize = 64 << 20;
const USUAL: usize = 1024;

/// What a filter's input may have become in bytes, seen from the caller's end.
#[derive(Clone, Copy)]
struct Size {
    exact: Option<usize>,
    most: usize,
}

impl Chain {
    /// A chain of these filters. One that is not there, or whose parameters are wrong, is an error only when data needs
    /// it.
    pub fn new(steps: Vec<Step>) -> Chain {
        let link = |step: Step| {
            let filter = match find(&step) {
                Some(filter) => filter.at(|| place(&step)),
                None => Err(missing(&step)),
            };
            Link { step, filter }
        };
        Chain { links: steps.into_iter().map(link).collect() }
    }

    /// The filters as the file names them.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.links.iter().map(|link| &link.step)
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Checks that blocks can be decoded that were stored with all filters but those in `mask` (bit `n` for the `n`-th).
    pub fn check(&self, mask: u32) -> Result<()> {
        self.used(mask).try_for_each(|link| link.filter().map(drop))
    }

    /// Checks that blocks can be packed.
    pub fn check_encode(&self) -> Result<()> {
        self.links.iter().try_for_each(|link| link.filter()?.check_encode().at(|| place(&link.step)))
    }

    /// The most bytes that `stored` bytes can become, which bounds what a size in a file may make the caller allocate.
    pub fn most_decoded(&self, mask: u32, stored: usize) -> usize {
        self.used(mask).rev().fold(stored, |size, link| match &link.filter {
            Ok(filter) => filter.most_decoded(size),
            Err(_) => size,
        })
    }

    /// Whether blocks that were stored without the filters in `mask` are as they were made.
    pub fn is_plain(&self, mask: u32) -> bool {
        self.used(mask).next().is_none()
    }

    /// Where the first filter in use only takes elements apart into planes: the bytes of an element, and the mask with
    /// which [`Chain::decode`] leaves them so. What of a block is wanted can then be put together alone.
    pub fn but_for_planes(&self, mask: u32) -> Option<(usize, u32)> {
        let first = self.used(mask).next()?;
        let size = first.filter.as_ref().ok()?.planes_of()?;
        let at = self.links.iter().position(|link| std::ptr::eq(link, first))?;
        let bit = u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at))?;
        Some((size, mask | bit))
    }

    /// Checks, before memory is taken, that `stored` bytes can become a block of `plain` bytes at all.
    ///
    /// `NC_EHDFERR` if they cannot; also fails as [`Chain::check`] does.
    pub fn check_size(&self, mask: u32, stored: usize, plain: usize) -> Result<()> {
        self.check(mask)?;
        let most = self.most_decoded(mask, stored);
        if plain <= most {
            return Ok(());
        }
        let what = format!("{stored} stored bytes cannot become {plain} (at most {most})");
        let error = Error::new(Code::EHDFERR, what);
        let filters = self.used(mask).rev().map(|link| place(&link.step)).collect::<Vec<_>>().join(", ");
        Err(if filters.is_empty() { error } else { error.at(filters) })
    }

    /// Unpacks a block that was stored without the filters in `mask` into `plain`, which it must fill exactly.
    ///
    /// `NC_ENOFILTER` for a filter that is not there, `NC_EFILTER` for parameters that it does not have, `NC_EHDFERR` for
    /// bytes that it did not make.
    pub fn decode(&self, mask: u32, stored: &[u8], plain: &mut [u8]) -> Result<()> {
        self.check_size(mask, stored.len(), plain.len())?;
        self.unwind(mask, stored, plain.len(), |filter, bytes| match filter {
            Some(filter) => filter.decode_into(bytes, plain),
            None => copy(bytes, plain),
        })
    }

    /// Whether `stored` bytes are so few that memory for a block of `plain` bytes should not be taken because a file says
    /// that it is as long: then [`Chain::decode_doubtful`] takes it as the bytes show.
    pub fn is_doubtful(stored: usize, plain: usize) -> bool {
        plain > BELIEVED && plain / USUAL > stored
    }

    /// As [`Chain::decode`], for a block of which only the file says that it is `len` bytes long. Takes memory for what
    /// the stored bytes really become.
    pub fn decode_doubtful(&self, mask: u32, stored: &[u8], len: usize) -> Result<Vec<u8>> {
        self.check_size(mask, stored.len(), len)?;
        let mut plain = Vec::new();
        self.unwind(mask, stored, len, |filter, bytes| {
            match filter {
                Some(filter) => filter.decode(bytes, &mut plain, None, len)?,
                None => append(bytes, &mut plain)?,
            }
            if plain.len() == len { Ok(()) } else { Err(wrong_size(len, plain.len())) }
        })?;
        Ok(plain)
    }

    /// Packs a block into `stored`, which is emptied first, and gives the mask of the optional filters left out.
    pub fn encode(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<u32> {
        let mut mask = 0;
        stored.clear();
        with_buffer(|spare| {
            let mut first = true;
            for (at, link) in self.links.iter().enumerate() {
                let input = if first { plain } else { &stored[..] };
                let why = match link
                    .filter()
                    .and_then(|filter| filter.encode(input, spare).at(|| place(&link.step)))
                {
                    Ok(Some(())) => {
                        std::mem::swap(stored, spare);
                        first = false;
                        continue;
                    }
                    Ok(None) => {
                        Error::new(Code::EFILTER, "it does not apply to this block").at(place(&link.step))
                    }
                    Err(error) => error,
                };
                match u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at)) {
                    Some(bit) if link.step.optional => mask |= bit,
                    _ => return Err(why),
                }
            }
            if first {
                stored.extend_from_slice(plain);
            }
            Ok(mask)
        })
    }

    fn used(&self, mask: u32) -> impl DoubleEndedIterator<Item = &Link> {
        let masked = move |at: usize| at < 32 && mask >> at & 1 == 1;
        self.links.iter().enumerate().filter(move |&(at, _)| !masked(at)).map(|(_, link)| link)
    }

    /// Decodes with the filters in use from the last to the second, through two buffers, and gives what they made to
    /// `finish` with the first, or without one what needs none. The block has `len` bytes.
    fn unwind(
        &self,
        mask: u32,
        stored: &[u8],
        len: usize,
        finish: impl FnOnce(Option<&dyn Filter>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        with_buffer(|input| {
            with_buffer(|output| {
                // Stored bytes are passed on as they are until a filter has made others.
                let mut whole = Some(stored);
                let mut left = self.used(mask).count();
                for link in self.used(mask).rev() {
                    left -= 1;
                    let filter = link.filter()?;
                    let at = || place(&link.step);
                    let bytes = whole.unwrap_or(input);
                    let inside = filter.peel(bytes).transpose().at(at)?;
                    if left == 0 {
                        let filter = if inside.is_some() { None } else { Some(filter) };
                        return finish(filter, inside.unwrap_or(bytes)).at(at);
                    }
                    match inside {
                        Some(inside) if whole.is_some() => whole = Some(inside),
                        _ => {
                            let start = Size { exact: Some(len), most: len };
                            let cap = len.saturating_mul(TIMES).saturating_add(SLACK);
                            let size =
                                self.used(mask).take(left).try_fold(start, |size, link| link.packed(size))?;
                            filter.decode(bytes, output, size.exact, size.most.min(cap)).at(at)?;
                            whole = None;
                            std::mem::swap(input, output);
                        }
                    }
                }
                finish(None, stored)
            })
        })
    }
}

impl Link {
    fn filter(&self) -> Result<&dyn Filter> {
        self.filter.as_ref().map(Box::as_ref).map_err(Error::clone)
    }

    /// What the filter makes of that much.
    fn packed(&self, size: Size) -> Result<Size> {
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

/// The filter's number and names.
fn place(step: &Step) -> String {
    let registered = registered_name(step.id);
    let name = registered.unwrap_or("not registered");
    if step.name.is_empty() || registered.is_some_and(|name| name.eq_ignore_ascii_case(&step.name)) {
        return format!("filter {} ({name})", step.id);
    }
    format!("filter {} ({name}; the file calls it {:?})", step.id, step.name)
}

fn missing(step: &Step) -> Error {
    let what = format!("{} is needed and not there; looked {}", place(step), places());
    Error::new(Code::ENOFILTER, what)
}
