//! Blocks that are packed anew: the filters of the copy are others.

use ferrocdf_bytes::{Error, Result};
use ferrocdf_store::Buffer;

use super::source::{Copier, Found};
use crate::blocks::decoded::{Key, too_short};
use crate::blocks::encode::ChunkSource;

/// Blocks that are packed anew.
pub(super) struct Recoded<'a> {
    pub(super) copier: &'a Copier<'a>,
    pub(super) blocks: &'a [Found],
}

impl ChunkSource for Recoded<'_> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.blocks[number].key.clone()
    }

    fn borrow(&self, _number: usize) -> Option<&[u8]> {
        None
    }

    /// That a block cannot be made is told to the copier: then what is an error here is one of the target.
    fn build(&self, number: usize, buffer: &mut Buffer, block: &mut [u8]) -> Result<()> {
        let (copier, found) = (self.copier, &self.blocks[number]);
        match copier.unpack(found, buffer, block) {
            Ok(()) => copier.note(found, block),
            Err(error) => {
                copier.to.fill_block(block);
                copier.fail(error);
            }
        }
        Ok(())
    }
}

impl Copier<'_> {
    /// Unpacks a block of the source.
    fn unpack(&self, found: &Found, buffer: &mut Buffer, block: &mut [u8]) -> Result<()> {
        let &Found { at, len, mask, .. } = found;
        let chain = &self.from.chain;
        let fail = |error: Error| error.at(format_args!("the block at byte {at}"));
        if chain.is_identity(mask) {
            if len < self.block_len {
                return Err(fail(too_short(len, self.block_len)));
            }
            return self.from_blob.read_exact_at(at, block);
        }
        chain.check_size(mask, len as usize, block.len()).map_err(fail)?;
        // Not more than the blob holds.
        let stored = buffer.at(at, len as usize);
        self.from_blob.read_exact_at(at, stored)?;
        chain.decode(mask, stored, block).map_err(fail)
    }
}
