//! Symbol table nodes, local heaps, and collections of the global heap.

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use super::trees::SymbolTableGroup;
use super::{StructureWalk, path_in, peek, raw};
use crate::groups::symbols::{NODE_HEAD, SymbolEntry, SymbolNodeHead};
use crate::heaps::{global, local};
use crate::wire::up_to_nul;
use crate::{Address, fields};

impl StructureWalk<'_> {
    /// Prints a symbol table node.
    pub(super) fn symbols(&mut self, at: Address, group: &SymbolTableGroup) -> Result<()> {
        const WHAT: &str = "symbol table node";
        let sizes = self.source.sizes;
        let mut head = SymbolNodeHead { count: 0 };
        if let Ok(start) = self.source.read(WHAT, at, NODE_HEAD as u64) {
            peek(&mut head, &start);
        }
        let len = SymbolEntry::node_len(head.count.into(), sizes);
        let names = self.names.get(&group.heap).cloned();
        let name = |entry: &SymbolEntry| {
            let from = entry.name.saturate();
            names.as_deref().and_then(|names| names.get(from..)).map(|rest| up_to_nul(rest).to_vec())
        };
        let mut entries = vec![];
        self.block(WHAT, at, len, false, |dumper| {
            head.fields(dumper)?;
            let count = head.count.into();
            dumper.list("entry", count, &mut vec![], |_: &mut (), dumper| {
                let mut entry = SymbolEntry::unread(sizes);
                entry.fields(dumper)?;
                entries.push(entry);
                Ok(())
            })
        })?;
        self.takes(at, SymbolEntry::node_len(usize::from(self.tree_sizes.symbols).saturating_mul(2), sizes));
        for (index, entry) in entries.into_iter().enumerate() {
            let name = name(&entry).unwrap_or_default();
            self.write(&format!("         name of entry {index} = \"{}\"\n", name.escape_ascii()))?;
            if let Some(object) = entry.object.filter(|_| !entry.is_soft()) {
                let path = path_in(&group.path, &name);
                self.later(object, move |walk| walk.header(object, &path));
            }
        }
        Ok(())
    }

    /// Prints a local heap, and keeps its names.
    pub(super) fn local_heap(&mut self, at: Address) -> Result<()> {
        let mut header = local::LocalHeapHeader::unread(self.source.sizes);
        let len = local::LocalHeapHeader::len(self.source.sizes);
        if self.block("local heap", at, len, false, |dumper| header.fields(dumper))?.is_none() {
            return Ok(());
        }
        let what = "data segment of the local heap";
        if let Some(data) = self.block(what, header.data, header.size, false, |d| raw("strings", d))? {
            self.names.insert(at, data.into());
        }
        Ok(())
    }

    /// Prints a collection of the global heap.
    pub(super) fn global_heap(&mut self, at: Address) -> Result<()> {
        let sizes = self.source.sizes;
        let mut head = global::CollectionHead { sizes, size: 0 };
        let least = global::head_size(sizes) as u64;
        if let Ok(start) = self.source.read("global heap", at, least) {
            peek(&mut head, &start);
        }
        let len = head.size.max(least);
        self.block("global heap collection", at, len, false, |dumper| {
            head.fields(dumper)?;
            while dumper.rest().len() >= global::head_size(sizes) {
                let mut object = global::ObjectHead { sizes, index: 0, references: 0, size: 0 };
                object.fields(dumper)?;
                if object.index == 0 {
                    return raw("free space", dumper);
                }
                dumper.bytes("object data", object.size, &mut Vec::new())?;
                if !dumper.rest().is_empty() {
                    dumper.pad(8)?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Reads a structure without printing it.
    pub(super) fn read_record(
        &mut self,
        record: &mut impl Record,
        what: &str,
        at: Address,
        len: u64,
    ) -> bool {
        let bytes = self.source.read(what, at, len);
        bytes.is_ok_and(|bytes| fields::read(record, what, &bytes).is_ok())
    }
}
