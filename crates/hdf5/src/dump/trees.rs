//! Nodes of B-trees of both versions.

use std::rc::Rc;

use ferrocdf_bytes::{Coder, Dumper, Record, Result, ToUsize};

use super::{StructureWalk, raw};
use crate::chunks::stored::{ChunkKey, ChunkRecord, Form, StoredEntry};
use crate::fields::Fields;
use crate::heaps::FractalHeap;
use crate::heaps::fractal::stored::HugeObject;
use crate::objects::dense_info::{By, DenseRecord, Of};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::sohm::SharedRecord;
use crate::trees::btree1;
use crate::trees::btree2::{BTree2ChildPointer, BTree2Header, BTree2NodeHead, Level};
use crate::{Address, Sizes};

/// A group with a symbol table.
#[derive(Clone)]
pub(super) struct SymbolTableGroup {
    /// The local heap of its names.
    pub heap: Address,
    pub path: Rc<str>,
}

/// What a version 1 B-tree is of.
#[derive(Clone)]
pub(super) enum Old {
    Group(SymbolTableGroup),
    Chunks { rank: u64 },
}

impl Old {
    fn key_len(&self, sizes: Sizes) -> u64 {
        match self {
            Old::Group(_) => sizes.length as u64,
            Old::Chunks { rank } => rank.saturating_add(2).saturating_mul(8),
        }
    }

    fn key(&self, sizes: Sizes, dumper: &mut Dumper<'_>) -> Result<()> {
        match self {
            Old::Group(_) => dumper.length("key: byte offset in local heap", sizes, &mut 0),
            Old::Chunks { rank } => {
                ChunkKey { rank: rank.saturating_add(1), ..ChunkKey::default() }.fields(dumper)
            }
        }
    }
}

/// What a version 2 B-tree is of.
#[derive(Clone)]
pub(super) enum New {
    /// Links or attributes in a heap, of the object at this path.
    Dense {
        of: Of,
        heap: Address,
        path: Rc<str>,
    },
    /// Huge objects of a heap.
    Huge,
    Chunks {
        rank: u64,
    },
    /// Shared messages.
    SharedMessages,
}

/// What is known of all nodes of a version 2 B-tree.
struct DumpedTree {
    of: New,
    record_type: u64,
    record_size: usize,
    node_size: u64,
    levels: Vec<Level>,
    heap: Option<FractalHeap>,
}

