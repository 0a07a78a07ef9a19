//! The data layout message: how the elements of a dataset are stored (specification, section IV.A.2.i).

use ferrocdf_bytes::Result;

use super::HeapId;
use crate::wire::{Reader, Writer, width_of};
use crate::{Address, Sizes};

/// The most dimensions of a chunk, that of the bytes of an element aside.
const RANK: usize = 32;

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

impl DataLayout {
    /// A layout from a message, versions 1 to 5.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<DataLayout> {
        let mut r = Reader::new("data layout", bytes);
        let version = r.version(1..=5)?;
        if version < 3 {
            return old(&mut r, sizes);
        }
        match r.u8()? {
            0 => {
                let size = r.u16()?;
                Ok(DataLayout::Compact(r.take(usize::from(size))?.to_vec()))
            }
            1 => Ok(DataLayout::Contiguous { address: r.address(sizes)?, size: Some(r.length(sizes)?) }),
            2 if version == 3 => {
                let rank = r.u8()?;
                let address = r.address(sizes)?;
                chunked(&mut r, rank, 4, address)
            }
            2 => indexed(&mut r, sizes),
            3 if version > 3 => {
                let (collection, index) = (r.address(sizes)?, r.u32()?);
                Ok(DataLayout::Virtual(collection.map(|collection| HeapId { collection, index })))
            }
            class => Err(r.error(format_args!("class {class} is unknown"))),
        }
    }
}

impl DataLayout {
    /// The message: of version 3 where it can hold the layout, else of version 4.
    ///
    /// # Errors
    /// `ERANGE` for more bytes or longer chunks than the message can hold.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let mut w = Writer::new("data layout");
        match self {
            DataLayout::Compact(bytes) => {
                w.bytes(&[3, 0]);
                w.count(2, bytes.len());
                w.bytes(bytes);
            }
            DataLayout::Contiguous { address, size } => {
                w.bytes(&[3, 1]);
                w.address(sizes, *address);
                match size {
                    Some(size) => w.length(sizes, *size),
                    None => w.fail("the size of contiguous data is not known"),
                }
            }
            DataLayout::Chunked(chunked) => chunked.encode(&mut w, sizes),
            DataLayout::Virtual(id) => {
                w.bytes(&[4, 3]);
                w.address(sizes, id.map(|id| id.collection));
                w.u32(id.map_or(0, |id| id.index));
            }
        }
        w.finish()
    }
}

impl ChunkedLayout {
    fn encode(&self, w: &mut Writer, sizes: Sizes) {
        let lens = self.shape.iter().chain([&self.element]);
        if self.shape.is_empty() || self.shape.len() > RANK || lens.clone().any(|&len| len == 0) {
            w.fail(format_args!("chunks of shape {:?}", self.shape));
        }
        let rank = self.shape.len() + 1;
        if self.index == ChunkIndex::BTree1 {
            if self.plain_edges {
                w.fail("a B-tree of version 1 for chunks that are filtered only inside");
            }
            w.bytes(&[3, 2]);
            w.count(1, rank);
            w.address(sizes, self.address);
            lens.for_each(|&len| w.uint(4, len));
            return;
        }
        w.bytes(&[4, 2]);
        let filtered_single = matches!(self.index, ChunkIndex::Single(Some(_)));
        w.u8(u8::from(self.plain_edges) | u8::from(filtered_single) << 1);
        w.count(1, rank);
        let width = width_of(lens.clone().copied().max().unwrap_or(0));
        w.count(1, width);
        lens.for_each(|&len| w.uint(width, len));
        match self.index {
            ChunkIndex::Single(None) | ChunkIndex::BTree1 => w.u8(1),
            ChunkIndex::Single(Some((len, mask))) => {
                w.u8(1);
                w.length(sizes, len);
                w.u32(mask);
            }
            ChunkIndex::Implicit => w.u8(2),
            ChunkIndex::FixedArray { page_bits } => w.bytes(&[3, page_bits]),
            ChunkIndex::ExtensibleArray(parameters) => {
                w.u8(4);
                w.bytes(&parameters);
            }
            ChunkIndex::BTree2 { node, split, merge } => {
                w.u8(5);
                w.u32(node);
                w.bytes(&[split, merge]);
            }
        }
        w.address(sizes, self.address);
    }
}

/// Versions 1 and 2.
fn old(r: &mut Reader<'_>, sizes: Sizes) -> Result<DataLayout> {
    let (rank, class) = (r.u8()?, r.u8()?);
    r.skip(5)?;
    match class {
        0 => {
            r.skip(4 * usize::from(rank))?;
            let size = r.u32()?;
            Ok(DataLayout::Compact(r.take(size as usize)?.to_vec()))
        }
        1 => Ok(DataLayout::Contiguous { address: r.address(sizes)?, size: None }),
        2 => {
            let address = r.address(sizes)?;
            chunked(r, rank, 4, address)
        }
        _ => Err(r.error(format_args!("class {class} is unknown"))),
    }
}

/// Chunks behind a B-tree of version 1.
fn chunked(r: &mut Reader<'_>, rank: u8, width: usize, address: Option<Address>) -> Result<DataLayout> {
    let (shape, element) = chunk_shape(r, rank, width)?;
    let index = ChunkIndex::BTree1;
    Ok(DataLayout::Chunked(ChunkedLayout { shape, element, plain_edges: false, index, address }))
}

/// The lengths of a chunk; the last of the `rank` numbers are the bytes of an element.
fn chunk_shape(r: &mut Reader<'_>, rank: u8, width: usize) -> Result<(Vec<u64>, u64)> {
    let rank = usize::from(rank);
    if !(2..=RANK + 1).contains(&rank) {
        return Err(
            r.error(format_args!("chunks of {rank} dimensions, that of the element's bytes included"))
        );
    }
    let mut shape = Vec::with_capacity(rank);
    for _ in 0..rank {
        shape.push(r.uint(width)?);
    }
    if shape.contains(&0) {
        return Err(r.error(format_args!("chunks of shape {shape:?}")));
    }
    let element = shape.pop().unwrap_or(1);
    Ok((shape, element))
}

/// Chunks of versions 4 and 5.
fn indexed(r: &mut Reader<'_>, sizes: Sizes) -> Result<DataLayout> {
    let (flags, rank, width) = (r.u8()?, r.u8()?, usize::from(r.u8()?));
    if !(1..=8).contains(&width) {
        return Err(r.error(format_args!("lengths of {width} bytes")));
    }
    let (shape, element) = chunk_shape(r, rank, width)?;
    let index = match r.u8()? {
        1 if flags & 2 != 0 => ChunkIndex::Single(Some((r.length(sizes)?, r.u32()?))),
        1 => ChunkIndex::Single(None),
        2 => ChunkIndex::Implicit,
        3 => ChunkIndex::FixedArray { page_bits: r.u8()? },
        4 => ChunkIndex::ExtensibleArray([r.u8()?, r.u8()?, r.u8()?, r.u8()?, r.u8()?]),
        5 => ChunkIndex::BTree2 { node: r.u32()?, split: r.u8()?, merge: r.u8()? },
        kind => return Err(r.error(format_args!("chunk index {kind} is unknown"))),
    };
    let address = r.address(sizes)?;
    Ok(DataLayout::Chunked(ChunkedLayout { shape, element, plain_edges: flags & 1 != 0, index, address }))
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
