//! The data descriptors: blocks of them, each with the position of the next one (Specification, chapter 2, "Data Descriptor Blocks").
//!
//! Only a block tells where the next one is, and the blocks are spread over the file: hundreds of 16 descriptors close to each other, as
//! HDF-EOS writes them, or a few of 200 with many megabytes of data between them. A slow source is therefore read in windows that grow; where
//! blocks are far apart, each load is several windows around the places where the next blocks are to be expected, since a program that
//! writes one chunk after the other needs a new block after some as many bytes as before. So a granule takes a few rounds.
//! The structures in these windows are kept, since they are small, many, and needed next.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashSet, VecDeque};

use ferrocdf_bytes::{Code, Coder, Error, Record, Result, ToUsize};
use ferrocdf_store::{Blob, ReadRequest};

use crate::budget;
use crate::file::SIGNATURE;
use crate::tags;
use crate::wire::{bad, decode};

/// The place of an object in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Kind of the object, without the mark of special elements.
    pub tag: u16,
    /// Reference number: unique among the objects of a kind.
    pub reference: u16,
    /// True if the bytes are the header of a special element.
    pub is_special: bool,
    /// Position and length in bytes; `None` if nothing was written yet.
    pub place: Option<(u64, u64)>,
}

/// The descriptors of a file by kind and reference number.
#[derive(Debug, Default)]
pub struct Descriptors(BTreeMap<(u16, u16), Descriptor>);

/// The bytes of structures that came with the descriptors, by position.
pub type KeptStructures = BTreeMap<u64, Vec<u8>>;

/// "Data descriptor block" header.
#[derive(Debug, Default)]
struct BlockHeader {
    count: u64,
    next: u64,
}

impl Record for BlockHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("number of descriptors", 2, &mut self.count)?;
        c.uint("next block", 4, &mut self.next)
    }
}

/// "Data descriptor".
#[derive(Debug, Default)]
struct StoredDescriptor {
    tag: u64,
    reference: u64,
    offset: u64,
    length: u64,
}

impl Record for StoredDescriptor {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("tag", 2, &mut self.tag)?;
        c.uint("reference number", 2, &mut self.reference)?;
        c.uint("offset", 4, &mut self.offset)?;
        c.uint("length", 4, &mut self.length)
    }
}

/// The descriptors of a block.
#[derive(Debug, Default)]
struct BlockBody {
    count: u64,
    list: Vec<StoredDescriptor>,
}

impl Record for BlockBody {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.list("descriptor", self.count, &mut self.list, |descriptor, c| descriptor.fields(c))
    }
}

/// Bytes of the header of a block, and of a descriptor.
const HEADER: u64 = 6;
const DESCRIPTOR: u64 = 12;

/// Position of the first block, behind the signature.
const FIRST: u64 = 4;

/// Offset and length of an object that was not written: both have this value.
const UNWRITTEN: u64 = 0xffff_ffff;

/// Maximum number of descriptors: reference numbers have 16 bits, and few kinds of objects have thousands.
const MAX_DESCRIPTORS: usize = 1 << 20;

/// Maximum number of blocks of descriptors, each of which is read after the one before. The library makes blocks of 16 descriptors.
const MAX_BLOCKS: usize = 1 << 16;

impl Descriptors {
    /// Reads the descriptors of a file, and of a slow source the structures that come with them.
    ///
    /// # Errors
    /// `NC_ENOTNC` if it is no HDF4 file, `EHDFERR` for a chain of blocks that comes back to itself, `ETRUNC` for a block beyond the end of the file.
    pub fn read(blob: &dyn Blob) -> Result<(Descriptors, KeptStructures)> {
        let mut windows = FileWindows::new(blob);
        if windows.get(0, FIRST)? != SIGNATURE {
            return Err(Error::new(Code::ENOTNC, "it does not begin as an HDF4 file does"));
        }
        let (mut found, mut seen, mut at) = (BTreeMap::new(), HashSet::new(), FIRST);
        let mut total = 0usize;
        while at != 0 {
            if !seen.insert(at) {
                return Err(bad(format!(
                    "descriptor block at byte {at}: the chain of blocks comes back to it"
                )));
            }
            windows.note_block(at);
            const WHAT: &str = "descriptor block";
            let header = decode(BlockHeader::default(), WHAT, at, windows.get(at, HEADER)?)?;
            let start = at.saturating_add(HEADER);
            let bytes = windows.get(start, header.count.saturating_mul(DESCRIPTOR))?;
            let body = BlockBody { count: header.count, list: vec![] };
            let body = decode(body, WHAT, start, bytes)?;
            total = total.saturating_add(body.list.len());
            if total > MAX_DESCRIPTORS || seen.len() > MAX_BLOCKS {
                return Err(bad(format!(
                    "descriptor block at byte {at}: more than {MAX_DESCRIPTORS} descriptors or {MAX_BLOCKS} blocks"
                )));
            }
            if header.count == 0 && at != FIRST {
                return Err(bad(format!("descriptor block at byte {at}: it has no descriptors")));
            }
            for stored in body.list {
                // Two bytes each.
                let (tag, is_special) = tags::split(stored.tag as u16);
                let reference = stored.reference as u16;
                if tag == tags::NULL || tag == 0 {
                    continue;
                }
                let is_written = (stored.offset, stored.length) != (UNWRITTEN, UNWRITTEN);
                let place = is_written.then_some((stored.offset, stored.length));
                let descriptor = Descriptor { tag, reference, is_special, place };
                found.entry((tag, reference)).or_insert(descriptor);
            }
            at = header.next;
        }
        let size = blob.size()?;
        // Structures do not lie over each other; many that do would make more of a file than it has.
        let structures = found.values().filter(|found| found.is_special || !DATA.contains(&found.tag));
        let together = structures
            .filter_map(|found| found.place)
            .fold(0u64, |sum, (at, len)| sum.saturating_add(len.min(size.saturating_sub(at))));
        if together > budget::limit(size) {
            return Err(bad(format!("structures of {together} bytes in a file of {size}")));
        }
        let kept = windows.keep(found.values());
        Ok((Descriptors(found), kept))
    }

