//! Attributes of an edited object: in its header, or in a fractal heap once there are many ("Attribute Info Message").
//!
//! Each attribute is kept as its encoded message. If one dense attribute changes, heap and indexes are rebuilt as a whole, in the
//! extents of the old ones as far as their lengths agree.

use ferrocdf_bytes::{Code, Error, Result};

use super::build::CommitBuilder;
use super::extents;
use super::header::{EditedHeader, NOT_SHARED, message};
use super::named::Named;
use super::space::Extent;
use crate::heaps::FractalHeap;
use crate::objects::attribute_message::AttributeMessage;
use crate::objects::dense_info::{DenseInfo, DenseItem, DenseRecord, Of};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::objects::shared::{SharedPlace, resolve};
use crate::trees::btree2::BTree2;
use crate::{Address, File, Sizes};

/// The most attributes in a header, and the fewest in a heap, unless the header says otherwise.
const LIMITS: (u16, u16) = (8, 6);
/// Limit of the 16-bit field "Creation Order"; no attribute has this number.
const NO_ORDER: u64 = 0xffff;
/// The longest body of a header message.
const LONGEST: usize = 0xffff;

/// The attributes of an object.
#[derive(Debug, Default)]
pub(super) struct EditedAttributes {
    /// The messages, by name and order of creation.
    pub list: Named<EditedAttribute>,
    /// What the next one gets as its order.
    next: u64,
    /// What the file says of dense ones.
    info: DenseInfo,
    /// Where dense ones are in the committed file.
    pub blocks: Vec<Extent>,
    /// Whether they are not as in the file.
    pub changed: bool,
}

/// An attribute as it is stored.
#[derive(Debug)]
pub(super) struct EditedAttribute {
    /// The number of its making that it has in the file; also objects that keep no order give some of these.
    number: Option<u64>,
    pub flags: u8,
    pub body: Vec<u8>,
}

/// The committed datatype that an attribute message is of.
pub(super) fn committed_type(body: &[u8], sizes: Sizes) -> Option<Address> {
    let message = AttributeMessage::decode(body).ok()?;
    if message.flags & 0x01 == 0 {
        return None;
    }
    committed_at(message.datatype, sizes)
}

/// The object that a shared message is of, unless it is in the shared message table.
pub(super) fn committed_at(body: &[u8], sizes: Sizes) -> Option<Address> {
    match SharedPlace::decode(body, sizes).ok()? {
        SharedPlace::Object(at) => Some(at),
        SharedPlace::Heap(_) => None,
    }
}

impl EditedAttributes {
    /// The attributes of an object, whose messages are taken out of `header`.
    pub fn load(header: &mut EditedHeader, file: &File) -> Result<EditedAttributes> {
        let source = file.source();
        let mut all = EditedAttributes::default();
        if let Some(info) = header.message(kind::ATTRIBUTE_INFO) {
            all.info = DenseInfo::decode(Of::Attributes, &info.body, source.sizes)?;
        }
        all.info.indexed |= header.form.version > 1 && header.form.flags & 0x08 != 0;
        for message in header.take(kind::ATTRIBUTE) {
            all.add(message.order.map(u64::from), message.flags, message.body, file)?;
        }
        if let Some((heap_at, by_name)) = all.info.heap.zip(all.info.by_name) {
            let (tree, heap) = (BTree2::open(source, by_name)?, FractalHeap::open(source, heap_at)?);
            let mut found = vec![];
            tree.walk(&mut |bytes| {
                let record = DenseRecord::by_name(Of::Attributes, bytes)?;
                let body = record.message(file, &heap)?.to_vec();
                let DenseRecord { order, flags, .. } = record;
                found.push((order, flags & !HeaderMessage::SHARED, body));
                Ok(())
            })?;
            // In the order in which they are listed; many may have the same number, that of none.
            found.sort_by_key(|&(order, ..)| order);
            for (order, flags, body) in found {
                all.add(Some(order), flags, body, file)?;
            }
            all.blocks = extents::heap(source, heap_at)?;
            for tree in [Some(by_name), all.info.by_order].into_iter().flatten() {
                all.blocks.extend(extents::tree(source, tree)?);
            }
        }
        all.next = all.info.next_order.unwrap_or(0).max(all.next);
        all.changed = false;
        Ok(all)
    }

