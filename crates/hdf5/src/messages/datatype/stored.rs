//! "Datatype Message", versions 1 to 5, with the datatypes inside of it.
//!
//! Every datatype of the tree has its own version, as the reference does it: the members of a compound of version 3 may well be
//! numbers of version 1. [`Datatype::settle`] gives each the version it needs.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use super::class_bits::ClassBits;
use super::{
    Bits, ByteOrder, Class, Datatype, Float, Integer, Member, Norm, Padding, Pads, Reference, Text, WHAT,
};
use crate::fields::Fields;
use crate::wire::{up_to_nul, width_of};

/// How deep datatypes may lie in one another.
const DEPTH: usize = 64;

/// The most bytes of a number: offset and precision have 16 bits.
const WIDEST: u32 = 1 << 14;

/// The most dimensions of an array.
const RANK: usize = 32;

/// The most dimensions of a member in the first version.
const OLD_RANK: usize = 4;

impl Record for Datatype {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        self.fields_at(DEPTH, c)
    }
}

impl Datatype {
    /// The fields of a datatype in which others may lie `depth` levels deep, itself included.
    fn fields_at<C: Coder>(&mut self, depth: usize, c: &mut C) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(c.wrong(format!("more than {DEPTH} datatypes lie in one another")));
        };
        let Datatype { version, size, class } = self;
        let mut head = u64::from(*version) << 4 | u64::from(class.number());
        c.uint("class and version", 1, &mut head)?;
        // One byte has both.
        *version = (head >> 4) as u8;
        if !(1..=5).contains(version) {
            return Err(c.wrong(format!("version {version} is unknown")));
        }
        let mut count = class.count();
        let mut bits = ClassBits { value: 0, reads: C::READS };
        if !C::READS {
            bits.class(class, *version, &mut count).map_err(|why| c.wrong(why))?;
        }
        c.uint("class bit field", 3, &mut bits.value)?;
        c.int("size", size)?;
        if *size == 0 {
            return Err(c.wrong("the size of an element is 0"));
        }
        if C::READS {
            let number = head as u8 & 0xf;
            *class = Class::of_number(number).ok_or_else(|| c.wrong(format!("class {number} is unknown")))?;
            bits.class(class, *version, &mut count).map_err(|why| c.wrong(why))?;
        }
        class.properties(*version, *size, count, depth, c)
    }
}

impl Class {
    /// A class of this number, the rest of which is still to be read.
    fn of_number(number: u8) -> Option<Class> {
        let (order, pads) = (ByteOrder::Little, Pads { low: false, high: false, internal: false });
        let (offset, precision) = (0, 0);
        let base = Box::default;
        Some(match number {
            0 => Class::Integer(Integer { order, pads, signed: false, offset, precision }),
            1 => Class::Float(Float {
                order,
                pads,
                norm: Norm::None,
                offset,
                precision,
                sign: 0,
                exponent: 0,
                exponent_bits: 0,
                mantissa: 0,
                mantissa_bits: 0,
                bias: 0,
            }),
            2 => Class::Time { order, precision },
            3 => Class::Text(Text { padding: Padding::NullTerminated, charset: 0 }),
            4 => Class::Bits(Bits { order, pads, offset, precision }),
            5 => Class::Opaque { tag: vec![] },
            6 => Class::Compound { members: vec![] },
            7 => Class::Reference(Reference::Object),
            8 => Class::Enumeration { base: base(), members: vec![] },
            9 => Class::Variable { text: None, base: base() },
            10 => Class::Array { dims: vec![], base: base() },
            11 => Class::Complex { homogeneous: false, form: 0, base: base() },
            _ => return None,
        })
    }

