//! HDF4 skipping Huffman: adaptive Huffman codes by semi-splay trees, one tree for each byte of a number (`cskphuff.c` of HDF4, after
//! Douglas W. Jones, "Application of Splay Trees to Data Compression").
//!
//! The parameter is the number of trees, which take turns. A tree has 256 inner nodes, of which 0 is the root, and 256 leaves. Each byte
//! moves its leaf half way up.

use ferrocdf_bytes::{Result, ToUsize};

use super::bits::{BitReader, BitWriter};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;
use crate::stream::{Progress, StreamDecoder};

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_skphuff"),
    names: &["hdf4_skphuff"],
    new: |params, _| match *params {
        [trees] if (1..=MAX_TREES).contains(&trees) => Ok(boxed(SkippingHuffman { trees: trees as usize })),
        _ => Err(bad_params(format!(
            "hdf4_skphuff: takes the number of trees, 1 to {MAX_TREES}, not {params:?}"
        ))),
    },
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

/// Maximum number of trees, some 2 KiB each: numbers have 8 bytes at most, records some more.
const MAX_TREES: u32 = 1 << 12;

/// Maximum number of trees of a decoder that keeps its state between reads.
const MAX_STREAM_TREES: usize = 64;

/// The number of bytes, which is also the number of the first leaf.
const LEAVES: usize = 256;

#[derive(Debug)]
struct SkippingHuffman {
    trees: usize,
}

#[derive(Clone, Debug)]
struct Tree {
    /// The children of each inner node.
    children: [[u16; 2]; LEAVES],
    /// The parent of each node.
    parents: [u8; 2 * LEAVES],
}

impl Tree {
    fn new() -> Tree {
        let mut tree = Tree { children: [[0; 2]; LEAVES], parents: [0; 2 * LEAVES] };
        for (node, children) in tree.children.iter_mut().enumerate() {
            *children = [2 * node as u16, 2 * node as u16 + 1];
        }
        for (node, parent) in tree.parents.iter_mut().enumerate() {
            *parent = (node / 2) as u8;
        }
        tree
    }

    /// Moves a leaf half way to the root. The way of a leaf upwards ends at the root in any state: a node that is moved becomes a child
    /// of its grandparent, and the node that it changes places with goes below its former parent.
    fn splay(&mut self, byte: u8) {
        let mut node = LEAVES + usize::from(byte);
        while node != 0 {
            let parent = usize::from(self.parents[node]);
            if parent == 0 {
                break;
            }
            let grandparent = usize::from(self.parents[parent]);
            let [left, right] = self.children[grandparent];
            let is_left = usize::from(left) == parent;
            let uncle = if is_left { right } else { left };
            self.children[grandparent][usize::from(is_left)] = node as u16;
            let side = usize::from(usize::from(self.children[parent][0]) != node);
            self.children[parent][side] = uncle;
            self.parents[node] = grandparent as u8;
            self.parents[usize::from(uncle)] = parent as u8;
            node = grandparent;
        }
    }
}

impl SkippingHuffman {
    /// Returns the trees for so many bytes, which take turns.
    fn trees(&self, bytes: u64) -> Vec<Tree> {
        (0..bytes.clamp(1, self.trees as u64)).map(|_| Tree::new()).collect()
    }

    /// Returns a decoder of so many bytes.
    fn walk(&self, len: u64) -> Walk {
        Walk { trees: self.trees(len), next: 0, bit: 0, decoded: 0, len }
    }
}

/// A decoder between two bytes.
#[derive(Clone, Debug)]
struct Walk {
    trees: Vec<Tree>,
    /// The tree of the next byte.
    next: usize,
    /// Bits of the first encoded byte that are consumed.
    bit: u32,
    /// Number of bytes that are decoded, and that are to be decoded in all.
    decoded: u64,
    len: u64,
}

impl Walk {
    /// Reads the leaf of the next byte; `None` if the bits end before.
    fn leaf(&self, bits: &mut BitReader<'_>) -> Option<u8> {
        let mut node = 0;
        while node < LEAVES {
            node = usize::from(self.trees[self.next].children[node][bits.read_word(1)?.saturate()]);
        }
        Some((node - LEAVES) as u8)
    }
}

impl StreamDecoder for Walk {
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress> {
        let Some(mut bits) = BitReader::from_bit(encoded, self.bit) else { return Ok(Progress::default()) };
        let (mut written, mut position) = (0, (0, self.bit));
        for byte in decoded {
            let Some(leaf) = self.leaf(&mut bits) else {
                if is_last {
                    return Err(corrupt(format!("stream ends after {} of {} bytes", self.decoded, self.len)));
                }
                break;
            };
            *byte = leaf;
            self.trees[self.next].splay(leaf);
            self.next = if self.next + 1 == self.trees.len() { 0 } else { self.next + 1 };
            self.decoded += 1;
            written += 1;
            position = bits.position(encoded);
        }
        self.bit = position.1;
        Ok(Progress { taken: position.0, written, is_end: false })
    }

    fn fork(&self) -> Box<dyn StreamDecoder> {
        Box::new(self.clone())
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.trees[..])
    }
}

impl SliceCodec for SkippingHuffman {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        if self.max_decoded_len(encoded.len()) < decoded.len() {
            return Err(corrupt(format!("{} bytes are too few for {}", encoded.len(), decoded.len())));
        }
        self.walk(decoded.len() as u64).decode(encoded, true, decoded).map(|done| Some(done.written))
    }

    fn stream(&self, len: u64) -> Option<Box<dyn StreamDecoder>> {
        (self.trees <= MAX_STREAM_TREES).then(|| Box::new(self.walk(len)) as Box<dyn StreamDecoder>)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let mut trees = self.trees(decoded.len() as u64);
        let mut bits = BitWriter::new(encoded);
        let mut code = Vec::new();
        for (at, &byte) in decoded.iter().enumerate() {
            let tree = &mut trees[at % self.trees];
            let mut node = LEAVES + usize::from(byte);
            while node != 0 {
                let parent = usize::from(tree.parents[node]);
                code.push(usize::from(tree.children[parent][1]) == node);
                node = parent;
            }
            code.drain(..).rev().for_each(|bit| bits.write_word(bit.into(), 1));
            tree.splay(byte);
        }
        bits.finish();
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // A byte takes one bit at least.
        encoded.saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_hostile_streams_end() {
        let codec = SkippingHuffman { trees: 4 };
        let bytes: Vec<u8> = (0..5000u32).flat_map(|number| (number * number % 977).to_be_bytes()).collect();
        let (mut encoded, mut again) = (vec![], vec![0; bytes.len()]);
        codec.encode(&bytes, &mut encoded).unwrap();
        assert!(encoded.len() < bytes.len(), "{} bytes", encoded.len());
        assert_eq!(codec.decode(&encoded, &mut again).unwrap(), Some(bytes.len()));
        assert_eq!(again, bytes);
        assert!(codec.decode(&encoded[..encoded.len() / 2], &mut again).is_err());
        for pattern in [0x00, 0x55, 0xff] {
            // Any bits are a walk through the trees; only their end can be an error.
            let _ = codec.decode(&vec![pattern; 1 << 16], &mut again);
        }
    }
}
