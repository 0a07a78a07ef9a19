//! The encoded form of a block: its header, the bytes that occur in it, its Huffman tables, and its symbols, which are
//! decoded to the last column of the Burrows-Wheeler transform.

use ferrocdf_bytes::{Result, ToUsize};

use super::super::bits::BitReader;
use super::bad_block;
use super::front::MoveToFront;
use super::huffman::{MAX_SYMBOLS, Table};

/// Maximum number of Huffman tables in a block.
const MAX_TABLES: usize = 6;

/// Number of consecutive symbols with the same Huffman table.
const GROUP: usize = 50;

/// Maximum number of groups that a block can need; libbz2 accepts and ignores more groups.
const MAX_GROUPS: usize = 18_002;

/// Symbols of a run length: digits 1 and 2 of a bijective binary number, the least significant first.
const RUN_A: u16 = 0;
const RUN_B: u16 = 1;

/// Maximum number of digits of a run length.
const MAX_DIGITS: u32 = 21;

/// Huffman tables and groups, whose memory is reused for all blocks.
pub struct Codes {
    tables: Vec<Table>,
    /// Table number of each group.
    groups: Vec<u8>,
}

impl Codes {
    pub fn new() -> Codes {
        Codes { tables: (0..MAX_TABLES).map(|_| Table::new()).collect(), groups: Vec::new() }
    }
}

/// Header of a block.
pub struct BlockHeader {
    /// Checksum of the decoded block.
    pub crc: u32,
    /// True if the block is randomised (see `random.rs`).
    pub randomised: bool,
    /// Row of the original block among the sorted rotations (`OrigPtr`); [`read`] checks that it is below the block length.
    pub origin: usize,
}

/// The last column of the Burrows-Wheeler transform of a block.
pub struct Sorted {
    pub header: BlockHeader,
    /// Number of bytes.
    pub len: usize,
    /// Number of occurrences of each byte.
    pub counts: [u32; 256],
}

/// Reads a block after its magic number, and writes its last column to the front of `last`, whose length is the block size.
pub fn read(bits: &mut BitReader, codes: &mut Codes, last: &mut [u8]) -> Result<Sorted> {
    let end = || bad_block("ends within its header");
    let header = BlockHeader {
        crc: bits.read_word(32).ok_or_else(end)? as u32,
        randomised: bits.read_word(1).ok_or_else(end)? == 1,
        origin: bits.read_word(24).ok_or_else(end)?.saturate(),
    };
    let (bytes, used) = read_bytes(bits)?;
    let tables = read_groups(bits, &mut codes.groups)?;
    for table in &mut codes.tables[..tables] {
        table.read(bits, used + 2)?;
    }
    let front = MoveToFront::new(bytes);
    let (len, counts) = read_symbols(bits, codes, used as u16 + 1, front, last)?;
    if header.origin >= len {
        return Err(bad_block(format!("the origin {} is not below the length {len}", header.origin)));
    }
    Ok(Sorted { header, len, counts })
}

/// Reads the bytes that occur in the block, in ascending order, and their number.
fn read_bytes(bits: &mut BitReader) -> Result<([u8; 256], usize)> {
    let end = || bad_block("ends within the set of its bytes");
    let (mut bytes, mut used) = ([0; 256], 0);
    let rows = bits.read_word(16).ok_or_else(end)?;
    for row in (0..16).filter(|row| rows << row & 0x8000 != 0) {
        let columns = bits.read_word(16).ok_or_else(end)?;
        for column in (0..16).filter(|column| columns << column & 0x8000 != 0) {
            bytes[used] = row << 4 | column;
            used += 1;
        }
    }
    if used == 0 {
        return Err(bad_block("has no bytes"));
    }
    Ok((bytes, used))
}

/// Reads the table number of each group (`selectors`) and returns the number of tables.
fn read_groups(bits: &mut BitReader, groups: &mut Vec<u8>) -> Result<usize> {
    let end = || bad_block("ends within its groups");
    let tables = bits.read_word(3).ok_or_else(end)?.saturate();
    if !(2..=MAX_TABLES).contains(&tables) {
        return Err(bad_block(format!("has {tables} Huffman tables (2 to {MAX_TABLES} are valid)")));
    }
    let count = bits.read_word(15).ok_or_else(end)?;
    if count == 0 {
        return Err(bad_block("has no groups"));
    }
    let mut recent = [0, 1, 2, 3, 4, 5];
    groups.clear();
    for _ in 0..count {
        let mut position = 0;
        while bits.read_word(1).ok_or_else(end)? == 1 {
            position += 1;
            if position == tables {
                return Err(bad_block(format!("a group has the table number {position} of {tables} tables")));
            }
        }
        if groups.len() < MAX_GROUPS {
            recent[..=position].rotate_right(1);
            groups.push(recent[0]);
        }
    }
    Ok(tables)
}

/// Reads symbols up to the symbol `end`, and returns the number of bytes and the number of occurrences of each byte.
fn read_symbols(
    bits: &mut BitReader,
    codes: &Codes,
    end: u16,
    mut front: MoveToFront,
    last: &mut [u8],
) -> Result<(usize, [u32; 256])> {
    debug_assert!(usize::from(end) < MAX_SYMBOLS);
    let too_long = || bad_block("is longer than the block size of the stream");
    // A copy, which the compiler keeps in registers.
    let mut next = bits.clone();
    let mut counts = [0; 256];
    let (mut at, mut run, mut digits) = (0, 0usize, 0);
    for &group in &codes.groups {
        let table = &codes.tables[usize::from(group)];
        for _ in 0..GROUP {
            let symbol = table
                .next(&mut next)
                .ok_or_else(|| bad_block("ends within its symbols, or has an invalid code"))?;
            if symbol <= RUN_B {
                if digits == MAX_DIGITS {
                    return Err(bad_block("has a run that is too long"));
                }
                run += usize::from(symbol - RUN_A + 1) << digits;
                digits += 1;
                continue;
            }
            if digits > 0 {
                let byte = front.first();
                last.get_mut(at..at + run).ok_or_else(too_long)?.fill(byte);
                counts[usize::from(byte)] += run as u32;
                at += run;
                (run, digits) = (0, 0);
            }
            if symbol == end {
                *bits = next;
                return Ok((at, counts));
            }
            let byte = front.move_to_front(usize::from(symbol - 1));
            *last.get_mut(at).ok_or_else(too_long)? = byte;
            counts[usize::from(byte)] += 1;
            at += 1;
        }
    }
    Err(bad_block("has more symbols than its groups contain"))
}
