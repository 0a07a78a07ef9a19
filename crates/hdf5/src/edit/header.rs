//! Object headers in memory: encoded messages, and the header chunks of the file that hold them.
//!
//! The decision that shaped it: a header is its first chunk, which never moves nor grows, and at most one continuation
//! with the messages for which the first has no room. Several continuations of another writer are joined when a header
//! changes. Messages of unknown types are copied byte for byte.

use ferrocdf_bytes::Result;

use super::space::Extent;
use crate::messages::small::{Continuation, ReferenceCount};
use crate::objects::encode::{NewChunk, NewMessage};
use crate::objects::header::{HeaderMessage, ObjectHeader};
use crate::objects::kind;
use crate::objects::prefix::HeaderForm;
use crate::wire::bad;
use crate::{Address, Sizes, Source};

/// Flags of messages ("Header Message Flags").
pub(super) const CONSTANT: u8 = 0x01;
pub(super) const SHARED: u8 = HeaderMessage::SHARED;
pub(super) const NOT_SHARED: u8 = 0x04;
/// Header flags: the order of attributes is tracked and indexed.
const ORDERED: u8 = 0x0c;
/// Spare room of a new continuation of a committed object: one byte for this many bytes of messages.
const SLACK: u64 = 4;
/// A continuation of at most so many bytes is kept even if it is nearly empty.
const KEPT: u64 = 4096;

/// The header of an object that is edited.
#[derive(Debug)]
pub(super) struct EditedHeader {
    /// What it is beside its messages.
    pub form: HeaderForm,
    /// Hard links, and uses of a committed datatype.
    pub references: u32,
    /// The messages but those that are made anew: padding, continuations, reference counts, links and attributes that
    /// were loaded.
    pub messages: Vec<HeaderMessage>,
    /// Where it is in the file, the first chunk first.
    pub chunks: Vec<Extent>,
    /// Whether it is part of the committed state.
    pub committed: bool,
}

/// A message of these parts.
pub(super) fn message(kind: u16, flags: u8, body: Vec<u8>) -> HeaderMessage {
    HeaderMessage { kind, flags, order: None, body, committed: None, damage: None }
}

impl EditedHeader {
    /// A new one with these messages.
    pub fn new(ordered: bool, messages: Vec<HeaderMessage>) -> EditedHeader {
        let flags = if ordered { ORDERED } else { 0 };
        let form = HeaderForm::new(2, flags);
        EditedHeader { form, references: 0, messages, chunks: Vec::new(), committed: false }
    }

    /// The header at an address.
    pub fn read(source: &Source, at: Address) -> Result<EditedHeader> {
        let ObjectHeader { form, messages, chunks, .. } = ObjectHeader::read(source, at)?;
        let chunks = chunks.into_iter().map(|(at, len)| Extent { at, len }).collect();
        let mut header =
            EditedHeader { form, references: form.references, messages, chunks, committed: true };
        if let Some(stored) = header.take(kind::REFERENCE_COUNT).first()
            && let Ok(count) = ReferenceCount::decode(&stored.body)
        {
            header.references = count.0;
        }
        Ok(header)
    }

    /// Where it is, once that is known.
    pub fn address(&self) -> Option<Address> {
        self.chunks.first().map(|chunk| chunk.at)
    }

    /// Whether the order of attributes is kept.
    pub fn is_ordered(&self) -> bool {
        self.form.is_ordered()
    }

    /// The first message of a kind.
    pub fn message(&self, kind: u16) -> Option<&HeaderMessage> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// Sets the body of the first message of a kind, or adds one with these flags.
    pub fn set(&mut self, kind: u16, flags: u8, body: Vec<u8>) {
        match self.messages.iter_mut().find(|message| message.kind == kind) {
            Some(message) => message.body = body,
            None => self.messages.push(message(kind, flags, body)),
        }
    }

    /// Takes out all messages of a kind.
    pub fn take(&mut self, kind: u16) -> Vec<HeaderMessage> {
        let messages = std::mem::take(&mut self.messages);
        let (taken, rest) = messages.into_iter().partition(|message| message.kind == kind);
        self.messages = rest;
        taken
    }

