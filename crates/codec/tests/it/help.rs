//! Helpers of several test files.

use ferrocdf_codec::{Chain, Codecs, Step};

/// Numbers and parameters of filters.
pub type Steps = [(u32, &'static [u32])];

/// Returns a filter that is not optional.
pub fn step(id: u32, params: &[u32]) -> Step {
    Step { id: id.into(), name: String::new(), optional: false, params: params.to_vec() }
}

/// Returns a chain of filters that are not optional.
pub fn chain(steps: &[(u32, &[u32])]) -> Chain {
    Chain::new(steps.iter().map(|&(id, params)| step(id, params)).collect(), &Codecs::default())
}

/// Pseudorandom numbers, the same in each run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Returns data of one of four kinds: random bytes, slowly increasing 4-byte numbers, zeros, and repeated text.
pub fn data(kind: usize, len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64 + 1);
    match kind % 4 {
        0 => (0..len).map(|_| random.next() as u8).collect(),
        1 => (0..len as u32).flat_map(|at| (1_000 + at / 3 + at % 5).to_le_bytes()).take(len).collect(),
        2 => vec![0; len],
        _ => b"to be or not to be, ".iter().copied().cycle().take(len).collect(),
    }
}

/// Returns the bytes of hexadecimal digits.
pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let value = |digit: u8| char::from(digit).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}
