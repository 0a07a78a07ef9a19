//! "Link Info Message" (IV.A.2.c) and "Attribute Info Message" (IV.A.2.v): where the links or attributes of an object lie
//! that are not in its header, and whether their order is kept.
//!
//! Both messages are the same but for the width of one number. What they point at is built here too: a heap with the
//! messages of the links or attributes, and its indexes (record types 5, 6, 8 and 9 of III.A.2).

use ferrocdf_bytes::{Coder, Record, Result, lookup3};

use crate::block::{Alloc, Block};
use crate::fields::{self, Fields};
use crate::heaps::NewHeap;
use crate::objects::kind;
use crate::trees::btree2::NewBTree2;
use crate::wire::{Writer, number};
use crate::{Address, Sizes};

/// Bytes of a node of the indexes.
const NODE_SIZE: u32 = 512;
/// "Creation Order" of an attribute that has none.
pub(crate) const NO_ORDER: u32 = 0xffff;

/// What a message of this kind is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Links,
    Attributes,
}

impl Of {
    /// The message that says where the heap is.
    pub fn kind(self) -> u16 {
        match self {
            Of::Links => kind::LINK_INFO,
            Of::Attributes => kind::ATTRIBUTE_INFO,
        }
    }

    /// The messages in the heap.
    pub fn message_kind(self) -> u16 {
        match self {
            Of::Links => kind::LINK,
            Of::Attributes => kind::ATTRIBUTE,
        }
    }

    fn what(self) -> &'static str {
        match self {
            Of::Links => "link info message",
            Of::Attributes => "attribute info message",
        }
    }

    fn heap(self) -> NewHeap {
        match self {
            Of::Links => NewHeap::LINKS,
            Of::Attributes => NewHeap::ATTRIBUTES,
        }
    }

    /// Record types of the indexes by name and by creation order.
    fn record_types(self) -> [u8; 2] {
        match self {
            Of::Links => [5, 6],
            Of::Attributes => [8, 9],
        }
    }

    /// Bytes of identifiers in the heap.
    fn id_len(self) -> usize {
        match self {
            Of::Links => 7,
            Of::Attributes => 8,
        }
    }

    /// Bytes of "Maximum Creation Index".
    fn order_width(self) -> usize {
        match self {
            Of::Links => 8,
            Of::Attributes => 2,
        }
    }
}

/// What the message says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DenseInfo {
    /// "Maximum Creation Index": the order that the next one gets, if their order is kept.
    pub next_order: Option<u64>,
    /// Whether there is an index by creation order once there is a heap.
    pub indexed: bool,
    /// The heap with all of them; `None` if they are in the header.
    pub heap: Option<Address>,
    /// The index by name.
    pub by_name: Option<Address>,
    /// The index by creation order.
    pub by_order: Option<Address>,
}

/// "Link Info Message" or "Attribute Info Message".
pub(crate) struct DenseInfoMessage<'a> {
    pub of: Of,
    pub info: &'a mut DenseInfo,
    pub sizes: Sizes,
}

/// The flags of messages with a maximum creation index, and with an index by creation order.
const TRACKED: u8 = 1;
const INDEXED: u8 = 2;

impl Record for DenseInfoMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let DenseInfoMessage { of, info, sizes } = self;
        c.version(0..=0, &mut 0)?;
        let tracked = if info.next_order.is_some() { TRACKED } else { 0 };
        let mut flags = tracked | if info.indexed { INDEXED } else { 0 };
        c.int("flags", &mut flags)?;
        info.indexed = flags & INDEXED != 0;
        if flags & TRACKED != 0 {
            c.uint("maximum creation index", of.order_width(), info.next_order.get_or_insert_default())?;
        }
        c.address("fractal heap address", *sizes, &mut info.heap)?;
        c.address("address of the index by name", *sizes, &mut info.by_name)?;
        if info.indexed {
            c.address("address of the index by creation order", *sizes, &mut info.by_order)?;
        }
        Ok(())
    }
}

impl DenseInfo {
    /// Takes a message apart.
    pub fn decode(of: Of, body: &[u8], sizes: Sizes) -> Result<DenseInfo> {
        let mut info = DenseInfo::default();
        fields::read(&mut DenseInfoMessage { of, info: &mut info, sizes }, of.what(), body)?;
        Ok(info)
    }

