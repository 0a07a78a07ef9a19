//! Adaptive entropy coding, which szip uses (CCSDS 121.0-B-3, "Lossless Data Compression"). Samples are coded in blocks,
//! each with the code option that makes it shortest. A preprocessor can replace samples by mapped prediction errors.
//!
//! `docs/decisions/008-codecs.md` compares this code with a library: it is small, checks every count, and decodes one
//! reference sample interval at a time, so that nothing is allocated for the whole chunk.

use ferrocdf_bytes::Result;

use super::bits::{BitReader, BitWriter};
use crate::filter::corrupt;

/// Number of blocks in a segment. A run of zero blocks ends with its segment.
const SEGMENT: usize = 64;

/// Code for a run of zero blocks up to the end of the segment ("remainder of segment").
const REMAINDER_OF_SEGMENT: u32 = 4;

/// Maximum sum of two samples in the second-extension option.
const MAX_PAIR_SUM: u32 = 12;

/// Parameters of the coding.
#[derive(Clone, Debug)]
pub struct Coding {
    /// Number of bits of a sample, 1 to 24.
    pub bits: u32,
    /// Number of samples in a block.
    pub block: usize,
    /// Number of blocks in a reference sample interval.
    pub blocks: usize,
    /// True if the preprocessor is used: each sample is predicted to equal the one before it.
    pub preprocess: bool,
}

impl Coding {
    /// Returns the number of samples in a reference sample interval.
    pub fn interval(&self) -> usize {
        self.block * self.blocks
    }

