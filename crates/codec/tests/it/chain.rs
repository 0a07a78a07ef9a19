//! Tests of chains: filter masks, sizes, filters that are not available, optional filters.

use ferrocdf_bytes::Code;
use ferrocdf_codec::{Chain, ChunkInfo, Codecs, FilterId, Step};

use crate::help::{chain, data, step};

/// Shuffle, deflate and fletcher32, as in many netCDF-4 files.
const NETCDF_FILTERS: &[(u32, &[u32])] = &[(2, &[4]), (1, &[5]), (3, &[])];

#[test]
fn chunk_decodes_only_with_its_own_filter_mask() {
    let decoded = data(1, 4001);
    for mask in 0..8u32 {
        let applied: Vec<_> = (0..3).filter(|at| mask >> at & 1 == 0).map(|at| NETCDF_FILTERS[at]).collect();
        let mut encoded = Vec::new();
        assert_eq!(chain(&applied).encode(&decoded, &mut encoded), Ok(0));
        let mut back = vec![1; decoded.len()];
        chain(NETCDF_FILTERS).decode(mask, &encoded, &mut back).unwrap();
        assert_eq!(back, decoded, "mask {mask}");
        if mask != 0 {
            let result = chain(NETCDF_FILTERS).decode(0, &encoded, &mut back);
            assert!(result.is_err() || back != decoded, "mask {mask} is ignored");
        }
    }
}

#[test]
fn error_for_a_wrong_chunk_size_states_both_sizes() {
    let decoded = data(1, 1000);
    for steps in [NETCDF_FILTERS, &NETCDF_FILTERS[1..2], &NETCDF_FILTERS[..1], &NETCDF_FILTERS[2..], &[]] {
        let mut encoded = Vec::new();
        chain(steps).encode(&decoded, &mut encoded).unwrap();
        for len in [0, 900, 996, 1001, 1100] {
            let error = chain(steps).decode(0, &encoded, &mut vec![0; len]).unwrap_err();
            assert_eq!(error.code, Code::EHDFERR);
            let (than, size) = if len > 1000 { ("shorter", "1000") } else { ("longer", "1000") };
            let impossible = error.what.contains("cannot decode to");
            assert!(impossible || error.what.contains(than) && error.what.contains(size), "{len}: {error}");
            assert!(error.what.contains(&len.to_string()), "{len}: {error}");
        }
    }
}

#[test]
fn impossible_chunk_size_is_rejected_before_decoding() {
    let chain = chain(&[(1, &[1])]);
    assert_eq!(chain.max_decoded_len(0, 1000), 1_032_000);
    assert_eq!(chain.max_decoded_len(1, 1000), 1000);
    let error = chain.decode(0, &[0; 10], &mut vec![0; 20_000]).unwrap_err();
    assert!(error.what.contains("10 encoded bytes cannot decode to 20000"), "{error}");
}

#[test]
fn decode_unverified_rejects_a_wrong_chunk_size() {
    let limit = 64 << 20;
    for (encoded, decoded, implausible) in
        [(0, limit, false), (0, limit + 1024, true), (limit / 1024 + 1, limit + 1024, false)]
    {
        assert_eq!(Chain::is_implausible(encoded, decoded), implausible, "{encoded} {decoded}");
    }
    let decoded = data(1, 4001);
    for steps in [NETCDF_FILTERS, &NETCDF_FILTERS[1..2], &NETCDF_FILTERS[..1], &NETCDF_FILTERS[2..], &[]] {
        let (mut encoded, chain) = (Vec::new(), chain(steps));
        chain.encode(&decoded, &mut encoded).unwrap();
        assert_eq!(chain.decode_unverified(0, &encoded, decoded.len()).unwrap(), decoded);
        for len in [4000, 4002] {
            let error = chain.decode_unverified(0, &encoded, len).unwrap_err();
            let first = chain.steps().next().map_or(String::new(), |step| format!("filter {}", step.id));
            assert!(error.what.contains(&len.to_string()) && error.what.contains(&first), "{error}");
        }
    }
    // No memory is allocated for an impossible size.
    let error = chain(&[(307, &[9])]).decode_unverified(0, &[0; 100], usize::MAX).unwrap_err();
    assert!(error.what.contains("cannot decode to"), "{error}");
}

