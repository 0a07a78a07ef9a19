//! Chunked rasters that have not as many rows as columns.
//!
//! The library lets chunks divide an array of columns times rows, and lays the pixels of the raster, row by row, into that array as if it
//! were a file. So the chunks of a raster that is not square are no rectangles of it, and its bytes are those of the array in order.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_array::{Array, Kind, Out, Selection, Stored, read};
use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, forward};

use crate::chunks::ChunkedElement;
use crate::sd::{Attribute, FILL_VALUE, Located, Var};
use crate::wire::bad;
use crate::{File, NumberType};

/// Maximum number of bytes of a row of the array: a read takes memory for whole ones.
const MAX_ROW: u64 = 16 << 20;

/// True if the chunks are rectangles of the raster.
pub(in crate::sd) fn has_rectangles(chunked: &ChunkedElement, shape: &[u64]) -> bool {
    chunked.dims == shape
}

/// Returns the raster as contiguous bytes of the array that its chunks divide.
pub(in crate::sd) fn locate(raster: &Var, file: &File, chunked: &ChunkedElement) -> Result<Located> {
    let count = |lens: &[u64]| lens.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
    if count(&chunked.dims).is_none_or(|pixels| count(&raster.shape) != Some(pixels)) {
        return Err(bad(format!(
            "chunks of an array of {:?} in a raster of {:?}",
            chunked.dims, raster.shape
        )));
    }
    let number = bytes_as_stored(raster.number);
    let fill = Attribute { name: FILL_VALUE.to_vec(), number, bytes: raster.fill() };
    let array = Var { number, shape: chunked.dims.clone(), attributes: vec![fill], ..raster.clone() };
    let located = array.chunked(file, chunked)?;
    let size = number.size() as u64;
    let rest = located.array.shape.iter().skip(1);
    let row = rest.fold(size, |bytes, &len| bytes.saturating_mul(len));
    if row > MAX_ROW {
        return Err(bad(format!("chunks of an array with rows of {row} bytes, more than {MAX_ROW}")));
    }
    let blob = located.blob.unwrap_or_else(|| file.blob().clone());
    raster.contiguous(0, Some(Arc::new(LinearBlob { blob, array: located.array, row })))
}

/// The type whose numbers are read without conversion: as large, unsigned, in this machine's order.
fn bytes_as_stored(number: NumberType) -> NumberType {
    let kind = match number.size() {
        1 => Kind::U8,
        2 => Kind::U16,
        4 => Kind::U32,
        _ => Kind::U64,
    };
    NumberType { code: number.code, stored: Stored::native(kind) }
}

/// The bytes of an array in order.
struct LinearBlob {
    blob: Arc<dyn Blob>,
    array: Array,
    /// Bytes of a row: of an element of the first dimension.
    row: u64,
}

impl Blob for LinearBlob {
    fn size(&self) -> Result<u64> {
        Ok(self.array.shape.first().map_or(0, |&rows| rows.saturating_mul(self.row)))
    }

    /// Reads the rows that have the bytes.
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let end = at.saturating_add(into.len() as u64).min(self.size()?);
        if at >= end || self.row == 0 {
            return Ok(0);
        }
        let mut selection = Selection::all(&self.array.shape);
        let (first, last) = (at.checked_div(self.row).unwrap_or(0), end.div_ceil(self.row));
        let rows = last.saturating_sub(first);
        (selection.start[0], selection.count[0]) = (first, rows);
        let mut bytes = vec![0; rows.saturating_mul(self.row).to_usize("bytes of rows")?];
        let _same_type =
            read(&*self.blob, &self.array, &selection, Out::raw(self.array.stored.kind, &mut bytes))?;
        let skip = at.saturating_sub(first.saturating_mul(self.row)).saturate();
        let len = end.saturating_sub(at).saturate();
        into[..len].copy_from_slice(&bytes[skip..skip.saturating_add(len)]);
        Ok(len)
    }

    forward!([.blob] name cost forget);
}
