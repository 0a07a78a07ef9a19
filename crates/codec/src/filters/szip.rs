//! Szip (filter 4): the decoded size in four bytes, little-endian, and adaptive entropy coding of the pixels.
//!
//! Parameters are option bits (16 big-endian pixels, 32 differences; the others say which coder was asked for and change
//! nothing that is encoded), pixels in a block, bits of a pixel, and pixels in a scanline. A scanline is a reference
//! interval, filled up to whole blocks. Pixels of 32 and 64 bits are taken apart into planes of bytes, which are then the
//! pixels, as in libaec's `sz_compat`.

use ferrocdf_bytes::Result;

use super::aec::Coding;
use super::bits::{Bits, Writer, get, put};
use super::shuffle;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::Spelling;
use crate::registry::Entry;
use crate::scratch::with_buffer;

const BIG_ENDIAN: u32 = 16;
const DIFFERENCES: u32 = 32;

const HEADER: usize = 4;

/// Blocks of a scanline.
const MOST_BLOCKS: usize = 4096;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(4),
    names: &["szip"],
    make: |params, _| Szip::new(params).map(boxed),
    derive: None,
    numcodecs: Some(Spelling {
        id: "szip",
        write: |params| match *params {
            [options, block, ..] => Ok(vec![("mask", options.into()), ("pixels-per-block", block.into())]),
            _ => Err(bad_params(format!("{} parameters of szip and not 2 or 4", params.len()))),
        },
        read: |json| {
            // There are no defaults to fall back to.
            let options = json.number("mask", -1, 0..=u16::MAX.into())?;
            let block = json.number("pixels-per-block", -1, 2..=256)?;
            match (u32::try_from(options), u32::try_from(block)) {
                (Ok(options), Ok(block)) => Ok(vec![options, block]),
                _ => Err(bad_params("szip needs \"mask\" and \"pixels-per-block\"")),
            }
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Szip {
    coding: Coding,
    /// Bytes of a pixel that is taken apart, else 1.
    planes: usize,
    /// Bytes of a pixel that is coded: 1, 2 or 4.
    size: usize,
    /// Pixels in it.
    scanline: usize,
    big: bool,
}

impl Szip {
    pub fn new(params: &[u32]) -> Result<Szip> {
        let &[options, block, bits, scanline] = params else {
            return Err(bad_params(format!("{} parameters and not 4", params.len())));
        };
        let (planes, coded) = match bits {
            32 | 64 => (bits as usize / 8, 8),
            1..=24 => (1, bits),
            _ => return Err(bad_params(format!("szip has no pixels of {bits} bits"))),
        };
        let (block, scanline) = (block as usize, scanline as usize);
        if !(2..=256).contains(&block) || block % 2 == 1 || scanline == 0 || scanline > MOST_BLOCKS * block {
            return Err(bad_params(format!("blocks of {block} pixels in scanlines of {scanline}")));
        }
        let blocks = scanline.div_ceil(block);
        let coding = Coding { bits: coded, block, blocks, differences: options & DIFFERENCES != 0 };
        let size = match coded {
            17.. => 4,
            9.. => 2,
            _ => 1,
        };
        Ok(Szip { coding, planes, size, scanline, big: options & BIG_ENDIAN != 0 })
    }

    fn read_pixels(&self, compressed: &[u8], to: &mut [u8]) -> Result<()> {
        let mut bits = Bits::new(compressed);
        let mut samples = vec![0; self.coding.interval()];
        for line in to.chunks_mut(self.scanline * self.size) {
            // The last line has no more pixels than bytes; in others all that fill up the interval are coded.
            let pixels = line.len().div_ceil(self.size);
            let coded = if pixels == self.scanline { samples.len() } else { pixels };
            self.coding.read(&mut bits, &mut samples[..coded])?;
            if self.size == 1 {
                line.iter_mut().zip(&samples).for_each(|(pixel, &sample)| *pixel = sample as u8);
                continue;
            }
            for (pixel, &sample) in line.chunks_mut(self.size).zip(&samples) {
                put(sample.into(), self.big, pixel);
            }
        }
        Ok(())
    }

    /// `false` if a pixel has more bits than it should.
    fn write_pixels(&self, from: &[u8], encoded: &mut Vec<u8>) -> bool {
        let most = u64::from(u32::MAX >> (32 - self.coding.bits));
        let mut bits = Writer::new(encoded);
        let mut samples = vec![0; self.coding.interval()];
        for line in from.chunks(self.scanline * self.size) {
            let mut filler = 0;
            let mut pixels = line.chunks_exact(self.size);
            for sample in &mut samples {
                let pixel = pixels.next().map(|pixel| get(self.big, pixel));
                if pixel.is_some_and(|pixel| pixel > most) {
                    return false;
                }
                *sample = pixel.map_or(filler, |pixel| pixel as u32);
                if self.coding.differences {
                    filler = *sample;
                }
            }
            self.coding.write(&mut samples, &mut bits);
        }
        bits.finish();
        true
    }
}

impl SliceCodec for Szip {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        match encoded.first_chunk::<HEADER>() {
            Some(len) => Ok(Some(u32::from_le_bytes(*len) as usize)),
            None => Err(corrupt(format!("{} bytes do not hold a size", encoded.len()))),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let compressed = encoded.get(HEADER..).unwrap_or(&[]);
        if self.planes == 1 {
            self.read_pixels(compressed, decoded)?;
        } else {
            with_buffer(|planes| {
                planes.resize(decoded.len(), 0);
                self.read_pixels(compressed, planes)?;
                shuffle::unshuffle(self.planes, planes, decoded);
                Ok(())
            })?;
        }
        Ok(Some(decoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let Ok(len) = u32::try_from(decoded.len()) else {
            return Err(bad_params(format!("{} bytes are too many for szip", decoded.len())));
        };
        if !decoded.len().is_multiple_of(self.size) {
            return Ok(None);
        }
        encoded.extend_from_slice(&len.to_le_bytes());
        let fits = if self.planes == 1 {
            self.write_pixels(decoded, encoded)
        } else {
            with_buffer(|planes| {
                planes.resize(decoded.len(), 0);
                shuffle::shuffle(self.planes, decoded, planes);
                self.write_pixels(planes, encoded)
            })
        };
        // As in HDF5, bytes that become more are refused.
        Ok((fits && encoded.len() - HEADER <= decoded.len()).then_some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        // In five bits and a segment's end, all blocks up to that end are zero.
        let block = self.coding.block * self.size;
        encoded.saturating_sub(HEADER).saturating_mul(2).saturating_mul(64 * block)
    }
}
