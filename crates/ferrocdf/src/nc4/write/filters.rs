//! From the filters of the model to those of a dataset.
//!
//! Some filters learn of the data what nobody asked them for: the size of elements, the shape of chunks. The reference
//! leaves that to the `set_local` functions of its filter plugins; here each is written out.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::Step;
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Datatype};
use ferrocdf_model::Filter;

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
        Filter::SHUFFLE if varies => params.clear(),
        Filter::SHUFFLE => params = vec![datatype.size],
        Filter::FLETCHER32 => params.clear(),
        Filter::SZIP if !varies => params = szip(&params, datatype, chunk, elements)?,
        Filter::BLOSC if !varies => {
            params.resize(params.len().max(7), 0);
            params[2] = datatype.size;
            params[3] = u32::try_from(elements.saturating_mul(datatype.size.into())).unwrap_or(u32::MAX);
        }
        _ => {}
    }
    let name = ferrocdf_codec::registered_name(*id).unwrap_or_default().to_string();
    Ok(Step { id: *id, name, optional: *id != Filter::FLETCHER32, params })
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
        assert_eq!(of(Filter::SZIP, &[32, 32]).params, [169, 32, 32, 64]);
        assert_eq!(of(Filter::SZIP, &[4, 16]).params, [141, 16, 32, 64]);
        assert_eq!(of(Filter::BLOSC, &[0, 0, 0, 0, 7, 2, 5]).params, [0, 0, 4, 16384, 7, 2, 5]);
        assert_eq!(of(Filter::SHUFFLE, &[]).params, [4]);
        assert!(!of(Filter::FLETCHER32, &[]).optional && of(Filter::SHUFFLE, &[]).optional);
    }
}
