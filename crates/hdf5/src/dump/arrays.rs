//! Fixed and extensible arrays: headers, blocks and pages.

use std::rc::Rc;

use ferrocdf_bytes::{Coder, Dumper, Record, Result};

use super::{StructureWalk, unknown};
use crate::Address;
use crate::chunks::extensible_array::{self as extensible, IndexBlock, SecondaryBlock};
use crate::chunks::fixed_array::{self as fixed, DataBlock, entry_form};
use crate::chunks::stored::{Form, StoredEntry};
use crate::wire::CHECKSUM;

/// Prints so many entries.
fn entries(form: Form, count: u64, dumper: &mut Dumper<'_>) -> Result<()> {
    dumper.list("element", count, &mut vec![], |_: &mut (), dumper| {
        StoredEntry { form, entry: None }.fields(dumper)
    })
}

/// Entries in pages.
struct DumpedPages<'a> {
    what: &'static str,
    form: Form,
    at: Address,
    /// Entries, in a page and in all.
    per_page: u64,
    entries: u64,
    /// A bit for each page, from `first_bit` on.
    written: &'a [u8],
    first_bit: u64,
}

impl StructureWalk<'_> {
    /// Prints a fixed array.
    pub(super) fn fixed_array(&mut self, at: Address) -> Result<()> {
        let sizes = self.source.sizes;
        let mut header = fixed::FixedArrayHeader::unread(sizes);
        let len = fixed::FixedArrayHeader::len(sizes);
        if self.block(fixed::HEADER, at, len, true, |dumper| header.fields(dumper))?.is_none() {
            return Ok(());
        }
        let form = entry_form(header.client, header.width, sizes);
        let (Some(block), Some(form)) = (header.block, form) else { return Ok(()) };
        self.later(block, move |walk| {
            let mut head = DataBlock::new(&header, at, vec![]);
            let is_paged = header.is_paged();
            let elements = if is_paged { 0 } else { header.entries };
            let bytes = elements.saturating_mul(form.width() as u64);
            let len = DataBlock::len(&header).saturating_add(CHECKSUM as u64);
            let whole = walk.block(fixed::DATA, block, len.saturating_add(bytes), true, |dumper| {
                head.fields(dumper)?;
                entries(form, elements, dumper)
            })?;
            if whole.is_none() || !is_paged {
                return Ok(());
            }
            walk.pages(&DumpedPages {
                what: fixed::PAGE,
                form,
                at: Address(block.0.saturating_add(len)),
                per_page: header.per_page(),
                entries: header.entries,
                written: &head.written,
                first_bit: 0,
            })
        });
        Ok(())
    }

    /// Prints the pages that were written.
    fn pages(&mut self, pages: &DumpedPages<'_>) -> Result<()> {
        let width = pages.form.width() as u64;
        let page_bytes = pages.per_page.saturating_mul(width).saturating_add(CHECKSUM as u64);
        let count = pages.entries.div_ceil(pages.per_page);
        // The last page of an array may be shorter than the others; pages that were never written have their space too.
        let entries_bytes = pages.entries.saturating_mul(width);
        self.takes(pages.at, entries_bytes.saturating_add(count.saturating_mul(CHECKSUM as u64)));
        for page in 0..count {
            let bit = pages.first_bit.saturating_add(page);
            // The bitmap was read, and has a bit for each page.
            let Some(byte) = usize::try_from(bit / 8).ok().and_then(|at| pages.written.get(at)) else {
                break;
            };
            if byte & (0x80 >> (bit % 8)) == 0 {
                continue;
            }
            // Each page would be an error of its own.
            if self.left == 0 {
                break;
            }
            let at = Address(pages.at.0.saturating_add(page.saturating_mul(page_bytes)));
            let count = pages.entries.saturating_sub(page.saturating_mul(pages.per_page)).min(pages.per_page);
            let len = count.saturating_mul(width).saturating_add(CHECKSUM as u64);
            self.block(pages.what, at, len, true, |dumper| entries(pages.form, count, dumper))?;
        }
        Ok(())
    }

    /// Prints an extensible array.
    pub(super) fn extensible_array(&mut self, at: Address) -> Result<()> {
        let sizes = self.source.sizes;
        let mut header = extensible::ExtensibleArrayHeader::unread(sizes);
        let len = extensible::ExtensibleArrayHeader::len(sizes);
        if self.block(extensible::HEADER, at, len, true, |dumper| header.fields(dumper))?.is_none() {
            return Ok(());
        }
        let form = entry_form(header.client, header.width, sizes);
        let (Some(index), Some(form)) = (header.index, form) else { return Ok(()) };
        let array = Rc::new(Array { header, at, form });
        self.later(index, move |walk| walk.index_block(array, index));
        Ok(())
    }

    fn index_block(&mut self, array: Rc<Array>, at: Address) -> Result<()> {
        let mut block = IndexBlock::new(&array.header, array.at);
        let len = block.len();
        if self.block(extensible::INDEX, at, len, true, |dumper| block.fields(dumper))?.is_none() {
            return Ok(());
        }
        let count = block.entries.len().checked_div(array.form.width()).unwrap_or(0);
        self.write("    elements of the index block\n")?;
        self.show(extensible::INDEX, at, &block.entries, |d| entries(array.form, count as u64, d))?;
        let (groups, direct) = array.header.groups();
        let blocks = (0..direct).flat_map(|group| {
            (0..extensible::ExtensibleArrayHeader::blocks(group)).map(move |block| (group, block))
        });
        for ((group, number), at) in blocks.zip(&block.data) {
            if let Some(at) = *at {
                let array = array.clone();
                self.later(at, move |walk| walk.data_block(&array, at, group, number, &[]));
            }
        }
        for (group, at) in (direct..groups).zip(block.secondary) {
            if let Some(at) = at {
                let array = array.clone();
                self.later(at, move |walk| walk.secondary_block(array, at, group));
            }
        }
        Ok(())
    }

    fn secondary_block(&mut self, array: Rc<Array>, at: Address, group: u32) -> Result<()> {
        let mut block = SecondaryBlock::new(&array.header, array.at, group);
        let len = block.len(&array.header);
        let what = extensible::SECONDARY;
        if self.block(what, at, len, true, |dumper| block.fields(dumper))?.is_none() {
            return Ok(());
        }
        let written: Rc<[u8]> = block.written.into();
        for (number, at) in (0..).zip(block.data) {
            if let Some(at) = at {
                let (array, written) = (array.clone(), written.clone());
                self.later(at, move |walk| walk.data_block(&array, at, group, number, &written));
            }
        }
        Ok(())
    }

    /// Prints data block `number` of a group.
    fn data_block(
        &mut self,
        array: &Array,
        at: Address,
        group: u32,
        number: u64,
        written: &[u8],
    ) -> Result<()> {
        let Array { header, form, .. } = array;
        let what = extensible::DATA;
        let Some(count) = header.entries_of_block(group) else {
            return self.problem(&unknown(format!("{what} at {at}: it is too large")));
        };
        let is_paged = count > header.per_page();
        let elements = if is_paged { 0 } else { count };
        let bytes = elements.saturating_mul(form.width() as u64);
        let len = header.data_head().saturating_add(bytes);
        let whole = self.block(what, at, len, true, |dumper| {
            header.data_block(array.at, 0).fields(dumper)?;
            entries(*form, elements, dumper)
        })?;
        if whole.is_none() || !is_paged {
            return Ok(());
        }
        let per_page = header.per_page();
        self.pages(&DumpedPages {
            what: extensible::PAGE,
            form: *form,
            at: Address(at.0.saturating_add(len)),
            per_page,
            entries: count,
            written,
            first_bit: number.saturating_mul(header.pages(count)),
        })
    }
}

/// An extensible array whose header was printed.
struct Array {
    header: extensible::ExtensibleArrayHeader,
    at: Address,
    form: Form,
}
