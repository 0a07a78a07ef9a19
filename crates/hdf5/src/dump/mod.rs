//! The structures of a file as text: addresses, the specification's names of fields, and values.
//!
//! The same descriptions that read and write structures print them, run by a [`Dumper`]. Structures are found by following
//! addresses from the superblock; a list of what is still to be printed takes the place of recursion, and each address is printed
//! once, so that a damaged file is as much work as it has bytes. A structure that cannot be read is an error in its place, and
//! the rest is printed all the same.
#![deny(clippy::arithmetic_side_effects)]

mod arrays;
pub(crate) mod extents;
mod fractal;
mod groups;
mod header;
mod messages;
mod shared;
#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "numbers that the tests choose")]
mod tests;
mod trees;

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Dumper, Error, Record, Result, lookup3};
use ferrocdf_store::Blob;

use crate::heaps::GlobalHeap;
use crate::messages::small::TreeSizes;
use crate::source::ORDER;
use crate::superblock::{DriverBlock, SIGNATURE, StoredSuperblock, locate};
use crate::wire::{CHECKSUM, bad};
use crate::{Address, File, Source};

/// How many times the bytes of the file are read at most: blocks that lie over one another would be more.
const TIMES: u64 = 4;
/// Bytes of the path of an object that are shown at most.
const LONGEST_PATH: usize = 200;

/// Prints the structures of an HDF5 file: superblock, object headers with their messages, indexes and heaps. Elements of datasets are
/// not read.
///
/// # Errors
/// `ENOTNC` for a blob without an HDF5 signature; `EHDFERR` if structures cannot be read, after all others were printed, with the place
/// of the first; those of `out`.
pub fn structure(blob: Arc<dyn Blob>, out: &mut dyn Write) -> Result<()> {
    let mut walk = StructureWalk::start(blob, out)?;
    walk.run()?;
    walk.unreadable().map_or(Ok(()), Err)
}

/// What is still to be printed.
type Task = Box<dyn FnOnce(&mut StructureWalk<'_>) -> Result<()>>;

/// The object that structures belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StructureOwner {
    /// Address of its header.
    object: Address,
    /// True for structures of the chunk index of this dataset.
    is_chunk_index: bool,
}

/// A walk through a file.
struct StructureWalk<'a> {
    source: Source,
    /// The opened file; `None` if it cannot be opened.
    file: Option<File>,
    out: &'a mut dyn Write,
    /// Structures that are still to be printed with their owners, the next one last.
    waiting: Vec<(StructureOwner, Task)>,
    /// Structures that the one being printed leads to, in their order.
    next: Vec<(StructureOwner, Task)>,
    /// Owner of the structure being printed.
    owner: StructureOwner,
    /// The space that each printed structure takes in the file; several extents of one structure may overlap.
    taken: Vec<(StructureOwner, Range<u64>)>,
    /// Addresses of the headers of datasets.
    datasets: Vec<Address>,
    /// Page size of the file; 1 without pages.
    page: u64,
    /// Node sizes of version 1 B-trees and symbol tables.
    tree_sizes: TreeSizes,
    /// Addresses of structures that were printed or are waiting.
    seen: HashSet<Address>,
    /// Bytes that may still be read.
    left: u64,
    /// Data of local heaps.
    names: HashMap<Address, Rc<[u8]>>,
    /// Collections with mappings of virtual layouts, which several layouts may name.
    collections: GlobalHeap,
    /// The number of structures that cannot be read, and what is wrong with the first.
    failed: u64,
    first: Option<Error>,
}

