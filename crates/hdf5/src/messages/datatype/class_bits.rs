//! "Class Bit Field": three bytes whose meaning the class decides.
#![deny(clippy::arithmetic_side_effects)]

use super::{ByteOrder, Class, Float, Norm, Padding, Pads, Reference, Text};

/// The bits of a class: taken out of what was read, or put together.
pub(super) struct ClassBits {
    /// The 24 bits.
    pub value: u64,
    /// True if they were read.
    pub reads: bool,
}

type Result<T> = std::result::Result<T, String>;

#[cold]
fn unknown(name: &str, stored: u32) -> String {
    format!("{name} {stored} is unknown")
}

impl ClassBits {
    /// An unsigned number of `width` bits, of which `low` is the lowest.
    #[inline]
    fn number(&mut self, name: &str, low: u32, width: u32, value: &mut u32) -> Result<()> {
        let most = u32::MAX.unbounded_shr(u32::BITS.saturating_sub(width));
        if self.reads {
            // Not more than `most`.
            *value = self.value.unbounded_shr(low) as u32 & most;
        } else if *value > most {
            return Err(format!("{name} is {value}, more than {width} bits hold"));
        } else {
            self.value |= u64::from(*value).unbounded_shl(low);
        }
        Ok(())
    }

    #[inline]
    fn flag(&mut self, low: u32, value: &mut bool) -> Result<()> {
        self.choice("flag", low, 1, value, &[false, true])
    }

    /// One of `known`, stored as its index.
    #[inline]
    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &str,
        low: u32,
        width: u32,
        value: &mut T,
        known: &[T],
    ) -> Result<()> {
        let mut stored = match self.reads {
            true => 0,
            false => known.iter().position(|known| known == value).unwrap_or(known.len()) as u32,
        };
        self.number(name, low, width, &mut stored)?;
        *value = *known.get(stored as usize).ok_or_else(|| unknown(name, stored))?;
        Ok(())
    }

    /// Byte order of a number whose class has no pairs of bytes.
    fn order(&mut self, order: &mut ByteOrder) -> Result<()> {
        self.choice("byte order", 0, 1, order, &[ByteOrder::Little, ByteOrder::Big])
    }

    fn pads(&mut self, pads: &mut Pads) -> Result<()> {
        self.flag(1, &mut pads.low)?;
        self.flag(2, &mut pads.high)
    }

    fn text(&mut self, low: u32, text: &mut Text) -> Result<()> {
        let paddings = [Padding::NullTerminated, Padding::NullPadded, Padding::SpacePadded];
        self.choice("string padding", low, 4, &mut text.padding, &paddings)?;
        self.choice("character set", low.saturating_add(4), 4, &mut text.charset, &[0, 1])
    }

    fn float(&mut self, version: u8, float: &mut Float) -> Result<()> {
        let Float { order, pads, norm, sign, .. } = float;
        // Since version 3, two bits say the order of bytes.
        let (mut big, mut vax) = (*order != ByteOrder::Little, *order == ByteOrder::Vax);
        self.flag(0, &mut big)?;
        if version >= 3 {
            self.flag(6, &mut vax)?;
        } else if vax {
            return Err(format!("pairs of bytes in version {version}"));
        }
        *order = match (vax, big) {
            (false, false) => ByteOrder::Little,
            (false, true) => ByteOrder::Big,
            (true, true) => ByteOrder::Vax,
            (true, false) => return Err("the order of the bytes is unknown".into()),
        };
        self.pads(pads)?;
        self.flag(3, &mut pads.internal)?;
        self.choice("mantissa normalization", 4, 2, norm, &[Norm::None, Norm::Set, Norm::Implied])?;
        let mut position = u32::from(*sign);
        self.number("sign location", 8, 8, &mut position)?;
        *sign = position as u8;
        Ok(())
    }

    /// The revised kinds came with version 4, but the reference writes them in version 1 too. They have one encoding yet.
    fn reference(&mut self, reference: &mut Reference) -> Result<()> {
        let (mut kind, mut encoding) = match *reference {
            Reference::Object => (0, 0),
            Reference::Region => (1, 0),
            Reference::Object2(encoding) => (2, encoding.into()),
            Reference::Region2(encoding) => (3, encoding.into()),
            Reference::Attribute(encoding) => (4, encoding.into()),
        };
        self.number("kind", 0, 4, &mut kind)?;
        self.number("encoding", 4, 4, &mut encoding)?;
        *reference = match (kind, encoding) {
            (0, _) => Reference::Object,
            (1, _) => Reference::Region,
            (2, 1) => Reference::Object2(1),
            (3, 1) => Reference::Region2(1),
            (4, 1) => Reference::Attribute(1),
            _ => return Err(format!("kind {kind} of references, encoding {encoding}, is unknown")),
        };
        Ok(())
    }

    /// The bits of a class. `count` is the number of members, or of bytes of the tag.
    pub fn class(&mut self, class: &mut Class, version: u8, count: &mut u32) -> Result<()> {
        match class {
            Class::Integer(integer) => {
                self.order(&mut integer.order)?;
                self.pads(&mut integer.pads)?;
                self.flag(3, &mut integer.signed)
            }
            Class::Bits(bits) => {
                self.order(&mut bits.order)?;
                self.pads(&mut bits.pads)
            }
            Class::Float(float) => self.float(version, float),
            Class::Time { order, .. } => self.order(order),
            Class::Text(text) => self.text(0, text),
            Class::Opaque { .. } => self.number("length of the tag", 0, 8, count),
            Class::Compound { .. } | Class::Enumeration { .. } => {
                self.number("number of members", 0, 16, count)
            }
            Class::Reference(reference) => self.reference(reference),
            Class::Variable { text, .. } => {
                let mut is_text = text.is_some();
                self.choice("kind of variable length", 0, 4, &mut is_text, &[false, true])?;
                if is_text {
                    let mut kind = text.unwrap_or(Text { padding: Padding::NullTerminated, charset: 0 });
                    self.text(4, &mut kind)?;
                    *text = Some(kind);
                }
                Ok(())
            }
            Class::Array { .. } => Ok(()),
            Class::Complex { homogeneous, form, .. } => {
                self.flag(0, homogeneous)?;
                self.choice("form of complex numbers", 1, 2, form, &[0, 1, 2, 3])
            }
        }
    }
}
