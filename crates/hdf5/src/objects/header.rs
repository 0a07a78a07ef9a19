//! "Data Object Headers" (IV.A.1): the messages of an object, wherever in the file they lie.
//!
//! The whole header is read when the object is opened, and shared messages are replaced by what they stand for, so that
//! nobody above needs to know where a message came from. A shared message that cannot be found leaves its error in its
//! place: one of them does not hide the rest.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ferrocdf_bytes::{Coder, Decoder, Record, Result};

use crate::fields;
use crate::messages::small::{Continuation, ReferenceCount};
use crate::source::ORDER;
use crate::wire::{self, CHECKSUM, bad};
use crate::{Address, File, Source};

use super::attribute::Dense;
use super::prefix::{ContinuedHead, HeaderForm, MessageHead, Prefix, SIGNATURE};
use super::shared;

const WHAT: &str = "object header";
const CONTINUED: &str = "object header continuation";
/// What is read of a header first. Most are not longer.
const FIRST_READ: u64 = 512;
/// Messages that most headers have no more of.
const USUAL: usize = 8;

/// Numbers of header messages ("Header Message Type").
pub mod kind {
    /// NIL: unused space.
    pub const NIL: u16 = 0x00;
    /// Dataspace.
    pub const DATASPACE: u16 = 0x01;
    /// Link Info.
    pub const LINK_INFO: u16 = 0x02;
    /// Datatype.
    pub const DATATYPE: u16 = 0x03;
    /// Fill Value (Old).
    pub const FILL_OLD: u16 = 0x04;
    /// Fill Value.
    pub const FILL: u16 = 0x05;
    /// Link.
    pub const LINK: u16 = 0x06;
    /// External Data Files.
    pub const EXTERNAL: u16 = 0x07;
    /// Data Layout.
    pub const LAYOUT: u16 = 0x08;
    /// Group Info.
    pub const GROUP_INFO: u16 = 0x0A;
    /// Filter Pipeline.
    pub const PIPELINE: u16 = 0x0B;
    /// Attribute.
    pub const ATTRIBUTE: u16 = 0x0C;
    /// Shared Message Table.
    pub const SHARED_TABLE: u16 = 0x0F;
    /// Object Header Continuation.
    pub const CONTINUATION: u16 = 0x10;
    /// Symbol Table Message.
    pub const SYMBOL_TABLE: u16 = 0x11;
    /// Object Modification Time.
    pub const MODIFICATION_TIME: u16 = 0x12;
    /// B-tree 'K' Values.
    pub const TREE_SIZES: u16 = 0x13;
    /// Driver Information.
    pub const DRIVER_INFO: u16 = 0x14;
    /// Attribute Info.
    pub const ATTRIBUTE_INFO: u16 = 0x15;
    /// Object Reference Count.
    pub const REFERENCE_COUNT: u16 = 0x16;
    /// File Space Info.
    pub const SPACE_INFO: u16 = 0x17;
    /// Metadata Cache Image.
    pub const CACHE_IMAGE: u16 = 0x18;

    /// The specification's name of a message.
    pub(crate) fn name(kind: u16) -> &'static str {
        match kind {
            NIL => "NIL",
            DATASPACE => "dataspace",
            LINK_INFO => "link info",
            DATATYPE => "datatype",
            FILL_OLD => "fill value (old)",
            FILL => "fill value",
            LINK => "link",
            EXTERNAL => "external data files",
            LAYOUT => "data layout",
            0x09 => "bogus",
            GROUP_INFO => "group info",
            PIPELINE => "filter pipeline",
            ATTRIBUTE => "attribute",
            0x0D => "object comment",
            0x0E => "object modification time (old)",
            SHARED_TABLE => "shared message table",
            CONTINUATION => "object header continuation",
            SYMBOL_TABLE => "symbol table message",
            MODIFICATION_TIME => "object modification time",
            TREE_SIZES => "B-tree 'K' values",
            DRIVER_INFO => "driver info",
            ATTRIBUTE_INFO => "attribute info",
            REFERENCE_COUNT => "object reference count",
            SPACE_INFO => "file space info",
            CACHE_IMAGE => "metadata cache image",
            _ => "unknown",
        }
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// It has links.
    Group,
    /// It has data.
    Dataset,
    /// A committed (named) datatype.
    Datatype,
    /// None of these.
    Unknown,
}

