//! From bytes to a datatype.

use ferrocdf_bytes::Result;

use super::{Bits, ByteOrder, Class, Datatype, Float, Integer, Member, Norm, Padding, Pads, Reference, Text};
use crate::wire::{Reader, up_to_nul, width_of};

/// How deep datatypes may lie in one another.
const DEPTH: usize = 64;

/// The most bytes of a number: offset and precision have 16 bits.
const WIDEST: u32 = 1 << 14;

/// The most dimensions of an array.
const RANK: usize = 32;

impl Datatype {
    /// A datatype from a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no datatype.
    pub fn decode(bytes: &[u8]) -> Result<Datatype> {
        Datatype::decode_prefix(bytes).map(|(datatype, _)| datatype)
    }

    /// A datatype at the start of `bytes`, and how many bytes it took.
    ///
    /// # Errors
    /// As [`Datatype::decode`].
    pub fn decode_prefix(bytes: &[u8]) -> Result<(Datatype, usize)> {
        let mut reader = Reader::new("datatype", bytes);
        let datatype = datatype(&mut reader, DEPTH)?;
        Ok((datatype, reader.position()))
    }
}

/// The 24 class bits.
#[derive(Clone, Copy)]
struct Flags(u32);

impl Flags {
    fn bit(self, bit: u32) -> bool {
        self.0 >> bit & 1 != 0
    }

    fn field(self, low: u32, bits: u32) -> u32 {
        self.0 >> low & ((1 << bits) - 1)
    }

    fn order(self) -> ByteOrder {
        if self.bit(0) { ByteOrder::Big } else { ByteOrder::Little }
    }

    fn pads(self) -> Pads {
        Pads { low: self.bit(1), high: self.bit(2), internal: false }
    }
}

fn datatype(r: &mut Reader<'_>, depth: usize) -> Result<Datatype> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(r.error(format_args!("more than {DEPTH} datatypes lie in one another")));
    };
    let head = r.u32()?;
    let (class, version, flags) = (head & 0xf, (head >> 4 & 0xf) as u8, Flags(head >> 8));
    if !(1..=5).contains(&version) {
        return Err(r.error(format_args!("version {version} is unknown")));
    }
    let size = r.u32()?;
    if size == 0 {
        return Err(r.error("the size of an element is 0"));
    }
    let class = match class {
        0 => Class::Integer(integer(r, flags, size)?),
        1 => Class::Float(float(r, version, flags, size)?),
        2 => Class::Time { order: flags.order(), precision: r.u16()? },
        3 => Class::Text(text(r, flags, 0)?),
        4 => {
            let Integer { order, pads, offset, precision, .. } = integer(r, flags, size)?;
            Class::Bits(Bits { order, pads, offset, precision })
        }
        5 => Class::Opaque { tag: up_to_nul(r.take(flags.field(0, 8) as usize)?).to_vec() },
        6 => compound(r, version, flags.field(0, 16), size, depth)?,
        7 => Class::Reference(reference(r, flags)?),
        8 => enumeration(r, version, flags.field(0, 16), size, depth)?,
        9 => {
            let text = match flags.field(0, 4) {
                0 => None,
                1 => Some(text(r, flags, 4)?),
                kind => return Err(r.error(format_args!("kind {kind} of variable length is unknown"))),
            };
            Class::Variable { text, base: Box::new(datatype(r, depth)?) }
        }
        10 => array(r, version, size, depth)?,
        11 => complex(r, flags, size, depth)?,
        _ => return Err(r.error(format_args!("class {class} is unknown"))),
    };
    Ok(Datatype { version, size, class })
}

fn integer(r: &mut Reader<'_>, flags: Flags, size: u32) -> Result<Integer> {
    let (offset, precision) = (r.u16()?, r.u16()?);
    value_fits(r, offset, precision, size)?;
    Ok(Integer { order: flags.order(), pads: flags.pads(), signed: flags.bit(3), offset, precision })
}

