//! Datatypes as the reference encodes them.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |d: u8| (d as char).to_digit(16).unwrap() as u8;
    digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn decode(hex: &str) -> Datatype {
    let bytes = bytes(hex);
    let (datatype, taken) = Datatype::decode_prefix(&bytes).unwrap();
    assert_eq!(taken, bytes.len());
    // No shorter part of it is a datatype, and nothing behind it matters.
    (0..taken).for_each(|len| assert!(Datatype::decode(&bytes[..len]).is_err()));
    assert_eq!(Datatype::decode(&[&bytes[..], &[9; 9]].concat()).unwrap(), datatype);
    assert_eq!(datatype.encode().unwrap(), bytes, "{hex}");
    datatype
}

#[test]
fn settled_datatypes_are_as_the_reference_writes_them() {
    // A compound of the three versions, with an array, an enumeration and a list of a compound inside.
    let mut settled = decode(
        "1602000018000000 6100000000000000 00000000
         02000000 00000000 00000000 02000000 01000000 00000000 00000000 100800000200000000001000
         6200000000000000 08000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
         1900000010000000 1601000002000000 6300000000000000 00000000
         00000000 00000000 00000000 00000000 00000000 00000000 00000000 100800000200000000001000",
    );
    settled.settle();
    let expected = decode(
        "3602000018000000 6100 00 3a00000004000000 02 02000000 01000000 100800000200000000001000
         6200 08 3900000010000000 3601000002000000 6300 00 100800000200000000001000",
    );
    assert_eq!(settled.encode().unwrap(), expected.encode().unwrap());
}

#[test]
fn what_a_message_cannot_hold_is_an_error() {
    let number = decode(INT4);
    let of = |class| Datatype { version: 1, size: 4, class };
    let member = |name: &[u8]| Member { name: name.to_vec(), offset: 0, datatype: number.clone() };
    let cases = [
        of(Class::Opaque { tag: vec![b'a'; 249] }),
        of(Class::Compound { members: vec![member(b"a\0")] }),
        of(Class::Compound { members: vec![member(b"a"); 1 << 16] }),
        of(Class::Enumeration { base: Box::new(number.clone()), members: vec![(b"a".to_vec(), vec![1])] }),
        Datatype { size: 0, ..number.clone() },
        of(integer(ByteOrder::Vax, true, 0, 32)),
    ];
    for case in cases {
        assert!(case.encode().is_err(), "{case:?}");
    }
    assert_eq!(of(Class::Opaque { tag: vec![b'a'; 248] }).encode().unwrap().len(), 8 + 248);
}

const PADS: Pads = Pads { low: false, high: false, internal: false };

fn integer(order: ByteOrder, signed: bool, offset: u16, precision: u16) -> Class {
    Class::Integer(Integer { order, pads: PADS, signed, offset, precision })
}

const INT4: &str = "1008000004000000 0000 2000";

#[test]
fn integers_and_bits() {
    assert_eq!(decode(INT4).class, integer(ByteOrder::Little, true, 0, 32));
    let short = decode("1001000002000000 0000 1000");
    assert_eq!((short.size(), short.class), (2, integer(ByteOrder::Big, false, 0, 16)));
    assert_eq!(decode("1008000004000000 0400 0c00").class, integer(ByteOrder::Little, true, 4, 12));
    let bits = Bits { order: ByteOrder::Little, pads: PADS, offset: 0, precision: 16 };
    assert_eq!(decode("1400000002000000 0000 1000").class, Class::Bits(bits));
    let pads = Pads { low: true, high: true, internal: false };
    assert!(matches!(decode("140600000200000000001000").class, Class::Bits(bits) if bits.pads == pads));
    let time = Class::Time { order: ByteOrder::Little, precision: 32 };
    assert_eq!(decode("1200000004000000 2000").class, time);
}

