//! N-bit (filter 5): the significant bits of each number, concatenated, the most significant first ("N-bit Filter" of the
//! HDF5 user guide).
//!
//! The parameters are their count, a flag for "not compressed", the number of elements, and the element type: a tree in
//! preorder. The constructor parses it into [`Type`]s and checks all sizes. Every element has the same number of bits, so
//! the decoder checks the length of the encoded bytes before it reads the first element.

use ferrocdf_bytes::{Result, ToUsize};

use super::bits::{BitReader, BitWriter, read_number, write_number};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// Maximum nesting depth of types.
const MAX_DEPTH: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(5),
    names: &["nbit"],
    new: |params, _| Nbit::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

#[derive(Debug)]
pub struct Nbit {
    /// Type of the elements; `None` if the data are not compressed.
    element: Option<Type>,
    /// Number of elements.
    count: usize,
}

#[derive(Debug)]
struct Type {
    /// Decoded size in bytes, at least one.
    size: usize,
    /// Encoded size in bits.
    bits: u64,
    class: Class,
}

/// Class of a type (`H5Z_NBIT_ATOMIC` and others in `H5Znbit.c`).
#[derive(Debug)]
enum Class {
    /// Number of `precision` bits at bit offset `offset`.
    Atomic {
        big: bool,
        precision: u32,
        offset: u32,
    },
    Array(Box<Type>),
    /// Members with their byte offsets.
    Compound(Vec<(usize, Type)>),
    /// Bytes that are not compressed.
    NoOp,
}

impl Nbit {
    pub fn new(params: &[u32]) -> Result<Nbit> {
        let &[len, not_compressed, count, ref rest @ ..] = params else {
            return Err(bad_params(format!("{} parameters: too few for a type", params.len())));
        };
        if len as usize != params.len() {
            return Err(bad_params(format!("{} parameters: the first one says {len}", params.len())));
        }
        let count = count as usize;
        if not_compressed != 0 {
            return Ok(Nbit { element: None, count });
        }
        let element = Type::parse(&mut rest.iter(), MAX_DEPTH)?;
        if count.checked_mul(element.size).is_none() || element.bits.checked_mul(count as u64).is_none() {
            return Err(bad_params(format!("{count} elements of {} bytes: too many", element.size)));
        }
        Ok(Nbit { element: Some(element), count })
    }

    /// Returns the encoded size in bytes. Like HDF5, it counts the byte after the last full byte even if that has no bits.
    fn compressed_len(&self, element: &Type) -> u64 {
        element.bits * self.count as u64 / 8 + 1
    }
}

impl Type {
    fn parse(rest: &mut std::slice::Iter<u32>, depth: usize) -> Result<Type> {
        let mut next = || rest.next().copied().ok_or_else(|| bad_params("the parameters end within a type"));
        let (class, size) = (next()?, next()?);
        let bytes = size as usize;
        if size == 0 || depth == 0 {
            return Err(bad_params(if size == 0 {
                "a type has the size 0"
            } else {
                "types are nested too deeply"
            }));
        }
        let (bits, class) = match class {
            1 => {
                let (order, precision, offset) = (next()?, next()?, next()?);
                let end = u64::from(precision) + u64::from(offset);
                if order > 1 || precision == 0 || end > u64::from(size) * 8 {
                    return Err(bad_params(format!(
                        "a number of {size} bytes: invalid precision {precision}, offset {offset} or order {order}"
                    )));
                }
                (precision.into(), Class::Atomic { big: order == 1, precision, offset })
            }
            2 => {
                let base = Type::parse(rest, depth - 1)?;
                if !bytes.is_multiple_of(base.size) {
                    return Err(bad_params(format!(
                        "an array of {size} bytes: not a multiple of its element size {}",
                        base.size
                    )));
                }
                let bits = base.bits.checked_mul((bytes / base.size) as u64);
                (bits.ok_or_else(|| bad_params("an array has too many bits"))?, Class::Array(Box::new(base)))
            }
            3 => {
                let count = next()?;
                let mut members = Vec::new();
                let mut bits = 0u64;
                for _ in 0..count {
                    let offset = rest.next().copied().unwrap_or(u32::MAX) as usize;
                    let member = Type::parse(rest, depth - 1)?;
                    if offset.checked_add(member.size).is_none_or(|end| end > bytes) {
                        return Err(bad_params(format!(
                            "a compound of {size} bytes: the member at byte {offset} exceeds it"
                        )));
                    }
                    bits = bits.saturating_add(member.bits);
                    members.push((offset, member));
                }
                if bits == 0 || bits == u64::MAX {
                    return Err(bad_params(format!("a compound of {bits} bits: none, or too many")));
                }
                (bits, Class::Compound(members))
            }
            4 => (u64::from(size) * 8, Class::NoOp),
            _ => return Err(bad_params(format!("unknown class {class} of a type"))),
        };
        Ok(Type { size: bytes, bits, class })
    }

