//! From one committed state to the next.
//!
//! First everything gets its place: headers of new objects, so that links and references can name them; then chunk
//! indexes, dense links and attributes are built, which tell headers where they are; then headers are put together. What
//! lies in space that no committed state uses is written at once; what changes where it stands goes to the journal.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Mutex;

use ferrocdf_bytes::{Code, Error, Result};

use super::chunks::lock;
use super::dataset::{Data, chunk_bytes};
use super::index::{blocks as index_blocks, index};
use super::object::{Extent, NOT_SHARED, Object, message};
use super::space::Space;
use super::{Editor, Node};
use crate::block::{Alloc, Block, BlockKind};
use crate::messages::small::ReferenceCount;
use crate::messages::{ChunkIndex, DataLayout};
use crate::objects::header::{Message, kind};
use crate::{Address, Sizes, Source};

/// A structure of which more bytes change is not built in the place of the old one: readers that cannot hold them all in
/// memory would lose some of a cache image.
const IN_PLACE: usize = 256 << 10;
/// Blocks side by side are written together up to this size.
const TOGETHER: usize = 1 << 20;

/// What a commit has to write.
#[derive(Default)]
pub(super) struct Output {
    /// Into space that no committed state uses.
    pub fresh: Vec<Block>,
    /// Where it stands in the committed state.
    pub changed: Vec<Block>,
}

/// What builds structures of blocks.
pub(super) struct Build<'a> {
    pub source: &'a Source,
    pub sizes: Sizes,
    space: &'a Mutex<Space>,
    out: &'a mut Output,
}

impl Build<'_> {
    /// Gives up the pieces of a structure.
    pub fn give_up(&mut self, old: &mut Vec<Extent>) {
        let mut space = lock(self.space);
        old.drain(..).for_each(|extent| space.give_up(extent.at, extent.len));
    }

    /// Builds a structure anew that was in `old`, and notes where it is now. It is built over the old one, piece by piece
    /// where the lengths agree, if few bytes change by that; else into other space.
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

    /// Whether a block has these bytes in the file.
    fn is_there(&self, block: &Block) -> bool {
        let there = self.source.read("a block", block.at, block.bytes.len() as u64);
        there.is_ok_and(|there| there == block.bytes)
    }

    /// Notes a block to be written; a committed one only if it is not there already.
    pub fn put(&mut self, block: Block, committed: bool) -> Result<()> {
        if !committed {
            self.out.fresh.push(block);
            return Ok(());
        }
        if self.is_there(&block) {
            return Ok(());
        }
        if block.kind.cache_type().is_none() {
            return Err(Error::new(Code::EINTERNAL, "a block that cannot be changed where it is"));
        }
        self.out.changed.push(block);
        Ok(())
    }
}

impl Editor {
    /// The messages of an object's header. Places that are not known yet are missing, but do not change their lengths.
    pub(super) fn messages(&mut self, node: Node) -> Result<Vec<Message>> {
        let sizes = self.source.sizes;
        let at = |node: Node| {
            let object = self.objects.get(node.0 as usize);
            Ok(object.and_then(Object::address).unwrap_or(Address(0)))
        };
        let object = self.objects.get(node.0 as usize).filter(|object| !object.gone);
        let object = object.ok_or_else(|| Error::new(Code::EINVAL, "an object that is not there"))?;
        let mut messages: Vec<Message> = object
            .messages
            .iter()
            .filter(|message| object.attributes.is_none() || message.kind != kind::ATTRIBUTE_INFO)
            .cloned()
            .collect();
        if object.form.version > 1 && object.references != 1 {
            messages.push(message(
                kind::REFERENCE_COUNT,
                NOT_SHARED,
                ReferenceCount(object.references).encode()?,
            ));
        }
        if let Some(links) = object.links.as_ref().filter(|links| !links.is_dense()) {
            let encoded = links.encode(sizes, &at)?;
            messages.extend(encoded.into_iter().map(|(_, _, body)| message(kind::LINK, 0, body)));
        }
        if let Some(attributes) = &object.attributes {
            messages.extend(attributes.messages(object, sizes)?);
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
        if let Some(root) = self.objects.first().and_then(Object::address) {
            self.superblock.root = root;
        }
        let install = self.prepare(out)?;
        self.seal();
        self.install(install)
    }

    /// Takes what was prepared for the committed state: from here on the file may be in it, so nothing of it is
    /// overwritten, and the state before is not gone back to.
    fn seal(&mut self) {
        for node in std::mem::take(&mut self.dirty) {
            let Some(object) = self.objects.get_mut(node.0 as usize) else { continue };
            object.committed = true;
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

    fn builder<'a>(&'a self, out: &'a mut Output) -> Build<'a> {
        Build { source: &self.source, sizes: self.source.sizes, space: &self.space, out }
    }

    /// Builds what an object has outside of its header, and notes in its messages where that is.
    fn build(&mut self, node: Node, out: &mut Output) -> Result<()> {
        let sizes = self.source.sizes;
        let addresses = |node: Node, objects: &[Object]| {
            let at = objects.get(node.0 as usize).and_then(Object::address);
            at.ok_or_else(|| Error::new(Code::EINTERNAL, "an object without a place"))
        };
        let object = self.object(node)?;
        let (mut links, mut attributes) = (object.links.take(), object.attributes.take());
        let mut data = object.data.take();
        let stub = Object::new(false, Vec::new());
        let mut object = std::mem::replace(object, stub);
        let own = object.address();
        let objects = &self.objects;
        let at = |other: Node| match own {
            Some(own) if other == node => Ok(own),
            _ => addresses(other, objects),
        };
        let mut build = self.builder(out);
        let mut done = Ok(());
        if let Some(links) = links.as_mut().filter(|links| links.changed) {
            done = links.settle(&mut object, &mut build, &at);
        }
        if let Some(attributes) = attributes.as_mut().filter(|attributes| attributes.changed) {
            let dense = attributes.is_dense(&object);
            done = done.and_then(|()| attributes.settle(dense, object.is_ordered(), &mut build));
        }
        if let Some(data) = &mut data {
            let k = self.tree_sizes.chunks;
            done =
                done.and_then(|()| index(data, k, &mut build)).and_then(|()| data.settle(&mut object, sizes));
        }
        (object.links, object.attributes, object.data) = (links, attributes, data);
        if let Some(place) = self.objects.get_mut(node.0 as usize) {
            *place = object;
        }
        done
    }

    /// Puts a header together.
    fn put_header(&mut self, node: Node, out: &mut Output) -> Result<()> {
        let messages = self.messages(node)?;
        let (sizes, space) = (self.source.sizes, self.space.clone());
        let object = self.object(node)?;
        let old: HashSet<Address> = match object.committed {
            true => object.chunks.iter().map(|chunk| chunk.at).collect(),
            false => HashSet::new(),
        };
        let mut spare = Vec::new();
        let chunks = object.encode(messages, sizes, &mut |len| lock(&space).take_meta(len), &mut spare)?;
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
