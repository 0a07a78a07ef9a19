//! From a datatype to bytes.
//!
//! Every datatype of the tree is written in its own version, as the reference does: the members of a compound of version
//! 3 may well be numbers of version 1. [`Datatype::settle`] gives each the version it needs.

use ferrocdf_bytes::Result;

use super::{Bits, ByteOrder, Class, Datatype, Float, Integer, Member, Norm, Padding, Pads, Reference, Text};
use crate::wire::{Writer, width_of};

impl Datatype {
    /// The message.
    ///
    /// # Errors
    /// `ERANGE` for more members, longer tags or larger numbers than the message can hold.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut w = Writer::new("datatype");
        datatype(&mut w, self);
        w.finish()
    }

    /// Gives every datatype of the tree the version that files of HDF5 1.8 and later have it in: 1 for most, 3 for
    /// compounds, enumerations and arrays, and later ones for what earlier ones do not know.
    pub fn settle(&mut self) {
        self.version = match &mut self.class {
            Class::Compound { members } => {
                members.iter_mut().for_each(|member| member.datatype.settle());
                members.iter().map(|member| member.datatype.version).fold(3, u8::max)
            }
            Class::Enumeration { base, .. } | Class::Array { base, .. } => {
                base.settle();
                base.version.max(3)
            }
            Class::Variable { base, .. } => {
                base.settle();
                base.version
            }
            Class::Complex { base, .. } => {
                base.settle();
                5
            }
            Class::Float(Float { order: ByteOrder::Vax, .. }) => 3,
            Class::Reference(Reference::Object2(_) | Reference::Region2(_) | Reference::Attribute(_)) => 4,
            _ => 1,
        };
    }
}

/// The 24 class bits of padding.
fn pad_bits(pads: Pads) -> u32 {
    u32::from(pads.low) << 1 | u32::from(pads.high) << 2 | u32::from(pads.internal) << 3
}

/// The class bits of the byte order of integers.
fn order_bits(w: &mut Writer, order: ByteOrder) -> u32 {
    if order == ByteOrder::Vax {
        w.fail("pairs of bytes in a datatype that has no such order");
    }
    u32::from(order == ByteOrder::Big)
}

fn text_bits(text: Text) -> u32 {
    let padding = match text.padding {
        Padding::NullTerminated => 0,
        Padding::NullPadded => 1,
        Padding::SpacePadded => 2,
    };
    padding | u32::from(text.charset & 0xf) << 4
}

fn float_bits(w: &mut Writer, float: &Float, version: u8) -> u32 {
    let order = match float.order {
        ByteOrder::Vax if version < 3 => {
            w.fail(format_args!("pairs of bytes in version {version}"));
            0
        }
        ByteOrder::Vax => 0x41,
        order => order_bits(w, order),
    };
    let norm = match float.norm {
        Norm::None => 0,
        Norm::Set => 1,
        Norm::Implied => 2,
    };
    order | pad_bits(float.pads) | norm << 4 | u32::from(float.sign) << 8
}

/// A number of members in the class bits.
fn count_bits(w: &mut Writer, count: usize) -> u32 {
    u16::try_from(count).map_or_else(
        |_| {
            w.fail(format_args!("{count} members"));
            0
        },
        u32::from,
    )
}

/// A tag with the NULs that make it a multiple of 8 bytes.
fn padded_tag(tag: &[u8]) -> usize {
    tag.len().next_multiple_of(8)
}