#[test]
fn unavailable_filter_is_an_error_unless_the_mask_excludes_it() {
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
fn unavailable_filter_is_left_out_only_if_it_is_optional() {
    let decoded = data(0, 64);
    let mut encoded = Vec::new();
    let optional = Step { optional: true, ..step(32013, &[]) };
    let chain = Chain::new(vec![optional, step(2, &[2])], &Codecs::default());
    assert_eq!(chain.encode(&decoded, &mut encoded), Ok(1));
    let mut back = vec![0; 64];
    chain.decode(1, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
    let chain = Chain::new(vec![step(2, &[2]), step(32013, &[])], &Codecs::default());
    assert_eq!(chain.encode(&decoded, &mut encoded).unwrap_err().code, Code::ENOFILTER);
}

#[test]
fn invalid_parameters_are_an_error_unless_the_mask_excludes_the_filter() {
    for (id, params) in [(1, &[10][..]), (1, &[]), (2, &[0]), (2, &[])] {
        let chain = chain(&[(id, params)]);
        assert_eq!(chain.steps().len(), 1);
        assert_eq!(chain.check(0).unwrap_err().code, Code::EFILTER, "{id} {params:?}");
        assert_eq!(chain.check(1), Ok(()));
    }
}

/// A grid in which every second row has fill values, which zlib compresses to 36 KB at level 1.
#[test]
fn fast_deflate_levels_compress_repetitive_data_as_well_as_zlib() {
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
fn deflate_ignores_bytes_after_the_stream_and_rejects_damaged_streams() {
    let decoded = data(3, 500);
    let chain = chain(&[(1, &[9])]);
    let mut encoded = Vec::new();
    chain.encode(&decoded, &mut encoded).unwrap();
    let mut back = vec![0; 500];
    // Bytes after the stream, even a second stream, are ignored.
    let mut more = encoded.clone();
    more.extend_from_slice(&encoded);
    more.extend_from_slice(b"trailing");
    chain.decode(0, &more, &mut back).unwrap();
    assert_eq!(back, decoded);
    // A truncated stream and a wrong checksum are errors.
    assert!(chain.decode(0, &encoded[..encoded.len() - 1], &mut back).is_err());
    *encoded.last_mut().unwrap() ^= 1;
    assert!(chain.decode(0, &encoded, &mut back).is_err());
    // Two deflate filters, between which the size is unknown.
    let twice = crate::help::chain(&[(1, &[1]), (1, &[1])]);
    let decoded = data(2, 1 << 20);
    twice.encode(&decoded, &mut encoded).unwrap();
    let mut back = vec![1; 1 << 20];
    twice.decode(0, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
}

#[test]
fn fletcher32_accepts_the_byte_swapped_checksum_of_hdf5_before_1_6_3() {
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
fn bytes_between_filters_are_limited_by_the_chunk_size() {
    let steps: &[(u32, &[u32])] = &[(32015, &[3]), (32015, &[3])];
    let mut encoded = Vec::new();
    // One zstd frame of 32 MiB, decoded by a chain that expects two filters around 1000 bytes.
    chain(&steps[..1]).encode(&data(2, 32 << 20), &mut encoded).unwrap();
    let error = chain(steps).decode(0, &encoded, &mut [0; 1000]).unwrap_err();
    assert!(error.what.contains("claim a decoded size of 33554432 bytes (at most 67536)"), "{error}");
}

/// Zarr codecs without an HDF5 number, the array→array codec first, mixed with an HDF5 filter.
#[test]
fn chain_of_transpose_shuffle_gzip_and_crc32c_round_trips() {
    let named = |name, params: &[u32]| Step { id: FilterId::named(name), ..step(0, params) };
    let steps =
        || vec![named("transpose", &[1, 0]), step(2, &[4]), named("gzip", &[5]), named("crc32c", &[])];
    let chunk = || ChunkInfo { element_size: 4, number: None, shape: vec![30, 40] };
    let chain = Chain::for_chunks(steps(), chunk(), &Codecs::default());
    let decoded: Vec<u8> = (0..1200u32).flat_map(u32::to_le_bytes).collect();
    let mut encoded = vec![];
    assert_eq!(chain.encode(&decoded, &mut encoded), Ok(0));
    let (member, sum) = encoded.split_last_chunk::<4>().unwrap();
    assert_eq!((&member[..2], u32::from_le_bytes(*sum)), (&[0x1f, 0x8b][..], crc32c::crc32c(member)));
    let mut back = vec![0; decoded.len()];
    chain.decode(0, &encoded, &mut back).unwrap();
    assert_eq!(back, decoded);
    // Without the first filter, the elements of a column are adjacent.
    chain.decode(1, &encoded, &mut back).unwrap();
    assert_eq!(back[..12], [0, 0, 0, 0, 40, 0, 0, 0, 80, 0, 0, 0]);
    // The checksum detects a changed byte.
    encoded[20] ^= 1;
    let error = chain.decode(0, &encoded, &mut back).unwrap_err();
    assert!(error.what.contains("codec crc32c") && error.what.contains("checksum"), "{error}");
    // Transpose cannot follow a filter that outputs bytes.
    let mut swapped = steps();
    swapped.swap(0, 2);
    let error = Chain::for_chunks(swapped, chunk(), &Codecs::default()).check(0).unwrap_err();
    assert!(error.code == Code::EFILTER && error.what.contains("transpose"), "{error}");
}

#[test]
fn second_transpose_gets_the_shape_that_the_first_one_outputs() {
    let named = |params: &[u32]| Step { id: FilterId::named("transpose"), ..step(0, params) };
    let steps = vec![named(&[1, 2, 0]), named(&[2, 0, 1])];
    let chunk = ChunkInfo { element_size: 2, number: None, shape: vec![3, 5, 7] };
    let chain = Chain::for_chunks(steps, chunk, &Codecs::default());
    let decoded = data(0, 210);
    let mut encoded = vec![];
    chain.encode(&decoded, &mut encoded).unwrap();
    assert_eq!(encoded, decoded, "the second order is the inverse of the first");
}

#[test]
fn lzf_enlarges_a_chunk_only_if_it_cannot_be_left_out() {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let decoded: Vec<u8> = (0..4000).map(|_| random()).collect();
    let encoded_with = |optional: bool| {
        let chain = Chain::new(vec![Step { optional, ..step(32000, &[]) }], &Codecs::default());
        let (mut encoded, mut back) = (vec![], vec![0; decoded.len()]);
        let mask = chain.encode(&decoded, &mut encoded).unwrap();
        chain.decode(mask, &encoded, &mut back).unwrap();
        assert!(back == decoded);
        (mask, encoded.len())
    };
    assert_eq!(encoded_with(true), (1, 4000));
    assert_eq!(encoded_with(false), (0, 4000 + 4000 / 32));
}
