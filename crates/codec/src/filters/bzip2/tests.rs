//! Held against libbz2, on streams that are whole, cut and damaged.

use bzip2::Decompress;

use super::*;

/// What libbz2 says of the same stream.
fn reference(stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>, ()> {
    let mut stream = Decompress::new(false);
    // It comes to the end of a stream only with room for more.
    let mut more = [0];
    loop {
        let (taken, made) = (stream.total_in() as usize, stream.total_out() as usize);
        let room = match &mut plain[made..] {
            [] => &mut more,
            room => room,
        };
        let status = stream.decompress(&stored[taken..], room).map_err(|_| ())?;
        let (then_taken, then_made) = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            _ if then_made > plain.len() => return Ok(None),
            Status::StreamEnd => return Ok(Some(then_made)),
            _ if (then_taken, then_made) != (taken, made) => {}
            _ => return Err(()),
        }
    }
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Noise of some bytes, runs, repeats and slopes, one after the other.
fn data(numbers: &mut Numbers, len: usize) -> Vec<u8> {
    let mut plain = Vec::new();
    let kind = numbers.below(7);
    while plain.len() < len {
        let longest = [10, 300, 5000, 100_000][numbers.below(4)];
        let part = 1 + numbers.below(longest);
        let kind = if kind == 6 { numbers.below(6) } else { kind };
        match kind {
            0 => plain.extend((0..part).map(|_| numbers.below(256) as u8)),
            1 => plain.extend((0..part).map(|_| b'a' + numbers.below(3) as u8)),
            2 => {
                let byte = numbers.below(4) as u8;
                plain.extend((0..part).map(|_| byte));
            }
            3 => plain.extend((0..part).map(|at| (at / 3) as u8)),
            4 => {
                let period = 1 + numbers.below(40);
                let of: Vec<u8> = (0..period).map(|_| numbers.below(256) as u8).collect();
                plain.extend(of.iter().cycle().take(part));
            }
            _ => plain.extend((0..part).map(|_| (numbers.below(16) * numbers.below(16)) as u8)),
        }
    }
    plain.truncate(len);
    plain
}

fn pack(plain: &[u8], level: u32) -> Vec<u8> {
    let mut stored = Vec::new();
    assert_eq!(Bzip2 { level }.pack(plain, &mut stored), Ok(Some(())));
    stored
}

/// Whether both say that the stream is whole; they must say the same.
fn compare(stored: &[u8], room: usize, what: &str) -> bool {
    let (mut ours, mut theirs) = (vec![0x55; room + 1], vec![0x55; room]);
    let mut made = Bzip2 { level: 9 }.unpack(stored, &mut ours[..room]);
    let should = reference(stored, &mut theirs);
    if (&made, should) == (&Ok(None), Err(())) {
        // The reference has room for one byte more, and may find a fault behind it.
        made = Bzip2 { level: 9 }.unpack(stored, &mut ours);
    }
    assert_eq!(made.as_ref().map_err(|_| ()), should.as_ref().map_err(|_| ()), "{what}: {made:?}");
    if let Ok(Some(len)) = made {
        assert!(ours[..len] == theirs[..len], "{what}: other bytes");
        return true;
    }
    false
}

#[test]
fn whole_streams_are_those_of_libbz2() {
    let mut numbers = Numbers(1);
    for turn in 0..120 {
        let len = numbers.below([5, 100, 3000, 60_000, 400_000][turn % 5]);
        let (plain, level) = (data(&mut numbers, len), 1 + numbers.below(9) as u32);
        let mut stored = pack(&plain, level);
        if numbers.below(3) == 0 {
            stored.extend_from_slice(b"BZh9 and more");
        }
        let mut back = vec![0; len];
        assert_eq!(Bzip2 { level: 9 }.unpack(&stored, &mut back), Ok(Some(len)), "turn {turn}, {len} bytes");
        assert!(back == plain, "turn {turn}, {len} bytes");
        compare(&stored, len + numbers.below(3) * 100, "more room");
        for room in [len.saturating_sub(1), numbers.below(len)] {
            let whole = compare(&stored, room, "less room");
            assert_eq!(whole, len == 0, "turn {turn}, {len} bytes");
        }
    }
}

#[test]
fn damaged_streams_are_refused_as_by_libbz2() {
    let mut numbers = Numbers(2);
    let mut whole = 0;
    for turn in 0..3000 {
        let len = numbers.below([20, 300, 3000][turn % 3]);
        let plain = data(&mut numbers, len);
        let mut stored = pack(&plain, 1 + numbers.below(9) as u32);
        match numbers.below(6) {
            0 => stored.truncate(numbers.below(stored.len())),
            1 => stored.insert(numbers.below(stored.len()), numbers.below(256) as u8),
            // Most of what is not the codes of bytes is near the front.
            kind => {
                let within = if kind < 4 { stored.len() } else { stored.len().min(60) };
                for _ in 0..=numbers.below(2) {
                    let at = numbers.below(within);
                    stored[at] ^= 1 << numbers.below(8);
                }
            }
        }
        let room = [len, len + 5000, numbers.below(len), 100_000][numbers.below(4)];
        whole += usize::from(compare(&stored, room, &format!("turn {turn}, {len} bytes")));
    }
    assert!(whole < 100, "{whole} of these were whole");
}

/// Each cut, and each bit turned, of streams of two blocks, one of them empty behind its end.
#[test]
fn each_cut_and_each_bit_is_as_with_libbz2() {
    let plain = data(&mut Numbers(3), 60);
    let stored = pack(&plain, 1);
    for cut in 0..stored.len() {
        assert!(!compare(&stored[..cut], 60, "cut"), "cut at {cut}");
    }
    for bit in 0..8 * stored.len() {
        let mut stored = stored.clone();
        stored[bit / 8] ^= 0x80 >> (bit % 8);
        compare(&stored, 60, &format!("bit {bit}"));
    }
}
