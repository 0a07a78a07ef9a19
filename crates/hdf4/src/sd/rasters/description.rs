//! Descriptions of rasters: shape, type, and how the data is compressed.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_array::{Kind, Stored};
use ferrocdf_bytes::{Coder, Record, Result};

use super::coder::RasterCoder;
use crate::wire::{bad, decode};
use crate::{File, NumberType, tags};

/// "DFTAG_ID".
#[derive(Debug, Default)]
struct NewRecord {
    width: u64,
    height: u64,
    number_tag: u64,
    number_reference: u64,
    components: u64,
    interlace: u64,
    compression_tag: u64,
    compression_reference: u64,
}

impl Record for NewRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("width", 4, &mut self.width)?;
        c.uint("height", 4, &mut self.height)?;
        c.uint("tag of the number type", 2, &mut self.number_tag)?;
        c.uint("reference of the number type", 2, &mut self.number_reference)?;
        c.uint("components", 2, &mut self.components)?;
        c.uint("interlace", 2, &mut self.interlace)?;
        c.uint("tag of the compression", 2, &mut self.compression_tag)?;
        c.uint("reference of the compression", 2, &mut self.compression_reference)
    }
}

/// "DFTAG_ID8".
#[derive(Debug, Default)]
struct OldRecord {
    width: u64,
    height: u64,
}

impl Record for OldRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("width", 2, &mut self.width)?;
        c.uint("height", 2, &mut self.height)
    }
}

const BYTES: NumberType = NumberType { code: 21, stored: Stored::big(Kind::U8) };

/// What is known of a raster beside its name.
pub(super) struct Description {
    pub number: NumberType,
    /// Its lengths as they are stored, each with what it counts.
    pub shape: Vec<(&'static str, u64)>,
    pub coder: RasterCoder,
}

impl Description {
    /// Reads a description, and how data with this tag is compressed.
    pub fn read(file: &File, reference: u16, data: u16) -> Result<Description> {
        let bytes = file.bytes(tags::ID, reference)?;
        let bytes = bytes.ok_or_else(|| bad(format!("its description {reference} is not in the file")))?;
        let stored = decode(NewRecord::default(), "raster description", 0, &bytes)?;
        // Two bytes.
        let number_reference = stored.number_reference as u16;
        let number = match file.descriptor(tags::NT, number_reference) {
            Some(_) => file.number_type(number_reference)?,
            None => BYTES,
        };
        let (rows, columns) = (("rows", stored.height), ("columns", stored.width));
        let components = ("components", stored.components);
        let shape = match (stored.components, stored.interlace) {
            (0 | 1, _) => vec![rows, columns],
            (_, 0) => vec![rows, columns, components],
            (_, 1) => vec![rows, components, columns],
            (_, _) => vec![components, rows, columns],
        };
        let coder = match data {
            // Two bytes.
            tags::CI => RasterCoder::of(stored.compression_tag as u16, stored.width, stored.height)?,
            _ => RasterCoder::OfElement,
        };
        Ok(Description { number, shape, coder })
    }

    /// Reads a description of the oldest kind, and how data with this tag is compressed.
    pub fn read_old(file: &File, reference: u16, data: u16) -> Result<Description> {
        let bytes = file.bytes(tags::ID8, reference)?.ok_or_else(|| bad("it has no description"))?;
        let stored = decode(OldRecord::default(), "raster description", 0, &bytes)?;
        let coder = match data {
            tags::CI8 => RasterCoder::of(tags::RLE, stored.width, stored.height)?,
            tags::II8 => RasterCoder::of(tags::IMC, stored.width, stored.height)?,
            _ => RasterCoder::OfElement,
        };
        let shape = vec![("rows", stored.height), ("columns", stored.width)];
        Ok(Description { number: BYTES, shape, coder })
    }
}
