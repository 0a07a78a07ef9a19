//! Chains: masks, sizes, missing filters, optional filters.

use ferrocdf_bytes::Code;
use ferrocdf_codec::{Chain, ChunkInfo, Codecs, FilterId, Step};

use crate::help::{chain, data, step};

const NET: &[(u32, &[u32])] = &[(2, &[4]), (1, &[5]), (3, &[])];

#[test]
fn every_mask_decodes_what_was_stored_with_it() {
    let decoded = data(1, 4001);
    for mask in 0..8u32 {
        let some: Vec<_> = (0..3).filter(|at| mask >> at & 1 == 0).map(|at| NET[at]).collect();
        let mut encoded = Vec::new();
        assert_eq!(chain(&some).encode(&decoded, &mut encoded), Ok(0));
        let mut back = vec![1; decoded.len()];
        chain(NET).decode(mask, &encoded, &mut back).unwrap();
        assert_eq!(back, decoded, "mask {mask}");
        if mask != 0 {
            let done = chain(NET).decode(0, &encoded, &mut back);
            assert!(done.is_err() || back != decoded, "mask {mask} matters");
        }
    }
}

#[test]
fn a_block_of_another_size_says_both_sizes() {
    let decoded = data(1, 1000);
    for steps in [NET, &NET[1..2], &NET[..1], &NET[2..], &[]] {
        let mut encoded = Vec::new();
        chain(steps).encode(&decoded, &mut encoded).unwrap();
        for len in [0, 900, 996, 1001, 1100] {
            let error = chain(steps).decode(0, &encoded, &mut vec![0; len]).unwrap_err();
            assert_eq!(error.code, Code::EHDFERR);
            let (than, size) = if len > 1000 { ("shorter", "1000") } else { ("longer", "1000") };
            let cannot = error.what.contains("cannot become");
            assert!(cannot || error.what.contains(than) && error.what.contains(size), "{len}: {error}");
            assert!(error.what.contains(&len.to_string()), "{len}: {error}");
        }
    }
}

#[test]
fn a_size_that_the_stored_bytes_cannot_have_is_known_before_the_work() {
    let chain = chain(&[(1, &[1])]);
    assert_eq!(chain.most_decoded(0, 1000), 1_032_000);
    assert_eq!(chain.most_decoded(1, 1000), 1000);
    let error = chain.decode(0, &[0; 10], &mut vec![0; 20_000]).unwrap_err();
    assert!(error.what.contains("10 stored bytes cannot become 20000"), "{error}");
}

#[test]
fn doubtful_blocks_are_as_long_as_their_bytes_show() {
    let few = 64 << 20;
    for (encoded, decoded, doubtful) in
        [(0, few, false), (0, few + 1024, true), (few / 1024 + 1, few + 1024, false)]
    {
        assert_eq!(Chain::is_implausible(encoded, decoded), doubtful, "{encoded} {decoded}");
    }
    let decoded = data(1, 4001);
    for steps in [NET, &NET[1..2], &NET[..1], &NET[2..], &[]] {
        let (mut encoded, chain) = (Vec::new(), chain(steps));
        chain.encode(&decoded, &mut encoded).unwrap();
        assert_eq!(chain.decode_unverified(0, &encoded, decoded.len()).unwrap(), decoded);
        for len in [4000, 4002] {
            let error = chain.decode_unverified(0, &encoded, len).unwrap_err();
            let last = chain.steps().next().map_or(String::new(), |step| format!("filter {}", step.id));
            assert!(error.what.contains(&len.to_string()) && error.what.contains(&last), "{error}");
        }
    }
    // Nothing is taken for what cannot be had.
    let error = chain(&[(307, &[9])]).decode_unverified(0, &[0; 100], usize::MAX).unwrap_err();
    assert!(error.what.contains("cannot become"), "{error}");
}

