//! Elements that point elsewhere: those of variable length ("Data Storage - Variable-length Datatypes"), and references
//! ("Reference Encoding", versions of the library before 1.12 and since). Numbers need no description beside their datatype.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Encoder, Record, Result};

use crate::fields::{self, Fields};
use crate::messages::HeapId;
use crate::selection::StoredSelection;
use crate::source::ORDER;
use crate::{Address, Sizes};

/// "Global Heap ID" of elements: the address 0 means that there is none.
pub(crate) struct ElementHeapId {
    pub sizes: Sizes,
    pub id: Option<HeapId>,
}

impl Record for ElementHeapId {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        HeapId::fields(&mut self.id, 0, self.sizes, c)
    }
}

/// Appends the bytes of an element; none after an error.
fn append(record: &mut impl Record, what: &str, bytes: &mut Vec<u8>) -> Result<()> {
    let start = bytes.len();
    let mut encoder = Encoder::behind(std::mem::take(bytes), ORDER);
    let written = record.fields(&mut encoder).map_err(|error| error.at(what));
    *bytes = encoder.finish();
    if written.is_err() {
        bytes.truncate(start);
    }
    written
}

/// A reference to an object: the address of its header, 0 for none.
pub struct ObjectReference {
    /// Widths of numbers in the file.
    pub sizes: Sizes,
    /// Address of the object's header.
    pub object: Option<Address>,
}

impl Record for ObjectReference {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut stored = self.object.map_or(0, |at| at.0);
        c.position("object address", self.sizes.offset, &mut stored)?;
        self.object = self.sizes.address(stored).filter(|at| at.0 != 0);
        Ok(())
    }
}

impl ObjectReference {
    /// Appends the bytes of the reference.
    ///
    /// # Errors
    /// `ERANGE` for an address that the file has no bytes for.
    pub fn append_to(mut self, bytes: &mut Vec<u8>) -> Result<()> {
        append(&mut self, "reference", bytes)
    }
}

/// An element of variable length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableElement {
    /// Widths of numbers in the file.
    pub sizes: Sizes,
    /// "Sequence Length": the number of elements of the base type.
    pub count: u32,
    /// "Global Heap ID" of the elements; `None` if the element is empty, or a string that does not exist.
    pub id: Option<HeapId>,
}

impl Record for VariableElement {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.int("sequence length", &mut self.count)?;
        HeapId::fields(&mut self.id, 0, self.sizes, c)
    }
}

impl VariableElement {
    pub(crate) const WHAT: &str = "element of variable length";

    /// Returns an element that has nothing in the global heap.
    pub fn empty(sizes: Sizes) -> VariableElement {
        VariableElement { sizes, count: 0, id: None }
    }

    /// Returns the bytes that an element takes.
    pub fn size(sizes: Sizes) -> usize {
        sizes.offset.saturating_add(8)
    }

    /// Reads an element.
    ///
    /// # Errors
    /// `EHDFERR` for too few bytes.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<VariableElement> {
        let mut element = Self::empty(sizes);
        fields::read(&mut element, Self::WHAT, bytes)?;
        Ok(element)
    }

    /// Appends the bytes of the element.
    ///
    /// # Errors
    /// `ERANGE` for an address that the file has no bytes for.
    pub fn append_to(mut self, bytes: &mut Vec<u8>) -> Result<()> {
        append(&mut self, Self::WHAT, bytes)
    }
}

/// Object of the global heap that a reference to a region points to: the dataset, and the selection in it.
pub(crate) struct RegionObject {
    pub sizes: Sizes,
    pub dataset: Address,
    pub selection: StoredSelection,
}

impl Record for RegionObject {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.defined("dataset address", self.sizes, &mut self.dataset)?;
        self.selection.fields(c)
    }
}

/// Kinds of revised references.
pub(crate) const OBJECT: u8 = 2;
pub(crate) const REGION: u8 = 3;
pub(crate) const ATTRIBUTE: u8 = 4;

/// The flag of references to other files.
const EXTERNAL: u8 = 1;

/// First fields of a revised reference.
#[derive(Default)]
pub(crate) struct RevisedReferenceHead {
    /// "Reference Type"; 0 refers to nothing.
    pub kind: u8,
    pub flags: u8,
}

impl Record for RevisedReferenceHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.int("reference type", &mut self.kind)?;
        c.int("flags", &mut self.flags)
    }
}

impl RevisedReferenceHead {
    /// True if the block of the reference is in the element, not in the global heap.
    pub fn is_inline(&self) -> bool {
        self.kind == OBJECT && self.flags & EXTERNAL == 0
    }
}

