//! The coders of the older interfaces, which a description names, and pixels of several components in chunks.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::Result;
use ferrocdf_codec::{FilterId, Step};

use crate::sd::Var;
use crate::wire::bad;
use crate::{Compression, Element, Storage, tags};

/// The coder of the bytes of a raster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sd) enum RasterCoder {
    /// None, or that of a special element.
    OfElement,
    /// `DFTAG_RLE`.
    Rle,
    /// `DFTAG_IMC`, of a raster of this width.
    Imcomp(u32),
}

impl RasterCoder {
    /// Returns the coder that a description names for compressed data.
    pub(super) fn of(tag: u16, width: u64, height: u64) -> Result<RasterCoder> {
        match tag {
            tags::RLE => Ok(RasterCoder::Rle),
            tags::IMC => match u32::try_from(width) {
                Ok(known) if known.is_multiple_of(4) && height.is_multiple_of(4) => {
                    Ok(RasterCoder::Imcomp(known))
                }
                _ => Err(bad(format!(
                    "compressed by IMCOMP, which has squares of 4 x 4 pixels, with {height} rows and {width} columns"
                ))),
            },
            tags::JPEG..=tags::GREY_JPEG_5 => Err(bad("compressed as JPEG, which is not read")),
            tag => Err(bad(format!("compressed by coder {tag}, which is not known"))),
        }
    }

    /// Returns the element with the data of a raster, from the element that the file has.
    pub(in crate::sd) fn element(self, element: Element, raster: &Var) -> Result<Element> {
        let (name, params) = match self {
            RasterCoder::OfElement => return with_components(element, raster),
            RasterCoder::Rle => ("hdf4_raster_rle", vec![]),
            RasterCoder::Imcomp(width) => ("hdf4_imcomp", vec![width]),
        };
        let Storage::Pieces(pieces) = element.storage else {
            return Err(bad("a special element with data that an old interface compressed"));
        };
        let id = FilterId::named(name);
        let steps = vec![Step { id, name: String::new(), optional: false, params }];
        let size = raster.number.size() as u64;
        let len = raster.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        Ok(Element { len, storage: Storage::Compressed { compression: Compression { steps }, pieces } })
    }
}

/// Returns a chunked element with the dimension of the components, which the file does not chunk: an element of a chunk is a pixel.
fn with_components(element: Element, raster: &Var) -> Result<Element> {
    match (element.storage, &raster.shape[..]) {
        (Storage::Chunked(chunked), &[_, _, components]) if chunked.dims.len() == 2 => {
            let storage = Storage::Chunked(chunked.split_pixels(components)?);
            Ok(Element { len: element.len, storage })
        }
        (storage, _) => Ok(Element { len: element.len, storage }),
    }
}