    /// Returns the descriptor of an object.
    pub fn get(&self, tag: u16, reference: u16) -> Option<&Descriptor> {
        self.0.get(&(tag, reference))
    }

    /// Returns the descriptors of a kind of objects, in the order of their reference numbers.
    pub fn of_tag(&self, tag: u16) -> impl Iterator<Item = &Descriptor> {
        self.0.range((tag, 0)..=(tag, u16::MAX)).map(|(_, descriptor)| descriptor)
    }

    /// Returns all descriptors, in the order of kind and reference number.
    pub fn all(&self) -> impl Iterator<Item = &Descriptor> {
        self.0.values()
    }
}

/// Bytes of the file in windows. Each load has the size of the one before, or more bytes if the source is slow.
struct FileWindows<'a> {
    blob: &'a dyn Blob,
    /// The windows by position: of a near source the last one only.
    windows: BTreeMap<u64, Vec<u8>>,
    /// Bytes of the next load.
    size: u64,
    /// Bytes that slow sources may still send in loads that grow.
    budget: u64,
    /// Positions of the last blocks.
    blocks: VecDeque<u64>,
    /// Number of loads so far around the places of expected blocks.
    guesses: usize,
}

/// Window in a near source: one read of the system, for a block of up to 340 descriptors.
const NEAR: u64 = 4 << 10;
/// First and largest load from a slow source, and the bytes of all loads together. A load of 1 MiB arrives in the time of half a request; the
/// largest is fetched by many requests at once. With these, opening files of up to 200 MB takes eight rounds at most, however their
/// blocks lie: measured with made files of 1,200 chunks.
const SLOW: u64 = 1 << 20;
const LARGEST: u64 = 64 << 20;
const GROWTH: u64 = 8;
const BUDGET: u64 = 256 << 20;
/// Bytes of all windows of a slow source in memory.
const IN_MEMORY: u64 = 128 << 20;
/// The largest request.
const REQUEST: usize = 2 << 20;
/// Mean distance of blocks from which on the bytes between them are not worth a request.
const FAR: u64 = 4 << 20;
/// Number of distances between blocks that tell where the next ones are to be expected.
const DISTANCES: usize = 4;
/// Smallest window around such a place: larger than a block.
const AROUND: u64 = 1 << 20;
/// Number of loads of windows that cover a part of the file, at most this part: where the blocks are not in them, all bytes are read.
const GUESSES: usize = 2;
const PART: u64 = 4;

/// Largest structure that is kept, and the bytes of all of them.
const KEPT: u64 = 64 << 10;
const ALL_KEPT: u64 = 32 << 20;

/// Kinds of objects whose bytes are data, unless they are headers of special elements.
const DATA: [u16; 7] = [tags::SD, tags::CHUNK, tags::COMPRESSED, tags::RI, tags::CI, tags::RI8, tags::CI8];

