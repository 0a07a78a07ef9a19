//! IMCOMP, the lossy coder of 8-bit rasters of HDF4's old interfaces, `DFTAG_IMC` (`dfimcomp.c` of HDF4): each square of 4 times 4 pixels has
//! two colours, and a bit for each pixel says which one it has. The parameter is the width of the raster.

use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_imcomp"),
    names: &["hdf4_imcomp"],
    new: |params, _| Imcomp::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

/// Pixels along the side of a square.
const SIDE: usize = 4;

/// Bytes of a square: 16 bits, those of the upper rows first, the colour of bits that are set, and the other colour.
const SQUARE: usize = 4;

#[derive(Debug)]
struct Imcomp {
    width: usize,
}

impl Imcomp {
    fn new(params: &[u32]) -> Result<Imcomp> {
        match *params {
            [width] if width > 0 && width.is_multiple_of(SIDE as u32) => Ok(Imcomp { width: width as usize }),
            _ => {
                Err(bad_params(format!("hdf4_imcomp: takes the width, a multiple of {SIDE}, not {params:?}")))
            }
        }
    }
}

impl SliceCodec for Imcomp {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let band = self.width * SIDE;
        if !decoded.len().is_multiple_of(band) {
            return Err(corrupt(format!(
                "{} pixels are no squares of {SIDE} rows of {}",
                decoded.len(),
                self.width
            )));
        }
        let (squares, wanted) = (encoded.as_chunks::<SQUARE>().0, decoded.len() / (SIDE * SIDE));
        if squares.len() < wanted {
            return Err(corrupt(format!("{} squares of {wanted}", squares.len())));
        }
        let bands = decoded.chunks_exact_mut(band).zip(squares.chunks_exact(self.width / SIDE));
        for (pixels, squares) in bands {
            for (row, pixels) in pixels.chunks_exact_mut(self.width).enumerate() {
                for (pixels, &[high, low, set, other]) in pixels.chunks_exact_mut(SIDE).zip(squares) {
                    let bits = u16::from_be_bytes([high, low]) << (row * SIDE);
                    for (column, pixel) in pixels.iter_mut().enumerate() {
                        *pixel = if bits << column & 0x8000 != 0 { set } else { other };
                    }
                }
            }
        }
        Ok(Some(decoded.len()))
    }

    fn encode(&self, _decoded: &[u8], _encoded: &mut Vec<u8>) -> Result<Option<()>> {
        self.check_encode().map(|()| None)
    }

    fn check_encode(&self) -> Result<()> {
        Err(bad_params("hdf4_imcomp: it is lossy and only decodes"))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(SIDE * SIDE / SQUARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_have_two_colours() {
        let codec = Imcomp::new(&[8]).unwrap();
        let mut out = [0; 32];
        let encoded = [0b1000_0100, 0b0010_0001, 7, 1, 0xff, 0x00, 5, 6];
        assert_eq!(codec.decode(&encoded, &mut out).unwrap(), Some(32));
        let rows = [
            [7, 1, 1, 1, 5, 5, 5, 5],
            [1, 7, 1, 1, 5, 5, 5, 5],
            [1, 1, 7, 1, 6, 6, 6, 6],
            [1, 1, 1, 7, 6, 6, 6, 6],
        ];
        assert_eq!(out, *rows.as_flattened());
        assert!(codec.decode(&encoded[..7], &mut out).is_err());
        assert!(Imcomp::new(&[6]).is_err() && Imcomp::new(&[]).is_err());
    }
}