    /// Adds a message of the file.
    fn add(&mut self, order: Option<u64>, flags: u8, mut body: Vec<u8>, file: &File) -> Result<()> {
        let mut flags = flags;
        if flags & HeaderMessage::SHARED != 0 {
            // The table keeps its own; here it is an attribute like others from now on.
            body = resolve(file, kind::ATTRIBUTE, &body)?.body;
            flags &= !HeaderMessage::SHARED;
        }
        let name = AttributeMessage::decode(&body)?.name.to_vec();
        // As the HDF5 library numbers those of a header without an order.
        let number = Some(order.unwrap_or(self.next)).filter(|&order| order != NO_ORDER);
        let order = number.unwrap_or(self.next);
        self.next = self.next.max(order + 1);
        self.list.insert(order, name, EditedAttribute { number, flags, body });
        Ok(())
    }

    /// Adds one, or puts it in the place of the one that has its name; gives the body of that.
    pub fn set(&mut self, name: &[u8], body: Vec<u8>) -> Result<Option<Vec<u8>>> {
        self.changed = true;
        if let Some(old) = self.list.get_mut(name) {
            return Ok(Some(std::mem::replace(&mut old.body, body)));
        }
        if self.next >= NO_ORDER {
            self.list.renumber();
            self.next = self.list.len() as u64;
            if self.next >= NO_ORDER {
                return Err(Error::new(Code::EMAXATTS, "an object has at most 65,535 attributes"));
            }
        }
        self.list.insert(self.next, name.to_vec(), EditedAttribute { number: None, flags: 0, body });
        self.next += 1;
        Ok(None)
    }

    /// Takes one out.
    pub fn remove(&mut self, name: &[u8]) -> Option<EditedAttribute> {
        let removed = self.list.remove(name)?;
        self.changed = true;
        Some(removed)
    }

    /// Whether they belong into a heap.
    pub fn is_dense(&self, header: &EditedHeader) -> bool {
        if header.form.version == 1 {
            return false;
        }
        let (most, fewest) = header.form.attribute_limits.unwrap_or(LIMITS);
        let (count, dense) = (self.list.len(), self.info.heap.is_some());
        let large = self.list.values().any(|attribute| attribute.body.len() > LONGEST);
        large || count > usize::from(most) || (dense && count >= usize::from(fewest))
    }

    /// The messages in the header: with the info message, and without attributes if they are dense.
    pub fn messages(&self, header: &EditedHeader, sizes: Sizes) -> Result<Vec<HeaderMessage>> {
        let mut messages = Vec::new();
        if header.form.version > 1 && (self.list.len() > 0 || header.message(kind::ATTRIBUTE_INFO).is_some())
        {
            let body = self.info.encode(Of::Attributes, sizes)?;
            let flags = header.message(kind::ATTRIBUTE_INFO).map_or(NOT_SHARED, |message| message.flags);
            messages.push(message(kind::ATTRIBUTE_INFO, flags, body));
        }
        if self.is_dense(header) {
            return Ok(messages);
        }
        let ordered = header.is_ordered();
        messages.extend(self.list.iter().map(|(order, _, EditedAttribute { flags, body, .. })| {
            HeaderMessage {
                order: ordered.then_some(order as u16),
                ..message(kind::ATTRIBUTE, *flags, body.clone())
            }
        }));
        Ok(messages)
    }

    /// Sets what the info message says; dense attributes are built.
    pub fn settle(&mut self, dense: bool, ordered: bool, build: &mut CommitBuilder<'_>) -> Result<()> {
        self.info.next_order = ordered.then_some(self.next.min(NO_ORDER));
        self.info.indexed &= ordered;
        (self.info.heap, self.info.by_name, self.info.by_order) = (None, None, None);
        if !dense {
            build.give_up(&mut self.blocks);
            return Ok(());
        }
        let items: Vec<DenseItem<'_>> = self
            .list
            .iter()
            .map(|(order, name, attribute)| DenseItem {
                name,
                order: if ordered { Some(order) } else { attribute.number },
                body: &attribute.body,
            })
            .collect();
        let (info, sizes) = (self.info, build.sizes);
        self.info = build.build(&mut self.blocks, |alloc, blocks| {
            let mut info = info;
            info.build(Of::Attributes, &items, sizes, alloc, blocks).map(|()| info)
        })?;
        Ok(())
    }

    /// For a new object: orders are indexed where they are kept.
    pub fn new(ordered: bool) -> EditedAttributes {
        let info = DenseInfo { next_order: ordered.then_some(0), indexed: ordered, ..DenseInfo::default() };
        EditedAttributes { info, ..EditedAttributes::default() }
    }
}
