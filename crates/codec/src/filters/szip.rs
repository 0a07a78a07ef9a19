//! Szip (filter 4): the decoded size in four little-endian bytes, followed by adaptive entropy coding of the pixels.
//!
//! The parameters are option bits (16 big-endian pixels, 32 nearest-neighbour preprocessing; the other bits select a coder
//! and do not affect the encoded bytes), pixels per block, bits per pixel, and pixels per scanline. A scanline is a
//! reference sample interval, padded to whole blocks. Pixels of 32 and 64 bits are shuffled to planes of bytes, which are
//! then coded as 8-bit pixels, as in libaec's `sz_compat`.

use ferrocdf_bytes::Result;

use super::aec::Coding;
use super::bits::{BitReader, BitWriter, read_number, write_number};
use super::shuffle;
use crate::codecs::DatasetInfo;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;
use crate::scratch::with_buffer;

/// Option bits (`SZ_MSB_OPTION_MASK` and `SZ_NN_OPTION_MASK` of szlib).
const BIG_ENDIAN: u32 = 16;
const NEAREST_NEIGHBOUR: u32 = 32;

/// Size of the header in bytes.
const HEADER: usize = 4;

/// Maximum number of blocks in a scanline.
const MAX_BLOCKS: usize = 4096;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(4),
    names: &["szip"],
    new: |params, _| Szip::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "szip",
        write: |params| match *params {
            [options, block, ..] => Ok(vec![("mask", options.into()), ("pixels-per-block", block.into())]),
            _ => Err(bad_params(format!("szip: {} parameters instead of 2 or 4", params.len()))),
        },
        read: |json| {
            // Both members are required: -1 stands for a missing one.
            let options = json.number("mask", -1, 0..=u16::MAX.into())?;
            let block = json.number("pixels-per-block", -1, 2..=256)?;
            match (u32::try_from(options), u32::try_from(block)) {
                (Ok(options), Ok(block)) => Ok(vec![options, block]),
                _ => Err(bad_params("szip: requires \"mask\" and \"pixels-per-block\"")),
            }
        },
    }),
    zarr_v3: None,
};

/// Option bits of the parameters in a file (`H5Zszip.c`): 13-bit samples allowed, "chip" coding, little-endian and big-endian pixels, no
/// header.
const ALLOW_K13: u32 = 1;
const CHIP: u32 = 2;
const LITTLE_ENDIAN: u32 = 8;
const RAW: u32 = 128;

/// Maximum number of blocks in a scanline, and of pixels in one that is as long as the fastest dimension.
const SCANLINE_BLOCKS: u64 = 128;
const SCANLINE_PIXELS: u64 = 4096;

/// Returns the four parameters for the chunks of a dataset, from the two that a user gives or the four of another dataset
/// (`H5Z__set_local_szip` of HDF5).
///
/// # Errors
/// `EFILTER` for less than two parameters, and for blocks that are larger than a chunk.
pub fn derived_params(given: &[u32], dataset: &DatasetInfo) -> Result<Vec<u32>> {
    let &[options, block, ..] = given else {
        return Err(bad_params("szip needs two parameters: options, pixels of a block"));
    };
    // Class numbers of integers and floats.
    let (is_big, precision) = match &dataset.element {
        element if element.class <= 1 => (element.big_endian, element.precision),
        _ => (false, 8),
    };
    let bits = match precision {
        0..=24 => precision,
        25..=32 => 32,
        _ => 64,
    };
    let elements = dataset.chunk.iter().fold(1u64, |count, &len| count.saturating_mul(len));
    let pixels = u64::from(block);
    if elements < pixels {
        return Err(bad_params(format!("szip blocks of {block} pixels in chunks of {elements} elements")));
    }
    let most = pixels.saturating_mul(SCANLINE_BLOCKS);
    let scanline = match dataset.chunk.last().copied().unwrap_or(1) {
        line if line < pixels => most.min(elements),
        line if line <= SCANLINE_PIXELS => most.min(line),
        _ => most,
    };
    let order = if is_big { BIG_ENDIAN } else { LITTLE_ENDIAN };
    let options = options & !(CHIP | LITTLE_ENDIAN | BIG_ENDIAN) | ALLOW_K13 | RAW | order;
    Ok(vec![options, block, bits, u32::try_from(scanline).unwrap_or(u32::MAX)])
}

#[derive(Clone, Debug)]
pub struct Szip {
    coding: Coding,
    /// Number of byte planes: 4 or 8 for pixels of 32 or 64 bits, otherwise 1.
    planes: usize,
    /// Size of a coded pixel in bytes: 1, 2 or 4.
    size: usize,
    /// Number of pixels in a scanline.
    scanline: usize,
    /// True if the byte order is big-endian.
    big: bool,
}