#[test]
fn a_missing_filter_is_an_error_where_it_is_needed() {
    let named = |id, name: &str| {
        Chain::new(vec![step(2, &[4]), Step { name: name.into(), ..step(id, &[]) }], &Codecs::default())
    };
    let zfp = named(32013, "H5Z-ZFP-1.0");
    let error = zfp.check(0).unwrap_err();
    assert_eq!(error.code, Code::ENOFILTER);
    for part in ["32013", "zfp", "H5Z-ZFP-1.0", "built-in"] {
        assert!(error.what.contains(part), "{part}: {error}");
    }
    assert_eq!(zfp.check(2), Ok(()));
    let mut back = [0; 8];
    assert_eq!(zfp.decode(0, &[0; 8], &mut back).unwrap_err().code, Code::ENOFILTER);
    zfp.decode(2, &[1, 2, 3, 4, 5, 6, 7, 8], &mut back).unwrap();
    assert_eq!(back, [1, 3, 5, 7, 2, 4, 6, 8]);
    assert!(named(999, "").check(0).unwrap_err().what.contains("not registered"));
}

#[test]
fn an_optional_filter_is_left_out_and_another_is_not() {
    let decoded = data(0, 64);
    let mut encoded = Vec::new();
    let missing = Step { optional: true, ..step(32013, &[]) };
    let chain = Chain::new(vec![missing, step(2, &[2])], &Codecs::default());
    assert_eq!(chain.encode(&decoded, &mut encoded), Ok(1));
    let mut back = vec![0; 64];
    chain.decode(1, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
    let chain = Chain::new(vec![step(2, &[2]), step(32013, &[])], &Codecs::default());
    assert_eq!(chain.encode(&decoded, &mut encoded).unwrap_err().code, Code::ENOFILTER);
}

#[test]
fn wrong_parameters_are_an_error_of_the_data() {
    for (id, params) in [(1, &[10][..]), (1, &[]), (2, &[0]), (2, &[])] {
        let chain = chain(&[(id, params)]);
        assert_eq!(chain.steps().len(), 1);
        assert_eq!(chain.check(0).unwrap_err().code, Code::EFILTER, "{id} {params:?}");
        assert_eq!(chain.check(1), Ok(()));
    }
}

/// Every second row of a grid is missing: zlib makes 36 KB of it at the lowest level.
#[test]
fn fast_levels_of_deflate_find_repeats() {
    let value = |at: u32| if at / 1000 % 2 == 1 { 9.969_21e36 } else { (at % 1000 / 10 * 10) as f32 };
    let decoded: Vec<u8> = (0..1_000_000).flat_map(|at| value(at).to_le_bytes()).collect();
    for level in 1..6 {
        let mut encoded = Vec::new();
        chain(&[(1, &[level])]).encode(&decoded, &mut encoded).unwrap();
        assert!(encoded.len() < 36_000, "{} bytes at level {level}", encoded.len());
        let mut back = vec![0; decoded.len()];
        chain(&[(1, &[level])]).decode(0, &encoded, &mut back).unwrap();
        assert!(back == decoded);
    }
}

#[test]
fn deflate_takes_what_zlib_takes() {
    let decoded = data(3, 500);
    let chain = chain(&[(1, &[9])]);
    let mut encoded = Vec::new();
    chain.encode(&decoded, &mut encoded).unwrap();
    let mut back = vec![0; 500];
    // Bytes after the stream, and a second stream, are not looked at.
    let mut more = encoded.clone();
    more.extend_from_slice(&encoded);
    more.extend_from_slice(b"trailing");
    chain.decode(0, &more, &mut back).unwrap();
    assert_eq!(back, decoded);
    // A stream cut short is an error, and so is a wrong checksum.
    assert!(chain.decode(0, &encoded[..encoded.len() - 1], &mut back).is_err());
    *encoded.last_mut().unwrap() ^= 1;
    assert!(chain.decode(0, &encoded, &mut back).is_err());
    // Two deflates in a row, the size of whose middle is not known.
    let twice = crate::help::chain(&[(1, &[1]), (1, &[1])]);
    let decoded = data(2, 1 << 20);
    twice.encode(&decoded, &mut encoded).unwrap();
    let mut back = vec![1; 1 << 20];
    twice.decode(0, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
}

#[test]
fn fletcher32_takes_the_checksum_of_old_versions() {
    let decoded = data(0, 77);
    let chain = chain(&[(3, &[])]);
    let mut encoded = Vec::new();
    chain.encode(&decoded, &mut encoded).unwrap();
    let mut back = vec![0; 77];
    encoded[77..].chunks_mut(2).for_each(|half| half.swap(0, 1));
    chain.decode(0, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
    encoded[3] ^= 1;
    let error = chain.decode(0, &encoded, &mut back).unwrap_err();
    assert!(error.what.contains("checksum"), "{error}");
}

#[test]
fn what_lies_between_filters_is_bounded_by_the_block() {
    let steps: &[(u32, &[u32])] = &[(32015, &[3]), (32015, &[3])];
    let mut encoded = Vec::new();
    // The inner filter is told apart from what it should have made by its size alone.
    chain(&steps[..1]).encode(&data(2, 32 << 20), &mut encoded).unwrap();
    let error = chain(steps).decode(0, &encoded, &mut [0; 1000]).unwrap_err();
    assert!(error.what.contains("say they become 33554432, but 67536 is the most"), "{error}");
}

/// The codecs of Zarr that have no HDF5 number go into a chain like all others, array→array ones first.
#[test]
fn transposed_chunks_pass_through_gzip_and_a_checksum() {
    let named = |name, params: &[u32]| Step { id: FilterId::named(name), ..step(0, params) };
    let steps =
        || vec![named("transpose", &[1, 0]), step(2, &[4]), named("gzip", &[5]), named("crc32c", &[])];
    let chunk = || ChunkInfo { element_size: 4, shape: vec![30, 40] };
    let chain = Chain::for_chunks(steps(), chunk(), &Codecs::default());
    let decoded: Vec<u8> = (0..1200u32).flat_map(u32::to_le_bytes).collect();
    let mut encoded = vec![];
    assert_eq!(chain.encode(&decoded, &mut encoded), Ok(0));
    let (member, sum) = encoded.split_last_chunk::<4>().unwrap();
    assert_eq!((&member[..2], u32::from_le_bytes(*sum)), (&[0x1f, 0x8b][..], crc32c::crc32c(member)));
    let mut back = vec![0; decoded.len()];
    chain.decode(0, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
    // Without the first filter the elements of the columns lie side by side.
    chain.decode(1, &encoded, &mut back).unwrap();
    assert_eq!(back[..12], [0, 0, 0, 0, 40, 0, 0, 0, 80, 0, 0, 0]);
    // A changed byte is found by the checksum.
    encoded[20] ^= 1;
    let error = chain.decode(0, &encoded, &mut back).unwrap_err();
    assert!(error.what.contains("codec crc32c") && error.what.contains("checksum"), "{error}");
    // Behind a filter that makes bytes there are no elements to transpose.
    let mut wrong = steps();
    wrong.swap(0, 2);
    let error = Chain::for_chunks(wrong, chunk(), &Codecs::default()).check(0).unwrap_err();
    assert!(error.code == Code::EFILTER && error.what.contains("transpose"), "{error}");
}

#[test]
fn two_transposes_behind_each_other_know_the_shape_between_them() {
    let named = |params: &[u32]| Step { id: FilterId::named("transpose"), ..step(0, params) };
    let steps = vec![named(&[1, 2, 0]), named(&[2, 0, 1])];
    let chunk = ChunkInfo { element_size: 2, shape: vec![3, 5, 7] };
    let chain = Chain::for_chunks(steps, chunk, &Codecs::default());
    let decoded = data(0, 210);
    let mut encoded = vec![];
    chain.encode(&decoded, &mut encoded).unwrap();
    assert_eq!(encoded, decoded, "the second order takes the first back");
}
