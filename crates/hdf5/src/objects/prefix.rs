//! "Data Object Header Prefix" (IV.A.1.a and b) and "Header Message": what object headers are beside the bodies of their messages.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::Fields;
use crate::wire::CHECKSUM;

/// Signature of the first chunk of a version 2 header.
pub(crate) const SIGNATURE: [u8; 4] = *b"OHDR";

/// "Times" in a header, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Of access, modification, change and birth.
    pub access_modification_change_birth: [u32; 4],
}

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

impl HeaderForm {
    const ORDERED: u8 = 0x04;
    const LIMITS: u8 = 0x10;
    const TIMES: u8 = 0x20;

    /// The form of a header of this version with nothing that is optional.
    pub fn new(version: u8, flags: u8) -> HeaderForm {
        HeaderForm { version, flags, references: 1, times: None, attribute_limits: None }
    }

    /// True if the order in which attributes were made is kept.
    pub fn is_ordered(&self) -> bool {
        self.version > 1 && self.flags & Self::ORDERED != 0
    }

    /// The flags as stored.
    pub fn stored_flags(&self) -> u8 {
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
        match (self.version, self.is_ordered()) {
            (1, _) => 8,
            (_, false) => 4,
            (_, true) => 6,
        }
    }

    /// Bytes that the body of a message takes: in version 1, a multiple of 8.
    pub fn body_len(&self, body: usize) -> usize {
        if self.version == 1 { body.checked_next_multiple_of(8).unwrap_or(usize::MAX) } else { body }
    }

    /// Bytes that a message takes with a body of this length.
    pub fn message_len(&self, body: usize) -> usize {
        self.message_head().saturating_add(self.body_len(body))
    }

    /// Bytes of the first chunk that hold no messages.
    pub fn first_overhead(&self) -> usize {
        if self.version == 1 {
            return 16;
        }
        let times = if self.times.is_some() { 16 } else { 0 };
        let limits = if self.attribute_limits.is_some() { 4 } else { 0 };
        [6, times, limits, self.size_width(), CHECKSUM].into_iter().fold(0, usize::saturating_add)
    }

    /// Bytes of a continuation that hold no messages.
    pub fn continued_overhead(&self) -> usize {
        if self.version == 1 { 0 } else { 4 + CHECKSUM }
    }

    /// Bytes of "Size of Chunk #0".
    fn size_width(&self) -> usize {
        1_usize.unbounded_shl((self.flags & 3).into())
    }
}

/// "Data Object Header Prefix" of the version that the form says.
pub(crate) struct ObjectHeaderPrefix {
    pub form: HeaderForm,
    /// "Total Number of Header Messages" of version 1. It says no more than the chunks do.
    pub messages: u64,
    /// Bytes of the messages of the first chunk.
    pub size: u64,
}

impl Record for ObjectHeaderPrefix {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let ObjectHeaderPrefix { form, messages, size } = self;
        if form.version == 1 {
            c.version(1..=1, &mut form.version)?;
            c.reserved(1)?;
            c.uint("total number of header messages", 2, messages)?;
            c.int("object reference count", &mut form.references)?;
            c.uint("object header size", 4, size)?;
            return c.pad(8);
        }
        c.signature(&SIGNATURE)?;
        c.version(2..=2, &mut form.version)?;
        let mut flags = form.stored_flags();
        c.int("flags", &mut flags)?;
        form.flags = flags;
        if flags & HeaderForm::TIMES != 0 {
            let [access, modification, change, birth] =
                &mut form.times.get_or_insert_default().access_modification_change_birth;
            c.int("access time", access)?;
            c.int("modification time", modification)?;
            c.int("change time", change)?;
            c.int("birth time", birth)?;
        }
        if flags & HeaderForm::LIMITS != 0 {
            let (compact, dense) = form.attribute_limits.get_or_insert_default();
            c.int("maximum number of compact attributes", compact)?;
            c.int("minimum number of dense attributes", dense)?;
        }
        c.uint("size of chunk 0", form.size_width(), size)
    }
}

/// What chunks of a version 2 header but the first begin with.
pub(crate) struct ContinuedHead;

impl Record for ContinuedHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"OCHK")
    }
}

/// "Header Message" of a header of a form, before its body.
pub(crate) struct MessageHead<'a> {
    pub form: &'a HeaderForm,
    /// "Header Message Type".
    pub kind: u16,
    /// Bytes of the body, padding included.
    pub len: u64,
    /// "Header Message Flags".
    pub flags: u8,
    /// "Header Message Creation Order", in headers that track the order of attributes.
    pub order: Option<u16>,
}

impl<'a> MessageHead<'a> {
    /// The head of a message without a body.
    pub fn new(form: &'a HeaderForm, kind: u16, flags: u8) -> Self {
        MessageHead { form, kind, len: 0, flags, order: None }
    }
}

impl Record for MessageHead<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let first = self.form.version == 1;
        let mut kind = u64::from(self.kind);
        c.uint("header message type", if first { 2 } else { 1 }, &mut kind)?;
        // Two bytes at most.
        self.kind = kind as u16;
        c.uint("size of header message data", 2, &mut self.len)?;
        c.int("header message flags", &mut self.flags)?;
        if first {
            c.reserved(3)?;
        } else if self.form.is_ordered() {
            c.int("header message creation order", self.order.get_or_insert_default())?;
        }
        Ok(())
    }
}
