//! Copies to Zarr stores: shards, codecs that others do not read, chunks longer than dimensions, and what cannot be read.

use std::ffi::OsString;
use std::fs;

use ferrocdf::File;
use ferrocdf::model::Chunking;
use ferrocdf_tools::ncgen::Program;

use crate::nccopy::call;

struct Place(tempfile::TempDir);

impl Place {
    /// A folder with the netCDF-4 file `a.nc`.
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        assert_eq!(place.ncgen("nc4", &cdl(), "a.nc"), (0, String::new()));
        place
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    /// Copies with `nccopy`; its exit code and what it said.
    fn nccopy(&self, options: &[&str], from: &str, to: &str) -> (u8, String) {
        call(&[options, &[&self.path(from), &self.path(to)]].concat())
    }

    fn ncgen(&self, kind: &str, cdl: &str, to: &str) -> (u8, String) {
        let (args, mut errors) =
            (["ncgen", "-k", kind, "-o", &self.path(to), "-"].map(OsString::from), vec![]);
        let code =
            ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut cdl.as_bytes(), &mut vec![], &mut errors);
        (code, String::from_utf8(errors).unwrap())
    }

    fn ncdump(&self, name: &str) -> String {
        let (mut out, mut errors) = (vec![], vec![]);
        let args = ["ncdump", "-s", &self.path(name)].map(OsString::from);
        assert_eq!(ferrocdf_tools::ncdump::main(args, &mut out, &mut errors), 0);
        String::from_utf8(out).unwrap()
    }

    /// The shapes of the chunks and the shards of a variable.
    fn shapes(&self, name: &str, var: &str) -> (Option<Chunking>, Option<Vec<u64>>) {
        let file = File::open(self.path(name)).unwrap();
        let model = file.model();
        let storage = &model.var(file.variable(var).unwrap().id()).storage;
        (storage.chunking.clone(), storage.shards.clone())
    }

    fn check_values(&self, name: &str) {
        let values = |name: &str| -> Vec<i32> {
            File::open(self.path(name)).unwrap().variable("v").unwrap().get_values(..).unwrap()
        };
        assert!(values(name) == values("a.nc"), "{name}");
    }
}

/// Numbers that no filter makes shorter.
fn cdl() -> String {
    let mut state = 1u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 1 ^ state << 13) & 0x7fff_ffff
    };
    let numbers: Vec<String> = (0..40 * 60).map(|_| number().to_string()).collect();
    format!(
        "netcdf a {{ dimensions: y = 40; x = 60; variables: int v(y, x); v:_ChunkSizes = 20, 30; string s(y);
         byte b(x); data: v = {}; s = \"a\", \"b\"; }}",
        numbers.join(", ")
    )
}

fn chunked(shape: &[u64]) -> Option<Chunking> {
    Some(Chunking::Chunked(shape.to_vec()))
}