impl<'a> FileWindows<'a> {
    fn new(blob: &'a dyn Blob) -> FileWindows<'a> {
        let (size, budget) = match blob.cost().is_near() {
            true => (NEAR, 0),
            false => (SLOW, BUDGET),
        };
        FileWindows { blob, windows: BTreeMap::new(), size, budget, blocks: VecDeque::new(), guesses: 0 }
    }

    /// Notes that a block is at `at`, for a guess of the distance to the next one.
    fn note_block(&mut self, at: u64) {
        self.blocks.push_back(at);
        if self.blocks.len() > DISTANCES.saturating_add(1) {
            self.blocks.pop_front();
        }
    }

    /// Returns the mean distance of the last blocks; 0 if they do not follow each other in the file.
    fn distance(&self) -> u64 {
        let ends = self.blocks.front().zip(self.blocks.back());
        let together = ends.map_or(0, |(first, last)| last.saturating_sub(*first));
        together.checked_div((self.blocks.len() as u64).saturating_sub(1)).unwrap_or(0)
    }

    /// Returns `len` bytes from position `at` on, fewer only at the end of the file.
    fn get(&mut self, at: u64, len: u64) -> Result<&[u8]> {
        let len = len.saturate();
        if self.from(at).len() < len {
            self.load(at, len as u64)?;
        }
        let rest = self.from(at);
        Ok(rest.get(..len).unwrap_or(rest))
    }

    /// Returns the bytes from position `at` to the end of the window that has most of them. There are few windows, and some lie in others.
    fn from(&self, at: u64) -> &[u8] {
        let rest = |(start, window): (&u64, &'_ Vec<u8>)| {
            let skip = at.saturating_sub(*start).saturate();
            window.len().saturating_sub(skip)
        };
        let best = self.windows.range(..=at).max_by_key(|&window| rest(window));
        best.and_then(|found| found.1.get(found.1.len().saturating_sub(rest(found))..)).unwrap_or_default()
    }

    /// Returns the bytes of the structures that lie in the windows.
    fn keep<'d>(self, all: impl Iterator<Item = &'d Descriptor>) -> KeptStructures {
        let mut kept = KeptStructures::new();
        if self.blob.cost().is_near() {
            return kept;
        }
        let mut left = ALL_KEPT;
        for descriptor in all {
            let Some((at, len)) = descriptor.place else { continue };
            if len > KEPT.min(left) || DATA.contains(&descriptor.tag) && !descriptor.is_special {
                continue;
            }
            let bytes = usize::try_from(len).ok().and_then(|len| self.from(at).get(..len));
            if let Some(bytes) = bytes {
                left = left.saturating_sub(len);
                kept.insert(at, bytes.to_vec());
            }
        }
        kept
    }

    fn load(&mut self, at: u64, len: u64) -> Result<()> {
        // A block has at most 65,535 descriptors, so `len` is below 1 MiB.
        let size = self.size.max(len);
        let ranges = match self.budget > 0 && self.distance() >= FAR {
            true => self.around_blocks(at, size)?,
            false => vec![(at, size)],
        };
        self.budget = self.budget.saturating_sub(size);
        self.size = match self.budget {
            0 => NEAR,
            _ => self.size.saturating_mul(GROWTH).min(LARGEST).min(self.budget),
        };
        match self.blob.cost().is_near() {
            true => self.windows.clear(),
            false => self.make_room(size),
        }
        let buffer = |&(_, len): &(u64, u64)| vec![0; len.saturate()];
        let mut buffers: Vec<Vec<u8>> = ranges.iter().map(buffer).collect();
        let mut requests = vec![];
        for (&(at, _), bytes) in ranges.iter().zip(&mut buffers) {
            let starts = (0..).map(|number: u64| at.saturating_add(number.saturating_mul(REQUEST as u64)));
            requests
                .extend(starts.zip(bytes.chunks_mut(REQUEST)).map(|(at, part)| ReadRequest::new(at, part)));
        }
        self.blob.read_many(&mut requests)?;
        let mut lens = requests.iter().map(|request| request.len).collect::<Vec<_>>().into_iter();
        for ((at, _), mut bytes) in ranges.into_iter().zip(buffers) {
            let got: usize = lens.by_ref().take(bytes.len().div_ceil(REQUEST)).sum();
            bytes.truncate(got);
            self.windows.insert(at, bytes);
        }
        Ok(())
    }

    /// Drops windows, the first ones of the file before others, until there is memory for `size` bytes more. Structures in them are read again
    /// when they are needed.
    fn make_room(&mut self, size: u64) {
        if self.budget == 0 {
            // A chain of many blocks must not keep a page for each.
            self.windows.retain(|_, window| window.len() as u64 > NEAR);
        }
        let mut len = self.windows.values().fold(0u64, |sum, window| sum.saturating_add(window.len() as u64));
        while len.saturating_add(size) > IN_MEMORY
            && let Some((_, window)) = self.windows.pop_first()
        {
            len = len.saturating_sub(window.len() as u64);
        }
    }

    /// Returns a window from position `at` on, and windows around the places where the blocks behind it are to be expected, up to the end of
    /// the file; `size` bytes together at most, so that few expected blocks get large windows. If the first guesses were wrong and `size`
    /// is enough for the rest of the file, that is one window.
    fn around_blocks(&mut self, at: u64, size: u64) -> Result<Vec<(u64, u64)>> {
        let (end, distance) = (self.blob.size()?, self.distance());
        let rest = end.saturating_sub(at);
        let is_guess = self.guesses < GUESSES;
        self.guesses = self.guesses.saturating_add(1);
        if rest <= size && !is_guess {
            return Ok(vec![(at, size)]);
        }
        let expected = rest.checked_div(distance).unwrap_or(0).saturating_add(1);
        let largest = if is_guess { distance / PART } else { size };
        let window = size.checked_div(expected).unwrap_or(0).min(largest).max(AROUND);
        let count = size.checked_div(window).unwrap_or(1);
        let centres = (1..count).map(|number| at.saturating_add(distance.saturating_mul(number)));
        let starts = centres.map(|centre| centre.saturating_sub(window / 2)).take_while(|&start| start < end);
        Ok(std::iter::once(at).chain(starts).map(|start| (start, window)).collect())
    }
}