impl StructureWalk<'_> {
    /// Prints a node of a version 1 B-tree.
    pub(super) fn old_tree(&mut self, at: Address, of: Old) -> Result<()> {
        let sizes = self.source.sizes;
        let mut head = btree1::BTree1NodeHead::unread(sizes);
        let head_len = btree1::BTree1NodeHead::len(sizes) as u64;
        self.read_record(&mut head, "B-tree node", at, head_len);
        let count = u64::from(head.count);
        let keys = if count > 0 { count.saturating_add(1) } else { 0 };
        let entries = keys.saturating_mul(of.key_len(sizes));
        let entries = entries.saturating_add(count.saturating_mul(sizes.offset as u64));
        let len = head_len.saturating_add(entries);
        let (mut children, mut level) = (vec![], 0);
        self.block("version 1 B-tree node", at, len, false, |dumper| {
            head.fields(dumper)?;
            level = head.level;
            for _ in 0..head.count {
                of.key(sizes, dumper)?;
                let mut child = Address(0);
                dumper.defined("child pointer", sizes, &mut child)?;
                children.push(child);
            }
            if head.count > 0 { of.key(sizes, dumper) } else { Ok(()) }
        })?;
        let half = match &of {
            Old::Group(_) => self.tree_sizes.groups,
            Old::Chunks { .. } => self.tree_sizes.chunks,
        };
        self.takes(at, btree1::allocated_len(sizes, half.into(), of.key_len(sizes).saturate()) as u64);
        for child in children {
            match &of {
                _ if level > 0 => {
                    let of = of.clone();
                    self.later(child, move |walk| walk.old_tree(child, of));
                }
                Old::Group(group) => {
                    let group = group.clone();
                    self.later(child, move |walk| walk.symbols(child, &group));
                }
                // Chunks themselves are not printed.
                Old::Chunks { .. } => {}
            }
        }
        Ok(())
    }

    /// Prints a version 2 B-tree.
    pub(super) fn tree(&mut self, at: Address, of: New) -> Result<()> {
        const WHAT: &str = "version 2 B-tree header";
        let sizes = self.source.sizes;
        let mut header = BTree2Header::new(sizes);
        if self.block(WHAT, at, BTree2Header::len(sizes), true, |dumper| header.fields(dumper))?.is_none() {
            return Ok(());
        }
        let levels = match header.levels() {
            Ok(levels) => levels,
            Err(error) => return self.problem(&error.at(format_args!("{WHAT} at {at}"))),
        };
        let heap = match &of {
            New::Dense { heap, .. } => FractalHeap::open(&self.source, *heap).ok(),
            _ => None,
        };
        let (record_type, record_size) = (header.record_type, header.record_size.saturate());
        let depth = levels.len().saturating_sub(1);
        let node_size = header.node_size;
        let tree = Rc::new(DumpedTree { of, record_type, record_size, node_size, levels, heap });
        let records = header.root_records;
        if let Some(root) = header.root.filter(|_| records > 0) {
            self.later(root, move |walk| walk.node(root, records, depth, tree));
        }
        Ok(())
    }

    /// Prints a node of a version 2 B-tree that has so many records.
    fn node(&mut self, at: Address, records: u64, depth: usize, tree: Rc<DumpedTree>) -> Result<()> {
        let sizes = self.source.sizes;
        let level = tree.levels[depth];
        let pointers = if depth > 0 { records.saturating_add(1) } else { 0 };
        let (mut found, mut children) = (vec![], vec![]);
        let what = if depth > 0 { "version 2 B-tree internal node" } else { "version 2 B-tree leaf node" };
        let len = level.node_len(records, tree.record_size as u64);
        self.block(what, at, len, true, |dumper| {
            BTree2NodeHead { is_leaf: depth == 0, record_type: 0 }.fields(dumper)?;
            dumper.list("record", records, &mut vec![], |_: &mut (), dumper| {
                found.extend(tree.record(sizes, dumper)?);
                Ok(())
            })?;
            dumper.list("child", pointers, &mut vec![], |_: &mut (), dumper| {
                let mut child = BTree2ChildPointer { sizes, level, at: Address(0), records: 0, all: 0 };
                child.fields(dumper)?;
                children.push(child);
                Ok(())
            })
        })?;
        self.takes(at, tree.node_size);
        for (index, record) in found.iter().enumerate() {
            self.dense_message(at, index, record, &tree)?;
        }
        for BTree2ChildPointer { at, records, .. } in children {
            let tree = tree.clone();
            self.later(at, move |walk| walk.node(at, records, depth.saturating_sub(1), tree));
        }
        Ok(())
    }

    /// Prints the message that a record by name stands for.
    fn dense_message(
        &mut self,
        at: Address,
        index: usize,
        record: &DenseRecord,
        tree: &DumpedTree,
    ) -> Result<()> {
        let (New::Dense { of, path, .. }, Some(heap)) = (&tree.of, &tree.heap) else { return Ok(()) };
        // Records may name one large object many times.
        if record.flags & HeaderMessage::SHARED != 0 || self.left == 0 {
            return Ok(());
        }
        self.write(&format!("    {} of record {index}, in the heap\n", kind::name(of.message_kind())))?;
        match heap.object(record.id()) {
            Ok(body) => match self.charge(body.len() as u64, at) {
                Ok(()) => self.message(at, of.message_kind(), 0, &body, path),
                Err(error) => self.problem(&error),
            },
            Err(error) => self.problem(&error),
        }
    }
}

impl DumpedTree {
    /// Prints a record; returns it if it is one of links or attributes by their names.
    fn record(&self, sizes: Sizes, dumper: &mut Dumper<'_>) -> Result<Option<DenseRecord>> {
        let (of, by) = match (&self.of, self.record_type) {
            (New::Dense { of: Of::Links, .. }, 5) => (Of::Links, By::Name),
            (New::Dense { of: Of::Links, .. }, 6) => (Of::Links, By::Order),
            (New::Dense { of: Of::Attributes, .. }, 8) => (Of::Attributes, By::Name),
            (New::Dense { of: Of::Attributes, .. }, 9) => (Of::Attributes, By::Order),
            (New::Huge, kind @ 1..=4) => {
                let (is_filtered, is_numbered) = (kind % 2 == 0, kind < 3);
                return HugeObject::unread(sizes, is_filtered, is_numbered).fields(dumper).map(|()| None);
            }
            (New::SharedMessages, 7) => return SharedRecord::default().fields(sizes, dumper).map(|()| None),
            (New::Chunks { rank }, kind @ 10..=11) => return self.chunk(*rank, kind == 11, sizes, dumper),
            _ => return dumper.bytes("record", self.record_size as u64, &mut Vec::new()).map(|()| None),
        };
        let mut record = DenseRecord::unread(of, by);
        record.fields(dumper)?;
        Ok(Some(record).filter(|_| by == By::Name))
    }

    fn chunk(
        &self,
        rank: u64,
        filtered: bool,
        sizes: Sizes,
        dumper: &mut Dumper<'_>,
    ) -> Result<Option<DenseRecord>> {
        let width = self.record_size.checked_sub(rank.saturate().saturating_mul(8));
        let Some(form) = width.and_then(|width| Form::of(width, filtered, sizes)) else {
            return raw("records", dumper).map(|()| None);
        };
        let stored = StoredEntry { form, entry: None };
        ChunkRecord { stored, coords: vec![], rank }.fields(dumper).map(|()| None)
    }
}
