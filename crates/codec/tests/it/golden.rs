//! Encoded chunks of other writers. They were written by h5py 3.16 on HDF5 2.0 with hdf5plugin 7.1, one chunk of one
//! dataset each, with `create_dataset(..., compression=...)`, or `set_szip`, `set_scaleoffset` and `set_filter` of the
//! property list, and read with `read_direct_chunk`.

use ferrocdf_codec::{Chain, ChunkInfo, Codecs, FilterId, Step};

use crate::help::{chain, data, hex, step};

struct Golden {
    name: &'static str,
    steps: &'static [(u32, &'static [u32])],
    decoded: Vec<u8>,
    encoded: Vec<u8>,
}

fn halves(numbers: std::ops::Range<u16>) -> Vec<u8> {
    numbers.flat_map(u16::to_le_bytes).collect()
}

fn words(numbers: std::ops::Range<u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}

#[test]
fn chunks_of_h5py_and_hdf5plugin_are_decoded() {
    for golden in goldens() {
        let mut back = vec![0x55; golden.decoded.len()];
        let result = chain(golden.steps).decode(0, &golden.encoded, &mut back);
        assert_eq!(result, Ok(()), "{}", golden.name);
        assert_eq!(back, golden.decoded, "{}", golden.name);
    }
}

/// Formats that determine every encoded byte.
#[test]
fn deterministic_filters_encode_to_the_same_bytes_as_hdf5() {
    const DETERMINISTIC: [&str; 5] = [
        "fletcher32",
        "n-bit",
        "scale-offset of integers",
        "bitshuffle",
        "szip, no preprocessing, byte planes, big-endian",
    ];
    let goldens: Vec<_> =
        goldens().into_iter().filter(|golden| DETERMINISTIC.contains(&golden.name)).collect();
    assert_eq!(goldens.len(), DETERMINISTIC.len());
    for golden in goldens {
        let mut encoded = Vec::new();
        assert_eq!(chain(golden.steps).encode(&golden.decoded, &mut encoded), Ok(0), "{}", golden.name);
        assert_eq!(encoded, golden.encoded, "{}", golden.name);
    }
}

