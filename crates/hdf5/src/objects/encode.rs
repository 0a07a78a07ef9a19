//! "Data Object Headers" (IV.A.1), from messages to bytes, and the small messages that hold headers together.
//!
//! Which message goes into which chunk, and how long chunks are, is the caller's matter: here each chunk is filled up to
//! its length. What is left of a chunk becomes NIL messages, or a gap where not even the head of one fits.

use ferrocdf_bytes::Result;

use super::header::{Times, kind};
use crate::wire::{CHECKSUM, Writer};
use crate::{Address, Sizes};

const WHAT: &str = "object header";

/// What is the same for all chunks of a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderForm {
    /// 1 or 2.
    pub version: u8,
    /// "Flags" of version 2 as stored, but for those that follow from the fields below. The lowest two bits are the
    /// width of the length of the first chunk, see [`HeaderForm::fit`].
    pub flags: u8,
    /// "Object Reference Count" of version 1.
    pub references: u32,
    /// The times of version 2, where kept.
    pub times: Option<Times>,
    /// Maximum number of compact and minimum number of dense attributes, where they are not the usual ones (8 and 6).
    pub attribute_limits: Option<(u16, u16)>,
}

/// A message to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewMessage<'a> {
    /// Its number, see [`kind`].
    pub kind: u16,
    /// "Header Message Flags".
    pub flags: u8,
    /// "Creation Order", stored in headers that track the order of attributes; 0 for all but attributes.
    pub order: u16,
    /// What it says.
    pub body: &'a [u8],
}

/// A chunk to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewChunk<'a> {
    /// Bytes of the chunk in the file, with all that belongs to it.
    pub len: u64,
    /// Its messages.
    pub messages: Vec<NewMessage<'a>>,
}

impl HeaderForm {
    const ORDERED: u8 = 0x04;
    const LIMITS: u8 = 0x10;
    const TIMES: u8 = 0x20;

    /// The flags as stored.
    fn stored_flags(&self) -> u8 {
        let flag = |flag: u8, set: bool| if set { flag } else { 0 };
        self.flags & !(Self::LIMITS | Self::TIMES)
            | flag(Self::LIMITS, self.attribute_limits.is_some())
            | flag(Self::TIMES, self.times.is_some())
    }

    /// Makes the length of a first chunk with so many bytes of messages as narrow as it can be.
    pub fn fit(&mut self, messages: u64) {
        let bits = match messages {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            0x1_0000..=0xffff_ffff => 2,
            _ => 3,
        };
        self.flags = self.flags & !3 | bits;
    }

    /// Bytes before the body of a message.
    pub fn message_head(&self) -> usize {
        match (self.version, self.flags & Self::ORDERED) {
            (1, _) => 8,
            (_, 0) => 4,
            _ => 6,
        }
    }

    /// Bytes that a message takes with a body of this length.
    pub fn message_len(&self, body: usize) -> usize {
        self.message_head() + if self.version == 1 { body.next_multiple_of(8) } else { body }
    }

    /// Bytes of the first chunk that hold no messages.
    pub fn first_overhead(&self) -> usize {
        if self.version == 1 {
            return 16;
        }
        let times = if self.times.is_some() { 16 } else { 0 };
        let limits = if self.attribute_limits.is_some() { 4 } else { 0 };
        6 + times + limits + (1 << (self.flags & 3)) + CHECKSUM
    }

    /// Bytes of a continuation that hold no messages.
    pub fn continued_overhead(&self) -> usize {
        if self.version == 1 { 0 } else { 4 + CHECKSUM }
    }

