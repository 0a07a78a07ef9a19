//! "Data Object Headers" (IV.A.1): the messages of an object, wherever in the file they lie.
//!
//! The whole header is read when the object is opened. Shared messages are left as they stand: [`Object`](super::object::Object)
//! puts what they stand for in their place.

use std::collections::BTreeMap;

use ferrocdf_bytes::{Coder, Decoder, Record, Result};

use crate::fields;
use crate::messages::small::Continuation;
use crate::source::ORDER;
use crate::wire::{self, CHECKSUM, bad};
use crate::{Address, Source};

use super::kind;
use super::prefix::{ContinuedHead, HeaderForm, MessageHead, ObjectHeaderPrefix, SIGNATURE};

const WHAT: &str = "object header";
const CONTINUED: &str = "object header continuation";
/// What is read of a header first. Most are not longer.
const FIRST_READ: u64 = 512;
/// Messages that most headers have no more of.
const USUAL: usize = 8;

/// A header message.
#[derive(Clone, Debug)]
pub struct HeaderMessage {
    /// Its number, see [`kind`].
    pub kind: u16,
    /// "Header Message Flags", as stored.
    pub flags: u8,
    /// "Creation Order", in headers that track the order of attributes.
    pub order: Option<u16>,
    /// What it says; of a shared message, what it stands for.
    pub body: Vec<u8>,
    /// The object whose message this is, for committed datatypes.
    pub committed: Option<Address>,
    /// Why `body` is empty, for a shared message that was not found.
    pub damage: Option<ferrocdf_bytes::Error>,
}

impl HeaderMessage {
    /// The flag of a message that stands somewhere else.
    pub const SHARED: u8 = 0x02;
    const FAIL_IF_UNKNOWN: u8 = 0x80;

    /// What it says, or why that is not known.
    pub fn body(&self) -> Result<&[u8]> {
        match &self.damage {
            Some(damage) => Err(damage.clone()),
            None => Ok(&self.body),
        }
    }
}

/// A header as it is stored, its messages as they stand.
#[derive(Debug)]
pub(crate) struct ObjectHeader {
    /// What it is beside its chunks, with "Flags" as stored.
    pub form: HeaderForm,
    /// All messages but NIL and continuations.
    pub messages: Vec<HeaderMessage>,
    /// Its chunks and their bytes, the first one first.
    pub chunks: Vec<(Address, u64)>,
    /// Bytes of the header in the file.
    pub len: u64,
}

/// Reads a header, chunk by chunk.
struct HeaderChunks<'a> {
    source: &'a Source,
    /// The header itself.
    at: Address,
    /// Chunks that are read, by their start, with their end: none may overlap another.
    taken: BTreeMap<u64, u64>,
    /// Continuations that are not read yet.
    waiting: Vec<(Address, u64)>,
    header: ObjectHeader,
}

impl ObjectHeader {
    /// Reads the header at an address.
    pub fn read(source: &Source, at: Address) -> Result<ObjectHeader> {
        let start = source.read_some(WHAT, at, FIRST_READ)?;
        let version = if start.starts_with(&SIGNATURE) { 2 } else { 1 };
        let form = HeaderForm::new(version, 0);
        let header = ObjectHeader { form, messages: Vec::with_capacity(USUAL), chunks: Vec::new(), len: 0 };
        let mut chunks = HeaderChunks { source, at, taken: BTreeMap::new(), waiting: Vec::new(), header };
        chunks
            .first(start)
            .and_then(|()| chunks.rest())
            .map_err(|error| error.at(format_args!("{WHAT} at {at}")))?;
        Ok(chunks.header)
    }
}

impl HeaderChunks<'_> {
    /// The first chunk.
    fn first(&mut self, start: Vec<u8>) -> Result<()> {
        let mut prefix = ObjectHeaderPrefix { form: self.header.form, messages: 0, size: 0 };
        let head = fields::read(&mut prefix, "prefix", &start)?;
        self.header.form = prefix.form;
        let sum = if prefix.form.version == 1 { 0 } else { CHECKSUM };
        let len = prefix.size.checked_add((head + sum) as u64).ok_or_else(|| bad("chunk 0 has no end"))?;
        let bytes = self.source.read_on(WHAT, self.at, start, len)?;
        self.take(self.at, len)?;
        let body = if sum == 0 { &bytes[..] } else { wire::checked("chunk 0", self.at, &bytes)? };
        self.messages(body.get(head..).unwrap_or_default())
    }

    /// All continuations, and theirs.
    fn rest(&mut self) -> Result<()> {
        // The first one first: that is the order of the messages.
        let (mut next, mut prefetched) = (0, 0);
        while let Some(&(at, len)) = self.waiting.get(next) {
            if prefetched <= next {
                prefetched = self.waiting.len();
                self.source.prefetch(self.waiting[next..].iter().copied());
            }
            next += 1;
            self.take(at, len)?;
            let bytes = self.source.read(CONTINUED, at, len)?;
            if self.header.form.version == 1 {
                self.messages(&bytes)?;
                continue;
            }
            self.messages(fields::read_checked(&mut ContinuedHead, CONTINUED, at, &bytes)?)?;
        }
        Ok(())
    }

    /// Notes that a chunk is part of this header.
    fn take(&mut self, at: Address, len: u64) -> Result<()> {
        let end = at.0.saturating_add(len);
        let before = self.taken.range(..end).next_back();
        if before.is_some_and(|(_, &other)| other > at.0) {
            return Err(bad(format!("the chunk at {at} overlaps another one")));
        }
        self.taken.insert(at.0, end);
        self.header.chunks.push((at, len));
        self.header.len = self.header.len.saturating_add(len);
        Ok(())
    }

    /// The messages of a chunk.
    fn messages(&mut self, bytes: &[u8]) -> Result<()> {
        let form = self.header.form;
        let mut decoder = Decoder::new(bytes, ORDER, true);
        // What is left of a chunk may be too small for a message.
        while decoder.rest().len() >= form.message_head() {
            let mut head = MessageHead::new(&form, 0, 0);
            let mut body = vec![];
            head.fields(&mut decoder)
                .and_then(|()| decoder.bytes("message", head.len, &mut body))
                .map_err(|error| bad(format!("messages: kind {:#x}: {}", head.kind, error.what)))?;
            let MessageHead { kind, flags, order, .. } = head;
            self.message(HeaderMessage { kind, flags, order, body, committed: None, damage: None })?;
        }
        Ok(())
    }

    fn message(&mut self, message: HeaderMessage) -> Result<()> {
        match message.kind {
            kind::NIL => {}
            kind::CONTINUATION => {
                let next = Continuation::decode(&message.body, self.source.sizes)?;
                self.waiting.push((next.at, next.len));
            }
            // 0x09 is a message of tests.
            0x09 | 0x19.. if message.flags & HeaderMessage::FAIL_IF_UNKNOWN != 0 => {
                let kind = message.kind;
                return Err(bad(format!("message {kind:#x} is unknown, and says that it must be known")));
            }
            _ => self.header.messages.push(message),
        }
        Ok(())
    }
}
