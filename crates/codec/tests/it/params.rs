//! Parameters: what each filter makes of its own, of wrong ones, and of any.

use ferrocdf_bytes::Code;

use crate::help::{Numbers, chain, data};

const SCALED: [u32; 20] = [2, 0, 50, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn scaled(change: &[(usize, u32)]) -> [u32; 20] {
    let mut params = SCALED;
    change.iter().for_each(|&(at, value)| params[at] = value);
    params
}

/// What comes back of data that was compressed with these parameters.
fn through(id: u32, params: &[u32], decoded: &[u8]) -> Vec<u8> {
    let chain = chain(&[(id, params)]);
    let mut encoded = Vec::new();
    assert_eq!(chain.encode(decoded, &mut encoded), Ok(0), "{id} {params:?}");
    let mut back = vec![0x55; decoded.len()];
    assert_eq!(chain.decode(0, &encoded, &mut back), Ok(()), "{id} {params:?}");
    back
}

#[test]
fn szip_keeps_pixels_of_every_width() {
    for bits in (1..=24).chain([32, 64]) {
        let size = match bits {
            64 => 8,
            17.. => 4,
            9.. => 2,
            _ => 1,
        };
        for options in [4, 4 | 16, 32, 32 | 16, 32 | 8 | 128 | 1] {
            for (block, scanline) in [(2, 5), (8, 64), (8, 61), (32, 4000), (16, 16)] {
                let mut numbers = Numbers::new(bits.into());
                // Slow enough to be compressed, with leaps now and then.
                let mut pixel = 0u64;
                let decoded: Vec<u8> = (0..700)
                    .flat_map(|at| {
                        let step = if at % 90 == 0 { numbers.next() } else { numbers.next() % 3 };
                        pixel = pixel.wrapping_add(step) & (u64::MAX >> (64 - bits));
                        let bytes = pixel.to_le_bytes();
                        let mut bytes = bytes[..size].to_vec();
                        if options & 16 != 0 {
                            bytes.reverse();
                        }
                        bytes
                    })
                    .collect();
                let params = [options, block, bits, scanline];
                let mut encoded = Vec::new();
                let chain = chain(&[(4, &params)]);
                match chain.encode(&decoded, &mut encoded) {
                    Ok(_) => assert!(through(4, &params, &decoded) == decoded, "{params:?}"),
                    // Noise of so few bits is not made smaller.
                    Err(error) => assert!(error.what.contains("does not apply"), "{params:?}: {error}"),
                }
            }
        }
    }
}

/// Samples of 32 bits are never coded as such: they are planes of bytes, and unsigned noise comes back.
#[test]
fn szip_takes_wide_pixels_apart() {
    for (bits, size) in [(32, 4), (64, 8)] {
        let mut numbers = Numbers::new(9);
        let decoded: Vec<u8> = (0..1000)
            .flat_map(|_| {
                let top = u64::MAX - numbers.next() % 200;
                top.to_le_bytes().into_iter().skip(8 - size).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(through(4, &[32, 8, bits, 256], &decoded), decoded);
    }
}

#[test]
fn n_bit_keeps_the_bits_of_every_type() {
    // A compound: a number of 5 bits above 3 others in big-endian order, three bytes, an array of numbers of 12 bits; and
    // a number of 80 bits.
    let tree = [3, 30, 4, 0, 1, 2, 1, 5, 3, 4, 4, 3, 8, 2, 8, 1, 4, 0, 12, 4, 18, 1, 10, 0, 79, 1];
    let mut params = vec![tree.len() as u32 + 3, 0, 20];
    params.extend_from_slice(&tree);
    let decoded = data(0, 600);
    let back = through(5, &params, &decoded);
    for (kept, was) in back.chunks(30).zip(decoded.chunks(30)) {
        let mut should = [0; 30];
        should[1] = was[1] & 0b1111_1000;
        should[4..7].copy_from_slice(&was[4..7]);
        for at in [8, 12] {
            (should[at], should[at + 1]) = (was[at] & 0xf0, was[at + 1]);
        }
        should[18..28].copy_from_slice(&was[18..28]);
        should[18] &= 0xfe;
        assert_eq!(kept, should);
    }
    // A flag says that nothing is compressed.
    assert_eq!(through(5, &[8, 1, 20, 1, 4, 0, 3, 0], &decoded), decoded);
}

#[test]
fn scale_offset_keeps_integers_and_rounds_floating_numbers() {
    for (size, sign, order) in [(1, 0, 0), (2, 1, 1), (4, 0, 1), (4, 1, 0), (8, 1, 1), (8, 0, 0)] {
        for fill in [0, 1] {
            for kind in 0..4 {
                let decoded = data(kind, 50 * size as usize);
                let params = scaled(&[(4, size), (5, sign), (6, order), (7, fill), (8, 1000)]);
                assert_eq!(through(6, &params, &decoded), decoded, "{params:?}");
            }
        }
    }
    let numbers: Vec<f64> = (0..50).map(|at| f64::from(at) * 0.37 - 5.0).collect();
    let decoded: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let back = through(6, &scaled(&[(0, 0), (1, 2), (3, 1), (4, 8), (6, 1)]), &decoded);
    for (bytes, number) in back.as_chunks::<8>().0.iter().zip(&numbers) {
        assert!((f64::from_be_bytes(*bytes) - number).abs() <= 0.005 + 1e-9);
    }
    // What no scale fits keeps all bits.
    let decoded: Vec<u8> =
        (0..50).flat_map(|at| if at == 7 { f64::NAN } else { 1.5 }.to_le_bytes()).collect();
    assert_eq!(through(6, &scaled(&[(0, 0), (1, 2), (3, 1), (4, 8)]), &decoded), decoded);
}

#[test]
fn wrong_parameters_are_told() {
    let deep: Vec<u32> = [200, 0, 1].into_iter().chain([2, 4].into_iter().cycle().take(197)).collect();
    let wrong: &[(u32, &[u32])] = &[
        (1, &[10]),
        (2, &[]),
        (4, &[32, 8, 32]),
        (4, &[32, 7, 32, 64]),
        (4, &[32, 8, 25, 64]),
        (4, &[32, 8, 8, 0]),
        (5, &[]),
        (5, &[7, 0, 1, 1, 4, 0, 8, 0]),
        (5, &[8, 0, 1, 1, 4, 0, 30, 3]),
        (5, &[8, 0, 1, 1, 4, 0, 0, 0]),
        (5, &[7, 0, 1, 3, 4, u32::MAX, 0]),
        (5, &[5, 0, 1, 9, 4]),
        (5, &deep),
        (6, &SCALED[..19]),
        (6, &scaled(&[(0, 1), (3, 1)])),
        (6, &scaled(&[(1, 33)])),
        (6, &scaled(&[(4, 3)])),
        (307, &[10]),
        (32001, &[2, 2, 4, 0, 5, 1, 6]),
        (32001, &[2, 2, 4, 0, 10, 1, 0]),
        (32004, &[u32::MAX]),
        (32008, &[0, 4, 0]),
        (32008, &[0, 4, 4, 12]),
        (32015, &[23]),
    ];
    for &(id, params) in wrong {
        let error = chain(&[(id, params)]).check(0).unwrap_err();
        assert_eq!(error.code, Code::EFILTER, "{id} {params:?}");
        assert!(error.what.contains(&id.to_string()), "{error}");
    }
}

#[test]
fn bitshuffle_by_a_packer_that_there_is_not_is_read_as_its_filter_reads_it() {
    let decoded = data(1, 4 * 1000);
    let mut encoded = Vec::new();
    chain(&[(32008, &[0, 4, 4, 0, 0])]).encode(&decoded, &mut encoded).unwrap();
    let other = chain(&[(32008, &[0, 4, 4, 0, 6])]);
    let mut back = vec![0; decoded.len()];
    assert_eq!((other.decode(0, &encoded, &mut back), back), (Ok(()), decoded.clone()));
    assert_eq!(other.check_encode().unwrap_err().code, Code::EFILTER);
    let error = other.encode(&decoded, &mut encoded).unwrap_err();
    assert!(error.code == Code::EFILTER && error.what.contains("no compression 6"), "{error}");
}

/// Any parameters with any bytes make an error or data.
#[test]
fn any_parameters_come_back() {
    let mut numbers = Numbers::new(3);
    for id in [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015] {
        let mut refused = 0;
        for _ in 0..300 {
            let params: Vec<u32> = (0..numbers.below(24))
                .map(|_| match numbers.below(4) {
                    0 => numbers.next() as u32,
                    1 => numbers.below(70) as u32,
                    _ => numbers.below(5) as u32,
                })
                .collect();
            let chain = chain(&[(id, &params)]);
            let encoded = data(numbers.below(4), numbers.below(200));
            let mut back = vec![0; numbers.below(300)];
            refused += usize::from(chain.decode(0, &encoded, &mut back).is_err());
            let mut compressed = Vec::new();
            let _ = chain.encode(&encoded, &mut compressed);
        }
        assert!(refused > 0, "filter {id} takes everything");
    }
}
