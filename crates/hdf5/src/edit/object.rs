//! Object headers in memory: messages as they are stored, and the chunks of the file that hold them.
//!
//! The decision that shaped it: a header is its first chunk, which never moves nor grows, and at most one continuation
//! with all that does not fit. Continuations that others made are joined when a header changes. Messages that nothing
//! is known of are carried along byte for byte.

use ferrocdf_bytes::Result;

use super::attributes::Attributes;
use super::dataset::Data;
use super::group::Links;
use crate::objects::header::{Message, kind};
use crate::wire::{self, CHECKSUM, Reader, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "object header";
/// Bytes of the prefix of a version 1 header, with padding.
const PREFIX_1: u64 = 16;
/// What is read of a header first.
const FIRST_READ: u64 = 512;

/// A message as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Msg {
    pub kind: u16,
    pub flags: u8,
    pub order: Option<u16>,
    pub body: Vec<u8>,
}

impl Msg {
    /// A message without an order.
    pub fn new(kind: u16, flags: u8, body: Vec<u8>) -> Msg {
        Msg { kind, flags, order: None, body }
    }
}

/// Flags of messages ("Header Message Flags").
pub(super) const CONSTANT: u8 = 0x01;
pub(super) const SHARED: u8 = Message::SHARED;
pub(super) const NOT_SHARED: u8 = 0x04;

/// A piece of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub at: Address,
    pub len: u64,
}

/// The header of an object.
#[derive(Debug)]
pub(super) struct Header {
    /// 1 or 2.
    pub version: u8,
    /// "Flags" of version 2.
    pub flags: u8,
    /// Hard links, and uses of a committed datatype.
    pub references: u32,
    /// The times of version 2, where kept.
    pub times: Option<[u32; 4]>,
    /// The maximum compact and minimum dense number of attributes, where kept.
    pub phase: Option<(u16, u16)>,
    /// The messages but those that are made anew: padding, continuations, reference counts, links and attributes that
    /// were loaded.
    pub messages: Vec<Msg>,
    /// Where it is in the file, the first chunk first.
    pub chunks: Vec<Extent>,
}

/// An object of the file.
#[derive(Debug)]
pub(super) struct Object {
    pub header: Header,
    /// Whether it is part of the committed state.
    pub committed: bool,
    /// Whether it was deleted.
    pub gone: bool,
    /// Its attributes, once they were looked at.
    pub attributes: Option<Attributes>,
    /// Its links, once they were looked at.
    pub links: Option<Links>,
    /// Its elements, once they were looked at.
    pub data: Option<Box<Data>>,
}

impl Object {
    /// A new one with these messages.
    pub fn new(ordered: bool, messages: Vec<Msg>) -> Object {
        // Creation order of attributes is tracked and indexed, or neither.
        let flags = if ordered { 0x0c } else { 0 };
        let header = Header {
            version: 2,
            flags,
            references: 0,
            times: None,
            phase: None,
            messages,
            chunks: Vec::new(),
        };
        Object::of(header, false)
    }

    /// The object with this header.
    pub fn of(header: Header, committed: bool) -> Object {
        Object { header, committed, gone: false, attributes: None, links: None, data: None }
    }

    /// Where its header is, once that is known.
    pub fn address(&self) -> Option<Address> {
        self.header.chunks.first().map(|chunk| chunk.at)
    }
}

impl Header {
    /// Whether the order of attributes is kept.
    pub fn is_ordered(&self) -> bool {
        self.flags & 0x04 != 0
    }

    /// Bytes of a message's head.
    pub fn message_head(&self) -> usize {
        match (self.version, self.is_ordered()) {
            (1, _) => 8,
            (_, true) => 6,
            _ => 4,
        }
    }

    /// Bytes that a message with this body takes.
    pub fn message_size(&self, body: usize) -> u64 {
        let body = if self.version == 1 { body.next_multiple_of(8) } else { body };
        (self.message_head() + body) as u64
    }

    /// Bytes around the messages of the first chunk.
    pub fn overhead(&self) -> u64 {
        if self.version == 1 {
            return PREFIX_1;
        }
        let times = if self.flags & 0x20 != 0 { 16 } else { 0 };
        let phase = if self.flags & 0x10 != 0 { 4 } else { 0 };
        (6 + times + phase + (1 << (self.flags & 0x03)) + CHECKSUM) as u64
    }

    /// Bytes around the messages of a continuation.
    pub fn continuation_overhead(&self) -> u64 {
        if self.version == 1 { 0 } else { 4 + CHECKSUM as u64 }
    }

    /// The first message of a kind.
    pub fn message(&self, kind: u16) -> Option<&Msg> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// Sets the body of the first message of a kind, or adds one with these flags.
    pub fn set(&mut self, kind: u16, flags: u8, body: Vec<u8>) {
        match self.messages.iter_mut().find(|message| message.kind == kind) {
            Some(message) => message.body = body,
            None => self.messages.push(Msg::new(kind, flags, body)),
        }
    }

    /// Takes out all messages of a kind.
    pub fn take(&mut self, kind: u16) -> Vec<Msg> {
        let (taken, rest) =
            std::mem::take(&mut self.messages).into_iter().partition(|message| message.kind == kind);
        self.messages = rest;
        taken
    }

    /// Sets the width of the size of the first chunk to what that needs.
    pub fn fit_width(&mut self, size: u64) {
        if self.version == 2 {
            let width = match size {
                ..=0xff => 0,
                ..=0xffff => 1,
                ..=0xffff_ffff => 2,
                _ => 3,
            };
            self.flags = self.flags & !0x03 | width;
        }
    }