    fn max_sample(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// Returns the number of bits of an option identifier.
    fn id_bits(&self) -> u32 {
        match self.bits {
            17.. => 5,
            9.. => 4,
            _ => 3,
        }
    }

    /// Returns the identifier of the no-compression option. Identifier `k + 1` is sample splitting with `k` low bits, and 0
    /// is a low-entropy option.
    fn uncompressed_id(&self) -> u32 {
        (1 << self.id_bits()) - 1
    }

    /// Reads samples of one reference sample interval until `samples` is full.
    pub fn read(&self, bits: &mut BitReader, samples: &mut [u32]) -> Result<()> {
        let mut at = 0;
        while at < samples.len() {
            at = self
                .read_blocks(bits, samples, at)
                .ok_or_else(|| corrupt(format!("block of sample {at}: the bits are invalid or end early")))?;
        }
        if self.preprocess {
            self.undo_preprocessing(samples);
        }
        Ok(())
    }

    /// Reads the block that starts at sample `at`, or a run of zero blocks, and returns the start of the next block, which
    /// may be past the end of `samples`.
    fn read_blocks(&self, bits: &mut BitReader, samples: &mut [u32], at: usize) -> Option<usize> {
        let end = at + self.block;
        let id = bits.read_word(self.id_bits())? as u32;
        let second_extension = id == 0 && bits.read_word(1)? == 1;
        // With the preprocessor, a reference sample precedes the first block; an uncompressed block contains it as its first
        // sample.
        let first = usize::from(self.preprocess && at == 0 && id != self.uncompressed_id());
        if first == 1 {
            samples[0] = bits.read_word(self.bits)? as u32;
        }
        let last = end.min(samples.len());
        if second_extension {
            self.read_second_extension(bits, samples, at, first)?;
        } else if id == 0 {
            let block = at / self.block;
            let blocks = match bits.read_unary()? {
                REMAINDER_OF_SEGMENT => (SEGMENT - block % SEGMENT).min(self.blocks - block),
                few @ ..REMAINDER_OF_SEGMENT => few as usize + 1,
                many => many as usize,
            };
            if blocks > self.blocks - block {
                return None;
            }
            let end = at + blocks * self.block;
            let last = end.min(samples.len());
            samples[at + first..last].fill(0);
            return Some(end);
        } else if id == self.uncompressed_id() {
            for sample in &mut samples[at..last] {
                *sample = bits.read_word(self.bits)? as u32;
            }
        } else {
            let low = id - 1;
            for sample in &mut samples[at + first..last] {
                let high = u64::from(bits.read_unary()?) << low;
                *sample = u32::try_from(high).ok()?;
            }
            if last < end {
                // The high bits of the samples past the end of `samples` precede all low bits.
                for _ in last..end {
                    bits.read_unary()?;
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

    /// Reads a block in the second-extension option, which codes two samples by their sum and the second sample.
    fn read_second_extension(
        &self,
        bits: &mut BitReader,
        samples: &mut [u32],
        at: usize,
        first: usize,
    ) -> Option<()> {
        for pair in (at..at + self.block).step_by(2) {
            if pair >= samples.len() {
                break;
            }
            let code = bits.read_unary()?;
            let sum = (0..=MAX_PAIR_SUM).rev().find(|sum| sum * (sum + 1) / 2 <= code)?;
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

    /// Replaces mapped prediction errors by samples. The mapping alternates between positive and negative errors until one
    /// side reaches the end of the range of samples.
    fn undo_preprocessing(&self, samples: &mut [u32]) {
        let max = self.max_sample();
        let Some((&mut first, rest)) = samples.split_first_mut() else { return };
        let mut sample = first;
        for error in rest {
            // Without branches, because they would be mispredicted.
            let (steps, down) = (*error / 2, *error & 1);
            let flip = max & u32::from(sample > max / 2).wrapping_neg();
            let near = sample.wrapping_add(steps ^ down.wrapping_neg());
            sample = if steps + down <= flip ^ sample { near } else { flip ^ *error } & max;
            *error = sample;
        }
    }

    /// Replaces all samples but the first by mapped prediction errors.
    fn preprocess(&self, samples: &mut [u32]) {
        let max = self.max_sample();
        let Some((&mut first, rest)) = samples.split_first_mut() else { return };
        let mut before = first;
        for sample in rest {
            let now = *sample;
            *sample = if now >= before {
                let up = now - before;
                if up <= before { 2 * up } else { now }
            } else {
                let down = before - now;
                if down <= max - before { 2 * down - 1 } else { max - now }
            };
            before = now;
        }
    }

    /// Writes the samples of one reference sample interval. The contents of `samples` are overwritten.
    pub fn write(&self, samples: &mut [u32], bits: &mut BitWriter) {
        let mut first = None;
        if self.preprocess {
            self.preprocess(samples);
            first = samples.first_mut().map(std::mem::take);
        }
        let mut at = 0;
        while at < self.blocks {
            let from = &samples[at * self.block..];
            let zeros = from.iter().take_while(|&&sample| sample == 0).count() / self.block;
            let first = first.take();
            if zeros > 0 {
                let remaining = (SEGMENT - at % SEGMENT).min(self.blocks - at);
                let blocks = zeros.min(remaining);
                bits.write_word(0, self.id_bits() + 1);
                first.into_iter().for_each(|first| bits.write_word(first.into(), self.bits));
                bits.write_unary(match blocks as u32 {
                    few @ 1..=REMAINDER_OF_SEGMENT => few - 1,
                    _ if blocks == remaining => REMAINDER_OF_SEGMENT,
                    many => many,
                });
                at += blocks;
            } else {
                self.write_block(&from[..self.block], first, bits);
                at += 1;
            }
        }
    }

    /// Writes a block in the option that makes it shortest. `first` is the reference sample, if the block has one.
    fn write_block(&self, block: &[u32], first: Option<u32>, bits: &mut BitWriter) {
        let reference_bits = if first.is_some() { self.bits } else { 0 };
        let coded = &block[usize::from(first.is_some())..];
        let uncompressed_len = self.bits as u64 * block.len() as u64;
        let split_len = |low: u32| {
            let high: u64 = coded.iter().map(|&sample| u64::from(sample >> low) + 1).sum();
            high + coded.len() as u64 * u64::from(low) + u64::from(reference_bits)
        };
        let (low, split_len) = (0..self.uncompressed_id() - 1)
            .map(|low| (low, split_len(low)))
            .min_by_key(|&(_, len)| len)
            .unwrap_or((0, u64::MAX));
        let pair_code = |pair: &[u32; 2]| {
            let sum = pair[0].saturating_add(pair[1]);
            (sum <= MAX_PAIR_SUM).then(|| sum * (sum + 1) / 2 + pair[1])
        };
        let pairs = block.as_chunks::<2>().0;
        let second_extension_len = pairs
            .iter()
            .try_fold(1 + u64::from(reference_bits), |len, pair| Some(len + u64::from(pair_code(pair)?) + 1))
            .unwrap_or(u64::MAX);
        let shortest = uncompressed_len.min(split_len).min(second_extension_len);
        let write_first = |bits: &mut BitWriter| {
            first.into_iter().for_each(|first| bits.write_word(first.into(), self.bits));
        };
        if shortest == uncompressed_len {
            bits.write_word(self.uncompressed_id().into(), self.id_bits());
            write_first(bits);
            coded.iter().for_each(|&sample| bits.write_word(sample.into(), self.bits));
        } else if shortest == split_len {
            bits.write_word(u64::from(low) + 1, self.id_bits());
            write_first(bits);
            coded.iter().for_each(|&sample| bits.write_unary(sample >> low));
            coded.iter().for_each(|&sample| bits.write_word(sample.into(), low));
        } else {
            bits.write_word(1, self.id_bits() + 1);
            write_first(bits);
            pairs.iter().filter_map(pair_code).for_each(|code| bits.write_unary(code));
        }
    }
}