impl<'a> StructureWalk<'a> {
    /// Prints the superblock; the structures that it leads to are waiting.
    fn start(blob: Arc<dyn Blob>, out: &'a mut dyn Write) -> Result<StructureWalk<'a>> {
        let (base, bytes) = locate(&blob)?;
        let mut stored = StoredSuperblock::default();
        let mut dumper = Dumper::new(&bytes[SIGNATURE.len()..], ORDER);
        let read = stored.fields(&mut dumper);
        let len = bytes.len().saturating_sub(dumper.rest().len());
        let text = format!("0x0 superblock (signature at byte {base} of the file)\n{}", dumper.finish());
        out.write_all(text.as_bytes()).map_err(|error| Error::system(error, "output"))?;
        read.map_err(|error| bad(format!("superblock: {}", error.what)))?;
        // A metadata cache image has newer contents of structures than their own addresses. An opened file reads them from it.
        let sizes = stored.sizes()?;
        let opened = File::open(blob.clone());
        let source = match &opened {
            Ok(file) => file.source().clone(),
            Err(_) => Source { blob, base, sizes, codecs: Default::default() },
        };
        let (file, error) = match opened {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error)),
        };
        let left = source.blob.size()?.saturating_mul(TIMES);
        let mut walk = StructureWalk {
            source,
            file,
            out,
            waiting: vec![],
            next: vec![],
            owner: StructureOwner::default(),
            taken: vec![],
            datasets: vec![],
            page: 1,
            tree_sizes: stored.tree_sizes,
            seen: HashSet::new(),
            left,
            names: HashMap::new(),
            collections: GlobalHeap::default(),
            failed: 0,
            first: None,
        };
        walk.takes(Address(0), (len as u64).saturating_add(stored.behind_fields()));
        if let Some(error) = error {
            walk.problem(&error)?;
        }
        let [root, extension] = stored.headers(sizes);
        if let Some(at) = stored.driver(sizes) {
            walk.later(at, move |walk| walk.driver(at));
        }
        if let Some(at) = extension {
            walk.later(at, move |walk| walk.header(at, "superblock extension"));
        }
        if let Some(at) = root {
            walk.later(at, move |walk| walk.header(at, "/"));
        }
        Ok(walk)
    }
}

