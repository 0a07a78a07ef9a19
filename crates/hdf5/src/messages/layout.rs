//! The data layout message: how the elements of a dataset are stored (specification, section IV.A.2.i).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use super::HeapId;
use crate::fields::{self, Fields};
use crate::wire::width_of;
use crate::{Address, Sizes};

const WHAT: &str = "data layout";
/// Maximum number of dimensions of a chunk, without that of the bytes of an element.
const RANK: u64 = 32;

/// How the elements of a dataset are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLayout {
    /// In the message.
    Compact(Vec<u8>),
    /// Side by side.
    Contiguous {
        /// Where; `None` if no space was taken yet.
        address: Option<Address>,
        /// The bytes; versions 1 and 2 leave it to the shape.
        size: Option<u64>,
    },
    /// In chunks.
    Chunked(ChunkedLayout),
    /// In other datasets; the mappings are in the global heap. Without a place there are none.
    Virtual(Option<HeapId>),
}

/// How chunks are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkedLayout {
    /// The shape of a chunk in elements, no length 0.
    pub shape: Vec<u64>,
    /// Bytes of an element.
    pub element: u64,
    /// Whether chunks that reach beyond the dataset are stored without filters.
    pub plain_edges: bool,
    /// What finds the chunks.
    pub index: ChunkIndex,
    /// Where that, or the only chunk, is; `None` if no space was taken yet.
    pub address: Option<Address>,
}

/// What finds chunks, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkIndex {
    /// A B-tree of version 1.
    BTree1,
    /// There is one chunk; if filtered, its bytes and filter mask.
    Single(Option<(u64, u32)>),
    /// Chunks side by side.
    Implicit,
    /// A fixed array.
    FixedArray {
        /// A page has 2 to the power of this many entries.
        page_bits: u8,
    },
    /// An extensible array: maximum bits, index elements, minimum pointers, minimum elements, page bits.
    ExtensibleArray([u8; 5]),
    /// A B-tree of version 2.
    BTree2 {
        /// Bytes of a node.
        node: u32,
        /// Percent full at which nodes are split.
        split: u8,
        /// Percent full at which nodes are merged.
        merge: u8,
    },
}

/// "Data Layout Message". Versions 1 and 2 are only read.
pub(crate) struct DataLayoutMessage<'a> {
    pub version: u8,
    pub layout: &'a mut DataLayout,
    pub sizes: Sizes,
}

impl Record for DataLayoutMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (layout, sizes) = (&mut *self.layout, self.sizes);
        c.version(1..=5, &mut self.version)?;
        let version = self.version;
        let (mut rank, mut class) = (0, layout.class());
        if version < 3 {
            c.uint("dimensionality", 1, &mut rank)?;
        }
        c.int("layout class", &mut class)?;
        if version < 3 {
            c.reserved(5)?;
        }
        if C::READS {
            *layout = DataLayout::of_class(class)
                .filter(|layout| version > 3 || !matches!(layout, DataLayout::Virtual(_)))
                .ok_or_else(|| c.wrong(format!("class {class} is unknown")))?;
        }
        match layout {
            DataLayout::Compact(bytes) => {
                if version < 3 {
                    c.list("dimension", rank, &mut vec![], |len: &mut u32, c| c.int("size", len))?;
                }
                let mut size = bytes.len() as u64;
                c.uint("size", if version < 3 { 4 } else { 2 }, &mut size)?;
                c.bytes("raw data", size, bytes)
            }
            DataLayout::Contiguous { address, size } => {
                c.address("address", sizes, address)?;
                match size {
                    _ if version < 3 => Ok(()),
                    None if !C::READS => Err(c.wrong("the size of contiguous data is not known")),
                    size => c.length("size", sizes, size.get_or_insert_default()),
                }
            }
            DataLayout::Chunked(chunked) if version > 3 => chunked.fields(sizes, c),
            DataLayout::Chunked(chunked) => {
                if version == 3 {
                    rank = chunked.rank();
                    c.uint("dimensionality", 1, &mut rank)?;
                }
                c.address("address", sizes, &mut chunked.address)?;
                chunked.fields_of_lens(rank, 4, c)
            }
            DataLayout::Virtual(id) => HeapId::fields(id, sizes.undefined(), sizes, c),
        }
    }
}

/// Flags of chunked layouts since version 4.
const PLAIN_EDGES: u8 = 1;
const FILTERED_SINGLE: u8 = 2;

impl ChunkedLayout {
    /// "Dimensionality": that of the shape, and one for the bytes of an element.
    fn rank(&self) -> u64 {
        (self.shape.len() as u64).saturating_add(1)
    }

