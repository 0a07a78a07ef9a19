//! The beginning of editing: a new file, or one that is there.
//!
//! A file with a superblock of version 0 or 1 gets one of version 2 with the first commit, in the same place, since only
//! that can name a metadata cache image. A file that was left in the middle of a commit, or closed with an image by the
//! reference, has the image written to its place first.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;
use ferrocdf_store::{Blob, BlobMut, MemoryBlob};

use super::attributes::EditedAttributes;
use super::group::EditedLinks;
use super::header::EditedHeader;
use super::heap::EditedGlobalHeap;
use super::object::EditedObject;
use super::patched::Patched;
use super::space::{Extent, FileSpace, lock};
use super::{Barrier, CreateOptions, Editor, Node, Profile, wrong};
use crate::cache_image;
use crate::messages::SpaceInfo;
use crate::messages::small::TreeSizes;
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::{Address, File, OpenOptions, Sizes, Source, Superblock};

/// Widths of a new file.
const SIZES: Sizes = Sizes { offset: 8, length: 8 };

impl Editor {
    /// A new file, all of what the blob holds is given up at the first commit; nothing is written before. (Bytes of
    /// the user block are kept.)
    ///
    /// # Errors
    /// `EINVAL` for options that no file can have.
    pub fn create(blob: Arc<dyn BlobMut>, options: &CreateOptions) -> Result<Editor> {
        let base = options.user_block;
        if base != 0 && (base < 512 || !base.is_power_of_two()) {
            return Err(wrong(format!("a user block of {base} bytes")));
        }
        let begin = Superblock::encoded_len(SIZES);
        let version = if options.profile == Profile::Modern { 3 } else { 2 };
        let superblock = Superblock {
            version,
            base,
            sizes: SIZES,
            root: Address(begin),
            extension: None,
            driver: None,
            end: base,
        };
        let links = EditedLinks::new(options.root.link_order);
        let mut root = EditedObject::new(options.root.attribute_order, links.first_messages(SIZES)?);
        root.header.references = 1;
        let file = empty(&mut root.header, &superblock)?;
        root.links = Some(links);
        root.attributes = Some(EditedAttributes::new(root.header.is_ordered()));
        let patched = Arc::new(Patched::new(blob.clone()));
        let source = Source { blob: patched.clone(), base, sizes: SIZES, codecs: options.codecs.clone() };
        let space = FileSpace::new(begin, options.meta_block, options.alignment, limit(SIZES));
        let mut editor = Editor {
            blob,
            patched,
            file,
            options: OpenOptions { codecs: options.codecs.clone(), ..OpenOptions::default() },
            source,
            superblock,
            extension: Vec::new(),
            extension_at: Vec::new(),
            extension_changed: false,
            tree_sizes: TreeSizes::default(),
            page: 1,
            profile: options.profile,
            barrier: options.barrier,
            space: Arc::new(Mutex::new(space)),
            objects: Vec::new(),
            by_address: HashMap::new(),
            dirty: BTreeSet::new(),
            stores: BTreeSet::new(),
            unfilled: BTreeSet::new(),
            heap: EditedGlobalHeap::default(),
            unwritten: true,
            wrote: false,
            note: None,
            install: None,
            savepoint: None,
        };
        let root = editor.insert(root);
        editor.dirty.insert(root);
        Ok(editor)
    }

    /// A file to be edited. One that was left in the middle of a commit is brought to its committed state.
    ///
    /// # Errors
    /// Those of [`File::open_with`], and of the blob.
    pub fn open(blob: Arc<dyn BlobMut>, options: OpenOptions, barrier: Barrier) -> Result<Editor> {
        recover(&blob, barrier)?;
        let patched = Arc::new(Patched::new(blob.clone()));
        let file = File::open_with(patched.clone(), options.clone())?;
        let mut superblock = file.superblock().clone();
        let (base, sizes) = (superblock.base, superblock.sizes);
        let source = Source { blob: patched.clone(), base, sizes, codecs: options.codecs.clone() };
        let mut tree_sizes = TreeSizes::default();
        let (mut extension, mut extension_at) = (Vec::new(), Vec::new());
        let (mut page, mut changed) = (1, false);
        if let Some(at) = superblock.extension {
            let header = EditedHeader::read(&source, at)?;
            (extension, extension_at) = (header.messages, header.chunks);
            for message in &mut extension {
                match message.kind {
                    kind::TREE_SIZES => tree_sizes = TreeSizes::decode(&message.body)?,
                    kind::SPACE_INFO => changed |= forget_free_space(message, sizes, &mut page)?,
                    _ => {}
                }
            }
        }
        if superblock.version < 2 {
            tree_sizes = crate::superblock::tree_sizes(&blob)?;
            if tree_sizes != TreeSizes::default() {
                extension.push(super::message(kind::TREE_SIZES, 0, tree_sizes.encode()?));
                changed = true;
            }
            superblock.version = 2;
        }
        let end = superblock.end.saturating_sub(base);
        let usual = CreateOptions::default();
        let space = FileSpace::new(end, usual.meta_block, usual.alignment, limit(sizes));
        // What was being written when somebody was killed; new space begins here, and reads as zeros.
        if blob.size()? > superblock.end {
            blob.set_size(superblock.end)?;
        }
        let profile = if superblock.version > 2 { Profile::Modern } else { Profile::Compatible };
        let mut editor = Editor {
            blob,
            patched,
            file,
            options,
            source,
            superblock,
            extension,
            extension_at,
            extension_changed: changed,
            tree_sizes,
            page,
            profile,
            barrier,
            space: Arc::new(Mutex::new(space)),
            objects: Vec::new(),
            by_address: HashMap::new(),
            dirty: BTreeSet::new(),
            stores: BTreeSet::new(),
            unfilled: BTreeSet::new(),
            heap: EditedGlobalHeap::default(),
            unwritten: false,
            wrote: false,
            note: None,
            install: None,
            savepoint: None,
        };
        let root = editor.superblock.root;
        editor.node(root)?;
        editor.take_note()?;
        Ok(editor)
    }

