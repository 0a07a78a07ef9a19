//! Runs of small numbers ("RLE/Bit-Packing Hybrid"): definition levels, and indexes of a dictionary.

use ferrocdf_bytes::Result;

use super::damaged;
use super::thrift::{put_varint, varint};

/// Decodes the first `count` numbers of `width` bits, up to 32.
///
/// # Errors
/// `NC_EZARRMETA` for runs that end before.
pub(super) fn decode(mut text: &[u8], width: u32, count: usize) -> Result<Vec<u32>> {
    let too_short = || damaged(format!("runs of {width} bits end before value {count}"));
    let mut all = vec![];
    while all.len() < count {
        let head = varint(&mut text).ok_or_else(too_short)?;
        let left = count - all.len();
        let run = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if head & 1 == 0 {
            let len = width.div_ceil(8) as usize;
            let (value, rest) = text.split_at_checked(len).ok_or_else(too_short)?;
            let mut bytes = [0; 4];
            bytes.get_mut(..len).ok_or_else(too_short)?.copy_from_slice(value);
            all.resize(all.len() + run.min(left), u32::from_le_bytes(bytes));
            text = rest;
            continue;
        }
        // Groups of 8 numbers. Some writers cut what the last group has too much.
        let bytes = run.saturating_mul(width as usize).min(text.len());
        let (packed, rest) = text.split_at(bytes);
        let values = run.saturating_mul(8).min(left);
        if (packed.len() as u64) * 8 < values as u64 * u64::from(width) {
            return Err(too_short());
        }
        unpack(packed, width, values, &mut all);
        text = rest;
    }
    Ok(all)
}

/// Adds the first `count` numbers of `width` bits, lowest bits first.
fn unpack(packed: &[u8], width: u32, count: usize, into: &mut Vec<u32>) {
    let mask = (1u64 << width) - 1;
    let (mut bits, mut held, mut bytes) = (0u64, 0, packed.iter());
    for _ in 0..count {
        while held < width {
            bits |= u64::from(bytes.next().copied().unwrap_or(0)) << held;
            held += 8;
        }
        // Of at most 32 bits.
        into.push((bits & mask) as u32);
        bits >>= width;
        held -= width;
    }
}

/// Returns the numbers as one run of groups of 8, or as one repeated number.
pub(super) fn encode(numbers: &[u32], width: u32) -> Vec<u8> {
    let mut text = vec![];
    if let Some((&first, rest)) = numbers.split_first()
        && rest.iter().all(|&number| number == first)
    {
        put_varint(&mut text, (numbers.len() as u64) << 1);
        text.extend(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        return text;
    }
    let groups = numbers.len().div_ceil(8);
    put_varint(&mut text, (groups as u64) << 1 | 1);
    let (mut bits, mut held) = (0u64, 0);
    let padding = std::iter::repeat_n(&0, groups * 8 - numbers.len());
    for &number in numbers.iter().chain(padding) {
        bits |= u64::from(number) << held;
        held += width;
        while held >= 8 {
            text.push(bits.to_le_bytes()[0]);
            bits >>= 8;
            held -= 8;
        }
    }
    text
}

/// Returns the number of bits that numbers up to `max` need.
pub(super) fn width(max: usize) -> u32 {
    usize::BITS - max.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_each_width_are_decoded_as_they_were_encoded() {
        for width in 0..=32 {
            let max = ((1u64 << width) - 1) as u32;
            for count in [0usize, 1, 7, 8, 9, 100] {
                let mixed: Vec<u32> =
                    (0..count as u32).map(|number| number.wrapping_mul(2654435761) & max).collect();
                for numbers in [mixed, vec![max; count]] {
                    let text = encode(&numbers, width);
                    assert_eq!(decode(&text, width, count).unwrap(), numbers, "{width} {count}");
                    if width > 0 && count > 0 {
                        assert!(decode(&text[..text.len() - 1], width, count.next_multiple_of(8)).is_err());
                    }
                }
            }
        }
    }

    #[test]
    fn run_takes_the_memory_of_the_wanted_numbers_alone() {
        // Example of the specification, and 2^62 times the number 5.
        assert_eq!(decode(&[3, 0x88, 0xc6, 0xfa], 3, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        let text = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 5];
        assert_eq!(decode(&text, 3, 4).unwrap(), [5; 4]);
        assert!(decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 5], 3, 9).is_err());
    }
}
