//! Conversion of the filters of the model to the filter pipeline of a dataset.
//!
//! Some filters derive parameters from the dataset: the size of elements, the shape of chunks. netCDF-C leaves this to
//! the `set_local` functions of its filter plugins; here it is implemented for each built-in filter, and plugins are
//! called.

use ferrocdf_bytes::{Code, Context, Error, Result};
use ferrocdf_codec::{Chain, DatasetInfo, ElementType};
use ferrocdf_hdf5::Step;
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Datatype};
use ferrocdf_model::Filter;

use super::super::filter_rules::check_available;
use crate::plugins;

/// Checks a requested filter: it must be available, and the parameters of a built-in one must be valid unless they are
/// derived from the dataset.
///
/// # Errors
/// `ENOFILTER`, `EFILTER`.
pub fn check_filter(filter: &Filter) -> Result<()> {
    let Filter { id, params } = filter;
    let step = step_of(*id, params.clone());
    check_available(*id)?;
    let learns = !matches!(*id, Filter::DEFLATE | Filter::BZIP2 | Filter::ZSTD);
    if learns { Ok(()) } else { check(&step) }
}

/// Checks that a filter is available and can encode with these parameters.
fn check(step: &Step) -> Result<()> {
    Chain::new(vec![step.clone()], &plugins::codecs()).check_encode()
}

fn step_of(id: u32, params: Vec<u32>) -> Step {
    let name = ferrocdf_codec::registered_name(id).unwrap_or_default().to_string();
    Step { id: id.into(), name, optional: id != Filter::FLETCHER32, params }
}

/// Properties of a dataset from which filters derive parameters.
pub(super) struct FilterInput<'a> {
    /// Datatype of the elements.
    pub datatype: &'a Datatype,
    /// Shape of a chunk.
    pub chunk: &'a [u64],
    /// Encoded fill value, if there is one.
    pub fill: Option<&'a [u8]>,
    /// True if the filter parameters are final: they have been derived for this type and chunk shape.
    pub settled: bool,
}

/// Returns the filters of a dataset. For strings and lists, plugins derive nothing.
pub(super) fn steps(filters: &[Filter], data: &FilterInput<'_>) -> Result<Vec<Step>> {
    let mut steps = filters.iter().map(|filter| step(filter, data)).collect::<Result<Vec<_>>>()?;
    if !data.varies() && !data.settled {
        ask_plugins(&mut steps, data)?;
    }
    Ok(steps)
}

/// Lets plugins derive their parameters (`set_local`).
fn ask_plugins(steps: &mut [Step], data: &FilterInput<'_>) -> Result<()> {
    let codecs = plugins::codecs();
    let Some(provider) = codecs.provider() else { return Ok(()) };
    let dataset = data.info();
    for at in 0..steps.len() {
        let id = steps[at].id.clone();
        if !ferrocdf_codec::is_built_in(&id) {
            provider.prepare(steps, at, &dataset).unwrap_or(Ok(())).at(|| format!("filter {id}"))?;
        }
    }
    Ok(())
}

/// Describes a datatype for filters.
fn element(datatype: &Datatype) -> ElementType {
    let mut element = ElementType {
        class: datatype.class.number(),
        size: datatype.size,
        big_endian: false,
        signed: false,
        precision: datatype.size.saturating_mul(8),
        offset: 0,
        base: None,
    };
    let mut bits = |order: ByteOrder, precision: u16, offset: u16| {
        element.big_endian = order == ByteOrder::Big;
        (element.precision, element.offset) = (precision.into(), offset.into());
    };
    match &datatype.class {
        Class::Integer(integer) => {
            bits(integer.order, integer.precision, integer.offset);
            element.signed = integer.signed;
        }
        Class::Float(float) => {
            bits(float.order, float.precision, float.offset);
            element.signed = true;
        }
        Class::Bits(field) => bits(field.order, field.precision, field.offset),
        Class::Enumeration { base, .. } | Class::Array { base, .. } | Class::Variable { base, .. } => {
            let base = self::element(base);
            (element.big_endian, element.signed) = (base.big_endian, base.signed);
            element.base = Some(Box::new(base));
        }
        _ => {}
    }
    element
}

fn step(filter: &Filter, data: &FilterInput<'_>) -> Result<Step> {
    let Filter { id, params } = filter;
    let mut params = params.clone();
    let size = data.datatype.size;
    let varies = data.varies();
    match *id {
        Filter::SHUFFLE if varies => params.clear(),
        Filter::FLETCHER32 => params.clear(),
        Filter::SZIP if !varies => params = ferrocdf_codec::szip_params(&params, &data.info())?,
        Filter::NBIT => params = nbit(data),
        // Encoded chunks are copied only if the parameters, which include the fill value, stay the same.
        Filter::SCALE_OFFSET if data.settled => {}
        Filter::SCALE_OFFSET => params = scale_offset(&params, data)?,
        _ => {
            let chunk = small(data.elements().saturating_mul(size.into()));
            ferrocdf_codec::derive(&(*id).into(), &mut params, size, chunk);
        }
    }
    let step = step_of(*id, params);
    // Encoded chunks may be copied even if their filters are not available.
    if !data.settled {
        check_available(*id)?;
    }
    if !varies && ferrocdf_codec::is_built_in(&(*id).into()) {
        check(&step)?;
    }
    Ok(step)
}

