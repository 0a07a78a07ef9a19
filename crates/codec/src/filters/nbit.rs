//! N-bit (filter 5): the significant bits of each number, one behind the other, the highest first ("N-bit Filter" of the
//! HDF5 user guide).
//!
//! The parameters are their count, a flag that says that nothing is compressed, the number of elements, and the type: a tree,
//! written down from its root. It is read once into [`Part`]s, all of whose sizes are checked; after that every element
//! takes the same bits, which are counted before the first is read.

use ferrocdf_bytes::Result;

use super::bits::{Bits, Writer, get, put};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// Types within types.
const DEPTH: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(5),
    names: &["nbit"],
    make: |params, _| Nbit::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Nbit {
    /// `None` where nothing is compressed.
    element: Option<Part>,
    count: usize,
}

/// A type.
#[derive(Debug)]
struct Part {
    /// In bytes, at least one.
    size: usize,
    /// Bits it is compressed to.
    bits: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A number of `precision` bits, `offset` bits above the lowest.
    Number {
        big: bool,
        precision: u32,
        offset: u32,
    },
    Array(Box<Part>),
    /// Members and where they lie.
    Compound(Vec<(usize, Part)>),
    /// Bytes as they are.
    Bytes,
}

impl Nbit {
    pub fn new(params: &[u32]) -> Result<Nbit> {
        let &[len, decoded, count, ref rest @ ..] = params else {
            return Err(bad_params(format!("{} parameters do not describe a type", params.len())));
        };
        if len as usize != params.len() {
            return Err(bad_params(format!("{len} parameters are announced, there are {}", params.len())));
        }
        let count = count as usize;
        if decoded != 0 {
            return Ok(Nbit { element: None, count });
        }
        let element = Part::parse(&mut rest.iter(), DEPTH)?;
        if count.checked_mul(element.size).is_none() || element.bits.checked_mul(count as u64).is_none() {
            return Err(bad_params(format!("{count} elements of {} bytes are too many", element.size)));
        }
        Ok(Nbit { element: Some(element), count })
    }

    /// Bytes that all elements are compressed to. HDF5 counts the byte after the last bit even where it has no bit.
    fn compressed_len(&self, element: &Part) -> u64 {
        element.bits * self.count as u64 / 8 + 1
    }
}

impl Part {
    fn parse(rest: &mut std::slice::Iter<u32>, depth: usize) -> Result<Part> {
        let mut next = || rest.next().copied().ok_or_else(|| bad_params("the parameters end within a type"));
        let (class, size) = (next()?, next()?);
        let bytes = size as usize;
        if size == 0 || depth == 0 {
            return Err(bad_params(if size == 0 {
                "a type of no bytes"
            } else {
                "types are nested too deep"
            }));
        }
        let (bits, kind) = match class {
            1 => {
                let (order, precision, offset) = (next()?, next()?, next()?);
                let end = u64::from(precision) + u64::from(offset);
                if order > 1 || precision == 0 || end > u64::from(size) * 8 {
                    return Err(bad_params(format!(
                        "a number of {size} bytes cannot have {precision} bits from bit {offset} in order {order}"
                    )));
                }
                (precision.into(), Kind::Number { big: order == 1, precision, offset })
            }
            2 => {
                let base = Part::parse(rest, depth - 1)?;
                if !bytes.is_multiple_of(base.size) {
                    return Err(bad_params(format!("{size} bytes are no array of {} bytes", base.size)));
                }
                let bits = base.bits.checked_mul((bytes / base.size) as u64);
                (bits.ok_or_else(|| bad_params("an array of too many bits"))?, Kind::Array(Box::new(base)))
            }
            3 => {
                let count = next()?;
                let mut members = Vec::new();
                let mut bits = 0u64;
                for _ in 0..count {
                    let offset = rest.next().copied().unwrap_or(u32::MAX) as usize;
                    let member = Part::parse(rest, depth - 1)?;
                    if offset.checked_add(member.size).is_none_or(|end| end > bytes) {
                        return Err(bad_params(format!("a member at {offset} lies outside of {size} bytes")));
                    }
                    bits = bits.saturating_add(member.bits);
                    members.push((offset, member));
                }
                if bits == 0 || bits == u64::MAX {
                    return Err(bad_params(format!("a compound of {bits} bits")));
                }
                (bits, Kind::Compound(members))
            }
            4 => (u64::from(size) * 8, Kind::Bytes),
            _ => return Err(bad_params(format!("there is no class {class} of types"))),
        };
        Ok(Part { size: bytes, bits, kind })
    }

