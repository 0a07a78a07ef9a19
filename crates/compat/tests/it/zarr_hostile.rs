//! Zarr stores that are made to harm their reader: each ends with an error or the right values, within 2 s and 200 MB, and nothing outside
//! the store is read. Each store is read by a process of its own, which says how much memory it had at most.

use std::fs;
use std::path::Path;
use std::process::Command;

use ferrocdf_codec::{Chain, Codecs, from_numcodecs};

use crate::hostile;

/// A text and a number that lie outside the stores only.
const SECRET: &str = "secret";
const NUMBER: &str = "424242";

/// What becomes of a store.
enum Outcome {
    /// An error with this text, of the store or of a variable.
    Error(&'static str),
    /// No error, and these values.
    Values(&'static str),
    /// Either.
    Any,
}
use Outcome::{Any, Error, Values};

/// Has a process read a store. Returns what is wrong.
fn judge(store: &Path, outcome: &Outcome) -> Result<(), String> {
    let said = hostile::read_apart(store)?;
    let is_expected = match outcome {
        Error(what) => said.contains("error:") && said.contains(what),
        Values(what) => !said.contains("error:") && said.contains(what),
        Any => true,
    };
    match () {
        () if said.contains(SECRET) || said.contains(NUMBER) => {
            Err(format!("it read outside the store: {said}"))
        }
        () if !is_expected => Err(format!("not what was expected: {said:.600}")),
        () => Ok(()),
    }
}

/// A folder with stores in it, and a store outside of them that nobody may read.
struct Scene {
    folder: tempfile::TempDir,
    cases: Vec<(String, Outcome)>,
}

impl Scene {
    fn new() -> Scene {
        let mut scene = Scene { folder: tempfile::tempdir().expect("a folder"), cases: vec![] };
        scene.put("outside", ".zgroup", br#"{"zarr_format": 2}"#);
        scene.put("outside", ".zattrs", format!(r#"{{"a": "{SECRET}"}}"#).as_bytes());
        let array = v2("[1]", "[1]", "<i4", "null", "null");
        scene.put("outside", "v/.zarray", array.as_bytes());
        scene.put("outside", "v/0", &424242u32.to_le_bytes());
        scene
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn put(&mut self, store: &str, key: &str, bytes: &[u8]) {
        let path = self.path(store).join(key);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    fn link(&mut self, store: &str, key: &str, target: &str) {
        let path = self.path(store).join(key);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }

    /// Adds a case with these objects, in a group of version 2.
    fn case(&mut self, name: &str, objects: &[(&str, &[u8])], outcome: Outcome) {
        self.put(name, ".zgroup", br#"{"zarr_format": 2}"#);
        for (key, bytes) in objects {
            self.put(name, key, bytes);
        }
        self.cases.push((name.to_string(), outcome));
    }

    /// Adds a case of one array of version 3 in the root.
    fn array3(&mut self, name: &str, json: &str, chunk: Option<&[u8]>, outcome: Outcome) {
        self.put(name, "zarr.json", br#"{"zarr_format": 3, "node_type": "group"}"#);
        self.put(name, "v/zarr.json", json.as_bytes());
        if let Some(chunk) = chunk {
            self.put(name, "v/c/0", chunk);
        }
        self.cases.push((name.to_string(), outcome));
    }
}

fn v2(shape: &str, chunks: &str, dtype: &str, compressor: &str, filters: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {chunks}, "dtype": "{dtype}", "order": "C", "fill_value": null,
            "compressor": {compressor}, "filters": {filters}}}"#
    )
}

fn v3(shape: &str, chunk_shape: &str, data_type: &str, codecs: &str) -> String {
    let fill = if data_type == "string" { "\"\"" } else { "0" };
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "{data_type}", "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk_shape}}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}}}"#
    )
}

/// Encodes zeros, in pieces that are the same, with a codec of numcodecs.
fn zeros(codec: &str, len: usize) -> Vec<u8> {
    let (id, params) = from_numcodecs(codec).expect("a codec that is known").expect("its parameters");
    let step = ferrocdf_codec::Step { id, name: String::new(), optional: false, params };
    let mut encoded = vec![];
    Chain::new(vec![step], &Codecs::default())
        .encode(&vec![0; len], &mut encoded)
        .expect("zeros can be encoded");
    encoded
}

const CODECS: &[(&str, &str)] = &[
    ("gzip", r#"{"id": "gzip", "level": 9}"#),
    ("zlib", r#"{"id": "zlib", "level": 9}"#),
    ("zstd", r#"{"id": "zstd", "level": 1}"#),
    ("bz2", r#"{"id": "bz2", "level": 9}"#),
    ("lz4", r#"{"id": "lz4"}"#),
    ("blosc_zstd", r#"{"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 0, "blocksize": 0}"#),
    ("blosc_lz4", r#"{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}"#),
];

fn chunks_that_decode_to_too_much(scene: &mut Scene) {
    for (name, codec) in CODECS {
        let bomb = zeros(codec, 320 << 20);
        let of_numbers = v2("[256]", "[256]", "<i4", codec, "null");
        scene.case(
            &format!("bomb_{name}"),
            &[("v/.zarray", of_numbers.as_bytes()), ("v/0", &bomb)],
            Error("v/0"),
        );
        // Sizes of text are known when it is decoded.
        let of_text = v2("[256]", "[256]", "|O", codec, r#"[{"id": "vlen-utf8"}]"#);
        scene.case(
            &format!("bomb_text_{name}"),
            &[("v/.zarray", of_text.as_bytes()), ("v/0", &bomb)],
            Error("v/0"),
        );
        let of_json = v2("[256]", "[256]", "|O", codec, r#"[{"id": "json2"}]"#);
        scene.case(
            &format!("bomb_json_{name}"),
            &[("v/.zarray", of_json.as_bytes()), ("v/0", &bomb)],
            Error("v/0"),
        );
        let of_bytes = v2("[16777216]", "[16777216]", "|S1", codec, "null");
        scene.case(
            &format!("bomb_bytes_{name}"),
            &[("v/.zarray", of_bytes.as_bytes()), ("v/0", &bomb)],
            Error("v/0"),
        );
    }
}

fn documents(scene: &mut Scene) {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [101, 100_000, 4_000_000] {
        let attributes = format!(r#"{{"a": {}}}"#, deep(depth));
        scene.case(
            &format!("deep_attributes_{depth}"),
            &[(".zattrs", attributes.as_bytes())],
            Error("within each other"),
        );
        scene.put(&format!("deep_{depth}"), "zarr.json", deep(depth).as_bytes());
        scene.cases.push((format!("deep_{depth}"), Error("")));
    }
    for shape in [
        "[9223372036854775807]",
        "[18446744073709551615]",
        "[4611686018427387904, 4611686018427387904]",
        "[1e400]",
        "[-1]",
        "[0.5]",
        "[\"x\"]",
        "9",
        "null",
        "[100000000000000000000000000000]",
    ] {
        for chunks in [shape, "[1]", "[0]", "[1, 1]", "[4611686018427387904]"] {
            let array = v2(shape, chunks, "<i4", "null", "null");
            let name = format!("huge_{}", scene.cases.len());
            scene.case(&name, &[("v/.zarray", array.as_bytes()), ("v/0", &[1, 2, 3, 4])], Any);
            let array =
                v3(shape, chunks, "int32", r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#);
            scene.array3(&format!("{name}_3"), &array, Some(&[1, 2, 3, 4]), Any);
        }
    }
    let ones = format!("[{}1]", "1,".repeat(100_000));
    let array = v2(&ones, &ones, "<i4", "null", "null");
    scene.case("many_dimensions", &[("v/.zarray", array.as_bytes())], Error("dimensions"));
    let text = v2("[3]", "[3]", "|S1073741824", "null", "null");
    scene.case("long_text", &[("v/.zarray", text.as_bytes()), ("v/0", b"abc")], Any);
    let many = format!(r#"{{"a": [{}1]}}"#, "1,".repeat(30_000_000));
    scene.case("many_values", &[(".zattrs", many.as_bytes())], Error("values"));
    // Each group names the one within it many times.
    let again = format!(
        r#"{{"_nczarr_group": {{"dimensions": {{}}, "arrays": [], "groups": [{}"g"]}}}}"#,
        "\"g\",".repeat(2000)
    );
    let mut objects: Vec<(String, Vec<u8>)> = vec![(".zattrs".to_string(), again.clone().into_bytes())];
    for depth in 1..6 {
        let path = vec!["g"; depth].join("/");
        objects.push((format!("{path}/.zgroup"), br#"{"zarr_format": 2}"#.to_vec()));
        objects.push((format!("{path}/.zattrs"), again.clone().into_bytes()));
    }
    let superblock = br#"{"zarr_format": 2, "_nczarr_superblock": {"version": "2.0.0"}}"#;
    objects.push((".zgroup".to_string(), superblock.to_vec()));
    let objects: Vec<(&str, &[u8])> = objects.iter().map(|(key, bytes)| (&**key, &**bytes)).collect();
    scene.case("groups_named_again", &objects, Any);
}

/// Files that hold much less on the disk than they say.
fn long_files(scene: &mut Scene) {
    let array = v2("[4]", "[4]", "<i4", "null", "null");
    for (name, key) in [
        ("long_attributes", ".zattrs"),
        ("long_array", "v/.zarray"),
        ("long_chunk", "v/0"),
        ("long_root", ".zmetadata"),
    ] {
        scene.case(name, &[("v/.zarray", array.as_bytes())], Error(""));
        scene.put(name, key, b"");
        let file = fs::OpenOptions::new().write(true).open(scene.path(name).join(key)).expect("just made");
        // Chunks are asked for as a whole, which the system must refuse. (8 TB; documents are read in part.)
        let len = if key == "v/0" { 8 << 40 } else { 8 << 30 };
        file.set_len(len).expect("a file with a hole");
    }
    scene.case("pipe", &[("v/.zarray", array.as_bytes())], Any);
    let made = Command::new("mkfifo")
        .arg(scene.path("pipe").join("v/0"))
        .arg(scene.path("pipe").join(".zattrs"))
        .status();
    assert!(made.is_ok_and(|made| made.success()), "mkfifo");
}

fn shards(scene: &mut Scene) {
    let codecs = |inner: &str, location: &str| {
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {inner}, "index_location": "{location}",
                "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {{"name": "gzip", "configuration": {{"level": 5}}}}],
                "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
        )
    };
    let chunk = zeros(CODECS[0].1, 16);
    for (name, at, len) in [
        ("behind_the_end", 1 << 20, 20),
        ("far_behind", u64::MAX - 1, 20),
        ("overflow", u64::MAX - 20, 40),
        ("too_long", 0, 1 << 60),
        ("everything", 0, u64::MAX - 1),
        ("half_missing", u64::MAX, 3),
        ("empty", 0, 0),
    ] {
        for location in ["start", "end"] {
            let index: Vec<u8> =
                [at, len, u64::MAX, u64::MAX].iter().flat_map(|number: &u64| number.to_le_bytes()).collect();
            let object =
                if location == "end" { [&chunk[..], &index].concat() } else { [&index[..], &chunk].concat() };
            let array = v3("[8]", "[8]", "int32", &codecs("[4]", location));
            scene.array3(&format!("shard_{name}_{location}"), &array, Some(&object), Error(""));
        }
    }
    // An index of more bytes than there can be.
    for (shape, inner) in [
        ("[1099511627776]", "[1]"),
        ("[16777216]", "[1]"),
        ("[9223372036854775807]", "[1]"),
        ("[8]", "[3]"),
        ("[8]", "[0]"),
    ] {
        let array = v3(shape, shape, "int32", &codecs(inner, "end"));
        let name = format!("shard_{}", scene.cases.len());
        scene.array3(&name, &array, Some(&chunk), Error(""));
    }
    let bomb = zeros(CODECS[0].1, 320 << 20);
    let index: Vec<u8> =
        [0, bomb.len() as u64, u64::MAX, u64::MAX].iter().flat_map(|number| number.to_le_bytes()).collect();
    let array = v3("[8]", "[8]", "int32", &codecs("[4]", "end"));
    scene.array3("shard_bomb", &array, Some(&[&bomb[..], &index].concat()), Error("c/0"));
}

fn names_that_lead_out(scene: &mut Scene) {
    let outside = scene.path("outside").display().to_string();
    let array = v2("[1]", "[1]", "<i4", "null", "null");
    for (number, name) in [
        "../outside/v",
        "/../outside/v",
        &format!("{outside}/v"),
        "v/../../outside/v",
        "..",
        ".",
        "",
        "v\\u0000",
    ]
    .into_iter()
    .enumerate()
    {
        let consolidated = format!(
            r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {{"zarr_format": 2}}, "{name}/.zarray": {array}}}}}"#
        );
        scene.case(&format!("consolidated_{number}"), &[(".zmetadata", consolidated.as_bytes())], Any);
        let inline =
            v3("[1]", "[1]", "int32", r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#);
        let root = format!(
            r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"kind": "inline", "must_understand": false, "metadata": {{"{name}": {inline}}}}}}}"#
        );
        scene.put(&format!("inline_{number}"), "zarr.json", root.as_bytes());
        scene.cases.push((format!("inline_{number}"), Any));
        for list in ["arrays", "groups"] {
            let other = if list == "arrays" { "groups" } else { "arrays" };
            let named = format!(
                r#"{{"_nczarr_superblock": {{"version": "2.0.0"}}, "_nczarr_group": {{"dimensions": {{}}, "{list}": ["{name}"], "{other}": []}}}}"#
            );
            scene.case(&format!("{list}_{number}"), &[(".zattrs", named.as_bytes())], Any);
        }
    }
}

fn links(scene: &mut Scene) {
    let array = v2("[1]", "[1]", "<i4", "null", "null");
    for (name, key, target) in [
        ("link_group", "out", "../outside"),
        ("link_array", "v", "../outside/v"),
        ("link_attributes", ".zattrs", "../outside/.zattrs"),
        ("link_far", "out", "/"),
        ("link_device", "v/0", "/dev/zero"),
        ("link_chunk", "v/0", "../../outside/v/0"),
        ("link_itself", "v/0", "0"),
    ] {
        let objects: &[(&str, &[u8])] = if key == "v" { &[] } else { &[("v/.zarray", array.as_bytes())] };
        scene.case(name, objects, Error(""));
        scene.link(name, key, target);
    }
    let inner = |name: &str| {
        format!(
            r#"{{"_nczarr_superblock": {{}}, "_nczarr_group": {{"dimensions": {{}}, "arrays": [], "groups": [{name}]}}}}"#
        )
    };
    // Folders that hold themselves, more than once.
    scene.case("links_round", &[("v/.zarray", array.as_bytes()), ("v/0", &7u32.to_le_bytes())], Any);
    scene.case("links_round_named", &[(".zattrs", inner(r#""a", "b", "c""#).as_bytes())], Any);
    for name in ["a", "b", "c"] {
        scene.link("links_round", name, ".");
        scene.link("links_round_named", name, ".");
    }
    scene.case(
        "links_across",
        &[("x/.zgroup", br#"{"zarr_format": 2}"#), ("y/.zgroup", br#"{"zarr_format": 2}"#)],
        Any,
    );
    for name in ["l", "m", "n"] {
        scene.link("links_across", &format!("x/{name}"), "../y");
        scene.link("links_across", &format!("y/{name}"), "../x");
    }
    // A link within the store is followed.
    scene.case(
        "link_within",
        &[("v/.zarray", array.as_bytes()), ("data", &7u32.to_le_bytes())],
        Values("Int([7])"),
    );
    scene.link("link_within", "v/0", "../data");
}

/// A member of a zip file.
struct Member<'a> {
    name: &'a str,
    /// The bytes as they are stored; with the size that they inflate to, if they are deflated.
    bytes: &'a [u8],
    inflated: Option<u32>,
    /// Says that the local header lies where that of the first member does.
    overlaps: bool,
}

fn member<'a>(name: &'a str, bytes: &'a [u8]) -> Member<'a> {
    Member { name, bytes, inflated: None, overlaps: false }
}

/// Returns the checksum of bytes in a zip file: CRC-32.
fn checksum(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift))
}

/// Packs members (APPNOTE.TXT of the zip format, 4.3). The checksum is that of the stored bytes, also where they are deflated: such members
/// are never read to their end.
fn zip(members: &[Member]) -> Vec<u8> {
    let (mut file, mut directory) = (vec![], vec![]);
    for member in members {
        let at = if member.overlaps { 0 } else { file.len() as u32 };
        let method: u16 = if member.inflated.is_some() { 8 } else { 0 };
        let sizes = [
            checksum(member.bytes),
            member.bytes.len() as u32,
            member.inflated.unwrap_or(member.bytes.len() as u32),
        ];
        let mut numbers =
            [20u16, 0, method, 0, 0].iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        numbers.extend(sizes.iter().flat_map(|number| number.to_le_bytes()));
        numbers.extend((member.name.len() as u16).to_le_bytes());
        numbers.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&numbers);
        file.extend(member.name.as_bytes());
        file.extend(member.bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&numbers);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(member.name.as_bytes());
    }
    let (at, len) = (file.len() as u32, directory.len() as u32);
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        file.extend((members.len() as u16).to_le_bytes());
    }
    file.extend(len.to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn zip_files(scene: &mut Scene) {
    let group = member(".zgroup", br#"{"zarr_format": 2}"#);
    let array = v2("[1]", "[1]", "<i4", "null", "null");
    // The format of zlib has two bytes before the deflated ones, and a checksum behind them.
    let deflated = |len: usize| {
        let bytes = zeros(CODECS[1].1, len);
        bytes[2..bytes.len() - 4].to_vec()
    };
    let bomb = deflated(320 << 20);
    let smaller = deflated(200 << 20);
    let inflated = |name, bytes, size| Member { name, bytes, inflated: Some(size), overlaps: false };
    let own = |name: &str, members: &[Member], outcome: Outcome, scene: &mut Scene| {
        fs::write(scene.path(name), zip(members)).expect("a file");
        scene.cases.push((name.to_string(), outcome));
    };
    own(
        "good.zip",
        &[group, member("v/.zarray", array.as_bytes()), member("v/0", &[7, 0, 0, 0])],
        Values("Int([7])"),
        scene,
    );
    let group = || member(".zgroup", br#"{"zarr_format": 2}"#);
    own("bomb_attributes.zip", &[group(), inflated(".zattrs", &bomb, 320 << 20)], Error(""), scene);
    own(
        "bomb_attributes_smaller.zip",
        &[group(), inflated(".zattrs", &smaller, 200 << 20)],
        Error(""),
        scene,
    );
    own("bomb_lying.zip", &[group(), inflated(".zattrs", &bomb, 100)], Error(""), scene);
    own(
        "bomb_chunk.zip",
        &[group(), member("v/.zarray", array.as_bytes()), inflated("v/0", &smaller, 200 << 20)],
        Error("v/0"),
        scene,
    );
    let names: Vec<String> = (0..60_000).map(|number| format!("v/{number}")).collect();
    let overlapping: Vec<Member> = std::iter::once(inflated("v/0", &smaller, 200 << 20))
        .chain(names.iter().map(|name| Member { overlaps: true, ..inflated(name, b"", 200 << 20) }))
        .collect();
    own("overlapping.zip", &overlapping, Error(""), scene);
    let many: Vec<Member> =
        std::iter::once(group()).chain(names.iter().map(|name| member(name, b""))).collect();
    own("many_members.zip", &many, Any, scene);
    for (number, name) in
        ["../outside/.zattrs", "/.zattrs", "v/../.zattrs", "C:\\.zattrs", "\0"].into_iter().enumerate()
    {
        own(&format!("name_{number}.zip"), &[group(), member(name, b"{}")], Any, scene);
    }
}

/// Documents with bytes changed at random.
fn mutated(scene: &mut Scene) {
    let seed = ferrocdf_compat::python::seed();
    println!("FERROCDF_SEED={seed}");
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |most: usize| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let attributes = r#"{"_nczarr_superblock": {"version": "2.0.0"}, "_ARRAY_DIMENSIONS": ["x"], "a": [1, 2.5, "x"],
        "_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}, "_nczarr_attr": {"types": {"a": ">S1"}},
        "_nczarr_group": {"dimensions": {"x": {"size": 4, "unlimited": 1}}, "arrays": ["v"], "groups": []}}"#;
    let array = v2("[4]", "[3]", "<i4", CODECS[2].1, r#"[{"id": "shuffle", "elementsize": 4}]"#);
    let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "index_location": "end",
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes"}, "crc32c"]}}]"#;
    let array3 = v3("[4]", "[4]", "int32", sharded);
    for number in 0..40 {
        let mut mutate = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + random(4) {
                let at = random(bytes.len());
                match random(4) {
                    0 => bytes[at] = random(256) as u8,
                    1 => drop(bytes.remove(at)),
                    2 => bytes.splice(at..at, b"9".repeat(1 + random(20))).for_each(drop),
                    _ => bytes
                        .splice(at..at, [b"[", b"{", b"-", b"\"", b"]"][random(5)].iter().copied())
                        .for_each(drop),
                }
            }
            bytes
        };
        let (array, attributes, array3) = (mutate(&array), mutate(attributes), mutate(&array3));
        let chunk = zeros(CODECS[2].1, 12);
        scene.case(
            &format!("mutated_{number}"),
            &[(".zattrs", &attributes), ("v/.zarray", &array), ("v/.zattrs", &attributes), ("v/0", &chunk)],
            Any,
        );
        let array3 = String::from_utf8_lossy(&array3).into_owned();
        scene.array3(&format!("mutated3_{number}"), &array3, Some(&chunk), Any);
    }
}

#[test]
fn hostile_stores_end_quickly_in_little_memory_and_nothing_outside_is_read() {
    let mut scene = Scene::new();
    chunks_that_decode_to_too_much(&mut scene);
    documents(&mut scene);
    long_files(&mut scene);
    shards(&mut scene);
    names_that_lead_out(&mut scene);
    links(&mut scene);
    zip_files(&mut scene);
    mutated(&mut scene);
    let wrong: Vec<String> = scene
        .cases
        .iter()
        .filter_map(|(name, outcome)| {
            judge(&scene.path(name), outcome).err().map(|why| format!("{name}: {why}"))
        })
        .collect();
    println!("{} stores", scene.cases.len());
    assert!(wrong.is_empty(), "{} of {} stores:\n{}", wrong.len(), scene.cases.len(), wrong.join("\n"));
    assert!(scene.cases.len() > 280, "{}", scene.cases.len());
}
