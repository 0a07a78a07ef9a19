//! Filters. An input is which filter of [`IDS`], a count of parameters, the parameters in four bytes each, the size of the
//! block in two, all little-endian, and the stored bytes. Also what tells filters: text and JSON.

use ferrocdf_codec::spec::{List, Syntax};
use ferrocdf_codec::{Chain, Codecs, FilterId, Step, from_numcodecs, from_zarr_v3, to_numcodecs, to_zarr_v3};

/// The registered numbers of the built-in filters.
const IDS: [u32; 12] = [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015];

/// Decodes, and encodes what came out, which must come back but for what a lossy filter drops.
pub fn run(data: &[u8]) {
    let Some((&which, data)) = data.split_first() else { return };
    let id = IDS[usize::from(which) % IDS.len()];
    let Some((params, len, stored)) = parse(data) else { return };
    let chain = chain(id, params.clone());
    let mut plain = vec![0; len];
    if chain.decode(0, stored, &mut plain).is_err() {
        return;
    }
    let mut packed = Vec::new();
    let Ok(mask) = chain.encode(&plain, &mut packed) else { return };
    let mut back = vec![0; len];
    let done = chain.decode(mask, &packed, &mut back);
    assert_eq!(done, Ok(()), "filter {id} with {params:?} does not unpack what it packed");
    // Scale-offset rounds, and with a fixed count of bits drops the others.
    assert!(id == 6 || back == plain, "filter {id} with {params:?} gives other bytes back");
}

fn chain(id: u32, params: Vec<u32>) -> Chain {
    Chain::new(vec![Step { id: id.into(), name: String::new(), optional: false, params }], &Codecs::default())
}

fn parse(data: &[u8]) -> Option<(Vec<u32>, usize, &[u8])> {
    let (&count, rest) = data.split_first()?;
    let (params, rest) = rest.split_at_checked(usize::from(count) * 4)?;
    let params = params.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let (len, stored) = rest.split_first_chunk::<2>()?;
    Some((params, u16::from_le_bytes(*len).into(), stored))
}

/// Blocks that the filters packed themselves, with a few sets of their parameters.
pub fn seeds() -> Vec<Vec<u8>> {
    let seeds = |which: usize| {
        let numbered = move |seed: Vec<u8>| [&[which as u8][..], &seed].concat();
        seeds_of(IDS[which]).into_iter().map(numbered)
    };
    (0..IDS.len()).flat_map(seeds).collect()
}

