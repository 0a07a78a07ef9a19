//! Valid files to start from, made by ferrocdf itself, or of the tests.

use std::path::Path;

use ferrocdf::{Alignment, CreateOptions, FileMut, Format, Result};

/// Small classic files: with records, with one record variable, with nothing, with free space.
pub fn classic() -> Vec<Vec<u8>> {
    let formats = [Format::CLASSIC, Format::OFFSET64, Format::DATA64];
    let makers: [fn(&mut FileMut) -> Result<()>; 4] = [|_| Ok(()), mixed, lone_record, roomy];
    formats.iter().flat_map(|&format| makers.map(|maker| made(format, maker))).collect()
}

fn made(format: Format, fill: fn(&mut FileMut) -> Result<()>) -> Vec<u8> {
    let mut file = FileMut::in_memory(&CreateOptions::format(format)).expect("an empty file is made");
    fill(&mut file).expect("the definitions are right");
    file.into_bytes().expect("it fits in memory").expect("it is in memory")
}

fn mixed(file: &mut FileMut) -> Result<()> {
    file.add_unlimited_dimension("t")?;
    file.add_dimension("x", 3)?;
    file.add_dimension("y", 4)?;
    file.put_attribute("title", "seed")?;
    file.put_attribute("numbers", vec![1.5f64, -2.5])?;
    let fixed = file.add_variable::<i16>("fixed", &["x", "y"])?;
    fixed.put_attribute("valid_range", [0i16, 99])?;
    fixed.put_values(&[7i16; 12], ..)?;
    let record = file.add_variable::<f64>("record", &["t", "x"])?;
    record.put_values(&[0.5f64, 1.5, 2.5], (1, ..))?;
    file.add_variable::<i8>("bytes", &["t", "x"])?;
    file.add_variable::<f32>("scalar", &[])?;
    Ok(())
}

fn lone_record(file: &mut FileMut) -> Result<()> {
    file.add_unlimited_dimension("t")?;
    file.add_dimension("x", 3)?;
    let record = file.add_variable::<i8>("record", &["t", "x"])?;
    record.put_values(&[1i8, 2, 3, 4, 5, 6], (0..2, ..))
}

fn roomy(file: &mut FileMut) -> Result<()> {
    file.add_dimension("x", 5)?;
    let variable = file.add_variable::<i32>("v", &["x"])?;
    variable.set_fill_value(-1i32)?;
    file.commit_aligned(&Alignment { header_free: 100, fixed: 64, fixed_free: 10, records: 64 })
}

/// CDL texts of the classic and the enhanced model.
pub fn cdl() -> Vec<Vec<u8>> {
    const TEXTS: [&str; 3] = [
        "netcdf a {\ndimensions:\n\tt = UNLIMITED ; // (2 currently)\n\tx = 3 ;\nvariables:\n\tshort v(t, x) ;\n\
         \t\tv:units = \"m\" ;\n\t\tv:valid = 1s, 2s ;\n\tdouble d ;\n\t:title = \"a\\n\", \"b\" ;\ndata:\n v = 1, _, 3,\n\
         0x10, 017, -5 ;\n d = 1.5e300 ;\n}\n",
        "netcdf b {\ntypes:\n  compound c { int i; float f(2); } ;\n  int enum e { A = 1, B = 2 } ;\n  opaque(4) o ;\n\
         int(*) l ;\ndimensions: u = UNLIMITED ;\nvariables:\n c cv(u) ;\n e ev ; o ov ; l lv(u) ; string s(u) ;\n\
         uint64 q ; q:_FillValue = 7ull ;\ndata: cv = {1, {2., 3.}}, {4, {5., 6.}} ; ev = B ; ov = 0xdeadbeef ;\n\
         lv = {1, 2}, {} ; s = \"a\", NIL ;\ngroup: g { dimensions: y = 2 ; variables: byte z(y) ; data: z = 1b, 'a' ; }\n}\n",
        "netcdf c { dimensions: n = 8 ; variables: char t(n) ; float f(n) ; t:_Storage = \"contiguous\" ;\n\
         data: t = \"abc\", \"\\x41\\101\" ; f = NaNf, -Infinityf, 1.f, 1e-45, .5 ; }\n",
    ];
    TEXTS.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Larger files are left out: most of their bytes are data.
const LARGEST: u64 = 40 << 10;

/// The small files of a folder of this repository, by name.
fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| endings.iter().any(|ending| path.extension().is_some_and(|found| found == *ending)))
        .filter(|path| path.metadata().is_ok_and(|data| data.len() <= LARGEST))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("the file can be read")).collect()
}

/// Files of the reference library.
pub fn hdf5() -> Vec<Vec<u8>> {
    ["hdf5/tests/data", "hdf5/tests/data_half"].iter().flat_map(|folder| files(folder, &["h5"])).collect()
}