    /// Decodes one value into `to`, which has the size of the type and is zero. `None` if the bits end.
    fn read(&self, bits: &mut BitReader, to: &mut [u8]) -> Option<()> {
        match &self.class {
            &Class::Atomic { big, precision, offset } if self.size <= 8 => {
                write_number(bits.read(precision)? << offset, big, to);
            }
            &Class::Atomic { big, precision, offset } => {
                for at in (offset..offset + precision).rev() {
                    to[byte_of(at, big, self.size)] |= (bits.read(1)? as u8) << (at % 8);
                }
            }
            Class::Array(base) => to.chunks_exact_mut(base.size).try_for_each(|to| base.read(bits, to))?,
            Class::Compound(members) => {
                for (at, member) in members {
                    member.read(bits, &mut to[*at..at + member.size])?;
                }
            }
            Class::NoOp => {
                for byte in to {
                    *byte = bits.read(8)? as u8;
                }
            }
        }
        Some(())
    }

    /// Encodes one value from `from`, which has the size of the type.
    fn write(&self, from: &[u8], bits: &mut BitWriter) {
        match &self.class {
            &Class::Atomic { big, precision, offset } if self.size <= 8 => {
                bits.write(read_number(big, from) >> offset, precision);
            }
            &Class::Atomic { big, precision, offset } => {
                for at in (offset..offset + precision).rev() {
                    bits.write(u64::from(from[byte_of(at, big, self.size)] >> (at % 8)), 1);
                }
            }
            Class::Array(base) => from.chunks_exact(base.size).for_each(|from| base.write(from, bits)),
            Class::Compound(members) => {
                members.iter().for_each(|(at, member)| member.write(&from[*at..at + member.size], bits));
            }
            Class::NoOp => from.iter().for_each(|&byte| bits.write(byte.into(), 8)),
        }
    }
}

/// Returns the index of the byte that contains this bit of a number.
fn byte_of(bit: u32, big: bool, size: usize) -> usize {
    let at = (bit / 8) as usize;
    if big { size - 1 - at } else { at }
}

impl SliceCodec for Nbit {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let Some(element) = &self.element else { return Ok(Some(encoded.len())) };
        // The byte without bits at the end may be missing.
        let needed = (element.bits * self.count as u64).div_ceil(8);
        if needed > encoded.len() as u64 {
            return Err(corrupt(format!(
                "{} encoded bytes are too few for {} elements of {} bits",
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
        let mut bits = BitReader::new(encoded);
        let complete = decoded.chunks_exact_mut(element.size).try_for_each(|to| element.read(&mut bits, to));
        complete.ok_or_else(|| corrupt("the encoded bytes end within an element"))?;
        Ok(Some(decoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let Some(element) = &self.element else {
            encoded.extend_from_slice(decoded);
            return Ok(Some(()));
        };
        if decoded.len() != self.count * element.size {
            return Err(bad_params(format!(
                "the parameters are for {} elements of {} bytes, but the chunk has {} bytes",
                self.count,
                element.size,
                decoded.len()
            )));
        }
        let mut bits = BitWriter::new(encoded);
        decoded.chunks_exact(element.size).for_each(|from| element.write(from, &mut bits));
        bits.finish();
        encoded.resize(self.compressed_len(element).to_usize("encoded bytes")?, 0);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        let Some(element) = &self.element else { return encoded };
        let elements = (encoded as u64).saturating_mul(8) / element.bits;
        elements.at_most(self.count).saturating_mul(element.size)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        match &self.element {
            Some(element) => usize::try_from(self.compressed_len(element)).ok(),
            None => Some(decoded),
        }
    }
}