/// Block of a revised reference: what it refers to.
pub(crate) struct ReferenceBlock {
    pub head: RevisedReferenceHead,
    /// "Token": the address of the object.
    pub token: Vec<u8>,
    /// "External File Name", of references to other files.
    pub file: Vec<u8>,
    /// Bytes of rank and selection, of references to regions. The selection itself says where it ends.
    pub region_size: u32,
    /// Rank of the dataset, of references to regions.
    pub rank: u32,
    pub region: StoredSelection,
    /// "Attribute Name", of references to attributes.
    pub attribute: Vec<u8>,
}

impl Record for ReferenceBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut len = self.token.len() as u64;
        c.uint("token size", 1, &mut len)?;
        c.bytes("token", len, &mut self.token)?;
        if self.is_external() {
            name("external file name", &mut self.file, c)?;
        }
        match self.head.kind {
            OBJECT => Ok(()),
            REGION => {
                c.int("size of the selection", &mut self.region_size)?;
                c.int("rank", &mut self.rank)?;
                self.region.fields(c)
            }
            ATTRIBUTE => name("attribute name", &mut self.attribute, c),
            kind => Err(c.wrong(format!("reference type {kind} is unknown"))),
        }
    }
}

/// A name behind its length.
fn name<C: Coder>(field: &'static str, name: &mut Vec<u8>, c: &mut C) -> Result<()> {
    let mut len = name.len() as u64;
    c.uint("length of the name", 2, &mut len)?;
    c.bytes(field, len, name)
}

impl ReferenceBlock {
    /// Returns a block to be read.
    pub fn unread(head: RevisedReferenceHead) -> ReferenceBlock {
        let (token, file, attribute) = (vec![], vec![], vec![]);
        ReferenceBlock {
            head,
            token,
            file,
            region_size: 0,
            rank: 0,
            region: StoredSelection::default(),
            attribute,
        }
    }

    /// True if the object is in another file.
    pub fn is_external(&self) -> bool {
        self.head.flags & EXTERNAL != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::SpaceSelection;
    use crate::wire;

    #[test]
    fn elements_of_variable_length_are_read_as_they_were_written() {
        for offset in [2, 4, 8] {
            let sizes = Sizes { offset, length: 8 };
            let id = Some(HeapId { collection: Address(0x1234), index: 7 });
            for element in [VariableElement { sizes, count: 3, id }, VariableElement::empty(sizes)] {
                let mut bytes = vec![9];
                element.append_to(&mut bytes).unwrap();
                assert_eq!(bytes.len(), 1 + VariableElement::size(sizes));
                assert_eq!(VariableElement::decode(&bytes[1..], sizes), Ok(element));
                assert!(VariableElement::decode(&bytes[2..], sizes).is_err());
            }
            // The undefined address is no collection either.
            let undefined = [&[1, 0, 0, 0], &[0xff; 8][..offset], &[1, 0, 0, 0]].concat();
            assert_eq!(VariableElement::decode(&undefined, sizes).unwrap().id, None);
        }
        let sizes = Sizes { offset: 2, length: 2 };
        let id = Some(HeapId { collection: Address(1 << 16), index: 7 });
        let mut bytes = vec![9];
        assert!(VariableElement { sizes, count: 3, id }.append_to(&mut bytes).is_err());
        assert_eq!(bytes, [9]);
    }

    #[test]
    fn blocks_of_revised_references_have_the_fields_of_their_type() {
        for (kind, flags, wanted) in [
            (OBJECT, 0, &b"\x02\x34\x12"[..]),
            (OBJECT, EXTERNAL, b"\x02\x34\x12\x01\0f"),
            (REGION, 0, b"\x02\x34\x12\x14\0\0\0\x01\0\0\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0"),
            (ATTRIBUTE, 0, b"\x02\x34\x12\x01\0a"),
        ] {
            let head = || RevisedReferenceHead { kind, flags };
            let mut block = ReferenceBlock {
                token: vec![0x34, 0x12],
                file: b"f".to_vec(),
                region_size: 20,
                rank: 1,
                attribute: b"a".to_vec(),
                ..ReferenceBlock::unread(head())
            };
            assert_eq!(wire::encode(&mut block).unwrap(), wanted);
            let mut found = ReferenceBlock::unread(head());
            wire::decode(&mut found, "block", Address(0), wanted).unwrap();
            assert_eq!(found.token, block.token);
            assert_eq!(
                (found.is_external(), found.head.is_inline()),
                (flags != 0, kind == OBJECT && flags == 0)
            );
            assert_eq!(found.region.selection, SpaceSelection::All);
            assert!(wire::decode(&mut found, "block", Address(0), &wanted[..wanted.len() - 1]).is_err());
        }
        assert!(
            wire::encode(&mut ReferenceBlock::unread(RevisedReferenceHead { kind: 5, flags: 0 })).is_err()
        );
    }
}
