//! Tests of the grammar, of the table of constants, and of text in neither of them with both [`Syntax`]es.

use super::*;

fn words(text: &str, syntax: Syntax) -> Option<Vec<u32>> {
    parse_parameter(text.as_bytes(), syntax).ok()
}

fn list(text: &str) -> List {
    List::parse(text.as_bytes(), Syntax::Strict).unwrap_or_else(|error| panic!("{error}"))
}

/// Each row of the table of constants of "NetCDF-4 Filter Support", in lower and upper case.
#[test]
fn documented_constants_have_the_documented_values() {
    for (text, expected) in [
        ("-17b", &[0xef][..]),
        ("23ub", &[23]),
        ("-25S", &[0xffe7]),
        ("27US", &[27]),
        ("-77", &[0xffff_ffb3]),
        ("77", &[77]),
        ("93U", &[93]),
        ("789f", &[0x4445_4000]),
        ("12345678.12345678d", &[3_287_505_826, 1_097_305_129]),
        ("-9223372036854775807L", &[1, 0x8000_0000]),
        ("18446744073709551615UL", &[u32::MAX, u32::MAX]),
    ] {
        for text in [text.to_string(), text.to_lowercase(), text.to_uppercase(), format!(" \t{text}")] {
            for syntax in [Syntax::Strict, Syntax::NetcdfC] {
                assert_eq!(words(&text, syntax).as_deref(), Some(expected), "{text} {syntax:?}");
            }
        }
    }
}

/// Values that the table does not have, and that are the same in both syntaxes.
#[test]
fn values_at_the_limits_of_types_are_the_same_in_both_syntaxes() {
    for (text, expected) in [
        ("0", &[0][..]),
        ("+5", &[5]),
        ("4294967295", &[u32::MAX]),
        ("-2147483648", &[0x8000_0000]),
        ("300UB", &[44]),
        ("70000us", &[4464]),
        ("-1ub", &[255]),
        ("-3U", &[u32::MAX - 2]),
        ("-1ul", &[u32::MAX, u32::MAX]),
        ("5ll", &[5, 0]),
        ("2.", &[0x4000_0000]),
        (".5d", &[0, 0x3fe0_0000]),
        ("-1e10F", &[0xd015_02f9]),
        ("inff", &[0x7f80_0000]),
    ] {
        for syntax in [Syntax::Strict, Syntax::NetcdfC] {
            assert_eq!(words(text, syntax).as_deref(), Some(expected), "{text} {syntax:?}");
        }
    }
}

/// Texts that netCDF-C parses in part: its value, and the position of the error in the strict syntax; 0 if there is none.
#[test]
fn partly_valid_numbers_are_errors_only_in_strict_syntax() {
    for (text, netcdf_c, position) in [
        ("4294967296", Some(&[0][..]), 0),
        ("-2147483649", Some(&[0x7fff_ffff]), 1),
        ("4294967296u", Some(&[0]), 1),
        ("99999999999999999999", Some(&[u32::MAX]), 1),
        ("18446744073709551615l", Some(&[u32::MAX, 0x7fff_ffff]), 1),
        ("18446744073709551616ul", Some(&[u32::MAX, u32::MAX]), 1),
        ("18446744073709551615ull", Some(&[u32::MAX, 0x7fff_ffff]), 0),
        ("0x10", Some(&[0]), 2),
        ("-0x10", Some(&[0]), 3),
        ("0xf", Some(&[0x4170_0000]), 2),
        ("1b2", Some(&[1]), 2),
        ("3.25", Some(&[3]), 2),
        ("5lu", Some(&[5]), 2),
        ("1 ", None, 2),
        ("12q", None, 3),
        ("x", None, 1),
        ("-", None, 1),
        ("ul", None, 1),
    ] {
        assert_eq!(words(text, Syntax::NetcdfC).as_deref(), netcdf_c, "{text}");
        match parse_parameter(text.as_bytes(), Syntax::Strict) {
            Ok(_) => assert_eq!(position, 0, "{text}"),
            Err(error) => {
                let letter = &text[position - 1..position];
                let start = format!("filters \"{text}\": character {position} ('{letter}'): ");
                assert!(error.what.starts_with(&start) && error.code == Code::EINVAL, "{text}: {error}");
            }
        }
    }
    // As documented, the type is the smallest one into which the number fits.
    assert_eq!(words("4294967296", Syntax::Strict), Some(vec![0, 1]));
    assert_eq!(words("18446744073709551615ull", Syntax::Strict), Some(vec![u32::MAX; 2]));
}

