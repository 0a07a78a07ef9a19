//! The grammar, the table of constants, and what the two ways of reading make of what is in neither.

use super::*;

fn words(text: &str, rest: Rest) -> Option<Vec<u32>> {
    parse_parameter(text.as_bytes(), rest).ok()
}

fn list(text: &str) -> List {
    List::parse(text.as_bytes(), Rest::Refused).unwrap_or_else(|error| panic!("{error}"))
}

/// Each row of the table of constants, in both cases of its letters.
#[test]
fn constants() {
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
            for rest in [Rest::Refused, Rest::Dropped] {
                assert_eq!(words(&text, rest).as_deref(), Some(expected), "{text} {rest:?}");
            }
        }
    }
}

/// What is the same in both ways of reading, though no table has it.
#[test]
fn at_the_edges_of_types() {
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
        for rest in [Rest::Refused, Rest::Dropped] {
            assert_eq!(words(text, rest).as_deref(), Some(expected), "{text} {rest:?}");
        }
    }
}

/// What the reference reads a part of: what it makes of it, and where the fault is for people; 0 if it is none.
#[test]
fn what_is_dropped_or_refused() {
    for (text, dropped, place) in [
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
        assert_eq!(words(text, Rest::Dropped).as_deref(), dropped, "{text}");
        match parse_parameter(text.as_bytes(), Rest::Refused) {
            Ok(_) => assert_eq!(place, 0, "{text}"),
            Err(error) => {
                let start = format!("character {place}, '{}', of the filters", &text[place - 1..place]);
                assert!(error.what.starts_with(&start) && error.code == Code::EINVAL, "{text}: {error}");
            }
        }
    }
    // The text of the documentation: of the smallest type into which it fits.
    assert_eq!(words("4294967296", Rest::Refused), Some(vec![0, 1]));
    assert_eq!(words("18446744073709551615ull", Rest::Refused), Some(vec![u32::MAX; 2]));
}

#[test]
fn pipelines_there_and_back() {
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
fn names_stand_for_numbers() {
    let both = list("zstd,3|Deflate,5").specs;
    assert_eq!((both[0].hdf5_id(), both[1].hdf5_id()), (Ok(32015), Ok(1)));
    let error = List::parse(b"1|zstt,3", Rest::Refused).unwrap_err().what.clone();
    assert!(
        error.starts_with("character 3, 'z', of the filters \"1|zstt,3\": no filter is called zstt"),
        "{error}"
    );
    assert!(error.contains("zstandard (32015)") && error.contains("bzip2 (307)"), "{error}");
}

#[test]
fn faults_are_placed() {
    for (text, start) in [
        ("1,", "the end, of the filters \"1,\": a parameter is missing"),
        ("1,,2", "character 3, ',', of"),
        ("1, ,2", "character 4, ',', of"),
        ("1,2||3", "character 5, '|', of"),
        ("|1", "character 1, '|', of"),
        ("-1,2", "character 1, '-', of"),
        ("4294967296", "character 1, '4', of"),
        ("1 x,2", "character 3, 'x', of"),
        ("1,2 ,3", "character 4, ' ', of"),
        ("1|2,3|é,5,0x3", "character 7, 'é', of"),
        ("[3", "the end, of"),
        ("[]1", "character 2, ']', of"),
    ] {
        let error = List::parse(text.as_bytes(), Rest::Refused).expect_err(text).what.clone();
        assert!(error.starts_with(start), "{text}: {error}");
    }
    // The reference reads on behind the text, or takes the numbers modulo 2^32.
    for text in ["1,", "1, ,2", "1,,2"] {
        assert!(List::parse(text.as_bytes(), Rest::Dropped).is_err_and(|error| error.code == Code::EINVAL));
    }
    let dropped = |text: &str| Spec::parse(text.as_bytes(), Rest::Dropped).unwrap();
    assert_eq!((dropped("-1,2").hdf5_id(), dropped("4294967297").hdf5_id()), (Ok(u32::MAX), Ok(1)));
}

/// The rules of "Encoding Algorithms for HDF5", step by step, on the bytes of a machine of either order.
#[test]
fn halves_of_64_bits() {
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
        // A machine of this order sees the low half first.
        let word = |half: &[u8]| {
            let half = half.try_into().unwrap();
            if big_endian { u32::from_be_bytes(half) } else { u32::from_le_bytes(half) }
        };
        assert_eq!([word(&bytes[..4]), word(&bytes[4..])], [0x0506_0708, 0x0102_0304]);
        fix8(&mut bytes, big_endian);
        assert_eq!(bytes, native, "decoding");
    }
    assert_eq!(words("72623859790382856l", Rest::Refused), Some(vec![0x0506_0708, 0x0102_0304]));
}

#[test]
fn codecs_without_a_number_are_named() {
    for text in ["crc32c", "gzip-member,5", "transpose,1,0"] {
        let spec = Spec::parse(text.as_bytes(), Rest::Refused).unwrap();
        assert_eq!(spec.to_string(), text);
        let error = spec.hdf5_id().unwrap_err();
        assert_eq!(error.code, Code::ENOFILTER);
    }
    assert_eq!(Spec::parse(b"gzip,5", Rest::Refused).unwrap().to_string(), "1,5");
}
