//! A small generator of pseudorandom numbers, the same in each run.

use ferrocdf_bytes::ToUsize;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Makes a generator whose numbers depend on `seed` only.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Returns a position in a list of this length.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64).saturate()
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns an item of a list.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}