    /// The message.
    pub fn encode(&self, of: Of, sizes: Sizes) -> Result<Vec<u8>> {
        fields::write(&mut DenseInfoMessage { of, info: &mut self.clone(), sizes }, of.what())
    }
}

/// What an index of links or attributes is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Name,
    Order,
}

/// A record of such an index: "Version 2 B-tree, Type 5, 6, 8 and 9 Record Layout".
#[derive(Clone, Debug)]
pub(crate) struct DenseRecord {
    of: Of,
    by: By,
    /// Identifier of the message in the heap, and zeros.
    id: [u8; 8],
    /// "Message Flags" of an attribute.
    pub flags: u8,
    /// "Creation Order", but of a link by its name.
    pub order: u64,
    /// Hash of the name, of a link or an attribute by its name.
    pub hash: u32,
}

impl Record for DenseRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        match (self.of, self.by) {
            (Of::Links, By::Name) => {
                c.int("hash of name", &mut self.hash)?;
                self.heap_id(c)
            }
            (Of::Links, By::Order) => {
                c.int("creation order", &mut self.order)?;
                self.heap_id(c)
            }
            (Of::Attributes, by) => {
                self.heap_id(c)?;
                c.int("message flags", &mut self.flags)?;
                c.uint("creation order", 4, &mut self.order)?;
                if by == By::Name {
                    c.int("hash of name", &mut self.hash)?;
                }
                Ok(())
            }
        }
    }
}

impl DenseRecord {
    /// A record to be read.
    pub fn unread(of: Of, by: By) -> DenseRecord {
        DenseRecord { of, by, id: [0; 8], flags: 0, order: 0, hash: 0 }
    }

    /// Identifier of the message in the heap.
    pub fn id(&self) -> &[u8] {
        &self.id[..self.of.id_len()]
    }

    #[inline]
    fn heap_id<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut id = u64::from_le_bytes(self.id);
        c.position("heap ID", self.of.id_len(), &mut id)?;
        self.id = id.to_le_bytes();
        Ok(())
    }

    /// A record of the index by name.
    pub fn by_name(of: Of, bytes: &[u8]) -> Result<DenseRecord> {
        let mut record = Self::unread(of, By::Name);
        fields::read(&mut record, "record of an index by name", bytes)?;
        Ok(record)
    }
}

/// A link or an attribute that goes into a heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DenseItem<'a> {
    pub name: &'a [u8],
    /// "Creation Order", where it is tracked.
    pub order: Option<u64>,
    /// The message.
    pub body: &'a [u8],
}

impl AsRef<[u8]> for DenseItem<'_> {
    fn as_ref(&self) -> &[u8] {
        self.body
    }
}