    /// Chunked layout since version 4.
    fn fields<C: Coder>(&mut self, sizes: Sizes, c: &mut C) -> Result<()> {
        let filtered_single = matches!(self.index, ChunkIndex::Single(Some(_)));
        let mut flags = if self.plain_edges { PLAIN_EDGES } else { 0 };
        flags |= if filtered_single { FILTERED_SINGLE } else { 0 };
        c.int("flags", &mut flags)?;
        self.plain_edges = flags & PLAIN_EDGES != 0;
        let mut rank = self.rank();
        c.uint("dimensionality", 1, &mut rank)?;
        let largest = self.shape.iter().chain([&self.element]).copied().max().unwrap_or(0);
        let mut width = width_of(largest) as u64;
        c.uint("dimension size encoded length", 1, &mut width)?;
        if !(1..=8).contains(&width) {
            return Err(c.wrong(format!("lengths of {width} bytes")));
        }
        self.fields_of_lens(rank, width.saturate(), c)?;
        let mut kind = self.index.kind();
        c.int("chunk indexing type", &mut kind)?;
        if C::READS {
            self.index = ChunkIndex::of_kind(kind, flags & FILTERED_SINGLE != 0)
                .ok_or_else(|| c.wrong(format!("chunk index {kind} is unknown")))?;
        }
        self.index.fields(sizes, c)?;
        c.address("address", sizes, &mut self.address)
    }

    /// The lengths of a chunk; the last of the `rank` numbers is the bytes of an element.
    fn fields_of_lens<C: Coder>(&mut self, rank: u64, width: usize, c: &mut C) -> Result<()> {
        if !(2..=RANK + 1).contains(&rank) {
            return Err(c.wrong(format!("chunks of {rank} dimensions, that of the element's bytes included")));
        }
        if !C::READS {
            self.shape.push(self.element);
        }
        c.list("dimension", rank, &mut self.shape, |len, c| c.uint("size", width, len))?;
        if self.shape.contains(&0) {
            return Err(c.wrong(format!("chunks of shape {:?}", self.shape)));
        }
        self.element = self.shape.pop().unwrap_or(1);
        Ok(())
    }
}

impl ChunkIndex {
    fn fields<C: Coder>(&mut self, sizes: Sizes, c: &mut C) -> Result<()> {
        match self {
            ChunkIndex::BTree1 => {
                Err(c.wrong("a B-tree of version 1 for chunks that are filtered only inside"))
            }
            ChunkIndex::Single(None) | ChunkIndex::Implicit => Ok(()),
            ChunkIndex::Single(Some((size, mask))) => {
                c.length("size of filtered chunk", sizes, size)?;
                c.int("filters for chunk", mask)
            }
            ChunkIndex::FixedArray { page_bits } => c.int("page bits", page_bits),
            ChunkIndex::ExtensibleArray([max, elements, pointers, minimum, page]) => {
                c.int("max bits", max)?;
                c.int("index elements", elements)?;
                c.int("min pointers", pointers)?;
                c.int("min elements", minimum)?;
                c.int("page bits", page)
            }
            ChunkIndex::BTree2 { node, split, merge } => {
                c.int("node size", node)?;
                c.int("split percent", split)?;
                c.int("merge percent", merge)
            }
        }
    }

    /// "Chunk Indexing Type"; a B-tree of version 1 has none.
    fn kind(&self) -> u8 {
        match self {
            ChunkIndex::BTree1 => 0,
            ChunkIndex::Single(_) => 1,
            ChunkIndex::Implicit => 2,
            ChunkIndex::FixedArray { .. } => 3,
            ChunkIndex::ExtensibleArray(_) => 4,
            ChunkIndex::BTree2 { .. } => 5,
        }
    }

    fn of_kind(kind: u8, filtered_single: bool) -> Option<ChunkIndex> {
        Some(match kind {
            1 => ChunkIndex::Single(filtered_single.then_some((0, 0))),
            2 => ChunkIndex::Implicit,
            3 => ChunkIndex::FixedArray { page_bits: 0 },
            4 => ChunkIndex::ExtensibleArray([0; 5]),
            5 => ChunkIndex::BTree2 { node: 0, split: 0, merge: 0 },
            _ => return None,
        })
    }
}