    /// Bytes that messages take.
    fn size(&self, messages: &[HeaderMessage]) -> u64 {
        messages.iter().map(|message| self.form.message_len(message.body.len()) as u64).sum()
    }

    /// Bytes that a first chunk with these messages needs; a continuation message has room in any.
    pub fn fit(&mut self, messages: &[HeaderMessage], sizes: Sizes) -> u64 {
        let continued = self.form.message_len(sizes.offset + sizes.length) as u64;
        let size = self.size(messages).max(continued);
        self.form.fit(size);
        self.form.first_overhead() as u64 + size
    }

    /// The chunks with these messages: their places and bytes. The first chunk has its place; what else there was and is
    /// not needed goes to `spare`.
    pub fn encode(
        &mut self,
        messages: Vec<HeaderMessage>,
        sizes: Sizes,
        take: &mut dyn FnMut(u64) -> Result<Address>,
        spare: &mut Vec<Extent>,
    ) -> Result<Vec<(Extent, Vec<u8>)>> {
        let Some((&first, others)) = self.chunks.split_first() else {
            return Err(bad("an object header without a place"));
        };
        let overhead = self.form.first_overhead() as u64;
        let (mut here, rest) = self.divide(messages, first.len.saturating_sub(overhead), sizes)?;
        let mut unused = others.to_vec();
        let mut chunks = vec![first];
        if !rest.is_empty() {
            let needed = self.size(&rest) + self.form.continued_overhead() as u64;
            // What was needed once may be needed again: space that is given up is lost when the file is closed.
            let fits = |chunk: &&Extent| chunk.len >= needed && chunk.len <= (4 * needed).max(KEPT);
            let place = unused.iter().filter(fits).min_by_key(|chunk| chunk.len).copied();
            let place = match place {
                Some(place) => place,
                None => {
                    let slack = if self.committed { (needed / SLACK).next_multiple_of(8) } else { 0 };
                    let len = needed + slack;
                    Extent { at: take(len)?, len }
                }
            };
            unused.retain(|&chunk| chunk != place);
            here.push(message(
                kind::CONTINUATION,
                0,
                Continuation { sizes, at: place.at, len: place.len }.encode()?,
            ));
            chunks.push(place);
        }
        spare.append(&mut unused);
        self.form.references = self.references;
        let list = [here, rest];
        let new: Vec<NewChunk<'_>> = chunks
            .iter()
            .zip(&list)
            .map(|(chunk, messages)| NewChunk {
                len: chunk.len,
                messages: messages.iter().map(new).collect(),
            })
            .collect();
        let bytes = self.form.encode(&new)?;
        self.chunks.clone_from(&chunks);
        Ok(chunks.into_iter().zip(bytes).collect())
    }

    /// Divides messages between the first chunk, which has room for so many bytes of them, and a continuation. The order
    /// of messages of a kind stays.
    fn divide(
        &self,
        messages: Vec<HeaderMessage>,
        room: u64,
        sizes: Sizes,
    ) -> Result<(Vec<HeaderMessage>, Vec<HeaderMessage>)> {
        if self.size(&messages) <= room {
            return Ok((messages, Vec::new()));
        }
        let continued = self.form.message_len(sizes.offset + sizes.length) as u64;
        let short = || bad("the first chunk of an object header is too short for a continuation message");
        let mut room = room.checked_sub(continued).ok_or_else(short)?;
        let (mut here, mut rest): (Vec<HeaderMessage>, Vec<HeaderMessage>) = (Vec::new(), Vec::new());
        for message in messages {
            let size = self.form.message_len(message.body.len()) as u64;
            if size <= room && rest.iter().all(|other| other.kind != message.kind) {
                room -= size;
                here.push(message);
            } else {
                rest.push(message);
            }
        }
        Ok((here, rest))
    }
}

fn new(message: &HeaderMessage) -> NewMessage<'_> {
    let HeaderMessage { kind, flags, order, body, .. } = message;
    NewMessage { kind: *kind, flags: *flags, order: order.unwrap_or(0), body }
}
