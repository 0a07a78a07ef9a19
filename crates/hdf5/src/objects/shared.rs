//! "Shared Message" (IV.A.2): what a message stands for that only says where the real one is.
//!
//! It is either the message of a committed datatype's header or an object in the heap of the file's shared message
//! table. What is found there is taken as it stands: a shared message is never behind another one.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::wire::bad;
use crate::{Address, File, Sizes};

use super::header::{HeaderMessage, ObjectHeader};

const WHAT: &str = "shared message";

/// Where the message is that a shared message stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedPlace {
    /// In the header of this object.
    Object(Address),
    /// In the heap of the shared message table, under this identifier.
    Heap([u8; 8]),
}

/// "Shared Message", versions 1 to 3.
pub(crate) struct SharedMessage {
    pub sizes: Sizes,
    pub version: u8,
    pub place: SharedPlace,
}

/// Types of shared messages.
const IN_HEAP: u8 = 1;
const COMMITTED: u8 = 2;

impl Record for SharedMessage {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(1..=3, &mut self.version)?;
        let mut kind = if matches!(self.place, SharedPlace::Heap(_)) { IN_HEAP } else { COMMITTED };
        c.int("type", &mut kind)?;
        if self.version == 3 && kind == IN_HEAP {
            let mut id = match self.place {
                SharedPlace::Heap(id) => u64::from_le_bytes(id),
                SharedPlace::Object(_) => 0,
            };
            c.position("fractal heap ID", 8, &mut id)?;
            self.place = SharedPlace::Heap(id.to_le_bytes());
            return Ok(());
        }
        if self.version == 1 {
            // The rest is a symbol table entry.
            c.reserved(6)?;
            c.length("link name offset", self.sizes, &mut 0)?;
        }
        let mut at = match self.place {
            SharedPlace::Object(at) => at,
            SharedPlace::Heap(_) => Address(0),
        };
        c.defined("object header address", self.sizes, &mut at)?;
        self.place = SharedPlace::Object(at);
        Ok(())
    }
}

impl SharedPlace {
    /// The place from the body of a shared message.
    pub fn decode(body: &[u8], sizes: Sizes) -> Result<SharedPlace> {
        let mut message = SharedMessage { sizes, version: 0, place: SharedPlace::Object(Address(0)) };
        fields::read(&mut message, WHAT, body)?;
        Ok(message.place)
    }
}

/// The body of a shared message that stands for the datatype committed at an address.
pub(crate) fn committed(at: Address, sizes: Sizes) -> Result<Vec<u8>> {
    fields::write(&mut SharedMessage { sizes, version: 2, place: SharedPlace::Object(at) }, WHAT)
}

/// A message that a shared one stands for.
pub struct ResolvedMessage {
    /// What it says.
    pub body: Vec<u8>,
    /// The object whose message it is, unless it is in the shared message table.
    pub committed: Option<Address>,
    /// Bytes of the file that were looked at for it.
    pub cost: u64,
}

/// Finds the message of this kind for which `stored` stands.
pub fn resolve(file: &File, kind: u16, stored: &[u8]) -> Result<ResolvedMessage> {
    let at = match SharedPlace::decode(stored, file.source().sizes)? {
        SharedPlace::Object(at) => at,
        SharedPlace::Heap(id) => {
            let body = file.shared_message(kind, &id)?;
            return Ok(ResolvedMessage { cost: body.len() as u64, body, committed: None });
        }
    };
    let header = ObjectHeader::read(file.source(), at)?;
    let cost = header.len;
    let real = header.messages.into_iter().find(|message| message.kind == kind);
    let real = real.ok_or_else(|| bad(format!("the object at {at} has no message {kind:#x}")))?;
    if real.flags & HeaderMessage::SHARED != 0 {
        return Err(bad(format!("the message {kind:#x} of the object at {at} is shared again")));
    }
    Ok(ResolvedMessage { body: real.body, committed: Some(at), cost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_all_versions() {
        let sizes = Sizes { offset: 8, length: 8 };
        let two = committed(Address(9), sizes).unwrap();
        assert_eq!(two, [2, 2, 9, 0, 0, 0, 0, 0, 0, 0]);
        let object = SharedPlace::Object(Address(9));
        let one = [&[1, 0, 0, 0, 0, 0, 0, 0], &[7; 8][..], &two[2..]].concat();
        let three = [&[3, 2], &two[2..]].concat();
        for bytes in [two, one, three] {
            assert_eq!(SharedPlace::decode(&bytes, sizes).unwrap(), object);
        }
        let heap = [3, 1, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(SharedPlace::decode(&heap, sizes).unwrap(), SharedPlace::Heap([1, 2, 3, 4, 5, 6, 7, 8]));
    }
}