fn value_fits(r: &Reader<'_>, offset: u16, precision: u16, size: u32) -> Result<()> {
    let bits = u64::from(size) * 8;
    if size > WIDEST {
        return Err(r.error(format_args!("a number of {size} bytes, of which {precision} bits count")));
    }
    if precision == 0 || u64::from(offset) + u64::from(precision) > bits {
        let why =
            format_args!("a precision of {precision} bits at bit {offset} in an element of {bits} bits");
        return Err(r.error(why));
    }
    Ok(())
}

fn float(r: &mut Reader<'_>, version: u8, flags: Flags, size: u32) -> Result<Float> {
    let order = match (flags.bit(6) && version >= 3, flags.bit(0)) {
        (false, _) => flags.order(),
        (true, true) => ByteOrder::Vax,
        (true, false) => return Err(r.error("the order of the bytes is unknown")),
    };
    if order == ByteOrder::Vax && !size.is_multiple_of(2) {
        return Err(r.error("an odd number of bytes in pairs"));
    }
    let norm = match flags.field(4, 2) {
        0 => Norm::None,
        1 => Norm::Set,
        2 => Norm::Implied,
        norm => return Err(r.error(format_args!("mantissa normalization {norm} is unknown"))),
    };
    let float = Float {
        order,
        pads: Pads { internal: flags.bit(3), ..flags.pads() },
        norm,
        sign: flags.field(8, 8) as u8,
        offset: r.u16()?,
        precision: r.u16()?,
        exponent: r.u8()?,
        exponent_bits: r.u8()?,
        mantissa: r.u8()?,
        mantissa_bits: r.u8()?,
        bias: r.u32()?,
    };
    value_fits(r, float.offset, float.precision, size)?;
    let bits = u64::from(size) * 8;
    let inside = |low: u8, count: u8| u64::from(low) + u64::from(count) <= bits;
    let parts =
        [(float.sign, 1), (float.exponent, float.exponent_bits), (float.mantissa, float.mantissa_bits)];
    if !parts.iter().all(|&(low, count)| count > 0 && inside(low, count)) {
        return Err(r.error("sign, exponent or mantissa lie outside the element"));
    }
    let apart = |a: (u8, u8), b: (u8, u8)| {
        let end = |(low, count): (u8, u8)| u16::from(low) + u16::from(count);
        end(a) <= u16::from(b.0) || end(b) <= u16::from(a.0)
    };
    if !apart(parts[0], parts[1]) || !apart(parts[0], parts[2]) || !apart(parts[1], parts[2]) {
        return Err(r.error("sign, exponent and mantissa overlap"));
    }
    Ok(float)
}

fn text(r: &Reader<'_>, flags: Flags, low: u32) -> Result<Text> {
    let padding = match flags.field(low, 4) {
        0 => Padding::NullTerminated,
        1 => Padding::NullPadded,
        2 => Padding::SpacePadded,
        padding => return Err(r.error(format_args!("string padding {padding} is unknown"))),
    };
    let charset = flags.field(low + 4, 4) as u8;
    if charset > 1 {
        return Err(r.error(format_args!("character set {charset} is unknown")));
    }
    Ok(Text { padding, charset })
}

/// The revised kinds came with version 4, but the reference writes them in version 1 too. They have one encoding yet.
fn reference(r: &Reader<'_>, flags: Flags) -> Result<Reference> {
    let encoding = flags.field(4, 4) as u8;
    match (flags.field(0, 4), encoding) {
        (0, _) => Ok(Reference::Object),
        (1, _) => Ok(Reference::Region),
        (2, 1) => Ok(Reference::Object2(encoding)),
        (3, 1) => Ok(Reference::Region2(encoding)),
        (4, 1) => Ok(Reference::Attribute(encoding)),
        (kind, _) => Err(r.error(format_args!("kind {kind} of references, encoding {encoding}, is unknown"))),
    }
}

/// A name that ends with a NUL; before version 3 with as many as make it a multiple of 8 bytes.
fn name(r: &mut Reader<'_>, version: u8) -> Result<Vec<u8>> {
    let rest = r.rest();
    let name = up_to_nul(rest);
    if name.len() == rest.len() {
        return Err(r.error("a name has no end"));
    }
    let stored = name.len() + 1;
    r.skip(if version < 3 { stored.next_multiple_of(8) } else { stored })?;
    Ok(name.to_vec())
}

