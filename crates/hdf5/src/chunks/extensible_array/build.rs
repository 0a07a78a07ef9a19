//! Whole extensible arrays from their entries.

use ferrocdf_bytes::Result;

use super::{Header, Spot};
use crate::Address;
use crate::block::{Alloc, Block, BlockKind};
use crate::chunks::Entry;
use crate::chunks::build::Form;
use crate::chunks::fixed_array::put_all;
use crate::wire::{CHECKSUM, Writer, bad};

/// What the header counts.
#[derive(Default)]
struct Statistics {
    secondary: u64,
    secondary_bytes: u64,
    data: u64,
    data_bytes: u64,
    entries: u64,
}

struct Build<'a, 'b> {
    header: Header,
    at: Address,
    form: Form,
    statistics: Statistics,
    alloc: &'a mut Alloc<'b>,
    blocks: &'a mut Vec<Block>,
}

/// Makes an array with these entries, in the order of their numbers. The parameters are those of the layout message.
pub(in crate::chunks) fn build(
    parameters: [u8; 5],
    entries: &[(u64, Entry)],
    form: Form,
    alloc: &mut Alloc<'_>,
    blocks: &mut Vec<Block>,
) -> Result<Address> {
    let sizes = form.sizes;
    let at = alloc((12 + 6 * sizes.length + sizes.offset + CHECKSUM) as u64)?;
    let [bits, in_index, pointers, smallest, page_bits] = parameters;
    let mut w = Writer::signed("extensible array header", b"EAHD", 0);
    w.u8(form.client());
    w.count(1, form.width());
    // Here they come in another order.
    w.bytes(&[bits, in_index, smallest, pointers, page_bits]);
    // The header as a reader sees it, before the statistics are known.
    let mut early = w.clone();
    early.zeros(6 * sizes.length);
    early.address(sizes, None);
    let header = Header::decode(&early.finish()?, sizes)?;

    let statistics = Statistics { entries: header.in_index, ..Statistics::default() };
    let mut build = Build { header, at, form, statistics, alloc, blocks };
    let index = build.index(entries)?;
    let Statistics { secondary, secondary_bytes, data, data_bytes, entries: made } = build.statistics;
    let end = entries.last().map_or(0, |last| last.0.saturating_add(1));
    for number in [secondary, secondary_bytes, data, data_bytes, end, made] {
        w.length(sizes, number);
    }
    w.address(sizes, Some(index));
    blocks.push(Block { at, kind: BlockKind::ExtensibleHeader, bytes: w.finish_checked()? });
    Ok(at)
}

impl Build<'_, '_> {
    /// Makes the index block, after all that hangs on it.
    fn index(&mut self, entries: &[(u64, Entry)]) -> Result<Address> {
        let (groups, direct) = self.header.groups();
        let (here, rest) = entries.split_at(entries.partition_point(|entry| entry.0 < self.header.in_index));
        let mut data = vec![None; 2 * (self.header.pointers as usize - 1)];
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
                if spot.entries > self.header.per_page {
                    return Err(bad("extensible array: blocks with pages on the index block"));
                }
                // The groups before have together as many blocks as this.
                let before: u64 = (0..spot.group).map(Header::blocks).sum();
                data[(before + spot.block) as usize] = Some(self.data(&spot, part, &mut [])?);
            } else {
                secondary[(spot.group - direct) as usize] = Some(self.secondary(&spot, part)?);
            }
        }
        let mut w = Writer::signed("extensible array index block", b"EAIB", 0);
        w.u8(self.form.client());
        w.address(self.form.sizes, Some(self.at));
        put_all(&mut w, self.form, 0..self.header.in_index, here);
        for at in data.into_iter().chain(secondary) {
            w.address(self.form.sizes, at);
        }
        self.add(BlockKind::ExtensibleIndex, w)
    }

    /// What secondary and data blocks begin with; `first` is the number of their first entry.
    fn head(&self, what: &'static str, signature: &[u8; 4], first: u64) -> Writer {
        let mut w = Writer::signed(what, signature, 0);
        w.u8(self.form.client());
        w.address(self.form.sizes, Some(self.at));
        // Counted without those in the index block.
        w.uint(self.header.bits.div_ceil(8) as usize, first - self.header.in_index);
        w
    }

    /// Takes a place for a block, and adds it.
    fn add(&mut self, kind: BlockKind, w: Writer) -> Result<Address> {
        let bytes = w.finish_checked()?;
        let at = (self.alloc)(bytes.len() as u64)?;
        self.blocks.push(Block { at, kind, bytes });
        Ok(at)
    }

    /// Makes the secondary block of a group, of which `spot` is the first entry that is set, and its data blocks.
    fn secondary(&mut self, spot: &Spot, entries: &[(u64, Entry)]) -> Result<Address> {
        let blocks = Header::blocks(spot.group);
        let pages = if spot.entries > self.header.per_page { spot.entries / self.header.per_page } else { 0 };
        let mut written = vec![0; (blocks * pages.div_ceil(8)) as usize];
        let mut data = vec![None; blocks as usize];
        let before = spot.first - spot.block * spot.entries;
        for part in entries.chunk_by(|a, b| (a.0 - before) / spot.entries == (b.0 - before) / spot.entries) {
            let Some(spot) = part.first().and_then(|entry| self.header.spot(entry.0)) else { continue };
            data[spot.block as usize] = Some(self.data(&spot, part, &mut written)?);
        }
        let mut w = self.head("extensible array secondary block", b"EASB", before);
        w.bytes(&written);
        data.into_iter().for_each(|at| w.address(self.form.sizes, at));
        self.statistics.secondary += 1;
        self.statistics.secondary_bytes += (w.position() + CHECKSUM) as u64;
        self.add(BlockKind::ExtensibleSecondary, w)
    }

    /// Makes a data block; marks its written pages if it has pages.
    fn data(&mut self, spot: &Spot, entries: &[(u64, Entry)], written: &mut [u8]) -> Result<Address> {
        let mut w = self.head("extensible array data block", b"EADB", spot.first);
        let (width, per_page) = (self.form.width() as u64, self.header.per_page);
        let at = if spot.entries <= per_page {
            put_all(&mut w, self.form, spot.first..spot.first + spot.entries, entries);
            self.statistics.data_bytes += (w.position() + CHECKSUM) as u64;
            self.add(BlockKind::ExtensibleData, w)?
        } else {
            let page_bytes = per_page * width + CHECKSUM as u64;
            let pages = spot.entries / per_page;
            let bytes = w.finish_checked()?;
            let (head, size) = (bytes.len() as u64, bytes.len() as u64 + pages * page_bytes);
            self.statistics.data_bytes += size;
            let at = (self.alloc)(size)?;
            self.blocks.push(Block { at, kind: BlockKind::ExtensibleData, bytes });
            let page_of = |entry: &(u64, Entry)| (entry.0 - spot.first) / per_page;
            for part in entries.chunk_by(|a, b| page_of(a) == page_of(b)) {
                let page = part.first().map_or(0, page_of);
                let bit = spot.block * pages + page;
                written[(bit / 8) as usize] |= 0x80 >> (bit % 8);
                let first = spot.first + page * per_page;
                let mut w = Writer::new("extensible array data block page");
                put_all(&mut w, self.form, first..first + per_page, part);
                let at = Address(at.0 + head + page * page_bytes);
                self.blocks.push(Block { at, kind: BlockKind::ExtensiblePage, bytes: w.finish_checked()? });
            }
            at
        };
        self.statistics.data += 1;
        self.statistics.entries += spot.entries;
        Ok(at)
    }
}