    /// Pieces of at least as many bytes as the first number says begin at a multiple of the second from now on, and
    /// metadata is kept together in pieces of this many bytes.
    pub fn set_space(&mut self, alignment: (u64, u64), meta_block: u64) {
        lock(&self.space).set(alignment, meta_block);
    }

    /// Reserves space behind the committed state for the chunk indexes of these datasets with as many chunks, so that they lie in front of
    /// the elements that are put from now on. It is meant for a new file whose objects are committed. The space is enough if each
    /// index is made once and is a version 1 B-tree; what has no space there is put among the elements.
    ///
    /// # Errors
    /// `EVARSIZE` if the file would be longer than its addresses reach; those of reading the headers of the datasets.
    pub fn reserve_indexes(&mut self, datasets: &[(Node, u64)]) -> Result<()> {
        let (k, sizes) = (self.tree_sizes.chunks, self.source.sizes);
        let mut len = 0_u64;
        for &(node, chunks) in datasets {
            let index = self.with_data(node, |data, _| Ok(super::index::tree_len(data, k, chunks, sizes)))?;
            len = len.saturating_add(index);
        }
        lock(&self.space).reserve(len)
    }
}

/// One more than the largest address.
fn limit(sizes: Sizes) -> u64 {
    sizes.undefined()
}

/// A file in memory with nothing but a root group of this header.
fn empty(root: &mut EditedHeader, superblock: &Superblock) -> Result<File> {
    let messages = root.messages.clone();
    let len = root.fit(&messages, SIZES);
    root.chunks.push(Extent { at: superblock.root, len });
    let chunks = root.encode(messages, SIZES, &mut |_| Ok(Address(0)), &mut Vec::new())?;
    root.chunks.clear();
    let mut bytes = Superblock { base: 0, end: superblock.root.0 + len, ..superblock.clone() }.encode()?;
    chunks.into_iter().for_each(|(_, chunk)| bytes.extend(chunk));
    File::open(Arc::new(MemoryBlob::new(bytes)))
}

/// Makes a message forget which space is free, since it will not be true any more. Says whether it knew of any, and
/// notes the size of pages.
fn forget_free_space(message: &mut HeaderMessage, sizes: Sizes, page: &mut u64) -> Result<bool> {
    let Some(info) = SpaceInfo::decode(&message.body, sizes)? else { return Ok(false) };
    *page = info.page;
    if !info.persists {
        return Ok(false);
    }
    message.body[2] = 0;
    message.body.truncate(info.known);
    message.body.resize(info.known + sizes.offset, 0xff);
    Ok(true)
}

/// Writes what a metadata cache image holds to its place, and takes the image off.
fn recover(blob: &Arc<dyn BlobMut>, barrier: Barrier) -> Result<()> {
    let wait = || match barrier {
        Barrier::Sync => blob.sync(),
        Barrier::Order => blob.flush(),
    };
    let superblock = Superblock::find(blob)?;
    let (base, sizes) = (superblock.base, superblock.sizes);
    let source = Source { blob: blob.clone() as Arc<dyn Blob>, base, sizes, codecs: Codecs::default() };
    let Some(at) = superblock.extension else { return Ok(()) };
    let mut header = EditedHeader::read(&source, at)?;
    let images = header.take(kind::CACHE_IMAGE);
    let Some(image) = images.first() else { return Ok(()) };
    let (entries, place) = cache_image::entries(&source, &image.body)?;
    for (&position, bytes) in &entries {
        blob.write_at(position, bytes)?;
    }
    let reach = entries.iter().map(|(at, bytes)| at + bytes.len() as u64).max().unwrap_or(0);
    let mut end = superblock.end;
    let pieces = place.into_iter().chain(header.chunks.iter().map(|chunk| (chunk.at, chunk.len)));
    for (at, len) in pieces {
        // What lies at the end goes with it.
        if source.position(at)?.checked_add(len) == Some(end) {
            end = source.position(at)?;
        }
    }
    let mut extension = None;
    end = end.max(reach);
    if !header.messages.is_empty() {
        end = end.max(superblock.end);
        let bytes = super::journal::extension(&header.messages)?;
        blob.write_at(end, &bytes)?;
        extension = Some(Address(end - base));
        end += bytes.len() as u64;
    }
    if blob.size()? < end {
        blob.set_size(end)?;
    }
    wait()?;
    blob.write_at(base, &Superblock { extension, end, ..superblock }.encode()?)?;
    wait()
}
