//! Stores with a damaged chunk: which error the tools tell, and what they leave.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ferrocdf::{Code, File};
use ferrocdf_tools::ncgen::Program;

use crate::nccopy::call;

/// Chunks of 20 by 30 numbers: with deflate, without filters, with a checksum; and text.
const CDL: &str = "netcdf a { dimensions: y = 40; x = 60; variables:
    int deflated(y, x); deflated:_ChunkSizes = 20, 30; deflated:_DeflateLevel = 5;
    int plain(y, x); plain:_ChunkSizes = 20, 30;
    int checked(y, x); checked:_ChunkSizes = 20, 30; checked:_Fletcher32 = \"true\";
    int sharded(y, x); sharded:_ChunkSizes = 20, 30; sharded:_ShardSizes = 40, 60;
    string text(x); text:_ChunkSizes = 30;
    data: deflated = 1, 2, 3; plain = 1, 2, 3; checked = 1, 2, 3; sharded = 1, 2, 3; text = \"a\", \"b\"; }";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let path = place.path("a.zarr");
        let args = ["ncgen", "-k", "zarr3", "-o", path.to_str().unwrap(), "-"].map(OsString::from);
        let mut errors = vec![];
        let code =
            ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut CDL.as_bytes(), &mut vec![], &mut errors);
        assert_eq!((code, String::from_utf8(errors).unwrap()), (0, String::new()));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a copy of the store that has one object shorter, or with other bytes.
    fn damage(&self, object: &str, change: Damage) -> String {
        let store = self.path("damaged.zarr");
        let _ = fs::remove_dir_all(&store);
        copy_folder(&self.path("a.zarr"), &store);
        let bytes = fs::read(store.join(object)).unwrap();
        fs::write(store.join(object), change(&bytes)).unwrap();
        store.to_str().unwrap().to_string()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => assert!(fs::copy(&path, &to).is_ok()),
        }
    }
}

/// Makes the bytes of a damaged object.
type Damage = fn(&[u8]) -> Vec<u8>;

fn shorten(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

fn lengthen(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0; 4]].concat()
}

fn change(bytes: &[u8]) -> Vec<u8> {
    [&[bytes[0] ^ 0x55], &bytes[1..]].concat()
}

fn dump(var: &str, store: &str) -> (i32, String) {
    let mut errors = vec![];
    let args = ["ncdump", "-v", var, store].map(OsString::from);
    let code = ferrocdf_tools::ncdump::main(args, &mut vec![], &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

#[test]
fn damaged_chunk_is_an_error_with_variable_chunk_and_object() {
    let place = Place::new();
    let is_codec = Code::EFILTER.text();
    let is_short = Code::ETRUNC.text();
    for (var, object, damage, text, what) in [
        ("deflated", "c/0/0", shorten as Damage, &is_codec, "chunk (0, 0) in object deflated/c/0/0"),
        ("deflated", "c/0/0", change, &is_codec, "chunk (0, 0) in object deflated/c/0/0"),
        ("plain", "c/0/0", shorten, &is_short, "chunk (0, 0) in object plain/c/0/0"),
        ("plain", "c/0/0", lengthen, &is_short, "chunk (0, 0) in object plain/c/0/0"),
        ("checked", "c/0/0", change, &is_codec, "chunk (0, 0) in object checked/c/0/0"),
        ("sharded", "c/0/0", shorten, &is_codec, "sharded/c/0/0: index of the shard"),
        ("text", "c/0", shorten, &is_codec, "chunk (0) in object text/c/0"),
    ] {
        let store = place.damage(&format!("{var}/{object}"), damage);
        let (code, said) = dump(var, &store);
        let is_told = |said: &str| said.contains(&format!("/{var}: {what}")) && said.contains(&**text);
        assert!(code == 1 && is_told(&said), "{var}: {said}");
        // Copies that encode anew, to a file and to a store; what cannot be copied leaves nothing.
        for (options, out) in
            [(["-d", "1"], "out.nc"), (["-F", "*,zstd"], "out.zarr"), (["-F", "none"], "out2.zarr")]
        {
            let to = place.path(out);
            let (code, said) = call(&[&options[..], &[&store, to.to_str().unwrap()]].concat());
            assert!(code == 1 && is_told(&said), "{var} {out}: {said}");
            assert_eq!(place.names(), ["a.zarr", "damaged.zarr"], "{var} {out}");
        }
    }
}

#[test]
fn chunk_that_is_moved_unopened_is_checked_by_its_length_or_checksum() {
    let place = Place::new();
    for (var, damage) in [
        ("checked", change as Damage),
        ("checked", shorten),
        ("checked", lengthen),
        ("plain", shorten),
        ("plain", lengthen),
    ] {
        let store = place.damage(&format!("{var}/c/0/0"), damage);
        for out in ["out.zarr", "out.nc"] {
            let to = place.path(out);
            let (code, said) = call(&["-M", "0", "-V", var, &store, to.to_str().unwrap()]);
            assert!(
                code == 1 && said.contains(&format!("/{var}: chunk (0, 0) in object {var}/c/0/0")),
                "{said}"
            );
            assert!(!to.exists());
        }
    }
    // Nothing but decoding shows the damage of others.
    let store = place.damage("deflated/c/0/0", change);
    let to = place.path("out.zarr");
    assert_eq!(call(&["-M", "0", "-V", "deflated", &store, to.to_str().unwrap()]), (0, String::new()));
    let copy = File::open(&to).unwrap();
    let read = copy.variable("deflated").unwrap().get_values::<i32, _>(..);
    assert_eq!(read.unwrap_err().code, Code::EFILTER);
}
