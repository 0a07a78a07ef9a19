//! Arrays with pages, which files of the reference have only beyond 131,000 chunks: made here with small parameters.

use ferrocdf_bytes::lookup3;
use ferrocdf_store::MemoryBlob;

use super::*;
use crate::chunks::ChunkEntry;

const SIZES: Sizes = Sizes { offset: 8, length: 8 };
const NOWHERE: [u8; 8] = [255; 8];

/// Parameters: bits, entries in the index block, smallest data block, pointers, bits of a page.
const PARAMETERS: [u8; 5] = [12, 3, 2, 2, 3];

/// What is stored for a number; some pages are unwritten, and one group is not there at all.
fn stored(number: u64) -> Option<u64> {
    (number % 5 != 2 && number / 8 % 4 != 3 && !(130..260).contains(&number)).then_some(100_000 + number)
}

fn entry(number: u64) -> [u8; 8] {
    stored(number).map_or(NOWHERE, u64::to_le_bytes)
}

struct TestWriter(Vec<u8>);

impl TestWriter {
    /// Adds bytes with their checksum, and gives their address.
    fn add(&mut self, bytes: &[u8]) -> u64 {
        let at = self.0.len() as u64;
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(&lookup3(bytes, 0).to_le_bytes());
        at
    }

    fn add_block(&mut self, name: &[u8; 4], body: &[u8]) -> u64 {
        let head = [&name[..], &[0, 0], &0u64.to_le_bytes()].concat();
        self.add(&[&head, body].concat())
    }
}

/// An array whose header is at address 0.
fn file() -> Vec<u8> {
    let [bits, in_index, smallest, pointers, page_bits] = PARAMETERS;
    let header_size = 12 + 6 * 8 + 8 + 4;
    let mut out = TestWriter(vec![0; header_size]);
    let mut next = u64::from(in_index);
    let (mut data, mut secondary) = (Vec::new(), Vec::new());
    // Groups as the specification tells them: every second one has twice the blocks, the others twice the entries.
    let (mut blocks, mut entries) = (1u64, u64::from(smallest));
    for group in 0..=bits - 1 {
        let paged = entries > 1 << page_bits;
        let (mut addresses, mut written) = (Vec::new(), Vec::new());
        let direct = data.len() < 2 * (usize::from(pointers) - 1);
        let first = next;
        for _ in 0..blocks {
            let numbers = next..next + entries;
            next += entries;
            let offset = [&(numbers.start - u64::from(in_index)).to_le_bytes()[..2]].concat();
            let list = |numbers: std::ops::Range<u64>| numbers.flat_map(entry).collect::<Vec<u8>>();
            if numbers.clone().all(|number| stored(number).is_none()) {
                addresses.extend(NOWHERE);
                written.extend(vec![false; if paged { entries as usize >> page_bits } else { 0 }]);
            } else if paged {
                let at = out.add_block(b"EADB", &offset);
                addresses.extend(at.to_le_bytes());
                for page in 0..entries >> page_bits {
                    let numbers =
                        numbers.start + (page << page_bits)..numbers.start + ((page + 1) << page_bits);
                    let any = numbers.clone().any(|number| stored(number).is_some());
                    written.push(any);
                    match any {
                        true => drop(out.add(&list(numbers))),
                        // What is there does not matter, nor that its checksum is wrong.
                        false => out.0.extend(vec![7; (8 << page_bits) + 4]),
                    }
                }
            } else {
                let at = out.add_block(b"EADB", &[&offset[..], &list(numbers)].concat());
                addresses.extend(at.to_le_bytes());
            }
        }
        if direct {
            data.extend(addresses.chunks(8).map(<[u8]>::to_vec));
        } else if addresses.chunks(8).all(|at| at == NOWHERE) {
            secondary.extend(NOWHERE);
        } else {
            let mut bitmap = vec![0u8; blocks as usize * (entries as usize >> page_bits).div_ceil(8)];
            written
                .iter()
                .enumerate()
                .filter(|page| *page.1)
                .for_each(|(n, _)| bitmap[n / 8] |= 0x80 >> (n % 8));
            bitmap.truncate(if paged { bitmap.len() } else { 0 });
            let offset = &(first - u64::from(in_index)).to_le_bytes()[..2];
            let at = out.add_block(b"EASB", &[offset, &bitmap, &addresses].concat());
            secondary.extend(at.to_le_bytes());
        }
        match group % 2 {
            0 => entries *= 2,
            _ => blocks *= 2,
        }
    }
    let entries = (0..u64::from(in_index)).flat_map(entry).collect::<Vec<u8>>();
    let index = out.add_block(b"EAIB", &[&entries[..], &data.concat(), &secondary].concat());
    let parameters = [8, bits, in_index, smallest, pointers, page_bits];
    let header = [b"EAHD\0\0", &parameters[..], &[0; 48], &index.to_le_bytes()].concat();
    out.0[..header_size - 4].copy_from_slice(&header);
    let sum = lookup3(&header, 0).to_le_bytes();
    out.0[header_size - 4..header_size].copy_from_slice(&sum);
    out.0
}

fn source(bytes: Vec<u8>) -> Source {
    Source { blob: Arc::new(MemoryBlob::new(bytes)), base: 0, sizes: SIZES, codecs: Default::default() }
}

fn find(array: &ExtensibleArray, source: &Source, number: u64) -> Result<Option<u64>> {
    let leaf = array.leaf(source, number)?;
    assert!(leaf.first <= number && number < leaf.end, "{number}: {leaf:?}");
    let found: Option<ChunkEntry> = leaf.entry(number, SIZES).unwrap();
    Ok(found.map(|entry| entry.at.0))
}

#[test]
fn every_entry_is_found_in_any_order() {
    let source = source(file());
    let array = ExtensibleArray::new(Address(0));
    let last = 3 + ((1 << 12) - 1) * 2;
    for step in [1, 997] {
        for n in 0..last {
            let number = n * step % last;
            assert_eq!(find(&array, &source, number).unwrap(), stored(number), "{number}");
        }
    }
    assert_eq!(find(&array, &source, last).unwrap(), None);
    assert_eq!(find(&array, &source, u64::MAX - 1).unwrap(), None);
}

#[test]
fn damage_is_found() {
    let whole = file();
    for at in (0..whole.len()).step_by(41) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let source = source(bytes);
        let array = ExtensibleArray::new(Address(0));
        let all: Vec<_> = (0..3000).map(|number| (number, find(&array, &source, number))).collect();
        // What is given in spite of it is right.
        for (number, found) in all {
            assert!(found.is_err() || found == Ok(stored(number)), "byte {at}, {number}");
        }
    }
}
