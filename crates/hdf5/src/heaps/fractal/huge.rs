//! Huge objects of a fractal heap: each lies in the file on its own.
//!
//! An identifier that is long enough holds the place itself; a short one is a key of the heap's B-tree of huge objects
//! (record types 1 and 2; 3 and 4 are those of places, and nobody needs to look them up).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::Result;

use super::FractalHeap;
use super::stored::HugeObject;
use crate::fields;
use crate::trees::btree2::BTree2;
use crate::wire::number;

const WHAT: &str = "huge object";

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
        let filtered = if self.header.chain.is_some() { sizes.length.saturating_add(4) } else { 0 };
        sizes.offset.saturating_add(sizes.length).saturating_add(filtered)
    }

    /// The place that an identifier or a record begins with.
    fn place(&self, bytes: &[u8]) -> Result<HugeObject> {
        let mut place = HugeObject::unread(self.header.sizes, self.header.chain.is_some(), false);
        fields::read(&mut place, WHAT, bytes)?;
        Ok(place)
    }

    /// The place of the object with this key.
    fn look_up(&self, id: &[u8]) -> Result<HugeObject> {
        let index = self.header.huge_index.ok_or_else(|| self.header.error("there are no huge objects"))?;
        let tree = BTree2::open(&self.source, index)?;
        let wanted = if self.header.chain.is_some() { 2 } else { 1 };
        if tree.record_type() != wanted {
            let why = format!("its huge objects are in a B-tree of type {}", tree.record_type());
            return Err(self.header.error(why));
        }
        let key = number(id);
        let mut object = HugeObject::unread(self.header.sizes, self.header.chain.is_some(), true);
        let found = tree.find(&mut |record| {
            fields::read(&mut object, "record of a huge object", record)?;
            Ok(key.cmp(&object.number.unwrap_or_default()))
        })?;
        self.place(&found.ok_or_else(|| self.header.error(format!("there is no huge object {key}")))?)
    }
}
