//! Adaptive entropy coding, the coding under szip (CCSDS 121.0-B-3, "Lossless Data Compression"): samples in blocks, each
//! in the coding that makes it shortest, with the differences of samples in place of them if that was chosen.
//!
//! A library was weighed (`docs/decisions/008-codecs.md`); this is small, checks every count, and gives samples back one
//! reference interval at a time, so that nothing is allocated for the whole.

use ferrocdf_bytes::Result;

use super::bits::{Bits, Writer};
use crate::filter::corrupt;

/// Blocks of zeros are counted within segments of so many blocks.
const SEGMENT: usize = 64;

/// The count of zero blocks that says "all that are left in the segment".
const REST: u32 = 4;

/// The largest sum of two samples in the second extension.
const PAIR: u32 = 12;

/// How samples are coded.
#[derive(Clone, Debug)]
pub struct Coding {
    /// Of a sample, 1 to 24.
    pub bits: u32,
    /// Samples in a block.
    pub block: usize,
    /// Blocks in a reference interval.
    pub blocks: usize,
    /// Whether differences are coded.
    pub differences: bool,
}

impl Coding {
    /// Samples of a reference interval.
    pub fn interval(&self) -> usize {
        self.block * self.blocks
    }

    fn most(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// Bits that name the coding of a block.
    fn id_bits(&self) -> u32 {
        match self.bits {
            17.. => 5,
            9.. => 4,
            _ => 3,
        }
    }

    /// The name of a block that is not coded. Names from 1 on are those of a split with one low bit less.
    fn uncoded(&self) -> u32 {
        (1 << self.id_bits()) - 1
    }

    /// Reads samples of one interval, as many as there is room for.
    pub fn read(&self, bits: &mut Bits, samples: &mut [u32]) -> Result<()> {
        let mut at = 0;
        while at < samples.len() {
            at = self
                .read_blocks(bits, samples, at)
                .ok_or_else(|| corrupt(format!("the bits end or are wrong in the block of sample {at}")))?;
        }
        if self.differences {
            self.add_up(samples);
        }
        Ok(())
    }

    /// Reads the block that begins at `at`, or a row of blocks of zeros. Gives where the next block begins, which may be
    /// outside.
    fn read_blocks(&self, bits: &mut Bits, samples: &mut [u32], at: usize) -> Option<usize> {
        let end = at + self.block;
        let id = bits.read_word(self.id_bits())? as u32;
        let pairs = id == 0 && bits.read_word(1)? == 1;
        // The first sample of differences is a whole one. A block that is not coded has it in its place anyway.
        let first = usize::from(self.differences && at == 0 && id != self.uncoded());
        if first == 1 {
            samples[0] = bits.read_word(self.bits)? as u32;
        }
        let last = end.min(samples.len());
        if pairs {
            self.read_pairs(bits, samples, at, first)?;
        } else if id == 0 {
            let block = at / self.block;
            let blocks = match bits.zeros()? {
                REST => (SEGMENT - block % SEGMENT).min(self.blocks - block),
                few @ ..REST => few as usize + 1,
                many => many as usize,
            };
            if blocks > self.blocks - block {
                return None;
            }
            let end = at + blocks * self.block;
            let last = end.min(samples.len());
            samples[at + first..last].fill(0);
            return Some(end);
        } else if id == self.uncoded() {
            for sample in &mut samples[at..last] {
                *sample = bits.read_word(self.bits)? as u32;
            }
        } else {
            let low = id - 1;
            for sample in &mut samples[at + first..last] {
                let high = u64::from(bits.zeros()?) << low;
                *sample = u32::try_from(high).ok()?;
            }
            if last < end {
                // Samples that nobody asked for have their high bits before all low bits.
                for _ in last..end {
                    bits.zeros()?;
                }
            }
            if low > 0 {
                for sample in &mut samples[at + first..last] {
                    *sample |= bits.read_word(low)? as u32;
                }
            }
        }
        Some(end)
    }

    /// Reads samples that are coded in pairs: by their sum, and the second of them.
    fn read_pairs(&self, bits: &mut Bits, samples: &mut [u32], at: usize, first: usize) -> Option<()> {
        for pair in (at..at + self.block).step_by(2) {
            if pair >= samples.len() {
                break;
            }
            let code = bits.zeros()?;
            let sum = (0..=PAIR).rev().find(|sum| sum * (sum + 1) / 2 <= code)?;
            let second = code - sum * (sum + 1) / 2;
            if second > sum {
                return None;
            }
            if pair >= at + first {
                samples[pair] = sum - second;
            }
            if let Some(sample) = samples.get_mut(pair + 1) {
                *sample = second;
            }
        }
        Some(())
    }

    /// From differences to samples. A difference counts steps up and down in turn until one side ends.
    fn add_up(&self, samples: &mut [u32]) {
        let most = self.most();
        let Some((&mut first, rest)) = samples.split_first_mut() else { return };
        let mut sample = first;
        for difference in rest {
            // Without branches, which could not be foretold.
            let (steps, down) = (*difference / 2, *difference & 1);
            let flip = most & u32::from(sample > most / 2).wrapping_neg();
            let near = sample.wrapping_add(steps ^ down.wrapping_neg());
            sample = if steps + down <= flip ^ sample { near } else { flip ^ *difference } & most;
            *difference = sample;
        }
    }

    /// From samples to differences, but for the first.
    fn take_apart(&self, samples: &mut [u32]) {
        let most = self.most();
        let Some((&mut first, rest)) = samples.split_first_mut() else { return };
        let mut before = first;
        for sample in rest {
            let now = *sample;
            *sample = if now >= before {
                let up = now - before;
                if up <= before { 2 * up } else { now }
            } else {
                let down = before - now;
                if down <= most - before { 2 * down - 1 } else { most - now }
            };
            before = now;
        }
    }

    /// Writes the samples of one interval, which are changed on the way.
    pub fn write(&self, samples: &mut [u32], bits: &mut Writer) {
        let mut first = None;
        if self.differences {
            self.take_apart(samples);
            first = samples.first_mut().map(std::mem::take);
        }
        let mut at = 0;
        while at < self.blocks {
            let from = &samples[at * self.block..];
            let zeros = from.iter().take_while(|&&sample| sample == 0).count() / self.block;
            let first = first.take();
            if zeros > 0 {
                let left = (SEGMENT - at % SEGMENT).min(self.blocks - at);
                let blocks = zeros.min(left);
                bits.write_word(0, self.id_bits() + 1);
                first.into_iter().for_each(|first| bits.write_word(first.into(), self.bits));
                bits.zeros(match blocks as u32 {
                    few @ 1..=REST => few - 1,
                    _ if blocks == left => REST,
                    many => many,
                });
                at += blocks;
            } else {
                self.write_block(&from[..self.block], first, bits);
                at += 1;
            }
        }
    }

    /// Writes a block in the coding that makes it shortest. `first` is the whole first sample, if it has one.
    fn write_block(&self, block: &[u32], first: Option<u32>, bits: &mut Writer) {
        let whole = if first.is_some() { self.bits } else { 0 };
        let coded = &block[usize::from(first.is_some())..];
        let uncoded = self.bits as u64 * block.len() as u64;
        let split = |low: u32| {
            let high: u64 = coded.iter().map(|&sample| u64::from(sample >> low) + 1).sum();
            high + coded.len() as u64 * u64::from(low) + u64::from(whole)
        };
        let (low, by_split) = (0..self.uncoded() - 1)
            .map(|low| (low, split(low)))
            .min_by_key(|&(_, len)| len)
            .unwrap_or((0, u64::MAX));
        let code = |pair: &[u32; 2]| {
            let sum = pair[0].saturating_add(pair[1]);
            (sum <= PAIR).then(|| sum * (sum + 1) / 2 + pair[1])
        };
        let pairs = block.as_chunks::<2>().0;
        let by_pairs = pairs
            .iter()
            .try_fold(1 + u64::from(whole), |len, pair| Some(len + u64::from(code(pair)?) + 1))
            .unwrap_or(u64::MAX);
        let shortest = uncoded.min(by_split).min(by_pairs);
        let put_first =
            |bits: &mut Writer| first.into_iter().for_each(|first| bits.write_word(first.into(), self.bits));
        if shortest == uncoded {
            bits.write_word(self.uncoded().into(), self.id_bits());
            put_first(bits);
            coded.iter().for_each(|&sample| bits.write_word(sample.into(), self.bits));
        } else if shortest == by_split {
            bits.write_word(u64::from(low) + 1, self.id_bits());
            put_first(bits);
            coded.iter().for_each(|&sample| bits.zeros(sample >> low));
            coded.iter().for_each(|&sample| bits.write_word(sample.into(), low));
        } else {
            bits.write_word(1, self.id_bits() + 1);
            put_first(bits);
            pairs.iter().filter_map(code).for_each(|code| bits.zeros(code));
        }
    }
}
