//! Fractal heaps: headers, direct and indirect blocks, and the managers of their free space.

use std::rc::Rc;

use ferrocdf_bytes::{Coder, Record, Result};

use super::{StructureWalk, raw, trees};
use crate::Address;
use crate::heaps::fractal::header::{Filters, FractalHeapHeader, FractalHeapShape, WHAT};
use crate::heaps::fractal::stored::{self, BlockHead, FractalHeapChildPointer};
use crate::heaps::free_space::FreeSpaceManager;
use crate::wire::CHECKSUM;

/// A heap whose header was printed.
struct DumpedHeap {
    header: FractalHeapShape,
    is_filtered: bool,
}

impl StructureWalk<'_> {
    /// Prints a fractal heap.
    pub(super) fn fractal_heap(&mut self, at: Address) -> Result<()> {
        let sizes = self.source.sizes;
        let mut stored = FractalHeapHeader::new(sizes);
        self.read_record(&mut stored, WHAT, at, FractalHeapHeader::len(sizes) as u64);
        let mut filters = Filters { sizes, len: stored.filters_length, root: (0, 0), pipeline: vec![] };
        let whole = self.block(WHAT, at, stored.whole_len(), true, |dumper| {
            stored.fields(dumper)?;
            if filters.len > 0 { filters.fields(dumper) } else { Ok(()) }
        })?;
        if whole.is_none() {
            return Ok(());
        }
        let header = match FractalHeapShape::check(&stored, at, sizes) {
            Ok(header) => header,
            Err(error) => return self.problem(&error.at(format_args!("{WHAT} at {at}"))),
        };
        let heap = Rc::new(DumpedHeap { header, is_filtered: filters.len > 0 });
        if let Some(root) = stored.root_block {
            let (rows, size) = (stored.root_rows, heap.header.starting_block);
            let len = if heap.is_filtered { filters.root.0 } else { size };
            match rows {
                0 => self.later(root, move |walk| walk.direct(&heap, root, 0, len)),
                _ => self.later(root, move |walk| walk.indirect(heap, root, 0, rows)),
            }
        }
        if let Some(index) = stored.huge_index {
            self.later(index, move |walk| walk.tree(index, trees::New::Huge));
        }
        if let Some(manager) = stored.free_space {
            self.later(manager, move |walk| {
                let (what, len) = (FreeSpaceManager::WHAT, FreeSpaceManager::len(sizes));
                let mut header = FreeSpaceManager::unread(sizes);
                walk.block(what, manager, len, true, |dumper| header.fields(dumper))?;
                if let Some(sections) = header.sections {
                    walk.takes(sections, header.allocated);
                }
                Ok(())
            });
        }
        Ok(())
    }

    /// Prints a direct block of `len` stored bytes that begins at an offset in the heap.
    fn direct(&mut self, heap: &DumpedHeap, at: Address, offset: u64, len: u64) -> Result<()> {
        let what = "fractal heap direct block";
        let header = &heap.header;
        let whole = self.block(what, at, len, false, |dumper| {
            if heap.is_filtered {
                return raw("filtered block", dumper);
            }
            BlockHead::new(header, stored::DIRECT, offset).fields(dumper)?;
            if header.direct_checksums {
                dumper.position("checksum", CHECKSUM, &mut 0)?;
            }
            raw("objects", dumper)
        });
        whole.map(drop)
    }

    /// Prints an indirect block that begins at an offset in the heap.
    fn indirect(&mut self, heap: Rc<DumpedHeap>, at: Address, offset: u64, rows: u64) -> Result<()> {
        let sizes = self.source.sizes;
        let DumpedHeap { header, is_filtered } = &*heap;
        let (direct, all) = header.children(rows);
        let len = stored::indirect_len(header, rows, *is_filtered);
        let mut children = vec![];
        self.block("fractal heap indirect block", at, len, true, |dumper| {
            BlockHead::new(header, stored::INDIRECT, offset).fields(dumper)?;
            let mut index = 0;
            dumper.list("child", all, &mut vec![], |_: &mut (), dumper| {
                let filtered = (*is_filtered && index < direct).then_some((0, 0));
                let mut child = FractalHeapChildPointer { sizes, at: None, filtered };
                child.fields(dumper)?;
                children.extend(child.at.map(|at| (index, at, child.filtered)));
                index = index.saturating_add(1);
                Ok(())
            })
        })?;
        for (index, at, filtered) in children {
            let row = header.row_of(index);
            // Blocks in front of this one: whole rows, and those of its own row.
            let Some(size) = header.row_size(row) else { continue };
            let start = header
                .row_start(row)
                .saturating_add(size.saturating_mul(index & header.width.saturating_sub(1)));
            let start = offset.saturating_add(start);
            let heap = heap.clone();
            if index < direct {
                let len = filtered.map_or(size, |(len, _)| len);
                self.later(at, move |walk| walk.direct(&heap, at, start, len));
            } else {
                let rows = header.rows_of(size);
                self.later(at, move |walk| walk.indirect(heap, at, start, rows));
            }
        }
        Ok(())
    }
}