impl DataLayout {
    /// A layout from a message, versions 1 to 5.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<DataLayout> {
        let mut layout = DataLayout::Compact(vec![]);
        fields::read(&mut DataLayoutMessage { version: 0, layout: &mut layout, sizes }, WHAT, bytes)?;
        Ok(layout)
    }

    /// The message: of version 3 where it can hold the layout, else of version 4.
    ///
    /// # Errors
    /// `ERANGE` for more bytes or longer chunks than the message can hold.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let version = match self {
            DataLayout::Chunked(chunked) if chunked.index == ChunkIndex::BTree1 && !chunked.plain_edges => 3,
            DataLayout::Compact(_) | DataLayout::Contiguous { .. } => 3,
            DataLayout::Chunked(_) | DataLayout::Virtual(_) => 4,
        };
        fields::write(&mut DataLayoutMessage { version, layout: &mut self.clone(), sizes }, WHAT)
    }

    /// "Layout Class".
    fn class(&self) -> u8 {
        match self {
            DataLayout::Compact(_) => 0,
            DataLayout::Contiguous { .. } => 1,
            DataLayout::Chunked(_) => 2,
            DataLayout::Virtual(_) => 3,
        }
    }

    fn of_class(class: u8) -> Option<DataLayout> {
        Some(match class {
            0 => DataLayout::Compact(vec![]),
            1 => DataLayout::Contiguous { address: None, size: None },
            2 => DataLayout::Chunked(ChunkedLayout {
                shape: vec![],
                element: 1,
                plain_edges: false,
                index: ChunkIndex::BTree1,
                address: None,
            }),
            3 => DataLayout::Virtual(None),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { offset: 2, length: 2 };

    /// Also encodes it again, which gives the same bytes for versions 3 and 4 as they are written.
    fn decode(bytes: &[u8]) -> DataLayout {
        let layout = DataLayout::decode(bytes, SIZES).unwrap();
        let again = layout.encode(SIZES);
        match (&layout, bytes[0]) {
            (DataLayout::Contiguous { size: None, .. }, _) => assert!(again.is_err()),
            (DataLayout::Chunked(_), 3..) | (_, 3) => assert_eq!(again.unwrap(), bytes),
            _ => assert_eq!(DataLayout::decode(&again.unwrap(), SIZES).unwrap(), layout),
        }
        layout
    }

    #[test]
    fn compact() {
        assert_eq!(decode(&[3, 0, 2, 0, 7, 8]), DataLayout::Compact(vec![7, 8]));
        let old = [2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8];
        assert_eq!(decode(&old), DataLayout::Compact(vec![7, 8]));
    }

    #[test]
    fn contiguous() {
        let at = DataLayout::Contiguous { address: Some(Address(9)), size: Some(6) };
        assert_eq!(decode(&[4, 1, 9, 0, 6, 0]), at);
        let nowhere = DataLayout::Contiguous { address: None, size: None };
        assert_eq!(decode(&[1, 1, 1, 0, 0, 0, 0, 0, 255, 255, 2, 0, 0, 0]), nowhere);
    }

    #[test]
    fn chunks() {
        let expected = ChunkedLayout {
            shape: vec![3, 5],
            element: 4,
            plain_edges: false,
            index: ChunkIndex::BTree1,
            address: Some(Address(9)),
        };
        let large = ChunkedLayout { shape: vec![1 << 32], ..expected.clone() };
        assert!(DataLayout::Chunked(large.clone()).encode(SIZES).is_err());
        let large = ChunkedLayout { index: ChunkIndex::Implicit, ..large };
        let large = DataLayout::Chunked(large);
        assert_eq!(decode(&large.encode(SIZES).unwrap()), large);
        let lengths = [3, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0];
        let three = decode(&[&[3, 2, 3, 9, 0][..], &lengths].concat());
        let one = decode(&[&[1, 3, 2, 0, 0, 0, 0, 0, 9, 0][..], &lengths].concat());
        assert_eq!(
            (three, one),
            (DataLayout::Chunked(expected.clone()), DataLayout::Chunked(expected.clone()))
        );
        let index =
            |flags: u8, index: &[u8]| match decode(&[&[4, 2, flags, 3, 1, 3, 5, 4], index, &[9, 0]].concat())
            {
                DataLayout::Chunked(chunked) => {
                    assert_eq!((&chunked.shape, chunked.element), (&expected.shape, 4));
                    assert_eq!((chunked.address, chunked.plain_edges), (expected.address, flags & 1 != 0));
                    chunked.index
                }
                other => panic!("{other:?}"),
            };
        assert_eq!(index(0, &[1]), ChunkIndex::Single(None));
        assert_eq!(index(2, &[1, 17, 0, 1, 0, 0, 0]), ChunkIndex::Single(Some((17, 1))));
        assert_eq!(index(0, &[2]), ChunkIndex::Implicit);
        assert_eq!(index(1, &[3, 10]), ChunkIndex::FixedArray { page_bits: 10 });
        assert_eq!(index(0, &[4, 32, 4, 4, 16, 10]), ChunkIndex::ExtensibleArray([32, 4, 4, 16, 10]));
        assert_eq!(
            index(0, &[5, 0, 8, 0, 0, 100, 40]),
            ChunkIndex::BTree2 { node: 2048, split: 100, merge: 40 }
        );
    }

    #[test]
    fn nonsense_is_an_error() {
        let cases: [&[u8]; 6] = [
            &[6, 1, 9, 0, 6, 0],
            &[3, 3, 9, 0, 1, 0, 0, 0],
            &[3, 2, 1, 9, 0, 4, 0, 0, 0],
            &[3, 2, 2, 9, 0, 0, 0, 0, 0, 4, 0, 0, 0],
            &[4, 2, 0, 2, 9, 3, 4, 2, 9, 0],
            &[4, 2, 0, 2, 1, 3, 4, 6, 9, 0],
        ];
        for bytes in cases {
            assert!(DataLayout::decode(bytes, SIZES).is_err(), "{bytes:?}");
        }
    }
}
