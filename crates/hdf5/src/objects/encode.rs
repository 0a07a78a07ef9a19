//! "Data Object Headers" (IV.A.1), from messages to bytes.
//!
//! Which message goes into which chunk, and how long chunks are, is the caller's matter: here each chunk is filled up to
//! its length. What is left of a chunk becomes NIL messages, or a gap where not even the head of one fits.

use ferrocdf_bytes::Result;

use super::kind;
use super::prefix::{ContinuedHead, HeaderForm, MessageHead, ObjectHeaderPrefix};
use crate::wire::Writer;

const WHAT: &str = "object header";

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
        let whole = |(index, messages): (usize, Vec<u8>)| {
            let mut w = Writer::new(WHAT);
            match (self.version, index) {
                (_, 0) => {
                    let size = messages.len() as u64;
                    w.record(&mut ObjectHeaderPrefix { form: *self, messages: count as u64, size });
                }
                (1, _) => {}
                _ => w.record(&mut ContinuedHead),
            }
            w.bytes(&messages);
            if self.version == 1 { w.finish() } else { w.finish_checked() }
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
        let NewMessage { kind, flags, order, body } = *message;
        let len = self.body_len(body.len());
        let order = self.is_ordered().then_some(order);
        w.record(&mut MessageHead { form: self, kind, len: len as u64, flags, order });
        w.bytes(body);
        w.zeros(len - body.len());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ferrocdf_store::MemoryBlob;

    use super::super::header::ObjectHeader;
    use super::super::prefix::Times;
    use super::*;
    use crate::messages::small::Continuation;
    use crate::{Address, Sizes, Source};

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    fn message(kind: u16, order: u16, body: &[u8]) -> NewMessage<'_> {
        NewMessage { kind, flags: 1, order, body }
    }

    /// Chunks side by side from address 0, read again.
    fn read(chunks: &[Vec<u8>]) -> ObjectHeader {
        let source = Source {
            blob: Arc::new(MemoryBlob::new(chunks.concat())),
            base: 0,
            sizes: SIZES,
            codecs: Default::default(),
        };
        ObjectHeader::read(&source, Address(0)).unwrap()
    }

    #[test]
    fn headers_of_all_forms_are_read_again() {
        let times = Some(Times { access_modification_change_birth: [1, 2, 3, 4] });
        let mut forms = vec![HeaderForm::new(1, 0)];
        for flags in [0, 1, 2, 3, 4, 0x0c] {
            forms.push(HeaderForm::new(2, flags));
            forms.push(HeaderForm { times, attribute_limits: Some((9, 7)), ..HeaderForm::new(2, flags) });
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
                let pointer = Continuation { sizes: SIZES, at: Address(more), len: next }.encode().unwrap();
                let messages = [&first[..], &[message(kind::CONTINUATION, 0, &pointer)]].concat();
                let chunks =
                    [NewChunk { len: more, messages }, NewChunk { len: next, messages: second.to_vec() }];
                let bytes = form.encode(&chunks).unwrap();
                assert_eq!(bytes.iter().map(|chunk| chunk.len() as u64).collect::<Vec<_>>(), [more, next]);
                let header = read(&bytes);
                assert_eq!(
                    (header.form.version, header.form.flags, header.len),
                    (form.version, form.stored_flags(), more + next)
                );
                assert_eq!(
                    (header.form.times, header.form.attribute_limits),
                    (form.times, form.attribute_limits)
                );
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
        for (form, len) in [
            (HeaderForm::new(1, 0), 200_000),
            (HeaderForm::new(2, 2), 200_003),
            (HeaderForm::new(2, 6), 65_560),
        ] {
            let bytes = form.encode(&[NewChunk { len, messages: vec![message(5, 0, b"12345678")] }]).unwrap();
            assert_eq!(bytes[0].len() as u64, len);
            assert_eq!(read(&bytes).messages.len(), 1);
        }
        let mut wide = HeaderForm::new(2, 0x0c);
        wide.fit(0x1_0000);
        assert_eq!((wide.flags, wide.first_overhead()), (0x0e, 14));
        assert!(HeaderForm::new(2, 0).encode(&[NewChunk { len: 400, messages: vec![] }]).is_err());
    }
}
