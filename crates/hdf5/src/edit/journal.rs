//! The order of writing that makes a commit one instant, and that lets a failed commit be finished later.
//!
//! What changes where it stands in the committed state is first written as a metadata cache image ("Metadata Cache
//! Image", III.J), behind the end of the file. Then the superblock, 48 bytes in one sector, names a superblock extension
//! that names the image: from now on every reader sees the new state, since it takes from the image what it has. Only
//! then is anything changed in its place, and at last the superblock written without the image.
//!
//! Every request may fail. Up to the first superblock a failed commit leaves nothing behind: the next one starts from the
//! beginning. From then on nobody knows which superblock is in the file, so everything that either of them names stays
//! where it is, and the steps of [`Install`] are repeated, from the one that failed, before anything else is done.

use std::collections::BTreeMap;

use ferrocdf_bytes::{Error, Result};

use super::build::Output;
use super::header::message;
use super::space::{Extent, lock};
use super::{Barrier, Editor, note};
use crate::block::Block;
use crate::objects::encode::{NewChunk, NewMessage};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::objects::prefix::HeaderForm;
use crate::{Address, File, Superblock, cache_image};

/// The flag of a message that a reader must know.
const FAIL_IF_UNKNOWN: u8 = 0x80;

/// A commit from the moment its first superblock may be in the file until the file needs nothing of the state before.
pub(super) struct Install {
    /// The superblock extension and the image behind it, if blocks of the committed state change.
    image: Option<Extent>,
    /// The blocks that the image changes.
    changed: Vec<Block>,
    /// The step to be done next.
    step: Step,
}

/// A step of an [`Install`]. Each can be repeated.
#[derive(Clone, Copy)]
enum Step {
    /// The superblock names the image.
    NameImage,
    /// The changed blocks are written to their places.
    Overwrite,
    /// The superblock of the new state is written, without the image.
    NameState,
    /// The file is cut behind the new state.
    Cut,
    /// The new state is opened for reading.
    Open,
}

/// The header of a superblock extension.
pub(super) fn extension(messages: &[HeaderMessage]) -> Result<Vec<u8>> {
    let mut form = HeaderForm::new(2, 0);
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

    /// Writes what a commit puts into space that no committed state uses: new blocks, and the image of changed ones.
    ///
    /// # Errors
    /// Those of the blob. Nothing in the file refers to what was written then.
    pub(super) fn prepare(&mut self, out: Output) -> Result<Install> {
        let Output { fresh, changed } = out;
        self.write_blocks(&fresh)?;
        if changed.is_empty() {
            return Ok(Install { image: None, changed, step: Step::NameState });
        }
        let image = Some(self.write_image(&changed)?);
        Ok(Install { image, changed, step: Step::NameImage })
    }

    /// Writes the image of changed blocks and the superblock extension that names it; their place.
    fn write_image(&mut self, blocks: &[Block]) -> Result<Extent> {
        let sizes = self.source.sizes;
        let image = cache_image::encode(blocks, sizes)?;
        let mut messages = self.extension.clone();
        let pointer = |at: Address| {
            let body = cache_image::message(at, image.len() as u64, sizes)?;
            Ok::<HeaderMessage, Error>(message(kind::CACHE_IMAGE, FAIL_IF_UNKNOWN, body))
        };
        messages.push(pointer(Address(0))?);
        let len = extension(&messages)?.len() as u64;
        // The image ends where the file does: readers cut it off there.
        let both = len + image.len() as u64;
        let at = lock(&self.space).take_end(both)?;
        let image_at = Address(at.0 + len);
        messages.pop();
        messages.push(pointer(image_at)?);
        let written = extension(&messages)
            .and_then(|bytes| self.blob.write_at(self.source.position(at)?, &bytes))
            .and_then(|()| self.blob.write_at(self.source.position(image_at)?, &image));
        if written.is_err() {
            lock(&self.space).give_back(at, both);
        }
        written.map(|()| Extent { at, len: both })
    }

    /// True if a commit failed when its superblock may have been in the file: [`resume`](Editor::resume) finishes it.
    pub fn is_resumable(&self) -> bool {
        self.install.is_some()
    }

    /// Begins with the steps of a commit that is prepared.
    ///
    /// # Errors
    /// `EVARSIZE` for a block beyond the last byte of a blob.
    pub(super) fn install(&mut self, install: Install) -> Result<()> {
        let position = |block: &Block| Ok((self.source.position(block.at)?, block.bytes.clone()));
        self.patched.lay(install.changed.iter().map(position).collect::<Result<_>>()?);
        self.install = Some(install);
        self.resume()
    }

    /// Does the steps of a commit that are still to be done; nothing if there are none.
    ///
    /// # Errors
    /// Those of the blob: the file is in the state before or in the new one, and the steps stay to be done.
    pub fn resume(&mut self) -> Result<()> {
        while let Some(install) = self.install.take() {
            let done = self.step(&install);
            let next = match (&done, install.step) {
                (Err(_), step) => step,
                (Ok(()), Step::NameImage) => Step::Overwrite,
                (Ok(()), Step::Overwrite) => Step::NameState,
                (Ok(()), Step::NameState) => Step::Cut,
                (Ok(()), Step::Cut) => Step::Open,
                (Ok(()), Step::Open) => break,
            };
            self.install = Some(Install { step: next, ..install });
            done?;
        }
        Ok(())
    }

    fn step(&mut self, install: &Install) -> Result<()> {
        match install.step {
            Step::NameImage => {
                // What the superblock names comes first.
                self.wait()?;
                let Some(Extent { at, len }) = install.image else { return Ok(()) };
                let end = self.source.position(Address(at.0 + len))?;
                self.write_superblock(&Superblock { extension: Some(at), end, ..self.superblock.clone() })?;
                self.wait()
            }
            Step::Overwrite => {
                self.write_blocks(&install.changed)?;
                self.patched.lay(BTreeMap::new());
                Ok(())
            }
            Step::NameState => self.name_state(install.image),
            Step::Cut => {
                let end = lock(&self.space).end();
                let size = self.source.position(Address(end))?;
                if self.blob.size()? > size {
                    self.blob.set_size(size)?;
                }
                lock(&self.space).was_cut(end);
                Ok(())
            }
            Step::Open => {
                self.file = File::open_with(self.patched.clone(), self.options.clone())?;
                self.heap.trim();
                Ok(())
            }
        }
    }

    /// Writes the superblock of the new state. Once it is in the file, the space of the image and all that the state before
    /// used alone is free.
    fn name_state(&mut self, image: Option<Extent>) -> Result<()> {
        let mut end = lock(&self.space).end_after(image).div_ceil(self.page).saturating_mul(self.page);
        while note::ends_with_signature(&self.source, end) {
            end += self.page.max(8);
        }
        lock(&self.space).reach(end)?;
        self.superblock.end = self.source.position(Address(end))?;
        if self.blob.size()? < self.superblock.end {
            self.blob.set_size(self.superblock.end)?;
        }
        self.wait()?;
        self.write_superblock(&self.superblock)?;
        self.wait()?;
        let mut space = lock(&self.space);
        space.confirm(image);
        space.reach(end)
    }

    pub(super) fn write_superblock(&self, superblock: &Superblock) -> Result<()> {
        self.blob.write_at(self.source.base, &superblock.encode()?)
    }
}