impl StructureWalk<'_> {
    /// Prints everything.
    fn run(&mut self) -> Result<()> {
        loop {
            let next = std::mem::take(&mut self.next);
            self.waiting.extend(next.into_iter().rev());
            let Some((owner, task)) = self.waiting.pop() else { return Ok(()) };
            self.owner = owner;
            task(self)?;
        }
    }

    /// Returns an error about the structures that cannot be read.
    fn unreadable(self) -> Option<Error> {
        match self.failed {
            0 | 1 => self.first,
            failed => self
                .first
                .map(|first| first.at(format_args!("{failed} structures cannot be read; the first"))),
        }
    }

    /// Notes `len` bytes of the file that a structure of the present owner takes.
    fn takes(&mut self, at: Address, len: u64) {
        if let Ok(at) = self.source.position(at) {
            self.taken.push((self.owner, at..at.saturating_add(len)));
        }
    }

    /// Has the structure at an address printed, unless it was or will be. Errors of the task are those of the output alone.
    fn later(&mut self, at: Address, task: impl FnOnce(&mut StructureWalk<'_>) -> Result<()> + 'static) {
        if self.seen.insert(at) {
            self.next.push((self.owner, Box::new(task)));
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|error| Error::system(error, "output"))
    }

    /// Prints a line in front of the fields of a structure.
    fn title(&mut self, at: Address, title: &str) -> Result<()> {
        self.write(&format!("\n{at} {title}\n"))
    }

    /// Prints what is wrong.
    fn problem(&mut self, error: &Error) -> Result<()> {
        self.failed = self.failed.saturating_add(1);
        self.first.get_or_insert_with(|| error.clone());
        self.write(&format!("         error: {}\n", error.what))
    }

    /// Reads `len` bytes of a structure.
    fn read(&mut self, what: &str, at: Address, len: u64) -> Result<Vec<u8>> {
        self.charge(len.min(self.source.blob.size()?), at).map_err(|error| error.at(what))?;
        self.source.read(what, at, len)
    }

    /// Counts bytes that are read for the structure at an address.
    fn charge(&mut self, len: u64, at: Address) -> Result<()> {
        let left = self.left.checked_sub(len);
        self.left = left.unwrap_or(0);
        let what = || {
            bad(format!(
                "{at}: structures lie over one another: {TIMES} times the bytes of the file were read"
            ))
        };
        left.map(drop).ok_or_else(what)
    }

    /// Prints fields of a structure, as far as they can be read; `true` if all can.
    fn show(
        &mut self,
        what: &str,
        at: Address,
        bytes: &[u8],
        fields: impl FnOnce(&mut Dumper<'_>) -> Result<()>,
    ) -> Result<bool> {
        let mut dumper = Dumper::new(bytes, ORDER);
        let read = fields(&mut dumper);
        let text = dumper.finish();
        self.write(&text)?;
        match read {
            Ok(()) => Ok(true),
            Err(error) => self.problem(&bad(format!("{what} at {at}: {}", error.what))).map(|()| false),
        }
    }

    /// Prints a structure of `len` bytes with a title, the last four of which are its checksum if `is_checked`. Returns its bytes if
    /// all of its fields can be read.
    fn block(
        &mut self,
        what: &str,
        at: Address,
        len: u64,
        is_checked: bool,
        fields: impl FnOnce(&mut Dumper<'_>) -> Result<()>,
    ) -> Result<Option<Vec<u8>>> {
        self.title(at, what)?;
        let bytes = match self.read(what, at, len) {
            Ok(bytes) => bytes,
            Err(error) => return self.problem(&error).map(|()| None),
        };
        self.takes(at, len);
        let sum = if is_checked { CHECKSUM } else { 0 };
        let body = &bytes[..bytes.len().saturating_sub(sum)];
        let whole = self.show(what, at, body, fields)?;
        if is_checked {
            self.checksum(what, at, &bytes)?;
        }
        Ok(Some(bytes).filter(|_| whole))
    }

    /// Prints the driver information block.
    fn driver(&mut self, at: Address) -> Result<()> {
        let mut head = DriverBlock::default();
        if let Ok(start) = self.source.read(DriverBlock::WHAT, at, DriverBlock::HEAD) {
            peek(&mut head, &start);
        }
        let len = DriverBlock::HEAD.saturating_add(head.size.into());
        let fields = |dumper: &mut Dumper<'_>| {
            head.fields(dumper)?;
            raw("driver information", dumper)
        };
        self.block(DriverBlock::WHAT, at, len, false, fields).map(drop)
    }

    /// Prints the checksum at the end of a structure.
    fn checksum(&mut self, what: &str, at: Address, bytes: &[u8]) -> Result<()> {
        let Some((body, stored)) = bytes.split_last_chunk::<CHECKSUM>() else { return Ok(()) };
        let (stored, computed) = (u32::from_le_bytes(*stored), lookup3(body, 0));
        self.write(&format!("{:8} checksum = {stored:#010x}\n", body.len()))?;
        match stored == computed {
            true => Ok(()),
            false => self.problem(&bad(format!("{what} at {at}: wrong checksum, it is {computed:#010x}"))),
        }
    }
}

/// Reads a record of a structure that is printed too.
fn peek(record: &mut impl Record, bytes: &[u8]) -> bool {
    crate::fields::read(record, "structure", bytes).is_ok()
}

/// The path of an object in a group.
fn path_in(group: &str, name: &[u8]) -> String {
    let slash = if group.ends_with('/') { "" } else { "/" };
    let path = format!("{group}{slash}{}", name.escape_ascii());
    match path.char_indices().nth(LONGEST_PATH) {
        Some((end, _)) => format!("{}...", &path[..end].trim_end_matches('.')),
        None => path,
    }
}

/// Bytes that no description takes apart.
fn raw(name: &'static str, dumper: &mut Dumper<'_>) -> Result<()> {
    let len = dumper.rest().len() as u64;
    ferrocdf_bytes::Coder::bytes(dumper, name, len, &mut Vec::new())
}

/// An error of a code that says what cannot be printed.
fn unknown(what: String) -> Error {
    Error::new(Code::EHDFERR, what)
}
