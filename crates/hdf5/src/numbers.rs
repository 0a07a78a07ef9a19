//! Numbers of all formats that HDF5 can describe, as elements of the array engine.
//!
//! What is one of the engine's kinds is left to it. Anything else becomes the smallest kind that holds it (what the
//! reference calls the native type), element by element. Numbers that no kind holds become the nearest one.
//!
//! Not done: complex numbers, which are two numbers; see [`Dataset::raw`](crate::Dataset::raw).

use std::sync::Arc;

use ferrocdf_array::{ElementDecoder, Kind, Stored};
use ferrocdf_bytes::Order;

use crate::messages::datatype::{ByteOrder, Class, Datatype, Float, Norm};

/// What a datatype of numbers is to the array engine.
#[derive(Clone, Debug)]
pub struct Number {
    /// How elements are stored; with a `decoder`, what they are decoded to.
    pub stored: Stored,
    /// What turns them, if something must.
    pub decoder: Option<Arc<dyn ElementDecoder>>,
}

impl Datatype {
    /// How the array engine sees elements of this type; `None` if they are no numbers. Enumerations are their integers,
    /// bits are unsigned integers, strings of one byte are text.
    pub fn number(&self) -> Option<Number> {
        match &self.class {
            Class::Integer(int) => self.whole(int.order, int.signed, int.offset, int.precision),
            Class::Bits(bits) => self.whole(bits.order, false, bits.offset, bits.precision),
            Class::Enumeration { base, .. } => base.number(),
            Class::Float(float) => self.float(float),
            Class::Text(_) if self.size == 1 => {
                Some(Number { stored: Stored::native(Kind::Char), decoder: None })
            }
            _ => None,
        }
    }

    fn whole(&self, order: ByteOrder, signed: bool, offset: u16, precision: u16) -> Option<Number> {
        let kind = match (precision, signed) {
            (..=8, true) => Kind::I8,
            (..=8, false) => Kind::U8,
            (..=16, true) => Kind::I16,
            (..=16, false) => Kind::U16,
            (..=32, true) => Kind::I32,
            (..=32, false) => Kind::U32,
            (_, true) => Kind::I64,
            (_, false) => Kind::U64,
        };
        let size = self.size as usize;
        if let (true, Some(order)) = (kind.size() == size && usize::from(precision) == 8 * size, plain(order))
        {
            return Some(Number { stored: Stored { kind, order }, decoder: None });
        }
        let whole = IntegerDecoder {
            size,
            order,
            signed,
            offset: u32::from(offset),
            precision: u32::from(precision),
            kind,
        };
        Some(Number { stored: Stored::native(kind), decoder: Some(Arc::new(whole)) })
    }

    fn float(&self, float: &Float) -> Option<Number> {
        let size = self.size as usize;
        let ieee = |bits, exponent, bias| {
            let parts =
                (float.precision, float.mantissa_bits, float.exponent, float.exponent_bits, float.bias);
            let rest = (float.offset, float.mantissa, float.norm, u16::from(float.sign));
            parts == (bits, exponent, exponent, bits as u8 - 1 - exponent, bias)
                && rest == (0, 0, Norm::Implied, bits - 1)
        };
        let kind = if size <= 4 { Kind::F32 } else { Kind::F64 };
        let same = (size == 4 && ieee(32, 23, 127)) || (size == 8 && ieee(64, 52, 1023));
        if let (true, Some(order)) = (same, plain(float.order)) {
            return Some(Number { stored: Stored { kind, order }, decoder: None });
        }
        if float.exponent_bits > 62 || float.mantissa_bits > 127 {
            return None;
        }
        let real = FloatDecoder { size, float: float.clone(), kind };
        Some(Number { stored: Stored::native(kind), decoder: Some(Arc::new(real)) })
    }
}

fn plain(order: ByteOrder) -> Option<Order> {
    match order {
        ByteOrder::Little => Some(Order::Little),
        ByteOrder::Big => Some(Order::Big),
        ByteOrder::Vax => None,
    }
}

