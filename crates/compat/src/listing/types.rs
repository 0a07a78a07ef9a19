//! Datatypes as text.

use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Datatype, Float, Norm, Padding, Reference, Text};

use super::{escape, times};

/// All that a datatype says but its message version and the values of unused bits.
pub fn describe(datatype: &Datatype) -> String {
    let size = datatype.size;
    match &datatype.class {
        Class::Integer(int) => {
            let sign = if int.signed { 's' } else { 'u' };
            format!("int{size}{sign}{}+{}.{}", order(int.order), int.offset, int.precision)
        }
        Class::Float(float) => real(size, float),
        Class::Bits(bits) => format!("bits{size},{}+{}.{}", order(bits.order), bits.offset, bits.precision),
        Class::Time { .. } => format!("time{size}"),
        Class::Text(text) => format!("str{size},{}", string(*text)),
        Class::Opaque { tag } => format!("opaque{size}[{}]", escape(tag)),
        Class::Compound { members } => {
            // The reference tells what a compound is in memory, where pointers have another size.
            let moved = datatype.has_pointers();
            let unless_moved = |number: u32| if moved { String::new() } else { number.to_string() };
            let members = members.iter().map(|member| {
                let offset = unless_moved(member.offset);
                format!("{}@{offset}:{}", escape(&member.name), describe(&member.datatype))
            });
            format!("{}{{{}}}", unless_moved(size), members.collect::<Vec<_>>().join(";"))
        }
        Class::Enumeration { base, members } => {
            let members =
                members.iter().map(|(name, value)| format!("{}={}", escape(name), whole(base, value)));
            format!("enum({}){{{}}}", describe(base), members.collect::<Vec<_>>().join(","))
        }
        Class::Variable { text: Some(text), .. } => format!("strv,{}", string(*text)),
        Class::Variable { text: None, base } => format!("vlen({})", describe(base)),
        Class::Array { dims, base } => format!("array{}({})", times(dims.iter()), describe(base)),
        Class::Complex { base, .. } => format!("complex({})", describe(base)),
        Class::Reference(Reference::Object) => "object".to_string(),
        Class::Reference(Reference::Region) => "region".to_string(),
        Class::Reference(_) => "reference".to_string(),
    }
}

fn order(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Little => 0,
        ByteOrder::Big => 1,
        ByteOrder::Vax => 2,
    }
}

fn string(text: Text) -> String {
    let padding = match text.padding {
        Padding::NullTerminated => 0,
        Padding::NullPadded => 1,
        Padding::SpacePadded => 2,
    };
    format!("{padding}{}", text.charset)
}

fn real(size: u32, float: &Float) -> String {
    let norm = match float.norm {
        Norm::Implied => 0,
        Norm::Set => 1,
        Norm::None => 2,
    };
    let Float { offset, precision, sign, exponent, exponent_bits, mantissa, mantissa_bits, bias, .. } = float;
    format!(
        "float{size},{}+{offset}.{precision}s{sign}e{exponent}.{exponent_bits}m{mantissa}.{mantissa_bits}b{bias}n{norm}",
        order(float.order)
    )
}

/// An integer of a base type as decimal number.
fn whole(base: &Datatype, bytes: &[u8]) -> String {
    let (signed, big) = match &base.class {
        Class::Integer(int) => (int.signed, int.order == ByteOrder::Big),
        _ => (false, false),
    };
    let mut wide = bytes.to_vec();
    if big {
        wide.reverse();
    }
    let mut number = 0i128;
    for (at, &byte) in wide.iter().take(15).enumerate() {
        number |= i128::from(byte) << (8 * at);
    }
    let bits = 8 * wide.len().min(15);
    if signed && number >> (bits - 1) & 1 == 1 {
        number -= 1 << bits;
    }
    number.to_string()
}
