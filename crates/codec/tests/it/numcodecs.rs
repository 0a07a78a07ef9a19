//! Filters of numcodecs: bytes that numcodecs 0.17 made of the same numbers, and back.

use ferrocdf_codec::{Chain, ChunkInfo, Codecs, Step, from_numcodecs};

fn chain(json: &str, element_size: usize, count: usize) -> Chain {
    let (id, params) = from_numcodecs(json).expect("it is known").expect("it is valid");
    let step = Step { id, name: String::new(), optional: false, params };
    Chain::for_chunks(
        vec![step],
        ChunkInfo { element_size, number: None, shape: vec![count] },
        &Codecs::default(),
    )
}

fn bytes<const N: usize>(numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.into_iter().flatten().collect()
}

/// Configuration, size of an element, decoded bytes, encoded bytes, and what these decode to.
type Case = (&'static str, usize, Vec<u8>, Vec<u8>, Vec<u8>);

#[test]
fn numbers_are_encoded_and_decoded_as_numcodecs_does() {
    let f8 = |list: &[f64]| bytes(list.iter().map(|number| number.to_le_bytes()));
    let i4 = |list: &[i32]| bytes(list.iter().map(|number| number.to_le_bytes()));
    let cases: &[Case] = &[
        (
            r#"{"id": "delta", "dtype": "<i4", "astype": "|i1"}"#,
            4,
            i4(&[100, 101, 99, -29]),
            vec![100, 1, 0xfe, 0x80],
            i4(&[100, 101, 99, -29]),
        ),
        (
            r#"{"id": "fixedscaleoffset", "scale": 10, "offset": 1000, "dtype": "<f8", "astype": "|u1"}"#,
            8,
            f8(&[1000.0, 1000.25, 1000.35, 1025.5]),
            vec![0, 2, 4, 255],
            f8(&[1000.0, 1000.2, 1000.4, 1025.5]),
        ),
        (
            r#"{"id": "quantize", "digits": 1, "dtype": "<f8", "astype": "<f8"}"#,
            8,
            f8(&[0.1, 0.15, -2.34]),
            f8(&[0.125, 0.125, -2.3125]),
            f8(&[0.125, 0.125, -2.3125]),
        ),
        (
            r#"{"id": "astype", "encode_dtype": ">i2", "decode_dtype": "<f8"}"#,
            8,
            f8(&[1.5, -2.0, 300.0]),
            vec![0, 1, 0xff, 0xfe, 1, 44],
            f8(&[1.0, -2.0, 300.0]),
        ),
        (
            r#"{"id": "packbits"}"#,
            1,
            vec![1, 0, 0, 1, 1, 1, 0, 0, 1, 1],
            vec![6, 0x9c, 0xc0],
            vec![1, 0, 0, 1, 1, 1, 0, 0, 1, 1],
        ),
        (r#"{"id": "packbits"}"#, 1, vec![], vec![0], vec![]),
        (r#"{"id": "base64"}"#, 1, b"abcd".to_vec(), b"YWJjZA==".to_vec(), b"abcd".to_vec()),
        (r#"{"id": "adler32"}"#, 1, b"abc".to_vec(), b"\x27\x01\x4d\x02abc".to_vec(), b"abc".to_vec()),
        (r#"{"id": "crc32"}"#, 1, b"abc".to_vec(), b"\xc2\x41\x24\x35abc".to_vec(), b"abc".to_vec()),
        (r#"{"id": "lz4"}"#, 1, b"a".to_vec(), b"\x01\x00\x00\x00\x10a".to_vec(), b"a".to_vec()),
    ];
    for (json, size, decoded, encoded, again) in cases {
        let chain = chain(json, *size, decoded.len() / size);
        let mut found = vec![];
        assert_eq!(chain.encode(decoded, &mut found), Ok(0), "{json}");
        assert_eq!(&found, encoded, "{json}");
        let mut back = vec![0; again.len()];
        chain.decode(0, encoded, &mut back).unwrap();
        assert_eq!(&back, again, "{json}");
        assert_eq!(chain.decode_of_any_size(0, encoded, 1 << 20).as_ref(), Ok(again), "{json}");
        // One byte less than it takes.
        if !again.is_empty() {
            assert!(chain.decode_of_any_size(0, encoded, again.len() - 1).is_err(), "{json}");
        }
    }
}

#[test]
fn floats_are_rounded_to_bits_and_damage_is_an_error() {
    let round = chain(r#"{"id": "bitround", "keepbits": 2}"#, 4, 3);
    let numbers = bytes([1.0f32, 1.2, 1.125].map(f32::to_le_bytes));
    let mut encoded = vec![];
    assert_eq!(round.encode(&numbers, &mut encoded), Ok(0));
    // Of two that are equally near, the even one.
    assert_eq!(encoded, bytes([1.0f32, 1.25, 1.0].map(f32::to_le_bytes)));
    for (json, damaged) in [
        (r#"{"id": "packbits"}"#, &[][..]),
        (r#"{"id": "packbits"}"#, &[8, 1]),
        (r#"{"id": "packbits"}"#, &[1]),
        (r#"{"id": "base64"}"#, b"YW*jZA=="),
        (r#"{"id": "lz4"}"#, b"\x01\x00\x00"),
        (r#"{"id": "lz4"}"#, b"\x02\x00\x00\x00\x10a"),
        (r#"{"id": "lz4"}"#, b"\xff\xff\xff\x7f\x10a"),
        (r#"{"id": "adler32"}"#, b"\x28\x01\x4d\x02abc"),
        (r#"{"id": "delta", "dtype": "<i4"}"#, &[1, 2, 3]),
    ] {
        assert!(chain(json, 1, 4).decode_of_any_size(0, damaged, 1 << 20).is_err(), "{json} {damaged:?}");
    }
}
