//! The order of writing that makes a commit one instant.
//!
//! What changes where it stands in the committed state is first written as a metadata cache image ("Metadata Cache
//! Image", III.J), behind the end of the file. Then the superblock, 48 bytes in one sector, names a superblock extension
//! that names the image: from now on every reader sees the new state, since it takes from the image what it has. Only
//! then is anything changed in its place, and at last the superblock written without the image.

use ferrocdf_bytes::{Error, Result};

use super::commit::Output;
use super::object::message;
use super::{Barrier, Editor, lock, note};
use crate::block::Block;
use crate::objects::encode::{HeaderForm, NewChunk, NewMessage};
use crate::objects::header::{Message, kind};
use crate::{Address, Superblock, cache_image};

/// The flag of a message that a reader must know.
const FAIL_IF_UNKNOWN: u8 = 0x80;

/// The header of a superblock extension.
pub(super) fn extension(messages: &[Message]) -> Result<Vec<u8>> {
    let mut form = HeaderForm { version: 2, flags: 0, references: 1, times: None, attribute_limits: None };
    let size: usize = messages.iter().map(|message| form.message_len(message.body.len())).sum();
    form.fit(size as u64);
    let len = (form.first_overhead() + size) as u64;
    let messages = messages
        .iter()
        .map(|message| NewMessage { kind: message.kind, flags: message.flags, order: 0, body: &message.body })
        .collect();
    Ok(form.encode(&[NewChunk { len, messages }])?.concat())
}

impl Editor {
    /// Waits until what was written is written.
    pub(super) fn wait(&self) -> Result<()> {
        match self.barrier {
            Barrier::Sync => self.blob.sync(),
            Barrier::Order => self.blob.flush(),
        }
    }

    /// Writes what a commit has to, in the order that keeps the committed state.
    pub(super) fn write(&mut self, mut out: Output) -> Result<()> {
        self.write_blocks(&mut out.fresh)?;
        if !out.changed.is_empty() {
            self.write_changed(&mut out.changed)?;
        }
        {
            let mut space = lock(&self.space);
            // Nothing is written into what is given up before the superblock is; the end may be cut now.
            space.committed();
            space.cut();
            space.round_end(self.page)?;
            while note::seems_there(&self.source, space.end()) {
                space.push_end(self.page.max(8))?;
            }
        }
        let end = lock(&self.space).end();
        self.superblock.end = self.source.base + end;
        if self.blob.size()? < self.superblock.end {
            self.blob.set_size(self.superblock.end)?;
        }
        self.wait()?;
        let superblock = self.superblock.clone();
        self.write_superblock(&superblock)?;
        self.wait()?;
        if self.blob.size()? > self.superblock.end {
            self.blob.set_size(self.superblock.end)?;
        }
        Ok(())
    }

    /// Changes blocks of the committed state, which is the new one as soon as the superblock names the image.
    fn write_changed(&mut self, blocks: &mut Vec<Block>) -> Result<()> {
        let sizes = self.source.sizes;
        let image = cache_image::encode(blocks, sizes)?;
        let mut messages = self.extension.clone();
        let pointer = |at: Address| {
            let body = cache_image::message(at, image.len() as u64, sizes)?;
            Ok::<Message, Error>(message(kind::CACHE_IMAGE, FAIL_IF_UNKNOWN, body))
        };
        messages.push(pointer(Address(0))?);
        let len = extension(&messages)?.len() as u64;
        // The image ends where the file does: readers cut it off there.
        let (at, image_len) = (lock(&self.space).take_end(len + image.len() as u64)?, image.len() as u64);
        let image_at = Address(at.0 + len);
        messages.pop();
        messages.push(pointer(image_at)?);
        self.blob.write_at(self.source.position(at)?, &extension(&messages)?)?;
        self.blob.write_at(self.source.position(image_at)?, &image)?;
        self.wait()?;
        let end = self.source.base + lock(&self.space).end();
        self.write_superblock(&Superblock { extension: Some(at), end, ..self.superblock.clone() })?;
        self.wait()?;
        self.write_blocks(blocks)?;
        lock(&self.space).give_back(at, len + image_len);
        Ok(())
    }

    pub(super) fn write_superblock(&self, superblock: &Superblock) -> Result<()> {
        self.blob.write_at(self.source.base, &superblock.encode()?)
    }
}
