//! Huge objects of a fractal heap: each lies in the file on its own.
//!
//! An identifier that is long enough holds the place itself; a short one is a key of the heap's B-tree of huge objects
//! (record types 1 and 2; 3 and 4 are those of places, and nobody needs to look them up).

use ferrocdf_bytes::Result;

use super::FractalHeap;
use crate::Address;
use crate::trees::btree2::Tree;
use crate::wire::{Reader, number};

const WHAT: &str = "huge object";

/// Where a huge object is stored.
struct Place {
    at: Address,
    /// Stored bytes.
    len: u64,
    /// Filter mask and bytes without filters, in a filtered heap.
    filtered: Option<(u32, u64)>,
}

impl FractalHeap {
    /// A huge object; `id` is its identifier without the first byte.
    pub(super) fn huge(&self, id: &[u8]) -> Result<Vec<u8>> {
        let place = if self.place_bytes() <= id.len() { self.place(id)? } else { self.look_up(id)? };
        match place.filtered {
            None => self.source.read(WHAT, place.at, place.len),
            Some((mask, plain)) => self.unfilter(WHAT, place.at, (place.len, mask), plain),
        }
    }

    /// Bytes of a place as stored.
    fn place_bytes(&self) -> usize {
        let sizes = self.header.sizes;
        let filtered = if self.header.chain.is_some() { 4 + sizes.length } else { 0 };
        sizes.offset + sizes.length + filtered
    }

    /// The place that an identifier or a record begins with.
    fn place(&self, bytes: &[u8]) -> Result<Place> {
        let sizes = self.header.sizes;
        let mut reader = Reader::new(WHAT, bytes);
        let (at, len) = (reader.defined(sizes, WHAT)?, reader.length(sizes)?);
        let filtered = match self.header.chain {
            Some(_) => Some((reader.u32()?, reader.length(sizes)?)),
            None => None,
        };
        Ok(Place { at, len, filtered })
    }

    /// The place of the object with this key.
    fn look_up(&self, id: &[u8]) -> Result<Place> {
        let index = self.header.huge_index.ok_or_else(|| self.header.error("there are no huge objects"))?;
        let tree = Tree::open(&self.source, index)?;
        let wanted = if self.header.chain.is_some() { 2 } else { 1 };
        if tree.record_type() != wanted {
            let why = format!("its huge objects are in a B-tree of type {}", tree.record_type());
            return Err(self.header.error(why));
        }
        let key = number(id);
        let place = self.place_bytes();
        let found = tree.find(&mut |record| {
            let mut reader = Reader::new("record of a huge object", record);
            reader.skip(place)?;
            Ok(key.cmp(&reader.length(self.header.sizes)?))
        })?;
        self.place(&found.ok_or_else(|| self.header.error(format!("there is no huge object {key}")))?)
    }
}