#[test]
fn printed_filters_are_parsed_to_the_same_filters() {
    let one = |id: u32, params: &[u32]| Spec { id: id.into(), params: params.to_vec() };
    for (text, specs) in [
        ("307,9|4,32,32", vec![one(307, &[9]), one(4, &[32, 32])]),
        ("307", vec![one(307, &[])]),
        ("32768,1,4294967295|2", vec![one(32768, &[1, u32::MAX]), one(2, &[])]),
    ] {
        assert_eq!(list(text), List { format: 0, specs: specs.clone() });
        assert_eq!(specs.iter().map(Spec::to_string).collect::<Vec<_>>().join("|"), text);
    }
    assert_eq!(one(4, &[32, 8]).to_string(), "4,32,8");
    assert_eq!(list(" 1 , 2|3 |"), List { format: 0, specs: vec![one(1, &[2]), one(3, &[])] });
    assert_eq!(list("[3]1"), List { format: 3, specs: vec![one(1, &[])] });
    assert_eq!(list(""), List::default());
}

#[test]
fn filter_names_are_parsed_to_filter_numbers() {
    let both = list("zstd,3|Deflate,5").specs;
    assert_eq!((both[0].hdf5_id(), both[1].hdf5_id()), (Ok(32015), Ok(1)));
    let error = List::parse(b"1|zstt,3", Syntax::Strict).unwrap_err().what.clone();
    assert!(
        error.starts_with("filters \"1|zstt,3\": character 3 ('z'): no filter is called zstt"),
        "{error}"
    );
    assert!(error.contains("zstandard (32015)") && error.contains("bzip2 (307)"), "{error}");
}

#[test]
fn errors_state_the_position_in_the_text() {
    for (text, position) in [
        ("1,", "end of text: a parameter is missing"),
        ("1,,2", "character 3 (',')"),
        ("1, ,2", "character 4 (',')"),
        ("1,2||3", "character 5 ('|')"),
        ("|1", "character 1 ('|')"),
        ("-1,2", "character 1 ('-')"),
        ("4294967296", "character 1 ('4')"),
        ("1 x,2", "character 3 ('x')"),
        ("1,2 ,3", "character 4 (' ')"),
        ("1|2,3|é,5,0x3", "character 7 ('é')"),
        ("[3", "end of text"),
        ("[]1", "character 2 (']')"),
    ] {
        let error = List::parse(text.as_bytes(), Syntax::Strict).expect_err(text).what.clone();
        assert!(error.starts_with(&format!("filters \"{text}\": {position}: ")), "{text}: {error}");
    }
    // Here netCDF-C reads past the end of the text, or takes the numbers modulo 2^32.
    for text in ["1,", "1, ,2", "1,,2"] {
        assert!(List::parse(text.as_bytes(), Syntax::NetcdfC).is_err_and(|error| error.code == Code::EINVAL));
    }
    let id = |text: &str| Spec::parse(text.as_bytes(), Syntax::NetcdfC).unwrap().hdf5_id();
    assert_eq!((id("-1,2"), id("4294967297")), (Ok(u32::MAX), Ok(1)));
}

/// The rules of "Encoding Algorithms for HDF5", step by step, for both byte orders.
#[test]
fn fix8_puts_the_low_half_first() {
    let value: u64 = 0x0102_0304_0506_0708;
    for big_endian in [false, true] {
        let native = if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut by_rule = native;
        if big_endian {
            by_rule.reverse();
            by_rule[..4].reverse();
            by_rule[4..].reverse();
        }
        let mut bytes = native;
        fix8(&mut bytes, big_endian);
        assert_eq!(bytes, by_rule);
        // Read in this byte order, the first number is the low half.
        let word = |half: &[u8]| {
            let half = half.try_into().unwrap();
            if big_endian { u32::from_be_bytes(half) } else { u32::from_le_bytes(half) }
        };
        assert_eq!([word(&bytes[..4]), word(&bytes[4..])], [0x0506_0708, 0x0102_0304]);
        fix8(&mut bytes, big_endian);
        assert_eq!(bytes, native, "decoding");
    }
    assert_eq!(words("72623859790382856l", Syntax::Strict), Some(vec![0x0506_0708, 0x0102_0304]));
}

#[test]
fn codecs_without_an_hdf5_number_are_printed_by_name() {
    for text in ["crc32c", "gzip-member,5", "transpose,1,0"] {
        let spec = Spec::parse(text.as_bytes(), Syntax::Strict).unwrap();
        assert_eq!(spec.to_string(), text);
        let error = spec.hdf5_id().unwrap_err();
        assert_eq!(error.code, Code::ENOFILTER);
    }
    assert_eq!(Spec::parse(b"gzip,5", Syntax::Strict).unwrap().to_string(), "1,5");
}