    /// The bytes of all chunks, the first one first.
    ///
    /// # Errors
    /// `ERANGE` if the messages of a chunk are longer than it, or for what the header cannot hold.
    pub fn encode(&self, chunks: &[NewChunk<'_>]) -> Result<Vec<Vec<u8>>> {
        let mut count = 0;
        let mut filled = Vec::with_capacity(chunks.len());
        for (index, chunk) in chunks.iter().enumerate() {
            let overhead = if index == 0 { self.first_overhead() } else { self.continued_overhead() };
            filled.push(self.fill(chunk, overhead, &mut count)?);
        }
        let whole = |(index, messages): (usize, Vec<u8>)| match (self.version, index) {
            (1, 0) => self.first_1(count, &messages),
            (1, _) => Ok(messages),
            (_, 0) => self.first_2(&messages),
            _ => {
                let mut w = Writer::new(WHAT);
                w.bytes(b"OCHK");
                w.bytes(&messages);
                w.finish_checked()
            }
        };
        filled.into_iter().enumerate().map(whole).collect()
    }

    /// The messages of a chunk, with what fills it up.
    fn fill(&self, chunk: &NewChunk<'_>, overhead: usize, count: &mut usize) -> Result<Vec<u8>> {
        let mut w = Writer::new("messages of an object header");
        for message in &chunk.messages {
            self.message(&mut w, message);
        }
        *count += chunk.messages.len();
        let room = usize::try_from(chunk.len).ok().and_then(|len| len.checked_sub(overhead));
        let Some(mut left) = room.and_then(|room| room.checked_sub(w.position())) else {
            w.fail(format_args!("a chunk of {} bytes is too short", chunk.len));
            return w.finish();
        };
        if self.version == 1 && !left.is_multiple_of(8) {
            w.fail(format_args!("a chunk of {} bytes", chunk.len));
            return w.finish();
        }
        let head = self.message_head();
        // The longest that leaves multiples of 8.
        const LONGEST: usize = 0xfff8;
        while left >= head {
            // What is left behind it has room for another.
            let body = if left > head + LONGEST { LONGEST - 8 } else { left - head };
            let zeros = [0; LONGEST];
            self.message(&mut w, &NewMessage { kind: kind::NIL, flags: 0, order: 0, body: &zeros[..body] });
            *count += 1;
            left -= head + body;
        }
        w.zeros(left);
        w.finish()
    }

    fn message(&self, w: &mut Writer, message: &NewMessage<'_>) {
        let first = self.version == 1;
        w.uint(if first { 2 } else { 1 }, message.kind.into());
        w.count(2, self.message_len(message.body.len()) - self.message_head());
        w.u8(message.flags);
        if first {
            w.zeros(3);
        } else if self.flags & Self::ORDERED != 0 {
            w.u16(message.order);
        }
        w.bytes(message.body);
        w.zeros(self.message_len(message.body.len()) - self.message_head() - message.body.len());
    }

    fn first_1(&self, count: usize, messages: &[u8]) -> Result<Vec<u8>> {
        let mut w = Writer::new(WHAT);
        w.bytes(&[1, 0]);
        w.count(2, count);
        w.u32(self.references);
        w.count(4, messages.len());
        w.zeros(4);
        w.bytes(messages);
        w.finish()
    }

    fn first_2(&self, messages: &[u8]) -> Result<Vec<u8>> {
        let mut w = Writer::signed(WHAT, b"OHDR", 2);
        w.u8(self.stored_flags());
        for time in self.times.iter().flat_map(|times| times.access_modification_change_birth) {
            w.u32(time);
        }
        if let Some((compact, dense)) = self.attribute_limits {
            w.u16(compact);
            w.u16(dense);
        }
        w.count(1 << (self.flags & 3), messages.len());
        w.bytes(messages);
        w.finish_checked()
    }
}

/// The body of a continuation message ("Object Header Continuation", IV.A.2.q): where the next chunk is, and its bytes.
pub(crate) fn continuation(at: Address, len: u64, sizes: Sizes) -> Result<Vec<u8>> {
    let mut w = Writer::new("continuation message");
    w.address(sizes, Some(at));
    w.length(sizes, len);
    w.finish()
}

/// The body of a message of how many hard links lead to an object ("Object Reference Count", IV.A.2.w). Headers of version
/// 2 have it if the number is not 1.
pub(crate) fn reference_count(count: u32) -> Vec<u8> {
    let mut body = vec![0];
    body.extend(count.to_le_bytes());
    body
}

/// The body of a group info message (IV.A.2.k) with the usual limits of compact and dense links (8 and 6).
pub(crate) const GROUP_INFO: [u8; 2] = [0, 0];

/// The body of a shared message (IV.A.2) that stands for the datatype committed at an address.
pub(crate) fn committed(at: Address, sizes: Sizes) -> Result<Vec<u8>> {
    let mut w = Writer::new("shared message");
    w.bytes(&[2, 2]);
    w.address(sizes, Some(at));
    w.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ferrocdf_store::MemoryBlob;

    use super::super::header::Header;
    use super::*;
    use crate::Source;

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    fn form(version: u8, flags: u8) -> HeaderForm {
        HeaderForm { version, flags, references: 1, times: None, attribute_limits: None }
    }

    fn message(kind: u16, order: u16, body: &[u8]) -> NewMessage<'_> {
        NewMessage { kind, flags: 1, order, body }
    }