#[test]
fn floats() {
    let double = Float {
        order: ByteOrder::Little,
        pads: PADS,
        norm: Norm::Implied,
        offset: 0,
        precision: 64,
        sign: 63,
        exponent: 52,
        exponent_bits: 11,
        mantissa: 0,
        mantissa_bits: 52,
        bias: 1023,
    };
    assert_eq!(decode("11203f0008000000 00004000 340b0034 ff030000").class, Class::Float(double.clone()));
    let long = Float {
        norm: Norm::None,
        precision: 80,
        sign: 79,
        exponent: 64,
        exponent_bits: 15,
        mantissa_bits: 64,
        bias: 16383,
        ..double.clone()
    };
    assert_eq!(decode("11004f0010000000 00005000 400f0040 ff3f0000").class, Class::Float(long));
    let vax = Float {
        order: ByteOrder::Vax,
        precision: 32,
        sign: 31,
        exponent: 23,
        exponent_bits: 8,
        mantissa_bits: 23,
        bias: 129,
        ..double
    };
    assert_eq!(decode("31611f0004000000 00002000 17080017 81000000").class, Class::Float(vax));
}

#[test]
fn text_and_bytes() {
    let text = Text { padding: Padding::NullPadded, charset: 0 };
    assert_eq!(decode("1301000005000000").class, Class::Text(text));
    let text = Text { padding: Padding::SpacePadded, charset: 1 };
    assert_eq!(decode("1312000007000000").class, Class::Text(text));
    let opaque = decode("1508000004000000 6d79207461670000");
    assert_eq!((opaque.size(), opaque.class), (4, Class::Opaque { tag: b"my tag".to_vec() }));
}

fn members(datatype: &Datatype) -> Vec<(&[u8], u32, u32)> {
    let Class::Compound { members } = &datatype.class else { panic!("{datatype:?}") };
    members.iter().map(|m| (&m.name[..], m.offset, m.datatype.size)).collect()
}

#[test]
fn compounds_of_all_versions() {
    let short = "1008000002000000 0000 1000";
    let double = "11203f0008000000 00004000 340b0034 ff030000";
    let none = "00000000 00000000 00000000 00000000 00000000 00000000 00000000";
    let two = "02000000 00000000 00000000 02000000 03000000 00000000 00000000";
    let one = decode(&format!(
        "1602000020000000 6100000000000000 00000000 {two} {short}
         6c6f6e67206e616d6500000000000000 10000000 {none} {double}"
    ));
    assert_eq!(members(&one), [(&b"a"[..], 0, 12), (b"long name", 16, 8)]);
    let Class::Compound { members: list } = &one.class else { panic!() };
    assert!(matches!(&list[0].datatype.class, Class::Array { dims, .. } if dims == &[2, 3]));
    let second = decode(&format!(
        "2602000018000000 6100000000000000 00000000 {short} 6c6f6e67206e616d6500000000000000 08000000 {double}"
    ));
    let third = decode(&format!("3602000018000000 6100 00 {short} 6c6f6e67206e616d6500 08 {double}"));
    assert_eq!(members(&second), [(&b"a"[..], 0, 2), (b"long name", 8, 8)]);
    // The version does not make a difference.
    assert_eq!(second, third);
}

#[test]
fn members_stay_inside_and_apart() {
    let short = "1008000002000000 0000 1000";
    let cases = [
        format!("3601000003000000 6100 02 {short}"),
        format!("3602000004000000 6100 02 {short} 6200 01 {short}"),
        "3600000004000000".to_string(),
        "3601000004000000 61".to_string(),
    ];
    for case in cases {
        assert!(Datatype::decode(&bytes(&case)).is_err(), "{case}");
    }
}

