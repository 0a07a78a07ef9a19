//! Tests of the JSON forms. The expected texts are those of netCDF-C's codec plugins (4.10.1) and of numcodecs (0.16).

use ferrocdf_bytes::Code;
use ferrocdf_codec::{
    Codecs, FilterId, built_in_ids, derive, from_numcodecs, from_zarr_v3, numcodecs_id, to_numcodecs,
    to_zarr_v3,
};

/// Returns the number and the parameters of a filter in a numcodecs configuration.
fn read(json: &str) -> (u32, Vec<u32>) {
    let filter = from_numcodecs(json).unwrap_or_else(|| panic!("no filter for {json}"));
    let (id, params) = filter.unwrap_or_else(|error| panic!("{error}"));
    (id.hdf5().unwrap(), params)
}

fn write(id: u32, params: &[u32]) -> Option<ferrocdf_bytes::Result<String>> {
    to_numcodecs(&id.into(), params)
}

/// Returns the error of an invalid numcodecs configuration.
fn error_of(json: &str) -> String {
    let error = from_numcodecs(json).expect("an error").expect_err("an error");
    assert_eq!(error.code, Code::EFILTER);
    error.what.to_string()
}

/// Keys, order and values are netCDF-C's.
#[test]
fn configurations_of_netcdf_c_round_trip() {
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
        assert_eq!(write(id, params), Some(Ok(json.to_string())));
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
        assert!(json.contains(numcodecs_id(&id.into()).unwrap()));
    }
    // Parameters as in a file.
    let json = write(4, &[169, 32, 32, 64]).unwrap().unwrap();
    assert_eq!(json, r#"{"id": "szip", "mask": 169, "pixels-per-block": 32}"#);
    // 16384 is the chunk size, not a block size.
    let json = write(32001, &[2, 2, 4, 16384, 7, 2, 2]).unwrap().unwrap();
    assert_eq!(json, r#"{"id": "blosc", "clevel": 7, "blocksize": 0, "cname": "lz4hc", "shuffle": 2}"#);
}

#[test]
fn configurations_of_numcodecs_are_read() {
    for (json, id, params) in [
        (r#"{"id": "zlib", "level": 1}"#, 1, &[1][..]),
        (r#"{"id": "bz2"}"#, 307, &[1]),
        (r#"{"id": "zstd", "level": 0, "checksum": false}"#, 32015, &[0]),
        (r#"{"id": "zstd", "level": -3, "checksum": true}"#, 32015, &[0xffff_fffd, 1]),
        (r#"{"id": "zstd", "level": 100}"#, 32015, &[22]),
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
    assert!(from_numcodecs(r#"{"id": "unknown"}"#).is_none());
}

#[test]
fn numcodecs_without_an_hdf5_number_round_trip() {
    for json in [
        r#"{"id": "lz4", "acceleration": 1}"#,
        r#"{"id": "delta", "dtype": "<i4", "astype": "|i1"}"#,
        r#"{"id": "fixedscaleoffset", "scale": 10.0, "offset": 1000.5, "dtype": "<f8", "astype": ">u2"}"#,
        r#"{"id": "quantize", "digits": -1, "dtype": "<f4", "astype": "<f2"}"#,
        r#"{"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}"#,
        r#"{"id": "bitround", "keepbits": 10}"#,
        r#"{"id": "packbits"}"#,
        r#"{"id": "base64"}"#,
        r#"{"id": "adler32"}"#,
        r#"{"id": "crc32", "location": "end"}"#,
    ] {
        let (id, params) = from_numcodecs(json).expect("it is known").expect("it is valid");
        assert_eq!(to_numcodecs(&id, &params), Some(Ok(json.to_string())), "{json}");
        // The same filter behind the names that zarr-python gives codecs of numcodecs in version 3.
        let v3 = to_zarr_v3(&id, &params).expect("it has a form").expect("it is valid");
        assert_eq!(from_zarr_v3(&v3), Some(Ok((id, params))), "{v3}");
    }
    for (json, reason) in [
        (r#"{"id": "delta"}"#, "no \"dtype\""),
        (r#"{"id": "delta", "dtype": "<i3"}"#, "\"<i3\", not the typestring"),
        (r#"{"id": "delta", "dtype": 4}"#, "not a string"),
        (r#"{"id": "fixedscaleoffset", "scale": 10, "dtype": "<f8"}"#, "must be numbers"),
        (r#"{"id": "quantize", "digits": 1, "dtype": "<i4"}"#, "only floats"),
        (r#"{"id": "bitround", "keepbits": -1}"#, "from 0 to 64"),
    ] {
        let error = from_numcodecs(json).expect("it is known").expect_err("it is invalid");
        assert!(error.to_string().contains(reason), "{json}: {error}");
    }
}

/// NetCDF-C accepts numbers as strings, and writes an unknown size as 0 and a negative level as an unsigned number.
#[test]
fn numbers_are_read_in_the_forms_of_netcdf_c() {
    for (json, id, params) in [
        (r#"{"id": "zlib", "level": "4"}"#, 1, &[4][..]),
        (r#"{"level": 4, "id": "zlib", "more": {}}"#, 1, &[4]),
        (r#"{"id": "shuffle", "elementsize": 0}"#, 2, &[]),
        (r#"{"id": "zstd", "level": 4294967293}"#, 32015, &[0xffff_fffd]),
        (r#"{"id": "szip", "mask": "32", "pixels-per-block": "16"}"#, 4, &[32, 16]),
    ] {
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
    }
    assert_eq!(write(32015, &[0xffff_fffd]), Some(Ok(r#"{"id": "zstd", "level": -3}"#.to_string())));
}

#[test]
fn configurations_of_hdf5_formats_round_trip() {
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
        assert_eq!(write(id, params), Some(Ok(json.to_string())));
        assert_eq!(read(json), (id, params.to_vec()), "{json}");
    }
    assert!(write(5, &[]).is_none() && write(6, &[]).is_none() && write(32013, &[]).is_none());
}

#[test]
fn invalid_configurations_are_rejected_with_a_reason() {
    for (json, reason) in [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[1]", "not a JSON object"),
        (r#""zlib""#, "not a JSON object"),
        (r#"{"level": 4}"#, "no \"id\""),
        (r#"{"id": 4}"#, "not a string"),
        (r#"{"id": "zlib", "level": 10}"#, "from -1 to 9"),
        (r#"{"id": "zlib", "level": -2}"#, "from -1 to 9"),
        (r#"{"id": "zlib", "level": 4.5}"#, "from -1 to 9"),
        (r#"{"id": "zlib", "level": [4]}"#, "from -1 to 9"),
        (r#"{"id": "bz2", "level": 0}"#, "from 1 to 9"),
        (r#"{"id": "zstd", "level": 99999999999999999999}"#, "from -2147483648"),
        (r#"{"id": "szip"}"#, "requires \"mask\""),
        (r#"{"id": "blosc", "cname": "xx"}"#, "not one of blosclz"),
        (r#"{"id": "blosc", "shuffle": 3}"#, "from -1 to 2"),
        (r#"{"id": "imagecodecs_lzf"}"#, "without a header"),
        (r#"{"id": "ferrocdf_bitshuffle", "cname": ""}"#, "compressor 1 is undefined"),
        (r#"{"id": "ferrocdf_bitshuffle", "blocksize": 7}"#, "blocks of 7"),
    ] {
        let error = error_of(json);
        assert!(error.contains(reason), "{json}: {error}");
    }
    let nested = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(error_of(&nested).contains("not valid JSON"));
    let long = format!(r#"{{"id": "zlib", "x": "{}"}}"#, "x".repeat(1 << 16));
    assert!(error_of(&long).contains("at most 65536"));
    for (id, params) in
        [(1, &[][..]), (1, &[10]), (2, &[]), (4, &[32]), (307, &[0]), (32001, &[0, 0, 0, 0, 10])]
    {
        let error = write(id, params).expect("a JSON form").expect_err("invalid parameters");
        assert_eq!(error.code, Code::EFILTER, "{id} {params:?}");
    }
}

#[test]
fn shuffle_blosc_and_bitshuffle_derive_sizes() {
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
    // Final parameters, as in a file, stay unchanged.
    assert_eq!(derived(32008, &[0, 4, 8, 0, 2]), [0, 4, 8, 0, 2]);
    assert_eq!(derived(32015, &[3]), [3]);
    // The derived parameters are valid.
    for id in built_in_ids().filter(|id| [2, 32001, 32008].contains(id)) {
        let step = crate::help::step(id, &derived(id, &[]));
        assert!(Codecs::default().find(&step, None).unwrap().is_ok(), "{id}");
    }
}

/// The JSON forms of the Zarr v3 core specification, of zarr-python for numcodecs filters, and of numcodecs.
#[test]
fn zarr_codecs_without_an_hdf5_number_round_trip() {
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
    // The block size is a user's.
    let blosc = concat!(
        r#"{"name":"blosc","configuration":{"typesize":4,"cname":"lz4","clevel":5,"#,
        r#""shuffle":"shuffle","blocksize":256}}"#
    );
    assert_eq!(from_zarr_v3(blosc), Some(Ok((FilterId::Hdf5(32001), vec![0, 0, 4, 256, 5, 1, 1]))));
    assert_eq!(to_zarr_v3(&FilterId::Hdf5(32001), &[0, 0, 4, 256, 5, 1, 1]), Some(Ok(blosc.to_string())));
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
    for (json, reason) in [
        (r#"{"name":"gzip","configuration":{"level":10}}"#, "from -1 to 9"),
        (r#"{"name":"gzip","configuration":[]}"#, "not a JSON object"),
        (r#"{"name":"transpose"}"#, "list of integers"),
        (r#"{"name":"transpose","configuration":{"order":[0,-1]}}"#, "list of integers"),
        (r#"{"id":"gzip"}"#, "no \"name\""),
    ] {
        let error = from_zarr_v3(json).expect("an error").expect_err("an error");
        assert!(error.code == Code::EFILTER && error.what.contains(reason), "{json}: {error}");
    }
}