impl FilterInput<'_> {
    /// True for elements of variable length: filters then see their references to the global heap, not the values.
    fn varies(&self) -> bool {
        matches!(self.datatype.class, Class::Variable { .. })
    }

    fn info(&self) -> DatasetInfo {
        DatasetInfo { element: element(self.datatype), chunk: self.chunk.to_vec() }
    }

    /// Returns the number of elements of a chunk.
    fn elements(&self) -> u64 {
        self.chunk.iter().fold(1, |count, &len| count.saturating_mul(len))
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the parameters of n-bit: their number; 1 for "no compression needed", since numbers of netCDF use all their
/// bits; the number of elements of a chunk; class, size, byte order, precision and offset of a number.
fn nbit(data: &FilterInput<'_>) -> Vec<u32> {
    const ATOMIC: u32 = 1;
    let number = match &data.datatype.class {
        Class::Integer(integer) => Some((integer.order, integer.precision)),
        Class::Float(float) => Some((float.order, float.precision)),
        _ => None,
    };
    let mut params = vec![3, 1, small(data.elements())];
    if let Some((order, precision)) = number {
        let big = order == ByteOrder::Big;
        params.extend([ATOMIC, data.datatype.size, big.into(), precision.into(), 0]);
        params[0] = 8;
    }
    params
}

/// Returns the twenty parameters of scale-offset: scale type and factor, elements of a chunk, class, size, sign and
/// byte order of a number, 1 for "has a fill value", and the fill value in words of four bytes.
fn scale_offset(given: &[u32], data: &FilterInput<'_>) -> Result<Vec<u32>> {
    let &[way, factor, ..] = given else {
        return Err(Error::new(Code::EFILTER, "scale-offset needs two parameters: the way, and a factor"));
    };
    let (class, signed, order) = match &data.datatype.class {
        Class::Integer(integer) => (0, integer.signed, integer.order),
        Class::Float(float) => (1, false, float.order),
        _ => return Err(Error::new(Code::EFILTER, "scale-offset is for numbers")),
    };
    let (size, big) = (data.datatype.size, order == ByteOrder::Big);
    let count = small(data.elements());
    let mut params = vec![way, factor, count, class, size, signed.into(), big.into()];
    // A dataset without a fill value of its own has that of HDF5, zero.
    params.push(1);
    let mut fill = data.fill.unwrap_or_default().to_vec();
    if big {
        fill.reverse();
    }
    params.extend(
        fill.chunks(4).map(|part| part.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))),
    );
    params.resize(20, 0);
    Ok(params)
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
            steps(
                &[filter],
                &FilterInput {
                    datatype: &float,
                    chunk: &[64, 64],
                    fill: Some(&[0, 0, 0xf0, 0x7c]),
                    settled: false,
                },
            )
            .unwrap()
            .remove(0)
        };
        assert_eq!(of(Filter::SZIP, &[32, 32]).params, [169, 32, 32, 64]);
        assert_eq!(of(Filter::SZIP, &[4, 16]).params, [141, 16, 32, 64]);
        assert_eq!(of(Filter::BLOSC, &[0, 0, 0, 0, 7, 2, 5]).params, [0, 0, 4, 16384, 7, 2, 5]);
        assert_eq!(of(Filter::SHUFFLE, &[]).params, [4]);
        assert_eq!(of(Filter::NBIT, &[]).params, [8, 1, 4096, 1, 4, 0, 32, 0]);
        // Parameters of numbers with fewer bits, in other chunks.
        assert_eq!(of(Filter::NBIT, &[8, 0, 4, 1, 4, 1, 17, 3]).params, [8, 1, 4096, 1, 4, 0, 32, 0]);
        let scaled = of(Filter::SCALE_OFFSET, &[0, 3]).params;
        assert_eq!((&scaled[..9], scaled.len()), (&[0, 3, 4096, 1, 4, 0, 0, 1, 0x7cf0_0000][..], 20));
        assert_eq!(of(Filter::BITSHUFFLE, &[0, 2]).params, [0, 4, 4, 0, 2]);
        assert_eq!(of(Filter::BITSHUFFLE, &[0, 3, 5]).params, [0, 4, 4, 0, 3, 5]);
        let wrong =
            |id, params: &[u32]| check_filter(&Filter { id, params: params.to_vec() }).unwrap_err().code;
        assert_eq!(
            (wrong(1, &[]), wrong(1, &[55]), wrong(1, &[1, 5])),
            (Code::EFILTER, Code::EFILTER, Code::EFILTER)
        );
        assert_eq!((wrong(307, &[77]), wrong(5555, &[1])), (Code::EFILTER, Code::ENOFILTER));
        // Some files have these parameters, but no writer encodes with them.
        let data = FilterInput { datatype: &float, chunk: &[64, 64], fill: None, settled: false };
        let other = Filter { id: Filter::BITSHUFFLE, params: vec![0, 5] };
        assert_eq!(steps(&[other], &data).unwrap_err().code, Code::EFILTER);
        assert!(!of(Filter::FLETCHER32, &[]).optional && of(Filter::SHUFFLE, &[]).optional);
    }
}