fn seeds_of(id: u32) -> Vec<Vec<u8>> {
    const SCALED: [u32; 20] = [2, 0, 100, 0, 4, 1, 0, 1, 1007, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const SCALED_FLOATS: [u32; 20] = [0, 2, 100, 1, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let params: &[&[u32]] = match id {
        1 => &[&[1], &[9]],
        2 => &[&[4], &[3]],
        4 => &[&[32, 8, 32, 64], &[4, 4, 8, 30], &[48, 16, 16, 200]],
        5 => &[&[8, 0, 100, 1, 4, 0, 17, 2], &[14, 0, 40, 3, 10, 2, 0, 4, 3, 4, 1, 4, 1, 32], NESTED],
        6 => &[&SCALED, &SCALED_FLOATS],
        307 => &[&[1], &[9]],
        32001 => &[
            &[2, 2, 4, 400, 5, 1, 0],
            &[2, 2, 4, 400, 5, 2, 1],
            &[2, 2, 2, 400, 5, 1, 3],
            &[2, 2, 8, 400, 1, 0, 5],
        ],
        32004 => &[&[], &[100]],
        32008 => &[&[0, 4, 4, 0, 0], &[0, 4, 4, 16, 2], &[0, 4, 2, 0, 3]],
        32015 => &[&[3]],
        _ => &[&[]],
    };
    let slope: Vec<u8> = (0..100u32).flat_map(|at| (1000 + at / 3 + at % 5).to_le_bytes()).collect();
    params.iter().filter_map(|params| seed(id, params, &slope)).collect()
}

/// A compound of an array and bytes.
const NESTED: &[u32] = &[17, 0, 40, 3, 10, 2, 0, 2, 4, 1, 2, 0, 9, 1, 6, 4, 3];

fn seed(id: u32, params: &[u32], plain: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::new();
    chain(id, params.to_vec()).encode(plain, &mut packed).ok()?;
    let mut seed = vec![params.len() as u8];
    params.iter().for_each(|param| seed.extend_from_slice(&param.to_le_bytes()));
    seed.extend_from_slice(&(plain.len() as u16).to_le_bytes());
    seed.extend_from_slice(&packed);
    Some(seed)
}

/// Text of filters is read back from what is printed of it, or an error says what is wrong.
pub fn text(data: &[u8]) {
    for syntax in [Syntax::NetcdfC, Syntax::Strict] {
        match List::parse(data, syntax) {
            Ok(list) if list.specs.is_empty() => {}
            Ok(list) => {
                let text = list.specs.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
                let again = List::parse(text.as_bytes(), Syntax::Strict);
                assert_eq!(again.expect("what is printed is read").specs, list.specs);
            }
            Err(error) => assert!(!error.what.is_empty(), "an error says something"),
        }
    }
}

/// Text as `_Filter` and `nccopy -F` take it.
pub fn texts() -> Vec<Vec<u8>> {
    const TEXTS: [&str; 5] = [
        "307,9|4,32,32",
        "32768,-17b,23ub,-25S,27US,-77,77,93U,789f,12345678.12345678d,-9223372036854775807L,18446744073709551615UL",
        "zstd,3|Shuffle| blosc , 0 ,0,0,0,5,1,1",
        "[0]1,2|3",
        "32000",
    ];
    TEXTS.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Reads JSON as a numcodecs dictionary and as Zarr v3 metadata. What is read is written, and then reads and writes the same.
pub fn codec(data: &[u8]) {
    let Ok(json) = std::str::from_utf8(data) else { return };
    comes_round(json, from_numcodecs, to_numcodecs);
    comes_round(json, from_zarr_v3, to_zarr_v3);
}

type Read = fn(&str) -> Option<ferrocdf_bytes::Result<(FilterId, Vec<u32>)>>;
type Write = fn(&FilterId, &[u32]) -> Option<ferrocdf_bytes::Result<String>>;

fn comes_round(json: &str, read: Read, write: Write) {
    let written = |json: &str| {
        let (id, params) = read(json)?.ok()?;
        match write(&id, &params)? {
            Ok(json) => Some(json),
            // Some derive the element size from the dataset.
            Err(_) if ferrocdf_codec::derives(&id) => None,
            Err(error) => panic!("{id} {params:?} is not written: {error}"),
        }
    };
    if let Some(once) = written(json) {
        assert_eq!(written(&once), Some(once));
    }
}

/// Dictionaries as netCDF-C and numcodecs write them.
pub fn codecs() -> Vec<Vec<u8>> {
    const CODECS: [&str; 21] = [
        r#"{"id": "zfpy", "mode": 4, "compression_kwargs": {"tolerance": 0.5}, "tolerance": 0.5}"#,
        r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#,
        r#"{"name": "numcodecs.zlib", "configuration": {"level": 1}}"#,
        r#"{"id": "crc32c", "location": "start"}"#,
        r#"{"id": "zlib", "level": "4"}"#,
        r#"{"id": "shuffle", "elementsize": 4}"#,
        r#"{"id": "fletcher32"}"#,
        r#"{"id": "szip", "mask": 4, "pixels-per-block": 16}"#,
        r#"{"id": "bz2", "level": 9}"#,
        r#"{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": null}"#,
        r#"{"id": "zstd", "level": -7}"#,
        r#"{"id": "ferrocdf_bitshuffle", "elementsize": 8, "blocksize": 64, "cname": "zstd", "clevel": -5}"#,
        r#"{"id": "imagecodecs_lz4h5", "level": null, "blocksize": 1024}"#,
        r#"{"id": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}"#,
        r#"{"id": "categorize", "labels": ["a", "é"], "dtype": "<U2"}"#,
        r#"{"id": "pcodec", "delta_spec": "try_consecutive", "delta_encoding_order": 1}"#,
        r#"{"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 0], [-1, 255]]}}}"#,
        r#"{"name": "scale_offset", "configuration": {"offset": 5, "scale": "0x3dcccccd"}}"#,
        r#"{"name": "reshape", "configuration": {"shape": [[0, 1], -1, 4]}}"#,
        r#"{"name": "packbits", "configuration": {"padding_encoding": "last_byte", "first_bit": 1, "last_bit": 6}}"#,
        r#"{"id": "imagecodecs_lzf", "header": false, "more": [1, {"a": 1e99}]}"#,
    ];
    CODECS.map(|text| text.as_bytes().to_vec()).to_vec()
}