fn class_bits(w: &mut Writer, datatype: &Datatype) -> u32 {
    match &datatype.class {
        Class::Integer(Integer { order, pads, signed, .. }) => {
            order_bits(w, *order) | pad_bits(*pads) | u32::from(*signed) << 3
        }
        Class::Float(float) => float_bits(w, float, datatype.version),
        Class::Time { order, .. } => order_bits(w, *order),
        Class::Text(text) => text_bits(*text),
        Class::Bits(Bits { order, pads, .. }) => order_bits(w, *order) | pad_bits(*pads),
        Class::Opaque { tag } => {
            let len = padded_tag(tag);
            if len > 0xff {
                w.fail(format_args!("a tag of {} bytes", tag.len()));
            }
            len as u32 & 0xff
        }
        Class::Compound { members } => count_bits(w, members.len()),
        Class::Reference(reference) => match *reference {
            Reference::Object => 0,
            Reference::Region => 1,
            Reference::Object2(encoding) => 2 | u32::from(encoding & 0xf) << 4,
            Reference::Region2(encoding) => 3 | u32::from(encoding & 0xf) << 4,
            Reference::Attribute(encoding) => 4 | u32::from(encoding & 0xf) << 4,
        },
        Class::Enumeration { members, .. } => count_bits(w, members.len()),
        Class::Variable { text, .. } => text.map_or(0, |text| 1 | text_bits(text) << 4),
        Class::Array { .. } => 0,
        Class::Complex { homogeneous, form, .. } => u32::from(*homogeneous) | u32::from(form & 3) << 1,
    }
}

fn datatype(w: &mut Writer, datatype: &Datatype) {
    let Datatype { version, size, class } = datatype;
    let (number, bits) = (u32::from(class.number()), class_bits(w, datatype));
    if !(1..=5).contains(version) || *size == 0 {
        w.fail(format_args!("version {version}, {size} bytes"));
    }
    w.u32(number | u32::from(version & 0xf) << 4 | bits << 8);
    w.u32(*size);
    match class {
        Class::Integer(Integer { offset, precision, .. }) | Class::Bits(Bits { offset, precision, .. }) => {
            w.u16(*offset);
            w.u16(*precision);
        }
        Class::Float(float) => {
            w.u16(float.offset);
            w.u16(float.precision);
            w.bytes(&[float.exponent, float.exponent_bits, float.mantissa, float.mantissa_bits]);
            w.u32(float.bias);
        }
        Class::Time { precision, .. } => w.u16(*precision),
        Class::Text(_) | Class::Reference(_) => {}
        Class::Opaque { tag } => {
            w.bytes(tag);
            w.zeros(padded_tag(tag) - tag.len());
        }
        Class::Compound { members } => {
            members.iter().for_each(|member| compound_member(w, *version, *size, member));
        }
        Class::Enumeration { base, members } => {
            self::datatype(w, base);
            members.iter().for_each(|(member, _)| name(w, *version, member));
            for (_, value) in members {
                if value.len() != base.size as usize {
                    w.fail(format_args!(
                        "a value of {} bytes in an enumeration of {}",
                        value.len(),
                        base.size
                    ));
                }
                w.bytes(value);
            }
        }
        Class::Variable { base, .. } | Class::Complex { base, .. } => self::datatype(w, base),
        Class::Array { dims, base } => {
            w.count(1, dims.len());
            if *version < 3 {
                w.zeros(3);
            }
            dims.iter().for_each(|&len| w.u32(len));
            if *version < 3 {
                // The permutation, which is always that of no change.
                (0..dims.len()).for_each(|dim| w.count(4, dim));
            }
            self::datatype(w, base);
        }
    }
}

/// A name with the NUL at its end; before version 3 with as many as make it a multiple of 8 bytes.
fn name(w: &mut Writer, version: u8, name: &[u8]) {
    if name.contains(&0) {
        w.fail("a name with a NUL in it");
    }
    w.bytes(name);
    let stored = name.len() + 1;
    w.zeros(if version < 3 { stored.next_multiple_of(8) - name.len() } else { 1 });
}

fn compound_member(w: &mut Writer, version: u8, size: u32, member: &Member) {
    name(w, version, &member.name);
    w.uint(if version < 3 { 4 } else { width_of(u64::from(size)) }, u64::from(member.offset));
    // In the first version, dimensions belong to members: there is no datatype of arrays.
    let mut datatype = &member.datatype;
    if version == 1 {
        let mut dims = &[][..];
        if let Class::Array { dims: of_array, base } = &member.datatype.class {
            (dims, datatype) = (of_array, base);
        }
        if dims.len() > 4 {
            w.fail(format_args!("a member of {} dimensions in version 1", dims.len()));
        }
        w.count(1, dims.len());
        w.zeros(3 + 4 + 4);
        dims.iter().for_each(|&len| w.u32(len));
        w.zeros(4 * 4usize.saturating_sub(dims.len()));
    }
    self::datatype(w, datatype);
}