#[test]
fn shards_are_made_kept_and_changed() {
    let place = Place::new();
    let nothing = (0, String::new());
    assert_eq!(place.nccopy(&["-M", "0", "--shards", "y/40,x/60"], "a.nc", "a.zarr"), nothing);
    assert_eq!(place.shapes("a.zarr", "v"), (chunked(&[20, 30]), Some(vec![40, 60])));
    assert_eq!(place.shapes("a.zarr", "s").1, None);
    // Copies keep them, unless an option says otherwise, or the format has none.
    for (options, shapes) in [
        (&[][..], (chunked(&[20, 30]), Some(vec![40, 60]))),
        (&["-d", "1"], (chunked(&[20, 30]), Some(vec![40, 60]))),
        (&["-M", "0", "-c", "y/10,x/20"], (chunked(&[10, 20]), Some(vec![40, 60]))),
        (&["-M", "0", "-c", "y/15,x/20"], (chunked(&[15, 20]), None)),
        (&["--shards", "x/120"], (chunked(&[20, 30]), Some(vec![20, 120]))),
        (&["-k", "zarr2"], (chunked(&[20, 30]), None)),
    ] {
        assert_eq!(place.nccopy(options, "a.zarr", "b.zarr"), nothing, "{options:?}");
        assert_eq!(place.shapes("b.zarr", "v"), shapes, "{options:?}");
        place.check_values("b.zarr");
    }
    assert_eq!(place.nccopy(&[], "a.zarr", "b.nc"), nothing);
    place.check_values("b.nc");
    // As text and back.
    let text = place.ncdump("a.zarr");
    assert!(text.contains("v:_ShardSizes = 40, 60 ;"), "{text}");
    assert_eq!(place.ncgen("zarr3", &text, "c.zarr"), nothing);
    assert_eq!(place.shapes("c.zarr", "v"), (chunked(&[20, 30]), Some(vec![40, 60])));
    let (code, said) = place.ncgen("zarr2", &text, "c.zarr");
    assert!(code == 0 && said.contains("warning: /v: _ShardSizes is for Zarr 3"), "{code} {said}");
    for (options, to, word) in [
        (["--shards", "y/30,x/60"], "c.zarr", "do not consist of whole chunks of shape [20, 30]"),
        (["--shards", "z/30"], "c.zarr", "no dimension \"z\""),
        (["--shards", "v:20,30"], "c.zarr", "time/100"),
        (["--shards", "x/60"], "c.nc", "--shards: only Zarr 3 stores have shards"),
    ] {
        let (code, said) = place.nccopy(&[&options[..], &["-M", "0"]].concat(), "a.nc", to);
        assert!(code == 1 && said.contains(word), "{options:?}: {code} {said}");
    }
}

#[test]
fn shards_that_no_memory_holds_are_refused_with_the_variable() {
    let place = Place::new();
    let (code, said) = place.nccopy(&["-M", "0", "--shards", "y/40000,x/60000"], "a.nc", "a.zarr");
    let why = "/v: shards of shape [40000, 60000], of more than 1073741824 bytes";
    assert!(code == 1 && said.starts_with("NetCDF: Invalid argument") && said.contains(why), "{said}");
    assert!(!std::path::Path::new(&place.path("a.zarr")).exists());
}

#[test]
fn codecs_that_zarr_python_lacks_are_written_and_told_once() {
    let place = Place::new();
    for kind in ["zarr2", "zarr3", "nczarr2", "nczarr3"] {
        for (spec, word) in [("*,lzf", "LZF"), ("*,szip,4,8", "szip"), ("*,bitshuffle", "bitshuffle")] {
            let (code, said) = place.nccopy(&["-k", kind, "-M", "0", "-F", spec], "a.nc", "a.zarr");
            assert_eq!((code, said.matches("warning: ").count()), (0, 1), "{kind} {spec}: {said}");
            assert!(said.contains("/v and ") && said.contains(word), "{said}");
            place.check_values("a.zarr");
        }
        for spec in ["*,deflate,1", "*,zstd,3", "*,blosc", "*,bzip2,1", "*,lz4", "*,fletcher32", "*,shuffle"]
        {
            assert_eq!(
                place.nccopy(&["-k", kind, "-F", spec], "a.nc", "a.zarr"),
                (0, String::new()),
                "{spec}"
            );
            place.check_values("a.zarr");
        }
    }
    let lists = "netcdf l { types: int(*) row; dimensions: x = 2; variables: row r(x); row q(x); int i(x); i:_Filter = \"32000\";
                 data: r = {1}, {2, 3}; }";
    let (code, said) = place.ncgen("zarr2", lists, "l.zarr");
    assert!(code == 0 && said.contains("/r and 1 more") && said.contains("vlen-array"), "{said}");
    assert!(said.contains("/i: ") && said.lines().count() == 2, "{said}");
    let (code, said) = place.ncgen("nczarr2", lists, "l.zarr");
    assert!(code == 0 && !said.contains("vlen-array"), "{said}");
}

