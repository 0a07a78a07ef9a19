//! Object headers: the prefix, continuations, and the heads of messages.

use ferrocdf_bytes::{Record, Result, ToUsize};

use super::{StructureOwner, StructureWalk};
use crate::messages::small::Continuation;
use crate::objects::kind;
use crate::objects::prefix::{ContinuedHead, HeaderForm, MessageHead, ObjectHeaderPrefix, SIGNATURE};
use crate::wire::{CHECKSUM, bad};
use crate::{Address, fields};

const WHAT: &str = "object header";
/// More than any prefix has.
const LARGEST: u64 = 64;

impl StructureWalk<'_> {
    /// Prints the object header at an address.
    pub(super) fn header(&mut self, at: Address, path: &str) -> Result<()> {
        self.owner = StructureOwner { object: at, is_chunk_index: false };
        let title = format!("{WHAT} of {path}");
        let start = match self.source.read_some(WHAT, at, LARGEST) {
            Ok(start) => start,
            Err(error) => {
                self.title(at, &title)?;
                return self.problem(&error);
            }
        };
        let version = if start.starts_with(&SIGNATURE) { 2 } else { 1 };
        let mut prefix = ObjectHeaderPrefix { form: HeaderForm::new(version, 0), messages: 0, size: 0 };
        let Ok(head) = fields::read(&mut prefix, WHAT, &start) else {
            self.title(at, &title)?;
            return self.show(WHAT, at, &start, |dumper| prefix.fields(dumper)).map(drop);
        };
        let form = prefix.form;
        let sum = if form.version == 1 { 0 } else { CHECKSUM };
        let len = prefix.size.saturating_add(head.saturating_add(sum) as u64);
        let bytes = self.block(&title, at, len, form.version > 1, |dumper| prefix.fields(dumper))?;
        match bytes {
            Some(bytes) => self.messages(form, at, head, &bytes[..bytes.len().saturating_sub(sum)], path),
            None => Ok(()),
        }
    }

    /// Prints a continuation of a header.
    fn continuation(&mut self, form: HeaderForm, at: Address, len: u64, path: &str) -> Result<()> {
        let title = format!("object header continuation of {path}");
        let is_checked = form.version > 1;
        let bytes = self.block(&title, at, len, is_checked, |dumper| match is_checked {
            true => ContinuedHead.fields(dumper),
            false => Ok(()),
        })?;
        let Some(bytes) = bytes else { return Ok(()) };
        let (head, sum) = if is_checked { (4, CHECKSUM) } else { (0, 0) };
        self.messages(form, at, head, &bytes[..bytes.len().saturating_sub(sum)], path)
    }

    /// Prints the messages of a chunk, which begin at byte `start` of it.
    fn messages(
        &mut self,
        form: HeaderForm,
        chunk: Address,
        mut start: usize,
        bytes: &[u8],
        path: &str,
    ) -> Result<()> {
        // What is left of a chunk may be too small for a message.
        while let Some(rest) = bytes.get(start..).filter(|rest| rest.len() >= form.message_head()) {
            let at = Address(chunk.0.saturating_add(start as u64));
            let mut head = MessageHead::new(&form, 0, 0);
            if !super::peek(&mut head, rest) {
                return Ok(());
            }
            let (number, flags, len) = (head.kind, head.flags, head.len.saturate());
            let name = kind::name(number);
            self.write(&format!("  {at} message {number:#04x} {name}\n"))?;
            self.show("header message", at, rest, |dumper| MessageHead::new(&form, 0, 0).fields(dumper))?;
            let from = form.message_head();
            let Some(body) = rest.get(from..from.saturating_add(len)) else {
                let left = rest.len().saturating_sub(from);
                let why = format!("header message at {at}: its body has {len} bytes, {left} are left");
                return self.problem(&bad(why));
            };
            let body_at = Address(at.0.saturating_add(from as u64));
            if number == kind::CONTINUATION
                && let Ok(Continuation { at, len, .. }) = Continuation::decode(body, self.source.sizes)
            {
                let path = path.to_string();
                self.later(at, move |walk| walk.continuation(form, at, len, &path));
            }
            self.write(&format!("    {body_at} body, {len} bytes\n"))?;
            self.message(body_at, number, flags, body, path)?;
            start = start.saturating_add(from).saturating_add(len);
        }
        Ok(())
    }
}
