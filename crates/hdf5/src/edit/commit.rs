//! From one committed state to the next.
//!
//! First headers of new objects get addresses, so that links and references can name them. Then chunk indexes, dense links and
//! dense attributes are built, whose addresses are in headers. Headers are encoded last. Blocks in space that no committed
//! state uses are written at once; blocks that change in place go to the journal.

use std::collections::HashSet;

use ferrocdf_bytes::{Code, Error, Result};

use super::build::{CommitBuilder, Output};
use super::dataset::{Data, chunk_bytes};
use super::header::{NOT_SHARED, message};
use super::index::{blocks as index_blocks, index};
use super::object::EditedObject;
use super::space::{Extent, lock};
use super::{Editor, Node};
use crate::Address;
use crate::block::{Block, BlockKind};
use crate::messages::small::ReferenceCount;
use crate::messages::{ChunkIndex, DataLayout};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;

/// Blocks side by side are written together up to this size.
const TOGETHER: usize = 1 << 20;

impl Editor {
    /// Returns the messages of an object's header. Addresses that are not known yet are undefined, which does not change the
    /// lengths of messages.
    pub(super) fn messages(&mut self, node: Node) -> Result<Vec<HeaderMessage>> {
        let sizes = self.source.sizes;
        let at = |node: Node| {
            let object = self.objects.get(node.0 as usize);
            Ok(object.and_then(EditedObject::address).unwrap_or(Address(0)))
        };
        let object = self.objects.get(node.0 as usize).filter(|object| !object.gone);
        let object = object.ok_or_else(|| {
            Error::new(Code::EINVAL, "the object was deleted, or belongs to another editor")
        })?;
        let header = &object.header;
        let mut messages: Vec<HeaderMessage> = header
            .messages
            .iter()
            .filter(|message| object.attributes.is_none() || message.kind != kind::ATTRIBUTE_INFO)
            .cloned()
            .collect();
        if header.form.version > 1 && header.references != 1 {
            messages.push(message(
                kind::REFERENCE_COUNT,
                NOT_SHARED,
                ReferenceCount(header.references).encode()?,
            ));
        }
        if let Some(links) = object.links.as_ref().filter(|links| !links.is_dense()) {
            let encoded = links.encode(sizes, &at)?;
            messages.extend(encoded.into_iter().map(|(_, _, body)| message(kind::LINK, 0, body)));
        }
        if let Some(attributes) = &object.attributes {
            messages.extend(attributes.messages(header, sizes)?);
        }
        Ok(messages)
    }

    /// Makes all that was changed the committed state of the file.
    ///
    /// # Errors
    /// Those of the blob. After one the file is in its last committed state or, if the error came late, in the new
    /// one. What was changed stays to be committed: call this again once the cause is gone.
    pub fn commit(&mut self) -> Result<()> {
        self.resume()?;
        for node in self.unfilled.clone() {
            self.with_data(node, Data::finish)?;
            self.unfilled.remove(&node);
        }
        for &node in &self.stores {
            let data = self.objects.get(node.0 as usize).and_then(|object| object.data.as_ref());
            if data.and_then(|data| data.store.as_ref()).is_some_and(|store| store.is_changed()) {
                self.dirty.insert(node);
            }
        }
        let sizes = self.source.sizes;
        self.heap.give_up_empty(&mut lock(&self.space));
        let heap = self.heap.changes(sizes)?;
        if self.dirty.is_empty() && heap.is_empty() && !self.unwritten {
            return self.wait();
        }
        self.wrote = true;
        self.destroy_note()?;
        let mut out = Output::default();
        let dirty: Vec<Node> = self.dirty.iter().copied().collect();
        for &node in &dirty {
            self.address(node)?;
        }
        for &node in &dirty {
            self.build(node, &mut out)?;
        }
        for &node in &dirty {
            self.put_header(node, &mut out)?;
        }
        for (extent, bytes, committed) in heap {
            let block = Block { at: extent.at, kind: BlockKind::GlobalHeap, bytes };
            self.builder(&mut out).put(block, committed)?;
        }
        if self.extension_changed {
            let bytes = super::journal::extension(&self.extension)?;
            let len = bytes.len() as u64;
            let at = lock(&self.space).take_meta(len)?;
            let mut old = std::mem::replace(&mut self.extension_at, vec![Extent { at, len }]);
            let mut build = self.builder(&mut out);
            build.give_up(&mut old);
            build.put(Block { at, kind: BlockKind::Header, bytes }, false)?;
            self.superblock.extension = Some(at);
        }
        if let Some(root) = self.objects.first().and_then(EditedObject::address) {
            self.superblock.root = root;
        }
        let install = self.prepare(out)?;
        self.seal();
        self.install(install)
    }

    /// Commits, and writes a free-space note at the end of the file if at least `least` bytes are free, so that the next editor
    /// can use them. Without the note free space is lost when the editor is dropped.
    ///
    /// # Errors
    /// As [`commit`](Editor::commit).
    pub fn close(&mut self, least: u64) -> Result<()> {
        self.commit()?;
        // If nothing was written, an old note is still true. A file with paged space ends at a multiple of its page size.
        if !self.wrote || self.page > 1 {
            return Ok(());
        }
        let has_left = lock(&self.space).closed();
        if has_left {
            // This commit ends the file behind the last byte that is used.
            let root = self.root();
            self.dirty.insert(root);
            self.commit()?;
        }
        self.leave_note(least)
    }