    /// Reads the header at an address.
    pub fn read(source: &Source, at: Address) -> Result<Header> {
        let start = source.read_some(WHAT, at, FIRST_READ)?;
        let mut header = Header {
            version: 1,
            flags: 0,
            references: 1,
            times: None,
            phase: None,
            messages: Vec::new(),
            chunks: Vec::new(),
        };
        let read = match start.starts_with(b"OHDR") {
            true => header.first_2(source, at, start),
            false => header.first_1(source, at, start),
        };
        read.and_then(|waiting| header.rest(source, waiting))
            .map_err(|error| error.at(format_args!("{WHAT} at {at}")))?;
        if let Some(count) = header.take(kind::REFERENCE_COUNT).first().and_then(|count| count.body.get(1..5)) {
            header.references = wire::number(count) as u32;
        }
        Ok(header)
    }

    fn first_1(&mut self, source: &Source, at: Address, start: Vec<u8>) -> Result<Vec<Extent>> {
        let mut reader = Reader::new("prefix", &start);
        reader.version(1..=1)?;
        reader.skip(3)?;
        self.references = reader.u32()?;
        let len = PREFIX_1 + u64::from(reader.u32()?);
        let bytes = source.read_on(WHAT, at, start, len)?;
        self.chunks.push(Extent { at, len });
        self.chunk(source.sizes, bytes.get(PREFIX_1 as usize..).unwrap_or_default())
    }

    fn first_2(&mut self, source: &Source, at: Address, start: Vec<u8>) -> Result<Vec<Extent>> {
        let mut reader = Reader::new("prefix", &start);
        reader.signature(b"OHDR")?;
        self.version = reader.version(2..=2)?;
        self.flags = reader.u8()?;
        if self.flags & 0x20 != 0 {
            self.times = Some([reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?]);
        }
        if self.flags & 0x10 != 0 {
            self.phase = Some((reader.u16()?, reader.u16()?));
        }
        let size = reader.uint(1 << (self.flags & 0x03))?;
        let head = reader.position();
        let len = size.checked_add((head + CHECKSUM) as u64).ok_or_else(|| bad("chunk 0 has no end"))?;
        let bytes = source.read_on(WHAT, at, start, len)?;
        self.chunks.push(Extent { at, len });
        self.chunk(source.sizes, &wire::checked("chunk 0", at, &bytes)?[head..])
    }

    /// All continuations, and theirs.
    fn rest(&mut self, source: &Source, mut waiting: Vec<Extent>) -> Result<()> {
        let mut next = 0;
        while let Some(&Extent { at, len }) = waiting.get(next) {
            next += 1;
            let overlaps = |chunk: &Extent| {
                at.0 < chunk.at.0.saturating_add(chunk.len) && chunk.at.0 < at.0.saturating_add(len)
            };
            if self.chunks.iter().any(overlaps) {
                return Err(bad(format!("the chunk at {at} overlaps another one")));
            }
            let bytes = source.read("object header continuation", at, len)?;
            self.chunks.push(Extent { at, len });
            let more = if self.version == 1 {
                self.chunk(source.sizes, &bytes)?
            } else {
                let mut reader = Reader::new("continuation", wire::checked("continuation", at, &bytes)?);
                reader.signature(b"OCHK")?;
                self.chunk(source.sizes, reader.rest())?
            };
            waiting.extend(more);
        }
        Ok(())
    }

    /// The messages of a chunk; gives the continuations.
    fn chunk(&mut self, sizes: Sizes, bytes: &[u8]) -> Result<Vec<Extent>> {
        let (head, first) = (self.message_head(), self.version == 1);
        let mut reader = Reader::new("messages", bytes);
        let mut continued = Vec::new();
        while reader.rest().len() >= head {
            let kind = if first { reader.u16()? } else { u16::from(reader.u8()?) };
            let len = reader.u16()?;
            let flags = reader.u8()?;
            reader.skip(if first { 3 } else { 0 })?;
            let order = if !first && self.is_ordered() { Some(reader.u16()?) } else { None };
            let body = reader.take(usize::from(len))?;
            match kind {
                kind::NIL => {}
                kind::CONTINUATION => {
                    let mut reader = Reader::new("continuation message", body);
                    let at = reader.defined(sizes, "continuation")?;
                    continued.push(Extent { at, len: reader.length(sizes)? });
                }
                _ => self.messages.push(Msg { kind, flags, order, body: body.to_vec() }),
            }
        }
        Ok(continued)
    }
}

/// Which messages go to the first chunk, and which to the continuation.
#[derive(Debug)]
pub(super) struct Placing {
    pub first: Vec<Msg>,
    pub rest: Vec<Msg>,
}

impl Header {
    /// Divides messages between the first chunk, which has room for so many bytes of them, and a continuation. The order
    /// of messages of a kind stays. `None` if not even a continuation message fits.
    pub fn divide(&self, messages: Vec<Msg>, room: u64, sizes: Sizes) -> Option<Placing> {
        let size = |message: &Msg| self.message_size(message.body.len());
        if messages.iter().map(size).sum::<u64>() <= room {
            return Some(Placing { first: messages, rest: Vec::new() });
        }
        let mut room = room.checked_sub(self.message_size(sizes.offset + sizes.length))?;
        let mut placing = Placing { first: Vec::new(), rest: Vec::new() };
        for message in messages {
            let size = size(&message);
            let behind = placing.rest.iter().any(|other| other.kind == message.kind);
            if !behind && size <= room {
                room -= size;
                placing.first.push(message);
            } else {
                placing.rest.push(message);
            }
        }
        Some(placing)
    }
}
