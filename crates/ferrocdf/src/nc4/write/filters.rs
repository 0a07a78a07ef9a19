//! From the filters of the model to those of a dataset.
//!
//! Some filters learn of the data what nobody asked them for: the size of elements, the shape of chunks. The reference
//! leaves that to the `set_local` functions of its filter plugins; here each is written out.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::Step;
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Datatype};
use ferrocdf_model::Filter;

const SHUFFLE: u32 = 2;
const FLETCHER32: u32 = 3;
const SZIP: u32 = 4;
const NBIT: u32 = 5;
const SCALEOFFSET: u32 = 6;
const BLOSC: u32 = 32001;

/// The filters of a dataset with elements of a type, in chunks of a shape. Those of strings and lists learn nothing.
pub(super) fn steps(filters: &[Filter], datatype: &Datatype, chunk: &[u64]) -> Result<Vec<Step>> {
    filters.iter().map(|filter| step(filter, datatype, chunk)).collect()
}

fn step(filter: &Filter, datatype: &Datatype, chunk: &[u64]) -> Result<Step> {
    let Filter { id, params } = filter;
    let mut params = params.clone();
    let varies = matches!(datatype.class, Class::Variable { .. });
    let elements = chunk.iter().fold(1u64, |count, &len| count.saturating_mul(len));
    match *id {
        SHUFFLE if varies => params.clear(),
        SHUFFLE => params = vec![datatype.size],
        FLETCHER32 => params.clear(),
        SZIP if !varies => params = szip(&params, datatype, chunk, elements)?,
        NBIT => params = nbit(datatype, elements).unwrap_or(params),
        SCALEOFFSET => {
            let number = number(datatype).zip(params.get_mut(2..7));
            if let Some(((class, sign, order, ..), learned)) = number {
                learned.copy_from_slice(&[count(elements), class, datatype.size, sign, order]);
            }
        }
        BLOSC if !varies => {
            params.resize(params.len().max(7), 0);
            params[2] = datatype.size;
            params[3] = u32::try_from(elements.saturating_mul(datatype.size.into())).unwrap_or(u32::MAX);
        }
        _ => {}
    }
    let name = ferrocdf_codec::registered_name(*id).unwrap_or_default().to_string();
    Ok(Step { id: *id, name, optional: *id != FLETCHER32, params })
}

fn count(elements: u64) -> u32 {
    u32::try_from(elements).unwrap_or(u32::MAX)
}

/// What filters say of a number: 0 for integers and 1 for floats, 1 if an integer is signed, 1 for big endian; the bits of
/// the value, and those below it.
fn number(datatype: &Datatype) -> Option<(u32, u32, u32, u32, u32)> {
    let big = |order: &ByteOrder| u32::from(*order == ByteOrder::Big);
    match &datatype.class {
        Class::Integer(of) => {
            Some((0, of.signed.into(), big(&of.order), of.precision.into(), of.offset.into()))
        }
        Class::Float(of) => Some((1, 0, big(&of.order), of.precision.into(), of.offset.into())),
        _ => None,
    }
}

/// The eight parameters that packing bits works with: their number, whether nothing can be left out, elements, a number,
/// its bytes, their order, bits of the value and below it. `None` for elements that are no numbers.
fn nbit(datatype: &Datatype, elements: u64) -> Option<Vec<u32>> {
    let (_, _, order, precision, offset) = number(datatype)?;
    let full = u32::from(offset == 0 && precision == datatype.size.saturating_mul(8));
    Some(vec![8, full, count(elements), 1, datatype.size, order, precision, offset])
}

/// Option bits of szip: 13-bit samples allowed, no "chip", least and most significant byte first, no header.
const ALLOW_K13: u32 = 1;
const CHIP: u32 = 2;
const LSB: u32 = 8;
const MSB: u32 = 16;
const RAW: u32 = 128;
/// Blocks of a scanline at most, and its pixels.
const SCANLINE_BLOCKS: u64 = 128;
const SCANLINE_PIXELS: u64 = 4096;

/// The four parameters that szip works with: options, pixels of a block, bits of a pixel, pixels of a scanline.
fn szip(given: &[u32], datatype: &Datatype, chunk: &[u64], elements: u64) -> Result<Vec<u32>> {
    let &[options, block, ..] = given else {
        return Err(Error::new(Code::EFILTER, "szip needs two parameters: options, pixels of a block"));
    };
    let (order, precision) = match &datatype.class {
        Class::Integer(integer) => (integer.order, integer.precision),
        Class::Float(float) => (float.order, float.precision),
        _ => (ByteOrder::Little, 8),
    };
    let bits = match precision {
        0..=24 => u32::from(precision),
        25..=32 => 32,
        _ => 64,
    };
    let pixels = u64::from(block);
    if elements < pixels {
        let what = format!("szip blocks of {block} pixels in chunks of {elements} elements");
        return Err(Error::new(Code::EFILTER, what));
    }
    let most = pixels.saturating_mul(SCANLINE_BLOCKS);
    let scanline = match chunk.last().copied().unwrap_or(1) {
        line if line < pixels => most.min(elements),
        line if line <= SCANLINE_PIXELS => most.min(line),
        _ => most,
    };
    let order = if order == ByteOrder::Big { MSB } else { LSB };
    let options = options & !(CHIP | LSB | MSB) | ALLOW_K13 | RAW | order;
    Ok(vec![options, block, bits, u32::try_from(scanline).unwrap_or(u32::MAX)])
}

#[cfg(test)]
mod tests {
    use super::super::types;
    use super::*;
    use ferrocdf_model::Atomic;

    #[test]
    fn what_filters_learn() {
        let float = types::atomic(Atomic::Float, None);
        let of = |id, params: &[u32]| {
            let filter = Filter { id, params: params.to_vec() };
            steps(&[filter], &float, &[64, 64]).unwrap().remove(0)
        };
        assert_eq!(of(SZIP, &[32, 32]).params, [169, 32, 32, 64]);
        assert_eq!(of(SZIP, &[4, 16]).params, [141, 16, 32, 64]);
        assert_eq!(of(BLOSC, &[0, 0, 0, 0, 7, 2, 5]).params, [0, 0, 4, 16384, 7, 2, 5]);
        assert_eq!(of(SHUFFLE, &[]).params, [4]);
        // Of numbers that were stored in fewer bits, in other chunks.
        assert_eq!(of(NBIT, &[8, 0, 4, 1, 4, 1, 17, 3]).params, [8, 1, 4096, 1, 4, 0, 32, 0]);
        assert_eq!(of(SCALEOFFSET, &[0, 2, 4, 0, 2, 1, 1, 1, 9]).params, [0, 2, 4096, 1, 4, 0, 0, 1, 9]);
        assert!(!of(FLETCHER32, &[]).optional && of(SHUFFLE, &[]).optional);
    }
}
