//! Names of HDF4 objects as those of netCDF, and the arrays of the fields of tables.

use std::sync::Arc;

use ferrocdf_array::{Array, Layout, PastEnd};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf4::{File, NumberType, Piece, Place, Storage, Vdata, tags};
use ferrocdf_model::Name;

use crate::driver::LocatedArray;

/// Returns the netCDF name for a name of the file: slashes, which separate groups, become underscores, and no name is empty.
pub(super) fn legal(bytes: &[u8]) -> Name {
    let bytes = bytes.trim_ascii();
    if bytes.is_empty() {
        return Name::stored(b"unnamed");
    }
    let legal: Vec<u8> = bytes.iter().map(|&byte| if byte == b'/' { b'_' } else { byte }).collect();
    Name::stored(&legal)
}

/// Returns the array of a field of a table: one dimension of records, and one of the numbers of a record if there are several.
pub(super) fn table_array(file: &File, table: &Vdata, at: usize) -> Result<LocatedArray> {
    let Some(field) = table.fields.get(at) else {
        return Ok(Array::inline(vec![0], NumberType::FLOAT32.stored, vec![]).into());
    };
    let stored = field.number.stored;
    let size = stored.kind.size() as u64;
    let (mut shape, mut strides) = (vec![table.records], vec![table.record_size]);
    if field.order != 1 {
        shape.push(field.order);
        strides.push(size);
    }
    let element = file.element(tags::VS, table.reference)?;
    if let Some(Storage::Pieces(pieces)) = element.as_ref().map(|element| &element.storage)
        && let [Piece { place: Place::At(begin), len }] = *pieces.as_slice()
        && table.is_interlaced
        && table.records.checked_mul(table.record_size).is_some_and(|all| all <= len)
    {
        let layout = Layout::Strided { begin: begin.saturating_add(field.offset), strides };
        return Ok(Array { shape, stored, decoder: None, layout, past_end: PastEnd::Zero }.into());
    }
    // In pieces, compressed or cut off: tables are small enough to be read whole.
    let bytes = table.values(file, at)?;
    let records = (bytes.len() as u64).checked_div(field.size).unwrap_or(0);
    if records < table.records {
        let what = format!("table {:?} has {records} of {} records", table.reference, table.records);
        return Err(Error::new(Code::ETRUNC, what));
    }
    Ok(Array::inline(shape, stored, Arc::<[u8]>::from(bytes)).into())
}