/// A header message.
#[derive(Clone, Debug)]
pub struct Message {
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

impl Message {
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

/// "Times" in a header, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Of access, modification, change and birth.
    pub access_modification_change_birth: [u32; 4],
}

/// A header as it is stored, its messages as they stand.
#[derive(Debug)]
pub(crate) struct Header {
    /// What it is beside its chunks, with "Flags" as stored.
    pub form: HeaderForm,
    /// All messages but NIL and continuations.
    pub messages: Vec<Message>,
    /// Its chunks and their bytes, the first one first.
    pub chunks: Vec<(Address, u64)>,
    /// Bytes of the header in the file.
    pub len: u64,
}

/// An object: a group, a dataset or a committed datatype.
#[derive(Clone, Debug)]
pub struct Object {
    file: File,
    address: Address,
    form: HeaderForm,
    messages: Vec<Message>,
    len: u64,
    /// The attributes that are not in the header, once they were looked for.
    pub(super) dense: Arc<OnceLock<Option<Dense>>>,
}

impl Object {
    /// Reads the header of the object at an address.
    pub(crate) fn open(file: &File, address: Address) -> Result<Object> {
        let mut header = Header::read(file.source(), address)?;
        // Each shared message stands for bytes of its own; many that stand for the same would be more than there are.
        let mut left = file.source().blob.size()?.saturating_mul(4);
        for message in &mut header.messages {
            if message.flags & Message::SHARED == 0 {
                continue;
            }
            let stored = std::mem::take(&mut message.body);
            match shared::resolve(file, message.kind, &stored) {
                Ok(real) => match left.checked_sub(real.cost) {
                    Some(rest) => {
                        left = rest;
                        (message.body, message.committed) = (real.body, real.committed);
                    }
                    None => {
                        message.damage = Some(bad(format!(
                            "{WHAT} at {address}: its shared messages are longer than the file"
                        )));
                        left = 0;
                    }
                },
                Err(error) => {
                    message.damage = Some(error.at(format_args!("{WHAT} at {address}: shared message")));
                }
            }
        }
        let Header { form, messages, len, .. } = header;
        let (file, dense) = (file.clone(), Arc::default());
        Ok(Object { file, address, form, messages, len, dense })
    }

    /// The file it is in.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where its header is; the same object has always the same.
    pub fn address(&self) -> Address {
        self.address
    }

    /// What it is.
    pub fn kind(&self) -> ObjectKind {
        let has = |kind| self.message(kind).is_some();
        if has(kind::SYMBOL_TABLE) || has(kind::LINK_INFO) {
            ObjectKind::Group
        } else if has(kind::DATATYPE) && has(kind::DATASPACE) {
            ObjectKind::Dataset
        } else if has(kind::DATATYPE) {
            ObjectKind::Datatype
        } else {
            ObjectKind::Unknown
        }
    }

    /// The messages of a kind, in the order in which they are stored.
    pub fn messages(&self, kind: u16) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// The first message of a kind.
    pub fn message(&self, kind: u16) -> Option<&Message> {
        self.messages(kind).next()
    }

    /// Bytes of all messages, of shared ones those that they stand for.
    pub fn message_bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.body.len() as u64).sum()
    }

    /// Whether the order in which attributes were made is kept.
    pub fn tracks_attribute_order(&self) -> bool {
        self.form.is_ordered()
    }

    /// The number of hard links to the object.
    pub fn references(&self) -> u32 {
        let stored = self.message(kind::REFERENCE_COUNT);
        let count = stored.and_then(|message| ReferenceCount::decode(&message.body).ok());
        count.map_or(self.form.references, |count| count.0)
    }

    /// Bytes of its header in the file.
    pub fn stored_len(&self) -> u64 {
        self.len
    }

    /// When it was used, where that is kept.
    pub fn times(&self) -> Option<Times> {
        self.form.times
    }
}

/// Reads a header, chunk by chunk.
struct Chunks<'a> {
    source: &'a Source,
    /// The header itself.
    at: Address,
    /// Chunks that are read, by their start, with their end: none may overlap another.
    taken: BTreeMap<u64, u64>,
    /// Continuations that are not read yet.
    waiting: Vec<(Address, u64)>,
    header: Header,
}

impl Header {
    /// Reads the header at an address.
    pub fn read(source: &Source, at: Address) -> Result<Header> {
        let start = source.read_some(WHAT, at, FIRST_READ)?;
        let version = if start.starts_with(&SIGNATURE) { 2 } else { 1 };
        let form = HeaderForm::new(version, 0);
        let header = Header { form, messages: Vec::with_capacity(USUAL), chunks: Vec::new(), len: 0 };
        let mut chunks = Chunks { source, at, taken: BTreeMap::new(), waiting: Vec::new(), header };
        chunks
            .first(start)
            .and_then(|()| chunks.rest())
            .map_err(|error| error.at(format_args!("{WHAT} at {at}")))?;
        Ok(chunks.header)
    }
}

impl Chunks<'_> {
    /// The first chunk.
    fn first(&mut self, start: Vec<u8>) -> Result<()> {
        let mut prefix = Prefix { form: self.header.form, messages: 0, size: 0 };
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
            self.message(Message { kind, flags, order, body, committed: None, damage: None })?;
        }
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<()> {
        match message.kind {
            kind::NIL => {}
            kind::CONTINUATION => {
                let next = Continuation::decode(&message.body, self.source.sizes)?;
                self.waiting.push((next.at, next.len));
            }
            // 0x09 is a message of tests.
            0x09 | 0x19.. if message.flags & Message::FAIL_IF_UNKNOWN != 0 => {
                let kind = message.kind;
                return Err(bad(format!("message {kind:#x} is unknown, and says that it must be known")));
            }
            _ => self.header.messages.push(message),
        }
        Ok(())
    }
}