fn compound(r: &mut Reader<'_>, version: u8, count: u32, size: u32, depth: usize) -> Result<Class> {
    if count == 0 {
        return Err(r.error("a compound without members"));
    }
    let mut members = Vec::new();
    for _ in 0..count {
        let name = name(r, version)?;
        let offset = r.uint(if version < 3 { 4 } else { width_of(u64::from(size)) })?;
        let dims = if version == 1 { old_dims(r)? } else { Vec::new() };
        let mut datatype = datatype(r, depth)?;
        if !dims.is_empty() {
            datatype = array_of(r, version, dims, datatype)?;
        }
        if offset + u64::from(datatype.size) > u64::from(size) {
            let name = name.escape_ascii();
            return Err(
                r.error(format_args!("member \"{name}\" reaches beyond the compound of {size} bytes"))
            );
        }
        // Not more than a size of 32 bits.
        members.push(Member { name, offset: offset as u32, datatype });
    }
    let mut spans: Vec<_> = members.iter().map(|member| (member.offset, member.datatype.size)).collect();
    spans.sort_unstable();
    if spans.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err(r.error("members of a compound overlap"));
    }
    Ok(Class::Compound { members })
}

/// The dimensions that members had in the first version, instead of a datatype of arrays.
fn old_dims(r: &mut Reader<'_>) -> Result<Vec<u32>> {
    let rank = usize::from(r.u8()?);
    if rank > 4 {
        return Err(r.error(format_args!("a member of {rank} dimensions")));
    }
    r.skip(3 + 4 + 4)?;
    let mut dims = Vec::with_capacity(4);
    for _ in 0..4 {
        dims.push(r.u32()?);
    }
    dims.truncate(rank);
    Ok(dims)
}

/// An array, as large as its elements together.
fn array_of(r: &Reader<'_>, version: u8, dims: Vec<u32>, base: Datatype) -> Result<Datatype> {
    let size = dims.iter().try_fold(base.size, |size, &len| size.checked_mul(len));
    let Some(size) = size.filter(|&size| size > 0) else {
        return Err(r.error(format_args!("an array of shape {dims:?} with elements of {} bytes", base.size)));
    };
    Ok(Datatype { version, size, class: Class::Array { dims, base: Box::new(base) } })
}

fn array(r: &mut Reader<'_>, version: u8, size: u32, depth: usize) -> Result<Class> {
    // Version 1 should have no arrays, but some files do, stored as version 2 stores them.
    let rank = usize::from(r.u8()?);
    if rank == 0 || rank > RANK {
        return Err(r.error(format_args!("an array of {rank} dimensions")));
    }
    if version < 3 {
        r.skip(3)?;
    }
    let mut dims = Vec::with_capacity(rank);
    for _ in 0..rank {
        dims.push(r.u32()?);
    }
    if version < 3 {
        r.skip(4 * rank)?;
    }
    let base = datatype(r, depth)?;
    let array = array_of(r, version, dims, base)?;
    if array.size != size {
        return Err(r.error(format_args!("an array of {} bytes has elements of {size}", array.size)));
    }
    Ok(array.class)
}

fn enumeration(r: &mut Reader<'_>, version: u8, count: u32, size: u32, depth: usize) -> Result<Class> {
    let base = Box::new(datatype(r, depth)?);
    if base.size != size || !matches!(base.class, Class::Integer(_)) {
        return Err(r.error("an enumeration whose base is no integer of its size"));
    }
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(name(r, version)?);
    }
    let mut members = Vec::with_capacity(names.len());
    for name in names {
        members.push((name, r.take(base.size as usize)?.to_vec()));
    }
    Ok(Class::Enumeration { base, members })
}

fn complex(r: &mut Reader<'_>, flags: Flags, size: u32, depth: usize) -> Result<Class> {
    let (homogeneous, form) = (flags.bit(0), flags.field(1, 2) as u8);
    let base = Box::new(datatype(r, depth)?);
    if !matches!(base.class, Class::Float(_)) || base.size.checked_mul(2) != Some(size) {
        return Err(r.error("a complex number that is not two floating-point numbers"));
    }
    Ok(Class::Complex { homogeneous, form, base })
}

#[cfg(test)]
mod tests;