    /// Takes what was prepared for the committed state: from here on the file may be in it, so nothing of it is
    /// overwritten, and the state before is not gone back to.
    fn seal(&mut self) {
        for node in std::mem::take(&mut self.dirty) {
            let Some(object) = self.objects.get_mut(node.0 as usize) else { continue };
            object.header.committed = true;
            if let Some(links) = &mut object.links {
                links.changed = false;
            }
            if let Some(attributes) = &mut object.attributes {
                attributes.changed = false;
            }
            if let Some(data) = &mut object.data {
                data.seal();
            }
        }
        self.heap.seal();
        (self.unwritten, self.extension_changed) = (false, false);
        let mut space = lock(&self.space);
        if let Some(Extent { at, len }) = self.note.take() {
            space.give_up(at, len);
        }
        space.seal();
    }

    fn builder<'a>(&'a self, out: &'a mut Output) -> CommitBuilder<'a> {
        CommitBuilder { source: &self.source, sizes: self.source.sizes, space: &self.space, out }
    }

    /// Builds what an object has outside of its header, and notes in its messages where that is.
    fn build(&mut self, node: Node, out: &mut Output) -> Result<()> {
        let sizes = self.source.sizes;
        let addresses = |node: Node, objects: &[EditedObject]| {
            let at = objects.get(node.0 as usize).and_then(EditedObject::address);
            at.ok_or_else(|| Error::new(Code::EINTERNAL, "an object without a place"))
        };
        let stub = EditedObject::new(false, Vec::new());
        let mut object = std::mem::replace(self.object(node)?, stub);
        let own = object.address();
        let objects = &self.objects;
        let at = |other: Node| match own {
            Some(own) if other == node => Ok(own),
            _ => addresses(other, objects),
        };
        let mut build = self.builder(out);
        let EditedObject { header, links, attributes, data, .. } = &mut object;
        let mut done = Ok(());
        if let Some(links) = links.as_mut().filter(|links| links.changed) {
            done = links.settle(header, &mut build, &at);
        }
        if let Some(attributes) = attributes.as_mut().filter(|attributes| attributes.changed) {
            let dense = attributes.is_dense(header);
            done = done.and_then(|()| attributes.settle(dense, header.is_ordered(), &mut build));
        }
        if let Some(data) = data {
            let k = self.tree_sizes.chunks;
            done = done
                .and_then(|()| index(data, k, &mut build))
                .and_then(|()| data.update_header(header, sizes));
        }
        if let Some(place) = self.objects.get_mut(node.0 as usize) {
            *place = object;
        }
        done
    }

    /// Puts a header together.
    fn put_header(&mut self, node: Node, out: &mut Output) -> Result<()> {
        let messages = self.messages(node)?;
        let (sizes, space) = (self.source.sizes, self.space.clone());
        let header = &mut self.object(node)?.header;
        let old: HashSet<Address> = match header.committed {
            true => header.chunks.iter().map(|chunk| chunk.at).collect(),
            false => HashSet::new(),
        };
        let mut spare = Vec::new();
        let chunks = header.encode(messages, sizes, &mut |len| lock(&space).take_meta(len), &mut spare)?;
        let mut build = self.builder(out);
        build.give_up(&mut spare);
        for (number, (extent, bytes)) in chunks.into_iter().enumerate() {
            let kind = if number == 0 { BlockKind::Header } else { BlockKind::HeaderChunk };
            build.put(Block { at: extent.at, kind, bytes }, old.contains(&extent.at))?;
        }
        Ok(())
    }

    /// The pieces that the elements of a dataset take, and their index, which all are given up with it.
    pub(super) fn storage(&mut self, node: Node) -> Result<Vec<Extent>> {
        let k = self.tree_sizes.chunks;
        self.with_data(node, |data, place| match &data.layout {
            DataLayout::Contiguous { address: Some(at), size: Some(len) } => {
                Ok(vec![Extent { at: *at, len: *len }])
            }
            DataLayout::Chunked(layout) => {
                let implicit = layout.index == ChunkIndex::Implicit;
                let blocks = match implicit {
                    true => {
                        let chunks = data.implicit_chunks();
                        let len = chunks.saturating_mul(chunk_bytes(layout)?);
                        layout.address.map(|at| Extent { at, len }).into_iter().collect()
                    }
                    false => index_blocks(data, k, place.source)?,
                };
                data.store(place)?.give_up()?;
                Ok(blocks)
            }
            _ => Ok(Vec::new()),
        })
    }

    /// Writes blocks, those side by side together.
    pub(super) fn write_blocks(&self, blocks: &[Block]) -> Result<()> {
        let mut blocks: Vec<&Block> = blocks.iter().collect();
        blocks.sort_unstable_by_key(|block| block.at);
        let mut run = Vec::new();
        let mut start = Address(0);
        for block in blocks {
            let goes_on = block.at.0 == start.0 + run.len() as u64 && run.len() < TOGETHER;
            if !goes_on && !run.is_empty() {
                self.blob.write_at(self.source.position(start)?, &run)?;
                run.clear();
            }
            if run.is_empty() {
                start = block.at;
            }
            run.extend_from_slice(&block.bytes);
        }
        match run.is_empty() {
            true => Ok(()),
            false => self.blob.write_at(self.source.position(start)?, &run),
        }
    }
}
