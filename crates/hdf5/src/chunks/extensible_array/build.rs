//! Whole extensible arrays from their entries.

use ferrocdf_bytes::{Result, ToUsize};

use super::{
    DATA, EntryLocation, ExtensibleArrayHeader, HEADER, INDEX, IndexBlock, PAGE, SECONDARY, SecondaryBlock,
    Statistics,
};
use crate::block::{Alloc, Block, BlockKind};
use crate::chunks::ChunkEntry;
use crate::chunks::fixed_array::put_all;
use crate::chunks::stored::Form;
use crate::wire::{CHECKSUM, Writer, bad};
use crate::{Address, fields};

struct ExtensibleArrayBuilder<'a, 'b> {
    header: ExtensibleArrayHeader,
    at: Address,
    form: Form,
    alloc: &'a mut Alloc<'b>,
    blocks: &'a mut Vec<Block>,
}

/// Makes an array with these entries, in the order of their numbers. The parameters are those of the layout message.
pub(in crate::chunks) fn build(
    parameters: [u8; 5],
    entries: &[(u64, ChunkEntry)],
    form: Form,
    alloc: &mut Alloc<'_>,
    blocks: &mut Vec<Block>,
) -> Result<Address> {
    let sizes = form.sizes;
    let at = alloc(ExtensibleArrayHeader::len(sizes))?;
    let [bits, in_index, pointers, smallest, page_bits] = parameters;
    let width = u8::try_from(form.width()).map_err(|_| bad(format!("{HEADER}: entries of {form:?}")))?;
    let statistics = Statistics {
        entries: in_index.into(),
        end: entries.last().map_or(0, |last| last.0.saturating_add(1)),
        ..Statistics::default()
    };
    let client = form.client();
    let given = ExtensibleArrayHeader::unread(sizes);
    let mut header = ExtensibleArrayHeader {
        client,
        width,
        bits,
        in_index,
        smallest,
        pointers,
        page_bits,
        statistics,
        ..given
    };
    // What is wrong with the parameters shows before anything is computed of them.
    fields::write(&mut header, HEADER)?;
    let mut build = ExtensibleArrayBuilder { header, at, form, alloc, blocks };
    let index = build.index(entries)?;
    let mut header = build.header;
    header.index = Some(index);
    let mut w = Writer::new(HEADER);
    w.record(&mut header);
    blocks.push(Block { at, kind: BlockKind::ExtensibleHeader, bytes: w.finish_checked()? });
    Ok(at)
}

impl ExtensibleArrayBuilder<'_, '_> {
    /// Makes the index block, after all that hangs on it.
    fn index(&mut self, entries: &[(u64, ChunkEntry)]) -> Result<Address> {
        let (groups, direct) = self.header.groups();
        let in_index = u64::from(self.header.in_index);
        let (here, rest) = entries.split_at(entries.partition_point(|entry| entry.0 < in_index));
        let mut data = vec![None; 2 * (usize::from(self.header.pointers) - 1)];
        let mut secondary = vec![None; groups.saturating_sub(direct) as usize];
        let mut rest = rest;
        while let Some(&(number, _)) = rest.first() {
            let too_many = || bad(format!("extensible array: entry {number} is more than it can have"));
            let spot = self.header.spot(number).ok_or_else(too_many)?;
            let end = match spot.group < direct {
                true => spot.first.saturating_add(spot.entries),
                false => self.header.groups_end(spot.group),
            };
            let part;
            (part, rest) = rest.split_at(rest.partition_point(|entry| entry.0 < end));
            if spot.group < direct {
                if spot.entries > self.header.per_page() {
                    return Err(bad("extensible array: blocks with pages on the index block"));
                }
                // The groups before have together as many blocks as this.
                let before: u64 = (0..spot.group).map(ExtensibleArrayHeader::blocks).sum();
                data[(before + spot.block).saturate()] = Some(self.data(&spot, part, &mut [])?);
            } else {
                secondary[(spot.group - direct) as usize] = Some(self.secondary(&spot, part)?);
            }
        }
        let mut w = Writer::new(INDEX);
        put_all(&mut w, self.form, 0..in_index, here);
        let entries = w.finish()?;
        let mut w = Writer::new(INDEX);
        w.record(&mut IndexBlock { entries, data, secondary, ..IndexBlock::new(&self.header, self.at) });
        self.add(BlockKind::ExtensibleIndex, w)
    }

