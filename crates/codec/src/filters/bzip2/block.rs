//! A block as it is encoded: its head, which symbols it has and how they are coded, and its symbols, of which come the bytes
//! in the order that sorting left them in.

use ferrocdf_bytes::Result;

use super::super::bits::Bits;
use super::broken;
use super::front::Front;
use super::huffman::{MOST_SYMBOLS, Table};

/// Sets of codes in a block.
const MOST_TABLES: usize = 6;

/// Symbols with one set of codes.
const GROUP: usize = 50;

/// The most groups that a block can need; libbz2 takes more, and does not use them.
const MOST_GROUPS: usize = 18_002;

/// The digits of a run, least first: 1 and 2 times a power of two.
const RUN_A: u16 = 0;
const RUN_B: u16 = 1;

/// A run has at most 21 digits.
const MOST_DIGITS: u32 = 21;

/// What is kept from block to block.
pub struct Codes {
    tables: Vec<Table>,
    groups: Vec<u8>,
}

impl Codes {
    pub fn new() -> Codes {
        Codes { tables: (0..MOST_TABLES).map(|_| Table::new()).collect(), groups: Vec::new() }
    }
}

/// What the head of a block says.
pub struct Head {
    pub crc: u32,
    pub randomised: bool,
    /// The place of the block's first byte in the sorted order; below the count of bytes once these are read.
    pub origin: usize,
}

/// The bytes of a block in sorted order.
pub struct Sorted {
    pub head: Head,
    pub len: usize,
    pub counts: [u32; 256],
}

/// Reads a block behind the six bytes that say that it is one, into the front of `last`, which has room for all that the
/// block may have.
pub fn read(bits: &mut Bits, codes: &mut Codes, last: &mut [u8]) -> Result<Sorted> {
    let end = || broken("ends in its head");
    let head = Head {
        crc: bits.read_word(32).ok_or_else(end)? as u32,
        randomised: bits.read_word(1).ok_or_else(end)? == 1,
        origin: bits.read_word(24).ok_or_else(end)? as usize,
    };
    let (bytes, used) = read_bytes(bits)?;
    let tables = read_groups(bits, &mut codes.groups)?;
    for table in &mut codes.tables[..tables] {
        table.read(bits, used + 2)?;
    }
    let front = Front::new(bytes);
    let (len, counts) = read_symbols(bits, codes, used as u16 + 1, front, last)?;
    if head.origin >= len {
        return Err(broken(format!("begins at {} of {len} bytes", head.origin)));
    }
    Ok(Sorted { head, len, counts })
}

/// The bytes that the block has, in order, and their count.
fn read_bytes(bits: &mut Bits) -> Result<([u8; 256], usize)> {
    let end = || broken("ends in the list of its bytes");
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
        return Err(broken("has no bytes"));
    }
    Ok((bytes, used))
}

/// Which table each group has, and the number of tables.
fn read_groups(bits: &mut Bits, groups: &mut Vec<u8>) -> Result<usize> {
    let end = || broken("ends in its groups");
    let tables = bits.read_word(3).ok_or_else(end)? as usize;
    if !(2..=MOST_TABLES).contains(&tables) {
        return Err(broken(format!("has {tables} sets of codes")));
    }
    let count = bits.read_word(15).ok_or_else(end)?;
    if count == 0 {
        return Err(broken("has no groups"));
    }
    let mut recent = [0, 1, 2, 3, 4, 5];
    groups.clear();
    for _ in 0..count {
        let mut place = 0;
        while bits.read_word(1).ok_or_else(end)? == 1 {
            place += 1;
            if place == tables {
                return Err(broken(format!("has a group with set {place} of {tables}")));
            }
        }
        if groups.len() < MOST_GROUPS {
            recent[..=place].rotate_right(1);
            groups.push(recent[0]);
        }
    }
    Ok(tables)
}

/// Reads symbols up to `end`; gives the count of bytes and how often each is there.
fn read_symbols(
    bits: &mut Bits,
    codes: &Codes,
    end: u16,
    mut front: Front,
    last: &mut [u8],
) -> Result<(usize, [u32; 256])> {
    debug_assert!(usize::from(end) < MOST_SYMBOLS);
    let too_long = || broken("is longer than the stream says");
    // A copy, so that it is not in memory.
    let mut next = bits.clone();
    let mut counts = [0; 256];
    let (mut at, mut run, mut digits) = (0, 0usize, 0);
    for &group in &codes.groups {
        let table = &codes.tables[usize::from(group)];
        for _ in 0..GROUP {
            let symbol = table.next(&mut next).ok_or_else(|| broken("ends early, or has bits of no code"))?;
            if symbol <= RUN_B {
                if digits == MOST_DIGITS {
                    return Err(broken("has a run that is too long"));
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
            let byte = front.take(usize::from(symbol - 1));
            *last.get_mut(at).ok_or_else(too_long)? = byte;
            counts[usize::from(byte)] += 1;
            at += 1;
        }
    }
    Err(broken("has more symbols than its groups"))
}