    /// Reads into bytes of the type's size, which are zero. `None` at the end of the bits.
    fn read(&self, bits: &mut Bits, to: &mut [u8]) -> Option<()> {
        match &self.kind {
            &Kind::Number { big, precision, offset } if self.size <= 8 => {
                put(bits.read(precision)? << offset, big, to);
            }
            &Kind::Number { big, precision, offset } => {
                for at in (offset..offset + precision).rev() {
                    to[byte_of(at, big, self.size)] |= (bits.read(1)? as u8) << (at % 8);
                }
            }
            Kind::Array(base) => to.chunks_exact_mut(base.size).try_for_each(|to| base.read(bits, to))?,
            Kind::Compound(members) => {
                for (at, member) in members {
                    member.read(bits, &mut to[*at..at + member.size])?;
                }
            }
            Kind::Bytes => {
                for byte in to {
                    *byte = bits.read(8)? as u8;
                }
            }
        }
        Some(())
    }

    /// Writes bytes of the type's size.
    fn write(&self, from: &[u8], bits: &mut Writer) {
        match &self.kind {
            &Kind::Number { big, precision, offset } if self.size <= 8 => {
                bits.write(get(big, from) >> offset, precision);
            }
            &Kind::Number { big, precision, offset } => {
                for at in (offset..offset + precision).rev() {
                    bits.write(u64::from(from[byte_of(at, big, self.size)] >> (at % 8)), 1);
                }
            }
            Kind::Array(base) => from.chunks_exact(base.size).for_each(|from| base.write(from, bits)),
            Kind::Compound(members) => {
                members.iter().for_each(|(at, member)| member.write(&from[*at..at + member.size], bits));
            }
            Kind::Bytes => from.iter().for_each(|&byte| bits.write(byte.into(), 8)),
        }
    }
}

/// The byte that holds this bit of a number.
fn byte_of(bit: u32, big: bool, size: usize) -> usize {
    let at = (bit / 8) as usize;
    if big { size - 1 - at } else { at }
}

impl SliceCodec for Nbit {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let Some(element) = &self.element else { return Ok(Some(encoded.len())) };
        // The last byte may have no bit, so that it may be missing.
        let need = (element.bits * self.count as u64).div_ceil(8);
        if need > encoded.len() as u64 {
            return Err(corrupt(format!(
                "{} stored bytes do not hold {} elements of {} bits",
                encoded.len(),
                self.count,
                element.bits
            )));
        }
        Ok(Some(self.count * element.size))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let Some(element) = &self.element else {
            decoded.copy_from_slice(encoded);
            return Ok(Some(encoded.len()));
        };
        decoded.fill(0);
        let mut bits = Bits::new(encoded);
        let done = decoded.chunks_exact_mut(element.size).try_for_each(|to| element.read(&mut bits, to));
        done.ok_or_else(|| corrupt("the bits end within an element"))?;
        Ok(Some(decoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let Some(element) = &self.element else {
            encoded.extend_from_slice(decoded);
            return Ok(Some(()));
        };
        if decoded.len() != self.count * element.size {
            return Err(bad_params(format!(
                "the parameters are for {} elements of {} bytes, not for {} bytes",
                self.count,
                element.size,
                decoded.len()
            )));
        }
        let mut bits = Writer::new(encoded);
        decoded.chunks_exact(element.size).for_each(|from| element.write(from, &mut bits));
        bits.finish();
        encoded.resize(self.compressed_len(element) as usize, 0);
        Ok(Some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        let Some(element) = &self.element else { return encoded };
        let elements = (encoded as u64).saturating_mul(8) / element.bits;
        usize::try_from(elements).unwrap_or(usize::MAX).min(self.count).saturating_mul(element.size)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        match &self.element {
            Some(element) => usize::try_from(self.compressed_len(element)).ok(),
            None => Some(decoded),
        }
    }
}