    /// The number of members, or of bytes of the tag as stored, that the class bits have.
    fn count(&self) -> u32 {
        let count = match self {
            // With the NULs that make it a multiple of 8 bytes.
            Class::Opaque { tag } => tag.len().checked_next_multiple_of(8).unwrap_or(usize::MAX),
            Class::Compound { members } => members.len(),
            Class::Enumeration { members, .. } => members.len(),
            _ => 0,
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// "Properties" of a class in a datatype of `size` bytes.
    fn properties<C: Coder>(
        &mut self,
        version: u8,
        size: u32,
        count: u32,
        depth: usize,
        c: &mut C,
    ) -> Result<()> {
        match self {
            Class::Integer(Integer { offset, precision, .. })
            | Class::Bits(Bits { offset, precision, .. }) => value_bits(offset, precision, size, c),
            Class::Float(float) => float.fields(size, c),
            Class::Time { precision, .. } => c.int("bit precision", precision),
            Class::Text(_) | Class::Reference(_) => Ok(()),
            Class::Opaque { tag } => {
                tag.resize(count as usize, 0);
                c.bytes("ASCII tag", count.into(), tag)?;
                tag.truncate(up_to_nul(tag).len());
                Ok(())
            }
            Class::Compound { members } => compound(members, version, size, count, depth, c),
            Class::Enumeration { base, members } => {
                base.fields_at(depth, c)?;
                if base.size != size || !matches!(base.class, Class::Integer(_)) {
                    return Err(c.wrong("an enumeration whose base is no integer of its size"));
                }
                c.list("member", count.into(), members, |(name, _), c| fields_of_name(name, version, c))?;
                for (_, value) in members {
                    if !C::READS && value.len() != size as usize {
                        let stored = value.len();
                        return Err(c.wrong(format!("a value of {stored} bytes in an enumeration of {size}")));
                    }
                    c.bytes("value", size.into(), value)?;
                }
                Ok(())
            }
            Class::Variable { base, .. } => base.fields_at(depth, c),
            Class::Array { dims, base } => array(dims, base, version, size, depth, c),
            Class::Complex { base, .. } => {
                base.fields_at(depth, c)?;
                if !matches!(base.class, Class::Float(_)) || base.size.checked_mul(2) != Some(size) {
                    return Err(c.wrong("a complex number that is not two floating-point numbers"));
                }
                Ok(())
            }
        }
    }
}

/// Where the value lies in an element of `size` bytes.
fn value_bits<C: Coder>(offset: &mut u16, precision: &mut u16, size: u32, c: &mut C) -> Result<()> {
    c.int("bit offset", offset)?;
    c.int("bit precision", precision)?;
    let bits = u64::from(size).saturating_mul(8);
    if size > WIDEST {
        return Err(c.wrong(format!("a number of {size} bytes, of which {precision} bits count")));
    }
    if *precision == 0 || u64::from(*offset).saturating_add(u64::from(*precision)) > bits {
        return Err(
            c.wrong(format!("a precision of {precision} bits at bit {offset} in an element of {bits} bits"))
        );
    }
    Ok(())
}

impl Float {
    fn fields<C: Coder>(&mut self, size: u32, c: &mut C) -> Result<()> {
        value_bits(&mut self.offset, &mut self.precision, size, c)?;
        c.int("exponent location", &mut self.exponent)?;
        c.int("exponent size", &mut self.exponent_bits)?;
        c.int("mantissa location", &mut self.mantissa)?;
        c.int("mantissa size", &mut self.mantissa_bits)?;
        c.int("exponent bias", &mut self.bias)?;
        if self.order == ByteOrder::Vax && !size.is_multiple_of(2) {
            return Err(c.wrong("an odd number of bytes in pairs"));
        }
        let parts =
            [(self.sign, 1), (self.exponent, self.exponent_bits), (self.mantissa, self.mantissa_bits)];
        let end = |(low, count): (u8, u8)| u16::from(low).saturating_add(u16::from(count));
        // Numbers have 2^14 bytes at most.
        let inside = |part: &(u8, u8)| u32::from(end(*part)) <= size.saturating_mul(8) && part.1 > 0;
        if !parts.iter().all(inside) {
            return Err(c.wrong("sign, exponent or mantissa lie outside the element"));
        }
        let apart = |a: (u8, u8), b: (u8, u8)| end(a) <= u16::from(b.0) || end(b) <= u16::from(a.0);
        if !apart(parts[0], parts[1]) || !apart(parts[0], parts[2]) || !apart(parts[1], parts[2]) {
            return Err(c.wrong("sign, exponent and mantissa overlap"));
        }
        Ok(())
    }
}

/// A name with the NUL at its end; before version 3 with as many as make it a multiple of 8 bytes.
fn fields_of_name<C: Coder>(name: &mut Vec<u8>, version: u8, c: &mut C) -> Result<()> {
    c.until_nul("name", name)?;
    // The last seven of the NULs, at most.
    let padding = 7_usize.wrapping_sub(name.len()) % 8;
    c.reserved(if version < 3 { padding } else { 0 })
}

fn compound<C: Coder>(
    members: &mut Vec<Member>,
    version: u8,
    size: u32,
    count: u32,
    depth: usize,
    c: &mut C,
) -> Result<()> {
    if count == 0 {
        return Err(c.wrong("a compound without members"));
    }
    c.list("member", count.into(), members, |member, c| member.fields(version, size, depth, c))?;
    let mut spans: Vec<_> = members.iter().map(|member| (member.offset, member.datatype.size)).collect();
    spans.sort_unstable();
    if spans.windows(2).any(|pair| pair[0].0.saturating_add(pair[0].1) > pair[1].0) {
        return Err(c.wrong("members of a compound overlap"));
    }
    Ok(())
}

impl Member {
    fn fields<C: Coder>(&mut self, version: u8, size: u32, depth: usize, c: &mut C) -> Result<()> {
        fields_of_name(&mut self.name, version, c)?;
        let mut offset = u64::from(self.offset);
        c.uint("byte offset of member", if version < 3 { 4 } else { width_of(size.into()) }, &mut offset)?;
        // In the first version, dimensions belong to members: there is no datatype of arrays.
        let mut dims = vec![];
        if version == 1 {
            if let Class::Array { dims: of_array, base } = &mut self.datatype.class {
                dims = std::mem::take(of_array);
                self.datatype = std::mem::take(&mut **base);
            }
            fields_of_old_dims(&mut dims, c)?;
        }
        self.datatype.fields_at(depth, c)?;
        if !dims.is_empty() {
            let base = Box::new(std::mem::take(&mut self.datatype));
            self.datatype =
                Datatype { version, size: array_size(&dims, &base, c)?, class: Class::Array { dims, base } };
        }
        if offset.saturating_add(self.datatype.size.into()) > size.into() {
            let name = self.name.escape_ascii();
            return Err(c.wrong(format!("member \"{name}\" reaches beyond the compound of {size} bytes")));
        }
        // Not more than a size of 32 bits.
        self.offset = offset as u32;
        Ok(())
    }
}

/// The dimensions that members had in the first version, instead of a datatype of arrays.
fn fields_of_old_dims<C: Coder>(dims: &mut Vec<u32>, c: &mut C) -> Result<()> {
    let mut rank = dims.len() as u64;
    c.uint("dimensionality", 1, &mut rank)?;
    if rank > OLD_RANK as u64 {
        return Err(c.wrong(format!("a member of {rank} dimensions")));
    }
    c.reserved(3)?;
    c.uint("dimension permutation", 4, &mut 0)?;
    c.reserved(4)?;
    dims.resize(OLD_RANK, 0);
    for len in dims.iter_mut() {
        c.int("dimension size", len)?;
    }
    dims.truncate(rank.saturate());
    Ok(())
}

/// Bytes of an array: those of its elements together.
fn array_size<C: Coder>(dims: &[u32], base: &Datatype, c: &C) -> Result<u32> {
    let size = dims.iter().try_fold(base.size, |size, &len| size.checked_mul(len));
    size.filter(|&size| size > 0)
        .ok_or_else(|| c.wrong(format!("an array of shape {dims:?} with elements of {} bytes", base.size)))
}

fn array<C: Coder>(
    dims: &mut Vec<u32>,
    base: &mut Datatype,
    version: u8,
    size: u32,
    depth: usize,
    c: &mut C,
) -> Result<()> {
    // Version 1 should have no arrays, but some files do, stored as version 2 stores them.
    let mut rank = dims.len() as u64;
    c.uint("dimensionality", 1, &mut rank)?;
    if rank == 0 || rank > RANK as u64 {
        return Err(c.wrong(format!("an array of {rank} dimensions")));
    }
    if version < 3 {
        c.reserved(3)?;
    }
    c.list("dimension", rank, dims, |len, c| c.int("size", len))?;
    if version < 3 {
        // Always that of no change.
        for mut dim in 0..rank {
            c.uint("permutation index", 4, &mut dim)?;
        }
    }
    base.fields_at(depth, c)?;
    let elements = array_size(dims, base, c)?;
    if elements != size {
        return Err(c.wrong(format!("an array of {size} bytes has elements of {elements}")));
    }
    Ok(())
}

impl Datatype {
    /// A datatype from a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no datatype.
    pub fn decode(bytes: &[u8]) -> Result<Datatype> {
        let mut datatype = Datatype::default();
        crate::fields::read(&mut datatype, WHAT, bytes)?;
        Ok(datatype)
    }

    /// A datatype at the start of `bytes`, and how many bytes it took.
    ///
    /// # Errors
    /// As [`Datatype::decode`].
    pub fn decode_prefix(bytes: &[u8]) -> Result<(Datatype, usize)> {
        let mut datatype = Datatype::default();
        let taken = crate::fields::read(&mut datatype, WHAT, bytes)?;
        Ok((datatype, taken))
    }

    /// The message.
    ///
    /// # Errors
    /// `ERANGE` for more members, longer tags or larger numbers than the message can hold.
    pub fn encode(&self) -> Result<Vec<u8>> {
        crate::fields::write(&mut self.clone(), WHAT)
    }
}
