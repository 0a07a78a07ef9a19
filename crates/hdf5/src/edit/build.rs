//! Builds structures of blocks, in new space or in place of their committed form.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Mutex;

use ferrocdf_bytes::{Code, Error, Result};

use super::space::{Extent, FileSpace, lock};
use crate::block::{Alloc, Block};
use crate::{Sizes, Source};

/// The most changed bytes for which a structure is built in place. The changes go to a metadata cache image, and a reader whose
/// cache is smaller than the image would lose a part of it.
const IN_PLACE: usize = 256 << 10;

/// The blocks that a commit has to write.
#[derive(Default)]
pub(super) struct Output {
    /// Blocks in space that no committed state uses.
    pub fresh: Vec<Block>,
    /// Blocks that change in place.
    pub changed: Vec<Block>,
}

/// Builds structures of blocks for a commit.
pub(super) struct CommitBuilder<'a> {
    pub source: &'a Source,
    pub sizes: Sizes,
    pub space: &'a Mutex<FileSpace>,
    pub out: &'a mut Output,
}

impl CommitBuilder<'_> {
    /// Frees the extents of a structure.
    pub fn give_up(&mut self, old: &mut Vec<Extent>) {
        let mut space = lock(self.space);
        old.drain(..).for_each(|extent| space.give_up(extent.at, extent.len));
    }

    /// Rebuilds the structure that has the extents `old`, and sets `old` to the new extents. Old extents of a suitable length are
    /// reused if at most [`IN_PLACE`] bytes change; else all blocks go to new space.
    pub fn build<T>(
        &mut self,
        old: &mut Vec<Extent>,
        make: impl Fn(&mut Alloc<'_>, &mut Vec<Block>) -> Result<T>,
    ) -> Result<T> {
        let space = self.space;
        let mut taken = Vec::new();
        let mut blocks = Vec::new();
        if !old.is_empty() {
            let mut spare: HashMap<u64, VecDeque<Extent>> = HashMap::new();
            old.iter().for_each(|&extent| spare.entry(extent.len).or_default().push_back(extent));
            let mut again = BTreeMap::new();
            let mut alloc = |len: u64| {
                let extent = match spare.get_mut(&len).and_then(VecDeque::pop_front) {
                    Some(extent) => {
                        again.insert(extent.at, len);
                        extent
                    }
                    None => Extent { at: lock(space).take_meta(len)?, len },
                };
                taken.push(extent);
                Ok(extent.at)
            };
            let made = make(&mut alloc, &mut blocks)?;
            let is_old = |block: &Block| {
                let before = again.range(..=block.at).next_back();
                before.is_some_and(|(at, len)| block.at.0 - at.0 < *len)
            };
            let (over, fresh): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(is_old);
            let mut changed = Vec::new();
            for block in over {
                if !self.is_there(&block) {
                    changed.push(block);
                }
            }
            let bytes: usize = changed.iter().map(|block| block.bytes.len()).sum();
            if bytes <= IN_PLACE && changed.iter().all(|block| block.kind.cache_type().is_some()) {
                self.out.fresh.extend(fresh);
                self.out.changed.extend(changed);
                let mut rest = spare.into_values().flatten().collect();
                self.give_up(&mut rest);
                *old = taken;
                return Ok(made);
            }
            let mut space = lock(space);
            let unused = taken.drain(..).filter(|extent| !again.contains_key(&extent.at));
            unused.for_each(|extent| space.give_back(extent.at, extent.len));
            drop(space);
            self.give_up(old);
            blocks = Vec::new();
        }
        let mut alloc = |len: u64| {
            let at = lock(space).take_meta(len)?;
            taken.push(Extent { at, len });
            Ok(at)
        };
        let made = make(&mut alloc, &mut blocks)?;
        *old = taken;
        self.out.fresh.append(&mut blocks);
        Ok(made)
    }

    /// True if the file has the bytes of the block already.
    fn is_there(&self, block: &Block) -> bool {
        let there = self.source.read("a block", block.at, block.bytes.len() as u64);
        there.is_ok_and(|there| there == block.bytes)
    }

    /// Adds a block to the output; a committed block only if its bytes have changed.
    pub fn put(&mut self, block: Block, committed: bool) -> Result<()> {
        if !committed {
            self.out.fresh.push(block);
            return Ok(());
        }
        if self.is_there(&block) {
            return Ok(());
        }
        if block.kind.cache_type().is_none() {
            return Err(Error::new(Code::EINTERNAL, "a block of this kind cannot be changed in place"));
        }
        self.out.changed.push(block);
        Ok(())
    }
}
