//! Filters in JSON. What netCDF-C's codec plugins (of 4.10.1) and numcodecs (0.16) write was measured once.

use ferrocdf_bytes::Code;
use ferrocdf_codec::{
    Codecs, FilterId, built_in_ids, derive, from_numcodecs, from_zarr_v3, numcodecs_id, to_numcodecs,
    to_zarr_v3,
};

/// The filter of a numcodecs dictionary; all of these have HDF5 numbers.
fn read(json: &str) -> (u32, Vec<u32>) {
    let known = from_numcodecs(json).unwrap_or_else(|| panic!("{json} is known"));
    let (id, params) = known.unwrap_or_else(|error| panic!("{error}"));
    (id.hdf5().unwrap(), params)
}

fn codec_of(id: u32, params: &[u32]) -> Option<ferrocdf_bytes::Result<String>> {
    to_numcodecs(&id.into(), params)
}

/// What is wrong with a dictionary.
fn wrong(json: &str) -> String {
    let error = from_numcodecs(json).expect("an error").expect_err("an error");
    assert_eq!(error.code, Code::EFILTER);
    error.what.to_string()
}

/// Keys, order and values are netCDF-C's, and both ways lead to the same filter.
#[test]
fn what_netcdf_c_writes_goes_both_ways() {
    for (id, params, json) in [
        (1, &[4][..], r#"{"id": "zlib", "level": 4}"#),
        (2, &[8], r#"{"id": "shuffle", "elementsize": 8}"#),
        (3, &[], r#"{"id": "fletcher32"}"#),
        (4, &[32, 16], r#"{"id": "szip", "mask": 32, "pixels-per-block": 16}"#),
        (307, &[9], r#"{"id": "bz2", "level": 9}"#),
        (32015, &[3], r#"{"id": "zstd", "level": 3}"#),
        (
            32001,
            &[0, 0, 0, 4096, 7, 2, 5],
            r#"{"id": "blosc", "clevel": 7, "blocksize": 4096, "cname": "zstd", "shuffle": 2}"#,
        ),
    ] {
        assert_eq!(codec_of(id, params), Some(Ok(json.to_string())));
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
        assert!(json.contains(numcodecs_id(&id.into()).unwrap()));
    }
    // As it is in files.
    let encoded = codec_of(4, &[169, 32, 32, 64]).unwrap().unwrap();
    assert_eq!(encoded, r#"{"id": "szip", "mask": 169, "pixels-per-block": 32}"#);
    // The chunk has 16384 bytes; blosc's blocks are what it makes of that.
    let encoded = codec_of(32001, &[2, 2, 4, 16384, 7, 2, 2]).unwrap().unwrap();
    assert_eq!(encoded, r#"{"id": "blosc", "clevel": 7, "blocksize": 0, "cname": "lz4hc", "shuffle": 2}"#);
}

#[test]
fn what_numcodecs_writes_is_read() {
    for (json, id, params) in [
        (r#"{"id": "zlib", "level": 1}"#, 1, &[1][..]),
        (r#"{"id": "bz2"}"#, 307, &[1]),
        (r#"{"id": "zstd", "level": 0, "checksum": false}"#, 32015, &[0]),
        (r#"{"id": "zstd", "level": -3, "checksum": true}"#, 32015, &[0xffff_fffd]),
        (
            r#"{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}"#,
            32001,
            &[0, 0, 0, 0, 5, 1, 1],
        ),
        (
            r#"{"id": "blosc", "cname": "lz4hc", "clevel": 3, "shuffle": -1, "blocksize": 0}"#,
            32001,
            &[0, 0, 0, 0, 3, 1, 2],
        ),
        (r#"{"id": "blosc"}"#, 32001, &[0, 0, 0, 0, 5, 1, 1]),
        (r#"{"id": "shuffle", "elementsize": 4}"#, 2, &[4]),
        (r#"{"id": "fletcher32"}"#, 3, &[]),
    ] {
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
    }
    // Frames that no HDF5 filter reads.
    for json in [r#"{"id": "lz4", "acceleration": 1}"#, r#"{"id": "delta"}"#] {
        assert!(from_numcodecs(json).is_none(), "{json}");
    }
}

/// NetCDF-C takes numbers as text, and writes an unknown size as zero and levels without their sign.
#[test]
fn what_netcdf_c_takes_is_read() {
    for (json, id, params) in [
        (r#"{"id": "zlib", "level": "4"}"#, 1, &[4][..]),
        (r#"{"level": 4, "id": "zlib", "more": {}}"#, 1, &[4]),
        (r#"{"id": "shuffle", "elementsize": 0}"#, 2, &[]),
        (r#"{"id": "zstd", "level": 4294967293}"#, 32015, &[0xffff_fffd]),
        (r#"{"id": "szip", "mask": "32", "pixels-per-block": "16"}"#, 4, &[32, 16]),
    ] {
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
    }
    assert_eq!(codec_of(32015, &[0xffff_fffd]), Some(Ok(r#"{"id": "zstd", "level": -3}"#.to_string())));
}

#[test]
fn filters_that_only_hdf5_has_go_both_ways() {
    for (id, params, json) in [
        (32000, &[][..], r#"{"id": "imagecodecs_lzf", "header": false}"#),
        (32004, &[4096], r#"{"id": "imagecodecs_lz4h5", "level": null, "blocksize": 4096}"#),
        (32004, &[0], r#"{"id": "imagecodecs_lz4h5", "level": null, "blocksize": null}"#),
        (
            32008,
            &[0, 4, 8, 64, 3, 0xffff_fffb],
            r#"{"id": "ferrocdf_bitshuffle", "elementsize": 8, "blocksize": 64, "cname": "zstd", "clevel": -5}"#,
        ),
        (
            32008,
            &[0, 2],
            r#"{"id": "ferrocdf_bitshuffle", "elementsize": 0, "blocksize": 0, "cname": "lz4", "clevel": null}"#,
        ),
    ] {
        assert_eq!(codec_of(id, params), Some(Ok(json.to_string())));
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
    }
    assert!(codec_of(5, &[]).is_none() && codec_of(6, &[]).is_none() && codec_of(32013, &[]).is_none());
}

#[test]
fn wrong_dictionaries_are_told_apart() {
    for (json, says) in [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[1]", "not a dictionary"),
        (r#""zlib""#, "not a dictionary"),
        (r#"{"level": 4}"#, "no \"id\""),
        (r#"{"id": 4}"#, "not text"),
        (r#"{"id": "zlib", "level": 10}"#, "from 0 to 9"),
        (r#"{"id": "zlib", "level": -1}"#, "from 0 to 9"),
        (r#"{"id": "zlib", "level": 4.5}"#, "from 0 to 9"),
        (r#"{"id": "zlib", "level": [4]}"#, "from 0 to 9"),
        (r#"{"id": "bz2", "level": 0}"#, "from 1 to 9"),
        (r#"{"id": "zstd", "level": 23}"#, "no level 23"),
        (r#"{"id": "zstd", "level": 99999999999999999999}"#, "from -2147483648"),
        (r#"{"id": "szip"}"#, "needs \"mask\""),
        (r#"{"id": "blosc", "cname": "xx"}"#, "not one of blosclz"),
        (r#"{"id": "blosc", "shuffle": 3}"#, "from -1 to 2"),
        (r#"{"id": "imagecodecs_lzf"}"#, "without a header"),
        (r#"{"id": "ferrocdf_bitshuffle", "cname": ""}"#, "no compression"),
        (r#"{"id": "ferrocdf_bitshuffle", "blocksize": 7}"#, "blocks of 7"),
    ] {
        let said = wrong(json);
        assert!(said.contains(says), "{json}: {said}");
    }
    assert!(wrong(&format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000))).contains("cannot be read"));
    assert!(wrong(&format!(r#"{{"id": "zlib", "x": "{}"}}"#, "x".repeat(1 << 16))).contains("65536 at most"));
    for (id, params) in
        [(1, &[][..]), (1, &[10]), (2, &[]), (4, &[32]), (307, &[0]), (32001, &[0, 0, 0, 0, 10])]
    {
        let error = codec_of(id, params).expect("it has a spelling").expect_err("these are no parameters");
        assert_eq!(error.code, Code::EFILTER, "{id} {params:?}");
    }
}

#[test]
fn filters_learn_sizes() {
    let derived = |id, params: &[u32]| {
        let mut params = params.to_vec();
        derive(&FilterId::Hdf5(id), &mut params, 4, 16384);
        params
    };
    assert_eq!(derived(2, &[]), [4]);
    assert_eq!(derived(32001, &[0, 0, 0, 0, 7, 2, 5]), [0, 0, 4, 16384, 7, 2, 5]);
    assert_eq!(derived(32001, &[]), [0, 0, 4, 16384]);
    assert_eq!(derived(32008, &[0, 2]), [0, 4, 4, 0, 2]);
    assert_eq!(derived(32008, &[0, 3, 5]), [0, 4, 4, 0, 3, 5]);
    assert_eq!(derived(32008, &[]), [0, 4, 4]);
    // What a file has stays.
    assert_eq!(derived(32008, &[0, 4, 8, 0, 2]), [0, 4, 8, 0, 2]);
    assert_eq!(derived(32015, &[3]), [3]);
    // What they derived are parameters that they have.
    for id in built_in_ids().filter(|id| [2, 32001, 32008].contains(id)) {
        let step = crate::help::step(id, &derived(id, &[]));
        assert!(Codecs::default().find(&step, None).unwrap().is_ok(), "{id}");
    }
}

/// The spellings of the Zarr v3 core specification, of zarr-python for filters of numcodecs, and of numcodecs for the others.
#[test]
fn codecs_without_a_number_go_both_ways() {
    let v3 = |name: &'static str, params: &[u32], json: &str| {
        let id = FilterId::named(name);
        assert_eq!(to_zarr_v3(&id, params), Some(Ok(json.to_string())));
        assert_eq!(from_zarr_v3(json), Some(Ok((id, params.to_vec()))));
    };
    v3("transpose", &[2, 0, 1], r#"{"name":"transpose","configuration":{"order":[2,0,1]}}"#);
    v3("gzip", &[5], r#"{"name":"gzip","configuration":{"level":5}}"#);
    v3("crc32c", &[], r#"{"name":"crc32c"}"#);
    assert_eq!(
        from_zarr_v3(r#"{"name":"crc32c","configuration":{}}"#),
        Some(Ok((FilterId::named("crc32c"), vec![])))
    );
    let zlib = r#"{"name":"numcodecs.zlib","configuration":{"level":4}}"#;
    assert_eq!(to_zarr_v3(&FilterId::Hdf5(1), &[4]), Some(Ok(zlib.to_string())));
    assert_eq!(from_zarr_v3(zlib), Some(Ok((FilterId::Hdf5(1), vec![4]))));
    assert!(
        from_zarr_v3(r#"{"name":"unknown"}"#).is_none()
            && to_zarr_v3(&FilterId::named("unknown"), &[]).is_none()
    );

    let v2 = |name: &'static str, params: &[u32], json: &str| {
        let id = FilterId::named(name);
        assert_eq!(to_numcodecs(&id, params), Some(Ok(json.to_string())));
        assert_eq!(from_numcodecs(json), Some(Ok((id, params.to_vec()))));
    };
    v2("gzip", &[1], r#"{"id": "gzip", "level": 1}"#);
    v2("crc32c", &[], r#"{"id": "crc32c"}"#);
    v2("crc32c", &[1], r#"{"id": "crc32c", "location": "start"}"#);
    assert!(to_numcodecs(&FilterId::named("transpose"), &[0]).is_none());
    for (json, says) in [
        (r#"{"name":"gzip","configuration":{"level":10}}"#, "from 0 to 9"),
        (r#"{"name":"gzip","configuration":[]}"#, "not a dictionary"),
        (r#"{"name":"transpose"}"#, "list of whole numbers"),
        (r#"{"name":"transpose","configuration":{"order":[0,-1]}}"#, "list of whole numbers"),
        (r#"{"id":"gzip"}"#, "no \"name\""),
    ] {
        let error = from_zarr_v3(json).expect("an error").expect_err("an error");
        assert!(error.code == Code::EFILTER && error.what.contains(says), "{json}: {error}");
    }
}
