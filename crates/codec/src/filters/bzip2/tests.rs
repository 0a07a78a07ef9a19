//! Comparison with libbz2, on valid, truncated and damaged streams, and on streams that libbz2 reads but does not write.

use bzip2::Decompress;

use super::super::bits::BitWriter;
use super::*;

/// Decodes with libbz2.
fn libbz2(encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>, ()> {
    let mut stream = Decompress::new(false);
    // Libbz2 reports the end of a stream only if there is space for another byte.
    let mut excess = [0];
    loop {
        let (read, written) = (stream.total_in() as usize, stream.total_out() as usize);
        let space = match &mut decoded[written..] {
            [] => &mut excess,
            space => space,
        };
        let status = stream.decompress(&encoded[read..], space).map_err(|_| ())?;
        let (now_read, now_written) = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            _ if now_written > decoded.len() => return Ok(None),
            Status::StreamEnd => return Ok(Some(now_written)),
            _ if (now_read, now_written) != (read, written) => {}
            _ => return Err(()),
        }
    }
}

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Returns data of random bytes, runs, repeated patterns and slopes, one after the other.
fn data(random: &mut Random, len: usize) -> Vec<u8> {
    let mut decoded = Vec::new();
    let kind = random.below(7);
    while decoded.len() < len {
        let longest = [10, 300, 5000, 100_000][random.below(4)];
        let part = 1 + random.below(longest);
        let kind = if kind == 6 { random.below(6) } else { kind };
        match kind {
            0 => decoded.extend((0..part).map(|_| random.below(256) as u8)),
            1 => decoded.extend((0..part).map(|_| b'a' + random.below(3) as u8)),
            2 => {
                let byte = random.below(4) as u8;
                decoded.extend((0..part).map(|_| byte));
            }
            3 => decoded.extend((0..part).map(|at| (at / 3) as u8)),
            4 => {
                let period = 1 + random.below(40);
                let pattern: Vec<u8> = (0..period).map(|_| random.below(256) as u8).collect();
                decoded.extend(pattern.iter().cycle().take(part));
            }
            _ => decoded.extend((0..part).map(|_| (random.below(16) * random.below(16)) as u8)),
        }
    }
    decoded.truncate(len);
    decoded
}

fn encode(decoded: &[u8], level: u32) -> Vec<u8> {
    let mut encoded = Vec::new();
    assert_eq!(Bzip2 { level }.encode(decoded, &mut encoded), Ok(Some(())));
    encoded
}

/// Asserts that both decoders give the same result for `space` bytes of output, and returns true if the stream is valid.
fn compare(encoded: &[u8], space: usize, case: &str) -> bool {
    let (mut ours, mut theirs) = (vec![0x55; space + 1], vec![0x55; space]);
    let mut actual = Bzip2 { level: 9 }.decode(encoded, &mut ours[..space]);
    let expected = libbz2(encoded, &mut theirs);
    if (&actual, expected) == (&Ok(None), Err(())) {
        // Libbz2 has space for one byte more, and may find an error after it.
        actual = Bzip2 { level: 9 }.decode(encoded, &mut ours);
    }
    assert_eq!(actual.as_ref().map_err(|_| ()), expected.as_ref().map_err(|_| ()), "{case}: {actual:?}");
    if let Ok(Some(len)) = actual {
        assert!(ours[..len] == theirs[..len], "{case}: different bytes");
        return true;
    }
    false
}

#[test]
fn valid_streams_decode_as_in_libbz2() {
    let mut random = Random(1);
    for round in 0..70 {
        let len = random.below([5, 100, 3000, 60_000, 400_000][round % 5]);
        let (decoded, level) = (data(&mut random, len), 1 + random.below(9) as u32);
        let mut encoded = encode(&decoded, level);
        if random.below(3) == 0 {
            encoded.extend_from_slice(b"BZh9 and more");
        }
        let mut back = vec![0; len];
        assert_eq!(
            Bzip2 { level: 9 }.decode(&encoded, &mut back),
            Ok(Some(len)),
            "round {round}, {len} bytes"
        );
        assert!(back == decoded, "round {round}, {len} bytes");
        compare(&encoded, len + random.below(3) * 100, "more space");
        for space in [len.saturating_sub(1), random.below(len)] {
            let valid = compare(&encoded, space, "less space");
            assert_eq!(valid, len == 0, "round {round}, {len} bytes");
        }
    }
}

