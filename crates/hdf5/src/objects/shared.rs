//! "Shared Message": what a message stands for that only says where the real one is.
//!
//! It is either the message of a committed datatype's header or an object in the heap of the file's shared message
//! table. What is found there is taken as it stands: a shared message is never behind another one.

use ferrocdf_bytes::Result;

use crate::wire::{Reader, bad};
use crate::{Address, File};

use super::header::{Header, Message};

/// A message that a shared one stands for.
pub struct Real {
    /// What it says.
    pub body: Vec<u8>,
    /// The object whose message it is, unless it is in the shared message table.
    pub committed: Option<Address>,
    /// Bytes of the file that were looked at for it.
    pub cost: u64,
}

/// Finds the message of this kind for which `stored` stands.
pub fn resolve(file: &File, kind: u16, stored: &[u8]) -> Result<Real> {
    let sizes = file.source().sizes;
    let mut reader = Reader::new("shared message", stored);
    let version = reader.version(1..=3)?;
    let place = reader.u8()?;
    if version == 3 && place == 1 {
        let body = file.shared_message(kind, reader.rest())?;
        return Ok(Real { cost: body.len() as u64, body, committed: None });
    }
    if version == 1 {
        // It is a symbol table entry: what comes before is a link name.
        reader.skip(6 + sizes.length)?;
    }
    let at = reader.defined(sizes, "shared message")?;
    let header = Header::read(file.source(), at)?;
    let cost = header.len;
    let real = header.messages.into_iter().find(|message| message.kind == kind);
    let real = real.ok_or_else(|| bad(format!("the object at {at} has no message {kind:#x}")))?;
    if real.flags & Message::SHARED != 0 {
        return Err(bad(format!("the message {kind:#x} of the object at {at} is shared again")));
    }
    Ok(Real { body: real.body, committed: Some(at), cost })
}
