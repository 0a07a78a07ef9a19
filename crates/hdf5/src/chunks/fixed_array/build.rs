//! Whole fixed arrays from their entries.

use ferrocdf_bytes::Result;

use crate::Address;
use crate::block::{Alloc, Block, BlockKind};
use crate::chunks::Entry;
use crate::chunks::build::Form;
use crate::wire::{CHECKSUM, Writer, bad};

/// Makes an array of `count` entries, of which these are set, in the order of their numbers.
pub(in crate::chunks) fn build(
    page_bits: u8,
    count: u64,
    entries: &[(u64, Entry)],
    form: Form,
    alloc: &mut Alloc<'_>,
    blocks: &mut Vec<Block>,
) -> Result<Address> {
    let sizes = form.sizes;
    let at = alloc((8 + sizes.length + sizes.offset + CHECKSUM) as u64)?;
    let per_page = 1u64.checked_shl(page_bits.into()).unwrap_or(u64::MAX);
    let paged = count > per_page;
    let pages = count.div_ceil(per_page);
    let too_many = || bad(format!("fixed array: {count} entries are too many"));
    let bitmap = if paged { usize::try_from(pages.div_ceil(8)).map_err(|_| too_many())? } else { 0 };
    let head = (6 + sizes.offset + bitmap + CHECKSUM) as u64;
    let width = form.width() as u64;
    let sums = if paged { pages.checked_mul(CHECKSUM as u64) } else { Some(0) };
    let size = count.checked_mul(width).and_then(|all| all.checked_add(sums?)?.checked_add(head));
    let block = alloc(size.ok_or_else(too_many)?)?;

    let mut w = Writer::signed("fixed array data block", b"FADB", 0);
    w.u8(form.client());
    w.address(sizes, Some(at));
    if paged {
        let mut written = vec![0; bitmap];
        let by_page = entries.chunk_by(|a, b| a.0 / per_page == b.0 / per_page);
        for entries in by_page {
            let page = entries.first().map_or(0, |entry| entry.0 / per_page);
            written[(page / 8) as usize] |= 0x80 >> (page % 8);
            let (first, end) = (page * per_page, ((page + 1) * per_page).min(count));
            let mut w = Writer::new("fixed array data block page");
            put_all(&mut w, form, first..end, entries);
            let at = Address(block.0 + head + page * (per_page * width + CHECKSUM as u64));
            blocks.push(Block { at, kind: BlockKind::FixedPage, bytes: w.finish_checked()? });
        }
        w.bytes(&written);
    } else {
        put_all(&mut w, form, 0..count, entries);
    }
    blocks.push(Block { at: block, kind: BlockKind::FixedData, bytes: w.finish_checked()? });

    let mut w = Writer::signed("fixed array header", b"FAHD", 0);
    w.u8(form.client());
    w.count(1, form.width());
    w.u8(page_bits);
    w.length(sizes, count);
    w.address(sizes, Some(block));
    blocks.push(Block { at, kind: BlockKind::FixedHeader, bytes: w.finish_checked()? });
    Ok(at)
}

/// Writes the entries of these numbers, of which some are set.
pub(in crate::chunks) fn put_all(
    w: &mut Writer,
    form: Form,
    numbers: std::ops::Range<u64>,
    entries: &[(u64, Entry)],
) {
    let mut entries = entries.iter().peekable();
    for number in numbers {
        form.put(w, entries.next_if(|entry| entry.0 == number).map(|entry| entry.1));
    }
}