impl DenseInfo {
    /// Builds the heap of all these items, and its indexes: by name, and by creation order if `self.indexed`. Notes
    /// where they are.
    ///
    /// # Errors
    /// `ERANGE` for an order that the index cannot hold, those of the heap, and of `alloc`.
    pub fn build(
        &mut self,
        of: Of,
        items: &[DenseItem<'_>],
        sizes: Sizes,
        alloc: &mut Alloc<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<()> {
        let heap = of.heap().build(items, sizes, alloc, blocks)?;
        let id_length = of.heap().id_length;
        let mut keys: Vec<_> = items
            .iter()
            .zip(heap.ids.chunks_exact(id_length))
            .map(|(item, id)| (lookup3(item.name, 0), item, id))
            .collect();
        let [by_name, by_order] = of.record_types();
        let mut tree = |record_type, records: Vec<u8>| {
            let record_size = records.len() / items.len().max(1);
            let tree = NewBTree2 { record_type, record_size, node_size: NODE_SIZE, records: &records };
            tree.build(sizes, alloc, blocks)
        };
        self.heap = Some(heap.at);
        // Names of one hash are in the order of their bytes.
        keys.sort_unstable_by_key(|&(hash, item, _)| (hash, item.name));
        let put = |w: &mut Writer, by: By, hash: u32, item: &DenseItem<'_>, id: &[u8]| {
            let none = if of == Of::Links { 0 } else { NO_ORDER.into() };
            let order = item.order.unwrap_or(none);
            let id = number(id).to_le_bytes();
            w.record(&mut DenseRecord { of, by, id, flags: 0, order, hash });
        };
        let mut w = Writer::new("index by name");
        keys.iter().for_each(|&(hash, item, id)| put(&mut w, By::Name, hash, item, id));
        self.by_name = Some(tree(by_name, w.finish()?)?);
        self.by_order = None;
        if self.indexed {
            keys.sort_by_key(|&(_, item, _)| item.order);
            let mut w = Writer::new("index by creation order");
            keys.iter().for_each(|&(hash, item, id)| put(&mut w, By::Order, hash, item, id));
            self.by_order = Some(tree(by_order, w.finish()?)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::tests::BlockSpace;
    use crate::heaps::FractalHeap;
    use crate::trees::btree2::BTree2;

    #[test]
    fn both_messages_there_and_back() {
        let sizes = Sizes { offset: 4, length: 4 };
        let cases: [(Of, &[u8], DenseInfo); 3] = [
            (
                Of::Links,
                &[0, 3, 11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0],
                DenseInfo {
                    next_order: Some(11),
                    indexed: true,
                    heap: Some(Address(1)),
                    by_name: Some(Address(2)),
                    by_order: Some(Address(3)),
                },
            ),
            (
                Of::Attributes,
                &[0, 1, 2, 0, 255, 255, 255, 255, 255, 255, 255, 255],
                DenseInfo { next_order: Some(2), ..DenseInfo::default() },
            ),
            (Of::Attributes, &[0, 0, 255, 255, 255, 255, 255, 255, 255, 255], DenseInfo::default()),
        ];
        for (of, bytes, info) in cases {
            assert_eq!(DenseInfo::decode(of, bytes, sizes).unwrap(), info);
            assert_eq!(info.encode(of, sizes).unwrap(), bytes);
            assert!(DenseInfo::decode(of, &bytes[..bytes.len() - 1], sizes).is_err());
        }
        let many = DenseInfo { next_order: Some(1 << 16), ..DenseInfo::default() };
        assert!(many.encode(Of::Attributes, sizes).is_err());
        assert!(many.encode(Of::Links, sizes).is_ok());
    }
    #[test]
    fn items_are_found_by_both_indexes() {
        let sizes = Sizes { offset: 8, length: 8 };
        let names: Vec<_> = (0..700).map(|item| format!("item{item}")).collect();
        // Made in the reverse order.
        let order = |item: usize| (names.len() - item) as u64;
        let items: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(at, name)| DenseItem {
                name: name.as_bytes(),
                order: Some(order(at)),
                body: name.as_bytes(),
            })
            .collect();
        // Where the order, the identifier and the hash are in the records of each.
        for (of, hash, name_id, order_width, order_at, order_id, id_length) in
            [(Of::Links, 0, 4, 8, 0, 8, 7), (Of::Attributes, 13, 0, 4, 9, 0, 8)]
        {
            let (mut space, mut blocks) = (BlockSpace::new(), Vec::new());
            let mut info = DenseInfo { indexed: true, ..DenseInfo::default() };
            info.build(of, &items, sizes, &mut |len| space.take(len), &mut blocks).unwrap();
            let source = space.file(&blocks, sizes);
            let heap = FractalHeap::open(&source, info.heap.unwrap()).unwrap();
            let body = |record: &[u8], at: usize| heap.object(&record[at..at + id_length]).unwrap();
            let [named, ordered] = of.record_types();
            let tree = BTree2::open(&source, info.by_name.unwrap()).unwrap();
            assert_eq!((tree.record_type(), tree.records()), (named, 700));
            let mut before = 0;
            tree.walk(&mut |record| {
                let hash = number(&record[hash..hash + 4]);
                assert!(before <= hash);
                before = hash;
                assert_eq!(lookup3(&body(record, name_id), 0), hash as u32);
                Ok(())
            })
            .unwrap();
            let tree = BTree2::open(&source, info.by_order.unwrap()).unwrap();
            assert_eq!((tree.record_type(), tree.records()), (ordered, 700));
            let mut next = 1;
            tree.walk(&mut |record| {
                assert_eq!(number(&record[order_at..order_at + order_width]), next);
                assert_eq!(*body(record, order_id), *names[names.len() - next as usize].as_bytes());
                next += 1;
                Ok(())
            })
            .unwrap();
        }
    }
}