/// The bytes of an element, least significant first.
fn little(order: ByteOrder, element: &mut [u8]) {
    match order {
        ByteOrder::Little => {}
        ByteOrder::Big => element.reverse(),
        ByteOrder::Vax => {
            // Pairs are least significant byte first, but the most significant pair comes first.
            element.reverse();
            element.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
    }
}

/// `count` bits, 1 to 128, from bit `low` on of bytes that are least significant first.
fn bits(bytes: &[u8], low: u32, count: u32) -> u128 {
    let mut value = 0u128;
    let (first, shift) = ((low / 8) as usize, low % 8);
    for (at, &byte) in bytes.iter().skip(first).take(17).enumerate() {
        let at = 8 * at as u32;
        let byte = u128::from(byte);
        value |=
            if at >= shift { byte.checked_shl(at - shift).unwrap_or_default() } else { byte >> (shift - at) };
    }
    if count < 128 { value & ((1 << count) - 1) } else { value }
}

/// Integers of any width.
#[derive(Debug)]
struct IntegerDecoder {
    size: usize,
    order: ByteOrder,
    signed: bool,
    offset: u32,
    precision: u32,
    kind: Kind,
}

impl IntegerDecoder {
    /// The bits of the number, of which the lowest as many as the kind has matter.
    fn value(&self, element: &[u8]) -> u64 {
        let low = bits(element, self.offset, self.precision.min(64)) as u64;
        let sign_at = self.offset + self.precision - 1;
        let negative = self.signed && bits(element, sign_at, 1) == 1;
        if self.precision <= 64 {
            let unused = 64 - self.precision;
            return if self.signed { ((low << unused).cast_signed() >> unused).cast_unsigned() } else { low };
        }
        // The number fits if all bits above are those of its sign.
        let from = self.offset + if self.signed { 63 } else { 64 };
        let filler = u128::from(negative);
        if (from..=sign_at).all(|bit| bits(element, bit, 1) == filler) {
            return low;
        }
        match (self.signed, negative) {
            (false, _) => u64::MAX,
            (true, false) => i64::MAX.cast_unsigned(),
            (true, true) => i64::MIN.cast_unsigned(),
        }
    }
}

impl ElementDecoder for IntegerDecoder {
    fn size(&self) -> usize {
        self.size
    }

    fn convert(&self, stored: &[u8], elements: &mut [u8]) {
        let mut element = vec![0; self.size];
        for (from, to) in stored.chunks_exact(self.size).zip(elements.chunks_exact_mut(self.kind.size())) {
            element.copy_from_slice(from);
            little(self.order, &mut element);
            put(self.value(&element), to);
        }
    }
}

/// The lowest bytes of a number, in this machine's order.
fn put(value: u64, to: &mut [u8]) {
    let len = to.len();
    to.copy_from_slice(&value.to_le_bytes()[..len]);
    if cfg!(target_endian = "big") {
        to.reverse();
    }
}

/// Floating-point numbers of any format.
#[derive(Debug)]
struct FloatDecoder {
    size: usize,
    float: Float,
    kind: Kind,
}

impl FloatDecoder {
    fn value(&self, element: &[u8]) -> f64 {
        let float = &self.float;
        let part = |low: u8, count: u8| bits(element, u32::from(low), u32::from(count));
        let mantissa = part(float.mantissa, float.mantissa_bits);
        let exponent = part(float.exponent, float.exponent_bits);
        let top = 1u128 << (float.mantissa_bits - 1);
        let magnitude = if exponent == (1 << float.exponent_bits) - 1 {
            // The bit before the point does not count, where it is stored.
            let fraction = if float.norm == Norm::None { mantissa & (top - 1) } else { mantissa };
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            // At most 62 bits.
            let exponent = exponent as i64;
            let (hidden, point) = match float.norm {
                Norm::Implied => (u128::from(exponent > 0) << float.mantissa_bits, float.mantissa_bits),
                Norm::None | Norm::Set => (0, float.mantissa_bits - 1),
            };
            scaled(mantissa | hidden, exponent.max(1) - i64::from(float.bias) - i64::from(point))
        };
        if part(float.sign, 1) == 1 { -magnitude } else { magnitude }
    }
}

impl ElementDecoder for FloatDecoder {
    fn size(&self) -> usize {
        self.size
    }

    fn convert(&self, stored: &[u8], elements: &mut [u8]) {
        let mut element = vec![0; self.size];
        for (from, to) in stored.chunks_exact(self.size).zip(elements.chunks_exact_mut(self.kind.size())) {
            element.copy_from_slice(from);
            little(self.float.order, &mut element);
            let value = self.value(&element);
            match self.kind {
                Kind::F32 => put(u64::from((value as f32).to_bits()), to),
                _ => put(value.to_bits(), to),
            }
        }
    }
}

/// `mantissa` times 2 to the power of `exponent`, to the nearest number, of two the even one.
fn scaled(mantissa: u128, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = i64::from(mantissa.ilog2());
    let magnitude = top + exponent;
    if magnitude > 1023 {
        return f64::INFINITY;
    }
    // Bits that the result has room for, fewer for the smallest numbers.
    let room = 53.min(magnitude + 1075);
    let cut = top + 1 - room;
    if room < 0 {
        return 0.0;
    }
    let mut kept = mantissa;
    let mut exponent = exponent;
    if cut > 0 {
        // Not more than all bits and one, for a number just below the smallest.
        kept = mantissa.checked_shr(cut as u32).unwrap_or_default();
        let lost = mantissa ^ kept.checked_shl(cut as u32).unwrap_or_default();
        let half = 1u128 << (cut - 1);
        kept += u128::from(lost > half || (lost == half && kept & 1 == 1));
        exponent += cut;
    }
    // Both factors are exact: the number was rounded already, or has fewer bits than there is room for.
    let (first, second) = (exponent.clamp(-1022, 1000), exponent - exponent.clamp(-1022, 1000));
    let power = |n: i64| f64::from_bits(((n + 1023) as u64) << 52);
    kept as f64 * power(first) * power(second.clamp(-1022, 1023))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::datatype::{Integer, Pads};

    const PADS: Pads = Pads { low: false, high: false, internal: false };

    fn integer(size: u32, order: ByteOrder, signed: bool, offset: u16, precision: u16) -> Number {
        let class = Class::Integer(Integer { order, pads: PADS, signed, offset, precision });
        Datatype { version: 1, size, class }.number().unwrap()
    }

    fn whole(number: &Number, stored: &[u8]) -> i128 {
        let decoder = number.decoder.as_ref().unwrap();
        assert_eq!(decoder.size(), stored.len());
        let mut made = vec![0; number.stored.kind.size()];
        decoder.convert(stored, &mut made);
        match number.stored.kind {
            Kind::I8 => i8::from_ne_bytes(made.try_into().unwrap()).into(),
            Kind::U16 => u16::from_ne_bytes(made.try_into().unwrap()).into(),
            Kind::I32 => i32::from_ne_bytes(made.try_into().unwrap()).into(),
            Kind::U32 => u32::from_ne_bytes(made.try_into().unwrap()).into(),
            Kind::I64 => i64::from_ne_bytes(made.try_into().unwrap()).into(),
            Kind::U64 => u64::from_ne_bytes(made.try_into().unwrap()).into(),
            kind => panic!("{kind:?}"),
        }
    }

    #[test]
    fn what_the_engine_knows_is_left_to_it() {
        let number = integer(2, ByteOrder::Big, true, 0, 16);
        assert_eq!(number.stored, Stored::big(Kind::I16));
        assert!(number.decoder.is_none());
    }

    #[test]
    fn integers_of_odd_sizes() {
        assert_eq!(whole(&integer(3, ByteOrder::Little, true, 0, 24), &[0xfe, 0xff, 0xff]), -2);
        assert_eq!(whole(&integer(3, ByteOrder::Big, false, 0, 24), &[1, 2, 3]), 0x010203);
        // Bits 4 to 15 of a word whose other bits do not matter.
        assert_eq!(whole(&integer(4, ByteOrder::Little, false, 4, 12), &[0x5f, 0x12, 0xff, 0xff]), 0x125);
        assert_eq!(whole(&integer(4, ByteOrder::Little, true, 12, 7), &[0, 0xf0, 7, 0]), -1);
        let wide = integer(16, ByteOrder::Little, true, 0, 128);
        let of = |value: i128| whole(&wide, &value.to_le_bytes());
        assert_eq!((of(-5), of(1 << 62), of(1 << 63)), (-5, 1 << 62, i64::MAX.into()));
        assert_eq!(of(i128::MIN), i64::MIN.into());
        let wide = integer(9, ByteOrder::Big, false, 0, 72);
        assert_eq!(whole(&wide, &[0, 255, 255, 255, 255, 255, 255, 255, 255]), u64::MAX.into());
        assert_eq!(whole(&wide, &[1, 0, 0, 0, 0, 0, 0, 0, 0]), u64::MAX.into());
    }

    /// A format: bytes, sign, exponent and its bits, mantissa bits, bias.
    fn real(size: u32, order: ByteOrder, norm: Norm, parts: [u8; 4], bias: u32) -> Number {
        let [sign, exponent, exponent_bits, mantissa_bits] = parts;
        let float = Float {
            order,
            pads: PADS,
            norm,
            offset: 0,
            precision: 8 * size as u16,
            sign,
            exponent,
            exponent_bits,
            mantissa: 0,
            mantissa_bits,
            bias,
        };
        Datatype { version: 3, size, class: Class::Float(float) }.number().unwrap()
    }

    fn float(number: &Number, stored: &[u8]) -> f64 {
        let mut made = vec![0; number.stored.kind.size()];
        number.decoder.as_ref().unwrap().convert(stored, &mut made);
        match number.stored.kind {
            Kind::F32 => f32::from_ne_bytes(made.try_into().unwrap()).into(),
            _ => f64::from_ne_bytes(made.try_into().unwrap()),
        }
    }

    #[test]
    fn halves() {
        let half = real(2, ByteOrder::Little, Norm::Implied, [15, 10, 5, 10], 15);
        let of = |bits: u16| float(&half, &bits.to_le_bytes());
        assert_eq!([of(0x3c00), of(0xc000), of(0x7bff), of(0x0001)], [1.0, -2.0, 65504.0, 2f64.powi(-24)]);
        assert_eq!([of(0x7c00), of(0xfc00)], [f64::INFINITY, f64::NEG_INFINITY]);
        assert!(of(0x7e00).is_nan());
        assert!(of(0x8000).is_sign_negative());
        let brain = real(2, ByteOrder::Big, Norm::Implied, [15, 7, 8, 7], 127);
        assert_eq!(float(&brain, &[0x40, 0x49]), 3.140625);
    }

    #[test]
    fn long_doubles() {
        let long = real(16, ByteOrder::Little, Norm::None, [79, 64, 15, 64], 16383);
        let of = |head: u16, mantissa: u64| {
            float(&long, &[&mantissa.to_le_bytes()[..], &head.to_le_bytes(), &[7; 6]].concat())
        };
        assert_eq!(of(16383, 1 << 63), 1.0);
        assert_eq!(of(0x8000 | 16384, 3 << 62), -3.0);
        assert_eq!(of(0x7fff, 1 << 63), f64::INFINITY);
        assert!(of(0x7fff, 3 << 62).is_nan());
        assert_eq!(of(0x7ffe, u64::MAX), f64::INFINITY);
        assert_eq!(of(1, 1 << 63), 0.0);
        // A third, which needs rounding; half-way cases go to the even number.
        assert_eq!(of(16381, 0xaaaa_aaaa_aaaa_aaab), 1.0 / 3.0);
        assert_eq!(of(16383, 1 << 63 | 1 << 10), 1.0);
        assert_eq!(of(16383, 1 << 63 | 3 << 10), 1.0 + 2.0 * f64::EPSILON);
        // The smallest numbers of 64 bits.
        assert_eq!(of(16383 - 1074, 1 << 63), f64::from_bits(1));
        assert_eq!(of(16383 - 1075, 1 << 63), 0.0);
        assert_eq!(of(16383 - 1075, 1 << 63 | 1), f64::from_bits(1));
        assert_eq!(of(16383 - 1022, 1 << 63), f64::MIN_POSITIVE);
        assert_eq!(of(16383 + 1023, u64::MAX << 11), f64::MAX);
    }

    #[test]
    fn quadruple_precision() {
        let quad = real(16, ByteOrder::Big, Norm::Implied, [127, 112, 15, 112], 16383);
        let of = |bits: u128| float(&quad, &bits.to_be_bytes());
        assert_eq!(of(16383 << 112), 1.0);
        assert_eq!(of((16384 << 112) | 1 << 111), 3.0);
        assert_eq!(of(0x3ffd_5555_5555_5555_5555_5555_5555_5555), 1.0 / 3.0);
    }

    #[test]
    fn vax() {
        let f = real(4, ByteOrder::Vax, Norm::Implied, [31, 23, 8, 23], 129);
        // 1.0 is exponent 129, stored as 0x4080 in the first pair.
        assert_eq!(float(&f, &[0x80, 0x40, 0, 0]), 1.0);
        assert_eq!(float(&f, &[0x49, 0x41, 0xd0, 0x0f]), 3.141_590_118_408_203);
        assert_eq!(float(&f, &[0x80, 0xc0, 0, 0]), -1.0);
    }
}