/// Files with all that netCDF-4 has, and what other programs write.
pub fn netcdf4() -> Vec<Vec<u8>> {
    [files("ferrocdf/tests/data", &["nc", "h5"]), files("hdf5/tests/data_half", &["h5"])].concat()
}

/// Files of libhdf4: each storage, records in linked blocks, the older interface, objects that are no data sets.
pub fn hdf4() -> Vec<Vec<u8>> {
    files("hdf4/tests/data", &["hdf"])
}

/// Shared libraries that import names of HDF5, with both kinds of tables of names.
pub fn images() -> Vec<Vec<u8>> {
    files("plugin/tests/data", &["elf"])
}

/// Zarr stores of both versions: of netCDF, with shards, text, structures, consolidated metadata.
pub fn zarr() -> Vec<Vec<u8>> {
    const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    let v2 = |shape: &str, dtype: &str, more: &str| {
        format!(
            r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {shape}, "dtype": {dtype}, "order": "C", "fill_value": null, {more}}}"#
        )
    };
    let v3 = |shape: &str, chunk: &str, data_type: &str, fill: &str, codecs: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "{data_type}", "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk}}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}, "attributes": {{"u": [1.5, "NaN", null]}}}}"#
        )
    };
    let plain = r#""compressor": null, "filters": null"#;
    let delta = r#""compressor": null, "filters": [{"id": "delta", "dtype": "<i4", "astype": "|i1"}]"#;
    let text = r#""compressor": null, "filters": [{"id": "vlen-utf8"}]"#;
    let own = r#"{"u": "m", "_nczarr_array": {"dimension_references": ["/x"]}, "_nczarr_attr": {"types": {"u": ">S1"}}}"#;
    let sharded = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2], "codecs": [{LITTLE}], "index_codecs": [{LITTLE}],
        "index_location": "start"}}}}]"#
    );
    let index = [32u64, 4, u64::MAX, u64::MAX].map(u64::to_le_bytes).concat();
    let store = |objects: &[(&str, &[u8])]| {
        objects
            .iter()
            .flat_map(|(key, bytes)| [b"== ", key.as_bytes(), b"\n", bytes, b"\n"].concat())
            .collect::<Vec<u8>>()
    };
    let record = v2("[1]", r#"[["n", ">i2"], ["t", "|S3"], ["x", "<f8", [2]]]"#, plain);
    let array = v3("[4]", "[4]", "int16", "7", &sharded);
    let inline = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"metadata": {{"g/v": {array}}}}}}}"#
    );
    let root = br#"{"_nczarr_superblock": {}, "_nczarr_group": {"dimensions": {"x": {"size": 3, "unlimited": 1}}, "arrays": ["v"], "groups": []}}"#;
    vec![
        store(&[
            (".zgroup", br#"{"zarr_format": 2}"#),
            (".zattrs", root),
            ("v/.zarray", v2("[3]", "\"<i4\"", delta).as_bytes()),
            ("v/.zattrs", own.as_bytes()),
            ("v/0", &[1, 2, 3]),
        ]),
        store(&[
            (".zgroup", br#"{"zarr_format": 2}"#),
            ("s/.zarray", v2("[2]", "\"|O\"", text).as_bytes()),
            ("s/0", b"\x02\0\0\0\x01\0\0\0a\0\0\0\0"),
            ("r/.zarray", record.as_bytes()),
            ("r/0", &[1; 21]),
        ]),
        store(&[("zarr.json", array.as_bytes()), ("c/0", &[&index[..], &[1, 0, 2, 0]].concat())]),
        store(&[("zarr.json", inline.as_bytes()), ("g/v/c/0", &[&index[..], &[1, 0, 2, 0]].concat())]),
    ]
}

/// References of both versions, with inline chunks, templates and generated keys.
pub fn references() -> Vec<Vec<u8>> {
    let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i2", "order": "C", "fill_value": 7, "filters": null, "compressor": null}"#;
    let plain = format!(
        r#"{{".zgroup": {{"zarr_format": 2}}, "v/.zarray": {array}, "v/0": "base64:AQIDBA==", "v/1": ["a.nc", 5, 4]}}"#
    );
    let quoted = array.replace('"', "\\\"");
    let whole = format!(
        r#"{{"version": 1, "templates": {{"u": "a/b", "f": "{{{{c}}}}-{{{{n}}}}"}},
 "gen": [{{"key": "v/{{{{i}}}}", "url": "{{{{u}}}}", "offset": "{{{{(i + 1) * 8 // 3}}}}", "length": "4", "dimensions": {{"i": {{"start": 1, "stop": 2}}}}}}],
 "refs": {{".zgroup": "{{\"zarr_format\": 2}}", "v/.zarray": "{quoted}", "v/0": "abcd", "w": ["{{{{f(c='x', n=2 - 1)}}}}"]}}}}"#
    );
    vec![plain.into_bytes(), whole.into_bytes()]
}
