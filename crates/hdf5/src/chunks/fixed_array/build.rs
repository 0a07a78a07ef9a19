//! Whole fixed arrays from their entries.

use ferrocdf_bytes::Result;

use super::{DATA, DataBlock, FixedArrayHeader, HEADER, PAGE};
use crate::Address;
use crate::block::{Alloc, Block, BlockKind};
use crate::chunks::ChunkEntry;
use crate::chunks::stored::{Form, StoredEntry};
use crate::wire::{CHECKSUM, Writer, bad};

/// Makes an array of `count` entries, of which these are set, in the order of their numbers.
pub(in crate::chunks) fn build(
    page_bits: u8,
    count: u64,
    entries: &[(u64, ChunkEntry)],
    form: Form,
    alloc: &mut Alloc<'_>,
    blocks: &mut Vec<Block>,
) -> Result<Address> {
    let sizes = form.sizes;
    let at = alloc(FixedArrayHeader::len(sizes))?;
    let width = form.width();
    let too_wide = |_| bad(format!("{HEADER}: entries of {width} bytes"));
    let mut header = FixedArrayHeader {
        sizes,
        client: form.client(),
        width: u8::try_from(width).map_err(too_wide)?,
        page_bits,
        entries: count,
        block: None,
    };
    let (per_page, paged, width) = (header.per_page(), header.is_paged(), width as u64);
    let pages = count.div_ceil(per_page);
    let too_many = || bad(format!("{HEADER}: {count} entries are too many"));
    let bitmap = usize::try_from(header.bitmap()).map_err(|_| too_many())?;
    let head = DataBlock::len(&header).saturating_add(CHECKSUM as u64);
    let sums = if paged { pages.checked_mul(CHECKSUM as u64) } else { Some(0) };
    let size = count.checked_mul(width).and_then(|all| all.checked_add(sums?)?.checked_add(head));
    let block = alloc(size.ok_or_else(too_many)?)?;
    header.block = Some(block);

    let mut w = Writer::new(DATA);
    if paged {
        let mut written = vec![0; bitmap];
        let by_page = entries.chunk_by(|a, b| a.0 / per_page == b.0 / per_page);
        for entries in by_page {
            let page = entries.first().map_or(0, |entry| entry.0 / per_page);
            written[(page / 8) as usize] |= 0x80 >> (page % 8);
            let (first, end) = (page * per_page, ((page + 1) * per_page).min(count));
            let mut w = Writer::new(PAGE);
            put_all(&mut w, form, first..end, entries);
            let at = Address(block.0 + head + page * (per_page * width + CHECKSUM as u64));
            blocks.push(Block { at, kind: BlockKind::FixedPage, bytes: w.finish_checked()? });
        }
        w.record(&mut DataBlock::new(&header, at, written));
    } else {
        w.record(&mut DataBlock::new(&header, at, vec![]));
        put_all(&mut w, form, 0..count, entries);
    }
    blocks.push(Block { at: block, kind: BlockKind::FixedData, bytes: w.finish_checked()? });

    let mut w = Writer::new(HEADER);
    w.record(&mut header);
    blocks.push(Block { at, kind: BlockKind::FixedHeader, bytes: w.finish_checked()? });
    Ok(at)
}

/// Writes the entries of these numbers, of which some are set.
pub(in crate::chunks) fn put_all(
    w: &mut Writer,
    form: Form,
    numbers: std::ops::Range<u64>,
    entries: &[(u64, ChunkEntry)],
) {
    let mut entries = entries.iter().peekable();
    for number in numbers {
        let entry = entries.next_if(|entry| entry.0 == number).map(|entry| entry.1);
        w.record(&mut StoredEntry { form, entry });
    }
}