#[test]
fn enumerations_variable_lengths_and_arrays() {
    let base = "1008000001000000 00000800";
    let names = |padded| match padded {
        true => "5245440000000000 475245454e000000",
        false => "52454400 475245454e00",
    };
    let one = decode(&format!("1802000001000000 {base} {} 01fe", names(true)));
    let three = decode(&format!("3802000001000000 {base} {} 01fe", names(false)));
    assert_eq!(one, three);
    let expected = vec![(b"RED".to_vec(), vec![1]), (b"GREEN".to_vec(), vec![0xfe])];
    assert!(matches!(&one.class, Class::Enumeration { members, .. } if *members == expected));
    let list = decode(&format!("1900000010000000 {INT4}"));
    assert!(matches!(&list.class, Class::Variable { text: None, base } if base.size == 4));
    let text = decode("1901010010000000 100000000100000000000800");
    let utf8 = Text { padding: Padding::NullTerminated, charset: 1 };
    assert!(matches!(&text.class, Class::Variable { text: Some(text), .. } if *text == utf8));
    let one =
        decode("1a0000000c000000 02000000 02000000 03000000 00000000 01000000 100900000200000000001000");
    let two =
        decode("2a0000000c000000 02000000 02000000 03000000 00000000 01000000 100900000200000000001000");
    let three = decode("3a0000000c000000 02 02000000 03000000 100900000200000000001000");
    assert_eq!((&one, &two), (&two, &three));
    assert!(matches!(&two.class, Class::Array { dims, base } if dims == &[2, 3] && base.size == 2));
    assert!(
        Datatype::decode(&bytes("3a0000000d000000 02 02000000 03000000 100900000200000000001000")).is_err()
    );
    assert!(
        Datatype::decode(&bytes("3a0000000c000000 02 ffffffff ffffffff 100900000200000000001000")).is_err()
    );
}

#[test]
fn references_and_complex_numbers() {
    assert_eq!(decode("1700000008000000").class, Class::Reference(Reference::Object));
    assert_eq!(decode("170100000c000000").class, Class::Reference(Reference::Region));
    assert_eq!(decode("4712000012000000").class, Class::Reference(Reference::Object2(1)));
    assert_eq!(decode("1712000012000000").class, Class::Reference(Reference::Object2(1)));
    assert_eq!(decode("4713000012000000").class, Class::Reference(Reference::Region2(1)));
    assert_eq!(decode("4714000012000000").class, Class::Reference(Reference::Attribute(1)));
    assert!(Datatype::decode(&bytes("1702000008000000")).is_err());
    let complex = decode("5b01000008000000 11201f0004000000 00002000 17080017 7f000000");
    assert!(matches!(&complex.class, Class::Complex { homogeneous: true, form: 0, base } if base.size == 4));
}

#[test]
fn pointers_are_found_inside() {
    assert!(!decode(INT4).has_pointers());
    assert!(decode(&format!("3a00000020000000 01 02000000 1900000010000000 {INT4}")).has_pointers());
    assert!(decode("3601000008000000 6100 00 1700000008000000").has_pointers());
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize| {
        let mut all = Vec::new();
        for _ in 0..depth {
            all.extend(bytes("1900000010000000"));
        }
        all.extend(bytes(INT4));
        Datatype::decode(&all)
    };
    assert!(nested(60).is_ok());
    assert!(nested(64).is_err());
    assert!(nested(100_000).is_err());
}

#[test]
fn nonsense_is_an_error() {
    let cases = [
        "0008000004000000 0000 2000",
        "6008000004000000 0000 2000",
        "1c08000004000000 0000 2000",
        "1008000000000000 0000 2000",
        "1008000004000000 0100 2000",
        "1008000004000000 0000 0000",
        "1303000005000000",
        "1320000005000000",
        "1902000010000000 1008000004000000 0000 2000",
        "11203f0004000000 00002000 340b0034 ff030000",
        "11201f0004000000 00002000 16080017 7f000000",
        "11301f0004000000 00002000 17080017 7f000000",
    ];
    for case in cases {
        assert!(Datatype::decode(&bytes(case)).is_err(), "{case}");
    }
}