#[test]
fn chunks_longer_than_dimensions_are_kept_and_read_from_text() {
    let place = Place::new();
    let long = cdl().replace("string s(y);", "string s(y); s:_ChunkSizes = 100;");
    assert_eq!(place.ncgen("nczarr3", &long, "a.zarr"), (0, String::new()));
    assert_eq!(place.shapes("a.zarr", "s").0, chunked(&[100]));
    for kind in ["nczarr3", "nczarr2", "zarr3", "zarr2"] {
        assert_eq!(place.nccopy(&["-k", kind], "a.zarr", "b.zarr"), (0, String::new()), "{kind}");
        assert_eq!(place.shapes("b.zarr", "s").0, chunked(&[100]), "{kind}");
    }
    let text = place.ncdump("a.zarr");
    for (kind, to, chunk) in [("nczarr3", "c.zarr", 100), ("zarr2", "c.zarr", 100), ("nc4", "c.nc", 40)] {
        assert_eq!(place.ncgen(kind, &text, to), (0, String::new()), "{kind}");
        assert_eq!(place.shapes(to, "s").0, chunked(&[chunk]), "{kind}");
    }
}

#[test]
fn a_copy_without_what_cannot_be_read_ends_with_1() {
    let place = Place::new();
    assert_eq!(place.nccopy(&["-k", "zarr2"], "a.nc", "a.zarr"), (0, String::new()));
    fs::remove_file(place.path("a.zarr/.zmetadata")).unwrap();
    let path = place.path("a.zarr/b/.zarray");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("|i1", "|x1")).unwrap();
    for to in ["b.zarr", "b.nc"] {
        let (code, said) = place.nccopy(&[], "a.zarr", to);
        assert!(code == 1 && said.contains("the copy is there, and lacks what cannot be read"), "{said}");
        assert!(said.contains("/b: "), "{said}");
        place.check_values(to);
    }
    let (code, _) = place.nccopy(&["-V", "v"], "a.zarr", "b.nc");
    assert_eq!(code, 0);
}

#[test]
fn large_shards_are_not_made_unasked() {
    let place = Place::new();
    let cdl = "netcdf a { dimensions: y = 8192 ; x = 8192 ; variables: double v(y, x) ;
        v:_ChunkSizes = 512, 512 ; v:_ShardSizes = 8192, 8192 ; }";
    assert_eq!(place.ncgen("nczarr3", cdl, "large.zarr"), (0, String::new()));
    let (code, said) = place.nccopy(&[], "large.zarr", "small.zarr");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("/v: copied without its shards of shape [8192, 8192]"), "{said}");
    assert_eq!(place.shapes("small.zarr", "v").1, None);
    let asked = ["--shards", "y/8192,x/8192"];
    assert_eq!(place.nccopy(&asked, "large.zarr", "asked.zarr"), (0, String::new()));
    assert_eq!(place.shapes("asked.zarr", "v").1, Some(vec![8192, 8192]));
}

#[test]
fn compounds_that_zarr_cannot_hold_are_refused_with_the_name_of_the_member() {
    let place = Place::new();
    let cdl =
        "netcdf c { types: compound pt { int n ; string word ; } ; compound outer { double d ; pt inner ; } ;
        int(*) list ; compound row { list numbers ; } ;
        dimensions: x = 2 ; variables: int first(x) ; outer w(x) ; row r(x) ; }";
    assert_eq!(place.ncgen("nc4", cdl, "c.nc"), (0, String::new()));
    for kind in ["zarr2", "zarr3", "nczarr2", "nczarr3"] {
        for (var, wanted) in [
            ("w", "/w: member inner: member word: Zarr has no data type for text of any length"),
            ("r", "/r: member numbers: Zarr has no data type for a vlen in a compound"),
        ] {
            let (code, said) = place.nccopy(&["-k", kind, "-V", &format!("first,{var}")], "c.nc", "c.zarr");
            assert!(code == 1 && said.contains(wanted), "{kind}: {code} {said}");
            assert!(said.contains("of a fixed length, or leave the variable out"), "{said}");
            assert!(!fs::exists(place.path("c.zarr")).unwrap());
        }
        assert_eq!(place.nccopy(&["-k", kind, "-V", "first"], "c.nc", "d.zarr"), (0, String::new()));
    }
}