/// Bytes that numcodecs 0.16.6 and zarr-python 3.1.6 encoded.
#[test]
fn zarr_codecs_agree_with_numcodecs_and_zarr_python() {
    let named = |name, params: &[u32]| Step { id: FilterId::named(name), ..step(0, params) };
    let text = b"to be or not to be, that is the question".to_vec();
    let decode = |chain: &Chain, encoded: &[u8], len| {
        let mut back = vec![0x55; len];
        chain.decode(0, encoded, &mut back).map(|()| back)
    };
    let gzip = Chain::new(vec![named("gzip", &[5])], &Codecs::default());
    let member = hex("
        1f8b080030fa066b00ff2bc957484a55c82f52c8cb2f5128017174144a32124b14328b8174aa4261696a7149667e1e00454ae21c28000000");
    assert_eq!(decode(&gzip, &member, text.len()), Ok(text.clone()));
    for (params, first) in [(&[][..], false), (&[1], true)] {
        let sum = hex("26ff365b");
        let expected = if first { [sum, text.clone()] } else { [text.clone(), sum] }.concat();
        let chain = Chain::new(vec![named("crc32c", params)], &Codecs::default());
        let mut encoded = vec![];
        chain.encode(&text, &mut encoded).unwrap();
        assert_eq!(encoded, expected);
        assert_eq!(decode(&chain, &encoded, text.len()), Ok(text.clone()));
    }
    // The 16-bit numbers 0 to 23 in the shape 4 x 3 x 2, transposed to the order (2, 0, 1) and compressed by gzip.
    let chunk = ChunkInfo { element_size: 2, number: None, shape: vec![4, 3, 2] };
    let chain = Chain::for_chunks(
        vec![named("transpose", &[2, 0, 1]), named("gzip", &[5])],
        chunk,
        &Codecs::default(),
    );
    let encoded = hex("
        1f8b080030fa066b00ff05c1850180200000b05918800122ff7feac668166c0ec9e956bc3e83c962b58bb2cba36aba1fac5d59f130000000");
    assert_eq!(decode(&chain, &encoded, 48), Ok(halves(0..24)));
}

fn goldens() -> Vec<Golden> {
    vec![
        Golden {
            name: "deflate",
            steps: &[(1, &[6])],
            decoded: data(3, 256),
            encoded: hex("
                789c2bc957484a55c82f52c8cb2f512801717420d4081103009b5052b8"),
        },
        Golden {
            name: "shuffle, deflate, fletcher32",
            steps: &[(2, &[4]), (1, &[4]), (3, &[])],
            decoded: data(1, 160),
            encoded: hex("
                785eadc1c711001010004033faef53b81c183f2d78d86d7d00f609c813880589d548d442d423cd636dcfb54f
                7d543ebbc24126000c0432ad"),
        },
        Golden {
            name: "fletcher32",
            steps: &[(3, &[])],
            decoded: data(1, 20),
            encoded: hex("
                e8030000e9030000ea030000ec030000ed0300001394755e"),
        },
        Golden {
            name: "szip, nearest-neighbour, byte planes",
            steps: &[(4, &[169, 8, 32, 40])],
            decoded: data(1, 160),
            encoded: hex("
                a00000007d1b5d164eb7638a5ed7a2ca6b76714ced762ca000c20001000080"),
        },
        Golden {
            name: "szip, no preprocessing, byte planes, big-endian",
            steps: &[(4, &[149, 4, 32, 40])],
            decoded: hex("
                000003e8000003e9000003ea000003ec000003ed000003e9000003eb000003ec000003ed000003ef000003eb
                000003ec000003ee000003ef000003f0000003ed000003ee000003ef000003f1000003f2000003ee000003f0
                000003f1000003f2000003f4000003f0000003f1000003f3000003f4000003f5000003f2000003f3000003f4
                000003f6000003f7000003f3000003f5000003f6000003f7000003f9"),
            encoded: hex("
                a0000000008052afa55f4abe957d2afa55f4abe957d2afa55ffd1d3d5d9fb7a7afb3f6f7f5f67eeeff0edfdd
                dfe3e5fbbc3c7cbfa7878f9ff4f5f2f3fe9edefe7fd7dbdfe4"),
        },
        Golden {
            name: "szip, nearest-neighbour, 16-bit pixels, padded scanlines",
            steps: &[(4, &[169, 8, 16, 13])],
            decoded: hex("
                e803e903ea03eb03ec03ed03ee03ef03f003f103f203f303f403eb03ec03ed03ee03ef03f003f103f203f303
                f403f503f603f703ee03ef03f003f103f203f303f403f503f603f703f803f903fa03f103f203f303f403f503
                f603f703f803f903fa03fb03fc03fd03f403f503f603f703f803f903fa03fb03fc03fd03fe03ff030004f703
                f803f903fa03fb03fc03fd03fe03ff030004010402040304"),
            encoded: hex("
                9c000000103e82492489249e207d64924912493c40fb89249224927881f89249244924f103f42492489249e2
                07ee4924912493c0"),
        },
        Golden {
            name: "n-bit",
            steps: &[(5, &[8, 0, 40, 1, 4, 0, 20, 3])],
            decoded: hex("
                401f0000481f0000501f0000601f0000681f0000481f0000581f0000601f0000681f0000781f0000581f0000
                601f0000701f0000781f0000801f0000681f0000701f0000781f0000881f0000901f0000701f0000801f0000
                881f0000901f0000a01f0000801f0000881f0000981f0000a01f0000a81f0000901f0000981f0000a01f0000
                b01f0000b81f0000981f0000a81f0000b01f0000b81f0000c81f0000"),
            encoded: hex("
                003e8003e9003ea003ec003ed003e9003eb003ec003ed003ef003eb003ec003ee003ef003f0003ed003ee003
                ef003f1003f2003ee003f0003f1003f2003f4003f0003f1003f3003f4003f5003f2003f3003f4003f6003f70
                03f3003f5003f6003f7003f900"),
        },
        Golden {
            name: "scale-offset of integers",
            steps: &[(6, &[2, 0, 40, 0, 4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
            decoded: data(1, 160),
            encoded: hex("
                0500000008e8030000000000000000000000000000004442846429c6431d0531d2a3212a6212b6354b639eb6
                b9f100"),
        },
        Golden {
            name: "scale-offset of floats",
            steps: &[(6, &[0, 1, 40, 1, 4, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
            decoded: hex("
                42fa000042fa333342fa999a42fb000042fb333342fa333342facccd42fb000042fb333342fbcccd42facccd
                42fb000042fb999a42fbcccd42fc000042fb333342fb999a42fbcccd42fc333342fc999a42fb999a42fc0000
                42fc333342fc999a42fd000042fc000042fc333342fccccd42fd000042fd333342fc999a42fccccd42fd0000
                42fd999a42fdcccd42fccccd42fd333342fd999a42fdcccd42fe3333"),
            encoded: hex("
                05000000080000fa42000000000000000000000000004653048532485425464256d4296d7a96e7c1ae7ca6e8
                4a7500"),
        },
        Golden {
            name: "LZF",
            steps: &[(32000, &[4, 261, 256])],
            decoded: data(3, 256),
            encoded: hex("
                0d746f206265206f72206e6f742074400c002c8006e0dc13016f20"),
        },
        Golden {
            name: "bzip2",
            steps: &[(307, &[9])],
            decoded: data(3, 256),
            encoded: hex("
                425a683931415926535998d1ff9d0000731180400412019400200050860409aa84f44c53a989bfa9e4e5314e
                a9a4e49a4f2764dc9f8bb9229c28484c68ffce80"),
        },
        Golden {
            name: "zstd",
            steps: &[(32015, &[3])],
            decoded: data(3, 256),
            encoded: hex("
                28b52ffd600000d5000070746f206265206f72206e6f74202c0300e49b1454e6826b7e01"),
        },
        Golden {
            name: "LZ4",
            steps: &[(32004, &[100])],
            decoded: data(3, 256),
            encoded: hex("
                0000000000000100000000640000001ed1746f206265206f72206e6f74200d00122c07000f14003350206265
                2c200000001ed1746f206265206f72206e6f74200d00122c07000f140033502062652c200000001ed1746f20
                6265206f72206e6f74200d00122c07000f140007507420746f20"),
        },
        Golden {
            name: "bitshuffle",
            steps: &[(32008, &[0, 4, 2, 0, 0])],
            decoded: halves(1000..1019),
            encoded: hex("
                aaaaccccf0f0ff0000ffffffffffffffffffffff000000000000000000000000f803f903fa03"),
        },
        Golden {
            name: "bitshuffle with LZ4",
            steps: &[(32008, &[0, 4, 2, 8, 2])],
            decoded: halves(1000..1019),
            encoded: hex("
                00000000000000260000001000000012f001aaccf0ff00ffffffffff00000000000000000012f001aaccf000
                ffffffffffff000000000000f803f903fa03"),
        },
        Golden {
            name: "bitshuffle with zstd",
            steps: &[(32008, &[0, 4, 2, 0, 3, 3])],
            decoded: halves(1000..1140),
            encoded: hex("
                0000000000000118000020000000004028b52ffd601000b5010058aaaaccf0ff00ff00ff00001300280ee002
                d0005a000e8890c0571c80063a0b001c6016d0bcb0b2c0a635761dcecd08100610d1012c7004710472047304"),
        },
        Golden {
            name: "blosc, blosclz",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 0])],
            decoded: words(1000..1512),
            encoded: hex("
                020101040008000000080000560200001400000000020000e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafb
                fcfdfeff000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627
                28292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f50515253
                5455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f
                808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaab
                acadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7
                d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00010203
                0405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f
                303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b
                5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384858687
                88898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3
                b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf
                e0e1e2e3e4e5e6e7180000002303030303e00a03010304e0f500010405e0db00020505050d00000023000000
                00e0fff103020000000d0000002300000000e0fff10302000000"),
        },
        Golden {
            name: "blosc, lz4",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 1])],
            decoded: words(1000..1512),
            encoded: hex("
                0201210400080000000800005c010000140000000b010000fff1e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9
                fafbfcfdfeff000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425
                262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f5051
                52535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d
                7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9
                aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5
                d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e70001e850e3e4e5e6e7150000001f030100041f040100ec1f0501
                00cf5005050505050c0000001f000100ffe85000000000000c0000001f000100ffe8500000000000"),
        },
        Golden {
            name: "blosc, lz4hc",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 2])],
            decoded: words(1000..1512),
            encoded: hex("
                0201210400080000000800005c010000140000000b010000fff1e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9
                fafbfcfdfeff000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425
                262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f5051
                52535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d
                7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9
                aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5
                d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e70001e850e3e4e5e6e7150000001f030100041f040100ec1f0501
                00cf5005050505050c0000001f000100ffe85000000000000c0000001f000100ffe8500000000000"),
        },
        Golden {
            name: "blosc, snappy",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 3])],
            decoded: words(1000..1512),
            encoded: hex("
                0201410400080000000800009601000014000000170100008004f40501e8e9eaebecedeeeff0f1f2f3f4f5f6
                f7f8f9fafbfcfdfeff000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122
                232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e
                4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a
                7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6
                a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2
                d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedfe0001fe0001fe0001e600012300000080
                0400035a01000004fe0100fe0100fe0100fa01000005fe0100fe0100fe01009a01001c00000080040000fe01
                00fe0100fe0100fe0100fe0100fe0100fe0100fa01001c00000080040000fe0100fe0100fe0100fe0100fe01
                00fe0100fe0100fa0100"),
        },
        Golden {
            name: "blosc, zlib",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 4])],
            decoded: words(1000..1512),
            encoded: hex("
                0201610400080000000800006c010000140000001a01000078da7bf1f2d5eb376fdfbdfff0f1d3e72f5fbf7d
                fff1f3d7ef3f7ffffd6760646266616563e7e0e4e2e6e1e5e317101412161115139790949296919593575054
                5256515553d7d0d4d2d6d1d5d33730343236313533b7b0b4b2b6b1b5b37770747276717573f7f0f4f2f6f1f5
                f30f080c0a0e090d0b8f888c8a8e898d8b4f484c4a4e494d4bcfc8cccacec9cdcb2f282c2a2e292d2bafa8ac
                aaaea9adab6f686c6a6e696d6befe8eceaeee9edeb9f3071d2e42953a74d9f3173d6ec3973e7cd5fb070d1e2
                254b972d5fb172d5ea356bd7addfb071d3e62d5bb76ddfb173d7ee3d7bf7ed3f70f0d0e123478f1d3f71f2d4
                e93367cf9dbf70f1d2e52b57af5dbf71f3d6ed3b77efdd7ff0f0d1e3274f9f3d7f31c2fd0f00a4b6ff011200
                000078da6366c60e584638601d210000412008d10e00000078da6360180523190000020000010e00000078da
                636018052319000002000001"),
        },
        Golden {
            name: "blosc, zstd",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 1, 5])],
            decoded: words(1000..1512),
            encoded: hex("
                0201910400080000000800003a010000140000002201000028b52ffd600007c508004410e8e9eaebecedeeef
                f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405060708090a0b0c0d0e0f101112131415161718191a1b
                1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f4041424344454647
                48494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f70717273
                7475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f
                a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacb
                cccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7030405000500fc412564401d1f50ccd5
                02407f80a253"),
        },
        Golden {
            name: "blosc, bit shuffle",
            steps: &[(32001, &[2, 2, 4, 2048, 9, 2, 1])],
            decoded: words(1000..1512),
            encoded: hex("
                020124040008000000080000d6000000140000006e0000001faa01002c1fcc01002c1ff001002c2fff000200
                2b2f00ff04002b10ff40003f0000ff08002c000200004400000200000c00000200000c00000200000c000002
                00000c00000200000c00000200000c00000200000c00080200001400080200081c00000200041c0050ffffff
                ffff2c0000004fffffff0001000c1fff01000c0f3f000c0f02000e0f5f000c0f02000b0f5e000e0f0200ff08
                5000000000000c0000001f000100ffe85000000000000c0000001f000100ffe8500000000000"),
        },
    ]
}
