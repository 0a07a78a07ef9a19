//! Conversion compared with values taken from netCDF-C, and its errors.

use ferrocdf_array::{ConversionRules, Kind, RangeCheck, Stored, convert};
use ferrocdf_bytes::Code;

use crate::engine::NUMBERS;

/// Input, whether it is out of range, and result; both most significant byte first.
type Entry = (Vec<u8>, bool, Vec<u8>);

fn golden() -> Vec<(ConversionRules, Kind, Kind, Vec<Entry>)> {
    let mut pairs: Vec<(ConversionRules, Kind, Kind, Vec<Entry>)> = Vec::new();
    let kind = |name: &str| *NUMBERS.iter().find(|kind| format!("{kind:?}") == name).unwrap();
    for line in include_str!("conversion.golden").lines().filter(|line| !line.starts_with('#')) {
        if let Some(entries) = line.strip_prefix("  ") {
            let list = &mut pairs.last_mut().unwrap().3;
            for entry in entries.split(' ') {
                let checksum = entry.find(['=', '!']).unwrap();
                let out_of_range = &entry[checksum..=checksum] == "!";
                list.push((hex(&entry[..checksum]), out_of_range, hex(&entry[checksum + 1..])));
            }
        } else {
            let words: Vec<&str> = line.split(' ').collect();
            let direction = if words[0] == "G" { ConversionRules::Get } else { ConversionRules::Put };
            pairs.push((direction, kind(words[1]), kind(words[2]), Vec::new()));
        }
    }
    pairs
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn reversed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().rev().copied().collect()
}

#[test]
fn converted_numbers_equal_those_of_the_reference() {
    let pairs = golden();
    assert_eq!(pairs.len(), 180);
    for (direction, from, to, entries) in &pairs {
        assert!(entries.len() >= 3);
        for (input, out_of_range, result) in entries {
            for (from, input) in
                [(Stored::big(*from), input.clone()), (Stored::little(*from), reversed(input))]
            {
                for (to, result) in
                    [(Stored::big(*to), result.clone()), (Stored::little(*to), reversed(result))]
                {
                    let mut output = vec![0xab; result.len()];
                    let fit = convert(*direction, from, &input, to, &mut output).unwrap();
                    let about = format!("{direction:?} {from:?} {input:02x?} {to:?}");
                    // Only memory has old content to keep, and it is in this machine's order; `ab` bytes are the same in both
                    // orders.
                    assert_eq!(output, result, "{about}");
                    assert_eq!(fit == RangeCheck::OutOfRange, *out_of_range, "{about}");
                }
            }
        }
    }
}

#[test]
fn a_single_number_out_of_range_is_reported() {
    for (direction, from, to, entries) in &golden() {
        let inside = entries.iter().find(|entry| !entry.1).unwrap();
        let Some(outside) = entries.iter().find(|entry| entry.1) else { continue };
        for count in [1, 7, 64, 1000] {
            for position in [0, count / 2, count - 1] {
                let row = |scatter: fn(&Entry) -> &[u8]| -> Vec<u8> {
                    let one = |at| scatter(if at == position { outside } else { inside });
                    (0..count).flat_map(one).copied().collect()
                };
                let mut output = vec![0xab; count * to.size()];
                let (from, to) = (Stored::big(*from), Stored::big(*to));
                let fit = convert(*direction, from, &row(|entry| &entry.0), to, &mut output).unwrap();
                assert_eq!((fit, output), (RangeCheck::OutOfRange, row(|entry| &entry.2)), "{from:?} {to:?}");
            }
        }
    }
}

#[test]
fn negative_i8_put_as_u32_keep_their_low_bits() {
    // netCDF-C keeps the old bytes of the file.
    let mut output = [0; 4];
    let (from, to) = (Stored::big(Kind::I8), Stored::big(Kind::U32));
    assert_eq!(
        convert(ConversionRules::Put, from, &[0xfe], to, &mut output).unwrap(),
        RangeCheck::OutOfRange
    );
    assert_eq!(output, [0xff, 0xff, 0xff, 0xfe]);
}

#[test]
fn cast_rules_equal_those_of_netcdf4_files() {
    type Case = (Kind, Vec<u8>, Kind, Vec<u8>, RangeCheck);
    let cases: [Case; 6] = [
        (
            Kind::F32,
            f32::INFINITY.to_le_bytes().to_vec(),
            Kind::F64,
            f64::INFINITY.to_le_bytes().to_vec(),
            RangeCheck::InRange,
        ),
        (Kind::F32, 300f32.to_le_bytes().to_vec(), Kind::U8, vec![44], RangeCheck::OutOfRange),
        (
            Kind::F64,
            1e300f64.to_le_bytes().to_vec(),
            Kind::F32,
            f32::INFINITY.to_le_bytes().to_vec(),
            RangeCheck::OutOfRange,
        ),
        (Kind::F32, 4294967296f32.to_le_bytes().to_vec(), Kind::U32, vec![0; 4], RangeCheck::InRange),
        (
            Kind::F32,
            4294967808f32.to_le_bytes().to_vec(),
            Kind::U32,
            vec![0, 2, 0, 0],
            RangeCheck::OutOfRange,
        ),
        (Kind::I16, (-1i16).to_le_bytes().to_vec(), Kind::U32, vec![255; 4], RangeCheck::OutOfRange),
    ];
    for (from, input, to, wanted, fit) in cases {
        let mut output = vec![0xab; wanted.len()];
        let (source, target) = (Stored::little(from), Stored::little(to));
        assert_eq!(
            convert(ConversionRules::Cast, source, &input, target, &mut output),
            Ok(fit),
            "{from:?} {to:?}"
        );
        assert_eq!(output, wanted, "{from:?} {to:?}");
    }
}

#[test]
fn conversion_within_one_kind_keeps_every_bit() {
    // A signalling NaN would be changed by arithmetic.
    let nan = 0x7fa0_0001u32;
    for direction in [ConversionRules::Get, ConversionRules::Put] {
        let mut output = [0; 4];
        let (from, to) = (Stored::big(Kind::F32), Stored::little(Kind::F32));
        let fit = convert(direction, from, &nan.to_be_bytes(), to, &mut output).unwrap();
        assert_eq!((fit, output), (RangeCheck::InRange, nan.to_le_bytes()));
    }
}

#[test]
fn text_does_not_convert_to_numbers() {
    for kind in NUMBERS {
        let (text, number) = (Stored::native(Kind::Char), Stored::native(kind));
        let mut room = vec![0; kind.size()];
        for direction in [ConversionRules::Get, ConversionRules::Put] {
            assert_eq!(convert(direction, text, b"a", number, &mut room).unwrap_err().code, Code::ECHAR);
            assert_eq!(
                convert(direction, number, &room.clone(), text, &mut [0]).unwrap_err().code,
                Code::ECHAR
            );
        }
    }
    let mut output = [0; 3];
    let text = Stored::big(Kind::Char);
    assert_eq!(
        convert(ConversionRules::Get, text, b"abc", Stored::little(Kind::Char), &mut output),
        Ok(RangeCheck::InRange)
    );
    assert_eq!(&output, b"abc");
}

#[test]
fn slices_of_unequal_length_are_an_error() {
    let (from, to) = (Stored::big(Kind::I16), Stored::native(Kind::I32));
    for (input, output) in [(3, 4), (4, 4), (2, 8), (2, 5)] {
        let error =
            convert(ConversionRules::Get, from, &vec![0; input], to, &mut vec![0; output]).unwrap_err();
        assert_eq!(error.code, Code::EINVAL, "{input} {output}");
    }
}