    /// Chunks side by side from address 0, read again.
    fn read(chunks: &[Vec<u8>]) -> Header {
        let source = Source {
            blob: Arc::new(MemoryBlob::new(chunks.concat())),
            base: 0,
            sizes: SIZES,
            codecs: Default::default(),
        };
        Header::read(&source, Address(0)).unwrap()
    }

    #[test]
    fn headers_of_all_forms_are_read_again() {
        let times = Some(Times { access_modification_change_birth: [1, 2, 3, 4] });
        let mut forms = vec![form(1, 0)];
        for flags in [0, 1, 2, 3, 4, 0x0c] {
            forms.push(form(2, flags));
            forms.push(HeaderForm { times, attribute_limits: Some((9, 7)), ..form(2, flags) });
        }
        for form in forms {
            for spare in (0..64).step_by(if form.version == 1 { 8 } else { 1 }) {
                let first = [message(5, 0, b"12345678"), message(7, 3, b"x")];
                let second = [message(12, 4, b"1234567890123456")];
                let sum = |list: &[NewMessage<'_>]| -> usize {
                    list.iter().map(|message| form.message_len(message.body.len())).sum()
                };
                let more = form.message_len(16) + sum(&first) + form.first_overhead() + spare;
                let (more, next) = (more as u64, (form.continued_overhead() + sum(&second) + spare) as u64);
                let pointer = continuation(Address(more), next, SIZES).unwrap();
                let messages = [&first[..], &[message(kind::CONTINUATION, 0, &pointer)]].concat();
                let chunks =
                    [NewChunk { len: more, messages }, NewChunk { len: next, messages: second.to_vec() }];
                let bytes = form.encode(&chunks).unwrap();
                assert_eq!(bytes.iter().map(|chunk| chunk.len() as u64).collect::<Vec<_>>(), [more, next]);
                let header = read(&bytes);
                assert_eq!(
                    (header.version, header.flags, header.len),
                    (form.version, form.stored_flags(), more + next)
                );
                assert_eq!((header.times, header.attribute_limits), (form.times, form.attribute_limits));
                let ordered = form.flags & 4 != 0;
                let wanted: Vec<_> = [&first[..], &second]
                    .concat()
                    .iter()
                    .map(|message| {
                        let mut body = message.body.to_vec();
                        body.resize(form.message_len(body.len()) - form.message_head(), 0);
                        (message.kind, message.flags, ordered.then_some(message.order), body)
                    })
                    .collect();
                let found: Vec<_> = header
                    .messages
                    .into_iter()
                    .map(|message| (message.kind, message.flags, message.order, message.body))
                    .collect();
                assert_eq!(found, wanted);
                if form.version == 1 {
                    // All messages, continuations and NILs too.
                    let nils = if spare >= 8 { 2 } else { 0 };
                    assert_eq!(u16::from_le_bytes([bytes[0][2], bytes[0][3]]), 4 + nils);
                }
                let short = [NewChunk { len: more - 1 - spare as u64, ..chunks[0].clone() }];
                assert!(form.encode(&short).is_err());
            }
        }
    }

    #[test]
    fn much_room_takes_several_nils() {
        for (form, len) in [(form(1, 0), 200_000), (form(2, 2), 200_003), (form(2, 6), 65_560)] {
            let bytes = form.encode(&[NewChunk { len, messages: vec![message(5, 0, b"12345678")] }]).unwrap();
            assert_eq!(bytes[0].len() as u64, len);
            assert_eq!(read(&bytes).messages.len(), 1);
        }
        let mut wide = form(2, 0x0c);
        wide.fit(0x1_0000);
        assert_eq!((wide.flags, wide.first_overhead()), (0x0e, 14));
        assert!(form(2, 0).encode(&[NewChunk { len: 400, messages: vec![] }]).is_err());
    }

    #[test]
    fn small_messages() {
        assert_eq!(reference_count(258), [0, 2, 1, 0, 0]);
        assert_eq!(committed(Address(9), SIZES).unwrap(), [2, 2, 9, 0, 0, 0, 0, 0, 0, 0]);
    }
}