    /// The offset of a block whose first entry has this number: those in the index block do not count.
    fn offset(&self, first: u64) -> u64 {
        first - u64::from(self.header.in_index)
    }

    /// Takes a place for a block, and adds it.
    fn add(&mut self, kind: BlockKind, w: Writer) -> Result<Address> {
        let bytes = w.finish_checked()?;
        let at = (self.alloc)(bytes.len() as u64)?;
        self.blocks.push(Block { at, kind, bytes });
        Ok(at)
    }

    /// Makes the secondary block of a group, of which `spot` is the first entry that is set, and its data blocks.
    fn secondary(&mut self, spot: &EntryLocation, entries: &[(u64, ChunkEntry)]) -> Result<Address> {
        let blocks = ExtensibleArrayHeader::blocks(spot.group);
        let pages =
            if spot.entries > self.header.per_page() { spot.entries / self.header.per_page() } else { 0 };
        let mut written = vec![0; (blocks * pages.div_ceil(8)).to_usize("bytes of a page bitmap")?];
        let mut data = vec![None; blocks.to_usize("data block addresses")?];
        let before = spot.first - spot.block * spot.entries;
        for part in entries.chunk_by(|a, b| (a.0 - before) / spot.entries == (b.0 - before) / spot.entries) {
            let Some(spot) = part.first().and_then(|entry| self.header.spot(entry.0)) else { continue };
            data[spot.block.saturate()] = Some(self.data(&spot, part, &mut written)?);
        }
        let offset = self.offset(before);
        let mut block = SecondaryBlock::new(&self.header, self.at, spot.group);
        block.head.offset = offset;
        (block.written, block.data) = (written, data);
        let mut w = Writer::new(SECONDARY);
        w.record(&mut block);
        let statistics = &mut self.header.statistics;
        statistics.secondary += 1;
        statistics.secondary_bytes += (w.position() + CHECKSUM) as u64;
        self.add(BlockKind::ExtensibleSecondary, w)
    }

    /// Makes a data block; marks its written pages if it has pages.
    fn data(
        &mut self,
        spot: &EntryLocation,
        entries: &[(u64, ChunkEntry)],
        written: &mut [u8],
    ) -> Result<Address> {
        let mut w = Writer::new(DATA);
        w.record(&mut self.header.data_block(self.at, self.offset(spot.first)));
        let (width, per_page) = (self.form.width() as u64, self.header.per_page());
        let at = if spot.entries <= per_page {
            put_all(&mut w, self.form, spot.first..spot.first + spot.entries, entries);
            self.header.statistics.data_bytes += (w.position() + CHECKSUM) as u64;
            self.add(BlockKind::ExtensibleData, w)?
        } else {
            let page_bytes = per_page * width + CHECKSUM as u64;
            let pages = spot.entries / per_page;
            let bytes = w.finish_checked()?;
            let (head, size) = (bytes.len() as u64, bytes.len() as u64 + pages * page_bytes);
            self.header.statistics.data_bytes += size;
            let at = (self.alloc)(size)?;
            self.blocks.push(Block { at, kind: BlockKind::ExtensibleData, bytes });
            let page_of = |entry: &(u64, ChunkEntry)| (entry.0 - spot.first) / per_page;
            for part in entries.chunk_by(|a, b| page_of(a) == page_of(b)) {
                let page = part.first().map_or(0, page_of);
                let bit = spot.block * pages + page;
                written[(bit / 8) as usize] |= 0x80 >> (bit % 8);
                let first = spot.first + page * per_page;
                let mut w = Writer::new(PAGE);
                put_all(&mut w, self.form, first..first + per_page, part);
                let at = Address(at.0 + head + page * page_bytes);
                self.blocks.push(Block { at, kind: BlockKind::ExtensiblePage, bytes: w.finish_checked()? });
            }
            at
        };
        self.header.statistics.data += 1;
        self.header.statistics.entries += spot.entries;
        Ok(at)
    }
}
