//! "Link Info Message" (IV.A.2.c) and "Attribute Info Message" (IV.A.2.v): where the links or attributes of an object lie
//! that are not in its header, and whether their order is kept.
//!
//! Both messages are the same but for the width of one number.

use ferrocdf_bytes::Result;

use crate::wire::{Reader, Writer};
use crate::{Address, Sizes};

/// What a message of this kind is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Links,
    Attributes,
}

impl Of {
    fn what(self) -> &'static str {
        match self {
            Of::Links => "link info message",
            Of::Attributes => "attribute info message",
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

impl DenseInfo {
    /// Takes a message apart.
    pub fn decode(of: Of, body: &[u8], sizes: Sizes) -> Result<DenseInfo> {
        let mut reader = Reader::new(of.what(), body);
        reader.version(0..=0)?;
        let flags = reader.u8()?;
        let indexed = flags & 0x02 != 0;
        let next_order = if flags & 0x01 != 0 { Some(reader.uint(of.order_width())?) } else { None };
        let (heap, by_name) = (reader.address(sizes)?, reader.address(sizes)?);
        let by_order = if indexed { reader.address(sizes)? } else { None };
        Ok(DenseInfo { next_order, indexed, heap, by_name, by_order })
    }

    /// The message.
    pub fn encode(&self, of: Of, sizes: Sizes) -> Result<Vec<u8>> {
        let mut w = Writer::new(of.what());
        w.u8(0);
        w.u8(u8::from(self.next_order.is_some()) | u8::from(self.indexed) << 1);
        if let Some(next) = self.next_order {
            w.uint(of.order_width(), next);
        }
        w.address(sizes, self.heap);
        w.address(sizes, self.by_name);
        if self.indexed {
            w.address(sizes, self.by_order);
        }
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
