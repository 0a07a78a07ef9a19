//! Links of an edited group: in its header, or in a fractal heap once there are many ("Link Info Message").
//!
//! A group with a symbol table gets link messages when it changes. It keeps no creation order, since a symbol table has none.

use ferrocdf_bytes::Result;

use super::Node;
use super::build::CommitBuilder;
use super::extents;
use super::header::{CONSTANT, EditedHeader, message};
use super::named::Named;
use super::space::Extent;
use crate::groups::{Charset, Link, LinkTarget};
use crate::messages::small::GroupInfo;
use crate::objects::dense_info::{DenseInfo, DenseItem, Of};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::wire::bad;
use crate::{Address, File, Sizes};

/// The most links in a header, and the fewest in a heap, unless the group info message says otherwise.
const LIMITS: (u16, u16) = (8, 6);

/// The links of a group.
#[derive(Debug, Default)]
pub(super) struct EditedLinks {
    /// By name and order of creation.
    pub list: Named<Target>,
    next: u64,
    info: DenseInfo,
    /// Most links in a header, fewest in a heap.
    limits: (u16, u16),
    /// Where dense ones, or the symbol table, are in the committed file.
    pub blocks: Vec<Extent>,
    /// Whether they are not as in the file.
    pub changed: bool,
}

/// What a link leads to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// An object that is edited.
    Node(Node),
    /// Anything else, with the encoding of its name.
    Other(LinkTarget, Charset),
}

/// A link: its order, its name, its message.
pub(super) type Encoded<'a> = (u64, &'a [u8], Vec<u8>);

impl EditedLinks {
    /// The links of a new group.
    pub fn new(ordered: bool) -> EditedLinks {
        let next_order = ordered.then_some(0);
        let info = DenseInfo { next_order, indexed: ordered, ..DenseInfo::default() };
        EditedLinks { info, limits: LIMITS, changed: true, ..EditedLinks::default() }
    }

    /// The messages of a new group, but for its links.
    pub fn first_messages(&self, sizes: Sizes) -> Result<Vec<HeaderMessage>> {
        Ok(vec![
            message(kind::LINK_INFO, 0, self.info.encode(Of::Links, sizes)?),
            message(kind::GROUP_INFO, CONSTANT, GroupInfo::default().encode()?),
        ])
    }

    /// The links of a committed group, whose messages are taken out of `header`. `k` are the sizes of symbol tables.
    pub fn load(header: &mut EditedHeader, file: &File, k: (u16, u16)) -> Result<EditedLinks> {
        let source = file.source();
        let at = header.address().ok_or_else(|| bad("a group without a place"))?;
        let stored = file.object(at)?;
        let mut all = EditedLinks { limits: LIMITS, ..EditedLinks::default() };
        for link in stored.links()?.list {
            let order = link.order.and_then(|order| u64::try_from(order).ok()).unwrap_or(all.next);
            all.next = all.next.max(order.saturating_add(1));
            all.list.insert(order, link.name, Target::Other(link.target, link.charset));
        }
        if let Some(table) = header.message(kind::SYMBOL_TABLE) {
            all.blocks = extents::symbols(source, &table.body, k)?;
        }
        if let Some(info) = header.message(kind::LINK_INFO) {
            all.info = DenseInfo::decode(Of::Links, &info.body, source.sizes)?;
            all.next = all.info.next_order.unwrap_or(0).max(all.next);
        }
        if let Some((heap, by_name)) = all.info.heap.zip(all.info.by_name) {
            all.blocks = extents::heap(source, heap)?;
            for tree in [Some(by_name), all.info.by_order].into_iter().flatten() {
                all.blocks.extend(extents::tree(source, tree)?);
            }
        }
        if let Some(info) = header.message(kind::GROUP_INFO) {
            all.limits = GroupInfo::decode(&info.body)?.limits.unwrap_or(all.limits);
        }
        header.take(kind::LINK);
        Ok(all)
    }

    /// Adds a link behind all others.
    pub fn add(&mut self, name: &[u8], target: Target) {
        self.changed = true;
        self.list.insert(self.next, name.to_vec(), target);
        self.next += 1;
    }

    /// Takes one out.
    pub fn remove(&mut self, name: &[u8]) -> Option<Target> {
        let removed = self.list.remove(name)?;
        self.changed = true;
        Some(removed)
    }

    /// Whether they belong into a heap.
    pub fn is_dense(&self) -> bool {
        let (most, fewest) = self.limits;
        let (count, dense) = (self.list.len(), self.info.heap.is_some());
        let large = || self.list.iter().any(|(_, name, target)| name.len() + target.len() > 0xff00);
        count > usize::from(most) || (dense && count >= usize::from(fewest)) || large()
    }

    /// The link messages with their orders; `at` says where an object is.
    pub fn encode(&self, sizes: Sizes, at: &dyn Fn(Node) -> Result<Address>) -> Result<Vec<Encoded<'_>>> {
        let ordered = self.info.next_order.is_some();
        let one = |(order, name, target): (u64, &'_ [u8], &Target)| {
            let (target, charset) = match target {
                Target::Node(node) => (LinkTarget::Hard(at(*node)?), None),
                Target::Other(target, charset) => (target.clone(), Some(*charset)),
            };
            let ascii = if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
            let order_in_file = ordered.then_some(order as i64);
            let charset = charset.unwrap_or(ascii);
            let link = Link { name: name.to_vec(), order: order_in_file, charset, target };
            Ok((order, link.encode(sizes)?))
        };
        self.list
            .iter()
            .map(|(order, name, target)| one((order, name, target)).map(|(order, body)| (order, name, body)))
            .collect()
    }

    /// Puts the info message, and a group info message, in the place of what was there; dense links are built.
    pub fn settle(
        &mut self,
        header: &mut EditedHeader,
        build: &mut CommitBuilder<'_>,
        at: &dyn Fn(Node) -> Result<Address>,
    ) -> Result<()> {
        let (ordered, dense) = (self.info.next_order.is_some(), self.is_dense());
        let sizes = build.sizes;
        self.info.next_order = ordered.then_some(self.next);
        (self.info.heap, self.info.by_name, self.info.by_order) = (None, None, None);
        if dense {
            let info = self.info;
            let mut blocks = std::mem::take(&mut self.blocks);
            let links = self.encode(sizes, at)?;
            let items: Vec<DenseItem<'_>> = links
                .iter()
                .map(|(order, name, body)| DenseItem { name, order: ordered.then_some(*order), body })
                .collect();
            self.info = build.build(&mut blocks, |alloc, made| {
                let mut info = info;
                info.build(Of::Links, &items, sizes, alloc, made).map(|()| info)
            })?;
            self.blocks = blocks;
        } else {
            build.give_up(&mut self.blocks);
        }
        let old = header.take(kind::SYMBOL_TABLE);
        header.set(kind::LINK_INFO, 0, self.info.encode(Of::Links, sizes)?);
        if !old.is_empty() && header.message(kind::GROUP_INFO).is_none() {
            header.set(kind::GROUP_INFO, CONSTANT, GroupInfo::default().encode()?);
        }
        Ok(())
    }
}

impl Target {
    /// Bytes of what is stored for it, roughly.
    fn len(&self) -> usize {
        match self {
            Target::Node(_) | Target::Other(LinkTarget::Hard(_), _) => 8,
            Target::Other(LinkTarget::Soft(path), _) => path.len(),
            Target::Other(LinkTarget::External { file, path }, _) => file.len() + path.len(),
            Target::Other(LinkTarget::User { data, .. }, _) => data.len(),
        }
    }
}