#[test]
fn damaged_streams_are_rejected_as_in_libbz2() {
    let mut random = Random(2);
    let mut valid = 0;
    for round in 0..800 {
        let len = random.below([20, 300, 3000][round % 3]);
        let decoded = data(&mut random, len);
        let mut encoded = encode(&decoded, 1 + random.below(9) as u32);
        match random.below(6) {
            0 => encoded.truncate(random.below(encoded.len())),
            1 => encoded.insert(random.below(encoded.len()), random.below(256) as u8),
            // Often damages the first 60 bytes, which contain most of the headers and tables.
            kind => {
                let end = if kind < 4 { encoded.len() } else { encoded.len().min(60) };
                for _ in 0..=random.below(2) {
                    let at = random.below(end);
                    encoded[at] ^= 1 << random.below(8);
                }
            }
        }
        let space = [len, len + 5000, random.below(len), 100_000][random.below(4)];
        valid += usize::from(compare(&encoded, space, &format!("round {round}, {len} bytes")));
    }
    assert!(valid < 50, "{valid} streams were valid");
}

#[test]
fn damage_in_streams_of_several_blocks_is_rejected_as_in_libbz2() {
    let mut random = Random(4);
    let decoded: Vec<u8> = (0..320_000).map(|_| random.below(40) as u8).collect();
    let encoded = encode(&decoded, 1);
    assert!(encoded.len() > 100_000, "{} bytes are too few for several blocks", encoded.len());
    for round in 0..40 {
        let (at, bit) = (random.below(encoded.len()), random.below(8));
        let mut encoded = encoded.clone();
        encoded[at] ^= 1 << bit;
        let space = [decoded.len(), random.below(decoded.len())][round % 2];
        assert!(!compare(&encoded, space, &format!("byte {at}, bit {bit}, {space} bytes")));
        assert!(!compare(&encoded[..at], space, &format!("truncated to {at}, {space} bytes")));
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_of_a_short_stream_is_handled_as_in_libbz2() {
    let decoded = data(&mut Random(3), 60);
    let encoded = encode(&decoded, 1);
    for cut in 0..encoded.len() {
        assert!(!compare(&encoded[..cut], 60, "truncated"), "truncated to {cut}");
    }
    for bit in 0..8 * encoded.len() {
        let mut encoded = encoded.clone();
        encoded[bit / 8] ^= 0x80 >> (bit % 8);
        compare(&encoded, 60, &format!("bit {bit}"));
    }
}

/// Contents of a synthetic stream of one block.
struct Synthetic {
    randomised: bool,
    /// Number of groups beyond the ones that the symbols need.
    unused_groups: usize,
    /// Number of different bytes.
    used: usize,
    /// Code lengths of each table.
    lengths: Vec<Vec<u8>>,
    symbols: Vec<u16>,
    origin: usize,
}

impl Synthetic {
    /// Creates random contents. The code lengths of a table are complete, incomplete or oversubscribed; every symbol has a
    /// code unless they are oversubscribed.
    fn new(random: &mut Random) -> Synthetic {
        let max = [256, 10][random.below(2)];
        let used = 1 + random.below(max);
        let tables = 2 + random.below(5);
        let lengths: Vec<Vec<u8>> = (0..tables).map(|_| tree(random, used + 2)).collect();
        let (mut symbols, mut len) = (vec![], 0);
        for _ in 0..1 + random.below(3000) {
            if random.below(4) == 0 {
                for digit in 0..1 + random.below(9) {
                    symbols.push(random.below(2) as u16);
                    len += usize::from(symbols[symbols.len() - 1] + 1) << digit;
                }
            }
            if used > 1 {
                symbols.push(2 + random.below(used - 1) as u16);
                len += 1;
            }
        }
        symbols.push(used as u16 + 1);
        let unused_groups = [0, 0, random.below(100), 18_000 + random.below(100)][random.below(4)];
        let (randomised, origin) = (random.below(2) == 0, random.below(len));
        Synthetic { randomised, unused_groups, used, lengths, symbols, origin }
    }

    fn stream(&self, crc: u32) -> Vec<u8> {
        let mut encoded = b"BZh9".to_vec();
        let mut bits = BitWriter::new(&mut encoded);
        bits.write(BLOCK_MAGIC, 48);
        bits.write(crc.into(), 32);
        bits.write(self.randomised.into(), 1);
        bits.write(self.origin as u64, 24);
        let rows = self.used.div_ceil(16);
        bits.write(0xffff << (16 - rows), 16);
        for row in 0..rows {
            bits.write(0xffff << (16 - (self.used - 16 * row).min(16)), 16);
        }
        let groups = self.symbols.len().div_ceil(50);
        bits.write(self.lengths.len() as u64, 3);
        bits.write((groups + self.unused_groups) as u64, 15);
        // Each group uses the least recently used table, so that all tables are used in round.
        for _ in 0..groups + self.unused_groups {
            bits.write(!1, self.lengths.len() as u32);
        }
        for lengths in &self.lengths {
            let mut at = lengths[0];
            bits.write(at.into(), 5);
            for &length in lengths {
                while at != length {
                    bits.write(if at < length { 0b10 } else { 0b11 }, 2);
                    at = if at < length { at + 1 } else { at - 1 };
                }
                bits.write(0, 1);
            }
        }
        for (group, symbols) in self.symbols.chunks(50).enumerate() {
            let last = self.lengths.len() - 1;
            let lengths = &self.lengths[last - group % (last + 1)];
            for &symbol in symbols {
                let (code, length) = code(lengths, symbol);
                bits.write(code, length);
            }
        }
        bits.write(END_MAGIC, 48);
        bits.write(crc.into(), 32);
        bits.finish();
        encoded
    }
}

/// Returns the code lengths of a random tree, sometimes incomplete or oversubscribed.
fn tree(random: &mut Random, leaves: usize) -> Vec<u8> {
    let mut lengths = vec![1, 1];
    while lengths.len() < leaves {
        let at = random.below(lengths.len());
        if lengths[at] < 17 {
            lengths[at] += 1;
            lengths.push(lengths[at]);
        }
    }
    match random.below(3) {
        0 => lengths.iter_mut().for_each(|length| *length += random.below(4) as u8),
        // One code becomes shorter, so that the last of the longest codes does not exist.
        1 => {
            let at = random.below(leaves);
            lengths[at] = (lengths[at] - 1).max(1);
        }
        _ => {}
    }
    lengths
}

/// Returns the canonical code of a symbol and its length; an invalid code if the lengths are oversubscribed.
fn code(lengths: &[u8], symbol: u16) -> (u64, u32) {
    let length = lengths[usize::from(symbol)];
    let shorter =
        lengths.iter().filter(|&&other| other < length).map(|&other| 1u64 << (length - other)).sum::<u64>();
    let before = lengths[..usize::from(symbol)].iter().filter(|&&other| other == length).count() as u64;
    (shorter + before, length.into())
}

/// Returns the checksum, computed bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| step(crc)))
}

/// Randomised blocks, unused groups, incomplete and oversubscribed codes, and blocks whose bytes repeat (equal rotations).
#[test]
fn synthetic_streams_decode_or_fail_as_in_libbz2() {
    let mut random = Random(5);
    let (mut valid, mut randomised, mut many_groups) = (0, 0, 0);
    for round in 0..250 {
        let synthetic = Synthetic::new(&mut random);
        // Libbz2 outputs the block before it reports the wrong checksum.
        let mut decoded = vec![0; 2 << 20];
        let mut stream = Decompress::new(false);
        let _ = stream.decompress(&synthetic.stream(0), &mut decoded);
        decoded.truncate(stream.total_out() as usize);
        let encoded = synthetic.stream(checksum(&decoded));
        let is_valid = compare(&encoded, decoded.len(), &format!("round {round}"));
        compare(&encoded, decoded.len() - decoded.len().min(1), &format!("round {round}, less space"));
        if is_valid && !decoded.is_empty() {
            valid += 1;
            randomised += usize::from(synthetic.randomised);
            many_groups += usize::from(synthetic.unused_groups >= 18_000);
        }
    }
    assert!(valid > 50 && randomised > 25 && many_groups > 12, "{valid}, {randomised}, {many_groups}");
}

/// The best compression of libbz2: 222 bytes for this many 0xfb, 734 bytes for this many 0xff.
#[test]
fn max_decoded_len_covers_the_best_compression_of_libbz2() {
    let bzip2 = Bzip2 { level: 9 };
    assert!(bzip2.max_decoded_len(222) >= 367_193_880);
    assert!(bzip2.max_decoded_len(734) >= 1_101_581_640);
}