impl Szip {
    pub fn new(params: &[u32]) -> Result<Szip> {
        let &[options, block, bits, scanline] = params else {
            return Err(bad_params(format!("{} parameters instead of 4", params.len())));
        };
        let (planes, coded) = match bits {
            32 | 64 => (bits as usize / 8, 8),
            1..=24 => (1, bits),
            _ => return Err(bad_params(format!("pixels of {bits} bits: must be 1 to 24, 32 or 64"))),
        };
        let (block, scanline) = (block as usize, scanline as usize);
        if !(2..=256).contains(&block) || block % 2 == 1 || scanline == 0 || scanline > MAX_BLOCKS * block {
            return Err(bad_params(format!(
                "blocks of {block} pixels in scanlines of {scanline}: must be even, 2 to 256, and at most \
                 {MAX_BLOCKS} blocks per scanline"
            )));
        }
        let blocks = scanline.div_ceil(block);
        let coding = Coding { bits: coded, block, blocks, preprocess: options & NEAREST_NEIGHBOUR != 0 };
        let size = match coded {
            17.. => 4,
            9.. => 2,
            _ => 1,
        };
        Ok(Szip { coding, planes, size, scanline, big: options & BIG_ENDIAN != 0 })
    }

    /// Decodes a stream, which is what follows the size.
    pub fn read_stream(&self, compressed: &[u8], decoded: &mut [u8]) -> Result<()> {
        if self.planes == 1 {
            return self.read_pixels(compressed, decoded);
        }
        with_buffer(|planes| {
            planes.resize(decoded.len(), 0);
            self.read_pixels(compressed, planes)?;
            shuffle::unshuffle(self.planes, planes, decoded);
            Ok(())
        })
    }

    /// Encodes a stream; returns false if a pixel does not fit in the bits per pixel.
    pub fn write_stream(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> bool {
        if !decoded.len().is_multiple_of(self.size) {
            return false;
        }
        if self.planes == 1 {
            return self.write_pixels(decoded, encoded);
        }
        with_buffer(|planes| {
            planes.resize(decoded.len(), 0);
            shuffle::shuffle(self.planes, decoded, planes);
            self.write_pixels(planes, encoded)
        })
    }

    /// Returns the maximum number of bytes that a stream of `encoded` bytes can decode to.
    pub fn max_stream_len(&self, encoded: usize) -> usize {
        // A run of zero blocks takes at least five bits and has at most the 64 blocks of a segment.
        let block = self.coding.block * self.size;
        encoded.saturating_mul(2).saturating_mul(64 * block)
    }

    fn read_pixels(&self, compressed: &[u8], to: &mut [u8]) -> Result<()> {
        let mut bits = BitReader::new(compressed);
        let mut samples = vec![];
        to.chunks_mut(self.line_len()).try_for_each(|line| self.read_line(&mut bits, &mut samples, line))
    }

    /// Returns the number of planes of bytes that pixels are shuffled to before they are coded.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Returns the number of bytes of a scanline as it is coded.
    pub fn line_len(&self) -> usize {
        self.scanline * self.size
    }

    /// Reads one scanline, the last one of a stream if it is shorter than the others. `samples` is scratch space.
    pub fn read_line(&self, bits: &mut BitReader, samples: &mut Vec<u32>, line: &mut [u8]) -> Result<()> {
        // A short last line has only its pixels; other lines are padded to the whole interval.
        let pixels = line.len().div_ceil(self.size);
        samples.resize(self.coding.interval(), 0);
        let coded = if pixels == self.scanline { samples.len() } else { pixels };
        self.coding.read(bits, &mut samples[..coded])?;
        if self.size == 1 {
            line.iter_mut().zip(&*samples).for_each(|(pixel, &sample)| *pixel = sample as u8);
            return Ok(());
        }
        for (pixel, &sample) in line.chunks_mut(self.size).zip(&*samples) {
            write_number(sample.into(), self.big, pixel);
        }
        Ok(())
    }

    /// Encodes pixels; returns false if a pixel does not fit in the bits per pixel.
    fn write_pixels(&self, from: &[u8], encoded: &mut Vec<u8>) -> bool {
        let max = u64::from(u32::MAX >> (32 - self.coding.bits));
        let mut bits = BitWriter::new(encoded);
        let mut samples = vec![0; self.coding.interval()];
        for line in from.chunks(self.scanline * self.size) {
            let mut padding = 0;
            let mut pixels = line.chunks_exact(self.size);
            for sample in &mut samples {
                let pixel = pixels.next().map(|pixel| read_number(self.big, pixel));
                if pixel.is_some_and(|pixel| pixel > max) {
                    return false;
                }
                *sample = pixel.map_or(padding, |pixel| pixel as u32);
                if self.coding.preprocess {
                    padding = *sample;
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
            None => Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len()))),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        self.read_stream(encoded.get(HEADER..).unwrap_or(&[]), decoded)?;
        Ok(Some(decoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let done = self.encode_enlarging(decoded, encoded)?;
        // As in HDF5, the filter does not apply to data that it would enlarge.
        Ok(done.filter(|()| encoded.len() - HEADER <= decoded.len()))
    }

    fn encode_enlarging(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let Ok(len) = u32::try_from(decoded.len()) else {
            return Err(bad_params(format!("{} bytes: too many for szip", decoded.len())));
        };
        if !decoded.len().is_multiple_of(self.size) {
            return Ok(None);
        }
        encoded.extend_from_slice(&len.to_le_bytes());
        Ok(self.write_stream(decoded, encoded).then_some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        self.max_stream_len(encoded.saturating_sub(HEADER))
    }
}
